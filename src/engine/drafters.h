/* SPDX-License-Identifier: MIT */
/*
 * The drafter of a session, put together from what its options name:
 *
 *     pace ─┬─ composition ── n-gram, suffix, recycle, prediction, history
 *           └─ draft model, or the caller's own
 *
 * Where it is said how much to draft, pace joins the two and decides nothing, and one of them is there without it. A
 * draft model's tree that is paced has a composition without sources, which cuts it where it wasn't drawn.
 */
#ifndef VOUCH_ENGINE_DRAFTERS_H
#define VOUCH_ENGINE_DRAFTERS_H

#include "draft/source.h"
#include "engine/model.h"

/* With options that are resolved; the draft model makes at most `branches` guesses for one place. Errors: ARGUMENT,
 * MEMORY, MISMATCH (draft model), UNSUPPORTED (kv_type); on failure *out has no ops. */
vouch_status vouch_drafters_open(vouch_drafter_ref *out, const vouch_model *model,
                                 const vouch_session_options *options, bool is_paced, int32_t branches,
                                 vouch_pool *pool, vouch_error *err);
/* The source with this bit; ops NULL: none. */
vouch_source vouch_drafters_source(vouch_drafter_ref drafter, unsigned bit);
/* "ngram,recycle" */
void vouch_drafters_name(unsigned drafters, char *out, size_t size);

#endif
