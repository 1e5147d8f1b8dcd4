/* SPDX-License-Identifier: MIT */
/*
 * A conversation: one line a turn, every turn through the template again (what the cache holds of it is
 * reused). Ctrl-C stops the answer, or the line being typed, and not the program; Ctrl-D or /exit ends it.
 * A turn that no longer fits is refused and forgotten, so that the conversation stays usable; where no person reads
 * that, the others are answered and the exit status says so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/run.h"
#include "run/sources.h"

/* The messages so far; contents are owned, roles are constants. */
typedef struct history {
    vouch_message *items;
    size_t n, capacity, n_fixed; /* n_fixed: the system message, which /clear keeps */
    bool refused;                /* a line got no answer */
} history;

static bool history_add(history *h, const char *role, const char *content)
{
    if (h->n == h->capacity) {
        const size_t capacity = h->capacity * 2 + 8;
        vouch_message *larger = realloc(h->items, capacity * sizeof *larger);
        if (!larger) return false;
        h->items = larger;
        h->capacity = capacity;
    }
    const char *copy = strdup(content);
    if (!copy) return false;
    h->items[h->n++] = (vouch_message){role, copy};
    return true;
}

static void history_cut(history *h, size_t n)
{
    while (h->n > n) free((void *)(uintptr_t)h->items[--h->n].content);
}

/* The next line without its end; NULL at the end of input, and where it can't be read: then ferror(stdin) says so.
 * Ctrl-C begins a new line. */
static char *line_read(char **line, size_t *capacity, size_t *n)
{
    const bool person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    for (;;) {
        cli_interrupt_set(CLI_INTERRUPT_READS);
        if (person) fputs("> ", stderr);
        errno = 0;
        const ssize_t got = getline(line, capacity, stdin);
        if ((got < 0 || cli_interrupted()) && person) fputs("\n", stderr);
        if (cli_interrupted()) { /* also where part of a line had come */
            clearerr(stdin);
            fputs("(/exit or Ctrl-D ends the conversation)\n", stderr);
            continue;
        }
        if (got < 0) {
            if (ferror(stdin)) cli_complain("standard input: %s", strerror(errno));
            return NULL;
        }
        *n = (size_t)got;
        while (*n > 0 && ((*line)[*n - 1] == '\n' || (*line)[*n - 1] == '\r')) (*line)[--*n] = 0;
        return *line;
    }
}

/* One turn: question, answer, both remembered. */
static vouch_status turn_take(cli_engine *engine, history *h, const char *question, cli_reply *reply,
                              vouch_error *err)
{
    const size_t before = h->n;
    cli_tokens prompt = {NULL, 0};
    if (!history_add(h, "user", question)) goto memory;
    vouch_status status = cli_prompt_tokenize(engine, NULL, h->items, h->n, 0, &prompt, err);
    if (!status) status = cli_answer(engine, &prompt, reply, err);
    free(prompt.items);
    if (status) {
        history_cut(h, before);
        return status;
    }
    if (!history_add(h, "assistant", reply->text ? reply->text : "")) goto memory;
    return VOUCH_OK;
memory:
    history_cut(h, before);
    err->code = VOUCH_E_MEMORY;
    snprintf(err->message, sizeof err->message, "not enough memory for the conversation");
    return err->code;
}

/* Answers and ends the line. CLI_DONE where the conversation can go on. */
static int turn_run(cli_engine *engine, history *h, const char *question, cli_reply *reply)
{
    vouch_error err;
    const vouch_status status = turn_take(engine, h, question, reply, &err);
    if (status == VOUCH_E_CONTEXT) {
        cli_complain("%s: the conversation no longer fits; /clear starts a new one, --ctx N sets the context",
                     err.message);
        h->refused = true;
        return CLI_DONE;
    }
    if (!status && cli_print("\n", 1, &err) == VOUCH_OK) {
        if (reply->interrupted) cli_note("answer stopped");
        else if (reply->finish == VOUCH_FINISH_LENGTH)
            cli_note("stopped after --max-tokens %d", engine->options->session.max_tokens);
        else if (reply->finish == VOUCH_FINISH_CONTEXT)
            cli_note("the context is full; /clear starts a new conversation, --ctx N sets the context");
        return CLI_DONE;
    }
    return cli_engine_fail(&err);
}

int cli_chat(cli_engine *engine, cli_reply *reply)
{
    static const char help[] = "/clear forgets the conversation, /exit or Ctrl-D ends it, "
                               "Ctrl-C stops an answer\n";
    history h = {0};
    char *line = NULL;
    size_t capacity = 0, n = 0;
    int status = CLI_DONE;
    if (engine->options->system && !history_add(&h, "system", engine->options->system)) {
        cli_complain("not enough memory for the conversation");
        status = CLI_FAILED;
    }
    h.n_fixed = h.n;
    if (isatty(STDIN_FILENO)) fputs(help, stderr);
    while (!status && line_read(&line, &capacity, &n)) {
        if (strcmp(line, "/exit") == 0 || strcmp(line, "/quit") == 0) break;
        if (strcmp(line, "/help") == 0) fputs(help, stderr);
        else if (strcmp(line, "/clear") == 0) history_cut(&h, h.n_fixed);
        else if (memchr(line, 0, n)) {
            cli_complain("a line with a NUL byte is left out");
            h.refused = true;
        } else if (n > 0) {
            status = turn_run(engine, &h, line, reply);
            (void)cli_sources_save(engine); /* a closed terminal ends the program; of failures the last one counts */
        }
    }
    if (!status && (ferror(stdin) || (h.refused && !isatty(STDIN_FILENO)))) status = CLI_FAILED;
    cli_interrupt_set(CLI_INTERRUPT_ENDS);
    history_cut(&h, 0);
    free(h.items);
    free(line);
    return status;
}
