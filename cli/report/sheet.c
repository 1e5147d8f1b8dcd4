/* SPDX-License-Identifier: MIT */
#include "report/sheet.h"

#include <stdlib.h>

#include "tool/file.h"
#include "tool/term.h"

bool cli_sheet_open(cli_sheet *sheet)
{
    *sheet = (cli_sheet){0};
    sheet->out = open_memstream(&sheet->text, &sheet->n);
    return sheet->out != NULL;
}

/* open_memstream fills text and n when the stream is closed. */
static vouch_status sheet_close(cli_sheet *sheet, vouch_error *err)
{
    const bool failed = ferror(sheet->out) != 0;
    if (fclose(sheet->out) == 0 && !failed) return VOUCH_OK;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
    return err->code;
}

vouch_status cli_sheet_print(cli_sheet *sheet, vouch_error *err)
{
    vouch_status status = sheet_close(sheet, err);
    if (!status) status = tool_print(sheet->text, sheet->n, err);
    free(sheet->text);
    return status;
}

vouch_status cli_sheet_save(cli_sheet *sheet, const char *path, vouch_error *err)
{
    vouch_status status = sheet_close(sheet, err);
    if (!status) status = tool_file_write(path, sheet->text, sheet->n, err);
    free(sheet->text);
    return status;
}

char *cli_sheet_take(cli_sheet *sheet)
{
    vouch_error err;
    if (sheet_close(sheet, &err) == VOUCH_OK) return sheet->text;
    free(sheet->text);
    return NULL;
}

void cli_sheet_drop(cli_sheet *sheet)
{
    fclose(sheet->out);
    free(sheet->text);
}
