/* SPDX-License-Identifier: MIT */
/*
 * Heads that stand in their target's file: their draft logits against llama.cpp's, and the text of answers with them.
 *
 * `test_mtp --write FOLDER` writes the models for golden/mtp.cpp.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draft/head.h"
#include "engine/model.h"
#include "golden/mtp.h"
#include "support/answer.h"

enum { N_FIRST = 12, N_MORE = 3, N_CTX = 64, PROMPT = 20, LENGTH = 40 };

/* Keys that llama.cpp needs beside those that vouch reads. */
static void add_keys(vouch_gguf_writer *writer, void *user)
{
    static const int32_t sections[4] = {3, 3, 2, 0};
    const char *arch = user;
    char key[96];
    snprintf(key, sizeof key, "%s.expert_shared_count", arch);
    vouch_gguf_add_u32(writer, key, 1);
    snprintf(key, sizeof key, "%s.expert_shared_feed_forward_length", arch);
    vouch_gguf_add_u32(writer, key, 32);
    if (strncmp(arch, "qwen35", 6) != 0) return;
    snprintf(key, sizeof key, "%s.rope.dimension_sections", arch);
    vouch_gguf_add_array(writer, key, VOUCH_GGUF_I32, sections, 4);
}

static char names[][16] = {"qwen35", "qwen35moe", "qwen3next", "glm4moe", "deepseek2"};

static const tiny_model_options models[] = {
    {.arch = names[0], .add = add_keys, .user = names[0], .nextn = true, .seed = 21},
    {.arch = names[1], .add = add_keys, .user = names[1], .nextn = true, .nextn_own = true, .seed = 22},
    {.arch = names[2], .add = add_keys, .user = names[2], .nextn = true, .seed = 23},
    {.arch = names[3], .add = add_keys, .user = names[3], .nextn = true, .seed = 24},
    {.arch = names[4],
     .add = add_keys,
     .user = names[4],
     .nextn = true,
     .nextn_own = true,
     .seed = 25,
     .n_kv_heads = 1},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

static int32_t argmax(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    int32_t best = 0;
    (void)seed, (void)position, (void)number;
    for (int32_t t = 1; t < left->p->n_vocab; t++)
        if (left->p->weight[t] > left->p->weight[best]) best = t;
    return best;
}

/* The largest difference between the logits after shifting them to equal means, in standard deviations of a row. */
static double compare(const vouch_dist *q, const mtp_row *row)
{
    const int32_t step = q->n_vocab / MTP_KEPT;
    double ours[MTP_KEPT], shift = 0, most = 0;
    for (int i = 0; i < MTP_KEPT; i++) {
        ours[i] = log((double)q->weight[i * step]);
        shift += (ours[i] - (double)row->logits[i]) / MTP_KEPT;
    }
    for (int i = 0; i < MTP_KEPT; i++)
        most = fmax(most, fabs(ours[i] - (double)row->logits[i] - shift) / (double)row->deviation);
    return most;
}

typedef struct bench {
    vouch_pool *pool;
    vouch_sequence target;
    vouch_drafter_ref drafter;
    int32_t tokens[N_CTX], n;
} bench;

static void bench_open(bench *b, const vouch_model *model)
{
    static const uint64_t seed = 1;
    const vouch_sampling sampling = {.temperature = 1, .top_p = 1, .repeat_penalty = 1};
    const vouch_sequence_options options = {
        .n_ctx = N_CTX, .max_rows = N_CTX, .max_logits = 1, .kv_type = VOUCH_KV_F32};
    const vouch_drafter_head_options head = {.sampling = &sampling,
                                             .seed = &seed,
                                             .draw = argmax,
                                             .n_vocab = model->info.n_vocab,
                                             .n_embd = model->info.n_embd,
                                             .n_ctx = N_CTX,
                                             .prefill_chunk = 5,
                                             .k = MTP_DRAFT,
                                             .branches = 1,
                                             .kv_type = VOUCH_KV_F32};
    *b = (bench){.n = 0};
    assert_int_equal(vouch_pool_open(&b->pool, 2, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&b->target, model->weights, b->pool, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_drafter_head_open(&b->drafter, model->head.weights, b->pool, &head, NULL), VOUCH_OK);
}

static void bench_close(bench *b)
{
    b->drafter.ops->close(b->drafter.self);
    vouch_sequence_close(&b->target);
    vouch_pool_close(b->pool);
}

/* Commits n tokens: the target runs them, and the head gets the states of all but the last. */
static void commit(bench *b, int32_t n, int32_t n_vocab)
{
    const int32_t before = b->n;
    for (int32_t i = 0; i < n; i++, b->n++) b->tokens[b->n] = (7 + 31 * b->n) % n_vocab;
    if (before > 0) b->drafter.ops->rewind(b->drafter.self, before);
    vouch_memory_rewind(b->target.memory, before > 0 ? before - 1 : 0);
    const int32_t first = vouch_memory_n_tokens(b->target.memory);
    vouch_pass_chain(b->target.pass, b->target.memory, b->tokens + first, b->n - first, 1);
    for (int32_t t = before > 0 ? before - 1 : 0; t + 1 < b->n; t++) { /* a recurrent target went back further */
        const float *state = vouch_pass_hidden(b->target.pass, t - first);
        b->drafter.ops->hidden(b->drafter.self, b->tokens, t, &state);
    }
}

/* 5 guesses behind 12 tokens, and after a rejection of all of them 5 behind 15. */
static void drafts_are_those_of_llama_cpp(void **state)
{
    (void)state;
    const vouch_shape shape = {.n = MTP_DRAFT, .depth = MTP_DRAFT, .branches = 1};
    for (int m = 0; m < N_MODELS; m++) {
        vouch_model *model = tiny_model_open(&models[m]);
        double most = 0;
        bench b;
        assert_non_null(model->head.weights);
        assert_string_equal(mtp_values[m].arch, models[m].arch);
        bench_open(&b, model);
        for (int round = 0; round < 2; round++) {
            commit(&b, round ? N_MORE : N_FIRST, model->info.n_vocab);
            const vouch_draft draft = b.drafter.ops->propose(b.drafter.self, b.tokens, b.n, &shape);
            assert_int_equal(draft.n, MTP_DRAFT);
            for (int d = 0; d < MTP_DRAFT; d++) {
                const mtp_row *row = &mtp_values[m].rows[round * MTP_DRAFT + d];
                most = fmax(most, compare(draft.q[d], row));
                assert_int_equal(draft.tokens[d], row->best);
            }
        }
        if (most > 2e-4) print_message("%s: %g\n", models[m].arch, most);
        assert_true(most <= 2e-4);
        bench_close(&b);
        vouch_model_close(model);
    }
}

/* Law L2. The head is found in the file: --spec auto and `head` take it. */
static void text_is_the_same_with_the_file_s_own_head(void **state)
{
    (void)state;
    static answer without, with;
    for (int m = 0; m < N_MODELS; m++) {
        vouch_model *model = tiny_model_open(&models[m]);
        for (int i = 0; i < 6; i++) {
            vouch_session_options o = vouch_session_options_default();
            int32_t prompt[PROMPT];
            o.max_tokens = LENGTH;
            o.ignore_eos = true;
            o.prefill_chunk = 1 + 4 * i;
            o.sampling.temperature = i % 2 ? 0.8f : 0;
            o.speculation.accept = VOUCH_ACCEPT_MATCH;
            o.speculation.n_draft = 4;
            o.speculation.tree_branches = 1 + i % 3;
            answer_prompt(prompt, PROMPT, model->info.n_vocab, (uint64_t)i, true);
            o.speculation.drafters = VOUCH_DRAFTER_NONE;
            answer_run(&without, model, &o, prompt, PROMPT);
            o.speculation.drafters = VOUCH_DRAFTER_HEAD | (i > 2 ? VOUCH_DRAFTER_NGRAM : 0);
            if (i == 5) o.speculation.drafters = VOUCH_DRAFTER_AUTO;
            vouch_session *session = answer_open(model, &o);
            if (i == 5) assert_non_null(strstr(vouch_session_drafter(session), "head"));
            answer_continue(&with, session, prompt, PROMPT);
            assert_true(answer_equal(&without, &with));
            assert_true(i == 5 || with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
            vouch_session_close(session);
        }
        vouch_model_close(model);
    }
}

/* A file may state a head that it leaves out, and a damaged head is refused. */
static void heads_may_be_left_out(void **state)
{
    (void)state;
    tiny_model_options o = models[0];
    const char *path = test_temporary("mtp.gguf");
    vouch_model *model;
    vouch_error err;
    o.omit = "blk.2.nextn.eh_proj.weight";
    model = tiny_model_open(&o);
    assert_null(model->head.weights);
    vouch_session_options so = vouch_session_options_default();
    vouch_session *session;
    so.speculation.drafters = VOUCH_DRAFTER_HEAD;
    assert_int_equal(vouch_session_open(&session, model, &so, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "the model has none"));
    vouch_model_close(model);
    o.omit = "blk.2.nextn.hnorm.weight";
    tiny_model_write(path, &o);
    assert_int_equal(vouch_model_open(&model, path, NULL, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, o.omit));
}

static int write_models(const char *folder)
{
    for (int m = 0; m < N_MODELS; m++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s.gguf", folder, models[m].arch);
        tiny_model_write(path, &models[m]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafts_are_those_of_llama_cpp),
        cmocka_unit_test(text_is_the_same_with_the_file_s_own_head),
        cmocka_unit_test(heads_may_be_left_out),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_models(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
