/* SPDX-License-Identifier: MIT */
/*
 * GGUF: what is written is read back, and no file kills (L5).
 *
 * Bad files are laid out by hand here (`raw`), byte for byte and without the writer, so that a mistake common
 * to reader and writer can't hide. Each expects a status and the words of the message that name the field and
 * the value.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/filemap.h"
#include "format/gguf.h"
#include "support/test.h"

/* ---------------------------------------------------------- files by hand */

typedef struct raw {
    unsigned char *data;
    size_t size;
} raw;

static void raw_put(raw *r, const void *data, size_t size)
{
    r->data = realloc(r->data, r->size + size + 1);
    assert_non_null(r->data);
    if (size) memcpy(r->data + r->size, data, size);
    r->size += size;
}

static void raw_u8(raw *r, unsigned value)
{
    const unsigned char byte = (unsigned char)value;
    raw_put(r, &byte, 1);
}

static void raw_u32(raw *r, uint32_t value)
{
    raw_put(r, &value, sizeof value);
}

static void raw_u64(raw *r, uint64_t value)
{
    raw_put(r, &value, sizeof value);
}

static void raw_text(raw *r, const char *text)
{
    raw_u64(r, strlen(text));
    raw_put(r, text, strlen(text));
}

static void raw_header(raw *r, uint32_t version, uint64_t n_tensors, uint64_t n_kv)
{
    raw_put(r, "GGUF", 4);
    raw_u32(r, version);
    raw_u64(r, n_tensors);
    raw_u64(r, n_kv);
}

static void raw_kv(raw *r, const char *key, uint32_t type)
{
    raw_text(r, key);
    raw_u32(r, type);
}

static void raw_kv_u32(raw *r, const char *key, uint32_t value)
{
    raw_kv(r, key, VOUCH_GGUF_U32);
    raw_u32(r, value);
}

static void raw_tensor(raw *r, const char *name, uint32_t n_dims, const uint64_t *dim, uint32_t type,
                       uint64_t offset)
{
    raw_text(r, name);
    raw_u32(r, n_dims);
    for (uint32_t i = 0; i < n_dims; i++) raw_u64(r, dim[i]);
    raw_u32(r, type);
    raw_u64(r, offset);
}

static void raw_zeros(raw *r, size_t n)
{
    while (n-- > 0) raw_u8(r, 0);
}

static void raw_data(raw *r, size_t alignment, size_t bytes)
{
    raw_zeros(r, (alignment - r->size % alignment) % alignment + bytes);
}

/* Frees r. The message has to begin with the file's name and hold `words`. */
static void expect_fail_(raw *r, vouch_status status, const char *words, int line)
{
    vouch_error err = {0};
    vouch_gguf *gguf = (vouch_gguf *)r;
    const vouch_status got = vouch_gguf_open_bytes(&gguf, r->data, r->size, "some.gguf", &err);
    if (got != status || gguf != NULL || err.code != status || !strstr(err.message, words) ||
        strncmp(err.message, "some.gguf: ", 11) != 0)
        fail_msg("line %d: status %d, not %d; message '%s' for '%s'", line, got, status, err.message, words);
    free(r->data);
    *r = (raw){0};
}
#define expect_fail(r, status, words) expect_fail_(r, status, words, __LINE__)

/* Frees r. */
static void expect_ok_(raw *r, int line)
{
    vouch_error err = {0};
    vouch_gguf *gguf = NULL;
    if (vouch_gguf_open_bytes(&gguf, r->data, r->size, "some.gguf", &err) != VOUCH_OK)
        fail_msg("line %d: %s", line, err.message);
    vouch_gguf_close(gguf);
    free(r->data);
    *r = (raw){0};
}
#define expect_ok(r) expect_ok_(r, __LINE__)

/* ------------------------------------------------------------ files written */

static const float floats[64] = {1.5f, -2.0f, 0.25f};

/* A file with a key of every type and a tensor of every supported type. Its bytes are the caller's. */
static unsigned char *write_sample(uint32_t alignment, size_t *size)
{
    static const unsigned char blocks[2 * 34] = {1, 2, 3};
    static const uint16_t halves[6] = {0x3c00, 0xc000};
    vouch_gguf_writer *w;
    vouch_error err;
    void *bytes;
    assert_int_equal(vouch_gguf_writer_open(&w, &err), VOUCH_OK);
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
    if (vouch_gguf_write_bytes(w, &bytes, size, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_writer_close(w);
    return bytes;
}

static vouch_gguf *open_bytes(const void *bytes, size_t size)
{
    vouch_gguf *gguf = NULL;
    vouch_error err;
    if (vouch_gguf_open_bytes(&gguf, bytes, size, "some.gguf", &err) != VOUCH_OK) fail_msg("%s", err.message);
    return gguf;
}

static int64_t get_int(const vouch_gguf *gguf, const char *key)
{
    int64_t value = 42;
    vouch_error err;
    if (vouch_gguf_get_int(gguf, key, true, INT64_MIN, INT64_MAX, &value, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    return value;
}

static void expect_pair(const vouch_gguf *gguf, const char *key, vouch_gguf_type type, int64_t first,
                        int64_t second)
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
    assert_int_equal(vouch_gguf_load_tensor(gguf, vouch_gguf_get_tensor(gguf, 0), NULL), VOUCH_OK);
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

    /* Absent: the default stays, or an error. */
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
    /* Another type. */
    EXPECT(vouch_gguf_get_int(g, "f32", false, 0, 9, &integer, &err), "'f32' is of type f32");
    EXPECT(vouch_gguf_get_int(g, "bool", false, 0, 9, &integer, &err), "'bool' is of type bool");
    EXPECT(vouch_gguf_get_int(g, "a.u8", false, 0, 9, &integer, &err), "'a.u8' is an array of u8");
    EXPECT(vouch_gguf_get_float(g, "u32", false, &number, &err), "'u32' is of type u32");
    EXPECT(vouch_gguf_get_float(g, "a.f32", false, &number, &err), "'a.f32' is an array of f32");
    EXPECT(vouch_gguf_get_bool(g, "u8", false, &flag, &err), "'u8' is of type u8");
    EXPECT(vouch_gguf_get_text(g, "u8", false, &text, &err), "'u8' is of type u8");
    EXPECT(vouch_gguf_get_text(g, "texts", false, &text, &err), "'texts' is an array of string");
    EXPECT(vouch_gguf_get_array(g, "u8", false, &array, &err), "'u8' is of type u8");
    /* Another range. */
    EXPECT(vouch_gguf_get_int(g, "u8", false, 0, 199, &integer, &err), "'u8' is 200, but 0 to 199");
    EXPECT(vouch_gguf_get_int(g, "i8", false, -99, 0, &integer, &err), "'i8' is -100, but -99 to 0");
    EXPECT(vouch_gguf_get_int(g, "u64.max", false, 0, INT64_MAX, &integer, &err),
           "'u64.max' is 18446744073709551615");
    EXPECT(vouch_gguf_get_float(g, "nan", false, &number, &err), "must be finite");
    assert_true(integer == 7 && number == 7 && flag && text.size == 5);
#undef EXPECT
    vouch_gguf_close(g);
    free(bytes);
}

/* ------------------------------------------------------------- bad headers */

static void test_bad_magic(void **state)
{
    (void)state;
    static const struct {
        const char *start, *words;
    } cases[] = {
        {"GGUE", "begins with 47 47 55 45"},    {"tjgg", "old GGML file"},
        {"version https://git-lfs", "Git LFS"}, {"<!DOCTYPE html>", "web page"},
        {"PK\3\4", "zip or PyTorch"},           {"FUGG", "begins with 46"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw r = {0};
        raw_put(&r, cases[i].start, strlen(cases[i].start));
        raw_zeros(&r, 32);
        expect_fail(&r, VOUCH_E_FORMAT, cases[i].words);
    }
}

static void test_bad_version(void **state)
{
    (void)state;
    raw r = {0};
    raw_header(&r, 0, 0, 0);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "version 0 is not supported, 2 and 3 are");
    raw_header(&r, 1, 0, 0);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "convert the original model again");
    raw_header(&r, 4, 0, 0);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "version 4 is not supported");
    raw_header(&r, UINT32_MAX, 0, 0);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "version 4294967295");
    raw_header(&r, 0x03000000, 0, 0);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "big-endian GGUF file (version 0x03000000)");
    raw_header(&r, 2, 0, 0);
    expect_ok(&r);
    raw_header(&r, 3, 0, 0);
    expect_ok(&r);
}

static void test_bad_counts(void **state)
{
    (void)state;
    /* The last but one is plausible and would ask for gigabytes; 100 bytes hold 7 keys or 3 tensors at most.
     */
    static const uint64_t counts[] = {UINT64_MAX,          (uint64_t)1 << 63, (uint64_t)1 << 61,
                                      UINT64_MAX / 14 + 1, 1000000000,        8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char words[64];
        raw r = {0};
        raw_header(&r, 3, counts[i], 0);
        raw_zeros(&r, 100);
        snprintf(words, sizeof words, "%" PRIu64 " tensors", counts[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
        raw_header(&r, 3, 0, counts[i]);
        raw_zeros(&r, 100);
        snprintf(words, sizeof words, "%" PRIu64 " metadata keys in 100 bytes", counts[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
    }
    raw r = {0};
    raw_header(&r, 3, 2, 3); /* each fits, both don't */
    raw_zeros(&r, 100);
    expect_fail(&r, VOUCH_E_FORMAT, "2 tensors and 3 metadata keys in 100 bytes");
}

static void test_bad_text_sizes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, 1000, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char words[80];
        raw r = {0};
        snprintf(words, sizeof words,
                 sizes[i] ? "says that it has %" PRIu64 " bytes" : "has %" PRIu64 " bytes", sizes[i]);
        raw_header(&r, 3, 0, 1);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        expect_fail(&r, VOUCH_E_FORMAT, words); /* a key */
        raw_header(&r, 3, 1, 0);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        expect_fail(&r, VOUCH_E_FORMAT, words); /* a tensor's name */
        raw_header(&r, 3, 0, 1);
        raw_kv(&r, "a.key", VOUCH_GGUF_STRING);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        if (sizes[i]) expect_fail(&r, VOUCH_E_FORMAT, "metadata key 'a.key': the string says"); /* a value */
        else expect_ok(&r);
    }
}

static void test_bad_keys(void **state)
{
    (void)state;
    char name[65537];
    raw r = {0};
    raw_header(&r, 3, 0, 1);
    raw_u64(&r, 5);
    raw_put(&r, "a\0key", 5);
    raw_u32(&r, VOUCH_GGUF_U8);
    raw_u8(&r, 1);
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key 0: the key has the control character 0x00 at position 1");

    memset(name, 'k', sizeof name - 1);
    name[65536] = 0;
    for (int size = 65535; size <= 65536; size++) {
        raw_header(&r, 3, 0, 1);
        raw_kv(&r, name + (65536 - size), VOUCH_GGUF_U8);
        raw_u8(&r, 1);
        if (size == 65535) expect_ok(&r);
        else expect_fail(&r, VOUCH_E_FORMAT, "the key has 65536 bytes, but 1 to 65535 are allowed");
    }

    raw_header(&r, 3, 0, 1); /* no valid UTF-8: kept, and clean in a message */
    raw_kv(&r, "\xff\xfe", VOUCH_GGUF_TYPE_COUNT);
    raw_zeros(&r, 16);
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key '?\?': has type 13, but 0 to 12 are allowed");

    raw_header(&r, 3, 0, 3);
    raw_kv_u32(&r, "a.key", 1);
    raw_kv_u32(&r, "b.key", 1);
    raw_kv_u32(&r, "a.key", 1);
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key 'a.key': occurs more than once");
}

/* One key in 100,000 is a duplicate: a pairwise search would compare five billion keys. */
static void test_many_keys(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        const uint32_t n = 100000;
        raw r = {0};
        unsigned char *all = malloc(n * 64);
        raw_header(&r, 3, 0, n);
        memcpy(all, r.data, r.size);
        for (uint32_t i = 0; i < n; i++) {
            raw kv = {0};
            char key[32];
            snprintf(key, sizeof key, "a.rather.long.key.%06" PRIu32, twice && i == n - 1 ? 3 : i);
            raw_kv_u32(&kv, key, i);
            memcpy(all + r.size, kv.data, kv.size);
            r.size += kv.size;
            free(kv.data);
        }
        free(r.data);
        r.data = all;
        if (twice) {
            expect_fail(&r, VOUCH_E_FORMAT, "'a.rather.long.key.000003': occurs more than once");
        } else {
            vouch_gguf *gguf = open_bytes(all, r.size);
            for (uint32_t i = 0; i < n; i += 777) {
                char key[32];
                snprintf(key, sizeof key, "a.rather.long.key.%06" PRIu32, i);
                assert_int_equal(get_int(gguf, key), i);
            }
            vouch_gguf_close(gguf);
            free(all);
        }
    }
}

/* -------------------------------------------------------------- bad values */

static void bad_array(raw *r, uint32_t type, uint64_t count)
{
    raw_header(r, 3, 0, 1);
    raw_kv(r, "a.key", VOUCH_GGUF_ARRAY);
    raw_u32(r, type);
    raw_u64(r, count);
    raw_zeros(r, 64);
}

static void test_bad_values(void **state)
{
    (void)state;
    raw r = {0};
    static const uint32_t types[] = {13, 14, 255, 0x80000000, UINT32_MAX};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char words[64];
        raw_header(&r, 3, 0, 1);
        raw_kv(&r, "a.key", types[i]);
        raw_zeros(&r, 64);
        snprintf(words, sizeof words, "'a.key': has type %" PRIu32 ", but 0 to 12", types[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
        bad_array(&r, types[i], 1);
        snprintf(words, sizeof words, "'a.key': is an array of type %" PRIu32 ", but 0 to 12", types[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
    }
    bad_array(&r, VOUCH_GGUF_ARRAY, 1);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "'a.key': is an array of arrays");
    for (uint32_t type = 0; type < VOUCH_GGUF_TYPE_COUNT; type++) {
        /* 2^61 + 1 times 8 wraps to 8; the string count times 8 is just beyond the end. */
        static const uint64_t counts[] = {
            UINT64_MAX, (uint64_t)1 << 63, ((uint64_t)1 << 61) + 1, ((uint64_t)1 << 62) + 1, 1000000000, 65};
        for (size_t i = 0; type != VOUCH_GGUF_ARRAY && i < sizeof counts / sizeof counts[0]; i++) {
            char words[64];
            bad_array(&r, type, counts[i]);
            snprintf(words, sizeof words, "an array of %" PRIu64 " %ss", counts[i],
                     vouch_gguf_type_name(type));
            expect_fail(&r, VOUCH_E_FORMAT, words);
        }
    }
    bad_array(&r, VOUCH_GGUF_STRING, 9);
    expect_fail(&r, VOUCH_E_FORMAT, "an array of 9 strings");
    bad_array(&r, VOUCH_GGUF_STRING, 8);
    expect_ok(&r);
    bad_array(&r, VOUCH_GGUF_STRING, 2); /* the second string has a bad size */
    r.data[r.size - 56] = 57;
    expect_fail(&r, VOUCH_E_FORMAT, "the string says that it has 57 bytes");

    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "a.key", VOUCH_GGUF_BOOL);
    raw_u8(&r, 2);
    expect_fail(&r, VOUCH_E_FORMAT, "'a.key': a bool is 2, but 0 or 1");
    bad_array(&r, VOUCH_GGUF_BOOL, 64);
    r.data[r.size - 1] = 255;
    expect_fail(&r, VOUCH_E_FORMAT, "'a.key': a bool is 255");
}

static void test_bad_alignment(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0, 1, 2, 3, 4, 13, 31, 33, 48, 1 << 25, (uint32_t)1 << 31, UINT32_MAX};
    raw r = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char words[96];
        snprintf(words, sizeof words, "'general.alignment' is %" PRIu32 ", but a power of two from 8",
                 bad[i]);
        raw_header(&r, 3, 0, 1);
        raw_kv_u32(&r, "general.alignment", bad[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
    }
    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "general.alignment", VOUCH_GGUF_I32);
    raw_u32(&r, 32);
    expect_fail(&r, VOUCH_E_FORMAT, "'general.alignment' is of type i32, but must be a u32");
    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "general.alignment", VOUCH_GGUF_STRING);
    raw_text(&r, "32");
    expect_fail(&r, VOUCH_E_FORMAT, "'general.alignment' is of type string");
    raw_header(&r, 3, 0, 1); /* the most */
    raw_kv_u32(&r, "general.alignment", 1 << 24);
    expect_ok(&r);
    raw_header(&r, 3, 1, 1); /* larger than the file, which matters as soon as there is a tensor */
    raw_kv_u32(&r, "general.alignment", 1 << 20);
    raw_tensor(&r, "t", 1, (const uint64_t[]){1}, VOUCH_TYPE_F32, 0);
    raw_data(&r, 32, 64);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 't': its 4 bytes at offset 0 go beyond the file's 0 bytes");
}

static void test_split(void **state)
{
    (void)state;
    raw r = {0};
    raw_header(&r, 3, 0, 2);
    raw_kv(&r, "split.count", VOUCH_GGUF_U16);
    raw_put(&r, "\3\0", 2);
    raw_kv(&r, "split.no", VOUCH_GGUF_U16);
    raw_put(&r, "\1\0", 2);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "part 2 of a model in 3 files (split.count); merge them");
    raw_header(&r, 3, 0, 2); /* there is no such part */
    raw_kv_u32(&r, "split.count", 3);
    raw_kv_u32(&r, "split.no", 3);
    expect_fail(&r, VOUCH_E_FORMAT, "'split.no' is 3, but 0 to 2");
    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "split.count", VOUCH_GGUF_STRING);
    raw_text(&r, "3");
    expect_fail(&r, VOUCH_E_FORMAT, "'split.count' is of type string");
    raw_header(&r, 3, 0, 2); /* a file merged from its parts */
    raw_kv_u32(&r, "split.count", 0);
    raw_kv_u32(&r, "split.no", 0);
    expect_ok(&r);
}

/* ------------------------------------------------------------- bad tensors */

static void test_bad_tensors(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_dims;
        uint64_t dim[5];
        uint32_t type;
        uint64_t offset;
        vouch_status status;
        const char *words;
    } cases[] = {
        {0, {0}, 0, 0, VOUCH_E_FORMAT, "has 0 dimensions, but 1 to 4"},
        {5, {1, 1, 1, 1, 1}, 0, 0, VOUCH_E_FORMAT, "has 5 dimensions"},
        {1, {0}, 0, 0, VOUCH_E_FORMAT, "dimension 0 is 0, but must be positive"},
        {2, {8, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 1 is 0"},
        {3, {8, 1, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 2 is 0"},
        {4, {8, 1, 1, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 3 is 0"},
        {2, {8, UINT64_MAX}, 0, 0, VOUCH_E_FORMAT, "dimension 1 is -1"},
        {1, {(uint64_t)1 << 63}, 0, 0, VOUCH_E_FORMAT, "dimension 0 is -9223372036854775808"},
        {1, {(uint64_t)1 << 31}, 0, 0, VOUCH_E_FORMAT, "its 8589934592 bytes"},
        {1, {((uint64_t)1 << 42) + 1}, 0, 0, VOUCH_E_FORMAT, "go beyond the file's"},
        /* Products of 2^63, 2^64 (wraps to 0) and 2^64 + 2^32 (wraps to 2^32); bytes of 2^64. */
        {2, {(uint64_t)1 << 32, (uint64_t)1 << 31}, 0, 0, VOUCH_E_FORMAT, "values are too many"},
        {2, {(uint64_t)1 << 32, (uint64_t)1 << 32}, 0, 0, VOUCH_E_FORMAT, "4294967296 x 4294967296 values"},
        {2, {(uint64_t)1 << 32, ((uint64_t)1 << 32) + 1}, 0, 0, VOUCH_E_FORMAT, "values are too many"},
        {1, {(uint64_t)1 << 62}, 0, 0, VOUCH_E_FORMAT, "values of type F32 are too many"},
        {4, {(uint64_t)1 << 62, 1, 1, 2}, 12, 0, VOUCH_E_FORMAT, "values are too many"},
        {1, {32}, 4, 0, VOUCH_E_UNSUPPORTED, "has type 4, which is none"},
        {1, {32}, 31, 0, VOUCH_E_UNSUPPORTED, "has type 31, which is none"},
        {1, {32}, 36, 0, VOUCH_E_UNSUPPORTED, "has type 36, which is none"},
        {1, {32}, 1000, 0, VOUCH_E_UNSUPPORTED, "has type 1000, which is none"},
        {1, {32}, UINT32_MAX, 0, VOUCH_E_UNSUPPORTED, "has type 4294967295, which is none"},
        {1, {33}, VOUCH_TYPE_Q8_0, 0, VOUCH_E_FORMAT, "33 is not a multiple of 32, as type Q8_0 needs"},
        {2, {16, 2}, VOUCH_TYPE_Q4_0, 0, VOUCH_E_FORMAT, "16 x 2 is not a multiple of 32"},
        {1, {8}, 0, 1, VOUCH_E_FORMAT, "offset 1 is not a multiple of the alignment, 32"},
        {1, {8}, 0, 16, VOUCH_E_FORMAT, "offset 16 is not a multiple"},
        {1, {8}, 0, 128, VOUCH_E_FORMAT, "its 32 bytes at offset 128 go beyond the file's 128 bytes"},
        {1, {9}, 0, 96, VOUCH_E_FORMAT, "its 36 bytes at offset 96 go beyond"},
        {1, {8}, 0, (uint64_t)1 << 32, VOUCH_E_FORMAT, "at offset 4294967296 go beyond"},
        {1, {8}, 0, UINT64_MAX - 31, VOUCH_E_FORMAT, "at offset 18446744073709551584 go beyond"},
        /* 2^64 - 4 bytes: their end wraps to 28. */
        {1, {((uint64_t)1 << 62) - 1}, 0, 32, VOUCH_E_FORMAT, "18446744073709551612 bytes at offset 32"},
        {1, {8}, 12, 160, VOUCH_E_FORMAT, "its 0 bytes at offset 160 go beyond"}, /* of a type unsupported */
        {1, {8}, 0, 96, VOUCH_OK, ""},
        {1, {256}, 12, 0, VOUCH_OK, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw r = {0};
        raw_header(&r, 3, 1, 0);
        raw_tensor(&r, "a.tensor", cases[i].n_dims, cases[i].dim, cases[i].type, cases[i].offset);
        raw_data(&r, 32, 128);
        if (cases[i].status == VOUCH_OK) {
            expect_ok(&r);
            continue;
        }
        assert_true(strlen(cases[i].words) > 5);
        expect_fail(&r, cases[i].status, cases[i].words);
    }
    raw r = {0};
    raw_header(&r, 3, 1, 0);
    raw_tensor(&r, "a.tensor", 1, (const uint64_t[]){8}, 0, 0);
    r.data[24 + 8 + 8] = 0xff; /* n_dims: 255, then 2^32 - 1 */
    raw_data(&r, 32, 128);
    memset(r.data + 24 + 8 + 8, 0xff, 4);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 'a.tensor': has 4294967295 dimensions");
}

static void test_bad_tensor_names(void **state)
{
    (void)state;
    static const uint64_t dim[] = {8};
    char name[66];
    raw r = {0};
    memset(name, 'n', 65);
    name[65] = 0;
    for (int size = 64; size <= 65; size++) {
        raw_header(&r, 3, 1, 0);
        raw_tensor(&r, name + (65 - size), 1, dim, 0, 0);
        raw_data(&r, 32, 32);
        if (size == 64) expect_ok(&r);
        else expect_fail(&r, VOUCH_E_FORMAT, "tensor 0: the name has 65 bytes, but 1 to 64 are allowed");
    }
    raw_header(&r, 3, 2, 0);
    raw_tensor(&r, "a.tensor", 1, dim, 0, 0);
    raw_tensor(&r, "a\ttensor", 1, dim, 0, 32);
    raw_data(&r, 32, 64);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 1: the name has the control character 0x09 at position 1");
    raw_header(&r, 3, 2, 0);
    raw_tensor(&r, "a.tensor", 1, dim, 0, 0);
    raw_tensor(&r, "a.tensor", 1, dim, 0, 32);
    raw_data(&r, 32, 64);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 'a.tensor': occurs more than once");
}

static void test_overlap(void **state)
{
    (void)state;
    static const struct {
        uint64_t values, first, second;
        bool ok;
    } cases[] = {
        {8, 0, 32, true}, {8, 32, 0, true},  {8, 0, 96, true},  /* in order, backwards, with a gap */
        {8, 0, 0, false}, {9, 0, 32, false}, {9, 32, 0, false}, /* one place, and by 4 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw r = {0};
        raw_header(&r, 3, 3, 0);
        raw_tensor(&r, "one", 1, &cases[i].values, 0, cases[i].first);
        raw_tensor(&r, "not.supported", 1, (const uint64_t[]){256}, 12, 0); /* Q4_K: size unknown here */
        raw_tensor(&r, "two", 1, &cases[i].values, 0, cases[i].second);
        raw_data(&r, 32, 128);
        if (cases[i].ok) expect_ok(&r);
        else expect_fail(&r, VOUCH_E_FORMAT, "its data overlaps that of tensor '");
    }
}

/* Sizes whose sum wraps are each too large for the file. */
static void test_sum_wraps(void **state)
{
    (void)state;
    const uint64_t dim[] = {(uint64_t)1 << 61};
    raw r = {0};
    raw_header(&r, 3, 2, 0);
    raw_tensor(&r, "one", 1, dim, 0, 0);
    raw_tensor(&r, "two", 1, dim, 0, (uint64_t)1 << 63);
    raw_data(&r, 32, 128);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 'one': its 9223372036854775808 bytes at offset 0 go beyond");
}

static void test_unsupported_type_is_parsed(void **state)
{
    (void)state;
    raw r = {0};
    raw_header(&r, 3, 1, 0);
    raw_tensor(&r, "a.tensor", 2, (const uint64_t[]){256, 3}, 12, 0);
    raw_data(&r, 32, 64);
    vouch_gguf *gguf = open_bytes(r.data, r.size);
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "a.tensor");
    assert_non_null(tensor);
    assert_true(tensor->type == 12 && tensor->bytes == 0 && tensor->data == NULL && tensor->dim[1] == 3);
    assert_int_equal(vouch_gguf_load_tensor(gguf, tensor, NULL), VOUCH_OK);
    vouch_gguf_close(gguf);
    free(r.data);
}

static void test_trailing_bytes(void **state)
{
    (void)state;
    size_t size;
    raw r = {.data = write_sample(0, &size)};
    r.size = size;
    raw_put(&r, "left over", 9);
    vouch_gguf *gguf = open_bytes(r.data, r.size);
    expect_sample(gguf, 32);
    vouch_gguf_close(gguf);
    free(r.data);
}

/* ------------------------------------------------------ truncation, mutation */

/* Reads all that can be read; under the sanitizers, an error in a size shows here. */
static unsigned walk(const vouch_gguf *gguf)
{
    unsigned sum = 0;
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) {
        vouch_gguf_type type;
        char key[128];
        vouch_gguf_array array;
        const vouch_text text = vouch_gguf_key(gguf, i, &type);
        if (text.size >= sizeof key) continue;
        memcpy(key, text.data, text.size);
        key[text.size] = 0;
        assert_true(vouch_gguf_has(gguf, key));
        if (type != VOUCH_GGUF_ARRAY) continue;
        assert_int_equal(vouch_gguf_get_array(gguf, key, true, &array, NULL), VOUCH_OK);
        const unsigned char *cursor = array.data;
        for (size_t e = 0; e < array.count; e++) {
            if (array.type == VOUCH_GGUF_STRING) {
                const vouch_text element = vouch_gguf_next_text(&cursor);
                for (size_t b = 0; b < element.size; b++) sum += (unsigned char)element.data[b];
            } else if (array.type == VOUCH_GGUF_F32 || array.type == VOUCH_GGUF_F64) {
                sum += vouch_gguf_array_float(&array, e) > 0;
            } else {
                sum += vouch_gguf_array_int(&array, e) > 0;
            }
        }
    }
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(gguf, i);
        assert_int_equal(vouch_gguf_load_tensor(gguf, tensor, NULL), VOUCH_OK);
        const unsigned char *data = tensor->data;
        if (data) sum += data[0] + data[tensor->bytes - 1];
    }
    return sum;
}

/* Opens the first n bytes, in memory of just that size so that a step beyond it is seen. */
static vouch_status open_prefix(const unsigned char *bytes, size_t n)
{
    vouch_error err = {0};
    vouch_gguf *gguf;
    unsigned char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    if (n) memcpy(copy, bytes, n);
    const vouch_status status = vouch_gguf_open_bytes(&gguf, copy, n, "some.gguf", &err);
    if (status == VOUCH_OK) walk(gguf);
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
    const size_t padding = 28; /* behind q8_0, whose 68 bytes are not a multiple of 32 */
    for (size_t n = 0; n < size - padding; n++) assert_int_equal(open_prefix(bytes, n), VOUCH_E_FORMAT);
    for (size_t n = size - padding; n <= size; n++) assert_int_equal(open_prefix(bytes, n), VOUCH_OK);
    free(bytes);
}

/* As large as stories260K: a vocabulary and a megabyte of tensors. */
static unsigned char *write_larger(size_t *size)
{
    enum { N_TOKENS = 512, N_TENSORS = 48, N_VALUES = 5504 };
    static char names[N_TOKENS][24];
    static float data[N_VALUES];
    vouch_text tokens[N_TOKENS];
    vouch_gguf_writer *w;
    vouch_error err;
    void *bytes;
    for (int i = 0; i < N_TOKENS; i++) {
        snprintf(names[i], sizeof names[i], "token%d", i);
        tokens[i] = (vouch_text){names[i], strlen(names[i])};
    }
    assert_int_equal(vouch_gguf_writer_open(&w, &err), VOUCH_OK);
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, N_TOKENS);
    for (int i = 0; i < N_TENSORS; i++) {
        char name[32];
        snprintf(name, sizeof name, "blk.%d.weight", i);
        vouch_gguf_add_tensor(w, name, VOUCH_TYPE_F32, 1, (const int64_t[]){N_VALUES}, data);
    }
    if (vouch_gguf_write_bytes(w, &bytes, size, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_writer_close(w);
    return bytes;
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

/* 1 to 4 changes, mostly in the header: a bit, a byte, a number that is special, a piece moved. */
static void mutate(unsigned char *bytes, size_t size, test_random *random)
{
    static const uint64_t special[] = {
        0,         1, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, (uint64_t)1 << 61, (uint64_t)1 << 63,
        UINT64_MAX};
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
    assert_true(opened > 100 && refused > 1000); /* the mutations reach both sides */
    free(copy);
    free(bytes);
}

/* ----------------------------------------------------------- files on a disk */

static vouch_status open_status(const char *path, vouch_error *err)
{
    vouch_gguf *gguf;
    *err = (vouch_error){0};
    const vouch_status status = vouch_gguf_open(&gguf, path, err);
    if (status != VOUCH_OK) assert_true(gguf == NULL && err->code == status && strstr(err->message, path));
    vouch_gguf_close(gguf);
    return status;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_unreadable_files(void **state)
{
    (void)state;
    vouch_error err;
    const char *path = test_temporary("missing.gguf");
    assert_int_equal(open_status(path, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(ENOENT)));
    assert_int_equal(open_status("/tmp", &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    assert_int_equal(open_status("/dev/null", &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "not a regular file"));

    path = test_temporary("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(open_status(path, &err), VOUCH_E_IO); /* and doesn't wait for a writer */
    assert_non_null(strstr(err.message, "not a regular file"));

    path = test_temporary("empty.gguf");
    write_file(path, "", 0);
    assert_int_equal(open_status(path, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "empty"));

    path = test_temporary("secret.gguf");
    write_file(path, "GGUF", 4);
    assert_int_equal(chmod(path, 0), 0);
    const bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    const vouch_status status = open_status(path, &err);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
}

/* A path that alone would fill the message still leaves room for what is wrong. */
static void test_long_path(void **state)
{
    (void)state;
    char name[1200];
    vouch_gguf *gguf;
    vouch_error err;
    memset(name, 'd', sizeof name);
    strcpy(name + sizeof name - 12, "/some.gguf");
    assert_int_equal(vouch_gguf_open_bytes(&gguf, "GGUE....", 8, name, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "ddd/some.gguf: is no GGUF file"));
}

/* The message ends with these words: nothing of it was cut off. */
static void assert_ends(const vouch_error *err, const char *words)
{
    const size_t size = strlen(err->message), n = strlen(words);
    if (size < n || strcmp(err->message + size - n, words) != 0)
        fail_msg("'%s' doesn't end with '%s'", err->message, words);
}

/* The same for whatever else can go wrong with a file, from its opening to its last use. */
static void test_long_path_of_a_file(void **state)
{
    (void)state;
    char path[1024];
    size_t at = strlen(strcpy(path, test_temporary("deep")));
    vouch_error err;
    vouch_gguf *gguf;
    assert_int_equal(mkdir(path, 0700), 0);
    for (int i = 0; i < 3; i++) {
        path[at++] = '/';
        memset(path + at, 'd', 200);
        path[at += 200] = '\0';
        assert_int_equal(mkdir(path, 0700), 0);
    }
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_IO);
    assert_ends(&err, ": is a directory, not a file");
    strcpy(path + at, "/none/a.gguf");
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_IO);
    assert_ends(&err, strerror(ENOENT));
    vouch_gguf_writer *w;
    const int32_t number = -123456789;
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    vouch_gguf_add_value(w, "a.number", VOUCH_GGUF_I32, &number);
    assert_int_equal(vouch_gguf_write(w, path, &err), VOUCH_E_IO);
    assert_ends(&err, strerror(ENOENT));
    strcpy(path + at, "/a.gguf");
    assert_int_equal(vouch_gguf_write(w, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(w);

    int64_t integer;
    double real;
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(strlen(vouch_gguf_path(gguf)), 200);
    assert_non_null(strstr(vouch_gguf_path(gguf), "ddd/a.gguf"));
    assert_int_equal(vouch_gguf_get_int(gguf, "a.number", true, 0, 7, &integer, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'a.number' is -123456789, but 0 to 7 is allowed");
    assert_int_equal(vouch_gguf_get_float(gguf, "a.number", true, &real, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'a.number' is of type i32, but a float is needed");
    assert_int_equal(vouch_gguf_get_int(gguf, "none", true, 0, 7, &integer, &err), VOUCH_E_FORMAT);
    assert_ends(&err, "ddd/a.gguf: metadata key 'none' is missing");
    assert_int_equal(truncate(path, 1), 0);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    assert_ends(&err, "to 1 bytes while being read");
    vouch_gguf_close(gguf);
}

/* What was given back is out of memory, its neighbours and the header are not, and it can be read again. */
static void test_release(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    static float values[2][N];
    const int64_t dim[] = {N};
    vouch_gguf_writer *w;
    vouch_gguf *gguf;
    char path[300];
    for (int i = 0; i < N; i++) values[0][i] = (float)i, values[1][i] = -(float)i;
    strcpy(path, test_temporary("release.gguf"));
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    vouch_gguf_add_tensor(w, "a", VOUCH_TYPE_F32, 1, dim, values[0]);
    vouch_gguf_add_tensor(w, "b", VOUCH_TYPE_F32, 1, dim, values[1]);
    assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w);
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    const vouch_gguf_tensor *a = vouch_gguf_find_tensor(gguf, "a"), *b = vouch_gguf_find_tensor(gguf, "b");
    assert_int_equal(vouch_gguf_load_tensor(gguf, a, NULL), VOUCH_OK);
    assert_int_equal(vouch_gguf_load_tensor(gguf, b, NULL), VOUCH_OK);
    const int64_t whole = test_resident(path), page = sysconf(_SC_PAGESIZE);
    if (whole < 0) test_skip("no /proc/self/smaps");
    assert_true(whole >= 2 * (int64_t)sizeof values[0]);
    vouch_gguf_release_tensor(gguf, a);
    assert_in_range(test_resident(path), whole - (int64_t)sizeof values[0],
                    whole - (int64_t)sizeof values[0] + 2 * page);
    assert_int_equal(vouch_gguf_load_tensor(gguf, a, NULL), VOUCH_OK);
    assert_memory_equal(a->data, values[0], sizeof values[0]);
    assert_memory_equal(b->data, values[1], sizeof values[1]);
    vouch_gguf_release_tensor(gguf, a);
    vouch_gguf_release_tensor(gguf, b);
    assert_true(test_resident(path) <= whole - 2 * (int64_t)sizeof values[0] + 4 * page);
    vouch_gguf_close(gguf);
}

static vouch_gguf_writer *writer_open(void)
{
    vouch_gguf_writer *w;
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    return w;
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void test_write_file(void **state)
{
    (void)state;
    vouch_error err;
    char folder[256], path[300], link_path[300];
    snprintf(folder, sizeof folder, "%s", test_temporary("written"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.gguf", folder);
    snprintf(link_path, sizeof link_path, "%s/link.gguf", folder);

    for (uint32_t round = 1; round <= 3; round++) { /* new, over an old one, through a link */
        vouch_gguf_writer *w = writer_open();
        vouch_gguf_add_u32(w, "round", round);
        vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, (const int64_t[]){64}, floats);
        if (vouch_gguf_write(w, round == 3 ? link_path : path, &err) != VOUCH_OK) fail_msg("%s", err.message);
        vouch_gguf_writer_close(w);
        vouch_gguf *gguf;
        assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
        assert_int_equal(get_int(gguf, "round"), round);
        walk(gguf);
        assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_OK);
        assert_memory_equal(vouch_gguf_find_tensor(gguf, "t")->data, floats, sizeof floats);
        vouch_gguf_close(gguf);
        if (round == 2) {
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(info.st_mode & 0777, 0600); /* the old file's, set below */
            assert_int_equal(symlink("a.gguf", link_path), 0);
        }
        assert_int_equal(chmod(path, 0600), 0);
    }
    struct stat info;
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(count_files(folder), 2);
}

/* Byte i is a function of i; *user is where the next piece has to begin. */
static void bytes_fill(void *user, size_t offset, void *bytes, size_t size)
{
    size_t *next = user;
    if (offset > 0) assert_int_equal(offset, *next); /* 0: a new write */
    assert_int_equal(size % 34, 0);
    for (size_t i = 0; i < size; i++) ((unsigned char *)bytes)[i] = (unsigned char)((offset + i) * 0x9e3779b1 >> 24);
    *next = offset + size;
}

/* Data made while it is written is the data given beforehand, in a file and in memory. */
static void test_write_filled(void **state)
{
    (void)state;
    enum { BLOCKS = 100000, SIZE = BLOCKS * 34 };
    const int64_t dim[] = {32, BLOCKS};
    unsigned char *whole = malloc(SIZE);
    void *expected, *filled;
    size_t n_expected, n_filled, next = 0;
    char path[256];
    assert_non_null(whole);
    bytes_fill(&next, 0, whole, SIZE);
    for (int round = 0; round < 2; round++) {
        vouch_gguf_writer *w = writer_open();
        if (round == 0) vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_Q8_0, 2, dim, whole);
        else vouch_gguf_add_filled(w, "t", VOUCH_TYPE_Q8_0, 2, dim, bytes_fill, &next);
        vouch_gguf_add_tensor(w, "after", VOUCH_TYPE_F32, 1, (const int64_t[]){64}, floats);
        assert_int_equal(vouch_gguf_write_bytes(w, round ? &filled : &expected, round ? &n_filled : &n_expected, NULL),
                         VOUCH_OK);
        strcpy(path, test_temporary("filled.gguf"));
        assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
        vouch_gguf_writer_close(w);
        assert_int_equal(next, SIZE);
    }
    assert_int_equal(n_filled, n_expected);
    assert_memory_equal(filled, expected, n_filled);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(filled, 1, n_filled, file), n_filled);
    assert_int_equal(fgetc(file), EOF);
    assert_memory_equal(filled, expected, n_filled);
    fclose(file);
    free(filled);
    free(expected);
    free(whole);
}

static vouch_status write_to(const char *path, vouch_error *err)
{
    size_t size;
    unsigned char *bytes = write_larger(&size);
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, (const int64_t[]){(int64_t)(size / 4)}, bytes);
    const vouch_status status = vouch_gguf_write(w, path, err);
    vouch_gguf_writer_close(w);
    free(bytes);
    return status;
}

static void test_write_fails(void **state)
{
    (void)state;
    vouch_error err;
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s", test_temporary("full"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.gguf", folder);
    write_file(path, "precious", 8);

    /* A file size limit stands for a full disk: the old file stays, and nothing beside it. */
    struct rlimit limit, old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    limit = (struct rlimit){.rlim_cur = 100000, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const vouch_status status = write_to(path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, VOUCH_E_IO);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, strerror(EFBIG)));
    assert_int_equal(count_files(folder), 1);
    char kept[9] = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(kept, 1, 8, file), 8);
    fclose(file);
    assert_string_equal(kept, "precious");

    if (access("/dev/full", W_OK) == 0) { /* a device is written to, never replaced */
        assert_int_equal(write_to("/dev/full", &err), VOUCH_E_IO);
        assert_non_null(strstr(err.message, strerror(ENOSPC)));
        struct stat info;
        assert_int_equal(stat("/dev/full", &info), 0);
        assert_true(S_ISCHR(info.st_mode));
    }
    assert_int_equal(write_to(folder, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "is a directory"));
    snprintf(path, sizeof path, "%s/none/a.gguf", folder);
    assert_int_equal(write_to(path, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(ENOENT)));

    snprintf(path, sizeof path, "%s/b.gguf", folder);
    assert_int_equal(chmod(folder, 0500), 0);
    const bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    const vouch_status unwritable = write_to(path, &err);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(unwritable, VOUCH_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
    assert_int_equal(count_files(folder), 1);
}

/* A file that shrinks, or is written to, after it was opened: an error, not a SIGBUS. */
static void test_file_changes(void **state)
{
    (void)state;
    vouch_error err;
    vouch_gguf *gguf;
    size_t size;
    const char *path = test_temporary("changing.gguf");
    unsigned char *bytes = write_larger(&size);
    write_file(path, bytes, size);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    const vouch_gguf_tensor *last = vouch_gguf_find_tensor(gguf, "blk.47.weight");
    assert_int_equal(vouch_gguf_load_tensor(gguf, last, &err), VOUCH_OK);
    assert_int_equal(truncate(path, (off_t)(size / 2)), 0);
    assert_int_equal(vouch_gguf_load_tensor(gguf, last, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "while being read"));
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    vouch_gguf_close(gguf);

    write_file(path, bytes, size);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_OK);
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "written to while being read"));
    vouch_gguf_close(gguf);
    free(bytes);
}

/* ------------------------------------------------------------------- writer */

static void expect_refused_(vouch_gguf_writer *w, const char *words, int line)
{
    vouch_error err = {0};
    void *bytes = w;
    size_t size = 1;
    vouch_gguf_add_u32(w, "a.good.key", 1); /* a later add doesn't mend it */
    const vouch_status status = vouch_gguf_write_bytes(w, &bytes, &size, &err);
    if (status != VOUCH_E_ARGUMENT || bytes || size || !strstr(err.message, words))
        fail_msg("line %d: status %d, message '%s' for '%s'", line, status, err.message, words);
    vouch_gguf_writer_close(w);
}
#define expect_refused(w, words) expect_refused_(w, words, __LINE__)

static void test_writer_refuses_keys(void **state)
{
    (void)state;
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_u32(w, "", 1);
    expect_refused(w, "key '' is 0 bytes");
    w = writer_open();
    vouch_gguf_add_text(w, NULL, "text");
    expect_refused(w, "key '' is 0 bytes");
    w = writer_open();
    vouch_gguf_add_u32(w, "a\nkey", 1);
    expect_refused(w, "control characters");
    w = writer_open();
    vouch_gguf_add_u32(w, "a.key", 1);
    vouch_gguf_add_bool(w, "b.key", 1);
    vouch_gguf_add_f32(w, "a.key", 1);
    expect_refused(w, "key 'a.key' was added twice");
    w = writer_open();
    vouch_gguf_add_text(w, "a.key", NULL);
    vouch_gguf_add_u32(w, "", 1); /* the first error is the one told */
    expect_refused(w, "key 'a.key' has no value");
    w = writer_open();
    vouch_gguf_add_u32(w, "general.alignment", 24);
    expect_refused(w, "'general.alignment' is 24; a power of two");
    w = writer_open();
    vouch_gguf_add_text(w, "general.alignment", "32");
    expect_refused(w, "'general.alignment' must be a u32");
    w = writer_open();
    vouch_gguf_add_value(w, "a.key", VOUCH_GGUF_ARRAY, floats);
    expect_refused(w, "type 9 is not a scalar");
    w = writer_open();
    vouch_gguf_add_value(w, "a.key", VOUCH_GGUF_TYPE_COUNT, floats);
    expect_refused(w, "type 13 is not a scalar");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_STRING, floats, 1);
    expect_refused(w, "array of 1 of type 8");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_U64, floats, SIZE_MAX / 4);
    expect_refused(w, "can't write an array");
    w = writer_open();
    vouch_gguf_add_array(w, "a.key", VOUCH_GGUF_BOOL, "\1\2", 2);
    expect_refused(w, "has a bool of 2");
    vouch_gguf_writer_close(NULL);
}

static void test_writer_refuses_tensors(void **state)
{
    (void)state;
    static const int64_t good[] = {32};
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_tensor(w, "", VOUCH_TYPE_F32, 1, good, floats);
    expect_refused(w, "tensor name '' is 0 bytes");
    w = writer_open();
    vouch_gguf_add_tensor(w, "0123456789012345678901234567890123456789012345678901234567890123456",
                          VOUCH_TYPE_F32, 1, good, floats);
    expect_refused(w, "is 67 bytes long; 1 to 64");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, good, floats);
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F16, 1, good, floats);
    expect_refused(w, "tensor 't' was added twice");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", (vouch_type)5, 1, good, floats);
    expect_refused(w, "tensor 't' has type 5");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 0, good, floats);
    expect_refused(w, "has 0 dimensions");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 5, (const int64_t[]){1, 1, 1, 1, 1}, floats);
    expect_refused(w, "has 5 dimensions");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_Q4_0, 1, (const int64_t[]){33}, floats);
    expect_refused(w, "multiple of 32 for type Q4_0");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 2, (const int64_t[]){32, 0}, floats);
    expect_refused(w, "all must be positive");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 2, (const int64_t[]){INT64_MAX, 3}, floats);
    expect_refused(w, "below 2^63");
    w = writer_open();
    vouch_gguf_add_tensor(w, "t", VOUCH_TYPE_F32, 1, good, NULL);
    expect_refused(w, "tensor 't' has no data");
    w = writer_open();
    vouch_gguf_add_filled(w, "t", VOUCH_TYPE_F32, 1, good, NULL, NULL);
    expect_refused(w, "tensor 't' has no data");
}

/* ------------------------------------------------------------------ fixtures */

static void test_fixtures(void **state)
{
    (void)state;
    vouch_error err;
    vouch_gguf *gguf;
    const char *path = test_data("models/weight-inspect-empty.gguf");
    if (!path) test_skip("no data folder");
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_true(vouch_gguf_n_kv(gguf) == 1 && vouch_gguf_n_tensors(gguf) == 0);
    vouch_gguf_close(gguf);
    path = test_data("models/weight-inspect-tiny.gguf"); /* a header whose data is missing */
    if (!path) test_skip("no weight-inspect-tiny.gguf");
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "tensor 'test.weight.0': its 32768 bytes at offset 0 go beyond"));
    path = test_data("models/stories260K.bin"); /* another format */
    if (!path) test_skip("no stories260K.bin");
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
        const char *path = test_data(relative);
        if (!path) test_skip("no %s", relative);
        if (vouch_gguf_open(&gguf, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
        assert_int_equal(vouch_gguf_n_kv(gguf), files[i].n_kv);
        assert_int_equal(vouch_gguf_get_array(gguf, "tokenizer.ggml.tokens", true, &tokens, &err), VOUCH_OK);
        assert_int_equal(tokens.count, files[i].n_tokens);
        assert_true(walk(gguf) > 0);
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
    assert_true(walk(gguf) > 0);
    vouch_gguf_close(gguf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_order_and_names),
        cmocka_unit_test(test_getters_refuse),
        cmocka_unit_test(test_bad_magic),
        cmocka_unit_test(test_bad_version),
        cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_bad_text_sizes),
        cmocka_unit_test(test_bad_keys),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_bad_alignment),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_bad_tensors),
        cmocka_unit_test(test_bad_tensor_names),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_sum_wraps),
        cmocka_unit_test(test_unsupported_type_is_parsed),
        cmocka_unit_test(test_trailing_bytes),
        cmocka_unit_test(test_truncated_everywhere),
        cmocka_unit_test(test_truncated_larger),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_unreadable_files),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_long_path_of_a_file),
        cmocka_unit_test(test_release),
        cmocka_unit_test(test_write_file),
        cmocka_unit_test(test_write_filled),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_file_changes),
        cmocka_unit_test(test_writer_refuses_keys),
        cmocka_unit_test(test_writer_refuses_tensors),
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_vocabularies),
        cmocka_unit_test(test_real_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
