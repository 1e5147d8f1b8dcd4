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
    float *logits;             /* [n_vocab], with bias and penalties */
    struct vouch_ranked *candidates; /* [n_vocab] */
    struct vouch_bucket *buckets;       /* [2048] */
    vouch_logit_bias *bias;    /* [n_bias] */
} vouch_sampler;

/* ARGUMENT names the parameter, its value and its range. */
vouch_status vouch_sampling_check(const vouch_sampling *params, int32_t n_vocab, vouch_error *err);
/* Takes scratch and copies from the arena; params must have been checked. */
void vouch_sampler_layout(vouch_sampler *sampler, const vouch_sampling *params, int32_t n_vocab,
                          const vouch_kernels *kernels, vouch_arena *arena);

/* From logits [n_vocab], which stay what they are; `history` are the tokens before this position, of which the
 * last penalty_window count. NUMERIC where no logit is finite, or one is NaN or +infinity. */
vouch_status vouch_dist_from_logits(vouch_dist *out, vouch_sampler *sampler, const float *logits,
                                    const int32_t *history, size_t n_history);

/* The token at u in [0, 1) of the cumulated weights, in ascending order of ids. Never one without
 * weight. */
int32_t vouch_dist_draw(const vouch_dist *dist, double u);

/* What is left of p while guesses for one place are rejected, one after the other (Leviathan et al.; without
 * replacement: Jeon et al., arXiv 2402.14160). The first was drawn from q, each further one from q without those
 * before it; where q is NULL, they were point masses. Before the i-th rejection the remains are r, and after it
 *
 *     norm(max(0, r - lenience q)),   q = norm(q without the guesses before), or the point mass
 *
 * All of it is computed in double from the weights of p and q when it is asked for; nothing is copied. */
typedef struct vouch_residual {
    const vouch_dist *p, *q;
    double lenience;
    int32_t n; /* guesses rejected; 0: this is p */
    int32_t rejected[VOUCH_MAX_DRAFT];
    double a[VOUCH_MAX_DRAFT], b[VOUCH_MAX_DRAFT]; /* i-th rejection: mass = max(0, a mass - b q's weight) */
    double total;   /* mass left; 0: in floating point none is */
    double q_total; /* weight of q without the rejected */
} vouch_residual;

void vouch_residual_begin(vouch_residual *r, const vouch_dist *p, const vouch_dist *q, double lenience);
/* Its probability among what is left of p, and of q (a point mass: 1). */
double vouch_residual_p(const vouch_residual *r, int32_t token);
double vouch_residual_q(const vouch_residual *r, int32_t token);
void vouch_residual_reject(vouch_residual *r, int32_t guess);
/* As vouch_dist_draw. Falls back to p where nothing is left. */
int32_t vouch_residual_draw(const vouch_residual *r, double u);
/* Of a token; comparable within one r. */
double vouch_residual_mass(const vouch_residual *r, int32_t token);

/* A token of what is left, by the random numbers of a position, of which
 *   position  uses the one that a token is emitted by;
 *   guess     uses one of its own for each `number`: those of deeper guesses of a draft are larger, so that a place
 *             that is drafted again, which is less deep then, has another;
 *   race      uses one for each token of the vocabulary, the same for whoever draws at this position. */
typedef int32_t vouch_draw_fn(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number);
vouch_draw_fn vouch_draw_position, vouch_draw_guess, vouch_draw_race;

enum { VOUCH_MAX_TOP = 8 };
/* The n <= VOUCH_MAX_TOP largest of x [n_x], the larger first, of equals some. Returns their number: it may be less
 * where there are NaN or infinities. */
int32_t vouch_find_top(const vouch_kernels *kernels, const float *x, int32_t n_x, int32_t n, int32_t *index,
                       float *value);

/* sum over x of min(p(x), q(x)); q NULL: p(guess). */
double vouch_dist_overlap(const vouch_dist *p, const vouch_dist *q, int32_t guess);

#endif
