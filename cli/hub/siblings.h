/* SPDX-License-Identifier: MIT */
/* Small models that draft for larger ones of their family: the data of siblings.txt. */
#ifndef VOUCH_CLI_HUB_SIBLINGS_H
#define VOUCH_CLI_HUB_SIBLINGS_H

#include "hub/name.h"

/* Writes the name of the small model for a repository such as "Qwen/Qwen3-8B-GGUF". False: none is known. */
bool hub_sibling_of(const char *repository, char name[HUB_NAME_SIZE]);

#endif
