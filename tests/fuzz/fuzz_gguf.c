/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target of the GGUF reader. It opens the input as a GGUF file. Either the reader refuses it with a message,
 * or everything in the file can be read and gguf.h's promises hold. Anything else traps.
 *
 *   clang -fsanitize=fuzzer,address,undefined ...
 *   ./fuzz_gguf -max_len=4096 -dict=tests/fuzz/gguf.dict corpus/
 *
 * Random bytes fail at the file's magic, so the fuzzer starts from valid files, which seed_gguf.c writes.
 */
#include <stdlib.h>
#include <string.h>

#include "format/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) __builtin_trap();                                                                  \
    } while (0)

/* Reads every byte; volatile keeps the compiler from removing the reads. */
static void touch(const void *bytes, size_t size)
{
    volatile unsigned char sum = 0;
    for (size_t i = 0; i < size; i++) sum = (unsigned char)(sum + ((const unsigned char *)bytes)[i]);
}

static void walk_array(const vouch_gguf_array *array)
{
    const unsigned char *cursor = array->data;
    for (size_t i = 0; i < array->count; i++) {
        if (array->type == VOUCH_GGUF_STRING) {
            const vouch_text text = vouch_gguf_next_text(&cursor);
            touch(text.data, text.size);
        } else if (array->type == VOUCH_GGUF_F32 || array->type == VOUCH_GGUF_F64) {
            vouch_gguf_array_float(array, i);
        } else {
            vouch_gguf_array_int(array, i);
        }
    }
}

/* Reads a key with the getter of every type. At most one of them may succeed. */
static void walk_key(const vouch_gguf *gguf, size_t index)
{
    vouch_gguf_type type;
    const vouch_text text = vouch_gguf_key(gguf, index, &type);
    char *key = malloc(text.size + 1);
    if (!key) return;
    memcpy(key, text.data, text.size);
    key[text.size] = 0;
    REQUIRE(strlen(key) == text.size && text.size > 0 && vouch_gguf_has(gguf, key));

    vouch_error err;
    int64_t integer;
    double number;
    bool flag;
    vouch_text value;
    vouch_gguf_array array;
    int good = vouch_gguf_get_int(gguf, key, true, INT64_MIN, INT64_MAX, &integer, &err) == VOUCH_OK;
    good += vouch_gguf_get_float(gguf, key, true, &number, &err) == VOUCH_OK;
    good += vouch_gguf_get_bool(gguf, key, true, &flag, &err) == VOUCH_OK;
    if (vouch_gguf_get_text(gguf, key, true, &value, &err) == VOUCH_OK) {
        good++;
        touch(value.data, value.size);
    }
    if (vouch_gguf_get_array(gguf, key, true, &array, &err) == VOUCH_OK) {
        good++;
        walk_array(&array);
    }
    REQUIRE(good <= 1);
    free(key);
}

static void walk_tensor(const vouch_gguf *gguf, const vouch_gguf_tensor *tensor, const uint8_t *begin, size_t size)
{
    char name[65];
    REQUIRE(tensor->name.size >= 1 && tensor->name.size < sizeof name);
    memcpy(name, tensor->name.data, tensor->name.size);
    name[tensor->name.size] = 0;
    REQUIRE(vouch_gguf_find_tensor(gguf, name) == tensor);
    REQUIRE(tensor->n_dims >= 1 && tensor->n_dims <= 4 && vouch_type_gguf_name(tensor->type));
    int64_t n_values = 1;
    for (int i = 0; i < 4; i++)
        REQUIRE(tensor->dim[i] > 0 && !__builtin_mul_overflow(n_values, tensor->dim[i], &n_values));
    const vouch_type_info *info = vouch_type_get_stored(tensor->type);
    if (!info) {
        REQUIRE(!tensor->data && !tensor->bytes);
        return;
    }
    const uint8_t *data = tensor->data;
    REQUIRE(tensor->bytes == (size_t)(n_values / info->block_length) * (size_t)info->block_bytes);
    REQUIRE(data >= begin && data < begin + size && tensor->bytes <= (size_t)(begin + size - data));
    REQUIRE((size_t)(data - begin) % 8 == 0);
    touch(data, 1);
    touch(data + tensor->bytes - 1, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vouch_gguf *gguf;
    vouch_error err = {0};
    const vouch_status status = vouch_gguf_open_bytes(&gguf, data, size, "fuzz", &err);
    if (status != VOUCH_OK) {
        REQUIRE(!gguf && err.code == status && strncmp(err.message, "fuzz: ", 6) == 0);
        return 0;
    }
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) walk_key(gguf, i);
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++)
        walk_tensor(gguf, vouch_gguf_get_tensor(gguf, i), data, size);
    vouch_gguf_close(gguf);
    return 0;
}
