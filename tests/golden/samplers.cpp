// SPDX-License-Identifier: MIT
// Probabilities after llama.cpp's samplers, with its chain set to the order of include/vouch.h. Prints tests/golden/
// samplers.h for the vocabulary that `build/release/tests/test_samplers --write FILE` has written:
//
//   c++ -std=c++17 -Ivendor/llama.cpp/{include,ggml/include} -Itests samplers.cpp -lllama -lggml-base
//   ./a.out FILE
#include <cmath>
#include <cstdio>
#include <vector>

#include "golden/sampler_cases.h"
#include "llama.h"

static llama_sampler * chain_of(const sampler_case & c, const llama_vocab * vocab) {
    llama_sampler * chain = llama_sampler_chain_init(llama_sampler_chain_default_params());
    const auto add = [&](llama_sampler * sampler) { llama_sampler_chain_add(chain, sampler); };
    const char * breakers[SAMPLER_BREAKERS];
    for (int i = 0; i < c.breakers; i++) breakers[i] = sampler_breakers[i];
    add(llama_sampler_init_penalties(llama_vocab_n_tokens(vocab), c.penalty_window, c.repeat_penalty,
                                     c.frequency_penalty, c.presence_penalty));
    add(llama_sampler_init_dry(vocab, c.dry_multiplier, c.dry_base, c.dry_allowed_length, c.dry_last_n, breakers,
                               c.breakers));
    add(llama_sampler_init_top_n_sigma(c.top_n_sigma));
    add(llama_sampler_init_temp(c.temperature));
    add(llama_sampler_init_top_k(c.top_k));
    add(llama_sampler_init_typical(c.typical_p, 0));
    add(llama_sampler_init_top_p(c.top_p, 0));
    add(llama_sampler_init_min_p(c.min_p, 0));
    add(llama_sampler_init_xtc(1, c.xtc_threshold, 0, 1));
    return chain;
}

static void print_case(const sampler_case & c, const llama_vocab * vocab) {
    float logits[SAMPLER_VOCAB];
    int32_t history[SAMPLER_HISTORY];
    sampler_logits(&c, logits);
    sampler_history(&c, history);
    llama_sampler * chain = chain_of(c, vocab);
    for (int32_t token : history) llama_sampler_accept(chain, token);
    std::vector<llama_token_data> data;
    for (int32_t i = 0; i < SAMPLER_VOCAB; i++) data.push_back({i, logits[i], 0});
    llama_token_data_array array = {data.data(), data.size(), -1, false};
    llama_sampler_apply(chain, &array);
    llama_sampler_free(chain);
    std::vector<double> p(SAMPLER_VOCAB, 0);
    double most = -INFINITY, total = 0;
    for (size_t i = 0; i < array.size; i++) most = std::fmax(most, array.data[i].logit);
    for (size_t i = 0; i < array.size; i++) total += p[array.data[i].id] = std::exp(array.data[i].logit - most);
    int n = 0, width = 0;
    for (double x : p) n += x > 0;
    printf("    {%d, (const sampler_value[]){", n);
    for (int i = 0; i < SAMPLER_VOCAB; i++) {
        if (!(p[i] > 0)) continue;
        printf("%s{%d, %.9e},", width++ % 5 == 0 ? "\n      " : " ", i, p[i] / total);
    }
    printf("}},\n");
}

int main(int argc, char ** argv) {
    if (argc != 2) return 2;
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    llama_model * model = llama_model_load_from_file(argv[1], params);
    if (!model) return 1;
    printf("/* SPDX-License-Identifier: MIT */\n/* Written by samplers.cpp: the tokens that llama.cpp leaves for each of "
           "sampler_cases, and their probabilities. */\n#include \"golden/sampler_cases.h\"\n"
           "typedef struct sampler_value {\n    int32_t id;\n    double p;\n} sampler_value;\n"
           "static const struct {\n    int n;\n    const sampler_value *values;\n} sampler_golden[N_SAMPLER_CASES] = {\n");
    for (const sampler_case & c : sampler_cases) print_case(c, llama_model_get_vocab(model));
    printf("};\n");
    llama_model_free(model);
    return 0;
}
