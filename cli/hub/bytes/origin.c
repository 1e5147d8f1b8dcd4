/* SPDX-License-Identifier: MIT */
#include "hub/bytes/origin.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "os/os.h"

/* Cuts the next line off; NULL: there is no whole line left. */
static char *line_next(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = '\0';
    *text = end + 1;
    return line;
}

static bool is_digest(const char *text)
{
    return strlen(text) == HUB_DIGEST_SIZE - 1 && strspn(text, "0123456789abcdef") == HUB_DIGEST_SIZE - 1;
}

bool hub_origin_read(hub_origin *origin, const char *path)
{
    *origin = (hub_origin){.size = -1};
    char text[HUB_VALIDATOR_SIZE + 32 + HUB_DIGEST_SIZE], *at = text, *end = NULL;
    const int fd = vouch_os_open(path, VOUCH_OS_READ | VOUCH_OS_NO_LINK | VOUCH_OS_NO_WAIT,
                                 0); /* a pipe of this name holds up nobody */
    if (fd < 0) return false;
    const ssize_t n = vouch_os_read(fd, text, sizeof text - 1);
    close(fd);
    if (n < 0) return false;
    text[n] = '\0';
    const char *validator = line_next(&at), *size = validator ? line_next(&at) : NULL,
               *digest = size ? line_next(&at) : NULL;
    if (!digest || *at || !*validator || strlen(validator) >= HUB_VALIDATOR_SIZE) return false;
    const long long bytes = strtoll(size, &end, 10);
    if (end == size || *end || bytes < -1 || (strcmp(digest, "-") != 0 && !is_digest(digest))) return false;
    origin->size = bytes;
    snprintf(origin->validator, sizeof origin->validator, "%s", validator);
    if (*digest != '-') snprintf(origin->digest, sizeof origin->digest, "%s", digest);
    return true;
}

bool hub_origin_write(const hub_origin *origin, const char *path)
{
    if (!*origin->validator) return vouch_os_remove(path) || errno == ENOENT;
    const int fd = vouch_os_open(path, VOUCH_OS_WRITE | VOUCH_OS_CREATE | VOUCH_OS_EMPTY | VOUCH_OS_NO_LINK, 0644);
    if (fd < 0) return false;
    char text[HUB_VALIDATOR_SIZE + 32 + HUB_DIGEST_SIZE];
    const char *digest = *origin->digest ? origin->digest : "-";
    const int n = snprintf(text, sizeof text, "%s\n%lld\n%s\n", origin->validator, (long long)origin->size, digest);
    const bool ok = vouch_os_write(fd, text, (size_t)n) == n &&
                    vouch_os_file_sync(fd); /* before the first bytes, also where the machine stops */
    const int error = errno;
    close(fd);
    errno = error;
    return ok;
}

void hub_validator_choose(char validator[HUB_VALIDATOR_SIZE], const char *tag, const char *modified, const char *date)
{
    const char *chosen = "";
    const time_t changed = *modified ? curl_getdate(modified, NULL) : -1, now = *date ? curl_getdate(date, NULL) : -1;
    if (*tag) chosen = *tag == '"' ? tag : ""; /* W/"..." is weak */
    else if (changed >= 0 && now > changed) chosen = modified;
    snprintf(validator, HUB_VALIDATOR_SIZE, "%s", chosen);
}

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool hub_digest_of_header(char digest[HUB_DIGEST_SIZE], const char *value)
{
    enum { N_BYTES = 32, N_DIGITS = 43 }; /* and a '=' */
    static const char name[] = "sha-256=";
    while (*value && strncasecmp(value, name, sizeof name - 1) != 0) value++;
    if (!*value) return false;
    value += sizeof name - 1;
    value += *value == ':';
    uint32_t bits = 0;
    int n_bits = 0, n_bytes = 0;
    char text[HUB_DIGEST_SIZE];
    for (int i = 0; i < N_DIGITS; i++) {
        const int digit = base64_value(value[i]);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        n_bits += 6;
        if (n_bits < 8) continue;
        n_bits -= 8;
        snprintf(text + 2 * (size_t)n_bytes++, 3, "%02x", bits >> n_bits & 255);
    }
    if (n_bytes != N_BYTES || value[N_DIGITS] != '=') return false;
    memcpy(digest, text, sizeof text);
    return true;
}
