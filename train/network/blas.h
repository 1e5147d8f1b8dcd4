/* SPDX-License-Identifier: MIT */
/*
 * OpenBLAS, loaded when training first needs it. A linked library would be loaded by every command: OpenBLAS starts
 * threads then, and its libquadmath makes every printf slower, which together is 10 ms of every start (measured on an
 * EPYC 9005).
 */
#ifndef VOUCH_TRAIN_BLAS_H
#define VOUCH_TRAIN_BLAS_H

#include <cblas.h>

#include "base/status.h"

/* LAPACK, which OpenBLAS contains. Matrices are column-major there. */
void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);
void dpotrs_(const char *half, const int *n, const int *n_right, const double *a, const int *lda, double *b,
             const int *ldb, int *info);

/* The functions of OpenBLAS that this room calls, as in train_blas()->cblas_sgemm(...). */
#define TRAIN_BLAS_FUNCTIONS(X) \
    X(cblas_sgemm) X(cblas_dgemm) X(cblas_ssyrk) X(dpotrf_) X(dpotrs_) X(openblas_set_num_threads)

typedef struct train_blas_functions {
#define MEMBER(name) __typeof__(name) *name;
    TRAIN_BLAS_FUNCTIONS(MEMBER)
#undef MEMBER
} train_blas_functions;

/* Loads OpenBLAS. Call it before the others. Errors: UNSUPPORTED (and what to install). Any thread. */
vouch_status train_blas_open(vouch_error *err);
/* OpenBLAS must be there. Any thread. */
const train_blas_functions *train_blas(void);

#endif
