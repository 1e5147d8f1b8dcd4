/* SPDX-License-Identifier: MIT */
/*
 * Law L4 on a real model: measures the speed relative to plain decoding when drafting can't pay and pace chooses the
 * draft length.
 *
 *   never_slower [--model FILE] [--prompts 5] [--tokens 512] [--threads N] [--cpu ISA] [--from 1]
 *
 *   wrong     a drafter that is always wrong
 *   turning   a drafter that is right in every other cycle for a quarter of the answer, then always wrong
 *   random    the free drafters after a prompt of random tokens
 *   itself    a draft model as large as the target
 *
 * --from N begins with the N-th case. Plain decoding and the case alternate every 16 tokens, so that a change in the
 * machine's speed affects both. A ratio is plain time / time with speculation. The program prints the median over the
 * prompts and the smallest ratio. Exit status 1 if a median is below KEPT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/bench.h"

enum { TURN = 16, PROMPT = 100, WARM = 16, MOST_ROUNDS = 80, N_CASES = 4 }; /* TURN, PROMPT, WARM: tokens */
#define KEPT 0.97

typedef struct drafter {
    const int32_t *text; /* [n_text]: prompt and answer of plain decoding */
    int32_t n_text, n_vocab;
    int32_t n_right; /* before this position every other draft is right */
    bool turn;       /* the next draft may be right */
} drafter;

typedef struct side {
    vouch_session *session;
    int32_t n, first; /* tokens of the answer; `first` of them, at its beginning, aren't timed */
    double seconds;   /* for the other n - first tokens */
} side;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int32_t guess(void *user, const int32_t *tokens, int32_t n_tokens, int32_t k, int32_t *guesses)
{
    drafter *d = user;
    int32_t n = 0;
    (void)tokens;
    d->turn = !d->turn;
    const bool is_right = d->turn && n_tokens < d->n_right;
    for (; n < k && n_tokens + n < d->n_text; n++)
        guesses[n] = is_right ? d->text[n_tokens + n] : (d->text[n_tokens + n] + 1) % d->n_vocab;
    return n;
}

static side side_open(const vouch_model *model, const vouch_session_options *options, const int32_t *prompt)
{
    vouch_error err = {0};
    side s = {.session = bench_session(model, options)};
    bench_check(vouch_session_prompt(s.session, prompt, PROMPT, &err), &err);
    return s;
}

/* Steps until the answer has n tokens and, unless `text` is NULL, copies them to text [n]. False if the answer ends. */
static bool side_go(side *s, int32_t n, int32_t *text)
{
    vouch_error err = {0};
    vouch_step step = {0};
    while (s->n < n && step.finish == VOUCH_FINISH_NONE) {
        const double start = now();
        bench_check(vouch_session_step(s->session, &step, &err), &err);
        if (s->n >= WARM) s->seconds += now() - start;
        else s->first = s->n + step.n_tokens;
        if (text) memcpy(text + s->n, step.tokens, (size_t)step.n_tokens * sizeof *text);
        s->n += step.n_tokens;
    }
    return step.finish == VOUCH_FINISH_NONE;
}

/* Speed of the tested options relative to plain decoding: plain seconds per token / tested seconds per token. */
static double answer_compare(const vouch_model *model, vouch_session_options plain_options,
                             vouch_session_options options, const int32_t *prompt, int32_t n_tokens)
{
    side plain = side_open(model, &plain_options, prompt), other = side_open(model, &options, prompt);
    bool plain_goes = true, other_goes = true;
    for (int32_t n = TURN; plain_goes || other_goes; n += TURN) {
        if (plain_goes) plain_goes = side_go(&plain, n, NULL) && n < n_tokens;
        if (other_goes) other_goes = side_go(&other, n, NULL) && n < n_tokens;
    }
    const double ratio = plain.seconds / (plain.n - plain.first) * (other.n - other.first) / other.seconds;
    vouch_session_close(plain.session);
    vouch_session_close(other.session);
    return ratio;
}

static int ascending(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

int main(int argc, char **argv)
{
    const bench_flags flags =
        bench_parse("never_slower",
                    "never_slower [FLAGS]\n\nSpeed relative to plain decoding when no guess is accepted: law L4.\n",
                    (bench_flags){.n_prompts = 5, .n_tokens = 512}, argc, argv);
    const int32_t rounds = flags.n_prompts;
    bool is_kept = true;
    if (flags.from > N_CASES) {
        fprintf(stderr, "never_slower: --from %d: expected a case from 1 to %d\n", (int)flags.from, N_CASES);
        return 2;
    }
    if (flags.n_tokens < 4 * WARM) {
        fprintf(stderr, "never_slower: --tokens %d: expected at least %d\n", (int)flags.n_tokens, 4 * WARM);
        return 2;
    }
    vouch_model *model = bench_open(flags.model, flags.cpu);
    const int32_t n_vocab = vouch_model_get_info(model)->n_vocab;
    int32_t *text = calloc((size_t)flags.n_tokens + PROMPT + VOUCH_MAX_DRAFT, sizeof *text);
    if (!text) return 1;
    drafter draft = {.text = text, .n_text = PROMPT + flags.n_tokens, .n_vocab = n_vocab};
    vouch_session_options plain = vouch_session_options_default();
    plain.n_ctx = PROMPT + flags.n_tokens + 2 * VOUCH_MAX_DRAFT;
    plain.n_threads = flags.n_threads;
    plain.max_tokens = flags.n_tokens;
    plain.ignore_eos = true;
    plain.speculation.drafters = VOUCH_DRAFTER_NONE;
    vouch_session_options custom = plain, random = plain, itself = plain;
    custom.speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    custom.speculation.custom = (vouch_drafter){guess, &draft};
    random.speculation.drafters = VOUCH_DRAFTER_AUTO;
    itself.speculation.drafters = VOUCH_DRAFTER_MODEL;
    itself.speculation.draft_model = model;
    const struct {
        const char *name;
        const vouch_session_options *options;
        int32_t n_right;
    } cases[N_CASES] = {{"wrong", &custom, 0},
                        {"turning", &custom, PROMPT + flags.n_tokens / 4},
                        {"random", &random, 0},
                        {"itself", &itself, 0}};

    printf("%s, %d tokens, medians of %d prompts\n", vouch_model_get_info(model)->cpu, (int)flags.n_tokens,
           (int)rounds);
    for (int i = flags.from - 1; i < N_CASES; i++) {
        double ratios[MOST_ROUNDS];
        for (int32_t round = 0; round < rounds; round++) {
            for (int32_t k = 0; k < PROMPT; k++)
                text[k] = (int32_t)(mix((uint64_t)round * PROMPT + (uint64_t)k) % (uint64_t)n_vocab);
            side said = side_open(model, &plain, text);
            side_go(&said, flags.n_tokens, text + PROMPT);
            vouch_session_close(said.session);
            draft.n_right = cases[i].n_right;
            draft.turn = false;
            ratios[round] = answer_compare(model, plain, *cases[i].options, text, flags.n_tokens);
        }
        qsort(ratios, (size_t)rounds, sizeof *ratios, ascending);
        is_kept = is_kept && ratios[rounds / 2] >= KEPT;
        printf("%-8s %.3f of plain speed, least %.3f\n", cases[i].name, ratios[rounds / 2], ratios[0]);
        fflush(stdout);
    }
    free(text);
    vouch_model_close(model);
    return !is_kept;
}
