/* SPDX-License-Identifier: MIT */
#include "model/arch.h"

#include <stdio.h>
#include <string.h>

static const vouch_arch *const archs[] = {
    &vouch_arch_llama, &vouch_arch_mistral3, &vouch_arch_qwen2, &vouch_arch_qwen3, &vouch_arch_qwen3moe,
    &vouch_arch_internlm2,
    &vouch_arch_ernie4_5, &vouch_arch_xverse, &vouch_arch_exaone, &vouch_arch_nanbeige, &vouch_arch_pangu,
    &vouch_arch_smollm3, &vouch_arch_arcee, &vouch_arch_seed_oss, &vouch_arch_baichuan,
    &vouch_arch_orion, &vouch_arch_plamo, &vouch_arch_granite, &vouch_arch_minicpm, &vouch_arch_gemma,
    &vouch_arch_gemma2, &vouch_arch_gemma3, &vouch_arch_olmo, &vouch_arch_olmo2, &vouch_arch_exaone4,
    &vouch_arch_phi2, &vouch_arch_phi3, &vouch_arch_chatglm, &vouch_arch_glm4, &vouch_arch_gpt2,
    &vouch_arch_starcoder, &vouch_arch_starcoder2, &vouch_arch_codeshell, &vouch_arch_bloom, &vouch_arch_gptneox,
    &vouch_arch_falcon, &vouch_arch_nemotron, &vouch_arch_jais2, &vouch_arch_stablelm, &vouch_arch_command_r,
    &vouch_arch_cohere2, &vouch_arch_hunyuan, &vouch_arch_maincoder,
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
