/* SPDX-License-Identifier: MIT */
#include "support/decode/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

typedef struct owned {
    vouch_automaton automaton;
    vouch_arena arena;
} owned;

vouch_grammar *grammar_open(vouch_grammar_kind kind, const char *text)
{
    vouch_grammar *grammar;
    vouch_error err = {0};
    if (vouch_grammar_open(&grammar, kind, text, text ? strlen(text) : 0, &err) != VOUCH_OK)
        fail_msg("%s: %s", text, err.message);
    return grammar;
}

vouch_automaton *grammar_automaton(const vouch_grammar *grammar)
{
    owned *o = calloc(1, sizeof *o);
    assert_non_null(o);
    vouch_automaton_layout(&o->automaton, grammar, &o->arena);
    assert_int_equal(vouch_arena_allocate(&o->arena, "a test", NULL), VOUCH_OK);
    vouch_automaton_layout(&o->automaton, grammar, &o->arena);
    vouch_automaton_init(&o->automaton);
    return &o->automaton;
}

void grammar_close_automaton(vouch_automaton *automaton)
{
    owned *o = (owned *)automaton;
    vouch_arena_free(&o->arena);
    free(o);
}

verdict grammar_follow(vouch_automaton *automaton, const char *text, size_t n)
{
    int32_t state = vouch_automaton_start(automaton);
    for (size_t i = 0; i < n && state != VOUCH_STATE_DEAD; i++)
        state = vouch_automaton_step(automaton, state, (unsigned char)text[i]);
    return state == VOUCH_STATE_DEAD ? REFUSED : automaton->states[state].accepts ? ACCEPTED : BEGUN;
}

verdict grammar_verdict(vouch_grammar_kind kind, const char *grammar, const char *text)
{
    vouch_grammar *g = grammar_open(kind, grammar);
    vouch_automaton *a = grammar_automaton(g);
    const verdict found = grammar_follow(a, text, strlen(text));
    grammar_close_automaton(a);
    vouch_grammar_close(g);
    return found;
}
