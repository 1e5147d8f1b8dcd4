/* SPDX-License-Identifier: MIT */
/* The rows of a pass: whose they are, what they see, and where their keys and values go. */
#include "model/pass/pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "model/pass/forward.h"
#include "model/stage/affine.h"

struct vouch_pass {
    vouch_workspace space;
    vouch_row *rows; /* [max_rows] of vouch_pass_chain and vouch_pass_tree */
};

vouch_status vouch_pass_open(vouch_pass **out, const vouch_weights *weights, vouch_pool *pool,
                             const vouch_pass_options *options, vouch_error *err)
{
    *out = NULL;
    vouch_pass *pass = calloc(1, sizeof *pass);
    if (!pass) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a pass");
    vouch_status status = vouch_workspace_open(&pass->space, weights, pool, options, err);
    if (status == VOUCH_OK) {
        pass->rows = calloc((size_t)options->max_rows, sizeof *pass->rows);
        if (!pass->rows) status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the rows of a pass");
    }
    if (status == VOUCH_OK) *out = pass;
    else vouch_pass_close(pass);
    return status;
}

void vouch_pass_close(vouch_pass *pass)
{
    if (!pass) return;
    vouch_workspace_close(&pass->space);
    free(pass->rows);
    free(pass);
}

size_t vouch_pass_bytes(const vouch_pass *pass)
{
    return sizeof *pass + vouch_workspace_bytes(&pass->space) + (size_t)pass->space.max_rows * sizeof *pass->rows;
}

/* ---------------------------------------------------------------------- rows */

/* Adds row r to the tree of its memory, and to its neighbours' run. */
static void add_row(vouch_workspace *c, const vouch_row *row, int32_t r)
{
    vouch_memory *m = row->memory;
    assert(row->input || (row->token >= 0 && row->token < c->weights->hparams.n_vocab));
    if (r == 0 || c->runs[c->n_runs - 1].memory != m)
        c->runs[c->n_runs++] = (row_run){.memory = m, .read = m, .begin = r, .first = m->n_rows};
    row_run *run = &c->runs[c->n_runs - 1];
    int32_t slot = m->n_tokens, depth = 0;
    if (row->kept) {
        vouch_memory_add_token(m);
        run->first--;
    } else {
        const int32_t number = vouch_memory_add_row(m, row->parent);
        slot += number;
        depth = m->depths[number];
    }
    assert(slot < c->n_slots);
    c->tokens[r] = row->token;
    c->inputs[r] = row->input;
    c->seconds[r] = row->second;
    c->slots[r] = (row_slot){.store = m->store,
                             .page = m->pages[slot / m->store->page_size],
                             .slot = slot % m->store->page_size,
                             .position = row->kept ? slot : m->n_tokens + depth};
    if (row->sees_all) run->n_open = slot + 1;
    if (row->lender) {
        run->read = row->lender;
        run->n_open = c->slots[r].position = row->lender->n_tokens;
        assert(run->n_open > 0 && run->n_open < c->n_slots);
    }
    run->end = r + 1;
    run->is_chain = m->n_chain == m->n_rows;
    if (row->logits) c->logits_rows[c->n_logits++] = r;
    if (row->hidden) c->hidden_rows[c->n_hidden++] = r;
}

/* The scales of adapters are those of the rows' sequences, unless tokens choose them (adapters.h). */
static void take_adapters(vouch_workspace *c, const vouch_row *rows)
{
    const size_t n = (size_t)c->weights->adapters.n;
    if (n == 0 || c->weights->hparams.adapters.n > 0) return;
    for (int32_t r = 0; r < c->n_rows; r++) {
        float *to = c->adapters.scales + (size_t)r * n;
        if (rows[r].memory->scales) memcpy(to, rows[r].memory->scales, n * sizeof *to);
        else memset(to, 0, n * sizeof *to);
    }
    vouch_adapters_list(c);
}

void vouch_pass_run(vouch_pass *pass, const vouch_row *rows, int32_t n)
{
    vouch_workspace *c = &pass->space;
    assert(n >= 1 && n <= c->max_rows);
    c->n_rows = n;
    c->n_runs = c->n_logits = c->n_hidden = 0;
    for (int32_t r = 0; r < n; r++) add_row(c, &rows[r], r);
    assert(c->n_logits <= c->max_logits);
    take_adapters(c, rows);
    for (row_run *run = c->runs; run < c->runs + c->n_runs; run++)
        vouch_states_plan(&run->memory->states, run->memory->parents, run->memory->n_rows);
    vouch_forward(c);
    for (row_run *run = c->runs; run < c->runs + c->n_runs; run++) run->memory->states.n_pending = 0;
}

/* Runs n rows of one sequence, kept or provisional; parents NULL: a chain. */
static void run_alone(vouch_pass *pass, vouch_memory *m, const int32_t *tokens, bool kept, const int32_t *parents,
                      int32_t n, int32_t n_logits)
{
    assert(n <= pass->space.max_rows && n_logits >= 0 && n_logits <= n);
    const bool has_room = vouch_memory_reserve(m, n);
    assert(has_room);
    (void)has_room;
    for (int32_t r = 0; r < n; r++)
        pass->rows[r] = (vouch_row){.memory = m,
                                    .token = tokens[r],
                                    .kept = kept,
                                    .parent = parents ? parents[r] : m->n_rows + r - 1,
                                    .logits = r >= n - n_logits,
                                    .hidden = true};
    vouch_pass_run(pass, pass->rows, n);
}

void vouch_pass_chain(vouch_pass *pass, vouch_memory *memory, const int32_t *tokens, int32_t n, int32_t n_logits)
{
    vouch_memory_keep_rows(memory, 0);
    run_alone(pass, memory, tokens, true, NULL, n, n_logits);
}

void vouch_pass_tree(vouch_pass *pass, vouch_memory *memory, const int32_t *tokens, const int32_t *parents, int32_t n,
                     int32_t n_logits)
{
    run_alone(pass, memory, tokens, false, parents, n, n_logits);
}

float *vouch_pass_logits(vouch_pass *pass, int32_t i)
{
    const vouch_workspace *c = &pass->space;
    assert(i >= 0 && i < c->n_logits);
    return c->logits + (size_t)i * (size_t)c->output->n_out;
}

const float *vouch_pass_hidden(const vouch_pass *pass, int32_t i)
{
    const vouch_workspace *c = &pass->space;
    assert(i >= 0 && i < c->n_hidden);
    return c->x + (size_t)c->hidden_rows[i] * (size_t)c->weights->hparams.n_embd;
}

vouch_status vouch_pass_open_tap(vouch_pass *pass, int32_t layer, vouch_error *err)
{
    assert(layer >= 0 && layer < pass->space.weights->hparams.n_layers);
    return vouch_workspace_open_tap(&pass->space, layer, err);
}

const float *vouch_pass_tap(const vouch_pass *pass, int32_t layer, int32_t i)
{
    const vouch_workspace *c = &pass->space;
    if (layer == c->weights->hparams.n_layers - 1) return vouch_pass_hidden(pass, i);
    assert(c->taps[layer].x && i >= 0 && i < c->n_hidden);
    return c->taps[layer].x + (size_t)i * (size_t)c->weights->hparams.n_embd;
}
