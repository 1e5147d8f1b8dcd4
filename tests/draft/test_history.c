/* SPDX-License-Identifier: MIT */
/* The drafters `prediction` and `history` through the API: texts that the caller gives, and answers that are kept. */
#include <string.h>

#include "support/decode/configs.h"

static vouch_session *open_drafting(const vouch_model *model, unsigned drafters)
{
    vouch_session_options options = options_of(NGRAM, 8, NULL);
    options.speculation.drafters = drafters;
    options.speculation.history_tokens = 300;
    return answer_open(model, &options);
}

/* The target accepts a correct prediction to its end. A session without this drafter refuses a prediction. */
static void a_prediction_is_followed(void **state)
{
    (void)state;
    static answer plain, got;
    int32_t prompt[PROMPT];
    vouch_error err;
    answer_prompt(prompt, PROMPT, 400, 4, false);
    vouch_session_options options = options_of(PLAIN, 0, NULL);
    answer_run(&plain, target, &options, prompt, PROMPT);
    vouch_session *session = open_drafting(target, VOUCH_DRAFTER_NGRAM);
    assert_int_equal(vouch_session_predict(session, "x", 1, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "prediction is not among them"));
    vouch_session_close(session);
    session = open_drafting(target, VOUCH_DRAFTER_PREDICTION);
    answer_continue(&got, session, prompt, PROMPT);
    assert_true(answer_equal(&got, &plain));
    assert_int_equal(got.stats.drafted, 0);
    vouch_session_reset_stats(session);
    assert_int_equal(vouch_session_predict(session, plain.text, plain.n_text, &err), VOUCH_OK);
    answer_continue(&got, session, prompt, PROMPT);
    assert_true(answer_equal(&got, &plain));
    assert_true(got.stats.accepted_by[VOUCH_DRAFTER_NUMBER_PREDICTION] == got.stats.accepted && got.stats.accepted > 0);
    vouch_session_reset_stats(session);
    assert_int_equal(vouch_session_predict(session, NULL, 0, &err), VOUCH_OK);
    answer_continue(&got, session, prompt, PROMPT);
    assert_int_equal(got.stats.drafted, 0);
    vouch_session_close(session);
}

static void a_history_is_kept_and_given_back(void **state)
{
    (void)state;
    static answer first, again, got;
    static unsigned char bytes[4000], wrong[4000];
    int32_t prompt[PROMPT];
    vouch_error err;
    size_t n, n_again;
    answer_prompt(prompt, PROMPT, 400, 4, false);
    vouch_session *session = open_drafting(target, VOUCH_DRAFTER_HISTORY);
    answer_continue(&first, session, prompt, PROMPT);
    assert_int_equal(first.stats.drafted, 0);
    assert_int_equal(vouch_session_get_history(session, NULL, 0, &n, &err), VOUCH_E_BUFFER);
    assert_true(n == 40 + 4 * ((size_t)first.n + 1));
    assert_int_equal(vouch_session_get_history(session, bytes, sizeof bytes, &n_again, &err), VOUCH_OK);
    assert_int_equal(n, n_again);
    vouch_session_close(session);

    session = open_drafting(target, VOUCH_DRAFTER_HISTORY);
    assert_int_equal(vouch_session_add_history(session, bytes, n, &err), VOUCH_OK);
    answer_continue(&again, session, prompt, PROMPT);
    assert_true(answer_equal(&first, &again));
    assert_true(again.stats.accepted > first.n / 2);

    /* The session refuses every truncated history and every history with a changed byte, and stays as it was. */
    for (size_t i = 0; i < n; i++) {
        memcpy(wrong, bytes, n);
        wrong[i] ^= 1 << i % 8;
        const vouch_status status = vouch_session_add_history(session, wrong, n, &err);
        assert_true(status == VOUCH_E_FORMAT || (status == VOUCH_E_MISMATCH && i >= 12 && i < 24));
        assert_int_equal(vouch_session_add_history(session, bytes, i, &err), VOUCH_E_FORMAT);
    }
    assert_int_equal(vouch_session_add_history(session, "vouch", 5, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "not a history"));
    vouch_session_close(session);
    session = open_drafting(near, VOUCH_DRAFTER_SUFFIX);
    assert_int_equal(vouch_session_add_history(session, bytes, n, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_session_get_history(session, NULL, 0, &n_again, &err), VOUCH_E_ARGUMENT);
    vouch_session_close(session);
    vouch_model *other = tiny_model_open(&(tiny_model_options){.seed = 21, .vocab_seed = 9});
    session = open_drafting(other, VOUCH_DRAFTER_HISTORY);
    assert_int_equal(vouch_session_add_history(session, bytes, n, &err), VOUCH_E_MISMATCH);
    assert_non_null(strstr(err.message, "another vocabulary"));
    answer_continue(&got, session, prompt, PROMPT);
    assert_int_equal(got.stats.drafted, 0);
    vouch_session_close(session);
    vouch_model_close(other);
}

/* Answers that overfill the history: the kept ones can be saved and loaded whole. */
static void a_full_history_can_be_saved_and_loaded(void **state)
{
    (void)state;
    enum { ANSWER = 299, ANSWERS = 4, BYTES = 40 + 4 * ANSWERS * (ANSWER + 1) };
    static unsigned char bytes[BYTES], again[BYTES];
    vouch_session_options options = vouch_session_options_default();
    options.max_tokens = ANSWER;
    options.n_ctx = 400;
    options.ignore_eos = true;
    options.speculation.drafters = VOUCH_DRAFTER_HISTORY;
    options.speculation.history_tokens = ANSWERS * (ANSWER + 1);
    vouch_session *session = answer_open(target, &options);
    for (int i = 0; i < ANSWERS; i++) {
        static answer got;
        int32_t prompt[PROMPT];
        answer_prompt(prompt, PROMPT, 400, (uint64_t)i + 10, false);
        answer_continue(&got, session, prompt, PROMPT);
    }
    size_t n, n_again;
    assert_int_equal(vouch_session_get_history(session, bytes, sizeof bytes, &n, NULL), VOUCH_OK);
    assert_int_equal(n, BYTES);
    vouch_session_close(session);
    session = answer_open(target, &options);
    assert_int_equal(vouch_session_add_history(session, bytes, n, NULL), VOUCH_OK);
    assert_int_equal(vouch_session_get_history(session, again, sizeof again, &n_again, NULL), VOUCH_OK);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, bytes, n);
    vouch_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prediction_is_followed),
        cmocka_unit_test(a_history_is_kept_and_given_back),
        cmocka_unit_test(a_full_history_can_be_saved_and_loaded),
    };
    return cmocka_run_group_tests_name("history", tests, configs_open, configs_close);
}
