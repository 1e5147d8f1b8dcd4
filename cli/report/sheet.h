/* SPDX-License-Identifier: MIT */
/*
 * A report that is composed in memory, so that it is delivered whole or not at all. Write to `out`; the stream
 * remembers a failed write, and the call that ends the sheet reports it.
 */
#ifndef VOUCH_CLI_SHEET_H
#define VOUCH_CLI_SHEET_H

#include <stdio.h>

#include "os/os.h"
#include "vouch.h"

typedef struct cli_sheet {
    FILE *out;
    vouch_os_stream stream;
} cli_sheet;

/* False: not enough memory. */
bool cli_sheet_open(cli_sheet *sheet);
/* Each of these ends the sheet. Errors: MEMORY, IO. */
vouch_status cli_sheet_print(cli_sheet *sheet, vouch_error *err); /* to standard output */
/* To `out`, which is standard output or standard errors; on a terminal lines break between words. */
vouch_status cli_sheet_show(cli_sheet *sheet, FILE *out, vouch_error *err);
vouch_status cli_sheet_save(cli_sheet *sheet, const char *path, vouch_error *err);
char *cli_sheet_take(cli_sheet *sheet); /* the text, the caller's to free(); NULL when memory is short */
void cli_sheet_drop(cli_sheet *sheet);

#endif
