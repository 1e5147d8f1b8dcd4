/* SPDX-License-Identifier: MIT */
#include "bench/dialog.h"

#include <stdlib.h>
#include <string.h>

#include "report/sheet.h"
#include "tool/text.h"

static vouch_status memory_fail(vouch_error *err)
{
    *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory for an answer"};
    return err->code;
}

/* ----------------------------------------------------------------- prompts */

/* The conversation up to turn n - 1, which has no answer yet, through the chat template. */
static vouch_status talk_tokenize(const cli_dialog *dialog, const cli_engine *engine, const cli_question *question,
                                  cli_tokens *out, vouch_error *err)
{
    vouch_message *messages = calloc(2 * dialog->n, sizeof *messages); /* --system, a question and an answer a turn */
    size_t n = 0;
    if (!messages) return memory_fail(err);
    if (engine->options->system) messages[n++] = (vouch_message){"system", engine->options->system};
    for (size_t i = 0; i < dialog->n; i++) {
        messages[n++] = (vouch_message){"user", question->turns[i]};
        if (i + 1 < dialog->n) messages[n++] = (vouch_message){"assistant", dialog->items[i].text};
    }
    const vouch_status status = cli_prompt_tokenize(engine, NULL, messages, n, 0, out, err);
    free(messages);
    return status;
}

/* The same without a template. */
static vouch_status text_tokenize(const cli_dialog *dialog, const cli_engine *engine, const cli_question *question,
                                  cli_tokens *out, vouch_error *err)
{
    cli_sheet sheet;
    if (!cli_sheet_open(&sheet)) return memory_fail(err);
    for (size_t i = 0; i + 1 < dialog->n; i++)
        fprintf(sheet.out, "%s\n\n%s\n\n", question->turns[i], dialog->items[i].text);
    fputs(question->turns[dialog->n - 1], sheet.out);
    char *text = cli_sheet_take(&sheet);
    if (!text) return memory_fail(err);
    const vouch_status status = cli_prompt_tokenize(engine, text, NULL, strlen(text), VOUCH_TOKENIZE_BOS, out, err);
    free(text);
    return status;
}

static vouch_status first_copy(const cli_question *question, cli_tokens *out, vouch_error *err)
{
    const size_t n = question->tokens.n;
    out->items = malloc((n + 1) * sizeof *out->items);
    if (!out->items) return memory_fail(err);
    if (n > 0) memcpy(out->items, question->tokens.items, n * sizeof *out->items);
    out->n = n;
    return VOUCH_OK;
}

vouch_status cli_dialog_ask(cli_dialog *dialog, const cli_engine *engine, const cli_question *question,
                            vouch_error *err)
{
    cli_turn *items = realloc(dialog->items, (dialog->n + 1) * sizeof *items);
    if (!items) return memory_fail(err);
    dialog->items = items;
    items[dialog->n++] = (cli_turn){.text = NULL};
    cli_tokens *prompt = &items[dialog->n - 1].prompt;
    if (dialog->n == 1) return first_copy(question, prompt, err);
    return cli_prompt_is_chat(engine) ? talk_tokenize(dialog, engine, question, prompt, err)
                                      : text_tokenize(dialog, engine, question, prompt, err);
}

static void turn_free(cli_turn *turn)
{
    free(turn->prompt.items);
    free(turn->answered.items);
    free(turn->text);
}

void cli_dialog_drop(cli_dialog *dialog)
{
    turn_free(&dialog->items[--dialog->n]);
}

void cli_dialog_clear(cli_dialog *dialog)
{
    while (dialog->n > 0) cli_dialog_drop(dialog);
    free(dialog->items);
    *dialog = (cli_dialog){NULL, 0};
}

/* ----------------------------------------------------------------- answers */

vouch_status cli_turn_hear(cli_turn *turn, const vouch_step *step, vouch_error *err)
{
    if (step->n_text == 0) return VOUCH_OK;
    char *larger = realloc(turn->text, turn->n_text + step->n_text);
    if (!larger) return memory_fail(err);
    memcpy(larger + turn->n_text, step->text, step->n_text);
    turn->text = larger;
    turn->n_text += step->n_text;
    return VOUCH_OK;
}

/* An answer may end within a character, or hold a NUL, and a message is text that ends at a NUL. */
vouch_status cli_turn_keep(cli_turn *turn, const int32_t *answered, size_t n, vouch_accept accept, vouch_error *err)
{
    size_t n_text;
    char *text = tool_utf8_repair(turn->text ? turn->text : "", turn->n_text, &n_text);
    int32_t *tokens = malloc((n + 1) * sizeof *tokens);
    if (!text || !tokens) {
        free(text);
        free(tokens);
        return memory_fail(err);
    }
    for (size_t i = 0; i < n_text; i++)
        if (text[i] == 0) text[i] = ' ';
    free(turn->text);
    turn->text = text;
    turn->n_text = n_text;
    memcpy(tokens, answered, n * sizeof *tokens);
    turn->answered = (cli_tokens){tokens, n};
    turn->accept = accept;
    return VOUCH_OK;
}
