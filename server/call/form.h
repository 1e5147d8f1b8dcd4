/* SPDX-License-Identifier: MIT */
/*
 * How a model writes thoughts, content and calls. The form is read from the model's own chat template (form_read.c):
 * made-up messages are rendered, and what stands around their names, arguments and ids is the form. The grammar of
 * forced calls (form_grammar.c) and the reader of answers (reader.h) both follow it, so that the reader reads whatever
 * the grammar allows.
 *
 *   <tool_call>\n            {"name": "    f     ", "arguments": {"x": 1}}     \n</tool_call>
 *   └─ before ─┘              └─ text ┘└─ name ┘└── text ─┘└ arguments ┘└ text ┘└── after ───┘
 *                            └───────────────────── item ──────────────────────┘
 *
 * `between` stands between two items. gpt-oss writes messages in channels; a template doesn't show what a model writes
 * into their headers, so this form has a name (is_harmony).
 */
#ifndef VOUCH_SERVER_FORM_H
#define VOUCH_SERVER_FORM_H

#include "call/literal.h"
#include "vouch.h"

/* A part of an item. INDEX counts the calls of an answer from 0. */
typedef enum server_slot {
    SERVER_SLOT_TEXT,
    SERVER_SLOT_NAME,
    SERVER_SLOT_ID,
    SERVER_SLOT_INDEX,
    SERVER_SLOT_ARGUMENTS
} server_slot;

typedef struct server_part {
    server_slot slot;
    char *text; /* of SLOT_TEXT */
} server_part;

typedef enum server_notation {
    SERVER_NOTATION_JSON,      /* {"x": 1} */
    SERVER_NOTATION_PYTHON,    /* (x=1) */
    SERVER_NOTATION_BARE,      /* {x:1}, strings between marks */
    SERVER_NOTATION_PARAMETERS /* each value between marks; strings without quotes */
} server_notation;

enum { SERVER_MOST_PARTS = 12, SERVER_MOST_MARKS = 3 };

typedef struct server_form {
    /* No member is NULL; "" stands for a mark that the form doesn't have. */
    char *think, *think_end;     /* around thoughts */
    char *content, *content_end; /* around content */
    bool thinks;                 /* the model may begin an answer with thoughts */
    bool is_harmony;
    bool shows_calls; /* the template writes calls; otherwise {"name": "f", "arguments": {...}} is the whole answer */
    char *before, *between, *after; /* before the first item, between two, after the last */
    char *after_several;            /* what follows `after` where there are several items */
    bool several;                   /* an answer may have more than one call */
    server_part parts[SERVER_MOST_PARTS];
    int32_t n_parts;
    bool is_object;                          /* an item is a JSON object, whose members may come in any order */
    char *name_key, *arguments_key, *id_key; /* of the object; name_key "": the name is the key of the arguments */
    char *other_key;                         /* of a member that says nothing of the call, such as its index */
    server_notation notation;
    char *quote; /* BARE: the mark around strings */
    char raw;    /* PYTHON: the quote of strings without escapes; 0: strings have escapes */
    /* PARAMETERS: begin KEY is VALUE end; `is_other` stands before values that are no strings, where it differs. */
    char *begin, *is, *is_other, *end;
    char *close;                    /* what follows the last parameter: the beginning of `after` */
    char *marks[SERVER_MOST_MARKS]; /* [n_marks] a call in a text begins at one of them */
    int32_t n_marks;
    char **controls; /* [n_controls] names of control tokens within the texts above */
    size_t n_controls;
} server_form;

/* Reads the form of the model. NULL when memory is short. The model must outlive the form. */
server_form *server_form_open(const vouch_model *model);
void server_form_close(server_form *form); /* NULL is allowed */

/* Whether the text is the name of a control token in a mark of the form. for_calls: of calls, too. */
bool server_form_has_control(const server_form *form, const char *name, size_t n, bool for_calls);

/* Compares the beginning of text[n] with `mark`. White space that only one of both has is passed over. MATCH: *used
 * bytes of the text are the mark. MORE: the text ends within it. */
server_match server_match_mark(const char *mark, const char *text, size_t n, size_t *used);

/* --------------------------------------------------------------- parameters */

/* The schema to which one refers by a pointer into the parameters, such as #/$defs/NAME; itself where it doesn't. NULL:
 * there is none. Sets *path, unless that is NULL, to the last reference. */
const json_t *server_schema_referred(const json_t *parameters, const json_t *schema, const char **path);
/* Whether a value of this type, "object", "number" or another of JSON's, is one of the schema. A schema without
 * a type allows all. */
bool server_schema_allows(const json_t *schema, const char *type);
/* Whether all its values are strings: then the parameter's text is the string, without quotes. */
bool server_schema_is_text(const json_t *schema);

/* ------------------------------------------------------------------ grammar */

typedef enum server_thoughts {
    SERVER_THOUGHTS_NONE,
    SERVER_THOUGHTS_OPEN,    /* the prompt has opened them */
    SERVER_THOUGHTS_ALLOWED, /* the answer may begin with them */
    SERVER_THOUGHTS_CHANNEL  /* the answer has channels, as gpt-oss writes them */
} server_thoughts;

/* The thoughts that an answer to this prompt may begin with. */
server_thoughts server_thoughts_of(const server_form *form, const vouch_model *model, const int32_t *prompt, size_t n);

/* Adds the rule `root`: thoughts, and then the rule `rest`. */
void server_form_put_root(server_text *out, const server_form *form, server_thoughts thoughts);
/* Adds the rule `answer`: a value that the schema accepts. */
void server_form_put_answer(server_text *out, const server_form *form, json_t *schema);
/* Adds the rule `calls`: calls of these tools, of the chat API, at least one. Each tool has a name, and `required` of
 * its parameters holds names. `several`: more than one where the form has room for it. */
void server_form_put_calls(server_text *out, const server_form *form, const json_t *tools, bool several);

#endif
