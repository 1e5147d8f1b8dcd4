/* SPDX-License-Identifier: MIT */
/* A drafter composed of up to VOUCH_MAX_SOURCES sources. It grows one tree from their candidates and from the guesses
 * of a guide (guide.h), the likeliest first. */
#ifndef VOUCH_DRAFT_COMPOSE_H
#define VOUCH_DRAFT_COMPOSE_H

#include "base/status.h"
#include "draft/guide.h"
#include "text/grammar/constraint.h"

/* The drafter owns the sources and closes them; a failed call closes them as well. Errors: MEMORY; on failure *out has
 * no ops. */
vouch_status vouch_drafter_compose_open(vouch_drafter_ref *out, const vouch_source *sources, int32_t n_sources,
                                        vouch_error *err);
/* From now on the sources name no token that the grammar forbids. The constraint must outlive the drafter. */
void vouch_drafter_compose_bind(vouch_drafter_ref drafter, vouch_constraint *constraint);
/* The source with this bit; ops NULL: none. */
vouch_source vouch_drafter_compose_source(vouch_drafter_ref drafter, unsigned bit);

#endif
