/* SPDX-License-Identifier: MIT */
/*
 * Medusa's heads (Cai et al., arXiv 2401.10774), which folders hold (hf_head.h): networks for the tokens 2, 3,
 * ... after the target's state, one for each distance. Their tensors are blk.N.block [n_blocks] and blk.N.output.
 */
#include <limits.h>
#include <stdlib.h>

#include "model/head/head_kind.h"

static const char ARCH[] = "medusa";

static const vouch_gguf_tensor *find(const vouch_gguf *gguf, int32_t depth, const char *tensor)
{
    vouch_loader names = {.gguf = gguf};
    return vouch_gguf_find_tensor(gguf, vouch_loader_name(&names, depth, tensor));
}

/* The heads have no layers, so only the width is read. open_medusa has checked the tensor that has it. */
static vouch_status read_width(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err)
{
    (void)err;
    h->n_embd = (int32_t)find(gguf, 0, "output")->dim[0];
    h->norm_eps = 1e-5f; /* of no norm */
    h->n_ctx_train = INT_MAX / 2;
    h->rope_scaling = (vouch_rope_scaling){.factor = 1, .magnitude = 1, .n_ctx_original = h->n_ctx_train};
    return VOUCH_OK;
}

static const vouch_arch arch_medusa = {.name = ARCH, .rotary = VOUCH_ROTARY_NONE, .read = read_width};

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    vouch_head_weights *head = user;
    const int64_t n = w->hparams.n_embd;
    w->hparams.n_vocab = head->n_draft;
    w->embedding_norm.kind = w->output_norm.kind = VOUCH_NORM_NONE;
    w->output = &head->depths[0].output;
    for (int32_t i = 0; i < head->n_depths; i++) {
        vouch_head_depth *depth = &head->depths[i];
        VOUCH_TRY(vouch_loader_stack(loader, vouch_loader_name(loader, i, "block"), true, &depth->block, head->n_blocks,
                                     n, (vouch_rows){0, n, n}));
        VOUCH_TRY(vouch_loader_vectors(loader, vouch_loader_name_of(loader, i, "block", "bias"), false, &depth->bias,
                                       head->n_blocks, n));
        VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, i, "output"), true, &depth->output,
                                      head->n_draft, n));
        const bool has_same_type =
            depth->block.type == head->depths[0].block.type && depth->output.type == head->depths[0].output.type;
        if (!has_same_type || !depth->bias != !head->depths[0].bias)
            return vouch_fail(loader->err, VOUCH_E_UNSUPPORTED,
                              "%s: the types or biases of head %d differ from those of head 0",
                              vouch_gguf_path(loader->gguf), i);
    }
    return VOUCH_OK;
}

static vouch_status open_medusa(vouch_head_weights *head, const vouch_gguf *gguf, const vouch_draft_target *target,
                                vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->weights->hparams;
    const vouch_weights_plan plan = {.arch = &arch_medusa, .take_ends = take_ends, .user = head};
    const vouch_gguf_tensor *output = find(gguf, 0, "output"), *block = find(gguf, 0, "block");
    if (!output || !block)
        return vouch_fail(err, VOUCH_E_FORMAT, "%s: tensor 'blk.0.%s.weight' is missing", vouch_gguf_path(gguf),
                          output ? "block" : "output");
    if (output->dim[0] != h->n_embd || output->dim[1] != h->n_vocab)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s: the heads are for a model of width %lld and %lld tokens, but the model has %d and %d: "
                          "these heads are for another model",
                          vouch_gguf_path(gguf), (long long)output->dim[0], (long long)output->dim[1], h->n_embd,
                          h->n_vocab);
    while (head->n_depths < VOUCH_HEAD_DEPTHS && find(gguf, head->n_depths, "output")) head->n_depths++;
    head->depths = calloc((size_t)head->n_depths, sizeof *head->depths);
    if (!head->depths) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for Medusa's heads");
    head->n_blocks = (int32_t)block->dim[2];
    head->taps[head->n_taps++] = h->n_layers - 1;
    head->n_features = h->n_embd;
    head->n_draft = h->n_vocab;
    head->is_normed = true;
    const vouch_packing packing = vouch_packing_beside(target->weights, pool);
    return vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err);
}

const vouch_head_kind vouch_head_kind_medusa = {.arch = ARCH, .open = open_medusa};
