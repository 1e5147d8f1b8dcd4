/* SPDX-License-Identifier: MIT */
#include "train/lessons/lessons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURED_ROWS = 20000 }; /* rows that mean and scale are taken from */

typedef struct numbered {
    int32_t number, chunk;
} numbered;

static int numbered_compare(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Answers in the order of their numbers, those held back last. */
static vouch_status order_make(train_lessons_set *set, vouch_error *err)
{
    const int32_t n = set->n;
    numbered *all = malloc((size_t)n * sizeof *all);
    set->order = malloc((size_t)n * sizeof *set->order);
    vouch_status status =
        all && set->order ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for %d answers", (int)n);
    for (int32_t i = 0; i < n && !status; i++) {
        train_answer answer;
        status = train_states_peek(set->states, (size_t)i, &answer, err);
        all[i] = (numbered){answer.number, i};
        if (answer.n_tokens > set->longest) set->longest = answer.n_tokens;
    }
    if (!status) qsort(all, (size_t)n, sizeof *all, numbered_compare);
    for (int32_t held = 0, to = 0; held < 2 && !status; held++) {
        for (int32_t i = 0; i < n; i++)
            if ((i % TRAIN_HELD == TRAIN_HELD / 2) == held) set->order[to++] = all[i].chunk;
        if (held == 0) set->n_taught = to;
    }
    free(all);
    return status;
}

static vouch_status rows_count(train_lessons_set *set, vouch_error *err)
{
    for (int32_t i = 0; i < set->n; i++) {
        train_answer answer;
        VOUCH_TRY(train_states_peek(set->states, (size_t)set->order[i], &answer, err));
        *(i < set->n_taught ? &set->n_rows : &set->n_held) += answer.n_tokens - answer.n_prompt;
    }
    return VOUCH_OK;
}

/* Adds the taps of a sequence's counted rows to sums and sums of squares. Returns their number. */
static int64_t sums_add(const train_lessons_set *set, const train_sequence *s, double *sums, double *squares)
{
    const int64_t n = s->answer.n_tokens;
    int64_t rows = 0;
    for (int64_t t = train_lessons_first(s); t < n; t++, rows++)
        for (int64_t i = 0; i < set->n_features; i++) {
            const double x = (double)vouch_half_to_float(s->taps[t * set->n_features + i]);
            sums[i] += x;
            squares[i] += x * x;
        }
    return rows;
}

static vouch_status scale_make(train_lessons_set *set, double *sums, vouch_error *err)
{
    double *squares = sums + set->n_features;
    int64_t rows = 0;
    if (set->n_features == 0) return VOUCH_OK;
    for (int32_t i = 0; i < set->n_taught && rows < MEASURED_ROWS; i++) {
        train_sequence s;
        VOUCH_TRY(train_states_read(set->states, (size_t)set->order[i], set->header, &s, err));
        rows += sums_add(set, &s, sums, squares);
        free(s.tokens);
    }
    for (int64_t i = 0; i < set->n_features; i++) {
        const double mean = sums[i] / (double)rows, variance = squares[i] / (double)rows - mean * mean;
        set->mean[i] = (float)mean;
        set->inv_scale[i] = (float)(1 / sqrt(variance > 1e-10 ? variance : 1e-10));
        if (!isfinite(mean) || !isfinite(variance))
            return vouch_fail(err, VOUCH_E_NUMERIC, "states: element %lld isn't finite", (long long)i);
    }
    return VOUCH_OK;
}

vouch_status train_lessons_open(train_lessons_set *set, const train_chunks *states, const train_states_header *header,
                                const vouch_weights *weights, vouch_error *err)
{
    *set = (train_lessons_set){.states = states,
                               .header = header,
                               .weights = weights,
                               .n_features = (int64_t)header->n_taps * header->n_embd,
                               .n = (int32_t)train_chunks_n(states)};
    if (set->n < TRAIN_LEAST_ANSWERS)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "%d answers are too few to learn from: expected at least %d; raise `n_tokens` or give more "
                          "prompts",
                          (int)set->n, TRAIN_LEAST_ANSWERS);
    double *sums = calloc(2 * (size_t)set->n_features + 1, sizeof *sums);
    set->mean = calloc((size_t)set->n_features + 1, sizeof *set->mean);
    set->inv_scale = calloc((size_t)set->n_features + 1, sizeof *set->inv_scale);
    vouch_status status = sums && set->mean && set->inv_scale
                              ? VOUCH_OK
                              : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the scale of states");
    if (!status) status = order_make(set, err);
    if (!status) status = rows_count(set, err);
    if (!status) status = scale_make(set, sums, err);
    free(sums);
    return status;
}

void train_lessons_close(train_lessons_set *set)
{
    free(set->mean);
    free(set->inv_scale);
    free(set->order);
}

void train_lessons_features(const train_lessons_set *set, const train_sequence *sequence, int64_t t, float *out)
{
    const uint16_t *taps = sequence->taps + t * set->n_features;
    for (int64_t i = 0; i < set->n_features; i++)
        out[i] = (vouch_half_to_float(taps[i]) - set->mean[i]) * set->inv_scale[i];
}

void train_lessons_final(const train_lessons_set *set, const train_sequence *sequence, int64_t t, float *out)
{
    const int64_t n = set->header->n_embd;
    const uint16_t *last = sequence->taps + (t + 1) * set->n_features - n; /* the last layer is the last tap */
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        out[i] = vouch_half_to_float(last[i]);
        sum += (double)(out[i] * out[i]);
    }
    const float factor = (float)(1 / sqrt(sum / (double)n + (double)set->weights->hparams.norm_eps));
    for (int64_t i = 0; i < n; i++) out[i] *= factor;
}
