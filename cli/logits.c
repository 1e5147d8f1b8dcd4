/* SPDX-License-Identifier: MIT */
/*
 * vouch logits: writes the raw logits of given token ids as a NumPy array, [tokens][n_vocab] of little-endian float32,
 * for people who compare implementations. Row i follows tokens[0, i]. The model needs no tokenizer.
 *
 *   .npy, version 1.0 (numpy.lib.format):
 *     0  "\x93NUMPY" 1 0
 *     8  u16 length of the header
 *    10  {'descr': '<f4', 'fortran_order': False, 'shape': (n, n_vocab), }   spaces, newline, to a multiple of 64
 *    ..  the rows
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "os/os.h"
#include "tool/file.h"
#include "tool/text.h"

enum { MAGIC = 8, ALIGNMENT = 64, MOST_HEADER = 192, MOST_ROWS = 64 };

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* Parses ids with commas or white space between them. Complains if there are none, or anything else. */
static bool parse_ids(const char *text, const char *from, cli_tokens *ids)
{
    ids->items = malloc((strlen(text) / 2 + 1) * sizeof *ids->items);
    if (!ids->items) {
        tool_complain("not enough memory for the ids of %s", from);
        return false;
    }
    for (const char *at = text;;) {
        while (is_separator(*at)) at++;
        if (!*at) break;
        char *end;
        errno = 0;
        const long id = strtol(at, &end, 10);
        if (end == at || (*end && !is_separator(*end)) || errno || id < 0 || id > INT32_MAX) {
            tool_complain("%s: '%.20s' is no token id; expected ids such as 1,2,3, from 0 on", from, at);
            return false;
        }
        ids->items[ids->n++] = (int32_t)id;
        at = end;
    }
    if (ids->n == 0) tool_complain("%s: no token ids; expected at least one", from);
    return ids->n > 0;
}

/* A list of ids on the command line, or a file of them. A text that begins like a list is a file only if one
 * of that name exists. */
static bool read_ids(const char *tokens, cli_tokens *ids)
{
    char *text = NULL;
    size_t n;
    vouch_error err;
    const bool is_list = strchr("-0123456789, ", tokens[0]) != NULL;
    if (is_list && !vouch_os_exists(tokens)) return parse_ids(tokens, "--tokens", ids);
    if (tool_file_read(tokens, &text, &n, &err)) {
        cli_flag_fail("tokens", &err);
        return false;
    }
    const bool is_whole = strlen(text) == n;
    if (!is_whole)
        tool_complain("--tokens %s: a NUL byte at offset %zu; expected a text with ids", tokens, strlen(text));
    const bool good = is_whole && parse_ids(text, tokens, ids);
    free(text);
    return good;
}

static size_t write_header(char out[MOST_HEADER], size_t n, int32_t n_vocab)
{
    memcpy(out, "\x93NUMPY\x01\x00", MAGIC);
    int used = MAGIC + 2 +
               snprintf(out + MAGIC + 2, MOST_HEADER - MAGIC - 2,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %d), }", n, (int)n_vocab);
    while ((used + 1) % ALIGNMENT != 0) out[used++] = ' ';
    out[used++] = '\n';
    const int length = used - MAGIC - 2;
    out[MAGIC] = (char)(length & 0xff);
    out[MAGIC + 1] = (char)(length >> 8);
    return (size_t)used;
}

static int write_logits(cli_engine *engine, const cli_tokens *ids)
{
    const int32_t n_vocab = vouch_model_get_info(engine->model)->n_vocab;
    vouch_session_options session = engine->options->session;
    char header[MOST_HEADER];
    vouch_error err;
    if (ids->n > INT32_MAX - 1) {
        tool_complain("--tokens: %zu ids; at most %d are possible", ids->n, INT32_MAX - 1);
        return CLI_FAILED;
    }
    const size_t n_header = write_header(header, ids->n, n_vocab), row = (size_t)n_vocab * sizeof(float);
    session.n_ctx = (int32_t)ids->n + 1;
    session.speculation.drafters = VOUCH_DRAFTER_NONE;
    int status = cli_engine_start(engine, &session);
    if (status) return status;
    char *bytes = ids->n < (SIZE_MAX - n_header) / row ? malloc(n_header + ids->n * row) : NULL;
    if (!bytes) {
        tool_complain("not enough memory for the logits of %zu tokens, %zu bytes each; give fewer", ids->n, row);
        return CLI_FAILED;
    }
    memcpy(bytes, header, n_header);
    vouch_status failure = cli_session_prompt(engine->session, ids->items, ids->n, &err);
    for (size_t i = 0; !failure && i < ids->n; i += MOST_ROWS) {
        const int32_t n = ids->n - i < MOST_ROWS ? (int32_t)(ids->n - i) : MOST_ROWS;
        failure =
            vouch_session_logits(engine->session, (int32_t)i, n, (float *)(void *)(bytes + n_header + i * row), &err);
    }
    if (!failure) failure = tool_file_write(engine->options->out, bytes, n_header + ids->n * row, &err);
    free(bytes);
    return failure ? cli_engine_fail(&err) : CLI_DONE;
}

bool cli_logits_check(cli_options *options, cli_given given)
{
    (void)given;
    if (options->tokens && options->out) return true;
    tool_complain("--%s is missing: expected %s", options->tokens ? "out FILE" : "tokens LIST",
                  options->tokens ? "the .npy file to write" : "token ids, such as 1,2,3, or a file of ids");
    return false;
}

int cli_logits_run(const cli_options *options)
{
    cli_engine engine = {0};
    cli_tokens ids = {NULL, 0};
    int status = read_ids(options->tokens, &ids) ? CLI_DONE : CLI_FAILED;
    if (!status) status = cli_engine_open(&engine, options);
    if (!status) status = write_logits(&engine, &ids);
    free(ids.items);
    cli_engine_close(&engine);
    return status;
}
