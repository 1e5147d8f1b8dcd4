/* SPDX-License-Identifier: MIT */
/*
 * Values of a template, and the run that owns them.
 *
 * A string has a mark for each byte: where the byte came from. Operations carry the marks along, so that the tokenizer
 * can keep text of a user from becoming a special token, however the template moved it.
 *
 *   bytes  < | u s e r | > H e l l o          marks NULL: all bytes have the same mark, `mark`
 *   marks  0 0 0 0 0 0 0 0 1 1 1 1 1
 *
 * Semantics are Python's, as far as jinja2 shows them. Everything lives on the run's heap and goes with it.
 *
 *   J1  A run counts steps, bytes and depth. When a limit is reached or the template errs, the run fails once and
 *       keeps that error; all further operations return undefined and end soon.
 */
#ifndef VOUCH_TEXT_JINJA_VALUE_H
#define VOUCH_TEXT_JINJA_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum jinja_kind {
    JINJA_UNDEFINED, /* string: its name */
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_STRING,
    JINJA_LIST,
    JINJA_TUPLE,
    JINJA_GENERATOR, /* list: a template can only iterate over it, as over a generator of Python */
    JINJA_DICT,
    JINJA_NAMESPACE, /* a dict whose entries the template may set */
    JINJA_LOOP,      /* a dict with the loop's variables */
    JINJA_FUNCTION,  /* global or bound method: function */
    JINJA_MACRO,
    JINJA_DIGITS /* a number that int64_t and double can't hold, as it was written: string */
} jinja_kind;

typedef enum jinja_mark {
    JINJA_OF_TEMPLATE,
    JINJA_OF_CALLER, /* a message, a tool, a role */
    JINJA_OF_MODEL   /* an earlier answer */
} jinja_mark;

typedef struct jinja_string {
    const char *bytes; /* [n] */
    size_t n;
    const uint8_t *marks; /* [n] jinja_mark; NULL: all are `mark` */
    uint8_t mark;
    bool is_safe; /* made by |safe or |escape: + escapes the other side (markupsafe's Markup) */
} jinja_string;

typedef struct jinja_list jinja_list;
typedef struct jinja_dict jinja_dict;
typedef struct jinja_macro jinja_macro;
typedef struct jinja_run jinja_run;
typedef struct jinja_arguments jinja_arguments;

typedef struct jinja_value jinja_value;
typedef jinja_value jinja_function(jinja_run *run, const jinja_value *self, const jinja_arguments *arguments);

struct jinja_value {
    jinja_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double number;
        jinja_string string;
        jinja_list *list;
        jinja_dict *dict;
        struct {
            jinja_function *call;
            const jinja_value *self; /* of a method */
        } function;
        const jinja_macro *macro;
    };
};

struct jinja_list {
    size_t n, capacity;
    jinja_value *items;
};

/* In the order of insertion. Looked up by hash once it has more than a few keys. */
struct jinja_dict {
    size_t n, capacity;
    jinja_value *keys, *values;
    uint32_t *slots; /* [n_slots] number of an entry plus 1, by the key's hash; NULL while small */
    size_t n_slots;
};

/* Arguments of a call. */
struct jinja_arguments {
    size_t n, n_named;
    const jinja_value *values; /* [n] */
    const jinja_string *names; /* [n_named] */
    const jinja_value *named;  /* [n_named] */
};

typedef struct jinja_limits {
    int64_t steps; /* nodes evaluated, bytes read or copied / 64, comparisons */
    size_t bytes;  /* of the heap */
    int32_t depth; /* nested expressions, calls and values */
} jinja_limits;

typedef struct jinja_block jinja_block;

struct jinja_run {
    jinja_limits left;
    jinja_block *blocks; /* of the heap */
    bool failed;
    vouch_error error;
    int32_t line; /* of the statement that runs */
    double now;   /* seconds since 1970, for strftime_now */
};

/* Arguments of "%.*s" in a message: at most 60 bytes of the text. */
#define JINJA_ARGS(s) (int)((s).n < 60 ? (s).n : 60), (s).n ? (s).bytes : ""

/* ------------------------------------------------------------------- the run */

void vouch_jinja_run_begin(jinja_run *run, const jinja_limits *limits);
void vouch_jinja_run_end(jinja_run *run);
/* Zeroed memory, 16-byte aligned; NULL after the run failed. */
void *vouch_jinja_take(jinja_run *run, size_t count, size_t size);
/* The run fails with this message, prefixed with the line, unless it has failed before. Returns undefined. */
__attribute__((format(printf, 2, 3))) jinja_value vouch_jinja_fail(jinja_run *run, const char *format, ...);
/* Counts n steps; false where there are none left, and then the run has failed. */
bool vouch_jinja_step(jinja_run *run, int64_t n);
/* Counts the steps of an operation that reads `bytes` bytes. False as of step. */
static inline bool vouch_jinja_weigh(jinja_run *run, size_t bytes)
{
    return vouch_jinja_step(run, 1 + (int64_t)(bytes / 64));
}
bool vouch_jinja_enter(jinja_run *run); /* one level deeper; false: too deep, and the run has failed */
static inline void vouch_jinja_leave(jinja_run *run)
{
    run->left.depth++;
}

/* -------------------------------------------------------------- making values */

static inline jinja_value jinja_undefined(void)
{
    return (jinja_value){.kind = JINJA_UNDEFINED};
}

static inline jinja_value jinja_none(void)
{
    return (jinja_value){.kind = JINJA_NONE};
}

static inline jinja_value jinja_bool(bool x)
{
    return (jinja_value){.kind = JINJA_BOOL, .boolean = x};
}

static inline jinja_value jinja_int(int64_t x)
{
    return (jinja_value){.kind = JINJA_INT, .integer = x};
}

static inline jinja_value jinja_float(double x)
{
    return (jinja_value){.kind = JINJA_FLOAT, .number = x};
}

static inline jinja_value jinja_text(jinja_string x)
{
    return (jinja_value){.kind = JINJA_STRING, .string = x};
}

/* A string with the template's mark, not copied. */
jinja_string vouch_jinja_literal(const char *text);
jinja_value vouch_jinja_list_new(jinja_run *run, jinja_kind kind);
void vouch_jinja_list_push(jinja_run *run, jinja_list *list, jinja_value item);
jinja_value vouch_jinja_dict_new(jinja_run *run, jinja_kind kind);
void vouch_jinja_dict_set(jinja_run *run, jinja_dict *dict, jinja_value key, jinja_value value);
/* NULL: there is none. */
jinja_value *vouch_jinja_dict_get(jinja_run *run, const jinja_dict *dict, const jinja_value *key);
jinja_value *vouch_jinja_dict_named(jinja_run *run, const jinja_dict *dict, const char *name);

/* -------------------------------------------------------------------- strings */

/* A string that grows. */
typedef struct jinja_builder {
    char *bytes;
    uint8_t *marks;
    size_t n, capacity;
} jinja_builder;

void vouch_jinja_add(jinja_run *run, jinja_builder *to, jinja_string s);
void vouch_jinja_add_text(jinja_run *run, jinja_builder *to, const char *text); /* with the template's mark */
jinja_string vouch_jinja_built(const jinja_builder *from);
jinja_string vouch_jinja_cut(jinja_string s, size_t begin, size_t end); /* bytes [begin, end) */
jinja_string vouch_jinja_concat(jinja_run *run, jinja_string a, jinja_string b);
/* Byte offset of the first `what` at or after `from`; s.n where there is none. */
size_t vouch_jinja_find(jinja_string s, size_t from, jinja_string what);
bool vouch_jinja_same(jinja_string a, jinja_string b); /* bytes, not marks */
bool vouch_jinja_is(jinja_string s, const char *text);
size_t vouch_jinja_characters(jinja_string s);
/* Byte offset of character i. */
size_t vouch_jinja_offset(jinja_string s, size_t i);
static inline uint8_t vouch_jinja_mark(jinja_string s, size_t i)
{
    return s.marks ? s.marks[i] : s.mark;
}

/* ------------------------------------------------------------ Python's semantics */

const char *vouch_jinja_kind_name(jinja_kind kind);
bool vouch_jinja_truth(const jinja_value *x);
bool vouch_jinja_equal(jinja_run *run, const jinja_value *a, const jinja_value *b);
/* Negative, 0, positive; fails where Python can't order them. */
int vouch_jinja_compare(jinja_run *run, const jinja_value *a, const jinja_value *b);
bool vouch_jinja_contains(jinja_run *run, const jinja_value *all, const jinja_value *x);
static inline bool vouch_jinja_is_number(const jinja_value *x)
{
    return x->kind == JINJA_INT || x->kind == JINJA_FLOAT || x->kind == JINJA_BOOL;
}
/* The value of a number or bool. */
double vouch_jinja_number(const jinja_value *x);
int64_t vouch_jinja_integer(const jinja_value *x); /* of JINJA_INT or JINJA_BOOL */
/* The items of a list, the keys of a dict or the characters of a string. An undefined value has no items. The run
 * fails for other kinds. */
jinja_list *vouch_jinja_iterate(jinja_run *run, const jinja_value *x);
/* -1: it has none, and the run has failed. */
int64_t vouch_jinja_length(jinja_run *run, const jinja_value *x);
jinja_string vouch_jinja_str(jinja_run *run, const jinja_value *x);
void vouch_jinja_repr(jinja_run *run, jinja_builder *to, const jinja_value *x);

/* json.dumps of Python. */
typedef struct jinja_json {
    int64_t indent; /* spaces a level; -1: one line */
    bool ascii, sort;
    jinja_string item_separator, key_separator; /* bytes NULL: the defaults */
} jinja_json;
void vouch_jinja_to_json(jinja_run *run, jinja_builder *to, const jinja_value *x, const jinja_json *how);

#endif
