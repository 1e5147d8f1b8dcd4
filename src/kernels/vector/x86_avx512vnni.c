/* SPDX-License-Identifier: MIT */
/* Kernels for AVX-512 with VNNI. */
#define VOUCH_VNNI 1
#define VOUCH_GFNI 0
#include "kernels/vector/x86_vec512.h"

#include "kernels/vector/vector_body.h"

KERNELS(avx512vnni)
