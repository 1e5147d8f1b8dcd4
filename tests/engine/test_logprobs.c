/* SPDX-License-Identifier: MIT */
/* Log probabilities: log softmax of the model's logits, the same bits with every drafter and rule (laws L1 and L2),
 * from steps and from vouch_session_logprobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/decode/answer.h"

enum { N_PROMPT = 40, N_ANSWER = 60, N_TOP = 5, WIDTH = 1 + N_TOP, N_VOCAB = 400 };

static vouch_model *target, *near;
static int32_t prompt[N_PROMPT];

static int models_open(void **state)
{
    (void)state;
    target = tiny_model_open(&(tiny_model_options){.seed = 3});
    near = tiny_model_open(&(tiny_model_options){.seed = 3, .noise = 0.02f});
    answer_prompt(prompt, N_PROMPT, N_VOCAB, 5, true);
    return 0;
}

static int models_close(void **state)
{
    (void)state;
    vouch_model_close(target);
    vouch_model_close(near);
    return 0;
}

static vouch_session_options options_of(unsigned drafters)
{
    vouch_session_options o = vouch_session_options_default();
    o.max_tokens = N_ANSWER;
    o.ignore_eos = true;
    o.logprobs = true;
    o.top_logprobs = N_TOP;
    o.sampling.temperature = 0.8f;
    o.sampling.repeat_penalty = 1.3f; /* sampling parameters change the text, not the log probabilities */
    o.speculation.drafters = drafters;
    o.speculation.n_draft = drafters == VOUCH_DRAFTER_NONE ? 0 : 6;
    o.speculation.accept = VOUCH_ACCEPT_MATCH;
    if (drafters & VOUCH_DRAFTER_MODEL) o.speculation.draft_model = near;
    return o;
}

/* Records the log probabilities of an answer; returns the accepted guesses. */
static int64_t record(unsigned drafters, vouch_logprob *out, vouch_session **session)
{
    const vouch_session_options o = options_of(drafters);
    vouch_step step = {0};
    int32_t n = 0;
    *session = answer_open(target, &o);
    assert_int_equal(vouch_session_prompt(*session, prompt, N_PROMPT, NULL), VOUCH_OK);
    while (step.finish == VOUCH_FINISH_NONE) {
        assert_int_equal(vouch_session_step(*session, &step, NULL), VOUCH_OK);
        assert_true(n + step.n_tokens <= N_ANSWER);
        for (int32_t i = 0; i < step.n_tokens; i++) assert_int_equal(step.logprobs[i * WIDTH].token, step.tokens[i]);
        memcpy(out + n * WIDTH, step.logprobs, (size_t)(step.n_tokens * WIDTH) * sizeof *out);
        n += step.n_tokens;
    }
    assert_int_equal(n, N_ANSWER);
    return vouch_session_stats(*session)->accepted;
}

static void drafters_leave_no_trace(void **state)
{
    (void)state;
    static const unsigned sets[] = {VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_RECYCLE,
                                    VOUCH_DRAFTER_MODEL, VOUCH_DRAFTER_MODEL | VOUCH_DRAFTER_RECYCLE};
    static vouch_logprob plain[N_ANSWER * WIDTH], drafted[N_ANSWER * WIDTH];
    vouch_session *session;
    int64_t accepted = 0;
    assert_int_equal(record(VOUCH_DRAFTER_NONE, plain, &session), 0);
    vouch_session_close(session);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        accepted += record(sets[i], drafted, &session);
        assert_memory_equal(drafted, plain, sizeof plain);
        vouch_session_close(session);
    }
    assert_true(accepted > 0);
    plain[N_ANSWER * WIDTH - 1].logprob = nextafterf(plain[N_ANSWER * WIDTH - 1].logprob, 0);
    assert_memory_not_equal(drafted, plain, sizeof plain); /* the comparison sees one bit */
}

/* vouch_session_logprobs gives what the steps gave, and both are the log softmax of the logits. */
static void looks_give_the_same(void **state)
{
    (void)state;
    static vouch_logprob steps[N_ANSWER * WIDTH], look[N_ANSWER * WIDTH];
    static float logits[N_ANSWER][N_VOCAB];
    vouch_session *session;
    size_t n;
    record(VOUCH_DRAFTER_RECYCLE, steps, &session);
    vouch_session_tokens(session, &n);
    assert_int_equal(vouch_session_logprobs(session, N_PROMPT, N_ANSWER, N_TOP, look, NULL), VOUCH_OK);
    assert_memory_equal(look, steps, sizeof look);
    assert_int_equal(vouch_session_logits(session, N_PROMPT - 1, N_ANSWER, logits[0], NULL), VOUCH_OK);
    for (int32_t i = 0; i < N_ANSWER; i++) {
        const vouch_logprob *row = look + i * WIDTH;
        double sum = 0;
        int32_t n_larger = 0;
        for (int32_t x = 0; x < N_VOCAB; x++) sum += exp(logits[i][x]);
        for (int32_t x = 0; x < N_VOCAB; x++) n_larger += logits[i][x] > logits[i][row[N_TOP].token];
        assert_int_equal(n_larger, N_TOP - 1);
        for (int32_t t = 0; t < WIDTH; t++)
            assert_true(fabs(logits[i][row[t].token] - log(sum) - row[t].logprob) < 1e-4);
        for (int32_t t = 2; t < WIDTH; t++) assert_true(row[t].logprob <= row[t - 1].logprob);
    }
    assert_int_equal(n, N_PROMPT + N_ANSWER);
    vouch_session_close(session);
}

/* Runs the prompt of one token or more in a session by itself and looks at its log probabilities. */
static void score_alone(const int32_t *tokens, size_t n, vouch_logprob *out)
{
    const vouch_session_options o = options_of(VOUCH_DRAFTER_NONE);
    vouch_session *session = answer_open(target, &o);
    assert_int_equal(vouch_session_prompt(session, tokens, n, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_logprobs(session, 1, (int32_t)n - 1, N_TOP, out, NULL), VOUCH_OK);
    vouch_session_close(session);
}

/* Law L7: an engine scores prompts in parts, beside sessions that draft and decode, and again where the pages of a
 * prompt were lost. The scores are those of a session by itself. The engine runs the whole prompt, although the cache
 * holds it. */
static void engines_score_prompts(void **state)
{
    (void)state;
    enum { N_SESSIONS = 4, N_LONG = 150, N_ROUNDS = 3 };
    static vouch_logprob alone[N_SESSIONS][N_LONG - 1][WIDTH], beside[N_SESSIONS][N_LONG - 1][WIDTH];
    static int32_t prompts[N_SESSIONS][N_LONG];
    const size_t n_tokens[N_SESSIONS] = {N_LONG, N_LONG - 7, 2, N_LONG - 30};
    const vouch_session_options o = options_of(VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_RECYCLE);
    const vouch_engine_options small = {.n_sessions = N_SESSIONS, .n_ctx = 256, .n_cache = 320, .prefill_chunk = 64};
    vouch_engine *engine;
    vouch_session *sessions[N_SESSIONS];
    assert_int_equal(vouch_engine_open(&engine, target, &small, NULL), VOUCH_OK);
    for (int32_t i = 0; i < N_SESSIONS; i++) {
        answer_prompt(prompts[i], N_LONG, N_VOCAB, 7 + (uint64_t)i, true);
        score_alone(prompts[i], n_tokens[i], alone[i][0]);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
    }
    for (int round = 0; round < N_ROUNDS; round++) {
        const vouch_engine_event *events;
        size_t n_events;
        int32_t n_scored = 0;
        memset(beside, 0, sizeof beside);
        for (int32_t i = 0; i < N_SESSIONS; i++) {
            vouch_logprob *out = beside[i][0];
            if (i != round) assert_int_equal(vouch_session_score_prompt(sessions[i], N_TOP, out, NULL), VOUCH_OK);
            assert_int_equal(vouch_session_prompt(sessions[i], prompts[i], n_tokens[i], NULL), VOUCH_OK);
        }
        while (vouch_engine_step(engine, &events, &n_events))
            for (size_t e = 0; e < n_events; e++) {
                assert_int_equal(events[e].status, VOUCH_OK);
                n_scored += events[e].step.n_tokens == 0;
            }
        assert_int_equal(n_scored, N_SESSIONS - 1);
        for (int32_t i = 0; i < N_SESSIONS; i++) {
            const size_t size = (n_tokens[i] - 1) * sizeof alone[i][0];
            assert_int_equal(memcmp(alone[i], beside[i], size) == 0, i != round); /* who didn't ask has zeros */
        }
    }
    assert_true(vouch_engine_get_stats(engine)->preemptions > 0);
    for (int32_t i = 0; i < N_SESSIONS; i++) vouch_session_close(sessions[i]);
    vouch_engine_close(engine);
}

/* The wish for scores ends with a prompt that fails, so the next prompt doesn't write into memory that the caller may
 * have freed. */
static void a_failed_prompt_takes_its_scores_along(void **state)
{
    (void)state;
    static vouch_logprob out[N_PROMPT][WIDTH], untouched[N_PROMPT][WIDTH];
    static const int32_t no_token[] = {1, N_VOCAB};
    const vouch_session_options o = options_of(VOUCH_DRAFTER_NONE);
    vouch_engine *engine;
    vouch_session *session;
    const vouch_engine_event *events;
    size_t n_events;
    assert_int_equal(vouch_engine_open(&engine, target, NULL, NULL), VOUCH_OK);
    assert_int_equal(vouch_engine_session_open(&session, engine, &o, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_score_prompt(session, N_TOP, out[0], NULL), VOUCH_OK);
    assert_int_equal(vouch_session_prompt(session, no_token, 2, NULL), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_prompt(session, prompt, N_PROMPT, NULL), VOUCH_OK);
    while (vouch_engine_step(engine, &events, &n_events))
        for (size_t e = 0; e < n_events; e++) assert_true(events[e].step.n_tokens > 0);
    assert_memory_equal(out, untouched, sizeof out);
    vouch_session_close(session);
    vouch_engine_close(engine);
}

static void bad_use_is_refused(void **state)
{
    (void)state;
    static vouch_logprob out[WIDTH];
    vouch_error err = {0};
    vouch_session *session;
    vouch_session_options o = options_of(VOUCH_DRAFTER_NONE);
    o.top_logprobs = VOUCH_MAX_LOGPROBS + 1;
    assert_int_equal(vouch_session_check(target, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "top_logprobs is 21"));
    assert_int_equal(vouch_session_open(&session, target, &o, &err), VOUCH_E_ARGUMENT);
    o.top_logprobs = 0;
    assert_int_equal(vouch_session_check(target, &o, &err), VOUCH_OK);
    session = answer_open(target, &o);
    assert_int_equal(vouch_session_prompt(session, prompt, N_PROMPT, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_logprobs(session, 0, 1, 0, out, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_logprobs(session, 1, N_PROMPT, 0, out, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_logprobs(session, 1, 1, VOUCH_MAX_LOGPROBS + 1, out, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_logprobs(session, 1, 1, N_TOP, out, &err), VOUCH_OK);
    assert_int_equal(vouch_session_score_prompt(session, 0, out, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "use vouch_session_logprobs"));
    vouch_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafters_leave_no_trace), cmocka_unit_test(looks_give_the_same),
        cmocka_unit_test(engines_score_prompts),   cmocka_unit_test(a_failed_prompt_takes_its_scores_along),
        cmocka_unit_test(bad_use_is_refused),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}
