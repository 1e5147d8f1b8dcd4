/* SPDX-License-Identifier: MIT */
/* The list of kernel tables, and a test for each whether this processor can run it. */
#include <string.h>

#include "kernels/tables.h"
#include "vouch.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* What the processor has, and which wide registers the system saves (XCR0). Both are asked of the processor itself: the
 * builtin of some cross compilers knows nothing at run time. */
static bool has_leaf7(int32_t leaf, int bit, char reg)
{
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, (unsigned)leaf, &a, &b, &c, &d)) return false;
    return ((reg == 'a' ? a : reg == 'b' ? b : c) >> bit & 1) != 0;
}

static bool saves(unsigned states)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & states) == states;
}

/* Bits of CPUID leaf 7: register b of subleaf 0, but GFNI and VNNI in c, AVX-VNNI in a of subleaf 1. */
enum { AVX2 = 5, AVX512F = 16, AVX512DQ = 17, AVX512BW = 30, AVX512VL = 31, GFNI = 8, AVX512VNNI = 11, AVXVNNI = 4 };
enum { SAVES_YMM = 6, SAVES_ZMM = 0xe6 };

static bool runs_avx2(void)
{
    unsigned a, b, c, d;
    const unsigned needed = bit_F16C | bit_FMA | bit_AVX;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & needed) == needed && has_leaf7(0, AVX2, 'b') && saves(SAVES_YMM);
}

static bool runs_avxvnni(void)
{
    return runs_avx2() && has_leaf7(1, AVXVNNI, 'a') && has_leaf7(0, GFNI, 'c');
}

static bool runs_avx512(void)
{
    return runs_avx2() && has_leaf7(0, AVX512F, 'b') && has_leaf7(0, AVX512BW, 'b') && has_leaf7(0, AVX512VL, 'b') &&
           has_leaf7(0, AVX512DQ, 'b') && saves(SAVES_ZMM);
}

static bool runs_avx512vnni(void)
{
    return runs_avx512() && has_leaf7(0, AVX512VNNI, 'c');
}

static bool runs_avx512gfni(void)
{
    return runs_avx512vnni() && has_leaf7(0, GFNI, 'c');
}
#elif defined(__aarch64__)
#include "os/os.h"

static bool runs_neon(void)
{
    return (vouch_os_arm_features() & VOUCH_OS_ARM_DOTPROD) != 0;
}

static bool runs_i8mm(void)
{
    return runs_neon() && (vouch_os_arm_features() & VOUCH_OS_ARM_I8MM) != 0;
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
