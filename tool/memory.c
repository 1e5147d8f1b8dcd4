/* SPDX-License-Identifier: MIT */
#include "tool/memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * Jansson 2.14 reads a token into a buffer of 16, 32, 64, ... bytes. Where the buffer can't grow, the token loses a
 * byte, and a half escape then ends the program by an assertion. So blocks of these sizes are kept for the time when
 * memory is short. Whatever was made with their help is thrown away, because the thread's memory was short.
 */
enum { SMALLEST = 32, N_SIZES = 12, N_EACH = 4 };
static _Atomic(void *) reserve[N_SIZES * N_EACH];

/* Globals, because Jansson's allocator is one. */
static _Thread_local bool is_short;

static size_t size_of(size_t i)
{
    return (size_t)SMALLEST << i / N_EACH;
}

static void fill_reserve(void)
{
    for (size_t i = 0; i < N_SIZES * N_EACH; i++)
        if (!atomic_load(&reserve[i])) free(atomic_exchange(&reserve[i], malloc(size_of(i))));
}

static void *allocate(size_t n)
{
    void *bytes = malloc(n);
    is_short |= !bytes;
    for (size_t i = 0; i < N_SIZES * N_EACH && !bytes; i++)
        if (size_of(i) == n) bytes = atomic_exchange(&reserve[i], NULL);
    return bytes;
}

void tool_memory_watch(void)
{
    fill_reserve();
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
    if (is_short) fill_reserve();
    is_short = false;
}
