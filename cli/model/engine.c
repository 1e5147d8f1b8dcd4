/* SPDX-License-Identifier: MIT */
#include "model/engine.h"

#include <stdlib.h>
#include <string.h>

#include "model/pairing.h"
#include "os/os.h"
#include "tool/file.h"
#include "tool/text.h"

/* "loading m.gguf, 98 MB", with at most 22 columns of the name, so that a bar fits beside it on 80 columns. */
static void label_write(const char *path, char *label, size_t size)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    vouch_os_info info;
    vouch_os_stream memory;
    char *text;
    size_t n;
    FILE *stream = vouch_os_stream_open(&memory);
    if (!stream) return;
    fputs("loading ", stream);
    tool_put_escaped(stream, name, strlen(name), 22);
    const double bytes = vouch_os_info_of(path, &info) ? (double)info.size : 0;
    if (bytes >= 1e9) fprintf(stream, ", %.1f GB", bytes * 1e-9);
    else if (bytes > 0) fprintf(stream, ", %.0f MB", bytes * 1e-6);
    if (vouch_os_stream_close(&memory, &text, &n)) snprintf(label, size, "%s", text);
    free(text);
}

void cli_engine_note_plain(const cli_options *options)
{
    static bool is_said;
    const bool is_chosen = options->cpu && strcmp(options->cpu, "auto") != 0;
    if (is_said || is_chosen || vouch_cpu_name(1)) return;
    is_said = true;
    tool_note("this build has no vector kernels that this processor can run: plain C computes, which is many times "
              "slower; `vouch info --machine` shows what was found");
}

/* `chat_template` becomes the model option of the same name. */
static vouch_status model_open(vouch_model **out, const char *path, const char *chat_template, bool text_only,
                               size_t n_loras, const cli_options *options, vouch_error *err)
{
    char label[128] = "loading the model";
    tool_progress progress = {.label = label, .is_eager = !text_only};
    label_write(path, label, sizeof label);
    vouch_model_options model = vouch_model_options_default();
    model.cpu = options->cpu;
    model.chat_template = chat_template;
    if (options->think == CLI_THINK_ON) model.chat_variables = "{\"enable_thinking\": true, \"thinking\": true}";
    if (options->think == CLI_THINK_OFF) model.chat_variables = "{\"enable_thinking\": false, \"thinking\": false}";
    model.n_threads = options->session.n_threads;
    model.text_only = text_only;
    model.adapters = (const char *const *)options->lora_paths;
    model.n_adapters = (int32_t)n_loras;
    model.untuned = options->tune == CLI_TUNE_OFF;
    model.progress = options->load_progress ? options->load_progress : tool_progress_report;
    model.progress_user = options->load_progress ? options->load_progress_user : &progress;
    if (!text_only) cli_engine_note_plain(options);
    if (options->load_progress) return vouch_model_open(out, path, &model, err);
    tool_progress_report(&progress, 0);
    const vouch_status status = vouch_model_open(out, path, &model, err);
    tool_progress_end(&progress);
    return status;
}

void cli_engine_check_think(const cli_engine *engine)
{
    const int think = engine->options->think;
    if ((think == CLI_THINK_ON || think == CLI_THINK_OFF) && !vouch_model_get_info(engine->model)->chat_template_thinks)
        tool_note("--think %s has no effect: the chat template has no switch for thoughts",
                  think == CLI_THINK_ON ? "on" : "off");
}

int cli_engine_fail(const vouch_error *err)
{
    tool_complain("%s", err->code == VOUCH_E_CANCELLED ? "interrupted" : err->message);
    return CLI_FAILED;
}

int cli_flag_fail(const char *flag, const vouch_error *err)
{
    if (!flag) return cli_engine_fail(err);
    tool_complain("--%s: %s", flag, err->message);
    return CLI_FAILED;
}

int cli_flag_refuse(const char *flag, const vouch_error *err)
{
    cli_flag_fail(flag, err);
    return err->code == VOUCH_E_MEMORY || err->code == VOUCH_E_CANCELLED ? CLI_FAILED : CLI_WRONG_USAGE;
}

/* Checks the ids of --logit-bias, once the model is open: its vocabulary says which ids there are. */
static int bias_check(const cli_engine *engine)
{
    const cli_options *options = engine->options;
    const int32_t n_vocab = vouch_model_get_info(engine->model)->n_vocab;
    for (size_t i = 0; i < options->bias_texts.n; i++) {
        if (options->bias[i].token < n_vocab) continue;
        tool_complain("--logit-bias '%s': expected a token of the model, 0 to %d", options->bias_texts.items[i],
                      n_vocab - 1);
        return CLI_WRONG_USAGE;
    }
    return CLI_DONE;
}

/* Reads a text file, without a byte-order mark. A NUL byte in it is an error. */
static vouch_status text_read(const char *path, char **text, size_t *n, vouch_error *err)
{
    const vouch_status status = tool_file_read(path, text, n, err);
    if (!status) tool_file_drop_mark(*text, n);
    const char *nul = status ? NULL : memchr(*text, 0, *n);
    if (!nul) return status;
    *err = (vouch_error){.code = VOUCH_E_FORMAT};
    if (tool_file_is_utf16(*text, *n)) {
        snprintf(err->message, sizeof err->message, "%.400s: it is in UTF-16; save it as UTF-8", path);
    } else {
        snprintf(err->message, sizeof err->message, "%.400s: a NUL byte at offset %zu; expected text", path,
                 (size_t)(nul - *text));
    }
    free(*text);
    *text = NULL;
    return err->code;
}

/* Reads a list of the draft model's token ids, one a line, no id twice. seen: [n_vocab] zeros. */
static vouch_status vocab_parse(cli_engine *engine, const char *path, const char *text, char *seen, vouch_error *err)
{
    const int32_t n_vocab = vouch_model_get_info(engine->draft)->n_vocab;
    size_t line = 1;
    for (const char *at = text; *at; line++) {
        char *end;
        const long long token = strtoll(at, &end, 10);
        const size_t n = strspn(end, "\r");
        if (*at < '0' || *at > '9' || (end[n] != '\n' && end[n]) || token >= n_vocab) {
            *err = (vouch_error){.code = VOUCH_E_FORMAT};
            snprintf(err->message, sizeof err->message, "%.300s:%zu: expected the id of a token, 0 to %d", path, line,
                     n_vocab - 1);
            return err->code;
        }
        if (seen[token]++) {
            *err = (vouch_error){.code = VOUCH_E_FORMAT};
            snprintf(err->message, sizeof err->message, "%.300s:%zu: token %lld is given twice; leave one out", path,
                     line, token);
            return err->code;
        }
        engine->draft_vocab[engine->n_draft_vocab++] = (int32_t)token;
        at = end + n + (end[n] == '\n');
    }
    if (engine->n_draft_vocab > 0) return VOUCH_OK;
    *err = (vouch_error){.code = VOUCH_E_FORMAT};
    snprintf(err->message, sizeof err->message, "%.400s: the file is empty; expected the id of a token on each line",
             path);
    return err->code;
}

static vouch_status vocab_read(cli_engine *engine, const char *path, vouch_error *err)
{
    char *text = NULL, *seen = NULL;
    size_t n = 0;
    vouch_status status = text_read(path, &text, &n, err);
    if (status) return status;
    engine->draft_vocab = calloc(n + 1, sizeof *engine->draft_vocab); /* n bytes hold n ids at most */
    seen = calloc((size_t)vouch_model_get_info(engine->draft)->n_vocab, 1);
    if (engine->draft_vocab && seen) {
        status = vocab_parse(engine, path, text, seen, err);
    } else {
        *err = (vouch_error){VOUCH_E_MEMORY, "not enough memory"};
        status = VOUCH_E_MEMORY;
    }
    free(seen);
    free(text);
    return status;
}

/* --chat-template is a name or a file. An error about the model's file names that file, not the flag. */
static int target_open(cli_engine *engine, const cli_options *options, bool text_only)
{
    const char *asked = options->chat_template;
    const bool is_own = !asked || strcmp(asked, "auto") == 0 || strcmp(asked, "none") == 0;
    const bool is_file = !is_own && !cli_template_is_known(asked);
    char *text = NULL;
    size_t n;
    vouch_error err;
    if (is_file && text_read(asked, &text, &n, &err)) return cli_flag_refuse("chat-template", &err);
    const vouch_status status = model_open(&engine->model, options->model,
                                           is_own    ? NULL
                                           : is_file ? text
                                                     : asked,
                                           text_only, options->loras.n, options, &err);
    free(text);
    if (status == VOUCH_E_UNSUPPORTED && !is_own && strncmp(err.message, options->model, strlen(options->model)) != 0) {
        tool_complain("--chat-template: %s: %s", asked, err.message);
        return CLI_WRONG_USAGE;
    }
    if (status == VOUCH_E_IO) return cli_flag_refuse(NULL, &err);
    return status ? cli_engine_fail(&err) : CLI_DONE;
}

/* The target is open. */
static int draft_open(cli_engine *engine, const cli_options *options)
{
    vouch_error err;
    const vouch_status status = model_open(&engine->draft, options->draft_model, NULL, false, 0, options, &err);
    if (status == VOUCH_E_IO) return cli_flag_refuse("draft-model", &err);
    if (status) return cli_flag_fail("draft-model", &err);
    const vouch_model_info *target = vouch_model_get_info(engine->model), *draft = vouch_model_get_info(engine->draft);
    if (!options->session.speculation.allow_vocab_mismatch &&
        vouch_model_check_pair(engine->model, engine->draft, &err)) {
        const bool has_bridge = strcmp(target->tokenizer, "none") != 0 && strcmp(draft->tokenizer, "none") != 0;
        tool_complain("--draft-model: %s: %s%s", options->draft_model, err.message,
                      has_bridge ? "; with --allow-vocab-mismatch, `vouch run` and `vouch bench` draft the "
                                   "tokens that both have"
                                 : "");
        return CLI_FAILED;
    }
    if (draft->n_parameters > target->n_parameters)
        tool_note("the draft model is larger than the target (%.1f against %.1f million parameters): "
                  "the text is the same, but it doesn't come sooner",
                  (double)draft->n_parameters * 1e-6, (double)target->n_parameters * 1e-6);
    return CLI_DONE;
}

/* --json-schema takes the name of a file, or the text of the schema itself, which begins with {. */
static int grammar_open(cli_engine *engine, const cli_options *options)
{
    const char *schema = options->json_schema;
    const struct {
        const char *flag, *value;
        vouch_grammar_kind kind;
        bool is_file;
    } sources[] =
        {
            {"json", options->json_answer ? "" : NULL, VOUCH_GRAMMAR_JSON, false},
            {"json-schema", schema, VOUCH_GRAMMAR_JSON_SCHEMA, schema && *schema != '{'},
            {"regex", options->regex, VOUCH_GRAMMAR_REGEX, false},
            {"grammar-file", options->grammar_file, VOUCH_GRAMMAR_GBNF, true},
        },
      *source = sources;
    const size_t n_sources = sizeof sources / sizeof *sources;
    while (source < sources + n_sources && !source->value) source++;
    if (source == sources + n_sources) return CLI_DONE;
    vouch_error err = {VOUCH_E_MEMORY, "not enough memory"};
    vouch_status status = VOUCH_OK;
    if (source->is_file) status = text_read(source->value, &engine->grammar_text, &(size_t){0}, &err);
    else engine->grammar_text = strdup(source->value);
    if (!status && !engine->grammar_text) status = err.code;
    const char *text = engine->grammar_text;
    engine->grammar_kind =
        (int)source->kind | VOUCH_GRAMMAR_LENIENT | (options->open_objects ? 0 : VOUCH_GRAMMAR_CLOSED);
    if (!status) status = vouch_grammar_open(&engine->grammar, engine->grammar_kind, text, strlen(text), &err);
    const char *note;
    for (size_t i = 0; !status && (note = vouch_grammar_unbound(engine->grammar, i)) != NULL; i++)
        tool_note("--%s: %s; the answer isn't bound to it", source->flag, note);
    if (!status) return CLI_DONE;
    if (!source->is_file || status == VOUCH_E_IO) return cli_flag_refuse(source->flag, &err);
    tool_complain("--%s %s: %s", source->flag, source->value, err.message);
    return status == VOUCH_E_MEMORY ? CLI_FAILED : CLI_WRONG_USAGE;
}

/* Takes what drafts for the model by itself. */
static void pairs_take(cli_engine *engine)
{
    vouch_error err;
    const cli_options *options = engine->options;
    cli_pairs pairs = cli_pairs_find(engine->model, options->model);
    memcpy(engine->files, pairs.files, sizeof engine->files);
    engine->is_paired = pairs.is_found;
    if (pairs.draft && model_open(&engine->draft, pairs.draft, NULL, false, 0, options, &err))
        tool_note("%s is left: %s", pairs.draft_name, err.message);
    else if (pairs.draft)
        tool_note("drafting with %s, which has the same tokens (--draft-model none leaves it out)", pairs.draft_name);
    if (!pairs.is_found && options->pairing == CLI_PAIRING_ASKED)
        tool_note("--draft-model auto: nothing on this machine drafts for the model; free drafters do");
    free(pairs.draft);
    free(pairs.draft_name);
}

int cli_engine_open_memory(cli_engine *engine, const cli_options *options)
{
    vouch_error err;
    const unsigned drafters = options->session.speculation.drafters; /* of a request: any */
    const bool copies = drafters == VOUCH_DRAFTER_AUTO || drafters & cli_drafters_taking("draft-memory");
    if (!cli_remembers(options) || (!copies && !(options->command & CLI_SERVE))) return CLI_DONE;
    const vouch_status status = vouch_draft_memory_open(&engine->memory, engine->model, options->draft_memory,
                                                        (size_t)options->draft_memory_size, &err);
    if (status == VOUCH_E_ARGUMENT) return cli_flag_refuse("draft-memory-size", &err);
    if (status) return cli_flag_refuse("draft-memory", &err);
    const int64_t n_damaged = vouch_draft_memory_get_info(engine->memory).n_damaged;
    if (n_damaged > 0)
        tool_note("--draft-memory %s: %lld damaged places were removed", options->draft_memory, (long long)n_damaged);
    return CLI_DONE;
}

int cli_prompt_cache_open(vouch_prompt_cache **cache, const cli_options *options)
{
    vouch_error err;
    if (!options->prompt_cache) return CLI_DONE;
    if (!vouch_prompt_cache_open(cache, options->prompt_cache, options->prompt_cache_size, &err)) return CLI_DONE;
    return cli_flag_refuse("prompt-cache", &err);
}

void cli_prompt_cache_check(vouch_prompt_cache *cache)
{
    vouch_error err;
    if (cache && vouch_prompt_cache_check(cache, &err))
        tool_complain("--prompt-cache: %s; answers go on, and pages are not kept", err.message);
}

vouch_pooling cli_engine_pooling(const cli_engine *engine)
{
    const int given = engine->options->pooling;
    return given == VOUCH_POOLING_NONE ? vouch_model_get_info(engine->model)->pooling : (vouch_pooling)given;
}

int cli_engine_keep(const cli_engine *engine)
{
    vouch_error err;
    if (!engine->memory || !vouch_draft_memory_keep(engine->memory, &err)) return CLI_DONE;
    return cli_flag_fail("draft-memory", &err);
}

int cli_engine_open(cli_engine *engine, const cli_options *options)
{
    vouch_error err;
    const double start = tool_now();
    *engine = (cli_engine){.options = options};
    int status = grammar_open(engine, options);
    if (!status) status = target_open(engine, options, false);
    if (!status && options->draft_model) status = draft_open(engine, options);
    if (status) return status;
    if (options->pairing) pairs_take(engine);
    if (options->draft_vocab && vocab_read(engine, options->draft_vocab, &err))
        return cli_flag_refuse("draft-vocab", &err);
    for (int i = 0; i < VOUCH_DRAFTERS; i++) {
        if (!options->draft_files[i]) continue;
        vouch_draft_file_close(engine->files[i]); /* one that was found; the command line's goes first */
        if (vouch_draft_file_open(&engine->files[i], i, options->draft_files[i], engine->model,
                                  options->allow_other_head, &err))
            return cli_flag_refuse(vouch_drafter_get_info(i).flags, &err);
    }
    engine->load_seconds = tool_now() - start;
    status = bias_check(engine);
    if (!status && !(options->command & CLI_SERVE)) status = cli_prompt_cache_open(&engine->cache, options);
    return status ? status : cli_engine_open_memory(engine, options);
}

int cli_engine_open_text(cli_engine *engine, const cli_options *options)
{
    *engine = (cli_engine){.options = options};
    return target_open(engine, options, true);
}

void cli_engine_speculate(const cli_engine *engine, vouch_speculation *speculation)
{
    speculation->draft_model = engine->draft;
    speculation->draft_vocab = engine->draft_vocab;
    speculation->n_draft_vocab = engine->n_draft_vocab;
    speculation->draft_memory = engine->memory;
    memcpy(speculation->files, engine->files, sizeof engine->files);
    if (!engine->is_paired) return;
    /* The text of a seed stays that of plain decoding, and the likeliest tokens are then the best guesses. */
    if (speculation->accept == VOUCH_ACCEPT_AUTO) {
        vouch_session_options plain = vouch_session_options_default();
        plain.speculation.drafters = VOUCH_DRAFTER_NONE;
        speculation->accept = vouch_session_options_rule(engine->model, &plain);
    }
    if (speculation->draft_sampling == VOUCH_DRAFT_AUTO) speculation->draft_sampling = VOUCH_DRAFT_GREEDY;
}

enum { USUAL_CTX = 4096 }; /* context length without --ctx; vouch.h documents it */

int32_t cli_engine_context(const cli_engine *engine)
{
    const int32_t n_ctx = engine->options->session.n_ctx, n_trained = vouch_model_get_info(engine->model)->n_ctx_train;
    return n_ctx ? n_ctx : n_trained < USUAL_CTX ? n_trained : USUAL_CTX;
}

int cli_engine_start(cli_engine *engine, const vouch_session_options *session)
{
    vouch_error err;
    const double start = tool_now();
    const int32_t n_trained = vouch_model_get_info(engine->model)->n_ctx_train;
    vouch_session_options options = *session;
    options.prompt_cache = engine->cache;
    if (options.n_ctx > n_trained)
        tool_note("--ctx %d: the model was trained for %d tokens; text beyond them may be poor", options.n_ctx,
                  n_trained);
    const int32_t n_draft = engine->draft ? vouch_model_get_info(engine->draft)->n_ctx_train : n_trained;
    const int32_t usual = n_trained < USUAL_CTX ? n_trained : USUAL_CTX;
    if (n_draft < n_trained && n_draft < (options.n_ctx ? options.n_ctx : usual))
        tool_note("the draft model was trained for %d tokens of context, the target for %d: the draft model guesses "
                  "nothing after its %d tokens",
                  n_draft, n_trained, n_draft);
    cli_engine_speculate(engine, &options.speculation);
    options.grammar = engine->grammar;
    const vouch_status status = vouch_session_open(&engine->session, engine->model, &options, &err);
    engine->load_seconds += tool_now() - start;
    if (!status) return CLI_DONE;
    cli_engine_fail(&err);
    return status == VOUCH_E_ARGUMENT ? CLI_WRONG_USAGE : CLI_FAILED;
}

const char *cli_finish_name(vouch_finish finish)
{
    static const char *const names[] = {[VOUCH_FINISH_NONE] = "interrupted",
                                        [VOUCH_FINISH_EOS] = "eos",
                                        [VOUCH_FINISH_STOP] = "stop",
                                        [VOUCH_FINISH_LENGTH] = "length",
                                        [VOUCH_FINISH_CONTEXT] = "context"};
    return names[finish];
}

void cli_engine_close(cli_engine *engine)
{
    vouch_session_close(engine->session);
    vouch_draft_memory_close(engine->memory);
    cli_prompt_cache_check(engine->cache);
    vouch_prompt_cache_close(engine->cache);
    free(engine->draft_vocab);
    for (int i = 0; i < VOUCH_DRAFTERS; i++) vouch_draft_file_close(engine->files[i]);
    vouch_model_close(engine->draft);
    vouch_model_close(engine->model);
    vouch_grammar_close(engine->grammar);
    free(engine->grammar_text);
}

vouch_status cli_session_prompt(vouch_session *session, const int32_t *tokens, size_t n_tokens, vouch_error *err)
{
    tool_interrupt_aim(session);
    const vouch_status status = vouch_session_prompt(session, tokens, n_tokens, err);
    tool_interrupt_aim(NULL);
    return status;
}

vouch_status cli_session_step(vouch_session *session, vouch_step *step, vouch_error *err)
{
    tool_interrupt_aim(session);
    const vouch_status status = vouch_session_step(session, step, err);
    tool_interrupt_aim(NULL);
    return status;
}
