/* SPDX-License-Identifier: MIT */
/* vouch embed: turns texts into vectors of length 1, a line of JSON for each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "os/os.h"
#include "tool/json.h"
#include "tool/text.h"
#include "tool/vector.h"

typedef struct embedder {
    cli_engine *engine;
    vouch_pooling pooling;
    size_t n_embd, n_kept; /* numbers of a vector: computed, printed */
    float *vector;         /* [n_embd] */
} embedder;

static int vector_print(const embedder *e)
{
    vouch_error err;
    tool_vector_normalize(e->vector, e->n_kept);
    json_t *array = tool_vector_json(e->vector, e->n_kept);
    char *line = json_dumps(array, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(array);
    if (!line) {
        tool_complain("not enough memory for a vector of %zu numbers", e->n_kept);
        return CLI_FAILED;
    }
    vouch_status status = tool_print(line, strlen(line), &err);
    if (!status) status = tool_print("\n", 1, &err);
    free(line);
    return status ? cli_engine_fail(&err) : CLI_DONE;
}

static int text_embed(const embedder *e, const char *text, size_t n_text)
{
    const unsigned flags = VOUCH_TOKENIZE_BOS | VOUCH_TOKENIZE_EOS;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory for the text"};
    size_t n = 0;
    vouch_status status = vouch_tokenize(e->engine->model, text, n_text, flags, NULL, 0, &n, &err);
    int32_t *tokens = calloc(n + 1, sizeof *tokens);
    if (tokens && (status == VOUCH_OK || status == VOUCH_E_BUFFER))
        status = vouch_tokenize(e->engine->model, text, n_text, flags, tokens, n, &n, &err);
    if (tokens && !status) status = vouch_session_embed(e->engine->session, tokens, n, e->pooling, e->vector, &err);
    const bool is_good = tokens && !status;
    free(tokens);
    return is_good ? vector_print(e) : cli_engine_fail(&err);
}

/* Each line of standard input is a text. */
static int lines_embed(const embedder *e)
{
    char *line = NULL;
    size_t room = 0;
    int status = CLI_DONE;
    for (ptrdiff_t n; !status && !tool_interrupted() && (n = getline(&line, &room, stdin)) >= 0;) {
        while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) n--;
        if (n > 0) status = text_embed(e, line, (size_t)n);
    }
    free(line);
    if (!status && !feof(stdin) && !tool_interrupted()) {
        tool_complain("standard input: %s", strerror(errno));
        return CLI_FAILED;
    }
    return status;
}

static int embed(cli_engine *engine, const cli_options *options)
{
    const vouch_model_info *info = vouch_model_get_info(engine->model);
    embedder e = {.engine = engine, .pooling = cli_engine_pooling(engine), .n_embd = (size_t)info->n_embd};
    e.n_kept = options->dimensions ? (size_t)options->dimensions : e.n_embd;
    if (e.pooling == VOUCH_POOLING_NONE) {
        tool_complain("%s names no pooling, so it wasn't made for embeddings; --pooling mean or last takes them anyway",
                      options->model);
        return CLI_WRONG_USAGE;
    }
    if (e.n_kept > e.n_embd) {
        tool_complain("--dimensions %d: the model's vectors have %zu", options->dimensions, e.n_embd);
        return CLI_WRONG_USAGE;
    }
    vouch_session_options session = options->session;
    session.speculation.drafters = VOUCH_DRAFTER_NONE;
    int status = cli_engine_start(engine, &session);
    if (status) return status;
    e.vector = malloc(e.n_embd * sizeof *e.vector);
    if (!e.vector) {
        tool_complain("not enough memory for a vector of %zu numbers", e.n_embd);
        return CLI_FAILED;
    }
    status = options->prompt ? text_embed(&e, options->prompt, strlen(options->prompt)) : lines_embed(&e);
    free(e.vector);
    return status;
}

int cli_embed_run(const cli_options *options)
{
    cli_engine engine = {0};
    int status = cli_engine_open(&engine, options);
    if (!status) status = embed(&engine, options);
    cli_engine_close(&engine);
    return status;
}
