/* SPDX-License-Identifier: MIT */
/*
 * Exactness of the real sampler by statistics. For each rule, up to a million cycles process logits, draw guesses and
 * judge them with Philox random numbers. Whole sessions answer with heads that guess several tokens from one state of
 * the target. Pearson's chi-square test compares the emitted tokens with the target's distribution. The same test must
 * fail for wrong rules and wrong heads.
 */
#include <math.h>
#include <string.h>

#include "tool/statistics.h"
#include "decode/judge.h"
#include "engine/session.h"
#include "support/head/head_kinds.h"
#include "support/test.h"
#include "support/decode/toy.h"
#include "support/head/wrong_head.h"

enum { N = 512, K = 2, N_RUNS = 1000000 };

static const double LEAST_P_VALUE = 1e-6;

/* ------------------------------------------------------------- chi-square */

/* The p-value of count [n_tokens], whose sum is n, under the distribution p [n_tokens]. All tokens with an expected
 * count below 10 share one class. */
static double p_value(const int64_t *count, int64_t n, const double *p, int n_tokens)
{
    double chi2 = 0, rare_expected = 0, rare_seen = 0;
    int classes = 0;
    for (int x = 0; x < n_tokens; x++) {
        const double expected = p[x] * (double)n;
        if (p[x] == 0) assert_int_equal(count[x], 0);
        if (expected < 10) {
            rare_expected += expected;
            rare_seen += (double)count[x];
            continue;
        }
        const double seen = (double)count[x];
        chi2 += (seen - expected) * (seen - expected) / expected;
        classes++;
    }
    if (rare_expected > 0) {
        chi2 += (rare_seen - rare_expected) * (rare_seen - rare_expected) / rare_expected;
        classes++;
    }
    assert_true(classes > 30);
    return tool_chi_square_tail(chi2, classes - 1);
}

/* Critical values from published tables of the chi-square distribution. */
static void test_p_value_is_right(void **state)
{
    (void)state;
    assert_true(fabs(tool_chi_square_tail(3.841459, 1) - 0.05) < 1e-6);
    assert_true(fabs(tool_chi_square_tail(18.307038, 10) - 0.05) < 1e-6);
    assert_true(fabs(tool_chi_square_tail(124.342113, 100) - 0.05) < 1e-6);
    assert_true(fabs(tool_chi_square_tail(149.449253, 100) - 0.001) < 1e-7);
    assert_true(fabs(tool_chi_square_tail(77.929465, 100) - 0.95) < 1e-6);
}

/* --------------------------------------------------------------- the models */

/* K + 1 rows of the target and K of a draft model that differs from it, under the same sampling parameters. */
typedef struct models {
    vouch_sampler sampler;
    vouch_dist p[K + 1], q[K];
    const vouch_dist *q_rows[K];
    int32_t best[K]; /* argmax of q */
    vouch_arena arena;
} models;

static void models_layout(models *m, const vouch_sampling *sampling)
{
    vouch_sampler_layout(&m->sampler, sampling, N, 0, vouch_kernels_find("ref"), &m->arena);
    for (int i = 0; i <= K; i++) vouch_dist_layout(&m->p[i], N, &m->arena);
    for (int i = 0; i < K; i++) vouch_dist_layout(&m->q[i], N, &m->arena);
}

static void models_open(models *m, bool filtered, bool xtc)
{
    vouch_sampling s = vouch_sampling_default();
    s.temperature = 0.8f;
    s.xtc_threshold = 0.01f;
    if (filtered) {
        s.top_k = 200;
        s.top_p = 0.97f;
        s.min_p = 1e-3f;
    }
    memset(m, 0, sizeof *m);
    models_layout(m, &s);
    assert_int_equal(vouch_arena_allocate(&m->arena, "rows", NULL), VOUCH_OK);
    models_layout(m, &s);
    m->sampler.xtc_applies = xtc;
    test_random random = {filtered ? 21 : 20};
    for (int i = 0; i <= K; i++) {
        float target[N], draft[N];
        for (int x = 0; x < N; x++) {
            target[x] = 1.2f * test_normal(&random);
            draft[x] = 0.7f * target[x] + 0.7f * test_normal(&random);
        }
        assert_int_equal(vouch_dist_from_logits(&m->p[i], &m->sampler, target, NULL, 0), VOUCH_OK);
        if (i == K) break;
        assert_int_equal(vouch_dist_from_logits(&m->q[i], &m->sampler, draft, NULL, 0), VOUCH_OK);
        m->q_rows[i] = &m->q[i];
        m->best[i] = toy_argmax(&m->q[i]);
    }
}

static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    (void)depth;
    *p = &((const models *)self)->p[row];
    return VOUCH_OK;
}

typedef enum draft_kind { SAMPLED, GREEDY, GREEDY_WITH_FULL_Q, SAMPLED_WITHOUT_Q } draft_kind;
static const char *const draft_kind_names[] = {"sampled", "greedy", "greedy with full q", "sampled without q"};

static int32_t draw_whole(vouch_draw_fn *draw, const vouch_dist *dist, uint64_t seed, int64_t position, int32_t number)
{
    vouch_residual whole;
    vouch_residual_begin(&whole, dist, NULL, 1);
    return draw(&whole, seed, position, number);
}

/* Emits K + 1 tokens: the tokens of one cycle, then plain draws from the target. */
static void emit_tokens(models *m, const vouch_rule *rule, const vouch_seeded_draw *seeded, draft_kind kind,
                        int64_t position, int32_t tokens[K + 1])
{
    const vouch_dice dice = vouch_dice_philox(seeded);
    for (int i = 0; i < K; i++)
        tokens[i] = kind == GREEDY || kind == GREEDY_WITH_FULL_Q
                        ? m->best[i]
                        : draw_whole(rule->draw_guess, &m->q[i], seeded->seed, position + i, i);
    const bool with_q = kind == SAMPLED || kind == GREEDY_WITH_FULL_Q;
    const vouch_draft draft = {.n = K, .tokens = tokens, .q = with_q ? m->q_rows : NULL};
    const vouch_trial trial = {
        .draft = &draft, .row_p = row_p, .row_self = m, .dice = &dice, .position = position, .lenience = 1};
    vouch_guess verdicts[K];
    vouch_judgement j;
    assert_int_equal(vouch_judge(&j, verdicts, rule, &trial), VOUCH_OK);
    tokens[j.n_accepted] = j.final_token;
    for (int i = j.n_accepted + 1; i <= K; i++)
        tokens[i] = draw_whole(seeded->draw, &m->p[i], seeded->seed, position + i, 0);
}

/* A tree of drawn guesses: WIDTH siblings without replacement after each guess of the level before, or WIDTH
 * independent paths. */
enum { WIDTH = 3, N_TREE = WIDTH + WIDTH * WIDTH };
typedef struct drawn_tree {
    int32_t n, tokens[N_TREE], parents[N_TREE], paths[N_TREE], depths[N_TREE];
    const vouch_dist *q[N_TREE];
} drawn_tree;

static int32_t tree_add(drawn_tree *t, int32_t parent, int32_t depth, int32_t token, const vouch_dist *q)
{
    const int32_t i = t->n++;
    t->tokens[i] = token;
    t->parents[i] = parent;
    t->depths[i] = depth;
    t->paths[i] = 0;
    t->q[i] = q;
    return i;
}

static void tree_draw(drawn_tree *t, const models *m, const vouch_rule *rule, uint64_t seed, int64_t position)
{
    int32_t ends[WIDTH] = {-1, -1, -1}, number = 0;
    t->n = 0;
    for (int32_t depth = 0; depth < K; depth++)
        for (int32_t parent = -1, past = t->n; parent < past; parent++) {
            if ((parent < 0 ? -1 : t->depths[parent]) != depth - 1) continue;
            const vouch_dist *q = &m->q[depth];
            const int32_t first = t->n;
            vouch_residual left;
            vouch_residual_begin(&left, q, NULL, 1);
            for (int32_t i = 0; i < WIDTH; i++) {
                if (rule->paths && ends[i] != parent) continue;
                const int32_t token = rule->draw_guess(&left, seed, position + depth, depth * N_TREE + number++);
                int32_t same = first;
                while (rule->paths && same < t->n && t->tokens[same] != token) same++;
                if (!rule->paths || same == t->n) same = tree_add(t, parent, depth, token, q);
                t->paths[same]++;
                ends[i] = same;
                if (!rule->paths) vouch_residual_reject(&left, token);
            }
        }
}

static vouch_status row_of_depth(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    (void)row;
    *p = &((const models *)self)->p[depth];
    return VOUCH_OK;
}

/* BEST_FIRST sorts the siblings of the first level by q. MORE_PATHS reports that WIDTH paths take each guess. */
typedef enum tree_mistake { RIGHT_TREE, BEST_FIRST, MORE_PATHS } tree_mistake;

static void tree_spoil(drawn_tree *t, tree_mistake mistake)
{
    for (int32_t i = 0; i < t->n && mistake == MORE_PATHS; i++) t->paths[i] = WIDTH;
    for (int32_t i = 1; i < WIDTH && mistake == BEST_FIRST; i++)
        for (int32_t j = i; j > 0 && t->q[0]->weight[t->tokens[j]] > t->q[0]->weight[t->tokens[j - 1]]; j--) {
            const int32_t token = t->tokens[j];
            t->tokens[j] = t->tokens[j - 1];
            t->tokens[j - 1] = token;
        }
}

/* As emit_tokens, with a tree. */
static void emit_tree(models *m, const vouch_rule *rule, const vouch_seeded_draw *seeded, tree_mistake mistake,
                      int64_t position, int32_t tokens[K + 1])
{
    static drawn_tree t;
    const vouch_dice dice = vouch_dice_philox(seeded);
    tree_draw(&t, m, rule, seeded->seed, position);
    tree_spoil(&t, mistake);
    const vouch_draft draft = {
        .n = t.n, .tokens = t.tokens, .parents = t.parents, .q = t.q, .paths = rule->paths ? t.paths : NULL};
    const vouch_trial trial = {
        .draft = &draft, .row_p = row_of_depth, .row_self = m, .dice = &dice, .position = position, .lenience = 1};
    vouch_guess verdicts[N_TREE];
    vouch_judgement j;
    assert_int_equal(vouch_judge(&j, verdicts, rule, &trial), VOUCH_OK);
    for (int32_t i = 0; i < j.n_accepted; i++) tokens[i] = t.tokens[j.path[i]];
    tokens[j.n_accepted] = j.final_token;
    for (int i = j.n_accepted + 1; i <= K; i++)
        tokens[i] = draw_whole(seeded->draw, &m->p[i], seeded->seed, position + i, 0);
}

/* The p-value of the least likely of the K + 1 tokens of answers that begin with a tree. */
static double tree_p_value(models *m, const vouch_rule *rule, tree_mistake mistake, int64_t n_runs)
{
    static int64_t count[K + 1][N];
    const vouch_seeded_draw seeded = {4321, rule->draw};
    double least = 1;
    memset(count, 0, sizeof count);
    for (int64_t run = 0; run < n_runs; run++) {
        int32_t tokens[K + 1];
        emit_tree(m, rule, &seeded, mistake, run * (K + 1), tokens);
        for (int i = 0; i <= K; i++) count[i][tokens[i]]++;
    }
    for (int i = 0; i <= K; i++) {
        double p[N];
        for (int x = 0; x < N; x++) p[x] = vouch_dist_p(&m->p[i], x);
        least = fmin(least, p_value(count[i], n_runs, p, N));
    }
    return least;
}

static void test_trees_of_drawn_guesses(void **state)
{
    (void)state;
    static models m;
    test_skip_slow();
    for (int filtered = 0; filtered < 2; filtered++) {
        models_open(&m, filtered, false);
        for (int accept = 0; accept < VOUCH_ACCEPTS; accept++) {
            const vouch_rule *rule = vouch_rule_get((vouch_accept)accept);
            if (!rule->trees) continue;
            const double value = tree_p_value(&m, rule, RIGHT_TREE, N_RUNS / 20);
            if (!(value > LEAST_P_VALUE)) fail_msg("%s: p-value %g", vouch_accept_name(accept), value);
        }
        /* The test can fail. */
        const vouch_rule *traversal = vouch_rule_get(VOUCH_ACCEPT_TRAVERSAL);
        const vouch_rule *multipath = vouch_rule_get(VOUCH_ACCEPT_MULTIPATH);
        assert_true(tree_p_value(&m, traversal, BEST_FIRST, N_RUNS / 20) < LEAST_P_VALUE);
        assert_true(tree_p_value(&m, multipath, MORE_PATHS, N_RUNS / 20) < LEAST_P_VALUE);
        vouch_arena_free(&m.arena);
    }
}

/* out: the p-value of the emitted tokens at each of the K + 1 positions. */
static void emit(models *m, const vouch_rule *rule, draft_kind kind, int64_t n_runs, double out[K + 1])
{
    static int64_t count[K + 1][N];
    memset(count, 0, sizeof count);
    const vouch_seeded_draw seeded = {12345, rule->draw};
    for (int64_t run = 0; run < n_runs; run++) {
        int32_t tokens[K + 1];
        emit_tokens(m, rule, &seeded, kind, run * (K + 1), tokens);
        for (int i = 0; i <= K; i++) {
            assert_in_range(tokens[i], 0, N - 1);
            count[i][tokens[i]]++;
        }
    }
    for (int i = 0; i <= K; i++) {
        double p[N];
        for (int x = 0; x < N; x++) p[x] = vouch_dist_p(&m->p[i], x);
        out[i] = p_value(count[i], n_runs, p, N);
    }
}

static void check_emitted(draft_kind kind, bool filtered, int64_t n_runs)
{
    static models m;
    double value[K + 1];
    models_open(&m, filtered, false);
    for (int accept = 0; accept < VOUCH_ACCEPTS; accept++) {
        emit(&m, vouch_rule_get((vouch_accept)accept), kind, n_runs / (accept ? 8 : 1), value);
        for (int i = 0; i <= K; i++)
            if (!(value[i] > LEAST_P_VALUE))
                fail_msg("%s, %s draft, token %d: p-value %g", vouch_accept_name(accept), draft_kind_names[kind], i,
                         value[i]);
    }
    vouch_arena_free(&m.arena);
}

static void test_sampled_draft(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED, false, N_RUNS);
}

static void test_sampled_draft_with_filters(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED, true, N_RUNS);
}

static void test_greedy_draft(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(GREEDY, false, N_RUNS);
}

/* A sampled guess judged as a point mass is exact too: accepting x with probability p(x) is right for any x. */
static void test_any_guess_is_exact_as_a_point_mass(void **state)
{
    (void)state;
    test_skip_slow();
    check_emitted(SAMPLED_WITHOUT_Q, true, N_RUNS / 4);
}

/* A wrong race: four neighbouring tokens share one random number, so only the likeliest of the four can win. */
static int32_t race_of_groups(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    int32_t best = -1;
    double first = INFINITY;
    (void)number;
    for (int32_t x = 0; x < left->p->n_vocab; x++) {
        const double v = vouch_uniform_of(seed, position, VOUCH_PURPOSE_LATE, x / 4);
        const double arrival = -log1p(-v) / vouch_dist_p(left->p, x);
        if (!(arrival < first)) continue;
        first = arrival;
        best = x;
    }
    return best;
}

/* A wrong match rule: when it rejects a guess, it draws a new token instead of emitting the target's token. */
static vouch_status match_and_draw_again(vouch_judgement *out, vouch_guess *guesses, const vouch_trial *trial)
{
    const vouch_status status = vouch_rule_get(VOUCH_ACCEPT_MATCH)->judge(out, guesses, trial);
    const vouch_dist *p;
    assert_int_equal(trial->row_p(trial->row_self, out->n_accepted, out->n_accepted, &p), VOUCH_OK);
    if (out->origin == VOUCH_ORIGIN_RESIDUAL)
        out->final_token = draw_whole(vouch_draw_guess, p, 1, trial->position + out->n_accepted, 77);
    return status;
}

static void test_wrong_rules_fail(void **state)
{
    (void)state;
    test_skip_slow();
    static models m;
    double value[K + 1];
    vouch_rule match = *vouch_rule_get(VOUCH_ACCEPT_MATCH), coupled = *vouch_rule_get(VOUCH_ACCEPT_COUPLED);
    match.judge = match_and_draw_again;
    coupled.draw = race_of_groups;
    models_open(&m, false, false);
    emit(&m, vouch_rule_get(VOUCH_ACCEPT_REJECTION), GREEDY_WITH_FULL_Q, N_RUNS / 4, value);
    assert_true(value[0] < LEAST_P_VALUE);
    emit(&m, vouch_rule_get(VOUCH_ACCEPT_BLOCK), GREEDY_WITH_FULL_Q, N_RUNS / 4, value);
    assert_true(value[0] < LEAST_P_VALUE);
    emit(&m, &match, SAMPLED, N_RUNS / 4, value);
    assert_true(value[0] < LEAST_P_VALUE);
    emit(&m, &coupled, SAMPLED, N_RUNS / 10, value);
    assert_true(value[0] < LEAST_P_VALUE);
    vouch_arena_free(&m.arena);
}

/* The p-value of first tokens where XTC applies to half of the positions, by the number with this purpose. */
static double xtc_p_value(vouch_accept accept, vouch_purpose purpose)
{
    static models m[2]; /* without and with XTC */
    static int64_t count[N];
    double p[N];
    const vouch_rule *rule = vouch_rule_get(accept);
    const vouch_seeded_draw seeded = {12345, rule->draw};
    memset(count, 0, sizeof count);
    for (int i = 0; i < 2; i++) models_open(&m[i], false, i);
    for (int64_t run = 0; run < N_RUNS / 30; run++) {
        int32_t tokens[K + 1];
        const int64_t position = run * (K + 1);
        emit_tokens(&m[vouch_uniform(12345, position, purpose) < 0.5], rule, &seeded, SAMPLED, position, tokens);
        count[tokens[0]]++;
    }
    for (int x = 0; x < N; x++) p[x] = (vouch_dist_p(&m[0].p[0], x) + vouch_dist_p(&m[1].p[0], x)) / 2;
    for (int i = 0; i < 2; i++) vouch_arena_free(&m[i].arena);
    return p_value(count, N_RUNS / 30, p, N);
}

/* XTC has random numbers of its own. With those of the guess, the verdict or the token, the text is wrong. */
static void test_xtc_has_numbers_of_its_own(void **state)
{
    (void)state;
    test_skip_slow();
    for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
        assert_true(xtc_p_value((vouch_accept)accept, VOUCH_PURPOSE_XTC) > LEAST_P_VALUE);
    assert_true(xtc_p_value(VOUCH_ACCEPT_REJECTION, VOUCH_PURPOSE_ACCEPT) < LEAST_P_VALUE);
    assert_true(xtc_p_value(VOUCH_ACCEPT_REJECTION, VOUCH_PURPOSE_DRAFT) < LEAST_P_VALUE);
    assert_true(xtc_p_value(VOUCH_ACCEPT_MATCH, VOUCH_PURPOSE_EMIT) < LEAST_P_VALUE);
    assert_true(xtc_p_value(VOUCH_ACCEPT_COUPLED, VOUCH_PURPOSE_EARLY) < LEAST_P_VALUE);
}

/* ------------------------------------------------------- answers of several cycles */

enum { SMALL = 3, LENGTH = 4, ANSWERS = SMALL * SMALL * SMALL * SMALL };

/* A vocabulary of three tokens. p depends on the token before; q is the same everywhere. */
typedef struct small {
    float p_weight[SMALL][SMALL], q_weight[SMALL];
    vouch_dist p[SMALL], q;
    const int32_t *tokens; /* the next position of the sequence; tokens[-1] is the last token */
    int32_t guesses[K];
} small;

static void wrap(vouch_dist *dist, float *weight)
{
    *dist = (vouch_dist){.n_vocab = SMALL, .n_support = SMALL, .dense = true, .weight = weight};
    for (int x = 0; x < SMALL; x++) dist->total += weight[x];
}

static vouch_status small_row(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    const small *s = self;
    (void)depth;
    *p = &s->p[row == 0 ? s->tokens[-1] : s->guesses[row - 1]];
    return VOUCH_OK;
}

static void small_answer(small *s, const vouch_rule *rule, bool numbered, const vouch_seeded_draw *seeded,
                         int64_t position, int32_t *tokens)
{
    const vouch_dice dice = vouch_dice_philox(seeded);
    const vouch_dist *q[K] = {&s->q, &s->q};
    for (int n = 0; n < LENGTH;) {
        for (int i = 0; i < K; i++)
            s->guesses[i] = draw_whole(rule->draw_guess, &s->q, seeded->seed, position + n + i, numbered ? i : 0);
        const vouch_draft draft = {.n = K, .tokens = s->guesses, .q = q};
        const vouch_trial trial = {
            .draft = &draft, .row_p = small_row, .row_self = s, .dice = &dice, .position = position + n, .lenience = 1};
        vouch_guess verdicts[K];
        vouch_judgement j;
        s->tokens = tokens + n;
        assert_int_equal(vouch_judge(&j, verdicts, rule, &trial), VOUCH_OK);
        for (int i = 0; i < j.n_accepted; i++) tokens[n++] = s->guesses[i];
        tokens[n++] = j.final_token;
    }
}

static double small_p_value(vouch_accept accept, bool numbered, int64_t n_runs)
{
    static const small shape = {.p_weight = {{1, 4, 1}, {3, 1, 6}, {5, 2, 2}}, .q_weight = {4, 3, 2}};
    static int64_t count[ANSWERS];
    const vouch_seeded_draw seeded = {77, vouch_rule_get(accept)->draw};
    double p[ANSWERS];
    small s = shape;
    for (int x = 0; x < SMALL; x++) wrap(&s.p[x], s.p_weight[x]);
    wrap(&s.q, s.q_weight);
    memset(count, 0, sizeof count);
    for (int64_t run = 0; run < n_runs; run++) {
        int32_t tokens[1 + LENGTH + K] = {0};
        int index = 0;
        small_answer(&s, vouch_rule_get(accept), numbered, &seeded, run * 16, tokens + 1);
        for (int i = 1; i <= LENGTH; i++) index = index * SMALL + tokens[i];
        count[index]++;
    }
    for (int index = 0; index < ANSWERS; index++) {
        int32_t tokens[1 + LENGTH] = {0};
        for (int i = LENGTH, rest = index; i > 0; i--, rest /= SMALL) tokens[i] = rest % SMALL;
        p[index] = 1;
        for (int i = 1; i <= LENGTH; i++) p[index] *= vouch_dist_p(&s.p[tokens[i - 1]], tokens[i]);
    }
    return p_value(count, n_runs, p, ANSWERS);
}

static void test_answers_of_several_cycles(void **state)
{
    (void)state;
    for (int accept = 0; accept < VOUCH_ACCEPTS; accept++)
        assert_true(small_p_value((vouch_accept)accept, true, 100000) > LEAST_P_VALUE);
}

/* Guesses of two cycles for one position that use the same random number: block verification, which has already looked
 * at a rejected guess, becomes wrong; rejection stays exact. */
static void test_reused_random_numbers(void **state)
{
    (void)state;
    assert_true(small_p_value(VOUCH_ACCEPT_BLOCK, false, 100000) < LEAST_P_VALUE);
    assert_true(small_p_value(VOUCH_ACCEPT_REJECTION, false, 100000) > LEAST_P_VALUE);
}

/* The same test through vouch_reject, the public function, which takes plain arrays. */
static void test_vouch_reject_is_exact(void **state)
{
    (void)state;
    test_skip_slow();
    static models m;
    static float p[(K + 1) * N], q[K * N];
    static int64_t count[N];
    models_open(&m, false, false);
    for (int i = 0; i <= K; i++) memcpy(p + i * N, m.p[i].weight, N * sizeof *p);
    for (int i = 0; i < K; i++) memcpy(q + i * N, m.q[i].weight, N * sizeof *q);
    memset(count, 0, sizeof count);
    for (int64_t run = 0; run < N_RUNS; run++) {
        int32_t guesses[K], accepted, final;
        for (int i = 0; i < K; i++)
            guesses[i] = vouch_dist_draw(&m.q[i], vouch_uniform(9, run * 3 + i, VOUCH_PURPOSE_DRAFT));
        const vouch_rejection in = {.k = K,
                                    .n_vocab = N,
                                    .guesses = guesses,
                                    .p = p,
                                    .q = q,
                                    .lenience = 1,
                                    .seed = 9,
                                    .first_position = run * 3};
        assert_int_equal(vouch_reject(&in, &accepted, &final, NULL, NULL), VOUCH_OK);
        count[accepted > 0 ? guesses[0] : final]++;
    }
    double expected[N];
    for (int x = 0; x < N; x++) expected[x] = vouch_dist_p(&m.p[0], x);
    const double value = p_value(count, N_RUNS, expected, N);
    vouch_arena_free(&m.arena);
    if (!(value > LEAST_P_VALUE)) fail_msg("p-value %g", value);
}

/* ------------------------------------------------------------ answers with heads */

enum { VOCAB = 16, N_PAIRS = VOCAB * VOCAB, N_PROMPT = 6, N_DRAFT = 2, N_ANSWERS = 10000 };
static const int32_t prompt[N_PROMPT] = {3, 11, 5, 3, 11, 5};

/* The samplers beside top-k, top-p and min-p. */
typedef enum samplers { WITHOUT, WITH_XTC, WITH_DRY, WITH_ALL } samplers;

static void set_samplers(vouch_sampling *s, samplers which)
{
    const bool all = which == WITH_ALL;
    s->n_dry_sequence_breakers = 0; /* no tokenizer */
    if (all) s->typical_p = 0.95f;
    if (all) s->top_n_sigma = 2.5f;
    if (which == WITH_XTC || all) s->xtc_probability = 0.5f;
    if (which == WITH_XTC || all) s->xtc_threshold = 0.1f;
    if (which == WITH_DRY || all) s->dry_multiplier = 0.8f;
    s->dry_allowed_length = 1;
}

static vouch_session *open_session(const head_pair *pair, vouch_accept accept, unsigned company, samplers which)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = 32;
    o.n_threads = 1;
    o.max_tokens = N_DRAFT + 1;
    o.ignore_eos = true;
    o.sampling.temperature = 2;
    set_samplers(&o.sampling, which);
    o.speculation.accept = accept;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = pair->head;
    o.speculation.drafters = VOUCH_DRAFTER_HEAD | company;
    const bool is_tree = accept == VOUCH_ACCEPT_TRAVERSAL || accept == VOUCH_ACCEPT_MULTIPATH;
    o.speculation.n_draft = company || is_tree ? 2 * N_DRAFT : N_DRAFT;
    o.speculation.tree_depth = N_DRAFT;
    o.speculation.tree_branches = is_tree ? 2 : 0;
    return answer_open(pair->target, &o);
}

/* A seed with which XTC applies to the first and second token of an answer, or not. */
static uint64_t seed_of(const vouch_sampling *params, bool first, bool second)
{
    uint64_t seed = 0;
    while (vouch_xtc_applies(params, seed, N_PROMPT) != first ||
           vouch_xtc_applies(params, seed, N_PROMPT + 1) != second)
        seed++;
    return seed;
}

/* The joint distribution of an answer's first two tokens: p(first) times p(second | first). With XTC, averaged over its
 * draws. */
static void pairs_expect(vouch_session *session, double *p)
{
    static float rows[2][VOCAB];
    const vouch_sampling *params = &session->options.sampling;
    const double on = params->xtc_probability;
    int32_t tokens[N_PROMPT + 1];
    memcpy(tokens, prompt, sizeof prompt);
    memset(p, 0, N_PAIRS * sizeof *p);
    for (int draws = 0; draws < 4; draws++)
        for (int32_t x = 0; x < VOCAB && (on > 0 || draws == 0); x++) {
            const double weight = (draws & 1 ? on : 1 - on) * (draws & 2 ? on : 1 - on);
            tokens[N_PROMPT] = x;
            vouch_session_set_seed(session, seed_of(params, draws & 1, draws & 2));
            assert_int_equal(vouch_session_prompt(session, tokens, N_PROMPT + 1, NULL), VOUCH_OK);
            assert_int_equal(vouch_session_probabilities(session, N_PROMPT - 1, 2, rows[0], NULL), VOUCH_OK);
            for (int32_t y = 0; y < VOCAB; y++) p[x * VOCAB + y] += weight * (double)rows[0][x] * (double)rows[1][y];
        }
}

/* The p-value of the first two tokens of N_ANSWERS answers, each with a seed of its own. */
static double pairs_p_value(int kind, vouch_accept accept, unsigned company, head_mistake mistake, samplers which)
{
    static double p[N_PAIRS];
    static int64_t count[N_PAIRS];
    static answer a;
    head_pair pair = head_pair_open(kind, VOCAB, 5);
    vouch_session *session = open_session(&pair, accept, company, which);
    pairs_expect(session, p);
    if (mistake) wrong_head_make(&session->cycle.drafters.paid, head_of(pair.head), mistake);
    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < N_ANSWERS; i++) {
        vouch_session_set_seed(session, (uint64_t)i);
        answer_continue(&a, session, prompt, N_PROMPT);
        count[a.tokens[0] * VOCAB + a.tokens[1]]++;
    }
    const int64_t accepted = a.stats.accepted_by[VOUCH_DRAFTER_NUMBER_HEAD];
    const int64_t rejected = a.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] - accepted;
    assert_true(mistake || (accepted > N_ANSWERS / 10 && rejected > N_ANSWERS / 10));
    vouch_session_close(session);
    head_pair_close(&pair);
    return p_value(count, N_ANSWERS, p, N_PAIRS);
}

static const vouch_accept with_q[] = {VOUCH_ACCEPT_REJECTION, VOUCH_ACCEPT_BLOCK, VOUCH_ACCEPT_TRAVERSAL,
                                      VOUCH_ACCEPT_MULTIPATH};

static void test_answers_with_heads(void **state)
{
    (void)state;
    static const unsigned companies[] = {0, VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_RECYCLE};
    test_skip_slow();
    for (int kind = MEDUSA_HEAD; kind <= DSPARK_HEAD; kind++)
        for (int i = 0; i < 8; i++) {
            const double value = pairs_p_value(kind, with_q[i % 4], companies[i / 4], HEAD_IS_RIGHT, WITHOUT);
            if (!(value > LEAST_P_VALUE))
                fail_msg("%s, rule %s, company %x: p-value %g", head_kind_names[kind], vouch_accept_name(with_q[i % 4]),
                         companies[i / 4], value);
        }
}

/* Every sampler under every rule. */
static void test_answers_with_samplers(void **state)
{
    (void)state;
    test_skip_slow();
    for (samplers which = WITH_XTC; which <= WITH_ALL; which++)
        for (int accept = 0; accept < VOUCH_ACCEPTS; accept++) {
            const double value = pairs_p_value(MEDUSA_HEAD, (vouch_accept)accept, 0, HEAD_IS_RIGHT, which);
            if (!(value > LEAST_P_VALUE))
                fail_msg("samplers %d, rule %s: p-value %g", which, vouch_accept_name(accept), value);
        }
}

static void test_wrong_heads_fail(void **state)
{
    (void)state;
    static const struct {
        int kind;
        head_mistake mistake;
    } wrong[] = {{MEDUSA_HEAD, HEAD_Q_OF_OTHER_DEPTH},  {MEDUSA_HEAD, HEAD_DROPS_LOW_Q},
                 {ASSISTANT_HEAD, HEAD_DROPS_LOW_Q},    {DFLASH_HEAD, HEAD_Q_OF_OTHER_DEPTH},
                 {DFLASH2_HEAD, HEAD_Q_OF_OTHER_DEPTH}, {DFLASH2_HEAD, HEAD_DROPS_LOW_Q},
                 {DSPARK_HEAD, HEAD_Q_WITHOUT_BIAS},    {DSPARK_HEAD, HEAD_DROPS_LOW_Q}};
    test_skip_slow();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (int r = 0; r < 2; r++) {
            const double value = pairs_p_value(wrong[i].kind, with_q[r], 0, wrong[i].mistake, WITHOUT);
            if (!(value < LEAST_P_VALUE))
                fail_msg("%s, rule %s, mistake %d passes: p-value %g", head_kind_names[wrong[i].kind],
                         vouch_accept_name(with_q[r]), (int)wrong[i].mistake, value);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p_value_is_right),           cmocka_unit_test(test_sampled_draft),
        cmocka_unit_test(test_sampled_draft_with_filters), cmocka_unit_test(test_greedy_draft),
        cmocka_unit_test(test_trees_of_drawn_guesses),     cmocka_unit_test(test_any_guess_is_exact_as_a_point_mass),
        cmocka_unit_test(test_wrong_rules_fail),           cmocka_unit_test(test_xtc_has_numbers_of_its_own),
        cmocka_unit_test(test_answers_of_several_cycles),  cmocka_unit_test(test_reused_random_numbers),
        cmocka_unit_test(test_vouch_reject_is_exact),      cmocka_unit_test(test_answers_with_heads),
        cmocka_unit_test(test_answers_with_samplers),      cmocka_unit_test(test_wrong_heads_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
