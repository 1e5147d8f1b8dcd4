/* SPDX-License-Identifier: MIT */
/*
 * One training step of a head in single precision against PyTorch (golden/train.py): the loss and the gradients of
 * each loss, and the weights after three steps of AdamW. Differences, relative to the largest value, are below 1e-4.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/train.h"
#include "support/test.h"
#include "train/adam.h"
#include "train/head.h"
#include "train/ops.h"

enum { ROWS = 12, LENGTH = 7, VOCAB = 13, DRAFT = 10, TOP = 4, FEATURES = 20, WIDTH = 16, GENERATIONS = 3 };

static const train_head_shape shape = {.n_features = FEATURES,
                                       .width = WIDTH,
                                       .n_draft = DRAFT,
                                       .n_layers = 1,
                                       .n_generations = GENERATIONS,
                                       .layer = {WIDTH, 24, {4, 2, 4}, 1e-5f},
                                       .eps = 1e-5f};

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
    real *block, *dblock, *features, *cosines, *sines;
    train_head head, grads;
    train_head_values values;
    vouch_arena arena;
    train_batch batch;
    int32_t positions[ROWS], tokens[ROWS], ids[ROWS * TOP], labels[ROWS];
    float p[ROWS * TOP];
    uint8_t counts[ROWS];
} step;

static const int32_t ends[2] = {LENGTH, ROWS};

static void step_open(step *s)
{
    *s = (step){.n = train_head_size(&shape)};
    s->block = wave(s->n, 1, 0.4);
    s->dblock = calloc((size_t)s->n, sizeof *s->dblock);
    s->head = train_head_at(&shape, s->block);
    s->grads = train_head_at(&shape, s->dblock);
    s->head.embedding = wave(VOCAB * WIDTH, 2, 0.7);
    s->head.output = wave(DRAFT * WIDTH, 3, 0.5);
    s->grads.output = calloc(DRAFT * WIDTH, sizeof(real));
    s->features = wave(ROWS * FEATURES, 4, 1);
    s->cosines = wave(64, 0, 0);
    s->sines = wave(64, 0, 0);
    train_angles(s->cosines, s->sines, LENGTH + 1, 4, 10000);
    for (int i = 0; i < ROWS; i++) {
        s->positions[i] = i < LENGTH ? i + 1 : i - LENGTH + 1;
        s->tokens[i] = (5 * i + 3) % VOCAB;
        s->labels[i] = 3 * i % DRAFT;
        s->counts[i] = i != 2;
        for (int k = 0; k < TOP; k++) {
            s->ids[i * TOP + k] = (i + 2 * k) % DRAFT;
            s->p[i * TOP + k] = 0.5f / (float)(1 << k);
        }
    }
    s->batch = (train_batch){{ROWS, {ends, 2}, s->positions, s->cosines, s->sines},
                             s->features,
                             s->tokens,
                             {TOP, s->ids, s->p, s->labels, s->counts}};
    train_head_values_take(&s->values, &s->arena, &shape, ROWS, LENGTH);
    assert_int_equal(vouch_arena_allocate(&s->arena, "values", NULL), VOUCH_OK);
    train_head_values_take(&s->values, &s->arena, &shape, ROWS, LENGTH);
}

static void step_close(step *s)
{
    real *const all[] = {s->block, s->dblock, s->features, s->cosines, s->sines, s->head.embedding,
                         s->head.output, s->grads.output};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    vouch_arena_free(&s->arena);
}

/* Loss and gradients. */
static double step_run(step *s, train_loss kind)
{
    const train_goal goal = {kind, 0.4, {1, (real)0.8, (real)0.6}};
    double loss = 0;
    memset(s->dblock, 0, (size_t)s->n * sizeof *s->dblock);
    memset(s->grads.output, 0, DRAFT * WIDTH * sizeof(real));
    train_head_run(&s->values, &s->head, &s->grads, &shape, &s->batch, &goal);
    train_head_back(&s->values, &s->head, &s->grads, &shape, &s->batch);
    for (int g = 0; g < GENERATIONS; g++) loss += (double)goal.weights[g] * s->values.sums[g].loss;
    return loss;
}

/* The largest difference between every stride-th x and golden [n], relative to the largest golden value. */
static double difference(const real *x, int64_t stride, const double *golden, size_t n)
{
    double worst = 0, scale = 0;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs((double)x[(int64_t)i * stride] - golden[i]));
        scale = fmax(scale, fabs(golden[i]));
    }
    return worst / scale;
}

#define GOLDEN(name) name, sizeof name / sizeof *name
#define LOSS(kind, name) {kind, name##_loss, GOLDEN(name##_block), GOLDEN(name##_output)}

static void gradients_are_those_of_pytorch(void **state)
{
    (void)state;
    static const struct {
        train_loss kind;
        const double *loss;
        const double *block;
        size_t n_block;
        const double *output;
        size_t n_output;
    } cases[] = {LOSS(TRAIN_FORWARD_KL, forward_kl), LOSS(TRAIN_REVERSE_KL, reverse_kl),
                 LOSS(TRAIN_JENSEN_SHANNON, jensen_shannon), LOSS(TRAIN_TOTAL_VARIATION, total_variation),
                 LOSS(TRAIN_CROSS_ENTROPY, cross_entropy)};
    step s;
    step_open(&s);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double loss = step_run(&s, cases[i].kind);
        assert_true(fabs(loss / *cases[i].loss - 1) < 1e-5);
        assert_true(difference(s.dblock, 7, cases[i].block, cases[i].n_block) < 1e-4);
        assert_true(difference(s.grads.output, 5, cases[i].output, cases[i].n_output) < 1e-4);
        /* Another loss has other gradients. */
        const double *other = cases[(i + 1) % 5].block;
        assert_true(difference(s.dblock, 7, other, cases[i].n_block) > 1e-2);
    }
    step_close(&s);
}

static void adam_steps_are_those_of_pytorch(void **state)
{
    (void)state;
    const train_adam adam = {
        .rate = 0.01, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decay = 0.02, .n_warm = 0, .n_steps = 1000000000};
    step s;
    step_open(&s);
    real *m = wave(s.n, 0, 0), *v = wave(s.n, 0, 0);
    for (int64_t i = 1; i <= 3; i++) {
        step_run(&s, TRAIN_FORWARD_KL);
        train_adam_step(&adam, i, s.block, m, v, s.dblock, s.n, adam.decay);
        if (i < 3) assert_true(difference(s.block, 7, GOLDEN(adam_block)) > 1e-3);
    }
    assert_true(difference(s.block, 7, GOLDEN(adam_block)) < 1e-4);
    free(m);
    free(v);
    step_close(&s);
}

static void the_learning_rate_rises_and_falls(void **state)
{
    (void)state;
    const train_adam adam = {.rate = 1, .n_warm = 10, .n_steps = 110};
    assert_true(fabs(train_adam_rate(&adam, 1) - 0.1) < 1e-12);
    assert_true(fabs(train_adam_rate(&adam, 10) - 1) < 1e-12);
    assert_true(fabs(train_adam_rate(&adam, 60) - 0.55) < 1e-12);
    assert_true(fabs(train_adam_rate(&adam, 110) - 0.1) < 1e-12);
    assert_true(fabs(train_adam_rate(&adam, 500) - 0.1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_pytorch),
        cmocka_unit_test(adam_steps_are_those_of_pytorch),
        cmocka_unit_test(the_learning_rate_rises_and_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
