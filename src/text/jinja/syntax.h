/* SPDX-License-Identifier: MIT */
/*
 * From the text of a template to a tree.
 *
 *   text --lex--> tokens --parse--> tree of nodes, which render.c walks
 *
 * The grammar is jinja2's (its parser.py), less import, include, extends, block, and recursive loops, with the loop
 * controls and the `generation` block that transformers adds. White space follows transformers' settings: trim_blocks
 * and lstrip_blocks on, one newline at the end of the template dropped.
 */
#ifndef VOUCH_TEXT_JINJA_SYNTAX_H
#define VOUCH_TEXT_JINJA_SYNTAX_H

#include "text/jinja/value.h"

typedef enum jinja_token_kind {
    JINJA_END,
    JINJA_DATA,        /* text between tags */
    JINJA_PRINT_BEGIN, /* {{ */
    JINJA_PRINT_END,
    JINJA_BLOCK_BEGIN, /* {% */
    JINJA_BLOCK_END,
    JINJA_NAME,
    JINJA_STRING_TOKEN, /* text: decoded */
    JINJA_INT_TOKEN,
    JINJA_FLOAT_TOKEN,
    JINJA_OPERATOR /* text: its characters */
} jinja_token_kind;

typedef struct jinja_token {
    jinja_token_kind kind;
    int32_t line;
    jinja_string text;
} jinja_token;

/* Writes all tokens, the last one JINJA_END, on the run's heap; NULL where the run failed. */
const jinja_token *vouch_jinja_lex(jinja_run *run, const char *text, size_t n);

typedef enum jinja_node_kind {
    /* expressions */
    JINJA_CONSTANT,  /* constant */
    JINJA_VARIABLE,  /* name */
    JINJA_LIST_OF,   /* items */
    JINJA_TUPLE_OF,  /* items */
    JINJA_DICT_OF,   /* items: key, value, key, value, ... */
    JINJA_ATTRIBUTE, /* a.name */
    JINJA_SUBSCRIPT, /* a[b] */
    JINJA_SLICE,     /* a[items[0]:items[1]:items[2]], each may be NULL */
    JINJA_CALL,      /* a(items, names) */
    JINJA_FILTER,    /* a | name(items, names); a NULL: of a filter block */
    JINJA_TEST,      /* a is name(items) */
    JINJA_NOT,       /* not a */
    JINJA_NEGATE,    /* -a */
    JINJA_PLUS,      /* +a */
    JINJA_AND,       /* a and b */
    JINJA_OR,        /* a or b */
    JINJA_IF_ELSE,   /* a if b else c; c may be NULL */
    JINJA_BINARY,    /* a name b: + - * / // % ** ~ */
    JINJA_COMPARE,   /* a, then names[i] items[i]: == != < <= > >= in, not in */
    /* statements */
    JINJA_BODY,         /* items, one after the other */
    JINJA_OUTPUT,       /* {{ a }}, and text between tags */
    JINJA_FOR,          /* for a in b, if c; items[0] body, items[1] else or NULL */
    JINJA_IF,           /* if a; items[0] body, items[1] else or NULL */
    JINJA_SET,          /* set a = b */
    JINJA_SET_BLOCK,    /* set a to the text that items[0] writes, through filter b; b NULL: no filter */
    JINJA_MACRO_OF,     /* macro name(names[i] = items[i], ...), b its body; items[i] NULL: no default */
    JINJA_CALL_BLOCK,   /* the call a, with the macro b as its argument `caller` */
    JINJA_FILTER_BLOCK, /* the text that items[0] writes, through filter a */
    JINJA_BREAK,
    JINJA_CONTINUE
} jinja_node_kind;

typedef struct jinja_node jinja_node;
struct jinja_node {
    jinja_node_kind kind;
    int32_t line;
    jinja_string name;
    jinja_value constant;
    jinja_node *a, *b, *c;
    size_t n; /* of items, and of names if the kind has names */
    jinja_node **items;
    jinja_string *names; /* of a call: bytes NULL: a positional argument */
};

/* The tree on the run's heap; NULL where the run failed. */
const jinja_node *vouch_jinja_parse(jinja_run *run, const char *text, size_t n);

#endif
