/* SPDX-License-Identifier: MIT */
/*
 * Heads: their guesses against a forward pass in plain loops, the laws L2 and L3 with every kind of head, and refused
 * files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/paid/head.h"
#include "engine/file/model.h"
#include "engine/session.h"
#include "support/head/head_of.h"
#include "support/decode/answer.h"
#include "support/decode/draft.h"
#include "support/sanitized.h"
#include "support/model/sequence.h"
#include "support/head/tiny_head.h"
#include "support/model/tiny_vocab.h"

enum { N_TOKENS = 40, N_GUESSES = 5, PROMPT = 24, LENGTH = 60, MOST_WIDTH = 128, MOST_VOCAB = 512 };

static vouch_model *target; /* 3 layers, width 64 */
static vouch_model *silent; /* its next token depends on the last one alone */

static int targets_open(void **state)
{
    (void)state;
    target = tiny_model_open(&(tiny_model_options){.n_layers = 3, .seed = 3});
    silent = tiny_model_open(&(tiny_model_options){.n_layers = 3, .seed = 4});
    tiny_model_silence(silent);
    return 0;
}

static int targets_close(void **state)
{
    (void)state;
    vouch_model_close(target);
    vouch_model_close(silent);
    return 0;
}

static const struct {
    const char *name;
    tiny_head_options options;
} kinds[] = {
    {"linear", {.own_output = true}},
    {"linear, three taps, few tokens", {.n_taps = 3, .n_draft = 90, .own_output = true, .bias = true}},
    {"linear, the target's output", {.n_taps = 2}},
    {"linear, another map of its own results", {.n_taps = 2, .leaves = true}},
    {"a layer, another map of its own results", {.n_layers = 1, .n_draft = 90, .own_output = true, .leaves = true}},
    {"a layer", {.n_layers = 1, .n_taps = 2, .own_output = true, .bias = true}},
    {"two narrow layers, few tokens", {.n_layers = 2, .n_taps = 3, .width = 32, .n_draft = 120}},
    {"a layer, the target's output", {.n_layers = 1}},
    {"linear, rows of the target's output", {.n_draft = 70, .bias = true}},
    {"a layer, its norm, rows of the target's output", {.n_layers = 1, .n_taps = 2, .n_draft = 110, .own_norm = true}},
    {"EAGLE-3", {.eagle3 = true, .n_layers = 1, .n_taps = 3, .n_draft = 90}},
    {"EAGLE-3, the target's embedding and output", {.eagle3 = true, .n_layers = 1, .n_taps = 2, .norms_taps = true}},
    {"EAGLE-3, narrow, two layers", {.eagle3 = true, .n_layers = 2, .n_taps = 3, .width = 32, .norms_first = true}},
    {"EAGLE-3.1",
     {.eagle3 = true, .n_layers = 1, .n_taps = 3, .n_draft = 90, .norms_each_tap = true, .norms_output = true}},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static vouch_draft_file *open_kind(int i)
{
    tiny_head_options options = kinds[i].options;
    options.target = target;
    options.seed = (uint64_t)i;
    return tiny_head_open(&options);
}

/* --------------------------------------------------------------- plain loops */

/* A head's forward pass over all tokens and a path of guesses, each row from the formulas of head_weights.h. */
typedef struct plain {
    const vouch_head_weights *head;
    double keys[2][N_TOKENS][MOST_WIDTH], values[2][N_TOKENS][MOST_WIDTH];
    double s[N_TOKENS][MOST_WIDTH];
} plain;

static void multiply(double *y, const vouch_matrix *w, const double *x)
{
    static float row[4 * MOST_WIDTH];
    for (int64_t o = 0; o < w->n_out; o++) {
        vouch_matrix_get_row(w, o, row);
        y[o] = 0;
        for (int64_t i = 0; i < w->n_in; i++) y[o] += (double)row[i] * x[i];
    }
}

static void normalise(double *y, const double *x, const vouch_norm *norm, int64_t n, double eps)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    const double factor = norm->kind == VOUCH_NORM_NONE ? 1 : 1 / sqrt(sum / (double)n + eps);
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * factor * (norm->weight ? (double)norm->weight[i] : 1);
}

/* Rotates the pairs (2i, 2i + 1) of each head (RoPE). */
static void rotate(double *x, int64_t n, int32_t head_dim, int32_t position)
{
    for (int64_t i = 0; i < n; i += 2) {
        const double angle = position * pow(10000, -(double)(i % head_dim) / head_dim), a = x[i], b = x[i + 1];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + 1] = a * sin(angle) + b * cos(angle);
    }
}

static void attend(plain *p, int32_t l, const double *x, int32_t row, double *out)
{
    const vouch_attention *a = &p->head->body->layers[l].attention;
    double q[MOST_WIDTH], mixed[MOST_WIDTH] = {0}, scores[N_TOKENS];
    multiply(q, &a->q, x);
    multiply(p->keys[l][row], &a->k, x);
    multiply(p->values[l][row], &a->v, x);
    rotate(q, a->q.n_out, a->head_dim, row + 1);
    rotate(p->keys[l][row], a->k.n_out, a->head_dim, row + 1);
    for (int32_t h = 0; h < a->n_heads; h++) {
        const int32_t kv = h / (a->n_heads / a->n_kv_heads) * a->head_dim;
        double total = 0;
        for (int32_t r = 0; r <= row; r++) {
            double score = 0;
            for (int32_t i = 0; i < a->head_dim; i++) score += q[h * a->head_dim + i] * p->keys[l][r][kv + i];
            total += scores[r] = exp(score / sqrt(a->head_dim));
        }
        for (int32_t r = 0; r <= row; r++)
            for (int32_t i = 0; i < a->head_dim; i++)
                mixed[h * a->head_dim + i] += scores[r] / total * p->values[l][r][kv + i];
    }
    multiply(out, &a->o, mixed);
}

/* Runs the head's layers on the token and the feature f as row `row`. Their result s goes to p->s[row]. */
static void run_row(plain *p, int32_t token, const double *f, int32_t row)
{
    const vouch_weights *w = p->head->body;
    const int64_t n = w->hparams.n_embd;
    const double eps = (double)w->hparams.norm_eps;
    const int64_t n_token = p->head->embedding->n_in;
    float embedding[MOST_WIDTH];
    double x[MOST_WIDTH], token_of[MOST_WIDTH], normed[2 * MOST_WIDTH], y[2 * MOST_WIDTH], gate[2 * MOST_WIDTH];
    vouch_matrix_get_row(p->head->embedding, token, embedding);
    for (int64_t i = 0; i < n_token; i++) token_of[i] = (double)embedding[i];
    if (p->head->has_pairs) normalise(x, f, &p->head->state_norm, n, eps);
    else {
        normalise(normed, token_of, &p->head->token_norm, n_token, eps);
        memcpy(normed + n_token, f, (size_t)n * sizeof *f);
        multiply(x, &p->head->join, normed);
        for (int64_t i = 0; p->head->adds_state && i < n; i++) x[i] += f[i];
        for (int64_t i = 0; p->head->join_bias && i < n; i++) x[i] += (double)p->head->join_bias[i];
    }
    for (int32_t l = 0; l < w->hparams.n_layers; l++) {
        const vouch_layer *layer = &w->layers[l];
        const bool is_pair = p->head->has_pairs && l == 0;
        if (is_pair) normalise(normed, token_of, &p->head->token_norm, n, eps);
        normalise(normed + (is_pair ? n : 0), x, &layer->mix.norm, n, eps);
        attend(p, l, normed, row, y);
        for (int64_t i = 0; i < n; i++) x[i] += y[i];
        normalise(normed, x, &layer->feed.norm, n, eps);
        multiply(gate, &layer->ffn.gate, normed);
        multiply(y, &layer->ffn.up, normed);
        for (int32_t i = 0; i < layer->ffn.n_ff; i++) gate[i] *= y[i] / (1 + exp(-gate[i]));
        multiply(y, &layer->ffn.down, gate);
        for (int64_t i = 0; i < n; i++) x[i] += y[i];
    }
    memcpy(p->s[row], x, (size_t)n * sizeof *x);
}

/* The feature f of one position: fc of the target's states, standardised or normed as the head asks, plus fc_bias. */
static void feature_of(const vouch_head_weights *h, const float *states, double *f)
{
    static double z[3 * MOST_WIDTH];
    for (int32_t i = 0; i < h->n_features; i++)
        z[i] = h->mean ? ((double)states[i] - (double)h->mean[i]) * (double)h->inv_scale[i] : (double)states[i];
    for (int32_t i = 0; h->taps_norm && i < h->n_features; i += h->taps_norm_width) {
        const vouch_norm norm = {.weight = h->taps_norm + i};
        normalise(z + i, z + i, &norm, h->taps_norm_width, (double)h->body->hparams.norm_eps);
    }
    multiply(f, &h->fc, z);
    for (int64_t i = 0; h->fc_bias && i < h->fc.n_out; i++) f[i] += (double)h->fc_bias[i];
}

/* q after row `row`: 0 for tokens that the head can't guess. */
static void plain_q(const plain *p, int32_t row, int32_t n_vocab, double *q)
{
    const vouch_head_weights *h = p->head;
    const vouch_weights *w = h->body;
    static double logits[MOST_VOCAB];
    double normed[MOST_WIDTH], total = 0;
    normalise(normed, p->s[row], &w->output_norm, w->hparams.n_embd, (double)w->hparams.norm_eps);
    multiply(logits, w->output, normed);
    for (int32_t i = 0; i < n_vocab; i++) q[i] = 0;
    for (int32_t i = 0; i < h->n_draft; i++) total += q[h->tokens ? h->tokens[i] : i] = exp(logits[i]);
    for (int32_t i = 0; i < n_vocab; i++) q[i] /= total;
}

/* ------------------------------------------------------------ against the loops */

/* The target's states of random tokens: [N_TOKENS][n_taps][n_embd]. */
static float states[N_TOKENS][3 * MOST_WIDTH];
static int32_t tokens[N_TOKENS + N_GUESSES];

static void run_target(const vouch_head_weights *h)
{
    const vouch_weights *w = target->weights;
    const vouch_sequence_options options = {
        .n_ctx = N_TOKENS, .max_rows = N_TOKENS, .max_logits = 1, .kv_type = VOUCH_KV_F32};
    const size_t n_embd = (size_t)w->hparams.n_embd;
    vouch_sequence s;
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&s, w, pool, &options, NULL), VOUCH_OK);
    for (int32_t i = 0; i < h->n_taps; i++) assert_int_equal(vouch_pass_open_tap(s.pass, h->taps[i], NULL), VOUCH_OK);
    vouch_pass_chain(s.pass, s.memory, tokens, N_TOKENS, 1);
    for (int32_t t = 0; t < N_TOKENS; t++)
        for (int32_t i = 0; i < h->n_taps; i++)
            memcpy(states[t] + (size_t)i * n_embd, vouch_pass_tap(s.pass, h->taps[i], t), n_embd * sizeof(float));
    vouch_sequence_close(&s);
    vouch_pool_close(pool);
}

static void give_states(const vouch_drafter_ref *d, const vouch_head_weights *h, int32_t from, int32_t past)
{
    for (int32_t t = from; t < past; t++) {
        const float *each[VOUCH_MAX_TAPS];
        for (int32_t i = 0; i < h->n_taps; i++) each[i] = states[t] + i * target->info.n_embd;
        d->ops->hidden(d->self, tokens, t, each);
    }
}

static vouch_drafter_ref open_drafter(const vouch_draft_file *head, vouch_shared_passes *passes, int32_t chunk,
                                      int32_t branches, const vouch_sampling *sampling)
{
    static const uint64_t seed = 5;
    static const vouch_speculation speculation = {.n_draft = N_GUESSES};
    const vouch_drafter_setup setup = {.speculation = &speculation,
                                       .sampling = sampling,
                                       .seed = &seed,
                                       .n_ctx = N_TOKENS + N_GUESSES,
                                       .prefill_chunk = chunk,
                                       .kv_type = VOUCH_KV_F32,
                                       .branches = branches,
                                       .draw_guess = vouch_draw_guess,
                                       .target = target->weights,
                                       .target_tokens = {.n = target->info.n_vocab},
                                       .files = {[VOUCH_DRAFTER_NUMBER_HEAD] = head_of(head)},
                                       .passes = passes};
    vouch_drafter_ref d;
    assert_int_equal(vouch_drafter_head_open(&d, &setup, NULL), VOUCH_OK);
    return d;
}

/* The largest difference between a q of the draft after tokens[0, n) and the q of the plain loops, in standard
 * deviations of that q over the tokens. */
static double compare_draft(plain *p, const vouch_draft *draft, int32_t n)
{
    static double q[MOST_VOCAB];
    const int32_t n_vocab = target->info.n_vocab;
    double f[MOST_WIDTH], normed[MOST_WIDTH], most = 0;
    for (int32_t t = 0; t + 1 < n; t++) {
        feature_of(p->head, states[t], f);
        run_row(p, tokens[t + 1], f, t);
    }
    for (int32_t i = 0; i < draft->n; i++) {
        int32_t path[N_GUESSES], depth = vouch_draft_depth(draft, i), at = i;
        for (int32_t d = depth - 1; d >= 0; d--) path[d] = at = vouch_draft_parent(draft, at);
        for (int32_t d = 0; d < depth; d++) {
            const vouch_weights *w = p->head->body;
            const vouch_norm norm = p->head->is_normed ? w->output_norm : (vouch_norm){.kind = VOUCH_NORM_NONE};
            normalise(normed, p->s[n - 2 + d], &norm, w->hparams.n_embd, (double)w->hparams.norm_eps);
            if (p->head->leave.n_out > 0) multiply(f, &p->head->leave, normed);
            else memcpy(f, normed, sizeof f);
            run_row(p, draft->tokens[path[d]], f, n - 1 + d);
        }
        plain_q(p, n - 2 + depth, n_vocab, q);
        double mean = 1.0 / n_vocab, variance = 0;
        for (int32_t t = 0; t < n_vocab; t++) variance += (q[t] - mean) * (q[t] - mean) / n_vocab;
        for (int32_t t = 0; t < n_vocab; t++)
            most = fmax(most, fabs(vouch_dist_p(draft->q[i], t) - q[t]) / sqrt(variance));
    }
    return most;
}

/* Drafts chains and trees of 5 guesses, rejects some, and drafts again. */
static void guesses_are_those_of_plain_loops(void **state)
{
    (void)state;
    static plain p;
    vouch_sampling sampling = vouch_sampling_default();
    sampling.temperature = 1;
    vouch_pool *pool;
    test_random random = {8};
    for (int i = 0; i < N_TOKENS; i++) tokens[i] = (int32_t)test_below(&random, (uint32_t)target->info.n_vocab);
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool};
    for (int i = 0; i < N_KINDS; i++)
        for (int32_t branches = 1; branches <= 3; branches += 2) {
            vouch_draft_file *head = open_kind(i);
            run_target(head_of(head));
            p.head = head_of(head);
            vouch_drafter_ref d = open_drafter(head, &passes, 4, branches, &sampling);
            const vouch_shape shape = {.n = N_GUESSES, .depth = branches > 1 ? 3 : N_GUESSES, .branches = branches};
            int32_t n_given = 0;
            double most = 0;
            for (int32_t n = 2; n <= N_TOKENS - N_GUESSES; n += 1 + n % 4) {
                give_states(&d, head_of(head), n_given, n - 1);
                n_given = n - 1;
                vouch_draft draft = draft_alone(&d, tokens, n, &shape);
                assert_int_equal(draft.n, N_GUESSES);
                most = fmax(most, compare_draft(&p, &draft, n));
                d.ops->rewind(d.self, n - 1); /* a cycle that failed: the same tokens come again */
                assert_int_equal(d.ops->n_hidden(d.self), n - 1);
            }
            const double limit = kinds[i].options.norms_output ? 1e-3 : 2e-4; /* the norm enlarges small errors */
            if (most > limit) print_message("%s, %d branches: %g\n", kinds[i].name, branches, most);
            assert_true(most <= limit);
            d.ops->close(d.self);
            vouch_draft_file_close(head);
        }
    vouch_pool_close(pool);
}

/* Law L3: the memory after rejections is the memory of the same tokens without any guess. */
static void rejected_guesses_leave_no_trace(void **state)
{
    (void)state;
    vouch_sampling sampling = vouch_sampling_default();
    sampling.temperature = 1;
    vouch_pool *pool;
    assert_int_equal(vouch_pool_open(&pool, 2, NULL), VOUCH_OK);
    vouch_shared_passes passes = {.pool = pool};
    for (int i = 0; i < N_KINDS; i++) {
        vouch_draft_file *head = open_kind(i);
        run_target(head_of(head));
        vouch_drafter_ref guessed = open_drafter(head, &passes, 3, 1 + i % 3, &sampling);
        const vouch_shape shape = {.n = N_GUESSES, .depth = N_GUESSES, .branches = 1 + i % 3};
        int32_t n_given = 0;
        for (int32_t n = 2; n <= N_TOKENS - N_GUESSES; n += 1 + n % 5) {
            give_states(&guessed, head_of(head), n_given, n - 1);
            n_given = n - 1;
            vouch_drafter_ref plain_one = open_drafter(head, &passes, 7, 1, &sampling);
            give_states(&plain_one, head_of(head), 0, n - 1);
            if (n % 2) assert_true(draft_alone(&guessed, tokens, n, &shape).n > 0);
            guessed.ops->rewind(guessed.self, n - 1);
            draft_follow(&guessed, tokens, n);
            draft_follow(&plain_one, tokens, n);
            assert_true(guessed.ops->digest(guessed.self) == plain_one.ops->digest(plain_one.self));
            plain_one.ops->close(plain_one.self);
            if (n < 4 || kinds[i].options.n_layers == 0) continue;
            /* The digest notices one other state. */
            vouch_drafter_ref wrong = open_drafter(head, &passes, 7, 1, &sampling);
            states[1][0] += 0.5f;
            give_states(&wrong, head_of(head), 0, n - 1);
            states[1][0] -= 0.5f;
            draft_follow(&wrong, tokens, n);
            assert_true(guessed.ops->digest(guessed.self) != wrong.ops->digest(wrong.self));
            wrong.ops->close(wrong.self);
        }
        guessed.ops->close(guessed.self);
        vouch_draft_file_close(head);
    }
    vouch_pool_close(pool);
}

/* ------------------------------------------------------------------- answers */

static vouch_session_options options_of(int i)
{
    vouch_session_options o = vouch_session_options_default();
    o.n_ctx = PROMPT + LENGTH;
    o.max_tokens = LENGTH;
    o.ignore_eos = true;
    o.prefill_chunk = 1 + 5 * (i % 4);
    o.n_threads = 1 + i % 3;
    o.sampling.temperature = i % 2 ? 0.8f : 0;
    o.sampling.seed = (uint64_t)i;
    o.speculation.n_draft = 1 + i % 9;
    o.speculation.tree_branches = 1 + i % 4;
    o.speculation.drafters = VOUCH_DRAFTER_HEAD;
    o.speculation.accept = i % 2 ? VOUCH_ACCEPT_MATCH : (vouch_accept)(i / 2 % VOUCH_ACCEPTS);
    return o;
}

static const unsigned company[] = {0, VOUCH_DRAFTER_NGRAM, VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE,
                                   VOUCH_DRAFTER_RECYCLE};

/* Law L2: with every kind of head, alone and composed, greedy text under each rule and sampled text under match is that
 * of plain decoding. The second prompt shares a beginning with the first, so the head goes back. */
static void text_is_the_same_with_every_head(void **state)
{
    (void)state;
    static answer without, with;
    int64_t accepted = 0;
    const int32_t n_vocab = target->info.n_vocab;
    for (int i = 0; i < (test_is_quick() ? 1 : 6) * N_KINDS; i++) {
        vouch_session_options o = options_of(i);
        vouch_draft_file *head = open_kind(i % N_KINDS);
        int32_t prompt[PROMPT];
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
        o.speculation.drafters |= company[i / 2 % 4];
        if (i % 5 == 0) o.speculation.n_draft = 0;
        vouch_session_options none = o;
        none.speculation.drafters = VOUCH_DRAFTER_NONE;
        vouch_session *one = answer_open(target, &o), *other = answer_open(target, &none);
        answer_prompt(prompt, PROMPT, n_vocab, (uint64_t)i, true);
        for (int round = 0; round < 3; round++) {
            const int32_t n_prompt = round == 1 ? PROMPT / 2 : PROMPT;
            if (round == 2) prompt[PROMPT / 2 + 2] ^= 1;
            vouch_session_set_seed(one, 9);
            vouch_session_set_seed(other, 9);
            answer_continue(&with, one, prompt, n_prompt);
            answer_continue(&without, other, prompt, n_prompt);
            assert_true(answer_equal(&with, &without));
            accepted += with.stats.accepted_by[VOUCH_DRAFTER_NUMBER_HEAD];
        }
        assert_true(i % 5 == 0 || with.stats.drafted_by[VOUCH_DRAFTER_NUMBER_HEAD] > 0);
        vouch_session_close(one);
        vouch_session_close(other);
        vouch_draft_file_close(head);
    }
    assert_true(accepted > 0);
}

/* Returns true if each of ten seeds gives the text of plain decoding. Vouch chooses the rule. */
static bool is_text_of_the_seed(vouch_draft_sampling draft_sampling)
{
    static answer without, with;
    vouch_draft_file *head = open_kind(0);
    vouch_session_options o = options_of(1);
    int32_t prompt[PROMPT];
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
    o.speculation.tree_branches = 0;
    o.speculation.n_draft = 4;
    o.speculation.accept = VOUCH_ACCEPT_AUTO;
    o.speculation.draft_sampling = draft_sampling;
    vouch_session_options none = o;
    none.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session *one = answer_open(target, &o), *other = answer_open(target, &none);
    answer_prompt(prompt, PROMPT, target->info.n_vocab, 1, true);
    bool same = true;
    for (uint64_t seed = 0; seed < 10; seed++) {
        vouch_session_set_seed(one, seed);
        vouch_session_set_seed(other, seed);
        answer_continue(&with, one, prompt, PROMPT);
        answer_continue(&without, other, prompt, PROMPT);
        assert_true(with.stats.drafted > 0);
        same &= answer_equal(&with, &without);
    }
    vouch_session_close(one);
    vouch_session_close(other);
    vouch_draft_file_close(head);
    return same;
}

static void a_seed_reproduces_the_text_unless_guesses_are_drawn(void **state)
{
    (void)state;
    assert_true(is_text_of_the_seed(VOUCH_DRAFT_AUTO));
    assert_true(is_text_of_the_seed(VOUCH_DRAFT_GREEDY));
    assert_false(is_text_of_the_seed(VOUCH_DRAFT_SAMPLE));
}

/* Laws L2 and L7: the text is the same in an engine, beside other sessions, with so few pages that sessions lose
 * theirs. */
static void text_is_the_same_in_an_engine(void **state)
{
    (void)state;
    enum { N = 4 };
    static answer alone[N];
    static int32_t tokens_of[N][LENGTH];
    int32_t prompts[N][PROMPT], n_of[N] = {0};
    const vouch_engine_options eo = {
        .n_sessions = N, .n_ctx = PROMPT + LENGTH, .n_cache = 2 * (PROMPT + LENGTH), .page_size = 16, .n_threads = 2};
    vouch_draft_file *head = open_kind(3);
    vouch_engine *engine;
    vouch_session *sessions[N];
    const vouch_engine_event *events;
    size_t n_events;
    int64_t drafted = 0;
    assert_int_equal(vouch_engine_open(&engine, target, &eo, NULL), VOUCH_OK);
    for (int i = 0; i < N; i++) {
        vouch_session_options o = options_of(i);
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
        o.speculation.drafters |= company[i];
        o.speculation.n_draft = i == 3 ? 0 : 4;
        answer_prompt(prompts[i], PROMPT, target->info.n_vocab, (uint64_t)i, i % 2);
        answer_run(&alone[i], target, &o, prompts[i], PROMPT);
        assert_int_equal(vouch_engine_session_open(&sessions[i], engine, &o, NULL), VOUCH_OK);
        assert_int_equal(vouch_session_prompt(sessions[i], prompts[i], PROMPT, NULL), VOUCH_OK);
    }
    while (vouch_engine_step(engine, &events, &n_events))
        for (size_t e = 0; e < n_events; e++)
            for (int i = 0; i < N; i++) {
                if (events[e].session != sessions[i]) continue;
                assert_int_equal(events[e].status, VOUCH_OK);
                const vouch_step *step = &events[e].step;
                memcpy(tokens_of[i] + n_of[i], step->tokens, (size_t)step->n_tokens * sizeof(int32_t));
                n_of[i] += step->n_tokens;
                if (step->finish == VOUCH_FINISH_NONE) continue;
                drafted += vouch_session_stats(sessions[i])->drafted_by[VOUCH_DRAFTER_NUMBER_HEAD];
                vouch_session_close(sessions[i]); /* its pages are free now */
                break;
            }
    for (int i = 0; i < N; i++) {
        assert_int_equal(n_of[i], alone[i].n);
        assert_memory_equal(tokens_of[i], alone[i].tokens, (size_t)n_of[i] * sizeof(int32_t));
    }
    assert_true(drafted > 0);
    vouch_engine_close(engine);
    vouch_draft_file_close(head);
}

/* A head that is always right has q = p, so greedy text accepts 99 % of its guesses at least, and so does sampled text
 * under each rule but match. A head with other weights has most of its guesses rejected. */
static void a_right_head_is_always_accepted(void **state)
{
    (void)state;
    static answer plain_answer, with;
    for (int i = 0; i < 12; i++) {
        vouch_session_options o = options_of(2 * i);
        tiny_head_options options = {.target = silent, .copies_tokens = true, .n_taps = 1 + i % 3};
        int32_t prompt[PROMPT];
        vouch_draft_file *right = tiny_head_open(&options);
        options.copies_tokens = false;
        vouch_draft_file *wrong = tiny_head_open(&options);
        o.speculation.tree_branches = 1;
        o.speculation.accept = (vouch_accept)(i % VOUCH_ACCEPTS);
        answer_prompt(prompt, PROMPT, silent->info.n_vocab, (uint64_t)i, false);
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = right;
        o.sampling.temperature = i % 3 ? 0.7f : 0;
        answer_run(&with, silent, &o, prompt, PROMPT);
        if (o.sampling.temperature == 0 || o.speculation.accept != VOUCH_ACCEPT_MATCH)
            assert_true(with.stats.accepted >= with.stats.drafted * 99 / 100 && with.stats.drafted > LENGTH / 3);
        o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = wrong;
        answer_run(&with, silent, &o, prompt, PROMPT);
        assert_true(with.stats.accepted < with.stats.drafted / 2);
        o.speculation.drafters = VOUCH_DRAFTER_NONE;
        if (o.sampling.temperature == 0) {
            answer_run(&plain_answer, silent, &o, prompt, PROMPT);
            assert_true(answer_equal(&plain_answer, &with));
        }
        vouch_draft_file_close(right);
        vouch_draft_file_close(wrong);
    }
}

/* ------------------------------------------------------------------ bad input */

static void refuses(const tiny_head_options *options, vouch_status status, const char *words)
{
    const char *path = test_temporary("bad.head.gguf");
    tiny_head_options o = *options;
    vouch_error err = {0};
    vouch_draft_file *head;
    o.target = target;
    tiny_head_write(path, &o);
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err), status);
    assert_null(head);
    if (!strstr(err.message, words)) print_message("%s\n", err.message);
    assert_non_null(strstr(err.message, words));
    assert_non_null(strstr(err.message, "bad.head.gguf"));
}

static void heads_for_other_targets_are_refused(void **state)
{
    (void)state;
    refuses(&(tiny_head_options){.digest = "0123456789abcdef"}, VOUCH_E_MISMATCH,
            "taught for the model with digest 0123456789abcdef, and this model has ");
    refuses(&(tiny_head_options){.n_blocks = 7}, VOUCH_E_MISMATCH, "target.block_count is 7, but the model has 3");
    refuses(&(tiny_head_options){.n_vocab = 300}, VOUCH_E_MISMATCH, "target.vocab_size is 300, but the model has 400");
    refuses(&(tiny_head_options){.n_embd = 32}, VOUCH_E_MISMATCH,
            "target.embedding_length is 32, but the model has 64");
    vouch_draft_file *head;
    const char *path = test_temporary("other.gguf");
    tiny_head_write(path, &(tiny_head_options){.target = target, .digest = "0123456789abcdef"});
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, true, NULL), VOUCH_OK);
    vouch_draft_file_close(head);
    tiny_head_write(path, &(tiny_head_options){.target = target});
    vouch_session_options o = options_of(0);
    vouch_session *session;
    vouch_error err;
    assert_int_equal(vouch_session_open(&session, target, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "and the model has none of its own; set its file"));
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, NULL), VOUCH_OK);
    o.speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = head;
    assert_int_equal(vouch_session_open(&session, silent, &o, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "another model"));
    vouch_draft_file_close(head);
}

static void damaged_heads_are_refused(void **state)
{
    (void)state;
    static const char *const needed[] = {"vouch-head.taps",
                                         "vouch-head.embedding_length",
                                         "vouch-head.block_count",
                                         "vouch-head.target.digest",
                                         "vouch-head.target.vocab_size",
                                         "vouch-head.feed_forward_length",
                                         "vouch-head.attention.head_count",
                                         "vouch-head.attention.layer_norm_rms_epsilon",
                                         "taps.mean",
                                         "taps.inv_scale",
                                         "fc.weight",
                                         "join.weight",
                                         "blk.0.attn_q.weight",
                                         "blk.0.ffn_norm.weight"};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        refuses(&(tiny_head_options){.n_layers = 1, .omit = needed[i]}, VOUCH_E_FORMAT, needed[i]);
    refuses(&(tiny_head_options){.width = 32, .omit = "output.weight"}, VOUCH_E_FORMAT, "'output.weight' is missing");
    refuses(&(tiny_head_options){.is_infinite = true}, VOUCH_E_FORMAT, "tensor 'taps.inv_scale': element 2 is inf");
    refuses(&(tiny_head_options){.n_draft = 20, .bad_ids = true}, VOUCH_E_FORMAT, "d2t[1] is ");
    refuses(&(tiny_head_options){.tap = 3}, VOUCH_E_FORMAT, "vouch-head.taps[0] is 3");
    refuses(&(tiny_head_options){.tap = 1, .n_taps = 3}, VOUCH_E_FORMAT, "vouch-head.taps[0] is -1");
    vouch_draft_file *head;
    vouch_error err;
    const char *model = test_temporary("model.gguf");
    tiny_model_write(model, &(tiny_model_options){0});
    assert_int_equal(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, model, target, false, &err),
                     VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "general.architecture is 'llama': expected a head"));
}

static void eagle3_of_other_sizes_is_refused(void **state)
{
    (void)state;
    static const int32_t past[] = {1, 2, 4}, before[] = {0, 1, 2}, unordered[] = {2, 1, 3};
    static const char *const needed[] = {
        "eagle3.block_count",  "eagle3.embedding_length", "eagle3.attention.head_count",
        "fc.weight",           "blk.0.attn_norm.weight",  "blk.0.attn_norm_2.weight",
        "blk.0.attn_q.weight", "blk.0.ffn_norm.weight",   "output_norm.weight"};
    const tiny_head_options good = {.eagle3 = true, .n_layers = 1, .n_taps = 3};
    const struct {
        tiny_head_options change;
        vouch_status status;
        const char *words;
    } bad[] = {
        {{.n_vocab = 300}, VOUCH_E_MISMATCH, "eagle3.vocab_size is 300, but the model has 400"},
        {{.n_embd = 32, .width = 64}, VOUCH_E_MISMATCH, "eagle3.target_hidden_size is 32, but the model has 64"},
        {{.tap_layers = past}, VOUCH_E_MISMATCH, "eagle3.target_layers[2] is 4, but the model's are 1 to 3"},
        {{.tap_layers = before}, VOUCH_E_MISMATCH, "eagle3.target_layers[0] is 0, but the model's are 1 to 3"},
        {{.tap_layers = unordered}, VOUCH_E_UNSUPPORTED, "eagle3.target_layers[1] is 1 in a model of 3 layers"},
        {{.omit = "eagle3.target_layers"}, VOUCH_E_UNSUPPORTED, "eagle3.target_layers[1] is 1 in a model of 3 layers"},
        {{.width = 32, .omit = "token_embd.weight"}, VOUCH_E_MISMATCH, "eagle3.embedding_length is 32, but the model"},
        {{.width = 32, .omit = "output.weight"}, VOUCH_E_MISMATCH, "eagle3.embedding_length is 32, but the model"},
        {{.n_draft = 20, .omit = "output.weight"}, VOUCH_E_FORMAT, "'output.weight' is missing"},
        {{.n_draft = 20, .bad_ids = true}, VOUCH_E_FORMAT, "d2t[1] is "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tiny_head_options o = bad[i].change;
        o.eagle3 = true;
        o.n_layers = 1;
        o.n_taps = 3;
        refuses(&o, bad[i].status, bad[i].words);
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        tiny_head_options o = good;
        o.omit = needed[i];
        refuses(&o, VOUCH_E_FORMAT, needed[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_are_those_of_plain_loops),
        cmocka_unit_test(rejected_guesses_leave_no_trace),
        cmocka_unit_test(text_is_the_same_with_every_head),
        cmocka_unit_test(a_seed_reproduces_the_text_unless_guesses_are_drawn),
        cmocka_unit_test(text_is_the_same_in_an_engine),
        cmocka_unit_test(a_right_head_is_always_accepted),
        cmocka_unit_test(heads_for_other_targets_are_refused),
        cmocka_unit_test(damaged_heads_are_refused),
        cmocka_unit_test(eagle3_of_other_sizes_is_refused),
    };
    return cmocka_run_group_tests(tests, targets_open, targets_close);
}
