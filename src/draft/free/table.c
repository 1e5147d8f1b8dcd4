/* SPDX-License-Identifier: MIT */
/*
 * Guesses what followed the same last tokens in the target's answers to other prompts (draft_table.h): three
 * tokens, or else two, or else one. The table never changes, so there is nothing to observe and nothing to take back.
 *
 * A token's class is the length of the context and the token's share.
 */
#include "draft/registry.h"

#include <stdlib.h>

#include "base/tensor_type.h"
#include "format/open/open.h"
#include "model/head/draft_table.h"

enum { LEVELS = 13, ORDERS = VOUCH_TABLE_ORDERS };

typedef struct table {
    const vouch_table_rows *rows;
} table;

static void table_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)self;
    (void)tokens;
    (void)n_tokens;
}

static void table_rewind(void *self, int32_t n_tokens)
{
    (void)self;
    (void)n_tokens;
}

static int64_t table_start(const void *self)
{
    (void)self;
    return 0;
}

static int64_t table_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    (void)self;
    (void)prefix;
    (void)token;
    return 0;
}

static int32_t level_of(double share)
{
    static const double limits[LEVELS - 1] = {0.005, 0.015, 0.04, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.82, 0.92, 0.97};
    int32_t level = 0;
    while (level < LEVELS - 1 && share >= limits[level]) level++;
    return level;
}

static int32_t table_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const vouch_table_rows *rows = ((const table *)self)->rows;
    int32_t length = prefix->n_tail < ORDERS ? prefix->n_tail : ORDERS, row = -1;
    for (; length > 0; length--) {
        const vouch_table_context context = vouch_table_context_of(prefix->end, length);
        row = vouch_table_rows_find(rows, &context);
        if (row >= 0) break;
    }
    if (row < 0) return 0;
    const int32_t first = rows->starts[row], n = rows->starts[row + 1] - first;
    for (int32_t i = 0; i < n; i++) {
        const int32_t level = level_of((double)vouch_half_to_float(rows->shares[first + i]));
        out[i] = (vouch_candidate){rows->tokens[first + i], (ORDERS - length) * LEVELS + level};
    }
    return n;
}

/* Counted on 36,000 tokens of SmolLM2-135M's greedy answers to prompts that its table doesn't know. */
static double table_prior(int32_t kind)
{
    static const double priors[ORDERS][LEVELS] = {
        {0.010, 0.012, 0.023, 0.049, 0.09, 0.17, 0.28, 0.45, 0.59, 0.72, 0.80, 0.89, 0.96},
        {0.015, 0.019, 0.025, 0.045, 0.08, 0.19, 0.22, 0.36, 0.50, 0.57, 0.72, 0.82, 0.94},
        {0.025, 0.030, 0.035, 0.058, 0.09, 0.18, 0.21, 0.23, 0.34, 0.40, 0.60, 0.75, 0.80}};
    return kind == ORDERS * LEVELS ? 0.037 : priors[kind / LEVELS][kind % LEVELS];
}

static void table_close(void *self)
{
    free(self);
}

static size_t table_memory(const void *self)
{
    (void)self;
    return sizeof(table);
}

static uint64_t table_digest(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_source_ops table_ops = {
    .name = "table",
    .bit = VOUCH_DRAFTER_TABLE,
    .n_classes = ORDERS * LEVELS,
    .observe = table_observe,
    .rewind = table_rewind,
    .start = table_start,
    .step = table_step,
    .expand = table_expand,
    .prior = table_prior,
    .trust = 0.5,
    .close = table_close,
    .memory = table_memory,
    .digest = table_digest,
};

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    table *t = malloc(sizeof *t);
    if (!t) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a table (%zu bytes)", sizeof *t);
    t->rows = setup->files[VOUCH_DRAFTER_NUMBER_TABLE];
    *out = (vouch_source){.ops = &table_ops, .self = t};
    return VOUCH_OK;
}

static vouch_status open_file(void **out, const char *path, const vouch_draft_target *target, vouch_error *err)
{
    vouch_gguf *gguf;
    vouch_table_rows *rows;
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    const vouch_status status = vouch_table_rows_open(&rows, gguf, target, err);
    vouch_gguf_close(gguf);
    *out = rows;
    return status;
}

static void close_file(void *content)
{
    vouch_table_rows_close(content);
}

const vouch_drafter_type vouch_drafter_type_table = {
    .in_auto = true,
    .needs = "a table",
    .need = VOUCH_NEED_OPTION,
    .flags = "draft-table",
    .settings = "allow-other-head",
    .file =
        "table of what this model says after its last tokens, for the drafter table: `vouch distill --table` makes one",
    .open_file = open_file,
    .close_file = close_file,
    .lacks = "a table; set its file",
    .open_free = open_free};
