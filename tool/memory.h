/* SPDX-License-Identifier: MIT */
/*
 * Whether a thread was refused memory. JSON is built from many values, and Jansson reports a refused one in one place
 * and leaves it out in another. A text takes nothing more. So the program builds the whole, and asks here once before
 * it gives the whole out.
 */
#ifndef VOUCH_TOOL_MEMORY_H
#define VOUCH_TOOL_MEMORY_H

#include <stdbool.h>

/* From now on Jansson tells this thread's refusals. Call it once, before Jansson allocates. */
void tool_memory_watch(void);
/* This thread was refused memory, and something is missing. */
void tool_memory_refuse(void);
/* Whether this thread was refused memory since it began, or since the last tool_memory_forget. */
bool tool_memory_is_short(void);
void tool_memory_forget(void);

#endif
