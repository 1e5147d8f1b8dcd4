/* SPDX-License-Identifier: MIT */
/*
 * Generated text, coloured by the origin of its tokens:
 *
 *   green    an accepted guess
 *   yellow   the token that replaces a rejected guess
 *   cyan     the bonus token, after a draft that was accepted to its end
 *   plain    a token of a cycle without a draft
 *
 * A session holds text back when it ends in half a character or in the possible beginning of a stop text. So the
 * bytes of each token wait in a queue with their colour, and text takes its bytes from the queue when it is shown.
 */
#ifndef VOUCH_CLI_PAINT_H
#define VOUCH_CLI_PAINT_H

#include <stdbool.h>
#include <stdio.h>

#include "vouch.h"

typedef struct cli_paint {
    char *bytes;  /* [n] bytes of tokens whose text was not shown yet */
    char *colors; /* [n] */
    size_t n, capacity;
    char *out; /* [n_out] the latest text with colours */
    size_t n_out, out_capacity;
} cli_paint;

/* Returns the step's text with colours: *n_out bytes, owned by `paint` and valid until its next call. NULL: not enough
 * memory. */
const char *cli_paint_step(cli_paint *paint, const vouch_model *model, const vouch_step *step, size_t *n_out);
/* Prints one line that names the colours, in colour where `color` is true. */
void cli_paint_legend(FILE *stream, bool color);
void cli_paint_free(cli_paint *paint);

#endif
