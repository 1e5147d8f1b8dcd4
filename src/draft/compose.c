/* SPDX-License-Identifier: MIT */
/*
 * Composes the candidates of all sources into one tree of guesses, the best first.
 *
 *                         ┌ candidate   value 0.08
 *     sequence ──┬ node 0 ┼ node 2      value 0.45        value: the chance that the guess is accepted, which is the
 *      prefix 0  │ 0.80   └ candidate   value 0.02        product of the chances along its path
 *                └ node 1 ─ candidate   value 0.07
 *                  0.12
 *
 * A prefix is the sequence (prefix 0), or the sequence and the path to node i (prefix i + 1). Adding a node opens its
 * prefix: every source names candidates for the next token there. The same token from two sources is one candidate.
 * Then the candidate with the largest value in the whole tree becomes the next node. So the first n nodes are the best
 * tree of n nodes, for every n, provided that no guess was drawn from q. The draft is the n that is
 * worth most (base/cost.h), with 1 + the sum of the n values as its tokens. Growth ends when no further node could
 * raise that.
 *
 * The guesses of a paid drafter can be part of the tree (guide.h). At a prefix of its own they are candidates beside
 * those of the sources, which add branches to them and continue them. Guesses drawn from q come first, all of them, and
 * keep their numbers: a choice among them by value would bias the text. Their number was decided before they were
 * drawn. All other guesses are point masses, so any choice among them is lossless (rejection.c).
 *
 * The chance of a candidate comes from chance.h, which learns from every token of an answer in order. Before the
 * sources are told a token, they name their candidates for it, and each candidate turns out right or wrong. So the
 * counts are a function of the tokens alone, whatever was drafted (law L3), and no exploration is needed.
 */
#include "draft/compose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    MAX_PREFIXES = VOUCH_MAX_DRAFT + 1,
    MAX_CANDIDATES = MAX_PREFIXES * VOUCH_MAX_OPTIONS * 2, /* a prefix has at most twice VOUCH_MAX_OPTIONS */
};

_Static_assert(VOUCH_MAX_TOP <= 2 * VOUCH_MAX_OPTIONS, "a prefix has room for all guesses of the guide");

typedef struct candidate {
    int32_t token, prefix;
    unsigned drafters;
    bool is_node, named; /* named: by a source */
    double value;
    int32_t guess; /* number of the same guess in the guide; -1: the guide doesn't guess it */
    vouch_opinion opinion, guided;
} candidate;

/* The candidates of a prefix are candidates[first, last). */
typedef struct prefix {
    int32_t first, last;
    int32_t guided; /* the number of the same prefix in the guide; -1: the guide has no guess here */
    int64_t cursor[VOUCH_MAX_SOURCES];
} prefix;

typedef struct compose {
    int32_t n_sources;
    vouch_source sources[VOUCH_MAX_SOURCES];
    vouch_chances chances;
    vouch_guide guide;            /* of the last draft */
    vouch_constraint *constraint; /* of the session's grammar; NULL: none */

    int32_t n_seen;    /* tokens that the sources know */
    int32_t n_learned; /* tokens before this position are not learned from (again); -1: there is no answer */
    bool is_judging;   /* a row of this cycle has been seen */

    /* The tree. */
    int32_t n_nodes, n_candidates;
    prefix prefixes[MAX_PREFIXES];
    candidate candidates[MAX_CANDIDATES];
    int32_t node[VOUCH_MAX_DRAFT]; /* [n_nodes] index of the node's candidate */
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT];
    unsigned drafters[VOUCH_MAX_DRAFT];
    const vouch_dist *q[VOUCH_MAX_DRAFT];
    double expected[MAX_PREFIXES]; /* [n]: expected tokens of a cycle whose draft is the first n nodes */
    int32_t tail[VOUCH_TAIL + VOUCH_MAX_DRAFT + 1];
    int32_t n_tail;
} compose;

/* ------------------------------------------------------------------- growth */

/* Prefix `here` as the sources see it: the last tokens of the sequence, then the guesses of the path. */
static vouch_prefix view_of(compose *c, int32_t here)
{
    const int32_t depth = here == 0 ? 0 : c->depths[here - 1] + 1;
    int32_t *end = c->tail + c->n_tail + depth;
    for (int32_t n = here - 1, i = 1; n >= 0; n = c->parents[n], i++) end[-i] = c->guesses[n];
    const int32_t n_tail = c->n_tail + depth;
    return (vouch_prefix){.end = end, .n_tail = n_tail < VOUCH_TAIL ? n_tail : VOUCH_TAIL, .depth = depth};
}

static candidate *candidate_of(compose *c, prefix *p, int32_t here, int32_t token)
{
    for (int32_t i = p->first; i < p->last; i++)
        if (c->candidates[i].token == token) return &c->candidates[i];
    if (p->last - p->first == 2 * VOUCH_MAX_OPTIONS) return NULL;
    candidate *x = &c->candidates[p->last++];
    *x = (candidate){.token = token, .prefix = here, .guess = -1};
    memset(&x->opinion, VOUCH_SILENT, sizeof x->opinion);
    return x;
}

/* Sets the values of a prefix's candidates. At most one of them is right, so their chances sum to 1 at most. `named`:
 * the sources that name a candidate here. `value`: the value of the node at which the prefix ends. */
static void weigh(compose *c, const prefix *p, unsigned named, double value)
{
    double sum = 0;
    for (int32_t i = p->first; i < p->last; i++) {
        candidate *x = &c->candidates[i];
        for (int32_t s = 0; s < c->n_sources; s++)
            if (named >> s & 1 && x->opinion.kind[s] == VOUCH_SILENT)
                x->opinion.kind[s] = (int8_t)c->sources[s].ops->n_classes;
        x->value = x->named ? vouch_chance_of(&c->chances, &x->opinion) : -1;
        if (p->guided >= 0) x->value = vouch_guide_chance(&c->guide, x->guess, x->value, &x->guided);
        sum += x->value;
    }
    const double scale = sum > 1 ? value / sum : value;
    for (int32_t i = p->first; i < p->last; i++) c->candidates[i].value *= scale;
}

/* Opens prefix `here`, which ends at node here - 1 with this value. `guided`: its number in the guide, or -1. */
static void prefix_open(compose *c, int32_t here, double value, int32_t guided)
{
    prefix *p = &c->prefixes[here];
    vouch_prefix view = view_of(c, here);
    unsigned named = 0;
    p->first = p->last = c->n_candidates;
    p->guided = guided;
    /* Every guess of the guide at this prefix is a candidate: none may be left out. */
    for (int32_t i = -1; guided >= 0 && (i = vouch_guide_next(&c->guide, guided, i)) >= 0;) {
        candidate *x = candidate_of(c, p, here, c->guide.tokens[i]);
        assert(x);
        x->guess = i;
        x->drafters = c->guide.drafters[i];
    }
    if (p->last == p->first) p->guided = -1;
    for (int32_t s = 0; s < c->n_sources; s++) {
        const vouch_source *source = &c->sources[s];
        vouch_candidate options[VOUCH_MAX_OPTIONS];
        if (here == 0) {
            p->cursor[s] = source->ops->start(source->self);
        } else {
            const int32_t before = c->parents[here - 1] + 1;
            const vouch_prefix above = {.end = view.end - 1,
                                        .n_tail = view.n_tail - 1,
                                        .depth = view.depth - 1,
                                        .cursor = c->prefixes[before].cursor[s]};
            p->cursor[s] = source->ops->step(source->self, &above, view.end[-1]);
        }
        view.cursor = p->cursor[s];
        const int32_t n = source->ops->expand(source->self, &view, options);
        named |= (unsigned)(n > 0) << s;
        for (int32_t i = 0; i < n; i++) {
            const int32_t token = options[i].token;
            c->tail[c->n_tail + view.depth] = token; /* the grammar is asked about the path and the token */
            if (c->constraint &&
                !vouch_constraint_allows(c->constraint, VOUCH_FOLLOWER_SOURCES, c->tail + c->n_tail, view.depth + 1))
                continue;
            candidate *x = candidate_of(c, p, here, token);
            if (!x) break;
            x->opinion.kind[s] = (int8_t)options[i].kind;
            x->drafters |= source->ops->bit;
            x->named = true;
        }
    }
    c->n_candidates = p->last;
    weigh(c, p, named, value);
}

/* The candidate with the largest value whose prefix has fewer than shape->branches nodes; -1: none. */
static int32_t best_candidate(const compose *c, const vouch_shape *shape, const int32_t *n_children)
{
    int32_t best = -1;
    for (int32_t i = 0; i < c->n_candidates; i++) {
        const candidate *x = &c->candidates[i];
        if (x->is_node || (best >= 0 && x->value <= c->candidates[best].value)) continue;
        if (n_children[x->prefix] < shape->branches) best = i;
    }
    return best;
}

static void node_add(compose *c, const vouch_shape *shape, int32_t index)
{
    candidate *x = &c->candidates[index];
    const int32_t n = c->n_nodes++;
    x->is_node = true;
    c->node[n] = index;
    c->guesses[n] = x->token;
    c->parents[n] = x->prefix - 1;
    c->depths[n] = x->prefix == 0 ? 0 : c->depths[x->prefix - 1] + 1;
    c->drafters[n] = x->drafters;
    c->q[n] = x->guess >= 0 ? c->guide.q[x->guess] : NULL;
    c->expected[n + 1] = c->expected[n] + x->value;
    if (c->depths[n] + 1 < shape->depth) prefix_open(c, n + 1, x->value, x->guess >= 0 ? x->guess + 1 : -1);
    else c->prefixes[n + 1] = (prefix){.first = 0, .last = 0};
}

/* Whether more nodes could be worth more than `best`, if none of them has a larger value than `value`. */
static bool could_pay(const compose *c, const vouch_shape *shape, double value, double best)
{
    const int32_t n = c->n_nodes;
    for (int32_t m = n + 1; m <= shape->n; m++)
        if (vouch_price_worth(&shape->price, c->expected[n] + (m - n) * value, m) > best) return true;
    return false;
}

/* Builds the tree and returns how many of its nodes to draft. */
static int32_t grow(compose *c, const vouch_shape *shape)
{
    int32_t n_children[MAX_PREFIXES] = {0};
    c->n_nodes = c->n_candidates = 0;
    c->expected[0] = 1;
    prefix_open(c, 0, 1, c->guide.n > 0 ? 0 : -1);
    for (int32_t i = 0; c->guide.drawn && i < c->guide.n; i++) { /* each under its own number */
        const int32_t parent = c->guide.parents[i] + 1;
        int32_t index = c->prefixes[parent].first;
        while (index < c->prefixes[parent].last && c->candidates[index].guess != i) index++;
        assert(index < c->prefixes[parent].last);
        n_children[parent]++;
        node_add(c, shape, index);
    }
    const vouch_price *price = shape->price.cost ? &shape->price : NULL;
    int32_t n_best = c->n_nodes;
    double best = price ? vouch_price_worth(price, c->expected[n_best], n_best) : 0;
    while (c->n_nodes < shape->n) {
        const int32_t next = best_candidate(c, shape, n_children);
        if (next < 0) break;
        if (price && !could_pay(c, shape, c->candidates[next].value, best)) break;
        n_children[c->candidates[next].prefix]++;
        node_add(c, shape, next);
        const double worth = price ? vouch_price_worth(price, c->expected[c->n_nodes], c->n_nodes) : best;
        if (price && worth <= best) continue;
        best = worth;
        n_best = c->n_nodes;
    }
    return n_best;
}

/* ------------------------------------------------------------------ drafter */

static void set_tail(compose *c, const int32_t *tokens, int32_t n_tokens)
{
    c->n_tail = n_tokens < VOUCH_TAIL ? n_tokens : VOUCH_TAIL;
    memcpy(c->tail, tokens + n_tokens - c->n_tail, (size_t)c->n_tail * sizeof *tokens);
}

/* Learns from the first token that the sources don't know yet: each candidate for it was right or wrong. The
 * guide doesn't change the counts of the sources. */
static void learn(compose *c, const int32_t *tokens)
{
    const int32_t token = tokens[c->n_seen], guided = vouch_guide_prefix(&c->guide, tokens, c->n_seen);
    set_tail(c, tokens, c->n_seen);
    c->n_nodes = 0;
    if (guided >= 0) {
        c->n_candidates = 0;
        prefix_open(c, 0, 1, guided);
        for (int32_t i = 0; i < c->n_candidates; i++)
            vouch_chances_learn(&c->guide.chances, &c->candidates[i].guided, c->candidates[i].token == token);
    }
    c->n_candidates = 0;
    prefix_open(c, 0, 1, -1);
    for (int32_t i = 0; i < c->n_candidates; i++)
        vouch_chances_learn(&c->chances, &c->candidates[i].opinion, c->candidates[i].token == token);
}

/* The grammar follows the tokens that the sources know. */
static void settle(compose *c, const int32_t *tokens)
{
    if (c->constraint) vouch_constraint_settle(c->constraint, VOUCH_FOLLOWER_SOURCES, tokens, c->n_seen);
}

/* The sources get a prompt in one call, and an answer token by token. */
static void compose_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    compose *c = self;
    while (c->n_seen < n_tokens) {
        settle(c, tokens);
        const bool learns = c->n_learned >= 1 && c->n_seen >= c->n_learned;
        if (learns) learn(c, tokens);
        const int32_t prompt = c->n_learned > c->n_seen && c->n_learned < n_tokens ? c->n_learned : n_tokens;
        c->n_seen = learns ? c->n_seen + 1 : prompt;
        if (learns) c->n_learned = c->n_seen;
        for (int32_t s = 0; s < c->n_sources; s++) c->sources[s].ops->observe(c->sources[s].self, tokens, c->n_seen);
    }
    settle(c, tokens);
}

static vouch_draft compose_around(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape,
                                  const vouch_draft *guide)
{
    compose *c = self;
    compose_observe(c, tokens, n_tokens);
    set_tail(c, tokens, n_tokens);
    vouch_guide_set(&c->guide, guide, n_tokens);
    const int32_t n = grow(c, shape);
    bool is_chain = true;
    for (int32_t i = 0; i < n; i++) is_chain &= c->parents[i] == i - 1;
    return (vouch_draft){.n = n,
                         .tokens = c->guesses,
                         .parents = is_chain ? NULL : c->parents,
                         .q = c->guide.drawn ? c->q : NULL,
                         .paths = c->guide.has_paths ? c->guide.paths : NULL,
                         .drafters = c->drafters,
                         .expected = c->expected};
}

static vouch_draft compose_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    return compose_around(self, tokens, n_tokens, shape, NULL);
}

static void compose_skip(void *self, int32_t n_tokens)
{
    compose *c = self;
    if (c->n_learned >= 0 && c->n_learned < n_tokens) c->n_learned = n_tokens;
}

static void compose_begin(void *self, const int32_t *tokens, int32_t n_tokens)
{
    compose *c = self;
    c->n_learned = n_tokens;
    for (int32_t s = 0; s < c->n_sources; s++)
        if (c->sources[s].ops->begin) c->sources[s].ops->begin(c->sources[s].self, tokens, n_tokens);
}

static void compose_end(void *self, const int32_t *tokens, int32_t n_tokens)
{
    compose *c = self;
    compose_observe(c, tokens, n_tokens);
    c->n_learned = -1;
}

/* Sources catch up with the sequence at the first row of each cycle, so a session that never drafts learns the same. */
static void compose_see(void *self, const int32_t *tokens, const vouch_seen *row)
{
    compose *c = self;
    if (!c->is_judging) compose_observe(c, tokens, row->n_tokens);
    c->is_judging = true;
    for (int32_t s = 0; s < c->n_sources; s++)
        if (c->sources[s].ops->see) c->sources[s].ops->see(c->sources[s].self, tokens, row);
}

static void compose_rewind(void *self, int32_t n_tokens)
{
    compose *c = self;
    c->is_judging = false;
    if (n_tokens < c->n_seen) c->n_seen = n_tokens;
    if (n_tokens < c->guide.n_tokens) vouch_guide_set(&c->guide, NULL, 0);
    for (int32_t s = 0; s < c->n_sources; s++) c->sources[s].ops->rewind(c->sources[s].self, n_tokens);
}

static void sources_close(const vouch_source *sources, int32_t n)
{
    for (int32_t s = 0; s < n; s++) sources[s].ops->close(sources[s].self);
}

static void compose_close(void *self)
{
    compose *c = self;
    sources_close(c->sources, c->n_sources);
    free(c);
}

static size_t compose_memory(const void *self)
{
    const compose *c = self;
    size_t bytes = sizeof *c;
    for (int32_t s = 0; s < c->n_sources; s++) bytes += c->sources[s].ops->memory(c->sources[s].self);
    return bytes;
}

/* Leaves out the tree, and the counts that a guide adds. */
static uint64_t compose_digest(const void *self)
{
    const compose *c = self;
    uint64_t hash = vouch_chances_digest(&c->chances) ^ ((uint64_t)c->n_seen << 32 | (uint32_t)c->n_learned);
    for (int32_t s = 0; s < c->n_sources; s++)
        hash = vouch_hash_word(hash, c->sources[s].ops->digest(c->sources[s].self));
    return hash;
}

static const vouch_drafter_ops compose_ops = {
    .name = "compose",
    .propose = compose_propose,
    .propose_around = compose_around,
    .observe = compose_observe,
    .skip = compose_skip,
    .begin = compose_begin,
    .end = compose_end,
    .see = compose_see,
    .rewind = compose_rewind,
    .close = compose_close,
    .memory = compose_memory,
    .digest = compose_digest,
};

vouch_status vouch_drafter_compose_open(vouch_drafter_ref *out, const vouch_source *sources, int32_t n_sources,
                                        vouch_error *err)
{
    assert(n_sources >= 0 && n_sources <= VOUCH_MAX_SOURCES);
    *out = (vouch_drafter_ref){0};
    compose *c = calloc(1, sizeof *c);
    if (!c) {
        sources_close(sources, n_sources);
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the drafters (%zu bytes)", sizeof *c);
    }
    c->n_sources = n_sources;
    c->n_learned = -1;
    for (int32_t s = 0; s < n_sources; s++) c->sources[s] = sources[s];
    vouch_chances_init(&c->chances, sources, n_sources);
    vouch_guide_init(&c->guide);
    *out = (vouch_drafter_ref){.ops = &compose_ops, .self = c};
    return VOUCH_OK;
}

void vouch_drafter_compose_bind(vouch_drafter_ref drafter, vouch_constraint *constraint)
{
    ((compose *)drafter.self)->constraint = constraint;
}

vouch_source vouch_drafter_compose_source(vouch_drafter_ref drafter, unsigned bit)
{
    const compose *c = drafter.self;
    for (int32_t s = 0; drafter.ops == &compose_ops && s < c->n_sources; s++)
        if (c->sources[s].ops->bit == bit) return c->sources[s];
    return (vouch_source){0};
}
