/* SPDX-License-Identifier: MIT */
/* States of a grammar, computed as they are reached (automaton.h). */
#include "text/grammar/automaton.h"

#include <string.h>

#include "base/hash.h"

/* A step meets at most CLOSURE places, so it adds at most CLOSURE stacks. */
enum { CLOSURE = 1 << 13, MET = 1 << 15, STACKS = 1 << 16, STATES = 1 << 13, PLACES = 1 << 18 };

_Static_assert(STATES > 4 * VOUCH_TRIE_DEPTH, "a walk along the longest token fits beside the states that stay");

static vouch_index_table table_take(vouch_arena *arena, int32_t items)
{
    return (vouch_index_table){.slots = vouch_arena_take(arena, (size_t)2 * items, sizeof(int32_t)), .size = 2 * items};
}

void vouch_automaton_layout(vouch_automaton *automaton, const vouch_grammar *grammar, vouch_arena *arena)
{
    vouch_automaton *a = automaton;
    a->grammar = grammar;
    a->stacks = vouch_arena_take(arena, STACKS, sizeof *a->stacks);
    a->states = vouch_arena_take(arena, STATES, sizeof *a->states);
    a->places = vouch_arena_take(arena, PLACES, sizeof *a->places);
    a->steps = vouch_arena_take(arena, (size_t)STATES * (size_t)grammar->n_classes, sizeof *a->steps);
    a->stack_table = table_take(arena, STACKS);
    a->state_table = table_take(arena, STATES);
    a->work = vouch_arena_take(arena, CLOSURE, sizeof *a->work);
    a->found = vouch_arena_take(arena, VOUCH_STATE_PLACES, sizeof *a->found);
    a->met = vouch_arena_take(arena, MET, sizeof *a->met);
    a->met_index = vouch_arena_take(arena, MET, sizeof *a->met_index);
    a->renamed = vouch_arena_take(arena, STACKS, sizeof *a->renamed);
    vouch_names_layout(&a->names, grammar->has_names, arena);
}

void vouch_automaton_init(vouch_automaton *automaton)
{
    automaton->n_stacks = 1;
    automaton->n_states = VOUCH_STATE_FIRST;
    automaton->is_exact = true;
    vouch_names_init(&automaton->names);
}

static int32_t *steps_of(const vouch_automaton *a, int32_t state)
{
    return a->steps + (size_t)state * (size_t)a->grammar->n_classes;
}

/* ------------------------------------------------------- equal ones are one */

static uint64_t stack_hash(const vouch_stack *stack)
{
    return vouch_hash_word(vouch_hash_word(1, (uint64_t)stack->node),
                           (uint64_t)stack->below << 32 | ((uint32_t)stack->names << 3 | stack->kind));
}

/* The slot of this stack in the table, or the free slot where it belongs. */
static int32_t *stack_slot(const vouch_automaton *a, const vouch_stack *stack)
{
    const int32_t mask = a->stack_table.size - 1;
    int32_t at = (int32_t)(stack_hash(stack) & (uint64_t)mask);
    for (;; at = (at + 1) & mask) {
        int32_t *slot = &a->stack_table.slots[at];
        const vouch_stack *known = &a->stacks[*slot];
        if (*slot == 0 || (known->node == stack->node && known->below == stack->below && known->names == stack->names &&
                           known->kind == stack->kind))
            return slot;
    }
}

/* Returns the stack of `node` on top of `below`, and adds it if it is new. The caller has made room for it. */
static int32_t push(vouch_automaton *a, vouch_node_kind kind, int32_t node, int32_t below, int32_t names)
{
    const vouch_stack stack = {
        .node = node,
        .below = below,
        .depth = a->stacks[below].depth + 1,
        .names = names,
        .kind = (uint8_t)kind,
        .in_name = kind == VOUCH_NODE_NAME || (kind != VOUCH_NODE_OBJECT && a->stacks[below].in_name)};
    int32_t *slot = stack_slot(a, &stack);
    if (*slot > 0) return *slot;
    a->stacks[a->n_stacks] = stack;
    return *slot = a->n_stacks++;
}

static int32_t *state_slot(const vouch_automaton *a, const vouch_place *places, int32_t n, bool accepts)
{
    const int32_t mask = a->state_table.size - 1;
    uint64_t hash = (uint64_t)accepts + 2;
    for (int32_t i = 0; i < n; i++)
        hash = vouch_hash_word(hash, (uint64_t)places[i].node << 32 | (uint32_t)places[i].stack);
    int32_t at = (int32_t)(hash & (uint64_t)mask);
    for (;; at = (at + 1) & mask) {
        int32_t *slot = &a->state_table.slots[at];
        const vouch_state *known = &a->states[*slot];
        if (*slot == 0) return slot;
        if (known->n == n && known->accepts == accepts &&
            memcmp(a->places + known->first, places, (size_t)n * sizeof *places) == 0)
            return slot;
    }
}

static uint64_t text_hash(const vouch_automaton *a, int32_t text)
{
    return text >= 0 ? a->names.texts[text].hash : (uint64_t)text;
}

/* The order of places depends on their nodes and those of their stacks, not on the numbers of stacks: so the places
 * that are left out of a set that is too large (closure_end) depend on the text alone. */
static bool is_before(const vouch_automaton *a, vouch_place x, vouch_place y)
{
    if (x.node != y.node) return x.node < y.node;
    while (x.stack != y.stack) {
        const vouch_stack *s = &a->stacks[x.stack], *t = &a->stacks[y.stack];
        if (s->depth != t->depth) return s->depth < t->depth;
        if (s->node != t->node) return s->node < t->node;
        if (s->kind != t->kind) return s->kind < t->kind;
        if (s->names != t->names)
            return s->kind == VOUCH_NODE_OBJECT ? a->names.lists[s->names].hash < a->names.lists[t->names].hash
                                                : text_hash(a, s->names) < text_hash(a, t->names);
        x.stack = s->below;
        y.stack = t->below;
    }
    return false;
}

/* Shell's sort with Ciura's gaps: qsort may allocate. */
static void sort_places(const vouch_automaton *a, vouch_place *places, int32_t n)
{
    static const int32_t gaps[] = {301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        for (int32_t i = gaps[g]; i < n; i++) {
            const vouch_place place = places[i];
            int32_t at = i;
            for (; at >= gaps[g] && is_before(a, place, places[at - gaps[g]]); at -= gaps[g])
                places[at] = places[at - gaps[g]];
            places[at] = place;
        }
}

/* ------------------------------------------------------------------- names */

/* The part of the stack whose top is the innermost node of this kind; 0: there is none. */
static int32_t innermost(const vouch_automaton *a, int32_t stack, vouch_node_kind kind)
{
    while (stack > 0 && a->stacks[stack].kind != kind) stack = a->stacks[stack].below;
    return stack;
}

/* The names of the innermost object. */
static int32_t list_of(const vouch_automaton *a, int32_t stack)
{
    return a->stacks[innermost(a, stack, VOUCH_NODE_OBJECT)].names;
}

/* Whether one of the n places in a->found is within a name that isn't FREE. */
static bool has_text(const vouch_automaton *a, int32_t n)
{
    bool found = false;
    for (int32_t i = 0; i < n && a->grammar->has_names && !found; i++)
        found = a->stacks[a->found[i].stack].in_name &&
                a->stacks[innermost(a, a->found[i].stack, VOUCH_NODE_NAME)].names >= 0;
    return found;
}

/* The stack with other names at its part `at`. */
static int32_t with_names(vouch_automaton *a, int32_t stack, int32_t at, int32_t names)
{
    const vouch_stack top = a->stacks[stack];
    if (stack == at) return push(a, top.kind, top.node, top.below, names);
    return push(a, top.kind, top.node, with_names(a, top.below, at, names), top.names);
}

/* The stack of a place within a name, after one more byte of it. */
static int32_t extend_name(vouch_automaton *a, int32_t stack, unsigned char byte)
{
    const int32_t at = innermost(a, stack, VOUCH_NODE_NAME);
    const vouch_stack *name = &a->stacks[at];
    const int32_t text = vouch_names_extend(&a->names, list_of(a, name->below), name->names, byte, a->is_exact);
    return text == name->names ? stack : with_names(a, stack, at, text);
}

/* The stack after the name on its top has ended; -1: the object has such a name already. */
static int32_t end_name(vouch_automaton *a, int32_t stack)
{
    const int32_t below = a->stacks[stack].below, object = innermost(a, below, VOUCH_NODE_OBJECT);
    if (object == 0) return below;
    const int32_t list = vouch_names_add(&a->names, a->stacks[object].names, a->stacks[stack].names);
    return list < 0 ? -1 : with_names(a, below, object, list);
}

/* Whether the innermost object may have another name of the rule that begins at a node. */
static bool has_room(const vouch_automaton *a, int32_t stack, const vouch_grammar_node *room)
{
    int32_t n = 0, bytes = 0;
    const int32_t own = a->names.lists[list_of(a, stack)].n;
    if (own >= VOUCH_NAMES || (room->first && a->grammar->nodes[room->other].words <= own)) return false;
    for (int32_t at = innermost(a, stack, VOUCH_NODE_OBJECT); at > 0;
         at = innermost(a, a->stacks[at].below, VOUCH_NODE_OBJECT)) {
        n += a->names.lists[a->stacks[at].names].n;
        bytes += a->names.lists[a->stacks[at].names].bytes;
    }
    return n < VOUCH_NAMES_ALL && bytes + VOUCH_NAME_BYTES < VOUCH_NAMES_BYTES;
}

/* Whether a node within a name leads to one that the object doesn't have. Where there may be few, more ways must lead
 * on than names of the object begin so. Then that also holds after one of the next bytes. */
static bool leads_to_name(const vouch_automaton *a, int32_t node, int32_t stack)
{
    if (!a->grammar->restricts_names) return true;
    int32_t words = a->grammar->nodes[node].words, at = stack;
    for (; a->stacks[at].kind != VOUCH_NODE_NAME; at = a->stacks[at].below)
        if (a->grammar->nodes[a->stacks[at].node].words > words) words = a->grammar->nodes[a->stacks[at].node].words;
    const vouch_stack *name = &a->stacks[at];
    return !a->grammar->nodes[name->node].first ||
           words > vouch_names_alike(&a->names, list_of(a, name->below), name->names);
}

/* Returns the state of the n places in a->found, and adds it if it is new. The caller has made room for it. */
static int32_t state_of(vouch_automaton *a, int32_t n, bool accepts)
{
    if (n == 0 && !accepts) return VOUCH_STATE_DEAD;
    sort_places(a, a->found, n);
    int32_t *slot = state_slot(a, a->found, n, accepts);
    if (*slot > 0) return *slot;
    memcpy(a->places + a->n_places, a->found, (size_t)n * sizeof *a->found);
    a->states[a->n_states] =
        (vouch_state){.first = a->n_places, .n = n, .accepts = accepts, .has_text = has_text(a, n)};
    memset(steps_of(a, a->n_states), 0, (size_t)a->grammar->n_classes * sizeof(int32_t));
    a->n_places += n;
    return *slot = a->n_states++;
}

/* ------------------------------------------------------------------ closure */

/* The places that a step reaches without reading another byte. */
typedef struct closure {
    vouch_automaton *a;
    int32_t n, n_found;
    bool accepts;
} closure;

static closure closure_begin(vouch_automaton *a)
{
    if (++a->n_closures == 0) { /* the numbers begin again */
        memset(a->met, 0, MET * sizeof *a->met);
        a->n_closures = 1;
    }
    return (closure){.a = a};
}

/* Adds a place unless it is there already, could not reach the end, or there are too many. */
static void enter(closure *c, int32_t node, int32_t stack)
{
    vouch_automaton *a = c->a;
    const uint64_t hash = vouch_hash_word(3, (uint64_t)node << 32 | (uint32_t)stack);
    if (a->stacks[stack].depth + a->grammar->nodes[node].need > VOUCH_STACK_DEPTH) return;
    int32_t at = (int32_t)(hash % MET);
    for (; a->met[at] == a->n_closures; at = (at + 1) % MET) {
        const vouch_place *known = &a->work[a->met_index[at]];
        if (known->node == node && known->stack == stack) return;
    }
    if (c->n == CLOSURE) return;
    a->met[at] = a->n_closures;
    a->met_index[at] = c->n;
    a->work[c->n++] = (vouch_place){node, stack};
}

/* The rule of a place has ended. */
static void leave(closure *c, int32_t stack)
{
    vouch_automaton *a = c->a;
    const vouch_stack top = a->stacks[stack];
    const vouch_grammar_node *node = &a->grammar->nodes[top.node];
    if (stack == 0) {
        c->accepts = true;
    } else if (top.kind == VOUCH_NODE_OBJECT) {
        enter(c, node->next, top.below);
    } else if (top.kind == VOUCH_NODE_NAME) {
        const int32_t below = end_name(a, stack);
        if (below >= 0) enter(c, node->next, below);
    } else {
        enter(c, top.node, top.below);
    }
}

/* Follows all places to nodes that read bytes. Returns the state of the places there. */
static int32_t closure_end(closure *c)
{
    vouch_automaton *a = c->a;
    for (int32_t i = 0; i < c->n; i++) {
        const vouch_place place = a->work[i];
        const vouch_grammar_node *node = &a->grammar->nodes[place.node];
        const bool returns = node->kind == VOUCH_NODE_CALL && a->grammar->nodes[node->next].kind != VOUCH_NODE_END;
        switch (node->kind) {
        case VOUCH_NODE_BYTES:
            if (c->n_found < VOUCH_STATE_PLACES) a->found[c->n_found++] = place;
            break;
        case VOUCH_NODE_OBJECT: enter(c, node->other, push(a, VOUCH_NODE_OBJECT, place.node, place.stack, 0)); break;
        case VOUCH_NODE_NAME:
            enter(c, node->other, push(a, VOUCH_NODE_NAME, place.node, place.stack, VOUCH_TEXT_EMPTY));
            break;
        case VOUCH_NODE_ROOM:
            if (has_room(a, place.stack, node)) enter(c, node->next, place.stack);
            break;
        case VOUCH_NODE_SPLIT:
            enter(c, node->next, place.stack);
            enter(c, node->other, place.stack);
            break;
        case VOUCH_NODE_CALL:
            enter(c, node->other, returns ? push(a, VOUCH_NODE_CALL, node->next, place.stack, 0) : place.stack);
            break;
        default: leave(c, place.stack);
        }
    }
    return state_of(a, c->n_found, c->accepts);
}

/* ---------------------------------------------------------- dropping states */

static void keep_state(vouch_automaton *a, int32_t state)
{
    if (state >= VOUCH_STATE_FIRST) a->states[state].mask |= INT32_MIN;
}

/* Marks the states that stay, by the sign of `mask`. */
static void mark_states(vouch_automaton *a)
{
    for (int32_t i = 0; i < VOUCH_KEPT_STATES; i++) keep_state(a, a->kept[i]);
    for (int32_t i = 0; i < a->n_path; i++) keep_state(a, a->path[i]);
    keep_state(a, a->hand);
}

/* Drops the names that no stack has which stays. */
static void pack_names(vouch_automaton *a)
{
    vouch_names_unmark(&a->names);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 1; i < a->n_stacks; i++) {
            const uint8_t kind = a->stacks[i].kind;
            int32_t *names = &a->stacks[i].names;
            if (!a->renamed[i] || (kind != VOUCH_NODE_OBJECT && kind != VOUCH_NODE_NAME)) continue;
            const bool is_list = kind == VOUCH_NODE_OBJECT;
            if (pass == 1)
                *names = is_list ? vouch_names_list_now(&a->names, *names) : vouch_names_text_now(&a->names, *names);
            else if (is_list) vouch_names_mark_list(&a->names, *names);
            else vouch_names_mark_text(&a->names, *names);
        }
        if (pass == 0) vouch_names_pack(&a->names);
    }
}

/* Moves the stacks that stay to the front. A stack comes after the one below it, so one pass in order does it. */
static void pack_stacks(vouch_automaton *a)
{
    int32_t n = 1;
    memset(a->renamed, 0, (size_t)a->n_stacks * sizeof *a->renamed);
    for (int32_t s = VOUCH_STATE_FIRST; s < a->n_states; s++)
        for (int32_t i = 0; i < a->states[s].n && a->states[s].mask < 0; i++)
            for (int32_t at = a->places[a->states[s].first + i].stack; at > 0 && !a->renamed[at];
                 at = a->stacks[at].below)
                a->renamed[at] = 1;
    if (a->grammar->has_names) pack_names(a);
    for (int32_t i = 1; i < a->n_stacks; i++) {
        if (!a->renamed[i]) continue;
        a->renamed[i] = n;
        a->stacks[n] = a->stacks[i];
        a->stacks[n].below = a->renamed[a->stacks[i].below];
        n++;
    }
    a->n_stacks = n;
    memset(a->stack_table.slots, 0, (size_t)a->stack_table.size * sizeof(int32_t));
    for (int32_t i = 1; i < n; i++) *stack_slot(a, &a->stacks[i]) = i;
}

/* Moves the states that stay, and their places, to the front, and forgets their steps. Leaves the new numbers of states
 * in a->renamed. */
static void pack_states(vouch_automaton *a)
{
    int32_t n = VOUCH_STATE_FIRST, n_places = 0;
    for (int32_t s = VOUCH_STATE_FIRST; s < a->n_states; s++) {
        vouch_state state = a->states[s];
        if (state.mask >= 0) continue;
        for (int32_t i = 0; i < state.n; i++) {
            const vouch_place place = a->places[state.first + i];
            a->places[n_places + i] = (vouch_place){place.node, a->renamed[place.stack]};
        }
        a->states[n] = (vouch_state){
            .first = n_places, .n = state.n, .accepts = state.accepts, .has_text = state.has_text, .mask = s};
        n_places += state.n;
        memset(steps_of(a, n++), 0, (size_t)a->grammar->n_classes * sizeof(int32_t));
    }
    a->n_states = n;
    a->n_places = n_places;
    memset(a->state_table.slots, 0, (size_t)a->state_table.size * sizeof(int32_t));
    memset(a->renamed, 0, STATES * sizeof *a->renamed);
    for (int32_t s = VOUCH_STATE_FIRST; s < n; s++) {
        vouch_state *state = &a->states[s];
        a->renamed[state->mask] = s;
        state->mask = 0;
        *state_slot(a, a->places + state->first, state->n, state->accepts) = s;
    }
}

static void rename_state(const vouch_automaton *a, int32_t *state)
{
    if (*state >= VOUCH_STATE_FIRST) *state = a->renamed[*state];
}

static void drop_states(vouch_automaton *a)
{
    mark_states(a);
    pack_stacks(a);
    pack_states(a);
    for (int32_t i = 0; i < VOUCH_KEPT_STATES; i++) rename_state(a, &a->kept[i]);
    for (int32_t i = 0; i < a->n_path; i++) rename_state(a, &a->path[i]);
    rename_state(a, &a->hand);
    memset(a->seed_states, 0, sizeof a->seed_states);
    a->drops_masks = true;
    a->n_drops++;
}

/* Makes room for the results of one closure, and drops states for it if need be. False: the states that must stay leave
 * no room. */
static bool make_room(vouch_automaton *a)
{
    for (int tries = 0; tries < 2; tries++) {
        const bool names_fit = !a->grammar->has_names || vouch_names_fit(&a->names);
        if (names_fit && a->n_stacks + 2 * CLOSURE <= STACKS && a->n_states < STATES &&
            a->n_places + VOUCH_STATE_PLACES <= PLACES)
            return true;
        if (tries == 0) drop_states(a);
    }
    return false;
}

/* ------------------------------------------------------------------ walking */

int32_t vouch_automaton_start(vouch_automaton *automaton)
{
    vouch_automaton *a = automaton;
    a->hand = 0;
    if (!make_room(a)) return VOUCH_STATE_DEAD;
    closure c = closure_begin(a);
    enter(&c, a->grammar->start, 0);
    return closure_end(&c);
}

/* The state of the places that a byte leads to. Most steps lead to one place, and many bytes lead to the same place: a
 * small cache keeps the states of such steps. */
static int32_t finish_step(closure *c)
{
    vouch_automaton *a = c->a;
    if (c->n != 1) return closure_end(c);
    const vouch_place seed = a->work[0];
    const uint64_t hash = vouch_hash_word(4, (uint64_t)seed.node << 32 | (uint32_t)seed.stack);
    vouch_place *known = &a->seeds[hash % VOUCH_SEEDS];
    int32_t *state = &a->seed_states[hash % VOUCH_SEEDS];
    if (*state == 0 || known->node != seed.node || known->stack != seed.stack) {
        *known = seed;
        *state = closure_end(c);
    }
    return *state;
}

static int32_t compute_step(vouch_automaton *a, int32_t state, unsigned char byte)
{
    a->hand = state;
    if (!make_room(a)) return VOUCH_STATE_DEAD;
    closure c = closure_begin(a);
    const vouch_state *from = &a->states[a->hand];
    for (int32_t i = 0; i < from->n; i++) {
        const vouch_place place = a->places[from->first + i];
        const vouch_grammar_node *node = &a->grammar->nodes[place.node];
        if (byte < node->first || byte > node->last) continue;
        const bool in_name = a->stacks[place.stack].in_name;
        const int32_t stack = in_name ? extend_name(a, place.stack, byte) : place.stack;
        if (!in_name || leads_to_name(a, node->next, stack)) enter(&c, node->next, stack);
    }
    const int32_t to = finish_step(&c);
    if (!a->states[a->hand].has_text) steps_of(a, a->hand)[a->grammar->class_of[byte]] = to;
    return to;
}

int32_t vouch_automaton_forget(vouch_automaton *automaton, int32_t state)
{
    vouch_automaton *a = automaton;
    if (state == VOUCH_STATE_DEAD || !a->states[state].has_text) return state;
    a->hand = state;
    if (!make_room(a)) return VOUCH_STATE_DEAD;
    const vouch_state from = a->states[a->hand];
    for (int32_t i = 0; i < from.n; i++) {
        vouch_place place = a->places[from.first + i];
        if (a->stacks[place.stack].in_name) {
            const int32_t at = innermost(a, place.stack, VOUCH_NODE_NAME);
            const vouch_stack *name = &a->stacks[at];
            const int32_t text = vouch_names_forget(&a->names, list_of(a, name->below), name->names);
            place.stack = with_names(a, place.stack, at, text);
        }
        a->found[i] = place;
    }
    return state_of(a, from.n, from.accepts);
}

int32_t vouch_automaton_step(vouch_automaton *automaton, int32_t state, unsigned char byte)
{
    const vouch_grammar *g = automaton->grammar;
    if (state == VOUCH_STATE_DEAD) return state;
    const int32_t known = steps_of(automaton, state)[g->class_of[byte]];
    return known != VOUCH_STATE_UNKNOWN ? known : compute_step(automaton, state, byte);
}

uint64_t vouch_automaton_alike(vouch_automaton *automaton, int32_t at)
{
    vouch_automaton *a = automaton;
    const int32_t *state = &a->path[at];
    if (*state == VOUCH_STATE_DEAD) return 0;
    if (a->states[*state].has_alike) return a->states[*state].alike;
    const int64_t n_drops = a->n_drops;
    const int32_t usual = vouch_automaton_step(a, *state, VOUCH_USUAL_BYTE);
    uint64_t alike = usual == VOUCH_STATE_DEAD ? 0 : ~UINT64_C(0);
    for (int byte = 0; byte < 256; byte++) {
        const uint64_t group = UINT64_C(1) << vouch_trie_group(byte);
        if ((alike & group) && vouch_automaton_step(a, *state, (unsigned char)byte) != usual) alike &= ~group;
    }
    if (a->n_drops != n_drops) return 0; /* states have new numbers, so the result can't be stored */
    a->states[*state].alike = alike;
    a->states[*state].has_alike = true;
    return alike;
}

int vouch_automaton_only_byte(const vouch_automaton *automaton, int32_t state)
{
    const vouch_state *s = &automaton->states[state];
    int only = -1;
    if (state == VOUCH_STATE_DEAD || s->accepts) return -1;
    for (int32_t i = 0; i < s->n; i++) {
        const vouch_grammar_node *node = &automaton->grammar->nodes[automaton->places[s->first + i].node];
        if (node->first != node->last || (only >= 0 && node->first != only)) return -1;
        only = node->first;
    }
    return only;
}

bool vouch_automaton_is_complete(const vouch_automaton *automaton, int32_t state)
{
    return state != VOUCH_STATE_DEAD && automaton->states[state].n == 0;
}

uint64_t vouch_automaton_digest(const vouch_automaton *automaton, int32_t state)
{
    const vouch_state *s = &automaton->states[state];
    if (state < VOUCH_STATE_FIRST) return (uint64_t)state;
    uint64_t sum = s->accepts;
    for (int32_t i = 0; i < s->n; i++) {
        const vouch_place *place = &automaton->places[s->first + i];
        uint64_t hash = vouch_hash_word(5, (uint64_t)place->node);
        for (int32_t at = place->stack; at > 0; at = automaton->stacks[at].below) {
            const vouch_stack *stack = &automaton->stacks[at];
            hash = vouch_hash_word(hash, (uint64_t)stack->node);
            if (stack->kind == VOUCH_NODE_OBJECT)
                hash = vouch_hash_word(hash, automaton->names.lists[stack->names].hash);
            if (stack->kind == VOUCH_NODE_NAME) hash = vouch_hash_word(hash, text_hash(automaton, stack->names));
        }
        sum += hash;
    }
    return sum;
}
