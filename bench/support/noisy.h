/* SPDX-License-Identifier: MIT */
/* A draft model that often disagrees with its target, made from the target's own file. */
#ifndef VOUCH_BENCH_NOISY_H
#define VOUCH_BENCH_NOISY_H

/* A copy of a GGUF file in which each weight of the norms (the vectors in F32) is multiplied by 1 + noise,
 * uniform in [-amount, amount], the same on every machine; the token table stays. The path, valid until the
 * next call, names a file in memory, which is gone when the process is, however it ends. Exits with a message
 * on failure. */
const char *bench_noisy_copy(const char *path, double amount);

#endif
