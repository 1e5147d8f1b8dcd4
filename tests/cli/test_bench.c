/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks: the options and outputs of `vouch bench`, the models that bench/synthetic writes, and bench/kernels. The
 * tests judge no figure; they check that each is present.
 */
#include "support/program/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/gguf.h"
#include "kernels/kernels.h"
#include "support/model/tiny_model.h"

static char model[256];

static int model_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("model.gguf"));
    tiny_model_write(model, &(tiny_model_options){.n_ctx = 256, .seed = 1});
    return 0;
}

/* ------------------------------------------------------------- vouch bench */

static double real(const json_t *object, const char *key)
{
    assert_true(json_is_real(json_object_get(object, key)));
    return json_real_value(json_object_get(object, key));
}

static void assert_measured(const json_t *entry)
{
    assert_true(real(entry, "seconds_min") > 0);
    assert_true(real(entry, "seconds_median") >= real(entry, "seconds_min"));
    assert_true(real(entry, "seconds_median") < 600);
}

static void curve_is_written(void **state)
{
    (void)state;
    static const int rows[] = {1, 3, 65};
    char path[256];
    strcpy(path, test_temporary("passes.json"));
    result r = RUN("bench", "-m", model, "--rows", "1,3,65", "--depth", "20", "--reps", "4", "--threads", "2",
                   "--kv-type", "f32", "--prefill", "30", "--decode", "7", "--json", path);
    assert_int_equal(r.status, 0);
    assert_string_equal(r.err, "");
    assert_non_null(strstr(r.out, "\n    65 "));
    assert_non_null(strstr(r.out, "prefill of 30 tokens: "));
    assert_non_null(strstr(r.out, "decode of 7 tokens: "));
    json_t *o = json_of(path);
    const json_t *passes = json_object_get(o, "passes");
    assert_int_equal(json_array_size(passes), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *pass = json_array_get(passes, i);
        char line[64];
        assert_int_equal(whole(pass, "rows"), rows[i]);
        assert_measured(pass);
        assert_true(real(pass, "bytes") > 0); /* without experts, a pass reads the same bytes for any number of rows */
        assert_true(real(pass, "bytes") == real(json_array_get(passes, 0), "bytes"));
        snprintf(line, sizeof line, "\n%6d %12.3f %12.3f %10.3f ", rows[i], real(pass, "seconds_median") * 1e3,
                 real(pass, "seconds_min") * 1e3,
                 real(pass, "seconds_median") / real(json_array_get(passes, 0), "seconds_median"));
        assert_non_null(strstr(r.out, line));
    }
    assert_int_equal(whole(json_object_get(o, "prefill"), "tokens"), 30);
    assert_measured(json_object_get(o, "prefill"));
    assert_int_equal(whole(json_object_get(o, "decode"), "tokens"), 7);
    assert_measured(json_object_get(o, "decode"));
    assert_int_equal(whole(o, "depth"), 20);
    assert_int_equal(whole(o, "reps"), 4);
    assert_int_equal(whole(o, "threads"), 2);
    assert_string_equal(json_string_value(json_object_get(o, "model")), model);
    assert_string_equal(json_string_value(json_object_get(o, "kv_type")), "f32");
    assert_true(json_is_string(json_object_get(o, "cpu")));
    json_decref(o);
    result_free(&r);
}

static void defaults_and_edges(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("few.json"));
    result r = RUN("bench", "-m", model, "--reps", "1");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "128 tokens before each pass"));
    assert_non_null(strstr(r.out, "\n    16 "));
    assert_null(strstr(r.out, "prefill"));
    result_free(&r);
    /* Without a pass of 1 row the ratio is missing. Depth 0, an empty cache, is valid. */
    r = RUN("bench", "-m", model, "--rows", "2", "--depth", "0", "--reps", "2", "--ctx", "3", "--cpu", "ref", "-j",
            path);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "          - "));
    result_free(&r);
    json_t *o = json_of(path);
    assert_null(json_object_get(o, "prefill"));
    assert_null(json_object_get(o, "decode"));
    assert_string_equal(json_string_value(json_object_get(o, "cpu")), "ref");
    json_decref(o);
    /* A depth beyond the trained context gives a warning and runs. */
    expect(RUN("bench", "-m", model, "--rows", "1", "--depth", "300", "--reps", "1"), 0, "trained for 256 tokens");
}

/* The ways of reading weights that --tune measured. A small model has none. */
static void readings_are_shown(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("kernels.json"));
    result r = RUN("bench", "-m", model, "--kernels", "-j", path);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "\nnone: the model has less than 16 MiB"));
    result_free(&r);
    json_t *o = json_of(path);
    assert_true(json_is_array(json_object_get(o, "kernels")));
    assert_int_equal(json_array_size(json_object_get(o, "kernels")), 0);
    json_decref(o);
    r = RUN("bench", "-m", model, "--kernels", "--tune", "off");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "--tune is off"));
    result_free(&r);
    expect(RUN("bench", "-m", model, "--kernels", "--tune", "maybe"), 2, "--tune 'maybe'");
}

static void wrong_usage_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[6];
        const char *says;
    } cases[] = {
        {{"bench"}, "--model FILE is missing"},
        {{"bench", "--rows", "0"}, "--rows '0': outside the range; expected ascending whole numbers"},
        {{"bench", "--rows", "1,0"}, "outside the range"},
        {{"bench", "--rows", "-1"}, "outside the range"},
        {{"bench", "--rows", "66"}, "in [1, 65]"},
        {{"bench", "--rows", "99999999999999999999"}, "outside the range"},
        {{"bench", "--rows", "4,2"}, "not ascending"},
        {{"bench", "--rows", "2,2"}, "repeated"},
        {{"bench", "--rows", "1,,2"}, "not a list"},
        {{"bench", "--rows", "1,"}, "not a list"},
        {{"bench", "--rows", ","}, "not a list"},
        {{"bench", "--rows", ""}, "not a list"},
        {{"bench", "--rows", "1 2"}, "not a list"},
        {{"bench", "--rows", "1, 2"}, "not a list"},
        {{"bench", "--rows", "1;2"}, "not a list"},
        {{"bench", "--rows", "1.5"}, "not a list"},
        {{"bench", "--rows", "all"}, "not a list"},
        {{"bench", "--rows"}, "--rows needs a value: --rows N,N,..."},
        {{"bench", "--rows", "1", "--rows", "2"}, "--rows is given twice"},
        {{"bench", "--depth", "-1"}, "--depth '-1': outside"},
        {{"bench", "--depth", "1000001"}, "--depth '1000001': outside"},
        {{"bench", "--depth", "64", "--ctx", "64"}, "--ctx 64: --depth, --rows, --prefill and --decode need 81"},
        {{"bench", "--prefill", "80", "--ctx=81", "--depth=0"}, "--prefill and --decode need 82"},
        {{"bench", "--decode", "80", "--ctx=80", "--depth=0"}, "--prefill and --decode need 81"},
        {{"bench", "--reps", "0"}, "--reps '0': outside"},
        {{"bench", "--reps", "1001"}, "[1, 1000]"},
        {{"bench", "--prefill", "x"}, "--prefill 'x': not a whole number"},
        {{"bench", "--decode", "-5"}, "--decode '-5': outside"},
        {{"bench", "--threads", "0"}, "[1, 256]"},
        {{"bench", "--kv-type", "q3"}, "--kv-type 'q3': expected one of f16"},
        {{"bench", "--cpu", "z80"}, "--cpu 'z80': expected one that this machine has"},
        {{"bench", "--json", ""}, "--json '': the value is empty"},
        {{"bench", "--prompt", "x"}, "--prompt is a flag of `vouch run`"},
        {{"run", "--rows", "1"}, "--rows is a flag of `vouch bench`"},
        {{"bnech"}, "did you mean bench?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        result r = run_as(&(setting){0}, "vouch", cases[i].arguments);
        if (r.status != 2 || !strstr(r.err, cases[i].says))
            print_error("expected '%s', got: %s\n", cases[i].says, r.err);
        assert_int_equal(r.status, 2);
        assert_int_equal(r.n_out, 0);
        assert_non_null(strstr(r.err, cases[i].says));
        result_free(&r);
    }
    result r = RUN("bench", "--help");
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "1,2,4,5,8,16"));
    assert_non_null(strstr(r.out, "Examples"));
    result_free(&r);
}

static void outputs_that_fail(void **state)
{
    (void)state;
    char path[256], absent[256];
    size_t n;
    strcpy(path, test_temporary("old.json"));
    strcpy(absent, test_temporary("absent.gguf"));
    write_whole(path, "old", 3);
    expect(RUN("bench", "-m", absent), 2, absent);
    /* The command checks output paths before it even opens the model. */
    expect(RUN("bench", "-m", absent, "--json", "/nowhere/at/all.json"), 2, "--json: /nowhere/at/all.json");
    expect(RUN("bench", "-m", absent, "--json", "/"), 2, "--json: /: Is a directory");
    const setting limited = {.out = "/dev/null", .file_limit = 64};
    expect(run_as(&limited, "vouch", ARGUMENTS("bench", "-m", model, "--reps", "1", "--json", path)), 1, "--json: ");
    char *content = read_whole(path, &n);
    assert_string_equal(content, "old");
    free(content);
    if (has_full_disk()) expect(RUN("bench", "-m", model, "--reps", "1", "--json", "/dev/full"), 1, "No space left");
    const setting full = {.out = "/dev/full"};
    expect(run_as(&full, "vouch", ARGUMENTS("bench", "-m", model, "--reps", "1")), 1, "standard output: No space");
}

/* -------------------------------------------------------- synthetic models */

static void shapes_are_written(void **state)
{
    (void)state;
    char path[256], again[256], text[256];
    vouch_gguf *gguf, *copy;
    vouch_error err;
    strcpy(path, test_temporary("synthetic.gguf"));
    strcpy(again, test_temporary("again.gguf"));
    strcpy(text, test_temporary("text"));
    write_whole(text, "what is written here does not matter, only that it is long enough for a chunk", 77);
    const char *const *const lines[] = {
        ARGUMENTS("--shape", "smollm2-135m", "--type", "Q4_0", "--head", "Q8_0", "--layers", "1", "--out", path),
        ARGUMENTS("--shape", "smollm2-135m", "--type", "Q4_0", "--head", "Q8_0", "--layers", "1", "--out", again),
    };
    for (size_t i = 0; i < 2; i++) expect(run_as(&(setting){0}, "bench/synthetic", lines[i]), 0, NULL);
    if (vouch_gguf_open(&gguf, path, &err)) fail_msg("%s", err.message);
    if (vouch_gguf_open(&copy, again, &err)) fail_msg("%s", err.message);
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    const vouch_gguf_tensor *same = vouch_gguf_find_tensor(copy, "token_embd.weight");
    assert_int_equal(tensor->type, VOUCH_TYPE_Q8_0);
    assert_int_equal(tensor->dim[1], 49152);
    assert_memory_equal(tensor->data, same->data, tensor->bytes);
    assert_int_equal(vouch_gguf_find_tensor(gguf, "blk.0.ffn_down.weight")->type, VOUCH_TYPE_Q4_0);
    assert_null(vouch_gguf_find_tensor(gguf, "blk.1.ffn_down.weight"));
    vouch_gguf_close(gguf);
    vouch_gguf_close(copy);
    /* The model runs, and its perplexity is finite. */
    result r = RUN("perplexity", "-m", path, "--file", text, "--ctx", "8");
    assert_int_equal(r.status, 0);
    const char *last = strstr(r.out, "\nperplexity: ");
    assert_non_null(last);
    assert_true(isfinite(strtod(last + 13, NULL)));
    result_free(&r);
    expect(RUN("bench", "-m", path, "--reps", "1", "--depth", "4"), 0, NULL);

    const char *synthetic = "bench/synthetic";
    expect(run_as(&(setting){0}, synthetic, ARGUMENTS("--shape", "x", "--type", "F16", "--out", path)), 2,
           "--shape 'x'");
    expect(run_as(&(setting){0}, synthetic, ARGUMENTS("--shape", "qwen3-4b", "--type", "Q9", "--out", path)), 2,
           "Q8_0");
    expect(run_as(&(setting){0}, synthetic, ARGUMENTS("--shape", "qwen3-4b", "--out", path)), 2,
           "--type TYPE is missing");
    if (has_full_disk())
        expect(run_as(&(setting){0}, synthetic,
                      ARGUMENTS("--shape", "qwen3-4b", "--type", "Q8_0", "--layers", "1", "--out", "/dev/full")),
               1, "No space left");
}

/* A padded model says what the small one says. Two of its KV heads' copies, an added layer and all other zeros change
 * nothing; the weights are F16 as before, so only sums round differently. */
static void a_padded_model_writes_the_same(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("padded.gguf"));
    const char *inflate = "bench/inflate";
    expect(run_as(&(setting){0}, inflate,
                  ARGUMENTS("-m", model, "--shape", "qwen3-0.6b", "--type", "F16", "--layers", "6", "--out", path)),
           0, NULL);
    result small = RUN("run", "-m", model, "--raw", "-p", "Once upon a time", "-n", "60", "--temp", "0");
    result large = RUN("run", "-m", path, "--raw", "-p", "Once upon a time", "-n", "60", "--temp", "0");
    assert_int_equal(small.status, 0);
    assert_int_equal(large.status, 0);
    assert_true(strlen(small.out) > 60);
    assert_string_equal(small.out, large.out);
    result_free(&small);
    result_free(&large);
    expect(run_as(&(setting){0}, inflate,
                  ARGUMENTS("-m", model, "--shape", "qwen3-0.6b", "--type", "F16", "--layers", "1", "--out", path)),
           1, "--layers");
    expect(run_as(&(setting){0}, inflate,
                  ARGUMENTS("-m", model, "--shape", "qwen3-4b", "--type", "IQ1_S", "--out", path)),
           2, "--type 'IQ1_S'");
    expect(run_as(&(setting){0}, inflate,
                  ARGUMENTS("-m", null_device(), "--shape", "qwen3-4b", "--type", "F16", "--out", path)),
           1, null_device());
    expect(run_as(&(setting){0}, inflate, ARGUMENTS("--shape", "qwen3-4b", "--type", "F16", "--out", path)), 2,
           "--model FILE is missing");
}

/* A matrix of every type has mean 0 and standard deviation 1 / sqrt(inputs), as the generator promises. */
static void values_are_sane(void **state)
{
    (void)state;
    test_skip_slow();
    enum { N_IN = 1536, N_OUT = 576 };
    static float row[N_IN];
    char path[256];
    strcpy(path, test_temporary("values.gguf"));
    for (uint32_t type = 0; type < VOUCH_TYPE_COUNT; type++) {
        if (!vouch_type_get_info(type)) continue;
        const char *name = vouch_type_get_info(type)->name;
        vouch_gguf *gguf;
        vouch_matrix matrix;
        double sum = 0, squares = 0;
        expect(run_as(&(setting){0}, "bench/synthetic",
                      ARGUMENTS("-s", "smollm2-135m", "-t", name, "--head", "Q8_0", "--layers", "1", "-o", path)),
               0, NULL);
        assert_int_equal(vouch_gguf_open(&gguf, path, NULL), VOUCH_OK);
        const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "blk.0.ffn_down.weight");
        assert_int_equal(tensor->type, type);
        assert_true(vouch_matrix_shape(&matrix, (vouch_type)type, N_OUT, N_IN));
        matrix.data = aligned_alloc(64, vouch_matrix_bytes(&matrix));
        assert_non_null(matrix.data);
        vouch_matrix_pack(&matrix, tensor->data, 0, matrix.n_tiles);
        for (int64_t r = 0; r < N_OUT; r++) {
            vouch_matrix_get_row(&matrix, r, row);
            for (int i = 0; i < N_IN; i++) sum += (double)row[i], squares += (double)row[i] * (double)row[i];
        }
        const double n = (double)N_IN * N_OUT, deviation = sqrt(squares / n * N_IN), mean = sum / n * sqrt(N_IN);
        if (!(deviation > 0.9 && deviation < 1.1 && fabs(mean) < 0.15))
            fail_msg("%s: mean %g, deviation %g", name, mean, deviation);
        free(matrix.data);
        vouch_gguf_close(gguf);
    }
}

/* ------------------------------------------------------------------ kernels */

static void kernels_are_measured(void **state)
{
    (void)state;
    static const char *const names[] = {"attn_q, attn_output", "attn_k, attn_v", "ffn_gate, ffn_up", "ffn_down",
                                        "head"};
    static const int counts[] = {60, 60, 60, 30, 1};
    char path[256];
    strcpy(path, test_temporary("kernels.json"));
    const char *kernels = "bench/kernels";
    expect(run_as(&(setting){0}, kernels,
                  ARGUMENTS("--types", "Q8_0", "--shapes", "smollm2-135m", "--rows", "1,17", "--reps", "2", "--set",
                            "1", "--threads", "2", "--json", path)),
           0, NULL);
    json_t *o = json_of(path);
    const json_t *all = json_object_get(o, "kernels");
    assert_int_equal(json_array_size(all), 5);
    for (size_t i = 0; i < 5; i++) {
        const json_t *one = json_array_get(all, i), *rows = json_object_get(one, "rows");
        assert_string_equal(json_string_value(json_object_get(one, "matrix")), names[i]);
        assert_int_equal(whole(one, "count"), counts[i]);
        assert_int_equal(json_array_size(rows), 2);
        const double bytes = (double)whole(one, "bytes"), macs = (double)(whole(one, "n_out") * whole(one, "n_in"));
        for (size_t r = 0; r < 2; r++) {
            const json_t *row = json_array_get(rows, r);
            const double by_memory = bytes / real(one, "read_bytes_per_second");
            const double by_peak = (double)whole(row, "rows") * macs / real(one, "peak_macs_per_second");
            const double share = fmax(by_memory, by_peak) / real(row, "seconds_median");
            assert_true(fabs(real(row, "share") - share) <= 1e-9 * share);
            assert_string_equal(json_string_value(json_object_get(row, "bound")),
                                by_memory >= by_peak ? "memory" : "arithmetic");
        }
    }
    assert_int_equal(json_array_size(json_object_get(o, "together")), 2);
    json_decref(o);
    expect(run_as(&(setting){0}, kernels, ARGUMENTS("--types", "Q8_0,Q9")), 2, "--types 'Q9': expected F32, F16");
    expect(run_as(&(setting){0}, kernels, ARGUMENTS("--shapes", "tiny")), 2, "--shapes 'tiny': expected smollm2-135m");
    expect(run_as(&(setting){0}, kernels, ARGUMENTS("--rows", "8,1")), 2, "not ascending");
    expect(run_as(&(setting){0}, kernels, ARGUMENTS("--cpu", "z80")), 2, "--cpu 'z80'");
    expect(run_as(&(setting){0}, kernels, ARGUMENTS("--json", "/nowhere/at/all.json")), 2, "--json: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_is_written),
        cmocka_unit_test(defaults_and_edges),
        cmocka_unit_test(readings_are_shown),
        cmocka_unit_test(wrong_usage_is_named),
        cmocka_unit_test(outputs_that_fail),
        cmocka_unit_test(shapes_are_written),
        cmocka_unit_test(a_padded_model_writes_the_same),
        cmocka_unit_test(values_are_sane),
        cmocka_unit_test(kernels_are_measured),
    };
    return cmocka_run_group_tests(tests, model_write, NULL);
}
