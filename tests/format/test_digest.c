/* SPDX-License-Identifier: MIT */
/* The digest of a model's file: equal for the same model, different for any other. */
#include <string.h>

#include "support/test.h"
#include "support/model/tiny_model.h"
#include "vouch.h"

typedef struct digest {
    char text[17];
} digest;

static digest digest_of(const tiny_model_options *options, bool text_only)
{
    const char *path = test_temporary("digest.gguf");
    const vouch_model_options how = {.text_only = text_only};
    vouch_model *model;
    digest out;
    tiny_model_write(path, options);
    assert_int_equal(vouch_model_open(&model, path, &how, NULL), VOUCH_OK);
    strcpy(out.text, vouch_model_get_info(model)->digest);
    assert_int_equal(strlen(out.text), 16);
    vouch_model_close(model);
    return out;
}

static void add_author(vouch_gguf_writer *writer, void *user)
{
    vouch_gguf_add_text(writer, "general.author", user);
}

static void the_same_model_has_the_same_digest(void **state)
{
    (void)state;
    char one[] = "one", two[] = "another";
    const tiny_model_options plain = {.seed = 5}, authored = {.seed = 5, .add = add_author, .user = one},
                             other = {.seed = 5, .add = add_author, .user = two};
    const digest first = digest_of(&plain, false);
    assert_string_equal(first.text, digest_of(&plain, true).text);
    assert_string_equal(first.text, digest_of(&authored, false).text);
    assert_string_equal(first.text, digest_of(&other, false).text);
}

static void another_model_has_another_digest(void **state)
{
    (void)state;
    const tiny_model_options models[] = {
        {.seed = 5},
        {.seed = 6},
        {.seed = 5, .type = VOUCH_TYPE_Q8_0},
        {.seed = 5, .type = VOUCH_TYPE_F16},
        {.seed = 5, .noise = 1e-3f}, /* a fine-tuned model */
        {.seed = 5, .rope_base = 20000},
        {.seed = 5, .vocab_seed = 1},
        {.seed = 5, .n_ctx = 256},
        {.seed = 5, .n_layers = 3},
        {.seed = 5, .arch = "qwen3"},
        {.seed = 5, .tied = true},
    };
    enum { N = sizeof models / sizeof models[0] };
    digest digests[N];
    for (int i = 0; i < N; i++) {
        digests[i] = digest_of(&models[i], true);
        for (int j = 0; j < i; j++) assert_string_not_equal(digests[i].text, digests[j].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_model_has_the_same_digest),
        cmocka_unit_test(another_model_has_another_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
