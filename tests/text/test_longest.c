/* SPDX-License-Identifier: MIT */
/*
 * RWKV's tokenizer: the escapes of its token texts, the longest token at each position of any bytes, against the
 * definition that tries every length, and vocabularies that are refused. On the vocabulary of RWKV's models its tokens
 * are those of llama.cpp b11434 (docs/tokenizers.md).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tokenizers.h"
#include "text/internal.h"

#define TEXT(s) {s, sizeof(s) - 1}

/* Ids: 0 <s>, then the bytes 0x00 to 0xff, then the words, as Python's repr() writes bytes. */
enum { FIRST_BYTE = 1, FIRST_WORD = FIRST_BYTE + 256 };
static const vouch_text words[] = {
    TEXT("\\n\\n"),
    TEXT("it\\'s"),
    TEXT("th"),
    TEXT("there"),
    TEXT(" the"),
    TEXT("\\\\x"),
    TEXT("\\t\\r"),
    TEXT("\\xe4\\xbd"),
    TEXT("\\xe4\\xbd\\xa0"),
    TEXT("\xc3\xa9t\xc3\xa9"),
    TEXT("<s"),
    TEXT("aa"),
    TEXT("\\xFF\\xfe\\q"),
    TEXT("aaaa"),
    TEXT("<|u|>"),
};
enum { N_WORDS = sizeof words / sizeof *words, N_TOKENS = FIRST_WORD + N_WORDS, USER_DEFINED = N_TOKENS - 1 };

/* `last` takes the place of the last word, which is user-defined; `lacking`: this byte has no token, -1: all have. */
static vouch_status open_words(vouch_text last, int lacking, vouch_tokenizer **out, vouch_error *err)
{
    static char names[256][8];
    static const vouch_text none = TEXT("[PAD]");
    vouch_text tokens[N_TOKENS] = {TEXT("<s>")};
    int32_t kinds[N_TOKENS] = {TOKEN_CONTROL};
    for (int byte = 0; byte < 256; byte++) {
        const int n = snprintf(names[byte], sizeof names[byte], "\\x%02x", (unsigned)byte & 0xff);
        tokens[FIRST_BYTE + byte] = byte == lacking ? none : (vouch_text){names[byte], (size_t)n};
    }
    for (int i = 0; i < N_WORDS; i++) tokens[FIRST_WORD + i] = words[i];
    for (int i = 1; i < N_TOKENS; i++) kinds[i] = TOKEN_NORMAL;
    if (last.size > 0) tokens[USER_DEFINED] = last;
    else kinds[USER_DEFINED] = TOKEN_USER_DEFINED;
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "rwkv");
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, N_TOKENS);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, kinds, N_TOKENS);
    vouch_gguf_add_u32(w, "tokenizer.ggml.bos_token_id", 0);
    vouch_gguf_add_u32(w, "tokenizer.ggml.eos_token_id", 0);
    vouch_gguf_add_u32(w, "tokenizer.ggml.eot_token_id", FIRST_WORD);
    vouch_gguf_add_text(w, "tokenizer.chat_template", "rwkv-world");
    return tokenizer_finish(w, out, err);
}

static vouch_tokenizer *words_open(void)
{
    vouch_tokenizer *t = NULL;
    vouch_error err = {0};
    if (open_words((vouch_text){"", 0}, -1, &t, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return t;
}

static void escapes_are_bytes(void **state)
{
    (void)state;
    static const vouch_text expected[N_WORDS] = {
        TEXT("\n\n"), TEXT("it's"), TEXT("th"),        TEXT("there"),        TEXT(" the"),
        TEXT("\\x"),  TEXT("\t\r"), TEXT("\xe4\xbd"),  TEXT("\xe4\xbd\xa0"), TEXT("\xc3\xa9t\xc3\xa9"),
        TEXT("<s"),   TEXT("aa"),   TEXT("\xff\xfeq"), TEXT("aaaa"),         TEXT("<|u|>"),
    };
    vouch_tokenizer *t = words_open();
    assert_string_equal(vouch_tokenizer_name(t), "rwkv");
    for (int i = 0; i < 256; i++) {
        const vouch_text got = vouch_tokenizer_bytes(t, FIRST_BYTE + i);
        assert_int_equal(got.size, 1);
        assert_int_equal((unsigned char)got.data[0], i);
    }
    for (int i = 0; i < N_WORDS; i++) {
        const vouch_text got = vouch_tokenizer_bytes(t, FIRST_WORD + i);
        assert_int_equal(got.size, expected[i].size);
        assert_memory_equal(got.data, expected[i].data, got.size);
    }
    assert_true(t->ends[0] && t->ends[FIRST_WORD]);
    assert_false(t->add_bos);
    vouch_tokenizer_close(t);
}

static void expect(const vouch_tokenizer *t, const char *text, const int32_t *ids_of_text, size_t n)
{
    ids got = encode(t, text, strlen(text), 0);
    assert_ids(text, got, ids_of_text, n);
    free(got.at);
}

static void longest_tokens_come_first(void **state)
{
    (void)state;
    enum { W = FIRST_WORD, B = FIRST_BYTE };
    vouch_tokenizer *t = words_open();
    expect(t, "theretherth", (int32_t[]){W + 3, W + 2, B + 'e', B + 'r', W + 2}, 5); /* "ther" is no token */
    expect(t, " there", (int32_t[]){W + 4, B + 'r', B + 'e'}, 3);
    expect(t, "aaaaaaa", (int32_t[]){W + 13, W + 11, B + 'a'}, 3);
    expect(t, "\n\n\n", (int32_t[]){W, B + '\n'}, 2);
    expect(t, "\xe4\xbd\xa0\xe4\xbd\xa1", (int32_t[]){W + 8, W + 7, B + 0xa1}, 3); /* half a character is a token */
    expect(t, "\xff\xfeq\xff", (int32_t[]){W + 12, B + 0xff}, 2);                  /* no UTF-8 */
    expect(t, "<s>", (int32_t[]){W + 10, B + '>'}, 2);
    ids got = encode(t, "<s>a", 4, VOUCH_TOKENIZE_SPECIAL);
    assert_ids("special", got, (int32_t[]){0, B + 'a'}, 2);
    free(got.at);
    vouch_tokenizer_close(t);
}

static void any_bytes_become_the_longest_tokens(void **state)
{
    (void)state;
    static const char alphabet[] = "aether it's\n\n\t\r\\x<s|u>\xe4\xbd\xa0\xc3\xa9\xff\xfeq";
    test_random random = {5};
    vouch_tokenizer *t = words_open();
    for (int i = 0; i < 500; i++) {
        char text[64];
        const size_t n = test_below(&random, 60);
        for (size_t j = 0; j < n; j++)
            text[j] = i % 5 ? alphabet[test_below(&random, sizeof alphabet - 1)] : (char)test_below(&random, 256);
        ids got = encode(t, text, n, 0);
        size_t at = 0;
        for (size_t j = 0; j < got.n; j++) {
            size_t length = n - at;
            while (vouch_vocab_find(t, text + at, length) < 0) length--;
            assert_int_equal(got.at[j], vouch_vocab_find(t, text + at, length));
            at += length;
        }
        assert_int_equal(at, n);
        assert_round_trip(t, text, n);
        free(got.at);
    }
    assert_shown(t, "\xe4\xbd\xa0\xe4\xbd\xa1 there", 12);
    vouch_tokenizer_close(t);
}

/* Text would be lost. */
static void a_byte_without_a_token_is_refused(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte += 5) {
        vouch_tokenizer *t = NULL;
        vouch_error err = {0};
        char says[40];
        snprintf(says, sizeof says, "no token for the byte 0x%02x", (unsigned)byte);
        assert_int_equal(open_words((vouch_text){"", 0}, byte, &t, &err), VOUCH_E_FORMAT);
        assert_null(t);
        assert_non_null(strstr(err.message, says));
    }
}

static void broken_escapes_are_refused(void **state)
{
    (void)state;
    static const vouch_text broken[] = {TEXT("a\\"),   TEXT("\\x"),   TEXT("\\x4"),
                                        TEXT("\\xg0"), TEXT("\\x0g"), TEXT("\\\\\\")};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        vouch_tokenizer *t = NULL;
        vouch_error err = {0};
        assert_int_equal(open_words(broken[i], -1, &t, &err), VOUCH_E_FORMAT);
        assert_null(t);
        assert_non_null(strstr(err.message, "tokenizer.ggml.tokens[271]"));
        assert_non_null(strstr(err.message, "two hexadecimal digits"));
    }
}

/* In old files of RWKV, the key of the chat template has a template's name instead of its text. */
static void a_file_may_name_its_template(void **state)
{
    (void)state;
    static const char talk[] = "[{\"role\": \"user\", \"content\": \"a\"}]";
    vouch_tokenizer *t = words_open();
    vouch_error err = {0};
    char text[64];
    size_t n = 0;
    assert_string_equal(vouch_tokenizer_chat_template(t), "jinja");
    assert_int_equal(vouch_tokenizer_render_json(t, talk, strlen(talk), text, sizeof text, &n, &err), VOUCH_OK);
    assert_int_equal(n, strlen("<s>User: a\n\nAssistant:"));
    assert_memory_equal(text, "<s>User: a\n\nAssistant:", n);
    vouch_tokenizer_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_bytes),
        cmocka_unit_test(longest_tokens_come_first),
        cmocka_unit_test(any_bytes_become_the_longest_tokens),
        cmocka_unit_test(a_byte_without_a_token_is_refused),
        cmocka_unit_test(broken_escapes_are_refused),
        cmocka_unit_test(a_file_may_name_its_template),
    };
    return cmocka_run_group_tests_name("longest", tests, NULL, NULL);
}
