/* SPDX-License-Identifier: MIT */
/* Turns drafts into rows of a pass, and logits of rows into p (target.h). */
#include "engine/target.h"

#include "base/common.h"

void vouch_engine_target_run(vouch_engine_target *self, const int32_t *tokens, int32_t n, int32_t n_logits)
{
    vouch_engine_target *t = self;
    int32_t at = vouch_memory_n_tokens(t->memory);
    while (at < n) {
        int32_t rows = vouch_min(n - at, t->prefill_chunk);
        if (n_logits > 0 && n - at > rows) rows = vouch_min(rows, n - n_logits - at);
        if (n - at <= n_logits) rows = n - at;
        vouch_pass_chain(t->pass, t->memory, tokens + at, rows, at + rows == n ? n_logits : 0);
        t->first_row = t->first_logits = 0;
        at += rows;
    }
}

/* The sequence's last token is the root of the guesses. It is committed already, so the pass keeps its row. */
int32_t vouch_engine_target_rows(vouch_engine_target *self, const int32_t *tokens, int32_t n_tokens,
                                 const vouch_draft *draft, vouch_row *rows)
{
    rows[0] = (vouch_row){
        .memory = self->memory, .token = tokens[n_tokens - 1], .kept = true, .logits = true, .hidden = true};
    for (int32_t i = 0; i < draft->n; i++)
        rows[i + 1] = (vouch_row){.memory = self->memory,
                                  .token = draft->tokens[i],
                                  .parent = vouch_draft_parent(draft, i),
                                  .logits = true,
                                  .hidden = true};
    return draft->n + 1;
}

int32_t vouch_engine_target_chunk(vouch_engine_target *self, const int32_t *tokens, int32_t from, int32_t past,
                                  bool with_logits, vouch_row *rows)
{
    for (int32_t i = from; i < past; i++)
        rows[i - from] = (vouch_row){
            .memory = self->memory, .token = tokens[i], .kept = true, .logits = with_logits, .hidden = true};
    return past - from;
}

/* Tells the sampler which tokens the grammar allows after tokens[0, n). */
static vouch_status allow(vouch_engine_target *t, const int32_t *tokens, int32_t n)
{
    vouch_constraint *c = t->constraint;
    t->sampler.allowed = NULL;
    if (!c || !vouch_constraint_applies(c, n)) return VOUCH_OK;
    if (n < vouch_constraint_settled(c, VOUCH_FOLLOWER_JUDGE))
        vouch_constraint_settle(c, VOUCH_FOLLOWER_JUDGE, tokens, n); /* for vouch_session_probabilities */
    const int32_t root = vouch_constraint_settled(c, VOUCH_FOLLOWER_JUDGE);
    const bool may = vouch_constraint_mask(c, VOUCH_FOLLOWER_JUDGE, tokens + root, n - root, &t->sampler.allowed);
    return may ? VOUCH_OK : VOUCH_E_GRAMMAR;
}

/* The allowed token of those that end an answer that the model finds likeliest; -1: others are allowed, too. */
static int32_t only_end(const vouch_engine_target *t, const uint64_t *allowed, const float *logits)
{
    int32_t n_others = 0, best = -1;
    for (int32_t i = 0; i < (t->sampler.n_vocab + 63) / 64; i++) n_others += __builtin_popcountll(allowed[i]);
    for (int32_t i = 0; i < t->n_ends; i++) {
        const int32_t id = t->ends[i];
        if (!(allowed[id / 64] >> (id % 64) & 1)) continue;
        n_others--;
        if (best < 0 || (logits && logits[id] > logits[best])) best = id;
    }
    return n_others == 0 ? best : -1;
}

bool vouch_engine_target_must_end(vouch_engine_target *self)
{
    const uint64_t *allowed;
    vouch_constraint *c = self->constraint;
    return c && vouch_constraint_mask(c, VOUCH_FOLLOWER_JUDGE, NULL, 0, &allowed) && allowed &&
           only_end(self, allowed, NULL) >= 0;
}

/* Biases and min_tokens may ban all tokens that the grammar allows. A complete grammar ends the answer all the same. */
static vouch_status without_token(vouch_engine_target *t, const float *logits)
{
    float max;
    int32_t best;
    if (!t->sampler.kernels->find_max(logits, t->sampler.n_vocab, &max, &best)) return VOUCH_E_NUMERIC;
    const int32_t end = t->sampler.allowed ? only_end(t, t->sampler.allowed, logits) : -1;
    if (end < 0) return VOUCH_E_GRAMMAR;
    vouch_dist_set_point(&t->p, end);
    return VOUCH_OK;
}

vouch_status vouch_engine_target_distribution(vouch_engine_target *self, const float *logits, const int32_t *tokens,
                                              int32_t n_history)
{
    VOUCH_TRY(allow(self, tokens, n_history));
    self->sampler.banned = self->ends;
    self->sampler.n_banned = n_history < self->earliest_end ? self->n_ends : 0;
    self->sampler.xtc_applies = vouch_xtc_applies(&self->sampler.params, *self->seed, n_history);
    const vouch_status status = vouch_dist_from_logits(&self->p, &self->sampler, logits, tokens, (size_t)n_history);
    return status == VOUCH_E_NUMERIC ? without_token(self, logits) : status;
}

static vouch_status target_row(void *self, const int32_t *tokens, int32_t n_history, int32_t row, const vouch_dist **p)
{
    vouch_engine_target *t = self;
    *p = &t->p;
    return vouch_engine_target_distribution(t, vouch_pass_logits(t->pass, t->first_logits + row), tokens, n_history);
}

static const float *target_logits(void *self, int32_t row)
{
    const vouch_engine_target *t = self;
    return vouch_pass_logits(t->pass, t->first_logits + row);
}

static const float *target_hidden(void *self, int32_t row, int32_t layer)
{
    const vouch_engine_target *t = self;
    return vouch_pass_tap(t->pass, layer, t->first_row + row);
}

static void target_keep(void *self, const int32_t *path, int32_t n)
{
    vouch_engine_target *t = self;
    vouch_memory_keep_path(t->memory, path, n);
}

void vouch_engine_target_rewind(vouch_engine_target *self, int32_t n)
{
    vouch_memory_rewind(self->memory, n);
}

static void target_rewind(void *self, int32_t n)
{
    vouch_engine_target_rewind(self, n);
}

vouch_target vouch_engine_target_ops(vouch_engine_target *self)
{
    return (vouch_target){target_row, target_logits, target_hidden, target_keep, target_rewind, self};
}
