/* SPDX-License-Identifier: MIT */
/*
 * What n-gram speculation is worth on the summarization prompts of Spec-Bench, as a line of JSON: each prompt
 * is answered without and with it, one right after the other, so that a busy machine slows both.
 *
 *   speculate [--model FILE] [--data FOLDER] [--prompts 80] [--tokens 128] [--threads N] [--cpu ISA]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench.h"

enum { MAX_PROMPTS = 80 };

int main(int argc, char **argv)
{
    const bench_flags flags = bench_parse(
        "speculate", "speculate [FLAGS]\n\nSpeed without and with n-gram speculation, as a line of JSON.\n",
        (bench_flags){.n_prompts = MAX_PROMPTS, .n_tokens = 128}, argc, argv);
    vouch_model *model = bench_open(flags.model, flags.cpu);
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = flags.n_threads;
    options.max_tokens = flags.n_tokens;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session *plain = bench_session(model, &options);
    options.speculation.drafters = VOUCH_DRAFTER_NGRAM;
    vouch_session *ngram = bench_session(model, &options);

    char *prompts[MAX_PROMPTS];
    int32_t n = 0;
    bench_prompts(flags.data, "spec_bench.jsonl", (const char *const[]){"summarization", NULL},
                  flags.n_prompts, prompts, &n);
    int64_t tokens = 0, cycles = 0, drafted = 0, accepted = 0, n_prompt = 0;
    double plain_seconds = 0, ngram_seconds = 0;
    int n_different = 0;
    for (int32_t i = 0; i < n; i++) {
        bench_answer a, b;
        if (i % 2) b = bench_ask(ngram, prompts[i]);
        a = bench_ask(plain, prompts[i]);
        if (i % 2 == 0) b = bench_ask(ngram, prompts[i]);
        n_different += a.n_text != b.n_text || memcmp(a.text, b.text, a.n_text) != 0;
        tokens += a.n_tokens;
        n_prompt += a.n_prompt;
        plain_seconds += a.seconds;
        ngram_seconds += b.seconds;
        cycles += b.cycles;
        drafted += b.drafted;
        accepted += b.accepted;
        free(a.text);
        free(b.text);
        free(prompts[i]);
    }
    printf("{\"prompts\": %d, \"mean_prompt\": %.1f, \"tokens\": %lld, \"plain\": %.3f, \"ngram\": %.3f, "
           "\"tokens_per_cycle\": %.4f, \"acceptance\": %.4f, \"different\": %d}\n",
           (int)n, (double)n_prompt / n, (long long)tokens, (double)tokens / plain_seconds,
           (double)tokens / ngram_seconds, (double)tokens / (double)cycles,
           drafted ? (double)accepted / (double)drafted : 0.0, n_different);
    vouch_session_close(ngram);
    vouch_session_close(plain);
    vouch_model_close(model);
    return n_different > 0;
}
