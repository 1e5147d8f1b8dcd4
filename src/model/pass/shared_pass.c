/* SPDX-License-Identifier: MIT */
#include "model/pass/shared_pass.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"

/* ------------------------------------------------------------------- opening */

static void layout_head(vouch_shared_pass *p, const int32_t *tokens, vouch_arena *arena)
{
    const vouch_weights *w = p->weights;
    const size_t n = (size_t)p->needs.n_output;
    int32_t *copy = vouch_arena_take(arena, n, sizeof *copy);
    if (copy) memcpy(copy, tokens, n * sizeof *copy);
    p->needs.output = copy;
    if (!vouch_matrix_shape(&p->output, w->output->type, p->needs.n_output, w->output->n_in)) arena->overflow = true;
    p->output.data = vouch_arena_take(arena, (size_t)p->output.n_tiles, p->output.tile_bytes);
    if (w->output_bias) p->output_bias = vouch_arena_take(arena, n, sizeof *p->output_bias);
}

/* Copies the rows of the output matrix that the tokens need. */
static vouch_status pick_output(vouch_shared_pass *p, const int32_t *tokens, vouch_error *err)
{
    vouch_arena arena = {0};
    layout_head(p, tokens, &arena);
    VOUCH_TRY(vouch_arena_allocate(&arena, "the rows of draft_vocab in the output matrix", err));
    layout_head(p, tokens, &arena);
    p->arena = arena;
    vouch_matrix_pick(&p->output, p->weights->output, tokens);
    for (int32_t i = 0; p->output_bias && i < p->needs.n_output; i++)
        p->output_bias[i] = p->weights->output_bias[tokens[i]];
    return VOUCH_OK;
}

/* Opens the pass anew with these sizes. On failure the pass stays as it was. */
static vouch_status open_pass(vouch_shared_pass *p, const vouch_shared_passes *passes,
                              const vouch_shared_pass_options *needs, vouch_error *err)
{
    const int32_t n_sequences = vouch_max(passes->n_sequences, 1);
    /* All sequences of an engine together draft VOUCH_MAX_DRAFT guesses at most, so few levels have more rows with
     * logits. Where one has (heads that guess whole blocks), some sequences wait for another run. */
    const int32_t all = vouch_min(n_sequences * needs->max_logits, VOUCH_MAX_DRAFT);
    const int32_t max_logits = vouch_max(needs->max_logits, all);
    const int32_t max_rows = needs->max_rows + (n_sequences > 1 ? max_logits : 0);
    const vouch_pass_options options = {.n_ctx = needs->n_ctx,
                                        .max_rows = max_rows,
                                        .max_logits = max_logits,
                                        .output = needs->n_output > 0 ? &p->output : NULL,
                                        .output_bias = p->output_bias};
    vouch_pass *pass = NULL;
    vouch_row *rows = calloc((size_t)max_rows, sizeof *rows);
    if (!rows) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the rows of a draft model's pass");
    const vouch_status status = vouch_pass_open(&pass, p->weights, passes->pool, &options, err);
    if (status != VOUCH_OK) {
        free(rows);
        return status;
    }
    vouch_pass_close(p->pass);
    free(p->rows);
    p->pass = pass;
    p->rows = rows;
    p->max_rows = max_rows;
    p->max_logits = max_logits;
    p->needs.n_ctx = needs->n_ctx;
    p->needs.max_rows = needs->max_rows;
    p->needs.max_logits = needs->max_logits;
    return VOUCH_OK;
}

static void close_pass(vouch_shared_pass *p)
{
    vouch_pass_close(p->pass);
    free(p->rows);
    vouch_arena_free(&p->arena);
    free(p);
}

static vouch_shared_pass *find(const vouch_shared_passes *passes, const vouch_weights *weights,
                               const vouch_shared_pass_options *options)
{
    const size_t bytes = (size_t)options->n_output * sizeof *options->output;
    for (vouch_shared_pass *p = passes->first; p; p = p->next)
        if (p->weights == weights && p->needs.n_output == options->n_output &&
            (bytes == 0 || memcmp(p->needs.output, options->output, bytes) == 0))
            return p;
    return NULL;
}

static vouch_status add(vouch_shared_pass **out, vouch_shared_passes *passes, const vouch_weights *weights,
                        const vouch_shared_pass_options *options, vouch_error *err)
{
    vouch_shared_pass *p = calloc(1, sizeof *p);
    if (!p) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a draft model's pass");
    p->weights = weights;
    p->needs.n_output = options->n_output;
    vouch_weights_cost(weights, &p->cost);
    vouch_status status = options->n_output > 0 ? pick_output(p, options->output, err) : VOUCH_OK;
    if (status == VOUCH_OK) status = open_pass(p, passes, options, err);
    if (status != VOUCH_OK) {
        close_pass(p);
        return status;
    }
    p->next = passes->first;
    *out = passes->first = p;
    return VOUCH_OK;
}

/* Enlarges the pass where a sequence needs more than the sequences before it. */
static vouch_status enlarge(vouch_shared_pass *p, const vouch_shared_passes *passes,
                            const vouch_shared_pass_options *options, vouch_error *err)
{
    const vouch_shared_pass_options needs = {.n_ctx = vouch_max(p->needs.n_ctx, options->n_ctx),
                                             .max_rows = vouch_max(p->needs.max_rows, options->max_rows),
                                             .max_logits = vouch_max(p->needs.max_logits, options->max_logits),
                                             .n_output = p->needs.n_output};
    if (needs.n_ctx == p->needs.n_ctx && needs.max_rows == p->needs.max_rows && needs.max_logits == p->needs.max_logits)
        return VOUCH_OK;
    return open_pass(p, passes, &needs, err);
}

vouch_status vouch_shared_pass_take(vouch_shared_pass **out, vouch_shared_passes *passes, const vouch_weights *weights,
                                    const vouch_shared_pass_options *options, vouch_error *err)
{
    *out = NULL;
    vouch_shared_pass *p = find(passes, weights, options);
    if (p) VOUCH_TRY(enlarge(p, passes, options, err));
    else VOUCH_TRY(add(&p, passes, weights, options, err));
    p->n_sequences++;
    *out = p;
    return VOUCH_OK;
}

void vouch_shared_pass_release(vouch_shared_passes *passes, vouch_shared_pass *pass)
{
    if (!pass || --pass->n_sequences > 0) return;
    vouch_shared_pass **at = &passes->first;
    while (*at != pass) at = &(*at)->next;
    *at = pass->next;
    close_pass(pass);
}

size_t vouch_shared_passes_bytes(const vouch_shared_passes *passes)
{
    size_t bytes = 0;
    for (const vouch_shared_pass *p = passes->first; p; p = p->next)
        bytes += sizeof *p + p->arena.size + (size_t)p->max_rows * sizeof *p->rows + vouch_pass_bytes(p->pass);
    return bytes;
}

/* ------------------------------------------------------------------- running */

int32_t vouch_shared_pass_room(const vouch_shared_pass *pass, int32_t n_logits)
{
    return pass->n_logits + n_logits > pass->max_logits ? 0 : pass->max_rows - pass->n_rows;
}

vouch_row *vouch_shared_pass_rows(const vouch_shared_pass *pass)
{
    return pass->rows + pass->n_rows;
}

vouch_staged vouch_shared_pass_stage(vouch_shared_pass *pass, int32_t n)
{
    vouch_shared_pass *p = pass;
    const vouch_row *rows = p->rows + p->n_rows;
    const vouch_staged staged = {.n_rows = n, .first_logits = p->n_logits, .first_hidden = p->n_hidden};
    assert(n >= 1 && n <= p->max_rows - p->n_rows);
    const bool has_room = vouch_memory_reserve(rows->memory, n);
    assert(has_room); /* each sequence has pages for its whole context */
    (void)has_room;
    for (int32_t i = 0; i < n; i++) {
        assert(rows[i].memory == rows->memory);
        p->n_logits += rows[i].logits;
        p->n_hidden += rows[i].hidden;
    }
    p->n_rows += n;
    assert(p->n_logits <= p->max_logits);
    return staged;
}

void vouch_shared_pass_run(vouch_shared_passes *passes, vouch_shared_pass *pass)
{
    vouch_shared_pass *p = pass;
    if (p->n_rows == 0) return;
    const double start = vouch_now();
    vouch_pass_run(p->pass, p->rows, p->n_rows);
    p->seconds = vouch_now() - start;
    p->n_run = p->n_rows;
    if (p->n_run <= VOUCH_COST_ROWS) vouch_cost_learn(&p->cost, p->n_run, p->seconds);
    p->n_rows = p->n_logits = p->n_hidden = 0;
    passes->n_runs++;
    passes->n_rows += p->n_run;
}

double vouch_shared_pass_seconds(const vouch_shared_pass *pass, const vouch_staged *staged)
{
    return pass->seconds * staged->n_rows / pass->n_run;
}

double vouch_shared_pass_part(const vouch_shared_pass *pass, int32_t n_rows, int32_t n)
{
    n = vouch_max(vouch_min(n, pass->n_sequences), 1);
    const int32_t all = vouch_min(n * n_rows, VOUCH_COST_ROWS);
    return vouch_cost_of(&pass->cost, all) / (n * vouch_cost_of(&pass->cost, n_rows));
}

/* ----------------------------------------------------------------- sequences */

vouch_status vouch_shared_sequence_open(vouch_shared_sequence *out, vouch_shared_passes *passes,
                                        const vouch_weights *weights, const vouch_shared_sequence_options *options,
                                        vouch_error *err)
{
    *out = (vouch_shared_sequence){.passes = passes};
    const int32_t n_ctx = options->pass.n_ctx;
    const vouch_pages_options pages = vouch_pages_for(n_ctx, options->kv_type);
    const int32_t max_tree = options->max_tree > 0 ? options->max_tree : options->pass.max_rows;
    vouch_status status = vouch_pages_open(&out->pages, weights, &pages, err);
    if (status == VOUCH_OK) status = vouch_memory_open(&out->memory, out->pages, n_ctx, max_tree, err);
    if (status == VOUCH_OK) status = vouch_shared_pass_take(&out->shared, passes, weights, &options->pass, err);
    if (status != VOUCH_OK) vouch_shared_sequence_close(out);
    return status;
}

void vouch_shared_sequence_close(vouch_shared_sequence *sequence)
{
    vouch_shared_pass_release(sequence->passes, sequence->shared);
    vouch_memory_close(sequence->memory);
    vouch_pages_close(sequence->pages);
    *sequence = (vouch_shared_sequence){0};
}

size_t vouch_shared_sequence_bytes(const vouch_shared_sequence *sequence)
{
    return vouch_pages_bytes(sequence->pages) + vouch_memory_bytes(sequence->memory);
}

void vouch_shared_sequence_run(const vouch_shared_sequence *sequence)
{
    vouch_shared_pass_run(sequence->passes, sequence->shared);
}
