/* SPDX-License-Identifier: MIT */
/*
 * Adapters in files of their own, as llama.cpp's convert_lora_to_gguf writes them: GGUF files of general.type "adapter"
 * with two tensors for each matrix that they change,
 *
 *   blk.L.TENSOR.weight.lora_a   [rank, n_in]
 *   blk.L.TENSOR.weight.lora_b   [n_out, rank]
 *
 * and adapter.lora.alpha: the factor of B A x is alpha / rank, or 1 where alpha is 0. They change the projections of
 * attention and the matrices of dense feed-forward networks.
 */
#ifndef VOUCH_MODEL_LORA_FILES_H
#define VOUCH_MODEL_LORA_FILES_H

#include "model/load/loader.h"

typedef struct vouch_lora_file {
    const vouch_gguf *gguf;
    float alpha;
    bool *is_taken; /* [tensors of the file] */
} vouch_lora_file;

typedef struct vouch_lora_files {
    vouch_lora_file *items; /* [n] */
    int32_t n, most_rank;   /* most_rank: of a matrix that was taken */
    int32_t n_taken;        /* matrices that got adapters in the running walk */
} vouch_lora_files;

/* Checks what the files say of themselves. The files must outlive it. Errors: FORMAT, UNSUPPORTED, MISMATCH (made for
 * another architecture), MEMORY. */
vouch_status vouch_lora_files_open(vouch_lora_files *out, const vouch_gguf *const *files, int32_t n,
                                   const vouch_gguf *model, vouch_error *err);
void vouch_lora_files_close(vouch_lora_files *files);

/* Adds the adapters of blk.LAYER.TENSOR.weight, from all files that have any, to the affine. Its matrix is these rows
 * of the tensor. `part` is the matrix's number among those that read the same input. Errors: FORMAT, UNSUPPORTED,
 * MEMORY. */
vouch_status vouch_lora_files_take(vouch_loader *loader, int32_t layer, const char *tensor, vouch_affine *affine,
                                   vouch_rows rows, int32_t part);
/* After the second walk: an error where a matrix that got adapters isn't among those to which a pass applies them. */
vouch_status vouch_lora_files_check(const vouch_lora_files *files, const vouch_layer *layers,
                                    const vouch_hparams *hparams, vouch_error *err);
/* An error where a file has a tensor that no call took. */
vouch_status vouch_lora_files_refuse_others(const vouch_lora_files *files, vouch_error *err);

#endif
