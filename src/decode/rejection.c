/* SPDX-License-Identifier: MIT */
/*
 * Speculative rejection sampling (Leviathan et al., arXiv 2211.17192, Algorithm 1; Chen et al., arXiv
 * 2302.01318), and its form for trees, recursively without replacement (Jeon et al., arXiv 2402.14160; Chen et
 * al., "Sequoia", arXiv 2402.12374). Siblings are the guesses that have one parent. They are judged in the order in
 * which they were drawn. Guess x is accepted with
 *
 *     a = min(1, r(x) / (l q(x)))            l = lenience, 1: lossless
 *
 * r is p at first. After a rejection it becomes norm(max(0, r - l q)), and q loses the rejected guess. So the guess of
 * a chain is accepted with min(1, p / (l q)). Where all siblings are rejected, one token drawn from r ends the walk.
 * After a leaf, the bonus token is drawn from p.
 *
 * Proof for one guess: token x is emitted
 *
 *     as an accepted guess    q(x) min(1, p(x) / q(x))               = min(p(x), q(x))
 *     as a residual           (1 - sum min(p, q)) r(x),
 *                             r(x) = max(0, p(x) - q(x)) / (1 - sum min(p, q))
 *                                                                      together p(x)
 *
 * for any q from which the guess was drawn. For a further sibling the same proof holds with r instead of p, because it
 * is judged only where a token of r is still to be emitted. The judge computes p and q from the same weights that
 * the draws use. With l < 1 a token gets at most p / l.
 *
 * A guess without q is a point mass: it is accepted with r(x), and r loses it. So siblings x, y, z without q are
 * accepted with p(x), p(y), p(z). The same chances result from drawing the target's token from p and looking for it
 * among the siblings, and the code does that (match.c). The emitted token is then the drawn one. So the text
 * doesn't depend on the guesses, not even where an earlier answer used the same random numbers.
 *
 * Point masses may follow siblings that were drawn from q: after the rejections a token is drawn from r and looked for
 * among them. They may depend on every drawn guess. A drawn guess must be in the draft whatever token it is, because
 * the proof needs it to come with q(x).
 *
 * One random number u decides all drawn siblings. The i-th is accepted iff u is below the limit
 *
 *     A(i) = 1 - (1 - a(1)) ... (1 - a(i))
 *
 * and not below A(i - 1). Given the rejections before it, u is uniform above A(i - 1).
 */
#include "decode/rules.h"

static int32_t judge_siblings(vouch_siblings *these, int32_t first)
{
    const vouch_trial *trial = these->trial;
    const vouch_draft *draft = trial->draft;
    const vouch_dice *dice = trial->dice;
    vouch_residual *left = &these->left;
    int32_t i = first;
    for (; vouch_draft_is_drawn(draft, i); i = vouch_next_child(draft, these->parent, i)) {
        vouch_guess *guess = &these->guesses[i];
        const double before = these->before, chance = vouch_chance(left, guess->token);
        guess->p = vouch_dist_p(left->p, guess->token);
        guess->accept = these->before += (1 - before) * chance;
        if (trial->want_overlap)
            these->overlap[i] = left->n == 0 ? vouch_dist_overlap(left->p, left->q, guess->token) : chance;
        if (dice->accept(dice->self, these->position, before, guess->accept, &guess->u)) {
            guess->verdict = VOUCH_ACCEPTED;
            return i;
        }
        guess->verdict = VOUCH_REJECTED;
        vouch_residual_reject(left, guess->token);
    }
    return vouch_match_siblings(these, i);
}

static vouch_status judge_rejection(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_siblings(out, guesses, trial, judge_siblings);
}

const vouch_rule vouch_rule_rejection = {.name = "rejection",
                                         .judge = judge_rejection,
                                         .draw = vouch_draw_position,
                                         .draw_guess = vouch_draw_guess,
                                         .trees = true,
                                         .lenient = true};
