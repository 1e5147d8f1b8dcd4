/* SPDX-License-Identifier: MIT */
/* What a pass costs by its rows, until somebody measures it. */
#ifndef VOUCH_DRAFT_COST_H
#define VOUCH_DRAFT_COST_H

#include "vouch.h"

/* Cost of a pass of n rows, 1 <= n <= VOUCH_MAX_DRAFT + 1, in that of one row: 1.12 at 5 rows and 1.42 at 8, as
 * measured for SmolLM2-135M in 4 bits on two cores with AVX-512, and 0.08 a row beyond. */
double vouch_cost_default(int32_t n_rows);

#endif
