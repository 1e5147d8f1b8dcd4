/* SPDX-License-Identifier: MIT */
/*
 * Law L2 through the engine, by enumeration. Three sessions share each pass. In one of them every random choice is a
 * branch: the guesses drawn from q, the verdicts of rejection, and the tokens of the residual and of p. Visiting all
 * branches gives the exact joint distribution of its tokens. It must equal the product of the target's conditional
 * distributions, which a session by itself computes, within 1e-12. Wrong rules must miss it. The guesses are drawn by a
 * drafter of this test, or by a draft model whose passes the three sessions share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft/model.h"
#include "engine/session.h"
#include "support/answer.h"

enum { VOCAB = 4, K = 2, EMITTED = 3, N_JOINT = VOCAB * VOCAB * VOCAB, MOST_PATH = 32, N_PROMPT = 4 };

static const double EXACT = 1e-12;

/* The mistake of a run. */
typedef enum wrong { RIGHT, RESIDUAL_IS_P, DROPS_LOW_Q, BONUS_IS_UNIFORM } wrong;

/* Visits all sequences of choices, depth first. A run repeats the choices of `path` and takes option 0 behind them. */
typedef struct walker {
    int option[MOST_PATH], n_options[MOST_PATH];
    int n, depth;
    double probability; /* of the run so far */
} walker;

typedef struct branched {
    walker walker;
    wrong wrong;
    vouch_dist q[K];
    float weights[K][VOCAB];
    const vouch_dist *q_of[K];
    int32_t guesses[K];
} branched;

static int choose(walker *w, const double *probability, int n_options)
{
    if (w->depth == w->n) {
        assert_true(w->n < MOST_PATH);
        w->option[w->n] = 0;
        w->n_options[w->n++] = n_options;
    }
    assert_int_equal(w->n_options[w->depth], n_options);
    const int option = w->option[w->depth++];
    w->probability *= probability[option];
    return option;
}

static bool next_path(walker *w)
{
    w->depth = 0;
    w->probability = 1;
    while (w->n > 0 && ++w->option[w->n - 1] == w->n_options[w->n - 1]) w->n--;
    return w->n > 0;
}

/* Branches on a token with probability mass / sum of masses. */
static int32_t choose_token(walker *w, const double *mass)
{
    double probability[VOCAB], total = 0;
    int32_t token[VOCAB];
    int n = 0;
    for (int32_t x = 0; x < VOCAB; x++) total += mass[x];
    for (int32_t x = 0; x < VOCAB; x++) {
        if (!(mass[x] > 0)) continue;
        probability[n] = mass[x] / total;
        token[n++] = x;
    }
    return token[choose(w, probability, n)];
}

/* ------------------------------------------------------------ dice and drafter */

static bool branch_accept(void *self, int64_t position, double before, double limit, double *u)
{
    branched *b = self;
    (void)position;
    const double p = before < 1 ? (limit - before) / (1 - before) : 0;
    const bool accepted = p >= 1 || (p > 0 && choose(&b->walker, (const double[]){p, 1 - p}, 2) == 0);
    *u = accepted ? before : limit;
    return accepted;
}

static int32_t branch_draw(void *self, int64_t position, const vouch_residual *left)
{
    branched *b = self;
    double mass[VOCAB];
    (void)position;
    for (int32_t x = 0; x < VOCAB; x++) {
        mass[x] = vouch_residual_mass(left, x);
        if (b->wrong == RESIDUAL_IS_P) mass[x] = vouch_dist_p(left->p, x);
        if (b->wrong == BONUS_IS_UNIFORM && left->n == 0) mass[x] = 1;
    }
    return choose_token(&b->walker, mass);
}

/* A chain of guesses, each drawn from a q that depends on the token before it. */
static vouch_draft branch_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    branched *b = self;
    vouch_draft draft = {.tokens = b->guesses, .q = b->q_of};
    int32_t last = tokens[n_tokens - 1];
    for (int32_t i = 0; i < K && i < shape->depth; i++) {
        double mass[VOCAB];
        vouch_dist *q = &b->q[i];
        *q = (vouch_dist){.n_vocab = VOCAB, .n_support = VOCAB, .dense = true, .weight = b->weights[i]};
        for (int32_t x = 0; x < VOCAB; x++) {
            q->weight[x] = (float)(1 + (last * 3 + x * 2 + i) % VOCAB);
            q->total += (double)q->weight[x];
            mass[x] = (double)q->weight[x];
        }
        b->q_of[i] = q;
        last = choose_token(&b->walker, mass);
        if (b->wrong == DROPS_LOW_Q && mass[last] < 2) break;
        b->guesses[draft.n++] = last;
    }
    return draft;
}

static void branch_rewind(void *self, int32_t n_tokens)
{
    (void)self;
    (void)n_tokens;
}

static void branch_close(void *self)
{
    (void)self;
}

static size_t branch_memory(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_drafter_ops branch_ops = {.name = "branch",
                                             .bit = VOUCH_DRAFTER_MODEL,
                                             .propose = branch_propose,
                                             .rewind = branch_rewind,
                                             .close = branch_close,
                                             .memory = branch_memory};

/* ----------------------------------------------------------------- the engine */

/* Who guesses in the first session: the drafter above, or a draft model, whose passes the other two sessions share. */
typedef enum guessing { BRANCH, CHAIN, TREE } guessing;

static vouch_model *model, *draft_model;
static branched *branching;

static int32_t branch_guess(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    double mass[VOCAB];
    (void)seed, (void)position, (void)number;
    for (int32_t x = 0; x < VOCAB; x++) mass[x] = vouch_residual_mass(left, x);
    return choose_token(&branching->walker, mass);
}

static vouch_drafter_ref open_guesser(vouch_engine *engine, branched *b, const vouch_session_options *o, guessing how)
{
    static const uint64_t seed = 1;
    const vouch_drafter_model_options options = {.sampling = &o->sampling,
                                                 .seed = &seed,
                                                 .draft_sampling = VOUCH_DRAFT_SAMPLE,
                                                 .draw = branch_guess,
                                                 .n_ctx = o->n_ctx,
                                                 .prefill_chunk = 16,
                                                 .k = K,
                                                 .branches = how == TREE ? 2 : 1};
    vouch_drafter_ref d = {.ops = &branch_ops, .self = b};
    branching = b;
    if (how == BRANCH) return d;
    assert_int_equal(vouch_drafter_model_open(&d, draft_model->weights, &engine->draft_passes, &options, NULL),
                     VOUCH_OK);
    return d;
}
static const int32_t prompts[3][N_PROMPT] = {{1, 3, 2, 0}, {3, 3, 1, 0}, {2, 0, 3, 3}};

static vouch_session_options options_of(int32_t i, guessing how)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = 32;
    o.n_threads = 2;
    o.max_tokens = i == 0 ? EMITTED : 12;
    o.ignore_eos = true;
    o.sampling.temperature = 0.8f;
    o.sampling.repeat_penalty = 1.2f;
    o.sampling.seed = (uint64_t)i;
    o.speculation.accept = i == 0 ? VOUCH_ACCEPT_REJECTION : VOUCH_ACCEPT_MATCH;
    o.speculation.drafters = i == 1 ? VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_RECYCLE : VOUCH_DRAFTER_NONE;
    if (i == 0 || how == BRANCH) return o;
    o.speculation.drafters = i == 1 ? VOUCH_DRAFTER_RECYCLE | VOUCH_DRAFTER_MODEL : VOUCH_DRAFTER_MODEL;
    o.speculation.draft_model = draft_model;
    o.speculation.n_draft = 1 + i;
    return o;
}

/* Adds the probability of one path of choices to the joint distribution. */
static void run_path(vouch_engine *engine, vouch_session *const sessions[3], branched *b, double *joint)
{
    size_t n_tokens;
    bool is_over = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(vouch_session_prompt(sessions[i], prompts[i], N_PROMPT, NULL), VOUCH_OK);
    while (!is_over) {
        const vouch_engine_event *events;
        size_t n_events;
        assert_true(vouch_engine_step(engine, &events, &n_events));
        for (size_t i = 0; i < n_events; i++) {
            assert_int_equal(events[i].status, VOUCH_OK);
            is_over |= events[i].session == sessions[0] && events[i].step.finish != VOUCH_FINISH_NONE;
        }
    }
    const int32_t *tokens = vouch_session_tokens(sessions[0], &n_tokens);
    assert_int_equal(n_tokens, N_PROMPT + EMITTED);
    int32_t index = 0;
    for (int32_t i = 0; i < EMITTED; i++) index = index * VOCAB + tokens[N_PROMPT + i];
    joint[index] += b->walker.probability;
}

/* The joint distribution of the first session's tokens. */
static void enumerate(guessing how, wrong mistake, double *joint)
{
    branched b = {.walker = {.probability = 1}, .wrong = mistake};
    vouch_engine *engine;
    vouch_session *sessions[3];
    const vouch_engine_options options = {.n_sessions = 3, .n_ctx = 32, .n_threads = 2, .page_size = 16};
    assert_int_equal(vouch_engine_open(&engine, model, &options, NULL), VOUCH_OK);
    for (int32_t i = 0; i < 3; i++) {
        const vouch_session_options o = options_of(i, how);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
    }
    const vouch_session_options first = options_of(0, how);
    sessions[0]->cycle.drafters.paid = open_guesser(engine, &b, &first, how);
    sessions[0]->cycle.dice = (vouch_dice){.accept = branch_accept, .draw = branch_draw, .self = &b};
    sessions[0]->shape = (vouch_shape){.n = K, .depth = K, .branches = how == TREE ? 2 : 1};
    for (int32_t i = 0; i < N_JOINT; i++) joint[i] = 0;
    do run_path(engine, sessions, &b, joint);
    while (next_path(&b.walker));
    const vouch_engine_stats *stats = vouch_engine_get_stats(engine);
    assert_true(stats->rows - stats->prompt_rows >= 3 * stats->passes - 3); /* three sessions in almost every pass */
    for (int i = 0; i < 3; i++) vouch_session_close(sessions[i]);
    vouch_engine_close(engine);
}

/* The product of p along each sequence of tokens, from plain passes of a session by itself. */
static void expect_joint(double *joint)
{
    static float logits[VOCAB];
    vouch_session_options o = options_of(0, BRANCH);
    o.max_tokens = 12;
    vouch_session *session = answer_open(model, &o);
    for (int32_t index = 0; index < N_JOINT; index++) {
        const int32_t added[EMITTED] = {index / (VOCAB * VOCAB), index / VOCAB % VOCAB, index % VOCAB};
        int32_t tokens[N_PROMPT + EMITTED];
        memcpy(tokens, prompts[0], sizeof prompts[0]);
        memcpy(tokens + N_PROMPT, added, sizeof added);
        assert_int_equal(vouch_session_prompt(session, tokens, N_PROMPT + EMITTED, NULL), VOUCH_OK);
        joint[index] = 1;
        for (int32_t i = 0; i < EMITTED; i++) {
            const int32_t n = N_PROMPT + i;
            assert_int_equal(vouch_session_logits(session, n - 1, 1, logits, NULL), VOUCH_OK);
            vouch_engine_target *target = &session->target;
            assert_int_equal(vouch_dist_from_logits(&target->p, &target->sampler, logits, tokens, (size_t)n), VOUCH_OK);
            joint[index] *= vouch_dist_p(&target->p, added[i]);
        }
    }
    vouch_session_close(session);
}

static double largest_difference(const double *a, const double *b)
{
    double most = 0;
    for (int32_t i = 0; i < N_JOINT; i++)
        if (fabs(a[i] - b[i]) > most) most = fabs(a[i] - b[i]);
    return most;
}

static void rejection_beside_others_is_exact(void **state)
{
    (void)state;
    static double expected[N_JOINT], joint[N_JOINT];
    double sum = 0;
    model = tiny_model_open(&(tiny_model_options){.n_vocab = VOCAB, .seed = 3, .n_ctx = 64});
    draft_model = tiny_model_open(&(tiny_model_options){.n_vocab = VOCAB, .seed = 8, .n_ctx = 64});
    expect_joint(expected);
    for (int32_t i = 0; i < N_JOINT; i++) sum += expected[i];
    assert_true(fabs(sum - 1) < EXACT);
    for (guessing how = BRANCH; how <= TREE; how++) {
        enumerate(how, RIGHT, joint);
        const double worst = largest_difference(joint, expected);
        if (!(worst <= EXACT)) fail_msg("drafter %d: off by %g", how, worst);
    }
    for (wrong w = RESIDUAL_IS_P; w <= BONUS_IS_UNIFORM; w++) {
        enumerate(BRANCH, w, joint);
        assert_true(largest_difference(joint, expected) > 1e-4);
    }
    vouch_model_close(model);
    vouch_model_close(draft_model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rejection_beside_others_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
