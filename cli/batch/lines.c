/* SPDX-License-Identifier: MIT */
#include "batch/lines.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/os.h"
#include "tool/json.h"
#include "tool/memory.h"
#include "tool/text.h"

/* ------------------------------------------------------------ keys and lines */

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

#define HASH(hash, value) hash_bytes(hash, &(value), sizeof(value))

/* A file that can't be read counts as empty. It has been read before: the engine is open. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    unsigned char bytes[8192];
    const int fd = vouch_os_open(path, VOUCH_OS_READ, 0);
    for (ptrdiff_t n; fd >= 0 && (n = vouch_os_read(fd, bytes, sizeof bytes)) > 0;)
        hash = hash_bytes(hash, bytes, (size_t)n);
    if (fd >= 0) close(fd);
    return hash;
}

/* A file, or the files of a folder in the order of their names. */
static uint64_t hash_path(uint64_t hash, const char *path)
{
    char **names;
    const ptrdiff_t n = vouch_os_folder_list(path, &names);
    if (n < 0) return hash_file(hash, path);
    for (ptrdiff_t i = 0; i < n; i++) {
        char inner[VOUCH_OS_PATH_SIZE];
        snprintf(inner, sizeof inner, "%s/%s", path, names[i]);
        hash = hash_file(hash, inner);
    }
    vouch_os_names_free(names, n);
    return hash;
}

/* Greedy texts, and those that the seed reproduces, don't depend on the guesses (L2). Others depend on all that
 * drafts. */
static uint64_t hash_drafts(uint64_t hash, const cli_engine *engine)
{
    vouch_session_options o = engine->options->session;
    const vouch_speculation *d = &o.speculation;
    cli_engine_speculate(engine, &o.speculation);
    const vouch_accept rule = vouch_session_options_rule(engine->model, &o);
    hash = HASH(hash, d->lenience);
    if (d->lenience == 1 && o.sampling.temperature == 0) return hash;
    hash = HASH(hash, rule);
    if (d->lenience == 1 && vouch_accept_get_info((int)rule).seed_reproduces) return hash;
    hash = HASH(hash, d->drafters);
    hash = HASH(HASH(HASH(HASH(hash, d->n_draft), d->tree_branches), d->tree_depth), d->draft_sampling);
    if (engine->draft) hash = hash_text(hash, vouch_model_get_info(engine->draft)->digest);
    for (int i = 0; i < VOUCH_DRAFTERS; i++)
        if (engine->options->draft_files[i])
            hash = hash_path(hash_text(hash, vouch_drafter_name(i)), engine->options->draft_files[i]);
    return hash;
}

/* Hash of the model and of the options on which texts depend. */
static uint64_t hash_run(const cli_engine *engine)
{
    const vouch_model_info *info = vouch_model_get_info(engine->model);
    const vouch_session_options *o = &engine->options->session;
    const vouch_sampling *s = &o->sampling;
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), info->digest);
    hash = HASH(HASH(hash, o->max_tokens), o->n_ctx);
    hash = HASH(HASH(HASH(HASH(hash, s->temperature), s->top_k), s->top_p), s->min_p);
    hash = HASH(HASH(HASH(HASH(hash, s->repeat_penalty), s->frequency_penalty), s->presence_penalty), s->seed);
    hash = HASH(HASH(HASH(hash, s->penalty_window), o->ignore_eos), o->kv_type);
    hash = HASH(HASH(HASH(HASH(hash, s->typical_p), s->top_n_sigma), s->xtc_probability), s->xtc_threshold);
    hash = HASH(HASH(hash, s->dry_multiplier), s->dry_base);
    hash = HASH(HASH(hash, s->dry_allowed_length), s->dry_penalty_last_n);
    for (size_t i = 0; i < s->n_dry_sequence_breakers; i++) hash = hash_text(hash, s->dry_sequence_breakers[i]);
    hash = hash_drafts(hash, engine);
    for (size_t i = 0; i < s->n_bias; i++) hash = HASH(HASH(hash, s->bias[i].token), s->bias[i].bias);
    for (size_t i = 0; i < o->n_stop; i++) hash = hash_text(hash, o->stop[i]);
    if (o->min_tokens > 0) hash = HASH(hash_text(hash, "min-tokens"), o->min_tokens);
    if (engine->grammar) hash = HASH(hash_text(hash_text(hash, "grammar"), engine->grammar_text), engine->grammar_kind);
    return hash;
}

static void key_write(const cli_lines *lines, size_t i, char key[17])
{
    const cli_tokens *tokens = &lines->questions->items[i].tokens;
    const uint64_t hash = hash_bytes(lines->base, tokens->items, tokens->n * sizeof *tokens->items);
    snprintf(key, 17, "%016" PRIx64, hash);
}

/* The members with which the line of question i begins. */
static json_t *line_begin(const cli_lines *lines, size_t i)
{
    const cli_question *question = &lines->questions->items[i];
    char key[17];
    key_write(lines, i, key);
    return json_pack("{s:o, s:i, s:s, s:I}", "id", tool_json_text(question->id), "line", (int)question->line, "key",
                     key, "prompt_tokens", (json_int_t)question->tokens.n);
}

/* The text of a line, without its end. Frees `object`, which may be NULL. NULL: memory is short. */
static char *line_dump(json_t *object)
{
    char *line = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(object);
    if (line && !tool_memory_is_short()) return line;
    free(line);
    tool_complain("not enough memory for an answer");
    return NULL;
}

/* -------------------------------------------------------------------- resume */

static int foreign_fail(const cli_lines *lines, size_t i, const char *reason)
{
    tool_complain("--out %s: line %zu %s: --resume needs the file of a run with these prompts, model and options; name "
                  "another --out",
                  lines->path, i + 1, reason);
    return CLI_FAILED;
}

/* Checks the line of question i, and counts it if it is an error. */
static int line_check(cli_lines *lines, size_t i, const char *text, size_t n)
{
    char key[17];
    if (i >= lines->questions->n) return foreign_fail(lines, i, "is beyond the last prompt");
    json_t *object = json_loadb(text, n, 0, NULL);
    const char *written = json_string_value(json_object_get(object, "key"));
    key_write(lines, i, key);
    int status = CLI_DONE;
    if (!object) status = foreign_fail(lines, i, "is no JSON");
    else if (!written || strcmp(written, key) != 0)
        status = foreign_fail(lines, i, "belongs to another prompt, model or option");
    lines->n_failed += !status && json_object_get(object, "error") != NULL;
    json_decref(object);
    return status;
}

/* Checks the incomplete line at the end of the file. It may be cut off only if it is the beginning of the next line:
 * any other bytes are not ours. */
static int rest_check(const cli_lines *lines, const char *text, size_t n)
{
    const size_t i = lines->n_written;
    if (i >= lines->questions->n) return foreign_fail(lines, i, "is beyond the last prompt");
    char *line = line_dump(line_begin(lines, i));
    if (!line) return CLI_FAILED;
    const size_t n_known = strlen(line) - 1; /* all but the closing brace, where the answer goes on */
    const bool is_begun = memcmp(text, line, n < n_known ? n : n_known) == 0;
    free(line);
    return is_begun ? CLI_DONE : foreign_fail(lines, i, "belongs to another prompt, model or option");
}

/* Checks and counts the complete lines, and cuts off an incomplete line at the end. */
static int lines_resume(cli_lines *lines)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    off_t end = 0;
    int status = CLI_DONE;
    while (!status && (n = getline(&text, &room, lines->file)) > 0 && text[n - 1] == '\n') {
        status = line_check(lines, lines->n_written, text, (size_t)n);
        lines->n_written += !status;
        end += n;
    }
    if (!status && n > 0) status = rest_check(lines, text, (size_t)n);
    free(text);
    if (!status && (ferror(lines->file) || fseeko(lines->file, end, SEEK_SET) || ftruncate(fileno(lines->file), end))) {
        tool_complain("--out %s: %s", lines->path, strerror(errno));
        status = CLI_FAILED;
    }
    return status;
}

/* ------------------------------------------------------------------- writing */

static int write_fail(const cli_lines *lines)
{
    vouch_error err;
    if (!lines->path && tool_print("", 0, &err)) return cli_engine_fail(&err);
    tool_complain("%s%s: %s", lines->path ? "--out " : "", lines->path ? lines->path : "standard output",
                  strerror(errno));
    return CLI_FAILED;
}

/* Opens a regular file, or creates it, without touching its content. Refuses a file to which another process writes. */
static int regular_open(cli_lines *lines, bool resume)
{
    vouch_os_info info;
    const int fd = vouch_os_open(lines->path, (resume ? VOUCH_OS_READ : 0) | VOUCH_OS_WRITE | VOUCH_OS_CREATE, 0666);
    if (fd < 0) return write_fail(lines);
    lines->file = fdopen(fd, resume ? "r+" : "w"); /* "w" of fdopen doesn't empty the file */
    if (!lines->file) {
        close(fd);
        return write_fail(lines);
    }
    /* The lock ends with the process. A file system without locks is no reason to refuse. */
    if (vouch_os_file_lock(fd, false) == VOUCH_OS_LOCK_BUSY) {
        tool_complain("--out %s: another process writes to this file; wait for its end, or name another file",
                      lines->path);
        return CLI_FAILED;
    }
    if (resume) return lines_resume(lines);
    if (!vouch_os_info_of_open(fd, &info)) return write_fail(lines);
    if (info.size == 0) return CLI_DONE;
    tool_complain("--out %s: the file exists already; continue it with --resume, or name another file", lines->path);
    return CLI_FAILED;
}

int cli_lines_open(cli_lines *lines, const cli_engine *engine, const cli_questions *questions)
{
    const cli_options *options = engine->options;
    vouch_os_info info;
    *lines = (cli_lines){.questions = questions, .path = options->out, .base = hash_run(engine)};
    lines->waiting = calloc(questions->n, sizeof *lines->waiting);
    if (!lines->waiting) {
        tool_complain("not enough memory for %zu answers", questions->n);
        return CLI_FAILED;
    }
    if (!lines->path) {
        lines->file = stdout;
        return CLI_DONE;
    }
    if (!vouch_os_info_of(lines->path, &info) || info.kind == VOUCH_OS_FILE)
        return regular_open(lines, options->resume);
    if (options->resume) {
        tool_complain("--out %s: --resume needs a regular file", lines->path);
        return CLI_FAILED;
    }
    const int fd = vouch_os_open(lines->path, VOUCH_OS_WRITE, 0);
    lines->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!lines->file && fd >= 0) close(fd);
    return lines->file ? CLI_DONE : write_fail(lines);
}

/* Stores the line of question i and frees `object`. Writes all lines that no longer wait for an earlier one. */
static int line_finish(cli_lines *lines, size_t i, json_t *object)
{
    char *line = line_dump(object);
    if (!line) return CLI_FAILED;
    lines->waiting[i] = line;
    while (lines->n_written < lines->questions->n && lines->waiting[lines->n_written]) {
        char **next = &lines->waiting[lines->n_written];
        if (fprintf(lines->file, "%s\n", *next) < 0 || fflush(lines->file)) return write_fail(lines);
        free(*next);
        *next = NULL;
        lines->n_written++;
    }
    return CLI_DONE;
}

int cli_lines_answer(cli_lines *lines, size_t i, const char *text, size_t n_text, int32_t n_tokens, vouch_finish finish)
{
    size_t n;
    char *whole = tool_utf8_repair(text, n_text, &n);
    json_t *object = whole ? line_begin(lines, i) : NULL;
    if (object && json_object_update_new(object, json_pack("{s:i, s:s, s:o}", "tokens", (int)n_tokens, "finish",
                                                           cli_finish_name(finish), "text", json_stringn(whole, n)))) {
        json_decref(object);
        object = NULL;
    }
    free(whole);
    return line_finish(lines, i, object);
}

int cli_lines_fail(cli_lines *lines, size_t i, const char *reason)
{
    json_t *object = line_begin(lines, i);
    lines->n_failed++;
    if (object && json_object_set_new(object, "error", json_string(reason))) {
        json_decref(object);
        object = NULL;
    }
    return line_finish(lines, i, object);
}

int cli_lines_close(cli_lines *lines)
{
    int status = CLI_DONE;
    for (size_t i = 0; lines->waiting && i < lines->questions->n; i++) free(lines->waiting[i]);
    free(lines->waiting);
    if (lines->file && lines->file != stdout && fclose(lines->file)) status = write_fail(lines);
    return status;
}
