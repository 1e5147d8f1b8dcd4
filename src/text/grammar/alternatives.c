/* SPDX-License-Identifier: MIT */
/*
 * Alternatives with a common beginning become one way that splits where they differ, so that a choice of thousands of
 * texts is a tree, and a state within it has few places:
 *
 *     "cat" | "car" | "dog"      c ─ a ┬ t
 *                                │     └ r
 *                                d ─ o ─ g
 *
 * The head of an alternative is its first part that is no sequence. Equal heads become one. Where there are many
 * alternatives, heads that are different rules are replaced by the rules' bodies.
 */
#include "text/grammar/alternatives.h"

#include <stdlib.h>

enum { NONE = -1, MANY = 32, MOST_BODIES = 64, DEEPEST = 4000 };

/* The rest of an alternative as a list: a part, and the parts after it. */
typedef struct cell {
    vouch_expression part;
    int32_t rest; /* NONE: the end */
} cell;

typedef struct merger {
    vouch_builder *builder;
    cell *cells; /* [n_cells] */
    int32_t n_cells, room;
} merger;

static int32_t add_cell(merger *m, vouch_expression part, int32_t rest)
{
    if (m->n_cells == m->room) {
        const int32_t room = m->room > 0 ? 2 * m->room : 256;
        void *cells = room <= VOUCH_GRAMMAR_LARGEST * 4 ? realloc(m->cells, (size_t)room * sizeof *m->cells) : NULL;
        if (!cells) {
            vouch_builder_fail(m->builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
            return NONE;
        }
        m->cells = cells;
        m->room = room;
    }
    m->cells[m->n_cells] = (cell){part, rest};
    return m->n_cells++;
}

/* Opens sequences until the head is something else. */
static int32_t open_head(merger *m, int32_t at)
{
    const vouch_builder *b = m->builder;
    while (at >= 0 && b->status == VOUCH_OK && b->nodes[m->cells[at].part].kind == VOUCH_EXPRESSION_SEQUENCE) {
        const vouch_expression_node *e = &b->nodes[m->cells[at].part];
        at = m->cells[at].rest;
        for (int32_t i = e->last - 1; i >= e->first; i--) at = add_cell(m, b->children[i], at);
    }
    return at;
}

/* Alternatives with equal keys have equal heads. */
static int64_t key_of(const merger *m, int32_t at)
{
    if (at < 0) return -1;
    const vouch_expression_node *e = &m->builder->nodes[m->cells[at].part];
    if (e->kind == VOUCH_EXPRESSION_BYTES) return (int64_t)e->first << 8 | e->last;
    const int64_t kind = e->kind == VOUCH_EXPRESSION_RULE ? 1 : 2;
    return kind << 32 | (kind == 1 ? e->child : m->cells[at].part);
}

typedef struct alternative {
    int64_t key;
    int32_t at;
} alternative;

static int compare_keys(const void *a, const void *b)
{
    const alternative *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->at > y->at) - (x->at < y->at);
}

/* Opens the heads of all alternatives and sorts them by their heads. */
static void open_heads(merger *m, alternative *list, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        list[i].at = open_head(m, list[i].at);
        list[i].key = m->builder->status == VOUCH_OK ? key_of(m, list[i].at) : -1;
    }
    qsort(list, (size_t)n, sizeof *list, compare_keys);
}

/* Replaces heads that are rules by their bodies. False: all rules among the heads are the same one. */
static bool open_rules(merger *m, alternative *list, int32_t n)
{
    const vouch_builder *b = m->builder;
    int64_t first = NONE;
    bool differ = false;
    for (int32_t i = 0; i < n; i++) {
        if (list[i].key >> 32 != 1) continue;
        differ |= first >= 0 && list[i].key != first;
        first = list[i].key;
    }
    for (int32_t i = 0; differ && i < n && b->status == VOUCH_OK; i++) {
        if (list[i].key >> 32 != 1) continue;
        const cell head = m->cells[list[i].at];
        list[i].at = add_cell(m, b->rules[b->nodes[head.part].child].body, head.rest);
    }
    return differ;
}

static vouch_expression merge(merger *m, alternative *list, int32_t n, int32_t depth, int32_t bodies);

/* The expression of a list. */
static vouch_expression sequence_of(const merger *m, int32_t at)
{
    vouch_parts parts = {0};
    for (; at >= 0; at = m->cells[at].rest) vouch_parts_add(m->builder, &parts, m->cells[at].part);
    return vouch_expression_sequence(m->builder, &parts);
}

/* The alternatives list[0, n), n > 1, which all have the same head: what they have in common, and then their rests. */
static vouch_expression merge_group(merger *m, alternative *list, int32_t n, int32_t depth, int32_t bodies)
{
    vouch_builder *b = m->builder;
    vouch_parts parts = {0};
    do {
        if (list[0].at < 0) break; /* all are the empty text */
        vouch_parts_add(b, &parts, m->cells[list[0].at].part);
        for (int32_t i = 0; i < n; i++) list[i].at = m->cells[list[i].at].rest;
        open_heads(m, list, n);
    } while (b->status == VOUCH_OK && list[0].key == list[n - 1].key);
    if (b->status == VOUCH_OK && list[0].key != list[n - 1].key)
        vouch_parts_add(b, &parts, merge(m, list, n, depth + 1, bodies));
    return vouch_expression_sequence(b, &parts);
}

static vouch_expression merge(merger *m, alternative *list, int32_t n, int32_t depth, int32_t bodies)
{
    vouch_builder *b = m->builder;
    vouch_parts choices = {0};
    open_heads(m, list, n);
    for (; bodies < MOST_BODIES && n >= MANY && open_rules(m, list, n); bodies++) open_heads(m, list, n);
    for (int32_t i = 0, past; i < n && b->status == VOUCH_OK; i = past) {
        for (past = i + 1; past < n && list[past].key == list[i].key; past++) {}
        const bool is_alone = past == i + 1 || depth == DEEPEST;
        if (is_alone) past = i + 1;
        vouch_parts_add(b, &choices,
                        is_alone ? sequence_of(m, list[i].at) : merge_group(m, list + i, past - i, depth, bodies));
    }
    return vouch_expression_choice(b, &choices);
}

vouch_expression vouch_expression_merge(vouch_builder *builder, vouch_expression choice)
{
    const vouch_expression_node *e = &builder->nodes[choice];
    const int32_t n = e->last - e->first;
    merger m = {.builder = builder};
    alternative *list = calloc((size_t)n, sizeof *list);
    if (!list) return vouch_builder_fail(builder, VOUCH_E_MEMORY, "not enough memory for the grammar");
    for (int32_t i = 0; i < n; i++) list[i].at = add_cell(&m, builder->children[e->first + i], NONE);
    const vouch_expression merged = merge(&m, list, n, 0, 0);
    free(m.cells);
    free(list);
    return merged;
}
