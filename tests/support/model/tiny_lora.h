/* SPDX-License-Identifier: MIT */
/* Writes LoRA adapters with random weights for a model's file, and the same model with these adapters merged in. */
#ifndef VOUCH_TESTS_TINY_LORA_H
#define VOUCH_TESTS_TINY_LORA_H

#include "support/model/tiny_model.h"

typedef struct tiny_lora_options {
    int32_t rank;          /* 4 */
    float alpha;           /* 0: a factor of 1 */
    uint64_t seed;         /* of the weights */
    vouch_type type;       /* F32 or F16 */
    const char *only;      /* one tensor, such as "attn_v"; NULL: all that can have an adapter */
    const char *arch;      /* what the file says of itself; NULL: the model's */
    const char *kind;      /* its adapter.type; NULL: "lora" */
    const char *extra;     /* one more tensor, for which there is no place; NULL: none */
    bool lacks_b, is_wide; /* wrong on purpose: no second matrices; first ones that are too wide */
} tiny_lora_options;

/* Writes an adapter for the projections of attention and the dense feed-forward networks of a model's file. Fails the
 * test on any error. */
void tiny_lora_write(const char *path, const char *model, const tiny_lora_options *options);
/* Writes the model with n adapters merged into it: W + sum over i of scales[i] f B A, in F32. */
void tiny_lora_merge(const char *path, const char *model, const char *const *adapters, const float *scales, int32_t n);

#endif
