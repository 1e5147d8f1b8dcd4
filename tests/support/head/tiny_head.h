/* SPDX-License-Identifier: MIT */
/* Writes tiny heads for tests from a seed, with random weights, or weights that make the head right. */
#ifndef VOUCH_TESTS_TINY_HEAD_H
#define VOUCH_TESTS_TINY_HEAD_H

#include "support/test.h"
#include "vouch.h"

/* 0 and NULL select the default. Each comment begins with the default. */
typedef struct tiny_head_options {
    const vouch_model *target;
    int32_t n_layers;   /* 0: linear */
    int32_t n_taps;     /* 1: the last layer; others before it */
    int32_t width;      /* the target's */
    int32_t n_draft;    /* all tokens of the target; fewer: the file has d2t */
    bool own_output;    /* false: the target's, unless width asks for one */
    bool own_norm;      /* false: the target's, unless the output matrix is its own */
    bool bias;          /* false: no join.bias */
    bool leaves;        /* false; true: leave.weight makes f of s, and f is added to the join of the token */
    bool copies_tokens; /* false; true: the head ignores its taps and guesses from the target's embedding of the last
                           token. For a target whose layers do nothing that is right. Needs n_layers 0 */
    uint64_t seed;
    const char *digest;                /* the target's */
    const char *omit;                  /* none; a key or tensor to leave out */
    int32_t n_embd, n_blocks, n_vocab; /* the target's sizes; others: the wrong sizes that the file states */
    int32_t tap;                       /* the last layer; the last tap */
    bool bad_ids;                      /* false; true: d2t has an id twice */
    bool is_infinite;                  /* false; true: an element of taps.inv_scale */
    bool eagle3;        /* false; true: a file as llama.cpp writes EAGLE-3's heads, with a layer at least */
    bool own_embedding; /* false; true: the file has token_embd.weight, as it has with another width (EAGLE-3) */
    bool norms_first;   /* false; true: norm_before_residual */
    bool norms_taps;    /* false; true: norm_before_fc */
    bool norms_each_tap, norms_output; /* false; true: fc_norm, norm_output */
    const int32_t *tap_layers;         /* [n_taps] target_layers; NULL: the last ones */
    int32_t vocab_seed;                /* 0; of the token table, which llama.cpp wants */
} tiny_head_options;

/* Writes the head's file. Fails the test if it can't. */
void tiny_head_write(const char *path, const tiny_head_options *options);
/* Writes it to a temporary file and opens it. */
vouch_draft_file *tiny_head_open(const tiny_head_options *options);
/* The branches of the model's layers add next to nothing from now on, so that the next token depends on the last one
 * alone. Before any session. */
void tiny_model_silence(vouch_model *model);

#endif
