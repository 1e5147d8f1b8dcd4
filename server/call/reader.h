/* SPDX-License-Identifier: MIT */
/*
 * Reads an answer as it comes, and tells thoughts, content and tool calls apart, in the form of the model (form.h). A
 * call is given as soon as its name is known; its arguments follow piece by piece. A text that only begins like a call
 * is content: nothing is lost. A call that the end of the answer cuts is a call with cut arguments.
 *
 *            ┌── thoughts' mark ──► THOUGHTS ── end ──┐      ┌──────────── after ───────────┐
 *   BEGIN ───┼────────────────────► CONTENT ◄─────────┴─ GAP ◄── TAIL ◄── ARGUMENTS         │
 *            │                        │ a call's mark          │  between    ▲             │
 *            │                        └────────────► HEAD ◄────┘             │             │
 *            └── a call without a mark ───────────────►│── name ─────────────┘             │
 *   gpt-oss: HEADER ── <|message|> ──► THOUGHTS, CONTENT or ARGUMENTS ── <|end|> ──► HEADER
 */
#ifndef VOUCH_SERVER_READER_H
#define VOUCH_SERVER_READER_H

#include <stdint.h>

#include "call/form.h"

typedef enum server_reader_state {
    SERVER_READER_BEGIN,
    SERVER_READER_THOUGHTS,
    SERVER_READER_GAP, /* after thoughts or a call */
    SERVER_READER_CONTENT,
    SERVER_READER_HEAD, /* at what may be a call, up to its arguments */
    SERVER_READER_ARGUMENTS,
    SERVER_READER_TAIL,  /* after arguments */
    SERVER_READER_HEADER /* of a message of gpt-oss, up to <|message|> */
} server_reader_state;

/* A call. The reader fills what is above the line; what is below belongs to the API, which gives the call out. */
typedef struct server_call {
    char *name;
    char *id;              /* as the model wrote it; NULL: it wrote none */
    server_text arguments; /* JSON, as far as it has come */
    bool is_text;          /* the model wrote the arguments as a string; they are given when it is complete */
    bool is_over;
    /* ---- */
    char given_id[64]; /* "": not begun */
    size_t n_given;    /* bytes of the arguments */
    bool is_closed;
} server_call;

typedef struct server_reader {
    const server_form *form; /* NULL: all is content */
    const json_t *tools;     /* of the request, an array; NULL: calls are content */
    bool only_one;           /* calls after the first one are left out */
    bool is_forced;          /* the answer has to be a call: its beginning is no content */
    server_reader_state state;
    bool is_next;         /* the head follows `between` */
    bool has_thought;     /* more than white space has come of the thoughts */
    bool in_value;        /* of a parameter */
    bool is_string;       /* the value is a string, whose beginning has been read */
    size_t n_known;       /* bytes of the value, not read yet, in which it doesn't end */
    const json_t *schema; /* of the value */
    const char *mark;     /* at which the running call began; "": at none */
    server_literal literal;
    server_text text;              /* not read yet */
    server_text header;            /* of the running message of gpt-oss */
    server_text content, thoughts; /* read; the caller takes them */
    server_call *calls;            /* [n_calls] */
    size_t n_calls;
    size_t n_room;
    server_call dropped; /* the call that `only_one` leaves out */
    bool is_cut;         /* the answer has ended within the arguments of the last call */
} server_reader;

/* thinks: the prompt has opened the thoughts already. Form and tools must outlive the reader. */
void server_reader_begin(server_reader *reader, const server_form *form, const json_t *tools, bool thinks);
void server_reader_push(server_reader *reader, const char *text, size_t n);
/* Reads a control token by its name. The texts that are pushed lack control tokens. */
void server_reader_special(server_reader *reader, const char *name, size_t n);
/* The answer is over: what waits is read to its end. is_cut: a limit or a stop text ended it, so that half a call is no
 * content. */
void server_reader_end(server_reader *reader, bool is_cut);
void server_reader_free(server_reader *reader);

/* ---------------------------------------------------- the steps through one call, of call.c for reader.c */

/* Whether text[n] begins a call of a form whose calls need no mark, or of an object. */
server_match server_call_begins(const server_reader *reader, const char *text, size_t n);
/* Begins a call; id NULL: it has none. NULL: no memory. */
server_call *server_call_begin(server_reader *reader, const char *name, size_t n_name, const char *id, size_t n_id);
/* Reads text[n] up to the arguments. MATCH: the call has begun, and the state is ARGUMENTS or TAIL. */
server_match server_call_head(server_reader *reader, const char *text, size_t n, size_t *used);
/* Reads arguments from the reader's text. NO: what follows are no arguments. */
server_match server_call_arguments(server_reader *reader, server_call *call, bool is_end, size_t *used);
/* The answer ends within the arguments: where they are a text, their beginning is what of it can be read. */
void server_call_cut(server_call *call);
/* The arguments are complete. */
void server_call_over(server_call *call);
/* Reads text[n] after the arguments. *goes_on: another item follows. */
server_match server_call_tail(server_reader *reader, const char *text, size_t n, size_t *used, bool *goes_on);

#endif
