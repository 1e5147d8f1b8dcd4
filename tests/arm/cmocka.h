/* SPDX-License-Identifier: MIT */
/*
 * The part of cmocka that the kernels' tests need. With it the tests run on another architecture with only a cross
 * compiler, its C library and an emulator. The real cmocka would need packages of the foreign architecture, which a
 * test must not install. The first failure ends the program.
 */
#ifndef VOUCH_TESTS_ARM_CMOCKA_H
#define VOUCH_TESTS_ARM_CMOCKA_H

#include <fnmatch.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(function) {#function, function}
#define cmocka_set_test_filter(pattern) ((void)(pattern)) /* cmocka_run_tests reads the variable itself */
#define print_message(...) ((void)printf(__VA_ARGS__))

/* Leaves the running test, as cmocka's skip does. One buffer serves all files of a program. */
__attribute__((weak)) jmp_buf cmocka_after_test;
#define skip() longjmp(cmocka_after_test, 1)

#define assert_that(truth, ...)                    \
    do {                                           \
        if (!(truth)) {                            \
            printf("%s:%d: ", __FILE__, __LINE__); \
            printf(__VA_ARGS__);                   \
            printf("\n");                          \
            exit(1);                               \
        }                                          \
    } while (0)
#define fail_msg(...) assert_that(0, __VA_ARGS__)
#define assert_true(c) assert_that(c, "%s", #c)
#define assert_false(c) assert_that(!(c), "not: %s", #c)
#define assert_null(p) assert_that((p) == NULL, "not NULL: %s", #p)
#define assert_non_null(p) assert_that((p) != NULL, "NULL: %s", #p)
#define assert_ptr_equal(a, b) assert_that((const void *)(a) == (const void *)(b), "%s, %s", #a, #b)
#define assert_int_equal(a, b) assert_that((intmax_t)(a) == (intmax_t)(b), "%s, %s", #a, #b)
#define assert_in_range(a, low, high) \
    assert_that((intmax_t)(a) >= (intmax_t)(low) && (intmax_t)(a) <= (intmax_t)(high), "%s", #a)
#define assert_string_equal(a, b) assert_that(strcmp(a, b) == 0, "%s, %s", #a, #b)
#define assert_memory_equal(a, b, n) assert_that(memcmp(a, b, n) == 0, "%s, %s", #a, #b)

static inline int cmocka_run_tests(const struct CMUnitTest *tests, size_t n)
{
    const char *filter = getenv("VOUCH_TEST_FILTER");
    for (volatile size_t i = 0; i < n; i++) {
        if (filter && *filter && fnmatch(filter, tests[i].name, 0)) continue;
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        const int is_skipped = setjmp(cmocka_after_test);
        if (!is_skipped) tests[i].run(NULL);
        printf(is_skipped ? "[  SKIPPED ] %s\n" : "[       OK ] %s\n", tests[i].name);
    }
    return 0;
}
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_tests(tests, sizeof(tests) / sizeof(tests)[0])

#endif
