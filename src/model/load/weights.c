/* SPDX-License-Identifier: MIT */
/* Opening a model: find its family, read its numbers, take and pack its tensors. */
#include "model/load/lora_files.h"
#include "model/load/hyper_tensors.h"
#include "model/load/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/angle.h"
#include "base/common.h"
#include "model/load/keys.h"
#include "model/load/known_keys.h"

/* While opening: a rotary, and where its frequencies come from. */
typedef struct rotary_source {
    double base;
    vouch_rope_scaling scaling;
    const float *factors, *long_factors; /* [n_rot / 2] frequencies are divided by these; NULL: 1 */
    bool has_long_factors;
} rotary_source;

typedef struct rotary_sources {
    rotary_source of[3];
} rotary_sources;

static vouch_status take_factors(vouch_loader *loader, const vouch_rotary *rotary, rotary_source *from)
{
    const int64_t n = rotary->n_rot / 2;
    const int64_t of = loader->hparams->n_rot_factors > 0 ? loader->hparams->n_rot_factors / 2 : n;
    if (n == 0 || loader->hparams->has_no_rope_factors) return vouch_loader_ignore(loader, "rope_freqs.weight");
    VOUCH_TRY(vouch_loader_part(loader, "rope_freqs.weight", false, &from->factors, (vouch_rows){0, n, of}));
    if (vouch_gguf_find_tensor(loader->gguf, "rope_freqs.weight")) return VOUCH_OK;
    from->has_long_factors = vouch_gguf_find_tensor(loader->gguf, "rope_factors_long.weight") != NULL;
    VOUCH_TRY(vouch_loader_vector(loader, "rope_factors_short.weight", false, &from->factors, n));
    return vouch_loader_vector(loader, "rope_factors_long.weight", false, &from->long_factors, n);
}

/* Layers with a window that have the scaling of the others have their divisors, too. */
static void share_factors(rotary_sources *sources)
{
    const rotary_source *from = &sources->of[VOUCH_ROTARY_OF_MODEL];
    rotary_source *to = &sources->of[VOUCH_ROTARY_OF_WINDOW];
    to->factors = from->factors;
    to->long_factors = from->long_factors;
    to->has_long_factors = from->has_long_factors;
}

/* Takes the rotaries in the order of VOUCH_ROTARY_OF_...; _WINDOW only if layers with a window have other angles. */
static vouch_status take_rotaries(vouch_weights *weights, vouch_loader *loader, rotary_sources *sources)
{
    const vouch_hparams *h = &weights->hparams;
    const bool is_rotated = h->rotary != VOUCH_ROTARY_NONE;
    const vouch_rope_scaling unscaled = {.factor = 1, .magnitude = 1};
    const bool is_scaled = h->rope_scaling_window.factor != 0;
    vouch_rotary *all = vouch_arena_take(loader->arena, 3, sizeof *all);
    weights->n_rotaries = h->rope_base_window != 0 ? 3 : 2;
    weights->rotaries = all;
    sources->of[VOUCH_ROTARY_OF_MODEL] = (rotary_source){.base = h->rope_base, .scaling = h->rope_scaling};
    sources->of[VOUCH_ROTARY_OF_WINDOW] =
        (rotary_source){.base = h->rope_base_window, .scaling = is_scaled ? h->rope_scaling_window : unscaled};
    for (int32_t i = 0; i < weights->n_rotaries; i++) {
        rotary_source *from = &sources->of[i];
        vouch_rotary rotary = {.magnitude = 1};
        if (is_rotated && i != VOUCH_ROTARY_OF_NONE) {
            const bool is_other = i == VOUCH_ROTARY_OF_WINDOW && h->n_rot_window != 0;
            rotary = (vouch_rotary){.kind = h->rotary,
                                    .n_rot = is_other ? h->n_rot_window : h->n_rot,
                                    .magnitude = from->scaling.magnitude,
                                    .n_ctx_short = h->rope_scaling.n_ctx_original};
        }
        if (i == VOUCH_ROTARY_OF_MODEL) VOUCH_TRY(take_factors(loader, &rotary, from));
        if (i == VOUCH_ROTARY_OF_WINDOW && is_scaled && h->n_rot_window == 0) share_factors(sources);
        const size_t n = (size_t)rotary.n_rot / 2;
        rotary.frequencies = vouch_arena_take(loader->arena, n, sizeof *rotary.frequencies);
        if (from->has_long_factors)
            rotary.long_frequencies = vouch_arena_take(loader->arena, n, sizeof *rotary.long_frequencies);
        if (all) all[i] = rotary;
    }
    return VOUCH_OK;
}

/* Number of the pair that makes `turns` turns in the trained context. */
static double pair_of_turns(const rotary_source *from, int32_t n_rot, double turns)
{
    const double two_pi = 6.283185307179586;
    return n_rot * vouch_ln(from->scaling.n_ctx_original / (turns * two_pi)) / (2 * vouch_ln(from->base));
}

/* The share of pair i that scaling leaves alone: 0 without YaRN, else 1 for fast pairs, falling to 0 for slow ones. */
static double unscaled_share(const rotary_source *from, int32_t n_rot, int32_t i)
{
    if (!from->scaling.is_yarn) return 0;
    const double low = fmax(floor(pair_of_turns(from, n_rot, from->scaling.fast)), 0);
    const double high = fmin(ceil(pair_of_turns(from, n_rot, from->scaling.slow)), n_rot - 1);
    return 1 - fmin(1, fmax(0, (i - low) / fmax(0.001, high - low)));
}

/* A pair's frequency after its factor and the scaling. */
static double scaled(const rotary_source *from, double frequency, double factor, double share)
{
    const double scale = from->scaling.factor;
    return share == 0 ? frequency / (factor * scale) : frequency / factor * ((1 - share) / scale + share);
}

static void fill_frequencies(vouch_rotary *r, const rotary_source *from)
{
    for (int32_t i = 0; i < r->n_rot / 2; i++) {
        const double plain = vouch_power(from->base, -2.0 * i / r->n_rot), share = unscaled_share(from, r->n_rot, i);
        r->frequencies[i] = scaled(from, plain, from->factors ? (double)from->factors[i] : 1, share);
        if (r->long_frequencies) r->long_frequencies[i] = scaled(from, plain, (double)from->long_factors[i], share);
    }
}

static vouch_status take_norm(vouch_loader *loader, const char *name, const char *bias, bool required, vouch_norm *norm)
{
    const int64_t n = loader->hparams->n_embd;
    VOUCH_TRY(vouch_loader_vector(loader, name, required, &norm->weight, n));
    return vouch_loader_vector(loader, bias, false, &norm->bias, n);
}

/* Takes the tensors before and after the layers. */
static vouch_status take_ends(vouch_weights *w, vouch_loader *loader)
{
    static const char *const classifier[] = {"cls.weight", "cls.bias", "cls.output.weight", "cls.output.bias"};
    const vouch_hparams *h = &w->hparams;
    VOUCH_TRY(vouch_loader_matrix(loader, "token_embd.weight", true, &w->embedding, h->n_vocab, h->n_embd));
    VOUCH_TRY(vouch_loader_matrix(loader, "output.weight", false, &w->own_output, h->n_vocab, h->n_embd));
    if (h->has_output_bias) VOUCH_TRY(vouch_loader_vector(loader, "output.bias", false, &w->output_bias, h->n_vocab));
    w->output_norm.kind = h->norm;
    char bias[64];
    const char *norm = h->output_norm ? h->output_norm : "output_norm";
    snprintf(loader->name, sizeof loader->name, "%s.weight", norm);
    snprintf(bias, sizeof bias, "%s.bias", norm);
    VOUCH_TRY(take_norm(loader, loader->name, bias, !h->has_bare_norms, &w->output_norm));
    w->embedding_norm.kind = h->has_embedding_norm || h->has_bare_embedding_norm ? h->norm : VOUCH_NORM_NONE;
    if (h->has_embedding_norm)
        VOUCH_TRY(take_norm(loader, "token_embd_norm.weight", "token_embd_norm.bias", true, &w->embedding_norm));
    if (h->has_positions)
        VOUCH_TRY(vouch_loader_matrix(loader, "position_embd.weight", true, &w->positions, h->n_ctx_train, h->n_embd));
    if (h->n_versions > 0) {
        const vouch_rows all = {0, h->n_embd, h->n_embd};
        VOUCH_TRY(vouch_loader_stack(loader, "altup_proj.weight", true, &w->spread, h->n_versions - 1, h->n_embd, all));
        VOUCH_TRY(vouch_loader_stack(loader, "altup_unembd_proj.weight", true, &w->gather, h->n_versions - 1, h->n_embd,
                                     all));
    }
    if (h->hyper.n > 0 && !h->hyper.ends_in_mean) VOUCH_TRY(vouch_hyper_take_last(loader, &w->last_read));
    for (int i = 0; i < 4; i++) VOUCH_TRY(vouch_loader_ignore(loader, classifier[i]));
    if (h->depth_block > 0) {
        w->output_depth.n_kept = (h->n_layers + h->depth_block - 1) / h->depth_block;
        VOUCH_TRY(vouch_loader_vector(loader, "output_res_score.weight", true, &w->output_depth.query, h->n_embd));
    }
    if (h->stacks.n_layers > 0) VOUCH_TRY(vouch_loader_vector(loader, "hrm.z_l_init", true, &w->first_low, h->n_embd));
    const int64_t n_inputs = (int64_t)h->n_layers * h->n_layer_input;
    if (n_inputs == 0) return VOUCH_OK;
    VOUCH_TRY(vouch_loader_matrix(loader, "per_layer_token_embd.weight", true, &w->layer_tokens, h->n_vocab, n_inputs));
    VOUCH_TRY(vouch_loader_matrix(loader, "per_layer_model_proj.weight", true, &w->layer_projection, n_inputs,
                                  h->n_embd));
    return vouch_loader_vector(loader, "per_layer_proj_norm.weight", true, &w->layer_norm, h->n_layer_input);
}

/* One walk over all tensors. */
static vouch_status take_all(vouch_weights *weights, const vouch_weights_plan *plan, vouch_loader *loader,
                             rotary_sources *sources)
{
    const vouch_hparams *h = &weights->hparams;
    vouch_layer counted = {0};
    loader->n_jobs = 0;
    weights->layers = vouch_arena_take(loader->arena, (size_t)h->n_layers, sizeof *weights->layers);
    VOUCH_TRY(plan->take_ends ? plan->take_ends(weights, loader, plan->user) : take_ends(weights, loader));
    VOUCH_TRY(take_rotaries(weights, loader, sources));
    for (int32_t i = 0; i < h->n_layers; i++) {
        const int32_t back = h->layers[i].twin_back;
        vouch_layer *layer = weights->layers ? &weights->layers[i] : &counted;
        if (back > 0 && weights->layers) *layer = layer[-back];
        if (back == 0) VOUCH_TRY(plan->arch->take(loader, h->first_block + i, layer));
        else if (plan->arch->take_twin) VOUCH_TRY(plan->arch->take_twin(loader, i, layer));
    }
    for (int32_t i = h->n_layers; i < h->n_layers + h->n_nextn; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "blk.%d.", i);
        vouch_loader_ignore_all(loader, prefix);
    }
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

/* hidden_activation tells the exact GELU from that by tanh, which llama.cpp has in its place. */
static vouch_status read_activation(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    char key[96];
    vouch_text name = {"", 0};
    VOUCH_TRY(vouch_gguf_get_text(gguf, vouch_key_name(key, sizeof key, h->arch, "hidden_activation"), false, &name,
                                  err));
    if (vouch_text_is(name, "gelu") && h->activation == VOUCH_GELU) h->activation = VOUCH_GELU_EXACT;
    return VOUCH_OK;
}

/* Checks the tensor of RoPE's factors, by which frequencies are divided. */
static vouch_status check_rope_factors(const vouch_gguf *gguf, const char *name, vouch_error *err)
{
    const float least = 1e-6f, most = 1e31f; /* 1e30 means no rotation */
    const vouch_gguf_tensor *tensor = vouch_gguf_find_tensor(gguf, name);
    if (!tensor) return VOUCH_OK;
    VOUCH_TRY(vouch_gguf_load(gguf, tensor, 0, tensor->bytes, err));
    for (size_t i = 0; i < tensor->bytes / sizeof(float); i++) {
        float factor;
        memcpy(&factor, (const char *)tensor->data + i * sizeof factor, sizeof factor);
        if (!(fabsf(factor) >= least && fabsf(factor) <= most))
            return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s[%zu] is %g, must be %g to %g, or negative",
                              vouch_gguf_path(gguf), name, i, (double)factor, (double)least, (double)most);
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

static vouch_status check_all_rope_factors(const vouch_gguf *gguf, vouch_error *err)
{
    VOUCH_TRY(check_rope_factors(gguf, "rope_freqs.weight", err));
    VOUCH_TRY(check_rope_factors(gguf, "rope_factors_short.weight", err));
    return check_rope_factors(gguf, "rope_factors_long.weight", err);
}

/* Leaves one layer: a block after the file's layers, with the numbers that the file has for it. */
static void leave_nextn(vouch_hparams *h, int32_t number)
{
    const int32_t block = h->n_layers + number - 1;
    if (h->window == 0) h->layers[block].rotary = h->layers[h->n_layers - 1].rotary;
    h->first_block = block;
    h->n_layers = 1;
    h->n_nextn = 0;
}

/* Without memory for the list the usual readings stay. */
static void tune(vouch_weights *w, const vouch_loader *loader, vouch_pool *pool)
{
    size_t n = 0;
    vouch_matrix *matrices = calloc(loader->n_jobs + 1, sizeof *matrices);
    if (!matrices) return;
    for (const vouch_job *job = loader->jobs; job < loader->jobs + loader->n_jobs; job++)
        if (!job->vector && job->matrix.n_tiles > 0) matrices[n++] = job->matrix;
    vouch_tuning_measure(&w->tuning, w->kernels, matrices, n, pool);
    free(matrices);
}

/* Does both walks, packs and tunes. Without a pool: the first walk only. */
static vouch_status load(vouch_weights *w, const vouch_weights_plan *plan, vouch_loader *loader,
                         const vouch_packing *packing)
{
    rotary_sources sources = {0};
    vouch_arena counting = {0};
    loader->arena = &counting;
    VOUCH_TRY(take_all(w, plan, loader, &sources));
    if (!plan->is_part) VOUCH_TRY(vouch_loader_refuse_others(loader));
    if (loader->loras) VOUCH_TRY(vouch_lora_files_refuse_others(loader->loras, loader->err));
    VOUCH_TRY(check_all_rope_factors(loader->gguf, loader->err));
    if (!packing->pool) {
        w->arena.used = counting.used;
        return vouch_gguf_recheck(loader->gguf, loader->err);
    }
    VOUCH_TRY(vouch_arena_allocate(&counting, "the packed weights", loader->err));
    w->arena = counting;
    loader->arena = &w->arena;
    if (loader->loras) loader->loras->n_taken = 0;
    VOUCH_TRY(take_all(w, plan, loader, &sources));
    if (loader->loras) VOUCH_TRY(vouch_lora_files_check(loader->loras, w->layers, &w->hparams, loader->err));
    VOUCH_TRY(vouch_loader_pack(loader, packing->pool, packing->progress, packing->user));
    for (int32_t i = 0; i < packing->n_adapters; i++) VOUCH_TRY(vouch_gguf_recheck(packing->adapters[i], loader->err));
    if (loader->loras) w->adapters = (vouch_adapters){loader->loras->n, loader->loras->n, loader->loras->most_rank};
    for (int32_t i = 0; i < w->n_rotaries; i++) fill_frequencies(&w->rotaries[i], &sources.of[i]);
    if (packing->is_tuned) tune(w, loader, packing->pool);
    return VOUCH_OK;
}

vouch_status vouch_weights_open_plan(vouch_weights **out, const vouch_gguf *gguf, const vouch_weights_plan *plan,
                                     const vouch_packing *packing, vouch_error *err)
{
    *out = NULL;
    vouch_weights *w = calloc(1, sizeof *w);
    vouch_loader loader = {.gguf = gguf, .err = err, .is_taken = calloc(vouch_gguf_n_tensors(gguf) + 1, sizeof(bool))};
    vouch_lora_files loras = {0};
    vouch_status status = VOUCH_OK;
    if (!w || !loader.is_taken) status = vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the weights' table");
    if (status == VOUCH_OK) {
        w->kernels = packing->kernels;
        vouch_tuning_init(&w->tuning);
        if (packing->readings_of) memcpy(w->tuning.readings, packing->readings_of->readings, sizeof w->tuning.readings);
        loader.tuning = &w->tuning;
        w->hparams.arch = plan->arch->name;
        w->hparams.rotary = plan->arch->rotary;
        w->hparams.has_feed_scales = plan->arch->has_feed_scales;
        loader.hparams = &w->hparams;
        status = plan->arch->read(gguf, &w->hparams, err);
    }
    const bool has_own = status == VOUCH_OK && w->hparams.adapters.n > 0;
    if (has_own) w->adapters = (vouch_adapters){w->hparams.adapters.n + 1, 1, w->hparams.adapters.rank};
    if (status == VOUCH_OK && packing->n_adapters > 0) {
        loader.loras = &loras;
        status = has_own
                     ? vouch_fail(err, VOUCH_E_UNSUPPORTED,
                                  "%s: the model has adapters of its own, and takes no others", vouch_gguf_path(gguf))
                     : vouch_lora_files_open(&loras, packing->adapters, packing->n_adapters, gguf, err);
    }
    if (status == VOUCH_OK && plan->nextn > 0) leave_nextn(&w->hparams, plan->nextn);
    if (status == VOUCH_OK && !plan->take_ends) status = read_activation(gguf, &w->hparams, err);
    if (status == VOUCH_OK && !plan->take_ends) status = read_vocabulary_size(gguf, plan->n_tokens, &w->hparams, err);
    if (status == VOUCH_OK) status = load(w, plan, &loader, packing);
    if (status == VOUCH_OK && w->own_output.n_out) w->output = &w->own_output;
    else if (status == VOUCH_OK && !w->output) w->output = &w->embedding;
    if (status == VOUCH_E_FORMAT || status == VOUCH_E_UNSUPPORTED) vouch_gguf_add_sizes(gguf, err);
    if (status == VOUCH_OK) *out = w;
    else vouch_weights_close(w);
    free(loader.jobs);
    free(loader.is_taken);
    vouch_lora_files_close(&loras);
    return status;
}

vouch_status vouch_weights_open(vouch_weights **out, const vouch_gguf *gguf, int32_t n_tokens,
                                const vouch_packing *packing, vouch_error *err)
{
    vouch_weights_plan plan = {.n_tokens = n_tokens};
    *out = NULL;
    VOUCH_TRY(vouch_arch_find(gguf, &plan.arch, err));
    VOUCH_TRY(vouch_weights_check_any(gguf, err));
    VOUCH_TRY(vouch_weights_open_plan(out, gguf, &plan, packing, err));
    const vouch_status status = vouch_known_keys_check(gguf, plan.arch->name, err);
    if (status == VOUCH_OK) return VOUCH_OK;
    vouch_weights_close(*out);
    *out = NULL;
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

/* The chance that none of n independent rows chooses a given expert is (1 - n_used / n_experts)^n. */
static double expert_bytes(const vouch_experts *e, int32_t n_rows)
{
    const vouch_adjugates *a = &e->adjugates;
    const double one = matrix_bytes(&e->gate) + matrix_bytes(&e->up) + matrix_bytes(&e->down);
    const double small = matrix_bytes(&a->gate) + matrix_bytes(&a->up) + matrix_bytes(&a->down);
    double left_out = 1, group_left_out = 1;
    for (int32_t r = 0; r < n_rows; r++) left_out *= 1 - (double)e->n_used / e->n_experts;
    for (int32_t i = 0; i < a->per_group; i++) group_left_out *= left_out;
    return matrix_bytes(&e->router) + matrix_bytes(&e->narrow) + matrix_bytes(&e->widen) +
           feed_forward_bytes(&e->shared) + e->n_experts * (1 - left_out) * one +
           (vouch_experts_n_networks(e) - e->n_experts) * (1 - group_left_out) * small;
}

static double layer_bytes(const vouch_layer *layer, int32_t n_rows)
{
    const vouch_attention *a = &layer->attention;
    const vouch_experts *e = &layer->experts;
    const vouch_latent *m = &a->latent;
    const vouch_recurrent *s = &layer->recurrent;
    const double mix =
        matrix_bytes(&a->q) + matrix_bytes(&a->k) + matrix_bytes(&a->v) + matrix_bytes(&a->o) + matrix_bytes(&a->gate) +
        matrix_bytes(&m->low) + a->n_heads * (matrix_bytes(&m->up_k) + matrix_bytes(&m->up_v)) +
        matrix_bytes(&s->in[0]) + matrix_bytes(&s->in[1]) + matrix_bytes(&s->in[2]) + matrix_bytes(&s->factor) +
        matrix_bytes(&s->rate) + matrix_bytes(&s->decay_low) + matrix_bytes(&s->decay) + matrix_bytes(&s->gate_low) +
        matrix_bytes(&s->gate) + matrix_bytes(&s->out) + matrix_bytes(&s->select) + matrix_bytes(&s->step);
    const vouch_wkv *v = &s->wkv;
    const double wkv = matrix_bytes(&v->amount_low) + VOUCH_WKV6_INPUTS * matrix_bytes(&v->amount) +
                       matrix_bytes(&v->rate_low) + matrix_bytes(&v->value_low) + matrix_bytes(&v->value) +
                       matrix_bytes(&layer->channel_mix.gate);
    const vouch_laurel *u = &layer->laurel;
    const double beside = matrix_bytes(&layer->mix.conv.weights) + matrix_bytes(&layer->feed.conv.weights) +
                          matrix_bytes(&layer->mix.hyper.weights) + matrix_bytes(&layer->feed.hyper.weights) +
                          matrix_bytes(&u->left) + matrix_bytes(&u->right) + matrix_bytes(&layer->altup.router);
    const double dense = mix + wkv + beside + feed_forward_bytes(&layer->extra_ffn) + feed_forward_bytes(&layer->ffn);
    if (e->n_experts == 0) return dense;
    return dense + expert_bytes(e, n_rows);
}

double vouch_weights_pass_bytes(const vouch_weights *weights, int32_t n_rows)
{
    double bytes = matrix_bytes(weights->output) + matrix_bytes(&weights->layer_projection) +
                   matrix_bytes(&weights->last_read.weights);
    bytes += vouch_max(weights->hparams.n_versions - 1, 0) *
             (matrix_bytes(&weights->spread) + matrix_bytes(&weights->gather));
    for (int32_t l = 0; l < weights->hparams.n_layers; l++) bytes += layer_bytes(&weights->layers[l], n_rows);
    return bytes;
}

double vouch_weights_reads(const vouch_weights *weights, int32_t n_rows)
{
    if (weights->hparams.experts.n_experts == 0) return 1;
    return vouch_weights_pass_bytes(weights, n_rows) / vouch_weights_pass_bytes(weights, 1);
}

void vouch_weights_cost(const vouch_weights *weights, vouch_cost *cost)
{
    double reads[VOUCH_COST_ROWS + 1] = {0};
    for (int32_t n = 1; n <= VOUCH_COST_ROWS; n++) reads[n] = vouch_weights_reads(weights, n);
    vouch_cost_init(cost, reads, weights->kernels->group_rows);
}

void vouch_weights_close(vouch_weights *weights)
{
    if (!weights) return;
    vouch_arena_free(&weights->arena);
    free(weights);
}
