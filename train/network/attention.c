/* SPDX-License-Identifier: MIT */
/*
 * One unit is a head of a sequence of n rows. Its softmax p is a matrix [n, n + g]: the columns [0, n) belong to the
 * keys of generation 0, and column n + j - 1 to the one key of generation j >= 1, which stands at row i - g + j.
 */
#include "train/network/attention.h"

#include <stddef.h>

/* A head of a sequence; `at` is the offset of its first query, `kv` of its first key. */
typedef struct unit {
    int64_t n, g, width, at, kv, q_ld, kv_ld;
} unit;

int64_t train_attention_room(const train_packing *packing, const train_heads *heads, int32_t g)
{
    int64_t room = 0;
    for (int32_t s = 0; s < packing->n; s++) {
        const int64_t n = packing->ends[s] - (s ? packing->ends[s - 1] : 0);
        room += heads->n_heads * n * (n + g);
    }
    return room;
}

static unit unit_of(const train_packing *packing, const train_heads *heads, int32_t g, int32_t sequence, int64_t head)
{
    const int64_t first = sequence ? packing->ends[sequence - 1] : 0;
    const int64_t q_ld = heads->n_heads * heads->head_dim, kv_ld = heads->n_kv_heads * heads->head_dim;
    const int64_t kv_head = head / (heads->n_heads / heads->n_kv_heads);
    return (unit){.n = packing->ends[sequence] - first,
                  .g = g,
                  .width = heads->head_dim,
                  .at = first * q_ld + head * heads->head_dim,
                  .kv = first * kv_ld + kv_head * heads->head_dim,
                  .q_ld = q_ld,
                  .kv_ld = kv_ld};
}

static real dot(const real *a, const real *b, int64_t n)
{
    real sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void add_scaled(real *y, const real *x, real factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] += factor * x[i];
}

/* First generation whose key row i sees by itself. Its key of generation j >= 1 stands at row i - g + j >= 0. */
static int64_t first_own(const unit *u, int64_t i)
{
    return i >= u->g ? 1 : u->g - i;
}

/* Rows [0, seen) of generation 0 that row i sees. */
static int64_t seen(const unit *u, int64_t i)
{
    return i >= u->g ? i - u->g + 1 : 0;
}

static const real *own_row(const unit *u, const real *const *rows, int64_t i, int64_t j)
{
    return rows[j] + u->kv + (i - u->g + j) * u->kv_ld;
}

/* Turns the scores of row i into their softmax; columns that the row doesn't see become 0. */
static void row_softmax(const unit *u, real *p, int64_t i)
{
    const int64_t n_seen = seen(u, i), own = u->n + first_own(u, i) - 1, end = u->n + u->g;
    real max = n_seen > 0 ? p[0] : p[own], sum = 0;
    for (int64_t j = 0; j < n_seen; j++) max = p[j] > max ? p[j] : max;
    for (int64_t j = own; j < end; j++) max = p[j] > max ? p[j] : max;
    for (int64_t j = 0; j < end; j++) {
        p[j] = j < n_seen || j >= own ? real_exp(p[j] - max) : 0;
        sum += p[j];
    }
    for (int64_t j = 0; j < end; j++) p[j] /= sum;
}

static void unit_forward(const unit *u, real *out, real *p, const real *q, const real *const *keys,
                         const real *const *values)
{
    const int64_t ld = u->n + u->g;
    const real scale = 1 / real_sqrt((real)u->width);
    real_product_nt(p, ld, q + u->at, u->q_ld, keys[0] + u->kv, u->kv_ld, u->n, u->n, u->width, false);
    for (int64_t i = 0; i < u->n; i++) {
        real *row = p + i * ld;
        for (int64_t j = first_own(u, i); j <= u->g; j++)
            row[u->n + j - 1] = dot(q + u->at + i * u->q_ld, own_row(u, keys, i, j), u->width);
        for (int64_t j = 0; j < ld; j++) row[j] *= scale;
        row_softmax(u, row, i);
    }
    real_product_nn(out + u->at, u->q_ld, p, ld, values[0] + u->kv, u->kv_ld, u->n, u->width, u->n, false);
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t j = first_own(u, i); j <= u->g; j++)
            add_scaled(out + u->at + i * u->q_ld, own_row(u, values, i, j), p[i * ld + u->n + j - 1], u->width);
}

void train_attention(real *out, real *p, const real *q, const real *const *keys, const real *const *values, int32_t g,
                     const train_packing *packing, const train_heads *heads)
{
    for (int32_t s = 0; s < packing->n; s++)
        for (int64_t h = 0; h < heads->n_heads; h++) {
            const unit u = unit_of(packing, heads, g, s, h);
            unit_forward(&u, out, p, q, keys, values);
            p += u.n * (u.n + g);
        }
}

/* The unit's arrays in the backward pass. */
typedef struct unit_back {
    const unit *u;
    const real *dout, *p, *q;
    const real *const *keys, *const *values;
    real *ds; /* [n, n + g] gradient of p, then of the scores */
    real *dq;
    real *const *dkeys, *const *dvalues;
} unit_back;

/* dp from dout and the values, then ds = scale p (dp - sum(p dp)). */
static void scores_back(const unit_back *b)
{
    const unit *u = b->u;
    const int64_t ld = u->n + u->g;
    const real scale = 1 / real_sqrt((real)u->width);
    real_product_nt(b->ds, ld, b->dout + u->at, u->q_ld, b->values[0] + u->kv, u->kv_ld, u->n, u->n, u->width, false);
    for (int64_t i = 0; i < u->n; i++) {
        const real *p = b->p + i * ld;
        real *ds = b->ds + i * ld, sum;
        for (int64_t j = 1; j <= u->g; j++)
            ds[u->n + j - 1] =
                j < first_own(u, i) ? 0 : dot(b->dout + u->at + i * u->q_ld, own_row(u, b->values, i, j), u->width);
        sum = dot(p, ds, ld);
        for (int64_t j = 0; j < ld; j++) ds[j] = scale * p[j] * (ds[j] - sum);
    }
}

/* Adds the gradients through the keys and values of generations above 0, of which each row sees only those on its own
 * path. */
static void own_back(const unit_back *b)
{
    const unit *u = b->u;
    const int64_t ld = u->n + u->g;
    for (int64_t i = 0; i < u->n; i++)
        for (int64_t j = first_own(u, i); j <= u->g; j++) {
            const int64_t at = u->kv + (i - u->g + j) * u->kv_ld, row = u->at + i * u->q_ld, c = i * ld + u->n + j - 1;
            add_scaled(b->dvalues[j] + at, b->dout + row, b->p[c], u->width);
            add_scaled(b->dkeys[j] + at, b->q + row, b->ds[c], u->width);
            add_scaled(b->dq + row, b->keys[j] + at, b->ds[c], u->width);
        }
}

void train_attention_back(real *dq, real *const *dkeys, real *const *dvalues, const real *dout, const real *p,
                          real *space, const real *q, const real *const *keys, const real *const *values, int32_t g,
                          const train_packing *packing, const train_heads *heads)
{
    for (int32_t s = 0; s < packing->n; s++)
        for (int64_t h = 0; h < heads->n_heads; h++) {
            const unit u = unit_of(packing, heads, g, s, h);
            const int64_t n = u.n, ld = n + g;
            const unit_back b = {&u, dout, p, q, keys, values, space, dq, dkeys, dvalues};
            scores_back(&b);
            real_product_tn(dvalues[0] + u.kv, u.kv_ld, p, ld, dout + u.at, u.q_ld, n, u.width, n, true);
            real_product_tn(dkeys[0] + u.kv, u.kv_ld, space, ld, q + u.at, u.q_ld, n, u.width, n, true);
            real_product_nn(dq + u.at, u.q_ld, space, ld, keys[0] + u.kv, u.kv_ld, n, u.width, n, true);
            own_back(&b);
            p += n * ld;
        }
}
