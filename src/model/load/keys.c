/* SPDX-License-Identifier: MIT */
#include "model/load/keys.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/angle.h"

const char *vouch_key_name(char *name, size_t size, const char *arch, const char *key)
{
    snprintf(name, size, "%s.%s", arch, key);
    return name;
}

vouch_status vouch_key_int(const vouch_gguf *gguf, const char *arch, const char *key, bool required, int32_t min,
                           int32_t max, int32_t *value, vouch_error *err)
{
    char name[96];
    int64_t wide = *value;
    snprintf(name, sizeof name, "%s.%s", arch, key);
    VOUCH_TRY(vouch_gguf_get_int(gguf, name, required, min, max, &wide, err));
    *value = (int32_t)wide;
    return VOUCH_OK;
}

vouch_status vouch_key_float(const vouch_gguf *gguf, const char *arch, const char *key, bool required, double min,
                             double max, double *value, vouch_error *err)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", arch, key);
    VOUCH_TRY(vouch_gguf_get_float(gguf, name, required, value, err));
    if (!(*value >= min && *value <= max))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %g, must be %g to %g", vouch_gguf_path(gguf), name, *value,
                          min, max);
    return VOUCH_OK;
}

vouch_status vouch_key_bool(const vouch_gguf *gguf, const char *arch, const char *key, bool *value, vouch_error *err)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", arch, key);
    return vouch_gguf_get_bool(gguf, name, false, value, err);
}

/* Finds the list under a key: floats or integers, one for each of n layers. list->count is 0 where the key is a number,
 * or missing. */
static vouch_status get_list(const vouch_gguf *gguf, const char *name, int32_t n, bool of_floats,
                             vouch_gguf_array *list, vouch_error *err)
{
    vouch_gguf_type type = VOUCH_GGUF_U32;
    *list = (vouch_gguf_array){0};
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) {
        vouch_gguf_type one;
        const vouch_text text = vouch_gguf_key(gguf, i, &one);
        if (vouch_text_is(text, name)) type = one;
    }
    if (type != VOUCH_GGUF_ARRAY) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_get_array(gguf, name, true, list, err));
    const bool has_floats = list->type == VOUCH_GGUF_F32 || list->type == VOUCH_GGUF_F64;
    if (list->type == VOUCH_GGUF_STRING || has_floats != of_floats)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s must hold %s per layer", vouch_gguf_path(gguf), name,
                          of_floats ? "floats" : "whole numbers, or true or false,");
    if (list->count < (size_t)n)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s has %zu elements, must have one for each of %d layers",
                          vouch_gguf_path(gguf), name, list->count, n);
    return VOUCH_OK;
}

vouch_status vouch_key_ints(const vouch_gguf *gguf, const char *arch, const char *key, bool required, int32_t min,
                            int32_t max, int32_t n, int32_t *values, vouch_error *err)
{
    char name[96];
    vouch_gguf_array list;
    VOUCH_TRY(get_list(gguf, vouch_key_name(name, sizeof name, arch, key), n, false, &list, err));
    if (list.count == 0) {
        VOUCH_TRY(vouch_key_int(gguf, arch, key, required, min, max, &values[0], err));
        for (int32_t i = 1; i < n && vouch_gguf_has(gguf, name); i++) values[i] = values[0];
        return VOUCH_OK;
    }
    for (int32_t i = 0; i < n; i++) {
        const int64_t value = vouch_gguf_array_int(&list, (size_t)i);
        if (value < min || value > max)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%d] is %lld, must be %d to %d", vouch_gguf_path(gguf), name,
                              i, (long long)value, min, max);
        values[i] = (int32_t)value;
    }
    return VOUCH_OK;
}

vouch_status vouch_key_floats(const vouch_gguf *gguf, const char *arch, const char *key, double min, double max,
                              int32_t n, double *values, vouch_error *err)
{
    char name[96];
    vouch_gguf_array list;
    VOUCH_TRY(get_list(gguf, vouch_key_name(name, sizeof name, arch, key), n, true, &list, err));
    if (list.count == 0) {
        VOUCH_TRY(vouch_key_float(gguf, arch, key, false, min, max, &values[0], err));
        for (int32_t i = 1; i < n && vouch_gguf_has(gguf, name); i++) values[i] = values[0];
    }
    for (int32_t i = 0; i < n && list.count > 0; i++) {
        values[i] = vouch_gguf_array_float(&list, (size_t)i);
        if (!(values[i] >= min && values[i] <= max))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%d] is %g, must be %g to %g", vouch_gguf_path(gguf), name, i,
                              values[i], min, max);
    }
    return VOUCH_OK;
}

vouch_status vouch_key_flags(const vouch_gguf *gguf, const char *arch, const char *key, int32_t least, int32_t n,
                             bool *is_list, uint8_t *flags, vouch_error *err)
{
    char name[96];
    vouch_gguf_array list;
    VOUCH_TRY(get_list(gguf, vouch_key_name(name, sizeof name, arch, key), least, false, &list, err));
    *is_list = list.count > 0;
    for (int32_t i = 0; i < n && *is_list; i++)
        flags[i] = (size_t)i < list.count && vouch_gguf_array_int(&list, (size_t)i) != 0;
    return VOUCH_OK;
}

/* YaRN's factor of queries and keys (arXiv 2309.00071, section 3.4). */
static double yarn_growth(double factor, double weight)
{
    return factor > 1 ? 0.1 * weight * vouch_ln(factor) + 1 : 1;
}

static vouch_status read_yarn(const vouch_gguf *gguf, const char *arch, vouch_rope_scaling *scaling, vouch_error *err)
{
    double weight = 0, mix = -1;
    scaling->is_yarn = true;
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.scaling.yarn_beta_fast", false, 1e-3, 1e6, &scaling->fast, err));
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.scaling.yarn_beta_slow", false, 1e-3, 1e6, &scaling->slow, err));
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.scaling.yarn_log_multiplier", false, 0, 1e3, &weight, err));
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.scaling.yarn_ext_factor", false, -1, 1e3, &mix, err));
    if (mix >= 0 && mix != 1)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.rope.scaling.yarn_ext_factor is %g, must be 1",
                          vouch_gguf_path(gguf), arch, mix);
    scaling->magnitude = yarn_growth(scaling->factor, 1);
    if (weight > 0) scaling->magnitude /= yarn_growth(scaling->factor, weight);
    scaling->log_multiplier = weight;
    return VOUCH_OK;
}

/* A file that names no kind means linear scaling. An unknown kind would change the results if it were ignored. */
vouch_status vouch_key_rope_scaling(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    const char *arch = h->arch;
    char name[96];
    double growth = 1;
    vouch_text kind = {"linear", 6};
    vouch_rope_scaling *s = &h->rope_scaling;
    *s = (vouch_rope_scaling){.factor = 1, .fast = 32, .slow = 1, .magnitude = 1, .n_ctx_original = h->n_ctx_train};
    snprintf(name, sizeof name, "%s.rope.scaling.type", arch);
    VOUCH_TRY(vouch_gguf_get_text(gguf, name, false, &kind, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "rope.scaling.original_context_length", false, 1, INT_MAX / 2,
                            &s->n_ctx_original, err));
    if (vouch_text_is(kind, "none")) return VOUCH_OK;
    if (!vouch_text_is(kind, "linear") && !vouch_text_is(kind, "yarn") && !vouch_text_is(kind, "longrope"))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s '%.*s' is not supported (supported: none, linear, yarn, longrope)",
                          vouch_gguf_path(gguf), name, (int)(kind.size < 32 ? kind.size : 32), kind.data);
    const bool is_named = vouch_gguf_has(gguf, name) && !vouch_text_is(kind, "longrope");
    char old[96];
    const bool is_old = vouch_gguf_has(gguf, vouch_key_name(old, sizeof old, arch, "rope.scale_linear")) &&
                        !vouch_gguf_has(gguf, vouch_key_name(name, sizeof name, arch, "rope.scaling.factor"));
    VOUCH_TRY(vouch_key_float(gguf, arch, is_old ? "rope.scale_linear" : "rope.scaling.factor", is_named, 0, 1e6,
                              &s->factor, err));
    if (s->factor == 0) s->factor = 1;
    if (s->factor < 1e-3)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.rope.scaling.factor is %g, must be 0 (none) or 0.001 to 1e6",
                          vouch_gguf_path(gguf), arch, s->factor);
    if (vouch_text_is(kind, "yarn")) VOUCH_TRY(read_yarn(gguf, arch, s, err));
    VOUCH_TRY(vouch_key_float(gguf, arch, "rope.scaling.attn_factor", false, 1e-3, 1e3, &growth, err));
    s->magnitude *= growth;
    return VOUCH_OK;
}
