/* SPDX-License-Identifier: MIT */
/*
 * Which file of a server a download began with. Where no digest of the file is known beforehand, this is kept beside
 * the partial file, so that a later run can ask for the rest of the same file (RFC 9110, section 13.1.5, If-Range).
 *
 * The text has three lines: validator, size, digest. It is written while the partial file is empty and removed before
 * that is emptied, so a text that is there belongs to the bytes that are there.
 */
#ifndef VOUCH_CLI_HUB_ORIGIN_H
#define VOUCH_CLI_HUB_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "hub/bytes/digest.h"

enum { HUB_VALIDATOR_SIZE = 256 };

typedef struct hub_origin {
    char validator[HUB_VALIDATOR_SIZE]; /* a strong entity tag, or the date of the last change; "": the server gave none
                                           that tells its files apart */
    int64_t size;                       /* bytes; -1: not known */
    char digest[HUB_DIGEST_SIZE];       /* SHA-256; "": not known */
} hub_origin;

/* False: there is no text, or it is damaged, or its server gave no validator. *origin is then one that says nothing. */
bool hub_origin_read(hub_origin *origin, const char *path);
/* Removes the text instead where there is no validator. False: errno says why. */
bool hub_origin_write(const hub_origin *origin, const char *path);

/* Chooses a validator from the headers ETag, Last-Modified and Date of one answer; "" is an absent header. A weak tag
 * is none, and so is a date that isn't at least a second older than the answer (RFC 9110, section 8.8.2.2). */
void hub_validator_choose(char validator[HUB_VALIDATOR_SIZE], const char *tag, const char *modified, const char *date);

/* The SHA-256 in a header Repr-Digest (RFC 9530) or Digest (RFC 3230), as hexadecimal digits. False: it names none. */
bool hub_digest_of_header(char digest[HUB_DIGEST_SIZE], const char *value);

#endif
