/* SPDX-License-Identifier: MIT */
/*
 * A cycle made visible: what was drafted, with which q and p, the acceptance probability
 * alpha = min(1, p / (l q)) (other rules: vouch_guess), the coin u, the verdict, and the token that follows the
 * accepted ones.
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

/* `position` is that of the step's first token in the sequence, `number` counts cycles from 1. */
void cli_trace_print(FILE *stream, bool color, const vouch_model *model, int64_t number, size_t position,
                     const vouch_step *step);
/* {"position", "accept", "lenience", "guesses": [{"token", "text", "q", "p", "accept", "u", "verdict"}], "final":
 * {"token", "text", "origin"}}; a new reference, or NULL when memory is short. A token that is no well-formed text
 * by itself has "bytes", in hexadecimal, too; p, accept and u are null where not reached, u also where the rule
 * draws none. */
json_t *cli_trace_json(const vouch_model *model, size_t position, const vouch_step *step);

#endif
