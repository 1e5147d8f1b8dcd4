/* SPDX-License-Identifier: MIT */
/*
 * The free drafters. Each is compared with a simple definition of its guesses. Law L3 for each: after any growing and
 * rewinding, its state equals that of a drafter that saw only the tokens that stayed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft/compose.h"
#include "draft/free/ngram.h"
#include "draft/free/prediction.h"
#include "draft/free/recycle.h"
#include "draft/free/history.h"
#include "draft/free/suffix.h"
#include "draft/free/suffix_tree.h"
#include "support/test.h"

enum { MAX_CTX = 2048, VOCAB = 300 };

static int32_t expand(vouch_source s, const int32_t *tokens, int32_t n, int32_t depth, int64_t cursor,
                      vouch_candidate *out)
{
    const vouch_prefix prefix = {
        .end = tokens + n, .n_tail = n < VOUCH_TAIL ? n : VOUCH_TAIL, .depth = depth, .cursor = cursor};
    const int32_t n_out = s.ops->expand(s.self, &prefix, out);
    assert_in_range(n_out, 0, VOUCH_MAX_OPTIONS);
    for (int32_t i = 0; i < n_out; i++) {
        assert_in_range(out[i].kind, 0, s.ops->n_classes - 1);
        const double prior = s.ops->prior(out[i].kind);
        assert_true(prior > 0 && prior < 1);
        for (int32_t j = 0; j < i; j++) assert_int_not_equal(out[i].token, out[j].token);
    }
    return n_out;
}

static int64_t step(vouch_source s, const int32_t *tokens, int32_t n, int32_t depth, int64_t cursor, int32_t token)
{
    const vouch_prefix prefix = {
        .end = tokens + n, .n_tail = n < VOUCH_TAIL ? n : VOUCH_TAIL, .depth = depth, .cursor = cursor};
    return s.ops->step(s.self, &prefix, token);
}

/* Drafts a chain of the likeliest candidates. */
static int32_t chain(vouch_source s, int32_t *tokens, int32_t n, int32_t k)
{
    s.ops->observe(s.self, tokens, n);
    int64_t cursor = s.ops->start(s.self);
    for (int32_t i = 0; i < k; i++) {
        vouch_candidate options[VOUCH_MAX_OPTIONS];
        if (expand(s, tokens, n + i, i, cursor, options) == 0) return i;
        tokens[n + i] = options[0].token;
        cursor = step(s, tokens, n + i, i, cursor, tokens[n + i]);
    }
    return k;
}

/* ------------------------------------------------------------------- suffix */

static int32_t count_of(const int32_t *text, int32_t n, const int32_t *what, int32_t length)
{
    int32_t count = 0;
    for (int32_t i = 0; i + length <= n; i++) count += memcmp(text + i, what, (size_t)length * sizeof *text) == 0;
    return count;
}

/* The first candidate must be the token that most often followed the longest repeated suffix of at most
 * VOUCH_SUFFIX_DEPTH tokens. */
static void check_suffix(vouch_source s, const int32_t *tokens, int32_t n)
{
    int32_t string[VOUCH_SUFFIX_DEPTH + 1];
    vouch_candidate out[VOUCH_MAX_OPTIONS];
    s.ops->observe(s.self, tokens, n);
    const int32_t n_out = expand(s, tokens, n, 0, s.ops->start(s.self), out);
    for (int32_t length = n < VOUCH_SUFFIX_DEPTH - 1 ? n : VOUCH_SUFFIX_DEPTH - 1; length > 0; length--) {
        if (count_of(tokens, n, tokens + n - length, length) < 2) continue;
        memcpy(string, tokens + n - length, (size_t)length * sizeof *tokens);
        int32_t best = 0;
        for (string[length] = 0; string[length] < VOCAB; string[length]++) {
            const int32_t count = count_of(tokens, n, string, length + 1);
            if (count > best) best = count;
        }
        string[length] = out[0].token;
        assert_true(n_out > 0);
        assert_int_equal(count_of(tokens, n, string, length + 1), best);
        return;
    }
    assert_int_equal(n_out, 0);
}

static void suffix_says_what_followed_most_often(void **state)
{
    (void)state;
    test_random random = {5};
    static int32_t tokens[400];
    for (int round = 0; round < 6; round++) {
        vouch_source s;
        assert_int_equal(vouch_source_suffix_open(&s, 400, NULL), VOUCH_OK);
        const uint32_t vocab = 2 + test_below(&random, round % 2 ? 4 : 60);
        for (int32_t n = 0; n < 200;) {
            tokens[n++] = (int32_t)test_below(&random, vocab);
            if (n > 20 && test_below(&random, 10) == 0) /* repeats a passage */
                for (int32_t i = 0, from = (int32_t)test_below(&random, (uint32_t)n - 15); i < 14; i++)
                    tokens[n++] = tokens[from + i];
            check_suffix(s, tokens, n);
        }
        s.ops->close(s.self);
    }
}

static void suffix_continues_periods(void **state)
{
    (void)state;
    int32_t tokens[64] = {9, 1, 2, 3, 1, 2, 3, 1, 2};
    vouch_source s;
    assert_int_equal(vouch_source_suffix_open(&s, 64, NULL), VOUCH_OK);
    assert_int_equal(chain(s, tokens, 9, 20), 20);
    for (int32_t i = 0; i < 20; i++) assert_int_equal(tokens[9 + i], 1 + (i + 2) % 3);
    s.ops->close(s.self);
}

/* ------------------------------------------------------------------ rewinds */

static vouch_answers *answers; /* of all tests */

static vouch_source open_source(unsigned bit)
{
    vouch_source s = {0};
    vouch_status status = VOUCH_E_ARGUMENT;
    if (bit == VOUCH_DRAFTER_NGRAM) status = vouch_source_ngram_open(&s, MAX_CTX, 2, 4, NULL);
    if (bit == VOUCH_DRAFTER_SUFFIX) status = vouch_source_suffix_open(&s, MAX_CTX, NULL);
    if (bit == VOUCH_DRAFTER_PREDICTION) status = vouch_source_prediction_open(&s, MAX_CTX, NULL);
    if (bit == VOUCH_DRAFTER_HISTORY) status = vouch_source_history_open(&s, answers, 7, NULL);
    if (bit == VOUCH_DRAFTER_RECYCLE)
        status = vouch_source_recycle_open(&s, vouch_kernels_find("ref"), VOCAB, MAX_CTX, false, NULL);
    assert_int_equal(status, VOUCH_OK);
    assert_int_equal(s.ops->bit, bit);
    assert_true(s.ops->n_classes <= VOUCH_MAX_CLASSES && s.ops->memory(s.self) > 0);
    return s;
}

static void set_prediction(vouch_source s, const int32_t *tokens, int32_t n)
{
    if (s.ops->bit == VOUCH_DRAFTER_PREDICTION) vouch_source_prediction_set(s, tokens, (size_t)n);
}

/* A drafter that grows, rewinds and sees other tokens afterwards equals one that never saw the first ones. */
static void rewinds_leave_no_trace(void **state)
{
    (void)state;
    static const unsigned bits[] = {VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_PREDICTION};
    static int32_t tokens[MAX_CTX], predicted[100];
    for (int b = 0; b < 3; b++) {
        test_random random = {7};
        vouch_source s = open_source(bits[b]);
        for (int32_t i = 0; i < 100; i++) predicted[i] = (int32_t)test_below(&random, 5);
        set_prediction(s, predicted, 100);
        int32_t n = 1;
        tokens[0] = 3;
        if (s.ops->begin) s.ops->begin(s.self, tokens, 1);
        for (int round = 0; round < 400; round++) {
            if (n > 1 && test_below(&random, 3) == 0) {
                const int32_t most = test_below(&random, 10) ? 3 : 60;
                n -= (int32_t)test_below(&random, (uint32_t)(n < most ? n : most));
                for (int32_t i = n; i < MAX_CTX; i++) tokens[i] = -77; /* the sequence changes before the rewind */
                s.ops->rewind(s.self, n);
            }
            for (int32_t grow = 1 + (int32_t)test_below(&random, 9); grow > 0 && n < 500; grow--)
                tokens[n++] = (int32_t)test_below(&random, 2 + (uint32_t)round % 5);
            s.ops->observe(s.self, tokens, n);
            vouch_candidate out[VOUCH_MAX_OPTIONS];
            const uint64_t digest = s.ops->digest(s.self);
            expand(s, tokens, n, 0, s.ops->start(s.self), out);
            assert_true(s.ops->digest(s.self) == digest); /* asking for candidates changes nothing */
            if (round % 10) continue;
            vouch_source fresh = open_source(bits[b]);
            set_prediction(fresh, predicted, 100);
            if (fresh.ops->begin) fresh.ops->begin(fresh.self, tokens, 1);
            fresh.ops->observe(fresh.self, tokens, n);
            assert_true(fresh.ops->digest(fresh.self) == digest);
            fresh.ops->rewind(fresh.self, n - 1);
            assert_true(fresh.ops->digest(fresh.self) != digest);
            fresh.ops->close(fresh.self);
        }
        s.ops->close(s.self);
    }
}

/* ------------------------------------------------------------------ recycle */

static void top_is_the_largest(void **state)
{
    (void)state;
    test_random random = {11};
    static float x[70000];
    for (int round = 0; round < 60; round++) {
        const int32_t n_x = 1 + (int32_t)test_below(&random, round % 2 ? 300 : 70000);
        const int32_t n = 1 + round % VOUCH_MAX_OPTIONS;
        for (int32_t i = 0; i < n_x; i++) x[i] = round % 3 == 0 ? (float)test_below(&random, 5) : test_normal(&random);
        for (size_t k = 0; vouch_kernels_get(k); k++) {
            int32_t index[VOUCH_MAX_OPTIONS];
            float value[VOUCH_MAX_OPTIONS];
            assert_int_equal(vouch_find_top(vouch_kernels_get(k), x, n_x, n, index, value), n < n_x ? n : n_x);
            int32_t larger = 0;
            const int32_t found = n < n_x ? n : n_x;
            for (int32_t i = 0; i < n_x; i++) larger += x[i] > value[found - 1];
            assert_true(larger < found);
            for (int32_t i = 0; i < found; i++) {
                assert_true(x[index[i]] == value[i] && (i == 0 || value[i] <= value[i - 1]));
                for (int32_t j = 0; j < i; j++) assert_int_not_equal(index[i], index[j]);
            }
        }
    }
    for (int32_t i = 0; i < 1000; i++) x[i] = i == 500 ? 1 : i % 2 ? NAN : -INFINITY;
    int32_t index[8];
    float value[8];
    assert_in_range(vouch_find_top(vouch_kernels_find(NULL), x, 1000, 8, index, value), 0, 1);
}

/* Shows the drafter a row whose likeliest tokens are a, b and c. */
static void see(vouch_source s, const int32_t *tokens, int32_t n_tokens, int32_t a, int32_t b, int32_t c)
{
    float logits[VOCAB];
    for (int32_t i = 0; i < VOCAB; i++) logits[i] = -9;
    logits[c] = 5;
    logits[b] = 6;
    logits[a] = 8;
    const vouch_seen row = {.n_tokens = n_tokens, .logits = logits};
    s.ops->see(s.self, tokens, &row);
}

static void recycle_repeats_the_targets_candidates(void **state)
{
    (void)state;
    vouch_source s = open_source(VOUCH_DRAFTER_RECYCLE);
    vouch_candidate out[VOUCH_MAX_OPTIONS];
    const int32_t tokens[] = {1, 2, 10, 3, 2, 20, 1, 2, 9, 2};
    see(s, tokens, 2, 10, 11, 12);
    see(s, tokens, 3, 3, 4, 5);
    s.ops->rewind(s.self, 3);
    s.ops->observe(s.self, tokens, 2);
    assert_int_equal(expand(s, tokens, 2, 0, 0, out), 0); /* a row counts once the token after it is known */
    s.ops->observe(s.self, tokens, 3);
    assert_int_equal(expand(s, tokens, 2, 0, 0, out), VOUCH_MAX_OPTIONS);
    assert_int_equal(expand(s, tokens, 3, 0, 0, out), 0);
    s.ops->observe(s.self, tokens, 4);
    assert_int_equal(expand(s, tokens, 3, 0, 0, out), VOUCH_MAX_OPTIONS);
    see(s, tokens, 5, 20, 21, 22);
    s.ops->rewind(s.self, 5);
    s.ops->observe(s.self, tokens, 6);
    assert_int_equal(expand(s, tokens, 8, 0, 0, out), VOUCH_MAX_OPTIONS); /* finds 1 2, because 2 1 2 is new */
    assert_int_equal(out[0].token, 10);
    assert_int_equal(out[1].token, 11);
    assert_int_equal(out[2].token, 12);
    assert_true(s.ops->prior(out[0].kind) > s.ops->prior(out[1].kind));
    expand(s, tokens, 10, 0, 0, out);   /* the pair 9 2 is new: uses the rows after 2 */
    assert_int_equal(out[0].token, 10); /* of equals, the older row first */
    assert_int_equal(out[1].token, 20);
    assert_int_equal(expand(s, tokens, 9, 0, 0, out), 0); /* the token 9 has no row yet */
    s.ops->close(s.self);
}

/* Checks that the candidates after `token` begin with a and b. Returns the prior of a. */
static double first_two(vouch_source s, int32_t token, int32_t a, int32_t b)
{
    vouch_candidate out[VOUCH_MAX_OPTIONS];
    const int32_t n = expand(s, (const int32_t[]){63, 62, token}, 3, 0, 0, out);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) assert_int_not_equal(out[i].token, out[j].token);
    assert_int_equal(out[0].token, a);
    assert_int_equal(out[1].token, b);
    return s.ops->prior(out[0].kind);
}

/* The drafter averages the distributions that followed a token. Recent ones weigh more. */
static void recycle_averages(void **state)
{
    (void)state;
    vouch_source s = open_source(VOUCH_DRAFTER_RECYCLE);
    int32_t tokens[200], n = 0;
    double before = 0;
    tokens[n++] = 1;
    for (int i = 0; i < 60; i++) { /* after 5 the likeliest token is 3 once, 8 twice, and then 9 */
        tokens[n++] = 5;
        if (i == 0) see(s, tokens, n, 3, 7, 11);
        else if (i < 3) see(s, tokens, n, 8, 7, 12);
        else see(s, tokens, n, 9, 10, 13);
        tokens[n++] = 20 + i % 30;
        s.ops->rewind(s.self, n - 1);
        s.ops->observe(s.self, tokens, n);
        if (i == 0) before = first_two(s, 5, 3, 7);
        if (i == 2) assert_true(first_two(s, 5, 8, 3) < before);
        if (i == 5) first_two(s, 5, 9, 8); /* 9 led 3 of 6 rows, 8 led 2 */
    }
    assert_true(first_two(s, 5, 9, 10) >= before);
    s.ops->close(s.self);
}

/* Rows of tokens that don't enter the answer leave no trace. A drafter opened with forgetting clears itself when an
 * answer begins. */
static void recycle_drops_rows_outside_the_answer(void **state)
{
    (void)state;
    const int32_t tokens[] = {1, 2, 3, 4, 5, 6};
    vouch_source s = open_source(VOUCH_DRAFTER_RECYCLE), fresh = open_source(VOUCH_DRAFTER_RECYCLE);
    const uint64_t empty = s.ops->digest(s.self);
    see(s, tokens, 2, 3, 8, 9);
    see(s, tokens, 3, 4, 8, 9);
    see(s, tokens, 4, 5, 8, 9);
    s.ops->rewind(s.self, 2); /* the answer ended with token 3 */
    s.ops->observe(s.self, tokens, 6);
    see(fresh, tokens, 2, 3, 8, 9);
    fresh.ops->rewind(fresh.self, 2);
    fresh.ops->observe(fresh.self, tokens, 6);
    assert_true(s.ops->digest(s.self) == fresh.ops->digest(fresh.self));
    assert_true(s.ops->digest(s.self) != empty);
    s.ops->begin(s.self, tokens, 3);
    assert_true(s.ops->digest(s.self) != empty);
    s.ops->close(s.self);
    assert_int_equal(vouch_source_recycle_open(&s, vouch_kernels_find("ref"), VOCAB, MAX_CTX, true, NULL), VOUCH_OK);
    see(s, tokens, 2, 3, 8, 9);
    s.ops->observe(s.self, tokens, 3);
    assert_true(s.ops->digest(s.self) != empty);
    s.ops->begin(s.self, tokens, 3);
    assert_true(s.ops->digest(s.self) == empty);
    s.ops->close(s.self);
    fresh.ops->close(fresh.self);
}

/* A slot is valid if it has the current generation number, which has 16 bits. When the number has wrapped around,
 * rows of its earlier use stay forgotten. */
static void recycle_forgets_when_generations_repeat(void **state)
{
    (void)state;
    const int32_t tokens[] = {1, 2, 3, 4};
    vouch_source s;
    assert_int_equal(vouch_source_recycle_open(&s, vouch_kernels_find("ref"), VOCAB, MAX_CTX, true, NULL), VOUCH_OK);
    const uint64_t empty = s.ops->digest(s.self);
    see(s, tokens, 2, 3, 8, 9);
    s.ops->observe(s.self, tokens, 3);
    assert_true(s.ops->digest(s.self) != empty);
    for (int i = 0; i < 2 * UINT16_MAX; i++) {
        vouch_candidate out[VOUCH_MAX_OPTIONS];
        s.ops->begin(s.self, tokens, 3);
        assert_int_equal(expand(s, tokens, 2, 0, 0, out), 0);
    }
    assert_true(s.ops->digest(s.self) == empty);
    s.ops->close(s.self);
}

/* --------------------------------------------------------------- prediction */

/* The candidates of a new drafter after a prompt and an answer. */
static int32_t predicted(const int32_t *prediction, int32_t n, const int32_t *answer, int32_t n_answer,
                         vouch_candidate *out)
{
    int32_t tokens[64] = {250, 251};
    if (n_answer > 0) memcpy(tokens + 2, answer, (size_t)n_answer * sizeof *answer);
    vouch_source s = open_source(VOUCH_DRAFTER_PREDICTION);
    vouch_source_prediction_set(s, prediction, (size_t)n);
    s.ops->begin(s.self, tokens, 2);
    s.ops->observe(s.self, tokens, 2 + n_answer);
    const int32_t n_out = expand(s, tokens, 2 + n_answer, 0, s.ops->start(s.self), out);
    s.ops->close(s.self);
    return n_out;
}

#define LIST(...) (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)

static void prediction_is_followed_and_found_again(void **state)
{
    (void)state;
    const int32_t text[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 30, 31};
    const int32_t n = sizeof text / sizeof *text;
    vouch_candidate out[VOUCH_MAX_OPTIONS];
    assert_int_equal(predicted(text, n, NULL, 0, out), 1); /* starts at the beginning */
    assert_int_equal(out[0].token, 1);
    assert_int_equal(predicted(text, n, LIST(1, 2, 3), out), 1);
    assert_int_equal(out[0].token, 4);
    assert_int_equal(predicted(text, n, LIST(1, 2, 99), out), 2); /* 99 replaces 3, or precedes it */
    assert_int_equal(out[0].token, 4);
    assert_int_equal(out[1].token, 3);
    assert_int_equal(predicted(text, n, LIST(1, 2, 99, 4), out), 1);
    assert_int_equal(out[0].token, 5);
    assert_int_equal(predicted(text, n, LIST(1, 2, 98, 99, 97, 7, 8), out), 1); /* the answer leaves a passage out */
    assert_int_equal(out[0].token, 9);
    assert_int_equal(predicted(text, n, LIST(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2), out), 1); /* at the nearer "1 2" */
    assert_int_equal(out[0].token, 30);
    assert_int_equal(predicted(text, n, text, n, out), 0); /* the prediction has ended */
    assert_int_equal(predicted(NULL, 0, LIST(5), out), 0);
}

static void prediction_begins_anew_with_each_answer(void **state)
{
    (void)state;
    int32_t tokens[64] = {250, 251};
    const int32_t text[] = {1, 2, 3, 4, 5};
    vouch_source s = open_source(VOUCH_DRAFTER_PREDICTION);
    assert_int_equal(chain(s, tokens, 2, 3), 0); /* no prediction is set yet */
    vouch_source_prediction_set(s, text, 5);
    assert_int_equal(chain(s, tokens, 2, 3), 0); /* no answer has begun */
    s.ops->begin(s.self, tokens, 2);
    assert_int_equal(chain(s, tokens, 2, 9), 5);
    assert_memory_equal(tokens + 2, text, sizeof text);
    tokens[7] = 252;
    s.ops->observe(s.self, tokens, 8);
    s.ops->rewind(s.self, 7);
    s.ops->begin(s.self, tokens, 8);
    assert_int_equal(chain(s, tokens, 8, 9), 5);
    s.ops->close(s.self);
}

/* ------------------------------------------------------------------ history */

static void history_follows_earlier_answers(void **state)
{
    (void)state;
    vouch_source s = open_source(VOUCH_DRAFTER_HISTORY);
    int32_t tokens[64] = {7, 3, 4, 5}, answer[40];
    vouch_answers_clear(answers);
    assert_int_equal(chain(s, tokens, 4, 9), 0);
    for (int32_t i = 0; i < 40; i++) answer[i] = i;
    vouch_answers_add(answers, 8, answer, 40); /* of another scope */
    assert_int_equal(chain(s, tokens, 4, 9), 0);
    vouch_answers_add(answers, 7, answer, 30);
    assert_int_equal(chain(s, tokens, 4, 50), 24); /* to the end of that answer, also where the finger begins */
    for (int32_t i = 0; i < 24; i++) assert_int_equal(tokens[4 + i], 6 + i);
    s.ops->close(s.self);
}

/* Candidates of the longest match come first, the most frequent of them before others. */
static void history_prefers_long_and_frequent_matches(void **state)
{
    (void)state;
    vouch_source s = open_source(VOUCH_DRAFTER_HISTORY);
    vouch_answers_clear(answers);
    for (int i = 0; i < 3; i++) vouch_answers_add(answers, 7, (int32_t[]){1, 2, 3, 4, 50}, 5);
    vouch_answers_add(answers, 7, (int32_t[]){1, 2, 3, 4, 51}, 5);
    vouch_answers_add(answers, 7, (int32_t[]){9, 2, 3, 4, 52}, 5);
    const int32_t tokens[] = {1, 2, 3, 4};
    vouch_candidate found[VOUCH_MAX_OPTIONS];
    s.ops->observe(s.self, tokens, 4);
    assert_int_equal(expand(s, tokens, 4, 0, s.ops->start(s.self), found), 3);
    assert_int_equal(found[0].token, 50);
    assert_int_equal(found[0].kind, vouch_suffix_kind(4, 3, 4, true));
    assert_int_equal(found[1].token, 51);
    assert_int_equal(found[1].kind, vouch_suffix_kind(4, 1, 4, true));
    assert_int_equal(found[2].token, 52);
    assert_int_equal(found[2].kind, vouch_suffix_kind(3, 1, 5, false));
    s.ops->close(s.self);
}

/* -------------------------------------------------------------- composition */

static vouch_drafter_ref compose(const unsigned *bits, int32_t n)
{
    vouch_source sources[VOUCH_MAX_SOURCES];
    vouch_drafter_ref d;
    for (int32_t i = 0; i < n; i++) sources[i] = open_source(bits[i]);
    assert_int_equal(vouch_drafter_compose_open(&d, sources, n, NULL), VOUCH_OK);
    return d;
}

static void check_tree(const vouch_draft *draft, const vouch_shape *shape)
{
    int32_t depth[VOUCH_MAX_DRAFT], n_children[VOUCH_MAX_DRAFT + 1] = {0};
    assert_in_range(draft->n, 0, shape->n);
    for (int32_t i = 0; i < draft->n; i++) {
        const int32_t parent = vouch_draft_parent(draft, i);
        assert_in_range(parent + 1, 0, i);
        depth[i] = parent < 0 ? 1 : depth[parent] + 1;
        assert_true(depth[i] <= shape->depth && ++n_children[parent + 1] <= shape->branches);
        assert_true(draft->drafters[i] != 0);
        for (int32_t j = 0; j < i; j++)
            assert_true(vouch_draft_parent(draft, j) != parent || draft->tokens[j] != draft->tokens[i]);
    }
    assert_true(draft->n == 0 || draft->expected[draft->n] > 1);
    assert_true(draft->expected[draft->n] <= shape->depth + 1.001);
}

static void trees_keep_their_shape(void **state)
{
    (void)state;
    static const unsigned bits[] = {VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_RECYCLE};
    static int32_t tokens[MAX_CTX];
    double cost[VOUCH_MAX_DRAFT + 2];
    int trees = 0, chains = 0;
    for (int32_t n = 1; n < VOUCH_MAX_DRAFT + 2; n++) cost[n] = vouch_cost_default(n);
    for (int i = 0; i < 30; i++) {
        test_random random = {(uint64_t)i};
        vouch_drafter_ref d = compose(bits, 1 + i % 3);
        const vouch_shape shape = {.n = 1 + 5 * i % VOUCH_MAX_DRAFT,
                                   .depth = 1 + i % 7,
                                   .branches = 1 + i % 4,
                                   .price.cost = i % 2 ? cost : NULL};
        for (int32_t n = 1; n < 300; n += 1 + i % 3) {
            for (int32_t j = 0; j < 4; j++) tokens[n - 1 + j] = (int32_t)test_below(&random, 4);
            const vouch_source recycle = vouch_drafter_compose_source(d, VOUCH_DRAFTER_RECYCLE);
            if (recycle.ops) see(recycle, tokens, n, 0, 1, 2);
            const vouch_draft draft = d.ops->propose(d.self, tokens, n, &shape);
            check_tree(&draft, &shape);
            trees += draft.parents != NULL;
            chains += draft.n > 1 && !draft.parents;
            if (shape.branches == 1) assert_null(draft.parents);
            d.ops->rewind(d.self, n);
        }
        d.ops->close(d.self);
    }
    assert_true(trees > 100 && chains > 100);
}

/* The guesses of another drafter, the guide: a random tree within the shape. */
typedef struct guesses {
    int32_t tokens[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT];
    unsigned drafters[VOUCH_MAX_DRAFT];
    float chances[VOUCH_MAX_DRAFT];
    vouch_dist dist;
    const vouch_dist *q[VOUCH_MAX_DRAFT];
    vouch_draft draft;
} guesses;

static void guess_tree(guesses *g, const vouch_shape *shape, bool drawn, bool rated, test_random *random)
{
    int32_t depth[VOUCH_MAX_DRAFT + 1] = {0}, n_children[VOUCH_MAX_DRAFT + 1] = {0}, n = 0;
    for (int tries = 0; tries < 12 && n < shape->n; tries++) {
        const int32_t place = (int32_t)test_below(random, (uint32_t)n + 1);
        if (depth[place] == shape->depth || n_children[place] == shape->branches) continue;
        n_children[place]++;
        depth[n + 1] = depth[place] + 1;
        g->parents[n] = place - 1;
        g->tokens[n] = 4 - n_children[place]; /* a token from 0 to 3 */
        g->chances[n] = 0.01f * (float)test_below(random, 100);
        g->drafters[n] = VOUCH_DRAFTER_MODEL;
        g->q[n++] = &g->dist;
    }
    g->draft = (vouch_draft){.n = n,
                             .tokens = g->tokens,
                             .parents = g->parents,
                             .q = drawn ? g->q : NULL,
                             .drafters = g->drafters,
                             .chances = rated ? g->chances : NULL};
}

/* The guide's sampled guesses come first, all of them, with their q. The other guesses have no q. */
static void check_drawn(const vouch_draft *draft, const vouch_draft *guide)
{
    assert_true(draft->n >= guide->n);
    for (int32_t i = 0; i < draft->n; i++) {
        const bool is_drawn = i < guide->n;
        assert_true(draft->q[i] == (is_drawn ? guide->q[i] : NULL));
        assert_true(is_drawn == (draft->drafters[i] >> 1 & 1));
        if (!is_drawn) continue;
        assert_int_equal(draft->tokens[i], guide->tokens[i]);
        assert_int_equal(vouch_draft_parent(draft, i), guide->parents[i]);
    }
}

/* The tree merges the guide's guesses with the free drafters'. The free drafters learn the same as without a guide (law
 * L3). */
static void guesses_of_another_are_part_of_the_tree(void **state)
{
    (void)state;
    static const unsigned bits[] = {VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX};
    static int32_t tokens[MAX_CTX];
    static guesses g;
    double cost[VOUCH_MAX_DRAFT + 2];
    int shared = 0, alone = 0, added = 0, left_out = 0;
    for (int32_t n = 1; n < VOUCH_MAX_DRAFT + 2; n++) cost[n] = vouch_cost_default(n);
    for (int i = 0; i < 24; i++) {
        test_random random = {(uint64_t)i};
        const bool drawn = i % 2, rated = i / 2 % 2;
        vouch_drafter_ref d = compose(bits, i % 3), other = compose(bits, i % 3);
        const vouch_shape shape = {
            .n = 2 + 3 * i % 20, .depth = 1 + i % 5, .branches = 1 + i % 4, .price.cost = i % 5 ? cost : NULL};
        d.ops->begin(d.self, tokens, 1);
        other.ops->begin(other.self, tokens, 1);
        for (int32_t n = 1; n < 300; n += 1 + i % 3) {
            for (int32_t j = 0; j < 4; j++) tokens[n - 1 + j] = (int32_t)test_below(&random, 4);
            guess_tree(&g, &shape, drawn, rated, &random);
            const bool is_guided = n % 7;
            const vouch_draft draft = is_guided ? d.ops->propose_around(d.self, tokens, n, &shape, &g.draft)
                                                : d.ops->propose(d.self, tokens, n, &shape);
            check_tree(&draft, &shape);
            if (!is_guided) assert_null(draft.q);
            if (is_guided && drawn) check_drawn(&draft, &g.draft);
            int n_guided = 0;
            for (int32_t k = 0; k < draft.n; k++) {
                const bool by_guide = draft.drafters[k] & VOUCH_DRAFTER_MODEL;
                n_guided += by_guide;
                shared += by_guide && draft.drafters[k] != VOUCH_DRAFTER_MODEL;
                alone += draft.drafters[k] == VOUCH_DRAFTER_MODEL;
                added += is_guided && !by_guide;
            }
            left_out += is_guided && n_guided < g.draft.n;
            other.ops->observe(other.self, tokens, n);
            assert_true(d.ops->digest(d.self) == other.ops->digest(other.self));
            d.ops->rewind(d.self, n - 1);
            other.ops->rewind(other.self, n - 1);
        }
        d.ops->close(d.self);
        other.ops->close(other.self);
    }
    assert_true(shared > 100 && alone > 100 && added > 100 && left_out > 100);
}

/* The tree keeps the guesses of a guide that is often right and soon drops those of a guide that is wrong. The expected
 * number of tokens matches the outcome. */
static void guides_are_judged_by_what_happens(void **state)
{
    (void)state;
    enum { ANSWER = 400 };
    static int32_t tokens[MAX_CTX];
    static guesses g;
    double cost[VOUCH_MAX_DRAFT + 2];
    for (int32_t n = 1; n < VOUCH_MAX_DRAFT + 2; n++) cost[n] = vouch_cost_default(n);
    for (int right = 0; right < 20; right++) {
        test_random random = {(uint64_t)right};
        vouch_drafter_ref d = compose(NULL, 0);
        const vouch_shape shape = {.n = 4, .depth = 4, .branches = 1, .price.cost = cost};
        double expected = 0, held = 0;
        int32_t n_last = 0;
        d.ops->begin(d.self, tokens, 1);
        for (int32_t n = 1; n < ANSWER;) {
            for (int32_t i = 0; i < 4; i++) {
                tokens[n + i] = (int32_t)test_below(&random, 1000);
                g.tokens[i] = (int32_t)test_below(&random, 20) < right ? tokens[n + i] : 1000;
                g.drafters[i] = VOUCH_DRAFTER_CUSTOM;
            }
            g.draft = (vouch_draft){.n = 4, .tokens = g.tokens, .drafters = g.drafters};
            const vouch_draft draft = d.ops->propose_around(d.self, tokens, n, &shape, &g.draft);
            int32_t n_held = 0;
            while (n_held < draft.n && draft.tokens[n_held] == tokens[n + n_held]) n_held++;
            if (n > ANSWER / 4) expected += draft.expected[draft.n], held += 1 + n_held;
            n_last = draft.n;
            n += n_held + 1;
        }
        if (right == 0) assert_int_equal(n_last, 0);
        if (right == 19) assert_int_equal(n_last, 4);
        assert_true(expected > 0.85 * held && expected < 1.15 * held);
        d.ops->close(d.self);
    }
}

/* Where rows cost nothing, the tree is full. The costlier a row, the smaller the tree, down to none. */
static void cost_decides_the_size(void **state)
{
    (void)state;
    static const unsigned bits[] = {VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_NGRAM};
    static int32_t tokens[MAX_CTX];
    test_random random = {2};
    for (int32_t i = 0; i < 400; i++) tokens[i] = (int32_t)test_below(&random, 3);
    const double slopes[] = {0, 0.06, 0.3, 3};
    int32_t previous = 17;
    for (int i = 0; i < 4; i++) {
        double cost[VOUCH_MAX_DRAFT + 2];
        for (int32_t n = 1; n < VOUCH_MAX_DRAFT + 2; n++) cost[n] = 1 + slopes[i] * (n - 1);
        const vouch_shape shape = {.n = 16, .depth = 8, .branches = 8, .price.cost = cost};
        vouch_drafter_ref d = compose(bits, 2);
        const vouch_draft draft = d.ops->propose(d.self, tokens, 400, &shape);
        if (i == 0) assert_int_equal(draft.n, 16);
        assert_true(draft.n < previous);
        previous = draft.n;
        d.ops->close(d.self);
    }
    assert_int_equal(previous, 0);
}

/* The estimated acceptance probability rises with accepted guesses, falls with rejected ones, and settles at the true
 * rate. */
static void chances_are_learned(void **state)
{
    (void)state;
    static const unsigned bits[] = {VOUCH_DRAFTER_PREDICTION, VOUCH_DRAFTER_NGRAM};
    for (int32_t n_sources = 1; n_sources <= 2; n_sources++) {
        vouch_source sources[2];
        for (int32_t i = 0; i < n_sources; i++) sources[i] = open_source(bits[i]);
        static vouch_chances c;
        vouch_chances_init(&c, sources, n_sources);
        vouch_opinion opinion;
        memset(&opinion, VOUCH_SILENT, sizeof opinion);
        for (int32_t i = 0; i < n_sources; i++) opinion.kind[i] = 2;
        const double before = vouch_chance_of(&c, &opinion);
        for (int i = 0; i < 300; i++) vouch_chances_learn(&c, &opinion, true);
        const double high = vouch_chance_of(&c, &opinion);
        for (int i = 0; i < 600; i++) vouch_chances_learn(&c, &opinion, false);
        const double low = vouch_chance_of(&c, &opinion);
        for (int i = 0; i < 3000; i++) vouch_chances_learn(&c, &opinion, i % 10 < 3);
        const double third = vouch_chance_of(&c, &opinion);
        assert_true(high > before && high > 0.97 && low < 0.2 && third > 0.2 && third < 0.4);
        for (int32_t i = 0; i < n_sources; i++) sources[i].ops->close(sources[i].self);
    }
}

static int answers_open(void **state)
{
    (void)state;
    return vouch_answers_open(&answers, 1 << 16, NULL);
}

static int answers_close(void **state)
{
    (void)state;
    vouch_answers_close(answers);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffix_says_what_followed_most_often),
        cmocka_unit_test(suffix_continues_periods),
        cmocka_unit_test(rewinds_leave_no_trace),
        cmocka_unit_test(top_is_the_largest),
        cmocka_unit_test(recycle_repeats_the_targets_candidates),
        cmocka_unit_test(recycle_averages),
        cmocka_unit_test(recycle_drops_rows_outside_the_answer),
        cmocka_unit_test(recycle_forgets_when_generations_repeat),
        cmocka_unit_test(prediction_is_followed_and_found_again),
        cmocka_unit_test(prediction_begins_anew_with_each_answer),
        cmocka_unit_test(history_follows_earlier_answers),
        cmocka_unit_test(history_prefers_long_and_frequent_matches),
        cmocka_unit_test(trees_keep_their_shape),
        cmocka_unit_test(guesses_of_another_are_part_of_the_tree),
        cmocka_unit_test(guides_are_judged_by_what_happens),
        cmocka_unit_test(cost_decides_the_size),
        cmocka_unit_test(chances_are_learned),
    };
    return cmocka_run_group_tests_name("sources", tests, answers_open, answers_close);
}
