/* SPDX-License-Identifier: MIT */
/*
 * Heads that stand in their target's file: their draft logits against llama.cpp's, and the text of answers with them.
 *
 * `test_mtp --write FOLDER` writes the models for golden/mtp.cpp; `test_mtp --apart FOLDER` a target without its head,
 * and the head as mtp-target.gguf (tests/hub).
 */
#include <stdio.h>
#include <string.h>

#include "engine/file/model.h"
#include "golden/mtp.h"
#include "support/decode/answer.h"
#include "support/head/head_bench.h"

enum { PROMPT = 20, LENGTH = 40 };

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
    if (strcmp(arch, "bailingmoe3") == 0) {
        static float norm[64];
        const int64_t n = 64;
        for (int i = 0; i < 64; i++) norm[i] = 0.75f + (float)(i % 9) / 16;
        vouch_gguf_add_u32(writer, "bailingmoe3.expert_gating_func", 2);
        vouch_gguf_add_tensor(writer, "blk.3.layer_output_norm.weight", VOUCH_TYPE_F32, 1, &n, norm);
    }
    if (strncmp(arch, "qwen35", 6) != 0) return;
    snprintf(key, sizeof key, "%s.rope.dimension_sections", arch);
    vouch_gguf_add_array(writer, key, VOUCH_GGUF_I32, sections, 4);
}

static char names[][16] = {"qwen35", "qwen35moe", "qwen3next",  "glm4moe", "deepseek2",
                           "mimo2",  "hy_v3",     "cohere2moe", "step35",  "bailingmoe3"};

static const tiny_model_options models[] = {
    {.arch = names[0], .add = add_keys, .user = names[0], .nextn = 1, .seed = 21},
    {.arch = names[1], .add = add_keys, .user = names[1], .nextn = 1, .nextn_own = true, .seed = 22},
    {.arch = names[2], .add = add_keys, .user = names[2], .nextn = 1, .seed = 23},
    {.arch = names[3], .add = add_keys, .user = names[3], .nextn = 1, .seed = 24},
    {.arch = names[4], .add = add_keys, .user = names[4], .nextn = 1, .nextn_own = true, .seed = 25, .n_kv_heads = 1},
    {.arch = names[5], .add = add_keys, .user = names[5], .nextn = 1, .n_layers = 3, .head_dim = 16, .seed = 26},
    {.arch = names[5], .add = add_keys, .user = names[5], .nextn = 5, .n_layers = 3, .head_dim = 16, .seed = 27},
    {.arch = names[6], .add = add_keys, .user = names[6], .nextn = 1, .nextn_own = true, .seed = 28},
    {.arch = names[7], .add = add_keys, .user = names[7], .nextn = 1, .n_layers = 3, .seed = 29},
    {.arch = names[8], .add = add_keys, .user = names[8], .nextn = 5, .n_layers = 4, .seed = 30},
    {.arch = names[9], .add = add_keys, .user = names[9], .nextn = 1, .n_layers = 3, .n_kv_heads = 1, .seed = 31},
};
enum { MIMO2_DEPTHS = 6, N_MODELS = sizeof models / sizeof models[0] };

static void drafts_are_those_of_llama_cpp(void **state)
{
    (void)state;
    for (int m = 0; m < N_MODELS; m++) {
        vouch_model *model = tiny_model_open(&models[m]);
        assert_non_null(head_of(&model->own));
        assert_string_equal(mtp_values[m].arch, models[m].arch);
        head_bench_compare(models[m].arch, model, head_of(&model->own), mtp_values[m].rows);
        vouch_model_close(model);
    }
}

/* MiMo-V2 has a block for each depth, so the first one at all depths would guess something else. */
static void blocks_serve_their_own_depths(void **state)
{
    (void)state;
    const int m = MIMO2_DEPTHS;
    vouch_model *model = tiny_model_open(&models[m]);
    vouch_head_weights first = *head_of(&model->own);
    head_bench b;
    int n_equal = 0;
    assert_non_null(first.deeper);
    first.deeper = NULL;
    head_bench_open(&b, model, &first, 16, 1);
    head_bench_commit(&b, HEAD_FIRST);
    const vouch_draft draft = head_bench_propose(&b);
    assert_int_equal(draft.tokens[0], mtp_values[m].rows[0].best);
    for (int d = 0; d < HEAD_DRAFT; d++) n_equal += draft.tokens[d] == mtp_values[m].rows[d].best;
    assert_true(n_equal < HEAD_DRAFT);
    head_bench_close(&b);
    vouch_model_close(model);
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

/* A file may state heads that it leaves out, and a damaged head is refused. */
static void heads_may_be_left_out(void **state)
{
    (void)state;
    tiny_model_options o = models[0];
    const char *path = test_temporary("mtp.gguf");
    vouch_model *model;
    vouch_error err;
    o.omit = "blk.2.nextn.eh_proj.weight";
    model = tiny_model_open(&o);
    assert_null(head_of(&model->own));
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
    o = models[MIMO2_DEPTHS];
    o.omit = "blk.5.nextn.eh_proj.weight"; /* of the third block */
    model = tiny_model_open(&o);
    assert_non_null(head_of(&model->own)->deeper);
    assert_null(head_of(&model->own)->deeper->deeper);
    vouch_model_close(model);
    o.omit = "blk.5.nextn.enorm.weight";
    tiny_model_write(path, &o);
    assert_int_equal(vouch_model_open(&model, path, NULL, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, o.omit));
}

/* The target without its head, and the head's file. */
static vouch_model *open_apart(int m, const char *path)
{
    tiny_model_options head = models[m], target = models[m];
    char omitted[64];
    head.nextn_alone = true;
    tiny_model_write(path, &head);
    snprintf(omitted, sizeof omitted, "blk.%d.nextn.eh_proj.weight", target.n_layers ? target.n_layers : 2);
    target.omit = omitted;
    vouch_model *model = tiny_model_open(&target);
    assert_null(head_of(&model->own));
    return model;
}

/* A head in a file of its own guesses as the one in the target's file. */
static void a_file_of_its_own_guesses_the_same(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_temporary("mtp-alone.gguf"));
    for (int m = 0; m < N_MODELS; m++) {
        vouch_error err;
        vouch_draft_file *file;
        vouch_model *model = open_apart(m, path);
        if (vouch_draft_file_open(&file, VOUCH_DRAFTER_NUMBER_HEAD, path, model, false, &err))
            fail_msg("%s", err.message);
        head_bench_compare(models[m].arch, model, head_of(file), mtp_values[m].rows);
        vouch_draft_file_close(file);
        vouch_model_close(model);
    }
}

/* It is refused as a model, and as the head of another one. */
static void a_file_of_its_own_has_one_target(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_temporary("mtp-alone.gguf"));
    vouch_error err;
    vouch_draft_file *file;
    vouch_model *refused, *model = open_apart(0, path);
    assert_int_equal(vouch_model_open(&refused, path, NULL, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "give it this file as its head"));
    const struct {
        tiny_model_options target;
        const char *message;
    } others[] = {
        {models[1], "architecture 'qwen35', and this model has 'qwen35moe'"},
        {{.arch = names[0], .add = add_keys, .user = names[0], .n_layers = 3}, "block_count"},
        {{.arch = names[0], .add = add_keys, .user = names[0], .n_embd = 128}, "embedding_length"},
        {{.arch = names[0], .add = add_keys, .user = names[0], .n_vocab = 500}, "tokens, and this model has"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        vouch_model *other = tiny_model_open(&others[i].target);
        assert_int_equal(vouch_draft_file_open(&file, VOUCH_DRAFTER_NUMBER_HEAD, path, other, false, &err),
                         VOUCH_E_MISMATCH);
        if (!strstr(err.message, others[i].message)) fail_msg("%s lacks %s", err.message, others[i].message);
        vouch_model_close(other);
    }
    vouch_model_close(model);
}

static void a_damaged_file_of_its_own_is_survived(void **state)
{
    (void)state;
    static const char *const words[] = {"block_count", "nextn_predict_layers", "nextn.eh_proj", "embedding_length",
                                        "token_embd",  "attention.head_count", "nextn.hnorm",   NULL};
    char path[512];
    snprintf(path, sizeof path, "%s", test_temporary("mtp-damaged.gguf"));
    for (int m = 0; m < N_MODELS; m += test_is_quick() ? N_MODELS : 1) {
        vouch_model *model = open_apart(m, path);
        head_bench_damage(path, path, model, words, (uint64_t)m);
        vouch_model_close(model);
    }
}

static int write_models(const char *folder)
{
    for (int m = 0; m < N_MODELS; m++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s%s.gguf", folder, models[m].arch, models[m].nextn > 1 ? "-depths" : "");
        tiny_model_write(path, &models[m]);
    }
    return 0;
}

static int write_apart(const char *folder)
{
    char path[512];
    tiny_model_options head = models[0], target = models[0];
    head.nextn_alone = true;
    snprintf(path, sizeof path, "%s/mtp-target.gguf", folder);
    tiny_model_write(path, &head);
    target.omit = "blk.2.nextn.eh_proj.weight";
    snprintf(path, sizeof path, "%s/target.gguf", folder);
    tiny_model_write(path, &target);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafts_are_those_of_llama_cpp),
        cmocka_unit_test(blocks_serve_their_own_depths),
        cmocka_unit_test(text_is_the_same_with_the_file_s_own_head),
        cmocka_unit_test(heads_may_be_left_out),
        cmocka_unit_test(a_file_of_its_own_guesses_the_same),
        cmocka_unit_test(a_file_of_its_own_has_one_target),
        cmocka_unit_test(a_damaged_file_of_its_own_is_survived),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_models(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--apart") == 0) return write_apart(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
