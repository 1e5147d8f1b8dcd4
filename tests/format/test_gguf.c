/* SPDX-License-Identifier: MIT */
/*
 * The GGUF reader and writer in memory. A written file reads back unchanged. Truncated and damaged copies either open
 * or give an error (law L5). Files made by other programs open too. test_gguf_bad.c holds malformed files made by hand,
 * test_gguf_file.c the tests on disk.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/gguf.h"

/* ------------------------------------------------------------ files written */

static const float floats[64] = {1.5f, -2.0f, 0.25f};

/* A file with a key of every type and tensors of five types. The caller frees the bytes. */
static unsigned char *write_sample(uint32_t alignment, size_t *size)
{
    static const unsigned char blocks[2 * 34] = {1, 2, 3};
    static const uint16_t halves[6] = {0x3c00, 0xc000};
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "f32", VOUCH_TYPE_F32, 2, (const int64_t[]){3, 5}, floats);
    vouch_gguf_add_tensor(w, "f16", VOUCH_TYPE_F16, 3, (const int64_t[]){3, 1, 2}, halves);
    vouch_gguf_add_text(w, "general.architecture", "llama");
    if (alignment) vouch_gguf_add_u32(w, "general.alignment", alignment);
    vouch_gguf_add_value(w, "u8", VOUCH_GGUF_U8, &(uint8_t){200});
    vouch_gguf_add_value(w, "i8", VOUCH_GGUF_I8, &(int8_t){-100});
    vouch_gguf_add_value(w, "u16", VOUCH_GGUF_U16, &(uint16_t){60000});
    vouch_gguf_add_value(w, "i16", VOUCH_GGUF_I16, &(int16_t){-30000});
    vouch_gguf_add_u32(w, "u32", 4000000000u);
    vouch_gguf_add_value(w, "i32", VOUCH_GGUF_I32, &(int32_t){-2000000000});
    vouch_gguf_add_value(w, "u64", VOUCH_GGUF_U64, &(uint64_t){INT64_MAX});
    vouch_gguf_add_value(w, "u64.max", VOUCH_GGUF_U64, &(uint64_t){UINT64_MAX});
    vouch_gguf_add_value(w, "i64", VOUCH_GGUF_I64, &(int64_t){INT64_MIN});
    vouch_gguf_add_f32(w, "f32", -0.5f);
    vouch_gguf_add_value(w, "f64", VOUCH_GGUF_F64, &(double){1e300});
    vouch_gguf_add_f32(w, "nan", NAN);
    vouch_gguf_add_bool(w, "bool", true);
    vouch_gguf_add_bool(w, "bool.false", false);
    vouch_gguf_add_text(w, "text.empty", "");
    vouch_gguf_add_texts(w, "texts", (const vouch_text[]){{"one", 3}, {"", 0}, {"t\0o", 3}}, 3);
    vouch_gguf_add_texts(w, "texts.none", NULL, 0);
    vouch_gguf_add_array(w, "a.u8", VOUCH_GGUF_U8, (const uint8_t[]){0, 255}, 2);
    vouch_gguf_add_array(w, "a.i8", VOUCH_GGUF_I8, (const int8_t[]){-128, 127}, 2);
    vouch_gguf_add_array(w, "a.u16", VOUCH_GGUF_U16, (const uint16_t[]){0, 65535}, 2);
    vouch_gguf_add_array(w, "a.i16", VOUCH_GGUF_I16, (const int16_t[]){-32768, 32767}, 2);
    vouch_gguf_add_array(w, "a.u32", VOUCH_GGUF_U32, (const uint32_t[]){0, UINT32_MAX}, 2);
    vouch_gguf_add_array(w, "a.i32", VOUCH_GGUF_I32, (const int32_t[]){INT32_MIN, INT32_MAX}, 2);
    vouch_gguf_add_array(w, "a.u64", VOUCH_GGUF_U64, (const uint64_t[]){0, UINT64_MAX}, 2);
    vouch_gguf_add_array(w, "a.i64", VOUCH_GGUF_I64, (const int64_t[]){INT64_MIN, INT64_MAX}, 2);
    vouch_gguf_add_array(w, "a.f32", VOUCH_GGUF_F32, (const float[]){-1.25f, 3e38f}, 2);
    vouch_gguf_add_array(w, "a.f64", VOUCH_GGUF_F64, (const double[]){-1.25, 1e300}, 2);
    vouch_gguf_add_array(w, "a.bool", VOUCH_GGUF_BOOL, (const bool[]){false, true}, 2);
    vouch_gguf_add_array(w, "a.none", VOUCH_GGUF_U32, NULL, 0);
    vouch_gguf_add_tensor(w, "q4_0", VOUCH_TYPE_Q4_0, 1, (const int64_t[]){64}, blocks);
    vouch_gguf_add_tensor(w, "q4_1", VOUCH_TYPE_Q4_1, 2, (const int64_t[]){32, 2}, blocks);
    vouch_gguf_add_tensor(w, "q8_0", VOUCH_TYPE_Q8_0, 4, (const int64_t[]){32, 1, 1, 2}, blocks);
    return writer_finish(w, size);
}

static void expect_pair(const vouch_gguf *gguf, const char *key, vouch_gguf_type type, int64_t first, int64_t second)
{
    vouch_gguf_array array;
    assert_int_equal(vouch_gguf_get_array(gguf, key, true, &array, NULL), VOUCH_OK);
    assert_int_equal(array.type, type);
    assert_int_equal(array.count, 2);
    assert_true(vouch_gguf_array_int(&array, 0) == first);
    assert_true(vouch_gguf_array_int(&array, 1) == second);
}

static void expect_tensor(const vouch_gguf *gguf, const char *name, uint32_t type, uint32_t n_dims,
                          const int64_t dim[4], size_t bytes, size_t alignment)
{
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->type, type);
    assert_int_equal(tensor->n_dims, n_dims);
    assert_memory_equal(tensor->dim, dim, 4 * sizeof *dim);
    assert_int_equal(tensor->bytes, bytes);
    assert_int_equal((uintptr_t)tensor->data % (alignment < 16 ? alignment : 16), 0);
}

static void expect_sample(const vouch_gguf *gguf, size_t alignment)
{
    vouch_text text = {0};
    vouch_gguf_array array;
    bool flag = false;
    double number = 0;

    assert_int_equal(vouch_gguf_n_tensors(gguf), 5);
    assert_int_equal(get_int(gguf, "u8"), 200);
    assert_int_equal(get_int(gguf, "i8"), -100);
    assert_int_equal(get_int(gguf, "u16"), 60000);
    assert_int_equal(get_int(gguf, "i16"), -30000);
    assert_true(get_int(gguf, "u32") == 4000000000);
    assert_int_equal(get_int(gguf, "i32"), -2000000000);
    assert_true(get_int(gguf, "u64") == INT64_MAX);
    assert_true(get_int(gguf, "i64") == INT64_MIN);
    assert_int_equal(vouch_gguf_get_float(gguf, "f32", true, &number, NULL), VOUCH_OK);
    assert_true(number == -0.5);
    assert_int_equal(vouch_gguf_get_float(gguf, "f64", true, &number, NULL), VOUCH_OK);
    assert_true(number == 1e300);
    assert_int_equal(vouch_gguf_get_bool(gguf, "bool", true, &flag, NULL), VOUCH_OK);
    assert_true(flag);
    assert_int_equal(vouch_gguf_get_bool(gguf, "bool.false", true, &flag, NULL), VOUCH_OK);
    assert_false(flag);
    assert_int_equal(vouch_gguf_get_text(gguf, "general.architecture", true, &text, NULL), VOUCH_OK);
    assert_int_equal(text.size, 5);
    assert_memory_equal(text.data, "llama", 5);
    assert_int_equal(vouch_gguf_get_text(gguf, "text.empty", true, &text, NULL), VOUCH_OK);
    assert_int_equal(text.size, 0);

    expect_pair(gguf, "a.u8", VOUCH_GGUF_U8, 0, 255);
    expect_pair(gguf, "a.i8", VOUCH_GGUF_I8, -128, 127);
    expect_pair(gguf, "a.u16", VOUCH_GGUF_U16, 0, 65535);
    expect_pair(gguf, "a.i16", VOUCH_GGUF_I16, -32768, 32767);
    expect_pair(gguf, "a.u32", VOUCH_GGUF_U32, 0, UINT32_MAX);
    expect_pair(gguf, "a.i32", VOUCH_GGUF_I32, INT32_MIN, INT32_MAX);
    expect_pair(gguf, "a.u64", VOUCH_GGUF_U64, 0, INT64_MAX); /* UINT64_MAX saturates */
    expect_pair(gguf, "a.i64", VOUCH_GGUF_I64, INT64_MIN, INT64_MAX);
    expect_pair(gguf, "a.bool", VOUCH_GGUF_BOOL, 0, 1);
    assert_int_equal(vouch_gguf_get_array(gguf, "a.f32", true, &array, NULL), VOUCH_OK);
    assert_true(vouch_gguf_array_float(&array, 0) == -1.25 && vouch_gguf_array_float(&array, 1) == 3e38f);
    assert_int_equal(vouch_gguf_get_array(gguf, "a.f64", true, &array, NULL), VOUCH_OK);
    assert_true(vouch_gguf_array_float(&array, 0) == -1.25 && vouch_gguf_array_float(&array, 1) == 1e300);
    assert_int_equal(vouch_gguf_get_array(gguf, "a.none", true, &array, NULL), VOUCH_OK);
    assert_true(array.count == 0 && array.type == VOUCH_GGUF_U32);
    assert_int_equal(vouch_gguf_get_array(gguf, "texts.none", true, &array, NULL), VOUCH_OK);
    assert_true(array.count == 0 && array.type == VOUCH_GGUF_STRING);

    assert_int_equal(vouch_gguf_get_array(gguf, "texts", true, &array, NULL), VOUCH_OK);
    assert_true(array.count == 3 && array.type == VOUCH_GGUF_STRING);
    const unsigned char *cursor = array.data;
    text = vouch_gguf_next_text(&cursor);
    assert_true(text.size == 3 && memcmp(text.data, "one", 3) == 0);
    text = vouch_gguf_next_text(&cursor);
    assert_int_equal(text.size, 0);
    text = vouch_gguf_next_text(&cursor);
    assert_true(text.size == 3 && memcmp(text.data, "t\0o", 3) == 0);

    expect_tensor(gguf, "f32", VOUCH_TYPE_F32, 2, (const int64_t[]){3, 5, 1, 1}, 60, alignment);
    expect_tensor(gguf, "f16", VOUCH_TYPE_F16, 3, (const int64_t[]){3, 1, 2, 1}, 12, alignment);
    expect_tensor(gguf, "q4_0", VOUCH_TYPE_Q4_0, 1, (const int64_t[]){64, 1, 1, 1}, 36, alignment);
    expect_tensor(gguf, "q4_1", VOUCH_TYPE_Q4_1, 2, (const int64_t[]){32, 2, 1, 1}, 40, alignment);
    expect_tensor(gguf, "q8_0", VOUCH_TYPE_Q8_0, 4, (const int64_t[]){32, 1, 1, 2}, 68, alignment);
    assert_memory_equal(vouch_gguf_find_tensor(gguf, "f32")->data, floats, 60);
    assert_null(vouch_gguf_find_tensor(gguf, "f3"));
    assert_null(vouch_gguf_find_tensor(gguf, ""));
}

static void test_round_trip(void **state)
{
    (void)state;
    static const uint32_t alignments[] = {0, 8, 16, 32, 64, 4096, 1 << 20};
    for (size_t i = 0; i < sizeof alignments / sizeof alignments[0]; i++) {
        for (uint32_t version = 2; version <= 3; version++) {
            size_t size;
            unsigned char *bytes = write_sample(alignments[i], &size);
            assert_int_equal(bytes[4], 3);
            bytes[4] = (unsigned char)version;
            vouch_gguf *gguf = open_bytes(bytes, size);
            const size_t alignment = alignments[i] ? alignments[i] : 32;
            expect_sample(gguf, alignment);
            for (size_t t = 0; t < vouch_gguf_n_tensors(gguf); t++) {
                const unsigned char *data = vouch_gguf_get_tensor(gguf, t)->data;
                assert_int_equal((size_t)(data - bytes) % alignment, 0);
            }
            assert_int_equal(size % alignment, 0);
            vouch_gguf_close(gguf);
            free(bytes);
        }
    }
}

static void test_order_and_names(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_sample(0, &size);
    vouch_gguf *gguf = open_bytes(bytes, size);
    vouch_gguf_type type;
    const vouch_text key = vouch_gguf_key(gguf, 0, &type);
    assert_true(key.size == 20 && memcmp(key.data, "general.architecture", 20) == 0);
    assert_int_equal(type, VOUCH_GGUF_STRING);
    assert_true(vouch_gguf_key(gguf, 1, NULL).size == 2);
    assert_memory_equal(vouch_gguf_get_tensor(gguf, 1)->name.data, "f16", 3);
    assert_true(vouch_gguf_has(gguf, "u8") && !vouch_gguf_has(gguf, "u9") && !vouch_gguf_has(gguf, ""));
    assert_string_equal(vouch_gguf_path(gguf), "some.gguf");
    assert_int_equal(vouch_gguf_file_bytes(gguf), size);
    for (uint32_t i = 0; i < VOUCH_GGUF_TYPE_COUNT; i++) assert_non_null(vouch_gguf_type_name(i));
    assert_null(vouch_gguf_type_name(VOUCH_GGUF_TYPE_COUNT));
    assert_null(vouch_gguf_type_name(UINT32_MAX));
    assert_int_equal(vouch_gguf_load(gguf, vouch_gguf_get_tensor(gguf, 0), 0, 60, NULL), VOUCH_OK);
    assert_int_equal(vouch_gguf_recheck(gguf, NULL), VOUCH_OK);
    vouch_gguf_close(gguf);
    vouch_gguf_close(NULL);
    free(bytes);
}

/* ---------------------------------------------------------------- getters */

static void test_getters_refuse(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_sample(0, &size);
    vouch_gguf *g = open_bytes(bytes, size);
    vouch_error err;
    int64_t integer = 7;
    double number = 7;
    bool flag = true;
    vouch_text text = {"seven", 5};
    vouch_gguf_array array = {VOUCH_GGUF_U8, 7, bytes};

    /* A missing key: an optional one leaves the default, a required one is an error. */
    assert_int_equal(vouch_gguf_get_int(g, "no", false, 0, 9, &integer, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_get_float(g, "no", false, &number, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_get_bool(g, "no", false, &flag, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_get_text(g, "no", false, &text, &err), VOUCH_OK);
    assert_true(integer == 7 && number == 7 && flag && text.size == 5);
    assert_int_equal(vouch_gguf_get_array(g, "no", false, &array, &err), VOUCH_OK);
    assert_int_equal(array.count, 0);
#define EXPECT(call, words)                                                                                  \
    do {                                                                                                     \
        err = (vouch_error){0};                                                                              \
        assert_int_equal(call, VOUCH_E_FORMAT);                                                              \
        assert_int_equal(err.code, VOUCH_E_FORMAT);                                                          \
        if (!strstr(err.message, words)) fail_msg("'%s' lacks '%s'", err.message, words);                    \
    } while (0)
    EXPECT(vouch_gguf_get_int(g, "a.key", true, 0, 9, &integer, &err), "'a.key' is missing");
    EXPECT(vouch_gguf_get_float(g, "a.key", true, &number, &err), "'a.key' is missing");
    EXPECT(vouch_gguf_get_bool(g, "a.key", true, &flag, &err), "'a.key' is missing");
    EXPECT(vouch_gguf_get_text(g, "a.key", true, &text, &err), "'a.key' is missing");
    EXPECT(vouch_gguf_get_array(g, "a.key", true, &array, &err), "'a.key' is missing");
    /* A key of the wrong type. */
    EXPECT(vouch_gguf_get_int(g, "f32", false, 0, 9, &integer, &err), "'f32' is of type f32");
    EXPECT(vouch_gguf_get_int(g, "bool", false, 0, 9, &integer, &err), "'bool' is of type bool");
    EXPECT(vouch_gguf_get_int(g, "a.u8", false, 0, 9, &integer, &err), "'a.u8' is an array of u8");
    EXPECT(vouch_gguf_get_float(g, "u32", false, &number, &err), "'u32' is of type u32");
    EXPECT(vouch_gguf_get_float(g, "a.f32", false, &number, &err), "'a.f32' is an array of f32");
    EXPECT(vouch_gguf_get_bool(g, "u8", false, &flag, &err), "'u8' is of type u8");
    EXPECT(vouch_gguf_get_text(g, "u8", false, &text, &err), "'u8' is of type u8");
    EXPECT(vouch_gguf_get_text(g, "texts", false, &text, &err), "'texts' is an array of string");
    EXPECT(vouch_gguf_get_array(g, "u8", false, &array, &err), "'u8' is of type u8");
    /* A value out of range. */
    EXPECT(vouch_gguf_get_int(g, "u8", false, 0, 199, &integer, &err), "'u8' is 200; it must be 0 to 199");
    EXPECT(vouch_gguf_get_int(g, "i8", false, -99, 0, &integer, &err), "'i8' is -100; it must be -99 to 0");
    EXPECT(vouch_gguf_get_int(g, "u64.max", false, 0, INT64_MAX, &integer, &err), "'u64.max' is 18446744073709551615");
    EXPECT(vouch_gguf_get_float(g, "nan", false, &number, &err), "must be finite");
    assert_true(integer == 7 && number == 7 && flag && text.size == 5);
#undef EXPECT
    vouch_gguf_close(g);
    free(bytes);
}

static void test_trailing_bytes(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_sample(0, &size);
    bytes = realloc(bytes, size + 9);
    assert_non_null(bytes);
    memcpy(bytes + size, "left over", 9);
    vouch_gguf *gguf = open_bytes(bytes, size + 9);
    expect_sample(gguf, 32);
    vouch_gguf_close(gguf);
    free(bytes);
}

/* ------------------------------------------------------ truncation, mutation */

/* Opens the first n bytes from a heap block of exactly n bytes, so that sanitizers notice a read past the end. */
static vouch_status open_prefix(const unsigned char *bytes, size_t n)
{
    vouch_error err = {0};
    vouch_gguf *gguf;
    unsigned char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n) memcpy(copy, bytes, n);
    const vouch_status status = vouch_gguf_open_bytes(&gguf, copy, n, "some.gguf", &err);
    if (status == VOUCH_OK) gguf_walk(gguf);
    else assert_true(err.code == status && strncmp(err.message, "some.gguf: ", 11) == 0);
    vouch_gguf_close(gguf);
    free(copy);
    return status;
}

static void test_truncated_everywhere(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_sample(0, &size);
    const size_t padding = 28; /* after the last tensor, q8_0, whose 68 bytes are no multiple of 32 */
    for (size_t n = 0; n < size - padding; n++) assert_int_equal(open_prefix(bytes, n), VOUCH_E_FORMAT);
    for (size_t n = size - padding; n <= size; n++) assert_int_equal(open_prefix(bytes, n), VOUCH_OK);
    free(bytes);
}

static void test_truncated_larger(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_larger(&size);
    assert_true(size > 1000000);
    for (size_t i = 0; i < 64; i++) assert_int_equal(open_prefix(bytes, size * i / 64), VOUCH_E_FORMAT);
    assert_int_equal(open_prefix(bytes, size - 1), VOUCH_E_FORMAT);
    assert_int_equal(open_prefix(bytes, size), VOUCH_OK);
    free(bytes);
}

/* Makes 1 to 4 changes, mostly in the header: flips a bit, sets a byte, writes an extreme number, or copies a range. */
static void mutate(unsigned char *bytes, size_t size, test_random *random)
{
    static const uint64_t special[] = {
        0, 1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, (uint64_t)1 << 61, (uint64_t)1 << 63, UINT64_MAX};
    for (uint32_t changes = 1 + test_below(random, 4); changes > 0; changes--) {
        const size_t at = test_below(random, (uint32_t)size - 8);
        const uint64_t value = special[test_below(random, sizeof special / sizeof special[0])];
        switch (test_below(random, 5)) {
        case 0: bytes[at] ^= (unsigned char)(1u << test_below(random, 8)); break;
        case 1: bytes[at] = (unsigned char)test_next(random); break;
        case 2: memcpy(bytes + at, &value, 4); break;
        case 3: memcpy(bytes + at, &value, 8); break;
        default: memmove(bytes + at, bytes + test_below(random, (uint32_t)size - 8), 8); break;
        }
    }
}

static void test_mutations(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = write_sample(0, &size), *copy = malloc(size);
    test_random random = {260};
    unsigned opened = 0, refused = 0;
    for (int i = 0; i < 5000; i++) {
        memcpy(copy, bytes, size);
        mutate(copy, size, &random);
        if (open_prefix(copy, size) == VOUCH_OK) opened++;
        else refused++;
    }
    assert_true(opened > 100 && refused > 1000); /* the mutations cause both outcomes often */
    free(copy);
    free(bytes);
}

/* ------------------------------------------------------------------ fixtures */

static void test_files_of_other_programs(void **state)
{
    (void)state;
    vouch_error err;
    vouch_gguf *gguf;
    const char *path = test_data_needed("models/weight-inspect-empty.gguf");
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_true(vouch_gguf_n_kv(gguf) == 1 && vouch_gguf_n_tensors(gguf) == 0);
    vouch_gguf_close(gguf);
    path = test_data_needed("models/weight-inspect-tiny.gguf"); /* a valid header without its data */
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "tensor 'test.weight.0': its 32768 bytes at offset 0 go beyond"));
    path = test_data_needed("models/stories260K.bin"); /* not a GGUF file */
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_FORMAT);
}

static void test_vocabularies(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n_kv, n_tokens;
    } files[] = {{"gpt-2", 16, 50257}, {"llama-bpe", 20, 128256}, {"llama-spm", 22, 32000},
                 {"phi-3", 26, 32064}, {"qwen2", 20, 151936},     {"starcoder", 19, 49152}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char relative[96];
        vouch_error err;
        vouch_gguf *gguf;
        vouch_gguf_array tokens;
        snprintf(relative, sizeof relative, "tokenizers/vectors/ggml-vocab-%s.gguf", files[i].name);
        const char *path = test_data_needed(relative);
        if (vouch_gguf_open(&gguf, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
        assert_int_equal(vouch_gguf_n_kv(gguf), files[i].n_kv);
        assert_int_equal(vouch_gguf_get_array(gguf, "tokenizer.ggml.tokens", true, &tokens, &err), VOUCH_OK);
        assert_int_equal(tokens.count, files[i].n_tokens);
        assert_true(gguf_walk(gguf) > 0);
        vouch_gguf_close(gguf);
    }
}

static void test_real_model(void **state)
{
    (void)state;
    const char *path = test_model();
    if (!path) test_skip("no real model");
    vouch_error err;
    vouch_gguf *gguf;
    if (vouch_gguf_open(&gguf, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
    assert_int_equal(vouch_gguf_n_tensors(gguf), 272);
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    assert_non_null(embedding);
    assert_true(embedding->dim[0] == 576 && embedding->dim[1] == 49152);
    assert_int_equal(embedding->type, VOUCH_TYPE_Q8_0);
    assert_true(gguf_walk(gguf) > 0);
    vouch_gguf_close(gguf);
}

/* Keys copied from an open file are the same bytes, among them general.alignment, which moves the tensors. */
static void test_copied_keys(void **state)
{
    (void)state;
    size_t size, n_copy;
    void *copy;
    unsigned char *bytes = write_sample(64, &size);
    vouch_gguf *gguf;
    assert_int_equal(vouch_gguf_open_bytes(&gguf, bytes, size, "sample", NULL), VOUCH_OK);
    vouch_gguf_writer *w = writer_open();
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) vouch_gguf_add_key(w, gguf, i);
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        char name[65];
        snprintf(name, sizeof name, "%.*s", (int)t->name.size, t->name.data);
        vouch_gguf_add_tensor(w, name, (vouch_type)t->type, t->n_dims, t->dim, t->data);
    }
    assert_int_equal(vouch_gguf_write_bytes(w, &copy, &n_copy, NULL), VOUCH_OK);
    assert_int_equal(n_copy, size);
    assert_memory_equal(copy, bytes, size);
    vouch_gguf_writer_close(w);
    vouch_gguf_close(gguf);
    free(copy);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copied_keys),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_order_and_names),
        cmocka_unit_test(test_getters_refuse),
        cmocka_unit_test(test_trailing_bytes),
        cmocka_unit_test(test_truncated_everywhere),
        cmocka_unit_test(test_truncated_larger),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_files_of_other_programs),
        cmocka_unit_test(test_vocabularies),
        cmocka_unit_test(test_real_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
