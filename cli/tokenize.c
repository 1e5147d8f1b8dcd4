/* SPDX-License-Identifier: MIT */
/* vouch tokenize: a text as the model's tokens, one a line, or only their ids. */
#include <stdlib.h>

#include "cli.h"
#include "text.h"

static void tokens_write(FILE *out, const vouch_model *model, const cli_tokens *tokens, bool ids)
{
    for (size_t i = 0; i < tokens->n && !ferror(out); i++) {
        if (ids) {
            fprintf(out, "%s%d", i ? " " : "", tokens->items[i]);
            continue;
        }
        size_t n = 0;
        const char *bytes = vouch_token_bytes(model, tokens->items[i], &n);
        fprintf(out, "%d\t", tokens->items[i]);
        if (bytes) cli_put_escaped(out, bytes, n, 0);
        fputc('\n', out);
    }
    if (ids) fputc('\n', out);
}

int cli_tokenize(const cli_options *options)
{
    cli_engine engine = {0};
    cli_tokens tokens = {NULL, 0};
    vouch_error err;
    char *text = NULL;
    size_t n = 0;
    if (cli_prompt_read(options, &text, &n, &err)) return cli_engine_fail(&err);
    int status = cli_engine_open(&engine, options);
    if (!status) {
        const unsigned flags =
            (options->special ? VOUCH_TOKENIZE_SPECIAL : 0) | (options->bos ? VOUCH_TOKENIZE_BOS : 0);
        if (cli_prompt_tokenize(engine.model, text, n, flags, &tokens, &err)) status = cli_engine_fail(&err);
        else tokens_write(stdout, engine.model, &tokens, options->ids);
    }
    free(tokens.items);
    free(text);
    cli_engine_close(&engine);
    return status;
}
