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

/* How a template reads conversations. Clients send content in parts, arguments as text and ids of any shape; templates
 * differ in what they read. */
typedef enum conversation_ids {
    CONVERSATION_IDS_ANY,
    CONVERSATION_IDS_NINE,    /* nine letters and digits */
    CONVERSATION_IDS_FUNCTION /* functions.NAME:INDEX */
} conversation_ids;

typedef struct conversation_form {
    bool parts;          /* content may be an array of parts; otherwise their texts are joined by line ends */
    bool null_content;   /* content beside calls is null; otherwise "" */
    bool text_arguments; /* a call's arguments are text; otherwise an object */
    conversation_ids ids;
    bool joins_results;     /* a question right after a result becomes the end of the result */
    bool renames_developer; /* a developer's message becomes a system message */
    bool joins_systems;     /* system messages at the beginning become one */
} conversation_form;

bool vouch_conversation_has_parts(const json_t *root);
bool vouch_conversation_has_calls(const json_t *root);
/* Whether a user's message follows a result of a call at once. */
bool vouch_conversation_asks_after_result(const json_t *root);
bool vouch_conversation_has_developer(const json_t *root);
/* Whether two system messages begin the conversation, where a developer's may count as one. */
bool vouch_conversation_begins_with_two_systems(const json_t *root, bool developer_counts);
/* Whether a tool lacks what a template may ask for: a description, parameters, their type and properties. */
bool vouch_conversation_has_bare_tools(const json_t *root);
/* Rewrites the messages. Errors: MEMORY. */
vouch_status vouch_conversation_rewrite(json_t *root, const conversation_form *form, vouch_error *err);
/* Adds what tools lack. */
vouch_status vouch_conversation_complete_tools(json_t *root, vouch_error *err);

/* Sets the variables in `to`; their strings point into `root`. Errors: ARGUMENT (names the path), those of the run. */
vouch_status vouch_conversation_add(jinja_run *run, jinja_dict *to, const json_t *root, vouch_error *err);

/* Is the last message to be continued (continue_final_message, as transformers has it)? */
bool vouch_conversation_continues(const json_t *root);
/* Cuts the rendered text after the last message's content. Errors: ARGUMENT (the last message isn't an answer with a
 * text, or the template doesn't write this text). */
vouch_status vouch_conversation_cut(const json_t *root, jinja_string *text, vouch_error *err);

/* Reads an object of variables, as chat_variables in vouch_model_options; the caller drops *out with json_decref. */
vouch_status vouch_variables_read(json_t **out, const char *text, vouch_error *err);
vouch_status vouch_variables_add(jinja_run *run, jinja_dict *to, const json_t *variables, vouch_error *err);

#endif
