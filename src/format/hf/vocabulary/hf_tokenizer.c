/* SPDX-License-Identifier: MIT */
/* The keys of a Hugging Face folder's tokenizer (hf_tokenizer.h): special tokens, chat template, and the writing. */
#include "format/hf/vocabulary/hf_tokenizer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hf/hf_keys.h"
#include "format/hf/hf_private.h"

/* The special tokens of transformers, by the beginning of their names: "bos" for bos_token, bos_token_id. */
static const struct {
    const char *name, *key;
} roles[] = {{"bos", "tokenizer.ggml.bos_token_id"},     {"eos", "tokenizer.ggml.eos_token_id"},
             {"unk", "tokenizer.ggml.unknown_token_id"}, {"sep", "tokenizer.ggml.seperator_token_id"}, /* as spelled */
             {"pad", "tokenizer.ggml.padding_token_id"}, {"mask", "tokenizer.ggml.mask_token_id"}};
enum { BOS, EOS, UNK, SEP, PAD, MASK, N_ROLES };

typedef struct hf_source {
    hf_files files;
    hf_words words;
    vouch_sentencepiece sentencepiece;
    bool has_sentencepiece;
    hf_vocabulary vocabulary;
    int64_t ids[N_ROLES]; /* -1: none */
    int32_t *ends;        /* [n_ends] tokens that end an answer */
    size_t n_ends;
    int add[2]; /* whether BOS and EOS are added to a text; -1: unknown */
} hf_source;

/* ---------------------------------------------------------------------- words */

/* vocab.json doesn't say how texts become words. The name of the tokenizer's class does. */
static vouch_status words_of_class(hf_source *s, vouch_error *err)
{
    static const struct {
        const char *class, *pre;
        bool nfc;
    } classes[] = {{"GPT2Tokenizer", "gpt-2", false},    {"GPT2TokenizerFast", "gpt-2", false},
                   {"CodeGenTokenizer", "gpt-2", false}, {"CodeGenTokenizerFast", "gpt-2", false},
                   {"Qwen2Tokenizer", "qwen2", true},    {"Qwen2TokenizerFast", "qwen2", true}};
    const char *class = vouch_hf_text(s->files.config, "tokenizer_class");
    s->words = (hf_words){.is_bytes = true, .pre = class ? NULL : "gpt-2"};
    for (size_t i = 0; class && i < sizeof classes / sizeof *classes; i++)
        if (strcmp(class, classes[i].class) == 0)
            s->words = (hf_words){.is_bytes = true, .pre = classes[i].pre, .nfc = classes[i].nfc};
    if (s->words.pre) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: tokenizer_class is \"%.60s\"; without tokenizer.json, vouch knows GPT2Tokenizer, "
                      "CodeGenTokenizer and Qwen2Tokenizer",
                      vouch_path_tail(s->files.name), class);
}

static vouch_status words_of_sentencepiece(hf_source *s, vouch_error *err)
{
    const vouch_sentencepiece *model = &s->sentencepiece;
    const char *name = vouch_path_tail(s->files.name);
    s->words = (hf_words){.space_prefix = model->add_dummy_prefix, .remove_spaces = model->remove_extra_whitespaces};
    if (model->model_type != VOUCH_SENTENCEPIECE_UNIGRAM && model->model_type != VOUCH_SENTENCEPIECE_BPE)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: model_type is %d; expected 1 (unigram) or 2 (BPE)", name,
                          model->model_type);
    if (model->space_is_suffix)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: treat_whitespace_as_suffix is set, which vouch doesn't have",
                          name);
    if (model->charsmap.size == 0) return VOUCH_OK;
    s->words.charsmap = malloc(model->charsmap.size);
    if (!s->words.charsmap) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokenizer in %s", name);
    memcpy(s->words.charsmap, model->charsmap.data, model->charsmap.size);
    s->words.n_charsmap = model->charsmap.size;
    return VOUCH_OK;
}

static vouch_status words_read(hf_source *s, vouch_error *err)
{
    if (s->has_sentencepiece) return words_of_sentencepiece(s, err);
    if (s->files.tokenizer) return vouch_hf_words_read(&s->words, &s->files, err);
    return words_of_class(s, err);
}

/* -------------------------------------------------------------- special tokens */

/* Text of a special token: "text" or {"content": "text"}. */
static const char *token_text(const json_t *value)
{
    return json_is_string(value) ? json_string_value(value) : vouch_hf_text(value, "content");
}

static const char *role_text(const hf_files *files, const char *role)
{
    char key[32];
    snprintf(key, sizeof key, "%s_token", role);
    const char *text = token_text(json_object_get(files->config, key));
    return text ? text : token_text(json_object_get(files->specials, key));
}

static int64_t role_number(const json_t *model, const char *role)
{
    char key[32];
    snprintf(key, sizeof key, "%s_token_id", role);
    const json_t *id = json_object_get(model, key);
    if (!id) id = json_object_get(json_object_get(model, "text_config"), key);
    return json_is_integer(id) ? json_integer_value(id) : -1;
}

/* Reads the tokens at which transformers' generate stops: an id or a list. Ids outside the vocabulary never occur. */
static vouch_status ends_read(hf_source *s, vouch_error *err)
{
    const json_t *model = s->files.model, *text = json_object_get(model, "text_config"), *value = NULL;
    const json_t *const places[] = {s->files.generation, model, text};
    static const char *const names[] = {"generation_config.json: ", "config.json: ", "config.json: text_config."};
    char shown[64];
    size_t at = 0;
    while (at < 3 && !(value = vouch_json_find(places[at], "eos_token_id"))) at++;
    const size_t n = json_is_array(value) ? json_array_size(value) : value != NULL;
    s->ends = calloc(n + 1, sizeof *s->ends);
    if (!s->ends) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu ids of tokens", n);
    for (size_t i = 0; i < n; i++) {
        double id;
        if (!vouch_json_to_number(json_is_array(value) ? json_array_get(value, i) : value, &id) || id != floor(id))
            return vouch_fail(err, VOUCH_E_FORMAT, "%seos_token_id is %s; expected an integer or a list of integers",
                              names[at], vouch_hf_value(value, shown));
        if (id >= 0 && id < (double)s->vocabulary.n_tokens) s->ends[s->n_ends++] = (int32_t)id;
    }
    return VOUCH_OK;
}

static void roles_read(hf_source *s)
{
    hf_vocabulary *v = &s->vocabulary;
    const int64_t own[N_ROLES] = {s->has_sentencepiece ? s->sentencepiece.bos : -1,
                                  s->has_sentencepiece ? s->sentencepiece.eos : -1,
                                  v->unknown,
                                  -1,
                                  s->has_sentencepiece ? s->sentencepiece.pad : -1,
                                  -1};
    for (int i = 0; i < N_ROLES; i++) {
        const char *text = role_text(&s->files, roles[i].name);
        int64_t id = text ? vouch_hf_vocabulary_find(v, text) : -1;
        if (id >= 0 && v->tokens[id].kind == HF_NORMAL) v->tokens[id].kind = HF_CONTROL;
        if (id < 0 && i == EOS && s->n_ends > 0) id = s->ends[0];
        if (id < 0 && i != EOS) id = role_number(s->files.model, roles[i].name);
        if (id < 0) id = own[i];
        s->ids[i] = id >= 0 && (uint64_t)id < v->n_tokens ? id : -1;
    }
}

/* The id of the special token in a step of the post-processor's template; -1: the step has none. */
static int64_t template_id(const hf_source *s, const json_t *step)
{
    const char *text = vouch_hf_text(json_object_get(step, "SpecialToken"), "id");
    return text ? vouch_hf_vocabulary_find(&s->vocabulary, text) : -1;
}

static void template_read(hf_source *s, const json_t *processor)
{
    const json_t *single = json_object_get(processor, "single");
    const size_t n = json_array_size(single);
    if (n < 2) return;
    const int64_t first = template_id(s, json_array_get(single, 0));
    const int64_t last = template_id(s, json_array_get(single, n - 1));
    if (first >= 0 && s->ids[BOS] < 0) s->ids[BOS] = first;
    if (first >= 0) s->add[BOS] = first == s->ids[BOS];
    if (last >= 0) s->add[EOS] = last == s->ids[EOS];
}

/* Reads whether BOS and EOS are added to a text. The post-processor of tokenizer.json decides, and where it doesn't
 * say, tokenizer_config.json. */
static void additions_read(hf_source *s)
{
    static const char *const keys[] = {"add_bos_token", "add_eos_token"};
    const json_t *top = json_object_get(s->files.tokenizer, "post_processor");
    const json_t *list = json_object_get(top, "processors");
    const size_t n = list ? json_array_size(list) : 1;
    bool is_bytes = false;
    s->add[BOS] = s->add[EOS] = -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *processor = list ? json_array_get(list, i) : top;
        const char *type = vouch_hf_text(processor, "type");
        if (type && strcmp(type, "TemplateProcessing") == 0) template_read(s, processor);
        is_bytes |= type && strcmp(type, "ByteLevel") == 0;
    }
    for (int i = BOS; i <= EOS; i++) {
        const json_t *value = json_object_get(s->files.config, keys[i]);
        if (s->add[i] < 0 && is_bytes) s->add[i] = 0;
        if (s->add[i] < 0 && json_is_boolean(value)) s->add[i] = json_is_true(value);
        if (s->ids[i] < 0 && s->add[i] > 0) s->add[i] = 0;
    }
}

/* ---------------------------------------------------------------- chat template */

/* The chat template in tokenizer_config.json: a text, or in a list the one named "default". */
static const char *template_of_config(const json_t *config)
{
    const json_t *value = json_object_get(config, "chat_template");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *name = vouch_hf_text(json_array_get(value, i), "name");
        if (name && strcmp(name, "default") == 0) return vouch_hf_text(json_array_get(value, i), "template");
    }
    return json_string_value(value);
}

static vouch_status template_add(vouch_gguf_writer *writer, const hf_files *files, vouch_error *err)
{
    const vouch_filemap *map = &files->chat_template;
    const char *text = map->data ? NULL : template_of_config(files->config);
    if (text) vouch_gguf_add_text(writer, "tokenizer.chat_template", text);
    if (!map->data) return VOUCH_OK;
    char *copy = malloc(map->size + 1);
    if (!copy) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for chat_template.jinja");
    memcpy(copy, map->data, map->size);
    copy[map->size] = '\0';
    const bool has_nul = strlen(copy) < map->size;
    if (!has_nul) vouch_gguf_add_text(writer, "tokenizer.chat_template", copy);
    free(copy);
    return has_nul ? vouch_fail(err, VOUCH_E_FORMAT, "chat_template.jinja: has a NUL byte; expected a text") : VOUCH_OK;
}

/* ---------------------------------------------------------------------- writing */

/* Adds an array with one value of `size` bytes for each token; `fill` writes value i. */
static vouch_status column_add(vouch_gguf_writer *writer, const char *key, vouch_gguf_type type, size_t size,
                               const hf_vocabulary *v, void (*fill)(void *out, const hf_token *token, size_t i),
                               vouch_error *err)
{
    void *values = calloc(v->n_tokens, size);
    if (!values) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %zu tokens", v->n_tokens);
    for (size_t i = 0; i < v->n_tokens; i++) fill(values, &v->tokens[i], i);
    if (type == VOUCH_GGUF_STRING) vouch_gguf_add_texts(writer, key, values, v->n_tokens);
    else vouch_gguf_add_array(writer, key, type, values, v->n_tokens);
    free(values);
    return VOUCH_OK;
}

static void fill_text(void *out, const hf_token *token, size_t i)
{
    ((vouch_text *)out)[i] = token->text;
}

static void fill_kind(void *out, const hf_token *token, size_t i)
{
    ((int32_t *)out)[i] = token->kind;
}

static void fill_score(void *out, const hf_token *token, size_t i)
{
    ((float *)out)[i] = token->score;
}

static void fill_flags(void *out, const hf_token *token, size_t i)
{
    ((uint8_t *)out)[i] = token->flags;
}

static vouch_status vocabulary_add(vouch_gguf_writer *writer, const hf_vocabulary *v, bool has_scores, vouch_error *err)
{
    VOUCH_TRY(column_add(writer, "tokenizer.ggml.tokens", VOUCH_GGUF_STRING, sizeof(vouch_text), v, fill_text, err));
    if (has_scores)
        VOUCH_TRY(column_add(writer, "tokenizer.ggml.scores", VOUCH_GGUF_F32, sizeof(float), v, fill_score, err));
    VOUCH_TRY(column_add(writer, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, sizeof(int32_t), v, fill_kind, err));
    VOUCH_TRY(column_add(writer, "tokenizer.vouch.token_flags", VOUCH_GGUF_U8, sizeof(uint8_t), v, fill_flags, err));
    if (v->merges && strcmp(v->model, "llama") != 0)
        vouch_gguf_add_texts(writer, "tokenizer.ggml.merges", v->merges, v->n_merges);
    return VOUCH_OK;
}

static void words_add(vouch_gguf_writer *writer, const hf_source *s)
{
    const hf_words *w = &s->words;
    const json_t *model = json_object_get(s->files.tokenizer, "model");
    if (w->is_bytes) {
        vouch_gguf_add_text(writer, "tokenizer.ggml.pre", w->pre);
        vouch_gguf_add_bool(writer, "tokenizer.vouch.nfc", w->nfc);
        vouch_gguf_add_bool(writer, "tokenizer.vouch.whole_words", vouch_hf_bool(model, "ignore_merges", false));
        return;
    }
    vouch_gguf_add_text(writer, "tokenizer.ggml.pre", "default");
    vouch_gguf_add_bool(writer, "tokenizer.ggml.add_space_prefix", w->space_prefix);
    vouch_gguf_add_bool(writer, "tokenizer.ggml.remove_extra_whitespaces", w->remove_spaces);
    if (w->n_charsmap > 0)
        vouch_gguf_add_array(writer, "tokenizer.ggml.precompiled_charsmap", VOUCH_GGUF_U8, w->charsmap, w->n_charsmap);
}

static vouch_status source_add(vouch_gguf_writer *writer, hf_source *s, vouch_error *err)
{
    static const char *const adds[] = {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token"};
    vouch_gguf_add_text(writer, "tokenizer.ggml.model", s->vocabulary.model);
    words_add(writer, s);
    VOUCH_TRY(vocabulary_add(writer, &s->vocabulary, !s->words.is_bytes, err));
    for (int i = 0; i < N_ROLES; i++)
        if (s->ids[i] >= 0) vouch_gguf_add_u32(writer, roles[i].key, (uint32_t)s->ids[i]);
    if (s->n_ends > 0)
        vouch_gguf_add_array(writer, "tokenizer.vouch.end_token_ids", VOUCH_GGUF_I32, s->ends, s->n_ends);
    for (int i = BOS; i <= EOS; i++)
        if (s->add[i] >= 0) vouch_gguf_add_bool(writer, adds[i], s->add[i] > 0);
    return template_add(writer, &s->files, err);
}

static vouch_status source_read(hf_source *s, int32_t n_vocab, vouch_error *err)
{
    const vouch_filemap *map = &s->files.sentencepiece;
    if (map->data)
        VOUCH_TRY(vouch_sentencepiece_read(&s->sentencepiece, map->data, map->size, vouch_path_tail(s->files.name),
                                           err));
    s->has_sentencepiece = map->data != NULL;
    VOUCH_TRY(words_read(s, err));
    VOUCH_TRY(vouch_hf_vocabulary_read(&s->vocabulary, &s->files, &s->words,
                                       s->has_sentencepiece ? &s->sentencepiece : NULL, n_vocab, err));
    VOUCH_TRY(ends_read(s, err));
    roles_read(s);
    additions_read(s);
    return VOUCH_OK;
}

vouch_status vouch_hf_tokenizer_add(vouch_gguf_writer *writer, const char *path, int32_t n_vocab, vouch_error *err)
{
    hf_source s = {0};
    VOUCH_TRY(vouch_hf_files_open(&s.files, path, err));
    const bool is_empty = !s.files.tokenizer && !s.files.vocab && !s.files.sentencepiece.data;
    vouch_status status = is_empty ? VOUCH_OK : source_read(&s, n_vocab, err);
    if (status == VOUCH_OK && !is_empty) status = source_add(writer, &s, err);
    free(s.ends);
    vouch_hf_vocabulary_free(&s.vocabulary);
    vouch_hf_words_free(&s.words);
    vouch_sentencepiece_free(&s.sentencepiece);
    vouch_hf_files_close(&s.files);
    return status;
}
