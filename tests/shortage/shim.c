/* SPDX-License-Identifier: MIT */
/*
 * Memory, mappings and threads are functions of the same names in front of the C library's. Reads and writes are system
 * calls that the C library makes by itself: a filter sends a signal in place of each, and its handler counts, then
 * makes the call with MAGIC as its unused sixth argument, which the filter lets pass.
 */
#include "support/program/shortage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { LEFT = 4096 }; /* bytes of a file that is cut */

#define MAGIC 0x766f756368u
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

static shortage_page nothing, *page = &nothing;

/* Whether this call has to fail. Debuggers stop here. */
static __attribute__((noinline)) bool fails(shortage_call call)
{
    if (atomic_load(&page->call) != (int)call) return false;
    const long left = atomic_fetch_sub(&page->left, 1);
    return left <= 1 && left > -atomic_load(&page->n_more);
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

/* ------------------------------------------------------------------- memory */

static bool allocation_fails(void)
{
    if (fails(SHORTAGE_CUT)) (void)!truncate(page->cut, LEFT);
    return fails(SHORTAGE_MALLOC);
}

EXPORT void *malloc(size_t n)
{
    return allocation_fails() ? no_memory() : __libc_malloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return allocation_fails() ? no_memory() : __libc_calloc(n, size);
}

EXPORT void *realloc(void *at, size_t n)
{
    return allocation_fails() ? no_memory() : __libc_realloc(at, n);
}

EXPORT void *aligned_alloc(size_t alignment, size_t n)
{
    return allocation_fails() ? no_memory() : __libc_memalign(alignment, n);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t n)
{
    void *at = aligned_alloc(alignment, n);
    if (at) *out = at;
    return at ? 0 : ENOMEM;
}

EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fails(SHORTAGE_MMAP)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

/* ------------------------------------------------------------------- threads */

/* Puts the C library's function into *to. ISO C has no cast from an object pointer to a function pointer. */
static void find(const char *name, void *to)
{
    void *const address = dlsym(RTLD_NEXT, name);
    memcpy(to, &address, sizeof address);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *arg)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails(SHORTAGE_THREAD)) return EAGAIN;
    find("pthread_create", &create);
    return create(thread, attributes, run, arg);
}

/* A blocked SIGSYS would end the program. */
EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    int (*mask)(int, const sigset_t *, sigset_t *);
    sigset_t others;
    if (set && how != SIG_UNBLOCK) {
        others = *set;
        sigdelset(&others, SIGSYS);
        set = &others;
    }
    find("pthread_sigmask", &mask);
    return mask(how, set, before);
}

/* -------------------------------------------------------- system calls of I/O */

static shortage_call filtered;

/* What threads of a program wake each other with has no disk and no other end that could fail. */
static bool is_own_pipe(int fd)
{
    struct stat what;
    return fstat(fd, &what) == 0 && !S_ISREG(what.st_mode) && !S_ISSOCK(what.st_mode) && !S_ISCHR(what.st_mode);
}

static void on_call(int number, siginfo_t *info, void *context)
{
    (void)number;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const int saved = errno;
    if (!is_own_pipe((int)r[REG_RDI]) && fails(filtered)) {
        r[REG_RAX] = filtered == SHORTAGE_READ ? -EIO : -ENOSPC;
    } else {
        const long n = syscall(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], MAGIC);
        r[REG_RAX] = n < 0 ? -errno : n;
    }
    errno = saved;
}

static void filter_calls(shortage_call call)
{
    static const int reads[] = {SYS_read, SYS_pread64, SYS_recvfrom, SYS_recvmsg};
    static const int writes[] = {SYS_write, SYS_pwrite64, SYS_writev, SYS_sendto, SYS_sendmsg};
    const int *numbers = call == SHORTAGE_READ ? reads : writes;
    const size_t n = call == SHORTAGE_READ ? sizeof reads / sizeof *reads : sizeof writes / sizeof *writes;
    struct sock_filter code[16];
    size_t at = 0;
    filtered = call;
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]));
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)MAGIC, (uint8_t)(n + 1), 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < n; i++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], (uint8_t)(n - i), 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    const struct sock_fprog program = {(unsigned short)at, code};
    sigaction(SIGSYS, &(struct sigaction){.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER}, NULL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* ------------------------------------------------------- start of the program */

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **environment)
{
    const char *path = getenv(SHORTAGE_PAGE);
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return 125;
    unsetenv("LD_PRELOAD");
    void *shared = (void *)syscall(SYS_mmap, NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED) return 125;
    const int call = atomic_load(&((shortage_page *)shared)->call);
    if (call == SHORTAGE_READ || call == SHORTAGE_WRITE) filter_calls(call);
    if (call != SHORTAGE_NONE && atomic_load(&((shortage_page *)shared)->left) != SHORTAGE_NEVER) alarm(SHORTAGE_HANG);
    page = shared;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*begin)(void), void (*end)(void),
                      void (*exit_loader)(void), void *stack);

EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*begin)(void),
                             void (*end)(void), void (*exit_loader)(void), void *stack)
{
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
    real_main = main;
    find("__libc_start_main", &start);
    return start(counted_main, argc, argv, begin, end, exit_loader, stack);
}
