/* SPDX-License-Identifier: MIT */
/*
 * A client's loop with tools, through HTTP, in the form of each call template: the answer calls, the client sends the
 * call and its result back, and asks again. A random model calls only where it has to, so a grammar of the request puts
 * the template's own rendering of a call into its mouth:
 *
 *   wanted call ── /apply-template ──► text ── grammar ──► answer ── reader ──► call, compared ── /apply-template ──►
 *   text, compared
 *
 * Published templates of the optional data folder take part where they are there.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/call_templates.h"
#include "support/program/http.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"

#define CHAT "/v1/chat/completions"

static char model_file[256];

static int files_write(void **state)
{
    (void)state;
    strcpy(model_file, test_temporary("loop.gguf"));
    tiny_model_write(model_file, &(tiny_model_options){.seed = 7, .n_ctx = 16384});
    return 0;
}

/* A conversation with one server. */
typedef struct loop {
    const char *name; /* of the template */
    int port;
    json_t *messages;
    test_random random;
    int n_calls; /* so far */
} loop;

/* Posts the object, which it takes. The answer has to be 200. */
static json_t *post(const loop *l, const char *path, json_t *object)
{
    char *body = json_dumps(object, JSON_COMPACT);
    http_reply reply = http_post(l->port, path, body);
    if (reply.status != 200) fail_msg("%s: %s %d: %s\n%s", l->name, path, reply.status, reply.body, body);
    json_decref(object);
    free(body);
    return http_json(&reply);
}

static json_t *tools(void)
{
    return json_loads(CALL_TOOLS, 0, NULL);
}

/* The messages as the template writes them; `answer`, which may be NULL, comes last. */
static json_t *prompt_of(const loop *l, json_t *answer)
{
    json_t *messages = json_copy(l->messages);
    if (answer) json_array_append(messages, answer);
    json_t *reply =
        post(l, "/apply-template",
             json_pack("{s:o, s:o, s:b}", "messages", messages, "tools", tools(), "add_generation_prompt", !answer));
    json_t *prompt = json_incref(http_at(reply, "prompt"));
    json_decref(reply);
    return prompt;
}

/* A grammar whose only answer is text[n]. */
static json_t *grammar_of(const char *text, size_t n)
{
    char *grammar = malloc(4 * n + 64), *out = grammar;
    out += sprintf(out, "root ::= \"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte < ' ' || byte == '"' || byte == '\\') out += sprintf(out, "\\x%02x", byte);
        else *out++ = (char)byte;
    }
    strcpy(out, "\"");
    json_t *json = json_string(grammar);
    assert_non_null(json);
    free(grammar);
    return json;
}

/* Appends the text at a path of a delta to that of a message. */
static void append_text(json_t *to, const char *key, json_t *piece)
{
    const json_t *had = json_object_get(to, key);
    if (!json_is_string(piece)) return;
    char *joined = malloc(json_string_length(had) + json_string_length(piece) + 1);
    if (json_string_length(had)) memcpy(joined, json_string_value(had), json_string_length(had));
    memcpy(joined + json_string_length(had), json_string_value(piece), json_string_length(piece) + 1);
    json_object_set_new(to, key, json_stringn(joined, json_string_length(had) + json_string_length(piece)));
    free(joined);
}

/* Adds a delta to the message, as clients do. */
static void add_delta(json_t *message, json_t *delta)
{
    json_t *piece;
    size_t i;
    append_text(message, "content", http_at(delta, "content"));
    append_text(message, "reasoning_content", http_at(delta, "reasoning_content"));
    json_array_foreach(http_at(delta, "tool_calls"), i, piece) {
        json_t *calls = json_object_get(message, "tool_calls");
        if (!calls) json_object_set_new(message, "tool_calls", calls = json_array());
        const size_t index = (size_t)json_integer_value(http_at(piece, "index"));
        assert_true(index <= json_array_size(calls));
        json_t *call = json_array_get(calls, index);
        if (!call) {
            call = json_deep_copy(piece);
            json_object_del(call, "index");
            json_array_append_new(calls, call);
        } else {
            append_text(http_at(call, "function"), "arguments", http_at(piece, "function.arguments"));
        }
    }
}

/* The message and the reason of a stream, in the shape of an answer without one. */
static json_t *streamed(const loop *l, json_t *request)
{
    json_object_set_new(request, "stream", json_true());
    char *body = json_dumps(request, JSON_COMPACT);
    http_reply reply = http_post(l->port, CHAT, body);
    if (reply.status != 200) fail_msg("%s: %d: %s\n%s", l->name, reply.status, reply.body, body);
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event,
           *message = json_pack("{s:s, s:n}", "role", "assistant", "content"), *reason = NULL;
    size_t i;
    assert_true(is_done);
    json_array_foreach(events, i, event) {
        add_delta(message, http_at(event, "choices.0.delta"));
        if (json_is_string(http_at(event, "choices.0.finish_reason")))
            reason = http_at(event, "choices.0.finish_reason");
    }
    json_t *answer = json_pack("{s:[{s:o, s:O}]}", "choices", "message", message, "finish_reason", reason);
    http_reply_free(&reply);
    json_decref(request);
    json_decref(events);
    free(body);
    return answer;
}

/* The next request of the client, with more fields, which it takes. */
static json_t *ask(const loop *l, json_t *more, bool streams)
{
    json_t *request = json_pack("{s:O, s:o}", "messages", l->messages, "tools", tools());
    json_object_update(request, more);
    json_decref(more);
    return streams ? streamed(l, request) : post(l, CHAT, request);
}

/* The answer as a part of the conversation, and a result for each of its calls. */
static void go_on(loop *l, json_t *message)
{
    json_t *call;
    size_t i;
    json_array_append(l->messages, message);
    json_array_foreach(json_object_get(message, "tool_calls"), i, call)
        json_array_append_new(l->messages, json_pack("{s:s, s:s, s:s}", "role", "tool", "tool_call_id",
                                                     http_text_at(call, "id"), "content", "a word"));
}

/* Whether the client gets the id that the text has. After the arguments, as the last member of an object, it comes too
 * late for a stream, which has begun the call with an id of the server. */
static bool has_id(const char *text, const char *id, bool streams)
{
    static const char late[] = ", \"id\": \"";
    const char *at = strstr(text, id);
    return at && !(streams && (size_t)(at - text) > strlen(late) && memcmp(at - strlen(late), late, strlen(late)) == 0);
}

/* Compares calls. Ids of the server are then replaced in `got`. */
static void check_calls(const loop *l, json_t *wanted, json_t *got, const json_t *text, bool streams)
{
    const size_t n = json_array_size(wanted);
    if (json_array_size(got) != n)
        fail_msg("%s: %zu of %zu calls in %s", l->name, json_array_size(got), n, json_string_value(text));
    for (size_t i = 0; i < n; i++) {
        json_t *one = json_array_get(wanted, i), *two = json_array_get(got, i);
        json_t *a = http_at(one, "function.arguments"), *b = http_at(two, "function.arguments");
        assert_string_equal(http_text_at(two, "function.name"), http_text_at(one, "function.name"));
        if (!call_same_json(json_string_value(a), json_string_length(a), json_string_value(b), json_string_length(b)))
            fail_msg("%s: %s\n read as %s", l->name, json_string_value(a), json_string_value(b));
        const char *id = http_text_at(one, "id");
        if (!has_id(json_string_value(text), id, streams)) json_object_set(two, "id", http_at(one, "id"));
        else if (strcmp(http_text_at(two, "id"), id) != 0)
            fail_msg("%s: id %s read as %s", l->name, id, http_text_at(two, "id"));
    }
}

static bool begins(const json_t *text, const json_t *with)
{
    const size_t n = json_string_length(with);
    return json_string_length(text) >= n && memcmp(json_string_value(text), json_string_value(with), n) == 0;
}

/* The model says the message as its template writes it. The client gets this message, and its template writes it in the
 * same bytes. */
static void say(loop *l, json_t *message, const char *reason, bool streams)
{
    static const char think_end[] = "</think>"; /* some write it for answers without thoughts */
    json_t *prompt = prompt_of(l, NULL), *whole = prompt_of(l, message);
    size_t n = json_string_length(whole);
    const char *text = call_answer(json_string_value(prompt), json_string_length(prompt), json_string_value(whole), &n);
    if (strncmp(text, think_end, strlen(think_end)) == 0) text += strlen(think_end), n -= strlen(think_end);
    json_t *answer =
        ask(l, json_pack("{s:o, s:i, s:i}", "grammar", grammar_of(text, n), "max_tokens", 4000, "seed", l->n_calls),
            streams);
    json_t *got = http_at(answer, "choices.0.message"), *thoughts = http_at(message, "reasoning_content");
    json_t *said = json_stringn(text, n);
    if (strcmp(http_text_at(answer, "choices.0.finish_reason"), reason) != 0)
        fail_msg("%s: %s after '%s'", l->name, http_text_at(answer, "choices.0.finish_reason"), text);
    json_t *same = json_deep_copy(got);
    check_calls(l, http_at(message, "tool_calls"), http_at(same, "tool_calls"), said, streams);
    if (json_string_length(thoughts) && strstr(json_string_value(said), json_string_value(thoughts))) {
        const char *read = http_text_at(got, "reasoning_content");
        if (!strstr(read, json_string_value(thoughts))) fail_msg("%s: thoughts '%s' in '%s'", l->name, read, text);
        json_object_set(same, "reasoning_content", thoughts); /* the template's own white space stands around them */
    }
    /* White space may stand around content, and where a template opens turns in another way than it writes them later,
     * what stands between. */
    const char *content = http_text_at(message, "content"), *read = http_text_at(got, "content");
    const bool is_text = strcmp(reason, "stop") == 0;
    if (is_text && !strstr(read, content)) fail_msg("%s: '%s' read as '%s'", l->name, content, read);
    if (is_text) json_object_set(same, "content", http_at(message, "content"));
    json_t *again = prompt_of(l, same);
    if (!json_equal(whole, again) && (!is_text || begins(whole, prompt))) {
        const char *one = json_string_value(whole), *two = json_string_value(again);
        size_t at = 0;
        while (one[at] && one[at] == two[at]) at++;
        at -= at < 40 ? at : 40;
        fail_msg("%s: after %d calls '%.200s'\nbecame '%.200s'", l->name, l->n_calls, one + at, two + at);
    }
    go_on(l, got);
    json_decref(again);
    json_decref(same);
    json_decref(said);
    json_decref(answer);
    json_decref(prompt);
    json_decref(whole);
}

/* A message with n random calls. */
static json_t *calling(loop *l, int n)
{
    json_t *calls = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(calls, call_random(&l->random, ++l->n_calls));
    return json_pack("{s:s, s:n, s:o}", "role", "assistant", "content", "tool_calls", calls);
}

/* The answer has to call. A random answer may be cut, so several are tried. The byte NUL would end a string of C. */
static void force(loop *l)
{
    json_t *answer = NULL;
    char nul[16];
    snprintf(nul, sizeof nul, "%d", TINY_BYTES);
    for (int seed = 1; seed <= 40; seed++) {
        json_decref(answer);
        answer = ask(l,
                     json_pack("{s:s, s:b, s:i, s:i, s:i, s:{s:i}}", "tool_choice", "required", "parallel_tool_calls",
                               0, "thinking_budget", 12, "max_tokens", 300, "seed", seed, "logit_bias", nul, -100),
                     seed % 2);
        if (strcmp(http_text_at(answer, "choices.0.finish_reason"), "tool_calls") == 0) break;
    }
    json_t *message = http_at(answer, "choices.0.message"), *arguments = NULL;
    if (json_array_size(http_at(message, "tool_calls")) != 1) fail_msg("%s: no forced call", l->name);
    const json_t *text = http_at(message, "tool_calls.0.function.arguments");
    arguments = json_loadb(json_string_value(text), json_string_length(text), JSON_ALLOW_NUL, NULL);
    assert_true(json_is_object(arguments));
    json_decref(arguments);
    go_on(l, message);
    json_decref(answer);
}

static void check_loop(const char *name, const char *path, int n_most, call_thoughts thoughts)
{
    http_server server =
        http_server_start((const char *const[]){model_file, "--chat-template", path, "--ctx", "16384", NULL});
    loop l = {.name = name,
              .port = server.port,
              .random = {3},
              .messages = json_pack("[{s:s, s:s}]", "role", "user", "content", "look it up")};
    force(&l);
    json_t *turns[] = {calling(&l, 1), calling(&l, n_most), calling(&l, n_most > 1 ? 2 : 1), calling(&l, 1),
                       json_pack("{s:s, s:s}", "role", "assistant", "content", "It is a noun.")};
    /* A grammar binds the answer from its first token on, so there are no thoughts where the prompt opens them. */
    if (thoughts == CALL_MAY_THINK) json_object_set_new(turns[2], "reasoning_content", json_string("Let me see."));
    if (thoughts == CALL_THINKS) assert_non_null(http_at(l.messages, "1.reasoning_content"));
    for (int t = 0; t < 5; t++) {
        say(&l, turns[t], t < 4 ? "tool_calls" : "stop", t % 2);
        json_decref(turns[t]);
    }
    json_decref(l.messages);
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void loops_go_on_in_each_form(void **state)
{
    (void)state;
    int n = 0;
    for (size_t i = 0; i < n_call_templates; i += test_is_quick() ? 4 : 1) {
        char path[256];
        if (call_templates[i].n_calls == 0) continue;
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, call_templates[i].text, strlen(call_templates[i].text));
        check_loop(call_templates[i].name, path, call_templates[i].n_calls, call_templates[i].thoughts);
        n++;
    }
    assert_true(n >= (test_is_quick() ? 10 : 40));
}

/* ------------------------------------------------ messages and responses */

/* A tool whose schema allows one call alone: a forced call is known before it comes. */
#define SAY_SCHEMA                                                                                             \
    "{\"type\": \"object\", \"properties\": {\"word\": {\"type\": \"string\", \"enum\": "                      \
    "[\"a \\\"b\\\" </c> \\u00e9\"]}, \"n\": {\"type\": \"integer\", \"enum\": [-7]}, \"list\": {\"type\": "    \
    "\"array\", \"const\": [1, [], {\"x\": null}]}}, \"required\": [\"word\", \"n\", \"list\"], "              \
    "\"additionalProperties\": false}"
#define SAID "{\"word\": \"a \\\"b\\\" </c> \\u00e9\", \"n\": -7, \"list\": [1, [], {\"x\": null}]}"

/* How an API has a conversation. */
typedef struct api {
    const char *path, *count, *list; /* list: the field that holds the conversation */
    const char *tool, *fields;
    const char *output; /* where the answer's blocks or items stand */
    bool is_items;
} api;

static const api apis[] = {
    {"/v1/messages", "/v1/messages/count_tokens", "messages",
     "{\"name\": \"say\", \"description\": \"Says it.\", \"input_schema\": " SAY_SCHEMA "}",
     "{\"tool_choice\": {\"type\": \"any\", \"disable_parallel_tool_use\": true}, \"max_tokens\": 400}", "content",
     false},
    {"/v1/responses", "/v1/responses/input_tokens", "input",
     "{\"type\": \"function\", \"name\": \"say\", \"description\": \"Says it.\", \"parameters\": " SAY_SCHEMA "}",
     "{\"tool_choice\": \"required\", \"parallel_tool_calls\": false, \"max_output_tokens\": 400}", "output", true},
};

/* A call of the answer's blocks or items, with the thoughts before it, as a message of chat. NULL: there is none. */
static json_t *as_chat(const api *a, json_t *output)
{
    json_t *block, *message = json_pack("{s:s, s:s}", "role", "assistant", "content", ""), *calls = NULL;
    size_t i;
    json_array_foreach(output, i, block) {
        const char *type = http_text_at(block, "type");
        json_t *thoughts = http_at(block, a->is_items ? "content.0.text" : "thinking");
        if (strcmp(type, "reasoning") == 0 || strcmp(type, "thinking") == 0)
            json_object_set(message, "reasoning_content", thoughts);
        if (strcmp(type, "function_call") != 0 && strcmp(type, "tool_use") != 0) continue;
        assert_null(calls);
        assert_string_equal(http_text_at(block, "name"), "say");
        json_t *wanted = json_loads(SAID, 0, NULL);
        json_t *given = a->is_items ? json_loads(http_text_at(block, "arguments"), 0, NULL)
                                    : json_deep_copy(http_at(block, "input"));
        assert_true(json_equal(wanted, given));
        calls = json_pack("[{s:O, s:s, s:{s:s, s:O}}]", "id", http_at(block, a->is_items ? "call_id" : "id"), "type",
                          "function", "function", "name", "say", "arguments", given);
        json_decref(wanted);
        json_decref(given);
    }
    if (calls) json_object_set_new(message, "tool_calls", calls);
    else json_decref(message);
    return calls ? message : NULL;
}

/* One turn: the call comes, and the client sends it back with its result, here and in `chat`. */
static void turn_of(const loop *l, const api *a, json_t *tool, json_t *list, json_t *chat)
{
    json_t *answer = NULL, *message = NULL;
    char nul[16];
    snprintf(nul, sizeof nul, "%d", TINY_BYTES);
    for (int seed = 1; seed <= 40 && !message; seed++) {
        json_decref(answer);
        json_t *request = json_pack("{s:O, s:[O], s:i, s:i, s:{s:i}}", a->list, list, "tools", tool,
                                    "thinking_budget_tokens", 12, "seed", seed, "logit_bias", nul, -100);
        json_t *fields = json_loads(a->fields, 0, NULL);
        json_object_update(request, fields);
        json_decref(fields);
        answer = post(l, a->path, request);
        message = as_chat(a, http_at(answer, a->output));
    }
    if (!message) fail_msg("%s: %s: no call", l->name, a->path);
    json_t *output = http_at(answer, a->output), *id = http_at(message, "tool_calls.0.id");
    json_array_append_new(chat, message);
    json_array_append_new(chat, json_pack("{s:s, s:O, s:s}", "role", "tool", "tool_call_id", id, "content", "a word"));
    if (a->is_items) {
        json_array_extend(list, output);
        json_array_append_new(list, json_pack("{s:s, s:O, s:s}", "type", "function_call_output", "call_id", id,
                                              "output", "a word"));
    } else {
        json_array_append_new(list, json_pack("{s:s, s:O}", "role", "assistant", "content", output));
        json_array_append_new(list, json_pack("{s:s, s:[{s:s, s:O, s:s}]}", "role", "user", "content", "type",
                                              "tool_result", "tool_use_id", id, "content", "a word"));
    }
    json_decref(answer);
}

/* Five turns, and then the conversation has as many tokens as the same one of chat. */
static void check_api(const char *name, int port, const api *a)
{
    const loop l = {.name = name, .port = port};
    json_t *tool = json_loads(a->tool, 0, NULL), *schema = json_loads(SAY_SCHEMA, 0, NULL);
    json_t *list = json_pack("[{s:s, s:s}]", "role", "user", "content", "look it up"), *chat = json_deep_copy(list);
    for (int t = 0; t < 5; t++) turn_of(&l, a, tool, list, chat);
    json_t *count = post(&l, a->count, json_pack("{s:o, s:[o]}", a->list, list, "tools", tool));
    json_t *answer =
        post(&l, CHAT,
             json_pack("{s:o, s:[{s:s, s:{s:s, s:s, s:o}}], s:i}", "messages", chat, "tools", "type", "function",
                       "function", "name", "say", "description", "Says it.", "parameters", schema, "max_tokens", 1));
    const json_int_t n = json_integer_value(http_at(count, "input_tokens")),
                     n_chat = json_integer_value(http_at(answer, "usage.prompt_tokens"));
    if (n == 0 || n != n_chat) fail_msg("%s: %s: %d tokens, and %d of chat", name, a->path, (int)n, (int)n_chat);
    json_decref(count);
    json_decref(answer);
}

static void loops_go_on_in_each_api(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_call_templates; i += test_is_quick() ? 8 : 1) {
        char path[256];
        strcpy(path, test_temporary("template.jinja"));
        write_whole(path, call_templates[i].text, strlen(call_templates[i].text));
        http_server server =
            http_server_start((const char *const[]){model_file, "--chat-template", path, "--ctx", "16384", NULL});
        for (size_t a = 0; a < sizeof apis / sizeof *apis; a++)
            check_api(call_templates[i].name, server.port, &apis[a]);
        assert_int_equal(http_server_stop(&server, SIGTERM), 0);
    }
}

/* The tokens of a conversation's prompt. */
static int count(const loop *l, const char *path, const char *body)
{
    json_t *reply = post(l, path, json_loads(body, JSON_ALLOW_NUL, NULL));
    json_t *n = http_at(reply, strcmp(path, CHAT) == 0 ? "usage.prompt_tokens" : "input_tokens");
    const int tokens = (int)json_integer_value(n);
    json_decref(reply);
    assert_true(tokens > 0);
    return tokens;
}

/* The raw answer has to be 200. */
static char *post_text(int port, const char *path, const char *body)
{
    http_reply reply = http_post(port, path, body);
    if (reply.status != 200) fail_msg("%s: %d: %s", path, reply.status, reply.body);
    char *text = strdup(reply.body);
    http_reply_free(&reply);
    return text;
}

/* Arguments come back as they were written, whatever a double or a C string holds; in no other place do such numbers
 * stand. And an answer of /v1/messages has the digits that its stream has. */
static void arguments_keep_their_digits(void **state)
{
    (void)state;
#define ODD "{\"x\": [12345678901234567890123, -1e400, 0.10], \"y\": \"a\\u0000b\", \"input\": {\"z\": 1}}"
#define ODD_TEXT                                                                                               \
    "\"{\\\"x\\\": [12345678901234567890123, -1e400, 0.10], \\\"y\\\": \\\"a\\\\u0000b\\\", \\\"input\\\": "     \
    "{\\\"z\\\": 1}}\""
#define MESSAGES(arguments)                                                                                     \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\", \"content\": "               \
    "null, \"tool_calls\": [{\"id\": \"c\", \"type\": \"function\", \"function\": {\"name\": \"f\", "                 \
    "\"arguments\": " arguments "}}]}, {\"role\": \"tool\", \"tool_call_id\": \"c\", \"content\": \"r\"}]"
    char path[256], body[2048];
    strcpy(path, test_temporary("template.jinja"));
    write_whole(path, call_template_text("Hermes"), strlen(call_template_text("Hermes")));
    http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
    char *as_object = post_text(server.port, "/apply-template", MESSAGES(ODD) "}"),
         *as_text = post_text(server.port, "/apply-template", MESSAGES(ODD_TEXT) "}");
    assert_string_equal(as_object, as_text);
    assert_non_null(strstr(as_object, "[12345678901234567890123, -1e400, 0.1"));
    const loop l = {.name = "Hermes", .port = server.port};
    const int n = count(&l, CHAT, MESSAGES(ODD_TEXT) ", \"max_tokens\": 1}");
    char *counted[] = {
        post_text(server.port, CHAT, MESSAGES(ODD) ", \"max_tokens\": 1}"),
        post_text(server.port, "/v1/messages/count_tokens",
                  "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\", \"content\": "
                  "[{\"type\": \"tool_use\", \"id\": \"c\", \"name\": \"f\", \"input\": " ODD "}]}, {\"role\": "
                  "\"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"c\", \"content\": "
                  "\"r\"}]}]}"),
    };
    for (int i = 0; i < 2; i++) {
        snprintf(body, sizeof body, i == 0 ? "\"prompt_tokens\":%d," : "\"input_tokens\":%d}", n);
        if (!strstr(counted[i], body)) fail_msg("%s, not in %s", body, counted[i]);
        free(counted[i]);
    }
    free(as_object);
    free(as_text);

    for (int seed = 1; seed <= 3; seed++) {
        char text[256] = "", input[300];
        snprintf(body, sizeof body,
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}], \"max_tokens\": 200, \"tool_choice\": "
                 "{\"type\": \"any\", \"disable_parallel_tool_use\": true}, \"seed\": %d, \"thinking\": {\"type\": "
                 "\"disabled\"}, \"tools\": [{\"name\": \"f\", \"input_schema\": {\"type\": \"object\", "
                 "\"properties\": {\"x\": {\"type\": \"integer\", \"minimum\": 1e22, \"maximum\": 3e22}}, "
                 "\"required\": [\"x\"]}}]",
                 seed);
        const size_t n_body = strlen(body);
        char *answer = post_text(server.port, "/v1/messages", strcat(body, "}"));
        strcpy(body + n_body, ", \"stream\": true}");
        http_reply reply = http_post(server.port, "/v1/messages", body);
        bool is_done;
        json_t *events = http_events(&reply, &is_done), *event;
        size_t e;
        json_array_foreach(events, e, event) {
            const json_t *piece = http_at(event, "delta.partial_json");
            if (piece && strlen(text) + json_string_length(piece) < 250) strcat(text, json_string_value(piece));
        }
        assert_true(strlen(text) > strlen("{\"x\":}") + 20);
        snprintf(input, sizeof input, "\"input\":%s}", text);
        if (!strstr(answer, input)) fail_msg("%s, not in %s", input, answer);
        json_decref(events);
        http_reply_free(&reply);
        free(answer);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

/* A stop text doesn't end a forced call. Where it ends a call that the model was free to begin, the reason is the stop
 * text, and the arguments are cut. */
static void stop_texts_end_content(void **state)
{
    (void)state;
#define STOPS(fields)                                                                                           \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}], \"max_tokens\": 200, \"tools\": [" fields "}"
#define CHAT_TOOL                                                                                               \
    "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {\"type\": \"object\", "  \
    "\"properties\": {\"city\": {\"const\": \"Paris\"}}, \"required\": [\"city\"]}}}], \"stop\": [\"Paris\", \"\\n\"]"
#define CALLED                                                                                                  \
    "<tool_call>\\n{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"city\\\": \\\"Paris\\\"}}\\n</tool_call>"
    static const char *const cases[][3] = {
        {CHAT, STOPS(CHAT_TOOL ", \"tool_choice\": \"required\", \"parallel_tool_calls\": false"),
         "\"finish_reason\":\"tool_calls\""},
        {"/v1/messages",
         STOPS("{\"name\": \"f\", \"input_schema\": {\"type\": \"object\", \"properties\": {\"city\": "
               "{\"const\": \"Paris\"}}, \"required\": [\"city\"]}}], \"stop_sequences\": [\"Paris\"], "
               "\"tool_choice\": {\"type\": \"any\", \"disable_parallel_tool_use\": true}"),
         "\"stop_reason\":\"tool_use\""},
        {CHAT,
         STOPS("{\"type\": \"function\", \"function\": {\"name\": \"f\"}}], \"stop\": \"Paris\", "
               "\"guided_choice\": [\"" CALLED "\"]"),
         "\"finish_reason\":\"stop\""},
    };
    char path[256];
    strcpy(path, test_temporary("template.jinja"));
    write_whole(path, call_template_text("Hermes"), strlen(call_template_text("Hermes")));
    http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = post_text(server.port, cases[i][0], cases[i][1]);
        if (!strstr(answer, cases[i][2])) fail_msg("no %s in %s", cases[i][2], answer);
        if (i < 2 && !strstr(answer, "Paris")) fail_msg("the call is cut: %s", answer);
        free(answer);
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

#define ASK  "{\"role\": \"user\", \"content\": \"q\"}"
#define CALL "{\"type\": \"function_call\", \"call_id\": \"c\", \"name\": \"f\", \"arguments\": \"{}\"}"
#define DONE "{\"type\": \"function_call_output\", \"call_id\": \"c\", \"output\": \"r\"}"
#define THINK(text)                                                                                             \
    "{\"type\": \"reasoning\", \"id\": \"r\", \"summary\": [], \"content\": [{\"type\": \"reasoning_text\", "     \
    "\"text\": \"" text "\"}]}"
#define ANSWER(members)   "{\"role\": \"assistant\", " members "}"
#define RESULT            "{\"role\": \"tool\", \"tool_call_id\": \"c\", \"content\": \"r\"}"
#define CHAT_CALL         "\"tool_calls\": [{\"id\": \"c\", \"function\": {\"name\": \"f\", \"arguments\": \"{}\"}}]"
#define THOUGHT(text)     "\"reasoning_content\": \"" text "\", "

/* Thoughts of a response's items belong to the answer that they begin, or stand within. */
static void thoughts_stay_with_their_answer(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {ASK ", " THINK("one two") ", " CALL ", " DONE ", " THINK("three") ", " ANSWER("\"content\": \"a\""),
         ASK ", " ANSWER(THOUGHT("one two") CHAT_CALL) ", " RESULT ", " ANSWER(THOUGHT("three") "\"content\": \"a\"")},
        {ASK ", " ANSWER("\"content\": \"a\"") ", " THINK("one two") ", " CALL ", " DONE ", " ASK
                                                                     ", " ANSWER("\"content\": \"b\""),
         ASK ", " ANSWER(THOUGHT("one two") "\"content\": \"a\", " CHAT_CALL) ", " RESULT ", " ASK
                                                                              ", " ANSWER("\"content\": \"b\"")},
        {ASK ", " THINK("one two") ", " ASK ", " ANSWER("\"content\": \"b\""),
         ASK ", " ASK ", " ANSWER("\"content\": \"b\"")},
    };
    char path[256], items[2048], messages[2048];
    strcpy(path, test_temporary("template.jinja"));
    write_whole(path, call_template_text("Hermes"), strlen(call_template_text("Hermes")));
    http_server server = http_server_start((const char *const[]){model_file, "--chat-template", path, NULL});
    const loop l = {.name = "Hermes", .port = server.port};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(items, sizeof items, "{\"input\": [%s]}", cases[i][0]);
        snprintf(messages, sizeof messages, "{\"messages\": [%s], \"max_tokens\": 1}", cases[i][1]);
        assert_int_equal(count(&l, "/v1/responses/input_tokens", items), count(&l, CHAT, messages));
    }
    assert_int_equal(http_server_stop(&server, SIGTERM), 0);
}

static void loops_go_on_in_published_forms(void **state)
{
    (void)state;
    test_skip_slow();
    for (size_t i = 0; i < n_call_published; i++) {
        const char *path = call_published_path(i);
        if (!path) test_skip("VOUCH_DATA has no templates");
        /* Its own template leaves the mark before calls out of all turns but the first. */
        if (strstr(call_published[i].name, "DeepSeek-R1-Distill")) continue;
        check_loop(call_published[i].name, path, call_published[i].n_calls, CALL_THINKS_NEVER);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_go_on_in_each_form),    cmocka_unit_test(loops_go_on_in_published_forms),
        cmocka_unit_test(loops_go_on_in_each_api),     cmocka_unit_test(thoughts_stay_with_their_answer),
        cmocka_unit_test(arguments_keep_their_digits), cmocka_unit_test(stop_texts_end_content),
    };
    return cmocka_run_group_tests(tests, files_write, NULL);
}
