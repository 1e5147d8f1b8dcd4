/* SPDX-License-Identifier: MIT */
/*
 * Heads that stand in their target's file: the block blk.N after its N layers, with the tensors nextn.*.
 *
 * Where a file has several such blocks, the first one serves all depths of a draft, as it does in vLLM and SGLang. Only
 * MiMo-V2's blocks were taught for one depth each (arXiv 2601.02780), so each serves its own.
 */
#include <stdlib.h>
#include <string.h>

#include "model/head/head_weights.h"

/* The families whose heads vouch runs. Their files may lack the head all the same. */
typedef struct nextn_family {
    const char *arch;
    bool is_normed;
    bool by_depth; /* a block for each depth */
} nextn_family;

static const nextn_family families[] = {
    {"qwen35", true, false},  {"qwen35moe", true, false}, {"qwen3next", true, false},
    {"glm4moe", true, false}, {"deepseek2", true, false}, {"mimo2", false, true},
};

/* The target's family; NULL: its head isn't supported, or there is none. */
static const nextn_family *find_family(const vouch_weights *target)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (target->hparams.n_nextn > 0 && strcmp(target->hparams.arch, families[i].arch) == 0) return &families[i];
    return NULL;
}

typedef struct own_opening {
    vouch_head_weights *head;
    const vouch_weights *target;
} own_opening;

static vouch_status take_norm(vouch_loader *loader, int32_t block, const char *tensor, bool required, vouch_norm *norm)
{
    return vouch_loader_vector(loader, vouch_loader_name(loader, block, tensor), required, &norm->weight,
                               loader->hparams->n_embd);
}

static vouch_status take_ends(vouch_weights *w, vouch_loader *loader, void *user)
{
    const own_opening *o = user;
    const vouch_weights *target = o->target;
    vouch_head_weights *head = o->head;
    const int32_t block = w->hparams.first_block;
    const int64_t n_embd = w->hparams.n_embd, n_vocab = target->hparams.n_vocab;
    w->hparams.n_vocab = target->hparams.n_vocab;
    w->embedding_norm.kind = VOUCH_NORM_NONE;
    w->output_norm = target->output_norm;
    w->output = target->output;
    w->output_bias = target->output_bias;
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, block, "nextn.eh_proj"), true, &head->join, n_embd,
                                  2 * n_embd));
    VOUCH_TRY(take_norm(loader, block, "nextn.enorm", true, &head->token_norm));
    VOUCH_TRY(take_norm(loader, block, "nextn.hnorm", true, &head->state_norm));
    VOUCH_TRY(take_norm(loader, block, "layer_output_norm", false, &w->output_norm));
    VOUCH_TRY(take_norm(loader, block, "nextn.shared_head_norm", false, &w->output_norm));
    VOUCH_TRY(vouch_loader_matrix(loader, vouch_loader_name(loader, block, "nextn.embed_tokens"), false, &w->embedding,
                                  n_vocab, n_embd));
    return vouch_loader_matrix(loader, vouch_loader_name(loader, block, "nextn.shared_head_head"), false,
                               &w->own_output, n_vocab, n_embd);
}

/* Whether the file has this block after its layers, from 1 on. */
static bool has_block(const vouch_gguf *gguf, const vouch_weights *target, int32_t number)
{
    vouch_loader loader = {.gguf = gguf};
    const vouch_hparams *h = &target->hparams;
    return number <= h->n_nextn && vouch_loader_has(&loader, h->n_layers + number - 1, "nextn.eh_proj");
}

/* Opens the head that this block is. */
static vouch_status open_block(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_weights *target,
                               const nextn_family *family, int32_t number, vouch_pool *pool, vouch_error *err)
{
    vouch_head_weights *head = *out = calloc(1, sizeof *head);
    if (!head) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    head->target = target;
    head->is_normed = family->is_normed;
    head->n_taps = 1;
    head->taps[0] = target->hparams.n_layers - 1;
    head->n_features = target->hparams.n_embd;
    head->n_draft = target->hparams.n_vocab;
    head->embedding_scale = target->hparams.embedding_scale;
    own_opening opening = {.head = head, .target = target};
    vouch_weights_plan plan = {.take_ends = take_ends, .user = &opening, .is_part = true, .nextn = number};
    VOUCH_TRY(vouch_arch_find(gguf, &plan.arch, err));
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, target->kernels, pool, NULL, NULL, err));
    head->embedding = head->body->embedding.n_out ? &head->body->embedding : &target->embedding;
    return VOUCH_OK;
}

vouch_status vouch_head_weights_open_own(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_weights *target,
                                         vouch_pool *pool, vouch_error *err)
{
    const nextn_family *family = find_family(target);
    const int32_t most = !family ? 0 : family->by_depth ? VOUCH_HEAD_DEPTHS : 1;
    vouch_head_weights *first = NULL, **next = &first;
    vouch_status status = VOUCH_OK;
    for (int32_t i = 1; i <= most && has_block(gguf, target, i) && status == VOUCH_OK; i++) {
        status = open_block(next, gguf, target, family, i, pool, err);
        if (*next) next = &(*next)->deeper;
    }
    *out = status == VOUCH_OK ? first : NULL;
    if (status != VOUCH_OK) vouch_head_weights_close(first);
    return status;
}
