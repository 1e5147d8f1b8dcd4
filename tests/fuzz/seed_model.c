/* SPDX-License-Identifier: MIT */
/* Seeds for fuzz_model, small whole models of both architectures and every type:  seed_model FOLDER */
#include <stdio.h>

#include "support/tiny_model.h"

int main(int argc, char **argv)
{
    static const vouch_type types[] = {VOUCH_TYPE_F32, VOUCH_TYPE_F16, VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0,
                                       VOUCH_TYPE_Q4_1};
    if (argc != 2) {
        fprintf(stderr, "usage: seed_model FOLDER\n");
        return 2;
    }
    for (int seed = 0; seed < 10; seed++) {
        char path[4096];
        const tiny_model_options options = {.arch = seed % 2 ? "qwen3" : "llama",
                                            .n_vocab = seed < 5 ? 40 : 270,
                                            .n_embd = 32,
                                            .n_layers = 1,
                                            .n_heads = 2,
                                            .n_ff = 32,
                                            .type = types[seed % 5],
                                            .tied = seed % 3 != 0,
                                            .rope_freqs = seed == 4};
        snprintf(path, sizeof path, "%s/model%d.gguf", argv[1], seed);
        tiny_model_write(path, &options);
    }
    return 0;
}
