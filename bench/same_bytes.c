/* SPDX-License-Identifier: MIT */
/*
 * Laws L1 and L2 on a real model: the answers to public prompts must be the same to the byte without speculation,
 * with every drafter and two of them together, every draft length and rule, chains and trees: greedy answers, and
 * under match and coupled those at temperature 0.8. The usual ways are tried with one, two and three threads and on
 * every instruction set, the others once; where drafters go in pairs, draft length, rule and shape change from
 * prompt to prompt.
 *
 *   same_bytes [--model FILE] [--data FOLDER] [--prompts 8] [--tokens 128] [--cpu ISA] [--threads N] [--from N]
 *
 * --prompts is the number from each of five sources. The plain C kernels, a hundred times slower, get the two
 * shortest prompts, a few ways and an eighth of the tokens. The answers that all others are compared with
 * come from the widest instruction set on one thread without speculation. Lines are numbered; --from goes on where an
 * earlier run was stopped, and falling short is no error then.
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
    bool noisy;    /* the draft model is the noisy one */
    reach reach;
    bool by_turns; /* draft length, rule and branches differ from prompt to prompt */
} way;

enum { NONE = VOUCH_DRAFTER_NONE, NGRAM = VOUCH_DRAFTER_NGRAM, MODEL = VOUCH_DRAFTER_MODEL,
       FREE = VOUCH_DRAFTER_NGRAM | VOUCH_DRAFTER_SUFFIX | VOUCH_DRAFTER_RECYCLE };

static const way named_ways[] = {
    {"none", NONE, .reach = EVERYWHERE},
    {"ngram -k 1", NGRAM, .k = 1, .reach = WIDE},
    {"ngram -k 4", NGRAM, .k = 4, .reach = EVERYWHERE},
    {"ngram -k 8", NGRAM, .k = 8, .reach = WIDE},
    {"ngram -k 16", NGRAM, .k = 16, .reach = WIDE},
    {"free", FREE, .k = 0}, /* by pace */
    {"free -k 16", FREE, .k = 16, .reach = EVERYWHERE},
    {"itself -k 1", MODEL, .k = 1, .reach = WIDE},
    {"itself -k 3", MODEL, .k = 3, .reach = EVERYWHERE},
    {"itself -k 8", MODEL, .k = 8, .reach = WIDE},
    {"noisy -k 4", MODEL, .k = 4, .noisy = true, .reach = EVERYWHERE},
    {"noisy and free", MODEL | FREE, .k = 0, .noisy = true},
    {"noisy and free -k 8", MODEL | FREE, .k = 8, .noisy = true, .reach = WIDE},
    {"0.8 none match", NONE, .kind = MATCH},
    {"0.8 free match", FREE, .k = 16, .kind = MATCH, .reach = EVERYWHERE},
    {"0.8 itself match", MODEL, .k = 3, .kind = MATCH},
    {"0.8 tree match", MODEL, .k = 8, .branches = 3, .kind = MATCH, .noisy = true},
    {"0.8 both match", MODEL | FREE, .k = 8, .kind = MATCH, .noisy = true},
    {"0.8 none coupled", NONE, .kind = COUPLED},
    {"0.8 free coupled", FREE, .k = 16, .kind = COUPLED, .reach = EVERYWHERE},
    {"0.8 itself coupled", MODEL, .k = 3, .kind = COUPLED},
};

/* The drafters that go alone and in pairs, greedily and under coupled. */
static const unsigned drafters[] = {MODEL, NGRAM, VOUCH_DRAFTER_SUFFIX, VOUCH_DRAFTER_RECYCLE,
                                    VOUCH_DRAFTER_PREDICTION, VOUCH_DRAFTER_HISTORY};
enum { N_DRAFTERS = sizeof drafters / sizeof *drafters, N_PAIRS = N_DRAFTERS * (N_DRAFTERS + 1) / 2,
       N_NAMED = sizeof named_ways / sizeof *named_ways, N_WAYS = N_NAMED + 2 * N_PAIRS,
       N_SOURCES = 5, MAX_EACH = 80, MAX_THREADS = 3, USUAL_THREADS = 2, TURNS = 17 };
#define NOISE 0.12

typedef struct run {
    way ways[N_WAYS];
    char names[N_WAYS][24]; /* of the pairs */
    char *prompts[N_SOURCES * MAX_EACH];
    bench_answer expected[N_KINDS][N_SOURCES * MAX_EACH];
    void *history; /* [n_history], of every second answer without sampling */
    size_t n_history;
    int32_t n, n_each, n_tokens;
    int32_t from, line; /* of the output: the one to begin with, the last one */
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

static const char *drafter_name(unsigned bit)
{
    int i = 0;
    while (bit >>= 1) i++;
    return vouch_drafter_name(i);
}

static void ways_list(run *r)
{
    int n = 0;
    memcpy(r->ways, named_ways, sizeof named_ways);
    for (int sampled = 0; sampled < 2; sampled++)
        for (int a = 0; a < N_DRAFTERS; a++)
            for (int b = a; b < N_DRAFTERS; b++, n++) {
                snprintf(r->names[n], sizeof r->names[n], "%s%s%s%s", sampled ? "0.8 " : "", drafter_name(drafters[a]),
                         a == b ? "" : ",", a == b ? "" : drafter_name(drafters[b]));
                r->ways[N_NAMED + n] = (way){.name = r->names[n], .drafters = drafters[a] | drafters[b], .noisy = true,
                                             .kind = sampled ? COUPLED : GREEDY, .by_turns = true};
            }
}

/* The way i in turn t, 0 to TURNS - 1: k of 0 (by pace) to 16, each rule, a tree where a model drafts and the rule
 * judges trees. */
static way way_in_turn(const run *r, int i, int32_t t)
{
    way w = r->ways[i];
    if (!w.by_turns) return w;
    w.k = t;
    w.accept = (vouch_accept)((t + i) % VOUCH_ACCEPTS);
    if (w.drafters & MODEL && t % 3 == 2 && (w.kind == COUPLED || w.accept != VOUCH_ACCEPT_BLOCK)) w.branches = 3;
    return w;
}

static vouch_session *session_open(const run *r, const vouch_model *model, const vouch_model *noisy, const way *w,
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
    if (w->kind != GREEDY) {
        options.sampling.temperature = TEMPERATURE;
        options.speculation.accept = w->kind == MATCH ? VOUCH_ACCEPT_MATCH : VOUCH_ACCEPT_COUPLED;
    }
    vouch_session *session = bench_session(model, &options);
    vouch_error err;
    if (w->drafters & VOUCH_DRAFTER_HISTORY && r->history)
        bench_check(vouch_session_add_history(session, r->history, r->n_history, &err), &err);
    return session;
}

static void answers_compute(run *r, const vouch_model *model)
{
    for (int k = GREEDY; k < N_KINDS; k++) {
        const way plain = {.drafters = NONE, .kind = (kind)k};
        vouch_session *session = session_open(r, model, NULL, &plain, 1);
        for (int32_t i = 0; i < r->n; i++) r->expected[k][i] = bench_ask(session, r->prompts[i]);
        vouch_session_close(session);
    }
}

/* What later sessions know of earlier answers. */
static void history_write(run *r, const vouch_model *model)
{
    const way w = {.drafters = VOUCH_DRAFTER_HISTORY, .kind = GREEDY};
    vouch_session *session = session_open(r, model, NULL, &w, USUAL_THREADS);
    vouch_error err;
    for (int32_t i = 0; i < r->n; i += 2) free(bench_ask(session, r->prompts[i]).text);
    vouch_session_get_history(session, NULL, 0, &r->n_history, &err);
    r->history = malloc(r->n_history);
    const size_t room = r->history ? r->n_history : 0;
    bench_check(vouch_session_get_history(session, r->history, room, &r->n_history, &err), &err);
    vouch_session_close(session);
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

/* The answer in this way; a prediction is what is expected, less its first third. */
static bench_answer answer_get(vouch_session *session, const way *w, const char *prompt, const bench_answer *expected)
{
    const size_t third = expected->n_text / 3;
    vouch_error err;
    if (w->drafters & VOUCH_DRAFTER_PREDICTION)
        bench_check(vouch_session_predict(session, expected->text + third, expected->n_text - third, &err), &err);
    return bench_ask(session, prompt);
}

/* One line: all prompts in one way, with so many threads; nothing before the line to begin with. */
static void way_compare(run *r, const vouch_model *model, const vouch_model *noisy, int i, int32_t n_threads)
{
    vouch_session *sessions[TURNS] = {NULL};
    const way *named = &r->ways[i];
    long different = 0;
    int64_t tokens = 0, drafted = 0, accepted = 0, rejected = 0;
    double seconds = 0;
    if (++r->line < r->from) return;
    for (int32_t prompt = 0; prompt < r->n; prompt++) {
        const int32_t turn = named->by_turns ? prompt % TURNS : 0;
        const way w = way_in_turn(r, i, turn);
        const bench_answer *want = &r->expected[named->kind][prompt];
        if (!sessions[turn]) sessions[turn] = session_open(r, model, noisy, &w, n_threads);
        bench_answer got = answer_get(sessions[turn], &w, r->prompts[prompt], want);
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
    for (int32_t t = 0; t < TURNS; t++) vouch_session_close(sessions[t]);
    printf("%3d %-12s %-22s %d threads %4d answers, %6lld tokens;", (int)r->line, vouch_model_get_info(model)->cpu,
           named->name, (int)n_threads, (int)r->n, (long long)tokens);
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
            if (r->ways[i].reach >= least) way_compare(r, model, noisy, i, threads);
    }
    vouch_model_close(noisy);
    vouch_model_close(model);
}

/* Whether each way met what it is for: without it, "same" says little. */
static bool ways_exercised(const run *r)
{
    bool all = true;
    for (int i = 0; i < N_WAYS; i++) {
        const way *w = &r->ways[i];
        const bool guesses = w->drafters != NONE;
        const bool errs = guesses && (w->drafters != MODEL || w->noisy);
        const char *missing = guesses && r->accepted[i] == 0 ? "accepted"
                              : errs && r->rejected[i] == 0  ? "rejected"
                                                             : NULL;
        if (!r->tried[i]) continue;
        if (missing)
            printf("%s: no guess was %s, so that went untested: more prompts or tokens are needed\n",
                   w->name, missing);
        else if (!errs && r->rejected[i] != 0)
            printf("%s: %lld guesses were rejected, but the model must agree with itself (law L1)\n",
                   w->name, (long long)r->rejected[i]);
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
    r.from = flags.from;
    ways_list(&r);
    prompts_load(&r, flags.data);
    while (vouch_cpu_name(n_cpus)) n_cpus++;

    const char *noisy = bench_noisy_copy(flags.model, NOISE);
    vouch_model *model = bench_open(flags.model, NULL);
    printf("%d prompts, at most %d tokens each; expected answers from %s, 1 thread, no speculation\n",
           (int)r.n, (int)r.n_tokens, vouch_model_get_info(model)->cpu);
    fflush(stdout);
    answers_compute(&r, model);
    history_write(&r, model);
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
    free(r.history);
    for (int32_t i = 0; i < r.n; i++) free(r.prompts[i]);
    return (!ways_exercised(&r) && r.from == 1) || r.n_different > 0 || r.n_compared == 0;
}
