/* SPDX-License-Identifier: MIT */
/*
 * Normaliser and pre-tokenizer of tokenizer.json.
 *
 *   byte-level   the pre-tokenizer is a chain of patterns, each of which cuts the pieces of the one before. The chain
 *                decides tokenizer.ggml.pre: it has to be one of `chains`, which are spelled as in tokenizer.json.
 *
 *     {"type": "Sequence", "pretokenizers": [                              \p{N}{1,3}
 *        {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}"}, ...},  ─►  [一-龥぀-ゟ゠-ヿ]+     ─►  "deepseek-v3"
 *        {"type": "Split", "pattern": {"Regex": "[一-龥..."}, ...},        [!\"#$%...
 *        ..., {"type": "ByteLevel", "use_regex": false}]}
 *
 *   others       the steps say how SentencePiece treats spaces: a prefix, runs of spaces, and spaces inside tokens.
 *
 * vouch refuses a step that it doesn't have: without the step a text could get other tokens.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hf/hf_private.h"

#define SUFFIX     "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES     "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define LAST       "\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"
#define GPT2       "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define WORDS      "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define SYMBOLS    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
#define LLAMA3(digits) SUFFIX "|" WORDS digits "|" SYMBOLS SPACES
#define CL100K(digits)                                                                                               \
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|" LAST
#define UPPER      "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER      "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define CASED(suffix, digits)                                                                                        \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" suffix "|"     \
    digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
#define GPT4O      CASED(SUFFIX "?", "\\p{N}{1,3}")
#define IDEOGRAPHS "[一-龥぀-ゟ゠-ヿ]+"
#define EASTERN    "[一-龥ࠀ-一가-퟿]+"
#define DEEPSEEK3                                                                                                    \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"             \
    " ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES
#define BLOOM      " ?[^(\\s|[.,!?…。，、।۔،])]+"
/* Steps that have no pattern in the file. */
#define EACH_DIGIT  "Digits(each)"
#define DIGITS      "Digits(runs)"
#define PUNCTUATION "Punctuation(runs)"

static const struct {
    const char *chain;           /* patterns, one a line */
    const char *pre, *pre_whole; /* pre_whole: where a word that is a token isn't merged (ignore_merges) */
} chains[] = {
    {GPT2, "gpt-2", NULL},
    {EACH_DIGIT "\n" GPT2, "smollm", NULL},
    {LLAMA3("\\p{N}{1,3}"), "dbrx", "llama-bpe"},
    {CL100K("\\p{N}{1,3}"), "dbrx", "llama-bpe"},
    {LLAMA3("\\p{N}"), "qwen2", NULL},
    {CL100K("\\p{N}"), "bailingmoe", NULL},
    {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES, "qwen35",
     NULL},
    {GPT4O, "gpt-4o", "granite-embed-multi-97m"},
    {CASED("", "\\p{N}"), "tekken", "tekken"},
    {"\\p{N}{1,3}\n" IDEOGRAPHS "\n" DEEPSEEK3, "deepseek-v3", NULL},
    {"[\\r\\n]\n\\s?\\p{L}+\n\\s?\\p{P}+\n" EASTERN "\n" EACH_DIGIT, "deepseek-coder", NULL},
    {"\\p{N}{1,3}\n" LLAMA3("\\p{N}+"), "minicpm5", "minicpm5"},
    {"\\d{1,3}(?=(?:\\d{3})*\\b)\n" GPT4O, "tiny_aya", NULL},
    {"[^\\n]+|[\\n]+\n" LLAMA3("\\p{N}"), "laguna", NULL},
    {SUFFIX "|" WORDS "\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES, "seed-coder", NULL},
    {WORDS "\\p{N}|" SYMBOLS SPACES, "ufakzeka", NULL},
    {SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|" LAST,
     "exaone-moe", NULL},
    {SUFFIX "|" WORDS "\\p{N}{1,3}|" SYMBOLS
            "\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|"
            "\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}",
     "jais-2", NULL},
    {BLOOM, "bloom", NULL},
    {BLOOM "\n" EACH_DIGIT, "viking", NULL},
    {PUNCTUATION "\n" GPT2 "\n" DIGITS "\n[0-9][0-9][0-9]", "falcon", NULL},
};

/* A walk over the steps of the normaliser and the pre-tokenizer. */
typedef struct steps {
    const hf_files *files;
    hf_words *words;
    char chain[8192]; /* of patterns, one a line */
    size_t n_chain;
    bool marks_spaces; /* a space becomes U+2581 */
    bool splits_white; /* every white space ends a word */
} steps;

/* ----------------------------------------------------------------- messages */

static vouch_status step_refuse(const steps *s, const char *member, const json_t *step, vouch_error *err)
{
    char *text = json_dumps(step, JSON_COMPACT | JSON_ENCODE_ANY);
    const vouch_status status =
        vouch_fail(err, VOUCH_E_UNSUPPORTED,
                   "%s: %s has the step %.160s, which vouch doesn't have: use a GGUF file of the model",
                   vouch_path_tail(s->files->name), member, text ? text : "?");
    free(text);
    return status;
}

static vouch_status chain_add(steps *s, const char *pattern, size_t n, vouch_error *err)
{
    if (s->n_chain > 0) s->chain[s->n_chain++] = '\n';
    for (size_t i = 0; i < n; i++) {
        const bool is_line_end = pattern[i] == '\n' || pattern[i] == '\r';
        if (s->n_chain + 4 > sizeof s->chain)
            return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: pre_tokenizer has more than %zu bytes of patterns",
                              vouch_path_tail(s->files->name), sizeof s->chain);
        if (is_line_end) s->chain[s->n_chain++] = '\\'; /* some files have the character itself, not \n */
        s->chain[s->n_chain++] = pattern[i] == '\n' ? 'n' : pattern[i] == '\r' ? 'r' : pattern[i];
    }
    return VOUCH_OK;
}

/* --------------------------------------------------------------- normaliser */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static vouch_status charsmap_decode(steps *s, const json_t *step, vouch_error *err)
{
    const json_t *value = json_object_get(step, "precompiled_charsmap");
    const char *text = json_string_value(value);
    size_t n = json_string_length(value);
    uint32_t bits = 0;
    if (!text || s->words->charsmap) return step_refuse(s, "normalizer", step, err);
    char *out = s->words->charsmap = malloc(n + 1);
    if (!out) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    while (n > 0 && text[n - 1] == '=') n--;
    for (size_t i = 0; i < n; i++) {
        const int digit = base64_digit(text[i]);
        if (digit < 0)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: normalizer.precompiled_charsmap is not in base64 at byte %zu",
                              vouch_path_tail(s->files->name), i);
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 > 0) out[s->words->n_charsmap++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    return VOUCH_OK;
}

static bool replaces(const json_t *step, const char *kind, const char *from, const char *to)
{
    const char *pattern = vouch_hf_text(json_object_get(step, "pattern"), kind);
    const char *content = vouch_hf_text(step, "content");
    return pattern && content && strcmp(pattern, from) == 0 && strcmp(content, to) == 0;
}

static vouch_status normalizer_step(steps *s, const json_t *step, const char *type, vouch_error *err)
{
    hf_words *w = s->words;
    const char *prepended = vouch_hf_text(step, "prepend");
    if (strcmp(type, "NFC") == 0) w->nfc = true;
    else if (strcmp(type, "Precompiled") == 0) return charsmap_decode(s, step, err);
    else if (strcmp(type, "Prepend") == 0 && prepended && strcmp(prepended, HF_SPACE_MARK) == 0) w->space_prefix = true;
    else if (replaces(step, "String", " ", HF_SPACE_MARK)) s->marks_spaces = true;
    else if (replaces(step, "Regex", " {2,}", " ") || replaces(step, "Regex", " {2,}", HF_SPACE_MARK))
        w->remove_spaces = true;
    else if (strcmp(type, "Strip") == 0 && w->charsmap)
        w->remove_spaces = true; /* the charsmap has made spaces of all white space */
    else return step_refuse(s, "normalizer", step, err);
    return VOUCH_OK;
}

/* ------------------------------------------------------------ pre-tokenizer */

static vouch_status split_step(steps *s, const json_t *step, vouch_error *err)
{
    const json_t *pattern = json_object_get(step, "pattern"), *regex = json_object_get(pattern, "Regex");
    const char *literal = vouch_hf_text(pattern, "String"), *behavior = vouch_hf_text(step, "behavior");
    const bool invert = vouch_hf_bool(step, "invert", false);
    /* Spaces are U+2581 by now: nothing matches. */
    if (literal && strcmp(literal, " ") == 0 && s->marks_spaces) return VOUCH_OK;
    /* The patterns of `chains` match at every index, so "Removed" with `invert` removes nothing. */
    const bool isolates = behavior && strcmp(behavior, invert ? "Removed" : "Isolated") == 0;
    if (!json_is_string(regex) || !isolates) return step_refuse(s, "pre_tokenizer", step, err);
    return chain_add(s, json_string_value(regex), json_string_length(regex), err);
}

static vouch_status byte_level_step(steps *s, const json_t *step, vouch_error *err)
{
    s->words->is_bytes = true;
    if (vouch_hf_bool(step, "add_prefix_space", true)) return step_refuse(s, "pre_tokenizer", step, err);
    return vouch_hf_bool(step, "use_regex", true) ? chain_add(s, GPT2, strlen(GPT2), err) : VOUCH_OK;
}

static vouch_status metaspace_step(steps *s, const json_t *step, vouch_error *err)
{
    const char *scheme = vouch_hf_text(step, "prepend_scheme"), *mark = vouch_hf_text(step, "replacement");
    if (mark && strcmp(mark, HF_SPACE_MARK) != 0) return step_refuse(s, "pre_tokenizer", step, err);
    s->words->space_prefix |= scheme ? strcmp(scheme, "never") != 0 : vouch_hf_bool(step, "add_prefix_space", true);
    s->words->splits_words |= vouch_hf_bool(step, "split", true);
    s->words->remove_spaces |= s->splits_white;
    s->marks_spaces = true;
    return VOUCH_OK;
}

static vouch_status pretokenizer_step(steps *s, const json_t *step, const char *type, vouch_error *err)
{
    const char *behavior = vouch_hf_text(step, "behavior");
    if (strcmp(type, "Split") == 0) return split_step(s, step, err);
    if (strcmp(type, "ByteLevel") == 0) return byte_level_step(s, step, err);
    if (strcmp(type, "Metaspace") == 0) return metaspace_step(s, step, err);
    if (strcmp(type, "WhitespaceSplit") == 0 && s->words->charsmap) {
        s->splits_white = true;
        return VOUCH_OK;
    }
    if (strcmp(type, "Digits") == 0) {
        const char *name = vouch_hf_bool(step, "individual_digits", false) ? EACH_DIGIT : DIGITS;
        return chain_add(s, name, strlen(name), err);
    }
    if (strcmp(type, "Punctuation") == 0 && behavior && strcmp(behavior, "Contiguous") == 0)
        return chain_add(s, PUNCTUATION, strlen(PUNCTUATION), err);
    return step_refuse(s, "pre_tokenizer", step, err);
}

/* ------------------------------------------------------------------- chains */

typedef vouch_status step_fn(steps *s, const json_t *step, const char *type, vouch_error *err);

/* Calls `fn` for a step, or for the steps of a sequence, which has no sequences inside. */
static vouch_status steps_walk(steps *s, const char *member, const char *list, step_fn *fn, vouch_error *err)
{
    const json_t *top = json_object_get(s->files->tokenizer, member), *inner = json_object_get(top, list);
    if (!top || json_is_null(top)) return VOUCH_OK;
    const size_t n = inner ? json_array_size(inner) : 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *step = inner ? json_array_get(inner, i) : top;
        const char *type = vouch_hf_text(step, "type");
        if (!type) return step_refuse(s, member, step, err);
        VOUCH_TRY(fn(s, step, type, err));
    }
    return VOUCH_OK;
}

static vouch_status chain_find(steps *s, bool whole_words, vouch_error *err)
{
    s->chain[s->n_chain] = '\0';
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        if (strcmp(chains[i].chain, s->chain) != 0) continue;
        s->words->pre = whole_words && chains[i].pre_whole ? chains[i].pre_whole : chains[i].pre;
        return VOUCH_OK;
    }
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: pre_tokenizer has the patterns %.200s, which vouch doesn't have: use a GGUF file of the "
                      "model",
                      vouch_path_tail(s->files->name), s->n_chain ? s->chain : "(none)");
}

static vouch_status words_read(steps *s, vouch_error *err)
{
    const json_t *model = json_object_get(s->files->tokenizer, "model");
    hf_words *w = s->words;
    VOUCH_TRY(steps_walk(s, "normalizer", "normalizers", normalizer_step, err));
    VOUCH_TRY(steps_walk(s, "pre_tokenizer", "pretokenizers", pretokenizer_step, err));
    const bool is_sentencepiece = w->space_prefix || w->remove_spaces || w->charsmap || s->marks_spaces;
    if (w->is_bytes ? is_sentencepiece : w->nfc || s->n_chain > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: normalizer and pre_tokenizer mix byte-level steps with SentencePiece's: use a GGUF file "
                          "of the model",
                          vouch_path_tail(s->files->name));
    if (w->is_bytes) return chain_find(s, vouch_hf_bool(model, "ignore_merges", false), err);
    if (s->marks_spaces) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: neither normalizer nor pre_tokenizer says how bytes or spaces are written; expected "
                      "ByteLevel, Metaspace, or the replacement of a space by U+2581",
                      vouch_path_tail(s->files->name));
}

vouch_status vouch_hf_words_read(hf_words *words, const hf_files *files, vouch_error *err)
{
    steps *s = malloc(sizeof *s);
    *words = (hf_words){0};
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    *s = (steps){.files = files, .words = words};
    const vouch_status status = words_read(s, err);
    free(s);
    if (status != VOUCH_OK) vouch_hf_words_free(words);
    return status;
}

void vouch_hf_words_free(hf_words *words)
{
    free(words->charsmap);
    words->charsmap = NULL;
}
