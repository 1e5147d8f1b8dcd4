/* SPDX-License-Identifier: MIT */
/*
 * The state of an answer while its events come, for every API: what each choice has said and not yet given out. The API
 * takes it after each token of a stream, or once at the end.
 */
#ifndef VOUCH_SERVER_ANSWER_H
#define VOUCH_SERVER_ANSWER_H

#include "call/reader.h"
#include "request/request.h"

typedef struct server_said {
    server_reader reader;     /* content, thoughts and calls that have not been given out */
    json_t *trace;            /* array for the tokens not given out yet; NULL: not wanted */
    json_t *logprobs;         /* {"token", "logprob", "bytes", "top_logprobs"} for each token not given out yet; NULL */
    json_t *tokens;           /* array, ids of the tokens not given out yet; NULL: not wanted, or none */
    server_text frame;        /* the API's event with an empty text; empty: not made yet */
    size_t frame_text;        /* where the empty text, "", stands in it */
    server_progress progress; /* at the last token that was read */
    bool has_line_end;        /* the text given out has one */
    int64_t n_characters;     /* of completions: characters of the text so far, the echo included */
    size_t n_calls;           /* given out whole */
    bool is_over;             /* nothing follows */
    size_t n_text, n_token_bytes; /* text so far; bytes of the tokens so far */
    int64_t n_cycles;
} server_said;

typedef struct server_answer {
    server_request request;
    char id[64];
    int64_t created;
    int32_t n_choices;
    server_said *said; /* [n_choices] */
    void *more;        /* the API's own state; NULL: none */
} server_answer;

/* For a job of this request, with n_more zeroed bytes for the API's own state. Where memory is short, releases the job,
 * replies, and returns NULL. */
server_answer *server_answer_new(server_exchange *x, const server_request *request, server_job *job,
                                 const char *id_prefix, size_t n_more);
void server_answer_free(void *answer);

/* Reads token i of a step. `from` is the length of the step's text that has been read; returns the new length. */
size_t server_answer_token(server_answer *a, const server_event *event, int32_t i, size_t from);
/* Call it after the last token of a step. */
void server_answer_step_end(server_answer *a, const server_event *event);
/* The choice is over: reads what waits. */
void server_answer_choice_end(server_answer *a, int32_t choice, vouch_finish finish);
/* Reads a whole event: the function `event` of a format where nothing is given out before the end. */
void server_answer_keep(server_exchange *x, const server_event *event);

/* Reads an event of a stream. `give` sends what the choice has said, after each token and at the end of the choice. */
typedef void server_give_fn(server_exchange *x, int32_t choice);
void server_answer_stream(server_exchange *x, const server_event *event, server_give_fn *give);

/* The tokens of a row of log probabilities as the chat API has them, and /completion with their ids. */
json_t *server_logprob_json(const vouch_model *model, const vouch_logprob *row, int32_t width, bool with_ids);
/* Where a token of these bytes begins in a text of *n_characters so far, in characters; adds its own to them. A token
 * that begins inside a character begins where the character does. */
int64_t server_text_offset(int64_t *n_characters, const char *bytes, size_t n);
/* The call's id: the model's own, or one of the server with this prefix. */
const char *server_call_id(server_exchange *x, server_call *call, const char *prefix);
/* Takes the arguments that have come since the last time. *n 0: none. */
const char *server_call_piece(server_call *call, size_t *n);
/* Whether the call is given out whole. */
bool server_call_is_given(const server_said *said, const server_call *call);
/* Whether a call is given out in part. Its remaining pieces come before text that was said later. */
bool server_has_open_call(const server_said *said);
/* Whether a call has something that isn't given out. */
bool server_has_calls(const server_said *said);

/* "stop", "length", or "tool_calls" where the choice has called, and no stop text has cut a call. */
const char *server_finish_word(const server_answer *a, const server_job *job, int32_t choice);
/* The stop text that ended the choice; null where something else did. */
json_t *server_stop_json(const server_job *job, int32_t choice);

#endif
