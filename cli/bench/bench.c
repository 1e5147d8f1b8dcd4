/* SPDX-License-Identifier: MIT */
/*
 * vouch bench --prompts: how much faster speculation is than plain decoding, on these prompts and this machine.
 *
 *   for each of --reps rounds
 *       for each question
 *           each config answers all its turns, one right after the other; a different one begins each time
 *
 * All configs of a question meet the machine in the same state. A round opens new sessions: a drafter that learns from
 * answers would otherwise copy the answers of the round before. Greedy answers, and answers under MATCH, must equal the
 * target's own; a different answer breaks law L2, and the command fails. Ctrl-C or a failing model ends the
 * measurement; the report then covers the answers that every config has completed.
 */
#include "bench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "bench/dialog.h"
#include "cli.h"
#include "tool/file.h"

/* Must this config write the target's own text? Greedy text: yes, under every rule. Sampled text: where the seed
 * reproduces it, and both have the same rule. Configs that run a single model without speculation: no. */
static bool is_same_text(const cli_comparison *b, size_t config, const cli_turn *turn, const vouch_step *step)
{
    const bool is_greedy = b->engine->options->session.sampling.temperature == 0;
    const bool is_seeded = vouch_accept_get_info((int)step->accept).seed_reproduces && step->accept == turn->accept;
    return b->configs.items[config].speculates && (is_greedy || is_seeded);
}

/* Did the answer end with an accepted guess that has other guesses after it? They were never judged. */
static bool is_cut(const vouch_step *step)
{
    int32_t last = -1;
    bool cut = false;
    for (int32_t i = 0; i < step->n_guesses; i++) {
        const bool accepted = step->guesses[i].verdict == VOUCH_ACCEPTED;
        if (accepted) last = i;
        if (accepted || step->guesses[i].parent == last) cut = !accepted;
    }
    return cut && step->last == VOUCH_ORIGIN_ACCEPTED;
}

/* Progress of all answers, of which `done` are complete. */
typedef struct answering {
    tool_progress line;
    double done, all;
} answering;

/* n_tokens: of the answer to turn i of n. Without a limit on tokens the running answer counts 0 until it is complete.
 */
static void answering_report(answering *a, const cli_comparison *b, size_t i, size_t n, double n_tokens)
{
    const int32_t most = b->engine->options->session.max_tokens;
    const double share = most > 0 && n_tokens < most ? n_tokens / most : 0;
    tool_progress_report(&a->line, (a->done + ((double)i + share) / (double)n) / a->all);
}

/* Answers turn i of the dialog. The target's answer is kept; each other one is compared with it. */
static vouch_status turn_answer(const cli_comparison *b, const cli_question *question, size_t i, cli_dialog *dialog,
                                size_t config, cli_answered *out, answering *progress, vouch_error *err)
{
    vouch_session *session = b->configs.items[config].session;
    cli_turn *turn = &dialog->items[i];
    vouch_step step = {0};
    size_t n;
    vouch_session_set_seed(session, b->engine->options->session.sampling.seed); /* as a new session has */
    vouch_status status = cli_session_prompt(session, turn->prompt.items, turn->prompt.n, err);
    for (int64_t n_tokens = 0; !status && step.finish == VOUCH_FINISH_NONE; n_tokens += step.n_tokens) {
        answering_report(progress, b, i, question->n_turns, (double)n_tokens);
        status = cli_session_step(session, &step, err);
        if (!status && config == 0) status = cli_turn_hear(turn, &step, err);
    }
    if (status) return status;
    const int32_t *tokens = vouch_session_tokens(session, &n);
    out->n_turns++;
    out->n_cut += is_cut(&step);
    if (config == 0) return cli_turn_keep(turn, tokens, n, step.accept, err);
    const bool is_equal = n == turn->answered.n && memcmp(tokens, turn->answered.items, n * sizeof *tokens) == 0;
    out->differs |= !is_equal && is_same_text(b, config, turn, &step);
    return VOUCH_OK;
}

/* Begins the question's next turn. False: it has none, or the conversation has outgrown the context. */
static bool turn_begin(const cli_comparison *b, const cli_question *question, size_t round, cli_dialog *dialog,
                       vouch_status *status, vouch_error *err)
{
    if (dialog->n == question->n_turns) return false;
    *status = cli_dialog_ask(dialog, b->engine, question, err);
    if (*status) return false;
    if (dialog->n == 1 || dialog->items[dialog->n - 1].prompt.n < (size_t)b->n_ctx) return true;
    cli_dialog_drop(dialog);
    if (round == 0)
        tool_note("--prompts: line %d: the conversation outgrows the context of %d tokens after turn %zu of %zu; "
                  "set a longer one with --ctx, or shorter answers with -n",
                  question->line, b->n_ctx, dialog->n, question->n_turns);
    return false;
}

/* Answers all turns; the first config makes the dialog. */
static vouch_status question_answer(const cli_comparison *b, size_t q, size_t round, size_t config, cli_dialog *dialog,
                                    answering *progress, vouch_error *err)
{
    const cli_question *question = &b->questions.items[q];
    cli_answered *out = &b->answers[(q * b->n_rounds + round) * b->configs.n + config];
    vouch_status status = VOUCH_OK;
    vouch_session_reset_stats(b->configs.items[config].session);
    for (size_t i = 0; !status; i++) {
        if (config > 0 ? i == dialog->n : !turn_begin(b, question, round, dialog, &status, err)) break;
        status = turn_answer(b, question, i, dialog, config, out, progress, err);
    }
    if (status) return status;
    out->stats = *vouch_session_stats(b->configs.items[config].session);
    progress->done++;
    return VOUCH_OK;
}

/* The target alone goes first, since the others are compared with it. A different config follows it each time. */
static vouch_status question_run(cli_comparison *b, size_t q, size_t round, answering *progress, vouch_error *err)
{
    const size_t n = b->configs.n, n_others = n - 1;
    cli_dialog dialog = {NULL, 0};
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const size_t config = i == 0 ? 0 : 1 + (i - 1 + q + round) % n_others;
        if (tool_interrupted()) status = err->code = VOUCH_E_CANCELLED;
        else status = question_answer(b, q, round, config, &dialog, progress, err);
    }
    cli_dialog_clear(&dialog);
    if (status) return status;
    for (size_t config = 0; config < n; config++) b->answers[(q * b->n_rounds + round) * n + config].counts = true;
    b->n_complete++;
    return VOUCH_OK;
}

/* Measures the cost curve at context lengths that occur: after an answer and after its prompt, for at most MOST of the
 * questions. */
static vouch_status costs_measure(cli_comparison *b, size_t q, vouch_error *err)
{
    enum { MOST = 32 };
    const size_t every = (b->questions.n + MOST - 1) / MOST;
    if (q % every != 0) return VOUCH_OK;
    vouch_session *widest = cli_configs_widest(&b->configs);
    vouch_status status = cli_cost_curve_measure(&b->costs, widest, err);
    const cli_question *question = &b->questions.items[q];
    if (!status) status = cli_session_prompt(widest, question->tokens.items, question->tokens.n, err);
    return status ? status : cli_cost_curve_measure(&b->costs, widest, err);
}

static int configs_reopen(cli_comparison *b)
{
    cli_configs_close(&b->configs);
    return cli_configs_open(&b->configs, b->engine, b->n_ctx);
}

static int bench_measure(cli_comparison *b)
{
    answering progress = {.line = {.label = "answering"}, .all = (double)(b->questions.n * b->n_rounds * b->configs.n)};
    vouch_error err = {0};
    vouch_status status = VOUCH_OK;
    int opened = CLI_DONE;
    int32_t line = 0;
    for (size_t round = 0; round < b->n_rounds && !status && !opened; round++) {
        if (round > 0) opened = configs_reopen(b);
        for (size_t q = 0; q < b->questions.n && !status && !opened; q++) {
            status = question_run(b, q, round, &progress, &err);
            if (!status && round == 0) status = costs_measure(b, q, &err);
            line = b->questions.items[q].line;
        }
    }
    for (size_t q = 0; q < b->questions.n; q++) cli_bench_close_question(b, q);
    tool_progress_end(&progress.line);
    if (opened) return opened;
    if (status && status != VOUCH_E_CANCELLED) tool_complain("--prompts: line %d: %s", line, err.message);
    b->interrupted = status != VOUCH_OK;
    return status && status != VOUCH_E_CANCELLED && b->n_complete == 0 ? CLI_FAILED : CLI_DONE;
}

static int bench_report(const cli_comparison *b)
{
    const cli_options *o = b->engine->options;
    size_t n_different = 0;
    int status = b->n_complete > 0 ? cli_bench_print(b) : CLI_DONE;
    /* A failed write doesn't keep the other files from being written: the figures exist in this process only. */
    if (o->json) status = cli_first_failure(status, cli_bench_write_json(b));
    if (o->bench.csv) status = cli_first_failure(status, cli_bench_write_csv(b));
    if (o->bench.html) status = cli_first_failure(status, cli_bench_write_html(b));
    for (size_t config = 1; config < b->configs.n; config++)
        n_different += cli_bench_summary(b, config, NULL).n_different;
    if (n_different > 0)
        tool_complain("%zu answers differ from those of the target alone: this breaks law L2, please report it",
                      n_different);
    if (b->interrupted)
        tool_complain("interrupted: the report covers %zu of %zu answers of each config", b->n_complete,
                      b->questions.n * b->n_rounds);
    return n_different > 0 || b->interrupted ? CLI_FAILED : status;
}

/* Counts the tokens of the question's conversation without its last answer. Each turn is tokenized as a prompt by
 * itself, which ends with what begins an answer; TEMPLATE is for what ends one. */
static vouch_status conversation_tokens(const cli_engine *engine, const cli_question *question, int64_t n_answer,
                                        int64_t *n, vouch_error *err)
{
    enum { TEMPLATE = 8 };
    *n = (int64_t)question->tokens.n;
    for (size_t i = 1; i < question->n_turns; i++) {
        const char *turn = question->turns[i];
        cli_tokens tokens = {NULL, 0};
        const vouch_status status = cli_prompt_tokenize_question(engine, turn, strlen(turn), &tokens, err);
        if (status) return status;
        *n += (int64_t)tokens.n + n_answer + TEMPLATE;
        free(tokens.items);
    }
    return VOUCH_OK;
}

/* Context length for the longest conversation, its last answer and the passes timed after it. --ctx, and the context
 * that the model was trained for, limit it. */
static int context_choose(cli_comparison *b)
{
    enum { PASS = 66, LEAST_ANSWER = 1 };
    const vouch_session_options *o = &b->engine->options->session;
    const int64_t trained = vouch_model_get_info(b->engine->model)->n_ctx_train;
    int64_t longest = 0, answers = o->max_tokens;
    for (size_t i = 0; i < b->questions.n; i++) {
        vouch_error err;
        int64_t n;
        if (conversation_tokens(b->engine, &b->questions.items[i], answers, &n, &err)) return cli_engine_fail(&err);
        if (n > longest) longest = n;
    }
    if (answers == 0) answers = o->n_ctx ? LEAST_ANSWER : trained - longest;
    int64_t room = o->n_ctx ? o->n_ctx : longest + answers + PASS;
    if (!o->n_ctx && room > trained) room = trained;
    b->n_ctx = room < 2 ? 2 : (int32_t)room;
    return cli_questions_fit(&b->questions, b->n_ctx, o->max_tokens ? o->max_tokens : LEAST_ANSWER,
                             "set a longer context with --ctx, or a shorter answer with -n");
}

static int bench_run(cli_comparison *b)
{
    int status = context_choose(b);
    if (!status) status = cli_configs_open(&b->configs, b->engine, b->n_ctx);
    if (status) return status;
    const bool ok = cli_provenance_of(&b->provenance, b->engine);
    b->answers = calloc(b->questions.n * b->n_rounds * b->configs.n, sizeof *b->answers);
    if (!ok || !b->answers) {
        tool_complain("not enough memory for the figures of %zu answers", b->questions.n * b->n_rounds * b->configs.n);
        return CLI_FAILED;
    }
    status = bench_measure(b);
    return status ? status : bench_report(b);
}

/* Complains about files that can't be written, before anything is measured. */
static int outputs_check(const cli_options *o)
{
    const struct {
        const char *flag, *path;
    } outputs[] = {{"json", o->json}, {"csv", o->bench.csv}, {"html", o->bench.html}};
    vouch_error err;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].path && tool_file_check(outputs[i].path, &err)) return cli_flag_refuse(outputs[i].flag, &err);
    return CLI_DONE;
}

/* The sequence has --depth tokens, the rows of a measurement, and a last token, which no pass runs. */
int32_t cli_bench_room(const cli_options *options)
{
    const int32_t most_rows = options->bench.rows.items[options->bench.rows.n - 1];
    const int32_t added = most_rows > options->bench.n_decode ? most_rows : options->bench.n_decode;
    const int32_t at_depth = options->bench.depth + 1 + added, prompt = options->bench.n_prefill + 2;
    return at_depth > prompt ? at_depth : prompt;
}

/* Checks each set of drafters by itself. Afterwards speculation.drafters holds all of them. */
static bool check_bench_speculation(cli_options *options, cli_given given)
{
    vouch_speculation *speculation = &options->session.speculation;
    tool_ints *sets = &options->bench.drafters;
    unsigned all = 0;
    char text[CLI_DRAFTERS_SIZE];
    if (sets->n == 0) sets->items[sets->n++] = VOUCH_DRAFTER_AUTO;
    if (options->bench.draft_lengths.n == 0) options->bench.draft_lengths.items[options->bench.draft_lengths.n++] = 0;
    for (size_t i = 0; i < sets->n; i++) {
        speculation->drafters = (unsigned)sets->items[i];
        if (!cli_check_drafters(options)) return false;
        sets->items[i] = (int32_t)speculation->drafters;
        for (size_t j = 0; j < i; j++)
            if (sets->items[j] == sets->items[i]) {
                tool_complain("--spec %s is given twice, because auto means the same here; leave one out",
                              cli_spec_text(speculation->drafters, text));
                return false;
            }
        all |= speculation->drafters;
    }
    if (options->bench.rules.n == 0) options->bench.rules.items[options->bench.rules.n++] = VOUCH_ACCEPT_AUTO;
    speculation->drafters = all;
    for (size_t i = 0; i < options->bench.rules.n; i++) {
        speculation->accept = (vouch_accept)options->bench.rules.items[i];
        if (!cli_check_effects(options, given)) return false;
    }
    return true;
}

/* Refuses flags about passes beside --prompts, and flags about prompts without it. */
static bool check_bench_flags(const cli_options *options, cli_given given)
{
    static const char *const about_prompts[] = {"Prompt", "Speculation", "Answer", "Sampling", "Report"};
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        bool idle = options->prompts && strcmp(cli_flag_at(i)->group, "Passes") == 0;
        for (size_t j = 0; !options->prompts && j < sizeof about_prompts / sizeof *about_prompts; j++)
            if (strcmp(cli_flag_at(i)->group, about_prompts[j]) == 0) idle = true;
        if (!given[i] || !idle) continue;
        tool_complain(options->prompts ? "--%s has no effect with --prompts: leave out one of them"
                                       : "--%s has no effect without --prompts FILE",
                      cli_flag_at(i)->name);
        return false;
    }
    return true;
}

/* --parallel compares numbers of answers at once, so everything else has one value. */
static bool check_bench_parallel(const cli_options *options)
{
    const char *flag = options->bench.csv                   ? "csv"
                       : options->bench.draft_lengths.n > 1 ? "num-speculative-tokens with several numbers"
                       : options->bench.rules.n > 1         ? "accept with several rules"
                                                            : NULL;
    if (options->bench.parallel.n == 0 || !flag) return true;
    tool_complain("--parallel can't be measured with --%s: leave out one of them", flag);
    return false;
}

bool cli_bench_check(cli_options *options, cli_given given)
{
    if (!check_bench_flags(options, given) || !check_bench_parallel(options)) return false;
    if (options->bench.n_reps == 0) options->bench.n_reps = options->prompts ? 1 : 10;
    if (options->prompts) return cli_check_asking(options, given) && check_bench_speculation(options, given);
    const int32_t room = cli_bench_room(options);
    if (options->session.n_ctx == 0 || options->session.n_ctx >= room) return true;
    tool_complain("--ctx %d: --depth, --rows, --prefill and --decode need %d; raise --ctx or leave it out",
                  options->session.n_ctx, room);
    return false;
}

int cli_bench_run(const cli_options *options)
{
    cli_engine engine = {0};
    cli_comparison b = {.engine = &engine, .n_rounds = (size_t)options->bench.n_reps, .costs = cli_cost_curve_new()};
    int status = outputs_check(options);
    if (status) return status;
    if (!options->prompts) return options->bench.kernels ? cli_bench_trials(options) : cli_bench_passes(options);
    if (options->bench.parallel.n > 0) return cli_bench_load(options);
    status = cli_engine_open(&engine, options);
    if (!status) status = cli_questions_read(&b.questions, &engine, "prompts");
    if (!status) {
        tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
        status = bench_run(&b);
        tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    }
    cli_configs_close(&b.configs);
    cli_provenance_free(&b.provenance);
    cli_questions_free(&b.questions);
    free(b.answers);
    cli_engine_close(&engine);
    return status;
}
