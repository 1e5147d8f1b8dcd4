/* SPDX-License-Identifier: MIT */
#include "text/chat/thoughts.h"

#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "text/internal.h"

#define WHITE " \n\t\r"

enum { TAIL_TOKENS = 32, TAIL_BYTES = 512 }; /* what is read of the end of a prompt */

/* -------------------------------------------------------- reading a template */

static vouch_text part_of(const char *from, const char *past)
{
    return (vouch_text){from, (size_t)(past - from)};
}

static vouch_text trimmed(vouch_text s)
{
    while (s.size > 0 && strchr(WHITE, s.data[0])) s.data++, s.size--;
    while (s.size > 0 && strchr(WHITE, s.data[s.size - 1])) s.size--;
    return s;
}

static const char *find(vouch_text in, const char *what)
{
    return in.size > 0 ? memmem(in.data, in.size, what, strlen(what)) : NULL;
}

/* <...> or [...] at the beginning of s; otherwise s. */
static vouch_text first_mark(vouch_text s)
{
    const char *end = s.size == 0        ? NULL
                      : s.data[0] == '<' ? memchr(s.data, '>', s.size)
                      : s.data[0] == '[' ? memchr(s.data, ']', s.size)
                                         : NULL;
    return end ? part_of(s.data, end + 1) : s;
}

/* <...> or [...] at the end of s; otherwise s. */
static vouch_text last_mark(vouch_text s)
{
    const char last = s.size > 0 ? s.data[s.size - 1] : ' ';
    if (last != '>' && last != ']') return s;
    for (size_t i = s.size; i > 0; i--)
        if (s.data[i - 1] == (last == '>' ? '<' : '[')) return part_of(s.data + i - 1, s.data + s.size);
    return s;
}

/* Renders a conversation. The text is "" where the template refuses it; *out is the caller's to free(). False: no
 * memory. */
static bool render(const vouch_tokenizer *t, const char *json, char **out, vouch_text *text)
{
    size_t n = 0;
    *out = NULL;
    *text = (vouch_text){"", 0};
    vouch_status status = vouch_tokenizer_render_json(t, json, strlen(json), NULL, 0, &n, NULL);
    if (status != VOUCH_E_BUFFER) return status != VOUCH_E_MEMORY;
    if (!(*out = malloc(n))) return false;
    status = vouch_tokenizer_render_json(t, json, strlen(json), *out, n, &n, NULL);
    if (status == VOUCH_OK) *text = (vouch_text){*out, n};
    return status != VOUCH_E_MEMORY;
}

/* The marks around the thoughts of a rendered message. `open` is the text without the message, ready for an answer: it
 * may have opened the thoughts, with the mark of the message or with one of its own. */
static void read_marks(vouch_text open, vouch_text whole, vouch_text *begin, vouch_text *closing)
{
    const char *thought = find(whole, "@thought@"), *said = find(whole, "@said@");
    size_t common = 0;
    if (!thought || !said || said < thought) return;
    const size_t at = (size_t)(thought - whole.data);
    while (common < at && common < open.size && open.data[common] == whole.data[common]) common++;
    *begin = trimmed(part_of(whole.data + common, thought));
    if (begin->size == 0) *begin = trimmed(part_of(open.data + common, open.data + open.size));
    if (begin->size == 0) *begin = last_mark(trimmed(part_of(whole.data, thought)));
    *closing = part_of(thought + strlen("@thought@"), said);
}

/* Marks of templates that write no thoughts of earlier answers, but name the mark at which they cut them off. */
static void guess_marks(vouch_text source, vouch_text *begin, vouch_text *closing)
{
    static const struct {
        vouch_text begin, closing;
        const char *named;
    } known[] = {
        {{"<think>", 7}, {"\n</think>\n\n", 11}, "</think>"},
        {{"[THINK]", 7}, {"[/THINK]", 8}, "[/THINK]"},
        {{"<seed:think>", 12}, {"</seed:think>", 13}, "</seed:think>"},
        {{"<|START_THINKING|>", 18}, {"<|END_THINKING|><|START_RESPONSE|>", 34}, "<|END_THINKING|>"},
        {{"<|inner_prefix|>", 16}, {"<|inner_suffix|>", 16}, "<|inner_suffix|>"},
        {{"<|channel>thought", 17}, {"\n<channel|>", 11}, "<channel|>"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!find(source, known[i].named)) continue;
        *begin = known[i].begin;
        *closing = known[i].closing;
        return;
    }
}

static bool keep(char **out, vouch_text s)
{
    *out = malloc(s.size + 1);
    if (!*out) return false;
    memcpy(*out, s.data, s.size);
    (*out)[s.size] = '\0';
    return true;
}

vouch_status vouch_thoughts_read(vouch_tokenizer *t, vouch_error *err)
{
#define ASKED "{\"role\": \"user\", \"content\": \"question\"}"
    static const char asked[] = "{\"messages\": [" ASKED "]}";
    static const char answered[] = "{\"messages\": [" ASKED ", {\"role\": \"assistant\", \"content\": \"@said@\", "
                                   "\"reasoning_content\": \"@thought@\", \"reasoning\": \"@thought@\", "
                                   "\"thinking\": \"@thought@\"}], \"add_generation_prompt\": false}";
    const vouch_text source = t->chat_template;
    vouch_text open = {"", 0}, whole = {"", 0}, begin = {"", 0}, closing = {"", 0};
    char *open_bytes = NULL, *whole_bytes = NULL;
    if (t->chat_error.code != VOUCH_OK) return VOUCH_OK;
    if (!find(source, "think") && !find(source, "THINK") && !find(source, "reasoning") && !find(source, "thought"))
        return VOUCH_OK;
    bool good = render(t, asked, &open_bytes, &open) && render(t, answered, &whole_bytes, &whole);
    if (good) {
        read_marks(open, whole, &begin, &closing);
        if (begin.size == 0 || trimmed(closing).size == 0) guess_marks(source, &begin, &closing);
        if (begin.size > 0 && trimmed(closing).size > 0)
            good = keep(&t->thoughts_begin, begin) && keep(&t->thoughts_end, first_mark(trimmed(closing))) &&
                   keep(&t->thoughts_closing, closing);
    }
    free(open_bytes);
    free(whole_bytes);
    return good ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a chat template");
}

const char *vouch_tokenizer_thoughts_begin(const vouch_tokenizer *tokenizer)
{
    return tokenizer->thoughts_begin ? tokenizer->thoughts_begin : "";
}

const char *vouch_tokenizer_thoughts_end(const vouch_tokenizer *tokenizer)
{
    return tokenizer->thoughts_end ? tokenizer->thoughts_end : "";
}

/* ------------------------------------------------------------------- opening */

/* gpt-oss may think in several messages. */
static bool comes_again(const vouch_thoughts *t)
{
    return find(t->begin, "<|channel|>") != NULL;
}

vouch_status vouch_thoughts_open(vouch_thoughts *thoughts, const vouch_tokenizer *tokenizer, int32_t budget,
                                 bool has_grammar, vouch_error *err)
{
    *thoughts = (vouch_thoughts){.tokenizer = tokenizer, .budget = budget};
    if (!tokenizer || !tokenizer->thoughts_closing) return VOUCH_OK;
    thoughts->begin = (vouch_text){tokenizer->thoughts_begin, strlen(tokenizer->thoughts_begin)};
    thoughts->end = (vouch_text){tokenizer->thoughts_end, strlen(tokenizer->thoughts_end)};
    if (budget < 0) return VOUCH_OK;
    size_t n = 0;
    vouch_error failure; /* hides the error of the first call, which only asks for the count */
    thoughts->ends_message = has_grammar && comes_again(thoughts);
    const char *closing = thoughts->ends_message ? tokenizer->thoughts_end : tokenizer->thoughts_closing;
    size_t n_closing = strlen(closing);
    if (has_grammar) { /* the mark of content after it may be none that the grammar allows */
        n_closing = (size_t)(strstr(closing, tokenizer->thoughts_end) - closing) + thoughts->end.size;
        n_closing += strspn(closing + n_closing, WHITE);
    }
    vouch_status status =
        vouch_tokenizer_encode(tokenizer, closing, n_closing, VOUCH_TOKENIZE_SPECIAL, NULL, 0, &n, &failure);
    if (status != VOUCH_E_BUFFER) {
        if (status != VOUCH_OK && err) *err = failure;
        return status;
    }
    thoughts->closing = malloc(n * sizeof *thoughts->closing);
    if (!thoughts->closing) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the end of thoughts");
    status =
        vouch_tokenizer_encode(tokenizer, closing, n_closing, VOUCH_TOKENIZE_SPECIAL, thoughts->closing, n, &n, err);
    thoughts->n_closing = (int32_t)n;
    if (status != VOUCH_OK) vouch_thoughts_close(thoughts);
    return status;
}

void vouch_thoughts_close(vouch_thoughts *thoughts)
{
    free(thoughts->closing);
    thoughts->closing = NULL;
}

bool vouch_thoughts_bind(const vouch_thoughts *thoughts)
{
    return thoughts->closing != NULL;
}

/* ------------------------------------------------------------------ following */

static bool ends_with(vouch_text text, vouch_text end)
{
    return text.size >= end.size && memcmp(text.data + text.size - end.size, end.data, end.size) == 0;
}

/* Closes thoughts whose budget is used up, once their last character is whole. */
static void bound(const vouch_thoughts *t, vouch_thoughts_state *s)
{
    if (t->closing && s->phase == VOUCH_THOUGHTS_INSIDE && s->n >= t->budget && s->n_lacking == 0)
        s->phase = VOUCH_THOUGHTS_CLOSING;
}

vouch_thoughts_state vouch_thoughts_begin(const vouch_thoughts *t, const int32_t *prompt, int32_t n)
{
    vouch_thoughts_state s = {.phase = VOUCH_THOUGHTS_OVER};
    char bytes[TAIL_BYTES];
    size_t at = sizeof bytes;
    if (t->begin.size == 0) return s;
    for (int32_t i = n - 1; i >= 0 && i >= n - TAIL_TOKENS; i--) {
        const vouch_text text = vouch_tokenizer_bytes(t->tokenizer, prompt[i]);
        if (text.size > at) break;
        at -= text.size;
        if (text.size > 0) memcpy(bytes + at, text.data, text.size);
    }
    const vouch_text tail = trimmed(part_of(bytes + at, bytes + sizeof bytes));
    if (ends_with(tail, t->end)) return s;
    s.phase = ends_with(tail, t->begin) ? VOUCH_THOUGHTS_INSIDE
              : comes_again(t)          ? VOUCH_THOUGHTS_BETWEEN
                                        : VOUCH_THOUGHTS_BEFORE;
    bound(t, &s);
    return s;
}

/* How many bytes of the mark the text ends with, after one more byte (Knuth, Morris and Pratt). */
static int32_t match(vouch_text mark, int32_t n, char byte)
{
    for (;;) {
        if (mark.data[n] == byte) return n + 1;
        if (n == 0) return 0;
        int32_t shorter = n - 1; /* the longest beginning that also ends mark[0, n) */
        while (shorter > 0 && memcmp(mark.data, mark.data + n - shorter, (size_t)shorter) != 0) shorter--;
        n = shorter;
    }
}

static int32_t lacking_after(int32_t lacking, char byte)
{
    const unsigned char c = (unsigned char)byte;
    if ((c & 0xc0) == 0x80) return lacking > 0 ? lacking - 1 : 0;
    return c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
}

static void step_byte(const vouch_thoughts *t, vouch_thoughts_state *s, char byte)
{
    switch (s->phase) {
    case VOUCH_THOUGHTS_BEFORE:
        if (s->n_matched == 0 && strchr(WHITE, byte)) return;
        if (t->begin.data[s->n_matched++] != byte) s->phase = VOUCH_THOUGHTS_OVER;
        break;
    case VOUCH_THOUGHTS_BETWEEN: s->n_matched = match(t->begin, s->n_matched, byte); break;
    case VOUCH_THOUGHTS_INSIDE:
        s->n_matched = match(t->end, s->n_matched, byte);
        s->n_lacking = lacking_after(s->n_lacking, byte);
        if (s->n_matched < (int32_t)t->end.size) return;
        s->phase = comes_again(t) ? VOUCH_THOUGHTS_BETWEEN : VOUCH_THOUGHTS_OVER;
        s->n_matched = 0;
        return;
    default: return;
    }
    if (s->n_matched < (int32_t)t->begin.size || s->phase == VOUCH_THOUGHTS_OVER) return;
    s->phase = VOUCH_THOUGHTS_INSIDE;
    s->n_matched = s->n_lacking = 0;
}

void vouch_thoughts_step(const vouch_thoughts *t, vouch_thoughts_state *s, int32_t token)
{
    if (s->phase == VOUCH_THOUGHTS_OVER) return;
    if (s->phase == VOUCH_THOUGHTS_CLOSING) {
        const bool is_forced = token == t->closing[s->n_closed++];
        if (is_forced && s->n_closed < t->n_closing) return;
        s->phase = t->ends_message ? VOUCH_THOUGHTS_BETWEEN : VOUCH_THOUGHTS_OVER;
        s->n_closed = s->n_matched = 0;
        return;
    }
    const bool was_inside = s->phase == VOUCH_THOUGHTS_INSIDE;
    const vouch_text text = vouch_tokenizer_bytes(t->tokenizer, token);
    for (size_t i = 0; i < text.size; i++) step_byte(t, s, text.data[i]);
    s->n += was_inside && s->phase == VOUCH_THOUGHTS_INSIDE;
    bound(t, s);
}

bool vouch_thoughts_may_force(const vouch_thoughts *t, const vouch_thoughts_state *s, int32_t n)
{
    if (s->phase == VOUCH_THOUGHTS_OVER || !t->closing) return false;
    return s->phase == VOUCH_THOUGHTS_CLOSING || n >= t->budget - s->n;
}

int32_t vouch_thoughts_forced(const vouch_thoughts *t, const vouch_thoughts_state *s)
{
    return s->phase == VOUCH_THOUGHTS_CLOSING ? t->closing[s->n_closed] : -1;
}
