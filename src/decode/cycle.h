/* SPDX-License-Identifier: MIT */
/*
 * The cycle: choose, draft, score, judge, commit and roll back.
 *
 *   plan      1 choose   pace says which drafters guess, and how much
 *             2 draft    they guess: a chain or a tree. A paid drafter grows it level by level; each level needs a pass
 *   pass      3 score    one pass of the target over the new tokens and the guesses
 *   finish    4 judge    the rule accepts a path of guesses and adds one token; where the next row failed, it adds none
 *             5 commit   token by token, until one ends the answer: nothing after it exists
 *               roll back   the target keeps the committed path; the drafters see its rows and forget the rest
 *
 * vouch_cycle_step does all of it for one sequence. An engine of many sequences plans all of them, level by level: one
 * pass of a draft model runs the next level of all sequences. Then one pass of the target runs the rows of all drafts,
 * and the engine finishes each sequence.
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

typedef struct vouch_target {
    /* Runs the tokens of tokens[0, n_tokens - 1) that the target has not run yet, then one pass over the last token and
     * the guesses. Row 0 of this pass belongs to the last token, row i + 1 to guess i. */
    void (*score)(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_draft *draft);
    /* p of a row of the last pass. tokens[0, n_history) is its history, guesses included. Valid until the next call. */
    vouch_status (*row)(void *self, const int32_t *tokens, int32_t n_history, int32_t row,
                        const vouch_dist **p);
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

/* The decision of `choose` about one cycle. */
typedef struct vouch_plan {
    vouch_shape free, paid; /* limits of the free and of the paid drafter; depth 0: it isn't asked */
    vouch_draft offer;      /* with pace: guesses of the free drafters on their own */
} vouch_plan;

typedef struct vouch_cycle {
    vouch_target target;
    vouch_drafters drafters;   /* without any: plain decoding */
    vouch_pace *pace;          /* NULL: every draft is as large as its limits allow */
    int32_t n_paid;            /* without pace: most guesses of the paid drafter; 0: as the limits */
    const vouch_rule *rule;
    vouch_dice dice;
    double lenience;           /* 1 with a rule that has no lenience; may change between cycles */
    bool want_overlap;
    vouch_commit_fn *commit;
    /* NULL, or called for each committed token of a cycle, number i, with the logits [n_vocab] of the row before it. */
    void (*look)(void *self, int32_t i, int32_t token, const float *logits);
    void *commit_self;         /* of commit and look */
    int32_t *tokens;           /* [n_ctx], owned by the session */
    int32_t n_tokens, n_ctx;
    int32_t n_vocab;           /* a draft is cut at its first guess that is no token */
    double (*now)(void);       /* seconds; NULL: vouch_now */
    vouch_stats *stats;        /* the cycle counts everything but the prompt */
    /* The running cycle. */
    vouch_shape most;          /* limits of its draft; depth 0: no room for a guess */
    vouch_plan plan;
    int32_t offer_tokens[VOUCH_MAX_DRAFT];  /* of plan.offer, where a later draft replaces it */
    int32_t offer_parents[VOUCH_MAX_DRAFT]; /* likewise */
    vouch_draft draft;
    vouch_guess guesses[VOUCH_MAX_DRAFT]; /* the verdicts */
    vouch_outcome outcome;     /* its times and counts */
    double rule_seconds;       /* of judge */
} vouch_cycle;

typedef struct vouch_cycle_result {
    int32_t first;        /* committed: tokens[first, first + n) */
    int32_t n, n_accepted, n_guesses;
    vouch_origin last;
    vouch_finish finish;
} vouch_cycle_result;

/* The first half, for one sequence. Leaves the draft in cycle->draft: within `most` (n of 0 or less: none), no path
 * longer than room - 1, where room >= 1 is the number of tokens that may be committed, and short enough for n_ctx.
 * Needs 1 <= n_tokens < n_ctx. */
void vouch_cycle_plan(vouch_cycle *cycle, const vouch_shape *most, int32_t room);
/* Its parts, for sequences whose paid drafters share passes:
 *
 *     begin ─► choose ─► stage ─► run ─► grow ─► ... ─► stage: NONE ─► end
 *
 * begin, grow and end of different cycles may run side by side; stage and run may not (drafter.h, D5). stage is called
 * until it returns NONE. */
void vouch_cycle_begin(vouch_cycle *cycle, const vouch_shape *most, int32_t room);
/* Decides whether the paid drafter is asked, and for how much, provided that n sequences share its passes. Returns
 * whether it is. May be called again with another n: the last decision holds. */
bool vouch_cycle_choose(vouch_cycle *cycle, int32_t n);
vouch_staging vouch_cycle_stage(vouch_cycle *cycle);
void vouch_cycle_run(vouch_cycle *cycle);
void vouch_cycle_grow(vouch_cycle *cycle);
void vouch_cycle_end(vouch_cycle *cycle);
/* The first guesses of the draft, which stay whatever they cost: guesses drawn from q, which come first, because
 * dropping them would bias the text (law L2), and all guesses where the drafter gives no estimate. An engine may drop
 * the guesses behind the first n before the pass, n >= vouch_cycle_n_fixed. */
int32_t vouch_cycle_n_fixed(const vouch_cycle *cycle);
void vouch_cycle_cut(vouch_cycle *cycle, int32_t n);

/* The pass that scored the draft. */
typedef struct vouch_cycle_pass {
    double seconds;
    int32_t n_rows;        /* rows of cycles, of all sequences; rows of prompts don't count */
    double prompt_seconds; /* expected time of its rows of prompts */
    bool teaches;          /* pace learns t(n) from it. False where the engine does */
} vouch_cycle_pass;

/* The second half, after the pass. The answer ends with CONTEXT when the last position is taken.
 * Afterwards target and drafters hold at most n_tokens - 1 tokens.
 * On failure nothing is committed or counted: the token at position n_tokens couldn't be computed. Where only a
 * row behind accepted guesses failed, these guesses are committed, with last ACCEPTED and finish NONE. Then the next
 * cycle fails. Errors: NUMERIC. */
vouch_status vouch_cycle_finish(vouch_cycle *cycle, const vouch_cycle_pass *pass, vouch_cycle_result *out);
/* Both halves with the target's own pass between them. */
vouch_status vouch_cycle_step(vouch_cycle *cycle, const vouch_shape *most, int32_t room, vouch_cycle_result *out);

/* An answer begins behind tokens[0, n_tokens). */
void vouch_cycle_begin_answer(vouch_cycle *cycle);
/* The answer has ended with the last of tokens[0, n_tokens). */
void vouch_cycle_end_answer(vouch_cycle *cycle);
/* The target has just run tokens[first, past) of a prompt, in one pass without guesses. The free drafters follow. The
 * paid one needs rows for it: vouch_cycle_follow stages them and vouch_cycle_run runs them, until none are left. */
void vouch_cycle_observe(vouch_cycle *cycle, int32_t first, int32_t past);
vouch_staging vouch_cycle_follow(vouch_cycle *cycle, int32_t past);
/* Target and drafters forget all but the first n tokens. The target forgets more where a drafter needs hidden states
 * again. */
void vouch_cycle_rewind(vouch_cycle *cycle, int32_t n);

#endif
