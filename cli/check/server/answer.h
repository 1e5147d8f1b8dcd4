/* SPDX-License-Identifier: MIT */
/*
 * What a server answered, read from a body or a stream of /v1/completions or /v1/chat/completions.
 *
 * A server names a token by its text, and some also by its bytes or id. The key of a token here is its text. Where the
 * text is empty or holds U+FFFD, as halves of characters do, the key also has the bytes or the id in brackets.
 */
#ifndef VOUCH_CLI_CHECK_ANSWER_H
#define VOUCH_CLI_CHECK_ANSWER_H

#include "check/server/client.h"
#include "tool/json.h"

typedef struct ask_answer {
    char error[ASK_WHY_SIZE]; /* why there is no whole answer; "": there is one */
    long status;              /* of HTTP; 0: none came */
    bool is_gone;             /* as in ask_reply */
    char *text;               /* [n] with a NUL after it; thoughts come before the content */
    size_t n;
    json_t *tokens; /* [{"token": KEY, "logprob": X, "top": {KEY: X}}]; empty where the server gives none */
    char finish[32];
    int64_t n_prompt, n_answer, n_cached; /* of the usage; -1: not told */
    int64_t n_drafted, n_accepted;        /* guesses; -1: not told */
} ask_answer;

/* Reads a reply. An answer without text or finish reason, an error in it, a stream without an end: `error` says so. */
void ask_answer_read(ask_answer *answer, const ask_reply *reply, bool is_stream);
void ask_answer_free(ask_answer *answer);

/* What is compared of two answers. */
enum { ASK_TEXT = 1, ASK_FINISH = 2, ASK_USAGE = 4, ASK_TOKENS = 8 };

typedef struct ask_difference {
    char what[ASK_WHY_SIZE]; /* "": there is none */
    double most;             /* largest difference of log probabilities of equal tokens */
    int64_t n_values;        /* log probabilities that were compared */
} ask_difference;

/* Finds the first difference. tolerance: of log probabilities. `name_a` and `name_b` name the answers. */
void ask_answers_compare(const ask_answer *a, const ask_answer *b, unsigned what, double tolerance, const char *name_a,
                         const char *name_b, ask_difference *difference);

#endif
