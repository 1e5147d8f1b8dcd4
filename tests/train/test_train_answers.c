/* SPDX-License-Identifier: MIT */
/*
 * The target's answers, which teach (answers.h). Each is what a session alone would say, with the same seed (laws L1,
 * L7): greedy answers are greedy, and a prompt that a base model makes up has all its tokens and ends there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "support/model/tiny_model.h"
#include "train/lessons/answers.h"

enum { MOST = 40, BEGUN = 8 };

static vouch_session *session_open(const vouch_model *model, const train_options *o, bool samples)
{
    vouch_session *session;
    vouch_error err;
    vouch_session_options options = vouch_session_options_default();
    options.max_tokens = o->max_tokens;
    options.n_threads = 1;
    options.sampling = vouch_sampling_default();
    options.sampling.temperature = samples ? o->temperature : 0;
    options.sampling.top_p = samples ? o->top_p : 1;
    options.sampling.top_k = 0;
    options.speculation.accept = VOUCH_ACCEPT_MATCH;
    if (vouch_session_open(&session, model, &options, &err)) fail_msg("%s", err.message);
    return session;
}

/* All tokens of a prompt and its answer. */
static const int32_t *say(vouch_session *session, uint64_t seed, const int32_t *prompt, size_t n_prompt, size_t *n)
{
    vouch_step step;
    vouch_session_set_seed(session, seed);
    assert_int_equal(vouch_session_prompt(session, prompt, n_prompt, NULL), VOUCH_OK);
    do assert_int_equal(vouch_session_step(session, &step, NULL), VOUCH_OK);
    while (step.finish == VOUCH_FINISH_NONE);
    return vouch_session_tokens(session, n);
}

static bool begins_with(const int32_t *tokens, size_t n, const int32_t *with, size_t n_with)
{
    return n >= n_with && memcmp(tokens, with, n_with * sizeof *with) == 0;
}

/* A tiny model whose file has its chat template under another key, so it is a base model. */
static void base_write(const char *path, uint64_t seed)
{
    static const char key[] = "tokenizer.chat_template";
    size_t n;
    tiny_model_write(path, &(tiny_model_options){.seed = seed});
    char *bytes = read_whole(path, &n), *at = memmem(bytes, n, key, sizeof key - 1);
    assert_non_null(at);
    *at = 'T';
    write_whole(path, bytes, n);
    free(bytes);
}

/* Makes answers of a base model, which has no template, to beginnings of its own. A slot's sampling session makes up
 * the beginning; where it went on after that, its text would pass for a greedy answer. */
static void answers_are_those_of_a_session_alone(void **state)
{
    (void)state;
    const char *path = test_path("b.gguf");
    vouch_model *model;
    vouch_error err;
    train_chunks *chunks;
    train_options o = train_options_default();
    o.n_tokens = 3000;
    o.max_tokens = MOST;
    o.n_parallel = 6;
    o.seed = 5;
    o.n_threads = 1;
    base_write(path, 12);
    if (vouch_model_open(&model, path, NULL, &err)) fail_msg("%s", err.message);
    if (train_answers_make(&chunks, test_path("b.answers"), model, &o, &err)) fail_msg("%s", err.message);
    vouch_session *greedy = session_open(model, &o, false), *sampling = session_open(model, &o, true);
    const int32_t bos = vouch_model_get_info(model)->token_bos;
    int n_greedy = 0, n_whole = 0, n_other = 0;
    for (size_t i = 0; i < train_chunks_n(chunks); i++) {
        struct {
            train_answer answer;
            int32_t tokens[1 + BEGUN + MOST];
        } a;
        size_t n;
        assert_true(train_chunks_size(chunks, i) <= sizeof a);
        assert_int_equal(train_chunks_read(chunks, i, &a, NULL), VOUCH_OK);
        const uint64_t seed = o.seed + 2 * (uint64_t)a.answer.number;
        const size_t n_prompt = (size_t)a.answer.n_prompt, n_tokens = (size_t)a.answer.n_tokens;
        const int32_t *asked = say(sampling, seed, &bos, 1, &n);
        assert_true(begins_with(asked, n, a.tokens, n_prompt));
        assert_int_equal(n_prompt, n < 1 + BEGUN ? n : 1 + BEGUN);
        n_whole += n_prompt == 1 + BEGUN;
        n_other += !a.answer.is_sampled && !begins_with(asked, n, a.tokens, n < n_tokens ? n : n_tokens);
        n_greedy += !a.answer.is_sampled;
        const int32_t *said = say(a.answer.is_sampled ? sampling : greedy, seed + 1, a.tokens, n_prompt, &n);
        assert_int_equal(n, n_tokens);
        assert_true(begins_with(said, n, a.tokens, n_tokens));
    }
    assert_true(n_greedy > 20 && n_whole > 20);
    assert_true(n_other > n_greedy / 2); /* the beginning's own text is another one */
    vouch_session_close(greedy);
    vouch_session_close(sampling);
    train_chunks_close(chunks);
    vouch_model_close(model);
}

/* Answers of random lengths in n_parallel slots, as train_answers_make runs them. Calls the share of the work after
 * every token of each slot, and compares the tokens that it foresees with those that are written in the end. */
static void shares_foresee(int32_t n_parallel, int64_t n_wanted, int64_t n_prompts, int32_t mean, int32_t n_opening)
{
    enum { SLOTS = 16, STEPS = 40000, LONGEST = 512 };
    static double foreseen[STEPS];
    int32_t left[SLOTS] = {0}, age[SLOTS] = {0}, opening[SLOTS];
    int64_t n_kept = 0, n_begun = 0, n_started = 0, n_ended = 0, n_asked = 0;
    int n_steps = 0;
    test_random rng = {3};
    for (int i = 0; i < n_parallel; i++) opening[i] = n_opening;
    for (bool is_over = false; !is_over; n_steps++) {
        train_outlook o = {
            .n_wanted = n_wanted, .n_prompts = n_prompts, .n_parallel = n_parallel, .max_tokens = LONGEST};
        assert_true(n_steps < STEPS);
        for (int i = 0; i < n_parallel; i++) {
            if (left[i] == 0 && opening[i] == 0 && (n_prompts == 0 || n_started < n_prompts)) { /* begins */
                const double length = -mean * log(1 - (double)test_uniform(&rng, 0, 1));
                left[i] = length < 1 ? 1 : length > LONGEST ? LONGEST : (int32_t)length;
                n_started++;
                n_begun += n_opening > 0;
            }
            if (opening[i] > 0) {
                opening[i]--;
                n_asked++;
                o.n_begun++;
            } else if (left[i] > 0) {
                age[i]++;
                if (--left[i] == 0) {
                    n_kept += age[i];
                    n_ended++;
                    age[i] = 0;
                    opening[i] = n_opening;
                }
            }
            o.n_written += age[i];
        }
        o.n_written += n_kept;
        o.n_ended = n_ended;
        o.n_asked = n_asked;
        o.n_begun += n_begun;
        foreseen[n_steps] = (double)(o.n_written + o.n_asked) / train_answers_share(&o);
        is_over = n_kept >= n_wanted || (n_prompts > 0 && n_ended == n_prompts);
        if (is_over) foreseen[0] = (double)(o.n_written + o.n_asked); /* the truth */
    }
    for (int i = n_steps / 20; i < n_steps; i++) {
        const double ratio = foreseen[i] / foreseen[0];
        if (!(ratio > 0.5 && ratio < 2))
            fail_msg("step %d of %d: %g tokens foreseen, %g written", i, n_steps, foreseen[i], foreseen[0]);
    }
}

/* The work that is foreseen is right within a factor of two from the first twentieth on: with few tokens for so many
 * slots, with many, with prompts of the target's own, and where given prompts end the work. */
static void the_work_is_foreseen(void **state)
{
    (void)state;
    shares_foresee(16, 11000, 0, 250, 50);
    shares_foresee(16, 60000, 0, 250, 50);
    shares_foresee(16, 60000, 0, 5000, 8);
    shares_foresee(16, 3000, 0, 100, 30);
    shares_foresee(4, 20000, 0, 400, 0);
    shares_foresee(16, 1000000, 50, 250, 0);
    shares_foresee(16, INT64_MAX, 100, 150, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_a_session_alone),
        cmocka_unit_test(the_work_is_foreseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
