/* SPDX-License-Identifier: MIT */
#include "train/lessons/schedule.h"

#include <stdlib.h>

#include "base/hash.h"

vouch_status train_schedule_open(train_schedule *schedule, const train_lessons_set *set, uint64_t seed,
                                 int64_t max_rows, int32_t n_rowless, vouch_error *err)
{
    const size_t n = (size_t)set->n_taught;
    *schedule = (train_schedule){.set = set,
                                 .seed = seed,
                                 .max_rows = max_rows,
                                 .max_length = max_rows,
                                 .lengths = malloc(n * sizeof(int32_t)),
                                 .order = malloc(n * sizeof(int32_t)),
                                 .ordered = -1};
    if (!schedule->lengths || !schedule->order)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the order of %zu answers", n);
    for (size_t i = 0; i < n; i++) {
        train_answer answer;
        VOUCH_TRY(train_states_peek(set->states, (size_t)set->order[i], &answer, err));
        const int64_t rows = answer.n_tokens - n_rowless;
        schedule->lengths[i] = (int32_t)(rows < schedule->max_length ? rows : schedule->max_length);
    }
    return VOUCH_OK;
}

void train_schedule_close(train_schedule *schedule)
{
    free(schedule->lengths);
    free(schedule->order);
}

/* A random order by Fisher and Yates. */
static void order_make(train_schedule *s)
{
    const int32_t n = s->set->n_taught;
    uint64_t state = vouch_hash_word(vouch_hash_word(VOUCH_HASH_START, s->seed), (uint64_t)s->epoch);
    for (int32_t i = 0; i < n; i++) s->order[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        state = vouch_hash_word(state, (uint64_t)i);
        const int32_t j = (int32_t)(state % (uint64_t)(i + 1)), kept = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = kept;
    }
    s->ordered = s->epoch;
}

void train_schedule_next(train_schedule *s, train_step_plan *plan)
{
    if (s->ordered != s->epoch) order_make(s);
    for (int shard = 0; shard < TRAIN_SHARDS; shard++) {
        int64_t rows = 0;
        plan->n[shard] = 0;
        while (s->at < s->set->n_taught && plan->n[shard] < TRAIN_SHARD_SEQUENCES) {
            const int32_t answer = s->order[s->at];
            if (rows + s->lengths[answer] > s->max_rows) break;
            rows += s->lengths[answer];
            plan->answers[shard][plan->n[shard]++] = answer;
            s->at++;
        }
    }
    if (s->at < s->set->n_taught) return;
    s->at = 0;
    s->epoch++;
}

int64_t train_schedule_steps(train_schedule *s, int32_t n_epochs)
{
    train_step_plan plan;
    int64_t steps = 0;
    s->epoch = s->at = 0;
    for (; s->epoch < n_epochs; steps++) train_schedule_next(s, &plan);
    s->epoch = s->at = 0;
    return steps;
}
