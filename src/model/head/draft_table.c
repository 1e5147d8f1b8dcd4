/* SPDX-License-Identifier: MIT */
#include "model/head/draft_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/tensor_type.h"

static const char ARCH[] = "vouch-table";

/* ------------------------------------------------------------------- lookup */

vouch_table_context vouch_table_context_of(const int32_t *end, int32_t length)
{
    vouch_table_context c;
    for (int32_t i = 0; i < VOUCH_TABLE_ORDERS; i++) c.before[i] = i < length ? end[-1 - i] : -1;
    return c;
}

int vouch_table_compare(const vouch_table_context *a, const vouch_table_context *b)
{
    int32_t i = 0;
    while (i < VOUCH_TABLE_ORDERS - 1 && a->before[i] == b->before[i]) i++;
    return (a->before[i] > b->before[i]) - (a->before[i] < b->before[i]);
}

int32_t vouch_table_rows_find(const vouch_table_rows *table, const vouch_table_context *context)
{
    int32_t first = 0, past = table->n;
    while (first < past) {
        const int32_t middle = first + (past - first) / 2;
        const int order = vouch_table_compare(&table->contexts[middle], context);
        if (order == 0) return middle;
        if (order < 0) first = middle + 1;
        else past = middle;
    }
    return -1;
}

/* ------------------------------------------------------------------ reading */

vouch_status vouch_table_refuse(const vouch_gguf *gguf, vouch_error *err)
{
    vouch_text arch;
    if (vouch_gguf_get_text(gguf, "general.architecture", true, &arch, NULL) != VOUCH_OK || !vouch_text_is(arch, ARCH))
        return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: general.architecture '%s' is a table, which guesses for a model: open the model, and give "
                      "it this file as its table",
                      vouch_gguf_path(gguf), ARCH);
}

static vouch_status check_target(const vouch_gguf *gguf, const vouch_draft_target *target, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf);
    vouch_text arch, digest;
    int64_t n_vocab = 0;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, err));
    if (!vouch_text_is(arch, ARCH))
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: general.architecture is '%.*s': expected a table, '%s', which `vouch distill --table` "
                          "makes",
                          path, (int)(arch.size < 64 ? arch.size : 64), arch.data, ARCH);
    VOUCH_TRY(vouch_gguf_get_int(gguf, "vouch-table.target.vocab_size", true, 1, INT32_MAX, &n_vocab, err));
    if (n_vocab != target->n_vocab)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s: vouch-table.target.vocab_size is %lld, but the model has %d tokens: this table is for "
                          "another model",
                          path, (long long)n_vocab, target->n_vocab);
    VOUCH_TRY(vouch_gguf_get_text(gguf, "vouch-table.target.digest", true, &digest, err));
    if (vouch_text_is(digest, target->digest) || target->may_differ) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH,
                      "%s: the table was counted for the model with digest %.*s, and this model has %s: use its own "
                      "table, or allow a table of another file (--allow-other-head)",
                      path, (int)(digest.size < 64 ? digest.size : 64), digest.data, target->digest);
}

/* Copies the values of a tensor of this type: [rows], or [rows][width] with width above 0. *rows is 0 where the tensor
 * decides it. */
static vouch_status take(const vouch_gguf *gguf, const char *name, vouch_type type, int32_t width, int32_t *rows,
                         void **out, vouch_error *err)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, name);
    const char *path = vouch_gguf_path(gguf);
    if (!tensor) return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' is missing", path, name);
    const bool has_shape = width ? tensor->n_dims == 2 && tensor->dim[0] == width : tensor->n_dims == 1;
    const int64_t n = has_shape ? tensor->dim[width > 0] : 0;
    if (tensor->type != type || n < 1 || n > INT32_MAX / 4 || (*rows > 0 && n != *rows))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' must be %s with %s%d values%s", path, name,
                          vouch_type_gguf_name(type), width || *rows ? "" : "at least ",
                          width   ? width
                          : *rows ? *rows
                                  : 1,
                          width ? " for each context" : "");
    *rows = (int32_t)n;
    *out = malloc(tensor->bytes);
    if (!*out) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for a table", path);
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    memcpy(*out, tensor->data, tensor->bytes);
    return VOUCH_OK;
}

/* Whether the context is one to ORDERS tokens of the vocabulary, then -1 to its end. */
static bool is_context(const vouch_table_context *c, int32_t n_vocab)
{
    int32_t length = 0;
    while (length < VOUCH_TABLE_ORDERS && c->before[length] >= 0 && c->before[length] < n_vocab) length++;
    for (int32_t i = length; i < VOUCH_TABLE_ORDERS; i++)
        if (c->before[i] != -1) return false;
    return length > 0;
}

static vouch_status check_contexts(const vouch_table_rows *t, const char *path, int32_t n_vocab, vouch_error *err)
{
    for (int32_t i = 0; i < t->n; i++) {
        const vouch_table_context *c = &t->contexts[i];
        const int64_t length = (int64_t)t->starts[i + 1] - t->starts[i];
        if (!is_context(c, n_vocab) || (i > 0 && vouch_table_compare(c - 1, c) >= 0))
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: contexts[%d] is (%d, %d, %d): expected tokens below %d, and rows that ascend", path,
                              i, c->before[0], c->before[1], c->before[2], n_vocab);
        if (length < 1 || length > VOUCH_TABLE_TOKENS)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: starts[%d] is %d and the next %d: expected 1 to %d tokens",
                              path, i, t->starts[i], t->starts[i + 1], VOUCH_TABLE_TOKENS);
    }
    if (t->starts[0] == 0 && t->starts[t->n] == t->n_tokens) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: starts go from %d to %d: expected 0 to %d, the number of tokens", path,
                      t->starts[0], t->starts[t->n], t->n_tokens);
}

/* Whether a token before token i, after the same context, is the same token. */
static bool is_repeated(const vouch_table_rows *t, int32_t row, int32_t i)
{
    for (int32_t j = t->starts[row]; j < i; j++)
        if (t->tokens[j] == t->tokens[i]) return true;
    return false;
}

/* Expects checked contexts. */
static vouch_status check_tokens(const vouch_table_rows *t, const char *path, int32_t n_vocab, vouch_error *err)
{
    for (int32_t i = 0, row = 0; i < t->n_tokens; i++) {
        const float share = vouch_half_to_float(t->shares[i]);
        row += i == t->starts[row + 1];
        if (t->tokens[i] < 0 || t->tokens[i] >= n_vocab)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokens[%d] is %d: expected 0 to %d", path, i, t->tokens[i],
                              n_vocab - 1);
        if (is_repeated(t, row, i))
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: tokens[%d] is %d, which comes twice after contexts[%d]: expected each token once",
                              path, i, t->tokens[i], row);
        if (!(share >= 0 && share <= 1))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: shares[%d] is %g: expected 0 to 1", path, i, (double)share);
    }
    return VOUCH_OK;
}

static vouch_status read_rows(vouch_table_rows *t, const vouch_gguf *gguf, int32_t n_vocab, vouch_error *err)
{
    void *contexts = NULL, *starts = NULL, *tokens = NULL, *shares = NULL;
    const char *path = vouch_gguf_path(gguf);
    vouch_status status = take(gguf, "contexts", VOUCH_TYPE_I32, VOUCH_TABLE_ORDERS, &t->n, &contexts, err);
    int32_t n_starts = t->n + 1;
    t->contexts = contexts;
    if (!status) status = take(gguf, "starts", VOUCH_TYPE_I32, 0, &n_starts, &starts, err);
    t->starts = starts;
    if (!status) status = take(gguf, "tokens", VOUCH_TYPE_I32, 0, &t->n_tokens, &tokens, err);
    t->tokens = tokens;
    if (!status) status = take(gguf, "shares", VOUCH_TYPE_F16, 0, &t->n_tokens, &shares, err);
    t->shares = shares;
    if (!status) status = check_contexts(t, path, n_vocab, err);
    return status ? status : check_tokens(t, path, n_vocab, err);
}

/* ------------------------------------------------------------------ opening */

vouch_status vouch_table_rows_open(vouch_table_rows **out, const vouch_gguf *gguf, const vouch_draft_target *target,
                                   vouch_error *err)
{
    *out = NULL;
    VOUCH_TRY(check_target(gguf, target, err));
    vouch_table_rows *table = calloc(1, sizeof *table);
    if (!table) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a table");
    const vouch_status status = read_rows(table, gguf, target->n_vocab, err);
    if (status) vouch_table_rows_close(table);
    else *out = table;
    return status;
}

void vouch_table_rows_close(vouch_table_rows *table)
{
    if (!table) return;
    free(table->contexts);
    free(table->starts);
    free(table->tokens);
    free(table->shares);
    free(table);
}
