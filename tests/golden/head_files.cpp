// SPDX-License-Identifier: MIT
// Draft logits of heads in files of their own, computed by llama.cpp. Prints the numbers of tests/golden/head_files.h
// for one head that `build/release/tests/test_head_files --write FOLDER` has written:
//
//   c++ -std=c++17 -Ivendor/llama.cpp/{include,common,src,ggml/include} head_files.cpp -lllama-common -lllama -lggml-base
//   ./head_files FOLDER gemma4-assistant
//
// The target runs all tokens but the last one. The head drafts 5 tokens after the last one, the likeliest each time.
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
static std::vector<float> state;    // the target's at the last token that it ran
static std::vector<float> features; // the target's at each token of its last run, layer by layer
static bool is_block;
static std::vector<float> chances;

// The logits of the tokens that the head may guess.
static llama_token print_logits(const float * logits) {
    double mean = 0, square = 0;
    int best = 0, n = 0, seen = 0, kept = 0;
    for (int i = 0; i < n_vocab; i++) n += std::isfinite(logits[i]);
    for (int i = 0; i < n_vocab; i++) {
        if (std::isfinite(logits[i])) mean += logits[i] / n;
        if (logits[i] > logits[best]) best = i;
    }
    for (int i = 0; i < n_vocab; i++)
        if (std::isfinite(logits[i])) square += (logits[i] - mean) * (logits[i] - mean) / n;
    printf("      {%d, %.9ef, {", best, std::sqrt(square));
    for (int i = 0; i < n_vocab; i++) {
        if (!std::isfinite(logits[i]) || seen++ % (n / N_KEPT) != 0 || kept == N_KEPT) continue;
        printf("%s%.9ef", kept % 5 == 4 ? ",\n        " : kept ? ", " : "", logits[i]);
        kept++;
    }
    printf("}},\n");
    return best;
}

// A row of DFlash2's lattice: the likeliest tokens, then for each of those before it their scores. Returns the place of
// the best one.
static int print_selection(const float * row, int n_best, int before) {
    std::vector<float> logits(n_vocab, -INFINITY);
    for (int i = 0; i < n_best; i++) logits[(int) row[i]] = row[n_best + before * n_best + i];
    const int best = print_logits(logits.data());
    for (int i = 0; i < n_best; i++)
        if ((int) row[i] == best) return i;
    return 0;
}

static void process(llama_context * ctx, common_batch & batch) {
    if (llama_process(ctx, LLAMA_PROCESS_TYPE_DECODE, batch.get()) != 0) exit(1);
}

// Gives a head of blocks the target's states at the positions [first, n_run).
static void inject(int first) {
    const llama_model * model = llama_get_model(head);
    const int n_layers = llama_model_target_layer_ids_n(model);
    const int n = n_layers * n_embd;
    features.resize((size_t) (n_run - first) * n);
    common_batch batch(head);
    for (int i = 0; i < n_run - first; i++) {
        for (int k = 0; k < n_layers; k++) {
            const float * x = llama_get_embeddings_layer_inp(target, llama_model_target_layer_ids(model)[k]);
            std::copy(x + (size_t) i * n_embd, x + (size_t) (i + 1) * n_embd, features.begin() + (size_t) i * n + k * n_embd);
        }
        const llama_pos pos[4] = {first + i, first + i, first + i, 0};
        batch.add_embd({features.data() + (size_t) i * n, 1, (size_t) n}, pos, 0, false);
    }
    process(head, batch);
}

static std::string meta(const char * key) {
    char value[64] = "";
    llama_model_meta_val_str(llama_get_model(head), key, value, sizeof value);
    return value;
}

// One pass over the last token and masks. llama.cpp's markov head follows the likeliest tokens by itself.
static void draft_block(bool is_dspark) {
    const int n_rows = std::stoi(meta("dflash.block_size"));
    const int first = is_dspark && meta("dflash.sample_from_anchor") == "true" ? 0 : 1;
    const int last = tokens.size() - 1;
    llama_memory_seq_rm(llama_get_memory(head), 0, last, -1);
    common_batch batch(head);
    const llama_token mask = std::stoi(meta("tokenizer.ggml.mask_token_id"));
    for (int i = 0; i < n_rows; i++) batch.add(i ? mask : tokens[last], last + i, 0, true);
    process(head, batch);
    const int n_best = meta("dflash.selector_top_k").empty() ? 0 : std::stoi(meta("dflash.selector_top_k"));
    for (int d = 0, before = 0; d < N_DRAFT; d++) {
        if (n_best == 0) print_logits(llama_get_logits_ith(head, first + d));
        else before = print_selection(llama_get_embeddings_nextn(head) + (size_t) (first + d) * n_embd, n_best, before);
    }
    for (int d = 0; d < N_DRAFT && is_dspark; d++)
        chances.push_back(llama_get_embeddings_nextn_ith(head, first + d)[0]); // the confidence, n_embd times
    llama_memory_seq_rm(llama_get_memory(head), 0, last, -1);
}

// The target runs all tokens but the last one.
static void run_target() {
    common_batch batch(target);
    const int first = n_run;
    for (; n_run + 1 < (int) tokens.size(); n_run++) batch.add(tokens[n_run], n_run, 0, true);
    process(target, batch);
    if (is_block) {
        inject(first);
        return;
    }
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
    if (other && !is_block) cp.ctx_type = LLAMA_CONTEXT_TYPE_MTP;
    return llama_init_from_model(model, cp);
}

int main(int argc, char ** argv) {
    if (argc < 3) return 1;
    const std::string folder = argv[1], name = argv[2];
    llama_backend_init();
    llama_model * model = llama_model_load_from_file((folder + "/" + name + ".target.gguf").c_str(), llama_model_default_params());
    llama_model * guesser = llama_model_load_from_file((folder + "/" + name + ".gguf").c_str(), llama_model_default_params());
    if (!model || !guesser) return 1;
    is_block = name[0] == 'd'; // dflash, dspark
    target = open_context(model, nullptr);
    head = open_context(guesser, target);
    if (!target || !head) return 1;
    llama_set_embeddings_nextn(head, true, true);
    if (is_block) {
        for (uint32_t k = 0; k < llama_model_target_layer_ids_n(guesser); k++)
            llama_set_embeddings_layer_inp(target, llama_model_target_layer_ids(guesser)[k], true);
        llama_set_causal_attn(head, meta("dflash.attention.causal") == "true");
    } else llama_set_embeddings_nextn(target, true, false);
    n_embd = llama_model_n_embd(model);
    n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));

    printf("    {\"%s\", {\n", name.c_str());
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < (round ? 3 : 12); i++) tokens.push_back((7 + 31 * tokens.size()) % n_vocab);
        run_target();
        if (is_block) draft_block(name.substr(0, 6) == "dspark");
        else draft_assistant();
    }
    printf("    }, {");
    for (size_t i = 0; i < chances.size(); i++) printf("%s%.9ef", i == 5 ? ",\n      " : i ? ", " : "", chances[i]);
    printf("%s}},\n", chances.empty() ? "0" : "");
    return 0;
}
