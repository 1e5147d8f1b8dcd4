/* SPDX-License-Identifier: MIT */
#include "train/teach/measure.h"

#include <stdlib.h>

/* Counts a chain of guesses that begins at a row. Returns the number of accepted ones. */
static int32_t chain_add(train_rates *rates, const uint8_t *const *hits, int32_t n_generations, int64_t row,
                         int64_t end)
{
    int32_t g = 0;
    for (; g < n_generations && row + g < end; g++) {
        rates->reached[g]++;
        if (!hits[g][row + g]) break;
        rates->accepted[g]++;
    }
    return g;
}

void train_score_add(train_score *score, const uint8_t *const *hits, int32_t n_generations, const train_batch *batch)
{
    int64_t row = 0;
    for (int32_t s = 0; s < batch->rows.packing.n; s++) {
        const int64_t end = batch->rows.packing.ends[s];
        while (row < end && !batch->lessons.counts[row]) row++;
        for (int64_t i = row; i < end; i++) {
            chain_add(&score->anywhere, hits, n_generations, i, end);
            score->n_guessable += batch->lessons.labels[i] >= 0;
        }
        while (row < end) {
            const int32_t n = 1 + chain_add(&score->cycles, hits, n_generations, row, end);
            score->n_cycles++;
            score->n_tokens += n;
            row += n;
        }
        row = end;
    }
}

vouch_status train_measure(train_score *score, train_kinds *kinds, const train_taught *taught,
                           const train_lessons_set *set, int32_t from, int32_t to, int64_t max_tokens, vouch_error *err)
{
    train_space space;
    const uint8_t *hits[TRAIN_GENERATIONS];
    train_head_values *values = calloc(1, sizeof *values);
    vouch_arena arena = {0};
    vouch_status status = values ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to measure a head");
    for (int twice = 0; twice < 2 && !status; twice++) {
        train_space_take(&space, &arena, set->n_features, set->longest);
        train_head_values_take(values, &arena, taught->shape, set->longest, set->longest);
        if (twice == 0) status = vouch_arena_allocate(&arena, "measuring a head", err);
    }
    for (int32_t i = from; i < to && score->n_tokens < max_tokens && !status; i++) {
        train_sequence s;
        status = train_states_read(set->states, (size_t)set->order[i], set->header, &s, err);
        if (status) break;
        if (!s.answer.is_sampled) {
            train_space_clear(&space, taught->cosines, taught->sines);
            train_space_add(&space, set, &s, taught->drafts, set->longest);
            if (space.batch.rows.n > 0) {
                train_head_run(values, taught->head, NULL, taught->shape, &space.batch, NULL);
                for (int32_t g = 0; g < taught->shape->n_generations; g++) hits[g] = values->generations[g].hits;
                train_score_add(score, hits, taught->shape->n_generations, &space.batch);
                const bool is_known = kinds && (size_t)s.answer.number < kinds->n_prompts;
                const int32_t kind = is_known ? kinds->prompts[s.answer.number].kind : -1;
                if (kind >= 0 && kind < TRAIN_MOST_KINDS)
                    train_score_add(&kinds->scores[kind], hits, taught->shape->n_generations, &space.batch);
            }
        }
        free(s.tokens);
    }
    vouch_arena_free(&arena);
    free(values);
    return status;
}
