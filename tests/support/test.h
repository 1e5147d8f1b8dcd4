/* SPDX-License-Identifier: MIT */
/* Every test includes this header: cmocka with the headers that it needs, paths of optional data, and small helpers. */
#ifndef VOUCH_TESTS_TEST_H
#define VOUCH_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The path of a file in the optional data folder, VOUCH_DATA, which the Makefile sets. NULL if the file is missing. The
 * string is valid until the next call. */
const char *test_data(const char *relative);
/* The same; if the file is missing, says so and skips the test. */
const char *test_data_needed(const char *relative);
/* The path of the real model: VOUCH_TEST_MODEL, or the file that `make run` downloads. NULL if it is missing. */
const char *test_model(void);
/* A path in this process's temporary folder, which is removed at exit. The string is valid for the next 7 calls. */
const char *test_temporary(const char *name);
/* As test_temporary. The string stays valid; at most 64 calls. */
const char *test_path(const char *name);

/* Reads a whole file and adds a NUL; the caller frees it. Fails the test if the file can't be read. */
char *read_whole(const char *path, size_t *n);
/* Writes a file of n bytes. Fails the test if it can't. */
void write_whole(const char *path, const void *bytes, size_t n);

/* Resident bytes of a file that this process has mapped. -1 if no mapping is found or /proc is missing. */
int64_t test_resident(const char *path);

/* True in `make check`, `make test-arm` and `make test-windows`. Slow tests begin with test_skip_slow(). */
int test_is_quick(void);
#define test_skip_slow()              \
    do {                              \
        if (test_is_quick()) test_skip("slow; make test runs it"); \
    } while (0)

/* True in `make test-arm`, whose programs run in an emulator. */
int test_is_emulated(void);

/* True in `make test-windows`, whose programs Wine runs. */
int test_is_windows(void);

/* A small deterministic random generator (splitmix64) for test data. */
typedef struct test_random {
    uint64_t state;
} test_random;
uint32_t test_next(test_random *random);
uint32_t test_below(test_random *random, uint32_t limit);
float test_uniform(test_random *random, float low, float high);
float test_normal(test_random *random);

/* Prints the reason why a part of the running test is skipped. */
#define test_skip_part(...)                     \
    do {                                        \
        print_message("skipped: " __VA_ARGS__); \
        print_message("\n");                    \
    } while (0)
/* Prints the reason and skips the running test. */
#define test_skip(...)               \
    do {                             \
        test_skip_part(__VA_ARGS__); \
        skip();                      \
    } while (0)

#endif
