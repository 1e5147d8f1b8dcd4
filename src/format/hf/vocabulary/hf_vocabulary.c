/* SPDX-License-Identifier: MIT */
/*
 * Tokens and merges of a Hugging Face folder.
 *
 *   tokenizer.json, BPE, byte-level        "gpt2"     texts in GPT-2's alphabet, merges
 *   vocab.json and merges.txt              "gpt2"     the same
 *   tokenizer.json, BPE, U+2581            "llama"    scores made from the merges, see below
 *                   ... of Gemma 4         "gemma4"   merges
 *   tokenizer.json, Unigram                "t5"       scores
 *   tokenizer.model                        "llama", "t5" by its model_type; scores
 *
 * Added tokens then replace the vocabulary's entries for their ids.
 *
 * The BPE of SentencePiece merges the pair that gives the token with the best score. tokenizer.json has merges
 * instead of scores: for each token, in the order of the scores, all the pairs of tokens that it can be cut into.
 *
 *   score   -1 "er"   -2 "the"                merges   "e r" │ "t he" "th e"
 *
 * So the order of these groups gives the scores, if every group is complete and in one piece. Otherwise there are
 * no scores that give the same tokens, and the file is refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hf/hf_private.h"
#include "format/hf/vocabulary/hf_tokenizer.h"
#include "os/os.h"

enum { MAX_TOKENS = 1 << 22, MAX_TEXT = 4096 };

struct hf_block {
    hf_block *next;
    char text[];
};

static vouch_status no_memory(const hf_files *files, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tokenizer in %s", vouch_path_tail(files->name));
}

/* Room for n bytes that live as long as the vocabulary; NULL: no memory. */
static char *text_take(hf_vocabulary *v, size_t n)
{
    hf_block *block = malloc(sizeof *block + n);
    if (!block) return NULL;
    block->next = v->blocks;
    v->blocks = block;
    return block->text;
}

static vouch_text text_of(const json_t *string)
{
    return (vouch_text){json_string_value(string), json_string_length(string)};
}

/* --------------------------------------------------------------- added tokens */

typedef struct added_token {
    vouch_text text;
    int64_t id;
    bool special;
    uint8_t flags;
} added_token;

typedef struct added_list {
    added_token *tokens; /* [n] */
    size_t n;
} added_list;

static vouch_status added_read(added_token *token, const json_t *entry, int64_t id, const hf_files *files,
                               vouch_error *err)
{
    *token = (added_token){text_of(json_object_get(entry, "content")), id, vouch_hf_bool(entry, "special", false),
                           (uint8_t)((vouch_hf_bool(entry, "lstrip", false) ? VOUCH_TOKEN_LSTRIP : 0) |
                                     (vouch_hf_bool(entry, "rstrip", false) ? VOUCH_TOKEN_RSTRIP : 0) |
                                     (vouch_hf_bool(entry, "single_word", false) ? VOUCH_TOKEN_SINGLE_WORD : 0))};
    if (token->text.size > 0 && token->id >= 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: an added token has the id %lld and %zu bytes of content; expected an id from 0 on, and a "
                      "text",
                      vouch_path_tail(files->name), (long long)token->id, token->text.size);
}

static int64_t id_of(const json_t *value)
{
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* Gathers tokenizer.json's list where there is one; otherwise tokenizer_config.json's and added_tokens.json. */
static vouch_status added_gather(added_list *list, const hf_files *files, vouch_error *err)
{
    const json_t *array = json_object_get(files->tokenizer, "added_tokens");
    json_t *decoder = json_object_get(files->config, "added_tokens_decoder");
    const size_t most = json_array_size(array) + json_object_size(decoder) + json_object_size(files->added);
    const char *key;
    json_t *value;
    list->tokens = most > 0 ? malloc(most * sizeof *list->tokens) : NULL;
    if (most > 0 && !list->tokens) return no_memory(files, err);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        VOUCH_TRY(added_read(&list->tokens[list->n++], entry, id_of(json_object_get(entry, "id")), files, err));
    }
    if (array) return VOUCH_OK;
    json_object_foreach(files->added, key, value) {
        list->tokens[list->n++] = (added_token){{key, strlen(key)}, id_of(value), false, 0};
        if (id_of(value) < 0 || !*key)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "added_tokens.json: \"%.60s\" has no id; expected a number from 0 "
                              "on",
                              key);
    }
    json_object_foreach(decoder, key, value) {
        char *end;
        const long id = strtol(key, &end, 10);
        VOUCH_TRY(added_read(&list->tokens[list->n++], value, *key && !*end ? id : -1, files, err));
    }
    return VOUCH_OK;
}

/* Names of special tokens that some models don't mark as special. No text should become such a token. llama.cpp has the
 * same list. */
static bool looks_special(vouch_text t)
{
    static const char *const names[] = {"<pad>", "<mask>", "<2mass>", "[@BOS@]"};
    static const char *const frames[][2] = {{"<|", "|>"}, {"<｜", "｜>"}, {"<unused", ">"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vouch_text_is(t, names[i])) return true;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const size_t a = strlen(frames[i][0]), b = strlen(frames[i][1]);
        if (t.size >= a && t.size >= b && memcmp(t.data, frames[i][0], a) == 0 &&
            memcmp(t.data + t.size - b, frames[i][1], b) == 0)
            return true;
    }
    return false;
}

/* Gemma 4's marks of thoughts and tool calls. GGUF has them as user-defined, so that an answer keeps them. */
static bool is_answer_part(const hf_vocabulary *v, vouch_text t)
{
    static const char *const names[] = {"<|channel>",       "<channel|>",       "<|tool_call>", "<tool_call|>",
                                        "<|tool_response>", "<tool_response|>", "<|\"|>"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (vouch_text_is(t, names[i])) return strcmp(v->model, "gemma4") == 0;
    return false;
}

/* A copy of the text with a space for each U+2581. Its data is NULL where memory is short. */
static vouch_text spaces_unmark(hf_vocabulary *v, vouch_text text)
{
    char *out = text_take(v, text.size);
    size_t n = 0;
    for (size_t i = 0; out && i < text.size;) {
        const bool marked = text.size - i >= 3 && memcmp(text.data + i, HF_SPACE_MARK, 3) == 0;
        out[n++] = marked ? ' ' : text.data[i];
        i += marked ? 3 : 1;
    }
    return (vouch_text){out, n};
}

static vouch_status added_apply(hf_vocabulary *v, const added_list *list, const hf_files *files, vouch_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const added_token *a = &list->tokens[i];
        if ((uint64_t)a->id >= v->n_tokens) continue;
        const bool is_special = (a->special || looks_special(a->text)) && !is_answer_part(v, a->text);
        const uint8_t kind = is_special ? HF_CONTROL : HF_USER_DEFINED;
        v->tokens[a->id] = (hf_token){a->text, -1000.0f, kind, a->flags};
    }
    for (size_t i = 0; i < v->n_tokens; i++) {
        hf_token *token = &v->tokens[i];
        if (token->kind == HF_USER_DEFINED) token->text = spaces_unmark(v, token->text);
        if (token->kind == HF_USER_DEFINED && !token->text.data) return no_memory(files, err);
    }
    return VOUCH_OK;
}

/* ----------------------------------------------------------------- base tokens */

static vouch_status token_put(hf_vocabulary *v, const hf_files *files, vouch_text text, int64_t id, float score,
                              uint8_t kind, vouch_error *err)
{
    if (id < 0 || (uint64_t)id >= v->n_tokens)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: token \"%.*s\" has the id %lld; expected 0 to %zu",
                          vouch_path_tail(files->name), HF_TEXT(text), (long long)id, v->n_tokens - 1);
    if (v->tokens[id].text.data)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: two tokens have the id %lld, the second is \"%.*s\"",
                          vouch_path_tail(files->name), (long long)id, HF_TEXT(text));
    v->tokens[id] = (hf_token){text, score, kind, 0};
    return VOUCH_OK;
}

static bool is_byte_name(vouch_text t)
{
    return t.size == 6 && memcmp(t.data, "<0x", 3) == 0 && strspn(t.data + 3, "0123456789ABCDEFabcdef") >= 2 &&
           t.data[5] == '>';
}

/* {"text": id, ...} */
static vouch_status object_read(hf_vocabulary *v, const hf_files *files, json_t *object, bool has_bytes,
                                vouch_error *err)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const vouch_text text = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const uint8_t kind = has_bytes && is_byte_name(text) ? HF_BYTE : HF_NORMAL;
        VOUCH_TRY(token_put(v, files, text, id_of(json_object_iter_value(at)), 0, kind, err));
    }
    return VOUCH_OK;
}

/* [["text", score], ...] */
static vouch_status array_read(hf_vocabulary *v, const hf_files *files, const json_t *array, bool has_bytes,
                               vouch_error *err)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i), *score = json_array_get(entry, 1);
        const vouch_text text = text_of(json_array_get(entry, 0));
        const float value = (float)json_number_value(score);
        if (!text.data || !json_is_number(score) || !isfinite(value))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: model.vocab[%zu]: expected a text and a finite score",
                              vouch_path_tail(files->name), i);
        const uint8_t kind = (int64_t)i == v->unknown          ? HF_UNKNOWN
                             : has_bytes && is_byte_name(text) ? HF_BYTE
                                                               : HF_NORMAL;
        VOUCH_TRY(token_put(v, files, text, (int64_t)i, value, kind, err));
    }
    return VOUCH_OK;
}

static vouch_status pieces_read(hf_vocabulary *v, const hf_files *files, const vouch_sentencepiece *model,
                                vouch_error *err)
{
    for (size_t i = 0; i < model->n_pieces; i++) {
        const vouch_sentencepiece_piece *piece = &model->pieces[i];
        if (piece->kind == HF_UNKNOWN && v->unknown < 0) v->unknown = (int64_t)i;
        VOUCH_TRY(token_put(v, files, piece->text, (int64_t)i, piece->score, (uint8_t)piece->kind, err));
    }
    return VOUCH_OK;
}

/* -------------------------------------------------------------------- merges */

static vouch_status merge_refuse(const hf_files *files, size_t i, vouch_error *err)
{
    return vouch_fail(err, VOUCH_E_FORMAT,
                      "%s: merge %zu: expected two texts without spaces, as \"a b\" or [\"a\", \"b\"]",
                      vouch_path_tail(files->name), i);
}

static bool has_space(vouch_text text)
{
    return text.size == 0 || memchr(text.data, ' ', text.size);
}

/* Makes "left right" of the array ["left", "right"]. */
static vouch_status pair_join(hf_vocabulary *v, const hf_files *files, const json_t *pair, size_t i, vouch_error *err)
{
    const vouch_text left = text_of(json_array_get(pair, 0)), right = text_of(json_array_get(pair, 1));
    if (json_array_size(pair) != 2 || !left.data || !right.data || has_space(left) || has_space(right))
        return merge_refuse(files, i, err);
    char *out = text_take(v, left.size + right.size + 1);
    if (!out) return no_memory(files, err);
    memcpy(out, left.data, left.size);
    out[left.size] = ' ';
    memcpy(out + left.size + 1, right.data, right.size);
    v->merges[i] = (vouch_text){out, left.size + right.size + 1};
    return VOUCH_OK;
}

static vouch_status merges_read(hf_vocabulary *v, const hf_files *files, const json_t *merges, vouch_error *err)
{
    v->n_merges = json_array_size(merges);
    v->merges = malloc((v->n_merges + 1) * sizeof *v->merges);
    if (!v->merges) return no_memory(files, err);
    for (size_t i = 0; i < v->n_merges; i++) {
        const json_t *merge = json_array_get(merges, i);
        v->merges[i] = text_of(merge);
        if (!json_is_string(merge)) VOUCH_TRY(pair_join(v, files, merge, i, err));
        const vouch_text text = v->merges[i];
        const char *space = text.size ? memchr(text.data, ' ', text.size) : NULL;
        const size_t n_left = space ? (size_t)(space - text.data) : 0;
        if (n_left == 0 || has_space((vouch_text){space + 1, text.size - n_left - 1}))
            return merge_refuse(files, i, err);
    }
    return VOUCH_OK;
}

/* Reads merges.txt: one merge a line. The first line may be "#version: ...". */
static vouch_status lines_read(hf_vocabulary *v, const hf_files *files, vouch_error *err)
{
    const char *at = (const char *)files->merges.data, *end = at + files->merges.size;
    size_t n_lines = 1;
    for (const char *c = at; c < end; c++) n_lines += *c == '\n';
    v->merges = malloc(n_lines * sizeof *v->merges);
    if (!v->merges) return no_memory(files, err);
    for (bool first = true; at < end; first = false) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at)), *next = line_end ? line_end + 1 : end;
        if (!line_end) line_end = end;
        if (line_end > at && line_end[-1] == '\r') line_end--;
        const vouch_text line = {at, (size_t)(line_end - at)};
        at = next;
        if (line.size == 0 || (first && line.size > 8 && memcmp(line.data, "#version", 8) == 0)) continue;
        v->merges[v->n_merges++] = line; /* the tokenizer checks it */
    }
    return VOUCH_OK;
}

/* -------------------------------------------------- scores of SentencePiece's BPE */

static int64_t object_find(const json_t *object, const char *text, size_t n)
{
    return id_of(json_object_getn(object, text, n));
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The number of ways to cut the vocabulary's tokens into two of its tokens. */
static size_t cuts_count(json_t *object)
{
    size_t n_cuts = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *text = json_object_iter_key(at);
        const size_t n = json_object_iter_key_len(at);
        for (size_t i = 1; i < n && n <= MAX_TEXT; i++)
            if (begins_character(text[i]) && object_find(object, text, i) >= 0)
                n_cuts += object_find(object, text + i, n - i) >= 0;
    }
    return n_cuts;
}

static vouch_status scores_make(hf_vocabulary *v, const hf_files *files, json_t *object, vouch_error *err)
{
    const float untouched = 1;
    char joined[MAX_TEXT];
    float score = 0;
    int64_t group = -1;
    bool torn = cuts_count(object) != v->n_merges;
    for (size_t i = 0; i < v->n_tokens; i++) v->tokens[i].score = untouched;
    for (size_t i = 0; i < v->n_merges && !torn; i++) {
        const vouch_text merge = v->merges[i];
        const size_t left = (size_t)((const char *)memchr(merge.data, ' ', merge.size) - merge.data);
        if (merge.size > sizeof joined) return merge_refuse(files, i, err);
        memcpy(joined, merge.data, left);
        memcpy(joined + left, merge.data + left + 1, merge.size - left - 1);
        const int64_t id = object_find(object, joined, merge.size - 1);
        if (id < 0 || (uint64_t)id >= v->n_tokens)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: merge %zu, \"%.*s\": no token is the two joined",
                              vouch_path_tail(files->name), i, HF_TEXT(merge));
        if (id != group && v->tokens[id].score != untouched) torn = true;
        if (id != group) v->tokens[id].score = score -= 1;
        group = id;
    }
    for (size_t i = 0; i < v->n_tokens; i++)
        if (v->tokens[i].score == untouched) v->tokens[i].score = score - 1; /* no merge gives it */
    if (!torn) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: its merges don't come from SentencePiece's scores: add tokenizer.model to the folder, or "
                      "use a GGUF file of the model",
                      vouch_path_tail(files->name));
}

/* -------------------------------------------------------------------- reading */

/* One more than the highest id. */
static int64_t ids_end(json_t *vocab, size_t n_pieces, const added_list *added)
{
    int64_t end = json_is_array(vocab) ? (int64_t)json_array_size(vocab) : (int64_t)n_pieces;
    for (void *at = json_object_iter(vocab); at; at = json_object_iter_next(vocab, at)) {
        const int64_t id = id_of(json_object_iter_value(at));
        if (id >= end && id < INT64_MAX) end = id + 1;
    }
    for (size_t i = 0; i < added->n; i++)
        if (added->tokens[i].id >= end && added->tokens[i].id < INT64_MAX) end = added->tokens[i].id + 1;
    return end;
}

static vouch_status bpe_read(hf_vocabulary *v, const hf_files *files, const hf_words *words, json_t *vocab,
                             vouch_error *err)
{
    const json_t *model = json_object_get(files->tokenizer, "model");
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; i++) {
        const char *affix = vouch_hf_text(model, affixes[i]);
        if (affix && *affix)
            return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: model.%s is \"%.60s\"; expected \"\" or null",
                              vouch_path_tail(files->name), affixes[i], affix);
    }
    const bool has_bytes = !words->is_bytes && vouch_hf_bool(model, "byte_fallback", false);
    const char *type = vouch_hf_text(files->model, "model_type"), *unknown = vouch_hf_text(model, "unk_token");
    VOUCH_TRY(object_read(v, files, vocab, has_bytes, err));
    VOUCH_TRY(files->vocab ? lines_read(v, files, err) : merges_read(v, files, json_object_get(model, "merges"), err));
    if (unknown && !words->is_bytes) v->unknown = object_find(vocab, unknown, strlen(unknown));
    if (v->unknown >= 0) v->tokens[v->unknown].kind = HF_UNKNOWN;
    v->model = words->is_bytes ? "gpt2" : type && strncmp(type, "gemma4", 6) == 0 ? "gemma4" : "llama";
    return strcmp(v->model, "llama") == 0 ? scores_make(v, files, vocab, err) : VOUCH_OK;
}

static vouch_status inner_space_check(const hf_vocabulary *v, const hf_files *files, vouch_error *err)
{
    for (size_t i = 0; i < v->n_tokens; i++) {
        const vouch_text text = v->tokens[i].text;
        if (v->tokens[i].kind == HF_NORMAL && text.size > 3 && memmem(text.data + 1, text.size - 1, HF_SPACE_MARK, 3))
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: token %zu, \"%.*s\", has a space inside, but pre_tokenizer splits there",
                              vouch_path_tail(files->name), i, HF_TEXT(text));
    }
    return VOUCH_OK;
}

static vouch_status base_read(hf_vocabulary *v, const hf_files *files, const hf_words *words,
                              const vouch_sentencepiece *sentencepiece, json_t *vocab, vouch_error *err)
{
    const json_t *model = json_object_get(files->tokenizer, "model");
    if (sentencepiece) {
        v->model = sentencepiece->model_type == VOUCH_SENTENCEPIECE_BPE ? "llama" : "t5";
        return pieces_read(v, files, sentencepiece, err);
    }
    if (json_is_object(vocab)) {
        VOUCH_TRY(bpe_read(v, files, words, vocab, err));
    } else {
        const json_t *unknown = json_object_get(model, "unk_id");
        v->model = "t5";
        v->unknown = id_of(unknown);
        VOUCH_TRY(array_read(v, files, vocab, vouch_hf_bool(model, "byte_fallback", false), err));
    }
    return words->splits_words ? inner_space_check(v, files, err) : VOUCH_OK;
}

static vouch_status holes_fill(hf_vocabulary *v, const hf_files *files, vouch_error *err)
{
    for (size_t i = 0; i < v->n_tokens; i++) {
        enum { ROOM = 24 };
        if (v->tokens[i].text.data) continue;
        char *name = text_take(v, ROOM);
        if (!name) return no_memory(files, err);
        v->tokens[i] = (hf_token){{name, (size_t)snprintf(name, ROOM, "[PAD%zu]", i)}, -10000.0f, HF_UNUSED, 0};
    }
    return VOUCH_OK;
}

static vouch_status vocabulary_read(hf_vocabulary *v, const hf_files *files, const hf_words *words,
                                    const vouch_sentencepiece *sentencepiece, int32_t n_vocab, added_list *added,
                                    vouch_error *err)
{
    const json_t *model = json_object_get(files->tokenizer, "model");
    json_t *vocab = sentencepiece ? NULL : files->vocab ? files->vocab : json_object_get(model, "vocab");
    const char *type = vouch_hf_text(model, "type");
    const bool has_type = !type || strcmp(type, json_is_array(vocab) ? "Unigram" : "BPE") == 0;
    if (!sentencepiece && (!has_type || (!json_is_object(vocab) && (!json_is_array(vocab) || words->is_bytes))))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: model.type is %.60s; expected BPE or Unigram with model.vocab",
                          vouch_path_tail(files->name), type ? type : "absent");
    VOUCH_TRY(added_gather(added, files, err));
    const int64_t n = n_vocab > 0 ? n_vocab : ids_end(vocab, sentencepiece ? sentencepiece->n_pieces : 0, added);
    if (n < 1 || n > MAX_TOKENS)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: the vocabulary needs %lld ids; expected 1 to %d",
                          vouch_path_tail(files->name), (long long)n, MAX_TOKENS);
    v->n_tokens = (size_t)n;
    v->tokens = calloc(v->n_tokens, sizeof *v->tokens);
    if (!v->tokens) return no_memory(files, err);
    VOUCH_TRY(base_read(v, files, words, sentencepiece, vocab, err));
    VOUCH_TRY(added_apply(v, added, files, err));
    return holes_fill(v, files, err);
}

vouch_status vouch_hf_vocabulary_read(hf_vocabulary *vocabulary, const hf_files *files, const hf_words *words,
                                      const vouch_sentencepiece *sentencepiece, int32_t n_vocab, vouch_error *err)
{
    added_list added = {0};
    *vocabulary = (hf_vocabulary){.unknown = -1};
    const vouch_status status = vocabulary_read(vocabulary, files, words, sentencepiece, n_vocab, &added, err);
    free(added.tokens);
    if (status != VOUCH_OK) vouch_hf_vocabulary_free(vocabulary);
    return status;
}

void vouch_hf_vocabulary_free(hf_vocabulary *vocabulary)
{
    for (hf_block *block = vocabulary->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(vocabulary->tokens);
    free(vocabulary->merges);
    *vocabulary = (hf_vocabulary){0};
}

int64_t vouch_hf_vocabulary_find(const hf_vocabulary *vocabulary, const char *text)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < vocabulary->n_tokens; i++) {
        const vouch_text token = vocabulary->tokens[i].text;
        if (token.size == n && memcmp(token.data, text, n) == 0) return (int64_t)i;
    }
    return -1;
}
