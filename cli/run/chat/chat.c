/* SPDX-License-Identifier: MIT */
/*
 * A conversation: read a message, run it if it is a command, otherwise answer it. Each turn goes through the template
 * with the messages before it; the session's cache holds most of them already.
 *
 * The context has an end. When a question leaves too little room for its answer, the oldest turns are dropped until
 * half of the context is free, so that the cache can be used again for many turns; the system message stays. A
 * question that is too long by itself is refused and the conversation goes on.
 *
 * On a pipe a refused question doesn't stop the program that sends the lines: the others are answered, and the exit
 * status is 1.
 */
#include <stdlib.h>
#include <string.h>

#include "run/chat/saved.h"
#include "run/chat/commands.h"
#include "run/chat/input.h"
#include "run/run.h"

static vouch_status memory_fail(vouch_error *err)
{
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the conversation"};
    return err->code;
}

/* The messages that the model sees, as tokens. */
static vouch_status window_tokenize(const cli_chat_state *chat, cli_tokens *out, vouch_error *err)
{
    vouch_message *window = malloc(chat->talk.n * sizeof *window);
    if (!window) return memory_fail(err);
    const size_t n = cli_conversation_window(&chat->talk, window);
    const vouch_status status = cli_prompt_tokenize(chat->engine, NULL, window, n, 0, out, err);
    free(window);
    return status;
}

/* Tokens that a question must leave free for its answer: --max-tokens, but at most a quarter of the context. */
static size_t answer_room(const cli_chat_state *chat, size_t n_ctx)
{
    const size_t longest = (size_t)chat->options->session.max_tokens, quarter = n_ctx / 4 > 0 ? n_ctx / 4 : 1;
    return longest > 0 && longest < quarter ? longest : quarter;
}

/* Drops as many old turns as must go, and returns the tokens of what is left. */
static vouch_status window_fit(cli_chat_state *chat, cli_tokens *prompt, vouch_error *err)
{
    const size_t n_ctx = (size_t)cli_engine_context(chat->engine), room = answer_room(chat, n_ctx);
    const size_t before = chat->talk.n_dropped;
    size_t limit = n_ctx - room;
    vouch_status status = window_tokenize(chat, prompt, err);
    while (!status && prompt->n > limit && cli_conversation_drop(&chat->talk)) {
        limit = n_ctx / 2;
        free(prompt->items);
        *prompt = (cli_tokens){NULL, 0};
        status = window_tokenize(chat, prompt, err);
    }
    if (!status && prompt->n >= n_ctx) {
        err->code = status = VOUCH_E_CONTEXT;
        snprintf(err->message, sizeof err->message,
                 "the message has %zu tokens with its template, the context holds %zu and needs one for the answer: "
                 "shorten the message, or set a larger context with --ctx N",
                 prompt->n, n_ctx);
    }
    if (status) chat->talk.n_dropped = before;
    else if (chat->talk.n_dropped > before)
        tool_note("the context of %zu tokens is full: the model no longer sees the %zu oldest messages; --ctx N sets "
                  "a larger context, /clear starts a new conversation",
                  n_ctx, chat->talk.n_dropped);
    return status;
}

/* Question and answer are remembered, unless there was no answer. */
static vouch_status turn_take(cli_chat_state *chat, const char *question, vouch_error *err)
{
    cli_conversation *talk = &chat->talk;
    cli_reply *reply = chat->reply;
    const size_t before = talk->n;
    cli_tokens prompt = {NULL, 0};
    if (!cli_conversation_add(talk, "user", question)) return memory_fail(err);
    vouch_status status = window_fit(chat, &prompt, err);
    if (!status) status = cli_answer(chat->engine, &prompt, reply, err);
    free(prompt.items);
    const bool none = reply->interrupted && reply->n_text == 0;
    if (!status && !none && !cli_conversation_add(talk, "assistant", reply->text)) status = memory_fail(err);
    if (status || none) cli_conversation_cut(talk, before);
    return status;
}

static void finish_tell(const cli_chat_state *chat)
{
    const cli_reply *reply = chat->reply;
    if (reply->interrupted && reply->n_text == 0)
        tool_note("answer stopped before it began; the question is forgotten");
    else if (reply->interrupted) tool_note("answer stopped");
    else if (reply->finish == VOUCH_FINISH_LENGTH)
        tool_note("answer stopped after --max-tokens %d%s", chat->options->session.max_tokens,
                  chat->is_person ? "; /set max-tokens N sets another limit, 0 none" : "");
    else if (reply->finish == VOUCH_FINISH_CONTEXT)
        tool_note("answer cut: the context of %d tokens is full; the next message drops the oldest turns, --ctx N sets "
                  "a larger context",
                  cli_engine_context(chat->engine));
}

/* Answers and ends the line. False: no answer came, and a complaint says why. A failure that ends the conversation sets
 * chat->status. */
static bool turn_run(cli_chat_state *chat, const char *question)
{
    vouch_error err;
    vouch_status status = turn_take(chat, question, &err);
    if (status == VOUCH_E_CONTEXT) {
        tool_complain("%s", err.message);
        return false;
    }
    if (!status) status = tool_print("\n", 1, &err);
    if (status) chat->status = cli_engine_fail(&err);
    else finish_tell(chat);
    return !status;
}

/* Runs or answers one message. False: it was a question that got no answer. */
static bool message_take(cli_chat_state *chat, const cli_input *input)
{
    if (memchr(input->text, 0, input->n)) {
        tool_complain("a line with a NUL byte is left out");
        return false;
    }
    const char *question = input->n > 0 ? cli_command_run(chat, input->text) : NULL;
    if (!question) return true;
    const bool answered = turn_run(chat, question);
    (void)cli_engine_keep(chat->engine); /* here, too, since closing the terminal ends vouch */
    return answered;
}

int cli_chat(cli_engine *engine, cli_options *options, cli_reply *reply)
{
    cli_chat_state chat = {.engine = engine, .options = options, .reply = reply};
    cli_input input;
    bool refused = false;
    const int status = cli_saved_load_messages(engine, &chat.talk);
    if (status) return status;
    if (options->system && !cli_conversation_set_system(&chat.talk, options->system)) {
        tool_complain("not enough memory for the conversation");
        return CLI_FAILED;
    }
    cli_input_open(&input, cli_command_word);
    chat.is_person = input.is_person;
    if (chat.is_person) fputs("/help lists the commands, /exit or Ctrl-D ends the conversation\n", stderr);
    if (options->prompt && *options->prompt) {
        if (chat.is_person) fprintf(stderr, "> %s\n", options->prompt);
        refused = !turn_run(&chat, options->prompt);
    }
    while (!chat.status && !chat.is_over) {
        const cli_input_end end = cli_input_read(&input);
        if (end == CLI_INPUT_FAILED) chat.status = CLI_FAILED;
        if (end == CLI_INPUT_FAILED || end == CLI_INPUT_OVER) break;
        if (end == CLI_INPUT_CANCELLED) tool_note("/exit or Ctrl-D ends the conversation");
        if (end == CLI_INPUT_REFUSED || (end == CLI_INPUT_MESSAGE && !message_take(&chat, &input))) refused = true;
    }
    if (!chat.status && refused && !chat.is_person) chat.status = CLI_FAILED;
    if (chat.talk.n > chat.talk.n_system)
        chat.status = cli_first_failure(chat.status, cli_saved_keep_messages(engine, &chat.talk));
    tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    cli_input_close(&input);
    cli_conversation_free(&chat.talk);
    return chat.status;
}
