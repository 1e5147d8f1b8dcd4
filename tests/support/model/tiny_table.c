/* SPDX-License-Identifier: MIT */
#include "support/model/tiny_table.h"

#include <string.h>

#include "format/gguf.h"
#include "support/test.h"

static void add(vouch_gguf_writer *w, const tiny_table *t, const char *name, vouch_type type, int32_t n_dims,
                const int64_t *dims, const void *data)
{
    if (!t->omit || strcmp(t->omit, name) != 0) vouch_gguf_add_tensor(w, name, type, n_dims, dims, data);
}

void tiny_table_write(const char *path, const vouch_model *target, const tiny_table *t)
{
    const int64_t contexts[] = {VOUCH_TABLE_ORDERS, 2}, starts[] = {3}, tokens[] = {3};
    const uint16_t shares[] = {t->share, t->share, t->share};
    const vouch_model_info *info = vouch_model_get_info(target);
    vouch_gguf_writer *w;
    assert_int_equal(vouch_gguf_writer_open(&w, NULL), VOUCH_OK);
    vouch_gguf_add_text(w, "general.architecture", "vouch-table");
    vouch_gguf_add_text(w, "vouch-table.target.digest", t->digest ? t->digest : info->digest);
    vouch_gguf_add_u32(w, "vouch-table.target.vocab_size", (uint32_t)info->n_vocab);
    add(w, t, "contexts", VOUCH_TYPE_I32, 2, contexts, t->contexts);
    add(w, t, "starts", VOUCH_TYPE_I32, 1, starts, t->starts);
    add(w, t, "tokens", VOUCH_TYPE_I32, 1, tokens, t->tokens);
    add(w, t, "shares", VOUCH_TYPE_F16, 1, tokens, shares);
    assert_int_equal(vouch_gguf_write(w, path, NULL), VOUCH_OK);
    vouch_gguf_writer_close(w);
}
