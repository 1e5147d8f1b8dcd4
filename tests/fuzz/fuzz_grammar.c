/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the grammars: a byte that chooses the notation, the grammar's text, a NUL, and a text to follow.
 *
 * It asserts that errors are those of vouch_grammar_open, and that a state which allows no byte accepts the text.
 */
#include <stdlib.h>
#include <string.h>

#include "text/grammar/automaton.h"
#include "vouch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)             \
    do {                            \
        if (!(condition)) abort();  \
    } while (0)

static void follow(const vouch_grammar *grammar, const uint8_t *text, size_t n)
{
    vouch_automaton *a = calloc(1, sizeof *a);
    vouch_arena arena = {0};
    MUST(a);
    vouch_automaton_layout(a, grammar, &arena);
    MUST(vouch_arena_allocate(&arena, "a fuzz target", NULL) == VOUCH_OK);
    vouch_automaton_layout(a, grammar, &arena);
    vouch_automaton_init(a);
    int32_t state = vouch_automaton_start(a);
    for (size_t i = 0; i < n && state != VOUCH_STATE_DEAD; i++) {
        MUST(a->states[state].n > 0 || a->states[state].accepts);
        state = vouch_automaton_step(a, state, text[i]);
    }
    (void)vouch_automaton_digest(a, state);
    vouch_arena_free(&arena);
    free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const char *text = (const char *)data + 1, *nul = memchr(text, 0, size - 1);
    const size_t n = nul ? (size_t)(nul - text) : size - 1;
    const vouch_grammar_kind kind = data[0] % 2 ? VOUCH_GRAMMAR_JSON_SCHEMA : VOUCH_GRAMMAR_GBNF;
    vouch_grammar *grammar;
    vouch_error err = {0};
    const vouch_status status = vouch_grammar_open(&grammar, kind, text, n, &err);
    MUST(status == VOUCH_OK || status == VOUCH_E_ARGUMENT || status == VOUCH_E_UNSUPPORTED);
    MUST((status == VOUCH_OK) == (grammar != NULL));
    if (grammar && nul) follow(grammar, (const uint8_t *)nul + 1, size - n - 2);
    vouch_grammar_close(grammar);
    return 0;
}
