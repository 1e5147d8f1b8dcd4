/* SPDX-License-Identifier: MIT */
/* The drafter `prediction` through the API. */
#include <string.h>

#include "support/decode/configs.h"

static vouch_session *open_drafting(const vouch_model *model, unsigned drafters)
{
    vouch_session_options options = options_of(NGRAM, 8, NULL);
    options.speculation.drafters = drafters;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prediction_is_followed),
    };
    return cmocka_run_group_tests_name("prediction", tests, configs_open, configs_close);
}
