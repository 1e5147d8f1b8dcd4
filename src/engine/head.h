/* SPDX-License-Identifier: MIT */
/* A vouch_head: a head's weights, and the model that they are for. */
#ifndef VOUCH_ENGINE_HEAD_H
#define VOUCH_ENGINE_HEAD_H

#include "engine/model.h"

#endif
