/* SPDX-License-Identifier: MIT */
/* A draft model that often disagrees with its target, made from the target's own file. */
#ifndef VOUCH_BENCH_NOISY_H
#define VOUCH_BENCH_NOISY_H

/* Copies a GGUF file and multiplies each weight of the norms (the F32 vectors) by 1 + noise. The noise is uniform in
 * [-amount, amount] and the same on every machine. The tokens stay. The returned path names a file in memory, which
 * disappears when the process ends. The path is valid until the next call. Exits with a message on failure. */
const char *bench_noisy_copy(const char *path, double amount);

#endif
