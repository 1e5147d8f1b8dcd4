/* SPDX-License-Identifier: MIT */
#include "train/teach/head_file.h"

#include "train/teach/writing.h"

#define KEY(name) "vouch-head." name

static void add_keys(vouch_gguf_writer *w, const train_head_file *f)
{
    const train_states_header *h = f->set->header;
    const train_layer_shape *layer = &f->shape->layer;
    vouch_gguf_add_text(w, "general.architecture", "vouch-head");
    vouch_gguf_add_text(w, "general.type", "head");
    vouch_gguf_add_text(w, "general.name", f->name);
    vouch_gguf_add_text(w, KEY("target.digest"), h->digest);
    vouch_gguf_add_u32(w, KEY("target.embedding_length"), (uint32_t)h->n_embd);
    vouch_gguf_add_u32(w, KEY("target.block_count"), (uint32_t)h->n_layers);
    vouch_gguf_add_u32(w, KEY("target.vocab_size"), (uint32_t)h->n_vocab);
    vouch_gguf_add_array(w, KEY("taps"), VOUCH_GGUF_I32, h->taps, (size_t)h->n_taps);
    vouch_gguf_add_u32(w, KEY("embedding_length"), (uint32_t)f->shape->width);
    vouch_gguf_add_u32(w, KEY("block_count"), (uint32_t)f->shape->n_layers);
    vouch_gguf_add_f32(w, KEY("attention.layer_norm_rms_epsilon"), (float)f->shape->eps);
    if (f->shape->n_layers > 0) {
        vouch_gguf_add_u32(w, KEY("feed_forward_length"), (uint32_t)layer->n_ff);
        vouch_gguf_add_u32(w, KEY("attention.head_count"), (uint32_t)layer->heads.n_heads);
        vouch_gguf_add_u32(w, KEY("attention.head_count_kv"), (uint32_t)layer->heads.n_kv_heads);
        vouch_gguf_add_u32(w, KEY("attention.key_length"), (uint32_t)layer->heads.head_dim);
        vouch_gguf_add_f32(w, KEY("rope.freq_base"), (float)f->rope_base);
    }
    vouch_gguf_add_text(w, KEY("recipe"), f->recipe);
}

static void add_tensors(train_writing *w, const train_head_file *f)
{
    const train_head *h = f->head;
    const train_head_shape *s = f->shape;
    const vouch_type type = train_type_of(f->type);
    train_writing_add(w, "taps.mean", f->set->mean, 0, s->n_features, VOUCH_TYPE_F32);
    train_writing_add(w, "taps.inv_scale", f->set->inv_scale, 0, s->n_features, VOUCH_TYPE_F32);
    train_writing_add(w, "fc.weight", h->fc, s->width, s->n_features, type);
    train_writing_add(w, "fc.bias", h->fc_bias, 0, s->width, VOUCH_TYPE_F32);
    train_writing_add(w, "join.weight", h->token, s->width, s->width, type);
    train_writing_add(w, "join.bias", h->token_bias, 0, s->width, VOUCH_TYPE_F32);
    train_writing_add(w, "leave.weight", h->leave, s->width, s->width, type);
    for (int32_t l = 0; l < s->n_layers; l++) train_writing_add_layer(w, &h->layers[l], &s->layer, l, type);
    if (s->n_layers > 0) train_writing_add(w, "output_norm.weight", h->output_norm, 0, s->width, VOUCH_TYPE_F32);
    if (f->guesses) vouch_gguf_add_tensor(w->gguf, "d2t", VOUCH_TYPE_I32, 1, &s->n_draft, f->guesses);
}

vouch_status train_head_write(const train_head_file *file, const char *path, vouch_error *err)
{
    train_writing w;
    VOUCH_TRY(train_writing_open(&w, err));
    add_keys(w.gguf, file);
    add_tensors(&w, file);
    return train_writing_end(&w, path, err);
}
