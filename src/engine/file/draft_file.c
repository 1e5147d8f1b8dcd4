/* SPDX-License-Identifier: MIT */
/* Opens the file of a drafter for a model. */
#include <stdlib.h>

#include "base/floats.h"
#include "draft/registry.h"
#include "engine/file/model.h"

vouch_status vouch_draft_file_open(vouch_draft_file **out, int drafter, const char *path, const vouch_model *target,
                                   bool allow_other_target, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    const vouch_drafter_type *type = vouch_drafter_type_get(drafter);
    if (!type->open_file)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "drafter: %d has no file; expected a drafter whose info has one",
                          drafter);
    VOUCH_TRY(vouch_model_need_weights(target, err));
    vouch_draft_file *file = calloc(1, sizeof *file);
    if (!file) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a drafter's file");
    *file = (vouch_draft_file){.drafter = drafter, .target = target};
    const vouch_draft_target of = {target->weights, target->digest, target->info.n_vocab, allow_other_target};
    const vouch_status status = type->open_file(&file->content, path, &of, err);
    if (status == VOUCH_OK) *out = file;
    else vouch_draft_file_close(file);
    return status;
}

void vouch_draft_file_close(vouch_draft_file *file)
{
    if (!file) return;
    vouch_drafter_type_get(file->drafter)->close_file(file->content);
    free(file);
}
