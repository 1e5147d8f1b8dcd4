/* SPDX-License-Identifier: MIT */
/* Runs a program of the build as its users do, and keeps what it said. All of it asserts that it can. */
#ifndef VOUCH_TESTS_COMMAND_H
#define VOUCH_TESTS_COMMAND_H

#include "support/test.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { MAX_ARGUMENTS = 48 };

/* How to run it. Zero: standard input is empty, output and errors are collected. */
typedef struct setting {
    const char *input; /* bytes for standard input */
    size_t n_input;    /* 0: strlen */
    const char *out;   /* standard output goes to this file instead; "closed": it is closed */
    rlim_t file_limit; /* bytes a file may grow to; 0: any */
} setting;

typedef struct result {
    int status; /* of exit, or 128 + signal */
    char *out, *err;
    size_t n_out;
} result;

/* The path of a program of the build; valid until the next call. */
const char *program(const char *name);

/* Runs a program of the build with arguments that end in NULL. */
result run_as(const setting *how, const char *name, const char *const *arguments);
#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RUN(...)       run_as(&(setting){0}, "vouch", ARGUMENTS(__VA_ARGS__))
void result_free(result *r);
/* That the status is this one, and the message, unless NULL, on standard error. Frees. */
void expect(result r, int status, const char *message);

/* In a child: becomes the program that arguments[0] is the path of, with these files as its standard ones. */
void become(const char *const *arguments, const setting *how, const char *in, const char *out,
            const char *err);
/* What a child ended with, as in a result. */
int status_of(pid_t child);
/* Until the file, a child's standard output or error, has this text; fails when the child ends without. */
void wait_for_text(pid_t child, const char *path, const char *text);

json_t *json_of(const char *path);
/* An integer of an object. */
int64_t whole(const json_t *object, const char *key);

#endif
