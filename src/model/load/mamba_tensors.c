/* SPDX-License-Identifier: MIT */
#include "model/load/mamba_tensors.h"

#include "model/load/keys.h"

/* --------------------------------------------------------------- hyperparameters */

static vouch_status read_sizes(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_mamba_hparams *m = &h->mamba;
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.conv_kernel", true, 1, VOUCH_MAX_CONV, &m->width, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.inner_size", true, 1, 1 << 20, &m->n_inner, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.state_size", true, 1, 4096, &m->n_state, err));
    return vouch_key_int(gguf, h->arch, "ssm.time_step_rank", true, 1, m->n_inner, &m->n_rank, err);
}

vouch_status vouch_mamba_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    VOUCH_TRY(read_sizes(gguf, h, err));
    if (h->mamba.n_inner % VOUCH_TILE != 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: %s.ssm.inner_size is %d, must be a multiple of %d",
                          vouch_gguf_path(gguf), h->arch, h->mamba.n_inner, (int)VOUCH_TILE);
    return vouch_key_bool(gguf, h->arch, "ssm.dt_b_c_rms", &h->mamba.has_bare_norms, err);
}

vouch_status vouch_plamo2_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_mamba_hparams *m = &h->mamba;
    VOUCH_TRY(read_sizes(gguf, h, err));
    m->n_heads = m->n_rank;
    m->n_rank = h->n_embd / 16 < 64 ? 64 : h->n_embd / 16;
    if (m->n_inner % m->n_heads != 0 || m->n_inner / m->n_heads % VOUCH_TILE != 0 || m->n_rank > m->n_inner)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "%s: %s.ssm.inner_size is %d, must be at least %d and a multiple of %d (%d for each of the "
                          "%d heads of ssm.time_step_rank)",
                          vouch_gguf_path(gguf), h->arch, m->n_inner, m->n_rank, (int)VOUCH_TILE * m->n_heads,
                          (int)VOUCH_TILE, m->n_heads);
    return VOUCH_OK;
}

vouch_status vouch_mamba2_read(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    vouch_mamba_hparams *m = &h->mamba;
    VOUCH_TRY(read_sizes(gguf, h, err));
    VOUCH_TRY(vouch_key_int(gguf, h->arch, "ssm.group_count", true, 1, m->n_rank, &m->n_groups, err));
    if (m->n_inner % m->n_rank != 0 || m->n_rank % m->n_groups != 0)
        return vouch_fail(err, VOUCH_E_FORMAT,
                          "%s: %s.ssm.inner_size %d, time_step_rank %d and group_count %d must each be a multiple of "
                          "the next",
                          vouch_gguf_path(gguf), h->arch, m->n_inner, m->n_rank, m->n_groups);
    return VOUCH_OK;
}

/* ----------------------------------------------------------------------- tensors */

/* Some rows of W_in. */
static vouch_status take_in(vouch_loader *loader, int32_t index, vouch_rows rows, vouch_matrix *matrix,
                            vouch_affine *after)
{
    VOUCH_TRY(vouch_loader_rows(loader, vouch_loader_name(loader, index, "ssm_in"), true, matrix,
                                loader->hparams->n_embd, rows));
    return vouch_loader_affine(loader, index, "ssm_in", after, rows);
}

/* Takes the convolution and W_out. */
static vouch_status take_ends(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_hparams *h = loader->hparams;
    vouch_conv *conv = &r->conv;
    VOUCH_TRY(vouch_loader_transposed(loader, vouch_loader_name(loader, index, "ssm_conv1d"), &conv->weights,
                                      conv->n_channels, conv->width));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_conv1d", "bias"), false, &conv->bias,
                                  conv->n_channels));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_dt", "bias"), true, &r->decay_bias,
                                  vouch_recurrent_n_rates(r)));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_out"), true, &r->out, h->n_embd,
                                  h->mamba.n_inner));
    return vouch_loader_affine(loader, index, "ssm_out", &r->out_after, (vouch_rows){0, h->n_embd, h->n_embd});
}

/* Takes the norm of one part of W_select's result, where there is one. */
static vouch_status take_part_norm(vouch_loader *loader, int32_t index, const char *tensor, int64_t n, vouch_norm *norm)
{
    const char *name = vouch_loader_norm_name(loader, index, tensor);
    const bool has_norm = loader->hparams->mamba.has_bare_norms || vouch_gguf_find_tensor(loader->gguf, name);
    norm->kind = has_norm ? VOUCH_NORM_RMS : VOUCH_NORM_NONE;
    return vouch_loader_vector(loader, name, false, &norm->weight, n);
}

static vouch_status take_selection(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const int64_t n = loader->hparams->mamba.n_inner, n_keys = r->n_keys;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_x"), true, &r->select,
                                  r->n_rank + 2 * n_keys, n));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, index, "ssm_dt"), true, &r->step,
                                  vouch_recurrent_n_rates(r), r->n_rank));
    VOUCH_TRY(take_part_norm(loader, index, "ssm_dt_norm", r->n_rank, &r->rank_norm));
    VOUCH_TRY(take_part_norm(loader, index, "ssm_b_norm", n_keys, &r->key_norm));
    return take_part_norm(loader, index, "ssm_c_norm", n_keys, &r->query_norm);
}

/* Rows of W_in: the convolution's inputs, the gate. Rows of W_select: z, keys, queries. */
vouch_status vouch_mamba_take(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_mamba_hparams *m = &loader->hparams->mamba;
    const int64_t n = m->n_inner, n_state = m->n_state;
    *r = (vouch_recurrent){.kind = VOUCH_MAMBA,
                           .conv = {.n_channels = n, .width = m->width, .has_silu = true},
                           .n_heads = m->n_inner / VOUCH_TILE,
                           .n_key_heads = 1,
                           .n_keys = m->n_state,
                           .n_values = VOUCH_TILE,
                           .k = n,
                           .q = n + n_state,
                           .n_rank = m->n_rank};
    VOUCH_TRY(take_in(loader, index, (vouch_rows){0, n, 2 * n}, &r->in[0], &r->in_after));
    VOUCH_TRY(take_in(loader, index, (vouch_rows){n, n, 2 * n}, &r->gate, &r->gate_after));
    VOUCH_TRY(take_selection(loader, index, r));
    const char *a = vouch_loader_name_of(loader, index, "ssm_a", NULL);
    VOUCH_TRY(vouch_loader_matrix(loader, a, true, &r->channel_a, n, n_state));
    if (r->channel_a.type != VOUCH_TYPE_F32)
        return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' has type %s, must be F32",
                          vouch_gguf_path(loader->gguf), a, vouch_type_get_info(r->channel_a.type)->name);
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_d", NULL), true, &r->skip, n));
    return take_ends(loader, index, r);
}

/* Rows of W_in: the gate; the convolution's inputs, which are values, keys and queries; the rates. */
vouch_status vouch_mamba2_take(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_mamba_hparams *m = &loader->hparams->mamba;
    const int64_t n = m->n_inner, n_keys = (int64_t)m->n_groups * m->n_state, n_channels = n + 2 * n_keys;
    const int64_t n_heads = m->n_rank, all = n + n_channels + n_heads;
    *r = (vouch_recurrent){.kind = VOUCH_MAMBA2,
                           .conv = {.n_channels = n_channels, .width = m->width, .has_silu = true},
                           .n_heads = m->n_rank,
                           .n_key_heads = m->n_groups,
                           .n_keys = m->n_state,
                           .n_values = m->n_inner / m->n_rank,
                           .k = n,
                           .q = n + n_keys};
    VOUCH_TRY(take_in(loader, index, (vouch_rows){0, n, all}, &r->gate, &r->gate_after));
    VOUCH_TRY(take_in(loader, index, (vouch_rows){n, n_channels, all}, &r->in[0], &r->in_after));
    VOUCH_TRY(take_in(loader, index, (vouch_rows){n + n_channels, n_heads, all}, &r->decay, &r->decay_after));
    VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name_of(loader, index, "ssm_a", NULL), true, &r->a, n_heads,
                                   1));
    VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name_of(loader, index, "ssm_d", NULL), true, &r->skip, n_heads,
                                   1));
    VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name(loader, index, "ssm_norm"), false, &r->norm, m->n_groups,
                                   n / m->n_groups));
    return take_ends(loader, index, r);
}

/* Rows of W_in: the gate and the convolution's inputs of each head. Rows of W_select: keys, queries, z. Scales of
 * matrices are ignored, as llama.cpp does. */
vouch_status vouch_plamo2_take(vouch_loader *loader, int32_t index, vouch_recurrent *r)
{
    const vouch_mamba_hparams *m = &loader->hparams->mamba;
    const int64_t n = m->n_inner, n_embd = loader->hparams->n_embd, n_heads = m->n_heads, width = n / n_heads;
    vouch_affine ignored = {0};
    *r = (vouch_recurrent){.kind = VOUCH_MAMBA2,
                           .conv = {.n_channels = n, .width = m->width, .has_silu = true},
                           .n_heads = m->n_heads,
                           .n_key_heads = 1,
                           .n_keys = m->n_state,
                           .n_values = (int32_t)width,
                           .k = n,
                           .q = n + m->n_state,
                           .n_rank = m->n_rank,
                           .has_rank_last = true};
    const char *in = vouch_loader_name(loader, index, "ssm_in");
    VOUCH_TRY(vouch_loader_parts(loader, in, &r->gate, n_heads, n_embd, (vouch_rows){0, width, 2 * width}));
    VOUCH_TRY(vouch_loader_parts(loader, in, &r->in[0], n_heads, n_embd, (vouch_rows){width, width, 2 * width}));
    VOUCH_TRY(vouch_loader_affine(loader, index, "ssm_in", &ignored, (vouch_rows){0, 2 * n, 2 * n}));
    VOUCH_TRY(take_selection(loader, index, r));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_a", NULL), true, &r->a, n_heads));
    VOUCH_TRY(vouch_loader_vector(loader, vouch_loader_name_of(loader, index, "ssm_d", NULL), true, &r->skip, n_heads));
    VOUCH_TRY(take_ends(loader, index, r));
    r->out_after.scale = NULL;
    return VOUCH_OK;
}
