/* SPDX-License-Identifier: MIT */
/* Writes tiny heads in the formats of llama.cpp, with random weights from a seed. tiny_head.h has vouch's own. */
#ifndef VOUCH_TESTS_TINY_DRAFT_H
#define VOUCH_TESTS_TINY_DRAFT_H

#include "support/test.h"
#include "vouch.h"

typedef enum tiny_draft_kind {
    TINY_ASSISTANT, /* Gemma 4's: three layers, the last without a window */
    TINY_DFLASH,    /* three layers, the first two with a sliding window; taps after layers 0 and 2 */
    TINY_DFLASH2,   /* as TINY_DFLASH, with convolutions and a selector; n_embd is a multiple of 32, 288 at least for
                       llama.cpp */
    TINY_DSPARK     /* as TINY_DFLASH, with a bias of the logits by the token before */
} tiny_draft_kind;

/* 0 and NULL select the default. Each comment begins with the default. */
typedef struct tiny_draft_options {
    tiny_draft_kind kind;
    const vouch_model *target;
    uint64_t seed;
    int32_t n_centroids; /* none; centroids that find likely tokens (TINY_ASSISTANT); half of them count */
    const char *omit;    /* none; a key or tensor to leave out */
    int32_t n_embd;      /* the target's; as the file states it */
    int32_t n_heads;     /* 4 */
    int32_t n_kv_heads;  /* 2; as the file states it */
    int32_t head_dim;    /* as in the target's layers */
    int32_t block_size;  /* 6 */
    int32_t n_best;      /* 16; tokens among which the selector chooses (TINY_DFLASH2) */
    bool own_ends;       /* false; true: an embedding and an output matrix of its own; DFlash and DSpark only, as all
                            below */
    bool one_matrix;     /* false; true: values are keys, norms after the branches, GELU */
    bool is_causal, has_bonus; /* false; true: a row sees no later row; the first row predicts nothing (DSpark) */
    int32_t n_draft;           /* all tokens of the target; fewer: the file has d2t */
    int32_t mask;              /* 5; token of the rows after the last one */
    int32_t tap;               /* 3; the second tap, as the file counts */
    const char *extra;         /* none; name of an additional tensor [4] */
} tiny_draft_options;

/* Writes the file. Fails the test if it can't. */
void tiny_draft_write(const char *path, const tiny_draft_options *options);
/* Writes it to a temporary file and opens it. */
vouch_draft_file *tiny_draft_open(const tiny_draft_options *options);

#endif
