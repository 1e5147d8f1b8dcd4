/* SPDX-License-Identifier: MIT */
/*
 * vouch batch: answers many prompts, --parallel at a time, in shared passes. Each answer is the one that `vouch run`
 * gives to its prompt with the same options and seed, and with --temp 0 unless --temp is given.
 *
 *   prompts   0  1  2  3  4  5  6 ...
 *             │  │  │  │  └────────── waiting
 *   slots    [ ][ ][ ][ ]             one session each, which takes the next prompt when its answer has ended
 *             └──┴──┴──┴── one engine, one pass for all
 *   lines     0  1  ...               in the order of the prompts (lines.h)
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch/lines.h"
#include "cli.h"
#include "tool/file.h"
#include "tool/json.h"
#include "options/recommended.h"

/* A session and its running answer. */
typedef struct slot {
    vouch_session *session;
    size_t question;
    char *text; /* [n_text], room for `room` bytes */
    size_t n_text, room;
    int32_t n_tokens;
} slot;

typedef struct batch {
    cli_engine *files; /* models and options */
    cli_questions questions;
    cli_lines lines;
    vouch_engine *engine;
    slot *slots; /* [n_slots] */
    int32_t n_slots;
    size_t next; /* the next prompt */
    tool_progress progress;
    double seconds;
} batch;

/* ------------------------------------------------------------------- opening */

/* Context length: --ctx, or else room for the longest prompt and its answer, but no more than the model was trained
 * for. */
static int32_t context_of(const batch *b)
{
    const vouch_session_options *o = &b->files->options->session;
    const int32_t n_train = vouch_model_get_info(b->files->model)->n_ctx_train;
    size_t longest = 0;
    if (o->n_ctx > 0) return o->n_ctx;
    for (size_t i = 0; i < b->questions.n; i++)
        if (b->questions.items[i].tokens.n > longest) longest = b->questions.items[i].tokens.n;
    if (o->max_tokens == 0) return n_train;
    const size_t need = longest + (size_t)o->max_tokens + 1;
    return need < (size_t)n_train ? (int32_t)need : n_train;
}

static int engine_fail(const vouch_error *err)
{
    cli_engine_fail(err);
    return err->code == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
}

static vouch_status sessions_open(batch *b, int32_t n_ctx, vouch_error *err)
{
    vouch_session_options options = b->files->options->session;
    options.n_ctx = n_ctx;
    cli_engine_speculate(b->files, &options.speculation);
    options.grammar = b->files->grammar;
    for (int32_t i = 0; i < b->n_slots; i++) {
        const vouch_status status = vouch_engine_session_open(&b->slots[i].session, b->engine, &options, err);
        if (status) return status;
    }
    return VOUCH_OK;
}

static void engine_close(batch *b)
{
    for (int32_t i = 0; b->slots && i < b->n_slots; i++) {
        vouch_session_close(b->slots[i].session);
        free(b->slots[i].text);
        b->slots[i] = (slot){.session = NULL};
    }
    vouch_engine_close(b->engine);
    b->engine = NULL;
}

static double memory_of(const batch *b)
{
    double bytes = (double)vouch_model_get_info(b->files->model)->packed_bytes + (double)vouch_engine_memory(b->engine);
    if (b->files->memory) bytes += (double)vouch_draft_memory_get_info(b->files->memory).n_bytes;
    if (b->files->draft) bytes += (double)vouch_model_get_info(b->files->draft)->packed_bytes;
    for (int32_t i = 0; i < b->n_slots; i++) bytes += (double)vouch_session_memory(b->slots[i].session);
    return bytes;
}

static int engine_open(batch *b, int32_t n_ctx, int64_t n_cache)
{
    const vouch_session_options *o = &b->files->options->session;
    const vouch_engine_options options = {.n_sessions = b->n_slots,
                                          .n_ctx = n_ctx,
                                          .n_cache = n_cache,
                                          .prompt_cache = b->files->cache,
                                          .n_threads = o->n_threads,
                                          .prefill_chunk = o->prefill_chunk,
                                          .kv_type = o->kv_type,
                                          .inter_token_seconds = 3600}; /* nobody waits for a single token */
    vouch_error err;
    if (vouch_engine_open(&b->engine, b->files->model, &options, &err) || sessions_open(b, n_ctx, &err))
        return engine_fail(&err);
    return CLI_DONE;
}

/* Opens the engine and the sessions within --max-memory. It first opens them with two caches, of n_ctx and of 2 n_ctx
 * tokens: the difference gives the bytes of a cached token. */
static int engine_fit(batch *b, int32_t n_ctx)
{
    const double most = (double)b->files->options->max_memory;
    const int64_t whole = (int64_t)n_ctx * b->n_slots;
    if (most == 0) return engine_open(b, n_ctx, 0);
    int status = engine_open(b, n_ctx, n_ctx);
    if (status) return status;
    const double least = memory_of(b), engine = (double)vouch_engine_memory(b->engine);
    if (least > most) {
        tool_complain("--max-memory: weights, cache and sessions need %.0f MB at least; raise it, or lower --ctx, "
                      "--parallel or --draft-memory-size",
                      least * 1e-6);
        return CLI_FAILED;
    }
    engine_close(b);
    status = engine_open(b, n_ctx, 2 * (int64_t)n_ctx);
    if (status) return status;
    const double each = ((double)vouch_engine_memory(b->engine) - engine) / n_ctx, more = (most - least) / each;
    engine_close(b);
    return engine_open(b, n_ctx, more < (double)(whole - n_ctx) ? n_ctx + (int64_t)more : whole);
}

/* ------------------------------------------------------------------- answers */

/* Gives the slot the next prompt that fits. */
static int slot_begin(batch *b, slot *s)
{
    while (b->next < b->questions.n) {
        const size_t i = b->next++;
        const cli_question *question = &b->questions.items[i];
        vouch_error err;
        vouch_session_set_seed(s->session, b->files->options->session.sampling.seed);
        if (!vouch_session_prompt(s->session, question->tokens.items, question->tokens.n, &err)) {
            *s = (slot){.session = s->session, .question = i, .text = s->text, .room = s->room};
            return CLI_DONE;
        }
        tool_complain("--prompts: line %d: %s", (int)question->line, err.message);
        const int status = cli_lines_fail(&b->lines, i, err.message);
        if (status) return status;
    }
    return CLI_DONE;
}

static int slot_add(slot *s, const vouch_step *step)
{
    if (s->n_text + step->n_text > s->room) {
        const size_t room = 2 * (s->n_text + step->n_text);
        char *text = realloc(s->text, room);
        if (!text) {
            tool_complain("not enough memory for an answer of %zu bytes", room);
            return CLI_FAILED;
        }
        s->text = text;
        s->room = room;
    }
    if (step->n_text > 0) memcpy(s->text + s->n_text, step->text, step->n_text);
    s->n_text += step->n_text;
    s->n_tokens += step->n_tokens;
    return CLI_DONE;
}

static int event_take(batch *b, const vouch_engine_event *event)
{
    slot *s = b->slots;
    while (s->session != event->session) s++;
    int status = CLI_DONE;
    if (event->status == VOUCH_OK) {
        status = slot_add(s, &event->step);
        if (status || event->step.finish == VOUCH_FINISH_NONE) return status;
        status = cli_lines_answer(&b->lines, s->question, s->text, s->n_text, s->n_tokens, event->step.finish);
        if (b->files->memory) (void)vouch_draft_memory_keep(b->files->memory, NULL); /* a failure is told at the end */
    } else {
        tool_complain("--prompts: line %d: %s", (int)b->questions.items[s->question].line,
                      vouch_status_text(event->status));
        status = cli_lines_fail(&b->lines, s->question, vouch_status_text(event->status));
    }
    tool_progress_report(&b->progress, (double)b->lines.n_written / (double)b->questions.n);
    return status ? status : slot_begin(b, s);
}

static int answer_all(batch *b)
{
    const vouch_engine_event *events;
    size_t n_events;
    int status = CLI_DONE;
    b->next = b->lines.n_written;
    for (int32_t i = 0; i < b->n_slots && !status; i++) status = slot_begin(b, &b->slots[i]);
    while (!status && !tool_interrupted() && vouch_engine_step(b->engine, &events, &n_events))
        for (size_t i = 0; i < n_events && !status; i++) status = event_take(b, &events[i]);
    return status;
}

/* ------------------------------------------------------------------- figures */

static int stats_write(const batch *b, size_t n_before)
{
    const vouch_engine_stats *s = vouch_engine_get_stats(b->engine);
    const double generated = (double)s->generated_tokens;
    const tool_json_entry entries[] = {
        {"answers", json_integer((json_int_t)(b->lines.n_written - n_before))},
        {"resumed", json_integer((json_int_t)n_before)},
        {"failed", json_integer((json_int_t)b->lines.n_failed)},
        {"parallel", json_integer(b->n_slots)},
        {"seconds", tool_json_real(b->seconds)},
        {"cycles", json_integer(s->cycles)},
        {"generated_tokens", json_integer(s->generated_tokens)},
        {"tokens_per_second", tool_json_real(generated / b->seconds)},
        {"prompt_rows", json_integer(s->prompt_rows)},
        {"shared_prompt_tokens", json_integer(s->shared_tokens)},
        {"passes", json_integer(s->passes)},
        {"rows_per_pass", tool_json_real((double)s->rows / (double)s->passes)},
        {"draft_passes", json_integer(s->draft_passes)},
        {"drafted", json_integer(s->drafted)},
        {"accepted", json_integer(s->accepted)},
        {"preemptions", json_integer(s->preemptions)},
        {"memory_bytes", json_integer((json_int_t)memory_of(b))},
        {"drafters", tool_json_text(vouch_session_drafter(b->slots[0].session))},
        {"rule", tool_json_text(vouch_session_rule(b->slots[0].session))},
    };
    json_t *object = tool_json_object(entries, sizeof entries / sizeof *entries);
    vouch_error err;
    const vouch_status status = tool_file_write_json(b->files->options->stats_json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("stats-json", &err) : CLI_DONE;
}

/* Prints the closing line on standard error. */
static void tell(const batch *b, size_t n_before)
{
    const vouch_engine_stats *s = vouch_engine_get_stats(b->engine);
    if (b->lines.n_written < b->questions.n)
        tool_complain("interrupted: %zu of %zu answers are written%s", b->lines.n_written, b->questions.n,
                      b->lines.path ? "; --resume continues after them" : "");
    const size_t n = b->lines.n_written - n_before;
    const long long n_tokens = s->generated_tokens;
    fprintf(stderr, "%zu answer%s, %lld token%s in %.1f s: %.1f tokens/s; %d at once, %.0f MB", n, n == 1 ? "" : "s",
            n_tokens, n_tokens == 1 ? "" : "s", b->seconds, (double)n_tokens / b->seconds, (int)b->n_slots,
            memory_of(b) * 1e-6);
    if (s->drafted > 0)
        fprintf(stderr, "; %.1f %% of %lld guesses accepted", 100.0 * (double)s->accepted / (double)s->drafted,
                (long long)s->drafted);
    fputc('\n', stderr);
}

static int batch_run(batch *b)
{
    const size_t n_before = b->lines.n_written;
    if (n_before == b->questions.n) {
        tool_note("--out %s has %s already", b->lines.path,
                  b->lines.n_failed ? "a line for each prompt, some with an error," : "all answers");
        return b->lines.n_failed > 0 ? CLI_FAILED : CLI_DONE;
    }
    const size_t left = b->questions.n - n_before;
    b->n_slots = left < (size_t)b->files->options->n_parallel ? (int32_t)left : b->files->options->n_parallel;
    b->slots = calloc((size_t)b->n_slots, sizeof *b->slots);
    if (!b->slots) {
        tool_complain("not enough memory");
        return CLI_FAILED;
    }
    int status = engine_fit(b, context_of(b));
    if (status) return status;
    b->progress = (tool_progress){.label = "answering"};
    const double start = tool_now();
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    status = answer_all(b);
    const bool interrupted = tool_interrupted();
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    tool_progress_end(&b->progress);
    b->seconds = tool_now() - start;
    if (status) return status;
    tell(b, n_before);
    if (b->files->options->stats_json) status = stats_write(b, n_before);
    return status ? status : interrupted || b->lines.n_failed > 0 ? CLI_FAILED : CLI_DONE;
}

/* Refuses files that can't be written before anything is loaded. */
static int outputs_check(const cli_options *options)
{
    vouch_error err;
    if (options->out && tool_file_check(options->out, &err)) return cli_flag_refuse("out", &err);
    if (options->stats_json && tool_file_check(options->stats_json, &err)) return cli_flag_refuse("stats-json", &err);
    return CLI_DONE;
}

bool cli_batch_check(cli_options *options, cli_given given)
{
    if (!options->prompts) {
        tool_complain("--prompts FILE is missing: expected the prompts to answer, one a line or as JSON lines");
        return false;
    }
    if (!cli_check_asking(options, given)) return false;
    options->sampling_given |= VOUCH_SAMPLING_TEMPERATURE; /* greedy unless --temp is given */
    return cli_check_speculation(options, given);
}

int cli_batch_run(const cli_options *given)
{
    cli_options own = *given, *options = &own;
    cli_engine files = {0};
    batch b = {.files = &files};
    int status = outputs_check(options);
    if (!status) status = cli_engine_open(&files, options);
    if (!status) cli_sampling_take(options, files.model);
    if (!status) status = cli_questions_read(&b.questions, &files, "prompts");
    if (!status) {
        status = cli_lines_open(&b.lines, &files, &b.questions);
        if (!status) status = batch_run(&b);
        status = cli_first_failure(status, cli_lines_close(&b.lines));
        status = cli_first_failure(status, cli_engine_keep(&files));
    }
    engine_close(&b);
    free(b.slots);
    cli_questions_free(&b.questions);
    cli_engine_close(&files);
    return status;
}
