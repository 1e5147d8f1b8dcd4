/* SPDX-License-Identifier: MIT */
/* Kernels for AVX2, FMA and F16C. */
#include "kernels/x86_vec256.h"

#include "kernels/vector_body.h"

const vouch_kernels vouch_kernels_avx2 = KERNELS("avx2");
