/* SPDX-License-Identifier: MIT */
/*
 * Guesses the text that the grammar leaves no choice about, such as a property's name after the one before:
 *
 *     answer   {"name": "Ada",            forced text   "born":        candidates   "born   "bor   "b   "
 *                             ▲
 *
 * A forced text can be divided into tokens in several ways, and the model's p decides between them, so the source only
 * proposes: the longest tokens that the forced text begins with. A token that ends where the forced text ends is less
 * sure, because the model may prefer a longer token that goes on. Where the answer must end, the source proposes the
 * token that ends it.
 */
#include <stdlib.h>

#include "draft/registry.h"

enum {
    LONGEST = 64, /* bytes of forced text that are looked at */
    RANKS = 4,    /* candidates, the longest token first */
    AT_END = RANKS,
    ENDING = 2 * RANKS,
    KINDS
};

typedef struct source {
    vouch_constraint *constraint; /* NULL: there is no grammar, and no guess */
    int32_t eos;                  /* -1: the vocabulary has none */
} source;

static int32_t grammar_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const source *s = self;
    char text[LONGEST];
    int32_t tokens[RANKS];
    bool ends;
    if (!s->constraint || prefix->depth > prefix->n_tail) return 0;
    const int32_t n_text = vouch_constraint_forced(s->constraint, VOUCH_FOLLOWER_SOURCES, prefix->end - prefix->depth,
                                                   prefix->depth, text, LONGEST, &ends);
    if (n_text == 0 && ends && s->eos >= 0) out[0] = (vouch_candidate){s->eos, ENDING};
    if (n_text == 0) return ends && s->eos >= 0;
    const vouch_trie *trie = vouch_constraint_trie(s->constraint);
    const int32_t n = vouch_trie_prefixes(trie, text, n_text, tokens, RANKS);
    for (int32_t i = 0; i < n; i++) {
        const bool at_end = !ends && (int32_t)vouch_tokenizer_bytes(trie->tokenizer, tokens[i]).size == n_text;
        out[i] = (vouch_candidate){tokens[i], i + (at_end ? AT_END : 0)};
    }
    return n;
}

static double grammar_prior(int32_t kind)
{
    static const double inside[RANKS] = {0.85, 0.08, 0.03, 0.02}, at_end[RANKS] = {0.6, 0.1, 0.05, 0.02};
    return kind == KINDS ? 0.02 : kind == ENDING ? 0.97 : kind < AT_END ? inside[kind] : at_end[kind - AT_END];
}

/* Does nothing: the composition moves its follower of the grammar along the tokens. */
static void grammar_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    (void)self, (void)tokens, (void)n_tokens;
}

static void grammar_rewind(void *self, int32_t n_tokens)
{
    (void)self, (void)n_tokens;
}

static int64_t grammar_start(const void *self)
{
    (void)self;
    return 0;
}

static int64_t grammar_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    (void)self, (void)prefix, (void)token;
    return 0;
}

static size_t grammar_memory(const void *self)
{
    (void)self;
    return sizeof(source);
}

static uint64_t grammar_digest(const void *self)
{
    (void)self;
    return 0;
}

static const vouch_source_ops grammar_ops = {
    .name = "grammar",
    .bit = VOUCH_DRAFTER_GRAMMAR,
    .n_classes = KINDS,
    .observe = grammar_observe,
    .rewind = grammar_rewind,
    .start = grammar_start,
    .step = grammar_step,
    .expand = grammar_expand,
    .prior = grammar_prior,
    .trust = 1,
    .close = free,
    .memory = grammar_memory,
    .digest = grammar_digest,
};

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    *out = (vouch_source){0};
    source *s = calloc(1, sizeof *s);
    if (!s) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the grammar's guesses");
    s->constraint = setup->constraint;
    s->eos = s->constraint ? vouch_tokenizer_eos(setup->target_tokens.tokenizer) : -1;
    *out = (vouch_source){.ops = &grammar_ops, .self = s};
    return VOUCH_OK;
}

const vouch_drafter_type vouch_drafter_type_grammar = {.in_auto = true,
                                                       .needs = "a grammar",
                                                       .need = VOUCH_NEED_GRAMMAR,
                                                       .flags = "json json-schema regex grammar-file",
                                                       .open_free = open_free};
