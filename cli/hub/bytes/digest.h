/* SPDX-License-Identifier: MIT */
/* SHA-256 and SHA-1 (FIPS 180-4) of bytes that come in pieces. The hub names large files by the first, and files that
 * git holds by the second: SHA-1 of "blob SIZE", a NUL and the bytes. */
#ifndef VOUCH_CLI_HUB_DIGEST_H
#define VOUCH_CLI_HUB_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HUB_DIGEST_SIZE = 65 }; /* of the text, with its NUL */

typedef struct hub_digest {
    bool is_sha1;
    uint32_t state[8];
    uint64_t n; /* bytes so far */
    uint8_t block[64];
} hub_digest;

hub_digest hub_digest_sha256(void);
/* size: of the whole file. */
hub_digest hub_digest_git(uint64_t size);
void hub_digest_add(hub_digest *d, const void *bytes, size_t n);
/* Lower-case hexadecimal: 64 digits, of git's 40. */
void hub_digest_end(hub_digest *d, char text[HUB_DIGEST_SIZE]);

#endif
