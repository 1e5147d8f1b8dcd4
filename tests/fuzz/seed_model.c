/* SPDX-License-Identifier: MIT */
/* Writes small models of the llama and qwen3 architectures, one for every type of weights: the seeds of fuzz_model.
 * Usage: seed_model FOLDER */
#include <stdio.h>

#include "kernels/forms.h"
#include "support/model/tiny_model.h"

int main(int argc, char **argv)
{
#define ITEM(type) VOUCH_TYPE_##type,
    static const vouch_type types[] = {VOUCH_FLOAT_TYPES(ITEM) VOUCH_QUANTIZED_TYPES(ITEM)};
#undef ITEM
    enum { N_TYPES = sizeof types / sizeof types[0] };
    if (argc != 2) {
        fprintf(stderr, "usage: seed_model FOLDER\n");
        return 2;
    }
    for (int seed = 0; seed < N_TYPES; seed++) {
        char path[4096];
        const tiny_model_options options = {.arch = seed % 2 ? "qwen3" : "llama",
                                            .n_vocab = seed < 5 ? 40 : 270,
                                            .n_embd = vouch_type_get_info(types[seed])->block_length > 32 ? 256 : 32,
                                            .n_layers = 1,
                                            .n_heads = 2,
                                            .head_dim = 16,
                                            .n_ff = 32,
                                            .type = types[seed],
                                            .tied = seed % 3 != 0,
                                            .rope_freqs = seed == 4};
        snprintf(path, sizeof path, "%s/model%d.gguf", argv[1], seed);
        tiny_model_write(path, &options);
    }
    return 0;
}
