/* SPDX-License-Identifier: MIT */
/*
 * The shapes of the APIs: what clients send, and what they look for in an answer. Each case is a request, the status,
 * and the part of the answer that counts. In bodies and parts, ' stands for ". A part matches
 *
 *     an object    that has its members, and maybe more
 *     an array     with as many elements, which match
 *     "~words"     a text that has the words in it
 *     "*"          any value but null
 *     "!"          nothing: the member is absent
 *     other values the same value
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/http.h"
#include "support/model/tiny_model.h"

#define CHAT      "/v1/chat/completions"
#define TEXT      "/v1/completions"
#define MESSAGES  "/v1/messages"
#define RESPONSES "/v1/responses"

static http_server server;

static int server_begin(void **state)
{
    (void)state;
    const char *target = test_temporary("target.gguf");
    tiny_model_write(target, &(tiny_model_options){.seed = 7, .n_ctx = 4096});
    char named[300];
    snprintf(named, sizeof named, "tiny=%s", target);
    server = http_server_start(ARGUMENTS("--model", named, "--ctx", "600"));
    return 0;
}

static int server_end(void **state)
{
    (void)state;
    return http_server_stop(&server, SIGTERM);
}

/* ------------------------------------------------------------------- matching */

static bool matches(const json_t *part, json_t *value)
{
    const char *text = json_string_value(part), *name;
    json_t *member;
    size_t i;
    if (text && strcmp(text, "*") == 0) return value && !json_is_null(value);
    if (text && *text == '~') return json_is_string(value) && strstr(json_string_value(value), text + 1);
    if (text && strcmp(text, "!") == 0) return !value;
    if (json_is_number(part)) return json_is_number(value) && json_number_value(part) == json_number_value(value);
    if (!value || json_typeof(part) != json_typeof(value)) return false;
    if (json_is_object(part)) {
        json_object_foreach((json_t *)(uintptr_t)part, name, member)
            if (!matches(member, json_object_get(value, name))) return false;
        return true;
    }
    if (!json_is_array(part)) return json_equal(part, value);
    if (json_array_size(part) != json_array_size(value)) return false;
    json_array_foreach(part, i, member)
        if (!matches(member, json_array_get(value, i))) return false;
    return true;
}

/* The text with ' as "; the caller's. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);
    for (char *at = copy; *at; at++)
        if (*at == '\'') *at = '"';
    return copy;
}

typedef struct api_case {
    const char *path, *body; /* body NULL: GET */
    int status;
    const char *part;
} api_case;

/* Fails the test unless the reply, which it frees, has the case's status and part. */
static void expect_reply(const api_case *c, http_reply reply)
{
    char *part_text = quoted(c->part);
    json_error_t error;
    json_t *part = json_loads(part_text, 0, &error), *value = json_loadb(reply.body, reply.n, JSON_ALLOW_NUL, NULL);
    if (!part) fail_msg("%s: %s", c->part, error.text);
    if (reply.status != c->status || !matches(part, value))
        fail_msg("%s %s: status %d: %s\nexpected %d: %s", c->path, c->body ? c->body : "", reply.status, reply.body,
                 c->status, c->part);
    json_decref(part);
    json_decref(value);
    free(part_text);
    http_reply_free(&reply);
}

static void expect_cases(const api_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *body = cases[i].body ? quoted(cases[i].body) : NULL;
        expect_reply(&cases[i], http_request(server.port, body ? "POST" : "GET", cases[i].path, "", body));
        free(body);
    }
}

#define EXPECT(cases) expect_cases(cases, sizeof(cases) / sizeof *(cases))

/* ---------------------------------------------------------------------- paths */

static void paths_answer(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {"/v1/models/tiny", NULL, 200, "{'id': 'tiny', 'object': 'model', 'created': '*', 'owned_by': 'vouch'}"},
        {"/models/tiny", NULL, 200, "{'id': 'tiny', 'root': 'tiny', 'max_model_len': 600}"},
        {"/v1/models/tiny/", NULL, 200, "{'id': 'tiny', 'type': 'model', 'created_at': '~Z'}"},
        {"/v1/models/", NULL, 200, "{'object': 'list', 'data': [{'id': 'tiny'}], 'has_more': false}"},
        {"//v1//models", NULL, 200, "{'first_id': 'tiny', 'last_id': 'tiny'}"},
        {"/v1/models/gpt-4", NULL, 404,
         "{'error': {'code': 'model_not_found', 'param': 'model', 'message': '~gpt-4'}}"},
        {"/v1/models/a/b", NULL, 404, "{'error': {'code': 'model_not_found', 'message': '~a/b'}}"},
        {"/v1/models/tiny%20", NULL, 404, "{'error': {'code': 'model_not_found', 'message': '~tiny '}}"},
        {"/v1/models/%74in%79", NULL, 200, "{'id': 'tiny'}"},
        {"/v1/models/tiny%00", NULL, 404, "{'error': {'message': '~tiny%00'}}"},
        {"/v1/models/tiny%2", NULL, 404, "{'error': {'message': '~tiny%2'}}"},
        {"/v1/models/org%2Fother%3AQ4", NULL, 404, "{'error': {'message': '~org/other:Q4'}}"},
        {"/v1/models/%ff", NULL, 404, "{'error': {'code': 'model_not_found'}}"},
        {"/v1/models/tiny?beta=true", NULL, 200, "{'id': 'tiny'}"},
        {"/v1/models?limit=20&after_id=x", NULL, 200, "{'data': [{'id': 'tiny'}]}"},
        {"/v1/Models", NULL, 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/../v1/models", NULL, 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/v1/chat/completions", "{}", 404, "{'error': {'message': '~docs/server.md lists the paths'}}"},
        {"/openai/deployments/tiny/chat/completions", "{}", 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v2/chat", "{}", 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/embeddings", "{'input': 'x'}", 501, "{'error': {'code': 'not_implemented'}}"},
        {"/v1/responses/resp_1", NULL, 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/health", NULL, 200, "{'status': 'ok'}"},
        {"/ping", "{}", 405, "{'error': {'code': 'method_not_allowed'}}"},
        {"/v1/chat/completions?api-version=2024-10-21",
         "{'messages': [{'role': 'user', 'content': 'a'}], "
         "'max_tokens': 1}",
         200, "{'object': 'chat.completion'}"},
        {"/v1/model", NULL, 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/modelsX", NULL, 404, "{'error': {'code': 'unknown_url'}}"},
        {"/v1/models/tiny", "{}", 405, "{'error': {'code': 'method_not_allowed', 'message': '~GET, HEAD, OPTIONS'}}"},
        {"/ping", NULL, 200, "{'status': 'ok'}"},
        {"/health/", NULL, 200, "{'status': 'ok'}"},
        {"/version", NULL, 200, "{'version': '*'}"},
        {"/tokenizer_info", NULL, 200,
         "{'eos_token': '<|im_end|>', 'bos_token': '*', 'chat_template': '~im_start', 'tokenizer_class': '*'}"},
        {TEXT "/", "{'prompt': 'a', 'max_tokens': 1}", 200, "{'object': 'text_completion'}"},
        {"/v1//completions", "{'prompt': 'a', 'max_tokens': 1}", 200, "{'object': 'text_completion'}"},
        {"/v1/chat/completions//", "{'messages': [{'role': 'user', 'content': 'a'}], 'max_tokens': 1}", 200,
         "{'object': 'chat.completion'}"},
        {"/tokenize", "{'prompt': 'ab'}", 200,
         "{'tokens': [103, 104], 'count': 2, 'max_model_len': 600, 'token_strs': null}"},
        {"/tokenize", "{'prompt': 'ab', 'return_token_strs': true, 'add_special_tokens': false}", 200,
         "{'tokens': [103, 104], 'token_strs': ['a', 'b']}"},
        {"/tokenize", "{'content': 'ab'}", 200, "{'tokens': [103, 104], 'count': '!'}"},
        {"/tokenize", "{'prompt': 3}", 400, "{'error': {'param': 'prompt'}}"},
        {"/detokenize", "{'tokens': [103, 104]}", 200, "{'prompt': 'ab', 'content': 'ab'}"},
    };
    EXPECT(cases);
}

/* Every error of a path under /v1/messages has the Anthropic API's form. */
static void anthropic_errors_have_their_form(void **state)
{
    (void)state;
#define ERROR(type, words) "{'type': 'error', 'error': {'type': '" type "', 'message': '~" words "'}}"
    static const api_case cases[] = {
        {MESSAGES "?beta=true", "{}", 400, ERROR("invalid_request_error", "messages")},
        {MESSAGES, NULL, 405, ERROR("invalid_request_error", "expected POST")},
        {MESSAGES "/batches", "{'requests': []}", 404, ERROR("not_found_error", "unknown path")},
        {MESSAGES "/batches", NULL, 404, ERROR("not_found_error", "unknown path")},
        {MESSAGES "/batches/x/results", NULL, 404, ERROR("not_found_error", "unknown path")},
        {"//v1/messages/nothing/", NULL, 404, ERROR("not_found_error", "unknown path")},
        {MESSAGES "/count_tokens", NULL, 405, ERROR("invalid_request_error", "expected POST")},
        {MESSAGES, "[", 400, ERROR("invalid_request_error", "no valid JSON")},
        {MESSAGES, "[]", 400, ERROR("invalid_request_error", "expected an object")},
        {MESSAGES "/", "{}", 400, ERROR("invalid_request_error", "messages")},
        {"/v1/messagesX", NULL, 404, "{'type': '!', 'error': {'code': 'unknown_url'}}"},
    };
    EXPECT(cases);
    const struct {
        const char *method, *headers;
        api_case expected;
    } lines[] = {
        {"PUT", "", {MESSAGES, NULL, 405, ERROR("invalid_request_error", "expected POST")}},
        {"DELETE", "", {MESSAGES "/batches/x", NULL, 404, ERROR("not_found_error", "unknown path")}},
        {"POST", "Origin: https://evil.example\r\n", {MESSAGES, NULL, 403, ERROR("permission_error", "evil.example")}},
        {"POST", "Content-Encoding: gzip\r\n", {MESSAGES, NULL, 415, ERROR("invalid_request_error", "gzip")}},
        {"POST", "Content-Length: 99999999\r\n", {MESSAGES, NULL, 413, ERROR("request_too_large", "99999999")}},
        {"OPTIONS", "", {MESSAGES "/batches", NULL, 404, ERROR("not_found_error", "unknown path")}},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_reply(&lines[i].expected,
                     http_request(server.port, lines[i].method, lines[i].expected.path, lines[i].headers, NULL));
    char named[300];
    snprintf(named, sizeof named, "%s", test_temporary("target.gguf"));
    http_server locked = http_server_start(ARGUMENTS(named, "--api-key", "secret"));
    const api_case refused = {MESSAGES, "{}", 401, ERROR("authentication_error", "key")};
    expect_reply(&refused, http_request(locked.port, "POST", MESSAGES, "", "{}"));
    assert_int_equal(http_server_stop(&locked, SIGTERM), 0);
#undef ERROR
}

/* -------------------------------------------------------------------- answers */

#define A     "'temperature': 0, 'logit_bias': {'103': 100}" /* the answer is aaa... */
#define HELLO "'messages': [{'role': 'user', 'content': 'hello'}]"

/* Each API says which of its stop texts came. */
static void stop_texts_are_named(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {MESSAGES, "{" A ", " HELLO ", 'max_tokens': 9, 'stop_sequences': ['b', 'aaa']}", 200,
         "{'stop_reason': 'stop_sequence', 'stop_sequence': 'aaa', 'content': []}"},
        {MESSAGES, "{" A ", " HELLO ", 'max_tokens': 9, 'stop_sequences': ['b', '', 'aa', 'aaa']}", 200,
         "{'stop_reason': 'stop_sequence', 'stop_sequence': 'aa'}"},
        {MESSAGES, "{" A ", " HELLO ", 'max_tokens': 2, 'stop_sequences': ['aaa']}", 200,
         "{'stop_reason': 'max_tokens', 'stop_sequence': null, 'content': [{'text': 'aa'}]}"},
        {MESSAGES, "{" A ", " HELLO ", 'max_tokens': 2}", 200, "{'stop_reason': 'max_tokens', 'stop_sequence': null}"},
        {"/completion", "{" A ", 'prompt': 'x', 'n_predict': 9, 'stop': ['b', 'aaa']}", 200,
         "{'stop_type': 'word', 'stopping_word': 'aaa', 'content': ''}"},
        {"/completion", "{" A ", 'prompt': 'x', 'n_predict': 2, 'stop': ['b', 'aaa']}", 200,
         "{'stop_type': 'limit', 'stopping_word': '', 'content': 'aa'}"},
        {CHAT, "{" A ", " HELLO ", 'max_tokens': 9, 'stop': ['c', 'aaaa']}", 200,
         "{'choices': [{'finish_reason': 'stop', 'stop_reason': 'aaaa'}]}"},
        {CHAT, "{" A ", " HELLO ", 'max_tokens': 3, 'stop': 'aaaa'}", 200,
         "{'choices': [{'finish_reason': 'length', 'stop_reason': null, 'message': {'content': 'aaa'}}]}"},
        {TEXT, "{" A ", 'prompt': 'x', 'max_tokens': 9, 'stop': ['aa', 'b']}", 200,
         "{'choices': [{'finish_reason': 'stop', 'stop_reason': 'aa', 'text': ''}]}"},
    };
    EXPECT(cases);
}

/* Of completions: offsets count characters of the text, and the token itself is among the likeliest ones. */
static void tokens_have_their_place(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {TEXT, "{" A ", 'prompt': '\xc3\xa9\xe2\x82\xac' , 'max_tokens': 2, 'echo': true, 'logprobs': 1}", 200,
         "{'choices': [{'text': '\xc3\xa9\xe2\x82\xac"
         "aa', 'logprobs': {'text_offset': [0, 0, 1, 1, 1, 2, 3]}}]}"},
        {TEXT, "{" A ", 'prompt': 'x', 'max_tokens': 3, 'logprobs': 0}", 200,
         "{'choices': [{'text': 'aaa', 'logprobs': {'text_offset': [0, 1, 2], 'tokens': ['a', 'a', 'a'], "
         "'top_logprobs': [{'a': '*'}, {'a': '*'}, {'a': '*'}]}}]}"},
        {TEXT, "{" A ", 'prompt': 'x', 'max_tokens': 1, 'logprobs': 2}", 200,
         "{'choices': [{'logprobs': {'top_logprobs': [{'a': '*'}]}}]}"},
        {TEXT, "{" A ", 'prompt': 'xy', 'max_tokens': 0, 'echo': true, 'logprobs': 1}", 200,
         "{'choices': [{'text': 'xy', 'logprobs': {'text_offset': [0, 1], 'token_logprobs': [null, '*'], "
         "'top_logprobs': [null, {'y': '*'}]}}]}"},
        {TEXT, "{" A ", 'prompt': [0, 103], 'max_tokens': 1, 'echo': true, 'logprobs': 1}", 200,
         "{'choices': [{'text': '*', 'logprobs': {'text_offset': '*'}}]}"},
    };
    EXPECT(cases);
}

/* ------------------------------------------------------------------- responses */

#define SAYS(item) "{" A ", 'max_output_tokens': 2, 'input': [" item "]}"
#define USER       "{'role': 'user', 'content': 'hello'}"
#define CALL       "{'type': 'function_call', 'call_id': 'c', 'name': 'f', 'arguments': '{}'}"
#define REFUSED(param, words) "{'error': {'param': '" param "', 'message': '~" words "'}}"

/* An error names the field that the client sent, and not the one that it became. */
static void errors_name_the_clients_field(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {MESSAGES, "{" HELLO ", 'max_tokens': 2, 'stop_sequences': ['b', 1]}", 400,
         "{'error': {'message': '~stop_sequences[1]: expected a string'}}"},
        {RESPONSES, "{'input': 'x', 'text': {'format': {'type': 'json_schema', 'schema': {'minimum': []}}}}", 400,
         REFUSED("text.format.schema", "/minimum")},
        {RESPONSES, "{'input': 'x', 'text': {'format': {'type': 'xml'}}}", 400, REFUSED("text.format.type", "xml")},
        {CHAT, "{" HELLO ", 'guided_json': {'minimum': []}}", 400, REFUSED("guided_json", "/minimum")},
        {CHAT, "{" HELLO ", 'structured_outputs': {'json': {'minimum': []}}}", 400,
         REFUSED("structured_outputs.json", "/minimum")},
        {CHAT, "{" HELLO ", 'functions': [{'description': 'd'}]}", 400, REFUSED("functions[0]", "with a name")},
        {CHAT, "{" HELLO ", 'functions': [{'name': 'f', 'parameters': {'type': 'array'}}]}", 400,
         REFUSED("functions[0].parameters", "functions[0].parameters: type")},
        {CHAT, "{" HELLO ", 'tool_choice': 'AUTO'}", 400, REFUSED("tool_choice", "AUTO")},
        {CHAT, "{" HELLO ", 'tool_choice': 3}", 400, REFUSED("tool_choice", "a number")},
        {CHAT, "{" HELLO ", 'tools': [{'type': 'web_search'}]}", 400, REFUSED("tools[0]", "web_search")},
        {MESSAGES, "{" HELLO ", 'max_tokens': 6, 'tools': [{'type': 'web_search_20250305', 'name': 'web_search'}]}",
         400, "{'error': {'message': '~web_search_20250305'}}"},
        {CHAT, "{" HELLO ", 'reasoning_budget': 2147483648}", 400,
         REFUSED("reasoning_budget", "reasoning_budget: 2147483648 is outside")},
        {CHAT, "null", 400, REFUSED("body", "expected an object, got null")},
        {CHAT, "3", 400, REFUSED("body", "got a number")},
        {CHAT, "'a'", 400, REFUSED("body", "got a string")},
        {CHAT, "[]", 400, REFUSED("body", "got an array")},
    };
    EXPECT(cases);
}

static void responses_have_their_members(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {RESPONSES, "{'input': 'x', 'max_output_tokens': 3}", 200, "{'timings': {'predicted_n': 3}}"},
        {MESSAGES, "{" HELLO ", 'max_tokens': 3}", 200, "{'timings': {'predicted_n': 3}}"},
        {RESPONSES, "{" A ", 'input': 'hello', 'max_output_tokens': 2}", 200,
         "{'object': 'response', 'status': 'incomplete', 'incomplete_details': {'reason': 'max_output_tokens'}, "
         "'error': null, 'text': {'format': {'type': 'text'}}, 'tools': [], 'tool_choice': 'auto', "
         "'background': false, 'parallel_tool_calls': true, 'previous_response_id': null, 'truncation': "
         "'disabled', 'top_logprobs': 0, "
         "'max_output_tokens': 2, 'metadata': {}, 'store': false, 'reasoning': {'effort': null, 'summary': null}, "
         "'completed_at': null, 'user': null, 'temperature': 0, 'output': [{'type': 'message', "
         "'status': 'incomplete', 'role': 'assistant', 'content': [{'type': 'output_text', 'text': 'aa', "
         "'annotations': [], 'logprobs': []}]}], "
         "'usage': {'output_tokens': 2, 'input_tokens_details': {'cached_tokens': '*', 'cache_write_tokens': 0}, "
         "'output_tokens_details': {'reasoning_tokens': 0}}}"},
        {RESPONSES,
         "{" A ", 'input': 'x', 'max_output_tokens': 9, 'stop': null, 'metadata': {'a': 'b'}, 'user': 'me', "
         "'text': {'verbosity': 'low'}, 'reasoning': {'effort': 'low', 'summary': null}, 'truncation': "
         "'disabled', 'prompt_cache_key': 'k', 'safety_identifier': 's', 'max_tool_calls': 3, "
         "'instructions': 'Be.', 'parallel_tool_calls': false}",
         200,
         "{'metadata': {'a': 'b'}, 'user': 'me', 'text': {'verbosity': 'low', 'format': {'type': 'text'}}, "
         "'reasoning': {'effort': 'low'}, 'prompt_cache_key': 'k', 'safety_identifier': 's', 'max_tool_calls': 3, "
         "'instructions': 'Be.', 'parallel_tool_calls': false}"},
        {RESPONSES,
         "{'input': 'x', 'tool_choice': 'required', 'tools': [{'type': 'function', 'name': 'f', 'strict': "
         "true, 'description': 'd', 'parameters': {'const': {}}}]}",
         200,
         "{'status': 'completed', 'completed_at': '*', 'incomplete_details': null, 'tool_choice': 'required', 'tools': "
         "[{'type': 'function', 'name': 'f', 'strict': true, 'description': 'd', 'parameters': {'const': {}}}], "
         "'output': [{'type': 'function_call', 'name': 'f', 'arguments': '{}', 'status': 'completed', 'id': '~fc_', "
         "'call_id': '~call_'}]}"},
        {RESPONSES, "{'input': 'x', 'text': {'format': {'type': 'json_schema', 'name': 'n', 'schema': {'const': 1}}}}",
         200,
         "{'text': {'format': {'type': 'json_schema', 'name': 'n', 'schema': {'const': 1}}}, 'output': "
         "[{'status': 'completed', 'content': [{'text': '1'}]}]}"},
        {RESPONSES, "{" A ", 'input': 'x', 'max_output_tokens': 2, 'include': ['message.output_text.logprobs']}", 200,
         "{'top_logprobs': 0, 'output': [{'content': [{'logprobs': [{'token': 'a', 'logprob': '*', 'bytes': [97], "
         "'top_logprobs': []}, {'token': 'a'}]}]}]}"},
        {RESPONSES, "{" A ", 'input': 'x', 'max_output_tokens': 1, 'top_logprobs': 2}", 200,
         "{'top_logprobs': 2, 'output': [{'content': [{'logprobs': [{'top_logprobs': ['*', '*']}]}]}]}"},
        {RESPONSES, "{'input': 'x', 'top_logprobs': 21}", 400, REFUSED("top_logprobs", "[0, 20]")},
        {RESPONSES, "{'input': 'x', 'include': ['everything']}", 400, REFUSED("include", "everything")},
        {RESPONSES, "{'input': 'x', 'include': 'logprobs'}", 400, REFUSED("include", "an array")},
        {RESPONSES, "{'input': 'x', 'truncation': 'auto'}", 400, REFUSED("truncation", "truncation")},
        {RESPONSES, "{'input': 'x', 'previous_response_id': 'resp_1'}", 400, REFUSED("previous_response_id", "")},
        {RESPONSES, "{'input': 'x', 'background': true}", 400, REFUSED("background", "")},
        {RESPONSES, "{'input': 'x', 'conversation': 'c'}", 400, REFUSED("conversation", "")},
        {RESPONSES, "{'input': 'x', 'tools': [{'type': 'web_search'}]}", 400, REFUSED("tools[0]", "web_search")},
        {RESPONSES "/input_tokens", "{'input': [" USER "], 'model': 'm', 'truncation': 'disabled'}", 200,
         "{'object': 'response.input_tokens', 'input_tokens': '*'}"},
        {"/responses/input_tokens/", "{'input': 'hello', 'tools': null, 'text': null}", 200, "{'input_tokens': '*'}"},
    };
    EXPECT(cases);
}

static void items_are_read(void **state)
{
    (void)state;
#define GOOD "{'output': [{'content': [{'text': 'aa'}]}]}"
    static const api_case cases[] = {
        {RESPONSES, SAYS("{'type': 'message', 'role': 'developer', 'content': 'be'}, " USER), 200, GOOD},
        {RESPONSES,
         SAYS(USER ", {'type': 'reasoning', 'id': 'r', 'summary': []}, {'id': 'm', 'type': 'message', "
                   "'role': 'assistant', 'status': 'completed', 'content': [{'type': 'output_text', 'text': "
                   "'x', 'annotations': [], 'logprobs': []}, {'type': 'refusal', 'refusal': 'no'}]}, " USER),
         200, GOOD},
        {RESPONSES,
         SAYS(USER ", {'type': 'reasoning', 'id': 'r', 'summary': [], 'encrypted_content': 'e', 'content': "
                   "[{'type': 'reasoning_text', 'text': 'hm'}], 'status': null}, " CALL ", {'type': "
                   "'function_call_output', 'call_id': 'c', 'output': 'done', 'id': null}"),
         200, GOOD},
        {RESPONSES,
         SAYS(USER ", " CALL ", " CALL ", {'type': 'function_call_output', 'call_id': 'c', 'output': "
                   "[{'type': 'input_text', 'text': 'a'}, {'type': 'input_text', 'text': 'b'}]}"),
         200, GOOD},
        {RESPONSES, SAYS("{'role': 'user', 'content': [{'type': 'input_text', 'text': 'x', 'cache_control': {}}]}"),
         200, GOOD},
        {RESPONSES, SAYS("{'role': 'user', 'content': null}"), 200, GOOD},
        {RESPONSES, SAYS("{'type': 'item_reference', 'id': 'msg_1'}"), 400,
         REFUSED("input[0]", "send the item itself")},
        {RESPONSES, SAYS(USER ", {'id': 'msg_1'}"), 400, REFUSED("input[1]", "send the item itself")},
        {RESPONSES, SAYS("{'role': 'tool', 'content': 'x'}"), 400,
         REFUSED("input[0]", "expected user, assistant, system or")},
        {RESPONSES, SAYS("{'content': 'x'}"), 400, REFUSED("input[0]", "expected user, assistant, system or")},
        {RESPONSES, SAYS("{'type': 'web_search_call', 'id': 'w'}"), 400, REFUSED("input[0]", "web_search_call")},
        {RESPONSES, SAYS("{'type': 'function_call', 'name': 'f'}"), 400, REFUSED("input[0]", "call_id")},
        {RESPONSES, SAYS("{'type': 'function_call', 'call_id': 'c'}"), 400, REFUSED("input[0]", "name")},
        {RESPONSES, SAYS("{'role': 'user', 'content': 3}"), 400, REFUSED("input[0].content", "got a number")},
        {RESPONSES, SAYS("{'role': 'user', 'content': [{'type': 'input_text'}]}"), 400,
         REFUSED("input[0].content[0]", "expected a text")},
        {RESPONSES, SAYS("3"), 400, REFUSED("input[0]", "expected an object")},
        {RESPONSES, "{'input': []}", 400, REFUSED("input", "expected a string or an array")},
        {RESPONSES, "{'input': 3}", 400, REFUSED("input", "expected a string or an array")},
        {RESPONSES, "{}", 400, REFUSED("input", "expected a string or an array")},
    };
    EXPECT(cases);
#undef GOOD
}

/* The numbers and the order of a stream's events, and what the last one has. */
static void response_streams_are_numbered(void **state)
{
    (void)state;
    char *body = quoted("{" A ", 'stream': true, 'input': 'x', 'max_output_tokens': 2, 'top_logprobs': 1}");
    http_reply reply = http_post(server.port, RESPONSES, body);
    static const char *const types[] = {"response.created",           "response.in_progress",
                                        "response.output_item.added", "response.content_part.added",
                                        "response.output_text.delta", "response.output_text.delta",
                                        "response.output_text.done",  "response.content_part.done",
                                        "response.output_item.done",  "response.incomplete"};
    enum { N_TYPES = sizeof types / sizeof *types };
    bool is_done;
    json_t *events = http_events(&reply, &is_done);
    assert_int_equal(json_array_size(events), N_TYPES);
    for (size_t i = 0; i < N_TYPES; i++) {
        json_t *event = json_array_get(events, i);
        assert_string_equal(http_text_at(event, "type"), types[i]);
        assert_int_equal(json_integer_value(http_at(event, "sequence_number")), i);
    }
    json_t *delta = json_array_get(events, 5), *done = json_array_get(events, 6), *last = json_array_get(events, 9);
    assert_int_equal(json_array_size(http_at(delta, "logprobs")), 1);
    assert_int_equal(json_array_size(http_at(done, "logprobs")), 2);
    assert_int_equal(json_array_size(http_at(last, "response.output.0.content.0.logprobs")), 2);
    assert_string_equal(http_text_at(last, "response.output.0.status"), "incomplete");
    assert_string_equal(http_text_at(last, "response.incomplete_details.reason"), "max_output_tokens");
    json_decref(events);
    http_reply_free(&reply);
    free(body);
}

/* Prompts that are too long are refused in the words that each API's clients look for; to count them is no fault. */
static void long_prompts_are_refused_in_their_words(void **state)
{
    (void)state;
    static const struct {
        const char *path, *before, *after;
        int status;
        const char *part;
    } cases[] = {
        {CHAT, "'messages': [{'role': 'user', 'content': '", "'}]", 400,
         "{'error': {'code': 'context_length_exceeded', 'param': 'messages', 'message': "
         "'~maximum context length is 600 tokens'}}"},
        {TEXT, "'prompt': '", "'", 400,
         "{'error': {'code': 'context_length_exceeded', 'param': 'prompt', 'message': "
         "'~maximum context length is 600 tokens'}}"},
        {RESPONSES, "'input': '", "'", 400,
         "{'error': {'code': 'context_length_exceeded', 'param': 'input', 'message': "
         "'~maximum context length is 600 tokens'}}"},
        {MESSAGES, "'max_tokens': 5, 'messages': [{'role': 'user', 'content': '", "'}]", 400,
         "{'type': 'error', 'error': {'type': 'invalid_request_error', 'message': '~tokens > 599 maximum'}}"},
        {MESSAGES, "'max_tokens': 5, 'messages': [{'role': 'user', 'content': '", "'}]", 400,
         "{'error': {'message': '~prompt is too long: '}}"},
        {"/completion", "'prompt': '", "'", 400, "{'error': {'message': '~exceeds the available context size'}}"},
        {MESSAGES "/count_tokens", "'messages': [{'role': 'user', 'content': '", "'}]", 200, "{'input_tokens': '*'}"},
        {RESPONSES "/input_tokens", "'input': '", "'", 200, "{'input_tokens': '*'}"},
        {CHAT "/input_tokens", "'messages': [{'role': 'user', 'content': '", "'}]", 200, "{'input_tokens': '*'}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[3001], body[3400];
        for (size_t c = 0; c < sizeof text; c++) text[c] = (char)('a' + c * 7 % 26);
        text[3000] = '\0';
        snprintf(body, sizeof body, "{%s%s%s}", cases[i].before, text, cases[i].after);
        const api_case c = {cases[i].path, body, cases[i].status, cases[i].part};
        expect_cases(&c, 1);
    }
}

/* -------------------------------------------------------------------- requests */

#define TOOL(name) "{'type': 'function', 'function': {'name': '" name "', 'parameters': {'const': {}}}}"
#define BOTH       "'tools': [" TOOL("f") ", " TOOL("g") "]"
#define FLAT       "'tools': [{'type': 'function', 'name': 'f', 'parameters': {'const': {}}}, {'type': 'function', " \
                   "'name': 'g', 'parameters': {'const': {}}}]"
#define CALLS(name) \
    "{'choices': [{'message': {'tool_calls': [{'function': {'name': '" name "', 'arguments': '{}'}}]}}]}"
#define SAID(text)  "{'choices': [{'message': {'content': '" text "'}}]}"
#define ALLOWED(mode, name) \
    "'tool_choice': {'type': 'allowed_tools', 'allowed_tools': {'mode': '" mode "', 'tools': [{'type': 'function', " \
    "'function': {'name': '" name "'}}]}}"
#define ALLOWED_FLAT(mode, name) \
    "'tool_choice': {'type': 'allowed_tools', 'mode': '" mode "', 'tools': [{'type': 'function', 'name': '" name "'}]}"

static void tools_are_allowed(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("required", "g") ", 'parallel_tool_calls': false}", 200, CALLS("g")},
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("required", "f") ", 'parallel_tool_calls': false}", 200, CALLS("f")},
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("auto", "f") ", 'max_tokens': 1}", 200, "{'choices': '*'}"},
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("required", "h") "}", 400, REFUSED("tool_choice", "no tool")},
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("any", "f") "}", 400, REFUSED("tool_choice", "auto or required")},
        {CHAT, "{" HELLO ", " BOTH ", " ALLOWED("required", "g'}}, {'function': {'name': 'g") "}", 200,
         "{'choices': [{'message': {'tool_calls': [{'function': {'name': 'g'}}]}}]}"},
        {CHAT, "{" HELLO ", " ALLOWED("required", "f") "}", 400, REFUSED("tool_choice", "no tool")},
        {CHAT,
         "{" HELLO ", 'tools': [{'type': 'function', 'function': {'name': 'f', 'parameters': {'$ref': "
         "'#/$defs/x'}}}], 'tool_choice': 'required'}",
         400, REFUSED("tools[0].function.parameters", "$defs/x")},
        {CHAT, "{" HELLO ", " BOTH ", 'tool_choice': {'type': 'allowed_tools'}}", 400, REFUSED("tool_choice", "mode")},
        {RESPONSES, "{'input': 'x', " FLAT ", " ALLOWED_FLAT("required", "g") ", 'parallel_tool_calls': false}", 200,
         "{'output': [{'type': 'function_call', 'name': 'g'}], 'tools': [{'name': 'f'}, {'name': 'g'}], "
         "'tool_choice': {'type': 'allowed_tools', 'mode': 'required', 'tools': [{'type': 'function', 'name': 'g'}]}}"},
        {RESPONSES, "{'input': 'x', 'max_output_tokens': 1, " FLAT ", " ALLOWED_FLAT("auto", "g") "}", 200,
         "{'tool_choice': {'type': 'allowed_tools'}}"},
        {RESPONSES, "{'input': 'x', " FLAT ", " ALLOWED_FLAT("required", "h") "}", 400,
         REFUSED("tool_choice", "no tool has the name")},
    };
    EXPECT(cases);
}

/* Clients from before tools: their form comes back. */
static void functions_become_tools(void **state)
{
    (void)state;
#define FUNCTIONS "'functions': [{'name': 'f', 'description': 'd', 'parameters': {'const': {}}}, {'name': 'g'}]"
#define CALLED \
    "{'choices': [{'finish_reason': 'function_call', 'message': {'role': 'assistant', 'content': null, 'tool_calls': " \
    "'!', 'function_call': {'name': 'f', 'arguments': '{}'}}}]}"
    static const api_case cases[] = {
        {CHAT, "{" HELLO ", " FUNCTIONS ", 'function_call': {'name': 'f'}}", 200, CALLED},
        {CHAT,
         "{" HELLO ", 'functions': [{'name': 'f', 'parameters': {'const': {}}}], 'function_call': {'name': 'f'}, "
         "'tools': null, 'tool_choice': null}",
         200, CALLED},
        {CHAT, "{" A ", " HELLO ", " FUNCTIONS ", 'function_call': 'none', 'max_tokens': 2}", 200, SAID("aa")},
        {CHAT, "{" A ", " HELLO ", " FUNCTIONS ", 'function_call': 'auto', 'max_tokens': 2}", 200, SAID("aa")},
        {CHAT, "{" A ", " HELLO ", 'functions': null, 'function_call': null, 'max_tokens': 2}", 200, SAID("aa")},
        {CHAT,
         "{" A ", 'max_tokens': 2, 'messages': [{'role': 'user', 'content': 'x'}, {'role': 'assistant', "
         "'content': null, 'function_call': {'name': 'f', 'arguments': '{}'}}, {'role': 'function', 'name': 'f', "
         "'content': 'done'}]}",
         200, SAID("aa")},
        {CHAT, "{" HELLO ", " FUNCTIONS ", 'function_call': {'name': 'h'}}", 400, REFUSED("tool_choice", "no tool")},
        {CHAT, "{" HELLO ", " FUNCTIONS ", 'function_call': 'often'}", 400, REFUSED("function_call", "auto, none")},
        {CHAT, "{" HELLO ", " FUNCTIONS ", " BOTH "}", 400, REFUSED("functions", "either")},
        {CHAT, "{" HELLO ", 'functions': {}}", 400, REFUSED("functions", "an array")},
        {CHAT, "{'messages': [{'role': 'function', 'name': 'f', 'content': 'x'}]}", 400,
         REFUSED("messages[0].role", "function_call before it")},
    };
    EXPECT(cases);
#undef FUNCTIONS
#undef CALLED
    char *body = quoted("{" HELLO ", 'stream': true, 'functions': [{'name': 'f', 'parameters': {'const': {}}}], "
                        "'function_call': {'name': 'f'}}");
    http_reply reply = http_post(server.port, CHAT, body);
    bool is_done;
    json_t *events = http_events(&reply, &is_done), *event;
    char name[64] = "", arguments[64] = "";
    size_t i;
    json_array_foreach(events, i, event) {
        json_t *call = http_at(event, "choices.0.delta.function_call");
        assert_null(http_at(event, "choices.0.delta.tool_calls"));
        if (json_object_get(call, "name")) strcat(name, http_text_at(call, "name"));
        if (json_object_get(call, "arguments")) strcat(arguments, http_text_at(call, "arguments"));
        if (i == json_array_size(events) - 1)
            assert_string_equal(http_text_at(event, "choices.0.finish_reason"), "function_call");
    }
    assert_string_equal(name, "f");
    assert_string_equal(arguments, "{}");
    json_decref(events);
    http_reply_free(&reply);
    free(body);
}

/* The bounds of an answer's length. The bias makes the end certain, and a where it is banned. */
static void lengths_are_bounded(void **state)
{
    (void)state;
#define ENDS "'temperature': 0, 'logit_bias': {'2': 100, '103': 50}"
    static const api_case cases[] = {
        {TEXT, "{" A ", 'prompt': 'x', 'max_tokens': -1, 'stop': 'aaaaaaaaaaaaaaaaaaaaaaaa'}", 200,
         "{'choices': [{'finish_reason': 'stop'}], 'usage': {'completion_tokens': 24}}"},
        {CHAT, "{" A ", " HELLO ", 'max_tokens': -1, 'stop': 'aaaaaaaaaaaaaaaaaaaaaaaa'}", 200,
         "{'usage': {'completion_tokens': 24}}"},
        {CHAT, "{" A ", " HELLO ", 'max_completion_tokens': -1, 'stop': 'aaaaaaaaaaaaaaaaaaaaaaaa'}", 200,
         "{'usage': {'completion_tokens': 24}}"},
        {RESPONSES, "{" A ", 'input': 'x', 'max_output_tokens': -1}", 200,
         "{'max_output_tokens': null, 'status': 'incomplete'}"},
        {CHAT, "{" HELLO ", 'max_tokens': 0}", 400, REFUSED("max_tokens", "-1")},
        {CHAT, "{" HELLO ", 'max_tokens': -2}", 400, REFUSED("max_tokens", "outside the range")},
        {RESPONSES, "{'input': 'x', 'max_output_tokens': 0}", 400, REFUSED("max_output_tokens", "at least 1")},
        {TEXT, "{'prompt': 'x', 'max_tokens': 0}", 400, REFUSED("max_tokens", "with echo")},
        {MESSAGES, "{" HELLO ", 'max_tokens': -1}", 400, "{'error': {'message': '~max_tokens'}}"},
        {TEXT, "{" ENDS ", 'prompt': 'x', 'max_tokens': 9}", 200,
         "{'choices': [{'finish_reason': 'stop'}], 'usage': {'completion_tokens': 1}}"},
        {TEXT, "{" ENDS ", 'prompt': 'x', 'max_tokens': 9, 'min_tokens': 4}", 200,
         "{'choices': [{'finish_reason': 'stop', 'text': '*'}], 'usage': {'completion_tokens': 5}}"},
        {TEXT, "{" ENDS ", 'prompt': 'x', 'max_tokens': 9, 'min_tokens': 9}", 200,
         "{'choices': [{'finish_reason': 'length'}], 'usage': {'completion_tokens': 9}}"},
        {CHAT, "{" ENDS ", " HELLO ", 'max_tokens': 9, 'min_tokens': 3}", 200, "{'usage': {'completion_tokens': 4}}"},
        {"/completion", "{" ENDS ", 'prompt': 'x', 'n_predict': 9, 'min_tokens': 3}", 200, "{'tokens_predicted': 4}"},
        {CHAT, "{" HELLO ", 'max_tokens': 3, 'min_tokens': 4}", 400, REFUSED("min_tokens", "is 4, but")},
        {TEXT, "{'prompt': 'x', 'max_tokens': 1, 'min_tokens': 2}", 400, REFUSED("min_tokens", "1 tokens at most")},
        {CHAT, "{" HELLO ", 'min_tokens': -1}", 400, REFUSED("min_tokens", "outside the range")},
    };
    EXPECT(cases);
#undef ENDS
}

/* A complete grammar ends the answer, whatever bans the end. Where bans leave no token, the client learns why. */
static void bans_meet_grammars(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {TEXT, "{'prompt': 'x', 'max_tokens': 30, 'regex': 'abc', 'ignore_eos': true, 'logit_bias': {'2': 100}}", 200,
         "{'choices': [{'text': 'abc', 'finish_reason': 'stop'}]}"},
        {TEXT, "{'prompt': 'x', 'max_tokens': 30, 'regex': 'abc', 'logit_bias': {'2': -100}}", 200,
         "{'choices': [{'text': 'abc', 'finish_reason': 'stop'}]}"},
        {TEXT, "{'prompt': 'x', 'max_tokens': 9, 'regex': '\\n', 'ignore_eos': true}", 200,
         "{'choices': [{'text': '\\n', 'finish_reason': 'stop'}], 'usage': {'completion_tokens': 2}}"},
        {TEXT, "{'prompt': 'x', 'max_tokens': 9, 'regex': '\\n', 'logit_bias': {'16': -100}}", 400,
         "{'error': {'code': 'invalid_value', 'message': '~logit_bias and min_tokens'}}"},
        {MESSAGES,
         "{" HELLO ", 'max_tokens': 9, 'tool_choice': {'type': 'any'}, 'tools': [{'name': 'f', "
         "'input_schema': {'type': 'object'}}], 'logit_bias': {'129': -100}}",
         400, "{'error': {'type': 'invalid_request_error', 'message': '~logit_bias'}}"},
    };
    EXPECT(cases);
    enum { N_VOCAB = 400 }; /* of a tiny model */
    static const char tail[] = "'2': 50}, 'prompt': 'x', 'max_tokens': 9, 'min_tokens': 5";
    char body[16384] = "{'logit_bias': {", *out = body + strlen(body);
    for (int id = 0; id < N_VOCAB; id++)
        if (id != 2) out += sprintf(out, "'%d': -100, ", id);
    strcpy(out, tail);
    strcat(out, "}");
    expect_cases(&(api_case){TEXT, body, 400, "{'error': {'message': '~min_tokens together ban all'}}"}, 1);
    sprintf(out, "%s, 'stream': true}", tail);
    char *streamed = quoted(body);
    http_reply reply = http_post(server.port, TEXT, streamed);
    if (!strstr(reply.body, "min_tokens together ban all")) fail_msg("%s", reply.body);
    http_reply_free(&reply);
    free(streamed);
}

/* Schemas are read as they are written: Jansson keeps not all of their numbers, and refuses some texts. */
static void schemas_keep_their_text(void **state)
{
    (void)state;
#define ONE(schema) "{" HELLO ", 'max_tokens': 60, 'response_format': {'type': 'json_schema', 'json_schema': " \
                    "{'name': 'x', 'schema': " schema "}}}"
    static const api_case cases[] = {
        {CHAT, ONE("{'const': 19.99}"), 200, SAID("19.99")},
        {CHAT, ONE("{'enum': [0.1]}"), 200, SAID("0.1")},
        {CHAT, ONE("{'const': 1e5}"), 200, SAID("1e5")},
        {CHAT, ONE("{'const': -0}"), 200, SAID("-0")},
        {CHAT, ONE("{'const': 1E400}"), 200, SAID("1E400")},
        {CHAT, ONE("{'enum': [18446744073709551614, 18446744073709551615], 'minimum': 18446744073709551615}"), 200,
         SAID("18446744073709551615")},
        {CHAT, ONE("{'const': 7, 'maximum': 18446744073709551615, 'default': 1e400, 'description': '\\u0000\\ud800'}"),
         200, SAID("7")},
        {CHAT, ONE("{'const': '\\u0000\\ud800\\ud83d\\ude00\\udc00', 'examples': [{'\\udfff': 1}]}"), 200,
         SAID("\\'\\\\u0000\\\\ud800\xf0\x9f\x98\x80\\\\udc00\\'")},
        {CHAT, "{" HELLO ", 'json_schema': {'const': 0.10}}", 200, SAID("0.10")},
        {CHAT, "{" HELLO ", 'guided_json': {'const': 0.10}}", 200, SAID("0.10")},
        {CHAT, "{" HELLO ", 'guided_json': '{\\'const\\': 0.10}'}", 200, SAID("0.10")},
        {CHAT, "{" HELLO ", 'structured_outputs': {'json': {'const': 0.10}}}", 200, SAID("0.10")},
        {TEXT, "{'prompt': 'x', 'response_format': {'type': 'json_object', 'schema': {'const': 0.10}}}", 200,
         "{'choices': [{'text': '0.10'}]}"},
        {"/completion", "{'prompt': 'x', 'json_schema': {'const': 0.10}}", 200, "{'content': '0.10'}"},
        {RESPONSES,
         "{'input': 'x', 'text': {'format': {'type': 'json_schema', 'name': 'x', 'schema': "
         "{'const': 0.10}}}}",
         200, "{'output': [{'content': [{'text': '0.10'}]}], 'text': {'format': {'schema': {'const': 0.1}}}}"},
        {MESSAGES,
         "{'max_tokens': 60, " HELLO ", 'output_config': {'format': {'type': 'json_schema', 'schema': "
         "{'const': 0.10}}}}",
         200, "{'content': [{'text': '0.10'}]}"},
        {CHAT,
         "{" HELLO ", 'tool_choice': 'required', 'tools': [{'type': 'function', 'function': {'name': 'f', "
         "'parameters': {'type': 'object', 'required': ['x'], 'properties': {'x': {'enum': [0.10], 'maximum': "
         "18446744073709551615, 'description': '\\u0000'}}}}}]}",
         200, "{'choices': [{'message': {'tool_calls': [{'function': {'arguments': '~0.10'}}]}}]}"},
        {CHAT,
         "{" HELLO ", 'max_tokens': 1, 'tools': [{'type': 'function', 'function': {'name': 'f', 'parameters': "
         "{'type': 'object', 'properties': {'x': {'type': 'integer', 'maximum': 18446744073709551615, 'default': "
         "1e400}}}}}]}",
         200, "{'choices': '*'}"},
        {CHAT, ONE("{'const': 01}"), 400, "{'error': {'message': '~no valid JSON'}}"},
        {CHAT, ONE("{'const': '\\u00'}"), 400, "{'error': {'message': '~no valid JSON'}}"},
    };
    EXPECT(cases);
#undef ONE
}

/* The words of vLLM's clients for answers that are bound. */
static void structures_bind_answers(void **state)
{
    (void)state;
#define ONE(field) "{" HELLO ", 'max_tokens': 60, " field "}"
    static const api_case cases[] = {
        {CHAT, ONE("'guided_choice': ['a.b']"), 200, SAID("a.b")},
        {CHAT, ONE("'guided_choice': ['(x)|\\\\y\\n\xc3\xa9']"), 200, SAID("(x)|\\\\y\\n\xc3\xa9")},
        {CHAT, ONE("'guided_regex': 'no{2}'"), 200, SAID("noo")},
        {CHAT, ONE("'regex': '^\\\\w\\\\.x$', 'logit_bias': {'103': 100}"), 200, SAID("a.x")},
        {CHAT, ONE("'guided_grammar': 'root ::= \\'ab\\''"), 200, SAID("ab")},
        {CHAT, ONE("'guided_grammar': 'root = a'"), 400, REFUSED("guided_grammar", "line 1")},
        {CHAT, ONE("'guided_grammar': 'root ::= [a] [b]'"), 200, SAID("ab")},
        {CHAT, ONE("'guided_json': {'const': 7, 'required': null, 'properties': null}"), 200, SAID("7")},
        {CHAT,
         ONE("'tool_choice': 'required', 'tools': [{'type': 'function', 'function': {'name': 'f', 'parameters': "
             "{'type': 'object', 'properties': {'x': {'const': 7, 'enum': null}}, 'required': null, "
             "'additionalProperties': null}}}]"),
         200, "{'choices': [{'message': {'tool_calls': [{'function': {'name': 'f'}}]}}]}"},
        {CHAT, ONE("'guided_json': {'const': 'x'}"), 200, SAID("\\'x\\'")},
        {CHAT, ONE("'guided_json': '{\\'const\\': 7}'"), 200, SAID("7")},
        {CHAT, ONE("'structured_outputs': {'json': {'const': 7}}"), 200, SAID("7")},
        {CHAT, ONE("'structured_outputs': {'json': '{\\'const\\': 8}', 'choice': null, 'backend': 'auto'}"), 200,
         SAID("8")},
        {CHAT, ONE("'structured_outputs': {'regex': '[7]'}"), 200, SAID("7")},
        {CHAT, ONE("'structured_outputs': {'choice': ['yes']}"), 200, SAID("yes")},
        {CHAT, ONE("'structured_outputs': {'grammar': 'root ::= [q]'}"), 200, SAID("q")},
        {CHAT, ONE("'structured_outputs': {'json_object': true}, 'logit_bias': {'131': 100}"), 200, SAID("~{")},
        {CHAT, ONE("'structured_outputs': {}"), 200, "{'choices': '*'}"},
        {TEXT, "{'prompt': 'x', 'guided_choice': ['yes']}", 200, "{'choices': [{'text': 'yes'}]}"},
        {TEXT, "{'prompt': 'x', 'structured_outputs': {'regex': 'no'}}", 200, "{'choices': [{'text': 'no'}]}"},
        {"/completion", "{'prompt': 'x', 'regex': 'no'}", 200, "{'content': 'no'}"},
        {CHAT, ONE("'guided_choice': ['']"), 200, SAID("")},
        {CHAT, ONE("'guided_choice': ['', 'yes'], 'logit_bias': {'127': 100}"), 200, SAID("yes")},
        {CHAT, ONE("'guided_regex': ''"), 200, SAID("")},
        {CHAT, "{" HELLO ", 'regex': '', 'max_tokens': 1}", 200, "{'choices': [{'finish_reason': 'stop'}]}"},
        {CHAT, ONE("'structured_outputs': {'regex': ''}"), 200, SAID("")},
        {CHAT, ONE("'structured_outputs': {'choice': ['']}"), 200, SAID("")},
        {"/completion", "{'prompt': 'x', 'regex': ''}", 200, "{'content': ''}"},
        {TEXT, "{'prompt': 'x', 'guided_choice': ['']}", 200, "{'choices': [{'text': ''}]}"},
        {CHAT, ONE("'grammar': '', 'guided_regex': 'a'"), 200, SAID("a")}, /* llama.cpp's clients: no grammar */
        {CHAT, ONE("'guided_grammar': ''"), 400, REFUSED("guided_grammar", "root")},
        {CHAT, ONE("'structured_outputs': {'grammar': ''}"), 400, REFUSED("structured_outputs.grammar", "root")},
        {CHAT, ONE("'guided_choice': []"), 400, REFUSED("guided_choice", "one or more texts")},
        {CHAT, ONE("'structured_outputs': {'choice': []}"), 400,
         REFUSED("structured_outputs.choice", "one or more texts")},
        {CHAT, ONE("'guided_choice': [''], 'guided_regex': ''"), 400, REFUSED("guided_regex", "bound once")},
        {CHAT, ONE("'guided_choice': [1]"), 400, REFUSED("guided_choice", "element 0")},
        {CHAT, ONE("'guided_regex': '('"), 400, REFUSED("guided_regex", "the pattern")},
        {CHAT, ONE("'guided_json': 'x'"), 400, REFUSED("guided_json", "expected a JSON Schema")},
        {CHAT, ONE("'guided_regex': 'a', 'guided_choice': ['b']"), 400, REFUSED("guided_regex", "bound once")},
        {CHAT, ONE("'structured_outputs': {'regex': 'a', 'choice': ['b']}"), 400,
         REFUSED("structured_outputs.regex", "bound once")},
        {CHAT, ONE("'structured_outputs': {'regexp': 'a'}"), 400, REFUSED("structured_outputs.regexp", "regex")},
        {CHAT, ONE("'structured_outputs': 3"), 400, REFUSED("structured_outputs", "an object")},
    };
    EXPECT(cases);
#undef ONE
}

/* Fields that some clients send and vouch doesn't need: null, cache_control, and refusals. */
static void what_says_nothing_is_accepted(void **state)
{
    (void)state;
    static const api_case cases[] = {
        {CHAT, "{" A ", " HELLO ", 'max_tokens': 2, 'no_such_field': null, 'tools': null, 'stop': null, 'audio': null}",
         200, SAID("aa")},
        {CHAT, "{" HELLO ", 'no_such_field': 0}", 400, REFUSED("no_such_field", "unknown field")},
        {CHAT, "{" A ", 'max_tokens': 2, 'stream_options': {'x': null}, 'stream': false, " HELLO "}", 400,
         REFUSED("stream_options", "stream")},
        {CHAT, "{" A ", 'max_tokens': 2, 'speculative': {'x': null}, " HELLO "}", 200, SAID("aa")},
        {CHAT,
         "{" A ", 'max_tokens': 2, 'cache_control': {'type': 'ephemeral'}, 'messages': [{'role': 'system', "
         "'content': [{'type': 'text', 'text': 'be', 'cache_control': {'type': 'ephemeral'}}], 'name': null}, "
         "{'role': 'user', 'content': 'x', 'cache_control': {'type': 'ephemeral'}, 'tool_calls': null, 'audio': "
         "null}]}",
         200, SAID("aa")},
        {CHAT,
         "{" A ", 'max_tokens': 2, 'messages': [{'role': 'user', 'content': 'x'}, {'role': 'assistant', "
         "'content': null, 'refusal': 'no', 'tool_calls': null, 'function_call': null, 'annotations': [], "
         "'audio': null}, {'role': 'user', 'content': 'x'}]}",
         200, SAID("aa")},
        {CHAT,
         "{" A ", 'max_tokens': 2, 'messages': [{'role': 'user', 'content': 'x'}, {'role': 'assistant', "
         "'content': [{'type': 'refusal', 'refusal': 'no'}]}, {'role': 'user', 'content': 'x'}]}",
         200, SAID("aa")},
        {CHAT,
         "{" A ", 'max_tokens': 2, " HELLO ", 'tools': [{'type': 'function', 'cache_control': {'type': "
         "'ephemeral'}, 'function': {'name': 'f', 'strict': null, 'description': null, 'parameters': null}}]}",
         200, SAID("aa")},
        {MESSAGES,
         "{" A ", 'max_tokens': 2, 'no_such_field': null, 'thread': null, 'thinking': null, 'system': [{"
         "'type': 'text', 'text': 'be', 'cache_control': {'type': 'ephemeral'}}], 'cache_control': {'type': "
         "'ephemeral'}, 'tools': [{'name': 'f', 'input_schema': {'type': 'object'}, 'cache_control': {"
         "'type': 'ephemeral'}, 'strict': null}], 'messages': [{'role': 'user', 'content': [{"
         "'type': 'text', 'text': 'x', 'cache_control': {'type': 'ephemeral'}, 'citations': null}]}]}",
         200, "{'content': [{'type': 'text', 'text': 'aa'}]}"},
        {RESPONSES,
         "{" A ", 'max_output_tokens': 2, 'input': 'x', 'no_such_field': null, 'tools': null, 'text': null, "
         "'previous_response_id': null, 'conversation': null}",
         200, "{'output': '*'}"},
        {MESSAGES, "{" HELLO ", 'max_tokens': 2, 'thread': {'type': 'create'}}", 400,
         "{'error': {'type': 'invalid_request_error', 'details': {'error_code': 'thread_unsupported_request'}}}"},
    };
    EXPECT(cases);
}

/* Messages as clients keep them, and what of them a template reads. None is refused for what it lacks. */
static void conversations_are_read(void **state)
{
    (void)state;
#define ONE_USER      "{'role': 'user', 'content': 'x'}"
#define ONE_CALL      "{'role': 'assistant', 'content': null, 'tool_calls': [" CALL_OF_F "]}"
#define CALL_OF_F     "{'id': 'a', 'type': 'function', 'function': {'name': 'f', 'arguments': '{}'}}"
#define READ(messages, text) \
    {"/apply-template", "{'messages': [" messages "]}", 200, "{'prompt': '~" text "'}"}
#define TURN(role, text) "<|im_start|>" role "\\n" text "<|im_end|>\\n"
#define ANSWER           "<|im_start|>assistant\\n"
    static const api_case cases[] = {
        READ(ONE_USER ", {'role': 'assistant', 'content': 'a', 'tool_calls': []}, " ONE_USER,
             TURN("assistant", "a") TURN("user", "x") ANSWER),
        READ("{'role': 'user', 'content': []}", TURN("user", "") ANSWER),
        READ("{'role': 'user', 'content': ''}", TURN("user", "") ANSWER),
        READ("{'role': 'system', 'content': 'be'}, {'role': 'system', 'content': 'brief'}, " ONE_USER,
             TURN("system", "be") TURN("system", "brief") TURN("user", "x")),
        READ(ONE_USER ", {'role': 'system', 'content': 'late'}", TURN("user", "x") TURN("system", "late") ANSWER),
        READ(ONE_USER ", {'role': 'user', 'content': 'y', 'name': 'bob', 'id': 'm', 'created_at': 3}",
             TURN("user", "x") TURN("user", "y")),
        READ(ONE_USER ", " ONE_CALL ", {'role': 'tool', 'tool_call_id': 'a', 'name': 'f', 'content': [{'type': 'text', "
                      "'text': 'r'}, {'type': 'text', 'text': 's', 'annotations': null}]}",
             TURN("tool", "r\\ns")),
        READ(ONE_USER ", " ONE_CALL ", {'role': 'tool', 'tool_call_id': 'a', 'content': ''}", TURN("tool", "")),
        READ(ONE_USER ", " ONE_CALL ", " ONE_USER, TURN("assistant", "") TURN("user", "x") ANSWER),
        READ(ONE_USER
             ", {'role': 'assistant', 'tool_calls': [" CALL_OF_F ", {'id': 'b', 'function': {'name': 'f', "
             "'arguments': {}}, 'index': 1}]}, {'role': 'tool', 'tool_call_id': 'b', 'content': 's'}, {'role': 'tool', "
             "'tool_call_id': 'a', 'content': 'r'}",
             TURN("tool", "s") TURN("tool", "r") ANSWER),
        READ(ONE_USER ", {'role': 'assistant', 'tool_calls': [{'id': 'a', 'function': {'name': 'f', 'arguments': 'so "
                      "on'}}]}, {'role': 'tool', 'tool_call_id': 'a', 'content': 'r'}",
             TURN("tool", "r")),
        READ(ONE_USER ", {'role': 'assistant', 'content': 'a', 'reasoning': 'hm', 'reasoning_details': [], "
                      "'reasoning_content': null}, " ONE_USER,
             TURN("assistant", "a")),
        READ(ONE_USER ", {'role': 'assistant', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'refusal', "
                      "'refusal': 'no'}]}, " ONE_USER,
             TURN("assistant", "a\\nno")),
        READ(ONE_USER ", {'role': 'assistant', 'content': null, 'refusal': 'no'}, " ONE_USER, TURN("assistant", "no")),
        READ(ONE_USER ", {'role': 'assistant', 'audio': {'id': 'x'}}, " ONE_USER, TURN("assistant", "")),
        READ("{'role': 'user', 'content': [{'type': 'text', 'text': 'x', 'cache_control': {'type': 'ephemeral'}}]}",
             TURN("user", "x")),
        {CHAT, "{'messages': [{'role': 'user', 'content': {'type': 'text', 'text': 'x'}}]}", 400,
         REFUSED("messages[0].content", "is an object")},
        {CHAT, "{'messages': [{'role': 'user', 'content': ['x']}]}", 400,
         REFUSED("messages[0].content[0].type", "is missing")},
        {CHAT, "{'messages': [{'role': 'user', 'parts': [{'text': 'x'}]}]}", 400,
         REFUSED("messages[0].content", "got nothing")},
        {CHAT, "{'messages': [{'role': 'model', 'content': 'x'}]}", 400, REFUSED("messages[0].role", "is \\'model\\'")},
        {CHAT,
         "{'messages': [" ONE_USER ", {'role': 'assistant', 'tool_calls': [{'id': 'a', 'type': 'custom', "
         "'custom': {'name': 'f', 'input': 'x'}}]}]}",
         400, REFUSED("messages[1].tool_calls[0].function", "is missing")},
    };
    EXPECT(cases);
#undef READ
#undef TURN
#undef ANSWER
}

/* A tool without parameters, or with fewer of them than JSON Schema has, is called with an object. */
static void bare_tools_get_objects(void **state)
{
    (void)state;
#define BARE(more) "{'temperature': 0, " HELLO ", 'max_tokens': 40, 'parallel_tool_calls': false, 'tool_choice': " \
                   "'required', 'tools': [{'type': 'function', 'function': {'name': 'f'" more "}}]}"
#define GIVEN      "{'choices': [{'message': {'content': null, 'tool_calls': [{'function': {'name': 'f', " \
                   "'arguments': '~{'}}]}}]}"
    static const api_case cases[] = {
        {CHAT, BARE(""), 200, GIVEN},
        {CHAT, BARE(", 'parameters': {}"), 200, GIVEN},
        {CHAT, BARE(", 'parameters': null"), 200, GIVEN},
        {CHAT, BARE(", 'parameters': true"), 200, GIVEN},
        {CHAT, BARE(", 'parameters': []"), 200, GIVEN}, /* as PHP writes an empty object */
        {CHAT, BARE(", 'parameters': {'properties': {'x': {}}}"), 200, GIVEN},
        {CHAT, BARE(", 'parameters': {'description': 'd'}"), 200, GIVEN},
        {CHAT, BARE(", 'parameters': {'type': ['object', 'null'], 'properties': {}}"), 200, GIVEN},
        {CHAT,
         BARE(", 'parameters': {'$schema': 'http://json-schema.org/draft-07/schema#', 'type': 'object', "
              "'properties': {}, 'additionalProperties': false}"),
         200, GIVEN},
        {CHAT,
         BARE(", 'parameters': {'type': 'object', '$ref': '#/$defs/a', '$defs': {'a': {'type': 'object', "
              "'properties': {}}}}"),
         200, GIVEN},
        {MESSAGES,
         "{'temperature': 0, " HELLO ", 'max_tokens': 60, 'tool_choice': {'type': 'any'}, 'tools': [{'name': "
         "'f', 'input_schema': {}}]}",
         200, "{'content': [{'type': 'tool_use', 'name': 'f', 'input': {}}]}"},
        {RESPONSES,
         "{'temperature': 0, 'input': 'x', 'max_output_tokens': 60, 'tool_choice': 'required', 'tools': "
         "[{'type': 'function', 'name': 'f', 'parameters': null, 'strict': null}]}",
         200, "{'output': [{'type': 'function_call', 'name': 'f', 'arguments': '~{'}]}"},
        {CHAT, BARE(", 'parameters': {'type': 'string'}"), 400, REFUSED("tools[0].function.parameters", "an object")},
        {CHAT, BARE(", 'parameters': {'type': ['array', 'null']}"), 400,
         REFUSED("tools[0].function.parameters", "an object")},
        {MESSAGES, "{" HELLO ", 'max_tokens': 6, 'tools': [{'name': 'f', 'input_schema': {'type': 'array'}}]}", 400,
         "{'error': {'message': '~tools[0].input_schema: type: expected'}}"},
        {RESPONSES, "{'input': 'x', 'tools': [{'type': 'function', 'name': 'f', 'parameters': {'type': 'null'}}]}", 400,
         REFUSED("tools[0].parameters", "an object")},
        {RESPONSES,
         "{'input': 'x', 'tool_choice': 'required', 'tools': [{'type': 'function', 'name': 'f', "
         "'parameters': {'properties': {'x': {'enum': []}}, 'required': ['x']}}]}",
         400, REFUSED("tools[0].parameters", "enum")},
        {MESSAGES,
         "{'temperature': 0, " HELLO ", 'max_tokens': 60, 'tool_choice': {'type': 'any'}, 'tools': [{'name': "
         "'f'}]}",
         200, "{'content': [{'type': 'tool_use', 'name': 'f', 'input': {}}]}"},
        {MESSAGES, "{" HELLO ", 'max_tokens': 6, 'tools': [{'name': 'f', 'input_schema': 'x'}]}", 400,
         "{'error': {'message': '~tools[0]: input_schema: expected an object, got a string'}}"},
    };
    EXPECT(cases);
#undef BARE
#undef GIVEN
}

/* A call that max_tokens cuts is a call with cut arguments, and its markup is never text. Before its name is whole
 * there is nothing. */
static void cut_calls_are_calls(void **state)
{
    (void)state;
#define LONG_CALL "{'const': {'x': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}}"
#define CUT_CHAT(n, more) \
    "{'temperature': 0, " HELLO ", 'max_tokens': " n ", 'tool_choice': 'required', 'tools': [{'type': 'function', " \
    "'function': {'name': 'f', 'parameters': " LONG_CALL "}}]" more "}"
#define CUT_MESSAGES(n) \
    "{'temperature': 0, " HELLO ", 'max_tokens': " n ", 'tool_choice': {'type': 'any'}, 'tools': [{'name': 'f', " \
    "'input_schema': " LONG_CALL "}]}"
#define CUT_RESPONSES(n) \
    "{'temperature': 0, 'input': 'x', 'max_output_tokens': " n ", 'tool_choice': 'required', 'tools': [{'type': " \
    "'function', 'name': 'f', 'parameters': " LONG_CALL "}]}"
#define CUT_TO(arguments) "{'choices': [{'finish_reason': 'length', 'message': {'content': null, 'tool_calls': " \
                          "[{'id': '*', 'function': {'name': 'f', 'arguments': '" arguments "'}}]}}]}"
#define CUT_TO_NOTHING    "{'choices': [{'finish_reason': 'length', 'message': {'content': '', 'tool_calls': '!'}}]}"
    static const api_case cases[] = {
        {CHAT, CUT_CHAT("1", ""), 200, CUT_TO_NOTHING},
        {CHAT, CUT_CHAT("12", ""), 200, CUT_TO_NOTHING},
        {CHAT, CUT_CHAT("24", ""), 200, CUT_TO_NOTHING},
        {CHAT, CUT_CHAT("28", ""), 200, CUT_TO("{\\'")},
        {CHAT, CUT_CHAT("32", ""), 200, CUT_TO("{\\'x\\':\\'")},
        {CHAT, CUT_CHAT("40", ""), 200, CUT_TO("{\\'x\\':\\'aaaaaaaa")},
        {CHAT, CUT_CHAT("40", ", 'parallel_tool_calls': false"), 200, CUT_TO("{\\'x\\':\\'aaaaaaaa")},
        {CHAT, CUT_CHAT("40", ", 'speculative': {'drafters': 'none'}"), 200, CUT_TO("{\\'x\\':\\'aaaaaaaa")},
        {CHAT, CUT_CHAT("40", ", 'stop': 'a'"), 200, CUT_TO("{\\'x\\':\\'aaaaaaaa")}, /* of the head's "name" */
        {CHAT, CUT_CHAT("40", ", 'stop': 'aaa'"), 200, CUT_TO("{\\'x\\':\\'aaaaaaaa")},
        {CHAT,
         "{'temperature': 0, " HELLO ", 'max_tokens': 40, 'function_call': {'name': 'f'}, 'functions': "
         "[{'name': 'f', 'parameters': " LONG_CALL "}]}",
         200,
         "{'choices': [{'finish_reason': 'length', 'message': {'content': null, "
         "'function_call': {'name': 'f', 'arguments': '{\\'x\\':\\'aaaaaaaa'}}}]}"},
        {MESSAGES, CUT_MESSAGES("1"), 200, "{'stop_reason': 'max_tokens', 'content': []}"},
        {MESSAGES, CUT_MESSAGES("20"), 200, "{'stop_reason': 'max_tokens', 'content': []}"},
        {MESSAGES, CUT_MESSAGES("40"), 200,
         "{'stop_reason': 'max_tokens', 'content': [{'type': 'tool_use', 'name': 'f', 'input': {}}]}"},
        {RESPONSES, CUT_RESPONSES("20"), 200,
         "{'status': 'incomplete', 'incomplete_details': {'reason': "
         "'max_output_tokens'}, 'output': [{'type': 'message', 'content': [{'text': ''}]}]}"},
        {RESPONSES, CUT_RESPONSES("40"), 200,
         "{'status': 'incomplete', 'output': [{'type': 'function_call', 'status': "
         "'incomplete', 'call_id': '*', 'arguments': '{\\'x\\':\\'aaaaaaaa'}]}"},
    };
    EXPECT(cases);
    /* The same in streams. */
    static const struct {
        const char *path, *body, *piece, *last, *finish;
    } streams[] = {
        {CHAT, CUT_CHAT("40", ", 'stream': true"), "choices.0.delta.tool_calls.0.function.arguments",
         "choices.0.finish_reason", "length"},
        {MESSAGES, CUT_MESSAGES("40, 'stream': true"), "delta.partial_json", "delta.stop_reason", "max_tokens"},
        {RESPONSES, CUT_RESPONSES("40, 'stream': true"), "delta", "response.output.0.status", "incomplete"},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        char *body = quoted(streams[i].body), arguments[64] = "", finish[64] = "";
        http_reply reply = http_post(server.port, streams[i].path, body);
        bool is_done;
        json_t *events = http_events(&reply, &is_done), *event;
        size_t e;
        json_array_foreach(events, e, event) {
            const json_t *piece = http_at(event, streams[i].piece), *last = http_at(event, streams[i].last);
            if (json_is_string(piece)) strcat(arguments, json_string_value(piece));
            if (json_is_string(last)) snprintf(finish, sizeof finish, "%s", json_string_value(last));
        }
        assert_string_equal(arguments, "{\"x\":\"aaaaaaaa");
        assert_string_equal(finish, streams[i].finish);
        json_decref(events);
        http_reply_free(&reply);
        free(body);
    }
}

/* A format binds a text, a forced call a call: both may stand in one request. A grammar that binds each answer
 * from its first byte on can't stand beside a call. */
static void formats_stand_beside_calls(void **state)
{
    (void)state;
#define SEVEN   "'response_format': {'type': 'json_schema', 'json_schema': {'schema': {'const': 7}}}"
#define NOT_ALSO_A_CALL 400, REFUSED("tool_choice", "can be bound once")
#define BESIDE(choice, format) "{" HELLO ", 'max_tokens': 60, " BOTH ", 'parallel_tool_calls': false, 'tool_choice': " \
                               choice ", " format "}"
#define BY_NAME  "{'type': 'function', 'function': {'name': 'g'}}"
#define BESIDE_FLAT(choice) "{'input': 'x', 'max_output_tokens': 60, " FLAT ", 'tool_choice': " choice ", 'text': " \
                            "{'format': {'type': 'json_schema', 'name': 'n', 'schema': {'const': 7}}}}"
#define BESIDE_INPUT(choice) "{" HELLO ", 'max_tokens': 60, 'tools': [{'name': 'g', 'input_schema': {'const': {}}}], " \
                             "'tool_choice': {'type': " choice "}, 'output_config': {'format': {'type': " \
                             "'json_schema', 'schema': {'const': 7}}}}"
    static const api_case cases[] = {
        {CHAT, BESIDE(BY_NAME, SEVEN), 200, CALLS("g")},
        {CHAT, BESIDE("'required'", SEVEN), 200,
         "{'choices': [{'finish_reason': 'tool_calls', 'message': {'content': null, 'tool_calls': '*'}}]}"},
        {CHAT, BESIDE("'auto'", SEVEN), 200, SAID("7")},
        {CHAT, BESIDE("'none'", SEVEN), 200, SAID("7")},
        {CHAT, BESIDE(BY_NAME, "'response_format': {'type': 'json_object'}"), 200, CALLS("g")},
        {CHAT, BESIDE(BY_NAME, "'response_format': {'type': 'text'}"), 200, CALLS("g")},
        {CHAT, BESIDE(BY_NAME, "'response_format': null"), 200, CALLS("g")},
        {CHAT, BESIDE(BY_NAME, "'guided_json': {'const': 7}"), 200, CALLS("g")},
        {CHAT, BESIDE("'none'", "'structured_outputs': {'choice': ['yes']}"), 200, SAID("yes")},
        {CHAT, BESIDE(BY_NAME, "'grammar': 'root ::= [a]'"), NOT_ALSO_A_CALL},
        {CHAT, BESIDE(BY_NAME, "'guided_regex': 'a'"), NOT_ALSO_A_CALL},
        {CHAT, BESIDE(BY_NAME, "'structured_outputs': {'choice': ['yes']}"), NOT_ALSO_A_CALL},
        {CHAT,
         "{" HELLO ", " SEVEN ", 'functions': [{'name': 'f', 'parameters': {'const': {}}}], 'function_call': "
         "{'name': 'f'}}",
         200, "{'choices': [{'message': {'function_call': {'name': 'f'}}}]}"},
        {RESPONSES, BESIDE_FLAT("'required', 'parallel_tool_calls': false"), 200,
         "{'output': [{'type': 'function_call'}], 'text': {'format': {'type': 'json_schema'}}}"},
        {RESPONSES, BESIDE_FLAT("{'type': 'function', 'name': 'g'}"), 200,
         "{'output': [{'type': 'function_call', 'name': 'g'}]}"},
        {RESPONSES, BESIDE_FLAT("'none'"), 200, "{'output': [{'type': 'message', 'content': [{'text': '7'}]}]}"},
        {MESSAGES, BESIDE_INPUT("'any'"), 200,
         "{'stop_reason': 'tool_use', 'content': [{'type': 'tool_use', 'name': 'g'}]}"},
        {MESSAGES, BESIDE_INPUT("'tool', 'name': 'g'"), 200, "{'content': [{'type': 'tool_use', 'name': 'g'}]}"},
        {MESSAGES, BESIDE_INPUT("'none'"), 200, "{'content': [{'type': 'text', 'text': '7'}]}"},
    };
    EXPECT(cases);
}

/* Every API reads text only, and says where something else is. */
static void pictures_are_refused(void **state)
{
    (void)state;
#define CONTENT(part) \
    "{'max_tokens': 2, 'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'x'}, " part "]}]}"
#define MEDIA(path)   "{'error': {'param': '" path "', 'message': '~this server reads text only'}}"
#define BLOCKED       "{'error': {'message': '~messages[0].content[1]: type'}}"
    static const api_case cases[] = {
        {CHAT, CONTENT("{'type': 'image_url', 'image_url': {'url': 'data:'}}"), 400, MEDIA("messages[0].content[1]")},
        {CHAT, CONTENT("{'type': 'input_audio', 'input_audio': {}}"), 400, MEDIA("messages[0].content[1]")},
        {CHAT, CONTENT("{'type': 'file', 'file': {}}"), 400, MEDIA("messages[0].content[1]")},
        {CHAT, CONTENT("{'type': 'video_url', 'video_url': {}}"), 400, MEDIA("messages[0].content[1]")},
        {CHAT "/input_tokens", CONTENT("{'type': 'image_url'}"), 400, MEDIA("messages[0].content[1]")},
        {MESSAGES, CONTENT("{'type': 'image', 'source': {}}"), 400, BLOCKED},
        {MESSAGES, CONTENT("{'type': 'document', 'source': {}}"), 400, BLOCKED},
        {MESSAGES "/count_tokens", CONTENT("{'type': 'image', 'source': {}}"), 400, BLOCKED},
        {MESSAGES, CONTENT("{'type': 'tool_result', 'tool_use_id': 't', 'content': [{'type': 'image'}]}"), 400,
         "{'error': {'message': '~messages[0].content[1].content[0]: type'}}"},
        {MESSAGES, "{'max_tokens': 2, 'system': [{'type': 'image'}], " HELLO "}", 400,
         "{'error': {'message': '~system[0]: type'}}"},
        {RESPONSES, SAYS("{'role': 'user', 'content': [{'type': 'input_image', 'image_url': 'x'}]}"), 400,
         MEDIA("input[0].content[0]")},
        {RESPONSES, SAYS("{'role': 'user', 'content': [{'type': 'input_file'}]}"), 400, MEDIA("input[0].content[0]")},
        {RESPONSES, SAYS("{'role': 'user', 'content': [{'type': 'input_audio'}]}"), 400, MEDIA("input[0].content[0]")},
        {RESPONSES,
         SAYS(USER ", " CALL ", {'type': 'function_call_output', 'call_id': 'c', 'output': [{'type': "
                   "'input_image'}]}"),
         400, MEDIA("input[2].output[0]")},
        {"/completion", "{'prompt': {'prompt_string': 'x', 'multimodal_data': ['AA']}}", 400,
         "{'error': {'param': 'prompt', 'message': '~this server reads text only'}}"},
        {"/completion", "{'n_predict': 2, " A ", 'prompt': {'prompt_string': 'x'}}", 200, "{'content': 'aa'}"},
    };
    EXPECT(cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_answer),
        cmocka_unit_test(anthropic_errors_have_their_form),
        cmocka_unit_test(stop_texts_are_named),
        cmocka_unit_test(tokens_have_their_place),
        cmocka_unit_test(errors_name_the_clients_field),
        cmocka_unit_test(responses_have_their_members),
        cmocka_unit_test(items_are_read),
        cmocka_unit_test(response_streams_are_numbered),
        cmocka_unit_test(long_prompts_are_refused_in_their_words),
        cmocka_unit_test(tools_are_allowed),
        cmocka_unit_test(functions_become_tools),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(bans_meet_grammars),
        cmocka_unit_test(schemas_keep_their_text),
        cmocka_unit_test(structures_bind_answers),
        cmocka_unit_test(what_says_nothing_is_accepted),
        cmocka_unit_test(conversations_are_read),
        cmocka_unit_test(bare_tools_get_objects),
        cmocka_unit_test(cut_calls_are_calls),
        cmocka_unit_test(formats_stand_beside_calls),
        cmocka_unit_test(pictures_are_refused),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
