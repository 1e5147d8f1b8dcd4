/* SPDX-License-Identifier: MIT */
/*
 * Acceptance, from p and q of every token of some texts. At token t, whatever stands before it,
 *
 *   r(t)   = sum over x of min(p(x), q(x)) = 1 - |p - q| / 2: the chance that a guess drawn from q holds
 *   a(t)   = p(the likeliest of q): the same of a guess by argmax
 *   H(t)   = the entropy of p, in bits
 *
 * A cycle that begins at t has n guesses accepted with the chance r(t) ... r(t + n - 1) (1 - r(t + n)), and the next
 * one begins at t + n + 1. Walking all chances through a text gives the number of cycles that it takes for each k,
 * exactly so far as guesses are made behind the text's own tokens.
 */
#ifndef VOUCH_CLI_ACCEPTANCE_H
#define VOUCH_CLI_ACCEPTANCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_acceptance {
    double r, a, entropy;
    int agree; /* the likeliest of both is the same */
} cli_acceptance;

/* p, q [n]: probabilities, or nearly. */
cli_acceptance cli_acceptance_of(const float *p, const float *q, int32_t n);

/* The cycles with drafts of k that begin while k tokens or more are left of a text of n, and the tokens that these
 * cycles make. Both 0 where the text is too short. room [n + 1]. */
double cli_expected_cycles(const cli_acceptance *at, int32_t n, int32_t k, double *room, double *tokens);
/* Adds up, over the tokens at which a draft can begin, the chances that the guesses before this place (0: the first)
 * hold, and that its own does, too: held / reached is its chance where those before it have. */
void cli_place_acceptance(const cli_acceptance *at, int32_t n, int32_t place, double *reached, double *held);

#endif
