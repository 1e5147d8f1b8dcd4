/* SPDX-License-Identifier: MIT */
/* Kernels for NEON with I8MM, the dot product of unsigned and signed bytes. */
#define VOUCH_DOTPROD 1
#define VOUCH_I8MM 1
#include "kernels/vector/arm_vec128.h"

#include "kernels/vector/vector_body.h"

KERNELS(i8mm)
