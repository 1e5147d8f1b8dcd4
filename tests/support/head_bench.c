/* SPDX-License-Identifier: MIT */
#include "support/head_bench.h"

#include <math.h>

#include "draft/head.h"
#include "support/test.h"

enum { N_FIRST = 12, N_MORE = 3, N_CTX = 64 };

static int32_t argmax(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    int32_t best = 0;
    (void)seed, (void)position, (void)number;
    for (int32_t t = 1; t < left->p->n_vocab; t++)
        if (left->p->weight[t] > left->p->weight[best]) best = t;
    return best;
}

/* The largest difference between the logits after shifting them to equal means, in standard deviations of a row. */
static double compare(const vouch_dist *q, const head_row *row)
{
    int32_t n = 0, seen = 0, kept = 0;
    double ours[HEAD_KEPT], shift = 0, most = 0;
    for (int32_t t = 0; t < q->n_vocab; t++) n += q->weight[t] > 0;
    for (int32_t t = 0; t < q->n_vocab; t++) {
        if (!(q->weight[t] > 0) || seen++ % (n / HEAD_KEPT) != 0 || kept == HEAD_KEPT) continue;
        ours[kept] = log((double)q->weight[t]);
        shift += (ours[kept] - (double)row->logits[kept]) / HEAD_KEPT;
        kept++;
    }
    assert_int_equal(kept, HEAD_KEPT);
    for (int i = 0; i < HEAD_KEPT; i++)
        most = fmax(most, fabs(ours[i] - (double)row->logits[i] - shift) / (double)row->deviation);
    return most;
}

typedef struct bench {
    const vouch_head_weights *head;
    vouch_pool *pool;
    vouch_sequence target;
    vouch_drafter_ref drafter;
    int32_t tokens[N_CTX], n;
} bench;

static void bench_open(bench *b, const vouch_model *model, const vouch_head_weights *head)
{
    static const uint64_t seed = 1;
    static const vouch_sampling sampling = {.temperature = 1, .top_p = 1, .repeat_penalty = 1};
    const vouch_sequence_options options = {
        .n_ctx = N_CTX, .max_rows = N_CTX, .max_logits = 1, .kv_type = VOUCH_KV_F32};
    const vouch_drafter_head_options head_options = {.sampling = &sampling,
                                                     .seed = &seed,
                                                     .draw = argmax,
                                                     .n_vocab = model->info.n_vocab,
                                                     .n_embd = model->info.n_embd,
                                                     .n_ctx = N_CTX,
                                                     .prefill_chunk = 5,
                                                     .k = HEAD_DRAFT,
                                                     .branches = 1,
                                                     .kv_type = VOUCH_KV_F32};
    *b = (bench){.head = head};
    assert_int_equal(vouch_pool_open(&b->pool, 2, NULL), VOUCH_OK);
    assert_int_equal(vouch_sequence_open(&b->target, model->weights, b->pool, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_drafter_head_open(&b->drafter, head, b->pool, &head_options, NULL), VOUCH_OK);
    for (int32_t i = 0; i < head->n_taps; i++)
        assert_int_equal(vouch_pass_open_tap(b->target.pass, head->taps[i], NULL), VOUCH_OK);
}

static void bench_close(bench *b)
{
    b->drafter.ops->close(b->drafter.self);
    vouch_sequence_close(&b->target);
    vouch_pool_close(b->pool);
}

/* Commits n tokens: the target runs them, and the head gets the states of all but the last. */
static void commit(bench *b, int32_t n, int32_t n_vocab)
{
    const int32_t before = b->n;
    for (int32_t i = 0; i < n; i++, b->n++) b->tokens[b->n] = (7 + 31 * b->n) % n_vocab;
    if (before > 0) b->drafter.ops->rewind(b->drafter.self, before);
    vouch_memory_rewind(b->target.memory, before > 0 ? before - 1 : 0);
    const int32_t first = vouch_memory_n_tokens(b->target.memory);
    vouch_pass_chain(b->target.pass, b->target.memory, b->tokens + first, b->n - first, 1);
    for (int32_t t = before > 0 ? before - 1 : 0; t + 1 < b->n; t++) { /* a recurrent target went back further */
        const float *states[VOUCH_HEAD_TAPS];
        for (int32_t i = 0; i < b->head->n_taps; i++)
            states[i] = vouch_pass_tap(b->target.pass, b->head->taps[i], t - first);
        b->drafter.ops->hidden(b->drafter.self, b->tokens, t, states);
    }
}

void head_bench_compare(const char *name, const vouch_model *model, const vouch_head_weights *head,
                        const head_row rows[HEAD_ROUNDS * HEAD_DRAFT])
{
    const vouch_shape shape = {.n = HEAD_DRAFT, .depth = HEAD_DRAFT, .branches = 1};
    double most = 0;
    bench b;
    bench_open(&b, model, head);
    for (int round = 0; round < HEAD_ROUNDS; round++) {
        commit(&b, round ? N_MORE : N_FIRST, model->info.n_vocab);
        const vouch_draft draft = b.drafter.ops->propose(b.drafter.self, b.tokens, b.n, &shape);
        assert_int_equal(draft.n, HEAD_DRAFT);
        for (int d = 0; d < HEAD_DRAFT; d++) {
            const head_row *row = &rows[round * HEAD_DRAFT + d];
            most = fmax(most, compare(draft.q[d], row));
            assert_int_equal(draft.tokens[d], row->best);
        }
    }
    if (most > 2e-4) print_message("%s: %g\n", name, most);
    assert_true(most <= 2e-4);
    bench_close(&b);
}
