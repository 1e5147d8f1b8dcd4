/* SPDX-License-Identifier: MIT */
/*
 * Vectors of 16 lanes for AVX-512, optionally with VNNI and GFNI (VOUCH_VNNI, VOUCH_GFNI): the primitives that
 * vector_body.h uses.
 */
#ifndef VOUCH_KERNELS_X86_VEC512_H
#define VOUCH_KERNELS_X86_VEC512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/forms.h"
#include "kernels/vector/x86_gfni.h"

enum { VL = 16, PARTS = 1, PARTS_TOGETHER = 1 };
#define KEEP(vector) __asm__("" : "+v"(vector))
#define VL_CHAINS 24     /* accumulators that fit beside the operands */
/* From 13 rows on some accumulators of quantised weights lie in memory. Unpacking the weights twice would cost more. */
enum { VL_MOST_ROWS = 16, VL_PAIR_ROWS = 8 };
enum { VL_STREAMS = 2, VL_BROADCASTS = 1 };
#define VL_ROWS(X, ...) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) \
    X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) X(8, __VA_ARGS__) X(9, __VA_ARGS__) \
    X(10, __VA_ARGS__) X(11, __VA_ARGS__) X(12, __VA_ARGS__) X(13, __VA_ARGS__) X(14, __VA_ARGS__) \
    X(15, __VA_ARGS__) X(16, __VA_ARGS__)

typedef __m512 vf;
typedef __m512i vi, vx;
typedef __mmask16 vm;

static inline vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store(float *p, vf a) { _mm512_storeu_ps(p, a); }
static inline vm vm_first(int64_t n) { return (vm)((1u << n) - 1); } /* the first n lanes, 0 to 16 */
static inline vf vf_load_part(const float *p, vm m) { return _mm512_maskz_loadu_ps(m, p); }
static inline void vf_store_part(float *p, vf a, vm m) { _mm512_mask_storeu_ps(p, m, a); }
static inline vf vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf vf_zero(void) { return _mm512_setzero_ps(); }
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); } /* a > b ? a : b */
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); } /* a < b ? a : b */
static inline vm vf_less(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline vm vf_unordered(vf a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
static inline vf vf_zero_where(vf a, vm m) { return _mm512_mask_mov_ps(a, m, _mm512_setzero_ps()); }
static inline vf vf_select(vf a, vf b, vm m) { return _mm512_mask_mov_ps(a, m, b); } /* m ? b : a */
static inline int vm_bits(vm m) { return m; }
static inline vf vf_swap_pairs(vf a) { return _mm512_permute_ps(a, 0xb1); }
static inline vf vf_from_half(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
static inline void vf_to_half(void *p, vf a)
{
    _mm256_storeu_si256(p, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
static inline vf vf_from_int(vi a) { return _mm512_cvtepi32_ps(a); }
static inline vf vf_from_bits(vi a) { return _mm512_castsi512_ps(a); }
static inline vi vf_round_to_int(vf a) { return _mm512_cvtps_epi32(a); }
/* a * 2^n, where n is also in the low bits of k = n + 1.5 * 2^23 */
static inline vf vf_mul_power(vf a, vf n, vf k) { return (void)k, _mm512_scalef_ps(a, n); }
static inline vi vi_load(const void *p) { return _mm512_loadu_si512(p); }
static inline vi vi_set(int32_t x) { return _mm512_set1_epi32(x); }
static inline vi vi_zero(void) { return _mm512_setzero_si512(); }
static inline vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
static inline vi vi_max(vi a, vi b) { return _mm512_max_epi32(a, b); }
static inline vi vi_size_bits(vf a) { return _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MAX)); }

/* to[i] = all lanes of v[i] combined with op. */
#define VI_FOUR(name, type, op, op256, op128)                                                           \
    static inline void name(type *to, const vi v[4])                                                    \
    {                                                                                                   \
        const vi a = op(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));          \
        const vi b = op(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));          \
        const vi c = op(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));                      \
        const __m256i d = op256(_mm512_castsi512_si256(c), _mm512_extracti64x4_epi64(c, 1));            \
        _mm_storeu_si128((void *)to, op128(_mm256_castsi256_si128(d), _mm256_extracti128_si256(d, 1))); \
    }
VI_FOUR(vi_four_largest, float, _mm512_max_epi32, _mm256_max_epi32, _mm_max_epi32) /* bits of floats >= 0 */
VI_FOUR(vi_four_sums, int32_t, _mm512_add_epi32, _mm256_add_epi32, _mm_add_epi32)
#undef VI_FOUR

static inline void vi_store_bytes(int8_t *p, vi a) { _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8(a)); }
static inline vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
/* Moves the bits [from, from + bits) of each byte to bit `to` and clears the other bits. The arguments are constants
 * after inlining. */
static inline vi vi_field(vi a, int from, int bits, int to)
{
#if VOUCH_GFNI
    if (from != to)
        return _mm512_gf2p8affine_epi64_epi8(a, _mm512_set1_epi64((int64_t)vi_gfni_matrix(from, bits, to)), 0);
#endif
    const vi mask = _mm512_set1_epi8((char)(((1 << bits) - 1) << to));
    const vi moved = from < to   ? _mm512_slli_epi16(a, (unsigned)(to - from))
                     : from > to ? _mm512_srli_epi16(a, (unsigned)(from - to))
                                 : a;
    return _mm512_and_si512(moved, mask);
}
static inline vi vi_shift(vi a, int n) { return _mm512_slli_epi32(a, (unsigned)n); } /* n is a constant */
/* vi_table loads a table of 16 bytes; vi_lookup returns its entries with these indices. */
static inline vi vi_table(const uint8_t *entries)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)entries));
}
static inline vi vi_lookup(vi table, vi indices) { return _mm512_shuffle_epi8(table, indices); }
static inline vi vi_from_signed(const void *p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(p)); }
static inline vi vi_from_unsigned(const void *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(p)); }
static inline vf vf_from_bfloat(const void *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16));
}
static inline vx vi_four(const int8_t *p) /* 4 bytes, in every lane */
{
    int32_t four;
    memcpy(&four, p, 4);
    return _mm512_set1_epi32(four);
}

/* Adds the 16 lanes by the tree of kernels.h. */
static inline float vf_reduce(const vf lane[PARTS])
{
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(lane[0]), _mm512_extractf32x8_ps(lane[0], 1));
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
static inline float vf_largest(vf a) { return _mm512_reduce_max_ps(a); }

/* 16 lanes of double; vd_add adds 16 floats to them. */
typedef struct vd16 { __m512d low, high; } vd16;
static inline vd16 vd_zero(void) { return (vd16){_mm512_setzero_pd(), _mm512_setzero_pd()}; }
static inline void vd_add(vd16 *sum, const vf lane[PARTS])
{
    sum->low = _mm512_add_pd(sum->low, _mm512_cvtps_pd(_mm512_castps512_ps256(lane[0])));
    sum->high = _mm512_add_pd(sum->high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(lane[0], 1)));
}
static inline double vd_reduce(vd16 sum)
{
    const __m512d a = _mm512_add_pd(sum.low, sum.high);
    const __m256d b = _mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd(a, 1));
    const __m128d c = _mm_add_pd(_mm256_castpd256_pd128(b), _mm256_extractf128_pd(b, 1));
    return _mm_cvtsd_f64(_mm_add_sd(c, _mm_unpackhi_pd(c, c)));
}

/*
 * The dot product of 4 unsigned weights per lane with 4 signed activations, which are the same for all lanes. Sums of
 * at most PART_GROUPS groups make one part:
 *
 *   VNNI     vpdpbusd computes it and adds to 32 bits.
 *   AVX-512  vpmaddubsw adds pairs of products to 16 bits. 32767 / (2 * 127 * largest weight) groups fit before the sum
 *            must be widened. 8-bit weights: |w| times x with w's sign, at most 2 * 128 * 127 = 32512, widened at once.
 *
 * PART_STARTS: the part has 32 bits, so it begins at the start of the whole sum. BYTES_UNSIGNED: 8-bit weights keep
 * their offset; the start of the sum corrects it, as it does for all narrower weights.
 */
#define BYTES_UNSIGNED VOUCH_VNNI
#define PART_STARTS(bits) (VOUCH_VNNI || (bits) == 8)
#if VOUCH_VNNI
#define PART_GROUPS(bits) ((void)(bits), 8)
static inline vi part_add(vi part, vi w, vx x, bool bytes) { return (void)bytes, _mm512_dpbusd_epi32(part, w, x); }
static inline vi part_sum(vi part, bool bytes) { return (void)bytes, part; }
#else
#define PART_GROUPS(bits) ((bits) == 5 ? 4 : (bits) == 6 ? 2 : (bits) == 7 ? 1 : 8)
static inline vi part_add(vi part, vi w, vx x, bool bytes)
{
    if (!bytes) {
        part = _mm512_add_epi16(part, _mm512_maddubs_epi16(w, x));
        KEEP(part); /* else GCC delays all additions and spills the products to memory: 10 to 20 % slower */
        return part;
    }
    const vi value = _mm512_xor_si512(w, _mm512_set1_epi8(-128));
    const vi signed_x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(value), vi_zero(), x);
    const vi pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(value), signed_x);
    part = vi_add(part, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
    KEEP(part);
    return part;
}
static inline vi part_sum(vi part, bool bytes)
{
    return bytes ? part : _mm512_madd_epi16(part, _mm512_set1_epi16(1));
}
#endif

#endif
