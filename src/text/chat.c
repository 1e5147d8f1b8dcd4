/* SPDX-License-Identifier: MIT */
/*
 * A conversation through the model's chat template:
 *
 *   messages ──► variables of the template ──► text with marks ──► ids
 *                 messages, bos_token, ...      (jinja/)           (encode.c)
 *
 * A template is a program in the model's file, or the caller's. It runs within limits (jinja/template.h) and can do
 * nothing but write text. The marks say of each byte whether the template, the caller or the model wrote it; only
 * the template can name a control token. A marker inside a message is spelled out in ordinary tokens.
 */
#include <string.h>
#include <time.h>

#include "text/internal.h"
#include "text/jinja/template.h"

#define IM_START "<|im_start|>"
#define IM_END   "<|im_end|>"

static const char chatml[] =
    "{% for message in messages %}" IM_START "{{ message.role + '\\n' + message.content }}" IM_END
    "\n{% endfor %}{% if add_generation_prompt %}" IM_START "assistant\n{% endif %}";

/* What one rendering may take, beside 64 times the bytes of the messages. */
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
    if (strcmp(given, "chatml") != 0) return (vouch_text){given, strlen(given)};
    if (writes_chatml(of_file) && syntax_check(of_file, NULL) == VOUCH_OK) return of_file;
    return (vouch_text){chatml, sizeof chatml - 1};
}

static bool has_marker(const vouch_tokenizer *tokenizer, const char *name)
{
    size_t length = 0;
    return vouch_specials_match(tokenizer, MATCH_CONTROL | MATCH_USER_DEFINED, name, strlen(name), &length) >= 0 &&
           length == strlen(name);
}

/* Why the template can't be run with this vocabulary. */
static vouch_status template_check(const vouch_tokenizer *tokenizer, vouch_error *err)
{
    const vouch_text text = tokenizer->chat_template;
    if (!memmem(text.data, text.size, "messages", strlen("messages")))
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "chat template: it never names the variable messages, so it can't write a conversation: "
                          "give a Jinja template, or \"chatml\"");
    VOUCH_TRY(syntax_check(text, err));
    if (!writes_chatml(text)) return VOUCH_OK;
    const char *missing = !has_marker(tokenizer, IM_START) ? IM_START : !has_marker(tokenizer, IM_END) ? IM_END : NULL;
    if (!missing) return VOUCH_OK;
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "chat template: the model has no token %s, which ChatML needs", missing);
}

void vouch_chat_open(vouch_tokenizer *tokenizer, vouch_text chat_template)
{
    tokenizer->chat_template = chat_template;
    if (chat_template.size == 0) return;
    const vouch_status status = template_check(tokenizer, &tokenizer->chat_error);
    if (status != VOUCH_OK && status != VOUCH_E_MEMORY) tokenizer->chat_error.code = VOUCH_E_UNSUPPORTED;
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

/* ----------------------------------------------------------------- conversation */

#define ROLES "system, developer, user, assistant and tool"

static bool role_is_known(const char *role)
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
        if (!role_is_known(role))
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "message %zu has the role \"%.40s\"; possible are " ROLES, i, role);
    }
    return VOUCH_OK;
}

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

/* The template's variables, named as transformers names them. */
static jinja_value variables_of(jinja_run *run, const vouch_tokenizer *t, const vouch_message *messages, size_t n)
{
    const jinja_value all = vouch_jinja_dict_new(run, JINJA_DICT), list = vouch_jinja_list_new(run, JINJA_LIST);
    for (size_t i = 0; i < n && !run->failed; i++)
        vouch_jinja_list_push(run, list.list, message_value(run, &messages[i]));
    if (run->failed) return all;
    vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("messages")), list);
    vouch_jinja_dict_set(run, all.dict, jinja_text(vouch_jinja_literal("add_generation_prompt")), jinja_bool(true));
    if (t->bos >= 0) set_text(run, all, "bos_token", tokenizer_text(t, t->bos), JINJA_OF_TEMPLATE);
    if (t->eos >= 0) set_text(run, all, "eos_token", tokenizer_text(t, t->eos), JINJA_OF_TEMPLATE);
    return all;
}

static jinja_limits limits_of(const vouch_message *messages, size_t n)
{
    jinja_limits all = limits;
    for (size_t i = 0; i < n; i++) {
        const size_t size = strlen(messages[i].content);
        all.steps += (int64_t)size;
        all.bytes += 64 * (size < SIZE_MAX / 128 ? size : SIZE_MAX / 128);
    }
    return all;
}

vouch_status vouch_tokenizer_encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages,
                                         size_t n_messages, int32_t *tokens, size_t capacity,
                                         size_t *n_tokens, vouch_error *err)
{
    *n_tokens = 0;
    if (!tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the model has no tokenizer; give token ids instead of text");
    if (tokenizer->chat_template.size == 0)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model's chat template is missing; give a plain prompt");
    if (tokenizer->chat_error.code != VOUCH_OK)
        return vouch_fail(err, tokenizer->chat_error.code, "%s", tokenizer->chat_error.message);
    VOUCH_TRY(messages_check(messages, n_messages, err));
    const jinja_limits most = limits_of(messages, n_messages);
    jinja_run run;
    jinja_string text = {0};
    encoder e;
    VOUCH_TRY(vouch_encoder_open(&e, tokenizer, tokens, capacity, err));
    vouch_jinja_run_begin(&run, &most);
    run.now = (double)time(NULL);
    const jinja_value variables = variables_of(&run, tokenizer, messages, n_messages);
    vouch_status status = vouch_jinja_render(&run, tokenizer->chat_template.data, tokenizer->chat_template.size,
                                             &variables, &text, err);
    if (status == VOUCH_OK) status = vouch_encoder_marked(&e, text.bytes, text.marks, text.n, err);
    if (status == VOUCH_OK) status = vouch_encoder_result(&e, n_tokens, err);
    vouch_jinja_run_end(&run);
    vouch_encoder_close(&e);
    return status;
}
