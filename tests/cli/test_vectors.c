/* SPDX-License-Identifier: MIT */
/*
 * `vouch check --vectors` has to pass with the files in docs/vectors, which `--write-vectors` writes byte for byte. It
 * has to fail with a wrong number in them, and in a build that adds one sum in another order (tests/broken/order.c).
 * Other files are refused.
 */
#include "support/program/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vouch.h"

#define FOLDER  "docs/vectors/"
#define VECTORS FOLDER "vectors.json"
static const char *const files[] = {"vectors.json", "llama.gguf", "qwen35.gguf"};
enum { N_FILES = sizeof files / sizeof *files };

static int n_tables(void)
{
    int n = 0;
    while (vouch_cpu_name((size_t)n)) n++;
    return n;
}

/* ------------------------------------------------------------------- verdicts */

static const json_t *part_of(const json_t *report, size_t i)
{
    return json_array_get(json_object_get(report, "laws"), i);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Runs a build with vectors and reads its report, which has two parts. The caller frees it. */
static json_t *check_run(const char *build, const char *vectors, int status)
{
    const char *path = test_temporary("report.json");
    result r = run_as(&(setting){0}, build, ARGUMENTS("check", "--vectors", vectors, "--json", path));
    if (r.status != status) print_error("%s: %s\n%s\n", build, r.out, r.err);
    assert_int_equal(r.status, status);
    assert_true((strstr(r.out, "This build gives the bits of these vectors.") != NULL) == (status == 0));
    assert_true((strstr(r.out, "Broken here: L1.") != NULL) == (status == 1));
    result_free(&r);
    json_t *report = json_of(path);
    assert_int_equal(json_array_size(json_object_get(report, "laws")), 2);
    assert_string_equal(text_of(part_of(report, 0), "name"), "float order");
    assert_string_equal(text_of(part_of(report, 1), "name"), "tiny models");
    assert_string_equal(text_of(report, "vectors"), vectors);
    assert_null(json_object_get(report, "digests"));
    return report;
}

/* Each result of each operation, and each model, on each table. */
static void this_build_gives_the_vectors(void **state)
{
    (void)state;
    json_t *vectors = json_of(VECTORS), *report = check_run("vouch", VECTORS, 0);
    const json_t *operations = json_object_get(vectors, "operations");
    int n = 0;
    for (size_t i = 0; i < json_array_size(operations); i++)
        n += (int)json_object_size(json_object_get(json_array_get(operations, i), "results"));
    assert_true(n > 60);
    assert_int_equal(whole(part_of(report, 0), "comparisons"), n * n_tables());
    assert_int_equal(whole(part_of(report, 1), "comparisons"), 2 * n_tables());
    for (size_t i = 0; i < 2; i++) assert_string_equal(text_of(part_of(report, i), "verdict"), "holds");
    json_decref(vectors);
    json_decref(report);
}

static void they_are_written_byte_for_byte(void **state)
{
    (void)state;
    result r = RUN("check", "--write-vectors", test_temporary(files[0]));
    assert_int_equal(r.status, 0);
    for (int i = 0; i < N_FILES; i++) {
        char path[64];
        size_t n, n_expected;
        snprintf(path, sizeof path, FOLDER "%s", files[i]);
        char *bytes = read_whole(test_temporary(files[i]), &n), *expected = read_whole(path, &n_expected);
        assert_non_null(strstr(r.err, files[i]));
        assert_int_equal(n, n_expected);
        assert_memory_equal(bytes, expected, n);
        free(bytes);
        free(expected);
    }
    result_free(&r);
}

/* How many mismatches of the part contain the text. */
static int count(const json_t *report, size_t part, const char *text)
{
    const json_t *all = json_object_get(part_of(report, part), "mismatches");
    int n = 0;
    for (size_t i = 0; i < json_array_size(all); i++)
        n += strstr(json_string_value(json_array_get(all, i)), text) != NULL;
    return n;
}

/* The tables agree with each other, yet every one of them is wrong. */
static void another_order_is_noticed(void **state)
{
    (void)state;
    const int n = n_tables();
    json_t *report = check_run("tests/broken/order", VECTORS, 1);
    assert_true(count(report, 0, ", softmax: sum 0 is 0x") >= n);
    assert_int_equal(count(report, 0, ", softmax: y "), 0);
    assert_int_equal(count(report, 0, ", attention F16: y "), n);
    assert_int_equal(count(report, 0, "ref: ") * n, whole(part_of(report, 0), "broken"));
    assert_int_equal(count(report, 1, "llama.gguf: logit "), n);
    assert_int_equal(count(report, 1, "qwen35.gguf: logit "), n);
    json_decref(report);
}

/* ---------------------------------------------------------------- other files */

/* One change of the vectors. `operation`: in the first vector of this name; NULL: in the first model; "": in the file.
 * `object`: in the vector's "inputs" or "results"; NULL: in the vector. */
typedef struct change {
    const char *operation, *object, *member;
    const char *value; /* JSON; NULL: the member is left out */
} change;

static json_t *find(json_t *vectors, const change *c)
{
    json_t *vector = vectors;
    if (!c->operation) vector = json_array_get(json_object_get(vectors, "models"), 0);
    else if (*c->operation) {
        const json_t *all = json_object_get(vectors, "operations");
        size_t i = 0;
        while (strcmp(text_of(json_array_get(all, i), "operation"), c->operation) != 0) i++;
        vector = json_array_get(all, i);
    }
    return c->object ? json_object_get(vector, c->object) : vector;
}

/* Writes the changed vectors. The path is valid for the next 7 calls of test_temporary. */
static const char *change_write(const change *c)
{
    const char *path = test_temporary("changed.json");
    json_t *vectors = json_of(VECTORS), *object = find(vectors, c);
    if (c->value) json_object_set_new(object, c->member, json_loads(c->value, JSON_DECODE_ANY, NULL));
    else assert_int_equal(json_object_del(object, c->member), 0);
    assert_int_equal(json_dump_file(vectors, path, 0), 0);
    json_decref(vectors);
    return path;
}

/* Puts the models beside the changed vectors. */
static void models_write(void)
{
    expect(RUN("check", "--write-vectors", test_temporary("vectors.json")), 0, NULL);
}

static void wrong_numbers_are_named(void **state)
{
    (void)state;
    static const struct {
        change change;
        size_t part;
        const char *says;
    } cases[] = {
        {{"rmsnorm", "inputs", "eps", "\"3f800000\""}, 0, ": operations[0], rmsnorm: factor 0 is 0x"},
        {{"rmsnorm", "results", "factor", "\"3f800000\""}, 0, ", expected 0x3f800000 (1)"},
        {{"exp weights", "results", "sum", "\"3ff8000000000000\""}, 0, ", expected 0x3ff8000000000000 (1.5)"},
        {{"exp weights", "results", "largest", "\"76\""}, 0, "exp weights: largest 0 is 0x"},
        {{NULL, NULL, "cache", "\"Q8_0\""}, 1, ": llama.gguf: logit "},
        {{NULL, NULL, "tokens", "[0,5,20,45,80,40,10,75,65,65,75,10,40,80,45,20,5,0,5,20,45,80,40,11]"},
         1,
         ": llama.gguf: logit 22"},
    };
    models_write();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *report = check_run("vouch", change_write(&cases[i].change), 1);
        assert_int_equal(count(report, cases[i].part, cases[i].says), n_tables());
        assert_string_equal(text_of(part_of(report, 1 - cases[i].part), "verdict"), "holds");
        json_decref(report);
    }
}

/* Each message names the file, the vector and the member. */
static void wrong_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        change change;
        const char *says;
    } cases[] = {
        {{"", NULL, "format", NULL}, "changed.json: format is missing"},
        {{"", NULL, "format", "\"other vectors\""}, "format is 'other vectors', expected 'vouch vectors'"},
        {{"", NULL, "version", "2"}, "version is 2, expected 1 to 1"},
        {{"", NULL, "operations", "{}"}, "operations is an object, expected an array"},
        {{"", NULL, "operations", "[7]"}, "operations[0]: operation is missing"},
        {{"rmsnorm", NULL, "operation", "\"gelu\""}, "operations[0]: operation is 'gelu', which is unknown"},
        {{"rmsnorm", NULL, "n", "0"}, "operations[0]: n is 0, expected 1 to 600"},
        {{"rmsnorm", NULL, "n", "601"}, "operations[0]: n is 601, expected 1 to 600"},
        {{"rmsnorm", NULL, "n", "299"}, "operations[0]: x has more than 299 elements, expected 299"},
        {{"rmsnorm", NULL, "n", "301"}, "operations[0]: x has only 300 elements, expected 301"},
        {{"rmsnorm", "inputs", "x", "7"}, "x is an integer, expected a string"},
        {{"rmsnorm", "inputs", "weight", NULL}, "weight is missing"},
        {{"rmsnorm", NULL, "results", NULL}, "y is missing"},
        {{"rmsnorm", "inputs", "eps", "\"3727c5a\""}, "eps[0] is '3727c5a', expected 8 hexadecimal digits"},
        {{"rmsnorm", "inputs", "eps", "\"3727C5AC\""}, "eps[0] is '3727C5AC', expected 8 hexadecimal digits"},
        {{"rmsnorm", "inputs", "eps", "\"3727c5ac \""}, "eps has more than 1 elements, expected 1"},
        {{"rmsnorm", "inputs", "eps", "\"\""}, "eps has only 0 elements, expected 1"},
        {{"exp weights", "results", "largest", "\"16777217\""}, "largest[0] is '16777217', expected an integer"},
        {{"exp weights", "results", "largest", "\"-\""}, "largest[0] is '-', expected an integer"},
        {{"angles", "inputs", "base", "\"7f800000\""}, "base[0] is inf, expected a finite number above 0"},
        {{"angles", "inputs", "base", "\"c6000000\""}, "base[0] is -8192, expected a finite number above 0"},
        {{"rope", NULL, "n", "31"}, "n is 31, expected a multiple of 2"},
        {{"rope", NULL, "half_split", "2"}, "half_split is 2, expected 0 to 1"},
        {{"matmul", NULL, "type", "\"Q7_Z\""}, "type is 'Q7_Z', which this operation doesn't have"},
        {{"matmul", NULL, "type", "\"Q8_0\""}, "n_in is 77, expected a multiple of 32"},
        {{"matmul", "inputs", "weights", "\"0g\""}, "weights[0] is '0g', expected 2 hexadecimal digits"},
        {{"attention", NULL, "type", "\"Q4_K\""}, "type is 'Q4_K', which this operation doesn't have"},
        {{NULL, NULL, "file", "\"../llama.gguf\""}, "models[0]: file is '../llama.gguf', expected the name of a file"},
        {{NULL, NULL, "file", "\"absent.gguf\""}, "absent.gguf: can't open"},
        {{NULL, NULL, "file", "\"qwen35.gguf\""}, "another or a damaged file"},
        {{NULL, NULL, "cache", "\"Q5_0\""}, "cache is 'Q5_0', expected F16, F32, Q8_0 or Q4_0"},
        {{NULL, NULL, "tokens", "[]"}, "tokens has 0 elements, expected 1 to 512"},
        {{NULL, NULL, "tokens", "[0, -1]"}, "tokens[1]: expected an integer from 0 to 2147483647"},
        {{NULL, NULL, "tokens", "[96]"}, "96"},
        {{NULL, NULL, "logits", "\"3f800000\""}, "models[0]: logits has only 1 elements, expected 2304"},
    };
    models_write();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(RUN("check", "--vectors", change_write(&cases[i].change)), 2, cases[i].says);
    const char *path = test_temporary("short.json");
    write_whole(path, "{\"format\": \"vo", 14);
    expect(RUN("check", "--vectors", path), 2, "short.json: line 1, column");
    expect(RUN("check", "--vectors", test_temporary("absent.json")), 2, "absent.json: can't open");
    expect(RUN("check", "--vectors", FOLDER "llama.gguf"), 2, "llama.gguf: line 1, column");
    expect(RUN("check", "--vectors", FOLDER), 2, "vectors");
}

static void usage_is_checked(void **state)
{
    (void)state;
    expect(RUN("check", "--vectors", VECTORS, "Makefile"), 2, "--vectors takes no model; leave out 'Makefile'");
    expect(RUN("check", "--vectors", VECTORS, "--law", "L1"), 2, "--vectors and --law exclude each other");
    expect(RUN("check", "--system", "--vectors", VECTORS), 2, "--system and --vectors exclude each other");
    expect(RUN("check", "--vectors", VECTORS, "--write-vectors", "x.json"), 2,
           "--vectors and --write-vectors exclude each other");
    expect(RUN("check", "--write-vectors", "x.json", "--json", "y.json"), 2,
           "--write-vectors and --json exclude each other: nothing is checked");
    expect(RUN("check", "--write-vectors", "absent/x.json"), 2, "absent");
    write_whole(test_temporary("llama.gguf"), "mine", 4);
    expect(RUN("check", "--write-vectors", test_temporary("v.json")), 2, "llama.gguf: is another file");
    expect(RUN("check", "--write-vectors", test_temporary("llama.gguf")), 2, "llama.gguf: a model gets this name");
    assert_int_not_equal(remove(test_temporary("v.json")), 0); /* nothing was written */
    assert_int_equal(remove(test_temporary("llama.gguf")), 0);
    if (has_full_disk()) expect(RUN("check", "--vectors", VECTORS, "--json", "/dev/full"), 1, "No space left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_build_gives_the_vectors), cmocka_unit_test(they_are_written_byte_for_byte),
        cmocka_unit_test(another_order_is_noticed),     cmocka_unit_test(wrong_numbers_are_named),
        cmocka_unit_test(wrong_files_are_refused),      cmocka_unit_test(usage_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
