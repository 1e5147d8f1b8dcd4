/* SPDX-License-Identifier: MIT */
/*
 * The caller's floating-point environment (rounding direction, denormals as zeros, trapping exceptions) must not change
 * a bit of a result (law L1), and our computing must not raise the caller's exception flags. So each function of the C
 * API that computes begins with
 *
 *     VOUCH_DEFAULT_FLOATS();
 *
 * A thread inherits the environment of the thread that starts it, so a pool opened under the macro computes in the
 * default environment for good. The macro costs 0.25 microseconds (Xeon family 6 model 207); a step takes thousands of
 * times as long.
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

/* Sets the default environment from here to the end of the enclosing block, which restores the caller's. */
#define VOUCH_DEFAULT_FLOATS() \
    __attribute__((cleanup(vouch_floats_restore), unused)) const fenv_t callers_floats = vouch_floats_default()

#endif
