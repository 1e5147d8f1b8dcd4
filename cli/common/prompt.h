/* SPDX-License-Identifier: MIT */
/*
 * From what the user gave to the tokens the model reads. With a chat template the text is one message of
 * a conversation; without, the model goes on with it.
 */
#ifndef VOUCH_CLI_PROMPT_H
#define VOUCH_CLI_PROMPT_H

#include "common/engine.h"

/* A list of tokens; free(items). */
typedef struct cli_tokens {
    int32_t *items;
    size_t n;
} cli_tokens;

/* The text of --prompt, --prompt-file or standard input: the caller's to free(). Returns an exit status; a failure has
 * been complained about. */
int cli_prompt_read(const cli_options *options, char **text, size_t *n);

/* Is the prompt to go through a template? The answer depends on the model. */
bool cli_prompt_is_chat(const cli_engine *engine);
/* UNSUPPORTED where it is, and the model's template isn't one that is known. */
vouch_status cli_prompt_check_template(const cli_engine *engine, vouch_error *err);
/* False, and says so: there is a system message, and no template with a place for it. */
bool cli_prompt_check_system(const cli_engine *engine);

/* n bytes of text, by VOUCH_TOKENIZE_ flags; or, where there are any, n messages through the template.
 * Errors: MEMORY, UNSUPPORTED (the model lacks what the template needs). */
vouch_status cli_prompt_tokenize(const cli_engine *engine, const char *text, const vouch_message *messages, size_t n,
                                 unsigned flags, cli_tokens *out, vouch_error *err);
/* One question: with a template it is the user's message behind --system (text ends at a NUL then), without it is the
 * text to go on with. */
vouch_status cli_prompt_tokenize_question(const cli_engine *engine, const char *text, size_t n, cli_tokens *out,
                                          vouch_error *err);

#endif
