/* SPDX-License-Identifier: MIT */
/* What only macOS has or does in its own way, from macOS 11 on (os.h). Compiled and linked, but untried on a Mac. */
#include <fcntl.h>
#include <mach/mach.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/qos.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "os/posix.h"
#include "os/sockets.h"

/* ---------------------------------------------------------------- processors */

/* A number that the system has under a name; `otherwise` where it doesn't know the name. */
static int32_t number_of(const char *name, int32_t otherwise)
{
    int32_t number = 0;
    size_t size = sizeof number;
    return sysctlbyname(name, &number, &size, NULL, 0) == 0 && size == sizeof number ? number : otherwise;
}

/* Performance cores alone, where the processor has two kinds: an efficiency core would keep the others waiting at each
 * barrier of a pass. macOS 11 doesn't tell the kinds apart. */
int32_t vouch_os_processors(void)
{
    const int32_t n = number_of("hw.perflevel0.logicalcpu", number_of("hw.logicalcpu", 1));
    return n > 0 ? n : 1;
}

int vouch_os_processor_here(void)
{
    size_t number;
    return pthread_cpu_number_np(&number) == 0 ? (int)number : -1;
}

const char *vouch_os_name(void)
{
    return "macOS";
}

void vouch_os_processor_name(char *name, size_t size)
{
    if (sysctlbyname("machdep.cpu.brand_string", name, &size, NULL, 0) != 0) *name = '\0';
}

/* macOS 11 knows neither name. The processors of its time have the dot product, and none of them has I8MM. */
unsigned vouch_os_arm_features(void)
{
    unsigned features = 0;
#if defined(__aarch64__)
    if (number_of("hw.optional.arm.FEAT_DotProd", 1)) features |= VOUCH_OS_ARM_DOTPROD;
    if (number_of("hw.optional.arm.FEAT_I8MM", 0)) features |= VOUCH_OS_ARM_I8MM;
#endif
    return features;
}

/* -------------------------------------------------------------------- memory */

void vouch_os_pages_join(void *pages, size_t bytes)
{
    (void)pages, (void)bytes; /* macOS has no huge pages on Arm, and on Intel only such that can't be given back */
}

/* Maps new pages over the old ones, because madvise of macOS keeps what they hold. */
void vouch_os_pages_drop(void *pages, size_t bytes)
{
    (void)mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int64_t vouch_os_memory_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

/* Free pages, and pages that hold no more than a file does. free_count includes the pages that were read ahead, which
 * are pages of files, too. */
int64_t vouch_os_memory_left(void)
{
    vm_statistics64_data_t pages;
    mach_msg_type_number_t n = HOST_VM_INFO64_COUNT;
    const mach_port_t host = mach_host_self();
    const bool is_known = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&pages, &n) == KERN_SUCCESS;
    mach_port_deallocate(mach_task_self(), host);
    if (!is_known) return -1;
    const int64_t left =
        (int64_t)pages.free_count - pages.speculative_count + pages.external_page_count + pages.purgeable_count;
    return left * (int64_t)vouch_os_page_size();
}

/* --------------------------------------------------------------------- files */

int64_t vouch_os_modified(const struct stat *found)
{
    return (int64_t)found->st_mtimespec.tv_sec * 1000000000 + found->st_mtimespec.tv_nsec;
}

bool vouch_os_file_load(const unsigned char *pages, size_t size)
{
    (void)pages, (void)size; /* a request to read ahead tells of no failure */
    return true;
}

/* fsync of macOS leaves bytes in the disk's own memory. Not every file system knows F_FULLFSYNC. */
bool vouch_os_file_sync(int descriptor)
{
    return fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0;
}

/* statvfs of macOS counts blocks in 32 bits. */
int64_t vouch_os_disk_left(const char *folder)
{
    struct statfs info;
    return statfs(folder, &info) == 0 ? (int64_t)info.f_bavail * (int64_t)info.f_bsize : -1;
}

/* ------------------------------------------------------------------- threads */

/*
 * A word has a mutex and a condition, which it shares with other words. Apple's own functions for this are private
 * (__ulock_wait) or exist from macOS 14.4 on (os_sync_wait_on_address). A pool sleeps only after half a millisecond of
 * waiting (base/pool.c), so that the time of a pass doesn't depend on them.
 */
enum { BUCKETS_BITS = 4, BUCKETS = 1 << BUCKETS_BITS };
typedef struct bucket {
    _Alignas(128) pthread_mutex_t lock;
    pthread_cond_t change;
} bucket;
#define ONE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}
#define FOUR ONE, ONE, ONE, ONE
static bucket buckets[BUCKETS] = {FOUR, FOUR, FOUR, FOUR};

static bucket *bucket_of(const _Atomic unsigned *word)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)word * UINT64_C(0x9e3779b97f4a7c15);
    return &buckets[mixed >> (64 - BUCKETS_BITS)];
}

/* The lock makes wake wait until this thread sleeps, so a change between the look and the sleep isn't missed. */
void vouch_os_wait(_Atomic unsigned *word, unsigned old)
{
    bucket *b = bucket_of(word);
    pthread_mutex_lock(&b->lock);
    if (*word == old) pthread_cond_wait(&b->change, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void vouch_os_wake(_Atomic unsigned *word)
{
    bucket *b = bucket_of(word);
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->change);
    pthread_mutex_unlock(&b->lock);
}

/* A thread that a user waits for, unless the one that starts it has been given a lower class: then both have that one.
 * macOS gives a thread a stack of 512 kB, unless the attributes name another size. */
void vouch_os_thread_prepare(pthread_attr_t *attributes)
{
    enum { STACK = 8 << 20 };
    const qos_class_t own = qos_class_self();
    const bool is_low = own == QOS_CLASS_UTILITY || own == QOS_CLASS_BACKGROUND;
    pthread_attr_set_qos_class_np(attributes, is_low ? own : QOS_CLASS_USER_INITIATED, 0);
    pthread_attr_setstacksize(attributes, STACK);
}

/* ------------------------------------------------------------------- sockets */

int vouch_os_socket_unread(int descriptor)
{
    int n = 0;
    socklen_t size = sizeof n;
    return getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &n, &size) == 0 ? n : -1;
}

/* macOS has no POLLRDHUP. It tells of a closed end where it is asked for bytes to read. */
bool vouch_os_socket_gone(vouch_os_socket socket)
{
    struct pollfd asked = {.fd = (int)socket, .events = POLLIN | POLLHUP};
    return poll(&asked, 1, 0) > 0 && (asked.revents & (POLLHUP | POLLERR));
}

/* ------------------------------------------------------- terminal and process */

bool vouch_os_random(void *bytes, size_t n)
{
    arc4random_buf(bytes, n);
    return true;
}

/* -------------------------------------------------------- streams in memory */

static int stream_write(void *stream, const char *bytes, int n)
{
    return vouch_os_stream_put(stream, bytes, (size_t)n) ? n : -1;
}

FILE *vouch_os_stream_file(vouch_os_stream *stream)
{
    return fwopen(stream, stream_write);
}

void vouch_os_thread_stand_back(void)
{
    (void)pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
}
