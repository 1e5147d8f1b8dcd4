/* SPDX-License-Identifier: MIT */
/* The drafter `head`: a guesser for the head's kind, and a tree that grows from its logits. */
#include "draft/paid/head.h"

#include "draft/paid/head_inputs.h"
#include "draft/paid/tree.h"
#include "draft/registry.h"
#include "format/open/open.h"

_Static_assert((int)VOUCH_MAX_TAPS == (int)VOUCH_HEAD_TAPS, "a head may have as many taps as a drafter");

static vouch_head_open_fn *guesser_of(const vouch_head_weights *head)
{
    if (head->block.n_rows > 0) return vouch_head_block_open;
    if (head->deeper) return vouch_head_modules_open;
    if (head->n_depths > 0) return vouch_head_medusa_open;
    return head->body->hparams.n_layers > 0 && !head->borrows_keys ? vouch_head_chain_open : vouch_head_lent_open;
}

vouch_status vouch_drafter_head_open(vouch_drafter_ref *out, const vouch_drafter_setup *setup, vouch_error *err)
{
    const vouch_head_weights *head = vouch_setup_head(setup);
    vouch_guesser guesser;
    *out = (vouch_drafter_ref){0};
    VOUCH_TRY(guesser_of(head)(&guesser, setup, err));
    return vouch_drafter_tree_open(out, guesser, "head", VOUCH_DRAFTER_HEAD, setup, head->body->kernels, err);
}

/* -------------------------------------------------------------- the registry */

/* The time of a pass is roughly proportional to the weights that it reads. */
static double share(const vouch_drafter_setup *setup)
{
    const vouch_head_weights *h = vouch_setup_head(setup);
    double entry = (double)vouch_matrix_bytes(&h->join) + (double)vouch_matrix_bytes(&h->leave);
    entry += (double)vouch_matrix_bytes(&h->block.to);
    if (h->centroids.n_each > 0) { /* which leave out most of the output matrix */
        const double part = (double)h->centroids.n_best / (double)h->centroids.matrix.n_out;
        entry += (double)vouch_matrix_bytes(&h->centroids.matrix);
        entry -= (1 - part) * (double)vouch_matrix_bytes(h->body->output);
    }
    if (h->n_depths > 0) entry = h->n_blocks * (double)vouch_matrix_bytes(&h->depths[0].block);
    return (vouch_weights_pass_bytes(h->body, 1) + entry) / vouch_weights_pass_bytes(setup->target, 1);
}

/* The guesses of a block, or of rows of masks, come from one pass. */
static bool at_once(const vouch_drafter_setup *setup)
{
    return vouch_setup_head(setup)->block.n_rows > 0 || vouch_setup_head(setup)->masks.n_rows > 0;
}

static vouch_status open_file(void **out, const char *path, const vouch_draft_target *target, vouch_error *err)
{
    vouch_gguf *gguf;
    vouch_pool *pool = NULL;
    vouch_head_weights *head = NULL;
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    vouch_status status = vouch_pool_open(&pool, 0, err);
    if (status == VOUCH_OK) status = vouch_head_weights_open(&head, gguf, target, pool, err);
    vouch_pool_close(pool);
    vouch_gguf_close(gguf);
    *out = head;
    return status;
}

static void close_file(void *content)
{
    vouch_head_weights_close(content);
}

/* A head predicts less exactly than a draft model. So the target accepts one of a head's likeliest tokens more often
 * than one drawn from q, and pace may cut a tree of such point masses. */
const vouch_drafter_type vouch_drafter_type_head = {
    .in_auto = true,
    .needs = "a head",
    .need = VOUCH_NEED_OPTION,
    .flags = "head",
    .settings = "draft-sampling allow-other-head",
    .in_model = true,
    .file = "head for this model, which drafts from the model's hidden states: `vouch distill` makes one; or a "
            "published one, a GGUF file or a folder",
    .open_file = open_file,
    .close_file = close_file,
    .lacks = "a head, and the model has none of its own; set its file",
    .has_q = true,
    .is_greedy = true,
    .branches = 4,
    .open_paid = vouch_drafter_head_open,
    .share = share,
    .at_once = at_once};
