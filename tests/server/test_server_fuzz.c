/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target of the server's requests inside the ordinary tests, a million times in `make test` (law L5):
 * objects of random fields with the values that break readers, and damaged copies of good requests.
 */
#include "fuzz/fuzz_request.c"
#include "support/mutate.h"
#include "support/decode/replay.h"
#include "support/sanitized.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* clang-format off */
static const char *const names[] = {
    "model", "messages", "prompt", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens",
    "n_predict", "max_output_tokens", "stop_sequences", "stop", "ignore_eos", "echo", "temperature", "top_k", "top_p",
    "min_p", "typical_p", "top_n_sigma", "xtc_probability", "dry_multiplier", "dry_sequence_breakers", "samplers",
    "frequency_penalty", "presence_penalty", "repeat_penalty", "repeat_last_n", "logit_bias", "seed",
    "prediction", "speculative", "logprobs", "top_logprobs", "best_of", "suffix", "tools", "tool_choice", "functions",
    "grammar", "response_format", "documents", "chat_template_kwargs", "reasoning_effort", "user", "return_tokens",
    "n_probs", "json_schema", "system", "thinking", "input", "instructions", "reasoning", "text", "content", "tokens",
    "response_fields", "with_pieces", "add_special", "drafters", "k", "accept", "lenience", "branches",
    "draft_sampling", "min_tokens", "structured_outputs", "guided_json", "guided_choice", "guided_regex", "regex",
    "function_call", "include", "thread", "cache_control", "add_special_tokens", "return_token_strs", "options",
    "format", "think", "keep_alive", "images", "raw", "unknown"};
static const char *const values[] = {
    "-1", "0", "1", "2147483647", "2147483648", "9223372036854775807", "1e308", "-0.0", "0.5", "1e-320", "null", "true",
    "false", "\"\"", "\"x\"", "\"NaN\"", "[]", "{}", "[[]]", "[1, \"x\"]", "[-1]", "[400]", "\"<think>\"", "\"auto\"",
    "\"none\"", "\"required\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"", "\"\xe4\xbd\xa0<|im_start|>\"", "[null]",
    "[\"a\", \"b\"]", "{\"1\": 5}", "{\"-1\": 5}", "{\"type\": \"text\"}",
    "{\"type\": \"content\", \"content\": \"x\"}",
    "{\"type\": \"json_object\"}", "{\"type\": \"json_schema\", \"json_schema\": {\"schema\": {\"type\": \"array\"}}}",
    "{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"#\"}}}", "{\"include_usage\": true}",
    "{\"drafters\": \"ngram\", \"k\": 3, \"trace\": true}", "{\"enable_thinking\": false}",
    "[{\"role\": \"user\", \"content\": \"hi\"}]", "[{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}]",
    "[{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {}}]}, {\"role\": \"tool\"}]",
    "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"parameters\": {}}}]",
    "[{\"name\": \"f\", \"input_schema\": {\"type\": \"object\"}}]", "{\"type\": \"tool\", \"name\": \"f\"}",
    "[{\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"a\"}]}]",
    "[{\"type\": \"message\", \"role\": \"user\", \"content\": [{\"type\": \"input_text\", \"text\": \"x\"}]}]",
    "[{\"type\": \"function_call_output\", \"call_id\": \"a\", \"output\": \"x\"}]", "\"root ::= [a-z]{1,3} | root\"",
    "\"root ::= (\"", "{\"type\": \"enabled\", \"budget_tokens\": 9}", "[{}]", "{\"prompt_string\": \"x\"}",
    "{\"regex\": \"(a|b\"}", "{\"choice\": [\"a\", \"\"]}",
    "{\"type\": \"allowed_tools\", \"mode\": \"auto\", \"tools\": [{\"name\": \"f\"}]}",
    "[{\"name\": \"f\", \"parameters\": null}]", "{\"name\": \"f\"}",
    "[{\"role\": \"function\", \"content\": [{\"type\": \"refusal\"}]}]", "{\"num_predict\": -2, \"stop\": [\"a\"]}",
    "{\"seed\": {}}", "[{\"role\": \"tool\", \"content\": \"x\", \"tool_name\": 5}]", "\"json\"",
    "[{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": 1}}]}]"};
/* clang-format on */

/* The fields that a request needs so that its other fields are read. */
static const char *const needed[] = {"\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]", "\"prompt\": \"x\"",
                                     "\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"max_tokens\": 3",
                                     "\"input\": \"x\"", "\"content\": \"x\""};

static int rounds(int all)
{
    return TEST_SANITIZED ? all / 200 : test_is_quick() ? all / 100 : all;
}

static void random_fields(void **state)
{
    (void)state;
    test_random random = {5};
    for (int i = 0; i < rounds(700000); i++) {
        char body[4096];
        body[0] = (char)test_below(&random, 256);
        int n = 1 + snprintf(body + 1, sizeof body - 1, "{%s", needed[test_below(&random, COUNT(needed))]);
        for (uint32_t left = test_below(&random, 6); left > 0; left--)
            n += snprintf(body + n, sizeof body - (size_t)n, ", \"%s\": %s", names[test_below(&random, COUNT(names))],
                          values[test_below(&random, COUNT(values))]);
        body[n++] = '}';
        LLVMFuzzerTestOneInput((const uint8_t *)body, (size_t)n);
    }
}

static void damaged_bodies(void **state)
{
    (void)state;
    static const char *const words[] = {"{\"", "[", ": ", "content", "role", "type", NULL};
    for (size_t v = 0; v < COUNT(values); v++) {
        char good[1024];
        mutator m;
        const int n = snprintf(good, sizeof good, "%c{%s, \"tools\": %s, \"response_format\": %s, \"stop\": \"a\"}",
                               (char)v, needed[v % COUNT(needed)], values[v], values[v * 7 % COUNT(values)]);
        mutator_open(&m, (const uint8_t *)good, (size_t)n, words, v);
        for (int i = 0; i < rounds(300000) / (int)COUNT(values); i++) {
            mutator_next(&m);
            LLVMFuzzerTestOneInput(m.bytes, m.n);
        }
        mutator_close(&m);
    }
}

/* Feeds every prefix of a request with each value to every path. The number that feed() prints tells which one
 * crashed. */
static void cut_bodies(void **state)
{
    (void)state;
    for (size_t v = 0; v < COUNT(values); v++)
        for (size_t path = 0; path < (test_is_quick() ? 3 : 20); path++) {
            char body[1024];
            const int n = snprintf(body, sizeof body, "%c{%s, \"%s\": %s}", (char)path, needed[path % COUNT(needed)],
                                   names[v % COUNT(names)], values[v]);
            for (size_t cut = 1; cut <= (size_t)n; cut++) feed("cut", v * 1000 + cut, (const uint8_t *)body, cut);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_fields), cmocka_unit_test(damaged_bodies),
                                       cmocka_unit_test(cut_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
