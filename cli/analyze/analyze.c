/* SPDX-License-Identifier: MIT */
#include "analyze/analyze.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tool/file.h"
#include "model/probe.h"
#include "model/questions.h"

enum { ROWS = 16 /* read at once */, DEFAULT_CHUNK = 256, DEFAULT_CHUNKS = 8 };

static vouch_status memory_fail(vouch_error *err)
{
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the texts"};
    return err->code;
}

/* -------------------------------------------------------------------- texts */

static vouch_status text_add(cli_analysis *a, const char *name, const int32_t *tokens, size_t n, int32_t first,
                             vouch_error *err)
{
    cli_analyzed_text *texts = realloc(a->texts, (a->n_texts + 1) * sizeof *texts);
    if (!texts) return memory_fail(err);
    a->texts = texts;
    cli_analyzed_text *text = &texts[a->n_texts++];
    *text = (cli_analyzed_text){
        .name = strdup(name), .tokens = {malloc((n + 1) * sizeof *tokens), n}, .first = first, .n = (int32_t)n - first};
    text->at = calloc((size_t)text->n + 1, sizeof *text->at);
    if (!text->name || !text->tokens.items || !text->at) return memory_fail(err);
    memcpy(text->tokens.items, tokens, n * sizeof *tokens);
    return VOUCH_OK;
}

/* Reads the file that --text names, and adds each chunk of --ctx tokens as a text. */
static vouch_status chunks_add(cli_analysis *a, vouch_error *err)
{
    const cli_options *o = a->engine->options;
    const size_t size = (size_t)(o->session.n_ctx ? o->session.n_ctx : DEFAULT_CHUNK);
    const size_t most = (size_t)(o->n_chunks ? o->n_chunks : DEFAULT_CHUNKS);
    cli_tokens all = {NULL, 0};
    char *bytes = NULL, name[32];
    size_t n;
    vouch_status status = tool_file_read(o->text, &bytes, &n, err);
    if (!status) status = cli_prompt_tokenize(a->engine, bytes, NULL, n, VOUCH_TOKENIZE_BOS, &all, err);
    for (size_t at = 0; !status && at + 2 <= all.n && a->n_texts < most; at += size) {
        const size_t left = all.n - at;
        snprintf(name, sizeof name, "from token %zu", at);
        status = text_add(a, name, all.items + at, left < size ? left : size, 1, err);
    }
    if (!status && a->n_texts == 0) {
        *err = (vouch_error){.code = VOUCH_E_ARGUMENT};
        snprintf(err->message, sizeof err->message, "%.300s has fewer than 2 tokens: expected a longer text", o->text);
        status = err->code;
    }
    free(bytes);
    free(all.items);
    return status;
}

static int32_t trained_context(const cli_analysis *a)
{
    return vouch_model_get_info(a->engine->model)->n_ctx_train;
}

/* The progress line: it shows `done` of the `n` answers that the target writes. */
typedef struct answers {
    tool_progress progress;
    size_t done, n;
} answers;

/* Adds a prompt and the target's answer. The answer ends at the context length that the model was trained for, or
 * earlier. */
static vouch_status answer_add(cli_analysis *a, const char *name, const int32_t *prompt, size_t n, answers *state,
                               vouch_error *err)
{
    vouch_session_options options = a->engine->options->session;
    vouch_session *session = NULL;
    vouch_step step = {0};
    const int64_t n_ctx = (int64_t)n + options.max_tokens + 1, trained = trained_context(a);
    options.n_ctx = (int32_t)(n_ctx < trained ? n_ctx : trained);
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_status status = vouch_session_open(&session, a->engine->model, &options, err);
    if (!status) status = vouch_session_prompt(session, prompt, n, err);
    for (int32_t written = 0; !status && step.finish == VOUCH_FINISH_NONE; written++) {
        const double share = (double)written / options.max_tokens;
        tool_progress_report(&state->progress, ((double)state->done + share) / (double)state->n);
        status = vouch_session_step(session, &step, err);
    }
    state->done++;
    if (!status) {
        size_t n_all;
        const int32_t *all = vouch_session_tokens(session, &n_all);
        status = text_add(a, name, all, n_all, (int32_t)n, err);
    }
    vouch_session_close(session);
    return status;
}

static vouch_status own_prompts_add(cli_analysis *a, vouch_error *err)
{
    static const char *const names[CLI_PROBE_TEXTS] = {"repetition", "list", "prose", "code"};
    answers answering = {.progress = {.label = "answering"}, .n = CLI_PROBE_TEXTS};
    vouch_status status = VOUCH_OK;
    for (int i = 0; i < CLI_PROBE_TEXTS && !status; i++) {
        int32_t tokens[CLI_PROBE_TOKENS];
        const int32_t n = cli_probe_text(a->engine->model, i, tokens, CLI_PROBE_TOKENS);
        status = answer_add(a, names[i], tokens, (size_t)n, &answering, err);
    }
    tool_progress_end(&answering.progress);
    return status;
}

/* Names the text "CATEGORY ID". */
static vouch_status question_add(cli_analysis *a, const cli_question *question, answers *state, vouch_error *err)
{
    const size_t n = strlen(question->category) + strlen(question->id) + 2;
    char *name = malloc(n);
    if (!name) return memory_fail(err);
    snprintf(name, n, "%s %s", question->category, question->id);
    const vouch_status status = answer_add(a, name, question->tokens.items, question->tokens.n, state, err);
    free(name);
    return status;
}

static int questions_add(cli_analysis *a)
{
    cli_questions q;
    vouch_error err;
    int status = cli_questions_read(&q, a->engine, "prompts");
    if (!status)
        status = cli_questions_fit(&q, trained_context(a), 1,
                                   "the model was trained for no longer context; shorten the prompts");
    answers answering = {.progress = {.label = "answering"}, .n = q.n};
    for (size_t i = 0; i < q.n && !status; i++)
        if (question_add(a, &q.items[i], &answering, &err)) status = cli_engine_fail(&err);
    tool_progress_end(&answering.progress);
    cli_questions_free(&q);
    return status;
}

static int texts_collect(cli_analysis *a)
{
    const cli_options *o = a->engine->options;
    vouch_error err;
    if (o->prompts) return questions_add(a);
    if (o->text && chunks_add(a, &err))
        return err.code == VOUCH_E_IO ? cli_flag_refuse("text", &err) : cli_flag_fail("text", &err);
    if (o->text) return CLI_DONE;
    return own_prompts_add(a, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* ------------------------------------------------------------------ p and q */

typedef struct readers {
    vouch_session *target, *draft;
    float *p, *q, *logits; /* [ROWS][n_vocab] */
    size_t n_vocab;
    cli_oracle silent;
} readers;

/* Opens sessions that only read texts. The cost curve needs passes of CLI_MOST_K + 1 rows. A silent drafter (it never
 * guesses) with n_draft = CLI_MOST_K makes the sessions reserve them. */
static vouch_status readers_open(readers *r, const cli_analysis *a, vouch_error *err)
{
    vouch_session_options options = a->engine->options->session;
    size_t longest = 0;
    for (size_t i = 0; i < a->n_texts; i++)
        if (a->texts[i].tokens.n > longest) longest = a->texts[i].tokens.n;
    options.n_ctx = (int32_t)longest + CLI_MOST_K + 2;
    options.speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    options.speculation.n_draft = CLI_MOST_K;
    options.speculation.custom = cli_oracle_drafter(&r->silent);
    r->n_vocab = (size_t)vouch_model_get_info(a->engine->model)->n_vocab;
    r->p = calloc(ROWS * r->n_vocab, sizeof *r->p);
    r->q = calloc(ROWS * r->n_vocab, sizeof *r->q);
    r->logits = calloc(ROWS * r->n_vocab, sizeof *r->logits);
    if (!r->p || !r->q || !r->logits) return memory_fail(err);
    vouch_status status = vouch_session_open(&r->target, a->engine->model, &options, err);
    if (!status) status = vouch_session_open(&r->draft, a->engine->draft, &options, err);
    return status;
}

static void readers_close(readers *r)
{
    vouch_session_close(r->target);
    vouch_session_close(r->draft);
    free(r->p);
    free(r->q);
    free(r->logits);
}

static vouch_status text_read(readers *r, cli_analyzed_text *text, vouch_error *err)
{
    vouch_status status = cli_session_prompt(r->target, text->tokens.items, text->tokens.n, err);
    if (!status) status = cli_session_prompt(r->draft, text->tokens.items, text->tokens.n, err);
    for (int32_t done = 0; done < text->n && !status; done += ROWS) {
        const int32_t left = text->n - done, n = left < ROWS ? left : ROWS, first = text->first - 1 + done;
        status = vouch_session_probabilities(r->target, first, n, r->p, err);
        if (!status) status = vouch_session_probabilities(r->draft, first, n, r->q, err);
        if (!status) status = vouch_session_logits(r->target, first, n, r->logits, err);
        for (int32_t i = 0; i < n && !status; i++) {
            const size_t row = (size_t)i * r->n_vocab;
            text->at[done + i] = cli_acceptance_of(r->p + row, r->q + row, r->logits + row, (int32_t)r->n_vocab);
        }
    }
    return status;
}

/* Times passes at the end of each text: the target's cost curve once, and passes of one row of the draft model TIMES
 * times. */
static vouch_status costs_read(cli_analysis *a, const readers *r, vouch_error *err)
{
    enum { TIMES = 3 };
    vouch_status status = cli_cost_curve_measure(&a->costs, r->target, err);
    for (int i = 0; i < TIMES && !status; i++) status = cli_cost_curve_measure(&a->draft_costs, r->draft, err);
    a->draft_seconds = cli_cost_curve_seconds(&a->draft_costs, 1);
    return status;
}

static void texts_free(cli_analysis *a, size_t from)
{
    for (size_t i = from; i < a->n_texts; i++) {
        free(a->texts[i].name);
        free(a->texts[i].tokens.items);
        free(a->texts[i].at);
    }
    if (from < a->n_texts) a->n_texts = from;
}

/* After Ctrl-C, keeps the texts read so far. */
static vouch_status texts_read(cli_analysis *a, vouch_error *err)
{
    size_t n_read = 0;
    readers r = {.silent = {.mode = CLI_ORACLE_SILENT}};
    tool_progress progress = {.label = "comparing"};
    tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
    vouch_status status = readers_open(&r, a, err);
    for (size_t i = 0; i < a->n_texts && !status; i++) {
        status = text_read(&r, &a->texts[i], err);
        if (!status) status = costs_read(a, &r, err);
        if (!status) n_read++;
        tool_progress_report(&progress, (double)(i + 1) / (double)a->n_texts);
    }
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    tool_progress_end(&progress);
    a->interrupted = status == VOUCH_E_CANCELLED && n_read > 0;
    a->n_asked = a->n_texts;
    if (a->interrupted) {
        tool_complain("interrupted: the report covers %zu of %zu texts", n_read, a->n_asked);
        texts_free(a, n_read);
        status = VOUCH_OK;
    }
    readers_close(&r);
    return status;
}

/* ------------------------------------------------------------------- command */

static int analysis_report(const cli_analysis *a)
{
    const cli_options *o = a->engine->options;
    int status = cli_analysis_print(a);
    if (o->json) status = cli_first_failure(status, cli_analysis_write_json(a));
    if (o->svg) status = cli_first_failure(status, cli_analysis_write_svg(a));
    return status;
}

/* The texts to compare on are chunks of --text, answers to --prompts, or answers to prompts that vouch brings. */
static bool check_texts(const cli_options *options, cli_given given)
{
    enum { CHUNKS = 1, ANSWERS = 2, OWN = 4 };
    static const struct {
        const char *name;
        unsigned where;
    } uses[] = {
        {"ctx", CHUNKS},         {"chunks", CHUNKS},
        {"category", ANSWERS},   {"each", ANSWERS},
        {"system", ANSWERS},     {"max-tokens", ANSWERS | OWN},
        {"stop", ANSWERS | OWN}, {"ignore-eos", ANSWERS | OWN},
    };
    const unsigned here = options->text ? CHUNKS : options->prompts ? ANSWERS : OWN;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!cli_given_find(given, uses[i].name) || uses[i].where & here) continue;
        tool_complain("--%s has no effect %s", uses[i].name,
                      uses[i].where == CHUNKS ? "without --text FILE"
                      : uses[i].where & OWN   ? "with --text FILE"
                                              : "without --prompts FILE");
        return false;
    }
    return true;
}

bool cli_analyze_check(cli_options *options, cli_given given)
{
    if (!options->draft_model) {
        tool_complain("--draft-model FILE is missing: expected the GGUF file of the model that drafts");
        return false;
    }
    if (options->text && options->prompts) {
        tool_complain(
            "--text and --prompts exclude each other: each says what to compare the models on; leave out one");
        return false;
    }
    return check_texts(options, given) && cli_check_asking(options, given);
}

int cli_analyze_run(const cli_options *options)
{
    cli_engine engine = {0};
    cli_analysis a = {
        .engine = &engine, .costs = cli_cost_curve_new(), .draft_costs = {.n = 1, .items = {{.rows = 1}}}};
    vouch_error err;
    if (options->json && tool_file_check(options->json, &err)) return cli_flag_refuse("json", &err);
    if (options->svg && tool_file_check(options->svg, &err)) return cli_flag_refuse("svg", &err);
    int status = cli_engine_open(&engine, options);
    if (!status) status = texts_collect(&a);
    if (!status && texts_read(&a, &err)) status = cli_engine_fail(&err);
    if (!status && cli_analysis_sum_up(&a, &err)) status = cli_engine_fail(&err);
    if (!status) status = analysis_report(&a);
    if (a.interrupted) status = CLI_FAILED;
    texts_free(&a, 0);
    free(a.texts);
    cli_engine_close(&engine);
    return status;
}
