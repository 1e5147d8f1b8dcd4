/* SPDX-License-Identifier: MIT */
/*
 * From a router's logits to experts and weights:
 *
 *   logits += router_bias, where the layer has one
 *   p       = softmax(logits), or sigmoid(logits), or the logits
 *   rank    = p + selection_bias; only experts of the best groups take part
 *   chosen  = the n_used experts of the largest rank
 *   weights = p[chosen], then softmax, division by the sum, and scale, where the layer has them
 *
 * One thread computes a row, with kernels that give the same bits on every instruction set (law L1).
 *
 * A group's rank is the sum of the two largest ranks of its experts (Liu et al., arXiv 2412.19437, section 2.1.2).
 */
#include "model/router.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Weights are divided by their sum, but not by less than this, the smallest normal f16. */
static const float least_sum = 0x1p-14f;

static float largest_of(const float *x, int64_t n)
{
    float most = x[0];
    for (int64_t i = 1; i < n; i++)
        if (x[i] > most) most = x[i];
    return most;
}

static void softmax(const vouch_kernels *kernels, float *x, float *room, int64_t n)
{
    const float sum = (float)kernels->exp_weights(room, x, n, largest_of(x, n), 1.0f);
    for (int64_t i = 0; i < n; i++) x[i] = room[i] / sum;
}

static void sigmoid(const vouch_kernels *kernels, float *x, float *room, int64_t n)
{
    kernels->exp_weights(room, x, n, 0.0f, -1.0f);
    for (int64_t i = 0; i < n; i++) x[i] = 1.0f / (1.0f + room[i]);
}

float vouch_router_sigmoid(const vouch_kernels *kernels, float x)
{
    float room;
    sigmoid(kernels, &x, &room, 1);
    return x;
}

/* Index of the largest of x [n] whose `taken` is false; of equals the first. At least one is not taken. */
static int32_t find_best(const float *x, const bool *taken, int32_t n)
{
    int32_t best = -1;
    for (int32_t i = 0; i < n; i++)
        if (!taken[i] && (best < 0 || x[i] > x[best])) best = i;
    return best;
}

/* A group's score: the sum of its two highest expert scores. */
static float group_rank(const float *rank, int32_t n)
{
    float first = -INFINITY, second = -INFINITY;
    for (int32_t i = 0; i < n; i++) {
        if (rank[i] > first) {
            second = first;
            first = rank[i];
        } else if (rank[i] > second) {
            second = rank[i];
        }
    }
    return n == 1 ? first : first + second;
}

/* Drops the experts outside the best groups. */
static void keep_groups(const vouch_experts *e, const float *rank, bool *taken)
{
    const int32_t width = e->n_experts / e->n_groups;
    float ranks[VOUCH_MAX_EXPERTS];
    bool is_kept[VOUCH_MAX_EXPERTS] = {false};
    for (int32_t g = 0; g < e->n_groups; g++) ranks[g] = group_rank(rank + g * width, width);
    for (int32_t i = 0; i < e->n_groups_used; i++) is_kept[find_best(ranks, is_kept, e->n_groups)] = true;
    for (int32_t i = 0; i < e->n_experts; i++) taken[i] = !is_kept[i / width];
}

void vouch_router_choose(const vouch_experts *e, const vouch_kernels *kernels, float *scores, float *room,
                         int32_t *chosen, float *weights)
{
    bool taken[VOUCH_MAX_EXPERTS] = {false};
    for (int32_t i = 0; e->router_bias && i < e->n_experts; i++) scores[i] += e->router_bias[i];
    if (e->gating == VOUCH_GATING_SOFTMAX) softmax(kernels, scores, room, e->n_experts);
    if (e->gating == VOUCH_GATING_SIGMOID) sigmoid(kernels, scores, room, e->n_experts);
    for (int32_t i = 0; i < e->n_experts; i++) room[i] = scores[i] + (e->selection_bias ? e->selection_bias[i] : 0.0f);
    if (e->n_groups > 1) keep_groups(e, room, taken);
    for (int32_t i = 0; i < e->n_used; i++) {
        chosen[i] = find_best(room, taken, e->n_experts);
        taken[chosen[i]] = true;
        weights[i] = scores[chosen[i]];
    }
    if (e->gating == VOUCH_GATING_CHOSEN) softmax(kernels, weights, room, e->n_used);
    float sum = 0;
    for (int32_t i = 0; i < e->n_used; i++) sum += weights[i];
    for (int32_t i = 0; i < e->n_used; i++) {
        if (e->normalised) weights[i] /= sum > least_sum ? sum : least_sum;
        weights[i] *= e->scale;
    }
}
