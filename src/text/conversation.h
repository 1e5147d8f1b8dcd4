/* SPDX-License-Identifier: MIT */
/* Reads a conversation in JSON, rewrites it for templates that read other forms, and makes it variables of a
 * template. */
#ifndef VOUCH_TEXT_CONVERSATION_H
#define VOUCH_TEXT_CONVERSATION_H

#include "text/jinja/json.h"

#define CHAT_ROLES  "system, developer, user, assistant or tool"
#define CHAT_KWARGS "chat_template_kwargs"

bool vouch_chat_role_is_known(const char *role);

/* An array of messages, or an object with `messages`. *out is an object; the caller drops it with json_decref.
 * Errors: ARGUMENT (names the path), MEMORY. */
vouch_status vouch_conversation_read(json_t **out, const char *text, size_t n, vouch_error *err);

/* Forms that some templates don't read. */
typedef enum conversation_form {
    CONVERSATION_PARTS,    /* content as an array of parts; rewritten: their texts joined by line ends */
    CONVERSATION_ARGUMENTS /* a call's arguments as text; rewritten: the object that the text stands for */
} conversation_form;

bool vouch_conversation_has(const json_t *root, conversation_form form);
vouch_status vouch_conversation_rewrite(json_t *root, conversation_form form, vouch_error *err);

/* Sets the variables in `to`; their strings point into `root`. Errors: ARGUMENT (names the path), those of the run. */
vouch_status vouch_conversation_add(jinja_run *run, jinja_dict *to, const json_t *root, vouch_error *err);

/* Is the last message to be continued (continue_final_message, as transformers has it)? */
bool vouch_conversation_continues(const json_t *root);
/* Cuts the rendered text behind the last message's content. Errors: ARGUMENT (the last message isn't an answer with a
 * text, or the template doesn't write this text). */
vouch_status vouch_conversation_cut(const json_t *root, jinja_string *text, vouch_error *err);

/* Reads an object of variables, as chat_variables in vouch_model_options; the caller drops *out with json_decref. */
vouch_status vouch_variables_read(json_t **out, const char *text, vouch_error *err);
vouch_status vouch_variables_add(jinja_run *run, jinja_dict *to, const json_t *variables, vouch_error *err);

#endif
