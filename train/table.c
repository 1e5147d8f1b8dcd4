/* SPDX-License-Identifier: MIT */
/*
 * Counting by sorting: each token of an answer gives two entries, (last, before, next) and (last, -1, next). Sorted,
 * the entries of a context stand together, and so do equal tokens behind it.
 */
#include "train/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/tensor_type.h"
#include "model/table.h"
#include "train/answers.h"

enum { N = VOUCH_TABLE_TOKENS, LEAST = 2 /* times that a context came; fewer tell too little for their bytes */ };

typedef struct entry {
    vouch_table_context context;
    int32_t next;
} entry;

typedef struct counting {
    const train_table_file *file;
    entry *entries; /* [n_entries] */
    int64_t n_entries, capacity, n_tokens;
    /* Rows of the table, as of the file. */
    int64_t n_rows;
    vouch_table_context *contexts;
    int32_t *tokens;
    uint16_t *shares;
    vouch_error *err;
} counting;

static vouch_status memory_fail(const counting *c)
{
    return vouch_fail(c->err, VOUCH_E_MEMORY, "not enough memory to count %lld tokens", (long long)c->n_tokens);
}

/* ------------------------------------------------------------------ entries */

static vouch_status add(counting *c, int32_t last, int32_t before, int32_t next)
{
    if (c->n_entries == c->capacity) {
        const int64_t capacity = c->capacity ? 2 * c->capacity : 1 << 16;
        entry *entries = realloc(c->entries, (size_t)capacity * sizeof *entries);
        if (!entries) return memory_fail(c);
        c->entries = entries;
        c->capacity = capacity;
    }
    c->entries[c->n_entries++] = (entry){{last, before}, next};
    return VOUCH_OK;
}

static vouch_status add_answer(counting *c, const train_answer *answer, const int32_t *tokens)
{
    for (int32_t i = answer->n_prompt > 2 ? answer->n_prompt : 2; i < answer->n_tokens; i++) {
        for (int32_t k = 0; k < 3; k++)
            if (tokens[i - k] < 0 || tokens[i - k] >= c->file->n_vocab)
                return vouch_fail(c->err, VOUCH_E_FORMAT, "an answer has the token %d: expected 0 to %d", tokens[i - k],
                                  c->file->n_vocab - 1);
        VOUCH_TRY(add(c, tokens[i - 1], tokens[i - 2], tokens[i]));
        VOUCH_TRY(add(c, tokens[i - 1], -1, tokens[i]));
        c->n_tokens++;
    }
    return VOUCH_OK;
}

static vouch_status read_answers(counting *c)
{
    const train_chunks *answers = c->file->answers;
    vouch_status status = VOUCH_OK;
    for (size_t i = 0; i < train_chunks_n(answers) && !status; i++) {
        char *payload = malloc(train_chunks_size(answers, i));
        if (!payload) return memory_fail(c);
        const train_answer *answer = (const train_answer *)(const void *)payload;
        status = train_chunks_read(answers, i, payload, c->err);
        if (!status) status = add_answer(c, answer, (const int32_t *)(const void *)(payload + sizeof *answer));
        free(payload);
    }
    return status;
}

/* --------------------------------------------------------------------- rows */

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->context.last != y->context.last) return x->context.last < y->context.last ? -1 : 1;
    if (x->context.before != y->context.before) return x->context.before < y->context.before ? -1 : 1;
    return (x->next > y->next) - (x->next < y->next);
}

/* Adds the row of the context whose entries are [first, past). */
static void add_row(counting *c, int64_t first, int64_t past)
{
    int32_t *tokens = c->tokens + c->n_rows * N;
    int64_t counts[N] = {0};
    for (int32_t k = 0; k < N; k++) tokens[k] = -1;
    for (int64_t i = first, end; i < past; i = end) {
        for (end = i + 1; end < past && c->entries[end].next == c->entries[i].next;) end++;
        int32_t at = N;
        for (; at > 0 && end - i > counts[at - 1]; at--) {
            if (at == N) continue;
            counts[at] = counts[at - 1];
            tokens[at] = tokens[at - 1];
        }
        if (at == N) continue;
        counts[at] = end - i;
        tokens[at] = c->entries[i].next;
    }
    for (int32_t k = 0; k < N; k++) /* one more, for what has not come yet */
        c->shares[c->n_rows * N + k] = vouch_float_to_half((float)counts[k] / (float)(past - first + 1));
    c->contexts[c->n_rows++] = c->entries[first].context;
}

static vouch_status make_rows(counting *c)
{
    const size_t most = (size_t)(c->n_entries / LEAST) + 1;
    c->contexts = malloc(most * sizeof *c->contexts);
    c->tokens = malloc(most * N * sizeof *c->tokens);
    c->shares = malloc(most * N * sizeof *c->shares);
    if (!c->contexts || !c->tokens || !c->shares) return memory_fail(c);
    qsort(c->entries, (size_t)c->n_entries, sizeof *c->entries, compare);
    for (int64_t first = 0, past = 0; first < c->n_entries; first = past) {
        const vouch_table_context *here = &c->entries[first].context;
        past = first + 1;
        while (past < c->n_entries && memcmp(&c->entries[past].context, here, sizeof *here) == 0) past++;
        if (past - first >= LEAST) add_row(c, first, past);
    }
    if (c->n_rows > 0) return VOUCH_OK;
    return vouch_fail(c->err, VOUCH_E_ARGUMENT, "no two tokens came twice in %lld tokens of answers: raise --tokens",
                      (long long)c->n_tokens);
}

/* --------------------------------------------------------------------- file */

static vouch_status write_rows(const counting *c, const char *path)
{
    const train_table_file *f = c->file;
    const int64_t contexts[] = {2, c->n_rows}, rows[] = {N, c->n_rows};
    vouch_gguf_writer *w;
    VOUCH_TRY(vouch_gguf_writer_open(&w, c->err));
    vouch_gguf_add_text(w, "general.architecture", "vouch-table");
    vouch_gguf_add_text(w, "general.type", "table");
    vouch_gguf_add_text(w, "vouch-table.target.digest", f->digest);
    vouch_gguf_add_u32(w, "vouch-table.target.vocab_size", (uint32_t)f->n_vocab);
    vouch_gguf_add_text(w, "vouch-table.recipe", f->recipe);
    vouch_gguf_add_tensor(w, "contexts", VOUCH_TYPE_I32, 2, contexts, c->contexts);
    vouch_gguf_add_tensor(w, "tokens", VOUCH_TYPE_I32, 2, rows, c->tokens);
    vouch_gguf_add_tensor(w, "shares", VOUCH_TYPE_F16, 2, rows, c->shares);
    const vouch_status status = vouch_gguf_write(w, path, c->err);
    vouch_gguf_writer_close(w);
    return status;
}

vouch_status train_table_write(const train_table_file *file, const char *path, int64_t *n_contexts, int64_t *n_tokens,
                               vouch_error *err)
{
    counting c = {.file = file, .err = err};
    vouch_status status = read_answers(&c);
    if (!status) status = make_rows(&c);
    if (!status) status = write_rows(&c, path);
    *n_contexts = c.n_rows;
    *n_tokens = c.n_tokens;
    free(c.entries);
    free(c.contexts);
    free(c.tokens);
    free(c.shares);
    return status;
}
