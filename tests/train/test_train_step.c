/* SPDX-License-Identifier: MIT */
/*
 * One training step of a head in single precision against PyTorch (golden/train.py): the loss and the gradients of
 * each loss, and the weights after three steps of AdamW. Differences, relative to the largest value, are below 1e-4.
 */
#include <stdlib.h>
#include <string.h>

#include "golden/train.h"
#include "support/head/tiny_lessons.h"
#include "train/network/adam.h"

enum { DRAFT = 10, FEATURES = 20, WIDTH = 16, GENERATIONS = 3 };

static const train_head_shape shape = {.n_features = FEATURES,
                                       .width = WIDTH,
                                       .n_draft = DRAFT,
                                       .n_layers = 1,
                                       .n_generations = GENERATIONS,
                                       .layer = {WIDTH, 24, {4, 2, 4}, 1e-5f},
                                       .eps = 1e-5f};

typedef struct step {
    int64_t n; /* of the block */
    real *block, *dblock, *features;
    train_head head, grads;
    train_head_values values;
    vouch_arena arena;
    tiny_lessons lessons;
    train_batch batch;
} step;

static void step_open(step *s)
{
    *s = (step){.n = train_head_size(&shape)};
    s->block = tiny_wave(s->n, 1, 0.4);
    s->dblock = calloc((size_t)s->n, sizeof *s->dblock);
    s->head = train_head_at(&shape, s->block);
    s->grads = train_head_at(&shape, s->dblock);
    s->head.embedding = tiny_wave(LESSON_VOCAB * WIDTH, 2, 0.7);
    s->head.output = tiny_wave(DRAFT * WIDTH, 3, 0.5);
    s->grads.output = calloc(DRAFT * WIDTH, sizeof(real));
    s->features = tiny_wave(LESSON_ROWS * FEATURES, 4, 1);
    s->batch = tiny_lessons_make(&s->lessons, 1, DRAFT, 0.5f);
    s->batch.features = s->features;
    train_head_values_take(&s->values, &s->arena, &shape, LESSON_ROWS, LESSON_LENGTH);
    assert_int_equal(vouch_arena_allocate(&s->arena, "values", NULL), VOUCH_OK);
    train_head_values_take(&s->values, &s->arena, &shape, LESSON_ROWS, LESSON_LENGTH);
}

static void step_close(step *s)
{
    real *const all[] = {s->block, s->dblock, s->features, s->head.embedding, s->head.output, s->grads.output};
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
        assert_true(tiny_difference(s.dblock, 7, cases[i].block, cases[i].n_block) < 1e-4);
        assert_true(tiny_difference(s.grads.output, 5, cases[i].output, cases[i].n_output) < 1e-4);
        /* Another loss has other gradients. */
        const double *other = cases[(i + 1) % 5].block;
        assert_true(tiny_difference(s.dblock, 7, other, cases[i].n_block) > 1e-2);
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
    real *m = tiny_wave(s.n, 0, 0), *v = tiny_wave(s.n, 0, 0);
    for (int64_t i = 1; i <= 3; i++) {
        step_run(&s, TRAIN_FORWARD_KL);
        train_adam_step(&adam, i, s.block, m, v, s.dblock, s.n, adam.decay);
        if (i < 3) assert_true(tiny_difference(s.block, 7, GOLDEN(adam_block)) > 1e-3);
    }
    assert_true(tiny_difference(s.block, 7, GOLDEN(adam_block)) < 1e-4);
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
