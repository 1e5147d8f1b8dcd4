/* SPDX-License-Identifier: MIT */
/* Drives one cycle of one sequence without an engine, for tests with a toy target or with none. */
#ifndef VOUCH_TESTS_DRIVE_H
#define VOUCH_TESTS_DRIVE_H

#include "decode/cycle.h"

/* Choose and draft. */
void drive_draft(vouch_cycle *cycle, const vouch_shape *most, int32_t room);
/* A whole cycle; its target is a toy's. Pace learns t(n) from the pass, too. On failure *out doesn't change. */
vouch_status drive_cycle(vouch_cycle *cycle, const vouch_shape *most, int32_t room, vouch_cycle_result *out);

#endif
