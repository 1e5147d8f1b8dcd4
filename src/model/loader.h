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
#include "model/hparams.h"
#include "model/layer.h"

/* A matrix to pack, or a vector to copy, which counts as one tile. */
typedef struct vouch_job {
    vouch_matrix *matrix;
    float *vector;
    const vouch_gguf_tensor *tensor;
    int64_t first_tile, n_tiles; /* the first one's number over all jobs */
    size_t stride;               /* bytes of a tile in the file; the last may have fewer */
} vouch_job;

/* One walk over the tensors. */
typedef struct vouch_loader {
    const vouch_gguf *gguf;
    const vouch_hparams *hparams;
    vouch_arena *arena;
    vouch_error *err;
    vouch_job *jobs; /* room for every tensor of the file */
    size_t n_jobs;
    char name[64];   /* of vouch_loader_name */
} vouch_loader;

/* "blk.LAYER.TENSOR.weight"; valid until the next call. */
const char *vouch_loader_name(vouch_loader *loader, int32_t layer, const char *tensor);
/* Takes a matrix [n_out, n_in], or a vector [n] of F32. One that is missing and not required leaves the target as it
 * was. Errors: FORMAT, UNSUPPORTED, MEMORY. */
vouch_status vouch_loader_matrix(vouch_loader *loader, const char *name, bool required, vouch_matrix *matrix,
                                 int64_t n_out, int64_t n_in);
vouch_status vouch_loader_vector(vouch_loader *loader, const char *name, bool required, const float **vector,
                                 int64_t n);

/* After a walk: an error where the file has a tensor that no call took. A bias, say, would change the results if it
 * were ignored. */
vouch_status vouch_loader_refuse_others(const vouch_loader *loader);
/* After the second walk: loads and packs all that was taken, with the threads of `pool`. */
vouch_status vouch_loader_pack(vouch_loader *loader, vouch_pool *pool, vouch_progress_fn progress, void *user);

#endif
