/* SPDX-License-Identifier: MIT */
#include "model/load/known_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *keys, *reason;
} idle[] = {
    {"vocab_size context_length embedding_length_out features_length decoder_block_count decoder_start_token_id",
     "sizes, and other parts of a model"},
    {"expert_feed_forward_length expert_shared_feed_forward_length expert_chunk_feed_forward_length "
     "expert_shared_count leading_dense_block_count interleave_moe_layer_step moe_every_n_layers moe_latent_size",
     "the tensors say which layers have experts, and how wide they are"},
    {"expert_used_count expert_group_count expert_group_used_count expert_gating_func expert_weights_norm "
     "expert_weights_scale expert_group_scale",
     "experts: all are read where expert_count isn't 0"},
    {"attention.key_length* attention.value_length* attention.q_lora_rank attention.kv_lora_rank* "
     "attention.*_lora_rank attention.layer_norm_epsilon attention.layer_norm_rms_epsilon attention.group_norm* "
     "attention.indexer.* rope.dimension_count* tensor_data_layout",
     "the architecture or the tensors' shapes say the same"},
    {"attention.sliding_window_pattern attention.rope_pattern attention.recurrent_layers",
     "patterns of layers: they are read where the architecture has several kinds"},
    {"rope.scaling.yarn_beta_fast rope.scaling.yarn_beta_slow rope.scaling.yarn_ext_factor "
     "rope.scaling.yarn_log_multiplier rope.scaling.original_context_length rope.scaling.finetuned",
     "YaRN: all are read where rope.scaling.type is yarn; notes about training"},
    {"ssm.* kda.* wkv.* shortconv.* token_shift_count time_mix_extra_dim time_decay_extra_dim "
     "full_attention_interval",
     "recurrent layers, which the tensors show"},
    {"rope.dimension_sections rope.mrope_section n_deepstack_layers deepstack_mapping vision.* swin_norm",
     "pictures; in a text all sections of a head have equal positions"},
    {"posnet.* convnext.* pooling_type classifier.* dense_2_feat_* dense_3_feat_*", "other tasks than text"},
    {"target_layers target_hidden_size norm_before_residual norm_before_fc block_size parallel_depths",
     "heads, which are files of their own"},
    {"hrm.* hyper_connection.* ple.* activation.situ_* attn_res.* attention.compress_* attention.output_group_count "
     "attention.output_lora_rank attention.relative_buckets_count hash_layer_count nextn_predict_layers",
     "layers of other architectures, whose tensors would be refused"},
};
enum { N_IDLE = sizeof idle / sizeof idle[0] };

/* Keys that some architecture reads, also where a pattern above matches them, with the value that means the same as
 * none, and with llama.cpp's default, which its tools write into files of all architectures. 0 is none, too. */
static const struct {
    const char *key;
    double none, usual;
} changing[] = {
    {"activation_sparsity_scale", 0, 0},
    {"adapters.count", 0, 0},
    {"altup.num_inputs", 1, 0},
    {"attention.clamp_kqv", 0, 0},
    {"attention.max_alibi_bias", 0, 8},
    {"attention.output_scale", 1, 1},
    {"attention.scale", 0, 0},
    {"attention.shared_kv_layers", 0, 0},
    {"attention.sliding_window", 0, 0},
    {"attention.temperature_length", 0, 0},
    {"attention.temperature_scale", 0, 0.1},
    {"attention.value_scale", 1, 0},
    {"attn_logit_softcapping", 0, 50},
    {"attn_res.block_size", 0, 0},
    {"embedding_length_per_layer_input", 0, 0},
    {"embedding_scale", 1, 0},
    {"expert_latent_length", 0, 0},
    {"experts_per_group", 1, 0},
    {"final_logit_softcapping", 0, 30},
    {"hash_layer_count", 0, 0},
    {"hrm.layers_per_stack", 0, 0},
    {"hyper_connection.count", 1, 0},
    {"kda.head_dim", 0, 0},
    {"logit_scale", 1, 0},
    {"num_loops", 1, 0},
    {"rescale_every_n_layers", 0, 0},
    {"residual_scale", 1, 0},
    {"rope.freq_base", 10000, 0},
    {"rope.freq_base_swa", 10000, 0},
    {"rope.scale_linear", 1, 0},
    {"rope.scaling.alpha", 0, 0},
    {"rope.scaling.attn_factor", 1, 0},
    {"rope.scaling.factor", 1, 0},
    {"rope.scaling.yarn_attn_factor", 1, 0},
    {"router_logit_softcapping", 0, 30},
    {"skip_loop_final_norm", 0, 0},
    {"swiglu_clamp_exp", 0, 0},
    {"swiglu_clamp_shexp", 0, 0},
    {"use_parallel_residual", 0, 1},
    {"wkv.head_size", 0, 0},
};
enum { N_CHANGING = sizeof changing / sizeof changing[0] };

/* Whether the n bytes of a pattern, in which one '*' stands for any bytes, match. */
static bool matches(const char *pattern, size_t n, vouch_text word)
{
    const char *star = memchr(pattern, '*', n);
    const size_t before = star ? (size_t)(star - pattern) : n, after = star ? n - before - 1 : 0;
    return (star ? word.size >= before + after : word.size == n) && memcmp(pattern, word.data, before) == 0 &&
           memcmp(pattern + n - after, word.data + word.size - after, after) == 0;
}

static bool list_has(const char *list, vouch_text word)
{
    for (; *list; list += strspn(list, " ")) {
        const size_t n = strcspn(list, " ");
        if (matches(list, n, word)) return true;
        list += n;
    }
    return false;
}

static bool is_idle(vouch_text key)
{
    for (size_t i = 0; i < N_IDLE; i++)
        if (list_has(idle[i].keys, key)) return true;
    return false;
}

/* A key's value for messages, and whether it is only neutral numbers. */
typedef struct reading {
    char text[64];
    bool is_neutral;
} reading;

static void read_numbers(const vouch_gguf_array *array, bool is_list, double none, double usual, reading *r)
{
    int used = snprintf(r->text, sizeof r->text, "%s", is_list ? "[" : "");
    const bool is_float = array->type == VOUCH_GGUF_F32 || array->type == VOUCH_GGUF_F64;
    r->is_neutral = true;
    for (size_t i = 0; i < array->count; i++) {
        const double value = is_float ? vouch_gguf_array_float(array, i) : (double)vouch_gguf_array_int(array, i);
        r->is_neutral &= value == 0 || (float)value == (float)none || (float)value == (float)usual;
        if (used < 40) used += snprintf(r->text + used, sizeof r->text - (size_t)used, "%s%.6g", i ? ", " : "", value);
        else if (i == array->count - 1) used += snprintf(r->text + used, sizeof r->text - (size_t)used, ", ...");
    }
    if (is_list) snprintf(r->text + used, sizeof r->text - (size_t)used, "]");
}

static void read_value(const vouch_gguf *gguf, size_t index, double none, double usual, reading *r)
{
    vouch_gguf_type type;
    vouch_gguf_array array;
    vouch_gguf_value(gguf, index, &type, &array);
    *r = (reading){.text = "a list of texts"};
    if (array.type != VOUCH_GGUF_STRING) {
        read_numbers(&array, type == VOUCH_GGUF_ARRAY, none, usual, r);
    } else if (type == VOUCH_GGUF_STRING) {
        const unsigned char *cursor = array.data;
        const vouch_text text = vouch_gguf_next_text(&cursor);
        snprintf(r->text, sizeof r->text, "'%.*s'", (int)(text.size < 40 ? text.size : 40), text.data);
    }
}

static vouch_status check_causal(const vouch_gguf *gguf, vouch_text name, vouch_error *err)
{
    char key[128];
    bool is_causal = true;
    snprintf(key, sizeof key, "%.*s", (int)name.size, name.data);
    VOUCH_TRY(vouch_gguf_get_bool(gguf, key, true, &is_causal, err));
    if (is_causal) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s is false: tokens that see later ones are not supported",
                      vouch_gguf_path(gguf), key);
}

static vouch_status check(const vouch_gguf *gguf, size_t index, vouch_text key, vouch_error *err)
{
    reading r;
    const vouch_text name = vouch_gguf_key(gguf, index, NULL);
    size_t i = 0;
    if (vouch_text_is(key, "attention.causal")) return check_causal(gguf, name, err);
    while (i < N_CHANGING && !vouch_text_is(key, changing[i].key)) i++;
    const bool is_known = i < N_CHANGING;
    if (!is_known && is_idle(key)) return VOUCH_OK;
    read_value(gguf, index, is_known ? changing[i].none : 0, is_known ? changing[i].usual : 0, &r);
    if (!is_known) return vouch_gguf_add_unknown(gguf, name, r.text, err);
    if (r.is_neutral) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: %.*s is %s, which vouch doesn't support for this architecture (only %g)",
                      vouch_gguf_path(gguf), (int)name.size, name.data, r.text, changing[i].none);
}

vouch_status vouch_known_keys_check(const vouch_gguf *gguf, const char *arch, vouch_error *err)
{
    const size_t n = strlen(arch);
    for (size_t i = 0; i < vouch_gguf_n_kv(gguf); i++) {
        const vouch_text name = vouch_gguf_key(gguf, i, NULL);
        const bool is_own =
            name.size > n + 1 && name.size < 96 && memcmp(name.data, arch, n) == 0 && name.data[n] == '.';
        if (is_own && !vouch_gguf_was_read(gguf, i))
            VOUCH_TRY(check(gguf, i, (vouch_text){name.data + n + 1, name.size - n - 1}, err));
    }
    return VOUCH_OK;
}
