/* SPDX-License-Identifier: MIT */
/*
 * Vectors of 8 lanes for AVX2 with FMA and F16C, optionally with AVX-VNNI and GFNI (VOUCH_VNNI, VOUCH_GFNI). Two
 * vectors make the 16 virtual lanes.
 */
#ifndef VOUCH_KERNELS_X86_VEC256_H
#define VOUCH_KERNELS_X86_VEC256_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/forms.h"
#include "kernels/vector/x86_gfni.h"

enum { VL = 8, PARTS = 2, PARTS_TOGETHER = 1 };
#define KEEP(vector) __asm__("" : "+x"(vector))
#define VL_CHAINS 12
enum { VL_MOST_ROWS = 12, VL_PAIR_ROWS = 5 };
enum { VL_STREAMS = 2, VL_BROADCASTS = 0 };
#define VL_ROWS(X, ...) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) \
    X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) X(8, __VA_ARGS__) X(9, __VA_ARGS__) \
    X(10, __VA_ARGS__) X(11, __VA_ARGS__) X(12, __VA_ARGS__)

typedef __m256 vf;
typedef __m256i vi, vx;
typedef __m256i vm; /* a mask: all bits of a lane set, or none */

static inline vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm256_storeu_ps(p, a); }
static inline vm vm_first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline vf vf_load_part(const float *p, vm m) { return _mm256_maskload_ps(p, m); }
static inline void vf_store_part(float *p, vf a, vm m) { _mm256_maskstore_ps(p, m, a); }
static inline vf vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf vf_zero(void) { return _mm256_setzero_ps(); }
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vm vf_less(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
static inline vm vf_unordered(vf a) { return _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
static inline vf vf_zero_where(vf a, vm m) { return _mm256_andnot_ps(_mm256_castsi256_ps(m), a); }
static inline vf vf_select(vf a, vf b, vm m) { return _mm256_blendv_ps(a, b, _mm256_castsi256_ps(m)); }
static inline int vm_bits(vm m) { return _mm256_movemask_ps(_mm256_castsi256_ps(m)); }
static inline vf vf_swap_pairs(vf a) { return _mm256_permute_ps(a, 0xb1); }
static inline vf vf_from_half(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
static inline void vf_to_half(void *p, vf a) { _mm_storeu_si128(p, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)); }
static inline vf vf_from_int(vi a) { return _mm256_cvtepi32_ps(a); }
static inline vf vf_from_bits(vi a) { return _mm256_castsi256_ps(a); }
static inline vi vf_round_to_int(vf a) { return _mm256_cvtps_epi32(a); }
static inline vf vf_mul_power(vf a, vf n, vf k)
{
    const vi power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_castps_si256(k), _mm256_set1_epi32(127)), 23);
    return (void)n, _mm256_mul_ps(a, _mm256_castsi256_ps(power));
}
static inline vi vi_load(const void *p) { return _mm256_loadu_si256(p); }
static inline vi vi_set(int32_t x) { return _mm256_set1_epi32(x); }
static inline vi vi_zero(void) { return _mm256_setzero_si256(); }
static inline vi vi_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
static inline vi vi_max(vi a, vi b) { return _mm256_max_epi32(a, b); }
static inline vi vi_size_bits(vf a) { return _mm256_and_si256(_mm256_castps_si256(a), _mm256_set1_epi32(INT32_MAX)); }

/* to[i] = all lanes of v[i] combined with op. */
#define VI_FOUR(name, type, op, op128)                                                                  \
    static inline void name(type *to, const vi v[4])                                                    \
    {                                                                                                   \
        const vi a = op(_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[0], v[1]));          \
        const vi b = op(_mm256_unpacklo_epi32(v[2], v[3]), _mm256_unpackhi_epi32(v[2], v[3]));          \
        const vi c = op(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));                      \
        _mm_storeu_si128((void *)to, op128(_mm256_castsi256_si128(c), _mm256_extracti128_si256(c, 1))); \
    }
VI_FOUR(vi_four_largest, float, _mm256_max_epi32, _mm_max_epi32) /* bits of floats >= 0 */
VI_FOUR(vi_four_sums, int32_t, _mm256_add_epi32, _mm_add_epi32)
#undef VI_FOUR

static inline void vi_store_bytes(int8_t *p, vi a)
{
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64((void *)p, _mm_packs_epi16(words, words));
}
static inline vi vi_or(vi a, vi b) { return _mm256_or_si256(a, b); }
/* Moves the bits [from, from + bits) of each byte to bit `to` and clears the other bits. */
static inline vi vi_field(vi a, int from, int bits, int to)
{
#if VOUCH_GFNI
    if (from != to)
        return _mm256_gf2p8affine_epi64_epi8(a, _mm256_set1_epi64x((int64_t)vi_gfni_matrix(from, bits, to)), 0);
#endif
    const vi mask = _mm256_set1_epi8((char)(((1 << bits) - 1) << to));
    const vi moved = from < to   ? _mm256_slli_epi16(a, to - from)
                     : from > to ? _mm256_srli_epi16(a, from - to)
                                 : a;
    return _mm256_and_si256(moved, mask);
}
static inline vi vi_shift(vi a, int n) { return _mm256_slli_epi32(a, n); }
static inline vi vi_table(const uint8_t *entries)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)entries));
}
static inline vi vi_lookup(vi table, vi indices) { return _mm256_shuffle_epi8(table, indices); }
static inline vi vi_from_signed(const void *p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(p)); }
static inline vi vi_from_unsigned(const void *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(p)); }
static inline vf vf_from_bfloat(const void *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16));
}
static inline vx vi_four(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, 4);
    return _mm256_set1_epi32(four);
}

static inline float vf_reduce(const vf lane[PARTS])
{
    const __m256 a = _mm256_add_ps(lane[0], lane[1]);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
static inline float vf_largest(vf a)
{
    const __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_max_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}

typedef struct vd16 { __m256d quarter[4]; } vd16;
static inline vd16 vd_zero(void)
{
    const __m256d zero = _mm256_setzero_pd();
    return (vd16){{zero, zero, zero, zero}};
}
static inline void vd_add(vd16 *sum, const vf lane[PARTS])
{
    for (int h = 0; h < PARTS; h++) {
        sum->quarter[2 * h] =
            _mm256_add_pd(sum->quarter[2 * h], _mm256_cvtps_pd(_mm256_castps256_ps128(lane[h])));
        sum->quarter[2 * h + 1] =
            _mm256_add_pd(sum->quarter[2 * h + 1], _mm256_cvtps_pd(_mm256_extractf128_ps(lane[h], 1)));
    }
}
static inline double vd_reduce(vd16 sum)
{
    const __m256d low = _mm256_add_pd(sum.quarter[0], sum.quarter[2]);
    const __m256d high = _mm256_add_pd(sum.quarter[1], sum.quarter[3]);
    const __m256d b = _mm256_add_pd(low, high);
    const __m128d c = _mm_add_pd(_mm256_castpd256_pd128(b), _mm256_extractf128_pd(b, 1));
    return _mm_cvtsd_f64(_mm_add_sd(c, _mm_unpackhi_pd(c, c)));
}

/* x86_vec512.h explains both methods. Here vpsignb gives w's sign to x. */
#define BYTES_UNSIGNED VOUCH_VNNI
#define PART_STARTS(bits) (VOUCH_VNNI || (bits) == 8)
#if VOUCH_VNNI
#define PART_GROUPS(bits) ((void)(bits), 8)
static inline vi part_add(vi part, vi w, vx x, bool bytes) { return (void)bytes, _mm256_dpbusd_avx_epi32(part, w, x); }
static inline vi part_sum(vi part, bool bytes) { return (void)bytes, part; }
#else
#define PART_GROUPS(bits) ((bits) == 5 ? 4 : (bits) == 6 ? 2 : (bits) == 7 ? 1 : 8)
static inline vi part_add(vi part, vi w, vx x, bool bytes)
{
    if (!bytes) {
        part = _mm256_add_epi16(part, _mm256_maddubs_epi16(w, x));
        KEEP(part); /* else GCC delays all additions and spills the products to memory: 10 to 20 % slower */
        return part;
    }
    const vi value = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
    const vi pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(value), _mm256_sign_epi8(x, value));
    part = vi_add(part, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    KEEP(part);
    return part;
}
static inline vi part_sum(vi part, bool bytes)
{
    return bytes ? part : _mm256_madd_epi16(part, _mm256_set1_epi16(1));
}
#endif

#endif
