/* SPDX-License-Identifier: MIT */
/* The list of kernel tables, and a test for each whether this processor can run it. */
#include <string.h>

#include "kernels/features.h"
#include "kernels/tables.h"
#include "vouch.h"

#if defined(__x86_64__)
enum { YMM_STATES = 0x06, ZMM_STATES = 0xe6 }; /* bits of the register XCR0 */

/* Whether the system saves these registers (XGETBV). The processor needs OSXSAVE. */
static bool saves(unsigned states)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & states) == states;
}

static bool runs_avx2(void)
{
    return vouch_cpu_has("osxsave") && vouch_cpu_has("avx") && vouch_cpu_has("f16c") && vouch_cpu_has("fma") &&
           vouch_cpu_has("avx2") && saves(YMM_STATES);
}

static bool runs_avxvnni(void)
{
    return runs_avx2() && vouch_cpu_has("avxvnni") && vouch_cpu_has("gfni");
}

static bool runs_avx512(void)
{
    return runs_avx2() && vouch_cpu_has("avx512f") && vouch_cpu_has("avx512dq") && vouch_cpu_has("avx512bw") &&
           vouch_cpu_has("avx512vl") && saves(ZMM_STATES);
}

static bool runs_avx512vnni(void)
{
    return runs_avx512() && vouch_cpu_has("avx512vnni");
}

static bool runs_avx512gfni(void)
{
    return runs_avx512vnni() && vouch_cpu_has("gfni");
}
#elif defined(__aarch64__)

static bool runs_dotprod(void)
{
    return vouch_cpu_has("dotprod");
}

static bool runs_i8mm(void)
{
    return runs_dotprod() && vouch_cpu_has("i8mm");
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
