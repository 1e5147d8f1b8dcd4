/* SPDX-License-Identifier: MIT */
/* Opening a model: find its family, read its numbers, take and pack its tensors. */
#include "model/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "model/arch.h"
#include "model/keys.h"

/* The one set of angles of all layers. */
static vouch_status take_rotary(vouch_weights *weights, const vouch_arch *arch, vouch_loader *loader)
{
    const vouch_hparams *h = &weights->hparams;
    vouch_rotary rotary = {.kind = arch->rotary,
                           .n_rot = h->n_rot,
                           .base = h->rope_base,
                           .scale = h->rope_scale};
    VOUCH_TRY(vouch_loader_vector(loader, "rope_freqs.weight", false, &rotary.factors, h->n_rot / 2));
    rotary.frequencies = vouch_arena_take(loader->arena, (size_t)h->n_rot / 2, sizeof *rotary.frequencies);
    weights->rotaries = vouch_arena_take(loader->arena, 1, sizeof *weights->rotaries);
    weights->n_rotaries = 1;
    if (weights->rotaries) *weights->rotaries = rotary;
    return VOUCH_OK;
}

/* Once the factors are there. */
static void fill_frequencies(vouch_rotary *r)
{
    for (int32_t i = 0; i < r->n_rot / 2; i++)
        r->frequencies[i] =
            vouch_power(r->base, -2.0 * i / r->n_rot) / ((r->factors ? (double)r->factors[i] : 1.0) * r->scale);
}

/* One walk over all tensors. */
static vouch_status take_all(vouch_weights *weights, const vouch_arch *arch, vouch_loader *loader)
{
    const vouch_hparams *h = &weights->hparams;
    vouch_layer counted = {0};
    loader->n_jobs = 0;
    weights->layers = vouch_arena_take(loader->arena, (size_t)h->n_layers, sizeof *weights->layers);
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", true, &weights->embedding, h->n_vocab, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "output.weight", false, &weights->output, h->n_vocab, h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "output_norm.weight", true, &weights->output_norm, h->n_embd));
    VOUCH_TRY(take_rotary(weights, arch, loader));
    for (int32_t i = 0; i < h->n_layers; i++)
        VOUCH_TRY(arch->take(loader, i, weights->layers ? &weights->layers[i] : &counted));
    return VOUCH_OK;
}

/* ------------------------------------------------------------------- opening */

static vouch_status read_vocabulary_size(const vouch_gguf *gguf, int32_t n_tokens, vouch_hparams *h, vouch_error *err)
{
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    if (!embedding)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor 'token_embd.weight' is missing", vouch_gguf_path(gguf));
    if (embedding->dim[1] > 1 << 24)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor 'token_embd.weight' has %lld rows, more than %d tokens are not supported",
                          vouch_gguf_path(gguf), (long long)embedding->dim[1], 1 << 24);
    h->n_vocab = (int32_t)embedding->dim[1];
    if (n_tokens != 0 && n_tokens != h->n_vocab)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: tensor 'token_embd.weight' has %d rows, but tokenizer.ggml.tokens %d",
                          vouch_gguf_path(gguf), h->n_vocab, n_tokens);
    int32_t stated = h->n_vocab;
    return vouch_key_int(gguf, h->arch, "vocab_size", false, h->n_vocab, h->n_vocab, &stated, err);
}

/* Angles are positions divided by these. */
static vouch_status check_rope_factors(const vouch_gguf *gguf, vouch_error *err)
{
    const float least = 1e-3f, most = 1e9f;
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, "rope_freqs.weight");
    if (!tensor) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    for (size_t i = 0; i < tensor->bytes / sizeof(float); i++) {
        float factor;
        memcpy(&factor, (const char *)tensor->data + i * sizeof factor, sizeof factor);
        if (!(factor >= least && factor <= most))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: rope_freqs.weight[%zu] is %g, must be %g to %g",
                              vouch_gguf_path(gguf), i, (double)factor, (double)least, (double)most);
    }
    return VOUCH_OK;
}

vouch_status vouch_weights_check_any(const vouch_gguf *gguf, vouch_error *err)
{
    if (vouch_gguf_n_tensors(gguf) > 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: the file has %s and no weights; use the file of the whole model",
                      vouch_gguf_path(gguf),
                      vouch_gguf_has(gguf, "tokenizer.ggml.tokens") ? "a vocabulary" : "a header");
}

vouch_status vouch_weights_open(vouch_weights **out, const vouch_gguf *gguf, int32_t n_tokens,
                                const vouch_kernels *kernels, vouch_pool *pool, vouch_progress_fn progress, void *user,
                                vouch_error *err)
{
    *out = NULL;
    vouch_status status = VOUCH_E_MEMORY;
    vouch_weights *weights = calloc(1, sizeof *weights);
    const size_t n_tensors = vouch_gguf_n_tensors(gguf);
    vouch_loader loader = {.gguf = gguf, .err = err, .is_taken = calloc(n_tensors + 1, sizeof(bool))};
    const vouch_arch *arch;
    if (!weights || !loader.is_taken) {
        vouch_fail(err, status, "not enough memory for the weights' table");
        goto done;
    }
    weights->kernels = kernels;
    loader.hparams = &weights->hparams;
    if ((status = vouch_arch_find(gguf, &arch, err)) != VOUCH_OK) goto done;
    if ((status = vouch_weights_check_any(gguf, err)) != VOUCH_OK) goto done;
    weights->hparams.arch = arch->name;
    if ((status = arch->read(gguf, &weights->hparams, err)) != VOUCH_OK) goto done;
    if ((status = read_vocabulary_size(gguf, n_tokens, &weights->hparams, err)) != VOUCH_OK) goto done;

    vouch_arena counting = {0};
    loader.arena = &counting;
    if ((status = take_all(weights, arch, &loader)) != VOUCH_OK) goto done;
    if ((status = vouch_loader_refuse_others(&loader)) != VOUCH_OK) goto done;
    weights->head = weights->output.n_out ? &weights->output : &weights->embedding;
    if ((status = check_rope_factors(gguf, err)) != VOUCH_OK) goto done;
    if (!pool) {
        weights->arena.used = counting.used;
        status = vouch_gguf_recheck(gguf, err);
        goto done;
    }
    if ((status = vouch_arena_allocate(&counting, "the packed weights", err)) != VOUCH_OK) goto done;
    weights->arena = counting;
    loader.arena = &weights->arena;
    if ((status = take_all(weights, arch, &loader)) != VOUCH_OK) goto done;
    if ((status = vouch_loader_pack(&loader, pool, progress, user)) != VOUCH_OK) goto done;
    for (int32_t i = 0; i < weights->n_rotaries; i++) fill_frequencies(&weights->rotaries[i]);
done:
    if (status == VOUCH_OK) *out = weights;
    else vouch_weights_close(weights);
    free(loader.jobs);
    free(loader.is_taken);
    return status;
}

static double matrix_bytes(const vouch_matrix *matrix)
{
    return (double)vouch_matrix_bytes(matrix);
}

static double feed_forward_bytes(const vouch_feed_forward *f)
{
    return matrix_bytes(&f->gate) + matrix_bytes(&f->up) + matrix_bytes(&f->down);
}

/* Of n rows that choose independently, (1 - n_used / n_experts)^n leave an expert out. */
static double layer_bytes(const vouch_layer *layer, int32_t n_rows)
{
    const vouch_attention *a = &layer->attention;
    const vouch_experts *e = &layer->experts;
    const double mix = matrix_bytes(&a->q) + matrix_bytes(&a->k) + matrix_bytes(&a->v) + matrix_bytes(&a->o);
    if (e->n_experts == 0) return mix + feed_forward_bytes(&layer->ffn);
    double left_out = 1;
    for (int32_t r = 0; r < n_rows; r++) left_out *= 1 - (double)e->n_used / e->n_experts;
    const double one = matrix_bytes(&e->gate) + matrix_bytes(&e->up) + matrix_bytes(&e->down);
    return mix + matrix_bytes(&e->router) + feed_forward_bytes(&e->shared) + e->n_experts * (1 - left_out) * one;
}

static double pass_bytes(const vouch_weights *weights, int32_t n_rows)
{
    double bytes = matrix_bytes(weights->head);
    for (int32_t l = 0; l < weights->hparams.n_layers; l++) bytes += layer_bytes(&weights->layers[l], n_rows);
    return bytes;
}

double vouch_weights_reads(const vouch_weights *weights, int32_t n_rows)
{
    return pass_bytes(weights, n_rows) / pass_bytes(weights, 1);
}

void vouch_weights_close(vouch_weights *weights)
{
    if (!weights) return;
    vouch_arena_free(&weights->arena);
    free(weights);
}
