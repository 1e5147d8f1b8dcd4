/* SPDX-License-Identifier: MIT */
/*
 * Teaches a drafter for a target: a head, which is a small EAGLE-like network with which the drafter `head` guesses, or
 * a student, which is a small draft model (Zhou et al., DistillSpec, arXiv 2310.08461). One call does all stages. Each
 * keeps its work in a file, and a call with the same files goes on where the last one ended, even after a kill:
 *
 *   answers   the target answers prompts, given or made by itself (Magpie, arXiv 2406.08464)   HEAD.answers
 *   states    the target's hidden states and likeliest tokens at every token of the answers    HEAD.states
 *   linear    a linear head in closed form (linear.h)
 *   layer     a decoder layer on top, by gradient descent (teach.h)                            HEAD.checkpoint
 *   head      the file that the drafter reads                                                  HEAD
 *   measured  answers to prompts that the head is measured on, and their states                HEAD.measured.*
 *
 * A student has the same stages without `linear`, and its states have likeliest tokens alone. In its last stage it
 * learns from the target's answers, or on-policy: it goes on with the target's answers from a random token of each, and
 * the target's distributions after the tokens of both are the lessons. Epochs then have rounds, each with the texts
 * that the student writes at its beginning: OUT.draft.gguf, OUT.round0.answers, OUT.round0.states, ...
 *
 * This is the only header of train/ that the command includes. In a build without OpenBLAS, train_distill fails with
 * UNSUPPORTED and says what to install.
 */
#ifndef VOUCH_TRAIN_DISTILL_H
#define VOUCH_TRAIN_DISTILL_H

#include "vouch.h"

enum {
    TRAIN_MOST_TAPS = 8,
    TRAIN_MOST_DEPTH = 4,
    TRAIN_MEASURED_DEPTH = 3,
    TRAIN_MOST_LAYERS = 64,
    TRAIN_MOST_KINDS = 16
};

/* The loss that measures how far the student's distribution q is from the target's p; loss.h has the formulas. */
typedef enum train_loss {
    TRAIN_FORWARD_KL,
    TRAIN_REVERSE_KL,
    TRAIN_JENSEN_SHANNON,
    TRAIN_TOTAL_VARIATION,
    TRAIN_CROSS_ENTROPY /* p is 1 at the token that followed, 0 elsewhere */
} train_loss;

typedef struct train_prompt {
    const int32_t *tokens; /* [n] through the target's template */
    size_t n;
    const char *text; /* of the user, for the comparison with excluded texts */
    int32_t kind;     /* of a measured prompt: heads are measured by kind, too, below TRAIN_MOST_KINDS */
    int32_t n_begun;  /* the last of the tokens that begin the answer already; 0: none do */
} train_prompt;

/* One stage's progress. Texts are valid during the call. */
typedef struct train_report {
    const char *stage;  /* "answers", "states", "linear", "layer", "student" */
    const char *detail; /* "84,120 of 120,000 tokens" */
    double share;       /* done, in [0, 1] */
} train_report;

typedef struct train_options {
    /* Answers. */
    const train_prompt *prompts; /* [n_prompts]; NULL: the target makes its own */
    size_t n_prompts;
    const char *const *excluded; /* [n_excluded] texts: a prompt that overlaps one of them is left out (overlap.h) */
    size_t n_excluded;
    int64_t n_tokens;         /* of answers, at least 1000 */
    double sampled;           /* share of answers that are sampled, the others being greedy; [0, 1] */
    float temperature, top_p; /* of sampled answers, and of the target's own prompts */
    int32_t n_parallel;       /* answers at once, 1 to 64 */
    int32_t max_tokens;       /* most tokens of an answer */
    uint64_t seed;
    const train_prompt *measured; /* [n_measured] prompts whose greedy answers the head is measured on, and never taught
                                     from; excluded, too. NULL: only answers held back */
    size_t n_measured;
    /* The student. */
    bool is_student;               /* teaches a student instead of a head */
    const char *student_model;     /* path of the model that it begins as; NULL: the target */
    const int32_t *student_layers; /* [n_student_layers] its layers, ascending; n 0: all */
    int32_t n_student_layers;
    train_loss loss;
    double beta; /* of TRAIN_JENSEN_SHANNON, in (0, 1) */
    bool on_policy;
    int32_t lora; /* rank of the factors that alone learn (lora.h); 0: all weights of the layers learn */
    /* The head; of these, n_draft, epochs, rate and type count for a student, too. */
    const int32_t *taps; /* [n_taps] layers whose states it reads, ascending; n_taps 0: four of them */
    int32_t n_taps;
    const char *table; /* a file to write: the table of next tokens (table.h); NULL: none */
    bool table_only;   /* no head; `out` is the table, too */
    bool quick;        /* the linear head alone */
    int32_t n_draft;   /* most tokens that it guesses, the most frequent ones; at least 16. For a student: output
                          rows that a step of training sees (student.h) */
    int32_t n_ff;      /* width of its feed-forward network; 0: the target's */
    int32_t depth;     /* depths that training unrolls, 1 to TRAIN_MOST_DEPTH */
    int32_t epochs;    /* times that training sees each token */
    double rate;       /* largest learning rate */
    const char *type;  /* of the file's matrices (train_type_of) */
    /* Resources. */
    int32_t n_threads;                                      /* 0: vouch_cpu_count() */
    void (*report)(void *user, const train_report *report); /* may be NULL */
    void (*note)(void *user, const char *line); /* a line worth keeping: memory, losses, acceptance; may be NULL */
    bool (*is_cancelled)(void *user);           /* asked several times a second; may be NULL */
    void *user;
} train_options;

/* Guesses that the target's greedy answers confirm. */
typedef struct train_figures {
    int64_t n_tokens; /* of the answers */
    double guessable; /* share of these tokens that the head may guess */
    /* Acceptance rates at depth 1, 2, ..., given that all guesses before were right: of chains after each token, and
     * of the chains of simulated cycles, which begin at hard positions more often (measure.h). */
    double accepted[TRAIN_MEASURED_DEPTH], in_cycles[TRAIN_MEASURED_DEPTH];
    int64_t n_reached[TRAIN_MEASURED_DEPTH]; /* guesses that `accepted` is the share of */
    int32_t dead_depth; /* the first depth, counted from 1, that learned nothing: fewer than 1 in 20 of its guesses are
                           accepted, or its rate is less than a quarter of depth 1's. 0: none; a depth with fewer than
                           50 guesses isn't judged */
    double tokens_per_cycle; /* with chains of TRAIN_MEASURED_DEPTH guesses */
    double sampled;          /* of a student: acceptance rate at temperature 1 (student_teach.h) */
} train_figures;

typedef struct train_result {
    int64_t n_tokens;                           /* taught */
    train_figures held;                         /* on answers held back from teaching */
    train_figures measured;                     /* on the answers to `measured` */
    train_figures kinds[TRAIN_MOST_KINDS];      /* of a head: by the prompts' kind; n_tokens 0: none */
    train_figures held_before, measured_before; /* of a student, before it learns */
    int64_t bytes;                              /* of the head's file */
    int64_t n_contexts, n_counted;              /* rows of the table; tokens counted in it */
} train_result;

static inline train_options train_options_default(void)
{
    return (train_options){.n_tokens = 2000000,
                           .sampled = 0.5,
                           .temperature = 0.8f,
                           .top_p = 0.95f,
                           .n_parallel = 16,
                           .max_tokens = 512,
                           .n_draft = 4096,
                           .depth = 2,
                           .epochs = 2,
                           .rate = 3e-4,
                           .beta = 0.5,
                           .type = "Q8_0"};
}

/* Counts a table, if options->table names its file. Then teaches a head or a student for the model file `target` and
 * writes it to `out`. Errors: ARGUMENT (names the field, as in `n_tokens`), MEMORY, IO (also a full disk: free some
 * space and call again), FORMAT, MISMATCH (files of another target or of other settings), NUMERIC (the loss isn't
 * finite; names the step, and the last good checkpoint remains), CANCELLED, UNSUPPORTED. */
vouch_status train_distill(const char *target, const char *out, const train_options *options, train_result *result,
                           vouch_error *err);

#endif
