/* SPDX-License-Identifier: MIT */
/* Turns layers of a loaded dense model into recurrent mixers (model/layer.h) made of the matrices that it has. */
#ifndef VOUCH_TESTS_HYBRID_H
#define VOUCH_TESTS_HYBRID_H

#include "model/load/weights.h"

/* Layers 0, 3, ... become gated delta nets with the heads of their attention, layers 1, 4, ... short convolutions. The
 * feed-forward must have n_heads + 2 n_kv_heads heads' width. Call it before a memory or a pass is opened. */
void hybrid_layers(vouch_weights *weights);

#endif
