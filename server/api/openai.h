/* SPDX-License-Identifier: MIT */
/* The OpenAI API: chat completions, completions. */
#ifndef VOUCH_SERVER_OPENAI_H
#define VOUCH_SERVER_OPENAI_H

#include "http/http.h"

void server_chat_completions(server_exchange *x);
void server_completions(server_exchange *x);
/* {"input_tokens": N}: the tokens of a request for a chat completion. */
void server_count_chat_tokens(server_exchange *x);

#endif
