/* SPDX-License-Identifier: MIT */
/*
 * Speculative rejection sampling (Leviathan et al., arXiv 2211.17192, Algorithm 1; Chen et al., arXiv
 * 2302.01318), and its form for trees, recursively without replacement (Jeon et al., arXiv 2402.14160; Chen et
 * al., "Sequoia", arXiv 2402.12374). Of the guesses for one place, in the order in which they were drawn, x is
 * accepted with
 *
 *     a = min(1, r(x) / (l q(x)))            l = lenience, 1: lossless
 *
 * where r is p at first, and after a rejection norm(max(0, r - l q)), and q loses the rejected guess. So a
 * chain's guess has min(1, p / (l q)). Where none holds, one token of what is left of p ends the walk; behind a
 * leaf it is the bonus token, drawn from p.
 *
 * Why it is exact, for one place and one guess: token x is emitted
 *
 *     as an accepted guess    q(x) min(1, p(x) / q(x))               = min(p(x), q(x))
 *     as a residual           (1 - sum min(p, q)) r(x),
 *                             r(x) = max(0, p(x) - q(x)) / (1 - sum min(p, q))
 *                                                                      together p(x)
 *
 * whatever q is, if it is what the guess was drawn from. A further guess for the place is the same again with r
 * in the place of p: it is judged only where r is what is still to be emitted. Every number is computed from
 * the same weights that were drawn from. With l < 1 a token gets at most p / l.
 *
 * A guess without q came from a point mass: the first is accepted with p(x), and r is p without it. Guesses
 * x, y, z for one place then are accepted with p(x), p(y), p(z). That is what the target's own token gives, drawn from
 * p and looked for among them; and so they are judged (match.c): then what is emitted is what was drawn, and a guess
 * has no say in it, also where it is the token that the same random numbers gave before, in an earlier answer.
 *
 * Point masses may follow guesses drawn from q: behind the rejected x, a token is drawn from r and looked for among
 * them. What they are may depend on x, and on all that was drawn behind x. It is the drawn ones that must be there
 * whatever they are: x comes with q(x) where its place is judged, not where x was found good enough.
 *
 * One random number u decides all drawn guesses for a place: the i-th is accepted iff u is below the limit
 *
 *     A(i) = 1 - (1 - a(1)) ... (1 - a(i))
 *
 * and not below A(i - 1); given the rejections before, u is uniform above A(i - 1).
 */
#include "decode/rules.h"

static int32_t place(vouch_site *site, int32_t first)
{
    const vouch_trial *trial = site->trial;
    const vouch_draft *draft = trial->draft;
    const vouch_dice *dice = trial->dice;
    vouch_residual *left = &site->left;
    int32_t i = first;
    for (; i >= 0 && draft->q && draft->q[i]; i = vouch_next_child(draft, site->parent, i)) {
        vouch_guess *guess = &site->guesses[i];
        const double before = site->before, chance = vouch_chance(left, guess->token);
        guess->p = vouch_dist_p(left->p, guess->token);
        guess->accept = site->before += (1 - before) * chance;
        if (trial->want_overlap)
            site->overlap[i] = left->n == 0 ? vouch_dist_overlap(left->p, left->q, guess->token) : chance;
        if (dice->accept(dice->self, site->position, before, guess->accept, &guess->u)) {
            guess->verdict = VOUCH_ACCEPTED;
            return i;
        }
        guess->verdict = VOUCH_REJECTED;
        vouch_residual_reject(left, guess->token);
    }
    return vouch_place_match(site, i);
}

static vouch_status judge_rejection(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_places(out, guesses, trial, place);
}

const vouch_rule vouch_rule_rejection = {.name = "rejection",
                                         .judge = judge_rejection,
                                         .draw = vouch_draw_position,
                                         .draw_guess = vouch_draw_guess,
                                         .trees = true,
                                         .lenient = true};
