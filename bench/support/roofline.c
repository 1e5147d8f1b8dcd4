/* SPDX-License-Identifier: MIT */
#include "support/roofline.h"

#include <stdint.h>
#include <string.h>

#include "tool/term.h"

/* Work on the integers [0, total). The threads share it like a stage of a pass. */
typedef struct crew {
    void (*work)(const void *arg, int64_t begin, int64_t end);
    const void *arg;
    int64_t total, grain;
} crew;

static void crew_on_thread(void *arg, vouch_pool *team, int32_t thread)
{
    const crew *c = arg;
    vouch_work work = vouch_pool_share(team, thread, c->total, c->grain);
    while (vouch_work_next(&work)) c->work(c->arg, work.begin, work.end);
}

static double crew_time(vouch_pool *pool, crew c)
{
    const double start = tool_now();
    vouch_pool_run(pool, crew_on_thread, &c);
    return tool_now() - start;
}

/* -------------------------------------------------------------------- read */

typedef uint64_t line __attribute__((vector_size(64)));

/* Reads four prefetched streams at once. This was the fastest of one to eight streams and 0 to 8 KB ahead (Emerald
 * Rapids). */
static inline __attribute__((always_inline)) void lines_read(const line *lines, size_t n)
{
    enum { STREAMS = 4, AHEAD = 16 }; /* lines */
    const size_t part = n / STREAMS;
    line sum = {0};
    for (size_t i = 0; i < part; i++)
        for (size_t s = 0; s < STREAMS; s++) {
            __builtin_prefetch(&lines[s * part + i + AHEAD]);
            sum |= lines[s * part + i];
        }
    for (size_t i = STREAMS * part; i < n; i++) sum |= lines[i];
    __asm__ volatile("" : : "r"(sum[0]));
}

static void lines_read_any(const line *lines, size_t n)
{
    lines_read(lines, n);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void lines_read_avx2(const line *lines, size_t n)
{
    lines_read(lines, n);
}

__attribute__((target("avx512f"))) static void lines_read_avx512(const line *lines, size_t n)
{
    lines_read(lines, n);
}
#endif

typedef struct reading {
    const line *lines;
    void (*read)(const line *lines, size_t n);
} reading;

static void part_read(const void *arg, int64_t begin, int64_t end)
{
    const reading *r = arg;
    r->read(r->lines + begin, (size_t)(end - begin));
}

double bench_read_seconds(vouch_pool *pool, const void *bytes, size_t n)
{
    enum { GRAIN = 1024 }; /* lines: 64 KiB */
    reading r = {bytes, lines_read_any};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) r.read = lines_read_avx512;
    else if (__builtin_cpu_supports("avx2")) r.read = lines_read_avx2;
#endif
    return crew_time(pool, (crew){part_read, &r, (int64_t)(n / sizeof(line)), GRAIN});
}

/* -------------------------------------------------------------------- peak */

/* A loop over SUMS independent sums, enough to hide an instruction's latency. Returns the number of multiply-adds. */
typedef double peak_fn(void);
#if defined(__aarch64__)
enum { SUMS = 16, TIMES = 1 << 13 };
#else
enum { SUMS = 12, TIMES = 1 << 13 };
#endif

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

static double dot_integers(void)
{
    enum { N = 256 };
    static const int8_t a[N] = {1}, b[N] = {2};
    int32_t sum = 0;
    const int8_t *x = a;
    for (int i = 0; i < TIMES / 64; i++) {
        __asm__ volatile("" : "+r"(x));
        for (int k = 0; k < N; k++) sum += x[k] * b[k];
    }
    __asm__ volatile("" : : "r"(sum));
    return (double)TIMES / 64 * N;
}

static double dot_floats(void)
{
    float sums[SUMS] = {0}, x = 1;
    for (int i = 0; i < TIMES / 4; i++) {
        __asm__ volatile("" : "+m"(x));
        UNROLL for (int j = 0; j < SUMS; j++) sums[j] += x * (float)j;
    }
    UNROLL for (int j = 0; j < SUMS; j++) __asm__ volatile("" : : "m"(sums[j]));
    return (double)TIMES / 4 * SUMS;
}

/* The loops differ in their vectors and in one step. The empty asm statement keeps the compiler from moving the
 * constant product out of the loop. */
#define PEAK(name, isa, vector, set, macs, step)                                                             \
    __attribute__((target(isa))) static double name(void)                                                    \
    {                                                                                                        \
        vector sums[SUMS], x = set(1), ones = set(1);                                                        \
        UNROLL for (int j = 0; j < SUMS; j++) sums[j] = set(0);                                              \
        for (int i = 0; i < TIMES; i++) {                                                                    \
            __asm__ volatile("" : IN_VECTOR(ones));                                                          \
            UNROLL for (int j = 0; j < SUMS; j++)                                                            \
            {                                                                                                \
                __asm__ volatile("" : IN_VECTOR(x));                                                         \
                sums[j] = step;                                                                              \
            }                                                                                                \
        }                                                                                                    \
        UNROLL for (int j = 0; j < SUMS; j++) __asm__ volatile("" : IN_VECTOR(sums[j]));                     \
        return (double)TIMES * SUMS * (macs);                                                                \
    }

#if defined(__x86_64__)
#include <immintrin.h>
#define IN_VECTOR(value) "+v"(value)

PEAK(integers_vnni, "avx512f,avx512vnni", __m512i, _mm512_set1_epi16, 64, _mm512_dpbusd_epi32(sums[j], x, x))
PEAK(integers_avx512, "avx512f,avx512bw", __m512i, _mm512_set1_epi16, 64,
     _mm512_add_epi32(sums[j], _mm512_madd_epi16(_mm512_maddubs_epi16(x, x), ones)))
PEAK(integers_avx2, "avx2", __m256i, _mm256_set1_epi16, 32,
     _mm256_add_epi32(sums[j], _mm256_madd_epi16(_mm256_maddubs_epi16(x, x), ones)))
PEAK(integers_avxvnni, "avx2,avxvnni", __m256i, _mm256_set1_epi16, 32, _mm256_dpbusd_avx_epi32(sums[j], x, x))
PEAK(floats_avx512, "avx512f", __m512, _mm512_set1_ps, 16, _mm512_fmadd_ps(x, ones, sums[j]))
PEAK(floats_avx2, "avx2,fma", __m256, _mm256_set1_ps, 8, _mm256_fmadd_ps(x, ones, sums[j]))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define IN_VECTOR(value) "+w"(value)

PEAK(integers_i8mm, "arch=armv8.2-a+dotprod+i8mm", int32x4_t, vdupq_n_s32, 16,
     vusdotq_s32(sums[j], vreinterpretq_u8_s32(x), vreinterpretq_s8_s32(x)))
PEAK(integers_dotprod, "arch=armv8.2-a+dotprod", int32x4_t, vdupq_n_s32, 16,
     vdotq_s32(sums[j], vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x)))
PEAK(integers_neon, "arch=armv8-a", int32x4_t, vdupq_n_s32, 16,
     vpadalq_s16(sums[j],
                 vpaddq_s16(vmull_s8(vget_low_s8(vreinterpretq_s8_s32(x)), vget_low_s8(vreinterpretq_s8_s32(x))),
                            vmull_high_s8(vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x)))))
PEAK(floats_neon, "arch=armv8-a", float32x4_t, vdupq_n_f32, 4, vfmaq_f32(sums[j], x, ones))
#endif

static const struct {
    const char *cpu;
    peak_fn *integers, *floats;
} peaks[] = {
#if defined(__x86_64__)
    {"avx512gfni", integers_vnni, floats_avx512},
    {"avx512vnni", integers_vnni, floats_avx512},
    {"avx512", integers_avx512, floats_avx512},
    {"avxvnni", integers_avxvnni, floats_avx2},
    {"avx2", integers_avx2, floats_avx2},
#elif defined(__aarch64__)
    {"i8mm", integers_i8mm, floats_neon},
    {"dotprod", integers_dotprod, floats_neon},
    {"neon", integers_neon, floats_neon},
#endif
    {"", dot_integers, dot_floats}, /* any other instruction set */
};

static void peak_run(const void *arg, int64_t begin, int64_t end)
{
    peak_fn *const *run = arg;
    for (; begin < end; begin++) (*run)();
}

double bench_peak(vouch_pool *pool, const char *cpu, bool floats)
{
    enum { PIECES = 1000 }; /* per thread, 10 microseconds each: a sleeping thread has time to wake and take its part */
    size_t i = 0;
    while (*peaks[i].cpu && strcmp(peaks[i].cpu, cpu) != 0) i++;
    peak_fn *const run = floats ? peaks[i].floats : peaks[i].integers;
    const int64_t n = (int64_t)PIECES * vouch_pool_size(pool);
    return run() * (double)n / crew_time(pool, (crew){peak_run, &run, n, 1});
}
