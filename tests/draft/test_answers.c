/* SPDX-License-Identifier: MIT */
/* Tests of the ring of earlier answers: what a search finds, which scope sees an answer, what is overwritten first, and
 * many threads at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "draft/free/answers.h"
#include "support/sanitized.h"
#include "support/test.h"

enum { SMALL = 1 << 16, TAIL = 32 };

static vouch_answers *open_answers(size_t n_bytes)
{
    vouch_answers *a;
    assert_int_equal(vouch_answers_open(&a, n_bytes, NULL), VOUCH_OK);
    assert_true(vouch_answers_memory(a) <= n_bytes);
    assert_true(vouch_answers_capacity(a) > 0 && vouch_answers_size(a) == 0);
    return a;
}

/* How many tokens before `end` stand before index i of the text, too. */
static int32_t agreement(const int32_t *text, int32_t i, const int32_t *end, int32_t n_tail)
{
    int32_t n = 0;
    while (n < n_tail && n < i && text[i - n - 1] == end[-n - 1]) n++;
    return n;
}

/* A search finds the longest agreement that there is, where at least three tokens agree, and what followed it. */
static void a_search_finds_the_longest_match(void **state)
{
    (void)state;
    enum { N = 300, ROUNDS = 2000 };
    static int32_t text[N];
    test_random random = {5};
    vouch_answers *a = open_answers(SMALL);
    for (int32_t i = 0; i < N; i++) text[i] = (int32_t)test_below(&random, 6);
    vouch_answers_add(a, 7, text, N);
    int n_found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int32_t query[TAIL];
        const int32_t n = 1 + (int32_t)test_below(&random, TAIL), from = (int32_t)test_below(&random, N - TAIL);
        for (int32_t i = 0; i < n; i++) query[i] = text[from + i];
        if (round % 2) query[test_below(&random, (uint32_t)n)] = (int32_t)test_below(&random, 6);
        int32_t best = 0, n_best = 0;
        for (int32_t i = 1; i < N; i++) {
            const int32_t length = agreement(text, i, query + n, n);
            if (length > best) best = length, n_best = 0;
            n_best += length == best;
        }
        vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
        const int32_t n_matches = vouch_answers_find(a, 7, query + n, n, matches);
        if (best < 3) assert_int_equal(n_matches, 0);
        if (best < 3 || (best < 8 && n_best > 2)) continue; /* a search of a common beginning looks at a few only */
        n_found += n_matches > 0;
        for (int32_t i = 0; i < n_matches; i++) {
            const int32_t at = (int32_t)(matches[i].next - vouch_answers_capacity(a));
            assert_int_equal(matches[i].length, agreement(text, at, query + n, n));
            assert_int_equal(vouch_answers_token(a, 7, matches[i].next), text[at]);
            if (i > 0) assert_true(matches[i].length <= matches[i - 1].length);
        }
        if (best >= 8) assert_int_equal(matches[0].length, best);
    }
    assert_true(n_found > ROUNDS / 3);
    vouch_answers_close(a);
}

/* The newest of equal matches comes first, and an answer ends with a separator. */
static void newer_answers_come_first(void **state)
{
    (void)state;
    vouch_answers *a = open_answers(SMALL);
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
    const int32_t query[] = {1, 2, 3};
    for (int32_t i = 0; i < 30; i++) vouch_answers_add(a, 0, (int32_t[]){9, 1, 2, 3, 100 + i}, 5);
    const int32_t n = vouch_answers_find(a, 0, query + 3, 3, matches);
    assert_true(n > 4);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(vouch_answers_token(a, 0, matches[i].next), 129 - i);
        assert_int_equal(vouch_answers_token(a, 0, matches[i].next + 1), VOUCH_ANSWERS_SEPARATOR);
        assert_int_equal(matches[i].length, 3);
    }
    vouch_answers_clear(a);
    assert_int_equal(vouch_answers_find(a, 0, query + 3, 3, matches), 0);
    assert_int_equal(vouch_answers_token(a, 0, matches[0].next), VOUCH_ANSWERS_SEPARATOR);
    assert_int_equal(vouch_answers_size(a), 0);
    vouch_answers_close(a);
}

static void scopes_are_apart(void **state)
{
    (void)state;
    vouch_answers *a = open_answers(SMALL);
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
    int32_t text[200];
    for (int32_t i = 0; i < 200; i++) text[i] = i;
    for (uint64_t scope = 1; scope <= 3; scope++) vouch_answers_add(a, scope, text, 50 * (int32_t)scope);
    for (uint64_t scope = 0; scope <= 4; scope++) {
        const int32_t n = vouch_answers_find(a, scope, text + 140, 20, matches);
        assert_int_equal(n, scope == 3); /* only its answer is so long */
        if (n == 0) continue;
        for (uint64_t other = 0; other <= 4; other++)
            assert_int_equal(vouch_answers_token(a, other, matches[0].next),
                             other == 3 ? 140 : VOUCH_ANSWERS_SEPARATOR);
    }
    vouch_answers_close(a);
}

/* A million tokens are added to a small ring. Its memory doesn't grow, and it holds the newest answers whole. */
static void the_oldest_leave_first(void **state)
{
    (void)state;
    enum { N = 1000000, MOST = 700 };
    static int32_t text[N];
    int32_t starts[N / 10], n_answers = 0, n = 0;
    test_random random = {11};
    vouch_answers *a = open_answers(SMALL);
    const size_t before = vouch_answers_memory(a);
    while (n < N - MOST) {
        const int32_t length = 1 + (int32_t)test_below(&random, MOST - 1);
        for (int32_t i = 0; i < length; i++) text[n + i] = (int32_t)test_below(&random, 50000);
        vouch_answers_add(a, 1, text + n, length);
        starts[n_answers++] = n;
        n += length;
        assert_true(vouch_answers_size(a) <= vouch_answers_capacity(a));
    }
    assert_int_equal(vouch_answers_memory(a), before);
    starts[n_answers] = n;
    int64_t position = 0;
    int32_t *tokens, n_tokens, n_seen = 0;
    uint64_t scope;
    int32_t texts_left = 0;
    while (vouch_answers_next(a, &position, &scope, &tokens, &n_tokens)) {
        n_seen++;
        texts_left += n_tokens;
        free(tokens);
    }
    assert_true(n_seen > 3 && texts_left < vouch_answers_capacity(a));
    position = 0;
    for (int32_t i = n_answers - n_seen; vouch_answers_next(a, &position, &scope, &tokens, &n_tokens); i++) {
        const bool is_cut = i == n_answers - n_seen; /* the ring may have begun to overwrite the oldest */
        const int32_t length = starts[i + 1] - starts[i];
        assert_int_equal(scope, 1);
        assert_true(is_cut ? n_tokens <= length : n_tokens == length);
        assert_memory_equal(tokens, text + starts[i + 1] - n_tokens, (size_t)n_tokens * sizeof *tokens);
        free(tokens);
    }
    vouch_answers_close(a);
}

/* ------------------------------------------------------------------- threads */

enum { WRITERS = 3, READERS = 3, ROUNDS = 3000 };

typedef struct party {
    vouch_answers *answers;
    uint64_t scope; /* its tokens have this remainder */
    int64_t n_found;
    bool is_good;
} party;

static void *write_answers(void *arg)
{
    const party *p = arg;
    test_random random = {p->scope};
    int32_t text[200];
    for (int round = 0; round < ROUNDS / (TEST_SANITIZED ? 10 : 1); round++) {
        const int32_t n = 1 + (int32_t)test_below(&random, 200);
        for (int32_t i = 0; i < n; i++) text[i] = (int32_t)(test_below(&random, 4) * WRITERS + p->scope);
        vouch_answers_add(p->answers, p->scope, text, n);
    }
    return NULL;
}

static void *read_answers(void *arg)
{
    party *p = arg;
    test_random random = {p->scope + 100};
    p->is_good = true;
    for (int round = 0; round < 4 * ROUNDS / (TEST_SANITIZED ? 10 : 1); round++) {
        int32_t query[4];
        vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
        for (int32_t i = 0; i < 4; i++) query[i] = (int32_t)(test_below(&random, 4) * WRITERS + p->scope);
        const int32_t n = vouch_answers_find(p->answers, p->scope, query + 4, 4, matches);
        p->n_found += n;
        for (int32_t i = 0; i < n; i++)
            for (int64_t at = matches[i].next; at < matches[i].next + 80; at++) {
                const int32_t token = vouch_answers_token(p->answers, p->scope, at);
                if (token == VOUCH_ANSWERS_SEPARATOR) break;
                p->is_good &= (uint64_t)token % WRITERS == p->scope;
            }
    }
    return NULL;
}

/* Readers of a scope see tokens of that scope alone, while the ring turns over. */
static void readers_see_their_scope_while_others_write(void **state)
{
    (void)state;
    vouch_answers *a = open_answers(SMALL);
    pthread_t writers[WRITERS], readers[READERS];
    party parties[WRITERS], readings[READERS];
    for (int i = 0; i < WRITERS; i++) {
        parties[i] = (party){.answers = a, .scope = (uint64_t)i};
        assert_int_equal(pthread_create(&writers[i], NULL, write_answers, &parties[i]), 0);
    }
    for (int i = 0; i < READERS; i++) {
        readings[i] = (party){.answers = a, .scope = (uint64_t)i % WRITERS};
        assert_int_equal(pthread_create(&readers[i], NULL, read_answers, &readings[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(writers[i], NULL);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        assert_true(readings[i].is_good);
    }
    vouch_answers_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_finds_the_longest_match),
        cmocka_unit_test(newer_answers_come_first),
        cmocka_unit_test(scopes_are_apart),
        cmocka_unit_test(the_oldest_leave_first),
        cmocka_unit_test(readers_see_their_scope_while_others_write),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
