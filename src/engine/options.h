/* SPDX-License-Identifier: MIT */
/* A session's options: defaults, checks, and every "default" replaced by a value. */
#ifndef VOUCH_ENGINE_OPTIONS_H
#define VOUCH_ENGINE_OPTIONS_H

#include "decode/judge.h"
#include "engine/file/model.h"

/* Decisions that no option has a value for. */
typedef struct vouch_options_choice {
    bool is_paced;         /* pace chooses the draft: drafters AUTO, or no n_draft */
    int32_t paid_branches; /* most guesses with one parent in the paid drafter's draft; 1: chains */
} vouch_options_choice;

/* Replaces each default in *o by its value and fills *choice, which may be NULL. Errors: ARGUMENT (names the
 * option). */
vouch_status vouch_options_resolve(vouch_session_options *o, vouch_options_choice *choice, const vouch_model *model,
                                   vouch_error *err);
/* Errors: ARGUMENT. */
vouch_status vouch_options_check_lenience(const vouch_rule *rule, double lenience, vouch_error *err);
vouch_status vouch_options_out_of_range(vouch_error *err, const char *what, long long value, long long min,
                                        long long max);

#endif
