/* SPDX-License-Identifier: MIT */
/* Builds the command as if no vector kernel ran on this processor: plain C alone. */
#include <string.h>

#include "kernels/tables.h"
#include "vouch.h"

const vouch_kernels *__wrap_vouch_kernels_get(size_t i);
const vouch_kernels *__wrap_vouch_kernels_find(const char *name);
const char *__wrap_vouch_cpu_name(size_t i);

const vouch_kernels *__wrap_vouch_kernels_get(size_t i)
{
    return i == 0 ? &vouch_kernels_ref : NULL;
}

const vouch_kernels *__wrap_vouch_kernels_find(const char *name)
{
    return !name || strcmp(name, "auto") == 0 || strcmp(name, "ref") == 0 ? &vouch_kernels_ref : NULL;
}

const char *__wrap_vouch_cpu_name(size_t i)
{
    return i == 0 ? "ref" : NULL;
}
