/* SPDX-License-Identifier: MIT */
/* /v1/responses of the OpenAI API, without a memory of earlier responses. */
#ifndef VOUCH_SERVER_RESPONSES_H
#define VOUCH_SERVER_RESPONSES_H

#include "http/http.h"

void server_responses(server_exchange *x);
/* {"object": "response.input_tokens", "input_tokens": N} */
void server_count_response_tokens(server_exchange *x);

#endif
