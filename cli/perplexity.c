/* SPDX-License-Identifier: MIT */
/*
 * vouch perplexity: measures how well the model predicts a text, with the method of llama.cpp's tool, so that figures
 * can be compared. It cuts the text into chunks of n tokens. The model reads each chunk from an empty cache, and the
 * predictions of the chunk's second half count:
 *
 *   chunk    [ 0 ............ n/2 ............ n-2 | n-1 ]
 *   context    --------------->
 *   counted                    predicts n/2 + 1 ... n - 1
 *
 *   perplexity = exp(- mean log p(next token))
 *
 * Where the model's file asks for a BOS token, the text starts with one, and it replaces the first token of every
 * chunk.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "tool/file.h"

/* -log softmax(logits)[token], computed in double. */
static double surprise(const float *logits, int32_t n_vocab, int32_t token)
{
    double largest = logits[0], sum = 0;
    for (int32_t i = 1; i < n_vocab; i++)
        if (logits[i] > largest) largest = logits[i];
    for (int32_t i = 0; i < n_vocab; i++) sum += exp((double)logits[i] - largest);
    return log(sum) + largest - (double)logits[token];
}

typedef struct measure {
    vouch_session *session;
    const int32_t *tokens;             /* the whole text */
    int32_t *chunk;                    /* [n_ctx] */
    float *logits;                     /* [rows][n_vocab] */
    int32_t n_ctx, rows, n_vocab, bos; /* bos -1: the file asks for none */
    double sum;
    int64_t count;
} measure;

static vouch_status chunk_measure(measure *m, int64_t index, vouch_error *err)
{
    for (int32_t i = 0; i < m->n_ctx; i++) m->chunk[i] = m->tokens[index * m->n_ctx + i];
    if (m->bos >= 0) m->chunk[0] = m->bos;
    vouch_status status = cli_session_prompt(m->session, m->chunk, (size_t)m->n_ctx, err);
    for (int32_t first = m->n_ctx / 2; !status && first < m->n_ctx - 1; first += m->rows) {
        const int32_t left = m->n_ctx - 1 - first, n = left < m->rows ? left : m->rows;
        status = vouch_session_logits(m->session, first, n, m->logits, err);
        if (tool_interrupted()) return err->code = VOUCH_E_CANCELLED;
        for (int32_t i = 0; !status && i < n; i++)
            m->sum += surprise(m->logits + (size_t)i * (size_t)m->n_vocab, m->n_vocab, m->chunk[first + i + 1]);
        m->count += n;
    }
    if (!status && !isfinite(m->sum)) {
        status = err->code = VOUCH_E_NUMERIC;
        snprintf(err->message, sizeof err->message, "chunk %lld: %s", (long long)index + 1, vouch_status_text(status));
    }
    return status;
}

static int chunks_measure(measure *m, int64_t n_chunks)
{
    vouch_error err;
    char line[96];
    for (int64_t i = 0; i < n_chunks; i++) {
        const vouch_status status = chunk_measure(m, i, &err);
        if (status == VOUCH_E_CANCELLED && i > 0) {
            tool_complain("interrupted: %lld of %lld chunks are complete and reported", (long long)i,
                          (long long)n_chunks);
            return CLI_FAILED;
        }
        if (status) return cli_engine_fail(&err);
        const int n = snprintf(line, sizeof line, "chunk %lld of %lld: %.4f\n", (long long)i + 1, (long long)n_chunks,
                               exp(m->sum / (double)m->count));
        if (tool_print(line, (size_t)n, &err)) return cli_engine_fail(&err);
    }
    const int n = snprintf(line, sizeof line, "perplexity: %.6f\n", exp(m->sum / (double)m->count));
    return tool_print(line, (size_t)n, &err) ? cli_engine_fail(&err) : CLI_DONE;
}

/* The BOS token, where the model's file asks for one at the beginning of a text; otherwise -1. */
static int32_t beginning(const cli_engine *engine)
{
    cli_tokens none = {NULL, 0};
    vouch_error err;
    if (cli_prompt_tokenize(engine, "", NULL, 0, VOUCH_TOKENIZE_BOS, &none, &err)) return -1;
    const int32_t token = none.n == 1 ? none.items[0] : -1;
    free(none.items);
    return token;
}

static int measure_text(cli_engine *engine, const cli_tokens *tokens)
{
    const cli_options *options = engine->options;
    vouch_session_options session = options->session;
    enum { MOST_ROWS = 64 };
    const int32_t n_ctx = session.n_ctx ? session.n_ctx : 512;
    const int32_t chunk_rows = session.prefill_chunk ? session.prefill_chunk : 256;
    const int64_t available = (int64_t)tokens->n / n_ctx;
    const int64_t n_chunks = options->n_chunks > 0 && options->n_chunks < available ? options->n_chunks : available;
    if (n_chunks == 0) {
        tool_complain("%s%s: the text has %zu token%s; expected at least one chunk of --ctx %d: lower --ctx",
                      strcmp(options->file, "-") == 0 ? "standard input" : "--file ",
                      strcmp(options->file, "-") == 0 ? "" : options->file, tokens->n, tokens->n == 1 ? "" : "s",
                      n_ctx);
        return CLI_FAILED;
    }
    session.n_ctx = n_ctx + 1;
    session.speculation.drafters = VOUCH_DRAFTER_NONE;
    int status = cli_engine_start(engine, &session);
    if (status) return status;
    measure m = {.session = engine->session,
                 .tokens = tokens->items,
                 .n_ctx = n_ctx,
                 .rows = chunk_rows < MOST_ROWS ? chunk_rows : MOST_ROWS,
                 .n_vocab = vouch_model_get_info(engine->model)->n_vocab,
                 .bos = beginning(engine)};
    m.chunk = malloc((size_t)n_ctx * sizeof *m.chunk);
    m.logits = malloc((size_t)m.rows * (size_t)m.n_vocab * sizeof *m.logits);
    if (m.chunk && m.logits) {
        tool_interrupt_set(TOOL_INTERRUPT_CANCELS);
        status = chunks_measure(&m, n_chunks);
        tool_interrupt_set(TOOL_INTERRUPT_ENDS);
    } else {
        tool_complain("not enough memory for the logits of %d rows; lower --prefill-chunk", m.rows);
        status = CLI_FAILED;
    }
    free(m.chunk);
    free(m.logits);
    return status;
}

bool cli_perplexity_check(cli_options *options, cli_given given)
{
    (void)given;
    if (!options->file && !isatty(STDIN_FILENO)) options->file = "-";
    if (options->file) return true;
    tool_complain("--file FILE is missing: expected the text to predict");
    return false;
}

int cli_perplexity_run(const cli_options *options)
{
    cli_engine engine = {0};
    cli_tokens tokens = {NULL, 0};
    vouch_error err;
    char *text = NULL;
    size_t n = 0;
    if (tool_file_read(options->file, &text, &n, &err)) return cli_flag_refuse("file", &err);
    int status = cli_engine_open(&engine, options);
    if (!status && cli_prompt_tokenize(&engine, text, NULL, n, VOUCH_TOKENIZE_BOS, &tokens, &err))
        status = cli_engine_fail(&err);
    if (!status) status = measure_text(&engine, &tokens);
    free(tokens.items);
    free(text);
    cli_engine_close(&engine);
    return status;
}
