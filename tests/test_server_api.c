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

#include "support/http.h"
#include "support/tiny_model.h"

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
    json_t *part = json_loads(part_text, 0, &error), *value = json_loadb(reply.body, reply.n, 0, NULL);
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
        {"/models/tiny", NULL, 200, "{'id': 'tiny', 'max_model_len': 600}"},
        {"/v1/models/tiny/", NULL, 200, "{'id': 'tiny', 'type': 'model', 'created_at': '~Z'}"},
        {"/v1/models/", NULL, 200, "{'object': 'list', 'data': [{'id': 'tiny'}], 'has_more': false}"},
        {"//v1//models", NULL, 200, "{'first_id': 'tiny', 'last_id': 'tiny'}"},
        {"/v1/models/gpt-4", NULL, 404,
         "{'error': {'code': 'model_not_found', 'param': 'model', 'message': '~gpt-4'}}"},
        {"/v1/models/a/b", NULL, 404, "{'error': {'code': 'model_not_found', 'message': '~a/b'}}"},
        {"/v1/models/tiny%20", NULL, 404, "{'error': {'code': 'model_not_found'}}"},
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

/* Under /v1/messages errors have the Anthropic API's form, whatever is wrong. */
static void anthropic_errors_have_their_form(void **state)
{
    (void)state;
#define ERROR(type, words) "{'type': 'error', 'error': {'type': '" type "', 'message': '~" words "'}}"
    static const api_case cases[] = {
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
        {"POST", "Origin: https://evil.example\r\n",
         {MESSAGES, NULL, 403, ERROR("permission_error", "evil.example")}},
        {"POST", "Content-Encoding: gzip\r\n", {MESSAGES, NULL, 415, ERROR("invalid_request_error", "gzip")}},
        {"POST", "Content-Length: 99999999\r\n", {MESSAGES, NULL, 413, ERROR("request_too_large", "99999999")}},
        {"OPTIONS", "", {MESSAGES "/batches", NULL, 404, ERROR("not_found_error", "unknown path")}},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect_reply(&lines[i].expected, http_request(server.port, lines[i].method, lines[i].expected.path,
                                                      lines[i].headers, NULL));
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
         "{'choices': [{'text': '\xc3\xa9\xe2\x82\xac" "aa', 'logprobs': {'text_offset': [0, 0, 1, 1, 1, 2, 3]}}]}"},
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

static void responses_have_their_members(void **state)
{
    (void)state;
    static const api_case cases[] = {
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
        {RESPONSES, "{" A ", 'input': 'x', 'max_output_tokens': 9, 'stop': null, 'metadata': {'a': 'b'}, 'user': 'me', "
                    "'text': {'verbosity': 'low'}, 'reasoning': {'effort': 'low', 'summary': null}, 'truncation': "
                    "'disabled', 'prompt_cache_key': 'k', 'safety_identifier': 's', 'max_tool_calls': 3, "
                    "'instructions': 'Be.', 'parallel_tool_calls': false}", 200,
         "{'metadata': {'a': 'b'}, 'user': 'me', 'text': {'verbosity': 'low', 'format': {'type': 'text'}}, "
         "'reasoning': {'effort': 'low'}, 'prompt_cache_key': 'k', 'safety_identifier': 's', 'max_tool_calls': 3, "
         "'instructions': 'Be.', 'parallel_tool_calls': false}"},
        {RESPONSES, "{'input': 'x', 'tool_choice': 'required', 'tools': [{'type': 'function', 'name': 'f', 'strict': "
                    "true, 'description': 'd', 'parameters': {'const': {}}}]}", 200,
         "{'status': 'completed', 'completed_at': '*', 'incomplete_details': null, 'tool_choice': 'required', 'tools': "
         "[{'type': 'function', 'name': 'f', 'strict': true, 'description': 'd', 'parameters': {'const': {}}}], "
         "'output': [{'type': 'function_call', 'name': 'f', 'arguments': '{}', 'status': 'completed', 'id': '~fc_', "
         "'call_id': '~call_'}]}"},
        {RESPONSES, "{'input': 'x', 'text': {'format': {'type': 'json_schema', 'name': 'n', 'schema': {'const': 1}}}}",
         200, "{'text': {'format': {'type': 'json_schema', 'name': 'n', 'schema': {'const': 1}}}, 'output': "
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
        {RESPONSES, SAYS(USER ", {'type': 'reasoning', 'id': 'r', 'summary': []}, {'id': 'm', 'type': 'message', "
                              "'role': 'assistant', 'status': 'completed', 'content': [{'type': 'output_text', 'text': "
                              "'x', 'annotations': [], 'logprobs': []}, {'type': 'refusal', 'refusal': 'no'}]}, " USER),
         200, GOOD},
        {RESPONSES, SAYS(USER ", {'type': 'reasoning', 'id': 'r', 'summary': [], 'encrypted_content': 'e', 'content': "
                              "[{'type': 'reasoning_text', 'text': 'hm'}], 'status': null}, " CALL ", {'type': "
                              "'function_call_output', 'call_id': 'c', 'output': 'done', 'id': null}"), 200, GOOD},
        {RESPONSES, SAYS(USER ", " CALL ", " CALL ", {'type': 'function_call_output', 'call_id': 'c', 'output': "
                              "[{'type': 'input_text', 'text': 'a'}, {'type': 'input_text', 'text': 'b'}]}"), 200,
         GOOD},
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
    static const char *const types[] = {
        "response.created", "response.in_progress", "response.output_item.added", "response.content_part.added",
        "response.output_text.delta", "response.output_text.delta", "response.output_text.done",
        "response.content_part.done", "response.output_item.done", "response.incomplete"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_answer),
        cmocka_unit_test(anthropic_errors_have_their_form),
        cmocka_unit_test(stop_texts_are_named),
        cmocka_unit_test(tokens_have_their_place),
        cmocka_unit_test(responses_have_their_members),
        cmocka_unit_test(items_are_read),
        cmocka_unit_test(response_streams_are_numbered),
        cmocka_unit_test(long_prompts_are_refused_in_their_words),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
