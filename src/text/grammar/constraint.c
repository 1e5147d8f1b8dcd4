/* SPDX-License-Identifier: MIT */
/* Followers and masks (constraint.h). */
#include "text/grammar/constraint.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "text/grammar/automaton.h"
#include "text/internal.h"

enum {
    MASK_BYTES = 4 << 20, /* of all kept masks, but at least FEWEST_MASKS and at most MOST_MASKS of them */
    FEWEST_MASKS = 16,
    MOST_MASKS = 1024,
    LARGE_SUBTREE = 32,      /* nodes of a subtree that allows_all tests as a whole; smaller ones are walked */
    BEGIN = VOUCH_FOLLOWERS, /* index in the automaton's `kept`, after the roots: the state of the empty text */
    WALK                     /* index in `kept`: the state at the end of a path */
};

struct vouch_constraint {
    vouch_automaton automaton; /* kept[0, VOUCH_FOLLOWERS): each follower's root; then BEGIN and WALK */
    bool has_grammar;          /* otherwise automaton, trie and masks are not used */
    const vouch_trie *trie;
    const vouch_thoughts *thoughts;          /* NULL: they are not bounded */
    vouch_thoughts_state thinking[WALK + 1]; /* as the automaton's `kept` */
    uint64_t *forced_mask;                   /* [n_words] of the token `forced` alone */
    int32_t forced;                          /* -1: no bit is set yet */
    int32_t begin;                           /* tokens before the answer; -1: no answer has begun */
    bool drops_space;                        /* the answer's first token loses the space at its beginning (stream.c) */
    int32_t settled[VOUCH_FOLLOWERS];
    uint64_t *masks; /* [n_masks][n_words] */
    int32_t *owner;  /* [n_masks] the mask's state; 0: none */
    int32_t n_masks, n_words, next_mask;
    uint64_t *first_mask; /* [n_words] of an answer's first token, where it loses a space */
    size_t bytes;
    vouch_arena arena;
};

_Static_assert((int)WALK < (int)VOUCH_KEPT_STATES, "roots, the beginning and a walk");

/* ------------------------------------------------------------------ opening */

static void layout(vouch_constraint *c, const vouch_grammar *grammar)
{
    if (c->thoughts) c->forced_mask = vouch_arena_take(&c->arena, (size_t)c->n_words, sizeof *c->forced_mask);
    if (!grammar) return;
    vouch_automaton_layout(&c->automaton, grammar, &c->arena);
    c->masks = vouch_arena_take(&c->arena, (size_t)c->n_masks * (size_t)c->n_words, sizeof *c->masks);
    c->owner = vouch_arena_take(&c->arena, (size_t)c->n_masks, sizeof *c->owner);
    c->first_mask = vouch_arena_take(&c->arena, (size_t)c->n_words, sizeof *c->first_mask);
}

/* Refuses the name of a control token that the vocabulary doesn't have. `at` is the node before it. */
static vouch_status check_name(const vouch_grammar *grammar, const vouch_grammar_node *at, const vouch_trie *trie,
                               vouch_error *err)
{
    char name[VOUCH_TRIE_DEPTH];
    size_t n = 0;
    for (at = &grammar->nodes[at->next]; at->first != VOUCH_TOKEN_ENDS && n < sizeof name;
         at = &grammar->nodes[at->next])
        name[n++] = (char)at->first;
    if (vouch_trie_knows_name(trie, name, n)) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "the grammar has the token %.*s, and the vocabulary has no control token of this name; write its "
                      "text in quotes",
                      (int)n, name);
}

/* Refuses a grammar with a byte or a control token that the vocabulary doesn't have: an answer that came there could
 * not go on. */
static vouch_status check_bytes(const vouch_grammar *grammar, const vouch_trie *trie, vouch_error *err)
{
    bool is_known[256] = {0};
    for (int32_t i = 0; i < trie->n_nodes; i++) is_known[trie->nodes[i].byte] = true;
    for (int32_t i = 0; i < grammar->n_nodes; i++) {
        const vouch_grammar_node *node = &grammar->nodes[i];
        if (node->kind != VOUCH_NODE_BYTES || node->first != node->last) continue;
        if (node->first == VOUCH_TOKEN_BEGINS) VOUCH_TRY(check_name(grammar, node, trie, err));
        if (is_known[node->first]) continue;
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the grammar has the byte 0x%02x, and no token of the vocabulary has it; leave its character "
                          "out",
                          node->first);
    }
    return VOUCH_OK;
}

vouch_status vouch_constraint_open(vouch_constraint **out, const vouch_grammar *grammar, const vouch_trie *trie,
                                   const vouch_thoughts *thoughts, int32_t n_vocab, vouch_error *err)
{
    *out = NULL;
    if (grammar) VOUCH_TRY(check_bytes(grammar, trie, err));
    vouch_constraint *c = calloc(1, sizeof *c);
    if (!c) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a grammar");
    c->has_grammar = grammar != NULL;
    c->trie = trie;
    c->thoughts = thoughts;
    c->begin = c->forced = -1;
    c->n_words = (n_vocab + 63) / 64;
    c->n_masks = MASK_BYTES / (c->n_words * (int32_t)sizeof *c->masks);
    if (c->n_masks < FEWEST_MASKS) c->n_masks = FEWEST_MASKS;
    if (c->n_masks > MOST_MASKS) c->n_masks = MOST_MASKS;
    layout(c, grammar);
    c->bytes = sizeof *c + c->arena.used;
    const vouch_status status = vouch_arena_allocate(&c->arena, "the states of a grammar", err);
    if (status != VOUCH_OK) {
        free(c);
        return status;
    }
    layout(c, grammar);
    if (grammar) vouch_automaton_init(&c->automaton);
    *out = c;
    return VOUCH_OK;
}

void vouch_constraint_close(vouch_constraint *constraint)
{
    if (!constraint) return;
    vouch_arena_free(&constraint->arena);
    free(constraint);
}

size_t vouch_constraint_memory(const vouch_constraint *constraint)
{
    return constraint ? constraint->bytes : 0;
}

/* ---------------------------------------------------------------- following */

void vouch_constraint_begin(vouch_constraint *constraint, const int32_t *tokens, int32_t n)
{
    vouch_constraint *c = constraint;
    vouch_automaton *a = &c->automaton;
    c->begin = n;
    if (c->thoughts) c->thinking[BEGIN] = vouch_thoughts_begin(c->thoughts, tokens, n);
    if (c->has_grammar) {
        c->drops_space = vouch_stream_drops_space(c->trie->tokenizer, n > 0 ? tokens[n - 1] : -1);
        a->kept[BEGIN] = vouch_automaton_start(a);
    }
    for (int i = 0; i < VOUCH_FOLLOWERS; i++) {
        c->settled[i] = n;
        c->thinking[i] = c->thinking[BEGIN];
        if (c->has_grammar) a->kept[i] = a->kept[BEGIN];
    }
}

bool vouch_constraint_applies(const vouch_constraint *constraint, int32_t n)
{
    return constraint->begin >= 0 && n >= constraint->begin;
}

static void walk_byte(vouch_constraint *c, int byte)
{
    c->automaton.kept[WALK] = vouch_automaton_step(&c->automaton, c->automaton.kept[WALK], (unsigned char)byte);
}

/* Moves kept[WALK] by the spelling of one more token. Tokens that end an answer have none. */
static void walk_token(vouch_constraint *c, int32_t token, bool is_first)
{
    const vouch_tokenizer *t = c->trie->tokenizer;
    if (token >= vouch_tokenizer_size(t)) return;
    const bool has_name = vouch_trie_has_name(t, token);
    if (vouch_tokenizer_is_special(t, token) && !has_name) return;
    const vouch_text text = tokenizer_text(t, token);
    const bool drops = is_first && c->drops_space && !has_name && text.size > 0 && text.data[0] == ' ';
    if (has_name) walk_byte(c, VOUCH_TOKEN_BEGINS);
    for (size_t i = drops; i < text.size; i++) walk_byte(c, text.data[i]);
    if (has_name) walk_byte(c, VOUCH_TOKEN_ENDS);
}

/* Follows a path of tokens from the root of `who`. Leaves the states at its end in kept[WALK] and thinking[WALK]. */
static void walk_path(vouch_constraint *c, vouch_follower who, const int32_t *path, int32_t n)
{
    if (c->thoughts) {
        c->thinking[WALK] = c->thinking[who];
        for (int32_t i = 0; i < n; i++) vouch_thoughts_step(c->thoughts, &c->thinking[WALK], path[i]);
    }
    if (!c->has_grammar) return;
    c->automaton.kept[WALK] = c->automaton.kept[who];
    for (int32_t i = 0; i < n; i++) walk_token(c, path[i], c->settled[who] + i == c->begin);
}

void vouch_constraint_settle(vouch_constraint *constraint, vouch_follower who, const int32_t *tokens, int32_t n)
{
    vouch_constraint *c = constraint;
    int32_t *const kept = c->automaton.kept;
    if (!vouch_constraint_applies(c, n)) return;
    if (n < c->settled[who]) {
        c->settled[who] = c->begin;
        c->thinking[who] = c->thinking[BEGIN];
        if (c->has_grammar) kept[who] = kept[BEGIN];
    }
    walk_path(c, who, tokens + c->settled[who], n - c->settled[who]);
    c->thinking[who] = c->thinking[WALK];
    if (c->has_grammar) kept[who] = kept[WALK];
    c->settled[who] = n;
}

/* Whether a path of n tokens from the root of `who` can end where a token is forced. Nothing else binds it without a
 * grammar, so most paths need not be followed. */
static bool may_force(const vouch_constraint *c, vouch_follower who, int32_t n)
{
    return c->thoughts && vouch_thoughts_may_force(c->thoughts, &c->thinking[who], n);
}

const vouch_trie *vouch_constraint_trie(const vouch_constraint *constraint)
{
    return constraint->trie;
}

int32_t vouch_constraint_settled(const vouch_constraint *constraint, vouch_follower who)
{
    return constraint->settled[who];
}

/* -------------------------------------------------------------------- masks */

static void add_tokens(vouch_constraint *c, uint64_t *mask, int32_t first, int32_t past)
{
    const int32_t *tokens = c->trie->tokens;
    for (int32_t i = first; i < past; i++) mask[tokens[i] >> 6] |= UINT64_C(1) << (tokens[i] & 63);
}

/* Whether the state path[at] allows all bytes of the subtree below a node, in any order. It does within a JSON string,
 * even within one of bounded length. */
static bool allows_all(vouch_automaton *a, const vouch_trie_node *node, int32_t at)
{
    for (int32_t i = 0; i < node->height; i++, at++) {
        if (node->below & ~vouch_automaton_alike(a, at)) return false;
        const int32_t next = vouch_automaton_step(a, a->path[at], VOUCH_USUAL_BYTE);
        a->path[at + 1] = next;
        a->n_path = at + 2;
    }
    return true;
}

/* Adds the tokens in the subtrees of the nodes [from, past) that the state path[0] allows. path[0] is the state before
 * the bytes of nodes of depth `skipped`. */
static void add_subtrees(vouch_constraint *c, uint64_t *mask, int32_t from, int32_t past, int32_t skipped)
{
    vouch_automaton *a = &c->automaton;
    const vouch_trie_node *nodes = c->trie->nodes;
    for (int32_t i = from; i < past;) {
        const vouch_trie_node *node = &nodes[i];
        const int32_t depth = node->depth - skipped;
        a->n_path = depth + 1;
        const int32_t state = vouch_automaton_step(a, a->path[depth], node->byte);
        a->path[depth + 1] = state;
        a->n_path = depth + 2;
        if (state == VOUCH_STATE_DEAD) {
            i = node->next;
        } else if (node->next - i >= LARGE_SUBTREE && allows_all(a, node, depth + 1)) {
            add_tokens(c, mask, node->first, nodes[node->next].first);
            i = node->next;
        } else {
            add_tokens(c, mask, node->first, nodes[i + 1].first);
            i++;
        }
    }
}

/* Fills the mask with the tokens that the state kept[WALK] allows. */
static void fill_mask(vouch_constraint *c, uint64_t *mask, bool drops_space)
{
    vouch_automaton *a = &c->automaton;
    const vouch_trie *trie = c->trie;
    const int32_t space = drops_space ? trie->space : -1;
    memset(mask, 0, (size_t)c->n_words * sizeof *mask);
    a->is_exact = false;
    a->path[0] = a->kept[WALK];
    a->n_path = 1;
    add_subtrees(c, mask, 0, space < 0 ? trie->n_nodes : space, 0);
    if (space >= 0) {
        add_subtrees(c, mask, space + 1, trie->nodes[space].next, 1);
        add_subtrees(c, mask, trie->nodes[space].next, trie->n_nodes, 0);
    }
    a->n_path = 0;
    a->is_exact = true;
    for (int32_t i = 0; i < trie->n_ends && a->states[a->kept[WALK]].accepts; i++)
        mask[trie->ends[i] >> 6] |= UINT64_C(1) << (trie->ends[i] & 63);
}

/* States have got new numbers: no mask has an owner. */
static void drop_masks(vouch_constraint *c)
{
    memset(c->owner, 0, (size_t)c->n_masks * sizeof *c->owner);
    c->automaton.drops_masks = false;
}

/* Returns the mask of the state kept[WALK]. A new mask takes the room of the oldest. The mask number of a state is 1
 * more than its index here, because 0 means none. */
static const uint64_t *mask_of_walk(vouch_constraint *c)
{
    vouch_automaton *a = &c->automaton;
    if (a->drops_masks) drop_masks(c);
    const int32_t known = a->states[a->kept[WALK]].mask;
    if (known > 0) return c->masks + (size_t)(known - 1) * (size_t)c->n_words;
    const int32_t number = c->next_mask;
    uint64_t *mask = c->masks + (size_t)number * (size_t)c->n_words;
    c->next_mask = (number + 1) % c->n_masks;
    if (c->owner[number] > 0) a->states[c->owner[number]].mask = 0;
    c->owner[number] = 0;
    fill_mask(c, mask, false);
    if (a->drops_masks) drop_masks(c);
    c->owner[number] = a->kept[WALK];
    a->states[a->kept[WALK]].mask = number + 1;
    return mask;
}

static const uint64_t *only(vouch_constraint *c, int32_t token)
{
    if (c->forced >= 0) c->forced_mask[c->forced >> 6] = 0;
    c->forced_mask[token >> 6] = UINT64_C(1) << (token & 63);
    c->forced = token;
    return c->forced_mask;
}

bool vouch_constraint_mask(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n,
                           const uint64_t **mask)
{
    vouch_constraint *c = constraint;
    *mask = NULL;
    if (!c->has_grammar && !may_force(c, who, n)) return true;
    walk_path(c, who, path, n);
    const int32_t forced = c->thoughts ? vouch_thoughts_forced(c->thoughts, &c->thinking[WALK]) : -1;
    if (forced >= 0) *mask = only(c, forced);
    if (forced >= 0 || !c->has_grammar) return true;
    c->automaton.kept[WALK] = vouch_automaton_forget(&c->automaton, c->automaton.kept[WALK]);
    if (c->automaton.kept[WALK] == VOUCH_STATE_DEAD) return false;
    const bool is_first = c->drops_space && c->settled[who] + n == c->begin;
    *mask = is_first ? c->first_mask : mask_of_walk(c);
    if (is_first) fill_mask(c, c->first_mask, true);
    for (int32_t i = 0; i < c->n_words; i++)
        if ((*mask)[i]) return true;
    *mask = NULL;
    return false;
}

bool vouch_constraint_allows(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n)
{
    vouch_constraint *c = constraint;
    vouch_automaton *a = &c->automaton;
    const int32_t token = path[n - 1];
    if (!c->has_grammar && !may_force(c, who, n - 1)) return true;
    walk_path(c, who, path, n - 1);
    const int32_t forced = c->thoughts ? vouch_thoughts_forced(c->thoughts, &c->thinking[WALK]) : -1;
    if (forced >= 0 || !c->has_grammar) return forced < 0 || token == forced;
    const vouch_tokenizer *t = c->trie->tokenizer;
    if (token < 0 || token >= vouch_tokenizer_size(t)) return false;
    if (a->kept[WALK] == VOUCH_STATE_DEAD) return false;
    if (vouch_tokenizer_ends_answer(t, token)) return a->states[a->kept[WALK]].accepts;
    if (!vouch_trie_has(t, token)) return false;
    walk_token(c, token, c->settled[who] + n - 1 == c->begin);
    return a->kept[WALK] != VOUCH_STATE_DEAD;
}

int32_t vouch_constraint_forced(vouch_constraint *constraint, vouch_follower who, const int32_t *path, int32_t n,
                                char *text, int32_t most, bool *ends)
{
    vouch_constraint *c = constraint;
    vouch_automaton *a = &c->automaton;
    int32_t n_text = 0;
    *ends = false;
    if (!c->has_grammar) return 0;
    walk_path(c, who, path, n);
    if (c->thoughts && vouch_thoughts_forced(c->thoughts, &c->thinking[WALK]) >= 0) return 0;
    for (; n_text < most; n_text++) {
        const int byte = vouch_automaton_only_byte(a, a->kept[WALK]);
        if (byte < 0) break;
        text[n_text] = (char)byte;
        a->kept[WALK] = vouch_automaton_step(a, a->kept[WALK], (unsigned char)byte);
    }
    *ends = vouch_automaton_is_complete(a, a->kept[WALK]);
    return n_text;
}

uint64_t vouch_constraint_digest(const vouch_constraint *constraint)
{
    const vouch_thoughts_state *s = &constraint->thinking[VOUCH_FOLLOWER_JUDGE];
    const int32_t words[] = {(int32_t)s->phase, s->n, s->n_closed, s->n_matched, s->n_lacking};
    const vouch_automaton *a = &constraint->automaton;
    const uint64_t grammar = constraint->has_grammar ? vouch_automaton_digest(a, a->kept[VOUCH_FOLLOWER_JUDGE]) : 0;
    return constraint->thoughts ? vouch_hash_bytes(grammar, words, sizeof words) : grammar;
}

int64_t vouch_constraint_drops(const vouch_constraint *constraint)
{
    return constraint->automaton.n_drops;
}
