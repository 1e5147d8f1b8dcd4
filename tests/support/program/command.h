/* SPDX-License-Identifier: MIT */
/* Runs a program of the build as its users do and records its output. Each function fails the test if it can't do its
 * work. */
#ifndef VOUCH_TESTS_COMMAND_H
#define VOUCH_TESTS_COMMAND_H

#include "support/test.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { MAX_ARGUMENTS = 48 };

/* How to run a program. {0}: standard input is empty; standard output and errors go into the result. */
typedef struct setting {
    const char *input;  /* bytes for standard input */
    size_t n_input;     /* 0: strlen */
    const char *device; /* a file or device for standard input, in place of `input` */
    const char *out;    /* a file for standard output; "closed": standard output is closed */
    rlim_t file_limit;  /* largest size of a file that the program may write, in bytes; 0: no limit */
} setting;

typedef struct result {
    int status; /* exit status, or 128 + signal */
    char *out, *err;
    size_t n_out;
} result;

/* The path of a program of the build; valid until the next call. */
const char *program(const char *name);

/* Runs a program of the build. The arguments end with NULL. */
result run_as(const setting *how, const char *name, const char *const *arguments);
#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define GREEDY         "run", "--temp", "0" /* `vouch run` samples unless told otherwise */
#define RUN(...)       run_as(&(setting){0}, "vouch", ARGUMENTS(__VA_ARGS__))
void result_free(result *r);
/* Checks the exit status and, unless message is NULL, that standard error contains the message. Frees the result. */
void expect(result r, int status, const char *message);

/* The file of the system that is always empty. */
const char *null_device(void);
/* Whether /dev/full is a disk that is full. If not, prints that a part of the test is skipped. */
bool has_full_disk(void);

/* For a child process: executes the program at the path arguments[0] with these files as standard input, output and
 * error. */
void become(const char *const *arguments, const setting *how, const char *in, const char *out, const char *err);
/* Waits for a child; returns its status as in `result`. */
int status_of(pid_t child);
/* Waits until the file that a child writes to contains the text; false: the child ended without it. */
bool text_comes(pid_t child, const char *path, const char *text);
/* The same; fails the test if the text doesn't come. */
void wait_for_text(pid_t child, const char *path, const char *text);

json_t *json_of(const char *path);
/* The value of an integer member of a JSON object. */
int64_t whole(const json_t *object, const char *key);

#endif
