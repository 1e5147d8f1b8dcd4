/* SPDX-License-Identifier: MIT */
/*
 * vouch_quantize and its parts. Blocks have the bytes that ggml writes (golden/quantize.py), every tensor has the type
 * that llama-quantize chooses (golden/mixes.py), and a file holds the same keys and tensors as its source. Bad input
 * gives an error and no file.
 *
 * `test_quantize FOLDER` writes the files of the mixes, 0.gguf, 1.gguf, ..., for golden/mixes.py.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/mix.h"
#include "golden/dequantize.h"
#include "golden/mixes.h"
#include "golden/quantize.h"
#include "kernels/quantize.h"
#include "support/program/command.h"
#include "support/model/gguf.h"
#include "support/mutate.h"
#include "support/model/tiny_model.h"

enum { N_VALUES = sizeof quantize_values / sizeof quantize_values[0] };

/* ------------------------------------------------------------------- blocks */

#define MADE_TYPES(X) \
    X(F16) X(BF16) X(Q8_0) X(Q4_0) X(Q4_1) X(Q5_0) X(Q5_1) X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS) \
    X(TQ1_0) X(TQ2_0) X(MXFP4)
#define QUANTIZED(type) {VOUCH_TYPE_##type, quantize_##type, sizeof quantize_##type},
static const struct {
    vouch_type type;
    const unsigned char *blocks;
    size_t size;
} quantized[] = {MADE_TYPES(QUANTIZED)};
enum { N_QUANTIZED = sizeof quantized / sizeof quantized[0] };

static float *values_copy(void)
{
    float *x = malloc(sizeof quantize_values);
    assert_non_null(x);
    memcpy(x, quantize_values, sizeof quantize_values);
    return x;
}

static void blocks_are_those_of_ggml(void **state)
{
    (void)state;
    float *x = values_copy();
    unsigned char *blocks = malloc(sizeof quantize_values);
    for (int i = 0; i < N_QUANTIZED; i++) {
        const vouch_type_info *info = vouch_type_get_info(quantized[i].type);
        assert_true(vouch_type_can_quantize(quantized[i].type));
        assert_int_equal(quantized[i].size, N_VALUES / info->block_length * info->block_bytes);
        memset(blocks, 0xa5, quantized[i].size);
        vouch_quantize_values(quantized[i].type, x, N_VALUES, blocks);
        for (size_t at = 0; at < quantized[i].size; at++)
            if (blocks[at] != quantized[i].blocks[at])
                fail_msg("%s: byte %zu of block %zu differs", info->name, at % (size_t)info->block_bytes,
                         at / (size_t)info->block_bytes);
    }
    free(blocks);
    free(x);
}

/* Any number of blocks: one, a tile of 16, more than a tile. */
static void values_are_those_of_gguf_py(void **state)
{
    (void)state;
#define DEQUANTIZED(type) {VOUCH_TYPE_##type, blocks_##type, values_##type, sizeof values_##type / sizeof(uint32_t)},
    static const struct {
        vouch_type type;
        const unsigned char *blocks;
        const uint32_t *values;
        int64_t n;
    } samples[] = {DEQUANTIZED(F16) DEQUANTIZED(BF16) VOUCH_QUANTIZED_TYPES(DEQUANTIZED)};
    float x[512];
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const int64_t step = vouch_type_get_info(samples[i].type)->block_length;
        assert_true(samples[i].n <= 512);
        for (int64_t n = step; n <= samples[i].n; n += step) {
            memset(x, 0x55, sizeof x);
            vouch_dequantize_values(samples[i].type, samples[i].blocks, n, x);
            assert_memory_equal(x, samples[i].values, (size_t)n * sizeof *x);
        }
    }
}

/* The root mean square error of normal values, relative to their deviation, is at most 3 % above the value measured
 * once. An error below half of that value would be too good to be true. */
static void errors_are_small(void **state)
{
    (void)state;
    static const struct {
        vouch_type type;
        double most;
    } bounds[] = {{VOUCH_TYPE_Q8_0, 0.0057},   {VOUCH_TYPE_Q6_K, 0.0188}, {VOUCH_TYPE_Q5_K, 0.0377},
                  {VOUCH_TYPE_Q5_1, 0.0395},   {VOUCH_TYPE_Q5_0, 0.0446}, {VOUCH_TYPE_Q4_K, 0.0746},
                  {VOUCH_TYPE_Q4_1, 0.0815},   {VOUCH_TYPE_Q4_0, 0.0909}, {VOUCH_TYPE_IQ4_NL, 0.0785},
                  {VOUCH_TYPE_IQ4_XS, 0.0793}, {VOUCH_TYPE_Q3_K, 0.159},  {VOUCH_TYPE_Q2_K, 0.314},
                  {VOUCH_TYPE_MXFP4, 0.119}};
    enum { N = 4096 };
    static float x[N], back[N];
    static unsigned char blocks[N * 2];
    test_random random = {7};
    for (int i = 0; i < N; i++) x[i] = test_normal(&random);
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        double error = 0, power = 0;
        vouch_quantize_values(bounds[i].type, x, N, blocks);
        vouch_dequantize_values(bounds[i].type, blocks, N, back);
        for (int k = 0; k < N; k++) {
            error += ((double)x[k] - (double)back[k]) * ((double)x[k] - (double)back[k]);
            power += (double)x[k] * (double)x[k];
        }
        const double relative = sqrt(error / power);
        if (relative > bounds[i].most || relative < bounds[i].most / 2)
            fail_msg("%s: %.4f", vouch_type_get_info(bounds[i].type)->name, relative);
    }
}

/* -------------------------------------------------------------------- mixes */

/* A model's shape. Its matrices have two rows of zeros: mixes look at names and row lengths alone. */
typedef struct shape {
    const char *arch;
    uint32_t n_layers, n_heads, n_kv_heads, n_experts;
    int64_t n_embd;
    bool tied;
    const char *const *matrices; /* of a layer, ended by NULL */
} shape;

static const char
    *const split[] = {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", NULL},
           *const experts[] = {"attn_q",        "attn_k",      "attn_v",        "attn_output", "ffn_gate_inp",
                               "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps", NULL},
           *const fused[] = {"attn_qkv", "attn_output", "ffn_up", "ffn_down", NULL}, *const small[] = {"attn_v", NULL};

static const shape shapes[] = {
    {"llama", 32, 32, 8, 0, 256, false, split}, /* a dense model whose query heads share keys */
    {"qwen2", 9, 4, 2, 0, 96, true, split},     /* rows that are not whole blocks of 256 */
    {"llama", 10, 32, 8, 8, 256, false, experts}, {"llama", 80, 64, 8, 0, 256, true, small}, /* of 70 billion */
    {"falcon", 32, 8, 1, 0, 512, false, fused},   {"llama", 3, 5, 5, 0, 100, false, split},  /* not even whole of 32 */
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };
_Static_assert((int)N_SHAPES == (int)N_GOLDEN_SHAPES, "run golden/mixes.py");

static void shape_int(vouch_gguf_writer *w, const shape *s, const char *key, uint32_t value)
{
    char name[96];
    snprintf(name, sizeof name, "%s.%s", s->arch, key);
    vouch_gguf_add_u32(w, name, value);
}

static void shape_matrix(vouch_gguf_writer *w, const shape *s, const char *name)
{
    static const float zeros[2048];
    const bool is_norm = strstr(name, "_norm") != NULL, is_stack = strstr(name, "_exps") != NULL;
    const int64_t dim[] = {s->n_embd, is_norm ? 1 : 2, 2};
    char full[64];
    snprintf(full, sizeof full, "%s.weight", name);
    vouch_gguf_add_tensor(w, full, VOUCH_TYPE_F32, is_norm ? 1 : is_stack ? 3 : 2, dim, zeros);
}

static void *shape_write(const shape *s, size_t *size)
{
    char name[64];
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "general.architecture", s->arch);
    shape_int(w, s, "block_count", s->n_layers);
    shape_int(w, s, "context_length", 512);
    shape_int(w, s, "embedding_length", (uint32_t)s->n_embd);
    shape_int(w, s, "feed_forward_length", 512);
    shape_int(w, s, "attention.head_count", s->n_heads);
    shape_int(w, s, "attention.head_count_kv", s->n_kv_heads);
    shape_int(w, s, "vocab_size", 2);
    if (s->n_experts) shape_int(w, s, "expert_count", s->n_experts);
    if (s->n_experts) shape_int(w, s, "expert_used_count", 2);
    snprintf(name, sizeof name, "%s.attention.layer_norm_%sepsilon", s->arch, strcmp(s->arch, "falcon") ? "rms_" : "");
    vouch_gguf_add_f32(w, name, 1e-5f);
    shape_matrix(w, s, "token_embd");
    for (uint32_t i = 0; i < s->n_layers; i++)
        for (size_t k = 0; s->matrices[k]; k++) {
            snprintf(name, sizeof name, "blk.%u.%s", i, s->matrices[k]);
            shape_matrix(w, s, name);
        }
    shape_matrix(w, s, "output_norm");
    if (!s->tied) shape_matrix(w, s, "output");
    return writer_finish(w, size);
}

/* Checks the types of one mix and shape: golden is the name of each tensor's type, in the file's order. */
static void mix_check(const vouch_gguf *gguf, const vouch_mix_options *options, const char *golden, const char *what)
{
    const size_t n = vouch_gguf_n_tensors(gguf);
    uint32_t types[1024];
    size_t n_fallback;
    assert_true(n <= 1024);
    assert_int_equal(vouch_mix_assign(gguf, options, types, &n_fallback, NULL), VOUCH_OK);
    for (size_t i = 0; i < n; i++) {
        const char *name = vouch_type_get_info(types[i])->name;
        const vouch_text *tensor = &vouch_gguf_get_tensor(gguf, i)->name;
        if (strncmp(golden, name, strlen(name)) != 0 || golden[strlen(name)] != ' ')
            fail_msg("%s: %.*s is %s; llama-quantize has %.10s", what, (int)tensor->size, tensor->data, name, golden);
        golden += strlen(name) + 1;
    }
    assert_int_equal(*golden, 0);
}

/* golden_mixes holds runs of equal types: "Q6_K*3 F32 ". Returns the list without runs; the caller frees it. */
static char *runs_expand(const char *runs)
{
    char *list = calloc(1, 16384), *end = list;
    while (*runs) {
        char name[16];
        int count = 1, used;
        assert_int_equal(sscanf(runs, "%15[^* ]%n", name, &used), 1);
        runs += used;
        if (*runs == '*') count = (int)strtol(runs + 1, (char **)(uintptr_t)&runs, 10);
        for (int i = 0; i < count; i++) end += sprintf(end, "%s ", name);
        assert_int_equal(*runs++, ' ');
    }
    return list;
}

static void types_are_those_of_llama_quantize(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden_mixes / sizeof golden_mixes[0]; i++) {
        size_t size;
        void *bytes = shape_write(&shapes[golden_mixes[i].shape], &size);
        vouch_gguf *gguf = open_bytes(bytes, size);
        const vouch_mix_options options = {.mix = vouch_mix_find(golden_mixes[i].mix), .pure = golden_mixes[i].pure};
        char what[64];
        snprintf(what, sizeof what, "shape %d, %s", golden_mixes[i].shape, golden_mixes[i].mix);
        assert_non_null(options.mix);
        char *list = runs_expand(golden_mixes[i].types);
        mix_check(gguf, &options, list, what);
        free(list);
        vouch_gguf_close(gguf);
        free(bytes);
    }
}

static void mixes_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; vouch_quantize_type(i); i++) {
        assert_string_equal(vouch_mix_find(vouch_quantize_type(i))->name, vouch_quantize_type(i));
        assert_true(vouch_type_can_quantize(vouch_mix_at(i)->type));
    }
    assert_string_equal(vouch_mix_find("q4_k")->name, "Q4_K_M");
    assert_string_equal(vouch_mix_find("q8_0")->name, "Q8_0");
    assert_null(vouch_mix_find("Q4"));
    assert_null(vouch_mix_find(""));
    assert_null(vouch_mix_find("Q2_K_S")); /* needs an importance matrix */
}

/* -------------------------------------------------------------------- files */

static char source[256], folder[256], out[300];

static int files_write(void **state)
{
    (void)state;
    strcpy(source, test_temporary("source.gguf"));
    strcpy(folder, test_temporary("out"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(out, sizeof out, "%s/o.gguf", folder);
    tiny_model_write(source, &(tiny_model_options){.n_embd = 256, .n_ff = 288, .n_experts = 3, .n_used = 2});
    return 0;
}

static int folder_count(void)
{
    DIR *stream = opendir(folder);
    int n = 0;
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));) n += entry->d_name[0] != '.';
    closedir(stream);
    return n;
}

static vouch_gguf *file_open(const char *path)
{
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_gguf_open(&gguf, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
    return gguf;
}

/* The new tensor holds the source's values in its own type, whatever pieces and threads made it. */
static void tensor_check(const vouch_gguf_tensor *new, const vouch_gguf_tensor *old)
{
    const int64_t n = old->dim[0] * old->dim[1] * old->dim[2] * old->dim[3];
    unsigned char *expected = malloc(new->bytes);
    assert_non_null(expected);
    assert_int_equal(old->type, VOUCH_TYPE_F32);
    vouch_quantize_values((vouch_type) new->type, old->data, n, expected);
    assert_memory_equal(new->data, expected, new->bytes);
    free(expected);
}

/* All keys but the two that are set anew, and all tensors, in the source's order. */
static void file_check(const char *path, const char *type)
{
    vouch_gguf *old = file_open(source), *new = file_open(path);
    const size_t n = vouch_gguf_n_kv(old);
    assert_int_equal(vouch_gguf_n_kv(new), n + 2);
    for (size_t i = 0; i < n; i++) {
        const vouch_text x = vouch_gguf_key(old, i, NULL), y = vouch_gguf_key(new, i, NULL);
        assert_int_equal(x.size, y.size);
        assert_memory_equal(x.data, y.data, x.size);
    }
    assert_int_equal(get_int(new, "general.quantization_version"), 2);
    assert_int_equal(get_int(new, "general.file_type"), vouch_mix_find(type)->file_type);
    assert_int_equal(vouch_gguf_n_tensors(new), vouch_gguf_n_tensors(old));
    for (size_t i = 0; i < vouch_gguf_n_tensors(old); i++) {
        const vouch_gguf_tensor *x = vouch_gguf_get_tensor(old, i), *y = vouch_gguf_get_tensor(new, i);
        assert_int_equal(x->name.size, y->name.size);
        assert_memory_equal(x->name.data, y->name.data, x->name.size);
        assert_memory_equal(x->dim, y->dim, sizeof x->dim);
        tensor_check(y, x);
    }
    vouch_gguf_close(new);
    vouch_gguf_close(old);
}

/* Among the matrices are stacks of experts, and rows of 288 values, which are not whole blocks of 256. The file also
 * loads as a model. */
static void files_hold_the_converted_tensors(void **state)
{
    (void)state;
    static const char *const types[] = {"Q8_0", "Q4_K_M", "F16", "bf16", "Q2_K", "mxfp4_moe"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            vouch_model *model;
            expect(RUN("quantize", source, out, types[i], "--threads", threads == 1 ? "1" : "3", "--force"), 0,
                   "tensors converted");
            file_check(out, types[i]);
            assert_int_equal(vouch_model_open(&model, out, NULL, NULL), VOUCH_OK);
            vouch_model_close(model);
        }
    assert_int_equal(folder_count(), 1);
    unlink(out);
}

static uint32_t type_of(const char *path, const char *tensor)
{
    vouch_gguf *gguf = file_open(path);
    assert_non_null(vouch_gguf_find_tensor(gguf, tensor));
    const uint32_t type = vouch_gguf_find_tensor(gguf, tensor)->type;
    vouch_gguf_close(gguf);
    return type;
}

static void types_can_be_chosen(void **state)
{
    (void)state;
    expect(RUN("quantize", source, out, "Q4_0", "--output-type", "F16", "--embedding-type", "q6_k"), 0, NULL);
    assert_int_equal(type_of(out, "output.weight"), VOUCH_TYPE_F16);
    assert_int_equal(type_of(out, "token_embd.weight"), VOUCH_TYPE_Q6_K);
    assert_int_equal(type_of(out, "blk.0.attn_q.weight"), VOUCH_TYPE_Q4_0);
    assert_int_equal(type_of(out, "blk.0.ffn_gate_inp.weight"), VOUCH_TYPE_F32);
    expect(RUN("quantize", source, out, "Q4_0", "--pure", "--force"), 0, NULL);
    assert_int_equal(type_of(out, "output.weight"), VOUCH_TYPE_Q4_0);
    unlink(out);
}

/* Quantised input needs --allow-requantize; then its values are quantised. Tensors of the wanted type are copied. */
static void quantised_input_is_refused(void **state)
{
    (void)state;
    char again[300];
    snprintf(again, sizeof again, "%s/again.gguf", folder);
    expect(RUN("quantize", source, out, "Q8_0"), 0, NULL);
    expect(RUN("quantize", out, again, "Q4_K"), 1, "is quantised already (Q8_0)");
    assert_int_equal(folder_count(), 1);
    expect(RUN("quantize", out, again, "Q8_0"), 0, "0 of ");
    expect(RUN("quantize", out, again, "Q4_0", "--allow-requantize", "--pure", "--force"), 0, NULL);
    vouch_gguf *eight = file_open(out), *four = file_open(again);
    const vouch_gguf_tensor *x = vouch_gguf_find_tensor(eight, "blk.1.attn_q.weight"),
                            *y = vouch_gguf_find_tensor(four, "blk.1.attn_q.weight");
    const int64_t n = x->dim[0] * x->dim[1];
    float *values = malloc((size_t)n * sizeof *values);
    unsigned char *expected = malloc(y->bytes);
    vouch_dequantize_values(VOUCH_TYPE_Q8_0, x->data, n, values);
    vouch_quantize_values(VOUCH_TYPE_Q4_0, values, n, expected);
    assert_memory_equal(y->data, expected, y->bytes);
    free(expected);
    free(values);
    vouch_gguf_close(four);
    vouch_gguf_close(eight);
    unlink(again);
    unlink(out);
}

static void bad_input_leaves_no_file(void **state)
{
    (void)state;
    char bad[256];
    size_t n;
    strcpy(bad, test_temporary("bad.gguf"));
    expect(RUN("quantize", source, out, "Q4"), 2, "type 'Q4': expected one of TQ1_0, ");
    expect(RUN("quantize", source, out, "IQ1_S"), 2, "type 'IQ1_S': expected one of");
    expect(RUN("quantize", source, out), 2, "TYPE is missing");
    expect(RUN("quantize", source), 2, "OUT is missing");
    expect(RUN("quantize", source, out, "Q4_0", "more"), 2, "unexpected argument 'more'");
    expect(RUN("quantize", source, source, "Q4_0"), 2, "is the model itself");
    expect(RUN("quantize", source, out, "Q4_0", "--output-type", "Q9"), 2, "output_type 'Q9': expected a tensor type");
    expect(RUN("quantize", source, "/nowhere/at/all", "Q4_0"), 1, "/nowhere/at/all");
    expect(RUN("quantize", source, folder, "Q4_0"), 1, folder);
    tiny_model_write(bad, &(tiny_model_options){.n_embd = 96});
    expect(RUN("quantize", bad, out, "Q4_0", "--output-type", "Q6_K"), 1, "has rows of 96 values; type Q6_K needs");
    tiny_model_write(bad, &(tiny_model_options){.poison = 5});
    expect(RUN("quantize", bad, out, "Q4_0"), 1, "tensor 'token_embd.weight' has the value");
    char *bytes = read_whole(source, &n);
    write_whole(bad, bytes, n / 2);
    free(bytes);
    expect(RUN("quantize", bad, out, "Q4_0"), 1, "is the download complete?");
    expect(run_as(&(setting){.file_limit = 50000}, "vouch", ARGUMENTS("quantize", source, out, "Q8_0")), 1,
           strerror(EFBIG));
    assert_int_equal(folder_count(), 0);
    write_whole(out, "precious", 8);
    expect(RUN("quantize", source, out, "Q8_0"), 1, "exists already");
    bytes = read_whole(out, &n);
    assert_string_equal(bytes, "precious");
    free(bytes);
    unlink(out);
}

/* The next writer removes what a killed one has left, and nothing else. */
static void killed_writers_leave_nothing(void **state)
{
    (void)state;
    if (test_is_windows()) test_skip("Wine doesn't see this program's lock");
    static const char *const names[] = {".4711-0.part", ".4712-13.part", ".4713-0.part",
                                        ".part",        ".a-0.part",     ".4714-0.party"};
    char paths[6][400];
    struct stat info;
    for (size_t i = 0; i < 6; i++) {
        snprintf(paths[i], sizeof paths[i], "%s%s", out, names[i]);
        write_whole(paths[i], "half", 4);
    }
    const int held = open(paths[2], O_WRONLY); /* its writer lives */
    assert_int_equal(flock(held, LOCK_EX), 0);
    expect(RUN("quantize", source, out, "Q8_0"), 0, NULL);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(stat(paths[i], &info) == 0, i >= 2);
        unlink(paths[i]);
    }
    close(held);
    assert_int_equal(folder_count(), 1);
    unlink(out);
}

/* Rows of 80 values are not whole blocks of 32. */
static void one_matrix_is_no_matrices(void **state)
{
    (void)state;
    char odd[256];
    strcpy(odd, test_temporary("odd.gguf"));
    tiny_model_write(odd, &(tiny_model_options){.n_layers = 1, .n_ff = 80});
    expect(RUN("quantize", odd, out, "Q8_0"), 0, "1 matrix has a type with smaller blocks than Q8_0, because its rows");
    tiny_model_write(odd, &(tiny_model_options){.n_layers = 2, .n_ff = 80});
    expect(RUN("quantize", odd, out, "Q8_0", "--force"), 0, "2 matrices have a type with smaller blocks than Q8_0,");
    unlink(out);
}

/* F32 holds every value of every type, so nothing is lost. */
static void f32_needs_no_permission(void **state)
{
    (void)state;
    char eight[400], whole[400];
    snprintf(eight, sizeof eight, "%s.q8", out);
    snprintf(whole, sizeof whole, "%s.f32", out);
    expect(RUN("quantize", source, eight, "Q8_0"), 0, NULL);
    expect(RUN("quantize", eight, whole, "F16"), 1, "costs quality");
    expect(RUN("quantize", eight, whole, "F32"), 0, NULL);
    result a = RUN("run", "--temp", "0", eight, "--raw", "x", "-n", "9"), b = RUN("info", whole);
    assert_non_null(strstr(b.out, "weights           F32 100.0 %"));
    result_free(&a), result_free(&b);
    unlink(eight);
    unlink(whole);
}

/* Damaged files are quantised or refused, and never crash (law L5). */
static void damaged_files_do_not_crash(void **state)
{
    (void)state;
    static const char *const words[] = {"llama", "block_count", "head_count", "expert_count", "blk.", "weight", NULL};
    char bad[256];
    size_t size;
    int n_refused = 0;
    mutator m;
    uint8_t *good = shape_write(&shapes[2], &size);
    vouch_quantize_options options = vouch_quantize_options_default();
    options.allow_requantize = true;
    options.n_threads = 1;
    strcpy(bad, test_temporary("damaged.gguf"));
    mutator_open(&m, good, size, words, 3);
    for (int i = 0; i < 1000; i++) {
        vouch_error err = {VOUCH_OK, ""};
        mutator_next(&m);
        write_whole(bad, m.bytes, m.n);
        const vouch_status status = vouch_quantize(bad, "/dev/null", &options, NULL, &err);
        assert_int_equal(status, err.code);
        n_refused += status != VOUCH_OK;
    }
    assert_true(n_refused > 100 && n_refused < 1000);
    mutator_close(&m);
    free(good);
}

static bool cancel(void *user)
{
    return ++*(int *)user == 5;
}

static void a_cancelled_call_leaves_no_file(void **state)
{
    (void)state;
    int asked = 0;
    vouch_error err;
    vouch_quantize_options options = vouch_quantize_options_default();
    options.is_cancelled = cancel;
    options.user = &asked;
    assert_int_equal(vouch_quantize(source, out, &options, NULL, &err), VOUCH_E_CANCELLED);
    assert_int_equal(asked, 5);
    assert_int_equal(folder_count(), 0);
}

/* For golden/mixes.py. */
static int shapes_write(const char *where)
{
    for (int i = 0; i < N_SHAPES; i++) {
        size_t size;
        char path[512];
        void *bytes = shape_write(&shapes[i], &size);
        snprintf(path, sizeof path, "%s/%d.gguf", where, i);
        write_whole(path, bytes, size);
        free(bytes);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_those_of_ggml),   cmocka_unit_test(values_are_those_of_gguf_py),
        cmocka_unit_test(errors_are_small),           cmocka_unit_test(types_are_those_of_llama_quantize),
        cmocka_unit_test(mixes_are_found_by_name),    cmocka_unit_test(files_hold_the_converted_tensors),
        cmocka_unit_test(types_can_be_chosen),        cmocka_unit_test(quantised_input_is_refused),
        cmocka_unit_test(bad_input_leaves_no_file),   cmocka_unit_test(killed_writers_leave_nothing),
        cmocka_unit_test(one_matrix_is_no_matrices),  cmocka_unit_test(f32_needs_no_permission),
        cmocka_unit_test(damaged_files_do_not_crash), cmocka_unit_test(a_cancelled_call_leaves_no_file),
    };
    if (argc == 2) return shapes_write(argv[1]);
    return cmocka_run_group_tests(tests, files_write, NULL);
}
