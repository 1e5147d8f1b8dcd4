/* SPDX-License-Identifier: MIT */
/* The extensions of the processor that kernels need, by their usual names. */
#include "kernels/features.h"

#include <assert.h>
#include <string.h>

#include "os/os.h"
#include "vouch.h"

#if defined(__x86_64__)
#include <cpuid.h>

/*
 * A bit of a register (eax, ebx, ecx, edx) that CPUID writes. The compiler's builtin is not used, because with some
 * cross compilers it always answers no.
 */
static const struct feature {
    const char *name;
    unsigned leaf, subleaf, index, bit;
} features[] = {
    {"fma", 1, 0, 2, 12},      {"osxsave", 1, 0, 2, 27}, {"avx", 1, 0, 2, 28},        {"f16c", 1, 0, 2, 29},
    {"avx2", 7, 0, 1, 5},      {"avx512f", 7, 0, 1, 16}, {"avx512dq", 7, 0, 1, 17},   {"avx512bw", 7, 0, 1, 30},
    {"avx512vl", 7, 0, 1, 31}, {"gfni", 7, 0, 2, 8},     {"avx512vnni", 7, 0, 2, 11}, {"avxvnni", 7, 1, 0, 4},
};

static bool has(const struct feature *f)
{
    unsigned r[4] = {0};
    return __get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3]) && (r[f->index] >> f->bit & 1);
}
#else

static const struct feature {
    const char *name;
    unsigned bit;
} features[] = {{"dotprod", VOUCH_OS_ARM_DOTPROD}, {"i8mm", VOUCH_OS_ARM_I8MM}};

static bool has(const struct feature *f)
{
    return (vouch_os_arm_features() & f->bit) != 0;
}
#endif

enum { N_FEATURES = sizeof features / sizeof *features };

bool vouch_cpu_has(const char *name)
{
    size_t f = 0;
    while (f < N_FEATURES && strcmp(features[f].name, name) != 0) f++;
    assert(f < N_FEATURES);
    return f < N_FEATURES && has(&features[f]);
}

const char *vouch_cpu_feature(size_t i)
{
    for (size_t f = 0; f < N_FEATURES; f++)
        if (has(&features[f]) && i-- == 0) return features[f].name;
    return NULL;
}
