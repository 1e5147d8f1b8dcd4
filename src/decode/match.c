/* SPDX-License-Identifier: MIT */
/*
 * Match: the rule draws the target's own token from p, as plain decoding does. It accepts the guess that equals the
 * token. If none does, the token is emitted instead.
 *
 * The emitted token is the drawn one, so the rule is exact for any guesses. Nothing else uses the random numbers of
 * (seed, position). A session without drafts therefore emits the same text, byte for byte, at any temperature,
 * provided that p has the same bits in a pass of several rows (law L1).
 *
 * A guess by argmax is accepted with p(x), as under rejection. A guess drawn from q is accepted the more often, the
 * more alike the draws from p and from q are. `match` uses one number for both, cumulated over the vocabulary: where p
 * and q differ in one token, all later tokens shift. `coupled` uses a race between the tokens, which has no such shift:
 * it accepts with at least (1 - d) / (1 + d), d being the distance of p and q in total variation. Rejection, the best,
 * accepts with 1 - d.
 */
#include "decode/rules.h"

#include <math.h>

/* r is the chance that guess i is the drawn token, given that no sibling before it is. Without lenience the guess is
 * accepted exactly if it is the drawn token. With lenience l it must be accepted with min(1, r / l): where another
 * token was drawn, the position's u accepts it with the missing chance. u is not below the limits of the siblings that
 * it has rejected already. */
int32_t vouch_match_siblings(vouch_siblings *these, int32_t first)
{
    const vouch_trial *trial = these->trial;
    const vouch_dice *dice = trial->dice;
    const bool is_first = these->left.n == 0;
    double rest = 1, limit = these->before, u;
    these->token = dice->draw(dice->self, these->position, &these->left);
    for (int32_t i = first; i >= 0; i = vouch_next_child(trial->draft, these->parent, i)) {
        vouch_guess *guess = &these->guesses[i];
        if (guess->verdict == VOUCH_REJECTED) continue;
        const double mass = vouch_residual_p(&these->left, guess->token), r = mass < rest ? mass / rest : 1;
        const double chance = r < trial->lenience ? r / trial->lenience : 1;
        guess->p = vouch_dist_p(these->left.p, guess->token);
        guess->accept = these->before += (1 - these->before) * chance;
        guess->u = NAN;
        if (trial->want_overlap)
            these->overlap[i] =
                is_first && i == first ? vouch_dist_overlap(these->left.p, these->left.q, guess->token) : chance;
        bool accepted = guess->token == these->token;
        if (!accepted && r < chance) {
            const double before = limit;
            limit += (1 - limit) * ((chance - r) / (1 - r));
            accepted = dice->accept(dice->self, these->position, before, limit, &u);
        }
        guess->verdict = accepted ? VOUCH_ACCEPTED : VOUCH_REJECTED;
        if (accepted) return i;
        rest -= mass;
    }
    return -1;
}

static vouch_status judge_match(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_siblings(out, guesses, trial, vouch_match_siblings);
}

const vouch_rule vouch_rule_match = {.name = "match",
                                     .judge = judge_match,
                                     .draw = vouch_draw_position,
                                     .draw_guess = vouch_draw_position,
                                     .trees = true,
                                     .seed_reproduces = true,
                                     .ignores_q = true};
const vouch_rule vouch_rule_coupled = {.name = "coupled",
                                       .judge = judge_match,
                                       .draw = vouch_draw_race,
                                       .draw_guess = vouch_draw_race,
                                       .trees = true,
                                       .seed_reproduces = true};
