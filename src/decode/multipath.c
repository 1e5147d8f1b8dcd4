/* SPDX-License-Identifier: MIT */
/*
 * Greedy multi-path block verification (after Thomas and Pal, arXiv 2602.16961): of several independent paths of
 * guesses the rule chooses one, level by level, and judges it as by block verification, with the q of the choice.
 *
 *     paths  a b c     at the sequence 3 paths choose between a (2 paths) and x (1 path). If they choose a, 2 paths
 *            a d e     choose between b and d. The chosen path is judged. Where it ends, the next token is drawn, and
 *            x y z     may be a guess of another path: x, say. Then x is accepted, and its 1 path is judged after it
 *
 * Let n paths share the guesses up to v. Their next tokens are n independent draws from q. The rule chooses the
 * token with the largest p / q, up to a quarter of an octave, of equal ones the first, because the more the target
 * likes a token beyond the draft, the likelier it is accepted, and the more it makes up for a guess before it. The
 * chosen token is x with a probability q~(x) that follows from p, q and n alone (vouch_choice). So joint.c judges it as
 * a guess drawn from q~.
 *
 * Proof. It is that of joint.c, except that one step takes away the last n draws together, those after v. If the judge
 * doesn't come to v from its parent, these draws change nothing. Otherwise the token chosen from them has the
 * distribution q~, given all that was drawn before. Averaged over it, either v and the token y are emitted as without
 * the draws, or neither is, and the state of v's parent doesn't depend on them. After y tokens of p follow, also where
 * y is a guess that wasn't chosen: what was drawn before y says nothing about the random numbers that draw the tokens
 * after it. The paths after y are independent draws that nobody has looked at; so the judge may begin again there. The
 * choice looks only at draws after v, and at p, q and n, the number of paths that took v, which was known before them.
 *
 * With one path this is block verification.
 */
#include <assert.h>

#include "decode/rules.h"

static int32_t choose(vouch_fork *fork, int32_t after)
{
    const vouch_draft *draft = fork->draft;
    vouch_residual *left = &fork->left;
    int32_t n = 0, n_guesses = 0, chosen = -1, best = -1;
    if (after >= 0) return -1;
    for (int32_t i = -1; (i = vouch_traverse(fork, i)) >= 0; n_guesses++) n += draft->paths ? draft->paths[i] : 1;
    assert(draft->paths || n_guesses == 1);
    if (n == 1) return vouch_traverse(fork, -1);
    vouch_choice_begin(&fork->choice, left->p, left->q, n);
    left->choice = &fork->choice;
    for (int32_t i = -1; (i = vouch_traverse(fork, i)) >= 0;) {
        const int32_t token = draft->tokens[i];
        const int32_t rank = vouch_choice_rank(left->choice, left->p->weight[token], left->q->weight[token]);
        if (rank <= best) continue;
        best = rank;
        chosen = i;
    }
    return chosen;
}

static vouch_status judge_multipath(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_jointly(out, guesses, trial, choose);
}

const vouch_rule vouch_rule_multipath = {.name = "multipath",
                                         .judge = judge_multipath,
                                         .draw = vouch_draw_position,
                                         .draw_guess = vouch_draw_guess,
                                         .trees = true,
                                         .paths = true};
