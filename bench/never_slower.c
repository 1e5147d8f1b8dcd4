/* SPDX-License-Identifier: MIT */
/*
 * Law L4 on a real model: measures the speed relative to plain decoding when drafting can't pay and pace chooses the
 * draft length.
 *
 *   never_slower [--model FILE] [--head FILE] [--prompts 5] [--tokens 512] [--threads N] [--cpu ISA] [--from 1]
 *
 *   wrong     a drafter that is always wrong
 *   turning   a drafter that is right in every other cycle for a quarter of the answer, then always wrong
 *   random    the free drafters after a prompt of random tokens
 *   itself    a draft model as large as the target
 *   head      the head of --head by itself: give one that was taught for other text
 *   shuffled  the same head with its weights in random order
 *
 * The last two need --head, and accept a head for another file of the model. --from N begins with the N-th case. Plain
 * decoding and the case alternate every 16 tokens, so that a change in the machine's speed affects both. A ratio is
 * plain time / time with speculation. The program prints the median over the prompts and the smallest ratio. Exit
 * status 1 if a median is below KEPT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/gguf.h"
#include "support/bench.h"
#include "tool/statistics.h"

enum { TURN = 16, PROMPT = 100, WARM = 16, MOST_ROUNDS = 80 }; /* TURN, PROMPT, WARM: tokens */
enum { WRONG, TURNING, RANDOM, ITSELF, HEAD, SHUFFLED, N_CASES };
static const char *const names[N_CASES] = {"wrong", "turning", "random", "itself", "head", "shuffled"};
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

/* ----------------------------------------------------------------------- heads */

/* A copy of the tensor's data; if it is a matrix, its blocks are in random order. The caller frees the copy. */
static void *blocks_shuffle(const vouch_gguf_tensor *tensor)
{
    const vouch_type_info *type = vouch_type_get_info((vouch_type)tensor->type);
    const size_t size = type ? (size_t)type->block_bytes : 1, n = tensor->bytes / size;
    char *bytes = malloc(tensor->bytes), kept[256];
    if (!bytes || size > sizeof kept) exit(1);
    memcpy(bytes, tensor->data, tensor->bytes);
    for (size_t i = n - 1; tensor->n_dims == 2 && i > 0; i--) {
        const size_t j = tool_random(&(uint64_t){i}) % (i + 1);
        memcpy(kept, bytes + i * size, size);
        memcpy(bytes + i * size, bytes + j * size, size);
        memcpy(bytes + j * size, kept, size);
    }
    return bytes;
}

/* Writes the head with its weights in random order. */
static void head_shuffle(const char *from, const char *to)
{
    enum { MOST_TENSORS = 256 };
    vouch_gguf *file;
    vouch_gguf_writer *writer;
    vouch_error err = {0};
    void *bytes[MOST_TENSORS];
    bench_check(vouch_gguf_open(&file, from, &err), &err);
    bench_check(vouch_gguf_writer_open(&writer, &err), &err);
    const size_t n = vouch_gguf_n_tensors(file);
    if (n > MOST_TENSORS) exit(1);
    for (size_t i = 0; i < vouch_gguf_n_kv(file); i++) vouch_gguf_add_key(writer, file, i);
    for (size_t i = 0; i < n; i++) {
        const vouch_gguf_tensor *tensor = vouch_gguf_get_tensor(file, i);
        char name[65];
        snprintf(name, sizeof name, "%.*s", (int)tensor->name.size, tensor->name.data);
        bytes[i] = blocks_shuffle(tensor);
        vouch_gguf_add_tensor(writer, name, (vouch_type)tensor->type, tensor->n_dims, tensor->dim, bytes[i]);
    }
    bench_check(vouch_gguf_write(writer, to, &err), &err);
    for (size_t i = 0; i < n; i++) free(bytes[i]);
    vouch_gguf_writer_close(writer);
    vouch_gguf_close(file);
}

static vouch_draft_file *head_open(const char *path, const vouch_model *model)
{
    vouch_draft_file *head;
    vouch_error err = {0};
    bench_check(vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, model, true, &err), &err);
    return head;
}

/* The head of --head, and the same shuffled. */
static void heads_open(vouch_draft_file *heads[2], const char *path, const vouch_model *model)
{
    char shuffled[] = "/tmp/never_slower.XXXXXX";
    const int file = mkstemp(shuffled);
    if (file < 0) exit(1);
    close(file);
    head_shuffle(path, shuffled);
    heads[0] = head_open(path, model);
    heads[1] = head_open(shuffled, model);
    unlink(shuffled);
}

/* ------------------------------------------------------------------------ cases */

/* The smallest and the median ratio of a case over the prompts. */
typedef struct ratios {
    double least, median;
} ratios;

static ratios case_run(const vouch_model *model, const vouch_session_options *plain,
                       const vouch_session_options *options, drafter *draft, int32_t *text, const bench_flags *flags)
{
    double all[MOST_ROUNDS];
    const int32_t rounds = flags->n_prompts, n_vocab = draft->n_vocab;
    for (int32_t round = 0; round < rounds; round++) {
        for (int32_t k = 0; k < PROMPT; k++)
            text[k] = (int32_t)(tool_random(&(uint64_t){(uint64_t)round * PROMPT + (uint64_t)k}) % (uint64_t)n_vocab);
        side said = side_open(model, plain, text);
        side_go(&said, flags->n_tokens, text + PROMPT);
        vouch_session_close(said.session);
        draft->turn = false;
        all[round] = answer_compare(model, *plain, *options, text, flags->n_tokens);
    }
    qsort(all, (size_t)rounds, sizeof *all, ascending);
    return (ratios){all[0], all[rounds / 2]};
}

static void flags_check(const bench_flags *flags, int32_t n_cases)
{
    if (flags->from > n_cases) {
        fprintf(stderr, "never_slower: --from %d: expected a case from 1 to %d\n", (int)flags->from, (int)n_cases);
        exit(2);
    }
    if (flags->n_tokens < 4 * WARM) {
        fprintf(stderr, "never_slower: --tokens %d: expected at least %d\n", (int)flags->n_tokens, 4 * WARM);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    const bench_flags flags =
        bench_parse("never_slower",
                    "never_slower [FLAGS]\n\nSpeed relative to plain decoding when no guess is accepted: law L4.\n",
                    (bench_flags){.n_prompts = 5, .n_tokens = 512}, argc, argv);
    const int32_t n_cases = flags.head ? N_CASES : HEAD;
    bool is_kept = true;
    flags_check(&flags, n_cases);
    vouch_model *model = bench_open(flags.model, flags.cpu);
    vouch_draft_file *heads[2] = {NULL, NULL};
    if (flags.head) heads_open(heads, flags.head, model);
    const int32_t n_vocab = vouch_model_get_info(model)->n_vocab;
    int32_t *text = calloc((size_t)flags.n_tokens + PROMPT + VOUCH_MAX_DRAFT, sizeof *text);
    if (!text) return 1;
    drafter draft = {.text = text, .n_text = PROMPT + flags.n_tokens, .n_vocab = n_vocab};
    vouch_session_options plain = vouch_session_options_default(), cases[N_CASES];
    plain.n_ctx = PROMPT + flags.n_tokens + 2 * VOUCH_MAX_DRAFT;
    plain.n_threads = flags.n_threads;
    plain.max_tokens = flags.n_tokens;
    plain.ignore_eos = true;
    plain.speculation.drafters = VOUCH_DRAFTER_NONE;
    for (int i = 0; i < N_CASES; i++) cases[i] = plain;
    cases[WRONG].speculation.drafters = cases[TURNING].speculation.drafters = VOUCH_DRAFTER_CUSTOM;
    cases[WRONG].speculation.custom = cases[TURNING].speculation.custom = (vouch_drafter){guess, &draft};
    cases[RANDOM].speculation.drafters = VOUCH_DRAFTER_AUTO;
    cases[ITSELF].speculation.drafters = VOUCH_DRAFTER_MODEL;
    cases[ITSELF].speculation.draft_model = model;
    cases[HEAD].speculation.drafters = cases[SHUFFLED].speculation.drafters = VOUCH_DRAFTER_HEAD;
    cases[HEAD].speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = heads[0];
    cases[SHUFFLED].speculation.files[VOUCH_DRAFTER_NUMBER_HEAD] = heads[1];

    printf("%s, %d tokens, medians of %d prompts\n", vouch_model_get_info(model)->cpu, (int)flags.n_tokens,
           (int)flags.n_prompts);
    for (int i = flags.from - 1; i < n_cases; i++) {
        draft.n_right = i == TURNING ? PROMPT + flags.n_tokens / 4 : 0;
        const ratios r = case_run(model, &plain, &cases[i], &draft, text, &flags);
        is_kept = is_kept && r.median >= KEPT;
        printf("%-8s %.3f of plain speed, least %.3f\n", names[i], r.median, r.least);
        fflush(stdout);
    }
    free(text);
    for (int i = 0; i < 2; i++) vouch_draft_file_close(heads[i]);
    vouch_model_close(model);
    return !is_kept;
}
