/* SPDX-License-Identifier: MIT */
/* Models that other programs hold on this machine. They are read in place and never changed. */
#ifndef VOUCH_CLI_HUB_STORES_H
#define VOUCH_CLI_HUB_STORES_H

#include "hub/places.h"

/* The weights of Ollama's model NAME:TAG, which lie at blobs/sha256-... Errors: ARGUMENT, with the models that are
 * there; FORMAT (a manifest without weights). */
vouch_status hub_ollama_find(const hub_places *places, const char *name, const char *tag, char path[VOUCH_OS_PATH_SIZE],
                             vouch_error *err);

typedef void hub_found(void *user, const char *name, const char *path);
/* Calls for each model: of Ollama by names such as ollama:qwen3:4b; of LM Studio, of llama.cpp and in vouch's own
 * folder by their paths. */
void hub_stores_walk(const hub_places *places, hub_found *found, void *user);

#endif
