/* SPDX-License-Identifier: MIT */
/* Straight lines between measured points: while weights are read from memory, a few rows cost little. */
#include "draft/cost.h"

double vouch_cost_default(int32_t n_rows)
{
    if (n_rows <= 5) return 1 + 0.03 * (n_rows - 1);
    if (n_rows <= 8) return 1.12 + 0.1 * (n_rows - 5);
    return 1.42 + 0.08 * (n_rows - 8);
}
