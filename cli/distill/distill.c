/* SPDX-License-Identifier: MIT */
/* vouch distill: teaches a head or a draft model for a model. This file reads the prompts; train/distill.h does the
 * work. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tool/file.h"
#include "model/questions.h"
#include "train/distill.h"

/* The prompts of the command line, as train_options wants them. */
typedef struct lessons {
    cli_questions prompts, measured;
    train_prompt *items, *measured_items; /* [prompts.n], [measured.n] */
    cli_questions *excluded;              /* [n_files] one for each --exclude */
    const char **texts;                   /* [n_texts] the prompts of `measured` and of all `excluded` files */
    size_t n_files, n_texts;
} lessons;

static int memory_fail(void)
{
    cli_complain("not enough memory for the prompts");
    return CLI_FAILED;
}

/* Reads the file of a flag. --category and --each choose among the prompts of --prompts alone, not of other files. */
static int questions_read(cli_questions *questions, const cli_engine *engine, const char *flag, const char *path)
{
    cli_options options = *engine->options;
    cli_engine reader = *engine;
    reader.options = &options;
    options.prompts = path;
    if (path != engine->options->prompts) options.categories.n = options.n_each = 0;
    return cli_questions_read(questions, &reader, flag);
}

static int prompts_read(cli_questions *questions, train_prompt **items, const cli_engine *engine, const char *flag,
                        const char *path)
{
    const int status = questions_read(questions, engine, flag, path);
    if (status) return status;
    *items = calloc(questions->n, sizeof **items);
    if (!*items) return memory_fail();
    for (size_t i = 0; i < questions->n; i++) {
        const cli_question *q = &questions->items[i];
        (*items)[i] =
            (train_prompt){q->tokens.items, q->tokens.n, q->text, (int32_t)cli_question_category(questions, q), 0};
    }
    return CLI_DONE;
}

static int texts_add(lessons *l, const cli_questions *questions)
{
    const char **texts = realloc(l->texts, (l->n_texts + questions->n) * sizeof *texts);
    if (!texts) return memory_fail();
    l->texts = texts;
    for (size_t i = 0; i < questions->n; i++) texts[l->n_texts++] = questions->items[i].text;
    return CLI_DONE;
}

/* Reads the prompts. This takes the model's tokenizer, but not its weights. */
static int lessons_read(lessons *l, const cli_options *options)
{
    const cli_texts *files = &options->distill.excluded;
    cli_engine engine = {0};
    const char *measured = options->distill.measured;
    if (!options->prompts && !measured && files->n == 0) return CLI_DONE;
    l->excluded = calloc(files->n + 1, sizeof *l->excluded);
    int status = l->excluded ? cli_engine_open_text(&engine, options) : memory_fail();
    if (!status && options->prompts)
        status = prompts_read(&l->prompts, &l->items, &engine, "prompts", options->prompts);
    if (!status && measured) status = prompts_read(&l->measured, &l->measured_items, &engine, "measure", measured);
    if (!status) status = texts_add(l, &l->measured);
    for (size_t i = 0; i < files->n && !status; i++) {
        cli_questions *questions = &l->excluded[l->n_files++];
        status = questions_read(questions, &engine, "exclude", files->items[i]);
        if (!status) status = texts_add(l, questions);
    }
    cli_engine_close(&engine);
    return status;
}

static void lessons_free(lessons *l)
{
    for (size_t i = 0; i < l->n_files; i++) cli_questions_free(&l->excluded[i]);
    cli_questions_free(&l->prompts);
    cli_questions_free(&l->measured);
    free(l->measured_items);
    free(l->excluded);
    free(l->texts);
    free(l->items);
}

/* ------------------------------------------------------------------ messages */

typedef struct messages {
    cli_progress progress;
    char label[128];
    char stage[32];
} messages;

static void report(void *user, const train_report *r)
{
    messages *m = user;
    if (strcmp(m->stage, r->stage) != 0) {
        cli_progress_end(&m->progress);
        m->progress = (cli_progress){.label = m->label, .is_eager = true};
        snprintf(m->stage, sizeof m->stage, "%s", r->stage);
    }
    snprintf(m->label, sizeof m->label, "%s: %s", r->stage, r->detail);
    cli_progress_report(&m->progress, r->share);
}

static void note(void *user, const char *line)
{
    messages *m = user;
    cli_progress_end(&m->progress);
    *m->stage = 0;
    fprintf(stderr, "%s\n", line);
}

static bool is_cancelled(void *user)
{
    (void)user;
    return cli_interrupted();
}

/* A depth that no chain reached has no rate. */
static void rates_print(const train_figures *f, const double rates[TRAIN_MEASURED_DEPTH], const char *where)
{
    for (int i = 0; i < TRAIN_MEASURED_DEPTH; i++)
        if (f->n_reached[i] > 0) fprintf(stderr, " %.3f", rates[i]);
        else fputs(" -", stderr);
    fputs(where, stderr);
}

static void figures_print(const char *what, const train_figures *f)
{
    if (f->n_tokens == 0) {
        fprintf(stderr, "%s: no greedy answer among them to measure; raise --tokens\n", what);
        return;
    }
    fprintf(stderr, "%s, %lld tokens, %.1f %% of them guessable: accepted", what, (long long)f->n_tokens,
            100 * f->guessable);
    rates_print(f, f->accepted, " after any token,");
    rates_print(f, f->in_cycles, " in cycles");
    fprintf(stderr, " at depth 1 to %d; %.2f tokens per cycle", TRAIN_MEASURED_DEPTH, f->tokens_per_cycle);
    if (f->sampled > 0) fprintf(stderr, "; %.3f of sampled guesses", f->sampled);
    fputc('\n', stderr);
}

/* Says that a depth learned nothing, and what to do. */
static void dead_depth_warn(const cli_options *options, const char *what, const train_figures *f)
{
    const int depth = (int)f->dead_depth;
    if (depth == 0) return;
    const bool unrolls = !options->distill.quick && !options->distill.student && options->distill.depth < depth;
    fprintf(stderr, "warning: depth %d learned nothing: %.3f of its %lld guesses were accepted on %s", depth,
            f->accepted[depth - 1], (long long)f->n_reached[depth - 1], what);
    if (depth > 1) fprintf(stderr, "; at depth 1 %.3f", f->accepted[0]);
    if (options->distill.quick) fputs(". Raise --tokens, or teach a layer, too, without --quick\n", stderr);
    else if (unrolls) fprintf(stderr, ". Raise --tokens, or give --unroll %d\n", depth);
    else fputs(". Raise --tokens or --epochs\n", stderr);
}

static const char *out_of(const cli_options *options)
{
    return options->distill.student ? options->distill.student
           : options->distill.head  ? options->distill.head
                                    : options->distill.table;
}

static void summary(const cli_options *options, const lessons *l, const train_result *r)
{
    if (options->distill.table)
        fprintf(stderr, "%s: %lld rows, counted in %lld tokens\n", options->distill.table, (long long)r->n_contexts,
                (long long)r->n_counted);
    if (out_of(options) == options->distill.table) return;
    fprintf(stderr, "%s: %.1f MB, taught from %lld tokens\n", out_of(options), (double)r->bytes * 1e-6,
            (long long)r->n_tokens);
    if (options->distill.student) figures_print("answers held back, before", &r->held_before);
    figures_print("answers held back", &r->held);
    if (options->distill.student && options->distill.measured)
        figures_print("measured prompts, before", &r->measured_before);
    if (options->distill.measured) figures_print("measured prompts", &r->measured);
    for (size_t i = 0; i < l->measured.n_categories && i < TRAIN_MOST_KINDS; i++)
        if (r->kinds[i].n_tokens > 0) figures_print(l->measured.categories[i], &r->kinds[i]);
    dead_depth_warn(options, "answers held back", &r->held);
    dead_depth_warn(options, "measured prompts", &r->measured);
}

static int teach(const cli_options *options, const lessons *l)
{
    messages m = {.progress = {.label = m.label, .is_eager = true}};
    train_options train = train_options_default();
    train_result result;
    vouch_error err;
    train.prompts = l->items;
    train.n_prompts = l->prompts.n;
    train.excluded = l->texts;
    train.n_excluded = l->n_texts;
    train.measured = l->measured_items;
    train.n_measured = l->measured.n;
    train.n_tokens = options->distill.n_tokens;
    train.sampled = options->distill.sampled;
    train.temperature = options->session.sampling.temperature;
    train.top_p = options->session.sampling.top_p;
    train.n_parallel = options->n_parallel;
    train.max_tokens = options->session.max_tokens;
    train.seed = options->session.sampling.seed;
    train.n_taps = (int32_t)options->distill.taps.n;
    for (int32_t i = 0; i < train.n_taps && i < TRAIN_MOST_TAPS; i++) train.taps[i] = options->distill.taps.items[i];
    train.table = options->distill.table;
    train.table_only = out_of(options) == options->distill.table;
    train.is_student = options->distill.student != NULL;
    train.student_model = options->distill.student_model;
    train.n_student_layers = (int32_t)options->distill.student_layers.n;
    for (int32_t i = 0; i < train.n_student_layers && i < TRAIN_MOST_LAYERS; i++)
        train.student_layers[i] = options->distill.student_layers.items[i];
    train.loss = (train_loss)options->distill.loss;
    train.beta = options->distill.beta;
    train.lora = options->distill.lora;
    train.on_policy = options->distill.on_policy;
    train.quick = options->distill.quick;
    train.n_draft = options->distill.n_draft;
    train.n_ff = options->distill.n_ff;
    train.depth = options->distill.depth;
    train.epochs = options->distill.epochs;
    train.rate = options->distill.rate;
    if (options->type) train.type = options->type;
    train.n_threads = options->session.n_threads;
    train.report = report;
    train.note = note;
    train.is_cancelled = is_cancelled;
    train.user = &m;
    cli_interrupt_set(CLI_INTERRUPT_READS);
    const vouch_status status = train_distill(options->model, out_of(options), &train, &result, &err);
    cli_progress_end(&m.progress);
    if (status == VOUCH_E_CANCELLED) {
        cli_complain("interrupted: the files beside %s keep what is done; the same command goes on", out_of(options));
        return CLI_FAILED;
    }
    if (status) {
        cli_engine_fail(&err);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    summary(options, l, &result);
    return CLI_DONE;
}

int cli_distill(const cli_options *options)
{
    lessons l = {0};
    vouch_error err;
    int status = CLI_DONE;
    if (cli_file_check(out_of(options), &err))
        status = cli_flag_refuse(options->distill.student ? "student" : options->distill.head ? "head" : "table", &err);
    if (!status) status = lessons_read(&l, options);
    if (!status) status = teach(options, &l);
    lessons_free(&l);
    return status;
}
