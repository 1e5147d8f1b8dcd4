/* SPDX-License-Identifier: MIT */
#ifndef VOUCH_SERVER_PAGE_H
#define VOUCH_SERVER_PAGE_H

#include "http/http.h"

/* GET / */
void server_page(server_exchange *x);

#endif
