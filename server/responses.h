/* SPDX-License-Identifier: MIT */
/* /v1/responses of the OpenAI API, without a memory of earlier responses. */
#ifndef VOUCH_SERVER_RESPONSES_H
#define VOUCH_SERVER_RESPONSES_H

#include "http.h"

void server_responses(server_exchange *x);

#endif
