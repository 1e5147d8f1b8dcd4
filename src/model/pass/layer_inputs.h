/* SPDX-License-Identifier: MIT */
/* The layers' own inputs (per-layer embeddings). All threads run the stage, with a barrier at its end. */
#ifndef VOUCH_MODEL_LAYER_INPUTS_H
#define VOUCH_MODEL_LAYER_INPUTS_H

#include "model/stage/workspace.h"

/* Computes c->layer_inputs from the embedded rows c->x. */
void vouch_layer_inputs_compute(vouch_workspace *c, vouch_pool *team, thread_space *my);

#endif
