/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the grammars: a byte that chooses the notation and its flags, the grammar's text, a NUL, and
 * bytes that choose a text of the grammar.
 *
 * It asserts that errors are those of vouch_grammar_open, that a state from which no byte leads on accepts the text,
 * and that a text which a schema accepts is JSON without a name twice.
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

/* An automaton's arrays take megabytes. So one automaton, which has room for every grammar, serves all inputs. */
static vouch_automaton *automaton_for(const vouch_grammar *grammar)
{
    static vouch_automaton a;
    static vouch_arena arena;
    if (!arena.base) {
        const vouch_grammar widest = {.n_classes = 256, .has_names = true};
        vouch_automaton_layout(&a, &widest, &arena);
        MUST(vouch_arena_allocate(&arena, "a fuzz target", NULL) == VOUCH_OK);
        vouch_automaton_layout(&a, &widest, &arena);
    }
    a.grammar = grammar;
    memset(a.stack_table.slots, 0, (size_t)a.stack_table.size * sizeof *a.stack_table.slots);
    memset(a.state_table.slots, 0, (size_t)a.state_table.size * sizeof *a.state_table.slots);
    memset(a.seed_states, 0, sizeof a.seed_states);
    memset(a.kept, 0, sizeof a.kept);
    vouch_automaton_init(&a);
    if (grammar->has_names) vouch_names_pack(&a.names); /* there are none: that clears their tables */
    return &a;
}

/* The first byte from `from` on, in a circle, that one of the state's places reads. */
static unsigned char next_byte(const vouch_automaton *a, int32_t state, unsigned char from)
{
    const vouch_state *s = &a->states[state];
    int nearest = 255;
    for (int32_t i = 0; i < s->n; i++) {
        const vouch_grammar_node *node = &a->grammar->nodes[a->places[s->first + i].node];
        const int distance = from >= node->first && from <= node->last ? 0 : (node->first - from) & 255;
        if (distance < nearest) nearest = distance;
    }
    return (unsigned char)(from + nearest);
}

/* Each byte is followed where the grammar allows it, or else the next one that it allows. */
static void follow(const vouch_grammar *grammar, const uint8_t *choices, size_t n, bool is_json)
{
    char text[1024];
    vouch_automaton *a = automaton_for(grammar);
    size_t n_text = 0;
    a->kept[0] = vouch_automaton_start(a);
    for (size_t i = 0; i < n && n_text < sizeof text && a->kept[0] != VOUCH_STATE_DEAD; i++) {
        int32_t next = VOUCH_STATE_DEAD;
        const bool accepts = a->states[a->kept[0]].accepts;
        MUST(a->states[a->kept[0]].n > 0 || accepts);
        unsigned char byte = choices[i];
        for (int tries = 0; tries < 256 && next == VOUCH_STATE_DEAD; tries++) {
            text[n_text] = (char)(byte = next_byte(a, a->kept[0], (unsigned char)(byte + (tries > 0))));
            next = vouch_automaton_step(a, a->kept[0], byte);
        }
        if (next == VOUCH_STATE_DEAD) {
            MUST(accepts);
            break;
        }
        a->kept[0] = next;
        n_text++;
    }
    if (is_json && a->kept[0] != VOUCH_STATE_DEAD && a->states[a->kept[0]].accepts) check_json(text, n_text);
    (void)vouch_automaton_digest(a, vouch_automaton_forget(a, a->kept[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const char *text = (const char *)data + 1, *nul = memchr(text, 0, size - 1);
    const size_t n = nul ? (size_t)(nul - text) : size - 1;
    const bool is_json = data[0] & 1;
    const int kind = (is_json       ? VOUCH_GRAMMAR_JSON_SCHEMA
                      : data[0] & 8 ? VOUCH_GRAMMAR_REGEX
                                    : VOUCH_GRAMMAR_GBNF) |
                     (data[0] & 2 ? VOUCH_GRAMMAR_CLOSED : 0) | (data[0] & 4 ? VOUCH_GRAMMAR_LENIENT : 0);
    vouch_grammar *grammar;
    vouch_error err = {0};
    const vouch_status status = vouch_grammar_open(&grammar, kind, text, n, &err);
    MUST(status == VOUCH_OK || status == VOUCH_E_ARGUMENT || status == VOUCH_E_UNSUPPORTED);
    MUST((status == VOUCH_OK) == (grammar != NULL));
    if (grammar && nul) follow(grammar, (const uint8_t *)nul + 1, size - n - 2, is_json);
    vouch_grammar_close(grammar);
    return 0;
}
