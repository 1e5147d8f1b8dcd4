/* SPDX-License-Identifier: MIT */
/*
 * Heads with a module for each depth, all of which read the target's states (MiMo-V2: arXiv 2601.02780). Each module is
 * a head with keys and values of its own. Row t of the module for depth d:
 *
 *   reads      the target's state at t, and the token x[t + 1 + d]
 *   predicts   x[t + 2 + d]
 *
 * So a guess g[i] after n tokens, which has position n - 1 + i, is read by row n - 2 - d + i of that module:
 *
 *   depth 0      x[1] ... x[n - 2] x[n - 1]                  predicts g[1]
 *   depth 1      x[2] ... x[n - 1] g[1]                      predicts g[2]
 *   depth 2      x[3] ... g[1]     g[2]                      predicts g[3]
 *   state at       0  ...  n - 3    n - 2
 */
#ifndef VOUCH_DRAFT_HEAD_MODULES_H
#define VOUCH_DRAFT_HEAD_MODULES_H

#include "draft/paid/guesser.h"
#include "draft/setup.h"

/* Opens the guesser over the head in setup. Errors: MEMORY, UNSUPPORTED (kv_type). */
vouch_status vouch_head_modules_open(vouch_guesser *out, const vouch_drafter_setup *setup, vouch_error *err);

#endif
