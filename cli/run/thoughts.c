/* SPDX-License-Identifier: MIT */
#include "run/thoughts.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"

/* The number of bytes at the end of text[n] that may be the beginning of the marker. */
static size_t partial_length(const char *text, size_t n, const char *marker)
{
    size_t length = strlen(marker) - 1 < n ? strlen(marker) - 1 : n;
    while (length > 0 && memcmp(text + n - length, marker, length) != 0) length--;
    return length;
}

/* Handles text[n] until the state ends. Returns the number of bytes handled, of which the first *shown are written. */
static size_t state_run(cli_thoughts *t, const char *text, size_t n, bool is_end, size_t *shown)
{
    *shown = 0;
    if (t->state == CLI_THOUGHTS_SKIPPING) {
        size_t white = 0;
        while (white < n && (text[white] == '\n' || text[white] == ' ')) white++;
        if (white < n) t->state = CLI_THOUGHTS_SHOWN;
        return white;
    }
    const bool is_shown = t->state == CLI_THOUGHTS_SHOWN;
    const char *marker = is_shown ? t->begin : t->end, *found = memmem(text, n, marker, strlen(marker));
    const size_t before = found ? (size_t)(found - text) : n - (is_end ? 0 : partial_length(text, n, marker));
    if (is_shown) *shown = before;
    if (!found) return before;
    t->state = is_shown ? CLI_THOUGHTS_HIDDEN : CLI_THOUGHTS_SKIPPING;
    return before + strlen(marker);
}

const char *cli_thoughts_take(cli_thoughts *t, const char *text, size_t n, bool is_end, size_t *n_out)
{
    if (t->n + n + 1 > t->capacity) {
        const size_t capacity = 2 * (t->n + n + 1);
        char *larger = realloc(t->text, capacity), *out = realloc(t->out, capacity);
        if (larger) t->text = larger;
        if (out) t->out = out;
        if (!larger || !out) return NULL;
        t->capacity = capacity;
    }
    if (n) memcpy(t->text + t->n, text, n);
    t->n += n;
    size_t at = 0, used = 0;
    for (bool moved = true; moved && at < t->n;) {
        const cli_thoughts_state before = t->state;
        size_t shown;
        const size_t handled = state_run(t, t->text + at, t->n - at, is_end, &shown);
        memcpy(t->out + used, t->text + at, shown);
        used += shown;
        t->n_hidden += handled - shown;
        at += handled;
        moved = handled > 0 || t->state != before;
    }
    memmove(t->text, t->text + at, t->n - at);
    t->n -= at;
    *n_out = used;
    return t->out;
}

/* ---------------------------------------------------------------- control tokens */

static void find_controls(cli_thoughts *t, const vouch_model *model, const char *mark)
{
    int32_t tokens[32];
    size_t n = 0;
    if (vouch_tokenize(model, mark, strlen(mark), VOUCH_TOKENIZE_SPECIAL, tokens, 32, &n, NULL)) return;
    for (size_t i = 0; i < n && t->n_controls < CLI_THOUGHTS_CONTROLS; i++)
        if (vouch_token_is_special(model, tokens[i])) t->controls[t->n_controls++] = tokens[i];
}

/* Whether the prompt ends with the mark, but for white space. */
static bool ends_with_mark(const vouch_model *model, const int32_t *prompt, size_t n, const char *mark)
{
    const size_t n_mark = strlen(mark);
    size_t left = n_mark;
    for (size_t i = n; i-- > 0 && left > 0;) {
        size_t n_bytes = 0;
        const char *bytes = vouch_token_bytes(model, prompt[i], &n_bytes);
        for (; n_bytes > 0 && left > 0; n_bytes--) {
            const char byte = bytes[n_bytes - 1];
            if (left == n_mark && (byte == ' ' || byte == '\n')) continue;
            if (byte != mark[--left]) return false;
        }
    }
    return left == 0;
}

cli_thoughts cli_thoughts_of(const vouch_model *model, const int32_t *prompt, size_t n)
{
    const vouch_model_info *info = vouch_model_get_info(model);
    const bool writes = *info->thoughts_begin != '\0'; /* a model may think whose template writes no thoughts */
    cli_thoughts t = {.begin = writes ? info->thoughts_begin : "<think>",
                      .end = writes ? info->thoughts_end : "</think>"};
    if (ends_with_mark(model, prompt, n, t.begin)) t.state = CLI_THOUGHTS_HIDDEN;
    find_controls(&t, model, t.begin);
    find_controls(&t, model, t.end);
    return t;
}

static bool is_control(const cli_thoughts *t, int32_t token)
{
    for (int32_t i = 0; i < t->n_controls; i++)
        if (t->controls[i] == token) return true;
    return false;
}

/* Writes the step's text with the control tokens of marks to `out` (NULL: only counts). Returns the length. The text
 * may lack bytes of the step's last tokens, and begin with those of tokens before. */
static size_t with_controls(const cli_thoughts *t, const vouch_model *model, const vouch_step *step, char *out)
{
    size_t from = 0, used = 0, n_token_bytes = t->n_token_bytes;
    for (int32_t i = 0; i < step->n_tokens; i++) {
        size_t n = 0;
        const bool is_special = vouch_token_is_special(model, step->tokens[i]);
        const char *bytes = vouch_token_bytes(model, step->tokens[i], &n);
        if (!is_special) n_token_bytes += n;
        size_t end = n_token_bytes > t->n_text ? n_token_bytes - t->n_text : 0;
        if (end > step->n_text || i == step->n_tokens - 1) end = step->n_text;
        if (end < from) end = from;
        if (out && end > from) memcpy(out + used, step->text + from, end - from);
        used += end - from;
        from = end;
        if (!is_control(t, step->tokens[i])) continue;
        if (out && n > 0) memcpy(out + used, bytes, n);
        used += n;
    }
    return used;
}

/* Takes the control tokens of marks out of text[*n]. */
static void without_controls(const cli_thoughts *t, const vouch_model *model, char *text, size_t *n)
{
    for (int32_t i = 0; i < t->n_controls; i++) {
        size_t n_name = 0;
        const char *name = vouch_token_bytes(model, t->controls[i], &n_name);
        char *at;
        while (n_name > 0 && (at = memmem(text, *n, name, n_name)) != NULL) {
            memmove(at, at + n_name, *n - n_name - (size_t)(at - text));
            *n -= n_name;
        }
    }
}

const char *cli_thoughts_step(cli_thoughts *t, const vouch_model *model, const vouch_step *step, size_t *n_out)
{
    const size_t n = with_controls(t, model, step, NULL);
    char *text = malloc(n + 1);
    if (!text) return NULL;
    with_controls(t, model, step, text);
    for (int32_t i = 0; i < step->n_tokens; i++) {
        size_t n_bytes = 0;
        (void)vouch_token_bytes(model, step->tokens[i], &n_bytes);
        if (!vouch_token_is_special(model, step->tokens[i])) t->n_token_bytes += n_bytes;
    }
    t->n_text += step->n_text;
    const char *out = cli_thoughts_take(t, text, n, step->finish != VOUCH_FINISH_NONE, n_out);
    free(text);
    if (out) without_controls(t, model, t->out, n_out);
    return out;
}

void cli_thoughts_free(cli_thoughts *t)
{
    free(t->text);
    free(t->out);
}
