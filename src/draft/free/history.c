/* SPDX-License-Identifier: MIT */
/*
 * Suffix decoding over earlier answers. Each prefix is searched for in them: the tokens that followed its longest
 * matches are the candidates, the most frequent first; then come those of shorter matches. Once SURE tokens agree, the
 * source only follows that answer with a finger, which takes one look at a token:
 *
 *   answer    a b c d e f g h i j k l m n o          sequence   ... a b c d e f g h i j k l
 *                                     ▲ the finger                                         ▲
 */
#include "draft/free/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "draft/free/suffix.h"
#include "draft/registry.h"

enum {
    SURE = 12, /* tokens that agree */
    NO_CURSOR = 0,
};

typedef struct history {
    vouch_answers *answers;
    uint64_t scope;
    int32_t n_told;                                    /* length of the sequence */
    int32_t n_matches;                                 /* of its end; -1: not searched for since a rewind */
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES]; /* [n_matches] */
} history;

/* The end of the sequence is searched for once. What is learned of each token, and each draft, begins there. */
static void history_observe(void *self, const int32_t *tokens, int32_t n_tokens)
{
    history *h = self;
    h->n_told = n_tokens;
    h->n_matches =
        vouch_answers_find(h->answers, h->scope, tokens + n_tokens, vouch_min(n_tokens, VOUCH_TAIL), h->matches);
}

static void history_rewind(void *self, int32_t n_tokens)
{
    history *h = self;
    if (n_tokens < h->n_told) h->n_matches = -1;
    h->n_told = vouch_min(h->n_told, n_tokens);
}

/* The matches of a prefix. Returns their number. */
static int32_t matches_of(const history *h, const vouch_prefix *prefix, vouch_answer_match *out)
{
    if (prefix->depth > 0 || h->n_matches < 0)
        return vouch_answers_find(h->answers, h->scope, prefix->end, prefix->n_tail, out);
    memcpy(out, h->matches, (size_t)h->n_matches * sizeof *out);
    return h->n_matches;
}

/* A cursor is the finger's position, below the sequence itself; NO_CURSOR: a prefix that is searched for. */
static int64_t history_start(const void *self)
{
    (void)self;
    return NO_CURSOR;
}

/* A finger begins with the first guess, so that a draft takes one search for each prefix near the sequence, and one
 * look at a token for each further guess. */
static int64_t history_step(const void *self, const vouch_prefix *prefix, int32_t token)
{
    const history *h = self;
    if (prefix->cursor != NO_CURSOR)
        return vouch_answers_token(h->answers, h->scope, prefix->cursor) == token ? prefix->cursor + 1 : NO_CURSOR;
    if (prefix->depth > 0) return NO_CURSOR;
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
    const int32_t n = matches_of(h, prefix, matches);
    for (int32_t i = 0; i < n && matches[i].length >= SURE; i++)
        if (vouch_answers_token(h->answers, h->scope, matches[i].next) == token) return matches[i].next + 1;
    return NO_CURSOR;
}

/* How many of the matches with at least `length` tokens the token follows. */
static int32_t followed(const int32_t *next, const vouch_answer_match *matches, int32_t n, int32_t length,
                        int32_t token, int32_t *total)
{
    int32_t count = 0;
    *total = 0;
    for (int32_t i = 0; i < n && matches[i].length >= length; i++) {
        if (next[i] != VOUCH_ANSWERS_SEPARATOR) ++*total;
        count += next[i] == token;
    }
    return count;
}

static int32_t history_expand(const void *self, const vouch_prefix *prefix, vouch_candidate *out)
{
    const history *h = self;
    if (prefix->cursor != NO_CURSOR) {
        out[0].token = vouch_answers_token(h->answers, h->scope, prefix->cursor);
        out[0].kind = vouch_suffix_kind(SURE, 1, 1, true);
        return out[0].token != VOUCH_ANSWERS_SEPARATOR;
    }
    vouch_answer_match matches[VOUCH_ANSWERS_MATCHES];
    int32_t next[VOUCH_ANSWERS_MATCHES], counts[VOUCH_MAX_OPTIONS], n = 0;
    const int32_t n_matches = matches_of(h, prefix, matches);
    for (int32_t i = 0; i < n_matches; i++) {
        next[i] = vouch_answers_token(h->answers, h->scope, matches[i].next);
        matches[i].length = vouch_min(matches[i].length, SURE);
    }
    for (int32_t i = 0; i < n_matches && n < VOUCH_MAX_OPTIONS; i++) {
        bool is_new = next[i] != VOUCH_ANSWERS_SEPARATOR;
        for (int32_t j = 0; j < n; j++) is_new &= out[j].token != next[i];
        if (!is_new) continue;
        const bool is_longest = matches[i].length == matches[0].length;
        int32_t total, at = n++;
        const int32_t count = followed(next, matches, n_matches, matches[i].length, next[i], &total);
        for (; at > 0 && is_longest && count > counts[at - 1]; at--) {
            out[at] = out[at - 1];
            counts[at] = counts[at - 1];
        }
        out[at] = (vouch_candidate){next[i], vouch_suffix_kind(matches[i].length, count, total, is_longest)};
        counts[at] = count;
    }
    return n;
}

static void history_close(void *self)
{
    free(self);
}

static size_t history_memory(const void *self)
{
    return sizeof *(const history *)self;
}

/* The answers belong to all sequences: this one's state is its length. */
static uint64_t history_digest(const void *self)
{
    return (uint64_t)((const history *)self)->n_told;
}

static const vouch_source_ops history_ops = {
    .name = "history",
    .bit = VOUCH_DRAFTER_HISTORY,
    .n_classes = VOUCH_SUFFIX_KINDS,
    .observe = history_observe,
    .rewind = history_rewind,
    .start = history_start,
    .step = history_step,
    .expand = history_expand,
    .prior = vouch_suffix_prior,
    .trust = 0.4,
    .close = history_close,
    .memory = history_memory,
    .digest = history_digest,
};

vouch_status vouch_source_history_open(vouch_source *out, vouch_answers *answers, uint64_t scope, vouch_error *err)
{
    *out = (vouch_source){0};
    history *h = malloc(sizeof *h);
    if (!h) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a source of earlier answers");
    *h = (history){.answers = answers, .scope = scope, .n_matches = -1};
    *out = (vouch_source){.ops = &history_ops, .self = h};
    return VOUCH_OK;
}

static vouch_status open_free(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    return vouch_source_history_open(out, setup->answers, setup->scope, err);
}

static bool is_given(const vouch_speculation *speculation)
{
    return speculation->draft_memory;
}

const vouch_drafter_type vouch_drafter_type_history = {.in_auto = true,
                                                       .needs = "a draft memory",
                                                       .need = VOUCH_NEED_OPTION,
                                                       .lacks = "a draft memory; set draft_memory",
                                                       .is_given = is_given,
                                                       .flags = "draft-memory",
                                                       .open_free = open_free};
