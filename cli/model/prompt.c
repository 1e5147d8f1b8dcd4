/* SPDX-License-Identifier: MIT */
#include "model/prompt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/file.h"
#include "tool/text.h"

static vouch_status prompt_fail(vouch_error *err, vouch_status code, const char *message)
{
    err->code = code;
    snprintf(err->message, sizeof err->message, "%s", message);
    return code;
}

/* Does standard input bring a text to add? A terminal, a device such as /dev/null and a socket don't. A pipe into which
 * nobody writes would keep the command waiting in silence, so after a second a note says that it waits. */
static bool input_is_text(void)
{
    vouch_os_info info;
    if (!vouch_os_info_of_open(STDIN_FILENO, &info)) return false;
    if (info.kind == VOUCH_OS_PIPE && !vouch_os_input_wait(1000))
        tool_note("waiting for standard input, which is added to --prompt; </dev/null leaves it out");
    return info.kind == VOUCH_OS_FILE || info.kind == VOUCH_OS_PIPE;
}

/* Replaces second by first, an empty line and second. An empty part is left out, and so is the line. */
static bool text_join(const char *first, char **second, size_t *n)
{
    static const char between[] = "\n\n";
    const size_t n_first = strlen(first), n_between = n_first > 0 && *n > 0 ? strlen(between) : 0;
    char *text = malloc(n_first + n_between + *n + 1);
    if (!text) return false;
    memcpy(text, first, n_first);
    memcpy(text + n_first, between, n_between);
    if (*n > 0) memcpy(text + n_first + n_between, *second, *n);
    free(*second);
    *second = text;
    *n += n_first + n_between;
    text[*n] = 0;
    return true;
}

/* Drops the line end that echo and editors put after a text. */
static void line_end_drop(char *text, size_t *n)
{
    if (*n > 0 && text[*n - 1] == '\n') text[--*n] = 0;
    if (*n > 0 && text[*n - 1] == '\r') text[--*n] = 0;
}

int cli_prompt_read(const cli_options *options, char **text, size_t *n)
{
    const bool adds_input = options->prompt_adds_input && input_is_text();
    const char *path = options->prompt_file ? options->prompt_file : !options->prompt || adds_input ? "-" : NULL;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory for the prompt"};
    *text = NULL;
    *n = 0;
    if (path && tool_file_read(path, text, n, &err))
        return cli_flag_refuse(options->prompt_file ? "prompt-file" : NULL, &err);
    if (path && !options->raw) tool_file_drop_mark(*text, n);
    const bool is_input = path && strcmp(path, "-") == 0;
    if (is_input && options->command & CLI_RUN) line_end_drop(*text, n);
    return !options->prompt || text_join(options->prompt, text, n) ? CLI_DONE : cli_engine_fail(&err);
}

bool cli_prompt_is_chat(const cli_engine *engine)
{
    const char *asked = engine->options->chat_template;
    if (asked && strcmp(asked, "none") == 0) return false;
    return strcmp(vouch_model_get_info(engine->model)->chat_template, "none") != 0;
}

vouch_status cli_prompt_check_template(const cli_engine *engine, vouch_error *err)
{
    if (!cli_prompt_is_chat(engine)) return VOUCH_OK;
    if (strcmp(vouch_model_get_info(engine->model)->chat_template, "unsupported") != 0) return VOUCH_OK;
    err->code = VOUCH_E_UNSUPPORTED;
    snprintf(err->message, sizeof err->message,
             "%.200s: %.160s; --raw goes on with the text as it is, --chat-template takes a name%s%.20s or a file",
             engine->options->model, vouch_model_get_info(engine->model)->chat_template_problem,
             *vouch_model_get_info(engine->model)->chat_template_fitting ? " such as " : "",
             vouch_model_get_info(engine->model)->chat_template_fitting);
    return err->code;
}

vouch_status cli_prompt_tokenize(const cli_engine *engine, const char *text, const vouch_message *messages, size_t n,
                                 unsigned flags, cli_tokens *out, vouch_error *err)
{
    int32_t *items = NULL;
    size_t count = 0;
    for (int filling = 0; filling < 2; filling++) {
        const size_t room = filling ? count + 1 : 0;
        if (filling) items = malloc(room * sizeof *items);
        if (filling && !items) return prompt_fail(err, VOUCH_E_MEMORY, "not enough memory for the prompt's tokens");
        const vouch_status status = messages ? vouch_tokenize_chat(engine->model, messages, n, items, room, &count, err)
                                             : vouch_tokenize(engine->model, text, n, flags, items, room, &count, err);
        if (!status || (status == VOUCH_E_BUFFER && !filling)) continue;
        free(items);
        const bool has_tokenizer = strcmp(vouch_model_get_info(engine->model)->tokenizer, "none") != 0;
        if (status != VOUCH_E_UNSUPPORTED || has_tokenizer) return status;
        snprintf(err->message, sizeof err->message,
                 "%.300s: the file has no tokenizer, so the model reads no text: use a file with tokenizer.ggml keys. "
                 "`vouch check`, and `vouch bench` without prompts, need no tokenizer",
                 engine->options->model);
        return status;
    }
    *out = (cli_tokens){items, count};
    return VOUCH_OK;
}

const char *cli_template_advice(const cli_engine *engine, char text[CLI_ADVICE_SIZE])
{
    const char *fitting = vouch_model_get_info(engine->model)->chat_template_fitting;
    if (*fitting) snprintf(text, CLI_ADVICE_SIZE, "its tokens fit --chat-template %s", fitting);
    else snprintf(text, CLI_ADVICE_SIZE, "--chat-template list prints the names of templates");
    return text;
}

bool cli_prompt_check_system(const cli_engine *engine)
{
    if (!engine->options->system || cli_prompt_is_chat(engine)) return true;
    char advice[CLI_ADVICE_SIZE];
    tool_complain("--system needs a chat template, but this model has none: %s", cli_template_advice(engine, advice));
    return false;
}

vouch_status cli_prompt_tokenize_question(const cli_engine *engine, const char *text, size_t n, cli_tokens *out,
                                          vouch_error *err)
{
    const char *system = engine->options->system;
    const vouch_message messages[] = {{"system", system}, {"user", text}};
    const size_t skip = system == NULL;
    const vouch_status status = cli_prompt_check_template(engine, err);
    if (status) return status;
    if (!cli_prompt_is_chat(engine)) return cli_prompt_tokenize(engine, text, NULL, n, VOUCH_TOKENIZE_BOS, out, err);
    return cli_prompt_tokenize(engine, NULL, messages + skip, 2 - skip, 0, out, err);
}

void cli_tokens_write(FILE *out, const vouch_model *model, const cli_tokens *tokens, bool ids)
{
    for (size_t i = 0; i < tokens->n && !ferror(out); i++) {
        if (ids) {
            fprintf(out, "%s%d", i ? " " : "", tokens->items[i]);
            continue;
        }
        size_t n = 0;
        const char *bytes = vouch_token_bytes(model, tokens->items[i], &n);
        fprintf(out, "%d\t", tokens->items[i]);
        if (bytes) tool_put_escaped(out, bytes, n, 0);
        fputc('\n', out);
    }
    if (ids) fputc('\n', out);
}
