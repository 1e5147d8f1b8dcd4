/* SPDX-License-Identifier: MIT */
#include "support/head/wrong_head.h"

#include <math.h>
#include <string.h>

#include "support/test.h"

enum { MOST_GUESSES = 8, MOST_VOCAB = 64, MOST_RANK = 64 };

/* The one wrong drafter. Its functions are the right ones but for `begin` and `end`. */
static struct {
    head_mistake mistake;
    const vouch_head_weights *head;
    const vouch_level_ops *right;
    vouch_drafter_ops ops;
    vouch_level_ops levels;
    int32_t last; /* the token before the first guess */
    vouch_dist q[MOST_GUESSES];
    float weights[MOST_GUESSES][MOST_VOCAB];
    const vouch_dist *q_of[MOST_GUESSES];
} wrong;

static void begin(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    wrong.last = tokens[n_tokens - 1];
    wrong.right->begin(self, tokens, n_tokens, shape);
}

/* Takes the bias after a token out of q, as far as temperature 1 goes. */
static void take_bias(vouch_dist *q, int32_t token)
{
    const vouch_head_block *block = &wrong.head->block;
    float from[MOST_RANK], to[MOST_RANK];
    assert_true(block->to.n_in <= MOST_RANK);
    vouch_matrix_get_row(&block->from, token, from);
    q->total = 0;
    for (int32_t x = 0; x < q->n_vocab; x++) {
        float bias = 0;
        vouch_matrix_get_row(&block->to, x, to);
        for (int64_t i = 0; i < block->to.n_in; i++) bias += from[i] * to[i];
        q->weight[x] *= expf(-bias);
        q->total += (double)q->weight[x];
    }
}

static vouch_draft end(void *self)
{
    vouch_draft draft = wrong.right->end(self);
    assert_true(draft.n <= MOST_GUESSES && draft.q);
    for (int32_t i = 0; i < draft.n; i++) {
        const vouch_dist *q = draft.q[wrong.mistake == HEAD_Q_OF_OTHER_DEPTH && i > 0 ? i - 1 : i];
        if (wrong.mistake == HEAD_DROPS_LOW_Q && vouch_dist_p(q, draft.tokens[i]) < 0.3) draft.n = i;
        assert_true(q->n_vocab <= MOST_VOCAB && q->dense);
        wrong.q[i] = *q;
        wrong.q[i].weight = memcpy(wrong.weights[i], q->weight, (size_t)q->n_vocab * sizeof(float));
        if (wrong.mistake == HEAD_Q_WITHOUT_BIAS) take_bias(&wrong.q[i], i > 0 ? draft.tokens[i - 1] : wrong.last);
        wrong.q_of[i] = &wrong.q[i];
    }
    draft.q = wrong.q_of;
    return draft;
}

void wrong_head_make(vouch_drafter_ref *drafter, const vouch_head_weights *head, head_mistake mistake)
{
    wrong.mistake = mistake;
    wrong.head = head;
    wrong.right = drafter->ops->levels;
    wrong.ops = *drafter->ops;
    wrong.levels = *drafter->ops->levels;
    wrong.ops.levels = &wrong.levels;
    wrong.levels.begin = begin;
    wrong.levels.end = end;
    drafter->ops = &wrong.ops;
}
