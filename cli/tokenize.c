/* SPDX-License-Identifier: MIT */
/* vouch tokenize: prints a text as the model's tokens, one a line; or their ids alone; or the most frequent ids. */
#include <stdlib.h>

#include "cli.h"
#include "common/text.h"

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

int cli_tokenize(const cli_options *options)
{
    cli_engine engine = {0};
    cli_tokens tokens = {NULL, 0};
    vouch_error err;
    char *text = NULL;
    size_t n = 0;
    int status = cli_prompt_read(options, &text, &n);
    if (!status) status = cli_engine_open_text(&engine, options);
    if (!status) {
        const unsigned flags =
            (options->special ? VOUCH_TOKENIZE_SPECIAL : 0) | (options->bos ? VOUCH_TOKENIZE_BOS : 0);
        if (cli_prompt_tokenize(&engine, text, NULL, n, flags, &tokens, &err)) status = cli_engine_fail(&err);
        else if (options->n_frequent == 0) tokens_write(stdout, engine.model, &tokens, options->ids);
        else if (!frequent_write(stdout, engine.model, &tokens, options->n_frequent)) {
            cli_complain("not enough memory to count tokens");
            status = CLI_FAILED;
        }
    }
    free(tokens.items);
    free(text);
    cli_engine_close(&engine);
    return status;
}
