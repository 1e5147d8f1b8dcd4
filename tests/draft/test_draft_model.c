/* SPDX-License-Identifier: MIT */
/*
 * Exactness of the draft model's trees, by enumeration. The test visits every tree that the draft model's draws can
 * give and, for each tree, every outcome of the judge's draws. The joint distribution of the tokens must equal the
 * target's within 1e-12. With common mistakes in growing a tree it must differ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/compose.h"
#include "draft/paid/model.h"
#include "draft/free/ngram.h"
#include "draft/free/suffix.h"
#include "engine/file/model.h"
#include "os/os.h"
#include "support/decode/answer.h"
#include "support/decode/draft.h"
#include "support/sanitized.h"
#include "draft/drafters.h"
#include "support/decode/toy.h"

enum { VOCAB = 4, N_DRAFT = 6, N_PROMPT = 6, MAX_PATH = 32, LENGTH = 3, JOINT = VOCAB * VOCAB * VOCAB };

/* ------------------------------------------------------------------ walker */

/* Visits all sequences of choices depth first. A run repeats the recorded options and takes option 0 after their
 * end. */
typedef struct walker {
    int option[MAX_PATH], n_options[MAX_PATH];
    int n, at;
    double probability; /* of the run so far */
} walker;

static int choose(walker *w, const double *probability, int n_options)
{
    if (w->at == w->n) {
        assert_true(w->n < MAX_PATH);
        w->option[w->n] = 0;
        w->n_options[w->n++] = n_options;
    }
    assert_int_equal(w->n_options[w->at], n_options);
    const int option = w->option[w->at++];
    w->probability *= probability[option];
    return option;
}

static bool walker_next(walker *w)
{
    w->at = 0;
    w->probability = 1;
    while (w->n > 0 && ++w->option[w->n - 1] == w->n_options[w->n - 1]) w->n--;
    return w->n > 0;
}

static int32_t choose_token(walker *w, const vouch_residual *left)
{
    double probability[VOCAB];
    int32_t token[VOCAB];
    int n = 0;
    for (int32_t x = 0; x < left->p->n_vocab; x++) {
        const double p = vouch_residual_p(left, x);
        if (!(p > 0)) continue;
        probability[n] = p;
        token[n++] = x;
    }
    assert_true(n > 0);
    return token[choose(w, probability, n)];
}

/* ---------------------------------------------------------------- the model */

static walker drafts, verdicts;

static int32_t branching_draw(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    (void)seed;
    (void)position;
    (void)number;
    return choose_token(&drafts, left);
}

typedef enum mistake { NONE, SORTED, NOT_ITS_Q } mistake;

typedef struct setup {
    const char *name;
    int32_t branches, n, depth;
    vouch_sampling sampling;
    vouch_draft_sampling draft_sampling;
    bool bridged;     /* the draft model has other tokens */
    bool trimmed;     /* a trimmed head: it guesses only some of its tokens */
    bool joined_tree; /* the draft model guesses a tree, too, beside free drafters */
    int32_t joined;   /* most guesses of the draft model beside free drafters; 0: it drafts alone */
    mistake mistake;
    vouch_accept accept; /* with MULTIPATH, the branches are independent paths */
} setup;

typedef struct run {
    toy target;
    int32_t tokens[TOY_MAX_CTX];
    vouch_draft draft;
    const vouch_rule *rule;
    double joint[JOINT];
    int64_t n_drafts, n_branches;
    int64_t n_points, n_shared; /* point masses; guesses shared by the draft model and free drafters */
} run;

static vouch_status row_p(void *self, int32_t row, int32_t depth, const vouch_dist **p)
{
    run *r = self;
    for (int32_t i = row - 1, at = N_PROMPT + depth; i >= 0; i = vouch_draft_parent(&r->draft, i))
        r->tokens[--at] = r->draft.tokens[i];
    *p = toy_dist(&r->target, r->tokens, N_PROMPT + depth);
    return VOUCH_OK;
}

static bool branching_accept(void *self, int64_t position, double before, double limit, double *u)
{
    (void)self;
    (void)position;
    const double p = before < 1 ? (limit - before) / (1 - before) : 0;
    const bool accepted = p >= 1 || (p > 0 && choose(&verdicts, (const double[]){p, 1 - p}, 2) == 0);
    *u = accepted ? before : limit;
    return accepted;
}

static int32_t branching_emit(void *self, int64_t position, const vouch_residual *left)
{
    (void)self;
    (void)position;
    if (left->total > 0) return choose_token(&verdicts, left);
    vouch_residual whole;
    vouch_residual_begin(&whole, left->p, NULL, 1);
    return choose_token(&verdicts, &whole);
}

/* Adds all continuations: after the n emitted tokens the target alone decodes. */
static void add_joint(run *r, int32_t n, double probability)
{
    if (n == LENGTH) {
        int32_t index = 0;
        for (int32_t i = 0; i < LENGTH; i++) index = index * VOCAB + r->tokens[N_PROMPT + i];
        r->joint[index] += probability;
        return;
    }
    double p[VOCAB];
    const vouch_dist *dist = toy_dist(&r->target, r->tokens, N_PROMPT + n);
    for (int32_t x = 0; x < VOCAB; x++) p[x] = vouch_dist_p(dist, x);
    for (int32_t x = 0; x < VOCAB; x++) {
        r->tokens[N_PROMPT + n] = x;
        if (p[x] > 0) add_joint(r, n + 1, probability * p[x]);
    }
}

static void judge_all(run *r, double probability)
{
    const vouch_dice dice = {branching_accept, branching_emit, NULL};
    verdicts = (walker){.probability = 1};
    do {
        vouch_judgement out;
        vouch_guess guesses[VOUCH_MAX_DRAFT];
        const vouch_trial trial = {
            .draft = &r->draft, .row_p = row_p, .row_self = r, .dice = &dice, .position = N_PROMPT, .lenience = 1};
        assert_int_equal(vouch_judge(&out, guesses, r->rule, &trial), VOUCH_OK);
        for (int32_t i = 0; i < out.n_accepted; i++) r->tokens[N_PROMPT + i] = r->draft.tokens[out.path[i]];
        r->tokens[N_PROMPT + out.n_accepted] = out.final_token;
        const int32_t n = out.n_accepted + 1;
        add_joint(r, n < LENGTH ? n : LENGTH, probability * verdicts.probability);
    } while (walker_next(&verdicts));
}

/* SORTED: sorts the guesses for one position by q. NOT_ITS_Q: reports another q than the one drawn from. */
static void make_mistake(vouch_draft *draft, mistake which, vouch_dist *other)
{
    static int32_t tokens[VOUCH_MAX_DRAFT];
    static const vouch_dist *q[VOUCH_MAX_DRAFT];
    if (which == NONE || draft->n < 2) return;
    memcpy(tokens, draft->tokens, sizeof *tokens * (size_t)draft->n);
    memcpy(q, draft->q, sizeof *q * (size_t)draft->n);
    for (int32_t i = 1; which == SORTED && i < draft->n; i++)
        for (int32_t j = i; j > 0 && q[0]->weight[tokens[j]] > q[0]->weight[tokens[j - 1]]; j--) {
            const int32_t token = tokens[j];
            tokens[j] = tokens[j - 1];
            tokens[j - 1] = token;
        }
    for (int32_t i = 0; which == NOT_ITS_Q && i < draft->n; i++) {
        memcpy(other->weight, q[0]->weight, sizeof(float) * VOCAB);
        other->weight[0] += 0.2f * (float)q[0]->total;
        other->total = q[0]->total * 1.2;
        other->dense = true;
        other->n_vocab = other->n_support = VOCAB;
        if (vouch_draft_parent(draft, i) == -1) q[i] = other;
    }
    draft->tokens = tokens;
    draft->q = q;
}

/* The target's tokens 0, 2 and 3 are the draft model's 2, 0 and 4. Its token 1 takes two tokens of the draft model. */
static vouch_bridge *make_bridge(void)
{
    static const int32_t row_of[VOCAB] = {2, -1, 0, 4}, first[VOCAB + 1] = {0, 1, 3, 4, 5}, pieces[] = {2, 1, 3, 0, 4};
    vouch_bridge *b = calloc(1, sizeof *b);
    *b = (vouch_bridge){.n_target = VOCAB, .n_rows = N_DRAFT, .n_common = 3, .most = 2};
    b->row_of = memcpy(malloc(sizeof row_of), row_of, sizeof row_of);
    b->first = memcpy(malloc(sizeof first), first, sizeof first);
    b->pieces = memcpy(malloc(sizeof pieces), pieces, sizeof pieces);
    return b;
}

/* Free drafters. The sampled guesses decide which of the free guesses enter the tree. */
static vouch_drafter_ref open_free(void)
{
    vouch_source sources[2];
    vouch_drafter_ref d;
    assert_int_equal(vouch_source_ngram_open(&sources[0], 64, 1, 3, NULL), VOUCH_OK);
    assert_int_equal(vouch_source_suffix_open(&sources[1], 64, NULL), VOUCH_OK);
    assert_int_equal(vouch_drafter_compose_open(&d, sources, 2, NULL), VOUCH_OK);
    return d;
}

/* Drafts a tree with at most n_paid guesses of the draft model and with free guesses. n_paid 0: the draft model
 * alone. */
static vouch_draft ask_both(const vouch_drafters *drafters, const int32_t *tokens, const vouch_shape *shape,
                            int32_t n_paid)
{
    vouch_shape paid = *shape;
    if (n_paid > 0) paid.n = vouch_min(paid.n, n_paid);
    if (n_paid > 0) paid.depth = vouch_min(paid.depth, n_paid);
    const vouch_draft guide = draft_alone(&drafters->paid, tokens, N_PROMPT, &paid);
    return vouch_drafters_ask_free(drafters, tokens, N_PROMPT, shape, &guide);
}

static void run_all(run *r, const setup *s)
{
    static float weight[VOCAB];
    vouch_dist other = {.weight = weight};
    vouch_model *model = tiny_model_open(&(tiny_model_options){
        .seed = 5, .n_vocab = s->bridged ? N_DRAFT : VOCAB, .n_embd = 32, .n_heads = 2, .n_layers = 1});
    vouch_pool *pool;
    vouch_drafters d = {0};
    memset(r, 0, sizeof *r);
    r->rule = vouch_rule_get(s->accept);
    static const int32_t head[] = {4, 1, 2}; /* the target's vocabulary has two of these three */
    vouch_bridge *bridge = NULL;
    if (s->bridged) bridge = make_bridge();
    if (s->trimmed) assert_int_equal(vouch_bridge_trim(bridge, head, 3, NULL), VOUCH_OK);
    const vouch_speculation speculation = {
        .n_draft = s->n, .draft_sampling = s->draft_sampling, .draft_vocab = head, .n_draft_vocab = s->trimmed ? 3 : 0};
    const vouch_shape shape = {.n = s->n, .depth = s->depth, .branches = s->branches};
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool};
    const vouch_drafter_setup opening = {.speculation = &speculation,
                                         .sampling = &s->sampling,
                                         .seed = &s->sampling.seed,
                                         .n_ctx = 64,
                                         .prefill_chunk = 16,
                                         .branches = s->joined && !s->joined_tree ? 1 : s->branches,
                                         .draws_paths = r->rule->paths,
                                         .draw_guess = branching_draw,
                                         .target_tokens = {.n = VOCAB},
                                         .draft_model = model->weights,
                                         .passes = &passes};
    assert_int_equal(vouch_drafter_model_open(&d.paid, &opening, bridge, NULL), VOUCH_OK);
    if (s->joined) d.free = open_free();
    toy_open(&r->target, VOCAB, 1, 1.5f, &s->sampling);
    const int32_t prompt[N_PROMPT] = {1, 3, 2, 1, 3, 2};
    memcpy(r->tokens, prompt, sizeof prompt);
    drafts = (walker){.probability = 1};
    do {
        r->draft = ask_both(&d, r->tokens, &shape, s->joined);
        make_mistake(&r->draft, s->mistake, &other);
        for (int32_t i = 0; i < r->draft.n; i++) {
            r->n_branches += vouch_draft_parent(&r->draft, i) != i - 1;
            if (!r->draft.q || !r->draft.drafters) continue;
            r->n_points += !r->draft.q[i];
            r->n_shared += (r->draft.drafters[i] & VOUCH_DRAFTER_MODEL) && r->draft.drafters[i] != VOUCH_DRAFTER_MODEL;
        }
        r->n_drafts++;
        judge_all(r, drafts.probability);
        vouch_drafters_rewind(&d, N_PROMPT - 1);
    } while (walker_next(&drafts));
    vouch_drafters_close(&d);
    vouch_pool_close(pool);
    vouch_model_close(model);
}

/* The largest difference from the target's joint distribution. */
static double difference(run *r)
{
    static double got[JOINT];
    double most = 0;
    memcpy(got, r->joint, sizeof got);
    memset(r->joint, 0, sizeof r->joint);
    add_joint(r, 0, 1);
    for (int32_t i = 0; i < JOINT; i++) most = fmax(most, fabs(got[i] - r->joint[i]));
    toy_close(&r->target);
    return most;
}

static void check_exact(run *r, const setup *s)
{
    const double off = difference(r);
    if (off >= 1e-12)
        fail_msg("%s, %s, temperature %g, %s: off by %g", s->name, r->rule->name, (double)s->sampling.temperature,
                 s->draft_sampling == VOUCH_DRAFT_GREEDY ? "greedy" : "sampled", off);
}

static vouch_sampling sampling_of(float temperature, int32_t top_k, float top_p, float penalty)
{
    vouch_sampling s = vouch_sampling_default();
    s.temperature = temperature;
    s.top_k = top_k;
    s.top_p = top_p;
    s.frequency_penalty = penalty;
    return s;
}

/* The rules that judge trees of drawn guesses. */
static const vouch_accept of_trees[] = {VOUCH_ACCEPT_REJECTION, VOUCH_ACCEPT_TRAVERSAL, VOUCH_ACCEPT_MULTIPATH};
enum { N_OF_TREES = sizeof of_trees / sizeof *of_trees };

static void check_all(bool bridged, bool trimmed)
{
    static run r;
    const vouch_sampling sampling[] = {sampling_of(1, 0, 1, 0), sampling_of(0.6f, 3, 1, 0.5f),
                                       sampling_of(1.5f, 0, 0.8f, 0)};
    const setup shapes[] = {{.name = "chain of 3", .branches = 1, .n = 3, .depth = 3},
                            {.name = "2 siblings, 2 levels", .branches = 2, .n = 4, .depth = 2},
                            {.name = "3 siblings, 1 level", .branches = 3, .n = 3, .depth = 1},
                            {.name = "3 siblings, 3 levels", .branches = 3, .n = 5, .depth = 3},
                            {.name = "4 siblings, 2 levels", .branches = 4, .n = 4, .depth = 2}};
    int64_t n_branches = 0, n_drafts = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof sampling / sizeof *sampling; j++)
            for (int way = 0; way < 2 * N_OF_TREES; way++) {
                if ((test_is_quick() || TEST_SANITIZED) && (i + j) % 2) continue;
                const bool greedy = way % 2;
                setup s = shapes[i];
                s.accept = of_trees[way / 2];
                s.sampling = sampling[j];
                s.bridged = bridged;
                s.trimmed = trimmed;
                s.draft_sampling = greedy ? VOUCH_DRAFT_GREEDY : VOUCH_DRAFT_SAMPLE;
                run_all(&r, &s);
                n_branches += r.n_branches;
                n_drafts += r.n_drafts;
                assert_true(!greedy || r.n_drafts == 1);
                check_exact(&r, &s);
            }
    assert_true(n_branches > 0 && n_drafts > 50);
}

/* The position and the number of each draw. */
static struct {
    int64_t position;
    int32_t number;
} drawn[64];
static int32_t n_drawn;

static int32_t recording_draw(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    assert_in_range(n_drawn, 0, 63);
    drawn[n_drawn].position = position;
    drawn[n_drawn++].number = number;
    return vouch_draw_guess(left, seed, position, number);
}

/* No two draws of a draft use the same number, and the next draft, one token later, uses smaller numbers for the same
 * position (vouch_draw_fn). Otherwise block verification would meet a guess again that it has already judged. */
static void every_draw_has_its_number(void **state)
{
    (void)state;
    static const vouch_shape shapes[] = {
        {.n = 4, .depth = 4, .branches = 1}, {.n = 8, .depth = 3, .branches = 3}, {.n = 12, .depth = 4, .branches = 4}};
    enum { N = sizeof shapes / sizeof *shapes };
    const vouch_sampling sampling = sampling_of(1.5f, 0, 1, 0);
    vouch_model *model =
        tiny_model_open(&(tiny_model_options){.seed = 5, .n_vocab = VOCAB, .n_embd = 32, .n_heads = 2, .n_layers = 1});
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 1, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool};
    for (size_t way = 0; way < 2 * N; way++) {
        const size_t i = way / 2;
        int32_t tokens[N_PROMPT + 1] = {1, 3, 2, 1, 3, 2}, n_again = 0;
        vouch_drafter_ref d;
        const vouch_speculation speculation = {.n_draft = shapes[i].n, .draft_sampling = VOUCH_DRAFT_SAMPLE};
        const vouch_drafter_setup opening = {.speculation = &speculation,
                                             .sampling = &sampling,
                                             .seed = &sampling.seed,
                                             .n_ctx = 64,
                                             .prefill_chunk = 16,
                                             .branches = shapes[i].branches,
                                             .draws_paths = way % 2,
                                             .draw_guess = recording_draw,
                                             .target_tokens = {.n = VOCAB},
                                             .draft_model = model->weights,
                                             .passes = &passes};
        assert_int_equal(vouch_drafter_model_open(&d, &opening, NULL, NULL), VOUCH_OK);
        n_drawn = 0;
        const vouch_draft draft = draft_alone(&d, tokens, N_PROMPT, &shapes[i]);
        assert_true(draft.n > 0 && n_drawn >= draft.n);
        for (int32_t a = 0; a < n_drawn; a++) {
            assert_in_range(drawn[a].position, N_PROMPT, N_PROMPT + shapes[i].depth - 1);
            for (int32_t b = 0; b < a; b++)
                assert_true(drawn[a].position != drawn[b].position || drawn[a].number != drawn[b].number);
        }
        tokens[N_PROMPT] = draft.tokens[0];
        const int32_t n_before = n_drawn;
        draft_alone(&d, tokens, N_PROMPT + 1, &shapes[i]);
        for (int32_t a = 0; a < n_before; a++)
            for (int32_t b = n_before; b < n_drawn; b++) {
                if (drawn[a].position != drawn[b].position) continue;
                assert_true(drawn[b].number < drawn[a].number);
                n_again++;
            }
        assert_true(n_again > 0);
        d.ops->close(d.self);
    }
    vouch_pool_close(pool);
    vouch_model_close(model);
}

static void tokens_have_the_targets_distribution(void **state)
{
    (void)state;
    check_all(false, false);
}

/* q is 0 for tokens that the draft model lacks. */
static void tokens_have_the_targets_distribution_over_a_bridge(void **state)
{
    (void)state;
    check_all(true, false);
}

static void tokens_have_the_targets_distribution_with_a_trimmed_head(void **state)
{
    (void)state;
    check_all(true, true);
}

/* Sampled and free guesses in one tree. */
static void tokens_have_the_targets_distribution_beside_free_drafters(void **state)
{
    (void)state;
    static run r;
    const setup shapes[] = {
        {.name = "chain of 2 in a tree", .branches = 2, .n = 5, .depth = 3, .joined = 2},
        {.name = "1 guess in a tree", .branches = 3, .n = 6, .depth = 2, .joined = 1},
        {.name = "tree of 4 in a tree", .branches = 3, .n = 7, .depth = 2, .joined = 4, .joined_tree = true},
        {.name = "chain of 2 in a chain", .branches = 1, .n = 3, .depth = 3, .joined = 2}};
    const vouch_sampling sampling[] = {sampling_of(1, 0, 1, 0), sampling_of(0.6f, 3, 1, 0.5f)};
    int64_t n_points = 0, n_shared = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < N_OF_TREES * sizeof sampling / sizeof *sampling; j++) {
            setup s = shapes[i];
            s.sampling = sampling[j / N_OF_TREES];
            s.accept = of_trees[j % N_OF_TREES];
            run_all(&r, &s);
            assert_true(r.n_drafts >= 3);
            check_exact(&r, &s);
            n_points += r.n_points;
            n_shared += r.n_shared;
        }
    assert_true(n_points > 50 && n_shared > 50);
}

static void mistakes_are_caught(void **state)
{
    (void)state;
    static run r;
    for (mistake m = SORTED; m <= NOT_ITS_Q; m++) {
        const setup s = {.branches = 2, .n = 2, .depth = 1, .sampling = sampling_of(1, 0, 1, 0), .mistake = m};
        run_all(&r, &s);
        assert_true(difference(&r) > 1e-4);
    }
}

/* ------------------------------------------------------------------- bridges */

static vouch_text bytes_of(const vouch_model *model, int32_t token)
{
    return vouch_tokenizer_bytes(model->tokenizer, token);
}

/* A token that both models have maps to itself. Any other token maps to draft tokens with the same bytes. */
static void a_bridge_spells_every_token(void **state)
{
    (void)state;
    vouch_model *target = tiny_model_open(&(tiny_model_options){.n_vocab = 400, .vocab_seed = 1});
    vouch_model *draft = tiny_model_open(&(tiny_model_options){.n_vocab = 331, .vocab_seed = 2});
    vouch_bridge *b;
    int n_spelled = 0, n_taken[331] = {0};
    assert_int_equal(vouch_bridge_open(&b, target->tokenizer, 400, draft->tokenizer, 331, NULL), VOUCH_OK);
    assert_in_range(b->n_common, 256, 330);
    assert_true(vouch_bridge_memory(b) > 400 * sizeof(int32_t));
    for (int32_t t = 0; t < 400; t++) {
        const vouch_text text = bytes_of(target, t);
        const int32_t n = b->first[t + 1] - b->first[t], row = b->row_of[t];
        char spelled[256];
        size_t used = 0;
        assert_in_range(n, 1, b->most);
        for (int32_t i = b->first[t]; i < b->first[t + 1]; i++) {
            const vouch_text piece = bytes_of(draft, b->pieces[i]);
            memcpy(spelled + used, piece.data, piece.size);
            used += piece.size;
        }
        assert_int_equal(used, text.size);
        assert_memory_equal(spelled, text.data, used);
        assert_int_equal(row >= 0, n == 1);
        if (row >= 0) assert_true(n_taken[row]++ == 0 && b->pieces[b->first[t]] == row);
        n_spelled += n > 1;
    }
    assert_true(n_spelled > 10);
    float from[331], to[400];
    for (int i = 0; i < 331; i++) from[i] = (float)i;
    vouch_bridge_logits(b, from, to);
    for (int32_t t = 0; t < 400; t++) assert_true(to[t] == (b->row_of[t] < 0 ? -INFINITY : (float)b->row_of[t]));
    vouch_bridge_close(b);
    vouch_model_close(target);
    vouch_model_close(draft);
}

static vouch_tokenizer *tokenizer_of(const char *const *letters, size_t n, const char *pre)
{
    vouch_gguf_writer *w;
    vouch_gguf *gguf;
    vouch_tokenizer *tokenizer;
    vouch_text tokens[8];
    void *file;
    size_t size;
    for (size_t i = 0; i < n; i++) tokens[i] = (vouch_text){letters[i], strlen(letters[i])};
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(w, "tokenizer.ggml.pre", pre);
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, n);
    vouch_gguf_add_texts(w, "tokenizer.ggml.merges", tokens, 0);
    assert_int_equal(vouch_gguf_write_bytes(w, &file, &size, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w);
    assert_int_equal(vouch_gguf_open_bytes(&gguf, file, size, "letters", NULL), VOUCH_OK);
    assert_int_equal(vouch_tokenizer_open(&tokenizer, gguf, NULL, NULL), VOUCH_OK);
    vouch_gguf_close(gguf);
    free(file);
    return tokenizer;
}

/* U+0958 is not in NFC: normalising turns its three bytes, e0 a5 98, into six, e0 a4 95 e0 a4 bc. */
static void a_bridge_has_room_for_what_normalising_adds(void **state)
{
    (void)state;
    static const char *const letters[] = {"\u00e0\u00a5\u013a", "\u00e0", "\u00a4", "\u0137", "\u00bc"};
    vouch_tokenizer *target = tokenizer_of(letters, 5, "gpt-2"), *draft = tokenizer_of(letters + 1, 4, "qwen2");
    const int32_t expected[] = {0, 1, 2, 0, 1, 3};
    vouch_bridge *b;
    assert_int_equal(vouch_bridge_open(&b, target, 5, draft, 4, NULL), VOUCH_OK);
    assert_int_equal(b->most, 6);
    assert_int_equal(b->first[1], 6);
    assert_memory_equal(b->pieces, expected, sizeof expected);
    assert_int_equal(b->first[5], 10);
    vouch_bridge_close(b);
    vouch_tokenizer_close(target);
    vouch_tokenizer_close(draft);
}

/* ------------------------------------------------------------ trimmed heads */

/* Picking rows of a matrix works for every type. */
static void rows_are_picked_whole(void **state)
{
    (void)state;
    enum { N_IN = 512, N_OUT = 40, N = 19 };
    static float a[N_IN], b[N_IN];
    static unsigned char file[N_OUT * N_IN * 4];
    test_random random = {3};
    int32_t rows[N];
    for (int32_t i = 0; i < N; i++) rows[i] = (i * 17 + 3) % N_OUT;
    for (size_t i = 0; i < sizeof file; i++) file[i] = (unsigned char)test_below(&random, 256);
    for (int type = 0; type < VOUCH_TYPE_COUNT; type++) {
        vouch_matrix whole, some;
        if (!vouch_type_get_info((vouch_type)type) || !vouch_type_get_info((vouch_type)type)->block_length) continue;
        assert_true(vouch_matrix_shape(&whole, (vouch_type)type, N_OUT, N_IN));
        assert_true(vouch_matrix_shape(&some, (vouch_type)type, N, N_IN));
        whole.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&whole));
        some.data = vouch_os_aligned_take(64, vouch_matrix_bytes(&some));
        vouch_matrix_pack(&whole, file, 0, whole.n_tiles);
        vouch_matrix_pick(&some, &whole, rows);
        for (int32_t i = 0; i < N; i++) {
            vouch_matrix_get_row(&whole, rows[i], a);
            vouch_matrix_get_row(&some, i, b);
            assert_memory_equal(a, b, sizeof a);
        }
        vouch_os_aligned_free(whole.data);
        vouch_os_aligned_free(some.data);
    }
}

/* Each row of a trimmed head gives the same logit as in the full head, in each type. */
static void a_trimmed_head_gives_the_same_logits(void **state)
{
    (void)state;
    const vouch_type types[] = {VOUCH_TYPE_F32, VOUCH_TYPE_F16, VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0, VOUCH_TYPE_Q4_1};
    enum { N = 37, ALL = 400 };
    int32_t head[N];
    for (int32_t i = 0; i < N; i++) head[i] = (i * 151 + 7) % ALL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        vouch_model *model = tiny_model_open(&(tiny_model_options){.type = types[i], .n_embd = 96, .n_heads = 3});
        vouch_pool *pool;
        vouch_shared_sequence a, b;
        const int32_t tokens[] = {5, 17, 300};
        assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
        vouch_shared_passes passes = {.pool = pool};
        vouch_shared_sequence_options options = {.pass = {.n_ctx = 16, .max_rows = 3, .max_logits = 3}};
        assert_int_equal(vouch_shared_sequence_open(&a, &passes, model->weights, &options, NULL), VOUCH_OK);
        options.pass.output = head;
        options.pass.n_output = N;
        assert_int_equal(vouch_shared_sequence_open(&b, &passes, model->weights, &options, NULL), VOUCH_OK);
        vouch_pass *all = a.shared->pass, *some = b.shared->pass;
        assert_true(vouch_pass_bytes(some) < vouch_pass_bytes(all));
        vouch_pass_chain(all, a.memory, tokens, 3, 3);
        vouch_pass_chain(some, b.memory, tokens, 3, 3);
        for (int32_t row = 0; row < 3; row++)
            for (int32_t j = 0; j < N; j++)
                assert_true(vouch_pass_logits(some, row)[j] == vouch_pass_logits(all, row)[head[j]]);
        vouch_shared_sequence_close(&a);
        vouch_shared_sequence_close(&b);
        vouch_pool_close(pool);
        vouch_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_have_the_targets_distribution),
        cmocka_unit_test(every_draw_has_its_number),
        cmocka_unit_test(tokens_have_the_targets_distribution_over_a_bridge),
        cmocka_unit_test(tokens_have_the_targets_distribution_with_a_trimmed_head),
        cmocka_unit_test(tokens_have_the_targets_distribution_beside_free_drafters),
        cmocka_unit_test(a_bridge_spells_every_token),
        cmocka_unit_test(a_bridge_has_room_for_what_normalising_adds),
        cmocka_unit_test(rows_are_picked_whole),
        cmocka_unit_test(a_trimmed_head_gives_the_same_logits),
        cmocka_unit_test(mistakes_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
