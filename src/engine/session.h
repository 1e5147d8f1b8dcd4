/* SPDX-License-Identifier: MIT */
/* What a session holds, for tests of law L3: after each step it must be what plain decoding would have left. */
#ifndef VOUCH_ENGINE_SESSION_H
#define VOUCH_ENGINE_SESSION_H

#include "draft/drafters.h"
#include "model/memory.h"

const vouch_memory *vouch_session_target(const vouch_session *session);
/* A test may put its own drafter in the place of one that isn't there. */
vouch_drafters *vouch_session_get_drafters(vouch_session *session);

#endif
