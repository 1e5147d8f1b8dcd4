/* SPDX-License-Identifier: MIT */
/* The list of kernel tables, and a test for each whether this processor can run it. */
#include <string.h>

#include "kernels/tables.h"
#include "vouch.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The compiler's builtins also check that the operating system saves the wide registers. */
static bool runs_avx2(void)
{
    unsigned a, b, c, d;
    const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool runs_avxvnni(void)
{
    enum { AVX_VNNI = 1 << 4 }; /* CPUID leaf 7, subleaf 1, EAX; older compilers' builtins lack this feature */
    unsigned a, b, c, d;
    const bool vnni = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX_VNNI);
    return vnni && runs_avx2() && __builtin_cpu_supports("gfni");
}

static bool runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

static bool runs_avx512vnni(void)
{
    return runs_avx512() && __builtin_cpu_supports("avx512vnni");
}

static bool runs_avx512gfni(void)
{
    return runs_avx512vnni() && __builtin_cpu_supports("gfni");
}
#elif defined(__aarch64__)
#include <sys/auxv.h>

static bool runs_neon(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}

static bool runs_i8mm(void)
{
    return runs_neon() && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
}
#endif

static bool runs_always(void)
{
    return true;
}

/* Narrowest vectors first. */
static const struct entry {
    const vouch_kernels *table;
    bool (*runs)(void);
} entries[] = {
    {&vouch_kernels_ref, runs_always},
#if defined(__x86_64__)
    {&vouch_kernels_avx2, runs_avx2},
    {&vouch_kernels_avxvnni, runs_avxvnni},
    {&vouch_kernels_avx512, runs_avx512},
    {&vouch_kernels_avx512vnni, runs_avx512vnni},
    {&vouch_kernels_avx512gfni, runs_avx512gfni},
#elif defined(__aarch64__)
    {&vouch_kernels_neon, runs_neon},
    {&vouch_kernels_i8mm, runs_i8mm},
#endif
};
enum { N_ENTRIES = sizeof entries / sizeof entries[0] };

const vouch_kernels *vouch_kernels_get(size_t i)
{
    for (size_t e = 0; e < N_ENTRIES; e++)
        if (entries[e].runs() && i-- == 0) return entries[e].table;
    return NULL;
}

const vouch_kernels *vouch_kernels_find(const char *name)
{
    const vouch_kernels *widest = NULL;
    for (size_t e = 0; e < N_ENTRIES; e++) {
        if (!entries[e].runs()) continue;
        if (name && strcmp(name, entries[e].table->name) == 0) return entries[e].table;
        widest = entries[e].table;
    }
    return !name || strcmp(name, "auto") == 0 ? widest : NULL;
}

const char *vouch_cpu_name(size_t i)
{
    const vouch_kernels *kernels = vouch_kernels_get(i);
    return kernels ? kernels->name : NULL;
}
