/* SPDX-License-Identifier: MIT */
#include "support/decode/toy.h"

#include <math.h>
#include <string.h>

#include "support/test.h"

static void layout(toy *model, const vouch_sampling *sampling)
{
    vouch_sampler_layout(&model->sampler, sampling, model->n_vocab, TOY_MAX_CTX, vouch_kernels_find("ref"),
                         &model->arena);
    vouch_dist_layout(&model->dist, model->n_vocab, &model->arena);
    model->logits = vouch_arena_take(&model->arena, (size_t)model->n_vocab, sizeof(float));
}

void toy_open(toy *model, int32_t n_vocab, uint64_t seed, float sharpness, const vouch_sampling *sampling)
{
    *model = (toy){.n_vocab = n_vocab, .seed = seed, .sharpness = sharpness, .fail_row = -1, .fail_token = -1};
    assert_int_equal(vouch_sampling_check(sampling, n_vocab, NULL), VOUCH_OK);
    layout(model, sampling);
    assert_int_equal(vouch_arena_allocate(&model->arena, "a toy", NULL), VOUCH_OK);
    layout(model, sampling);
}

void toy_close(toy *model)
{
    vouch_arena_free(&model->arena);
}

void toy_logits(const toy *model, const int32_t *tokens, int32_t n, float *logits)
{
    test_random random = {model->seed};
    for (int32_t i = 0; i < n && !model->deaf; i++) {
        random.state ^= (uint64_t)(tokens[i] + 1) * 0x9e3779b97f4a7c15;
        random.state = (uint64_t)test_next(&random) << 32 | test_next(&random);
    }
    for (int32_t x = 0; x < model->n_vocab; x++) logits[x] = model->sharpness * test_normal(&random);
    for (int32_t x = 1; x <= model->n_trimmed; x++) logits[x] = -INFINITY;
}

/* Masks the tokens that the grammar forbids. Masks nothing where the text breaks the grammar already: such a text has
 * probability 0. */
static void mask(toy *model, const int32_t *tokens, int32_t n)
{
    const int32_t root = vouch_constraint_settled(model->constraint, VOUCH_FOLLOWER_JUDGE);
    const int32_t seen = model->blind_grammar && n > model->n_before ? model->n_before : n;
    model->sampler.allowed = NULL;
    if (n >= root)
        vouch_constraint_mask(model->constraint, VOUCH_FOLLOWER_JUDGE, tokens + root, seen - root,
                              &model->sampler.allowed);
}

/* n_history, position: as penalties and XTC see them. */
static vouch_status dist_of(toy *model, const int32_t *tokens, int32_t n, int32_t n_history, int32_t position)
{
    toy_logits(model, tokens, n, model->logits);
    if (model->constraint) mask(model, tokens, n);
    const vouch_sampling *params = &model->sampler.params;
    model->sampler.xtc_applies = vouch_xtc_applies(params, params->seed, position);
    return vouch_dist_from_logits(&model->dist, &model->sampler, model->logits, tokens, (size_t)n_history);
}

const vouch_dist *toy_dist(toy *model, const int32_t *tokens, int32_t n)
{
    assert_int_equal(dist_of(model, tokens, n, n, n), VOUCH_OK);
    return &model->dist;
}

void toy_run(toy *model, const int32_t *tokens, int32_t n)
{
    assert_in_range(n, model->n_cached + 1, TOY_MAX_CTX);
    assert_memory_equal(model->cache, tokens, (size_t)model->n_cached * sizeof *tokens);
    memcpy(model->cache, tokens, (size_t)n * sizeof *tokens);
    model->n_chunk = n - model->n_cached;
    model->n_rows += model->n_chunk;
    model->n_passes++;
    model->n_cached = n;
}

void toy_score(toy *model, const int32_t *tokens, int32_t n_tokens, const vouch_draft *draft)
{
    assert_in_range(draft->n, 0, VOUCH_MAX_DRAFT);
    assert_true(model->n_cached <= n_tokens - 1 && n_tokens + draft->n <= TOY_MAX_CTX);
    assert_memory_equal(model->cache, tokens, (size_t)model->n_cached * sizeof *tokens);
    memcpy(model->cache, tokens, (size_t)n_tokens * sizeof *tokens);
    for (int32_t i = 0; i < draft->n; i++) {
        model->guesses[i] = draft->tokens[i];
        model->parents[i] = vouch_draft_parent(draft, i);
        assert_in_range(model->parents[i] + 1, 0, i);
    }
    model->n_rows += n_tokens + draft->n - model->n_cached;
    model->n_passes++;
    model->n_cached = n_tokens;
    model->n_before = n_tokens;
    model->n_chunk = 0;
    model->n_guesses = draft->n;
}

static vouch_status toy_row(void *self, const int32_t *tokens, int32_t n_history, int32_t row, const vouch_dist **p)
{
    toy *model = self;
    assert_in_range(row, 0, model->n_guesses);
    assert_true(row > 0 || n_history == model->n_before);
    int32_t n = n_history;
    for (int32_t i = row - 1; i >= 0; i = model->parents[i]) assert_int_equal(tokens[--n], model->guesses[i]);
    assert_int_equal(n, model->n_before);
    assert_memory_equal(model->cache, tokens, (size_t)n * sizeof *tokens);
    if (n_history - n == model->fail_row || tokens[n_history - 1] == model->fail_token) return VOUCH_E_NUMERIC;
    *p = &model->dist;
    return dist_of(model, tokens, n_history, model->blind_penalties ? n : n_history, model->blind_xtc ? n : n_history);
}

/* Writes the tokens that a row sees, its own included, to `sequence`. Returns their number. */
static int32_t row_tokens(const toy *model, int32_t row, int32_t *sequence)
{
    int32_t n = model->n_before;
    assert_in_range(row, 0, model->n_guesses);
    for (int32_t i = row - 1; i >= 0; i = model->parents[i]) n++;
    memcpy(sequence, model->cache, (size_t)model->n_before * sizeof *sequence);
    for (int32_t i = row - 1, at = n; i >= 0; i = model->parents[i]) sequence[--at] = model->guesses[i];
    return n;
}

static const float *toy_row_logits(void *self, int32_t row)
{
    toy *model = self;
    int32_t sequence[TOY_MAX_CTX];
    const int32_t n = row_tokens(model, row, sequence);
    toy_logits(model, sequence, n, model->logits);
    return model->logits;
}

float toy_hidden(const int32_t *tokens, int32_t n, int32_t layer)
{
    test_random random = {99 + (uint64_t)layer};
    for (int32_t i = 0; i < n; i++) {
        random.state ^= (uint64_t)(tokens[i] + 1) * 0x9e3779b97f4a7c15;
        random.state = (uint64_t)test_next(&random) << 32 | test_next(&random);
    }
    return test_normal(&random);
}

static const float *toy_row_hidden(void *self, int32_t row, int32_t layer)
{
    toy *model = self;
    int32_t sequence[TOY_MAX_CTX];
    if (model->n_chunk > 0) {
        assert_in_range(row, 0, model->n_chunk - 1);
        model->hidden[layer] = toy_hidden(model->cache, model->n_cached - model->n_chunk + row + 1, layer);
    } else {
        model->hidden[layer] = toy_hidden(sequence, row_tokens(model, row, sequence), layer);
    }
    return &model->hidden[layer];
}

static void toy_keep(void *self, const int32_t *path, int32_t n)
{
    toy *model = self;
    assert_int_equal(model->n_cached, model->n_before);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(model->parents[path[i]], i == 0 ? -1 : path[i - 1]);
        model->cache[model->n_cached++] = model->guesses[path[i]];
    }
}

static void toy_rewind(void *self, int32_t n)
{
    toy *model = self;
    assert_true(n >= 0);
    if (model->n_cached > n) model->n_cached = n;
}

vouch_target toy_target(toy *model)
{
    return (vouch_target){.row = toy_row,
                          .logits = toy_row_logits,
                          .hidden = toy_row_hidden,
                          .keep = toy_keep,
                          .rewind = toy_rewind,
                          .self = model};
}

int32_t toy_argmax(const vouch_dist *dist)
{
    int32_t best = 0;
    for (int32_t x = 1; x < dist->n_vocab; x++)
        if (dist->weight[x] > dist->weight[best]) best = x;
    return best;
}
