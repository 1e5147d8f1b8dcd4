/* SPDX-License-Identifier: MIT */
/*
 * Cuts a text into words. BPE merges inside a word only.
 *
 * The patterns are those that the models' tokenizers were trained with, rewritten from Rust or Oniguruma for PCRE2:
 *
 *   gpt-2      Radford et al., encoder.py
 *   smollm     each digit alone, then gpt-2 on the text between digits. In one pattern: a digit is a word, and white
 *              space before a digit counts as the end of a piece.
 *   llama-bpe  Llama 3: contractions in either case, up to three digits, line ends stay with punctuation
 *   qwen2      the same with single digits, on text in NFC, as the models were trained (llama.cpp leaves the text as it
 *              is; the ids are equal for text in NFC, which nearly all text is)
 *
 * The patterns spell out white space as Unicode's property White_Space, because PCRE2's \s has U+180E besides.
 *
 * Each pattern matches at every index of every text. So matching is anchored: a word begins where the last one ended.
 * PCRE2 walks long repeats of one class in a loop, without recursion, and its match limit is raised to the largest, so
 * length alone never fails. A JIT compiler is used where the system lets one run. All threads share the compiled
 * pattern; each call has its own match data.
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

#define SPACES                                                                                               \
    "\\x{09}-\\x{0d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"                     \
    "\\x{202f}\\x{205f}\\x{3000}"
#define SPACE                 "[" SPACES "]"
#define NO_SPACE              "[^" SPACES "]"
#define NO_SPACE_LETTER_DIGIT "[^" SPACES "\\p{L}\\p{N}]"

#define GPT2_PATTERN                                                                                         \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?" NO_SPACE_LETTER_DIGIT "+|" SPACE "+(?!" NO_SPACE        \
    ")|" SPACE "+"
#define SMOLLM_PATTERN                                                                                       \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+|\\p{N}| ?" NO_SPACE_LETTER_DIGIT "+|" SPACE "+(?![^" SPACES           \
    "\\p{N}])|" SPACE "+"
#define LLAMA3_PATTERN(digits)                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?" NO_SPACE_LETTER_DIGIT         \
    "+[\\r\\n]*|" SPACE "*[\\r\\n]+|" SPACE "+(?!" NO_SPACE ")|" SPACE "+"

static const pretokenizer_rule rules[] = {
    {"smollm", "bpe/smollm", SMOLLM_PATTERN, false, false, false},
    {"gpt-2", "bpe/gpt-2", GPT2_PATTERN, false, false, false},
    {"llama-bpe", "bpe/llama-bpe", LLAMA3_PATTERN("\\p{N}{1,3}"), false, true, true},
    {"llama3", "bpe/llama-bpe", LLAMA3_PATTERN("\\p{N}{1,3}"), false, true, true},
    {"llama-v3", "bpe/llama-bpe", LLAMA3_PATTERN("\\p{N}{1,3}"), false, true, true},
    {"qwen2", "bpe/qwen2", LLAMA3_PATTERN("\\p{N}"), true, false, false},
};

static const pretokenizer_rule *rule_find(vouch_text name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strlen(rules[i].pre) == name.size && memcmp(rules[i].pre, name.data, name.size) == 0)
            return &rules[i];
    return NULL;
}

/* PCRE2 takes a pattern's memory through these. `starved` tells a failed allocation from a JIT compiler that may not
 * run. */
static void *pcre_malloc(size_t size, void *starved)
{
    void *block = malloc(size);
    if (!block) *(bool *)starved = true;
    return block;
}

static void pcre_free(void *block, void *starved)
{
    (void)starved;
    free(block);
}

static vouch_status pattern_compile(vouch_pretokenizer *pre, vouch_error *err)
{
    pcre2_general_context *memory = pcre2_general_context_create(pcre_malloc, pcre_free, &pre->starved);
    pcre2_compile_context *compile = memory ? pcre2_compile_context_create(memory) : NULL;
    int code = 0;
    size_t offset = 0;
    if (compile) {
        pre->code = pcre2_compile((PCRE2_SPTR)pre->rule->pattern, PCRE2_ZERO_TERMINATED,
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &code, &offset, compile);
        if (pre->code) (void)pcre2_jit_compile(pre->code, PCRE2_JIT_COMPLETE);
    }
    pcre2_compile_context_free(compile);
    pcre2_general_context_free(memory);
    if (pre->starved) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the pre-tokenizer");
    if (!pre->code)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "this build of PCRE2 refuses the pattern of %s (error %d at %zu); it needs Unicode",
                          pre->rule->name, code, offset);
    return VOUCH_OK;
}

vouch_status vouch_pretokenizer_open(vouch_pretokenizer *pre, const char *path, vouch_text name,
                                     vouch_error *err)
{
    pre->rule = rule_find(name);
    if (!pre->rule)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: tokenizer.ggml.pre is \"%.*s\"; supported: smollm, gpt-2, llama-bpe (llama3, "
                          "llama-v3), qwen2",
                          path, TEXT_ARGS(name));
    VOUCH_TRY(pattern_compile(pre, err));
    pre->limits = pcre2_match_context_create(NULL);
    if (!pre->limits) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the pre-tokenizer");
    pcre2_set_match_limit(pre->limits, UINT32_MAX);
    pcre2_set_depth_limit(pre->limits, UINT32_MAX);
    return VOUCH_OK;
}

void vouch_pretokenizer_close(vouch_pretokenizer *pre)
{
    pcre2_match_context_free(pre->limits);
    pcre2_code_free(pre->code);
}

vouch_status vouch_pretokenizer_next(const vouch_pretokenizer *pre, pcre2_match_data *match, const char *text,
                                     size_t n, size_t start, size_t *length, vouch_error *err)
{
    uint32_t options = PCRE2_NO_UTF_CHECK; /* the caller checked; checking again for each word is quadratic */
    int found = pcre2_match(pre->code, (PCRE2_SPTR)text, n, start, options, match, pre->limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
        options |= PCRE2_NO_JIT;
        found = pcre2_match(pre->code, (PCRE2_SPTR)text, n, start, options, match, pre->limits);
    }
    const size_t *range = pcre2_get_ovector_pointer(match);
    if (found > 0 && range[0] == start && range[1] > start) {
        *length = range[1] - start;
        return VOUCH_OK;
    }
    return vouch_fail(err, VOUCH_E_MEMORY,
                      "the pre-tokenizer %s stopped at byte %zu (PCRE2 error %d): give the text in pieces",
                      pre->rule->name, start, found);
}
