/* SPDX-License-Identifier: MIT */
#include "tool/memory.h"

#include <jansson.h>
#include <stdlib.h>

/* A global, because Jansson's allocator is one. */
static _Thread_local bool is_short;

static void *allocate(size_t n)
{
    void *bytes = malloc(n);
    is_short |= !bytes;
    return bytes;
}

void tool_memory_watch(void)
{
    json_set_alloc_funcs(allocate, free);
}

void tool_memory_refuse(void)
{
    is_short = true;
}

bool tool_memory_is_short(void)
{
    return is_short;
}

void tool_memory_forget(void)
{
    is_short = false;
}
