/* SPDX-License-Identifier: MIT */
/* A tiny head of each kind (src/model/head/head_kind.h), with a target that it fits. */
#ifndef VOUCH_TESTS_HEAD_KINDS_H
#define VOUCH_TESTS_HEAD_KINDS_H

#include "support/head/head_of.h"
#include "support/decode/answer.h"

enum {
    LINEAR_HEAD,
    LAYER_HEAD,
    TRIMMED_HEAD,
    EAGLE3_HEAD,
    EAGLE_HEAD,
    MEDUSA_HEAD,
    ASSISTANT_HEAD,
    DFLASH_HEAD,
    DFLASH2_HEAD, /* it chooses among two thirds of the tokens */
    DSPARK_HEAD,
    PEAGLE_HEAD,
    CENTROIDS_HEAD,
    MTP_HEAD,
    RECURRENT_MTP_HEAD,
    DEPTHS_MTP_HEAD,
    N_HEAD_KINDS
};
extern const char *const head_kind_names[N_HEAD_KINDS];

typedef struct head_pair {
    vouch_model *target;
    const vouch_draft_file *head;
    vouch_draft_file *owned; /* NULL: the head is in the target's file */
} head_pair;

/* The target has n_vocab tokens, at least 3. The seed is that of all weights. */
head_pair head_pair_open(int kind, int32_t n_vocab, uint64_t seed);
void head_pair_close(head_pair *pair);

#endif
