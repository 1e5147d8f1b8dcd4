/* SPDX-License-Identifier: MIT */
/*
 * An operation of docs/float-order.md as data: its shape, and the names of its inputs and results. `fill` makes the
 * inputs from a seed, or a file of vectors brings them (vectors.c). `run` doesn't change them, so that every table of
 * kernels gets the same.
 */
#ifndef VOUCH_BITS_OPERATION_H
#define VOUCH_BITS_OPERATION_H

#include "bits/compare.h"

enum { BITS_MOST_SIZES = 3, BITS_MOST_CHOICES = 2, BITS_MOST_FIELDS = 10 };

typedef struct bits_shape {
    vouch_type type; /* of weights or of a cache, where the operation has one */
    int64_t size[BITS_MOST_SIZES];
    int choice[BITS_MOST_CHOICES];
} bits_shape;

/* How a field's elements are written in a file, and what they are here. A double takes two of a run's numbers. */
typedef enum bits_kind {
    BITS_FLOAT,  /* float: 8 hexadecimal digits */
    BITS_DOUBLE, /* double: 16 hexadecimal digits */
    BITS_WHOLE,  /* float without a fraction: a decimal integer */
    BITS_BYTE    /* a byte of a GGUF tensor: 2 hexadecimal digits */
} bits_kind;

typedef struct bits_field {
    const char *name;
    bits_kind kind;
    int64_t n;     /* elements */
    void *at;      /* an input's place: float or bytes */
    int64_t first; /* a result's first number among those of a run */
} bits_field;

typedef struct bits_fields {
    int n_inputs, n_results;
    bits_field inputs[BITS_MOST_FIELDS], results[BITS_MOST_FIELDS];
} bits_fields;

typedef struct bits_operation {
    const char *name;
    void (*fill)(bits_work *work, const bits_shape *shape);
    void (*list)(bits_work *work, const bits_shape *shape, bits_fields *fields);
    bits_run *run; /* `arg` is a bits_shape */
    /* The smallest and the largest value; `step`: a multiple of it. */
    struct {
        const char *name; /* NULL: there are no more sizes */
        int64_t least, most, step;
    } sizes[BITS_MOST_SIZES];
    struct {
        const char *name; /* NULL: files always have variant 0 */
        int n;            /* number of variants; 0: there are no more choices */
    } choices[BITS_MOST_CHOICES];
    bool is_above_zero;                /* inputs must be finite and above 0 */
    bool (*has_type)(vouch_type type); /* NULL: it has no type. size[0] is whole blocks of the type */
} bits_operation;

/* Operations of one row, which `check --system` runs, too (rows.c); NULL past the last. */
const bits_operation *bits_row_operation(int i);
extern const bits_operation bits_matmul, bits_attention; /* matmuls.c, attention.c */

/* For `list`: an input of floats; a result. */
void bits_add_input(bits_fields *fields, const char *name, float *at, int64_t n);
void bits_add_result(bits_fields *fields, const char *name, bits_kind kind, int64_t first, int64_t n);

#endif
