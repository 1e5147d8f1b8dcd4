/* SPDX-License-Identifier: MIT */
/*
 * `vouch check --system` has to pass in this build. In each broken build (tests/broken) it has to fail and to name what
 * is wrong. `vouch info --machine` has to show the instruction sets that the check has tried.
 */
#include "support/program/command.h"

#include <string.h>

#include "support/model/tiny_model.h"
#include "vouch.h"

enum { KERNELS, ORDER, MODELS, GUESSES, PARTS };
static const char *const laws[PARTS] = {"L1", "L1", "L1", "L2"};
static const char *const names[PARTS] = {"kernels", "float order", "tiny models", "with guesses"};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Runs a build and reads its report. expected: the verdict of each part. The caller frees the report. */
static json_t *check_run(const char *build, int status, const char *const expected[PARTS])
{
    char path[256];
    strcpy(path, test_temporary("system.json"));
    result r = run_as(&(setting){0}, build, ARGUMENTS("check", "--system", "--json", path));
    if (r.status != status) print_error("%s: %s\n%s\n", build, r.out, r.err);
    assert_int_equal(r.status, status);
    assert_true((strstr(r.out, "This build gives the bits") != NULL) == (status == 0));
    assert_true((strstr(r.out, "Broken here: ") != NULL) == (status == 1));
    result_free(&r);
    json_t *report = json_of(path);
    const json_t *parts = json_object_get(report, "laws");
    assert_int_equal(json_array_size(parts), PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        const json_t *part = json_array_get(parts, i);
        assert_string_equal(text_of(part, "law"), laws[i]);
        assert_string_equal(text_of(part, "name"), names[i]);
        assert_string_equal(text_of(part, "verdict"), expected[i]);
        const json_int_t n_broken = whole(part, "broken");
        assert_int_equal(json_array_size(json_object_get(part, "mismatches")), n_broken < 100 ? n_broken : 100);
        assert_true((n_broken > 0) == (strcmp(expected[i], "broken") == 0));
    }
    return report;
}

/* How many mismatches of the part contain both texts. */
static int count_mismatches(const json_t *report, int part, const char *first, const char *second)
{
    const json_t *texts = json_object_get(json_array_get(json_object_get(report, "laws"), (size_t)part), "mismatches");
    int n = 0;
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        n += strstr(text, first) && strstr(text, second);
    }
    return n;
}

static const char *kernels_verdict(void)
{
    return vouch_cpu_name(1) ? "holds" : "not covered";
}

static void this_build_passes(void **state)
{
    (void)state;
    json_t *report = check_run("vouch", 0, (const char *const[]){kernels_verdict(), "holds", "holds", "holds"});
    const json_t *digests = json_object_get(report, "digests");
    assert_true(json_object_size(digests) >= 60);
    assert_int_equal(strlen(text_of(digests, "matmul Q4_K")), 16);
    assert_int_equal(strlen(text_of(digests, "llama Q4_K logits")), 16);
    assert_string_equal(text_of(json_object_get(report, "machine"), "version"), vouch_version());
    json_decref(report);
}

/* A wrong table is named with operation, type, shape and both values; a wrong plain C by its digest. */
static void broken_tables_are_named(void **state)
{
    (void)state;
    const bool has_vectors = vouch_cpu_name(1) != NULL;
    json_t *report =
        check_run("tests/broken/tables", 1,
                  (const char *const[]){has_vectors ? "broken" : "not covered", "broken", "holds", "holds"});
    assert_int_equal(count_mismatches(report, ORDER, "ref: rope: the digest is ", "expected "), 1);
    assert_int_equal(count_mismatches(report, ORDER, "", ""), 1);
    if (has_vectors) {
        char begin[64];
        snprintf(begin, sizeof begin, "%s: matmul Q4_K, [", vouch_cpu_name(1));
        const int n = count_mismatches(report, KERNELS, begin, "times 5 rows, from 0: number 3 is 0x");
        assert_int_equal(n, 3); /* one for each shape */
        assert_int_equal(count_mismatches(report, KERNELS, begin, ""), n);
        assert_true(count_mismatches(report, KERNELS, ": rope, a row of ", "expected 0x") > 0);
    }
    json_decref(report);
}

static void wrong_digests_are_named(void **state)
{
    (void)state;
    json_t *report =
        check_run("tests/broken/digests", 1, (const char *const[]){kernels_verdict(), "broken", "broken", "holds"});
    assert_int_equal(count_mismatches(report, ORDER, "", ""), 2);
    assert_int_equal(count_mismatches(report, ORDER, "ref: softmax: the digest is ", "expected "), 1);
    assert_int_equal(count_mismatches(report, ORDER, "ref: cache Q8_0: ", "has none of this name"), 1);
    int n_tables = 0;
    while (vouch_cpu_name((size_t)n_tables)) n_tables++;
    assert_int_equal(count_mismatches(report, MODELS, ": mamba F32 logits: the digest is ", "expected "), n_tables);
    assert_int_equal(count_mismatches(report, MODELS, "", ""), n_tables);
    json_decref(report);
}

/* Kernels whose results depend on the rows of a pass give other logits; a rollback that leaves a trace, and a wrong
 * judge, show where guesses are. */
static void broken_models_are_named(void **state)
{
    (void)state;
    test_skip_slow();
    const char *usual = kernels_verdict();
    json_t *report = check_run("tests/broken/kernels", 1, (const char *const[]){usual, "holds", "broken", "broken"});
    assert_true(count_mismatches(report, MODELS, "ref: llama Q4_K logits: the digest is ", "expected ") == 1);
    json_decref(report);
    report = check_run("tests/broken/rollback", 1, (const char *const[]){usual, "holds", "holds", "broken"});
    assert_true(count_mismatches(report, GUESSES, "ref: ", "with guesses, ") > 0);
    json_decref(report);
    report = check_run("tests/broken/judge", 1, (const char *const[]){usual, "holds", "holds", "broken"});
    assert_true(count_mismatches(report, GUESSES, ", greedy: with guesses, token ", ", expected ") > 0);
    json_decref(report);
}

static void usage_is_checked(void **state)
{
    (void)state;
    expect(RUN("check", "--system", "Makefile"), 2, "--system takes no model; leave out 'Makefile'");
    expect(RUN("check", "--system", "--law", "L1"), 2, "--system and --law exclude each other");
    expect(RUN("check", "--system", "--cpu", "ref"), 2, "--system and --cpu exclude each other");
    if (has_full_disk()) expect(RUN("check", "--system", "--json", "/dev/full"), 1, "No space left");
    if (has_full_disk()) expect(RUN("info", "--machine", "--json", "/dev/full"), 1, "No space left");
    expect(RUN("info", "--machine", "-m", "some.gguf"), 2, "--machine and --model exclude each other");
    expect(RUN("info", "-m", "some.gguf", "--json", "x.json"), 2, "--json: expected --machine beside it");
}

/* ------------------------------------------------------------------ machine */

static void machine_is_shown(void **state)
{
    (void)state;
    char path[256], line[200] = "available here    ";
    strcpy(path, test_temporary("machine.json"));
    result r = RUN("info", "--machine", "--json", path);
    assert_int_equal(r.status, 0);
    json_t *machine = json_of(path);
    size_t n = 0;
    for (; vouch_cpu_name(n); n++) {
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", n ? ", " : "", vouch_cpu_name(n));
        assert_string_equal(json_string_value(json_array_get(json_object_get(machine, "available"), n)),
                            vouch_cpu_name(n));
    }
    assert_non_null(strstr(r.out, line));
    snprintf(line, sizeof line, "instruction set   %s\n", vouch_cpu_name(n - 1));
    assert_non_null(strstr(r.out, line));
    assert_string_equal(text_of(machine, "cpu"), vouch_cpu_name(n - 1));
    snprintf(line, sizeof line, "version           vouch %s\n", vouch_version());
    assert_non_null(strstr(r.out, line));
    snprintf(line, sizeof line, ", %d usable\n", vouch_cpu_count());
    assert_non_null(strstr(r.out, line));
    assert_int_equal(whole(machine, "n_processors"), vouch_cpu_count());
    assert_string_equal(json_string_value(json_array_get(json_object_get(machine, "built"), 0)), "ref");
    assert_true(json_array_size(json_object_get(machine, "built")) >= n);
    assert_true(json_is_boolean(json_object_get(json_object_get(machine, "parts"), "server")));
    json_decref(machine);
    result_free(&r);
}

/* A build whose vector kernels this processor can't run says so once, unless the user chose plain C. */
static void plain_builds_say_so(void **state)
{
    (void)state;
    static const char note[] = "this build has no vector kernels that this processor can run";
    char model[256], draft[256];
    strcpy(model, test_temporary("model.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1});
    tiny_model_write(draft, &(tiny_model_options){.seed = 1, .noise = 0.02f});
    result r = run_as(&(setting){0}, "tests/broken/plain", ARGUMENTS("run", model, "-d", draft, "-p", "x", "-n", "2"));
    assert_int_equal(r.status, 0);
    const char *first = strstr(r.err, note);
    assert_non_null(first);
    assert_null(strstr(first + 1, note));
    result_free(&r);
    r = run_as(&(setting){0}, "tests/broken/plain", ARGUMENTS("run", model, "-p", "x", "-n", "2", "--cpu", "ref"));
    assert_int_equal(r.status, 0);
    assert_null(strstr(r.err, note));
    result_free(&r);
    r = run_as(&(setting){0}, "tests/broken/plain", ARGUMENTS("info", "--machine"));
    assert_non_null(strstr(r.out, "instruction set   ref, plain C: this build has no vector kernels"));
    result_free(&r);
    if (vouch_cpu_name(1)) {
        r = RUN("run", model, "-p", "x", "-n", "2");
        assert_null(strstr(r.err, note));
        result_free(&r);
    }
    json_decref(check_run("tests/broken/plain", 0, (const char *const[]){"not covered", "holds", "holds", "holds"}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_build_passes),       cmocka_unit_test(broken_tables_are_named),
        cmocka_unit_test(wrong_digests_are_named), cmocka_unit_test(broken_models_are_named),
        cmocka_unit_test(usage_is_checked),        cmocka_unit_test(machine_is_shown),
        cmocka_unit_test(plain_builds_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
