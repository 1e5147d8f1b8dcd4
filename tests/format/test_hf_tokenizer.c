/* SPDX-License-Identifier: MIT */
/*
 * Tokenizers from the files of Hugging Face folders. References: `tokenizers` and `sentencepiece`, whose ids for tiny
 * files are in golden/hf_tokenizers.h. Then the keys that a folder gives, and files that are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/hf/vocabulary/hf_tokenizer.h"
#include "golden/hf_tokenizers.h"
#include "os/os.h"
#include "support/model/tokenizers.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The path of a file in this test program's folder. Makes the folder. */
static const char *folder_path(const char *name)
{
    static char path[4096];
    vouch_os_folder_make(test_temporary("folder"), 0700);
    snprintf(path, sizeof path, "%s/%s", test_temporary("folder"), name);
    return path;
}

static void folder_write(const char *name, const char *text)
{
    write_whole(folder_path(name), text, strlen(text));
}

static void folder_clear(void)
{
    static const char *const names[] = {
        "tokenizer.json",        "tokenizer.model",       "vocab.json",        "merges.txt",
        "tokenizer_config.json", "config.json",           "added_tokens.json", "special_tokens_map.json",
        "chat_template.jinja",   "generation_config.json"};
    for (size_t i = 0; i < COUNT(names); i++) unlink(folder_path(names[i]));
}

/* The keys of the folder (name "") or of one of its files. *bytes belongs to the caller. NULL: *err says why. */
static vouch_gguf *folder_read(const char *name, int32_t n_vocab, void **bytes, vouch_error *err)
{
    size_t size;
    vouch_gguf_writer *writer = writer_open();
    const vouch_status status = vouch_hf_tokenizer_add(writer, folder_path(name), n_vocab, err);
    *bytes = NULL;
    if (status != VOUCH_OK) {
        vouch_gguf_writer_close(writer);
        return NULL;
    }
    *bytes = writer_finish(writer, &size);
    return open_bytes(*bytes, size);
}

static vouch_tokenizer *folder_open(const char *name)
{
    void *bytes;
    vouch_error err = {0};
    vouch_tokenizer *tokenizer = NULL;
    vouch_gguf *gguf = folder_read(name, 0, &bytes, &err);
    if (!gguf || vouch_tokenizer_open(&tokenizer, gguf, NULL, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_close(gguf);
    free(bytes);
    return tokenizer;
}

static void assert_refused(const char *expected)
{
    void *bytes;
    vouch_error err = {0};
    vouch_gguf *gguf = folder_read("", 0, &bytes, &err);
    if (gguf) fail_msg("expected the error '%s'", expected);
    if (!strstr(err.message, expected)) fail_msg("expected '%s' in: %s", expected, err.message);
}

/* ------------------------------------------------------------------- golden ids */

/* Makes the file of golden case i the folder's only one. */
static void golden_write(size_t i)
{
    folder_clear();
    FILE *file = fopen(folder_path(hf_golden[i].file), "wb");
    assert_non_null(file);
    for (size_t j = 0; hf_golden[i].parts[j].bytes; j++) {
        const size_t n = hf_golden[i].parts[j].n;
        assert_int_equal(fwrite(hf_golden[i].parts[j].bytes, 1, n, file), n);
    }
    assert_int_equal(fclose(file), 0);
}

static void golden_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(hf_golden); i++) {
        const bool is_json = strcmp(hf_golden[i].file, "tokenizer.json") == 0;
        golden_write(i);
        vouch_tokenizer *tokenizer = folder_open(hf_golden[i].file);
        const int32_t *expected = hf_golden[i].ids;
        for (size_t j = 0; j < COUNT(hf_texts); j++) {
            const ids got = encode(tokenizer, hf_texts[j].text, hf_texts[j].n, is_json ? VOUCH_TOKENIZE_SPECIAL : 0);
            char what[128];
            size_t n = 0;
            while (expected[n] >= 0) n++;
            snprintf(what, sizeof what, "%s, text %zu", hf_golden[i].name, j);
            assert_ids(what, got, expected, n);
            expected += n + 1;
            free(got.at);
        }
        vouch_tokenizer_close(tokenizer);
    }
}

/* ------------------------------------------------------------------------- keys */

/* A tokenizer.json of byte-level BPE: "a", "b", "ab" and one added token, 3. */
#define JSON(members, model)                                                                                       \
    "{\"added_tokens\": [{\"id\": 3, \"content\": \"<s>\", \"special\": true}], \"pre_tokenizer\": {\"type\": "    \
    "\"ByteLevel\", \"add_prefix_space\": false}, " members " \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, " \
    "\"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]" model "}}"

static void assert_text(const vouch_gguf *gguf, const char *key, const char *expected)
{
    vouch_text text = {"", 0};
    vouch_error err = {0};
    if (vouch_gguf_get_text(gguf, key, true, &text, &err) != VOUCH_OK) fail_msg("%s", err.message);
    assert_int_equal(text.size, strlen(expected));
    assert_memory_equal(text.data, expected, text.size);
}

static bool get_bool(const vouch_gguf *gguf, const char *key)
{
    bool value = false;
    vouch_error err = {0};
    if (vouch_gguf_get_bool(gguf, key, true, &value, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return value;
}

static void assert_token(const vouch_gguf *gguf, size_t id, const char *text, int64_t kind)
{
    vouch_gguf_array tokens, kinds;
    vouch_error err = {0};
    vouch_text token = {"", 0};
    assert_int_equal(vouch_gguf_get_array(gguf, "tokenizer.ggml.tokens", true, &tokens, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_get_array(gguf, "tokenizer.ggml.token_type", true, &kinds, &err), VOUCH_OK);
    assert_true(id < tokens.count);
    const unsigned char *cursor = tokens.data;
    for (size_t i = 0; i <= id; i++) token = vouch_gguf_next_text(&cursor);
    assert_int_equal(token.size, strlen(text));
    assert_memory_equal(token.data, text, token.size);
    assert_int_equal(vouch_gguf_array_int(&kinds, id), kind);
}

/* The special tokens, the rule for BOS, the chat template, and unused ids up to the model's size. */
static void folder_keys(void **state)
{
    (void)state;
    void *bytes;
    vouch_error err = {0};
    folder_clear();
    folder_write("tokenizer.json", JSON("\"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{"
                                        "\"SpecialToken\": {\"id\": \"<s>\"}}, {\"Sequence\": {\"id\": \"A\"}}]},",
                                        ""));
    folder_write("tokenizer_config.json", "{\"bos_token\": {\"content\": \"<s>\"}, \"pad_token\": null, "
                                          "\"add_bos_token\": false, \"chat_template\": \"of the config\"}");
    folder_write("config.json", "\xef\xbb\xbf{\"eos_token_id\": 1, \"pad_token_id\": 99}");
    vouch_gguf *gguf = folder_read("", 6, &bytes, &err);
    if (!gguf) fail_msg("%s", err.message);
    assert_text(gguf, "tokenizer.ggml.model", "gpt2");
    assert_text(gguf, "tokenizer.ggml.pre", "gpt-2");
    assert_text(gguf, "tokenizer.chat_template", "of the config");
    assert_int_equal(get_int(gguf, "tokenizer.ggml.bos_token_id"), 3);
    assert_int_equal(get_int(gguf, "tokenizer.ggml.eos_token_id"), 1);
    assert_false(vouch_gguf_has(gguf, "tokenizer.ggml.padding_token_id"));
    assert_true(get_bool(gguf, "tokenizer.ggml.add_bos_token"));
    assert_token(gguf, 2, "ab", 1);
    assert_token(gguf, 3, "<s>", 3);
    assert_token(gguf, 5, "[PAD5]", 5);
    vouch_gguf_close(gguf);
    free(bytes);

    folder_write("chat_template.jinja", "of the file");
    gguf = folder_read("", 3, &bytes, &err); /* the model has no embedding for <s> */
    if (!gguf) fail_msg("%s", err.message);
    assert_text(gguf, "tokenizer.chat_template", "of the file");
    assert_token(gguf, 2, "ab", 1);
    assert_false(vouch_gguf_has(gguf, "tokenizer.ggml.bos_token_id"));
    vouch_gguf_close(gguf);
    free(bytes);
}

/* An answer ends where transformers' generate stops: at eos_token_id of generation_config.json, else of config.json.
 * The token that tokenizer_config.json names ends it, too. */
static void ends_of_answers(void **state)
{
    (void)state;
    static const struct {
        const char *generation, *config, *tokenizer;
        const char *ends; /* for each token: '1' if it ends an answer */
        int32_t eos;
    } cases[] = {
        {"{\"eos_token_id\": [1, 2]}", "{\"eos_token_id\": 0}", "{}", "0110", 1},
        {"{\"eos_token_id\": 2}", "{\"eos_token_id\": [0, 1]}", "{\"eos_token\": \"<s>\"}", "0011", 3},
        {"{\"eos_token_id\": null}", "{\"eos_token_id\": [0, 2]}", "{}", "1010", 0},
        {"{}", "{\"text_config\": {\"eos_token_id\": [2, 1]}}", "{}", "0110", 2},
        {"{\"eos_token_id\": [4, -1, 1.0, 1e300]}", "{}", "{}", "0100", 1},
        {"{\"eos_token_id\": []}", "{\"eos_token_id\": 0}", "{}", "0000", -1},
    };
    folder_clear();
    folder_write("tokenizer.json", JSON("", ""));
    for (size_t i = 0; i < COUNT(cases); i++) {
        folder_write("generation_config.json", cases[i].generation);
        folder_write("config.json", cases[i].config);
        folder_write("tokenizer_config.json", cases[i].tokenizer);
        vouch_tokenizer *tokenizer = folder_open("");
        for (int32_t id = 0; id < 4; id++)
            if (vouch_tokenizer_ends_answer(tokenizer, id) != (cases[i].ends[id] == '1'))
                fail_msg("%s, %s: token %d", cases[i].generation, cases[i].config, id);
        assert_int_equal(vouch_tokenizer_eos(tokenizer), cases[i].eos);
        vouch_tokenizer_close(tokenizer);
    }
    folder_write("generation_config.json", "{\"eos_token_id\": [1, \"2\"]}");
    assert_refused("generation_config.json: eos_token_id is [1,\"2\"]; expected an integer or a list of integers");
    folder_write("generation_config.json", "{\"eos_token_id\": 1.5}");
    assert_refused("generation_config.json: eos_token_id is 1.5; ");
    unlink(folder_path("generation_config.json"));
    folder_write("config.json", "{\"text_config\": {\"eos_token_id\": true}}");
    assert_refused("config.json: text_config.eos_token_id is true; ");
}

/* Gemma 4's merges stay merges, and its config tells it from SentencePiece's models. */
static void gemma4_keys(void **state)
{
    (void)state;
    void *bytes;
    vouch_error err = {0};
    folder_clear();
    folder_write("tokenizer.json", "{\"normalizer\": {\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, "
                                   "\"content\": \"\u2581\"}, \"model\": {\"type\": \"BPE\", \"byte_fallback\": true, "
                                   "\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"<0x00>\": 3}, \"merges\": [[\"a\", "
                                   "\"b\"]]}, \"added_tokens\": ["
                                   "{\"id\": 4, \"content\": \"<|channel>\", \"special\": true}, "
                                   "{\"id\": 5, \"content\": \"<|turn>\", \"special\": true}]}");
    folder_write("config.json", "{\"model_type\": \"gemma4_text\"}");
    vouch_gguf *gguf = folder_read("", 0, &bytes, &err);
    if (!gguf) fail_msg("%s", err.message);
    assert_text(gguf, "tokenizer.ggml.model", "gemma4");
    assert_true(vouch_gguf_has(gguf, "tokenizer.ggml.merges"));
    assert_false(get_bool(gguf, "tokenizer.ggml.add_space_prefix"));
    assert_token(gguf, 3, "<0x00>", 6);
    assert_token(gguf, 4, "<|channel>", 4); /* an answer keeps it */
    assert_token(gguf, 5, "<|turn>", 3);
    vouch_gguf_close(gguf);
    free(bytes);
}

/* A text-only model may be a tokenizer alone, and a session refuses it. */
static void tokenizer_alone(void **state)
{
    (void)state;
    vouch_model *model = NULL;
    vouch_session *session = NULL;
    vouch_error err = {0};
    vouch_model_options options = vouch_model_options_default();
    int32_t tokens[64];
    size_t n = 0;
    golden_write(0);
    options.text_only = true;
    if (vouch_model_open(&model, folder_path(""), &options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    assert_string_equal(vouch_model_get_info(model)->tokenizer, "bpe/gpt-2");
    assert_int_equal(vouch_tokenize(model, hf_texts[0].text, hf_texts[0].n, 0, tokens, 64, &n, &err), VOUCH_OK);
    assert_memory_equal(tokens, hf_golden[0].ids, n * sizeof *tokens);
    assert_int_equal(vouch_session_open(&session, model, NULL, &err), VOUCH_E_ARGUMENT);
    vouch_model_close(model);
    folder_clear();
    assert_int_equal(vouch_model_open(&model, folder_path(""), &options, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "expected tokenizer.json"));
}

/* GPT-2's own files: vocab.json, merges.txt, added_tokens.json. */
static void vocab_and_merges(void **state)
{
    (void)state;
    folder_clear();
    folder_write("vocab.json", "{\"a\": 0, \"b\": 1, \"ab\": 2, \"\u0120\": 3}");
    folder_write("merges.txt", "#version: 0.2\na b\n");
    folder_write("added_tokens.json", "{\"<x>\": 4}");
    vouch_tokenizer *tokenizer = folder_open("");
    const ids got = encode(tokenizer, "ab a<x>", 7, 0);
    assert_ids("vocab.json", got, (const int32_t[]){2, 3, 0, 4}, 4);
    free(got.at);
    vouch_tokenizer_close(tokenizer);
    folder_write("tokenizer_config.json", "{\"tokenizer_class\": \"Qwen2Tokenizer\", \"added_tokens_decoder\": "
                                          "{\"4\": {\"content\": \"<y>\", \"rstrip\": true}}}");
    tokenizer = folder_open("");
    const ids stripped = encode(tokenizer, "b<y> \na", 7, 0);
    assert_ids("added_tokens_decoder", stripped, (const int32_t[]){1, 4, 0}, 3);
    free(stripped.at);
    vouch_tokenizer_close(tokenizer);
    folder_write("tokenizer_config.json", "{\"tokenizer_class\": \"BertTokenizer\"}");
    assert_refused("tokenizer_class is \"BertTokenizer\"");
    unlink(folder_path("merges.txt"));
    assert_refused("needs merges.txt");
}

/* A folder without a tokenizer adds no key. */
static void no_tokenizer(void **state)
{
    (void)state;
    void *bytes;
    vouch_error err = {0};
    folder_clear();
    folder_write("config.json", "{}");
    vouch_gguf *gguf = folder_read("", 0, &bytes, &err);
    assert_non_null(gguf);
    assert_int_equal(vouch_gguf_n_kv(gguf), 0);
    vouch_gguf_close(gguf);
    free(bytes);
}

/* ----------------------------------------------------------------------- refusals */

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *json, *expected;
    } cases[] = {
        {"[]", "expected a JSON object"},
        {"{\"model\": ", "line 1"},
        {JSON("\"normalizer\": {\"type\": \"Lowercase\"},", ""), "normalizer has the step {\"type\":\"Lowercase\"}"},
        {JSON("", ", \"end_of_word_suffix\": \"</w>\""), "model.end_of_word_suffix is \"</w>\""},
        {JSON("", ", \"vocab\": {\"a\": 0, \"b\": 0}"), "two tokens have the id 0"},
        {JSON("", ", \"vocab\": {\"a\": -1}"), "token \"a\" has the id -1"},
        {JSON("", ", \"vocab\": {\"a\": 99999999999}"), "needs 100000000000 ids"},
        {JSON("", ", \"vocab\": {\"a\": \"0\"}"), "token \"a\" has the id -1"},
        {JSON("", ", \"merges\": [\"ab\"]"), "merge 0: expected two texts"},
        {JSON("", ", \"merges\": [[\"a\", \"b c\"]]"), "merge 0: expected two texts"},
        {JSON("", ", \"type\": \"WordPiece\""), "model.type is WordPiece"},
        {"{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\": "
         "{\"Regex\": \"x+\"}, \"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
         "\"use_regex\": false}]}}",
         "has the patterns x+"},
        {"{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}}", "\"add_prefix_space\":true"},
        {"{\"pre_tokenizer\": {\"type\": \"Metaspace\", \"split\": false}, \"model\": {\"type\": \"BPE\", \"vocab\": "
         "{\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": []}}",
         "its merges don't come from SentencePiece's scores"},
        {"{\"pre_tokenizer\": {\"type\": \"Metaspace\"}, \"model\": {\"type\": \"Unigram\", \"vocab\": [[\"a\", "
         "1e999]]}}",
         "line 1"},
        {"{\"pre_tokenizer\": {\"type\": \"Metaspace\"}, \"model\": {\"type\": \"Unigram\", \"vocab\": [[\"a\"]]}}",
         "model.vocab[0]"},
        {"{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}}",
         "neither normalizer nor pre_tokenizer says"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        folder_clear();
        folder_write("tokenizer.json", cases[i].json);
        assert_refused(cases[i].expected);
    }
    folder_clear();
    folder_write("tokenizer.model", "\x0a\xff\xff\xff\xff\x0f");
    assert_refused("damaged at byte 0");
    write_whole(folder_path("tokenizer.model"), "\x12\x00", 2);
    assert_refused("it has no pieces");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_ids),      cmocka_unit_test(folder_keys),     cmocka_unit_test(gemma4_keys),
        cmocka_unit_test(ends_of_answers), cmocka_unit_test(tokenizer_alone), cmocka_unit_test(vocab_and_merges),
        cmocka_unit_test(no_tokenizer),    cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
