/* SPDX-License-Identifier: MIT */
/*
 * Tokenizers that come from SentencePiece: scores, unigram, Gemma 4's merges. References: the quadratic definition of
 * each algorithm, llama2.c's encoder on its own vocabulary (tok512.bin), and vectors of llama.cpp (test_tokenizer.c).
 * Then the rules of spaces, of names that end an answer, and hostile files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tokenizers.h"
#include "text/internal.h"
#include "text/unicode.h"

#define TEXT(s) {s, sizeof(s) - 1}
#define SPACE_MARK "\xe2\x96\x81"

/* A vocabulary as a test writes it. Ids: 0 <unk>, 1 <s>, 2 </s>, then the bytes <0x00> to <0xFF>, then `tokens`. */
enum { FIRST_BYTE = 3, FIRST_TOKEN = FIRST_BYTE + 256, MOST_TOKENS = 600 };

typedef struct vocab {
    const char *model;
    vouch_text tokens[MOST_TOKENS];
    float scores[MOST_TOKENS];
    int32_t kinds[MOST_TOKENS];
    int32_t n;
    const vouch_text *merges;
    size_t n_merges;
    const char *name;
    bool no_prefix, remove_spaces, no_bytes;
    const unsigned char *charsmap;
    size_t n_charsmap;
} vocab;

static void vocab_add(vocab *v, const char *text, float score, int32_t kind)
{
    assert_true(v->n < MOST_TOKENS);
    v->tokens[v->n] = (vouch_text){text, strlen(text)};
    v->scores[v->n] = score;
    v->kinds[v->n++] = kind;
}

static vocab *vocab_new(const char *model, bool with_bytes)
{
    static char names[256][8];
    vocab *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->model = model;
    vocab_add(v, "<unk>", 0, TOKEN_UNKNOWN);
    vocab_add(v, "<s>", 0, TOKEN_CONTROL);
    vocab_add(v, "</s>", 0, TOKEN_CONTROL);
    for (int byte = 0; byte < 256; byte++) {
        snprintf(names[byte], sizeof names[byte], "<0x%02X>", (unsigned)byte & 0xff);
        if (with_bytes) vocab_add(v, names[byte], 0, TOKEN_BYTE);
    }
    return v;
}

static vouch_status vocab_open(const vocab *v, vouch_tokenizer **out, vouch_error *err)
{
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "tokenizer.ggml.model", v->model);
    if (v->name) vouch_gguf_add_text(w, "general.name", v->name);
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", v->tokens, (size_t)v->n);
    vouch_gguf_add_array(w, "tokenizer.ggml.scores", VOUCH_GGUF_F32, v->scores, (size_t)v->n);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, v->kinds, (size_t)v->n);
    if (v->merges) vouch_gguf_add_texts(w, "tokenizer.ggml.merges", v->merges, v->n_merges);
    if (v->no_prefix) vouch_gguf_add_bool(w, "tokenizer.ggml.add_space_prefix", false);
    if (v->remove_spaces) vouch_gguf_add_bool(w, "tokenizer.ggml.remove_extra_whitespaces", true);
    if (v->charsmap)
        vouch_gguf_add_array(w, "tokenizer.ggml.precompiled_charsmap", VOUCH_GGUF_U8, v->charsmap, v->n_charsmap);
    return tokenizer_finish(w, out, err);
}

static vouch_tokenizer *vocab_finish(vocab *v)
{
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    if (vocab_open(v, &tokenizer, &err) != VOUCH_OK) fail_msg("%s", err.message);
    free(v);
    return tokenizer;
}

/* Letters, U+2581, two wide characters, and random joins of earlier tokens; scores from few values, so many tie. */
static vouch_tokenizer *random_vocab(const char *model, test_random *random)
{
    static char joined[MOST_TOKENS][32];
    static const char *const letters[] = {"a", "b", "c", SPACE_MARK, "\xc3\xa9", "\xe4\xbd\xa0"};
    vocab *v = vocab_new(model, true);
    const int32_t first = v->n;
    for (size_t i = 0; i < 6; i++) vocab_add(v, letters[i], -50, TOKEN_NORMAL);
    while (v->n < first + 60) {
        const vouch_text a = v->tokens[first + (int32_t)test_below(random, (uint32_t)(v->n - first))],
                         b = v->tokens[first + (int32_t)test_below(random, (uint32_t)(v->n - first))];
        if (a.size + b.size > 20) continue;
        char *text = joined[v->n];
        snprintf(text, sizeof joined[0], "%.*s%.*s", (int)a.size, a.data, (int)b.size, b.data);
        bool known = false;
        for (int32_t i = 0; i < v->n; i++) known = known || strcmp(v->tokens[i].data, text) == 0;
        if (!known) vocab_add(v, text, -(float)test_below(random, 20), TOKEN_NORMAL);
    }
    return vocab_finish(v);
}

static size_t random_text(test_random *random, char *text, size_t most)
{
    static const char *const pieces[] = {"a",  "b",  "c", " ",  "\xc3\xa9",        "\xe4\xbd\xa0",
                                         "ab", "  ", "z", "\n", "\xf0\x9f\x98\x80"};
    size_t n = 0;
    for (uint32_t left = test_below(random, (uint32_t)most / 4); left > 0; left--) {
        const char *piece = pieces[test_below(random, 11)];
        memcpy(text + n, piece, strlen(piece));
        n += strlen(piece);
    }
    return n;
}

/* ------------------------------------------------------------- definitions */

typedef struct part {
    size_t begin, n;
    int32_t id;
} part;

static size_t spell(const vouch_tokenizer *t, const char *text, const part *parts, size_t n, int32_t *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].id >= 0) out[used++] = parts[i].id;
        for (size_t j = 0; parts[i].id < 0 && j < parts[i].n; j++)
            out[used++] = t->byte_token[(unsigned char)text[parts[i].begin + j]];
    }
    return used;
}

/* Joins the neighbours that make the token with the best score, the leftmost of equals, until none make one. */
static size_t join_plainly(const vouch_tokenizer *t, const char *text, size_t n, int32_t *out)
{
    part parts[512];
    size_t count = 0;
    for (size_t i = 0, length; i < n; i += length) {
        length = vouch_utf8_length(text + i, n - i);
        parts[count++] = (part){i, length, vouch_vocab_find(t, text + i, length)};
    }
    for (;;) {
        uint32_t best = NO_RANK;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            const int32_t id = vouch_vocab_find(t, text + parts[i].begin, parts[i].n + parts[i + 1].n);
            if (id < 0 || t->rank[id] >= best) continue;
            best = t->rank[id];
            at = i;
        }
        if (best == NO_RANK) return spell(t, text, parts, count, out);
        parts[at].n += parts[at + 1].n;
        parts[at].id = vouch_vocab_find(t, text + parts[at].begin, parts[at].n);
        memmove(parts + at + 1, parts + at + 2, (count - at - 2) * sizeof *parts);
        count--;
    }
}

static void scores_join_as_defined(void **state)
{
    (void)state;
    test_random random = {21};
    size_t joined = 0, characters = 0;
    for (int round = 0; round < 40; round++) {
        vouch_tokenizer *t = random_vocab("llama", &random);
        for (int i = 0; i < 60; i++) {
            char text[512] = " ";
            int32_t expected[512];
            const size_t n = 1 + random_text(&random, text + 1, 160);
            if (n == 1) continue;
            const size_t n_expected = join_plainly(t, text, n, expected);
            ids got = encode(t, text + 1, n - 1, 0);
            assert_ids(text, got, expected, n_expected);
            assert_shown(t, text + 1, n - 1);
            joined += got.n;
            characters += n;
            free(got.at);
        }
        vouch_tokenizer_close(t);
    }
    assert_true(joined * 10 < characters * 8);
}

/* The best sum of scores over all ways to write text[n], by trying every last token. */
static double best_sum(const vouch_tokenizer *t, const float *scores, const char *text, size_t n)
{
    double best[512];
    best[0] = 0;
    for (size_t end = 1; end <= n; end++) {
        best[end] = -INFINITY;
        for (size_t begin = 0; begin < end; begin++) {
            const int32_t id = vouch_vocab_find(t, text + begin, end - begin);
            if (id >= 0) best[end] = fmax(best[end], best[begin] + (double)scores[id]);
        }
    }
    return best[n];
}

static void unigram_finds_the_best_sum(void **state)
{
    (void)state;
    test_random random = {22};
    vocab *v = vocab_new("t5", false);
    static const char *const words[] = {"a",  "b",  "c",   SPACE_MARK, SPACE_MARK "a", "ab",  "abc",
                                        "bc", "ca", "cab", "aa",       SPACE_MARK "b", "bca", "aab"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        vocab_add(v, words[i], -1 - (float)test_below(&random, 1000) / 100, TOKEN_NORMAL);
    vocab copy = *v;
    vouch_tokenizer *t = vocab_finish(v);
    for (int i = 0; i < 500; i++) {
        char text[64];
        size_t n = 1 + test_below(&random, 40);
        for (size_t j = 0; j < n; j++) text[j] = "abc "[test_below(&random, 4)];
        ids got = encode(t, text, n, 0);
        double sum = 0;
        for (size_t j = 0; j < got.n; j++) sum += (double)copy.scores[got.at[j]];
        assert_true(fabs(sum - best_sum(t, copy.scores, text, n)) < 1e-9);
        assert_round_trip(t, text, n);
        free(got.at);
    }
    ids unknown = encode(t, "aXYb", 4, 0); /* neighbouring unknown characters become one token */
    const int32_t a = vouch_tokenizer_find(t, "a", 1), b = vouch_tokenizer_find(t, "b", 1);
    assert_int_equal(t->unknown, 2); /* the number that T5 has where the file names none */
    assert_ids("unknown", unknown, (int32_t[]){a, 2, b}, 3);
    free(unknown.at);
    vouch_tokenizer_close(t);
}

/* Gemma 4 merges characters. A word is a line, and a character without a token becomes bytes. */
static void merges_over_characters(void **state)
{
    (void)state;
    static const vouch_text merges[] = {TEXT("a b"), TEXT(SPACE_MARK " a"), TEXT(SPACE_MARK " ab"), TEXT("\n \n")};
    vocab *v = vocab_new("gemma4", true);
    static const char *const words[] = {"a",  "b",    SPACE_MARK, "ab", SPACE_MARK "a", SPACE_MARK "ab",
                                        "\n", "\n\n", "\n\n\n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) vocab_add(v, words[i], 0, TOKEN_NORMAL);
    v->merges = merges;
    v->n_merges = 4;
    vouch_tokenizer *t = vocab_finish(v);
    enum { A = FIRST_TOKEN, B, SPACE, AB, SPACE_A, SPACE_AB, LINE, TWO_LINES, THREE_LINES };
    ids got = encode(t, "ab ab\n\n\nz a", 11, 0); /* no prefix; three line ends are a token without a merge */
    assert_ids("lines", got, (int32_t[]){AB, SPACE_AB, THREE_LINES, FIRST_BYTE + 'z', SPACE_A}, 5);
    free(got.at);
    assert_string_equal(vouch_tokenizer_name(t), "bpe/gemma4");
    test_random random = {23};
    for (int i = 0; i < 300; i++) {
        char text[256];
        assert_shown(t, text, random_text(&random, text, 200));
    }
    vouch_tokenizer_close(t);
}

/* ------------------------------------------------------------------ tok512 */

/* tok512.bin: i32 longest token | 512 x (f32 score, i32 length, bytes). 0 to 2 are special, then 256 bytes. */
static vouch_tokenizer *tok512(void)
{
    static char marked[512][64];
    const char *path = test_data_needed("models/tok512.bin");
    size_t size, at = 4;
    char *bytes = read_whole(path, &size);
    vocab *v = calloc(1, sizeof *v);
    assert_non_null(v);
    v->model = "llama";
    for (int32_t i = 0; i < 512; i++) {
        float score;
        int32_t n;
        memcpy(&score, bytes + at, 4);
        memcpy(&n, bytes + at + 4, 4);
        size_t used = 0;
        for (int32_t j = 0; j < n; j++) {
            const char c = bytes[at + 8 + (size_t)j];
            const char *as = c == ' ' ? SPACE_MARK : (char[]){c, 0};
            used += (size_t)snprintf(marked[i] + used, sizeof marked[0] - used, "%s", as);
        }
        at += 8 + (size_t)n;
        const int32_t kind = i < 3 ? TOKEN_CONTROL : i < 259 ? TOKEN_BYTE : TOKEN_NORMAL;
        vocab_add(v, marked[i], score, i == 0 ? TOKEN_UNKNOWN : kind);
    }
    free(bytes);
    return vocab_finish(v);
}

static void stories_tokenizer(void **state)
{
    (void)state;
    vouch_tokenizer *t = tok512();
    const char *path = test_data_needed("corpora/tinystories-sample-77K.txt");
    size_t n;
    char *text = read_whole(path, &n);
    assert_string_equal(vouch_tokenizer_name(t), "spm");
    for (size_t i = 0; i + 400 < n; i += 400) {
        char prefixed[512] = " ";
        int32_t expected[512];
        const size_t length = vouch_utf8_valid_prefix(text + i, 400);
        if (length == 0) continue;
        memcpy(prefixed + 1, text + i, length);
        const size_t n_expected = join_plainly(t, prefixed, length + 1, expected);
        ids got = encode(t, text + i, length, 0);
        assert_ids(prefixed, got, expected, n_expected);
        free(got.at);
        assert_shown(t, text + i, length);
    }
    ids got = encode(t, "Once upon a time", 16, VOUCH_TOKENIZE_BOS);
    const int32_t expected[] = {1, 403, 407, 261, 378}; /* by llama2.c */
    assert_ids("Once upon a time", got, expected, 5);
    free(got.at);
    free(text);
    vouch_tokenizer_close(t);
}

/* ------------------------------------------------------------------ spaces */

static vocab *words_vocab(void)
{
    vocab *v = vocab_new("llama", true);
    static const char *const words[] = {"a", "b", SPACE_MARK, SPACE_MARK "a", SPACE_MARK "b", SPACE_MARK SPACE_MARK};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) vocab_add(v, words[i], -(float)i, TOKEN_NORMAL);
    vocab_add(v, "<mark>", 0, TOKEN_USER_DEFINED);
    vocab_add(v, "<|user|>", 0, TOKEN_CONTROL);
    return v;
}
enum { A = FIRST_TOKEN, B, SPACE, SPACE_A, SPACE_B, SPACES, MARK, USER };

static void check_words(vocab *v, const char *text, unsigned flags, const int32_t *expected, size_t n)
{
    vouch_tokenizer *t = vocab_finish(v);
    ids got = encode(t, text, strlen(text), flags);
    assert_ids(text, got, expected, n);
    free(got.at);
    vouch_tokenizer_close(t);
}
#define CHECK(v, text, flags, ...)                                                                           \
    check_words(v, text, flags, (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / 4)

static void spaces_and_specials(void **state)
{
    (void)state;
    vocab *v;
    CHECK(words_vocab(), "ab", 0, SPACE_A, B);
    CHECK(words_vocab(), "ab", VOUCH_TOKENIZE_BOS, 1, SPACE_A, B);
    CHECK(words_vocab(), "a b", 0, SPACE_A, SPACE_B);
    CHECK(words_vocab(), " a", 0, SPACE, SPACE_A);
    CHECK(words_vocab(), SPACE_MARK "a", 0, SPACE, SPACE_A); /* as a space */
    CHECK(words_vocab(), "a<mark>a", 0, SPACE_A, MARK, SPACE_A);
    CHECK(words_vocab(), "<s>a", VOUCH_TOKENIZE_SPECIAL, 1, SPACE_A);
    CHECK(words_vocab(),
          "a\xff"
          "a",
          0, SPACE_A, FIRST_BYTE + 0xff, A); /* no prefix after a lone byte */
    CHECK(words_vocab(), "<|user|> \n a", VOUCH_TOKENIZE_SPECIAL, USER, SPACES, FIRST_BYTE + '\n', SPACE_A);
    v = words_vocab();
    v->name = "my-Phi-3-mini";
    CHECK(v, "<|user|> \n a", VOUCH_TOKENIZE_SPECIAL, USER, SPACE_A);
    v = words_vocab();
    v->name = "Phi3";
    CHECK(v, "<s> a", VOUCH_TOKENIZE_SPECIAL, 1, SPACE, SPACE_A); /* <s> keeps the space */
    v = words_vocab();
    v->no_prefix = true;
    CHECK(v, "ab a", 0, A, B, SPACE_A);
    v = words_vocab();
    v->remove_spaces = true;
    CHECK(v, "  a   b  ", 0, SPACE_A, SPACE_B);
}

static void no_bytes_means_unknown(void **state)
{
    (void)state;
    vocab *v = vocab_new("llama", false);
    vocab_add(v, "a", 0, TOKEN_NORMAL);
    CHECK(v,
          "a\xe4\xbd\xa0"
          "a",
          0, 0, 3, 0, 3); /* the prefix has no token, either */
}

/* The prefix is no text, so a stream drops it: at the beginning and after special tokens, and only there. */
static void streams_drop_the_prefix(void **state)
{
    (void)state;
    static const struct {
        int32_t before;
        int32_t tokens[4];
        const char *text;
    } cases[] = {{-1, {SPACE_A, SPACE_B, B, B}, "a bbb"},         {1, {SPACE_A, SPACE_B, B, B}, "a bbb"},
                 {A, {SPACE_A, SPACE_B, B, B}, " a bbb"},         {-1, {SPACES, A, MARK, SPACE_B}, " a<mark>b"},
                 {-1, {SPACE_A, USER, SPACE_A, SPACE_A}, "aa a"}, {MARK, {A, SPACE_A, 2, SPACE}, "a a"}};
    vouch_tokenizer *t = vocab_finish(words_vocab());
    vouch_stream *stream = NULL;
    assert_int_equal(vouch_stream_open(&stream, t, NULL, 0, 8, NULL), VOUCH_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vouch_stream_reset(stream, cases[i].before);
        for (size_t j = 0; j < 4; j++) (void)vouch_stream_push(stream, cases[i].tokens[j]);
        vouch_stream_finish(stream);
        const vouch_text shown = vouch_stream_take(stream);
        assert_int_equal(shown.size, strlen(cases[i].text));
        assert_memory_equal(shown.data, cases[i].text, shown.size);
    }
    vouch_stream_close(stream);
    vouch_tokenizer_close(t);
}

static void text_names_no_control_token(void **state)
{
    (void)state;
    vocab *v = vocab_new("llama", true);
    static const char *const words[] = {"<", "s", ">", "<s", "/", "</s"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) vocab_add(v, words[i], 0, TOKEN_NORMAL);
    vouch_tokenizer *t = vocab_finish(v);
    ids got = encode(t, "<s></s><unk><0x41>", 18, 0);
    for (size_t i = 0; i < got.n; i++) assert_false(vouch_tokenizer_is_special(t, got.at[i]));
    assert_shown(t, "<s></s><unk><0x41>", 18);
    free(got.at);
    vouch_tokenizer_close(t);
}

/* --------------------------------------------------------------------- ends */

static void names_end_answers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *beside[3];
        int32_t kind;
        bool ends, special;
    } cases[] = {
        {"<|return|>", {0}, TOKEN_CONTROL, true, true},
        {"<|call|>", {0}, TOKEN_CONTROL, true, true},
        {"<end_of_turn>", {0}, TOKEN_CONTROL, true, true},
        {"<end_of_turn>", {0}, TOKEN_USER_DEFINED, true, true},
        {"<turn|>", {0}, TOKEN_NORMAL, true, true},
        {"<|end|>", {0}, TOKEN_CONTROL, true, true},
        {"<|end|>", {"<|return|>"}, TOKEN_CONTROL, true, true},
        {"<|end|>", {"<|return|>", "<|call|>"}, TOKEN_CONTROL, false, false},
        {"<|end|>", {"<|flush|>", "<|calls|>"}, TOKEN_CONTROL, false, false},
        {"<|channel|>", {0}, TOKEN_CONTROL, false, false},
        {"<eos>", {0}, TOKEN_CONTROL, true, true},
        {"<strong>", {0}, TOKEN_NORMAL, false, false},
        {"<|start_header_id|>", {0}, TOKEN_CONTROL, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vocab *v = vocab_new("llama", true);
        vocab_add(v, cases[i].name, 0, cases[i].kind);
        for (size_t j = 0; j < 3 && cases[i].beside[j]; j++) vocab_add(v, cases[i].beside[j], 0, TOKEN_CONTROL);
        vouch_tokenizer *t = vocab_finish(v);
        if (vouch_tokenizer_ends_answer(t, FIRST_TOKEN) != cases[i].ends ||
            vouch_tokenizer_is_special(t, FIRST_TOKEN) != cases[i].special)
            fail_msg("case %zu, %s: ends an answer or not, special or not", i, cases[i].name);
        vouch_tokenizer_close(t);
    }
    /* Gemma 4 has </s> as HTML; elsewhere it ends a text. */
    static const vouch_text merges[] = {TEXT("a b")};
    for (int gemma = 0; gemma < 2; gemma++) {
        vocab *v = vocab_new("gemma4", true);
        v->tokens[2] = (vouch_text){"<none>", 6};
        vocab_add(v, "</s>", 0, TOKEN_NORMAL);
        vocab_add(v, "a", 0, TOKEN_NORMAL);
        vocab_add(v, "b", 0, TOKEN_NORMAL);
        vocab_add(v, "ab", 0, TOKEN_NORMAL);
        if (gemma) vocab_add(v, "<|tool_response>", 0, TOKEN_CONTROL);
        v->merges = merges;
        v->n_merges = 1;
        vouch_tokenizer *t = vocab_finish(v);
        assert_int_equal(vouch_tokenizer_ends_answer(t, FIRST_TOKEN), !gemma);
        vouch_tokenizer_close(t);
    }
}

/* ------------------------------------------------------------------ hostile */

static void assert_refused(vocab *v, vouch_status code, const char *must_say)
{
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    const vouch_status status = vocab_open(v, &tokenizer, &err);
    if (status != code || !strstr(err.message, must_say))
        fail_msg("wanted %d with \"%s\", got %d: %s", code, must_say, status, err.message);
    assert_null(tokenizer);
    free(v);
}

static void bad_scores(void **state)
{
    (void)state;
    static const char *const models[] = {"llama", "t5"};
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 6; i++) {
        vocab *v = vocab_new(models[i / 3], true);
        v->scores[7] = bad[i % 3];
        assert_refused(v, VOUCH_E_FORMAT, "tokenizer.ggml.scores[7]");
    }
}

/* Writes a character map that turns "A" into "xy": a double-array trie of 512 units (the root, its child at 0x100 ^
 * 'A', the child's value), then the text "xy". */
static size_t charsmap_make(unsigned char *out)
{
    uint32_t units[512] = {0};
    const uint32_t size = sizeof units, distance = 1;
    units[0] = 0x100u << 10;
    units[0x100 ^ 'A'] = 'A' | 1u << 8 | distance << 10;
    units[0x100 ^ 'A' ^ 1] = 1u << 31 | 0;
    memcpy(out, &size, 4);
    memcpy(out + 4, units, size);
    memcpy(out + 4 + size, "xy", 3);
    return 4 + size + 3;
}

static vocab *charsmap_vocab(const unsigned char *map, size_t n)
{
    vocab *v = vocab_new("t5", true);
    static const char *const letters[] = {"x", "y", "b"};
    for (size_t i = 0; i < 3; i++) vocab_add(v, letters[i], -1, TOKEN_NORMAL);
    v->charsmap = map;
    v->n_charsmap = n;
    return v;
}

static void charsmaps(void **state)
{
    (void)state;
    unsigned char map[4096], bad[4096];
    const size_t n = charsmap_make(map);
    enum { X = FIRST_TOKEN, Y, LETTER_B };
    CHECK(charsmap_vocab(map, n), "bAb", 0, LETTER_B, X, Y, LETTER_B);
    const uint32_t size = 2048, odd = 2047, far = 0xffffffff;
    const struct {
        size_t at;
        uint32_t value;
    } edits[] = {{0, far},
                 {0, odd},
                 {0, size + 3}, /* the array's size */
                 {4, far},
                 {4, 0x200u << 10},                                     /* the root's children */
                 {4 + 4 * (0x100 ^ 'A'), 'A' | 1u << 8 | 0x200u << 10}, /* its value */
                 {4 + 4 * (0x100 ^ 'A' ^ 1), 1u << 31 | 3},             /* the replacement */
                 {4 + size, 0x00ff0041}};                               /* which is no UTF-8, without an end */
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        memcpy(bad, map, n);
        memcpy(bad + edits[i].at, &edits[i].value, edits[i].at + 4 > n ? n - edits[i].at : 4);
        assert_refused(charsmap_vocab(bad, n), VOUCH_E_FORMAT, "precompiled_charsmap");
    }
    for (size_t cut = 1; cut < n; cut += 97) assert_refused(charsmap_vocab(map, cut), VOUCH_E_FORMAT, "charsmap");
    test_random random = {24}; /* after any change of a byte: an error, or tokens */
    for (int round = 0; round < 2000; round++) {
        memcpy(bad, map, n);
        for (uint32_t edit = 1 + test_below(&random, 4); edit > 0; edit--)
            bad[test_below(&random, (uint32_t)n)] = (unsigned char)test_below(&random, 256);
        vocab *v = charsmap_vocab(bad, n);
        vouch_tokenizer *t = NULL;
        if (vocab_open(v, &t, NULL) == VOUCH_OK) {
            ids got = encode(t, "AbA \xc3\x81", 6, 0);
            free(got.at);
        }
        vouch_tokenizer_close(t);
        free(v);
    }
}

/* Long texts without a space take n log n; a quadratic encoder would not end. */
static void long_runs(void **state)
{
    (void)state;
    test_random random = {25};
    static const char *const models[] = {"llama", "t5"};
    for (size_t m = 0; m < 2; m++) {
        vouch_tokenizer *t = random_vocab(models[m], &random);
        const size_t n = test_is_quick() ? 300000 : 10000000;
        char *text = malloc(n);
        assert_non_null(text);
        for (size_t i = 0; i < n; i++) text[i] = "abc"[i % 7 % 3];
        ids got = encode(t, text, n, 0);
        size_t n_back;
        char *back = decode(t, got, &n_back);
        assert_int_equal(n_back, n + (m == 0)); /* the prefix */
        assert_memory_equal(back + (m == 0), text, n);
        free(back);
        free(got.at);
        free(text);
        vouch_tokenizer_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_join_as_defined),
        cmocka_unit_test(unigram_finds_the_best_sum),
        cmocka_unit_test(merges_over_characters),
        cmocka_unit_test(stories_tokenizer),
        cmocka_unit_test(spaces_and_specials),
        cmocka_unit_test(no_bytes_means_unknown),
        cmocka_unit_test(streams_drop_the_prefix),
        cmocka_unit_test(text_names_no_control_token),
        cmocka_unit_test(names_end_answers),
        cmocka_unit_test(bad_scores),
        cmocka_unit_test(charsmaps),
        cmocka_unit_test(long_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
