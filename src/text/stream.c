/* SPDX-License-Identifier: MIT */
/*
 * Turns tokens into text that may be shown at once.
 *
 *   bytes of tokens ─► pending: 0 to 3 bytes of a character that is not complete
 *                      │ a whole character, or U+FFFD for bytes that can't become one
 *                      ▼
 *   text   [ taken | ready | held ]
 *                          ▲      held: the longest end of the text that begins a stop text
 *
 * Invariants: text holds whole characters. `ready` never reaches into the beginning of a stop text, so taken text is
 * never taken back. The output depends on the bytes alone, not on how tokens divide them.
 *
 * Each stop text is followed byte by byte with the failure function of Knuth, Morris and Pratt (SIAM J. Comput. 6(2),
 * 1977), in one state. Stop texts consist of whole characters, so they begin and end where characters do. The first
 * complete stop text ends the text; if several are complete at the same byte, the longest does.
 *
 * Some tokenizers put a space before a text and after each special token (spaces.c). There the first token loses the
 * space at its beginning.
 *
 * Malformed bytes become one U+FFFD for each longest beginning of a character (Unicode 15, section 3.9).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"
#include "text/unicode.h"

typedef struct stop_text {
    const char *text;       /* [n] */
    const uint32_t *border; /* [n] length of the longest proper beginning of text[0..i] that is also its end */
    size_t n, state;        /* the text so far ends with the first `state` bytes */
} stop_text;

struct vouch_stream {
    const vouch_tokenizer *tokenizer;
    vouch_arena arena; /* stops, their tables, text */
    size_t memory;
    stop_text *stops; /* [n_stops] */
    size_t n_stops;
    char *text; /* [capacity] */
    size_t capacity, n_text, ready, taken;
    char pending[4];
    size_t n_pending;
    bool first;   /* the next token's leading space is the tokenizer's prefix and no text */
    bool over;    /* a stop text is complete, or vouch_stream_finish was called */
    int32_t stop; /* the number of the stop text that is complete; -1: none */
};

/* ------------------------------------------------------------------- open */

static vouch_status stops_check(const char *const *stop, size_t n_stop, vouch_error *err)
{
    for (size_t i = 0; i < n_stop; i++) {
        const size_t n = stop && stop[i] ? strlen(stop[i]) : 0;
        if (n == 0)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "stop text %zu is empty: expected at least one character", i);
        if (n > INT32_MAX)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "stop text %zu has %zu bytes: expected at most %d", i, n,
                              INT32_MAX);
        if (vouch_utf8_valid_prefix(stop[i], n) != n)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "stop text %zu is \"%.40s\", which is not UTF-8", i, stop[i]);
    }
    return VOUCH_OK;
}

static void stop_prepare(stop_text *stop, char *text, uint32_t *border, const char *source)
{
    memcpy(text, source, stop->n);
    uint32_t length = 0;
    border[0] = 0;
    for (size_t i = 1; i < stop->n; i++) {
        while (length > 0 && text[i] != text[length]) length = border[length - 1];
        if (text[i] == text[length]) length++;
        border[i] = length;
    }
    stop->text = text;
    stop->border = border;
}

/* Runs twice. The first run counts, over an arena without memory, and writes nothing. */
static void stream_layout(vouch_stream *stream, const char *const *stop, size_t n_stop, size_t max_tokens)
{
    size_t longest_stop = 0, bytes = 0;
    stream->stops = vouch_arena_take(&stream->arena, n_stop, sizeof *stream->stops);
    for (size_t i = 0; i < n_stop; i++) {
        const size_t n = strlen(stop[i]);
        char *text = vouch_arena_take(&stream->arena, n, 1);
        uint32_t *border = vouch_arena_take(&stream->arena, n, sizeof *border);
        if (n > longest_stop) longest_stop = n;
        if (!stream->arena.base) continue;
        stream->stops[i].n = n;
        stop_prepare(&stream->stops[i], text, border, stop[i]);
    }
    /* A byte becomes at most the three bytes of U+FFFD. The pending bytes become one more U+FFFD. */
    const size_t longest_token = stream->tokenizer ? stream->tokenizer->longest : 0;
    if (!vouch_mul_size(max_tokens, 3 * longest_token, &bytes) ||
        __builtin_add_overflow(bytes, longest_stop + 3, &bytes))
        stream->arena.overflow = true;
    stream->capacity = bytes;
    stream->text = vouch_arena_take(&stream->arena, bytes, 1);
}

bool vouch_stream_drops_space(const vouch_tokenizer *tokenizer, int32_t token)
{
    if (!tokenizer || !tokenizer->space_prefix) return false;
    return token < 0 || vouch_tokenizer_is_special(tokenizer, token) ||
           (token < tokenizer->n_tokens && tokenizer->kind[token] == TOKEN_USER_DEFINED);
}

void vouch_stream_reset(vouch_stream *stream, int32_t before)
{
    stream->first = vouch_stream_drops_space(stream->tokenizer, before);
    for (size_t i = 0; i < stream->n_stops; i++) stream->stops[i].state = 0;
    stream->n_text = stream->ready = stream->taken = stream->n_pending = 0;
    stream->over = false;
    stream->stop = -1;
}

vouch_status vouch_stream_open(vouch_stream **out, const vouch_tokenizer *tokenizer, const char *const *stop,
                               size_t n_stop, size_t max_tokens, vouch_error *err)
{
    *out = NULL;
    if (max_tokens == 0) return vouch_fail(err, VOUCH_E_ARGUMENT, "max_tokens is 0: expected at least 1");
    VOUCH_TRY(stops_check(stop, n_stop, err));
    vouch_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a text stream");
    stream->tokenizer = tokenizer;
    stream->n_stops = n_stop;
    stream_layout(stream, stop, n_stop, max_tokens);
    stream->memory = sizeof *stream + stream->arena.used;
    const vouch_status status = vouch_arena_allocate(&stream->arena, "a text stream", err);
    if (status != VOUCH_OK) {
        free(stream);
        return status;
    }
    stream_layout(stream, stop, n_stop, max_tokens);
    vouch_stream_reset(stream, -1);
    *out = stream;
    return VOUCH_OK;
}

void vouch_stream_close(vouch_stream *stream)
{
    if (!stream) return;
    vouch_arena_free(&stream->arena);
    free(stream);
}

size_t vouch_stream_memory(const vouch_stream *stream)
{
    return stream->memory;
}

/* ------------------------------------------------------------------- push */

/* True when the stop text is complete with this byte. */
static bool stop_advance(stop_text *stop, char byte)
{
    size_t state = stop->state; /* < n: a complete stop text has ended the text */
    while (state > 0 && stop->text[state] != byte) state = stop->border[state - 1];
    stop->state = state + (stop->text[state] == byte);
    return stop->state == stop->n;
}

/* Adds a whole character; true when it completes a stop text. */
static bool stream_character(vouch_stream *stream, const char *character, size_t n)
{
    size_t held = 0, found = 0;
    assert(stream->n_text + n <= stream->capacity);
    memcpy(stream->text + stream->n_text, character, n);
    stream->n_text += n;
    for (size_t s = 0; s < stream->n_stops; s++) {
        stop_text *stop = &stream->stops[s];
        bool complete = false;
        for (size_t i = 0; i < n; i++) complete = stop_advance(stop, character[i]);
        if (complete && stop->n > found) {
            found = stop->n;
            stream->stop = (int32_t)s;
        }
        if (stop->state > held) held = stop->state;
    }
    stream->ready = stream->n_text - held;
    if (found == 0) return false;
    stream->n_text -= found;
    stream->ready = stream->n_text;
    stream->over = true;
    return true;
}

static bool stream_replace_pending(vouch_stream *stream)
{
    stream->n_pending = 0;
    return stream_character(stream, "\xef\xbf\xbd", 3);
}

/* One more byte of the answer; true when a stop text is complete. */
static bool stream_byte(vouch_stream *stream, char byte)
{
    stream->pending[stream->n_pending++] = byte;
    const size_t n = stream->n_pending;
    if (vouch_utf8_length(stream->pending, n) == n) {
        stream->n_pending = 0;
        return stream_character(stream, stream->pending, n);
    }
    if (vouch_utf8_is_partial(stream->pending, n)) return false;
    if (n == 1) return stream_replace_pending(stream);
    /* The byte doesn't continue the pending character: U+FFFD replaces the character, and the byte begins a new one. */
    return stream_replace_pending(stream) || stream_byte(stream, byte);
}

bool vouch_stream_push(vouch_stream *stream, int32_t token)
{
    memmove(stream->text, stream->text + stream->taken, stream->n_text - stream->taken);
    stream->n_text -= stream->taken;
    stream->ready -= stream->taken;
    stream->taken = 0;
    if (stream->over) return false;
    const bool first = stream->first;
    stream->first = vouch_stream_drops_space(stream->tokenizer, token);
    if (vouch_tokenizer_is_special(stream->tokenizer, token)) return false;
    const vouch_text bytes = vouch_tokenizer_bytes(stream->tokenizer, token);
    for (size_t i = first && bytes.size > 0 && bytes.data[0] == ' '; i < bytes.size; i++)
        if (stream_byte(stream, bytes.data[i])) return true;
    return false;
}

int32_t vouch_stream_stop(const vouch_stream *stream)
{
    return stream->stop;
}

void vouch_stream_finish(vouch_stream *stream)
{
    if (stream->over) return;
    if (stream->n_pending > 0) (void)stream_replace_pending(stream);
    stream->ready = stream->n_text;
    stream->over = true;
}

vouch_text vouch_stream_take(vouch_stream *stream)
{
    const vouch_text text = {stream->text + stream->taken, stream->ready - stream->taken};
    stream->taken = stream->ready;
    return text;
}
