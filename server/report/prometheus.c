/* SPDX-License-Identifier: MIT */
/* GET /metrics: the counters as text for Prometheus. */
#include <stdio.h>
#include <stdlib.h>

#include "report/observe.h"

typedef struct page {
    server *server;
    server_text text;
    server_worker_state *states; /* [n_models] */
} page;

static void head(page *p, const char *name, const char *type, const char *help)
{
    const char *prefix = p->server->options->metrics_prefix;
    server_text_format(&p->text, "# HELP %s:%s %s\n# TYPE %s:%s %s\n", prefix, name, help, prefix, name, type);
}

/* A model's name as the value of a label. */
static void put_model(page *p, size_t model)
{
    for (const char *c = p->server->options->models[model].name; *c; c++) {
        if (*c == '"' || *c == '\\') server_text_add(&p->text, "\\", 1);
        if (*c != '\n') server_text_add(&p->text, c, 1);
    }
}

/* One line: NAME{model_name="...",LABELS} VALUE; labels begin with a comma, or are "". */
static void line(page *p, const char *name, size_t model, const char *labels, double value)
{
    server_text_format(&p->text, "%s:%s{model_name=\"", p->server->options->metrics_prefix, name);
    put_model(p, model);
    server_text_format(&p->text, "\"%s} %.9g\n", labels, value);
}

/* The type of a value in a worker's state. */
typedef enum value_kind { VALUE_INT32, VALUE_INT64, VALUE_DOUBLE } value_kind;

static double value_at(const server_worker_state *state, value_kind kind, size_t offset)
{
    const char *at = (const char *)state + offset;
    if (kind == VALUE_INT32) return *(const int32_t *)(const void *)at;
    return kind == VALUE_INT64 ? (double)*(const int64_t *)(const void *)at : *(const double *)(const void *)at;
}

#define STATE(member) offsetof(server_worker_state, member)

static const struct {
    const char *name, *type, *help;
    value_kind kind;
    size_t offset;
} simple[] = {
    {"num_requests_running", "gauge", "Answers that run.", VALUE_INT32, STATE(n_running)},
    {"num_requests_waiting", "gauge", "Answers that wait.", VALUE_INT32, STATE(n_waiting)},
    {"prompt_tokens_total", "counter", "Tokens of prompts.", VALUE_INT64, STATE(metrics.prompt_tokens)},
    {"generation_tokens_total", "counter", "Tokens of answers.", VALUE_INT64, STATE(engine.generated_tokens)},
    {"prefix_cache_queries_total", "counter", "Tokens of prompts, looked up in the cache.", VALUE_INT64,
     STATE(metrics.prompt_tokens)},
    {"prefix_cache_hits_total", "counter", "Tokens of prompts that the cache had.", VALUE_INT64,
     STATE(metrics.cached_tokens)},
    {"num_preemptions_total", "counter", "Sequences dropped from the cache, to be run again.", VALUE_INT64,
     STATE(engine.preemptions)},
    {"spec_decode_num_drafts_total", "counter", "Cycles with a draft.", VALUE_INT64, STATE(metrics.stats.draft_cycles)},
    {"spec_decode_num_draft_tokens_total", "counter", "Guesses.", VALUE_INT64, STATE(metrics.stats.drafted)},
    {"spec_decode_num_accepted_tokens_total", "counter", "Accepted guesses.", VALUE_INT64,
     STATE(metrics.stats.accepted)},
    {"model_loads_total", "counter", "Times that the model was loaded.", VALUE_INT64, STATE(n_loads)},
    {"model_bytes", "gauge", "Memory of the model and its cache; 0: it isn't loaded.", VALUE_INT64, STATE(bytes)},
    {"passes_total", "counter", "Passes of the model.", VALUE_INT64, STATE(engine.passes)},
    {"rows_total", "counter", "Rows of all passes.", VALUE_INT64, STATE(engine.rows)},
    {"prompt_rows_total", "counter", "Rows of prompts in all passes.", VALUE_INT64, STATE(engine.prompt_rows)},
    {"draft_passes_total", "counter", "Passes of draft models and heads.", VALUE_INT64, STATE(engine.draft_passes)},
    {"draft_rows_total", "counter", "Rows of passes of draft models and heads.", VALUE_INT64, STATE(engine.draft_rows)},
    {"engine_seconds_total", "counter", "Time in passes and around them.", VALUE_DOUBLE, STATE(engine.seconds)},
    {"decode_seconds_total", "counter", "Time of all cycles.", VALUE_DOUBLE, STATE(metrics.stats.decode_seconds)},
    {"pace_predicted_tokens_total", "counter", "Tokens of cycles, as expected when they were drafted.", VALUE_DOUBLE,
     STATE(metrics.stats.predicted_tokens)},
    {"pace_predicted_seconds_total", "counter", "Time of cycles, as pace expected it.", VALUE_DOUBLE,
     STATE(metrics.stats.predicted_seconds)},
};

static const struct {
    const char *name, *help;
    size_t offset;
} histograms[] = {
    {"time_to_first_token_seconds", "From the request to its first token.", STATE(metrics.first_token)},
    {"inter_token_latency_seconds", "Between two tokens of an answer.", STATE(metrics.between_tokens)},
    {"e2e_request_latency_seconds", "From the request to the end of its answer.", STATE(metrics.whole)},
    {"request_queue_time_seconds", "Waiting for a session.", STATE(metrics.queue)},
    {"request_prefill_time_seconds", "From the session to the first token.", STATE(metrics.prefill)},
    {"request_decode_time_seconds", "From the first token to the last.", STATE(metrics.decode)},
};

static void write_histogram(page *p, const char *name, size_t model, const server_histogram *h)
{
    char bucket[80], label[48];
    int64_t sum = 0;
    snprintf(bucket, sizeof bucket, "%s_bucket", name);
    for (int i = 0; i <= SERVER_BUCKETS; i++) {
        sum += h->counts[i];
        if (i < SERVER_BUCKETS) snprintf(label, sizeof label, ",le=\"%g\"", server_bounds[i]);
        else snprintf(label, sizeof label, ",le=\"+Inf\"");
        line(p, bucket, model, label, (double)sum);
    }
    snprintf(bucket, sizeof bucket, "%s_sum", name);
    line(p, bucket, model, "", h->sum);
    snprintf(bucket, sizeof bucket, "%s_count", name);
    line(p, bucket, model, "", (double)h->n);
}

static void write_reasons(page *p, size_t n_models)
{
    static const char *const reasons[SERVER_REASONS] = {"stop", "length", "abort", "error"};
    char label[64];
    head(p, "request_success_total", "counter", "Answers that have ended, by reason.");
    for (size_t m = 0; m < n_models; m++)
        for (int r = 0; r < SERVER_REASONS; r++) {
            snprintf(label, sizeof label, ",finished_reason=\"%s\"", reasons[r]);
            line(p, "request_success_total", m, label, (double)p->states[m].metrics.finished[r]);
        }
}

/* Writes the numbers of guesses by depth and by drafter. */
static void write_speculation(page *p, size_t n_models)
{
    char label[64];
    head(p, "spec_decode_num_accepted_tokens_per_pos_total", "counter", "Accepted guesses by depth.");
    for (size_t m = 0; m < n_models; m++)
        for (int i = 0; i < VOUCH_MAX_DRAFT; i++) {
            const int64_t n = p->states[m].metrics.stats.accepted_at[i];
            snprintf(label, sizeof label, ",position=\"%d\"", i);
            if (n > 0 || i == 0) line(p, "spec_decode_num_accepted_tokens_per_pos_total", m, label, (double)n);
        }
    for (int accepted = 0; accepted < 2; accepted++) {
        const char *name = accepted ? "spec_decode_accepted_by_drafter_total" : "spec_decode_drafted_by_drafter_total";
        head(p, name, "counter", accepted ? "Accepted guesses by drafter." : "Guesses by drafter.");
        for (size_t m = 0; m < n_models; m++)
            for (int d = 1; d < VOUCH_DRAFTERS; d++) {
                const vouch_stats *s = &p->states[m].metrics.stats;
                snprintf(label, sizeof label, ",drafter=\"%s\"", vouch_drafter_name(d));
                line(p, name, m, label, (double)(accepted ? s->accepted_by[d] : s->drafted_by[d]));
            }
    }
}

void server_show_metrics(server_exchange *x)
{
    server *s = x->server;
    const size_t n = s->options->n_models;
    server_worker_state *states = calloc(n, sizeof *states);
    page p = {.server = s, .states = states};
    for (size_t m = 0; m < n && states; m++) states[m] = server_worker_get_state(s->models[m].worker);
    for (size_t i = 0; i < sizeof simple / sizeof *simple && states; i++) {
        head(&p, simple[i].name, simple[i].type, simple[i].help);
        for (size_t m = 0; m < n; m++)
            line(&p, simple[i].name, m, "", value_at(&states[m], simple[i].kind, simple[i].offset));
    }
    for (size_t i = 0; i < sizeof histograms / sizeof *histograms && states; i++) {
        head(&p, histograms[i].name, "histogram", histograms[i].help);
        for (size_t m = 0; m < n; m++)
            write_histogram(&p, histograms[i].name, m,
                            (const server_histogram *)(const void *)((const char *)&states[m] + histograms[i].offset));
    }
    if (states) write_reasons(&p, n);
    if (states) write_speculation(&p, n);
    if (states && !p.text.failed)
        server_reply_text(x, 200, "text/plain; version=0.0.4; charset=utf-8", p.text.bytes, p.text.n);
    server_text_free(&p.text);
    free(states);
}
