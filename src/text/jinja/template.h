/* SPDX-License-Identifier: MIT */
/*
 * Chat templates: Jinja programs in model files, run with limits.
 *
 *   run, limits ──► context (messages, tools, ...) ──► render ──► text with marks
 *
 * A template may loop, recurse and multiply text; a run ends with an error at its limits, whatever the template does.
 * The result says where each byte came from (value.h).
 */
#ifndef VOUCH_TEXT_JINJA_TEMPLATE_H
#define VOUCH_TEXT_JINJA_TEMPLATE_H

#include "text/jinja/value.h"

/* Fills *err with why the template text[n] can't be run; code OK: it can. Errors: as of render. */
vouch_status vouch_jinja_check(jinja_run *run, const char *text, size_t n, vouch_error *err);
/* Does the template text[n] read a variable of this name? False where its tags can't be read. */
bool vouch_jinja_names(jinja_run *run, const char *text, size_t n, const char *name);
/* Renders text[n] with the entries of the dict `context` as its variables. *out lives as long as the run.
 * Errors: ARGUMENT (the template is wrong, or refuses: the message has the line and the reason), UNSUPPORTED (a limit),
 * MEMORY. */
vouch_status vouch_jinja_render(jinja_run *run, const char *text, size_t n, const jinja_value *context,
                                jinja_string *out, vouch_error *err);

#endif
