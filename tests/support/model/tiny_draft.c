/* SPDX-License-Identifier: MIT */
#include "support/model/tiny_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model.h"
#include "format/gguf.h"

enum { MOST_TENSORS = 96, WIDTH = 48, N_FF = 80, N_LAYERS = 3, RANK = 16 };
enum { CONV_WIDTH = 3, CONV_GROUP = 32 }; /* of DFlash2 */

typedef struct draft_writer {
    tiny_draft_options o; /* with the defaults filled in */
    const char *arch;
    vouch_gguf_writer *gguf;
    test_random random;
    float *data[MOST_TENSORS]; /* the writer keeps pointers to them */
    int n_data;
    char key[96], name[64];
} draft_writer;

/* ------------------------------------------------------------------- elements */

static bool is_omitted(const draft_writer *w, const char *name)
{
    return w->o.omit && strcmp(w->o.omit, name) == 0;
}

/* "ARCH.name" */
static const char *key_of(draft_writer *w, const char *name)
{
    snprintf(w->key, sizeof w->key, "%s.%s", w->arch, name);
    return w->key;
}

static void add_int(draft_writer *w, const char *name, int32_t value)
{
    const char *key = key_of(w, name);
    if (!is_omitted(w, key)) vouch_gguf_add_u32(w->gguf, key, (uint32_t)value);
}

static void add_float(draft_writer *w, const char *name, float value)
{
    const char *key = key_of(w, name);
    if (!is_omitted(w, key)) vouch_gguf_add_f32(w->gguf, key, value);
}

static void add_values(draft_writer *w, const char *name, int64_t n_in, int64_t n_out, float mean, float deviation)
{
    const int64_t dim[2] = {n_in, n_out}, n = n_in * (n_out ? n_out : 1);
    assert_true(w->n_data < MOST_TENSORS);
    float *data = w->data[w->n_data++] = calloc((size_t)n, sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < n; i++) data[i] = mean + deviation * test_normal(&w->random);
    if (!is_omitted(w, name)) vouch_gguf_add_tensor(w->gguf, name, VOUCH_TYPE_F32, n_out ? 2 : 1, dim, data);
}

/* [n_out, n_in] with results of standard deviation `gain` for inputs of size 1. */
static void add_matrix(draft_writer *w, const char *name, int64_t n_out, int64_t n_in, float gain)
{
    add_values(w, name, n_in, n_out, 0, gain / sqrtf((float)n_in));
}

static void add_norm(draft_writer *w, const char *name, int64_t n, float mean)
{
    add_values(w, name, n, 0, mean, 0.1f * mean);
}

static const char *in_layer(draft_writer *w, int32_t layer, const char *tensor)
{
    snprintf(w->name, sizeof w->name, "blk.%d.%s.weight", layer, tensor);
    return w->name;
}

/* Keys that every model of llama.cpp needs. */
static void add_common_keys(draft_writer *w, int32_t width)
{
    const vouch_model_info *target = vouch_model_get_info(w->o.target);
    if (!is_omitted(w, "general.architecture")) vouch_gguf_add_text(w->gguf, "general.architecture", w->arch);
    vouch_gguf_add_text(w->gguf, "tokenizer.ggml.model", "none");
    add_int(w, "vocab_size", target->n_vocab);
    add_int(w, "context_length", 512);
    add_int(w, "embedding_length", width);
    add_int(w, "block_count", N_LAYERS);
    add_int(w, "feed_forward_length", N_FF);
    add_int(w, "attention.head_count", w->o.n_heads);
    add_float(w, "attention.layer_norm_rms_epsilon", 1e-5f);
}

/* Output, norms and feed-forward of a layer whose heads together are n_mixed wide. */
static void add_rest_of_layer(draft_writer *w, int32_t layer, int32_t width, int64_t n_mixed, bool norms_after)
{
    add_matrix(w, in_layer(w, layer, "attn_output"), width, n_mixed, 2.5f);
    add_norm(w, in_layer(w, layer, "attn_norm"), width, 1);
    add_norm(w, in_layer(w, layer, "ffn_norm"), width, 1);
    add_matrix(w, in_layer(w, layer, "ffn_gate"), N_FF, width, 1.5f);
    add_matrix(w, in_layer(w, layer, "ffn_up"), N_FF, width, 1.5f);
    add_matrix(w, in_layer(w, layer, "ffn_down"), width, N_FF, 1.5f);
    if (!norms_after) return;
    add_norm(w, in_layer(w, layer, "post_attention_norm"), width, 1);
    add_norm(w, in_layer(w, layer, "post_ffw_norm"), width, 1);
    add_norm(w, in_layer(w, layer, "layer_output_scale"), 1, 0.9f);
}

/* ------------------------------------------------------------------- assistant */

/* Tokens in order of their centroids: backwards. */
static void add_centroids(draft_writer *w, int32_t n_vocab)
{
    const int64_t dim = n_vocab;
    int32_t *order = calloc((size_t)n_vocab, sizeof *order);
    assert_non_null(order);
    for (int32_t i = 0; i < n_vocab; i++) order[i] = n_vocab - 1 - i;
    add_matrix(w, "masked_embd_centroids.weight", w->o.n_centroids, WIDTH, 1);
    if (!is_omitted(w, "masked_embd_ordering"))
        vouch_gguf_add_tensor(w->gguf, "masked_embd_ordering", VOUCH_TYPE_I32, 1, &dim, order);
    w->data[w->n_data++] = (float *)(void *)order;
    add_int(w, "centroid_top_k", (w->o.n_centroids + 1) / 2);
}

static void add_assistant(draft_writer *w)
{
    static const bool windows[N_LAYERS] = {true, true, false};
    const int32_t n_embd = w->o.n_embd, n_vocab = vouch_model_get_info(w->o.target)->n_vocab;
    add_common_keys(w, WIDTH);
    add_int(w, "embedding_length_out", n_embd);
    add_int(w, "nextn_predict_layers", N_LAYERS);
    add_int(w, "attention.head_count_kv", w->o.n_kv_heads);
    add_int(w, "attention.key_length", 2 * w->o.head_dim);
    add_int(w, "attention.value_length", 2 * w->o.head_dim);
    add_int(w, "attention.key_length_swa", w->o.head_dim);
    add_int(w, "attention.value_length_swa", w->o.head_dim);
    add_int(w, "rope.dimension_count_swa", w->o.head_dim);
    add_int(w, "attention.shared_kv_layers", N_LAYERS);
    add_int(w, "attention.sliding_window", 5);
    vouch_gguf_add_array(w->gguf, key_of(w, "attention.sliding_window_pattern"), VOUCH_GGUF_BOOL, windows, N_LAYERS);
    add_int(w, "embedding_length_per_layer_input", 0);
    add_float(w, "rope.freq_base", 10000);
    add_float(w, "rope.freq_base_swa", 100);
    add_matrix(w, "token_embd.weight", n_vocab, WIDTH, 4);
    add_norm(w, "output_norm.weight", WIDTH, 1);
    add_matrix(w, "nextn.pre_projection.weight", WIDTH, 2 * (int64_t)n_embd, 1);
    add_matrix(w, "nextn.post_projection.weight", n_embd, WIDTH, 1.2f);
    add_norm(w, "rope_freqs.weight", w->o.head_dim, 1.5f);
    for (int32_t l = 0; l < N_LAYERS; l++) {
        const int32_t head_dim = windows[l] ? w->o.head_dim : 2 * w->o.head_dim, n_q = w->o.n_heads * head_dim;
        add_matrix(w, in_layer(w, l, "attn_q"), n_q, WIDTH, 1.7f);
        add_norm(w, in_layer(w, l, "attn_q_norm"), head_dim, 0.6f);
        add_rest_of_layer(w, l, WIDTH, n_q, true);
    }
    if (w->o.n_centroids > 0) add_centroids(w, n_vocab);
}

/* ---------------------------------------------------------- DFlash and DSpark */

static void add_block_keys(draft_writer *w)
{
    static const bool windows[N_LAYERS] = {true, true, false};
    const tiny_draft_options *o = &w->o;
    const int32_t layers[] = {1, o->tap};
    add_common_keys(w, o->n_embd);
    add_int(w, "attention.head_count_kv", o->n_kv_heads);
    add_int(w, "attention.key_length", o->head_dim);
    add_int(w, "attention.value_length", o->head_dim);
    add_int(w, "attention.sliding_window", 5);
    vouch_gguf_add_array(w->gguf, key_of(w, "attention.sliding_window_pattern"), VOUCH_GGUF_BOOL, windows, N_LAYERS);
    if (!is_omitted(w, "dflash.target_layers"))
        vouch_gguf_add_array(w->gguf, "dflash.target_layers", VOUCH_GGUF_I32, layers, 2);
    add_int(w, "block_size", o->block_size);
    vouch_gguf_add_bool(w->gguf, "dflash.sample_from_anchor", !o->has_bonus);
    vouch_gguf_add_bool(w->gguf, "dflash.attention.causal", o->is_causal);
    if (!is_omitted(w, "tokenizer.ggml.mask_token_id"))
        vouch_gguf_add_u32(w->gguf, "tokenizer.ggml.mask_token_id", (uint32_t)o->mask);
    if (o->one_matrix) {
        vouch_gguf_add_text(w->gguf, "dflash.hidden_activation", "gelu_pytorch_tanh");
        add_float(w, "embedding_scale", 3);
        add_float(w, "attention.scale", 0.3f);
    }
    add_float(w, "rope.freq_base", 1000);
    if (o->kind != TINY_DFLASH2) return;
    add_int(w, "conv_kernel_size", CONV_WIDTH);
    add_int(w, "conv_group_size", CONV_GROUP);
    add_int(w, "selector_rank", RANK);
    add_int(w, "selector_top_k", o->n_best);
    add_float(w, "logit_scale", 0.7f);
    add_float(w, "final_logit_softcapping", 12);
}

static void add_block_ends(draft_writer *w)
{
    const tiny_draft_options *o = &w->o;
    const int32_t n_vocab = vouch_model_get_info(o->target)->n_vocab, n_draft = o->n_draft ? o->n_draft : n_vocab;
    add_matrix(w, "fc.weight", o->n_embd, 2 * (int64_t)o->n_embd, 1);
    add_norm(w, "enc.output_norm.weight", o->n_embd, 1);
    add_norm(w, "output_norm.weight", o->n_embd, 1);
    if (o->own_ends) add_matrix(w, "token_embd.weight", n_vocab, o->n_embd, 4);
    if (o->own_ends || o->n_draft) add_matrix(w, "output.weight", n_draft, o->n_embd, 4);
    if (o->extra) add_norm(w, o->extra, 4, 1);
    if (o->n_draft) {
        int64_t *ids = calloc((size_t)n_draft, sizeof *ids);
        const int64_t n = n_draft;
        assert_non_null(ids);
        for (int32_t i = 0; i < n_draft; i++) ids[i] = (i * 3 + 1) % n_vocab;
        vouch_gguf_add_tensor(w->gguf, "d2t", VOUCH_TYPE_I64, 1, &n, ids);
        w->data[w->n_data++] = (float *)(void *)ids;
    }
    if (o->kind == TINY_DFLASH2) {
        add_matrix(w, "selector_predecessor.weight", n_vocab, RANK, 3);
        add_matrix(w, "selector_successor.weight", n_vocab, RANK, 3);
        add_matrix(w, "selector_hidden.weight", RANK, o->n_embd, 1);
    }
    if (o->kind != TINY_DSPARK) return;
    add_matrix(w, "markov_w1.weight", n_vocab, RANK, 4);
    add_matrix(w, "markov_w2.weight", n_draft, RANK, 1.5f);
    add_matrix(w, "conf_proj.weight", 1, o->n_embd + RANK, 1);
}

/* The convolutions around a branch, `part`. */
static void add_convs(draft_writer *w, int32_t layer, const char *part)
{
    const int64_t n = w->o.n_embd, dim[3] = {n, CONV_WIDTH, 2};
    char name[64];
    float *values = w->data[w->n_data++] = calloc((size_t)(2 * CONV_WIDTH * n), sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < 2 * CONV_WIDTH * n; i++)
        values[i] = (i / n % CONV_WIDTH ? 0 : 1) + 0.3f * test_normal(&w->random);
    snprintf(name, sizeof name, "blk.%d.%s_conv_base", layer, part);
    if (!is_omitted(w, name)) vouch_gguf_add_tensor(w->gguf, name, VOUCH_TYPE_F32, 3, dim, values);
    snprintf(name, sizeof name, "blk.%d.%s_conv_proj.weight", layer, part);
    add_matrix(w, name, 2 * CONV_WIDTH * n / CONV_GROUP, n, 0.3f);
}

static void add_block_head(draft_writer *w)
{
    const tiny_draft_options *o = &w->o;
    const int32_t n = o->n_embd, n_q = o->n_heads * o->head_dim, n_k = o->n_kv_heads * o->head_dim;
    add_block_keys(w);
    add_block_ends(w);
    for (int32_t l = 0; l < N_LAYERS; l++) {
        add_matrix(w, in_layer(w, l, "attn_q"), n_q, n, 1.7f);
        add_matrix(w, in_layer(w, l, "attn_k"), n_k, n, 1.7f);
        if (!o->one_matrix) add_matrix(w, in_layer(w, l, "attn_v"), n_k, n, 1);
        add_norm(w, in_layer(w, l, "attn_q_norm"), o->head_dim, 1.7f);
        add_norm(w, in_layer(w, l, "attn_k_norm"), o->head_dim, 1.7f);
        add_rest_of_layer(w, l, n, n_q, o->one_matrix);
        if (o->kind != TINY_DFLASH2) continue;
        add_convs(w, l, "attn");
        add_convs(w, l, "ffn");
    }
}

/* --------------------------------------------------------------------- writing */

void tiny_draft_write(const char *path, const tiny_draft_options *options)
{
    const vouch_model_info *target = vouch_model_get_info(options->target);
    draft_writer w = {.o = *options, .random = {options->seed + 99}};
    if (w.o.n_embd == 0) w.o.n_embd = target->n_embd;
    if (w.o.n_heads == 0) w.o.n_heads = 4;
    if (w.o.n_kv_heads == 0) w.o.n_kv_heads = 2;
    if (w.o.head_dim == 0) w.o.head_dim = target->n_embd / target->n_heads;
    assert_int_equal(vouch_gguf_writer_open(&w.gguf, NULL), VOUCH_OK);
    if (w.o.block_size == 0) w.o.block_size = 6;
    if (w.o.n_best == 0) w.o.n_best = 16;
    if (w.o.mask == 0) w.o.mask = 5;
    if (w.o.tap == 0) w.o.tap = 3;
    w.arch = w.o.kind == TINY_ASSISTANT ? "gemma4-assistant" : "dflash";
    if (w.o.kind == TINY_ASSISTANT) add_assistant(&w);
    else add_block_head(&w);
    assert_int_equal(vouch_gguf_write(w.gguf, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w.gguf);
    for (int i = 0; i < w.n_data; i++) free(w.data[i]);
}

vouch_draft_file *tiny_draft_open(const tiny_draft_options *options)
{
    const char *path = test_temporary("tiny.draft.gguf");
    vouch_error err = {0};
    vouch_draft_file *head;
    tiny_draft_write(path, options);
    const vouch_status status =
        vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, options->target, false, &err);
    if (status != VOUCH_OK) print_message("%s\n", err.message);
    assert_int_equal(status, VOUCH_OK);
    return head;
}
