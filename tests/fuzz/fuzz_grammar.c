/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the grammars: a byte that chooses the notation and its flags, the grammar's text, a NUL, and
 * bytes that choose a text of the grammar.
 *
 * It asserts that errors are those of vouch_grammar_open, that a state which allows no byte accepts the text, and that
 * a text which a schema accepts is JSON without a name twice.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "text/grammar/automaton.h"
#include "vouch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)             \
    do {                            \
        if (!(condition)) abort();  \
    } while (0)

/* The text is JSON, its numbers may be larger than Jansson's. */
static void check_json(const char *text, size_t n)
{
    json_error_t flaw;
    json_t *value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &flaw);
    MUST(value || json_error_code(&flaw) == json_error_numeric_overflow ||
         json_error_code(&flaw) == json_error_null_byte_in_key);
    json_decref(value);
}

/* Each byte is followed where the grammar allows it, or else the next one that it allows. */
static void follow(const vouch_grammar *grammar, const uint8_t *choices, size_t n, bool is_json)
{
    char text[1024];
    vouch_automaton *a = calloc(1, sizeof *a);
    vouch_arena arena = {0};
    MUST(a);
    vouch_automaton_layout(a, grammar, &arena);
    MUST(vouch_arena_allocate(&arena, "a fuzz target", NULL) == VOUCH_OK);
    vouch_automaton_layout(a, grammar, &arena);
    vouch_automaton_init(a);
    size_t n_text = 0;
    a->kept[0] = vouch_automaton_start(a);
    for (size_t i = 0; i < n && n_text < sizeof text && a->kept[0] != VOUCH_STATE_DEAD; i++) {
        int32_t next = VOUCH_STATE_DEAD;
        const bool accepts = a->states[a->kept[0]].accepts;
        MUST(a->states[a->kept[0]].n > 0 || accepts);
        for (int tries = 0; tries < 256 && next == VOUCH_STATE_DEAD; tries++) {
            text[n_text] = (char)(choices[i] + tries);
            next = vouch_automaton_step(a, a->kept[0], (unsigned char)text[n_text]);
        }
        if (next == VOUCH_STATE_DEAD) break;
        a->kept[0] = next;
        n_text++;
    }
    if (is_json && a->kept[0] != VOUCH_STATE_DEAD && a->states[a->kept[0]].accepts) check_json(text, n_text);
    (void)vouch_automaton_digest(a, vouch_automaton_forget(a, a->kept[0]));
    vouch_arena_free(&arena);
    free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const char *text = (const char *)data + 1, *nul = memchr(text, 0, size - 1);
    const size_t n = nul ? (size_t)(nul - text) : size - 1;
    const bool is_json = data[0] % 2;
    const int kind = (is_json ? VOUCH_GRAMMAR_JSON_SCHEMA : VOUCH_GRAMMAR_GBNF) |
                     (data[0] & 2 ? VOUCH_GRAMMAR_CLOSED : 0) | (data[0] & 4 ? VOUCH_GRAMMAR_LENIENT : 0);
    vouch_grammar *grammar;
    vouch_error err = {0};
    const vouch_status status = vouch_grammar_open(&grammar, kind, text, n, &err);
    MUST(status == VOUCH_OK || status == VOUCH_E_ARGUMENT || status == VOUCH_E_UNSUPPORTED);
    MUST((status == VOUCH_OK) == (grammar != NULL));
    const bool follows = data[0] & 8; /* that is slow: the states of a grammar take megabytes */
    if (grammar && nul && follows) follow(grammar, (const uint8_t *)nul + 1, size - n - 2, is_json);
    vouch_grammar_close(grammar);
    return 0;
}
