/* SPDX-License-Identifier: MIT */
/* Log probabilities of a prompt, from the passes that run it beside the engine's other sessions. */
#include <math.h>

#include "engine/options.h"
#include "engine/session.h"

vouch_status vouch_session_score_prompt(vouch_session *session, int32_t n_top, vouch_logprob *out, vouch_error *err)
{
    if (session->is_alone)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "a session by itself can't score a prompt while it runs: use "
                          "vouch_session_logprobs after vouch_session_prompt");
    if (n_top < 0 || n_top > VOUCH_MAX_LOGPROBS)
        return vouch_options_out_of_range(err, "n_top", n_top, 0, VOUCH_MAX_LOGPROBS);
    session->next_scores = (vouch_scores){out, n_top};
    return VOUCH_OK;
}

bool vouch_session_is_scored(const vouch_session *session)
{
    return session->scores.out && session->n_answer == 0;
}

vouch_status vouch_session_read_scores(vouch_session *session, int32_t from, int32_t past)
{
    const vouch_engine_target *t = &session->target;
    const vouch_scores *scores = &session->scores;
    for (int32_t i = from; i < past; i++) {
        vouch_logprob *out = scores->out + (size_t)i * (size_t)(1 + scores->n_top);
        vouch_logprobs_of_row(vouch_pass_logits(t->pass, t->first_logits + i - from), session->model->info.n_vocab,
                              session->cycle.tokens[i + 1], scores->n_top, out);
        if (!isfinite(out->logprob)) return VOUCH_E_NUMERIC;
    }
    if (past == session->cycle.n_tokens - 1) session->scores = (vouch_scores){0};
    return VOUCH_OK;
}
