/* SPDX-License-Identifier: MIT */
#include "tool/vector.h"

#include <math.h>

#include "tool/json.h"

void tool_vector_normalize(float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    const double scale = sum > 0 ? 1 / sqrt(sum) : 1;
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * (double)x[i]);
}

json_t *tool_vector_json(const float *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(array, tool_json_float(x[i]));
    return array;
}
