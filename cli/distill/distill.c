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
    tool_complain("not enough memory for the prompts");
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
            (train_prompt){q->tokens.items, q->tokens.n, q->turns[0], (int32_t)cli_question_category(questions, q), 0};
    }
    return CLI_DONE;
}

static int texts_add(lessons *l, const cli_questions *questions)
{
    const char **texts = realloc(l->texts, (l->n_texts + questions->n) * sizeof *texts);
    if (!texts) return memory_fail();
    l->texts = texts;
    for (size_t i = 0; i < questions->n; i++) texts[l->n_texts++] = questions->items[i].turns[0];
    return CLI_DONE;
}

/* Reads the prompts. This takes the model's tokenizer, but not its weights. */
static int lessons_read(lessons *l, const cli_options *options)
{
    const tool_texts *files = &options->distill.excluded;
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

/* Copies a message of train/ with the command's flags in place of its fields, such as `n_tokens`. */
static void flags_print(const char *message, char *out, size_t size)
{
    static const char *const others[][2] = {{"n_tokens", "tokens"},
                                            {"n_parallel", "parallel"},
                                            {"depth", "unroll"},
                                            {"n_draft", "vocab"},
                                            {"n_ff", "ff-width"}};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    for (size_t used = 0; used + 1 < size && (out[used] = *message);) {
        const size_t n = *message == '`' ? strspn(message + 1, letters) : 0;
        if (n == 0 || message[n + 1] != '`') {
            used++, message++;
            continue;
        }
        char flag[32];
        snprintf(flag, sizeof flag, "%.*s", (int)n, message + 1);
        for (char *c = flag; *c; c++) *c = *c == '_' ? '-' : *c;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (strlen(others[i][0]) == n && strncmp(others[i][0], message + 1, n) == 0) strcpy(flag, others[i][1]);
        const int written = snprintf(out + used, size - used, "--%s", flag);
        used = used + (size_t)written < size ? used + (size_t)written : size;
        message += n + 2;
    }
    out[size - 1] = '\0';
}

typedef struct messages {
    tool_progress progress;
    char label[128];
    char stage[32];
} messages;

static void report(void *user, const train_report *r)
{
    messages *m = user;
    if (strcmp(m->stage, r->stage) != 0) {
        tool_progress_end(&m->progress);
        m->progress = (tool_progress){.label = m->label, .is_eager = true};
        snprintf(m->stage, sizeof m->stage, "%s", r->stage);
    }
    snprintf(m->label, sizeof m->label, "%s: %s", r->stage, r->detail);
    tool_progress_report(&m->progress, r->share);
}

static void note(void *user, const char *line)
{
    messages *m = user;
    tool_progress_end(&m->progress);
    *m->stage = 0;
    char text[512];
    flags_print(line, text, sizeof text);
    fprintf(stderr, "%s\n", text);
}

static bool is_cancelled(void *user)
{
    (void)user;
    return tool_interrupted();
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
    const bool unrolls =
        !options->distill.train.quick && !options->distill.student && options->distill.train.depth < depth;
    fprintf(stderr, "warning: depth %d learned nothing: %.3f of its %lld guesses were accepted on %s", depth,
            f->accepted[depth - 1], (long long)f->n_reached[depth - 1], what);
    if (depth > 1) fprintf(stderr, "; at depth 1 %.3f", f->accepted[0]);
    if (options->distill.train.quick) fputs(". Raise --tokens, or teach a layer, too, without --quick\n", stderr);
    else if (unrolls) fprintf(stderr, ". Raise --tokens, or give --unroll %d\n", depth);
    else fputs(". Raise --tokens or --epochs\n", stderr);
}

static const char *out_of(const cli_options *options)
{
    return options->distill.student ? options->distill.student
           : options->distill.head  ? options->distill.head
                                    : options->distill.train.table;
}

static void summary(const cli_options *options, const lessons *l, const train_result *r)
{
    if (options->distill.train.table)
        fprintf(stderr, "%s: %lld rows, counted in %lld tokens\n", options->distill.train.table,
                (long long)r->n_contexts, (long long)r->n_counted);
    if (out_of(options) == options->distill.train.table) return;
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
    train_options train = options->distill.train;
    train_result result;
    vouch_error err;
    char text[sizeof err.message];
    train.prompts = l->items;
    train.n_prompts = l->prompts.n;
    train.excluded = l->texts;
    train.n_excluded = l->n_texts;
    train.n_tokens = options->distill.n_tokens;
    train.measured = l->measured_items;
    train.n_measured = l->measured.n;
    train.taps = options->distill.taps.items;
    train.n_taps = (int32_t)options->distill.taps.n;
    train.student_layers = options->distill.student_layers.items;
    train.n_student_layers = (int32_t)options->distill.student_layers.n;
    train.table_only = out_of(options) == options->distill.train.table;
    train.is_student = options->distill.student != NULL;
    train.n_threads = options->session.n_threads;
    train.report = report;
    train.note = note;
    train.is_cancelled = is_cancelled;
    train.user = &m;
    tool_interrupt_set(TOOL_INTERRUPT_READS);
    cli_engine_note_plain(options);
    const vouch_status status = train_distill(options->model, out_of(options), &train, &result, &err);
    tool_progress_end(&m.progress);
    if (status == VOUCH_E_CANCELLED) {
        tool_complain("interrupted: the files beside %s keep what is done; the same command goes on", out_of(options));
        return CLI_FAILED;
    }
    if (status) {
        flags_print(err.message, text, sizeof text);
        snprintf(err.message, sizeof err.message, "%s", text);
        cli_engine_fail(&err);
        return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
    }
    summary(options, l, &result);
    return CLI_DONE;
}

/* False with a complaint where one of the flags is given. */
static bool refuse_idle(cli_given given, const char *const *names, const char *why)
{
    while (*names && !cli_given_find(given, *names)) names++;
    if (*names) tool_complain("--%s has no effect %s", *names, why);
    return !*names;
}

/* A head, a table or both are made, or a student. Each has flags of its own. */
bool cli_distill_check(cli_options *options, cli_given given)
{
    static const char *const of_heads[] = {"quick", "taps", "ff-width", "unroll", NULL};
    static const char *const of_layers[] = {"ff-width", "unroll", "epochs", "rate", NULL};
    static const char *const of_taught[] = {"vocab", "epochs", "rate", "type", NULL};
    static const char *const of_students[] = {"student-model", "student-layers", "loss", "beta",
                                              "on-policy",     "lora",           NULL};
    const bool has_student = options->distill.student != NULL;
    if (!options->distill.head && !has_student && !options->distill.train.table) {
        tool_complain("--head OUT is missing: expected the file to write, as in `vouch distill m.gguf --head h.gguf`; "
                      "or --student OUT, for a draft model, or --table OUT");
        return false;
    }
    if ((options->distill.head || options->distill.train.table) && has_student) {
        tool_complain("--%s and --student exclude each other: leave out one of them",
                      options->distill.head ? "head" : "table");
        return false;
    }
    if (has_student && !refuse_idle(given, of_heads, "with --student: leave out one of them")) return false;
    if (!options->distill.head && !refuse_idle(given, of_heads, "without --head OUT")) return false;
    if (!has_student && !refuse_idle(given, of_students, "without --student OUT")) return false;
    if (options->distill.train.quick && !refuse_idle(given, of_layers,
                                                     "with --quick, which makes a linear head: leave out "
                                                     "one of them"))
        return false;
    if (!options->distill.head && !has_student && !refuse_idle(given, of_taught, "without --head OUT or --student OUT"))
        return false;
    static const char *const types[] = {"Q8_0", "Q4_1", "Q4_0", "F16", "F32"};
    size_t type = 0;
    while (options->distill.train.type && type < 5 && strcmp(types[type], options->distill.train.type) != 0) type++;
    if (type == 5) {
        tool_complain("--type '%s': expected Q8_0, Q4_1, Q4_0, F16 or F32", options->distill.train.type);
        return false;
    }
    if (cli_given_find(given, "beta") && options->distill.train.loss != TRAIN_JENSEN_SHANNON) {
        tool_complain("--beta has no effect without --loss jensen-shannon");
        return false;
    }
    if (!has_student || options->distill.train.student_model || options->distill.student_layers.n > 0) return true;
    tool_complain(
        "--student needs --student-layers or --student-model: expected the layers or the model that it begins "
        "as, such as --student-layers 0,29");
    return false;
}

int cli_distill_run(const cli_options *options)
{
    lessons l = {0};
    vouch_error err;
    int status = CLI_DONE;
    if (tool_file_check(out_of(options), &err))
        status = cli_flag_refuse(options->distill.student ? "student" : options->distill.head ? "head" : "table", &err);
    if (!status) status = lessons_read(&l, options);
    if (!status) status = teach(options, &l);
    lessons_free(&l);
    return status;
}
