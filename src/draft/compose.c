/* SPDX-License-Identifier: MIT */
/*
 * Sources composed into one tree of guesses, grown best first.
 *
 *                         ┌ candidate   value 0.08
 *     sequence ──┬ node 0 ┼ node 2      value 0.45        value = product of the chances along the path,
 *       place 0  │ 0.80   └ candidate   value 0.02        that is, the chance that the guess is accepted
 *                └ node 1 ─ candidate   value 0.07
 *                  0.12
 *
 * A place is the sequence's end (0) or the end of node i's path (i + 1). Growing a node opens its place: every
 * source says what may follow, the same token from two sources being one candidate. The best candidate is grown
 * next, so the first n nodes are the best tree of n, whatever n, as long as nothing was drawn; and n is the one that
 * gives most tokens for its cost, (1 + sum of the n values) / cost of n + 1 rows. Growth ends where no further node
 * could change that.
 *
 * Another drafter's guesses may be part of it (guide.h): at places that it knows they are candidates beside those of
 * the sources, which branch off from them and go on behind them. Guesses that were drawn from q come first and all of
 * them, whatever they are worth, and keep their numbers: to leave one out for what it is would bias the text. That so
 * many were drawn was decided before. All others are point masses, and may be chosen by any of this (rejection.c).
 *
 * What a candidate's chance is, chance.h says. It is learned from every token of an answer, in the order of the
 * sequence: the sources are asked for the token's place before they are told the token, and then each candidate held
 * or didn't. So what is learned is a function of the tokens, whatever was drafted (law L3), and nothing has to be
 * explored.
 */
#include "draft/compose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
    MAX_PLACES = VOUCH_MAX_DRAFT + 1,
    MAX_CANDIDATES = MAX_PLACES * VOUCH_MAX_OPTIONS * 2, /* a place takes no more than twice one source's */
};

_Static_assert(VOUCH_MAX_TOP <= 2 * VOUCH_MAX_OPTIONS, "a place has room for all of a guide's guesses");

typedef struct candidate {
    int32_t token, place;
    unsigned drafters;
    bool grown, named; /* a node; by a source */
    double value;
    int32_t guess; /* of the guide; -1: it is none */
    vouch_opinion opinion, guided;
} candidate;

/* Candidates [first, last) are those of the place. */
typedef struct place {
    int32_t first, last;
    int32_t guided; /* the guide's place; -1: it has none here */
    int64_t cursor[VOUCH_MAX_SOURCES];
} place;

typedef struct compose {
    int32_t n_sources;
    vouch_source sources[VOUCH_MAX_SOURCES];
    vouch_chances chances;
    vouch_guide guide; /* of the last proposal */

    int32_t n_seen;    /* tokens that the sources know */
    int32_t n_learned; /* no token of the answer before this one is to be learned from; -1: there is no answer */
    bool is_judging;   /* the rows of this cycle have begun to come */

    /* The tree. */
    int32_t n_nodes, n_candidates;
    place places[MAX_PLACES];
    candidate candidates[MAX_CANDIDATES];
    int32_t node[VOUCH_MAX_DRAFT]; /* its candidate */
    int32_t guesses[VOUCH_MAX_DRAFT], parents[VOUCH_MAX_DRAFT], depths[VOUCH_MAX_DRAFT];
    unsigned drafters[VOUCH_MAX_DRAFT];
    const vouch_dist *q[VOUCH_MAX_DRAFT];
    double expected[MAX_PLACES]; /* tokens of a cycle with the first so many nodes */
    int32_t tail[VOUCH_TAIL + VOUCH_MAX_DRAFT];
    int32_t n_tail;
} compose;

/* ------------------------------------------------------------------- growth */

/* What the sources may look at before the place; `depth` guesses end there. */
static vouch_place view_of(compose *c, int32_t here)
{
    const int32_t depth = here == 0 ? 0 : c->depths[here - 1] + 1;
    int32_t *end = c->tail + c->n_tail + depth;
    for (int32_t n = here - 1, i = 1; n >= 0; n = c->parents[n], i++) end[-i] = c->guesses[n];
    const int32_t n_tail = c->n_tail + depth;
    return (vouch_place){.end = end, .n_tail = n_tail < VOUCH_TAIL ? n_tail : VOUCH_TAIL, .depth = depth};
}

static candidate *candidate_of(compose *c, place *p, int32_t here, int32_t token)
{
    for (int32_t i = p->first; i < p->last; i++)
        if (c->candidates[i].token == token) return &c->candidates[i];
    if (p->last - p->first == 2 * VOUCH_MAX_OPTIONS) return NULL;
    candidate *x = &c->candidates[p->last++];
    *x = (candidate){.token = token, .place = here, .guess = -1};
    memset(&x->opinion, VOUCH_SILENT, sizeof x->opinion);
    return x;
}

/* The values of a place's candidates, which exclude each other. `named`: the sources that have any. */
static void weigh(compose *c, const place *p, unsigned named, double value)
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

/* The guide's guesses for the place: none of them may be left out. */
static void name_guesses(compose *c, place *p, int32_t here)
{
    for (int32_t i = -1; (i = vouch_guide_next(&c->guide, p->guided, i)) >= 0;) {
        candidate *x = candidate_of(c, p, here, c->guide.tokens[i]);
        assert(x);
        x->guess = i;
        x->drafters = c->guide.drafters[i];
    }
    if (p->last == p->first) p->guided = -1;
}

/* Opens the place behind node here - 1, which is accepted with `value`; for the guide it is the place `guided`. */
static void place_open(compose *c, int32_t here, double value, int32_t guided)
{
    place *p = &c->places[here];
    vouch_place view = view_of(c, here);
    unsigned named = 0;
    p->first = p->last = c->n_candidates;
    p->guided = guided;
    if (guided >= 0) name_guesses(c, p, here);
    for (int32_t s = 0; s < c->n_sources; s++) {
        const vouch_source *source = &c->sources[s];
        vouch_candidate options[VOUCH_MAX_OPTIONS];
        if (here == 0) {
            p->cursor[s] = source->ops->start(source->self);
        } else {
            const int32_t before = c->parents[here - 1] + 1;
            const vouch_place above = {.end = view.end - 1,
                                       .n_tail = view.n_tail - 1,
                                       .depth = view.depth - 1,
                                       .cursor = c->places[before].cursor[s]};
            p->cursor[s] = source->ops->step(source->self, &above, view.end[-1]);
        }
        view.cursor = p->cursor[s];
        const int32_t n = source->ops->expand(source->self, &view, options);
        named |= (unsigned)(n > 0) << s;
        for (int32_t i = 0; i < n; i++) {
            candidate *x = candidate_of(c, p, here, options[i].token);
            if (!x) break;
            x->opinion.kind[s] = (int8_t)options[i].kind;
            x->drafters |= source->ops->bit;
            x->named = true;
        }
    }
    c->n_candidates = p->last;
    weigh(c, p, named, value);
}

/* The best candidate that the shape still has room for; -1: none. */
static int32_t best_candidate(const compose *c, const vouch_shape *shape, const int32_t *n_children)
{
    int32_t best = -1;
    for (int32_t i = 0; i < c->n_candidates; i++) {
        const candidate *x = &c->candidates[i];
        if (x->grown || (best >= 0 && x->value <= c->candidates[best].value)) continue;
        if (n_children[x->place] < shape->branches) best = i;
    }
    return best;
}

static void node_grow(compose *c, const vouch_shape *shape, int32_t index)
{
    candidate *x = &c->candidates[index];
    const int32_t n = c->n_nodes++;
    x->grown = true;
    c->node[n] = index;
    c->guesses[n] = x->token;
    c->parents[n] = x->place - 1;
    c->depths[n] = x->place == 0 ? 0 : c->depths[x->place - 1] + 1;
    c->drafters[n] = x->drafters;
    c->q[n] = x->guess >= 0 ? c->guide.q[x->guess] : NULL;
    c->expected[n + 1] = c->expected[n] + x->value;
    if (c->depths[n] + 1 < shape->depth) place_open(c, n + 1, x->value, x->guess >= 0 ? x->guess + 1 : -1);
    else c->places[n + 1] = (place){.first = 0, .last = 0};
}

/* Whether nodes beyond the first n, none of a value above this, could give more tokens for their cost than `best`. */
static bool is_worth(const compose *c, const vouch_shape *shape, double value, double best)
{
    const int32_t n = c->n_nodes;
    for (int32_t m = n + 1; m <= shape->n; m++)
        if (c->expected[n] + (m - n) * value > best * shape->cost[m + 1]) return true;
    return false;
}

/* The guesses drawn from q, under their own numbers. */
static void grow_drawn(compose *c, const vouch_shape *shape, int32_t *n_children)
{
    for (int32_t i = 0; c->guide.drawn && i < c->guide.n; i++) {
        const place *p = &c->places[c->guide.parents[i] + 1];
        int32_t index = p->first;
        while (index < p->last && c->candidates[index].guess != i) index++;
        assert(index < p->last);
        n_children[c->candidates[index].place]++;
        node_grow(c, shape, index);
    }
}

/* Grows nodes and returns how many of them to draft. */
static int32_t grow(compose *c, const vouch_shape *shape)
{
    int32_t n_children[MAX_PLACES] = {0};
    c->n_nodes = c->n_candidates = 0;
    c->expected[0] = 1;
    place_open(c, 0, 1, c->guide.n > 0 ? 0 : -1);
    grow_drawn(c, shape, n_children);
    int32_t n_best = c->n_nodes;
    double best = shape->cost ? c->expected[n_best] / shape->cost[n_best + 1] : 0;
    while (c->n_nodes < shape->n) {
        const int32_t next = best_candidate(c, shape, n_children);
        if (next < 0) break;
        if (shape->cost && !is_worth(c, shape, c->candidates[next].value, best)) break;
        n_children[c->candidates[next].place]++;
        node_grow(c, shape, next);
        const double yield = shape->cost ? c->expected[c->n_nodes] / shape->cost[c->n_nodes + 1] : 1;
        if (shape->cost && yield <= best) continue;
        best = yield;
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

static void learn_guided(compose *c, int32_t token, int32_t guided)
{
    c->n_candidates = 0;
    place_open(c, 0, 1, guided);
    for (int32_t i = 0; i < c->n_candidates; i++)
        vouch_chances_learn(&c->guide.chances, &c->candidates[i].guided, c->candidates[i].token == token);
}

/* The token that came after what the sources know: of its candidates each held or didn't. The sources' are counted as
 * if there were no guide. */
static void learn(compose *c, const int32_t *tokens)
{
    const int32_t token = tokens[c->n_seen], guided = vouch_guide_place(&c->guide, tokens, c->n_seen);
    set_tail(c, tokens, c->n_seen);
    c->n_nodes = 0;
    if (guided >= 0) learn_guided(c, token, guided);
    c->n_candidates = 0;
    place_open(c, 0, 1, -1);
    for (int32_t i = 0; i < c->n_candidates; i++)
        vouch_chances_learn(&c->chances, &c->candidates[i].opinion, c->candidates[i].token == token);
}

/* Tokens of a prompt at once, those of an answer one by one. */
static void compose_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    compose *c = self;
    while (c->n_seen < n_tokens) {
        const bool learns = c->n_learned >= 1 && c->n_seen >= c->n_learned;
        if (learns) learn(c, tokens);
        const int32_t prompt = c->n_learned > c->n_seen && c->n_learned < n_tokens ? c->n_learned : n_tokens;
        c->n_seen = learns ? c->n_seen + 1 : prompt;
        if (learns) c->n_learned = c->n_seen;
        for (int32_t s = 0; s < c->n_sources; s++)
            c->sources[s].ops->observe(c->sources[s].self, tokens, c->n_seen);
    }
}

static vouch_draft compose_propose(void *self, const int32_t *tokens, int32_t n_tokens, const vouch_shape *shape)
{
    compose *c = self;
    compose_observe(c, tokens, n_tokens);
    set_tail(c, tokens, n_tokens);
    vouch_guide_set(&c->guide, shape->guide, n_tokens);
    const int32_t n = grow(c, shape);
    bool is_chain = true;
    for (int32_t i = 0; i < n; i++) is_chain &= c->parents[i] == i - 1;
    return (vouch_draft){.n = n,
                         .tokens = c->guesses,
                         .parents = is_chain ? NULL : c->parents,
                         .q = c->guide.drawn ? c->q : NULL,
                         .drafters = c->drafters,
                         .expected = c->expected[n]};
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
    for (int32_t s = 0; s < c->n_sources; s++)
        if (c->sources[s].ops->end) c->sources[s].ops->end(c->sources[s].self, tokens, n_tokens);
}

/* Before the first row of a cycle the sequence is known as it is: so everything is learned without proposals, too. */
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

/* The tree isn't part of the state, nor what was measured with a guide. */
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
    .observe = compose_observe,
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

vouch_source vouch_drafter_compose_source(vouch_drafter_ref drafter, unsigned bit)
{
    const compose *c = drafter.self;
    for (int32_t s = 0; drafter.ops == &compose_ops && s < c->n_sources; s++)
        if (c->sources[s].ops->bit == bit) return c->sources[s];
    return (vouch_source){0};
}
