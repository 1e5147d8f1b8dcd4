/* SPDX-License-Identifier: MIT */
/*
 * Token Recycling (Luo et al., arXiv 2408.08696): every row of the target that the judge looks at is kept as its
 * likeliest tokens, by the three, the two and the one token before it. Where the same three come again, or else the
 * same two, or else the one, these are the candidates: no search, no training, and a wide tree where the target was in
 * doubt.
 *
 *   hash of (c)        ──► slot  [ c - - | 8 tokens | 8 grades ]
 *   hash of (c, b)     ──► slot  [ c b - | 8 tokens | 8 grades ]      ORDERS tables of SLOTS such slots; the last to
 *   hash of (c, b, a)  ──► slot  [ c b a | 8 tokens | 8 grades ]      come stays
 *
 * A grade says how far a token was ahead of the others, or behind the first: with its rank and the order it is its
 * class.
 *
 * Rows behind rejected guesses aren't used, although they were paid for: so the tables are those that plain
 * decoding would leave (law L3), and 1,000 tokens of answer are 1,000 rows whatever was guessed. (They would be worth
 * 1 to 2 % more speed.) A row goes into the tables with the token that follows it, so that a token's place can be
 * asked for before the token is known.
 */
#include "draft/recycle.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "sample/sample.h"

enum { ORDERS = 3, SLOTS = 1 << 15, GRADES = 6, RANKS = 4, N = VOUCH_MAX_TOP };
_Static_assert((int)N <= (int)VOUCH_MAX_OPTIONS, "all that is kept can be a candidate");
enum { MAX_PENDING = VOUCH_MAX_DRAFT + 2 }; /* the rows of a cycle and of the token before it */

typedef struct row {
    int32_t tokens[N]; /* -1: no more */
    uint8_t grades[N];
} row;

/* The tokens before a row, the last one first; -1 beyond the order's. */
typedef struct context {
    int32_t before[ORDERS];
} context;

typedef struct slot {
    context context; /* empty: before[0] -1 */
    row row;
} slot;

/* Seen, but not yet known to be part of the answer. */
typedef struct pending {
    int32_t n_tokens; /* of the sequence that it follows */
    context context;  /* of the highest order */
    row row;
} pending;

typedef struct recycle {
    const vouch_kernels *kernels;
    int32_t n_vocab;
    bool forget;
    slot *tables[ORDERS]; /* [SLOTS] */
    int32_t n_pending;
    pending pending[MAX_PENDING];
    vouch_arena arena;
    size_t bytes;
} recycle;

/* --------------------------------------------------------------------- rows */

/* How surely: by the distance of the first to the second, of the others to the first, in logits. */
static uint8_t grade_of(const float *value, int32_t n, int32_t rank)
{
    static const float limits[GRADES - 1] = {0.5f, 1, 2, 3, 5};
    const float distance = rank > 0 ? value[0] - value[rank] : n > 1 ? value[0] - value[1] : 100;
    uint8_t grade = 0;
    while (grade < GRADES - 1 && distance >= limits[grade]) grade++;
    return grade;
}

/* Of the n tokens before `end`. */
static context context_of(const int32_t *end, int32_t n)
{
    context c;
    for (int32_t i = 0; i < ORDERS; i++) c.before[i] = i < n ? end[-1 - i] : -1;
    return c;
}

static void recycle_see(void *self, const int32_t *tokens, const vouch_seen *seen)
{
    recycle *r = self;
    if (r->n_pending == MAX_PENDING) return;
    pending *p = &r->pending[r->n_pending++];
    float value[N];
    p->n_tokens = seen->n_tokens;
    p->context = context_of(tokens + seen->n_tokens, seen->n_tokens);
    const int32_t n = vouch_find_top(r->kernels, seen->logits, r->n_vocab, N, p->row.tokens, value);
    for (int32_t i = 0; i < N; i++) {
        p->row.grades[i] = i < n ? grade_of(value, n, i) : 0;
        if (i >= n) p->row.tokens[i] = -1;
    }
}

/* ------------------------------------------------------------------- tables */

/* The slot for the first `order` tokens of a context, which are there; *key is what it holds then. */
static slot *slot_of(const recycle *r, int32_t order, const context *c, context *key)
{
    uint64_t hash = 0;
    for (int32_t i = 0; i < ORDERS; i++) {
        key->before[i] = i < order ? c->before[i] : -1;
        hash = vouch_hash_word(hash, (uint32_t)key->before[i]);
    }
    return &r->tables[order - 1][hash >> 7 & (SLOTS - 1)];
}

static void row_store(recycle *r, const context *c, const row *what)
{
    for (int32_t order = 1; order <= ORDERS && c->before[order - 1] >= 0; order++) {
        context key;
        slot *s = slot_of(r, order, c, &key);
        *s = (slot){.context = key, .row = *what};
    }
}

/* The row of the highest order; 0: there is none. */
static int32_t row_find(const recycle *r, const context *c, const row **out)
{
    for (int32_t order = ORDERS; order > 0; order--) {
        context key;
        if (c->before[order - 1] < 0) continue;
        const slot *s = slot_of(r, order, c, &key);
        *out = &s->row;
        if (memcmp(&s->context, &key, sizeof key) == 0) return order;
    }
    return 0;
}

/* Drops the first n of those pending. */
static void pending_drop(recycle *r, int32_t n)
{
    r->n_pending -= n;
    memmove(r->pending, r->pending + n, (size_t)r->n_pending * sizeof *r->pending);
}

/* Rows that are followed by a token of the sequence go into the tables. */
static void recycle_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    recycle *r = self;
    int32_t n = 0;
    (void)tokens;
    for (; n < r->n_pending && r->pending[n].n_tokens < n_tokens; n++)
        row_store(r, &r->pending[n].context, &r->pending[n].row);
    pending_drop(r, n);
}

/* Rows of what was never said. */
static void recycle_rewind(void *self, int32_t n_tokens)
{
    recycle *r = self;
    while (r->n_pending > 0 && r->pending[r->n_pending - 1].n_tokens > n_tokens) r->n_pending--;
}

static void tables_clear(recycle *r)
{
    for (int32_t order = 0; order < ORDERS; order++)
        for (int32_t i = 0; i < SLOTS; i++) r->tables[order][i].context.before[0] = -1;
}

static void recycle_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    recycle *r = self;
    (void)tokens;
    (void)n_tokens;
    if (r->forget) tables_clear(r);
}

/* --------------------------------------------------------------- candidates */

static int32_t kind_of(int32_t order, int32_t rank, uint8_t grade)
{
    return ((ORDERS - order) * RANKS + (rank < RANKS ? rank : RANKS - 1)) * GRADES + grade;
}

static int32_t recycle_expand(const void *self, const vouch_place *place, vouch_candidate *out)
{
    const context c = context_of(place->end, place->n_tail);
    const row *found;
    const int32_t order = row_find(self, &c, &found);
    int32_t n = 0;
    for (; order > 0 && n < N && found->tokens[n] >= 0; n++)
        out[n] = (vouch_candidate){found->tokens[n], kind_of(order, n, found->grades[n])};
    return n;
}

static int64_t recycle_start(const void *self)
{
    (void)self;
    return 0;
}

static int64_t recycle_step(const void *self, const vouch_place *place, int32_t token)
{
    (void)self;
    (void)place;
    (void)token;
    return 0;
}

/* As counted on 8,000 greedy tokens of SmolLM2-135M. */
static double recycle_prior(int32_t kind)
{
    static const double priors[ORDERS * RANKS][GRADES] = {
        {0.50, 0.56, 0.65, 0.76, 0.80, 0.90},   {0.160, 0.120, 0.084, 0.068, 0.046, 0.021},
        {0.100, 0.062, 0.06, 0.046, 0.035, 0.016}, {0.060, 0.043, 0.022, 0.015, 0.010, 0.007},
        {0.45, 0.51, 0.60, 0.71, 0.76, 0.85},   {0.160, 0.120, 0.084, 0.068, 0.046, 0.021},
        {0.100, 0.062, 0.06, 0.046, 0.035, 0.016}, {0.060, 0.043, 0.022, 0.015, 0.010, 0.007},
        {0.17, 0.19, 0.23, 0.20, 0.24, 0.30},   {0.130, 0.115, 0.077, 0.065, 0.080, 0.035},
        {0.070, 0.074, 0.07, 0.070, 0.042, 0.038}, {0.050, 0.046, 0.031, 0.020, 0.022, 0.014}};
    return kind == ORDERS * RANKS * GRADES ? 0.06 : priors[kind / GRADES][kind % GRADES];
}

/* -------------------------------------------------------------------- memory */

static void recycle_close(void *self)
{
    recycle *r = self;
    vouch_arena_free(&r->arena);
    free(r);
}

static size_t recycle_memory(const void *self)
{
    return ((const recycle *)self)->bytes;
}

static uint64_t recycle_digest(const void *self)
{
    const recycle *r = self;
    uint64_t hash = 0;
    for (int32_t order = 0; order < ORDERS; order++)
        for (int32_t i = 0; i < SLOTS; i++) {
            const slot *s = &r->tables[order][i];
            if (s->context.before[0] >= 0) hash = vouch_hash_bytes(vouch_hash_word(hash, (uint64_t)i), s, sizeof *s);
        }
    return hash;
}

static const vouch_source_ops recycle_ops = {
    .name = "recycle",
    .bit = VOUCH_DRAFTER_RECYCLE,
    .n_classes = ORDERS * RANKS * GRADES,
    .observe = recycle_observe,
    .begin = recycle_begin,
    .see = recycle_see,
    .rewind = recycle_rewind,
    .start = recycle_start,
    .step = recycle_step,
    .expand = recycle_expand,
    .prior = recycle_prior,
    .trust = 0.5,
    .close = recycle_close,
    .memory = recycle_memory,
    .digest = recycle_digest,
};

static void recycle_layout(recycle *r)
{
    for (int32_t i = 0; i < ORDERS; i++) r->tables[i] = vouch_arena_take(&r->arena, SLOTS, sizeof **r->tables);
}

vouch_status vouch_source_recycle_open(vouch_source *out, const vouch_kernels *kernels, int32_t n_vocab, bool forget,
                                       vouch_error *err)
{
    *out = (vouch_source){0};
    recycle *r = calloc(1, sizeof *r);
    if (!r) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for recycled tokens (%zu bytes)", sizeof *r);
    r->kernels = kernels;
    r->n_vocab = n_vocab;
    r->forget = forget;
    recycle_layout(r);
    r->bytes = sizeof *r + r->arena.used;
    const vouch_status status = vouch_arena_allocate(&r->arena, "recycled tokens", err);
    if (status != VOUCH_OK) {
        free(r);
        return status;
    }
    recycle_layout(r);
    tables_clear(r);
    *out = (vouch_source){.ops = &recycle_ops, .self = r};
    return VOUCH_OK;
}
