/* SPDX-License-Identifier: MIT */
/*
 * Opens the drafters that a session's options name (draft/drafters.h): the free ones in a composition, and the draft
 * model or the caller's own. A draft model whose trees pace limits has a composition without sources, which leaves out
 * guesses that weren't drawn and don't pay.
 */
#ifndef VOUCH_ENGINE_DRAFTERS_H
#define VOUCH_ENGINE_DRAFTERS_H

#include "draft/drafters.h"
#include "draft/source.h"
#include "engine/model.h"

/* The options are resolved. The draft model makes at most `branches` guesses with one parent. Errors: ARGUMENT, MEMORY,
 * MISMATCH (draft model), UNSUPPORTED (kv_type); on failure *out is empty. */
vouch_status vouch_drafters_open(vouch_drafters *out, const vouch_model *model,
                                 const vouch_session_options *options, bool is_paced, int32_t branches,
                                 vouch_pool *pool, vouch_error *err);
/* The source with this bit; ops NULL: none. */
vouch_source vouch_drafters_source(const vouch_drafters *drafters, unsigned bit);
/* "ngram,recycle" */
void vouch_drafters_name(unsigned drafters, char *out, size_t size);

#endif
