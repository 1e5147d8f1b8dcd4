/* SPDX-License-Identifier: MIT */
/* Suffix decoding (Oliaro et al., arXiv 2411.04975): the likeliest continuations of the longest repeated suffix. */
#ifndef VOUCH_DRAFT_SUFFIX_H
#define VOUCH_DRAFT_SUFFIX_H

#include "base/status.h"
#include "draft/source.h"

enum { VOUCH_SUFFIX_KINDS = 42 };

/* Learns from the sequence, of at most n_ctx tokens. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_suffix_open(vouch_source *out, int32_t n_ctx, vouch_error *err);

/* The class of a candidate, also of a source that copies from other texts (history.h). Its suffix has 1, 2, 3, 4, 5 to
 * 6, 7 to 9, or 10 and more tokens. The token followed the suffix the only time it occurred, nearly always, mostly,
 * often or rarely (count times of total); or a longer suffix had other candidates. */
int32_t vouch_suffix_kind(int32_t length, int32_t count, int32_t total, bool is_longest);
/* How often candidates of a class are right, counted on 8,000 greedy tokens of SmolLM2-135M. */
double vouch_suffix_prior(int32_t kind);

#endif
