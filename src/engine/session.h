/* SPDX-License-Identifier: MIT */
/* A session as its engine sees it. Tests of law L3 read its state: after each step the state must equal the state that
 * plain decoding leaves. */
#ifndef VOUCH_ENGINE_SESSION_H
#define VOUCH_ENGINE_SESSION_H

#include <stdatomic.h>

#include "decode/cycle.h"
#include "draft/registry.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "engine/target.h"
#include "text/chat/thoughts.h"
#include "text/tokenizer.h"

/* Log probabilities that a prompt's passes fill. */
typedef struct vouch_scores {
    vouch_logprob *out; /* [tokens of the prompt - 1][1 + n_top]; NULL: not wanted */
    int32_t n_top;
} vouch_scores;

/* A vector that a prompt's passes fill. */
typedef struct vouch_embedding {
    float *out; /* [n_embd]; NULL: not wanted */
    vouch_pooling pooling;
    int32_t n_pooled; /* tokens that are in it: a session that loses its pages runs them again */
} vouch_embedding;

struct vouch_session {
    vouch_engine *engine;
    bool is_alone; /* the engine is the session's own */
    const vouch_model *model;
    vouch_session_options options; /* resolved; its pointers are used at open only */
    vouch_options_choice choice;
    vouch_engine_target target;
    vouch_stream *stream;
    vouch_thoughts thoughts;
    vouch_thoughts_state thinking; /* of the running answer */
    vouch_logprob *logprobs;  /* [VOUCH_MAX_DRAFT + 1][1 + options.top_logprobs] of the last step; NULL: not wanted */
    vouch_cycle cycle;        /* holds tokens, n_tokens, drafters, rule, lenience */
    vouch_pace pace;          /* in use where the choice is paced */
    vouch_seeded_draw seeded; /* of the running answer */
    uint64_t seed;            /* the options' seed, or the last one that vouch_session_set_seed set */
    int64_t n_seeded;         /* answers begun with it */
    vouch_shape shape;        /* of the drafts */
    double cost[VOUCH_MAX_DRAFT + 2];
    char drafter_name[VOUCH_DRAFTER_NAMES];
    struct vouch_answers *answers; /* of the draft memory; NULL: there is none */
    vouch_stats stats;
    vouch_scores scores, next_scores;          /* of the running prompt, and of the next one */
    vouch_embedding embedding, next_embedding; /* likewise */
    float *embedding_row;                      /* [n_embd] of one token */
    float *scales;                             /* [n_adapters] of the sequence's adapters */
    uint64_t page_scope;  /* hash of its scope and adapters; the session shares pages with sessions of the same one */
    int32_t n_answer;     /* tokens since the prompt */
    int32_t n_reused;     /* tokens of the prompt that were in the cache when it was given */
    int32_t load_until;   /* files may have the prompt up to there; 0: nothing is to be loaded */
    int32_t branch;       /* where the prompt departs from another sequence (prefixes.h); 0: nowhere */
    int32_t n_prompt_run; /* tokens of the prompt that have run or were reused */
    bool answering;       /* a prompt was given and nothing has ended the answer */
    bool is_remembered;   /* the draft memory has the answer */
    bool is_paused;       /* the engine passes it over */
    atomic_bool cancelled;
    vouch_progress_fn progress;
    void *progress_user;
    vouch_arena arena; /* tokens, sampler, p */
};

/* Opens a session in an engine that has room for it. Errors: as vouch_session_open. */
vouch_status vouch_session_join(vouch_session **out, vouch_engine *engine, const vouch_session_options *options,
                                vouch_error *err);
/* True once after each cancel. */
bool vouch_session_take_cancel(vouch_session *session);
/* Whether the cache lacks tokens before the last one. (The last token is the first row of the next cycle.) */
bool vouch_session_lacks(const vouch_session *session);
/* The end of the next chunk: at most `most` tokens, beginning with the first one that the cache lacks. */
int32_t vouch_session_chunk(const vouch_session *session, int32_t most);
/* Whether its pages may be shared: no drafter wants the hidden states of all tokens. */
bool vouch_session_shares(const vouch_session *session);
/* Whose pages a sequence finds: those of its scope and its adapters' scales (NULL: 1 of each). */
uint64_t vouch_page_scope(const vouch_model *model, uint64_t scope, const float *scales);
/* Ends the answer and forgets the sequence. */
void vouch_session_begin_empty(vouch_session *session);
/* The memory has come to hold these n tokens: they are the sequence that the next prompt is compared with. */
void vouch_session_take_sequence(vouch_session *session, const int32_t *tokens, int32_t n);
/* Takes the pages of its prompt that the engine has. */
void vouch_session_take_pages(vouch_session *session);
/* Loads pages of its prompt from files, for about so many seconds, and takes them once all are there. */
void vouch_session_load_pages(vouch_session *session, double seconds);
/* A pass has run tokens from `from` on: lists the pages that they fill. */
void vouch_session_list_pages(const vouch_session *session, int32_t from);
/* Do the rows of its prompt need logits, for its scores? */
bool vouch_session_is_scored(const vouch_session *session);
/* Fills the scores from the last pass, which has run tokens [from, past) with logits. Errors: NUMERIC. */
vouch_status vouch_session_read_scores(vouch_session *session, int32_t from, int32_t past);
/* Adds tokens [from, past), which the last pass has run, to the vector. True: the vector is done, and the sequence
 * ends. */
bool vouch_session_pool(vouch_session *session, int32_t from, int32_t past);
/* A pass has run tokens [from, past), and the memory holds them: tells the drafters, and tells the caller the prompt's
 * progress. The paid drafter has yet to follow (cycle.h). */
void vouch_session_filled(vouch_session *session, int32_t from, int32_t past, double seconds);
/* Ends the answer. A prompt that has not run to its end is cut to the tokens in the cache and one more. */
void vouch_session_abandon(vouch_session *session);
/* Adds the answer, as far as it has come, to the draft memory, unless that was done before. */
void vouch_session_remember(vouch_session *session);
/* After a cycle: ends the answer where it finished, and describes the step. */
void vouch_session_describe(vouch_session *session, const vouch_cycle_result *result, vouch_step *step);

const vouch_memory *vouch_session_target(const vouch_session *session);
/* The session's drafters, which a test may replace. */
vouch_drafters *vouch_session_get_drafters(vouch_session *session);

#endif
