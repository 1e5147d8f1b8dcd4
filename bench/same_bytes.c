/* SPDX-License-Identifier: MIT */
/*
 * Laws L1 and L2 on a real model: the answers to public prompts must be the same to the byte without speculation,
 * with every drafter, draft length and rule: greedy answers, and under match and coupled those at temperature 0.8.
 * The usual ways are tried with one, two and three threads and on every instruction set, the others once.
 *
 *   same_bytes [--model FILE] [--data FOLDER] [--prompts 8] [--tokens 128] [--cpu ISA] [--threads N]
 *
 * --prompts is the number from each of five sources. The plain C kernels, a hundred times slower, get the two
 * shortest prompts, a few ways and an eighth of the tokens. The answers that all others are compared with
 * come from the widest instruction set on one thread without speculation.
 *
 * Two models draft: the target itself, whose guesses must all hold, and a copy with noise in its norms, of
 * whose guesses about half do. A way that saw no acceptance or no rejection where there should be some has
 * tested half of what it is for, which is an error, too.
 *
 * Ends with the number compared; exit status 1 where two differ, or a way fell short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench.h"
#include "support/noisy.h"

/* What an answer is to be compared with. */
typedef enum kind { GREEDY, MATCH, COUPLED, N_KINDS } kind;
#define TEMPERATURE 0.8f

/* Where it is tried: with two threads on the widest instruction set; with one, two and three there, and with two on
 * the others; on plain C, too. */
typedef enum reach { ONCE, WIDE, EVERYWHERE } reach;

typedef struct way {
    const char *name;
    unsigned drafters;
    int32_t k, branches;
    vouch_accept accept;
    kind kind;
    bool noisy;   /* the draft model is the noisy one */
    reach reach;
} way;

enum { NONE = VOUCH_DRAFTER_NONE, NGRAM = VOUCH_DRAFTER_NGRAM, MODEL = VOUCH_DRAFTER_MODEL,
       FREE = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE };

static const way ways[] = {
    {"none", NONE, .reach = EVERYWHERE},
    {"ngram -k 1", NGRAM, .k = 1, .reach = WIDE},
    {"ngram -k 4", NGRAM, .k = 4, .reach = EVERYWHERE},
    {"ngram -k 8", NGRAM, .k = 8, .reach = WIDE},
    {"ngram -k 16", NGRAM, .k = 16, .reach = WIDE},
    {"free", FREE, .k = 0}, /* by pace */
    {"free -k 16", FREE, .k = 16, .reach = EVERYWHERE},
    {"free match", FREE, .k = 16, .accept = VOUCH_ACCEPT_MATCH},
    {"free block", FREE, .k = 16, .accept = VOUCH_ACCEPT_BLOCK},
    {"free coupled", FREE, .k = 16, .accept = VOUCH_ACCEPT_COUPLED},
    {"itself -k 1", MODEL, .k = 1, .reach = WIDE},
    {"itself -k 3", MODEL, .k = 3, .reach = EVERYWHERE},
    {"itself -k 8", MODEL, .k = 8, .reach = WIDE},
    {"noisy -k 1", MODEL, .k = 1, .noisy = true},
    {"noisy -k 4", MODEL, .k = 4, .noisy = true, .reach = EVERYWHERE},
    {"noisy -k 8", MODEL, .k = 8, .noisy = true},
    {"noisy tree", MODEL, .k = 8, .branches = 3, .noisy = true},
    {"noisy match", MODEL, .k = 4, .accept = VOUCH_ACCEPT_MATCH, .noisy = true},
    {"noisy block", MODEL, .k = 4, .accept = VOUCH_ACCEPT_BLOCK, .noisy = true},
    {"noisy coupled", MODEL, .k = 4, .accept = VOUCH_ACCEPT_COUPLED, .noisy = true},
    {"noisy and free", MODEL | FREE, .k = 0, .noisy = true},
    {"noisy and free -k 8", MODEL | FREE, .k = 8, .noisy = true, .reach = WIDE},
    {"0.8 none match", NONE, .kind = MATCH},
    {"0.8 free match", FREE, .k = 16, .kind = MATCH, .reach = EVERYWHERE},
    {"0.8 itself match", MODEL, .k = 3, .kind = MATCH},
    {"0.8 noisy match", MODEL, .k = 4, .kind = MATCH, .noisy = true},
    {"0.8 tree match", MODEL, .k = 8, .branches = 3, .kind = MATCH, .noisy = true},
    {"0.8 both match", MODEL | FREE, .k = 8, .kind = MATCH, .noisy = true},
    {"0.8 none coupled", NONE, .kind = COUPLED},
    {"0.8 free coupled", FREE, .k = 16, .kind = COUPLED, .reach = EVERYWHERE},
    {"0.8 itself coupled", MODEL, .k = 3, .kind = COUPLED},
    {"0.8 noisy coupled", MODEL, .k = 4, .kind = COUPLED, .noisy = true},
    {"0.8 tree coupled", MODEL, .k = 8, .branches = 3, .kind = COUPLED, .noisy = true},
};
enum { N_WAYS = sizeof ways / sizeof *ways, N_SOURCES = 5, MAX_EACH = 80, MAX_THREADS = 3, USUAL_THREADS = 2 };
#define NOISE 0.12

typedef struct run {
    char *prompts[N_SOURCES * MAX_EACH];
    bench_answer expected[N_KINDS][N_SOURCES * MAX_EACH];
    int32_t n, n_each, n_tokens;
    long n_compared, n_different;
    bool tried[N_WAYS];
    int64_t accepted[N_WAYS], rejected[N_WAYS]; /* guesses, over all processors and threads */
} run;

static void prompts_load(run *r, const char *data)
{
    static const char *const mt_bench[] = {"writing",    "roleplay", "reasoning",  "math", "coding",
                                           "extraction", "stem",     "humanities", NULL};
    /* One from each category of MT-bench, as far as there are any left. */
    for (int32_t i = 0; i < r->n_each; i++) {
        const char *const one[] = {mt_bench[i % 8], NULL};
        char *texts[MAX_EACH];
        int32_t n = 0;
        bench_prompts(data, "spec_bench.jsonl", one, i / 8 + 1, texts, &n);
        r->prompts[r->n++] = texts[n - 1];
        while (--n > 0) free(texts[n - 1]);
    }
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"summarization", NULL}, r->n_each,
                  r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"qa", NULL}, r->n_each, r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"math_reasoning", NULL}, r->n_each,
                  r->prompts, &r->n);
    bench_prompts(data, "HumanEval.jsonl", NULL, r->n_each, r->prompts, &r->n);
}

static vouch_session *session_open(const vouch_model *model, const vouch_model *noisy, const way *w,
                                   int32_t n_threads, int32_t n_tokens)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = n_threads;
    options.max_tokens = n_tokens;
    options.speculation.drafters = w->drafters;
    options.speculation.n_draft = w->k;
    options.speculation.tree_branches = w->branches;
    options.speculation.accept = w->accept;
    if (w->drafters & MODEL) options.speculation.draft_model = w->noisy ? noisy : model;
    if (w->kind == GREEDY) return bench_session(model, &options);
    options.sampling.temperature = TEMPERATURE;
    options.speculation.accept = w->kind == MATCH ? VOUCH_ACCEPT_MATCH : VOUCH_ACCEPT_COUPLED;
    return bench_session(model, &options);
}

static void answers_compute(run *r, const vouch_model *model)
{
    for (int k = GREEDY; k < N_KINDS; k++) {
        const way plain = {.drafters = NONE, .kind = (kind)k};
        vouch_session *session = session_open(model, NULL, &plain, 1, r->n_tokens);
        for (int32_t i = 0; i < r->n; i++) r->expected[k][i] = bench_ask(session, r->prompts[i]);
        vouch_session_close(session);
    }
}

static void answers_free(run *r)
{
    for (int k = GREEDY; k < N_KINDS; k++)
        for (int32_t i = 0; i < r->n; i++) free(r->expected[k][i].text);
}

static int longer(const void *a, const void *b)
{
    const size_t left = strlen(*(char *const *)a), right = strlen(*(char *const *)b);
    return (left > right) - (left < right);
}

/* What remains for the plain C kernels. */
static void run_shorten(run *r, const vouch_model *model)
{
    qsort(r->prompts, (size_t)r->n, sizeof *r->prompts, longer);
    answers_free(r);
    for (int32_t i = 2; i < r->n; i++) free(r->prompts[i]);
    if (r->n > 2) r->n = 2;
    r->n_tokens = (r->n_tokens + 7) / 8;
    answers_compute(r, model);
}

static void difference_print(const bench_answer *expected, const bench_answer *got, int32_t prompt)
{
    size_t at = 0;
    while (at < expected->n_text && at < got->n_text && expected->text[at] == got->text[at]) at++;
    printf("    prompt %d differs at byte %zu: \"%.*s\" became \"%.*s\"\n", (int)prompt, at,
           (int)(expected->n_text - at < 40 ? expected->n_text - at : 40), expected->text + at,
           (int)(got->n_text - at < 40 ? got->n_text - at : 40), got->text + at);
}

/* One line: all prompts in one way, with so many threads. */
static void way_compare(run *r, const vouch_model *model, const vouch_model *noisy, int i, int32_t n_threads)
{
    const way *w = &ways[i];
    vouch_session *session = session_open(model, noisy, w, n_threads, r->n_tokens);
    long different = 0;
    int64_t tokens = 0, drafted = 0, accepted = 0, rejected = 0;
    double seconds = 0;
    for (int32_t prompt = 0; prompt < r->n; prompt++) {
        bench_answer got = bench_ask(session, r->prompts[prompt]);
        const bench_answer *want = &r->expected[w->kind][prompt];
        if (got.n_tokens != want->n_tokens || got.n_text != want->n_text ||
            memcmp(got.text, want->text, got.n_text) != 0) {
            different++;
            difference_print(want, &got, prompt);
        }
        tokens += got.n_tokens;
        drafted += got.drafted;
        accepted += got.accepted;
        rejected += got.rejected;
        seconds += got.seconds;
        free(got.text);
    }
    vouch_session_close(session);
    printf("%-12s %-18s %d threads %4d answers, %6lld tokens;", vouch_model_get_info(model)->cpu, w->name,
           (int)n_threads, (int)r->n, (long long)tokens);
    printf(" guesses: %6lld, accepted %6lld, rejected %5lld; %6.1f tokens/s  %s\n", (long long)drafted,
           (long long)accepted, (long long)rejected, (double)tokens / seconds,
           different ? "DIFFERENT" : "same");
    fflush(stdout);
    r->n_compared += r->n;
    r->n_different += different;
    r->tried[i] = true;
    r->accepted[i] += accepted;
    r->rejected[i] += rejected;
}

static void cpu_compare(run *r, const bench_flags *flags, const char *noisy_path, const char *cpu, bool is_widest)
{
    const bool plain_c = strcmp(cpu, "ref") == 0;
    const int32_t usual = flags->n_threads ? flags->n_threads : USUAL_THREADS;
    vouch_model *model = bench_open(flags->model, cpu), *noisy = bench_open(noisy_path, cpu);
    for (int32_t threads = 1; threads <= MAX_THREADS; threads++) {
        const reach least = plain_c ? EVERYWHERE : !is_widest || threads != usual ? WIDE : ONCE;
        if (threads != usual && (flags->n_threads || !is_widest)) continue;
        for (int i = 0; i < N_WAYS; i++)
            if (ways[i].reach >= least) way_compare(r, model, noisy, i, threads);
    }
    vouch_model_close(noisy);
    vouch_model_close(model);
}

/* Whether each way met what it is for: without it, "same" says little. */
static bool ways_exercised(const run *r)
{
    bool all = true;
    for (int i = 0; i < N_WAYS; i++) {
        const bool guesses = ways[i].drafters != NONE;
        const bool errs = guesses && (ways[i].drafters != MODEL || ways[i].noisy);
        const char *missing = guesses && r->accepted[i] == 0 ? "accepted"
                              : errs && r->rejected[i] == 0  ? "rejected"
                                                             : NULL;
        if (!r->tried[i]) continue;
        if (missing)
            printf("%s: no guess was %s, so that went untested: more prompts or tokens are needed\n",
                   ways[i].name, missing);
        else if (!errs && r->rejected[i] != 0)
            printf("%s: %lld guesses were rejected, but the model must agree with itself (law L1)\n",
                   ways[i].name, (long long)r->rejected[i]);
        else continue;
        all = false;
    }
    return all;
}

int main(int argc, char **argv)
{
    const bench_flags flags =
        bench_parse("same_bytes", "same_bytes [FLAGS]\n\nThe same answers in every way: laws L1 and L2.\n",
                    (bench_flags){.n_prompts = 8, .n_tokens = 128}, argc, argv);
    static run r;
    size_t n_cpus = 0;
    r.n_each = flags.n_prompts;
    r.n_tokens = flags.n_tokens;
    prompts_load(&r, flags.data);
    while (vouch_cpu_name(n_cpus)) n_cpus++;

    const char *noisy = bench_noisy_copy(flags.model, NOISE);
    vouch_model *model = bench_open(flags.model, NULL);
    printf("%d prompts, at most %d tokens each; expected answers from %s, 1 thread, no speculation\n",
           (int)r.n, (int)r.n_tokens, vouch_model_get_info(model)->cpu);
    fflush(stdout);
    answers_compute(&r, model);
    /* Narrowest, "ref", last. */
    for (size_t i = n_cpus; i-- > 0;) {
        if (flags.cpu && strcmp(flags.cpu, vouch_cpu_name(i)) != 0) continue;
        if (strcmp(vouch_cpu_name(i), "ref") == 0) run_shorten(&r, model);
        cpu_compare(&r, &flags, noisy, vouch_cpu_name(i), i == n_cpus - 1 || flags.cpu);
    }
    vouch_model_close(model);
    printf("%ld answers compared, %ld different\n", r.n_compared, r.n_different);
    answers_free(&r);
    for (int32_t i = 0; i < r.n; i++) free(r.prompts[i]);
    return !ways_exercised(&r) || r.n_different > 0 || r.n_compared == 0;
}
