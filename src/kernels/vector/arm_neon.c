/* SPDX-License-Identifier: MIT */
/* Kernels for NEON alone, which every 64-bit Arm processor has. */
#define VOUCH_DOTPROD 0
#define VOUCH_I8MM 0
#include "kernels/vector/arm_vec128.h"

#include "kernels/vector/vector_body.h"

KERNELS(neon)
