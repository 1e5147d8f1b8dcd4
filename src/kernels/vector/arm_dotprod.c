/* SPDX-License-Identifier: MIT */
/* Kernels for NEON with the dot product of signed bytes (Armv8.2). */
#define VOUCH_DOTPROD 1
#define VOUCH_I8MM 0
#include "kernels/vector/arm_vec128.h"

#include "kernels/vector/vector_body.h"

KERNELS(dotprod)
