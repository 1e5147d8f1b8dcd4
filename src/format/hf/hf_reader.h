/* SPDX-License-Identifier: MIT */
/* Shared declarations of hf_config.c and hf_gemma4.c, which read config.json of a Hugging Face folder. */
#ifndef VOUCH_FORMAT_HF_READER_H
#define VOUCH_FORMAT_HF_READER_H

#include <stdio.h>

#include "format/gguf.h"
#include "format/hf/hf_family.h"
#include "format/hf/hf_shape.h"
#include "format/json.h"

/* Arguments of one vouch_hf_config_fn (hf_config.h). */
typedef struct hf_reader {
    const vouch_json *config;
    const vouch_hf_family *family;
    vouch_gguf_writer *keys;
    vouch_hf_shape *shape;
    vouch_error *err;
} hf_reader;

/* "ARCH.key" */
static inline const char *hf_key(const hf_reader *r, const char *key, char name[96])
{
    snprintf(name, 96, "%s.%s", r->family->arch, key);
    return name;
}

static inline void hf_add_int(const hf_reader *r, const char *key, int64_t value)
{
    char name[96];
    vouch_gguf_add_u32(r->keys, hf_key(r, key, name), (uint32_t)value);
}

static inline void hf_add_float(const hf_reader *r, const char *key, double value)
{
    char name[96];
    vouch_gguf_add_f32(r->keys, hf_key(r, key, name), (float)value);
}

static inline vouch_status hf_unsupported(const hf_reader *r, const char *problem)
{
    return vouch_fail(r->err, VOUCH_E_UNSUPPORTED, "%s: %s, which vouch doesn't support for model_type '%s'",
                      r->config->path, problem, r->family->model_type);
}

#endif
