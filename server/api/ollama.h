/* SPDX-License-Identifier: MIT */
/* Ollama's API, which many front ends speak and nothing else: /api/chat, /api/generate, and what lists models. */
#ifndef VOUCH_SERVER_OLLAMA_H
#define VOUCH_SERVER_OLLAMA_H

#include "http/http.h"

void server_ollama_chat(server_exchange *x);     /* POST /api/chat */
void server_ollama_generate(server_exchange *x); /* POST /api/generate */
void server_ollama_tags(server_exchange *x);     /* GET /api/tags */
void server_ollama_ps(server_exchange *x);       /* GET /api/ps */
void server_ollama_show(server_exchange *x);     /* POST /api/show */
void server_ollama_version(server_exchange *x);  /* GET /api/version */
void server_ollama_refuse(server_exchange *x);   /* what changes models: 501 */

/* Turns x->json into a request of the chat API, or of completions where it is a text (ollama_request.c). `where` is the
 * bit of the request that it becomes; 0: it only asks to load the model. False with a fault. */
bool server_ollama_convert(server_exchange *x, bool is_chat, unsigned *where, server_fault *fault);
/* Reads "keep_alive", which may be NULL, into seconds; INFINITY: for ever. False with a fault. */
bool server_ollama_keep(const json_t *value, double *seconds, server_fault *fault);
/* The model that "NAME" or "NAME:latest" means. NULL with a fault. */
server_model *server_ollama_model(server *s, const json_t *name, server_fault *fault);

#endif
