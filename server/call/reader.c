/* SPDX-License-Identifier: MIT */
#include "call/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"

#define CHANNEL    "<|channel|>"
#define MESSAGE    "<|message|>"
#define START      "<|start|>"
#define END        "<|end|>"
#define CALLED     "<|call|>"
#define RETURN     "<|return|>"
#define RECIPIENT  "to=functions."

enum { MOST_HEAD = 1 << 15 }; /* bytes of a head or a tail, which are read again with each token */

/* -------------------------------------------------------------------- texts */

void server_reader_begin(server_reader *reader, const server_form *form, const json_t *tools, bool thinks)
{
    *reader = (server_reader){
        .form = form, .tools = tools, .mark = "", .state = thinks ? SERVER_READER_THOUGHTS : SERVER_READER_BEGIN};
}

static void drop(server_reader *r, size_t n)
{
    if (n > 0) memmove(r->text.bytes, r->text.bytes + n, r->text.n - n);
    r->text.n -= n;
}

/* The number of bytes at the end of text[n] that may begin the mark. */
static size_t partial_length(const char *text, size_t n, const char *mark)
{
    size_t length = strlen(mark) - 1 < n ? strlen(mark) - 1 : n;
    while (length > 0 && memcmp(text + n - length, mark, length) != 0) length--;
    return length;
}

/* Takes the text before the first of the marks into `out`. Returns the mark at which the text now begins; NULL: none
 * has come, and the text that can't begin one is taken. */
static const char *take_to_mark(server_reader *r, const char *const *marks, bool is_end, server_text *out)
{
    const char *found = NULL;
    size_t before = r->text.n, keep = 0;
    for (; *marks; marks++) {
        if (!**marks) continue;
        const char *at = r->text.n ? memmem(r->text.bytes, r->text.n, *marks, strlen(*marks)) : NULL;
        const size_t partial = partial_length(r->text.bytes, r->text.n, *marks);
        if (partial > keep) keep = partial;
        if (!at || (size_t)(at - r->text.bytes) >= before) continue;
        before = (size_t)(at - r->text.bytes);
        found = *marks;
    }
    if (!found && !is_end) before -= keep;
    if (out) server_text_add(out, r->text.bytes, before);
    drop(r, before);
    return found;
}

static size_t white_length(const server_text *text)
{
    size_t n = 0;
    while (n < text->n && memchr(" \t\r\n", text->bytes[n], 4)) n++;
    return n;
}

static bool is_at(const server_text *text, const char *mark)
{
    return text->n >= strlen(mark) && memcmp(text->bytes, mark, strlen(mark)) == 0;
}

/* ------------------------------------------------------------------- begin */

/* The parts that may follow at the beginning of an answer, or after thoughts or a call. */
typedef enum beginning { OF_CONTENT, OF_MORE, OF_THOUGHTS, OF_MARKED_CONTENT, OF_CALL, OF_HEADER } beginning;

/* Tells by text[n], which begins with no white space. *used: the bytes of the mark. *mark: a call's mark. */
static beginning tell(const server_reader *r, const char *text, size_t n, size_t *used, const char **mark)
{
    const server_form *f = r->form;
    const struct {
        const char *mark;
        beginning of;
        bool is_possible;
    } marks[] = {{f->think, OF_THOUGHTS, r->state == SERVER_READER_BEGIN && !f->is_harmony},
                 {f->content, OF_MARKED_CONTENT, *f->content != '\0'},
                 {CHANNEL, OF_HEADER, f->is_harmony},
                 {START, OF_HEADER, f->is_harmony},
                 {MESSAGE, OF_HEADER, f->is_harmony},
                 {RECIPIENT, OF_HEADER, f->is_harmony && r->tools}};
    bool may_come = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!marks[i].is_possible) continue;
        const server_match match = server_match_mark(marks[i].mark, text, n, used);
        if (match == SERVER_MATCH) return marks[i].of;
        may_come |= match == SERVER_MORE;
    }
    *mark = "";
    if (!r->tools || f->is_harmony) return may_come ? OF_MORE : OF_CONTENT;
    for (int32_t i = 0; i < f->n_marks; i++) {
        const server_match match = server_match_mark(f->marks[i], text, n, used);
        if (match == SERVER_MATCH) *mark = f->marks[i];
        if (match == SERVER_MATCH) return OF_CALL;
        may_come |= match == SERVER_MORE;
    }
    const server_match call = server_call_begins(r, text, n);
    if (call == SERVER_MATCH) return OF_CALL;
    return may_come || call == SERVER_MORE ? OF_MORE : OF_CONTENT;
}

/* White space that begins the answer is content where content follows. After thoughts and calls it is dropped. */
static bool step_begin(server_reader *r, bool is_end)
{
    const bool is_first = r->state == SERVER_READER_BEGIN;
    const size_t white = white_length(&r->text);
    size_t used = 0;
    const char *mark;
    if (white == r->text.n) {
        if (!is_first) drop(r, white);
        if (is_end && is_first) r->state = SERVER_READER_CONTENT;
        return is_end && is_first;
    }
    const beginning of = tell(r, r->text.bytes + white, r->text.n - white, &used, &mark);
    if (of == OF_MORE && !is_end) return false;
    if (!is_first || of == OF_THOUGHTS || of == OF_MARKED_CONTENT || of == OF_CALL) drop(r, white);
    switch (of) {
    case OF_THOUGHTS:
        drop(r, used);
        r->state = SERVER_READER_THOUGHTS;
        break;
    case OF_MARKED_CONTENT:
        drop(r, used);
        r->state = SERVER_READER_CONTENT;
        break;
    case OF_CALL:
        r->mark = mark;
        r->is_next = false;
        r->state = SERVER_READER_HEAD;
        break;
    case OF_HEADER: r->state = SERVER_READER_HEADER; break;
    default: r->state = SERVER_READER_CONTENT;
    }
    return true;
}

/* White space alone is no thought: it waits for one, and goes with the mark where none comes. */
static bool step_thoughts(server_reader *r, bool is_end)
{
    const char *end = r->form->think_end;
    const size_t white = white_length(&r->text), left = r->text.n - white, n_end = strlen(end);
    const bool is_mark =
        !r->has_thought && (left == 0 || memcmp(r->text.bytes + white, end, left < n_end ? left : n_end) == 0);
    if (is_mark && left < n_end && !is_end) return false;
    if (is_mark && (left == 0 || left >= n_end)) drop(r, white);
    else r->has_thought = true;
    if (!take_to_mark(r, (const char *const[]){end, NULL}, is_end, &r->thoughts)) return false;
    drop(r, strlen(end));
    r->state = SERVER_READER_GAP;
    return true;
}

static bool step_content(server_reader *r, bool is_end)
{
    const server_form *f = r->form;
    const char *marks[SERVER_MOST_MARKS + 2] = {f->content_end};
    for (int32_t i = 0; i < f->n_marks && r->tools; i++) marks[i + 1] = f->marks[i];
    const char *mark = take_to_mark(r, marks, is_end, &r->content);
    if (!mark) return false;
    if (mark == f->content_end) {
        drop(r, strlen(mark));
        r->state = SERVER_READER_GAP;
        return true;
    }
    r->mark = mark;
    r->is_next = false;
    r->state = SERVER_READER_HEAD;
    return true;
}

/* -------------------------------------------------------------------- calls */

static bool step_head(server_reader *r, bool is_end)
{
    size_t used = 0;
    const server_match match = server_call_head(r, r->text.bytes, r->text.n, &used);
    if (match == SERVER_MORE && !is_end && r->text.n < MOST_HEAD) return false;
    if (match == SERVER_MATCH) {
        drop(r, used);
        return true;
    }
    /* No call: its mark is content, and what follows is read again. */
    const size_t n =
        strlen(r->mark) < r->text.n ? strlen(r->mark) : r->text.n; /* white space of a mark may be missing */
    server_text_add(&r->content, r->text.bytes, n);
    drop(r, n);
    r->state = SERVER_READER_CONTENT;
    return true;
}

static server_call *running_call(server_reader *r)
{
    return r->only_one && r->dropped.name ? &r->dropped : &r->calls[r->n_calls - 1];
}

static bool step_arguments(server_reader *r, bool is_end)
{
    static const char *const ends[] = {END, CALLED, RETURN, START, CHANNEL, NULL};
    server_call *call = running_call(r);
    size_t used = 0;
    if (r->form->is_harmony) {
        server_text body = {0};
        const char *mark = take_to_mark(r, ends, is_end, &body);
        if (!call->is_over && body.n > 0 &&
            server_literal_push(&r->literal, body.bytes, body.n, &used, &call->arguments) != SERVER_MORE)
            server_call_over(call);
        server_text_free(&body);
        if (!mark) return false;
        server_call_over(call);
        r->state = SERVER_READER_HEADER;
        drop(r, strcmp(mark, START) == 0 || strcmp(mark, CHANNEL) == 0 ? 0 : strlen(mark));
        return true;
    }
    const server_match match = server_call_arguments(r, call, is_end, &used);
    drop(r, used);
    if (match == SERVER_MORE) return false;
    server_call_over(call);
    r->state = SERVER_READER_TAIL;
    return true;
}

static bool step_tail(server_reader *r, bool is_end)
{
    size_t used = 0;
    bool goes_on = false;
    const server_match match = server_call_tail(r, r->text.bytes, r->text.n, &used, &goes_on);
    if (match == SERVER_MORE && !is_end && r->text.n < MOST_HEAD) return false;
    if (match == SERVER_MORE) { /* the answer ends within the tail, or never ends it */
        r->text.n = 0;
        r->state = SERVER_READER_GAP;
        return false;
    }
    drop(r, used);
    r->is_next = goes_on;
    r->mark = "";
    r->state = goes_on ? SERVER_READER_HEAD : SERVER_READER_GAP;
    return true;
}

/* ------------------------------------------------------------------ gpt-oss */

/* Begins the call that a header names. False: it names none. */
static bool begin_message_call(server_reader *r, const server_text *header)
{
    const char *name = header->n ? memmem(header->bytes, header->n, RECIPIENT, strlen(RECIPIENT)) : NULL;
    if (!r->tools || !name) return false;
    name += strlen(RECIPIENT);
    const size_t most = header->n - (size_t)(name - header->bytes);
    size_t n = 0;
    while (n < most && !strchr(" <", name[n])) n++;
    return n > 0 && server_call_begin(r, name, n, NULL, 0) != NULL;
}

/* A message's header is
 *
 *     <|start|>assistant<|channel|>NAME to=functions.f <|constrain|>json
 *
 * where the prompt may have the beginning already, and the recipient may stand in front of the channel. It says whether
 * thoughts, a call or content follow. */
static bool step_header(server_reader *r, bool is_end)
{
    if (!take_to_mark(r, (const char *const[]){MESSAGE, NULL}, is_end, &r->header)) return false;
    drop(r, strlen(MESSAGE));
    const server_text *h = &r->header;
    const char *channel = h->n ? memmem(h->bytes, h->n, CHANNEL, strlen(CHANNEL)) : NULL;
    const size_t at = channel ? (size_t)(channel - h->bytes) + strlen(CHANNEL) : 0;
    const server_text name = {.bytes = channel ? h->bytes + at : h->bytes, .n = h->n - at};
    if (begin_message_call(r, h)) r->state = SERVER_READER_ARGUMENTS;
    else r->state = is_at(&name, "analysis") ? SERVER_READER_THOUGHTS : SERVER_READER_CONTENT;
    r->header.n = 0;
    return true;
}

/* A message ends at a control token. The next header begins there. */
static bool step_message(server_reader *r, bool is_end)
{
    static const char *const marks[] = {END, CALLED, RETURN, START, CHANNEL, NULL};
    server_text *out = r->state == SERVER_READER_THOUGHTS ? &r->thoughts : &r->content;
    const char *mark = take_to_mark(r, marks, is_end, out);
    if (!mark) return false;
    if (strcmp(mark, START) != 0 && strcmp(mark, CHANNEL) != 0) drop(r, strlen(mark));
    r->state = SERVER_READER_HEADER;
    return true;
}

/* ------------------------------------------------------------------ the machine */

/* One step of the machine; false: it needs more text. */
static bool step(server_reader *r, bool is_end)
{
    const bool is_harmony = r->form->is_harmony;
    switch (r->state) {
    case SERVER_READER_BEGIN:
    case SERVER_READER_GAP: return step_begin(r, is_end);
    case SERVER_READER_THOUGHTS: return is_harmony ? step_message(r, is_end) : step_thoughts(r, is_end);
    case SERVER_READER_CONTENT: return is_harmony ? step_message(r, is_end) : step_content(r, is_end);
    case SERVER_READER_HEAD: return step_head(r, is_end);
    case SERVER_READER_ARGUMENTS: return step_arguments(r, is_end);
    case SERVER_READER_TAIL: return step_tail(r, is_end);
    case SERVER_READER_HEADER: return step_header(r, is_end);
    }
    return false;
}

void server_reader_push(server_reader *reader, const char *text, size_t n)
{
    server_text_add(reader->form ? &reader->text : &reader->content, text, n);
    while (reader->form && step(reader, false)) continue;
}

/* Vocabularies differ in which marks are control tokens. They are read as if they were text. */
void server_reader_special(server_reader *reader, const char *name, size_t n)
{
    if (reader->form && server_form_has_control(reader->form, name, n, reader->tools != NULL))
        server_reader_push(reader, name, n);
}

/* Whether what waits is the beginning of a call. Of a text that may be content only a mark tells. */
static bool is_half_call(const server_reader *r)
{
    enum { LEAST = 3 }; /* bytes of a mark that a text ends with by chance */
    if (!r->tools || r->text.n == 0) return false;
    if (r->state == SERVER_READER_HEAD) return r->is_forced || *r->mark || r->is_next;
    if (r->state == SERVER_READER_BEGIN || r->state == SERVER_READER_GAP)
        return r->is_forced || (r->text.n >= LEAST && r->text.bytes[0] != '{');
    return r->state == SERVER_READER_CONTENT && (r->is_forced || r->text.n >= LEAST);
}

/* Where a limit or a stop text has cut the answer within the head of a call, there is no call yet, and its markup is no
 * content. */
void server_reader_end(server_reader *reader, bool is_cut)
{
    if (!reader->form) return;
    if (is_cut && is_half_call(reader)) {
        reader->text.n = 0;
        reader->state = SERVER_READER_GAP;
    }
    while (step(reader, true)) continue;
    reader->text.n = 0;
    reader->is_cut = reader->state == SERVER_READER_ARGUMENTS;
    if (reader->is_cut) server_call_cut(running_call(reader));
}

static void free_call(server_call *call)
{
    free(call->name);
    free(call->id);
    server_text_free(&call->arguments);
}

void server_reader_free(server_reader *reader)
{
    server_text_free(&reader->text);
    server_text_free(&reader->header);
    server_text_free(&reader->content);
    server_text_free(&reader->thoughts);
    for (size_t i = 0; i < reader->n_calls; i++) free_call(&reader->calls[i]);
    free_call(&reader->dropped);
    server_literal_free(&reader->literal);
    free(reader->calls);
    *reader = (server_reader){0};
}
