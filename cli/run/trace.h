/* SPDX-License-Identifier: MIT */
/*
 * The trace of a cycle: each guess with its q and p, the acceptance probability alpha = min(1, p / (l q)) (vouch_guess
 * explains other rules), the random number u and the verdict; then the token that follows the accepted guesses.
 *
 *   cycle 3 at 41: 4 drafted, 2 accepted
 *     token             q         p     alpha         u  verdict
 *     " Paris"     0.9000    0.9500    1.0000    0.3000  accepted
 *     "."          0.7000    0.6000    0.8571    0.4000  accepted
 *     " It"        0.5000    0.2000    0.4000    0.7000  rejected
 *     " is"        0.3000         -         -         -  not reached
 *     " The"                                             replaces the rejected guess
 */
#ifndef VOUCH_CLI_TRACE_H
#define VOUCH_CLI_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "vouch.h"

/* `position`: of the step's first token in the sequence. `number`: of the cycle, from 1. */
void cli_trace_print(FILE *stream, bool color, const vouch_model *model, int64_t number, size_t position,
                     const vouch_step *step);
/* {"position", "accept", "lenience", "guesses": [{"token", "text", "q", "p", "accept", "u", "verdict"}], "final":
 * {"token", "text", "origin"}}; a new reference, or NULL: not enough memory. A token that is not well-formed UTF-8 also
 * has "bytes", in hexadecimal. p, accept and u are null for a guess that the judge did not reach; u is null, too, under
 * a rule that draws no u. */
json_t *cli_trace_json(const vouch_model *model, size_t position, const vouch_step *step);

#endif
