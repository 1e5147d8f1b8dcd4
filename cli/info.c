/* SPDX-License-Identifier: MIT */
/* vouch info: what a model file holds and how it will run here. */
#include <string.h>

#include "cli.h"
#include "common/text.h"

static void text_line(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%-18s", key);
    cli_put_escaped(out, value, strlen(value), 0);
    fputc('\n', out);
}

static void token_line(FILE *out, const vouch_model *model, const char *key, int32_t token)
{
    if (token < 0) return;
    size_t n = 0;
    const char *bytes = vouch_token_bytes(model, token, &n);
    fprintf(out, "%-18s%d ", key, token);
    if (bytes) cli_put_escaped(out, bytes, n, 0);
    fputc('\n', out);
}

static void info_write(FILE *out, const cli_options *options, const vouch_model *model)
{
    const vouch_model_info *info = vouch_model_get_info(model);
    text_line(out, "file", options->model);
    text_line(out, "name", info->name);
    text_line(out, "architecture", info->architecture);
    fprintf(out, "%-18s%lld\n", "parameters", (long long)info->n_parameters);
    text_line(out, "weights", info->weight_types);
    fprintf(out, "%-18s%lld bytes, packed %lld\n", "size", (long long)info->file_bytes,
            (long long)info->packed_bytes);
    fprintf(out, "%-18s%d\n", "layers", info->n_layers);
    fprintf(out, "%-18s%d, feed-forward %d\n", "width", info->n_embd, info->n_ff);
    fprintf(out, "%-18s%d, key-value %d, of width %d\n", "heads", info->n_heads, info->n_kv_heads,
            info->head_dim);
    fprintf(out, "%-18s%d tokens\n", "context", info->n_ctx_train);
    fprintf(out, "%-18s%d tokens, %s embeddings\n", "vocabulary", info->n_vocab,
            info->tied_embeddings ? "tied" : "separate");
    text_line(out, "tokenizer", info->tokenizer);
    token_line(out, model, "begin", info->token_bos);
    token_line(out, model, "end", info->token_eos);
    text_line(out, "chat template", info->chat_template);
    text_line(out, "instruction set", info->cpu);
    fprintf(out, "%-18s", "available here");
    for (size_t i = 0; vouch_cpu_name(i); i++) fprintf(out, "%s%s", i ? ", " : "", vouch_cpu_name(i));
    fputc('\n', out);
}

int cli_info(const cli_options *options)
{
    cli_engine engine;
    int status = cli_engine_open_text(&engine, options);
    if (!status) info_write(stdout, options, engine.model);
    cli_engine_close(&engine);
    return status;
}
