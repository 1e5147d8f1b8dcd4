/* SPDX-License-Identifier: MIT */
/*
 * Whole files. Reading takes "-" for standard input. Writing is all or nothing: the new content appears
 * under its name when it is complete (written beside it, renamed), except where the name is no regular
 * file (a device, a pipe), which is written to at its end, or one of an open descriptor (/dev/stdout, /dev/fd/3),
 * which is written to where it is.
 */
#ifndef VOUCH_CLI_FILE_H
#define VOUCH_CLI_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "vouch.h"

/* *bytes, *n of them and a NUL after, is the caller's to free(). Errors: IO, MEMORY; name the path. */
vouch_status cli_file_read(const char *path, char **bytes, size_t *n, vouch_error *err);

/* Is what would be written to a the file of b, whether it is there yet or not? */
bool cli_file_is_same(const char *a, const char *b);
/* Fails where a later write certainly would: better before a long run than after it. Errors: IO. */
vouch_status cli_file_check(const char *path, vouch_error *err);
/* On failure the old content, if any, is still there. Errors: IO, MEMORY. */
vouch_status cli_file_write(const char *path, const char *bytes, size_t n, vouch_error *err);
/* The same with a JSON text. NULL, which jansson gives where memory is short, is MEMORY. */
vouch_status cli_file_write_json(const char *path, const json_t *value, vouch_error *err);

#endif
