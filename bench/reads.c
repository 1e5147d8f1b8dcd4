/* SPDX-License-Identifier: MIT */
/*
 * Reads standard input to its end, for bench/serve: the cheapest client of a stream. Then prints the processor seconds
 * that it took, the number of reads, a line for each with the time at its end (seconds of CLOCK_MONOTONIC) and its
 * bytes, and all the bytes:
 *
 *     0.000123
 *     2
 *     5012.501234 229
 *     5012.503456 231
 *     data: {...
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"

enum { MOST_BYTES = 16 << 20, MOST_READS = 1 << 16 };

static char bytes[MOST_BYTES];
static size_t ends[MOST_READS]; /* bytes read by the end of each read */
static double times[MOST_READS];

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    size_t n = 0, n_reads = 0;
    ssize_t got = 0;
    const double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (n < MOST_BYTES && n_reads < MOST_READS &&
           (got = vouch_os_read(STDIN_FILENO, bytes + n, MOST_BYTES - n)) > 0) {
        n += (size_t)got;
        times[n_reads] = seconds(CLOCK_MONOTONIC);
        ends[n_reads++] = n;
    }
    if (got != 0) {
        fprintf(stderr, "reads: %s after %zu bytes in %zu reads\n", got < 0 ? "an error" : "no room", n, n_reads);
        return 1;
    }
    printf("%.9f\n%zu\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - start, n_reads);
    for (size_t i = 0; i < n_reads; i++) printf("%.9f %zu\n", times[i], ends[i] - (i ? ends[i - 1] : 0));
    return fwrite(bytes, 1, n, stdout) == n && fflush(stdout) == 0 ? 0 : 1;
}
