/* SPDX-License-Identifier: MIT */
/*
 * The Makefile includes this header before every file. The header rejects compiler flags that would break the code.
 *
 * An object may use only the instruction set of its file. The program chooses kernels at run time: a baseline object
 * built with -march=native would stop with an illegal instruction on an older processor, before the choice.
 * VOUCH_ISA names the allowed set: undefined (the compiler's baseline), 2 (AVX2) or 512 (AVX-512); on Arm 82 (dot
 * product) or 86 (dot product and I8MM).
 * -ffast-math lets the compiler reorder sums, which breaks law L1.
 */
#ifndef VOUCH_BASE_BASELINE_H
#define VOUCH_BASE_BASELINE_H

#if (defined(__AVX__) || defined(__ARM_FEATURE_DOTPROD)) && !defined(VOUCH_ISA)
#error "CFLAGS widen the instruction set (-march=native?): remove that flag, vouch chooses kernels at run time"
#endif
#if defined(__AVX512F__) && defined(VOUCH_ISA) && VOUCH_ISA < 512
#error "CFLAGS widen the instruction set to AVX-512: remove that flag, vouch chooses kernels at run time"
#endif
#if defined(__ARM_FEATURE_SVE) || (defined(__ARM_FEATURE_MATMUL_INT8) && defined(VOUCH_ISA) && VOUCH_ISA < 86)
#error "CFLAGS widen the instruction set to SVE or I8MM: remove that flag, vouch chooses kernels at run time"
#endif
#if defined(__FAST_MATH__)
#error "CFLAGS have -ffast-math or -Ofast, which changes results: remove that flag"
#endif

#endif
