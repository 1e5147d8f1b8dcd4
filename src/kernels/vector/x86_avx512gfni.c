/* SPDX-License-Identifier: MIT */
/* Kernels for AVX-512 with VNNI and GFNI. */
#define VOUCH_VNNI 1
#define VOUCH_GFNI 1
#include "kernels/vector/x86_vec512.h"

#include "kernels/vector/vector_body.h"

KERNELS(avx512gfni)
