/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_head.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "format/hf/hf_gemma4.h"

/* ---------------------------------------------------------------- families */

static const vouch_hf_rule ends[] = {
    {"embed_tokens", "token_embd", VOUCH_HF_AS_IS},
    {"fc", "fc", VOUCH_HF_AS_IS},
    {"fc_norm.#", "fc_norm", VOUCH_HF_STACKED},
    {"input_norm", "enc.output_norm", VOUCH_HF_AS_IS},
    {"norm", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", "output", VOUCH_HF_AS_IS},
    {"d2t", "d2t", VOUCH_HF_STEPS},
    {"t2d", NULL, VOUCH_HF_DROPPED},
    {"mask_hidden", "mask_hidden.weight", VOUCH_HF_WHOLE},
    {0},
};

#define LAYER(from)                                                   \
    {from "input_layernorm", "blk.#.attn_norm", VOUCH_HF_AS_IS},      \
    {from "hidden_norm", "blk.#.attn_norm_2", VOUCH_HF_AS_IS},        \
    {from "self_attn.q_proj", "blk.#.attn_q", VOUCH_HF_QUERIES},      \
    {from "self_attn.k_proj", "blk.#.attn_k", VOUCH_HF_KEYS},         \
    {from "self_attn.v_proj", "blk.#.attn_v", VOUCH_HF_AS_IS},        \
    {from "self_attn.q_norm", "blk.#.attn_q_norm", VOUCH_HF_HEAD},    \
    {from "self_attn.k_norm", "blk.#.attn_k_norm", VOUCH_HF_HEAD},    \
    {from "self_attn.o_proj", "blk.#.attn_output", VOUCH_HF_AS_IS},   \
    {from "self_attn.rotary_emb.inv_freq", NULL, VOUCH_HF_DROPPED},   \
    {from "post_attention_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS}, \
    {from "mlp.gate_proj", "blk.#.ffn_gate", VOUCH_HF_AS_IS},         \
    {from "mlp.up_proj", "blk.#.ffn_up", VOUCH_HF_AS_IS},             \
    {from "mlp.down_proj", "blk.#.ffn_down", VOUCH_HF_AS_IS},         \
    {0}
static const vouch_hf_rule layers[] = {LAYER("layers.#.")};
static const vouch_hf_rule only_layer[] = {LAYER("midlayer.")};

static const vouch_hf_rule block[] = {
    {"hidden_norm", "enc.output_norm", VOUCH_HF_AS_IS},
    {"markov_head.markov_w1", "markov_w1", VOUCH_HF_AS_IS},
    {"markov_head.markov_w2", "markov_w2", VOUCH_HF_AS_IS},
    {"confidence_head.proj", "conf_proj", VOUCH_HF_AS_IS},
    {"mask_embedding", "mask_embedding", VOUCH_HF_AS_IS},
    /* DFlash2. The codebooks are parameters of their own or embeddings, whose names end in ".weight" */
    {"candidate_selector.predecessor_codebook", "selector_predecessor.weight", VOUCH_HF_NAMED},
    {"candidate_selector.successor_codebook", "selector_successor.weight", VOUCH_HF_NAMED},
    {"candidate_selector.hidden_projection", "selector_hidden", VOUCH_HF_AS_IS},
    {"layers.#.attention_conv.base_kernel", "blk.#.attn_conv_base", VOUCH_HF_WHOLE},
    {"layers.#.attention_conv.kernel_projection", "blk.#.attn_conv_proj", VOUCH_HF_AS_IS},
    {"layers.#.mlp_conv.base_kernel", "blk.#.ffn_conv_base", VOUCH_HF_WHOLE},
    {"layers.#.mlp_conv.kernel_projection", "blk.#.ffn_conv_proj", VOUCH_HF_AS_IS},
    {0},
};

static const vouch_hf_rule assistant[] = {
    {"embed_tokens", "token_embd", VOUCH_HF_AS_IS},
    {"norm", "output_norm", VOUCH_HF_AS_IS},
    {"lm_head", NULL, VOUCH_HF_DROPPED},
    {"pre_projection", "nextn.pre_projection", VOUCH_HF_AS_IS},
    {"post_projection", "nextn.post_projection", VOUCH_HF_AS_IS},
    {"masked_embedding.centroids", "masked_embd_centroids", VOUCH_HF_AS_IS},
    {"masked_embedding.token_ordering", "masked_embd_ordering", VOUCH_HF_IDS},
    {"layers.#.post_attention_layernorm", "blk.#.post_attention_norm", VOUCH_HF_AS_IS},
    {"layers.#.pre_feedforward_layernorm", "blk.#.ffn_norm", VOUCH_HF_AS_IS},
    {"layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm", VOUCH_HF_AS_IS},
    {"layers.#.layer_scalar", "blk.#.layer_output_scale", VOUCH_HF_AS_IS},
    {0},
};

/* The first names are Medusa's own, "HEAD.BLOCK.linear" and "HEAD.LAST"; the others are vLLM's. */
static const vouch_hf_rule medusa[] = {
    {"#.#.linear", "blk.#.block", VOUCH_HF_STACKED},
    {"#.#", "blk.#.output", VOUCH_HF_AS_IS},
    {"blocks.#.layers.#", "blk.#.block", VOUCH_HF_STACKED},
    {"lm_heads.#", "blk.#.output", VOUCH_HF_AS_IS},
    {0},
};

#define DEFAULTS "{\"max_position_embeddings\": 2048}"

static const vouch_hf_family eagle3_family = {.model_type = "eagle3",
                                              .arch = "eagle3",
                                              .activations = "silu|swish",
                                              .rules = {ends, layers, only_layer},
                                              .is_head = true,
                                              .keys = "use_sliding_window=false",
                                              .defaults = DEFAULTS,
                                              .rotates_adjacent = true};
static const vouch_hf_family eagle_family = {.model_type = "eagle",
                                             .arch = "eagle",
                                             .activations = "silu|swish",
                                             .rules = {ends, layers},
                                             .is_head = true,
                                             .keys = "use_sliding_window=false",
                                             .defaults = DEFAULTS,
                                             .rotates_adjacent = true};
static const vouch_hf_family dflash_family = {.model_type = "dflash",
                                              .arch = "dflash",
                                              .activations = "silu|swish",
                                              .rules = {ends, layers, block},
                                              .is_head = true,
                                              .window_period = VOUCH_HF_MOST_LAYERS,
                                              .defaults = DEFAULTS};
static const vouch_hf_family assistant_family = {
    .model_type = "gemma4_assistant",
    .arch = "gemma4-assistant",
    .activations = "gelu_pytorch_tanh",
    .rules = {assistant, layers},
    .window_period = VOUCH_HF_MOST_LAYERS,
    .has_two_rotations = true,
    .is_head = true,
    .keys = "enable_moe_block=false use_double_wide_mlp=false attention_bias=false"};
static const vouch_hf_family medusa_family = {
    .model_type = "medusa", .arch = "medusa", .is_head = true, .rules = {medusa}};

/* Tensors that show a family. The first of this list that a folder has decides. */
static const struct {
    const char *tensor;
    const vouch_hf_family *family;
} marks[] = {
    {"midlayer.hidden_norm.weight", &eagle3_family},
    {"layers.0.hidden_norm.weight", &eagle3_family},
    {"hidden_norm.weight", &dflash_family},
    {"pre_projection.weight", &assistant_family},
    {"fc.weight", &eagle_family},
    {"0.0.linear.weight", &medusa_family},
    {"blocks.0.layers.0.weight", &medusa_family},
};

/* The tensor's name without the words that a head's file may have before it. */
static const char *shorten(const char *name)
{
    static const char *const prefixes[] = {"model.", "medusa_head."};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) name += strlen(prefixes[i]);
    return name;
}

static bool has_tensor(const vouch_safetensors *files, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < files[i].n; t++)
            if (strcmp(shorten(files[i].tensors[t].name), name) == 0) return true;
    return false;
}

const vouch_hf_family *vouch_hf_head_find(vouch_safetensors *files, size_t n)
{
    const vouch_hf_family *family = NULL;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && !family; i++)
        if (has_tensor(files, n, marks[i].tensor)) family = marks[i].family;
    for (size_t i = 0; i < n && family; i++)
        for (size_t t = 0; t < files[i].n; t++) files[i].tensors[t].name = shorten(files[i].tensors[t].name);
    return family;
}

/* ----------------------------------------------------------- configuration */

enum { MOST_TAPS = 16 };

/* Reads the numbers of the layers whose hidden states the head takes, and adds `step` to each. `place` is the object
 * that has the list, or NULL. *n is 0 where there is no list, or an empty one. */
static vouch_status read_layers(const vouch_json *config, const json_t *place, const char *name, int32_t step,
                                int32_t numbers[MOST_TAPS], size_t *n, vouch_error *err)
{
    const json_t *ids = NULL;
    VOUCH_TRY(vouch_json_nested(config, place, name, JSON_ARRAY, &ids, err));
    *n = json_array_size(ids);
    for (size_t i = 0; i < *n; i++) {
        const json_t *id = json_array_get(ids, i);
        const json_int_t number = json_integer_value(id);
        if (*n > MOST_TAPS || !json_is_integer(id) || number < 0 || number >= INT_MAX)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s: expected a list of at most %d layer numbers", config->path,
                              name, MOST_TAPS);
        numbers[i] = (int32_t)number + step;
    }
    return VOUCH_OK;
}

/* At the top of config.json, eagle_aux_hidden_state_layer_ids means streams before layers, as vLLM counts. In
 * eagle_config it means streams after layers, as SGLang counts; so does target_layer_ids, DeepSpec's name. Without
 * numbers the head takes the usual layers. */
static vouch_status read_eagle3_layers(const vouch_json *config, const json_t *nested, vouch_gguf_writer *keys,
                                       vouch_error *err)
{
    static const char name[] = "eagle_aux_hidden_state_layer_ids", other[] = "target_layer_ids";
    int32_t numbers[MOST_TAPS];
    size_t n;
    if (vouch_json_find(config->root, name)) VOUCH_TRY(read_layers(config, config->root, name, 0, numbers, &n, err));
    else if (vouch_json_find(config->root, other))
        VOUCH_TRY(read_layers(config, config->root, other, 1, numbers, &n, err));
    else VOUCH_TRY(read_layers(config, nested, name, 1, numbers, &n, err));
    if (n > 0) vouch_gguf_add_array(keys, "eagle3.target_layers", VOUCH_GGUF_I32, numbers, n);
    return VOUCH_OK;
}

/* Reads a flag from the top of config.json, or else from eagle_config. */
static vouch_status read_flag(const vouch_json *config, const json_t *nested, const char *name, const char *key,
                              bool usual, vouch_gguf_writer *keys, vouch_error *err)
{
    bool value = usual;
    VOUCH_TRY(vouch_json_bool(config, nested, name, &value, err));
    VOUCH_TRY(vouch_json_bool(config, config->root, name, &value, err));
    vouch_gguf_add_bool(keys, key, value);
    return VOUCH_OK;
}

/* What P-EAGLE's rows of masks need. vLLM's speculators say how many guesses the head was taught to give at once; 8 is
 * their usual number. */
static vouch_status read_masks(const vouch_json *config, vouch_gguf_writer *keys, vouch_error *err)
{
    const json_t *root = config->root, *speculators = NULL, *methods = NULL;
    const char *type = "";
    int64_t token = -1, n = 8;
    bool is_parallel = false;
    VOUCH_TRY(vouch_json_text(config, root, "speculators_model_type", false, &type, err));
    VOUCH_TRY(vouch_json_bool(config, root, "parallel_drafting", &is_parallel, err));
    is_parallel |= strcmp(type, "peagle") == 0;
    VOUCH_TRY(vouch_json_int(config, root, "mask_token_id|ptd_token_id", is_parallel, 0, INT_MAX, &token, err));
    if (token < 0) return VOUCH_OK;
    VOUCH_TRY(vouch_json_nested(config, root, "speculators_config", JSON_OBJECT, &speculators, err));
    VOUCH_TRY(vouch_json_nested(config, speculators, "proposal_methods", JSON_ARRAY, &methods, err));
    const json_t *first = json_array_get(methods, 0);
    if (json_is_object(first)) VOUCH_TRY(vouch_json_int(config, first, "speculative_tokens", false, 1, 64, &n, err));
    vouch_gguf_add_u32(keys, "eagle3.parallel_depths", (uint32_t)n);
    vouch_gguf_add_u32(keys, "tokenizer.ggml.mask_token_id", (uint32_t)token);
    return VOUCH_OK;
}

static vouch_status read_eagle3(const vouch_json *config, vouch_gguf_writer *keys, vouch_error *err)
{
    const json_t *root = config->root, *nested = NULL;
    int64_t width = 0;
    VOUCH_TRY(vouch_json_nested(config, root, "eagle_config", JSON_OBJECT, &nested, err));
    VOUCH_TRY(vouch_json_int(config, root, "target_hidden_size", false, 1, 1 << 20, &width, err));
    if (width > 0) vouch_gguf_add_u32(keys, "eagle3.target_hidden_size", (uint32_t)width);
    const bool is_speculators = vouch_json_find(root, "speculators_model_type") != NULL; /* its default differs */
    VOUCH_TRY(read_flag(config, nested, "norm_before_residual", "eagle3.norm_before_residual", is_speculators, keys,
                        err));
    VOUCH_TRY(read_flag(config, nested, "norm_before_fc", "eagle3.norm_before_fc", false, keys, err));
    VOUCH_TRY(read_flag(config, nested, "norm_output", "eagle3.norm_output", false, keys, err));
    VOUCH_TRY(read_masks(config, keys, err));
    return read_eagle3_layers(config, nested, keys, err);
}

static vouch_status unsupported(const vouch_json *config, const char *problem, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s, which vouch doesn't support in a folder of such heads",
                      config->path, problem);
}

/* The streams that a block's head reads: target_layer_ids means streams after layers; aux_hidden_state_layer_ids, of
 * vLLM's speculators, streams before them. */
static vouch_status read_block_layers(const vouch_json *config, vouch_gguf_writer *keys, vouch_error *err)
{
    static const char name[] = "target_layer_ids", other[] = "aux_hidden_state_layer_ids";
    int32_t numbers[MOST_TAPS];
    size_t n;
    if (vouch_json_find(config->root, name)) VOUCH_TRY(read_layers(config, config->root, name, 1, numbers, &n, err));
    else VOUCH_TRY(read_layers(config, config->root, other, 0, numbers, &n, err));
    if (n == 0) return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is missing", config->path, name);
    vouch_gguf_add_array(keys, "dflash.target_layers", VOUCH_GGUF_I32, numbers, n);
    return VOUCH_OK;
}

/* How many layers have a window, of those that layer_types names. */
static size_t count_windows(const vouch_json *config, size_t *n_layers)
{
    const json_t *types = vouch_json_find(config->root, "layer_types");
    size_t n_windows = 0;
    *n_layers = json_array_size(types);
    for (size_t i = 0; i < *n_layers; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        n_windows += type && strcmp(type, "sliding_attention") == 0;
    }
    return n_windows;
}

/* Settings of vLLM's speculators that would need other rows or masks. */
static vouch_status check_speculators(const vouch_json *config, const char *type, bool from_anchor, vouch_error *err)
{
    const json_t *root = config->root;
    int64_t rank = strcmp(type, "dspark") == 0 ? 256 : 0;
    size_t n_layers;
    bool sees_all = false;
    VOUCH_TRY(vouch_json_int(config, root, "markov_rank", false, 0, INT_MAX, &rank, err));
    VOUCH_TRY(vouch_json_bool(config, root, "sliding_window_non_causal", &sees_all, err));
    if (from_anchor && rank == 0)
        return unsupported(config, "sample_from_anchor is true without a Markov matrix (markov_rank)", err);
    if (count_windows(config, &n_layers) > 0 && !sees_all)
        return unsupported(config, "layer_types has windows, and sliding_window_non_causal is false", err);
    return VOUCH_OK;
}

/* Numbers that scale the block's input, its values and its logits; vouch_hf_config_read has the cap of the logits. */
static vouch_status read_block_scales(const vouch_json *config, vouch_gguf_writer *keys, vouch_error *err)
{
    static const char *const scales[][2] = {{"attention_value_scale", "dflash.attention.value_scale"},
                                            {"input_embedding_scale", "dflash.embedding_scale"},
                                            {"output_multiplier", "dflash.logit_scale"}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        double value = 0;
        VOUCH_TRY(vouch_json_float(config, config->root, scales[i][0], false, 0, 1e6, &value, err));
        if (value > 0) vouch_gguf_add_f32(keys, scales[i][1], (float)value);
    }
    return VOUCH_OK;
}

/* DFlash2's sizes. *is_there: does the head have a selector? */
static vouch_status read_selector(const vouch_json *config, vouch_gguf_writer *keys, bool *is_there, vouch_error *err)
{
    static const char *const names[] = {"conv_kernel_size", "conv_group_size", "selector_rank", "selector_top_k"};
    *is_there = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        *is_there |= vouch_json_find(config->root, names[i]) != NULL;
    for (size_t i = 0; *is_there && i < sizeof names / sizeof names[0]; i++) {
        char key[64];
        int64_t value = 0;
        VOUCH_TRY(vouch_json_int(config, config->root, names[i], true, 0, INT_MAX, &value, err));
        snprintf(key, sizeof key, "dflash.%s", names[i]);
        vouch_gguf_add_u32(keys, key, (uint32_t)value);
    }
    return VOUCH_OK;
}

/* Does a row see no row after it? Where nothing says it, DFlash2's layers with a window are causal and the others are
 * not; all layers of a block here are one or the other. */
static vouch_status read_causal(const vouch_json *config, bool has_selector, vouch_gguf_writer *keys, vouch_error *err)
{
    static const char names[] = "is_causal|causal";
    size_t n_layers = 0;
    bool sees_all = false;
    VOUCH_TRY(vouch_json_bool(config, config->root, "sliding_window_non_causal", &sees_all, err)); /* speculators */
    const size_t n_windows = has_selector && !sees_all ? count_windows(config, &n_layers) : 0;
    if (n_windows > 0 && n_windows < n_layers && !vouch_json_find(config->root, names))
        return unsupported(config, "layer_types has windows in some layers, and is_causal is missing", err);
    return read_flag(config, NULL, names, "dflash.attention.causal", n_windows > 0, keys, err);
}

static vouch_status read_block(const vouch_json *config, vouch_gguf_writer *keys, vouch_error *err)
{
    const json_t *root = config->root;
    const char *markov = "vanilla", *type = "";
    int64_t n_rows = 16, mask = 0;
    bool has_selector = false, splits_halves = true;
    VOUCH_TRY(vouch_json_text(config, root, "speculators_model_type", false, &type, err));
    VOUCH_TRY(vouch_json_text(config, root, "markov_head_type", false, &markov, err));
    VOUCH_TRY(vouch_json_bool(config, root, "rope_is_neox_style", &splits_halves, err));
    if (strcmp(markov, "vanilla") != 0) return unsupported(config, "markov_head_type isn't vanilla", err);
    if (!splits_halves) return unsupported(config, "rope_is_neox_style is false", err);
    VOUCH_TRY(read_block_scales(config, keys, err));
    VOUCH_TRY(read_selector(config, keys, &has_selector, err));
    VOUCH_TRY(read_causal(config, has_selector, keys, err));
    VOUCH_TRY(vouch_json_int(config, root, "block_size", false, 0, INT_MAX, &n_rows, err));
    VOUCH_TRY(vouch_json_int(config, root, "mask_token_id", true, 0, INT_MAX, &mask, err));
    const bool is_speculators = *type || vouch_json_find(root, "transformer_layer_config") ||
                                vouch_json_find(root, "aux_hidden_state_layer_ids");
    bool from_anchor = !is_speculators || strcmp(type, "dspark") == 0;
    VOUCH_TRY(vouch_json_bool(config, root, "sample_from_anchor", &from_anchor, err));
    if (*type) VOUCH_TRY(check_speculators(config, type, from_anchor, err));
    vouch_gguf_add_bool(keys, "dflash.sample_from_anchor", from_anchor);
    vouch_gguf_add_u32(keys, "dflash.block_size", (uint32_t)n_rows);
    vouch_gguf_add_u32(keys, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
    return read_block_layers(config, keys, err);
}

/* vLLM's speculators have more kinds of heads than those that vouch runs. */
static vouch_status check_speculators_type(const vouch_json *config, vouch_error *err)
{
    static const char *const known[] = {"", "eagle3", "peagle", "dflash", "dflash2", "dspark"};
    const char *type = "";
    char problem[100];
    VOUCH_TRY(vouch_json_text(config, config->root, "speculators_model_type", false, &type, err));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(type, known[i]) == 0) return VOUCH_OK;
    snprintf(problem, sizeof problem, "speculators_model_type is '%.40s'", type);
    return unsupported(config, problem, err);
}

/* Copies the members of a nested object to the top; those at the top stay. */
static vouch_status raise(const vouch_json *config, const char *name, vouch_error *err)
{
    const json_t *nested = NULL;
    VOUCH_TRY(vouch_json_nested(config, config->root, name, JSON_OBJECT, &nested, err));
    if (!nested || json_object_update_missing(config->root, (json_t *)(uintptr_t)nested) == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", config->path);
}

/* use_swa gives all layers a window of swa_window_size. Its members become those that other heads have. */
static vouch_status spread_window(const vouch_json *config, vouch_error *err)
{
    bool has_windows = false;
    int64_t window = 0, n_layers = 0;
    VOUCH_TRY(vouch_json_bool(config, config->root, "use_swa", &has_windows, err));
    if (!has_windows) return VOUCH_OK;
    VOUCH_TRY(vouch_json_int(config, config->root, "swa_window_size|sliding_window", true, 1, INT_MAX, &window, err));
    VOUCH_TRY(vouch_json_int(config, config->root, "num_hidden_layers", true, 1, VOUCH_HF_MOST_LAYERS, &n_layers, err));
    json_t *types = json_array();
    bool ok = types != NULL;
    for (int64_t i = 0; i < n_layers; i++)
        ok = ok && json_array_append_new(types, json_string("sliding_attention")) == 0;
    ok = ok && json_object_set(config->root, "layer_types", types) == 0 &&
         json_object_set_new(config->root, "sliding_window", json_integer(window)) == 0 &&
         json_object_set_new(config->root, "use_sliding_window", json_true()) == 0;
    json_decref(types);
    return ok ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", config->path);
}

/* sliding_window means nothing where no layer uses it: layer_types says which do, or use_sliding_window. */
static void drop_unused_window(const vouch_json *config)
{
    const bool is_used = json_is_true(json_object_get(config->root, "use_sliding_window"));
    if (!is_used && !vouch_json_find(config->root, "layer_types")) json_object_del(config->root, "sliding_window");
}

/* DFlash's settings are in dflash_config, DSpark's at the top. Puts all at the top. */
static vouch_status raise_block(const vouch_json *config, vouch_error *err)
{
    const json_t *nested = NULL;
    VOUCH_TRY(vouch_json_nested(config, config->root, "dflash_config", JSON_OBJECT, &nested, err));
    if (nested && json_object_update(config->root, (json_t *)(uintptr_t)nested) != 0)
        return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", config->path);
    VOUCH_TRY(spread_window(config, err));
    drop_unused_window(config);
    return VOUCH_OK;
}

vouch_status vouch_hf_head_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                vouch_hf_shape *shape, vouch_error *err)
{
    if (family == &medusa_family) { /* its tensors say everything */
        *shape = (vouch_hf_shape){.n_heads = 1, .n_kv_heads = 1};
        vouch_gguf_add_text(keys, "general.architecture", family->arch);
        return VOUCH_OK;
    }
    if (family == &assistant_family) {
        VOUCH_TRY(vouch_hf_gemma4_read(config, family, keys, shape, err));
        shape->is_tied = shape->is_untied = false;
        return VOUCH_OK;
    }
    VOUCH_TRY(check_speculators_type(config, err));
    VOUCH_TRY(raise(config, "transformer_layer_config", err)); /* speculators */
    if (json_is_object(vouch_json_find(config->root, "model"))) VOUCH_TRY(raise(config, "model", err)); /* vLLM */
    if (family == &dflash_family) VOUCH_TRY(raise_block(config, err));
    VOUCH_TRY(vouch_hf_config_read(config, family, keys, shape, err));
    shape->is_tied = shape->is_untied = false; /* without an output matrix of its own a head has the target's */
    if (family == &dflash_family) return read_block(config, keys, err);
    return family == &eagle3_family ? read_eagle3(config, keys, err) : VOUCH_OK;
}
