/* SPDX-License-Identifier: MIT */
/* Helpers too small for files of their own. */
#ifndef VOUCH_BASE_COMMON_H
#define VOUCH_BASE_COMMON_H

#include <stdint.h>
#include <time.h>

static inline int32_t vouch_min(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t vouch_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Seconds of a monotonic clock. */
static inline double vouch_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
