/* SPDX-License-Identifier: MIT */
/* Sampling parameters in words and in reports. */
#ifndef VOUCH_TOOL_SAMPLING_H
#define VOUCH_TOOL_SAMPLING_H

#include <stdbool.h>

#include "tool/json.h"
#include "vouch.h"

enum { TOOL_SAMPLING_SIZE = 512 };
/* "temperature 0.8, top-p 0.95" or "greedy": what differs from vouch_sampling_default, without seed and biases. Each
 * parameter of `fields` (VOUCH_SAMPLING_ bits) gets the mark after it. */
const char *tool_sampling_text(const vouch_sampling *sampling, unsigned fields, const char *mark,
                               char text[TOOL_SAMPLING_SIZE]);
/* Adds the parameters, without seed and biases, to an object of a report, under llama.cpp's names. Returns the object;
 * NULL, after freeing it, where memory is short or it is NULL. */
json_t *tool_sampling_add(json_t *object, const vouch_sampling *sampling);

#endif
