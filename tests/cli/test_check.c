/* SPDX-License-Identifier: MIT */
/*
 * `vouch check` passes on every instruction set of this machine. It finds the broken law in each of the broken builds
 * (tests/broken).
 */
#include "support/program/command.h"

#include <stdio.h>
#include <string.h>

#include "support/model/tiny_model.h"
#include "vouch.h"

static char model[256], draft[256];

/* The laws to check. Tests never judge speed, so they leave out L4. */
#define UNTIMED "L1,L2,L3"

static int models_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("model.gguf"));
    strcpy(draft, test_temporary("draft.gguf"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1, .type = VOUCH_TYPE_Q8_0});
    tiny_model_write(draft, &(tiny_model_options){.seed = 1, .type = VOUCH_TYPE_Q8_0, .noise = 0.02f, .noise_seed = 2});
    return 0;
}

/* The report has five verdicts: L1, L2 for greedy text, L2 for sampled text, L3, L4. */
enum { LAWS = 5 };
static void verdicts_read(const char *path, const char *verdicts[LAWS], json_t **report)
{
    static const char *const names[LAWS] = {"L1", "L2", "L2", "L3", "L4"};
    *report = json_of(path);
    const json_t *laws = json_object_get(*report, "laws");
    assert_int_equal(json_array_size(laws), LAWS);
    for (size_t i = 0; i < LAWS; i++) {
        const json_t *law = json_array_get(laws, i);
        assert_string_equal(json_string_value(json_object_get(law, "law")), names[i]);
        verdicts[i] = json_string_value(json_object_get(law, "verdict"));
        if (strcmp(verdicts[i], "not covered") != 0) assert_true(whole(law, "comparisons") > 0);
    }
}

static void every_processor_passes(void **state)
{
    (void)state;
    test_skip_slow();
    char path[256];
    const char *verdicts[LAWS];
    json_t *report;
    strcpy(path, test_temporary("laws.json"));
    for (size_t i = 0; vouch_cpu_name(i); i++) {
        result r = RUN("check", "-m", model, "-d", draft, "--cpu", vouch_cpu_name(i), "--threads", "2", "--seconds",
                       "0.3", "--law", UNTIMED, "--json", path);
        if (r.status != 0) print_error("%s\n%s\n", r.out, r.err);
        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.out, vouch_cpu_name(i)));
        assert_non_null(strstr(r.out, "Every law that was tried holds here."));
        result_free(&r);
        verdicts_read(path, verdicts, &report);
        for (size_t law = 0; law < LAWS - 1; law++) assert_string_equal(verdicts[law], "holds");
        assert_string_equal(json_string_value(json_object_get(report, "cpu")), vouch_cpu_name(i));
        json_decref(report);
    }
}

/* `vouch check` must fail for a broken build and name the broken law. Other laws may break with it, but not
 * `holding`. */
static void broken_is_found(const char *build, size_t law, const char *name, size_t holding)
{
    char path[256];
    const char *verdicts[LAWS];
    json_t *report;
    strcpy(path, test_temporary("broken.json"));
    result r = run_as(&(setting){0}, build,
                      ARGUMENTS("check", "-m", model, "--law", UNTIMED, "--seconds", "0.3", "--json", path));
    if (r.status != 1) print_error("%s: %s\n%s\n", build, r.out, r.err);
    assert_int_equal(r.status, 1);
    const char *broken = strstr(r.out, "Broken here: ");
    assert_non_null(broken);
    assert_non_null(strstr(broken, name));
    result_free(&r);
    verdicts_read(path, verdicts, &report);
    assert_string_equal(verdicts[law], "broken");
    assert_string_equal(verdicts[holding], "holds");
    json_decref(report);
}

static void broken_judge_is_found(void **state)
{
    (void)state;
    broken_is_found("tests/broken/judge", 1, "L2", 0);
    broken_is_found("tests/broken/judge", 2, "L2", 0);
}

static void broken_joint_rules_are_found(void **state)
{
    (void)state;
    broken_is_found("tests/broken/joint", 2, "L2", 0);
}

static void broken_rollback_is_found(void **state)
{
    (void)state;
    broken_is_found("tests/broken/rollback", 3, "L3", 0);
}

static void broken_kernels_are_found(void **state)
{
    (void)state;
    broken_is_found("tests/broken/kernels", 0, "L1", 2);
}

/* Runs `vouch check --json` and reads the report's "covered" text of a law, which lists what the check
 * compared. The text must contain `says`, and must not contain `not`. */
static void assert_covered(size_t law, const char *seconds, const char *draft_model, const char *says, const char * not)
{
    char path[256];
    strcpy(path, test_temporary("covered.json"));
    const char *arguments[] = {"check",     "-m",    model,    "--law", "L1,L2",
                               "--seconds", seconds, "--json", path,    draft_model ? "-d" : NULL,
                               draft_model, NULL};
    expect(run_as(&(setting){0}, "vouch", arguments), 0, NULL);
    json_t *report = json_of(path);
    const char *covered =
        json_string_value(json_object_get(json_array_get(json_object_get(report, "laws"), law), "covered"));
    if (!strstr(covered, says) || strstr(covered, not)) fail_msg("%s", covered);
    json_decref(report);
}

static void verdicts_say_what_was_compared(void **state)
{
    (void)state;
    test_skip_slow();
    /* In 0 seconds only the first cases run: one pass, and three drafters, or four with a draft model. */
    assert_covered(0, "0", NULL, "ref 1", "ref 10");
    assert_covered(1, "0", NULL, "3 drafters, rules rejection, match, coupled, 1 draft length;", "all rules");
    assert_covered(1, "0", draft, "4 drafters, rules rejection, match, block, coupled, 1 draft length;", "all rules");
    assert_covered(2, "0", NULL, "of sessions with 1 kind of guesses", "kinds");
}

static void real_model_passes(void **state)
{
    (void)state;
    test_skip_slow();
    const char *path = test_model();
    if (!path) test_skip("no real model");
    expect(RUN("check", "-m", path, "--law", UNTIMED, "--seconds", "15"), 0, NULL);
}

static void speed_is_tried(void **state)
{
    (void)state;
    char path[256];
    const char *verdicts[LAWS];
    json_t *report;
    strcpy(path, test_temporary("speed.json"));
    result r = RUN("check", "-m", model, "--law", "L4", "--seconds", "5", "--json", path);
    assert_true(r.status == 0 || r.status == 1);
    assert_non_null(strstr(r.out, "of plain speed kept"));
    result_free(&r);
    verdicts_read(path, verdicts, &report);
    for (size_t law = 0; law < LAWS - 1; law++) assert_string_equal(verdicts[law], "not covered");
    json_decref(report);
}

static void wrong_usage_is_named(void **state)
{
    (void)state;
    char other[256], absent[256];
    strcpy(other, test_temporary("other.gguf"));
    strcpy(absent, test_temporary("absent.gguf"));
    tiny_model_write(other, &(tiny_model_options){.seed = 1, .vocab_seed = 9});
    expect(RUN("check"), 2, "--model FILE is missing");
    expect(RUN("check", "-m", model, "--seconds", "-1"), 2, "--seconds '-1': outside");
    expect(RUN("check", "-m", model, "--law", "L5"), 2, "--law 'L5': expected one of all|L1|L2|L3|L4|L7|S1|S2");
    expect(RUN("check", "-m", model, "--spec", "ngram"), 2, "--spec is a flag of `vouch run`");
    expect(RUN("check", "-m", absent), 2, absent);
    expect(RUN("check", "-m", model, "-d", other, "--seconds", "0"), 1, "--draft-model: ");
    if (has_full_disk())
        expect(RUN("check", "-m", model, "--law", "L3", "--seconds", "0", "--json", "/dev/full"), 1, "No space left");
}

/* The laws also hold for models without a tokenizer and with the smallest vocabularies. */
static void odd_models_pass(void **state)
{
    (void)state;
    char path[256];
    strcpy(path, test_temporary("bare.gguf"));
    tiny_model_write(path, &(tiny_model_options){.n_vocab = 40, .seed = 5});
    expect(RUN("check", "-m", path, "--law", UNTIMED, "--seconds", "0.2", "--kv-type", "f32"), 0, NULL);
    tiny_model_write(path, &(tiny_model_options){.n_vocab = 5, .seed = 6, .arch = "qwen3"});
    expect(RUN("check", "-m", path, "--law", UNTIMED, "--seconds", "0.2"), 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_processor_passes),
        cmocka_unit_test(broken_judge_is_found),
        cmocka_unit_test(broken_joint_rules_are_found),
        cmocka_unit_test(broken_rollback_is_found),
        cmocka_unit_test(broken_kernels_are_found),
        cmocka_unit_test(real_model_passes),
        cmocka_unit_test(wrong_usage_is_named),
        cmocka_unit_test(odd_models_pass),
        cmocka_unit_test(speed_is_tried),
        cmocka_unit_test(verdicts_say_what_was_compared),
    };
    return cmocka_run_group_tests(tests, models_write, NULL);
}
