/* SPDX-License-Identifier: MIT */
/* What only Linux has or does in its own way (os.h). */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/posix.h"
#include "os/sockets.h"

/* ---------------------------------------------------------------- processors */

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

int32_t vouch_os_processors(void)
{
    const int n = affinity_count();
    const long long quota = quota_count();
    return quota > 0 && quota < n ? (int32_t)quota : n;
}

int vouch_os_processor_here(void)
{
    return sched_getcpu();
}

/* The number after `label` in a line of a file of /proc; -1: there is none. */
static long long proc_number(const char *path, const char *label)
{
    char line[256];
    long long number = -1;
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    while (number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, label, strlen(label)) == 0) number = strtoll(line + strlen(label), NULL, 10);
    fclose(file);
    return number;
}

const char *vouch_os_name(void)
{
    return "Linux";
}

void vouch_os_processor_name(char *name, size_t size)
{
    char line[256], found[200] = "";
    struct utsname system;
    FILE *info = fopen("/proc/cpuinfo", "re");
    while (info && !*found && fgets(line, sizeof line, info)) sscanf(line, "model name : %199[^\n]", found);
    if (info) fclose(info);
    if (!*found && uname(&system) == 0) snprintf(found, sizeof found, "%s", system.machine);
    snprintf(name, size, "%s", found);
}

unsigned vouch_os_arm_features(void)
{
    unsigned features = 0;
#if defined(__aarch64__)
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) features |= VOUCH_OS_ARM_DOTPROD;
    if (getauxval(AT_HWCAP2) & HWCAP2_I8MM) features |= VOUCH_OS_ARM_I8MM;
#endif
    return features;
}

/* -------------------------------------------------------------------- memory */

void vouch_os_pages_join(void *pages, size_t bytes)
{
    (void)madvise(pages, bytes, MADV_HUGEPAGE);
}

void vouch_os_pages_drop(void *pages, size_t bytes)
{
    (void)madvise(pages, bytes, MADV_DONTNEED);
}

/* From /proc. getrusage is the second choice, because its maximum includes the parent's memory at fork. */
int64_t vouch_os_memory_peak(void)
{
    struct rusage usage;
    long long kilobytes = proc_number("/proc/self/status", "VmHWM:");
    if (kilobytes < 0) kilobytes = getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
    return kilobytes * 1024;
}

int64_t vouch_os_memory_left(void)
{
    const long long kilobytes = proc_number("/proc/meminfo", "MemAvailable:");
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

/* --------------------------------------------------------------------- files */

int64_t vouch_os_modified(const struct stat *found)
{
    return (int64_t)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec;
}

/* Linux before 5.14 has no MADV_POPULATE_READ and sets errno to EINVAL. That counts as success: the first read of each
 * page loads it. */
bool vouch_os_file_load(const unsigned char *pages, size_t size)
{
#ifdef MADV_POPULATE_READ
    int result;
    do result = madvise((void *)(uintptr_t)pages, size, MADV_POPULATE_READ);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EINVAL;
#else
    (void)pages, (void)size;
    return true;
#endif
}

int64_t vouch_os_disk_left(const char *folder)
{
    struct statvfs info;
    return statvfs(folder, &info) == 0 ? (int64_t)info.f_bavail * (int64_t)info.f_frsize : -1;
}

bool vouch_os_file_sync(int descriptor)
{
    return fsync(descriptor) == 0;
}

/* ------------------------------------------------------------------- threads */

void vouch_os_wait(_Atomic unsigned *word, unsigned old)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
}

void vouch_os_wake(_Atomic unsigned *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void vouch_os_thread_prepare(pthread_attr_t *attributes)
{
    (void)attributes; /* the stack is as large as ulimit -s */
}

/* ------------------------------------------------------------------- sockets */

int vouch_os_socket_unread(int descriptor)
{
    int n = 0;
    return ioctl(descriptor, SIOCOUTQ, &n) == 0 ? n : -1;
}

bool vouch_os_socket_gone(vouch_os_socket socket)
{
    struct pollfd asked = {.fd = (int)socket, .events = POLLRDHUP};
    return poll(&asked, 1, 0) > 0;
}

/* ------------------------------------------------------- terminal and process */

bool vouch_os_random(void *bytes, size_t n)
{
    return getrandom(bytes, n, GRND_NONBLOCK) == (ssize_t)n;
}

/* -------------------------------------------------------- streams in memory */

static ssize_t stream_write(void *stream, const char *bytes, size_t n)
{
    return vouch_os_stream_put(stream, bytes, n) ? (ssize_t)n : 0;
}

FILE *vouch_os_stream_file(vouch_os_stream *stream)
{
    return fopencookie(stream, "w", (cookie_io_functions_t){.write = stream_write});
}

/* On Linux a thread has a nice value of its own. */
void vouch_os_thread_stand_back(void)
{
    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
}
