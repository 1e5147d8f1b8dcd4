/* SPDX-License-Identifier: MIT */
/* vouch tokenize: prints a text as the model's tokens, one a line; or their ids alone; or the most frequent ids. */
#include <stdlib.h>

#include "cli.h"
#include "tool/file.h"

/* The text that the chat template makes of the conversation json[n]. */
static int render_write(FILE *out, const vouch_model *model, const char *json, size_t n)
{
    char *text = NULL;
    size_t n_text = 0;
    vouch_error err;
    vouch_status status = vouch_render_chat(model, json, n, NULL, 0, &n_text, &err);
    if (status == VOUCH_E_BUFFER) {
        text = malloc(n_text);
        if (!text) {
            tool_complain("not enough memory for a text of %zu bytes", n_text);
            return CLI_FAILED;
        }
        status = vouch_render_chat(model, json, n, text, n_text, &n_text, &err);
    }
    if (!status) fwrite(text, 1, n_text, out);
    free(text);
    return status ? cli_flag_fail("messages", &err) : CLI_DONE;
}

static vouch_status conversation_tokenize(const vouch_model *model, const char *json, size_t n, cli_tokens *tokens,
                                          vouch_error *err)
{
    size_t count = 0;
    vouch_status status = vouch_tokenize_chat_json(model, json, n, NULL, 0, &count, err);
    if (status != VOUCH_E_BUFFER) return status;
    tokens->items = malloc(count * sizeof *tokens->items);
    if (!tokens->items) {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for the conversation's tokens"};
        return err->code;
    }
    return vouch_tokenize_chat_json(model, json, n, tokens->items, count, &tokens->n, err);
}

typedef struct tally {
    int32_t id;
    size_t count;
} tally;

/* The most frequent token first; of equally frequent ones the lower id. */
static int tally_order(const void *a, const void *b)
{
    const tally *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The token that ends an answer comes first: a draft model without it could never end one. */
static bool frequent_write(FILE *out, const vouch_model *model, const cli_tokens *tokens, int32_t most)
{
    const int32_t n = vouch_model_get_info(model)->n_vocab, eos = vouch_model_get_info(model)->token_eos;
    tally *tallies = calloc((size_t)n, sizeof *tallies);
    if (!tallies) return false;
    for (int32_t i = 0; i < n; i++) tallies[i].id = i;
    for (size_t i = 0; i < tokens->n; i++) tallies[tokens->items[i]].count++;
    if (eos >= 0) tallies[eos].count = SIZE_MAX;
    qsort(tallies, (size_t)n, sizeof *tallies, tally_order);
    for (int32_t i = 0; i < n && i < most && tallies[i].count > 0; i++) fprintf(out, "%d\n", tallies[i].id);
    free(tallies);
    return true;
}

/* --messages: a conversation instead of a text. */
static int messages_read(const cli_options *options, char **text, size_t *n)
{
    vouch_error err;
    if (options->prompt || options->prompt_file) {
        tool_complain("--messages and --%s both give the text: leave out one of them",
                      options->prompt ? "prompt" : "prompt-file");
        return CLI_WRONG_USAGE;
    }
    if (tool_file_read(options->tokenize.messages, text, n, &err)) return cli_flag_refuse("messages", &err);
    tool_file_drop_mark(*text, n);
    return CLI_DONE;
}

static int tokens_make(const cli_engine *engine, const char *text, size_t n, cli_tokens *tokens)
{
    const cli_options *options = engine->options;
    vouch_error err;
    if (options->tokenize.messages)
        return conversation_tokenize(engine->model, text, n, tokens, &err) ? cli_flag_fail("messages", &err) : CLI_DONE;
    const unsigned flags =
        (options->tokenize.special ? VOUCH_TOKENIZE_SPECIAL : 0) | (options->tokenize.bos ? VOUCH_TOKENIZE_BOS : 0);
    return cli_prompt_tokenize(engine, text, NULL, n, flags, tokens, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

bool cli_tokenize_check(cli_options *options, cli_given given)
{
    (void)given;
    if (!options->tokenize.ids || options->tokenize.n_frequent == 0) return true;
    tool_complain("--ids has no effect with --frequent: leave out one of them");
    return false;
}

int cli_tokenize_run(const cli_options *options)
{
    cli_engine engine = {0};
    cli_tokens tokens = {NULL, 0};
    char *text = NULL;
    size_t n = 0;
    if (options->tokenize.render && !options->tokenize.messages) {
        tool_complain("--render needs a conversation: add --messages FILE");
        return CLI_WRONG_USAGE;
    }
    int status = options->tokenize.messages ? messages_read(options, &text, &n) : cli_prompt_read(options, &text, &n);
    if (!status) status = cli_engine_open_text(&engine, options);
    if (!status && options->tokenize.render) {
        status = render_write(stdout, engine.model, text, n);
        goto done;
    }
    if (!status) status = tokens_make(&engine, text, n, &tokens);
    if (status) goto done;
    if (options->tokenize.n_frequent == 0) cli_tokens_write(stdout, engine.model, &tokens, options->tokenize.ids);
    else if (!frequent_write(stdout, engine.model, &tokens, options->tokenize.n_frequent)) {
        tool_complain("not enough memory to count tokens");
        status = CLI_FAILED;
    }
done:
    free(tokens.items);
    free(text);
    cli_engine_close(&engine);
    return status;
}
