/* SPDX-License-Identifier: MIT */
#include "support/head/tiny_head.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/model.h"
#include "format/gguf.h"
#include "support/model/tiny_vocab.h"

enum { MOST_TENSORS = 64 };

typedef struct head_writer {
    tiny_head_options o;
    vouch_gguf_writer *gguf;
    test_random random;
    float *data[MOST_TENSORS]; /* the writer keeps pointers to them */
    int n_data;
} head_writer;

static bool is_omitted(const head_writer *w, const char *name)
{
    return w->o.omit && strcmp(w->o.omit, name) == 0;
}

static void add_key(head_writer *w, const char *name, int32_t value)
{
    char key[80];
    snprintf(key, sizeof key, "%s.%s", w->o.eagle3 ? "eagle3" : "vouch-head", name);
    if (!is_omitted(w, key)) vouch_gguf_add_u32(w->gguf, key, (uint32_t)value);
}

/* A random tensor [n_out, n_in], with n_out 0 a vector; mean + deviation * a normal number. */
static float *add_tensor(head_writer *w, const char *name, int64_t n_in, int64_t n_out, float mean, float deviation)
{
    const int64_t dim[2] = {n_in, n_out}, n = n_in * (n_out ? n_out : 1);
    assert_true(w->n_data < MOST_TENSORS);
    float *data = w->data[w->n_data++] = calloc((size_t)n, sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < n; i++) data[i] = mean + deviation * test_normal(&w->random);
    if (!is_omitted(w, name)) vouch_gguf_add_tensor(w->gguf, name, VOUCH_TYPE_F32, n_out ? 2 : 1, dim, data);
    return data;
}

static void add_layer(head_writer *w, int32_t layer)
{
    const int64_t n = w->o.width, n_ff = 2 * n;
    const float deviation = 1.5f / 8;
    const struct {
        const char *name;
        int64_t n_in, n_out;
    } tensors[] = {{"attn_norm", n, 0},   {"attn_q", n, n},      {"attn_k", n, n / 2},
                   {"attn_v", n, n / 2},  {"attn_output", n, n}, {"ffn_norm", n, 0},
                   {"ffn_gate", n, n_ff}, {"ffn_up", n, n_ff},   {"ffn_down", n_ff, n}};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%d.%s.weight", layer, tensors[i].name);
        const bool is_norm = tensors[i].n_out == 0;
        const bool reads_pairs = w->o.eagle3 && layer == 0 && i >= 1 && i <= 3; /* q, k, v */
        add_tensor(w, name, tensors[i].n_in * (reads_pairs ? 2 : 1), tensors[i].n_out, is_norm ? 1 : 0,
                   is_norm ? 0.1f : deviation);
    }
}

static void add_metadata(head_writer *w)
{
    const tiny_head_options *o = &w->o;
    int32_t taps[8];
    for (int32_t i = 0; i < o->n_taps; i++) taps[i] = o->tap - o->n_taps + 1 + i;
    vouch_gguf_add_text(w->gguf, "general.architecture", "vouch-head");
    if (!is_omitted(w, "vouch-head.target.digest")) vouch_gguf_add_text(w->gguf, "vouch-head.target.digest", o->digest);
    add_key(w, "target.embedding_length", o->n_embd);
    add_key(w, "target.block_count", o->n_blocks);
    add_key(w, "target.vocab_size", o->n_vocab);
    add_key(w, "embedding_length", o->width);
    add_key(w, "block_count", o->n_layers);
    if (!is_omitted(w, "vouch-head.taps"))
        vouch_gguf_add_array(w->gguf, "vouch-head.taps", VOUCH_GGUF_I32, taps, (size_t)o->n_taps);
    if (o->n_layers == 0) return;
    add_key(w, "feed_forward_length", 2 * o->width);
    add_key(w, "attention.head_count", 4);
    add_key(w, "attention.head_count_kv", 2);
    if (!is_omitted(w, "vouch-head.attention.layer_norm_rms_epsilon"))
        vouch_gguf_add_f32(w->gguf, "vouch-head.attention.layer_norm_rms_epsilon", 1e-5f);
}

static void add_eagle3_metadata(head_writer *w)
{
    const tiny_head_options *o = &w->o;
    int32_t layers[8];
    for (int32_t i = 0; i < o->n_taps; i++) layers[i] = o->tap_layers ? o->tap_layers[i] : o->tap - o->n_taps + 2 + i;
    vouch_gguf_add_text(w->gguf, "general.architecture", "eagle3");
    add_key(w, "vocab_size", o->n_vocab);
    add_key(w, "context_length", 512);
    add_key(w, "embedding_length", o->width);
    add_key(w, "block_count", o->n_layers);
    add_key(w, "feed_forward_length", 2 * o->width);
    add_key(w, "attention.head_count", 4);
    add_key(w, "attention.head_count_kv", 2);
    add_key(w, "target_hidden_size", o->n_embd);
    vouch_gguf_add_f32(w->gguf, "eagle3.attention.layer_norm_rms_epsilon", 1e-5f);
    if (!is_omitted(w, "eagle3.target_layers"))
        vouch_gguf_add_array(w->gguf, "eagle3.target_layers", VOUCH_GGUF_I32, layers, (size_t)o->n_taps);
    if (o->norms_first) vouch_gguf_add_bool(w->gguf, "eagle3.norm_before_residual", true);
    if (o->norms_taps) vouch_gguf_add_bool(w->gguf, "eagle3.norm_before_fc", true);
    if (o->norms_output) vouch_gguf_add_bool(w->gguf, "eagle3.norm_output", true);
    tiny_vocab_add(w->gguf, o->n_vocab, (uint64_t)o->vocab_seed);
}

static void add_ids(head_writer *w)
{
    const int64_t n = w->o.n_draft;
    int32_t *ids = calloc((size_t)n, sizeof *ids);
    int64_t *wide = calloc((size_t)n, sizeof *wide); /* llama.cpp reads these */
    assert_non_null(ids);
    assert_non_null(wide);
    for (int32_t i = 0; i < n; i++) ids[i] = w->o.n_vocab - 1 - (int32_t)(i * (int64_t)w->o.n_vocab / n);
    if (w->o.bad_ids) ids[1] = ids[0];
    for (int32_t i = 0; i < n; i++) wide[i] = ids[i];
    if (w->o.eagle3) vouch_gguf_add_tensor(w->gguf, "d2t", VOUCH_TYPE_I64, 1, &n, wide);
    else vouch_gguf_add_tensor(w->gguf, "d2t", VOUCH_TYPE_I32, 1, &n, ids);
    w->data[w->n_data++] = (float *)(void *)ids;
    w->data[w->n_data++] = (float *)(void *)wide;
}

static void add_eagle3_tensors(head_writer *w)
{
    const tiny_head_options *o = &w->o;
    const int64_t n_features = (int64_t)o->n_taps * o->n_embd;
    add_tensor(w, "fc.weight", n_features, o->width, 0, 1.0f / 8);
    if (o->norms_taps) add_tensor(w, "enc.output_norm.weight", n_features, 0, 1, 0.1f);
    if (o->norms_each_tap) add_tensor(w, "fc_norm.weight", o->n_embd, o->n_taps, 1, 0.1f);
    if (o->own_embedding) add_tensor(w, "token_embd.weight", o->width, o->n_vocab, 0, 1);
    for (int32_t l = 0; l < o->n_layers; l++) add_layer(w, l);
    add_tensor(w, "blk.0.attn_norm_2.weight", o->width, 0, 1, 0.1f);
    add_tensor(w, "output_norm.weight", o->width, 0, 1, 0.1f);
    if (o->own_output) add_tensor(w, "output.weight", o->width, o->n_draft > 0 ? o->n_draft : o->n_vocab, 0, 0.5f);
    if (o->n_draft > 0) add_ids(w);
}

static void add_tensors(head_writer *w)
{
    const tiny_head_options *o = &w->o;
    const int64_t n_features = (int64_t)o->n_taps * o->n_embd;
    const float gain = o->copies_tokens ? 0 : 1;
    add_tensor(w, "taps.mean", n_features, 0, 0.2f, 0.3f);
    float *scale = add_tensor(w, "taps.inv_scale", n_features, 0, 1, 0.1f);
    if (o->is_infinite) scale[2] = INFINITY;
    add_tensor(w, "fc.weight", n_features, o->width, 0, gain / 8);
    add_tensor(w, "fc.bias", o->width, 0, 0, gain / 4);
    const int64_t n_join = o->n_embd + (o->leaves ? 0 : o->width);
    float *join = add_tensor(w, "join.weight", n_join, o->width, 0, gain / 8);
    for (int32_t i = 0; i < o->width && o->copies_tokens; i++) join[i * n_join + i] = 1;
    if (o->bias) add_tensor(w, "join.bias", o->width, 0, 0, 0.3f);
    if (o->leaves) add_tensor(w, "leave.weight", o->width, o->width, 0, gain / 8);
    for (int32_t l = 0; l < o->n_layers; l++) add_layer(w, l);
    if (o->own_output || o->own_norm) add_tensor(w, "output_norm.weight", o->width, 0, 1, 0.1f);
    if (o->own_output) add_tensor(w, "output.weight", o->width, o->n_draft > 0 ? o->n_draft : o->n_vocab, 0, 0.5f);
    if (o->n_draft > 0) add_ids(w);
}

void tiny_head_write(const char *path, const tiny_head_options *options)
{
    const vouch_model_info *info = vouch_model_get_info(options->target);
    head_writer w = {.o = *options, .random = {options->seed + 77}};
    tiny_head_options *o = &w.o;
    if (o->n_embd == 0) o->n_embd = info->n_embd;
    if (o->n_vocab == 0) o->n_vocab = info->n_vocab;
    if (o->n_blocks == 0) o->n_blocks = info->n_layers;
    if (o->tap == 0) o->tap = info->n_layers - 1;
    if (o->n_taps == 0) o->n_taps = 1;
    if (o->width == 0) o->width = o->n_embd;
    if (!o->digest) o->digest = info->digest;
    o->own_output |= (o->eagle3 && o->n_draft > 0) || o->width != o->n_embd;
    o->own_embedding |= o->width != o->n_embd;
    if (o->eagle3 && o->n_layers == 0) o->n_layers = 1;
    assert_int_equal(vouch_gguf_writer_open(&w.gguf, NULL), VOUCH_OK);
    if (o->eagle3) {
        add_eagle3_metadata(&w);
        add_eagle3_tensors(&w);
    } else {
        add_metadata(&w);
        add_tensors(&w);
    }
    assert_int_equal(vouch_gguf_write(w.gguf, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w.gguf);
    for (int i = 0; i < w.n_data; i++) free(w.data[i]);
}

vouch_draft_file *tiny_head_open(const tiny_head_options *options)
{
    const char *path = test_temporary("tiny.head.gguf");
    vouch_error err = {0};
    vouch_draft_file *head;
    tiny_head_write(path, options);
    const vouch_status status =
        vouch_draft_file_open(&head, VOUCH_DRAFTER_NUMBER_HEAD, path, options->target, false, &err);
    if (status != VOUCH_OK) print_message("%s\n", err.message);
    assert_int_equal(status, VOUCH_OK);
    return head;
}

void tiny_model_silence(vouch_model *model)
{
    for (int32_t l = 0; l < model->info.n_layers; l++)
        model->weights->layers[l].mix.scale = model->weights->layers[l].feed.scale = 1e-12f;
}
