/* SPDX-License-Identifier: MIT */
#include "options/option_checks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "tool/file.h"
#include "options/options.h"
#include "tool/text.h"

/* ------------------------------------------------------- prompts and answers */

/* "ID=X" */
static bool parse_bias(const char *text, vouch_logit_bias *bias)
{
    char *end;
    const long long token = strtoll(text, &end, 10);
    const bool has_token = *text >= '0' && *text <= '9' && *end == '=' && token <= INT32_MAX;
    const char *number = has_token ? end + 1 : "";
    const float value = strtof(number, &end);
    const bool is_number = end > number && !isspace((unsigned char)*number) && !*end && !strpbrk(number, "xX");
    if (!has_token || !is_number || !(fabsf(value) <= 1e9f || value == -INFINITY)) {
        cli_complain("--logit-bias '%s': expected ID=X, the id of a token and a number in [-1e9, 1e9] or -inf", text);
        return false;
    }
    *bias = (vouch_logit_bias){(int32_t)token, value};
    return true;
}

static bool check_stop(const char *text)
{
    const size_t n = strlen(text);
    uint32_t code;
    for (size_t at = 0, length; at < n; at += length) {
        length = cli_utf8_length(text + at, n - at, &code);
        if (length > 0) continue;
        cli_complain("--stop '%s': expected UTF-8 text", text);
        return false;
    }
    return true;
}

uint64_t cli_seed_draw(void)
{
    uint32_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (uint64_t)(cli_now() * 1e9) & UINT32_MAX;
}

/* The parameters of sampling that flags set. */
static unsigned given_sampling(cli_given given)
{
    static const struct {
        const char *flag;
        unsigned field;
    } rows[] = {{"temp", VOUCH_SAMPLING_TEMPERATURE},
                {"top-k", VOUCH_SAMPLING_TOP_K},
                {"top-p", VOUCH_SAMPLING_TOP_P},
                {"min-p", VOUCH_SAMPLING_MIN_P},
                {"typical", VOUCH_SAMPLING_TYPICAL_P},
                {"xtc-probability", VOUCH_SAMPLING_XTC_PROBABILITY},
                {"xtc-threshold", VOUCH_SAMPLING_XTC_THRESHOLD},
                {"repeat-penalty", VOUCH_SAMPLING_REPEAT_PENALTY},
                {"penalty-window", VOUCH_SAMPLING_PENALTY_WINDOW}};
    unsigned fields = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_given_find(given, rows[i].flag)) fields |= rows[i].field;
    return fields;
}

/* Hands --dry-sequence-breaker to the library's options, which keep their own breakers without the flag. */
static bool take_breakers(cli_options *options)
{
    const cli_texts *texts = &options->breakers;
    vouch_sampling *sampling = &options->session.sampling;
    if (texts->n == 0) return true;
    const bool is_none = texts->n == 1 && strcmp(texts->items[0], "none") == 0;
    if (texts->n > VOUCH_MAX_BREAKERS) {
        cli_complain("--dry-sequence-breaker is given %zu times; expected at most %d", texts->n, VOUCH_MAX_BREAKERS);
        return false;
    }
    for (size_t i = 0; i < texts->n; i++) {
        const size_t n = strlen(texts->items[i]);
        if (n <= VOUCH_MAX_BREAKER_BYTES) continue;
        cli_complain("--dry-sequence-breaker '%s': %zu bytes; expected at most %d", texts->items[i], n,
                     VOUCH_MAX_BREAKER_BYTES);
        return false;
    }
    sampling->dry_sequence_breakers = texts->items;
    sampling->n_dry_sequence_breakers = is_none ? 0 : texts->n;
    return true;
}

/* Checks the flags about prompts, answers and sampling, and hands them to the library's options. */
static bool check_asking(cli_options *options, cli_given given)
{
    options->sampling_given = given_sampling(given);
    for (size_t i = 0; i < options->bias_texts.n; i++)
        if (!parse_bias(options->bias_texts.items[i], &options->bias[i])) return false;
    for (size_t i = 0; i < options->stop.n; i++)
        if (!check_stop(options->stop.items[i])) return false;
    if (!take_breakers(options)) return false;
    options->session.sampling.bias = options->bias;
    options->session.sampling.n_bias = options->bias_texts.n;
    options->session.stop = options->stop.items;
    options->session.n_stop = options->stop.n;
    if (options->raw) options->chat_template = "none";
    if (options->chat_template && strcmp(options->chat_template, "none") == 0 && (options->chat || options->system)) {
        cli_complain("--%s needs a chat template, but --chat-template is none: leave out one of them",
                     options->chat ? "chat" : "system");
        return false;
    }
    return true;
}

/* ----------------------------------------------------------------------- run */

static bool check_run(cli_options *options, cli_given given)
{
    options->session.expected_acceptance = options->stats_json != NULL; /* only the JSON has it */
    options->paint = cli_given_find(given, "color") != NULL;
    options->seed_is_drawn = !cli_given_find(given, "seed");
    return check_asking(options, given) && cli_check_speculation(options, given);
}

/* --------------------------------------------------------------------- bench */

/* The sequence has --depth tokens, the rows of a measurement, and a last token, which no pass runs. */
int32_t cli_bench_room(const cli_options *options)
{
    const int32_t most_rows = options->rows.items[options->rows.n - 1];
    const int32_t added = most_rows > options->n_decode ? most_rows : options->n_decode;
    const int32_t behind = options->depth + 1 + added, prompt = options->n_prefill + 2;
    return behind > prompt ? behind : prompt;
}

/* Checks each set of drafters by itself. Afterwards speculation.drafters holds all of them. */
static bool check_bench_speculation(cli_options *options, cli_given given)
{
    vouch_speculation *speculation = &options->session.speculation;
    cli_ints *sets = &options->drafters;
    unsigned all = 0;
    char text[CLI_DRAFTERS_SIZE];
    if (sets->n == 0) sets->items[sets->n++] = VOUCH_DRAFTER_AUTO;
    if (options->draft_lengths.n == 0) options->draft_lengths.items[options->draft_lengths.n++] = 0;
    for (size_t i = 0; i < sets->n; i++) {
        speculation->drafters = (unsigned)sets->items[i];
        if (!cli_check_drafters(options)) return false;
        sets->items[i] = (int32_t)speculation->drafters;
        for (size_t j = 0; j < i; j++)
            if (sets->items[j] == sets->items[i]) {
                cli_complain("--spec %s is given twice, because auto means the same here; leave one out",
                             cli_spec_text(speculation->drafters, text));
                return false;
            }
        all |= speculation->drafters;
    }
    if (options->rules.n == 0) options->rules.items[options->rules.n++] = VOUCH_ACCEPT_AUTO;
    speculation->drafters = all;
    for (size_t i = 0; i < options->rules.n; i++) {
        speculation->accept = (vouch_accept)options->rules.items[i];
        if (!cli_check_effects(options, given)) return false;
    }
    return true;
}

/* Refuses flags about passes beside --prompts, and flags about prompts without it. */
static bool check_bench_flags(const cli_options *options, cli_given given)
{
    static const char *const about_prompts[] = {"Prompt", "Speculation", "Answer", "Sampling", "Report"};
    for (size_t i = 0; i < cli_option_table.n; i++) {
        bool idle = options->prompts && strcmp(cli_flag_at(i)->group, "Passes") == 0;
        for (size_t j = 0; !options->prompts && j < sizeof about_prompts / sizeof *about_prompts; j++)
            if (strcmp(cli_flag_at(i)->group, about_prompts[j]) == 0) idle = true;
        if (!given[i] || !idle) continue;
        cli_complain(options->prompts ? "--%s has no effect with --prompts: leave out one of them"
                                      : "--%s has no effect without --prompts FILE",
                     cli_flag_at(i)->name);
        return false;
    }
    return true;
}

/* --parallel compares numbers of answers at once, so everything else has one value. */
static bool check_bench_parallel(const cli_options *options)
{
    const char *flag = options->csv                   ? "csv"
                       : options->draft_lengths.n > 1 ? "num-speculative-tokens with several numbers"
                       : options->rules.n > 1         ? "accept with several rules"
                                                      : NULL;
    if (options->parallel.n == 0 || !flag) return true;
    cli_complain("--parallel can't be measured with --%s: leave out one of them", flag);
    return false;
}

static bool check_bench(cli_options *options, cli_given given)
{
    if (!check_bench_flags(options, given) || !check_bench_parallel(options)) return false;
    if (options->n_reps == 0) options->n_reps = options->prompts ? 1 : 10;
    if (options->prompts) return check_asking(options, given) && check_bench_speculation(options, given);
    const int32_t room = cli_bench_room(options);
    if (options->session.n_ctx == 0 || options->session.n_ctx >= room) return true;
    cli_complain("--ctx %d: --depth, --rows, --prefill and --decode need %d; raise --ctx or leave it out",
                 options->session.n_ctx, room);
    return false;
}

/* ------------------------------------------------------------ batch and serve */

/* Parses a size such as "800M" into bytes. 0: the text isn't a size. */
static double parse_size(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (*text < '0' || *text > '9' || strpbrk(text, "xX")) return 0;
    for (const char *u = units; unit && u <= unit; u++) size *= 1000;
    if (unit) end++;
    if (*end == 'B') end++;
    return *end || !(size >= 1) || !(size < 1e18) ? 0 : size;
}

static bool check_batch(cli_options *options, cli_given given)
{
    if (!options->prompts) {
        cli_complain("--prompts FILE is missing: expected the prompts to answer, one a line or as JSON lines");
        return false;
    }
    if (options->resume && !options->out) {
        cli_complain("--resume needs --out FILE: the file whose answers it goes on with");
        return false;
    }
    if (options->max_memory_text && (options->max_memory = parse_size(options->max_memory_text)) == 0) {
        cli_complain("--max-memory '%s': expected a size such as 800M or 4G", options->max_memory_text);
        return false;
    }
    if (!check_asking(options, given)) return false;
    options->sampling_given |= VOUCH_SAMPLING_TEMPERATURE; /* greedy unless --temp is given */
    return cli_check_speculation(options, given);
}

/* "https://host:port" as browsers write it, "localhost" or "*". */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    if (strcmp(text, "*") == 0 || strcmp(text, "localhost") == 0 || strcmp(text, "null") == 0) return true;
    return host && host > text && host[3] && !strpbrk(host + 3, "/?# ");
}

/* The letters of a metric's name as Prometheus has them. */
static bool is_metric_name(const char *name)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
    return strspn(name, first) > 0 && name[strspn(name, rest)] == 0;
}

static bool check_serve(cli_options *options, cli_given given)
{
    if (!is_metric_name(options->metrics_prefix)) {
        cli_complain("--metrics-prefix '%s': expected letters, digits, _ and :, and no digit first, such as vllm",
                     options->metrics_prefix);
        return false;
    }
    for (size_t i = 0; i < options->origins.n; i++) {
        if (is_origin(options->origins.items[i])) continue;
        cli_complain("--cors '%s': expected an origin such as https://chat.example or http://localhost:3000, "
                     "localhost or *",
                     options->origins.items[i]);
        return false;
    }
    if (!options->tls_cert != !options->tls_key) {
        cli_complain("--%s needs --%s, too", options->tls_cert ? "tls-cert" : "tls-key",
                     options->tls_cert ? "tls-key" : "tls-cert");
        return false;
    }
    if (options->draft_model && options->models.n > 1) {
        cli_complain("--draft-model drafts for a single model, but --model is given %zu times; leave out the others",
                     options->models.n);
        return false;
    }
    return check_asking(options, given) && cli_check_speculation(options, given);
}

/* ----------------------------------------------- analyze, convert and distill */

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
        cli_complain("--%s has no effect %s", uses[i].name,
                     uses[i].where == CHUNKS ? "without --text FILE"
                     : uses[i].where & OWN   ? "with --text FILE"
                                             : "without --prompts FILE");
        return false;
    }
    return true;
}

static bool check_analyze(cli_options *options, cli_given given)
{
    if (!options->draft_model) {
        cli_complain("--draft-model FILE is missing: expected the GGUF file of the model that drafts");
        return false;
    }
    if (options->text && options->prompts) {
        cli_complain("--text and --prompts exclude each other: each says what to compare the models on; leave out one");
        return false;
    }
    return check_texts(options, given) && check_asking(options, given);
}

static bool check_written_anew(const cli_options *options, unsigned command)
{
    if (!options->out || (command == CLI_QUANTIZE && !options->type)) {
        cli_complain("%s is missing: expected %s", options->out ? "TYPE" : "OUT",
                     command == CLI_QUANTIZE ? "MODEL OUT TYPE, as in `vouch quantize m-f16.gguf m-q4.gguf Q4_K_M`"
                                             : "MODEL OUT, as in `vouch convert folder m.gguf`");
        return false;
    }
    if (!cli_file_is_same(options->out, options->model)) return true;
    cli_complain("%s is the model itself, and would be overwritten; name another file", options->out);
    return false;
}

/* False with a complaint where one of the flags is given. */
static bool refuse_idle(cli_given given, const char *const *names, const char *why)
{
    while (*names && !cli_given_find(given, *names)) names++;
    if (*names) cli_complain("--%s has no effect %s", *names, why);
    return !*names;
}

/* A head, a table or both are made, or a student. Each has flags of its own. */
static bool check_distill(const cli_options *options, cli_given given)
{
    static const char *const of_heads[] = {"quick", "taps", "ff-width", "unroll", NULL};
    static const char *const of_layers[] = {"ff-width", "unroll", "epochs", "rate", NULL};
    static const char *const of_taught[] = {"vocab", "epochs", "rate", "type", NULL};
    static const char *const of_students[] = {"student-model", "student-layers", "loss", "beta",
                                              "on-policy",     "lora",           NULL};
    const bool has_student = options->distill.student != NULL;
    if (!options->distill.head && !has_student && !options->distill.table) {
        cli_complain("--head OUT is missing: expected the file to write, as in `vouch distill m.gguf --head h.gguf`; "
                     "or --student OUT, for a draft model, or --table OUT");
        return false;
    }
    if ((options->distill.head || options->distill.table) && has_student) {
        cli_complain("--%s and --student exclude each other: leave out one of them",
                     options->distill.head ? "head" : "table");
        return false;
    }
    if (has_student && !refuse_idle(given, of_heads, "with --student: leave out one of them")) return false;
    if (!options->distill.head && !refuse_idle(given, of_heads, "without --head OUT")) return false;
    if (!has_student && !refuse_idle(given, of_students, "without --student OUT")) return false;
    if (options->distill.quick && !refuse_idle(given, of_layers,
                                               "with --quick, which makes a linear head: leave out "
                                               "one of them"))
        return false;
    if (!options->distill.head && !has_student && !refuse_idle(given, of_taught, "without --head OUT or --student OUT"))
        return false;
    static const char *const types[] = {"Q8_0", "Q4_1", "Q4_0", "F16", "F32"};
    size_t type = 0;
    while (options->type && type < 5 && strcmp(types[type], options->type) != 0) type++;
    if (type == 5) {
        cli_complain("--type '%s': expected Q8_0, Q4_1, Q4_0, F16 or F32", options->type);
        return false;
    }
    if (cli_given_find(given, "beta") && options->distill.loss != 2) { /* TRAIN_JENSEN_SHANNON */
        cli_complain("--beta has no effect without --loss jensen-shannon");
        return false;
    }
    if (!has_student || options->distill.student_model || options->distill.student_layers.n > 0) return true;
    cli_complain("--student needs --student-layers or --student-model: expected the layers or the model that it begins "
                 "as, such as --student-layers 0,29");
    return false;
}

/* ------------------------------------------------------------------- commands */

bool cli_check_command(cli_options *options, cli_given given)
{
    switch (options->command) {
    case CLI_RUN: return check_run(options, given);
    case CLI_BENCH: return check_bench(options, given);
    case CLI_BATCH: return check_batch(options, given);
    case CLI_SERVE: return check_serve(options, given);
    case CLI_TOKENIZE:
        if (!options->ids || options->n_frequent == 0) return true;
        cli_complain("--ids has no effect with --frequent: leave out one of them");
        return false;
    default: return true;
    }
}

bool cli_check_needs(cli_options *options, cli_given given)
{
    switch (options->command) {
    case CLI_ANALYZE: return check_analyze(options, given);
    case CLI_QUANTIZE:
    case CLI_CONVERT: return check_written_anew(options, options->command);
    case CLI_DISTILL: return check_distill(options, given);
    case CLI_LOGITS:
        if (options->tokens && options->out) return true;
        cli_complain("--%s is missing: expected %s", options->tokens ? "out FILE" : "tokens LIST",
                     options->tokens ? "the .npy file to write" : "token ids, such as 1,2,3, or a file of ids");
        return false;
    case CLI_PERPLEXITY:
        if (!options->file && !isatty(STDIN_FILENO)) options->file = "-";
        if (options->file) return true;
        cli_complain("--file FILE is missing: expected the text to predict");
        return false;
    default: return true;
    }
}
