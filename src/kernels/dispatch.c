/* SPDX-License-Identifier: MIT */
/* The list of kernel tables, and a test for each whether this processor can run it. */
#include <string.h>

#include "kernels/tables.h"
#include "os/os.h"
#include "vouch.h"

#if defined(__x86_64__)
#include <cpuid.h>

/*
 * The processor itself tells its features (CPUID), and which registers the system saves (XGETBV). The compiler's
 * builtin is not used, because with some cross compilers it always answers no.
 */
typedef struct registers {
    unsigned a, b, c, d;
} registers;

/* All 0 where the processor lacks the leaf. */
static registers cpuid(unsigned leaf, unsigned subleaf)
{
    registers r = {0};
    if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return (registers){0};
    return r;
}

/* Whether the system saves these registers. The processor needs OSXSAVE. */
static bool saves(unsigned states)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & states) == states;
}

enum { YMM_STATES = 0x06, ZMM_STATES = 0xe6 }; /* bits of the register XCR0 */

static bool runs_avx2(void)
{
    const unsigned needed = bit_F16C | bit_FMA | bit_AVX | bit_OSXSAVE;
    return (cpuid(1, 0).c & needed) == needed && (cpuid(7, 0).b & bit_AVX2) && saves(YMM_STATES);
}

static bool runs_avxvnni(void)
{
    enum { AVX_VNNI = 1 << 4 };
    return runs_avx2() && (cpuid(7, 1).a & AVX_VNNI) && (cpuid(7, 0).c & bit_GFNI);
}

static bool runs_avx512(void)
{
    const unsigned needed = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    return runs_avx2() && (cpuid(7, 0).b & needed) == needed && saves(ZMM_STATES);
}

static bool runs_avx512vnni(void)
{
    return runs_avx512() && (cpuid(7, 0).c & bit_AVX512VNNI);
}

static bool runs_avx512gfni(void)
{
    return runs_avx512vnni() && (cpuid(7, 0).c & bit_GFNI);
}
#elif defined(__aarch64__)

static bool runs_dotprod(void)
{
    return (vouch_os_arm_features() & VOUCH_OS_ARM_DOTPROD) != 0;
}

static bool runs_i8mm(void)
{
    return runs_dotprod() && (vouch_os_arm_features() & VOUCH_OS_ARM_I8MM) != 0;
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
    {&vouch_kernels_neon, runs_always},
    {&vouch_kernels_dotprod, runs_dotprod},
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

const char *vouch_cpu_built_name(size_t i)
{
    return i < N_ENTRIES ? entries[i].table->name : NULL;
}
