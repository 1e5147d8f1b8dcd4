/* SPDX-License-Identifier: MIT */
/* The workspace of a pass: its rows (pass.c) and the buffers that the stages (forward.c) compute with, in one arena. */
#ifndef VOUCH_MODEL_WORKSPACE_H
#define VOUCH_MODEL_WORKSPACE_H

#include "model/memory/memory.h"

/* Up to this many rows of one sequence, each thread takes one range of the attention instead of many pieces. It is
 * also the number of rows that are made into a stage's input together. */
enum { VOUCH_FEW_ROWS = 16 };

/* Rows [begin, end) of one memory, numbered in ascending order. Numbers from 0 on are the memory's provisional rows.
 * Negative numbers are tokens, among them rows that this pass made tokens; -1 is the last token:
 *
 *   slots     ... n_tokens - 2   n_tokens - 1 │ n_tokens   n_tokens + 1 ...
 *   numbers            -2             -1      │     0            1      ...
 */
typedef struct row_run {
    vouch_memory *memory;
    const vouch_memory *read; /* the memory whose keys and values the rows see: their own, or the lender's */
    int32_t begin, end;
    int32_t first;  /* number of row `begin` */
    int32_t n_open; /* every row sees the slots [0, n_open), and no other; 0: a row sees its own path */
    bool is_chain;  /* all provisional rows up to `end` follow each other */
} row_run;

/* Number of the run's rows that became tokens in this pass. */
static inline int32_t row_run_n_kept(const row_run *run)
{
    return run->first < 0 ? -run->first : 0;
}

/* Number of the row or token before this one. */
static inline int32_t row_run_parent(const row_run *run, int32_t number)
{
    return number < 0 ? number - 1 : run->memory->parents[number];
}

/* Where a row's key and value go. */
typedef struct row_slot {
    const vouch_pages *store;
    int32_t page, slot; /* slot in the page */
    int32_t position;
} row_slot;

/* Buffers of one thread. head_dim and value_dim are the most of any layer. */
typedef struct thread_space {
    int32_t thread;
    float *rows;    /* [VOUCH_FEW_ROWS][n_embd] columns of rows on their way to the next stage, or a row's versions */
    float *wide;    /* [n_layers * n_layer_input] a token's embeddings for all layers */
    float *norms;   /* [max_rows] factors of the norms of the current stage's input */
    float *squares; /* [head_dim or n_values / 16, rounded up] of one head */
    vouch_acts queries; /* [group_rows][head_dim] of one attention unit, in the forms that the keys' type needs */
    vouch_acts scores;  /* [group_rows][n_slots and a sink], then softmax weights */
    float *mixed;       /* [group_rows][value_dim] mixed values */
    vouch_acts latent;  /* [max_rows][n_plain or rank] a head's input of W_uk^T or W_uv */
    float *factors;     /* [group_rows] 1 / the softmax's sum */
    int32_t *slots;     /* [n_slots] slots that one row sees and others of its unit don't */
    float *parts;       /* [entries][VOUCH_EXPERT_UNIT] outputs of experts */
    float *ranks;       /* [n_experts] of the row whose experts are chosen */
    float *states;      /* [VOUCH_STATE_LEVELS][n_keys * n_values] copies of a head's state */
    float *y;           /* [n_values] a head's result that nobody reads */
    float *adapted;     /* [max_rows][VOUCH_EXPERT_UNIT] results of one adapter */
} thread_space;

/* cos and sin of the rows' angles, [max_rows][n_rot]; the sine of a pair's first element is negative. */
typedef struct angle_table {
    float *cosines, *sines;
} angle_table;

/* Rows of the residual stream after one layer, in the order of the rows that asked for hidden states. */
typedef struct stream_tap {
    float *x; /* [max_rows][n_embd]; NULL: nobody wants the stream after this layer */
    vouch_arena arena;
} stream_tap;

/* Outputs of an expert or an adapter that a thread computes together, and matrices that read the same input. */
enum { VOUCH_EXPERT_UNIT = 32, VOUCH_MOST_PARTS = 3 };

/* The rows of one expert (experts.c). */
typedef struct expert_work {
    vouch_feed_forward ffn;
    int64_t first;      /* its first entry */
    vouch_acts in;      /* [n][n_embd or n_narrow] */
    vouch_acts gated;   /* [n][n_ff] */
    float *gate, *up;   /* [n][n_ff] */
    int64_t first_unit; /* of its gated values, among those of all works */
} expert_work;

/* Mixtures of experts (experts.c). An entry is a row and one of its experts; there are max_rows * (n_used + 1),
 * where n_used counts adjugates, too. */
typedef struct expert_space {
    float *scores;                                   /* [n_rows][n_experts] the router's logits */
    float *shared;                                   /* [n_rows] weight of the shared network */
    int32_t *chosen;                                 /* [n_rows][n_used] experts, best first */
    float *weights;                                  /* [n_rows][n_used] of the chosen experts */
    int32_t *entries;                                /* [n_rows][n_used] number of the entry */
    int32_t *rows;                                   /* [entries] row of an entry */
    int32_t *counts;                                 /* [n_experts] end of an expert's entries */
    float *gate_factors, *up_factors, *down_factors; /* [entries] factors of the products */
    float *gate, *up;                                /* [entries][n_ff] */
    float *narrow;                                   /* [n_rows][n_narrow] W_narrow x, then the chosen experts' sum */
    vouch_acts narrow_acts;                          /* [n_rows][n_narrow] the input of the experts, then of W_widen */
    vouch_acts in;                                   /* [entries][n_embd or n_narrow] */
    vouch_acts gated;                                /* [entries][n_ff] */
    expert_work *works;                              /* [n_works] */
    int32_t n_works;
    int64_t n_units; /* of the gated values of all works */
} expert_space;

/* Hyper-connections (hyper.h). */
typedef struct hyper_space {
    float *versions;    /* [n_rows][hyper.n][n_embd] of the stream */
    float *connections; /* [n_rows][read n | write n | mix n * n] weights of the current branch */
    vouch_acts acts;    /* [n_rows][hyper.n * n_embd] the input of the connections' matrix */
} hyper_space;

/* Adapters (affine.h). Each has a slot; those of which a row has only one share it. */
typedef struct adapter_space {
    float *scales;   /* [n_rows][weights->adapters.n] that a row has for an adapter; 0: the row doesn't have it */
    int32_t *listed; /* [n_listed] adapters of some row, ascending */
    int32_t n_listed;
    float *low[VOUCH_MOST_PARTS];       /* [n_slots][max_rows * most_rank] s f A x, [n_rows][rank] in each slot */
    vouch_acts *acts[VOUCH_MOST_PARTS]; /* [n_slots] the same as the input of B */
} adapter_space;

/* RWKV's mixers and channel mixes (wkv.c). */
typedef struct wkv_space {
    vouch_acts inputs[VOUCH_WKV_INPUTS]; /* [n_rows][n_embd] of the mixer's matrices, or of the channel mix's gate */
    vouch_acts lows[VOUCH_WKV_INPUTS];   /* [n_rows][rank] of the second ones of narrow products */
    float *amounts;                      /* [n_rows][VOUCH_WKV6_INPUTS][n_embd] that depend on the row */
    float *first_values;                 /* [n_rows][n] of the first layer */
} wkv_space;

typedef struct vouch_workspace {
    const vouch_weights *weights;
    const vouch_matrix *output;
    const float *output_bias; /* [output->n_out], or NULL */
    vouch_pool *pool;
    int32_t n_ctx, n_slots; /* n_slots: n_ctx rounded up to a tile */
    int32_t max_rows, max_logits;
    vouch_needs needs; /* forms of activations that some matrix asks for */

    /* The rows of the running pass. */
    int32_t n_rows, n_runs, n_logits, n_hidden;
    int32_t *tokens;       /* [n_rows] */
    const float **inputs;  /* [n_rows] [n_embd] instead of the token's embedding; NULL: none */
    const float **seconds; /* [n_rows] [n_embd] second inputs (pass.h) */
    row_run *runs;         /* [n_runs] */
    row_slot *slots;       /* [n_rows] */
    int32_t *logits_rows;  /* [n_logits] rows with logits, ascending */
    int32_t *hidden_rows;  /* [n_hidden] rows whose hidden state is asked for, ascending */
    angle_table *angles;   /* [weights->n_rotaries] */

    float *x;              /* [n_rows][n_embd] the residual stream */
    float *versions;       /* [n_versions][max_rows][n_embd] of the stream; x is the one that a stage works on */
    hyper_space hyper;     /* in models with hyper-connections */
    float *kept_streams;   /* [streams][max_rows][n_embd] that mixers kept (vouch_depth) */
    float *layer_inputs;   /* [n_rows][n_layers * n_layer_input] */
    vouch_acts layer_acts; /* [n_rows][n_embd] the input of the layer inputs' projection */
    float *kept;           /* [n_rows][n_embd] x before a layer that reads it again after attention */
    float *own_weights;    /* [n_rows][2 * width * n_groups] of a branch's convolution */
    float *branch;         /* [n_rows][n_embd] a branch's result, where it isn't added to x directly */
    float *first;          /* [n_rows][n_embd] x before the first layer, in models whose layers add it */
    float *low_state, *high_state; /* [n_rows][n_embd] of a row, in models with stacks */
    float *beside;                 /* [n_rows][n_embd] the dense network's result, beside experts */
    float *branch_squares;         /* [n_rows][n_embd / 16, rounded up] its sums of squares */
    float *q, *k, *v;              /* [n_rows][heads * head_dim or value_dim]; q twice as wide with gates */
    float *gates;                  /* [n_rows][n_heads * value_dim, or n_heads] of attention's result */
    float *mixed;                  /* [n_rows][n_heads * value_dim] attention's result */
    float *low;             /* [n_rows][q_rank] W_low x of latent attention, or the narrow results of a delta net */
    float *heads;           /* [n_rows][n_heads * key_dim] latent queries, then [n_rows][n_heads * value_dim] results */
    vouch_acts low_acts;    /* [n_rows][q_rank] the input of W_q, or of W_decay */
    float *gate, *up;       /* [n_rows][n_ff] */
    float *logits;          /* [n_logits][output->n_out] */
    float *squares;         /* [n_rows][n_embd / 16, rounded up] sums of squares of x */
    vouch_acts acts;        /* [n_rows][n_embd, or twice] x times the next norm's weights */
    vouch_acts mixed_acts;  /* [n_rows][n_heads * value_dim] the input of W_o */
    vouch_acts gated_acts;  /* [n_rows][n_ff] the input of W_down */
    float *recurrent;       /* [n_rows][vouch_recurrent_row] */
    float *rates;           /* [n_rows][2 * n_heads] W_rate x and W_decay x of a recurrent mixer, or W_select c */
    float *inner;           /* [n_rows][n_inner] W_gate x, then the mixer's result */
    vouch_acts inner_acts;  /* [n_rows][n_inner] the input of W_out */
    expert_space experts;   /* where the model has any */
    adapter_space adapters; /* likewise */
    wkv_space wkv;          /* likewise */
    stream_tap *taps;       /* [n_layers] */
    thread_space *threads;  /* [n_threads] */

    vouch_arena arena;
} vouch_workspace;

/* The run that has this row. */
static inline const row_run *vouch_workspace_run(const vouch_workspace *c, int64_t row)
{
    const row_run *run = c->runs;
    while (run->end <= row) run++;
    return run;
}

/* A row's input u of the recurrent mixer; its c, rates and decays lie after it. */
static inline float *vouch_workspace_row(const vouch_workspace *c, const vouch_recurrent *r, int64_t row)
{
    return c->recurrent + row * vouch_recurrent_row(r);
}
/* u of the row or token with this number, from the pass or from the memory. */
const float *vouch_workspace_input(const vouch_workspace *c, const row_run *run, int32_t layer, int32_t number);

typedef struct vouch_workspace_options {
    int32_t n_ctx; /* most tokens and rows that one row may see */
    int32_t max_rows;
    int32_t max_logits;         /* most rows of a pass with logits */
    const vouch_matrix *output; /* some rows of the output matrix; NULL: the weights' own */
    const float *output_bias;   /* [output->n_out] for `output`; NULL: none */
} vouch_workspace_options;

/* The weights and the pool must outlive it. Errors: MEMORY (with the size). */
vouch_status vouch_workspace_open(vouch_workspace *c, const vouch_weights *weights, vouch_pool *pool,
                                  const vouch_workspace_options *options, vouch_error *err);
void vouch_workspace_close(vouch_workspace *c);
/* Keeps the stream after a layer from now on (vouch_pass_open_tap). Errors: MEMORY. */
vouch_status vouch_workspace_open_tap(vouch_workspace *c, int32_t layer, vouch_error *err);
size_t vouch_workspace_bytes(const vouch_workspace *c);

#endif
