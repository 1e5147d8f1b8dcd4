/* SPDX-License-Identifier: MIT */
/* Kernels for AVX-512 (F, BW, VL, DQ). */
#define VOUCH_VNNI 0
#define VOUCH_GFNI 0
#include "kernels/vector/x86_vec512.h"

#include "kernels/vector/vector_body.h"

KERNELS(avx512)
