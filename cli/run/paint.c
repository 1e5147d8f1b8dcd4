/* SPDX-License-Identifier: MIT */
#include "run/paint.h"

#include <stdlib.h>
#include <string.h>

static const char *const codes[] = {[VOUCH_ORIGIN_ACCEPTED] = "\033[32m",
                                    [VOUCH_ORIGIN_PLAIN] = "",
                                    [VOUCH_ORIGIN_RESIDUAL] = "\033[33m",
                                    [VOUCH_ORIGIN_BONUS] = "\033[36m"};

/* Grows the buffer to hold n bytes after `used`. */
static bool reserve(char **buffer, size_t used, size_t n, size_t capacity, size_t *new_capacity)
{
    if (used + n <= capacity) return true;
    *new_capacity = (used + n) * 2;
    char *larger = realloc(*buffer, *new_capacity);
    if (larger) *buffer = larger;
    return larger != NULL;
}

static bool queue_token(cli_paint *paint, const vouch_model *model, int32_t token, vouch_origin origin)
{
    size_t n = 0;
    const char *bytes = vouch_token_is_special(model, token) ? NULL : vouch_token_bytes(model, token, &n);
    if (!bytes || n == 0) return true;
    size_t capacity = paint->capacity;
    if (!reserve(&paint->bytes, paint->n, n, paint->capacity, &capacity) ||
        !reserve(&paint->colors, paint->n, n, paint->capacity, &capacity))
        return false;
    paint->capacity = capacity;
    memcpy(paint->bytes + paint->n, bytes, n);
    memset(paint->colors + paint->n, (int)origin, n);
    paint->n += n;
    return true;
}

static bool put(cli_paint *paint, const char *bytes, size_t n)
{
    if (!reserve(&paint->out, paint->n_out, n, paint->out_capacity, &paint->out_capacity)) return false;
    memcpy(paint->out + paint->n_out, bytes, n);
    paint->n_out += n;
    return true;
}

/* The number of queued bytes, from `from` on, that this piece of text shows: n equal bytes; or, for a U+FFFD, the
 * malformed bytes that it replaces. They end before the text's next byte, `next` (-1: the text ends here). */
static size_t queue_match(const cli_paint *paint, size_t from, const char *text, size_t n, int next)
{
    if (from + n <= paint->n && memcmp(paint->bytes + from, text, n) == 0) return n;
    size_t taken = from < paint->n;
    while (taken && from + taken < paint->n && (unsigned char)paint->bytes[from + taken] >= 0x80 &&
           (unsigned char)paint->bytes[from + taken] != next)
        taken++;
    return taken;
}

const char *cli_paint_step(cli_paint *paint, const vouch_model *model, const vouch_step *step, size_t *n_out)
{
    vouch_origin now = VOUCH_ORIGIN_PLAIN;
    size_t used = 0;
    paint->n_out = 0;
    for (int32_t i = 0; i < step->n_tokens; i++)
        if (!queue_token(paint, model, step->tokens[i], i < step->n_accepted ? VOUCH_ORIGIN_ACCEPTED : step->last))
            return NULL;
    for (size_t i = 0; i < step->n_text;) {
        const size_t length = i + 3 <= step->n_text && memcmp(step->text + i, "\xef\xbf\xbd", 3) == 0 ? 3 : 1;
        const int next = i + length < step->n_text ? (unsigned char)step->text[i + length] : -1;
        const vouch_origin origin = used < paint->n ? (vouch_origin)paint->colors[used] : now;
        const bool starts = ((unsigned char)step->text[i] & 0xc0) != 0x80;
        if (origin != now && starts) {
            if (now != VOUCH_ORIGIN_PLAIN && !put(paint, "\033[0m", 4)) return NULL;
            if (!put(paint, codes[origin], strlen(codes[origin]))) return NULL;
            now = origin;
        }
        if (!put(paint, step->text + i, length)) return NULL;
        used += queue_match(paint, used, step->text + i, length, next);
        i += length;
    }
    if (now != VOUCH_ORIGIN_PLAIN && !put(paint, "\033[0m", 4)) return NULL;
    if (paint->n > used) {
        memmove(paint->bytes, paint->bytes + used, paint->n - used);
        memmove(paint->colors, paint->colors + used, paint->n - used);
    }
    paint->n -= used;
    *n_out = paint->n_out;
    return paint->out ? paint->out : "";
}

void cli_paint_legend(FILE *stream, bool color)
{
    static const char *const words[] = {[VOUCH_ORIGIN_ACCEPTED] = "accepted guess",
                                        [VOUCH_ORIGIN_PLAIN] = "no draft",
                                        [VOUCH_ORIGIN_RESIDUAL] = "replaces a rejected guess",
                                        [VOUCH_ORIGIN_BONUS] = "bonus token after a whole draft"};
    static const char *const names[] = {[VOUCH_ORIGIN_ACCEPTED] = "green",
                                        [VOUCH_ORIGIN_PLAIN] = "plain",
                                        [VOUCH_ORIGIN_RESIDUAL] = "yellow",
                                        [VOUCH_ORIGIN_BONUS] = "cyan"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        fprintf(stream, "%s%s%s: %s%s", i ? "; " : "  ", color ? codes[i] : "", names[i], words[i],
                color && *codes[i] ? "\033[0m" : "");
    fputc('\n', stream);
}

void cli_paint_free(cli_paint *paint)
{
    free(paint->bytes);
    free(paint->colors);
    free(paint->out);
}
