/* SPDX-License-Identifier: MIT */
/*
 * Teaching a head with a layer: an interrupted training ends with the same bytes as an uninterrupted one, and the loss
 * falls. A loss that isn't finite stops the training and keeps the last checkpoint. A bad checkpoint is refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "train/teach/checkpoint.h"
#include "train/network/ops.h"
#include "train/teach/teach.h"

enum { N_EMBD = 16, N_VOCAB = 24, N_TOKENS = 30, N_ANSWERS = 120 };

static train_states_header header = {.version = "states 2",
                                     .digest = "0",
                                     .n_embd = N_EMBD,
                                     .n_layers = 2,
                                     .n_vocab = N_VOCAB,
                                     .n_taps = 1,
                                     .taps = {1}};

/* Writes answers whose next token is 5 x + 1 modulo the vocabulary, or 5 x + 2 with probability 1 / 4. The states show
 * the token by a pattern of their own. */
static train_chunks *lessons_write(const char *path)
{
    train_chunks *chunks;
    test_random rng = {5};
    assert_int_equal(train_chunks_open(&chunks, path, "states", &header, sizeof header, NULL), VOUCH_OK);
    for (int a = 0; a < N_ANSWERS; a++) {
        const train_answer answer = {a, 4, N_TOKENS, a % 2};
        int32_t tokens[N_TOKENS], ids[N_TOKENS][TRAIN_TOP];
        uint16_t taps[N_TOKENS][N_EMBD], p[N_TOKENS][TRAIN_TOP];
        memset(p, 0, sizeof p);
        memset(ids, 0xff, sizeof ids);
        tokens[0] = a % N_VOCAB;
        for (int t = 0; t < N_TOKENS; t++) {
            const int likely = (5 * tokens[t] + 1) % N_VOCAB, other = (5 * tokens[t] + 2) % N_VOCAB;
            if (t + 1 < N_TOKENS) tokens[t + 1] = test_below(&rng, 4) ? likely : other;
            ids[t][0] = likely;
            ids[t][1] = other;
            p[t][0] = vouch_float_to_half(0.75f);
            p[t][1] = vouch_float_to_half(0.25f);
            for (int i = 0; i < N_EMBD; i++) taps[t][i] = vouch_float_to_half(sinf((float)(tokens[t] * (i + 3))) * 2);
        }
        const train_piece pieces[] = {
            {&answer, sizeof answer}, {tokens, sizeof tokens}, {ids, sizeof ids}, {taps, sizeof taps}, {p, sizeof p}};
        assert_int_equal(train_chunks_append(chunks, pieces, 5, NULL), VOUCH_OK);
    }
    return chunks;
}

typedef struct school {
    train_chunks *chunks;
    vouch_weights weights;
    train_lessons_set set;
    train_course course;
    train_head head;
    real *block;
    vouch_pool *pool;
    double first_loss, last_loss;
    int64_t cancel_at; /* step after which the training is cancelled; 0: never */
    int64_t step;
} school;

static void report(void *user, int64_t step, int64_t n_steps, const train_sums *sums, const train_score *held)
{
    school *s = user;
    (void)held;
    assert_true(step <= n_steps);
    s->step = step;
    s->last_loss = sums->loss / (double)sums->rows;
    if (step == 1) s->first_loss = s->last_loss;
}

static bool is_cancelled(void *user)
{
    const school *s = user;
    return s->cancel_at > 0 && s->step == s->cancel_at;
}

static void school_open(school *s, train_chunks *chunks, const char *checkpoint, int32_t n_threads)
{
    *s = (school){.chunks = chunks, .weights = {.hparams = {.norm_eps = 1e-5f}}};
    assert_int_equal(train_lessons_open(&s->set, chunks, &header, &s->weights, NULL), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&s->pool, n_threads, NULL), VOUCH_OK);
    assert_int_equal(train_blas_open(NULL), VOUCH_OK);
    train_blas()->openblas_set_num_threads(1);
    s->course = (train_course){.set = &s->set,
                               .shape = {.n_features = N_EMBD,
                                         .width = N_EMBD,
                                         .n_draft = N_VOCAB,
                                         .n_layers = 1,
                                         .n_generations = 2,
                                         .layer = {N_EMBD, 24, {4, 2, 4}, 1e-5f},
                                         .eps = 1e-5f},
                               .goal = {.loss = TRAIN_FORWARD_KL, .weights = {1, 0.8f}},
                               .adam = train_adam_default(),
                               .n_epochs = 60,
                               .seed = 3,
                               .rope_base = 10000,
                               .checkpoint = checkpoint,
                               .checkpoint_seconds = 1e9,
                               .pool = s->pool,
                               .report = report,
                               .is_cancelled = is_cancelled,
                               .user = s};
    s->course.adam.rate = 0.01;
    test_random rng = {9};
    const int64_t n = train_head_size(&s->course.shape);
    s->block = calloc((size_t)n, sizeof *s->block);
    for (int64_t i = 0; i < n; i++) s->block[i] = (real)test_normal(&rng) * (real)0.2;
    s->head = train_head_at(&s->course.shape, s->block);
    s->head.embedding = calloc(N_VOCAB * N_EMBD, sizeof(real));
    s->head.output = calloc(N_VOCAB * N_EMBD, sizeof(real));
    for (int i = 0; i < N_VOCAB * N_EMBD; i++) {
        s->head.embedding[i] = (real)test_normal(&rng);
        s->head.output[i] = (real)test_normal(&rng);
    }
    train_layers_begin(&s->head, &s->course.shape, 1);
}

static void school_close(school *s)
{
    train_lessons_close(&s->set);
    vouch_pool_close(s->pool);
    free(s->block);
    free(s->head.embedding);
    free(s->head.output);
}

static vouch_status teach(school *s, vouch_error *err)
{
    return train_teach(&s->course, &s->head, s->block, err);
}

/* A path that stays valid. */
static char *temporary(const char *name)
{
    return strdup(test_temporary(name));
}

static void interrupted_training_ends_with_the_same_bytes(void **state)
{
    (void)state;
    test_skip_slow();
    char *path = temporary("lessons"), *whole = temporary("whole"), *parts = temporary("parts");
    train_chunks *chunks = lessons_write(path);
    for (int32_t n_threads = 1; n_threads <= 3; n_threads += 2) {
        school a, b;
        vouch_error err;
        size_t n[2];
        school_open(&a, chunks, whole, n_threads);
        if (teach(&a, &err)) fail_msg("%s", err.message);
        assert_true(a.last_loss < a.first_loss / 4);
        for (int64_t at = 1; at < a.step; at += 19) {
            school_open(&b, chunks, parts, n_threads);
            b.cancel_at = at;
            assert_int_equal(teach(&b, &err), VOUCH_E_CANCELLED);
            assert_int_equal(b.step, at);
            school_close(&b);
        }
        school_open(&b, chunks, parts, n_threads);
        assert_int_equal(teach(&b, &err), VOUCH_OK);
        char *bytes[2] = {read_whole(whole, &n[0]), read_whole(parts, &n[1])};
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], n[0]);
        assert_memory_equal(a.block, b.block, (size_t)train_head_size(&a.course.shape) * sizeof(real));
        free(bytes[0]);
        free(bytes[1]);
        school_close(&a);
        school_close(&b);
        unlink(whole);
        unlink(parts);
    }
    train_chunks_close(chunks);
    free(path);
    free(whole);
    free(parts);
}

/* The training stops at the step, names it, and leaves the last good checkpoint. */
static void a_loss_that_is_not_finite_stops(void **state)
{
    (void)state;
    char *path = temporary("poisoned"), *checkpoint = temporary("nan.checkpoint");
    train_chunks *chunks = lessons_write(path);
    school s;
    vouch_error err;
    size_t n[2];
    school_open(&s, chunks, checkpoint, 2);
    s.cancel_at = 2;
    assert_int_equal(teach(&s, &err), VOUCH_E_CANCELLED);
    school_close(&s);
    char *before = read_whole(checkpoint, &n[0]);
    school_open(&s, chunks, checkpoint, 2);
    s.set.inv_scale[3] = INFINITY;
    assert_int_equal(teach(&s, &err), VOUCH_E_NUMERIC);
    assert_non_null(strstr(err.message, "step 3"));
    char *after = read_whole(checkpoint, &n[1]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(before, after, n[0]);
    school_close(&s);
    free(before);
    free(after);
    train_chunks_close(chunks);
    free(path);
    free(checkpoint);
}

static void bad_checkpoints_are_refused(void **state)
{
    (void)state;
    char *path = temporary("good"), *checkpoint = temporary("bad.checkpoint");
    train_chunks *chunks = lessons_write(path);
    school s;
    vouch_error err;
    size_t n;
    school_open(&s, chunks, checkpoint, 1);
    s.cancel_at = 1;
    assert_int_equal(teach(&s, &err), VOUCH_E_CANCELLED);
    s.course.adam.rate = 0.02;
    assert_int_equal(teach(&s, &err), VOUCH_E_MISMATCH);
    assert_non_null(strstr(err.message, "with other training data or options"));
    s.course.adam.rate = 0.01;
    char *bytes = read_whole(checkpoint, &n);
    for (size_t cut = 0; cut < n; cut += 1 + n / 40) {
        write_whole(checkpoint, bytes, cut);
        assert_int_equal(teach(&s, &err), VOUCH_E_FORMAT);
    }
    bytes[n / 2] ^= 1;
    write_whole(checkpoint, bytes, n);
    assert_int_equal(teach(&s, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "damaged"));
    s.course.checkpoint = "/nonexistent/folder/x";
    assert_int_equal(teach(&s, &err), VOUCH_E_IO);
    school_close(&s);
    free(bytes);
    train_chunks_close(chunks);
    free(path);
    free(checkpoint);
}

/* Every epoch has each answer once, in an order of its own. */
static void a_schedule_has_each_answer_once(void **state)
{
    (void)state;
    char *path = temporary("scheduled");
    train_chunks *chunks = lessons_write(path);
    school s;
    train_schedule schedule;
    school_open(&s, chunks, "unused", 1);
    assert_int_equal(train_schedule_open(&schedule, &s.set, 7, 100, 2, NULL), VOUCH_OK);
    const int64_t n_steps = train_schedule_steps(&schedule, 3);
    int32_t seen[3][N_ANSWERS] = {{0}}, first[3];
    for (int64_t i = 0; i < n_steps; i++) {
        train_step_plan plan;
        const int64_t epoch = schedule.epoch;
        const bool begins = schedule.at == 0;
        train_schedule_next(&schedule, &plan);
        if (begins) first[epoch] = plan.answers[0][0];
        for (int shard = 0; shard < TRAIN_SHARDS; shard++) {
            assert_true(plan.n[shard] * (N_TOKENS - 2) <= 100);
            for (int32_t k = 0; k < plan.n[shard]; k++) seen[epoch][plan.answers[shard][k]]++;
        }
    }
    assert_int_equal(schedule.epoch, 3);
    for (int e = 0; e < 3; e++)
        for (int32_t i = 0; i < s.set.n_taught; i++) assert_int_equal(seen[e][i], 1);
    assert_true(first[0] != first[1] || first[1] != first[2]);
    train_schedule_close(&schedule);
    school_close(&s);
    train_chunks_close(chunks);
    free(path);
}

/* Chains after each token, and the chains of cycles, which skip the tokens that a cycle has accepted. */
static void chains_are_counted(void **state)
{
    (void)state;
    enum { N = 7 };
    uint8_t hits[2][N] = {{1, 1, 0, 1, 1, 0, 1}, {1, 0, 1, 0, 1, 0, 1}}; /* of guess 0 and 1 at each row */
    uint8_t counts[N] = {0, 1, 1, 1, 1, 1, 1};                           /* row 0 belongs to the prompt */
    int32_t labels[N] = {-1, 4, -1, 4, 4, -1, 4}, ends[1] = {N};
    const uint8_t *const guesses[2] = {hits[0], hits[1]};
    train_batch batch = {.rows = {.n = N, .packing = {ends, 1}}, .lessons = {.labels = labels, .counts = counts}};
    train_score score = {0};
    train_score_add(&score, guesses, 2, &batch);
    const int64_t anywhere[] = {6, 4, 3, 2}, cycles[] = {3, 3, 2, 1};
    for (int g = 0; g < 2; g++) {
        assert_int_equal(score.anywhere.reached[g], anywhere[2 * g]);
        assert_int_equal(score.anywhere.accepted[g], anywhere[2 * g + 1]);
        assert_int_equal(score.cycles.reached[g], cycles[2 * g]);
        assert_int_equal(score.cycles.accepted[g], cycles[2 * g + 1]);
    }
    assert_int_equal(score.n_cycles, 3); /* they begin at rows 1, 4 and 6 */
    assert_int_equal(score.n_tokens, 7);
    assert_int_equal(score.n_guessable, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupted_training_ends_with_the_same_bytes),
        cmocka_unit_test(a_loss_that_is_not_finite_stops),
        cmocka_unit_test(bad_checkpoints_are_refused),
        cmocka_unit_test(a_schedule_has_each_answer_once),
        cmocka_unit_test(chains_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
