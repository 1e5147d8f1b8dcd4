/* SPDX-License-Identifier: MIT */
/*
 * The exponential of all kernels. exp(x) = 2^n exp(r), where n is x / ln 2 rounded to nearest even, so that
 * |r| <= ln 2 / 2. A polynomial of degree 6 gives exp(r), with the coefficients of Cephes' expf. The relative error is
 * below 2e-7.
 *
 *   k = fma(x, log2(e), 1.5 * 2^23)     the low bits of k are n
 *   r = fma(n, -ln2_high, x), r = fma(n, -ln2_low, r),  n = k - 1.5 * 2^23
 *   p = 1 + (r + r^2 P(r)), P by Horner's rule, each step one fused multiply-add
 *   result = p * 2^n; the bits of k give 2^n
 *
 * softplus(x) = ln(1 + exp(x)) = max(x, 0) + ln(1 + t), t = exp(-|x|). With z = t / (2 + t) <= 1/3,
 *
 *   ln(1 + t) = 2 z (1 + z^2 / 3 + z^4 / 5 + ... + z^14 / 15)
 *
 * by Horner's rule, each step one fused multiply-add. The relative error is below 4e-7.
 *
 * x above VOUCH_EXP_MAX gives exp(VOUCH_EXP_MAX), x below VOUCH_EXP_MIN gives 0; NaN stays NaN.
 */
#ifndef VOUCH_KERNELS_EXP_H
#define VOUCH_KERNELS_EXP_H

#define VOUCH_EXP_MAX 88.0f
#define VOUCH_EXP_MIN -87.0f
#define VOUCH_EXP_LOG2E 0x1.715476p+0f
#define VOUCH_EXP_ROUND 0x1.8p23f
#define VOUCH_EXP_LN2_HIGH 0x1.63p-1f
#define VOUCH_EXP_LN2_LOW -0x1.bd0106p-13f
#define VOUCH_EXP_P0 1.9875691500e-4f
#define VOUCH_EXP_P1 1.3981999507e-3f
#define VOUCH_EXP_P2 8.3334519073e-3f
#define VOUCH_EXP_P3 4.1665795894e-2f
#define VOUCH_EXP_P4 1.6666665459e-1f
#define VOUCH_EXP_P5 5.0000001201e-1f

#define VOUCH_SOFTPLUS_TERMS 8 /* the coefficients are 1 / (2 i + 1) for i below this */

#endif
