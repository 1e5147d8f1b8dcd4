/* SPDX-License-Identifier: MIT */
/*
 * The number type of training, and the matrix products of OpenBLAS in that type. Training computes in single precision.
 * The tests build the same files with VOUCH_TRAIN_DOUBLE, because central differences need double precision.
 *
 * All matrices are row-major. A `ld` is the distance between rows.
 */
#ifndef VOUCH_TRAIN_REAL_H
#define VOUCH_TRAIN_REAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "train/network/blas.h"

#ifdef VOUCH_TRAIN_DOUBLE
typedef double real;
#define real_exp exp
#define real_log log
#define real_sqrt sqrt
#define real_gemm train_blas()->cblas_dgemm
#else
typedef float real;
#define real_exp expf
#define real_log logf
#define real_sqrt sqrtf
#define real_gemm train_blas()->cblas_sgemm
#endif

/* c [m, n] = a [m, k] b^T, b [n, k]; added to c where `add` is set. */
static inline void real_product_nt(real *c, int64_t ldc, const real *a, int64_t lda, const real *b, int64_t ldb,
                                   int64_t m, int64_t n, int64_t k, bool add)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
              (blasint)ldb, add, c, (blasint)ldc);
}

/* c [m, n] = a [m, k] b [k, n] */
static inline void real_product_nn(real *c, int64_t ldc, const real *a, int64_t lda, const real *b, int64_t ldb,
                                   int64_t m, int64_t n, int64_t k, bool add)
{
    real_gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
              (blasint)ldb, add, c, (blasint)ldc);
}

/* c [m, n] = a^T b, a [k, m], b [k, n] */
static inline void real_product_tn(real *c, int64_t ldc, const real *a, int64_t lda, const real *b, int64_t ldb,
                                   int64_t m, int64_t n, int64_t k, bool add)
{
    real_gemm(CblasRowMajor, CblasTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
              (blasint)ldb, add, c, (blasint)ldc);
}

#endif
