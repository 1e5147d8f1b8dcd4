/* SPDX-License-Identifier: MIT */
/*
 * From the user's text to the tokens that the model reads. With a chat template the text is one message of a
 * conversation; without one the model goes on with the text.
 */
#ifndef VOUCH_CLI_PROMPT_H
#define VOUCH_CLI_PROMPT_H

#include "model/engine.h"

/* A list of tokens; free(items). */
typedef struct cli_tokens {
    int32_t *items;
    size_t n;
} cli_tokens;

/* Reads the prompt: --prompt, an empty line, then --prompt-file or, where that is missing, standard input from a pipe
 * or a file. `vouch run` drops the last line end of standard input. An empty part is left out, and so is the line.
 * Without --prompt and --prompt-file, standard input alone. The caller frees *text. Prints its own complaint; returns
 * an exit status. */
int cli_prompt_read(const cli_options *options, char **text, size_t *n);

/* Will the prompt go through a chat template? Depends on the options and on the model. */
bool cli_prompt_is_chat(const cli_engine *engine);
/* UNSUPPORTED where the prompt goes through the model's template, and vouch can't run that template. */
vouch_status cli_prompt_check_template(const cli_engine *engine, vouch_error *err);
enum { CLI_ADVICE_SIZE = 80 };
/* Which chat template to try where the model's file has none. */
const char *cli_template_advice(const cli_engine *engine, char text[CLI_ADVICE_SIZE]);
/* False, after a complaint, where --system is given and no chat template takes it. */
bool cli_prompt_check_system(const cli_engine *engine);

/* Tokenizes n messages through the chat template; or, with messages NULL, n bytes of text by VOUCH_TOKENIZE_ flags.
 * Errors: MEMORY, UNSUPPORTED (the model lacks a tokenizer, or a token of the template). */
vouch_status cli_prompt_tokenize(const cli_engine *engine, const char *text, const vouch_message *messages, size_t n,
                                 unsigned flags, cli_tokens *out, vouch_error *err);
/* Prints tokens, one a line: the id and its text, or with `ids` the ids alone on one line. */
void cli_tokens_write(FILE *out, const vouch_model *model, const cli_tokens *tokens, bool ids);
/* Tokenizes one question: through the chat template, as the user's message after --system (text then ends at a NUL);
 * or without a template as the text to go on with. */
vouch_status cli_prompt_tokenize_question(const cli_engine *engine, const char *text, size_t n, cli_tokens *out,
                                          vouch_error *err);

#endif
