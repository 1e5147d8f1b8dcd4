/* SPDX-License-Identifier: MIT */
#include "support/model/tokenizers.h"

#include <stdlib.h>
#include <string.h>

const char *const pres[N_PRES] = {"smollm", "gpt-2", "llama-bpe", "qwen2"};

vouch_status tokenizer_finish(vouch_gguf_writer *writer, vouch_tokenizer **out, vouch_error *err)
{
    size_t size;
    void *bytes = writer_finish(writer, &size);
    vouch_gguf *gguf = open_bytes(bytes, size);
    const vouch_status status = vouch_tokenizer_open(out, gguf, NULL, err);
    vouch_gguf_close(gguf);
    free(bytes);
    return status;
}

vouch_tokenizer *tiny_tokenizer(const char *pre, int32_t n_vocab)
{
    vouch_gguf_writer *writer = writer_open();
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    tiny_vocab_add_pre(writer, n_vocab, 7, pre);
    if (tokenizer_finish(writer, &tokenizer, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return tokenizer;
}

vouch_tokenizer *templated_tokenizer(const char *chat_template)
{
    vouch_gguf_writer *w = writer_open();
    tiny_vocab_add_pre(w, TINY_SIZE, 7, "qwen2");
    size_t size;
    void *bytes = writer_finish(w, &size);
    vouch_gguf *gguf = open_bytes(bytes, size);
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    if (vouch_tokenizer_open(&tokenizer, gguf, chat_template, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_close(gguf);
    free(bytes);
    return tokenizer;
}

vouch_tokenizer *file_tokenizer(const char *path)
{
    vouch_gguf *gguf = NULL;
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    if (vouch_gguf_open(&gguf, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
    if (vouch_tokenizer_open(&tokenizer, gguf, NULL, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_close(gguf);
    return tokenizer;
}

ids encode(const vouch_tokenizer *tokenizer, const char *text, size_t n, unsigned flags)
{
    vouch_error err = {0};
    ids list = {NULL, 0};
    size_t again = 0;
    const vouch_status asked = vouch_tokenizer_encode(tokenizer, text, n, flags, NULL, 0, &list.n, &err);
    assert_int_equal(asked, list.n ? VOUCH_E_BUFFER : VOUCH_OK);
    list.at = calloc(list.n + 1, sizeof *list.at);
    assert_non_null(list.at);
    assert_int_equal(vouch_tokenizer_encode(tokenizer, text, n, flags, list.at, list.n, &again, &err), VOUCH_OK);
    assert_int_equal(again, list.n);
    return list;
}

ids encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages, size_t n)
{
    vouch_error err = {0};
    ids list = {NULL, 0};
    size_t again = 0;
    assert_int_equal(vouch_tokenizer_encode_chat(tokenizer, messages, n, NULL, 0, &list.n, &err), VOUCH_E_BUFFER);
    list.at = calloc(list.n + 1, sizeof *list.at);
    assert_non_null(list.at);
    assert_int_equal(vouch_tokenizer_encode_chat(tokenizer, messages, n, list.at, list.n, &again, &err), VOUCH_OK);
    assert_int_equal(again, list.n);
    return list;
}

char *decode(const vouch_tokenizer *tokenizer, ids list, size_t *n)
{
    char *text = NULL;
    *n = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t used = 0;
        for (size_t i = 0; i < list.n; i++) {
            const vouch_text bytes = vouch_tokenizer_bytes(tokenizer, list.at[i]);
            if (text) memcpy(text + used, bytes.data, bytes.size);
            used += bytes.size;
        }
        *n = used;
        if (!text) text = malloc(used + 1);
        assert_non_null(text);
    }
    text[*n] = 0;
    return text;
}

void assert_ids(const char *what, ids got, const int32_t *expected, size_t n)
{
    bool same = got.n == n;
    for (size_t i = 0; same && i < n; i++) same = got.at[i] == expected[i];
    if (same) return;
    print_error("%s\n  expected", what);
    for (size_t i = 0; i < n; i++) print_error(" %d", expected[i]);
    print_error("\n  got     ");
    for (size_t i = 0; i < got.n; i++) print_error(" %d", got.at[i]);
    print_error("\n");
    fail();
}

void assert_same_ids(const char *what, ids got, ids expected)
{
    assert_ids(what, got, expected.at, expected.n);
}

void assert_round_trip(const vouch_tokenizer *tokenizer, const char *text, size_t n)
{
    ids list = encode(tokenizer, text, n, 0);
    size_t n_back;
    char *back = decode(tokenizer, list, &n_back);
    assert_int_equal(n_back, n);
    if (n) assert_memory_equal(back, text, n);
    free(back);
    free(list.at);
}

void assert_shown(const vouch_tokenizer *tokenizer, const char *text, size_t n)
{
    ids tokens = encode(tokenizer, text, n, 0);
    vouch_stream *stream = NULL;
    size_t shown = 0;
    assert_int_equal(vouch_stream_open(&stream, tokenizer, NULL, 0, 1, NULL), VOUCH_OK);
    for (size_t i = 0; i <= tokens.n; i++) {
        if (i == tokens.n) vouch_stream_finish(stream);
        else assert_false(vouch_stream_push(stream, tokens.at[i]));
        const vouch_text part = vouch_stream_take(stream);
        if (shown + part.size > n || (part.size > 0 && memcmp(text + shown, part.data, part.size) != 0))
            fail_msg("\"%.60s\" is shown as \"%.*s\" from byte %zu on", text, (int)part.size, part.data, shown);
        shown += part.size;
    }
    assert_int_equal(shown, n);
    vouch_stream_close(stream);
    free(tokens.at);
}
