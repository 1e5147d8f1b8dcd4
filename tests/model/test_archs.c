/* SPDX-License-Identifier: MIT */
/*
 * All families of architectures by the laws, in one table: law L1 (same bits however the rows are passed), L2 (greedy
 * text with any drafter equals plain text) and L3 (after rejections the memory equals that of a run without guesses).
 * test_layers.c compares what each family computes with a forward pass in double precision.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/file/model.h"
#include "engine/session.h"
#include "support/decode/answer.h"
#include "support/sanitized.h"
#include "support/model/sequence.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

enum { N_TOKENS = 70, N_VOCAB = 40, PROMPT = 12, LENGTH = 40 };

static const vouch_type types[] = {VOUCH_TYPE_F16, VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0};
enum { N_TYPES = sizeof types / sizeof types[0] };

static tiny_model_options family_options(int32_t i, vouch_type type)
{
    return (tiny_model_options){.arch = tiny_model_family(i),
                                .type = type,
                                .seed = 100 + (uint64_t)i,
                                .n_vocab = N_VOCAB,
                                .n_embd = 64,
                                .n_heads = 4,
                                .n_kv_heads = 2,
                                .head_dim = 32,
                                .n_layers = 4,
                                .n_ff = 64,
                                .n_ctx = 128};
}

/* ------------------------------------------------------------------------- L1 */

typedef struct run {
    float logits[N_TOKENS][N_VOCAB];
    uint64_t digest;
} run;

/* Runs the tokens in passes of `chunk` rows. */
static void run_tokens(run *out, const char *path, const vouch_kernels *kernels, int32_t n_threads, int32_t chunk)
{
    const vouch_sequence_options options = {
        .n_ctx = N_TOKENS, .max_rows = chunk, .max_logits = chunk, .kv_type = VOUCH_KV_F16};
    vouch_gguf *gguf;
    vouch_pool *pool;
    vouch_weights *weights;
    vouch_sequence s;
    vouch_error err = {0};
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&pool, n_threads, &err), VOUCH_OK);
    if (vouch_weights_open(&weights, gguf, 0, &(vouch_packing){.kernels = kernels, .pool = pool}, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    vouch_gguf_close(gguf);
    assert_int_equal(vouch_sequence_open(&s, weights, pool, &options, &err), VOUCH_OK);
    for (int32_t at = 0; at < N_TOKENS; at += chunk) {
        int32_t tokens[N_TOKENS];
        const int32_t n = N_TOKENS - at < chunk ? N_TOKENS - at : chunk;
        for (int32_t i = 0; i < n; i++) tokens[i] = (at + i) * 7 % N_VOCAB;
        vouch_pass_chain(s.pass, s.memory, tokens, n, n);
        for (int32_t i = 0; i < n; i++)
            memcpy(out->logits[at + i], vouch_pass_logits(s.pass, i), sizeof out->logits[0]);
    }
    out->digest = vouch_memory_digest(s.memory);
    vouch_sequence_close(&s);
    vouch_weights_close(weights);
    vouch_pool_close(pool);
}

static void a_row_has_the_same_bits_in_any_pass(void **state)
{
    (void)state;
    static const int32_t chunks[] = {1, 2, 3, 7, 64};
    static run expected, got;
    const char *path = test_temporary("archs.gguf");
    for (int32_t i = 0; tiny_model_family(i); i++)
        for (int t = 0; t < N_TYPES; t++) {
            if (test_is_quick() && (i % 3 || t != i / 3 % 3)) continue; /* one type of every third family */
            const tiny_model_options options = family_options(i, types[t]);
            const vouch_kernels *kernels;
            tiny_model_write(path, &options);
            run_tokens(&expected, path, vouch_kernels_find("ref"), 1, 1);
            for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++)
                for (size_t c = 0; c < 5; c++) {
                    /* Runs one combination of 7. Any three families together run all combinations. */
                    if ((k + 2 * c + (size_t)(3 * i + t)) % 7 != 0) continue;
                    run_tokens(&got, path, kernels, 1 + (int32_t)(c + k) % 3, chunks[c]);
                    if (memcmp(&expected, &got, sizeof got) != 0)
                        fail_msg("%s, type %d, %s: another result in passes of %d rows", tiny_model_family(i), types[t],
                                 kernels->name, chunks[c]);
                }
        }
}

/* For tests/arm: prints a line for each family and type. All systems print the same lines. */
static int print_digests(void)
{
    static run got;
    const char *path = test_temporary("archs.gguf");
    for (int32_t i = 0; tiny_model_family(i); i++)
        for (int t = 0; t < N_TYPES; t++) {
            if (test_is_quick() && t != i % N_TYPES) continue;
            const tiny_model_options options = family_options(i, types[t]);
            size_t n;
            tiny_model_write(path, &options);
            char *file = read_whole(path, &n);
            run_tokens(&got, path, vouch_kernels_find("auto"), 1, 16);
            printf("%s %d: file %016" PRIx64 ", logits %016" PRIx64 ", memory %016" PRIx64 "\n", tiny_model_family(i),
                   (int)types[t], vouch_hash_bytes(VOUCH_HASH_START, file, n),
                   vouch_hash_bytes(VOUCH_HASH_START, got.logits, sizeof got.logits), got.digest);
            free(file);
        }
    return 0;
}

/* -------------------------------------------------------------------- L2 and L3 */

typedef enum who { RECYCLE, CHAIN_OF_ITSELF, TREE_OF_ITSELF, ALWAYS_WRONG, N_WAYS } who;

static vouch_session_options session_options(who which, const vouch_model *model, oracle *wrong)
{
    vouch_session_options options = vouch_session_options_default();
    vouch_speculation *spec = &options.speculation;
    options.n_ctx = PROMPT + LENGTH + 16;
    options.n_threads = 1;
    options.max_tokens = LENGTH;
    options.ignore_eos = true;
    spec->n_draft = 4;
    spec->drafters = which == RECYCLE ? VOUCH_DRAFTER_RECYCLE : VOUCH_DRAFTER_MODEL;
    if (which == CHAIN_OF_ITSELF || which == TREE_OF_ITSELF) spec->draft_model = model;
    if (which == TREE_OF_ITSELF) {
        spec->n_draft = 8;
        spec->tree_branches = 2;
        spec->tree_depth = 4;
    }
    if (which == ALWAYS_WRONG) {
        spec->drafters = VOUCH_DRAFTER_CUSTOM;
        spec->custom = oracle_drafter(wrong);
    }
    return options;
}

/* The digest after all but the last token, each run in its own pass. */
static uint64_t digest_of(const vouch_model *model, const int32_t *tokens, int32_t n)
{
    vouch_pool *pool;
    vouch_sequence s;
    const vouch_sequence_options options = {.n_ctx = n, .max_rows = 1, .max_logits = 1, .kv_type = VOUCH_KV_F16};
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&s, model->weights, pool, &options, NULL), VOUCH_OK);
    for (int32_t i = 0; i < n; i++) vouch_pass_chain(s.pass, s.memory, &tokens[i], 1, 0);
    const uint64_t digest = vouch_memory_digest(s.memory);
    vouch_sequence_close(&s);
    vouch_pool_close(pool);
    return digest;
}

/* Steps a session to its end, and checks tokens and memory. Returns the accepted guesses. */
static int64_t check_session(const vouch_model *model, const vouch_session_options *options, const int32_t *tokens)
{
    vouch_session *session = answer_open(model, options);
    int64_t accepted = 0;
    size_t n = 0;
    assert_int_equal(vouch_session_prompt(session, tokens, PROMPT, NULL), VOUCH_OK);
    for (vouch_step step = {0}; step.finish == VOUCH_FINISH_NONE; accepted += step.n_accepted) {
        assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
        const int32_t *got = vouch_session_tokens(session, &n);
        assert_memory_equal(got, tokens, n * sizeof *got);
    }
    assert_int_equal(n, PROMPT + LENGTH);
    assert_true(vouch_memory_digest(vouch_session_target(session)) == digest_of(model, tokens, (int32_t)n - 1));
    vouch_session_close(session);
    return accepted;
}

static void guesses_change_nothing(void **state)
{
    (void)state;
    test_skip_slow();
    static answer plain;
    int64_t accepted[N_WAYS] = {0};
    for (int32_t i = 0; tiny_model_family(i); i++) {
        const tiny_model_options options = family_options(i, i % 2 ? VOUCH_TYPE_Q8_0 : VOUCH_TYPE_F32);
        vouch_model *model = tiny_model_open(&options);
        int32_t tokens[PROMPT + LENGTH];
        oracle wrong = {.tokens = tokens, .n = PROMPT + LENGTH, .n_vocab = N_VOCAB, .error_percent = 100};
        vouch_session_options without = session_options(RECYCLE, model, &wrong);
        without.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_prompt(tokens, PROMPT, N_VOCAB, (uint64_t)i, true);
        answer_run(&plain, model, &without, tokens, PROMPT);
        assert_int_equal(plain.n, LENGTH);
        memcpy(tokens + PROMPT, plain.tokens, sizeof(int32_t) * LENGTH);
        for (who which = RECYCLE; which < N_WAYS; which++) {
            const vouch_session_options with = session_options(which, model, &wrong);
            accepted[which] += check_session(model, &with, tokens);
        }
        vouch_model_close(model);
    }
    assert_true(accepted[CHAIN_OF_ITSELF] > 0 && accepted[TREE_OF_ITSELF] > 0 && accepted[ALWAYS_WRONG] == 0);
}

/* Gives a session a second prompt, which shares its first `common` tokens with the first prompt and its answer. Returns
 * the number of tokens that the session ran for the second prompt. */
static int64_t change_prompt(const vouch_model *model, who which, int32_t common)
{
    enum { FIRST = 40, NEW = 20, SHORT = 10 };
    static answer got, expected;
    static float logits[4 * N_VOCAB];
    int32_t tokens[FIRST + SHORT + NEW];
    double seconds;
    oracle nothing = {.tokens = tokens, .n = 0, .n_vocab = N_VOCAB, .error_percent = 100};
    vouch_session_options options = session_options(which, model, &nothing);
    options.n_ctx = 128;
    options.max_tokens = SHORT;
    vouch_session *session = answer_open(model, &options);
    answer_prompt(tokens, FIRST, N_VOCAB, 7, true);
    answer_continue(&got, session, tokens, FIRST);
    memcpy(tokens + FIRST, got.tokens, sizeof(int32_t) * SHORT);
    if (common % 2) assert_int_equal(vouch_session_logits(session, 30, 4, logits, NULL), VOUCH_OK);
    if (common % 2) assert_int_equal(vouch_session_time_pass(session, 3, 2, &seconds, NULL), VOUCH_OK);
    answer_prompt(tokens + common, NEW, N_VOCAB, 8 + (uint64_t)common, true);
    vouch_session_reset_stats(session);
    answer_continue(&got, session, tokens, common + NEW);
    const int64_t n_run = vouch_session_stats(session)->prompt_tokens;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    answer_run(&expected, model, &options, tokens, common + NEW);
    assert_true(answer_equal(&got, &expected));
    size_t n;
    const int32_t *all = vouch_session_tokens(session, &n);
    assert_true(vouch_memory_digest(vouch_session_target(session)) == digest_of(model, all, (int32_t)n - 1));
    vouch_session_close(session);
    return n_run;
}

/* Recurrent layers go back to their checkpoint, 16 tokens before the end of the first prompt. */
static void prompts_go_back_to_any_token(void **state)
{
    (void)state;
    static const int32_t lengths[] = {0, 5, 22, 23, 24, 31, 39, 40, 46, 49};
    static const char *const recurrent[] = {"lfm2moe",     "qwen35",  "jamba", "falcon-h1",
                                            "kimi-linear", "kimi-k3", "rwkv6", "arwkv7"};
    for (int32_t i = 0; tiny_model_family(i); i++)
        for (int r = 0; r < 8; r++) {
            if (strcmp(tiny_model_family(i), recurrent[r]) != 0) continue;
            const tiny_model_options options = family_options(i, VOUCH_TYPE_Q8_0);
            vouch_model *model = tiny_model_open(&options);
            for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
                const int64_t n_run = change_prompt(model, (who)((r + (int)l) % ALWAYS_WRONG), lengths[l]);
                const int32_t kept = lengths[l] < 23 ? 0 : 23;
                if (lengths[l] % 2 == 0) assert_true(n_run <= lengths[l] + 20 - kept);
            }
            vouch_model_close(model);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_same_bits_in_any_pass),
        cmocka_unit_test(guesses_change_nothing),
        cmocka_unit_test(prompts_go_back_to_any_token),
    };
    if (argc == 2 && strcmp(argv[1], "--digests") == 0) return print_digests();
    return cmocka_run_group_tests_name("archs", tests, NULL, NULL);
}
