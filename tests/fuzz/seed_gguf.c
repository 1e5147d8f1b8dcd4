/* SPDX-License-Identifier: MIT */
/* Writes small valid GGUF files, the seeds of fuzz_gguf:  seed_gguf FOLDER */
#include <stdio.h>

#include "format/gguf.h"

enum { N_SEEDS = 5 };

static void add_seed(vouch_gguf_writer *w, int seed)
{
    static const unsigned char data[256];
    const vouch_type types[] = {VOUCH_TYPE_F32, VOUCH_TYPE_F16, VOUCH_TYPE_Q4_0, VOUCH_TYPE_Q4_1, VOUCH_TYPE_Q8_0};
    const int64_t dim[] = {32, 1, 2, 1};
    vouch_gguf_add_text(w, "general.architecture", "llama");
    if (seed == 0) return; /* seed 0 is the smallest file, without tensors */
    if (seed == 2) vouch_gguf_add_u32(w, "general.alignment", 8);
    if (seed == 3) {
        vouch_gguf_add_u32(w, "split.count", 1);
        vouch_gguf_add_u32(w, "split.no", 0);
    }
    for (int type = 0; type < VOUCH_GGUF_TYPE_COUNT; type++) {
        char key[16];
        if (type == VOUCH_GGUF_STRING || type == VOUCH_GGUF_ARRAY) continue;
        snprintf(key, sizeof key, "value.%d", type);
        vouch_gguf_add_value(w, key, (vouch_gguf_type)type, data);
        snprintf(key, sizeof key, "array.%d", type);
        if (seed == 4) vouch_gguf_add_array(w, key, (vouch_gguf_type)type, data, 3);
    }
    vouch_gguf_add_texts(w, "tokens", (const vouch_text[]){{"a", 1}, {"", 0}, {"bc", 2}}, 3);
    for (uint32_t i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "t.%u", (unsigned)i);
        vouch_gguf_add_tensor(w, name, types[i], i ? i : 1, dim, data);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: seed_gguf FOLDER\n");
        return 2;
    }
    for (int seed = 0; seed < N_SEEDS; seed++) {
        char path[4096];
        vouch_gguf_writer *w;
        vouch_error err;
        snprintf(path, sizeof path, "%s/seed%d.gguf", argv[1], seed);
        vouch_status status = vouch_gguf_writer_open(&w, &err);
        if (status == VOUCH_OK) {
            add_seed(w, seed);
            status = vouch_gguf_write(w, path, &err);
            vouch_gguf_writer_close(w);
        }
        if (status != VOUCH_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    }
    return 0;
}
