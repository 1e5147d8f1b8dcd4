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

#include "os/os.h"
#include "text/chat/conversation.h"
#include "text/internal.h"
#include "text/jinja/template.h"
#include "text/chat/templates.h"

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
    const vouch_chat_template *named;
    for (size_t i = 0; !given && (named = vouch_template_at(i)) != NULL; i++)
        if (vouch_text_is(of_file, named->name)) return (vouch_text){named->text, strlen(named->text)};
    if (!given) return of_file;
    named = vouch_template_find(given);
    if (named && strcmp(given, "chatml") == 0 && writes_chatml(of_file)) {
        const vouch_status status = syntax_check(of_file, NULL);
        if (status == VOUCH_OK || status == VOUCH_E_MEMORY) return of_file; /* vouch_chat_open checks it again */
    }
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
    const vouch_status status = run.failed ? vouch_fail(err, run.error.code, "%s", run.error.message) : VOUCH_OK;
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
    return vouch_fail(err, VOUCH_E_UNSUPPORTED, "chat template: the model has no token %s, which ChatML needs",
                      missing);
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

vouch_status vouch_chat_open(vouch_tokenizer *tokenizer, vouch_text chat_template, const char *given, vouch_error *err)
{
    static const char *const switches[] = {"enable_thinking", "thinking"};
    vouch_error own;
    if (!err) err = &own;
    tokenizer->chat_template = chat_template;
    if (chat_template.size == 0) return VOUCH_OK;
    if (given_check(tokenizer, given, err) != VOUCH_OK) {
        if (err->code == VOUCH_E_MEMORY) return err->code;
        tokenizer->chat_error = *err;
        tokenizer->chat_error.code = VOUCH_E_UNSUPPORTED;
    }
    for (size_t i = 0; i < sizeof switches / sizeof *switches && !tokenizer->chat_thinks; i++)
        if (template_names(tokenizer, switches[i], &tokenizer->chat_thinks, err) == VOUCH_E_MEMORY) return err->code;
    return VOUCH_OK;
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
    return tokenizer->chat_thinks;
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
    if (n == 0 || !messages) return vouch_fail(err, VOUCH_E_ARGUMENT, "a conversation needs at least one message");
    for (size_t i = 0; i < n; i++) {
        const char *role = messages[i].role;
        if (!role || !messages[i].content)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "message %zu has no %s", i, role ? "content" : "role");
        if (!vouch_chat_role_is_known(role))
            return vouch_fail(err, VOUCH_E_ARGUMENT, "message %zu has the role \"%.40s\"; expected " CHAT_ROLES, i,
                              role);
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

/* Some templates read the tools under names of their own: SmolLM3's as xml_tools, Firefunction's as a JSON text with
 * the date beside it. */
static vouch_status tools_add_again(jinja_run *run, const vouch_tokenizer *t, jinja_value all, vouch_error *err)
{
    const jinja_value name = jinja_text(vouch_jinja_literal("tools"));
    const jinja_value *tools = vouch_jinja_dict_get(run, all.dict, &name);
    bool reads_xml = false, reads_text = false, reads_tools = false;
    if (!tools || tools->kind != JINJA_LIST || tools->list->n == 0) return VOUCH_OK;
    VOUCH_TRY(template_names(t, "tools", &reads_tools, err));
    VOUCH_TRY(template_names(t, "xml_tools", &reads_xml, err));
    VOUCH_TRY(template_names(t, "functions", &reads_text, err));
    if (reads_xml) vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("xml_tools")), *tools);
    if (reads_tools || !reads_text) return VOUCH_OK;
    const jinja_json plain = {.indent = -1};
    const time_t now = (time_t)run->now;
    char date[64];
    struct tm parts;
    jinja_builder text = {0}, day = {0};
    vouch_jinja_to_json(run, &text, tools, &plain);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &parts));
    vouch_jinja_add_text(run, &day, date);
    vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("functions")),
                         jinja_text(vouch_jinja_built(&text)));
    vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("datetime")),
                         jinja_text(vouch_jinja_built(&day)));
    return VOUCH_OK;
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
        VOUCH_TRY(tools_add_again(run, t, *all, err));
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

/* Finds out what a template does with made-up conversations. */
typedef struct prober {
    const vouch_tokenizer *t;
    bool lacks_memory; /* A probe ran out of memory, so the answers of all probes are ignored. */
} prober;

static const char *const nothing[] = {"\377", "\377"}; /* no template writes these */

/* Does the template write `must` for this conversation, and nowhere one of `never`? root: NULL where there was no
 * memory for it. */
static bool writes(prober *p, const json_t *root, const char *must, const char *const never[2])
{
    jinja_run run;
    jinja_string text = {0};
    const conversation probe = {.json = root, .bytes = 1024};
    if (!root) {
        p->lacks_memory = true;
        return false;
    }
    const vouch_status status = render(p->t, &probe, &run, &text, NULL);
    bool is_right = status == VOUCH_OK && text.n > 0 && memmem(text.bytes, text.n, must, strlen(must));
    for (int i = 0; i < 2 && is_right; i++) is_right = !memmem(text.bytes, text.n, never[i], strlen(never[i]));
    vouch_jinja_run_end(&run);
    p->lacks_memory |= status == VOUCH_E_MEMORY;
    return is_right;
}

/* Does the template write a part's text alone? */
static bool reads_parts(prober *p)
{
    static const char *const never[] = {"needle'", "needle\""};
    json_t *root = json_pack("{s:[{s:s, s:[{s:s, s:s}]}]}", "messages", "role", "user", "content", "type", "text",
                             "text", "needle");
    const bool is_right = writes(p, root, "needle", never);
    json_decref(root);
    return is_right;
}

/* A template that doesn't speak of developers would lose their messages, refuse them, or show the model a role that it
 * has never seen. */
static bool knows_developers(prober *p)
{
    static const char role[] = "developer";
    if (!memmem(p->t->chat_template.data, p->t->chat_template.size, role, strlen(role))) return false;
    json_t *root = json_pack("{s:[{s:s, s:s}, {s:s, s:s}]}", "messages", "role", role, "content", "needle", "role",
                             "user", "content", "question");
    const bool is_written = writes(p, root, "needle", nothing);
    json_decref(root);
    return is_written;
}

/* Does the template write both of two system messages? Some keep one of them, some refuse the second. */
static bool writes_two_systems(prober *p)
{
    json_t *root =
        json_pack("{s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]}", "messages", "role", "system", "content", "needle_a",
                  "role", "system", "content", "needle_b", "role", "user", "content", "question");
    const bool are_written = writes(p, root, "needle_a", nothing) && writes(p, root, "needle_b", nothing);
    json_decref(root);
    return are_written;
}

/* Of conversation_ids. */
static const char *const probe_ids[] = {"call_0123456789abcdef", "abcdefghi", "functions.probe_call:0"};

/* A question, a call of this name in the template's form, and the messages `more`, which it takes. NULL: there is no
 * memory for it. */
static json_t *probe_call(const conversation_form *form, const char *name, json_t *more)
{
    static const char tools[] =
        "[{\"type\": \"function\", \"function\": {\"name\": \"probe_tool\", \"description\": \"d\", \"parameters\": "
        "{\"type\": \"object\", \"properties\": {\"key\": {\"type\": \"string\", \"description\": \"d\"}}, "
        "\"required\": [\"key\"], \"additionalProperties\": false}}}]";
    json_t *arguments =
               form->text_arguments ? json_string("{\"key\": \"needle\"}") : json_pack("{s:s}", "key", "needle"),
           *content = form->null_content ? json_null() : json_string("");
    json_t *messages =
        json_pack("[{s:s, s:s}, {s:s, s:o, s:[{s:s, s:s, s:{s:s, s:o}}]}]", "role", "user", "content", "question",
                  "role", "assistant", "content", content, "tool_calls", "id", probe_ids[form->ids], "type", "function",
                  "function", "name", name, "arguments", arguments);
    const bool is_whole = json_array_extend(messages, more) == 0;
    json_decref(more);
    json_t *root = json_pack("{s:o, s:o}", "messages", messages, "tools", json_loads(tools, 0, NULL));
    if (is_whole) return root;
    json_decref(root);
    return NULL;
}

/* Does the template write `must` for a call of this name? Its arguments must be written as JSON: repr() of Python and a
 * string of JSON put something else around the key. */
static bool writes_call(prober *p, const conversation_form *form, const char *name, const char *must)
{
    static const char *const never[] = {"'key': ", "\\\"needle"};
    json_t *root = probe_call(form, name, json_array());
    const bool is_right = writes(p, root, must, never);
    json_decref(root);
    return is_right;
}

/* Does the template write a question right after a result? Mistral's asks for an answer between them. A template that
 * doesn't write the result alone either isn't helped by joining them. */
static bool joins_results(prober *p, const conversation_form *form)
{
    bool is_written[2];
    for (int asks = 0; asks < 2; asks++) {
        json_t *more = asks ? json_pack("[{s:s, s:s, s:s}, {s:s, s:s}]", "role", "tool", "tool_call_id",
                                        probe_ids[form->ids], "content", "result", "role", "user", "content", "result")
                            : json_pack("[{s:s, s:s, s:s}]", "role", "tool", "tool_call_id", probe_ids[form->ids],
                                        "content", "result");
        json_t *root = probe_call(form, "probe_call", more);
        is_written[asks] = writes(p, root, "result", nothing);
        json_decref(root);
    }
    return is_written[0] && !is_written[1];
}

/* Finds how the template reads calls: the first form in which it writes one. A template that writes none gets the
 * first. */
static void find_call_form(prober *p, conversation_form *form)
{
    for (int i = 0; i < 8; i++) {
        conversation_form one = {.parts = form->parts,
                                 .null_content = i & 1,
                                 .text_arguments = i & 2,
                                 .ids = i & 4 ? CONVERSATION_IDS_NINE : CONVERSATION_IDS_ANY};
        if (!writes_call(p, &one, "probe_call", "needle")) continue;
        *form = one;
        one.ids = CONVERSATION_IDS_FUNCTION; /* of a template that writes the id, and no name */
        if (!writes_call(p, form, "probe_call", "probe_call") &&
            writes_call(p, &one, "probe_call", "functions.probe_call"))
            form->ids = one.ids;
        return;
    }
}

/* Can the template write a conversation with these tools? */
static bool reads_tools(prober *p, const json_t *root)
{
    json_t *asked = json_pack("{s:[{s:s, s:s}], s:O}", "messages", "role", "user", "content", "question", "tools",
                              json_object_get(root, "tools"));
    const bool is_right = writes(p, asked, "question", nothing);
    json_decref(asked);
    return is_right;
}

/* Rewrites what the template doesn't read as the conversation has it. */
static vouch_status rewrite(const vouch_tokenizer *t, json_t *root, vouch_error *err)
{
    conversation_form form = {.parts = true};
    prober p = {.t = t};
    if (vouch_conversation_has_parts(root)) form.parts = reads_parts(&p);
    if (vouch_conversation_has_calls(root)) find_call_form(&p, &form);
    if (vouch_conversation_has_developer(root)) form.renames_developer = !knows_developers(&p);
    if (vouch_conversation_begins_with_two_systems(root, form.renames_developer))
        form.joins_systems = !writes_two_systems(&p);
    if (vouch_conversation_asks_after_result(root)) form.joins_results = joins_results(&p, &form);
    const bool has_bare_tools = vouch_conversation_has_bare_tools(root);
    const bool completes = has_bare_tools && !reads_tools(&p, root);
    if (p.lacks_memory) return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory to try the chat template");
    VOUCH_TRY(vouch_conversation_rewrite(root, &form, err));
    return completes ? vouch_conversation_complete_tools(root, err) : VOUCH_OK;
}

/* ----------------------------------------------------------------- the functions */

static vouch_status template_need(const vouch_tokenizer *tokenizer, vouch_error *err)
{
    if (!tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model has no tokenizer; give token ids instead of text");
    if (tokenizer->chat_template.size == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model's chat template is missing; give a plain prompt%s%s",
                          *vouch_tokenizer_chat_fitting(tokenizer) ? ", or the chat template " : "",
                          vouch_tokenizer_chat_fitting(tokenizer));
    if (tokenizer->chat_error.code != VOUCH_OK)
        return vouch_fail(err, tokenizer->chat_error.code, "%s", tokenizer->chat_error.message);
    return VOUCH_OK;
}

/* Does the template itself write BOS? Where it doesn't, BOS is added if the file asks for it. */
static bool writes_bos(const vouch_tokenizer *t, jinja_string text)
{
    return text.n > 0 && vouch_jinja_mark(text, 0) == JINJA_OF_TEMPLATE && vouch_begins_with_bos(t, text.bytes, text.n);
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
        if (!writes_bos(tokenizer, text)) vouch_encoder_bos(&e);
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
            status =
                vouch_fail(err, VOUCH_E_BUFFER, "%zu bytes of text do not fit into a buffer for %zu", text.n, capacity);
        }
    }
    vouch_jinja_run_end(&run);
    return status;
}

vouch_status vouch_tokenizer_encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages,
                                         size_t n_messages, int32_t *tokens, size_t capacity, size_t *n_tokens,
                                         vouch_error *err)
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
