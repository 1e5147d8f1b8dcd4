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
#include "spec/rules.h"

static int32_t place(const vouch_trial *trial, vouch_guess *guesses, double *overlap, vouch_residual *left,
                     int32_t parent, int32_t first, int64_t position, int32_t *token)
{
    const vouch_dice *dice = trial->dice;
    *token = dice->draw(dice->self, position, left);
    double before = 0; /* p of the guesses before */
    for (int32_t i = first; i >= 0; i = vouch_next_child(trial->draft, parent, i)) {
        vouch_guess *guess = &guesses[i];
        guess->p = guess->accept = vouch_dist_p(left->p, guess->token);
        guess->verdict = guess->token == *token ? VOUCH_ACCEPTED : VOUCH_REJECTED;
        const double rest = 1 - before;
        if (trial->want_overlap && i == first) overlap[i] = vouch_dist_overlap(left->p, left->q, guess->token);
        else if (trial->want_overlap) overlap[i] = guess->p < rest ? guess->p / rest : 1;
        if (guess->verdict == VOUCH_ACCEPTED) return i;
        before += guess->p;
    }
    return -1;
}

vouch_status vouch_judge_match(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_places(out, guesses, trial, place);
}
