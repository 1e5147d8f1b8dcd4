/* SPDX-License-Identifier: MIT */
/*
 * Mixes: which type each tensor of a quantised file gets. A mix keeps the tensors that matter most (output matrix,
 * attention values, first and last ffn_down) in types of more bits. Names, numbers and rules are llama.cpp's
 * (llama-quant.cpp), so that a file from either program has the same types. vouch leaves out the mixes that need an
 * importance matrix (IQ1_S to IQ3_M, Q2_K_S).
 */
#ifndef VOUCH_FORMAT_MIX_H
#define VOUCH_FORMAT_MIX_H

#include "format/gguf.h"

typedef struct vouch_mix {
    const char *name;   /* "Q4_K_M" */
    uint32_t file_type; /* general.file_type */
    vouch_type type;    /* of most matrices */
} vouch_mix;

/* Mix i, in ascending order of bits per weight; NULL past the last. */
const vouch_mix *vouch_mix_at(size_t i);
/* The mix with this name, in upper or lower case; also "Q3_K", "Q4_K" and "Q5_K", short for their _M. NULL: none. */
const vouch_mix *vouch_mix_find(const char *name);

typedef struct vouch_mix_options {
    const vouch_mix *mix;
    bool pure;                            /* all matrices get the mix's type */
    const vouch_type *output, *embedding; /* type of the output matrix, of the token embedding; NULL: as the mix */
} vouch_mix_options;

/* Sets types[i] to the type of tensor i in the new file: its present type where the tensor stays as it is (norms,
 * biases, routers and other small tensors). A matrix whose rows are not whole blocks gets the next type with smaller
 * blocks; *n_fallback counts these. Errors: MEMORY; FORMAT, if a key of the model's shape has the wrong type. */
vouch_status vouch_mix_assign(const vouch_gguf *gguf, const vouch_mix_options *options, uint32_t *types,
                              size_t *n_fallback, vouch_error *err);

#endif
