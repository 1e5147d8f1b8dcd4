/* SPDX-License-Identifier: MIT */
/* Whether a folder has the tensors that config.json says it has. */
#ifndef VOUCH_FORMAT_HF_CHECK_H
#define VOUCH_FORMAT_HF_CHECK_H

#include "format/gguf.h"
#include "format/hf/hf_family.h"
#include "format/hf/hf_shape.h"
#include "format/json.h"
#include "format/safetensors.h"

/* Checks the family's switches: tensors are there where the member is true, and not there where it is false. Checks
 * that an output matrix beside a tied embedding equals it. Error: FORMAT. */
vouch_status vouch_hf_check_switches(const vouch_json *config, const vouch_hf_family *family,
                                     const vouch_safetensors *files, size_t n_files, bool is_tied, vouch_error *err);
/* Checks the widths of experts and of shared networks, which GGUF's reader takes from the tensors. Error: FORMAT. */
vouch_status vouch_hf_check_experts(const vouch_json *config, const vouch_hf_shape *shape, const vouch_gguf *gguf,
                                    vouch_error *err);

#endif
