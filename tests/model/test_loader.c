/* SPDX-License-Identifier: MIT */
/*
 * Opening a well-formed GGUF file as a model. A missing, out-of-range or unsupported value or a wrong shape gives an
 * error that names the file, the field and the value. Unusual but valid files open. test_gguf*.c test malformed files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model.h"
#include "os/os.h"
#include "support/decode/answer.h"
#include "support/model/gguf.h"

static const char *path;

/* Opens a model whole and for its text only. Both must give the same status and message. */
static vouch_status open_model(const tiny_model_options *options, vouch_error *err)
{
    vouch_status status[2];
    vouch_error errors[2] = {0};
    path = test_temporary("model.gguf");
    tiny_model_write(path, options);
    for (int text_only = 0; text_only < 2; text_only++) {
        vouch_model *model;
        vouch_model_options open = vouch_model_options_default();
        open.text_only = text_only;
        status[text_only] = vouch_model_open(&model, path, &open, &errors[text_only]);
        assert_int_equal(model == NULL, status[text_only] != VOUCH_OK);
        vouch_model_close(model);
    }
    assert_int_equal(status[0], status[1]);
    assert_string_equal(errors[0].message, errors[1].message);
    *err = errors[0];
    return status[0];
}

/* Checks the status, and that the message names the file and contains these words. */
static void check_refusal(vouch_status status, const vouch_error *err, vouch_status expected, const char *const *words)
{
    if (status != expected || err->code != expected) fail_msg("status %d, message '%s'", status, err->message);
    if (!strstr(err->message, path)) fail_msg("'%s' doesn't name %s", err->message, path);
    for (; *words; words++)
        if (!strstr(err->message, *words)) fail_msg("'%s' doesn't say '%s'", err->message, *words);
}

#define REFUSED(options, expected, ...)                                                                      \
    do {                                                                                                     \
        vouch_error refusal;                                                                                 \
        const vouch_status got_status = open_model((options), &refusal);                                     \
        check_refusal(got_status, &refusal, (expected), (const char *const[]){__VA_ARGS__, NULL});           \
    } while (0)

static void assert_opens(const tiny_model_options *options)
{
    vouch_error err;
    if (open_model(options, &err) != VOUCH_OK) fail_msg("%s", err.message);
}

/* --------------------------------------------------------- hyperparameters */

/* A key with a value of any type, which replaces the file's own. */
typedef struct entry {
    const char *key;
    vouch_gguf_type type; /* VOUCH_GGUF_ARRAY: an array of three u32 */
    int64_t integer;
    double real;
    const char *text;
} entry;

static void add_entry(vouch_gguf_writer *writer, void *user)
{
    const entry *e = user;
    const int32_t i32 = (int32_t)e->integer;
    const uint32_t u32 = (uint32_t)e->integer, three[] = {u32, u32, u32};
    const uint8_t u8 = (uint8_t)e->integer;
    const float f32 = (float)e->real;
    switch (e->type) {
    case VOUCH_GGUF_STRING: vouch_gguf_add_text(writer, e->key, e->text); break;
    case VOUCH_GGUF_ARRAY: vouch_gguf_add_array(writer, e->key, VOUCH_GGUF_U32, three, 3); break;
    case VOUCH_GGUF_F32: vouch_gguf_add_value(writer, e->key, e->type, &f32); break;
    case VOUCH_GGUF_F64: vouch_gguf_add_value(writer, e->key, e->type, &e->real); break;
    case VOUCH_GGUF_I32: vouch_gguf_add_value(writer, e->key, e->type, &i32); break;
    case VOUCH_GGUF_U32: vouch_gguf_add_value(writer, e->key, e->type, &u32); break;
    case VOUCH_GGUF_U8:
    case VOUCH_GGUF_BOOL: vouch_gguf_add_value(writer, e->key, e->type, &u8); break;
    default: vouch_gguf_add_value(writer, e->key, e->type, &e->integer);
    }
}

static tiny_model_options model_with(const entry *e)
{
    return (tiny_model_options){.n_vocab = 50, .omit = e->key, .add = add_entry, .user = (void *)(uintptr_t)e};
}

static void required_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"general.architecture",
                                       "llama.block_count",
                                       "llama.context_length",
                                       "llama.embedding_length",
                                       "llama.feed_forward_length",
                                       "llama.attention.head_count",
                                       "llama.attention.layer_norm_rms_epsilon"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        REFUSED((&(tiny_model_options){.n_vocab = 50, .omit = keys[i]}), VOUCH_E_FORMAT, keys[i]);
}

static void optional_keys_and_other_types(void **state)
{
    (void)state;
    static const entry right[] = {
        {"llama.block_count", VOUCH_GGUF_U64, 2, 0, NULL},
        {"llama.block_count", VOUCH_GGUF_U8, 2, 0, NULL},
        {"llama.embedding_length", VOUCH_GGUF_I32, 64, 0, NULL},
        {"llama.attention.layer_norm_rms_epsilon", VOUCH_GGUF_F64, 0, 1e-6, NULL},
        {"llama.rope.freq_base", VOUCH_GGUF_F64, 0, 5e5, NULL},
        {"llama.rope.dimension_count", VOUCH_GGUF_U32, 8, 0, NULL},
        {"llama.rope.scaling.type", VOUCH_GGUF_STRING, 0, 0, "none"},
        {"llama.expert_count", VOUCH_GGUF_U32, 0, 0, NULL},
        {"llama.attention.head_count_kv", VOUCH_GGUF_ARRAY, 2, 0, NULL},
        {"llama.attention.sliding_window", VOUCH_GGUF_U32, 0, 0, NULL},
        {"llama.attention.sliding_window", VOUCH_GGUF_U32, 5, 0, NULL},
        {"llama.vocab_size", VOUCH_GGUF_U32, 50, 0, NULL},
        {"llama.never.heard.of", VOUCH_GGUF_STRING, 0, 0, "x"},
    };
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        const tiny_model_options options = model_with(&right[i]);
        assert_opens(&options);
    }
    assert_opens(&(tiny_model_options){.n_vocab = 50, .omit = "llama.rope.freq_base"});
    assert_opens(&(tiny_model_options){.n_vocab = 50, .n_kv_heads = 4, .omit = "llama.attention.head_count_kv"});
}

/* Keys of other architectures, which this one doesn't read: those that could change logits are refused, except for
 * values that mean none and llama.cpp's defaults; unknown ones are shown. */
static void keys_that_nobody_reads(void **state)
{
    (void)state;
    static const entry wrong[] = {
        {"llama.attn_logit_softcapping", VOUCH_GGUF_F32, 0, 20, NULL},
        {"llama.rope.freq_base_swa", VOUCH_GGUF_F32, 0, 500, NULL},
        {"llama.residual_scale", VOUCH_GGUF_F32, 0, 0.5, NULL},
        {"llama.attention.causal", VOUCH_GGUF_BOOL, 0, 0, NULL},
        {"llama.swiglu_clamp_exp", VOUCH_GGUF_ARRAY, 2, 0, NULL},
        {"llama.hyper_connection.count", VOUCH_GGUF_U32, 4, 0, NULL},
        {"llama.attn_res.block_size", VOUCH_GGUF_U32, 12, 0, NULL},
        {"llama.expert_latent_length", VOUCH_GGUF_U32, 192, 0, NULL},
        {"llama.experts_per_group", VOUCH_GGUF_U32, 2, 0, NULL},
        {"llama.rescale_every_n_layers", VOUCH_GGUF_U32, 6, 0, NULL},
        {"llama.kda.head_dim", VOUCH_GGUF_U32, 128, 0, NULL},
        {"llama.wkv.head_size", VOUCH_GGUF_U32, 64, 0, NULL},
        {"llama.hrm.layers_per_stack", VOUCH_GGUF_U32, 1, 0, NULL},
        {"llama.altup.num_inputs", VOUCH_GGUF_U32, 4, 0, NULL},
    };
    static const entry right[] = {
        {"llama.attn_logit_softcapping", VOUCH_GGUF_F32, 0, 50, NULL},
        {"llama.attn_logit_softcapping", VOUCH_GGUF_F32, 0, 0, NULL},
        {"llama.residual_scale", VOUCH_GGUF_F32, 0, 1, NULL},
        {"llama.attention.causal", VOUCH_GGUF_BOOL, 1, 0, NULL},
        {"llama.pooling_type", VOUCH_GGUF_U32, 3, 0, NULL},
        {"llama.hyper_connection.count", VOUCH_GGUF_U32, 0, 0, NULL},
        {"llama.hyper_connection.magnitude", VOUCH_GGUF_F32, 0, 2, NULL},
        {"llama.kda.gate_lower_bound", VOUCH_GGUF_F32, 0, -INFINITY, NULL},
        {"llama.token_shift_count", VOUCH_GGUF_U32, 2, 0, NULL},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tiny_model_options options = model_with(&wrong[i]);
        REFUSED(&options, VOUCH_E_UNSUPPORTED, wrong[i].key);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        const tiny_model_options options = model_with(&right[i]);
        assert_opens(&options);
    }
}

/* Each is refused with its status, its key and these words. */
static const struct {
    entry e;
    vouch_status status;
    const char *says;
} wrong_values[] = {
#define INTEGER(key, type, value, says)                                                                      \
{                                                                                                        \
    {key, VOUCH_GGUF_##type, value, 0, NULL}, VOUCH_E_FORMAT, says                                       \
}
#define REAL(key, type, value, says)                                                                         \
{                                                                                                        \
    {key, VOUCH_GGUF_##type, 0, value, NULL}, VOUCH_E_FORMAT, says                                       \
}
#define TEXT(key, value, status, says)                                                                       \
{                                                                                                        \
    {key, VOUCH_GGUF_STRING, 0, 0, value}, status, says                                                  \
}
    /* Values of the wrong type. */
    TEXT("llama.block_count", "two", VOUCH_E_FORMAT, "string"),
    REAL("llama.block_count", F32, 2, "f32"),
    INTEGER("llama.block_count", BOOL, 1, "bool"),
    INTEGER("llama.embedding_length", ARRAY, 64, "array"),
    /* Lists of a number per layer. */
    INTEGER("llama.attention.head_count", ARRAY, 0, "[0] is 0, must be 1 to 4096"),
    INTEGER("llama.attention.head_count_kv", ARRAY, 3, "no multiple"),
    INTEGER("llama.feed_forward_length", ARRAY, 1 << 23, "8388608"),
    INTEGER("llama.attention.layer_norm_rms_epsilon", U32, 1, "u32"),
    INTEGER("general.architecture", U32, 1, "u32"),
    INTEGER("llama.rope.scaling.type", U32, 1, "u32"),
    /* Values out of range. */
    INTEGER("llama.block_count", U32, 0, "0"),
    INTEGER("llama.block_count", I32, -2, "-2"),
    INTEGER("llama.block_count", U32, 1u << 31, "2147483648"),
    INTEGER("llama.context_length", U32, 0, "0"),
    INTEGER("llama.context_length", U32, UINT32_MAX, "4294967295"),
    INTEGER("llama.context_length", U64, -1, "18446744073709551615"),
    INTEGER("llama.embedding_length", U32, 0, "0"),
    INTEGER("llama.embedding_length", U64, INT64_MAX, "9223372036854775807"),
    INTEGER("llama.feed_forward_length", U32, 0, "0"),
    INTEGER("llama.feed_forward_length", I32, -96, "-96"),
    INTEGER("llama.attention.head_count", U32, 0, "0"),
    INTEGER("llama.attention.head_count", U32, 1u << 20, "1048576"),
    INTEGER("llama.attention.head_count_kv", U32, 0, "0"),
    INTEGER("llama.attention.head_count_kv", U32, 5, "5"),
    INTEGER("llama.attention.key_length", U32, 0, "0"),
    INTEGER("llama.attention.key_length", U32, 4096, "4096"),
    INTEGER("llama.rope.dimension_count", U32, 0, "0"),
    INTEGER("llama.rope.dimension_count", U32, 18, "18"),
    INTEGER("llama.rope.dimension_count", U32, 7, "7"),
    INTEGER("llama.rope.dimension_count", I32, -8, "-8"),
    REAL("llama.attention.layer_norm_rms_epsilon", F32, 0, "0"),
    REAL("llama.attention.layer_norm_rms_epsilon", F32, -1e-5, "-1e-05"),
    REAL("llama.attention.layer_norm_rms_epsilon", F32, NAN, "nan"),
    REAL("llama.attention.layer_norm_rms_epsilon", F32, 2, "2"),
    REAL("llama.rope.freq_base", F32, 0, "0"),
    REAL("llama.rope.freq_base", F32, NAN, "nan"),
    REAL("llama.rope.freq_base", F64, INFINITY, "inf"),
    REAL("llama.rope.freq_base", F32, -10000, "-10000"),
    INTEGER("llama.vocab_size", U32, 51, "51"),
    /* Values that contradict each other. */
    INTEGER("llama.attention.head_count_kv", U32, 3, "no multiple"),
    INTEGER("llama.attention.value_length", U32, 1, "2 to 1024"),
    INTEGER("llama.attention.head_count", U32, 64, "head width"),
    /* Unsupported values. */
    TEXT("general.architecture", "gpt5", VOUCH_E_UNSUPPORTED, "'gpt5' is not supported; docs/models.md lists"),
    TEXT("general.architecture", "", VOUCH_E_UNSUPPORTED, "'' is not supported; docs/models.md lists"),
    TEXT("general.architecture", "dream", VOUCH_E_UNSUPPORTED, "'dream': this is a diffusion model"),
    TEXT("general.architecture", "qwen3tts", VOUCH_E_UNSUPPORTED, "a model of speech"),
    TEXT("general.architecture", "clip", VOUCH_E_UNSUPPORTED, "give the file of its language model"),
    TEXT("general.architecture", "t5", VOUCH_E_UNSUPPORTED, "t5"),
    TEXT("llama.rope.scaling.type", "dynamic", VOUCH_E_UNSUPPORTED, "dynamic"),
    {{"llama.attention.sliding_window", VOUCH_GGUF_U32, 1u << 31, 0, NULL}, VOUCH_E_FORMAT, "sliding_window"},
    {{"llama.expert_count", VOUCH_GGUF_U32, 1025, 0, NULL}, VOUCH_E_FORMAT, "0 to 1024"},
};

static void hyperparameters_out_of_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_values / sizeof wrong_values[0]; i++) {
        const tiny_model_options options = model_with(&wrong_values[i].e);
        const char *dot = strrchr(wrong_values[i].e.key, '.');
        const bool together = strstr(wrong_values[i].says, "head width") != NULL;
        REFUSED(&options, wrong_values[i].status, wrong_values[i].says, together ? "head" : dot + 1);
    }
    const entry narrow = {"llama.attention.value_length", VOUCH_GGUF_U32, 8, 0, NULL};
    const tiny_model_options options = model_with(&narrow);
    REFUSED(&options, VOUCH_E_FORMAT, "blk.0.attn_v.weight", "must be [64, 16]");
}

static void a_list_has_a_number_for_each_layer(void **state)
{
    (void)state;
    static const entry heads = {"llama.attention.head_count", VOUCH_GGUF_ARRAY, 4, 0, NULL};
    tiny_model_options options = model_with(&heads);
    options.n_layers = 3;
    assert_opens(&options);
    options.n_layers = 4;
    REFUSED(&options, VOUCH_E_FORMAT, "head_count has 3 elements", "each of 4 layers");
}

/* Widths of latent attention, and the tensors in either layout. */
static void latent_attention_must_fit_together(void **state)
{
    (void)state;
    static const struct {
        entry e;
        const char *says;
    } wrong[] = {
        {{"minicpm3.attention.kv_lora_rank", VOUCH_GGUF_U32, 15, 0, NULL}, "16 to 1024"},
        {{"minicpm3.attention.kv_lora_rank", VOUCH_GGUF_U32, 2048, 0, NULL}, "16 to 1024"},
        {{"minicpm3.attention.kv_lora_rank", VOUCH_GGUF_U32, 48, 0, NULL}, "must be [64, 80]"},
        {{"minicpm3.attention.q_lora_rank", VOUCH_GGUF_U32, 16, 0, NULL}, "must be [64, 16]"},
        {{"minicpm3.attention.key_length", VOUCH_GGUF_U32, 48, 0, NULL}, "must be [32, 192]"},
        {{"minicpm3.attention.value_length", VOUCH_GGUF_U32, 32, 0, NULL}, "must be [32, 256]"},
        {{"minicpm3.rope.dimension_count", VOUCH_GGUF_U32, 128, 0, NULL}, "128"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tiny_model_options options = model_with(&wrong[i].e);
        options.arch = "minicpm3";
        REFUSED(&options, VOUCH_E_FORMAT, wrong[i].says);
    }
    const entry odd = {"minicpm3.rope.dimension_count", VOUCH_GGUF_U32, 8, 0, NULL};
    tiny_model_options options = model_with(&odd);
    options.arch = "minicpm3";
    REFUSED(&options, VOUCH_E_UNSUPPORTED, "rope.dimension_count 8", "multiples of 16");
    static const char *const tensors[] = {"blk.0.attn_kv_a_mqa.weight", "blk.1.attn_kv_a_norm.weight",
                                          "blk.0.attn_q_a.weight", "blk.1.attn_q_a_norm.weight",
                                          "blk.1.attn_q_b.weight"};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        REFUSED((&(tiny_model_options){.arch = "minicpm3", .n_vocab = 50, .omit = tensors[i]}), VOUCH_E_FORMAT,
                tensors[i], "is missing");
    REFUSED((&(tiny_model_options){.arch = "minicpm3", .n_vocab = 50, .omit = "blk.1.attn_kv_b.weight"}),
            VOUCH_E_FORMAT, "attn_k_b.weight' is missing");
}

static void mixtures_must_fit_together(void **state)
{
    (void)state;
    tiny_model_options options = {.n_vocab = 50, .n_experts = 8, .n_used = 3};
    assert_opens(&options);
#define MIXTURE(name, number, says)                                                      \
    {                                                                                    \
        {"llama." name, VOUCH_GGUF_U32, number, 0, NULL}, says                           \
    }
    static const struct {
        entry e;
        const char *says;
    } wrong[] = {
        MIXTURE("expert_used_count", 0, "1 to 8"),
        MIXTURE("expert_used_count", 9, "1 to 8"),
        MIXTURE("expert_count", 7, "must be [64, 7]"),
        MIXTURE("expert_count", 0, "needs llama.expert_count of 1 to 1024"),
        MIXTURE("nextn_predict_layers", 2, "0 to 1"),
        MIXTURE("expert_group_count", 9, "0 to 8"),
        MIXTURE("expert_group_count", 2, "expert_group_used_count"),
    };
#undef MIXTURE
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.omit = wrong[i].e.key;
        options.add = add_entry;
        options.user = (void *)(uintptr_t)&wrong[i].e;
        REFUSED(&options, VOUCH_E_FORMAT, wrong[i].says);
    }
    static const char *const tensors[] = {"blk.1.ffn_gate_inp.weight", "blk.1.ffn_gate_exps.weight",
                                          "blk.0.ffn_up_exps.weight", "blk.1.ffn_down_exps.weight"};
    options.add = NULL;
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        options.omit = tensors[i];
        REFUSED(&options, VOUCH_E_FORMAT, tensors[i], "is missing");
    }
    options = (tiny_model_options){.arch = "deepseek", .n_vocab = 50, .omit = "blk.1.ffn_gate_shexp.weight"};
    REFUSED(&options, VOUCH_E_FORMAT, "blk.1.ffn_gate_shexp.weight", "is missing");
    options = (tiny_model_options){.arch = "qwen3", .n_vocab = 50, .n_experts = 8, .n_used = 3};
    REFUSED(&options, VOUCH_E_UNSUPPORTED, "qwen3 models with experts");
}

static void recurrent_mixers_must_fit_together(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        entry e;
        const char *says;
    } wrong[] = {
        {"qwen35", {"qwen35.ssm.conv_kernel", VOUCH_GGUF_U32, 1, 0, NULL}, "2 to 16"},
        {"qwen35", {"qwen35.ssm.conv_kernel", VOUCH_GGUF_U32, 4, 0, NULL}, "ssm_conv1d"},
        {"qwen35", {"qwen35.ssm.group_count", VOUCH_GGUF_U32, 3, 0, NULL}, "no multiple of ssm.group_count 3"},
        {"qwen35", {"qwen35.ssm.time_step_rank", VOUCH_GGUF_U32, 8, 0, NULL}, "ssm.inner_size is 64"},
        {"qwen35", {"qwen35.ssm.state_size", VOUCH_GGUF_U32, 2000, 0, NULL}, "1 to 1024"},
        {"qwen35", {"qwen35.ssm.inner_size", VOUCH_GGUF_U32, 32, 0, NULL}, "must be ssm.time_step_rank 4 times"},
        {"qwen35", {"qwen35.full_attention_interval", VOUCH_GGUF_U32, 0, 0, NULL}, "1 to 1024"},
        {"qwen35", {"qwen35.full_attention_interval", VOUCH_GGUF_U32, 1, 0, NULL}, "blk.0.attn_qkv.weight"},
        {"qwen3next", {"qwen3next.ssm.group_count", VOUCH_GGUF_U32, 4, 0, NULL}, "attn_qkv"},
        {"lfm2", {"lfm2.shortconv.l_cache", VOUCH_GGUF_U32, 99, 0, NULL}, "2 to 16"},
        {"lfm2", {"lfm2.shortconv.l_cache", VOUCH_GGUF_U32, 4, 0, NULL}, "shortconv.conv"},
        {"lfm2", {"lfm2.attention.head_count", VOUCH_GGUF_U32, 0, 0, NULL}, "blk.1.shortconv.in_proj.weight"},
        {"lfm2", {"lfm2.attention.head_count_kv", VOUCH_GGUF_U32, 0, 0, NULL}, "blk.1.shortconv.in_proj.weight"},
        {"rwkv6", {"rwkv6.wkv.head_size", VOUCH_GGUF_U32, 24, 0, NULL}, "no multiple of wkv.head_size 24"},
        {"rwkv6", {"rwkv6.wkv.head_size", VOUCH_GGUF_U32, 32, 0, NULL}, "'blk.0.time_mix_first.weight' has shape"},
        {"rwkv6", {"rwkv6.wkv.head_size", VOUCH_GGUF_U32, 0, 0, NULL}, "1 to 1024"},
        {"rwkv6", {"rwkv6.token_shift_count", VOUCH_GGUF_U32, 1, 0, NULL}, "token_shift_count is 1, must be 2"},
        {"rwkv6", {"rwkv6.time_mix_extra_dim", VOUCH_GGUF_U32, 31, 0, NULL}, "must be [64, 155]"},
        {"rwkv6", {"rwkv6.time_decay_extra_dim", VOUCH_GGUF_U32, 0, 0, NULL}, "1 to 65536"},
        {"rwkv6", {"rwkv6.feed_forward_length", VOUCH_GGUF_U32, 0, 0, NULL}, "is 0 in layer 0"},
        {"rwkv6qwen2", {"rwkv6qwen2.attention.head_count_kv", VOUCH_GGUF_U32, 3, 0, NULL}, "head_count_kv 3"},
        {"rwkv6qwen2", {"rwkv6qwen2.token_shift_count", VOUCH_GGUF_U32, 2, 0, NULL}, "is 2, must be 1"},
        {"rwkv7", {"rwkv7.attention.gate_lora_rank", VOUCH_GGUF_U32, 0, 0, NULL}, "missing or 0"},
        {"rwkv7", {"rwkv7.attention.iclr_lora_rank", VOUCH_GGUF_U32, 16, 0, NULL}, "blk.0.time_mix_a1.weight"},
        {"arwkv7", {"arwkv7.attention.gate_lora_rank", VOUCH_GGUF_U32, 16, 0, NULL}, "blk.0.time_mix_g1.weight"},
        {"arwkv7", {"arwkv7.attention.value_residual_mix_lora_rank", VOUCH_GGUF_U32, 16, 0, NULL}, "time_mix_v1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tiny_model_options options = {.arch = wrong[i].arch, .n_vocab = 50};
        assert_opens(&options);
        options.omit = wrong[i].e.key;
        options.add = add_entry;
        options.user = (void *)(uintptr_t)&wrong[i].e;
        REFUSED(&options, VOUCH_E_FORMAT, wrong[i].says);
    }
    static const char *const tensors[] = {"attn_qkv.weight",   "attn_gate.weight", "ssm_out.weight",
                                          "ssm_conv1d.weight", "ssm_dt.bias",      "ssm_a",
                                          "ssm_norm.weight",   "ssm_beta.weight",  "ssm_alpha.weight"};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        char name[48];
        snprintf(name, sizeof name, "blk.0.%s", tensors[i]);
        const tiny_model_options options = {.arch = "qwen35", .n_vocab = 50, .omit = name};
        REFUSED(&options, VOUCH_E_FORMAT, name, "is missing");
    }
}

/* A mixer of RWKV needs all its tensors, and the amounts are a tensor of four dimensions. */
static void mixers_of_rwkv_name_the_missing_tensor(void **state)
{
    (void)state;
    static const struct {
        const char *arch, *tensor;
    } missing[] = {
        {"rwkv6", "blk.0.time_mix_lerp_x.weight"},  {"rwkv6", "blk.1.time_mix_lerp_fused.weight"},
        {"rwkv6", "blk.0.time_mix_w1.weight"},      {"rwkv6", "blk.0.time_mix_w2.weight"},
        {"rwkv6", "blk.1.time_mix_first.weight"},   {"rwkv6", "blk.0.time_mix_decay.weight"},
        {"rwkv6", "blk.0.time_mix_ln.bias"},        {"rwkv6", "blk.0.channel_mix_lerp_r.weight"},
        {"rwkv6", "blk.0.attn_norm_2.weight"},      {"rwkv6", "token_embd_norm.weight"},
        {"rwkv6qwen2", "blk.1.ffn_gate.weight"},    {"rwkv6qwen2", "blk.0.time_mix_gate.weight"},
        {"rwkv7", "blk.1.time_mix_v0.weight"},      {"rwkv7", "blk.0.time_mix_k_k.weight"},
        {"rwkv7", "blk.0.time_mix_g1.weight"},      {"rwkv7", "blk.0.time_mix_r_k.weight"},
        {"rwkv7", "blk.1.channel_mix_key.weight"},  {"arwkv7", "blk.0.time_mix_g2.weight"},
        {"arwkv7", "blk.0.time_mix_output.weight"}, {"arwkv7", "blk.0.time_mix_ln.bias"},
    };
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        const tiny_model_options options = {.arch = missing[i].arch, .n_vocab = 50, .omit = missing[i].tensor};
        REFUSED(&options, VOUCH_E_FORMAT, missing[i].tensor, "is missing");
    }
    /* The first layer's value residual is unused. Without the first matrix of the gate there is no gate: the amounts
     * would be five. */
    const tiny_model_options idle = {.arch = "rwkv7", .n_vocab = 50, .omit = "blk.0.time_mix_v1.weight"};
    assert_opens(&idle);
    const tiny_model_options gate = {.arch = "arwkv7", .n_vocab = 50, .omit = "blk.0.time_mix_g1.weight"};
    REFUSED(&gate, VOUCH_E_FORMAT, "'blk.0.time_mix_lerp_fused.weight'", "[64, 1, 1, 6], must be [64, 1, 1, 5]");
}

/* Faults that single families look for, in models of 4 layers and 6 experts. */
static void families_with_experts_name_the_fault(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        entry e; /* or, without a type, a tensor to leave out */
        vouch_status status;
        const char *says;
    } wrong[] = {
        {"deepseek", {"deepseek.expert_gating_func", VOUCH_GGUF_U32, 4, 0, NULL}, VOUCH_E_FORMAT, "0 to 3"},
        {"bailingmoe2", {"bailingmoe2.expert_group_used_count", VOUCH_GGUF_U32, 1, 0, NULL}, VOUCH_E_FORMAT, "only 2"},
        {"llama4", {"llama4.attention.sliding_window", VOUCH_GGUF_U32, 0, 0, NULL}, VOUCH_E_UNSUPPORTED, "or absent"},
        {"laguna", {"laguna.rope.dimension_count_swa", VOUCH_GGUF_U32, 3, 0, NULL}, VOUCH_E_FORMAT, "must be even"},
        {"cohere2moe", {"cohere2moe.leading_dense_block_count", VOUCH_GGUF_U32, 5, 0, NULL}, VOUCH_E_FORMAT, "0 to 4"},
        {"maple", {"maple.swiglu_clamp_exp", VOUCH_GGUF_F32, 0, -1, NULL}, VOUCH_E_FORMAT, "must be 0 to"},
        {"maple", {"maple.swiglu_clamp_exp", VOUCH_GGUF_ARRAY, 7, 0, NULL}, VOUCH_E_FORMAT, "must hold floats"},
        {"olmoe", {"olmoe.attention.head_count_kv", VOUCH_GGUF_ARRAY, 1, 0, NULL}, VOUCH_E_FORMAT, "each of 4 layers"},
        {"kimi-k3", {"kimi-k3.activation.situ_beta", VOUCH_GGUF_F32, 0, 0, NULL}, VOUCH_E_FORMAT, "0.001"},
        {"kimi-k3", {"kimi-k3.attn_res.block_size", VOUCH_GGUF_U32, 0, 0, NULL}, VOUCH_E_UNSUPPORTED, "has no place"},
        {"kimi-k3", {"kimi-k3.attn_res.block_size", VOUCH_GGUF_U32, 1025, 0, NULL}, VOUCH_E_FORMAT, "0 to 1024"},
        {"kimi-k3", {"kimi-k3.expert_latent_length", VOUCH_GGUF_U32, 1 << 21, 0, NULL}, VOUCH_E_FORMAT, "0 to 1048576"},
        {"kimi-k3", {"kimi-k3.nextn_predict_layers", VOUCH_GGUF_U32, 1, 0, NULL}, VOUCH_E_UNSUPPORTED, "must be 0"},
        {"kimi-k3", {"kimi-k3.activation.situ_linear_beta", VOUCH_GGUF_F32, 0, -1, NULL}, VOUCH_E_FORMAT, "be 0 to"},
        {"kimi-k3", {.key = "blk.1.attn_gate.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"kimi-k3", {.key = "blk.3.attn_gate.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"kimi-k3", {.key = "blk.2.ffn_res_score.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"kimi-k3", {.key = "blk.2.ffn_routed_up.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"graniteswitch", {"graniteswitch.adapters.count", VOUCH_GGUF_U32, 2, 0, NULL}, VOUCH_E_FORMAT, "each of 2"},
        {"graniteswitch", {"graniteswitch.adapters.count", VOUCH_GGUF_U32, 4096, 0, NULL}, VOUCH_E_FORMAT, "1 to 1023"},
        {"graniteswitch",
         {"graniteswitch.adapters.lora_rank", VOUCH_GGUF_U32, 5000, 0, NULL},
         VOUCH_E_FORMAT,
         "1 to 4096"},
        {"graniteswitch",
         {"graniteswitch.adapters.token_ids_substitute", VOUCH_GGUF_ARRAY, 50, 0, NULL},
         VOUCH_E_FORMAT,
         "below the vocabulary's size 50"},
        {"graniteswitch",
         {"graniteswitch.adapters.token_ids_activate", VOUCH_GGUF_ARRAY, 26, 0, NULL},
         VOUCH_E_FORMAT,
         "token_ids_activate[1] is 26, as [0] is"},
        {"graniteswitch", {"graniteswitch.block_count", VOUCH_GGUF_U32, 1, 0, NULL}, VOUCH_E_UNSUPPORTED, "of 1 la"},
        {"graniteswitch", {.key = "blk.3.ffn_down.lora_b"}, VOUCH_E_FORMAT, "is missing"},
        {"dots3note", {"dots3note.attention.sliding_window", VOUCH_GGUF_U32, 0, 0, NULL}, VOUCH_E_FORMAT, "0 > 0"},
        {"dots3note",
         {"dots3note.attention.kv_lora_rank_swa", VOUCH_GGUF_U32, 24, 0, NULL},
         VOUCH_E_UNSUPPORTED,
         "kv_lora_rank_swa 24"},
        {"dots3note", {.key = "blk.1.attn_k_norm.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"gpt-oss", {.key = "blk.3.attn_sinks.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"grok", {.key = "blk.0.attn_output_norm.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"afmoe", {.key = "blk.1.attn_gate.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"smallthinker", {.key = "blk.2.ffn_gate_inp.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"grovemoe", {.key = "blk.1.ffn_down_chexps.weight"}, VOUCH_E_FORMAT, "is missing"},
        {"gemma3n",
         {"gemma3n.attention.key_length", VOUCH_GGUF_U32, 17, 0, NULL},
         VOUCH_E_FORMAT,
         "attention.key_length gives a head width of 17, which must be even"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const entry *e = &wrong[i].e;
        const bool has_value = strncmp(e->key, "blk.", 4) != 0;
        const tiny_model_options options = {.arch = wrong[i].arch,
                                            .n_vocab = 50,
                                            .n_layers = 4,
                                            .omit = e->key,
                                            .add = has_value ? add_entry : NULL,
                                            .user = (void *)(uintptr_t)e};
        REFUSED(&options, wrong[i].status, wrong[i].says, has_value ? wrong[i].arch : e->key);
    }
}

/* A tensor of zeros that replaces the file's own. */
typedef struct shape {
    const char *name;
    vouch_type type;
    uint32_t n_dims;
    int64_t dim[4];
} shape;

static void add_shape(vouch_gguf_writer *writer, void *user)
{
    static const char zeros[1 << 17];
    const shape *s = user;
    vouch_gguf_add_tensor(writer, s->name, s->type, s->n_dims, s->dim, zeros);
}

static tiny_model_options model_shaped(const shape *s)
{
    return (tiny_model_options){.n_vocab = 50, .omit = s->name, .add = add_shape, .user = (void *)(uintptr_t)s};
}

/* A missing key whose default is no neutral value; a tensor whose name only begins as that of a tensor without effect.
 */
static void near_misses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        shape s;
    } stray[] = {{"kimi-k3", {"blk.1.attn_gate.wait", VOUCH_TYPE_F32, 1, {64}}},
                 {"bailingmoe3", {"blk.1.attn_gate.wait", VOUCH_TYPE_F32, 1, {64}}},
                 {"glm5-next", {"blk.1.indexer.proj.wait", VOUCH_TYPE_F32, 1, {64}}},
                 {"hrm_text", {"blk.2.ffn_up.weights", VOUCH_TYPE_F32, 1, {64}}}};
    REFUSED((&(tiny_model_options){.arch = "glm5-next", .n_vocab = 50, .omit = "glm5-next.rope.dimension_count"}),
            VOUCH_E_FORMAT, "glm5-next.rope.dimension_count is missing, must be 0");
    for (size_t i = 0; i < sizeof stray / sizeof stray[0]; i++) {
        tiny_model_options options = model_shaped(&stray[i].s);
        options.arch = stray[i].arch;
        options.n_layers = 4;
        REFUSED(&options, VOUCH_E_UNSUPPORTED, stray[i].s.name, "has no place");
        options.add = NULL;
        assert_opens(&options);
    }
}

/* Layers that guess further tokens are left out, with all their tensors. */
static void layers_of_further_tokens_are_left_out(void **state)
{
    (void)state;
    const entry e = {"llama.nextn_predict_layers", VOUCH_GGUF_U32, 2, 0, NULL};
    tiny_model_options options = model_with(&e);
    options.n_layers = 5;
    options.omit = "blk.4.ffn_up.weight";
    assert_opens(&options);
    options.omit = "blk.2.ffn_up.weight";
    REFUSED(&options, VOUCH_E_FORMAT, "blk.2.ffn_up.weight", "is missing");
}

/* The bytes that a pass of n rows reads, relative to those for one row. */
static void passes_read_more_with_experts(void **state)
{
    (void)state;
    const tiny_model_options options = {.n_vocab = 50, .n_experts = 8, .n_used = 2, .n_layers = 1};
    vouch_gguf *gguf;
    vouch_pool *pool;
    vouch_weights *weights;
    vouch_error err;
    tiny_model_write(path, &options);
    assert_int_equal(vouch_gguf_open(&gguf, path, &err), VOUCH_OK);
    assert_int_equal(vouch_pool_open(&pool, 1, &err), VOUCH_OK);
    assert_int_equal(vouch_weights_open(&weights, gguf, 0,
                                        &(vouch_packing){.kernels = vouch_kernels_find(NULL), .pool = pool}, &err),
                     VOUCH_OK);
    /* Weights, in tiles of 16 outputs: 50 tokens fill 64 outputs and 8 experts 16. mix: W_q, W_k, W_v and W_o. */
    const double head = 64 * 64, mix = (64 + 32 + 32 + 64) * 64, router = 16 * 64, expert = 3 * 96 * 64;
    const double rest = head + mix + router, one = rest + 2 * expert, two = rest + 3.5 * expert;
    assert_true(fabs(vouch_weights_reads(weights, 1) - 1) < 1e-12);
    assert_true(fabs(vouch_weights_reads(weights, 2) - two / one) < 1e-9);
    assert_true(fabs(vouch_weights_reads(weights, 1000) - (rest + 8 * expert) / one) < 1e-9);
    vouch_weights_close(weights);
    vouch_pool_close(pool);
    vouch_gguf_close(gguf);
}

static void mamba_sizes_must_fit_together(void **state)
{
    (void)state;
#define SIZE(arch, name, number, says)                                                   \
    {                                                                                    \
        {arch ".ssm." name, VOUCH_GGUF_U32, number, 0, NULL}, arch, says                 \
    }
    static const struct {
        entry e;
        const char *arch, *says;
    } wrong[] = {
        SIZE("mamba", "conv_kernel", 0, "1 to 16"),
        SIZE("mamba", "conv_kernel", 17, "1 to 16"),
        SIZE("mamba", "conv_kernel", 3, "must be [3, 128]"),
        SIZE("mamba", "inner_size", 112, "must be [64, 224]"),
        SIZE("mamba", "state_size", 0, "1 to 4096"),
        SIZE("mamba", "state_size", 13, "must be [128, 30]"),
        SIZE("mamba", "time_step_rank", 129, "1 to 128"),
        SIZE("mamba2", "time_step_rank", 3, "multiple"),
        SIZE("mamba2", "group_count", 3, "multiple"),
        SIZE("mamba2", "group_count", 0, "1 to 8"),
        SIZE("mamba2", "state_size", 13, "must be [64, 316]"),
    };
#undef SIZE
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tiny_model_options options = model_with(&wrong[i].e);
        options.arch = wrong[i].arch;
        REFUSED(&options, VOUCH_E_FORMAT, wrong[i].says);
    }
    const entry odd = {"mamba.ssm.inner_size", VOUCH_GGUF_U32, 120, 0, NULL};
    tiny_model_options options = model_with(&odd);
    options.arch = "mamba";
    REFUSED(&options, VOUCH_E_UNSUPPORTED, odd.key, "multiple of 16");
    static const char *const tensors[] = {"blk.1.ssm_in.weight", "blk.1.ssm_conv1d.weight", "blk.0.ssm_a",
                                          "blk.0.ssm_d",         "blk.0.ssm_dt.bias",       "blk.1.ssm_out.weight"};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        for (int a = 0; a < 2; a++) {
            options = (tiny_model_options){.arch = a ? "mamba" : "mamba2", .n_vocab = 50, .omit = tensors[i]};
            REFUSED(&options, VOUCH_E_FORMAT, tensors[i], "is missing");
        }
}

static void linear_scaling_needs_a_factor(void **state)
{
    (void)state;
    const entry linear = {"llama.rope.scaling.type", VOUCH_GGUF_STRING, 0, 0, "linear"};
    tiny_model_options options = model_with(&linear);
    REFUSED(&options, VOUCH_E_FORMAT, "llama.rope.scaling.factor");
    /* Without a scaling type the factor is checked as well. */
    const entry nameless = {"llama.rope.scaling.factor", VOUCH_GGUF_F32, 0, -1, NULL};
    options = model_with(&nameless);
    REFUSED(&options, VOUCH_E_FORMAT, "llama.rope.scaling.factor");
    options = (tiny_model_options){.n_vocab = 50, .rope_scale = 4};
    assert_opens(&options);
    const float wrong[] = {-1, NAN, INFINITY, 1e-9f};
    for (int i = 0; i < 4; i++) {
        options.rope_scale = wrong[i];
        REFUSED(&options, VOUCH_E_FORMAT, "llama.rope.scaling.factor");
    }
}

/* A bug that the fuzzer found: a divisor that makes the angle NaN. */
static void frequency_divisors_must_be_finite(void **state)
{
    (void)state;
    tiny_model_options options = {.n_vocab = 50, .rope_freqs = true};
    assert_opens(&options);
    const float wrong[] = {-1e-30f, NAN, INFINITY, 1e-30f};
    for (int i = 0; i < 4; i++) {
        options.last_rope_freq = wrong[i];
        REFUSED(&options, VOUCH_E_FORMAT, "rope_freqs.weight[", "must be 1e-06 to");
    }
}

/* ----------------------------------------------------------------- tensors */

static void missing_tensors(void **state)
{
    (void)state;
    static const char *const parts[] = {"attn_norm", "attn_q", "attn_k",   "attn_v",      "attn_output", "ffn_norm",
                                        "ffn_gate",  "ffn_up", "ffn_down", "attn_q_norm", "attn_k_norm"};
    tiny_model_options options = {.n_vocab = 50, .arch = "qwen3"};
    char name[64];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(name, sizeof name, "blk.%d.%s.weight", (int)(i % 2), parts[i]);
        options.omit = name;
        REFUSED(&options, VOUCH_E_FORMAT, name, "missing");
    }
    REFUSED((&(tiny_model_options){.omit = "token_embd.weight"}), VOUCH_E_FORMAT, "token_embd.weight", "missing");
    REFUSED((&(tiny_model_options){.omit = "output_norm.weight"}), VOUCH_E_FORMAT, "output_norm.weight", "missing");
    assert_opens(&(tiny_model_options){.omit = "output.weight"}); /* the output then uses the embedding */
}

/* Tensors that the library doesn't use are refused: ignoring them would give wrong results. */
static void unknown_tensors_are_refused(void **state)
{
    (void)state;
    static const shape extra[] = {{"blk.0.attn_sinks.weight", VOUCH_TYPE_F32, 1, {4}},
                                  {"blk.0.attn_q_norm.weight", VOUCH_TYPE_F32, 1, {16}},
                                  {"blk.2.attn_norm.weight", VOUCH_TYPE_F32, 1, {64}},
                                  {"output.bias", VOUCH_TYPE_F32, 1, {50}},
                                  {"position_embd.weight", VOUCH_TYPE_F32, 2, {64, 50}}};
    for (size_t i = 0; i < sizeof extra / sizeof extra[0]; i++) {
        const tiny_model_options options = model_shaped(&extra[i]);
        REFUSED(&options, VOUCH_E_UNSUPPORTED, extra[i].name, "llama");
    }
    const entry fewer = {"llama.block_count", VOUCH_GGUF_U32, 1, 0, NULL},
                more = {"llama.block_count", VOUCH_GGUF_U32, 3, 0, NULL};
    tiny_model_options options = model_with(&fewer);
    REFUSED(&options, VOUCH_E_UNSUPPORTED, "blk.1.");
    options = model_with(&more);
    REFUSED(&options, VOUCH_E_FORMAT, "blk.2.attn_q.weight", "missing");
}

static void misshapen_tensors(void **state)
{
    (void)state;
    static const struct {
        shape s;
        const char *says;
    } wrong[] = {
        {{"blk.0.attn_q.weight", VOUCH_TYPE_F32, 2, {64, 63}}, "[64, 63, 1, 1], must be [64, 64]"},
        {{"blk.0.attn_k.weight", VOUCH_TYPE_F32, 2, {32, 64}}, "[32, 64, 1, 1], must be [64, 32]"},
        {{"blk.1.attn_v.weight", VOUCH_TYPE_F32, 3, {64, 16, 2}}, "[64, 16, 2, 1], must be [64, 32]"},
        {{"blk.1.attn_output.weight", VOUCH_TYPE_F32, 1, {64}}, "must be [64, 64]"},
        {{"blk.0.ffn_gate.weight", VOUCH_TYPE_F16, 2, {64, 64}}, "must be [64, 96]"},
        {{"blk.0.ffn_down.weight", VOUCH_TYPE_F32, 2, {64, 96}}, "must be [96, 64]"},
        {{"blk.0.ffn_norm.weight", VOUCH_TYPE_F32, 1, {63}}, "must be [64, 1]"},
        {{"blk.0.ffn_norm.weight", VOUCH_TYPE_F32, 2, {32, 2}}, "must be [64, 1]"},
        {{"output_norm.weight", VOUCH_TYPE_F32, 1, {65}}, "must be [64, 1]"},
        {{"output.weight", VOUCH_TYPE_F32, 2, {64, 49}}, "must be [64, 50]"},
        {{"token_embd.weight", VOUCH_TYPE_F32, 2, {32, 50}}, "must be [64, 50]"},
        {{"rope_freqs.weight", VOUCH_TYPE_F32, 1, {16}}, "must be [8, 1]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tiny_model_options options = model_shaped(&wrong[i].s);
        REFUSED(&options, VOUCH_E_FORMAT, wrong[i].s.name, wrong[i].says);
    }
}

static void vectors_are_f32(void **state)
{
    (void)state;
    static const shape norm = {"blk.0.attn_norm.weight", VOUCH_TYPE_F16, 1, {64}};
    const tiny_model_options options = model_shaped(&norm);
    REFUSED(&options, VOUCH_E_UNSUPPORTED, "blk.0.attn_norm.weight", "F16", "must be F32");
}

static void the_vocabulary_is_the_embedding(void **state)
{
    (void)state;
    static const shape embedding = {"token_embd.weight", VOUCH_TYPE_F32, 2, {64, 399}};
    tiny_model_options options = model_shaped(&embedding);
    options.n_vocab = 400;
    REFUSED(&options, VOUCH_E_FORMAT, "399", "tokenizer.ggml.tokens", "400");
}

/* Changes the type of one tensor in the file. */
static void change_type(const char *tensor, uint32_t type)
{
    static unsigned char bytes[1 << 20];
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    unsigned char *name = memmem(bytes, size, tensor, strlen(tensor));
    assert_non_null(name);
    uint32_t n_dims;
    memcpy(&n_dims, name + strlen(tensor), sizeof n_dims);
    memcpy(name + strlen(tensor) + sizeof n_dims + n_dims * sizeof(uint64_t), &type, sizeof type);
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void unsupported_types_are_named(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        const char *name;
    } types[] = {{15, "Q8_K"}, {25, "I16"}, {41, "Q1_0"}, {42, "Q2_0"}, {24, "I8"}, {4, "4"}, {999, "999"}};
    static const char *const tensors[] = {"blk.1.ffn_down.weight", "token_embd.weight", "output_norm.weight"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (size_t t = 0; t < sizeof tensors / sizeof tensors[0]; t++) {
            vouch_model *model;
            vouch_error err;
            const bool known = types[i].name[0] > '9'; /* the type has a name, not only a number */
            assert_opens(&(tiny_model_options){.n_vocab = 50});
            change_type(tensors[t], types[i].type);
            const vouch_status status = vouch_model_open(&model, path, NULL, &err);
            check_refusal(status, &err, VOUCH_E_UNSUPPORTED,
                          (const char *const[]){tensors[t], types[i].name, known ? "supported: F32, F16" : "", NULL});
            assert_null(model);
        }
}

/* ------------------------------------------------------------------ success */

typedef struct reports {
    int n;
    double last;
} reports;

static void report(void *user, double share)
{
    reports *r = user;
    assert_true(share >= r->last && share <= 1);
    r->last = share;
    r->n++;
}

static void a_model_says_what_it_is(void **state)
{
    (void)state;
    reports r = {0};
    vouch_model_options options = vouch_model_options_default();
    options.n_threads = 3;
    options.progress = report;
    options.progress_user = &r;
    path = test_temporary("model.gguf");
    tiny_model_write(
        path,
        &(tiny_model_options){
            .arch = "qwen3", .type = VOUCH_TYPE_Q4_1, .n_kv_heads = 1, .head_dim = 20, .tied = true, .n_layers = 3});
    vouch_model *model;
    vouch_error err;
    if (vouch_model_open(&model, path, &options, &err) != VOUCH_OK) fail_msg("%s", err.message);
    const vouch_model_info *info = vouch_model_get_info(model);
    assert_string_equal(info->name, "tiny");
    assert_string_equal(info->architecture, "qwen3");
    assert_string_equal(info->tokenizer, "bpe/smollm");
    assert_string_equal(info->chat_template, "jinja");
    assert_int_equal(info->chat_template_lines, 6);
    assert_string_equal(info->chat_template_problem, "");
    /* attn_output is F16: its rows of 80 aren't whole blocks. */
    assert_string_equal(info->weight_types, "Q4_1 x19, F32 x13, F16 x3");
    assert_string_equal(info->cpu, vouch_kernels_find(NULL)->name);
    assert_int_equal(info->n_vocab, 400);
    assert_int_equal(info->n_layers, 3);
    assert_int_equal(info->n_heads, 4);
    assert_int_equal(info->n_kv_heads, 1);
    assert_int_equal(info->head_dim, 20);
    assert_int_equal(info->n_embd, 64);
    assert_int_equal(info->n_ff, 96);
    assert_int_equal(info->n_ctx_train, 512);
    assert_true(info->tied_embeddings);
    const int64_t layer = 64 * 80 * 2 + 64 * 20 * 2 + 64 * 96 * 3 + 64 * 2 + 20 * 2;
    assert_int_equal(info->n_parameters, 400 * 64 + 64 + 3 * layer);
    assert_true(info->packed_bytes > 0 && info->packed_bytes < 2 * info->file_bytes);
    assert_true(r.n > 0 && r.last == 1);
    vouch_model_close(model);
    vouch_model_close(NULL);
}

/* A model opened without its weights describes itself and tokenizes like the whole model. It can't decode, as target or
 * as draft model. */
static void a_model_can_be_opened_for_its_text(void **state)
{
    (void)state;
    static const char said[] = "Hi, there";
    for (int tied = 0; tied < 2; tied++) {
        path = test_temporary("model.gguf");
        tiny_model_write(path, &(tiny_model_options){.arch = "llama", .type = VOUCH_TYPE_Q4_0, .tied = tied});
        vouch_model *whole, *text;
        vouch_session *session;
        vouch_error err;
        vouch_model_options options = vouch_model_options_default();
        options.text_only = true;
        assert_int_equal(vouch_model_open(&whole, path, NULL, &err), VOUCH_OK);
        assert_int_equal(vouch_model_open(&text, path, &options, &err), VOUCH_OK);

        const vouch_model_info *a = vouch_model_get_info(whole), *b = vouch_model_get_info(text);
        assert_string_equal(a->weight_types, b->weight_types);
        assert_int_equal(a->n_parameters, b->n_parameters);
        assert_int_equal(a->packed_bytes, b->packed_bytes);
        assert_int_equal(a->tied_embeddings, b->tied_embeddings);
        assert_int_equal(b->tied_embeddings, tied);
        int32_t ids[32], same[32];
        size_t n, m;
        assert_int_equal(vouch_tokenize(whole, said, strlen(said), 0, ids, 32, &n, &err), VOUCH_OK);
        assert_int_equal(vouch_tokenize(text, said, strlen(said), 0, same, 32, &m, &err), VOUCH_OK);
        assert_int_equal(n, m);
        assert_true(n > 2);
        assert_memory_equal(ids, same, n * sizeof *ids);

        vouch_session_options so = vouch_session_options_default();
        assert_int_equal(vouch_session_open(&session, text, &so, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "text_only"));
        so.speculation.draft_model = text;
        assert_int_equal(vouch_session_open(&session, whole, &so, &err), VOUCH_E_ARGUMENT);
        assert_non_null(strstr(err.message, "text_only"));
        assert_null(session);
        vouch_model_close(text);
        vouch_model_close(whole);
    }
}

/* The caller's chat template replaces the file's, or a missing one. */
static void a_template_can_be_given(void **state)
{
    (void)state;
    static const char given[] = "{{'<|im_start|>user\n' + messages[0].content}}<|im_end|>\n";
    static const vouch_message turn = {"user", "Hi"};
    int32_t own[64], other[64];
    size_t n_own, n_other;
    vouch_model *model;
    vouch_error err;
    vouch_model_options options = vouch_model_options_default();
    path = test_temporary("model.gguf");
    tiny_model_write(path, &(tiny_model_options){.seed = 1});
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_tokenize_chat(model, &turn, 1, own, 64, &n_own, &err), VOUCH_OK);
    vouch_model_close(model);
    options.chat_template = "chatml"; /* the file's own template by name */
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_tokenize_chat(model, &turn, 1, other, 64, &n_other, &err), VOUCH_OK);
    assert_int_equal(n_own, n_other);
    assert_memory_equal(own, other, n_own * sizeof *own);
    vouch_model_close(model);
    options.chat_template = given;
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_OK);
    assert_int_equal(vouch_tokenize_chat(model, &turn, 1, other, 64, &n_other, &err), VOUCH_OK);
    assert_true(n_other < n_own); /* the other template has no system message */
    vouch_model_close(model);

    static const char *const bad[][2] = {{"", "chat template: it is empty"},
                                         {"llama 3", "it never names the variable messages"},
                                         {"{{ messages\n}", "chat template, line 1: "}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.chat_template = bad[i][0];
        assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_E_UNSUPPORTED);
        assert_null(model);
        assert_non_null(strstr(err.message, bad[i][1]));
    }
    options.chat_template = "chatml";
    size_t n;
    char *bytes = read_whole(path, &n), *at = bytes;
    while ((at = memmem(at, n - (size_t)(at - bytes), "<|im_end|>", 10))) memcpy(at, "<|im_fin|>", 10);
    write_whole(path, bytes, n);
    free(bytes);
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "no token <|im_end|>"));
    tiny_model_write(path, &(tiny_model_options){.n_vocab = 50}); /* too small for a tokenizer */
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "needs a tokenizer"));
}

static void instruction_sets_are_chosen_by_name(void **state)
{
    (void)state;
    path = test_temporary("model.gguf");
    tiny_model_write(path, &(tiny_model_options){.n_vocab = 50});
    vouch_model_options options = vouch_model_options_default();
    vouch_model *model;
    vouch_error err;
    for (size_t i = 0; vouch_cpu_name(i); i++) {
        options.cpu = vouch_cpu_name(i);
        assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_OK);
        assert_string_equal(vouch_model_get_info(model)->cpu, options.cpu);
        vouch_model_close(model);
    }
    options.cpu = "z80";
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_E_ARGUMENT);
    assert_non_null(strstr(err.message, "'z80': expected one that this machine has: auto, ref"));
    options.cpu = NULL;
    options.n_threads = -3;
    assert_int_equal(vouch_model_open(&model, path, &options, &err), VOUCH_E_ARGUMENT);
    options.n_threads = 1;
    assert_int_equal(vouch_model_open(&model, "/no/such/file.gguf", &options, &err), VOUCH_E_IO);
    assert_non_null(strstr(err.message, "/no/such/file.gguf"));
    assert_int_equal(vouch_model_open(&model, "/", &options, &err), VOUCH_E_FORMAT);
}

/* The packed embedding has the file's values, rounded as each type rounds. */
static void packing_keeps_the_values(void **state)
{
    (void)state;
    static const vouch_type types[] = {VOUCH_TYPE_F32, VOUCH_TYPE_F16, VOUCH_TYPE_Q8_0, VOUCH_TYPE_Q4_0,
                                       VOUCH_TYPE_Q4_1};
    const float most[] = {0, 1e-3f, 0.01f, 0.2f, 0.1f}; /* largest difference from the F32 weights, by type */
    float exact[64], row[64];
    for (int t = 0; t < 5; t++) {
        vouch_model *plain = tiny_model_open(&(tiny_model_options){.n_vocab = 77});
        vouch_model *packed = tiny_model_open(&(tiny_model_options){.n_vocab = 77, .type = types[t]});
        for (int32_t token = 0; token < 77; token++) {
            vouch_matrix_get_row(&plain->weights->embedding, token, exact);
            vouch_matrix_get_row(&packed->weights->embedding, token, row);
            float largest = 0;
            for (int i = 0; i < 64; i++) largest = fmaxf(largest, fabsf(exact[i] - row[i]));
            assert_true(largest <= most[t] && (largest > 0) == (t > 0));
        }
        vouch_model_close(plain);
        vouch_model_close(packed);
    }
}

/* --------------------------------------------------------------- a large file */

enum { WIDE_LAYERS = 2, WIDE_EMBD = 256, WIDE_FF = 8192, WIDE_VOCAB = 70001, WIDE_SHIFT = 1000 };

/* The values of tensor i: the noise from offset i * WIDE_SHIFT. */
static const float *wide_values(const float *noise, int i)
{
    return noise + (size_t)i * WIDE_SHIFT;
}

/* Fills the embedding with the beginning of the noise, repeated. */
static vouch_status embedding_fill(void *user, size_t offset, void *bytes, size_t size, vouch_error *err)
{
    (void)err;
    const size_t period = WIDE_EMBD * WIDE_FF * sizeof(float);
    for (size_t done = 0, n; done < size; done += n) {
        const size_t from = (offset + done) % period;
        n = size - done < period - from ? size - done : period - from;
        memcpy((char *)bytes + done, (const char *)user + from, n);
    }
    return VOUCH_OK;
}

/* Writes a model of 118 MiB: an embedding of 68 MiB, more than a loader's batch (32 MiB), and 6 matrices of 8 MiB. */
static void wide_model_write(float *noise)
{
    static const struct {
        const char *name;
        int64_t dim[2];
    } parts[] = {
        {"ffn_gate", {WIDE_EMBD, WIDE_FF}},      {"ffn_up", {WIDE_EMBD, WIDE_FF}},   {"ffn_down", {WIDE_FF, WIDE_EMBD}},
        {"attn_q", {WIDE_EMBD, WIDE_EMBD}},      {"attn_k", {WIDE_EMBD, WIDE_EMBD}}, {"attn_v", {WIDE_EMBD, WIDE_EMBD}},
        {"attn_output", {WIDE_EMBD, WIDE_EMBD}}, {"attn_norm", {WIDE_EMBD, 1}},      {"ffn_norm", {WIDE_EMBD, 1}}};
    const uint32_t n_layers = WIDE_LAYERS, n_embd = WIDE_EMBD, n_ff = WIDE_FF, n_ctx = 64, n_heads = 4;
    const float eps = 1e-5f;
    const int64_t n_embedding[] = {WIDE_EMBD, WIDE_VOCAB};
    vouch_error err;
    char name[64];
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "general.architecture", "llama");
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "none");
    vouch_gguf_add_value(w, "llama.block_count", VOUCH_GGUF_U32, &n_layers);
    vouch_gguf_add_value(w, "llama.context_length", VOUCH_GGUF_U32, &n_ctx);
    vouch_gguf_add_value(w, "llama.embedding_length", VOUCH_GGUF_U32, &n_embd);
    vouch_gguf_add_value(w, "llama.feed_forward_length", VOUCH_GGUF_U32, &n_ff);
    vouch_gguf_add_value(w, "llama.attention.head_count", VOUCH_GGUF_U32, &n_heads);
    vouch_gguf_add_value(w, "llama.attention.layer_norm_rms_epsilon", VOUCH_GGUF_F32, &eps);
    vouch_gguf_add_filled(w, "token_embd.weight", VOUCH_TYPE_F32, 2, n_embedding, embedding_fill, noise);
    vouch_gguf_add_tensor(w, "output_norm.weight", VOUCH_TYPE_F32, 1, n_embedding, noise);
    for (int layer = 0; layer < WIDE_LAYERS; layer++)
        for (int i = 0; i < 9; i++) {
            snprintf(name, sizeof name, "blk.%d.%s.weight", layer, parts[i].name);
            vouch_gguf_add_tensor(w, name, VOUCH_TYPE_F32, parts[i].dim[1] == 1 ? 1 : 2, parts[i].dim,
                                  wide_values(noise, layer * 9 + i));
        }
    if (vouch_gguf_write(w, path, &err) != VOUCH_OK) fail_msg("%s", err.message);
    vouch_gguf_writer_close(w);
}

typedef struct peak {
    reports reports;
    int64_t resident;
} peak;

static void report_peak(void *user, double share)
{
    peak *p = user;
    report(&p->reports, share);
    const int64_t resident = test_resident(path);
    if (resident > p->resident) p->resident = resident;
}

static void assert_rows(const vouch_matrix *matrix, const float *values)
{
    static float row[WIDE_FF];
    const size_t n = (size_t)matrix->n_in;
    for (int64_t i = 0; i < matrix->n_out; i++) {
        vouch_matrix_get_row(matrix, i, row);
        assert_memory_equal(row, values + (size_t)i * n, n * sizeof *row);
    }
}

static void assert_embedding(const vouch_matrix *matrix, const float *noise)
{
    float row[WIDE_EMBD];
    for (int64_t i = 0; i < matrix->n_out; i++) {
        vouch_matrix_get_row(matrix, i, row);
        assert_memory_equal(row, noise + i % WIDE_FF * WIDE_EMBD, sizeof row);
    }
}

/* Packing goes in batches, so the file and the packed weights are never both whole in memory. Every tensor is right. */
static void a_large_file_is_packed_in_batches(void **state)
{
    (void)state;
    const size_t n = WIDE_EMBD * WIDE_FF + WIDE_SHIFT * 9 * WIDE_LAYERS;
    float *noise = malloc(n * sizeof *noise);
    test_random random = {77};
    assert_non_null(noise);
    for (size_t i = 0; i < n; i++) noise[i] = test_uniform(&random, -1, 1);
    path = test_temporary("wide.gguf");
    wide_model_write(noise);

    vouch_model_options options = vouch_model_options_default();
    vouch_model *model;
    vouch_error err;
    for (int32_t n_threads = 1; n_threads <= 3; n_threads += 2) {
        peak p = {.resident = -1};
        options.n_threads = n_threads;
        options.progress = report_peak;
        options.progress_user = &p;
        if (vouch_model_open(&model, path, &options, &err) != VOUCH_OK) fail_msg("%s", err.message);
        assert_true(p.reports.n > 4 && p.reports.last == 1);
        /* A batch of 32 MiB, plus the pages that the system reads ahead. */
        if (p.resident >= 0) assert_in_range(p.resident, 24 << 20, 48 << 20);
        const vouch_weights *weights = model->weights;
        assert_embedding(&weights->embedding, noise);
        for (int layer = 0; layer < WIDE_LAYERS; layer++) {
            const vouch_layer *l = &weights->layers[layer];
            assert_rows(&l->ffn.gate, wide_values(noise, layer * 9));
            assert_rows(&l->ffn.down, wide_values(noise, layer * 9 + 2));
            assert_rows(&l->attention.v, wide_values(noise, layer * 9 + 5));
            assert_memory_equal(l->feed.norm.weight, wide_values(noise, layer * 9 + 8), WIDE_EMBD * sizeof(float));
        }
        vouch_model_close(model);
    }
    free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_nobody_reads),
        cmocka_unit_test(required_keys),
        cmocka_unit_test(optional_keys_and_other_types),
        cmocka_unit_test(hyperparameters_out_of_range),
        cmocka_unit_test(a_list_has_a_number_for_each_layer),
        cmocka_unit_test(latent_attention_must_fit_together),
        cmocka_unit_test(mixtures_must_fit_together),
        cmocka_unit_test(recurrent_mixers_must_fit_together),
        cmocka_unit_test(families_with_experts_name_the_fault),
        cmocka_unit_test(near_misses_are_refused),
        cmocka_unit_test(layers_of_further_tokens_are_left_out),
        cmocka_unit_test(passes_read_more_with_experts),
        cmocka_unit_test(mamba_sizes_must_fit_together),
        cmocka_unit_test(mixers_of_rwkv_name_the_missing_tensor),
        cmocka_unit_test(linear_scaling_needs_a_factor),
        cmocka_unit_test(frequency_divisors_must_be_finite),
        cmocka_unit_test(missing_tensors),
        cmocka_unit_test(unknown_tensors_are_refused),
        cmocka_unit_test(misshapen_tensors),
        cmocka_unit_test(vectors_are_f32),
        cmocka_unit_test(the_vocabulary_is_the_embedding),
        cmocka_unit_test(unsupported_types_are_named),
        cmocka_unit_test(a_model_says_what_it_is),
        cmocka_unit_test(a_model_can_be_opened_for_its_text),
        cmocka_unit_test(a_template_can_be_given),
        cmocka_unit_test(instruction_sets_are_chosen_by_name),
        cmocka_unit_test(packing_keeps_the_values),
        cmocka_unit_test(a_large_file_is_packed_in_batches),
    };
    return cmocka_run_group_tests_name("loader", tests, NULL, NULL);
}
