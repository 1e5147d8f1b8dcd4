/* SPDX-License-Identifier: MIT */
/* One whole answer through the C API, kept for comparison; and drafters of the tests' own. */
#ifndef VOUCH_TESTS_ANSWER_H
#define VOUCH_TESTS_ANSWER_H

#include "support/test.h"
#include "support/tiny_model.h"
#include "vouch.h"

enum { ANSWER_MAX = 600 };

typedef struct answer {
    int32_t tokens[ANSWER_MAX]; /* the answer's */
    int32_t n;
    char text[16 * ANSWER_MAX];
    size_t n_text;
    vouch_finish finish;
    vouch_origin last; /* of the last step */
    vouch_stats stats;
} answer;

/* Writes a tiny model to a temporary file and opens it. The machine and threads are the defaults. */
vouch_model *tiny_model_open(const tiny_model_options *options);

/* n ids below n_vocab from a seed; `repeats`: in the second half the first comes again, and so on. */
void answer_prompt(int32_t *tokens, int32_t n, int32_t n_vocab, uint64_t seed, bool repeats);

/* Asserts that all goes well; the statistics of a step and of the whole must agree. */
vouch_session *answer_open(const vouch_model *model, const vouch_session_options *options);
void answer_continue(answer *out, vouch_session *session, const int32_t *prompt, int32_t n_prompt);
/* Steps until the answer is over. */
void answer_finish(answer *out, vouch_session *session);
/* In a session of its own. */
void answer_run(answer *out, const vouch_model *model, const vouch_session_options *options,
                const int32_t *prompt, int32_t n_prompt);
/* The same tokens, text and ending. */
bool answer_equal(const answer *a, const answer *b);

/* Guesses what it was told will come, and now and then something else. */
typedef struct oracle {
    const int32_t *tokens; /* [n] prompt and answer */
    int32_t n, n_vocab;
    uint32_t error_percent; /* 0: always right, 100: always wrong */
    test_random random;
} oracle;
vouch_drafter oracle_drafter(oracle *o);
/* Guesses that are no tokens, counts that are no counts, and nothing at all. */
vouch_drafter junk_drafter(test_random *random);

#endif
