/* SPDX-License-Identifier: MIT */
#include "model/load/latent_tensors.h"

#include <math.h>
#include <stdio.h>

#include "base/angle.h"
#include "model/load/keys.h"

/* Sets the scale of scores under YaRN. A file with yarn_log_multiplier multiplies scores by (1 + 0.1 m ln(factor))^2,
 * m being 10 times that key (DeepSeek-V2, section 3.1.4), and rotated elements by rope.scaling.attn_factor alone. In a
 * file without the key m is 0, and rotated elements have YaRN's usual factor. In both cases the square of the rotated
 * elements' factor multiplies scores, too. */
static void scale_scores(vouch_hparams *h)
{
    vouch_rope_scaling *s = &h->rope_scaling;
    const double ln = s->factor > 1 ? vouch_ln(s->factor) : 0, m = 10 * s->log_multiplier;
    if (s->is_yarn && m > 0) s->magnitude *= (0.1 * s->log_multiplier * ln + 1) / (0.1 * ln + 1);
    const double growth = s->is_yarn ? s->magnitude * (1 + 0.1 * m * ln) : s->magnitude;
    if (h->attention_scale == 0) h->attention_scale = (float)(growth * growth / sqrt(h->latent.key_dim));
}

vouch_status vouch_latent_read_numbers(const vouch_gguf *gguf, const vouch_hparams *h, const char *suffix,
                                       vouch_latent_hparams *m, vouch_error *err)
{
    const char *path = vouch_gguf_path(gguf), *arch = h->arch;
    char rank[48], key[48], value[48];
    snprintf(rank, sizeof rank, "attention.kv_lora_rank%s", suffix);
    snprintf(key, sizeof key, "attention.key_length_mla%s", suffix);
    snprintf(value, sizeof value, "attention.value_length_mla%s", suffix);
    VOUCH_TRY(vouch_key_int(gguf, arch, rank, true, VOUCH_TILE, VOUCH_MOST_TRANSPOSED, &m->rank, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, "attention.q_lora_rank", false, 0, 1 << 20, &m->q_rank, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, key, false, 0, 1024, &m->key_dim, err));
    VOUCH_TRY(vouch_key_int(gguf, arch, value, false, 0, 1024, &m->value_dim, err));
    if (m->key_dim == 0) m->key_dim = h->head_dim; /* a file with attn_kv_b */
    if (m->value_dim == 0) m->value_dim = h->value_dim;
    if (m->key_dim < h->n_rot)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s.rope.dimension_count is %d, must be at most the key's width %d",
                          path, arch, h->n_rot, m->key_dim);
    if (m->rank % VOUCH_TILE != 0 || h->n_rot % VOUCH_TILE != 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.%s %d and rope.dimension_count %d must be multiples of %d",
                          path, arch, rank, m->rank, h->n_rot, VOUCH_TILE);
    return VOUCH_OK;
}

vouch_status vouch_latent_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(vouch_latent_read_numbers(gguf, h, "", &h->latent, err));
    scale_scores(h);
    return VOUCH_OK;
}

static const vouch_latent_hparams *numbers_of(const vouch_hparams *h, int32_t index)
{
    return h->layers[index].has_window && h->latent_window.rank > 0 ? &h->latent_window : &h->latent;
}

/* Takes W_q, and W_low where the file has it. */
static vouch_status take_queries(vouch_loader *loader, int32_t index, vouch_attention *a)
{
    const vouch_hparams *h = loader->hparams;
    const int64_t n_q = (int64_t)a->n_heads * a->latent.key_dim, n_low = h->latent.q_rank, n_embd = h->n_embd;
    const char *name = vouch_loader_name(loader, index, "attn_q");
    if (n_low == 0 || vouch_gguf_find_tensor(loader->gguf, name))
        return vouch_loader_matrix(loader, name, true, &a->q, n_q, n_embd);
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_q_a"), true, &a->latent.low, n_low,
                                  n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_q_a_norm"), true, &a->latent.low_norm,
                                  n_low));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_q_b"), true, &a->q, n_q, n_low);
}

vouch_status vouch_latent_take(vouch_loader *loader, int32_t index, vouch_attention *a)
{
    const vouch_hparams *h = loader->hparams;
    const vouch_latent_hparams *all = numbers_of(h, index);
    const int64_t rank = all->rank, n = a->n_heads, n_plain = all->key_dim - h->n_rot, n_v = all->value_dim;
    vouch_latent *m = &a->latent;
    *m = (vouch_latent){.rank = all->rank, .key_dim = all->key_dim, .value_dim = all->value_dim};
    a->n_kv_heads = 1;
    a->head_dim = m->rank + h->n_rot;
    a->value_dim = m->rank;
    VOUCH_TRY(take_queries(loader, index, a));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "attn_kv_a_mqa"), true, &a->k, a->head_dim,
                                  h->n_embd));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name(loader, index, "attn_kv_a_norm"), true, &m->norm, rank));
    const char *both = vouch_loader_name(loader, index, "attn_kv_b");
    if (vouch_gguf_find_tensor(loader->gguf, both)) {
        if (n_plain > 0)
            VOUCH_TRY(vouch_loader_split_transposed(loader, both, &m->up_k, n, rank,
                                                    (vouch_rows){0, n_plain, n_plain + n_v}));
        return vouch_loader_split(loader, both, &m->up_v, n, rank, (vouch_rows){n_plain, n_v, n_plain + n_v});
    }
    VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, index, "attn_k_b"), true, &m->up_k, n, n_plain,
                                 (vouch_rows){0, rank, rank}));
    return vouch_loader_stack(loader, vouch_loader_name(loader, index, "attn_v_b"), true, &m->up_v, n, rank,
                              (vouch_rows){0, n_v, n_v});
}

vouch_status vouch_latent_ignore_indexer(vouch_loader *loader, int32_t index)
{
    static const char *const tensors[] = {"indexer.k_norm",          "indexer.proj",
                                          "indexer.attn_k",          "indexer.attn_q_b",
                                          "indexer_compressor_gate", "indexer_compressor_ape"};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        VOUCH_TRY(vouch_loader_ignore_tensor(loader, index, tensors[i]));
    return VOUCH_OK;
}
