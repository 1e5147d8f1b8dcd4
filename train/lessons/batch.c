/* SPDX-License-Identifier: MIT */
#include "train/lessons/batch.h"

#include <string.h>

void train_space_take(train_space *space, vouch_arena *arena, int64_t n_features, int64_t max_rows)
{
    const size_t rows = (size_t)max_rows;
    space->max_rows = max_rows;
    space->features = vouch_arena_take(arena, rows * (size_t)n_features, sizeof(float));
    space->tokens = vouch_arena_take(arena, rows, sizeof(int32_t));
    space->positions = vouch_arena_take(arena, rows, sizeof(int32_t));
    space->ends = vouch_arena_take(arena, rows, sizeof(int32_t));
    space->labels = vouch_arena_take(arena, rows, sizeof(int32_t));
    space->ids = vouch_arena_take(arena, rows * TRAIN_TOP, sizeof(int32_t));
    space->p = vouch_arena_take(arena, rows * TRAIN_TOP, sizeof(float));
    space->counts = vouch_arena_take(arena, rows, 1);
}

void train_space_clear(train_space *space, const float *cosines, const float *sines)
{
    space->batch = (train_batch){
        .rows = {.packing = {space->ends, 0}, .positions = space->positions, .cosines = cosines, .sines = sines},
        .features = space->features,
        .tokens = space->tokens,
        .lessons = {TRAIN_TOP, space->ids, space->p, space->labels, space->counts}};
}

static int32_t draft_of(const int32_t *drafts, int32_t token)
{
    return drafts && token >= 0 ? drafts[token] : token;
}

/* Row t of an answer becomes row `to` of the batch. */
static void row_fill(train_space *space, const train_lessons_set *set, const train_sequence *s, const int32_t *drafts,
                     int64_t t, int64_t to)
{
    train_lessons_features(set, s, t, space->features + to * set->n_features);
    space->tokens[to] = s->tokens[t + 1];
    space->positions[to] = (int32_t)t + 1;
    space->labels[to] = draft_of(drafts, s->tokens[t + 2]);
    space->counts[to] = t >= train_lessons_first(s);
    for (int64_t k = 0; k < TRAIN_TOP; k++) {
        const int64_t from = (t + 1) * TRAIN_TOP + k;
        space->ids[to * TRAIN_TOP + k] = draft_of(drafts, s->ids[from]);
        space->p[to * TRAIN_TOP + k] = vouch_half_to_float(s->p[from]);
    }
}

bool train_space_add(train_space *space, const train_lessons_set *set, const train_sequence *sequence,
                     const int32_t *drafts, int64_t max_length)
{
    train_rows *rows = &space->batch.rows;
    const int64_t n = sequence->answer.n_tokens - 2, begin = n > max_length ? n - max_length : 0;
    if (n <= 0) return true;
    if (rows->n + n - begin > space->max_rows) return false;
    for (int64_t t = begin; t < n; t++) row_fill(space, set, sequence, drafts, t, rows->n + t - begin);
    rows->n += n - begin;
    space->ends[rows->packing.n++] = (int32_t)rows->n;
    return true;
}
