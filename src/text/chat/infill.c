/* SPDX-License-Identifier: MIT */
/*
 * Prompts for text in the middle (vouch_tokenize_infill in vouch.h has the form).
 *
 * The cut follows llama.cpp's server, so that both give the same tokens for a context of 4096 and more:
 *
 *     window = 2048        prefix: its last 3/4 window        suffix: its first 1/4 window - 2 - begun
 *     files: their last n_ctx - window + 2
 *
 * llama.cpp then refuses a prompt that leaves no room in the context. Here the answer's room comes first: the window
 * shrinks in a small context, and the files give way. BOS is the first token; llama.cpp puts it after the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "text/internal.h"

enum {
    WINDOW = 2048, /* tokens of prefix and suffix: llama.cpp's default n_batch */
    ROOM = 256,    /* tokens kept free for an answer of unknown length, at most a quarter of the context */
    FEWEST = 16,   /* smallest context that is cut for */
    MARKS = 4      /* BOS, PREFIX, SUFFIX, MIDDLE */
};

/* Tokens of all parts, one after the other. */
typedef struct collected {
    const vouch_tokenizer *tokenizer;
    int32_t *tokens; /* [room] */
    size_t n, room;
} collected;

/* A part: tokens[from, past). */
typedef struct part {
    size_t from, past;
} part;

static vouch_status grow(collected *c, size_t n, vouch_error *err)
{
    if (c->room - c->n >= n) return VOUCH_OK;
    const size_t room = 2 * c->room + n;
    int32_t *tokens = realloc(c->tokens, room * sizeof *tokens);
    if (!tokens) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a prompt of %zu tokens", c->n + n);
    c->tokens = tokens;
    c->room = room;
    return VOUCH_OK;
}

static vouch_status add_text(collected *c, const char *text, size_t n_text, unsigned flags, vouch_error *err)
{
    size_t n = 0;
    if (n_text == 0) return VOUCH_OK;
    VOUCH_TRY(grow(c, n_text + 2, err)); /* a token has at least a byte; there may be a space before the text */
    vouch_status status =
        vouch_tokenizer_encode(c->tokenizer, text, n_text, flags, c->tokens + c->n, c->room - c->n, &n, err);
    if (status == VOUCH_E_BUFFER) { /* U+FFFD in place of a byte may be several tokens */
        VOUCH_TRY(grow(c, n, err));
        status = vouch_tokenizer_encode(c->tokenizer, text, n_text, flags, c->tokens + c->n, c->room - c->n, &n, err);
    }
    if (status == VOUCH_OK) c->n += n;
    return status;
}

static vouch_status add_token(collected *c, int32_t token, vouch_error *err)
{
    VOUCH_TRY(grow(c, 1, err));
    c->tokens[c->n++] = token;
    return VOUCH_OK;
}

/* A mark, and after it the name and a line end. */
static vouch_status add_named(collected *c, vouch_infill_part mark, const char *name, vouch_error *err)
{
    const int32_t token = c->tokenizer->infill[mark];
    if (token < 0 || !name) return VOUCH_OK;
    const size_t n = strlen(name);
    char *line = malloc(n + 1);
    if (!line) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a name of %zu bytes", n);
    memcpy(line, name, n);
    line[n] = '\n';
    vouch_status status = add_token(c, token, err);
    if (status == VOUCH_OK) status = add_text(c, line, n + 1, 0, err);
    free(line);
    return status;
}

static vouch_status add_files(collected *c, const vouch_infill *in, vouch_error *err)
{
    static const char between[] = "\n\n--- snippet ---\n\n";
    VOUCH_TRY(add_named(c, VOUCH_INFILL_REPOSITORY, in->repository, err));
    for (size_t i = 0; i < in->n_files; i++) {
        const vouch_infill_file *file = &in->files[i];
        if (c->tokenizer->infill[VOUCH_INFILL_FILE] < 0) VOUCH_TRY(add_text(c, between, sizeof between - 1, 0, err));
        VOUCH_TRY(add_named(c, VOUCH_INFILL_FILE, file->name ? file->name : "tmp", err));
        VOUCH_TRY(add_text(c, file->text, file->n_text, 0, err));
    }
    return add_named(c, VOUCH_INFILL_FILE, in->filename, err);
}

static int64_t size_of(part p)
{
    return (int64_t)(p.past - p.from);
}

/* Keeps the last `most` tokens of the part. */
static void keep_end(part *p, int64_t most)
{
    if (size_of(*p) > most) p->from = p->past - (size_t)(most > 0 ? most : 0);
}

static void keep_begin(part *p, int64_t most)
{
    if (size_of(*p) > most) p->past = p->from + (size_t)(most > 0 ? most : 0);
}

static void cut(const vouch_infill *in, part *files, part *prefix, const part *begun, part *suffix)
{
    const int32_t quarter = in->n_ctx / 4;
    const int32_t answer = in->n_predict > 0 ? vouch_min(in->n_predict, in->n_ctx / 2) : vouch_min(ROOM, quarter);
    const int32_t window = vouch_min(WINDOW, in->n_ctx - answer - MARKS);
    keep_end(prefix, 3 * (window / 4));
    keep_begin(suffix, window / 4 - 2 - size_of(*begun));
    const int64_t rest = size_of(*prefix) + size_of(*begun) + size_of(*suffix) + MARKS;
    keep_end(files, in->n_ctx - window + 2);
    keep_end(files, in->n_ctx - rest - answer);
}

static vouch_status check(const vouch_tokenizer *t, const vouch_infill *in, vouch_error *err)
{
    static const char *const names[] = {" prefix", " suffix", " middle"};
    char missing[32] = "";
    for (int i = 0; i < 3; i++)
        if (t->infill[i] < 0) strncat(missing, names[i], sizeof missing - strlen(missing) - 1);
    if (*missing)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the model can't write text in the middle: its vocabulary lacks a token for:%s. Use a code "
                          "model that was taught to, such as Qwen2.5-Coder",
                          missing);
    if (in->n_ctx != 0 && in->n_ctx < FEWEST)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "n_ctx is %d: expected 0, or at least %d", in->n_ctx, FEWEST);
    return VOUCH_OK;
}

static vouch_status collect(collected *c, const vouch_infill *in, part *files, part *prefix, part *begun, part *suffix,
                            vouch_error *err)
{
    VOUCH_TRY(add_files(c, in, err));
    *files = (part){0, c->n};
    VOUCH_TRY(add_text(c, in->prefix, in->n_prefix, 0, err));
    *prefix = (part){files->past, c->n};
    VOUCH_TRY(add_text(c, in->begun, in->n_begun, VOUCH_TOKENIZE_SPECIAL, err));
    *begun = (part){prefix->past, c->n};
    VOUCH_TRY(add_text(c, in->suffix, in->n_suffix, 0, err));
    *suffix = (part){begun->past, c->n};
    return VOUCH_OK;
}

/* The prompt, as far as it fits. */
typedef struct written {
    int32_t *tokens; /* [capacity] */
    size_t capacity, n;
} written;

static void write_token(written *w, int32_t token)
{
    if (w->n < w->capacity) w->tokens[w->n] = token;
    w->n++;
}

static void write_part(written *w, const collected *c, part p)
{
    for (size_t i = p.from; i < p.past; i++) write_token(w, c->tokens[i]);
}

vouch_status vouch_tokenizer_encode_infill(const vouch_tokenizer *tokenizer, const vouch_infill *infill,
                                           int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err)
{
    collected c = {.tokenizer = tokenizer};
    part files, prefix, begun, suffix;
    VOUCH_TRY(check(tokenizer, infill, err));
    const vouch_status status = collect(&c, infill, &files, &prefix, &begun, &suffix, err);
    if (status == VOUCH_OK) {
        written w = {.tokens = tokens, .capacity = capacity};
        if (infill->n_ctx > 0) cut(infill, &files, &prefix, &begun, &suffix);
        if (tokenizer->add_bos) write_token(&w, tokenizer->bos);
        write_part(&w, &c, files);
        write_token(&w, tokenizer->infill[VOUCH_INFILL_PREFIX]);
        write_part(&w, &c, prefix);
        write_part(&w, &c, begun);
        write_token(&w, tokenizer->infill[VOUCH_INFILL_SUFFIX]);
        write_part(&w, &c, suffix);
        write_token(&w, tokenizer->infill[VOUCH_INFILL_MIDDLE]);
        *n_tokens = w.n;
    }
    free(c.tokens);
    if (status != VOUCH_OK || *n_tokens <= capacity) return status;
    return vouch_fail(err, VOUCH_E_BUFFER, "%zu tokens do not fit into a buffer for %zu", *n_tokens, capacity);
}
