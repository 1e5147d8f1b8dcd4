/* SPDX-License-Identifier: MIT */
#include "run/chat/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/term.h"

enum { TERMINAL_LINE = 4095 }; /* Linux cuts a longer line of a terminal to so many bytes, silently */

void cli_input_open(cli_input *input, cli_editor_words *complete)
{
    *input = (cli_input){.is_person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO)};
    if (input->is_person) input->editor = cli_editor_open(complete);
}

/* Reads a line with getline. Ctrl-C clears the line, also after part of it was read. */
static cli_input_end line_read(cli_input *input)
{
    if (input->is_person) fputs("> ", stderr);
    errno = 0;
    const ssize_t got = getline(&input->text, &input->capacity, stdin);
    if ((got < 0 || tool_interrupted()) && input->is_person) fputs("\n", stderr);
    if (tool_interrupted()) {
        clearerr(stdin);
        return CLI_INPUT_CANCELLED;
    }
    if (got < 0 && !ferror(stdin)) return CLI_INPUT_OVER;
    if (got < 0) {
        tool_complain("standard input: %s", strerror(errno));
        return CLI_INPUT_FAILED;
    }
    input->n = (size_t)got;
    while (input->n > 0 && strchr("\r\n", input->text[input->n - 1])) input->text[--input->n] = 0;
    if (got < TERMINAL_LINE || !isatty(STDIN_FILENO)) return CLI_INPUT_MESSAGE;
    tool_complain("the line has %d bytes or more, and the terminal cuts longer lines: put the text into a file and use "
                  "--prompt-file, or set TERM to the name of your terminal to get the line editor",
                  TERMINAL_LINE);
    return CLI_INPUT_REFUSED;
}

cli_input_end cli_input_read(cli_input *input)
{
    tool_interrupt_set(TOOL_INTERRUPT_READS);
    if (!input->editor) return line_read(input);
    free(input->text);
    input->text = NULL;
    const cli_editor_end end = cli_editor_read(input->editor, &input->text, &input->n);
    if (end == CLI_EDITOR_MEMORY) tool_complain("not enough memory for the message");
    return end == CLI_EDITOR_MESSAGE     ? CLI_INPUT_MESSAGE
           : end == CLI_EDITOR_CANCELLED ? CLI_INPUT_CANCELLED
           : end == CLI_EDITOR_MEMORY    ? CLI_INPUT_REFUSED
                                         : CLI_INPUT_OVER;
}

void cli_input_close(cli_input *input)
{
    cli_editor_close(input->editor);
    free(input->text);
}
