/* SPDX-License-Identifier: MIT */
/* The versions of the residual stream (layer.h, vouch_altup). All threads run each stage, with a barrier at its end. */
#ifndef VOUCH_MODEL_ALTUP_H
#define VOUCH_MODEL_ALTUP_H

#include "model/stage/workspace.h"

/* version[0] = x; version[j] = spread[j] x, scaled to the magnitude of x. */
void vouch_altup_spread(vouch_workspace *c, vouch_pool *team, thread_space *my);
/* Before a layer: the versions become their guesses; x = guess[0]. */
void vouch_altup_predict(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* After the mixer: the path beside it. */
void vouch_altup_widen(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* After the feed-forward: corrects the versions; x = version[0] * correct_scale. */
void vouch_altup_correct(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* Adds the extra branch's result, in c->branch, to all versions but the first; x = version[0]. */
void vouch_altup_add(vouch_workspace *c, vouch_pool *team, thread_space *my, int32_t layer);
/* After the layers: x = the mean of version[0] and of gather[j] version[j], scaled to the magnitude of version[0]. */
void vouch_altup_gather(vouch_workspace *c, vouch_pool *team, thread_space *my);

#endif
