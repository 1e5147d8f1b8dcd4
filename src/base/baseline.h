/* SPDX-License-Identifier: MIT */
/*
 * Included before every file, by the Makefile: refuses flags that would break what the code relies on.
 *
 * An object may use the instruction set its file is for and no wider one: kernels are chosen at run time, and
 * a baseline object built with -march=native dies on the next machine with an illegal instruction, before it
 * can choose. VOUCH_ISA says what is allowed: nothing (the compiler's baseline), 2 (AVX2) or 512 (AVX-512), on Arm
 * 82 (dot product) or 86 (and I8MM).
 * -ffast-math lets sums be reordered, and law L1 is gone.
 */
#ifndef VOUCH_BASE_BASELINE_H
#define VOUCH_BASE_BASELINE_H

#if (defined(__AVX__) || defined(__ARM_FEATURE_DOTPROD)) && !defined(VOUCH_ISA)
#error "CFLAGS widen the instruction set (-march=native?): leave them out, kernels are chosen at run time"
#endif
#if defined(__AVX512F__) && defined(VOUCH_ISA) && VOUCH_ISA < 512
#error "CFLAGS widen the instruction set to AVX-512: leave them out, kernels are chosen at run time"
#endif
#if defined(__ARM_FEATURE_SVE) || (defined(__ARM_FEATURE_MATMUL_INT8) && defined(VOUCH_ISA) && VOUCH_ISA < 86)
#error "CFLAGS widen the instruction set to SVE or i8mm: leave them out, kernels are chosen at run time"
#endif
#if defined(__FAST_MATH__)
#error "CFLAGS have -ffast-math or -Ofast, which changes results: leave it out"
#endif

#endif
