/* SPDX-License-Identifier: MIT */
/* Vectors of texts, as clients expect them. */
#ifndef VOUCH_TOOL_VECTOR_H
#define VOUCH_TOOL_VECTOR_H

#include <jansson.h>
#include <stddef.h>

/* Divides x [n] by its length; a vector of zeros stays. */
void tool_vector_normalize(float *x, size_t n);
/* An array of its numbers. */
json_t *tool_vector_json(const float *x, size_t n);

#endif
