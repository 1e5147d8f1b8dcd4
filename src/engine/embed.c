/* SPDX-License-Identifier: MIT */
/*
 * The vector of a text, pooled over its tokens as the engine's passes run them:
 *
 *   tokens     t0   t1   t2   t3 | t3     the last one stands twice: a prompt's last token would run with its answer
 *   x          x0   x1   x2   x3          residual stream after the last layer
 *   MEAN       (norm(x0) + norm(x1) + norm(x2) + norm(x3)) / 4
 *   LAST       norm(x3)
 *
 * Tokens are added in their order, so that parts of a prompt give the bits of a whole.
 */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "engine/options.h"
#include "engine/session.h"
#include "model/stage/rows.h"

static vouch_status check(const vouch_session *s, size_t n_tokens, vouch_pooling pooling, vouch_error *err)
{
    const vouch_weights *w = s->model->weights;
    if (pooling != VOUCH_POOLING_MEAN && pooling != VOUCH_POOLING_LAST)
        return vouch_options_out_of_range(err, "pooling", pooling, VOUCH_POOLING_MEAN, VOUCH_POOLING_LAST);
    if (w->spread.n_out > 0 || w->last_read.weights.n_out > 0 || w->output_depth.n_kept > 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "embeddings: the output of %s reads more than one stream",
                          s->model->info.architecture);
    if (n_tokens == 0) return vouch_fail(err, VOUCH_E_ARGUMENT, "the text is empty: at least one token is needed");
    if (n_tokens + 1 >= (size_t)s->options.n_ctx)
        return vouch_fail(err, VOUCH_E_CONTEXT,
                          "the text has %zu tokens, and the context of %d needs two more: shorten the text or "
                          "use a larger context",
                          n_tokens, s->options.n_ctx);
    return VOUCH_OK;
}

vouch_status vouch_session_embed(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_pooling pooling,
                                 float *out, vouch_error *err)
{
    vouch_session *s = session;
    VOUCH_TRY(check(s, n_tokens, pooling, err));
    int32_t *twice = malloc((n_tokens + 1) * sizeof *twice);
    if (!twice) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for an embedding of %zu tokens", n_tokens);
    memset(out, 0, (size_t)s->model->info.n_embd * sizeof *out);
    memcpy(twice, tokens, n_tokens * sizeof *twice);
    twice[n_tokens] = tokens[n_tokens - 1];
    s->next_embedding = (vouch_embedding){.out = out, .pooling = pooling};
    const vouch_status status = vouch_session_prompt(s, twice, n_tokens + 1, err);
    free(twice);
    return status;
}

bool vouch_session_pool(vouch_session *session, int32_t from, int32_t past)
{
    vouch_session *s = session;
    const vouch_weights *w = s->model->weights;
    vouch_embedding *e = &s->embedding;
    float *row = s->embedding_row;
    const int32_t n_embd = s->model->info.n_embd, n = s->cycle.n_tokens - 1;
    if (!e->out) return false;
    for (int32_t i = vouch_max(from, e->n_pooled); i < past; i++) {
        if (e->pooling == VOUCH_POOLING_LAST && i < n - 1) continue;
        const float *x = s->cycle.target.hidden(s->cycle.target.self, i - from, w->hparams.n_layers - 1);
        vouch_row_norm(row, x, &w->output_norm, n_embd, w->hparams.norm_eps);
        for (int32_t d = 0; d < n_embd; d++) e->out[d] += row[d];
    }
    e->n_pooled = vouch_max(past, e->n_pooled);
    if (past < n) return false;
    const float scale = e->pooling == VOUCH_POOLING_MEAN ? 1 / (float)n : 1;
    for (int32_t d = 0; d < n_embd; d++) e->out[d] *= scale;
    atomic_store(&s->cancelled, false); /* a cancel came too late; it must not reach the next prompt */
    vouch_session_abandon(s);
    return true;
}
