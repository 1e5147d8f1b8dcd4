/* SPDX-License-Identifier: MIT */
/* The tables of kernels, one per instruction set; dispatch.c chooses one. */
#ifndef VOUCH_KERNELS_TABLES_H
#define VOUCH_KERNELS_TABLES_H

#include "kernels/kernels.h"

extern const vouch_kernels vouch_kernels_ref;
#if defined(__x86_64__)
extern const vouch_kernels vouch_kernels_avx2;
extern const vouch_kernels vouch_kernels_avxvnni;
extern const vouch_kernels vouch_kernels_avx512;
extern const vouch_kernels vouch_kernels_avx512vnni;
extern const vouch_kernels vouch_kernels_avx512gfni;
#elif defined(__aarch64__)
extern const vouch_kernels vouch_kernels_neon;
extern const vouch_kernels vouch_kernels_dotprod;
extern const vouch_kernels vouch_kernels_i8mm;
#endif

#endif
