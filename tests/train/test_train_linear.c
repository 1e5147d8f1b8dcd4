/* SPDX-License-Identifier: MIT */
/*
 * The linear head in closed form, on states of a model that is linear itself: h(t + 1) = B h(t) + U e[x[t + 1]], where
 * e[x] is the embedding of token x. The head must find B and U: its guesses of states held back point along the true
 * ones at depth 1 to 3. Without its map of states, or without its map of tokens, it must be worse.
 *
 * States of real models are less even: B keeps a few directions of a state, and one element is a hundred times another.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"
#include "train/teach/linear.h"
#include "train/teach/measure.h"

enum { N_EMBD = 12, N_VOCAB = 40, N_TOKENS = 60, N_ANSWERS = 200 };

static const train_states_header header = {.version = "states 2",
                                           .digest = "0",
                                           .n_embd = N_EMBD,
                                           .n_layers = 2,
                                           .n_vocab = N_VOCAB,
                                           .n_taps = 2,
                                           .taps = {0, 1}};

static float map[N_EMBD][N_EMBD], inputs[N_EMBD][N_EMBD], embedding[N_VOCAB][N_EMBD];
static float gain[N_EMBD], offset[N_EMBD]; /* of the elements of h, as the states show them */

static void state_next(float *h, int32_t token)
{
    float next[N_EMBD];
    for (int i = 0; i < N_EMBD; i++) {
        next[i] = 0;
        for (int j = 0; j < N_EMBD; j++) next[i] += map[i][j] * h[j] + inputs[i][j] * embedding[token][j];
    }
    memcpy(h, next, sizeof next);
}

/* The arrays of a sequence, as a chunk of states has them. */
typedef struct arrays {
    int32_t tokens[N_TOKENS], ids[N_TOKENS][TRAIN_TOP];
    uint16_t taps[N_TOKENS][2][N_EMBD], p[N_TOKENS][TRAIN_TOP];
} arrays;

static void append(train_chunks *chunks, int32_t number, const arrays *a)
{
    const train_answer answer = {number, 3, N_TOKENS, 0};
    const train_piece pieces[] = {{&answer, sizeof answer},
                                  {a->tokens, sizeof a->tokens},
                                  {a->ids, sizeof a->ids},
                                  {a->taps, sizeof a->taps},
                                  {a->p, sizeof a->p}};
    assert_int_equal(train_chunks_append(chunks, pieces, 5, NULL), VOUCH_OK);
}

/* The last tap is gain h + offset. The first is noise. B reads the last `rank` elements of h. The last one has the gain
 * `most`, and an offset of ten times as much, if it isn't 1. */
static train_chunks *lessons_write(const char *path, int rank, float most)
{
    train_chunks *chunks;
    test_random rng = {11};
    for (int i = 0; i < N_EMBD; i++)
        for (int j = 0; j < N_EMBD; j++) {
            map[i][j] = test_normal(&rng) * (j >= N_EMBD - rank ? 0.77f / sqrtf((float)rank) : 0);
            inputs[i][j] = test_normal(&rng) * 0.3f;
        }
    for (int i = 0; i < N_EMBD; i++) gain[i] = i == N_EMBD - 1 ? most : 1;
    offset[N_EMBD - 1] = most > 1 ? 10 * most : 0;
    for (int v = 0; v < N_VOCAB; v++)
        for (int i = 0; i < N_EMBD; i++) embedding[v][i] = test_normal(&rng);
    assert_int_equal(train_chunks_open(&chunks, path, "states", &header, sizeof header, NULL), VOUCH_OK);
    for (int a = 0; a < N_ANSWERS; a++) {
        static arrays s;
        float h[N_EMBD] = {0};
        memset(s.ids, 0xff, sizeof s.ids);
        for (int t = 0; t < N_TOKENS; t++) {
            s.tokens[t] = (int32_t)test_below(&rng, N_VOCAB);
            state_next(h, s.tokens[t]);
            for (int i = 0; i < N_EMBD; i++) {
                s.taps[t][0][i] = vouch_float_to_half(test_normal(&rng));
                s.taps[t][1][i] = vouch_float_to_half(h[i] * gain[i] + offset[i]);
            }
        }
        append(chunks, a, &s);
    }
    return chunks;
}

/* mean: the mean cosine between the state that the head guesses in each generation and the true state, over the answers
 * held back. */
static void cosines(const train_lessons_set *set, const train_linear_head *linear, double mean[3])
{
    const train_head_shape shape = {
        .n_features = set->n_features, .width = N_EMBD, .n_draft = N_VOCAB, .n_generations = 3, .eps = 1e-5f};
    float *output = calloc(N_VOCAB * N_EMBD, sizeof *output);
    const train_head head = {.fc = linear->fc,
                             .fc_bias = linear->fc_bias,
                             .token = linear->token,
                             .token_bias = linear->token_bias,
                             .leave = linear->leave,
                             .output = output,
                             .embedding = &embedding[0][0]};
    train_space space;
    vouch_arena arena = {0};
    train_head_values *values = calloc(1, sizeof *values);
    int64_t rows[3] = {0};
    for (int twice = 0; twice < 2; twice++) {
        train_space_take(&space, &arena, set->n_features, N_TOKENS);
        train_head_values_take(values, &arena, &shape, N_TOKENS, N_TOKENS);
        if (twice == 0) assert_int_equal(vouch_arena_allocate(&arena, "values", NULL), VOUCH_OK);
    }
    memset(mean, 0, 3 * sizeof *mean);
    for (int32_t i = set->n_taught; i < set->n; i++) {
        train_sequence s;
        assert_int_equal(train_states_read(set->states, (size_t)set->order[i], &header, &s, NULL), VOUCH_OK);
        train_space_clear(&space, NULL, NULL);
        assert_true(train_space_add(&space, set, &s, NULL, N_TOKENS));
        train_head_run(values, &head, NULL, &shape, &space.batch, NULL);
        for (int g = 0; g < 3; g++)
            for (int64_t r = 5; r < space.batch.rows.n; r++, rows[g]++) {
                const float *guess = values->generations[g].s + r * N_EMBD;
                float truth[N_EMBD];
                double dot = 0, a = 0, b = 0;
                train_lessons_final(set, &s, r + 1, truth);
                for (int k = 0; k < N_EMBD; k++) {
                    if (offset[k] > 0) continue;
                    dot += (double)(guess[k] * truth[k]);
                    a += (double)(guess[k] * guess[k]);
                    b += (double)(truth[k] * truth[k]);
                }
                mean[g] += dot / sqrt(a * b);
            }
        free(s.tokens);
    }
    for (int g = 0; g < 3; g++) mean[g] /= (double)rows[g];
    vouch_arena_free(&arena);
    free(values);
    free(output);
}

static void the_fit_finds_a_linear_model(void **state)
{
    (void)state;
    char *path = strdup(test_temporary("linear"));
    train_chunks *chunks = lessons_write(path, N_EMBD, 1);
    vouch_weights weights = {.hparams = {.norm_eps = 1e-5f}};
    train_lessons_set set;
    train_linear_head head;
    vouch_error err;
    double whole[3], part[3];
    assert_int_equal(train_blas_open(NULL), VOUCH_OK);
    assert_int_equal(train_lessons_open(&set, chunks, &header, &weights, NULL), VOUCH_OK);
    assert_int_equal(set.n_taught + (N_ANSWERS / TRAIN_HELD), set.n);
    const train_linear_options options = train_linear_options_default();
    if (train_linear_fit(&head, &set, &embedding[0][0], &options, &err)) fail_msg("%s", err.message);
    cosines(&set, &head, whole);
    assert_true(whole[0] > 0.97 && whole[1] > 0.95 && whole[2] > 0.93);
    memset(head.fc, 0, N_EMBD * 2 * N_EMBD * sizeof *head.fc);
    cosines(&set, &head, part);
    assert_true(part[0] < whole[0] - 0.03);
    train_linear_free(&head);
    assert_int_equal(train_linear_fit(&head, &set, &embedding[0][0], &options, &err), VOUCH_OK);
    memset(head.token, 0, N_EMBD * N_EMBD * sizeof *head.token);
    cosines(&set, &head, part);
    assert_true(part[0] < whole[0] - 0.1);
    train_linear_free(&head);
    train_lessons_close(&set);
    train_chunks_close(chunks);
    free(path);
}

/* The guesses point along the true states at every depth, although B can't be inverted and one element drowns the
 * others. */
static void uneven_states_are_no_hindrance(void **state)
{
    (void)state;
    char *path = strdup(test_temporary("uneven"));
    train_chunks *chunks = lessons_write(path, 3, 30);
    vouch_weights weights = {.hparams = {.norm_eps = 1e-5f}};
    train_lessons_set set;
    train_linear_head head;
    vouch_error err;
    double mean[3];
    assert_int_equal(train_lessons_open(&set, chunks, &header, &weights, NULL), VOUCH_OK);
    const train_linear_options options = train_linear_options_default();
    if (train_linear_fit(&head, &set, &embedding[0][0], &options, &err)) fail_msg("%s", err.message);
    cosines(&set, &head, mean);
    assert_true(mean[0] > 0.97 && mean[1] > 0.97 && mean[2] > 0.97);
    train_linear_free(&head);
    train_lessons_close(&set);
    train_chunks_close(chunks);
    free(path);
}

/* One infinite element of one state stops the fit. */
static void states_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    char *path = strdup(test_temporary("infinite"));
    train_chunks *chunks = lessons_write(path, N_EMBD, 1);
    static arrays s;
    s.taps[20][1][3] = 0x7c00; /* infinity */
    append(chunks, 0, &s);
    vouch_weights weights = {.hparams = {.norm_eps = 1e-5f}};
    train_lessons_set set;
    vouch_error err;
    assert_int_equal(train_lessons_open(&set, chunks, &header, &weights, &err), VOUCH_E_NUMERIC);
    assert_non_null(strstr(err.message, "isn't finite"));
    train_lessons_close(&set);
    train_chunks_close(chunks);
    free(path);
}

/* Reads a sequence back in which one token has the id `token` and one of the likeliest tokens has the id `likely`. */
static void expect_token(int32_t token, int32_t likely, vouch_status expected)
{
    static arrays written;
    char *path = strdup(test_temporary("ids"));
    train_chunks *chunks;
    train_sequence s;
    vouch_error err;
    written.tokens[5] = token;
    written.ids[5][TRAIN_TOP - 1] = likely;
    assert_int_equal(train_chunks_open(&chunks, path, "states", &header, sizeof header, NULL), VOUCH_OK);
    append(chunks, 0, &written);
    assert_int_equal(train_states_read(chunks, 0, &header, &s, &err), expected);
    if (expected == VOUCH_OK) free(s.tokens);
    else assert_non_null(strstr(err.message, "a token that the target lacks"));
    train_chunks_close(chunks);
    unlink(path);
    free(path);
}

static void strange_tokens_are_refused(void **state)
{
    (void)state;
    expect_token(N_VOCAB - 1, -1, VOUCH_OK);
    expect_token(0, N_VOCAB - 1, VOUCH_OK);
    expect_token(N_VOCAB, 0, VOUCH_E_FORMAT);
    expect_token(-1, 0, VOUCH_E_FORMAT);
    expect_token(0, N_VOCAB, VOUCH_E_FORMAT);
    expect_token(0, 1 << 30, VOUCH_E_FORMAT);
    expect_token(0, -2, VOUCH_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fit_finds_a_linear_model),
        cmocka_unit_test(uneven_states_are_no_hindrance),
        cmocka_unit_test(states_that_are_not_finite_are_refused),
        cmocka_unit_test(strange_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
