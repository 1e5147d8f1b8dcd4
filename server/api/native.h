/* SPDX-License-Identifier: MIT */
/* The paths of llama.cpp's server: texts and tokens, and its own kind of completion. */
#ifndef VOUCH_SERVER_NATIVE_H
#define VOUCH_SERVER_NATIVE_H

#include "http/http.h"

void server_tokenize(server_exchange *x);
void server_detokenize(server_exchange *x);
void server_apply_template(server_exchange *x);
void server_native_completion(server_exchange *x);
void server_native_infill(server_exchange *x);

#endif
