/* SPDX-License-Identifier: MIT */
#include "format/hf_config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/angle.h"
#include "format/hf_reader.h"

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
} integers[] = {
    {"num_local_experts|num_experts", "expert_count"},
    {"num_experts_per_tok|experts_per_token|top_k_experts", "expert_used_count"},
    {"moe_intermediate_size", "expert_feed_forward_length"},
    {"shared_expert_intermediate_size|shared_intermediate_size", "expert_shared_feed_forward_length"},
}, floats[] = {
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

static vouch_status read_shape(const hf_reader *r)
{
    if (r->family->has_no_attention) return read_bare_shape(r);
    const json_t *root = r->config->root;
    vouch_hf_shape *s = r->shape;
    int64_t n_ctx = 0, n_ff;
    /* The feed-forward of these families is 4 n_embd wide where config.json doesn't say otherwise. */
    static const char *const wide[] = {"falcon", "gpt2", "starcoder", "bloom"};
    bool is_wide = false;
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) is_wide |= strcmp(r->family->arch, wide[i]) == 0;
    VOUCH_TRY(need(r, "num_hidden_layers|n_layer", VOUCH_HF_MOST_LAYERS, &s->n_layers));
    VOUCH_TRY(need(r, "hidden_size|n_embd|n_embed", 1 << 20, &s->n_embd));
    VOUCH_TRY(need(r, "num_attention_heads|n_head", 1 << 16, &s->n_heads));
    VOUCH_TRY(need(r, "vocab_size", 1 << 28, &s->n_vocab));
    VOUCH_TRY(need(r, "model_max_length|max_position_embeddings|n_positions|n_ctx|seq_length", INT_MAX / 2, &n_ctx));
    n_ff = 4 * s->n_embd;
    VOUCH_TRY(vouch_json_int(r->config, root, "intermediate_size|n_inner|ffn_hidden_size", !is_wide, 1, 1 << 24,
                              &n_ff, r->err));
    VOUCH_TRY(adjust_width(r, &n_ff));
    VOUCH_TRY(vouch_json_int(r->config, root, "num_local_experts|num_experts", false, 0, INT_MAX, &s->n_experts,
                             r->err));
    if (strcmp(r->family->arch, "granitehybrid") == 0 && s->n_experts == 0)
        VOUCH_TRY(need(r, "shared_intermediate_size", 1 << 24, &n_ff));
    s->n_kv_heads = s->n_heads;
    VOUCH_TRY(vouch_json_int(r->config, root, "num_key_value_heads|num_kv_heads|n_head_kv", false, 1, s->n_heads,
                             &s->n_kv_heads, r->err));
    VOUCH_TRY(read_sharing(r));
    s->head_dim = s->n_embd / s->n_heads;
    VOUCH_TRY(vouch_json_int(r->config, root, "head_dim", false, 2, 2 * VOUCH_HF_MOST_PAIRS, &s->head_dim, r->err));
    if (s->head_dim < 2 || s->head_dim > 2 * VOUCH_HF_MOST_PAIRS || s->n_heads % s->n_kv_heads != 0)
        return vouch_fail(r->err, VOUCH_E_FORMAT,
                          "%s: %lld heads of width %lld over %lld key-value heads; a width must be 2 to %d, and the "
                          "heads a multiple of the key-value heads",
                          r->config->path, (long long)s->n_heads, (long long)s->head_dim, (long long)s->n_kv_heads,
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

/* Does the list, with '|' between its words, have the word? */
static bool list_has(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (;; list++) {
        const size_t end = strcspn(list, "|");
        if (end == n && memcmp(list, word, n) == 0) return true;
        list += end;
        if (!*list) return false;
    }
}

static vouch_status check_quantisation(const hf_reader *r)
{
    const json_t *quantised = NULL;
    const char *method = "unknown";
    char problem[160];
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "quantization_config", JSON_OBJECT, &quantised, r->err));
    if (!quantised) return VOUCH_OK;
    VOUCH_TRY(vouch_json_text(r->config, quantised, "quant_method", false, &method, r->err));
    if (r->family->quantised && strcmp(method, r->family->quantised) == 0) return VOUCH_OK;
    snprintf(problem, sizeof problem, "the weights are quantised (quantization_config: %.40s)", method);
    return hf_unsupported(r, problem);
}

/* gpt-oss clamps its experts' activations. vouch computes them with limit 7 and slope 1.702 only. */
static vouch_status check_limit(const hf_reader *r)
{
    double limit = 7, slope = 1.702;
    VOUCH_TRY(vouch_json_float(r->config, r->config->root, "swiglu_limit", false, 0, 1e9, &limit, r->err));
    VOUCH_TRY(vouch_json_float(r->config, r->config->root, "swiglu_alpha", false, 0, 1e9, &slope, r->err));
    return limit == 7 && slope == 1.702
               ? VOUCH_OK
               : hf_unsupported(r, "swiglu_limit isn't 7, or swiglu_alpha not 1.702");
}

static vouch_status check_demands(const hf_reader *r)
{
    const json_t *root = r->config->root;
    const char *activation = NULL;
    char problem[160];
    VOUCH_TRY(vouch_json_text(r->config, root, "hidden_activation|hidden_act|activation_function|activation", false,
                              &activation, r->err));
    if (activation && !list_has(r->family->activations, activation)) {
        snprintf(problem, sizeof problem, "the activation is '%.40s'", activation);
        return hf_unsupported(r, problem);
    }
    for (size_t i = 0; i < VOUCH_HF_MOST_DEMANDS && r->family->demands[i].key; i++) {
        const vouch_hf_demand *d = &r->family->demands[i];
        bool value = d->value;
        VOUCH_TRY(vouch_json_bool(r->config, root, d->key, &value, r->err));
        snprintf(problem, sizeof problem, "%s is %s", d->key, value ? "true" : "false");
        if (value != d->value) return hf_unsupported(r, problem);
    }
    if (vouch_json_find(root, "clip_qkv") && strcmp(r->family->arch, "olmo") != 0)
        return hf_unsupported(r, "queries and keys are clamped (clip_qkv)");
    return check_quantisation(r);
}

/* Gemma before Gemma 4 divides scores by the root of query_pre_attn_scalar. GGUF has no key for it. So vouch
 * accepts only the number that llama.cpp computes: the head's width, or n_embd / n_heads in the 27B models. */
static vouch_status check_score_scale(const hf_reader *r)
{
    const vouch_hf_shape *s = r->shape;
    const bool is_27b = (strcmp(r->family->arch, "gemma2") == 0 && s->n_layers == 46) ||
                        (strcmp(r->family->arch, "gemma3") == 0 && s->n_layers == 62);
    const int64_t expected = is_27b ? s->n_embd / s->n_heads : s->head_dim;
    double scalar = (double)expected;
    char problem[160];
    VOUCH_TRY(vouch_json_float(r->config, r->config->root, "query_pre_attn_scalar", false, 0, 1e9, &scalar, r->err));
    snprintf(problem, sizeof problem, "query_pre_attn_scalar is %g and not %lld", scalar, (long long)expected);
    return scalar == (double)expected ? VOUCH_OK : hf_unsupported(r, problem);
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

static vouch_status read_windows(const hf_reader *r)
{
    const json_t *types = NULL, *root = r->config->root;
    const int64_t n = r->shape->n_layers;
    int64_t window = 0;
    bool is_regular = true;
    uint8_t flags[VOUCH_HF_MOST_LAYERS];
    char name[96];
    VOUCH_TRY(vouch_json_nested(r->config, root, "layer_types", JSON_ARRAY, &types, r->err));
    if (types && json_array_size(types) != (size_t)n)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types has %zu elements, expected one per layer: %lld",
                          r->config->path, json_array_size(types), (long long)n);
    for (int64_t i = 0; types && i < n; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));
        if (!type || (strcmp(type, "full_attention") != 0 && strcmp(type, "sliding_attention") != 0))
            return hf_unsupported(r, "layer_types has other types than full_attention and sliding_attention");
        flags[i] = strcmp(type, "sliding_attention") == 0;
        if (flags[i] != has_window(r->family, i)) is_regular = false;
    }
    if (r->family->window_period <= 1 && !is_regular)
        return hf_unsupported(r, "layer_types has windows in some layers");
    if (r->family->window_period == 0) return VOUCH_OK;
    int64_t period = r->family->window_period; /* older files state it (sliding_window_pattern) and have no
                                                  layer_types */
    if (period > 1 && !types)
        VOUCH_TRY(vouch_json_int(r->config, root, "sliding_window_pattern", false, period, period, &period, r->err));
    VOUCH_TRY(vouch_json_int(r->config, root, "sliding_window", false, 0, INT_MAX, &window, r->err));
    if (window > 0 || strcmp(r->family->arch, "phi3") == 0) hf_add_int(r, "attention.sliding_window", window);
    if (!is_regular)
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
    VOUCH_TRY(vouch_json_int(r->config, r->config->root, "attn_layer_offset", true, 0, period - 1, &offset, r->err));
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
    VOUCH_TRY(vouch_json_nested(r->config, root, "layer_types", JSON_ARRAY, &types, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, root, "full_attn_idxs", JSON_ARRAY, &full, r->err));
    if (vouch_json_find(root, "attn_layer_period")) VOUCH_TRY(read_period(r, heads));
    else if (!types && !full)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types is missing", r->config->path);
    if (types && json_array_size(types) != n)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: layer_types has %zu elements, expected one per layer: %zu",
                          r->config->path, json_array_size(types), n);
    for (size_t i = 0; types && i < n; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const bool is_full = type && list_has("attention|full_attention", type);
        if (!is_full && !(type && list_has("conv|mamba|linear_attention", type)))
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

/* time_step_limit may bound the rates of Mamba-2. vouch has no such bounds, so [0, infinity] is required. Newer files
 * write infinity as an object. */
static vouch_status check_rate_limit(const hf_reader *r)
{
    const json_t *limits = NULL;
    VOUCH_TRY(vouch_json_nested(r->config, r->config->root, "time_step_limit", JSON_ARRAY, &limits, r->err));
    const json_t *least = json_array_get(limits, 0), *most = json_array_get(limits, 1);
    const bool is_free = !limits || (json_number_value(least) == 0 && (!json_is_number(most) ||
                                                                      json_number_value(most) >= 1e6));
    return is_free ? VOUCH_OK : hf_unsupported(r, "time_step_limit limits the rates");
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
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const bool is_full = (int64_t)(i + 1) % interval == 0;
        if (!type || strcmp(type, is_full ? "full_attention" : "linear_attention") != 0)
            return hf_unsupported(r, "layer_types and full_attention_interval disagree");
    }
    if (n_values % s->n_groups != 0 || value_dim != s->delta_keys)
        return hf_unsupported(r,
                              "linear_num_value_heads is no multiple of linear_num_key_heads, or their widths differ");
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

/* ---------------------------------------------------------------- rotation */

static vouch_status rope_float(const hf_reader *r, const json_t *rope, const char *names, bool required, double min,
                               double max, double *value)
{
    return vouch_json_float(r->config, rope, names, required, min, max, value, r->err);
}

/* Llama 3: pairs of low frequency rotate `factor` times slower, pairs of high frequency as before. The factor changes
 * smoothly between them. */
static vouch_status read_llama3(const hf_reader *r, const json_t *rope, double theta)
{
    vouch_hf_shape *s = r->shape;
    double factor = 8, low = 1, high = 4, length = 8192;
    VOUCH_TRY(rope_float(r, rope, "factor", false, 1e-3, 1e6, &factor));
    VOUCH_TRY(rope_float(r, rope, "low_freq_factor", false, 1e-3, 1e6, &low));
    VOUCH_TRY(rope_float(r, rope, "high_freq_factor", false, 1e-3, 1e6, &high));
    VOUCH_TRY(rope_float(r, rope, "original_max_position_embeddings", false, 1, 1e9, &length));
    if (high <= low)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: high_freq_factor %g must exceed low_freq_factor %g",
                          r->config->path, high, low);
    s->n_factors = s->n_rot / 2;
    for (int64_t i = 0; i < s->n_factors; i++) {
        const double wave = 2 * 3.14159265358979323846 * vouch_power(theta, (double)(2 * i) / (double)s->n_rot);
        const double smooth = (length / wave - low) / (high - low);
        s->factors[i] = (float)(wave < length / high  ? 1
                                : wave > length / low ? factor
                                                      : 1 / ((1 - smooth) / factor + smooth));
    }
    return VOUCH_OK;
}

static vouch_status read_factors(const hf_reader *r, const json_t *rope, const char *name, float *factors)
{
    const json_t *list = NULL;
    vouch_hf_shape *s = r->shape;
    VOUCH_TRY(vouch_json_nested(r->config, rope, name, JSON_ARRAY, &list, r->err));
    if (json_array_size(list) != (size_t)s->n_rot / 2)
        return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: %s has %zu elements, expected %lld: one per rotated pair",
                          r->config->path, name, json_array_size(list), (long long)s->n_rot / 2);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *factor = json_array_get(list, i);
        factors[i] = (float)json_number_value(factor);
        if (!json_is_number(factor) || !(factors[i] >= 1e-6f && factors[i] <= 1e6f))
            return vouch_fail(r->err, VOUCH_E_FORMAT, "%s: %s: element %zu is no number from 1e-6 to 1e6",
                              r->config->path, name, i);
    }
    s->n_factors = s->n_rot / 2;
    return VOUCH_OK;
}

/* LongRoPE (arXiv 2402.13753): one set of frequency divisors within the original context, another beyond it. Queries
 * and keys grow by attn_factor. */
static vouch_status read_longrope(const hf_reader *r, const json_t *rope)
{
    double original = 0, longest = 0;
    const json_t *root = r->config->root;
    const json_t *place = vouch_json_find(rope, "original_max_position_embeddings") ? rope : root;
    VOUCH_TRY(rope_float(r, place, "original_max_position_embeddings", true, 2, 1e9, &original));
    VOUCH_TRY(rope_float(r, root, "max_position_embeddings", true, 1, 1e9, &longest));
    VOUCH_TRY(read_factors(r, rope, "short_factor", r->shape->factors));
    VOUCH_TRY(read_factors(r, rope, "long_factor", r->shape->long_factors));
    r->shape->has_long_factors = true;
    const double scale = longest / original;
    double growth = scale > 1 ? sqrt(1 + vouch_ln(scale) / vouch_ln(original)) : 1;
    VOUCH_TRY(rope_float(r, rope, "attention_factor", false, 1e-3, 1e3, &growth));
    hf_add_int(r, "rope.scaling.original_context_length", (int64_t)original);
    hf_add_float(r, "rope.scaling.attn_factor", growth);
    return VOUCH_OK;
}

/* Members of YaRN's scaling (arXiv 2309.00071) and the GGUF keys that get their values. */
static const struct {
    const char *from, *to;
} yarn[] = {
    {"extrapolation_factor", "rope.scaling.yarn_ext_factor"},
    {"beta_fast", "rope.scaling.yarn_beta_fast"},
    {"beta_slow", "rope.scaling.yarn_beta_slow"},
};

/* Hunyuan's "dynamic" scaling: `alpha` raises the base of RoPE, equally for all lengths (NTK-aware scaling). */
static bool is_ntk(const hf_reader *r, const json_t *rope)
{
    const char *type = json_string_value(vouch_json_find(rope, "rope_type|type"));
    return strcmp(r->family->arch, "hunyuan-dense") == 0 && type && strcmp(type, "dynamic") == 0 &&
           vouch_json_find(rope, "alpha");
}

static vouch_status read_scaling(const hf_reader *r, const json_t *rope, double theta)
{
    const char *type = "default";
    char name[96];
    double factor = 1, original = 0, growth = 0;
    VOUCH_TRY(vouch_json_text(r->config, rope, "rope_type|type", false, &type, r->err));
    if (strcmp(type, "default") == 0 || is_ntk(r, rope)) return VOUCH_OK;
    if (strcmp(type, "llama3") == 0) return read_llama3(r, rope, theta);
    if (strcmp(type, "longrope") == 0 || strcmp(type, "su") == 0) return read_longrope(r, rope);
    const bool is_yarn = strcmp(type, "yarn") == 0;
    if (!is_yarn && strcmp(type, "linear") != 0) {
        char problem[160];
        snprintf(problem, sizeof problem, "the rotation is scaled by '%.40s'", type);
        return hf_unsupported(r, problem);
    }
    VOUCH_TRY(rope_float(r, rope, "factor", true, 1e-3, 1e6, &factor));
    vouch_gguf_add_text(r->keys, hf_key(r, "rope.scaling.type", name), type);
    hf_add_float(r, "rope.scaling.factor", factor);
    if (!is_yarn) return VOUCH_OK;
    VOUCH_TRY(rope_float(r, rope, "original_max_position_embeddings", true, 1, 1e9, &original));
    hf_add_int(r, "rope.scaling.original_context_length", (int64_t)original);
    VOUCH_TRY(rope_float(r, rope, "attention_factor", false, 0, 1e3, &growth));
    if (growth > 0) hf_add_float(r, "rope.scaling.attn_factor", growth / (0.1 * vouch_ln(fmax(factor, 1)) + 1));
    for (size_t i = 0; i < sizeof yarn / sizeof yarn[0]; i++) {
        double value = NAN;
        VOUCH_TRY(rope_float(r, rope, yarn[i].from, false, -1, 1e6, &value));
        if (!isnan(value)) hf_add_float(r, yarn[i].to, value);
    }
    return VOUCH_OK;
}

/* Newer files have rope_parameters, or one such object for each type of layer. Older files have rope_scaling and
 * rope_theta. */
static vouch_status read_rotation(const hf_reader *r)
{
    const json_t *root = r->config->root, *rope = NULL, *full = NULL, *window = NULL;
    vouch_hf_shape *s = r->shape;
    double theta = 10000, window_theta = 0, share = 1, alpha = 1;
    VOUCH_TRY(vouch_json_nested(r->config, root, "rope_parameters|rope_scaling", JSON_OBJECT, &rope, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, rope, "full_attention", JSON_OBJECT, &full, r->err));
    VOUCH_TRY(vouch_json_nested(r->config, rope, "sliding_attention", JSON_OBJECT, &window, r->err));
    if (full) rope = full;
    const json_t *place = vouch_json_find(rope, "rope_theta") ? rope : root;
    VOUCH_TRY(rope_float(r, place, "rope_theta|rotary_emb_base", false, 1, 1e12, &theta));
    VOUCH_TRY(rope_float(r, window ? window : root, window ? "rope_theta" : "rope_local_base_freq", false, 1, 1e12,
                         &window_theta));
    place = vouch_json_find(rope, "partial_rotary_factor") ? rope : root;
    VOUCH_TRY(rope_float(r, place, "partial_rotary_factor|rotary_pct", false, 0, 1, &share));
    s->n_rot = (int64_t)(share * (double)s->head_dim);
    if (is_ntk(r, rope)) VOUCH_TRY(rope_float(r, rope, "alpha", true, 1, 1e6, &alpha));
    if (s->n_rot > 2) theta *= vouch_power(alpha, (double)s->n_rot / (double)(s->n_rot - 2));
    hf_add_int(r, "rope.dimension_count", s->n_rot);
    hf_add_float(r, "rope.freq_base", theta);
    if (window_theta != 0) hf_add_float(r, "rope.freq_base_swa", window_theta);
    return read_scaling(r, rope, theta);
}

vouch_status vouch_hf_config_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                  vouch_hf_shape *shape, vouch_error *err)
{
    const hf_reader r = {config, family, keys, shape, err};
    *shape = (vouch_hf_shape){.is_tied = false};
    vouch_gguf_add_text(keys, "general.architecture", family->arch);
    vouch_gguf_add_text(keys, "general.type", "model");
    VOUCH_TRY(check_demands(&r));
    VOUCH_TRY(read_shape(&r));
    if (!family->has_two_rotations) VOUCH_TRY(check_score_scale(&r));
    VOUCH_TRY(check_unrotated(&r));
    VOUCH_TRY(check_limit(&r));
    VOUCH_TRY(copy_numbers(&r));
    VOUCH_TRY(family->is_recurrent ? read_recurrent(&r) : read_windows(&r));
    if (!family->has_positions && !family->has_two_rotations) VOUCH_TRY(read_rotation(&r));
    if (strcmp(family->arch, "gptneox") == 0 || strcmp(family->arch, "stablelm") == 0) {
        bool is_parallel = true;
        char name[96];
        VOUCH_TRY(vouch_json_bool(config, config->root, "use_parallel_residual", &is_parallel, err));
        vouch_gguf_add_bool(keys, hf_key(&r, "use_parallel_residual", name), is_parallel);
    }
    VOUCH_TRY(vouch_json_bool(config, config->root, "tie_word_embeddings", &shape->is_tied, err));
    shape->is_untied = !shape->is_tied && vouch_json_find(config->root, "tie_word_embeddings");
    return VOUCH_OK;
}
