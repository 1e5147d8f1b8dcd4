/* SPDX-License-Identifier: MIT */
/* Opens whatever a model's path names: a GGUF file, the first part of a split one, or a Hugging Face folder. */
#ifndef VOUCH_FORMAT_OPEN_H
#define VOUCH_FORMAT_OPEN_H

#include "format/gguf.h"

/* As vouch_gguf_open, and for a folder as vouch_hf_folder_open. */
vouch_status vouch_format_open(vouch_gguf **out, const char *path, vouch_error *err);
/* As vouch_gguf_open_header. A folder opens whole or not at all. */
vouch_status vouch_format_open_header(vouch_gguf **out, const char *path, vouch_error *flaw, vouch_error *err);

#endif
