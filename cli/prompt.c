/* SPDX-License-Identifier: MIT */
#include "prompt.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

static vouch_status prompt_fail(vouch_error *err, vouch_status code, const char *message)
{
    err->code = code;
    snprintf(err->message, sizeof err->message, "%s", message);
    return code;
}

int cli_prompt_read(const cli_options *options, char **text, size_t *n)
{
    const char *path = options->prompt_file;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory for the prompt"};
    if (!options->prompt)
        return cli_file_read(path ? path : "-", text, n, &err) ? cli_flag_fail(path ? "prompt-file" : NULL, &err) : CLI_DONE;
    *n = strlen(options->prompt);
    *text = strdup(options->prompt);
    return *text ? CLI_DONE : cli_engine_fail(&err);
}

bool cli_prompt_is_chat(const cli_engine *engine)
{
    const cli_template template = (cli_template)engine->options->chat_template;
    if (template != CLI_TEMPLATE_AUTO) return template == CLI_TEMPLATE_CHATML;
    return strcmp(vouch_model_get_info(engine->model)->chat_template, "none") != 0;
}

vouch_status cli_prompt_tokenize(const vouch_model *model, const char *text, size_t n, unsigned flags,
                                 cli_tokens *out, vouch_error *err)
{
    size_t count = 0;
    vouch_status status = vouch_tokenize(model, text, n, flags, NULL, 0, &count, err);
    if (status && status != VOUCH_E_BUFFER) return status;
    int32_t *items = malloc((count + 1) * sizeof *items);
    if (!items) return prompt_fail(err, VOUCH_E_MEMORY, "not enough memory for the prompt's tokens");
    status = vouch_tokenize(model, text, n, flags, items, count, &count, err);
    if (status) free(items);
    else *out = (cli_tokens){items, count};
    return status;
}

/* Appends the tokens of a piece of template or message. */
static vouch_status piece_append(const vouch_model *model, const char *text, unsigned flags, cli_tokens *all,
                                 vouch_error *err)
{
    cli_tokens piece;
    const vouch_status status = cli_prompt_tokenize(model, text, strlen(text), flags, &piece, err);
    if (status) return status;
    int32_t *items = realloc(all->items, (all->n + piece.n + 1) * sizeof *items);
    if (items) {
        memcpy(items + all->n, piece.items, piece.n * sizeof *items);
        *all = (cli_tokens){items, all->n + piece.n};
    }
    free(piece.items);
    return items ? VOUCH_OK : prompt_fail(err, VOUCH_E_MEMORY, "not enough memory for the prompt's tokens");
}

/* <|im_start|> or <|im_end|>: one token, or the model can't take part in such a conversation. */
static vouch_status mark_append(const vouch_model *model, const char *mark, cli_tokens *all, vouch_error *err)
{
    const size_t before = all->n;
    const vouch_status status = piece_append(model, mark, VOUCH_TOKENIZE_SPECIAL, all, err);
    if (status || all->n == before + 1) return status;
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message, "--chat-template chatml: the model has no token %s", mark);
    return err->code;
}

/* "role\ncontent" is one piece, as the template's text and the message's touch. */
static vouch_status message_append(const vouch_model *model, const vouch_message *message, cli_tokens *all,
                                   vouch_error *err)
{
    const size_t size = strlen(message->role) + strlen(message->content) + 2;
    char *text = malloc(size);
    if (!text) return prompt_fail(err, VOUCH_E_MEMORY, "not enough memory for the prompt");
    snprintf(text, size, "%s\n%s", message->role, message->content);
    vouch_status status = mark_append(model, "<|im_start|>", all, err);
    if (!status) status = piece_append(model, text, 0, all, err);
    if (!status) status = mark_append(model, "<|im_end|>", all, err);
    if (!status) status = piece_append(model, "\n", 0, all, err);
    free(text);
    return status;
}

/* ChatML for a model whose file names no template. */
static vouch_status chatml_tokenize(const vouch_model *model, const vouch_message *messages, size_t n,
                                    cli_tokens *out, vouch_error *err)
{
    cli_tokens all = {NULL, 0};
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < n && !status; i++) status = message_append(model, &messages[i], &all, err);
    if (!status) status = mark_append(model, "<|im_start|>", &all, err);
    if (!status) status = piece_append(model, "assistant\n", 0, &all, err);
    if (status) free(all.items);
    else *out = all;
    return status;
}

vouch_status cli_prompt_tokenize_chat(const cli_engine *engine, const vouch_message *messages, size_t n,
                                      cli_tokens *out, vouch_error *err)
{
    const vouch_model *model = engine->model;
    if (engine->options->chat_template == CLI_TEMPLATE_CHATML &&
        strcmp(vouch_model_get_info(model)->chat_template, "chatml") != 0)
        return chatml_tokenize(model, messages, n, out, err);
    size_t count = 0;
    vouch_status status = vouch_tokenize_chat(model, messages, n, NULL, 0, &count, err);
    if (status && status != VOUCH_E_BUFFER) return status;
    int32_t *items = malloc((count + 1) * sizeof *items);
    if (!items) return prompt_fail(err, VOUCH_E_MEMORY, "not enough memory for the prompt's tokens");
    status = vouch_tokenize_chat(model, messages, n, items, count, &count, err);
    if (status) free(items);
    else *out = (cli_tokens){items, count};
    return status;
}

vouch_status cli_prompt_tokenize_question(const cli_engine *engine, const char *text, size_t n, cli_tokens *out,
                                          vouch_error *err)
{
    const char *system = engine->options->system;
    const vouch_message messages[] = {{"system", system}, {"user", text}};
    const size_t skip = system == NULL;
    if (!cli_prompt_is_chat(engine))
        return cli_prompt_tokenize(engine->model, text, n, VOUCH_TOKENIZE_BOS, out, err);
    return cli_prompt_tokenize_chat(engine, messages + skip, 2 - skip, out, err);
}
