/* SPDX-License-Identifier: MIT */
#include "support/head/head_kinds.h"

#include <stdio.h>

#include "engine/file/model.h"
#include "support/model/hf_model.h"
#include "support/model/tiny_draft.h"
#include "support/head/tiny_head.h"

enum { WIDTH = 64, N_LAYERS = 4 };

const char *const head_kind_names[N_HEAD_KINDS] = {
    [LINEAR_HEAD] = "linear",
    [LAYER_HEAD] = "with layers",
    [TRIMMED_HEAD] = "with few tokens",
    [EAGLE3_HEAD] = "eagle3",
    [EAGLE_HEAD] = "eagle",
    [MEDUSA_HEAD] = "medusa",
    [ASSISTANT_HEAD] = "gemma4-assistant",
    [DFLASH_HEAD] = "dflash",
    [DFLASH2_HEAD] = "dflash2",
    [DSPARK_HEAD] = "dspark",
    [CENTROIDS_HEAD] = "gemma4-assistant with centroids",
    [PEAGLE_HEAD] = "p-eagle",
    [MTP_HEAD] = "mtp",
    [RECURRENT_MTP_HEAD] = "mtp of a hybrid",
    [DEPTHS_MTP_HEAD] = "mtp for each depth",
};

static vouch_draft_file *open_folder(const char *config, const hf_tensor *tensors, const vouch_model *target)
{
    const hf_case folder = {.dtype = "F32", .config = config, .tensors = tensors};
    vouch_error err = {0};
    vouch_draft_file *head;
    if (vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, hf_folder_write("head", &folder, &(hf_layout){0}),
                              target, false, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    return head;
}

/* Four heads for the next tokens. */
static vouch_draft_file *open_medusa(const vouch_model *target)
{
    const hf_tensor tensors[] = {{"blocks.#.layers.#.weight", {WIDTH, WIDTH}, 2, 4, 1},
                                 {"lm_heads.#.weight", {target->info.n_vocab, WIDTH}, 2, 4, 1},
                                 {0}};
    return open_folder("{\"model_type\": \"medusa\"}", tensors, target);
}

static vouch_draft_file *open_eagle(const vouch_model *target)
{
    static const hf_tensor tensors[] = {
        {"layers.0.self_attn.q_proj.weight", {WIDTH, WIDTH}, 2, 1, 1},
        {"layers.0.self_attn.k_proj.weight", {WIDTH / 2, WIDTH}, 2, 1, 1},
        {"layers.0.self_attn.v_proj.weight", {WIDTH / 2, WIDTH}, 2, 1, 1},
        {"layers.0.self_attn.o_proj.weight", {WIDTH, WIDTH}, 2, 1, 1},
        {"layers.0.mlp.gate_proj.weight", {56, WIDTH}, 2, 1, 1},
        {"layers.0.mlp.up_proj.weight", {56, WIDTH}, 2, 1, 1},
        {"layers.0.mlp.down_proj.weight", {WIDTH, 56}, 2, 1, 1},
        {"layers.0.post_attention_layernorm.weight", {WIDTH}, 1, 1, 1},
        {"fc.weight", {WIDTH, 2 * WIDTH}, 2, 1, 1},
        {"fc.bias", {WIDTH}, 1, 1, 1},
        {0},
    };
    char config[400];
    snprintf(config, sizeof config,
             "{\"model_type\": \"llama\", \"hidden_act\": \"silu\", \"vocab_size\": %d, \"hidden_size\": %d, "
             "\"intermediate_size\": 56, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
             "\"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-06}",
             target->info.n_vocab, WIDTH);
    return open_folder(config, tensors, target);
}

static vouch_draft_file *open_peagle(const vouch_model *target)
{
    const int32_t n_vocab = target->info.n_vocab;
    const hf_tensor tensors[] = {{"mask_hidden", {1, 2 * WIDTH}, 2, 1, 1},
                                 {"embed_tokens.weight", {n_vocab, WIDTH}, 2, 1, 1},
                                 {"lm_head.weight", {n_vocab, WIDTH}, 2, 1, 1},
                                 {"fc.weight", {WIDTH, 2 * WIDTH}, 2, 1, 1},
                                 {"layers.0.self_attn.q_proj.weight", {WIDTH, 2 * WIDTH}, 2, 1, 1},
                                 {"layers.0.self_attn.k_proj.weight", {WIDTH / 2, 2 * WIDTH}, 2, 1, 1},
                                 {"layers.0.self_attn.v_proj.weight", {WIDTH / 2, 2 * WIDTH}, 2, 1, 1},
                                 {"layers.0.self_attn.o_proj.weight", {WIDTH, WIDTH}, 2, 1, 1},
                                 {"layers.0.mlp.gate_proj.weight", {56, WIDTH}, 2, 1, 1},
                                 {"layers.0.mlp.up_proj.weight", {56, WIDTH}, 2, 1, 1},
                                 {"layers.0.mlp.down_proj.weight", {WIDTH, 56}, 2, 1, 1},
                                 {"layers.0.input_layernorm.weight", {WIDTH}, 1, 1, 1},
                                 {"layers.0.post_attention_layernorm.weight", {WIDTH}, 1, 1, 1},
                                 {"layers.0.hidden_norm.weight", {WIDTH}, 1, 1, 1},
                                 {"norm.weight", {WIDTH}, 1, 1, 1},
                                 {0}};
    char config[600];
    snprintf(config, sizeof config,
             "{\"model_type\": \"llama\", \"hidden_act\": \"silu\", \"vocab_size\": %d, \"hidden_size\": %d, "
             "\"intermediate_size\": 56, \"num_hidden_layers\": 1, \"num_attention_heads\": 4, "
             "\"num_key_value_heads\": 2, \"rms_norm_eps\": 1e-06, \"parallel_drafting\": true, "
             "\"ptd_token_id\": %d, \"eagle_aux_hidden_state_layer_ids\": [1, 3]}",
             n_vocab, WIDTH, n_vocab - 1);
    return open_folder(config, tensors, target);
}

static vouch_draft_file *open_head(int kind, const vouch_model *target, uint64_t seed)
{
    const int32_t few = target->info.n_vocab * 2 / 3, mask = target->info.n_vocab - 1;
    tiny_head_options own = {.target = target, .seed = seed};
    tiny_draft_options block = {.target = target, .seed = seed, .block_size = 5, .mask = mask};
    if (kind == MEDUSA_HEAD) return open_medusa(target);
    if (kind == EAGLE_HEAD) return open_eagle(target);
    if (kind == PEAGLE_HEAD) return open_peagle(target);
    if (kind >= ASSISTANT_HEAD) {
        if (kind == CENTROIDS_HEAD) block.n_centroids = target->info.n_vocab % 25 ? target->info.n_vocab : 25;
        if (kind == DFLASH2_HEAD) {
            block.n_best = few < 16 ? few : 16;
            block.seed++; /* so that its draft leaves room for free drafters' guesses (test_engine_exact.c) */
        }
        block.kind = kind == DFLASH_HEAD    ? TINY_DFLASH
                     : kind == DFLASH2_HEAD ? TINY_DFLASH2
                     : kind == DSPARK_HEAD  ? TINY_DSPARK
                                            : TINY_ASSISTANT;
        return tiny_draft_open(&block);
    }
    own.n_layers = kind != LINEAR_HEAD;
    if (kind == TRIMMED_HEAD) own.n_draft = few;
    if (kind == EAGLE3_HEAD) {
        own.eagle3 = true;
        own.n_taps = 3;
        own.n_draft = few;
    }
    return tiny_head_open(&own);
}

head_pair head_pair_open(int kind, int32_t n_vocab, uint64_t seed)
{
    tiny_model_options target = {.n_vocab = n_vocab, .n_embd = WIDTH, .n_layers = N_LAYERS, .seed = seed};
    if (kind == ASSISTANT_HEAD || kind == CENTROIDS_HEAD) {
        target.arch = "gemma4";
        target.n_layers = 6;
        target.tied = true;
    } else if (kind >= MTP_HEAD) {
        static const char *const archs[] = {"glm4moe", "qwen35", "mimo2"};
        target.arch = archs[kind - MTP_HEAD];
        target.n_layers = 2;
        target.nextn = kind == DEPTHS_MTP_HEAD ? 3 : 1;
        if (kind == DEPTHS_MTP_HEAD) target.head_dim = WIDTH / 4; /* its values are narrower than its keys */
    }
    head_pair pair = {.target = tiny_model_open(&target)};
    if (kind < MTP_HEAD) pair.owned = open_head(kind, pair.target, seed + 1);
    pair.head = pair.owned ? pair.owned : &pair.target->own;
    assert_non_null(head_of(pair.head));
    return pair;
}

void head_pair_close(head_pair *pair)
{
    vouch_draft_file_close(pair->owned);
    vouch_model_close(pair->target);
}
