/* SPDX-License-Identifier: MIT */
/*
 * The price of guesses: what a pass costs, and what it is worth.
 *
 * The cost curve t(n) has the seconds of a pass of n rows, on this machine at this moment.
 *
 * A pass reads weights and computes with each row. Both go on at the same time (the roofline model), so the
 * pass takes the longer of the two. Where the two are nearly equal the corner is round:
 *
 *     t(n) = s r(n),    r(n) = cbrt((reads(n)^3 + (c w(n))^3) / (1 + (c w(1))^3))    r(1) = reads(1) = 1
 *
 *   s         seconds of a pass of one row
 *   c         seconds of one row's arithmetic / seconds of reading the weights for one row
 *   w(n)      n, and the unpacking of weights. Up to group_rows rows share it; each further group of rows unpacks
 *             again, which takes as long as the arithmetic of three rows. So t(17) is 1.3 t(16) where groups have 16.
 *   reads(n)  weights that n rows read, relative to one row. A dense model reads all of them for any n: 1. A mixture
 *             of experts reads more experts for more rows.
 *
 * For a dense model with c = 0.15, r(5) is 1.12 and r(8) is 1.40. With c = 0.3 they are 1.62 and 2.43.
 *
 * A Kalman filter estimates log s and log c from every pass: s moves as the context grows and as other programs come
 * and go, c hardly moves. So passes of one size tell about passes of another, and an odd measurement does little harm.
 *
 * A pass is worth the tokens that it is expected to give, for each unit of its cost:
 *
 *     worth = (tokens of the other sequences + tokens of this one) / cost
 *
 * The sequence itself gives 1 and the sum of its guesses' chances. For example, with t(5) = 1.12 t(1), four guesses of
 * the chances 0.8, 0.6, 0.4 and 0.3 make 3.1 tokens in 1.12 plain passes: 2.77 times plain decoding. A fifth guess pays
 * if its chance exceeds 2.77 (t(6) - t(5)) / t(1). Composition, trees, pace and admission all decide by this number.
 */
#ifndef VOUCH_BASE_COST_H
#define VOUCH_BASE_COST_H

#include <stdint.h>

/* Most rows of a pass that the curve describes. */
enum { VOUCH_COST_ROWS = 320 };

typedef struct vouch_cost {
    double reads[VOUCH_COST_ROWS + 1]; /* reads[n] for n rows; [1] is 1 */
    int32_t group_rows;                /* most rows that share the unpacking; 0: unpacking takes no time */
    double log_s, log_c;               /* estimates of ln s, s in seconds, and of ln c */
    double var_s, var_c, cov;          /* variances and covariance of their errors */
    int32_t n_passes;                  /* passes learned from */
    int32_t most_rows;                 /* rows of the largest of these passes */
} vouch_cost;

/* r(n) of a typical dense model, for drafts that no measurement limits. */
double vouch_cost_default(int32_t n_rows);
/* reads: [VOUCH_COST_ROWS + 1], never falling, reads[1] = 1; copied. NULL: a dense model. */
void vouch_cost_init(vouch_cost *cost, const double *reads, int32_t group_rows);
/* Learns from a pass of n_rows (1 to VOUCH_COST_ROWS). A time of 0 or less teaches nothing. */
void vouch_cost_learn(vouch_cost *cost, int32_t n_rows, double seconds);
/* r(n), n_rows from 1 to VOUCH_COST_ROWS. */
double vouch_cost_of(const vouch_cost *cost, int32_t n_rows);
/* s; 0 before the first pass. */
double vouch_cost_seconds(const vouch_cost *cost);

/* Tokens per unit of cost. `others`: tokens of the other sequences that share the pass; 0: the sequence is alone. */
static inline double vouch_worth(double others, double tokens, double cost)
{
    return (others + tokens) / cost;
}

/* What a sequence pays for the rows of a draft. */
typedef struct vouch_price {
    const double *cost; /* [n + 2] of a pass with so many rows of this sequence, relative to cost[1]; NULL: guesses are
                           free, and a draft is as large as its limits allow */
    double others;      /* tokens that the other sequences of the pass expect; 0: the sequence is alone */
} vouch_price;

/* The worth of a cycle with n guesses that expects so many tokens. price->cost is given. */
static inline double vouch_price_worth(const vouch_price *price, double tokens, int32_t n)
{
    return vouch_worth(price->others, tokens, price->cost[n + 1]);
}

#endif
