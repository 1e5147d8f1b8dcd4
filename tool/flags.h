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
#ifndef VOUCH_CLI_FLAGS_H
#define VOUCH_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_flag_kind {
    CLI_FLAG_SWITCH,  /* bool */
    CLI_FLAG_INT,     /* int32_t */
    CLI_FLAG_INTS,    /* cli_ints: "1,2,4", ascending */
    CLI_FLAG_SEED,    /* uint64_t */
    CLI_FLAG_FLOAT,   /* float */
    CLI_FLAG_DOUBLE,  /* double */
    CLI_FLAG_TEXT,    /* const char *, may be empty */
    CLI_FLAG_FILE,    /* const char *, may not be empty */
    CLI_FLAG_CHOICE,  /* int: index into the words of `value` */
    CLI_FLAG_SET,     /* unsigned: the first word alone is 0, each other one a bit; several with commas between */
    CLI_FLAG_SETS,    /* cli_ints: sets; may be given more than once */
    CLI_FLAG_CHOICES, /* cli_ints: choices; may be given more than once */
    CLI_FLAG_TEXTS    /* cli_texts: may be given more than once, never empty */
} cli_flag_kind;

typedef struct cli_texts {
    const char **items; /* room for every argument */
    size_t n;
} cli_texts;

enum { CLI_MOST_INTS = 128 };

typedef struct cli_ints {
    int32_t items[CLI_MOST_INTS];
    size_t n;
} cli_ints;

typedef struct cli_flag {
    const char *name;  /* without dashes; "": the word without a flag */
    const char *alias; /* another long name, or NULL */
    char letter;       /* short form, or 0 */
    cli_flag_kind kind;
    size_t offset;     /* of the value in the caller's struct */
    const char *value; /* in the help: "N"; of a choice or set, its words: "auto|none" */
    const char *range; /* of a number, else NULL */
    unsigned commands; /* bit set */
    const char *group; /* heading in the help */
    const char *help;
    const char *remedy;  /* added to the message after a bad value, or NULL */
    const char *implied; /* the word that a choice takes when no value follows; NULL: a value has to follow */
} cli_flag;

/* A flag of another program. */
typedef struct cli_foreign_flag {
    const char *name;   /* with its dashes: "-ngl" */
    const char *same;   /* long name of the flag here that means the same, or NULL */
    const char *advice; /* otherwise what to do instead: "leave it out: ..." */
} cli_foreign_flag;

typedef struct cli_flag_table {
    const cli_flag *flags;
    size_t n;
    const char *const *command_names; /* by bit */
    size_t n_commands;
    const cli_foreign_flag *foreign; /* the last has no name; NULL: none */
} cli_flag_table;

/* Stores the arguments into `values`; given[i] becomes the text of flag i ("" for a switch). At the first wrong
 * argument it prints a complaint and returns false. */
bool cli_flags_parse(const cli_flag_table *table, unsigned command, int argc, char **argv, void *values,
                     const char **given);
/* Prints the flags of a command by group, in lines of at most 80 columns. `defaults`: a struct of values as they are
 * before any flag. */
void cli_flags_help(const cli_flag_table *table, unsigned command, const void *defaults, FILE *stream);
enum { CLI_FLAG_TEXT_SIZE = 640 };
/* The help for a flag on one line: its text, range and default. */
const char *cli_flag_describe(const cli_flag *flag, const void *defaults, char text[CLI_FLAG_TEXT_SIZE]);

enum { CLI_FLAG_VALUE = 96 };
/* The value of a flag in the form that the flag takes; "on" or "off" for a switch, "" for texts. */
const char *cli_flag_text(const cli_flag *flag, const void *values, char text[CLI_FLAG_VALUE]);
/* Stores `text` as if the flag had been given; a switch takes "on" or "off". `shown` is the flag's name in messages.
 * Complains and returns false where the text is not allowed; then the value stays. */
bool cli_flag_change(const cli_flag *flag, const char *shown, const char *text, void *values);

/* Word i of a choice's "auto|none|draft" copied to `word`, or NULL. */
const char *cli_choice_word(const char *words, size_t i, char word[32]);

/* The word nearest to the typed one, or NULL when none is near. `words` is called with 0, 1, ... until it returns
 * NULL. */
const char *cli_nearest(const char *typed, const char *(*words)(const void *arg, size_t i), const void *arg);

#endif
