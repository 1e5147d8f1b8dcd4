/* SPDX-License-Identifier: MIT */
/*
 * What the configs of a benchmark read for one question: a prompt for each turn of the user. The target alone goes
 * first, and its answers become part of the later prompts, for every config. So all configs read the same tokens, even
 * if a config samples another answer than the target.
 *
 *   prompt 0   user: turn 0
 *   prompt 1   user: turn 0   assistant: the target's answer to prompt 0   user: turn 1
 *   ...
 *
 * Without a chat template, the texts follow each other with an empty line between them.
 */
#ifndef VOUCH_CLI_DIALOG_H
#define VOUCH_CLI_DIALOG_H

#include "model/questions.h"

typedef struct cli_turn {
    cli_tokens prompt, answered; /* answered: the prompt and the target's answer */
    vouch_accept accept;         /* the rule that the answer was drawn with */
    char *text;                  /* [n_text] of the answer, with a NUL after it once it is complete */
    size_t n_text;
} cli_turn;

typedef struct cli_dialog {
    cli_turn *items; /* [n] turns that have begun */
    size_t n;
} cli_dialog;

/* Begins the next turn of the question: makes its prompt. All turns before it have been answered. Errors: MEMORY,
 * UNSUPPORTED. */
vouch_status cli_dialog_ask(cli_dialog *dialog, const cli_engine *engine, const cli_question *question,
                            vouch_error *err);
/* Drops the turn that was begun last. */
void cli_dialog_drop(cli_dialog *dialog);
/* Adds the text of a step to the answer. Errors: MEMORY. */
vouch_status cli_turn_hear(cli_turn *turn, const vouch_step *step, vouch_error *err);
/* Completes the answer: `answered` are n tokens, prompt included. Errors: MEMORY. */
vouch_status cli_turn_keep(cli_turn *turn, const int32_t *answered, size_t n, vouch_accept accept, vouch_error *err);
/* Forgets all turns. */
void cli_dialog_clear(cli_dialog *dialog);

#endif
