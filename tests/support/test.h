/* SPDX-License-Identifier: MIT */
/* What every test includes: cmocka with the headers it wants, and where optional data lies. */
#ifndef VOUCH_TESTS_TEST_H
#define VOUCH_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Path of a file of the optional data folder (environment VOUCH_TEST_DATA, else ../shared/data), or NULL
 * where it is absent: then the test says skip(). The string is valid until the next call. */
const char *test_data(const char *relative);
/* Path of the real model (environment VOUCH_TEST_MODEL, else the cache `make run` fills), or NULL. */
const char *test_model(void);
/* A path in this process's own temporary folder, removed at exit; valid until 8 calls later. */
const char *test_temporary(const char *name);

/* A whole file, with a NUL behind it, to be freed; and a file of n bytes. Assert that it can be done. */
char *read_whole(const char *path, size_t *n);
void write_whole(const char *path, const void *bytes, size_t n);

/* Bytes of a mapped file that are in this process's memory; -1 where the system doesn't say. */
int64_t test_resident(const char *path);

/* True in `make check`: slow tests then say test_skip_slow() first. */
int test_is_quick(void);
#define test_skip_slow()              \
    do {                              \
        if (test_is_quick()) skip(); \
    } while (0)

/* A small deterministic generator for test data. */
typedef struct test_random {
    uint64_t state;
} test_random;
uint32_t test_next(test_random *random);
uint32_t test_below(test_random *random, uint32_t limit);
float test_uniform(test_random *random, float low, float high);
float test_normal(test_random *random);

/* Skips a cmocka test with the reason on the output. */
#define test_skip(...)                      \
    do {                                    \
        print_message("skipped: " __VA_ARGS__); \
        print_message("\n");                \
        skip();                             \
    } while (0)

#endif
