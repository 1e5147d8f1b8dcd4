/* SPDX-License-Identifier: MIT */
/* Opens a table of next tokens for a model. */
#include "engine/file/table.h"

#include <stdlib.h>

#include "base/floats.h"
#include "format/open/open.h"

static vouch_status load_table(vouch_draft_table *table, const char *path, bool allow_other_target, vouch_error *err)
{
    const vouch_table_target target = {
        .digest = table->target->digest, .n_vocab = table->target->info.n_vocab, .may_differ = allow_other_target};
    vouch_gguf *gguf;
    VOUCH_TRY(vouch_format_open(&gguf, path, err));
    const vouch_status status = vouch_table_rows_open(&table->rows, gguf, &target, err);
    vouch_gguf_close(gguf);
    return status;
}

vouch_status vouch_draft_table_open(vouch_draft_table **out, const char *path, const vouch_model *target,
                                    bool allow_other_target, vouch_error *err)
{
    VOUCH_DEFAULT_FLOATS();
    *out = NULL;
    VOUCH_TRY(vouch_model_need_weights(target, err));
    vouch_draft_table *table = calloc(1, sizeof *table);
    if (!table) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a table");
    table->target = target;
    const vouch_status status = load_table(table, path, allow_other_target, err);
    if (status == VOUCH_OK) *out = table;
    else vouch_draft_table_close(table);
    return status;
}

void vouch_draft_table_close(vouch_draft_table *table)
{
    if (!table) return;
    vouch_table_rows_close(table->rows);
    free(table);
}
