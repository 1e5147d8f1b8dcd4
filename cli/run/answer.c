/* SPDX-License-Identifier: MIT */
#include "run/answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/wrap.h"
#include "run/paint.h"
#include "run/thoughts.h"
#include "run/trace.h"

cli_reply cli_reply_new(const cli_options *options)
{
    cli_reply reply = {.finish = VOUCH_FINISH_NONE};
    if (options->trace && options->stats_json) reply.trace = json_array();
    return reply;
}

void cli_reply_free(cli_reply *reply)
{
    json_decref(reply->trace);
    free(reply->text);
}

static vouch_status memory_fail(vouch_error *err)
{
    err->code = VOUCH_E_MEMORY;
    snprintf(err->message, sizeof err->message, "not enough memory for the answer");
    return err->code;
}

static vouch_status reply_append(cli_reply *reply, const char *text, size_t n, vouch_error *err)
{
    if (reply->n_text + n + 1 > reply->capacity) {
        const size_t capacity = (reply->n_text + n + 1) * 2;
        char *larger = realloc(reply->text, capacity);
        if (!larger) return memory_fail(err);
        reply->text = larger;
        reply->capacity = capacity;
    }
    if (n) memcpy(reply->text + reply->n_text, text, n);
    reply->n_text += n;
    reply->text[reply->n_text] = 0;
    return VOUCH_OK;
}

/* How the text of an answer is shown. */
typedef struct show {
    cli_paint paint;
    cli_thoughts thoughts;
    tool_wrap wrap;
} show;

/* Writes the text of one step, then its trace. */
static vouch_status step_show(const cli_engine *engine, const vouch_step *step, size_t position, show *shown,
                              cli_reply *reply, vouch_error *err)
{
    const cli_options *options = engine->options;
    const tool_color color = (tool_color)options->color;
    const char *text = step->text;
    size_t n = step->n_text;
    if (options->think == CLI_THINK_HIDE) {
        text = cli_thoughts_step(&shown->thoughts, engine->model, step, &n);
        if (!text) return memory_fail(err);
    } else if (options->paint && tool_color_wanted(stdout, color)) {
        text = cli_paint_step(&shown->paint, engine->model, step, &n);
        if (!text) return memory_fail(err);
    }
    const int width = options->paint || options->trace ? 0 : tool_terminal_width(STDOUT_FILENO);
    if (width > 0) text = tool_wrap_take(&shown->wrap, text, n, width, &n);
    if (!text) return memory_fail(err);
    vouch_status status = n > 0 ? tool_print(text, n, err) : VOUCH_OK;
    if (!status) status = reply_append(reply, step->text, step->n_text, err);
    reply->cycles++;
    if (status || !options->trace) return status;
    const bool ends_midline = step->n_text > 0 && step->text[step->n_text - 1] != '\n';
    if (ends_midline && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) fputc('\n', stderr);
    cli_trace_print(stderr, tool_color_wanted(stderr, color), engine->model, reply->cycles, position, step);
    if (reply->trace && json_array_append_new(reply->trace, cli_trace_json(engine->model, position, step)) != 0)
        return memory_fail(err);
    return VOUCH_OK;
}

vouch_status cli_answer(cli_engine *engine, const cli_tokens *prompt, cli_reply *reply, vouch_error *err)
{
    vouch_session *session = engine->session;
    tool_progress progress = {.label = "reading the prompt"};
    show shown = {0};
    vouch_step step = {0};
    vouch_status status;
    if (engine->options->think == CLI_THINK_HIDE)
        shown.thoughts = cli_thoughts_of(engine->model, prompt->items, prompt->n);
    reply->n_text = 0;
    if (reply->text) *reply->text = 0; /* a cancelled prompt leaves the answer empty */
    reply->finish = VOUCH_FINISH_NONE;
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    vouch_session_set_progress(session, tool_progress_report, &progress);
    tool_progress_report(&progress, 0);
    status = cli_session_prompt(session, prompt->items, prompt->n, err);
    tool_progress_end(&progress);
    vouch_session_set_progress(session, NULL, NULL);
    if (!status) status = reply_append(reply, "", 0, err);
    while (!status && step.finish == VOUCH_FINISH_NONE) {
        size_t position;
        vouch_session_tokens(session, &position);
        const double wall = tool_now(), processor = tool_processor_seconds();
        status = cli_session_step(session, &step, err);
        reply->seconds += tool_now() - wall;
        reply->processor_seconds += tool_processor_seconds() - processor;
        if (!status) status = step_show(engine, &step, position, &shown, reply, err);
    }
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    cli_paint_free(&shown.paint);
    reply->n_hidden += shown.thoughts.n_hidden;
    cli_thoughts_free(&shown.thoughts);
    tool_wrap_free(&shown.wrap);
    reply->interrupted = status == VOUCH_E_CANCELLED;
    if (!status) reply->finish = step.finish;
    return reply->interrupted ? VOUCH_OK : status;
}
