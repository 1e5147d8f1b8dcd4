/* SPDX-License-Identifier: MIT */
/* Kernels for AVX2, FMA and F16C. */
#define VOUCH_VNNI 0
#define VOUCH_GFNI 0
#include "kernels/vector/x86_vec256.h"

#include "kernels/vector/vector_body.h"

KERNELS(avx2)
