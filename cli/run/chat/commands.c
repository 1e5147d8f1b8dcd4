/* SPDX-License-Identifier: MIT */
#include "run/chat/commands.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "run/paint.h"
#include "run/sources.h"
#include "run/stats.h"

typedef struct command {
    const char *name, *argument, *help;
    void (*run)(cli_chat_state *chat, const char *argument);
    bool on_pipe, takes, needs; /* takes: an argument; needs: an argument has to follow */
} command;

static void run_help(cli_chat_state *chat, const char *argument);

static void run_quit(cli_chat_state *chat, const char *argument)
{
    (void)argument;
    chat->is_over = true;
}

static void run_clear(cli_chat_state *chat, const char *argument)
{
    (void)argument;
    cli_conversation_cut(&chat->talk, chat->talk.n_system);
    if (chat->is_person) tool_note("new conversation");
}

static void run_system(cli_chat_state *chat, const char *argument)
{
    const cli_conversation *talk = &chat->talk;
    if (!*argument) {
        if (talk->n_system) fprintf(stderr, "%s\n", talk->items[0].content);
        else tool_note("you have set no system message; the model's template may have one. /system TEXT sets it");
        return;
    }
    if (!cli_conversation_set_system(&chat->talk, strcmp(argument, "-") == 0 ? NULL : argument))
        tool_complain("not enough memory for the system message");
}

/* -------------------------------------------------------------------- /set */

static void settings_show(const cli_options *options)
{
    char text[TOOL_FLAG_VALUE];
    for (size_t i = 0; cli_option_name(i); i++)
        if (cli_option_applies(options, cli_option_name(i)))
            fprintf(stderr, "  %-24s%s\n", cli_option_name(i), cli_option_text(options, cli_option_name(i), text));
}

/* Gives the session the changed option. Most options need a new session, which reads the conversation again before its
 * next answer. If it can't be opened, a complaint says why and the old session stays. */
static bool session_change(cli_chat_state *chat, const cli_options *changed, const char *name)
{
    cli_engine *engine = chat->engine;
    vouch_session *before = engine->session;
    if (strcmp(name, "color") == 0 || strcmp(name, "trace") == 0 || strcmp(name, "stats") == 0) return true;
    if (strcmp(name, "seed") == 0) {
        vouch_session_set_seed(before, changed->session.sampling.seed);
        return true;
    }
    engine->session = NULL;
    const int status = cli_engine_start(engine, &changed->session);
    if (status == CLI_DONE && cli_sources_load(engine) == CLI_DONE) {
        vouch_session_close(before);
        return true;
    }
    vouch_session_close(engine->session);
    engine->session = before;
    return false;
}

static void run_set(cli_chat_state *chat, const char *argument)
{
    const size_t n = strcspn(argument, " ");
    const char *value = argument + n + strspn(argument + n, " ");
    char name[64], text[TOOL_FLAG_VALUE];
    cli_options changed = *chat->options;
    if (!*argument) {
        settings_show(chat->options);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), argument);
    if (!*value) {
        tool_complain("/set %s needs a value: /set NAME VALUE; /set lists names and values", name);
        return;
    }
    const char *option = cli_option_change(&changed, name, value);
    if (!option || !session_change(chat, &changed, option)) return;
    *chat->options = changed;
    const vouch_session_options *session = &changed.session;
    if (strcmp(option, "lenience") == 0 && session->speculation.lenience < 1)
        tool_note("lossy: with lenience %g the text no longer has exactly the target's distribution",
                  session->speculation.lenience);
    fprintf(stderr, "  %-24s%s\n", option, cli_option_text(chat->options, option, text));
    if (strcmp(option, "color") == 0 && changed.paint)
        cli_paint_legend(stderr, tool_color_wanted(stderr, (tool_color)changed.color));
}

/* ------------------------------------------------------------------- files */

/* Replaces "~/" by the home folder. False: a complaint says what is wrong with the name. */
static bool path_expand(const char *name, char path[VOUCH_OS_PATH_SIZE])
{
    const bool is_home = name[0] == '~' && strchr("/\\", name[1]) && name[1];
    const char *home = is_home ? vouch_os_home() : NULL;
    const int n = snprintf(path, VOUCH_OS_PATH_SIZE, "%s%s", home ? home : "", home ? name + 1 : name);
    vouch_os_path_tidy(path);
    if (strcmp(name, "-") == 0) tool_complain("-: expected the name of a file; ./- is a file named -");
    else if (n >= VOUCH_OS_PATH_SIZE)
        tool_complain("the file name has %d bytes, the system takes %d", n, VOUCH_OS_PATH_SIZE - 1);
    else return true;
    return false;
}

static void run_save(cli_chat_state *chat, const char *argument)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_error err;
    if (!path_expand(argument, path)) return;
    if (cli_conversation_save(&chat->talk, path, &err)) tool_complain("/save: %s", err.message);
    else tool_note("%zu messages saved to %s", chat->talk.n, path);
}

static void run_load(cli_chat_state *chat, const char *argument)
{
    char path[VOUCH_OS_PATH_SIZE];
    vouch_error err;
    if (!path_expand(argument, path)) return;
    if (cli_conversation_load(&chat->talk, path, &err)) tool_complain("/load: %s", err.message);
    else tool_note("%zu messages loaded from %s", chat->talk.n, path);
}

static void run_stats(cli_chat_state *chat, const char *argument)
{
    (void)argument;
    cli_stats_show(chat->engine, chat->reply);
}

/* -------------------------------------------------------------- the commands */

static const command commands[] = {
    {"/help", "", "this list", run_help, .on_pipe = true},
    {"/quit", "", "ends the conversation; so do /exit and Ctrl-D", run_quit, .on_pipe = true},
    {"/exit", "", NULL, run_quit, .on_pipe = true},
    {"/clear", "", "forgets the conversation, except the system message", run_clear, .on_pipe = true},
    {"/system", "[TEXT]", "sets the system message; - removes it; without TEXT shows it", run_system, .takes = true},
    {"/set", "[NAME VALUE]", "changes an option; alone lists names and values", run_set, .takes = true},
    {"/save", "FILE", "writes the conversation as JSON", run_save, .takes = true, .needs = true},
    {"/load", "FILE", "goes on with a saved conversation", run_load, .takes = true, .needs = true},
    {"/stats", "", "speed and acceptance since the start or the latest /set", run_stats, .takes = false},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void run_help(cli_chat_state *chat, const char *argument)
{
    (void)argument;
    if (!chat->is_person) {
        fputs("/clear forgets the conversation, /quit or /exit ends it; every other line is a message\n", stderr);
        return;
    }
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (commands[i].help)
            fprintf(stderr, "  %-8s%-14s%s\n", commands[i].name, commands[i].argument, commands[i].help);
    fputs("  //...                 a message that begins with a slash\n"
          "  Enter sends. Alt-Enter, or \\ before Enter, begins another line. Arrows bring earlier messages back.\n"
          "  Ctrl-C stops an answer or clears the line. Tab completes commands.\n",
          stderr);
}

static const char *name_word(const void *arg, size_t i)
{
    (void)arg;
    return i < N_COMMANDS ? commands[i].name : NULL;
}

static const command *command_find(const char *name, size_t n)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strlen(commands[i].name) == n && memcmp(commands[i].name, name, n) == 0) return &commands[i];
    return NULL;
}

const char *cli_command_run(cli_chat_state *chat, const char *line)
{
    const size_t n = strcspn(line, " \t\n");
    const bool has_rows = strchr(line, '\n') != NULL;
    const bool is_word = line[0] == '/' && strspn(line + 1, "abcdefghijklmnopqrstuvwxyz-") + 1 == n;
    const bool escaped = line[0] == '/' && line[1] == '/';
    const command *c = line[0] == '/' ? command_find(line + escaped, n - escaped) : NULL;
    const char *argument = line + n + strspn(line + n, " \t\n");
    if (line[0] != '/') return line;
    if (!chat->is_person && !(c && c->on_pipe && !line[n])) return line;
    if (escaped) return line + 1;
    if (c ? has_rows && !c->takes : has_rows || !is_word) return line;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), line);
    const char *near = c ? NULL : tool_nearest(name, name_word, NULL);
    if (!c)
        tool_complain("%s: unknown command; %s%s%s a message that begins with a slash is typed with two", name,
                      near ? "did you mean " : "/help lists the commands;", near ? near : "", near ? "?" : "");
    else if (*argument && !c->takes) tool_complain("%s takes nothing after it, '%s' was given", name, argument);
    else if (!*argument && c->needs) tool_complain("%s needs a value: %s %s", name, name, c->argument);
    else c->run(chat, argument);
    return NULL;
}

const char *cli_command_word(const char *before, size_t i)
{
    const char *space = strchr(before, ' ');
    if (before[0] != '/') return NULL;
    if (!space) return name_word(NULL, i);
    return strncmp(before, "/set ", 5) == 0 && !strchr(space + 1, ' ') ? cli_option_name(i) : NULL;
}
