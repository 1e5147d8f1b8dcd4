/* SPDX-License-Identifier: MIT */
#include "model/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/tensor_type.h"

static const char ARCH[] = "vouch-table";

enum { N = VOUCH_TABLE_TOKENS };

/* ------------------------------------------------------------------- lookup */

static int compare(vouch_table_context a, vouch_table_context b)
{
    if (a.last != b.last) return a.last < b.last ? -1 : 1;
    return (a.before > b.before) - (a.before < b.before);
}

int32_t vouch_table_rows_find(const vouch_table_rows *table, int32_t last, int32_t before)
{
    const vouch_table_context wanted = {last, before};
    int32_t first = 0, past = table->n;
    while (first < past) {
        const int32_t middle = first + (past - first) / 2, order = compare(table->contexts[middle], wanted);
        if (order == 0) return middle;
        if (order < 0) first = middle + 1;
        else past = middle;
    }
    return -1;
}

/* ------------------------------------------------------------------ reading */

static vouch_status check_target(const vouch_gguf *gguf, const vouch_table_target *target, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf);
    vouch_text arch, digest;
    int64_t n_vocab = 0;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, err));
    if (arch.size != strlen(ARCH) || memcmp(arch.data, ARCH, arch.size) != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: general.architecture is '%.*s': expected a table, '%s', which `vouch distill --table` "
                          "makes", path, (int)(arch.size < 64 ? arch.size : 64), arch.data, ARCH);
    VOUCH_TRY(vouch_gguf_get_int(gguf, "vouch-table.target.vocab_size", true, 1, INT32_MAX, &n_vocab, err));
    if (n_vocab != target->n_vocab)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s: vouch-table.target.vocab_size is %lld, but the model has %d tokens: this table is for "
                          "another model", path, (long long)n_vocab, target->n_vocab);
    VOUCH_TRY(vouch_gguf_get_text(gguf, "vouch-table.target.digest", true, &digest, err));
    const bool is_same = digest.size == strlen(target->digest) && memcmp(digest.data, target->digest, digest.size) == 0;
    if (is_same || target->may_differ) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH,
                      "%s: the table was counted for the model with digest %.*s, and this model has %s: use its own "
                      "table, or allow a table of another file (--allow-other-head)",
                      path, (int)(digest.size < 64 ? digest.size : 64), digest.data, target->digest);
}

/* Copies the values of a tensor [n][width] of this type. n is 0 for the first tensor, which decides it. */
static vouch_status take(const vouch_gguf *gguf, const char *name, vouch_type type, int32_t width, int32_t *n,
                         void **out, vouch_error *err)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, name);
    const char *path = vouch_gguf_path(gguf);
    if (!tensor) return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' is missing", path, name);
    const int64_t rows = tensor->n_dims == 2 ? tensor->dim[1] : 0;
    if (tensor->type != type || tensor->dim[0] != width || rows < 1 || rows > INT32_MAX / N || (*n > 0 && rows != *n))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s' must be %s of the shape [%d, contexts]", path, name,
                          vouch_type_gguf_name(type), width);
    *n = (int32_t)rows;
    *out = malloc(tensor->bytes);
    if (!*out) return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory for a table", path);
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    memcpy(*out, tensor->data, tensor->bytes);
    return VOUCH_OK;
}

static vouch_status check_rows(const vouch_table_rows *t, const char *path, int32_t n_vocab, vouch_error *err)
{
    for (int32_t i = 0; i < t->n; i++) {
        const vouch_table_context c = t->contexts[i];
        const bool is_known = c.last >= 0 && c.last < n_vocab && c.before >= -1 && c.before < n_vocab;
        if (!is_known || (i > 0 && compare(t->contexts[i - 1], c) >= 0))
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: contexts[%d] is (%d, %d): expected tokens below %d, and rows that ascend", path, i,
                              c.last, c.before, n_vocab);
        for (int32_t k = 0; k < N; k++) {
            const int32_t token = t->tokens[i * N + k];
            if (token < -1 || token >= n_vocab)
                return vouch_fail(err, VOUCH_E_FORMAT, "%s: tokens[%d][%d] is %d: expected -1 to %d", path, i, k, token,
                                  n_vocab - 1);
        }
    }
    return VOUCH_OK;
}

/* Turns the shares into integers. */
static vouch_status round_shares(vouch_table_rows *t, const char *path, vouch_error *err)
{
    for (size_t i = 0; i < (size_t)t->n * N; i++) {
        const float share = vouch_half_to_float(t->shares[i]);
        if (!(share >= 0 && share <= 1))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: shares[%zu][%zu] is %g: expected 0 to 1", path, i / N, i % N,
                              (double)share);
        t->shares[i] = (uint16_t)(share * UINT16_MAX + 0.5f);
    }
    return VOUCH_OK;
}

static vouch_status read_rows(vouch_table_rows *t, const vouch_gguf *gguf, int32_t n_vocab, vouch_error *err)
{
    void *contexts = NULL, *tokens = NULL, *shares = NULL;
    vouch_status status = take(gguf, "contexts", VOUCH_TYPE_I32, 2, &t->n, &contexts, err);
    t->contexts = contexts;
    if (!status) status = take(gguf, "tokens", VOUCH_TYPE_I32, N, &t->n, &tokens, err);
    t->tokens = tokens;
    if (!status) status = take(gguf, "shares", VOUCH_TYPE_F16, N, &t->n, &shares, err);
    t->shares = shares;
    if (!status) status = round_shares(t, vouch_gguf_path(gguf), err);
    return status ? status : check_rows(t, vouch_gguf_path(gguf), n_vocab, err);
}

/* ------------------------------------------------------------------ opening */

vouch_status vouch_table_rows_open(vouch_table_rows **out, const vouch_gguf *gguf, const vouch_table_target *target,
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
    free(table->tokens);
    free(table->shares);
    free(table);
}
