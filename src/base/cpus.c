/* SPDX-License-Identifier: MIT */
/*
 * The number of processors that this process may keep busy: the size of its affinity mask, but no more than the time
 * quota of its control group. Example: a container started with two processors on a machine of 64 has a mask of 64 and
 * a quota of two. With 64 threads the system would throttle threads while others wait for them.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"

/* Processors in the affinity mask. The system refuses a mask smaller than its own, so the loop tries larger ones. */
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

/* Reads the one or two integers at the beginning of a small file. Returns how many it read. */
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

/* The quota in whole processors, at least 1; 0 without a quota. Asks cgroup v2, then v1. */
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
