/* SPDX-License-Identifier: MIT */
/*
 * No folder crashes the reader (law L5): safetensors, index and config.json that are wrong in one way, which the error
 * must name; then random damage, which must end in an error or in a model that can be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/open/open.h"
#include "format/safetensors.h"
#include "os/os.h"
#include "support/model/gguf.h"
#include "support/model/hf_model.h"
#include "support/mutate.h"

/* ------------------------------------------------------------ safetensors */

/* Writes a safetensors file with this header and n bytes of zeros. It states `length` as the header's length, or the
 * right one where `length` is 0. */
static const char *write_header(const char *header, size_t n, uint64_t length)
{
    const char *path = test_temporary("one.safetensors");
    const size_t size = strlen(header);
    char *bytes = calloc(1, 8 + size + n + 1);
    assert_non_null(bytes);
    if (length == 0) length = size;
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + 8, header, size);
    write_whole(path, bytes, 8 + size + n);
    free(bytes);
    return path;
}

static void expect_bad(const char *header, size_t n, const char *words)
{
    vouch_safetensors file;
    vouch_error err = {0};
    const char *path = write_header(header, n, 0);
    const vouch_status status = vouch_safetensors_open(&file, path, &err);
    if (status == VOUCH_OK || !strstr(err.message, words) || strncmp(err.message, path, strlen(path)) != 0)
        fail_msg("%s\n%d: '%s' for '%s'", header, status, err.message, words);
    assert_true(file.tensors == NULL && file.map.data == NULL);
}

static void expect_good(const char *header, size_t n, size_t n_tensors)
{
    vouch_safetensors file;
    vouch_error err = {0};
    if (vouch_safetensors_open(&file, write_header(header, n, 0), &err)) fail_msg("%s: %s", header, err.message);
    assert_int_equal(file.n, n_tensors);
    vouch_safetensors_close(&file);
}

#define TENSOR(name, dtype, shape, offsets) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static void bad_headers(void **state)
{
    (void)state;
    vouch_safetensors file;
    vouch_error err;
    const char *path = test_temporary("short.safetensors");
    write_whole(path, "\2\0\0\0", 4);
    assert_int_equal(vouch_safetensors_open(&file, path, &err), VOUCH_E_FORMAT);
    assert_non_null(strstr(err.message, "has 4 bytes, too few"));
    static const uint64_t lengths[] = {3, UINT64_MAX, UINT64_MAX - 7, 1ull << 63, 1ull << 32};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_int_equal(vouch_safetensors_open(&file, write_header("{}", 0, lengths[i]), &err), VOUCH_E_FORMAT);
        assert_non_null(strstr(err.message, "its header would have"));
    }
    expect_bad(" {}", 0, "doesn't begin with '{'");
    expect_bad("\xef\xbb\xbf{}", 0, "doesn't begin with '{'");
    expect_bad("[]", 0, "doesn't begin with '{'");
    expect_bad("{\"a\":\"\xff\"}", 0, "header, byte ");
    expect_bad("{} x", 0, "header, byte ");
    expect_bad("{\"a\\u0000b\":{}}", 0, "header, byte ");
    char *deep = malloc(200002);
    assert_non_null(deep);
    memset(deep, '[', 200001);
    memcpy(deep, "{\"a\":", 5);
    deep[200001] = 0;
    expect_bad(deep, 0, "header, byte ");
    free(deep);
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("a", "F32", "[1]", "[4,8]") "}", 8, "duplicate");
}

static void bad_tensors(void **state)
{
    (void)state;
    expect_bad("{\"a\":1}", 0, "tensor 'a': its entry is no object");
    expect_bad("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "dtype is missing");
    expect_bad("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "shape is missing");
    expect_bad("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets is no pair");
    expect_bad("{" TENSOR("a", "f32", "[1]", "[0,4]") "}", 4, "unknown dtype 'f32'");
    expect_bad("{" TENSOR("a", "F4", "[3]", "[0,1]") "}", 1, "span 1 bytes");
    expect_bad("{" TENSOR("a", "F32", "[-1]", "[0,4]") "}", 4, "no integer from 0 on");
    expect_bad("{" TENSOR("a", "F32", "[1.0]", "[0,4]") "}", 4, "no integer from 0 on");
    expect_bad("{" TENSOR("a", "F32", "[\"1\"]", "[0,4]") "}", 4, "no integer from 0 on");
    expect_bad("{" TENSOR("a", "F32", "[1e30]", "[0,4]") "}", 4, "no integer from 0 on");
    expect_bad("{" TENSOR("a", "F32", "[4294967296,4294967296]", "[0,4]") "}", 4, "product of its dimensions");
    expect_bad("{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4, "9 dimensions");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0]") "}", 4, "no pair of integers");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0,4,8]") "}", 4, "no pair of integers");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0.0,4]") "}", 4, "no pair of integers");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[-4,0]") "}", 4, "-4 to 0 lie outside");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[4,0]") "}", 4, "4 to 0 lie outside");
    expect_bad("{" TENSOR("a", "F32", "[2]", "[0,8]") "}", 4, "is the download complete?");
    expect_bad("{" TENSOR("a", "F32", "[2]", "[0,4]") "}", 4, "span 4 bytes, but shape and dtype need 8");
    expect_bad("{" TENSOR("a", "F32", "[2]", "[0,8]") "," TENSOR("b", "F32", "[2]", "[4,12]") "}", 12, "overlap");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0,4]") "," TENSOR("b", "F32", "[1]", "[0,4]") "}", 4, "overlap");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[4,8]") "}", 8, "tensor 'a': a gap precedes its data");
    expect_bad("{" TENSOR("a", "F32", "[1]", "[0,4]") "}", 9, "5 bytes follow the last tensor");
}

static void good_files(void **state)
{
    (void)state;
    expect_good("{}", 0, 0);
    expect_good("{\"__metadata__\":{\"format\":\"pt\"}}  ", 0, 0);
    expect_good("{" TENSOR("empty", "F32", "[0,4]", "[0,0]") "}", 0, 1);
    expect_good("{" TENSOR("scalar", "F16", "[]", "[0,2]") "}", 2, 1);
    expect_good("{" TENSOR("b", "F32", "[1]", "[4,8]") "," TENSOR("a", "F32", "[1]", "[0,4]") "}", 8, 2);
    expect_good("{" TENSOR("four bits", "F4", "[4]", "[0,2]") "}", 2, 1);
}

/* ----------------------------------------------------------------- folders */

static void expect_refusal(const char *folder, const char *words)
{
    vouch_gguf *gguf;
    vouch_error err = {0};
    const vouch_status status = vouch_format_open(&gguf, folder, &err);
    if (status == VOUCH_OK || gguf || !strstr(err.message, words))
        fail_msg("%d: '%s' for '%s'", status, err.message, words);
}

/* Replaces the first `from` of the model's config.json by `to`, then expects an error with these words. */
static void expect_config(const char *name, const char *from, const char *to, const char *words)
{
    expect_refusal(hf_folder_reworded(hf_case_named(name), from, to), words);
}

static void bad_configs(void **state)
{
    (void)state;
    expect_config("llama", "{", "[", "config.json: line 1, column ");
    expect_config("llama", "\"llama\"", "\"lama\"",
                  "model_type 'lama' is not supported in a folder (docs/models.md lists the supported ones); ");
    expect_config("llama", "\"model_type\"", "\"model\"", "config.json: model_type is missing");
    expect_config("llama", "\"hidden_size\": 48", "\"hidden_size\": \"48\"",
                  "hidden_size is a string, expected an int");
    expect_config("llama", "\"hidden_size\": 48", "\"hidden_size\": -1", "hidden_size is -1, expected 1 to 1048576");
    expect_config("llama", "\"hidden_size\": 48", "\"hidden_size\": null", "hidden_size is missing");
    expect_config("llama", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 99999999999",
                  "num_hidden_layers is 999");
    expect_config("llama", "\"num_key_value_heads\": 3", "\"num_key_value_heads\": 4",
                  "num_attention_heads is 6, num_key_value_heads 4, head_dim 80");
    expect_config("llama", "\"silu\"", "\"relu\"", "hidden_act is \"relu\", which vouch doesn't support");
    expect_config("llama", "\"default\"", "\"dynamic\"", "rope_parameters.rope_type is \"dynamic\", which vouch");
    expect_config("llama", "10000.0", "0", "rope_theta is 0, expected 1 to 1e+12");
    expect_config("llama", "\"mlp_bias\"", "\"quantization_config\": {}, \"mlp_bias\"", "the weights are quantised");
    expect_config("qwen3_moe", "\"norm_topk_prob\": true", "\"norm_topk_prob\": false", "norm_topk_prob is false");
    expect_config("qwen2", "\"full_attention\"", "\"sliding_attention\"", "layer_types has windows in some layers");
    expect_config("qwen2", "\"full_attention\", ", "", "layer_types has 1 elements, expected one per layer: 2");
    expect_config("lfm2", "\"conv\", ", "", "layer_types has 2 elements, expected one per layer: 3");
    expect_config("lfm2", "\"full_attention\"", "\"sliding_attention\"", "layer_types has other types than attention");
    expect_config("lfm2", "\"layer_types\"", "\"other\"", "layer_types is missing");
    expect_config("lfm2", "\"conv_bias\": false", "\"conv_bias\": true", "conv_bias is true");
    expect_config("qwen3_next", "\"full_attention_interval\": 2", "\"full_attention_interval\": 3",
                  "layer_types and full_attention_interval disagree");
    expect_config("qwen3_next", "\"linear_num_value_heads\": 4", "\"linear_num_value_heads\": 6",
                  "its rows aren't the queries, keys, values and gates");
    expect_config("jamba", "\"attn_layer_offset\": 1", "\"attn_layer_offset\": 2", "attn_layer_offset");
    expect_config("gpt_oss", "\"swiglu_limit\": 7.0", "\"swiglu_limit\": 5.0",
                  "swiglu_limit is 5.0; for model_type 'gpt_oss' vouch supports only 7");
    expect_config("gpt_oss mxfp4", "mxfp4", "fp8", "the weights are quantised (quantization_config: fp8)");
    expect_config("mamba2", "1000000000.0", "0.5", "time_step_limit is [0.0,0.5], which vouch doesn't support");
    expect_config("mamba2", "\"n_groups\": 2", "\"n_groups\": 5",
                  "expected a vector whose length is a multiple of the number of groups");
    expect_config("granitemoehybrid", "\"position_embedding_type\": null", "\"position_embedding_type\": \"alibi\"",
                  "a position_embedding_type other than rope and nope");
    expect_config("gemma4", "\"layer_types\"", "\"other\"", "layer_types is missing");
    expect_config("gemma4", "\"attention_bias\": false", "\"attention_bias\": true", "attention_bias is true");
    expect_config("gemma4", "\"proportional\"", "\"proportional\", \"mood\": 1",
                  "rope_parameters.full_attention.mood is 1, which vouch doesn't support");
    expect_config("gemma4", "\"vocab_size_per_layer_input\": 40", "\"vocab_size_per_layer_input\": 48",
                  "vocab_size_per_layer_input is 48, and vocab_size 40");
    expect_config("gemma4", "\"proportional\"", "\"yarn\"", "rope_parameters.full_attention.rope_type is 'yarn'");
    expect_config("gemma4", "\"use_bidirectional_attention\": null", "\"use_bidirectional_attention\": \"all\"",
                  "use_bidirectional_attention is 'all', which vouch doesn't support for model_type 'gemma4'");
    expect_config("gemma4", "\"text_config\": {", "\"text_config\": [], \"other\": {", "text_config");
    expect_config("gemma4", "\"tie_word_embeddings\": true}", "\"tie_word_embeddings\": false}",
                  "the output matrix (lm_head.weight) is missing");
    expect_config("gemma4", "\"sliding_window\": 7", "\"sliding_window\": null", "sliding_window is missing");
    expect_config("gemma4", "\"full_attention\"]", "\"sliding_attention\"]",
                  "layer_types gives the last layer a window");
    expect_config("gemma4", "\"rope_type\": \"default\"", "\"rope_type\": \"proportional\", \"factor\": 2",
                  "layers with a window rotate a part of a head, or more slowly");
    expect_config("gemma4", "\"2\": {", "\"3\": {", "per_layer_config: '3' isn't an object named by a layer, 0 to 2");
    expect_config("gemma4", "\"2\": {", "\"2\": {\"sliding_window\": 9, ", "per_layer_config has sliding_window");
    expect_config("gemma4", "\"2\": {", "\"1\": {\"head_dim\": 24}, \"2\": {",
                  "layers of one type (layer_types) have heads of several widths");
    expect_config("gemma4", "\"head_dim\": 32", "\"head_dim\": 2000", "a head is 2000 wide");
    expect_config("gemma4", "\"attention_k_eq_v\": false", "\"attention_k_eq_v\": true",
                  "attention_k_eq_v is true, but layer 2 has a v_proj");
    expect_config("gemma4_text experts", "\"attention_k_eq_v\": true", "\"attention_k_eq_v\": false",
                  "attention_k_eq_v is false, but layer 2 has no v_proj");
    expect_config("gemma4_text experts", "\"enable_moe_block\": true", "\"enable_moe_block\": false",
                  "enable_moe_block is false, but layer 0 has a router");
    expect_config("gemma4", "\"enable_moe_block\": false", "\"enable_moe_block\": true",
                  "enable_moe_block is true, but num_experts is missing");
    expect_config("gemma4_text", "\"num_kv_shared_layers\": 2", "\"num_kv_shared_layers\": 4",
                  "num_kv_shared_layers is 4, expected 0 to 3");
    expect_config("smollm3", "[1, 1, 1, 0, 1]", "[1, 0, 1, 0, 1]", "no_rope_layers is not every fourth layer");
    expect_config("phi3 long", "\"long_factor\": [", "\"long_factor\": [1, ", "long_factor has 5 elements, expected 4");
    expect_config("llama3", "\"high_freq_factor\": 4.0", "\"high_freq_factor\": 1.0", "high_freq_factor 1 must exceed");
    expect_config("llama", "\"rope_theta\"", "\"mood\": 1, \"rope_theta\"",
                  "rope_parameters.mood is 1, which vouch doesn't support for model_type 'llama'");
    expect_config("llama", "\"rope_theta\"", "\"partial_rotary_factor\": 0.5, \"rope_theta\"",
                  "rope_parameters.partial_rotary_factor is 0.5, which vouch doesn't support");
    expect_config("llama", "{", "{\"partial_rotary_factor\": 0.25, ",
                  "partial_rotary_factor is 0.25; for model_type 'llama' vouch supports only 1");
    expect_config("llama", "{", "{\"layer_types\": [\"full_attention\"], ",
                  "layer_types is [\"full_attention\"], which vouch doesn't know for model_type 'llama'");
    expect_config("llama", "{", "{\"is_encoder_decoder\": true, ", "is_encoder_decoder is true; for model_type");
    expect_config("llama", "\"attention_bias\": true", "\"attention_bias\": false",
                  "attention_bias is false, but the folder has the tensor 'model.layers.0.self_attn.");
    expect_config("llama", "\"attention_bias\": true", "\"other\": true",
                  "attention_bias isn't given, which means false, but the folder has the tensor");
    expect_config("llama3", "\"attention_bias\": false", "\"attention_bias\": true",
                  "attention_bias is true, but the folder has no tensor '....self_attn.q_proj.bias'");
    expect_config("llama3", "\"low_freq_factor\": 1.0", "\"low_freq_factor\": null", "low_freq_factor is missing");
    expect_config("llama", "\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": Infinity", "rms_norm_eps is inf, expected ");
    expect_config("qwen2", "\"yarn\"", "\"yarn\", \"extrapolation_factor\": 0.5",
                  "rope_parameters.extrapolation_factor is 0.5, which vouch doesn't support");
    expect_config("qwen2", "\"yarn\"", "\"yarn\", \"llama_4_scaling_beta\": 0.1",
                  "rope_parameters.llama_4_scaling_beta is 0.1, which vouch doesn't support");
    expect_config("gemma3_text", "\"rope_theta\": 10000.0, \"rope_type\": \"default\"",
                  "\"rope_theta\": 10000.0, \"rope_type\": \"linear\", \"factor\": 2",
                  "rope_parameters.sliding_attention.rope_type is \"linear\", which vouch doesn't support");
    expect_config("gemma3_text", "\"full_attention\": {", "\"truncate\": false, \"full_attention\": {",
                  "rope_parameters.truncate is false, which vouch doesn't support");
    expect_config("gemma3_text scalar", "\"linear\"", "\"yarn\", \"truncate\": false",
                  "rope_parameters.full_attention.truncate is false, which vouch doesn't support");
    expect_config("exaone4", "\"full_attention\"", "\"sliding_attention\"",
                  "layer_types gives layers a window, but sliding_window is missing");
    expect_config("mixtral", "\"num_local_experts\": 5", "\"num_local_experts\": 5, \"num_experts\": 4",
                  "num_local_experts has two values under its names num_local_experts|num_experts");
    expect_config("mixtral", "\"intermediate_size\": 40", "\"intermediate_size\": 48", "48, but the tensor '");
    expect_config("lfm2_moe", "\"num_dense_layers\": 1", "\"num_dense_layers\": 2",
                  "give layer 1 no experts, but the folder has a router");
    expect_config("gpt_oss mxfp4", "\"mxfp4\"", "\"mxfp4\", \"block\": 16",
                  "quantization_config.block is 16, which vouch doesn't support");
    expect_config("qwen3_next", "\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": 0.1",
                  "rms_norm_eps is 0.1; for model_type 'qwen3_next' vouch supports only 1e-6");
    expect_config("falcon 7b", "\"alibi\": false", "\"alibi\": true", "alibi is true");
    expect_config("falcon 7b", "\"multi_query\": true", "\"multi_query\": false",
                  "aren't the queries, keys and values");
}

/* Sizes that contradict the tensors: the error has the tensor, by both of its names, and the sizes of config.json. */
static void contradictions_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from, *to, *words[3];
    } cases[] = {
        {"llama",
         "\"head_dim\": 80",
         "\"head_dim\": 16",
         {"'blk.0.attn_q.weight' (model.layers.0.self_attn.q_proj.weight) has shape [48, 480, 1, 1], must be [48, 96]",
          "; config.json: ", "head_dim is 16"}},
        {"llama",
         "\"num_hidden_layers\": 2",
         "\"num_hidden_layers\": 1",
         {"(model.layers.1.", " has no place in a llama model of 1 layers; config.json: ", "num_hidden_layers is 1"}},
        {"llama", "\"head_dim\"", "\"other\"", {"must be [48, 48]", "num_key_value_heads is 3", "head_dim is null"}},
        {"qwen3_moe",
         "\"num_local_experts\": 5",
         "\"num_local_experts\": 4",
         {"(model.layers.0.mlp.gate.weight) has shape [48, 5, 1, 1], must be [48, 4]", "num_local_experts is 4", ""}},
        {"gemma4_text experts",
         "\"num_experts\": 5",
         "\"num_experts\": 4",
         {"(model.layers.0.router.", "num_experts is 4", ""}},
        {"gpt_neox",
         "\"num_attention_heads\": 6",
         "\"num_attention_heads\": 6, \"head_dim\": 32",
         {"query_key_value", "aren't the queries, keys and values; config.json: ", "head_dim is 32"}},
    };
    vouch_model_options options = vouch_model_options_default();
    options.text_only = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *folder = hf_folder_reworded(hf_case_named(cases[i].name), cases[i].from, cases[i].to);
        vouch_model *model;
        vouch_error err = {0};
        assert_int_not_equal(vouch_model_open(&model, folder, &options, &err), VOUCH_OK);
        for (int j = 0; j < 3; j++)
            if (!strstr(err.message, cases[i].words[j])) fail_msg("'%s' for '%s'", err.message, cases[i].words[j]);
    }
}

static void bad_folders(void **state)
{
    (void)state;
    const hf_case *llama = hf_case_named("llama"), *mixtral = hf_case_named("mixtral");
    const char *folder = test_temporary("empty");
    vouch_os_folder_make(folder, 0700);
    expect_refusal(folder, "is a folder without config.json");
    folder = hf_folder_write("weights", llama, &(hf_layout){0});
    assert_int_equal(unlink(hf_file(folder, "model.safetensors")), 0);
    expect_refusal(folder, "has no model.safetensors and no model.safetensors.index.json");
    write_whole(hf_file(folder, "pytorch_model.bin"), "x", 1);
    expect_refusal(folder, "pytorch_model.bin, which can run code");

    folder = hf_folder_write("stack", mixtral,
                             &(hf_layout){.left_out = "model.layers.1.block_sparse_moe.experts.2.w1.weight"});
    expect_refusal(folder, "experts.3.w1.weight': the tensor before it in its stack is missing");
    folder = hf_folder_write("output", llama, &(hf_layout){.left_out = "lm_head.weight"});
    expect_refusal(folder, "(lm_head.weight) is missing, and tie_word_embeddings is false");
    folder = hf_folder_write("router", hf_case_named("gemma4_text experts"),
                             &(hf_layout){.left_out = "model.layers.0.router.proj.weight"});
    expect_refusal(folder, "enable_moe_block is true, but layer 0 has no router");
    folder =
        hf_folder_write("names", hf_case_named("stablelm"), &(hf_layout){.config = hf_case_named("mistral")->config});
    expect_refusal(folder, "self_attn.k_layernorm.norms.0.weight': has no place in a model of type 'mistral'");
}

/* Replaces the first `from` of the index by `to`, then expects an error with these words. */
static void expect_index(const char *from, const char *to, const char *words)
{
    const char *folder = hf_folder_write("index", hf_case_named("llama"), &(hf_layout){.n_files = 3});
    const char *path = hf_file(folder, "model.safetensors.index.json");
    size_t n;
    char *index = read_whole(path, &n), *at = strstr(index, from), *changed = malloc(n + strlen(to) + 1);
    assert_true(at && changed);
    const int size = snprintf(changed, n + strlen(to) + 1, "%.*s%s%s", (int)(at - index), index, to, at + strlen(from));
    write_whole(path, changed, (size_t)size);
    free(index);
    free(changed);
    expect_refusal(folder, words);
}

static void bad_indexes(void **state)
{
    (void)state;
    expect_index("weight_map", "weight_mop", "weight_map is missing");
    expect_index("\"model-00001", "\"../model-00001", "expected a .safetensors file of this folder");
    expect_index("\"model-00001", "\"/model-00001", "expected a .safetensors file of this folder");
    expect_index("\"model-00001-of-00003.safetensors\"", "7", "expected a .safetensors file of this folder");
    expect_index("model-00001-of-00003", "model-00002-of-00003", "weight_map says model-00002-of-00003.safetensors");
    expect_index("model-00001-of-00003", "model-00009-of-00003", "model-00009-of-00003.safetensors: can't open");
    expect_index("\"lm_head.weight\"", "\"lm_foot.weight\"", "weight_map says nothing");
    expect_index("{\"lm_head", "{\"other\":\"model-00001-of-00003.safetensors\",\"lm_head", "but the files have");
}

/* ------------------------------------------------------------------ damage */

/* Opens the folder's files and reads all tensors, then opens the folder as a model. Both may fail, with a message. */
static size_t try_folder(const char *folder)
{
    vouch_model *model;
    vouch_model_options options = vouch_model_options_default();
    options.text_only = true;
    vouch_gguf *gguf;
    vouch_error err = {0};
    if (vouch_format_open(&gguf, folder, &err) != VOUCH_OK) {
        assert_true(gguf == NULL && err.message[0] && err.code != VOUCH_OK);
        return 0;
    }
    for (size_t i = 0; i < vouch_gguf_n_tensors(gguf); i++) {
        const vouch_gguf_tensor *t = vouch_gguf_get_tensor(gguf, i);
        assert_int_equal(vouch_gguf_load(gguf, t, 0, t->bytes, &err), VOUCH_OK);
    }
    gguf_walk(gguf);
    vouch_gguf_close(gguf);
    if (vouch_model_open(&model, folder, &options, &err) == VOUCH_OK) vouch_model_close(model);
    else assert_true(err.message[0]);
    return 1;
}

/* Damages one file of the folder n times. */
static void damage(const char *folder, const char *name, const char *const *words, size_t most, int n)
{
    size_t size, opened = 0;
    char path[512];
    snprintf(path, sizeof path, "%s", hf_file(folder, name));
    char *bytes = read_whole(path, &size);
    const size_t head = size < most ? size : most; /* the mutator changes these bytes */
    char *changed = malloc(2 * size + 65536);
    mutator m;
    assert_non_null(changed);
    mutator_open(&m, (const uint8_t *)bytes, head, words, 7);
    for (int i = 0; i < n; i++) {
        mutator_next(&m);
        if (m.n > size + 65536) continue;
        memcpy(changed, m.bytes, m.n);
        memcpy(changed + m.n, bytes + head, size - head);
        write_whole(path, changed, m.n + size - head);
        opened += try_folder(folder);
    }
    write_whole(path, bytes, size);
    assert_int_equal(try_folder(folder), 1);
    print_message("%s: %zu of %d damaged files opened\n", name, opened, n);
    mutator_close(&m);
    free(changed);
    free(bytes);
}

static void damaged_files(void **state)
{
    (void)state;
    static const char *const words[] = {"\"F32\"", "\"shape\":",           "[0,",     "null", "-1", "1e9", "\"BF16\"",
                                        "{}",      "18446744073709551616", ".weight", NULL};
    const int n = test_is_quick() ? 150 : 1000;
    const char *folder = hf_folder_write("damage", hf_case_named("mixtral"), &(hf_layout){.n_files = 2});
    damage(folder, "model-00001-of-00002.safetensors", words, 3000, n);
    damage(folder, "config.json", words, SIZE_MAX, n);
    damage(folder, "model.safetensors.index.json", words, SIZE_MAX, n);
    static const char *const others[] = {"gpt_oss mxfp4", "qwen3_next", "granitemoehybrid", "jamba"};
    for (int i = 0; i < 4; i++) {
        folder = hf_folder_write(i % 2 ? "odd" : "even", hf_case_named(others[i]), &(hf_layout){0});
        damage(folder, "model.safetensors", words, 3000, n / 4);
        damage(folder, "config.json", words, SIZE_MAX, n / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_headers),
        cmocka_unit_test(bad_tensors),
        cmocka_unit_test(good_files),
        cmocka_unit_test(bad_configs),
        cmocka_unit_test(bad_folders),
        cmocka_unit_test(bad_indexes),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
