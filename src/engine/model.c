/* SPDX-License-Identifier: MIT */
/* The model half of the C API: opens, checks and packs a file, tells its facts, and tokenizes. */
#include "engine/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "base/hash.h"

vouch_model_options vouch_model_options_default(void)
{
    return (vouch_model_options){0};
}

/* -------------------------------------------------------------------- facts */

/* "Q4_1 x210, F32 x61": the commonest first. */
static void describe_types(vouch_model *model, const vouch_gguf *gguf)
{
    int64_t counts[VOUCH_TYPE_COUNT] = {0};
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) counts[vouch_gguf_get_tensor(gguf, i)->type]++;
    size_t used = 0;
    for (;;) {
        int most = 0;
        for (int t = 1; t < VOUCH_TYPE_COUNT; t++)
            if (counts[t] > counts[most]) most = t;
        if (counts[most] == 0) return;
        const int n = snprintf(model->weight_types + used, sizeof model->weight_types - used, "%s%s x%lld",
                               used ? ", " : "", vouch_type_get_info((uint32_t)most)->name, (long long)counts[most]);
        used += (size_t)n;
        if (used >= sizeof model->weight_types) return;
        counts[most] = 0;
    }
}

static int64_t count_parameters(const vouch_gguf *gguf)
{
    int64_t n = 0;
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(gguf, i);
        n += tensor->dim[0] * tensor->dim[1] * tensor->dim[2] * tensor->dim[3];
    }
    return n;
}

static void fill_info(vouch_model *model, const vouch_gguf *gguf)
{
    const vouch_weights *w = model->weights;
    const vouch_hparams *h = &w->hparams;
    const vouch_tokenizer *t = model->tokenizer;
    describe_types(model, gguf);
    model->info = (vouch_model_info){
        .name = model->name,
        .architecture = h->arch,
        .cpu = w->kernels->name,
        .tokenizer = t ? vouch_tokenizer_name(t) : "none",
        .weight_types = model->weight_types,
        .n_parameters = count_parameters(gguf),
        .file_bytes = (int64_t)vouch_gguf_file_bytes(gguf),
        .packed_bytes = (int64_t)w->arena.used,
        .n_vocab = h->n_vocab,
        .n_layers = h->n_layers,
        .n_embd = h->n_embd,
        .n_heads = h->n_heads,
        .n_kv_heads = h->n_kv_heads,
        .head_dim = h->head_dim,
        .n_ff = h->n_ff,
        .n_ctx_train = h->n_ctx_train,
        .token_bos = t ? vouch_tokenizer_bos(t) : -1,
        .token_eos = t ? vouch_tokenizer_eos(t) : -1,
        .tied_embeddings = w->head == &w->embedding,
        .chat_template = t ? vouch_tokenizer_chat_template(t) : "none",
        .chat_template_lines = t ? vouch_tokenizer_chat_lines(t) : 0,
        .chat_template_problem = t ? vouch_tokenizer_chat_problem(t) : "",
        .chat_template_thinks = t && vouch_tokenizer_chat_thinks(t),
    };
}

static uint64_t vocabulary_hash(const vouch_tokenizer *tokenizer)
{
    uint64_t hash = VOUCH_HASH_START;
    for (int32_t i = 0; tokenizer && i < vouch_tokenizer_size(tokenizer); i++) {
        const vouch_text text = vouch_tokenizer_bytes(tokenizer, i);
        hash = vouch_hash_bytes(hash, text.data, text.size);
        hash = vouch_hash_bytes(hash, "", 1);
    }
    return hash;
}

static vouch_status copy_name(vouch_model *model, const vouch_gguf *gguf, vouch_error *err)
{
    vouch_text name = {"", 0};
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.name", false, &name, err));
    model->name = malloc(name.size + 1);
    if (!model->name) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the model's name");
    memcpy(model->name, name.data, name.size);
    model->name[name.size] = '\0';
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ opening */

static vouch_status find_kernels(const char *cpu, const vouch_kernels **kernels, vouch_error *err)
{
    *kernels = vouch_kernels_find(cpu);
    if (*kernels) return VOUCH_OK;
    char here[128] = "auto";
    const char *name;
    for (size_t i = 0; (name = vouch_cpu_name(i)) != NULL; i++) {
        const size_t used = strlen(here);
        snprintf(here + used, sizeof here - used, ", %s", name);
    }
    return vouch_fail(err, VOUCH_E_ARGUMENT, "cpu is '%s': expected one that this machine has: %s", cpu, here);
}

static vouch_status load(vouch_model *model, const vouch_gguf *gguf, const vouch_model_options *options,
                         const vouch_kernels *kernels, vouch_pool *pool, vouch_error *err)
{
    VOUCH_TRY(copy_name(model, gguf, err));
    VOUCH_TRY(vouch_tokenizer_open(&model->tokenizer, gguf, options->chat_template, err));
    if (options->chat_variables && model->tokenizer)
        VOUCH_TRY(vouch_tokenizer_set_variables(model->tokenizer, options->chat_variables, err));
    const int32_t n_tokens = model->tokenizer ? vouch_tokenizer_size(model->tokenizer) : 0;
    VOUCH_TRY(vouch_weights_open(&model->weights, gguf, n_tokens, kernels, pool, options->progress,
                                 options->progress_user, err));
    fill_info(model, gguf);
    model->vocabulary_hash = vocabulary_hash(model->tokenizer);
    return VOUCH_OK;
}

vouch_status vouch_model_open(vouch_model **out, const char *path, const vouch_model_options *options,
                              vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    const vouch_model_options defaults = vouch_model_options_default();
    if (!options) options = &defaults;
    const vouch_kernels *kernels;
    VOUCH_TRY(find_kernels(options->cpu, &kernels, err));
    vouch_gguf *gguf = NULL;
    vouch_pool *pool = NULL;
    vouch_model *model = calloc(1, sizeof *model);
    vouch_status status = model ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a model");
    if (status == VOUCH_OK) status = vouch_gguf_open(&gguf, path, err);
    if (status == VOUCH_OK && !options->text_only) status = vouch_pool_open(&pool, options->n_threads, err);
    if (status == VOUCH_OK) status = load(model, gguf, options, kernels, pool, err);
    vouch_pool_close(pool);
    vouch_gguf_close(gguf);
    if (status == VOUCH_OK) *out = model;
    else vouch_model_close(model);
    return status;
}

void vouch_model_close(vouch_model *model)
{
    if (!model) return;
    vouch_weights_close(model->weights);
    vouch_tokenizer_close(model->tokenizer);
    free(model->name);
    free(model);
}

const vouch_model_info *vouch_model_get_info(const vouch_model *model)
{
    return &model->info;
}

/* --------------------------------------------------------------------- text */

vouch_status vouch_model_check_pair(const vouch_model *target, const vouch_model *draft, vouch_error *err)
{
    return vouch_vocabulary_check_pair(vouch_model_vocabulary(target), vouch_model_vocabulary(draft), err);
}

static vouch_status need_tokenizer(const vouch_model *model, vouch_error *err)
{
    if (model->tokenizer) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model's file has no tokenizer, so it takes token ids only");
}

vouch_status vouch_tokenize(const vouch_model *model, const char *text, size_t n_text, unsigned flags, int32_t *tokens,
                            size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode(model->tokenizer, text, n_text, flags, tokens, capacity, n_tokens, err);
}

vouch_status vouch_tokenize_chat(const vouch_model *model, const vouch_message *messages, size_t n_messages,
                                 int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode_chat(model->tokenizer, messages, n_messages, tokens, capacity, n_tokens, err);
}

vouch_status vouch_tokenize_chat_json(const vouch_model *model, const char *json, size_t n_json, int32_t *tokens,
                                      size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode_json(model->tokenizer, json, n_json, tokens, capacity, n_tokens, err);
}

vouch_status vouch_render_chat(const vouch_model *model, const char *json, size_t n_json, char *text, size_t capacity,
                               size_t *n_text, vouch_error *err)
{
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_render_json(model->tokenizer, json, n_json, text, capacity, n_text, err);
}

const char *vouch_token_bytes(const vouch_model *model, int32_t token, size_t *n_bytes)
{
    *n_bytes = 0;
    if (!model->tokenizer || token < 0 || token >= model->info.n_vocab) return NULL;
    const vouch_text text = vouch_tokenizer_bytes(model->tokenizer, token);
    *n_bytes = text.size;
    return text.data;
}

bool vouch_token_is_special(const vouch_model *model, int32_t token)
{
    return model->tokenizer && token >= 0 && token < model->info.n_vocab &&
           vouch_tokenizer_is_special(model->tokenizer, token);
}
