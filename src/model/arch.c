/* SPDX-License-Identifier: MIT */
#include "model/arch.h"

#include <stdio.h>
#include <string.h>

static const vouch_arch *const archs[] = {
    &vouch_arch_llama,
    &vouch_arch_qwen3,
    &vouch_arch_qwen3moe,
};
enum { N_ARCHS = sizeof archs / sizeof archs[0] };

/* "llama, qwen3, ..." */
static void list_names(char *list, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < N_ARCHS && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i > 0 ? ", " : "", archs[i]->name);
}

vouch_status vouch_arch_find(const vouch_gguf *gguf, const vouch_arch **arch, vouch_error *err)
{
    vouch_text name;
    char list[512] = "";
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &name, err));
    for (size_t i = 0; i < N_ARCHS; i++)
        if (strlen(archs[i]->name) == name.size && memcmp(archs[i]->name, name.data, name.size) == 0) {
            *arch = archs[i];
            return VOUCH_OK;
        }
    list_names(list, sizeof list);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: general.architecture '%.*s' is not supported (supported: %s)",
                      vouch_gguf_path(gguf), (int)(name.size < 64 ? name.size : 64), name.data, list);
}
