/* SPDX-License-Identifier: MIT */
#include "options/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hub/name.h"
#include "options/option_checks.h"
#include "os/os.h"

/* -------------------------------------------------------------------- parsing */

static bool check_exclusive(cli_given given)
{
    static const char *const pairs[][3] = {
        {"suffix", "suffix-file", "both give the text after the answer"},
        {"suffix", "chat", "a conversation has no text in the middle"},
        {"suffix-file", "chat", "a conversation has no text in the middle"},
        {"suffix", "system", "text in the middle goes through no chat template"},
        {"suffix-file", "system", "text in the middle goes through no chat template"},
        {"prompt-file", "chat", "a conversation reads its own lines"},
        {"raw", "chat", "a conversation needs a chat template"},
        {"raw", "chat-template", "--raw means no chat template"},
        {"raw", "system", "a system message needs a chat template"},
        {"write-vectors", "json", "nothing is checked"},
        {"json", "json-schema", "both say what the answer is"},
        {"json", "grammar-file", "both say what the answer is"},
        {"json", "regex", "both say what the answer is"},
        {"json-schema", "grammar-file", "both say what the answer is"},
        {"json-schema", "regex", "both say what the answer is"},
        {"regex", "grammar-file", "both say what the answer is"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!cli_given_find(given, pairs[i][0]) || !cli_given_find(given, pairs[i][1])) continue;
        tool_complain("--%s and --%s exclude each other: %s; leave out one of them", pairs[i][0], pairs[i][1],
                      pairs[i][2]);
        return false;
    }
    return true;
}

/* Flags that would be without effect alone. */
static bool check_needs(cli_given given)
{
    static const struct {
        unsigned commands;
        const char *flag, *needs;
    } rows[] = {
        {CLI_BATCH, "resume", "out"},        {CLI_SERVE, "tls-cert", "tls-key"},
        {CLI_SERVE, "tls-key", "tls-cert"},  {CLI_SERVE, "idle", "models"},
        {CLI_SERVE, "max-memory", "models"}, {CLI_RUN | CLI_BATCH | CLI_SERVE, "prompt-cache-size", "prompt-cache"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tool_flag *flag = cli_given_find(given, rows[i].flag), *needed = cli_given_find(given, rows[i].needs);
        if (!flag || !(flag->commands & rows[i].commands) || needed) continue;
        tool_complain("--%s needs --%s, too", rows[i].flag, rows[i].needs);
        return false;
    }
    return true;
}

/* max_tokens 0: up to the end of the context. */
static bool check_lengths(const cli_options *options)
{
    const int32_t least = options->session.min_tokens, most = options->session.max_tokens;
    if (most == 0 || least <= most) return true;
    tool_complain("--min-tokens %d: expected at most --max-tokens, which is %d", least, most);
    return false;
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
    tool_complain("--cpu '%s': expected one that this machine has: %s", cpu, known);
    return false;
}

static const char *template_word(const void *arg, size_t i)
{
    (void)arg;
    return vouch_chat_template_name(i);
}

bool cli_template_is_known(const char *name)
{
    size_t i = 0;
    while (vouch_chat_template_name(i) && strcmp(vouch_chat_template_name(i), name) != 0) i++;
    return vouch_chat_template_name(i) != NULL;
}

/* A word that is no file is a name, even a wrong one. */
static bool check_template(const char *word)
{
    if (!word || strcmp(word, "auto") == 0 || strcmp(word, "none") == 0 || cli_template_is_known(word)) return true;
    if (strcmp(word, "-") == 0 || vouch_os_exists(word)) return true;
    const char *near = tool_nearest(word, template_word, NULL);
    tool_complain("--chat-template '%s': neither a name nor a file%s%s%s `vouch run --chat-template list` prints the "
                  "names",
                  word, near ? "; did you mean " : ";", near ? near : "", near ? "?" : "");
    return false;
}

/* Counts the flag of this name as given. */
static void give(cli_given given, const char *name, const char *word)
{
    for (size_t i = 0; i < cli_option_table()->n; i++)
        if (strcmp(cli_flag_at(i)->name, name) == 0) given[i] = word;
}

/* The word after the model becomes --prompt. Beside --model, it is the first word. */
static bool take_prompt_word(cli_options *options, cli_given given)
{
    const bool asks = options->command & (CLI_RUN | CLI_TOKENIZE);
    if (asks && options->model_word && !options->prompt_word && !options->prompt && cli_given_find(given, "model")) {
        options->prompt_word = options->model_word;
        options->model_word = NULL;
    }
    const char *word = options->prompt_word;
    if (!word) return true;
    if (options->prompt) {
        tool_complain("the prompt is given twice, as '%s' and as --prompt '%s': leave out one of them", word,
                      options->prompt);
        return false;
    }
    options->prompt = word;
    give(given, "prompt", word);
    return true;
}

/* The first word without a flag becomes --model. It may be a prompt, so the complaint about a missing file says where
 * a prompt goes. */
static bool take_model_word(cli_options *options, const char *name, cli_given given)
{
    const char *word = options->model_word;
    if (!word) return true;
    if (cli_given_find(given, "model")) {
        tool_complain("unexpected argument '%s': the model is --model %s already%s", word, options->model,
                      options->command == CLI_SERVE ? "; a further model follows a --model of its own" : "");
        return false;
    }
    if (!vouch_os_exists(word) && hub_kind_of(word) == HUB_PATH && !hub_is_behind_folder(word)) {
        tool_complain("'%s': %s; `vouch %s` expects the file or folder of a model here%s", word, strerror(errno), name,
                      options->command == CLI_RUN ? ", and a prompt after it" : "");
        return false;
    }
    options->model_path = strdup(word);
    if (!options->model_path) {
        tool_complain("not enough memory");
        return false;
    }
    vouch_os_path_tidy(options->model_path);
    options->model = options->model_path;
    give(given, "model", word);
    return true;
}

/* --draft-model auto and none name no file. */
static void take_draft_word(cli_options *options, cli_given given)
{
    const char *word = options->draft_model;
    if (!(options->command & (CLI_RUN | CLI_BATCH | CLI_SERVE))) return;
    options->pairing = CLI_PAIRING_YES;
    if (!word || (strcmp(word, "auto") != 0 && strcmp(word, "none") != 0)) return;
    options->pairing = *word == 'a' ? CLI_PAIRING_ASKED : CLI_PAIRING_NO;
    options->draft_model = NULL;
    give(given, "draft-model", NULL);
}

/* Splits FILE=SCALE of each --lora. A word whose end is no number is a path alone. */
static bool take_loras(cli_options *options)
{
    if (options->loras.n > VOUCH_MOST_LORAS) {
        tool_complain("--lora is given %zu times, expected at most %d", options->loras.n, VOUCH_MOST_LORAS);
        return false;
    }
    for (size_t i = 0; i < options->loras.n; i++) {
        const char *text = options->loras.items[i], *equal = strrchr(text, '=');
        char *end = NULL;
        const float scale = equal ? strtof(equal + 1, &end) : 1;
        const bool has_scale = equal && end > equal + 1 && !*end;
        options->lora_scales[i] = has_scale ? scale : 1;
        options->lora_paths[i] = has_scale ? strndup(text, (size_t)(equal - text)) : strdup(text);
        if (!options->lora_paths[i]) {
            tool_complain("not enough memory");
            return false;
        }
        if (!(fabsf(options->lora_scales[i]) <= 1e6f)) {
            tool_complain("--lora '%s': the scale must be -1e6 to 1e6", text);
            return false;
        }
    }
    if (options->loras.n == 0) return true;
    options->session.adapter_scales = options->lora_scales;
    options->session.n_adapter_scales = (int32_t)options->loras.n;
    return true;
}

/* Room for as many values as there are arguments, for each flag that can be repeated. */
static bool lists_allocate(cli_options *o, size_t n)
{
    const char ***lists[] = {
        &o->stop.items,       &o->bias_texts.items,    &o->categories.items,       &o->models.items,  &o->loras.items,
        &o->serve.keys.items, &o->serve.origins.items, &o->distill.excluded.items, &o->breakers.items};
    bool ok = (o->bias = calloc(n, sizeof *o->bias)) != NULL;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) ok &= (*lists[i] = calloc(n, sizeof **lists[i])) != NULL;
    if (!ok) tool_complain("not enough memory");
    return ok;
}

/* Whether the command does without the model that it takes otherwise. */
static bool is_without_model(const cli_options *options)
{
    const cli_check_options *check = &options->check;
    return options->machine || check->system || check->vectors || check->new_vectors || check->server.address ||
           options->serve.models_folder;
}

static bool takes_model(const cli_command *command)
{
    for (size_t i = 0; i < cli_option_table()->n; i++)
        if (strcmp(cli_flag_at(i)->name, "model") == 0 && cli_flag_at(i)->commands & command->bit) return true;
    return false;
}

bool cli_options_parse(cli_options *options, const cli_command *command, int argc, char **argv)
{
    cli_given given = {NULL};
    *options = cli_options_default(command->bit);
    options->command = command->bit;
    options->chat = command->chat;
    options->arguments = argv;
    options->n_arguments = argc;
    if (!lists_allocate(options, (size_t)argc + 1)) return false;
    if (!tool_flags_parse(cli_option_table(), command->bit, argc, argv, options, given)) return false;
    options->lists_templates = options->chat_template && strcmp(options->chat_template, "list") == 0;
    if (options->help || options->lists_templates) return true;
    if (command->chat) give(given, "chat", "");
    if (options->models.n > 0) options->model = options->models.items[0];
    if (options->session.max_tokens < 0) options->session.max_tokens = 0;
    if (!take_prompt_word(options, given) || !take_model_word(options, command->name, given)) return false;
    take_draft_word(options, given);
    if (!take_loras(options)) return false;
    if (!check_exclusive(given) || !check_needs(given) || !cli_check_files(options, given)) return false;
    options->drafters_given = cli_drafters_given(options, given);
    if (!check_lengths(options) || !check_cpu(options->cpu) || !check_template(options->chat_template)) return false;
    if (command->check && !command->check(options, given)) return false;
    if (options->model || is_without_model(options) || !takes_model(command))
        return !command->needs || command->needs(options, given);
    tool_complain("--model FILE is missing: expected the GGUF file of a model, as in `vouch %s m.gguf`", command->name);
    return false;
}

void cli_options_free(cli_options *options)
{
    for (size_t i = 0; i < VOUCH_MOST_LORAS; i++) free(options->lora_paths[i]);
    free(options->model_path);
    free(options->stop.items);
    free(options->breakers.items);
    free(options->bias_texts.items);
    free(options->categories.items);
    free(options->models.items);
    free(options->loras.items);
    free(options->serve.keys.items);
    free(options->serve.origins.items);
    free(options->distill.excluded.items);
    free(options->bias);
    for (size_t i = 0; i < options->n_found; i++) free(options->found[i]);
    free(options->found);
}

/* ---------------------------------------------------------- changes in a chat */

static const char *const changeable[] = {"temp",
                                         "top-k",
                                         "top-p",
                                         "min-p",
                                         "typical",
                                         "top-n-sigma",
                                         "xtc-probability",
                                         "xtc-threshold",
                                         "dry-multiplier",
                                         "dry-base",
                                         "dry-allowed-length",
                                         "dry-penalty-last-n",
                                         "repeat-penalty",
                                         "frequency-penalty",
                                         "presence-penalty",
                                         "penalty-window",
                                         "seed",
                                         "max-tokens",
                                         "spec",
                                         "num-speculative-tokens",
                                         "draft-sampling",
                                         "accept",
                                         "lenience",
                                         "color",
                                         "trace",
                                         "stats"};

const char *cli_option_name(size_t i)
{
    return i < sizeof changeable / sizeof *changeable ? changeable[i] : NULL;
}

bool cli_option_applies(const cli_options *options, const char *name)
{
    return strcmp(name, "draft-sampling") != 0 || options->drafters_given & cli_drafters_taking(name);
}

static const tool_flag *run_flag(const char *name)
{
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const tool_flag *flag = cli_flag_at(i);
        const bool is_letter = name[0] && !name[1] && flag->letter == name[0];
        const bool is_alias = flag->alias && strcmp(flag->alias, name) == 0;
        if (flag->commands & CLI_RUN && (is_letter || is_alias || strcmp(flag->name, name) == 0)) return flag;
    }
    return NULL;
}

/* The value of "color" is "never" unless --color was given: only then is generated text coloured. */
const char *cli_option_text(const cli_options *options, const char *name, char text[TOOL_FLAG_VALUE])
{
    if (strcmp(name, "color") == 0 && !options->paint) return strcpy(text, "never");
    return tool_flag_text(run_flag(name), options, text);
}

static const char *changeable_word(const void *arg, size_t i)
{
    (void)arg;
    return cli_option_name(i);
}

const char *cli_option_change(cli_options *options, const char *name, const char *value)
{
    const tool_flag *flag = run_flag(name);
    bool known = false;
    for (size_t i = 0; flag && cli_option_name(i); i++) known |= strcmp(flag->name, cli_option_name(i)) == 0;
    if (!known) {
        const char *near = tool_nearest(name, changeable_word, NULL);
        if (flag) tool_complain("/set %s: --%s can be given at the start only", name, flag->name);
        else
            tool_complain("/set %s: unknown name%s%s%s", name, near ? "; did you mean " : "", near ? near : "",
                          near ? "?" : "; /set lists the names");
        return NULL;
    }
    if (!cli_option_applies(options, flag->name)) {
        tool_complain("/set %s has no effect without a draft model or a head, which only the command line can give",
                      name);
        return NULL;
    }
    char shown[48];
    cli_options changed = *options;
    cli_given given = {NULL};
    snprintf(shown, sizeof shown, "/set %s", name);
    if (strcmp(flag->name, "spec") == 0 && !cli_check_set_spec(options, value)) return NULL;
    if (!tool_flag_change(flag, shown, value, &changed)) return NULL;
    if (changed.session.max_tokens < 0) changed.session.max_tokens = 0;
    if (!check_lengths(&changed)) return NULL;
    vouch_sampling *sampling = &changed.session.sampling;
    if (options->session.sampling.temperature == 0 && sampling->temperature > 0 && sampling->seed == 0)
        sampling->seed = cli_seed_draw(); /* as for a run that begins with this temperature */
    if (strcmp(flag->name, "color") == 0) changed.paint = changed.color != TOOL_COLOR_NEVER;
    if (!cli_check_speculation(&changed, given)) return NULL;
    *options = changed;
    return flag->name;
}

/* ----------------------------------------------------------------------- help */

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
    tool_flags_help(cli_option_table(), command, &defaults, stream);
    for (int i = 0; (word = cli_spec_word(command, i, text)); i++)
        fprintf(stream, "%s  %-11s %s\n", i == 0 ? "\nDrafters (--spec)\n" : "", word, text);
}
