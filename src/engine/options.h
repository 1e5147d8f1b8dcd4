/* SPDX-License-Identifier: MIT */
/* A session's options: defaults, checks, and every "default" replaced by a value. */
#ifndef VOUCH_ENGINE_OPTIONS_H
#define VOUCH_ENGINE_OPTIONS_H

#include "decode/judge.h"
#include "engine/model.h"

/* Whether the caller's options leave the draft to pace: AUTO, or drafters without n_draft. */
bool vouch_options_want_pace(const vouch_speculation *given);
/* Replaces each default in *o by its value. Errors: ARGUMENT (names the option). */
vouch_status vouch_options_resolve(vouch_session_options *o, const vouch_model *model, vouch_error *err);
/* Returns the most guesses that the paid drafter makes behind one parent. `given`: the options before
 * vouch_options_resolve; *resolved: after it. */
int32_t vouch_options_paid_branches(const vouch_speculation *given, const vouch_session_options *resolved);
/* Errors: ARGUMENT. */
vouch_status vouch_options_check_lenience(const vouch_rule *rule, double lenience, vouch_error *err);
vouch_status vouch_options_out_of_range(vouch_error *err, const char *what, long long value, long long min,
                                        long long max);

#endif
