/* SPDX-License-Identifier: MIT */
#include "format/hf_assistant.h"

#include <stdio.h>
#include <string.h>

#include "base/common.h"

/* What the two types of layers have. */
typedef struct layer_type {
    int64_t width; /* of a head */
    double theta;  /* of the rotation */
    double share;  /* of a head's pairs that rotate */
} layer_type;

static vouch_status unsupported(const vouch_json *config, const char *problem, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s, which vouch doesn't support in an assistant", config->path,
                      problem);
}

/* Layers without a window have heads of another width: global_head_dim, or per_layer_config in newer files. */
static vouch_status read_width(const vouch_json *config, int64_t *width, vouch_error *err)
{
    const json_t *layers = NULL;
    const char *number;
    json_t *own;
    VOUCH_TRY(vouch_json_int(config, config->root, "global_head_dim", false, 2, 1024, width, err));
    VOUCH_TRY(vouch_json_nested(config, config->root, "per_layer_config", JSON_OBJECT, &layers, err));
    json_object_foreach((json_t *)(uintptr_t)layers, number, own) {
        if (json_is_object(own)) return vouch_json_int(config, own, "head_dim", false, 2, 1024, width, err);
    }
    return VOUCH_OK;
}

/* The rotation of a type of layers. "proportional" rotates the first pairs of a head only. */
static vouch_status read_rotation(const vouch_json *config, const char *name, layer_type *type, vouch_error *err)
{
    const json_t *all = NULL, *rope = NULL;
    const char *kind = "default";
    char problem[100];
    VOUCH_TRY(vouch_json_nested(config, config->root, "rope_parameters", JSON_OBJECT, &all, err));
    VOUCH_TRY(vouch_json_nested(config, all, name, JSON_OBJECT, &rope, err));
    if (!rope) return VOUCH_OK;
    VOUCH_TRY(vouch_json_text(config, rope, "rope_type", false, &kind, err));
    VOUCH_TRY(vouch_json_float(config, rope, "rope_theta", false, 1, 1e12, &type->theta, err));
    type->share = 1;
    if (strcmp(kind, "default") == 0) return VOUCH_OK;
    snprintf(problem, sizeof problem, "the rotation is scaled by '%.40s'", kind);
    if (strcmp(kind, "proportional") != 0) return unsupported(config, problem, err);
    return vouch_json_float(config, rope, "partial_rotary_factor", false, 0, 1, &type->share, err);
}

/* GGUF divides the frequencies of the pairs that don't rotate by 1e30. */
static void add_factors(const layer_type *full, vouch_hf_shape *shape)
{
    const int64_t n_rotated = (int64_t)(full->share * (double)full->width / 2);
    shape->n_factors = full->width / 2;
    for (int64_t i = 0; i < shape->n_factors; i++) shape->factors[i] = i < n_rotated ? 1 : 1e30f;
}

static void add_int(vouch_gguf_writer *keys, const char *key, int64_t value)
{
    char name[96];
    snprintf(name, sizeof name, "gemma4-assistant.%s", key);
    vouch_gguf_add_u32(keys, name, (uint32_t)value);
}

vouch_status vouch_hf_assistant_read(const vouch_json *config, const vouch_hf_family *family, vouch_gguf_writer *keys,
                                     vouch_hf_shape *shape, vouch_error *err)
{
    layer_type full = {.width = 512, .theta = 1e6, .share = 0.25}, window = {.width = 256, .theta = 1e4, .share = 1};
    int64_t target = 0, n_inputs = 0, n_best = 0;
    VOUCH_TRY(vouch_json_int(config, config->root, "backbone_hidden_size", true, 1, 1 << 20, &target, err));
    VOUCH_TRY(vouch_json_int(config, config->root, "hidden_size_per_layer_input", false, 0, 1 << 20, &n_inputs, err));
    VOUCH_TRY(vouch_json_int(config, config->root, "centroid_intermediate_top_k", false, 1, 1 << 20, &n_best, err));
    VOUCH_TRY(vouch_json_int(config, config->root, "head_dim", false, 2, 1024, &window.width, err));
    VOUCH_TRY(read_width(config, &full.width, err));
    VOUCH_TRY(read_rotation(config, "full_attention", &full, err));
    VOUCH_TRY(read_rotation(config, "sliding_attention", &window, err));
    if (n_inputs > 0) return unsupported(config, "hidden_size_per_layer_input isn't 0", err);
    if (window.share < 1) return unsupported(config, "layers with a window rotate a part of a head", err);
    if (!json_is_array(vouch_json_find(config->root, "layer_types")))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: layer_types is missing", config->path);
    if (json_object_set_new(config->root, "head_dim", json_integer(full.width)) != 0)
        return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", config->path);
    VOUCH_TRY(vouch_hf_config_read(config, family, keys, shape, err));
    add_int(keys, "embedding_length_out", target);
    if (n_best > 0) add_int(keys, "centroid_top_k", n_best);
    add_int(keys, "attention.key_length_swa", window.width);
    add_int(keys, "attention.value_length_swa", window.width);
    add_int(keys, "rope.dimension_count", full.width);
    add_int(keys, "rope.dimension_count_swa", window.width);
    vouch_gguf_add_f32(keys, "gemma4-assistant.rope.freq_base", (float)full.theta);
    vouch_gguf_add_f32(keys, "gemma4-assistant.rope.freq_base_swa", (float)window.theta);
    if (full.share < 1) add_factors(&full, shape);
    return VOUCH_OK;
}
