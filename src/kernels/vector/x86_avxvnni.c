/* SPDX-License-Identifier: MIT */
/* Kernels for AVX2, FMA and F16C with AVX-VNNI and GFNI: desktop and laptop processors since 2021 without AVX-512. */
#define VOUCH_VNNI 1
#define VOUCH_GFNI 1
#include "kernels/vector/x86_vec256.h"

#include "kernels/vector/vector_body.h"

KERNELS(avxvnni)
