/* SPDX-License-Identifier: MIT */
/* The drafter that is made of sources, none to VOUCH_MAX_SOURCES: their candidates, and what another drafter guesses,
 * grow into one tree, the best first. */
#ifndef VOUCH_DRAFT_COMPOSE_H
#define VOUCH_DRAFT_COMPOSE_H

#include "base/status.h"
#include "draft/guide.h"

/* Takes the sources over: it closes them, on failure, too. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_drafter_compose_open(vouch_drafter_ref *out, const vouch_source *sources, int32_t n_sources,
                                        vouch_error *err);
/* The source with this bit; ops NULL: none. */
vouch_source vouch_drafter_compose_source(vouch_drafter_ref drafter, unsigned bit);

#endif
