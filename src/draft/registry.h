/* SPDX-License-Identifier: MIT */
/*
 * The registry of drafters. Each drafter is one file in this folder and one line of VOUCH_DRAFTER_LIST (vouch.h). The
 * file ends with the definition of vouch_drafter_type_NAME:
 *
 *     static vouch_status open_echo(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err) { ... }
 *     const vouch_drafter_type vouch_drafter_type_echo = {.in_auto = true, .open_free = open_echo};
 */
#ifndef VOUCH_DRAFT_REGISTRY_H
#define VOUCH_DRAFT_REGISTRY_H

#include "draft/draft_file.h"
#include "draft/drafters.h"
#include "draft/setup.h"
#include "draft/source.h"

typedef struct vouch_drafter_type {
    bool in_auto;                 /* AUTO takes it, provided that the caller gives `needs` */
    const char *needs;            /* what the caller must give, for messages: "a draft model"; NULL: nothing */
    vouch_need need;              /* who gives it */
    const char *flags, *settings; /* see vouch_drafter_info */
    bool in_model;                /* the target's own file may bring it (vouch_model.own) */
    const char *lacks; /* with VOUCH_NEED_OPTION, what to do where it is missing: "a draft model; set draft_model" */
    /* Whether the options give it, with VOUCH_NEED_OPTION. NULL: `files` does. */
    bool (*is_given)(const vouch_speculation *speculation);
    /* The drafter's file (vouch_draft_file): what it is, for help; NULL: none. open_file reads it; on failure it
     * leaves nothing. close_file frees it; NULL is allowed. */
    const char *file;
    vouch_status (*open_file)(void **out, const char *path, const vouch_draft_target *target, vouch_error *err);
    void (*close_file)(void *content);
    bool has_q;       /* it grows chains, trees and independent paths of guesses, drawn from q where VOUCH_DRAFT_SAMPLE
                         is set (tree.h) */
    bool is_greedy;   /* VOUCH_DRAFT_AUTO stands for GREEDY, unless the rule reads q */
    int32_t branches; /* most guesses with one parent, where pace chooses and guesses are not drawn; 0: 1 */
    /* One of the two. A free drafter is a source for the composition; a paid one drafts by itself. */
    vouch_status (*open_free)(vouch_source *out, const vouch_drafter_setup *setup, vouch_error *err);
    vouch_status (*open_paid)(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err);
    /* Paid: a first estimate of the time of one guess, in plain passes of the target. NULL: 0. */
    double (*share)(const vouch_drafter_setup *setup);
    /* Paid: whether a draft of any depth takes the time of one guess. NULL: it doesn't. */
    bool (*at_once)(const vouch_drafter_setup *setup);
} vouch_drafter_type;

/* The drafter with bit 1 << i. Outside [0, VOUCH_DRAFTERS): a type whose members are all 0. */
const vouch_drafter_type *vouch_drafter_type_get(int i);
/* The drafters whose model or file the options give: a set of bits. */
unsigned vouch_drafters_given(const vouch_speculation *speculation);
/* Set of VOUCH_DRAFTER_ bits of all paid drafters. */
unsigned vouch_drafters_paid(void);
/* Returns the paid drafter of a set, which has one at most. Without one: a type whose members are all 0. */
const vouch_drafter_type *vouch_drafters_paid_type(unsigned set);
/* Opens the drafters of a set without AUTO. is_paced: if a paid drafter makes trees and the set has no free drafter,
 * also opens a composition (compose.h) without sources, which keeps only the likeliest guesses of the paid tree.
 * Errors: ARGUMENT, MEMORY, MISMATCH (draft model), UNSUPPORTED (kv_type); on failure *out is empty. */
vouch_status vouch_drafters_open(vouch_drafters *out, unsigned set, const vouch_drafter_setup *setup, bool is_paced,
                                 vouch_error *err);

#define VOUCH_NAME_AND_COMMA(constant, name, summary) #name ","
enum { VOUCH_DRAFTER_NAMES = sizeof VOUCH_DRAFTER_LIST(VOUCH_NAME_AND_COMMA) "custom,none" }; /* any set's */
#undef VOUCH_NAME_AND_COMMA
/* Writes the names of the set, such as "ngram,recycle". */
void vouch_drafters_name(unsigned set, char out[VOUCH_DRAFTER_NAMES]);

#endif
