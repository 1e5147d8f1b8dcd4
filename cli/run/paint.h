/* SPDX-License-Identifier: MIT */
/*
 * Generated text in colours by origin: accepted guesses green, the replacement of a rejected one yellow,
 * the bonus token cyan, plain tokens as they are.
 *
 * Text may leave later than its token (half a character, a possible beginning of a stop text), so the
 * bytes of each token wait in a queue with their colour, and text that leaves takes its bytes from it.
 */
#ifndef VOUCH_CLI_PAINT_H
#define VOUCH_CLI_PAINT_H

#include <stdbool.h>

#include "vouch.h"

typedef struct cli_paint {
    char *bytes;  /* [n] of tokens whose text has not left */
    char *colors; /* [n] */
    size_t n, capacity;
    char *out; /* the latest text with colours */
    size_t n_out, out_capacity;
} cli_paint;

/* The step's text in colours: *n_out bytes of the painter's, valid until its next call; NULL when memory
 * is short. */
const char *cli_paint_step(cli_paint *paint, const vouch_model *model, const vouch_step *step, size_t *n_out);
void cli_paint_free(cli_paint *paint);

#endif
