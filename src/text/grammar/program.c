/* SPDX-License-Identifier: MIT */
/* From expressions to an automaton (program.h), with the checks that keep every walk over it finite. */
#include "text/grammar/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/grammar/alternatives.h"
#include "text/grammar/names.h"

enum { NEVER = UINT16_MAX, MERGED = 2 }; /* choices of so many alternatives are merged */

typedef struct program {
    vouch_builder *builder;
    vouch_grammar *grammar;
    int32_t *entry;     /* [n_rules] a rule's first node */
    int32_t *rule_of;   /* [n_nodes] */
    bool *is_nullable;  /* [n_nodes] the node reaches the end of its rule without a byte */
    int32_t room, rule; /* the rule whose nodes are added */
    int32_t *known;     /* [n_known] an open hash table of nodes + 1, so that equal ones are one; 0: free */
    int32_t n_known;    /* a power of 2 */
    int32_t n_given;    /* expressions of the notation; those from here on come from merging choices */
} program;

/* -------------------------------------------------------------------- nodes */

static int32_t add(program *p, vouch_grammar_node node)
{
    vouch_grammar *g = p->grammar;
    if (p->builder->status != VOUCH_OK) return 0;
    if (g->n_nodes == VOUCH_GRAMMAR_LARGEST) {
        vouch_builder_fail(p->builder, VOUCH_E_UNSUPPORTED,
                           "the grammar is too large: its automaton has more than %d nodes; use smaller counts",
                           VOUCH_GRAMMAR_LARGEST);
        return 0;
    }
    if (g->n_nodes == p->room) {
        const int32_t room = p->room > 0 ? 2 * p->room : 256;
        void *nodes = realloc(g->nodes, (size_t)room * sizeof *g->nodes);
        if (nodes) g->nodes = nodes;
        void *rules = nodes ? realloc(p->rule_of, (size_t)room * sizeof *p->rule_of) : NULL;
        if (!rules) {
            vouch_builder_fail(p->builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
            return 0;
        }
        p->rule_of = rules;
        p->room = room;
    }
    node.need = NEVER;
    g->nodes[g->n_nodes] = node;
    p->rule_of[g->n_nodes] = p->rule;
    return g->n_nodes++;
}

/* The slot of an equal node, or the free slot where it belongs. */
static int32_t *slot_of(const program *p, const vouch_grammar_node *node)
{
    const uint64_t hash =
        vouch_hash_word(vouch_hash_word((uint64_t)node->kind << 16 | (uint64_t)node->first << 8 | node->last,
                                        (uint64_t)node->next),
                        (uint64_t)node->other);
    for (int32_t at = (int32_t)(hash & (uint64_t)(p->n_known - 1));; at = (at + 1) & (p->n_known - 1)) {
        int32_t *slot = &p->known[at];
        if (*slot == 0) return slot;
        const vouch_grammar_node *one = &p->grammar->nodes[*slot - 1];
        if (one->kind == node->kind && one->first == node->first && one->last == node->last &&
            one->next == node->next && one->other == node->other)
            return slot;
    }
}

/* Makes the table twice as large. */
static bool grow_known(program *p)
{
    int32_t *before = p->known;
    const int32_t n = p->n_known;
    p->known = calloc(n > 0 ? 2 * (size_t)n : 1024, sizeof *p->known);
    if (!p->known) {
        vouch_builder_fail(p->builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
        p->known = before;
        return false;
    }
    p->n_known = n > 0 ? 2 * n : 1024;
    for (int32_t i = 0; i < n; i++)
        if (before[i]) *slot_of(p, &p->grammar->nodes[before[i] - 1]) = before[i];
    free(before);
    return true;
}

/* Returns a node like this one, which never changes. So texts with a common end share its nodes. */
static int32_t add_shared(program *p, vouch_grammar_node node)
{
    if (p->builder->status != VOUCH_OK) return 0;
    if (2 * p->grammar->n_nodes >= p->n_known && !grow_known(p)) return 0;
    int32_t *slot = slot_of(p, &node);
    if (*slot > 0) return *slot - 1;
    const int32_t at = add(p, node);
    if (p->builder->status == VOUCH_OK) *slot = at + 1;
    return at;
}

static int32_t add_split(program *p, int32_t next, int32_t other)
{
    return add(p, (vouch_grammar_node){.kind = VOUCH_NODE_SPLIT, .next = next, .other = other});
}

/* A node that never reaches the end: a split that leads to itself. */
static int32_t add_trap(program *p)
{
    const int32_t trap = p->grammar->n_nodes;
    return add_split(p, trap, trap);
}

/* A split that doesn't change. */
static int32_t add_either(program *p, int32_t next, int32_t other)
{
    if (next == other) return next;
    return add_shared(p, (vouch_grammar_node){.kind = VOUCH_NODE_SPLIT, .next = next, .other = other});
}

static int32_t emit(program *p, vouch_expression expression, int32_t next);

static int32_t emit_repeat(program *p, const vouch_expression_node *e, int32_t next)
{
    int32_t at = next;
    if (e->last < 0) {
        at = add_split(p, 0, next);
        const int32_t body = emit(p, e->child, at);
        if (p->builder->status == VOUCH_OK) p->grammar->nodes[at].next = body;
    }
    for (int32_t i = e->first; i < e->last && p->builder->status == VOUCH_OK; i++)
        at = add_either(p, emit(p, e->child, at), next);
    for (int32_t i = 0; i < e->first && p->builder->status == VOUCH_OK; i++) at = emit(p, e->child, at);
    return at;
}

/* Adds the nodes of an expression that goes on at `next`. Returns its first node. Expressions may be added meanwhile,
 * so no pointer to one is kept. */
static int32_t emit(program *p, vouch_expression expression, int32_t next)
{
    static const uint8_t kinds[] = {[VOUCH_EXPRESSION_RULE] = VOUCH_NODE_CALL,
                                    [VOUCH_EXPRESSION_OBJECT] = VOUCH_NODE_OBJECT,
                                    [VOUCH_EXPRESSION_NAME] = VOUCH_NODE_NAME,
                                    [VOUCH_EXPRESSION_ROOM] = VOUCH_NODE_ROOM};
    vouch_builder *b = p->builder;
    if (b->status != VOUCH_OK) return 0;
    const vouch_expression_node copy = b->nodes[expression], *e = &copy;
    int32_t at = next;
    switch (e->kind) {
    case VOUCH_EXPRESSION_BYTES:
        return add_shared(p, (vouch_grammar_node){.kind = VOUCH_NODE_BYTES,
                                                  .first = (uint8_t)e->first,
                                                  .last = (uint8_t)e->last,
                                                  .next = next});
    case VOUCH_EXPRESSION_SEQUENCE:
        for (int32_t i = e->last - 1; i >= e->first; i--) at = emit(p, b->children[i], at);
        return at;
    case VOUCH_EXPRESSION_CHOICE:
        if (e->first == e->last) return add_trap(p);
        if (expression < p->n_given && e->last - e->first >= MERGED)
            return emit(p, vouch_expression_merge(b, expression), next);
        at = emit(p, b->children[e->last - 1], next);
        for (int32_t i = e->last - 2; i >= e->first; i--) at = add_either(p, emit(p, b->children[i], next), at);
        return at;
    case VOUCH_EXPRESSION_REPEAT: return emit_repeat(p, e, next);
    default: /* the rule's number now; its first node once every rule has one */
        return add_shared(p, (vouch_grammar_node){
                                 .kind = kinds[e->kind], .first = (uint8_t)e->first, .next = next, .other = e->child});
    }
}

static void emit_rules(program *p)
{
    vouch_builder *b = p->builder;
    p->n_given = b->n_nodes;
    for (int32_t i = 0; i < b->n_rules; i++)
        if (b->rules[i].body < 0)
            vouch_builder_fail(b, VOUCH_E_ARGUMENT, "the rule %s is used but not defined", b->rules[i].name);
    for (int32_t i = 0; i < b->n_rules && b->status == VOUCH_OK; i++) {
        p->rule = i;
        const int32_t end = add(p, (vouch_grammar_node){.kind = VOUCH_NODE_END});
        p->entry[i] = emit(p, b->rules[i].body, end);
        if (b->status != VOUCH_OK) return;
    }
    for (int32_t i = 0; i < p->grammar->n_nodes; i++) {
        vouch_grammar_node *node = &p->grammar->nodes[i];
        if (node->kind == VOUCH_NODE_CALL || node->kind >= VOUCH_NODE_OBJECT) node->other = p->entry[node->other];
        p->grammar->has_names |= node->kind == VOUCH_NODE_NAME;
        p->grammar->restricts_names |= node->kind == VOUCH_NODE_NAME && node->first;
    }
}

/* -------------------------------------------------------- facts about nodes */

/* The need of a node from the needs of the nodes after it. */
static uint16_t need_of(const vouch_grammar *g, const vouch_grammar_node *node)
{
    if (node->kind == VOUCH_NODE_END) return 0;
    const uint16_t next = g->nodes[node->next].need;
    if (node->kind == VOUCH_NODE_BYTES || node->kind == VOUCH_NODE_ROOM) return next;
    uint16_t other = g->nodes[node->other].need;
    if (node->kind == VOUCH_NODE_SPLIT) return next < other ? next : other;
    if (next == NEVER || other == NEVER) return NEVER;
    if (node->kind != VOUCH_NODE_CALL || g->nodes[node->next].kind != VOUCH_NODE_END) other++;
    return next > other ? next : other;
}

/* Needs only fall. Those above VOUCH_STACK_DEPTH are not followed, so a node's need changes at most so many times. */
static bool lower_need(program *p, int32_t i)
{
    vouch_grammar_node *node = &p->grammar->nodes[i];
    const uint16_t need = need_of(p->grammar, node);
    if (need >= node->need || need > VOUCH_STACK_DEPTH) return false;
    node->need = need;
    return true;
}

static bool is_call(const vouch_grammar_node *node)
{
    return node->kind == VOUCH_NODE_CALL || node->kind == VOUCH_NODE_OBJECT || node->kind == VOUCH_NODE_NAME;
}

/* The bytes with which texts from a node on begin. False: a rule ends or begins before. */
static bool first_bytes(const vouch_grammar *g, int32_t at, uint64_t set[4])
{
    const vouch_grammar_node *node = &g->nodes[at];
    for (; node->kind == VOUCH_NODE_SPLIT; node = &g->nodes[node->next])
        if (node->next == node - g->nodes || !first_bytes(g, node->other, set)) return false;
    if (node->kind != VOUCH_NODE_BYTES) return false;
    for (int byte = node->first; byte <= node->last; byte++) set[byte / 64] |= UINT64_C(1) << byte % 64;
    return true;
}

/* The fewest words from a node on: of two ways that may have the same words, those of one. */
static bool raise_words(program *p, int32_t i)
{
    const vouch_grammar *g = p->grammar;
    vouch_grammar_node *node = &g->nodes[i];
    const int32_t next = node->kind == VOUCH_NODE_END ? 0 : g->nodes[node->next].words;
    const bool has_other = node->kind == VOUCH_NODE_SPLIT || is_call(node);
    const int32_t other = has_other ? g->nodes[node->other].words : 0, larger = next > other ? next : other;
    int32_t words = node->kind == VOUCH_NODE_END ? 1 : next;
    if (node->kind == VOUCH_NODE_BYTES) words = next * (node->last - node->first + 1);
    if (is_call(node)) words = next > 0 && other > 0 ? larger : 0;
    if (node->kind == VOUCH_NODE_SPLIT) {
        uint64_t x[4] = {0}, y[4] = {0};
        bool differ = next > 0 && other > 0 && larger < VOUCH_WORDS && first_bytes(g, node->next, x) &&
                      first_bytes(g, node->other, y);
        for (int j = 0; j < 4; j++) differ &= (x[j] & y[j]) == 0;
        words = differ ? next + other : larger;
    }
    if (words > VOUCH_WORDS) words = VOUCH_WORDS;
    if (words <= node->words) return false;
    node->words = (uint8_t)words;
    return true;
}

/* Whether the node reaches the end of its rule without a byte. */
static bool find_nullable(program *p, int32_t i)
{
    const vouch_grammar_node *node = &p->grammar->nodes[i];
    bool now = node->kind == VOUCH_NODE_END;
    if (node->kind == VOUCH_NODE_SPLIT) now = p->is_nullable[node->next] || p->is_nullable[node->other];
    if (node->kind == VOUCH_NODE_ROOM) now = p->is_nullable[node->next];
    if (is_call(node)) now = p->is_nullable[node->next] && p->is_nullable[node->other];
    if (!now || p->is_nullable[i]) return false;
    p->is_nullable[i] = true;
    return true;
}

/* The nodes that lead to each node, as lists, and the nodes whose fact has changed. */
typedef struct leads {
    int32_t *head, *link; /* link [2 n_nodes]: number 2 i is node i's `next`, 2 i + 1 its `other`; -1 ends a list */
    int32_t *queue;       /* [n_nodes + 1] a ring */
    bool *is_queued;
} leads;

static void leads_free(leads *l)
{
    free(l->head);
    free(l->link);
    free(l->queue);
    free(l->is_queued);
}

static bool leads_fill(leads *l, const vouch_grammar *g)
{
    const size_t n = (size_t)g->n_nodes;
    *l = (leads){malloc(n * sizeof *l->head), malloc(2 * n * sizeof *l->link), malloc((n + 1) * sizeof *l->queue),
                 calloc(n, sizeof *l->is_queued)};
    if (!l->head || !l->link || !l->queue || !l->is_queued) return false;
    for (size_t i = 0; i < n; i++) l->head[i] = -1;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const vouch_grammar_node *node = &g->nodes[i];
        if (node->kind == VOUCH_NODE_END) continue;
        l->link[2 * i] = l->head[node->next];
        l->head[node->next] = 2 * i;
        if (node->kind == VOUCH_NODE_BYTES) continue;
        l->link[2 * i + 1] = l->head[node->other];
        l->head[node->other] = 2 * i + 1;
    }
    return true;
}

/* Updates the facts of all nodes, from the ends of rules backwards, until none changes. */
static void propagate(program *p, leads *l, bool (*update)(program *p, int32_t node))
{
    const vouch_grammar *g = p->grammar;
    const int32_t room = g->n_nodes + 1;
    int32_t first = 0, past = 0;
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].kind == VOUCH_NODE_END && update(p, i)) l->queue[past++] = i;
    while (first != past) {
        const int32_t node = l->queue[first];
        first = (first + 1) % room;
        l->is_queued[node] = false;
        for (int32_t link = l->head[node]; link >= 0; link = l->link[link]) {
            const int32_t before = link / 2;
            if (!update(p, before) || l->is_queued[before]) continue;
            l->is_queued[before] = true;
            l->queue[past] = before;
            past = (past + 1) % room;
        }
    }
}

static void find_facts(program *p)
{
    leads l;
    p->is_nullable = calloc((size_t)p->grammar->n_nodes, sizeof *p->is_nullable);
    if (!leads_fill(&l, p->grammar) || !p->is_nullable) {
        vouch_builder_fail(p->builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    } else {
        propagate(p, &l, lower_need);
        propagate(p, &l, find_nullable);
        if (p->grammar->restricts_names) propagate(p, &l, raise_words);
    }
    leads_free(&l);
}

/* ----------------------------------------------------------- left recursion */

/*
 * A rule is left recursive where it can call itself before it has read a byte. Then a place has endlessly many stacks.
 * The search walks from a rule's first node over splits, calls, and the nodes after calls of rules that may be empty.
 */
typedef enum mark { UNSEEN, OPEN, DONE } mark;

typedef struct search {
    const program *p;
    uint8_t *marks; /* [n_rules] */
    uint32_t *seen; /* [n_nodes] the number of the last walk that met it */
    int32_t *work;  /* [n_nodes] nodes of all open walks */
    int32_t *open;  /* [n_rules] the open rules, and where their part of `work` begins */
    int32_t *begin;
    uint32_t n_walks;
} search;

static int32_t visit(search *s, int32_t node, int32_t n_work)
{
    if (s->seen[node] == s->n_walks || s->p->grammar->nodes[node].need > VOUCH_STACK_DEPTH) return n_work;
    s->seen[node] = s->n_walks;
    s->work[n_work] = node;
    return n_work + 1;
}

/* Lists in work[at ...] the rules that a rule can call first. Returns the end of the list. */
static int32_t list_first_calls(search *s, int32_t rule, int32_t at)
{
    const vouch_grammar *g = s->p->grammar;
    s->n_walks++;
    int32_t n = visit(s, s->p->entry[rule], at), n_calls = at;
    for (int32_t i = at; i < n; i++) {
        const int32_t number = s->work[i];
        const vouch_grammar_node *node = &g->nodes[number];
        if (node->kind == VOUCH_NODE_BYTES || node->kind == VOUCH_NODE_END) continue;
        const bool calls = is_call(node);
        if (!calls || s->p->is_nullable[node->other]) n = visit(s, node->next, n);
        if (node->kind == VOUCH_NODE_SPLIT) n = visit(s, node->other, n);
        if (calls) s->work[n_calls++] = s->p->rule_of[node->other];
    }
    return n_calls;
}

/* Depth first, without recursion of its own. Returns a rule on a circle, or -1. */
static int32_t find_circle(search *s, int32_t root)
{
    int32_t depth = 0, n_work = list_first_calls(s, root, 0);
    s->open[0] = root;
    s->begin[0] = 0;
    s->marks[root] = OPEN;
    while (depth >= 0) {
        if (n_work == s->begin[depth]) {
            s->marks[s->open[depth--]] = DONE;
            continue;
        }
        const int32_t rule = s->work[--n_work];
        if (s->marks[rule] == OPEN) return rule;
        if (s->marks[rule] == DONE) continue;
        s->marks[rule] = OPEN;
        s->open[++depth] = rule;
        s->begin[depth] = n_work;
        n_work = list_first_calls(s, rule, n_work);
    }
    return -1;
}

static void check_left_recursion(program *p)
{
    const size_t n_nodes = (size_t)p->grammar->n_nodes, n_rules = (size_t)p->builder->n_rules;
    search s = {.p = p,
                .marks = calloc(n_rules, sizeof *s.marks),
                .seen = calloc(n_nodes, sizeof *s.seen),
                .work = malloc(2 * n_nodes * sizeof *s.work),
                .open = malloc(n_rules * sizeof *s.open),
                .begin = malloc(n_rules * sizeof *s.begin)};
    int32_t circle = -1;
    if (!s.marks || !s.seen || !s.work || !s.open || !s.begin) {
        vouch_builder_fail(p->builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    } else {
        for (int32_t i = 0; i < p->builder->n_rules && circle < 0; i++)
            if (s.marks[i] == UNSEEN) circle = find_circle(&s, i);
    }
    if (circle >= 0)
        vouch_builder_fail(p->builder, VOUCH_E_ARGUMENT,
                           "the rule %s is left recursive: it can call itself before it has read a character; write "
                           "a repetition, such as %s ::= item item*",
                           p->builder->rules[circle].name, p->builder->rules[circle].name);
    free(s.marks);
    free(s.seen);
    free(s.work);
    free(s.open);
    free(s.begin);
}

/* ------------------------------------------------------------------ classes */

/* A class begins at each byte that begins a range of some node, or follows its end. */
static void find_classes(vouch_grammar *g)
{
    bool cuts[257] = {0};
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const vouch_grammar_node *node = &g->nodes[i];
        if (node->kind != VOUCH_NODE_BYTES) continue;
        cuts[node->first] = cuts[node->last + 1] = true;
    }
    g->n_classes = 1;
    g->byte_of[0] = 0;
    for (int byte = 1; byte < 256; byte++) {
        if (cuts[byte]) g->byte_of[g->n_classes++] = (uint8_t)byte;
        g->class_of[byte] = (uint8_t)(g->n_classes - 1);
    }
}

static void check_ends(program *p, int32_t root)
{
    const uint16_t need = p->grammar->nodes[p->grammar->start].need;
    if (need == NEVER && strcmp(p->builder->rules[root].name, VOUCH_SCHEMA_RULE) == 0)
        vouch_builder_fail(p->builder, VOUCH_E_ARGUMENT,
                           "the schema at \"\": no value is valid: a valid one would have no end");
    if (need == NEVER)
        vouch_builder_fail(p->builder, VOUCH_E_ARGUMENT, "the rule %s never ends: it allows no text of finite length",
                           p->builder->rules[root].name);
}

static void compile(program *p, int32_t root)
{
    vouch_builder *b = p->builder;
    p->entry = calloc((size_t)b->n_rules + 1, sizeof *p->entry);
    if (!p->entry) vouch_builder_fail(b, VOUCH_E_MEMORY, "not enough memory for the grammar");
    if (b->status == VOUCH_OK) emit_rules(p);
    if (b->status != VOUCH_OK) return;
    p->grammar->start = p->entry[root];
    find_facts(p);
    if (b->status == VOUCH_OK) check_ends(p, root);
    if (b->status == VOUCH_OK) check_left_recursion(p);
    if (b->status == VOUCH_OK) find_classes(p->grammar);
}

vouch_status vouch_grammar_compile(vouch_grammar **out, vouch_builder *builder, int32_t root, vouch_error *err)
{
    *out = NULL;
    program p = {.builder = builder, .grammar = calloc(1, sizeof *p.grammar)};
    if (!p.grammar) vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    if (builder->status == VOUCH_OK) compile(&p, root);
    const vouch_status status = builder->status;
    if (status == VOUCH_OK) {
        *out = p.grammar;
        p.grammar->notes = builder->notes;
        p.grammar->n_notes = builder->n_notes;
        builder->notes = NULL;
        builder->n_notes = 0;
    } else {
        vouch_grammar_close(p.grammar);
    }
    if (status != VOUCH_OK && err) *err = builder->error;
    free(p.entry);
    free(p.rule_of);
    free(p.is_nullable);
    free(p.known);
    vouch_builder_free(builder);
    return status;
}

void vouch_grammar_close(vouch_grammar *grammar)
{
    if (!grammar) return;
    for (int32_t i = 0; i < grammar->n_notes; i++) free(grammar->notes[i]);
    free(grammar->notes);
    free(grammar->nodes);
    free(grammar);
}

const char *vouch_grammar_unbound(const vouch_grammar *grammar, size_t i)
{
    return i < (size_t)grammar->n_notes ? grammar->notes[i] : NULL;
}
