/* SPDX-License-Identifier: MIT */
/*
 * From logits to a distribution, and from a distribution to a token.
 *
 * There is one function, vouch_dist_from_logits, and both p and q go through it: the rejection rule
 * is exact only where q is what the guess was really drawn from, processed like p.
 *
 * A distribution is a set of weights, not of probabilities: P(x) = weight[x] / total, divided in
 * double where it is used. So nothing is normalised twice, and the sum is 1 to the last bits of a
 * double although weights are floats.
 */
#ifndef VOUCH_SAMPLE_SAMPLE_H
#define VOUCH_SAMPLE_SAMPLE_H

#include "base/memory.h"
#include "base/philox.h"
#include "kernels/kernels.h"

typedef struct vouch_dist {
    int32_t n_vocab;
    int32_t n_support; /* ids with a weight; n_vocab when `support` is not used */
    bool dense;        /* every id may have a weight; `support` is meaningless */
    double total;      /* sum of weights, > 0 */
    float *weight;     /* [n_vocab], 0 outside the support */
    int32_t *support;  /* [n_vocab] room; the first n_support are ids, in ascending order */
} vouch_dist;

/* Takes the arrays from the arena. */
void vouch_dist_layout(vouch_dist *dist, int32_t n_vocab, vouch_arena *arena);
/* All mass on one token. */
void vouch_dist_set_point(vouch_dist *dist, int32_t token);

static inline double vouch_dist_p(const vouch_dist *dist, int32_t token)
{
    return (double)dist->weight[token] / dist->total;
}

/* The validated parameters of a session and the scratch memory of the processors. */
typedef struct vouch_sampler {
    vouch_sampling params; /* bias copied */
    int32_t n_vocab;
    const vouch_kernels *kernels;
    int32_t *count;            /* [n_vocab], all zero between calls */
    struct vouch_candidate *candidates; /* [n_vocab] */
    struct vouch_bucket *buckets;       /* [2048] */
    vouch_logit_bias *bias;    /* [n_bias] */
} vouch_sampler;

/* ARGUMENT names the parameter, its value and its range. */
vouch_status vouch_sampling_check(const vouch_sampling *params, int32_t n_vocab, vouch_error *err);
/* Takes scratch and copies from the arena; params must have been checked. */
void vouch_sampler_layout(vouch_sampler *sampler, const vouch_sampling *params, int32_t n_vocab,
                          const vouch_kernels *kernels, vouch_arena *arena);

/* logits [n_vocab] are changed in place; `history` are the tokens before this position, of which the
 * last penalty_window count. NUMERIC where no logit is finite, or one is NaN or +infinity. */
vouch_status vouch_dist_from_logits(vouch_dist *out, vouch_sampler *sampler, float *logits,
                                    const int32_t *history, size_t n_history);

/* The token at u in [0, 1) of the cumulated weights, in ascending order of ids. Never one without
 * weight. */
int32_t vouch_dist_draw(const vouch_dist *dist, double u);
/* The same from norm(max(0, p - lenience q)); q NULL: a point mass on `guess`. Falls back to p where
 * the residual is all zero. */
int32_t vouch_dist_draw_residual(const vouch_dist *p, const vouch_dist *q, int32_t guess,
                                 double lenience, double u);
/* sum over x of min(p(x), q(x)); q NULL: p(guess). */
double vouch_dist_overlap(const vouch_dist *p, const vouch_dist *q, int32_t guess);

#endif
