/* SPDX-License-Identifier: MIT */
#include "api/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tool/json.h"
#include "api/usage.h"

static const vouch_model *model_of(const server_answer *a)
{
    return a->request.model->options->model;
}

/* NULL when memory is short. */
static server_answer *allocate(int32_t n_choices, size_t n_more)
{
    server_answer *a = calloc(1, sizeof *a);
    if (a) a->said = calloc((size_t)n_choices, sizeof *a->said);
    if (a && n_more > 0) a->more = calloc(1, n_more);
    if (a && a->said && (a->more || n_more == 0)) return a;
    if (a) free(a->said);
    free(a);
    return NULL;
}

server_answer *server_answer_new(server_exchange *x, const server_request *request, server_job *job,
                                 const char *id_prefix, size_t n_more)
{
    server_answer *a = allocate(job->n_choices, n_more);
    if (!a) {
        server_job_release(job);
        server_reply_fault(x, &(server_fault){0});
        return NULL;
    }
    a->request = *request;
    a->n_choices = job->n_choices;
    a->created = (int64_t)time(NULL);
    server_make_id(x->server, id_prefix, a->id);
    for (int32_t i = 0; i < a->n_choices; i++) {
        const bool reads = request->messages != NULL;
        /* A grammar of the request binds the answer from its first token on, so it has no thoughts. */
        const server_form *form = reads ? request->model->form : NULL;
        const bool thinks = form && !request->grammar &&
                            server_thoughts_of(form, model_of(a), job->choices[i].tokens, job->choices[i].n_tokens) ==
                                SERVER_THOUGHTS_OPEN;
        server_reader_begin(&a->said[i].reader, form, request->tools, thinks);
        a->said[i].reader.only_one = !request->several_calls;
        a->said[i].reader.is_forced = request->must_call;
    }
    return a;
}

void server_answer_free(void *answer)
{
    server_answer *a = answer;
    for (int32_t i = 0; i < a->n_choices; i++) {
        server_reader_free(&a->said[i].reader);
        json_decref(a->said[i].trace);
        json_decref(a->said[i].logprobs);
        json_decref(a->said[i].tokens);
        server_text_free(&a->said[i].frame);
    }
    free(a->said);
    free(a->more);
    free(a);
}

/* ------------------------------------------------------------------- tokens */

static json_t *one_logprob(const vouch_model *model, const vouch_logprob *logprob, bool with_id)
{
    size_t n = 0;
    const unsigned char *bytes = (const unsigned char *)vouch_token_bytes(model, logprob->token, &n);
    json_t *array = json_array();
    for (size_t i = 0; bytes && i < n; i++) json_array_append_new(array, json_integer(bytes[i]));
    const tool_json_entry entries[] = {
        {"token", server_token_text(model, logprob->token)},
        {"logprob", tool_json_real(logprob->logprob)},
        {"bytes", array},
        {"id", with_id ? json_integer(logprob->token) : NULL},
    };
    return tool_json_object(entries, with_id ? 4 : 3);
}

json_t *server_logprob_json(const vouch_model *model, const vouch_logprob *row, int32_t width, bool with_ids)
{
    json_t *object = one_logprob(model, row, with_ids), *top = json_array();
    for (int32_t i = 1; i < width && row[i].token >= 0; i++)
        json_array_append_new(top, one_logprob(model, &row[i], with_ids));
    json_object_set_new(object, "top_logprobs", top);
    return object;
}

int64_t server_text_offset(int64_t *n_characters, const char *bytes, size_t n)
{
    const bool is_inside = n > 0 && (bytes[0] & 0xc0) == 0x80 && *n_characters > 0;
    const int64_t offset = *n_characters - is_inside;
    for (size_t i = 0; i < n; i++) *n_characters += (bytes[i] & 0xc0) != 0x80;
    return offset;
}

/* The first byte of a character at or before text[at]. */
static size_t character_begin(const char *text, size_t at, size_t n)
{
    while (at > 0 && at < n && (text[at] & 0xc0) == 0x80) at--;
    return at;
}

/* The end, in the text of a step, of the part that belongs to token i. The step's text may begin with bytes of earlier
 * tokens, and lack the last ones, because the library keeps halves of characters and beginnings of stop texts back. */
static size_t part_end(const server_said *said, const server_event *event, int32_t i, size_t from)
{
    if (i == event->n_tokens - 1) return event->n_text;
    const size_t end = said->n_token_bytes > said->n_text ? said->n_token_bytes - said->n_text : 0;
    const size_t whole =
        character_begin(server_event_text(event), end < event->n_text ? end : event->n_text, event->n_text);
    return whole > from ? whole : from;
}

size_t server_answer_token(server_answer *a, const server_event *event, int32_t i, size_t from)
{
    server_said *said = &a->said[event->choice];
    const int32_t token = server_event_tokens(event)[i];
    const bool is_special = vouch_token_is_special(model_of(a), token);
    size_t n_bytes = 0;
    const char *bytes = vouch_token_bytes(model_of(a), token, &n_bytes);
    if (!is_special) said->n_token_bytes += n_bytes;
    const size_t end = part_end(said, event, i, from);
    said->progress = event->progress;
    said->progress.n_generated -= event->n_tokens - 1 - i;
    bool is_apart = is_special || said->reader.state == SERVER_READER_THOUGHTS; /* no part of a Response's text */
    if (end > from) server_reader_push(&said->reader, server_event_text(event) + from, end - from);
    if (is_special && bytes && a->request.messages) server_reader_special(&said->reader, bytes, n_bytes);
    if (a->request.trace) {
        if (!said->trace) said->trace = json_array();
        json_array_append_new(said->trace, server_trace_json(model_of(a), event, i, said->n_cycles));
    }
    is_apart |= said->reader.state == SERVER_READER_THOUGHTS;
    if (event->width > 0 && !(is_apart && a->request.where == SERVER_RESPONSES)) {
        const vouch_logprob *row = server_event_logprobs(event) + i * event->width;
        if (!said->logprobs) said->logprobs = json_array();
        json_t *logprob = server_logprob_json(model_of(a), row, event->width, a->request.where == SERVER_NATIVE);
        if (a->request.where == SERVER_COMPLETIONS)
            json_object_set_new(logprob, "offset",
                                json_integer(server_text_offset(&said->n_characters, bytes, is_special ? 0 : n_bytes)));
        json_array_append_new(said->logprobs, logprob);
    }
    if (a->request.hides_thoughts) said->reader.thoughts.n = 0;
    if (a->request.return_tokens) {
        if (!said->tokens) said->tokens = json_array();
        json_array_append_new(said->tokens, json_integer(token));
    }
    return end;
}

void server_answer_step_end(server_answer *a, const server_event *event)
{
    a->said[event->choice].n_text += event->n_text;
    a->said[event->choice].n_cycles++;
}

void server_answer_choice_end(server_answer *a, int32_t choice, vouch_finish finish)
{
    server_reader_end(&a->said[choice].reader, finish != VOUCH_FINISH_EOS);
    if (a->request.hides_thoughts) a->said[choice].reader.thoughts.n = 0;
    a->said[choice].is_over = true;
}

void server_answer_keep(server_exchange *x, const server_event *event)
{
    server_answer *a = x->state;
    if (event->kind == SERVER_EVENT_END) {
        server_answer_choice_end(a, event->choice, x->job->choices[event->choice].finish);
        return;
    }
    size_t from = 0;
    for (int32_t i = 0; i < event->n_tokens; i++) from = server_answer_token(a, event, i, from);
    server_answer_step_end(a, event);
}

void server_answer_stream(server_exchange *x, const server_event *event, server_give_fn *give)
{
    server_answer *a = x->state;
    size_t from = 0;
    for (int32_t i = 0; i < event->n_tokens; i++) {
        from = server_answer_token(a, event, i, from);
        give(x, event->choice);
    }
    if (event->kind == SERVER_EVENT_STEP) {
        server_answer_step_end(a, event);
        return;
    }
    server_answer_choice_end(a, event->choice, x->job->choices[event->choice].finish);
    give(x, event->choice);
}

/* -------------------------------------------------------------------- calls */

/* Whether a call of the conversation or of this answer has the id. */
static bool is_id_used(const server_answer *a, const char *id)
{
    const json_t *message, *call;
    size_t m, c;
    json_array_foreach(a->request.messages, m, message)
        json_array_foreach(json_object_get(message, "tool_calls"), c, call)
            if (strcmp(server_word(call, "id"), id) == 0) return true;
    for (int32_t i = 0; i < a->n_choices; i++)
        for (c = 0; c < a->said[i].reader.n_calls; c++)
            if (strcmp(a->said[i].reader.calls[c].given_id, id) == 0) return true;
    return false;
}

const char *server_call_id(server_exchange *x, server_call *call, const char *prefix)
{
    if (*call->given_id) return call->given_id;
    const bool is_good = call->id && strlen(call->id) < sizeof call->given_id && !is_id_used(x->state, call->id);
    if (is_good) strcpy(call->given_id, call->id);
    else server_make_id(x->server, prefix, call->given_id);
    return call->given_id;
}

const char *server_call_piece(server_call *call, size_t *n)
{
    const size_t from = call->n_given;
    *n = call->is_text ? 0 : call->arguments.n - from;
    call->n_given += *n;
    return *n ? call->arguments.bytes + from : "";
}

bool server_call_is_given(const server_said *said, const server_call *call)
{
    return said->is_over || (call->is_over && call->n_given == call->arguments.n);
}

bool server_has_open_call(const server_said *said)
{
    return said->n_calls < said->reader.n_calls && *said->reader.calls[said->n_calls].given_id;
}

bool server_has_calls(const server_said *said)
{
    const server_reader *r = &said->reader;
    if (said->n_calls == r->n_calls) return false;
    const server_call *call = &r->calls[said->n_calls];
    return said->n_calls + 1 < r->n_calls || !*call->given_id || call->is_over || said->is_over ||
           (!call->is_text && call->arguments.n > call->n_given);
}

const char *server_finish_word(const server_answer *a, const server_job *job, int32_t choice)
{
    const vouch_finish finish = job->choices[choice].finish;
    const server_said *said = &a->said[choice];
    if (finish == VOUCH_FINISH_LENGTH || finish == VOUCH_FINISH_CONTEXT) return "length";
    if (finish == VOUCH_FINISH_STOP && said->reader.is_cut) return "stop";
    return said->reader.n_calls > 0 ? "tool_calls" : "stop";
}

json_t *server_stop_json(const server_job *job, int32_t choice)
{
    const server_choice *c = &job->choices[choice];
    return c->finish == VOUCH_FINISH_STOP ? tool_json_text(job->options.stop[c->stop]) : json_null();
}
