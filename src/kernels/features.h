/* SPDX-License-Identifier: MIT */
/* The extensions of the processor that kernels need. vouch_cpu_feature (vouch.h) lists those that are there. */
#ifndef VOUCH_KERNELS_FEATURES_H
#define VOUCH_KERNELS_FEATURES_H

#include <stdbool.h>

/* Whether the processor has the extension, such as "avx2" or "i8mm": a name of the table in features.c. */
bool vouch_cpu_has(const char *name);

#endif
