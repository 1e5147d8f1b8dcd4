/* SPDX-License-Identifier: MIT */
/*
 * Law L2 through the engine, by enumeration. Three sessions share each pass. In one of them every random choice is a
 * branch (support/walker.h): the guesses drawn from q, the verdicts of the rule, and the tokens of the residual and of
 * p. Visiting all branches gives the exact joint distribution of its tokens. It must equal the product of the target's
 * conditional distributions, which a session by itself computes, within 1e-12. Wrong rules and wrong q must miss it.
 *
 * The guesses are drawn by a drafter of this test, by a draft model, or by a head of each kind. The three sessions
 * share the passes of draft model and head.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft/paid/head.h"
#include "draft/paid/model.h"
#include "engine/session.h"
#include "support/head/head_kinds.h"
#include "support/walker.h"
#include "support/head/wrong_head.h"

enum { VOCAB = 3, K = 2, EMITTED = 3, N_JOINT = VOCAB * VOCAB * VOCAB, N_PROMPT = 5, CTX = 32 };

static const double EXACT = 1e-12;

/* The mistake of a run. DROPS_LOW_Q: of the drafter of this test. */
typedef enum wrong { RIGHT, RESIDUAL_IS_P, BONUS_IS_UNIFORM, DROPS_LOW_Q } wrong;

/* Who guesses in the first session. */
typedef enum guesser { BRANCH, MODEL, HEAD } guesser;

typedef struct setup {
    guesser guesser;
    vouch_accept rule;
    int32_t branches;
    int32_t n_more;   /* guesses of a draft beyond K */
    unsigned company; /* free drafters beside a head. Each of their guesses has q = 1 for one token */
    wrong wrong;
    head_mistake mistake; /* of a head */
} setup;

typedef struct branched {
    walker walker;
    wrong wrong;
    vouch_dist q[K];
    float weights[K][VOCAB];
    const vouch_dist *q_of[K];
    int32_t guesses[K];
} branched;

static vouch_model *model, *draft_model;
static const vouch_draft_file *head;
static branched *branching;

/* -------------------------------------------------------------------- dice */

static bool branch_accept(void *self, int64_t position, double before, double limit, double *u)
{
    branched *b = self;
    (void)position;
    const double p = before < 1 ? (limit - before) / (1 - before) : 0;
    const bool accepted = p >= 1 || (p > 0 && walker_choose(&b->walker, (const double[]){p, 1 - p}, 2) == 0);
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
    return walker_choose_token(&b->walker, mass, VOCAB);
}

/* A guess of a draft model or head. */
static int32_t branch_guess(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    double mass[VOCAB];
    (void)seed, (void)position, (void)number;
    for (int32_t x = 0; x < VOCAB; x++) mass[x] = vouch_residual_mass(left, x);
    return walker_choose_token(&branching->walker, mass, VOCAB);
}

/* --------------------------------------------------- the drafter of this test */

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
            q->weight[x] = (float)(1 + (last + x * 2 + i) % VOCAB);
            q->total += (double)q->weight[x];
            mass[x] = (double)q->weight[x];
        }
        b->q_of[i] = q;
        last = walker_choose_token(&b->walker, mass, VOCAB);
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

static vouch_drafter_setup setup_of(vouch_session *session, const vouch_session_options *o, int32_t branches)
{
    static const vouch_speculation speculation = {.n_draft = K + 1};
    return (vouch_drafter_setup){.speculation = &speculation,
                                 .sampling = &session->options.sampling,
                                 .seed = &session->seeded.seed,
                                 .n_ctx = o->n_ctx,
                                 .prefill_chunk = 16,
                                 .branches = branches,
                                 .draws_paths = session->cycle.rule->paths,
                                 .draw_guess = branch_guess,
                                 .target = model->weights,
                                 .target_memory = session->target.memory,
                                 .target_tokens = {.n = VOCAB},
                                 .passes = &session->engine->draft_passes};
}

static vouch_drafter_ref open_head(vouch_session *session, const vouch_session_options *o, int32_t branches)
{
    vouch_drafter_ref d;
    vouch_drafter_setup opening = setup_of(session, o, branches);
    opening.files[VOUCH_DRAFTER_NUMBER_HEAD] = head_of(head);
    assert_int_equal(vouch_drafter_head_open(&d, &opening, NULL), VOUCH_OK);
    return d;
}

static vouch_drafter_ref open_model(vouch_session *session, const vouch_session_options *o, int32_t branches)
{
    vouch_drafter_ref d;
    vouch_drafter_setup opening = setup_of(session, o, branches);
    opening.draft_model = draft_model->weights;
    assert_int_equal(vouch_drafter_model_open(&d, &opening, NULL, NULL), VOUCH_OK);
    return d;
}

static const int32_t prompts[3][N_PROMPT] = {{1, 0, 2, 1, 0}, {2, 2, 1, 0, 2}, {2, 0, 1, 1, 0}};

static bool with_samplers; /* typical, top-n-sigma, XTC and DRY */

static vouch_session_options options_of(int32_t i, const setup *s)
{
    const unsigned paid = s->guesser == HEAD ? VOUCH_DRAFTER_HEAD : s->guesser == MODEL ? VOUCH_DRAFTER_MODEL : 0;
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = CTX;
    o.n_threads = 1;
    o.max_tokens = i == 0 ? EMITTED : 12;
    o.ignore_eos = true;
    o.sampling.temperature = 2;
    o.sampling.repeat_penalty = 1.2f;
    o.sampling.seed = (uint64_t)i;
    if (with_samplers) {
        o.sampling.typical_p = 0.995f;
        o.sampling.top_n_sigma = 2.4f;
        o.sampling.xtc_probability = 0.5f;
        o.sampling.xtc_threshold = 0.35f;
        o.sampling.dry_multiplier = 0.3f;
        o.sampling.dry_allowed_length = 1;
        o.sampling.n_dry_sequence_breakers = 0; /* no tokenizer */
    }
    o.speculation.accept = i == 0 ? s->rule : VOUCH_ACCEPT_MATCH;
    o.speculation.drafters = (i == 0 ? s->company : i == 1 ? VOUCH_DRAFTER_RECYCLE : 0) | paid;
    if (o.speculation.drafters == 0) o.speculation.drafters = VOUCH_DRAFTER_NONE;
    o.speculation.draft_model = s->guesser == MODEL ? draft_model : NULL;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
    o.speculation.n_draft = i == 0 ? K + 1 : 1 + i;
    return o;
}

/* Opens the first session, whose choices are branches. engine NULL: a session by itself. */
static vouch_session *open_branching(vouch_engine *engine, branched *b, const setup *s)
{
    const vouch_session_options o = options_of(0, s);
    vouch_session *session;
    if (engine) assert_int_equal(vouch_engine_session_open(&session, engine, &o, NULL), VOUCH_OK);
    else session = answer_open(model, &o);
    vouch_drafter_ref *paid = &session->cycle.drafters.paid;
    if (paid->ops) paid->ops->close(paid->self);
    *paid = (vouch_drafter_ref){.ops = &branch_ops, .self = b};
    if (s->guesser == HEAD) *paid = open_head(session, &o, s->branches);
    if (s->guesser == MODEL) *paid = open_model(session, &o, s->branches);
    if (s->mistake) wrong_head_make(paid, head_of(head), s->mistake);
    session->cycle.dice = (vouch_dice){.accept = branch_accept, .draw = branch_draw, .self = b};
    const bool is_wide = s->company && session->cycle.rule->trees;
    session->cycle.n_paid = is_wide ? K : s->company ? 1 : 0;
    session->shape =
        (vouch_shape){.n = K + s->n_more + (s->company != 0), .depth = K, .branches = is_wide ? 3 : s->branches};
    return session;
}

/* Adds the probability of one path of choices to the joint distribution. */
static void add_path(const vouch_session *session, const branched *b, double *joint)
{
    size_t n_tokens;
    const int32_t *tokens = vouch_session_tokens(session, &n_tokens);
    int32_t index = 0;
    assert_int_equal(n_tokens, N_PROMPT + EMITTED);
    for (int32_t i = 0; i < EMITTED; i++) index = index * VOCAB + tokens[N_PROMPT + i];
    joint[index] += (double)b->walker.probability;
}

static void run_path(vouch_engine *engine, vouch_session *const sessions[3])
{
    bool is_over = false;
    vouch_session_set_seed(sessions[0], 0); /* the same XTC draws in each path */
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
}

static void run_beside_sessions(branched *b, const setup *s, double *joint)
{
    vouch_engine *engine;
    vouch_session *sessions[3];
    const vouch_engine_options options = {.n_sessions = 3, .n_ctx = CTX, .n_threads = 1, .page_size = 16};
    assert_int_equal(vouch_engine_open(&engine, model, &options, NULL), VOUCH_OK);
    sessions[0] = open_branching(engine, b, s);
    for (int32_t i = 1; i < 3; i++) {
        const vouch_session_options o = options_of(i, s);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
    }
    do {
        run_path(engine, sessions);
        add_path(sessions[0], b, joint);
    } while (walker_next(&b->walker));
    const vouch_engine_stats *stats = vouch_engine_get_stats(engine);
    assert_true(stats->rows - stats->prompt_rows >= 3 * stats->passes - 3); /* three sessions in almost every pass */
    for (int i = 0; i < 3; i++) vouch_session_close(sessions[i]);
    vouch_engine_close(engine);
}

/* Free drafters learn from every path, so each has a new session. It is alone: in an engine the number of their guesses
 * depends on the time of passes, which the walker can't repeat. */
static void run_beside_drafters(branched *b, const setup *s, double *joint)
{
    int64_t n_beside = 0;
    do {
        static answer a;
        vouch_session *session = open_branching(NULL, b, s);
        answer_continue(&a, session, prompts[0], N_PROMPT);
        add_path(session, b, joint);
        n_beside += a.stats.drafted - a.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD];
        vouch_session_close(session);
    } while (walker_next(&b->walker));
    if (n_beside == 0) fail_msg("the free drafters %x never guess", s->company);
}

/* The joint distribution of the first session's tokens. */
static void enumerate(const setup *s, double *joint)
{
    branched b = {.wrong = s->wrong};
    walker_begin(&b.walker);
    branching = &b;
    for (int32_t i = 0; i < N_JOINT; i++) joint[i] = 0;
    if (s->company) run_beside_drafters(&b, s, joint);
    else run_beside_sessions(&b, s, joint);
}

/* The product of p along each sequence of tokens, from plain passes of a session by itself. */
static void expect_joint(double *joint)
{
    static float logits[VOCAB];
    vouch_session_options o = options_of(0, &(setup){.rule = VOUCH_ACCEPT_REJECTION});
    double sum = 0;
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = NULL;
    o.max_tokens = 12;
    vouch_session *session = answer_open(model, &o);
    for (int32_t index = 0; index < N_JOINT; index++) {
        const int32_t added[EMITTED] = {index / (VOCAB * VOCAB), index / VOCAB % VOCAB, index % VOCAB};
        int32_t tokens[N_PROMPT + EMITTED];
        memcpy(tokens, prompts[0], sizeof prompts[0]);
        memcpy(tokens + N_PROMPT, added, sizeof added);
        vouch_session_set_seed(session, 0); /* XTC draws as in the first answer */
        assert_int_equal(vouch_session_prompt(session, tokens, N_PROMPT + EMITTED, NULL), VOUCH_OK);
        joint[index] = 1;
        for (int32_t i = 0; i < EMITTED; i++) {
            const int32_t n = N_PROMPT + i;
            assert_int_equal(vouch_session_logits(session, n - 1, 1, logits, NULL), VOUCH_OK);
            vouch_engine_target *target = &session->target;
            assert_int_equal(vouch_engine_target_distribution(target, logits, tokens, n), VOUCH_OK);
            joint[index] *= vouch_dist_p(&target->p, added[i]);
        }
        sum += joint[index];
    }
    assert_true(fabs(sum - 1) < EXACT);
    vouch_session_close(session);
}

/* The largest difference of a setup's joint distribution from the expected one. */
static double worst_of(const setup *s, const double *expected)
{
    double joint[N_JOINT], most = 0;
    enumerate(s, joint);
    for (int32_t i = 0; i < N_JOINT; i++) most = fmax(most, fabs(joint[i] - expected[i]));
    return most;
}

/* A right setup is exact; a wrong one is off by more than 1e-4, and so the test can fail. */
static void check(const char *name, const setup *s, const double *expected)
{
    const double worst = worst_of(s, expected);
    if (s->wrong || s->mistake ? !(worst > 1e-4) : !(worst <= EXACT))
        fail_msg("%s, rule %s, branches %d, company %x, mistakes %d and %d: off by %g", name,
                 vouch_accept_name(s->rule), s->branches, s->company, (int)s->wrong, (int)s->mistake, worst);
}

/* ------------------------------------------------------------------- tests */

static void rejection_beside_others_is_exact(void **state)
{
    (void)state;
    double expected[N_JOINT];
    model = tiny_model_open(&(tiny_model_options){.n_vocab = VOCAB, .seed = 3, .n_ctx = 64});
    draft_model = tiny_model_open(&(tiny_model_options){.n_vocab = VOCAB, .seed = 8, .n_ctx = 64});
    head = NULL;
    expect_joint(expected);
    check("drafter", &(setup){.guesser = BRANCH, .branches = 1}, expected);
    check("draft model", &(setup){.guesser = MODEL, .branches = 1}, expected);
    check("draft model", &(setup){.guesser = MODEL, .branches = 2}, expected);
    check("draft model", &(setup){.guesser = MODEL, .rule = VOUCH_ACCEPT_TRAVERSAL, .branches = 2, .n_more = 1},
          expected);
    check("draft model", &(setup){.guesser = MODEL, .rule = VOUCH_ACCEPT_MULTIPATH, .branches = 2, .n_more = 1},
          expected);
    for (wrong w = RESIDUAL_IS_P; w <= DROPS_LOW_Q; w++)
        check("drafter", &(setup){.guesser = BRANCH, .branches = 1, .wrong = w}, expected);
    vouch_model_close(model);
    vouch_model_close(draft_model);
}

static void samplers_are_exact(void **state)
{
    with_samplers = true;
    rejection_beside_others_is_exact(state);
    with_samplers = false;
}

/* The rules that use q, with chains and trees of each kind of head, alone and beside free drafters. */
static void heads_are_exact(void **state)
{
    (void)state;
    test_skip_slow();
    static const setup setups[] = {
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_REJECTION, .branches = 1},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_REJECTION, .branches = 2},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_BLOCK, .branches = 1},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_TRAVERSAL, .branches = 2},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_MULTIPATH, .branches = 2},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_REJECTION, .branches = 2, .company = VOUCH_DRAFTER_NGRAM},
        {.guesser = HEAD,
         .rule = VOUCH_ACCEPT_REJECTION,
         .branches = 1,
         .company = VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_BLOCK, .branches = 1, .company = VOUCH_DRAFTER_NGRAM},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_TRAVERSAL, .branches = 2, .company = VOUCH_DRAFTER_NGRAM},
        {.guesser = HEAD, .rule = VOUCH_ACCEPT_MULTIPATH, .branches = 2, .company = VOUCH_DRAFTER_NGRAM},
    };
    enum { N = sizeof setups / sizeof setups[0] };
    double expected[N_JOINT];
    for (int kind = 0; kind < N_HEAD_KINDS; kind++) {
        head_pair pair = head_pair_open(kind, VOCAB, 3);
        model = pair.target;
        head = pair.head;
        expect_joint(expected);
        for (int i = 0; i < N; i++) check(head_kind_names[kind], &setups[i], expected);
        head_pair_close(&pair);
    }
}

/* The test above can fail: heads with mistakes that only heads of many guesses can make. */
static void wrong_heads_are_caught(void **state)
{
    (void)state;
    test_skip_slow();
    static const struct {
        int kind;
        head_mistake mistake;
        wrong wrong;
    } mistakes[] = {{MEDUSA_HEAD, HEAD_Q_OF_OTHER_DEPTH, RIGHT}, {DFLASH_HEAD, HEAD_Q_OF_OTHER_DEPTH, RIGHT},
                    {DSPARK_HEAD, HEAD_Q_WITHOUT_BIAS, RIGHT},   {DSPARK_HEAD, HEAD_DROPS_LOW_Q, RIGHT},
                    {MEDUSA_HEAD, HEAD_DROPS_LOW_Q, RIGHT},      {ASSISTANT_HEAD, HEAD_IS_RIGHT, RESIDUAL_IS_P},
                    {DFLASH_HEAD, HEAD_IS_RIGHT, RESIDUAL_IS_P}, {DFLASH2_HEAD, HEAD_Q_OF_OTHER_DEPTH, RIGHT},
                    {DFLASH2_HEAD, HEAD_DROPS_LOW_Q, RIGHT},     {DFLASH2_HEAD, HEAD_IS_RIGHT, RESIDUAL_IS_P},
                    {MTP_HEAD, HEAD_DROPS_LOW_Q, RIGHT},         {MTP_HEAD, HEAD_IS_RIGHT, RESIDUAL_IS_P}};
    double expected[N_JOINT];
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        head_pair pair = head_pair_open(mistakes[i].kind, VOCAB, 3);
        model = pair.target;
        head = pair.head;
        expect_joint(expected);
        for (int rule = 0; rule < 2; rule++)
            check(head_kind_names[mistakes[i].kind],
                  &(setup){.guesser = HEAD,
                           .rule = rule ? VOUCH_ACCEPT_BLOCK : VOUCH_ACCEPT_REJECTION,
                           .branches = 1,
                           .wrong = mistakes[i].wrong,
                           .mistake = mistakes[i].mistake},
                  expected);
        head_pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejection_beside_others_is_exact),
        cmocka_unit_test(samplers_are_exact),
        cmocka_unit_test(heads_are_exact),
        cmocka_unit_test(wrong_heads_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
