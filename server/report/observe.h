/* SPDX-License-Identifier: MIT */
/* The server's reports about itself, and its switches. */
#ifndef VOUCH_SERVER_OBSERVE_H
#define VOUCH_SERVER_OBSERVE_H

#include "http/http.h"

/* Replies {"data": [...]}, with what `describe` says of each model. */
void server_reply_models(server_exchange *x, json_t *(*describe)(server_model *m));

void server_show_metrics(server_exchange *x);     /* GET /metrics */
void server_show_version(server_exchange *x);     /* GET /version */
void server_show_tokenizer(server_exchange *x);   /* GET /tokenizer_info */
void server_show_props(server_exchange *x);       /* GET /props */
void server_show_memory(server_exchange *x);      /* GET /admin/draft-memory */
void server_clear_memory(server_exchange *x);     /* POST /admin/draft-memory/clear */
void server_show_prompts(server_exchange *x);     /* GET /admin/prompt-cache */
void server_clear_prompts(server_exchange *x);    /* POST /admin/prompt-cache/clear */
void server_show_speculation(server_exchange *x); /* GET /admin/speculation */
void server_set_speculation(server_exchange *x);  /* POST /admin/speculation */

#endif
