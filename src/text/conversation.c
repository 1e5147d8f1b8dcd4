/* SPDX-License-Identifier: MIT */
/*
 * A conversation as JSON, as the OpenAI API has it (vouch_render_chat in vouch.h):
 *
 *   JSON text ──► read: shape of messages, tools, documents is checked; errors name the path
 *             ──► rewrite: for templates that read another form of content parts or of a call's arguments
 *             ──► variables of the template, with marks that say who wrote a text (jinja/value.h)
 *
 * Content and thoughts of the assistant have the model's mark, everything else the caller's. A call's name
 * and arguments have the caller's mark, too, so they can't name a special token.
 */
#include "text/conversation.h"

#include <string.h>

#include "text/internal.h"

/* ------------------------------------------------------------------------ checks */

static vouch_status part_check(const json_t *part, const json_path *at, vouch_error *err)
{
    const json_t *kind = json_object_get(part, "type"), *text = json_object_get(part, "text");
    const json_path kind_at = {.up = at, .key = "type"}, text_at = {.up = at, .key = "text"};
    if (!json_is_string(kind))
        return vouch_json_fail(err, &kind_at, "is %s; expected \"text\"", vouch_json_kind_name(kind));
    if (strcmp(json_string_value(kind), "text") != 0)
        return vouch_json_fail(err, &kind_at, "is \"%.40s\"; vouch reads parts of the type \"text\" only",
                               json_string_value(kind));
    if (json_is_string(text)) return VOUCH_OK;
    return vouch_json_fail(err, &text_at, "is %s; expected a string", vouch_json_kind_name(text));
}

static vouch_status content_check(const json_t *content, const json_path *at, vouch_error *err)
{
    if (!content || json_is_string(content) || json_is_null(content)) return VOUCH_OK;
    if (!json_is_array(content))
        return vouch_json_fail(err, at, "is %s; expected a string, null or an array of parts",
                               vouch_json_kind_name(content));
    for (size_t i = 0; i < json_array_size(content); i++) {
        const json_path here = {.up = at, .index = i};
        VOUCH_TRY(part_check(json_array_get(content, i), &here, err));
    }
    return VOUCH_OK;
}

static vouch_status calls_check(const json_t *calls, const json_path *at, vouch_error *err)
{
    if (!calls || json_is_null(calls)) return VOUCH_OK;
    if (!json_is_array(calls))
        return vouch_json_fail(err, at, "is %s; expected an array", vouch_json_kind_name(calls));
    for (size_t i = 0; i < json_array_size(calls); i++) {
        const json_path here = {.up = at, .index = i}, function_at = {.up = &here, .key = "function"};
        const json_path name_at = {.up = &function_at, .key = "name"},
                        arguments_at = {.up = &function_at, .key = "arguments"};
        const json_t *function = json_object_get(json_array_get(calls, i), "function");
        const json_t *name = json_object_get(function, "name"), *arguments = json_object_get(function, "arguments");
        if (!json_is_object(function))
            return vouch_json_fail(err, &function_at, "is %s; expected an object", vouch_json_kind_name(function));
        if (!json_is_string(name))
            return vouch_json_fail(err, &name_at, "is %s; expected a string", vouch_json_kind_name(name));
        if (!json_is_string(arguments) && !json_is_object(arguments))
            return vouch_json_fail(err, &arguments_at, "is %s; expected a string of JSON, or an object",
                                   vouch_json_kind_name(arguments));
    }
    return VOUCH_OK;
}

static vouch_status message_check(const json_t *message, const json_path *at, vouch_error *err)
{
    const json_path role_at = {.up = at, .key = "role"}, content_at = {.up = at, .key = "content"},
                    calls_at = {.up = at, .key = "tool_calls"};
    const json_t *role = json_object_get(message, "role");
    if (!json_is_object(message))
        return vouch_json_fail(err, at, "is %s; expected an object", vouch_json_kind_name(message));
    if (!json_is_string(role))
        return vouch_json_fail(err, &role_at, "is %s; expected a string", vouch_json_kind_name(role));
    if (!vouch_chat_role_is_known(json_string_value(role)))
        return vouch_json_fail(err, &role_at, "is \"%.40s\"; expected " CHAT_ROLES, json_string_value(role));
    VOUCH_TRY(content_check(json_object_get(message, "content"), &content_at, err));
    return calls_check(json_object_get(message, "tool_calls"), &calls_at, err);
}

static vouch_status objects_check(const json_t *root, const char *key, const json_path *up, vouch_error *err)
{
    const json_t *all = json_object_get(root, key);
    const json_path at = {.up = up, .key = key};
    if (!all || json_is_null(all)) return VOUCH_OK;
    if (!json_is_array(all)) return vouch_json_fail(err, &at, "is %s; expected an array", vouch_json_kind_name(all));
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_path here = {.up = &at, .index = i};
        const json_t *item = json_array_get(all, i);
        if (!json_is_object(item))
            return vouch_json_fail(err, &here, "is %s; expected an object", vouch_json_kind_name(item));
    }
    return VOUCH_OK;
}

static vouch_status conversation_check(const json_t *root, vouch_error *err)
{
    const json_path top = {.up = NULL}, at = {.up = &top, .key = "messages"},
                    more_at = {.up = &top, .key = CHAT_KWARGS};
    const json_t *messages = json_object_get(root, "messages"), *more = json_object_get(root, CHAT_KWARGS);
    if (!json_is_array(messages) || json_array_size(messages) == 0)
        return vouch_json_fail(err, &at, "is %s; expected an array of messages",
                               json_is_array(messages) ? "empty" : vouch_json_kind_name(messages));
    for (size_t i = 0; i < json_array_size(messages); i++) {
        const json_path here = {.up = &at, .index = i};
        VOUCH_TRY(message_check(json_array_get(messages, i), &here, err));
    }
    if (more && !json_is_object(more))
        return vouch_json_fail(err, &more_at, "is %s; expected an object", vouch_json_kind_name(more));
    VOUCH_TRY(objects_check(root, "tools", &top, err));
    return objects_check(root, "documents", &top, err);
}

vouch_status vouch_conversation_read(json_t **out, const char *text, size_t n, vouch_error *err)
{
    json_t *root;
    *out = NULL;
    VOUCH_TRY(vouch_json_read(&root, text, n, err));
    if (json_is_array(root)) {
        json_t *object = json_object();
        if (!object || json_object_set_new(object, "messages", root)) {
            json_decref(object);
            return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a conversation");
        }
        root = object;
    }
    const vouch_status status = conversation_check(root, err);
    if (status == VOUCH_OK) *out = root;
    else json_decref(root);
    return status;
}

/* --------------------------------------------------------------------- rewriting */

/* The texts of the parts, a line end between them. NULL: not enough memory. */
static json_t *parts_join(const json_t *parts)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(parts); i++)
        n += json_string_length(json_object_get(json_array_get(parts, i), "text")) + 1;
    char *text = malloc(n + 1);
    size_t used = 0;
    for (size_t i = 0; text && i < json_array_size(parts); i++) {
        const json_t *part = json_object_get(json_array_get(parts, i), "text");
        if (i) text[used++] = '\n';
        memcpy(text + used, json_string_value(part), json_string_length(part));
        used += json_string_length(part);
    }
    json_t *joined = text ? json_stringn(text, used) : NULL;
    free(text);
    return joined;
}

bool vouch_conversation_has(const json_t *root, conversation_form form)
{
    size_t i, j;
    const json_t *message, *call;
    json_array_foreach(json_object_get(root, "messages"), i, message)
    {
        if (form == CONVERSATION_PARTS && json_is_array(json_object_get(message, "content"))) return true;
        if (form != CONVERSATION_ARGUMENTS) continue;
        json_array_foreach(json_object_get(message, "tool_calls"), j, call)
            if (json_is_string(json_object_get(json_object_get(call, "function"), "arguments"))) return true;
    }
    return false;
}

static vouch_status arguments_rewrite(const json_t *message, vouch_error *err)
{
    size_t i;
    const json_t *call;
    json_array_foreach(json_object_get(message, "tool_calls"), i, call)
    {
        json_t *function = json_object_get(call, "function");
        const json_t *text = json_object_get(function, "arguments");
        if (!json_is_string(text)) continue;
        json_t *object = json_loadb(json_string_value(text), json_string_length(text), JSON_ALLOW_NUL, NULL);
        if (!json_is_object(object)) json_decref(object); /* no JSON object: the template gets the text */
        else if (json_object_set_new(function, "arguments", object))
            return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a call's arguments");
    }
    return VOUCH_OK;
}

vouch_status vouch_conversation_rewrite(json_t *root, conversation_form form, vouch_error *err)
{
    size_t i;
    json_t *message;
    json_array_foreach(json_object_get(root, "messages"), i, message)
    {
        const json_t *content = json_object_get(message, "content");
        if (form == CONVERSATION_ARGUMENTS) VOUCH_TRY(arguments_rewrite(message, err));
        else if (json_is_array(content) && json_object_set_new(message, "content", parts_join(content)))
            return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the parts of a message");
    }
    return VOUCH_OK;
}

/* --------------------------------------------------------------------- variables */

static bool is_said(const char *key)
{
    static const char *const keys[] = {"content", "reasoning_content", "reasoning", "thinking"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

/* Sets every member of `from` in `to`. `is_answer`: content and thoughts have the model's mark. */
static vouch_status members_add(jinja_run *run, jinja_dict *to, const json_t *from, bool is_answer, const json_path *at,
                                vouch_error *err)
{
    const char *key;
    const json_t *member;
    json_object_foreach((json_t *)(uintptr_t)from, key, member)
    {
        const json_path here = {.up = at, .key = key};
        const jinja_mark mark = is_answer && is_said(key) ? JINJA_OF_MODEL : JINJA_OF_CALLER;
        const jinja_string name = {.bytes = key, .n = strlen(key), .mark = JINJA_OF_CALLER};
        jinja_value value;
        VOUCH_TRY(vouch_jinja_from_json(run, member, mark, &here, &value, err));
        vouch_jinja_dict_set(run, to, jinja_text(name), value);
    }
    return run->failed ? vouch_fail(err, run->error.code, "%s", run->error.message) : VOUCH_OK;
}

static vouch_status messages_add(jinja_run *run, jinja_list *to, const json_t *messages, const json_path *at,
                                 vouch_error *err)
{
    for (size_t i = 0; i < json_array_size(messages); i++) {
        const json_t *message = json_array_get(messages, i);
        const json_path here = {.up = at, .index = i};
        const bool is_answer = strcmp(json_string_value(json_object_get(message, "role")), "assistant") == 0;
        const jinja_value value = vouch_jinja_dict_new(run, JINJA_DICT);
        VOUCH_TRY(members_add(run, value.dict, message, is_answer, &here, err));
        vouch_jinja_list_push(run, to, value);
    }
    return VOUCH_OK;
}

vouch_status vouch_conversation_add(jinja_run *run, jinja_dict *to, const json_t *root, vouch_error *err)
{
    const json_path top = {.up = NULL}, at = {.up = &top, .key = "messages"},
                    more_at = {.up = &top, .key = CHAT_KWARGS};
    const jinja_value list = vouch_jinja_list_new(run, JINJA_LIST);
    VOUCH_TRY(members_add(run, to, root, false, &top, err));
    VOUCH_TRY(members_add(run, to, json_object_get(root, CHAT_KWARGS), false, &more_at, err));
    VOUCH_TRY(messages_add(run, list.list, json_object_get(root, "messages"), &at, err));
    vouch_jinja_dict_set(run, to, jinja_text(vouch_jinja_literal("messages")), list);
    return run->failed ? vouch_fail(err, run->error.code, "%s", run->error.message) : VOUCH_OK;
}

/* ---------------------------------------------------------------- continuing */

bool vouch_conversation_continues(const json_t *root)
{
    return json_is_true(json_object_get(root, "continue_final_message"));
}

static bool ends_with(const char *text, size_t n_text, const char *end, size_t n)
{
    return n > 0 && n <= n_text && memcmp(text + n_text - n, end, n) == 0;
}

/* The last byte with the model's mark ends the last answer, because only templates write behind it. */
vouch_status vouch_conversation_cut(const json_t *root, jinja_string *text, vouch_error *err)
{
    static const char white[] = " \t\r\n";
    const json_t *messages = json_object_get(root, "messages");
    const json_t *last = json_array_get(messages, json_array_size(messages) - 1);
    const json_t *content = json_object_get(last, "content");
    if (json_is_array(content))
        content = json_object_get(json_array_get(content, json_array_size(content) - 1), "text");
    if (!json_is_string(content) || strcmp(json_string_value(json_object_get(last, "role")), "assistant") != 0)
        return vouch_fail(err, VOUCH_E_ARGUMENT,
                          "continue_final_message: the last message isn't the assistant's, or has no text; leave the "
                          "field out or add such a message");
    const char *said = json_string_value(content);
    size_t n = json_string_length(content), end = text->n;
    while (end > 0 && vouch_jinja_mark(*text, end - 1) != JINJA_OF_MODEL) end--;
    if (!ends_with(text->bytes, end, said, n)) { /* templates may strip white space */
        while (n > 0 && strchr(white, said[n - 1])) n--;
        for (; n > 0 && strchr(white, *said); n--) said++;
        if (!ends_with(text->bytes, end, said, n))
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "continue_final_message: the chat template doesn't write the last message as it is; "
                              "leave the field out");
    }
    text->n = end;
    return VOUCH_OK;
}

vouch_status vouch_variables_read(json_t **out, const char *text, vouch_error *err)
{
    VOUCH_TRY(vouch_json_read(out, text, strlen(text), err));
    if (json_is_object(*out)) return VOUCH_OK;
    const vouch_status status = vouch_fail(err, VOUCH_E_ARGUMENT, "chat_variables is %s; expected a JSON object",
                                           vouch_json_kind_name(*out));
    json_decref(*out);
    *out = NULL;
    return status;
}

vouch_status vouch_variables_add(jinja_run *run, jinja_dict *to, const json_t *variables, vouch_error *err)
{
    const json_path top = {.up = NULL};
    return members_add(run, to, variables, false, &top, err);
}
