/* SPDX-License-Identifier: MIT */
/*
 * The cycle: choose, draft, score, judge, commit.
 *
 *   1 choose   pace sets the limits of the draft, or makes the cycle a plain step
 *   2 draft    the free drafters make an offer. Where pace finds that the paid drafter pays, too, it grows its guesses
 *              level by level; each level needs a pass. Both make one tree
 *   3 score    one pass of the target over the last token and the guesses
 *   4 judge    the rule accepts a path of guesses and adds one token; where the next row failed, it adds none
 *   5 commit   token by token, until one ends the answer: nothing after it exists. The target keeps the committed path;
 *              the drafters see its rows and forget the rest
 *
 * The engine drives the cycles of all its sequences through these stages together (engine/schedule.c): one pass of a
 * draft model runs the next level of all sequences, and one pass of the target scores all drafts. A cycle's stages are
 * functions without a clock; vouch_cycle_run adds up their times, and the last stage counts and teaches pace.
 *
 *   tokens  [0 ......... n_tokens) [ path ........ )
 *            committed               the accepted path, between judge and commit only
 *   target   has run the first n_cached <= n_tokens - 1 tokens between cycles
 *
 * The cycle knows the target only through vouch_target, so that a test can put a table in its place.
 */
#ifndef VOUCH_DECODE_CYCLE_H
#define VOUCH_DECODE_CYCLE_H

#include "decode/judge.h"
#include "decode/pace/pace.h"
#include "draft/drafters.h"

/* The rows of a sequence in the last pass: row 0 belongs to its last token, row i + 1 to guess i. */
typedef struct vouch_target {
    /* p of a row. tokens[0, n_history) is its history, guesses included. Valid until the next call. */
    vouch_status (*row)(void *self, const int32_t *tokens, int32_t n_history, int32_t row, const vouch_dist **p);
    /* [n_vocab] the model's logits for a row of the last pass. */
    const float *(*logits)(void *self, int32_t row);
    /* [n_embd] the hidden state of a row of the last pass after a layer. After a pass over tokens[first, past) of a
     * prompt, row i belongs to token first + i. Asked for only where a drafter takes the hidden states of this layer.
     * Valid until the next pass. */
    const float *(*hidden)(void *self, int32_t row, int32_t layer);
    /* Of the last pass's guesses, only those on the path stay in the cache. */
    void (*keep)(void *self, const int32_t *path, int32_t n);
    /* Only the first n tokens stay in the cache, which may hold fewer already. */
    void (*rewind)(void *self, int32_t n);
    void *self;
} vouch_target;

/* The cycle calls it with each committed token, in order. Any result but NONE ends the answer with this token. */
typedef vouch_finish vouch_commit_fn(void *self, int32_t token);

/* The pass that scores the drafts of all sequences. */
typedef struct vouch_cycle_pass {
    double seconds;
    int32_t n_rows;        /* rows of cycles, of all sequences; rows of prompts don't count */
    double prompt_seconds; /* expected time of its rows of prompts */
} vouch_cycle_pass;

typedef struct vouch_cycle_result {
    int32_t first; /* committed: tokens[first, first + n) */
    int32_t n, n_accepted, n_guesses;
    vouch_origin last;
    vouch_finish finish;
} vouch_cycle_result;

/* The stages that one sequence runs by itself; score belongs to the engine. In order; GROW after each run level. */
typedef enum vouch_stage {
    VOUCH_STAGE_CHOOSE, /* sets the limits of the draft */
    VOUCH_STAGE_OFFER,  /* the free drafters guess on their own */
    VOUCH_STAGE_LEVEL,  /* the paid drafter stages the rows of its next level; `staging` tells how that ended */
    VOUCH_STAGE_GROW,   /* it chooses guesses from their results */
    VOUCH_STAGE_JOIN,   /* `draft` is complete: paid and free guesses in one tree */
    VOUCH_STAGE_JUDGE,  /* sets `status`. After a failure the further stages only roll back */
    VOUCH_STAGE_COMMIT, /* `result` has the committed tokens, and the target keeps them */
    VOUCH_STAGE_TELL,   /* the drafters see the rows and forget the rest */
    VOUCH_STAGE_LEARN,  /* counts the cycle and teaches pace */
    VOUCH_STAGES
} vouch_stage;

typedef struct vouch_cycle {
    vouch_target target;
    vouch_drafters drafters; /* without any: plain decoding */
    vouch_pace *pace;        /* NULL: every draft is as large as its limits allow */
    int32_t n_paid;          /* without pace: most guesses of the paid drafter; 0: as the limits */
    const vouch_rule *rule;
    vouch_dice dice;
    double lenience; /* 1 with a rule that has no lenience; may change between cycles */
    bool want_overlap;
    vouch_commit_fn *commit;
    /* NULL, or called for each committed token of a cycle, number i, with the logits [n_vocab] of the row before it. */
    void (*look)(void *self, int32_t i, int32_t token, const float *logits);
    void *commit_self; /* of commit and look */
    int32_t *tokens;   /* [n_ctx], owned by the session */
    int32_t n_tokens, n_ctx;
    int32_t n_vocab;              /* a draft is cut at its first guess that is no token */
    const vouch_cycle_pass *pass; /* the last pass of the engine */
    double (*now)(void);          /* seconds; NULL: vouch_now */
    vouch_stats *stats;           /* the cycle counts everything but the prompt */
    /* The running cycle. */
    vouch_shape most;       /* limits of its draft; depth 0: no room for a guess */
    vouch_shape free, paid; /* limits of the free and of the paid drafter; depth 0: it isn't asked */
    bool asked_paid;
    vouch_staging staging;
    vouch_draft offer;                      /* with pace: guesses of the free drafters on their own */
    int32_t offer_tokens[VOUCH_MAX_DRAFT];  /* of the offer, where a later draft replaces it */
    int32_t offer_parents[VOUCH_MAX_DRAFT]; /* likewise */
    int32_t paid_levels;                    /* of the paid drafter's own draft */
    vouch_draft draft;
    vouch_judgement judgement;
    vouch_guess guesses[VOUCH_MAX_DRAFT]; /* the verdicts */
    vouch_status status;
    vouch_cycle_result result;
    double seconds[VOUCH_STAGES]; /* of each stage; of LEVEL with this sequence's part of the passes */
} vouch_cycle;

/* A cycle begins. Its draft will be within `most` (n of 0 or less: none), no path longer than room - 1, where room >= 1
 * is the number of tokens that may be committed, and short enough for n_ctx. Needs 1 <= n_tokens < n_ctx. */
void vouch_cycle_begin(vouch_cycle *cycle, const vouch_shape *most, int32_t room);
/* Runs a stage and adds its time to seconds[stage]. Stages of different cycles may run side by side, except for LEVEL
 * (drafter.h, D5). */
void vouch_cycle_run(vouch_cycle *cycle, vouch_stage stage);
/* After OFFER: decides whether the paid drafter is asked, and for how much, provided that n sequences share its passes.
 * Returns whether it is. May be called again with another n: the last decision holds. */
bool vouch_cycle_ask(vouch_cycle *cycle, int32_t n);
/* Runs the level that has been staged, in the pass that it shares. */
void vouch_cycle_run_level(vouch_cycle *cycle);
/* The first guesses of the draft, which stay whatever they cost: guesses drawn from q, which come first, because
 * dropping them would bias the text (law L2), and all guesses where the drafter gives no estimate. An engine may drop
 * the guesses after the first n before the pass, n >= vouch_cycle_n_fixed. */
int32_t vouch_cycle_n_fixed(const vouch_cycle *cycle);
void vouch_cycle_cut(vouch_cycle *cycle, int32_t n);
/* The counts and times of the cycle, once it has been committed. */
vouch_outcome vouch_cycle_outcome(const vouch_cycle *cycle);

/* An answer begins after tokens[0, n_tokens). */
void vouch_cycle_begin_answer(vouch_cycle *cycle);
/* The answer has ended with the last of tokens[0, n_tokens). */
void vouch_cycle_end_answer(vouch_cycle *cycle);
/* The target has just run tokens[first, past) of a prompt, in one pass without guesses. The free drafters follow. The
 * paid one needs rows for it: vouch_cycle_follow stages and vouch_cycle_run_level runs them, until none are left. */
void vouch_cycle_observe(vouch_cycle *cycle, int32_t first, int32_t past);
vouch_staging vouch_cycle_follow(vouch_cycle *cycle, int32_t past);
/* Target and drafters forget all but the first n tokens. The target forgets more where a drafter needs hidden states
 * again. */
void vouch_cycle_rewind(vouch_cycle *cycle, int32_t n);

#endif
