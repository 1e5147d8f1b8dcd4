/* SPDX-License-Identifier: MIT */
/* The choice of adapters (hparams.h, vouch_adapter_hparams). */
#ifndef VOUCH_MODEL_ADAPTERS_H
#define VOUCH_MODEL_ADAPTERS_H

#include "model/stage/workspace.h"

/* The token whose embedding this one has. */
int32_t vouch_adapters_substitute(const vouch_hparams *h, int32_t token);
/* Finds the adapter of each row. All threads call it. */
void vouch_adapters_find(vouch_workspace *c, vouch_pool *team, thread_space *my);

#endif
