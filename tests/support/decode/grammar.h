/* SPDX-License-Identifier: MIT */
/* Grammars over bytes, without a model: whether a text belongs to a grammar. */
#ifndef VOUCH_TESTS_GRAMMAR_H
#define VOUCH_TESTS_GRAMMAR_H

#include "text/grammar/automaton.h"
#include "vouch.h"

typedef enum verdict {
    REFUSED, /* some beginning of the text can't be continued */
    BEGUN,   /* the text is the beginning of one that the grammar accepts, and isn't one itself */
    ACCEPTED
} verdict;

/* Opens a grammar; `text` ends with a NUL. Fails the test where that fails. */
vouch_grammar *grammar_open(vouch_grammar_kind kind, const char *text);
/* An automaton over the grammar; grammar_close_automaton frees it. */
vouch_automaton *grammar_automaton(const vouch_grammar *grammar);
void grammar_close_automaton(vouch_automaton *automaton);
verdict grammar_follow(vouch_automaton *automaton, const char *text, size_t n);
/* Opens the grammar, follows the text and closes the grammar. */
verdict grammar_verdict(vouch_grammar_kind kind, const char *grammar, const char *text);

#endif
