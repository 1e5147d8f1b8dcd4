/* SPDX-License-Identifier: MIT */
/* vouch_reject: the judge over plain rows of probabilities, for engines that bring their own. */
#include "decode/judge.h"

#include <math.h>

#include "base/floats.h"

/* Wraps row i of p or q as a distribution. Rows need not sum to 1. */
static vouch_status wrap_row(vouch_dist *dist, const float *rows, int32_t i, int32_t n_vocab, const char *name,
                             vouch_error *err)
{
    const float *row = rows + (size_t)i * (size_t)n_vocab;
    *dist = (vouch_dist){
        .n_vocab = n_vocab, .n_support = n_vocab, .dense = true, .weight = (float *)(uintptr_t)row}; /* only read */
    for (int32_t x = 0; x < n_vocab; x++) {
        if (!(row[x] >= 0 && row[x] < INFINITY))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "%s[%d][%d] is %g: expected a finite weight of at least 0", name,
                              i, x, (double)row[x]);
        dist->total += row[x];
    }
    if (dist->total > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_ARGUMENT, "%s[%d] is all zero: expected a weight above 0 among its %d", name, i,
                      n_vocab);
}

static vouch_status check_accept(const vouch_rejection *in, vouch_error *err)
{
    const vouch_rule *rule = vouch_rule_get(in->accept);
    if (!rule)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "accept is %d%s: expected the number of a rule, 0 (%s) to %d (%s)",
                          (int)in->accept,
                          in->accept == VOUCH_ACCEPT_AUTO ? " (auto, which only a session resolves)" : "",
                          vouch_accept_name(0), VOUCH_ACCEPTS - 1, vouch_accept_name(VOUCH_ACCEPTS - 1));
    if (!(in->lenience > 0 && in->lenience <= 1))
        return vouch_fail(err, VOUCH_E_ARGUMENT, "lenience is %g: expected above 0 and at most 1; 1 is lossless",
                          in->lenience);
    if (in->lenience != 1 && !rule->lenient)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "lenience is %g: expected 1 with the rule %s; it has no lenience",
                          in->lenience, rule->name);
    return VOUCH_OK;
}

static vouch_status check_guesses(const vouch_rejection *in, vouch_error *err)
{
    if (in->k > 0 && !in->guesses)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "guesses is NULL: expected %d tokens, as k says", in->k);
    for (int32_t i = 0; i < in->k; i++)
        if (in->guesses[i] < 0 || in->guesses[i] >= in->n_vocab)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "guesses[%d] is %d: expected 0 to %d, as n_vocab is %d", i,
                              in->guesses[i], in->n_vocab - 1, in->n_vocab);
    return VOUCH_OK;
}

static vouch_status check(const vouch_rejection *in, vouch_error *err)
{
    const int64_t last = INT64_MAX - VOUCH_MAX_DRAFT;
    if (in->k < 0 || in->k > VOUCH_MAX_DRAFT)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "k is %d: expected 0 to %d", in->k, VOUCH_MAX_DRAFT);
    if (in->n_vocab < 1) return vouch_fail(err, VOUCH_E_ARGUMENT, "n_vocab is %d: expected at least 1", in->n_vocab);
    if (!in->p)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "p is NULL: expected %d rows of %d weights", in->k + 1, in->n_vocab);
    if (in->first_position < 0 || in->first_position > last)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "first_position is %lld: expected 0 to %lld",
                          (long long)in->first_position, (long long)last);
    VOUCH_TRY(check_accept(in, err));
    return check_guesses(in, err);
}

static vouch_status row_at(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    (void)depth;
    *p = &((const vouch_dist *)self)[row];
    return VOUCH_OK;
}

vouch_status vouch_reject(const vouch_rejection *in, int32_t *n_accepted, int32_t *final_token, vouch_guess *verdicts,
                          vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    vouch_dist p[VOUCH_MAX_DRAFT + 1], q[VOUCH_MAX_DRAFT];
    const vouch_dist *q_rows[VOUCH_MAX_DRAFT];
    vouch_guess guesses[VOUCH_MAX_DRAFT];
    VOUCH_TRY(check(in, err));
    for (int32_t i = 0; i <= in->k; i++) VOUCH_TRY(wrap_row(&p[i], in->p, i, in->n_vocab, "p", err));
    for (int32_t i = 0; in->q && i < in->k; i++) {
        VOUCH_TRY(wrap_row(&q[i], in->q, i, in->n_vocab, "q", err));
        q_rows[i] = &q[i];
    }
    const vouch_draft draft = {.n = in->k, .tokens = in->guesses, .q = in->q ? q_rows : NULL};
    const vouch_rule *rule = vouch_rule_get(in->accept);
    const vouch_seeded_draw seeded = {in->seed, rule->draw};
    const vouch_dice dice = vouch_dice_philox(&seeded);
    const vouch_trial trial = {.draft = &draft,
                               .row_p = row_at,
                               .row_self = p,
                               .dice = &dice,
                               .position = in->first_position,
                               .lenience = in->lenience};
    vouch_judgement judgement;
    VOUCH_TRY(vouch_judge(&judgement, verdicts ? verdicts : guesses, rule, &trial));
    *n_accepted = judgement.n_accepted;
    *final_token = judgement.final_token;
    return VOUCH_OK;
}
