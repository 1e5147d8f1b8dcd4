/* SPDX-License-Identifier: MIT */
/* The Anthropic API: messages and the count of their tokens. */
#ifndef VOUCH_SERVER_MESSAGES_H
#define VOUCH_SERVER_MESSAGES_H

#include "http/http.h"

void server_messages(server_exchange *x);
void server_count_tokens(server_exchange *x);

#endif
