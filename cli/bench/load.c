/* SPDX-License-Identifier: MIT */
#include "bench/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/configs.h"
#include "cli.h"
#include "report/rates.h"
#include "tool/statistics.h"

/* A session and its running answer. */
typedef struct slot {
    vouch_session *session;
    size_t question;
    double last; /* when its last tokens came; 0: none yet */
} slot;

/* One run: answers all prompts with one config, n_slots of them at once. */
typedef struct run {
    cli_load *load;
    cli_load_cell *cell;
    vouch_draft_memory *memory; /* NULL: the drafters don't remember */
    vouch_engine *engine;
    slot *slots; /* [n_slots] */
    size_t n_slots, next, n_done;
    bool is_first; /* the other runs must give the same answers as this run */
    vouch_error err;
} run;

cli_load_cell *cli_load_at(const cli_load *load, size_t i_at_once, size_t config)
{
    return &load->cells[i_at_once * load->n_configs + config];
}

const char *cli_load_name(const cli_load *load, size_t config, char text[CLI_DRAFTERS_SIZE])
{
    return config == 0 ? "plain" : cli_spec_text(load->drafters[config], text);
}

/* ------------------------------------------------------------------- answers */

static vouch_status gap_add(run *r, double seconds, int32_t n)
{
    cli_load_cell *c = r->cell;
    if (c->n_gaps + (size_t)n > c->most_gaps) {
        const size_t most = 2 * (c->n_gaps + (size_t)n);
        double *gaps = realloc(c->gaps, most * sizeof *gaps);
        if (!gaps) {
            r->err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the times between tokens"};
            return VOUCH_E_MEMORY;
        }
        c->gaps = gaps;
        c->most_gaps = most;
    }
    for (int32_t i = 0; i < n; i++) c->gaps[c->n_gaps++] = seconds / n;
    return VOUCH_OK;
}

static vouch_status slot_begin(run *r, slot *s)
{
    const cli_load *b = r->load;
    if (r->next == b->questions.n) return VOUCH_OK;
    const cli_question *question = &b->questions.items[r->next];
    *s = (slot){.session = s->session, .question = r->next++};
    vouch_session_set_seed(s->session, b->engine->options->session.sampling.seed);
    return vouch_session_prompt(s->session, question->tokens.items, question->tokens.n, &r->err);
}

/* Whether the answers must equal those of the first run. Greedy text must. Sampled text must if the seed reproduces it
 * and both runs use the same rule. */
static bool must_be_same(const run *r, const vouch_session *session)
{
    const char *rule = vouch_session_rule(session);
    if (r->load->engine->options->session.sampling.temperature == 0) return true;
    int i = 0;
    while (strcmp(vouch_accept_name(i), rule) != 0) i++;
    return vouch_accept_get_info(i).seed_reproduces && strcmp(r->load->rule, rule) == 0;
}

static vouch_status answer_compare(run *r, const slot *s)
{
    size_t n;
    const int32_t *tokens = vouch_session_tokens(s->session, &n);
    int32_t **expected = &r->load->expected[s->question];
    if (r->is_first && !*expected) {
        *expected = malloc((n + 1) * sizeof **expected);
        if (!*expected) {
            r->err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for an answer"};
            return VOUCH_E_MEMORY;
        }
        **expected = (int32_t)n;
        r->load->rule = vouch_session_rule(s->session);
        memcpy(*expected + 1, tokens, n * sizeof *tokens);
    }
    const bool is_same = *expected && (size_t)**expected == n && memcmp(*expected + 1, tokens, n * sizeof *tokens) == 0;
    r->cell->n_different += !is_same && must_be_same(r, s->session);
    return VOUCH_OK;
}

static vouch_status event_take(run *r, const vouch_engine_event *event)
{
    slot *s = r->slots;
    while (s->session != event->session) s++;
    if (event->status != VOUCH_OK) {
        r->err.code = event->status;
        snprintf(r->err.message, sizeof r->err.message, "%s", vouch_status_text(event->status));
        return event->status;
    }
    const double now = tool_now();
    vouch_status status = s->last > 0 ? gap_add(r, now - s->last, event->step.n_tokens) : VOUCH_OK;
    s->last = now;
    if (status || event->step.finish == VOUCH_FINISH_NONE) return status;
    r->n_done++;
    status = answer_compare(r, s);
    return status ? status : slot_begin(r, s);
}

/* ----------------------------------------------------------------------- run */

static vouch_status run_open(run *r, size_t config)
{
    const cli_load *b = r->load;
    const cli_options *o = b->engine->options;
    const vouch_session_options *given = &o->session;
    const vouch_engine_options engine = {.n_sessions = (int32_t)r->n_slots,
                                         .n_ctx = b->n_ctx,
                                         .n_threads = given->n_threads,
                                         .prefill_chunk = given->prefill_chunk,
                                         .kv_type = given->kv_type};
    vouch_session_options session = *given;
    session.n_ctx = b->n_ctx;
    cli_engine_speculate(b->engine, &session.speculation);
    session.speculation.drafters = b->drafters[config];
    session.speculation.n_draft = o->bench.draft_lengths.items[0];
    session.speculation.accept = (vouch_accept)o->bench.rules.items[0];
    r->slots = calloc(r->n_slots, sizeof *r->slots);
    if (!r->slots) {
        r->err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the sessions"};
        return VOUCH_E_MEMORY;
    }
    vouch_status status = cli_bench_remember(&r->memory, b->engine->model, &session.speculation, &r->err);
    if (!status) status = vouch_engine_open(&r->engine, b->engine->model, &engine, &r->err);
    for (size_t i = 0; i < r->n_slots && !status; i++)
        status = vouch_engine_session_open(&r->slots[i].session, r->engine, &session, &r->err);
    return status;
}

/* Adds the run's counts to its cell. seconds: how long the run took. */
static void run_count(run *r, double seconds, size_t round)
{
    cli_load_cell *c = r->cell;
    const vouch_engine_stats *sum = vouch_engine_get_stats(r->engine);
    c->speeds[round] = cli_ratio((double)sum->generated_tokens, seconds);
    c->generated += sum->generated_tokens;
    c->drafted += sum->drafted;
    c->accepted += sum->accepted;
    c->passes += sum->passes;
    c->rows += sum->rows - sum->prompt_rows;
    c->draft_passes += sum->draft_passes;
    c->memory =
        (double)vouch_model_get_info(r->load->engine->model)->packed_bytes + (double)vouch_engine_memory(r->engine);
    for (size_t i = 0; i < r->n_slots; i++) {
        const vouch_stats *s = vouch_session_stats(r->slots[i].session);
        c->predicted_tokens += s->predicted_tokens;
        c->predicted_seconds += s->predicted_seconds;
        c->decoded += s->generated_tokens;
        c->decode_seconds += s->decode_seconds;
        c->memory += (double)vouch_session_memory(r->slots[i].session);
    }
}

static void run_close(run *r)
{
    for (size_t i = 0; r->slots && i < r->n_slots; i++) vouch_session_close(r->slots[i].session);
    vouch_engine_close(r->engine);
    vouch_draft_memory_close(r->memory);
    free(r->slots);
}

/* Answers all prompts. CANCELLED: by Ctrl-C. */
static vouch_status run_all(cli_load *b, size_t i_at_once, size_t config, size_t round, tool_progress *progress,
                            double done, vouch_error *err)
{
    run r = {.load = b,
             .cell = cli_load_at(b, i_at_once, config),
             .n_slots = (size_t)b->at_once->items[i_at_once],
             .is_first = i_at_once == 0 && config == 0};
    const double all = (double)(b->n_rounds * b->at_once->n * b->n_configs);
    vouch_status status = run_open(&r, config);
    const double start = tool_now();
    for (size_t i = 0; i < r.n_slots && !status; i++) status = slot_begin(&r, &r.slots[i]);
    const vouch_engine_event *events;
    size_t n_events;
    while (!status && vouch_engine_step(r.engine, &events, &n_events)) {
        for (size_t i = 0; i < n_events && !status; i++) status = event_take(&r, &events[i]);
        tool_progress_report(progress, (done + (double)r.n_done / (double)b->questions.n) / all);
        if (tool_interrupted()) status = VOUCH_E_CANCELLED;
    }
    if (!status) run_count(&r, tool_now() - start, round);
    run_close(&r);
    *err = r.err;
    return status;
}

static vouch_status measure(cli_load *b, vouch_error *err)
{
    tool_progress progress = {.label = "answering"};
    vouch_status status = VOUCH_OK;
    double done = 0;
    for (size_t round = 0; round < b->n_rounds && !status; round++) {
        for (size_t i = 0; i < b->at_once->n && !status; i++)
            for (size_t config = 0; config < b->n_configs && !status; config++)
                status = run_all(b, i, config, round, &progress, done++, err);
        if (!status) b->n_complete++;
    }
    tool_progress_end(&progress);
    return status;
}

/* ------------------------------------------------------------------- figures */

/* The median over the rounds of x's speed relative to y's. */
static double relative(const cli_load *b, const cli_load_cell *x, const cli_load_cell *y)
{
    double *ratios = calloc(b->n_complete, sizeof *ratios);
    if (!ratios) return NAN;
    for (size_t i = 0; i < b->n_complete; i++) ratios[i] = cli_ratio(x->speeds[i], y->speeds[i]);
    const double median = tool_quantile(ratios, b->n_complete, 0.5);
    free(ratios);
    return median;
}

cli_load_figures cli_load_figure(const cli_load *load, size_t i_at_once, size_t config)
{
    const cli_load_cell *c = cli_load_at(load, i_at_once, config);
    cli_load_figures f = {.to_first = relative(load, c, cli_load_at(load, 0, config)),
                          .to_plain = relative(load, c, cli_load_at(load, i_at_once, 0)),
                          .median_gap = c->n_gaps > 0 ? tool_quantile(c->gaps, c->n_gaps, 0.5) : NAN,
                          .late_gap = c->n_gaps > 0 ? tool_quantile(c->gaps, c->n_gaps, 0.99) : NAN,
                          .accepted = cli_ratio((double)c->accepted, (double)c->drafted),
                          .tokens_per_pass = cli_ratio((double)c->generated, (double)c->passes),
                          .rows_per_pass = cli_ratio((double)c->rows, (double)c->passes),
                          .draft_passes_per_pass = cli_ratio((double)c->draft_passes, (double)c->passes),
                          .expected_to_achieved = cli_ratio(cli_ratio(c->predicted_tokens, c->predicted_seconds),
                                                            cli_ratio((double)c->decoded, c->decode_seconds))};
    double *speeds = calloc(load->n_complete, sizeof *speeds);
    if (speeds) memcpy(speeds, c->speeds, load->n_complete * sizeof *speeds);
    f.speed = speeds ? tool_quantile(speeds, load->n_complete, 0.5) : NAN;
    free(speeds);
    return f;
}

/* ------------------------------------------------------------------- command */

static int report(const cli_load *b, vouch_status status, const vouch_error *err)
{
    const cli_options *o = b->engine->options;
    size_t n_different = 0;
    int result = CLI_DONE;
    if (b->n_complete > 0) {
        result = cli_load_print(b);
        if (o->json) result = cli_first_failure(result, cli_load_write_json(b));
        if (o->bench.html) result = cli_first_failure(result, cli_load_write_html(b));
    }
    for (size_t i = 0; i < b->at_once->n * b->n_configs; i++) n_different += b->cells[i].n_different;
    if (n_different > 0)
        tool_complain("%zu answers differ from those of one prompt at a time without drafts: law L2 or L7 "
                      "(docs/lossless.md) is broken, please report it",
                      n_different);
    if (status == VOUCH_E_CANCELLED)
        tool_complain("interrupted: the report covers %zu of %zu rounds", b->n_complete, b->n_rounds);
    else if (status) tool_complain("--prompts: %s", err->message);
    return status || n_different > 0 ? CLI_FAILED : result;
}

/* Context length: --ctx, or else room for the longest prompt and its answer, but no more than the model was trained
 * for. */
static int context_choose(cli_load *b)
{
    const vouch_session_options *o = &b->engine->options->session;
    const int64_t n_train = vouch_model_get_info(b->engine->model)->n_ctx_train;
    int64_t longest = 0;
    for (size_t i = 0; i < b->questions.n; i++)
        if ((int64_t)b->questions.items[i].tokens.n > longest) longest = (int64_t)b->questions.items[i].tokens.n;
    int64_t n_ctx = o->n_ctx ? o->n_ctx : o->max_tokens ? longest + o->max_tokens + 1 : n_train;
    if (!o->n_ctx && n_ctx > n_train) n_ctx = n_train;
    b->n_ctx = n_ctx < 2 ? 2 : (int32_t)n_ctx;
    return cli_questions_fit(&b->questions, b->n_ctx, o->max_tokens ? o->max_tokens : 1,
                             "set a longer context with --ctx, or a shorter answer with -n");
}

static int check_prompts(const cli_load *b)
{
    const int32_t most = b->at_once->items[b->at_once->n - 1];
    if ((size_t)most <= b->questions.n) return CLI_DONE;
    tool_complain("--parallel %d: %s has %zu prompts to answer; give more prompts, or answer fewer at once", most,
                  b->engine->options->prompts, b->questions.n);
    return CLI_WRONG_USAGE;
}

static bool allocate(cli_load *b)
{
    const tool_ints *sets = &b->engine->options->bench.drafters;
    b->drafters = calloc(sets->n + 1, sizeof *b->drafters);
    if (!b->drafters) return false;
    b->drafters[b->n_configs++] = VOUCH_DRAFTER_NONE;
    for (size_t i = 0; i < sets->n; i++)
        if (sets->items[i] != VOUCH_DRAFTER_NONE) b->drafters[b->n_configs++] = (unsigned)sets->items[i];
    const size_t n = b->at_once->n * b->n_configs;
    b->cells = calloc(n, sizeof *b->cells);
    b->expected = calloc(b->questions.n, sizeof *b->expected);
    if (!b->cells || !b->expected || !cli_provenance_of(&b->provenance, b->engine)) return false;
    for (size_t i = 0; i < n; i++) {
        b->cells[i].speeds = calloc(b->n_rounds, sizeof *b->cells[i].speeds);
        if (!b->cells[i].speeds) return false;
    }
    return true;
}

static void load_free(cli_load *b)
{
    for (size_t i = 0; b->cells && i < b->at_once->n * b->n_configs; i++) {
        free(b->cells[i].speeds);
        free(b->cells[i].gaps);
    }
    for (size_t i = 0; b->expected && i < b->questions.n; i++) free(b->expected[i]);
    free(b->cells);
    free(b->expected);
    free(b->drafters);
    cli_provenance_free(&b->provenance);
    cli_questions_free(&b->questions);
}

int cli_bench_load(const cli_options *options)
{
    cli_engine engine = {0};
    cli_load b = {.engine = &engine, .at_once = &options->bench.parallel, .n_rounds = (size_t)options->bench.n_reps};
    vouch_error err = {0};
    int status = cli_engine_open(&engine, options);
    if (!status) status = cli_questions_read(&b.questions, &engine, "prompts");
    if (!status) status = context_choose(&b);
    if (!status) status = check_prompts(&b);
    if (!status && !allocate(&b)) {
        tool_complain("not enough memory for the figures");
        status = CLI_FAILED;
    }
    if (!status) {
        tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
        const vouch_status measured = measure(&b, &err);
        tool_interrupt_set(TOOL_INTERRUPT_ENDS);
        status = report(&b, measured, &err);
    }
    load_free(&b);
    cli_engine_close(&engine);
    return status;
}
