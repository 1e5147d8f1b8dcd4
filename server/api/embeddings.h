/* SPDX-License-Identifier: MIT */
/* Vectors of texts: /v1/embeddings of the OpenAI API, /api/embed and /api/embeddings of Ollama's. */
#ifndef VOUCH_SERVER_EMBEDDINGS_H
#define VOUCH_SERVER_EMBEDDINGS_H

#include "http/http.h"

void server_embeddings(server_exchange *x);       /* POST /v1/embeddings */
void server_ollama_embed(server_exchange *x);     /* POST /api/embed */
void server_ollama_embedding(server_exchange *x); /* POST /api/embeddings, of older clients */

#endif
