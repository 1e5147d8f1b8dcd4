/* SPDX-License-Identifier: MIT */
#include "model/keys.h"

#include <stdio.h>
#include <string.h>

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

/* A file that names no kind means linear scaling. Another kind would change the results if it were ignored. */
vouch_status vouch_key_rope_scaling(const vouch_gguf *gguf, const char *arch, double *scale, vouch_error *err)
{
    char name[96];
    vouch_text kind = {"linear", 6};
    snprintf(name, sizeof name, "%s.rope.scaling.type", arch);
    VOUCH_TRY(vouch_gguf_get_text(gguf, name, false, &kind, err));
    *scale = 1;
    if (kind.size == 4 && memcmp(kind.data, "none", 4) == 0) return VOUCH_OK;
    if (kind.size != 6 || memcmp(kind.data, "linear", 6) != 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s '%.*s' is not supported (supported: none, linear)",
                          vouch_gguf_path(gguf), name, (int)(kind.size < 32 ? kind.size : 32), kind.data);
    const bool named = vouch_gguf_has(gguf, name);
    return vouch_key_float(gguf, arch, "rope.scaling.factor", named, 1e-3, 1e6, scale, err);
}
