/* SPDX-License-Identifier: MIT */
/*
 * The slots of a model, as many as it has sessions. A slot remembers the tokens of the last answer in it, so that the
 * pages of a conversation can be named when nothing runs, and saved (server/api/slots.h). It owns no pages: these
 * belong to all slots, and a prompt finds what is there of its beginning whatever its slot.
 *
 * They are the worker's thread's.
 */
#ifndef VOUCH_SERVER_SLOTS_H
#define VOUCH_SERVER_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vouch.h"

typedef struct server_slot_state {
    int32_t *tokens; /* [n] room for `most` */
    size_t n, most;
    uint64_t scope;
    float scales[VOUCH_MOST_LORAS]; /* [n_scales] */
    int32_t n_scales;
    bool is_cut;         /* memory was short: the tokens that follow are not there */
    atomic_bool is_busy; /* other threads may read it */
    int64_t used;        /* the later, the larger */
} server_slot_state;

typedef struct server_slots {
    server_slot_state *all; /* [n] */
    int32_t n;
    int64_t clock;
} server_slots;

bool server_slots_open(server_slots *slots, int32_t n);
void server_slots_close(server_slots *slots);

/* The slot of a prompt that begins now: `wanted`, if it is free; that of a conversation which it goes on with; the one
 * that was used least recently. There is one, since there are as many as sessions. It is busy until it is ended. */
int32_t server_slots_take(server_slots *slots, int32_t wanted, const vouch_session_options *options,
                          const int32_t *tokens, size_t n_tokens);
void server_slots_set(server_slots *slots, int32_t slot, const vouch_session_options *options, const int32_t *tokens,
                      size_t n_tokens);
/* The tokens that follow. */
void server_slots_add(server_slots *slots, int32_t slot, const int32_t *tokens, size_t n_tokens);
void server_slots_end(server_slots *slots, int32_t slot);

#endif
