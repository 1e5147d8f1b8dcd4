/* SPDX-License-Identifier: MIT */
#include "model/load/lora_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int shown(vouch_text text)
{
    return (int)(text.size < 60 ? text.size : 60);
}

static vouch_status expect_text(const vouch_gguf *gguf, const char *key, const char *wanted, vouch_error *err)
{
    vouch_text text = {"", 0};
    VOUCH_TRY(vouch_gguf_get_text(gguf, key, false, &text, err));
    if (text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_FORMAT, "%s: %s is '%.*s', expected '%s': the file is no LoRA adapter",
                      vouch_gguf_path(gguf), key, shown(text), text.data, wanted);
}

static vouch_status file_check(vouch_lora_file *file, vouch_text arch, vouch_error *err)
{
    const vouch_gguf *gguf = file->gguf;
    vouch_text own = {"", 0};
    double alpha = 0;
    VOUCH_TRY(expect_text(gguf, "general.type", "adapter", err));
    VOUCH_TRY(expect_text(gguf, "adapter.type", "lora", err));
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &own, err));
    if (own.size != arch.size || memcmp(own.data, arch.data, own.size) != 0)
        return vouch_fail(err, VOUCH_E_MISMATCH, "%s: the adapter is for a model of architecture '%.*s', not '%.*s'",
                          vouch_gguf_path(gguf), shown(own), own.data, shown(arch), arch.data);
    if (vouch_gguf_has(gguf, "adapter.alora.invocation_tokens"))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: an adapter that tokens turn on (aLoRA) can't be used",
                          vouch_gguf_path(gguf));
    VOUCH_TRY(vouch_gguf_get_float(gguf, "adapter.lora.alpha", false, &alpha, err));
    if (!(fabs(alpha) <= 1e6))
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: adapter.lora.alpha is %g, must be -1e6 to 1e6",
                          vouch_gguf_path(gguf), alpha);
    if (vouch_gguf_n_tensors(gguf) == 0)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: the adapter has no tensors", vouch_gguf_path(gguf));
    file->alpha = (float)alpha;
    return VOUCH_OK;
}

vouch_status vouch_lora_files_open(vouch_lora_files *out, const vouch_gguf *const *files, int32_t n,
                                   const vouch_gguf *model, vouch_error *err)
{
    vouch_text arch = {"", 0};
    VOUCH_TRY(vouch_gguf_get_text(model, "general.architecture", true, &arch, err));
    *out = (vouch_lora_files){.n = n, .items = calloc((size_t)n + 1, sizeof *out->items)};
    if (!out->items) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the adapters");
    for (int32_t i = 0; i < n; i++) {
        vouch_lora_file *file = &out->items[i];
        file->gguf = files[i];
        file->is_taken = calloc(vouch_gguf_n_tensors(files[i]) + 1, sizeof *file->is_taken);
        if (!file->is_taken) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for the adapters");
        VOUCH_TRY(file_check(file, arch, err));
    }
    return VOUCH_OK;
}

void vouch_lora_files_close(vouch_lora_files *files)
{
    for (int32_t i = 0; files->items && i < files->n; i++) free(files->items[i].is_taken);
    free(files->items);
    *files = (vouch_lora_files){0};
}

/* The name of a matrix of an adapter. */
static const char *name_of(vouch_loader *loader, int32_t layer, const char *tensor, char which)
{
    const char kind[] = {'w', 'e', 'i', 'g', 'h', 't', '.', 'l', 'o', 'r', 'a', '_', which, '\0'};
    return vouch_loader_name_of(loader, layer, tensor, kind);
}

/* Takes the two matrices of one file; n_out 0 where it has none. */
static vouch_status take_one(vouch_loader *loader, int32_t number, int32_t layer, const char *tensor, int64_t n_in,
                             vouch_rows rows, vouch_matrix *a, vouch_matrix *b, float *factor)
{
    vouch_lora_files *files = loader->loras;
    const vouch_lora_file *file = &files->items[number];
    vouch_loader own = *loader; /* the same jobs, from another file */
    const vouch_gguf_tensor *first = vouch_gguf_find_tensor(file->gguf, name_of(&own, layer, tensor, 'a'));
    vouch_matrix small = {0}, large = {0};
    own.gguf = file->gguf;
    own.is_taken = file->is_taken;
    if (!first) return VOUCH_OK;
    const int64_t rank = first->dim[1];
    if (rank < 1 || rank > 4096)
        return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' has rank %lld, must be 1 to 4096",
                          vouch_gguf_path(file->gguf), own.name, (long long)rank);
    vouch_status status = vouch_loader_matrix(&own, own.name, true, &small, rank, n_in);
    if (status == VOUCH_OK)
        status = vouch_loader_rows(&own, name_of(&own, layer, tensor, 'b'), true, &large, rank, rows);
    loader->jobs = own.jobs;
    loader->n_jobs = own.n_jobs;
    loader->max_jobs = own.max_jobs;
    VOUCH_TRY(status);
    if (rank > files->most_rank) files->most_rank = (int32_t)rank;
    if (a) *a = small;
    if (b) *b = large;
    if (factor) *factor = file->alpha != 0 ? file->alpha / (float)rank : 1;
    return VOUCH_OK;
}

static bool is_changed(vouch_loader *loader, int32_t layer, const char *tensor)
{
    const char *name = name_of(loader, layer, tensor, 'a');
    for (int32_t i = 0; i < loader->loras->n; i++)
        if (vouch_gguf_find_tensor(loader->loras->items[i].gguf, name)) return true;
    return false;
}

vouch_status vouch_lora_files_take(vouch_loader *loader, int32_t layer, const char *tensor, vouch_affine *affine,
                                   vouch_rows rows, int32_t part)
{
    if (!loader->loras || !is_changed(loader, layer, tensor)) return VOUCH_OK;
    const int32_t n = loader->loras->n;
    const char *name = vouch_loader_name(loader, layer, tensor);
    const vouch_gguf_tensor *base = vouch_gguf_find_tensor(loader->gguf, name);
    if (!base)
        return vouch_fail(loader->err, VOUCH_E_FORMAT, "%s: tensor '%s', which an adapter changes, is missing",
                          vouch_gguf_path(loader->gguf), name);
    if (affine->scale)
        return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED, "%s: tensor '%s' has a scale, and can't have an adapter",
                          vouch_gguf_path(loader->gguf), name);
    const int64_t n_in = base->dim[0];
    vouch_lora *lora = vouch_arena_take(loader->arena, 1, sizeof *lora), counted;
    if (!lora) lora = &counted;
    *lora = (vouch_lora){.part = part};
    const vouch_loras all = vouch_loader_loras(loader, n, lora);
    for (int32_t i = 0; i < n; i++)
        VOUCH_TRY(take_one(loader, i, layer, tensor, n_in, rows, all.a ? &all.a[i] : NULL, all.b ? &all.b[i] : NULL,
                           all.factors ? &all.factors[i] : NULL));
    vouch_lora_find_needs(lora, n);
    affine->lora = lora == &counted ? NULL : lora;
    loader->loras->n_taken++;
    return VOUCH_OK;
}

vouch_status vouch_lora_files_check(const vouch_lora_files *files, const vouch_layer *layers,
                                    const vouch_hparams *hparams, vouch_error *err)
{
    int32_t n = 0;
    for (int32_t l = 0; l < hparams->n_layers; l++) {
        const vouch_attention *a = &layers[l].attention;
        const vouch_feed_forward *f = &layers[l].ffn;
        const vouch_affine *const after[] = {&a->q_after,    &a->k_after,  &a->v_after,   &a->o_after,
                                             &f->gate_after, &f->up_after, &f->down_after};
        for (size_t i = 0; i < sizeof after / sizeof *after; i++) n += after[i]->lora != NULL;
    }
    if (n == files->n_taken) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: some tensors of this family of models can't have adapters: '%s'",
                      vouch_gguf_path(files->items[0].gguf), hparams->arch);
}

vouch_status vouch_lora_files_refuse_others(const vouch_lora_files *files, vouch_error *err)
{
    for (int32_t i = 0; i < files->n; i++)
        for (size_t t = 0; t < vouch_gguf_n_tensors(files->items[i].gguf); t++) {
            const vouch_text name = vouch_gguf_get_tensor(files->items[i].gguf, t)->name;
            if (files->items[i].is_taken[t]) continue;
            return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                              "%s: tensor '%.*s': only the projections of attention and the matrices of a dense "
                              "feed-forward network of this model can have adapters",
                              vouch_gguf_path(files->items[i].gguf), (int)name.size, name.data);
        }
    return VOUCH_OK;
}
