/* SPDX-License-Identifier: MIT */
/*
 * Unigram tokenization (Kudo, ACL 2018; SentencePiece): of all ways to write a text as tokens, the one with the highest
 * sum of scores, found by Viterbi's algorithm.
 *
 *   index   0     1     2     3          best[i]: the best path of tokens to text[i]: its score, its last token and
 *   text       T     h     e             where that token begins. Every token that begins at i may improve best[i + n].
 *
 * A character that no token of its own covers may become unknown, at the worst score less 10. It becomes its bytes'
 * tokens <0xNN> where the vocabulary has them all. Otherwise neighbouring unknown characters become one unknown token.
 * User-defined tokens score 0. Equal scores: the path found first stays, the one with the longer last token.
 *
 * Tokens are found in the tokenizer's `words`, as special tokens are in their array (specials.c).
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"
#include "text/unicode.h"

typedef struct unigram {
    double *score; /* [n_tokens] */
    double unknown_score;
    bool has_bytes; /* the vocabulary spells unknown characters in tokens <0xNN> */
} unigram;

/* -------------------------------------------------------------------- open */

static vouch_status scores_load(vouch_tokenizer *t, unigram *u, const vouch_gguf *gguf, vouch_error *err)
{
    vouch_gguf_array scores;
    float worst = FLT_MAX;
    VOUCH_TRY(vouch_gguf_get_array(gguf, "tokenizer.ggml.scores", true, &scores, err));
    for (int32_t i = 0; i < t->n_tokens; i++) {
        VOUCH_TRY(vouch_vocab_score(vouch_gguf_path(gguf), &scores, (size_t)i, &u->score[i], err));
        if (t->kind[i] == TOKEN_NORMAL && (float)u->score[i] < worst) worst = (float)u->score[i];
        if (t->kind[i] == TOKEN_USER_DEFINED) u->score[i] = 0;
    }
    u->unknown_score = (double)(worst - 10.0f);
    return VOUCH_OK;
}

vouch_status vouch_unigram_open(vouch_tokenizer *tokenizer, const vouch_gguf *gguf, vouch_error *err)
{
    unigram *u = tokenizer->unigram = calloc(1, sizeof *u);
    const size_t n = (size_t)tokenizer->n_tokens;
    if (u) u->score = malloc(n * sizeof *u->score);
    if (!u || !u->score) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a tokenizer");
    u->has_bytes = true;
    for (int byte = 0; byte < 256; byte++) {
        const int32_t id = tokenizer->byte_token[byte];
        u->has_bytes &= id >= 0 && tokenizer->kind[id] == TOKEN_BYTE;
    }
    return scores_load(tokenizer, u, gguf, err);
}

void vouch_unigram_close(unigram *u)
{
    if (!u) return;
    free(u->score);
    free(u);
}

/* ------------------------------------------------------------------ encode */

typedef struct path_end {
    double score;
    int32_t token; /* -1: none yet */
    int32_t begin; /* of the token */
} path_end;

static void path_offer(path_end *best, double score, int32_t token, size_t begin)
{
    if (best->token != -1 && score <= best->score) return;
    *best = (path_end){score, token, (int32_t)begin};
}

enum { UNKNOWN = -2 }; /* in place of a token's id */

/* Extends the best path to text[i] by every token that begins there. The character at text[i] has `length` bytes. */
static void path_extend(const vouch_tokenizer *t, const char *text, size_t n, size_t i, size_t length, path_end *best)
{
    const unigram *u = t->unigram;
    size_t low = 0, high = t->n_words;
    bool covered = false;
    for (size_t depth = 0; i + depth < n && low < high;) {
        const int32_t token = vouch_sorted_step(t, t->words, &low, &high, depth, (unsigned char)text[i + depth]);
        depth++;
        if (token < 0) continue; /* of equal tokens the last counts */
        path_offer(&best[i + depth], best[i].score + u->score[token], token, i);
        covered |= depth == length;
    }
    if (!covered) path_offer(&best[i + length], best[i].score + u->unknown_score, UNKNOWN, i);
}

static vouch_status path_encode(encoder *e, const char *text, size_t n, vouch_error *err)
{
    const vouch_tokenizer *t = e->tokenizer;
    path_end *best = malloc((n + 1) * sizeof *best);
    if (!best) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to tokenize a text of %zu bytes", n);
    for (size_t i = 0; i <= n; i++) best[i] = (path_end){0, -1, 0};
    for (size_t i = 0, length; i < n; i += length) {
        length = vouch_utf8_length(text + i, n - i);
        path_extend(t, text, n, i, length, best);
    }
    /* The last token comes first; `next` turns the path around. */
    int32_t next = -1;
    for (int32_t end = (int32_t)n; end > 0;) {
        const int32_t begin = best[end].begin;
        best[end].begin = next;
        next = end;
        end = begin;
    }
    bool unknown = false;
    for (int32_t begin = 0, end = next; end > 0; end = best[end].begin) {
        const bool is_unknown = best[end].token == UNKNOWN;
        if (!is_unknown) encoder_push(e, best[end].token);
        else if (t->unigram->has_bytes) vouch_bpe_spell(e, text + begin, (size_t)(end - begin));
        else if (!unknown) encoder_push(e, t->unknown);
        unknown = is_unknown;
        begin = end;
    }
    free(best);
    return VOUCH_OK;
}

vouch_status vouch_unigram_text(encoder *e, const char *text, size_t n, vouch_error *err)
{
    char *normal;
    size_t n_normal;
    VOUCH_TRY(vouch_charsmap_text(e->tokenizer, e->tokenizer->space_prefix, text, n, &normal, &n_normal, err));
    const vouch_status status = path_encode(e, normal, n_normal, err);
    free(normal);
    return status;
}
