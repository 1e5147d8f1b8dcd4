/* SPDX-License-Identifier: MIT */
/*
 * The forward pass: law L1 bit for bit, trees, and law L3 in the cache.
 *
 * The reference runs the tokens with the plain C kernels, one thread and one row a pass. Every other way to run the
 * same tokens must give the same bits in all logits and in the cache. To show that these tests can fail, one test uses
 * kernels that are wrong in the last bit, and only with several rows in a pass.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/sanitized.h"
#include "support/model/sequence.h"
#include "support/test.h"
#include "support/model/tiny_model.h"

/* MAX_TOKENS: more than a page and more than a chunk of 256. The rest of 19 rows is no whole number of groups of
 * rows. */
enum { MAX_TOKENS = 275, SHORT = 36, MOST_ROWS = 17 };

#define ITEM(type) VOUCH_TYPE_##type,
static const vouch_type types[] = {VOUCH_FLOAT_TYPES(ITEM) VOUCH_QUANTIZED_TYPES(ITEM)};
#undef ITEM
enum { N_TYPES = sizeof types / sizeof types[0] };

/* Shapes of tiny models: llama and qwen3, every weight type, head widths 4 to 64, 1 to 5 query heads per KV head,
 * rows that aren't whole tiles or blocks, and several types in one model (matrices whose rows aren't whole blocks
 * are F16). */
#define SUPER .n_embd = 256, .n_heads = 2, .n_kv_heads = 1, .head_dim = 16, .n_layers = 1, .n_ff = 32, .n_vocab = 36
enum {
    LLAMA_Q4_1,
    QWEN3_Q8_0_HEAD_64,
    LLAMA_Q4_0_ROPE_FREQS,
    QWEN3_F32_HEAD_6,
    LLAMA_F16,
    LLAMA_Q8_0_ROPE_SCALE,
    LLAMA_F32_5_HEADS,
    QWEN3_Q4_1_HEAD_20,
    LLAMA_Q5_0_Q5_1,
    QWEN3_IQ4_NL_BF16,
    LLAMA_Q4_K_Q6_K,
    LLAMA_Q3_K_Q2_K,
    QWEN3_IQ4_XS_Q5_K,
    LLAMA_TQ1_0_IQ2_XS,
    EXPERTS_F32,
    EXPERTS_Q8_0_Q4_0,
    EXPERTS_FUSED_F16,
    EXPERTS_Q4_K_Q6_K,
    EXPERTS_MXFP4_NVFP4,
    LATENT_Q8_0,
    LATENT_F32,
    N_SHAPES
};
static const tiny_model_options shapes[N_SHAPES] = {
    [LLAMA_Q4_1] = {.type = VOUCH_TYPE_Q4_1, .n_heads = 4, .n_kv_heads = 2, .n_ff = 80},
    [QWEN3_Q8_0_HEAD_64] =
        {.type = VOUCH_TYPE_Q8_0, .arch = "qwen3", .n_heads = 4, .n_kv_heads = 1, .head_dim = 64, .tied = true},
    [LLAMA_Q4_0_ROPE_FREQS] =
        {.type = VOUCH_TYPE_Q4_0, .n_embd = 96, .n_heads = 3, .n_kv_heads = 1, .n_vocab = 391, .rope_freqs = true},
    [QWEN3_F32_HEAD_6] =
        {.type = VOUCH_TYPE_F32, .arch = "qwen3", .n_embd = 22, .n_heads = 3, .head_dim = 6, .n_ff = 50, .n_vocab = 77},
    [LLAMA_F16] = {.type = VOUCH_TYPE_F16, .n_embd = 20, .n_heads = 2, .n_kv_heads = 1, .n_ff = 36, .n_vocab = 45},
    [LLAMA_Q8_0_ROPE_SCALE] =
        {.type = VOUCH_TYPE_Q8_0, .n_embd = 32, .n_heads = 4, .n_kv_heads = 4, .rope_scale = 2, .tied = true},
    [LLAMA_F32_5_HEADS] =
        {.type = VOUCH_TYPE_F32, .n_embd = 40, .n_heads = 5, .n_kv_heads = 1, .n_layers = 1, .n_vocab = 33},
    [QWEN3_Q4_1_HEAD_20] =
        {.type = VOUCH_TYPE_Q4_1, .arch = "qwen3", .n_heads = 2, .n_kv_heads = 2, .head_dim = 20, .n_layers = 3},
    [LLAMA_Q5_0_Q5_1] =
        {.type = VOUCH_TYPE_Q5_0, .other = VOUCH_TYPE_Q5_1, .n_embd = 32, .n_heads = 2, .n_ff = 64, .n_vocab = 41},
    [QWEN3_IQ4_NL_BF16] =
        {.type = VOUCH_TYPE_IQ4_NL, .other = VOUCH_TYPE_BF16, .arch = "qwen3", .n_embd = 32, .n_heads = 1, .n_ff = 32},
    [LLAMA_Q4_K_Q6_K] = {.type = VOUCH_TYPE_Q4_K, .other = VOUCH_TYPE_Q6_K, SUPER},
    [LLAMA_Q3_K_Q2_K] = {.type = VOUCH_TYPE_Q3_K, .other = VOUCH_TYPE_Q2_K, SUPER},
    [QWEN3_IQ4_XS_Q5_K] = {.type = VOUCH_TYPE_IQ4_XS, .other = VOUCH_TYPE_Q5_K, SUPER, .arch = "qwen3"},
    [LLAMA_TQ1_0_IQ2_XS] = {.type = VOUCH_TYPE_TQ1_0, .other = VOUCH_TYPE_IQ2_XS, SUPER},
    [EXPERTS_F32] =
        {.arch = "qwen3moe", .n_embd = 40, .n_heads = 2, .n_vocab = 47, .n_experts = 9, .n_used = 3, .n_ff_expert = 23},
    [EXPERTS_Q8_0_Q4_0] = {.type = VOUCH_TYPE_Q8_0,
                           .other = VOUCH_TYPE_Q4_0,
                           .arch = "llama",
                           .n_vocab = 47,
                           .n_experts = 6,
                           .n_used = 2},
    [EXPERTS_FUSED_F16] = {.type = VOUCH_TYPE_F16,
                           .arch = "qwen3moe",
                           .n_embd = 48,
                           .n_vocab = 47,
                           .n_experts = 5,
                           .n_used = 5,
                           .n_ff_expert = 24,
                           .fused = true,
                           .n_dense = 1},
    [EXPERTS_Q4_K_Q6_K] = {.type = VOUCH_TYPE_Q4_K,
                           .other = VOUCH_TYPE_Q6_K,
                           SUPER,
                           .arch = "qwen3moe",
                           .n_experts = 40,
                           .n_used = 8,
                           .n_ff_expert = 256},
    [EXPERTS_MXFP4_NVFP4] = {.type = VOUCH_TYPE_MXFP4,
                             .other = VOUCH_TYPE_NVFP4,
                             .arch = "qwen3moe",
                             .n_vocab = 47,
                             .n_experts = 6,
                             .n_used = 2,
                             .n_ff_expert = 64},
    [LATENT_Q8_0] = {.type = VOUCH_TYPE_Q8_0, .arch = "minicpm3", .n_vocab = 47, .head_dim = 64},
    [LATENT_F32] = {.arch = "plm", .n_vocab = 43, .n_heads = 3, .head_dim = 64},
};
#undef SUPER

/* The KV types to run shape i with: F16 or F32 in turn, and the quantised types if a head is a multiple of a block. */
enum { MOST_KV_TYPES = 3 };

static int kv_types_of(int i, vouch_kv_type kv_types[MOST_KV_TYPES])
{
    const tiny_model_options *s = &shapes[i];
    const int32_t width = s->head_dim ? s->head_dim : (s->n_embd ? s->n_embd : 64) / (s->n_heads ? s->n_heads : 4);
    kv_types[0] = i % 2 ? VOUCH_KV_F16 : VOUCH_KV_F32;
    kv_types[1] = VOUCH_KV_Q8_0;
    kv_types[2] = VOUCH_KV_Q4_0;
    return width % VOUCH_BLOCK == 0 ? 3 : 1;
}

/* ----------------------------------------------------------------- running */

typedef struct loaded {
    vouch_pool *pool;
    vouch_weights *weights;
} loaded;

static loaded load(const char *path, const vouch_kernels *kernels, int32_t n_threads)
{
    loaded model;
    vouch_gguf *gguf;
    vouch_error err;
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&model.pool, n_threads, &err), VOUCH_OK);
    assert_int_equal(vouch_weights_open(&model.weights, gguf, 0,
                                        &(vouch_packing){.kernels = kernels, .pool = model.pool}, &err),
                     VOUCH_OK);
    vouch_gguf_close(gguf);
    return model;
}

static void unload(loaded *model)
{
    vouch_weights_close(model->weights);
    vouch_pool_close(model->pool);
}

static vouch_sequence open_sequence(const loaded *model, int32_t max_rows, vouch_kv_type kv_type)
{
    const vouch_sequence_options options = {
        .n_ctx = MAX_TOKENS + 3, .max_rows = max_rows, .max_logits = max_rows, .kv_type = kv_type};
    vouch_sequence sequence;
    vouch_error err;
    assert_int_equal(vouch_sequence_open(&sequence, model->weights, model->pool, &options, &err), VOUCH_OK);
    return sequence;
}

/* Some tokens and the reference's logits after each. */
typedef struct expected {
    int32_t tokens[MAX_TOKENS];
    int32_t n, n_vocab;
    float *logits; /* [n][n_vocab] */
    uint64_t digest;
    uint64_t short_digest; /* after SHORT tokens */
} expected;

static void run_reference(expected *e, const char *path, vouch_kv_type kv_type, int32_t n)
{
    loaded model = load(path, vouch_kernels_find("ref"), 1);
    vouch_sequence s = open_sequence(&model, 1, kv_type);
    test_random random = {(uint64_t)n};
    e->n = n;
    e->n_vocab = model.weights->hparams.n_vocab;
    e->logits = calloc((size_t)n * (size_t)e->n_vocab, sizeof *e->logits);
    assert_non_null(e->logits);
    for (int32_t i = 0; i < n; i++) {
        e->tokens[i] = (int32_t)test_below(&random, (uint32_t)e->n_vocab);
        vouch_pass_chain(s.pass, s.memory, &e->tokens[i], 1, 1);
        memcpy(e->logits + (size_t)i * (size_t)e->n_vocab, vouch_pass_logits(s.pass, 0),
               (size_t)e->n_vocab * sizeof(float));
        if (i + 1 == SHORT) e->short_digest = vouch_memory_digest(s.memory);
    }
    e->digest = vouch_memory_digest(s.memory);
    vouch_sequence_close(&s);
    unload(&model);
}

/* e, cut to its first SHORT tokens. The logits still belong to e. */
static expected first_tokens(const expected *e)
{
    expected few = *e;
    few.n = SHORT;
    few.digest = e->short_digest;
    return few;
}

/* Whether the row has the reference's bits and they are finite. */
static bool same_row(const expected *e, int32_t position, const float *logits)
{
    return isfinite(logits[0]) &&
           memcmp(e->logits + (size_t)position * (size_t)e->n_vocab, logits, (size_t)e->n_vocab * sizeof *logits) == 0;
}

/* Runs the first `offset` tokens in one pass and the rest in passes of n rows. Returns the number of rows whose logits
 * differ, plus 1 if the cache differs. */
static int count_differences(const expected *e, const vouch_sequence *s, int32_t offset, int32_t n)
{
    int wrong = 0;
    vouch_memory_rewind(s->memory, 0);
    for (int32_t at = 0; at < e->n;) {
        int32_t rows = at < offset ? offset : n;
        if (rows > e->n - at) rows = e->n - at;
        vouch_pass_chain(s->pass, s->memory, e->tokens + at, rows, rows);
        for (int32_t r = 0; r < rows; r++) wrong += !same_row(e, at + r, vouch_pass_logits(s->pass, r));
        at += rows;
    }
    return wrong + (vouch_memory_digest(s->memory) != e->digest);
}

/* ------------------------------------------------------------------ law L1 */

/* A comparison runs the first `offset` tokens in one pass and the rest in passes of n rows (count_differences). How
 * many of the offsets below n it tries. */
typedef enum thoroughness { ONE_OFFSET, THREE_OFFSETS, EVERY_OFFSET } thoroughness;

static void sweep_rows(const expected *e, const loaded *model, vouch_kv_type kv_type, thoroughness how)
{
    vouch_sequence s = open_sequence(model, MOST_ROWS, kv_type);
    for (int32_t n = 1; n <= MOST_ROWS; n++)
        for (int32_t offset = 0; offset < n; offset++) {
            if (how == ONE_OFFSET && (offset != n / 2 || (test_is_quick() && n % 8 > 1))) continue;
            if (how == THREE_OFFSETS && offset != 0 && offset != n / 2 && offset != n - 1) continue;
            assert_int_equal(count_differences(e, &s, offset, n), 0);
        }
    vouch_sequence_close(&s);
}

static void sweep_chunks(const expected *e, const loaded *model, vouch_kv_type kv_type, thoroughness how)
{
    static const int32_t chunks[] = {1, 7, 32, 256};
    vouch_sequence s = open_sequence(model, 256, kv_type);
    for (int i = how == ONE_OFFSET; i < 4; i++) assert_int_equal(count_differences(e, &s, 0, chunks[i]), 0);
    vouch_sequence_close(&s);
}

/* Compares kernel tables with the reference, each with one number of threads or, for EVERY_OFFSET, with all. Table 0 is
 * plain C, and `first` is the number of the first table to compare. */
static void sweep_machines(const char *path, vouch_kv_type kv_type, thoroughness how, size_t first)
{
    static const int32_t teams[] = {1, 2, 3, 5};
    expected many;
    run_reference(&many, path, kv_type, MAX_TOKENS);
    const expected few = first_tokens(&many);
    const vouch_kernels *kernels;
    for (size_t i = first; (kernels = vouch_kernels_get(i)) != NULL; i++)
        for (size_t t = 0; t < sizeof teams / sizeof teams[0]; t++) {
            if (how != EVERY_OFFSET && t != i % 4) continue;
            loaded model = load(path, kernels, teams[t]);
            sweep_rows(&few, &model, kv_type, t == i % 4 ? how : THREE_OFFSETS);
            if (how != ONE_OFFSET || i > 0) sweep_chunks(&many, &model, kv_type, how);
            unload(&model);
        }
    free(many.logits);
}

static void a_row_has_the_same_bits_in_any_pass(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i += TEST_SANITIZED || test_is_quick() ? 3 : 1) {
        const char *path = test_temporary("shape.gguf");
        vouch_kv_type kv_types[MOST_KV_TYPES];
        tiny_model_write(path, &shapes[i]);
        for (int k = kv_types_of(i, kv_types); k-- > 0;) sweep_machines(path, kv_types[k], ONE_OFFSET, 0);
    }
}

/* Several rows in plain C, which takes long, are compared in one shape for each type. */
static void every_type_in_every_shape(void **state)
{
    (void)state;
    test_skip_slow();
    if (TEST_SANITIZED) test_skip("too slow with a sanitizer");
    bool is_compared[N_TYPES] = {false};
    for (int i = 0; i < N_SHAPES; i++)
        for (int t = 0; t < N_TYPES; t++) {
            if (vouch_type_get_info(types[t])->block_length == 256 && shapes[i].n_embd < 256) continue;
            const char *path = test_temporary("shape.gguf");
            tiny_model_options options = shapes[i];
            options.type = options.other = types[t];
            options.seed = 10 + (uint64_t)t;
            tiny_model_write(path, &options);
            vouch_kv_type kv_types[MOST_KV_TYPES];
            const int n = kv_types_of(i, kv_types);
            sweep_machines(path, kv_types[t % n], ONE_OFFSET, is_compared[t]);
            is_compared[t] = true;
        }
}

static void every_offset_and_team(void **state)
{
    (void)state;
    test_skip_slow();
    if (TEST_SANITIZED) test_skip("too slow with a sanitizer");
    for (int i = 0; i < 3; i++) {
        const char *path = test_temporary("shape.gguf");
        vouch_kv_type kv_types[MOST_KV_TYPES];
        tiny_model_write(path, &shapes[i]);
        for (int k = kv_types_of(i, kv_types); k-- > 0;) sweep_machines(path, kv_types[k], EVERY_OFFSET, 0);
    }
}

/* --------------------------------------------------- the comparison has teeth */

static void (*right_matmul)(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                            int64_t tile_end);

/* A wrong matmul: the last bit of one output differs, and only with two or more rows in the pass. */
static void matmul_by_rows(const vouch_matrix *w, const vouch_acts *x, vouch_result y, int64_t tile_begin,
                           int64_t tile_end)
{
    right_matmul(w, x, y, tile_begin, tile_end);
    if (x->n_rows > 1 && tile_begin == 0) y.y[y.row] = nextafterf(y.y[y.row], INFINITY);
}

/* A wrong softmax: it adds the second half first, the same numbers in another order. */
static float softmax_reordered(float *x, int64_t chunk, int64_t n)
{
    vouch_kernels_find("ref")->softmax(x, chunk, n);
    float sum = 0;
    for (int64_t j = n; j-- > 0;) sum += x[j / 16 * chunk + j % 16];
    return sum;
}

static void one_wrong_bit_is_noticed(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &(tiny_model_options){.type = VOUCH_TYPE_F32});
    expected e;
    run_reference(&e, path, VOUCH_KV_F32, SHORT);

    vouch_kernels by_rows = *vouch_kernels_find("ref");
    right_matmul = by_rows.matmul[VOUCH_TYPE_F32];
    by_rows.matmul[VOUCH_TYPE_F32] = matmul_by_rows;
    loaded model = load(path, &by_rows, 1);
    vouch_sequence s = open_sequence(&model, 2, VOUCH_KV_F32);
    assert_int_equal(count_differences(&e, &s, 0, 2) > 0, true);
    vouch_sequence_close(&s);
    unload(&model);

    vouch_kernels reordered = *vouch_kernels_find("ref");
    reordered.softmax = softmax_reordered;
    model = load(path, &reordered, 1);
    s = open_sequence(&model, 1, VOUCH_KV_F32);
    assert_int_equal(count_differences(&e, &s, 0, 1) > 0, true);
    vouch_sequence_close(&s);
    unload(&model);
    free(e.logits);
}

/* ------------------------------------------------------------------- trees */

enum { MAX_TREE = 24 };

typedef struct tree {
    int32_t n_vocab, tokens[MAX_TREE], parents[MAX_TREE], n;
    int32_t path[MAX_TREE], depth; /* from a root to some row */
} tree;

/* Fills a random tree, possibly with several roots and with equal siblings. */
static void tree_grow(tree *t, test_random *random, int32_t n_vocab)
{
    t->n_vocab = n_vocab;
    t->n = 2 + (int32_t)test_below(random, MAX_TREE - 2);
    for (int32_t i = 0; i < t->n; i++) {
        t->tokens[i] = (int32_t)test_below(random, (uint32_t)n_vocab);
        t->parents[i] = (int32_t)test_below(random, (uint32_t)i + 1) - 1;
    }
}

static void tree_walk(tree *t, int32_t row)
{
    t->depth = 0;
    for (int32_t r = row; r >= 0; r = t->parents[r]) t->depth++;
    for (int32_t r = row, at = t->depth; r >= 0; r = t->parents[r]) t->path[--at] = r;
}

/* Runs the path as a chain after n tokens in `chain`. Does its last row have the given logits? */
static bool path_is_chain(const vouch_sequence *chain, int32_t n, const tree *t, const float *logits)
{
    int32_t tokens[MAX_TREE];
    for (int32_t i = 0; i < t->depth; i++) tokens[i] = t->tokens[t->path[i]];
    vouch_memory_rewind(chain->memory, n);
    vouch_pass_chain(chain->pass, chain->memory, tokens, t->depth, 1);
    return memcmp(vouch_pass_logits(chain->pass, 0), logits, (size_t)t->n_vocab * sizeof *logits) == 0;
}

/* Runs the tree in one or several passes. Returns the logits of all rows. */
static float *tree_run(const vouch_sequence *c, const tree *t, test_random *random)
{
    static float logits[MAX_TREE * 400];
    const size_t n_vocab = (size_t)t->n_vocab;
    assert_true(n_vocab <= 400);
    for (int32_t at = 0, n; at < t->n; at += n) {
        n = 1 + (int32_t)test_below(random, (uint32_t)(t->n - at));
        vouch_pass_tree(c->pass, c->memory, t->tokens + at, t->parents + at, n, n);
        memcpy(logits + (size_t)at * n_vocab, vouch_pass_logits(c->pass, 0), (size_t)n * n_vocab * sizeof *logits);
    }
    return logits;
}

static void check_tree(const vouch_sequence *branched, const vouch_sequence *chain, int32_t n_vocab, int32_t n,
                       test_random *random)
{
    tree t;
    tree_grow(&t, random, n_vocab);
    const float *logits = tree_run(branched, &t, random);
    assert_int_equal(vouch_memory_n_tokens(branched->memory), n);
    for (int32_t row = 0; row < t.n; row++) {
        tree_walk(&t, row);
        assert_true(path_is_chain(chain, n, &t, logits + row * n_vocab));
    }
    /* The last row differs without its ancestors: so the comparison can fail. */
    if (t.parents[t.n - 1] >= 0) {
        tree_walk(&t, t.n - 1);
        t.path[0] = t.path[--t.depth];
        t.depth = 1;
        assert_false(path_is_chain(chain, n, &t, logits + (t.n - 1) * n_vocab));
    }
    const int32_t leaf = (int32_t)test_below(random, (uint32_t)t.n);
    tree_walk(&t, leaf);
    assert_true(path_is_chain(chain, n, &t, logits + leaf * n_vocab));
    vouch_memory_keep_path(branched->memory, t.path, t.depth);
    assert_int_equal(vouch_memory_n_tokens(branched->memory), n + t.depth);
    assert_true(vouch_memory_digest(branched->memory) == vouch_memory_digest(chain->memory));
}

static void check_trees(const char *path, const vouch_kernels *kernels, vouch_kv_type kv_type, uint64_t seed)
{
    loaded model = load(path, kernels, 1), other = load(path, kernels, 3);
    vouch_sequence chain = open_sequence(&model, MAX_TREE, kv_type);
    vouch_sequence branched = open_sequence(&other, MAX_TREE, kv_type);
    test_random random = {seed};
    const int32_t first = 3;
    vouch_pass_chain(chain.pass, chain.memory, &first, 1, 0);
    vouch_pass_chain(branched.pass, branched.memory, &first, 1, 0);
    for (int round = 0; round < 8 && vouch_memory_n_tokens(chain.memory) < MAX_TOKENS - MAX_TREE; round++)
        check_tree(&branched, &chain, model.weights->hparams.n_vocab, vouch_memory_n_tokens(chain.memory), &random);
    vouch_sequence_close(&chain);
    vouch_sequence_close(&branched);
    unload(&model);
    unload(&other);
}

static void a_tree_equals_its_chains(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *path = test_temporary("shape.gguf");
        vouch_kv_type kv_types[MOST_KV_TYPES];
        const int n = kv_types_of(i, kv_types);
        tiny_model_write(path, &shapes[i]);
        const vouch_kernels *kernels;
        for (size_t k = 0; (kernels = vouch_kernels_get(k)) != NULL; k++)
            for (int t = 0; t < n; t++) check_trees(path, kernels, kv_types[t], (uint64_t)i * 8 + k);
    }
}

/* A tree on an empty cache, and a tree whose rows are all dropped. */
static void a_tree_may_be_dropped_or_come_first(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[LLAMA_Q4_1]);
    loaded model = load(path, vouch_kernels_find(NULL), 1);
    vouch_sequence a = open_sequence(&model, 8, VOUCH_KV_F32), b = open_sequence(&model, 8, VOUCH_KV_F32);
    const int32_t tokens[] = {5, 6, 7}, roots[] = {-1, -1, 1}, kept[] = {1, 2};
    vouch_pass_tree(a.pass, a.memory, tokens, roots, 3, 1);
    vouch_pass_chain(b.pass, b.memory, tokens + 1, 2, 1);
    assert_memory_equal(vouch_pass_logits(a.pass, 0), vouch_pass_logits(b.pass, 0), 400 * sizeof(float));
    vouch_memory_keep_path(a.memory, kept, 2);
    const uint64_t digest = vouch_memory_digest(a.memory);
    assert_true(digest == vouch_memory_digest(b.memory));
    vouch_pass_tree(a.pass, a.memory, tokens, roots, 3, 1);
    vouch_memory_keep_path(a.memory, NULL, 0);
    assert_true(digest == vouch_memory_digest(a.memory));
    vouch_sequence_close(&a);
    vouch_sequence_close(&b);
    unload(&model);
}

/* ------------------------------------------------------------------ law L3 */

static void check_rewinding(const char *path, vouch_kv_type kv_type)
{
    expected e;
    run_reference(&e, path, kv_type, SHORT);
    loaded model = load(path, vouch_kernels_find(NULL), 2);
    vouch_sequence s = open_sequence(&model, MOST_ROWS, kv_type);
    test_random random = {7};
    for (int32_t at = 0; at < e.n;) {
        int32_t guesses[MOST_ROWS];
        const int32_t n_guesses = 1 + (int32_t)test_below(&random, MOST_ROWS - 1);
        const uint64_t before = vouch_memory_digest(s.memory);
        for (int32_t g = 0; g < n_guesses; g++) guesses[g] = (int32_t)test_below(&random, (uint32_t)e.n_vocab);
        vouch_pass_chain(s.pass, s.memory, guesses, n_guesses, n_guesses);
        assert_false(vouch_memory_digest(s.memory) == before);
        vouch_memory_rewind(s.memory, at);
        assert_true(vouch_memory_digest(s.memory) == before);
        int32_t rows = 1 + (int32_t)test_below(&random, 5);
        if (rows > e.n - at) rows = e.n - at;
        vouch_pass_chain(s.pass, s.memory, e.tokens + at, rows, rows);
        for (int32_t r = 0; r < rows; r++) assert_true(same_row(&e, at + r, vouch_pass_logits(s.pass, r)));
        at += rows;
    }
    assert_true(vouch_memory_digest(s.memory) == e.digest);
    vouch_sequence_close(&s);
    unload(&model);
    free(e.logits);
}

/* Runs random guesses at every position, then rewinds them. The logits of the tokens that follow have the
 * same bits as in a run without guesses. */
static void rewinding_leaves_no_trace(void **state)
{
    (void)state;
    for (int i = 0; i < N_SHAPES; i++) {
        const char *path = test_temporary("shape.gguf");
        vouch_kv_type kv_types[MOST_KV_TYPES];
        tiny_model_write(path, &shapes[i]);
        for (int k = kv_types_of(i, kv_types); k-- > 0;) check_rewinding(path, kv_types[k]);
    }
}

/* Asking for the logits of the last n rows only, or of none, gives the same logits and the same cache. */
static void logits_only_where_asked_for(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[LLAMA_Q4_1]);
    expected e;
    run_reference(&e, path, VOUCH_KV_F16, SHORT);
    loaded model = load(path, vouch_kernels_find(NULL), 2);
    vouch_sequence s = open_sequence(&model, SHORT, VOUCH_KV_F16);
    for (int32_t n_logits = 0; n_logits <= SHORT; n_logits++) {
        vouch_memory_rewind(s.memory, 0);
        vouch_pass_chain(s.pass, s.memory, e.tokens, SHORT, n_logits);
        for (int32_t i = 0; i < n_logits; i++)
            assert_true(same_row(&e, SHORT - n_logits + i, vouch_pass_logits(s.pass, i)));
        assert_true(vouch_memory_digest(s.memory) == e.digest);
    }
    vouch_sequence_close(&s);
    unload(&model);
    free(e.logits);
}

/* The last positions of the context work, even if n_ctx isn't a whole number of tiles. */
static void the_context_can_be_filled(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[QWEN3_F32_HEAD_6]);
    expected e;
    run_reference(&e, path, VOUCH_KV_F16, SHORT);
    loaded model = load(path, vouch_kernels_find(NULL), 1);
    for (int32_t n_ctx = SHORT - 17; n_ctx <= SHORT; n_ctx++) {
        const vouch_sequence_options options = {.n_ctx = n_ctx, .max_rows = n_ctx, .max_logits = 1};
        vouch_sequence s;
        assert_int_equal(vouch_sequence_open(&s, model.weights, model.pool, &options, NULL), VOUCH_OK);
        vouch_pass_chain(s.pass, s.memory, e.tokens, n_ctx, 1);
        assert_true(same_row(&e, n_ctx - 1, vouch_pass_logits(s.pass, 0)));
        vouch_sequence_close(&s);
    }
    unload(&model);
    free(e.logits);
}

/* Bytes of a context of 4,096 tokens. */
static double memory_of(const loaded *model, vouch_kv_type kv_type)
{
    const vouch_sequence_options options = {.n_ctx = 4096, .max_rows = 1, .max_logits = 1, .kv_type = kv_type};
    vouch_sequence s;
    assert_int_equal(vouch_sequence_open(&s, model->weights, model->pool, &options, NULL), VOUCH_OK);
    const size_t bytes = vouch_sequence_bytes(&s);
    vouch_sequence_close(&s);
    return (double)bytes;
}

/* A quantised cache takes the bytes that its type needs for keys and values. */
static void quantised_caches_are_small(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[QWEN3_Q8_0_HEAD_64]);
    loaded model = load(path, vouch_kernels_find(NULL), 1);
    const double values = 4096.0 * 2 * 2 * 64, f16 = memory_of(&model, VOUCH_KV_F16); /* 2 layers of 1 head */
    assert_true(fabs(memory_of(&model, VOUCH_KV_F32) - f16 - values * (4 - 2)) < 4096);
    assert_true(fabs(f16 - memory_of(&model, VOUCH_KV_Q8_0) - values * (2 - 34.0 / 32)) < 4096);
    assert_true(fabs(f16 - memory_of(&model, VOUCH_KV_Q4_0) - values * (2 - 18.0 / 32)) < 4096);
    unload(&model);
}

static void heads_of_partial_blocks_are_refused(void **state)
{
    (void)state;
    const char *path = test_temporary("shape.gguf");
    tiny_model_write(path, &shapes[QWEN3_Q4_1_HEAD_20]);
    loaded model = load(path, vouch_kernels_find(NULL), 1);
    static const vouch_kv_type kv_types[] = {VOUCH_KV_Q8_0, VOUCH_KV_Q4_0};
    for (int i = 0; i < 2; i++) {
        const vouch_sequence_options options = {.n_ctx = 8, .max_rows = 1, .max_logits = 1, .kv_type = kv_types[i]};
        vouch_sequence s;
        vouch_error err;
        assert_int_equal(vouch_sequence_open(&s, model.weights, model.pool, &options, &err), VOUCH_E_UNSUPPORTED);
        assert_true(!s.pages && !s.memory && !s.pass);
        assert_non_null(strstr(err.message, i ? "kv_type: Q4_0" : "kv_type: Q8_0"));
        assert_non_null(strstr(err.message, "of width 20"));
    }
    unload(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_same_bits_in_any_pass),
        cmocka_unit_test(every_type_in_every_shape),
        cmocka_unit_test(every_offset_and_team),
        cmocka_unit_test(one_wrong_bit_is_noticed),
        cmocka_unit_test(a_tree_equals_its_chains),
        cmocka_unit_test(a_tree_may_be_dropped_or_come_first),
        cmocka_unit_test(rewinding_leaves_no_trace),
        cmocka_unit_test(logits_only_where_asked_for),
        cmocka_unit_test(the_context_can_be_filled),
        cmocka_unit_test(quantised_caches_are_small),
        cmocka_unit_test(heads_of_partial_blocks_are_refused),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
