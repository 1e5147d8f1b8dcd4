/* SPDX-License-Identifier: MIT */
/* The names of the processor's extensions that kernels need, for people: dispatch.c asks the processor itself. */
#include "os/os.h"
#include "vouch.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* A bit of a register (eax, ebx, ecx, edx) that CPUID writes. */
static const struct feature {
    const char *name;
    unsigned leaf, subleaf, index, bit;
} features[] = {
    {"fma", 1, 0, 2, 12},        {"f16c", 1, 0, 2, 29},     {"avx2", 7, 0, 1, 5},      {"avx512f", 7, 0, 1, 16},
    {"avx512dq", 7, 0, 1, 17},   {"avx512bw", 7, 0, 1, 30}, {"avx512vl", 7, 0, 1, 31}, {"gfni", 7, 0, 2, 8},
    {"avx512vnni", 7, 0, 2, 11}, {"avxvnni", 7, 1, 0, 4},
};

static int has(const struct feature *f)
{
    unsigned r[4] = {0};
    return __get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) && r[f->index] >> f->bit & 1;
}
#else

static const struct feature {
    const char *name;
    unsigned bit;
} features[] = {{"dotprod", VOUCH_OS_ARM_DOTPROD}, {"i8mm", VOUCH_OS_ARM_I8MM}};

static int has(const struct feature *f)
{
    return (vouch_os_arm_features() & f->bit) != 0;
}
#endif

const char *vouch_cpu_feature(size_t i)
{
    for (size_t f = 0; f < sizeof features / sizeof *features; f++)
        if (has(&features[f]) && i-- == 0) return features[f].name;
    return NULL;
}
