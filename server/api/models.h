/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_SERVER_MODELS_H
#define VOUCH_SERVER_MODELS_H

#include "http/http.h"

void server_list_models(server_exchange *x);  /* GET /v1/models */
void server_show_model(server_exchange *x);   /* GET /v1/models/{model} */
void server_load_model(server_exchange *x);   /* POST /models/load; it returns at once */
void server_unload_model(server_exchange *x); /* POST /models/unload; the model goes when its answers are over */

#endif
