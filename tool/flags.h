/* SPDX-License-Identifier: MIT */
/*
 * Command-line flags from a table: parsing, checks, messages and help all come from the same rows.
 *
 *   --name VALUE   --name=VALUE   -x VALUE   -xVALUE   --switch   VALUE
 *
 * A row says where the value goes (an offset into the caller's struct), which values are allowed, and which
 * commands have the flag. A range is written as people read it, "[1, 64]" or "(0, 1]"; the parser checks
 * against that text, and help and messages show it. The row with the empty name takes the one word that may
 * stand without a flag.
 *
 * A second table lists flags of other programs. Each is an alias of a flag here, or gets an error that says
 * what to write instead.
 */
#ifndef VOUCH_TOOL_FLAGS_H
#define VOUCH_TOOL_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A flag of the kind FILE or TEXTS takes a path if its `value` is OUT or contains FILE. On Windows, \ in a path becomes
 * /. An argument that begins with { is JSON and stays as it is. */
typedef enum tool_flag_kind {
    TOOL_FLAG_SWITCH,  /* bool */
    TOOL_FLAG_INT,     /* int32_t */
    TOOL_FLAG_INTS,    /* tool_ints: "1,2,4", ascending */
    TOOL_FLAG_SEED,    /* uint64_t */
    TOOL_FLAG_FLOAT,   /* float */
    TOOL_FLAG_DOUBLE,  /* double */
    TOOL_FLAG_SIZE,    /* int64_t: a number of bytes, written as 800M or 4G; K, M, G and T mean powers of 1000 */
    TOOL_FLAG_TEXT,    /* const char *, may be empty */
    TOOL_FLAG_FILE,    /* const char *, may not be empty */
    TOOL_FLAG_CHOICE,  /* int: index into the words of `value` */
    TOOL_FLAG_SET,     /* unsigned: the first word alone is 0, each other one a bit; several with commas between */
    TOOL_FLAG_SETS,    /* tool_ints: sets; may be given more than once */
    TOOL_FLAG_CHOICES, /* tool_ints: choices; may be given more than once */
    TOOL_FLAG_TEXTS    /* tool_texts: may be given more than once, never empty */
} tool_flag_kind;

typedef struct tool_texts {
    const char **items; /* room for every argument */
    size_t n;
} tool_texts;

enum { TOOL_MOST_INTS = 128 };

typedef struct tool_ints {
    int32_t items[TOOL_MOST_INTS];
    size_t n;
} tool_ints;

typedef struct tool_flag {
    const char *name;  /* without dashes; "": the word without a flag */
    const char *alias; /* another long name, or NULL */
    char letter;       /* short form, or 0 */
    tool_flag_kind kind;
    size_t offset;     /* of the value in the caller's struct */
    const char *value; /* in the help: "N"; of a choice or set, its words: "auto|none" */
    const char *range; /* of a number, else NULL */
    unsigned commands; /* bit set */
    const char *group; /* heading in the help */
    const char *help;
    const char *remedy;  /* added to the message after a bad value, or NULL */
    const char *implied; /* the word that a choice takes when no value follows; NULL: a value has to follow */
} tool_flag;

/* A flag of another program. */
typedef struct tool_foreign_flag {
    const char *name;   /* with its dashes: "-ngl" */
    const char *same;   /* long name of the flag here that means the same, or NULL */
    const char *advice; /* otherwise what to do instead: "leave it out: ..." */
} tool_foreign_flag;

typedef struct tool_flag_table {
    const tool_flag *flags;
    size_t n;
    const char *const *command_names; /* by bit */
    size_t n_commands;
    const tool_foreign_flag *foreign; /* the last has no name; NULL: none */
} tool_flag_table;

/* Stores the arguments into `values`; given[i] becomes the text of flag i ("" for a switch). At the first wrong
 * argument it prints a complaint and returns false. */
bool tool_flags_parse(const tool_flag_table *table, unsigned command, int argc, char **argv, void *values,
                      const char **given);
/* Prints the flags of a command by group, in lines of at most 80 columns. `defaults`: a struct of values as they are
 * before any flag. */
void tool_flags_help(const tool_flag_table *table, unsigned command, const void *defaults, FILE *stream);
enum { TOOL_FLAG_TEXT_SIZE = 640 };
/* The help for a flag on one line: its text, range and default. */
const char *tool_flag_describe(const tool_flag *flag, const void *defaults, char text[TOOL_FLAG_TEXT_SIZE]);

enum { TOOL_FLAG_VALUE = 96 };
/* The value of a flag in the form that the flag takes; "on" or "off" for a switch, "" for texts. */
const char *tool_flag_text(const tool_flag *flag, const void *values, char text[TOOL_FLAG_VALUE]);
/* Stores `text` as if the flag had been given; a switch takes "on" or "off". `shown` is the flag's name in messages.
 * Complains and returns false where the text is not allowed; then the value stays. */
bool tool_flag_change(const tool_flag *flag, const char *shown, const char *text, void *values);

/* Word i of a choice's "auto|none|draft" copied to `word`, or NULL. */
const char *tool_choice_word(const char *words, size_t i, char word[32]);

/* The word nearest to the typed one, or NULL when none is near. `words` is called with 0, 1, ... until it returns
 * NULL. */
const char *tool_nearest(const char *typed, const char *(*words)(const void *arg, size_t i), const void *arg);

#endif
