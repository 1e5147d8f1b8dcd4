/* SPDX-License-Identifier: MIT */
/* vouch run: answers one prompt, or starts a conversation. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "os/os.h"
#include "tool/file.h"
#include "options/recommended.h"
#include "run/run.h"
#include "run/sources.h"
#include "run/stats.h"

/* `more`: text that follows "the prompt is empty" in the complaint, or "". */
static int empty_fail(const cli_options *options, const char *more)
{
    const char *path = options->prompt_file;
    if (path && strcmp(path, "-") != 0)
        tool_complain("--prompt-file %s: the prompt is empty%s; expected a text", path, more);
    else tool_complain("the prompt is empty%s; write --prompt TEXT", more);
    return CLI_WRONG_USAGE;
}

/* An empty text without a template begins with the model's BOS token, also where the file doesn't ask for one before
 * other texts: a model needs a token to go on from. False: the file has none, or memory is short. */
static bool begin_empty(const cli_engine *engine, cli_tokens *out)
{
    const int32_t bos = vouch_model_get_info(engine->model)->token_bos;
    if (bos < 0) return false;
    free(out->items);
    out->items = malloc(sizeof *out->items);
    out->n = out->items != NULL;
    if (out->items) *out->items = bos;
    return out->n > 0;
}

/* Tokenizes the prompt for the text between this one and that of --suffix. Nothing is cut. */
static int infill_tokens(const cli_engine *engine, const char *text, size_t n, cli_tokens *out)
{
    const cli_options *options = engine->options;
    vouch_infill infill = {.prefix = text, .n_prefix = n};
    vouch_error err;
    char *bytes = NULL;
    if (options->suffix_file) {
        if (tool_file_read(options->suffix_file, &bytes, &infill.n_suffix, &err))
            return cli_flag_refuse("suffix-file", &err);
        infill.suffix = bytes;
    } else {
        infill.suffix = options->suffix;
        infill.n_suffix = strlen(options->suffix);
    }
    *out = (cli_tokens){NULL, 0};
    vouch_status status = vouch_tokenize_infill(engine->model, &infill, NULL, 0, &out->n, &err);
    if (status == VOUCH_E_BUFFER && (out->items = malloc(out->n * sizeof *out->items)))
        status = vouch_tokenize_infill(engine->model, &infill, out->items, out->n, &out->n, &err);
    free(bytes);
    return status ? cli_flag_fail(options->suffix_file ? "suffix-file" : "suffix", &err) : CLI_DONE;
}

/* Tokenizes a single prompt. Prints its own complaint; returns an exit status. */
static int prompt_tokens(const cli_engine *engine, const char *text, size_t n, cli_tokens *out)
{
    const cli_options *options = engine->options;
    const bool chat = cli_prompt_is_chat(engine);
    vouch_error err;
    if (options->suffix || options->suffix_file) return infill_tokens(engine, text, n, out);
    if (!cli_prompt_check_system(engine)) return CLI_WRONG_USAGE;
    if (chat && n == 0) return empty_fail(options, "");
    const char *nul = chat ? memchr(text, 0, n) : NULL;
    if (nul && tool_file_is_utf16(text, n)) {
        tool_complain("the prompt is in UTF-16; save it as UTF-8");
        return CLI_FAILED;
    }
    if (nul) {
        tool_complain("the prompt has a NUL byte at offset %zu; remove it, or write --raw, which takes any bytes",
                      (size_t)(nul - text));
        return CLI_FAILED;
    }
    if (cli_prompt_tokenize_question(engine, text, n, out, &err)) return cli_engine_fail(&err);
    const bool is_asked = options->prompt || options->prompt_file;
    if (out->n > 0 || (is_asked && begin_empty(engine, out))) return CLI_DONE;
    free(out->items);
    return empty_fail(options, is_asked ? ", and the model's file has no BOS token to begin with" : "");
}

/* Ends the answer with one line end, whether a person or a program reads it. */
static vouch_status line_end(const cli_reply *reply, vouch_error *err)
{
    if (reply->n_text == 0 || reply->text[reply->n_text - 1] == '\n') return VOUCH_OK;
    return tool_print("\n", 1, err);
}

/* Tells a person which limit ended the answer, and the seed that vouch drew for it. */
static void finish_tell(const cli_options *options, vouch_finish finish)
{
    if (!isatty(STDERR_FILENO)) return;
    if (finish == VOUCH_FINISH_LENGTH)
        tool_note("stopped after --max-tokens %d; 0 sets no limit", options->session.max_tokens);
    else if (finish == VOUCH_FINISH_CONTEXT) tool_note("stopped at the end of the context; --ctx N sets a longer one");
    if (options->seed_is_drawn && !options->stats)
        tool_note("the seed of this answer was %llu; --seed sets it",
                  (unsigned long long)options->session.sampling.seed);
}

/* Answers one prompt. */
static int run_once(cli_engine *engine, const char *text, size_t n, cli_reply *reply)
{
    cli_tokens prompt;
    vouch_error err;
    int exit_status = prompt_tokens(engine, text, n, &prompt);
    if (exit_status) return exit_status;
    vouch_status status = cli_answer(engine, &prompt, reply, &err);
    free(prompt.items);
    vouch_error unwritten;
    if (status != VOUCH_E_IO && line_end(reply, &unwritten) && !status) {
        err = unwritten;
        status = err.code;
    }
    if (status == VOUCH_E_CONTEXT) tool_complain("%s: --ctx N sets the context", err.message);
    else if (status) cli_engine_fail(&err);
    if (status) return CLI_FAILED;
    if (reply->interrupted) tool_complain("interrupted");
    else finish_tell(engine->options, reply->finish);
    exit_status = cli_stats_report(engine, reply);
    return reply->interrupted ? CLI_FAILED : exit_status;
}

/* --show-prompt: the text with the names of special tokens, an empty line, and the tokens one a line. */
static int prompt_show(const cli_options *options, const char *text, size_t n)
{
    cli_engine engine = {0};
    cli_tokens prompt = {NULL, 0};
    int status = cli_engine_open_text(&engine, options);
    if (!status) status = prompt_tokens(&engine, text, n, &prompt);
    for (size_t i = 0; i < prompt.n; i++) {
        size_t n_bytes = 0;
        const char *bytes = vouch_token_bytes(engine.model, prompt.items[i], &n_bytes);
        if (bytes) fwrite(bytes, 1, n_bytes, stdout);
    }
    if (!status) fputs("\n\n", stdout);
    if (!status) cli_tokens_write(stdout, engine.model, &prompt, false);
    free(prompt.items);
    cli_engine_close(&engine);
    return status;
}

static int run_conversation(cli_engine *engine, cli_options *options, cli_reply *reply)
{
    vouch_error err;
    if (cli_prompt_check_template(engine, &err)) return cli_engine_fail(&err);
    if (!cli_prompt_is_chat(engine)) {
        char advice[CLI_ADVICE_SIZE];
        tool_complain("this model has no chat template, which a conversation needs: %s; or write --raw --prompt TEXT, "
                      "and the model goes on with the text",
                      cli_template_advice(engine, advice));
        return CLI_WRONG_USAGE;
    }
    const int status = cli_chat(engine, options, reply);
    return cli_first_failure(status, cli_stats_report(engine, reply));
}

/* Opens models and session. */
static int run_open(cli_engine *engine, cli_options *options)
{
    const int status = cli_engine_open(engine, options);
    if (status) return status;
    cli_sampling_take(options, engine->model);
    if (options->session.speculation.lenience < 1 && options->session.sampling.temperature > 0)
        tool_note(
            "lossy: with --lenience %g the text no longer has exactly the target's distribution (no token becomes "
            "more than 1 / %g times as likely)",
            options->session.speculation.lenience, options->session.speculation.lenience);
    return cli_engine_start(engine, &options->session);
}

bool cli_run_check(cli_options *options, cli_given given)
{
    options->session.expected_acceptance = options->stats_json != NULL; /* only the JSON has it */
    options->paint = cli_given_find(given, "color") != NULL;
    options->seed_is_drawn = !cli_given_find(given, "seed");
    return cli_check_asking(options, given) && cli_check_speculation(options, given);
}

/* Goes on with the file of --session, if it is there. */
static int load_session(const cli_engine *engine)
{
    vouch_error err;
    const char *path = engine->options->session_file;
    if (!path || !vouch_os_exists(path)) return CLI_DONE;
    return vouch_session_load(engine->session, path, &err) ? cli_flag_refuse("session", &err) : CLI_DONE;
}

/* Keeps the session, unless it has no tokens. */
static int keep_session(const cli_engine *engine)
{
    vouch_error err;
    const char *path = engine->options->session_file;
    if (!path || !engine->session) return CLI_DONE;
    const vouch_status status = vouch_session_save(engine->session, path, &err);
    return status && status != VOUCH_E_ARGUMENT ? cli_flag_fail("session", &err) : CLI_DONE;
}

int cli_run_run(const cli_options *given)
{
    cli_options own = *given, *options = &own; /* the model's file and /set change it */
    const bool is_asked = options->prompt || options->prompt_file || options->suffix || options->suffix_file;
    const bool chat = options->chat || (!is_asked && isatty(STDIN_FILENO));
    cli_engine engine = {0};
    cli_reply reply = cli_reply_new(options);
    vouch_error err;
    char *text = NULL;
    size_t n = 0;
    int status = CLI_DONE;
    if (chat && options->chat_template && strcmp(options->chat_template, "none") == 0) {
        tool_complain(
            "without --prompt, run is a conversation, which needs a chat template; --raw needs --prompt TEXT");
        return CLI_WRONG_USAGE;
    }
    if (chat && options->show_prompt) {
        tool_complain("--show-prompt needs a prompt: add --prompt TEXT, or leave out --chat");
        return CLI_WRONG_USAGE;
    }
    if (options->stats_json && tool_file_check(options->stats_json, &err)) status = cli_flag_refuse("stats-json", &err);
    if (options->session_file && tool_file_check(options->session_file, &err))
        status = cli_flag_refuse("session", &err);
    if (!status && !chat) status = cli_prompt_read(options, &text, &n);
    if (!status && options->show_prompt) {
        status = prompt_show(options, text, n);
        goto done;
    }
    if (status) goto done;
    status = run_open(&engine, options);
    if (!status) status = cli_sources_load(&engine);
    if (!status) status = load_session(&engine);
    if (!status) {
        cli_stats_open(&engine);
        cli_engine_check_think(&engine);
        status = chat ? run_conversation(&engine, options, &reply) : run_once(&engine, text, n, &reply);
        status = cli_first_failure(status, cli_engine_keep(&engine));
        status = cli_first_failure(status, keep_session(&engine));
    }
done:
    cli_engine_close(&engine);
    cli_reply_free(&reply);
    free(text);
    return status;
}
