/* SPDX-License-Identifier: MIT */
/*
 * The cycle with a toy target. Answers with and without speculation are equal. Answers end at the right token, drafts
 * fit into the context that is left, drafters may return anything, a failure changes nothing, and the counters add up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draft/compose.h"
#include "draft/paid/custom.h"
#include "draft/free/ngram.h"
#include "support/decode/drive.h"
#include "support/test.h"
#include "support/decode/toy.h"

enum { VOCAB = 12, PROMPT = 3 };

typedef struct answer {
    toy target;
    vouch_cycle cycle;
    vouch_stats stats;
    vouch_seeded_draw seeded;
    int32_t tokens[TOY_MAX_CTX + 1];
    int32_t committed[TOY_MAX_CTX];
    int32_t n_committed, max_tokens, eos; /* eos -1: none */
} answer;

static vouch_finish on_commit(void *self, int32_t token)
{
    answer *a = self;
    a->committed[a->n_committed++] = token;
    if (token == a->eos) return VOUCH_FINISH_EOS;
    return a->n_committed == a->max_tokens ? VOUCH_FINISH_LENGTH : VOUCH_FINISH_NONE;
}

static void answer_open(answer *a, const vouch_sampling *sampling, vouch_drafter_ref drafter, int32_t n_ctx)
{
    memset(a, 0, sizeof *a);
    a->seeded = (vouch_seeded_draw){sampling->seed, vouch_rule_get(VOUCH_ACCEPT_REJECTION)->draw};
    a->eos = -1;
    a->max_tokens = INT32_MAX;
    toy_open(&a->target, VOCAB, 7, 2, sampling);
    a->tokens[0] = 4;
    a->tokens[1] = 1;
    a->tokens[2] = 5;
    a->tokens[n_ctx] = -99; /* the cycle must not write here */
    a->cycle = (vouch_cycle){.target = toy_target(&a->target),
                             .drafters = {.paid = drafter},
                             .rule = vouch_rule_get(VOUCH_ACCEPT_REJECTION),
                             .dice = vouch_dice_philox(&a->seeded),
                             .lenience = 1,
                             .want_overlap = true,
                             .commit = on_commit,
                             .commit_self = a,
                             .tokens = a->tokens,
                             .n_tokens = PROMPT,
                             .n_ctx = n_ctx,
                             .n_vocab = VOCAB,
                             .stats = &a->stats};
}

static void answer_close(answer *a)
{
    assert_int_equal(a->tokens[a->cycle.n_ctx], -99);
    toy_close(&a->target);
}

static const vouch_shape *chain(int32_t k)
{
    static vouch_shape shape;
    shape = (vouch_shape){.n = k, .depth = k, .branches = 1};
    return &shape;
}

/* Runs one cycle and checks everything that must hold after it. */
static vouch_cycle_result step_shape(answer *a, const vouch_shape *shape, int32_t room)
{
    const int32_t k = shape->n;
    const vouch_stats before = a->stats;
    const int32_t first = a->cycle.n_tokens, n_before = a->n_committed;
    vouch_cycle_result r;
    assert_int_equal(drive_cycle(&a->cycle, shape, room, &r), VOUCH_OK);
    assert_int_equal(r.first, first);
    assert_true(r.n >= 1 && r.n <= room && r.n_guesses <= k);
    assert_int_equal(a->cycle.n_tokens, first + r.n);
    assert_true(a->cycle.n_tokens <= a->cycle.n_ctx && first + r.n_guesses + 1 <= a->cycle.n_ctx);
    assert_int_equal(a->n_committed, n_before + r.n);
    assert_memory_equal(a->tokens + first, a->committed + n_before, (size_t)r.n * sizeof(int32_t));
    assert_true(a->target.n_cached <= a->cycle.n_tokens - 1); /* the last token is the next pass's first row */

    /* Guesses and verdicts. */
    int32_t accepted = 0, rejected = 0, last = -1;
    for (int32_t i = 0; i < r.n_guesses; i++) {
        const vouch_guess *g = &a->cycle.guesses[i];
        accepted += g->verdict == VOUCH_ACCEPTED;
        rejected += g->verdict == VOUCH_REJECTED;
        assert_in_range(g->parent + 1, 0, i);
        assert_int_equal(g->depth, g->parent < 0 ? 0 : a->cycle.guesses[g->parent].depth + 1);
        assert_true(g->depth < shape->depth && g->depth < room - 1 && g->drafters != 0);
        if (shape->branches == 1) assert_int_equal(g->parent, i - 1);
        if (g->verdict == VOUCH_ACCEPTED) {
            assert_int_equal(g->token, a->tokens[first + g->depth]);
            assert_int_equal(g->parent, last);
            last = i;
        }
        if (g->verdict == VOUCH_NOT_REACHED) assert_true(g->p == 0 && g->accept == 0 && g->u == 0);
    }
    assert_int_equal(accepted, r.n_accepted);
    if (r.last == VOUCH_ORIGIN_RESIDUAL) assert_true(rejected > 0);
    if (shape->branches == 1) assert_int_equal(rejected, r.last == VOUCH_ORIGIN_RESIDUAL);
    bool full = r.n_guesses > 0;
    for (int32_t i = 0; i < r.n_guesses; i++) full &= a->cycle.guesses[i].parent != last;
    assert_int_equal(r.n, r.n_accepted + (r.last != VOUCH_ORIGIN_ACCEPTED));
    assert_int_equal(r.last == VOUCH_ORIGIN_PLAIN, r.n_guesses == 0);
    if (r.last == VOUCH_ORIGIN_BONUS) assert_true(full);
    if (shape->branches == 1) assert_int_equal(full, r.n_guesses > 0 && r.n_accepted == r.n_guesses);
    if (r.last == VOUCH_ORIGIN_ACCEPTED)
        assert_true(r.finish != VOUCH_FINISH_NONE || a->target.fail_row == r.n_accepted);

    /* The statistics. */
    const vouch_stats *s = &a->stats;
    assert_int_equal(s->cycles, before.cycles + 1);
    assert_int_equal(s->generated_tokens, before.generated_tokens + r.n);
    assert_int_equal(s->drafted, before.drafted + r.n_guesses);
    assert_int_equal(s->accepted, before.accepted + r.n_accepted);
    assert_int_equal(s->draft_cycles, before.draft_cycles + (r.n_guesses > 0));
    assert_int_equal(s->full_accepts, before.full_accepts + full);
    assert_int_equal(s->depth_histogram[r.n_guesses], before.depth_histogram[r.n_guesses] + 1);
    assert_int_equal(s->judged - before.judged, accepted + rejected);
    assert_true(s->expected_acceptance_sum <=
                before.expected_acceptance_sum + accepted + rejected + 1e-9); /* each judged guess adds at most 1 */
    return r;
}

static vouch_cycle_result step(answer *a, int32_t k, int32_t room)
{
    return step_shape(a, chain(k), room);
}

static void check_sums(const vouch_stats *s)
{
    int64_t drafted = 0, accepted = 0, cycles = 0, guesses = 0;
    for (int i = 0; i < VOUCH_MAX_DRAFT; i++) {
        drafted += s->drafted_at[i];
        accepted += s->accepted_at[i];
        if (i > 0) assert_true(s->accepted_at[i] <= s->accepted_at[i - 1]);
    }
    for (int i = 0; i < VOUCH_DEPTHS; i++) {
        cycles += s->depth_histogram[i];
        guesses += i * s->depth_histogram[i];
    }
    assert_int_equal(drafted, s->drafted);
    assert_int_equal(accepted, s->accepted);
    assert_int_equal(cycles, s->cycles);
    assert_int_equal(guesses, s->drafted);
    assert_int_equal(s->draft_cycles, s->cycles - s->depth_histogram[0]);
    assert_true(s->expected_acceptance_sum >= 0 && s->expected_acceptance_sum <= (double)s->judged + 1e-9);
    assert_true(s->draft_seconds >= 0 && s->verify_seconds >= 0 && s->judge_seconds >= 0);
    assert_true(s->decode_seconds >= s->draft_seconds + s->verify_seconds + s->judge_seconds - 1e-9);
}

/* ---------------------------------------------------------------- drafters */

/* A drafter that knows the answer and guesses every `wrong`-th token wrong (0: none). It also checks the arguments
 * of its calls. */
typedef struct oracle {
    toy *target; /* a second target, greedy */
    int32_t wrong;
    int64_t n_calls;
} oracle;

static int32_t oracle_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    oracle *o = user;
    int32_t sequence[TOY_MAX_CTX];
    o->n_calls++;
    memcpy(sequence, tokens, (size_t)n_tokens * sizeof *tokens);
    for (int32_t i = 0; i < k; i++) {
        const int32_t right = toy_dist(o->target, sequence, n_tokens + i)->support[0];
        guesses[i] = o->wrong && (n_tokens + i) % o->wrong == 0 ? (right + 1) % VOCAB : right;
        sequence[n_tokens + i] = guesses[i];
    }
    return k;
}

static vouch_drafter_ref open_custom(int32_t (*propose)(void *, const int32_t *, int32_t, int32_t, int32_t *),
                                     void *user)
{
    vouch_drafter_ref d;
    const vouch_drafter custom = {.propose = propose, .user = user};
    assert_int_equal(vouch_drafter_custom_open(&d, &custom, INT32_MAX, NULL), VOUCH_OK);
    assert_string_equal(d.ops->name, "custom");
    assert_true(d.ops->memory(d.self) > 0);
    return d;
}

static vouch_drafter_ref open_ngram(int32_t n_ctx)
{
    vouch_source source;
    vouch_drafter_ref d;
    assert_int_equal(vouch_source_ngram_open(&source, n_ctx, 1, 3, NULL), VOUCH_OK);
    assert_int_equal(vouch_drafter_compose_open(&d, &source, 1, NULL), VOUCH_OK);
    return d;
}

static vouch_sampling penalised(float temperature)
{
    vouch_sampling s = vouch_sampling_default();
    s.temperature = temperature;
    s.repeat_penalty = 1.2f;
    s.frequency_penalty = 0.6f;
    s.penalty_window = 20;
    s.seed = 99;
    return s;
}

/* ------------------------------------------------------------------- tests */

/* Law L2 for greedy output: the same tokens with any drafter and draft length. Penalties make p depend on the guesses
 * before it, so this fails unless the target counts them position by position. */
static void test_greedy_answers_do_not_depend_on_drafts(void **state)
{
    (void)state;
    const vouch_sampling sampling = penalised(0);
    static answer plain, spec;
    answer_open(&plain, &sampling, (vouch_drafter_ref){0}, 300);
    while (step(&plain, 8, INT32_MAX).finish == VOUCH_FINISH_NONE);
    assert_int_equal(plain.cycle.n_tokens, 300);
    assert_int_equal(plain.stats.cycles, 297);
    assert_int_equal(plain.stats.drafted, 0);
    for (int32_t wrong = -1; wrong < 7; wrong++)
        for (int32_t k = 1; k <= VOUCH_MAX_DRAFT; k = k < 4 ? k + 1 : 4 * k) {
            toy knows;
            toy_open(&knows, VOCAB, 7, 2, &sampling);
            oracle o = {.target = &knows, .wrong = wrong};
            vouch_drafter_ref d = wrong < 0 ? open_ngram(300) : open_custom(oracle_propose, &o);
            answer_open(&spec, &sampling, d, 300);
            vouch_cycle_result r;
            do r = step(&spec, k, INT32_MAX);
            while (r.finish == VOUCH_FINISH_NONE);
            assert_int_equal(r.finish, VOUCH_FINISH_CONTEXT);
            assert_memory_equal(spec.tokens, plain.tokens, 300 * sizeof(int32_t));
            check_sums(&spec.stats);
            if (wrong == 0) { /* the target accepts all of its own guesses */
                assert_int_equal(spec.stats.accepted, spec.stats.drafted);
                assert_int_equal(spec.stats.full_accepts, spec.stats.draft_cycles);
                assert_int_equal(spec.stats.cycles, (297 + k) / (k + 1));
                assert_true(fabs(spec.stats.expected_acceptance_sum - (double)spec.stats.judged) < 1e-9);
            }
            if (wrong == 1) { /* all guesses are wrong */
                assert_int_equal(spec.stats.accepted, 0);
                assert_int_equal(spec.stats.cycles, 297);
            }
            d.ops->close(d.self);
            toy_close(&knows);
            answer_close(&spec);
        }
    answer_close(&plain);
}

/* The same seed gives the same sampled answer with the same drafts, inside the vocabulary. */
static void test_sampled_answers_are_reproducible(void **state)
{
    (void)state;
    const vouch_sampling sampling = penalised(0.9f);
    static answer a[2];
    for (int32_t k = 1; k <= 9; k += 4) {
        for (int i = 0; i < 2; i++) {
            vouch_drafter_ref d = open_ngram(200);
            answer_open(&a[i], &sampling, d, 200);
            while (step(&a[i], k, INT32_MAX).finish == VOUCH_FINISH_NONE);
            check_sums(&a[i].stats);
            d.ops->close(d.self);
        }
        assert_memory_equal(a[0].tokens, a[1].tokens, 200 * sizeof(int32_t));
        assert_true(a[0].stats.accepted > 0 && a[0].stats.accepted < a[0].stats.drafted);
        answer_close(&a[0]);
        answer_close(&a[1]);
    }
}

/* A drafter of random trees that contain a right path and now and then invalid guesses. */
typedef struct bush {
    toy *target; /* a second target, greedy */
    test_random random;
    int32_t tokens[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT];
} bush;

static vouch_draft bush_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    bush *b = self;
    int32_t n = 0, tries = 0;
    while (n < shape->n && ++tries < 200) {
        int32_t sequence[TOY_MAX_CTX];
        const int32_t parent = (int32_t)test_below(&b->random, (uint32_t)n + 1) - 1;
        const int32_t depth = parent < 0 ? 0 : b->depths[parent] + 1;
        if (depth == shape->depth) continue;
        memcpy(sequence, tokens, (size_t)n_tokens * sizeof *tokens);
        for (int32_t i = parent, at = n_tokens + depth; i >= 0; i = b->parents[i]) sequence[--at] = b->tokens[i];
        const int32_t right = toy_dist(b->target, sequence, n_tokens + depth)->support[0];
        b->tokens[n] = test_below(&b->random, 2) ? right : (int32_t)test_below(&b->random, VOCAB);
        b->parents[n] = parent;
        b->depths[n++] = depth;
    }
    if (n > 3 && test_below(&b->random, 4) == 0) b->tokens[test_below(&b->random, (uint32_t)n)] = VOCAB;
    return (vouch_draft){.n = n, .tokens = b->tokens, .parents = b->parents};
}

static void bush_rewind(void *self, int32_t n_tokens)
{
    (void)self;
    (void)n_tokens;
}

/* With any tree, even one with the same token twice for one position, a greedy answer equals plain decoding and a
 * sampled answer has the right length. */
static void test_answers_with_trees(void **state)
{
    (void)state;
    static const vouch_drafter_ops ops = {
        .name = "bush", .bit = VOUCH_DRAFTER_CUSTOM, .propose = bush_propose, .rewind = bush_rewind};
    static answer plain, spec;
    static bush b;
    vouch_sampling sampling = penalised(0);
    answer_open(&plain, &sampling, (vouch_drafter_ref){0}, 200);
    while (step(&plain, 8, INT32_MAX).finish == VOUCH_FINISH_NONE);
    int64_t accepted = 0, deepest = 0;
    for (int sampled = 0; sampled < 2; sampled++)
        for (int32_t i = 0; i < 24; i++) {
            const vouch_shape shape = {.n = 1 + 3 * i % VOUCH_MAX_DRAFT, .depth = 1 + i % 9, .branches = VOCAB};
            toy knows;
            toy_open(&knows, VOCAB, 7, 2, &sampling);
            b = (bush){.target = &knows, .random = {(uint64_t)i}};
            vouch_sampling how = sampling;
            how.temperature = sampled ? 0.8f : 0;
            answer_open(&spec, &how, (vouch_drafter_ref){&ops, &b}, 200);
            spec.max_tokens = i % 2 ? 150 : INT32_MAX;
            vouch_cycle_result r;
            do r = step_shape(&spec, &shape, spec.max_tokens - spec.n_committed);
            while (r.finish == VOUCH_FINISH_NONE);
            if (!sampled) assert_memory_equal(spec.tokens, plain.tokens, (size_t)spec.cycle.n_tokens * 4);
            check_sums(&spec.stats);
            accepted += spec.stats.accepted;
            for (int d = 0; d < VOUCH_MAX_DRAFT; d++)
                if (spec.stats.accepted_at[d] > 0 && d > deepest) deepest = d;
            toy_close(&knows);
            answer_close(&spec);
        }
    assert_true(accepted > 1000 && deepest >= 4);
    answer_close(&plain);
}

/* A drafter that checks the rows that the cycle shows it. */
typedef struct watcher {
    bush bush;
    toy *target; /* a second target, for looking rows up */
    const int32_t *tokens;
    int32_t n_seen, n_hidden;
} watcher;

static vouch_draft watcher_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    return bush_propose(&((watcher *)self)->bush, tokens, n_tokens, shape);
}

static void watcher_see(void *self, const int32_t *tokens, const vouch_seen *row)
{
    watcher *w = self;
    float logits[VOCAB];
    assert_int_equal(row->n_tokens, PROMPT + w->n_seen++);
    toy_logits(w->target, tokens, row->n_tokens, logits);
    assert_memory_equal(row->logits, logits, sizeof logits);
}

static int32_t watcher_taps(const void *self, const int32_t **layers)
{
    static const int32_t both[2] = {0, 1};
    (void)self;
    *layers = both;
    return 2;
}

/* The hidden states of each committed position but the last must come once and in order. */
static void watcher_hidden(void *self, const int32_t *tokens, int32_t position, const float *const *states)
{
    watcher *w = self;
    assert_int_equal(position, w->n_hidden++);
    assert_ptr_equal(tokens, w->tokens);
    for (int32_t layer = 0; layer < 2; layer++)
        assert_true(*states[layer] == toy_hidden(w->tokens, position + 1, layer));
}

/* Law L3: the cycle shows a drafter exactly the rows of plain decoding, each once and in order. */
static void test_drafters_see_the_rows_of_plain_decoding(void **state)
{
    (void)state;
    static const vouch_drafter_ops ops = {.name = "watcher",
                                          .bit = VOUCH_DRAFTER_CUSTOM,
                                          .propose = watcher_propose,
                                          .see = watcher_see,
                                          .taps = watcher_taps,
                                          .hidden = watcher_hidden,
                                          .rewind = bush_rewind};
    static answer a;
    static watcher w;
    for (int i = 0; i < 8; i++) {
        const vouch_shape shape = {.n = 12, .depth = 1 + i, .branches = VOCAB};
        const vouch_sampling sampling = penalised(i % 2 ? 0.8f : 0);
        toy knows;
        toy_open(&knows, VOCAB, 7, 2, &sampling);
        w = (watcher){.bush = {.target = &knows, .random = {(uint64_t)i}}, .target = &knows, .tokens = a.tokens};
        answer_open(&a, &sampling, (vouch_drafter_ref){&ops, &w}, 150);
        a.max_tokens = 100; /* the limit sometimes falls inside a draft */
        /* The prompt but its last token, in two parts. */
        toy_run(a.cycle.target.self, a.tokens, 1 + i % (PROMPT - 2));
        vouch_cycle_observe(&a.cycle, 0, 1 + i % (PROMPT - 2));
        toy_run(a.cycle.target.self, a.tokens, PROMPT - 1);
        vouch_cycle_observe(&a.cycle, 1 + i % (PROMPT - 2), PROMPT - 1);
        assert_int_equal(w.n_hidden, PROMPT - 1);
        while (step_shape(&a, &shape, INT32_MAX).finish == VOUCH_FINISH_NONE) {
            assert_int_equal(w.n_seen, a.n_committed);
            assert_int_equal(w.n_hidden, a.cycle.n_tokens - 1);
        }
        assert_int_equal(w.n_seen, 100);
        assert_int_equal(w.n_hidden, a.cycle.n_tokens - 1);
        toy_close(&knows);
        answer_close(&a);
    }
}

/* EOS, a stop text or the token limit inside a run of accepted guesses: the tokens after it don't count anywhere. */
static void test_answers_end_inside_an_accepted_run(void **state)
{
    (void)state;
    const vouch_sampling sampling = vouch_sampling_default();
    static answer a;
    static const int32_t k = 6;
    for (int32_t at = 1; at <= 2 * (k + 1); at++)
        for (int by_eos = 0; by_eos < 2; by_eos++) {
            toy knows;
            toy_open(&knows, VOCAB, 7, 2, &sampling);
            oracle o = {.target = &knows};
            vouch_drafter_ref d = open_custom(oracle_propose, &o);
            /* Finds the token at this position and where it first occurs. */
            int32_t end = at;
            answer_open(&a, &sampling, d, 200);
            if (by_eos) {
                int32_t plain[64] = {4, 1, 5};
                for (int32_t i = 0; i < at; i++) plain[PROMPT + i] = toy_dist(&knows, plain, PROMPT + i)->support[0];
                a.eos = plain[PROMPT + at - 1];
                for (end = 1; plain[PROMPT + end - 1] != a.eos; end++);
            } else {
                a.max_tokens = at;
            }
            vouch_cycle_result r;
            do r = step(&a, k, INT32_MAX);
            while (r.finish == VOUCH_FINISH_NONE);
            assert_int_equal(r.finish, by_eos ? VOUCH_FINISH_EOS : VOUCH_FINISH_LENGTH);
            assert_int_equal(a.n_committed, end);
            assert_int_equal(a.cycle.n_tokens, PROMPT + end);
            assert_int_equal(a.stats.generated_tokens, end);
            const int32_t inside = (end - 1) % (k + 1) + 1; /* tokens of the last cycle */
            assert_int_equal(r.n, inside);
            assert_int_equal(r.last, inside <= k ? VOUCH_ORIGIN_ACCEPTED : VOUCH_ORIGIN_BONUS);
            assert_int_equal(r.n_guesses, k);
            for (int32_t i = 0; i < k; i++)
                assert_int_equal(a.cycle.guesses[i].verdict, i < inside ? VOUCH_ACCEPTED : VOUCH_NOT_REACHED);
            assert_int_equal(a.target.n_cached, a.cycle.n_tokens - 1); /* the cache was rolled back as well */
            assert_int_equal(a.stats.judged, a.stats.accepted);
            assert_true(a.stats.expected_acceptance_sum == (double)a.stats.accepted); /* each is 1: point masses */
            check_sums(&a.stats);
            d.ops->close(d.self);
            toy_close(&knows);
            answer_close(&a);
        }
}

/* Draft lengths beyond the room or the context, 0, negative and huge. */
static void test_drafts_are_cut_to_what_is_left(void **state)
{
    (void)state;
    const vouch_sampling sampling = vouch_sampling_default();
    static answer a;
    static const int32_t ks[] = {INT32_MIN, -1, 0, 1, 5, VOUCH_MAX_DRAFT, VOUCH_MAX_DRAFT + 1, INT32_MAX};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
        for (int32_t left = 1; left < 100; left += left < 8 ? 1 : 30)
            for (int32_t room = 1; room < 100; room += room < 8 ? 1 : 30) {
                toy knows;
                toy_open(&knows, VOCAB, 7, 2, &sampling);
                oracle o = {.target = &knows};
                vouch_drafter_ref d = open_custom(oracle_propose, &o);
                answer_open(&a, &sampling, d, PROMPT + left);
                vouch_cycle_result r;
                assert_int_equal(drive_cycle(&a.cycle, chain(ks[i]), room, &r), VOUCH_OK);
                int32_t expected = ks[i] < 0 ? 0 : ks[i] > VOUCH_MAX_DRAFT ? VOUCH_MAX_DRAFT : ks[i];
                if (expected > room - 1) expected = room - 1;
                if (expected > left - 1) expected = left - 1;
                assert_int_equal(r.n_guesses, expected);
                assert_int_equal(o.n_calls, expected > 0); /* without room the cycle doesn't ask the drafter */
                assert_int_equal(r.n, expected + 1);
                assert_int_equal(r.finish, r.n == left ? VOUCH_FINISH_CONTEXT : VOUCH_FINISH_NONE);
                assert_int_equal(r.last, expected ? VOUCH_ORIGIN_BONUS : VOUCH_ORIGIN_PLAIN);
                d.ops->close(d.self);
                toy_close(&knows);
                answer_close(&a);
            }
}

/* A caller's drafter may return anything: too many guesses, too few, a negative count, invalid ids. */
static int32_t junk_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    (void)tokens;
    (void)n_tokens;
    test_random *random = user;
    for (int32_t i = 0; i < k; i++) {
        const uint32_t kind = test_below(random, 12);
        if (kind == 0) continue; /* leaves this guess unwritten */
        guesses[i] = kind == 1   ? VOCAB
                     : kind == 2 ? -1
                     : kind == 3 ? (int32_t)(test_next(random) | 1u << 31)
                                 : (int32_t)test_below(random, VOCAB);
    }
    switch (test_below(random, 6)) {
    case 0: return k + 1 + (int32_t)test_below(random, 1000);
    case 1: return -(int32_t)test_below(random, 1000);
    case 2: return INT32_MAX;
    case 3: return INT32_MIN;
    default: return (int32_t)test_below(random, (uint32_t)k + 1);
    }
}

/* Returns a count without writing guesses. Guesses that an earlier call left in the buffer must not count. */
static int32_t lazy_propose(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    (void)tokens;
    (void)n_tokens;
    int *n_calls = user;
    for (int32_t i = 0; *n_calls == 0 && i < k; i++) guesses[i] = 1;
    ++*n_calls;
    return k;
}

static void test_guesses_claimed_but_not_written(void **state)
{
    (void)state;
    const vouch_sampling sampling = vouch_sampling_default();
    static answer a;
    int n_calls = 0;
    vouch_drafter_ref d = open_custom(lazy_propose, &n_calls);
    answer_open(&a, &sampling, d, 100);
    assert_int_equal(step(&a, 4, INT32_MAX).n_guesses, 4);
    assert_int_equal(step(&a, 4, INT32_MAX).n_guesses, 0);
    assert_int_equal(n_calls, 2);
    d.ops->close(d.self);
    answer_close(&a);
}

static void test_junk_from_a_custom_drafter(void **state)
{
    (void)state;
    const vouch_sampling sampling = penalised(0);
    static answer plain, junk;
    answer_open(&plain, &sampling, (vouch_drafter_ref){0}, 250);
    while (step(&plain, 8, INT32_MAX).finish == VOUCH_FINISH_NONE);
    for (uint64_t seed = 0; seed < 30; seed++) {
        test_random random = {seed};
        vouch_drafter_ref d = open_custom(junk_propose, &random);
        answer_open(&junk, &sampling, d, 250);
        vouch_cycle_result r;
        do {
            r = step(&junk, 1 + (int32_t)seed, INT32_MAX);
            for (int32_t i = 0; i < r.n_guesses; i++) assert_in_range(junk.cycle.guesses[i].token, 0, VOCAB - 1);
        } while (r.finish == VOUCH_FINISH_NONE);
        assert_memory_equal(junk.tokens, plain.tokens, 250 * sizeof(int32_t));
        check_sums(&junk.stats);
        assert_true(junk.stats.drafted > 0);
        d.ops->close(d.self);
        answer_close(&junk);
    }
    answer_close(&plain);
}

/* A drafter that guesses nothing and remembers the last rewind. */
static vouch_draft idle_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    (void)self;
    (void)tokens;
    (void)n_tokens;
    (void)shape;
    return (vouch_draft){0};
}

static void idle_rewind(void *self, int32_t n_tokens)
{
    *(int32_t *)self = n_tokens;
}

/* A failure at row 0 commits and counts nothing. A failure after accepted guesses commits and counts only these. The
 * answer then continues as if there had been no failure. */
static void test_failures_change_nothing(void **state)
{
    (void)state;
    const vouch_sampling sampling = penalised(0);
    static answer plain, a;
    answer_open(&plain, &sampling, (vouch_drafter_ref){0}, 120);
    while (step(&plain, 8, INT32_MAX).finish == VOUCH_FINISH_NONE);
    for (int32_t fail_row = 0; fail_row <= 4; fail_row++) {
        toy knows;
        toy_open(&knows, VOCAB, 7, 2, &sampling);
        oracle o = {.target = &knows};
        vouch_drafter_ref custom = open_custom(oracle_propose, &o), index = open_ngram(120);
        answer_open(&a, &sampling, custom, 120);
        int round = 0, n_failed = 0, n_cut = 0;
        vouch_cycle_result r = {0};
        do {
            a.cycle.drafters.paid = round % 3 ? custom : index;
            if (round++ % 2) {
                const vouch_stats stats = a.stats;
                const vouch_cycle_result before = r;
                const int32_t n = a.cycle.n_tokens;
                a.target.fail_row = fail_row;
                if (fail_row > 0) {
                    r = step(&a, 4, INT32_MAX);
                    n_cut += r.last == VOUCH_ORIGIN_ACCEPTED && r.n == fail_row;
                } else {
                    n_failed++;
                    assert_int_equal(drive_cycle(&a.cycle, chain(4), INT32_MAX, &r), VOUCH_E_NUMERIC);
                    assert_int_equal(a.cycle.n_tokens, n);
                    assert_int_equal(a.n_committed, n - PROMPT);
                    assert_memory_equal(&a.stats, &stats, sizeof stats);
                    assert_memory_equal(&r, &before, sizeof r);
                    assert_true(a.target.n_cached <= n - 1);
                }
                a.target.fail_row = -1;
                continue;
            }
            r = step(&a, 4, INT32_MAX);
        } while (r.finish == VOUCH_FINISH_NONE);
        assert_true(fail_row > 0 ? n_cut > 0 : n_failed > 0);
        assert_memory_equal(a.tokens, plain.tokens, 120 * sizeof(int32_t));
        custom.ops->close(custom.self);
        index.ops->close(index.self);
        toy_close(&knows);
        answer_close(&a);
    }
    int32_t kept = -1;
    const vouch_drafter_ops idle = {.name = "idle", .propose = idle_propose, .rewind = idle_rewind};
    answer_open(&a, &sampling, (vouch_drafter_ref){&idle, &kept}, 120);
    a.target.fail_row = 0;
    vouch_cycle_result r = {.n = 77};
    assert_int_equal(drive_cycle(&a.cycle, chain(4), INT32_MAX, &r), VOUCH_E_NUMERIC);
    assert_int_equal(r.n, 77);
    assert_int_equal(kept, PROMPT - 1);
    a.target.fail_row = -1;
    r = step(&a, 4, INT32_MAX);
    assert_int_equal(r.last, VOUCH_ORIGIN_PLAIN);
    assert_int_equal(a.tokens[PROMPT], plain.tokens[PROMPT]);
    assert_int_equal(kept, PROMPT);
    answer_close(&a);
    answer_close(&plain);
}

static void test_custom_drafter_needs_a_function(void **state)
{
    (void)state;
    vouch_drafter_ref d;
    vouch_error err = {0};
    assert_int_equal(vouch_drafter_custom_open(&d, &(vouch_drafter){0}, 2, &err), VOUCH_E_ARGUMENT);
    assert_null(d.ops);
    assert_non_null(strstr(err.message, "propose"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy_answers_do_not_depend_on_drafts),
        cmocka_unit_test(test_sampled_answers_are_reproducible),
        cmocka_unit_test(test_answers_with_trees),
        cmocka_unit_test(test_drafters_see_the_rows_of_plain_decoding),
        cmocka_unit_test(test_answers_end_inside_an_accepted_run),
        cmocka_unit_test(test_drafts_are_cut_to_what_is_left),
        cmocka_unit_test(test_guesses_claimed_but_not_written),
        cmocka_unit_test(test_junk_from_a_custom_drafter),
        cmocka_unit_test(test_failures_change_nothing),
        cmocka_unit_test(test_custom_drafter_needs_a_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
