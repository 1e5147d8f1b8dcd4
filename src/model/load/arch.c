/* SPDX-License-Identifier: MIT */
#include "model/load/arch.h"

#include <string.h>

/* The families. Each is one file of arch/, which related families may share, and one entry here. */
#define ARCHS(X)                                                                                                       \
    X(llama) X(mistral3) X(qwen2) X(qwen3) X(qwen3moe) X(internlm2) X(ernie4_5) X(xverse) X(exaone) X(nanbeige)        \
    X(pangu) X(smollm3) X(arcee) X(seed_oss) X(baichuan) X(orion) X(plamo) X(granite) X(minicpm) X(gemma) X(gemma2)    \
    X(gemma3) X(olmo) X(olmo2) X(exaone4) X(phi2) X(phi3) X(chatglm) X(glm4) X(gpt2) X(starcoder) X(starcoder2)        \
    X(codeshell) X(bloom) X(gptneox) X(falcon) X(nemotron) X(jais2) X(stablelm) X(command_r) X(cohere2) X(hunyuan)     \
    X(maincoder) X(mpt) X(jais) X(qwen) X(qwen2vl) X(qwen3vl) X(hunyuan_vl) X(granite_swa) X(plamo3) X(openelm)        \
    X(refact) X(deci) X(cogvlm) X(paddleocr) X(qwen2moe) X(qwen3vlmoe) X(mellum) X(ernie4_5_moe) X(granite_moe)        \
    X(hunyuan_moe) X(olmoe) X(minimax_m2) X(phimoe) X(deepseek) X(dots1) X(bailingmoe) X(bailingmoe2) X(glm4moe)       \
    X(mimo2) X(smallthinker) X(afmoe) X(laguna) X(maple)                                                               \
    X(gptoss) X(llama4) X(grok) X(dbrx) X(exaone_moe) X(hy_v3) X(cohere2moe) X(mamba) X(mamba2) X(jamba)               \
    X(falcon_h1) X(granite_hybrid) X(nemotron_h) X(nemotron_h_moe) X(plamo2) X(lfm2) X(lfm2moe) X(qwen3next) X(qwen35) \
    X(qwen35moe) X(deepseek2) X(deepseek32) X(glm_dsa) X(mistral4) X(minicpm3) X(plm) X(gemma4) X(kimi_linear)         \
    X(bailingmoe3) X(arctic) X(spark2_5) X(bitnet) X(apertus) X(gemma3n) X(step35) X(muse_glimmer) X(minimax_01)       \
    X(minimax_m3) X(gptj) X(talkie) X(hrm_text) X(hy_v4) X(kimi_k3) X(glm5_next) X(grovemoe) X(granite_switch)   \
    X(dots3note) X(rwkv6) X(rwkv6qwen2) X(rwkv7) X(arwkv7)

#define DECLARE(name) extern const vouch_arch vouch_arch_##name;
ARCHS(DECLARE)
#undef DECLARE

static const vouch_arch *const archs[] = {
#define POINTER(name) &vouch_arch_##name,
    ARCHS(POINTER)
#undef POINTER
};
enum { N_ARCHS = sizeof archs / sizeof archs[0] };

/* Models that llama.cpp has files of and that write no text from left to right: their architectures, and what they are.
 */
static const struct {
    const char *names, *kind;
} others[] = {
    {"dream llada llada-moe rnd1", "a diffusion model, which doesn't write from left to right"},
    {"pockettts qwen3tts wavtokenizer-dec", "a model of speech"},
    {"bert modern-bert neo-bert nomic-bert nomic-bert-moe jina-bert-v2 jina-bert-v3 eurobert t5encoder gemma-embedding "
     "llama-embed",
     "an encoder, which writes no text"},
    {"clip", "the part of a model that sees pictures or hears; give the file of its language model"},
};
enum { N_OTHERS = sizeof others / sizeof others[0] };

static const char *kind_of(vouch_text name)
{
    for (size_t i = 0; i < N_OTHERS; i++)
        for (const char *at = others[i].names; *at; at += strspn(at, " ")) {
            const size_t n = strcspn(at, " ");
            if (n == name.size && memcmp(at, name.data, n) == 0) return others[i].kind;
            at += n;
        }
    return NULL;
}

vouch_status vouch_arch_find(const vouch_gguf *gguf, const vouch_arch **arch, vouch_error *err)
{
    vouch_text name;
    VOUCH_TRY(vouch_gguf_get_text(gguf, "general.architecture", true, &name, err));
    for (size_t i = 0; i < N_ARCHS; i++)
        if (vouch_text_is(name, archs[i]->name)) {
            *arch = archs[i];
            return VOUCH_OK;
        }
    const char *kind = kind_of(name);
    if (kind)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "%s: general.architecture '%.*s': this is %s",
                          vouch_gguf_path(gguf), (int)name.size, name.data, kind);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "%s: general.architecture '%.*s' is not supported; docs/models.md lists the %d that are",
                      vouch_gguf_path(gguf), (int)(name.size < 64 ? name.size : 64), name.data, (int)N_ARCHS);
}
