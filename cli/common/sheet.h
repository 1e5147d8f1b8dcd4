/* SPDX-License-Identifier: MIT */
/*
 * A text that is written in memory first, so that it leaves whole or not at all. fprintf to `out`; a failure
 * there is remembered and reported at the end.
 */
#ifndef VOUCH_CLI_SHEET_H
#define VOUCH_CLI_SHEET_H

#include <stdio.h>

#include "vouch.h"

typedef struct cli_sheet {
    FILE *out;
    char *text;
    size_t n;
} cli_sheet;

/* False: not enough memory. */
bool cli_sheet_open(cli_sheet *sheet);
/* All end it. Errors: MEMORY, IO. */
vouch_status cli_sheet_print(cli_sheet *sheet, vouch_error *err); /* to standard output */
vouch_status cli_sheet_save(cli_sheet *sheet, const char *path, vouch_error *err);
void cli_sheet_drop(cli_sheet *sheet);

#endif
