/* SPDX-License-Identifier: MIT */
/*
 * Reads the facts of a file without opening it as a model: vouch_file_open of vouch.h.
 *
 *   header ──► texts, numbers, types
 *         └──► problems   1  the header's own flaw: damaged, cut short, a split model that misses a part; or a key of
 *                            the recommended sampling
 *                         2  the tokenizer
 *                         3  an architecture that isn't supported
 *                         4  no weights at all, or a tensor that isn't supported
 *
 * 2 to 4 come from the functions that open a model, so they can't disagree with vouch_model_open. After a flaw, 3 and
 * 4 are left out: the tensors after the flaw would all seem to be missing. In a damaged file 2 is left out, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "engine/file/recommend.h"
#include "format/open/open.h"
#include "model/load/arch.h"
#include "model/head/head_weights.h"
#include "model/head/draft_table.h"
#include "text/tokenizer.h"

enum { MOST_TYPES = 64, MOST_PROBLEMS = 4 };

struct vouch_file {
    vouch_file_info info;
    char name[256], architecture[64], license[128], kind[64], tokenizer[160];
    vouch_file_type types[MOST_TYPES];
    vouch_error problems[MOST_PROBLEMS];
    char chat_problem[sizeof((vouch_error *)0)->message];
    char *unknown_keys;
};

/* A key of the header; "" where it is absent or no text. NUL bytes end it. */
static const char *text_copy(const vouch_gguf *gguf, const char *key, char *out, size_t size)
{
    vouch_text text = {"", 0};
    vouch_error ignored;
    *out = 0;
    if (vouch_gguf_get_text(gguf, key, false, &text, &ignored) == VOUCH_OK)
        snprintf(out, size, "%.*s", (int)(text.size < size ? text.size : size), text.data);
    return out;
}

/* An integer under "ARCHITECTURE.key"; 0 where it is absent or no integer. */
static int32_t number_of(const vouch_gguf *gguf, const char *architecture, const char *key)
{
    char name[128];
    int64_t value = 0;
    vouch_error ignored;
    snprintf(name, sizeof name, "%s.%s", architecture, key);
    return vouch_gguf_get_int(gguf, name, false, 0, INT32_MAX, &value, &ignored) == VOUCH_OK ? (int32_t)value : 0;
}

static int types_compare(const void *a, const void *b)
{
    const vouch_file_type *x = a, *y = b;
    return (x->n_values < y->n_values) - (x->n_values > y->n_values);
}

static void types_count(vouch_file *file, const vouch_gguf *gguf)
{
    vouch_file_info *info = &file->info;
    info->n_tensors = (int64_t)vouch_gguf_n_tensors(gguf);
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(gguf, i);
        const char *known = vouch_type_gguf_name(tensor->type), *name = known ? known : "unknown";
        size_t at = 0;
        while (at < info->n_types && strcmp(file->types[at].name, name) != 0) at++;
        if (at == MOST_TYPES) continue;
        if (at == info->n_types)
            file->types[info->n_types++] =
                (vouch_file_type){.name = name, .is_supported = vouch_type_get_stored(tensor->type) != NULL};
        const int64_t n = tensor->dim[0] * tensor->dim[1] * tensor->dim[2] * tensor->dim[3];
        file->types[at].n_tensors++;
        if (__builtin_add_overflow(file->types[at].n_values, n, &file->types[at].n_values))
            file->types[at].n_values = INT64_MAX;
        if (__builtin_add_overflow(info->n_parameters, n, &info->n_parameters)) info->n_parameters = INT64_MAX;
    }
    qsort(file->types, info->n_types, sizeof *file->types, types_compare);
    info->types = file->types;
}

static vouch_error *problem_add(vouch_file *file)
{
    return &file->problems[file->info.n_problems++];
}

/* Returns the size of the token table; 0: none that can be used. */
static int32_t tokenizer_read(vouch_file *file, const vouch_gguf *gguf, bool is_damaged)
{
    vouch_file_info *info = &file->info;
    vouch_tokenizer *tokenizer = NULL;
    vouch_gguf_array tokens = {0};
    vouch_error err;
    int32_t size = 0;
    if (vouch_gguf_get_array(gguf, "tokenizer.ggml.tokens", false, &tokens, &err) == VOUCH_OK)
        info->n_vocab = tokens.count < INT32_MAX ? (int32_t)tokens.count : INT32_MAX;
    if (vouch_tokenizer_open(&tokenizer, gguf, NULL, &err) != VOUCH_OK) {
        char pre[64];
        text_copy(gguf, "tokenizer.ggml.model", file->tokenizer, 64);
        const size_t n = strlen(file->tokenizer);
        if (*text_copy(gguf, "tokenizer.ggml.pre", pre, sizeof pre))
            snprintf(file->tokenizer + n, sizeof file->tokenizer - n, "/%s", pre);
        info->chat_template = vouch_gguf_has(gguf, "tokenizer.chat_template") ? "unsupported" : "none";
        if (!is_damaged) *problem_add(file) = err;
    } else if (!tokenizer) {
        strcpy(file->tokenizer, "none");
        info->chat_template = "none";
    } else {
        snprintf(file->tokenizer, sizeof file->tokenizer, "%s", vouch_tokenizer_name(tokenizer));
        info->chat_template = vouch_tokenizer_chat_template(tokenizer);
        info->chat_template_lines = vouch_tokenizer_chat_lines(tokenizer);
        strcpy(file->chat_problem, vouch_tokenizer_chat_problem(tokenizer));
        size = vouch_tokenizer_size(tokenizer);
    }
    info->tokenizer = file->tokenizer;
    info->chat_template_problem = file->chat_problem;
    vouch_tokenizer_close(tokenizer);
    return size;
}

static void weights_check(vouch_file *file, const vouch_gguf *gguf, int32_t n_tokens)
{
    vouch_weights *weights = NULL;
    const vouch_arch *arch;
    vouch_error err;
    if (vouch_head_refuse(gguf, &err) != VOUCH_OK || vouch_table_refuse(gguf, &err) != VOUCH_OK) {
        *problem_add(file) = err;
        return;
    }
    const bool has_arch = vouch_arch_find(gguf, &arch, &err) == VOUCH_OK;
    if (!has_arch) *problem_add(file) = err;
    if (vouch_weights_check_any(gguf, &err) != VOUCH_OK) *problem_add(file) = err;
    else if (has_arch && vouch_weights_open(&weights, gguf, n_tokens,
                                            &(vouch_packing){.kernels = vouch_kernels_find(NULL)}, &err) != VOUCH_OK)
        *problem_add(file) = err;
    vouch_weights_close(weights);
}

static void info_fill(vouch_file *file, const vouch_gguf *gguf, const vouch_error *flaw)
{
    vouch_file_info *info = &file->info;
    info->name = text_copy(gguf, "general.name", file->name, sizeof file->name);
    info->architecture = text_copy(gguf, "general.architecture", file->architecture, sizeof file->architecture);
    info->license = text_copy(gguf, "general.license", file->license, sizeof file->license);
    info->kind = text_copy(gguf, "general.type", file->kind, sizeof file->kind);
    info->file_bytes = (int64_t)vouch_gguf_file_bytes(gguf);
    info->n_layers = number_of(gguf, info->architecture, "block_count");
    info->n_embd = number_of(gguf, info->architecture, "embedding_length");
    info->n_ctx_train = number_of(gguf, info->architecture, "context_length");
    info->n_experts = number_of(gguf, info->architecture, "expert_count");
    info->n_vocab = number_of(gguf, info->architecture, "vocab_size");
    types_count(file, gguf);
    if (flaw->code != VOUCH_OK) *problem_add(file) = *flaw;
    vouch_recommendation ignored;
    vouch_error err;
    if (flaw->code == VOUCH_OK && vouch_recommendation_read(&ignored, gguf, &err) != VOUCH_OK) *problem_add(file) = err;
    const int32_t n_tokens = tokenizer_read(file, gguf, flaw->code == VOUCH_E_FORMAT);
    if (flaw->code == VOUCH_OK) weights_check(file, gguf, n_tokens);
    info->problems = file->problems;
}

/* Whether a check ended because memory was short, which is no fact of the file. */
static bool lacks_memory(const vouch_file *file)
{
    bool lacks = false;
    for (size_t i = 0; i < file->info.n_problems; i++) lacks |= file->problems[i].code == VOUCH_E_MEMORY;
    return lacks;
}

vouch_status vouch_file_open(vouch_file **out, const char *path, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    vouch_gguf *gguf;
    vouch_error flaw;
    VOUCH_TRY(vouch_format_open_header(&gguf, path, &flaw, err));
    vouch_file *file = calloc(1, sizeof *file);
    if (file) info_fill(file, gguf, &flaw);
    if (file) file->info.unknown_keys = file->unknown_keys = strdup(vouch_gguf_unknown(gguf));
    vouch_gguf_close(gguf);
    if (file && (!file->unknown_keys || lacks_memory(file))) {
        vouch_file_close(file);
        file = NULL;
    }
    *out = file;
    return file ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the facts of a file");
}

void vouch_file_close(vouch_file *file)
{
    if (!file) return;
    free(file->unknown_keys);
    free(file);
}

const vouch_file_info *vouch_file_get_info(const vouch_file *file)
{
    return &file->info;
}
