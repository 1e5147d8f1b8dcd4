/* SPDX-License-Identifier: MIT */
/*
 * Text to tokens. External references: the test vectors of llama.cpp and transformers.js, and llama.cpp's ids for
 * SmolLM2. Tests without data: the words of each pre-tokenizer, merges compared with the quadratic algorithm, round
 * trips, hostile texts.
 */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "golden/smollm_tokens.h"
#include "support/model/tokenizers.h"
#include "text/internal.h"
#include "text/unicode.h"

/* One pre-tokenizer name for each way to cut a text into words; the first four are `pres`. */
static const char *const cuts[] = {
    "smollm",     "gpt-2",    "llama-bpe",  "qwen2",        "qwen35",         "gpt-4o",      "tekken",
    "laguna",     "minicpm5", "jais-2",     "kimi-k2",      "tiny_aya",       "youtu",       "falcon",
    "default",    "bloom",    "viking",     "deepseek-llm", "chameleon",      "afmoe",       "exaone-moe",
    "bailingmoe", "superbpe", "seed-coder", "ufakzeka",     "deepseek-coder", "deepseek-v3", "spark2_5"};
enum { N_CUTS = sizeof cuts / sizeof *cuts };

/* A random character: mostly ASCII of all classes, else a multi-byte character or a combining mark. */
static size_t character_random(test_random *random, char *out)
{
    static const char *const wide[] = {"\xc3\xa9",
                                       "e\xcc\x81",
                                       "\xcc\xa3\xcc\x81",
                                       "\xe4\xbd\xa0",
                                       "\xf0\x9f\x98\x80",
                                       "\xe2\x80\x8d",
                                       "\xd9\xa3",
                                       "\xc2\xa0",
                                       "\xe2\x80\xa8",
                                       "\xea\xb0\x80",
                                       "\xe1\x84\x80\xe1\x85\xa1",
                                       "\xc2\xbd",
                                       "\xef\xbf\xbd",
                                       "\xe1\xa0\x8e",
                                       "\xc5\xbf",
                                       "\xf0\x9d\x85\x9f",
                                       "\xe2\x84\xab"};
    static const char ascii[] = " \n\r\t  abcsteABC019.,!'<|>_-\x01\x7f";
    if (test_below(random, 4) != 0) {
        out[0] = ascii[test_below(random, sizeof ascii)]; /* NUL included */
        return 1;
    }
    const char *character = wide[test_below(random, sizeof wide / sizeof *wide)];
    strcpy(out, character);
    return strlen(character);
}

static size_t text_random(test_random *random, char *text, size_t limit)
{
    size_t n = 0;
    const size_t goal = test_below(random, (uint32_t)limit - 8);
    while (n < goal) n += character_random(random, text + n);
    return n;
}

/* ------------------------------------------------------------------ vectors */

static void check_vectors(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "tokenizers/vectors/ggml-vocab-%s.gguf", name);
    const char *found = test_data_needed(path);
    snprintf(path, sizeof path, "%s", found);
    vouch_tokenizer *tokenizer = file_tokenizer(path);
    size_t n_in, n_out, tests = 0;
    const size_t stem = strlen(path);
    snprintf(path + stem, sizeof path - stem, ".inp");
    char *in = read_whole(path, &n_in);
    snprintf(path + stem, sizeof path - stem, ".out");
    char *out = read_whole(path, &n_out);

    static const char separator[] = "\n__ggml_vocab_test__\n";
    char *line = out;
    for (char *text = in, *end; (end = strstr(text, separator)); text = end + strlen(separator), tests++) {
        int32_t expected[4096];
        size_t n = 0;
        char *stop = line + strcspn(line, "\n");
        for (char *next; line < stop; line = next) {
            expected[n++] = (int32_t)strtol(line, &next, 10);
            assert_true(n < 4096);
            while (*next == ' ') next++;
        }
        line = stop + 1;
        ids got = encode(tokenizer, text, (size_t)(end - text), 0);
        *end = 0;
        assert_ids(text, got, expected, n);
        free(got.at);
        if (strcmp(name, "qwen2") != 0) assert_shown(tokenizer, text, strlen(text));
    }
    print_message("%s: %zu texts equal\n", name, tests);
    assert_int_equal(tests, 46);
    free(in);
    free(out);
    vouch_tokenizer_close(tokenizer);
}

static void vectors_gpt2(void **state)
{
    (void)state;
    check_vectors("gpt-2");
}

static void vectors_llama_bpe(void **state)
{
    (void)state;
    check_vectors("llama-bpe");
}

static void vectors_qwen2(void **state)
{
    (void)state;
    check_vectors("qwen2");
}

static void vectors_starcoder(void **state)
{
    (void)state;
    check_vectors("starcoder");
}

static void vectors_llama_spm(void **state)
{
    (void)state;
    check_vectors("llama-spm");
}

static void vectors_phi3(void **state)
{
    (void)state;
    check_vectors("phi-3");
}

static void vectors_transformers(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"Xenova/gpt2", "gpt-2"},
                                           {"Xenova/llama3-tokenizer", "llama-bpe"},
                                           {"Xenova/llama3-tokenizer-new", "llama-bpe"},
                                           {"Xenova/Qwen1.5-0.5B-Chat", "qwen2"}};
    const char *path = test_data_needed("tokenizers/transformersjs_vectors.json");
    json_error_t error;
    json_t *all = json_load_file(path, JSON_ALLOW_NUL, &error);
    assert_non_null(all);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char name[128];
        snprintf(name, sizeof name, "tokenizers/vectors/ggml-vocab-%s.gguf", pairs[i][1]);
        const char *vocab = test_data(name);
        json_t *cases = json_object_get(all, pairs[i][0]), *one;
        assert_non_null(cases);
        if (!vocab) continue;
        vouch_tokenizer *tokenizer = file_tokenizer(vocab);
        const unsigned flags = strstr(pairs[i][0], "-new") ? VOUCH_TOKENIZE_BOS : 0;
        const char *key;
        json_object_foreach(cases, key, one) {
            const json_t *text = json_object_get(one, "text"), *list = json_object_get(one, "ids");
            int32_t expected[4096];
            const size_t n = json_array_size(list);
            assert_true(n <= 4096);
            for (size_t j = 0; j < n; j++) expected[j] = (int32_t)json_integer_value(json_array_get(list, j));
            ids got = encode(tokenizer, json_string_value(text), json_string_length(text), flags);
            assert_ids(key, got, expected, n);
            free(got.at);
        }
        print_message("%s: %zu texts equal\n", pairs[i][0], json_object_size(cases));
        vouch_tokenizer_close(tokenizer);
    }
    json_decref(all);
}

static void golden_smollm(void **state)
{
    (void)state;
    const char *path = test_model();
    if (!path) test_skip("the real model is not there");
    vouch_tokenizer *tokenizer = file_tokenizer(path);
    assert_string_equal(vouch_tokenizer_name(tokenizer), "bpe/smollm");
    assert_int_equal(vouch_tokenizer_size(tokenizer), 49152);
    const size_t n = sizeof smollm_golden / sizeof *smollm_golden;
    for (size_t i = 0; i < n; i++) {
        ids got = encode(tokenizer, smollm_golden[i].text, smollm_golden[i].n_text, 0);
        assert_ids(smollm_golden[i].text, got, smollm_golden[i].ids, smollm_golden[i].n_ids);
        free(got.at);
    }
    vouch_tokenizer_close(tokenizer);
}

/* ------------------------------------------------------------------ words */

typedef struct joined {
    char *at;
    bool any;
} joined;

static vouch_status word_join(void *user, const char *word, size_t n, vouch_error *err)
{
    joined *out = user;
    (void)err;
    if (out->any) *out->at++ = '/';
    out->any = true;
    memcpy(out->at, word, n);
    out->at += n;
    return VOUCH_OK;
}

/* Splits text into words and joins them with '/'. */
static void words_join(const vouch_tokenizer *tokenizer, const char *text, char *out)
{
    joined list = {out, false};
    const word_walk walk = {&tokenizer->pre, pcre2_match_data_create(1, NULL), 0, word_join, &list};
    assert_int_equal(vouch_pretokenizer_words(&walk, text, strlen(text), NULL), VOUCH_OK);
    *list.at = 0;
    pcre2_match_data_free(walk.match);
}

static void words_of_each_pretokenizer(void **state)
{
    (void)state;
    static const char *const cases[][1 + N_PRES] = {
        /* The text, then its words by smollm, gpt-2, llama-bpe and qwen2. */
        {"Hello world", "Hello/ world", "Hello/ world", "Hello/ world", "Hello/ world"},
        {"x  5", "x/  /5", "x/ / 5", "x/ / /5", "x/ / /5"},
        {"x   y", "x/  / y", "x/  / y", "x/  / y", "x/  / y"},
        {"12345", "1/2/3/4/5", "12345", "123/45", "1/2/3/4/5"},
        {"a12 3", "a/1/2/ /3", "a/12/ 3", "a/12/ /3", "a/1/2/ /3"},
        {"it's IT'S", "it/'s/ IT/'/S", "it/'s/ IT/'/S", "it/'s/ IT/'S", "it/'s/ IT/'S"},
        {"a.b", "a/./b", "a/./b", "a/.b", "a/.b"},
        {"hi!\n\nyou", "hi/!/\n/\n/you", "hi/!/\n/\n/you", "hi/!\n\n/you", "hi/!\n\n/you"},
        {" \n\n  z", " \n\n / z", " \n\n / z", " \n\n/ / z", " \n\n/ / z"},
        {"end  ", "end/  ", "end/  ", "end/  ", "end/  "},
        {"a\xe1\xa0\x8ez", "a/\xe1\xa0\x8e/z", "a/\xe1\xa0\x8e/z", "a/\xe1\xa0\x8ez", "a/\xe1\xa0\x8ez"},
        {"\xc2\xa0\xe2\x80\x83z", "\xc2\xa0/\xe2\x80\x83/z", "\xc2\xa0/\xe2\x80\x83/z", "\xc2\xa0/\xe2\x80\x83z",
         "\xc2\xa0/\xe2\x80\x83z"},
    };
    for (size_t p = 0; p < N_PRES; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(pres[p], TINY_SIZE);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char got[256];
            words_join(tokenizer, cases[i][0], got);
            assert_string_equal(got, cases[i][1 + p]);
        }
        vouch_tokenizer_close(tokenizer);
    }
}

static void words_of_the_other_pretokenizers(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        /* The pre-tokenizer, the text, its words. The patterns' originals give the same (docs/tokenizers.md). */
        {"qwen35",
         "e\xcc\x81"
         "a 12",
         "e\xcc\x81"
         "a/ /1/2"},
        {"gpt-4o", "aB\xc3\x89t\xc3\xa9 don't 1234", "a/B\xc3\x89t\xc3\xa9/ don't/ /123/4"},
        {"gpt-4o", "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87 x//\n",
         "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5\x87/ x///\n"},
        {"tekken", "aB don't 12", "a/B/ don/'t/ /1/2"},
        {"laguna", "a  \n  b", "a/  /\n/ / b"},
        {"minicpm5", "1234x", "123/4/x"},
        {"jais-2", "a       b", "a/    /  / b"},
        {"jais-2", " \n  x", " \n/ / x"},
        {"kimi-k2",
         "\xe4\xbd\xa0\xe5\xa5\xbd"
         "abC'S 1234",
         "\xe4\xbd\xa0\xe5\xa5\xbd/ab/C'S/ /123/4"},
        {"tiny_aya", "1234567 1234x", "1/234/567/ /123/4/x"},
        {"youtu",
         "\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x81"
         "ab 12",
         "\xe4\xbd\xa0\xe5\xa5\xbd/\xe3\x80\x81/ab/ /1/2"},
        {"falcon", "a+b 1234!", "a/+/b/ /123/4/!"},
        {"default", "a+b 1234", "a/+/b/ /123/4"},
        {"bloom",
         "a b, c\xe3\x80\x82"
         "d",
         "a/ b/,/ c/\xe3\x80\x82/d"},
        {"viking", "ab12 3", "ab/1/2/ /3"},
        {"deepseek-llm", "a b\xe4\xbd\xa0\xe3\x81\x82 12!  ", "a/ b/\xe4\xbd\xa0\xe3\x81\x82/ /12/!/  "},
        {"chameleon", "<sentinel:1>  a12.", "</sentinel/:/1/>/  /a/1/2/."},
        {"afmoe", "ab 12345", "ab/ /12/345"},
        {"exaone-moe", "a b c1", "a b c/1"},
        {"bailingmoe", "it'LL 12", "it/'LL/ /1/2"},
        {"superbpe", "a1234 b", "a/1/234/ b"},
        {"seed-coder", "a!\nb 12", "a/!/\n/b/ /1/2"},
        {"ufakzeka", "don't 12", "don/'t/ /1/2"},
        {"deepseek-coder", "a b. 12", "a/ b/./ /1/2"},
        {"deepseek-v3", "a.b (c)\n 1234", "a/.b/ (/c/)\n/ /123/4"},
        {"spark2_5", "a!\n\n12", "a/!/\n/\n/1/2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(cases[i][0], TINY_SIZE);
        char got[256];
        words_join(tokenizer, cases[i][1], got);
        if (strcmp(got, cases[i][2]) != 0)
            fail_msg("%s: \"%s\" should be cut into \"%s\", not \"%s\"", cases[i][0], cases[i][1], cases[i][2], got);
        vouch_tokenizer_close(tokenizer);
    }
}

static void names_of_pretokenizers(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"smollm", "bpe/smollm"},       {"gpt-2", "bpe/gpt-2"},
                                           {"llama-bpe", "bpe/llama-bpe"}, {"llama3", "bpe/llama-bpe"},
                                           {"llama-v3", "bpe/llama-bpe"},  {"qwen2", "bpe/qwen2"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(names[i][0], TINY_SIZE);
        assert_string_equal(vouch_tokenizer_name(tokenizer), names[i][1]);
        vouch_tokenizer_close(tokenizer);
    }
}

/* ------------------------------------------------------------------ merges */

/* The definition: repeatedly merges the pair of lowest rank, the leftmost of equals. */
static size_t merge_plainly(const vouch_tokenizer *tokenizer, const char *word, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) out[i] = tokenizer->byte_token[(unsigned char)word[i]];
    for (;;) {
        uint32_t best = NO_RANK;
        size_t place = 0;
        int32_t result = -1, made;
        for (size_t i = 0; i + 1 < n; i++) {
            const uint32_t rank = vouch_merge_find(tokenizer, out[i], out[i + 1], &made);
            if (rank >= best) continue;
            best = rank;
            place = i;
            result = made;
        }
        if (best == NO_RANK) return n;
        out[place] = result;
        memmove(out + place + 1, out + place + 2, (n - place - 2) * sizeof *out);
        n--;
    }
}

static void merges_as_defined(void **state)
{
    (void)state;
    test_random random = {11};
    vouch_tokenizer *tokenizer = tiny_tokenizer("gpt-2", 2000);
    size_t merged = 0, bytes = 0;
    for (int round = 0; round < 3000; round++) {
        char word[128];
        int32_t expected[128], got[128];
        vouch_error err;
        size_t n = 1 + test_below(&random, 100);
        for (size_t i = 0; i < n; i++) word[i] = "etaoin shrdlu"[test_below(&random, round % 12 + 2)];
        const size_t n_expected = merge_plainly(tokenizer, word, n, expected);
        encoder e;
        assert_int_equal(vouch_encoder_open(&e, tokenizer, got, 128, &err), VOUCH_OK);
        assert_int_equal(vouch_bpe_word(&e, word, n, &err), VOUCH_OK);
        assert_ids("word", (ids){got, e.count}, expected, n_expected);
        merged += e.count;
        bytes += n;
        vouch_encoder_close(&e);
    }
    assert_true(merged * 10 < bytes * 9); /* merges did happen */
    vouch_tokenizer_close(tokenizer);
}

static void whole_words(void **state)
{
    (void)state;
    /* No merge produces the token "ab". Only llama-bpe finds it, because it looks up whole words first. */
    for (size_t p = 0; p < N_PRES; p++) {
        vouch_gguf_writer *w = writer_open();
        const vouch_text tokens[] = {{"a", 1}, {"b", 1}, {"ab", 2}};
        vouch_tokenizer *tokenizer = NULL;
        vouch_error err;
        vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
        vouch_gguf_add_text(w, "tokenizer.ggml.pre", pres[p]);
        vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, 3);
        vouch_gguf_add_texts(w, "tokenizer.ggml.merges", tokens, 0);
        assert_int_equal(tokenizer_finish(w, &tokenizer, &err), VOUCH_OK);
        ids got = encode(tokenizer, "ab", 2, 0);
        assert_int_equal(got.n, strcmp(pres[p], "llama-bpe") == 0 ? 1 : 2);
        free(got.at);
        vouch_tokenizer_close(tokenizer);
    }
}

/* -------------------------------------------------------------- round trips */

static void round_trips(void **state)
{
    (void)state;
    test_random random = {3};
    for (size_t p = 0; p < N_CUTS; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(cuts[p], TINY_SIZE);
        for (int round = 0; round < (p < N_PRES ? 400 : 100); round++) {
            char text[512];
            size_t n = text_random(&random, text, sizeof text);
            char *normal = NULL;
            size_t n_normal;
            if (strcmp(cuts[p], "qwen2") == 0) assert_int_equal(vouch_nfc(text, n, &normal, &n_normal, NULL), 0);
            if (normal) { /* the text and its NFC give the same tokens, and decoding gives the NFC */
                ids given = encode(tokenizer, text, n, 0), composed = encode(tokenizer, normal, n_normal, 0);
                assert_same_ids("NFC", given, composed);
                assert_round_trip(tokenizer, normal, n_normal);
                free(given.at);
                free(composed.at);
            } else {
                assert_round_trip(tokenizer, text, n);
            }
            free(normal);
        }
        vouch_tokenizer_close(tokenizer);
    }
}

static void nfc_as_utf8proc(void **state)
{
    (void)state;
    test_random random = {5};
    for (int round = 0; round < 3000; round++) {
        char text[256], *normal;
        size_t n = text_random(&random, text, sizeof text - 1), n_normal;
        for (size_t i = 0; i < n; i++) text[i] = text[i] ? text[i] : 'x';
        text[n] = 0;
        assert_int_equal(vouch_nfc(text, n, &normal, &n_normal, NULL), VOUCH_OK);
        utf8proc_uint8_t *expected = utf8proc_NFC((const utf8proc_uint8_t *)text);
        assert_int_equal(normal ? n_normal : n, strlen((char *)expected));
        assert_memory_equal(normal ? normal : text, expected, strlen((char *)expected));
        free(expected);
        free(normal);
    }
    /* A long run of unsorted combining marks: normalising must sort it by class, stably and in linear time. */
    enum { N = 1000000 };
    char *text = malloc(2 * N + 1), *normal;
    size_t n_normal;
    assert_non_null(text);
    for (size_t i = 0; i < N; i++) memcpy(text + 2 * i, i % 2 ? "\xcc\xa3" : "\xcd\x81", 2); /* classes 220 and 230 */
    assert_int_equal(vouch_nfc(text, 2 * N, &normal, &n_normal, NULL), VOUCH_OK);
    assert_int_equal(n_normal, 2 * N);
    for (size_t i = 0; i < N; i++) assert_memory_equal(normal + 2 * i, i < N / 2 ? "\xcc\xa3" : "\xcc\x81", 2);
    free(normal);
    free(text);
}

static void qwen2_normalises(void **state)
{
    (void)state;
    for (size_t p = 0; p < N_PRES; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(pres[p], TINY_SIZE);
        ids composed = encode(tokenizer, "\xc3\xa9", 2, 0), parts = encode(tokenizer, "e\xcc\x81", 3, 0);
        const bool same = composed.n == parts.n && memcmp(composed.at, parts.at, composed.n * 4) == 0;
        assert_int_equal(same, strcmp(pres[p], "qwen2") == 0);
        free(composed.at);
        free(parts.at);
        vouch_tokenizer_close(tokenizer);
    }
}

static void invalid_utf8(void **state)
{
    (void)state;
    static const char *const broken[] = {"\x80",
                                         "\xbf",
                                         "\xc0\x80",
                                         "\xc1\xbf",
                                         "\xe0\x80\x80",
                                         "\xe0\x9f\xbf",
                                         "\xed\xa0\x80",
                                         "\xed\xbf\xbf",
                                         "\xf0\x80\x80\x80",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\xfe",
                                         "\xff\xff",
                                         "\xc3",
                                         "\xe4\xbd",
                                         "\xf0\x9f\x98",
                                         "\xf8\x88\x80\x80\x80",
                                         "\xc3\xc3\xa9",
                                         "\xe4\xbd\xe4\xbd\xa0"};
    for (size_t p = 0; p < N_PRES; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(pres[p], TINY_SIZE);
        for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
            char text[64];
            const int n = snprintf(text, sizeof text, "ab %s  cd%s\n%s", broken[i], broken[i], broken[i]);
            assert_round_trip(tokenizer, text, (size_t)n);
            assert_round_trip(tokenizer, broken[i], strlen(broken[i]));
        }
        ids got = encode(tokenizer, "\xff\xfe\x80", 3, 0);
        const int32_t expected[] = {TINY_BYTES + 0xff, TINY_BYTES + 0xfe, TINY_BYTES + 0x80};
        assert_ids("bytes", got, expected, 3);
        free(got.at);
        char all[256];
        for (int byte = 0; byte < 256; byte++) all[byte] = (char)byte;
        assert_round_trip(tokenizer, all, sizeof all);
        vouch_tokenizer_close(tokenizer);
    }
}

/* A vocabulary with one token for each byte, except the lacking ones. id_of [256]: the id of each byte. */
static vouch_tokenizer *gaps_tokenizer(const char *pre, const char *lacking, size_t n_lacking, int32_t *id_of)
{
    static char letters[256][2];
    static const vouch_text no_merges[1];
    vouch_text tokens[256];
    vouch_gguf_writer *w = writer_open();
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    int32_t n = 0;
    for (int byte = 0; byte < 256; byte++) {
        id_of[byte] = -1;
        if (memchr(lacking, byte, n_lacking)) continue;
        tokens[n] = (vouch_text){letters[byte], (size_t)tiny_vocab_letter(byte, letters[byte])};
        id_of[byte] = n++;
    }
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "gpt2");
    vouch_gguf_add_text(w, "tokenizer.ggml.pre", pre);
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, (size_t)n);
    vouch_gguf_add_texts(w, "tokenizer.ggml.merges", no_merges, 0);
    if (tokenizer_finish(w, &tokenizer, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return tokenizer;
}

/* A vocabulary without 0x04, 0xf2 and 0xff. Each case has a text and the text that its tokens spell. */
static void bytes_without_a_token_become_replacement_characters(void **state)
{
    (void)state;
    static const char lacking[] = "\x04\xf2\xff";
    static const struct {
        const char *what, *text, *seen;
    } cases[] = {
        {"no such byte", "plain \xc3\xa9", "plain \xc3\xa9"},
        {"a valid character of one byte",
         "a\x04"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"alone", "\x04", "\xef\xbf\xbd"},
        {"two of them", "\x04\x04", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"an invalid byte without a token",
         "a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"an invalid byte with a token",
         "a\x80"
         "b",
         "a\x80"
         "b"},
        {"two invalid bytes, the first without", "\xf2\xf1", "\xef\xbf\xbd\xf1"},
        {"a valid character of four bytes is one", "x\xf2\x80\x80\x80y", "x\xef\xbf\xbdy"},
        {"beside white space", " \x04 \xff ", " \xef\xbf\xbd \xef\xbf\xbd "},
    };
    for (size_t p = 0; p < N_PRES; p++) {
        int32_t id_of[256];
        vouch_tokenizer *tokenizer = gaps_tokenizer(pres[p], lacking, strlen(lacking), id_of);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            int32_t expected[32];
            const size_t n = strlen(cases[i].seen);
            for (size_t j = 0; j < n; j++) expected[j] = id_of[(unsigned char)cases[i].seen[j]];
            ids got = encode(tokenizer, cases[i].text, strlen(cases[i].text), 0);
            assert_ids(cases[i].what, got, expected, n);
            free(got.at);
        }
        vouch_tokenizer_close(tokenizer);
    }
}

/* The real model lacks tokens for 21 bytes. Still no byte of a text vanishes. */
static void smollm_loses_no_byte(void **state)
{
    (void)state;
    const char *path = test_model();
    if (!path) test_skip("the real model is not there");
    vouch_tokenizer *tokenizer = file_tokenizer(path);
    int lacking = 0;
    for (int byte = 0; byte < 256; byte++) {
        const char text[] = {'a', (char)byte, 'b'};
        ids alone = encode(tokenizer, text + 1, 1, 0), inside = encode(tokenizer, text, 3, 0);
        assert_true(alone.n >= 1);
        size_t n;
        char *back = decode(tokenizer, inside, &n);
        lacking += tokenizer->byte_token[byte] < 0;
        if (tokenizer->byte_token[byte] >= 0) assert_memory_equal(back, text, 3);
        else
            assert_string_equal(back, "a\xef\xbf\xbd"
                                      "b");
        free(back);
        free(alone.at);
        free(inside.at);
    }
    assert_int_equal(lacking, 21);
    ids got = encode(tokenizer,
                     "a\xff"
                     "b",
                     3, 0);
    assert_true(got.n >= 3);
    free(got.at);
    got = encode(tokenizer, "\xf2\xf1", 2, 0);
    assert_true(got.n >= 1);
    free(got.at);
    vouch_tokenizer_close(tokenizer);
}

/* ----------------------------------------------------------------- specials */

static void specials_only_where_asked(void **state)
{
    (void)state;
    vouch_tokenizer *tokenizer = tiny_tokenizer("smollm", TINY_SIZE);
    const char *text = "<|im_start|><think><|im_end|>";
    ids named = encode(tokenizer, text, strlen(text), VOUCH_TOKENIZE_SPECIAL);
    const int32_t expected[] = {TINY_IM_START, TINY_THINK, TINY_IM_END};
    assert_ids("named", named, expected, 3);
    ids plain = encode(tokenizer, text, strlen(text), 0);
    int thinks = 0;
    for (size_t i = 0; i < plain.n; i++) {
        assert_false(vouch_tokenizer_is_special(tokenizer, plain.at[i]));
        thinks += plain.at[i] == TINY_THINK;
    }
    assert_int_equal(thinks, 1); /* user-defined tokens are ordinary vocabulary */
    assert_round_trip(tokenizer, text, strlen(text));
    free(named.at);
    free(plain.at);
    for (int32_t i = 0; i < TINY_BYTES; i++) assert_int_equal(vouch_tokenizer_is_special(tokenizer, i), i < TINY_THINK);
    assert_int_equal(vouch_tokenizer_bos(tokenizer), TINY_IM_START);
    assert_int_equal(vouch_tokenizer_eos(tokenizer), TINY_IM_END);
    assert_true(vouch_tokenizer_ends_answer(tokenizer, TINY_IM_END));
    assert_true(vouch_tokenizer_ends_answer(tokenizer, TINY_ENDOFTEXT));
    assert_false(vouch_tokenizer_ends_answer(tokenizer, TINY_PAD));
    vouch_tokenizer_close(tokenizer);
}

/* ------------------------------------------------------------------ long runs */

static const char *const classes[] = {"a",
                                      "5",
                                      " ",
                                      "\n",
                                      "\r\n",
                                      "\t",
                                      "!",
                                      "'",
                                      "\xe4\xbd\xa0",
                                      "\xcc\x81",
                                      "\xcc\x81\xcc\xa3",
                                      "\xf0\x9f\x98\xb6\xe2\x80\x8d",
                                      "\xc2\xa0",
                                      "\xff",
                                      "\xe4\xbd",
                                      "<",
                                      "<|",
                                      "",
                                      "ab1 "};
enum { N_CLASSES = sizeof classes / sizeof *classes };

static char *run_make(const char *unit, size_t count, size_t *n)
{
    const size_t length = *unit ? strlen(unit) : 1; /* the empty unit stands for NUL */
    char *text = malloc(count * length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) memcpy(text + i * length, unit, length);
    *n = count * length;
    return text;
}

static void check_runs(size_t count)
{
    for (size_t p = 0; p < N_CUTS; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(cuts[p], TINY_SIZE);
        for (size_t c = 0; c < N_CLASSES; c++) {
            size_t n;
            char *text = run_make(classes[c], p < N_PRES ? count : count / 5, &n);
            if (strcmp(cuts[p], "qwen2") == 0 && strstr(classes[c], "\xcc\x81\xcc\xa3")) {
                ids got = encode(tokenizer, text, n, 0); /* NFC reorders the marks */
                assert_true(got.n > 0);
                free(got.at);
            } else {
                assert_round_trip(tokenizer, text, n);
            }
            free(text);
        }
        vouch_tokenizer_close(tokenizer);
    }
}

static void runs_of_one_class(void **state)
{
    (void)state;
    check_runs(20000);
}

static void runs_of_a_million(void **state)
{
    (void)state;
    test_skip_slow();
    check_runs(1000000);
}

/* The lengths of a text's words, hashed. */
static vouch_status word_hash(void *user, const char *word, size_t n, vouch_error *err)
{
    uint64_t *hash = user;
    (void)word;
    (void)err;
    *hash = (*hash ^ n) * 0x100000001b3;
    return VOUCH_OK;
}

/* PCRE2's interpreter must give the same words as its JIT compiler, on long runs, too. */
static void words_without_jit(void **state)
{
    (void)state;
    test_skip_slow();
    const size_t count = 100000;
    for (size_t p = 0; p < N_CUTS; p++) {
        vouch_tokenizer *tokenizer = tiny_tokenizer(cuts[p], TINY_SIZE);
        pcre2_match_data *match = pcre2_match_data_create(1, NULL);
        for (size_t c = 0; c < N_CLASSES; c++) {
            size_t n;
            uint64_t with = 0, without = 0;
            char *text = run_make(classes[c], p < N_PRES ? count : count / 5, &n);
            n = vouch_utf8_valid_prefix(text, n);
            const word_walk compiled = {&tokenizer->pre, match, 0, word_hash, &with},
                            plain = {&tokenizer->pre, match, PCRE2_NO_JIT, word_hash, &without};
            assert_int_equal(vouch_pretokenizer_words(&compiled, text, n, NULL), VOUCH_OK);
            assert_int_equal(vouch_pretokenizer_words(&plain, text, n, NULL), VOUCH_OK);
            assert_true(with == without);
            free(text);
        }
        pcre2_match_data_free(match);
        vouch_tokenizer_close(tokenizer);
    }
}

/* ------------------------------------------------------------------ threads */

typedef struct thread_work {
    const vouch_tokenizer *tokenizer;
    const char *text;
    size_t n;
    ids expected;
    bool same;
} thread_work;

static void *thread_encode(void *arg)
{
    thread_work *work = arg;
    work->same = true;
    for (int round = 0; round < 20; round++) {
        size_t n = 0;
        int32_t *out = calloc(work->expected.n, sizeof *out);
        work->same = work->same && out &&
                     vouch_tokenizer_encode(work->tokenizer, work->text, work->n, 0, out, work->expected.n, &n, NULL) ==
                         VOUCH_OK &&
                     n == work->expected.n && memcmp(out, work->expected.at, n * sizeof *out) == 0;
        free(out);
    }
    return NULL;
}

static void threads_share_a_tokenizer(void **state)
{
    (void)state;
    char text[4096];
    test_random random = {17};
    size_t n = 0;
    while (n < sizeof text - 8) n += character_random(&random, text + n);
    vouch_tokenizer *tokenizer = tiny_tokenizer("qwen2", TINY_SIZE);
    ids expected = encode(tokenizer, text, n, 0);
    thread_work work[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        work[i] = (thread_work){tokenizer, text, n, expected, false};
        assert_int_equal(pthread_create(&threads[i], NULL, thread_encode, &work[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(work[i].same);
    }
    free(expected.at);
    vouch_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_gpt2),
        cmocka_unit_test(vectors_llama_bpe),
        cmocka_unit_test(vectors_qwen2),
        cmocka_unit_test(vectors_starcoder),
        cmocka_unit_test(vectors_llama_spm),
        cmocka_unit_test(vectors_phi3),
        cmocka_unit_test(vectors_transformers),
        cmocka_unit_test(golden_smollm),
        cmocka_unit_test(words_of_each_pretokenizer),
        cmocka_unit_test(words_of_the_other_pretokenizers),
        cmocka_unit_test(names_of_pretokenizers),
        cmocka_unit_test(merges_as_defined),
        cmocka_unit_test(whole_words),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(nfc_as_utf8proc),
        cmocka_unit_test(qwen2_normalises),
        cmocka_unit_test(invalid_utf8),
        cmocka_unit_test(bytes_without_a_token_become_replacement_characters),
        cmocka_unit_test(smollm_loses_no_byte),
        cmocka_unit_test(specials_only_where_asked),
        cmocka_unit_test(runs_of_one_class),
        cmocka_unit_test(runs_of_a_million),
        cmocka_unit_test(words_without_jit),
        cmocka_unit_test(threads_share_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
