/* SPDX-License-Identifier: MIT */
/*
 * Programs that run out of memory, threads or disk. They load a library (LD_PRELOAD, tests/shortage/shim.c) that fails
 * the n-th call of a kind. The test and the program share a page, which the test may change while the program runs:
 *
 *   shortage_set ──► page ◄── each call counts `left` down; the one that reaches 0 fails
 *   shortage_came ◄── page     false: the program made fewer than n calls
 *
 * The count begins when the program's main begins, so the loader's calls aren't counted. A test can start a server with
 * SHORTAGE_NEVER as n and set the real n later. It must name the kind of call before the start, because a program
 * decides at its start whether it filters reads and writes.
 */
#ifndef VOUCH_TESTS_SHORTAGE_H
#define VOUCH_TESTS_SHORTAGE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SHORTAGE_NEVER LONG_MAX
#define SHORTAGE_PAGE  "VOUCH_TEST_SHORTAGE" /* the environment variable with the path of the page */

typedef enum shortage_call {
    SHORTAGE_NONE,
    SHORTAGE_MALLOC, /* malloc, calloc, realloc, aligned allocations, and through them strdup and others */
    SHORTAGE_MMAP,
    SHORTAGE_THREAD,
    SHORTAGE_READ,  /* fails with EIO; counts reads of the C library and of sockets, too */
    SHORTAGE_WRITE, /* fails with ENOSPC; counts the same kinds of writes */
    SHORTAGE_CUT    /* nothing fails, but at the n-th allocation the file `cut` becomes shorter */
} shortage_call;

enum { SHORTAGE_HANG = 5 }; /* seconds after which a command or a request counts as hanging */

typedef struct shortage_page {
    atomic_int call;   /* shortage_call */
    atomic_int n_more; /* calls after the first one that fail, too */
    atomic_long left;  /* calls up to the first one that fails */
    char cut[256];     /* the path of a file; set while no program runs */
} shortage_page;

/* Makes the page. Programs that the test starts from now on load the library. False: sanitizers replace malloc, or this
 * machine has no such library. */
bool shortage_begin(void);
/* The n-th call from now on fails, and the n_more calls after it. */
void shortage_set(shortage_call call, long n, int n_more);
bool shortage_came(void);
/* "malloc" and so on, for messages. */
const char *shortage_name(shortage_call call);
/* The file that SHORTAGE_CUT cuts. */
void shortage_cut(const char *path);

#endif
