/* SPDX-License-Identifier: MIT */
#include "train/teach/student_teach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/philox.h"
#include "train/network/ops.h"

enum { HELD_TOKENS = 1000 }; /* tokens of answers held back, on which the progress is measured */

/* ----------------------------------------------------------------------- batches */

static int32_t output_of(const int32_t *outputs, int32_t token)
{
    return outputs && token >= 0 ? outputs[token] : token;
}

/* Adds the last rows of an answer, at most max_rows; there is room. outputs [n_vocab]: the index of a token among the
 * outputs, or -1; NULL: the token itself. The last token has no row: nothing follows it. */
static void space_add(train_space *space, const train_sequence *s, const int32_t *outputs)
{
    train_rows *rows = &space->batch.rows;
    const int64_t n = s->answer.n_tokens - 1, begin = n > space->max_rows ? n - space->max_rows : 0;
    for (int64_t t = begin; t < n; t++, rows->n++) {
        const int64_t to = rows->n;
        space->tokens[to] = s->tokens[t];
        space->positions[to] = (int32_t)t;
        space->labels[to] = output_of(outputs, s->tokens[t + 1]);
        space->counts[to] = t + 1 >= s->answer.n_prompt;
        for (int64_t k = 0; k < TRAIN_TOP; k++) {
            space->ids[to * TRAIN_TOP + k] = output_of(outputs, s->ids[t * TRAIN_TOP + k]);
            space->p[to * TRAIN_TOP + k] = vouch_half_to_float(s->p[t * TRAIN_TOP + k]);
        }
    }
    space->ends[rows->packing.n++] = (int32_t)rows->n;
}

/* ---------------------------------------------------------------------- teaching */

typedef struct teacher {
    const train_student_course *course;
    int64_t n_outputs, n_frequent, n_drawn;
    real *cosines, *sines;
    real *rows, *bias; /* [n_outputs, n_embd] and [n_outputs] of a step */
    int32_t *outputs;  /* [n_vocab] indices among the frequent tokens, or -1 */
    int32_t *others;   /* [n_vocab - n_frequent] tokens, in an order that each step's draw changes and takes back */
    int32_t *swaps;    /* [n_drawn] */
    train_space shards[TRAIN_SHARDS];
    train_student_values *values[TRAIN_SHARDS]; /* of the workers */
} teacher;

static bool sees_all(const teacher *t)
{
    return t->n_outputs == t->course->student->n_vocab;
}

/* The frequent tokens come first among the outputs. */
static void outputs_fill(teacher *t)
{
    const train_student *s = t->course->student;
    const size_t row = (size_t)s->shape.layer.n_embd * sizeof(real);
    for (int64_t v = 0; v < s->n_vocab; v++) t->outputs[v] = -1;
    for (int64_t i = 0; i < t->n_frequent; i++) {
        t->outputs[t->course->frequent[i]] = (int32_t)i;
        memcpy(t->rows + i * s->shape.layer.n_embd, s->output + t->course->frequent[i] * s->shape.layer.n_embd, row);
        t->bias[i] = 0;
    }
    for (int64_t i = t->n_frequent; i < s->n_vocab; i++) t->others[i - t->n_frequent] = t->course->frequent[i];
    for (int64_t i = t->n_frequent; i < t->n_outputs; i++)
        t->bias[i] = real_log((real)(s->n_vocab - t->n_frequent) / (real)t->n_drawn);
}

static void lay_out(void *user, vouch_arena *arena, int32_t n_workers)
{
    teacher *t = user;
    const train_student *s = t->course->student;
    const int64_t n_embd = s->shape.layer.n_embd, n_positions = t->course->longest;
    const size_t n_angles = (size_t)(n_positions * (s->shape.layer.heads.head_dim / 2));
    t->cosines = vouch_arena_take(arena, n_angles, sizeof *t->cosines);
    t->sines = vouch_arena_take(arena, n_angles, sizeof *t->sines);
    if (!sees_all(t)) {
        t->rows = vouch_arena_take(arena, (size_t)(t->n_outputs * n_embd), sizeof *t->rows);
        t->bias = vouch_arena_take(arena, (size_t)t->n_outputs, sizeof *t->bias);
        t->outputs = vouch_arena_take(arena, (size_t)s->n_vocab, sizeof *t->outputs);
        t->others = vouch_arena_take(arena, (size_t)(s->n_vocab - t->n_frequent), sizeof *t->others);
        t->swaps = vouch_arena_take(arena, (size_t)t->n_drawn, sizeof *t->swaps);
    }
    for (int i = 0; i < TRAIN_SHARDS; i++) train_space_take(&t->shards[i], arena, 0, TRAIN_ROWS);
    for (int32_t i = 0; i < n_workers; i++) {
        train_student_values scratch;
        t->values[i] = vouch_arena_take(arena, 1, sizeof *t->values[i]);
        train_student_values_take(t->values[i] ? t->values[i] : &scratch, arena, s, TRAIN_ROWS, TRAIN_ROWS,
                                  t->n_outputs);
    }
    if (!t->cosines) return;
    train_student_angles(s, t->cosines, t->sines, n_positions);
    if (!sees_all(t)) outputs_fill(t);
}

static train_space *clear(void *user, int32_t shard)
{
    teacher *t = user;
    train_space_clear(&t->shards[shard], t->cosines, t->sines);
    return &t->shards[shard];
}

static void add(void *user, const train_lessons_set *set, train_space *shard, const train_sequence *answer)
{
    const teacher *t = user;
    (void)set;
    space_add(shard, answer, t->outputs);
}

/* Draws output rows of other tokens, each with the same probability, by the first steps of Fisher's and Yates's
 * shuffle. The swaps are taken back, so that a step's draw depends on the seed and the step alone. */
static void begin(void *user, int64_t step)
{
    teacher *t = user;
    const train_student *s = t->course->student;
    const int64_t n = s->n_vocab - t->n_frequent, n_embd = s->shape.layer.n_embd;
    for (int64_t i = 0; i < t->n_drawn; i++) {
        const double u = vouch_uniform_of(t->course->seed, step, VOUCH_PURPOSE_DRAFT, (uint32_t)i);
        const int64_t j = i + (int64_t)(u * (double)(n - i));
        const int32_t token = t->others[j];
        t->others[j] = t->others[i];
        t->others[i] = token;
        t->swaps[i] = (int32_t)j;
        memcpy(t->rows + (t->n_frequent + i) * n_embd, s->output + token * n_embd, (size_t)n_embd * sizeof(real));
    }
    for (int64_t i = t->n_drawn - 1; i >= 0; i--) {
        const int32_t token = t->others[i];
        t->others[i] = t->others[t->swaps[i]];
        t->others[t->swaps[i]] = token;
    }
}

static void run(void *user, int32_t worker, int32_t shard, int64_t counted, real *grads, train_sums *sums)
{
    teacher *t = user;
    const train_student *s = t->course->student;
    const train_outputs all = {s->n_vocab, s->output, NULL}, some = {t->n_outputs, t->rows, t->bias};
    train_goal goal = t->course->goal;
    if (t->shards[shard].batch.rows.n == 0) return;
    goal.weights[0] = 1 / (real)counted;
    train_student_run(t->values[worker], s, grads, sees_all(t) ? &all : &some, &t->shards[shard].batch, &goal);
    train_sums_add(sums, &t->values[worker]->sums);
}

static void follow(void *user)
{
    const teacher *t = user;
    train_student_merge(t->course->student);
}

static vouch_status measure(void *user, train_score *held, vouch_error *err)
{
    const teacher *t = user;
    const train_lessons_set *set = t->course->set;
    train_student_score score = {0};
    VOUCH_TRY(train_student_measure(&score, t->course->student, set, set->n_taught, set->n, HELD_TOKENS, err));
    *held = score.greedy;
    return VOUCH_OK;
}

static uint64_t settings_hash(const train_student_course *c)
{
    const train_layer_shape *l = &c->student->shape.layer;
    const double numbers[] = {(double)c->goal.loss, c->goal.beta,      (double)c->student->shape.n_layers,
                              (double)l->n_embd,    (double)l->n_ff,   (double)l->heads.n_heads,
                              (double)c->n_outputs, c->lessons ? 1 : 0};
    uint64_t hash = vouch_hash_word(VOUCH_HASH_START, c->settings);
    hash = vouch_hash_bytes(hash, numbers, sizeof numbers);
    if (c->student->lora.rank > 0) hash = vouch_hash_word(hash, (uint64_t)c->student->lora.rank);
    return vouch_hash_bytes(hash, c->set->header, sizeof *c->set->header);
}

static train_descent descent_of(const train_student_course *c, teacher *t)
{
    const int64_t n_vocab = c->student->n_vocab;
    *t = (teacher){.course = c, .n_outputs = n_vocab, .n_frequent = n_vocab};
    if (c->n_outputs < n_vocab) {
        t->n_outputs = c->n_outputs;
        t->n_drawn = c->n_outputs / 8;
        t->n_frequent = c->n_outputs - t->n_drawn;
    }
    const train_network network = {.weights = train_student_learned(c->student),
                                   .n_weights = train_student_n_learned(c->student),
                                   .n_sums = 1,
                                   .settings = settings_hash(c),
                                   .lay_out = lay_out,
                                   .clear = clear,
                                   .add = add,
                                   .begin = begin,
                                   .run = run,
                                   .follow = follow,
                                   .measure = measure,
                                   .user = t};
    return (train_descent){.network = network,
                           .set = c->set,
                           .lessons = c->lessons,
                           .adam = c->adam,
                           .n_epochs = c->n_epochs,
                           .n_rounds = c->n_rounds,
                           .n_rowless = 1,
                           .seed = c->seed,
                           .checkpoint = c->checkpoint,
                           .checkpoint_seconds = c->checkpoint_seconds,
                           .pool = c->pool,
                           .report = c->report,
                           .is_cancelled = c->is_cancelled,
                           .user = c->user};
}

double train_student_teach_bytes(const train_student_course *course)
{
    teacher t;
    const train_descent descent = descent_of(course, &t);
    return train_descent_bytes(&descent) + (double)course->student->lora.arena.size;
}

vouch_status train_student_teach(const train_student_course *course, vouch_error *err)
{
    teacher t;
    train_descent descent = descent_of(course, &t);
    return train_descend(&descent, err);
}

/* --------------------------------------------------------------------- measuring */

typedef struct examiner {
    train_space space;
    train_student_values values;
    real *cosines, *sines;
    vouch_arena arena;
} examiner;

static vouch_status examiner_open(examiner *e, const train_student *student, int64_t longest, vouch_error *err)
{
    const size_t n_angles = (size_t)(longest * (student->shape.layer.heads.head_dim / 2));
    *e = (examiner){0};
    for (int twice = 0; twice < 2; twice++) {
        train_space_take(&e->space, &e->arena, 0, longest);
        train_student_values_take(&e->values, &e->arena, student, longest, longest, student->n_vocab);
        e->cosines = vouch_arena_take(&e->arena, n_angles, sizeof *e->cosines);
        e->sines = vouch_arena_take(&e->arena, n_angles, sizeof *e->sines);
        if (twice == 0) VOUCH_TRY(vouch_arena_allocate(&e->arena, "measuring a draft model", err));
    }
    train_student_angles(student, e->cosines, e->sines, longest);
    return VOUCH_OK;
}

static void examine(examiner *e, train_student_score *score, const train_student *student, const train_sequence *s)
{
    const train_outputs outputs = {student->n_vocab, student->output, NULL};
    const train_goal goal = {.loss = TRAIN_TOTAL_VARIATION};
    const uint8_t *hits[TRAIN_MEASURED_DEPTH];
    train_space_clear(&e->space, e->cosines, e->sines);
    space_add(&e->space, s, NULL);
    train_student_run(&e->values, student, NULL, &outputs, &e->space.batch, &goal);
    score->n_rows += e->values.sums.rows;
    score->accepted += (double)e->values.sums.rows - e->values.sums.loss;
    for (int g = 0; g < TRAIN_MEASURED_DEPTH; g++) hits[g] = e->values.hits;
    if (!s->answer.is_sampled) train_score_add(&score->greedy, hits, TRAIN_MEASURED_DEPTH, &e->space.batch);
}

vouch_status train_student_measure(train_student_score *score, const train_student *student,
                                   const train_lessons_set *set, int32_t from, int32_t to, int64_t max_tokens,
                                   vouch_error *err)
{
    examiner e;
    vouch_status status = examiner_open(&e, student, set->longest, err);
    for (int32_t i = from; i < to && score->n_rows < max_tokens && !status; i++) {
        train_sequence s;
        status = train_states_read(set->states, (size_t)set->order[i], set->header, &s, err);
        if (status) break;
        examine(&e, score, student, &s);
        free(s.tokens);
    }
    vouch_arena_free(&e.arena);
    return status;
}
