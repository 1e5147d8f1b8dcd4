/* SPDX-License-Identifier: MIT */
/*
 * A family of architectures: how a file's metadata and tensors become layers (layer.h). Each family is one file in
 * arch/, and one line in the table of arch.c.
 */
#ifndef VOUCH_MODEL_ARCH_H
#define VOUCH_MODEL_ARCH_H

#include "model/loader.h"

typedef struct vouch_arch {
    const char *name; /* general.architecture */
    vouch_rotary_kind rotary;
    bool has_feed_scales; /* hparams.h */
    /* Reads and checks all hyperparameters except n_vocab. Errors: FORMAT, UNSUPPORTED. */
    vouch_status (*read)(const vouch_gguf *gguf, vouch_hparams *h, vouch_error *err);
    /* Fills layer `index` and takes its tensors. Errors: FORMAT, UNSUPPORTED, MEMORY. */
    vouch_status (*take)(vouch_loader *loader, int32_t index, vouch_layer *layer);
} vouch_arch;

/* The families, one file each. */
extern const vouch_arch
    vouch_arch_llama, vouch_arch_mistral3, vouch_arch_qwen2, vouch_arch_qwen3, vouch_arch_qwen3moe,
    vouch_arch_internlm2,
    vouch_arch_ernie4_5, vouch_arch_xverse, vouch_arch_exaone, vouch_arch_nanbeige, vouch_arch_pangu,
    vouch_arch_smollm3, vouch_arch_arcee, vouch_arch_seed_oss, vouch_arch_baichuan,
    vouch_arch_orion, vouch_arch_plamo, vouch_arch_granite, vouch_arch_minicpm, vouch_arch_gemma, vouch_arch_gemma2,
    vouch_arch_gemma3, vouch_arch_olmo, vouch_arch_olmo2, vouch_arch_exaone4, vouch_arch_phi2, vouch_arch_phi3,
    vouch_arch_chatglm, vouch_arch_glm4, vouch_arch_gpt2, vouch_arch_starcoder, vouch_arch_starcoder2,
    vouch_arch_codeshell, vouch_arch_bloom, vouch_arch_gptneox, vouch_arch_falcon, vouch_arch_nemotron,
    vouch_arch_jais2, vouch_arch_stablelm, vouch_arch_command_r, vouch_arch_cohere2, vouch_arch_hunyuan,
    vouch_arch_maincoder;

/* The family of a file. Errors: FORMAT (the file names none), UNSUPPORTED (lists the supported ones). */
vouch_status vouch_arch_find(const vouch_gguf *gguf, const vouch_arch **arch, vouch_error *err);

#endif
