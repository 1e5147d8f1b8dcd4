/* SPDX-License-Identifier: MIT */
/* Suffix decoding (Oliaro et al., arXiv 2411.04975): the likeliest continuations of the longest repeated suffix. */
#ifndef VOUCH_DRAFT_SUFFIX_H
#define VOUCH_DRAFT_SUFFIX_H

#include "base/status.h"
#include "draft/source.h"

/* Learns from the sequence, of at most n_ctx tokens. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_suffix_open(vouch_source *out, int32_t n_ctx, vouch_error *err);
/* Learns from earlier answers, of at most `capacity` tokens together. */
vouch_status vouch_source_history_open(vouch_source *out, int32_t capacity, vouch_error *err);
enum { VOUCH_HISTORY_SEPARATOR = -1 }; /* stands after each answer; is no token */
/* Adds an answer: copies it. The tree takes it in when the source next observes a sequence. */
void vouch_source_history_add(vouch_source history, const int32_t *tokens, int32_t n_tokens);
/* The answers, each with a separator after it: [*n_tokens], the source's, valid until it changes. */
const int32_t *vouch_source_history_tokens(vouch_source history, int32_t *n_tokens);

#endif
