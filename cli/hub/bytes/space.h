/* SPDX-License-Identifier: MIT */
/* Bytes, and the room for them on a disk. */
#ifndef VOUCH_CLI_HUB_SPACE_H
#define VOUCH_CLI_HUB_SPACE_H

#include <stdint.h>

#include "vouch.h"

/* "2.4 GB" */
void hub_size_write(char text[16], int64_t bytes);

/* Is there room for the bytes in the file system of a folder that exists or will? variable: of the environment, which
 * puts the folder elsewhere. Errors: IO, with what is needed and what is left. */
vouch_status hub_space_check(const char *folder, int64_t bytes, const char *what, const char *variable,
                             vouch_error *err);

#endif
