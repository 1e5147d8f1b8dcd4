/* SPDX-License-Identifier: MIT */
/*
 * Heads taught for a target of each kind: with scaled embeddings, softcaps, norms after the branches, biases of logits,
 * recurrent layers, experts, latent attention. The head guesses right at depths 1, 2 and 3, and the drafter computes
 * the logits that training computes. Each target has random weights, but its embedding outweighs its layers, so that
 * its text can be learnt.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/network/ops.h"
#include "train/teach/pipeline.h"

#include "draft/paid/head.h"
#include "engine/file/model.h"
#include "support/head/head_of.h"
#include "support/decode/draft.h"
#include "support/model/tiny_model.h"

enum { DEPTH = TRAIN_MEASURED_DEPTH, N_LAYERS = 4, LENGTH = 40 };

static const struct {
    const char *arch, *what;
} kinds[] = {
    {"llama", "plain"},
    {"qwen2", "biases"},
    {"granite", "scales of embedding and logits"},
    {"gemma", "scaled embedding"},
    {"gemma2", "softcap of logits"},
    {"gemma3", "norms after branches"},
    {"olmo2", "norms after branches alone"},
    {"lfm2", "short convolutions"},
    {"qwen35", "recurrent layers"},
    {"qwen3moe", "experts"},
    {"deepseek2", "latent attention"},
    {"gemma4", "inputs for each layer"},
};

static const char *tail_of(const char *path, const char *tail)
{
    static char name[600];
    snprintf(name, sizeof name, "%s.%s", path, tail);
    return name;
}

/* ------------------------------------------------------- the trainer's computation */

static float *matrix_of(const vouch_matrix *m)
{
    float *x = calloc((size_t)(m->n_out * m->n_in), sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < m->n_out; i++) vouch_matrix_get_row(m, i, x + i * m->n_in);
    return x;
}

static float *vector_of(const float *values, int64_t n, float otherwise)
{
    float *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = values ? values[i] : otherwise;
    return x;
}

/* A head's file as training runs it. */
typedef struct learner {
    train_distiller target;
    train_head_shape shape;
    train_head head;
    float *cosines, *sines;
} learner;

static void learner_open(learner *l, const vouch_head_weights *h)
{
    const vouch_weights *w = h->body;
    const vouch_hparams *p = &w->hparams;
    const int64_t n = p->n_embd;
    *l = (learner){.target = {.weights = (vouch_weights *)(uintptr_t)h->target}}; /* only read */
    assert_int_equal(train_ends_open(&l->target, NULL), VOUCH_OK);
    l->shape = (train_head_shape){.n_features = h->n_features,
                                  .width = n,
                                  .n_draft = p->n_vocab,
                                  .n_layers = p->n_layers,
                                  .n_generations = DEPTH,
                                  .eps = p->norm_eps};
    l->head =
        (train_head){.fc = matrix_of(&h->fc),
                     .fc_bias = vector_of(h->fc_bias, n, 0),
                     .token = matrix_of(&h->join),
                     .token_bias = vector_of(h->join_bias, n, 0),
                     .leave = matrix_of(&h->leave),
                     .output = l->target.output,
                     .output_norm = vector_of(w->output_norm.weight, n, 1),
                     .output_bias = h->target->output_bias ? vector_of(h->target->output_bias, p->n_vocab, 0) : NULL,
                     .embedding = l->target.embedding};
    if (p->n_layers == 0) return;
    const vouch_layer *layer = &w->layers[0];
    const vouch_attention *a = &layer->attention;
    l->shape.layer = (train_layer_shape){n, layer->ffn.n_ff, {a->n_heads, a->n_kv_heads, a->head_dim}, p->norm_eps};
    l->head.layers[0] = (train_layer){.attn_norm = vector_of(layer->mix.norm.weight, n, 1),
                                      .ffn_norm = vector_of(layer->feed.norm.weight, n, 1),
                                      .q = matrix_of(&a->q),
                                      .k = matrix_of(&a->k),
                                      .v = matrix_of(&a->v),
                                      .o = matrix_of(&a->o),
                                      .gate = matrix_of(&layer->ffn.gate),
                                      .up = matrix_of(&layer->ffn.up),
                                      .down = matrix_of(&layer->ffn.down)};
    l->cosines = calloc((size_t)(LENGTH + DEPTH) * (size_t)a->head_dim, sizeof *l->cosines);
    l->sines = calloc((size_t)(LENGTH + DEPTH) * (size_t)a->head_dim, sizeof *l->sines);
    train_angles(l->cosines, l->sines, LENGTH + DEPTH, a->head_dim, p->rope_base);
}

static void learner_close(learner *l)
{
    train_layer *layer = &l->head.layers[0];
    void *const blocks[] = {l->head.fc,
                            l->head.fc_bias,
                            l->head.token,
                            l->head.token_bias,
                            l->head.leave,
                            l->head.output_norm,
                            l->head.output_bias,
                            layer->attn_norm,
                            layer->ffn_norm,
                            layer->q,
                            layer->k,
                            layer->v,
                            layer->o,
                            layer->gate,
                            layer->up,
                            layer->down,
                            l->cosines,
                            l->sines,
                            l->target.embedding,
                            l->target.output};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* logits [DEPTH][n_vocab] of the guesses after tokens[0, n): row n - 2 in generation 0, row n - 1 in generation 1, ...
 * tokens [n + DEPTH] goes on with the guesses, and features [n - 1, n_features] are the target's. */
static void learner_guess(const learner *l, const int32_t *tokens, int32_t n, const float *features, double *logits)
{
    const train_head_shape *s = &l->shape;
    const int32_t rows = n - 1 + DEPTH - 1, ends[1] = {rows};
    int32_t positions[LENGTH + DEPTH], labels[LENGTH + DEPTH] = {0};
    uint8_t counts[LENGTH + DEPTH] = {0};
    train_head_values *values = calloc(1, sizeof *values);
    float *all = calloc((size_t)(rows * s->n_features), sizeof *all);
    vouch_arena arena = {0};
    assert_non_null(values);
    assert_non_null(all);
    memcpy(all, features, (size_t)((n - 1) * s->n_features) * sizeof *all);
    for (int twice = 0; twice < 2; twice++) {
        train_head_values_take(values, &arena, s, rows, rows);
        if (twice == 0) assert_int_equal(vouch_arena_allocate(&arena, "values", NULL), VOUCH_OK);
    }
    for (int32_t i = 0; i < rows; i++) positions[i] = i + 1;
    const train_batch batch = {.rows = {rows, {ends, 1}, positions, l->cosines, l->sines},
                               .features = all,
                               .tokens = tokens + 1,
                               .lessons = {.labels = labels, .counts = counts}};
    train_head_run(values, &l->head, NULL, s, &batch, NULL);
    for (int32_t g = 0; g < DEPTH; g++) {
        const float *normed = values->generations[g].normed + (n - 2 + g) * s->width;
        for (int64_t v = 0; v < s->n_draft; v++) {
            double z = l->head.output_bias ? (double)l->head.output_bias[v] : 0;
            for (int64_t i = 0; i < s->width; i++) z += (double)(l->head.output[v * s->width + i] * normed[i]);
            logits[g * s->n_draft + v] = z;
        }
    }
    vouch_arena_free(&arena);
    free(values);
    free(all);
}

/* --------------------------------------------------------------------- drafting */

/* The states of the last sequence of a file that has LENGTH tokens at least. The caller frees sequence->tokens. */
static void sequence_read(const char *path, const train_states_header *header, train_sequence *sequence)
{
    train_chunks *chunks;
    vouch_error err;
    if (train_chunks_open(&chunks, path, "states", header, sizeof *header, &err)) fail_msg("%s", err.message);
    size_t i = train_chunks_n(chunks);
    do {
        assert_true(i-- > 0);
        assert_int_equal(train_states_read(chunks, i, header, sequence, NULL), VOUCH_OK);
        if (sequence->answer.n_tokens >= LENGTH) break;
        free(sequence->tokens);
    } while (true);
    train_chunks_close(chunks);
}

/* The header that a states file begins with. */
static train_states_header header_of(const char *path)
{
    size_t n;
    train_states_header header;
    char *bytes = read_whole(path, &n);
    assert_true(n > 24 + sizeof header);
    memcpy(&header, bytes + 24, sizeof header); /* after the magic number, the size and the hash */
    free(bytes);
    return header;
}

/* The largest difference between the drafter's q and the q of training over DEPTH guesses after n tokens, in standard
 * deviations of q. */
static double compare(const vouch_model *model, const vouch_draft_file *head, const train_sequence *s, int32_t n)
{
    static const uint64_t seed = 5;
    const vouch_head_weights *h = head_of(head);
    const vouch_hparams *body = &h->body->hparams;
    const int32_t n_vocab = model->info.n_vocab, n_embd = model->info.n_embd;
    vouch_sampling sampling = vouch_sampling_default();
    const vouch_speculation speculation = {.n_draft = DEPTH};
    int32_t tokens[LENGTH + DEPTH];
    sampling.temperature = 1;
    float *states = calloc((size_t)(LENGTH * h->n_features), sizeof *states);
    float *features = calloc((size_t)(LENGTH * h->n_features), sizeof *features);
    double *logits = calloc((size_t)(DEPTH * n_vocab), sizeof *logits), most = 0;
    vouch_pool *pool;
    vouch_drafter_ref d;
    learner l;
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool};
    const vouch_drafter_setup setup = {.speculation = &speculation,
                                       .sampling = &sampling,
                                       .seed = &seed,
                                       .n_ctx = LENGTH + DEPTH,
                                       .prefill_chunk = 16,
                                       .kv_type = VOUCH_KV_F32,
                                       .branches = 1,
                                       .draw_guess = vouch_draw_guess,
                                       .target = model->weights,
                                       .target_tokens = {.n = n_vocab},
                                       .files = {[VOUCH_DRAFTER_NUMBER_HEAD] = h},
                                       .passes = &passes};
    assert_int_equal(vouch_drafter_head_open(&d, &setup, NULL), VOUCH_OK);
    memcpy(tokens, s->tokens, (size_t)n * sizeof *tokens);
    for (int32_t t = 0; t < n - 1; t++) {
        const float *each[VOUCH_MAX_TAPS];
        float *at = states + t * h->n_features;
        for (int32_t i = 0; i < h->n_features; i++) at[i] = vouch_half_to_float(s->taps[t * h->n_features + i]);
        for (int32_t i = 0; i < h->n_taps; i++) each[i] = at + i * n_embd;
        for (int32_t i = 0; i < h->n_features; i++)
            features[t * h->n_features + i] = (at[i] - h->mean[i]) * h->inv_scale[i];
        d.ops->hidden(d.self, tokens, t, each);
    }
    const vouch_shape shape = {.n = DEPTH, .depth = DEPTH, .branches = 1};
    const vouch_draft draft = draft_alone(&d, tokens, n, &shape);
    assert_int_equal(draft.n, DEPTH);
    memcpy(tokens + n, draft.tokens, DEPTH * sizeof *tokens);
    learner_open(&l, h);
    learner_guess(&l, tokens, n, features, logits);
    for (int32_t g = 0; g < DEPTH; g++) {
        double *z = logits + g * n_vocab, total = 0, variance = 0;
        for (int32_t v = 0; v < n_vocab; v++) {
            if (body->logit_scale != 0) z[v] *= (double)body->logit_scale;
            if (body->logit_softcap > 0) z[v] = (double)body->logit_softcap * tanh(z[v] / (double)body->logit_softcap);
            total += z[v] = exp(z[v]);
        }
        for (int32_t v = 0; v < n_vocab; v++) variance += pow(z[v] / total - 1.0 / n_vocab, 2) / n_vocab;
        for (int32_t v = 0; v < n_vocab; v++)
            most = fmax(most, fabs(vouch_dist_p(draft.q[g], v) - z[v] / total) / sqrt(variance));
    }
    learner_close(&l);
    d.ops->close(d.self);
    vouch_pool_close(pool);
    free(states);
    free(features);
    free(logits);
    return most;
}

/* ------------------------------------------------------------------------ tests */

static void teach(const char *model, bool quick, train_result *result)
{
    vouch_error err;
    train_options o = train_options_default();
    o.n_tokens = 6000;
    o.sampled = 0;
    o.max_tokens = LENGTH + 8;
    o.n_draft = 400;
    o.seed = 5;
    o.quick = quick;
    o.epochs = 1;
    o.n_threads = 1;
    o.type = "F32";
    if (train_distill(model, tail_of(model, "head"), &o, result, &err)) fail_msg("%s: %s", model, err.message);
}

/* Compares the guesses after 10, 25 and 40 tokens of an answer. */
static double compare_some(const char *path)
{
    vouch_model *model;
    vouch_draft_file *head;
    vouch_error err;
    train_sequence sequence;
    double most = 0;
    if (vouch_model_open(&model, path, NULL, &err)) fail_msg("%s", err.message);
    if (vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, tail_of(path, "head"), model, false, &err))
        fail_msg("%s", err.message);
    const train_states_header header = header_of(tail_of(path, "head.states"));
    sequence_read(tail_of(path, "head.states"), &header, &sequence);
    for (int32_t n = 10; n <= LENGTH; n += 15) most = fmax(most, compare(model, head, &sequence, n));
    free(sequence.tokens);
    vouch_draft_file_close(head);
    vouch_model_close(model);
    return most;
}

static void heads_guess_as_they_were_taught(void **state)
{
    (void)state;
    test_skip_slow();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i += test_is_quick() ? 4 : 1) {
        const char *path = test_path(kinds[i].arch);
        tiny_model_write(path, &(tiny_model_options){
                                   .arch = kinds[i].arch, .n_layers = N_LAYERS, .seed = 8, .embedding = 100});
        for (int quick = 1; quick >= 0; quick--) {
            train_result result;
            teach(path, quick, &result);
            const double *rates = result.held.accepted, most = compare_some(path);
            const bool is_good = rates[0] > 0.7 && rates[1] > 0.7 && rates[2] > 0.7 && most < 2e-4;
            if (!is_good)
                fail_msg("%s (%s), %s: accepted %.3f %.3f %.3f, q differs by %.1e", kinds[i].arch, kinds[i].what,
                         quick ? "linear" : "with a layer", rates[0], rates[1], rates[2], most);
        }
    }
}

/* A depth learned nothing where its guesses are hardly ever accepted, or far less than those of depth 1. Depths that
 * few chains reached aren't judged. */
static void dead_depths_are_named(void **state)
{
    (void)state;
    static const struct {
        int64_t reached[DEPTH], accepted[DEPTH];
        int32_t dead;
    } cases[] = {{{1000, 500, 250}, {500, 250, 125}, 0}, {{1000, 546, 0}, {546, 0, 0}, 2},
                 {{1000, 300, 60}, {300, 60, 2}, 3},     {{1000, 40, 10}, {40, 10, 5}, 1},
                 {{1000, 600, 80}, {600, 80, 70}, 2},    {{1000, 600, 180}, {600, 180, 40}, 0},
                 {{1000, 299, 60}, {299, 19, 9}, 2},     {{1000, 297, 89}, {297, 89, 13}, 0},
                 {{1000, 536, 50}, {536, 0, 0}, 2},      {{1000, 536, 49}, {536, 200, 0}, 0},
                 {{1000, 49, 0}, {60, 0, 0}, 0},         {{20, 0, 0}, {0, 0, 0}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        train_score score = {0};
        memcpy(score.anywhere.reached, cases[i].reached, sizeof cases[i].reached);
        memcpy(score.anywhere.accepted, cases[i].accepted, sizeof cases[i].accepted);
        assert_int_equal(train_figures_of(&score).dead_depth, cases[i].dead);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_guess_as_they_were_taught),
        cmocka_unit_test(dead_depths_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
