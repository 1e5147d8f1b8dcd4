/* SPDX-License-Identifier: MIT */
/* The source `history` copies from earlier answers (answers.h). */
#ifndef VOUCH_DRAFT_HISTORY_H
#define VOUCH_DRAFT_HISTORY_H

#include "draft/free/answers.h"
#include "draft/source.h"

/* Copies from the answers of a scope. The answers outlive the source. Errors: MEMORY; on failure *out has no ops. */
vouch_status vouch_source_history_open(vouch_source *out, vouch_answers *answers, uint64_t scope, vouch_error *err);

#endif
