/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_pooling.h"

#include <stdio.h>
#include <string.h>

#include "format/json.h"

/* GGUF's number; 0: it has none for this kind. */
typedef struct kind {
    const char *member, *name; /* older files have a member for each kind, newer ones pooling_mode */
    uint32_t number;
} kind;

static const kind kinds[] = {
    {"pooling_mode_mean_tokens", "mean", 1},
    {"pooling_mode_cls_token", "cls", 2},
    {"pooling_mode_lasttoken", "lasttoken", 3},
    {"pooling_mode_max_tokens", "max", 0},
    {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", 0},
    {"pooling_mode_weightedmean_tokens", "weightedmean", 0},
};

/* *number 0: the file names none that GGUF has, or several, whose vectors would be joined. */
static vouch_status read_kind(const vouch_json *json, uint32_t *number, vouch_error *err)
{
    const char *name = "";
    int n_named = 0;
    const json_t *mode = vouch_json_find(json->root, "pooling_mode");
    if (json_is_string(mode)) name = json_string_value(mode);
    *number = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool is_named = strcmp(name, kinds[i].name) == 0;
        VOUCH_TRY(vouch_json_bool(json, json->root, kinds[i].member, &is_named, err));
        if (is_named) *number = kinds[i].number;
        n_named += is_named;
    }
    if (n_named != 1) *number = 0;
    return VOUCH_OK;
}

vouch_status vouch_hf_pooling_add(vouch_gguf_writer *keys, const char *arch, const char *folder, vouch_error *err)
{
    vouch_json json = {NULL, NULL}, dense = {NULL, NULL};
    char key[128];
    uint32_t number = 0;
    VOUCH_TRY(vouch_json_open(&json, folder, "1_Pooling/config.json", false, err));
    vouch_status status = json.root ? read_kind(&json, &number, err) : VOUCH_OK;
    if (status == VOUCH_OK && number > 0) status = vouch_json_open(&dense, folder, "2_Dense/config.json", false, err);
    if (status == VOUCH_OK && number > 0 && !dense.root) {
        snprintf(key, sizeof key, "%s.pooling_type", arch);
        vouch_gguf_add_u32(keys, key, number);
    }
    vouch_json_close(&json);
    vouch_json_close(&dense);
    return status;
}
