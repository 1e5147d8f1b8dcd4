/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_SERVER_OPENAPI_H
#define VOUCH_SERVER_OPENAPI_H

#include "http/http.h"

/* GET /openapi.json: the paths of the server, and the fields of their requests, as an OpenAPI document. */
void server_show_openapi(server_exchange *x);

#endif
