/* SPDX-License-Identifier: MIT */
/*
 * Laws L1 and L2 on a real model: the answers to public prompts must be the same to the byte in every configuration.
 * A configuration is a set of drafters (none, one, two or more), a draft length, a rule and a shape, chain or tree.
 * Answers are greedy, or sampled at temperature 0.8 under match and coupled. The named configurations are tried with
 * one, two and three threads and on every instruction set as their `reach` says. Every drafter and every pair of
 * drafters is tried once; there draft length, rule and shape change from prompt to prompt.
 *
 *   same_bytes [--model FILE] [--data FOLDER] [--prompts 8] [--tokens 128] [--cpu ISA] [--threads N] [--from N]
 *
 * --prompts is the number of prompts from each of five sources. The plain C kernels are a hundred times slower: they
 * get the two shortest prompts, a few configurations and an eighth of the tokens. The expected answers come from the
 * widest instruction set on one thread without speculation. The lines of the output are numbered. --from N begins at
 * line N, to go on after a run that was stopped.
 *
 * Two models draft: the target itself, whose guesses must all be accepted, and a copy with noise in its norms, about
 * half of whose guesses are accepted. A configuration is incomplete if none of its guesses was accepted, or if none was
 * rejected although its drafter makes mistakes. That is an error, too, except with --from.
 *
 * Ends with the number of answers compared. Exit status 1: two answers differ, or a configuration is incomplete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/bench.h"
#include "support/noisy.h"

/* The expected answer: greedy, or sampled under one of the rules by which a seed reproduces the text. */
typedef enum kind { GREEDY, MATCH, COUPLED, N_KINDS } kind;
#define TEMPERATURE 0.8f

/* ONCE: two threads on the widest instruction set. WIDE: one, two and three threads there, and two threads on each
 * other instruction set but plain C. EVERYWHERE: as WIDE, and plain C. */
typedef enum reach { ONCE, WIDE, EVERYWHERE } reach;

typedef struct config {
    const char *name;
    unsigned drafters;
    bool with_free; /* the free drafters of AUTO guess, too */
    int32_t k, branches;
    vouch_accept accept;
    kind kind;
    bool noisy; /* the draft model is the noisy one */
    reach reach;
    bool varies; /* draft length, rule and branches differ from prompt to prompt */
} config;

enum { NONE = VOUCH_DRAFTER_NONE, NGRAM = VOUCH_DRAFTER_NGRAM, MODEL = VOUCH_DRAFTER_MODEL };

static const config named_configs[] = {
    {"none", .drafters = NONE, .reach = EVERYWHERE},
    {"ngram -k 1", NGRAM, .k = 1, .reach = WIDE},
    {"ngram -k 4", NGRAM, .k = 4, .reach = EVERYWHERE},
    {"ngram -k 8", NGRAM, .k = 8, .reach = WIDE},
    {"ngram -k 16", NGRAM, .k = 16, .reach = WIDE},
    {"free", .with_free = true, .k = 0}, /* 0: pace chooses */
    {"free -k 16", .with_free = true, .k = 16, .reach = EVERYWHERE},
    {"itself -k 1", MODEL, .k = 1, .reach = WIDE},
    {"itself -k 3", MODEL, .k = 3, .reach = EVERYWHERE},
    {"itself -k 8", MODEL, .k = 8, .reach = WIDE},
    {"noisy -k 4", MODEL, .k = 4, .noisy = true, .reach = EVERYWHERE},
    {"noisy and free", MODEL, .with_free = true, .k = 0, .noisy = true},
    {"noisy and free -k 8", MODEL, .with_free = true, .k = 8, .noisy = true, .reach = WIDE},
    {"0.8 none match", NONE, .kind = MATCH},
    {"0.8 free match", .with_free = true, .k = 16, .kind = MATCH, .reach = EVERYWHERE},
    {"0.8 itself match", MODEL, .k = 3, .kind = MATCH},
    {"0.8 tree match", MODEL, .k = 8, .branches = 3, .kind = MATCH, .noisy = true},
    {"0.8 both match", MODEL, .with_free = true, .k = 8, .kind = MATCH, .noisy = true},
    {"0.8 none coupled", NONE, .kind = COUPLED},
    {"0.8 free coupled", .with_free = true, .k = 16, .kind = COUPLED, .reach = EVERYWHERE},
    {"0.8 itself coupled", MODEL, .k = 3, .kind = COUPLED},
};

/* Every drafter but the caller's own is tried alone and in pairs, greedily and under coupled. Drafter a of them has the
 * bit 2 << a, because "none" has bit 1. */
enum {
    N_DRAFTERS = VOUCH_DRAFTER_NUMBER_CUSTOM - 1,
    N_PAIRS = N_DRAFTERS * (N_DRAFTERS + 1) / 2,
    N_NAMED = sizeof named_configs / sizeof *named_configs,
    N_CONFIGS = N_NAMED + 2 * N_PAIRS,
    N_SOURCES = 5,
    MAX_EACH = 80,
    MAX_THREADS = 3,
    USUAL_THREADS = 2,
    N_VARIANTS = 17
};
#define NOISE 0.12

typedef struct run {
    config configs[N_CONFIGS];
    char names[N_CONFIGS][24]; /* of the pairs */
    char *prompts[N_SOURCES * MAX_EACH];
    bench_answer expected[N_KINDS][N_SOURCES * MAX_EACH];
    vouch_draft_memory *memory; /* has the greedy answers to every second prompt, in scope 0 */
    int32_t n, n_each, n_tokens;
    int32_t from, line; /* lines of the output: the first to run, the latest */
    long n_compared, n_different;
    bool tried[N_CONFIGS];
    int64_t accepted[N_CONFIGS], rejected[N_CONFIGS]; /* guesses, over all processors and threads */
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
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"summarization", NULL}, r->n_each, r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"qa", NULL}, r->n_each, r->prompts, &r->n);
    bench_prompts(data, "spec_bench.jsonl", (const char *const[]){"math_reasoning", NULL}, r->n_each, r->prompts,
                  &r->n);
    bench_prompts(data, "HumanEval.jsonl", NULL, r->n_each, r->prompts, &r->n);
}

static void configs_list(run *r)
{
    int n = 0;
    memcpy(r->configs, named_configs, sizeof named_configs);
    for (int i = 0; i < N_NAMED; i++)
        if (r->configs[i].with_free) r->configs[i].drafters |= vouch_drafter_auto(0);
    for (int sampled = 0; sampled < 2; sampled++)
        for (int a = 0; a < N_DRAFTERS; a++)
            for (int b = a; b < N_DRAFTERS; b++, n++) {
                snprintf(r->names[n], sizeof r->names[n], "%s%s%s%s", sampled ? "0.8 " : "", vouch_drafter_name(a + 1),
                         a == b ? "" : ",", a == b ? "" : vouch_drafter_name(b + 1));
                r->configs[N_NAMED + n] = (config){.name = r->names[n],
                                                   .drafters = 2u << a | 2u << b,
                                                   .noisy = true,
                                                   .kind = sampled ? COUPLED : GREEDY,
                                                   .varies = true};
            }
}

/* Variant t, below N_VARIANTS, of configuration i: k from 0 (pace chooses) to 16, each rule, and a tree where a model
 * drafts and the rule judges trees. */
static config config_variant(const run *r, int i, int32_t t)
{
    config w = r->configs[i];
    if (!w.varies) return w;
    w.k = t;
    w.accept = (vouch_accept)((t + i) % VOUCH_ACCEPTS);
    if (w.drafters & MODEL && t % 3 == 2 && (w.kind == COUPLED || w.accept != VOUCH_ACCEPT_BLOCK)) w.branches = 3;
    return w;
}

static vouch_session *session_open(const run *r, const vouch_model *model, const vouch_model *noisy, const config *w,
                                   int32_t n_threads)
{
    vouch_session_options options = vouch_session_options_default();
    options.n_threads = n_threads;
    options.max_tokens = r->n_tokens;
    options.speculation.drafters = w->drafters;
    options.speculation.n_draft = w->k;
    options.speculation.tree_branches = w->branches;
    options.speculation.accept = w->accept;
    if (w->drafters & MODEL) options.speculation.draft_model = w->noisy ? noisy : model;
    if (w->drafters & VOUCH_DRAFTER_HISTORY) options.speculation.draft_memory = r->memory;
    if (w->kind != GREEDY) {
        options.sampling.temperature = TEMPERATURE;
        options.speculation.accept = w->kind == MATCH ? VOUCH_ACCEPT_MATCH : VOUCH_ACCEPT_COUPLED;
    }
    return bench_session(model, &options);
}

static void answers_compute(run *r, const vouch_model *model)
{
    for (int k = GREEDY; k < N_KINDS; k++) {
        const config plain = {.drafters = NONE, .kind = (kind)k};
        vouch_session *session = session_open(r, model, NULL, &plain, 1);
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

/* Keeps two prompts and an eighth of the tokens, for the slow plain C kernels. */
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

/* Asks the prompt. A prediction is the expected answer without its first third. */
static bench_answer answer_get(vouch_session *session, const config *w, const char *prompt,
                               const bench_answer *expected)
{
    const size_t third = expected->n_text / 3;
    vouch_error err;
    if (w->drafters & VOUCH_DRAFTER_PREDICTION)
        bench_check(vouch_session_predict(session, expected->text + third, expected->n_text - third, &err), &err);
    return bench_ask(session, prompt);
}

/* Prints one line: all prompts in one configuration, with n_threads. Skips lines before --from. */
static void config_compare(run *r, const vouch_model *model, const vouch_model *noisy, int i, int32_t n_threads)
{
    vouch_session *sessions[N_VARIANTS] = {NULL};
    const config *named = &r->configs[i];
    long different = 0;
    int64_t tokens = 0, drafted = 0, accepted = 0, rejected = 0;
    double seconds = 0;
    if (++r->line < r->from) return;
    for (int32_t prompt = 0; prompt < r->n; prompt++) {
        const int32_t variant = named->varies ? prompt % N_VARIANTS : 0;
        const config w = config_variant(r, i, variant);
        const bench_answer *want = &r->expected[named->kind][prompt];
        if (!sessions[variant]) sessions[variant] = session_open(r, model, noisy, &w, n_threads);
        bench_answer got = answer_get(sessions[variant], &w, r->prompts[prompt], want);
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
    for (int32_t t = 0; t < N_VARIANTS; t++) vouch_session_close(sessions[t]);
    printf("%3d %-12s %-22s %d threads %4d answers, %6lld tokens;", (int)r->line, vouch_model_get_info(model)->cpu,
           named->name, (int)n_threads, (int)r->n, (long long)tokens);
    printf(" guesses: %6lld, accepted %6lld, rejected %5lld; %6.1f tokens/s  %s\n", (long long)drafted,
           (long long)accepted, (long long)rejected, (double)tokens / seconds, different ? "DIFFERENT" : "same");
    fflush(stdout);
    r->n_compared += r->n;
    r->n_different += different;
    r->tried[i] = true;
    r->accepted[i] += accepted;
    r->rejected[i] += rejected;
}

/* Opens r->memory for this model. */
static void memory_open(run *r, const vouch_model *model)
{
    enum { MOST = 4096 };
    static int32_t tokens[MOST];
    vouch_error err;
    bench_check(vouch_draft_memory_open(&r->memory, model, NULL, 0, &err), &err);
    for (int32_t i = 0; i < r->n; i += 2) {
        const bench_answer *known = &r->expected[GREEDY][i];
        size_t n;
        bench_check(vouch_tokenize(model, known->text, known->n_text, 0, tokens, MOST, &n, &err), &err);
        bench_check(vouch_draft_memory_add(r->memory, 0, tokens, n, &err), &err);
    }
}

static void cpu_compare(run *r, const bench_flags *flags, const char *noisy_path, const char *cpu, bool is_widest)
{
    const bool plain_c = strcmp(cpu, "ref") == 0;
    const int32_t usual = flags->n_threads ? flags->n_threads : USUAL_THREADS;
    vouch_model *model = bench_open(flags->model, cpu), *noisy = bench_open(noisy_path, cpu);
    memory_open(r, model);
    for (int32_t threads = 1; threads <= MAX_THREADS; threads++) {
        const reach least = plain_c ? EVERYWHERE : !is_widest || threads != usual ? WIDE : ONCE;
        if (threads != usual && (flags->n_threads || !is_widest)) continue;
        for (int i = 0; i < N_CONFIGS; i++)
            if (r->configs[i].reach >= least) config_compare(r, model, noisy, i, threads);
    }
    vouch_draft_memory_close(r->memory);
    vouch_model_close(noisy);
    vouch_model_close(model);
}

/* Whether each configuration had accepted and rejected guesses: without both, "same" says little. */
static bool configs_exercised(const run *r)
{
    bool all = true;
    for (int i = 0; i < N_CONFIGS; i++) {
        const config *w = &r->configs[i];
        const bool guesses = w->drafters != NONE;
        const bool errs = guesses && (w->drafters != MODEL || w->noisy);
        const char *missing = guesses && r->accepted[i] == 0 ? "accepted"
                              : errs && r->rejected[i] == 0  ? "rejected"
                                                             : NULL;
        if (!r->tried[i]) continue;
        if (missing)
            printf("%s: no guess was %s, so that stays untested; raise --prompts or --tokens\n", w->name, missing);
        else if (!errs && r->rejected[i] != 0)
            printf("%s: %lld guesses were rejected, but the model must agree with itself (law L1)\n", w->name,
                   (long long)r->rejected[i]);
        else continue;
        all = false;
    }
    return all;
}

int main(int argc, char **argv)
{
    const bench_flags flags =
        bench_parse("same_bytes", "same_bytes [FLAGS]\n\nCompares answers in every configuration: laws L1 and L2.\n",
                    (bench_flags){.n_prompts = 8, .n_tokens = 128}, argc, argv);
    static run r;
    size_t n_cpus = 0;
    r.n_each = flags.n_prompts;
    r.n_tokens = flags.n_tokens;
    r.from = flags.from;
    configs_list(&r);
    prompts_load(&r, flags.data);
    while (vouch_cpu_name(n_cpus)) n_cpus++;

    const char *noisy = bench_noisy_copy(flags.model, NOISE);
    vouch_model *model = bench_open(flags.model, NULL);
    printf("%d prompts, at most %d tokens each; expected answers from %s, 1 thread, no speculation\n", (int)r.n,
           (int)r.n_tokens, vouch_model_get_info(model)->cpu);
    fflush(stdout);
    answers_compute(&r, model);
    /* Narrowest, "ref", last. */
    for (size_t i = n_cpus; i-- > 0;) {
        if (flags.cpu && strcmp(flags.cpu, vouch_cpu_name(i)) != 0) continue;
        if (strcmp(vouch_cpu_name(i), "ref") == 0) run_shorten(&r, model);
        cpu_compare(&r, &flags, noisy, vouch_cpu_name(i), i == n_cpus - 1 || flags.cpu);
    }
    vouch_model_close(model);
    if (r.from > 1) printf("lines before the %dth left out; ", (int)r.from);
    printf("%ld answers compared, %ld different\n", r.n_compared, r.n_different);
    answers_free(&r);
    for (int32_t i = 0; i < r.n; i++) free(r.prompts[i]);
    return (!configs_exercised(&r) && r.from == 1) || r.n_different > 0 || r.n_compared == 0;
}
