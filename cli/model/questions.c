/* SPDX-License-Identifier: MIT */
#include "model/questions.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool/file.h"
#include "tool/text.h"

enum { MOST_COMPLAINTS = 20 }; /* about bad lines: the wrong file may have thousands */

/* About half of the published questions of SPEED-Bench have this placeholder where another publisher's text belongs. */
static const char placeholder[] = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE";

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
    if (q->n_bad <= MOST_COMPLAINTS)
        tool_complain("--%s %s: line %d is left out: %s", q->flag, q->path, line, bad->reason);
    else if (q->n_bad == MOST_COMPLAINTS + 1) tool_complain("--%s %s: more lines are left out", q->flag, q->path);
    return CLI_DONE;
}

static void question_free(cli_question *question)
{
    free(question->id);
    free(question->category);
    for (size_t i = 0; i < question->n_turns; i++) free(question->turns[i]);
    free(question->turns);
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

/* A line of the file, read as a question. `why` says what is wrong with the line, and is empty if nothing is. */
typedef struct record {
    cli_question question;
    char why[sizeof((cli_bad_line *)0)->reason];
} record;

__attribute__((format(printf, 2, 3))) static void refuse(record *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, sizeof r->why, format, arguments);
    va_end(arguments);
}

/* Refuses the value of a field, such as turns[1], and shows how it begins. */
static void refuse_value(record *r, const char *where, const json_t *value, const char *expected)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    refuse(r, "%s: %.40s: expected %s", where, text ? text : "nothing", expected);
    free(text);
}

/* The value of a field. NULL: the field is absent or null. */
static const json_t *field_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

/* The first of these fields that has a value, which *value receives. NULL: none has. */
static const char *field_first(const json_t *object, const char *const *names, size_t n, const json_t **value)
{
    for (size_t i = 0; i < n; i++)
        if ((*value = field_of(object, names[i]))) return names[i];
    return NULL;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == 0;
}

/* The id of a prompt: "question_id": 81, "task_id": "HumanEval/0" or "id": 7, or else the number of the line. Without
 * memory the id is NULL. */
static void id_read(record *r, const json_t *object)
{
    static const char *const names[] = {"question_id", "task_id", "id"};
    const json_t *id;
    char digits[32];
    const char *name = field_first(object, names, sizeof names / sizeof *names, &id);
    if (name && !json_is_string(id) && !json_is_integer(id)) refuse_value(r, name, id, "a text or a whole number");
    snprintf(digits, sizeof digits, "%lld",
             name && json_is_integer(id) ? (long long)json_integer_value(id) : (long long)r->question.line);
    r->question.id = strdup(name && json_is_string(id) ? json_string_value(id) : digits);
}

static void category_read(record *r, const json_t *object, const char *fallback)
{
    const json_t *category = field_of(object, "category");
    const char *name = category ? json_string_value(category) : fallback;
    if (category && (!name || is_blank(name))) refuse_value(r, "category", category, "a name, or no such field");
    r->question.category = strdup(name ? name : "");
}

/* The text of a member of the field `name`, whose place is `where`, such as turns[1]. NULL: it has none. */
static const char *turn_of(record *r, const char *name, const char *where, const json_t *given)
{
    const bool is_message = strcmp(name, "messages") == 0;
    const char *role = is_message ? json_string_value(json_object_get(given, "role")) : NULL;
    const char *text = json_string_value(is_message ? json_object_get(given, "content") : given);
    if (is_message && (!role || strcmp(role, "user") != 0))
        refuse_value(r, where, given,
                     "\"role\": \"user\"; the model writes the answers, --system is the system's message");
    else if (!text) refuse_value(r, where, given, is_message ? "a text as its \"content\"" : "a text");
    else if (is_blank(text)) refuse_value(r, where, given, "a text that isn't empty");
    else if (strstr(text, placeholder))
        refuse(r, "%s: SPEED-Bench's placeholder; prepare the file with the data set's script, which fetches the text",
               where);
    return *r->why ? NULL : text;
}

/* Reads the texts. False: not enough memory. */
static bool turns_read(record *r, const json_t *object)
{
    static const char *const names[] = {"turns", "messages", "prompt", "question"};
    cli_question *question = &r->question;
    const json_t *value;
    const char *name = field_first(object, names, sizeof names / sizeof *names, &value);
    if (!name) {
        refuse(r, "no prompt: expected a field turns, messages, prompt or question");
        return true;
    }
    const bool is_list = strcmp(name, "turns") == 0 || strcmp(name, "messages") == 0;
    const size_t n = is_list ? json_array_size(value) : 1;
    if (n == 0) {
        refuse_value(r, name, value, *name == 't' ? "a list of texts" : "a list of messages");
        return true;
    }
    question->turns = calloc(n, sizeof *question->turns);
    if (!question->turns) return false;
    for (size_t i = 0; i < n; i++) {
        char where[40];
        if (is_list) snprintf(where, sizeof where, "%s[%zu]", name, i);
        else snprintf(where, sizeof where, "%s", name);
        const char *text = turn_of(r, name, where, is_list ? json_array_get(value, i) : value);
        if (!text) return true;
        question->turns[i] = strdup(text);
        if (!question->turns[i]) return false;
        question->n_turns++;
    }
    return true;
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

/* Takes the question. */
static int question_add(cli_questions *q, const cli_engine *engine, cli_question *question)
{
    vouch_error err;
    if (!is_wanted(engine->options, q, question->category)) {
        question_free(question);
        return CLI_DONE;
    }
    cli_question *items = list_grow(q->items, q->n, sizeof *items);
    if (items) q->items = items;
    const char *first = question->turns[0];
    vouch_status status = VOUCH_E_MEMORY;
    if (items) status = cli_prompt_tokenize_question(engine, first, strlen(first), &question->tokens, &err);
    if (items && !status) {
        q->items[q->n++] = *question;
        return CLI_DONE;
    }
    question_free(question);
    return items ? cli_engine_fail(&err) : memory_fail();
}

static int json_line(cli_questions *q, const cli_engine *engine, const char *text, size_t n, const char *category,
                     int32_t line)
{
    json_error_t error;
    json_t *object = json_loadb(text, n, JSON_DECODE_ANY, &error);
    record r = {.question = {.line = line}};
    if (!object && json_error_code(&error) == json_error_null_character)
        return bad_add(q, line, "expected texts without NUL characters");
    if (!object) return bad_add(q, line, "no JSON: %.100s", error.text);
    if (!json_is_object(object)) refuse(&r, "expected a JSON object");
    bool ok = true;
    if (!*r.why) ok = turns_read(&r, object);
    if (!*r.why) id_read(&r, object);
    if (!*r.why) category_read(&r, object, category);
    json_decref(object);
    if (!*r.why && ok && r.question.id && r.question.category) return question_add(q, engine, &r.question);
    question_free(&r.question);
    return *r.why ? bad_add(q, line, "%s", r.why) : memory_fail();
}

static int plain_line(cli_questions *q, const cli_engine *engine, char *text, size_t n, const char *category,
                      int32_t line)
{
    const char *nul = memchr(text, 0, n);
    if (nul) return bad_add(q, line, "a NUL byte at %zu", (size_t)(nul - text));
    text[n] = 0;
    record r = {.question = {.category = strdup(category), .turns = calloc(1, sizeof(char *)), .line = line}};
    id_read(&r, NULL);
    if (r.question.turns) r.question.turns[0] = strdup(text);
    r.question.n_turns = r.question.turns && r.question.turns[0];
    if (r.question.id && r.question.category && r.question.n_turns == 1) return question_add(q, engine, &r.question);
    question_free(&r.question);
    return memory_fail();
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
        tool_complain("--%s %s: found one JSON array; expected one JSON object per line", q->flag, q->path);
        return CLI_FAILED;
    }
    if (n >= 4 && memcmp(bytes, "PAR1", 4) == 0) {
        tool_complain("--%s %s: a Parquet file; expected JSON lines, such as pandas writes with to_json(..., "
                      "orient=\"records\", lines=True)",
                      q->flag, q->path);
        return CLI_FAILED;
    }
    const bool json = holds_json(q->path, bytes);
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
    tool_complain("--%s: %s has no prompt to answer%s", q->flag, q->path,
                  options->categories.n > 0 ? " in the categories named" : "");
    return CLI_FAILED;
}

int cli_questions_read(cli_questions *q, const cli_engine *engine, const char *flag)
{
    const cli_options *options = engine->options;
    vouch_error err;
    char *bytes = NULL;
    size_t n;
    *q = (cli_questions){.flag = flag, .path = options->prompts};
    if (!cli_prompt_check_system(engine)) return CLI_WRONG_USAGE;
    if (tool_file_read(q->path, &bytes, &n, &err)) return cli_flag_refuse(flag, &err);
    char *category = category_of(q->path);
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
