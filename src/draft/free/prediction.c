/* SPDX-License-Identifier: MIT */
/*
 * Follows a predicted answer as a reader follows a text with a finger:
 *
 *   prediction  a b c d e f g h            answer  a b x y e f ...
 *                   ▲ x differs: the finger is lost.         ▲ "e f" is in the prediction:
 *                     y, then "x y", are searched for          the finger moves there
 *                     and not found
 *
 * After each token of the answer, the finger holds the index of the next predicted token, and how many tokens before it
 * agree. Where a token differs, the finger is lost and stays at its index. Then the source searches the whole
 * prediction for each further token and the tokens before it. The longest agreement wins, and among equals the nearest
 * one. While the finger is lost, the source offers two candidates: the token after the predicted one, in case that the
 * differing token replaced it, and the predicted one, in case that the differing token was inserted before it. The
 * source keeps a finger for every length of the answer, so that a rewind needs no work.
 */
#include "draft/free/prediction.h"
#include "draft/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { RUNS = 8, N_KINDS = 2 * RUNS + 2, NEAR = 24 };

typedef struct finger {
    int32_t next; /* index of the next token in the prediction */
    int32_t run;  /* tokens before it that agree; -1: lost */
    int32_t lost; /* how often the finger was lost */
} finger;

typedef struct prediction {
    int32_t n_ctx;
    int32_t n_prompt; /* position of the answer's first token; -1: no answer has begun since the prediction was set */
    int32_t n_seen;   /* tokens of the sequence */
    int32_t n;
    int32_t *tokens; /* [n_ctx] the prediction, n tokens */
    finger *fingers; /* [n_ctx + 1] by the length of the sequence, from n_prompt on */
    vouch_arena arena;
    size_t bytes;
} prediction;

/* Searches the prediction for the last tokens before `end`, at most n_tail of them. */
static finger look_for(const prediction *p, finger before, const int32_t *end, int32_t n_tail)
{
    finger best = {before.next, -1, before.lost + (before.run >= 0)};
    int32_t best_distance = 0;
    for (int32_t i = 1; i <= p->n; i++) {
        if (p->tokens[i - 1] != end[-1]) continue;
        int32_t run = 1;
        while (run < n_tail && run < i && p->tokens[i - run - 1] == end[-run - 1]) run++;
        const int32_t distance = abs(i - before.next);
        if (run == 1 && distance > NEAR) continue;
        if (run < best.run || (run == best.run && distance >= best_distance)) continue;
        best.next = i;
        best.run = run;
        best_distance = distance;
    }
    return best;
}

/* Moves the finger over the last token of the sequence tokens[0, n). */
static finger move(const prediction *p, finger before, const int32_t *tokens, int32_t n)
{
    if (before.run >= 0 && before.next < p->n && p->tokens[before.next] == tokens[n - 1])
        return (finger){before.next + 1, before.run + 1, before.lost};
    const int32_t n_tail = n - p->n_prompt < VOUCH_TAIL ? n - p->n_prompt : VOUCH_TAIL;
    return look_for(p, before, tokens + n, n_tail);
}

static void prediction_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    prediction *p = self;
    for (int32_t n = p->n_seen + 1; n <= n_tokens; n++)
        if (p->n_prompt >= 0 && n > p->n_prompt) p->fingers[n] = move(p, p->fingers[n - 1], tokens, n);
    p->n_seen = n_tokens;
}

static void prediction_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    prediction *p = self;
    (void)tokens;
    p->n_prompt = n_tokens;
    p->fingers[n_tokens] = (finger){0, 0, 0};
}

static void prediction_rewind(void *self, int32_t n_tokens)
{
    prediction *p = self;
    if (n_tokens < p->n_seen) p->n_seen = n_tokens;
    if (n_tokens < p->n_prompt) p->n_prompt = -1;
}

void vouch_source_prediction_set(vouch_source source, const int32_t *tokens, size_t n_tokens)
{
    prediction *p = source.self;
    p->n = n_tokens < (size_t)p->n_ctx ? (int32_t)n_tokens : p->n_ctx;
    if (p->n > 0) memcpy(p->tokens, tokens, (size_t)p->n * sizeof *tokens);
    p->n_prompt = -1;
}

/* A cursor packs three things: index + 1, agreeing tokens + 1, and whether the finger was ever lost. 0: no finger. */
static int64_t cursor_of(finger f)
{
    return (int64_t)(f.lost > 0) << 62 | (int64_t)(f.run + 1) << 32 | (f.next + 1);
}

static finger finger_of(int64_t cursor)
{
    return (finger){(int32_t)(cursor & INT32_MAX) - 1, (int32_t)(cursor >> 32 & 0xffffff) - 1, cursor >> 62 & 1};
}

static int64_t prediction_start(const void *self)
{
    const prediction *p = self;
    return p->n_prompt >= 0 && p->n_seen >= p->n_prompt ? cursor_of(p->fingers[p->n_seen]) : 0;
}

static int64_t prediction_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    const prediction *p = self;
    if (prefix->cursor == 0) return 0;
    finger f = finger_of(prefix->cursor);
    for (int32_t skipped = 0; skipped < 2 && f.next < p->n; skipped++, f.next++)
        if (p->tokens[f.next] == token) return cursor_of((finger){f.next + 1, f.run < 0 ? 1 : f.run + 1, f.lost});
        else if (f.run >= 0) break;
    return 0;
}

/* The class: 0, 1, 2, 3, 4 to 5, 6 to 8, 9 to 15 or more tokens agree; and whether the finger was ever lost. */
static int32_t kind_of(finger f)
{
    static const int8_t bucket[] = {0, 1, 2, 3, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6};
    return (f.lost ? RUNS : 0) + (f.run < 16 ? bucket[f.run] : RUNS - 1);
}

static int32_t prediction_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const prediction *p = self;
    if (prefix->cursor == 0) return 0;
    const finger f = finger_of(prefix->cursor);
    if (f.next >= p->n) return 0;
    if (f.run >= 0) {
        out[0] = (vouch_candidate){p->tokens[f.next], kind_of(f)};
        return 1;
    }
    int32_t n = 0;
    for (int32_t i = 1; i >= 0; i--) {
        if (f.next + i >= p->n || (n > 0 && out[0].token == p->tokens[f.next + i])) continue;
        out[n++] = (vouch_candidate){p->tokens[f.next + i], 2 * RUNS + !i};
    }
    return n;
}

static double prediction_prior(int32_t kind)
{
    static const double run[RUNS] = {0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.97};
    if (kind == N_KINDS) return 0.03;
    return kind >= 2 * RUNS ? 0.15 : kind >= RUNS ? 0.85 * run[kind - RUNS] : run[kind];
}

/* -------------------------------------------------------------------- memory */

static void prediction_close(void *self)
{
    prediction *p = self;
    vouch_arena_free(&p->arena);
    free(p);
}

static size_t prediction_memory(const void *self)
{
    return ((const prediction *)self)->bytes;
}

static uint64_t prediction_digest(const void *self)
{
    const prediction *p = self;
    uint64_t hash = (uint64_t)p->n_seen;
    for (int32_t n = p->n_prompt; n >= 0 && n <= p->n_seen; n++)
        hash = vouch_hash_word(hash, (uint64_t)cursor_of(p->fingers[n]));
    return hash;
}

static const vouch_source_ops prediction_ops = {
    .name = "prediction",
    .bit = VOUCH_DRAFTER_PREDICTION,
    .n_classes = N_KINDS,
    .observe = prediction_observe,
    .begin = prediction_begin,
    .rewind = prediction_rewind,
    .start = prediction_start,
    .step = prediction_step,
    .expand = prediction_expand,
    .prior = prediction_prior,
    .trust = 1,
    .close = prediction_close,
    .memory = prediction_memory,
    .digest = prediction_digest,
};

static void prediction_layout(prediction *p)
{
    p->tokens = vouch_arena_take(&p->arena, (size_t)p->n_ctx, sizeof *p->tokens);
    p->fingers = vouch_arena_take(&p->arena, (size_t)p->n_ctx + 1, sizeof *p->fingers);
}

vouch_status vouch_source_prediction_open(vouch_source *out, int32_t n_ctx, vouch_error *err)
{
    *out = (vouch_source){0};
    prediction *p = calloc(1, sizeof *p);
    if (!p) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the prediction (%zu bytes)", sizeof *p);
    p->n_ctx = n_ctx;
    p->n_prompt = -1;
    prediction_layout(p);
    p->bytes = sizeof *p + p->arena.used;
    const vouch_status status = vouch_arena_allocate(&p->arena, "the prediction", err);
    if (status != VOUCH_OK) {
        free(p);
        return status;
    }
    prediction_layout(p);
    *out = (vouch_source){.ops = &prediction_ops, .self = p};
    return VOUCH_OK;
}

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_prediction_open(out, setup->n_ctx, err);
}

const vouch_drafter_type vouch_drafter_type_prediction = {.in_auto = true,
                                                          .needs = "a prediction",
                                                          .need = VOUCH_NEED_PREDICTION,
                                                          .flags = "prediction",
                                                          .open_free = open_free};
