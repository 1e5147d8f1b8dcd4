/* SPDX-License-Identifier: MIT */
/* The n-gram drafter: its guesses equal those of a brute-force search, and a rewind leaves no trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draft/free/ngram.h"
#include "support/test.h"

enum { MAX_CTX = 4096 };

static vouch_source open_ngram(int32_t n_ctx, int32_t n_min, int32_t n_max)
{
    vouch_source s;
    assert_int_equal(vouch_source_ngram_open(&s, n_ctx, n_min, n_max, NULL), VOUCH_OK);
    assert_string_equal(s.ops->name, "ngram");
    return s;
}

/* The candidates after the sequence and a path of guesses. */
static int32_t expand(vouch_source s, const int32_t *tokens, int32_t n, int32_t depth, int64_t cursor,
                      vouch_candidate *out)
{
    const vouch_prefix prefix = {
        .end = tokens + n, .n_tail = n < VOUCH_TAIL ? n : VOUCH_TAIL, .depth = depth, .cursor = cursor};
    const int32_t n_out = s.ops->expand(s.self, &prefix, out);
    assert_in_range(n_out, 0, VOUCH_MAX_OPTIONS);
    for (int32_t i = 0; i < n_out; i++) {
        assert_in_range(out[i].kind, 0, s.ops->n_classes - 1);
        for (int32_t j = 0; j < i; j++) assert_int_not_equal(out[i].token, out[j].token);
    }
    return n_out;
}

/* Drafts a chain of the likeliest candidates into tokens [n + k]. Returns its length. */
static int32_t chain(vouch_source s, int32_t *tokens, int32_t n, int32_t k)
{
    s.ops->observe(s.self, tokens, n);
    int64_t cursor = s.ops->start(s.self);
    for (int32_t i = 0; i < k; i++) {
        vouch_candidate options[VOUCH_MAX_OPTIONS];
        if (expand(s, tokens, n + i, i, cursor, options) == 0) return i;
        const vouch_prefix prefix = {
            .end = tokens + n + i, .n_tail = n + i < VOUCH_TAIL ? n + i : VOUCH_TAIL, .depth = i, .cursor = cursor};
        tokens[n + i] = options[0].token;
        cursor = s.ops->step(s.self, &prefix, tokens[n + i]);
    }
    return k;
}

/* The definition: takes the longest suffix that occurred before, at its most recent earlier occurrence, and copies the
 * tokens after it. The copy may run into itself. Returns the number of guesses: 0 or k. */
static int32_t brute_force(const int32_t *tokens, int32_t n, int32_t k, int32_t n_min, int32_t n_max, int32_t *guesses)
{
    for (int32_t length = n_max; length >= n_min; length--)
        for (int32_t end = n - 1; end >= length; end--) {
            if (memcmp(tokens + end - length, tokens + n - length, (size_t)length * sizeof *tokens) != 0) continue;
            for (int32_t i = 0; i < k; i++) guesses[i] = end + i < n ? tokens[end + i] : guesses[end + i - n];
            return k;
        }
    return 0;
}

static void check_chain(vouch_source s, const int32_t *tokens, int32_t n, int32_t k, int32_t n_min, int32_t n_max)
{
    int32_t expected[VOUCH_MAX_DRAFT], sequence[MAX_CTX + VOUCH_MAX_DRAFT];
    memcpy(sequence, tokens, (size_t)n * sizeof *tokens);
    const int32_t n_expected = brute_force(tokens, n, k, n_min, n_max, expected);
    const int32_t n_guesses = chain(s, sequence, n, k);
    assert_int_equal(n_guesses, n_expected);
    if (n_guesses > 0) assert_memory_equal(sequence + n, expected, (size_t)n_guesses * sizeof *expected);
}

static void expect(const int32_t *tokens, int32_t n, int32_t k, const int32_t *guesses, int32_t n_guesses)
{
    int32_t sequence[64];
    memcpy(sequence, tokens, (size_t)n * sizeof *tokens);
    vouch_source s = open_ngram(64, 2, 4);
    assert_int_equal(chain(s, sequence, n, k), n_guesses);
    if (n_guesses > 0) assert_memory_equal(sequence + n, guesses, (size_t)n_guesses * sizeof *guesses);
    s.ops->close(s.self);
}

#define LIST(...) (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)

static void test_matches(void **state)
{
    (void)state;
    expect(LIST(1, 2, 3, 4, 5, 1, 2), 3, LIST(3, 4, 5));
    expect(LIST(1, 2, 3, 4, 5, 1, 2), 1, LIST(3));
    expect(LIST(1, 2, 3, 9, 2, 3, 8, 2, 3), 1, LIST(8));                /* the most recent occurrence */
    expect(LIST(1, 2, 3, 9, 2, 3, 8, 1, 2, 3), 1, LIST(9));             /* a longer suffix goes first */
    expect(LIST(0, 1, 2, 3, 7, 5, 1, 2, 3, 8, 0, 1, 2, 3), 1, LIST(7)); /* suffixes have at most four tokens */
    expect(LIST(1, 2, 3, 4, 5, 6), 4, NULL, 0);
    expect(LIST(1), 4, NULL, 0);
    expect(LIST(1, 2), 4, NULL, 0);
    expect(LIST(3, 1, 3), 4, NULL, 0); /* a suffix of one token doesn't count */
}

static void test_periods_are_continued(void **state)
{
    (void)state;
    expect(LIST(7, 7, 7), 5, LIST(7, 7, 7, 7, 7));
    expect(LIST(1, 2, 1, 2), 5, LIST(1, 2, 1, 2, 1));
    expect(LIST(9, 1, 2, 3, 1, 2), 8, LIST(3, 1, 2, 3, 1, 2, 3, 1));
}

/* Further candidates: earlier continuations of the same n-gram, then those of shorter ones, without duplicates. */
static void test_candidates(void **state)
{
    (void)state;
    const int32_t tokens[] = {1, 2, 3, 7, 1, 2, 3, 8, 2, 3, 9, 2, 3, 7, 5, 1, 2, 3};
    const int32_t n = sizeof tokens / sizeof *tokens;
    vouch_source s = open_ngram(64, 2, 3);
    vouch_candidate out[VOUCH_MAX_OPTIONS];
    s.ops->observe(s.self, tokens, n);
    assert_int_equal(expand(s, tokens, n, 0, s.ops->start(s.self), out), 3);
    assert_int_equal(out[0].token, 8);
    assert_int_equal(out[1].token, 7);
    assert_int_equal(out[2].token, 9);
    assert_true(s.ops->prior(out[0].kind) > s.ops->prior(out[1].kind));
    /* A path that none of the drafter's candidates began is followed by what followed its last tokens before. */
    const int32_t path[] = {1, 2, 3, 7, 1, 2, 3, 8, 2, 3, 9, 2, 3, 7, 5, 1, 2, 3, 6, 7, 5};
    assert_int_equal(expand(s, path, n + 3, 3, 0, out), 1);
    assert_int_equal(out[0].token, 1);
    s.ops->close(s.self);
}

static void test_agrees_with_a_scan(void **state)
{
    (void)state;
    test_random random = {1};
    static int32_t tokens[MAX_CTX];
    for (int round = 0; round < 60; round++) {
        const int32_t n_min = 1 + (int32_t)test_below(&random, 3), n_max = n_min + (int32_t)test_below(&random, 4);
        const uint32_t vocab = 2 + test_below(&random, round % 2 ? 4 : 50);
        const int32_t n_ctx = 20 + (int32_t)test_below(&random, 300);
        vouch_source d = open_ngram(n_ctx, n_min, n_max);
        for (int32_t n = 0; n < n_ctx;) {
            int32_t grow = 1 + (int32_t)test_below(&random, 5);
            for (; grow > 0 && n < n_ctx; grow--) tokens[n++] = (int32_t)test_below(&random, vocab) - (round == 7);
            check_chain(d, tokens, n, 1 + (int32_t)test_below(&random, VOUCH_MAX_DRAFT), n_min, n_max);
        }
        d.ops->close(d.self);
    }
}

/* After a rewind to any position and other tokens, the index equals that of a drafter that never saw the first ones. */
static void test_rewind_leaves_no_trace(void **state)
{
    (void)state;
    test_random random = {2};
    static int32_t tokens[MAX_CTX];
    const int32_t n_ctx = 400;
    vouch_source d = open_ngram(n_ctx, 1, 4);
    int32_t n = 0;
    for (int round = 0; round < 3000; round++) {
        if (n > 1 && test_below(&random, 3) == 0) {
            n = test_below(&random, 20) ? 1 + (int32_t)test_below(&random, (uint32_t)n) : 0;
            for (int32_t i = n; i < MAX_CTX; i++) tokens[i] = -77; /* the sequence changes before the rewind */
            d.ops->rewind(d.self, n);
        }
        for (int32_t grow = 1 + (int32_t)test_below(&random, 12); grow > 0 && n < n_ctx; grow--)
            tokens[n++] = (int32_t)test_below(&random, 3 + (uint32_t)round % 7);
        check_chain(d, tokens, n, 6, 1, 4);
        d.ops->rewind(d.self, n_ctx); /* a rewind beyond the end does nothing */
        if (round % 10) continue;
        vouch_source fresh = open_ngram(n_ctx, 1, 4);
        fresh.ops->observe(fresh.self, tokens, n);
        assert_true(fresh.ops->digest(fresh.self) == d.ops->digest(d.self));
        tokens[n - 1] ^= 1; /* the digest notices one changed token */
        fresh.ops->rewind(fresh.self, n - 1);
        fresh.ops->observe(fresh.self, tokens, n);
        assert_true(fresh.ops->digest(fresh.self) != d.ops->digest(d.self));
        tokens[n - 1] ^= 1;
        fresh.ops->close(fresh.self);
    }
    vouch_source fresh = open_ngram(n_ctx, 1, 4);
    d.ops->rewind(d.self, 0);
    assert_true(fresh.ops->digest(fresh.self) == d.ops->digest(d.self));
    fresh.ops->close(fresh.self);
    d.ops->close(d.self);
}

static void test_arguments(void **state)
{
    (void)state;
    static const int32_t bad[][3] = {{100, 0, 4},   {100, 3, 2}, {100, 1, 17},
                                     {100, -1, -1}, {0, 2, 4},   {INT32_MAX, 2, 4}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        vouch_source d;
        vouch_error err = {0};
        assert_int_equal(vouch_source_ngram_open(&d, bad[i][0], bad[i][1], bad[i][2], &err), VOUCH_E_ARGUMENT);
        assert_null(d.ops);
        assert_true(strlen(err.message) > 20);
    }
    vouch_source d = open_ngram(1, 16, 16); /* a context of 1 token, shorter than n */
    assert_int_equal(chain(d, (int32_t[4]){5}, 1, 3), 0);
    assert_true(d.ops->memory(d.self) > 0);
    d.ops->close(d.self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_periods_are_continued),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_agrees_with_a_scan),
        cmocka_unit_test(test_rewind_leaves_no_trace),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
