/* SPDX-License-Identifier: MIT */
/*
 * The target's answers, which a head learns from: a file of chunks (chunks.h), one per prompt.
 *
 * Without prompts, the target makes its own (Magpie, Xu et al., arXiv 2406.08464). It reads the beginning of its chat
 * template, up to where the user's text would stand, and goes on with a question. A base model has no template; there
 * a prompt is a short text that the model begins by itself.
 *
 * The text of prompt i and its answer depend on the seed and on i alone, not on what runs beside them (law L7).
 */
#ifndef VOUCH_TRAIN_ANSWERS_H
#define VOUCH_TRAIN_ANSWERS_H

#include "train/lessons/chunks.h"
#include "train/distill.h"

/* The file's header. More answers are added only with the same settings. */
typedef struct train_answers_header {
    char version[16];
    char digest[24]; /* of the target */
    uint64_t seed;
    double sampled, temperature, top_p;
    int64_t max_tokens;
    uint64_t prompts; /* hash of the given prompts; 0: the target's own */
} train_answers_header;

enum { TRAIN_MOST_PROMPT = 2048 }; /* tokens of a prompt and of an answer that has begun; longer ones are left out */

/* A chunk begins with this, and tokens [n_tokens] follow. */
typedef struct train_answer {
    int32_t number;   /* of the prompt */
    int32_t n_prompt; /* first tokens, which are the prompt */
    int32_t n_tokens; /* 0: the prompt was left out */
    int32_t is_sampled;
} train_answer;

/* How far the answers are. Tokens of answers under way count, too: the first answer ends after minutes. */
typedef struct train_outlook {
    int64_t n_wanted;  /* tokens of answers; INT64_MAX: the prompts end the work */
    int64_t n_prompts; /* given prompts that get an answer; 0: the target makes its own, without end */
    int32_t n_parallel, max_tokens;
    int64_t n_written, n_ended; /* tokens of answers; answers that have ended. Earlier runs' count, too */
    int64_t n_asked, n_begun;   /* of this run: tokens of the target's own prompts; such prompts, unless rejected */
} train_outlook;

/* The share of the work that is done, in tokens that the target writes: [0, 1]. */
double train_answers_share(const train_outlook *outlook);

/* Makes answers until the file has options->n_tokens tokens of them, or the prompts end. *chunks is the file, open; the
 * caller closes it. Errors: as train_distill. */
vouch_status train_answers_make(train_chunks **chunks, const char *path, const vouch_model *model,
                                const train_options *options, vouch_error *err);

#endif
