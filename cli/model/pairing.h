/* SPDX-License-Identifier: MIT */
/*
 * The drafter that belongs to a model, where the command line names none. In this order:
 *
 *   1  layers of multi-token prediction in the model's own file
 *   2  a file beside it that drafts for it: mtp-*, EAGLE-3, DFlash, DSpark, an assistant, a head of `vouch distill`;
 *      and a table of next tokens, beside any other
 *   3  a small model on this machine (hub/fetch.h) with the same tokens and at most a fifth of the bytes of a pass;
 *      of the same architecture if there is one, of several the largest
 *
 * What is taken fits into half of the memory that is available. A note says what was taken, and why something near was
 * left. The text stays what it is without a drafter, also that of a seed: the rule is the one that plain decoding has.
 */
#ifndef VOUCH_CLI_PAIRING_H
#define VOUCH_CLI_PAIRING_H

#include "vouch.h"

typedef struct cli_pairs {
    const vouch_model *target;
    vouch_draft_file *files[VOUCH_DRAFTERS]; /* by drafter's number, the caller's; NULL: none was found */
    char *draft, *draft_name;                /* path and name of a draft model, the caller's; likewise */
    bool is_found;                           /* any of these, or layers of the target's own */
} cli_pairs;

/* Looks for what drafts for an open model, which lies at `path`. */
cli_pairs cli_pairs_find(const vouch_model *target, const char *path);

/* The name of the first file beside a model that says that it drafts, the caller's; NULL: there is none. */
char *cli_companion_of(const char *model);

#endif
