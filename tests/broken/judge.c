/* SPDX-License-Identifier: MIT */
/* The command with a judge that accepts every guess. `vouch check` has to find law L2 broken. */
#include "spec/judge.h"

vouch_dice __real_vouch_dice_philox(const vouch_luck *luck);
vouch_dice __wrap_vouch_dice_philox(const vouch_luck *luck);

static bool accept_all(void *self, int64_t position, double before, double limit, double *u)
{
    (void)self, (void)position, (void)limit;
    *u = before;
    return true;
}

vouch_dice __wrap_vouch_dice_philox(const vouch_luck *luck)
{
    vouch_dice dice = __real_vouch_dice_philox(luck);
    dice.accept = accept_all;
    return dice;
}
