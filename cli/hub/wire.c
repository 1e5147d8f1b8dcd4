/* SPDX-License-Identifier: MIT */
#include "hub/wire.h"

#include <stdlib.h>
#include <string.h>

vouch_status hub_wire_open(CURL **out, vouch_error *err)
{
    *out = curl_global_init(CURL_GLOBAL_DEFAULT) ? NULL : curl_easy_init();
    if (*out) return VOUCH_OK;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory to begin a request"};
    return err->code;
}

void hub_wire_begin(CURL *curl, const char *address, long timeout, const char *certificates)
{
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, address);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "vouch/" VOUCH_VERSION);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, timeout);
    if (*certificates) curl_easy_setopt(curl, CURLOPT_CAINFO, certificates);
}

bool hub_body_add(hub_body *body, const char *bytes, size_t n)
{
    if (body->n + n >= body->capacity) {
        const size_t capacity = 2 * (body->n + n) + 4096;
        char *larger = realloc(body->bytes, capacity);
        if (!larger) return false;
        body->bytes = larger;
        body->capacity = capacity;
    }
    memcpy(body->bytes + body->n, bytes, n);
    body->n += n;
    body->bytes[body->n] = '\0';
    return true;
}
