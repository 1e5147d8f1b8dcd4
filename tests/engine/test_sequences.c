/* SPDX-License-Identifier: MIT */
/*
 * Many sequences in one pass (laws L1, L3 and L7): chains, trees and chunks of prompts share a pass, prefixes share
 * pages, sequences are rewound in between. Every row has the same logits and hidden state, bit for bit, as alone.
 *
 * A script, drawn from a seed, says what each sequence does. The reference follows the script with plain C kernels on
 * one thread, one sequence at a time, each row's path as a chain in a memory of its own. The crowd follows it with all
 * sequences in common passes, in one store of pages.
 */
#include <stdlib.h>
#include <string.h>

#include "support/model/hybrid.h"
#include "support/sanitized.h"
#include "support/model/sequence.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

enum {
    MOST_SEQUENCES = 16,
    N_ROUNDS = 2,
    LONG = 290,       /* tokens of the first sequence: more than the largest page */
    SHORT = 60,       /* most tokens of the others, besides those they share */
    MOST_GUESSES = 9, /* rows of one sequence in a round */
    PASS_ROWS = 40,   /* of a common pass */
    N_CTX = LONG + SHORT + N_ROUNDS * MOST_GUESSES
};

/* ------------------------------------------------------------------- the script */

/* Rows that one sequence adds to a pass, a path of them that it keeps, and tokens that it then forgets. */
typedef struct turn {
    int32_t tokens[MOST_GUESSES], parents[MOST_GUESSES], n;
    int32_t path[MOST_GUESSES], n_path;
    int32_t n_forgotten;
} turn;

typedef struct part {
    int32_t n_shared;                /* tokens that it has from sequence 0 */
    int32_t tokens[LONG + SHORT], n; /* the beginning of the sequence, shared tokens included */
    turn turns[N_ROUNDS];
} part;

typedef struct script {
    int32_t n, n_vocab, n_embd;
    part parts[MOST_SEQUENCES];
} script;

static void turn_write(turn *t, test_random *random, int32_t n_vocab, int32_t n_tokens)
{
    const bool is_tree = test_below(random, 2) == 1;
    t->n = 1 + (int32_t)test_below(random, MOST_GUESSES);
    for (int32_t i = 0; i < t->n; i++) {
        t->tokens[i] = (int32_t)test_below(random, (uint32_t)n_vocab);
        t->parents[i] = is_tree ? (int32_t)test_below(random, (uint32_t)i + 1) - 1 : i - 1;
    }
    int32_t backwards[MOST_GUESSES], leaf = (int32_t)test_below(random, (uint32_t)t->n + 1) - 1;
    for (t->n_path = 0; leaf >= 0; leaf = t->parents[leaf]) backwards[t->n_path++] = leaf;
    for (int32_t i = 0; i < t->n_path; i++) t->path[i] = backwards[t->n_path - 1 - i];
    /* A third of the turns may forget nearly all tokens, back into a shared page. */
    const int32_t left = n_tokens + t->n_path, most = test_below(random, 3) == 0 ? left - 1 : 4;
    t->n_forgotten = (int32_t)test_below(random, (uint32_t)(most < left ? most : left - 1) + 1);
}

static void script_write(script *s, int32_t n, int32_t n_vocab, int32_t n_embd, uint64_t seed)
{
    test_random random = {seed};
    *s = (script){.n = n, .n_vocab = n_vocab, .n_embd = n_embd};
    for (int32_t i = 0; i < n; i++) {
        part *p = &s->parts[i];
        p->n_shared = i % 2 ? (int32_t)test_below(&random, LONG) + 1 : 0;
        p->n = i == 0 ? LONG : p->n_shared + 1 + (int32_t)test_below(&random, SHORT);
        for (int32_t j = 0; j < p->n; j++)
            p->tokens[j] = j < p->n_shared ? s->parts[0].tokens[j] : (int32_t)test_below(&random, (uint32_t)n_vocab);
        int32_t n_tokens = p->n;
        for (int32_t r = 0; r < N_ROUNDS; r++) {
            turn_write(&p->turns[r], &random, n_vocab, n_tokens);
            n_tokens += p->turns[r].n_path - p->turns[r].n_forgotten;
        }
    }
}

/* ---------------------------------------------------------------- the reference */

/* The expected results of the rows of a script, by sequence, round and row. */
typedef struct expected {
    float *logits; /* [MOST_SEQUENCES][N_ROUNDS][MOST_GUESSES][n_vocab] */
    float *hidden; /* [MOST_SEQUENCES][N_ROUNDS][MOST_GUESSES][2 n_embd] after the first and after the last layer */
    uint64_t digests[MOST_SEQUENCES]; /* at the end */
} expected;

static size_t row_number(int32_t i, int32_t round, int32_t row)
{
    return (size_t)((i * N_ROUNDS + round) * MOST_GUESSES + row);
}

typedef struct machine {
    vouch_pool *pool;
    vouch_weights *weights;
} machine;

static machine machine_open(const char *path, const vouch_kernels *kernels, int32_t n_threads, bool is_hybrid)
{
    machine m;
    vouch_gguf *gguf;
    assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&m.pool, n_threads, NULL), VOUCH_OK);
    assert_int_equal(vouch_weights_open(&m.weights, gguf, 0, &(vouch_packing){.kernels = kernels, .pool = m.pool},
                                        NULL),
                     VOUCH_OK);
    vouch_gguf_close(gguf);
    if (is_hybrid) hybrid_layers(m.weights);
    return m;
}

static void machine_close(machine *m)
{
    vouch_weights_close(m->weights);
    vouch_pool_close(m->pool);
}

/* Runs the path to a row as a chain after the sequence's tokens. Writes logits and hidden state of its last row. */
static void run_path(const vouch_sequence *s, const script *plan, const turn *t, int32_t row, float *logits,
                     float *hidden)
{
    vouch_row rows[MOST_GUESSES];
    int32_t n = 0;
    for (int32_t r = row; r >= 0; r = t->parents[r]) n++;
    for (int32_t r = row, at = n; r >= 0; r = t->parents[r]) {
        at--;
        rows[at] = (vouch_row){.memory = s->memory, .token = t->tokens[r], .parent = at - 1};
    }
    rows[n - 1].logits = rows[n - 1].hidden = true;
    assert_true(vouch_memory_reserve(s->memory, n));
    vouch_pass_run(s->pass, rows, n);
    memcpy(logits, vouch_pass_logits(s->pass, 0), (size_t)plan->n_vocab * sizeof *logits);
    memcpy(hidden, vouch_pass_tap(s->pass, 0, 0), (size_t)plan->n_embd * sizeof *hidden);
    memcpy(hidden + plan->n_embd, vouch_pass_hidden(s->pass, 0), (size_t)plan->n_embd * sizeof *hidden);
    vouch_memory_keep_rows(s->memory, 0);
}

/* A sequence's tokens. */
typedef struct history {
    int32_t tokens[N_CTX], n;
} history;

static void remember(history *h, const int32_t *tokens, int32_t n)
{
    memcpy(h->tokens + h->n, tokens, (size_t)n * sizeof *tokens);
    h->n += n;
}

/* Goes back to n tokens. Recurrent layers may have to go further back, and the tokens between run again. */
static void go_back(vouch_memory *m, vouch_pass *pass, history *h, int32_t n)
{
    int32_t left = vouch_memory_rewind(m, n);
    assert_true(vouch_memory_is_recurrent(m) ? left <= n : left == n);
    for (h->n = n; left < n; left++) vouch_pass_chain(pass, m, &h->tokens[left], 1, 0);
}

static void remember_path(history *h, const turn *t)
{
    for (int32_t i = 0; i < t->n_path; i++) remember(h, &t->tokens[t->path[i]], 1);
}

static void follow_alone(expected *e, const script *plan, const machine *m, vouch_kv_type kv_type)
{
    const vouch_sequence_options options = {.n_ctx = N_CTX, .max_rows = LONG, .max_logits = 1, .kv_type = kv_type};
    vouch_sequence s;
    assert_int_equal(vouch_sequence_open(&s, m->weights, m->pool, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open_tap(s.pass, 0, NULL), VOUCH_OK);
    e->logits = calloc(row_number(MOST_SEQUENCES, 0, 0) * (size_t)plan->n_vocab, sizeof *e->logits);
    e->hidden = calloc(row_number(MOST_SEQUENCES, 0, 0) * 2 * (size_t)plan->n_embd, sizeof *e->hidden);
    assert_non_null(e->logits);
    assert_non_null(e->hidden);
    for (int32_t i = 0; i < plan->n; i++) {
        const part *p = &plan->parts[i];
        history all = {0};
        vouch_memory_rewind(s.memory, 0);
        remember(&all, p->tokens, p->n);
        for (int32_t j = 0; j < p->n; j++) vouch_pass_chain(s.pass, s.memory, &p->tokens[j], 1, 0);
        for (int32_t round = 0; round < N_ROUNDS; round++) {
            const turn *t = &p->turns[round];
            for (int32_t row = 0; row < t->n; row++) {
                const size_t at = row_number(i, round, row);
                run_path(&s, plan, t, row, e->logits + at * (size_t)plan->n_vocab,
                         e->hidden + at * 2 * (size_t)plan->n_embd);
            }
            for (int32_t j = 0; j < t->n_path; j++) vouch_pass_chain(s.pass, s.memory, &t->tokens[t->path[j]], 1, 0);
            remember_path(&all, t);
            go_back(s.memory, s.pass, &all, all.n - t->n_forgotten);
        }
        e->digests[i] = vouch_memory_digest(s.memory);
    }
    vouch_sequence_close(&s);
}

static void expected_free(expected *e)
{
    free(e->logits);
    free(e->hidden);
}

/* ------------------------------------------------------------------- the crowd */

/* A deliberate fault. */
typedef enum fault {
    RIGHT,
    PAGES_SWAPPED,       /* two pages of a sequence change places */
    NEIGHBOURS_SLOT,     /* one slot holds a neighbour's key and value */
    WRONG_PARENT,        /* a row has the wrong parent */
    SHARED_PAGE_WRITTEN, /* a page with two owners isn't copied before it is written */
    NOT_REPLAYED         /* states of recurrent layers miss guesses that were kept */
} fault;

typedef struct crowd {
    const script *plan;
    vouch_pages *pages;
    vouch_memory *memories[MOST_SEQUENCES];
    history histories[MOST_SEQUENCES];
    vouch_pass *pass;
    fault fault;
    /* Rows for the next pass, and the number of each in `expected` (row_number). */
    vouch_row rows[PASS_ROWS];
    size_t numbers[PASS_ROWS];
    int32_t n_rows;
} crowd;

static void crowd_open(crowd *c, const script *plan, const machine *m, vouch_kv_type kv_type, int32_t page_size)
{
    const vouch_pages_options pages = {
        .kv_type = kv_type, .page_size = page_size, .n_pages = plan->n * ((N_CTX + page_size - 1) / page_size)};
    const vouch_pass_options pass = {.n_ctx = N_CTX, .max_rows = PASS_ROWS, .max_logits = PASS_ROWS};
    *c = (crowd){.plan = plan};
    assert_int_equal(vouch_pages_open(&c->pages, m->weights, &pages, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open(&c->pass, m->weights, m->pool, &pass, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open_tap(c->pass, 0, NULL), VOUCH_OK);
    for (int32_t i = 0; i < plan->n; i++)
        assert_int_equal(vouch_memory_open(&c->memories[i], c->pages, N_CTX, PASS_ROWS, NULL), VOUCH_OK);
}

static void crowd_close(crowd *c)
{
    for (int32_t i = 0; i < c->plan->n; i++) vouch_memory_close(c->memories[i]);
    assert_int_equal(vouch_pages_n_free(c->pages), c->pages->n_pages);
    vouch_pass_close(c->pass);
    vouch_pages_close(c->pages);
}

/* Runs the collected rows. Returns the number of rows whose results differ from e; e NULL: compares nothing. */
static int crowd_flush(crowd *c, const expected *e)
{
    const size_t n_vocab = (size_t)c->plan->n_vocab, n_embd = (size_t)c->plan->n_embd;
    int wrong = 0;
    int32_t n_logits = 0, n_hidden = 0;
    if (c->n_rows > 0) vouch_pass_run(c->pass, c->rows, c->n_rows);
    for (int32_t r = 0; r < c->n_rows && e; r++) {
        bool same = true;
        if (c->rows[r].logits)
            same = memcmp(vouch_pass_logits(c->pass, n_logits++), e->logits + c->numbers[r] * n_vocab,
                          n_vocab * sizeof(float)) == 0;
        if (c->rows[r].hidden) {
            const float *states = e->hidden + c->numbers[r] * 2 * n_embd;
            same &= memcmp(vouch_pass_tap(c->pass, 0, n_hidden), states, n_embd * sizeof(float)) == 0;
            same &= memcmp(vouch_pass_hidden(c->pass, n_hidden++), states + n_embd, n_embd * sizeof(float)) == 0;
        }
        wrong += !same;
    }
    c->n_rows = 0;
    return wrong;
}

/* Runs the collected rows; all rows that the memories hold become tokens. */
static void crowd_commit(crowd *c)
{
    crowd_flush(c, NULL);
    for (int32_t i = 0; i < c->plan->n; i++)
        vouch_memory_keep_rows(c->memories[i], vouch_memory_n_rows(c->memories[i]));
}

/* Adds at most `size` of the beginning tokens of sequence i to the pass. Sequences that share a prefix wait until
 * sequence 0 has it. Returns the number of tokens added. */
static int32_t crowd_add_chunk(crowd *c, int32_t i, int32_t *done, int32_t size)
{
    const part *p = &c->plan->parts[i];
    vouch_memory *m = c->memories[i];
    if (*done == 0 && p->n_shared > 0) {
        if (vouch_memory_n_tokens(c->memories[0]) < LONG) return 0;
        *done = vouch_memory_share(m, c->memories[0], p->n_shared);
        assert_true(*done == p->n_shared || vouch_memory_is_recurrent(m));
    }
    int32_t n = 0;
    for (; n < size && *done < p->n && c->n_rows < PASS_ROWS; n++) {
        assert_true(vouch_memory_reserve(m, n + 1));
        c->rows[c->n_rows++] =
            (vouch_row){.memory = m, .token = p->tokens[(*done)++], .parent = n - 1, .kept = size % 2 == 0};
    }
    return n;
}

/* Runs the beginnings of all sequences, in passes with chunks of each. */
static void crowd_begin(crowd *c)
{
    int32_t done[MOST_SEQUENCES] = {0}, n_more = 1;
    for (int32_t round = 0; n_more > 0; round++) {
        n_more = 0;
        for (int32_t i = 0; i < c->plan->n; i++)
            n_more += crowd_add_chunk(c, i, &done[i], i == 0 ? 17 : 1 + (round + i) % 7);
        crowd_commit(c);
    }
    for (int32_t i = 0; i < c->plan->n; i++)
        assert_int_equal(vouch_memory_n_tokens(c->memories[i]), c->plan->parts[i].n);
    for (int32_t i = 0; i < c->plan->n; i++) remember(&c->histories[i], c->plan->parts[i].tokens, c->plan->parts[i].n);
}

static void crowd_break(crowd *c)
{
    vouch_memory *m = c->memories[0];
    const int32_t first = m->pages[0];
    if (c->fault == PAGES_SWAPPED) {
        m->pages[0] = m->pages[1];
        m->pages[1] = first;
    }
    if (c->fault == NEIGHBOURS_SLOT) {
        m->pages[0] = c->memories[2]->pages[0];
        vouch_memory_move_slot(m, m->store->page_size + 1, 0);
        m->pages[0] = first;
    }
}

/* Adds the rows of sequence i in a round to the pass. */
static int crowd_add_turn(crowd *c, const expected *e, int32_t i, int32_t round)
{
    const turn *t = &c->plan->parts[i].turns[round];
    int wrong = 0;
    assert_true(vouch_memory_reserve(c->memories[i], t->n));
    for (int32_t j = 0; j < t->n; j++) {
        int32_t parent = t->parents[j];
        if (c->fault == WRONG_PARENT && j > 0 && j == t->n - 1) parent = parent == -1 ? 0 : -1;
        if (c->n_rows == PASS_ROWS) wrong += crowd_flush(c, e); /* the next pass goes on with the tree */
        c->numbers[c->n_rows] = row_number(i, round, j);
        c->rows[c->n_rows++] = (vouch_row){.memory = c->memories[i],
                                           .token = t->tokens[j],
                                           .parent = parent,
                                           .logits = j % 4 < 3,
                                           .hidden = j % 3 < 2};
    }
    return wrong;
}

/* A round of all sequences, in another order each time. */
static int crowd_round(crowd *c, const expected *e, int32_t round)
{
    const int32_t n = c->plan->n, n_pages = c->pages->n_pages;
    int32_t *owners = calloc((size_t)n_pages, sizeof *owners);
    int wrong = 0;
    assert_non_null(owners);
    for (int32_t page = 0; page < n_pages && c->fault == SHARED_PAGE_WRITTEN; page++) {
        owners[page] = c->pages->n_owners[page];
        if (owners[page] > 1) c->pages->n_owners[page] = 1;
    }
    for (int32_t at = 0; at < n; at++) wrong += crowd_add_turn(c, e, round % 2 ? n - 1 - at : at, round);
    wrong += crowd_flush(c, e);
    for (int32_t page = 0; page < n_pages; page++)
        if (owners[page] > 1) c->pages->n_owners[page] = owners[page];
    free(owners);
    return wrong;
}

static void crowd_keep(crowd *c, int32_t round)
{
    for (int32_t i = 0; i < c->plan->n; i++) {
        const turn *t = &c->plan->parts[i].turns[round];
        vouch_memory_keep_path(c->memories[i], t->path, t->n_path);
        if (c->fault == NOT_REPLAYED) c->memories[i]->states.n_pending = 0;
        remember_path(&c->histories[i], t);
        go_back(c->memories[i], c->pass, &c->histories[i], c->histories[i].n - t->n_forgotten);
    }
}

/* Returns the number of rows, plus memories at the end, that differ from the reference's. */
static int follow_together(const script *s, const expected *e, const machine *m, vouch_kv_type kv_type,
                           int32_t page_size, fault broken)
{
    crowd c;
    int wrong = 0;
    crowd_open(&c, s, m, kv_type, page_size);
    c.fault = broken;
    crowd_begin(&c);
    crowd_break(&c);
    for (int32_t round = 0; round < N_ROUNDS; round++) {
        wrong += crowd_round(&c, e, round);
        if (broken == WRONG_PARENT) break;
        crowd_keep(&c, round);
    }
    for (int32_t i = 0; i < s->n && broken != WRONG_PARENT; i++)
        wrong += vouch_memory_digest(c.memories[i]) != e->digests[i];
    crowd_close(&c);
    return wrong;
}

/* --------------------------------------------------------------------- the tests */

/* Grouped heads, normed heads, heads that aren't whole tiles or blocks. */
typedef struct shape {
    tiny_model_options model;
    vouch_kv_type kv_types[4];
    int n_kv_types;
    bool is_hybrid; /* some layers are recurrent */
} shape;

static const shape shapes[] = {
    {{.type = VOUCH_TYPE_Q4_1, .n_heads = 2, .n_kv_heads = 1, .n_ff = 80, .n_vocab = 120},
     {VOUCH_KV_F16, VOUCH_KV_Q8_0, VOUCH_KV_Q4_0, VOUCH_KV_F32},
     4,
     false},
    {{.type = VOUCH_TYPE_F16,
      .arch = "qwen3",
      .n_embd = 48,
      .n_heads = 6,
      .n_kv_heads = 2,
      .head_dim = 20,
      .n_vocab = 90},
     {VOUCH_KV_F16, VOUCH_KV_F32},
     2,
     false},
    {{.type = VOUCH_TYPE_Q8_0, .arch = "qwen3", .n_heads = 4, .n_kv_heads = 1, .head_dim = 64, .n_vocab = 77},
     {VOUCH_KV_Q8_0, VOUCH_KV_F16},
     2,
     false},
    {{.type = VOUCH_TYPE_Q4_1, .n_heads = 4, .n_kv_heads = 2, .n_ff = 128, .n_vocab = 110, .n_layers = 4},
     {VOUCH_KV_F16},
     1,
     true},
    {{.type = VOUCH_TYPE_F16,
      .arch = "qwen3",
      .n_embd = 48,
      .n_heads = 4,
      .n_kv_heads = 1,
      .head_dim = 12,
      .n_vocab = 90,
      .n_layers = 3},
     {VOUCH_KV_F32},
     1,
     true},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], HYBRID = 3 }; /* HYBRID: the first with recurrent layers */

static const int32_t page_sizes[] = {16, 48, 256};
enum { N_PAGE_SIZES = sizeof page_sizes / sizeof page_sizes[0] };

static void script_for(script *s, const shape *of, int32_t n, uint64_t seed)
{
    script_write(s, n, of->model.n_vocab, of->model.n_embd ? of->model.n_embd : 64, seed);
}

static void reference(expected *e, const script *s, const char *path, vouch_kv_type kv_type, bool is_hybrid)
{
    machine m = machine_open(path, vouch_kernels_find("ref"), 1, is_hybrid);
    follow_alone(e, s, &m, kv_type);
    machine_close(&m);
}

/* Every table of kernels with every page size; in the quick tests with one of the sizes, by turns. */
static void sweep_machines(const script *s, const expected *e, const char *path, const shape *of, vouch_kv_type kv_type,
                           bool all_teams)
{
    const vouch_kernels *kernels;
    for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++)
        for (int32_t n_threads = 1; n_threads <= 3; n_threads++) {
            if (!all_teams && n_threads != 1 + (int32_t)k % 3) continue;
            machine m = machine_open(path, kernels, n_threads, of->is_hybrid);
            for (int p = 0; p < N_PAGE_SIZES; p++)
                if (!test_is_quick() || p == ((int)k + s->n) % N_PAGE_SIZES)
                    assert_int_equal(follow_together(s, e, &m, kv_type, page_sizes[p], RIGHT), 0);
            machine_close(&m);
        }
}

static script the_script;

static void a_row_has_the_same_bits_in_any_crowd(void **state)
{
    (void)state;
    for (int i = 0; i < (TEST_SANITIZED ? 1 : N_SHAPES); i++) {
        const char *path = test_temporary("shape.gguf");
        tiny_model_write(path, &shapes[i].model);
        for (int k = 0; k < (test_is_quick() ? 1 : shapes[i].n_kv_types); k++) {
            expected e;
            script_for(&the_script, &shapes[i], k == 0 && i == 0 ? MOST_SEQUENCES : 3 + k, 10 + (uint64_t)k);
            reference(&e, &the_script, path, shapes[i].kv_types[k], shapes[i].is_hybrid);
            sweep_machines(&the_script, &e, path, &shapes[i], shapes[i].kv_types[k], false);
            expected_free(&e);
        }
    }
}

static void every_number_of_sequences_and_threads(void **state)
{
    (void)state;
    test_skip_slow();
    if (TEST_SANITIZED) test_skip("too slow with a sanitizer");
    for (int32_t n = 1; n <= MOST_SEQUENCES; n++) {
        const shape *of = &shapes[n % N_SHAPES];
        const vouch_kv_type kv_type = of->kv_types[n / N_SHAPES % of->n_kv_types];
        const char *path = test_temporary("shape.gguf");
        expected e;
        tiny_model_write(path, &of->model);
        script_for(&the_script, of, n, 100 + (uint64_t)n);
        reference(&e, &the_script, path, kv_type, of->is_hybrid);
        sweep_machines(&the_script, &e, path, of, kv_type, n % 4 == 0);
        expected_free(&e);
    }
}

static void broken_crowds_are_noticed(void **state)
{
    (void)state;
    test_skip_slow();
    for (int i = 0; i < N_SHAPES; i += HYBRID) {
        const char *path = test_temporary("shape.gguf");
        expected e;
        tiny_model_write(path, &shapes[i].model);
        script_for(&the_script, &shapes[i], 8, 3);
        reference(&e, &the_script, path, VOUCH_KV_F16, shapes[i].is_hybrid);
        machine m = machine_open(path, vouch_kernels_find(NULL), 2, shapes[i].is_hybrid);
        assert_int_equal(follow_together(&the_script, &e, &m, VOUCH_KV_F16, 16, RIGHT), 0);
        for (fault one = PAGES_SWAPPED; one <= NOT_REPLAYED; one++) {
            /* Hybrids run tokens again after going back, which hides the other faults. */
            if (shapes[i].is_hybrid != (one == NOT_REPLAYED)) continue;
            if (follow_together(&the_script, &e, &m, VOUCH_KV_F16, 16, one) == 0)
                fail_msg("fault %d was not noticed in shape %d", (int)one, i);
        }
        machine_close(&m);
        expected_free(&e);
    }
}

/* ---------------------------------------------------------------------- pages */

/* Three memories in a store of 4 pages of 16 slots. */
static void pages_are_counted(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[0].model);
    machine m = machine_open(path, vouch_kernels_find(NULL), 1, false);
    const vouch_pages_options options = {.page_size = 16, .n_pages = 4};
    const vouch_pass_options room = {.n_ctx = 64, .max_rows = 64, .max_logits = 1};
    vouch_pages *pages;
    vouch_pass *pass;
    vouch_memory *a, *b, *c;
    int32_t tokens[64] = {0};
    assert_int_equal(vouch_pages_open(&pages, m.weights, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open(&pass, m.weights, m.pool, &room, NULL), VOUCH_OK);
    assert_int_equal(vouch_memory_open(&a, pages, 64, 64, NULL), VOUCH_OK);
    assert_int_equal(vouch_memory_open(&b, pages, 64, 64, NULL), VOUCH_OK);
    assert_int_equal(vouch_memory_open(&c, pages, 64, 64, NULL), VOUCH_OK);
    assert_int_equal(vouch_pages_n_free(pages), 4);
    vouch_pass_chain(pass, a, tokens, 40, 0); /* a: 3 pages */
    assert_int_equal(vouch_pages_n_free(pages), 1);
    assert_int_equal(vouch_memory_share(b, a, 32), 32); /* whole pages cost nothing */
    assert_int_equal(vouch_pages_n_free(pages), 1);
    assert_false(vouch_memory_reserve(b, 17));
    assert_int_equal(vouch_pages_n_free(pages), 1);
    assert_int_equal(vouch_memory_share(c, a, 33), 33); /* the rest is copied into the last page */
    assert_int_equal(vouch_pages_n_free(pages), 0);
    assert_int_equal(vouch_memory_n_tokens(c), 33);
    assert_false(vouch_memory_reserve(b, 1));
    assert_int_equal(vouch_memory_share(b, a, 33), 0);
    assert_int_equal(vouch_memory_n_tokens(b), 0); /* it is empty then */
    const uint64_t digest = vouch_memory_digest(a);
    assert_int_equal(vouch_memory_rewind(c, 20), 20); /* within the second page, which a owns, too */
    assert_int_equal(vouch_pages_n_free(pages), 1);
    vouch_pass_chain(pass, c, tokens, 2, 0);
    assert_int_equal(vouch_pages_n_free(pages), 0); /* it was copied */
    assert_true(vouch_memory_digest(a) == digest);
    assert_int_equal(vouch_memory_rewind(a, 50), 40); /* there are no more */
    vouch_memory_close(a);
    assert_int_equal(vouch_pages_n_free(pages), 2); /* c has two pages, the first was shared */
    vouch_memory_close(c);
    vouch_memory_close(b);
    assert_int_equal(vouch_pages_n_free(pages), 4);
    vouch_pass_close(pass);
    vouch_pages_close(pages);
    machine_close(&m);
}

/* ----------------------------------------------------------- any order of operations */

enum { N_DIARIES = 4, DIARY_CTX = 80, DIARY_ROWS = 12 };

/* A memory, and the tokens and provisional rows that it should hold. */
typedef struct diary {
    vouch_memory *memory;
    int32_t tokens[DIARY_CTX], n;
    int32_t rows[DIARY_ROWS], parents[DIARY_ROWS], n_rows;
} diary;

/* Invariant G1: each page has as many owners as memories list it, and the free pages are those without owners. */
static bool owners_are_right(const vouch_pages *pages, const diary *diaries)
{
    int32_t n_free = 0;
    bool right = true;
    for (int32_t page = 0; page < pages->n_pages; page++) {
        int32_t n_owners = 0, n_listed = 0;
        for (int i = 0; i < N_DIARIES; i++)
            for (int32_t j = 0; j < diaries[i].memory->n_pages; j++) n_owners += diaries[i].memory->pages[j] == page;
        for (int32_t j = 0; j < pages->n_free; j++) n_listed += pages->free[j] == page;
        right &= pages->n_owners[page] == n_owners && n_listed == (n_owners == 0);
        n_free += n_owners == 0;
    }
    return right && pages->n_free == n_free;
}

static bool diary_is_right(const diary *d, const vouch_sequence *alone)
{
    vouch_memory_rewind(alone->memory, 0);
    for (int32_t i = 0; i < d->n; i++) vouch_pass_chain(alone->pass, alone->memory, &d->tokens[i], 1, 0);
    return vouch_memory_n_tokens(d->memory) == d->n && vouch_memory_n_rows(d->memory) == d->n_rows &&
           vouch_memory_digest(d->memory) == vouch_memory_digest(alone->memory);
}

/* Adds rows to the next pass. Without enough free pages, nothing changes. */
static int32_t diary_add_rows(diary *d, test_random *random, vouch_row *rows)
{
    const bool is_tree = test_below(random, 2);
    const int32_t room = DIARY_CTX - d->n - d->n_rows, left = DIARY_ROWS - d->n_rows;
    int32_t n = (int32_t)test_below(random, (uint32_t)(room < left ? room : left) + 1);
    const int32_t n_free = vouch_pages_n_free(d->memory->store);
    if (!vouch_memory_reserve(d->memory, n)) {
        assert_int_equal(vouch_pages_n_free(d->memory->store), n_free);
        return 0;
    }
    const int32_t n_kept = d->n_rows == 0 ? (int32_t)test_below(random, (uint32_t)n + 1) : 0;
    for (int32_t i = 0; i < n_kept; i++) {
        d->tokens[d->n] = (int32_t)test_below(random, 110);
        rows[i] = (vouch_row){.memory = d->memory, .token = d->tokens[d->n++], .kept = true};
    }
    for (int32_t i = n_kept; i < n; i++) {
        const int32_t row = d->n_rows++;
        d->rows[row] = (int32_t)test_below(random, 110);
        d->parents[row] = is_tree ? (int32_t)test_below(random, (uint32_t)row + 1) - 1 : row - 1;
        rows[i] = (vouch_row){.memory = d->memory, .token = d->rows[row], .parent = d->parents[row]};
    }
    return n;
}

static void diary_keep(diary *d, test_random *random)
{
    int32_t backwards[DIARY_ROWS], path[DIARY_ROWS], n = 0;
    for (int32_t r = (int32_t)test_below(random, (uint32_t)d->n_rows + 1) - 1; r >= 0; r = d->parents[r])
        backwards[n++] = r;
    for (int32_t i = 0; i < n; i++) {
        path[i] = backwards[n - 1 - i];
        d->tokens[d->n++] = d->rows[path[i]];
    }
    vouch_memory_keep_path(d->memory, path, n);
    d->n_rows = 0;
}

static void diary_rewind(diary *d, int32_t n)
{
    d->n = vouch_memory_rewind(d->memory, n);
    assert_true(d->n == n || (d->n < n && vouch_memory_is_recurrent(d->memory)));
    d->n_rows = 0;
}

static void diary_checkpoint(diary *d)
{
    vouch_memory_keep_rows(d->memory, 0);
    d->n_rows = 0;
    vouch_memory_checkpoint(d->memory);
}

/* Shares a prefix of `from`, which may have provisional rows. */
static void diary_share(diary *d, const diary *from, int32_t n)
{
    d->n = vouch_memory_share(d->memory, from->memory, n);
    d->n_rows = 0;
    memcpy(d->tokens, from->tokens, (size_t)d->n * sizeof *d->tokens);
}

static void diary_reopen(diary *d, vouch_pages *pages)
{
    vouch_memory_close(d->memory);
    *d = (diary){0};
    assert_int_equal(vouch_memory_open(&d->memory, pages, DIARY_CTX, DIARY_ROWS, NULL), VOUCH_OK);
}

static void operate(diary *diaries, vouch_pages *pages, vouch_pass *pass, test_random *random)
{
    vouch_row rows[N_DIARIES * DIARY_ROWS];
    int32_t n_rows = 0;
    diary *d = &diaries[test_below(random, N_DIARIES)];
    const diary *other = &diaries[test_below(random, N_DIARIES)];
    switch (test_below(random, 17)) {
    case 0: diary_reopen(d, pages); break;
    case 1:
    case 2: diary_rewind(d, (int32_t)test_below(random, (uint32_t)d->n + 1)); break;
    case 3:
    case 4:
    case 5:
        if (d != other) diary_share(d, other, (int32_t)test_below(random, (uint32_t)other->n + 1));
        break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: diary_keep(d, random); break;
    case 11: diary_checkpoint(d); break;
    default:
        for (int i = 0; i < N_DIARIES; i++)
            if (test_below(random, 2)) n_rows += diary_add_rows(&diaries[i], random, rows + n_rows);
        if (n_rows > 0) vouch_pass_run(pass, rows, n_rows);
    }
}

static void operate_many(const machine *m, vouch_kv_type kv_type, int32_t page_size, int n_operations, uint64_t seed)
{
    const int32_t each = (DIARY_CTX + page_size - 1) / page_size;
    const vouch_pages_options options = {.kv_type = kv_type, .page_size = page_size, .n_pages = 2 * each};
    const vouch_pass_options room = {.n_ctx = DIARY_CTX, .max_rows = N_DIARIES * DIARY_ROWS, .max_logits = 1};
    const vouch_sequence_options lone = {.n_ctx = DIARY_CTX, .max_rows = 1, .max_logits = 1, .kv_type = kv_type};
    vouch_sequence alone;
    vouch_pages *pages;
    vouch_pass *pass;
    diary diaries[N_DIARIES] = {0};
    test_random random = {seed};
    assert_int_equal(vouch_sequence_open(&alone, m->weights, m->pool, &lone, NULL), VOUCH_OK);
    assert_int_equal(vouch_pages_open(&pages, m->weights, &options, NULL), VOUCH_OK);
    assert_int_equal(vouch_pass_open(&pass, m->weights, m->pool, &room, NULL), VOUCH_OK);
    for (int i = 0; i < N_DIARIES; i++) diary_reopen(&diaries[i], pages);
    for (int n = 0; n < n_operations; n++) {
        operate(diaries, pages, pass, &random);
        assert_true(owners_are_right(pages, diaries));
        assert_true(diary_is_right(&diaries[n % N_DIARIES], &alone));
    }
    pages->n_owners[0]++;
    assert_false(owners_are_right(pages, diaries)); /* a wrong count would be noticed */
    pages->n_owners[0]--;
    for (int i = 0; i < N_DIARIES; i++) vouch_memory_close(diaries[i].memory);
    assert_int_equal(vouch_pages_n_free(pages), options.n_pages);
    vouch_pass_close(pass);
    vouch_pages_close(pages);
    vouch_sequence_close(&alone);
}

/* Four memories in a store with room for two: pages run out often. */
static void operations_come_in_any_order(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[0].model);
    machine m = machine_open(path, vouch_kernels_find(NULL), 2, false);
    const int n = TEST_SANITIZED ? 150 : test_is_quick() ? 400 : 1500;
    operate_many(&m, VOUCH_KV_F16, 16, n, 1);
    operate_many(&m, VOUCH_KV_Q8_0, 48, n, 2);
    machine_close(&m);
    tiny_model_write(path, &shapes[HYBRID].model);
    m = machine_open(path, vouch_kernels_find(NULL), 2, true);
    operate_many(&m, VOUCH_KV_F16, 16, n, 3);
    machine_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_same_bits_in_any_crowd),
        cmocka_unit_test(every_number_of_sequences_and_threads),
        cmocka_unit_test(broken_crowds_are_noticed),
        cmocka_unit_test(pages_are_counted),
        cmocka_unit_test(operations_come_in_any_order),
    };
    return cmocka_run_group_tests_name("sequences", tests, NULL, NULL);
}
