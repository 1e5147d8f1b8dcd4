/* SPDX-License-Identifier: MIT */
/*
 * From logits to a distribution, and from a distribution to a token.
 *
 * The same function, vouch_dist_from_logits, makes p and q: the rejection rule is exact only if q is the distribution
 * that the guess was drawn from, with the sampling parameters of p.
 *
 * A distribution holds weights instead of probabilities: P(x) = weight[x] / total. The division happens in double
 * precision where a probability is needed. So nothing is normalised twice, and probabilities sum to 1 within the
 * rounding of a double although weights are floats.
 */
#ifndef VOUCH_SAMPLE_SAMPLE_H
#define VOUCH_SAMPLE_SAMPLE_H

#include "base/memory.h"
#include "base/philox.h"
#include "kernels/kernels.h"
#include "text/tokenizer.h"

typedef struct vouch_dist {
    int32_t n_vocab;
    int32_t n_support; /* ids in the support; n_vocab if dense */
    bool dense;        /* every id may have a weight; `support` is not used */
    double total;      /* sum of weights, > 0 */
    float *weight;     /* [n_vocab], 0 outside the support */
    int32_t *support;  /* [n_vocab]; the first n_support elements are ids in ascending order */
} vouch_dist;

/* Long sums have so many lanes, which the compiler turns into vectors, and this order at the end (law L1). */
enum { VOUCH_LANES = 8 };

static inline double vouch_lanes_sum(const double lane[VOUCH_LANES])
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Takes the arrays from the arena. */
void vouch_dist_layout(vouch_dist *dist, int32_t n_vocab, vouch_arena *arena);
/* Puts all mass on one token. */
void vouch_dist_set_point(vouch_dist *dist, int32_t token);
/* Sums the weights. */
double vouch_dist_sum(const vouch_dist *dist);

static inline double vouch_dist_p(const vouch_dist *dist, int32_t token)
{
    return (double)dist->weight[token] / dist->total;
}

/* The sequence breakers of DRY, and what each token has to do with them. */
typedef struct vouch_breakers {
    const vouch_tokenizer *tokenizer;
    size_t n;          /* 0: there are none */
    vouch_text *texts; /* [n] */
    uint64_t *whole;   /* [n_vocab bits] tokens that contain a breaker */
    uint64_t *end;     /* [n_vocab bits] tokens that begin with the end of a breaker, whose beginning is before them */
} vouch_breakers;

/* Takes the arrays from the arena and copies the texts there. Without DRY it takes nothing. A tokenizer may be NULL if
 * there are no breakers. The caller has checked params. */
void vouch_breakers_layout(vouch_breakers *breakers, const vouch_sampling *params, const vouch_tokenizer *tokenizer,
                           int32_t n_vocab, vouch_arena *arena);

/* The checked sampling parameters of a session, and scratch memory for applying them. */
typedef struct vouch_sampler {
    vouch_sampling params; /* bias copied; of the breakers only the number */
    int32_t n_vocab;
    const vouch_kernels *kernels;
    const vouch_breakers *breakers; /* of DRY; NULL: none. Set after layout */
    const uint64_t *allowed;        /* [n_vocab bits] tokens that the grammar allows; NULL: all. Set before each call */
    const int32_t *banned;          /* [n_banned] tokens that this position must not be. Set before each call */
    int32_t n_banned;
    bool xtc_applies;                /* to this position (vouch_xtc_applies). Set before each call */
    int32_t *count;                  /* [n_vocab], all zero between calls */
    int32_t *repeats;                /* [dry_penalty_last_n, at most n_ctx] */
    float *logits;                   /* [n_vocab], with bias, penalties, DRY and top-n-sigma */
    struct vouch_ranked *candidates; /* [n_vocab] */
    struct vouch_bucket *buckets;    /* [2048] */
    vouch_logit_bias *bias;          /* [n_bias] */
} vouch_sampler;

/* Error: ARGUMENT; the message names the parameter, its value and its range. */
vouch_status vouch_sampling_check(const vouch_sampling *params, int32_t n_vocab, vouch_error *err);
/* Whether bias, penalties or DRY change the logits of some tokens. */
bool vouch_sampling_changes_logits(const vouch_sampling *params);
/* Whether a token other than the likeliest may become the likeliest after temperature. */
bool vouch_sampling_drops_top(const vouch_sampling *params);
/* How many of the last tokens penalties and DRY look at. */
int32_t vouch_sampling_window(const vouch_sampling *params);
/* XTC's draw at a position, the same for p and q. */
bool vouch_xtc_applies(const vouch_sampling *params, uint64_t seed, int64_t position);
/* Takes scratch memory from the arena and copies params there. No history is longer than n_ctx. The caller has checked
 * params. */
void vouch_sampler_layout(vouch_sampler *sampler, const vouch_sampling *params, int32_t n_vocab, int32_t n_ctx,
                          const vouch_kernels *kernels, vouch_arena *arena);

/* Makes the distribution of one position from logits [n_vocab], which it doesn't change. `history` holds the tokens
 * before this position, at least the last vouch_sampling_window of them. Error: NUMERIC, if no logit is finite, or if
 * one is NaN or +infinity. */
vouch_status vouch_dist_from_logits(vouch_dist *out, vouch_sampler *sampler, const float *logits,
                                    const int32_t *history, size_t n_history);

/* DRY (dry.c): lowers the logits of tokens that would continue a repetition. */
void vouch_dry(vouch_sampler *sampler, float *logits, const int32_t *history, size_t n_history);

/* The inverse of the cumulative distribution, over ascending ids, at u in [0, 1). Never returns a token without
 * weight. */
int32_t vouch_dist_draw(const vouch_dist *dist, double u);

enum { VOUCH_RANKS = 64 };

/* A token chosen from n independent draws from q: one of the highest rank, and of several the one that was drawn first.
 * The rank of a token is its p / q in quarters of an octave, from 2^-8 to 2^8. With the probabilities B that a draw has
 * a lower rank and U that it has no higher one, the chosen token has rank r with probability U^n - B^n and is then as
 * likely as a draw of this rank. So it is x with probability
 *
 *     q(x) factor[rank of x],   factor = (U^n - B^n) / (U - B) = the sum over i < n of U^i B^(n-1-i) */
typedef struct vouch_choice {
    int32_t n;
    float scale; /* p(x) / q(x) = scale * weight in p / weight in q */
    double factor[VOUCH_RANKS];
} vouch_choice;

void vouch_choice_begin(vouch_choice *choice, const vouch_dist *p, const vouch_dist *q, int32_t n);
/* The rank of a token with these weights. */
int32_t vouch_choice_rank(const vouch_choice *choice, float p, float q);

/* The residual of p while the judge rejects guesses for one position, one after the other (Leviathan et al.; without
 * replacement: Jeon et al., arXiv 2402.14160). The first guess was drawn from q, each further guess from q without the
 * earlier guesses. q = NULL: each guess was a point mass. A rejection turns the residual r into
 *
 *     norm(max(0, r - lenience q_i)),   q_i = norm(q without the earlier guesses), or the guess's point mass
 *
 * A guess that was chosen from several draws has the probabilities of that choice in place of q.
 *
 * The functions compute each mass in double precision from the weights of p and q on demand and copy nothing. */
typedef struct vouch_residual {
    const vouch_dist *p, *q;
    const vouch_choice *choice; /* the only guess was chosen from several draws; NULL: the guesses were drawn from q */
    double lenience;            /* of the next rejection */
    int32_t n;                  /* rejected guesses; 0: the residual is p */
    int32_t rejected[VOUCH_MAX_DRAFT];
    double a[VOUCH_MAX_DRAFT], b[VOUCH_MAX_DRAFT]; /* rejection i: mass = max(0, a[i] mass - b[i] weight in q) */
    double total;                                  /* remaining mass; 0 if rounding leaves none */
    double q_total;                                /* weight of q without the rejected guesses */
} vouch_residual;

void vouch_residual_begin(vouch_residual *r, const vouch_dist *p, const vouch_dist *q, double lenience);
/* The token's probability in the residual of p. */
double vouch_residual_p(const vouch_residual *r, int32_t token);
/* The token's probability in q without the rejected guesses; 1 if q is NULL. */
double vouch_residual_q(const vouch_residual *r, int32_t token);
void vouch_residual_reject(vouch_residual *r, int32_t guess);
/* As vouch_dist_draw. Draws from p if no mass remains. */
int32_t vouch_residual_draw(const vouch_residual *r, double u);
/* A token's unnormalised probability; masses of the same r are comparable. */
double vouch_residual_mass(const vouch_residual *r, int32_t token);

/* Draws a token from the residual with the random numbers of a position:
 *   position  uses the number that draws the emitted token;
 *   guess     uses a separate random number for each `number`. Deeper guesses of a draft pass larger `number`s. So a
 *             position that is drafted again, now at a smaller depth, gets a fresh random number;
 *   race      uses one number for each token of the vocabulary, the same for p and q. */
typedef int32_t vouch_draw_fn(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number);
vouch_draw_fn vouch_draw_position, vouch_draw_guess, vouch_draw_race;

/* Fills out[0] with the token, and out[1, n_top] with the n_top likeliest ids of the row, the likeliest first; of equal
 * ones the lower id. n_vocab ids at most: the rest is {-1, -inf}. */
void vouch_logprobs_of_row(const float *logits, int32_t n_vocab, int32_t token, int32_t n_top, vouch_logprob *out);

enum { VOUCH_MAX_TOP = 8, VOUCH_MAX_FOUND = 256 };
/* Finds the n <= VOUCH_MAX_FOUND largest elements of x [n_x], in descending order; which of several equal elements it
 * finds is fixed but not specified. Returns how many it found: fewer than n if x contains NaN or infinities. */
int32_t vouch_find_top(const vouch_kernels *kernels, const float *x, int32_t n_x, int32_t n, int32_t *index,
                       float *value);

/* The acceptance probability of a guess drawn from q: the sum over x of min(p(x), q(x)). q = NULL: p(guess). */
double vouch_dist_overlap(const vouch_dist *p, const vouch_dist *q, int32_t guess);

#endif
