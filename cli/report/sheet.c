/* SPDX-License-Identifier: MIT */
#include "report/sheet.h"

#include <stdlib.h>

#include "tool/file.h"
#include "tool/term.h"
#include "tool/wrap.h"

bool cli_sheet_open(cli_sheet *sheet)
{
    sheet->out = vouch_os_stream_open(&sheet->stream);
    return sheet->out != NULL;
}

static vouch_status sheet_close(cli_sheet *sheet, char **text, size_t *n, vouch_error *err)
{
    if (vouch_os_stream_close(&sheet->stream, text, n)) return VOUCH_OK;
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
    return err->code;
}

vouch_status cli_sheet_print(cli_sheet *sheet, vouch_error *err)
{
    char *text;
    size_t n;
    vouch_status status = sheet_close(sheet, &text, &n, err);
    if (!status) status = tool_print(text, n, err);
    free(text);
    return status;
}

vouch_status cli_sheet_show(cli_sheet *sheet, FILE *out, vouch_error *err)
{
    char *text;
    size_t n;
    const vouch_status status = sheet_close(sheet, &text, &n, err);
    if (!status) tool_put_words(out, text, tool_terminal_width(fileno(out)));
    free(text);
    return status;
}

vouch_status cli_sheet_save(cli_sheet *sheet, const char *path, vouch_error *err)
{
    char *text;
    size_t n;
    vouch_status status = sheet_close(sheet, &text, &n, err);
    if (!status) status = tool_file_write(path, text, n, err);
    free(text);
    return status;
}

char *cli_sheet_take(cli_sheet *sheet)
{
    vouch_error ignored;
    char *text;
    size_t n;
    (void)sheet_close(sheet, &text, &n, &ignored);
    return text;
}

void cli_sheet_drop(cli_sheet *sheet)
{
    free(cli_sheet_take(sheet));
}
