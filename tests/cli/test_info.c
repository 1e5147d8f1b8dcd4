/* SPDX-License-Identifier: MIT */
/* `vouch info` and vouch_file_open on models that vouch can run, on unsupported files, and on truncated ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/program/command.h"
#include "support/model/gguf.h"
#include "support/head/tiny_head.h"
#include "support/model/tiny_model.h"
#include "support/model/tiny_vocab.h"
#include "vouch.h"

static char model[256];

static int model_write(void **state)
{
    (void)state;
    strcpy(model, test_temporary("model.gguf"));
    tiny_model_write(model, &(tiny_model_options){.seed = 1, .type = VOUCH_TYPE_F16});
    return 0;
}

/* Copies the model and replaces the first `from` by `to`, which has the same length. Returns the copy's path. */
static const char *model_altered(const char *name, const char *from, const char *to)
{
    static char path[256];
    size_t n;
    char *bytes = read_whole(model, &n), *at = memmem(bytes, n, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    strcpy(path, test_temporary(name));
    write_whole(path, bytes, n);
    free(bytes);
    return path;
}

/* Writes the first n bytes of the model to a file and returns its path. */
static const char *model_cut(size_t n)
{
    static char path[256];
    size_t all;
    char *bytes = read_whole(model, &all);
    assert_true(n < all);
    strcpy(path, test_temporary("cut.gguf"));
    write_whole(path, bytes, n);
    free(bytes);
    return path;
}

/* `vouch info` must succeed and print both texts, each within a line. */
static void expect_info(const char *path, const char *first, const char *second)
{
    result r = RUN("info", path);
    if (r.status || !strstr(r.out, first) || !strstr(r.out, second)) print_error("%s%s", r.out, r.err);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, first));
    assert_non_null(strstr(r.out, second));
    result_free(&r);
}

static void add_mood(vouch_gguf_writer *writer, void *user)
{
    (void)user;
    vouch_gguf_add_u32(writer, "llama.mood", 3);
    vouch_gguf_add_text(writer, "llama.song", "la\x1b la");
}

static void unknown_keys_are_shown(void **state)
{
    (void)state;
    const char *path = test_temporary("mood.gguf");
    tiny_model_write(path, &(tiny_model_options){.add = add_mood});
    expect_info(path, "ignored metadata  llama.mood is 3, llama.song is 'la\\x1b la'\n", "vouch runs it     yes\n");
}

static void add_moods(vouch_gguf_writer *writer, void *user)
{
    (void)user;
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "llama.mood%d", i);
        vouch_gguf_add_u32(writer, name, 1);
    }
}

/* A file of many unknown keys opens soon, and the list ends. */
static void many_unknown_keys_are_cut(void **state)
{
    (void)state;
    const char *path = test_temporary("moods.gguf");
    tiny_model_write(path, &(tiny_model_options){.add = add_moods});
    expect_info(path, "ignored metadata  llama.mood0 is 1, llama.mood1 is 1, ", " is 1, ...\n");
}

static void models_that_run(void **state)
{
    (void)state;
    expect_info(model, "weights           F16 ", "vouch runs it     yes\n");
    expect_info(model, "architecture      llama\n", "chat template     jinja, 6 lines\n");
    expect_info(model, "vocabulary        400 tokens\n", "context           512 tokens\n");
}

static void sampling_add(vouch_gguf_writer *writer, void *user)
{
    const int whole = *(int *)user;
    vouch_gguf_add_f32(writer, "general.sampling.temp", 0.25f);
    vouch_gguf_add_value(writer, "general.sampling.top_k", VOUCH_GGUF_I32, &(int32_t){whole});
    vouch_gguf_add_f32(writer, "vouch.sampling.typical_p", 0.75f);
    vouch_gguf_add_f32(writer, "general.sampling.xtc_probability", 0.5f);
    vouch_gguf_add_f32(writer, "general.sampling.penalty_repeat", 1.5f);
    vouch_gguf_add_value(writer, "general.sampling.penalty_last_n", VOUCH_GGUF_I32, &(int32_t){-1});
}

/* A file's recommendations are shown, field by field, and `vouch run` follows them. */
static void files_recommend_sampling(void **state)
{
    (void)state;
    char path[256], stats[256];
    expect_info(model, "sampling          temperature 0.8, top-p 0.95 (vouch's default; ", "file recommends none)\n");
    strcpy(path, test_temporary("recommends.gguf"));
    strcpy(stats, test_temporary("recommends.json"));
    tiny_model_write(path, &(tiny_model_options){.add = sampling_add, .user = &(int){20}});
    expect_info(path, "sampling          temperature 0.25 (file), top-k 20 (file), top-p 0.95, ",
                "typical 0.75 (file), xtc-probability 0.5 (file), xtc-threshold 0.1, "
                "repeat-penalty 1.5 (file), penalty-window all (file)\n");
    const char *const flags[][2] = {
        {"--min-p", "0"}, {"--temp", "0.5"}, {"--top-k", "7"}, {"--temp", "0"}, {"--typical", "0.5"}};
    static const double expected[][4] = {
        {0.25, 20, 1.5, 0.75}, {0.5, 20, 1.5, 0.75}, {0.25, 7, 1.5, 0.75}, {0, 20, 1.5, 0.75}, {0.25, 20, 1.5, 0.5}};
    for (size_t i = 0; i < 5; i++) {
        result r = RUN("run", path, "-p", "x", "-n", "2", "--stats", "--stats-json", stats, flags[i][0], flags[i][1]);
        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.err, i == 0   ? "sampling  temperature 0.25, top-k 20, top-p 0.95, typical 0.75, xtc"
                                      : i == 3 ? "sampling  greedy, repeat-penalty 1.5, "
                                               : "sampling  temperature "));
        json_t *o = json_of(stats);
        static const char *const names[] = {"temperature", "top_k", "repeat_penalty", "typical_p"};
        for (size_t j = 0; j < 4; j++) assert_true(json_number_value(json_object_get(o, names[j])) == expected[i][j]);
        json_decref(o);
        result_free(&r);
    }
    /* A top_k of -1 is off, as llama.cpp has it. */
    tiny_model_write(path, &(tiny_model_options){.add = sampling_add, .user = &(int){-1}});
    expect_info(path, "temperature 0.25 (file), top-p 0.95, typical 0.75 (file), xtc-probability", "");
}

/* Commands that measure, batches and the library are greedy whatever a file recommends. */
static void other_commands_stay_greedy(void **state)
{
    (void)state;
    char path[256], prompts[256], json[256];
    strcpy(path, test_temporary("recommends.gguf"));
    strcpy(prompts, test_temporary("prompts.txt"));
    strcpy(json, test_temporary("bench.json"));
    tiny_model_write(path, &(tiny_model_options){.add = sampling_add, .user = &(int){20}});
    write_whole(prompts, "one two\nthree\n", 14);
    result batch[2] = {RUN("batch", path, "--prompts", prompts, "-n", "30"),
                       RUN("batch", path, "--prompts", prompts, "-n", "30", "--temp", "0")};
    assert_int_equal(batch[0].status | batch[1].status, 0);
    assert_string_equal(batch[0].out, batch[1].out);
    result_free(&batch[0]), result_free(&batch[1]);
    result bench = RUN("bench", path, "--prompts", prompts, "-n", "5", "--json", json);
    assert_non_null(strstr(bench.out, "answers    up to 5 tokens, greedy\n"));
    json_t *o = json_of(json);
    assert_true(json_number_value(json_object_get(o, "temperature")) == 0);
    json_decref(o);
    result_free(&bench);
    assert_true(vouch_sampling_default().temperature == 0);
    assert_true(vouch_session_options_default().sampling.temperature == 0);
}

static void wrong_sampling_add(vouch_gguf_writer *writer, void *user)
{
    vouch_gguf_add_text(writer, user, "hot");
}

/* A recommendation of another type is refused by its name. */
static void wrong_recommendations_are_named(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "general.sampling.temp",           "general.sampling.top_k",           "general.sampling.top_p",
        "general.sampling.min_p",          "vouch.sampling.typical_p",         "general.sampling.penalty_last_n",
        "general.sampling.penalty_repeat", "general.sampling.xtc_probability", "general.sampling.xtc_threshold"};
    char path[256];
    strcpy(path, test_temporary("wrong.gguf"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tiny_model_write(path, &(tiny_model_options){.add = wrong_sampling_add, .user = (void *)(uintptr_t)keys[i]});
        expect(RUN("run", path, "-p", "x"), 1, keys[i]);
        expect_info(path, "vouch runs it     no: ", keys[i]);
    }
}

/* A head's table of tokens is of integers, and no weight. */
static void heads(void **state)
{
    (void)state;
    vouch_model *target;
    char path[256];
    assert_int_equal(vouch_model_open(&target, model, NULL, NULL), VOUCH_OK);
    strcpy(path, test_temporary("head.gguf"));
    tiny_head_write(path, &(tiny_head_options){.target = target, .n_draft = 100});
    vouch_model_close(target);
    expect_info(path, "% (1)\n", "is a head, which guesses for a model: open the model");
}

static void models_that_do_not_run(void **state)
{
    (void)state;
    expect_info(model_altered("arch.gguf", "llama", "xlama"), "architecture      xlama\n",
                "vouch runs it     no: general.architecture 'xlama' is not supported");
    expect_info(model_altered("pre.gguf", "smollm", "smallm"), "tokenizer         gpt2/smallm\n",
                "vouch runs it     no: ");
    expect_info(model_altered("key.gguf", "llama.context_length", "llama.context_lungth"), "architecture      llama\n",
                "no: metadata key 'llama.context_length' is missing");
    expect_info(model_altered("tensor.gguf", "blk.1.attn_q.weight", "blk.1.attn_Q.weight"), "layers            2\n",
                "no: tensor 'blk.1.attn_q.weight' is missing");
}

/* A file with a vocabulary only, and one part of a split model. */
static void files_without_weights(void **state)
{
    (void)state;
    char path[256];
    vouch_gguf_writer *writer = writer_open();
    vouch_error err;
    vouch_gguf_add_text(writer, "general.architecture", "qwen9");
    vouch_gguf_add_text(writer, "general.name", "words\x1b[31m");
    vouch_gguf_add_text(writer, "general.license", "mit");
    tiny_vocab_add(writer, 300, 1);
    strcpy(path, test_temporary("words.gguf"));
    assert_int_equal(vouch_gguf_write(writer, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(writer);
    expect_info(path, "name              words\\x1b[31m\n", "license           mit\n");
    expect_info(path, "tokenizer         bpe/smollm\n", "no: general.architecture 'qwen9' is not supported");
    expect_info(path, "", "and: the file has a vocabulary and no weights; use the file of");

    writer = writer_open();
    vouch_gguf_add_text(writer, "general.architecture", "llama");
    tiny_vocab_add(writer, 300, 1);
    strcpy(path, test_temporary("llama_words.gguf"));
    assert_int_equal(vouch_gguf_write(writer, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(writer);
    expect_info(path, "", "vouch runs it     no: the file has a vocabulary and no weights");
    expect(RUN("run", path, "-p", "a"), 1, "llama_words.gguf: the file has a vocabulary and no weights; use the file");
    result words = RUN("tokenize", path, "a b", "--ids"), same = RUN("tokenize", model, "a b", "--ids");
    assert_int_equal(words.status, 0);
    assert_true(words.n_out > 4 && same.n_out > 4);
    result_free(&words), result_free(&same);

    writer = writer_open();
    vouch_gguf_add_text(writer, "general.architecture", "llama");
    vouch_gguf_add_u32(writer, "split.no", 1);
    vouch_gguf_add_u32(writer, "split.count", 3);
    vouch_gguf_add_tensor(writer, "a", VOUCH_TYPE_F32, 1, (int64_t[]){8}, (float[8]){0});
    strcpy(path, test_temporary("part-00002-of-00003.gguf"));
    assert_int_equal(vouch_gguf_write(writer, path, &err), VOUCH_OK);
    vouch_gguf_writer_close(writer);
    expect_info(path, "weights           F32 100.0 % (1 tensor)\n",
                "no: is part 2 of a model in 3 files; give the first: ");
}

static void files_that_are_cut(void **state)
{
    (void)state;
    size_t n;
    free(read_whole(model, &n));
    expect_info(model_cut(n - 4), "vocabulary        400 tokens\n", "is the download complete?\n");
    expect_info(model_cut(1000), "architecture      llama\n", "vouch runs it     no: ");
    expect(RUN("info", model_cut(20)), 1, "cut.gguf: ");
    expect(RUN("info", "Makefile"), 1, "Makefile: is no GGUF file");
    expect(RUN("info", "/nowhere/at/all"), 2, "'/nowhere/at/all': No such file or directory");
}

/* A file truncated at any length is refused, or opens and reports one problem. */
static void every_length_is_safe(void **state)
{
    (void)state;
    size_t n;
    vouch_error err;
    char *bytes = read_whole(model, &n);
    for (size_t cut = 0; cut < n; cut += cut < 20000 ? 61 : 9973) {
        vouch_file *file;
        const char *path = model_cut(cut);
        if (vouch_file_open(&file, path, &err) != VOUCH_OK) {
            assert_null(file);
            assert_true(cut < 2000); /* only short files are refused, whose header promises more keys than fit */
            continue;
        }
        const vouch_file_info *info = vouch_file_get_info(file);
        assert_true(info->n_problems == 1 && info->problems[0].code == VOUCH_E_FORMAT);
        assert_int_equal(info->file_bytes, cut);
        vouch_file_close(file);
    }
    free(bytes);
    vouch_file_close(NULL);
}

/* `vouch info` reports a problem exactly if the model can't be opened, and the messages agree. */
static void problems_are_those_of_opening(void **state)
{
    (void)state;
    static const char *const names[] = {"llama.block_count",    "llama.embedding_length", "general.architecture",
                                        "tokenizer.ggml.model", "tokenizer.ggml.merges",  "token_embd.weight",
                                        "output_norm.weight",   "tokenizer.ggml.scores",  "general.name"};
    vouch_model_options options = vouch_model_options_default();
    options.text_only = true;
    size_t n, n_problems = 0;
    char *bytes = read_whole(model, &n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!memmem(bytes, n, names[i], strlen(names[i]))) continue;
        char other[64];
        snprintf(other, sizeof other, "%s", names[i]);
        other[strlen(other) - 1] = 'X';
        const char *path = model_altered("altered.gguf", names[i], other);
        vouch_error opening, looking;
        vouch_file *file;
        vouch_model *opened;
        const vouch_status status = vouch_model_open(&opened, path, &options, &opening);
        assert_int_equal(vouch_file_open(&file, path, &looking), VOUCH_OK);
        const vouch_file_info *info = vouch_file_get_info(file);
        assert_int_equal(status != VOUCH_OK, info->n_problems > 0);
        if (info->n_problems > 0) assert_string_equal(info->problems[0].message, opening.message);
        n_problems += info->n_problems > 0;
        vouch_file_close(file);
        vouch_model_close(opened);
    }
    assert_true(n_problems >= 5);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_that_run),
        cmocka_unit_test(unknown_keys_are_shown),
        cmocka_unit_test(many_unknown_keys_are_cut),
        cmocka_unit_test(files_recommend_sampling),
        cmocka_unit_test(other_commands_stay_greedy),
        cmocka_unit_test(wrong_recommendations_are_named),
        cmocka_unit_test(models_that_do_not_run),
        cmocka_unit_test(files_without_weights),
        cmocka_unit_test(files_that_are_cut),
        cmocka_unit_test(every_length_is_safe),
        cmocka_unit_test(problems_are_those_of_opening),
        cmocka_unit_test(heads),
    };
    return cmocka_run_group_tests(tests, model_write, NULL);
}
