/* SPDX-License-Identifier: MIT */
/*
 * DFlash's, DFlash2's and DSpark's heads, in files as llama.cpp writes and reads them: architecture `dflash`. DSpark's
 * have the tensors markov_w1 and markov_w2, DFlash2's have a selector and convolutions. head_weights.h has the
 * formulas.
 */
#include <stdlib.h>
#include <string.h>

#include "model/load/dense.h"
#include "model/head/head_kind.h"
#include "model/load/keys.h"

static const char ARCH[] = "dflash";

enum { MOST_ROWS = 64 };

/* ----------------------------------------------------------- hyperparameters */

static vouch_status read_activation(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_text name = {0};
    if (!vouch_gguf_has(gguf, "dflash.hidden_activation")) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "dflash.hidden_activation", true, &name, err));
    const bool is_silu = vouch_text_is(name, "silu");
    const bool is_gelu = vouch_text_is(name, "gelu") || vouch_text_is(name, "gelu_pytorch_tanh");
    if (!is_silu && !is_gelu)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: dflash.hidden_activation is '%.*s', expected silu, gelu or gelu_pytorch_tanh",
                          vouch_gguf_path(gguf), (int)(name.size < 64 ? name.size : 64), name.data);
    h->activation = is_gelu ? VOUCH_GELU : VOUCH_SILU;
    return VOUCH_OK;
}

/* Is the head a DFlash2? */
static bool has_selector(const vouch_gguf *gguf)
{
    return vouch_gguf_find_tensor(gguf, "selector_hidden.weight") != NULL;
}

static vouch_status read_dflash(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    h->is_head = h->keys_may_be_values = true;
    h->head_norms = VOUCH_REQUIRED;
    h->norms_after = h->sinks = VOUCH_OPTIONAL;
    VOUCH_TRY(read_activation(gguf, h, err));
    VOUCH_TRY(vouch_dense_read(gguf, h, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.scale", &h->attention_scale, err));
    VOUCH_TRY(vouch_dense_read_scale(gguf, h, "attention.value_scale", &h->value_scale, err));
    if (has_selector(gguf)) {
        VOUCH_TRY(vouch_dense_read_scale(gguf, h, "logit_scale", &h->logit_scale, err));
        VOUCH_TRY(vouch_dense_read_scale(gguf, h, "final_logit_softcapping", &h->logit_softcap, err));
    }
    return vouch_dense_read_windows(gguf, h, 1, VOUCH_LAST, err);
}

/* Takes the convolutions around a branch: PART_conv_base and PART_conv_proj. */
static vouch_status take_conv(vouch_loader *loader, int32_t index, const char *base, const char *weights,
                              vouch_block_conv *conv)
{
    const int32_t n_embd = loader->hparams->n_embd;
    int32_t group = 0;
    VOUCH_TRY(vouch_key_int(loader->gguf, ARCH, "conv_kernel_size", true, 1, MOST_ROWS, &conv->width, loader->err));
    VOUCH_TRY(vouch_key_int(loader->gguf, ARCH, "conv_group_size", true, 1, n_embd, &group, loader->err));
    if (n_embd % group != 0)
        return vouch_fail(loader->err, VOUCH_E_FORMAT,
                          "%s: dflash.embedding_length %d is no multiple of dflash.conv_group_size %d",
                          vouch_gguf_path(loader->gguf), n_embd, group);
    conv->n_groups = n_embd / group;
    VOUCH_TRY(vouch_loader_planes(loader, vouch_loader_name_of(loader, index, base, NULL), &conv->base, 2, conv->width,
                                  n_embd));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, weights), true, &conv->weights,
                               2 * (int64_t)conv->width * conv->n_groups, n_embd);
}

/* Without attn_v the value is the key before its norm and rotation, normalised without weights. */
static vouch_status take_dflash(vouch_loader *loader, int32_t index, vouch_layer *layer)
{
    const vouch_hparams *h = loader->hparams;
    VOUCH_TRY(vouch_dense_take(loader, index, layer));
    layer->attention.has_value_norm = !vouch_loader_has(loader, index, "attn_v");
    if (h->value_scale != 0 && layer->mix.norm_after)
        return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED,
                          "%s: dflash.attention.value_scale beside a norm after attention is not supported",
                          vouch_gguf_path(loader->gguf));
    if (h->value_scale != 0) layer->mix.scale = h->value_scale;
    if (has_selector(loader->gguf)) {
        VOUCH_TRY(take_conv(loader, index, "attn_conv_base", "attn_conv_proj", &layer->mix.conv));
        VOUCH_TRY(take_conv(loader, index, "ffn_conv_base", "ffn_conv_proj", &layer->feed.conv));
    }
    return vouch_loader_vector(loader, vouch_loader_name(loader, index, "layer_output_scale"), false,
                               &layer->feed.stream_scale, 1);
}

static const vouch_arch arch_dflash = {
    .name = ARCH, .rotary = VOUCH_ROTARY_HALF_SPLIT, .has_feed_scales = true, .read = read_dflash, .take = take_dflash};

/* Refuses kinds of such heads that vouch doesn't run. */
static vouch_status refuse_others(const vouch_gguf *gguf, vouch_error *err)
{
    int32_t n_streams = 0;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "hyper_connection.count", false, 0, INT32_MAX, &n_streams, err));
    if (n_streams == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: dflash.hyper_connection.count is %d: DSpark heads with hyper-connections are not "
                      "supported",
                      vouch_gguf_path(gguf), n_streams);
}

static vouch_status read_block(vouch_head_weights *head, const vouch_gguf *gguf, vouch_error *err)
{
    vouch_head_block *block = &head->block;
    const int32_t n_vocab = head->target->hparams.n_vocab;
    const bool is_dspark = vouch_gguf_find_tensor(gguf, "markov_w1.weight") != NULL;
    bool from_anchor = true;
    double scale = 0;
    int64_t mask = 0;
    block->n_rows = 16;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "block_size", is_dspark, 2, MOST_ROWS, &block->n_rows, err));
    VOUCH_TRY(vouch_key_bool(gguf, ARCH, "sample_from_anchor", &from_anchor, err));
    VOUCH_TRY(vouch_key_bool(gguf, ARCH, "attention.causal", &block->is_causal, err));
    VOUCH_TRY(vouch_key_float(gguf, ARCH, "embedding_scale", false, 0, 1e6, &scale, err));
    VOUCH_TRY(vouch_gguf_get_int(gguf, "tokenizer.ggml.mask_token_id", true, 0, INT32_MAX, &mask, err));
    block->first = is_dspark && from_anchor ? 0 : 1;
    block->embedding_scale = (float)scale;
    block->mask = (int32_t)mask;
    if (mask < n_vocab) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH,
                      "%s: tokenizer.ggml.mask_token_id is %lld, but the model has %d tokens: this head is for another "
                      "model",
                      vouch_gguf_path(gguf), (long long)mask, n_vocab);
}

/* ------------------------------------------------------------------- tensors */

/* Takes the bias and the confidence of a guess by the token before it. */
static vouch_status take_markov(vouch_loader *loader, vouch_head_weights *head)
{
    vouch_head_block *block = &head->block;
    const vouch_gguf_tensor *from = vouch_gguf_find_tensor(loader->gguf, "markov_w1.weight");
    if (!from) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_matrix(loader, "markov_w1.weight", true, &block->from, head->target->hparams.n_vocab,
                                  from->dim[0]));
    VOUCH_TRY(vouch_loader_matrix(loader, "markov_w2.weight", true, &block->to, head->n_draft, from->dim[0]));
    const vouch_gguf_tensor *confidence = vouch_gguf_find_tensor(loader->gguf, "conf_proj.weight");
    const bool reads_token = !confidence || confidence->dim[0] != loader->hparams->n_embd;
    VOUCH_TRY(vouch_loader_matrix(loader, "conf_proj.weight", false, &block->confidence, 1,
                                  loader->hparams->n_embd + (reads_token ? from->dim[0] : 0)));
    return vouch_loader_vector(loader, "conf_proj.bias", false, &block->confidence_bias, 1);
}

/* Takes the selector, which weighs the likeliest tokens by the token before. */
static vouch_status take_selector(vouch_loader *loader, vouch_head_weights *head)
{
    vouch_head_block *block = &head->block;
    const int64_t n_vocab = head->target->hparams.n_vocab;
    int32_t rank = 0;
    if (!has_selector(loader->gguf)) return VOUCH_OK;
    if (vouch_gguf_find_tensor(loader->gguf, "markov_w1.weight"))
        return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED,
                          "%s: tensors 'markov_w1.weight' and 'selector_hidden.weight': a head has one or the other",
                          vouch_gguf_path(loader->gguf));
    VOUCH_TRY(vouch_key_int(loader->gguf, ARCH, "selector_rank", true, 1, 1 << 16, &rank, loader->err));
    VOUCH_TRY(vouch_key_int(loader->gguf, ARCH, "selector_top_k", true, 1, VOUCH_HEAD_BEST, &block->n_best,
                            loader->err));
    VOUCH_TRY(vouch_loader_matrix(loader, "selector_predecessor.weight", true, &block->from, n_vocab, rank));
    VOUCH_TRY(vouch_loader_matrix(loader, "selector_successor.weight", true, &block->to, n_vocab, rank));
    return vouch_loader_matrix(loader, "selector_hidden.weight", true, &block->gate, rank, loader->hparams->n_embd);
}

/* The output matrix is the file's own, its embedding, or the target's. */
static vouch_status take_output(vouch_weights *w, vouch_loader *loader, const vouch_head_weights *head)
{
    const int64_t n_embd = w->hparams.n_embd, n_vocab = w->hparams.n_vocab;
    w->embedding_norm.kind = VOUCH_NORM_NONE;
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", false, &w->embedding, n_vocab, n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "output_norm.weight", true, &w->output_norm.weight, n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "output.weight", false, &w->own_output, head->n_draft, n_embd));
    VOUCH_TRY(vouch_loader_ignore(loader, "d2t"));
    if (w->own_output.n_out > 0) return VOUCH_OK;
    if (head->tokens)
        return vouch_fail(loader->err, VOUCH_E_FORMAT,
                          "%s: tensor 'output.weight' is missing, which a head with d2t needs",
                          vouch_gguf_path(loader->gguf));
    w->output = w->embedding.n_out > 0 ? &w->embedding : head->target->output;
    return VOUCH_OK;
}

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    vouch_head_weights *head = user;
    const int64_t n_embd = w->hparams.n_embd;
    w->hparams.n_vocab = head->target->hparams.n_vocab;
    VOUCH_TRY(vouch_loader_matrix(loader, "fc.weight", true, &head->fc, n_embd, head->n_features));
    VOUCH_TRY(vouch_loader_vector(loader, "enc.output_norm.weight", true, &head->block.feature_norm, n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "mask_embedding.weight", false, &head->block.mask_embedding, n_embd));
    VOUCH_TRY(take_markov(loader, head));
    VOUCH_TRY(take_selector(loader, head));
    return take_output(w, loader, head);
}

/* ------------------------------------------------------------------- opening */

/* Opens the layers that make keys and values of f: the body's, without their norms, queries and networks. */
static vouch_status open_writer(vouch_head_weights *head, vouch_error *err)
{
    const int32_t n_layers = head->body->hparams.n_layers;
    vouch_weights *writer = head->block.writer = malloc(sizeof *writer);
    if (writer) {
        *writer = *head->body;
        writer->arena = (vouch_arena){0};
        writer->layers = calloc((size_t)n_layers, sizeof *writer->layers);
    }
    if (!writer || !writer->layers) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    for (int32_t l = 0; l < n_layers; l++) {
        vouch_layer *layer = &writer->layers[l];
        layer->mix = (vouch_branch){.norm.kind = VOUCH_NORM_NONE, .scale = 1};
        layer->attention = head->body->layers[l].attention;
        layer->attention.q = layer->attention.o = (vouch_matrix){0};
    }
    return VOUCH_OK;
}

static vouch_status open_dflash(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                                vouch_pool *pool, vouch_error *err)
{
    const vouch_weights *t = target->weights;
    const vouch_weights_plan plan = {.arch = &arch_dflash, .take_ends = take_ends, .user = head};
    VOUCH_TRY(refuse_others(gguf, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "embedding_length", true, t->hparams.n_embd, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "vocab_size", false, t->hparams.n_vocab, err));
    VOUCH_TRY(vouch_head_read_taps(head, gguf, "dflash.target_layers", err));
    VOUCH_TRY(vouch_head_read_tokens(head, gguf, "d2t", t->hparams.n_vocab, err));
    VOUCH_TRY(read_block(head, gguf, err));
    const vouch_packing packing = vouch_packing_beside(t, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    head->embedding = head->body->embedding.n_out > 0 ? &head->body->embedding : &t->embedding;
    return open_writer(head, err);
}

const vouch_head_kind vouch_head_kind_dflash = {.arch = ARCH, .open = open_dflash};
