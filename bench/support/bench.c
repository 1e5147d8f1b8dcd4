/* SPDX-License-Identifier: MIT */
#include "support/bench.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "support/arguments.h"

__attribute__((format(printf, 1, 2), noreturn)) static void give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(2);
}

void bench_check(vouch_status status, const vouch_error *err)
{
    if (status) give_up("%s", err->message);
}

static const char *default_model(void)
{
    static char path[4096];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = vouch_os_home();
    const bool given = cache && *cache;
    snprintf(path, sizeof path, "%s%s/vouch/SmolLM2-135M-Instruct.Q4_1.gguf",
             given  ? cache
             : home ? home
                    : "",
             given ? "" : "/.cache");
    return path;
}

#define AT(member) .offset = offsetof(bench_flags, member)

static const tool_flag flags[] = {
    {"model", NULL, 'm', TOOL_FLAG_FILE, AT(model), "FILE", NULL, 1, "What",
     "GGUF file (default: the model of `make run`)", NULL, NULL},
    {"head", NULL, 0, TOOL_FLAG_FILE, AT(head), "FILE", NULL, 1, "What",
     "head for the model, for benchmarks that draft with one", NULL, NULL},
    {"data", NULL, 'd', TOOL_FLAG_FILE, AT(data), "FOLDER", NULL, 1, "What",
     "folder that has prompts/ (default: the environment variable VOUCH_DATA)", NULL, NULL},
    {"prompts", NULL, 'p', TOOL_FLAG_INT, AT(n_prompts), "N", "[1, 80]", 1, "What", "prompts from each source", NULL,
     NULL},
    {"tokens", NULL, 'n', TOOL_FLAG_INT, AT(n_tokens), "N", "[1, 1000000]", 1, "What", "maximum tokens per answer",
     NULL, NULL},
    {"from", NULL, 0, TOOL_FLAG_INT, AT(from), "N", "[1, 100000]", 1, "What",
     "begin with the N-th line, where an earlier run stopped (default 1)", NULL, NULL},
    {"threads", NULL, 0, TOOL_FLAG_INT, AT(n_threads), "N", "[1, 256]", 1, "How",
     "threads (default: one per processor)", NULL, NULL},
    {"cpu", NULL, 0, TOOL_FLAG_FILE, AT(cpu), "ISA", NULL, 1, "How", "instruction set (default: the widest)", NULL,
     NULL},
    BENCH_HELP,
};

bench_flags bench_parse(const char *name, const char *about, bench_flags defaults, int argc, char **argv)
{
    const bench_command command = {name, about, NULL, flags, sizeof flags / sizeof flags[0]};
    if (!defaults.model) defaults.model = default_model();
    if (!defaults.data) defaults.data = getenv("VOUCH_DATA");
    if (!defaults.data) defaults.data = ".";
    defaults.from = 1;
    bench_arguments_parse(&command, argc, argv, &defaults);
    return defaults;
}

static bool category_wanted(const json_t *line, const char *const *categories)
{
    const char *category = json_string_value(json_object_get(line, "category"));
    if (!categories) return true;
    for (; category && *categories; categories++)
        if (strcmp(category, *categories) == 0) return true;
    return false;
}

void bench_prompts(const char *data, const char *file, const char *const *categories, int32_t limit, char **texts,
                   int32_t *n)
{
    char path[4096], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/prompts/%s", data, file);
    FILE *stream = fopen(path, "r");
    if (!stream) give_up("%s: can't read; --data names the folder that has prompts/", path);
    while (limit > 0 && getline(&line, &room, stream) > 0) {
        json_t *object = json_loads(line, 0, NULL);
        const char *text = json_string_value(json_array_get(json_object_get(object, "turns"), 0));
        if (!text) text = json_string_value(json_object_get(object, "prompt"));
        if (text && category_wanted(object, categories)) {
            texts[*n] = strdup(text);
            if (!texts[(*n)++]) give_up("not enough memory");
            limit--;
        }
        json_decref(object);
    }
    if (limit > 0) give_up("%s: the file lacks %d prompts; ask for fewer with --prompts", path, (int)limit);
    free(line);
    fclose(stream);
}

vouch_model *bench_open(const char *path, const char *cpu)
{
    vouch_model *model;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    options.cpu = cpu;
    bench_check(vouch_model_open(&model, path, &options, &err), &err);
    return model;
}

vouch_session *bench_session(const vouch_model *model, const vouch_session_options *options)
{
    vouch_session *session;
    vouch_error err;
    bench_check(vouch_session_open(&session, model, options, &err), &err);
    return session;
}

bench_answer bench_ask(vouch_session *session, const char *prompt)
{
    const vouch_message turn = {"user", prompt};
    bench_answer answer = {0};
    vouch_step step = {0};
    vouch_error err;
    size_t n_prompt;
    bench_check(vouch_session_chat(session, &turn, 1, &err), &err);
    vouch_session_tokens(session, &n_prompt);
    vouch_session_reset_stats(session);
    while (step.finish == VOUCH_FINISH_NONE) {
        bench_check(vouch_session_step(session, &step, &err), &err);
        answer.text = realloc(answer.text, answer.n_text + step.n_text + 1);
        if (!answer.text) give_up("not enough memory");
        if (step.n_text) memcpy(answer.text + answer.n_text, step.text, step.n_text);
        answer.n_text += step.n_text;
    }
    const vouch_stats *stats = vouch_session_stats(session);
    answer.n_prompt = (int64_t)n_prompt;
    answer.n_tokens = stats->generated_tokens;
    answer.cycles = stats->cycles;
    answer.drafted = stats->drafted;
    answer.accepted = stats->accepted;
    answer.rejected = stats->judged - stats->accepted;
    answer.seconds = stats->decode_seconds;
    return answer;
}
