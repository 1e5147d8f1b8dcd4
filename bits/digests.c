/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bits/compare.h"

static const struct {
    const char *name;
    uint64_t digest;
} digests[] = {
#include "bits/digests.inc"
};

bool bits_expected(const char *name, uint64_t *digest)
{
    for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
        if (strcmp(digests[i].name, name) != 0) continue;
        *digest = digests[i].digest;
        return true;
    }
    return false;
}
