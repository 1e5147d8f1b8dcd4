/* SPDX-License-Identifier: MIT */
/*
 * DFlash2's heads in folders: the same weights in a GGUF file, whose drafts test_head_files.c compares with
 * llama.cpp's, give the same bits. The folders have the names and shapes of the published ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model.h"
#include "format/gguf.h"
#include "support/decode/answer.h"
#include "support/head/head_bench.h"
#include "support/model/hf_model.h"

#include "golden/head_folders.h"

enum { WIDTH = 48, VOCABULARY = 160, N_LAYERS = 2, RANK = 12, TAPS = 2, GROUP = 8, MOST_VALUES = 3 * WIDTH * WIDTH };

/* A tensor in the folder and in the file. '#' is the layer. */
typedef struct renamed {
    const char *folder, *file;
    int32_t shape[4], n_dims;
} renamed;

#define CONV(folder, file)                                                                          \
    {"layers.#." folder ".base_kernel", "blk.#." file "_conv_base", {2, TAPS, WIDTH}, 3},           \
    {                                                                                               \
        "layers.#." folder ".kernel_projection.weight", "blk.#." file "_conv_proj.weight",          \
            {2 * TAPS * WIDTH / GROUP, WIDTH}, 2                                                    \
    }
static const renamed tensors[] = {
    {"fc.weight", "fc.weight", {WIDTH, 3 * WIDTH}, 2},
    {"hidden_norm.weight", "enc.output_norm.weight", {WIDTH}, 1},
    {"norm.weight", "output_norm.weight", {WIDTH}, 1},
    {"candidate_selector.hidden_projection.weight", "selector_hidden.weight", {RANK, WIDTH}, 2},
    {"candidate_selector.predecessor_codebook", "selector_predecessor.weight", {VOCABULARY, RANK}, 2},
    {"candidate_selector.successor_codebook", "selector_successor.weight", {VOCABULARY, RANK}, 2},
    {"layers.#.input_layernorm.weight", "blk.#.attn_norm.weight", {WIDTH}, 1},
    {"layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight", {48, WIDTH}, 2},
    {"layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight", {24, WIDTH}, 2},
    {"layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight", {24, WIDTH}, 2},
    {"layers.#.self_attn.q_norm.weight", "blk.#.attn_q_norm.weight", {12}, 1},
    {"layers.#.self_attn.k_norm.weight", "blk.#.attn_k_norm.weight", {12}, 1},
    {"layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight", {WIDTH, 48}, 2},
    {"layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight", {WIDTH}, 1},
    {"layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight", {56, WIDTH}, 2},
    {"layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight", {56, WIDTH}, 2},
    {"layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight", {WIDTH, 56}, 2},
    CONV("attention_conv", "attn"),
    CONV("mlp_conv", "ffn"),
};
enum { N_TENSORS = sizeof tensors / sizeof tensors[0] };

#define TOP                                                                                                            \
    "{\"architectures\": [\"DFlash2DraftModel\"], \"model_type\": \"qwen3\", \"hidden_act\": \"silu\", "               \
    "\"vocab_size\": 160, \"hidden_size\": 48, \"intermediate_size\": 56, \"num_hidden_layers\": 2, "                  \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"head_dim\": 12, \"max_position_embeddings\": 2048, "    \
    "\"num_target_layers\": 8, \"rms_norm_eps\": 1e-06, \"rope_parameters\": {\"rope_theta\": 10000000, "              \
    "\"rope_type\": \"default\"}, \"tie_word_embeddings\": false, "
#define SIZES                                                                                                          \
    "\"block_size\": 6, \"conv_group_size\": 8, \"conv_kernel_size\": 2, \"mask_token_id\": 5, "                       \
    "\"selector_rank\": 12, \"selector_top_k\": 7, \"target_layer_ids\": [0, 3, 6]"

/* How the members of config.json differ, and the keys that come of them. */
static const struct {
    const char *name, *dtype, *config;
    bool is_causal, has_window[N_LAYERS], has_scales, are_embeddings; /* codebooks end in ".weight" */
} cases[] = {
    {.name = "as published",
     .dtype = "BF16",
     .config = TOP "\"is_causal\": false, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"], "
                   "\"sliding_window\": 7, \"use_sliding_window\": true, \"dflash_config\": {" SIZES "}}",
     .has_window = {true, true}},
    {.name = "causal in some windows, scales",
     .dtype = "F32",
     .config = TOP "\"is_causal\": true, \"layer_types\": [\"sliding_attention\", \"full_attention\"], "
                   "\"sliding_window\": 7, \"use_sliding_window\": true, \"output_multiplier\": 0.5, "
                   "\"final_logit_softcapping\": 9.0, \"dflash_config\": {\"input_embedding_scale\": 2.5, "
                   "\"attention_value_scale\": 0.75, " SIZES "}}",
     .is_causal = true,
     .has_window = {true, false},
     .has_scales = true},
    {.name = "windows without a word on causality",
     .dtype = "F16",
     .config = TOP "\"layer_types\": [\"sliding_attention\", \"sliding_attention\"], \"sliding_window\": 7, "
                   "\"use_sliding_window\": true, \"dflash_config\": {" SIZES "}}",
     .is_causal = true,
     .has_window = {true, true},
     .are_embeddings = true},
    {.name = "use_swa",
     .dtype = "BF16",
     .config = TOP "\"is_causal\": false, \"sliding_window\": null, \"dflash_config\": {\"use_swa\": true, "
                   "\"swa_window_size\": 7, " SIZES "}}",
     .has_window = {true, true}},
    {.name = "sizes at the top, no windows", .dtype = "BF16", .config = TOP SIZES "}"},
    {.name = "speculators",
     .dtype = "BF16",
     .config = "{\"speculators_model_type\": \"dflash2\", \"sliding_window_non_causal\": true, " SIZES
               ", \"transformer_layer_config\": " TOP "\"layer_types\": [\"sliding_attention\", "
               "\"sliding_attention\"], \"sliding_window\": 7, \"use_sliding_window\": true}}",
     .has_window = {true, true},
     .are_embeddings = true},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* ------------------------------------------------------------------- writing */

static vouch_model *open_target(void)
{
    const hf_case target = {.dtype = "F32", .config = head_config_0, .tensors = head_tensors_0};
    vouch_model *model;
    assert_int_equal(vouch_model_open(&model, hf_folder_write("target", &target, &(hf_layout){0}), NULL, NULL),
                     VOUCH_OK);
    return model;
}

/* The tensors of a folder; are_embeddings as in cases. */
static const hf_tensor *list_of(bool are_embeddings)
{
    static hf_tensor list[N_TENSORS + 1];
    for (int t = 0; t < N_TENSORS; t++) {
        list[t] = (hf_tensor){tensors[t].folder, {0}, tensors[t].n_dims, 1, 1};
        if (strchr(tensors[t].folder, '#')) list[t].n = N_LAYERS;
        memcpy(list[t].shape, tensors[t].shape, sizeof list[t].shape);
        if (are_embeddings && strstr(tensors[t].folder, "predecessor"))
            list[t].name = "candidate_selector.predecessor_codebook.weight";
        if (are_embeddings && strstr(tensors[t].folder, "successor"))
            list[t].name = "candidate_selector.successor_codebook.weight";
    }
    return list;
}

static const char *write_folder(int i, const hf_layout *layout)
{
    const hf_case head = {
        .dtype = cases[i].dtype, .config = cases[i].config, .tensors = list_of(cases[i].are_embeddings)};
    return hf_folder_write(layout->n_files > 1 ? "split" : "whole", &head, layout);
}

static void add_keys(vouch_gguf_writer *w, int i)
{
    static const struct {
        const char *key;
        uint32_t value;
    } sizes[] = {{"block_count", N_LAYERS},      {"context_length", 2048},
                 {"embedding_length", WIDTH},    {"feed_forward_length", 56},
                 {"vocab_size", VOCABULARY},     {"attention.head_count", 4},
                 {"attention.head_count_kv", 2}, {"attention.key_length", 12},
                 {"attention.value_length", 12}, {"block_size", 6},
                 {"conv_kernel_size", TAPS},     {"conv_group_size", GROUP},
                 {"selector_rank", RANK},        {"selector_top_k", 7}};
    static const int32_t layers[] = {1, 4, 7};
    char key[64];
    vouch_gguf_add_text(w, "general.architecture", "dflash");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        snprintf(key, sizeof key, "dflash.%s", sizes[k].key);
        vouch_gguf_add_u32(w, key, sizes[k].value);
    }
    vouch_gguf_add_u32(w, "tokenizer.ggml.mask_token_id", 5);
    vouch_gguf_add_f32(w, "dflash.rope.freq_base", 1e7f);
    vouch_gguf_add_f32(w, "dflash.attention.layer_norm_rms_epsilon", 1e-6f);
    vouch_gguf_add_bool(w, "dflash.attention.causal", cases[i].is_causal);
    vouch_gguf_add_array(w, "dflash.target_layers", VOUCH_GGUF_I32, layers, 3);
    if (cases[i].has_window[0] || cases[i].has_window[1]) {
        vouch_gguf_add_u32(w, "dflash.attention.sliding_window", 7);
        vouch_gguf_add_array(w, "dflash.attention.sliding_window_pattern", VOUCH_GGUF_BOOL, cases[i].has_window,
                             N_LAYERS);
    }
    if (!cases[i].has_scales) return;
    vouch_gguf_add_f32(w, "dflash.attention.value_scale", 0.75f);
    vouch_gguf_add_f32(w, "dflash.embedding_scale", 2.5f);
    vouch_gguf_add_f32(w, "dflash.logit_scale", 0.5f);
    vouch_gguf_add_f32(w, "dflash.final_logit_softcapping", 9);
}

static void with_layer(char name[96], const char *pattern, int32_t layer)
{
    const char *at = strchr(pattern, '#');
    if (!at) snprintf(name, 96, "%s", pattern);
    else snprintf(name, 96, "%.*s%d%s", (int)(at - pattern), pattern, layer, at + 1);
}

/* Stores n values as the folder's dtype does; F32 where llama.cpp's converter writes that. */
static vouch_type store(void *out, const float *values, int32_t n, const char *dtype, bool is_float)
{
    uint16_t *half = out;
    if (is_float || strcmp(dtype, "F32") == 0) {
        memcpy(out, values, (size_t)n * sizeof *values);
        return VOUCH_TYPE_F32;
    }
    for (int32_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        half[i] = strcmp(dtype, "F16") == 0 ? vouch_float_to_half(values[i]) : (uint16_t)(bits >> 16);
    }
    return strcmp(dtype, "F16") == 0 ? VOUCH_TYPE_F16 : VOUCH_TYPE_BF16;
}

static const char *write_file(int i)
{
    const char *path = test_temporary("dflash2.gguf");
    const hf_tensor *list = list_of(cases[i].are_embeddings);
    static float values[MOST_VALUES], stored[N_TENSORS * N_LAYERS][MOST_VALUES];
    vouch_gguf_writer *w;
    int n = 0;
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    add_keys(w, i);
    for (int t = 0; t < N_TENSORS; t++)
        for (int32_t l = 0; l < list[t].n; l++) {
            int64_t dim[3];
            int32_t count = 1;
            char name[96];
            for (int32_t d = 0; d < list[t].n_dims; d++) count *= list[t].shape[d];
            for (int32_t d = 0; d < list[t].n_dims; d++) dim[d] = list[t].shape[list[t].n_dims - 1 - d];
            assert_true(count <= MOST_VALUES);
            with_layer(name, list[t].name, l);
            hf_values(values, name, list[t].n_dims, count);
            with_layer(name, tensors[t].file, l);
            const vouch_type type = store(stored[n], values, count, cases[i].dtype, list[t].n_dims != 2);
            vouch_gguf_add_tensor(w, name, type, (uint32_t)list[t].n_dims, dim, stored[n++]);
        }
    assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w);
    return path;
}

/* --------------------------------------------------------------------- tests */

static bool same_dist(const vouch_dist *a, const vouch_dist *b)
{
    return a->n_support == b->n_support && a->total == b->total &&
           memcmp(a->weight, b->weight, (size_t)a->n_vocab * sizeof(float)) == 0;
}

/* Do both heads have the same guesses and q, to the bit, in two rounds? */
static bool same_drafts(const vouch_model *target, const vouch_draft_file *one, const vouch_draft_file *other)
{
    bool same = true;
    head_bench a, b;
    head_bench_open(&a, target, head_of(one), 16, 1);
    head_bench_open(&b, target, head_of(other), 16, 1);
    for (int round = 0; round < HEAD_ROUNDS; round++) {
        head_bench_commit(&a, round ? HEAD_MORE : HEAD_FIRST);
        head_bench_commit(&b, round ? HEAD_MORE : HEAD_FIRST);
        const vouch_draft x = head_bench_propose(&a), y = head_bench_propose(&b);
        assert_int_equal(x.n, HEAD_DRAFT);
        assert_int_equal(y.n, HEAD_DRAFT);
        for (int d = 0; d < HEAD_DRAFT; d++) same = same && x.tokens[d] == y.tokens[d] && same_dist(x.q[d], y.q[d]);
        head_bench_reject(&a, &x);
        head_bench_reject(&b, &y);
    }
    head_bench_close(&a);
    head_bench_close(&b);
    return same;
}

static void a_folder_drafts_as_its_file(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    vouch_draft_file *files[N_CASES];
    for (int i = 0; i < N_CASES; i++) {
        files[i] = head_bench_file(write_file(i), target);
        for (int n_files = 1; n_files <= 2; n_files++) {
            vouch_draft_file *folder = head_bench_file(write_folder(i, &(hf_layout){.n_files = n_files}), target);
            const bool same = same_drafts(target, folder, files[i]);
            if (!same) print_message("%s\n", cases[i].name);
            assert_true(same);
            vouch_draft_file_close(folder);
        }
    }
    /* each member counts: heads that differ in one draft otherwise, and use_swa is the published form in other words */
    assert_false(same_drafts(target, files[0], files[1]));
    assert_false(same_drafts(target, files[0], files[2]));
    assert_false(same_drafts(target, files[0], files[4]));
    assert_true(same_drafts(target, files[0], files[3]));
    for (int i = 0; i < N_CASES; i++) vouch_draft_file_close(files[i]);
    vouch_model_close(target);
}

/* `vouch convert` and `vouch quantize` write such folders as files. */
static void folders_become_files(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    const vouch_quantize_options options = {.n_threads = 1};
    vouch_quantize_result result;
    for (int i = 0; i < N_CASES; i++) {
        const char *folder = write_folder(i, &(hf_layout){0}), *path = test_temporary("converted.gguf");
        assert_int_equal(vouch_quantize(folder, path, &options, &result, NULL), VOUCH_OK);
        vouch_draft_file *one = head_bench_file(folder, target), *other = head_bench_file(path, target);
        assert_true(same_drafts(target, one, other));
        vouch_draft_file_close(one);
        vouch_draft_file_close(other);
    }
    vouch_model_close(target);
}

/* Law L2: greedy text, and sampled text under match, are those of plain decoding. */
static void text_is_the_same(void **state)
{
    (void)state;
    enum { PROMPT = 20, LENGTH = 40 };
    static answer without, with;
    vouch_model *target = open_target();
    for (int i = 0; i < 2 * N_CASES; i++) {
        vouch_draft_file *head = head_bench_file(write_folder(i % N_CASES, &(hf_layout){0}), target);
        vouch_session_options o = vouch_session_options_default();
        int32_t prompt[PROMPT];
        o.n_ctx = PROMPT + LENGTH;
        o.max_tokens = LENGTH;
        o.ignore_eos = true;
        o.sampling.temperature = i % 2 ? 0.8f : 0;
        o.speculation.accept = i % 2 ? VOUCH_ACCEPT_MATCH : VOUCH_ACCEPT_REJECTION;
        o.speculation.n_draft = 1 + i % 5;
        o.speculation.tree_branches = 1 + i % 3;
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
        o.speculation.drafters = VOUCH_DRAFTER_HEAD;
        answer_prompt(prompt, PROMPT, target->info.n_vocab, (uint64_t)i, true);
        answer_run(&with, target, &o, prompt, PROMPT);
        assert_true(with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
        o.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_run(&without, target, &o, prompt, PROMPT);
        assert_true(answer_equal(&with, &without));
        vouch_draft_file_close(head);
    }
    vouch_model_close(target);
}

static void refuses(int i, const hf_layout *layout, const vouch_model *target, vouch_status status, const char *words)
{
    vouch_error err = {0};
    vouch_draft_file *head;
    const vouch_status got =
        vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, write_folder(i, layout), target, false, &err);
    if (got != status || !strstr(err.message, words)) print_message("%s\n", err.message);
    assert_int_equal(got, status);
    assert_non_null(strstr(err.message, words));
}

static void wrong_folders_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *left_out;
        vouch_status status;
        const char *words;
    } bad[] = {
        {"\"conv_kernel_size\": 2, ", "", NULL, VOUCH_E_FORMAT, "conv_kernel_size is missing"},
        {"\"selector_top_k\": 7, ", "", NULL, VOUCH_E_FORMAT, "selector_top_k is missing"},
        {"\"selector_rank\": 12", "\"selector_rank\": 13", NULL, VOUCH_E_FORMAT, "has shape"},
        {"\"selector_rank\": 12", "\"selector_rank\": \"12\"", NULL, VOUCH_E_FORMAT, "selector_rank"},
        {"\"conv_group_size\": 8", "\"conv_group_size\": 7", NULL, VOUCH_E_FORMAT, "no multiple of"},
        {"\"selector_top_k\": 7", "\"selector_top_k\": 70000", NULL, VOUCH_E_FORMAT, "selector_top_k"},
        {"\"is_causal\": false, \"layer_types\": [\"sliding_attention\", \"sliding_attention\"]",
         "\"layer_types\": [\"sliding_attention\", \"full_attention\"]", NULL, VOUCH_E_UNSUPPORTED,
         "layer_types has windows in some layers, and is_causal is missing"},
        {"\"is_causal\": false", "\"is_causal\": false, \"rope_is_neox_style\": false", NULL, VOUCH_E_UNSUPPORTED,
         "rope_is_neox_style is false"},
        {"\"sliding_window\": 7, \"use_sliding_window\": true, \"dflash_config\": {",
         "\"dflash_config\": {\"use_swa\": true, ", NULL, VOUCH_E_FORMAT, "swa_window_size is missing"},
        {"\"dflash_config\": {", "\"dflash_config\": {\"output_multiplier\": -1, ", NULL, VOUCH_E_FORMAT,
         "output_multiplier"},
        {"", "", "candidate_selector.successor_codebook", VOUCH_E_FORMAT, "'selector_successor.weight' is missing"},
        {"", "", "candidate_selector.hidden_projection.weight", VOUCH_E_UNSUPPORTED, ""},
        {"", "", "layers.1.mlp_conv.base_kernel", VOUCH_E_FORMAT, "'blk.1.ffn_conv_base' is missing"},
        {"", "", "layers.0.attention_conv.kernel_projection.weight", VOUCH_E_FORMAT,
         "'blk.0.attn_conv_proj.weight' is missing"},
    };
    vouch_model *target = open_target();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2048];
        const char *config = cases[0].config, *at = strstr(config, bad[i].from);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, bad[i].to, at + strlen(bad[i].from));
        refuses(0, &(hf_layout){.config = text, .left_out = bad[i].left_out}, target, bad[i].status, bad[i].words);
    }
    vouch_model_close(target);
}

/* Law L5: damaged folders are refused with an error, or give a head that drafts. */
static void damaged_folders_never_crash(void **state)
{
    (void)state;
    static const char *const members[] = {"conv_kernel_size", "conv_group_size", "selector_rank", "selector_top_k",
                                          "block_size",       "layer_types",     "is_causal",     NULL};
    static const char *const headers[] = {"shape",    "dtype", "data_offsets", "codebook", "base_kernel",
                                          "selector", NULL};
    vouch_model *target = open_target();
    const char *folder = write_folder(0, &(hf_layout){0});
    if (!test_is_quick()) /* few damages of so short a text leave a head */
        head_bench_damage(hf_file(folder, "config.json"), folder, target, members, 1);
    folder = write_folder(0, &(hf_layout){0});
    head_bench_damage(hf_file(folder, "model.safetensors"), folder, target, headers, 6);
    vouch_model_close(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_drafts_as_its_file),
        cmocka_unit_test(folders_become_files),
        cmocka_unit_test(text_is_the_same),
        cmocka_unit_test(wrong_folders_are_refused),
        cmocka_unit_test(damaged_folders_never_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
