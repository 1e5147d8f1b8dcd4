/* SPDX-License-Identifier: MIT */
/*
 * The pass must compute the formulas that a layer's description stands for. The reference is a forward pass in double
 * precision, one token at a time, written straight from the formulas. The logits may differ from it by rounding only.
 * The tests load a plain model and change its layers: they add norms after a branch and scales of the residual, take
 * away rotation, and give layers different widths.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "support/model/hybrid.h"
#include "support/model/sequence.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

enum { N_TOKENS = 20, WIDTH = 128, MOST_LAYERS = 4 };

/* ---------------------------------------------------------------- the reference */

/* y = W x */
static void multiply(double *y, const vouch_matrix *w, const double *x)
{
    float row[WIDTH];
    for (int64_t o = 0; o < w->n_out; o++) {
        vouch_matrix_get_row(w, o, row);
        y[o] = 0;
        for (int64_t i = 0; i < w->n_in; i++) y[o] += (double)row[i] * x[i];
    }
}

static void normalise(double *y, const double *x, const float *weight, int32_t n, double eps)
{
    double squares = 0;
    for (int32_t i = 0; i < n; i++) squares += x[i] * x[i];
    for (int32_t i = 0; i < n; i++) y[i] = x[i] * (double)weight[i] / sqrt(squares / n + eps);
}

static void rotate(double *head, const vouch_rotary *rotary, int32_t position)
{
    const int32_t half = rotary->n_rot / 2;
    if (rotary->kind == VOUCH_ROTARY_NONE) return;
    for (int32_t i = 0; i < half; i++) {
        const int32_t a = rotary->kind == VOUCH_ROTARY_HALF_SPLIT ? i : 2 * i;
        const int32_t b = rotary->kind == VOUCH_ROTARY_HALF_SPLIT ? i + half : 2 * i + 1;
        const double angle = position * rotary->frequencies[i], x = head[a], y = head[b];
        head[a] = x * cos(angle) - y * sin(angle);
        head[b] = x * sin(angle) + y * cos(angle);
    }
}

/* The weights of head h's norm. */
static const float *head_weights(const vouch_attention *a, const float *norm, int32_t h)
{
    return vouch_head_norm_is_own(a->head_norm) ? norm + h * a->head_dim : norm;
}

static int32_t tokens_of[N_TOKENS], adapter; /* of the current sequence; of the current position */

/* The mean number of the adapters that tokens up to this position have chosen. The others weigh nothing. */
static int32_t find_adapter(const vouch_hparams *h, int32_t position)
{
    int32_t sum = 0, count = 0;
    for (int32_t j = 0; j <= position; j++)
        for (int32_t i = 0; i < h->adapters.n; i++)
            if (tokens_of[j] == h->adapters.of[i].token) {
                sum += i + 1;
                count++;
            }
    return count > 0 ? (int32_t)round((double)sum / count) : 0;
}

/* y = W x + B A x of the current adapter. */
static void multiply_adapted(double *y, const vouch_matrix *w, const vouch_affine *after, const double *x)
{
    double low[WIDTH], part[WIDTH];
    multiply(y, w, x);
    if (!after->lora) return;
    const vouch_matrix *a = &after->lora->a[adapter], *b = &after->lora->b[adapter];
    if (a->n_out == 0) return;
    multiply(low, a, x);
    multiply(part, b, low);
    for (int64_t i = 0; i < w->n_out; i++) y[i] += part[i];
}

static double keys[MOST_LAYERS][N_TOKENS][WIDTH], values[MOST_LAYERS][N_TOKENS][WIDTH];

/* The first position that a row sees. */
static int32_t first_key(const vouch_attention *a, int32_t position)
{
    const int32_t since = position + 1 - a->window;
    if (a->has_chunks) return position / a->window * a->window;
    return a->window && since > 0 ? since : 0;
}

/* Latent attention by its definition: each head has the keys [W_uk c | r] and the values W_uv c, where c is the latent
 * vector of a position and r its rotated key. */
static void attend_latent(double *y, const vouch_weights *w, int32_t layer, const double *x, int32_t position)
{
    const vouch_attention *a = &w->layers[layer].attention;
    const vouch_latent *m = &a->latent;
    const vouch_rotary *rotary = &w->rotaries[a->rotary];
    const double eps = (double)w->hparams.norm_eps;
    const int32_t n_plain = (int32_t)m->up_k.n_in, n_rot = a->head_dim - m->rank;
    double low[WIDTH], queries[4 * WIDTH], mixed[WIDTH] = {0}, gates[WIDTH], *own = keys[layer][position];
    multiply(own, &a->k, x);
    normalise(own, own, m->norm, m->rank, eps);
    if (m->rot_norm) normalise(own + m->rank, own + m->rank, m->rot_norm, n_rot, eps);
    rotate(own + m->rank, rotary, position);
    if (m->low.n_out > 0) {
        multiply(low, &m->low, x);
        normalise(low, low, m->low_norm, (int32_t)m->low.n_out, eps);
    }
    multiply(queries, &a->q, m->low.n_out > 0 ? low : x);
    multiply(gates, &a->gate, x);
    for (int32_t h = 0; h < a->n_heads; h++) {
        const vouch_matrix up_k = vouch_matrix_at(&m->up_k, h), up_v = vouch_matrix_at(&m->up_v, h);
        double *q = queries + h * m->key_dim, weights[N_TOKENS], sum = 0, value[WIDTH];
        const int32_t first = first_key(a, position);
        rotate(q + n_plain, rotary, position);
        for (int32_t j = first; j <= position; j++) {
            const double *latent = keys[layer][j];
            double key[WIDTH] = {0}, score = 0;
            for (int32_t r = 0; r < m->rank; r++) {
                float row[WIDTH];
                vouch_matrix_get_row(&up_k, r, row);
                for (int32_t i = 0; i < n_plain; i++) key[i] += (double)row[i] * latent[r];
            }
            memcpy(key + n_plain, latent + m->rank, (size_t)n_rot * sizeof *key);
            for (int32_t i = 0; i < m->key_dim; i++) score += q[i] * key[i];
            sum += weights[j] = exp(score * (double)a->scale);
        }
        if (a->sinks) sum += exp((double)a->sinks[h]);
        for (int32_t j = first; j <= position; j++) {
            multiply(value, &up_v, keys[layer][j]);
            for (int32_t i = 0; i < m->value_dim; i++) mixed[h * m->value_dim + i] += weights[j] / sum * value[i];
        }
        for (int32_t i = 0; i < m->value_dim && a->gate.n_out; i++) {
            const bool is_wide = a->gate.n_out > a->n_heads;
            mixed[h * m->value_dim + i] /= 1 + exp(-gates[is_wide ? h * m->value_dim + i : h]);
        }
    }
    multiply(y, &a->o, mixed);
}

static void attend(double *y, const vouch_weights *w, int32_t layer, const double *x, int32_t position)
{
    const vouch_attention *a = &w->layers[layer].attention;
    const vouch_rotary *rotary = &w->rotaries[a->rotary];
    const int32_t width = a->head_dim, n_v = a->value_dim;
    const double eps = (double)w->hparams.norm_eps;
    double q[WIDTH], mixed[WIDTH] = {0}, *k = keys[layer][position];
    if (a->latent.rank > 0) {
        attend_latent(y, w, layer, x, position);
        return;
    }
    multiply_adapted(q, &a->q, &a->q_after, x);
    multiply_adapted(k, &a->k, &a->k_after, x);
    multiply_adapted(values[layer][position], &a->v, &a->v_after, x);
    for (int32_t h = 0; h < a->n_kv_heads; h++) {
        if (a->k_norm) normalise(k + h * width, k + h * width, head_weights(a, a->k_norm, h), width, eps);
        rotate(k + h * width, rotary, position);
    }
    for (int32_t h = 0; h < a->n_heads; h++) {
        const int32_t kv_head = h / (a->n_heads / a->n_kv_heads), at = kv_head * width;
        double weights[N_TOKENS], sum = 0;
        if (a->q_norm) normalise(q + h * width, q + h * width, head_weights(a, a->q_norm, h), width, eps);
        const int32_t first = first_key(a, position);
        rotate(q + h * width, rotary, position);
        for (int32_t j = first; j <= position; j++) {
            double score = 0;
            for (int32_t i = 0; i < width; i++) score += q[h * width + i] * keys[layer][j][at + i];
            sum += weights[j] = exp(score * (double)a->scale);
        }
        for (int32_t j = first; j <= position; j++)
            for (int32_t i = 0; i < n_v; i++)
                mixed[h * n_v + i] += weights[j] / sum * values[layer][j][kv_head * n_v + i];
    }
    multiply_adapted(y, &a->o, &a->o_after, mixed);
}

static double inputs[MOST_LAYERS][N_TOKENS][WIDTH], states[MOST_LAYERS][WIDTH][WIDTH];

/* v / |v| */
static void make_unit(double *v, int32_t n, double eps)
{
    double squares = eps;
    for (int32_t i = 0; i < n; i++) squares += v[i] * v[i];
    for (int32_t i = 0; i < n; i++) v[i] /= sqrt(squares);
}

/* The delta rule: S decays, then S = S + rate k (v - S^T k)^T, and y = S^T q / sqrt(n_keys). S is state
 * [n_keys][n_values]. */
static void update(double *y, double (*state)[WIDTH], const vouch_recurrent *r, const double *q, const double *k,
                   const double *v, double rate, const double *decay)
{
    for (int32_t j = 0; j < r->n_values; j++) {
        double known = 0;
        y[j] = 0;
        for (int32_t i = 0; i < r->n_keys; i++) known += (state[i][j] *= decay[i]) * k[i];
        for (int32_t i = 0; i < r->n_keys; i++) {
            state[i][j] += k[i] * rate * (v[j] - known);
            y[j] += state[i][j] * q[i] / sqrt(r->n_keys);
        }
    }
}

/* c: the convolution over the last r->conv.width positions of `inputs`. */
static void convolve(double *c, const vouch_recurrent *r, int32_t layer, int32_t position)
{
    const int64_t n = r->conv.n_channels;
    for (int64_t i = 0; i < n; i++) {
        c[i] = r->conv.bias ? (double)r->conv.bias[i] : 0;
        for (int64_t back = 0; back < r->conv.width && back <= position; back++)
            c[i] += (double)r->conv.weights[(r->conv.width - 1 - back) * n + i] * inputs[layer][position - back][i];
        if (r->conv.has_silu) c[i] /= 1 + exp(-c[i]);
    }
}

/* decay [n_keys]: the decays of head h. raw: the results of W_decay for all heads. */
static void decays_of(double *decay, const vouch_recurrent *r, int32_t h, const double *raw)
{
    for (int32_t i = 0; i < r->n_keys; i++) {
        const int32_t at = r->has_key_decays ? h * r->n_keys + i : h;
        const double z = raw[at] + (double)r->decay_bias[at], a = (double)r->a[h] * (r->is_a_negated ? -1 : 1);
        decay[i] = exp(r->decay_floor != 0 ? (double)r->decay_floor / (1 + exp(-a * z)) : a * log(1 + exp(z)));
    }
}

/* W x, or W (W_low x). */
static void multiply_both(double *y, const vouch_matrix *w, const vouch_matrix *low, const double *x)
{
    double z[WIDTH];
    if (low->n_out) multiply(z, low, x);
    multiply(y, w, low->n_out ? z : x);
}

/* Replaces gate by norm(y) * silu(gate) of all heads, or by norm(y) * sigmoid(gate). */
static void delta_net(double *gate, double *c, const vouch_weights *w, int32_t layer, const double *x)
{
    const vouch_recurrent *r = &w->layers[layer].recurrent;
    const double eps = (double)w->hparams.norm_eps;
    double rate[WIDTH], decay[WIDTH], raw[WIDTH];
    multiply(rate, &r->rate, x);
    multiply_both(raw, &r->decay, &r->decay_low, x);
    for (int32_t h = 0; h < r->n_key_heads; h++) {
        make_unit(c + r->q + h * r->n_keys, r->n_keys, eps);
        make_unit(c + r->k + h * r->n_keys, r->n_keys, eps);
    }
    for (int32_t h = 0; h < r->n_heads; h++) {
        const int32_t of = (r->is_tiled ? h % r->n_key_heads : h / (r->n_heads / r->n_key_heads)) * r->n_keys;
        double *out = gate + h * r->n_values, result[WIDTH];
        decays_of(decay, r, h, raw);
        update(result, states[layer] + h * r->n_keys, r, c + r->q + of, c + r->k + of, c + r->v + h * r->n_values,
               1 / (1 + exp(-rate[h])), decay);
        normalise(result, result, r->norm, r->n_values, eps);
        for (int32_t i = 0; i < r->n_values; i++)
            out[i] = (r->has_sigmoid_gate ? 1 : out[i]) / (1 + exp(-out[i])) * result[i];
    }
}

/* One channel of Mamba: the state s [n] becomes exp(dt a) s + dt x b. Returns s c + skip x. */
static double channel(double *s, double dt, const float *a, int32_t a_step, double x, const double *b, const double *c,
                      int32_t n, double skip)
{
    double y = skip * x;
    for (int32_t i = 0; i < n; i++) {
        s[i] = exp(dt * (double)a[i * a_step]) * s[i] + dt * x * b[i];
        y += s[i] * c[i];
    }
    return y;
}

/* Replaces gate by norm(y * silu(gate)), of Mamba's channels or of Mamba-2's heads. */
static void mamba(double *gate, double *c, const vouch_weights *w, int32_t layer, const double *x)
{
    const vouch_recurrent *r = &w->layers[layer].recurrent;
    const double eps = (double)w->hparams.norm_eps;
    const int32_t n = (int32_t)r->out.n_in, n_rates = (int32_t)vouch_recurrent_n_rates(r), n_keys = r->n_keys;
    double selected[WIDTH], rate[WIDTH], *b = c + r->k, *q = c + r->q;
    if (r->select.n_out) {
        double *z = selected + (r->has_rank_last ? 2 * n_keys : 0);
        multiply(selected, &r->select, c);
        b = selected + (r->has_rank_last ? 0 : r->n_rank), q = b + n_keys;
        if (r->rank_norm.kind == VOUCH_NORM_RMS) {
            normalise(z, z, r->rank_norm.weight, r->n_rank, eps);
            normalise(b, b, r->key_norm.weight, n_keys, eps);
            normalise(q, q, r->query_norm.weight, n_keys, eps);
        }
        multiply(rate, &r->step, z);
    } else {
        multiply(rate, &r->decay, x);
    }
    for (int32_t i = 0; i < n_rates; i++) rate[i] = log(1 + exp(rate[i] + (double)r->decay_bias[i]));
    for (int32_t i = 0; i < n; i++) {
        const int32_t head = i / (n / n_rates), group = head / (n_rates / r->n_key_heads) * n_keys;
        float a[WIDTH];
        if (r->kind == VOUCH_MAMBA) vouch_matrix_get_row(&r->channel_a, i, a);
        else a[0] = r->a[head];
        const double y = channel(states[layer][i], rate[head], a, r->kind == VOUCH_MAMBA, c[i], b + group, q + group,
                                 n_keys, (double)r->skip[head]);
        gate[i] = y * gate[i] / (1 + exp(-gate[i]));
    }
    for (int32_t at = 0, size = n / r->n_key_heads; at < n && r->norm; at += size)
        normalise(gate + at, gate + at, r->norm + at, size, eps);
}

static void recur(double *y, const vouch_weights *w, int32_t layer, const double *x, int32_t position)
{
    const vouch_recurrent *r = &w->layers[layer].recurrent;
    const int64_t n = r->conv.n_channels;
    double c[WIDTH], gate[WIDTH], factor[WIDTH], *u = inputs[layer][position];
    multiply(u, &r->in[0], x);
    multiply(u + r->in[0].n_out, &r->in[1], x);
    multiply(u + r->in[0].n_out + r->in[1].n_out, &r->in[2], x);
    multiply_both(gate, &r->gate, &r->gate_low, x);
    if (r->factor.n_out) multiply(factor, &r->factor, x);
    for (int64_t i = 0; i < n && r->factor.n_out; i++) u[i] *= factor[i];
    convolve(c, r, layer, position);
    if (position == 0) memset(states[layer], 0, sizeof states[layer]);
    if (r->kind == VOUCH_DELTA_NET) delta_net(gate, c, w, layer, x);
    else if (r->kind != VOUCH_SHORT_CONVOLUTION) mamba(gate, c, w, layer, x);
    else
        for (int64_t i = 0; i < n; i++) gate[i] *= c[i];
    multiply(y, &r->out, gate);
}

static void feed(double *y, const vouch_feed_forward *f, const double *x)
{
    double gate[WIDTH], up[WIDTH];
    multiply_adapted(up, &f->up, &f->up_after, x);
    if (f->gate.n_out) multiply_adapted(gate, &f->gate, &f->gate_after, x);
    for (int32_t i = 0; i < f->n_ff; i++) {
        double g = gate[i] + (f->gate_after.bias ? (double)f->gate_after.bias[i] : 0);
        double u = up[i] + (f->up_after.bias ? (double)f->up_after.bias[i] : 0);
        if (f->limit > 0) {
            if (!f->limits_result) g = fmin(g, (double)f->limit);
            u = fmax(fmin(u, (double)f->limit), -(double)f->limit);
        }
        const double cap = (double)f->situ.gate, most = (double)f->situ.up;
        if (!f->gate.n_out) gate[i] = u > 0 ? u * u : 0;
        else if (f->activation == VOUCH_RELU) gate[i] = fmax(g, 0) * u;
        else if (f->activation == VOUCH_SWIGLU_OPENAI) gate[i] = g / (1 + exp(-1.702 * g)) * (u + 1);
        else if (f->activation == VOUCH_SITU)
            gate[i] = cap * tanh(g / cap) / (1 + exp(-g)) * (most > 0 ? most * tanh(u / most) : u);
        else if (f->limits_result && f->limit > 0) gate[i] = fmin(g / (1 + exp(-g)), (double)f->limit) * u;
        else gate[i] = g / (1 + exp(-g)) * u;
    }
    multiply_adapted(y, &f->down, &f->down_after, gate);
    for (int64_t o = 0; o < f->down.n_out && f->down_after.bias; o++) y[o] += (double)f->down_after.bias[o];
}

/* y += the adjugate of expert i for x, where the experts have adjugates. */
static void add_adjugate(double *y, const vouch_experts *e, int32_t i, double weight, const double *x)
{
    const vouch_adjugates *a = &e->adjugates;
    double part[WIDTH];
    if (a->per_group == 0) return;
    const vouch_feed_forward one = {.n_ff = a->n_ff,
                                    .activation = e->activation,
                                    .gate = vouch_matrix_at(&a->gate, i / a->per_group),
                                    .up = vouch_matrix_at(&a->up, i / a->per_group),
                                    .down = vouch_matrix_at(&a->down, i / a->per_group)};
    feed(part, &one, x);
    for (int64_t o = 0; o < a->down.n_out; o++) y[o] += (double)a->scale * weight * part[o];
}

/* Mixes the results of the experts with the largest probabilities; of equal ones it takes the first. */
static void mix_experts(double *y, const vouch_experts *e, const vouch_hparams *h, const double *x)
{
    double p[WIDTH], part[WIDTH], gate, sum = 0, kept = 0;
    int32_t chosen[WIDTH];
    bool is_chosen[WIDTH] = {false};
    multiply(p, &e->router, x);
    for (int32_t i = 0; i < e->n_experts; i++) {
        if (e->router_bias) p[i] += (double)e->router_bias[i];
        p[i] = e->gating == VOUCH_GATING_SIGMOID ? 1 / (1 + exp(-p[i])) : exp(p[i]);
        sum += p[i];
    }
    for (int32_t k = 0; k < e->n_used; k++) {
        int32_t best = -1;
        double most = -1;
        for (int32_t i = 0; i < e->n_experts; i++) {
            const double rank = (e->gating == VOUCH_GATING_SIGMOID ? p[i] : p[i] / sum) +
                                (double)(e->selection_bias ? e->selection_bias[i] : 0);
            if (!is_chosen[i] && rank > most) {
                most = rank;
                best = i;
            }
        }
        is_chosen[chosen[k] = best] = true;
        kept += p[best];
    }
    const bool is_narrow = e->narrow.n_out > 0;
    const int32_t n_in = is_narrow ? (int32_t)e->narrow.n_out : h->n_embd;
    double whole_input[WIDTH], chosen_sum[WIDTH] = {0};
    if (is_narrow) multiply(whole_input, &e->narrow, x);
    else memcpy(whole_input, x, (size_t)n_in * sizeof *x);
    for (int32_t k = 0; k < e->n_used; k++) {
        const int32_t i = chosen[k];
        const vouch_feed_forward one = {.n_ff = e->n_ff,
                                        .activation = e->activation,
                                        .limit = e->limit,
                                        .limits_result = e->limits_result,
                                        .situ = e->situ,
                                        .gate_after.bias = e->gate_biases ? e->gate_biases + i * e->n_ff : NULL,
                                        .up_after.bias = e->up_biases ? e->up_biases + i * e->n_ff : NULL,
                                        .down_after.bias = e->down_biases ? e->down_biases + i * h->n_embd : NULL,
                                        .gate = vouch_matrix_at(&e->gate, i),
                                        .up = vouch_matrix_at(&e->up, i),
                                        .down = vouch_matrix_at(&e->down, i)};
        const double whole = e->normalised ? kept : e->gating == VOUCH_GATING_SIGMOID ? 1 : sum;
        const double weight = p[i] / whole * (double)e->scale;
        double input[WIDTH];
        for (int32_t o = 0; o < n_in; o++) input[o] = (e->weighs_inputs ? weight : 1) * whole_input[o];
        feed(part, &one, input);
        for (int32_t o = 0; o < n_in; o++) chosen_sum[o] += (e->weighs_inputs ? 1 : weight) * part[o];
        add_adjugate(chosen_sum, e, i, weight, x);
    }
    if (is_narrow) normalise(chosen_sum, chosen_sum, e->narrow_norm.weight, n_in, (double)h->norm_eps);
    if (is_narrow) multiply(y, &e->widen, chosen_sum);
    else memcpy(y, chosen_sum, (size_t)n_in * sizeof *y);
    if (e->shared.n_ff == 0) return;
    if (e->shared_gate.n_out) multiply(&gate, &e->shared_gate, x);
    feed(part, &e->shared, x);
    for (int32_t i = 0; i < h->n_embd; i++) y[i] += part[i] / (e->shared_gate.n_out ? 1 + exp(-gate) : 1);
}

/* ------------------------------------------------------- hyper-connections */

static double versions[VOUCH_MOST_VERSIONS][WIDTH], connections[VOUCH_MOST_VERSIONS * (VOUCH_MOST_VERSIONS + 2)];

/* Divides rows, or columns, of m [n, n] by their sums plus eps. */
static void divide(double *m, int32_t n, bool are_rows, double eps)
{
    for (int32_t a = 0; a < n; a++) {
        double sum = eps;
        for (int32_t b = 0; b < n; b++) sum += are_rows ? m[a * n + b] : m[b * n + a];
        for (int32_t b = 0; b < n; b++) m[are_rows ? a * n + b : b * n + a] /= sum;
    }
}

/* Fills `connections` with the weights to read with, to write with, and to mix with. */
static void connect(const vouch_hparams *h, const vouch_hyper *hyper)
{
    const vouch_hyper_hparams *p = &h->hyper;
    const int32_t n = p->n;
    double all[WIDTH], *z = connections;
    float ones[WIDTH];
    for (int32_t i = 0; i < n * h->n_embd; i++) {
        all[i] = versions[i / h->n_embd][i % h->n_embd];
        ones[i] = 1;
    }
    normalise(all, all, ones, n * h->n_embd, (double)h->norm_eps);
    multiply(z, &hyper->weights, all);
    for (int64_t i = 0; i < hyper->weights.n_out; i++)
        z[i] = z[i] * (double)hyper->scale[i < n ? 0 : i < 2 * n ? 1 : 2] + (double)hyper->base[i];
    for (int32_t i = 0; i < n; i++) z[i] = 1 / (1 + exp(-z[i])) + (double)p->eps;
    for (int32_t i = n; i < 2 * n; i++) z[i] = (double)p->most / (1 + exp(-z[i])) + (double)p->write_eps;
    if (hyper->weights.n_out <= 2 * n) return;
    for (int32_t i = 0; i < n * n; i++) z[2 * n + i] = exp(z[2 * n + i]);
    divide(z + 2 * n, n, true, 0);
    for (int32_t i = 0; i < n * n; i++) z[2 * n + i] += (double)p->eps;
    divide(z + 2 * n, n, false, (double)p->eps);
    for (int32_t round = 1; round < p->n_rounds; round++) {
        divide(z + 2 * n, n, true, (double)p->eps);
        divide(z + 2 * n, n, false, (double)p->eps);
    }
}

static void read_versions(double *x, const vouch_hparams *h, const vouch_hyper *hyper)
{
    if (h->hyper.n == 0) return;
    connect(h, hyper);
    for (int32_t k = 0; k < h->n_embd; k++) {
        x[k] = 0;
        for (int32_t j = 0; j < h->hyper.n; j++) x[k] += connections[j] * versions[j][k];
    }
}

static void write_versions(const double *y, const vouch_hparams *h, bool are_mixed)
{
    const int32_t n = h->hyper.n;
    double sums[VOUCH_MOST_VERSIONS];
    for (int32_t k = 0; k < h->n_embd; k++) {
        for (int32_t j = 0; j < n; j++) {
            sums[j] = connections[n + j] * y[k] + (are_mixed ? 0 : versions[j][k]);
            for (int32_t i = 0; i < n && are_mixed; i++) sums[j] += connections[2 * n + i * n + j] * versions[i][k];
        }
        for (int32_t j = 0; j < n; j++) versions[j][k] = sums[j];
    }
}

static void average_versions(double *x, const vouch_hparams *h)
{
    for (int32_t k = 0; k < h->n_embd && h->hyper.n > 0; k++) {
        x[k] = 0;
        for (int32_t j = 0; j < h->hyper.n; j++) x[k] += versions[j][k] / h->hyper.n;
    }
}

/* ------------------------------------------------------------------ the layers */

static double kept_streams[MOST_LAYERS][WIDTH]; /* of the current position */

/* y = what a branch reads: x, or a mixture of the kept streams and x. Keeps x where the branch does. */
static void look_back(double *y, double *x, const vouch_depth *depth, const vouch_hparams *h)
{
    double unit[WIDTH], weights[MOST_LAYERS + 1], sum = 0;
    memcpy(y, x, (size_t)h->n_embd * sizeof *y);
    if (!depth->query) return;
    for (int32_t i = 0; i <= depth->n_kept; i++) {
        normalise(unit, i < depth->n_kept ? kept_streams[i] : x, depth->query, h->n_embd, (double)h->norm_eps);
        weights[i] = 0;
        for (int32_t k = 0; k < h->n_embd; k++) weights[i] += unit[k];
        sum += weights[i] = exp(weights[i]);
    }
    for (int32_t k = 0; k < h->n_embd; k++) {
        y[k] = weights[depth->n_kept] / sum * x[k];
        for (int32_t i = 0; i < depth->n_kept; i++) y[k] += weights[i] / sum * kept_streams[i][k];
    }
    if (!depth->keeps) return;
    memcpy(kept_streams[depth->n_kept], x, (size_t)h->n_embd * sizeof *x);
    memset(x, 0, (size_t)h->n_embd * sizeof *x);
}

static void add(double *x, const vouch_branch *branch, double *y, const vouch_hparams *h)
{
    if (h->hyper.n > 0) {
        write_versions(y, h, branch->hyper.weights.n_out > 2 * h->hyper.n);
        return;
    }
    if (branch->norm_after) normalise(y, y, branch->norm_after, h->n_embd, (double)h->norm_eps);
    for (int32_t i = 0; i < h->n_embd; i++) x[i] += (double)branch->scale * y[i];
}

/* x [n_layers][WIDTH]: the residual stream after each layer. */
static void forward(const vouch_weights *w, int32_t token, int32_t position, double (*streams)[WIDTH], double *logits)
{
    const vouch_hparams *h = &w->hparams;
    const double eps = (double)h->norm_eps;
    float embedding[WIDTH];
    double x[WIDTH], normed[WIDTH], y[WIDTH], sparse[WIDTH], input[WIDTH], read[WIDTH];
    tokens_of[position] = token;
    adapter = find_adapter(h, position);
    for (int32_t i = 0; i < h->adapters.n; i++)
        if (tokens_of[position] == h->adapters.of[i].token) token = h->adapters.of[i].substitute;
    vouch_matrix_get_row(&w->embedding, token, embedding);
    for (int32_t i = 0; i < h->n_embd; i++)
        x[i] = (double)embedding[i] * (h->embedding_scale != 0 ? (double)h->embedding_scale : 1);
    for (int32_t j = 0; j < h->hyper.n; j++) memcpy(versions[j], x, sizeof x);
    for (int32_t l = 0; l < h->n_layers; l++) {
        const vouch_layer *layer = &w->layers[l];
        memcpy(input, x, (size_t)h->n_embd * sizeof *x);
        read_versions(x, h, &layer->mix.hyper);
        if (vouch_layer_has_mix(layer)) {
            look_back(read, x, &layer->mix.depth, h);
            normalise(normed, read, layer->mix.norm.weight, h->n_embd, eps);
        }
        if (layer->attention.n_heads > 0 && !layer->attention.finds_adapters) {
            attend(y, w, l, normed, position);
            add(x, &layer->mix, y, h);
        }
        if (layer->recurrent.conv.n_channels > 0) {
            recur(y, w, l, normed, position);
            add(x, &layer->mix, y, h);
        }
        if (vouch_layer_has_feed(layer)) {
            read_versions(x, h, &layer->feed.hyper);
            look_back(read, x, &layer->feed.depth, h);
            normalise(normed, read, layer->feed.norm.weight, h->n_embd, eps);
            if (layer->ffn.n_ff > 0) feed(y, &layer->ffn, normed);
            if (vouch_layer_has_both(layer)) normalise(normed, input, layer->beside.norm.weight, h->n_embd, eps);
            if (layer->experts.n_experts > 0) mix_experts(sparse, &layer->experts, h, normed);
            for (int32_t i = 0; i < h->n_embd && layer->experts.n_experts > 0; i++)
                y[i] = sparse[i] + (layer->ffn.n_ff > 0 ? y[i] : 0);
            add(x, &layer->feed, y, h);
        }
        average_versions(x, h);
        memcpy(streams[l], x, sizeof x);
    }
    if (!h->hyper.ends_in_mean) read_versions(x, h, &w->last_read);
    if (h->hyper.n > 0) memcpy(streams[h->n_layers - 1], x, sizeof x);
    look_back(read, x, &w->output_depth, h);
    normalise(normed, read, w->output_norm.weight, h->n_embd, eps);
    multiply(logits, w->output, normed);
    for (int32_t i = 0; i < h->n_vocab && h->logit_scale != 0; i++) logits[i] *= (double)h->logit_scale;
}

/* ---------------------------------------------------------------- descriptions */

static float norms[MOST_LAYERS * 2 * WIDTH]; /* [layer][branch][n_embd] */

static const float *norm_of(int32_t layer, int32_t branch)
{
    return norms + (layer * 2 + branch) * WIDTH;
}

static void change_nothing(vouch_weights *w)
{
    (void)w;
}

static void norm_after(vouch_weights *w)
{
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        w->layers[l].mix.norm_after = norm_of(l, 0);
        w->layers[l].feed.norm_after = norm_of(l, 1);
    }
}

static void scale_residual(vouch_weights *w)
{
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        w->layers[l].mix.scale = 0.3f;
        w->layers[l].feed.scale = 1.7f;
    }
}

static void norm_and_scale_some(vouch_weights *w)
{
    w->layers[0].mix.norm_after = norm_of(0, 0);
    w->layers[0].mix.scale = 0.5f;
    w->layers[1].feed.norm_after = norm_of(1, 1);
    w->layers[2].feed.scale = 0.25f;
}

/* Cuts a matrix down to its first n_out rows, and a matrix of floats also to the first n_in inputs of each row. */
static void narrow(vouch_matrix *matrix, int64_t n_out, int64_t n_in)
{
    matrix->n_out = n_out;
    matrix->n_tiles = (n_out + VOUCH_TILE - 1) / VOUCH_TILE;
    matrix->n_in = n_in;
}

/* Layer 1 has half of the heads, and where KV heads have values of their own, narrower ones; layer 2 has half of the
 * feed-forward's width. */
static void narrow_layers(vouch_weights *w)
{
    vouch_attention *a = &w->layers[1].attention;
    vouch_feed_forward *f = &w->layers[2].ffn;
    a->n_heads /= 2;
    if (a->latent.rank > 0) {
        narrow(&a->q, a->n_heads * a->latent.key_dim, a->q.n_in);
        narrow(&a->o, a->o.n_out, a->n_heads * a->latent.value_dim);
    } else {
        a->n_kv_heads /= 2;
        a->value_dim -= 2;
        narrow(&a->q, a->n_heads * a->head_dim, a->q.n_in);
        narrow(&a->k, a->n_kv_heads * a->head_dim, a->k.n_in);
        narrow(&a->v, a->n_kv_heads * a->value_dim, a->v.n_in);
        narrow(&a->o, a->o.n_out, a->n_heads * a->value_dim);
    }
    f->n_ff /= 2;
    narrow(&f->gate, f->n_ff, f->gate.n_in);
    narrow(&f->up, f->n_ff, f->up.n_in);
    narrow(&f->down, f->down.n_out, f->n_ff);
}

/* Layer 0 has no rotation, layer 1 other pairs, layer 2 another scale of its scores. */
static void mix_rotaries(vouch_weights *w)
{
    static vouch_rotary rotaries[3];
    rotaries[0] = rotaries[1] = rotaries[2] = w->rotaries[0];
    rotaries[1].kind = VOUCH_ROTARY_NONE;
    rotaries[2].kind = VOUCH_ROTARY_HALF_SPLIT;
    rotaries[2].n_rot /= 2;
    w->rotaries = rotaries;
    w->n_rotaries = 3;
    w->layers[0].attention.rotary = 1;
    w->layers[1].attention.rotary = 2;
    w->layers[2].attention.scale *= 0.7f;
}

/* Layers with experts or latent attention lack the matrices that hybrid_layers needs. */
static void make_recurrent(vouch_weights *w)
{
    const vouch_layer *last = &w->layers[w->hparams.n_layers - 1];
    if (last->experts.n_experts == 0 && last->attention.latent.rank == 0) hybrid_layers(w);
}

/* ------------------------------------------------------------------------ tests */

typedef struct loaded {
    vouch_pool *pool;
    vouch_weights *weights;
} loaded;

static loaded load(const tiny_model_options *options, const vouch_kernels *kernels, int32_t n_threads)
{
    const char *path = test_temporary("layers.gguf");
    loaded m;
    vouch_gguf *gguf;
    tiny_model_write(path, options);
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&m.pool, n_threads, NULL), VOUCH_OK);
    assert_int_equal(vouch_weights_open(&m.weights, gguf, 0, &(vouch_packing){.kernels = kernels, .pool = m.pool},
                                        NULL),
                     VOUCH_OK);
    vouch_gguf_close(gguf);
    return m;
}

static double distance(const float *a, const double *b, int32_t n)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++) most = fmax(most, fabs((double)a[i] - b[i]));
    return most;
}

static float logits_of[N_TOKENS * WIDTH]; /* [N_TOKENS][n_vocab] of the last run */

/* Runs all tokens of a chain in passes of `chunk` rows. Returns the largest difference of a logit or hidden value from
 * forward() with `truth`, which may describe other layers. */
static double run_and_compare(const loaded *m, const vouch_weights *truth, int32_t chunk)
{
    const vouch_sequence_options options = {
        .n_ctx = N_TOKENS, .max_rows = N_TOKENS, .max_logits = N_TOKENS, .kv_type = VOUCH_KV_F32};
    const vouch_hparams *h = &truth->hparams;
    vouch_sequence s;
    vouch_row rows[N_TOKENS];
    double most = 0;
    assert_int_equal(vouch_sequence_open(&s, m->weights, m->pool, &options, NULL), VOUCH_OK);
    for (int32_t l = 0; l < h->n_layers; l++) assert_int_equal(vouch_pass_open_tap(s.pass, l, NULL), VOUCH_OK);
    for (int32_t at = 0; at < N_TOKENS; at += chunk) {
        const int32_t n = at + chunk < N_TOKENS ? chunk : N_TOKENS - at;
        for (int32_t r = 0; r < n; r++)
            rows[r] = (vouch_row){.memory = s.memory,
                                  .token = (at + r) * 13 % h->n_vocab,
                                  .parent = r - 1,
                                  .logits = true,
                                  .hidden = r >= n / 2};
        assert_true(vouch_memory_reserve(s.memory, n));
        vouch_pass_run(s.pass, rows, n);
        for (int32_t r = 0; r < n; r++) {
            double streams[MOST_LAYERS][WIDTH], logits[WIDTH];
            forward(truth, rows[r].token, at + r, streams, logits);
            most = fmax(most, distance(vouch_pass_logits(s.pass, r), logits, h->n_vocab));
            memcpy(logits_of + (at + r) * h->n_vocab, vouch_pass_logits(s.pass, r), (size_t)h->n_vocab * sizeof(float));
            for (int32_t l = 0; l < h->n_layers && rows[r].hidden; l++)
                most = fmax(most, distance(vouch_pass_tap(s.pass, l, r - n / 2), streams[l], h->n_embd));
        }
        vouch_memory_keep_rows(s.memory, n);
    }
    vouch_sequence_close(&s);
    return most;
}

/* Layer 0 sees a window of 5 tokens, layer 1 chunks of 7. */
static void hide_tokens(vouch_weights *w)
{
    w->layers[0].attention.window = 5;
    w->layers[1].attention.window = 7;
    w->layers[1].attention.has_chunks = true;
}

static const struct {
    const char *name;
    void (*change)(vouch_weights *w);
} descriptions[] = {{"as loaded", change_nothing},    {"norms after", norm_after},
                    {"scales", scale_residual},       {"norms and scales", norm_and_scale_some},
                    {"narrow layers", narrow_layers}, {"rotaries", mix_rotaries},
                    {"windows", hide_tokens},         {"recurrent", make_recurrent}};
enum { N_DESCRIPTIONS = sizeof descriptions / sizeof descriptions[0] };

static const tiny_model_options models[] = {
    {.n_vocab = 90, .n_embd = 64, .n_heads = 4, .n_kv_heads = 2, .n_layers = 4, .n_ff = 128},
    {.arch = "qwen3", .n_vocab = 80, .n_embd = 56, .n_heads = 4, .n_kv_heads = 2, .head_dim = 12, .n_layers = 4},
    {.arch = "qwen3moe",
     .n_vocab = 80,
     .n_embd = 56,
     .n_heads = 4,
     .head_dim = 12,
     .n_layers = 3,
     .n_experts = 7,
     .n_used = 3,
     .n_ff_expert = 30,
     .n_dense = 1},
    {.arch = "deepseek2", .n_vocab = 80, .n_layers = 3, .n_experts = 6, .n_dense = 3},
};

/* Logits have a standard deviation of about 4. */
static const double rounding = 2e-3;

static int norms_fill(void **state)
{
    (void)state;
    for (int i = 0; i < MOST_LAYERS * 2 * WIDTH; i++) norms[i] = 1 + 0.4f * (float)sin(i);
    return 0;
}

/* Families with recurrent mixers, or with experts beside a dense network, unchanged as the loader describes them. */
static void families_compute_their_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t n_heads, n_ff, n_layers; /* n_ff 0: as usual */
    } cases[] = {{"mamba", 4, 0, 4},       {"mamba2", 4, 0, 4},         {"jamba", 4, 0, 4},
                 {"falcon-h1", 4, 0, 4},   {"nemotron_h", 4, 0, 4},     {"plamo2", 4, 0, 4},
                 {"kimi-linear", 2, 0, 4}, {"bailingmoe3", 2, 0, 4},    {"kimi-k3", 2, 0, 4},
                 {"arctic", 2, 32, 4},     {"hy_v4", 2, 32, 4},         {"glm5-next", 2, 32, 4},
                 {"grovemoe", 2, 32, 4},   {"graniteswitch", 2, 32, 3}, {"dots3note", 4, 0, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tiny_model_options options = {.arch = cases[i].name,
                                            .n_vocab = 80,
                                            .n_embd = 32,
                                            .n_heads = cases[i].n_heads,
                                            .n_ff = cases[i].n_ff,
                                            .head_dim = 12,
                                            .n_layers = cases[i].n_layers};
        loaded m = load(&options, vouch_kernels_find(NULL), 1 + (int32_t)i % 3);
        for (int32_t chunk = 1; chunk <= N_TOKENS; chunk += 6) {
            const double most = run_and_compare(&m, m.weights, chunk);
            if (!(most < rounding)) fail_msg("%s: differs by %g", cases[i].name, most);
        }
        vouch_weights_close(m.weights);
        vouch_pool_close(m.pool);
    }
}

/* A pass also gives the same bits with all kernels, team sizes and chunks (law L1). */
static void a_pass_computes_what_its_layers_say(void **state)
{
    (void)state;
    static float first[N_TOKENS * WIDTH];
    static const int32_t chunks[] = {1, 7, N_TOKENS};
    const vouch_kernels *kernels;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        for (size_t d = 0; d < N_DESCRIPTIONS; d++)
            for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
                if (test_is_quick() && k > 0 && (k + d) % 3 != 0) continue;
                loaded m = load(&models[i], kernels, 1 + (int32_t)(k + d) % 3);
                descriptions[d].change(m.weights);
                for (int c = 0; c < 3; c++) {
                    const double most = run_and_compare(&m, m.weights, chunks[c]);
                    if (!(most < rounding))
                        fail_msg("%s, model %zu, %s: differs by %g", descriptions[d].name, i, kernels->name, most);
                    if (k == 0 && c == 0) memcpy(first, logits_of, sizeof first);
                    assert_memory_equal(first, logits_of, sizeof first);
                }
                vouch_weights_close(m.weights);
                vouch_pool_close(m.pool);
            }
}

/* Biases of experts and router, limits, activations, weighted inputs: each changes the logits, and they are right. */
static void experts_compute_what_their_layers_say(void **state)
{
    (void)state;
    enum { LIMIT, OPENAI, RELU, BIASES, INPUTS, N_CASES };
    static float first[N_TOKENS * WIDTH], biases[8 * WIDTH];
    const vouch_kernels *kernels;
    for (int i = 0; i < 8 * WIDTH; i++) biases[i] = (float)sin(3 * i);
    for (int one = 0; one < N_CASES; one++)
        for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++) {
            loaded m = load(&models[2], kernels, 1 + (int32_t)k % 3), plain = load(&models[2], kernels, 1);
            for (int32_t l = 0; l < m.weights->hparams.n_layers; l++) {
                vouch_experts *e = &m.weights->layers[l].experts;
                if (e->n_experts == 0) continue;
                if (one == LIMIT) e->limit = 0.7f;
                if (one == OPENAI) e->activation = VOUCH_SWIGLU_OPENAI;
                if (one == RELU) e->activation = VOUCH_RELU;
                if (one == BIASES) e->router_bias = e->gate_biases = e->up_biases = e->down_biases = biases;
                e->weighs_inputs = one == INPUTS;
            }
            const double most = run_and_compare(&m, m.weights, 1 + (int32_t)k % 7);
            if (!(most < rounding)) fail_msg("case %d, %s: differs by %g", one, kernels->name, most);
            if (k == 0) memcpy(first, logits_of, sizeof first);
            assert_memory_equal(first, logits_of, sizeof first);
            assert_true(run_and_compare(&m, plain.weights, 7) > 20 * rounding);
            vouch_weights_close(m.weights);
            vouch_weights_close(plain.weights);
            vouch_pool_close(m.pool);
            vouch_pool_close(plain.pool);
        }
}

/* The comparison can fail: each description differs from the loaded layers. */
static void other_layers_compute_something_else(void **state)
{
    (void)state;
    for (size_t d = 1; d < N_DESCRIPTIONS; d++) {
        loaded m = load(&models[0], vouch_kernels_find(NULL), 1), plain = load(&models[0], vouch_kernels_find(NULL), 1);
        descriptions[d].change(m.weights);
        assert_true(run_and_compare(&m, plain.weights, 7) > 20 * rounding);
        vouch_weights_close(m.weights);
        vouch_weights_close(plain.weights);
        vouch_pool_close(m.pool);
        vouch_pool_close(plain.pool);
    }
}

/* Files have W_uk and W_uv of latent attention in two tensors, or in one, whose W_uk the loader transposes. */
static void both_layouts_of_latent_attention_agree(void **state)
{
    (void)state;
    static float apart[N_TOKENS * WIDTH];
    tiny_model_options options = models[3];
    loaded m = load(&options, vouch_kernels_find(NULL), 1);
    run_and_compare(&m, m.weights, 7);
    memcpy(apart, logits_of, sizeof apart);
    options.up_together = true;
    loaded other = load(&options, vouch_kernels_find(NULL), 1);
    run_and_compare(&other, m.weights, 7);
    assert_memory_equal(apart, logits_of, sizeof apart);
    vouch_weights_close(m.weights);
    vouch_weights_close(other.weights);
    vouch_pool_close(m.pool);
    vouch_pool_close(other.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pass_computes_what_its_layers_say),
        cmocka_unit_test(families_compute_their_formulas),
        cmocka_unit_test(experts_compute_what_their_layers_say),
        cmocka_unit_test(both_layouts_of_latent_attention_agree),
        cmocka_unit_test(other_layers_compute_something_else),
    };
    return cmocka_run_group_tests_name("layers", tests, norms_fill, NULL);
}
