/* SPDX-License-Identifier: MIT */
/*
 * The output of `vouch batch`: one JSON line for each prompt, in the order of the prompts. Answers end in another
 * order, so a finished line waits until all lines before it are written. Each line is flushed: a program that is killed
 * loses no line, and at most leaves half of one, which --resume cuts off.
 *
 *   {"id": "81", "line": 1, "key": "9d0c...", "prompt_tokens": 12, "tokens": 128, "finish": "length", "text": "..."}
 *   {"id": "82", "line": 2, "key": "41aa...", "error": "the prompt has 9000 tokens; ..."}
 *
 * The key is a hash of everything that the text depends on: prompt, model and options, and the drafters with their
 * files where the text is sampled by a rule under which it depends on the guesses. A file whose keys differ belongs to
 * another run, and --resume refuses it.
 */
#ifndef VOUCH_CLI_LINES_H
#define VOUCH_CLI_LINES_H

#include "model/questions.h"

typedef struct cli_lines {
    const cli_questions *questions;
    const char *path; /* NULL: standard output */
    FILE *file;
    char **waiting;   /* [questions->n] finished lines that are not written yet */
    uint64_t base;    /* hash of model and options */
    size_t n_written; /* lines in the file: those of questions 0 to n_written - 1 */
    size_t n_failed;  /* lines with an error, those that --resume has found included */
} cli_lines;

/* Opens the file; with --resume reads the lines that it has, and n_written tells how many answers are done. Complains
 * and returns an exit status; cli_lines_close is due in any case. */
int cli_lines_open(cli_lines *lines, const cli_engine *engine, const cli_questions *questions);
/* Finish the line of question i, with an answer or with an error. Complain on failure and return an exit status. */
int cli_lines_answer(cli_lines *lines, size_t i, const char *text, size_t n_text, int32_t n_tokens,
                     vouch_finish finish);
int cli_lines_fail(cli_lines *lines, size_t i, const char *reason);
/* Closes the file. A failed write is complained about. Returns an exit status. */
int cli_lines_close(cli_lines *lines);

#endif
