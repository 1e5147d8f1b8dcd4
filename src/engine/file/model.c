/* SPDX-License-Identifier: MIT */
/* The model half of the C API: opens, checks and packs a file, tells its facts, and tokenizes. */
#include "engine/file/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "base/hash.h"
#include "format/digest.h"
#include "format/open/hf_folder.h"
#include "format/hf/vocabulary/hf_tokenizer.h"
#include "format/open/open.h"
#include "model/head/draft_table.h"
#include "os/os.h"
#include "text/chat/templates.h"

vouch_model_options vouch_model_options_default(void)
{
    return (vouch_model_options){0};
}

const char *vouch_chat_template_name(size_t i)
{
    const vouch_chat_template *named = vouch_template_at(i);
    return named ? named->name : NULL;
}

/* -------------------------------------------------------------------- facts */

/* Writes the types of the tensors, such as "Q4_1 x210, F32 x61", the commonest first. Leaves out types that vouch
 * doesn't know: only tensors that the loader ignores have them. */
static void describe_types(vouch_model *model, const vouch_gguf *gguf)
{
    int64_t counts[VOUCH_TYPE_COUNT] = {0};
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const uint32_t type = vouch_gguf_get_tensor(gguf, i)->type;
        if (vouch_type_get_info(type)) counts[type]++;
    }
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

static void fill_text_info(vouch_model *model, vouch_model_info *info)
{
    const vouch_tokenizer *t = model->tokenizer;
    info->name = model->name;
    info->tokenizer = t ? vouch_tokenizer_name(t) : "none";
    info->token_bos = t ? vouch_tokenizer_bos(t) : -1;
    info->token_eos = t ? vouch_tokenizer_eos(t) : -1;
    int32_t *const infill[] = {&info->token_fim_prefix, &info->token_fim_suffix,     &info->token_fim_middle,
                               &info->token_fim_pad,    &info->token_fim_repository, &info->token_fim_file};
    for (int part = 0; part < VOUCH_INFILL_PARTS; part++)
        *infill[part] = t ? vouch_tokenizer_infill(t, (vouch_infill_part)part) : -1;
    info->chat_template = t ? vouch_tokenizer_chat_template(t) : "none";
    info->chat_template_text = t ? vouch_tokenizer_chat_text(t) : "";
    info->chat_template_lines = t ? vouch_tokenizer_chat_lines(t) : 0;
    info->chat_template_problem = t ? vouch_tokenizer_chat_problem(t) : "";
    info->chat_template_fitting = t ? vouch_tokenizer_chat_fitting(t) : "";
    info->thoughts_begin = t ? vouch_tokenizer_thoughts_begin(t) : "";
    info->thoughts_end = t ? vouch_tokenizer_thoughts_end(t) : "";
    info->chat_template_thinks = t && vouch_tokenizer_chat_thinks(t);
}

/* Of a tokenizer without its model. */
static void fill_tokenizer_info(vouch_model *model, const vouch_kernels *kernels)
{
    model->info = (vouch_model_info){.architecture = "none",
                                     .cpu = kernels->name,
                                     .weight_types = "",
                                     .digest = "",
                                     .n_vocab = vouch_tokenizer_size(model->tokenizer)};
    fill_text_info(model, &model->info);
}

static void fill_info(vouch_model *model, const vouch_gguf *gguf)
{
    const vouch_weights *w = model->weights;
    const vouch_hparams *h = &w->hparams;
    const vouch_head_weights *head = model->own.content;
    describe_types(model, gguf);
    model->info = (vouch_model_info){
        .architecture = h->arch,
        .cpu = w->kernels->name,
        .weight_types = model->weight_types,
        .n_parameters = count_parameters(gguf),
        .file_bytes = (int64_t)vouch_gguf_file_bytes(gguf),
        .packed_bytes = (int64_t)w->arena.used + (head ? (int64_t)head->body->arena.used : 0),
        .n_vocab = h->n_vocab,
        .n_layers = h->n_layers,
        .n_embd = h->n_embd,
        .n_heads = h->n_heads,
        .n_kv_heads = h->n_kv_heads,
        .head_dim = h->head_dim,
        .n_ff = h->n_ff,
        .n_ctx_train = h->n_ctx_train,
        .tied_embeddings = w->output == &w->embedding,
        .digest = model->digest,
    };
    fill_text_info(model, &model->info);
}

uint64_t vouch_model_vocabulary_hash(const vouch_model *model)
{
    uint64_t hash = VOUCH_HASH_START;
    for (int32_t i = 0; model->tokenizer && i < vouch_tokenizer_size(model->tokenizer); i++) {
        const vouch_text text = vouch_tokenizer_bytes(model->tokenizer, i);
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

static vouch_status load_text(vouch_model *model, const vouch_gguf *gguf, const vouch_model_options *options,
                              vouch_error *err)
{
    VOUCH_TRY(copy_name(model, gguf, err));
    VOUCH_TRY(vouch_recommendation_read(&model->recommendation, gguf, err));
    VOUCH_TRY(vouch_tokenizer_open(&model->tokenizer, gguf, options->chat_template, err));
    if (options->chat_variables && model->tokenizer)
        VOUCH_TRY(vouch_tokenizer_set_variables(model->tokenizer, options->chat_variables, err));
    return VOUCH_OK;
}

static vouch_status load_weights(vouch_model *model, const vouch_gguf *gguf, const vouch_gguf *const *adapters,
                                 const vouch_model_options *options, const vouch_kernels *kernels, vouch_error *err)
{
    const int32_t n_tokens = model->tokenizer ? vouch_tokenizer_size(model->tokenizer) : 0;
    vouch_pool *pool = NULL;
    VOUCH_TRY(vouch_head_refuse(gguf, err));
    VOUCH_TRY(vouch_table_refuse(gguf, err));
    if (!options->text_only) VOUCH_TRY(vouch_pool_open(&pool, options->n_threads, err));
    const vouch_packing packing = {.kernels = kernels,
                                   .pool = pool,
                                   .adapters = adapters,
                                   .n_adapters = options->n_adapters,
                                   .is_tuned = !options->untuned,
                                   .progress = options->progress,
                                   .user = options->progress_user};
    vouch_status status = vouch_weights_open(&model->weights, gguf, n_tokens, &packing, err);
    vouch_head_weights *head = NULL;
    if (status == VOUCH_OK && pool) status = vouch_head_weights_open_own(&head, gguf, model->weights, pool, err);
    model->own = (vouch_draft_file){.target = model, .content = head};
    vouch_pool_close(pool);
    if (status == VOUCH_OK) fill_info(model, gguf);
    return status;
}

/* Opens the adapters' files for load_weights. */
static vouch_status load_with_adapters(vouch_model *model, const vouch_gguf *gguf, const vouch_model_options *options,
                                       const vouch_kernels *kernels, vouch_error *err)
{
    vouch_gguf *files[VOUCH_MOST_LORAS] = {NULL};
    int32_t n = 0;
    if (options->n_adapters < 0 || options->n_adapters > VOUCH_MOST_LORAS)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_adapters is %d, must be 0 to %d", options->n_adapters,
                          VOUCH_MOST_LORAS);
    vouch_status status = VOUCH_OK;
    for (; n < options->n_adapters && status == VOUCH_OK; n++) {
        uint64_t digest = 0;
        status = vouch_gguf_open(&files[n], options->adapters[n], err);
        if (status == VOUCH_OK) status = vouch_gguf_digest(files[n], &digest, err);
        double alpha = 0; /* which the digest leaves out */
        uint64_t bits;
        if (status == VOUCH_OK) status = vouch_gguf_get_float(files[n], "adapter.lora.alpha", false, &alpha, err);
        memcpy(&bits, &alpha, sizeof bits);
        if (status == VOUCH_OK)
            model->adapters[n] = vouch_hash_word(vouch_hash_word(digest, vouch_gguf_stamp(files[n])), bits);
    }
    if (status == VOUCH_OK) status = load_weights(model, gguf, (const vouch_gguf *const *)files, options, kernels, err);
    if (status == VOUCH_OK) model->info.n_adapters = options->n_adapters;
    for (int32_t i = 0; i < n; i++) vouch_gguf_close(files[i]);
    return status;
}

/* Whether the path is tokenizer.json, tokenizer.model, or a folder without weights. */
static bool is_tokenizer(const char *path)
{
    vouch_os_info info;
    const char *dot = strrchr(path, '.');
    if (vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FOLDER) return !vouch_hf_folder_has_weights(path);
    return dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".model") == 0);
}

/* Opens a tokenizer without its model. */
static vouch_status load_tokenizer(vouch_model *model, const char *path, const vouch_model_options *options,
                                   const vouch_kernels *kernels, vouch_error *err)
{
    vouch_gguf_writer *writer = NULL;
    vouch_gguf *gguf = NULL;
    void *bytes = NULL;
    size_t size;
    vouch_status status = vouch_gguf_writer_open(&writer, err);
    if (status == VOUCH_OK) status = vouch_hf_tokenizer_add(writer, path, 0, err);
    if (status == VOUCH_OK) status = vouch_gguf_write_bytes(writer, &bytes, &size, err);
    if (status == VOUCH_OK) status = vouch_gguf_open_bytes(&gguf, bytes, size, path, err);
    if (status == VOUCH_OK) status = load_text(model, gguf, options, err);
    if (status == VOUCH_OK && !model->tokenizer)
        status = vouch_fail(err, VOUCH_E_IO,
                            "%s: expected tokenizer.json, tokenizer.model, or vocab.json and "
                            "merges.txt",
                            vouch_gguf_path(gguf));
    vouch_gguf_close(gguf);
    vouch_gguf_writer_close(writer);
    free(bytes);
    if (status != VOUCH_OK) return status;
    fill_tokenizer_info(model, kernels);
    return VOUCH_OK;
}

/* GGUF's numbers: 0 none, 1 mean, 2 the first token's, 3 the last token's, 4 a rank. Others than those that vouch has
 * count as none. */
static vouch_status read_pooling(vouch_model *model, const vouch_gguf *gguf, vouch_error *err)
{
    char key[128];
    int64_t number = 0;
    snprintf(key, sizeof key, "%s.pooling_type", model->info.architecture);
    VOUCH_TRY(vouch_gguf_get_int(gguf, key, false, 0, INT32_MAX, &number, err));
    model->info.pooling = number == 1 ? VOUCH_POOLING_MEAN : number == 3 ? VOUCH_POOLING_LAST : VOUCH_POOLING_NONE;
    return VOUCH_OK;
}

static vouch_status compute_digest(vouch_model *model, const vouch_gguf *gguf, vouch_error *err)
{
    uint64_t digest;
    VOUCH_TRY(vouch_gguf_digest(gguf, &digest, err));
    model->stamp = vouch_gguf_stamp(gguf);
    snprintf(model->digest, sizeof model->digest, "%016llx", (unsigned long long)digest);
    return VOUCH_OK;
}

static vouch_status load_model(vouch_model *model, const vouch_gguf *gguf, const vouch_model_options *options,
                               const vouch_kernels *kernels, vouch_error *err)
{
    VOUCH_TRY(load_text(model, gguf, options, err));
    if (options->text_only && model->tokenizer && vouch_gguf_n_tensors(gguf) == 0) {
        fill_tokenizer_info(model, kernels);
        return VOUCH_OK;
    }
    VOUCH_TRY(load_with_adapters(model, gguf, options, kernels, err));
    VOUCH_TRY(read_pooling(model, gguf, err));
    return compute_digest(model, gguf, err);
}

static vouch_status load_path(vouch_model *model, const char *path, const vouch_model_options *options,
                              const vouch_kernels *kernels, vouch_error *err)
{
    vouch_gguf *gguf;
    if (options->text_only && is_tokenizer(path)) return load_tokenizer(model, path, options, kernels, err);
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    const vouch_status status = load_model(model, gguf, options, kernels, err);
    vouch_gguf_close(gguf);
    return status;
}

/* Opens the path, or the file that is open already. */
static vouch_status model_open(vouch_model **out, const char *path, const vouch_gguf *gguf,
                               const vouch_model_options *options, vouch_error *err)
{
    *out = NULL;
    const vouch_model_options defaults = vouch_model_options_default();
    if (!options) options = &defaults;
    const vouch_kernels *kernels;
    VOUCH_TRY(find_kernels(options->cpu, &kernels, err));
    vouch_model *model = calloc(1, sizeof *model);
    if (!model) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a model");
    const vouch_status status =
        gguf ? load_model(model, gguf, options, kernels, err) : load_path(model, path, options, kernels, err);
    if (status == VOUCH_OK) *out = model;
    else vouch_model_close(model);
    return status;
}

vouch_status vouch_model_open(vouch_model **out, const char *path, const vouch_model_options *options, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    return model_open(out, path, NULL, options, err);
}

vouch_status vouch_model_open_file(vouch_model **out, const vouch_gguf *gguf, const vouch_model_options *options,
                                   vouch_error *err)
{
    return model_open(out, NULL, gguf, options, err);
}

void vouch_model_close(vouch_model *model)
{
    if (!model) return;
    vouch_head_weights_close(model->own.content);
    vouch_weights_close(model->weights);
    vouch_trie_close(atomic_load(&model->trie));
    vouch_tokenizer_close(model->tokenizer);
    free(model->name);
    free(model);
}

vouch_status vouch_model_trie(const vouch_trie **out, const vouch_model *model, vouch_error *err)
{
    _Atomic(vouch_trie *) *held = &((vouch_model *)(uintptr_t)model)->trie; /* models are never const objects */
    vouch_trie *mine, *known = atomic_load(held);
    if (!model->tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "a grammar needs a tokenizer, and the model's file has none");
    if (!known) {
        VOUCH_TRY(vouch_trie_open(&mine, model->tokenizer, model->info.n_vocab, err));
        if (atomic_compare_exchange_strong(held, &known, mine)) known = mine;
        else vouch_trie_close(mine); /* another thread was first */
    }
    *out = known;
    return VOUCH_OK;
}

const vouch_model_info *vouch_model_get_info(const vouch_model *model)
{
    return &model->info;
}

bool vouch_model_get_kernel_trial(const vouch_model *model, size_t i, vouch_kernel_trial *trial)
{
    if (!model->weights || i >= (size_t)model->weights->tuning.n_trials) return false;
    *trial = model->weights->tuning.trials[i];
    return true;
}

unsigned vouch_model_sampling(const vouch_model *model, unsigned keep, vouch_sampling *sampling)
{
    const vouch_recommendation *r = &model->recommendation;
#define TAKE(constant, field) \
    if (!(keep & VOUCH_SAMPLING_##constant)) sampling->field = r->sampling.field;
    VOUCH_SAMPLING_FIELD_LIST(TAKE)
#undef TAKE
    return r->fields;
}

double vouch_model_pass_bytes(const vouch_model *model, int32_t n_rows)
{
    return vouch_weights_pass_bytes(model->weights, n_rows);
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
    VOUCH_DEFAULT_FLOATS();
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode(model->tokenizer, text, n_text, flags, tokens, capacity, n_tokens, err);
}

vouch_status vouch_tokenize_chat(const vouch_model *model, const vouch_message *messages, size_t n_messages,
                                 int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode_chat(model->tokenizer, messages, n_messages, tokens, capacity, n_tokens, err);
}

vouch_status vouch_tokenize_chat_json(const vouch_model *model, const char *json, size_t n_json, int32_t *tokens,
                                      size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode_json(model->tokenizer, json, n_json, tokens, capacity, n_tokens, err);
}

vouch_status vouch_tokenize_infill(const vouch_model *model, const vouch_infill *infill, int32_t *tokens,
                                   size_t capacity, size_t *n_tokens, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    VOUCH_TRY(need_tokenizer(model, err));
    return vouch_tokenizer_encode_infill(model->tokenizer, infill, tokens, capacity, n_tokens, err);
}

vouch_status vouch_render_chat(const vouch_model *model, const char *json, size_t n_json, char *text, size_t capacity,
                               size_t *n_text, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
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
