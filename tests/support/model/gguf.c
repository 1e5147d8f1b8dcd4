/* SPDX-License-Identifier: MIT */
#include "support/model/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vouch_gguf_writer *writer_open(void)
{
    vouch_gguf_writer *w;
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    return w;
}

void *writer_finish(vouch_gguf_writer *writer, size_t *size)
{
    void *bytes;
    vouch_error err;
    if (vouch_gguf_write_bytes(writer, &bytes, size, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_writer_close(writer);
    return bytes;
}

unsigned char *write_larger(size_t *size)
{
    enum { N_TOKENS = 512, N_TENSORS = 48, N_VALUES = 5504 };
    static char names[N_TOKENS][24];
    static float data[N_VALUES];
    vouch_text tokens[N_TOKENS];
    for (int i = 0; i < N_TOKENS; i++) {
        snprintf(names[i], sizeof names[i], "token%d", i);
        tokens[i] = (vouch_text){names[i], strlen(names[i])};
    }
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, N_TOKENS);
    for (int i = 0; i < N_TENSORS; i++) {
        char name[32];
        snprintf(name, sizeof name, "blk.%d.weight", i);
        vouch_gguf_add_tensor(w, name, VOUCH_TYPE_F32, 1, (const int64_t[]){N_VALUES}, data);
    }
    return writer_finish(w, size);
}

vouch_gguf *open_bytes(const void *bytes, size_t size)
{
    vouch_gguf *gguf = NULL;
    vouch_error err;
    if (vouch_gguf_open_bytes(&gguf, bytes, size, "some.gguf", &err) != VOUCH_OK) fail_msg("%s", err.message);
    return gguf;
}

int64_t get_int(const vouch_gguf *gguf, const char *key)
{
    int64_t value = 42;
    vouch_error err;
    if (vouch_gguf_get_int(gguf, key, true, INT64_MIN, INT64_MAX, &value, &err) != VOUCH_OK)
        fail_msg("%s", err.message);
    return value;
}

unsigned gguf_walk(const vouch_gguf *gguf)
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
        assert_int_equal(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, NULL), VOUCH_OK);
        const unsigned char *data = tensor->data;
        if (data) sum += data[0] + data[tensor->bytes - 1];
    }
    return sum;
}
