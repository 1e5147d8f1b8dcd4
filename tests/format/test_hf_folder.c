/* SPDX-License-Identifier: MIT */
/*
 * Hugging Face folders: logits against transformers (tests/golden/hf_folders.py), tensors that are made piece by piece,
 * shards, and data that is not aligned.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/open/open.h"
#include "format/safetensors.h"
#include "support/program/command.h"
#include "support/model/gguf.h"
#include "support/model/hf_model.h"

static vouch_gguf *open_folder(const char *path)
{
    vouch_gguf *gguf;
    vouch_error err;
    if (vouch_format_open(&gguf, path, &err)) fail_msg("%s", err.message);
    return gguf;
}

/* ------------------------------------------------------------------ logits */

/* The logits of the last token, by `vouch logits`. */
static void run_logits(const char *model, float *logits)
{
    char ids[512] = "";
    size_t used = 0, n;
    const char *out = test_temporary("logits.npy");
    const size_t row = (size_t)hf_vocabulary * sizeof *logits;
    for (int32_t i = 0; i < hf_tokens; i++)
        used += (size_t)snprintf(ids + used, sizeof ids - used, "%d,", i * 7 % hf_vocabulary);
    expect(RUN("logits", model, "--tokens", ids, "--out", out, "--kv-type", "f32"), 0, NULL);
    char *bytes = read_whole(out, &n);
    memcpy(logits, bytes + n - row, row);
    free(bytes);
}

/* The largest difference, in standard deviations of the expected logits. */
static double largest_difference(const float *logits, const float *expected)
{
    double sum = 0, squares = 0, largest = 0;
    const double n = hf_vocabulary;
    for (int32_t i = 0; i < hf_vocabulary; i++) {
        sum += (double)expected[i];
        squares += (double)expected[i] * (double)expected[i];
        largest = fmax(largest, fabs((double)logits[i] - (double)expected[i]));
    }
    return largest / sqrt(squares / n - sum / n * sum / n);
}

static void logits_are_those_of_transformers(void **state)
{
    (void)state;
    float logits[64];
    const hf_case *model;
    for (size_t i = 0; (model = hf_case_at(i)) != NULL; i++) {
        const char *folder = hf_folder_write("model", model, &(hf_layout){0});
        run_logits(folder, logits);
        const double difference = largest_difference(logits, model->logits);
        const double most = strstr(model->name, "mxfp4") ? 2e-3 : 2e-5; /* the inputs of MXFP4 are rounded to 8 bits */
        if (!(difference < most)) fail_msg("%s: logits differ by %g deviations", model->name, difference);
    }
}

static bool is_nested(const hf_case *model)
{
    for (const hf_tensor *t = model->tensors; t->name; t++)
        if (strstr(t->name, "language_model.")) return true;
    return false;
}

/* A model without an output matrix of its own may have names without "model.". */
static void bare_names_mean_the_same(void **state)
{
    (void)state;
    float logits[64], bare[64];
    const hf_case *model;
    int n_models = 0;
    for (size_t i = 0; (model = hf_case_at(i)) != NULL; i++) {
        if (is_nested(model) || strstr(model->config, "\"tie_word_embeddings\": false")) continue;
        run_logits(hf_folder_write("whole", model, &(hf_layout){0}), logits);
        run_logits(hf_folder_write("bare", model, &(hf_layout){.is_bare = true}), bare);
        if (memcmp(logits, bare, (size_t)hf_vocabulary * sizeof *bare) != 0) fail_msg("%s: other logits", model->name);
        n_models++;
    }
    assert_true(n_models > 20);
}

/* 1_Pooling/config.json of sentence-transformers becomes GGUF's number. */
static void pooling_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *config, *expected; /* "": no vectors; or the complaint */
    } cases[] = {
        {"{\"pooling_mode_mean_tokens\": true, \"pooling_mode_cls_token\": false}", "mean"},
        {"{\"word_embedding_dimension\": 64, \"pooling_mode_lasttoken\": true}", "last"},
        {"{\"pooling_mode\": \"mean\"}", "mean"},
        {"{\"pooling_mode\": \"lasttoken\", \"include_prompt\": true}", "last"},
        {"{\"pooling_mode_cls_token\": true}", ""},
        {"{\"pooling_mode_max_tokens\": true}", ""},
        {"{\"pooling_mode_mean_tokens\": true, \"pooling_mode_lasttoken\": true}", ""},
        {"{}", ""},
        {"{\"pooling_mode_mean_tokens\": 1}", "pooling_mode_mean_tokens is an integer, expected true or false"},
        {"[]", "1_Pooling/config.json"},
    };
    const hf_case *model = hf_case_named("qwen3");
    const char *folder = hf_folder_write("pools", model, &(hf_layout){0});
    vouch_model_options options = vouch_model_options_default();
    assert_int_equal(mkdir(hf_file(folder, "1_Pooling"), 0700), 0);
    for (size_t i = 0; i <= sizeof cases / sizeof *cases; i++) {
        const bool has_layer = i == sizeof cases / sizeof *cases; /* one follows the pooling */
        vouch_model *opened;
        vouch_error err = {0};
        const char *config = cases[has_layer ? 0 : i].config, *expected = has_layer ? "" : cases[i].expected;
        write_whole(hf_file(folder, "1_Pooling/config.json"), config, strlen(config));
        if (has_layer) assert_int_equal(mkdir(hf_file(folder, "2_Dense"), 0700), 0);
        if (has_layer) write_whole(hf_file(folder, "2_Dense/config.json"), "{}", 2);
        if (vouch_model_open(&opened, folder, &options, &err)) {
            if (!*expected || !strstr(err.message, expected)) fail_msg("%s: %s", config, err.message);
            continue;
        }
        const vouch_pooling pooling = vouch_model_get_info(opened)->pooling;
        const char *name = pooling == VOUCH_POOLING_MEAN ? "mean" : pooling == VOUCH_POOLING_LAST ? "last" : "";
        if (strcmp(name, expected) != 0) fail_msg("%s: '%s', expected '%s'", config, name, expected);
        vouch_model_close(opened);
    }
}

/* The comparison can fail: another base of the rotation changes the logits by more than rounding does. */
static void comparison_notices_another_number(void **state)
{
    (void)state;
    float logits[64];
    const hf_case *model = hf_case_named("llama");
    run_logits(hf_folder_reworded(model, "10000.0", "10400.0"), logits);
    assert_true(largest_difference(logits, model->logits) > 2e-3);
}

/* Another wording of the model's config.json must mean the same. */
static void expect_same(const char *name, const char *from, const char *to)
{
    float logits[64];
    const hf_case *model = hf_case_named(name);
    run_logits(hf_folder_reworded(model, from, to), logits);
    if (!(largest_difference(logits, model->logits) < 2e-5)) fail_msg("%s: logits differ with %s", name, to);
}

/* Gemma 4's older files say in two numbers what newer ones say layer by layer. The latter may list all layers. The
 * whole model's tie_word_embeddings counts, not its text part's. */
static void other_wordings_of_gemma4(void **state)
{
    (void)state;
#define FULL "{\"head_dim\": 32, \"num_key_value_heads\": 1}"
    static const char name[] = "gemma4_text experts", newer[] = "\"per_layer_config\": {\"2\": " FULL "}";
    expect_same(name, newer, "\"global_head_dim\": 32, \"num_global_key_value_heads\": 1");
    expect_same(name, newer, "\"per_layer_config\": {\"02\": " FULL "}");
    expect_same(name, newer,
                "\"per_layer_config\": {\"0\": {\"head_dim\": 16}, \"1\": {\"rms_norm_eps\": 1e-06}, "
                "\"2\": " FULL "}");
    expect_same("gemma4", "\"text_config\": {", "\"text_config\": {\"tie_word_embeddings\": false, ");
    expect_same("gemma4", "\"text_config\": {", "\"text_config\": {\"text_config\": {}, ");
}

/* ----------------------------------------------------------------- tensors */

/* All bytes of a tensor, loaded at once. The caller frees them. */
static unsigned char *load_all(const vouch_gguf *gguf, const vouch_gguf_tensor *t)
{
    vouch_error err;
    unsigned char *bytes = malloc(t->bytes);
    assert_non_null(bytes);
    if (vouch_gguf_load(gguf, t, 0, t->bytes, &err)) fail_msg("%s", err.message);
    memcpy(bytes, t->data, t->bytes);
    vouch_gguf_release(gguf, t, 0, t->bytes);
    return bytes;
}

static void expect_equal_tensors(const char *path, const char *other)
{
    vouch_gguf *a = open_folder(path), *b = open_folder(other);
    assert_int_equal(vouch_gguf_n_tensors(a), vouch_gguf_n_tensors(b));
    for (size_t i = 0; i < vouch_gguf_n_tensors(a); i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(a, i);
        char name[65] = "";
        memcpy(name, t->name.data, t->name.size);
        const vouch_gguf_tensor *u = vouch_gguf_find_tensor(b, name);
        assert_true(u && t->type == u->type && memcmp(t->dim, u->dim, sizeof t->dim) == 0);
        unsigned char *x = load_all(a, t), *y = load_all(b, u);
        assert_memory_equal(x, y, t->bytes);
        free(x);
        free(y);
    }
    vouch_gguf_close(a);
    vouch_gguf_close(b);
}

/* Pieces that begin and end anywhere, loaded in random order, give the bytes of the whole tensor. */
static void pieces_are_the_whole(void **state)
{
    (void)state;
    static const char *const names[] = {"llama", "mixtral",  "gemma2",       "falcon 40b",
                                        "gpt2",  "stablelm", "qwen3_5_text", "gemma4_text experts"};
    test_random random = {5};
    vouch_error err;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        vouch_gguf *gguf = open_folder(hf_folder_write("pieces", hf_case_named(names[n]), &(hf_layout){0}));
        for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
            const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
            const size_t width = (size_t)vouch_type_get_info(t->type)->block_bytes, count = t->bytes / width;
            unsigned char *bytes = load_all(gguf, t);
            for (int piece = 0; piece < 8; piece++) {
                const size_t begin = test_below(&random, (uint32_t)count) * width;
                const size_t size = (1 + test_below(&random, (uint32_t)(count - begin / width))) * width;
                if (vouch_gguf_load(gguf, t, begin, size, &err)) fail_msg("%s", err.message);
                assert_memory_equal((const unsigned char *)t->data + begin, bytes + begin, size);
                vouch_gguf_release(gguf, t, begin, size);
            }
            free(bytes);
        }
        vouch_gguf_close(gguf);
    }
}

static void shards_are_one_model(void **state)
{
    (void)state;
    const hf_case *model = hf_case_named("mixtral");
    const char *one = hf_folder_write("one", model, &(hf_layout){0});
    const char *three = hf_folder_write("three", model, &(hf_layout){.n_files = 3});
    const char *shifted = hf_folder_write("shifted", model, &(hf_layout){.shift = 1});
    expect_equal_tensors(one, three);
    expect_equal_tensors(one, shifted);
    result info = RUN("info", three);
    assert_non_null(strstr(info.out, "architecture      llama\n"));
    assert_non_null(strstr(info.out, "vouch runs it     yes\n"));
    result_free(&info);
}

/* Copies a tensor's bytes over another's of the same size. */
static void copy_tensor(const char *folder, const char *from, const char *to)
{
    vouch_safetensors file;
    vouch_error err;
    const char *path = hf_file(folder, "model.safetensors");
    const vouch_safetensor *source = NULL, *target = NULL;
    size_t n;
    char *bytes = read_whole(path, &n);
    if (vouch_safetensors_open(&file, path, &err)) fail_msg("%s", err.message);
    for (size_t i = 0; i < file.n; i++) {
        if (strcmp(file.tensors[i].name, from) == 0) source = &file.tensors[i];
        if (strcmp(file.tensors[i].name, to) == 0) target = &file.tensors[i];
    }
    assert_true(source && target && source->bytes == target->bytes);
    memcpy(bytes + target->offset, bytes + source->offset, source->bytes);
    vouch_safetensors_close(&file);
    write_whole(path, bytes, n);
    free(bytes);
}

/* Where config.json ties the output to the embedding, an equal output matrix is left out, and another one refused. */
static void tied_output_is_left_out(void **state)
{
    (void)state;
    vouch_gguf *gguf;
    vouch_error err;
    const char *folder =
        hf_folder_reworded(hf_case_named("mistral"), "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
    assert_int_equal(vouch_format_open(&gguf, folder, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "tie_word_embeddings is true, but the tensor 'lm_head.weight' differs from "));
    copy_tensor(folder, "model.embed_tokens.weight", "lm_head.weight");
    gguf = open_folder(folder);
    assert_null(vouch_gguf_find_tensor(gguf, "output.weight"));
    vouch_gguf_close(gguf);
}

/* The rotation in its older spelling, infinite numbers in each of theirs, and members that change nothing. */
static void other_wordings_mean_the_same(void **state)
{
    (void)state;
    expect_same("qwen2", "\"rope_parameters\": {", "\"rope_theta\": 77, \"rope_scaling\": {");
    expect_same("llama3", "\"rope_type\": \"llama3\"", "\"type\": \"llama3\"");
    expect_same("llama yarn", "\"truncate\": null", "\"truncate\": false");
    expect_same("llama yarn", "\"mscale\": 0.5", "\"attention_factor\": null, \"mscale\": 0.5");
    expect_same("mamba2", "1000000000.0", "Infinity");
    expect_same("mamba2", "1000000000.0", "{\"__float__\": \"Infinity\"}");
    expect_same("mamba2", "[0.0", "[-Infinity");
    expect_same("llama", "{", "{\"note\": \"Infinity \\\\ NaN\", \"loss\": NaN, ");
    expect_same("llama", "\"rope_parameters\": {", "\"rope_theta\": 10000.0, \"rope_scaling\": null, \"note\": {");
    expect_same("llama", "10000.0", "10000");
    expect_same("llama3", "\"rope_type\": \"llama3\"", "\"rope_type\": \"llama3\", \"type\": \"llama3\"");
    expect_same("llama", "1e-06", "0.000001");
    expect_same("llama", "{", "\n {\"hidden_size\": 7, ");
    expect_same("mistral", "\"sliding_window\": 7", "\"sliding_window\": 7, \"use_sliding_window\": null");
    expect_same("llama3", "\"rope_type\": \"llama3\"", "\"rope_type\": \"llama3\", \"type\": \"linear\"");
    /* Other families read these. */
    expect_same("llama", "{",
                "{\"attention_multiplier\": 0.1, \"logit_scale\": 3.0, "
                "\"final_logit_softcapping\": 1.0, \"num_experts\": 4, \"multi_query\": true, "
                "\"rotary_pct\": 0.5, ");
}

/* Members that vouch doesn't know are shown by `vouch info`, and change nothing. */
static void unknown_members_are_shown(void **state)
{
    (void)state;
    const char *folder =
        hf_folder_reworded(hf_case_named("llama"), "{", "{\"logit_scale\": 3.0, \"mood\": [\"glad\"], ");
    result info = RUN("info", folder);
    assert_int_equal(info.status, 0);
    assert_non_null(strstr(info.out, "ignored metadata  logit_scale is 3.0, mood is [\"glad\"]\n"));
    result_free(&info);
    info = RUN("info", hf_folder_write("known", hf_case_named("llama"), &(hf_layout){0}));
    assert_null(strstr(info.out, "ignored metadata"));
    result_free(&info);
}

static void changed_files_are_noticed(void **state)
{
    (void)state;
    vouch_error err;
    const char *folder = hf_folder_write("changed", hf_case_named("llama"), &(hf_layout){0});
    vouch_gguf *gguf = open_folder(folder);
    const vouch_gguf_tensor *made = vouch_gguf_find_tensor(gguf, "blk.0.attn_q.weight");
    const vouch_gguf_tensor *mapped = vouch_gguf_find_tensor(gguf, "blk.0.attn_v.weight");
    assert_int_equal(vouch_gguf_load(gguf, made, 0, made->bytes, &err), VOUCH_OK);
    assert_int_equal(truncate(hf_file(folder, "model.safetensors"), 4096), 0);
    assert_int_equal(vouch_gguf_load(gguf, made, 0, made->bytes, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "/model.safetensors: the file went from "));
    assert_int_equal(vouch_gguf_load(gguf, mapped, 0, mapped->bytes, &err), VOUCH_E_IO);
    assert_int_equal(vouch_gguf_recheck(gguf, &err), VOUCH_E_IO);
    vouch_gguf_close(gguf);
}

/* An integer beyond 64 bits, as many tokenizer_config.json have it, makes all integers of its file floats. */
static void large_integers_are_read(void **state)
{
    (void)state;
    const hf_case *model = hf_case_named("llama");
    char config[4096];
    snprintf(config, sizeof config, "{\"unused\": 1000000000000000019884624838656, %s", model->config + 1);
    const char *large = hf_folder_write("large", model, &(hf_layout){.config = config});
    expect_equal_tensors(hf_folder_write("plain", model, &(hf_layout){0}), large);
    vouch_gguf *gguf = open_folder(large);
    assert_int_equal(get_int(gguf, "llama.embedding_length"), 48);
    vouch_gguf_close(gguf);
}

/* ----------------------------------------------------------------- convert */

static void expect_equal_keys(const char *path, const char *other)
{
    vouch_gguf *a = open_folder(path), *b = open_folder(other);
    assert_int_equal(vouch_gguf_n_kv(a), vouch_gguf_n_kv(b));
    for (size_t i = 0; i < vouch_gguf_n_kv(a); i++) {
        vouch_gguf_type type, same;
        const vouch_text key = vouch_gguf_key(a, i, &type), also = vouch_gguf_key(b, i, &same);
        assert_true(type == same && key.size == also.size && memcmp(key.data, also.data, key.size) == 0);
    }
    assert_int_equal(gguf_walk(a), gguf_walk(b));
    vouch_gguf_close(a);
    vouch_gguf_close(b);
}

static void converted_files_are_the_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"llama",      "phi3 long", "gemma3_text", "stablelm",
                                        "falcon 40b", "qwen3_moe", "gemma4_text"};
    float logits[64], again[64];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *folder = hf_folder_write("convert", hf_case_named(names[i]), &(hf_layout){.n_files = 2});
        char out[256];
        strcpy(out, test_temporary("convert.gguf"));
        expect(RUN("convert", folder, out, "--force"), 0, " MB of weights\n");
        expect_equal_tensors(folder, out);
        expect_equal_keys(folder, out);
        run_logits(folder, logits);
        run_logits(out, again);
        assert_memory_equal(logits, again, (size_t)hf_vocabulary * sizeof *logits);
    }
}

static void conversion_can_change_types(void **state)
{
    (void)state;
    float logits[64];
    const hf_case *model = hf_case_named("llama");
    const char *folder = hf_folder_write("types", model, &(hf_layout){0});
    char out[256];
    strcpy(out, test_temporary("types.gguf"));
    expect(RUN("convert", folder, out, "--type", "f16"), 0, "tensors converted");
    run_logits(out, logits);
    assert_true(largest_difference(logits, model->logits) < 2e-5); /* F16 holds these weights exactly */
    expect(RUN("convert", folder, out, "--type", "Q8_0"), 1, "exists already");
    expect(RUN("convert", folder, out, "--type", "Q8_0", "--force"), 0, "tensors converted");
    result info = RUN("info", out);
    assert_non_null(strstr(info.out, "F16")); /* 48 columns are no whole blocks of 32 */
    result_free(&info);
    expect(RUN("convert", folder, out, "--type", "Q9", "--force"), 2, "type 'Q9': expected one of ");
    expect(RUN("convert", folder), 2, "OUT is missing: expected MODEL OUT");
    expect(RUN("convert", test_temporary(""), out, "--force"), 1, "is a folder without config.json");
}

/* generation_config.json becomes the keys of GGUF: what transformers would do with the folder. */
static void recommendations_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *config, *expected; /* the line of `vouch info`, or the complaint */
        bool is_wrong;
    } cases[] = {
        {"{\"do_sample\": true, \"temperature\": 0.6, \"top_k\": 20, \"top_p\": 0.9, \"min_p\": 0.05}",
         "temperature 0.6 (file), top-k 20 (file), top-p 0.9 (file), min-p 0.05 (file)\n", false},
        {"{\"do_sample\": true, \"top_k\": 64}", "temperature 1 (file), top-k 64 (file)\n", false},
        {"{\"do_sample\": true, \"typical_p\": 0.9}", "temperature 1 (file), typical 0.9 (file)\n", false},
        {"{\"temperature\": 0.3}", "temperature 0.3 (file), top-p 0.95\n", false},
        {"{\"do_sample\": false, \"temperature\": 0.3}", "greedy (file)\n", false},
        {"{\"repetition_penalty\": 1.25, \"temperature\": null}",
         "temperature 0.8, top-p 0.95, repeat-penalty 1.25 (file), penalty-window all (file)\n", false},
        {"{\"eos_token_id\": 2}", "temperature 0.8, top-p 0.95 (vouch's default; the file recommends none)\n", false},
        {"{\"temperature\": \"hot\"}", "generation_config.json: temperature is a string, expected a number", true},
        {"{\"temperature\": -1}", "generation_config.json: temperature is -1, expected 0 to", true},
        {"{\"top_p\": 1.5}", "generation_config.json: top_p is 1.5, expected 0 to 1", true},
        {"{\"typical_p\": 0}", "generation_config.json: typical_p is 0, expected 1e-06 to 1", true},
        {"{\"top_k\": 2.5}", "generation_config.json: top_k is a float, expected an integer", true},
        {"{\"do_sample\": 1}", "generation_config.json: do_sample is an integer, expected true or false", true},
        {"[1]", "generation_config.json", true},
    };
    const char *folder = hf_folder_write("recommends", hf_case_named("llama"), &(hf_layout){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_whole(hf_file(folder, "generation_config.json"), cases[i].config, strlen(cases[i].config));
        result r = RUN("info", folder);
        assert_int_equal(r.status, cases[i].is_wrong);
        const char *line = cases[i].is_wrong ? r.err : strstr(r.out, "sampling ");
        if (!line || !strstr(line, cases[i].expected)) fail_msg("%s: %s%s", cases[i].config, r.out, r.err);
        result_free(&r);
    }
}

/* A limit on the file's size stands for a full disk. Nothing may be left. */
static void failed_conversion_leaves_nothing(void **state)
{
    (void)state;
    const char *folder = hf_folder_write("full", hf_case_named("llama"), &(hf_layout){0});
    char into[256], out[320];
    strcpy(into, test_temporary("into"));
    assert_int_equal(mkdir(into, 0700), 0);
    snprintf(out, sizeof out, "%s/out.gguf", into);
    result r = run_as(&(setting){.file_limit = 100000}, "vouch", ARGUMENTS("convert", folder, out));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "can't write"));
    result_free(&r);
    assert_int_equal(rmdir(into), 0); /* it is empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_are_those_of_transformers),
        cmocka_unit_test(bare_names_mean_the_same),
        cmocka_unit_test(pooling_is_read),
        cmocka_unit_test(comparison_notices_another_number),
        cmocka_unit_test(pieces_are_the_whole),
        cmocka_unit_test(shards_are_one_model),
        cmocka_unit_test(tied_output_is_left_out),
        cmocka_unit_test(other_wordings_of_gemma4),
        cmocka_unit_test(converted_files_are_the_folder),
        cmocka_unit_test(conversion_can_change_types),
        cmocka_unit_test(failed_conversion_leaves_nothing),
        cmocka_unit_test(large_integers_are_read),
        cmocka_unit_test(changed_files_are_noticed),
        cmocka_unit_test(recommendations_are_read),
        cmocka_unit_test(other_wordings_mean_the_same),
        cmocka_unit_test(unknown_members_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
