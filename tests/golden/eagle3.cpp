// SPDX-License-Identifier: MIT
// Draft logits of EAGLE-3's heads, computed by llama.cpp. Prints the numbers of tests/golden/eagle3.h for one model and
// its head that `build/release/tests/test_published --write FOLDER` has written:
//
//   c++ -std=c++17 -Ivendor/llama.cpp/{include,common,src,ggml/include} eagle3.cpp -lllama-common -lllama -lggml-base
//   ./eagle3 FOLDER/0.gguf FOLDER/0.head.gguf "NAME"
//
// The target runs the tokens. The encoder turns its streams into features. The decoder's row t has token x[t + 1] and the
// feature of position t; then it drafts 5 tokens, the likeliest each time, from its own states. Then 3 other tokens are
// committed, and it drafts again.
#include <cmath>
#include <cstdio>
#include <vector>

#include "common.h"
#include "llama-ext.h"
#include "llama.h"

enum { N_DRAFT = 5, N_KEPT = 16 };

static int n_target, n_embd, n_vocab;
static std::vector<float> features; // [positions][n_embd]

static llama_context * context(llama_model * model, llama_context * other) {
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = 64;
    cp.n_threads = cp.n_threads_batch = 1;
    cp.type_k = cp.type_v = GGML_TYPE_F32;
    cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    cp.ctx_other = other;
    return llama_init_from_model(model, cp);
}

// Runs the tokens from `from` on, and appends their features.
static void run_target(llama_context * target, llama_context * head, const int32_t * ids, int n_ids,
                       const std::vector<llama_token> & tokens, int from) {
    const int n = (int) tokens.size() - from, first = llama_memory_seq_pos_max(llama_get_memory(head), 0) + 1;
    common_batch batch(target), encoded(head);
    std::vector<float> streams((size_t) n * n_ids * n_target);
    for (int i = 0; i < n; i++) batch.add(tokens[from + i], from + i, 0, true);
    if (llama_process(target, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
    for (int k = 0; k < n_ids; k++) {
        const float * stream = llama_get_embeddings_layer_inp(target, (uint32_t) ids[k]);
        for (int i = 0; i < n; i++)
            std::copy(stream + (size_t) i * n_target, stream + (size_t) (i + 1) * n_target,
                      streams.begin() + ((size_t) i * n_ids + k) * n_target);
    }
    for (int i = 0; i < n; i++) {
        llama_pos pos = first + i; // must follow the decoder's last one
        encoded.add_embd({streams.data() + (size_t) i * n_ids * n_target, 1, (size_t) n_ids * n_target}, &pos, 0, true);
    }
    if (llama_process(head, LLAMA_PROCESS_TYPE_ENCODE, encoded.get()) != 0) exit(1);
    const float * f = llama_get_embeddings_nextn(head);
    features.insert(features.end(), f, f + (size_t) n * n_embd);
}

// Runs one row of the decoder and returns its logits.
static const float * run_head(llama_context * head, llama_token token, const float * f, int pos) {
    common_batch batch(head);
    const int idx = batch.add(token, pos, 0, true);
    batch.set_embd(idx, {(float *) f, 1, (size_t) n_embd});
    if (llama_process(head, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
    return llama_get_logits_ith(head, 0);
}

static llama_token print_logits(const float * logits) {
    std::vector<float> some; // of the tokens that the head may guess
    double mean = 0, square = 0;
    int best = 0;
    for (int i = 0; i < n_vocab; i++) {
        if (logits[i] > logits[best]) best = i;
        if (std::isfinite(logits[i])) some.push_back(logits[i]);
    }
    for (float z : some) mean += z / some.size();
    for (float z : some) square += (z - mean) * (z - mean) / some.size();
    printf("      {%d, %.9ef, {", best, std::sqrt(square));
    for (int i = 0; i < N_KEPT; i++)
        printf("%s%.9ef", i % 5 == 4 ? ",\n        " : i ? ", " : "", some[i * (some.size() / N_KEPT)]);
    printf("}},\n");
    return best;
}

int main(int argc, char ** argv) {
    llama_backend_init();
    const llama_model_params mp = llama_model_default_params();
    llama_model * model = argc == 4 ? llama_model_load_from_file(argv[1], mp) : nullptr;
    llama_model * drafter = model ? llama_model_load_from_file(argv[2], mp) : nullptr;
    if (!drafter) return 1;
    llama_context * target = context(model, nullptr), * head = context(drafter, target);
    const int32_t * ids = llama_model_target_layer_ids(drafter);
    const int n_ids = (int) llama_model_target_layer_ids_n(drafter);
    if (!target || !head) return 1;
    for (int k = 0; k < n_ids; k++) llama_set_embeddings_layer_inp(target, (uint32_t) ids[k], true);
    llama_set_embeddings_nextn(head, true, true);
    n_target = llama_model_n_embd(model);
    n_embd = llama_model_n_embd(drafter);
    n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));

    std::vector<llama_token> tokens;
    printf("    {\"%s\", {\n", argv[3]);
    for (int round = 0; round < 2; round++) {
        const int before = tokens.size();
        for (int i = 0; i < (round ? 3 : 12); i++) tokens.push_back((7 + 31 * tokens.size()) % n_vocab);
        const int n = tokens.size(), first = before ? before - 1 : 0;
        llama_memory_seq_rm(llama_get_memory(head), 0, first, -1);
        run_target(target, head, ids, n_ids, tokens, before);
        const float * logits = nullptr;
        for (int t = first; t < n - 1; t++) logits = run_head(head, tokens[t + 1], &features[(size_t) t * n_embd], t);
        for (int d = 0; d < N_DRAFT; d++) {
            const llama_token token = print_logits(logits);
            const float * s = llama_get_embeddings_nextn_ith(head, 0);
            const std::vector<float> f(s, s + n_embd);
            if (d + 1 < N_DRAFT) logits = run_head(head, token, f.data(), n - 1 + d);
        }
    }
    printf("    }},\n");
    return 0;
}
