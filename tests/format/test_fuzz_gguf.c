/* SPDX-License-Identifier: MIT */
/*
 * Runs the fuzz target of the GGUF reader inside the ordinary tests, on a small valid file, on all of its truncations
 * and on damaged copies.
 */
#include "fuzz/fuzz_gguf.c"
#include "support/model/gguf.h"
#include "support/mutate.h"
#include "support/decode/replay.h"

static const char *const words[] = {"GGUF", "general.", "value", "array", "tokens", "t.", NULL};

static void *file_bytes(size_t *size)
{
    static const uint64_t values[64];
    static const int64_t dim[4] = {32, 1, 2, 1};
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "general.architecture", "llama");
    vouch_gguf_add_u32(w, "general.alignment", 64);
    vouch_gguf_add_bool(w, "value.bool", true);
    vouch_gguf_add_array(w, "array.float", VOUCH_GGUF_F32, values, 5);
    vouch_gguf_add_array(w, "array.long", VOUCH_GGUF_I64, values, 3);
    vouch_gguf_add_texts(w, "tokens", (const vouch_text[]){{"a", 1}, {"", 0}, {"bc", 2}}, 3);
    vouch_gguf_add_tensor(w, "t.f32", VOUCH_TYPE_F32, 1, dim, values);
    vouch_gguf_add_tensor(w, "t.q8", VOUCH_TYPE_Q8_0, 3, dim, values);
    vouch_gguf_add_tensor(w, "t.q4", VOUCH_TYPE_Q4_1, 2, dim, values);
    return writer_finish(w, size);
}

static void test_replay(void **state)
{
    (void)state;
    size_t size;
    mutator m;
    uint8_t *bytes = file_bytes(&size);
    feed("good", 0, bytes, size);
    mutator_open(&m, bytes, size, words, 1);
    for (size_t n = 0; n < size; n++) {
        mutator_truncate(&m, n);
        feed("truncation", n, m.bytes, m.n);
    }
    for (size_t i = 0; i < 20000; i++) {
        mutator_next(&m);
        feed("mutation", i, m.bytes, m.n);
    }
    mutator_close(&m);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
