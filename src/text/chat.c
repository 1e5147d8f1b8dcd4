/* SPDX-License-Identifier: MIT */
/*
 * A conversation through the model's chat template:
 *
 *   messages, or JSON ──► variables of the template ──► text with marks ──► ids
 *   (conversation.c)      messages, bos_token, ...      (jinja/)           (encode.c)
 *
 * A template is a program in the model's file, or the caller's. It runs within limits (jinja/template.h) and can do
 * nothing but write text. Marks say of each byte whether the template, the caller or the model wrote it; only
 * the template can name a control token. Such a name inside a message becomes ordinary tokens.
 */
#include <string.h>
#include <time.h>

#include "text/conversation.h"
#include "text/internal.h"
#include "text/jinja/template.h"
#include "text/templates.h"

#define IM_START "<|im_start|>"
#define IM_END   "<|im_end|>"

/* Limits of one rendering. Each byte of the conversation adds a step and 64 bytes (limits_of). */
static const jinja_limits limits = {.steps = 20 * 1000 * 1000, .bytes = 64 << 20, .depth = 200};

/* ----------------------------------------------------------------- the template */

static bool writes_chatml(vouch_text text)
{
    return text.size > 0 && memmem(text.data, text.size, IM_START, strlen(IM_START));
}

static vouch_status syntax_check(vouch_text text, vouch_error *err)
{
    jinja_run run;
    vouch_jinja_run_begin(&run, &limits);
    const vouch_status status = vouch_jinja_check(&run, text.data, text.size, err);
    vouch_jinja_run_end(&run);
    return status;
}

vouch_text vouch_chat_choose(vouch_text of_file, const char *given)
{
    const vouch_chat_template *named = vouch_template_find(given);
    const bool is_chatml = named && strcmp(given, "chatml") == 0;
    if (is_chatml && writes_chatml(of_file) && syntax_check(of_file, NULL) == VOUCH_OK) return of_file;
    const char *text = named ? named->text : given;
    return (vouch_text){text, strlen(text)};
}

static bool has_marker(const vouch_tokenizer *tokenizer, const char *name)
{
    size_t length = 0;
    return vouch_specials_match(tokenizer, MATCH_CONTROL | MATCH_USER_DEFINED, name, strlen(name), &length) >= 0 &&
           length == strlen(name);
}

/* The first token of a template that the vocabulary lacks; NULL: it has all. */
static const char *missing_token(const vouch_tokenizer *tokenizer, const vouch_chat_template *named)
{
    const char *const *name = named->tokens;
    while (*name && has_marker(tokenizer, *name)) name++;
    return *name;
}

/* Whether the template names a variable. Errors: as of syntax_check. */
static vouch_status template_names(const vouch_tokenizer *tokenizer, const char *name, bool *is_named, vouch_error *err)
{
    jinja_run run;
    vouch_jinja_run_begin(&run, &limits);
    *is_named = vouch_jinja_names(&run, tokenizer->chat_template.data, tokenizer->chat_template.size, name);
    if (run.failed && err) *err = run.error;
    const vouch_status status = run.failed ? run.error.code : VOUCH_OK;
    vouch_jinja_run_end(&run);
    return status;
}

/* Checks that the template can be run with this vocabulary. The error says why it can't. */
static vouch_status template_check(const vouch_tokenizer *tokenizer, vouch_error *err)
{
    const vouch_text text = tokenizer->chat_template;
    bool is_named;
    VOUCH_TRY(syntax_check(text, err));
    VOUCH_TRY(template_names(tokenizer, "messages", &is_named, err));
    if (!is_named)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "chat template: it never names the variable messages, so it can't write a conversation: "
                          "give a Jinja template, or the name of one, such as \"chatml\"");
    if (!writes_chatml(text)) return VOUCH_OK;
    const char *missing = !has_marker(tokenizer, IM_START) ? IM_START : !has_marker(tokenizer, IM_END) ? IM_END : NULL;
    if (!missing) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "chat template: the model has no token %s, which ChatML needs", missing);
}

/* `given`: the caller's template or the name of one, or NULL. */
static vouch_status given_check(const vouch_tokenizer *tokenizer, const char *given, vouch_error *err)
{
    const vouch_chat_template *named = given ? vouch_template_find(given) : NULL;
    const char *missing = named ? missing_token(tokenizer, named) : NULL;
    if (!missing) return template_check(tokenizer, err);
    const char *fitting = vouch_tokenizer_chat_fitting(tokenizer);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "chat template: the model has no token %s, which %s needs%s%s", missing,
                      given, *fitting ? "; its tokens fit " : "", fitting);
}

const char *vouch_tokenizer_chat_fitting(const vouch_tokenizer *tokenizer)
{
    const vouch_chat_template *named;
    for (size_t i = 0; (named = vouch_template_at(i)) != NULL; i++)
        if (*named->tokens && !missing_token(tokenizer, named)) return named->name;
    return "";
}

void vouch_chat_open(vouch_tokenizer *tokenizer, vouch_text chat_template, const char *given)
{
    tokenizer->chat_template = chat_template;
    if (chat_template.size == 0) return;
    const vouch_status status = given_check(tokenizer, given, &tokenizer->chat_error);
    if (status != VOUCH_OK && status != VOUCH_E_MEMORY) tokenizer->chat_error.code = VOUCH_E_UNSUPPORTED;
}

const char *vouch_tokenizer_chat_text(const vouch_tokenizer *tokenizer)
{
    return tokenizer->chat_template.data;
}

const char *vouch_tokenizer_chat_template(const vouch_tokenizer *tokenizer)
{
    if (tokenizer->chat_template.size == 0) return "none";
    return tokenizer->chat_error.code == VOUCH_OK ? "jinja" : "unsupported";
}

int32_t vouch_tokenizer_chat_lines(const vouch_tokenizer *tokenizer)
{
    const vouch_text text = tokenizer->chat_template;
    int32_t n = text.size > 0 && text.data[text.size - 1] != '\n';
    for (size_t i = 0; i < text.size; i++) n += text.data[i] == '\n';
    return n;
}

const char *vouch_tokenizer_chat_problem(const vouch_tokenizer *tokenizer)
{
    return tokenizer->chat_error.message; /* zeroed at open */
}

bool vouch_tokenizer_chat_thinks(const vouch_tokenizer *tokenizer)
{
    bool by_flag = false, by_word = false;
    (void)template_names(tokenizer, "enable_thinking", &by_flag, NULL);
    (void)template_names(tokenizer, "thinking", &by_word, NULL);
    return by_flag || by_word;
}

/* ----------------------------------------------------------------- conversation */

bool vouch_chat_role_is_known(const char *role)
{
    static const char *const roles[] = {"system", "developer", "user", "assistant", "tool"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role, roles[i]) == 0) return true;
    return false;
}

static vouch_status messages_check(const vouch_message *messages, size_t n, vouch_error *err)
{
    if (n == 0 || !messages)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "a conversation needs at least one message");
    for (size_t i = 0; i < n; i++) {
        const char *role = messages[i].role;
        if (!role || !messages[i].content)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "message %zu has no %s", i, role ? "content" : "role");
        if (!vouch_chat_role_is_known(role))
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "message %zu has the role \"%.40s\"; expected " CHAT_ROLES, i, role);
    }
    return VOUCH_OK;
}

/* A conversation as the caller gives it: messages [n], or, where messages is NULL, json. */
typedef struct conversation {
    const vouch_message *messages;
    size_t n;
    const json_t *json;
    size_t bytes; /* of its text */
} conversation;

static void set_text(jinja_run *run, jinja_value dict, const char *name, vouch_text text, jinja_mark mark)
{
    const jinja_string value = {.bytes = text.data, .n = text.size, .mark = (uint8_t)mark};
    if (!run->failed) vouch_jinja_dict_set(run, dict.dict, jinja_text(vouch_jinja_literal(name)), jinja_text(value));
}

static jinja_value message_value(jinja_run *run, const vouch_message *message)
{
    const bool is_answer = strcmp(message->role, "assistant") == 0;
    const jinja_value dict = vouch_jinja_dict_new(run, JINJA_DICT);
    set_text(run, dict, "role", (vouch_text){message->role, strlen(message->role)}, JINJA_OF_CALLER);
    set_text(run, dict, "content", (vouch_text){message->content, strlen(message->content)},
             is_answer ? JINJA_OF_MODEL : JINJA_OF_CALLER);
    return dict;
}

static void messages_add(jinja_run *run, jinja_value all, const conversation *given)
{
    const jinja_value list = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; i < given->n && !run->failed; i++)
        vouch_jinja_list_push(run, list.list, message_value(run, &given->messages[i]));
    if (!run->failed) vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("messages")), list);
}

/* The template's variables, named as transformers names them. The conversation's variables come last, so that they
 * replace others. */
static vouch_status variables_of(jinja_run *run, const vouch_tokenizer *t, const conversation *given, jinja_value *all,
                                 vouch_error *err)
{
    *all = vouch_jinja_dict_new(run, JINJA_DICT);
    if (run->failed) return vouch_fail(err, run->error.code, "%s", run->error.message);
    vouch_jinja_dict_set(run, all->dict, jinja_text(vouch_jinja_literal("add_generation_prompt")), jinja_bool(true));
    if (t->bos >= 0) set_text(run, *all, "bos_token", tokenizer_text(t, t->bos), JINJA_OF_TEMPLATE);
    if (t->eos >= 0) set_text(run, *all, "eos_token", tokenizer_text(t, t->eos), JINJA_OF_TEMPLATE);
    if (t->chat_variables) VOUCH_TRY(vouch_variables_add(run, all->dict, t->chat_variables, err));
    if (!given->messages) {
        VOUCH_TRY(vouch_conversation_add(run, all->dict, given->json, err));
        if (vouch_conversation_continues(given->json))
            vouch_jinja_dict_set(run, all->dict, jinja_text(vouch_jinja_literal("add_generation_prompt")),
                                 jinja_bool(false));
        return VOUCH_OK;
    }
    messages_add(run, *all, given);
    return VOUCH_OK; /* if the run has failed, rendering reports it */
}

static jinja_limits limits_of(size_t bytes)
{
    jinja_limits all = limits;
    all.steps += (int64_t)bytes;
    all.bytes += 64 * (bytes < SIZE_MAX / 128 ? bytes : SIZE_MAX / 128);
    return all;
}

/* Renders the conversation to *text, on the run's heap. Begins the run; the caller ends it, also on failure. */
static vouch_status render(const vouch_tokenizer *t, const conversation *given, jinja_run *run, jinja_string *text,
                           vouch_error *err)
{
    const jinja_limits most = limits_of(given->bytes);
    jinja_value variables;
    vouch_jinja_run_begin(run, &most);
    run->now = (double)time(NULL);
    VOUCH_TRY(variables_of(run, t, given, &variables, err));
    VOUCH_TRY(vouch_jinja_render(run, t->chat_template.data, t->chat_template.size, &variables, text, err));
    return vouch_conversation_continues(given->json) ? vouch_conversation_cut(given->json, text, err) : VOUCH_OK;
}

/* ------------------------------------------------------------------- other forms */

/* Does the template write `must` for this conversation, without a quote behind it? repr() and JSON would add one. */
static bool writes(const vouch_tokenizer *t, const char *json, const char *must)
{
    json_t *root;
    jinja_run run;
    jinja_string text = {0};
    if (vouch_conversation_read(&root, json, strlen(json), NULL)) return false;
    const conversation probe = {.json = root, .bytes = strlen(json)};
    const bool renders = render(t, &probe, &run, &text, NULL) == VOUCH_OK;
    const char *found = renders ? memmem(text.bytes, text.n, must, strlen(must)) : NULL;
    const char *behind = found ? found + strlen(must) : NULL;
    const bool is_right = found && (behind == text.bytes + text.n || !strchr("'\"", *behind));
    vouch_jinja_run_end(&run);
    json_decref(root);
    return is_right;
}

/* The OpenAI API sends content in parts and arguments as text. Many templates can't read one or both forms. A probe
 * finds out: the template must write a part's text alone, and arguments without escapes. */
static vouch_status rewrite(const vouch_tokenizer *t, json_t *root, vouch_error *err)
{
#define QUESTION "{\"role\": \"user\", \"content\": \"question\"}"
    static const char parts[] =
        "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"needle\"}]}]";
    static const char call[] = "[" QUESTION ", {\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": "
                               "[{\"id\": \"abcdefghi\", \"type\": \"function\", \"function\": "
                               "{\"name\": \"f\", \"arguments\": \"{\\\"needle\\\": 1}\"}}]}]";
    if (vouch_conversation_has(root, CONVERSATION_PARTS) && !writes(t, parts, "needle"))
        VOUCH_TRY(vouch_conversation_rewrite(root, CONVERSATION_PARTS, err));
    if (vouch_conversation_has(root, CONVERSATION_ARGUMENTS) && !writes(t, call, "{\"needle\": 1}"))
        VOUCH_TRY(vouch_conversation_rewrite(root, CONVERSATION_ARGUMENTS, err));
    return VOUCH_OK;
}

/* ----------------------------------------------------------------- the functions */

static vouch_status template_need(const vouch_tokenizer *tokenizer, vouch_error *err)
{
    if (!tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the model has no tokenizer; give token ids instead of text");
    if (tokenizer->chat_template.size == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the model's chat template is missing; give a plain prompt%s%s",
                          *vouch_tokenizer_chat_fitting(tokenizer) ? ", or the chat template " : "",
                          vouch_tokenizer_chat_fitting(tokenizer));
    if (tokenizer->chat_error.code != VOUCH_OK)
        return vouch_fail(err, tokenizer->chat_error.code, "%s", tokenizer->chat_error.message);
    return VOUCH_OK;
}

static vouch_status conversation_encode(const vouch_tokenizer *tokenizer, const conversation *given, int32_t *tokens,
                                        size_t capacity, size_t *n_tokens, vouch_error *err)
{
    jinja_run run;
    jinja_string text = {0};
    encoder e;
    vouch_status status = render(tokenizer, given, &run, &text, err);
    if (status == VOUCH_OK) status = vouch_encoder_open(&e, tokenizer, tokens, capacity, err);
    if (status == VOUCH_OK) {
        status = vouch_encoder_marked(&e, text.bytes, text.marks, text.n, err);
        if (status == VOUCH_OK) status = vouch_encoder_result(&e, n_tokens, err);
        vouch_encoder_close(&e);
    }
    vouch_jinja_run_end(&run);
    return status;
}

static vouch_status conversation_write(const vouch_tokenizer *tokenizer, const conversation *given, char *out,
                                       size_t capacity, size_t *n_text, vouch_error *err)
{
    jinja_run run;
    jinja_string text = {0};
    vouch_status status = render(tokenizer, given, &run, &text, err);
    if (status == VOUCH_OK) {
        *n_text = text.n;
        if (text.n <= capacity) {
            if (text.n) memcpy(out, text.bytes, text.n);
        } else {
            status = vouch_fail(err, VOUCH_E_BUFFER, "%zu bytes of text do not fit into a buffer for %zu", text.n,
                                capacity);
        }
    }
    vouch_jinja_run_end(&run);
    return status;
}

vouch_status vouch_tokenizer_encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages,
                                         size_t n_messages, int32_t *tokens, size_t capacity,
                                         size_t *n_tokens, vouch_error *err)
{
    *n_tokens = 0;
    VOUCH_TRY(template_need(tokenizer, err));
    VOUCH_TRY(messages_check(messages, n_messages, err));
    conversation given = {.messages = messages, .n = n_messages};
    for (size_t i = 0; i < n_messages; i++) given.bytes += strlen(messages[i].content);
    return conversation_encode(tokenizer, &given, tokens, capacity, n_tokens, err);
}

static vouch_status json_need(const vouch_tokenizer *tokenizer, const char *json, size_t n_json, json_t **root,
                              vouch_error *err)
{
    VOUCH_TRY(template_need(tokenizer, err));
    VOUCH_TRY(vouch_conversation_read(root, json, n_json, err));
    const vouch_status status = rewrite(tokenizer, *root, err);
    if (status != VOUCH_OK) json_decref(*root);
    return status;
}

vouch_status vouch_tokenizer_encode_json(const vouch_tokenizer *tokenizer, const char *json, size_t n_json,
                                         int32_t *tokens, size_t capacity, size_t *n_tokens, vouch_error *err)
{
    json_t *root;
    *n_tokens = 0;
    VOUCH_TRY(json_need(tokenizer, json, n_json, &root, err));
    const conversation given = {.json = root, .bytes = n_json};
    const vouch_status status = conversation_encode(tokenizer, &given, tokens, capacity, n_tokens, err);
    json_decref(root);
    return status;
}

vouch_status vouch_tokenizer_render_json(const vouch_tokenizer *tokenizer, const char *json, size_t n_json, char *text,
                                         size_t capacity, size_t *n_text, vouch_error *err)
{
    json_t *root;
    *n_text = 0;
    VOUCH_TRY(json_need(tokenizer, json, n_json, &root, err));
    const conversation given = {.json = root, .bytes = n_json};
    const vouch_status status = conversation_write(tokenizer, &given, text, capacity, n_text, err);
    json_decref(root);
    return status;
}

vouch_status vouch_tokenizer_set_variables(vouch_tokenizer *tokenizer, const char *json, vouch_error *err)
{
    return vouch_variables_read(&tokenizer->chat_variables, json, err);
}
