/* SPDX-License-Identifier: MIT */
/*
 * A pass that several sequences of one model share. Each sequence stages its rows, one run computes all of them, and
 * then each sequence reads its own results:
 *
 *   stage   │ A: 2 rows │ B: 1 row │ C: 3 rows │      one after the other; where no room is left, a sequence waits
 *   run     └──────────── one pass ────────────┘
 *   read      A           B          C                on any thread, until the next run
 *
 *   H1  A sequence stages at most once between two runs, so its rows stand together (pass.h).
 *   H2  A row's results don't depend on the rows beside it (law L1).
 *   H3  Staging and running allocate nothing (law L6).
 *
 * An engine has a list of such passes: one for each model that drafts, and for each part of its output matrix. A
 * session by itself has the same list for itself alone.
 */
#ifndef VOUCH_MODEL_SHARED_PASS_H
#define VOUCH_MODEL_SHARED_PASS_H

#include "base/cost.h"
#include "model/pass/pass.h"

typedef struct vouch_shared_pass_options {
    int32_t n_ctx;         /* most tokens and rows that one row may see */
    int32_t max_rows;      /* most rows that one sequence stages at a time */
    int32_t max_logits;    /* most rows with logits that one sequence stages at a time */
    const int32_t *output; /* [n_output] tokens that get logits; copied */
    int32_t n_output;      /* 0: all of the vocabulary */
} vouch_shared_pass_options;

typedef struct vouch_shared_pass {
    vouch_pass *pass;
    vouch_row *rows; /* [max_rows] */
    int32_t max_rows, max_logits;
    int32_t n_rows, n_logits, n_hidden; /* of the rows that are staged */
    int32_t n_run;                      /* rows of the last run */
    double seconds;                     /* of the last run */
    vouch_cost cost;                    /* t(n) of its runs */
    const vouch_weights *weights;
    vouch_shared_pass_options needs; /* the most that any sequence asked for; `output` is the pass's own copy */
    vouch_matrix output;             /* the rows of needs.output, where it is given */
    float *output_bias;              /* [n_output] where the model has one; NULL: none */
    vouch_arena arena;               /* of the output */
    int32_t n_sequences;             /* sequences that have taken the pass */
    struct vouch_shared_pass *next;
} vouch_shared_pass;

/* The passes of an engine. */
typedef struct vouch_shared_passes {
    vouch_pool *pool;    /* outlives the passes */
    int32_t n_sequences; /* sequences that may share one pass; 0: one */
    vouch_shared_pass *first;
    int64_t n_runs, n_rows; /* of all passes so far */
} vouch_shared_passes;

/* Finds the pass of these weights and this part of their output, or opens or enlarges it. No rows may be staged in it.
 * The weights must outlive it. Errors: MEMORY; then the passes that were there are as before. */
vouch_status vouch_shared_pass_take(vouch_shared_pass **out, vouch_shared_passes *passes, const vouch_weights *weights,
                                    const vouch_shared_pass_options *options, vouch_error *err);
/* The last sequence that releases a pass closes it. NULL is allowed. */
void vouch_shared_pass_release(vouch_shared_passes *passes, vouch_shared_pass *pass);
size_t vouch_shared_passes_bytes(const vouch_shared_passes *passes);

/* Where the results of staged rows are: vouch_pass_logits and vouch_pass_hidden count from here. */
typedef struct vouch_staged {
    int32_t n_rows, first_logits, first_hidden;
} vouch_staged;

/* Rows that can be staged now, n_logits of them with logits; 0: the pass has to run first. */
int32_t vouch_shared_pass_room(const vouch_shared_pass *pass, int32_t n_logits);
/* The next rows, which the caller fills before it stages them. */
vouch_row *vouch_shared_pass_rows(const vouch_shared_pass *pass);
/* Stages n rows of one memory, which has room for them in its context. */
vouch_staged vouch_shared_pass_stage(vouch_shared_pass *pass, int32_t n);
/* Runs the staged rows; without any it does nothing. */
void vouch_shared_pass_run(vouch_shared_passes *passes, vouch_shared_pass *pass);
/* The part of the last run's time that falls to these rows. */
double vouch_shared_pass_seconds(const vouch_shared_pass *pass, const vouch_staged *staged);
/* The part of a run's time that falls to each of n sequences that stage n_rows each, relative to a run for one of them
 * alone: t(n n_rows) / (n t(n_rows)). n is cut to the number of sequences that have taken the pass. */
double vouch_shared_pass_part(const vouch_shared_pass *pass, int32_t n_rows, int32_t n);

/* A sequence that shares a pass: a store with pages for it alone, its memory, and the pass. */
typedef struct vouch_shared_sequence {
    vouch_pages *pages;
    vouch_memory *memory;
    vouch_shared_passes *passes;
    vouch_shared_pass *shared;
} vouch_shared_sequence;

typedef struct vouch_shared_sequence_options {
    vouch_shared_pass_options pass; /* its n_ctx: most tokens and provisional rows of the sequence */
    int32_t max_tree;               /* most provisional rows; 0: pass.max_rows */
    vouch_kv_type kv_type;
} vouch_shared_sequence_options;

/* The weights and the passes must outlive it. Errors: those of vouch_pages_open and vouch_shared_pass_take; then *out
 * is zero. */
vouch_status vouch_shared_sequence_open(vouch_shared_sequence *out, vouch_shared_passes *passes,
                                        const vouch_weights *weights, const vouch_shared_sequence_options *options,
                                        vouch_error *err);
void vouch_shared_sequence_close(vouch_shared_sequence *sequence); /* zero is allowed */
/* Bytes of the pages and the memory, without the pass. */
size_t vouch_shared_sequence_bytes(const vouch_shared_sequence *sequence);
/* Runs the staged rows of all sequences that share the pass, unless they have run. */
void vouch_shared_sequence_run(const vouch_shared_sequence *sequence);

#endif
