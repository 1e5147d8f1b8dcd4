/* SPDX-License-Identifier: MIT */
/* The command `vouch info` prints what a model file contains, whether vouch can run the model, and how much memory that
 * needs. With --machine it describes this machine and this build. */
#include <string.h>

#include "cli.h"
#include "machine.h"
#include "tool/file.h"
#include "tool/sampling.h"
#include "tool/text.h"

static void text_line(const char *key, const char *value)
{
    if (!*value) return;
    printf("%-18s", key);
    tool_put_escaped(stdout, value, strlen(value), 0);
    putchar('\n');
}

static void number_line(const char *key, int64_t value, const char *unit)
{
    if (value > 0) printf("%-18s%lld%s\n", key, (long long)value, unit);
}

static void token_line(const vouch_model *model, const char *key, int32_t token)
{
    if (token < 0) return;
    size_t n = 0;
    const char *bytes = vouch_token_bytes(model, token, &n);
    printf("%-18s%d ", key, token);
    if (bytes) tool_put_escaped(stdout, bytes, n, 0);
    putchar('\n');
}

/* "Q4_1 78.9 % (210 tensors), Q8_0 21.0 % (1), ...": shares of the parameters. */
static void types_line(const vouch_file_info *info)
{
    if (info->n_types == 0) return;
    printf("%-18s", "weights");
    for (size_t i = 0; i < info->n_types; i++) {
        const vouch_file_type *type = &info->types[i];
        const double percent = 100 * (double)type->n_values / (double)info->n_parameters;
        const char *unit = i > 0 ? "" : type->n_tensors == 1 ? " tensor" : " tensors";
        printf("%s%s ", i ? ", " : "", type->name);
        if (percent < 0.05) printf("below 0.1 %%");
        else printf("%.1f %%", percent);
        printf(" (%lld%s)%s", (long long)type->n_tensors, unit, type->is_supported ? "" : " not supported");
    }
    putchar('\n');
}

/* "jinja, 113 lines", or why the template can't be run. */
static void template_line(const vouch_file_info *info)
{
    printf("%-18s%s", "chat template", info->chat_template);
    if (strcmp(info->chat_template, "jinja") == 0)
        printf(", %d line%s", info->chat_template_lines, info->chat_template_lines == 1 ? "" : "s");
    if (*info->chat_template_problem) {
        fputs(": ", stdout);
        tool_put_escaped(stdout, info->chat_template_problem, strlen(info->chat_template_problem), 0);
        fputs("; --raw works without it", stdout);
    }
    putchar('\n');
}

static void file_write(const cli_options *options, const vouch_file_info *info)
{
    text_line("file", options->model);
    text_line("name", info->name);
    if (strcmp(info->kind, "model") != 0) text_line("kind", info->kind);
    text_line("architecture", *info->architecture ? info->architecture : "the file doesn't say");
    text_line("license", info->license);
    printf("%-18s%lld bytes\n", "size", (long long)info->file_bytes);
    number_line("parameters", info->n_parameters, "");
    types_line(info);
    number_line("layers", info->n_layers, "");
    number_line("width", info->n_embd, "");
    number_line("experts", info->n_experts, "");
    number_line("context", info->n_ctx_train, " tokens");
    number_line("vocabulary", info->n_vocab, " tokens");
    text_line("tokenizer", info->tokenizer);
    template_line(info);
}

/* How `vouch run` and `vouch serve` sample, and whose wish that is. */
static void sampling_line(const vouch_model *model)
{
    vouch_sampling sampling = vouch_sampling_default();
    char text[TOOL_SAMPLING_SIZE];
    const unsigned fields = vouch_model_sampling(model, 0, &sampling);
    printf("%-18s%s%s\n", "sampling", tool_sampling_text(&sampling, fields, " (file)", text),
           fields ? "" : " (vouch's default; the file recommends none)");
}

/* Facts that are known only of a model that vouch can run. */
static void model_write(const vouch_model *model)
{
    const vouch_model_info *info = vouch_model_get_info(model);
    printf("%-18s%d, key-value %d, of width %d\n", "heads", info->n_heads, info->n_kv_heads, info->head_dim);
    printf("%-18s%d\n", "feed-forward", info->n_ff);
    printf("%-18s%s\n", "embeddings", info->tied_embeddings ? "tied" : "separate");
    text_line("digest", info->digest);
    token_line(model, "begin", info->token_bos);
    token_line(model, "end", info->token_eos);
    sampling_line(model);
    const bool infills = info->token_fim_prefix >= 0 && info->token_fim_suffix >= 0 && info->token_fim_middle >= 0;
    text_line("infill", infills ? "yes" : "");
    printf("%-18s%lld bytes of packed weights\n", "memory", (long long)info->packed_bytes);
    text_line("instruction set", info->cpu);
    printf("%-18s", "available here");
    for (size_t i = 0; vouch_cpu_name(i); i++) printf("%s%s", i ? ", " : "", vouch_cpu_name(i));
    puts("\nvouch runs it     yes");
}

/* Prints "no: REASON" without the path that begins the message: the path stands above. */
static void problem_line(const cli_options *options, const vouch_error *problem, bool is_first)
{
    const size_t n = strlen(options->model);
    const bool has_path =
        strncmp(problem->message, options->model, n) == 0 && strncmp(problem->message + n, ": ", 2) == 0;
    const char *reason = problem->message + (has_path ? n + 2 : 0);
    printf("%-18s%s", is_first ? "vouch runs it" : "", is_first ? "no: " : "and: ");
    tool_put_escaped(stdout, reason, strlen(reason), 0);
    putchar('\n');
}

bool cli_info_check(cli_options *options, cli_given given)
{
    if (options->machine) return cli_given_stands_alone(given, "machine");
    if (!options->json) return true;
    tool_complain("--json: expected --machine beside it; of a model, `vouch info` writes text alone");
    return false;
}

static int machine_write(const cli_options *options)
{
    vouch_error err;
    if (options->json && tool_file_check(options->json, &err)) return cli_flag_refuse("json", &err);
    cli_machine_put(stdout, true);
    if (!options->json) return CLI_DONE;
    json_t *object = cli_machine_json();
    const vouch_status status = tool_file_write_json(options->json, object, &err);
    json_decref(object);
    return status ? cli_flag_fail("json", &err) : CLI_DONE;
}

int cli_info_run(const cli_options *options)
{
    cli_engine engine = {0};
    vouch_file *file;
    vouch_error err;
    int status = CLI_DONE;
    if (options->machine) return machine_write(options);
    if (vouch_file_open(&file, options->model, &err)) return cli_engine_fail(&err);
    const vouch_file_info *info = vouch_file_get_info(file);
    file_write(options, info);
    text_line("ignored metadata", info->unknown_keys);
    for (size_t i = 0; i < info->n_problems; i++) problem_line(options, &info->problems[i], i == 0);
    if (info->n_problems == 0) {
        status = cli_engine_open_text(&engine, options);
        if (!status) model_write(engine.model);
    }
    cli_engine_close(&engine);
    vouch_file_close(file);
    return status;
}
