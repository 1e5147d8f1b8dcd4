/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target of the Hugging Face tokenizers inside the ordinary tests: on small files with damaged bytes,
 * which are rarely JSON any more, and on valid JSON in which some values are replaced.
 */
#include <jansson.h>

#include "fuzz/fuzz_hf_tokenizer.c"
#include "golden/hf_tokenizers.h"
#include "support/mutate.h"
#include "support/decode/replay.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const words[] = {
    "\"id\":", "\"vocab\":", "\"merges\":", "type\":\"", "content\":", "pattern\":", "charsmap\":", "[", "\n", NULL};

static void feed_file(const char *what, size_t number, int file, const uint8_t *bytes, size_t n)
{
    uint8_t *input = malloc(n + 1);
    assert_non_null(input);
    input[0] = (uint8_t)file;
    if (n > 0) memcpy(input + 1, bytes, n);
    feed(what, number, input, n + 1);
    free(input);
}

static void damage(const char *what, int file, const uint8_t *good, size_t size, size_t n_copies)
{
    mutator m;
    mutator_open(&m, good, size, words, size);
    feed_file(what, 0, file, good, size);
    for (size_t i = 0; i < n_copies; i++) {
        if (i % 8 == 0) mutator_truncate(&m, test_below(&m.random, (uint32_t)size));
        else mutator_next(&m);
        feed_file(what, i + 1, file, m.bytes, m.n);
    }
    mutator_close(&m);
}

enum { ROOM = 1 << 14 };

static size_t golden_read(size_t i, uint8_t good[ROOM])
{
    size_t size = 0;
    for (size_t j = 0; hf_golden[i].parts[j].bytes; size += hf_golden[i].parts[j++].n) {
        assert_true(size + hf_golden[i].parts[j].n <= ROOM);
        memcpy(good + size, hf_golden[i].parts[j].bytes, hf_golden[i].parts[j].n);
    }
    return size;
}

static void damaged_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hf_golden); i++) {
        uint8_t good[ROOM];
        const size_t size = golden_read(i, good);
        const int file = strcmp(hf_golden[i].file, "tokenizer.json") == 0 ? TOKENIZER : SENTENCEPIECE;
        damage(hf_golden[i].name, file, good, size, test_is_quick() ? 50 : 1000);
    }
}

/* Replaces or adds a value somewhere below the container: one of `values`, or `spare`, another part of the file. */
static void value_replace(test_random *random, json_t *container, const json_t *spare)
{
    static const char *const values[] = {
        "null",    "-1",          "0",  "3",  "2147483648", "9223372036854775807", "1e308", "\"\"",
        "\"a b\"", "\"\\u2581\"", "[]", "{}", "true",       "[\"a\", \"b\"]",      "false"};
    const bool is_array = json_is_array(container);
    const size_t n = is_array ? json_array_size(container) : json_object_size(container);
    if (n == 0) return;
    const size_t at = test_below(random, (uint32_t)n);
    void *iter = is_array ? NULL : json_object_iter(container);
    for (size_t i = 0; iter && i < at; i++) iter = json_object_iter_next(container, iter);
    json_t *old = is_array ? json_array_get(container, at) : json_object_iter_value(iter);
    const bool descends = (json_is_array(old) || json_is_object(old)) && test_below(random, 8);
    if (descends) {
        value_replace(random, old, spare);
        return;
    }
    const char *text = values[test_below(random, COUNT(values))];
    json_t *value = test_below(random, 8) ? json_loads(text, JSON_DECODE_ANY, NULL) : json_deep_copy(spare);
    assert_non_null(value);
    if (is_array && test_below(random, 3) == 0) json_array_insert_new(container, at, value);
    else if (is_array) json_array_set_new(container, at, value);
    else json_object_iter_set_new(container, iter, value);
}

static void other_values(void **state)
{
    (void)state;
    test_random random = {9};
    for (size_t i = 0; i < COUNT(hf_golden); i++) {
        uint8_t good[ROOM];
        const size_t size = golden_read(i, good);
        const bool is_json = strcmp(hf_golden[i].file, "tokenizer.json") == 0;
        json_t *root = is_json ? json_loadb((const char *)good, size, 0, NULL) : NULL;
        for (size_t j = 0; root && j < (test_is_quick() ? 60 : 2000); j++) {
            json_t *copy = json_deep_copy(root);
            for (uint32_t left = 1 + test_below(&random, 3); left > 0; left--)
                value_replace(&random, copy, json_object_get(root, left > 1 ? "pre_tokenizer" : "added_tokens"));
            char *text = json_dumps(copy, JSON_COMPACT);
            feed_file(hf_golden[i].name, j, TOKENIZER, (const uint8_t *)text, strlen(text));
            free(text);
            json_decref(copy);
        }
        json_decref(root);
    }
}

static void damaged_config(void **state)
{
    (void)state;
    static const char config[] =
        "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"b\", \"add_bos_token\": true, \"tokenizer_class\": "
        "\"GPT2Tokenizer\", \"added_tokens_decoder\": {\"4\": {\"content\": \"<x>\", \"special\": true, \"lstrip\": "
        "true}}, \"chat_template\": [{\"name\": \"default\", \"template\": \"{{ messages }}\"}]}";
    static const char vocab[] = "{\"a\": 0, \"b\": 1, \"ab\": 2, \"<s>\": 3, \"\xc4\xa0\": 4}";
    const size_t n = test_is_quick() ? 200 : 2000;
    damage("config", CONFIG, (const uint8_t *)config, sizeof config - 1, n);
    damage("vocab", VOCAB, (const uint8_t *)vocab, sizeof vocab - 1, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_files), cmocka_unit_test(other_values),
                                       cmocka_unit_test(damaged_config)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
