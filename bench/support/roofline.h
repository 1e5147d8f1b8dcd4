/* SPDX-License-Identifier: MIT */
/*
 * The two limits of a machine, measured with the threads that run the kernels:
 *
 *   read    seconds that all threads together need to read n bytes once, each thread its own part in ascending order
 *   peak    multiply-adds per second of all threads, with operands in registers. The loops use the instructions of the
 *           kernels of an instruction set, so this is the limit of that instruction set, not of the machine
 *
 *     instruction set   integers (bytes)                        floats
 *     avx512vnni, gfni  vpdpbusd, 64 products each              vfmadd, 16
 *     avx512            vpmaddubsw + vpmaddwd + vpaddd, 64      the same
 *     avxvnni           vpdpbusd, 32                            vfmadd, 8
 *     avx2              vpmaddubsw + vpmaddwd + vpaddd, 32      the same
 *     i8mm              usdot, 16                               fmla, 4
 *     dotprod           sdot, 16                                the same
 *     neon              smull + smull2 + addp + sadalp, 16      the same
 *     others            a dot product in the first-level cache, as compiled from C
 */
#ifndef VOUCH_BENCH_ROOFLINE_H
#define VOUCH_BENCH_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/pool.h"

/* `bytes` is 64-byte aligned. */
double bench_read_seconds(vouch_pool *pool, const void *bytes, size_t n);
/* `cpu`: the name of a table of kernels that this machine can run. */
double bench_peak(vouch_pool *pool, const char *cpu, bool floats);

#endif
