/* SPDX-License-Identifier: MIT */
/*
 * The prompts of a file, as benchmarks publish them:
 *
 *   {"question_id": 81, "category": "writing", "turns": ["...", "..."]}         Spec-Bench, SPEED-Bench, MT-Bench
 *   {"question_id": "9f...", "category": "math", "messages": [{"role": "user", "content": "..."}, ...]}
 *                                                          SPEED-Bench as its scripts prepare it: a message is a turn
 *   {"task_id": "HumanEval/0", "prompt": "..."}   {"question": "..."}           the file's name is the category
 *   anything else                                                               a prompt a line
 *
 * "id" may stand for "question_id" and "task_id". Without any of them the id is the number of the line. Other members,
 * such as "sub_category" and "source", are not read.
 * A file is JSON lines if its name ends in .jsonl or its first line that isn't blank begins with "{". A line that can't
 * be a prompt is left out with a complaint that names the file, the line, the field, and what is expected there.
 */
#ifndef VOUCH_CLI_QUESTIONS_H
#define VOUCH_CLI_QUESTIONS_H

#include "model/prompt.h"

typedef struct cli_question {
    char *id, *category; /* UTF-8 */
    char **turns;        /* [n_turns] the user's texts, UTF-8; that of a plain line may hold any bytes */
    size_t n_turns;
    cli_tokens tokens; /* the first turn as a prompt */
    int32_t line;      /* counted from 1 */
} cli_question;

typedef struct cli_bad_line {
    int32_t line;
    char reason[200];
} cli_bad_line;

typedef struct cli_questions {
    const char *flag, *path; /* the flag that names the file, and the file: for complaints */
    cli_question *items;
    size_t n;
    cli_bad_line *bad;
    size_t n_bad;
    char **categories; /* [n_categories] in order of appearance */
    size_t n_categories;
} cli_questions;

/* Reads the file options->prompts, which a flag such as "prompts" has named, keeps the prompts that --category and
 * --each ask for, and tokenizes them. Complains about bad lines and failures, and returns an exit status;
 * cli_questions_free is due in any case. */
int cli_questions_read(cli_questions *questions, const cli_engine *engine, const char *flag);
/* Leaves out prompts that, with an answer of n_answer tokens, don't fit into n_ctx. Fails if no prompt is left; the
 * complaint names the remedy. */
int cli_questions_fit(cli_questions *questions, int64_t n_ctx, int64_t n_answer, const char *remedy);
/* The index of its category. */
size_t cli_question_category(const cli_questions *questions, const cli_question *question);
void cli_questions_free(cli_questions *questions);

#endif
