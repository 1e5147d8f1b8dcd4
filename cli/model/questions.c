/* SPDX-License-Identifier: MIT */
#include "model/questions.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool/file.h"
#include "tool/text.h"

enum { MOST_COMPLAINTS = 20 }; /* about bad lines: the wrong file may have thousands */

/* The list with space for one more item; NULL when memory is short. */
static void *list_grow(void *list, size_t n, size_t size)
{
    return realloc(list, (n + 1) * size);
}

static int memory_fail(void)
{
    tool_complain("not enough memory for the prompts");
    return CLI_FAILED;
}

__attribute__((format(printf, 3, 4))) static int bad_add(cli_questions *q, int32_t line, const char *format, ...)
{
    cli_bad_line *bad = list_grow(q->bad, q->n_bad, sizeof *bad);
    va_list arguments;
    if (!bad) return memory_fail();
    q->bad = bad;
    bad += q->n_bad++;
    bad->line = line;
    va_start(arguments, format);
    vsnprintf(bad->reason, sizeof bad->reason, format, arguments);
    va_end(arguments);
    if (q->n_bad <= MOST_COMPLAINTS) tool_complain("--%s: line %d is left out: %s", q->flag, line, bad->reason);
    else if (q->n_bad == MOST_COMPLAINTS + 1) tool_complain("--%s: more lines are left out", q->flag);
    return CLI_DONE;
}

static void question_free(cli_question *question)
{
    free(question->id);
    free(question->category);
    free(question->text);
    free(question->tokens.items);
}

void cli_questions_free(cli_questions *q)
{
    for (size_t i = 0; i < q->n; i++) question_free(&q->items[i]);
    for (size_t i = 0; i < q->n_categories; i++) free(q->categories[i]);
    free(q->items);
    free(q->bad);
    free(q->categories);
}

/* The index of the name; n_categories if it is absent. */
static size_t category_find(const cli_questions *q, const char *name)
{
    size_t i = 0;
    while (i < q->n_categories && strcmp(q->categories[i], name) != 0) i++;
    return i;
}

size_t cli_question_category(const cli_questions *q, const cli_question *question)
{
    return category_find(q, question->category);
}

/* ----------------------------------------------------------------- one line */

/* The value of a field. NULL: the field is absent or null. */
static const json_t *field_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

/* The id of a prompt: "question_id": 81, "task_id": "HumanEval/0" or "id": 7, or else the number of the line. */
static char *id_of(const json_t *object, int32_t line)
{
    const json_t *id = field_of(object, "question_id");
    char digits[32];
    if (!id) id = field_of(object, "task_id");
    if (!id) id = field_of(object, "id");
    if (json_is_string(id)) return strdup(json_string_value(id));
    snprintf(digits, sizeof digits, "%lld", json_is_integer(id) ? (long long)json_integer_value(id) : (long long)line);
    return strdup(digits);
}

static const char *prompt_of(const json_t *object)
{
    const json_t *turns = field_of(object, "turns");
    const json_t *text = turns ? json_array_get(turns, 0) : field_of(object, "prompt");
    if (!turns && !text) text = field_of(object, "question");
    return json_string_value(text);
}

static bool is_wanted(const cli_options *options, const cli_questions *q, const char *category)
{
    const tool_texts *names = &options->categories;
    bool named = names->n == 0;
    int32_t n = 0;
    for (size_t i = 0; i < names->n; i++) named |= strcmp(names->items[i], category) == 0;
    if (options->n_each == 0) return named;
    for (size_t i = 0; i < q->n; i++) n += strcmp(q->items[i].category, category) == 0;
    return named && n < options->n_each;
}

static int question_tokenize(cli_questions *q, const cli_engine *engine, cli_question *question)
{
    vouch_error err;
    if (!cli_prompt_tokenize_question(engine, question->text, strlen(question->text), &question->tokens, &err)) {
        q->items[q->n++] = *question;
        return CLI_DONE;
    }
    question_free(question);
    return cli_engine_fail(&err);
}

static int question_add(cli_questions *q, const cli_engine *engine, const char *text, const char *category, char *id,
                        int32_t line)
{
    if (!*text || strspn(text, " \t\r") == strlen(text)) {
        free(id);
        return bad_add(q, line, "the prompt is empty");
    }
    if (!is_wanted(engine->options, q, category)) {
        free(id);
        return CLI_DONE;
    }
    cli_question question = {id, strdup(category), strdup(text), {NULL, 0}, line};
    cli_question *items = list_grow(q->items, q->n, sizeof *items);
    if (items) q->items = items;
    if (items && question.id && question.category && question.text) return question_tokenize(q, engine, &question);
    question_free(&question);
    return memory_fail();
}

static int json_line(cli_questions *q, const cli_engine *engine, const char *text, size_t n, const char *category,
                     int32_t line)
{
    json_error_t error;
    json_t *object = json_loadb(text, n, 0, &error);
    int status;
    if (!object) return bad_add(q, line, "no JSON: %.100s", error.text);
    const char *prompt = prompt_of(object), *named = json_string_value(json_object_get(object, "category"));
    if (!prompt) status = bad_add(q, line, "no text under \"turns\", \"prompt\" or \"question\"");
    else status = question_add(q, engine, prompt, named ? named : category, id_of(object, line), line);
    json_decref(object);
    return status;
}

static int plain_line(cli_questions *q, const cli_engine *engine, char *text, size_t n, const char *category,
                      int32_t line)
{
    const char *nul = memchr(text, 0, n);
    if (nul) return bad_add(q, line, "a NUL byte at %zu", (size_t)(nul - text));
    text[n] = 0;
    return question_add(q, engine, text, category, id_of(NULL, line), line);
}

/* ----------------------------------------------------------------- the file */

/* "folder/spec_bench.jsonl" -> "spec_bench". */
static char *category_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t n;
    if (strcmp(path, "-") == 0) return strdup("prompts");
    return tool_utf8_repair(name, dot && dot > name ? (size_t)(dot - name) : strlen(name), &n);
}

static bool holds_json(const char *path, const char *bytes)
{
    const size_t n = strlen(path);
    return (n > 6 && strcmp(path + n - 6, ".jsonl") == 0) || bytes[strspn(bytes, " \t\r\n")] == '{';
}

/* Is the whole text one array of objects? */
static bool holds_array(const char *bytes, size_t n)
{
    if (bytes[strspn(bytes, " \t\r\n")] != '[') return false;
    json_t *array = json_loadb(bytes, n, 0, NULL);
    const bool has_object = json_is_object(json_array_get(array, 0));
    json_decref(array);
    return has_object;
}

static int lines_read(cli_questions *q, const cli_engine *engine, char *bytes, size_t n, const char *category)
{
    tool_file_drop_mark(bytes, &n);
    if (holds_array(bytes, n)) {
        tool_complain("--prompts %s: found one JSON array; expected one JSON object per line",
                      engine->options->prompts);
        return CLI_FAILED;
    }
    const bool json = holds_json(engine->options->prompts, bytes);
    int status = CLI_DONE;
    int32_t line = 0;
    for (size_t at = 0; at < n && !status;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        const size_t length = end ? (size_t)(end - bytes) - at : n - at;
        size_t kept = length;
        while (kept > 0 && strchr(" \t\r", bytes[at + kept - 1]) && bytes[at + kept - 1]) kept--;
        line++;
        if (kept > 0)
            status = json ? json_line(q, engine, bytes + at, kept, category, line)
                          : plain_line(q, engine, bytes + at, kept, category, line);
        at += length + 1;
    }
    return status;
}

/* Lists each category once. */
static int categories_list(cli_questions *q)
{
    for (size_t i = 0; i < q->n; i++) {
        if (cli_question_category(q, &q->items[i]) < q->n_categories) continue;
        char **larger = list_grow(q->categories, q->n_categories, sizeof *larger);
        if (!larger) return memory_fail();
        q->categories = larger;
        larger[q->n_categories] = strdup(q->items[i].category);
        if (!larger[q->n_categories++]) return memory_fail();
    }
    return CLI_DONE;
}

/* Complains about a --category without a prompt. */
static int categories_check(const cli_questions *q, const tool_texts *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (category_find(q, names->items[i]) < q->n_categories) continue;
        tool_complain("--category %s: no prompt has this category", names->items[i]);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int questions_any(const cli_questions *q, const cli_options *options)
{
    if (q->n > 0) return CLI_DONE;
    tool_complain("--%s: %s has no prompt to answer%s", q->flag, options->prompts,
                  options->categories.n > 0 ? " in the categories named" : "");
    return CLI_FAILED;
}

int cli_questions_read(cli_questions *q, const cli_engine *engine, const char *flag)
{
    const cli_options *options = engine->options;
    vouch_error err;
    char *bytes = NULL;
    size_t n;
    *q = (cli_questions){.flag = flag};
    if (!cli_prompt_check_system(engine)) return CLI_WRONG_USAGE;
    if (tool_file_read(options->prompts, &bytes, &n, &err)) return cli_flag_refuse(flag, &err);
    char *category = category_of(options->prompts);
    int status = category ? lines_read(q, engine, bytes, n, category) : memory_fail();
    free(category);
    free(bytes);
    if (!status) status = questions_any(q, options);
    if (!status) status = categories_list(q);
    return status ? status : categories_check(q, &options->categories);
}

int cli_questions_fit(cli_questions *q, int64_t n_ctx, int64_t n_answer, const char *remedy)
{
    size_t kept = 0;
    int status = CLI_DONE;
    for (size_t i = 0; i < q->n; i++) {
        cli_question *question = &q->items[i];
        const int64_t n = (int64_t)question->tokens.n;
        if (n + n_answer <= n_ctx) {
            q->items[kept++] = *question;
            continue;
        }
        if (!status)
            status = bad_add(q, question->line, "%lld tokens and an answer of %lld don't fit into a context of %lld",
                             (long long)n, (long long)n_answer, (long long)n_ctx);
        question_free(question);
    }
    q->n = kept;
    if (!status && q->n == 0) {
        tool_complain("--%s: no prompt fits into the context: %s", q->flag, remedy);
        return CLI_FAILED;
    }
    return status;
}
