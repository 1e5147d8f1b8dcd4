/* SPDX-License-Identifier: MIT */
/* Reads heads in files of vouch's own form (docs/heads.md). */
#include "model/head/head_kind.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "model/load/dense.h"
#include "model/load/keys.h"

#define ARCH "vouch-head"

/* ----------------------------------------------------------- hyperparameters */

/* The layers are Llama's. */
static vouch_status read_layers(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    int32_t n_heads = 0, n_kv_heads = 0, n_ff = 0;
    double eps = 1e-5;
    VOUCH_TRY(vouch_key_float(gguf, ARCH, "attention.layer_norm_rms_epsilon", h->n_layers > 0, 1e-12, 1, &eps, err));
    h->norm_eps = (float)eps;
    if (h->n_layers == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "attention.head_count", true, 1, 4096, &n_heads, err));
    n_kv_heads = n_heads;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "attention.head_count_kv", false, 1, n_heads, &n_kv_heads, err));
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "feed_forward_length", true, 1, 1 << 22, &n_ff, err));
    h->head_dim = h->n_embd / n_heads;
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "attention.key_length", false, 2, 1024, &h->head_dim, err));
    if (n_heads % n_kv_heads != 0 || h->head_dim < 2 || h->head_dim % 2 != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %d heads of width %d share %d key-value heads; expected an even width, and equally many "
                          "heads for each key-value head",
                          vouch_gguf_path(gguf), n_heads, h->head_dim, n_kv_heads);
    h->value_dim = h->n_rot = h->head_dim;
    h->rope_base = 10000;
    VOUCH_TRY(vouch_key_float(gguf, ARCH, "rope.freq_base", false, 1, 1e12, &h->rope_base, err));
    h->n_heads = n_heads;
    h->n_kv_heads = n_kv_heads;
    h->n_ff = n_ff;
    for (int32_t i = 0; i < h->n_layers; i++) {
        h->layers[i].n_heads = n_heads;
        h->layers[i].n_kv_heads = n_kv_heads;
        h->layers[i].n_ff = n_ff;
    }
    return VOUCH_OK;
}

static vouch_status read_head(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "target.vocab_size", true, 1, 1 << 24, &h->n_vocab, err));
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "embedding_length", true, 1, 1 << 20, &h->n_embd, err));
    VOUCH_TRY(vouch_key_int(gguf, ARCH, "block_count", true, 0, 16, &h->n_layers, err));
    h->n_ctx_train = INT_MAX / 2;
    h->rope_scaling = (vouch_rope_scaling){.factor = 1, .magnitude = 1, .n_ctx_original = h->n_ctx_train};
    return read_layers(gguf, h, err);
}

static const vouch_arch arch_head = {
    .name = ARCH, .rotary = VOUCH_ROTARY_ADJACENT, .read = read_head, .take = vouch_dense_take};

/* ------------------------------------------------------------------- tensors */

typedef struct head_opening {
    vouch_head_weights *head;
    const vouch_weights *target;
    const vouch_gguf *gguf;
} head_opening;

/* Takes the head's own output norm and matrix, or the target's. The target's matrix brings its bias, scale and
 * softcap. */
static vouch_status take_output(vouch_weights *w, vouch_loader *loader, const head_opening *o)
{
    const vouch_hparams *h = &w->hparams;
    const vouch_weights *target = o->target;
    const bool has_norm = vouch_gguf_find_tensor(o->gguf, "output_norm.weight") != NULL;
    VOUCH_TRY(vouch_loader_matrix(loader, "output.weight", false, &w->own_output, o->head->n_draft, h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "output_norm.weight", false, &w->output_norm.weight, h->n_embd));
    w->output_norm.kind = has_norm ? VOUCH_NORM_RMS : VOUCH_NORM_NONE;
    if (w->own_output.n_out > 0) return VOUCH_OK;
    if (h->n_embd != target->hparams.n_embd)
        return vouch_fail(loader->err, VOUCH_E_FORMAT,
                          "%s: tensor 'output.weight' is missing, which a head needs that has another width (%d) than "
                          "its target (%d)",
                          vouch_gguf_path(o->gguf), h->n_embd, target->hparams.n_embd);
    w->output = target->output;
    w->output_bias = target->output_bias;
    w->hparams.logit_scale = target->hparams.logit_scale;
    w->hparams.logit_softcap = target->hparams.logit_softcap;
    if (has_norm) return VOUCH_OK;
    w->output_norm = target->output_norm;
    w->hparams.norm_eps = h->n_layers > 0 ? h->norm_eps : target->hparams.norm_eps;
    return VOUCH_OK;
}

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    const head_opening *o = user;
    vouch_head_weights *head = o->head;
    const vouch_hparams *h = &w->hparams;
    w->embedding_norm.kind = VOUCH_NORM_NONE;
    VOUCH_TRY(vouch_loader_matrix(loader, "leave.weight", false, &head->leave, h->n_embd, h->n_embd));
    head->adds_state = head->leave.n_out > 0;
    VOUCH_TRY(vouch_loader_matrix(loader, "join.weight", true, &head->join, h->n_embd,
                                  o->target->hparams.n_embd + (head->adds_state ? 0 : h->n_embd)));
    VOUCH_TRY(vouch_loader_vector(loader, "join.bias", false, &head->join_bias, h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, "taps.mean", true, &head->mean, head->n_features));
    VOUCH_TRY(vouch_loader_vector(loader, "taps.inv_scale", true, &head->inv_scale, head->n_features));
    VOUCH_TRY(vouch_loader_matrix(loader, "fc.weight", true, &head->fc, h->n_embd, head->n_features));
    VOUCH_TRY(vouch_loader_vector(loader, "fc.bias", false, &head->fc_bias, h->n_embd));
    VOUCH_TRY(vouch_loader_ignore(loader, "d2t"));
    return take_output(w, loader, o);
}

/* ----------------------------------------------------------- taps and target */

static vouch_status read_taps(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_hparams *target,
                              vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf);
    vouch_gguf_array taps;
    VOUCH_TRY(vouch_gguf_get_array(gguf, "vouch-head.taps", true, &taps, err));
    if (taps.type != VOUCH_GGUF_I32 || taps.count < 1 || taps.count > VOUCH_HEAD_TAPS)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: vouch-head.taps must be 1 to %d layers, an array of i32", path,
                          VOUCH_HEAD_TAPS);
    for (size_t i = 0; i < taps.count; i++) {
        const int64_t layer = vouch_gguf_array_int(&taps, i);
        if (layer < (i == 0 ? 0 : head->taps[i - 1] + 1) || layer >= target->n_layers)
            return vouch_fail(err, VOUCH_E_FORMAT,
                              "%s: vouch-head.taps[%zu] is %lld; expected ascending layers, 0 to %d of the target",
                              path, i, (long long)layer, target->n_layers - 1);
        head->taps[head->n_taps++] = (int32_t)layer;
    }
    head->n_features = head->n_taps * target->n_embd;
    return VOUCH_OK;
}

static vouch_status check_target(const vouch_gguf *gguf, const vouch_draft_target *target, vouch_error *err)
{
    const vouch_hparams *h = &target->weights->hparams;
    vouch_text digest;
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "target.embedding_length", true, h->n_embd, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "target.block_count", true, h->n_layers, err));
    VOUCH_TRY(vouch_head_check_size(gguf, ARCH, "target.vocab_size", true, h->n_vocab, err));
    VOUCH_TRY(vouch_gguf_get_text(gguf, "vouch-head.target.digest", true, &digest, err));
    if (vouch_text_is(digest, target->digest) || target->may_differ) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_MISMATCH,
                      "%s: the head was taught for the model with digest %.*s, and this model has %s: use its own "
                      "head, or allow a head of another file (--allow-other-head), which costs acceptance only",
                      vouch_gguf_path(gguf), (int)(digest.size < 64 ? digest.size : 64), digest.data, target->digest);
}

/* A head whose inputs become NaN or infinite would never guess. */
static vouch_status check_finite(const vouch_head_weights *head, const vouch_gguf *gguf, vouch_error *err)
{
    for (int32_t i = 0; i < head->n_features; i++) {
        const float *bad = !isfinite(head->mean[i])        ? &head->mean[i]
                           : !isfinite(head->inv_scale[i]) ? &head->inv_scale[i]
                                                           : NULL;
        if (bad)
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor '%s': element %d is %g; expected finite numbers",
                              vouch_gguf_path(gguf), bad == &head->mean[i] ? "taps.mean" : "taps.inv_scale", (int)i,
                              (double)*bad);
    }
    return VOUCH_OK;
}

/* ------------------------------------------------------------------- opening */

static vouch_status open_native(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                                vouch_pool *pool, vouch_error *err)
{
    head_opening opening = {.head = head, .target = target->weights, .gguf = gguf};
    head->embedding = &target->weights->embedding;
    head->token_norm.kind = VOUCH_NORM_RMS;
    head->state_norm.kind = VOUCH_NORM_NONE;
    const vouch_weights_plan plan = {.arch = &arch_head, .take_ends = take_ends, .user = &opening};
    VOUCH_TRY(check_target(gguf, target, err));
    VOUCH_TRY(read_taps(head, gguf, &target->weights->hparams, err));
    VOUCH_TRY(vouch_head_read_tokens(head, gguf, "d2t", target->weights->hparams.n_vocab, err));
    const vouch_packing packing = vouch_packing_beside(target->weights, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    return check_finite(head, gguf, err);
}

const vouch_head_kind vouch_head_kind_native = {.arch = ARCH, .open = open_native};
