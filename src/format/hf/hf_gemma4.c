/* SPDX-License-Identifier: MIT */
/*
 * Gemma 4 has layers with a window and layers without one, which layer_types tells apart:
 *
 *                     with a window                  without
 *   head width        head_dim                       global_head_dim
 *   key-value heads   num_key_value_heads            num_global_key_value_heads, if attention_k_eq_v
 *   rotation          rope_parameters                rope_parameters
 *                       .sliding_attention             .full_attention, mostly of a quarter of the pairs
 *
 * Newer files have no global_head_dim and num_global_key_value_heads. Their per_layer_config gives the head_dim and
 * num_key_value_heads of each layer that differs from the others. An assistant's config.json has the same members, and
 * a few more.
 */
#include "format/hf/hf_gemma4.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "format/hf/hf_reader.h"
#include "format/hf/hf_rope.h"

typedef struct layer_sizes {
    int64_t n_layers;
    bool is_full[VOUCH_HF_MOST_LAYERS]; /* the layer has no window */
    int32_t head_dim[VOUCH_HF_MOST_LAYERS], n_kv_heads[VOUCH_HF_MOST_LAYERS];
} layer_sizes;

typedef struct rotation {
    double theta, factor; /* base and divisor of the frequencies */
    double share;         /* of a head's pairs that rotate */
} rotation;

static vouch_status read_int(const hf_reader *r, const char *name, bool required, int64_t least, int64_t most,
                             int64_t *value)
{
    return vouch_json_int(r->config, r->config->root, name, required, least, most, value, r->err);
}

static vouch_status read_flag(const vouch_json *config, const char *name, bool *value, vouch_error *err)
{
    return vouch_json_bool(config, config->root, name, value, err);
}

/* ------------------------------------------------------------------- sizes */

/* False past the end of the list, too. */
static bool is_full(const json_t *types, int64_t layer)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));
    return type && strcmp(type, "full_attention") == 0;
}

static vouch_status read_types(const hf_reader *r, layer_sizes *sizes)
{
    const json_t *types = NULL;
    int64_t n_windows = 0, window;
    VOUCH_TRY(read_int(r, "num_hidden_layers", true, 1, VOUCH_HF_MOST_LAYERS, &sizes->n_layers));
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "layer_types", JSON_ARRAY, &types, r->err));
    if (!types) return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types is missing", r->config->path);
    for (int64_t i = 0; i < sizes->n_layers; i++) {
        sizes->is_full[i] = is_full(types, i);
        n_windows += !sizes->is_full[i];
    }
    if (json_array_size(types) == (size_t)sizes->n_layers && !sizes->is_full[sizes->n_layers - 1])
        return hf_unsupported(r, "layer_types gives the last layer a window");
    return n_windows > 0 ? read_int(r, "sliding_window", true, 1, 1 << 30, &window) : VOUCH_OK;
}

/* One layer's member of per_layer_config. Other members may only repeat what all layers have. */
static vouch_status read_override(const hf_reader *r, const char *number, const json_t *own, layer_sizes *sizes)
{
    char *end;
    const char *name;
    json_t *value;
    const long layer = strtol(number, &end, 10);
    if (end == number || *end || layer < 0 || layer >= sizes->n_layers || !json_is_object(own))
        return vouch_fail(r->err, VOUCH_E_FORMAT,
                          "%s: per_layer_config: '%.20s' isn't an object named by a layer, 0 to %lld", r->config->path,
                          number, (long long)sizes->n_layers - 1);
    json_object_foreach((json_t *)(uintptr_t)own, name, value) {
        char problem[100];
        int64_t size = 0;
        int32_t *place = strcmp(name, "head_dim") == 0              ? sizes->head_dim
                         : strcmp(name, "num_key_value_heads") == 0 ? sizes->n_kv_heads
                                                                    : NULL;
        snprintf(problem, sizeof problem, "per_layer_config has %.40s", name);
        if (!place && !json_equal(value, json_object_get(r->config->root, name))) return hf_unsupported(r, problem);
        if (!place || json_is_null(value)) continue;
        VOUCH_TRY(vouch_json_int(r->config, own, name, true, 1, 1 << 16, &size, r->err));
        place[layer] = (int32_t)size;
    }
    return VOUCH_OK;
}

static vouch_status read_sizes(const hf_reader *r, layer_sizes *sizes)
{
    const json_t *root = r->config->root, *layers = NULL;
    const char *number;
    json_t *own;
    bool keys_are_values = false;
    int64_t head_dim = 256, n_kv_heads, full_dim = 512, n_full_kv_heads;
    VOUCH_TRY(read_types(r, sizes));
    VOUCH_TRY(read_int(r, "head_dim", false, 2, 1024, &head_dim));
    VOUCH_TRY(read_int(r, "num_key_value_heads", true, 1, 1 << 16, &n_kv_heads));
    n_full_kv_heads = n_kv_heads;
    VOUCH_TRY(read_flag(r->config, "attention_k_eq_v", &keys_are_values, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, root, "per_layer_config", JSON_OBJECT, &layers, r->err));
    if (json_object_get(root, "per_layer_config")) full_dim = head_dim;
    else {
        VOUCH_TRY(read_int(r, "global_head_dim", false, 2, 1024, &full_dim));
        if (keys_are_values) VOUCH_TRY(read_int(r, "num_global_key_value_heads", false, 1, 1 << 16, &n_full_kv_heads));
    }
    for (int64_t i = 0; i < sizes->n_layers; i++) {
        sizes->head_dim[i] = (int32_t)(sizes->is_full[i] ? full_dim : head_dim);
        sizes->n_kv_heads[i] = (int32_t)(sizes->is_full[i] ? n_full_kv_heads : n_kv_heads);
    }
    json_object_foreach((json_t *)(uintptr_t)layers, number, own) VOUCH_TRY(read_override(r, number, own, sizes));
    return VOUCH_OK;
}

/* Adds the width of a type's heads, which all its layers share. */
static vouch_status add_head_dim(const hf_reader *r, const layer_sizes *sizes, bool full, int64_t *head_dim)
{
    for (int64_t i = 0; i < sizes->n_layers; i++) {
        if (sizes->is_full[i] != full) continue;
        if (*head_dim > 0 && sizes->head_dim[i] != *head_dim)
            return hf_unsupported(r, "layers of one type (layer_types) have heads of several widths");
        *head_dim = sizes->head_dim[i];
    }
    if (*head_dim > 1024 || *head_dim % 2 != 0)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: a head is %lld wide; expected an even number up to 1024",
                          r->config->path, (long long)*head_dim);
    if (*head_dim == 0) *head_dim = 256; /* no layer is of this type */
    hf_add_int(r, full ? "attention.key_length" : "attention.key_length_swa", *head_dim);
    hf_add_int(r, full ? "attention.value_length" : "attention.value_length_swa", *head_dim);
    hf_add_int(r, full ? "rope.dimension_count" : "rope.dimension_count_swa", *head_dim);
    return VOUCH_OK;
}

/* ---------------------------------------------------------------- rotation */

/* "proportional" rotates the first pairs of a head only. */
static vouch_status read_rotation(const hf_reader *r, const char *type, rotation *out)
{
    const json_t *all = NULL, *rope = NULL;
    const char *kind = "default";
    char problem[160], place[64];
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "rope_parameters", JSON_OBJECT, &all, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, all, type, JSON_OBJECT, &rope, r->err));
    if (!rope) return VOUCH_OK;
    snprintf(place, sizeof place, "rope_parameters.%s", type);
    VOUCH_TRY(vouch_hf_rope_members(r, place, rope));
    VOUCH_TRY(vouch_json_text(r->config, rope, "rope_type", false, &kind, r->err));
    VOUCH_TRY(vouch_json_float(r->config, rope, "rope_theta", false, 1, 1e12, &out->theta, r->err));
    out->share = 1;
    if (strcmp(kind, "default") == 0) return VOUCH_OK;
    snprintf(problem, sizeof problem, "%s.rope_type is '%.40s'", place, kind);
    if (strcmp(kind, "proportional") != 0) return hf_unsupported(r, problem);
    VOUCH_TRY(vouch_json_float(r->config, rope, "factor", false, 1e-3, 1e6, &out->factor, r->err));
    return vouch_json_float(r->config, rope, "partial_rotary_factor", false, 0, 1, &out->share, r->err);
}

/* GGUF has divisors for layers without a window; 1e30 stops a pair's rotation. */
static void add_factors(const rotation *full, int64_t head_dim, vouch_hf_shape *shape)
{
    const int64_t n_rotated = (int64_t)(full->share * (double)head_dim / 2);
    if (full->share == 1 && full->factor == 1) return;
    shape->n_factors = head_dim / 2;
    for (int64_t i = 0; i < shape->n_factors; i++) shape->factors[i] = i < n_rotated ? (float)full->factor : 1e30f;
}

/* --------------------------------------------------------------- GGUF keys */

/* The embeddings of each layer's own input have a row for each token. */
static vouch_status check_input_rows(const hf_reader *r, int64_t n_inputs)
{
    int64_t n_vocab = 0, n_rows = 262144;
    char problem[160];
    VOUCH_TRY(read_int(r, "vocab_size", true, 1, 1 << 28, &n_vocab));
    VOUCH_TRY(read_int(r, "vocab_size_per_layer_input", false, 1, 1 << 28, &n_rows));
    snprintf(problem, sizeof problem,
             "hidden_size_per_layer_input is %lld, vocab_size_per_layer_input is %lld, and vocab_size %lld",
             (long long)n_inputs, (long long)n_rows, (long long)n_vocab);
    return n_inputs > 0 && n_rows != n_vocab ? hf_unsupported(r, problem) : VOUCH_OK;
}

/* Without enable_moe_block transformers ignores the sizes of experts. */
static vouch_status check_experts(const hf_reader *r)
{
    static const char *const sizes[] = {"num_experts", "top_k_experts", "moe_intermediate_size"};
    bool has_experts = false;
    VOUCH_TRY(read_flag(r->config, "enable_moe_block", &has_experts, r->err));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t size;
        if (has_experts && !vouch_json_find(r->config->root, sizes[i]))
            return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: enable_moe_block is true, but %s is missing",
                              r->config->path, sizes[i]);
        if (has_experts) VOUCH_TRY(read_int(r, sizes[i], true, 1, 1 << 23, &size));
        else json_object_del(r->config->root, sizes[i]);
    }
    return VOUCH_OK;
}

/* A target's numbers. In layers that share keys and values the feed-forward network may be twice as wide. */
static vouch_status add_target(const hf_reader *r, const layer_sizes *sizes)
{
    const int64_t n = sizes->n_layers;
    int64_t n_sharing = 0, n_inputs = 0, n_ff;
    int32_t n_ffs[VOUCH_HF_MOST_LAYERS];
    bool is_double = false, is_even = true;
    char name[96];
    VOUCH_TRY(read_int(r, "num_kv_shared_layers", false, 0, n - 1, &n_sharing));
    VOUCH_TRY(read_int(r, "hidden_size_per_layer_input", false, 0, 1 << 16, &n_inputs));
    VOUCH_TRY(read_int(r, "intermediate_size", true, 1, 1 << 23, &n_ff));
    VOUCH_TRY(read_flag(r->config, "use_double_wide_mlp", &is_double, r->err));
    for (int64_t i = 0; i < n; i++) {
        n_ffs[i] = (int32_t)(i < n - n_sharing ? n_ff : 2 * n_ff);
        is_even &= sizes->n_kv_heads[i] == sizes->n_kv_heads[0];
    }
    VOUCH_TRY(check_input_rows(r, n_inputs));
    VOUCH_TRY(check_experts(r));
    hf_add_int(r, "attention.shared_kv_layers", n_sharing);
    hf_add_int(r, "embedding_length_per_layer_input", n_inputs);
    if (!is_even)
        vouch_gguf_add_array(r->keys, hf_key(r, "attention.head_count_kv", name), VOUCH_GGUF_I32, sizes->n_kv_heads,
                             (size_t)n);
    if (is_double)
        vouch_gguf_add_array(r->keys, hf_key(r, "feed_forward_length", name), VOUCH_GGUF_I32, n_ffs, (size_t)n);
    return VOUCH_OK;
}

static vouch_status add_assistant(const hf_reader *r)
{
    int64_t target = 0, n_inputs = 0, n_best = 0;
    VOUCH_TRY(read_int(r, "backbone_hidden_size", true, 1, 1 << 20, &target));
    VOUCH_TRY(read_int(r, "hidden_size_per_layer_input", false, 0, 1 << 20, &n_inputs));
    VOUCH_TRY(read_int(r, "centroid_intermediate_top_k", false, 1, 1 << 20, &n_best));
    if (n_inputs > 0) return hf_unsupported(r, "hidden_size_per_layer_input isn't 0");
    hf_add_int(r, "embedding_length_out", target);
    if (n_best > 0) hf_add_int(r, "centroid_top_k", n_best);
    return VOUCH_OK;
}

vouch_status vouch_hf_gemma4_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                  vouch_hf_shape *shape, vouch_error *err)
{
    const hf_reader reader = {config, family, keys, shape, err}, *r = &reader;
    rotation full = {1e6, 1, 0.25}, window = {1e4, 1, 1};
    layer_sizes sizes = {0};
    int64_t full_dim = 0, window_dim = 0;
    const char *both_ways = "";
    VOUCH_TRY(read_sizes(r, &sizes));
    VOUCH_TRY(read_rotation(r, "full_attention", &full));
    VOUCH_TRY(read_rotation(r, "sliding_attention", &window));
    if (window.share < 1 || window.factor != 1)
        return hf_unsupported(r, "rope_parameters.sliding_attention: layers with a window rotate a part of a head, or "
                                 "more slowly");
    VOUCH_TRY(vouch_json_text(config, config->root, "use_bidirectional_attention", false, &both_ways, err));
    if (strcmp(both_ways, "all") == 0) return hf_unsupported(r, "use_bidirectional_attention is 'all'");
    VOUCH_TRY(add_head_dim(r, &sizes, true, &full_dim));
    VOUCH_TRY(add_head_dim(r, &sizes, false, &window_dim));
    hf_add_float(r, "rope.freq_base", full.theta);
    hf_add_float(r, "rope.freq_base_swa", window.theta);
    VOUCH_TRY(strcmp(family->arch, "gemma4") == 0 ? add_target(r, &sizes) : add_assistant(r));
    VOUCH_TRY(vouch_hf_config_read(config, family, keys, shape, err));
    add_factors(&full, full_dim, shape);
    return VOUCH_OK;
}

/* ----------------------------------------------------------------- tensors */

static bool has_tensor(const vouch_gguf *gguf, int64_t layer, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "blk.%lld.%s.weight", (long long)layer, name);
    return vouch_gguf_find_tensor(gguf, text) != NULL;
}

vouch_status vouch_hf_gemma4_check(const vouch_json *config, const vouch_gguf *gguf, vouch_error *err)
{
    const json_t *types = vouch_json_find(config->root, "layer_types");
    bool keys_are_values = false, has_experts = false;
    VOUCH_TRY(read_flag(config, "attention_k_eq_v", &keys_are_values, err));
    VOUCH_TRY(read_flag(config, "enable_moe_block", &has_experts, err));
    for (size_t i = 0; i < json_array_size(types); i++) {
        const int64_t layer = (int64_t)i;
        const bool lacks_values = keys_are_values && is_full(types, layer);
        if (has_tensor(gguf, layer, "attn_k") && has_tensor(gguf, layer, "attn_v") == lacks_values)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: attention_k_eq_v is %s, but layer %lld has %s v_proj",
                              config->path, keys_are_values ? "true" : "false", (long long)layer,
                              lacks_values ? "a" : "no");
        if (has_tensor(gguf, layer, "ffn_gate_inp") != has_experts)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: enable_moe_block is %s, but layer %lld has %s router",
                              config->path, has_experts ? "true" : "false", (long long)layer, has_experts ? "no" : "a");
    }
    return VOUCH_OK;
}
