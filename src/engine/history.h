/* SPDX-License-Identifier: MIT */
/* Turns the history of answers into bytes that can be kept, and back. */
#ifndef VOUCH_ENGINE_HISTORY_H
#define VOUCH_ENGINE_HISTORY_H

#include "draft/free/suffix.h"
#include "engine/file/model.h"

size_t vouch_history_size(vouch_source history);
/* bytes [vouch_history_size]. */
void vouch_history_write(vouch_source history, const vouch_model *model, unsigned char *bytes);
/* Adds the answers, or the newest of them where there is no room for all. Errors: FORMAT (no history, cut short,
 * damaged, of another version), MISMATCH (another vocabulary), MEMORY; on failure nothing is added. */
vouch_status vouch_history_read(vouch_source history, const vouch_model *model, const unsigned char *bytes,
                                size_t n_bytes, vouch_error *err);

#endif
