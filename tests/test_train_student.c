/* SPDX-License-Identifier: MIT */
/*
 * A draft model that learns. One step in single precision against PyTorch (golden/student.py): the loss and the
 * gradient of each loss are the same to 1e-4, relative to the largest value.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/student.h"
#include "support/test.h"
#include "train/ops.h"
#include "train/student.h"

enum { ROWS = 12, LENGTH = 7, VOCAB = 13, OUTPUTS = 11, TOP = 4, WIDTH = 16 };

static const train_student_shape shape = {2, {WIDTH, 24, {4, 2, 4}, 1e-5f}};

/* The numbers that train.py makes by the same formula. */
static real *wave(int64_t n, double seed, double scale)
{
    real *x = malloc((size_t)n * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = (real)(sin((double)i * (1.3 + 0.1 * seed) + seed) * scale);
    return x;
}

typedef struct step {
    int64_t n; /* of the block */
    real *block, *grads, *embedding, *output, *bias, *cosines, *sines;
    train_student_values values;
    vouch_arena arena;
    train_batch batch;
    int32_t positions[ROWS], tokens[ROWS], ids[ROWS * TOP], labels[ROWS];
    float p[ROWS * TOP];
    uint8_t counts[ROWS];
} step;

static const int32_t ends[2] = {LENGTH, ROWS};

static void step_open(step *s)
{
    *s = (step){.n = train_student_size(&shape)};
    s->block = wave(s->n, 1, 0.4);
    s->grads = wave(s->n, 0, 0);
    s->embedding = wave(VOCAB * WIDTH, 2, 0.7);
    s->output = wave(OUTPUTS * WIDTH, 3, 0.5);
    s->bias = wave(OUTPUTS, 5, 0.3);
    s->cosines = wave(64, 0, 0);
    s->sines = wave(64, 0, 0);
    train_angles(s->cosines, s->sines, LENGTH, 4, 10000);
    for (int i = 0; i < ROWS; i++) {
        s->positions[i] = i < LENGTH ? i : i - LENGTH;
        s->tokens[i] = (5 * i + 3) % VOCAB;
        s->labels[i] = 3 * i % OUTPUTS;
        s->counts[i] = i != 2;
        for (int k = 0; k < TOP; k++) {
            s->ids[i * TOP + k] = (i + 2 * k) % OUTPUTS;
            s->p[i * TOP + k] = 0.4f / (float)(1 << k);
        }
    }
    s->ids[4 * TOP + 1] = -1; /* the outputs lack it */
    s->batch = (train_batch){.rows = {ROWS, {ends, 2}, s->positions, s->cosines, s->sines},
                             .tokens = s->tokens,
                             .lessons = {TOP, s->ids, s->p, s->labels, s->counts}};
    train_student_values_take(&s->values, &s->arena, &shape, ROWS, LENGTH, OUTPUTS);
    assert_int_equal(vouch_arena_allocate(&s->arena, "values", NULL), VOUCH_OK);
    train_student_values_take(&s->values, &s->arena, &shape, ROWS, LENGTH, OUTPUTS);
}

static void step_close(step *s)
{
    real *const all[] = {s->block, s->grads, s->embedding, s->output, s->bias, s->cosines, s->sines};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    vouch_arena_free(&s->arena);
}

static double step_run(step *s, train_loss kind)
{
    const train_goal goal = {kind, 0.4, {(real)0.7}};
    const train_outputs outputs = {OUTPUTS, s->output, s->bias};
    memset(s->grads, 0, (size_t)s->n * sizeof *s->grads);
    train_student_run(&s->values, s->block, s->grads, &shape, s->embedding, &outputs, &s->batch, &goal);
    assert_int_equal(s->values.sums.rows, ROWS - 1);
    return (double)goal.weights[0] * s->values.sums.loss;
}

/* The largest difference between every 17th x and golden [n], relative to the largest golden value. */
static double difference(const real *x, const double *golden, size_t n)
{
    double worst = 0, scale = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)x[17 * i] - golden[i]));
        scale = fmax(scale, fabs(golden[i]));
    }
    return worst / scale;
}

#define LOSS(kind, name) {kind, name##_loss, name##_block, sizeof name##_block / sizeof *name##_block}

static void gradients_are_those_of_pytorch(void **state)
{
    (void)state;
    static const struct {
        train_loss kind;
        const double *loss, *block;
        size_t n;
    } cases[] = {LOSS(TRAIN_FORWARD_KL, forward_kl), LOSS(TRAIN_REVERSE_KL, reverse_kl),
                 LOSS(TRAIN_JENSEN_SHANNON, jensen_shannon), LOSS(TRAIN_TOTAL_VARIATION, total_variation),
                 LOSS(TRAIN_CROSS_ENTROPY, cross_entropy)};
    step s;
    step_open(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double loss = step_run(&s, cases[i].kind);
        assert_true(fabs(loss / *cases[i].loss - 1) < 1e-5);
        assert_int_equal(cases[i].n, (size_t)(s.n + 16) / 17);
        assert_true(difference(s.grads, cases[i].block, cases[i].n) < 1e-4);
        /* Another loss has other gradients. */
        assert_true(difference(s.grads, cases[(i + 1) % 5].block, cases[i].n) > 1e-2);
    }
    step_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_pytorch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
