/* SPDX-License-Identifier: MIT */
/*
 * The two limits of a machine, measured with the threads that the kernels run on:
 *
 *   read    how long all threads together take to read so many bytes once, each its own part in order
 *   peak    multiply-adds a second of all threads, from registers alone: with the instructions that the
 * kernels of an instruction set are made of, so that it is the limit of those and not of the machine
 *
 *     instruction set   integers (bytes)                        floats
 *     avx512vnni, gfni  vpdpbusd, 64 a time                     vfmadd, 16
 *     avx512            vpmaddubsw + vpmaddwd + vpaddd, 64      the same
 *     avxvnni           vpdpbusd, 32                            vfmadd, 8
 *     avx2              vpmaddubsw + vpmaddwd + vpaddd, 32      the same
 *     i8mm              usdot, 16                               fmla, 4
 *     neon              sdot, 16                                the same
 *     others            what the compiler makes of a dot product in the first-level cache
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
