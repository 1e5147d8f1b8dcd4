/* SPDX-License-Identifier: MIT */
/*
 * An engine holds the parts that a pass needs, and the sessions that share its passes. It alone drives cycles
 * (schedule.c). A session by itself is an engine with one session:
 *
 *   sessions   A  decoding      B  decoding      C  prompt
 *   choose     │ limits         │ limits         │ next chunk
 *   draft      │ offer          │ offer          │
 *              │ level 0        │ level 0        │           ◄── one pass of the draft model for all
 *              │ level 1        │                │           ◄── one more, for those that draft deeper
 *              └───── admit the guesses that pay (admit.h) ─────┐
 *   score      [ A's last token, guesses │ B's │ C's chunk ]  ◄─┘  one pass
 *   judge      │                │                │
 *   commit     │ A's step       │ B's step       │ tell the drafters
 *
 * The thread team runs the stages of different sessions side by side. A cycle touches only its session, and reads what
 * the engine has learned; the engine learns and counts afterwards. Between two levels, one thread stages
 * the rows of all sessions in the pass that they share (model/pass/shared_pass.h), and the team runs it. A caller's own
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
#include "engine/file/model.h"
#include "engine/prefixes.h"
#include "model/pass/shared_pass.h"

/* Most guesses of all sessions in a pass. */
enum { VOUCH_ENGINE_GUESSES = VOUCH_MAX_DRAFT, VOUCH_ENGINE_SESSIONS = 256 };
/* Fewest rows of a prompt in a pass, unless the prompt has fewer left. */
enum { VOUCH_LEAST_CHUNK = 16 };

/* The part of one session in the running pass. */
typedef struct vouch_share {
    vouch_session *session;
    bool is_cycle;      /* else prefill: tokens [from, past), which the cache lacks */
    int32_t from, past; /* from: tokens that the cache holds */
    bool is_scored;     /* of a prefill: its rows get logits, for vouch_session_score_prompt */
    vouch_shape most;   /* of a cycle: limits of its draft */
} vouch_share;

struct vouch_engine {
    const vouch_model *model;
    vouch_engine_options options; /* resolved */
    vouch_pool *pool;
    vouch_pages *pages;
    vouch_pass *pass;
    vouch_shared_passes draft_passes; /* the shared passes of its sessions' draft models and heads */
    vouch_prefixes prefixes;          /* without memory where pages are not shared */
    vouch_cost cost;                  /* t(n) of its passes */
    double prompt_seconds;            /* of a row of a prompt; 0: not measured yet */
    int32_t max_rows, max_logits;
    vouch_session **sessions; /* [n_sessions] in the order in which they joined */
    int32_t n_sessions;
    vouch_row *rows;     /* [max_rows] of the running pass */
    vouch_share *shares; /* [options.n_sessions] of the running pass */
    int32_t n_shares;
    bool is_loading;            /* a prompt has more pages in files */
    vouch_cycle_pass last;      /* the running pass, once it has run */
    int32_t n_prompt_rows;      /* of it */
    vouch_engine_event *events; /* [options.n_sessions] */
    vouch_engine_stats stats;
    vouch_arena arena;
};

/* Opens the parts with resolved options. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_engine_open_parts(vouch_engine **out, const vouch_model *model, const vouch_engine_options *options,
                                     int32_t max_rows, int32_t max_logits, vouch_error *err);
/* What records of the engine's pages depend on. */
vouch_record_model vouch_engine_record_model(const vouch_engine *engine);
/* Runs a pass with the rows of all sessions that have something to do: a cycle, or a part of a prompt. Appends events
 * to the n_events that engine->events has, and returns their number. engine->n_shares is 0 where no session has
 * anything to do. */
size_t vouch_engine_run(vouch_engine *engine, size_t n_events);
/* Reserves pages for n more rows of a session, which fit into its context. Other sessions may lose theirs. */
void vouch_engine_make_room(vouch_engine *engine, vouch_session *session, int32_t n);

#endif
