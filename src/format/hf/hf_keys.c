/* SPDX-License-Identifier: MIT */
#include "format/hf/hf_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members that change no logits in any family, unless the family's own list has them. */
static const struct {
    const char *names, *reason;
} idle[] = {
    {"attention_dropout attn_pdrop attn_dropout classifier_dropout classifier_dropout_prob dropout embd_pdrop "
     "embedding_dropout hidden_dropout hidden_dropout_prob resid_pdrop residual_dropout router_jitter_noise "
     "activation_dropout layerdrop summary_first_dropout",
     "noise, which only training adds"},
    {"initializer_range initializer_factor rescale_prenorm_residual time_step_floor time_step_max time_step_min "
     "block_use_xavier_init mamba_dt_init_floor mamba_dt_max mamba_dt_min",
     "weights before training"},
    {"attn_implementation _attn_implementation attention_softmax_in_fp32 chunk_size chunk_size_feed_forward "
     "gradient_checkpointing mamba_chunk_size mamba_ssm_dtype pretraining_tp reorder_and_upcast_attn residual_in_fp32 "
     "scale_attention_softmax_in_fp32 slow_but_exact use_associative_scan use_cache use_flash_attn use_kernels "
     "use_mamba_kernels use_mambapy use_parallel_embedding fuse_norm fused_swiglu experts_implementation",
     "how transformers computes the same numbers"},
    {"bos_token_id eos_token_id pad_token_id eod_token_id sep_token_id unk_token_id mask_token_id cls_token_id "
     "boi_token_id boi_token_index eoi_token_id eoi_token_index boa_token_id eoa_token_id eoa_token_index "
     "image_token_id image_token_index video_token_id audio_token_id vision_start_token_id vision_end_token_id "
     "decoder_start_token_id forced_bos_token_id forced_eos_token_id im_start_id im_end_id pad_id tokenizer_class "
     "n_ctx vision_token_id suppress_tokens begin_suppress_tokens bad_words_ids prefix",
     "tokens, which the tokenizer's reader knows"},
    {"output_attentions output_hidden_states output_router_logits output_scores router_aux_loss_coef "
     "router_z_loss_coef return_dict return_dict_in_generate use_return_dict num_logits_to_keep "
     "keys_to_ignore_at_inference aux_loss_alpha seq_aux",
     "results beside the logits, and losses of training"},
    {"architectures auto_map model_type torch_dtype dtype transformers_version transformers.js_config _name_or_path "
     "name_or_path _commit_hash id2label label2id num_labels problem_type task_specific_params finetuning_task "
     "is_decoder is_composition summary_activation summary_proj_to_labels summary_type summary_use_proj "
     "tf_legacy_loss use_bfloat16 torchscript pruned_heads tie_encoder_decoder base_model_tp_plan base_model_pp_plan "
     "cross_attention_hidden_size",
     "names, types of the stored numbers, and other tasks than text"},
    {"text_config vision_config audio_config mm_tokens_per_image multimodal_projector_bias projector_hidden_act "
     "spatial_merge_size vision_feature_layer vision_soft_tokens_per_image "
     "audio_soft_tokens_per_image language_model_only",
     "parts for pictures and sound; text_config's members are read in its place"},
    {"diversity_penalty do_sample early_stopping encoder_no_repeat_ngram_size exponential_decay_length_penalty "
     "length_penalty max_length max_new_tokens min_length no_repeat_ngram_size num_beam_groups num_beams "
     "num_return_sequences remove_invalid_values repetition_penalty temperature top_k top_p typical_p",
     "generation, after the logits"},
};
enum { N_IDLE = sizeof idle / sizeof idle[0] };

/* Of all families. */
static const char demanded[] = "add_cross_attention=false is_encoder_decoder=false use_bidirectional_attention=false";
/* An unknown one of these is an error, because it is sure to mean something. */
static const char structural[] = "layer_types layers_block_type layer_type_list rope_parameters rope_scaling "
                                 "quantization_config per_layer_config no_rope_layers compression_config";

bool vouch_hf_list_has(const char *list, char between, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, between)) {
        if (*at == between) at++;
        if (strncmp(at, word, n) == 0 && (at[n] == between || !at[n])) return true;
    }
    return false;
}

const char *vouch_hf_value(const json_t *value, char text[64])
{
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
    snprintf(text, 64, "%s", dump ? dump : "?");
    if (dump && strlen(dump) > 63) memcpy(text + 60, "...", 4);
    free(dump);
    return text;
}

/* -------------------------------------------------------------------- lists */

/* One word of a family's list. */
typedef struct key {
    char name[64], value[64];
    bool is_required, is_fixed;
} key;

/* Cuts the first word off the list. False: none is left. */
static bool next_key(const char **list, key *k)
{
    *list += strspn(*list, " ");
    const size_t n = strcspn(*list, " "), name = strcspn(*list, "!= ");
    if (n == 0) return false;
    *k = (key){.is_required = (*list)[name] == '!', .is_fixed = (*list)[name] == '='};
    snprintf(k->name, sizeof k->name, "%.*s", (int)name, *list);
    if (k->is_fixed) snprintf(k->value, sizeof k->value, "%.*s", (int)(n - name - 1), *list + name + 1);
    *list += n;
    return true;
}

static bool find_key(const char *list, const char *name, key *k)
{
    while (list && next_key(&list, k))
        if (vouch_hf_list_has(k->name, '|', name)) return true;
    return false;
}

bool vouch_hf_keys_has(const vouch_hf_family *family, const char *name)
{
    key k;
    return find_key(family->keys, name, &k) && !k.is_fixed;
}

/* transformers saves its own variables, too; their names begin with '_'. */
static bool is_idle(const char *name)
{
    if (*name == '_') return true;
    for (size_t i = 0; i < N_IDLE; i++)
        if (vouch_hf_list_has(idle[i].names, ' ', name)) return true;
    return false;
}

/* Whether a value is the one that the list has. A number may be an integer or a float. */
static bool is_value(const json_t *value, const char *expected)
{
    char text[64];
    json_t *other = json_loads(expected, JSON_DECODE_ANY, NULL);
    const bool is_same = json_is_number(value) && json_is_number(other)
                             ? json_number_value(value) == json_number_value(other)
                             : strcmp(vouch_hf_value(value, text), expected) == 0;
    json_decref(other);
    return is_same;
}

/* `list` is the family's, or that of all families, which leaves out the members of the family's. */
static vouch_status check_list(const vouch_json *config, const vouch_hf_family *family, const char *list,
                               vouch_error *err)
{
    key k, own;
    char text[64];
    while (list && next_key(&list, &k)) {
        if (list != family->keys && find_key(family->keys, k.name, &own) && strcmp(own.value, k.value) != 0) continue;
        const json_t *value = vouch_json_find(config->root, k.name);
        if (!value && k.is_required)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %.*s is missing", config->path, (int)strcspn(k.name, "|"),
                              k.name);
        if (value && k.is_fixed && !is_value(value, k.value))
            return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s is %s; for model_type '%s' vouch supports only %s",
                              config->path, k.name, vouch_hf_value(value, text), family->model_type, k.value);
    }
    return VOUCH_OK;
}

/* ------------------------------------------------------------------ members */

/* Adds "NAME is VALUE" to the list. */
static vouch_status note(const vouch_json *config, char **list, const char *name, const json_t *value, vouch_error *err)
{
    char text[64];
    if (vouch_gguf_note(list, (vouch_text){name, strlen(name)}, vouch_hf_value(value, text))) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MEMORY, "%s: not enough memory", config->path);
}

static vouch_status check_member(const vouch_json *config, const vouch_hf_family *family, const char *name,
                                 const json_t *value, char **unknown, vouch_error *err)
{
    key k;
    char text[64];
    if (json_is_null(value) || is_idle(name) || find_key(demanded, name, &k) || find_key(family->keys, name, &k))
        return VOUCH_OK;
    if (!vouch_hf_list_has(structural, ' ', name)) return note(config, unknown, name, value, err);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s is %s, which vouch doesn't know for model_type '%s'",
                      config->path, name, vouch_hf_value(value, text), family->model_type);
}

vouch_status vouch_hf_keys_check(const vouch_json *config, const vouch_hf_family *family, char **unknown,
                                 vouch_error *err)
{
    const char *name;
    json_t *value;
    void *next;
    VOUCH_TRY(check_list(config, family, family->keys, err));
    if (family->is_head) return VOUCH_OK;
    VOUCH_TRY(check_list(config, family, demanded, err));
    json_object_foreach_safe(config->root, next, name, value) {
        VOUCH_TRY(check_member(config, family, name, value, unknown, err));
        key k;
        if (!find_key(family->keys, name, &k)) json_object_del(config->root, name);
    }
    return VOUCH_OK;
}

vouch_status vouch_hf_keys_sizes(const vouch_json *config, const vouch_hf_family *family, char **sizes,
                                 vouch_error *err)
{
    const char *list = family->keys;
    char name[64];
    key k;
    while (list && next_key(&list, &k)) {
        const json_t *value = vouch_json_find(config->root, k.name);
        if (k.is_fixed) continue;
        if (value) vouch_json_name(config->root, k.name, name);
        else snprintf(name, sizeof name, "%.*s", (int)strcspn(k.name, "|"), k.name);
        VOUCH_TRY(note(config, sizes, name, value ? value : json_null(), err));
    }
    return VOUCH_OK;
}
