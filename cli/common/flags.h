/* SPDX-License-Identifier: MIT */
/*
 * Command-line flags from a table: parsing, checks, messages and help all come from the same rows.
 *
 *   --name VALUE   --name=VALUE   -x VALUE   -xVALUE   --switch
 *
 * A row says where the value goes (an offset into the caller's struct), what may stand there, and in
 * which commands. Ranges are written as people read them, "[1, 64]" or "(0, 1]", and that text is
 * what is checked, shown in the help and quoted in the message.
 */
#ifndef VOUCH_CLI_FLAGS_H
#define VOUCH_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum cli_flag_kind {
    CLI_FLAG_SWITCH, /* bool */
    CLI_FLAG_INT,    /* int32_t */
    CLI_FLAG_INTS,   /* cli_ints: "1,2,4", ascending */
    CLI_FLAG_SEED,   /* uint64_t */
    CLI_FLAG_FLOAT,  /* float */
    CLI_FLAG_DOUBLE, /* double */
    CLI_FLAG_TEXT,   /* const char *, may be empty */
    CLI_FLAG_FILE,   /* const char *, may not be empty */
    CLI_FLAG_CHOICE, /* int: index into the words of `value` */
    CLI_FLAG_SET,    /* unsigned: the first word alone is 0, each other one a bit; several with commas between */
    CLI_FLAG_SETS,   /* cli_ints: sets; may be given more than once */
    CLI_FLAG_CHOICES, /* cli_ints: choices; may be given more than once */
    CLI_FLAG_TEXTS   /* cli_texts: may be given more than once, never empty */
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
    const char *name;  /* without dashes */
    const char *alias; /* another long name, or NULL */
    char letter;       /* short form, or 0 */
    cli_flag_kind kind;
    size_t offset;     /* of the value in the caller's struct */
    const char *value; /* in the help: "N"; of a choice or set, its words: "auto|none" */
    const char *range; /* of a number, else NULL */
    unsigned commands; /* bit set */
    const char *group; /* heading in the help */
    const char *help;
    const char *remedy;  /* more for the message after a bad value, or NULL */
    const char *implied; /* a choice's word when none follows; NULL: one has to */
} cli_flag;

typedef struct cli_flag_table {
    const cli_flag *flags;
    size_t n;
    const char *const *command_names; /* by bit */
    size_t n_commands;
} cli_flag_table;

/* Stores arguments into `values`; given[i] becomes the text of flag i ("" for a switch). A complaint
 * is printed and false returned at the first that is wrong. */
bool cli_flags_parse(const cli_flag_table *table, unsigned command, int argc, char **argv, void *values,
                     const char **given);
/* The flags of a command, by group; `defaults` is what they are without being given. */
void cli_flags_help(const cli_flag_table *table, unsigned command, const void *defaults, FILE *stream);

/* Word i of a choice's "auto|none|draft" copied to `word`, or NULL. */
const char *cli_choice_word(const char *words, size_t i, char word[32]);

/* The word nearest to what was typed, or NULL when none is near. `words` is called with 0, 1, ... */
const char *cli_nearest(const char *typed, const char *(*words)(const void *arg, size_t i), const void *arg);

#endif
