/* SPDX-License-Identifier: MIT */
/* Adding a token takes VOUCH_SUFFIX_DEPTH look-ups, 0.2 us. The slots use open addressing. The node made last is
 * removed first, so freeing its slot restores the table. */
#include "draft/free/suffix_tree.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"

static uint32_t slot_begin(const vouch_suffix_tree *t, int32_t parent, int32_t token)
{
    const uint64_t hash = vouch_hash_word(0, (uint64_t)(uint32_t)parent << 32 | (uint32_t)token);
    return (uint32_t)(hash * 0xd6e8feb86659fd93 >> 32) & t->mask;
}

/* The slot of a child, or the free slot where it belongs. */
static uint32_t slot_find(const vouch_suffix_tree *t, int32_t parent, int32_t token)
{
    uint32_t i = slot_begin(t, parent, token);
    for (; t->slots[i]; i = (i + 1) & t->mask) {
        const vouch_suffix_node *node = &t->nodes[t->slots[i]];
        if (node->parent == parent && node->token == token) break;
    }
    return i;
}

int32_t vouch_suffix_tree_child(const vouch_suffix_tree *tree, int32_t node, int32_t token)
{
    return tree->slots[slot_find(tree, node, token)];
}

void vouch_suffix_tree_layout(vouch_suffix_tree *tree, int32_t capacity, vouch_arena *arena)
{
    const size_t n_nodes = 1 + (size_t)capacity * VOUCH_SUFFIX_DEPTH;
    uint32_t slots = 1;
    while (slots < n_nodes + n_nodes / 2) slots *= 2;
    *tree = (vouch_suffix_tree){.capacity = capacity, .n_nodes = 1, .mask = slots - 1};
    tree->nodes = vouch_arena_take(arena, n_nodes, sizeof *tree->nodes);
    tree->slots = vouch_arena_take(arena, slots, sizeof *tree->slots);
    tree->tokens = vouch_arena_take(arena, (size_t)capacity, sizeof *tree->tokens);
}

void vouch_suffix_tree_push(vouch_suffix_tree *tree, int32_t token)
{
    vouch_suffix_tree *t = tree;
    assert(t->n_tokens < t->capacity);
    int32_t parent = VOUCH_SUFFIX_ROOT, link = VOUCH_SUFFIX_ROOT;
    t->nodes[parent].count++;
    for (int32_t d = 0; d < VOUCH_SUFFIX_DEPTH && d <= t->n_tokens; d++) {
        const uint32_t slot = slot_find(t, parent, token);
        if (!t->slots[slot]) {
            const int32_t made = t->n_nodes++;
            t->nodes[made] = (vouch_suffix_node){
                .parent = parent, .token = token, .link = link, .depth = d + 1, .next = t->nodes[parent].first};
            t->nodes[parent].first = made;
            t->slots[slot] = made;
        }
        link = t->slots[slot];
        t->nodes[link].count++;
        parent = t->active[d + 1]; /* the node of the text without the token */
        t->active[d + 1] = link;
    }
    t->tokens[t->n_tokens++] = token;
}

/* The node of the text's last `depth` tokens. */
static int32_t node_of_end(const vouch_suffix_tree *t, int32_t depth)
{
    int32_t node = VOUCH_SUFFIX_ROOT;
    for (int32_t i = t->n_tokens - depth; i < t->n_tokens; i++) node = vouch_suffix_tree_child(t, node, t->tokens[i]);
    return node;
}

void vouch_suffix_tree_pop(vouch_suffix_tree *tree)
{
    vouch_suffix_tree *t = tree;
    const int32_t deepest = t->n_tokens < VOUCH_SUFFIX_DEPTH ? t->n_tokens : VOUCH_SUFFIX_DEPTH;
    int32_t before[VOUCH_SUFFIX_DEPTH + 1] = {0};
    for (int32_t d = deepest; d > 0; d--) {
        const int32_t last = t->active[d];
        vouch_suffix_node *node = &t->nodes[last];
        before[d - 1] = node->parent;
        if (--node->count > 0) continue;
        assert(last == t->n_nodes - 1 && t->nodes[node->parent].first == last);
        t->slots[slot_find(t, node->parent, node->token)] = 0;
        t->nodes[node->parent].first = node->next;
        *node = (vouch_suffix_node){0};
        t->n_nodes--;
    }
    t->nodes[VOUCH_SUFFIX_ROOT].count--;
    t->tokens[--t->n_tokens] = 0;
    if (t->n_tokens >= VOUCH_SUFFIX_DEPTH) before[VOUCH_SUFFIX_DEPTH] = node_of_end(t, VOUCH_SUFFIX_DEPTH);
    for (int32_t d = 0; d <= VOUCH_SUFFIX_DEPTH; d++) t->active[d] = d <= t->n_tokens ? before[d] : 0;
}

int32_t vouch_suffix_tree_end(const vouch_suffix_tree *tree)
{
    return tree->active[tree->n_tokens < VOUCH_SUFFIX_DEPTH ? tree->n_tokens : VOUCH_SUFFIX_DEPTH];
}

int32_t vouch_suffix_tree_step(const vouch_suffix_tree *tree, int32_t node, int32_t token)
{
    for (;; node = tree->nodes[node].link) {
        const int32_t child = vouch_suffix_tree_child(tree, node, token);
        if (child || node == VOUCH_SUFFIX_ROOT) return child;
    }
}
