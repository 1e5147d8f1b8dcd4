/* SPDX-License-Identifier: MIT */
/* Manual page and shell completions, from the tables of commands and flags that help comes from. */
#include <string.h>

#include "cli.h"

/* Flag i of the table; NULL where the command doesn't have it. */
static const tool_flag *flag_of(const cli_command *c, size_t i)
{
    const tool_flag *flag = &cli_option_table()->flags[i];
    return flag->commands & c->bit ? flag : NULL;
}

static bool takes_file(const tool_flag *flag)
{
    return flag->kind == TOOL_FLAG_FILE && (strstr(flag->value, "FILE") || strcmp(flag->value, "MODEL") == 0);
}

static bool takes_words(const tool_flag *flag)
{
    return flag->value && strchr(flag->value, '|') && flag->kind != TOOL_FLAG_FILE;
}

/* "auto none draft" */
static void words_put(const tool_flag *flag, FILE *out)
{
    char word[32];
    for (size_t i = 0; tool_choice_word(flag->value, i, word); i++) fprintf(out, "%s%s", i ? " " : "", word);
}

/* ------------------------------------------------------------- manual page */

/* Writes text for roff: `-` as a minus sign that can be copied; no line begins like a roff request. */
static void roff_put(const char *text, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        const bool begins = i == 0 || text[i - 1] == '\n';
        if (begins && strchr(".'", text[i])) fputs("\\&", out);
        if (text[i] == '-') fputs("\\-", out);
        else if (text[i] == '\\') fputs("\\e", out);
        else fputc(text[i], out);
    }
}

static void roff_flag(const tool_flag *flag, const cli_options *defaults, FILE *out)
{
    char text[TOOL_FLAG_TEXT_SIZE];
    fputs(".TP\n", out);
    if (flag->letter) fprintf(out, "\\fB\\-%c\\fR, ", flag->letter);
    if (*flag->name) {
        fputs("\\fB\\-\\-", out);
        roff_put(flag->name, strlen(flag->name), out);
        fputs("\\fR", out);
    }
    if (flag->value) {
        fputs(*flag->name ? " \\fI" : "\\fI", out);
        roff_put(flag->value, strlen(flag->value), out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    tool_flag_describe(flag, defaults, text);
    roff_put(text, strlen(text), out);
    fputc('\n', out);
}

static void roff_lines(const char *lines, FILE *out)
{
    fputs(".PP\n.nf\n", out);
    roff_put(lines, strlen(lines), out);
    fputs(".fi\n", out);
}

static void roff_command(const cli_command *c, FILE *out)
{
    const cli_options defaults = cli_options_default(c->bit);
    fprintf(out, ".SH \"VOUCH %s\"\n", c->name);
    roff_put(c->summary, strlen(c->summary), out);
    fputs(".\n", out);
    roff_lines(c->usage, out);
    if (*c->about) fputs(".PP\n", out);
    roff_put(c->about, strlen(c->about), out);
    const char *group = "";
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const tool_flag *flag = flag_of(c, i);
        if (!flag) continue;
        if (strcmp(group, flag->group) != 0) fprintf(out, ".SS %s\n", group = flag->group);
        roff_flag(flag, &defaults, out);
    }
    char text[CLI_SPEC_SIZE];
    const char *word;
    for (int i = 0; (word = cli_spec_word(c->bit, i, text)); i++) {
        fprintf(out, "%s.TP\n\\fB%s\\fR\n", i == 0 ? ".SS \"Drafters (\\-\\-spec)\"\n" : "", word);
        roff_put(text, strlen(text), out);
        fputc('\n', out);
    }
    fputs(".SS Examples\n.nf\n", out);
    roff_put(c->examples, strlen(c->examples), out);
    fputs(".fi\n", out);
}

void cli_manual_write(const cli_command *commands, size_t n, FILE *out)
{
    fprintf(out,
            ".TH VOUCH 1 \"\" \"vouch %s\" \"User Commands\"\n"
            ".SH NAME\nvouch \\- speculative decoding for language models\n"
            ".SH SYNOPSIS\n.nf\n",
            vouch_version());
    for (size_t i = 0; i < n; i++) roff_put(commands[i].usage, strlen(commands[i].usage), out);
    fputs(".fi\n.SH DESCRIPTION\n"
          "A cheap drafter guesses the next tokens, and the model checks all guesses in one pass. The text "
          "is what the\n"
          "model alone would have said, sooner.\n"
          "Without a command, vouch runs the model:\n\\fBvouch\\fR \\fIMODEL\\fR means \\fBvouch run\\fR "
          "\\fIMODEL\\fR.\n",
          out);
    for (size_t i = 0; i < n; i++) roff_command(&commands[i], out);
    fputs(".SH \"EXIT STATUS\"\n.TP\n0\nvouch has done what was asked.\n"
          ".TP\n1\nvouch failed while running, was interrupted, or found a broken guarantee.\n"
          ".TP\n2\nThe command line was wrong. vouch has not run anything.\n"
          ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set and not empty, vouch uses no colours unless\n"
          "\\fB\\-\\-color always\\fR asks for them.\n",
          out);
}

/* ------------------------------------------------------------- completions */

/* Length of the first clause of a flag's help. */
static size_t brief_length(const char *help)
{
    static const char *const ends[] = {". ", "; ", ": ", " ("};
    size_t n = strlen(help);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(help, ends[i]);
        if (end && (size_t)(end - help) < n) n = (size_t)(end - help);
    }
    return n;
}

/* The first n bytes of text inside single quotes, a backslash before each of `special`; `quote` stands for a
 * quote. */
static void quoted_put(const char *text, size_t n, const char *special, const char *quote, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'') fputs(quote, out);
        else if (text[i] == '\n') fputc(' ', out);
        else fprintf(out, "%s%c", strchr(special, text[i]) ? "\\" : "", text[i]);
    }
}

static void brief_put(const tool_flag *flag, const char *special, const char *quote, FILE *out)
{
    quoted_put(flag->help, brief_length(flag->help), special, quote, out);
}

/* A line of `case`: the flag's names as patterns "run --spec|run -s". */
static void bash_patterns(const cli_command *c, const tool_flag *flag, FILE *out)
{
    fprintf(out, "    '%s --%s'", c->name, flag->name);
    if (flag->letter) fprintf(out, " | '%s -%c'", c->name, flag->letter);
    fputs(") ", out);
}

static void bash_values(const cli_command *c, FILE *out)
{
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const tool_flag *flag = flag_of(c, i);
        if (!flag || !*flag->name || !flag->value || flag->implied) continue;
        bash_patterns(c, flag, out);
        if (takes_words(flag)) {
            fputs("COMPREPLY=($(compgen -W '", out);
            words_put(flag, out);
            fputs("' -- \"$cur\")); return ;;\n", out);
        } else if (takes_file(flag)) {
            fputs("_vouch_files; return ;;\n", out);
        } else {
            fputs("return ;;\n", out);
        }
    }
}

static void bash_flags(const cli_command *c, FILE *out)
{
    fprintf(out, "    %s) flags='", c->name);
    const char *space = "";
    for (size_t i = 0; i < cli_option_table()->n; i++) {
        const tool_flag *flag = flag_of(c, i);
        if (!flag || !*flag->name) continue;
        fprintf(out, "%s--%s", space, flag->name);
        space = " ";
    }
    fputs("' ;;\n", out);
}

static void bash_write(const cli_command *commands, size_t n, FILE *out)
{
    fputs("# bash completion for vouch\n"
          "_vouch_files() {\n"
          "    compopt -o filenames\n"
          "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "}\n\n"
          "_vouch() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
          "command=${COMP_WORDS[1]} flags=\n"
          "    COMPREPLY=()\n"
          "    case $command in\n    ",
          out);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s%s", i ? " | " : "", commands[i].name);
    fputs(") ;;\n    *)\n        command=run\n        if ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then\n"
          "            _vouch_files\n            COMPREPLY+=($(compgen -W '",
          out);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s ", commands[i].name);
    fputs("help' -- \"$cur\"))\n            return\n        fi\n        ;;\n    esac\n"
          "    case \"$command $prev\" in\n",
          out);
    for (size_t i = 0; i < n; i++) bash_values(&commands[i], out);
    fputs("    esac\n    case $command in\n", out);
    for (size_t i = 0; i < n; i++) bash_flags(&commands[i], out);
    fputs("    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
          "    else\n        _vouch_files\n    fi\n}\n\ncomplete -F _vouch vouch\n",
          out);
}

static void zsh_flag(const tool_flag *flag, FILE *out)
{
    const bool repeats =
        flag->kind == TOOL_FLAG_TEXTS || flag->kind == TOOL_FLAG_SETS || flag->kind == TOOL_FLAG_CHOICES;
    fputs(" \\\n            ", out);
    if (!*flag->name) {
        fputs("'1:model file:_files'", out);
        return;
    }
    if (repeats) fputs("'*'", out);
    else if (flag->letter) fprintf(out, "'(-%c --%s)'", flag->letter, flag->name);
    if (flag->letter) fprintf(out, "{-%c,--%s}'[", flag->letter, flag->name);
    else fprintf(out, "'--%s[", flag->name);
    brief_put(flag, "[]:\\", "'\\''", out);
    fputc(']', out);
    if (flag->value) {
        fprintf(out, "%s:value:", flag->implied ? ":" : "");
        if (takes_words(flag)) {
            fputc('(', out);
            words_put(flag, out);
            fputc(')', out);
        } else if (takes_file(flag)) {
            fputs("_files", out);
        }
    }
    fputc('\'', out);
}

static void zsh_write(const cli_command *commands, size_t n, FILE *out)
{
    fputs("#compdef vouch\n# zsh completion for vouch\n_vouch() {\n    local command=$words[2]\n    local -a "
          "commands\n    commands=(\n",
          out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "        '%s:", commands[i].name);
        quoted_put(commands[i].summary, strlen(commands[i].summary), ":\\", "'\\''", out);
        fputs("'\n", out);
    }
    fputs("        'help:list commands and flags'\n    )\n    if ((CURRENT == 2)) && [[ $command != -* ]]; "
          "then\n"
          "        _describe -t commands command commands\n        _files\n        return\n    fi\n"
          "    case $command in\n    ",
          out);
    for (size_t i = 0; i < n; i++) fprintf(out, "%s%s", i ? "|" : "", commands[i].name);
    fputs(")\n        shift words\n        ((CURRENT--))\n        ;;\n    *) command=run ;;\n    esac\n    "
          "case $command in\n",
          out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "    %s)\n        _arguments", commands[i].name);
        for (size_t j = 0; j < cli_option_table()->n; j++)
            if (flag_of(&commands[i], j)) zsh_flag(flag_of(&commands[i], j), out);
        fputs("\n        ;;\n", out);
    }
    fputs("    esac\n}\n\n_vouch \"$@\"\n", out);
}

static void fish_flag(const cli_command *c, const tool_flag *flag, FILE *out)
{
    if (!*flag->name) return;
    fprintf(out, "complete -c vouch -n '__vouch_command %s' -l %s", c->name, flag->name);
    if (flag->letter) fprintf(out, " -s %c", flag->letter);
    if (flag->value && takes_words(flag)) {
        fputs(flag->implied ? " -f -a '" : " -x -a '", out);
        words_put(flag, out);
        fputc('\'', out);
    } else if (flag->value) {
        fputs(takes_file(flag) ? " -r -F" : " -x", out);
    }
    fputs(" -d '", out);
    brief_put(flag, "\\", "\\'", out);
    fputs("'\n", out);
}

static void fish_write(const cli_command *commands, size_t n, FILE *out)
{
    fputs("# fish completion for vouch\n"
          "# True where the command line is of this command; without one it is of run.\n"
          "function __vouch_command\n    set -l words (commandline -opc)\n    set -l command run\n"
          "    if contains -- \"$words[2]\"",
          out);
    for (size_t i = 0; i < n; i++) fprintf(out, " %s", commands[i].name);
    fputs("\n        set command $words[2]\n    end\n    test \"$command\" = \"$argv[1]\"\nend\n", out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "complete -c vouch -n __fish_use_subcommand -a %s -d '", commands[i].name);
        quoted_put(commands[i].summary, strlen(commands[i].summary), "\\", "\\'", out);
        fputs("'\n", out);
        for (size_t j = 0; j < cli_option_table()->n; j++)
            if (flag_of(&commands[i], j)) fish_flag(&commands[i], flag_of(&commands[i], j), out);
    }
}

bool cli_completion_write(const cli_command *commands, size_t n, const char *shell, FILE *stream)
{
    static const struct {
        const char *name;
        void (*write)(const cli_command *commands, size_t n, FILE *out);
    } shells[] = {{"bash", bash_write}, {"zsh", zsh_write}, {"fish", fish_write}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, shell) != 0) continue;
        shells[i].write(commands, n, stream);
        return true;
    }
    return false;
}
