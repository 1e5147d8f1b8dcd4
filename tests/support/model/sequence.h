/* SPDX-License-Identifier: MIT */
/* One sequence that runs alone: a store with pages for it, its memory, and a pass. */
#ifndef TESTS_SUPPORT_SEQUENCE_H
#define TESTS_SUPPORT_SEQUENCE_H

#include "model/pass/pass.h"

typedef struct vouch_sequence {
    vouch_pages *pages;
    vouch_memory *memory;
    vouch_pass *pass;
} vouch_sequence;

typedef struct vouch_sequence_options {
    int32_t n_ctx;      /* most tokens and provisional rows */
    int32_t max_rows;   /* most rows of a pass */
    int32_t max_tree;   /* most provisional rows; 0: max_rows */
    int32_t max_logits; /* most rows of a pass with logits */
    vouch_kv_type kv_type;
    const vouch_matrix *head; /* some rows of the output matrix; NULL: all */
    const float *head_bias;   /* [head->n_out] for `head`; NULL: none */
} vouch_sequence_options;

/* The weights and the pool must outlive it. Errors: those of vouch_pages_open and vouch_pass_open; then *out is
 * zero. */
vouch_status vouch_sequence_open(vouch_sequence *out, const vouch_weights *weights, vouch_pool *pool,
                                 const vouch_sequence_options *options, vouch_error *err);
void vouch_sequence_close(vouch_sequence *sequence); /* zero is allowed */
size_t vouch_sequence_bytes(const vouch_sequence *sequence);

#endif
