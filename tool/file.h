/* SPDX-License-Identifier: MIT */
/*
 * Whole files. "-" reads standard input.
 *
 * Writing a regular file is all or nothing: the new content is written beside the file and renamed when it is complete.
 * Three kinds of output can't be renamed:
 *
 *   a device or a pipe                                  bytes go to its end
 *   an open descriptor (/dev/stdout, /dev/fd/3)         bytes go to its offset
 *   a file mounted by itself, or a file in a folder     the file is truncated and written in place, so that a
 *   in which nothing can be created                     full disk leaves it incomplete
 */
#ifndef VOUCH_TOOL_FILE_H
#define VOUCH_TOOL_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "vouch.h"

/* Reads *n bytes and adds a NUL after them. The caller frees *bytes. Errors, which name the path: IO, MEMORY. */
vouch_status tool_file_read(const char *path, char **bytes, size_t *n, vouch_error *err);

/* Drops the byte-order mark of UTF-8, which some editors write first. */
void tool_file_drop_mark(char *bytes, size_t *n);
/* Does the text begin with the mark of UTF-16, which Windows' older shells write? */
bool tool_file_is_utf16(const char *bytes, size_t n);

/* Would a file written to `a` be the file `b`? Neither need exist yet. */
bool tool_file_is_same(const char *a, const char *b);
/* Fails where a later write would certainly fail, so that a long run finds out before it starts. Errors: IO. */
vouch_status tool_file_check(const char *path, vouch_error *err);
/* The same, and fails where a regular file is there already. */
vouch_status tool_file_check_new(const char *path, vouch_error *err);
/* On failure a regular file keeps its old content, except for one written in place (above). Errors: IO. */
vouch_status tool_file_write(const char *path, const char *bytes, size_t n, vouch_error *err);
/* The same with a JSON text. Errors: IO, MEMORY (also where value is NULL, which jansson returns when memory is
 * short). */
vouch_status tool_file_write_json(const char *path, const json_t *value, vouch_error *err);

#endif
