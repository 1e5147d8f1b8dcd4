/* SPDX-License-Identifier: MIT */
/*
 * Hashes of answers and of every bit of their logits, a line each. bench/against links this program with the libraries
 * of two commits and compares the lines. So it uses only the public header, and nothing newer than commit 697dd0f.
 *
 *   answer_hashes MODEL CPU THREADS TOKENS HEAD TABLE FILE...
 *
 * HEAD and TABLE are files for the model; -: none. The model also drafts for itself. Each FILE holds one question. Its
 * lines:
 *
 *   FILE greedy none           HASH  N tokens
 *   FILE logits                HASH  N rows        every row that perplexity would see, prompt and answer
 *   FILE match  ngram,suffix   HASH  N tokens
 *   FILE end
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vouch.h>

#ifdef HEADS_AND_TABLES /* the header is older than vouch_draft_file */
#define files_of(s, head_file, table_file) ((s).head = (head_file), (s).table = (table_file))
typedef vouch_head head_file;
typedef vouch_draft_table table_file;
#else
#define files_of(s, head_file, table_file) \
    ((s).files[VOUCH_DRAFTER_NUMBER_HEAD] = (head_file), (s).files[VOUCH_DRAFTER_NUMBER_TABLE] = (table_file))
#define vouch_head_open(out, ...)        vouch_draft_file_open(out, VOUCH_DRAFTER_NUMBER_HEAD, __VA_ARGS__)
#define vouch_draft_table_open(out, ...) vouch_draft_file_open(out, VOUCH_DRAFTER_NUMBER_TABLE, __VA_ARGS__)
#define vouch_head_close                 vouch_draft_file_close
#define vouch_draft_table_close          vouch_draft_file_close
typedef vouch_draft_file head_file, table_file;
#endif

enum { ROWS = 16, SEED = 7, MOST_BYTES = 1 << 16, N_CTX = 1024 };

typedef struct config {
    const char *name;
    unsigned drafters;
    int32_t n_draft, branches;
    vouch_kv_type kv_type;
} config;

static const config plain = {"none", VOUCH_DRAFTER_NONE, 0, 0, VOUCH_KV_F16};
/* Each question is asked with `automatic` and with one of `configs`, which the hash of its file's name chooses. */
static const config automatic = {"auto", VOUCH_DRAFTER_AUTO, 0, 0, VOUCH_KV_F16};
enum {
    NGRAM = VOUCH_DRAFTER_NGRAM,
    SUFFIX = VOUCH_DRAFTER_SUFFIX,
    RECYCLE = VOUCH_DRAFTER_RECYCLE,
    MODEL = VOUCH_DRAFTER_MODEL,
    HEAD = VOUCH_DRAFTER_HEAD,
    TABLE = VOUCH_DRAFTER_TABLE
};
static const config configs[] = {
    {"ngram k=8", NGRAM, 8, 1, VOUCH_KV_F16},
    {"suffix k=5, cache q8_0", SUFFIX, 5, 1, VOUCH_KV_Q8_0},
    {"recycle k=12 tree", RECYCLE, 12, 4, VOUCH_KV_F16},
    {"ngram,suffix,recycle k=15 tree, cache q4_0", NGRAM | SUFFIX | RECYCLE, 15, 3, VOUCH_KV_Q4_0},
    {"draft k=4", MODEL, 4, 1, VOUCH_KV_F16},
    {"draft,ngram k=9 tree, cache f32", MODEL | NGRAM, 9, 3, VOUCH_KV_F32},
    {"head k=4", HEAD, 4, 1, VOUCH_KV_F16},
    {"head,recycle k=10 tree", HEAD | RECYCLE, 10, 3, VOUCH_KV_F16},
    {"table,suffix k=6", TABLE | SUFFIX, 6, 2, VOUCH_KV_F16},
};
enum { N_CONFIGS = sizeof configs / sizeof configs[0] };

typedef struct draw {
    const char *name;
    float temperature;
    vouch_accept accept;
    bool chains; /* the rule judges chains only */
    bool fixed;  /* the text depends on the draft, so pace must not choose it */
} draw;

static const draw draws[] = {{"greedy", 0, VOUCH_ACCEPT_AUTO, false, false},
                             {"match", 0.8f, VOUCH_ACCEPT_MATCH, false, false},
                             {"coupled", 0.8f, VOUCH_ACCEPT_COUPLED, false, false},
                             {"rejection", 0.8f, VOUCH_ACCEPT_REJECTION, false, true},
                             {"block", 0.8f, VOUCH_ACCEPT_BLOCK, true, true}};
enum { N_DRAWS = sizeof draws / sizeof draws[0] };

typedef struct run {
    vouch_model *model;
    head_file *head;   /* NULL: none */
    table_file *table; /* likewise */
    int32_t n_threads, n_tokens;
    float *logits; /* [ROWS][n_vocab] */
    const char *name;
} run;

static void check(vouch_status status, const vouch_error *err)
{
    if (status == VOUCH_OK) return;
    fprintf(stderr, "answer_hashes: %s\n", err->message);
    exit(1);
}

static uint64_t hash_words(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (uint32_t word; n >= sizeof word; at += sizeof word, n -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    for (; n > 0; at++, n--) hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

static vouch_session *session_open(const run *r, const draw *d, const config *c)
{
    vouch_session_options o = vouch_session_options_default();
    vouch_session *session;
    vouch_error err;
    o.n_ctx = N_CTX;
    o.n_threads = r->n_threads;
    o.max_tokens = r->n_tokens;
    o.sampling.temperature = d->temperature;
    o.sampling.top_p = 0.95f;
    o.sampling.seed = SEED;
    o.speculation.accept = d->accept;
    o.speculation.drafters = c->drafters;
    o.speculation.n_draft = c->n_draft;
    o.speculation.tree_branches = d->chains && c->branches > 1 ? 1 : c->branches;
    o.speculation.draft_model = c->drafters & MODEL ? r->model : NULL;
    files_of(o.speculation, r->head, r->table);
    o.kv_type = c->kv_type;
    check(vouch_session_open(&session, r->model, &o, &err), &err);
    return session;
}

/* Asks, and prints a line with the number of tokens of the answer and a hash of their ids. */
static void ask(const run *r, vouch_session *session, const draw *d, const config *c, const char *question)
{
    const vouch_message turn = {"user", question};
    vouch_error err;
    vouch_step step;
    uint64_t hash = 0;
    int32_t n = 0;
    vouch_status status = vouch_session_chat(session, &turn, 1, &err);
    if (status == VOUCH_E_UNSUPPORTED) status = vouch_session_text(session, question, strlen(question), &err);
    check(status, &err);
    do {
        check(vouch_session_step(session, &step, &err), &err);
        hash = hash_words(hash, step.tokens, (size_t)step.n_tokens * sizeof *step.tokens);
        n += step.n_tokens;
    } while (step.finish == VOUCH_FINISH_NONE);
    printf("%s %s %s %016llx %d tokens\n", r->name, d->name, c->name, (unsigned long long)hash, (int)n);
}

static void hash_logits(const run *r, vouch_session *session)
{
    const size_t n_vocab = (size_t)vouch_model_get_info(r->model)->n_vocab;
    vouch_error err;
    uint64_t hash = 0;
    size_t n_tokens;
    (void)vouch_session_tokens(session, &n_tokens);
    for (size_t first = 0; first < n_tokens; first += ROWS) {
        const size_t n = n_tokens - first < ROWS ? n_tokens - first : ROWS;
        check(vouch_session_logits(session, (int32_t)first, (int32_t)n, r->logits, &err), &err);
        hash = hash_words(hash, r->logits, n * n_vocab * sizeof *r->logits);
    }
    printf("%s logits %016llx %zu rows\n", r->name, (unsigned long long)hash, n_tokens);
}

static void read_question(const char *path, char *question)
{
    FILE *file = fopen(path, "rb");
    const size_t n = file ? fread(question, 1, MOST_BYTES - 1, file) : 0;
    if (n == 0) {
        fprintf(stderr, "answer_hashes: %s: no text in it\n", path);
        exit(1);
    }
    question[n] = '\0';
    fclose(file);
}

static void hash_answers(run *r, const char *path)
{
    static char question[MOST_BYTES];
    read_question(path, question);
    r->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const uint64_t turn = hash_words(0, r->name, strlen(r->name)) >> 32;
    for (int d = 0; d < N_DRAWS; d++) {
        const config *third = &configs[turn % N_CONFIGS];
        if ((third->drafters & HEAD && !r->head) || (third->drafters & TABLE && !r->table)) third = &configs[0];
        const config *const asked[] = {&plain, &automatic, third};
        for (int w = 0; w < 3; w++) {
            if (w == 1 && draws[d].fixed) continue;
            vouch_session *session = session_open(r, &draws[d], asked[w]);
            ask(r, session, &draws[d], asked[w], question);
            if (d == 0 && w == 0) hash_logits(r, session);
            vouch_session_close(session);
        }
    }
    printf("%s end\n", r->name);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    vouch_model_options options = vouch_model_options_default();
    vouch_error err;
    if (argc < 8) {
        fprintf(stderr, "usage: answer_hashes MODEL CPU THREADS TOKENS HEAD TABLE FILE...\n");
        return 2;
    }
    run r = {.n_threads = (int32_t)strtol(argv[3], NULL, 10), .n_tokens = (int32_t)strtol(argv[4], NULL, 10)};
    options.cpu = argv[2];
    check(vouch_model_open(&r.model, argv[1], &options, &err), &err);
    if (strcmp(argv[5], "-") != 0) check(vouch_head_open(&r.head, argv[5], r.model, true, &err), &err);
    if (strcmp(argv[6], "-") != 0) check(vouch_draft_table_open(&r.table, argv[6], r.model, true, &err), &err);
    r.logits = malloc(ROWS * (size_t)vouch_model_get_info(r.model)->n_vocab * sizeof *r.logits);
    if (!r.logits) return 1;
    for (int i = 7; i < argc; i++) hash_answers(&r, argv[i]);
    free(r.logits);
    vouch_head_close(r.head);
    vouch_draft_table_close(r.table);
    vouch_model_close(r.model);
    return 0;
}
