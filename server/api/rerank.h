/* SPDX-License-Identifier: MIT */
/* How well documents answer a query: /v1/rerank, as Jina, Cohere and llama.cpp have it. */
#ifndef VOUCH_SERVER_RERANK_H
#define VOUCH_SERVER_RERANK_H

#include "http/http.h"

void server_rerank(server_exchange *x); /* POST /v1/rerank, /rerank */

#endif
