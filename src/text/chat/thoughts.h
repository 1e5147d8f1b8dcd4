/* SPDX-License-Identifier: MIT */
/*
 * Thoughts in an answer: where they begin and end, and a budget that closes them.
 *
 *     prompt  ... <think>\n                      closing, forced token by token
 *     answer  We add 2 and 2. That is fou ─────► \n</think>\n\n ─────► The answer is 4.
 *             └── budget tokens ────────┘
 *
 * The chat template shows the marks: a made-up message with thoughts is rendered, and what stands around the thoughts
 * is read off (vouch_thoughts_read). A state is a function of the prompt and the answer's tokens alone. So it can be
 * computed again after a rejection (law L3), and the bytes are the same whatever was drafted (law L2).
 */
#ifndef VOUCH_TEXT_THOUGHTS_H
#define VOUCH_TEXT_THOUGHTS_H

#include "text/tokenizer.h"

typedef enum vouch_thoughts_phase {
    VOUCH_THOUGHTS_BEFORE, /* the answer may begin with thoughts */
    VOUCH_THOUGHTS_INSIDE,
    VOUCH_THOUGHTS_CLOSING, /* the budget is used up: the next token is forced */
    VOUCH_THOUGHTS_BETWEEN, /* more thoughts may come: gpt-oss thinks in several messages */
    VOUCH_THOUGHTS_OVER
} vouch_thoughts_phase;

typedef struct vouch_thoughts_state {
    vouch_thoughts_phase phase;
    int32_t n;         /* tokens of thoughts; those of a mark that ends them aren't counted */
    int32_t n_closed;  /* tokens of the closing */
    int32_t n_matched; /* bytes of the mark that the last tokens end with */
    int32_t n_lacking; /* bytes that the last character lacks */
} vouch_thoughts_state;

/* The thoughts of a session. */
typedef struct vouch_thoughts {
    const vouch_tokenizer *tokenizer;
    vouch_text begin, end; /* marks; begin.size 0: the template writes no thoughts */
    int32_t *closing;      /* [n_closing] tokens that end thoughts; NULL: nothing is bounded */
    int32_t n_closing;
    bool ends_message; /* the closing is the mark alone, and more thoughts may come */
    int32_t budget;    /* most tokens of thoughts; -1: any number */
} vouch_thoughts;

/* budget -1: thoughts are only counted. has_grammar: only the mark is forced, and a grammar decides what comes next,
 * because the template's closing may also open the content where a call has to come. The tokenizer may be NULL and must
 * outlive the thoughts. On failure nothing has to be closed. Errors: MEMORY. */
vouch_status vouch_thoughts_open(vouch_thoughts *thoughts, const vouch_tokenizer *tokenizer, int32_t budget,
                                 bool has_grammar, vouch_error *err);
void vouch_thoughts_close(vouch_thoughts *thoughts);
/* Whether answers are bounded. */
bool vouch_thoughts_bind(const vouch_thoughts *thoughts);
/* The state before an answer to this prompt. */
vouch_thoughts_state vouch_thoughts_begin(const vouch_thoughts *thoughts, const int32_t *prompt, int32_t n);
/* Moves the state by one token of the answer. */
void vouch_thoughts_step(const vouch_thoughts *thoughts, vouch_thoughts_state *state, int32_t token);
/* Whether a token may be forced after n more tokens. */
bool vouch_thoughts_may_force(const vouch_thoughts *thoughts, const vouch_thoughts_state *state, int32_t n);
/* The token that must come next; -1: any may. */
int32_t vouch_thoughts_forced(const vouch_thoughts *thoughts, const vouch_thoughts_state *state);

#endif
