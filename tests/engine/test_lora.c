/* SPDX-License-Identifier: MIT */
/*
 * LoRA adapters in files of their own. The logits are those of the model with the adapters merged into it, up to the
 * rounding of other sums; the bits are the same alone and beside sequences with other adapters, with every instruction
 * set, in any chunks. And adapters that are wrong are refused by name.
 */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/model/tiny_lora.h"
#include "support/mutate.h"
#include "support/sanitized.h"

enum { N_ADAPTERS = 4, N_CTX = 128, N_PROMPT = 24, N_VOCAB = 400 };

static char base[256], paths[N_ADAPTERS][256];
static const char *adapters[N_ADAPTERS];
static vouch_model *model; /* with all adapters */

static vouch_model *open_with(const char *path, const char *const *files, int32_t n, const char *cpu)
{
    vouch_model *m;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    options.adapters = files;
    options.n_adapters = n;
    options.cpu = cpu;
    if (vouch_model_open(&m, path, &options, &err)) fail_msg("%s", err.message);
    return m;
}

static int group_begin(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "%s", test_temporary("base.gguf"));
    tiny_model_write(base, &(tiny_model_options){.arch = "llama", .seed = 5, .n_layers = 3, .n_ff = 64, .n_ctx = 512});
    for (int i = 0; i < N_ADAPTERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "adapter %d.gguf", i);
        snprintf(paths[i], sizeof paths[i], "%s", test_temporary(name));
        adapters[i] = paths[i];
        tiny_lora_write(paths[i], base,
                        &(tiny_lora_options){.seed = 40 + (uint64_t)i,
                                             .rank = 3 + 7 * i, /* 3, 10, 17, 24: not whole tiles */
                                             .alpha = i == 1 ? 0 : (float)(2 + i),
                                             .type = i == 2 ? VOUCH_TYPE_F16 : VOUCH_TYPE_F32,
                                             .only = i == 3 ? "attn_v" : NULL});
    }
    model = open_with(base, adapters, N_ADAPTERS, NULL);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    vouch_model_close(model);
    return 0;
}

/* Logits of all rows of a prompt, [N_PROMPT][N_VOCAB]; the caller frees them. */
static float *logits_of(const vouch_model *m, const float *scales, int32_t chunk)
{
    vouch_session *session;
    vouch_error err;
    int32_t prompt[N_PROMPT];
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = N_CTX;
    o.prefill_chunk = chunk;
    o.kv_type = VOUCH_KV_F32; /* F16 rounds small differences to large ones */
    o.adapter_scales = scales;
    o.n_adapter_scales = scales ? N_ADAPTERS : 0;
    o.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_prompt(prompt, N_PROMPT, N_VOCAB, 3, false);
    float *logits = malloc(sizeof *logits * N_PROMPT * N_VOCAB);
    if (vouch_session_open(&session, m, &o, &err) || vouch_session_prompt(session, prompt, N_PROMPT, &err) ||
        vouch_session_logits(session, 0, N_PROMPT, logits, &err))
        fail_msg("%s", err.message);
    vouch_session_close(session);
    return logits;
}

static double difference(const float *a, const float *b)
{
    double most = 0, largest = 0;
    for (int i = 0; i < N_PROMPT * N_VOCAB; i++) {
        most = fmax(most, fabs((double)a[i] - (double)b[i]));
        largest = fmax(largest, fabs((double)b[i]));
    }
    return most / largest;
}

static void logits_are_those_of_merged_weights(void **state)
{
    (void)state;
    static const float scales[][N_ADAPTERS] = {{1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0.5f, -0.25f, 2, 1}};
    const char *merged = test_temporary("merged.gguf");
    float *plain = logits_of(model, (float[N_ADAPTERS]){0}, 256);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        tiny_lora_merge(merged, base, adapters, scales[i], N_ADAPTERS);
        vouch_model *other = open_with(merged, NULL, 0, NULL);
        float *expected = logits_of(other, NULL, 256), *got = logits_of(model, scales[i], 256);
        const double far = difference(got, expected), moved = difference(plain, expected);
        if (far > 2e-5 || moved < 1e-2)
            fail_msg("scales %zu: %g from merged weights, which moved by %g", i, far, moved);
        free(expected);
        free(got);
        vouch_model_close(other);
    }
    free(plain);
}

/* Every family whose attention or feed-forward network is a common one takes an adapter, also where one tensor holds
 * several matrices. */
static void families_take_adapters(void **state)
{
    (void)state;
    const char *arch, *path = test_temporary("family.gguf"), *own = test_temporary("family adapter.gguf"),
                      *merged = test_temporary("family merged.gguf");
    int n_taken = 0;
    for (int32_t i = 0; (arch = tiny_model_family(i)); i++) {
        vouch_model *m;
        vouch_error err;
        vouch_model_options options = vouch_model_options_default();
        options.adapters = &own;
        options.n_adapters = 1;
        tiny_model_write(path, &(tiny_model_options){
                                   .arch = arch, .seed = 9, .n_layers = 4, .head_dim = 32, .n_ff = 64, .n_ctx = N_CTX});
        tiny_lora_write(own, path, &(tiny_lora_options){.seed = 7, .rank = 5});
        const vouch_status status = vouch_model_open(&m, path, &options, &err);
        if (status == VOUCH_E_UNSUPPORTED && strstr(err.message, "adapters")) continue;
        if (status == VOUCH_E_FORMAT && strstr(err.message, "has no tensors")) continue; /* no matrix can have one */
        if (status) fail_msg("%s: %s", arch, err.message);
        tiny_lora_merge(merged, path, &own, (float[]){1}, 1);
        vouch_model *other = open_with(merged, NULL, 0, NULL);
        float *expected = logits_of(other, NULL, 256), *got = logits_of(m, NULL, 256);
        const double far = difference(got, expected);
        if (far > 1e-3) fail_msg("%s: %g from merged weights", arch, far);
        n_taken++;
        free(expected);
        free(got);
        vouch_model_close(other);
        vouch_model_close(m);
    }
    if (n_taken < 70) fail_msg("only %d families take adapters", n_taken);
}

static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    static const float scales[N_ADAPTERS] = {0.7f, 0, 1, -1};
    float *expected = logits_of(model, scales, 256);
    const size_t bytes = sizeof *expected * N_PROMPT * N_VOCAB;
    for (int32_t chunk = 1; chunk < 12; chunk += 5) {
        float *got = logits_of(model, scales, chunk);
        assert_memory_equal(got, expected, bytes);
        free(got);
    }
    const char *cpu;
    for (size_t i = 0; (cpu = vouch_cpu_name(i)) != NULL; i++) {
        vouch_model *other = open_with(base, adapters, N_ADAPTERS, cpu);
        float *got = logits_of(other, scales, 7);
        assert_memory_equal(got, expected, bytes);
        free(got);
        vouch_model_close(other);
    }
    free(expected);
    /* A scale of 0 is the model without the adapter, to the bit. */
    vouch_model *plain = open_with(base, NULL, 0, NULL);
    float *without = logits_of(plain, NULL, 256), *zero = logits_of(model, (float[N_ADAPTERS]){0}, 256);
    assert_memory_equal(zero, without, bytes);
    free(without);
    free(zero);
    vouch_model_close(plain);
}

/* Eight sequences with different adapters, rules and drafters share passes and pages. Each gets the same bytes as when
 * it runs alone. */
static void sequences_beside_others_keep_their_bytes(void **state)
{
    (void)state;
    enum { N = 8, LONG = 70 };
    static const float scales[N][N_ADAPTERS] = {{0},          {1},    {0, 1},       {0, 0, 1},
                                                {0, 0, 0, 1}, {1, 1}, {0.5f, 0, 2}, {0, 1}};
    static answer alone[N];
    static int32_t got[N][ANSWER_MAX];
    int32_t prompt[LONG], n_got[N] = {0}, n_over = 0;
    vouch_session *sessions[N];
    vouch_engine *engine;
    const vouch_engine_options shared = {.n_sessions = N, .n_ctx = N_CTX, .page_size = 16, .n_threads = 2};
    answer_prompt(prompt, LONG, N_VOCAB, 5, true);
    assert_int_equal(vouch_engine_open(&engine, model, &shared, NULL), VOUCH_OK);
    for (int i = 0; i < N; i++) {
        vouch_session_options o = vouch_session_options_default();
        o.n_ctx = N_CTX;
        o.max_tokens = 30;
        o.ignore_eos = true;
        o.sampling.temperature = i % 3 == 0 ? 0 : 0.8f;
        o.sampling.seed = 4;
        o.speculation.accept = i % 3 == 1 ? VOUCH_ACCEPT_COUPLED : VOUCH_ACCEPT_MATCH;
        o.adapter_scales = scales[i];
        o.n_adapter_scales = N_ADAPTERS;
        o.speculation.draft_model = i % 2 ? model : NULL; /* without adapters */
        answer_run(&alone[i], model, &o, prompt, LONG);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[i], prompt, LONG, NULL), VOUCH_OK);
    }
    while (n_over < N) {
        const vouch_engine_event *events;
        size_t n;
        assert_true(vouch_engine_step(engine, &events, &n));
        for (size_t e = 0; e < n; e++) {
            int i = 0;
            while (sessions[i] != events[e].session) i++;
            for (int32_t t = 0; t < events[e].step.n_tokens; t++) got[i][n_got[i]++] = events[e].step.tokens[t];
            n_over += events[e].step.finish != VOUCH_FINISH_NONE;
        }
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(n_got[i], alone[i].n);
        if (memcmp(got[i], alone[i].tokens, (size_t)n_got[i] * sizeof *got[i]) != 0) fail_msg("sequence %d differs", i);
    }
    for (int i = 1; i < 5; i++) assert_false(answer_equal(&alone[0], &alone[i])); /* the adapters matter */
    assert_true(vouch_engine_get_stats(engine)->shared_tokens <= 64); /* sequences 2 and 7 alone have equal adapters */
    for (int i = 0; i < N; i++) vouch_session_close(sessions[i]);
    vouch_engine_close(engine);
}

static void wrong_adapters_are_refused(void **state)
{
    (void)state;
    const struct {
        tiny_lora_options options;
        vouch_status status;
        const char *message;
    } cases[] = {
        {{.arch = "qwen2"}, VOUCH_E_MISMATCH, "architecture 'qwen2', not 'llama'"},
        {{.kind = "control_vector"}, VOUCH_E_FORMAT, "adapter.type is 'control_vector'"},
        {{.only = "none"}, VOUCH_E_FORMAT, "has no tensors"},
        {{.lacks_b = true}, VOUCH_E_FORMAT, "lora_b' is missing"},
        {{.is_wide = true}, VOUCH_E_FORMAT, "has shape"},
        {{.extra = "blk.0.ffn_norm.weight.lora_a"}, VOUCH_E_UNSUPPORTED, "blk.0.ffn_norm.weight.lora_a"},
        {{.extra = "blk.9.attn_q.weight.lora_a"}, VOUCH_E_UNSUPPORTED, "blk.9.attn_q.weight.lora_a"},
    };
    const char *path = test_temporary("wrong.gguf");
    vouch_model *m;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    options.adapters = &path;
    options.n_adapters = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tiny_lora_write(path, base, &cases[i].options);
        assert_int_equal(vouch_model_open(&m, base, &options, &err), cases[i].status);
        assert_null(m);
        if (!strstr(err.message, cases[i].message) || !strstr(err.message, "wrong.gguf")) fail_msg("%s", err.message);
    }
    const char *none = test_temporary("no such file.gguf");
    options.adapters = &none;
    assert_int_equal(vouch_model_open(&m, base, &options, &err), VOUCH_E_IO);
    options.adapters = (const char *const[]){base};
    assert_int_equal(vouch_model_open(&m, base, &options, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "is no LoRA adapter"));
    options.n_adapters = VOUCH_MOST_LORAS + 1;
    assert_int_equal(vouch_model_open(&m, base, &options, &err), VOUCH_E_ARGUMENT);
    vouch_session_options o = vouch_session_options_default();
    o.adapter_scales = (float[N_ADAPTERS]){1, NAN};
    o.n_adapter_scales = N_ADAPTERS - 1;
    assert_int_equal(vouch_session_check(model, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "n_adapter_scales is 3, must be 4"));
    o.n_adapter_scales = N_ADAPTERS;
    assert_int_equal(vouch_session_check(model, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "adapter_scales[1]"));
}

/* A damaged file is refused, or computes something; it never crashes. */
static void damaged_files_do_no_harm(void **state)
{
    (void)state;
    static const char *const words[] = {"lora_a", "lora_b", "blk.", "adapter", NULL};
    const char *path = test_temporary("damaged.gguf");
    const int n_rounds = test_is_quick() || TEST_SANITIZED ? 300 : 3000;
    size_t n;
    char *good = read_whole(paths[0], &n);
    mutator m;
    mutator_open(&m, (const uint8_t *)good, n, words, 6);
    for (int i = 0; i < n_rounds; i++) {
        vouch_model *other;
        vouch_error err;
        vouch_model_options options = vouch_model_options_default();
        options.adapters = &path;
        options.n_adapters = 1;
        options.untuned = true;
        options.n_threads = 1;
        mutator_next(&m);
        write_whole(path, (const char *)m.bytes, m.n);
        if (vouch_model_open(&other, base, &options, &err)) continue;
        free(logits_of(other, NULL, 256));
        vouch_model_close(other);
    }
    mutator_close(&m);
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_those_of_merged_weights),
        cmocka_unit_test(families_take_adapters),
        cmocka_unit_test(bits_are_the_same_everywhere),
        cmocka_unit_test(sequences_beside_others_keep_their_bytes),
        cmocka_unit_test(wrong_adapters_are_refused),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests_name("lora", tests, group_begin, group_end);
}
