/* SPDX-License-Identifier: MIT */
/* The list of kernel tables, and a test for each whether this processor can run it. */
#include <pthread.h>
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
static bool runs_neon(void)
{
    return true;
}

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

enum { N_PARTS = 2 };

/* Narrowest vectors first. */
#define TABLE(isa, floats) {#isa, runs_##isa, &vouch_floats_##floats, {vouch_numbers_##isa, vouch_codes_##isa}}
static const struct entry {
    const char *name;
    bool (*runs)(void);
    const vouch_kernels *first;            /* all kernels, or those but the matmuls of quantised weights */
    vouch_matmul *const *matmuls[N_PARTS]; /* NULL where `first` has them */
} entries[] = {
    {"ref", runs_always, &vouch_kernels_ref, {NULL}},
#if defined(__x86_64__)
    TABLE(avx2, avx2),
    TABLE(avxvnni, avx2),
    TABLE(avx512, avx512),
    TABLE(avx512vnni, avx512),
    TABLE(avx512gfni, avx512),
#elif defined(__aarch64__)
    TABLE(neon, neon),
    TABLE(dotprod, neon),
    TABLE(i8mm, neon),
#endif
};
enum { N_ENTRIES = sizeof entries / sizeof entries[0] };

static vouch_kernels tables[N_ENTRIES]; /* of the entries with parts */

static void put_together(void)
{
    for (size_t e = 0; e < N_ENTRIES; e++) {
        tables[e] = *entries[e].first;
        tables[e].name = entries[e].name;
        for (size_t part = 0; part < N_PARTS && entries[e].matmuls[part]; part++)
            for (int type = 0; type < VOUCH_TYPE_COUNT; type++)
                if (entries[e].matmuls[part][type]) tables[e].matmul[type] = entries[e].matmuls[part][type];
    }
}

static const vouch_kernels *table_of(size_t e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!entries[e].matmuls[0]) return entries[e].first;
    pthread_once(&once, put_together);
    return &tables[e];
}

const vouch_kernels *vouch_kernels_get(size_t i)
{
    for (size_t e = 0; e < N_ENTRIES; e++)
        if (entries[e].runs() && i-- == 0) return table_of(e);
    return NULL;
}

const vouch_kernels *vouch_kernels_find(const char *name)
{
    const vouch_kernels *widest = NULL;
    for (size_t e = 0; e < N_ENTRIES; e++) {
        if (!entries[e].runs()) continue;
        widest = table_of(e);
        if (name && strcmp(name, entries[e].name) == 0) return widest;
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
    return i < N_ENTRIES ? entries[i].name : NULL;
}
