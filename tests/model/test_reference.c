/* SPDX-License-Identifier: MIT */
/*
 * Correct numbers: the log-probabilities of tiny F32 models of llama, qwen3 and gemma3n equal those that transformers
 * computes in float32, within 1e-4. Those of RWKV's families equal what the papers' formulas give, within the same.
 * golden/reference.py made the table. With a folder as its argument, this program instead writes the models there for
 * that script.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/reference.h"
#include "golden/vectors.h"
#include "support/decode/answer.h"
#include "support/sanitized.h"

enum { N_VOCAB = 40 };

/* In the order of the table in golden/reference.h. */
enum {
    LLAMA,
    ONE_KV_HEAD,
    ROPE_FREQS,
    ROPE_SCALE,
    QWEN3,
    QWEN3_TIED,
    QWEN3_ROPE_SCALE,
    GEMMA3N,
    RWKV6,
    RWKV6_QWEN2,
    RWKV7,
    ARWKV7,
    ARWKV7_BARE,
    N_MODELS
};
static const tiny_model_options models[N_MODELS] = {
    [LLAMA] = {.seed = 1},
    [ONE_KV_HEAD] = {.seed = 2, .head_dim = 24, .tied = true, .n_kv_heads = 1},
    [ROPE_FREQS] = {.seed = 3, .rope_freqs = true},
    [ROPE_SCALE] = {.seed = 4, .rope_scale = 4, .n_kv_heads = 4},
    [QWEN3] = {.seed = 5, .arch = "qwen3", .head_dim = 32, .n_kv_heads = 1},
    [QWEN3_TIED] = {.seed = 6, .arch = "qwen3", .rope_base = 1e6f, .tied = true, .n_layers = 3},
    [QWEN3_ROPE_SCALE] =
        {.seed = 7, .arch = "qwen3", .rope_scale = 2, .n_embd = 48, .n_heads = 3, .n_kv_heads = 3, .n_ff = 100},
    [GEMMA3N] = {.seed = 8, .arch = "gemma3n", .head_dim = 16, .n_layers = 5, .tied = true},
    [RWKV6] = {.seed = 9, .arch = "rwkv6", .n_layers = 3},
    [RWKV6_QWEN2] = {.seed = 10, .arch = "rwkv6qwen2"},
    [RWKV7] = {.seed = 11, .arch = "rwkv7", .n_layers = 3},
    [ARWKV7] = {.seed = 12, .arch = "arwkv7", .n_heads = 2},
    [ARWKV7_BARE] = {.seed = 13, .arch = "arwkv7 without gate and norm"},
};

static const char *const model_names[N_MODELS] = {
    [LLAMA] = "llama",
    [ONE_KV_HEAD] = "one KV head",
    [ROPE_FREQS] = "RoPE frequencies",
    [ROPE_SCALE] = "RoPE scale",
    [QWEN3] = "qwen3",
    [QWEN3_TIED] = "tied qwen3",
    [QWEN3_ROPE_SCALE] = "qwen3 with RoPE scale",
    [GEMMA3N] = "gemma3n",
    [RWKV6] = "rwkv6",
    [RWKV6_QWEN2] = "rwkv6qwen2",
    [RWKV7] = "rwkv7",
    [ARWKV7] = "arwkv7",
    [ARWKV7_BARE] = "arwkv7 without gate and norm",
};

static tiny_model_options model_at(int i)
{
    tiny_model_options options = models[i];
    options.n_vocab = N_VOCAB;
    return options;
}

static int write_models(const char *folder)
{
    for (int i = 0; i < N_MODELS; i++) {
        char path[1024];
        const tiny_model_options options = model_at(i);
        snprintf(path, sizeof path, "%s/%02d.gguf", folder, i);
        tiny_model_write(path, &options);
    }
    return 0;
}

/* The largest difference between the table's log-probabilities of model i and those of the model with these options. */
static double largest_difference(int i, const tiny_model_options *options, const char *cpu)
{
    static float logits[REFERENCE_TOKENS][N_VOCAB];
    const char *path = test_temporary("reference.gguf");
    int32_t tokens[REFERENCE_TOKENS];
    vouch_model *model;
    vouch_error err;
    vouch_model_options how = vouch_model_options_default();
    how.cpu = cpu;
    tiny_model_write(path, options);
    if (vouch_model_open(&model, path, &how, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_session_options session_options = vouch_session_options_default();
    session_options.kv_type = VOUCH_KV_F32;
    session_options.n_threads = 2;
    vouch_session *session = answer_open(model, &session_options);
    for (int t = 0; t < REFERENCE_TOKENS; t++) tokens[t] = (7 * t * t + 3 * t + 1) % N_VOCAB;
    assert_int_equal(vouch_session_prompt(session, tokens, REFERENCE_TOKENS, &err), VOUCH_OK);
    assert_int_equal(vouch_session_logits(session, 0, REFERENCE_TOKENS, logits[0], &err), VOUCH_OK);
    vouch_session_close(session);
    vouch_model_close(model);

    double largest = 0;
    for (int p = 0; p < REFERENCE_POSITIONS; p++) {
        const float *row = logits[reference_positions[p]];
        double sum = 0;
        for (int x = 0; x < N_VOCAB; x++) sum += exp((double)row[x]);
        for (int x = 0; x < N_VOCAB; x++) {
            const double off = fabs((double)row[x] - log(sum) - (double)reference_values[i][p][x]);
            if (off > largest) largest = off; /* with fmax here, GCC 12 for Arm stops with an internal error */
        }
    }
    return largest;
}

static void log_probabilities_are_those_of_transformers(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODELS; i++)
        for (size_t cpu = TEST_SANITIZED; vouch_cpu_name(cpu); cpu++) {
            const tiny_model_options options = model_at(i);
            const double difference = largest_difference(i, &options, vouch_cpu_name(cpu));
            if (!(difference < 1e-4)) fail_msg("%s, %s: off by %g", model_names[i], vouch_cpu_name(cpu), difference);
        }
}

/* The cosine of the table's vector of model i and the model's own. */
static double cosine_of_vectors(int i, vouch_pooling pooling, const char *cpu)
{
    const char *path = test_temporary("vectors.gguf");
    const tiny_model_options options = model_at(i);
    static float vector[REFERENCE_MOST_EMBD];
    int32_t tokens[REFERENCE_TOKENS];
    vouch_model *model;
    vouch_error err;
    vouch_model_options how = vouch_model_options_default();
    how.cpu = cpu;
    tiny_model_write(path, &options);
    if (vouch_model_open(&model, path, &how, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_session_options session_options = vouch_session_options_default();
    session_options.kv_type = VOUCH_KV_F32;
    vouch_session *session = answer_open(model, &session_options);
    for (int t = 0; t < REFERENCE_TOKENS; t++) tokens[t] = (7 * t * t + 3 * t + 1) % N_VOCAB;
    assert_int_equal(vouch_session_embed(session, tokens, REFERENCE_TOKENS, pooling, vector, &err), VOUCH_OK);
    vouch_session_close(session);
    const float *expected = reference_vectors[i][pooling == VOUCH_POOLING_LAST];
    double product = 0, length = 0, other = 0;
    for (int d = 0; d < vouch_model_get_info(model)->n_embd; d++) {
        product += (double)vector[d] * (double)expected[d];
        length += (double)vector[d] * (double)vector[d];
        other += (double)expected[d] * (double)expected[d];
    }
    vouch_model_close(model);
    return product / sqrt(length * other);
}

static void vectors_are_those_of_transformers(void **state)
{
    (void)state;
    for (int i = 0; i < REFERENCE_VECTORS; i++)
        for (size_t cpu = TEST_SANITIZED; vouch_cpu_name(cpu); cpu++)
            for (vouch_pooling how = VOUCH_POOLING_MEAN; how <= VOUCH_POOLING_LAST; how++) {
                const double cosine = cosine_of_vectors(i, how, vouch_cpu_name(cpu));
                if (!(cosine > 0.99999)) fail_msg("%s, %s: cosine %.7f", model_names[i], vouch_cpu_name(cpu), cosine);
            }
    /* The mean isn't the last token's vector. */
    double product = 0;
    for (int d = 0; d < REFERENCE_MOST_EMBD; d++)
        product += (double)reference_vectors[0][0][d] * (double)reference_vectors[0][1][d];
    assert_true(product < 0.99);
}

/* Small mistakes exceed the tolerance: a RoPE base that is 1 % off, missing frequency divisors, missing position
 * scaling; in RWKV, weights that are 0.2 % off, and a stream that isn't halved. */
static void small_mistakes_are_larger(void **state)
{
    (void)state;
    for (int i = 0; i < N_MODELS; i++) {
        tiny_model_options options = model_at(i);
        if (i >= RWKV6) options.noise = 0.002f;
        else options.rope_base = options.rope_base == 0 ? 10100 : 1.01f * options.rope_base;
        assert_true(largest_difference(i, &options, NULL) > 1e-3);
    }
    tiny_model_options options = model_at(RWKV6);
    options.omit = "rwkv6.rescale_every_n_layers";
    assert_true(largest_difference(RWKV6, &options, NULL) > 1e-3);
    options = model_at(ROPE_FREQS);
    options.rope_freqs = false;
    assert_true(largest_difference(ROPE_FREQS, &options, NULL) > 1e-3);
    options = model_at(ROPE_SCALE);
    options.rope_scale = 0;
    assert_true(largest_difference(ROPE_SCALE, &options, NULL) > 1e-3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_probabilities_are_those_of_transformers),
        cmocka_unit_test(vectors_are_those_of_transformers),
        cmocka_unit_test(small_mistakes_are_larger),
    };
    if (argc == 2) return write_models(argv[1]);
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
