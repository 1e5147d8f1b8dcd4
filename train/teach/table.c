/* SPDX-License-Identifier: MIT */
/*
 * Counting by sorting: each token of an answer gives an entry (context, next) for each length of context. Sorted, the
 * entries of a context stand together, equal tokens after it too, and a context comes before the longer ones that it
 * begins:
 *
 *     (c - -)  (c b -)  (c b a)  (c b z)  (c d -)  ...
 *
 * So when a context is counted, the row of the next shorter context is at hand. It is mixed in, because a few counts
 * tell less than the shorter context does (Witten and Bell, "The zero-frequency problem", 1991; interpolated):
 *
 *     share(x) = (count(x) + T share'(x)) / (N + T)      N: counts of the context. T: different tokens among them
 */
#include "train/teach/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor_type.h"
#include "model/head/draft_table.h"
#include "train/lessons/answers.h"

enum {
    ORDERS = VOUCH_TABLE_ORDERS,
    N = VOUCH_TABLE_TOKENS,
    LEAST = 2, /* times that a context came; fewer tell too little for their bytes */
};

static const float LEAST_SHARE = 0.06f; /* of a token in a row, besides the first */

typedef struct entry {
    vouch_table_context context;
    int32_t next;
} entry;

/* The likeliest tokens after a context, in descending order. */
typedef struct row {
    vouch_table_context context;
    int32_t n;
    int32_t tokens[N];
    float shares[N];
} row;

typedef struct counting {
    const train_table_file *file;
    entry *entries; /* [n_entries] */
    int64_t n_entries, capacity, n_tokens;
    row shorter[ORDERS]; /* [i]: the last row counted with i + 1 tokens of context */
    /* The table, as of the file. */
    int32_t n_rows, n_kept;
    vouch_table_context *contexts;
    int32_t *starts, *tokens;
    uint16_t *shares;
    vouch_error *err;
} counting;

static vouch_status memory_fail(const counting *c)
{
    return vouch_fail(c->err, VOUCH_E_MEMORY, "not enough memory to count %lld tokens", (long long)c->n_tokens);
}

/* ------------------------------------------------------------------ entries */

static vouch_status add(counting *c, const int32_t *token, int32_t length)
{
    if (c->n_entries == c->capacity) {
        const int64_t capacity = c->capacity ? 2 * c->capacity : 1 << 16;
        entry *entries = realloc(c->entries, (size_t)capacity * sizeof *entries);
        if (!entries) return memory_fail(c);
        c->entries = entries;
        c->capacity = capacity;
    }
    c->entries[c->n_entries++] = (entry){vouch_table_context_of(token, length), *token};
    return VOUCH_OK;
}

static vouch_status add_answer(counting *c, const train_answer *answer, const int32_t *tokens)
{
    for (int32_t i = 0; i < answer->n_tokens; i++)
        if (tokens[i] < 0 || tokens[i] >= c->file->n_vocab)
            return vouch_fail(c->err, VOUCH_E_FORMAT, "an answer has the token %d: expected 0 to %d", tokens[i],
                              c->file->n_vocab - 1);
    for (int32_t i = answer->n_prompt; i < answer->n_tokens; i++) {
        for (int32_t length = 1; length <= ORDERS && length <= i; length++) VOUCH_TRY(add(c, tokens + i, length));
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
    const int order = vouch_table_compare(&x->context, &y->context);
    return order ? order : (x->next > y->next) - (x->next < y->next);
}

static int32_t length_of(const vouch_table_context *context)
{
    int32_t length = 0;
    while (length < ORDERS && context->before[length] >= 0) length++;
    return length;
}

/* Inserts a token after tokens with the same share. In a full row it replaces the last token, or is left out. */
static void row_insert(row *r, int32_t token, float share)
{
    if (r->n == N && share <= r->shares[N - 1]) return;
    int32_t at = r->n < N ? r->n++ : N - 1;
    for (; at > 0 && share > r->shares[at - 1]; at--) {
        r->tokens[at] = r->tokens[at - 1];
        r->shares[at] = r->shares[at - 1];
    }
    r->tokens[at] = token;
    r->shares[at] = share;
}

static int32_t index_of(const row *r, int32_t token)
{
    int32_t i = r->n - 1;
    while (i >= 0 && r->tokens[i] != token) i--;
    return i;
}

/* The row of the context whose entries are [first, past). `shorter`: the row of the next shorter context, or NULL. */
static row row_of(const counting *c, int64_t first, int64_t past, const row *shorter)
{
    row r = {.context = c->entries[first].context};
    bool is_counted[N] = {false};
    int64_t n_different = 0;
    for (int64_t i = first; i < past; i++) n_different += i == first || c->entries[i].next != c->entries[i - 1].next;
    const float total = (float)(past - first + n_different), mixed = (float)n_different / total;
    for (int64_t i = first, end; i < past; i = end) {
        for (end = i + 1; end < past && c->entries[end].next == c->entries[i].next;) end++;
        const int32_t at = shorter ? index_of(shorter, c->entries[i].next) : -1;
        if (at >= 0) is_counted[at] = true;
        const float counted = (float)(end - i) / total;
        row_insert(&r, c->entries[i].next, counted + (at >= 0 ? mixed * shorter->shares[at] : 0));
    }
    for (int32_t i = 0; shorter && i < shorter->n; i++)
        if (!is_counted[i]) row_insert(&r, shorter->tokens[i], mixed * shorter->shares[i]);
    return r;
}

static void row_keep(counting *c, const row *r)
{
    c->contexts[c->n_rows++] = r->context;
    for (int32_t i = 0; i < r->n && (i == 0 || r->shares[i] >= LEAST_SHARE); i++) {
        c->tokens[c->n_kept] = r->tokens[i];
        c->shares[c->n_kept++] = vouch_float_to_half(r->shares[i]);
    }
    c->starts[c->n_rows] = c->n_kept;
}

static vouch_status make_rows(counting *c)
{
    const size_t most = (size_t)(c->n_entries / LEAST) + 1;
    if (most > INT32_MAX / N) return memory_fail(c);
    c->contexts = malloc(most * sizeof *c->contexts);
    c->starts = malloc((most + 1) * sizeof *c->starts);
    c->tokens = malloc(most * N * sizeof *c->tokens);
    c->shares = malloc(most * N * sizeof *c->shares);
    if (!c->contexts || !c->starts || !c->tokens || !c->shares) return memory_fail(c);
    c->starts[0] = 0;
    qsort(c->entries, (size_t)c->n_entries, sizeof *c->entries, compare);
    for (int64_t first = 0, past = 0; first < c->n_entries; first = past) {
        const vouch_table_context *here = &c->entries[first].context;
        const int32_t length = length_of(here);
        past = first + 1;
        while (past < c->n_entries && vouch_table_compare(&c->entries[past].context, here) == 0) past++;
        if (past - first < LEAST) continue;
        c->shorter[length - 1] = row_of(c, first, past, length > 1 ? &c->shorter[length - 2] : NULL);
        row_keep(c, &c->shorter[length - 1]);
    }
    if (c->n_rows > 0) return VOUCH_OK;
    return vouch_fail(c->err, VOUCH_E_ARGUMENT, "no token came twice in %lld tokens of answers: raise `n_tokens`",
                      (long long)c->n_tokens);
}

/* --------------------------------------------------------------------- file */

static vouch_status write_rows(const counting *c, const char *path)
{
    const train_table_file *f = c->file;
    const int64_t contexts[] = {ORDERS, c->n_rows}, starts[] = {c->n_rows + 1}, tokens[] = {c->n_kept};
    char recipe[160];
    vouch_gguf_writer *w;
    snprintf(recipe, sizeof recipe, "{\"tokens\": %" PRId64 ", \"sampled\": %g, \"seed\": %" PRIu64 "}", c->n_tokens,
             f->sampled, f->seed);
    VOUCH_TRY(vouch_gguf_writer_open(&w, c->err));
    vouch_gguf_add_text(w, "general.architecture", "vouch-table");
    vouch_gguf_add_text(w, "general.type", "table");
    vouch_gguf_add_text(w, "vouch-table.target.digest", f->digest);
    vouch_gguf_add_u32(w, "vouch-table.target.vocab_size", (uint32_t)f->n_vocab);
    vouch_gguf_add_text(w, "vouch-table.recipe", recipe);
    vouch_gguf_add_tensor(w, "contexts", VOUCH_TYPE_I32, 2, contexts, c->contexts);
    vouch_gguf_add_tensor(w, "starts", VOUCH_TYPE_I32, 1, starts, c->starts);
    vouch_gguf_add_tensor(w, "tokens", VOUCH_TYPE_I32, 1, tokens, c->tokens);
    vouch_gguf_add_tensor(w, "shares", VOUCH_TYPE_F16, 1, tokens, c->shares);
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
    free(c.starts);
    free(c.tokens);
    free(c.shares);
    return status;
}
