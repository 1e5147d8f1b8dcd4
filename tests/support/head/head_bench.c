/* SPDX-License-Identifier: MIT */
#include "support/head/head_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/filemap.h"
#include "engine/file/model.h"
#include "support/decode/draft.h"
#include "support/mutate.h"
#include "support/test.h"

static int32_t argmax(const vouch_residual *left, uint64_t seed, int64_t position, int32_t number)
{
    int32_t best = 0;
    (void)seed, (void)position, (void)number;
    for (int32_t t = 1; t < left->p->n_vocab; t++)
        if (vouch_residual_mass(left, t) > vouch_residual_mass(left, best)) best = t;
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
    for (int i = 0; i < HEAD_KEPT; i++) {
        const double off = fabs(ours[i] - (double)row->logits[i] - shift) / (double)row->deviation;
        if (off > most) most = off; /* with fmax here, GCC 12 for Arm stops with an internal error */
    }
    return most;
}

static void open_target(head_bench *b, const vouch_weights *weights, int32_t page_size)
{
    const vouch_pages_options pages = {
        .kv_type = VOUCH_KV_F32, .page_size = page_size, .n_pages = HEAD_CTX / page_size};
    const vouch_pass_options pass = {.n_ctx = HEAD_CTX, .max_rows = HEAD_CTX, .max_logits = HEAD_DRAFT};
    assert_int_equal(vouch_pages_open(&b->target.pages, weights, &pages, NULL), VOUCH_OK);
    assert_int_equal(vouch_memory_open(&b->target.memory, b->target.pages, HEAD_CTX, HEAD_CTX, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open(&b->target.pass, weights, b->pool, &pass, NULL), VOUCH_OK);
    for (int32_t i = 0; i < b->head->n_taps; i++)
        assert_int_equal(vouch_pass_open_tap(b->target.pass, b->head->taps[i], NULL), VOUCH_OK);
}

vouch_draft_file *head_bench_file(const char *path, const vouch_model *target)
{
    vouch_error err = {0};
    vouch_draft_file *head;
    const vouch_status status = vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, target, false, &err);
    if (status != VOUCH_OK) print_message("%s\n", err.message);
    assert_int_equal(status, VOUCH_OK);
    return head;
}

void head_bench_open(head_bench *b, const vouch_model *model, const vouch_head_weights *head, int32_t page_size,
                     int32_t branches)
{
    static const uint64_t seed = 1;
    vouch_sampling sampling = vouch_sampling_default();
    sampling.temperature = 1;
    *b = (head_bench){.head = head, .n_vocab = model->info.n_vocab};
    assert_int_equal(vouch_pool_open(&b->pool, 2, NULL), VOUCH_OK);
    b->passes.pool = b->pool;
    open_target(b, model->weights, page_size);
    static const vouch_speculation speculation = {.n_draft = HEAD_DRAFT};
    const vouch_drafter_setup setup = {.speculation = &speculation,
                                       .sampling = &sampling,
                                       .seed = &seed,
                                       .n_ctx = HEAD_CTX,
                                       .prefill_chunk = 5,
                                       .kv_type = VOUCH_KV_F32,
                                       .branches = branches,
                                       .draw_guess = argmax,
                                       .target = model->weights,
                                       .target_memory = b->target.memory,
                                       .target_tokens = {.n = model->info.n_vocab},
                                       .files = {[VOUCH_DRAFTER_NUMBER_HEAD] = head},
                                       .passes = &b->passes};
    assert_int_equal(vouch_drafter_head_open(&b->drafter, &setup, NULL), VOUCH_OK);
}

void head_bench_close(head_bench *b)
{
    b->drafter.ops->close(b->drafter.self);
    vouch_sequence_close(&b->target);
    vouch_pool_close(b->pool);
}

void head_bench_commit(head_bench *b, int32_t n)
{
    const int32_t first = vouch_memory_n_tokens(b->target.memory);
    for (int32_t i = 0; i < n; i++, b->n++) b->tokens[b->n] = (7 + 31 * b->n) % b->n_vocab;
    vouch_pass_chain(b->target.pass, b->target.memory, b->tokens + first, b->n - 1 - first, 1);
    for (; b->n_given < b->n - 1; b->n_given++) {
        const float *states[VOUCH_HEAD_TAPS];
        for (int32_t i = 0; i < b->head->n_taps; i++)
            states[i] = vouch_pass_tap(b->target.pass, b->head->taps[i], b->n_given - first);
        b->drafter.ops->hidden(b->drafter.self, b->tokens, b->n_given, states);
    }
}

vouch_draft head_bench_propose(head_bench *b)
{
    static const vouch_shape chain = {.n = HEAD_DRAFT, .depth = HEAD_DRAFT, .branches = 1};
    return draft_alone(&b->drafter, b->tokens, b->n, &chain);
}

void head_bench_reject(head_bench *b, const vouch_draft *draft)
{
    vouch_pass_tree(b->target.pass, b->target.memory, draft->tokens, draft->parents, draft->n, draft->n);
    vouch_memory_keep_rows(b->target.memory, 0);
    b->drafter.ops->rewind(b->drafter.self, b->n - 1);
}

void head_bench_compare(const char *name, const vouch_model *model, const vouch_head_weights *head,
                        const head_row rows[HEAD_ROUNDS * HEAD_DRAFT])
{
    double most = 0;
    for (int32_t page_size = 16; page_size <= HEAD_CTX; page_size *= 4) { /* law L1 */
        head_bench b;
        head_bench_open(&b, model, head, page_size, 1);
        for (int round = 0; round < HEAD_ROUNDS; round++) {
            head_bench_commit(&b, round ? HEAD_MORE : HEAD_FIRST);
            const vouch_draft draft = head_bench_propose(&b);
            assert_int_equal(draft.n, HEAD_DRAFT);
            for (int d = 0; d < HEAD_DRAFT; d++) {
                const head_row *row = &rows[round * HEAD_DRAFT + d];
                most = fmax(most, compare(draft.q[d], row));
                assert_int_equal(draft.tokens[d], row->best);
            }
            head_bench_reject(&b, &draft);
        }
        head_bench_close(&b);
    }
    if (most > 2e-4) print_message("%s: %g\n", name, most);
    assert_true(most <= 2e-4);
}

void head_bench_damage(const char *file, const char *path, const vouch_model *model, const char *const *words,
                       uint64_t seed)
{
    const int n_damages = test_is_quick() ? 60 : 200;
    int n_refused = 0, n_drafted = 0;
    size_t size;
    mutator m;
    uint8_t *bytes = (uint8_t *)read_whole(file, &size);
    mutator_open(&m, bytes, size, words, seed);
    for (int i = 0; i < n_damages; i++) {
        vouch_error err = {0};
        vouch_draft_file *head;
        if (i % 4) mutator_next(&m);
        else mutator_truncate(&m, size / (size_t)n_damages * (size_t)i);
        write_whole(file, m.bytes, m.n);
        if (vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, model, false, &err) != VOUCH_OK) {
            assert_non_null(strstr(err.message, vouch_path_tail(path)));
            n_refused++;
            continue;
        }
        head_bench b;
        head_bench_open(&b, model, head_of(head), 16, 1 + i % 3);
        head_bench_commit(&b, HEAD_FIRST);
        n_drafted += head_bench_propose(&b).n > 0;
        head_bench_close(&b);
        vouch_draft_file_close(head);
    }
    assert_true(n_refused > n_damages / 4 && n_drafted > 0);
    mutator_close(&m);
    free(bytes);
}
