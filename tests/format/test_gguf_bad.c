/* SPDX-License-Identifier: MIT */
/*
 * No GGUF file crashes the reader (law L5). `raw` builds malformed files byte by byte, without the writer, so that a
 * mistake shared by reader and writer can't hide. Each case expects a status and a message that names the field and the
 * value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/gguf.h"

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

static void raw_tensor(raw *r, const char *name, uint32_t n_dims, const uint64_t *dim, uint32_t type, uint64_t offset)
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

/* Opening must fail with this status. The message must begin with the file's name and contain `words`. Frees r. */
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

/* Opening must succeed. Frees r. */
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

/* ------------------------------------------------------------- bad headers */

static void test_bad_magic(void **state)
{
    (void)state;
    static const struct {
        const char *start, *words;
    } cases[] = {
        {"GGUE", "begins with 47 47 55 45"},   {"tjgg", "old GGML file"},    {"version https://git-lfs", "Git LFS"},
        {"<!DOCTYPE html>", "web page"},       {"PK\3\4", "zip or PyTorch"}, {"FUGG", "begins with 46"},
        {"\x80\2}q", "a head to safetensors"},
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
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "version 0 is not supported; vouch reads 2 and 3");
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
    /* 10^9 looks plausible and would allocate gigabytes. 8 is just too many: 100 bytes hold at most 7 keys or 3
     * tensors. */
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
    raw_header(&r, 3, 2, 3); /* each count fits alone, but not together */
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
        snprintf(words, sizeof words, sizes[i] ? "claims %" PRIu64 " bytes" : "has %" PRIu64 " bytes", sizes[i]);
        raw_header(&r, 3, 0, 1);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        expect_fail(&r, VOUCH_E_FORMAT, words); /* the size of a key */
        raw_header(&r, 3, 1, 0);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        expect_fail(&r, VOUCH_E_FORMAT, words); /* the size of a tensor's name */
        raw_header(&r, 3, 0, 1);
        raw_kv(&r, "a.key", VOUCH_GGUF_STRING);
        raw_u64(&r, sizes[i]);
        raw_zeros(&r, 40);
        /* the size of a string value */
        if (sizes[i]) expect_fail(&r, VOUCH_E_FORMAT, "metadata key 'a.key': the string claims");
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
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key 0: the key has the control character 0x00 at byte 1");

    memset(name, 'k', sizeof name - 1);
    name[65536] = 0;
    for (int size = 65535; size <= 65536; size++) {
        raw_header(&r, 3, 0, 1);
        raw_kv(&r, name + (65536 - size), VOUCH_GGUF_U8);
        raw_u8(&r, 1);
        if (size == 65535) expect_ok(&r);
        else expect_fail(&r, VOUCH_E_FORMAT, "the key has 65536 bytes; it must have 1 to 65535");
    }

    raw_header(&r, 3, 0, 1); /* a key that is not UTF-8 is kept; messages replace its bytes by '?' */
    raw_kv(&r, "\xff\xfe", VOUCH_GGUF_TYPE_COUNT);
    raw_zeros(&r, 16);
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key '?\?': has type 13; types are 0 to 12");

    raw_header(&r, 3, 0, 3);
    raw_kv_u32(&r, "a.key", 1);
    raw_kv_u32(&r, "b.key", 1);
    raw_kv_u32(&r, "a.key", 1);
    expect_fail(&r, VOUCH_E_FORMAT, "metadata key 'a.key': occurs more than once");
}

/* Finding one duplicate among 100,000 keys must be fast: comparing all pairs would take five billion comparisons. */
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
        snprintf(words, sizeof words, "'a.key': has type %" PRIu32 "; types are 0 to 12", types[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
        bad_array(&r, types[i], 1);
        snprintf(words, sizeof words, "'a.key': is an array of type %" PRIu32 "; types are 0 to 12", types[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
    }
    bad_array(&r, VOUCH_GGUF_ARRAY, 1);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "'a.key': is an array of arrays");
    for (uint32_t type = 0; type < VOUCH_GGUF_TYPE_COUNT; type++) {
        /* (2^61 + 1) * 8 bytes wraps to 8. 65 elements are just too many for the 64 bytes that follow. */
        static const uint64_t counts[] = {
            UINT64_MAX, (uint64_t)1 << 63, ((uint64_t)1 << 61) + 1, ((uint64_t)1 << 62) + 1, 1000000000, 65};
        for (size_t i = 0; type != VOUCH_GGUF_ARRAY && i < sizeof counts / sizeof counts[0]; i++) {
            char words[64];
            bad_array(&r, type, counts[i]);
            snprintf(words, sizeof words, "an array of %" PRIu64 " %ss", counts[i], vouch_gguf_type_name(type));
            expect_fail(&r, VOUCH_E_FORMAT, words);
        }
    }
    bad_array(&r, VOUCH_GGUF_STRING, 9);
    expect_fail(&r, VOUCH_E_FORMAT, "an array of 9 strings");
    bad_array(&r, VOUCH_GGUF_STRING, 8);
    expect_ok(&r);
    bad_array(&r, VOUCH_GGUF_STRING, 2); /* the first string is empty, the second has a bad size */
    r.data[r.size - 56] = 57;
    expect_fail(&r, VOUCH_E_FORMAT, "the string claims 57 bytes");

    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "a.key", VOUCH_GGUF_BOOL);
    raw_u8(&r, 2);
    expect_fail(&r, VOUCH_E_FORMAT, "'a.key': a bool is 2; it must be 0 or 1");
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
        snprintf(words, sizeof words, "'general.alignment' is %" PRIu32 "; it must be a power of two from 8", bad[i]);
        raw_header(&r, 3, 0, 1);
        raw_kv_u32(&r, "general.alignment", bad[i]);
        expect_fail(&r, VOUCH_E_FORMAT, words);
    }
    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "general.alignment", VOUCH_GGUF_I32);
    raw_u32(&r, 32);
    expect_fail(&r, VOUCH_E_FORMAT, "'general.alignment' is of type i32; it must be a u32");
    raw_header(&r, 3, 0, 1);
    raw_kv(&r, "general.alignment", VOUCH_GGUF_STRING);
    raw_text(&r, "32");
    expect_fail(&r, VOUCH_E_FORMAT, "'general.alignment' is of type string");
    raw_header(&r, 3, 0, 1); /* the largest allowed alignment */
    raw_kv_u32(&r, "general.alignment", 1 << 24);
    expect_ok(&r);
    raw_header(&r, 3, 1, 1); /* an alignment larger than the file is an error only with a tensor */
    raw_kv_u32(&r, "general.alignment", 1 << 20);
    raw_tensor(&r, "t", 1, (const uint64_t[]){1}, VOUCH_TYPE_F32, 0);
    raw_data(&r, 32, 64);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 't': its 4 bytes at offset 0 go beyond the file's 0 bytes");
}

static void test_split_bytes_are_refused(void **state)
{
    (void)state;
    raw r = {0};
    raw_header(&r, 3, 0, 2);
    raw_kv(&r, "split.count", VOUCH_GGUF_U16);
    raw_put(&r, "\3\0", 2);
    raw_kv(&r, "split.no", VOUCH_GGUF_U16);
    raw_put(&r, "\1\0", 2);
    expect_fail(&r, VOUCH_E_UNSUPPORTED, "is part 2 of a model in 3 files");
    raw_header(&r, 3, 0, 2); /* part 4 of 3 */
    raw_kv_u32(&r, "split.count", 3);
    raw_kv_u32(&r, "split.no", 3);
    expect_fail(&r, VOUCH_E_FORMAT, "'split.no' is 3; it must be 0 to 2");
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
        {0, {0}, 0, 0, VOUCH_E_FORMAT, "has 0 dimensions; it must have 1 to 4"},
        {5, {1, 1, 1, 1, 1}, 0, 0, VOUCH_E_FORMAT, "has 5 dimensions"},
        {1, {0}, 0, 0, VOUCH_E_FORMAT, "dimension 0 is 0; it must be positive"},
        {2, {8, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 1 is 0"},
        {3, {8, 1, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 2 is 0"},
        {4, {8, 1, 1, 0}, 0, 0, VOUCH_E_FORMAT, "dimension 3 is 0"},
        {2, {8, UINT64_MAX}, 0, 0, VOUCH_E_FORMAT, "dimension 1 is -1"},
        {1, {(uint64_t)1 << 63}, 0, 0, VOUCH_E_FORMAT, "dimension 0 is -9223372036854775808"},
        {1, {(uint64_t)1 << 31}, 0, 0, VOUCH_E_FORMAT, "its 8589934592 bytes"},
        {1, {((uint64_t)1 << 42) + 1}, 0, 0, VOUCH_E_FORMAT, "go beyond the file's"},
        /* Element counts of 2^63, 2^64 (wraps to 0) and 2^64 + 2^32 (wraps to 2^32); then 2^64 bytes (wraps to 0). */
        {2, {(uint64_t)1 << 32, (uint64_t)1 << 31}, 0, 0, VOUCH_E_FORMAT, "values; their number must be below"},
        {2, {(uint64_t)1 << 32, (uint64_t)1 << 32}, 0, 0, VOUCH_E_FORMAT, "4294967296 x 4294967296 values"},
        {2, {(uint64_t)1 << 32, ((uint64_t)1 << 32) + 1}, 0, 0, VOUCH_E_FORMAT, "values; their number must be below"},
        {1, {(uint64_t)1 << 62}, 0, 0, VOUCH_E_FORMAT, "values of type F32, more than"},
        {4, {(uint64_t)1 << 62, 1, 1, 2}, 12, 0, VOUCH_E_FORMAT, "values; their number must be below"},
        {1, {32}, 4, 0, VOUCH_E_UNSUPPORTED, "has type 4, which this version"},
        {1, {32}, 31, 0, VOUCH_E_UNSUPPORTED, "has type 31, which this version"},
        {1, {32}, 36, 0, VOUCH_E_UNSUPPORTED, "has type 36, which this version"},
        {1, {32}, 1000, 0, VOUCH_E_UNSUPPORTED, "has type 1000, which this version"},
        {1, {32}, UINT32_MAX, 0, VOUCH_E_UNSUPPORTED, "has type 4294967295, which this version"},
        {1, {33}, VOUCH_TYPE_Q8_0, 0, VOUCH_E_FORMAT, "33 must be a multiple of 32 for type Q8_0"},
        {1, {384}, VOUCH_TYPE_Q4_K, 0, VOUCH_E_FORMAT, "384 must be a multiple of 256 for type Q4_K"},
        {2, {16, 2}, VOUCH_TYPE_Q4_0, 0, VOUCH_E_FORMAT, "16 x 2 must be a multiple of 32"},
        {1, {8}, 0, 1, VOUCH_E_FORMAT, "offset 1 is not a multiple of the alignment, 32"},
        {1, {8}, 0, 16, VOUCH_E_FORMAT, "offset 16 is not a multiple"},
        {1, {8}, 0, 128, VOUCH_E_FORMAT, "its 32 bytes at offset 128 go beyond the file's 128 bytes"},
        {1, {9}, 0, 96, VOUCH_E_FORMAT, "its 36 bytes at offset 96 go beyond"},
        {1, {8}, 0, (uint64_t)1 << 32, VOUCH_E_FORMAT, "at offset 4294967296 go beyond"},
        {1, {8}, 0, UINT64_MAX - 31, VOUCH_E_FORMAT, "at offset 18446744073709551584 go beyond"},
        /* 2^64 - 4 bytes at offset 32: the end wraps to 28. */
        {1, {((uint64_t)1 << 62) - 1}, 0, 32, VOUCH_E_FORMAT, "18446744073709551612 bytes at offset 32"},
        {1, {8}, 41, 160, VOUCH_E_FORMAT, "its 0 bytes at offset 160 go beyond"}, /* an unsupported type */
        {1, {8}, 0, 96, VOUCH_OK, ""},
        {1, {256}, 41, 0, VOUCH_OK, ""},
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
    r.data[24 + 8 + 8] = 0xff; /* the low byte of n_dims, so that raw_data sees 255; memset makes it 2^32 - 1 */
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
        else expect_fail(&r, VOUCH_E_FORMAT, "tensor 0: the name has 65 bytes; it must have 1 to 64");
    }
    raw_header(&r, 3, 2, 0);
    raw_tensor(&r, "a.tensor", 1, dim, 0, 0);
    raw_tensor(&r, "a\ttensor", 1, dim, 0, 32);
    raw_data(&r, 32, 64);
    expect_fail(&r, VOUCH_E_FORMAT, "tensor 1: the name has the control character 0x09 at byte 1");
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
        {8, 0, 0, false}, {9, 0, 32, false}, {9, 32, 0, false}, /* the same bytes, and 4 bytes shared */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        raw r = {0};
        raw_header(&r, 3, 3, 0);
        raw_tensor(&r, "one", 1, &cases[i].values, 0, cases[i].first);
        raw_tensor(&r, "not.supported", 1, (const uint64_t[]){256}, 41, 0); /* Q1_0, of unknown size */
        raw_tensor(&r, "two", 1, &cases[i].values, 0, cases[i].second);
        raw_data(&r, 32, 128);
        if (cases[i].ok) expect_ok(&r);
        else expect_fail(&r, VOUCH_E_FORMAT, "its data overlaps the data of tensor '");
    }
}

/* Two sizes whose sum wraps to 0: the reader refuses the first one by itself. */
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
    raw_tensor(&r, "a.tensor", 2, (const uint64_t[]){256, 3}, 41, 0);
    raw_data(&r, 32, 64);
    vouch_gguf *gguf = open_bytes(r.data, r.size);
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "a.tensor");
    assert_non_null(tensor);
    assert_true(tensor->type == 41 && tensor->bytes == 0 && tensor->data == NULL && tensor->dim[1] == 3);
    assert_int_equal(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, NULL), VOUCH_OK);
    vouch_gguf_close(gguf);
    free(r.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_magic),
        cmocka_unit_test(test_bad_version),
        cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_bad_text_sizes),
        cmocka_unit_test(test_bad_keys),
        cmocka_unit_test(test_many_keys),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_bad_alignment),
        cmocka_unit_test(test_split_bytes_are_refused),
        cmocka_unit_test(test_bad_tensors),
        cmocka_unit_test(test_bad_tensor_names),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_sum_wraps),
        cmocka_unit_test(test_unsupported_type_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
