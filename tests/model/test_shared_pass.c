/* SPDX-License-Identifier: MIT */
/*
 * A pass that sequences share (shared_pass.h): rows give the same bits beside others as alone (law L1), a full
 * pass lets the others wait, and a pass serves all sequences of its model until the last one has gone.
 */
#include <math.h>
#include <string.h>

#include "engine/file/model.h"
#include "model/pass/shared_pass.h"
#include "support/decode/answer.h"

enum { N_CTX = 64, N_SEQUENCES = 3, CHUNK = 8, VOCAB = 400 };

static vouch_shared_sequence_options options_of(int32_t n_ctx, int32_t max_rows, int32_t max_logits)
{
    return (vouch_shared_sequence_options){.pass = {.n_ctx = n_ctx, .max_rows = max_rows, .max_logits = max_logits}};
}

static void open(vouch_shared_sequence *s, vouch_shared_passes *passes, const vouch_model *model,
                 const vouch_shared_sequence_options *options)
{
    assert_int_equal(vouch_shared_sequence_open(s, passes, model->weights, options, NULL), VOUCH_OK);
}

/* Stages n tokens that the sequence keeps; the last one gets logits. */
static vouch_staged stage(const vouch_shared_sequence *s, const int32_t *tokens, int32_t n)
{
    vouch_row *rows = vouch_shared_pass_rows(s->shared);
    assert_true(vouch_shared_pass_room(s->shared, 1) >= n);
    for (int32_t i = 0; i < n; i++)
        rows[i] =
            (vouch_row){.memory = s->memory, .token = tokens[i], .parent = -1, .kept = true, .logits = i == n - 1};
    return vouch_shared_pass_stage(s->shared, n);
}

/* 20 rounds of 1 to CHUNK tokens of each sequence, beside each other and alone. */
static void rows_beside_others_have_the_same_bits(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.n_ctx = N_CTX});
    const vouch_shared_sequence_options options = options_of(N_CTX, CHUNK, 1);
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    vouch_shared_passes together = {.pool = pool, .n_sequences = N_SEQUENCES}, apart = {.pool = pool};
    vouch_shared_sequence beside[N_SEQUENCES], alone[N_SEQUENCES];
    test_random random = {4};
    for (int32_t i = 0; i < N_SEQUENCES; i++) {
        open(&beside[i], &together, model, &options);
        open(&alone[i], &apart, model, &options);
    }
    for (int round = 0; round < 20; round++) {
        int32_t tokens[N_SEQUENCES][CHUNK], n[N_SEQUENCES];
        vouch_staged staged[N_SEQUENCES];
        int32_t n_rows = 0;
        for (int32_t i = 0; i < N_SEQUENCES; i++) {
            n[i] = 1 + (int32_t)test_below(&random, 3);
            for (int32_t t = 0; t < n[i]; t++) tokens[i][t] = (int32_t)test_below(&random, VOCAB);
            staged[i] = stage(&beside[i], tokens[i], n[i]);
            n_rows += n[i];
        }
        for (int32_t i = 0; i < N_SEQUENCES; i++) vouch_shared_sequence_run(&beside[i]);
        assert_int_equal(beside[0].shared->n_run, n_rows);
        double sum = 0;
        for (int32_t i = 0; i < N_SEQUENCES; i++) {
            const vouch_staged own = stage(&alone[i], tokens[i], n[i]);
            vouch_shared_sequence_run(&alone[i]);
            const float *a = vouch_pass_logits(alone[i].shared->pass, own.first_logits);
            const float *b = vouch_pass_logits(beside[i].shared->pass, staged[i].first_logits);
            assert_memory_equal(a, b, VOCAB * sizeof *a);
            const float *other = vouch_pass_logits(beside[i].shared->pass, staged[(i + 1) % N_SEQUENCES].first_logits);
            assert_memory_not_equal(a, other, VOCAB * sizeof *a);
            assert_true(vouch_memory_digest(beside[i].memory) == vouch_memory_digest(alone[i].memory));
            sum += vouch_shared_pass_seconds(beside[i].shared, &staged[i]);
        }
        assert_true(sum > beside[0].shared->seconds * (1 - 1e-9) && sum < beside[0].shared->seconds * (1 + 1e-9));
    }
    assert_int_equal(together.n_runs, 20);
    assert_int_equal(apart.n_runs, 20 * N_SEQUENCES);
    assert_int_equal(together.n_rows, apart.n_rows);
    for (int32_t i = 0; i < N_SEQUENCES; i++) {
        vouch_shared_sequence_close(&beside[i]);
        vouch_shared_sequence_close(&alone[i]);
    }
    vouch_pool_close(pool);
    vouch_model_close(model);
}

/* Without room for a row, or for a row with logits, a sequence waits until the pass has run. */
static void a_full_pass_makes_others_wait(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.n_ctx = N_CTX});
    const vouch_shared_sequence_options options = options_of(N_CTX, CHUNK, 1);
    static const int32_t tokens[CHUNK + 1] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool, .n_sequences = 2};
    vouch_shared_sequence a, b;
    open(&a, &passes, model, &options);
    open(&b, &passes, model, &options);
    assert_ptr_equal(a.shared, b.shared);
    assert_int_equal(vouch_shared_pass_room(a.shared, 1), CHUNK + 2);
    stage(&a, tokens, CHUNK + 1);
    assert_int_equal(vouch_shared_pass_room(b.shared, 1), 1);
    stage(&b, tokens, 1);
    assert_int_equal(vouch_shared_pass_room(b.shared, 0), 0); /* no row */
    vouch_shared_sequence_run(&a);
    stage(&a, tokens, 1);
    stage(&b, tokens, 1);
    assert_int_equal(vouch_shared_pass_room(b.shared, 1), 0); /* no row with logits */
    assert_int_equal(vouch_shared_pass_room(b.shared, 0), CHUNK);
    vouch_shared_sequence_run(&a);
    vouch_shared_sequence_run(&b); /* nothing is staged: no run */
    assert_int_equal(passes.n_runs, 2);
    assert_int_equal(passes.n_rows, CHUNK + 4);
    vouch_shared_sequence_close(&a);
    vouch_shared_sequence_close(&b);
    vouch_pool_close(pool);
    vouch_model_close(model);
}

/* When n sequences share a run, each pays a part of it: all of a run alone, less beside others. The parts of all add up
 * to t(n) / t(1), which the pass learns from its runs. */
static void a_run_is_paid_for_in_parts(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.n_ctx = N_CTX});
    const vouch_shared_sequence_options options = options_of(N_CTX, 1, 1);
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool, .n_sequences = N_SEQUENCES};
    vouch_shared_sequence s[N_SEQUENCES];
    for (int32_t i = 0; i < N_SEQUENCES; i++) open(&s[i], &passes, model, &options);
    const vouch_shared_pass *pass = s[0].shared;
    assert_true(vouch_shared_pass_part(pass, 1, 1) == 1);
    const double two = vouch_shared_pass_part(pass, 1, 2), three = vouch_shared_pass_part(pass, 1, 3);
    assert_true(three < two && two < 1 && three > 1.0 / 3);
    assert_true(fabs(3 * three - vouch_cost_of(&pass->cost, 3)) < 1e-12);
    assert_true(vouch_shared_pass_part(pass, 1, 1000) == three); /* counts no more sequences than there are */
    assert_true(vouch_shared_pass_part(pass, VOUCH_COST_ROWS, 3) > 0);
    for (int32_t i = 0; i < N_SEQUENCES; i++) vouch_shared_sequence_close(&s[i]);
    vouch_pool_close(pool);
    vouch_model_close(model);
}

/* Sequences with the same model and the same output rows share a pass. It grows to the largest request. */
static void passes_are_shared_and_grow(void **state)
{
    (void)state;
    vouch_model *model = tiny_model_open(&(tiny_model_options){.n_ctx = N_CTX});
    vouch_model *other = tiny_model_open(&(tiny_model_options){.n_ctx = N_CTX, .seed = 2});
    static const int32_t some[] = {7, 2, 300}, rest[] = {7, 2, 301};
    static const int32_t token[] = {11};
    vouch_shared_sequence_options options = options_of(N_CTX / 2, 1, 1);
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool, .n_sequences = 8};
    vouch_shared_sequence s[5];
    float logits[VOCAB];
    open(&s[0], &passes, model, &options);
    open(&s[1], &passes, other, &options);
    const vouch_staged first = stage(&s[0], token, 1);
    vouch_shared_sequence_run(&s[0]);
    memcpy(logits, vouch_pass_logits(s[0].shared->pass, first.first_logits), sizeof logits);
    vouch_memory_rewind(s[0].memory, 0);
    options.pass.n_output = 3;
    options.pass.output = some;
    open(&s[2], &passes, model, &options);
    options.pass.output = rest;
    open(&s[3], &passes, model, &options);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_ptr_not_equal(s[i].shared, s[j].shared);
    const size_t before = vouch_shared_passes_bytes(&passes);
    options = options_of(N_CTX, 4, 8);
    open(&s[4], &passes, model, &options);
    assert_ptr_equal(s[4].shared, s[0].shared);
    assert_true(vouch_shared_passes_bytes(&passes) > before);
    assert_int_equal(vouch_shared_pass_room(s[0].shared, VOUCH_MAX_DRAFT), 4 + VOUCH_MAX_DRAFT);
    assert_int_equal(vouch_shared_pass_room(s[0].shared, VOUCH_MAX_DRAFT + 1), 0);
    for (int i = 0; i < 4; i++) {
        const vouch_staged at = stage(&s[i], token, 1);
        vouch_shared_sequence_run(&s[i]);
        const float *x = vouch_pass_logits(s[i].shared->pass, at.first_logits);
        if (i == 0) assert_memory_equal(x, logits, sizeof logits);
        if (i == 1) assert_memory_not_equal(x, logits, sizeof logits);
        for (int t = 0; i > 1 && t < 3; t++) assert_true(x[t] == logits[(i == 2 ? some : rest)[t]]);
    }
    vouch_shared_sequence_close(&s[0]);
    stage(&s[4], token, 1); /* the pass stays with the sequence that is left */
    vouch_shared_sequence_run(&s[4]);
    for (int i = 1; i < 5; i++) vouch_shared_sequence_close(&s[i]);
    assert_null(passes.first);
    assert_int_equal(vouch_shared_passes_bytes(&passes), 0);
    vouch_pool_close(pool);
    vouch_model_close(model);
    vouch_model_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_beside_others_have_the_same_bits),
        cmocka_unit_test(a_full_pass_makes_others_wait),
        cmocka_unit_test(a_run_is_paid_for_in_parts),
        cmocka_unit_test(passes_are_shared_and_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
