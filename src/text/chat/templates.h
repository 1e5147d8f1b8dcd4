/* SPDX-License-Identifier: MIT */
/* Chat templates that vouch brings, by name: for a base model, and for a file whose own template can't be run. */
#ifndef VOUCH_TEXT_TEMPLATES_H
#define VOUCH_TEXT_TEMPLATES_H

#include <stddef.h>

enum { VOUCH_TEMPLATE_TOKENS = 4 };

typedef struct vouch_chat_template {
    const char *name;
    const char *tokens[VOUCH_TEMPLATE_TOKENS + 1]; /* which the vocabulary must have, ended by NULL */
    const char *text;                              /* Jinja */
} vouch_chat_template;

/* Of two templates whose tokens a vocabulary has, the one that fits better comes first. NULL past the last. */
const vouch_chat_template *vouch_template_at(size_t i);
/* NULL: no such name. */
const vouch_chat_template *vouch_template_find(const char *name);

#endif
