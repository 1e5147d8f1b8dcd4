/* SPDX-License-Identifier: MIT */
/*
 * Expected acceptance, from p and q at every token of some texts. At token t, given the text before it:
 *
 *   sampled(t)   sum over x of min(p(x), q(x)): probability that a guess drawn from q is accepted
 *   greedy(t)    p(argmax q): the same for a guess by argmax
 *   entropy(t)   entropy in bits of the target's own distribution, softmax(logits)
 *
 * p and q are processed by the sampling parameters. The entropy is not: under temperature 0, p is a point mass whose
 * entropy is 0 everywhere and would say nothing about the text.
 *
 * A cycle that begins at t has n guesses accepted with probability
 * sampled(t) ... sampled(t + n - 1) (1 - sampled(t + n)), and the next cycle begins at t + n + 1. Carrying these
 * probabilities through a whole text gives the expected number of cycles for each k. It is exact as far as a guess
 * depends only on the text before it. A larger k never needs more cycles: from an earlier or equal start, a cycle with
 * k + 1 guesses ends where the one with k guesses ends, or later.
 */
#ifndef VOUCH_CLI_ACCEPTANCE_H
#define VOUCH_CLI_ACCEPTANCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_acceptance {
    double sampled, greedy, entropy;
    int same_argmax; /* 1: p and q have the same likeliest token */
} cli_acceptance;

/* p and q [n] are probabilities, up to rounding; logits [n] are the target's. */
cli_acceptance cli_acceptance_of(const float *p, const float *q, const float *logits, int32_t n);

/* Expected cycles for a text of n tokens with drafts of k guesses; the text's end cuts the last draft. room [n + 1]:
 * workspace. */
double cli_expected_cycles(const cli_acceptance *at, int32_t n, int32_t k, double *room);
/* For the guess at a draft position (0: the first), sums over all tokens at which the draft could begin:
 *   reached += probability that all guesses before it are accepted
 *   accepted += probability that it is accepted as well
 * accepted / reached is its acceptance rate, given that it is judged. */
void cli_draft_position_acceptance(const cli_acceptance *at, int32_t n, int32_t position, double *reached,
                                   double *accepted);

#endif
