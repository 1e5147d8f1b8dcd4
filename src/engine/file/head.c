/* SPDX-License-Identifier: MIT */
/* Opens the file of a head for a model. */
#include "engine/file/model.h"

#include <stdlib.h>

#include "base/floats.h"
#include "format/open/open.h"

static vouch_status load_head(vouch_head *head, const char *path, bool allow_other_target, vouch_error *err)
{
    const vouch_head_target target = {
        .weights = head->target->weights, .digest = head->target->digest, .may_differ = allow_other_target};
    vouch_gguf *gguf;
    vouch_pool *pool = NULL;
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    vouch_status status = vouch_pool_open(&pool, 0, err);
    if (status == VOUCH_OK) status = vouch_head_weights_open(&head->weights, gguf, &target, pool, err);
    vouch_pool_close(pool);
    vouch_gguf_close(gguf);
    return status;
}

vouch_status vouch_head_open(vouch_head **out, const char *path, const vouch_model *target, bool allow_other_target,
                             vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    VOUCH_TRY(vouch_model_need_weights(target, err));
    vouch_head *head = calloc(1, sizeof *head);
    if (!head) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a head");
    head->target = target;
    const vouch_status status = load_head(head, path, allow_other_target, err);
    if (status == VOUCH_OK) *out = head;
    else vouch_head_close(head);
    return status;
}

void vouch_head_close(vouch_head *head)
{
    if (!head) return;
    vouch_head_weights_close(head->weights);
    free(head);
}
