/* SPDX-License-Identifier: MIT */
/*
 * Gradients of training against central differences, in double precision (VOUCH_TRAIN_DOUBLE): every part by itself,
 * every loss, a whole head unrolled over three generations, and a whole draft model. The largest difference, relative
 * to the largest gradient, stays below 1e-6. A gradient with one part left out must be caught.
 */
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "train/network/head.h"
#include "train/network/ops.h"
#include "train/network/student.h"

static test_random rng = {17};

static real *values_new(int64_t n)
{
    real *x = calloc((size_t)n, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) x[i] = (real)test_normal(&rng);
    return x;
}

/* A function of some inputs, whose gradients are to be checked. */
typedef double value_fn(void *user);

/* The largest difference between grads [n] and the central differences of `value` with respect to x [n]. */
static double difference(value_fn *value, void *user, real *x, const real *grads, int64_t n)
{
    const double step = 1e-5;
    double worst = 0, scale = 1e-12;
    for (int64_t i = 0; i < n; i++) {
        const real kept = x[i];
        x[i] = kept + step;
        const double above = value(user);
        x[i] = kept - step;
        const double below = value(user), slope = (above - below) / (2 * step);
        x[i] = kept;
        if (fabs(slope - grads[i]) > worst) worst = fabs(slope - grads[i]);
        if (fabs(slope) > scale) scale = fabs(slope);
    }
    return worst / scale;
}

#define CHECK(value, user, x, grads, n) assert_true(difference(value, user, x, grads, n) < 1e-6)

/* The sum of y[i] weights[i]: a loss whose gradient dy is `weights`. */
static double weighed(const real *y, const real *weights, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += y[i] * weights[i];
    return sum;
}

/* ---------------------------------------------------------------------- parts */

enum { ROWS = 5, N_IN = 6, N_OUT = 4 };

typedef struct part {
    real *x, *w, *y, *dy, *factors, *cosines, *sines;
} part;

static part part_new(void)
{
    part p = {values_new(64), values_new(64), values_new(64), values_new(64),
              values_new(64), values_new(64), values_new(64)};
    return p;
}

static void part_free(part *p)
{
    real *const all[] = {p->x, p->w, p->y, p->dy, p->factors, p->cosines, p->sines};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static double linear_value(void *user)
{
    part *p = user;
    train_linear(p->y, p->x, p->w, ROWS, N_OUT, N_IN);
    return weighed(p->y, p->dy, ROWS * N_OUT);
}

static void linear_has_its_gradients(void **state)
{
    (void)state;
    part p = part_new();
    real dx[ROWS * N_IN] = {0}, dw[N_OUT * N_IN] = {0};
    train_linear_back(dx, dw, p.dy, p.x, p.w, ROWS, N_OUT, N_IN);
    CHECK(linear_value, &p, p.x, dx, ROWS * N_IN);
    CHECK(linear_value, &p, p.w, dw, N_OUT * N_IN);
    dw[7] *= 1.01; /* a wrong gradient is noticed */
    assert_true(difference(linear_value, &p, p.w, dw, N_OUT * N_IN) > 1e-4);
    part_free(&p);
}

static double norm_value(void *user)
{
    part *p = user;
    train_norm(p->y, p->factors, p->x, p->w, ROWS, N_IN, 1e-3);
    return weighed(p->y, p->dy, ROWS * N_IN);
}

static void norm_has_its_gradients(void **state)
{
    (void)state;
    part p = part_new();
    real dx[ROWS * N_IN] = {0}, dw[N_IN] = {0};
    norm_value(&p);
    train_norm_back(dx, dw, p.dy, p.x, p.w, p.factors, ROWS, N_IN);
    CHECK(norm_value, &p, p.x, dx, ROWS * N_IN);
    CHECK(norm_value, &p, p.w, dw, N_IN);
    part_free(&p);
}

static double rotate_value(void *user)
{
    part *p = user;
    const int32_t positions[ROWS] = {0, 3, 1, 2, 3};
    memcpy(p->y, p->x, 64 * sizeof *p->y);
    train_rotate(p->y, p->cosines, p->sines, positions, ROWS, 3, 4, false);
    return weighed(p->y, p->dy, ROWS * 12);
}

static void rotation_has_its_gradients(void **state)
{
    (void)state;
    part p = part_new();
    const int32_t positions[ROWS] = {0, 3, 1, 2, 3};
    real dx[64];
    train_angles(p.cosines, p.sines, 4, 4, 100);
    memcpy(dx, p.dy, sizeof dx);
    train_rotate(dx, p.cosines, p.sines, positions, ROWS, 3, 4, true);
    CHECK(rotate_value, &p, p.x, dx, ROWS * 12);
    part_free(&p);
}

static double swiglu_value(void *user)
{
    part *p = user;
    train_swiglu(p->y, p->x, p->w, 64);
    return weighed(p->y, p->dy, 64);
}

static void swiglu_has_its_gradients(void **state)
{
    (void)state;
    part p = part_new();
    real dgate[64] = {0}, dup[64] = {0};
    train_swiglu_back(dgate, dup, p.dy, p.x, p.w, 64);
    CHECK(swiglu_value, &p, p.x, dgate, 64);
    CHECK(swiglu_value, &p, p.w, dup, 64);
    part_free(&p);
}

/* --------------------------------------------------------------------- losses */

enum { N_TOKENS = 7 };

typedef struct loss_case {
    train_loss kind;
    real p[N_TOKENS], z[N_TOKENS];
} loss_case;

static double loss_value(void *user)
{
    const loss_case *c = user;
    real z[N_TOKENS];
    memcpy(z, c->z, sizeof z);
    return train_loss_row(c->kind, 0.3, 1, c->p, z, N_TOKENS);
}

static void losses_have_their_gradients(void **state)
{
    (void)state;
    for (int kind = TRAIN_FORWARD_KL; kind <= TRAIN_CROSS_ENTROPY; kind++) {
        loss_case c = {.kind = kind};
        real grads[N_TOKENS], sum = 0;
        for (int i = 0; i < N_TOKENS; i++) {
            c.z[i] = test_normal(&rng);
            c.p[i] = kind == TRAIN_CROSS_ENTROPY ? i == 2 : exp(test_normal(&rng));
            sum += c.p[i];
        }
        for (int i = 0; i < N_TOKENS; i++) c.p[i] /= sum;
        memcpy(grads, c.z, sizeof grads);
        assert_true(train_loss_row(kind, 0.3, 1, c.p, grads, N_TOKENS) > 0);
        CHECK(loss_value, &c, c.z, grads, N_TOKENS);
    }
}

static double classes_value(void *user)
{
    const loss_case *c = user;
    const int32_t ids[3] = {5, 0, 3};
    real z[N_TOKENS];
    memcpy(z, c->z, sizeof z);
    return train_loss_classes(c->kind, 0.3, 1, ids, c->p, 3, c->p[3], z, N_TOKENS);
}

/* The loss over classes: its gradient, its bound, and a gradient that forgets the class of all other tokens. */
static void losses_over_classes_have_their_gradients(void **state)
{
    (void)state;
    for (int kind = TRAIN_FORWARD_KL; kind <= TRAIN_CROSS_ENTROPY; kind++) {
        const int32_t ids[3] = {5, 0, 3};
        loss_case c = {.kind = kind};
        real grads[N_TOKENS], whole[N_TOKENS] = {0}, z[N_TOKENS];
        for (int i = 0; i < N_TOKENS; i++) c.z[i] = test_normal(&rng);
        for (int i = 0; i < 4; i++) c.p[i] = kind == TRAIN_CROSS_ENTROPY ? i == 1 : 0.1 * (i + 1);
        memcpy(grads, c.z, sizeof grads);
        const double loss = train_loss_classes(kind, 0.3, 1, ids, c.p, 3, c.p[3], grads, N_TOKENS);
        CHECK(classes_value, &c, c.z, grads, N_TOKENS);
        for (int i = 0; i < N_TOKENS; i++) whole[i] = c.p[3] / 4; /* spread evenly over the others */
        for (int k = 0; k < 3; k++) whole[ids[k]] = c.p[k];
        memcpy(z, c.z, sizeof z);
        const double full = train_loss_row(kind, 0.3, 1, whole, z, N_TOKENS);
        assert_true(loss > 0 && (kind == TRAIN_CROSS_ENTROPY ? fabs(loss - full) < 1e-12 : loss < full));
        grads[1] = grads[2] = grads[4] = grads[6] = 0;
        assert_true(difference(classes_value, &c, c.z, grads, N_TOKENS) > 1e-3);
    }
}

/* Every divergence is 0 where q = p, and no gradient pulls it away from there. */
static void losses_vanish_at_their_goal(void **state)
{
    (void)state;
    for (int kind = TRAIN_FORWARD_KL; kind < TRAIN_CROSS_ENTROPY; kind++) {
        const real p[3] = {0.5, 0.3, 0.2};
        real z[3];
        for (int i = 0; i < 3; i++) z[i] = log(p[i]);
        assert_true(fabs(train_loss_row(kind, 0.5, 1, p, z, 3)) < 1e-12);
        for (int i = 0; i < 3; i++)
            if (kind != TRAIN_TOTAL_VARIATION) assert_true(fabs(z[i]) < 1e-12); /* TVD has a kink there */
    }
}

/* ----------------------------------------------------------------- whole head */

enum { HEAD_ROWS = 9, VOCAB = 11, DRAFT = 8, TOP = 3, FEATURES = 10, WIDTH = 8, LENGTH = 6 };

typedef struct head_case {
    train_head_shape shape;
    train_goal goal;
    train_batch batch;
    train_head head, grads;
    train_head_values values;
    vouch_arena arena;
    real *block, *dblock, *features, *cosines, *sines;
    int32_t ends[2], positions[HEAD_ROWS], tokens[HEAD_ROWS], ids[HEAD_ROWS * TOP], labels[HEAD_ROWS];
    float p[HEAD_ROWS * TOP];
    uint8_t counts[HEAD_ROWS];
} head_case;

static void head_fill_batch(head_case *c)
{
    for (int i = 0; i < HEAD_ROWS; i++) {
        c->positions[i] = i < LENGTH ? i + 1 : i - LENGTH + 1;
        c->tokens[i] = (int32_t)test_below(&rng, VOCAB);
        c->labels[i] = (int32_t)test_below(&rng, DRAFT);
        c->counts[i] = i != 1;
        for (int k = 0; k < TOP; k++) {
            c->ids[i * TOP + k] = (i + 2 * k) % DRAFT;
            c->p[i * TOP + k] = 0.5f / (float)(k + 1);
        }
    }
    c->ids[4] = -1; /* the draft's vocabulary lacks it */
    c->ends[0] = LENGTH;
    c->ends[1] = HEAD_ROWS;
    c->features = values_new(HEAD_ROWS * FEATURES);
    c->cosines = values_new(64);
    c->sines = values_new(64);
    train_angles(c->cosines, c->sines, LENGTH + 2, 4, 50);
    c->batch = (train_batch){.rows = {HEAD_ROWS, {c->ends, 2}, c->positions, c->cosines, c->sines},
                             .features = c->features,
                             .tokens = c->tokens,
                             .lessons = {TOP, c->ids, c->p, c->labels, c->counts}};
}

static void head_open(head_case *c, int32_t n_layers, train_loss loss)
{
    *c = (head_case){.goal = {loss, 0.4, {1, 0.7, 0.5}}};
    c->shape = (train_head_shape){.n_features = FEATURES,
                                  .width = WIDTH,
                                  .n_draft = DRAFT,
                                  .n_layers = n_layers,
                                  .n_generations = 3,
                                  .layer = {WIDTH, 12, {4, 2, 4}, 1e-3},
                                  .eps = 1e-3,
                                  .logit_scale = n_layers == 2 ? 1.5 : 0,
                                  .logit_softcap = n_layers == 2 ? 3 : 0};
    head_fill_batch(c);
    const int64_t n = train_head_size(&c->shape);
    c->block = values_new(n);
    for (int64_t i = 0; i < n; i++) c->block[i] *= 0.4;
    c->dblock = calloc((size_t)n, sizeof *c->dblock);
    c->head = train_head_at(&c->shape, c->block);
    c->grads = train_head_at(&c->shape, c->dblock);
    c->head.output = values_new(DRAFT * WIDTH);
    c->head.output_bias = values_new(DRAFT);
    c->head.embedding = values_new(VOCAB * WIDTH);
    c->grads.output = calloc(DRAFT * WIDTH, sizeof(real));
    train_head_values_take(&c->values, &c->arena, &c->shape, HEAD_ROWS, LENGTH);
    assert_int_equal(vouch_arena_allocate(&c->arena, "values", NULL), VOUCH_OK);
    train_head_values_take(&c->values, &c->arena, &c->shape, HEAD_ROWS, LENGTH);
}

static void head_close(head_case *c)
{
    real *const all[] = {c->block,       c->dblock,           c->features,       c->cosines,     c->sines,
                         c->head.output, c->head.output_bias, c->head.embedding, c->grads.output};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    vouch_arena_free(&c->arena);
}

static double head_value(void *user)
{
    head_case *c = user;
    double loss = 0;
    train_head_run(&c->values, &c->head, NULL, &c->shape, &c->batch, &c->goal);
    for (int g = 0; g < 3; g++) loss += c->goal.weights[g] * c->values.sums[g].loss;
    return loss;
}

static void head_check(int32_t n_layers, train_loss loss)
{
    head_case c;
    head_open(&c, n_layers, loss);
    train_head_run(&c.values, &c.head, &c.grads, &c.shape, &c.batch, &c.goal);
    assert_int_equal(c.values.sums[0].rows, HEAD_ROWS - 1);
    assert_int_equal(c.values.sums[2].rows, HEAD_ROWS - 4);
    train_head_back(&c.values, &c.head, &c.grads, &c.shape, &c.batch);
    CHECK(head_value, &c, c.block, c.dblock, train_head_size(&c.shape));
    CHECK(head_value, &c, c.head.output, c.grads.output, DRAFT * WIDTH);
    head_close(&c);
}

static void heads_have_their_gradients(void **state)
{
    (void)state;
    head_check(0, TRAIN_FORWARD_KL);
    head_check(1, TRAIN_FORWARD_KL);
    head_check(2, TRAIN_FORWARD_KL);
    head_check(1, TRAIN_REVERSE_KL);
    head_check(1, TRAIN_JENSEN_SHANNON);
    head_check(1, TRAIN_TOTAL_VARIATION);
    head_check(1, TRAIN_CROSS_ENTROPY);
}

/* The gradient through earlier generations' keys counts: without it the difference is large. */
static void a_forgotten_generation_is_noticed(void **state)
{
    (void)state;
    head_case c;
    head_open(&c, 1, TRAIN_FORWARD_KL);
    train_head_run(&c.values, &c.head, &c.grads, &c.shape, &c.batch, &c.goal);
    memset(c.values.generations[2].ds, 0, HEAD_ROWS * WIDTH * sizeof(real));
    train_head_back(&c.values, &c.head, &c.grads, &c.shape, &c.batch);
    assert_true(difference(head_value, &c, c.block, c.dblock, train_head_size(&c.shape)) > 1e-3);
    head_close(&c);
}

/* Sequences that share a batch don't see each other. */
static void sequences_of_a_batch_are_apart(void **state)
{
    (void)state;
    head_case c;
    real before[3][3 * WIDTH];
    head_open(&c, 2, TRAIN_FORWARD_KL);
    const size_t size = 3 * WIDTH * sizeof(real);
    head_value(&c);
    for (int g = 0; g < 3; g++) memcpy(before[g], c.values.generations[g].s + LENGTH * WIDTH, size);
    for (int64_t i = 0; i < LENGTH * FEATURES; i++) c.features[i] += 1;
    head_value(&c);
    for (int g = 0; g < 3; g++) assert_memory_equal(before[g], c.values.generations[g].s + LENGTH * WIDTH, size);
    head_close(&c);
}

/* ----------------------------------------------------------- whole draft model */

typedef struct student_case {
    train_student student;
    int64_t n; /* weights that learn */
    real *grads, *bias;
    train_student_values values;
    vouch_arena arena;
    head_case *lessons; /* its batch */
} student_case;

static double student_value(void *user)
{
    student_case *c = user;
    const train_outputs outputs = {DRAFT, c->student.output, c->bias};
    train_student_merge(&c->student);
    train_student_run(&c->values, &c->student, NULL, &outputs, &c->lessons->batch, &c->lessons->goal);
    return c->lessons->goal.weights[0] * c->values.sums.loss;
}

/* rank 0: all weights learn. */
static void student_open(student_case *c, head_case *lessons, int32_t n_layers, int32_t rank)
{
    train_student *s = &c->student;
    *c = (student_case){.student.shape = {n_layers, {WIDTH, 12, {4, 2, 4}, 1e-3}}, .lessons = lessons};
    const int64_t n = train_student_size(&s->shape);
    s->block = values_new(n);
    for (int64_t i = 0; i < n; i++) s->block[i] *= 0.4;
    s->embedding = values_new(VOCAB * WIDTH);
    s->output = values_new(DRAFT * WIDTH);
    c->bias = values_new(DRAFT);
    if (rank > 0) assert_int_equal(train_student_adapt(s, rank, 5, NULL), VOUCH_OK);
    c->n = train_student_n_learned(s);
    if (rank > 0) /* B is 0 at first, and A then has no gradient */
        for (int64_t i = 0; i < c->n; i++) s->lora.factors[i] = 0.3 * test_normal(&rng);
    c->grads = calloc((size_t)c->n, sizeof *c->grads);
    train_student_values_take(&c->values, &c->arena, s, HEAD_ROWS, LENGTH, DRAFT);
    assert_int_equal(vouch_arena_allocate(&c->arena, "values", NULL), VOUCH_OK);
    train_student_values_take(&c->values, &c->arena, s, HEAD_ROWS, LENGTH, DRAFT);
}

static void student_close(student_case *c)
{
    train_student *s = &c->student;
    real *const all[] = {s->block, s->embedding, s->output, c->bias, c->grads};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    train_lora_close(&s->lora);
    vouch_arena_free(&c->arena);
}

static void student_check(int32_t n_layers, int32_t rank, train_loss loss)
{
    head_case lessons;
    student_case c;
    head_open(&lessons, 1, loss);
    lessons.goal.weights[0] = 0.8;
    student_open(&c, &lessons, n_layers, rank);
    real *learned = train_student_learned(&c.student);
    const train_outputs outputs = {DRAFT, c.student.output, c.bias};
    train_student_merge(&c.student);
    train_student_run(&c.values, &c.student, c.grads, &outputs, &lessons.batch, &lessons.goal);
    assert_int_equal(c.values.sums.rows, HEAD_ROWS - 1);
    CHECK(student_value, &c, learned, c.grads, c.n);
    c.grads[c.n - 1] += 0.1; /* a wrong gradient is noticed */
    assert_true(difference(student_value, &c, learned, c.grads, c.n) > 1e-4);
    c.grads[c.n - 1] -= 0.1;
    if (rank > 0) { /* so is a scale that is left out */
        for (int64_t i = 0; i < c.n; i++) c.grads[i] /= TRAIN_LORA_SCALE;
        assert_true(difference(student_value, &c, learned, c.grads, c.n) > 0.1);
    }
    student_close(&c);
    head_close(&lessons);
}

static void draft_models_have_their_gradients(void **state)
{
    (void)state;
    for (int32_t n_layers = 1; n_layers <= 3; n_layers++) student_check(n_layers, 0, TRAIN_FORWARD_KL);
    for (int loss = TRAIN_REVERSE_KL; loss <= TRAIN_CROSS_ENTROPY; loss++) student_check(2, 0, loss);
}

static void factors_of_draft_models_have_their_gradients(void **state)
{
    (void)state;
    for (int32_t rank = 1; rank <= WIDTH; rank += 5) student_check(2, rank, TRAIN_FORWARD_KL);
    for (int loss = TRAIN_REVERSE_KL; loss <= TRAIN_CROSS_ENTROPY; loss++) student_check(1, 3, loss);
}

/* Down the gradient the loss falls, also at full rank, and for factors as they begin, with B = 0. */
static void a_first_step_of_factors_lowers_the_loss(void **state)
{
    (void)state;
    for (int32_t rank = 2; rank <= WIDTH; rank += WIDTH - 2) {
        head_case lessons;
        student_case c;
        head_open(&lessons, 1, TRAIN_FORWARD_KL);
        student_open(&c, &lessons, 2, 0);
        const double start = student_value(&c);
        assert_int_equal(train_student_adapt(&c.student, rank, 5, NULL), VOUCH_OK);
        const int64_t n = train_student_n_learned(&c.student);
        const train_outputs outputs = {DRAFT, c.student.output, c.bias};
        real *grads = calloc((size_t)n, sizeof *grads), *factors = train_student_learned(&c.student);
        vouch_arena_free(&c.arena);
        c.arena = (vouch_arena){0};
        train_student_values_take(&c.values, &c.arena, &c.student, HEAD_ROWS, LENGTH, DRAFT);
        assert_int_equal(vouch_arena_allocate(&c.arena, "values", NULL), VOUCH_OK);
        train_student_values_take(&c.values, &c.arena, &c.student, HEAD_ROWS, LENGTH, DRAFT);
        assert_true(student_value(&c) == start); /* not one bit differs */
        train_student_run(&c.values, &c.student, grads, &outputs, &lessons.batch, &lessons.goal);
        for (int64_t i = 0; i < n; i++) factors[i] -= 0.01 * grads[i];
        const double after = student_value(&c);
        assert_true(after < start - 1e-4);
        for (int64_t i = 0; i < n; i++) factors[i] += 0.02 * grads[i]; /* up the gradient it rises */
        assert_true(student_value(&c) > start);
        free(grads);
        student_close(&c);
        head_close(&lessons);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_has_its_gradients),
        cmocka_unit_test(norm_has_its_gradients),
        cmocka_unit_test(rotation_has_its_gradients),
        cmocka_unit_test(swiglu_has_its_gradients),
        cmocka_unit_test(losses_have_their_gradients),
        cmocka_unit_test(losses_over_classes_have_their_gradients),
        cmocka_unit_test(losses_vanish_at_their_goal),
        cmocka_unit_test(heads_have_their_gradients),
        cmocka_unit_test(a_forgotten_generation_is_noticed),
        cmocka_unit_test(sequences_of_a_batch_are_apart),
        cmocka_unit_test(draft_models_have_their_gradients),
        cmocka_unit_test(factors_of_draft_models_have_their_gradients),
        cmocka_unit_test(a_first_step_of_factors_lowers_the_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
