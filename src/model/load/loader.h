/* SPDX-License-Identifier: MIT */
/*
 * From a file's tensors to packed matrices. Opening walks over all tensors twice with the same functions:
 *
 *   1 check   every tensor is there, has its shape and a supported type; the arena counts their bytes; tensors that
 *             nobody asked for are refused
 *   2 place   matrices and vectors get their memory and become jobs
 *
 * Then the jobs, laid end to end, are done in batches of 32 MiB, which begin and end between two tiles of a matrix. So
 * the file and the packed weights are never whole in memory at the same time: the peak is the packed weights and one
 * batch.
 *
 *   file     [ given back | batch: loaded, all threads pack it |  not yet loaded          ]
 *   packed   [ done       | being written                      |  pages not yet touched   ]
 */
#ifndef VOUCH_MODEL_LOADER_H
#define VOUCH_MODEL_LOADER_H

#include "base/memory.h"
#include "base/pool.h"
#include "format/gguf.h"
#include "kernels/tune.h"
#include "model/hparams.h"
#include "model/layer.h"

/* A matrix to pack or a vector to copy. A vector counts as one tile, and so does a matrix to transpose. */
typedef struct vouch_job {
    vouch_matrix matrix;
    bool is_transposed;
    float *vector;          /* NULL: a matrix */
    int64_t width;          /* the vector is a matrix [n, width], whose transpose is copied; 0: no */
    int64_t of;             /* floats from one row of the transposed copy to the next */
    const vouch_gguf *gguf; /* the tensor's file */
    const vouch_gguf_tensor *tensor;
    int64_t first_tile, n_tiles; /* first_tile is counted over all jobs */
    size_t stride;               /* bytes of a tile in the file; the last may have fewer */
    size_t offset, bytes;        /* the job's part of the tensor's bytes */
} vouch_job;

/* One walk over the tensors. */
typedef struct vouch_loader {
    const vouch_gguf *gguf;
    const vouch_hparams *hparams;
    vouch_arena *arena;
    const vouch_tuning *tuning; /* has the readings of the matrices */
    vouch_error *err;
    vouch_job *jobs; /* [n_jobs], with room for max_jobs; the caller frees it */
    size_t n_jobs, max_jobs;
    bool *is_taken;                 /* [tensors of the file] */
    struct vouch_lora_files *loras; /* adapters; NULL: none */
    char name[64];                  /* of vouch_loader_name */
} vouch_loader;

/* Longest row of a tensor that is transposed. */
enum { VOUCH_MOST_TRANSPOSED = 1024 };

/* The rows [first, first + n) of a tensor that has `of` rows. */
typedef struct vouch_rows {
    int64_t first, n, of;
} vouch_rows;

/* "blk.LAYER.TENSOR.KIND", without ".KIND" where `kind` is NULL. Valid until the next call. vouch_loader_name: KIND is
 * "weight". */
const char *vouch_loader_name_of(vouch_loader *loader, int32_t layer, const char *tensor, const char *kind);
const char *vouch_loader_name(vouch_loader *loader, int32_t layer, const char *tensor);
/* The name of a norm's weights. Some files of Falcon-H1 and PLaMo have them without ".weight". */
const char *vouch_loader_norm_name(vouch_loader *loader, int32_t layer, const char *tensor);
/* Does the file have blk.LAYER.TENSOR.weight? */
bool vouch_loader_has(vouch_loader *loader, int32_t layer, const char *tensor);
/* Takes a matrix [n_out, n_in], or a vector [n] of F32. Without the tensor, *matrix or *vector stays as it was,
 * unless the tensor is required. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_loader_matrix(vouch_loader *loader, const char *name, bool required, vouch_matrix *matrix,
                                 int64_t n_out, int64_t n_in);
vouch_status vouch_loader_vector(vouch_loader *loader, const char *name, bool required, const float **vector,
                                 int64_t n);
/* Takes n vectors [n, length] of F32. */
vouch_status vouch_loader_vectors(vouch_loader *loader, const char *name, bool required, const float **vectors,
                                  int64_t n, int64_t length);
/* Takes n times n_out vectors [n, n_out, length] of F32. */
vouch_status vouch_loader_planes(vouch_loader *loader, const char *name, const float **vectors, int64_t n,
                                 int64_t n_out, int64_t length);
/* Takes n vectors [n, 1, 1, length] of F32. */
vouch_status vouch_loader_deep(vouch_loader *loader, const char *name, const float **vectors, int64_t n,
                               int64_t length);
/* Takes the transpose [width, n] of n vectors [n, width] of F32. */
vouch_status vouch_loader_transposed(vouch_loader *loader, const char *name, const float **vectors, int64_t n,
                                     int64_t width);
/* Takes n vectors [n, width] or [n, 1, width] of F32, as the columns [first, first + n) of `vectors` [width, of], which
 * the caller has taken from the arena. */
vouch_status vouch_loader_columns(vouch_loader *loader, const char *name, float *vectors, int64_t width,
                                  vouch_rows columns);
/* Take some rows of a matrix, or some elements of a vector: several matrices may share a tensor. */
vouch_status vouch_loader_rows(vouch_loader *loader, const char *name, bool required, vouch_matrix *matrix,
                               int64_t n_in, vouch_rows rows);
vouch_status vouch_loader_part(vouch_loader *loader, const char *name, bool required, const float **vector,
                               vouch_rows part);
/* Takes some rows of each of n matrices that a tensor [n, rows.of, n_in] holds. *matrix becomes the first of them, and
 * the others follow it (vouch_matrix_at). */
vouch_status vouch_loader_stack(vouch_loader *loader, const char *name, bool required, vouch_matrix *matrix, int64_t n,
                                int64_t n_in, vouch_rows rows);
/* Takes some rows of each of n parts of a tensor [n * rows.of, n_in], one below the other; rows.n is a multiple of
 * VOUCH_TILE. */
vouch_status vouch_loader_parts(vouch_loader *loader, const char *name, vouch_matrix *matrix, int64_t n, int64_t n_in,
                                vouch_rows rows);
/* As vouch_loader_stack, from a tensor of two dimensions, where the n matrices lie one below the other. */
vouch_status vouch_loader_split(vouch_loader *loader, const char *name, vouch_matrix *matrix, int64_t n, int64_t n_in,
                                vouch_rows rows);
/* As vouch_loader_split, transposed: n matrices [n_in, rows.n] of F32, or of F16 where the tensor is. n_in is at most
 * VOUCH_MOST_TRANSPOSED and a multiple of 16. */
vouch_status vouch_loader_split_transposed(vouch_loader *loader, const char *name, vouch_matrix *matrix, int64_t n,
                                           int64_t n_in, vouch_rows rows);
/* Takes blk.LAYER.TENSOR.bias and .scale, if there. Ignores .input_scale, which only 4-bit activations need. */
vouch_status vouch_loader_affine(vouch_loader *loader, int32_t layer, const char *tensor, vouch_affine *affine,
                                 vouch_rows rows);
/* Takes room for the matrices of n adapters, all without rows, and sets those of `lora`. a NULL: the walk only counts.
 */
typedef struct vouch_loras {
    vouch_matrix *a, *b;
    float *factors;
} vouch_loras;
vouch_loras vouch_loader_loras(vouch_loader *loader, int32_t n, vouch_lora *lora);
/* Sets the needs of its matrices. */
void vouch_lora_find_needs(vouch_lora *lora, int32_t n);
/* Accepts a tensor without loading it: logits don't depend on it. */
vouch_status vouch_loader_ignore(vouch_loader *loader, const char *name);
/* Accepts blk.LAYER.TENSOR.scale and .input_scale. */
vouch_status vouch_loader_ignore_scales(vouch_loader *loader, int32_t layer, const char *tensor);
/* Accepts blk.LAYER.TENSOR.weight and .bias, too. Other names, such as blk.LAYER.TENSOR.wait, stay unknown. */
vouch_status vouch_loader_ignore_tensor(vouch_loader *loader, int32_t layer, const char *tensor);
/* Accepts all tensors whose names begin with `prefix`. */
void vouch_loader_ignore_all(vouch_loader *loader, const char *prefix);

/* After a walk: an error where the file has a tensor that no call took. A bias, say, would change the results if it
 * were ignored. */
vouch_status vouch_loader_refuse_others(const vouch_loader *loader);
/* After the second walk: loads and packs all tensors that were taken, with the threads of `pool`. */
vouch_status vouch_loader_pack(vouch_loader *loader, vouch_pool *pool, vouch_progress_fn progress, void *user);

#endif
