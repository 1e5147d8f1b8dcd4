/* SPDX-License-Identifier: MIT */
/* The samplers of llama.cpp's clients over HTTP: each API takes their fields, they change the text and no draft does
 * (L2), and wrong values name field and range. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/http.h"
#include "support/model/tiny_model.h"

#define CHAT      "/v1/chat/completions"
#define TEXT      "/v1/completions"
#define NATIVE    "/completion"
#define MESSAGES  "/v1/messages"
#define RESPONSES "/v1/responses"

static http_server server;

static int server_begin(void **state)
{
    (void)state;
    char target[256], draft[256];
    strcpy(target, test_temporary("target.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(target, &(tiny_model_options){.seed = 7, .n_ctx = 4096});
    tiny_model_write(draft, &(tiny_model_options){.seed = 7, .n_ctx = 4096, .noise = 0.02f});
    server = http_server_start(ARGUMENTS(target, "--draft-model", draft));
    return 0;
}

static int server_end(void **state)
{
    (void)state;
    return http_server_stop(&server, SIGTERM);
}

static json_t *post(const char *path, const char *body)
{
    http_reply reply = http_post(server.port, path, body);
    if (reply.status != 200) fail_msg("%s %s: status %d: %s", path, body, reply.status, reply.body);
    return http_json(&reply);
}

/* The text of a sampled answer; the caller's. */
static char *text_of(const char *fields, const char *drafters)
{
    char body[700];
    snprintf(body, sizeof body,
             "{\"prompt\": \"the quick brown the quick brown the\", \"max_tokens\": 40, \"temperature\": 1, \"top_p\": "
             "1, \"seed\": 5, \"ignore_eos\": true, \"speculative\": {\"drafters\": \"%s\", \"accept\": \"match\", "
             "\"k\": 4}%s%s}",
             drafters, *fields ? ", " : "", fields);
    json_t *answer = post(TEXT, body);
    char *text = strdup(http_text_at(answer, "choices.0.text"));
    json_decref(answer);
    return text;
}

#define DRY "\"dry_multiplier\": 4, \"dry_allowed_length\": 0, \"dry_penalty_last_n\": -1"
static const char *const samplers[] = {
    "\"typical_p\": 0.5",
    "\"typ_p\": 0.3",
    "\"top_n_sigma\": 0.5",
    "\"xtc_probability\": 1, \"xtc_threshold\": 0.001",
    "\"xtc_probability\": 0.5, \"xtc_threshold\": 0.001",
    DRY,
    DRY ", \"dry_sequence_breakers\": []",
    DRY ", \"dry_base\": 3, \"dry_sequence_breakers\": [\"the\", \"\\n\"], \"typical_p\": 0.9"};
static const char *const idle[] = {
    "\"typical_p\": 1",
    "\"top_n_sigma\": -1",
    "\"top_n_sigma\": 0",
    "\"xtc_probability\": 0, \"xtc_threshold\": 0.2",
    "\"xtc_probability\": 1, \"xtc_threshold\": 0.6",
    "\"dry_multiplier\": 0, \"dry_base\": 1.75",
    "\"dry_multiplier\": 1, \"dry_penalty_last_n\": 0",
    "\"dry_multiplier\": 1, \"dry_allowed_length\": 1000",
    "\"mirostat\": 0, \"mirostat_tau\": 5, \"mirostat_eta\": 0.1, \"dynatemp_range\": 0, \"dynatemp_exponent\": 1"};

static void samplers_change_the_text_and_drafts_do_not(void **state)
{
    (void)state;
    char *without = text_of("", "none");
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        char *plain = text_of(samplers[i], "none"), *drafted = text_of(samplers[i], "draft,ngram,recycle");
        if (strcmp(plain, without) == 0) fail_msg("%s: changes nothing", samplers[i]);
        assert_string_equal(plain, drafted);
        free(plain);
        free(drafted);
    }
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        char *plain = text_of(idle[i], "none");
        if (strcmp(plain, without) != 0) fail_msg("%s: changes the text", idle[i]);
        free(plain);
    }
    free(without);
}

static void every_api_takes_them(void **state)
{
    (void)state;
    static const struct {
        const char *path, *ask;
    } apis[] = {
        {CHAT, "\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 2"},
        {TEXT, "\"prompt\": \"x\", \"max_tokens\": 2"},
        {NATIVE, "\"prompt\": \"x\", \"n_predict\": 2"},
        {MESSAGES, "\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"max_tokens\": 2"},
        {RESPONSES, "\"input\": \"x\", \"max_output_tokens\": 2"},
    };
    for (size_t a = 0; a < sizeof apis / sizeof *apis; a++)
        for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
            char body[700];
            snprintf(body, sizeof body, "{%s, \"samplers\": [\"dry\", \"top_n_sigma\", \"typ_p\", \"xtc\"], %s}",
                     apis[a].ask, samplers[i]);
            json_decref(post(apis[a].path, body));
        }
}

/* /completion says what it sampled with. */
static void settings_are_reported(void **state)
{
    (void)state;
    json_t *answer = post(NATIVE, "{\"prompt\": \"x\", \"n_predict\": 1, \"typical_p\": 0.5, \"dry_multiplier\": 2, "
                                  "\"dry_sequence_breakers\": [\"a\", \"b\"], \"top_p\": 0.5, \"temperature\": 2, "
                                  "\"samplers\": [\"dry\", \"temperature\"]}");
    json_t *settings = http_at(answer, "generation_settings");
    assert_true(json_number_value(http_at(settings, "dry_multiplier")) == 2);
    assert_true(json_number_value(http_at(settings, "typical_p")) == 1); /* not in the list: off */
    assert_true(json_number_value(http_at(settings, "top_p")) == 1);
    assert_true(json_number_value(http_at(settings, "temperature")) == 2);
    assert_true(json_array_size(http_at(settings, "dry_sequence_breakers")) == 2);
    assert_string_equal(http_text_at(settings, "dry_sequence_breakers.1"), "b");
    assert_string_equal(http_text_at(settings, "samplers.1"), "dry");
    json_decref(answer);
}

static void recommend(vouch_gguf_writer *writer, void *user)
{
    (void)user;
    vouch_gguf_add_f32(writer, "general.sampling.temp", 0.25f);
    vouch_gguf_add_value(writer, "general.sampling.top_k", VOUCH_GGUF_I32, &(int32_t){20});
    vouch_gguf_add_f32(writer, "general.sampling.penalty_repeat", 1.5f);
}

/* A request has what it says itself, then the server's flags, then the file's recommendation, then 0.8 and 0.95. */
static void recommendations_are_defaults(void **state)
{
    (void)state;
    static const struct {
        bool with_flags;
        const char *fields;
        double temperature, top_k, top_p, repeat_penalty;
    } cases[] = {
        {false, "", 0.25, 20, 0.95, 1.5},
        {false, ", \"temperature\": 0.5", 0.5, 20, 0.95, 1.5},
        {false, ", \"temperature\": 0", 0, 20, 0.95, 1.5},
        {false, ", \"top_k\": 0", 0.25, 0, 0.95, 1.5},
        {false, ", \"top_p\": 1, \"repeat_penalty\": 1", 0.25, 20, 1, 1},
        {false, ", \"temperature\": null, \"top_k\": null", 0.25, 20, 0.95, 1.5},
        {true, "", 0.75, 20, 0.5, 1.5},
        {true, ", \"temperature\": 1, \"top_p\": 0.25", 1, 20, 0.25, 1.5},
    };
    char path[256];
    strcpy(path, test_temporary("recommends.gguf"));
    tiny_model_write(path, &(tiny_model_options){.seed = 7, .add = recommend});
    http_server servers[2] = {http_server_start(ARGUMENTS(path)),
                              http_server_start(ARGUMENTS(path, "--temp", "0.75", "--top-p", "0.5"))};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[200];
        const int port = servers[cases[i].with_flags].port;
        snprintf(body, sizeof body, "{\"prompt\": \"x\", \"n_predict\": 1%s}", cases[i].fields);
        http_reply reply = http_post(port, NATIVE, body);
        json_t *answer = http_json(&reply), *settings = http_at(answer, "generation_settings");
        const bool is_right = json_number_value(http_at(settings, "temperature")) == cases[i].temperature &&
                              json_number_value(http_at(settings, "top_k")) == cases[i].top_k &&
                              (float)json_number_value(http_at(settings, "top_p")) == (float)cases[i].top_p &&
                              json_number_value(http_at(settings, "repeat_penalty")) == cases[i].repeat_penalty;
        if (!is_right) fail_msg("%s: %s", body, json_dumps(settings, 0));
        json_decref(answer);
        snprintf(body, sizeof body, "{\"input\": \"x\", \"max_output_tokens\": 1%s}", cases[i].fields);
        reply = http_post(port, RESPONSES, body);
        assert_int_equal(reply.status, 200);
        answer = http_json(&reply);
        assert_true(json_number_value(http_at(answer, "temperature")) == cases[i].temperature);
        json_decref(answer);
    }
    for (int i = 0; i < 2; i++) {
        http_reply reply = http_request(servers[i].port, "GET", "/props", "", NULL);
        json_t *props = http_json(&reply);
        const json_t *shown = http_at(props, "default_generation_settings.params.temperature");
        assert_true(json_number_value(shown) == (i ? 0.75 : 0.25));
        json_decref(props);
        assert_int_equal(http_server_stop(&servers[i], SIGTERM), 0);
    }
}

/* A list turns off what it doesn't name. Another order is taken where it makes no difference. */
static void lists_of_samplers_are_obeyed(void **state)
{
    (void)state;
    static const struct {
        const char *given, *same; /* same NULL: refused */
    } lists[] = {
        {"\"top_k\": 3, \"samplers\": []", ""},
        {"\"top_k\": 3, \"samplers\": [\"top_k\"]", "\"top_k\": 3"},
        {"\"top_k\": 3, \"typical_p\": 0.5, \"samplers\": [\"typ_p\"]", "\"typical_p\": 0.5"},
        {"\"temperature\": 0.5, \"samplers\": [\"top_p\"]", ""},
        {"\"temperature\": 0.5, \"top_k\": 3, \"samplers\": [\"top_k\", \"temperature\"]",
         "\"temperature\": 0.5, \"top_k\": 3"},
        {"\"temperature\": 0.5, \"top_n_sigma\": 1, \"samplers\": [\"temperature\", \"top_n_sigma\"]",
         "\"temperature\": 0.5, \"top_n_sigma\": 1"},
        {"\"min_p\": 0.1, \"samplers\": [\"penalties\", \"dry\", \"top_n_sigma\", \"top_k\", \"typ_p\", \"top_p\", "
         "\"min_p\", \"xtc\", \"temperature\"]",
         "\"min_p\": 0.1"}, /* llama.cpp's order, at temperature 1 */
        {"\"temperature\": 0, \"min_p\": 0.1, \"samplers\": [\"min_p\", \"temperature\"]", "\"temperature\": 0"},
        {"\"temperature\": 0.5, \"min_p\": 0.1, \"samplers\": [\"min_p\", \"temperature\"]", NULL},
        {"\"temperature\": 0, \"typical_p\": 0.1, \"samplers\": [\"typical_p\", \"temperature\"]", NULL},
        {"\"top_k\": 3, \"typical_p\": 0.5, \"samplers\": [\"typ_p\", \"top_k\"]", NULL},
        {"\"dry_multiplier\": 1, \"repeat_penalty\": 2, \"samplers\": [\"dry\", \"penalties\"]", NULL},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char body[600];
        const bool has_temperature = strstr(lists[i].given, "\"temperature\": ");
        const char *const ask = "\"prompt\": \"the quick\", \"max_tokens\": 30, \"seed\": 5, \"ignore_eos\": true, "
                                "\"top_p\": 1";
        snprintf(body, sizeof body, "{%s, %s%s}", ask, has_temperature ? "" : "\"temperature\": 1, ", lists[i].given);
        http_reply reply = http_post(server.port, TEXT, body);
        if (reply.status != (lists[i].same ? 200 : 400)) fail_msg("%s: status %d: %s", body, reply.status, reply.body);
        json_t *got = http_json(&reply);
        if (lists[i].same) {
            const bool is_warm = strstr(lists[i].same, "\"temperature\": ");
            snprintf(body, sizeof body, "{%s%s%s%s}", ask, is_warm ? "" : ", \"temperature\": 1",
                     *lists[i].same ? ", " : "", lists[i].same);
            json_t *same = post(TEXT, body);
            assert_string_equal(http_text_at(got, "choices.0.text"), http_text_at(same, "choices.0.text"));
            json_decref(same);
        } else {
            assert_string_equal(http_text_at(got, "error.param"), "samplers");
            assert_non_null(strstr(http_text_at(got, "error.message"), "the order is fixed"));
        }
        json_decref(got);
    }
}

static void wrong_values_name_field_and_range(void **state)
{
    (void)state;
    static const struct {
        const char *field, *param, *says;
    } cases[] = {
        {"\"typical_p\": 1.5", "typical_p", "[0, 1]"},
        {"\"typ_p\": \"x\"", "typ_p", "expected a number in [0, 1]"},
        {"\"top_n_sigma\": -2", "top_n_sigma", "[-1, 1000]"},
        {"\"xtc_probability\": 1.1", "xtc_probability", "[0, 1]"},
        {"\"xtc_threshold\": -0.1", "xtc_threshold", "[0, 1]"},
        {"\"dry_multiplier\": -1", "dry_multiplier", "[0, 1000]"},
        {"\"dry_base\": 0.5", "dry_base", "[1, 1000]"},
        {"\"dry_allowed_length\": -1", "dry_allowed_length", "[0, 2147483647]"},
        {"\"dry_allowed_length\": 1.5", "dry_allowed_length", "a fraction"},
        {"\"dry_penalty_last_n\": -2", "dry_penalty_last_n", "[-1, 2147483647]"},
        {"\"dry_sequence_breakers\": \"x\"", "dry_sequence_breakers", "an array of at most 16 strings"},
        {"\"dry_sequence_breakers\": [1]", "dry_sequence_breakers[0]", "a string of 1 to 64 bytes"},
        {"\"dry_sequence_breakers\": [\"a\", \"\"]", "dry_sequence_breakers[1]", "a string of 1 to 64 bytes"},
        {"\"dry_sequence_breakers\": [\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
         "\"a\",\"a\",\"a\",\"a\"]",
         "dry_sequence_breakers", "at most 16"},
        {"\"samplers\": \"dkypmxt\"", "samplers", "expected an array"},
        {"\"samplers\": [\"top_k\", \"mirostat\"]", "samplers", "element 1, 'mirostat': expected one of penalties"},
        {"\"samplers\": [7]", "samplers", "element 0"},
        {"\"samplers\": [\"top_k\", \"top_k\"]", "samplers", "top_k is given twice"},
        {"\"mirostat\": 2", "mirostat", "does not support"},
        {"\"dynatemp_range\": 0.5", "dynatemp_range", "does not support"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"prompt\": \"x\", \"max_tokens\": 1, %s}", cases[i].field);
        http_reply reply = http_post(server.port, TEXT, body);
        const int status = reply.status;
        json_t *got = http_json(&reply);
        const char *says = http_text_at(got, "error.message");
        if (status != 400 || !strstr(says, cases[i].says) || strcmp(http_text_at(got, "error.param"), cases[i].param))
            fail_msg("%s: status %d, %s: %s", cases[i].field, status, http_text_at(got, "error.param"), says);
        json_decref(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplers_change_the_text_and_drafts_do_not),
        cmocka_unit_test(every_api_takes_them),
        cmocka_unit_test(settings_are_reported),
        cmocka_unit_test(recommendations_are_defaults),
        cmocka_unit_test(lists_of_samplers_are_obeyed),
        cmocka_unit_test(wrong_values_name_field_and_range),
    };
    return cmocka_run_group_tests(tests, server_begin, server_end);
}
