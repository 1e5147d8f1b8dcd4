/* SPDX-License-Identifier: MIT */
/* The codebooks of the types IQ1, IQ2 and IQ3, and the readers of their blocks. */
#ifndef VOUCH_KERNELS_CODEBOOK_H
#define VOUCH_KERNELS_CODEBOOK_H

#include "kernels/file_block.h"

enum { VOUCH_CODEBOOK_POINTS = 2048 };

/* Writes the points of the type's codebook. A point is 8 crumbs (IQ1, IQ2) or 4 nibbles (IQ3), the first value lowest.
 * Types without a codebook have no points. */
void vouch_codebook_expand(vouch_type type, uint16_t points[VOUCH_CODEBOOK_POINTS]);

vouch_block_reader vouch_read_iq1_s, vouch_read_iq1_m, vouch_read_iq2_xxs, vouch_read_iq2_xs, vouch_read_iq2_s,
    vouch_read_iq3_xxs, vouch_read_iq3_s;

#endif
