/* SPDX-License-Identifier: MIT */
/* Records a whole answer of the C API for comparisons. Also has drafters for tests. */
#ifndef VOUCH_TESTS_ANSWER_H
#define VOUCH_TESTS_ANSWER_H

#include "support/test.h"
#include "support/model/tiny_model.h"
#include "vouch.h"

enum { ANSWER_MAX = 600 };

typedef struct answer {
    int32_t tokens[ANSWER_MAX]; /* [n], without the prompt */
    int32_t n;
    char text[16 * ANSWER_MAX];
    size_t n_text;
    vouch_finish finish;
    vouch_origin last; /* origin of the last token */
    vouch_stats stats;
} answer;

/* Writes a tiny model to a temporary file and opens it with default options. */
vouch_model *tiny_model_open(const tiny_model_options *options);

/* Fills a prompt with n random ids below n_vocab. `repeats`: the second half repeats the first. */
void answer_prompt(int32_t *tokens, int32_t n, int32_t n_vocab, uint64_t seed, bool repeats);

/* The functions below fail the test on any error. They check that the numbers of each step and the statistics of the
 * whole answer are consistent. */
vouch_session *answer_open(const vouch_model *model, const vouch_session_options *options);
/* Gives the session a prompt and records the answer. */
void answer_continue(answer *out, vouch_session *session, const int32_t *prompt, int32_t n_prompt);
/* Adds the rest of the session's current answer to *out. */
void answer_finish(answer *out, vouch_session *session);
/* Records one answer in a new session. */
void answer_run(answer *out, const vouch_model *model, const vouch_session_options *options, const int32_t *prompt,
                int32_t n_prompt);
/* Whether tokens, text and finish are the same. */
bool answer_equal(const answer *a, const answer *b);

/* A drafter that knows the answer, and guesses a wrong token in error_percent of the cases. */
typedef struct oracle {
    const int32_t *tokens; /* [n] prompt and answer */
    int32_t n, n_vocab;
    uint32_t error_percent; /* 0: always right, 100: always wrong */
    test_random random;
} oracle;
vouch_drafter oracle_drafter(oracle *o);
/* A drafter that returns ids outside the vocabulary, invalid counts, or no guesses. */
vouch_drafter junk_drafter(test_random *random);

#endif
