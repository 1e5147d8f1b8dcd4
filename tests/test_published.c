/* SPDX-License-Identifier: MIT */
/*
 * Heads in files that others write: their draft logits against the programs that define them.
 *
 * `test_published --write FOLDER` writes models and heads for golden/eagle3.cpp.
 */
#include <stdio.h>
#include <string.h>

#include "engine/head.h"
#include "golden/eagle3.h"
#include "support/answer.h"
#include "support/head_bench.h"
#include "support/tiny_head.h"

/* EAGLE-3 in GGUF files. */
static const int32_t usual_layers[] = {2, 4, 5}, other_layers[] = {1, 3, 6};
static const struct {
    const char *name;
    tiny_model_options target;
    tiny_head_options head;
} eagle3_cases[] = {
    {"few tokens", {.n_layers = 8, .seed = 31}, {.n_draft = 96, .tap_layers = usual_layers}},
    {"the target's matrices, norm_before_fc",
     {.n_layers = 7, .seed = 32},
     {.tap_layers = other_layers, .norms_taps = true}},
    {"narrow, norm_before_residual",
     {.arch = "qwen3", .n_layers = 6, .seed = 33},
     {.width = 32, .tap_layers = usual_layers, .norms_first = true}},
};
enum { N_EAGLE3 = sizeof eagle3_cases / sizeof eagle3_cases[0] };

/* The caller may close `target` afterwards. */
static void write_eagle3(const char *path, int i, const vouch_model *target)
{
    tiny_head_options o = eagle3_cases[i].head;
    o.eagle3 = true;
    o.n_layers = 1;
    o.n_taps = 3;
    o.target = target;
    tiny_head_write(path, &o);
}

static void eagle3_drafts_are_those_of_llama_cpp(void **state)
{
    (void)state;
    for (int i = 0; i < N_EAGLE3; i++) {
        const char *path = test_temporary("published.gguf");
        vouch_model *target = tiny_model_open(&eagle3_cases[i].target);
        vouch_head *head;
        write_eagle3(path, i, target);
        assert_int_equal(vouch_head_open(&head, path, target, false, NULL), VOUCH_OK);
        assert_string_equal(eagle3_values[i].name, eagle3_cases[i].name);
        head_bench_compare(eagle3_cases[i].name, target, head->weights, eagle3_values[i].rows);
        vouch_head_close(head);
        vouch_model_close(target);
    }
}

static int write_files(const char *folder)
{
    for (int i = 0; i < N_EAGLE3; i++) {
        char model[512], head[512];
        vouch_model *target;
        snprintf(model, sizeof model, "%s/%d.gguf", folder, i);
        snprintf(head, sizeof head, "%s/%d.head.gguf", folder, i);
        tiny_model_write(model, &eagle3_cases[i].target);
        if (vouch_model_open(&target, model, NULL, NULL) != VOUCH_OK) return 1;
        write_eagle3(head, i, target);
        vouch_model_close(target);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eagle3_drafts_are_those_of_llama_cpp),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_files(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
