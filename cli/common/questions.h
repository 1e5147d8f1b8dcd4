/* SPDX-License-Identifier: MIT */
/*
 * The prompts of a file, as benchmarks publish them:
 *
 *   {"question_id": 81, "category": "writing", "turns": ["...", "..."]}    the first turn
 *   {"task_id": "HumanEval/0", "prompt": "..."}   {"question": "..."}      the file's name is the category
 *   anything else                                                          a prompt a line
 *
 * JSON is taken for granted where the name ends in .jsonl or the first line that isn't blank begins with "{". A
 * line that can't be a prompt is named by its number, and the others stand.
 */
#ifndef VOUCH_CLI_QUESTIONS_H
#define VOUCH_CLI_QUESTIONS_H

#include "common/prompt.h"

typedef struct cli_question {
    char *id, *category, *text; /* well-formed UTF-8, but for the text of a plain line */
    cli_tokens tokens;
    int32_t line; /* from 1 on */
} cli_question;

typedef struct cli_bad_line {
    int32_t line;
    char reason[160];
} cli_bad_line;

typedef struct cli_questions {
    cli_question *items;
    size_t n;
    cli_bad_line *bad;
    size_t n_bad;
    char **categories; /* [n_categories] in order of appearance */
    size_t n_categories;
} cli_questions;

/* Reads the file of --prompts, keeps those that --category and --each want, and tokenizes them. Bad lines have been
 * complained about. Returns an exit status; a failure has been complained about, and cli_questions_free is due in any
 * case. */
int cli_questions_read(cli_questions *questions, const cli_engine *engine);
/* Takes out those that leave no room for n_answer tokens in n_ctx: bad lines, too. The remedy is named where that
 * leaves none, a failure. */
int cli_questions_fit(cli_questions *questions, int64_t n_ctx, int64_t n_answer, const char *remedy);
/* The number of its category. */
size_t cli_question_category(const cli_questions *questions, const cli_question *question);
void cli_questions_free(cli_questions *questions);

#endif
