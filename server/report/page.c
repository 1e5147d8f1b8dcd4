/* SPDX-License-Identifier: MIT */
/* The page at /: page.html as it is. */
#include "report/page.h"

static const unsigned char page[] = {
#include "page.inc"
};

void server_page(server_exchange *x)
{
    server_reply_text(x, 200, "text/html; charset=utf-8", (const char *)page, sizeof page);
}
