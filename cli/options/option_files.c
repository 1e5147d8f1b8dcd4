/* SPDX-License-Identifier: MIT */
#include "options/option_checks.h"

#include <string.h>

#include "tool/file.h"

const tool_flag *cli_given_find(cli_given given, const char *name)
{
    for (size_t i = 0; i < cli_option_table()->n; i++)
        if (given[i] && strcmp(cli_flag_at(i)->name, name) == 0) return cli_flag_at(i);
    return NULL;
}

/* Does the flag name a file that the command writes? */
static bool is_written(const tool_flag *flag)
{
    static const char *const names[] = {"json", "svg",     "csv",   "html",         "stats-json",
                                        "out",  "student", "table", "write-vectors"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flag->kind == TOOL_FLAG_FILE && strcmp(flag->name, names[i]) == 0) return true;
    return strcmp(flag->name, "head") == 0 && strcmp(flag->value, "OUT") == 0; /* of `vouch distill` */
}

bool cli_given_stands_alone(cli_given given, const char *name)
{
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const char *other = cli_flag_at(i)->name;
        if (!given[i] || strcmp(other, name) == 0 || strcmp(other, "json") == 0) continue;
        if (*other) tool_complain("--%s and --%s exclude each other: --%s takes --json alone", name, other, name);
        else tool_complain("--%s takes no model; leave out '%s'", name, given[i]);
        return false;
    }
    return true;
}

static bool check_written(cli_given given)
{
    static const char *const standard[][2] = {{"/dev/stdin", "input comes from"}, {"/dev/stdout", "output goes to"}};
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        if (!given[i] || !is_written(cli_flag_at(i))) continue;
        if (strcmp(given[i], "-") == 0) {
            tool_complain("--%s -: standard output carries the text only; expected a file (./- for a file named -)",
                          cli_flag_at(i)->name);
            return false;
        }
        for (size_t j = 0; j < sizeof standard / sizeof *standard; j++) {
            if (!tool_file_is_same(given[i], standard[j][0])) continue;
            tool_complain("--%s %s is also the file that standard %s, and would overwrite it; name another file",
                          cli_flag_at(i)->name, given[i], standard[j][1]);
            return false;
        }
        for (size_t j = 0; j < cli_option_table()->n; j++) {
            const tool_flag *other = cli_flag_at(j);
            const bool is_file = is_written(other) || (other->kind == TOOL_FLAG_FILE && strstr(other->value, "FILE"));
            if (j == i || !given[j] || !is_file || !tool_file_is_same(given[i], given[j])) continue;
            tool_complain("--%s %s is also the file of --%s, and would overwrite it; name another file",
                          cli_flag_at(i)->name, given[i], other->name);
            return false;
        }
    }
    return true;
}

/* Standard input can be read once: by a flag with the value -, by a conversation, or as the prompt. Beside --prompt it
 * is read only where nothing else reads it. */
static bool check_read(cli_options *options, cli_given given)
{
    const bool asks = options->command & (CLI_RUN | CLI_TOKENIZE);
    const bool is_prompt =
        asks && !options->chat && !options->prompt && !options->prompt_file && !options->tokenize.messages;
    const char *first = options->chat ? "chat" : NULL;
    if (asks && options->prompt && strcmp(options->prompt, "-") == 0) {
        tool_complain("--prompt -: expected a text; write --prompt-file - to read the prompt from standard input");
        return false;
    }
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const bool is_read = cli_flag_at(i)->kind == TOOL_FLAG_FILE && !is_written(cli_flag_at(i));
        if (!given[i] || !is_read || strcmp(given[i], "-") != 0) continue;
        if (is_prompt) {
            tool_complain("--%s -: without --prompt or --prompt-file the prompt is standard input; add one of them",
                          cli_flag_at(i)->name);
            return false;
        }
        if (first) {
            tool_complain("--%s and --%s - both read standard input; give one of them a file", first,
                          cli_flag_at(i)->name);
            return false;
        }
        first = cli_flag_at(i)->name;
    }
    options->prompt_adds_input = asks && options->prompt && !options->chat && !options->prompt_file && !first;
    return true;
}

bool cli_check_files(cli_options *options, cli_given given)
{
    return check_read(options, given) && check_written(given);
}
