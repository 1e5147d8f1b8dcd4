/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_sampling.h"

#include "format/json.h"

static vouch_status add_float(vouch_gguf_writer *keys, const vouch_json *json, const char *name, double low,
                              double high, const char *key, vouch_error *err)
{
    double value = 0;
    if (!vouch_json_find(json->root, name)) return VOUCH_OK;
    VOUCH_TRY(vouch_json_float(json, json->root, name, true, low, high, &value, err));
    vouch_gguf_add_f32(keys, key, (float)value);
    return VOUCH_OK;
}

static vouch_status keys_add(vouch_gguf_writer *keys, const vouch_json *json, vouch_error *err)
{
    bool samples = false, greedy = vouch_json_find(json->root, "do_sample") != NULL;
    int64_t top_k = 0;
    int32_t top_k_32;
    VOUCH_TRY(vouch_json_bool(json, json->root, "do_sample", &samples, err));
    greedy &= !samples;
    /* transformers multiplies by the penalty whatever do_sample says, and over the whole sequence. */
    VOUCH_TRY(add_float(keys, json, "repetition_penalty", 1e-3, 1e3, "general.sampling.penalty_repeat", err));
    if (vouch_gguf_writer_has(keys, "general.sampling.penalty_repeat"))
        vouch_gguf_add_value(keys, "general.sampling.penalty_last_n", VOUCH_GGUF_I32, &(int32_t){-1});
    if (greedy) {
        vouch_gguf_add_f32(keys, "general.sampling.temp", 0);
        return VOUCH_OK;
    }
    VOUCH_TRY(add_float(keys, json, "temperature", 0, 1e6, "general.sampling.temp", err));
    VOUCH_TRY(add_float(keys, json, "top_p", 0, 1, "general.sampling.top_p", err));
    VOUCH_TRY(add_float(keys, json, "min_p", 0, 1, "general.sampling.min_p", err));
    VOUCH_TRY(add_float(keys, json, "typical_p", 1e-6, 1, "vouch.sampling.typical_p", err));
    VOUCH_TRY(vouch_json_int(json, json->root, "top_k", false, -1, INT32_MAX, &top_k, err));
    top_k_32 = (int32_t)top_k;
    if (vouch_json_find(json->root, "top_k"))
        vouch_gguf_add_value(keys, "general.sampling.top_k", VOUCH_GGUF_I32, &top_k_32);
    /* Where it samples, transformers' defaults for these two are 1. */
    if (samples && !vouch_gguf_writer_has(keys, "general.sampling.temp"))
        vouch_gguf_add_f32(keys, "general.sampling.temp", 1);
    if (samples && !vouch_gguf_writer_has(keys, "general.sampling.top_p"))
        vouch_gguf_add_f32(keys, "general.sampling.top_p", 1);
    return VOUCH_OK;
}

vouch_status vouch_hf_sampling_add(vouch_gguf_writer *keys, const char *folder, vouch_error *err)
{
    vouch_json json = {NULL, NULL};
    VOUCH_TRY(vouch_json_open(&json, folder, "generation_config.json", false, err));
    const vouch_status status = json.root ? keys_add(keys, &json, err) : VOUCH_OK;
    vouch_json_close(&json);
    return status;
}
