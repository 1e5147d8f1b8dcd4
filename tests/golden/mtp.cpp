// SPDX-License-Identifier: MIT
// Draft logits of heads in their target's file (multi-token prediction), computed by llama.cpp. Prints the numbers of
// tests/golden/mtp.h for one model that `build/release/tests/test_mtp --write FOLDER` has written:
//
//   c++ -std=c++17 -Ivendor/llama.cpp/{include,common,src,ggml/include} mtp.cpp -lllama-common -lllama -lggml-base
//   ./mtp FOLDER/qwen35.gguf qwen35
//
// The target runs the tokens. The head runs row t + 1 with token x[t + 1] and the target's state at t, as in training;
// then it drafts 5 tokens, the likeliest each time. Then 3 other tokens are committed, and it drafts again.
//
// Where the file has several heads, head d guesses token d of the draft, as SGLang's multi-layer EAGLE runs MiMo-V2: its
// row t reads token x[t + 1 + d] and the target's state at t. llama.cpp computes each head's rows. Its own driver would
// feed them other states.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common.h"
#include "llama-ext.h"
#include "llama.h"

enum { N_DRAFT = 5, N_KEPT = 16 };

static std::vector<float> states;
static int n_embd, n_vocab;

static void target_run(llama_context * ctx, const std::vector<llama_token> & tokens, int from) {
    common_batch batch(ctx);
    for (int i = from; i < (int) tokens.size(); i++) batch.add(tokens[i], i, 0, true);
    if (llama_process(ctx, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
    for (int i = from; i < (int) tokens.size(); i++) {
        const float * h = llama_get_embeddings_nextn_ith(ctx, i - from);
        states.insert(states.end(), h, h + n_embd);
    }
}

// Runs one row of the head and returns its logits.
static const float * head_run(llama_context * ctx, llama_token token, const float * h, int pos) {
    common_batch batch(ctx);
    const int idx = batch.add(token, pos, 0, true);
    batch.set_embd(idx, {(float *) h, 1, (size_t) n_embd});
    if (llama_process(ctx, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
    return llama_get_logits_ith(ctx, 0);
}

static llama_token print_logits(const float * logits) {
    double mean = 0, square = 0;
    int best = 0;
    for (int i = 0; i < n_vocab; i++) {
        mean += logits[i] / n_vocab;
        if (logits[i] > logits[best]) best = i;
    }
    for (int i = 0; i < n_vocab; i++) square += (logits[i] - mean) * (logits[i] - mean) / n_vocab;
    printf("      {%d, %.9ef, {", best, std::sqrt(square));
    for (int i = 0; i < N_KEPT; i++)
        printf("%s%.9ef", i % 5 == 4 ? ",\n        " : i ? ", " : "", logits[i * (n_vocab / N_KEPT)]);
    printf("}},\n");
    return best;
}

// Runs all rows of head d after `tokens`, which end with the guesses so far, and returns the last one's logits.
static const float * head_run_all(llama_context * ctx, const std::vector<llama_token> & tokens, int d, int n_states) {
    llama_memory_seq_rm(llama_get_memory(ctx), 0, -1, -1);
    llama_set_nextn_layer_offset(ctx, d);
    const float * logits = nullptr;
    for (int t = 0; t < n_states; t++)
        logits = head_run(ctx, tokens[t + 1 + d], states.data() + (size_t) t * n_embd, t + 1);
    return logits;
}

int main(int argc, char ** argv) {
    llama_backend_init();
    llama_model_params mp = llama_model_default_params();
    mp.load_mtp = true;
    llama_model * model = llama_model_load_from_file(argv[1], mp);
    if (!model || argc < 3) return 1;
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = 64;
    cp.n_threads = cp.n_threads_batch = 1;
    cp.type_k = cp.type_v = GGML_TYPE_F32;
    cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    llama_context * target = llama_init_from_model(model, cp);
    cp.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    cp.ctx_other = target;
    llama_context * head = llama_init_from_model(model, cp);
    if (!target || !head) return 1;
    llama_set_embeddings_nextn(target, true, false);
    llama_set_embeddings_nextn(head, true, true);
    n_embd = llama_model_n_embd(model);
    n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));

    std::vector<llama_token> tokens;
    printf("    {\"%s\", {\n", argv[2]);
    for (int round = 0; round < 2; round++) {
        const int before = tokens.size();
        for (int i = 0; i < (round ? 3 : 12); i++) tokens.push_back((7 + 31 * tokens.size()) % n_vocab);
        target_run(target, tokens, before);
        const int n = tokens.size();
        if (llama_model_n_layer_nextn(model) > 1) {
            std::vector<llama_token> all = tokens;
            for (int d = 0; d < N_DRAFT; d++) all.push_back(print_logits(head_run_all(head, all, d, n - 1)));
            continue;
        }
        llama_memory_seq_rm(llama_get_memory(head), 0, before, -1);
        const float * logits = nullptr;
        for (int t = before ? before - 1 : 0; t < n - 1; t++)
            logits = head_run(head, tokens[t + 1], states.data() + (size_t) t * n_embd, t + 1);
        for (int d = 0; d < N_DRAFT; d++) {
            const llama_token token = print_logits(logits);
            const float * s = llama_get_embeddings_nextn_ith(head, 0);
            const std::vector<float> h(s, s + n_embd);
            if (d + 1 < N_DRAFT) logits = head_run(head, token, h.data(), n + d);
        }
    }
    printf("    }},\n");
    return 0;
}
