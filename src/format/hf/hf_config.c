/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/hf/hf_keys.h"
#include "format/hf/hf_reader.h"
#include "format/hf/hf_rope.h"

/* Adds a number, unless hf_gemma4.c has added it, or one for each layer. */
static void add_if_new(const hf_reader *r, const char *key, int64_t value)
{
    char name[96];
    if (!vouch_gguf_writer_has(r->keys, hf_key(r, key, name))) hf_add_int(r, key, value);
}

/* ------------------------------------------------------------------ numbers */

/* Members of config.json and the GGUF keys that get their values. */
static const struct {
    const char *from, *to;
} integers[] =
    {
        {"num_local_experts|num_experts", "expert_count"},
        {"num_experts_per_tok|experts_per_token|top_k_experts", "expert_used_count"},
        {"moe_intermediate_size", "expert_feed_forward_length"},
        {"shared_expert_intermediate_size|shared_intermediate_size", "expert_shared_feed_forward_length"},
},
  floats[] = {
      {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
      {"layer_norm_eps|layer_norm_epsilon|norm_epsilon|norm_eps", "attention.layer_norm_epsilon"},
      {"clip_qkv", "attention.clamp_kqv"},
      {"attn_logit_softcapping", "attn_logit_softcapping"},
      {"final_logit_softcapping", "final_logit_softcapping"},
      {"attention_multiplier", "attention.scale"},
      {"embedding_multiplier", "embedding_scale"},
      {"residual_multiplier", "residual_scale"},
      {"logits_scaling|logit_scale", "logit_scale"},
};

/* A null softcap is none; an absent one has the family's usual value. */
static bool is_off(const hf_reader *r, const char *name)
{
    return strstr(name, "softcapping") && json_is_null(json_object_get(r->config->root, name));
}

static vouch_status copy_numbers(const hf_reader *r)
{
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        int64_t value = -1;
        VOUCH_TRY(vouch_json_int(r->config, r->config->root, integers[i].from, false, 0, INT_MAX, &value, r->err));
        if (value >= 0) hf_add_int(r, integers[i].to, value);
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        double value = NAN;
        VOUCH_TRY(vouch_json_float(r->config, r->config->root, floats[i].from, false, -1e9, 1e9, &value, r->err));
        if (!isnan(value)) hf_add_float(r, floats[i].to, value);
        else if (is_off(r, floats[i].from)) hf_add_float(r, floats[i].to, 0);
    }
    return VOUCH_OK;
}

static vouch_status need(const hf_reader *r, const char *names, int64_t max, int64_t *value)
{
    return vouch_json_int(r->config, r->config->root, names, true, 1, max, value, r->err);
}

/* With multi_query all heads share one key and one value. With new_decoder_architecture (Falcon) num_kv_heads counts
 * instead. */
static vouch_status read_sharing(const hf_reader *r)
{
    bool is_grouped = false, is_shared = false;
    vouch_hf_shape *s = r->shape;
    VOUCH_TRY(vouch_json_bool(r->config, r->config->root, "new_decoder_architecture", &is_grouped, r->err));
    VOUCH_TRY(vouch_json_bool(r->config, r->config->root, "multi_query", &is_shared, r->err));
    if (!is_grouped && vouch_json_find(r->config->root, "multi_query")) s->n_kv_heads = is_shared ? 1 : s->n_heads;
    return VOUCH_OK;
}

static bool is_delta(const hf_reader *r)
{
    return strcmp(r->family->arch, "qwen3next") == 0 || strncmp(r->family->arch, "qwen35", 6) == 0;
}

/* LFM2's config.json states a feed-forward width that the model's code adjusts. This function adjusts it likewise. */
static vouch_status adjust_width(const hf_reader *r, int64_t *n_ff)
{
    const json_t *root = r->config->root;
    bool is_adjusted = false;
    double factor = 1;
    int64_t step = 256;
    VOUCH_TRY(vouch_json_bool(r->config, root, "block_auto_adjust_ff_dim", &is_adjusted, r->err));
    VOUCH_TRY(vouch_json_float(r->config, root, "block_ffn_dim_multiplier", false, 1e-3, 1e3, &factor, r->err));
    VOUCH_TRY(vouch_json_int(r->config, root, "block_multiple_of", false, 1, 1 << 20, &step, r->err));
    if (!is_adjusted) return VOUCH_OK;
    *n_ff = (int64_t)(factor * (double)(2 * *n_ff / 3));
    *n_ff = (*n_ff + step - 1) / step * step;
    return VOUCH_OK;
}

/* A family without attention: all layers are recurrent mixers. */
static vouch_status read_bare_shape(const hf_reader *r)
{
    vouch_hf_shape *s = r->shape;
    VOUCH_TRY(need(r, "num_hidden_layers|n_layer", VOUCH_HF_MOST_LAYERS, &s->n_layers));
    VOUCH_TRY(need(r, "hidden_size|d_model", 1 << 20, &s->n_embd));
    VOUCH_TRY(need(r, "vocab_size", 1 << 28, &s->n_vocab));
    hf_add_int(r, "block_count", s->n_layers);
    hf_add_int(r, "context_length", 1 << 20);
    hf_add_int(r, "embedding_length", s->n_embd);
    hf_add_int(r, "feed_forward_length", 0);
    hf_add_int(r, "attention.head_count", 0);
    hf_add_int(r, "vocab_size", s->n_vocab);
    return VOUCH_OK;
}

static vouch_status check_used(const hf_reader *r)
{
    static const char used[] = "num_experts_per_tok|experts_per_token|top_k_experts";
    const json_t *root = r->config->root;
    const long long n = (long long)r->shape->n_experts;
    int64_t n_used = 0;
    char name[64], of[64];
    VOUCH_TRY(vouch_json_int(r->config, root, used, false, 0, INT_MAX, &n_used, r->err));
    if (n_used <= n) return VOUCH_OK;
    return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: %s is %lld, but %s is %lld", r->config->path,
                      vouch_json_name(root, used, name), (long long)n_used,
                      vouch_json_name(root, "num_local_experts|num_experts", of), n);
}

static vouch_status read_shape(const hf_reader *r)
{
    if (r->family->has_no_attention) return read_bare_shape(r);
    const json_t *root = r->config->root;
    vouch_hf_shape *s = r->shape;
    int64_t n_ctx = 0, n_ff;
    /* The feed-forward of these families is 4 n_embd wide where config.json doesn't say otherwise. */
    static const char *const wide[] = {"falcon", "gpt2", "gptj", "starcoder", "bloom"};
    bool is_wide = false;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) is_wide |= strcmp(r->family->arch, wide[i]) == 0;
    VOUCH_TRY(need(r, "num_hidden_layers|n_layer", VOUCH_HF_MOST_LAYERS, &s->n_layers));
    VOUCH_TRY(need(r, "hidden_size|n_embd|n_embed", 1 << 20, &s->n_embd));
    VOUCH_TRY(need(r, "num_attention_heads|n_head", 1 << 16, &s->n_heads));
    VOUCH_TRY(need(r, "vocab_size", 1 << 28, &s->n_vocab));
    VOUCH_TRY(need(r, "max_position_embeddings|n_positions|n_ctx|seq_length", INT_MAX / 2, &n_ctx));
    n_ff = 4 * s->n_embd;
    is_wide |= vouch_json_find(root, "moe_intermediate_size") != NULL; /* no layer may be dense */
    VOUCH_TRY(vouch_json_int(r->config, root, "block_ff_dim|intermediate_size|n_inner|ffn_hidden_size", !is_wide, 1,
                             1 << 24, &n_ff, r->err));
    VOUCH_TRY(adjust_width(r, &n_ff));
    VOUCH_TRY(vouch_json_int(r->config, root, "num_local_experts|num_experts", false, 0, INT_MAX, &s->n_experts,
                             r->err));
    VOUCH_TRY(check_used(r));
    s->n_expert_ff = s->n_experts > 0 ? n_ff : 0;
    VOUCH_TRY(vouch_json_int(r->config, root, "moe_intermediate_size", false, 1, 1 << 24, &s->n_expert_ff, r->err));
    VOUCH_TRY(vouch_json_int(r->config, root, "shared_expert_intermediate_size|shared_intermediate_size", false, 0,
                             1 << 24, &s->n_shared_ff, r->err));
    if (strcmp(r->family->arch, "granitehybrid") == 0 && s->n_experts == 0)
        VOUCH_TRY(need(r, "shared_intermediate_size", 1 << 24, &n_ff));
    s->n_kv_heads = s->n_heads;
    VOUCH_TRY(vouch_json_int(r->config, root, "num_key_value_heads|num_kv_heads|n_head_kv", false, 1, 1 << 16,
                             &s->n_kv_heads, r->err));
    VOUCH_TRY(read_sharing(r));
    s->head_dim = s->n_embd / s->n_heads;
    VOUCH_TRY(vouch_json_int(r->config, root, "head_dim", false, 2, 2 * VOUCH_HF_MOST_PAIRS, &s->head_dim, r->err));
    if (s->head_dim < 2 || s->head_dim > 2 * VOUCH_HF_MOST_PAIRS || s->n_heads % s->n_kv_heads != 0)
        return vouch_fail(r->err, VOUCH_E_FORMAT,
                          "%s: num_attention_heads is %lld, num_key_value_heads %lld, head_dim %lld; expected a "
                          "multiple of the key-value heads, and a width of 2 to %d",
                          r->config->path, (long long)s->n_heads, (long long)s->n_kv_heads, (long long)s->head_dim,
                          2 * VOUCH_HF_MOST_PAIRS);
    hf_add_int(r, "block_count", s->n_layers);
    hf_add_int(r, "context_length", n_ctx);
    hf_add_int(r, "embedding_length", s->n_embd);
    add_if_new(r, "feed_forward_length", n_ff);
    hf_add_int(r, "attention.head_count", s->n_heads);
    if (!r->family->is_recurrent || is_delta(r)) add_if_new(r, "attention.head_count_kv", s->n_kv_heads);
    add_if_new(r, "attention.key_length", s->head_dim);
    add_if_new(r, "attention.value_length", s->head_dim);
    hf_add_int(r, "vocab_size", s->n_vocab);
    if (strcmp(r->family->arch, "falcon") == 0)
        vouch_gguf_add_text(r->keys, "falcon.tensor_data_layout", "jploski"); /* of VOUCH_HF_FUSED */
    return VOUCH_OK;
}

/* --------------------------------------------------------------- demands */

static vouch_status check_quantisation(const hf_reader *r)
{
    const json_t *quantised = NULL;
    const char *method = "unknown", *name;
    json_t *value;
    char problem[160];
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "quantization_config", JSON_OBJECT, &quantised, r->err));
    if (!quantised) return VOUCH_OK;
    VOUCH_TRY(vouch_json_text(r->config, quantised, "quant_method", false, &method, r->err));
    snprintf(problem, sizeof problem, "the weights are quantised (quantization_config: %.40s)", method);
    if (!r->family->quantised || strcmp(method, r->family->quantised) != 0) return hf_unsupported(r, problem);
    json_object_foreach((json_t *)(uintptr_t)quantised, name, value) {
        char text[64];
        snprintf(problem, sizeof problem, "quantization_config.%.60s is %s", name, vouch_hf_value(value, text));
        if (!vouch_hf_list_has("quant_method modules_to_not_convert dequantize", ' ', name))
            return hf_unsupported(r, problem);
    }
    return VOUCH_OK;
}

static vouch_status check_activation(const hf_reader *r)
{
    static const char names[] = "hidden_activation|hidden_act|activation_function|activation";
    const json_t *value = vouch_json_find(r->config->root, names);
    const char *activation = NULL;
    char problem[160], name[96], text[64];
    VOUCH_TRY(vouch_json_text(r->config, r->config->root, names, false, &activation, r->err));
    if (!activation) return VOUCH_OK;
    if (vouch_hf_list_has(r->family->activations, '|', activation)) {
        /* The class of Gemma 1 means the other GELU by this name. */
        if (strcmp(activation, "gelu") == 0 && strcmp(r->family->arch, "gemma") != 0)
            vouch_gguf_add_text(r->keys, hf_key(r, "hidden_activation", name), activation);
        return VOUCH_OK;
    }
    snprintf(problem, sizeof problem, "%s is %s", vouch_json_name(r->config->root, names, name),
             vouch_hf_value(value, text));
    return hf_unsupported(r, problem);
}

/* Gemma before Gemma 4 divides scores by the root of query_pre_attn_scalar. llama.cpp assumes the head's width, or
 * n_embd / n_heads in the 27B models, and has no key for another number. */
static vouch_status read_score_scale(const hf_reader *r)
{
    const vouch_hf_shape *s = r->shape;
    const bool is_27b = (strcmp(r->family->arch, "gemma2") == 0 && s->n_layers == 46) ||
                        (strcmp(r->family->arch, "gemma3") == 0 && s->n_layers == 62);
    const int64_t usual = is_27b ? s->n_embd / s->n_heads : s->head_dim;
    double scalar = (double)usual;
    VOUCH_TRY(vouch_json_float(r->config, r->config->root, "query_pre_attn_scalar", false, 1e-6, 1e9, &scalar, r->err));
    if (scalar != (double)usual) hf_add_float(r, "attention.scale", 1 / sqrt(scalar));
    return VOUCH_OK;
}

/* SmolLM3: no_rope_layers must have 0, no rotation, for every fourth layer and 1 for the others. */
static vouch_status check_unrotated(const hf_reader *r)
{
    const json_t *flags = NULL;
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "no_rope_layers", JSON_ARRAY, &flags, r->err));
    for (size_t i = 0; flags && i < (size_t)r->shape->n_layers; i++)
        if (json_integer_value(json_array_get(flags, i)) != ((i + 1) % 4 != 0))
            return hf_unsupported(r, "no_rope_layers is not every fourth layer");
    return VOUCH_OK;
}

/* --------------------------------------------------------------- windows */

static bool has_window(const vouch_hf_family *family, int64_t layer)
{
    const int32_t n = family->window_period;
    return n == 1 || (n > 1 && layer % n < n - 1);
}

/* Fills one flag for each layer: it has a window. layer_types says so; older files have sliding_window_pattern n, which
 * means all layers but n - 1, 2n - 1, ... */
static vouch_status read_flags(const hf_reader *r, uint8_t *flags)
{
    const json_t *types = NULL, *root = r->config->root;
    const int64_t n = r->shape->n_layers;
    int64_t period = 0;
    VOUCH_TRY(vouch_json_nested(r->config, root, "layer_types", JSON_ARRAY, &types, r->err));
    if (types && json_array_size(types) != (size_t)n)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types has %zu elements, expected one per layer: %lld",
                          r->config->path, json_array_size(types), (long long)n);
    if (!types) VOUCH_TRY(vouch_json_int(r->config, root, "sliding_window_pattern", false, 1, 4096, &period, r->err));
    for (int64_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));
        if (types && (!type || !vouch_hf_list_has("full_attention|sliding_attention", '|', type)))
            return hf_unsupported(r, "layer_types has other types than full_attention and sliding_attention");
        flags[i] = types        ? strcmp(type, "sliding_attention") == 0
                   : period > 0 ? (i + 1) % period != 0
                                : has_window(r->family, i);
    }
    return VOUCH_OK;
}

/* EXAONE 4: llama.cpp and vouch know windows in the model with 64 layers only. */
static vouch_status check_exaone4(const hf_reader *r)
{
    int64_t window = 0;
    char problem[128];
    VOUCH_TRY(vouch_json_int(r->config, r->config->root, "sliding_window", false, 0, INT_MAX, &window, r->err));
    snprintf(problem, sizeof problem, "sliding_window is %lld in a model without 64 layers", (long long)window);
    const bool has_key = vouch_json_find(r->config->root, "sliding_window") != NULL;
    return has_key && r->shape->n_layers != 64 ? hf_unsupported(r, problem) : VOUCH_OK;
}

static vouch_status read_windows(const hf_reader *r)
{
    const json_t *root = r->config->root;
    const int64_t n = r->shape->n_layers;
    const bool is_exaone4 = strcmp(r->family->arch, "exaone4") == 0;
    const bool has_key = vouch_json_find(root, "sliding_window") != NULL;
    int64_t window = 0;
    bool is_regular = true, has_any = false;
    uint8_t flags[VOUCH_HF_MOST_LAYERS];
    char name[96];
    VOUCH_TRY(read_flags(r, flags));
    for (int64_t i = 0; i < n; i++) {
        has_any |= flags[i] != 0;
        is_regular &= flags[i] == has_window(r->family, i);
    }
    if (is_exaone4) VOUCH_TRY(check_exaone4(r));
    if (is_exaone4 && !has_key && !has_any) return VOUCH_OK;
    if (r->family->window_period <= 1 && !is_regular)
        return hf_unsupported(r, "layer_types has windows in some layers");
    if (r->family->window_period == 0) return VOUCH_OK;
    const bool is_required = r->family->window_period > 1 && has_any && !r->family->is_head;
    if (is_required && !has_key && vouch_json_find(root, "layer_types"))
        return vouch_fail(r->err, VOUCH_E_FORMAT,
                          "%s: layer_types gives layers a window, but sliding_window is missing", r->config->path);
    VOUCH_TRY(vouch_json_int(r->config, root, "sliding_window", is_required, 1, INT_MAX, &window, r->err));
    if (window > 0 || strcmp(r->family->arch, "phi3") == 0) hf_add_int(r, "attention.sliding_window", window);
    if (!is_regular || (r->family->is_head && window > 0)) /* a head's file has no usual pattern */
        vouch_gguf_add_array(r->keys, hf_key(r, "attention.sliding_window_pattern", name), VOUCH_GGUF_BOOL, flags,
                             (size_t)n);
    return VOUCH_OK;
}

/* --------------------------------------------------------- recurrent layers */

/* Jamba: one layer in each attn_layer_period has attention, the others have Mamba. */
static vouch_status read_period(const hf_reader *r, int32_t heads[VOUCH_HF_MOST_LAYERS])
{
    int64_t period, offset = 0;
    VOUCH_TRY(need(r, "attn_layer_period", VOUCH_HF_MOST_LAYERS, &period));
    VOUCH_TRY(vouch_json_int(r->config, r->config->root, "attn_layer_offset", true, 0, VOUCH_HF_MOST_LAYERS, &offset,
                             r->err));
    if (offset >= period)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: attn_layer_offset is %lld, but attn_layer_period is %lld",
                          r->config->path, (long long)offset, (long long)period);
    for (int64_t i = offset; i < r->shape->n_layers; i += period) heads[i] = (int32_t)r->shape->n_kv_heads;
    return VOUCH_OK;
}

/* Finds the layers with attention: from layer_types, from full_attn_idxs in older files, or from a period. */
static vouch_status read_layer_types(const hf_reader *r)
{
    const json_t *types = NULL, *full = NULL, *root = r->config->root;
    int32_t heads[VOUCH_HF_MOST_LAYERS] = {0};
    char name[96];
    const size_t n = (size_t)r->shape->n_layers;
    VOUCH_TRY(vouch_json_nested(r->config, root, "layer_types|layers_block_type", JSON_ARRAY, &types, r->err));
    const json_t *others = vouch_json_find(root, "layers_block_type|layer_types");
    if (types && !json_equal(types, others)) return hf_unsupported(r, "layers_block_type isn't layer_types");
    VOUCH_TRY(vouch_json_nested(r->config, root, "full_attn_idxs", JSON_ARRAY, &full, r->err));
    if (vouch_json_find(root, "attn_layer_period")) VOUCH_TRY(read_period(r, heads));
    else if (!types && !full) return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types is missing", r->config->path);
    if (types && json_array_size(types) != n)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types has %zu elements, expected one per layer: %zu",
                          r->config->path, json_array_size(types), n);
    for (size_t i = 0; types && i < n; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const bool is_full = type && vouch_hf_list_has("attention|full_attention", '|', type);
        if (!is_full && !(type && vouch_hf_list_has("conv|mamba|linear_attention", '|', type)))
            return hf_unsupported(r, "layer_types has other types than attention, conv and mamba");
        if (is_full) heads[i] = (int32_t)r->shape->n_kv_heads;
    }
    for (size_t i = 0; !types && i < json_array_size(full); i++) {
        const json_int_t layer = json_integer_value(json_array_get(full, i));
        if (layer >= 0 && layer < (json_int_t)n) heads[layer] = (int32_t)r->shape->n_kv_heads;
    }
    vouch_gguf_add_array(r->keys, hf_key(r, "attention.head_count_kv", name), VOUCH_GGUF_I32, heads, n);
    return VOUCH_OK;
}

/* time_step_limit may bound the rates of Mamba-2. vouch has no such bounds, so they must be [0, 1e6] or wider. */
static vouch_status check_rate_limit(const hf_reader *r)
{
    const json_t *limits = NULL;
    double least = 1, most = 0;
    char problem[128], text[64];
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "time_step_limit", JSON_ARRAY, &limits, r->err));
    if (!limits) return VOUCH_OK;
    vouch_json_to_number(json_array_get(limits, 0), &least);
    vouch_json_to_number(json_array_get(limits, 1), &most);
    snprintf(problem, sizeof problem, "time_step_limit is %s", vouch_hf_value(limits, text));
    return least <= 0 && most >= 1e6 ? VOUCH_OK : hf_unsupported(r, problem);
}

static vouch_status read_mamba2(const hf_reader *r)
{
    const json_t *root = r->config->root;
    int64_t width, state, heads, head_dim;
    bool is_rotated = false;
    const char *positions = "nope";
    char name[96];
    r->shape->n_groups = 1;
    VOUCH_TRY(check_rate_limit(r));
    VOUCH_TRY(need(r, "mamba_d_conv|conv_kernel", 16, &width));
    VOUCH_TRY(need(r, "mamba_d_state|state_size", 4096, &state));
    VOUCH_TRY(need(r, "mamba_n_heads|num_heads", 1 << 16, &heads));
    VOUCH_TRY(need(r, "mamba_d_head|head_dim", 1 << 16, &head_dim));
    VOUCH_TRY(vouch_json_int(r->config, root, "mamba_n_groups|n_groups", false, 1, heads, &r->shape->n_groups, r->err));
    hf_add_int(r, "ssm.conv_kernel", width);
    hf_add_int(r, "ssm.inner_size", heads * head_dim);
    hf_add_int(r, "ssm.state_size", state);
    hf_add_int(r, "ssm.time_step_rank", heads);
    hf_add_int(r, "ssm.group_count", r->shape->n_groups);
    if (r->family->has_no_attention) return VOUCH_OK;
    VOUCH_TRY(vouch_json_text(r->config, root, "position_embedding_type", false, &positions, r->err));
    is_rotated = strcmp(positions, "rope") == 0;
    if (!is_rotated && strcmp(positions, "nope") != 0)
        return hf_unsupported(r, "a position_embedding_type other than rope and nope");
    vouch_gguf_add_bool(r->keys, hf_key(r, "rope.scaling.finetuned", name), is_rotated);
    return VOUCH_OK;
}

/* Mamba. mamba_dt_rank, the rank of W_step, may be "auto": n_embd / 16, rounded up. */
static vouch_status read_mamba(const hf_reader *r)
{
    const json_t *root = r->config->root;
    int64_t width, state, expand, rank = (r->shape->n_embd + 15) / 16;
    VOUCH_TRY(need(r, "mamba_d_conv", 16, &width));
    VOUCH_TRY(need(r, "mamba_d_state", 4096, &state));
    VOUCH_TRY(need(r, "mamba_expand", 64, &expand));
    if (!json_is_string(vouch_json_find(root, "mamba_dt_rank")))
        VOUCH_TRY(vouch_json_int(r->config, root, "mamba_dt_rank", false, 1, 1 << 20, &rank, r->err));
    hf_add_int(r, "ssm.conv_kernel", width);
    hf_add_int(r, "ssm.inner_size", expand * r->shape->n_embd);
    hf_add_int(r, "ssm.state_size", state);
    hf_add_int(r, "ssm.time_step_rank", rank);
    return VOUCH_OK;
}

static vouch_status read_lfm2(const hf_reader *r)
{
    int64_t width, n_dense = -1;
    double scale = 1;
    const json_t *root = r->config->root;
    VOUCH_TRY(need(r, "conv_L_cache", 16, &width));
    hf_add_int(r, "shortconv.l_cache", width);
    if (strcmp(r->family->arch, "lfm2moe") != 0) return VOUCH_OK;
    VOUCH_TRY(vouch_json_int(r->config, root, "num_dense_layers", true, 0, r->shape->n_layers, &n_dense, r->err));
    VOUCH_TRY(vouch_json_float(r->config, root, "routed_scaling_factor", false, 0, 1e6, &scale, r->err));
    hf_add_int(r, "leading_dense_block_count", n_dense);
    hf_add_int(r, "expert_gating_func", 2); /* sigmoid */
    hf_add_float(r, "expert_weights_scale", scale);
    return VOUCH_OK;
}

/* Every full_attention_interval-th layer has attention, the others have gated delta nets. */
static vouch_status read_delta_net(const hf_reader *r)
{
    const json_t *types = NULL;
    vouch_hf_shape *s = r->shape;
    int64_t interval, width, value_dim, n_values;
    VOUCH_TRY(need(r, "full_attention_interval", VOUCH_HF_MOST_LAYERS, &interval));
    VOUCH_TRY(need(r, "linear_conv_kernel_dim", 16, &width));
    VOUCH_TRY(need(r, "linear_num_key_heads", 4096, &s->n_groups));
    VOUCH_TRY(need(r, "linear_num_value_heads", 4096, &n_values));
    VOUCH_TRY(need(r, "linear_key_head_dim", 1024, &s->delta_keys));
    VOUCH_TRY(need(r, "linear_value_head_dim", 1024, &value_dim));
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "layer_types", JSON_ARRAY, &types, r->err));
    if (types && json_array_size(types) != (size_t)s->n_layers)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types has %zu elements, expected one per layer: %lld",
                          r->config->path, json_array_size(types), (long long)s->n_layers);
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const bool is_full = (int64_t)(i + 1) % interval == 0;
        if (!type || strcmp(type, is_full ? "full_attention" : "linear_attention") != 0)
            return hf_unsupported(r, "layer_types and full_attention_interval disagree");
    }
    if (n_values % s->n_groups != 0 || value_dim != s->delta_keys)
        return hf_unsupported(r,
                              "linear_num_value_heads is no multiple of linear_num_key_heads, or linear_key_head_dim "
                              "isn't linear_value_head_dim");
    s->values_per_key = n_values / s->n_groups;
    s->delta_values = s->values_per_key * value_dim;
    hf_add_int(r, "full_attention_interval", interval);
    hf_add_int(r, "ssm.conv_kernel", width);
    hf_add_int(r, "ssm.state_size", s->delta_keys);
    hf_add_int(r, "ssm.group_count", s->n_groups);
    hf_add_int(r, "ssm.time_step_rank", n_values);
    hf_add_int(r, "ssm.inner_size", n_values * value_dim);
    return VOUCH_OK;
}

/* llama.cpp reads the epsilon of these families from RMSNorm's key, whatever its name in config.json. */
static vouch_status read_recurrent(const hf_reader *r)
{
    if (is_delta(r)) return read_delta_net(r);
    double eps = 1e-5;
    const char *const names = "rms_norm_eps|norm_eps|layer_norm_epsilon";
    VOUCH_TRY(vouch_json_float(r->config, r->config->root, names, false, 1e-12, 1, &eps, r->err));
    if (!vouch_json_find(r->config->root, "rms_norm_eps")) hf_add_float(r, "attention.layer_norm_rms_epsilon", eps);
    if (!r->family->has_no_attention) VOUCH_TRY(read_layer_types(r));
    if (strcmp(r->family->arch, "jamba") == 0) return read_mamba(r);
    return strncmp(r->family->arch, "lfm2", 4) == 0 ? read_lfm2(r) : read_mamba2(r);
}

vouch_status vouch_hf_config_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                  vouch_hf_shape *shape, vouch_error *err)
{
    const hf_reader r = {config, family, keys, shape, err};
    *shape = (vouch_hf_shape){.is_tied = false};
    vouch_gguf_add_text(keys, "general.architecture", family->arch);
    vouch_gguf_add_text(keys, "general.type", "model");
    VOUCH_TRY(check_activation(&r));
    VOUCH_TRY(check_quantisation(&r));
    VOUCH_TRY(read_shape(&r));
    VOUCH_TRY(read_score_scale(&r));
    VOUCH_TRY(check_unrotated(&r));
    VOUCH_TRY(copy_numbers(&r));
    VOUCH_TRY(family->is_recurrent ? read_recurrent(&r) : read_windows(&r));
    if (!family->has_positions && !family->has_two_rotations) VOUCH_TRY(vouch_hf_rope_read(&r));
    if (strcmp(family->arch, "gptneox") == 0 || strcmp(family->arch, "stablelm") == 0) {
        bool is_parallel = true;
        char name[96];
        VOUCH_TRY(vouch_json_bool(config, config->root, "use_parallel_residual", &is_parallel, err));
        vouch_gguf_add_bool(keys, hf_key(&r, "use_parallel_residual", name), is_parallel);
    }
    VOUCH_TRY(vouch_json_bool(config, config->root, "tie_word_embeddings", &shape->is_tied, err));
    shape->is_untied = !shape->is_tied;
    return VOUCH_OK;
}
