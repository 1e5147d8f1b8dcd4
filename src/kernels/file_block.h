/* SPDX-License-Identifier: MIT */
/* A quantised block of a GGUF file, unpacked. */
#ifndef VOUCH_KERNELS_FILE_BLOCK_H
#define VOUCH_KERNELS_FILE_BLOCK_H

#include <string.h>

#include "base/tensor_type.h"

enum { VOUCH_MOST_BLOCK_LENGTH = 256 };

typedef struct vouch_file_block {
    uint8_t values[VOUCH_MOST_BLOCK_LENGTH]; /* weights: numbers with the offset, or indices of the type's table */
    uint16_t d, minimum;                     /* f16 */
    uint8_t scales[16], minima[16];          /* of 1 byte, as the type's form stores them (forms.h) */
    const uint16_t *points;                  /* the caller sets it: the type's expanded codebook (codebook.h) */
} vouch_file_block;

typedef void vouch_block_reader(const unsigned char *from, vouch_file_block *to);

static inline uint16_t vouch_load_16(const void *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

#endif
