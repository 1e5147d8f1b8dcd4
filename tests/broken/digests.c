/* SPDX-License-Identifier: MIT */
/* Builds the command with two wrong digests and without a third one, which `vouch check --system` must name. */
#include <string.h>

#include "bits/compare.h"

bool __real_bits_expected(const char *name, uint64_t *digest);
bool __wrap_bits_expected(const char *name, uint64_t *digest);

bool __wrap_bits_expected(const char *name, uint64_t *digest)
{
    const bool is_known = __real_bits_expected(name, digest);
    if (strcmp(name, "softmax") == 0 || strcmp(name, "mamba F32 logits") == 0) *digest ^= 1;
    return is_known && strcmp(name, "cache Q8_0") != 0;
}
