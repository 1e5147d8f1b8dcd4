/* SPDX-License-Identifier: MIT */
/*
 * A run is a function that any table of kernels can execute; it writes numbers to `out`. Plain C's numbers are expected
 * of every other table, and the digest of all numbers of a name is expected to be the one in digests.inc.
 */
#ifndef VOUCH_BITS_COMPARE_H
#define VOUCH_BITS_COMPARE_H

#include "base/memory.h"
#include "bits/bits.h"
#include "kernels/kernels.h"

enum { BITS_MOST = 1 << 14 }; /* most numbers of one run */

/* A stream of random numbers (bits_next_word). Its seed is the first state. */
typedef struct bits_random {
    uint64_t state;
} bits_random;
uint32_t bits_next(bits_random *random);
/* Uniform in [low, high), with the same bits on every machine. */
float bits_uniform(bits_random *random, float low, float high);
void bits_fill(bits_random *random, float *x, int64_t n, float low, float high);

typedef struct bits_work {
    const bits_listener *listener;
    int32_t n_done, n_all;   /* names or vectors compared, and all of them */
    const char *name;        /* "matmul Q4_K" */
    uint64_t digest;         /* of the name's numbers so far */
    float *expected, *found; /* [BITS_MOST] */
    vouch_acts acts;         /* room for the largest operation */
    float *inputs, *more;    /* [BITS_MOST], for operations */
    float scalars[2];        /* likewise */
    unsigned char *bytes;    /* [BITS_BYTES] 64-byte aligned, for weights in the file's layout */
    unsigned char *packed;   /* the same, for packed ones */
    const char *file;        /* of vectors; models lie beside it */
    vouch_arena arena;
} bits_work;
enum { BITS_BYTES = 1 << 18 };

/* Errors: MEMORY. On failure there is nothing to close. */
vouch_status bits_work_open(bits_work *work, const bits_listener *listener, vouch_error *err);
void bits_work_close(bits_work *work);

/* Computes something and returns how many numbers it wrote to `out`, at most BITS_MOST. */
typedef int64_t bits_run(bits_work *work, const vouch_kernels *kernels, const void *arg, float *out);

/* Another of the n_all begins. Errors: CANCELLED, if the listener ends the check. */
vouch_status bits_go_on(bits_work *work, vouch_error *err);
/* Runs the operation. Numbers that it doesn't write are NaN. */
int64_t bits_run_into(bits_work *work, bits_run *run, const vouch_kernels *kernels, const void *arg, float *out);
/* All comparisons between begin and end count under one name, such as "matmul Q8_0". Errors: those of bits_go_on. */
vouch_status bits_begin(bits_work *work, const char *name, vouch_error *err);
/* Compares every table of this machine with plain C. `shape` stands in the mismatch, such as "[40, 512] x 3 rows". */
void bits_compare(bits_work *work, bits_run *run, const void *arg, const char *shape);
/* Numbers of 4 or 8 bytes of which the table `table` gives `found`. `what` stands before the index in the mismatch. */
typedef struct bits_numbers {
    const char *table, *what;
    const void *found, *expected;
    int64_t n;
    size_t size;
} bits_numbers;
/* Tells the listener whether they are equal, and which is the first that differs. */
void bits_compare_numbers(const bits_work *work, bits_part part, const bits_numbers *numbers);
/* Compares the digest. */
void bits_end(bits_work *work);
/* Compares a digest with the one in digests.inc. table NULL: plain C's, which the listener hears of. */
void bits_compare_digest(bits_work *work, bits_part part, const char *table, const char *name, uint64_t digest);
/* The digest in digests.inc; false: it has no such name. */
bool bits_expected(const char *name, uint64_t *digest);

/* Each compares the names of one file. */
vouch_status bits_check_matmuls(bits_work *work, vouch_error *err);
vouch_status bits_check_rows(bits_work *work, vouch_error *err);
vouch_status bits_check_models(bits_work *work, vouch_error *err);
int32_t bits_matmul_names(void);
int32_t bits_row_names(void);
int32_t bits_model_names(void);

#endif
