/* SPDX-License-Identifier: MIT */
/* The state of a session, for tests of law L3: after each step it must equal the state that plain decoding leaves. */
#ifndef VOUCH_ENGINE_SESSION_H
#define VOUCH_ENGINE_SESSION_H

#include "draft/drafters.h"
#include "model/memory.h"

const vouch_memory *vouch_session_target(const vouch_session *session);
/* The session's drafters, which a test may replace. */
vouch_drafters *vouch_session_get_drafters(vouch_session *session);

#endif
