/* SPDX-License-Identifier: MIT */
/*
 * Heads that stand in their target's file: the block blk.N after its N layers, with the tensors nextn.*. Converters
 * also write the blocks to a file of their own, mtp-*.gguf: the target's keys and no layers. Its copies of the target's
 * embedding, output norm and output matrix stay unread, because the head borrows the target's.
 *
 * Where a file has several such blocks, the first one serves all depths of a draft, as it does in vLLM and SGLang. Only
 * the blocks of MiMo-V2 (arXiv 2601.02780) and Step 3.5 were taught for one depth each, so each serves its own.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/head/head_kind.h"
#include "model/load/keys.h"

/* The families whose heads vouch runs. Their files may lack the head all the same. */
typedef struct nextn_family {
    const char *arch;
    bool is_normed;
    bool by_depth; /* a block for each depth */
} nextn_family;

static const nextn_family families[] = {
    {"qwen35", true, false},    {"qwen35moe", true, false},   {"qwen3next", true, false}, {"glm4moe", true, false},
    {"deepseek2", true, false}, {"mimo2", false, true},       {"hy_v3", true, false},     {"cohere2moe", true, false},
    {"step35", false, true},    {"bailingmoe3", true, false},
};

/* NULL: the architecture's heads aren't supported. */
static const nextn_family *find_family(vouch_text arch)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (vouch_text_is(arch, families[i].arch)) return &families[i];
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

/* Whether the file has this block after n_layers layers, from 1 on. */
static bool has_block(const vouch_gguf *gguf, int32_t n_layers, int32_t number)
{
    vouch_loader loader = {.gguf = gguf};
    return vouch_loader_has(&loader, n_layers + number - 1, "nextn.eh_proj");
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
    const vouch_packing packing = vouch_packing_beside(target, pool);
    VOUCH_TRY(vouch_weights_open_plan(&head->body, gguf, &plan, &packing, err));
    head->embedding = head->body->embedding.n_out ? &head->body->embedding : &target->embedding;
    return VOUCH_OK;
}

/* Opens the head that the n blocks after the target's layers are. *out is NULL where the first is missing. */
static vouch_status open_blocks(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_weights *target,
                                const nextn_family *family, int32_t n, vouch_pool *pool, vouch_error *err)
{
    const int32_t most = family->by_depth ? VOUCH_HEAD_DEPTHS : 1;
    vouch_head_weights *first = NULL, **next = &first;
    vouch_status status = VOUCH_OK;
    for (int32_t i = 1; i <= most && i <= n && status == VOUCH_OK; i++) {
        if (!has_block(gguf, target->hparams.n_layers, i)) break;
        status = open_block(next, gguf, target, family, i, pool, err);
        if (*next) next = &(*next)->deeper;
    }
    *out = status == VOUCH_OK ? first : NULL;
    if (status != VOUCH_OK) vouch_head_weights_close(first);
    return status;
}

vouch_status vouch_head_weights_open_own(vouch_head_weights **out, const vouch_gguf *gguf, const vouch_weights *target,
                                         vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->hparams;
    const nextn_family *family = find_family((vouch_text){h->arch, strlen(h->arch)});
    *out = NULL;
    return family ? open_blocks(out, gguf, target, family, h->n_nextn, pool, err) : VOUCH_OK;
}

/* ------------------------------------------------------------ a file of its own */

/* The numbers of the target's layers and of the blocks after them, as the file states both. */
static void read_counts(const vouch_gguf *gguf, const char *arch, int32_t *n_layers, int32_t *n_blocks)
{
    *n_layers = *n_blocks = 0;
    if (vouch_key_int(gguf, arch, "nextn_predict_layers", false, 0, VOUCH_HEAD_DEPTHS, n_blocks, NULL)) *n_blocks = 0;
    if (vouch_key_int(gguf, arch, "block_count", false, 1, INT_MAX, n_layers, NULL)) *n_layers = 0;
    *n_layers -= *n_blocks;
}

bool vouch_head_is_beside(const vouch_gguf *gguf)
{
    vouch_loader loader = {.gguf = gguf};
    vouch_text arch;
    int32_t n_layers, n_blocks;
    if (vouch_gguf_get_text(gguf, "general.architecture", true, &arch, NULL)) return false;
    const nextn_family *family = find_family(arch);
    if (!family) return false;
    read_counts(gguf, family->arch, &n_layers, &n_blocks);
    return n_blocks > 0 && n_layers > 0 && has_block(gguf, n_layers, 1) && !vouch_loader_has(&loader, 0, "attn_norm");
}

vouch_status vouch_head_weights_open_beside(vouch_head_weights **out, const vouch_gguf *gguf,
                                            const vouch_weights *target, vouch_pool *pool, vouch_error *err)
{
    const vouch_hparams *h = &target->hparams;
    const vouch_gguf_tensor *embedding = vouch_gguf_find_tensor(gguf, "token_embd.weight");
    vouch_text arch;
    int32_t n_layers, n_blocks;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &arch, err));
    const nextn_family *family = find_family(arch);
    if (strcmp(family->arch, h->arch) != 0)
        return vouch_fail(err, VOUCH_E_MISMATCH,
                          "%s: the head is for a model of architecture '%s', and this model has '%s'",
                          vouch_gguf_path(gguf), family->arch, h->arch);
    read_counts(gguf, family->arch, &n_layers, &n_blocks);
    VOUCH_TRY(vouch_head_check_size(gguf, h->arch, "block_count", true, h->n_layers + n_blocks, err));
    VOUCH_TRY(vouch_head_check_size(gguf, h->arch, "embedding_length", true, h->n_embd, err));
    if (embedding && embedding->dim[1] != h->n_vocab)
        return vouch_fail(err, VOUCH_E_MISMATCH, "%s: the head has %lld tokens, and this model has %d",
                          vouch_gguf_path(gguf), (long long)embedding->dim[1], h->n_vocab);
    return open_blocks(out, gguf, target, family, n_blocks, pool, err);
}
