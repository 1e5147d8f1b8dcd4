/* SPDX-License-Identifier: MIT */
/*
 * Token Recycling (Luo et al., arXiv 2408.08696). For each row of the target along the answer, the source keeps the
 * likeliest tokens under three keys: the last three, the last two and the last token before the row. When the same
 * three tokens come again, or else the same two, or else the same one, the kept tokens are the candidates. That needs
 * no search and no training, and the tree grows wide where the target was in doubt.
 *
 *   hash of (c)        ──► slot  [ c - - | rows | 8 tokens | 8 shares ]   ORDERS tables of such slots.
 *   hash of (c, b)     ──► slot  [ c b - | rows | 8 tokens | 8 shares ]   Where two contexts share a slot,
 *   hash of (c, b, a)  ──► slot  [ c b a | rows | 8 tokens | 8 shares ]   the later one has it.
 *
 * Opening writes nothing: a slot counts only while its generation is the drafter's, and memory that was never written
 * has generation 0. Forgetting starts the next generation.
 *
 * Rows of the same context are averaged, where the paper keeps the last one: the target looks at more than three
 * tokens, so the mean of several rows predicts the next better than the last row does. A token's class is the order
 * and the token's share.
 *
 * Rows after rejected guesses are not used, although the pass has computed them. (They would add 1 to 2 % of speed.)
 * So plain decoding leaves the same tables (law L3): 1,000 tokens of answer are 1,000 rows, whatever was
 * guessed. A row enters the tables with the token that follows it, so that the candidates for a position can be asked
 * for before its token is known.
 */
#include "draft/free/recycle.h"
#include "draft/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "base/hash.h"
#include "base/memory.h"
#include "sample/sample.h"

enum { ORDERS = 3, LEVELS = 13, N = VOUCH_MAX_TOP };
/* A table has at least SLOTS_EACH slots for each token of the context, so that few contexts share one, and at most
 * MOST_SLOTS. Short answers write small tables: fresh memory costs the system's time to clear it. */
enum { SLOTS_EACH = 4, MOST_SLOTS = 1 << 15 };
enum { WHOLE = UINT16_MAX }; /* a share of 1 */
enum { MOST_ROWS = 16 };     /* in a mean; each further row then counts for a 16th */
_Static_assert((int)N <= (int)VOUCH_MAX_OPTIONS, "every kept token can be a candidate");
enum { MAX_PENDING = VOUCH_MAX_DRAFT + 2 }; /* the rows of a cycle and of the token before it */

typedef struct row {
    int32_t tokens[N];  /* the likeliest first; -1: no more */
    uint16_t shares[N]; /* of the N tokens' total, in 1 / WHOLE. In a mean they sum to less: some tokens have left it */
} row;

/* The tokens before a row, the last one first; -1 beyond the order. */
typedef struct context {
    int32_t before[ORDERS];
} context;

typedef struct slot {
    context context;
    uint16_t n_rows;     /* rows in the mean, at most MOST_ROWS */
    uint16_t generation; /* the slot is empty unless this equals the drafter's; 0 in memory never written */
    row row;
} slot;
_Static_assert(sizeof(slot) == 64, "a slot fills one cache line");

/* A row that may turn out not to be part of the answer. */
typedef struct pending {
    int32_t n_tokens; /* tokens of the sequence before the row */
    context context;  /* the ORDERS tokens before the row */
    row row;
} pending;

typedef struct recycle {
    const vouch_kernels *kernels;
    int32_t n_vocab;
    bool forget;
    uint16_t generation;  /* of the slots in use, from 1 on */
    int32_t n_slots;      /* of a table; a power of two */
    slot *tables[ORDERS]; /* [n_slots] */
    int32_t n_pending;
    pending pending[MAX_PENDING];
    vouch_arena arena;
    size_t bytes;
} recycle;

/* --------------------------------------------------------------------- rows */

/* The softmax of n logits, all finite, in descending order. */
static row row_of(const int32_t *tokens, const float *logits, int32_t n)
{
    row r;
    double odds[N], sum = 0;
    for (int32_t i = 0; i < n; i++) {
        const double less = (double)logits[0] - (double)logits[i];
        sum += odds[i] = less < 50 ? vouch_power(VOUCH_E, -less) : 0;
    }
    for (int32_t i = 0; i < N; i++) {
        r.tokens[i] = i < n ? tokens[i] : -1;
        r.shares[i] = i < n ? (uint16_t)(odds[i] / sum * WHOLE + 0.5) : 0;
    }
    return r;
}

/* Inserts a token after tokens with the same share. The last of N leaves the row. */
static void row_insert(row *r, int32_t token, uint32_t share)
{
    int32_t at = N;
    for (; at > 0 && (r->tokens[at - 1] < 0 || share > r->shares[at - 1]); at--) {
        if (at == N) continue;
        r->tokens[at] = r->tokens[at - 1];
        r->shares[at] = r->shares[at - 1];
    }
    if (at == N) return;
    r->tokens[at] = token;
    r->shares[at] = (uint16_t)share;
}

/* The token's index in the row; -1: it isn't there. */
static int32_t index_of(const row *r, int32_t token)
{
    int32_t i = N - 1;
    while (i >= 0 && r->tokens[i] != token) i--;
    return i;
}

/* The mean of n rows, from the mean of the first n - 1 and the last row. */
static row row_mean(const row *others, const row *last, uint32_t n)
{
    row mean = row_of(NULL, NULL, 0);
    for (int32_t i = 0; i < N && others->tokens[i] >= 0; i++) {
        const int32_t again = index_of(last, others->tokens[i]);
        const uint32_t share = (n - 1) * others->shares[i] + (again >= 0 ? last->shares[again] : 0);
        row_insert(&mean, others->tokens[i], share / n);
    }
    for (int32_t i = 0; i < N && last->tokens[i] >= 0; i++)
        if (index_of(others, last->tokens[i]) < 0) row_insert(&mean, last->tokens[i], last->shares[i] / n);
    return mean;
}

/* The context of the n tokens before `end`. */
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
    int32_t top[N];
    float logits[N];
    const int32_t n = vouch_find_top(r->kernels, seen->logits, r->n_vocab, N, top, logits);
    p->n_tokens = seen->n_tokens;
    p->context = context_of(tokens + seen->n_tokens, seen->n_tokens);
    p->row = row_of(top, logits, n);
}

/* ------------------------------------------------------------------- tables */

/* The slot for the first `order` tokens of a context, which must be there. *key: the context that the slot then has. */
static slot *slot_of(const recycle *r, int32_t order, const context *c, context *key)
{
    uint64_t hash = 0;
    for (int32_t i = 0; i < ORDERS; i++) {
        key->before[i] = i < order ? c->before[i] : -1;
        hash = vouch_hash_word(hash, (uint32_t)key->before[i]);
    }
    return &r->tables[order - 1][hash >> 7 & (uint64_t)(r->n_slots - 1)];
}

static bool slot_holds(const recycle *r, const slot *s, const context *key)
{
    return s->generation == r->generation && memcmp(&s->context, key, sizeof *key) == 0;
}

static void row_store(recycle *r, const context *c, const row *what)
{
    for (int32_t order = 1; order <= ORDERS && c->before[order - 1] >= 0; order++) {
        context key;
        slot *s = slot_of(r, order, c, &key);
        const bool is_known = slot_holds(r, s, &key);
        const uint32_t n = !is_known ? 1 : s->n_rows < MOST_ROWS ? s->n_rows + 1u : MOST_ROWS;
        *s = (slot){.context = key,
                    .n_rows = (uint16_t)n,
                    .generation = r->generation,
                    .row = is_known ? row_mean(&s->row, what, n) : *what};
    }
}

/* Finds the row of the highest order. Returns the order; 0: there is none. */
static int32_t row_find(const recycle *r, const context *c, const row **out)
{
    for (int32_t order = ORDERS; order > 0; order--) {
        context key;
        if (c->before[order - 1] < 0) continue;
        const slot *s = slot_of(r, order, c, &key);
        *out = &s->row;
        if (slot_holds(r, s, &key)) return order;
    }
    return 0;
}

/* Drops the first n pending rows. */
static void pending_drop(recycle *r, int32_t n)
{
    r->n_pending -= n;
    memmove(r->pending, r->pending + n, (size_t)r->n_pending * sizeof *r->pending);
}

/* A pending row enters the tables once the sequence has a token after it. */
static void recycle_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    recycle *r = self;
    int32_t n = 0;
    (void)tokens;
    for (; n < r->n_pending && r->pending[n].n_tokens < n_tokens; n++)
        row_store(r, &r->pending[n].context, &r->pending[n].row);
    pending_drop(r, n);
}

/* Drops the pending rows that have more than n_tokens tokens of the sequence before them. */
static void recycle_rewind(void *self, int32_t n_tokens)
{
    recycle *r = self;
    while (r->n_pending > 0 && r->pending[r->n_pending - 1].n_tokens > n_tokens) r->n_pending--;
}

/* Empties all slots at once. Writes the tables only when all numbers of generations are used up. */
static void tables_clear(recycle *r)
{
    if (r->generation == UINT16_MAX) {
        for (int32_t order = 0; order < ORDERS; order++) memset(r->tables[order], 0, (size_t)r->n_slots * sizeof(slot));
        r->generation = 0;
    }
    r->generation++;
}

static void recycle_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    recycle *r = self;
    (void)tokens;
    (void)n_tokens;
    if (r->forget) tables_clear(r);
}

/* --------------------------------------------------------------- candidates */

static int32_t kind_of(int32_t order, uint16_t share)
{
    static const double limits[LEVELS - 1] = {0.005, 0.015, 0.04, 0.08, 0.15, 0.25, 0.4, 0.55, 0.7, 0.82, 0.92, 0.97};
    int32_t level = 0;
    while (level < LEVELS - 1 && share >= limits[level] * WHOLE) level++;
    return (ORDERS - order) * LEVELS + level;
}

static int32_t recycle_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const recycle *r = self;
    const context c = context_of(prefix->end, prefix->n_tail);
    const row *found;
    const int32_t order = row_find(r, &c, &found);
    int32_t n = 0;
    for (; order > 0 && n < N && found->tokens[n] >= 0; n++)
        out[n] = (vouch_candidate){found->tokens[n], kind_of(order, found->shares[n])};
    return n;
}

static int64_t recycle_start(const void *self)
{
    (void)self;
    return 0;
}

static int64_t recycle_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    (void)self;
    (void)prefix;
    (void)token;
    return 0;
}

/* Counted on 48,000 tokens of SmolLM2-135M, half of them greedy. */
static double recycle_prior(int32_t kind)
{
    static const double priors[ORDERS][LEVELS] = {
        {0.005, 0.013, 0.015, 0.03, 0.06, 0.14, 0.30, 0.50, 0.68, 0.80, 0.87, 0.90, 0.93},
        {0.012, 0.018, 0.022, 0.035, 0.06, 0.11, 0.20, 0.25, 0.36, 0.48, 0.58, 0.60, 0.74},
        {0.014, 0.020, 0.020, 0.038, 0.07, 0.12, 0.16, 0.21, 0.27, 0.30, 0.32, 0.37, 0.50}};
    return kind == ORDERS * LEVELS ? 0.05 : priors[kind / LEVELS][kind % LEVELS];
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
        for (int32_t i = 0; i < r->n_slots; i++) {
            const slot *s = &r->tables[order][i];
            if (s->generation != r->generation) continue;
            hash = vouch_hash_word(vouch_hash_word(hash, (uint64_t)i), s->n_rows);
            hash = vouch_hash_bytes(hash, &s->context, sizeof s->context);
            hash = vouch_hash_bytes(hash, &s->row, sizeof s->row);
        }
    return hash;
}

static const vouch_source_ops recycle_ops = {
    .name = "recycle",
    .bit = VOUCH_DRAFTER_RECYCLE,
    .n_classes = ORDERS * LEVELS,
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
    const size_t n = (size_t)r->n_slots;
    for (int32_t i = 0; i < ORDERS; i++) r->tables[i] = vouch_arena_take(&r->arena, n, sizeof **r->tables);
}

static int32_t slots_for(int32_t n_ctx)
{
    int32_t n = 1;
    while (n < MOST_SLOTS && n / SLOTS_EACH < n_ctx) n *= 2;
    return n;
}

vouch_status vouch_source_recycle_open(vouch_source *out, const vouch_kernels *kernels, int32_t n_vocab, int32_t n_ctx,
                                       bool forget, vouch_error *err)
{
    *out = (vouch_source){0};
    recycle *r = calloc(1, sizeof *r);
    if (!r) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for recycled tokens (%zu bytes)", sizeof *r);
    r->kernels = kernels;
    r->n_vocab = n_vocab;
    r->n_slots = slots_for(n_ctx);
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

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_recycle_open(out, setup->target->kernels, setup->target_tokens.n, setup->n_ctx,
                                     setup->speculation->forget, err);
}

const vouch_drafter_type vouch_drafter_type_recycle = {.in_auto = true, .settings = "forget", .open_free = open_free};
