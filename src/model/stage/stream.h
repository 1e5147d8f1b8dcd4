/* SPDX-License-Identifier: MIT */
/*
 * The residual stream x [n_rows, n_embd] between the stages of a pass.
 *
 * A stage leaves its result in the form that the next stage multiplies with (quantised where its weights are), made by
 * the thread that computed it. So a quarter of the bytes travels between the processors' caches, and no input is
 * prepared twice. An RMSNorm is factor * x * weight, and only the factor needs a whole row. The writer of x therefore
 * leaves x * weight and the sums of squares; the reader multiplies its finished sums by the factor:
 *
 *   writer    publish:  acts = x * weight, quantised;  squares of 16 columns each
 *   ------    barrier
 *   reader    receive:  norms[row] = 1 / sqrt(mean of the squares + eps);  then  y = norms[row] * (W acts)
 *
 * Other norms need whole rows before they can scale an element, and some layers read their rows twice. Then the
 * writer leaves nothing, and the readers share the rows among them, with a barrier of their own:
 *
 *   reader    receive:  acts = norm(x), quantised;  norms[row] = 1;  barrier
 */
#ifndef VOUCH_MODEL_STREAM_H
#define VOUCH_MODEL_STREAM_H

#include "model/stage/workspace.h"

/* Smallest piece of a matmul in tiles: an even number, for kernels that take tiles in pairs. */
enum { VOUCH_STAGE_TILES = 2 };

/* A stage that reads the stream. */
typedef struct stream_reader {
    const vouch_norm *norm;
    const float *x;               /* [n_rows, n_embd] */
    float *kept;                  /* receives a copy of x; NULL: none */
    const float **seconds;        /* [n_rows] [n_embd] stand before the rows of x; NULL: none */
    float carry;                  /* of the branch (layer.h) */
    const vouch_depth *depth;     /* it reads a mixture of streams (layer.h) instead of x; NULL: no */
    const vouch_block_conv *conv; /* its input goes through this convolution; NULL: none */
    bool is_whole;                /* the norm is computed by the reader */
    vouch_needs need;             /* forms of its input */
    const int32_t *rows;          /* [n_rows] rows it reads, ascending; NULL: all */
    int32_t n_rows;
} stream_reader;

stream_reader vouch_stream_reader_mix(const vouch_workspace *c, int32_t layer);
/* The readers of a layer: its feed-forward network, or experts in its place; its experts; its extra branch. */
stream_reader vouch_stream_reader_feed(const vouch_workspace *c, int32_t layer);
stream_reader vouch_stream_reader_experts(const vouch_workspace *c, int32_t layer);
stream_reader vouch_stream_reader_extra(const vouch_workspace *c, int32_t layer);
/* The path beside the mixer. */
stream_reader vouch_stream_reader_laurel(const vouch_workspace *c, int32_t layer);
/* Only the rows with logits. */
stream_reader vouch_stream_reader_head(const vouch_workspace *c);
/* The first stage from `branch` on that reads the stream. Branch 3 l is the mixer of layer l, 3 l + 1 its feed-forward,
 * 3 l + 2 its extra branch. */
stream_reader vouch_stream_reader_from(const vouch_workspace *c, int32_t branch);

/* The tiles [tile, tile_end) of x are final in the reader's rows [begin, end): makes them the reader's input. */
void vouch_stream_publish(const vouch_workspace *c, thread_space *my, const stream_reader *to, int64_t begin,
                          int64_t end, int64_t tile, int64_t tile_end);
/* The reader's input [n_rows, n_embd]; my->norms gets the factors of its rows. All threads call it. */
vouch_acts vouch_stream_receive(const vouch_workspace *c, vouch_pool *team, thread_space *my,
                                const stream_reader *reader);

/* y [n_embd] = a row of x [n_rows, n_embd] after a branch's convolution, whose weights for all rows the branch's reader
 * has computed. */
void vouch_stream_convolve(const vouch_workspace *c, const vouch_block_conv *conv, int side, const float *x,
                           int64_t row, float *y);

/* Forms of activations that some of these matrices ask for. */
vouch_needs vouch_stage_needs(const vouch_matrix *const *matrices, int n);
/* Activations [n_rows, n_in] in the memory of `room`, which is large enough for them. */
vouch_acts vouch_stage_acts(const vouch_workspace *c, const vouch_acts *room, int64_t n_rows, int64_t n_in);
/* Writes the inputs [first, last) of the rows [begin, end) to acts. x[i * ldx + k] is input k of row begin + i. */
void vouch_stage_put(const vouch_workspace *c, vouch_acts *acts, vouch_needs need, const float *x, int64_t ldx,
                     int64_t begin, int64_t end, int64_t first, int64_t last);
/* Computes the tiles [begin, end) of y = W acts or y += W acts, times a row's factor unless factors is NULL. */
void vouch_stage_multiply(const vouch_workspace *c, const vouch_matrix *w, const vouch_acts *x, float *y, int64_t begin,
                          int64_t end, vouch_start start, const float *factors);
/* Pieces of VOUCH_STAGE_TILES tiles of n matrices, numbered from the first matrix to the last. Piece `at` belongs to
 * matrix *i; *tiles are its tiles in the pieces [at, end). Returns the piece after them. */
int64_t vouch_stage_n_pieces(const vouch_matrix *const *matrices, int n);
int64_t vouch_stage_piece(const vouch_matrix *const *matrices, int n, int64_t at, int64_t end, int *i,
                          vouch_range *tiles);
/* Rotates x by the angles of a row's position. */
void vouch_stage_rotate(const vouch_workspace *c, int32_t rotary, float *x, int64_t row);
/* Computes the tiles [begin, end) of W acts, at most VOUCH_STAGE_TILES, in y [n_rows][VOUCH_EXPERT_UNIT]. */
void vouch_stage_multiply_piece(const vouch_workspace *c, const vouch_matrix *w, const vouch_acts *x, float *y,
                                int64_t begin, int64_t end, const float *factors);
/* Forms of activations that a matrix and its adapters ask for. */
vouch_needs vouch_stage_end_needs(const vouch_matrix *w, const vouch_affine *after);

#endif
