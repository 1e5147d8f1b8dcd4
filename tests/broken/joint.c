/* SPDX-License-Identifier: MIT */
/* Builds the command with broken rules that judge guesses together: the chance of a guess stays what it is when a guess
 * after it is rejected. `vouch check` must find that law L2 is broken. */
#include "decode/rules.h"

int32_t __real_vouch_traverse(vouch_fork *fork, int32_t i);
int32_t __wrap_vouch_traverse(vouch_fork *fork, int32_t i);

int32_t __wrap_vouch_traverse(vouch_fork *fork, int32_t i)
{
    static double w;
    if (i < 0) w = fork->w;
    fork->w = w;
    return __real_vouch_traverse(fork, i);
}
