/* SPDX-License-Identifier: MIT */
/* transformers ignores tensors that config.json doesn't call for, and invents those that are missing. vouch takes what
 * is there. So both must agree. */
#include "format/hf/hf_check.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *end, size_t n)
{
    const size_t size = strlen(text);
    return size >= n && memcmp(text + size - n, end, n) == 0;
}

/* The text model's first tensor whose name ends with the n bytes; NULL: none. */
static const vouch_safetensor *find_tensor(const vouch_safetensors *files, size_t n_files, const char *end, size_t n,
                                           const vouch_safetensors **file)
{
    for (size_t i = 0; i < n_files; i++)
        for (size_t t = 0; t < files[i].n; t++)
            if (ends_with(files[i].tensors[t].name, end, n) && !vouch_hf_family_is_other(files[i].tensors[t].name)) {
                *file = &files[i];
                return &files[i].tensors[t];
            }
    return NULL;
}

/* A bias is missing only where there is a weight: a model may lack the layers that would have both. */
static bool is_missing(const vouch_safetensors *files, size_t n_files, const char *end, size_t n)
{
    char weight[64];
    const vouch_safetensors *file;
    if (n < 5 || n >= 60 || memcmp(end + n - 5, ".bias", 5) != 0) return true;
    snprintf(weight, sizeof weight, "%.*s.weight", (int)n - 5, end);
    return find_tensor(files, n_files, weight, strlen(weight), &file) != NULL;
}

static vouch_status check_switch(const vouch_json *config, const vouch_hf_switch *s, const vouch_safetensors *files,
                                 size_t n_files, vouch_error *err)
{
    const bool is_inverse = *s->key == '!';
    const bool is_number = *s->key == '?';
    const char *key = s->key + (is_inverse || is_number);
    bool value = s->usual;
    int64_t number = 0;
    const vouch_safetensors *file;
    if (is_number) VOUCH_TRY(vouch_json_int(config, config->root, key, false, 0, 2, &number, err));
    else VOUCH_TRY(vouch_json_bool(config, config->root, key, &value, err));
    if (is_number && number == 0) return VOUCH_OK;
    if (is_number) value = number == 2;
    const char *words = vouch_json_find(config->root, key) ? "is" : "isn't given, which means";
    const char *text = is_number ? (value ? "2" : "1") : value ? "true" : "false";
    const bool is_on = value != is_inverse;
    for (const char *end = s->tensors; *end;) {
        const size_t n = strcspn(end, "|");
        const vouch_safetensor *tensor = find_tensor(files, n_files, end, n, &file);
        if (tensor && !is_on)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s %s %s, but the folder has the tensor '%.100s'", config->path,
                              key, words, text, tensor->name);
        if (!tensor && is_on && is_missing(files, n_files, end, n))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s %s %s, but the folder has no tensor '...%.*s'", config->path,
                              key, words, text, (int)n, end);
        end += n + (end[n] == '|');
    }
    return VOUCH_OK;
}

static const vouch_safetensor *find_any(const vouch_safetensors *files, size_t n_files, const char *const *ends,
                                        size_t n, const vouch_safetensors **file)
{
    const vouch_safetensor *found = NULL;
    for (size_t i = 0; i < n && !found; i++) found = find_tensor(files, n_files, ends[i], strlen(ends[i]), file);
    return found;
}

/* Some tools save the tied output, too. */
static vouch_status check_tie(const vouch_json *config, const vouch_safetensors *files, size_t n_files,
                              vouch_error *err)
{
    static const char *const outputs[] = {"lm_head.weight", "embed_out.weight"};
    static const char *const embeddings[] = {"embed_tokens.weight", "wte.weight", "word_embeddings.weight",
                                             "embed_in.weight", "backbone.embeddings.weight"};
    const vouch_safetensors *file, *other;
    const vouch_safetensor *output = find_any(files, n_files, outputs, 2, &file);
    const vouch_safetensor *embedding = find_any(files, n_files, embeddings, 5, &other);
    if (!output || !embedding) return VOUCH_OK;
    VOUCH_TRY(vouch_filemap_load(&file->map, config->path, output->offset, output->bytes, err));
    VOUCH_TRY(vouch_filemap_load(&other->map, config->path, embedding->offset, embedding->bytes, err));
    const bool is_equal =
        output->bytes == embedding->bytes && strcmp(output->dtype, embedding->dtype) == 0 &&
        memcmp(file->map.data + output->offset, other->map.data + embedding->offset, output->bytes) == 0;
    vouch_filemap_release(&file->map, output->offset, output->bytes);
    vouch_filemap_release(&other->map, embedding->offset, embedding->bytes);
    if (is_equal) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: tie_word_embeddings is true, but the tensor '%.100s' differs from '%.100s'; set it to "
                      "false, or remove the first tensor",
                      config->path, output->name, embedding->name);
}

vouch_status vouch_hf_check_switches(const vouch_json *config, const vouch_hf_family *family,
                                     const vouch_safetensors *files, size_t n_files, bool is_tied, vouch_error *err)
{
    for (size_t i = 0; i < VOUCH_HF_MOST_SWITCHES && family->switches[i].key; i++)
        VOUCH_TRY(check_switch(config, &family->switches[i], files, n_files, err));
    return is_tied && !family->is_head ? check_tie(config, files, n_files, err) : VOUCH_OK;
}

/* Whether config.json gives the layer experts; -1: it leaves that to the tensors. */
static int has_experts(const vouch_json *config, int64_t n_experts, int64_t layer)
{
    const json_t *dense = vouch_json_find(config->root, "num_dense_layers");
    const json_t *period = vouch_json_find(config->root, "expert_layer_period");
    const json_int_t n = json_integer_value(period);
    const json_int_t offset = json_integer_value(vouch_json_find(config->root, "expert_layer_offset"));
    if (dense) return layer >= json_integer_value(dense);
    return n > 0 ? n_experts > 1 && layer % n == offset : -1;
}

static vouch_status check_routers(const vouch_json *config, const vouch_hf_shape *shape, const vouch_gguf *gguf,
                                  vouch_error *err)
{
    for (int64_t i = 0; i < shape->n_layers; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%lld.ffn_gate_inp.weight", (long long)i);
        const int expected = has_experts(config, shape->n_experts, i);
        const bool is_there = vouch_gguf_find_tensor(gguf, name) != NULL;
        if (expected < 0 || is_there == (expected == 1)) continue;
        vouch_fail(err, VOUCH_E_FORMAT,
                   "%s: num_dense_layers, or expert_layer_period and expert_layer_offset, give layer %lld %s, but the "
                   "folder has %s router",
                   config->path, (long long)i, expected ? "experts" : "no experts", is_there ? "a" : "no");
        vouch_gguf_add_sizes(gguf, err);
        return VOUCH_E_FORMAT;
    }
    return VOUCH_OK;
}

vouch_status vouch_hf_check_experts(const vouch_json *config, const vouch_hf_shape *shape, const vouch_gguf *gguf,
                                    vouch_error *err)
{
    static const char experts[] = ".ffn_down_exps.weight", shared[] = ".ffn_down_shexp.weight";
    VOUCH_TRY(check_routers(config, shape, gguf, err));
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        char name[65], key[64];
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        snprintf(name, sizeof name, "%.*s", (int)t->name.size, t->name.data);
        const int64_t expected = ends_with(name, experts, sizeof experts - 1) ? shape->n_expert_ff
                                 : ends_with(name, shared, sizeof shared - 1) ? shape->n_shared_ff
                                                                              : 0;
        if (expected > 0 && t->dim[0] != expected)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is %lld, but the tensor '%s' is %lld wide", config->path,
                              vouch_json_name(config->root,
                                              ends_with(name, shared, sizeof shared - 1)
                                                  ? "shared_expert_intermediate_size|shared_intermediate_size"
                                                  : "moe_intermediate_size|intermediate_size",
                                              key),
                              (long long)expected, name, (long long)t->dim[0]);
    }
    return VOUCH_OK;
}
