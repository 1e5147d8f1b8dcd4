/* SPDX-License-Identifier: MIT */
/*
 * Judges drawn guesses together, from the leaves to the root. Block verification (block.c) is its form for chains, and
 * traversal.c and multipath.c say which guesses of a tree it judges. It divides the chance of each guess among the
 * guesses after it. A state (w, r) belongs to guess v, or to the sequence:
 *
 *     w   the chance that the judge ends at v or after v, given that it comes to v
 *     r   the distribution of the token after v, given that it does
 *
 * It begins with w = 1, r = p for the sequence, and with r = p for a guess. A child x of v, drawn from q, gets
 *
 *     w(x) = min(1, w r(x) / q(x))
 *
 * and if the judge does not end at x or after x, the state of v becomes
 *
 *     R = sum over y of max(0, w r(y) - q(y)),  w' = R / (R + 1 - w),  r' = norm(max(0, w r - q))             (*)
 *
 * This is rejection (rejection.c) with w r / q instead of r / q, that is, with a lenience of 1 / w, which is 1 or more.
 * Then comes the next child of v, and after the last one the judge ends at v with the chance h(v), the w that is left.
 * It always ends at the sequence: w = 1 stays 1. Where it ends, it draws the next token from the r that is left.
 *
 * Proof. Let a draft D have one guess more than D', the last one that was drawn: x, a child of v. Averaged over x, D
 * gives the same outcome as D', whatever is in D'. For D and D' are judged alike until v comes to x, in a state (w, r)
 * that doesn't depend on x. There D' ends at v with token y next with chance w r(y). D emits y
 *
 *     as the guess    q(y) w(y)                               = min(q(y), w r(y))
 *     as a residual   (1 - the sum of min(q, w r)) w' r'(y)
 *                     = (R + 1 - w) w' r'(y)                  = max(0, w r(y) - q(y))      together w r(y)
 *
 * and after y, tokens of p follow in both. Neither ends at v with chance 1 - w, and then they go on alike. So all drawn
 * guesses can be taken away, the last one first, and the outcome stays that of a draft without them, which is p. Two
 * things are needed: x is drawn from q given all guesses before it, and nothing that was drawn before x depends on it.
 * So the shape of the draft may depend on all guesses before (drafter.h, D3). For siblings without replacement q is the
 * rest of q without the earlier siblings. A row without p is a guess without children: whether there is one depends on
 * the guesses before it only.
 *
 * One random number u decides, as among siblings. The guesses are asked from the leaves to the root, children before
 * their parent, in the order of their numbers. The judge ends at the j-th one iff u is below
 *
 *     A(j) = 1 - (1 - h(1)) ... (1 - h(j))
 *
 * and not below A(j - 1). It uses the u of the position at which the judged guesses begin; no other draft begins there.
 * Unlike match and rejection, this looks at guesses that it doesn't reach, and they influence how many are accepted. So
 * rejected guesses must not be drafted again: a drafter that draws from q uses new random numbers when it drafts the
 * same position again (vouch_draw_guess).
 *
 * The token after the end is looked for among the guesses that were not judged there (match.c): point masses, and under
 * multipath the drawn guesses of other paths. That is exact for any guesses, because the token is drawn without regard
 * to them. If one of these guesses is the token, the judge accepts it and begins again after it. To judge point masses
 * together would accept no more of them, because w of a point mass is w r, which is never capped.
 */
#include "decode/rules.h"

int32_t vouch_traverse(vouch_fork *fork, int32_t i)
{
    const int32_t child = vouch_next_child(fork->draft, fork->parent, i < 0 ? fork->parent : i);
    return vouch_draft_is_drawn(fork->draft, child) ? child : -1;
}

/* A smaller w counts as 0, because 1 / w must stay finite. */
static const double NEVER = 1e-200;

enum { UNJUDGED = -1, N_STATES = VOUCH_MAX_DRAFT + 1 };

/* The guesses after `top` that are judged together. Guess i has its numbers at i + 1, the sequence at 0. */
typedef struct plan {
    vouch_judgement *out;
    vouch_guess *guesses;
    const vouch_trial *trial;
    vouch_fork_fn *next;
    int32_t top; /* the last accepted guess; -1: the sequence */
    double w[N_STATES], h[N_STATES];
    int32_t order[N_STATES], n_order; /* guesses in the order in which they are asked, all but `top` */
    int32_t row;                      /* the last one that was asked for; -1: none */
    const vouch_dist *p;              /* its p */
} plan;

static vouch_status plan_row(plan *k, int32_t v)
{
    if (k->row == v + 1) return VOUCH_OK;
    const int32_t depth = v < 0 ? 0 : vouch_draft_depth(k->trial->draft, v) + 1;
    const vouch_status status = k->trial->row_p(k->trial->row_self, v + 1, depth, &k->p);
    k->row = status == VOUCH_OK ? v + 1 : -1;
    return status;
}

/* The state of v before its children are judged. Its row is at hand. */
static void fork_open(vouch_fork *fork, const plan *k, int32_t v)
{
    const vouch_draft *draft = k->trial->draft;
    const int32_t first = vouch_next_child(draft, v, v);
    fork->draft = draft;
    fork->parent = v;
    fork->w = k->w[v + 1];
    vouch_residual_begin(&fork->left, k->p, first >= 0 && draft->q ? draft->q[first] : NULL, 1);
}

/* Returns w of a child, and changes the state of its parent to the one without it (*). */
static double fork_judge(vouch_fork *fork, int32_t child)
{
    const int32_t token = fork->draft->tokens[child];
    if (fork->w < NEVER) return 0;
    fork->left.lenience = 1 / fork->w;
    const double w = vouch_chance(&fork->left, token);
    vouch_residual_reject(&fork->left, token);
    const double rest = fork->w * fork->left.total;
    fork->w = fork->w < 1 ? rest / (rest + 1 - fork->w) : 1;
    return w;
}

/* Divides w of a guess, or of the sequence, among its children. */
static void plan_children(plan *k, int32_t v)
{
    const vouch_trial *trial = k->trial;
    const vouch_draft *draft = trial->draft;
    k->h[v + 1] = k->w[v + 1];
    if (k->w[v + 1] < NEVER || !vouch_draft_is_drawn(draft, vouch_next_child(draft, v, v))) return;
    if (plan_row(k, v) != VOUCH_OK) return;
    vouch_fork fork;
    fork_open(&fork, k, v);
    for (int32_t i = k->next(&fork, -1); i >= 0; i = k->next(&fork, i)) {
        const int32_t token = draft->tokens[i];
        const bool is_first = fork.left.n == 0 && !fork.left.choice;
        k->guesses[i].p = vouch_dist_p(k->p, token);
        k->w[i + 1] = fork_judge(&fork, i);
        if (trial->want_overlap)
            k->out->overlap[i] = is_first ? vouch_dist_overlap(k->p, draft->q[i], token) : k->w[i + 1];
    }
    k->h[v + 1] = fork.w;
}

/* Lists the judged guesses after v, and then v. */
static void plan_list(plan *k, int32_t v)
{
    const vouch_draft *draft = k->trial->draft;
    for (int32_t i = v; (i = vouch_next_child(draft, v, i)) >= 0;)
        if (k->w[i + 1] != UNJUDGED) plan_list(k, i);
    if (v != k->top) k->order[k->n_order++] = v;
}

/* Finds w and h of all guesses after `top`. Parents come before their children. */
static void plan_make(plan *k)
{
    k->n_order = 0;
    for (int32_t i = 0; i < N_STATES; i++) k->w[i] = UNJUDGED;
    k->w[k->top + 1] = 1;
    for (int32_t v = k->top; v < k->trial->draft->n; v++)
        if (k->w[v + 1] != UNJUDGED) plan_children(k, v);
    plan_list(k, k->top);
}

/* Draws u. Returns the guess at which the judge ends. */
static int32_t plan_end(plan *k, double *u)
{
    const vouch_trial *trial = k->trial;
    const vouch_dice *dice = trial->dice;
    double limit = 0;
    for (int32_t j = 0; j < k->n_order; j++)
        k->guesses[k->order[j]].accept = limit += (1 - limit) * k->h[k->order[j] + 1];
    limit = 0;
    for (int32_t j = 0; j < k->n_order; j++) {
        const vouch_guess *guess = &k->guesses[k->order[j]];
        if (dice->accept(dice->self, trial->position + k->out->n_accepted, limit, guess->accept, u)) return k->order[j];
        limit = guess->accept;
    }
    return k->top;
}

/* Writes the verdicts. Accepted are the guesses from `top` to the end; rejected their judged children that were asked
 * before. The others count as not reached. */
static void plan_settle(plan *k, int32_t end, double u)
{
    vouch_judgement *out = k->out;
    const vouch_draft *draft = k->trial->draft;
    int32_t n = out->n_accepted;
    for (int32_t i = end; i != k->top; i = vouch_draft_parent(draft, i)) n++;
    out->n_accepted = n;
    for (int32_t i = end; i != k->top; i = vouch_draft_parent(draft, i)) {
        out->path[--n] = i;
        k->guesses[i].verdict = VOUCH_ACCEPTED;
        k->guesses[i].u = u;
    }
    for (int32_t j = 0; j < k->n_order; j++) {
        vouch_guess *guess = &k->guesses[k->order[j]];
        if (guess->verdict == VOUCH_ACCEPTED) continue;
        const bool is_near = guess->parent == k->top || k->guesses[guess->parent].verdict == VOUCH_ACCEPTED;
        if (is_near && guess->accept <= u) {
            guess->verdict = VOUCH_REJECTED;
            guess->u = u;
        } else {
            guess->p = guess->accept = 0;
        }
    }
}

/* Draws the token after the end and looks for it among the guesses that were not judged there. Returns the one that it
 * is, or -1 after setting the final token. */
static int32_t plan_draw(plan *k, int32_t end)
{
    vouch_fork fork;
    fork_open(&fork, k, end);
    const vouch_draft *draft = k->trial->draft;
    const int32_t first = vouch_next_child(draft, end, end);
    if (vouch_draft_is_drawn(draft, first))
        for (int32_t i = k->next(&fork, -1); i >= 0; i = k->next(&fork, i)) fork_judge(&fork, i);
    vouch_siblings these = {.trial = k->trial,
                            .guesses = k->guesses,
                            .overlap = k->out->overlap,
                            .parent = end,
                            .position = k->trial->position + k->out->n_accepted,
                            .left = fork.left};
    const int32_t found = vouch_match_siblings(&these, first);
    if (found >= 0) return found;
    k->out->final_token = these.token;
    k->out->origin = first >= 0 ? VOUCH_ORIGIN_RESIDUAL : draft->n > 0 ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN;
    return -1;
}

vouch_status vouch_judge_jointly(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial,
                                 vouch_fork_fn *next)
{
    plan k = {.out = out, .guesses = guesses, .trial = trial, .next = next, .top = -1, .row = -1};
    for (;;) {
        double u = 0;
        plan_make(&k);
        const int32_t end = plan_end(&k, &u);
        plan_settle(&k, end, u);
        const vouch_status status = plan_row(&k, end);
        if (status != VOUCH_OK) {
            out->origin = VOUCH_ORIGIN_ACCEPTED;
            return out->n_accepted > 0 ? VOUCH_OK : status;
        }
        k.top = plan_draw(&k, end);
        if (k.top < 0) return VOUCH_OK;
        out->path[out->n_accepted++] = k.top;
    }
}
