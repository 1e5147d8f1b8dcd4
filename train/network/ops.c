/* SPDX-License-Identifier: MIT */
#include "train/network/ops.h"

#include <stddef.h>

void train_add(real *y, const real *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] += x[i];
}

void train_linear(real *y, const real *x, const real *w, int64_t rows, int64_t n_out, int64_t n_in)
{
    real_product_nt(y, n_out, x, n_in, w, n_in, rows, n_out, n_in, false);
}

void train_linear_back(real *dx, real *dw, const real *dy, const real *x, const real *w, int64_t rows, int64_t n_out,
                       int64_t n_in)
{
    if (dx) real_product_nn(dx, n_in, dy, n_out, w, n_in, rows, n_in, n_out, true);
    if (dw) real_product_tn(dw, n_in, dy, n_out, x, n_in, n_out, n_in, rows, true);
}

void train_norm(real *y, real *factors, const real *x, const real *weight, int64_t rows, int64_t n, real eps)
{
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        real sum = 0;
        for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
        const real factor = 1 / real_sqrt(sum / (real)n + eps);
        factors[r] = factor;
        for (int64_t i = 0; i < n; i++) y[i] = x[i] * factor * (weight ? weight[i] : 1);
    }
}

/* With u = x factor and g = dy weight:  dx = factor (g - u mean(g u)),  dweight = dy u. */
void train_norm_back(real *dx, real *dweight, const real *dy, const real *x, const real *weight, const real *factors,
                     int64_t rows, int64_t n)
{
    for (int64_t r = 0; r < rows; r++, x += n, dy += n) {
        const real factor = factors[r];
        real along = 0;
        for (int64_t i = 0; i < n; i++) along += dy[i] * (weight ? weight[i] : 1) * x[i];
        along *= factor * factor / (real)n;
        if (dx)
            for (int64_t i = 0; i < n; i++) dx[r * n + i] += factor * (dy[i] * (weight ? weight[i] : 1) - x[i] * along);
        if (dweight)
            for (int64_t i = 0; i < n; i++) dweight[i] += dy[i] * x[i] * factor;
    }
}

void train_angles(real *cosines, real *sines, int64_t n_positions, int64_t n_rot, double base)
{
    for (int64_t p = 0; p < n_positions; p++)
        for (int64_t i = 0; i < n_rot / 2; i++) {
            const double angle = (double)p * pow(base, -2.0 * (double)i / (double)n_rot);
            cosines[p * (n_rot / 2) + i] = (real)cos(angle);
            sines[p * (n_rot / 2) + i] = (real)sin(angle);
        }
}

void train_rotate(real *x, const real *cosines, const real *sines, const int32_t *positions, int64_t rows,
                  int64_t n_heads, int64_t head_dim, bool back)
{
    const int64_t half = head_dim / 2;
    const real sign = back ? -1 : 1;
    for (int64_t r = 0; r < rows; r++) {
        const real *c = cosines + positions[r] * half, *s = sines + positions[r] * half;
        for (int64_t h = 0; h < n_heads; h++, x += head_dim)
            for (int64_t i = 0; i < half; i++) {
                const real a = x[2 * i], b = x[2 * i + 1];
                x[2 * i] = a * c[i] - b * sign * s[i];
                x[2 * i + 1] = b * c[i] + a * sign * s[i];
            }
    }
}

void train_swiglu(real *y, const real *gate, const real *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] = gate[i] / (1 + real_exp(-gate[i])) * up[i];
}

/* With s = sigmoid(gate):  d silu = s (1 + gate (1 - s)). */
void train_swiglu_back(real *dgate, real *dup, const real *dy, const real *gate, const real *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const real s = 1 / (1 + real_exp(-gate[i]));
        dup[i] += dy[i] * gate[i] * s;
        dgate[i] += dy[i] * up[i] * s * (1 + gate[i] * (1 - s));
    }
}
