/* SPDX-License-Identifier: MIT */
/*
 * Names of an object's properties, as a grammar writes them: a list for each object, so that no name comes twice.
 *
 *     texts   3: a          lists   5: "a"               A text is a byte after another text. A list is a text after
 *             4: ab = 3 b           6: "a", "ab"         another list. Equal ones are stored once and never change, so
 *                                                        the state of an automaton has their numbers.
 *
 * What a grammar allows next doesn't depend on the whole name that is being written: only on whether it is still the
 * beginning of one in the list. So a walk over the vocabulary (constraint.c) forgets other names; they are FREE.
 *
 * Memory is fixed. The text alone decides whether an object has room for another name (automaton.c).
 */
#ifndef VOUCH_TEXT_GRAMMAR_NAMES_H
#define VOUCH_TEXT_GRAMMAR_NAMES_H

#include "base/memory.h"

enum {
    VOUCH_NAMES = 128,        /* most names of one object that its schema doesn't list */
    VOUCH_NAMES_ALL = 512,    /* of all objects within each other, */
    VOUCH_NAMES_BYTES = 8192, /* and their bytes */
    VOUCH_NAME_BYTES = 255,   /* longer names are not compared */
    VOUCH_WORDS = 255         /* so many words or more (vouch_grammar_node.words) are enough for any list */
};

/* Texts: the empty one; one that was forgotten; one that is too long. */
enum { VOUCH_TEXT_FREE = -1, VOUCH_TEXT_LONG = -2, VOUCH_TEXT_EMPTY = 0 };

typedef struct vouch_name_text {
    uint64_t hash; /* of its bytes */
    int32_t before;
    uint8_t byte, length;
} vouch_name_text;

typedef struct vouch_name_list {
    uint64_t hash;        /* of its texts */
    int32_t before, last; /* the list without its last name, and that */
    int32_t n, bytes;
} vouch_name_list;

typedef struct vouch_names {
    vouch_name_text *texts;           /* [n_texts] 0: the empty text */
    vouch_name_list *lists;           /* [n_lists] 0: the empty list */
    int32_t *text_slots, *list_slots; /* open hash tables */
    int32_t *renamed;                 /* scratch */
    int32_t n_texts, n_lists;
} vouch_names;

/* Takes the arrays from the arena; without `used`, as few as can be. */
void vouch_names_layout(vouch_names *names, bool used, vouch_arena *arena);
void vouch_names_init(vouch_names *names);
/* Whether one more step of the automaton has room. */
bool vouch_names_fit(const vouch_names *names);

/* The text with one more byte. Within `list` alone (not exact): FREE where no name in it begins so. */
int32_t vouch_names_extend(vouch_names *names, int32_t list, int32_t text, unsigned char byte, bool exact);
/* The text, or FREE where no name in the list begins so. */
int32_t vouch_names_forget(const vouch_names *names, int32_t list, int32_t text);
/* The list with one more name; -1: it has the name already, or may have it. */
int32_t vouch_names_add(vouch_names *names, int32_t list, int32_t text);
/* How many names of the list begin with the text, or may do so. */
int32_t vouch_names_alike(const vouch_names *names, int32_t list, int32_t text);

/* Drops texts and lists that are not in use: mark those that are, pack, then ask for the new numbers. */
void vouch_names_unmark(vouch_names *names);
void vouch_names_mark_list(vouch_names *names, int32_t list);
void vouch_names_mark_text(vouch_names *names, int32_t text);
void vouch_names_pack(vouch_names *names);
int32_t vouch_names_list_now(const vouch_names *names, int32_t list);
int32_t vouch_names_text_now(const vouch_names *names, int32_t text);

#endif
