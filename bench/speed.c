/* SPDX-License-Identifier: MIT */
/*
 * Speed of one model without prompts, one round, as a line of JSON; compare-llama runs it many times:
 *
 *   speed [--model FILE] [--threads N] [--cpu ISA]
 *
 *   decode       tokens/s of 128 plain steps from one token on
 *   decode_deep  the same from --tokens tokens on, where given
 *   pass         seconds of a pass of 1, 5 and 8 rows behind 128 tokens, medians of 40
 *   prefill      tokens/s of 512 rows from nothing
 */
#include <stdio.h>
#include <stdlib.h>

#include "support/bench.h"

enum { N_DECODE = 128, N_PREFILL = 512, N_BEFORE = 128, N_REPS = 40 };

/* Makes the sequence n tokens that mean nothing and don't repeat soon; the last is not run yet. */
static double prompt_run(vouch_session *session, const vouch_model *model, int32_t n)
{
    const int32_t n_vocab = vouch_model_get_info(model)->n_vocab;
    int32_t *tokens = malloc((size_t)n * sizeof *tokens);
    vouch_error err;
    if (!tokens) exit(2);
    for (int32_t i = 0; i < n; i++) tokens[i] = (int32_t)(((int64_t)i * 7919 + n) % n_vocab);
    const double start = bench_now();
    bench_check(vouch_session_prompt(session, tokens, (size_t)n, &err), &err);
    free(tokens);
    return bench_now() - start;
}

static double decode_speed(vouch_session *session, const vouch_model *model, int32_t n_before)
{
    vouch_step step;
    vouch_error err;
    prompt_run(session, model, n_before);
    const double start = bench_now();
    for (int i = 0; i < N_DECODE; i++) bench_check(vouch_session_step(session, &step, &err), &err);
    return N_DECODE / (bench_now() - start);
}

int main(int argc, char **argv)
{
    const bench_flags flags = bench_parse(argc, argv);
    vouch_model *model = bench_open(flags.model, flags.cpu);
    vouch_session_options options = vouch_session_options_default();
    double pass[3];
    const int32_t rows[3] = {1, 5, 8};
    vouch_error err;
    options.n_threads = flags.n_threads;
    options.ignore_eos = true;
    options.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session *session = bench_session(model, &options);

    decode_speed(session, model, 1); /* warm */
    const double decode = decode_speed(session, model, 1);
    const double deep = flags.n_tokens ? decode_speed(session, model, flags.n_tokens) : 0;
    const double prefill = N_PREFILL / prompt_run(session, model, N_PREFILL + 1);
    prompt_run(session, model, N_BEFORE + 1);
    for (int i = 0; i < 3; i++)
        bench_check(vouch_session_time_pass(session, rows[i], N_REPS, &pass[i], &err), &err);
    printf("{\"cpu\": \"%s\", \"decode\": %.3f, \"decode_deep\": %.3f, \"prefill\": %.3f, "
           "\"pass\": {\"1\": %.7f, \"5\": %.7f, \"8\": %.7f}}\n",
           vouch_model_get_info(model)->cpu, decode, deep, prefill, pass[0], pass[1], pass[2]);
    vouch_session_close(session);
    vouch_model_close(model);
    return 0;
}
