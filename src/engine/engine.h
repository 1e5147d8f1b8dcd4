/* SPDX-License-Identifier: MIT */
/*
 * An engine holds the parts that a pass needs, and the sessions that share its passes. A session by itself has an
 * engine of its own and runs its passes (session.c). An engine of many sessions runs one pass for all (schedule.c):
 *
 *   sessions   A  decoding      B  decoding      C  prompt
 *              │ choose         │ choose         │ next chunk
 *              │ level 0        │ level 0        │           ◄── one pass of the draft model for all
 *              │ level 1        │                │           ◄── one more, for those that draft deeper
 *              └───── admit the guesses that pay (admit.h) ─────┐
 *   one pass   [ A's last token, guesses │ B's │ C's chunk ]  ◄─┘
 *              │ finish         │ finish         │ tell the drafters
 *   events     A's step         B's step
 *
 * The thread team plans and finishes the cycles of different sessions side by side. A cycle touches only its session,
 * and reads what the engine has learned; the engine learns and counts afterwards. Between two levels, one thread stages
 * the rows of all sessions in the pass that they share (model/shared_pass.h), and the team runs it. A caller's own
 * drafter stays in the caller's thread.
 *
 *   E1  Each session's rows follow its own tokens only, so its bytes don't depend on the others (laws L1, L7).
 *   E2  The session that joined first of those that have something to do always finds room: where pages run short, the
 *       table of prefixes forgets pages, sessions with nothing to do (paused ones among them) lose theirs, and then the
 *       session that joined last loses its own. A session without its pages runs its tokens again later.
 */
#ifndef VOUCH_ENGINE_ENGINE_H
#define VOUCH_ENGINE_ENGINE_H

#include "decode/cycle.h"
#include "draft/drafter.h"
#include "engine/model.h"
#include "engine/prefixes.h"
#include "model/shared_pass.h"

/* Most guesses of all sessions in a pass. */
enum { VOUCH_ENGINE_GUESSES = VOUCH_MAX_DRAFT, VOUCH_ENGINE_SESSIONS = 256 };
/* Fewest rows of a prompt in a pass, unless the prompt has fewer left. */
enum { VOUCH_LEAST_CHUNK = 16 };

/* The part of one session in the running pass. */
typedef struct vouch_turn {
    vouch_session *session;
    bool is_cycle;      /* else prefill: tokens [from, past), which the cache lacks */
    int32_t from, past; /* from: tokens that the cache holds */
    bool is_scored;     /* of a prefill: its rows get logits, for vouch_session_score_prompt */
    vouch_shape most;   /* of a cycle: limits of its draft */
    vouch_staging staging; /* how its drafter's last request for rows ended (drafter.h) */
    int64_t n_drafted;  /* guesses that the session has drafted before this cycle */
    vouch_cycle_result result;
    vouch_engine_event event;
} vouch_turn;

struct vouch_engine {
    const vouch_model *model;
    vouch_engine_options options; /* resolved */
    vouch_pool *pool;
    vouch_pages *pages;
    vouch_pass *pass;
    vouch_shared_passes draft_passes; /* the shared passes of its sessions' draft models and heads */
    vouch_prefixes prefixes; /* without memory where pages are not shared */
    vouch_cost cost;         /* t(n) of its passes */
    double prompt_seconds;   /* of a row of a prompt; 0: not measured yet */
    int32_t max_rows, max_logits;
    vouch_session **sessions; /* [n_sessions] in the order in which they joined */
    int32_t n_sessions;
    vouch_row *rows;          /* [max_rows] of the running pass */
    vouch_turn *turns;        /* [options.n_sessions] of the running pass */
    int32_t n_turns;
    vouch_cycle_pass last;    /* the running pass, once it has run */
    vouch_engine_event *events; /* [options.n_sessions] */
    vouch_engine_stats stats;
    vouch_arena arena;
};

/* Opens the parts with resolved options. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_engine_open_parts(vouch_engine **out, const vouch_model *model,
                                     const vouch_engine_options *options, int32_t max_rows, int32_t max_logits,
                                     vouch_error *err);
/* Reserves pages for n more rows of a session, which fit into its context. Other sessions may lose theirs. */
void vouch_engine_make_room(vouch_engine *engine, vouch_session *session, int32_t n);

#endif
