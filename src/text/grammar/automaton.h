/* SPDX-License-Identifier: MIT */
/*
 * Runs a grammar over bytes. A grammar may be ambiguous, so a text leads to a set of places (program.h), a state:
 *
 *     state 5   { node 12, stack 3 }  { node 40, stack 7 }           stacks   7: return to 9, then stack 3
 *               may the text end here? yes                                     3: return to 2, then stack 0
 *                                                                              0: empty
 *
 * Equal stacks and equal states are stored once, and neither ever changes. So a state is an index, and going back to an
 * earlier state costs nothing (law L3). The step from a state by a class of bytes is computed once and then looked up.
 *
 * Memory is fixed at open (law L6). Where it runs out, the automaton drops every state but those in `kept`, `hand` and
 * `path`, and gives the others new numbers. So a state is valid until the next step, unless it is in one of these.
 *
 * Of a set of more than VOUCH_STATE_PLACES places the first ones stay, in an order that depends on the text alone. Only
 * a grammar of extreme ambiguity has such sets. Each place that stays reaches the end of the text by itself.
 */
#ifndef VOUCH_TEXT_GRAMMAR_AUTOMATON_H
#define VOUCH_TEXT_GRAMMAR_AUTOMATON_H

#include "base/memory.h"
#include "text/grammar/names.h"
#include "text/grammar/program.h"
#include "text/grammar/trie.h"

enum { VOUCH_STATE_PLACES = 1024, VOUCH_KEPT_STATES = 8, VOUCH_SEEDS = 1024 };

/* Within a string most bytes lead to the same state as this one. */
#define VOUCH_USUAL_BYTE 'a'

/* Numbers of states. UNKNOWN: a step that has not been computed. DEAD: no text goes on from here. */
enum { VOUCH_STATE_UNKNOWN, VOUCH_STATE_DEAD, VOUCH_STATE_FIRST };

typedef struct vouch_stack {
    int32_t node;  /* where to return to */
    int32_t below; /* the rest of the stack; 0: empty */
    int32_t depth;
    int32_t names; /* of OBJECT: its list of names so far; of NAME: the text so far (names.h); 0 for CALL */
    uint8_t kind;  /* of the node that put this on the stack: CALL, OBJECT or NAME. Theirs is `node` itself */
    bool in_name;  /* the innermost one of OBJECT and NAME is a NAME */
} vouch_stack;

typedef struct vouch_place {
    int32_t node, stack;
} vouch_place;

typedef struct vouch_state {
    int32_t first, n; /* its places: places[first, first + n), in order, all of them at BYTES */
    bool accepts;     /* the text may end here */
    bool has_alike;   /* `alike` is known */
    bool has_text;    /* steps depend on the byte, not on its class alone: a place is within a name, not FREE */
    uint64_t alike;   /* groups of bytes (trie.h) that all lead to the state after VOUCH_USUAL_BYTE */
    int32_t mask;     /* the constraint's number of the state's mask (constraint.c); 0: none */
} vouch_state;

/* An open hash table of indices. */
typedef struct vouch_index_table {
    int32_t *slots; /* [size] 0: free */
    int32_t size;   /* a power of 2 */
} vouch_index_table;

typedef struct vouch_automaton {
    const vouch_grammar *grammar;
    vouch_stack *stacks; /* [n_stacks] */
    vouch_state *states; /* [n_states] */
    vouch_place *places; /* [n_places] of all states */
    int32_t *steps;      /* [n_states][n_classes] */
    vouch_names names;
    bool is_exact; /* names are remembered as they are written (names.h) */
    int32_t n_stacks, n_states, n_places;
    vouch_index_table stack_table, state_table;
    vouch_place *work;  /* [CLOSURE] the places of the step that is computed */
    vouch_place *found; /* [VOUCH_STATE_PLACES] the places of `work` whose node is BYTES */
    uint32_t *met;      /* a hash table over `work`: the number of a closure, and the index in `work` */
    int32_t *met_index;
    uint32_t n_closures;
    vouch_place seeds[VOUCH_SEEDS];   /* a cache by hash: a step led to this one place, */
    int32_t seed_states[VOUCH_SEEDS]; /* and gave this state; 0: none */
    int32_t *renamed;                 /* scratch for dropping states */
    int32_t kept[VOUCH_KEPT_STATES];  /* 0: none */
    int32_t hand;                     /* the state whose step is computed; 0: none */
    int32_t path[VOUCH_TRIE_DEPTH + 1], n_path;
    bool drops_masks; /* set when states got new numbers; the owner clears it */
    int64_t n_drops;  /* how often states were dropped (for tests) */
} vouch_automaton;

/* Takes the arrays from the arena. */
void vouch_automaton_layout(vouch_automaton *automaton, const vouch_grammar *grammar, vouch_arena *arena);
/* Call it once the arena is allocated. There are no states yet. */
void vouch_automaton_init(vouch_automaton *automaton);
/* The state of the empty text. */
int32_t vouch_automaton_start(vouch_automaton *automaton);
/* The state after one more byte. */
int32_t vouch_automaton_step(vouch_automaton *automaton, int32_t state, unsigned char byte);
/* The state with the names of `state` forgotten that make no difference to what may follow. */
int32_t vouch_automaton_forget(vouch_automaton *automaton, int32_t state);
/* The groups (vouch_trie_group) whose bytes all lead from state path[at] to the same state as VOUCH_USUAL_BYTE does; 0
 * where that state is dead. */
uint64_t vouch_automaton_alike(vouch_automaton *automaton, int32_t at);
/* The only byte that may come next; -1 where none or several may, or the text may end. */
int vouch_automaton_only_byte(const vouch_automaton *automaton, int32_t state);
/* Whether no byte may come next. */
bool vouch_automaton_is_complete(const vouch_automaton *automaton, int32_t state);
/* A hash of the state's places that doesn't depend on numbers of states and stacks (for tests of law L3). */
uint64_t vouch_automaton_digest(const vouch_automaton *automaton, int32_t state);

#endif
