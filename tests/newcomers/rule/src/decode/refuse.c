/* SPDX-License-Identifier: MIT */
/* A rule in one file, for tests/house/test_newcomers.sh: it rejects every guess and draws each token as MATCH does. */
#include "decode/rules.h"

static int32_t refuse(vouch_siblings *site, int32_t first)
{
    (void)first;
    site->token = site->trial->dice->draw(site->trial->dice->self, site->position, &site->left);
    return -1;
}

static vouch_status judge(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_siblings(out, guesses, trial, refuse);
}

const vouch_rule vouch_rule_refuse = {.name = "refuse",
                                      .judge = judge,
                                      .draw = vouch_draw_position,
                                      .draw_guess = vouch_draw_position,
                                      .ignores_q = true,
                                      .trees = true,
                                      .seed_reproduces = true};
