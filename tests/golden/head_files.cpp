// SPDX-License-Identifier: MIT
// Draft logits of heads in files of their own, computed by llama.cpp. Prints the numbers of tests/golden/head_files.h
// for one head that `build/release/tests/test_head_files --write FOLDER` has written:
//
//   c++ -std=c++17 -Ivendor/llama.cpp/{include,common,src,ggml/include} head_files.cpp -lllama-common -lllama -lggml-base
//   ./head_files FOLDER gemma4-assistant
//
// The target runs all tokens but the last one. The head drafts 5 tokens behind the last one, the likeliest each time.
// Then 3 other tokens are committed, and it drafts again.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common.h"
#include "llama-ext.h"
#include "llama.h"

enum { N_DRAFT = 5, N_KEPT = 16 };

static llama_context * target, * head;
static std::vector<llama_token> tokens;
static int n_embd, n_vocab, n_run;
static std::vector<float> state; // the target's at the last token that it ran

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

static void process(llama_context * ctx, common_batch & batch) {
    if (llama_process(ctx, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
}

// The target runs all tokens but the last one.
static void run_target() {
    common_batch batch(target);
    const int first = n_run;
    for (; n_run + 1 < (int) tokens.size(); n_run++) batch.add(tokens[n_run], n_run, 0, true);
    process(target, batch);
    const float * h = llama_get_embeddings_nextn_ith(target, n_run - first - 1);
    state.assign(h, h + n_embd);
}

// Each guess stands where the last token stands, and reads the state that the row before it leaves.
static void draft_assistant() {
    std::vector<float> h = state;
    llama_token token = tokens.back();
    for (int d = 0; d < N_DRAFT; d++) {
        common_batch batch(head);
        const int idx = batch.add(token, tokens.size() - 1, 0, true);
        batch.set_embd(idx, {h.data(), 1, (size_t) n_embd});
        process(head, batch);
        token = print_logits(llama_get_logits_ith(head, 0));
        const float * s = llama_get_embeddings_nextn_ith(head, 0);
        h.assign(s, s + n_embd);
    }
}

static llama_context * open_context(llama_model * model, llama_context * other) {
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = 64;
    cp.n_threads = cp.n_threads_batch = 1;
    cp.type_k = cp.type_v = GGML_TYPE_F32;
    cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    cp.ctx_other = other;
    if (other) cp.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    return llama_init_from_model(model, cp);
}

int main(int argc, char ** argv) {
    if (argc < 3) return 1;
    const std::string folder = argv[1], name = argv[2];
    llama_backend_init();
    llama_model * model = llama_model_load_from_file((folder + "/" + name + ".target.gguf").c_str(), llama_model_default_params());
    llama_model * guesser = llama_model_load_from_file((folder + "/" + name + ".gguf").c_str(), llama_model_default_params());
    if (!model || !guesser) return 1;
    target = open_context(model, nullptr);
    head = open_context(guesser, target);
    if (!target || !head) return 1;
    llama_set_embeddings_nextn(target, true, false);
    llama_set_embeddings_nextn(head, true, true);
    n_embd = llama_model_n_embd(model);
    n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));

    printf("    {\"%s\", {\n", name.c_str());
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < (round ? 3 : 12); i++) tokens.push_back((7 + 31 * tokens.size()) % n_vocab);
        run_target();
        draft_assistant();
    }
    printf("    }},\n");
    return 0;
}
