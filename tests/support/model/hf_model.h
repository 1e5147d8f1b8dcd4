/* SPDX-License-Identifier: MIT */
/* Writes tiny Hugging Face folders. tests/golden/hf_folders.h has the expected logits of each. */
#ifndef VOUCH_TESTS_HF_MODEL_H
#define VOUCH_TESTS_HF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tensors of one shape. The first '#' of the name stands for 0 to n - 1, the second for 0 to m - 1. */
typedef struct hf_tensor {
    const char *name;
    int32_t shape[4], n_dims, n, m;
} hf_tensor;

typedef struct hf_case {
    const char *name, *dtype, *config; /* config.json */
    const hf_tensor *tensors;          /* ended by an empty one */
    const float *logits;               /* [hf_vocabulary] after the last of the prompt's hf_tokens ids */
} hf_case;

extern const int32_t hf_vocabulary, hf_tokens; /* id i of the prompt is 7 i mod hf_vocabulary */
const hf_case *hf_case_at(size_t i);           /* NULL past the last */
/* Fails the test if there is no such case. */
const hf_case *hf_case_named(const char *name);

/* Writes the n values of a tensor, which follow from its name by the rule of hf_folders.py. */
void hf_values(float *values, const char *name, int32_t n_dims, int32_t n);

typedef struct hf_layout {
    int32_t n_files;      /* 0: 1; more have an index */
    int32_t shift;        /* spaces after the header: 1 misaligns the data */
    const char *config;   /* in place of the case's */
    const char *left_out; /* a tensor */
    bool is_bare;         /* names without "model.", as AutoModel saves them */
} hf_layout;

/* Makes a folder under the test's temporary one; the path is valid for the next 3 calls. */
const char *hf_folder_write(const char *name, const hf_case *model, const hf_layout *layout);
/* The same with the first `from` of the case's config.json replaced by `to`. Fails the test if there is no `from`. */
const char *hf_folder_reworded(const hf_case *model, const char *from, const char *to);
/* The path of a file in a folder that hf_folder_write has made: "config.json", "model.safetensors", ... */
const char *hf_file(const char *folder, const char *name);

#endif
