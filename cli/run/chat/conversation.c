/* SPDX-License-Identifier: MIT */
#include "run/chat/conversation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "tool/file.h"
#include "tool/json.h"

static bool conversation_reserve(cli_conversation *c)
{
    if (c->n < c->capacity) return true;
    const size_t capacity = c->capacity * 2 + 8;
    vouch_message *larger = realloc(c->items, capacity * sizeof *larger);
    if (!larger) return false;
    c->items = larger;
    c->capacity = capacity;
    return true;
}

static void content_free(vouch_message message)
{
    free((void *)(uintptr_t)message.content);
}

bool cli_conversation_add(cli_conversation *c, const char *role, const char *content)
{
    char *copy = conversation_reserve(c) ? strdup(content) : NULL;
    if (!copy) return false;
    c->items[c->n++] = (vouch_message){role, copy};
    return true;
}

bool cli_conversation_set_system(cli_conversation *c, const char *content)
{
    char *copy = content && conversation_reserve(c) ? strdup(content) : NULL;
    if (content && !copy) return false;
    if (c->n_system) {
        content_free(c->items[0]);
        memmove(c->items, c->items + 1, --c->n * sizeof *c->items);
    }
    c->n_system = copy != NULL;
    if (!copy) return true;
    memmove(c->items + 1, c->items, c->n++ * sizeof *c->items);
    c->items[0] = (vouch_message){"system", copy};
    return true;
}

void cli_conversation_cut(cli_conversation *c, size_t n)
{
    while (c->n > n) content_free(c->items[--c->n]);
    if (c->n_system > n) c->n_system = n;
    if (c->n_dropped > n - c->n_system) c->n_dropped = n - c->n_system;
}

void cli_conversation_free(cli_conversation *c)
{
    cli_conversation_cut(c, 0);
    free(c->items);
    *c = (cli_conversation){0};
}

size_t cli_conversation_window(const cli_conversation *c, vouch_message *window)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (i < c->n_system || i >= c->n_system + c->n_dropped) window[n++] = c->items[i];
    return n;
}

bool cli_conversation_drop(cli_conversation *c)
{
    for (size_t i = c->n_system + c->n_dropped + 1; i < c->n; i++) {
        if (strcmp(c->items[i].role, "user") != 0) continue;
        c->n_dropped = i - c->n_system;
        return true;
    }
    return false;
}

/* -------------------------------------------------------------------- files */

__attribute__((format(printf, 3, 4))) static vouch_status fail(vouch_error *err, vouch_status code, const char *format,
                                                               ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return err->code = code;
}

/* Reads the array of messages of a file; a new reference. */
static vouch_status messages_read(const char *path, json_t **messages, vouch_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    json_error_t where;
    const vouch_status status = tool_file_read(path, &bytes, &n, err);
    if (status) return status;
    tool_file_drop_mark(bytes, &n);
    json_t *root = json_loadb(bytes, n, 0, &where);
    json_t *list = json_is_object(root) ? json_object_get(root, "messages") : root;
    free(bytes);
    *messages = json_is_array(list) ? json_incref(list) : NULL;
    json_decref(root);
    if (*messages) return VOUCH_OK;
    if (!root) return fail(err, VOUCH_E_FORMAT, "%.300s:%d: not JSON: %.120s", path, where.line, where.text);
    return fail(err, VOUCH_E_FORMAT, "%.400s: expected a list of messages, or an object with one named messages", path);
}

vouch_status cli_conversation_save(const cli_conversation *c, const char *path, vouch_error *err)
{
    vouch_os_info info;
    json_t *list = NULL;
    if (vouch_os_info_of(path, &info) && info.kind == VOUCH_OS_FILE && info.size > 0) {
        if (messages_read(path, &list, err))
            return fail(err, VOUCH_E_ARGUMENT,
                        "%.400s: the file holds something other than a conversation: take "
                        "another name",
                        path);
        json_decref(list);
    }
    list = json_array();
    for (size_t i = 0; list && i < c->n; i++) {
        const tool_json_entry entries[] = {{"role", json_string(c->items[i].role)},
                                           {"content", tool_json_text(c->items[i].content)}};
        if (json_array_append_new(list, tool_json_object(entries, 2)) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    const vouch_status status = tool_file_write_json(path, list, err);
    json_decref(list);
    return status;
}

/* The role as a constant; NULL: message i can't have this role. Only the first can be "system". */
static const char *role_find(const char *role, size_t i)
{
    static const char *const roles[] = {"user", "assistant", "system"};
    for (size_t j = 0; role && j < 3; j++)
        if ((j < 2 || i == 0) && strcmp(role, roles[j]) == 0) return roles[j];
    return NULL;
}

static vouch_status message_load(cli_conversation *c, const char *path, size_t i, const json_t *message,
                                 vouch_error *err)
{
    const json_t *given = json_object_get(message, "role"), *content = json_object_get(message, "content");
    const char *role = role_find(json_string_value(given), i);
    if (!json_is_object(message))
        return fail(err, VOUCH_E_FORMAT, "%.400s: messages[%zu]: expected an object with role and content", path, i);
    if (!role)
        return fail(err, VOUCH_E_FORMAT, "%.300s: messages[%zu].role: %s%.40s%s: expected %suser or assistant", path, i,
                    given ? "\"" : "", given ? json_is_string(given) ? json_string_value(given) : "?" : "missing",
                    given ? "\"" : "", i == 0 ? "system, " : "");
    if (!json_is_string(content))
        return fail(err, VOUCH_E_FORMAT, "%.400s: messages[%zu].content: %s: expected a text", path, i,
                    content ? "not a text" : "missing");
    if (!cli_conversation_add(c, role, json_string_value(content)))
        return fail(err, VOUCH_E_MEMORY, "not enough memory for the conversation");
    c->n_system = i == 0 ? strcmp(role, "system") == 0 : c->n_system;
    return VOUCH_OK;
}

vouch_status cli_conversation_load(cli_conversation *c, const char *path, vouch_error *err)
{
    cli_conversation loaded = {0};
    json_t *list = NULL;
    vouch_status status = messages_read(path, &list, err);
    for (size_t i = 0; !status && i < json_array_size(list); i++)
        status = message_load(&loaded, path, i, json_array_get(list, i), err);
    json_decref(list);
    if (status) {
        cli_conversation_free(&loaded);
        return status;
    }
    cli_conversation_free(c);
    *c = loaded;
    return VOUCH_OK;
}
