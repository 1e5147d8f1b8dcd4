/* SPDX-License-Identifier: MIT */
/*
 * Tokens to text. The stream shows only whole characters and finds stop texts, however tokens divide them, and replaces
 * malformed bytes. test_memory.c checks that it allocates nothing.
 */
#include <string.h>

#include "support/model/tokenizers.h"
#include "text/unicode.h"

/* ------------------------------------------------------------------- helpers */

/* A vocabulary with a token for every substring text[i..j); its id is piece_id(n, i, j). */
static vouch_tokenizer *pieces_open(const char *text, size_t n)
{
    vouch_gguf_writer *writer = writer_open();
    static char letters[4096];
    vouch_text tokens[512];
    size_t n_tokens = 0, used = 0;
    vouch_tokenizer *tokenizer;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j <= n; j++) {
            const size_t start = used;
            for (size_t k = i; k < j; k++) used += (size_t)tiny_vocab_letter((unsigned char)text[k], letters + used);
            tokens[n_tokens++] = (vouch_text){letters + start, used - start};
            assert_true(used + 2 * n < sizeof letters && n_tokens < 512);
        }
    vouch_gguf_add_text(writer, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(writer, "tokenizer.ggml.pre", "gpt-2");
    vouch_gguf_add_texts(writer, "tokenizer.ggml.tokens", tokens, n_tokens);
    vouch_gguf_add_texts(writer, "tokenizer.ggml.merges", tokens, 0);
    assert_int_equal(tokenizer_finish(writer, &tokenizer, NULL), VOUCH_OK);
    return tokenizer;
}

static int32_t piece_id(size_t n, size_t i, size_t j)
{
    size_t id = 0;
    for (size_t k = 0; k < i; k++) id += n - k;
    return (int32_t)(id + j - i - 1);
}

static vouch_stream *stream_open(const vouch_tokenizer *tokenizer, const char *const *stop, size_t n_stop,
                                 size_t tokens)
{
    vouch_stream *stream = NULL;
    vouch_error err = {0};
    if (vouch_stream_open(&stream, tokenizer, stop, n_stop, tokens, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return stream;
}

typedef struct collected {
    char text[4096];
    size_t n;
} collected;

static void collect(collected *all, vouch_stream *stream)
{
    const vouch_text ready = vouch_stream_take(stream);
    assert_true(all->n + ready.size < sizeof all->text);
    if (ready.size) memcpy(all->text + all->n, ready.data, ready.size);
    all->n += ready.size;
    all->text[all->n] = 0;
    assert_int_equal(vouch_utf8_valid_prefix(all->text, all->n), all->n);
    assert_int_equal(vouch_stream_take(stream).size, 0);
}

static bool push_bytes(vouch_stream *stream, const char *bytes, size_t n, collected *all)
{
    bool stopped = false;
    for (size_t i = 0; i < n && !stopped; i++) {
        stopped = vouch_stream_push(stream, TINY_BYTES + (unsigned char)bytes[i]);
        collect(all, stream);
    }
    return stopped;
}

/* ---------------------------------------------------------------- characters */

/* Divides the text into tokens in every way. After each token the stream must have shown exactly the whole
 * characters. */
static void check_divisions(const char *text)
{
    const size_t n = strlen(text);
    vouch_tokenizer *tokenizer = pieces_open(text, n);
    vouch_stream *stream = stream_open(tokenizer, NULL, 0, 1);
    for (size_t cuts = 0; cuts < (size_t)1 << (n - 1); cuts++) {
        collected all = {{0}, 0};
        vouch_stream_reset(stream, -1);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i + 1; j < n && !(cuts >> (j - 1) & 1); j++) continue;
            assert_false(vouch_stream_push(stream, piece_id(n, i, j)));
            collect(&all, stream);
            assert_int_equal(all.n, vouch_utf8_valid_prefix(text, j));
        }
        vouch_stream_finish(stream);
        collect(&all, stream);
        assert_string_equal(all.text, text);
    }
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

static void every_division_of_characters(void **state)
{
    (void)state;
    check_divisions("a\xc3\xa9z");
    check_divisions("\xe4\xbd\xa0\xc3\xa9\xf0\x9f\x98\x80");
    check_divisions("\xe2\x80\xa8x\xe2\x80\xa9\xf0\x9f\x98\x80"); /* U+2028, U+2029 */
    /* Emoji of several code points: man, joiner, laptop (11 bytes); face in clouds (14 bytes). */
    check_divisions("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x92\xbb");
    check_divisions("\xf0\x9f\x98\xb6\xe2\x80\x8d\xf0\x9f\x8c\xab\xef\xb8\x8f");
}

static void malformed_bytes(void **state)
{
    (void)state;
#define R "\xef\xbf\xbd"
    static const char *const cases[][2] = {
        {"a\x80"
         "b",
         "a" R "b"},
        {"\xc0\x80", R R},
        {"\xe0\x80\x80", R R R},
        {"\xe0\xa0z", R "z"},
        {"\xed\xa0\x80", R R R},
        {"\xf0\x80\x80\x80", R R R R},
        {"\xf0\x9f\x98z", R "z"},
        {"\xf4\x90\x80\x80", R R R R},
        {"\xf5\xff\xfe", R R R},
        {"\xc3\xc3\xa9", R "\xc3\xa9"},
        {"\xe4\xbd\xf0\x9f\x98\x80", R "\xf0\x9f\x98\x80"},
        {"\xf0\x9f\xf0\x9f\x98\x80", R "\xf0\x9f\x98\x80"},
        {"x\xf0\x9f\x98", "x" R}, /* an unfinished character at the end gives one U+FFFD */
        {"x\xc3", "x" R},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
         "A",
         R R R R "A"}, /* the example of table 3-11 in Unicode 15 */
        {"", ""},
    };
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    vouch_stream *stream = stream_open(tokenizer, NULL, 0, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collected all = {{0}, 0};
        vouch_stream_reset(stream, -1);
        push_bytes(stream, cases[i][0], strlen(cases[i][0]), &all);
        vouch_stream_finish(stream);
        collect(&all, stream);
        assert_string_equal(all.text, cases[i][1]);
    }
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

static void specials_are_silent(void **state)
{
    (void)state;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    vouch_stream *stream = stream_open(tokenizer, NULL, 0, 4);
    static const int32_t tokens[] = {TINY_IM_START, TINY_BYTES + 'a',  TINY_IM_END,    TINY_PAD,          -1,
                                     INT32_MAX,     TINY_BYTES + 0xc3, TINY_ENDOFTEXT, TINY_BYTES + 0xa9, TINY_THINK};
    collected all = {{0}, 0};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        assert_false(vouch_stream_push(stream, tokens[i]));
        collect(&all, stream);
    }
    assert_string_equal(all.text, "a\xc3\xa9<think>"); /* a user-defined token shows as text, a control token doesn't */
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* Unused tokens, which only pad a model's matrix, have names in the file but no text. */
static void unused_tokens_are_silent(void **state)
{
    (void)state;
    const vouch_text tokens[] = {{"a", 1}, {"[PAD1]", 6}, {"b", 1}};
    const int32_t kinds[] = {1, 5, 1};
    vouch_gguf_writer *w = writer_open();
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(w, "tokenizer.ggml.pre", "qwen2");
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, 3);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, kinds, 3);
    vouch_gguf_add_texts(w, "tokenizer.ggml.merges", tokens, 0);
    assert_int_equal(tokenizer_finish(w, &tokenizer, &err), VOUCH_OK);
    vouch_stream *stream = stream_open(tokenizer, NULL, 0, 3);
    collected all = {{0}, 0};
    for (int32_t id = 0; id < 3; id++) assert_false(vouch_stream_push(stream, id));
    vouch_stream_finish(stream);
    collect(&all, stream);
    assert_string_equal(all.text, "ab");
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* ---------------------------------------------------------------- stop texts */

static void stop_in_every_division(void **state)
{
    (void)state;
    const char *text = "one \xe4\xbd\xa0 END"; /* 11 bytes */
    const size_t n = strlen(text);
    static const char *const stops[] = {"\xe4\xbd\xa0 E", "NEVER"};
    vouch_tokenizer *tokenizer = pieces_open(text, n);
    vouch_stream *stream = stream_open(tokenizer, stops, 2, 16);
    for (size_t cuts = 0; cuts < (size_t)1 << (n - 1); cuts++) {
        collected all = {{0}, 0};
        bool stopped = false;
        vouch_stream_reset(stream, -1);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i + 1; j < n && !(cuts >> (j - 1) & 1); j++) continue;
            const bool now = vouch_stream_push(stream, piece_id(n, i, j));
            assert_int_equal(now, !stopped && j >= 9); /* the stop text is complete at byte 9; push says so once */
            stopped = stopped || now;
            if (cuts & 1) collect(&all, stream); /* takes the text after each token, or only at the end */
        }
        vouch_stream_finish(stream);
        collect(&all, stream);
        assert_string_equal(all.text, "one ");
    }
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* By definition, on the whole text: where the first complete stop text begins. If several end at the same byte, the
 * longest counts. */
static size_t cut_plainly(const char *text, size_t n, const char *const *stop, size_t n_stop, bool *found)
{
    for (size_t end = 1; end <= n; end++) {
        size_t longest = 0;
        for (size_t s = 0; s < n_stop; s++) {
            const size_t length = strlen(stop[s]);
            if (length <= end && length > longest && memcmp(text + end - length, stop[s], length) == 0)
                longest = length;
        }
        if (longest > 0) {
            *found = true;
            return end - longest;
        }
    }
    *found = false;
    return n;
}

/* The length of the longest suffix of text [n] that begins a stop text. */
static size_t held_plainly(const char *text, size_t n, const char *const *stop, size_t n_stop)
{
    size_t held = 0;
    for (size_t s = 0; s < n_stop; s++)
        for (size_t length = 1; length < strlen(stop[s]) && length <= n; length++)
            if (length > held && memcmp(text + n - length, stop[s], length) == 0) held = length;
    return held;
}

static void stops_as_defined(void **state)
{
    (void)state;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    test_random random = {23};
    int found_some = 0;
    for (int round = 0; round < 4000; round++) {
        char stops[4][8], text[64];
        const char *list[4];
        const size_t n_stop = test_below(&random, 5), n = test_below(&random, 60);
        for (size_t s = 0; s < n_stop; s++) {
            const size_t length = 1 + test_below(&random, 7);
            for (size_t i = 0; i < length; i++) stops[s][i] = "ab"[test_below(&random, 2)];
            stops[s][length] = 0;
            list[s] = stops[s];
        }
        for (size_t i = 0; i < n; i++) text[i] = "aabc"[test_below(&random, 4)];
        bool found, stopped = false;
        const size_t cut = cut_plainly(text, n, list, n_stop, &found);
        vouch_stream *stream = stream_open(tokenizer, list, n_stop, 1);
        collected all = {{0}, 0};
        for (size_t i = 0; i < n && !stopped; i++) {
            stopped = push_bytes(stream, text + i, 1, &all);
            if (!stopped) assert_int_equal(all.n, i + 1 - held_plainly(text, i + 1, list, n_stop));
        }
        vouch_stream_finish(stream);
        collect(&all, stream);
        assert_int_equal(stopped, found);
        assert_int_equal(all.n, cut);
        assert_memory_equal(all.text, text, cut);
        assert_false(vouch_stream_push(stream, TINY_BYTES + 'a')); /* tokens after the stop text are ignored */
        collect(&all, stream);
        assert_int_equal(all.n, cut);
        found_some += found;
        vouch_stream_close(stream);
    }
    assert_true(found_some > 500 && found_some < 3500);
    vouch_tokenizer_close(tokenizer);
}

static void stops_and_replacement(void **state)
{
    (void)state;
    /* Stop texts are compared with the shown text, so a stop text can contain U+FFFD. */
    static const char *const stops[] = {R "!"};
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    vouch_stream *stream = stream_open(tokenizer, stops, 1, 1);
    collected all = {{0}, 0};
    assert_true(push_bytes(stream, "ok\xff!", 4, &all));
    assert_string_equal(all.text, "ok");
    vouch_stream_reset(stream, -1);
    all = (collected){{0}, 0};
    assert_false(push_bytes(stream, "ok\xff", 3, &all));
    assert_string_equal(all.text, "ok");
    vouch_stream_finish(stream);
    collect(&all, stream);
    assert_string_equal(all.text, "ok" R);
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* ----------------------------------------------------------------- arguments */

static void bad_arguments(void **state)
{
    (void)state;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    vouch_stream *stream = NULL;
    vouch_error err = {0};
    static const char *const empty[] = {"a", ""}, *const null[] = {NULL}, *const broken[] = {"\xa9 half"};
    assert_int_equal(vouch_stream_open(&stream, tokenizer, empty, 2, 1, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "stop text 1 is empty"));
    assert_int_equal(vouch_stream_open(&stream, tokenizer, null, 1, 1, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_stream_open(&stream, tokenizer, NULL, 1, 1, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_stream_open(&stream, tokenizer, broken, 1, 1, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_stream_open(&stream, tokenizer, NULL, 0, 0, &err), VOUCH_E_ARGUMENT);
    assert_int_equal(vouch_stream_open(&stream, tokenizer, NULL, 0, SIZE_MAX, &err), VOUCH_E_MEMORY);
    assert_null(stream);
    vouch_stream_close(NULL);

    stream = stream_open(NULL, empty, 1, 8); /* without a tokenizer the stream shows nothing */
    assert_false(vouch_stream_push(stream, 3));
    vouch_stream_finish(stream);
    assert_int_equal(vouch_stream_take(stream).size, 0);
    assert_true(vouch_stream_memory(stream) > 0);
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

/* The buffer holds as many of the longest tokens as it was opened for, even if every byte becomes a U+FFFD. */
static void full_buffer(void **state)
{
    (void)state;
    enum { N = 14, TOKENS = 9 };
    char text[N + 1];
    memset(text, '\xff', N);
    text[N] = 0;
    static const char *const stops[] = {R R R R R "x"};
    vouch_tokenizer *tokenizer = pieces_open(text, N);
    vouch_stream *stream = stream_open(tokenizer, stops, 1, TOKENS);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < TOKENS; i++) assert_false(vouch_stream_push(stream, piece_id(N, 0, N)));
        /* The stream holds back 5 characters that could begin the stop text; the next take shows them. */
        assert_int_equal(vouch_stream_take(stream).size, 3 * (N * TOKENS - (round == 0 ? 5 : 0)));
    }
    vouch_stream_close(stream);
    vouch_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_division_of_characters),
        cmocka_unit_test(malformed_bytes),
        cmocka_unit_test(specials_are_silent),
        cmocka_unit_test(unused_tokens_are_silent),
        cmocka_unit_test(stop_in_every_division),
        cmocka_unit_test(stops_as_defined),
        cmocka_unit_test(stops_and_replacement),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(full_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
