/* SPDX-License-Identifier: MIT */
#include "support/decode/enumerate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "decode/rules.h"
#include "support/decode/grammar.h"
#include "support/decode/drive.h"
#include "support/test.h"
#include "support/model/tokenizers.h"
#include "support/walker.h"

enum { MAX_JOINT = 6 * 6 * 6 * 6, N_PROMPT = 2, MAX_NODES = 20 };

static const double EXACT = 1e-12;

/* ------------------------------------------------------------------- setup */

typedef struct run {
    setup setup;
    walker walker;
    toy target, draft, odd_draft; /* odd_draft: the draft at another temperature, or untrimmed */
    toy other;                    /* a second target, for looking up p without disturbing the first */
    vouch_grammar *grammar;       /* NULL: none */
    vouch_tokenizer *tokenizer;
    vouch_trie *trie;
    vouch_thoughts thoughts;
    vouch_constraint *constraint;
    vouch_rule rule; /* the real rule, or a broken copy */
    bool one_cycle;
    vouch_dist q[VOUCH_MAX_DRAFT];
    const vouch_dist *q_rows[VOUCH_MAX_DRAFT], *mixed_q[VOUCH_MAX_DRAFT];
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT], n_paths[VOUCH_MAX_DRAFT];
    int32_t reused[TOY_MAX_CTX]; /* guesses by position, -1: none yet */
    int64_t asked;               /* last position whose u was asked for; not_below: lower bound of that u so far */
    double not_below;
    vouch_arena arena;
    vouch_cycle cycle;
    vouch_stats stats;
    int32_t tokens[TOY_MAX_CTX];
    int32_t n_committed;
    long double joint[MAX_JOINT]; /* index: the emitted tokens as digits in base n_vocab + 1; n_vocab: ended */
    long double accepted;         /* expected number of accepted guesses in the first cycle */
} run;

static void dist_masses(const vouch_dist *dist, double *mass)
{
    for (int32_t x = 0; x < dist->n_vocab; x++) mass[x] = vouch_dist_p(dist, x);
}

/* -------------------------------------------------------------------- dice */

static bool branch_accept(void *self, int64_t position, double before, double limit, double *u)
{
    run *r = self;
    assert_true(before >= 0 && before <= limit && limit <= 1);
    assert_true(before == (position == r->asked ? r->not_below : 0)); /* a position has one u */
    r->asked = position;
    r->not_below = limit;
    double probability = before < 1 ? (limit - before) / (1 - before) : 0;
    if (r->setup.wrong == LIMITS_NOT_SHARED) probability = limit;
    bool accepted = probability >= 1;
    if (probability > 0 && probability < 1)
        accepted = walker_choose(&r->walker, (const double[]){probability, 1 - probability}, 2) == 0;
    *u = accepted ? before : limit;
    return accepted;
}

/* Replaces q by the distribution of the token that is chosen from n draws: walks all results of the draws. */
static void choose_of_draws(const vouch_residual *left, int32_t n, double *q)
{
    const int32_t n_vocab = left->p->n_vocab;
    double chosen[MAX_VOCAB] = {0};
    int32_t n_results = 1;
    for (int32_t i = 0; i < n; i++) n_results *= n_vocab;
    for (int32_t result = 0; result < n_results; result++) {
        double probability = 1;
        int32_t best = -1, token = 0;
        for (int32_t i = 0, rest = result; i < n; i++, rest /= n_vocab) {
            const int32_t x = rest % n_vocab;
            const int32_t rank = vouch_choice_rank(left->choice, left->p->weight[x], left->q->weight[x]);
            probability *= q[x];
            if (rank > best) token = x;
            if (rank > best) best = rank;
        }
        chosen[token] += probability;
    }
    memcpy(q, chosen, (size_t)n_vocab * sizeof *q);
}

/* The residual of p by its definition. False if it is empty. `lenience`: of all rejections; 0: as `left` has them. */
static bool residual_masses(const vouch_residual *left, int32_t n_rejected, double lenience, double *mass)
{
    const int32_t n_vocab = left->p->n_vocab;
    double q[MAX_VOCAB], total = 1;
    dist_masses(left->p, mass);
    if (left->q) dist_masses(left->q, q);
    if (left->choice) choose_of_draws(left, left->choice->n, q);
    for (int32_t i = 0; i < n_rejected && total > 0; i++) {
        double q_total = 0, next = 0;
        for (int32_t x = 0; x < n_vocab && left->q; x++) q_total += q[x];
        const double weights = left->q ? q_total * left->q->total : 0;
        const double l = lenience > 0 ? lenience : left->q ? left->b[i] * weights : 1;
        for (int32_t x = 0; x < n_vocab; x++) {
            const double q_x = left->q ? q[x] / q_total : x == left->rejected[i] ? 1 : 0;
            mass[x] = fmax(0, mass[x] / total - l * q_x);
            if (x == left->rejected[i]) mass[x] = 0;
            next += mass[x];
        }
        if (left->q) q[left->rejected[i]] = 0;
        total = next;
    }
    return total > 0;
}

/* Checks that the library's draw gives each token at both ends of its interval of u. The enumeration then branches
 * on the same intervals. */
static void check_draw(const run *r, const double *mass, const vouch_residual *left)
{
    double total = 0, below = 0;
    const double inside = 1e-13;
    for (int32_t x = 0; x < r->setup.n_vocab; x++) total += mass[x];
    for (int32_t x = 0; x < r->setup.n_vocab; x++) {
        const double low = below / total, high = (below += mass[x]) / total;
        if (high - low < 4 * inside) continue;
        for (int end = 0; end < 2; end++)
            assert_int_equal(vouch_residual_draw(left, end ? high - inside : low + inside), x);
    }
}

/* The distribution of a draw from p, given the guess that a draw from q gave with the same random numbers. */
static void coupled_masses(const run *r, const double *q, int32_t guess, double *mass)
{
    const int32_t n = r->setup.n_vocab;
    double p[MAX_VOCAB];
    memcpy(p, mass, (size_t)n * sizeof *p);
    for (int32_t x = 0; x < n; x++)
        mass[x] = r->setup.accept == VOUCH_ACCEPT_COUPLED ? coupling_of_races(p, q, n, guess, x)
                                                          : coupling_of_numbers(p, q, n, guess, x);
}

static void couple(run *r, int64_t position, double *mass)
{
    const setup *s = &r->setup;
    const int32_t row = (int32_t)position - r->cycle.n_tokens;
    double q[MAX_VOCAB];
    if (s->wrong == NOISE_OF_TOKEN_BEFORE && position > N_PROMPT) {
        dist_masses(toy_dist(&r->other, r->tokens, (int32_t)position - 1), q);
        coupled_masses(r, q, r->tokens[position - 1], mass);
    } else if (!s->greedy_draft && !s->branches && !s->points && row < r->cycle.draft.n) {
        dist_masses(&r->q[row], q);
        coupled_masses(r, q, r->guesses[row], mass);
    }
}

static int32_t branch_draw(void *self, int64_t position, const vouch_residual *left)
{
    run *r = self;
    const wrong broken = r->setup.wrong;
    double mass[MAX_VOCAB], total = 0;
    int32_t last = 0;
    if (residual_masses(left, left->n, 0, mass)) check_draw(r, mass, left);
    else dist_masses(left->p, mass);
    if (broken == BONUS_FROM_Q && left->n == 0 && position > r->cycle.n_tokens)
        dist_masses(toy_dist(&r->draft, r->tokens, (int32_t)position), mass);
    if (broken == RESIDUAL_IS_P) dist_masses(left->p, mass);
    if (broken == RESIDUAL_OF_ONE) residual_masses(left, left->n > 1, 0, mass);
    if (broken == RESIDUAL_OF_TOKEN && !residual_masses(left, left->n, 1, mass)) dist_masses(left->p, mass);
    const vouch_accept accept = r->setup.accept;
    if (accept == VOUCH_ACCEPT_MATCH || accept == VOUCH_ACCEPT_COUPLED) couple(r, position, mass);
    for (int32_t x = 0; x < left->p->n_vocab; x++) {
        total += mass[x];
        if (mass[x] > 0) last = x;
    }
    if (broken == RESIDUAL_NOT_NORMALISED && left->n > 0) mass[last] += 1 - total;
    return walker_choose_token(&r->walker, mass, left->p->n_vocab);
}

/* ----------------------------------------------------------------- drafter */

static void copy_dist(vouch_dist *to, const vouch_dist *from)
{
    memcpy(to->weight, from->weight, (size_t)from->n_vocab * sizeof *to->weight);
    memcpy(to->support, from->support, (size_t)from->n_vocab * sizeof *to->support);
    to->n_support = from->n_support;
    to->dense = from->dense;
    to->total = from->total;
}

/* Chooses the guesses for one position by q: the likeliest, or sampled. n_before guesses are in the draft. Returns
 * their number. */
static int32_t choose_children(run *r, const vouch_dist *q, int32_t n_before, int32_t *tokens)
{
    const setup *s = &r->setup;
    double mass[MAX_VOCAB], total = 1;
    dist_masses(q, mass);
    int32_t n = 0, sum = 0;
    for (int32_t i = 0; i < n_before; i++) sum += r->guesses[i];
    const int32_t n_most = s->crooked ? sum % (s->branches + 1) : s->branches;
    for (; n < n_most && total > 0; n++) {
        int32_t token = 0;
        for (int32_t x = 0; x < s->n_vocab; x++)
            if (mass[x] > mass[token]) token = x;
        if (!s->greedy_draft) token = walker_choose_token(&r->walker, mass, s->n_vocab);
        tokens[n] = token;
        if (s->wrong != WITH_REPLACEMENT) mass[token] = 0;
        total = 0;
        for (int32_t x = 0; x < s->n_vocab; x++) total += mass[x];
        if (s->wrong == DROP_LOW_Q && vouch_dist_p(q, token) < 0.2) return n;
    }
    for (int32_t i = 1; i < n && s->wrong == BEST_FIRST; i++)
        for (int32_t j = i; j > 0 && q->weight[tokens[j]] > q->weight[tokens[j - 1]]; j--) {
            const int32_t token = tokens[j];
            tokens[j] = tokens[j - 1];
            tokens[j - 1] = token;
        }
    return n;
}

/* Whether no guess for this position has the token yet. */
static bool is_new(const run *r, int32_t n, int32_t parent, int32_t token)
{
    for (int32_t i = 0; i < n; i++)
        if (r->parents[i] == parent && r->guesses[i] == token) return false;
    return true;
}

/* q after guess `parent` (-1: the sequence), which has this depth. */
static const vouch_dist *q_after(run *r, const int32_t *tokens, int32_t n_tokens, int32_t parent, int32_t depth)
{
    int32_t sequence[TOY_MAX_CTX];
    memcpy(sequence, tokens, (size_t)n_tokens * sizeof *sequence);
    for (int32_t i = parent, at = n_tokens + depth; i >= 0; i = r->parents[i]) sequence[--at] = r->guesses[i];
    return toy_dist(&r->draft, sequence, n_tokens + depth);
}

static int32_t depth_after(const run *r, int32_t parent)
{
    int32_t depth = 0;
    for (int32_t i = parent; i >= 0; i = r->parents[i]) depth++;
    return depth;
}

/* Adds a point mass after each of the n guesses and after the sequence. It depends on all guesses. */
static vouch_draft finish_tree(run *r, int32_t n, const vouch_shape *shape)
{
    const setup *s = &r->setup;
    const bool point = s->greedy_draft && s->wrong != FULL_Q_FOR_ARGMAX;
    const int32_t drawn = n;
    int32_t sum = 0;
    for (int32_t i = 0; i < drawn; i++) {
        sum += r->guesses[i];
        r->mixed_q[i] = point ? NULL : r->q_rows[i];
    }
    for (int32_t parent = -1; parent < drawn && s->points; parent++) {
        const int32_t token = (sum + parent + 1) % s->n_vocab;
        if (n == shape->n || depth_after(r, parent) >= shape->depth || !is_new(r, n, parent, token)) continue;
        r->guesses[n] = token;
        r->parents[n] = parent;
        r->mixed_q[n++] = NULL;
    }
    return (vouch_draft){
        .n = n, .tokens = r->guesses, .parents = r->parents, .q = r->mixed_q, .paths = s->paths ? r->n_paths : NULL};
}

/* Drafts a full tree, level by level. */
static vouch_draft branch_propose_tree(run *r, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    int32_t n = 0;
    for (int32_t parent = -1; parent < n; parent++) {
        int32_t children[MAX_VOCAB];
        const int32_t depth = depth_after(r, parent);
        if (depth == r->setup.k || depth == shape->depth) break;
        const vouch_dist *q = q_after(r, tokens, n_tokens, parent, depth);
        const int32_t n_children = choose_children(r, q, n, children);
        const int32_t first = n;
        for (int32_t i = 0; i < n_children && n < shape->n; i++, n++) {
            r->guesses[n] = children[i];
            r->parents[n] = parent;
            r->q_rows[n] = &r->q[first];
            if (n == first) copy_dist(&r->q[n], q);
        }
    }
    return finish_tree(r, n, shape);
}

/* Drafts independent paths, level by level. Equal beginnings are one. All end at the level that may have no room. */
static vouch_draft branch_propose_paths(run *r, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    const setup *s = &r->setup;
    const int32_t n_paths = s->paths < shape->n ? s->paths : shape->n;
    int32_t n = 0, ends[MAX_NODES];
    for (int32_t path = 0; path < n_paths; path++) ends[path] = -1;
    for (int32_t depth = 0, level = -1, past = 0; depth < s->k && depth < shape->depth; depth++) {
        if (n + n_paths > shape->n) break;
        for (int32_t parent = level; parent < past; parent++) {
            const vouch_dist *q = q_after(r, tokens, n_tokens, parent, depth);
            const int32_t first = n;
            double mass[MAX_VOCAB], left = 1;
            dist_masses(q, mass);
            for (int32_t path = 0; path < n_paths; path++) {
                if (ends[path] != parent || !(left > 0)) continue;
                const int32_t token = walker_choose_token(&r->walker, mass, s->n_vocab);
                int32_t i = first;
                while (i < n && r->guesses[i] != token) i++;
                if (i == n) {
                    r->n_paths[n] = 0;
                    r->guesses[n] = token;
                    r->parents[n] = parent;
                    r->q_rows[n++] = &r->q[first];
                    if (i == first) copy_dist(&r->q[first], q);
                }
                if (r->n_paths[i] == 0 || s->wrong != PATHS_OF_ONE) r->n_paths[i]++;
                if (s->wrong == PATHS_WITHOUT_REPLACEMENT) mass[token] = 0;
                ends[path] = i;
                left = 0;
                for (int32_t x = 0; x < s->n_vocab; x++) left += mass[x];
            }
        }
        level = depth == 0 ? 0 : past;
        past = n;
    }
    return finish_tree(r, n, shape);
}

/* Chooses guess n of a chain that follows n_tokens. */
static int32_t choose_guess(run *r, const vouch_dist *q, const int32_t *sequence, int32_t n_tokens, int32_t n)
{
    double mass[MAX_VOCAB];
    const bool odd = r->setup.wrong == Q_OF_OTHER_TEMPERATURE || r->setup.wrong == GUESSES_OUTSIDE_Q;
    dist_masses(odd ? toy_dist(&r->odd_draft, sequence, n_tokens + n) : q, mass);
    if (r->setup.greedy_draft) return toy_argmax(q);
    if (r->setup.wrong != REUSED_GUESSES) return walker_choose_token(&r->walker, mass, r->setup.n_vocab);
    int32_t *known = &r->reused[n_tokens + n];
    if (*known < 0) *known = walker_choose_token(&r->walker, mass, r->setup.n_vocab);
    return *known;
}

/* Adds point masses beside the n guesses of a chain and one after them. They depend on the sampled guesses. */
static vouch_draft add_points(run *r, int32_t n, int32_t depth)
{
    const setup *s = &r->setup;
    const int32_t drawn = n, last = n > 0 ? r->guesses[n - 1] : 0;
    for (int32_t i = 0; i < n; i++) {
        r->parents[i] = i - 1;
        r->mixed_q[i] = s->greedy_draft ? NULL : r->q_rows[i];
    }
    for (int32_t parent = -1; parent < drawn; parent++) {
        const bool is_after = parent == drawn - 1;
        for (int32_t i = 0; i < (is_after ? 1 : r->rule.trees ? s->points : 0) && parent + 1 < depth; i++) {
            const int32_t token = (last + (is_after ? 0 : r->guesses[parent + 1]) + 1 + i) % s->n_vocab;
            if (!is_new(r, n, parent, token)) continue;
            r->guesses[n] = token;
            r->parents[n] = parent;
            r->mixed_q[n++] = s->wrong == POINTS_AS_DRAWN ? r->mixed_q[parent + 1] : NULL;
        }
    }
    if (s->wrong == POINTS_FIRST && n > drawn && r->parents[drawn] == -1) { /* moves the point mass to the front */
        const int32_t token = r->guesses[drawn];
        memmove(r->guesses + 1, r->guesses, (size_t)drawn * sizeof token);
        memmove(r->parents + 1, r->parents, (size_t)drawn * sizeof token);
        memmove(r->mixed_q + 1, r->mixed_q, (size_t)drawn * sizeof *r->mixed_q);
        r->guesses[0] = token;
        r->mixed_q[0] = NULL;
        for (int32_t i = 0; i < n; i++)
            if (i <= drawn || r->parents[i] >= 0) r->parents[i] = i < 2 ? -1 : r->parents[i] + 1;
    }
    return (vouch_draft){.n = n, .tokens = r->guesses, .parents = r->rule.trees ? r->parents : NULL, .q = r->mixed_q};
}

static vouch_draft branch_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    run *r = self;
    if (r->setup.paths) return branch_propose_paths(r, tokens, n_tokens, shape);
    if (r->setup.branches) return branch_propose_tree(r, tokens, n_tokens, shape);
    const int32_t k = r->setup.points && shape->depth > 1 ? shape->depth - 1 : shape->depth;
    int32_t sequence[TOY_MAX_CTX];
    memcpy(sequence, tokens, (size_t)n_tokens * sizeof *sequence);
    int32_t n = 0;
    for (; n < k; n++) {
        const vouch_dist *q = toy_dist(&r->draft, sequence, n_tokens + n);
        copy_dist(&r->q[n], q);
        const int32_t token = choose_guess(r, q, sequence, n_tokens, n);
        if (r->setup.wrong == DROP_LOW_Q && vouch_dist_p(q, token) < 0.4) break;
        r->guesses[n] = sequence[n_tokens + n] = token;
        if (r->setup.wrong == DROP_FORBIDDEN &&
            !vouch_constraint_allows(r->constraint, VOUCH_FOLLOWER_JUDGE, sequence + N_PROMPT,
                                     n_tokens + n + 1 - N_PROMPT))
            break;
    }
    if (r->setup.points) return add_points(r, n, shape->depth);
    const bool point = r->setup.greedy_draft && r->setup.wrong != FULL_Q_FOR_ARGMAX;
    return (vouch_draft){.n = n, .tokens = r->guesses, .q = point ? NULL : r->q_rows};
}

static void branch_rewind(void *self, int32_t n_tokens)
{
    (void)self;
    (void)n_tokens;
}

static const vouch_drafter_ops branch_drafter = {.name = "branch", .propose = branch_propose, .rewind = branch_rewind};

/* --------------------------------------------------------------------- run */

static vouch_status match_and_draw_again(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    const vouch_status status = vouch_rule_get(VOUCH_ACCEPT_MATCH)->judge(out, guesses, trial);
    if (status != VOUCH_OK || out->origin != VOUCH_ORIGIN_RESIDUAL) return status;
    const vouch_dist *p;
    vouch_residual whole;
    assert_int_equal(trial->row_p(trial->row_self, out->n_accepted, out->n_accepted, &p), VOUCH_OK);
    vouch_residual_begin(&whole, p, NULL, 1);
    out->final_token = trial->dice->draw(trial->dice->self, trial->position + out->n_accepted, &whole);
    return VOUCH_OK;
}

/* Judges guesses together, but leaves the chance of a guess as it is when a guess after it is rejected. */
static int32_t traverse_keeping_w(vouch_fork *fork, int32_t i)
{
    static double w;
    if (i < 0) w = fork->w;
    fork->w = w;
    return vouch_traverse(fork, i);
}

static vouch_status judge_keeping_w(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_jointly(out, guesses, trial, traverse_keeping_w);
}

/* Chooses the guess with the largest p / q, and judges it as if it were drawn from q. */
static int32_t choose_without_q(vouch_fork *fork, int32_t after)
{
    vouch_choice choice;
    int32_t chosen = -1, best = -1;
    vouch_choice_begin(&choice, fork->left.p, fork->left.q, 1);
    for (int32_t i = -1; after < 0 && (i = vouch_traverse(fork, i)) >= 0;) {
        const int32_t token = fork->draft->tokens[i];
        const int32_t rank = vouch_choice_rank(&choice, fork->left.p->weight[token], fork->left.q->weight[token]);
        if (rank > best) chosen = i;
        if (rank > best) best = rank;
    }
    return chosen;
}

static vouch_status judge_choice_as_drawn(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_jointly(out, guesses, trial, choose_without_q);
}

/* Rejection that judges point masses without regard to earlier rejections. */
static int32_t place_by_p(vouch_siblings *site, int32_t first)
{
    const vouch_draft *draft = site->trial->draft;
    const vouch_dice *dice = site->trial->dice;
    int32_t i = first;
    for (; i >= 0 && draft->q[i]; i = vouch_next_child(draft, site->parent, i)) {
        vouch_guess *guess = &site->guesses[i];
        const double before = site->before;
        site->before += (1 - before) * vouch_chance(&site->left, guess->token);
        if (dice->accept(dice->self, site->position, before, site->before, &guess->u)) return i;
        vouch_residual_reject(&site->left, guess->token);
    }
    if (i < 0) {
        site->token = dice->draw(dice->self, site->position, &site->left);
        return -1;
    }
    vouch_residual_begin(&site->left, site->left.p, NULL, 1);
    return vouch_match_siblings(site, i);
}

static vouch_status judge_points_by_p(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    return vouch_judge_siblings(out, guesses, trial, place_by_p);
}

static vouch_finish on_commit(void *self, int32_t token)
{
    run *r = self;
    r->n_committed++;
    const ending how = r->setup.ending;
    if (token == r->setup.eos && how != BY_FAILURE) return VOUCH_FINISH_EOS;
    const bool by_length = how == BY_COMMIT || how == BY_FAILURE;
    return by_length && r->n_committed == r->setup.n_emitted ? VOUCH_FINISH_LENGTH : VOUCH_FINISH_NONE;
}

/* A vocabulary of the letters a, b and c, their pair ab, and the end of an answer. */
static vouch_tokenizer *open_letters(void)
{
    static const vouch_text texts[] = {{"a", 1}, {"b", 1}, {"ab", 2}, {"c", 1}, {"<|endoftext|>", 13}};
    static const vouch_text merges[] = {{"a b", 3}};
    static const int32_t kinds[] = {1, 1, 1, 1, 3};
    vouch_gguf_writer *w = writer_open();
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(w, "tokenizer.ggml.pre", "gpt-2");
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", texts, 5);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, kinds, 5);
    vouch_gguf_add_texts(w, "tokenizer.ggml.merges", merges, 1);
    vouch_gguf_add_u32(w, "tokenizer.ggml.eos_token_id", 4);
    if (tokenizer_finish(w, &tokenizer, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return tokenizer;
}

static void open_constraint(run *r, const setup *s)
{
    static int32_t closing[] = {3, 1};
    if (s->grammar) r->grammar = grammar_open(VOUCH_GRAMMAR_GBNF, s->grammar);
    r->tokenizer = open_letters();
    r->thoughts = (vouch_thoughts){.tokenizer = r->tokenizer,
                                   .begin = {"a", 1},
                                   .end = {"b", 1},
                                   .closing = closing,
                                   .n_closing = 2,
                                   .budget = s->budget - 1};
    assert_int_equal(vouch_trie_open(&r->trie, r->tokenizer, s->n_vocab, NULL), VOUCH_OK);
    assert_int_equal(vouch_constraint_open(&r->constraint, r->grammar, r->trie, s->budget > 0 ? &r->thoughts : NULL,
                                           s->n_vocab, NULL),
                     VOUCH_OK);
    vouch_constraint_begin(r->constraint, (const int32_t[N_PROMPT]){0}, N_PROMPT);
    r->target.constraint = r->other.constraint = r->draft.constraint = r->constraint;
    r->target.blind_grammar = s->wrong == MASK_WITHOUT_DRAFT;
    if (s->wrong == DROP_FORBIDDEN) r->draft.constraint = NULL;
}

static void run_open(run *r, const setup *s)
{
    memset(r, 0, sizeof *r);
    r->setup = *s;
    walker_begin(&r->walker);
    toy_open(&r->target, s->n_vocab, 1, 1.5f, &s->sampling);
    vouch_sampling of_draft = s->sampling;
    of_draft.seed += s->wrong == XTC_OF_DRAFT;
    toy_open(&r->draft, s->n_vocab, 2, 1.2f, &of_draft);
    vouch_sampling odd = s->sampling;
    if (s->wrong != GUESSES_OUTSIDE_Q) odd.temperature *= 3;
    toy_open(&r->odd_draft, s->n_vocab, 2, 1.2f, &odd);
    toy_open(&r->other, s->n_vocab, 1, 1.5f, &s->sampling);
    r->draft.deaf = s->wrong == REUSED_GUESSES;
    r->draft.n_trimmed = s->n_trimmed;
    r->rule = *vouch_rule_get(s->accept);
    if (s->wrong == DRAWN_AGAIN) r->rule.judge = match_and_draw_again;
    if (s->wrong == POINTS_BY_P) r->rule.judge = judge_points_by_p;
    if (s->wrong == PARENT_KEEPS_W) r->rule.judge = judge_keeping_w;
    if (s->wrong == CHOICE_AS_DRAWN) r->rule.judge = judge_choice_as_drawn;
    r->target.blind_penalties = s->wrong == PENALTIES_WITHOUT_DRAFT;
    r->target.blind_xtc = s->wrong == XTC_OF_CYCLE;
    if (s->grammar || s->budget > 0) open_constraint(r, s);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < MAX_NODES; i++) vouch_dist_layout(&r->q[i], s->n_vocab, &r->arena);
        if (pass == 0) assert_int_equal(vouch_arena_allocate(&r->arena, "q", NULL), VOUCH_OK);
    }
    for (int32_t i = 0; i < MAX_NODES; i++) r->q_rows[i] = &r->q[i];
}

static void run_close(run *r)
{
    toy_close(&r->target);
    toy_close(&r->draft);
    toy_close(&r->odd_draft);
    toy_close(&r->other);
    vouch_constraint_close(r->constraint);
    vouch_trie_close(r->trie);
    vouch_tokenizer_close(r->tokenizer);
    vouch_grammar_close(r->grammar);
    vouch_arena_free(&r->arena);
}

/* Runs one path of choices: an answer of at most n_emitted tokens. */
static void run_path(run *r)
{
    const setup *s = &r->setup;
    r->tokens[0] = 1 % s->n_vocab;
    r->tokens[1] = 0;
    r->n_committed = 0;
    r->stats = (vouch_stats){0};
    for (int32_t i = 0; i < TOY_MAX_CTX; i++) r->reused[i] = -1;
    r->asked = -1;
    r->target.n_cached = 0;
    r->target.fail_token = s->ending == BY_FAILURE ? s->eos : -1;
    r->cycle = (vouch_cycle){
        .target = toy_target(&r->target),
        .drafters = {.paid = {.ops = &branch_drafter, .self = r}},
        .rule = &r->rule,
        .dice = {.accept = branch_accept, .draw = branch_draw, .self = r},
        .lenience = s->lenience,
        .commit = on_commit,
        .commit_self = r,
        .tokens = r->tokens,
        .n_tokens = N_PROMPT,
        .n_ctx = s->ending == BY_CONTEXT ? N_PROMPT + s->n_emitted : TOY_MAX_CTX,
        .n_vocab = s->n_vocab,
        .stats = &r->stats,
    };
    vouch_cycle_result result;
    int32_t inside = 0, first_accepted = 0;
    do {
        const int32_t left = s->n_emitted - r->n_committed;
        const int32_t room = s->ending == BY_ROOM ? left : TOY_MAX_CTX;
        const vouch_shape shape = {.n = s->branches || s->paths || s->points ? MAX_NODES : s->k,
                                   .depth = s->k + (s->points > 0),
                                   .branches = s->branches || s->paths      ? MAX_VOCAB
                                               : s->points && r->rule.trees ? 1 + s->points
                                                                            : 1};
        const vouch_status status = drive_cycle(&r->cycle, &shape, room, &result);
        if (s->ending == BY_FAILURE && r->tokens[r->cycle.n_tokens - 1] == s->eos && status != VOUCH_OK) break;
        assert_int_equal(status, VOUCH_OK);
        inside += result.last == VOUCH_ORIGIN_ACCEPTED;
        if (r->stats.cycles == 1) first_accepted = result.n_accepted;
    } while (result.finish == VOUCH_FINISH_NONE && r->n_committed < s->n_emitted && !r->one_cycle);
    r->accepted += r->walker.probability * first_accepted;

    assert_in_range(r->n_committed, 1, s->n_emitted);
    assert_int_equal(r->stats.generated_tokens, r->n_committed);
    assert_int_equal(r->stats.accepted + r->stats.cycles - inside, r->n_committed);
    size_t index = 0;
    for (int32_t i = 0; i < s->n_emitted; i++)
        index = index * (size_t)(s->n_vocab + 1) + (size_t)(i < r->n_committed ? r->tokens[N_PROMPT + i] : s->n_vocab);
    r->joint[index] += r->walker.probability;
}

static void walk_all(run *r)
{
    do run_path(r);
    while (walker_next(&r->walker));
}

/* The distribution of the token at this position after a guess is judged with lenience. */
static void lenient_masses(run *r, int32_t n_tokens, double *mass)
{
    const setup *s = &r->setup;
    double p[MAX_VOCAB], q[MAX_VOCAB], rest = 0, left = 0;
    dist_masses(toy_dist(&r->target, r->tokens, n_tokens), p);
    const vouch_dist *draft = toy_dist(&r->draft, r->tokens, n_tokens);
    dist_masses(draft, q);
    for (int32_t x = 0; x < s->n_vocab && s->greedy_draft; x++) q[x] = x == toy_argmax(draft);
    for (int32_t x = 0; x < s->n_vocab; x++) {
        rest += fmax(0, q[x] - p[x] / s->lenience);
        left += fmax(0, p[x] - s->lenience * q[x]);
    }
    for (int32_t x = 0; x < s->n_vocab; x++) {
        const double residual = left > 0 ? fmax(0, p[x] - s->lenience * q[x]) / left : p[x];
        mass[x] = fmin(q[x], p[x] / s->lenience) + rest * residual;
    }
}

/* Visits every answer. Returns the largest difference between the run's joint distribution and the target's, or the
 * distribution that lenience defines. Counts in *over the tokens whose probability exceeds p / lenience. */
static double compare(run *r, int32_t depth, size_t index, long double p, long double *mass, int *over)
{
    const setup *s = &r->setup;
    const size_t base = (size_t)s->n_vocab + 1;
    if (depth == s->n_emitted || (depth > 0 && r->tokens[N_PROMPT + depth - 1] == s->eos)) {
        for (int32_t i = depth; i < s->n_emitted; i++) index = index * base + (size_t)s->n_vocab;
        *mass = r->joint[index];
        return (double)fabsl(r->joint[index] - p);
    }
    double worst = 0, conditional[MAX_VOCAB], wanted[MAX_VOCAB];
    long double child[MAX_VOCAB];
    dist_masses(toy_dist(&r->target, r->tokens, N_PROMPT + depth), conditional);
    memcpy(wanted, conditional, sizeof wanted);
    if (s->own) lenient_masses(r, N_PROMPT + depth, wanted);
    *mass = 0;
    for (int32_t x = 0; x < s->n_vocab; x++) {
        r->tokens[N_PROMPT + depth] = x;
        worst = fmax(worst, compare(r, depth + 1, index * base + (size_t)x, p * wanted[x], &child[x], over));
        *mass += child[x];
    }
    for (int32_t x = 0; x < s->n_vocab; x++) *over += child[x] > *mass * conditional[x] / s->lenience + 1e-14;
    return worst;
}

double enumerate_worst(const setup *s, int *over)
{
    static run r;
    run_open(&r, s);
    walk_all(&r);
    r.target.blind_penalties = r.target.blind_grammar = false;
    long double mass;
    int counted = 0;
    const double worst = compare(&r, 0, 0, 1, &mass, &counted);
    assert_true(fabsl(mass - 1) < EXACT);
    if (over) *over = counted;
    run_close(&r);
    return worst;
}

/* The sum of E[w(i)] over the guesses i after the first `depth`. r->tokens has these `depth` guesses; their
 * probability under q is `probability`, and w = w(depth). */
static double expected_w(run *r, int32_t depth, double w, double probability)
{
    const setup *s = &r->setup;
    const int32_t n_tokens = N_PROMPT + depth;
    if (depth == s->k || w == 0 || probability == 0) return 0;
    double p[MAX_VOCAB], q[MAX_VOCAB], sum = 0;
    dist_masses(toy_dist(&r->target, r->tokens, n_tokens), p);
    const vouch_dist *draft = toy_dist(&r->draft, r->tokens, n_tokens);
    dist_masses(draft, q);
    for (int32_t x = 0; x < s->n_vocab && s->greedy_draft; x++) q[x] = x == toy_argmax(draft);
    for (int32_t x = 0; x < s->n_vocab; x++) {
        if (q[x] == 0) continue;
        const double next = fmin(1, w * p[x] / q[x]);
        r->tokens[n_tokens] = x;
        sum += probability * q[x] * next + expected_w(r, depth + 1, next, probability * q[x]);
    }
    return sum;
}

expectation enumerate_accepted(const setup *s)
{
    static run r;
    run_open(&r, s);
    r.one_cycle = true;
    walk_all(&r);
    const expectation e = {(double)r.accepted, expected_w(&r, 0, 1, 1)};
    run_close(&r);
    return e;
}

/* ---------------------------------------------------------------- couplings */

/*
 * In a race, token z arrives at time E(z) / mass(z) with E(z) exponential, and the first to arrive wins. For x not
 * equal to y, x wins the race of q and y wins the race of p when E(y) = t E(x) with
 *
 *   q(y) / q(x) < t < p(y) / p(x)   and   E(z) > E(x) max(q(z) / q(x), t p(z) / p(y)) for every other z.
 *
 * With s(t) = 1 + t + sum over these z of max(q(z) / q(x), t p(z) / p(y)), the probability is the integral of 1 / s^2
 * over t. s is linear between its kinks, and a linear piece from a to b contributes (b - a) / (s(a) s(b)). For x = y
 * the probability is 1 / sum over all z of max(q(z) / q(x), p(z) / p(x)).
 */
double coupling_of_races(const double *p, const double *q, int32_t n, int32_t x, int32_t y)
{
    if (q[x] == 0 || p[y] == 0) return 0;
    double sum = 0, kinks[MAX_VOCAB + 2], at[MAX_VOCAB + 2];
    for (int32_t z = 0; z < n; z++) sum += fmax(q[z] / q[x], p[z] / p[y]);
    if (x == y) return 1 / sum;
    const double low = q[y] / q[x], high = p[x] > 0 ? p[y] / p[x] : INFINITY;
    int32_t n_kinks = 0;
    kinks[n_kinks++] = low;
    for (int32_t z = 0; z < n; z++) {
        const double kink = p[z] > 0 ? q[z] / q[x] * p[y] / p[z] : 0;
        if (z != x && z != y && kink > low && kink < high) kinks[n_kinks++] = kink;
    }
    for (int32_t i = 1; i < n_kinks; i++)
        for (int32_t j = i; j > 0 && kinks[j] < kinks[j - 1]; j--) {
            const double t = kinks[j];
            kinks[j] = kinks[j - 1];
            kinks[j - 1] = t;
        }
    if (low >= high) return 0;
    kinks[n_kinks++] = high;
    double total = 0;
    for (int32_t i = 0; i < n_kinks; i++) {
        at[i] = 1 + kinks[i];
        for (int32_t z = 0; z < n && kinks[i] < INFINITY; z++)
            if (z != x && z != y) at[i] += fmax(q[z] / q[x], kinks[i] * p[z] / p[y]);
        if (i == 0) continue;
        double slope = 1; /* of s(t) in the last piece, which may reach to infinity */
        for (int32_t z = 0; z < n; z++)
            if (z != x && z != y) slope += p[z] / p[y];
        total += kinks[i] < INFINITY ? (kinks[i] - kinks[i - 1]) / (at[i] * at[i - 1]) : 1 / (slope * at[i - 1]);
    }
    return total;
}

/* A random number u in [0, 1) gives x under q in one interval, and y under p in another. Returns the length of their
 * overlap. */
double coupling_of_numbers(const double *p, const double *q, int32_t n, int32_t x, int32_t y)
{
    double q_low = 0, p_low = 0;
    (void)n;
    for (int32_t z = 0; z < x; z++) q_low += q[z];
    for (int32_t z = 0; z < y; z++) p_low += p[z];
    return fmax(0, fmin(q_low + q[x], p_low + p[y]) - fmax(q_low, p_low));
}
