/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/file.h"
#include "common/text.h"

static const cli_flag *flag_at(size_t i)
{
    return &cli_option_table.flags[i];
}

/* ---------------------------------------------------------- contradictions */

typedef const char *given_flags[CLI_MOST_FLAGS]; /* [cli_option_table.n] */

/* The row of a flag that was given, or NULL. */
static const cli_flag *given_find(given_flags given, const char *name)
{
    for (size_t i = 0; i < cli_option_table.n; i++)
        if (given[i] && strcmp(flag_at(i)->name, name) == 0) return flag_at(i);
    return NULL;
}

/* Does the flag name a file that the command writes? */
static bool is_written(const cli_flag *flag)
{
    static const char *const names[] = {"json",    "svg", "csv",     "html", "stats-json",
                                        "history", "out", "student", "table"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flag->kind == CLI_FLAG_FILE && strcmp(flag->name, names[i]) == 0) return true;
    return strcmp(flag->name, "head") == 0 && strcmp(flag->value, "OUT") == 0; /* of `vouch distill` */
}

static bool check_written(given_flags given)
{
    static const char *const standard[][2] = {{"/dev/stdin", "input comes from"}, {"/dev/stdout", "output goes to"}};
    for (size_t i = 0; i < cli_option_table.n; i++) {
        if (!given[i] || !is_written(flag_at(i))) continue;
        if (strcmp(given[i], "-") == 0) {
            cli_complain("--%s -: standard output carries the text only; expected a file (./- for a file named -)",
                         flag_at(i)->name);
            return false;
        }
        for (size_t j = 0; j < sizeof standard / sizeof *standard; j++) {
            if (!cli_file_is_same(given[i], standard[j][0])) continue;
            cli_complain("--%s %s is also the file that standard %s, and would overwrite it; name another file",
                         flag_at(i)->name, given[i], standard[j][1]);
            return false;
        }
        for (size_t j = 0; j < cli_option_table.n; j++) {
            const bool is_file = flag_at(j)->kind == CLI_FLAG_FILE && strstr(flag_at(j)->value, "FILE");
            if (j == i || !given[j] || !is_file || !cli_file_is_same(given[i], given[j])) continue;
            cli_complain("--%s %s is also the file of --%s, and would overwrite it; name another file",
                         flag_at(i)->name, given[i], flag_at(j)->name);
            return false;
        }
    }
    return true;
}

/* Standard input can be read once: by a flag with the value -, by a conversation, or as the prompt. Beside --prompt it
 * is read only where nothing else reads it. */
static bool check_read(cli_options *options, unsigned command, given_flags given)
{
    const bool asks = command & (CLI_RUN | CLI_TOKENIZE);
    const bool is_prompt =
        asks && !options->chat && !options->prompt && !options->prompt_file && !options->messages;
    const char *first = options->chat ? "chat" : NULL;
    if (asks && options->prompt && strcmp(options->prompt, "-") == 0) {
        cli_complain("--prompt -: expected a text; write --prompt-file - to read the prompt from standard input");
        return false;
    }
    for (size_t i = 0; i < cli_option_table.n; i++) {
        const bool is_read = flag_at(i)->kind == CLI_FLAG_FILE && !is_written(flag_at(i));
        if (!given[i] || !is_read || strcmp(given[i], "-") != 0) continue;
        if (is_prompt) {
            cli_complain("--%s -: without --prompt or --prompt-file the prompt is standard input; add one of them",
                         flag_at(i)->name);
            return false;
        }
        if (first) {
            cli_complain("--%s and --%s - both read standard input; give one of them a file", first, flag_at(i)->name);
            return false;
        }
        first = flag_at(i)->name;
    }
    options->prompt_adds_input = asks && options->prompt && !options->prompt_file && !first;
    return true;
}

static bool check_exclusive(given_flags given)
{
    static const char *const pairs[][3] = {
        {"prompt", "chat", "a conversation reads its own lines"},
        {"prompt-file", "chat", "a conversation reads its own lines"},
        {"raw", "chat", "a conversation needs a chat template"},
        {"raw", "chat-template", "--raw means no chat template"},
        {"raw", "system", "a system message needs a chat template"},
        {"json", "json-schema", "both say what the answer is"},
        {"json", "grammar-file", "both say what the answer is"},
        {"json-schema", "grammar-file", "both say what the answer is"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!given_find(given, pairs[i][0]) || !given_find(given, pairs[i][1])) continue;
        cli_complain("--%s and --%s exclude each other: %s; leave out one of them", pairs[i][0], pairs[i][1],
                     pairs[i][2]);
        return false;
    }
    return true;
}

/* "ngram,recycle" */
const char *cli_spec_text(unsigned drafters, char text[64])
{
    size_t used = 0;
    snprintf(text, 64, "%s", drafters ? "" : "auto");
    for (int i = 0; vouch_drafter_name(i) && used < 64; i++)
        if (drafters >> i & 1)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", used ? "," : "", vouch_drafter_name(i));
    return text;
}

/* "B,D" */
static bool parse_tree(const char *text, vouch_speculation *speculation)
{
    char *end = NULL;
    const long branches = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    const char *second = end && *end == ',' ? end + 1 : "";
    const long depth = isdigit((unsigned char)*second) ? strtol(second, &end, 10) : 0;
    if (depth < 1 || depth > VOUCH_MAX_DRAFT || *end || branches < 1 || branches > VOUCH_MAX_DRAFT) {
        cli_complain("--tree '%s': expected BRANCHES,DEPTH such as 4,3, both in [1, %d]", text, VOUCH_MAX_DRAFT);
        return false;
    }
    speculation->tree_branches = (int32_t)branches;
    speculation->tree_depth = (int32_t)depth;
    return true;
}

/* The drafters whose model or file is on the command line. */
static unsigned given_drafters(const cli_options *options)
{
    return (options->draft_model ? VOUCH_DRAFTER_MODEL : 0u) | (options->head ? VOUCH_DRAFTER_HEAD : 0u) |
           (options->prediction ? VOUCH_DRAFTER_PREDICTION : 0u) | (options->history ? VOUCH_DRAFTER_HISTORY : 0u) |
           (options->grammar_file || options->json_schema || options->json_answer ? VOUCH_DRAFTER_GRAMMAR : 0u);
}

/* Resolves "auto". Refuses "none" among drafters, and drafters whose model or file is missing. */
static bool resolve_drafters(cli_options *options)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL };
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    if (speculation->drafters == VOUCH_DRAFTER_AUTO)
        speculation->drafters = vouch_drafter_auto(given_drafters(options));
    cli_spec_text(speculation->drafters, text);
    if (options->head && options->draft_model) {
        cli_complain("--head and --draft-model exclude each other: leave out one of them");
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_NONE) && speculation->drafters != VOUCH_DRAFTER_NONE) {
        cli_complain("--spec %s: none stands alone; leave out the others", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_PREDICTION) && !options->prediction) {
        if (options->command & CLI_SERVE)
            cli_complain("--spec %s: a prediction belongs to one request, which brings it; leave it out", text);
        else if (options->prompts)
            cli_complain("--spec %s: bench can't measure prediction, because a prediction belongs to one prompt; leave "
                         "it out",
                         text);
        else cli_complain("--spec %s needs a prediction: add --prediction FILE", text);
        return false;
    }
    if ((speculation->drafters & VOUCH_DRAFTER_HISTORY) && !options->history && !options->prompts) {
        cli_complain("--spec %s needs a history: add --history FILE", text);
        return false;
    }
    if (speculation->drafters & ~given_drafters(options) & VOUCH_DRAFTER_GRAMMAR) {
        cli_complain("--spec %s needs a grammar: add --json, --json-schema FILE or --grammar-file FILE", text);
        return false;
    }
    if ((speculation->drafters & MODEL) && !options->draft_model) {
        cli_complain("--spec %s needs a draft model: add --draft-model FILE, or use --spec ngram, which needs none",
                     text);
        return false;
    }
    return true;
}

/* Refuses options that the rule doesn't support. */
static bool check_accept(const vouch_speculation *speculation, given_flags given)
{
    const char *rule = speculation->accept == VOUCH_ACCEPT_AUTO ? "auto" : vouch_accept_name((int)speculation->accept);
    if (given_find(given, "accept") && speculation->drafters == VOUCH_DRAFTER_NONE &&
        speculation->accept != VOUCH_ACCEPT_COUPLED && speculation->accept != VOUCH_ACCEPT_MATCH) {
        cli_complain("--accept %s has no effect with --spec none: leave out one of them", rule);
        return false;
    }
    if (given_find(given, "lenience") && speculation->accept != VOUCH_ACCEPT_REJECTION &&
        speculation->accept != VOUCH_ACCEPT_AUTO) {
        cli_complain("--lenience has no effect with --accept %s: leave out one of them", rule);
        return false;
    }
    if (speculation->tree_branches > 1 && speculation->accept == VOUCH_ACCEPT_BLOCK) {
        cli_complain("--tree %d,%d and --accept block exclude each other: block judges chains; use --tree 1,%d",
                     speculation->tree_branches, speculation->tree_depth, speculation->tree_depth);
        return false;
    }
    return true;
}

/* Refuses flags that the drafters in use would ignore. */
static bool check_effects(cli_options *options, given_flags given)
{
    enum { MODEL = VOUCH_DRAFTER_MODEL, HEAD = VOUCH_DRAFTER_HEAD, NGRAM = VOUCH_DRAFTER_NGRAM,
           ALL = ~VOUCH_DRAFTER_NONE, PREDICTION = VOUCH_DRAFTER_PREDICTION,
           HISTORY = VOUCH_DRAFTER_HISTORY };
    static const struct {
        const char *name;
        int drafters;
    } uses[] = {{"draft-model", MODEL}, {"draft-sampling", MODEL | HEAD}, {"head", HEAD},
                {"allow-other-head", HEAD | VOUCH_DRAFTER_RECYCLE},
                {"draft-table", VOUCH_DRAFTER_RECYCLE},
                {"allow-vocab-mismatch", MODEL},
                {"draft-vocab", MODEL}, {"ngram-min", NGRAM},
                {"ngram-max", NGRAM},   {"lenience", ALL},         {"num-speculative-tokens", ALL},
                {"tree", ALL}, {"prediction", PREDICTION}, {"history", HISTORY},
                {"history-tokens", HISTORY}, {"forget", VOUCH_DRAFTER_RECYCLE}};
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!given_find(given, uses[i].name) || (unsigned)uses[i].drafters & speculation->drafters) continue;
        if (uses[i].drafters == HEAD && !options->head)
            cli_complain("--%s has no effect without --head FILE", uses[i].name);
        else if ((uses[i].drafters & ~HEAD) == MODEL && !options->draft_model)
            cli_complain("--%s has no effect without --draft-model FILE", uses[i].name);
        else cli_complain("--%s has no effect with --spec %s: leave out one of them", uses[i].name,
                     cli_spec_text(speculation->drafters, text));
        return false;
    }
    if (options->tree && !parse_tree(options->tree, speculation)) return false;
    if (!check_accept(speculation, given)) return false;
    if (speculation->ngram_min > speculation->ngram_max) {
        cli_complain("--ngram-min %d is more than --ngram-max %d; lower one or raise the other", speculation->ngram_min,
                     speculation->ngram_max);
        return false;
    }
    return true;
}

static bool check_speculation(cli_options *options, given_flags given)
{
    vouch_speculation *speculation = &options->session.speculation;
    char text[64];
    if (options->speculative) {
        const unsigned meant = options->draft_model ? VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_AUTO;
        const bool is_given = given_find(given, "spec");
        if (is_given && speculation->drafters != meant && speculation->drafters != VOUCH_DRAFTER_MODEL) {
            cli_complain("--speculative means --spec %s %s a draft model, but --spec %s was given; leave out "
                         "one of them",
                         options->draft_model ? "draft" : "auto", options->draft_model ? "with" : "without",
                         cli_spec_text(speculation->drafters, text));
            return false;
        }
        if (!is_given) speculation->drafters = meant;
    }
    const bool is_auto = speculation->drafters == VOUCH_DRAFTER_AUTO;
    if (!resolve_drafters(options) || !check_effects(options, given)) return false;
    if (is_auto) { /* AUTO is the same set to the library; -k then limits the drafts of pace */
        speculation->drafters = VOUCH_DRAFTER_AUTO;
        speculation->auto_with = given_drafters(options);
    }
    return true;
}

static bool check_cpu(const char *cpu)
{
    char known[128] = "auto";
    if (!cpu || strcmp(cpu, "auto") == 0) return true;
    for (size_t i = 0; vouch_cpu_name(i); i++) {
        if (strcmp(vouch_cpu_name(i), cpu) == 0) return true;
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, ", %s", vouch_cpu_name(i));
    }
    cli_complain("--cpu '%s': expected one that this machine has: %s", cpu, known);
    return false;
}

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

/* ------------------------------------------------------- changes in a chat */

/* Draws a seed of 32 bits, short enough to be typed again. */
static uint64_t seed_draw(void)
{
    uint32_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return (uint64_t)(cli_now() * 1e9) & UINT32_MAX;
}

static const char *const changeable[] = {
    "temp", "top-k", "top-p", "min-p", "repeat-penalty", "frequency-penalty", "presence-penalty", "penalty-window",
    "seed", "max-tokens", "spec", "num-speculative-tokens", "draft-sampling", "accept", "lenience", "color", "trace",
    "stats"};

const char *cli_option_name(size_t i)
{
    return i < sizeof changeable / sizeof *changeable ? changeable[i] : NULL;
}

static const cli_flag *run_flag(const char *name)
{
    for (size_t i = 0; i < cli_option_table.n; i++)
        if (flag_at(i)->commands & CLI_RUN &&
            (strcmp(flag_at(i)->name, name) == 0 || (flag_at(i)->alias && strcmp(flag_at(i)->alias, name) == 0) ||
             (name[0] && !name[1] && flag_at(i)->letter == name[0])))
            return flag_at(i);
    return NULL;
}

/* The value of "color" is "never" unless --color was given: only then is generated text coloured. */
const char *cli_option_text(const cli_options *options, const char *name, char text[CLI_FLAG_VALUE])
{
    if (strcmp(name, "color") == 0 && !options->paint) return strcpy(text, "never");
    return cli_flag_text(run_flag(name), options, text);
}

static const char *changeable_word(const void *arg, size_t i)
{
    (void)arg;
    return cli_option_name(i);
}

const char *cli_option_change(cli_options *options, const char *name, const char *value)
{
    const cli_flag *flag = run_flag(name);
    bool known = false;
    for (size_t i = 0; flag && cli_option_name(i); i++) known |= strcmp(flag->name, cli_option_name(i)) == 0;
    if (!known) {
        const char *near = cli_nearest(name, changeable_word, NULL);
        if (flag) cli_complain("/set %s: --%s can be given at the start only", name, flag->name);
        else cli_complain("/set %s: unknown name%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
                          near ? "?" : "; /set lists the names");
        return NULL;
    }
    char shown[48];
    cli_options changed = *options;
    given_flags given = {NULL};
    snprintf(shown, sizeof shown, "/set %s", name);
    if (!cli_flag_change(flag, shown, value, &changed)) return NULL;
    vouch_sampling *sampling = &changed.session.sampling;
    if (options->session.sampling.temperature == 0 && sampling->temperature > 0 && sampling->seed == 0)
        sampling->seed = seed_draw(); /* as for a run that begins with this temperature */
    if (strcmp(flag->name, "color") == 0) changed.paint = changed.color != CLI_COLOR_NEVER;
    if (!check_speculation(&changed, given)) return NULL;
    *options = changed;
    return flag->name;
}

/* Checks the flags about prompts, answers and sampling, and hands them to the library's options. */
static bool check_asking(cli_options *options)
{
    for (size_t i = 0; i < options->bias_texts.n; i++)
        if (!parse_bias(options->bias_texts.items[i], &options->bias[i])) return false;
    for (size_t i = 0; i < options->stop.n; i++)
        if (!check_stop(options->stop.items[i])) return false;
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

static bool check_run(cli_options *options, given_flags given)
{
    options->session.expected_acceptance = options->stats_json != NULL; /* only the JSON has it */
    options->paint = given_find(given, "color") != NULL;
    options->seed_is_drawn = options->session.sampling.temperature > 0 && !given_find(given, "seed");
    if (options->seed_is_drawn) options->session.sampling.seed = seed_draw();
    return check_asking(options) && check_speculation(options, given);
}

/* The sequence has --depth tokens, the rows of a measurement, and a last token, which no pass runs. */
int32_t cli_bench_room(const cli_options *options)
{
    const int32_t most_rows = options->rows.items[options->rows.n - 1];
    const int32_t added = most_rows > options->n_decode ? most_rows : options->n_decode;
    const int32_t behind = options->depth + 1 + added, prompt = options->n_prefill + 2;
    return behind > prompt ? behind : prompt;
}

/* Checks each set of drafters by itself. Afterwards speculation.drafters holds all of them. */
static bool check_bench_speculation(cli_options *options, given_flags given)
{
    vouch_speculation *speculation = &options->session.speculation;
    cli_ints *sets = &options->drafters;
    unsigned all = 0;
    char text[64];
    if (sets->n == 0) sets->items[sets->n++] = VOUCH_DRAFTER_AUTO;
    if (options->draft_lengths.n == 0) options->draft_lengths.items[options->draft_lengths.n++] = 0;
    for (size_t i = 0; i < sets->n; i++) {
        speculation->drafters = (unsigned)sets->items[i];
        if (!resolve_drafters(options)) return false;
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
        if (!check_effects(options, given)) return false;
    }
    return true;
}

/* Refuses flags about passes beside --prompts, and flags about prompts without it. */
static bool check_bench_flags(const cli_options *options, given_flags given)
{
    static const char *const about_prompts[] = {"Prompt", "Speculation", "Answer", "Sampling", "Report"};
    for (size_t i = 0; i < cli_option_table.n; i++) {
        bool idle = options->prompts && strcmp(flag_at(i)->group, "Passes") == 0;
        for (size_t j = 0; !options->prompts && j < sizeof about_prompts / sizeof *about_prompts; j++)
            if (strcmp(flag_at(i)->group, about_prompts[j]) == 0) idle = true;
        if (!given[i] || !idle) continue;
        cli_complain(options->prompts ? "--%s has no effect with --prompts: leave out one of them"
                                      : "--%s has no effect without --prompts FILE",
                     flag_at(i)->name);
        return false;
    }
    return true;
}

/* --parallel compares numbers of answers at once, so everything else has one value. */
static bool check_bench_parallel(const cli_options *options)
{
    const char *flag = options->csv                    ? "csv"
                       : options->draft_lengths.n > 1 ? "num-speculative-tokens with several numbers"
                       : options->rules.n > 1         ? "accept with several rules"
                                                      : NULL;
    if (options->parallel.n == 0 || !flag) return true;
    cli_complain("--parallel can't be measured with --%s: leave out one of them", flag);
    return false;
}

static bool check_bench(cli_options *options, given_flags given)
{
    if (!check_bench_flags(options, given) || !check_bench_parallel(options)) return false;
    if (options->n_reps == 0) options->n_reps = options->prompts ? 1 : 10;
    if (options->prompts) return check_asking(options) && check_bench_speculation(options, given);
    const int32_t room = cli_bench_room(options);
    if (options->session.n_ctx == 0 || options->session.n_ctx >= room) return true;
    cli_complain("--ctx %d: --depth, --rows, --prefill and --decode need %d; raise --ctx or leave it out",
                 options->session.n_ctx, room);
    return false;
}

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

static bool check_batch(cli_options *options, given_flags given)
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
    return check_asking(options) && check_speculation(options, given);
}

/* "https://host:port" as browsers write it, "localhost" or "*". */
static bool is_origin(const char *text)
{
    const char *host = strstr(text, "://");
    if (strcmp(text, "*") == 0 || strcmp(text, "localhost") == 0 || strcmp(text, "null") == 0) return true;
    return host && host > text && host[3] && !strpbrk(host + 3, "/?# ");
}

static bool check_serve(cli_options *options, given_flags given)
{
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
    return check_asking(options) && check_speculation(options, given);
}

/* The texts to compare on are chunks of --text, answers to --prompts, or answers to prompts that vouch brings. */
static bool check_texts(const cli_options *options, given_flags given)
{
    enum { CHUNKS = 1, ANSWERS = 2, OWN = 4 };
    static const struct {
        const char *name;
        unsigned where;
    } uses[] = {
        {"ctx", CHUNKS},     {"chunks", CHUNKS},           {"category", ANSWERS},   {"each", ANSWERS},
        {"system", ANSWERS}, {"max-tokens", ANSWERS | OWN}, {"stop", ANSWERS | OWN}, {"ignore-eos", ANSWERS | OWN},
    };
    const unsigned here = options->text ? CHUNKS : options->prompts ? ANSWERS : OWN;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!given_find(given, uses[i].name) || uses[i].where & here) continue;
        cli_complain("--%s has no effect %s", uses[i].name,
                     uses[i].where == CHUNKS ? "without --text FILE"
                     : uses[i].where & OWN   ? "with --text FILE"
                                             : "without --prompts FILE");
        return false;
    }
    return true;
}

static bool check_analyze(cli_options *options, given_flags given)
{
    if (!options->draft_model) {
        cli_complain("--draft-model FILE is missing: expected the GGUF file of the model that drafts");
        return false;
    }
    if (options->text && options->prompts) {
        cli_complain("--text and --prompts exclude each other: each says what to compare the models on; leave out one");
        return false;
    }
    return check_texts(options, given) && check_asking(options);
}

static const char *command_name(unsigned command)
{
    size_t bit = 0;
    while (!(command >> bit & 1)) bit++;
    return cli_command_names[bit];
}

/* The word without a flag becomes --model. It may be a prompt, so the complaint about a missing file says where a
 * prompt goes. */
static bool take_model_word(cli_options *options, unsigned command, given_flags given)
{
    const cli_flag *flag = given_find(given, "model");
    const char *word = options->model_word;
    if (!word) return true;
    if (flag) {
        cli_complain("unexpected argument '%s': the model is --model %s already; a prompt follows --prompt", word,
                     options->model);
        return false;
    }
    if (access(word, F_OK) != 0) {
        cli_complain("'%s': %s; `vouch %s` expects the file or folder of a model here%s", word, strerror(errno),
                     command_name(command), command == CLI_RUN ? ", and a prompt behind --prompt" : "");
        return false;
    }
    options->model = word;
    for (size_t i = 0; i < cli_option_table.n; i++)
        if (strcmp(flag_at(i)->name, "model") == 0) given[i] = word;
    return true;
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

/* A head, a table or both are made, or a student. Each has flags of its own. */
static bool check_distill(const cli_options *options, given_flags given)
{
    static const char *const of_heads[] = {"quick", "taps", "ff-width", "unroll"};
    static const char *const of_students[] = {"student-model", "student-layers", "loss", "beta", "on-policy"};
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
    for (size_t i = 0; i < sizeof of_heads / sizeof *of_heads; i++)
        if (!options->distill.head && given_find(given, of_heads[i])) {
            cli_complain("--%s has no effect with --%s: leave out one of them", of_heads[i],
                         has_student ? "student" : "table");
            return false;
        }
    for (size_t i = 0; i < sizeof of_students / sizeof *of_students; i++)
        if (!has_student && given_find(given, of_students[i])) {
            cli_complain("--%s has no effect without --student OUT", of_students[i]);
            return false;
        }
    if (given_find(given, "beta") && options->distill.loss != 2) { /* TRAIN_JENSEN_SHANNON */
        cli_complain("--beta has no effect without --loss jensen-shannon");
        return false;
    }
    if (!has_student || options->distill.student_model || options->distill.student_layers.n > 0) return true;
    cli_complain("--student needs --student-layers or --student-model: expected the layers or the model that it begins "
                 "as, such as --student-layers 0,29");
    return false;
}

bool cli_options_parse(cli_options *options, unsigned command, int argc, char **argv)
{
    given_flags given = {NULL};
    *options = cli_options_default(command);
    options->command = command;
    options->arguments = argv;
    options->n_arguments = argc;
    options->stop.items = calloc((size_t)argc + 1, sizeof *options->stop.items);
    options->bias_texts.items = calloc((size_t)argc + 1, sizeof *options->bias_texts.items);
    options->categories.items = calloc((size_t)argc + 1, sizeof *options->categories.items);
    options->models.items = calloc((size_t)argc + 1, sizeof *options->models.items);
    options->keys.items = calloc((size_t)argc + 1, sizeof *options->keys.items);
    options->origins.items = calloc((size_t)argc + 1, sizeof *options->origins.items);
    options->distill.excluded.items = calloc((size_t)argc + 1, sizeof *options->distill.excluded.items);
    options->bias = calloc((size_t)argc + 1, sizeof *options->bias);
    if (!options->models.items || !options->keys.items || !options->origins.items || !options->stop.items ||
        !options->bias_texts.items || !options->categories.items || !options->distill.excluded.items ||
        !options->bias) {
        cli_complain("not enough memory");
        return false;
    }
    if (!cli_flags_parse(&cli_option_table, command, argc, argv, options, given)) return false;
    if (options->help) return true;
    if (options->models.n > 0) options->model = options->models.items[0];
    if (!take_model_word(options, command, given)) return false;
    if (!check_exclusive(given) || !check_read(options, command, given) || !check_written(given)) return false;
    if (!check_cpu(options->cpu)) return false;
    if (command == CLI_TOKENIZE && options->ids && options->n_frequent > 0) {
        cli_complain("--ids has no effect with --frequent: leave out one of them");
        return false;
    }
    if (command == CLI_RUN && !check_run(options, given)) return false;
    if (command == CLI_BENCH && !check_bench(options, given)) return false;
    if (command == CLI_BATCH && !check_batch(options, given)) return false;
    if (command == CLI_SERVE && !check_serve(options, given)) return false;
    if (!options->model) {
        cli_complain("--model FILE is missing: expected the GGUF file of a model, as in `vouch %s m.gguf`",
                     command_name(command));
        return false;
    }
    if (command == CLI_ANALYZE && !check_analyze(options, given)) return false;
    if (command == CLI_LOGITS && (!options->tokens || !options->out)) {
        cli_complain("--%s is missing: expected %s", options->tokens ? "out FILE" : "tokens LIST",
                     options->tokens ? "the .npy file to write" : "token ids, such as 1,2,3, or a file of ids");
        return false;
    }
    if ((command == CLI_QUANTIZE || command == CLI_CONVERT) && !check_written_anew(options, command)) return false;
    if (command == CLI_DISTILL && !check_distill(options, given)) return false;
    if (command == CLI_PERPLEXITY && !options->file) {
        cli_complain("--file FILE is missing: expected the text to predict");
        return false;
    }
    return true;
}

void cli_options_free(cli_options *options)
{
    free(options->stop.items);
    free(options->bias_texts.items);
    free(options->categories.items);
    free(options->models.items);
    free(options->keys.items);
    free(options->origins.items);
    free(options->distill.excluded.items);
    free(options->bias);
}

const char *cli_spec_word(unsigned command, int i, char text[CLI_SPEC_SIZE])
{
    const vouch_drafter_info info = vouch_drafter_get_info(i);
    const bool has_spec = command & (CLI_RUN | CLI_BENCH | CLI_BATCH | CLI_SERVE);
    if (!has_spec || i >= VOUCH_DRAFTER_NUMBER_CUSTOM) return NULL;
    snprintf(text, CLI_SPEC_SIZE, "%s%s%s", info.summary, info.needs ? "; needs " : "", info.needs ? info.needs : "");
    return info.name;
}

void cli_options_help(unsigned command, FILE *stream)
{
    const cli_options defaults = cli_options_default(command);
    char text[CLI_SPEC_SIZE];
    const char *word;
    cli_flags_help(&cli_option_table, command, &defaults, stream);
    for (int i = 0; (word = cli_spec_word(command, i, text)); i++)
        fprintf(stream, "%s  %-11s %s\n", i == 0 ? "\nDrafters (--spec)\n" : "", word, text);
}
