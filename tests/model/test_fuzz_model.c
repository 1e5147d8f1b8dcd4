/* SPDX-License-Identifier: MIT */
/*
 * Law L5 for model files. Runs the fuzz target of whole models on a valid model the size of stories260K, on truncations
 * of it and on thousands of damaged copies. A crash, a hang or a failed assertion ends the program; the last line of
 * its output then has the number of the input.
 */
#include "fuzz/fuzz_model.c"
#include "support/mutate.h"
#include "support/decode/replay.h"
#include "support/model/tiny_model.h"

enum { N_MUTATIONS = 5000, N_QUICK = 400, N_TRUNCATIONS = 64 };

static const char *const words[] = {"llama.",  "qwen3.", "tokenizer.ggml", "general.", "blk.", "ssm",
                                    ".weight", "GGUF",   "chat_template",  "output",   NULL};

/* The shape of stories260K, a trained model of 260,000 parameters. */
static const tiny_model_options shape = {.n_vocab = 512, .n_layers = 5, .n_heads = 8, .n_kv_heads = 4, .n_ff = 172};

static uint8_t *model_bytes(const tiny_model_options *options, size_t *size)
{
    const char *path = test_temporary("model.gguf");
    tiny_model_write(path, options);
    return (uint8_t *)read_whole(path, size);
}

static void test_valid_model_answers(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = model_bytes(&shape, &size);
    memset(&seen, 0, sizeof seen);
    feed("good", 0, bytes, size);
    assert_int_equal(seen.answered, 1);
    free(bytes);
}

/* Half of the truncations end in the metadata and tensor table, half in the weights. */
static void test_truncated_models(void **state)
{
    (void)state;
    size_t size;
    mutator m;
    uint8_t *bytes = model_bytes(&shape, &size);
    const uint8_t *last_name = memmem(bytes, size, "blk.4.", 6);
    assert_non_null(last_name);
    const size_t head = (size_t)(last_name - bytes);
    mutator_open(&m, bytes, size, words, 1);
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < N_TRUNCATIONS; i++) {
        const size_t half = (size_t)i / 2, cuts = N_TRUNCATIONS / 2;
        mutator_truncate(&m, i % 2 ? size - 1 - half * (size - head) / cuts : half * head / cuts);
        feed("truncation", (size_t)i, m.bytes, m.n);
        assert_true(seen.last.code == VOUCH_E_FORMAT || seen.last.code == VOUCH_E_UNSUPPORTED);
    }
    assert_int_equal(seen.refused, N_TRUNCATIONS);
    mutator_close(&m);
    free(bytes);
}

/* Requires that 1 of `share` damaged copies opens and answers: otherwise this would test little but the file's
 * magic. */
static void mutate_all(const tiny_model_options *options, int n, int share, uint64_t seed)
{
    size_t size;
    mutator m;
    uint8_t *bytes = model_bytes(options, &size);
    mutator_open(&m, bytes, size, words, seed);
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < n; i++) {
        mutator_next(&m);
        feed("mutation", (size_t)i, m.bytes, m.n);
    }
    print_message("%ld refused, %ld opened, of these %ld answered and %ld had no finite logits\n", seen.refused,
                  seen.opened, seen.answered, seen.numeric);
    assert_int_equal(seen.refused + seen.opened, n);
    assert_true(seen.refused >= n / 10 && seen.answered >= n / share && seen.numeric >= n / 200);
    mutator_close(&m);
    free(bytes);
}

static void test_damaged_models(void **state)
{
    (void)state;
    mutate_all(&shape, test_is_quick() ? N_QUICK : N_MUTATIONS, 10, 2);
}

static void test_damaged_quantized_models(void **state)
{
    (void)state;
    tiny_model_options options = shape;
    options.arch = "qwen3";
    options.n_ff = 160;
    options.type = VOUCH_TYPE_Q4_1;
    options.tied = true;
    mutate_all(&options, test_is_quick() ? N_QUICK : N_MUTATIONS / 5, 10, 3);
}

/* Recurrent models have more tensors and keys, so more damages hit the metadata. */
static void test_damaged_recurrent_models(void **state)
{
    (void)state;
    static const char *const archs[] = {"mamba",          "jamba", "falcon-h1", "granitehybrid",
                                        "nemotron_h_moe", "rwkv6", "rwkv7",     "arwkv7"};
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        tiny_model_options options = shape;
        options.arch = archs[i];
        mutate_all(&options, test_is_quick() ? N_QUICK / 4 : N_MUTATIONS / 5, 30, 4 + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_model_answers),      cmocka_unit_test(test_truncated_models),
        cmocka_unit_test(test_damaged_models),           cmocka_unit_test(test_damaged_quantized_models),
        cmocka_unit_test(test_damaged_recurrent_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
