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
#include "text/chat/conversation.h"

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
    if (!json_is_array(calls)) return vouch_json_fail(err, at, "is %s; expected an array", vouch_json_kind_name(calls));
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
        if (arguments && !json_is_null(arguments) && !json_is_string(arguments) && !json_is_object(arguments))
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
        if (json_object_set_new(object, "messages", root)) {
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

/* The functions below return how many of their steps had no memory. */

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

/* Takes the value; NULL counts as failed. */
static int put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) != 0;
}

bool vouch_conversation_has_parts(const json_t *root)
{
    size_t i;
    const json_t *message;
    json_array_foreach(json_object_get(root, "messages"), i, message)
        if (json_is_array(json_object_get(message, "content"))) return true;
    return false;
}

bool vouch_conversation_has_calls(const json_t *root)
{
    size_t i;
    const json_t *message;
    json_array_foreach(json_object_get(root, "messages"), i, message)
        if (json_array_size(json_object_get(message, "tool_calls")) > 0) return true;
    return false;
}

static bool has_role(const json_t *message, const char *role)
{
    const char *word = json_string_value(json_object_get(message, "role"));
    return word && strcmp(word, role) == 0;
}

static bool asks_after_result(const json_t *messages, size_t i)
{
    return i > 0 && has_role(json_array_get(messages, i), "user") && has_role(json_array_get(messages, i - 1), "tool");
}

bool vouch_conversation_asks_after_result(const json_t *root)
{
    const json_t *messages = json_object_get(root, "messages");
    for (size_t i = 1; i < json_array_size(messages); i++)
        if (asks_after_result(messages, i)) return true;
    return false;
}

bool vouch_conversation_has_developer(const json_t *root)
{
    size_t i;
    const json_t *message;
    json_array_foreach(json_object_get(root, "messages"), i, message)
        if (has_role(message, "developer")) return true;
    return false;
}

bool vouch_conversation_begins_with_two_systems(const json_t *root, bool developer_counts)
{
    const json_t *messages = json_object_get(root, "messages");
    for (size_t i = 0; i < 2; i++) {
        const json_t *message = json_array_get(messages, i);
        if (!has_role(message, "system") && !(developer_counts && has_role(message, "developer"))) return false;
    }
    return true;
}

/* Appends message i to the one before it. Where memory is short both stay. */
static int message_append(json_t *messages, size_t i)
{
    json_t *before = json_array_get(messages, i - 1), *parts = json_array();
    int n_failed = 0;
    for (size_t m = i - 1; m <= i; m++) {
        json_t *content = json_object_get(json_array_get(messages, m), "content");
        if (json_is_array(content)) n_failed += json_array_extend(parts, content) != 0;
        else if (json_is_string(content))
            n_failed += json_array_append_new(parts, json_pack("{s:O}", "text", content)) != 0;
    }
    if (n_failed == 0) n_failed += put(before, "content", parts_join(parts));
    json_decref(parts);
    if (n_failed == 0) json_array_remove(messages, i);
    return n_failed;
}

static int results_join(json_t *messages)
{
    int n_failed = 0;
    for (size_t i = json_array_size(messages); i-- > 1;)
        if (asks_after_result(messages, i)) n_failed += message_append(messages, i);
    return n_failed;
}

static int developer_rename(json_t *messages)
{
    int n_failed = 0;
    size_t i;
    json_t *message;
    json_array_foreach(messages, i, message)
        if (has_role(message, "developer")) n_failed += put(message, "role", json_string("system"));
    return n_failed;
}

static int systems_join(json_t *messages)
{
    int n_failed = 0;
    size_t n = 0;
    while (has_role(json_array_get(messages, n), "system")) n++;
    while (n-- > 1) n_failed += message_append(messages, n);
    return n_failed;
}

static bool is_empty(const json_t *content)
{
    return !content || json_is_null(content) || (json_is_string(content) && json_string_length(content) == 0);
}

static int content_rewrite(json_t *message, const conversation_form *form)
{
    json_t *content = json_object_get(message, "content");
    const bool calls = json_array_size(json_object_get(message, "tool_calls")) > 0;
    if (json_is_array(content)) return form->parts ? 0 : put(message, "content", parts_join(content));
    if (calls && is_empty(content)) return put(message, "content", form->null_content ? json_null() : json_string(""));
    return !content || json_is_null(content) ? put(message, "content", json_string("")) : 0;
}

/* The object that a text of arguments stands for. Text that is cut, or no JSON, becomes the only argument. NULL: not
 * enough memory. */
static json_t *arguments_of(const json_t *given)
{
    json_t *object;
    if (json_string_length(given) == 0) return json_object();
    if (vouch_json_read_numbers(&object, json_string_value(given), json_string_length(given), NULL) == VOUCH_E_MEMORY)
        return NULL;
    if (!object) return json_pack("{s:O}", "arguments", given);
    if (!json_is_null(object)) return object;
    json_decref(object);
    return json_object();
}

static int arguments_rewrite(json_t *function, bool as_text)
{
    const json_t *given = json_object_get(function, "arguments");
    if (!given || json_is_null(given)) return put(function, "arguments", as_text ? json_string("{}") : json_object());
    if (as_text && json_is_object(given)) {
        char *text = vouch_json_write_numbers(given);
        const int n_failed = put(function, "arguments", text ? json_string(text) : NULL);
        free(text);
        return n_failed;
    }
    if (as_text || !json_is_string(given)) return 0;
    json_t *object = arguments_of(given);
    if (!object || json_is_object(object)) return put(function, "arguments", object);
    json_decref(object); /* a list or a number: the template gets the text */
    return 0;
}

/* Nine letters and digits that stand for an id. */
static void nine_write(const char *id, char out[10])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    size_t n = 0;
    while (id[n] && strchr(digits, id[n])) n++;
    if (n == 9 && !id[n]) {
        memcpy(out, id, 10);
        return;
    }
    for (n = 0; id[n]; n++) hash = (hash ^ (unsigned char)id[n]) * 0x100000001b3u;
    for (n = 0; n < 9; n++, hash /= 62) out[n] = digits[hash % 62];
    out[9] = '\0';
}

/* The id in the template's form; `index` counts the calls of the conversation. A new reference. */
static json_t *id_rewrite(const char *id, const char *name, json_int_t index, conversation_ids ids)
{
    char nine[10];
    if (ids == CONVERSATION_IDS_FUNCTION)
        return json_sprintf("functions.%s:%" JSON_INTEGER_FORMAT, name ? name : "", index);
    nine_write(id, nine);
    return json_string(nine);
}

/* Gives the calls of a message new ids, and notes them in `known`. */
static int ids_rewrite(json_t *message, json_t *known, json_int_t *index, conversation_ids ids)
{
    int n_failed = 0;
    size_t i;
    json_t *call;
    json_array_foreach(json_object_get(message, "tool_calls"), i, call) {
        const char *id = json_string_value(json_object_get(call, "id"));
        const char *name = json_string_value(json_object_get(json_object_get(call, "function"), "name"));
        json_t *better = id_rewrite(id ? id : "", name, (*index)++, ids);
        if (id) n_failed += json_object_set(known, id, better) != 0;
        n_failed += put(call, "id", better);
    }
    const char *answered = json_string_value(json_object_get(message, "tool_call_id"));
    if (!answered) return n_failed;
    json_t *same = json_object_get(known, answered);
    return n_failed + put(message, "tool_call_id",
                          same ? json_incref(same) : id_rewrite(answered, NULL, 0, CONVERSATION_IDS_NINE));
}

vouch_status vouch_conversation_rewrite(json_t *root, const conversation_form *form, vouch_error *err)
{
    size_t i, j;
    json_t *message, *call, *known = json_object();
    json_int_t index = 0;
    json_t *messages = json_object_get(root, "messages");
    int n_failed = known == NULL;
    if (form->renames_developer) n_failed += developer_rename(messages);
    if (form->joins_systems) n_failed += systems_join(messages);
    if (form->joins_results) n_failed += results_join(messages);
    json_array_foreach(messages, i, message) {
        n_failed += content_rewrite(message, form);
        json_array_foreach(json_object_get(message, "tool_calls"), j, call)
            n_failed += arguments_rewrite(json_object_get(call, "function"), form->text_arguments);
        if (form->ids != CONVERSATION_IDS_ANY) n_failed += ids_rewrite(message, known, &index, form->ids);
    }
    json_decref(known);
    return n_failed == 0 ? VOUCH_OK : vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a conversation");
}

/* The function that a tool describes; the tool itself where it is a plain function. */
static json_t *function_of(json_t *tool)
{
    json_t *function = json_object_get(tool, "function");
    return json_is_object(function) ? function : tool;
}

static bool is_type(const json_t *schema, const char *type)
{
    const char *word = json_string_value(json_object_get(schema, "type"));
    return word && strcmp(word, type) == 0;
}

/* A property of a tool's parameters. Templates ask for its type, its description and the types of its parts. */
static bool is_bare_property(const json_t *property)
{
    return json_is_object(property) &&
           (!json_object_get(property, "type") || !json_object_get(property, "description") ||
            (is_type(property, "object") && !json_object_get(property, "additionalProperties")) ||
            (is_type(property, "array") && !json_object_get(property, "items")));
}

static bool has_bare_property(const json_t *parameters)
{
    const char *key;
    json_t *property;
    json_object_foreach(json_object_get(parameters, "properties"), key, property)
        if (is_bare_property(property)) return true;
    return false;
}

static int complete_properties(json_t *properties)
{
    const char *key;
    json_t *property;
    int n_failed = 0;
    json_object_foreach(properties, key, property) {
        if (!is_bare_property(property)) continue;
        const char *part = is_type(property, "object")  ? "additionalProperties"
                           : is_type(property, "array") ? "items"
                                                        : NULL;
        if (part && !json_is_object(json_object_get(property, part))) n_failed += put(property, part, json_object());
        if (!json_object_get(property, "type")) n_failed += put(property, "type", json_string("string"));
        if (!json_object_get(property, "description")) n_failed += put(property, "description", json_string(""));
    }
    return n_failed;
}

bool vouch_conversation_has_bare_tools(const json_t *root)
{
    size_t i;
    json_t *tool;
    json_array_foreach(json_object_get(root, "tools"), i, tool) {
        const json_t *function = function_of(tool), *parameters = json_object_get(function, "parameters");
        if (!json_is_string(json_object_get(function, "description")) || !json_object_get(parameters, "type") ||
            !json_is_object(json_object_get(parameters, "properties")) || has_bare_property(parameters))
            return true;
    }
    return false;
}

vouch_status vouch_conversation_complete_tools(json_t *root, vouch_error *err)
{
    size_t i;
    json_t *tool;
    int n_failed = 0;
    json_array_foreach(json_object_get(root, "tools"), i, tool) {
        json_t *function = function_of(tool);
        if (!json_is_string(json_object_get(function, "description")))
            n_failed += put(function, "description", json_string(""));
        if (!json_is_object(json_object_get(function, "parameters")))
            n_failed += put(function, "parameters", json_object());
        json_t *parameters = json_object_get(function, "parameters");
        if (!json_object_get(parameters, "type")) n_failed += put(parameters, "type", json_string("object"));
        if (!json_is_object(json_object_get(parameters, "properties")))
            n_failed += put(parameters, "properties", json_object());
        n_failed += complete_properties(json_object_get(parameters, "properties"));
    }
    return n_failed ? vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the tools") : VOUCH_OK;
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
    json_object_foreach((json_t *)(uintptr_t)from, key, member) {
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

/* The last byte with the model's mark ends the last answer, because only templates write after it. */
vouch_status vouch_conversation_cut(const json_t *root, jinja_string *text, vouch_error *err)
{
    static const char white[] = " \t\r\n";
    const json_t *messages = json_object_get(root, "messages");
    const json_t *last = json_array_get(messages, json_array_size(messages) - 1);
    const json_t *content = json_object_get(last, "content");
    if (json_is_array(content))
        content = json_object_get(json_array_get(content, json_array_size(content) - 1), "text");
    if (json_string_length(content) == 0 || strcmp(json_string_value(json_object_get(last, "role")), "assistant") != 0)
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
    const vouch_status status =
        vouch_fail(err, VOUCH_E_ARGUMENT, "chat_variables is %s; expected a JSON object", vouch_json_kind_name(*out));
    json_decref(*out);
    *out = NULL;
    return status;
}

vouch_status vouch_variables_add(jinja_run *run, jinja_dict *to, const json_t *variables, vouch_error *err)
{
    const json_path top = {.up = NULL};
    return members_add(run, to, variables, false, &top, err);
}
