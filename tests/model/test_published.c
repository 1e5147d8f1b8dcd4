/* SPDX-License-Identifier: MIT */
/*
 * Heads in files that others write: their draft logits against the programs that define them.
 *
 * `test_published --write FOLDER` writes models and heads for golden/eagle3.cpp. golden/head_folders.py needs no files.
 */
#include <stdio.h>
#include <string.h>

#include "engine/file/model.h"
#include "golden/eagle3.h"
#include "support/model/hf_model.h"
#include "support/decode/answer.h"
#include "support/head/head_bench.h"
#include "support/head/tiny_head.h"

#include "golden/head_folders.h"

enum { PROMPT = 20, LENGTH = 40 };

/* EAGLE-3 in GGUF files. */
static const int32_t usual_layers[] = {2, 4, 5}, other_layers[] = {1, 3, 6};
static const struct {
    const char *name;
    tiny_model_options target;
    tiny_head_options head;
} eagle3_cases[] = {
    {"few tokens", {.n_layers = 8, .seed = 31}, {.n_draft = 96, .tap_layers = usual_layers}},
    {"the target's matrices, norm_before_fc",
     {.n_layers = 7, .seed = 32},
     {.tap_layers = other_layers, .norms_taps = true}},
    {"narrow, norm_before_residual",
     {.arch = "qwen3", .n_layers = 6, .seed = 33},
     {.width = 32, .tap_layers = usual_layers, .norms_first = true}},
};
enum { N_EAGLE3 = sizeof eagle3_cases / sizeof eagle3_cases[0] };

/* The caller may close `target` afterwards. */
static void write_eagle3(const char *path, int i, const vouch_model *target)
{
    tiny_head_options o = eagle3_cases[i].head;
    o.eagle3 = true;
    o.n_layers = 1;
    o.n_taps = 3;
    o.target = target;
    tiny_head_write(path, &o);
}

static void eagle3_drafts_are_those_of_llama_cpp(void **state)
{
    (void)state;
    for (int i = 0; i < N_EAGLE3; i++) {
        const char *path = test_temporary("published.gguf");
        vouch_model *target = tiny_model_open(&eagle3_cases[i].target);
        vouch_draft_file *head;
        write_eagle3(path, i, target);
        assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, NULL), VOUCH_OK);
        assert_string_equal(eagle3_values[i].name, eagle3_cases[i].name);
        head_bench_compare(eagle3_cases[i].name, target, head_of(head), eagle3_values[i].rows);
        vouch_draft_file_close(head);
        vouch_model_close(target);
    }
}

/* Opens the target of the folders. */
static vouch_model *open_target(void)
{
    const hf_case target = {.dtype = "F32", .config = head_config_0, .tensors = head_tensors_0};
    vouch_model *model;
    vouch_error err = {0};
    const vouch_status status =
        vouch_model_open(&model, hf_folder_write("target", &target, &(hf_layout){0}), NULL, &err);
    if (status != VOUCH_OK) print_message("%s\n", err.message);
    assert_int_equal(status, VOUCH_OK);
    return model;
}

static const char *write_folder(const char *name, size_t i, const hf_layout *layout)
{
    const hf_case head = {
        .dtype = head_folders[i].dtype, .config = head_folders[i].config, .tensors = head_folders[i].tensors};
    return hf_folder_write(name, &head, layout);
}
enum { N_FOLDERS = sizeof head_folders / sizeof head_folders[0] };

static vouch_draft_file *open_folder(size_t i, const vouch_model *target)
{
    return head_bench_file(write_folder(i % 2 ? "split" : "whole", i, &(hf_layout){.n_files = 1 + (int)i % 2}), target);
}

static void drafts_of_folders_are_their_authors(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    for (size_t i = 0; i < N_FOLDERS; i++) {
        vouch_draft_file *head = open_folder(i, target);
        head_bench_compare(head_folders[i].name, target, head_of(head), head_folders[i].rows);
        vouch_draft_file_close(head);
    }
    vouch_model_close(target);
}

enum { EAGLE3, NARROW, EAGLE1, EAGLE2, MEDUSA, TWO_BLOCKS, DFLASH, DSPARK, NORMED, MASKED, UNMARKED, PEAGLE };

static void refuses(const char *folder, const vouch_model *target, vouch_status status, const char *words)
{
    vouch_error err = {0};
    vouch_draft_file *head;
    const vouch_status got = vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, folder, target, false, &err);
    if (got != status || !strstr(err.message, words)) print_message("%s\n", err.message);
    assert_int_equal(got, status);
    assert_null(head);
    assert_non_null(strstr(err.message, words));
}

/* DFlash's mask_embedding may be a file of its own. A pickled one is refused. */
static void masks_may_have_a_file(void **state)
{
    (void)state;
    static const hf_tensor mask[] = {{"mask_embedding", {48}, 1, 1, 1}, {0}};
    const hf_case file = {.dtype = "F32", .config = head_folders[MASKED].config, .tensors = mask};
    vouch_model *target = open_target();
    char from[256], folder[256];
    snprintf(from, sizeof from, "%s", hf_file(hf_folder_write("mask", &file, &(hf_layout){0}), "model.safetensors"));
    snprintf(folder, sizeof folder, "%s", write_folder("apart", MASKED, &(hf_layout){.left_out = "mask_embedding"}));
    write_whole(hf_file(folder, "mask_embedding.pt"), "PK", 2);
    refuses(folder, target, VOUCH_E_UNSUPPORTED, "save it as mask_embedding.safetensors");
    assert_int_equal(rename(from, hf_file(folder, "mask_embedding.safetensors")), 0);
    vouch_draft_file *head = head_bench_file(folder, target);
    head_bench_compare("a file for masks", target, head_of(head), head_folders[MASKED].rows);
    vouch_draft_file_close(head);
    vouch_model_close(target);
}

static vouch_session_options options_of(int i, const vouch_draft_file *head)
{
    static const unsigned company[] = {0, VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_RECYCLE};
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH;
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.prefill_chunk = 1 + 5 * (i % 4);
    o.sampling.temperature = i % 2 ? 0.8f : 0;
    o.speculation.accept = i % 2 ? VOUCH_ACCEPT_MATCH : (vouch_accept)(i / 2 % VOUCH_ACCEPTS);
    o.speculation.n_draft = 1 + i % 9; /* Medusa ends at 5 */
    o.speculation.tree_branches = o.speculation.accept == VOUCH_ACCEPT_BLOCK ? 1 : 1 + i % 3;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
    o.speculation.drafters = VOUCH_DRAFTER_HEAD | company[i / 3 % 3];
    if (i % 7 == 6) o.speculation.drafters = VOUCH_DRAFTER_AUTO;
    return o;
}

/* The configuration of folder i with `from` replaced by `to`. */
static const char *changed(size_t i, const char *from, const char *to)
{
    static char text[1024];
    const char *config = head_folders[i].config, *at = strstr(config, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, to, at + strlen(from));
    return text;
}

/* The forms of other programs: vLLM's speculators have the layer's settings in an object of their own and other names
 * of tensors, and folders of EAGLE-3.1 have more norms. Their numbers have the same meaning (test_head.c compares them
 * with plain loops). */
static void folders_of_other_programs_are_read(void **state)
{
    (void)state;
    static const char config[] =
        "{\"speculators_model_type\": \"eagle3\", \"draft_vocab_size\": 48, \"target_hidden_size\": null, "
        "\"eagle_aux_hidden_state_layer_ids\": [1, 3, 8], \"fc_norm\": true, \"norm_output\": true, "
        "\"transformer_layer_config\": {\"model_type\": \"llama\", \"hidden_act\": \"silu\", \"vocab_size\": 160, "
        "\"hidden_size\": 48, \"intermediate_size\": 56, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
        "\"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-6, \"rope_parameters\": {\"rope_theta\": 5e5}}}";
    static const hf_tensor tensors[] = {
        {"d2t", {48}, 1, 1, 1},
        {"t2d", {160}, 1, 1, 1},
        {"embed_tokens.weight", {160, 48}, 2, 1, 1},
        {"fc.weight", {48, 144}, 2, 1, 1},
        {"fc_norm.#.weight", {48}, 1, 3, 1},
        {"layers.0.hidden_norm.weight", {48}, 1, 1, 1},
        {"layers.0.input_layernorm.weight", {48}, 1, 1, 1},
        {"layers.0.mlp.down_proj.weight", {48, 56}, 2, 1, 1},
        {"layers.0.mlp.gate_proj.weight", {56, 48}, 2, 1, 1},
        {"layers.0.mlp.up_proj.weight", {56, 48}, 2, 1, 1},
        {"layers.0.post_attention_layernorm.weight", {48}, 1, 1, 1},
        {"layers.0.self_attn.k_proj.weight", {24, 96}, 2, 1, 1},
        {"layers.0.self_attn.o_proj.weight", {48, 48}, 2, 1, 1},
        {"layers.0.self_attn.q_proj.weight", {48, 96}, 2, 1, 1},
        {"layers.0.self_attn.v_proj.weight", {24, 96}, 2, 1, 1},
        {"lm_head.weight", {48, 48}, 2, 1, 1},
        {"norm.weight", {48}, 1, 1, 1},
        {0},
    };
    static const hf_tensor medusa[] = {
        {"blocks.#.layers.#.weight", {48, 48}, 2, 3, 2}, {"lm_heads.#.weight", {160, 48}, 2, 3, 1}, {0}};
    const hf_case speculators = {.dtype = "BF16", .config = config, .tensors = tensors};
    const hf_case vllm = {.dtype = "F16", .config = "{\"model_type\": \"medusa\"}", .tensors = medusa};
    vouch_model *target = open_target();
    vouch_draft_file *head = head_bench_file(hf_folder_write("vllm", &vllm, &(hf_layout){0}), target);
    assert_int_equal(head_of(head)->n_depths, 3);
    assert_int_equal(head_of(head)->n_blocks, 2);
    vouch_draft_file_close(head);
    head = head_bench_file(hf_folder_write("speculators", &speculators, &(hf_layout){0}), target);
    const vouch_head_weights *w = head_of(head);
    assert_int_equal(w->n_taps, 3);
    assert_int_equal(w->taps[0], 0);
    assert_int_equal(w->taps[2], 7);
    assert_int_equal(w->taps_norm_width, 48);
    assert_int_equal(w->n_draft, 48);
    assert_int_equal(w->tokens[47], 141);
    assert_non_null(w->taps_norm);
    assert_true(w->is_normed && w->body->hparams.rope_base == 5e5);
    assert_true(w->state_norm.weight && w->body->layers[0].mix.norm.kind == VOUCH_NORM_NONE); /* its usual */
    vouch_draft_file_close(head);
    vouch_model_close(target);
}

/* DFlash's heads may have windows in some layers. DSpark's of vLLM's speculators count streams before layers, and their
 * first row predicts nothing. */
static void other_forms_of_blocks_are_read(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    const char *config = changed(DFLASH,
                                 "[\"full_attention\", \"full_attention\"], \"use_sliding_window\": false, "
                                 "\"sliding_window\": null",
                                 "[\"sliding_attention\", \"full_attention\"], \"use_sliding_window\": true, "
                                 "\"sliding_window\": 7");
    vouch_draft_file *head = head_bench_file(write_folder("window", DFLASH, &(hf_layout){.config = config}), target);
    assert_int_equal(head_of(head)->body->layers[0].attention.window, 7);
    assert_int_equal(head_of(head)->body->layers[1].attention.window, 0);
    assert_int_equal(head_of(head)->block.first, 1);
    vouch_draft_file_close(head);
    config = changed(DFLASH,
                     "\"layer_types\": [\"full_attention\", \"full_attention\"], \"use_sliding_window\": "
                     "false, \"sliding_window\": null",
                     "\"sliding_window\": 7");
    head = head_bench_file(write_folder("unused", DFLASH, &(hf_layout){.config = config}), target);
    assert_int_equal(head_of(head)->body->layers[0].attention.window, 0);
    vouch_draft_file_close(head);
    head = head_bench_file(write_folder("dspark", DSPARK, &(hf_layout){0}), target);
    assert_int_equal(head_of(head)->block.first, 0);
    assert_int_equal(head_of(head)->taps[0], 1);
    vouch_draft_file_close(head);
    config = changed(DSPARK, "\"target_layer_ids\"", "\"aux_hidden_state_layer_ids\"");
    head = head_bench_file(write_folder("speculators", DSPARK, &(hf_layout){.config = config}), target);
    assert_int_equal(head_of(head)->block.first, 1);
    assert_int_equal(head_of(head)->taps[0], 0);
    vouch_draft_file_close(head);
    vouch_model_close(target);
}

/* Law L2: greedy text under each rule and sampled text under match, alone and composed, is that of plain decoding. */
static void text_is_the_same_with_published_heads(void **state)
{
    (void)state;
    static answer without, with;
    vouch_model *target = open_target();
    for (int i = 0; i < (test_is_quick() ? 2 : 6) * (int)N_FOLDERS; i++) {
        vouch_draft_file *head = open_folder((size_t)i % N_FOLDERS, target);
        vouch_session_options o = options_of(i, head);
        int32_t prompt[PROMPT];
        answer_prompt(prompt, PROMPT, target->info.n_vocab, (uint64_t)i, true);
        answer_run(&with, target, &o, prompt, PROMPT);
        assert_true(i % 7 == 6 || with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
        o.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_run(&without, target, &o, prompt, PROMPT);
        assert_true(answer_equal(&with, &without));
        vouch_draft_file_close(head);
    }
    vouch_model_close(target);
}

/* Laws L2 and L7: the text is the same in an engine whose sessions have different heads. */
static void text_is_the_same_in_an_engine(void **state)
{
    (void)state;
    enum { MOST = N_FOLDERS };
    static answer alone[MOST];
    static int32_t tokens[MOST][LENGTH];
    int32_t n_of[MOST] = {0};
    vouch_model *target = open_target();
    const vouch_engine_options eo = {.n_sessions = MOST, .n_ctx = PROMPT + LENGTH, .page_size = 16, .n_threads = 2};
    vouch_engine *engine;
    vouch_session *sessions[MOST];
    vouch_draft_file *heads[MOST];
    const vouch_engine_event *events;
    size_t n_events;
    assert_int_equal(vouch_engine_open(&engine, target, &eo, NULL), VOUCH_OK);
    for (int i = 0; i < MOST; i++) {
        int32_t prompt[PROMPT];
        heads[i] = open_folder((size_t)i, target);
        vouch_session_options o = options_of(i, heads[i]);
        answer_prompt(prompt, PROMPT, target->info.n_vocab, (uint64_t)i, true);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[i], prompt, PROMPT, NULL), VOUCH_OK);
        o.speculation.drafters = VOUCH_DRAFTER_NONE;
        answer_run(&alone[i], target, &o, prompt, PROMPT);
    }
    while (vouch_engine_step(engine, &events, &n_events))
        for (size_t e = 0; e < n_events; e++)
            for (int i = 0; i < MOST; i++) {
                if (events[e].session != sessions[i]) continue;
                const vouch_step *step = &events[e].step;
                assert_int_equal(events[e].status, VOUCH_OK);
                memcpy(tokens[i] + n_of[i], step->tokens, (size_t)step->n_tokens * sizeof(int32_t));
                n_of[i] += step->n_tokens;
            }
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(n_of[i], alone[i].n);
        assert_memory_equal(tokens[i], alone[i].tokens, (size_t)n_of[i] * sizeof(int32_t));
        assert_true(i % 7 == 6 || vouch_session_stats(sessions[i])->drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
        vouch_session_close(sessions[i]);
    }
    vouch_engine_close(engine);
    for (int i = 0; i < MOST; i++) vouch_draft_file_close(heads[i]);
    vouch_model_close(target);
}

/* Law L3: after rejections the head's memory and its next draft are those of a head that has never drafted. */
static void rejected_guesses_leave_no_trace(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    for (size_t i = 0; i < N_FOLDERS; i++) {
        vouch_draft_file *head = open_folder(i, target);
        head_bench drafting, quiet;
        head_bench_open(&drafting, target, head_of(head), 16, 1);
        head_bench_open(&quiet, target, head_of(head), 16, 1);
        for (int round = 0; round < 4; round++) {
            int32_t guesses[HEAD_DRAFT];
            head_bench_commit(&drafting, round ? HEAD_MORE : HEAD_FIRST);
            head_bench_commit(&quiet, round ? HEAD_MORE : HEAD_FIRST);
            vouch_draft draft = head_bench_propose(&drafting);
            assert_int_equal(draft.n, HEAD_DRAFT);
            memcpy(guesses, draft.tokens, sizeof guesses);
            head_bench_reject(&drafting, &draft);
            if (round < 3) continue;
            draft = head_bench_propose(&quiet);
            assert_memory_equal(guesses, draft.tokens, sizeof guesses);
            head_bench_reject(&quiet, &draft);
            const uint64_t expected = quiet.drafter.ops->digest(quiet.drafter.self);
            assert_true(drafting.drafter.ops->digest(drafting.drafter.self) == expected);
        }
        head_bench_close(&drafting);
        head_bench_close(&quiet);
        vouch_draft_file_close(head);
    }
    vouch_model_close(target);
}

static void folders_of_other_sizes_are_refused(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    const struct {
        int folder;
        const char *from, *to, *left_out;
        vouch_status status;
        const char *words;
    } bad[] = {
        {EAGLE3, "\"vocab_size\": 160", "\"vocab_size\": 170", NULL, VOUCH_E_MISMATCH,
         "eagle3.vocab_size is 170, but the model has 160"},
        {NARROW, "\"target_hidden_size\": 48", "\"target_hidden_size\": 64", NULL, VOUCH_E_MISMATCH,
         "eagle3.target_hidden_size is 64, but the model has 48"},
        {NARROW, "[0, 3, 6]", "[0, 3, 8]", NULL, VOUCH_E_MISMATCH,
         "eagle3.target_layers[2] is 9, but the model's are 1 to 8"},
        {NARROW, "[0, 3, 6]", "[0, \"3\", 6]", NULL, VOUCH_E_FORMAT,
         "eagle_aux_hidden_state_layer_ids: expected a list"},
        {NARROW, "[0, 3, 6]", "[0, -3, 6]", NULL, VOUCH_E_FORMAT, "eagle_aux_hidden_state_layer_ids: expected a list"},
        {NARROW, "[0, 3, 6]", "true", NULL, VOUCH_E_FORMAT, "eagle_aux_hidden_state_layer_ids"},
        {EAGLE3, "\"silu\"", "\"relu\"", NULL, VOUCH_E_UNSUPPORTED, "hidden_act is \"relu\""},
        {EAGLE3, "\"pad_token_id\": 0", "\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 2.0}", NULL,
         VOUCH_E_UNSUPPORTED, "type is \"dynamic\", which vouch doesn't support"},
        {EAGLE3, "", "", "d2t", VOUCH_E_FORMAT, "'output.weight' (lm_head.weight) has shape"},
        {EAGLE3, "", "", "lm_head.weight", VOUCH_E_FORMAT, "'output.weight' is missing"},
        {EAGLE3, "", "", "midlayer.self_attn.q_proj.weight", VOUCH_E_FORMAT, "'blk.0.attn_q.weight' is missing"},
        {EAGLE1, "\"hidden_size\": 48", "\"hidden_size\": 32", NULL, VOUCH_E_MISMATCH,
         "eagle.embedding_length is 32, but the model has 48"},
        {EAGLE2, "", "", "layers.1.input_layernorm.weight", VOUCH_E_FORMAT, "'blk.1.attn_norm.weight' is missing"},
        {EAGLE2, "", "", "fc.weight", VOUCH_E_UNSUPPORTED, "has no place in a model of type 'llama'"},
        {MEDUSA, "", "", "0.0.linear.weight", VOUCH_E_FORMAT, "model_type is missing"},
        {MEDUSA, "", "", "0.0.linear.bias", VOUCH_E_UNSUPPORTED, "biases of head 1 differ from those of head 0"},
        {MEDUSA, "", "", "0.1.weight", VOUCH_E_FORMAT, "'blk.0.output.weight' is missing"},
        {MEDUSA, "", "", "2.1.weight", VOUCH_E_UNSUPPORTED, "has no place in a medusa model"},
        {TWO_BLOCKS, "", "", "3.1.linear.weight", VOUCH_E_FORMAT, "'blk.3.block.weight' (3.0.linear.weight) has shape"},
        {TWO_BLOCKS, "", "", "3.0.linear.bias", VOUCH_E_FORMAT, "before it in its stack is missing"},
        {DFLASH, "\"vocab_size\": 160", "\"vocab_size\": 170", NULL, VOUCH_E_MISMATCH,
         "dflash.vocab_size is 170, but the model has 160"},
        {DFLASH, "\"mask_token_id\": 5, ", "", NULL, VOUCH_E_FORMAT, "mask_token_id is missing"},
        {DFLASH, "\"mask_token_id\": 5", "\"mask_token_id\": 160", NULL, VOUCH_E_MISMATCH,
         "mask_token_id is 160, but the model has 160 tokens"},
        {DFLASH, "\"target_layer_ids\"", "\"layers\"", NULL, VOUCH_E_FORMAT, "target_layer_ids is missing"},
        {DFLASH, "[0, 3, 6]", "[0, 3, 8]", NULL, VOUCH_E_MISMATCH,
         "dflash.target_layers[2] is 9, but the model's are 1 to 8"},
        {DFLASH, "\"dflash_config\": {", "\"dflash_config\": {\"use_swa\": true, ", NULL, VOUCH_E_FORMAT,
         "swa_window_size is missing"},
        {DFLASH, "\"block_size\": 6", "\"block_size\": 65", NULL, VOUCH_E_FORMAT, "'dflash.block_size' is 65"},
        {DFLASH, "", "", "hidden_norm.weight", VOUCH_E_FORMAT, "'fc.weight' has shape"},
        {DFLASH, "", "", "layers.1.self_attn.q_norm.weight", VOUCH_E_FORMAT, "'blk.1.attn_q_norm.weight' is missing"},
        {DSPARK, "\"vanilla\"", "\"gated\"", NULL, VOUCH_E_UNSUPPORTED, "markov_head_type isn't vanilla"},
        {MASKED, "\"hidden_act\"", "\"speculators_model_type\": \"xpress\", \"hidden_act\"", NULL, VOUCH_E_UNSUPPORTED,
         "speculators_model_type is 'xpress'"},
        {MASKED, "\"hidden_act\"",
         "\"speculators_model_type\": \"dflash\", \"sample_from_anchor\": true, \"hidden_act\"", NULL,
         VOUCH_E_UNSUPPORTED, "sample_from_anchor is true without a Markov matrix"},
        {DFLASH, "[\"full_attention\", \"full_attention\"]",
         "[\"sliding_attention\", \"full_attention\"], \"speculators_model_type\": \"dflash\"", NULL,
         VOUCH_E_UNSUPPORTED, "layer_types has windows, and sliding_window_non_causal is false"},
        {DSPARK, "", "", "markov_head.markov_w2.weight", VOUCH_E_FORMAT, "'markov_w2.weight' is missing"},
        {NORMED, "[0, 2, 3, 5, 6]", "[0, 2, 3, 5, 8]", NULL, VOUCH_E_MISMATCH,
         "eagle3.target_layers[4] is 9, but the model's are 1 to 8"},
        {PEAGLE, "\"mask_token_id\": 9, ", "", NULL, VOUCH_E_FORMAT, "mask_token_id is missing"},
        {PEAGLE, "\"mask_token_id\": 9", "\"mask_token_id\": 160", NULL, VOUCH_E_MISMATCH,
         "mask_token_id is 160, but the model has 160 tokens"},
        {PEAGLE, "\"speculative_tokens\": 5", "\"speculative_tokens\": 65", NULL, VOUCH_E_FORMAT,
         "speculative_tokens is 65, expected 1 to 64"},
        {PEAGLE, "[1, 4, 7]", "[1, 4]", NULL, VOUCH_E_FORMAT, "has shape"},
        {PEAGLE, "", "", "mask_hidden", VOUCH_E_FORMAT, "'mask_hidden.weight' is missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const hf_layout layout = {.config = changed((size_t)bad[i].folder, bad[i].from, bad[i].to),
                                  .left_out = bad[i].left_out};
        refuses(write_folder("bad", (size_t)bad[i].folder, &layout), target, bad[i].status, bad[i].words);
    }
    vouch_model *other = tiny_model_open(&(tiny_model_options){.n_layers = 8});
    refuses(write_folder("medusa", MEDUSA, &(hf_layout){0}), other, VOUCH_E_MISMATCH,
            "the heads are for a model of width 48 and 160 tokens, but the model has 64 and 400");
    vouch_model_close(other);
    vouch_model_close(target);
}

static void folders_without_weights_are_refused(void **state)
{
    (void)state;
    vouch_model *target = open_target();
    const char *folder = write_folder("pickled", EAGLE3, &(hf_layout){0});
    char from[512], to[512];
    snprintf(from, sizeof from, "%s", hf_file(folder, "model.safetensors"));
    snprintf(to, sizeof to, "%s", hf_file(folder, "pytorch_model.bin"));
    assert_int_equal(rename(from, to), 0);
    refuses(folder, target, VOUCH_E_UNSUPPORTED, "or save them as model.safetensors");
    snprintf(from, sizeof from, "%s", hf_file(folder, "medusa_lm_head.pt"));
    assert_int_equal(rename(to, from), 0);
    refuses(folder, target, VOUCH_E_UNSUPPORTED, "has its weights in medusa_lm_head.pt");
    assert_int_equal(remove(from), 0);
    refuses(folder, target, VOUCH_E_FORMAT, "has no model.safetensors");
    folder = write_folder("own", MEDUSA, &(hf_layout){0});
    snprintf(from, sizeof from, "%s", hf_file(folder, "model.safetensors"));
    assert_int_equal(rename(from, hf_file(folder, "medusa_lm_head.safetensors")), 0);
    vouch_draft_file *head;
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, folder, target, false, NULL), VOUCH_OK);
    vouch_draft_file_close(head);
    assert_int_equal(remove(hf_file(folder, "config.json")), 0);
    refuses(folder, target, VOUCH_E_FORMAT, "is a folder without config.json");
    vouch_model_close(target);
}

/* A folder becomes a GGUF file with the same guesses, and one of fewer bits. A head is no model. */
static void folders_become_files(void **state)
{
    (void)state;
    vouch_model *target = open_target(), *model;
    const vouch_quantize_options same = {.n_threads = 1}, smaller = {.type = "Q8_0", .n_threads = 1};
    vouch_quantize_result result;
    vouch_error err;
    for (size_t i = 0; i < N_FOLDERS; i++) {
        const char *folder = write_folder("converted", i, &(hf_layout){0});
        const char *path = test_temporary("converted.gguf");
        vouch_draft_file *head;
        assert_int_equal(vouch_quantize(folder, path, &same, &result, &err), VOUCH_OK);
        assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err), VOUCH_OK);
        head_bench_compare(head_folders[i].name, target, head_of(head), head_folders[i].rows);
        vouch_draft_file_close(head);
        assert_int_equal(vouch_model_open(&model, folder, NULL, &err), VOUCH_E_UNSUPPORTED);
        assert_non_null(strstr(err.message, "give it this file as its head"));
        assert_int_equal(vouch_quantize(folder, path, &smaller, &result, &err), VOUCH_OK);
        assert_true(result.n_converted > 0); /* to F16, where rows are no whole blocks */
        assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err), VOUCH_OK);
        vouch_draft_file_close(head);
    }
    vouch_model_close(target);
}

/* Law L5: damaged files are refused with an error, or give a head that drafts. */
static void damaged_files_never_crash(void **state)
{
    (void)state;
    static const char *const words[] = {"block_count",
                                        "embedding_length",
                                        "head_count",
                                        "target_layers",
                                        "target_hidden_size",
                                        "blk.0.attn_q",
                                        "fc.weight",
                                        "d2t",
                                        NULL};
    static const char *const members[] = {
        "hidden_size",       "num_attention_heads", "num_key_value_heads",
        "num_hidden_layers", "vocab_size",          "eagle_aux_hidden_state_layer_ids",
        "rms_norm_eps",      "rope_theta",          NULL};
    static const char *const headers[] = {"shape", "dtype", "data_offsets", "d2t", "fc.weight", "linear", NULL};
    const char *path = test_temporary("damaged.gguf");
    vouch_model *model = tiny_model_open(&eagle3_cases[0].target), *target = open_target();
    write_eagle3(path, 0, model);
    head_bench_damage(path, path, model, words, 1);
    vouch_model_close(model);
    for (size_t i = 0; i < N_FOLDERS; i += i == EAGLE1 ? 2 : 1) {
        const char *folder = write_folder("damaged", i, &(hf_layout){0});
        if (i < MEDUSA) head_bench_damage(hf_file(folder, "config.json"), folder, target, members, i);
        folder = write_folder("damaged", i, &(hf_layout){0});
        head_bench_damage(hf_file(folder, "model.safetensors"), folder, target, headers, i);
    }
    vouch_model_close(target);
}

static int write_files(const char *folder)
{
    for (int i = 0; i < N_EAGLE3; i++) {
        char model[512], head[512];
        vouch_model *target;
        snprintf(model, sizeof model, "%s/%d.gguf", folder, i);
        snprintf(head, sizeof head, "%s/%d.head.gguf", folder, i);
        tiny_model_write(model, &eagle3_cases[i].target);
        if (vouch_model_open(&target, model, NULL, NULL) != VOUCH_OK) return 1;
        write_eagle3(head, i, target);
        vouch_model_close(target);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eagle3_drafts_are_those_of_llama_cpp),
        cmocka_unit_test(drafts_of_folders_are_their_authors),
        cmocka_unit_test(masks_may_have_a_file),
        cmocka_unit_test(folders_of_other_programs_are_read),
        cmocka_unit_test(other_forms_of_blocks_are_read),
        cmocka_unit_test(text_is_the_same_with_published_heads),
        cmocka_unit_test(text_is_the_same_in_an_engine),
        cmocka_unit_test(rejected_guesses_leave_no_trace),
        cmocka_unit_test(folders_of_other_sizes_are_refused),
        cmocka_unit_test(folders_without_weights_are_refused),
        cmocka_unit_test(folders_become_files),
        cmocka_unit_test(damaged_files_never_crash),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
