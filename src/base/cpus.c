/* SPDX-License-Identifier: MIT */
/*
 * How many processors this process may keep busy: those of its affinity mask, and no more than the share of time
 * that its control group grants (a container started with two processors on a machine of 64 has a mask of 64 and
 * a quota of two; 64 threads would be throttled while they wait for each other).
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"

/* Of the affinity mask, whatever the number of processors the kernel was built for. */
static int affinity_count(void)
{
    for (int bits = CPU_SETSIZE; bits <= 1 << 20; bits *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)bits);
        if (!set) return 1;
        const size_t size = CPU_ALLOC_SIZE((size_t)bits);
        const int n = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (n > 0) return n;
    }
    return 1;
}

/* The first integers of a small file; how many were read. */
static int read_integers(const char *path, long long *first, long long *second)
{
    char line[64], *end;
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!is_read) return 0;
    *first = strtoll(line, &end, 10);
    if (end == line) return 0;
    const char *rest = end;
    *second = strtoll(rest, &end, 10);
    return end == rest ? 1 : 2;
}

/* Whole processors of the quota, or 0 where there is none: cgroup v2, then v1. */
static long long quota_count(void)
{
    long long quota = 0, period = 0, unused;
    if (read_integers("/sys/fs/cgroup/cpu.max", &quota, &period) != 2 &&
        (read_integers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota, &unused) < 1 ||
         read_integers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period, &unused) < 1))
        return 0;
    if (quota <= 0 || period <= 0) return 0;
    return quota < period ? 1 : quota / period;
}

int32_t vouch_cpu_count(void)
{
    long long n = affinity_count();
    const long long quota = quota_count();
    if (quota > 0 && quota < n) n = quota;
    return n > VOUCH_MAX_THREADS ? VOUCH_MAX_THREADS : (int32_t)n;
}
