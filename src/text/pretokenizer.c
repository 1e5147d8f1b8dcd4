/* SPDX-License-Identifier: MIT */
/*
 * Cuts a text into words by the patterns of patterns.c. BPE merges inside a word only.
 *
 *   text    "a=12345 b"
 *   cut 1   \p{N}+            a=  12345  _b      the matches, and the text between them
 *   cut 2   digits in threes  a=  12  345  _b    each piece by itself
 *   cut 3   ...
 *
 * Most rules have one pattern that matches at every index of every text. PCRE2 walks long repeats of one class in a
 * loop, without recursion, and its match limit is raised to the largest, so length alone never fails. A JIT compiler is
 * used where the system lets one run. All threads share the compiled patterns; each call has its own match data.
 */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "text/internal.h"
#include "text/unicode.h"

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

static bool is_pattern(const char *pattern)
{
    return pattern != vouch_digits_joined && pattern != vouch_digits_bounded && pattern != vouch_digits_counted;
}

static vouch_status pattern_compile(vouch_pretokenizer *pre, const char *pattern, pcre2_code **code, vouch_error *err)
{
    pcre2_general_context *memory = pcre2_general_context_create(pcre_malloc, pcre_free, &pre->starved);
    pcre2_compile_context *compile = memory ? pcre2_compile_context_create(memory) : NULL;
    int error = 0;
    size_t offset = 0;
    if (compile) {
        *code =
            pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &error, &offset, compile);
        if (*code) (void)pcre2_jit_compile(*code, PCRE2_JIT_COMPLETE);
    }
    pcre2_compile_context_free(compile);
    pcre2_general_context_free(memory);
    if (pre->starved) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the pre-tokenizer");
    if (!*code)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "this PCRE2 refuses the pattern of the pre-tokenizer %s (error %d at %zu): build it with "
                          "Unicode support",
                          pre->rule->name, error, offset);
    return VOUCH_OK;
}

vouch_status vouch_pretokenizer_open(vouch_pretokenizer *pre, const pretokenizer_rule *rule, vouch_error *err)
{
    pre->rule = rule;
    for (size_t i = 0; rule->patterns && rule->patterns[i]; i++)
        if (is_pattern(rule->patterns[i])) VOUCH_TRY(pattern_compile(pre, rule->patterns[i], &pre->code[i], err));
    pre->limits = pcre2_match_context_create(NULL);
    if (!pre->limits) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the pre-tokenizer");
    pcre2_set_match_limit(pre->limits, UINT32_MAX);
    pcre2_set_depth_limit(pre->limits, UINT32_MAX);
    return VOUCH_OK;
}

void vouch_pretokenizer_close(vouch_pretokenizer *pre)
{
    pcre2_match_context_free(pre->limits);
    for (size_t i = 0; i < MAX_CUTS; i++) pcre2_code_free(pre->code[i]);
}

/* ------------------------------------------------------------------ digits */

/* Whether the character belongs to a run of digits that this cut looks at. */
static bool is_digit(const char *cut, int32_t point)
{
    if (cut == vouch_digits_counted) return point >= '0' && point <= '9';
    const utf8proc_category_t category = utf8proc_category(point);
    return category == UTF8PROC_CATEGORY_ND ||
           (cut == vouch_digits_joined && (category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO));
}

/* Whether a word goes on with the first character of text[n]: a letter, a mark, a number or a connector. */
static bool word_goes_on(const char *text, size_t n)
{
    if (n == 0) return false;
    const utf8proc_category_t category = utf8proc_category(vouch_utf8_decode(text, vouch_utf8_length(text, n)));
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) || category == UTF8PROC_CATEGORY_PC;
}

static vouch_status piece_cut(const word_walk *walk, size_t cut, const char *text, size_t n, vouch_error *err);

/* Cuts a run of digits before each digit that begins a number of whole threes. Joined runs are cut after the run and
 * never before their first digit, bounded ones at both ends, counted ones at neither. */
static vouch_status digits_cut(const word_walk *walk, size_t cut, const char *text, size_t n, vouch_error *err)
{
    const char *how = walk->pre->rule->patterns[cut];
    size_t begin = 0;
    for (size_t i = 0, end, n_digits; i < n; i = end) {
        n_digits = 0;
        for (size_t length = 0, at = i;; at += length, n_digits++) {
            end = at;
            length = at < n ? vouch_utf8_length(text + at, n - at) : 0;
            if (at == n || !is_digit(how, vouch_utf8_decode(text + at, length))) break;
        }
        const bool whole = n_digits == 0 || (how == vouch_digits_bounded && word_goes_on(text + end, n - end));
        bool first = how == vouch_digits_bounded;
        for (size_t left = whole ? 0 : n_digits, at = i; left > 0; left--) {
            const bool cuts = how == vouch_digits_joined ? at > i && left % 3 == 0 : left % 3 == 0 || first;
            if (at > begin && cuts) {
                VOUCH_TRY(piece_cut(walk, cut + 1, text + begin, at - begin, err));
                begin = at;
            }
            first = false;
            at += vouch_utf8_length(text + at, n - at);
        }
        if (!whole && how != vouch_digits_counted) {
            VOUCH_TRY(piece_cut(walk, cut + 1, text + begin, end - begin, err));
            begin = end;
        }
        if (n_digits == 0) end += vouch_utf8_length(text + end, n - end);
    }
    return begin < n ? piece_cut(walk, cut + 1, text + begin, n - begin, err) : VOUCH_OK;
}

/* ------------------------------------------------------------------- words */

static vouch_status match_find(const word_walk *walk, size_t cut, const char *text, size_t n, size_t start,
                               size_t *begin, size_t *end, vouch_error *err)
{
    const vouch_pretokenizer *pre = walk->pre;
    const PCRE2_SPTR subject = (PCRE2_SPTR)text;
    uint32_t options = PCRE2_NO_UTF_CHECK | walk->options; /* checked before; checking for each word is quadratic */
    int found = pcre2_match(pre->code[cut], subject, n, start, options, walk->match, pre->limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(pre->code[cut], subject, n, start, options | PCRE2_NO_JIT, walk->match, pre->limits);
    const size_t *range = pcre2_get_ovector_pointer(walk->match);
    *begin = found > 0 ? range[0] : n;
    *end = found > 0 ? range[1] : n;
    if (found == PCRE2_ERROR_NOMATCH || (found > 0 && *begin >= start && *end > *begin)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MEMORY,
                      "the pre-tokenizer %s stopped at byte %zu (PCRE2 error %d): give the text in pieces",
                      pre->rule->name, start, found);
}

/* Cuts a piece by the patterns from `cut` on. */
static vouch_status piece_cut(const word_walk *walk, size_t cut, const char *text, size_t n, vouch_error *err)
{
    const char *const *patterns = walk->pre->rule->patterns;
    if (!patterns || !patterns[cut]) return walk->visit(walk->user, text, n, err);
    if (!is_pattern(patterns[cut])) return digits_cut(walk, cut, text, n, err);
    for (size_t at = 0, begin, end; at < n; at = end) {
        VOUCH_TRY(match_find(walk, cut, text, n, at, &begin, &end, err));
        if (begin > at) VOUCH_TRY(piece_cut(walk, cut + 1, text + at, begin - at, err));
        if (end > begin) VOUCH_TRY(piece_cut(walk, cut + 1, text + begin, end - begin, err));
    }
    return VOUCH_OK;
}

vouch_status vouch_pretokenizer_words(const word_walk *walk, const char *text, size_t n, vouch_error *err)
{
    return n > 0 ? piece_cut(walk, 0, text, n, err) : VOUCH_OK;
}
