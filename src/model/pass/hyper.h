/* SPDX-License-Identifier: MIT */
/* Hyper-connections (layer.h, vouch_hyper). All threads run each stage, with a barrier at its end. */
#ifndef VOUCH_MODEL_HYPER_H
#define VOUCH_MODEL_HYPER_H

#include "model/stage/workspace.h"

/* All versions = x. */
void vouch_hyper_spread(vouch_workspace *c, vouch_pool *team, thread_space *my);
/* Before a branch: computes the weights read, write and mix (vouch_hyper); x = the sum of read[j] version[j]. */
void vouch_hyper_read(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper);
/* After a branch, whose result is in c->branch: mixes the versions and adds the result to each. */
void vouch_hyper_write(vouch_workspace *c, vouch_pool *team, thread_space *my, const vouch_hyper *hyper);
/* After the layers: x = what the output reads. */
void vouch_hyper_gather(vouch_workspace *c, vouch_pool *team, thread_space *my);
/* y [n_embd] = the mean of a row's versions, which is its hidden state between layers. One thread calls it. */
void vouch_hyper_average(const vouch_workspace *c, int64_t row, float *y);

#endif
