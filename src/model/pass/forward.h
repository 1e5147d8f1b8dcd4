/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_MODEL_FORWARD_H
#define VOUCH_MODEL_FORWARD_H

#include "model/stage/workspace.h"

/* Runs the rows that the pass holds, through all layers and the head. */
void vouch_forward(vouch_workspace *c);

#endif
