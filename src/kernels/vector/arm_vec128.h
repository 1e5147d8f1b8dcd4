/* SPDX-License-Identifier: MIT */
/*
 * Vectors of 4 lanes for Arm's Advanced SIMD (NEON), optionally with the dot product of signed bytes (VOUCH_DOTPROD) or
 * of unsigned and signed bytes (VOUCH_I8MM). Four vectors make the 16 virtual lanes. The primitives are those of
 * x86_vec512.h.
 *
 * Where Arm's instructions differ from x86's, ref.c decides. A comparison selects the larger of two numbers, because
 * FMAX would return a NaN. Multiply-adds are fused. A mask always selects the first lanes of a vector, and masked loads
 * and stores touch no memory beyond these lanes.
 */
#ifndef VOUCH_KERNELS_ARM_VEC128_H
#define VOUCH_KERNELS_ARM_VEC128_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/forms.h"

/* The four parts of a tile use a cache line of weights while it is in the first-level cache. Their float sums lie in
 * memory, at the cost of one load and one store per block. 8 rows take 8 registers for dot products, or 16 for sums
 * with float weights. The 32 registers have room for them, and so many independent chains hide latencies. */
enum { VL = 4, PARTS = 4, PARTS_TOGETHER = 4 };
#define KEEP(vector) __asm__("" : "+w"(vector))
#define VL_CHAINS 20
enum { VL_MOST_ROWS = 8, VL_PAIR_ROWS = 3 };
enum { VL_STREAMS = 4, VL_BROADCASTS = 0 };
#define VL_ROWS(X, ...) X(1, __VA_ARGS__) X(2, __VA_ARGS__) X(3, __VA_ARGS__) X(4, __VA_ARGS__) \
    X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__) X(8, __VA_ARGS__)

typedef float32x4_t vf;
typedef int32x4_t vi;
typedef uint32x4_t vm; /* a mask: all bits of a lane set, or none */

static inline vf vf_load(const float *p) { return vld1q_f32(p); }
static inline void vf_store(float *p, vf a) { vst1q_f32(p, a); }
static inline vf vf_set(float x) { return vdupq_n_f32(x); }
static inline vf vf_zero(void) { return vdupq_n_f32(0.0f); }
static inline vm vm_first(int64_t n)
{
    const vi lanes = {0, 1, 2, 3};
    return vcltq_s32(lanes, vdupq_n_s32((int32_t)n));
}
static inline int vm_bits(vm m) { return vmaxvq_u32(m) != 0; } /* nonzero if any lane is set */
static inline vf vf_load_part(const float *p, vm m)
{
    if (vgetq_lane_u32(m, 3)) return vf_load(p);
    vf a = vf_zero();
    if (vgetq_lane_u32(m, 0)) a = vld1q_lane_f32(p, a, 0);
    if (vgetq_lane_u32(m, 1)) a = vld1q_lane_f32(p + 1, a, 1);
    if (vgetq_lane_u32(m, 2)) a = vld1q_lane_f32(p + 2, a, 2);
    return a;
}
static inline void vf_store_part(float *p, vf a, vm m)
{
    if (vgetq_lane_u32(m, 3)) {
        vf_store(p, a);
        return;
    }
    if (vgetq_lane_u32(m, 0)) vst1q_lane_f32(p, a, 0);
    if (vgetq_lane_u32(m, 1)) vst1q_lane_f32(p + 1, a, 1);
    if (vgetq_lane_u32(m, 2)) vst1q_lane_f32(p + 2, a, 2);
}
static inline vf vf_add(vf a, vf b) { return vaddq_f32(a, b); }
static inline vf vf_sub(vf a, vf b) { return vsubq_f32(a, b); }
static inline vf vf_mul(vf a, vf b) { return vmulq_f32(a, b); }
static inline vf vf_div(vf a, vf b) { return vdivq_f32(a, b); }
static inline vf vf_fma(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
static inline vf vf_max(vf a, vf b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline vf vf_min(vf a, vf b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline vm vf_less(vf a, vf b) { return vcltq_f32(a, b); }
static inline vm vf_unordered(vf a) { return vmvnq_u32(vceqq_f32(a, a)); }
static inline vf vf_select(vf a, vf b, vm m) { return vbslq_f32(m, b, a); }
static inline vf vf_zero_where(vf a, vm m)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(a), m));
}
static inline vf vf_swap_pairs(vf a) { return vrev64q_f32(a); }
static inline vf vf_from_half(const void *p) { return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))); }
static inline void vf_to_half(void *p, vf a) { vst1_u8(p, vreinterpret_u8_f16(vcvt_f16_f32(a))); }
static inline vf vf_from_bfloat(const void *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
}
static inline vf vf_from_int(vi a) { return vcvtq_f32_s32(a); }
static inline vi vf_round_to_int(vf a) { return vcvtnq_s32_f32(a); }
static inline vf vf_from_bits(vi a) { return vreinterpretq_f32_s32(a); }
static inline vf vf_mul_power(vf a, vf n, vf k)
{
    const vi power = vshlq_n_s32(vaddq_s32(vreinterpretq_s32_f32(k), vdupq_n_s32(127)), 23);
    return (void)n, vmulq_f32(a, vf_from_bits(power));
}

static inline vi vi_load(const void *p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
static inline vi vi_set(int32_t x) { return vdupq_n_s32(x); }
static inline vi vi_zero(void) { return vdupq_n_s32(0); }
static inline vi vi_add(vi a, vi b) { return vaddq_s32(a, b); }
static inline vi vi_max(vi a, vi b) { return vmaxq_s32(a, b); }
static inline vi vi_or(vi a, vi b) { return vorrq_s32(a, b); }
static inline vi vi_size_bits(vf a) { return vreinterpretq_s32_f32(vabsq_f32(a)); }
static inline void vi_store_bytes(int8_t *p, vi a)
{
    const int16x4_t words = vmovn_s32(a);
    const int32_t four = vget_lane_s32(vreinterpret_s32_s8(vmovn_s16(vcombine_s16(words, words))), 0);
    memcpy(p, &four, sizeof four);
}
/* Loads exactly 4 bytes into the low lane. */
static inline uint8x8_t bytes_load(const void *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    return vcreate_u8(four);
}
static inline vi vi_from_signed(const void *p)
{
    return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes_load(p)))));
}
static inline vi vi_from_unsigned(const void *p)
{
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes_load(p)))));
}
/* Moves the bits [from, from + bits) of each byte to bit `to` by shifts. A mask is needed only if the shifts leave bits
 * outside the field. */
static inline vi vi_field(vi a, int from, int bits, int to)
{
    const uint8x16_t bytes = vreinterpretq_u8_s32(a);
    const uint8x16_t moved = from < to   ? bytes << vdupq_n_u8((uint8_t)(to - from))
                             : from > to ? bytes >> vdupq_n_u8((uint8_t)(from - to))
                                         : bytes;
    const bool alone = from > to ? to == 0 && from + bits == 8 : from < to && from == 0 && to + bits == 8;
    const uint8x16_t mask = vdupq_n_u8((uint8_t)(((1 << bits) - 1) << to));
    return vreinterpretq_s32_u8(alone ? moved : vandq_u8(moved, mask));
}
static inline vi vi_shift(vi a, int n) { return vshlq_s32(a, vdupq_n_s32(n)); }
static inline vi vi_table(const uint8_t *entries) { return vi_load(entries); }
static inline vi vi_lookup(vi table, vi indices)
{
    return vreinterpretq_s32_u8(vqtbl1q_u8(vreinterpretq_u8_s32(table), vreinterpretq_u8_s32(indices)));
}

/* to[i] = the largest lane of v[i], found by comparing neighbours twice. */
static inline void vi_four_largest(float *to, const vi v[4]) /* bits of floats >= 0 */
{
    vst1q_f32(to, vf_from_bits(vpmaxq_s32(vpmaxq_s32(v[0], v[1]), vpmaxq_s32(v[2], v[3]))));
}
static inline void vi_four_sums(int32_t *to, const vi v[4])
{
    vst1q_s32(to, vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3])));
}

/* Adds the 16 lanes by the tree of kernels.h. */
static inline float vf_reduce(const vf lane[PARTS])
{
    const vf a = vaddq_f32(vaddq_f32(lane[0], lane[2]), vaddq_f32(lane[1], lane[3]));
    const float32x2_t b = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(b, 0) + vget_lane_f32(b, 1);
}
static inline float vf_largest(vf a) { return vmaxvq_f32(a); }

typedef struct vd16 { float64x2_t pair[8]; } vd16;
static inline vd16 vd_zero(void)
{
    vd16 zero;
    for (int i = 0; i < 8; i++) zero.pair[i] = vdupq_n_f64(0);
    return zero;
}
static inline void vd_add(vd16 *sum, const vf lane[PARTS])
{
    for (int i = 0; i < PARTS; i++) {
        sum->pair[2 * i] = vaddq_f64(sum->pair[2 * i], vcvt_f64_f32(vget_low_f32(lane[i])));
        sum->pair[2 * i + 1] = vaddq_f64(sum->pair[2 * i + 1], vcvt_high_f64_f32(lane[i]));
    }
}
static inline double vd_reduce(vd16 sum)
{
    for (int width = 4; width; width /= 2)
        for (int i = 0; i < width; i++) sum.pair[i] = vaddq_f64(sum.pair[i], sum.pair[i + width]);
    return vgetq_lane_f64(sum.pair[0], 0) + vgetq_lane_f64(sum.pair[0], 1);
}

/*
 * The dot product of 4 unsigned weights per lane with 4 signed activations, which are the same for all lanes. Sums have
 * 32 bits from the start, so all groups of a block make one part:
 *
 *   i8mm      USDOT takes unsigned weights.
 *   dotprod   SDOT takes signed weights. Weights of up to 7 bits fit as they are. 8-bit weights have an offset of 128;
 *             flipping their highest bit removes it (x86_vec512.h explains BYTES_UNSIGNED and PART_STARTS).
 *   neon      The same weights. SMULL and SMULL2 multiply them to 16 bits. ADDP adds pairs of products, at most
 *             2 * 128 * 127 = 32512, and SADALP adds pairs of these sums to 32 bits.
 *
 * The dot products select the low lane of a register for the activations, so no instruction copies them to all lanes.
 * For neon the load does that.
 */
#define BYTES_UNSIGNED VOUCH_I8MM
#define PART_STARTS(bits) ((void)(bits), true)
#define PART_GROUPS(bits) ((void)(bits), 8)
static inline int8x16_t signed_weights(vi w, bool bytes)
{
    return vreinterpretq_s8_s32(bytes ? veorq_s32(w, vreinterpretq_s32_u8(vdupq_n_u8(0x80))) : w);
}
#if VOUCH_DOTPROD
typedef int8x8_t vx;
static inline vx vi_four(const int8_t *p) { return vreinterpret_s8_u8(bytes_load(p)); }
static inline vi part_add(vi part, vi w, vx x, bool bytes)
{
#if VOUCH_I8MM
    return (void)bytes, vusdotq_lane_s32(part, vreinterpretq_u8_s32(w), x, 0);
#else
    return vdotq_lane_s32(part, signed_weights(w, bytes), x, 0);
#endif
}
#else
typedef int8x16_t vx;
static inline vx vi_four(const int8_t *p)
{
    int32_t four;
    memcpy(&four, p, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
static inline vi part_add(vi part, vi w, vx x, bool bytes)
{
    const int8x16_t value = signed_weights(w, bytes);
    const int16x8_t low = vmull_s8(vget_low_s8(value), vget_low_s8(x)), high = vmull_high_s8(value, x);
    return vpadalq_s16(part, vpaddq_s16(low, high));
}
#endif
static inline vi part_sum(vi part, bool bytes) { return (void)bytes, part; }

#endif
