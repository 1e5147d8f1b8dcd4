/* SPDX-License-Identifier: MIT */
/*
 * Match: at each place the target's own token is drawn from p, as plain decoding draws it; a guess that equals it is
 * accepted, and where none does, it takes the place.
 *
 * What is emitted is what was drawn, so it is exact whatever was guessed, and however. More than that: the draw is
 * by the random numbers of (seed, position) and by nothing else, and they are asked for nothing else; so the text is
 * that of a session without drafts, byte for byte, at any temperature. That needs p to be the same to the bit in a pass
 * of several rows (law L1).
 *
 * A guess by argmax holds with p(x), as under rejection. Guesses drawn from q hold more often the more alike the two
 * draws are when p and q are. With one number for a place (`match`), both cumulated over the vocabulary, tokens
 * between which p and q differ shift each other; with a race (`coupled`) they don't, and the guess holds with at least
 * (1 - d) / (1 + d), d being the distance in total variation: rejection, which is best, has 1 - d.
 */
#include "decode/rules.h"

#include <math.h>

/* Of the i-th guess r is the chance among what the guesses before it leave, that of being drawn. A lenient rule accepts
 * it with min(1, r / l), so it holds, too, where another token was drawn, with what that is more: by the position's u,
 * which isn't below the chance of the guesses that were rejected by it. */
int32_t vouch_place_match(vouch_site *site, int32_t first)
{
    const vouch_trial *trial = site->trial;
    const vouch_dice *dice = trial->dice;
    const bool is_first = site->left.n == 0;
    double rest = 1, limit = site->before, u;
    site->token = dice->draw(dice->self, site->position, &site->left);
    for (int32_t i = first; i >= 0; i = vouch_next_child(trial->draft, site->parent, i)) {
        vouch_guess *guess = &site->guesses[i];
        const double mass = vouch_residual_p(&site->left, guess->token), r = mass < rest ? mass / rest : 1;
        const double chance = r < trial->lenience ? r / trial->lenience : 1;
        guess->p = vouch_dist_p(site->left.p, guess->token);
        guess->accept = site->before += (1 - site->before) * chance;
        guess->u = NAN;
        if (trial->want_overlap)
            site->overlap[i] =
                is_first && i == first ? vouch_dist_overlap(site->left.p, site->left.q, guess->token) : chance;
        bool holds = guess->token == site->token;
        if (!holds && r < chance) {
            const double before = limit;
            limit += (1 - limit) * ((chance - r) / (1 - r));
            holds = dice->accept(dice->self, site->position, before, limit, &u);
        }
        guess->verdict = holds ? VOUCH_ACCEPTED : VOUCH_REJECTED;
        if (holds) return i;
        rest -= mass;
    }
    return -1;
}

static vouch_status judge_match(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_places(out, guesses, trial, vouch_place_match);
}

const vouch_rule vouch_rule_match = {.name = "match",
                                     .judge = judge_match,
                                     .draw = vouch_draw_position,
                                     .draw_guess = vouch_draw_position,
                                     .trees = true};
const vouch_rule vouch_rule_coupled = {.name = "coupled",
                                       .judge = judge_match,
                                       .draw = vouch_draw_race,
                                       .draw_guess = vouch_draw_race,
                                       .trees = true};
