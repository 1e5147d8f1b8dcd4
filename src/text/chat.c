/* SPDX-License-Identifier: MIT */
/*
 * A conversation in ChatML:
 *
 *   <|im_start|>system\n ... <|im_end|>\n<|im_start|>user\n ... <|im_end|>\n<|im_start|>assistant\n
 *
 * The templates in model files are Jinja programs. They are not run: a file's program has no business in
 * this process. One that writes <|im_start|>, in a vocabulary that has both markers as special tokens, is
 * ChatML, and four things are read out of its text:
 *
 * - The system message it inserts where the conversation has none: the first string literal that is
 *   <|im_start|>system, a line end, some text and <|im_end|> all in one. (Where the caller's system message
 *   is inserted, the literal ends after the line end.) SmolLM2 and Qwen2.5 have one, Qwen3 has not.
 * - Whether it begins with the BOS token: it names bos_token.
 * - Whether it leaves out what the model thought before it answered an earlier question, as Qwen3's does: it
 *   takes the last piece of what </think> splits.
 * - Whether it begins the answer's thoughts, as that of Qwen3's Thinking models does: it writes a literal that
 *   is the assistant's opening and <think>.
 *
 * The role and content of a message are encoded as one piece of text, as the templates have them, and can
 * name no control token: a marker inside a message is spelled out in ordinary tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

#define IM_START "<|im_start|>"
#define IM_END   "<|im_end|>"
#define THINK     "<think>"
#define THINK_END "</think>"

/* --------------------------------------------------------------- template */

/* Where `needle` begins in text, from `from` on; text.size where it doesn't. */
static size_t text_find(vouch_text text, size_t from, const char *needle)
{
    const size_t n = strlen(needle);
    for (size_t i = from; n <= text.size && i <= text.size - n; i++)
        if (memcmp(text.data + i, needle, n) == 0) return i;
    return text.size;
}

static char escape_decode(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
    }
}

/* Copies a string literal's text from *at on, up to IM_END; 0 where the literal ends without it. *at moves to
 * where reading stopped: what was read was inside the literal, so the search goes on there. */
static size_t literal_copy(vouch_text text, size_t *at, char quote, char *copy)
{
    size_t n = 0, i = *at;
    bool whole = false;
    for (; i < text.size && text.data[i] != quote; i++) {
        if (text.size - i >= strlen(IM_END) && memcmp(text.data + i, IM_END, strlen(IM_END)) == 0) {
            whole = true;
            break;
        }
        const bool escape = text.data[i] == '\\' && i + 1 < text.size;
        copy[n++] = escape ? escape_decode(text.data[++i]) : text.data[i];
    }
    *at = i;
    return whole ? n : 0;
}

static vouch_text template_find_system(vouch_text text, char *copy)
{
    const char *opening = IM_START "system";
    for (size_t at = 1; (at = text_find(text, at, opening)) < text.size;) {
        const char quote = text.data[at - 1];
        at += strlen(opening);
        if (quote != '\'' && quote != '"') continue;
        if (at < text.size && text.data[at] == '\n') at += 1;
        else if (at + 1 < text.size && memcmp(text.data + at, "\\n", 2) == 0) at += 2;
        else continue;
        const size_t n = literal_copy(text, &at, quote, copy);
        if (n > 0) return (vouch_text){copy, n};
    }
    return (vouch_text){NULL, 0};
}

static int32_t marker_find(const vouch_tokenizer *tokenizer, const char *name)
{
    size_t length = 0;
    const int32_t id =
        vouch_specials_match(tokenizer, MATCH_CONTROL | MATCH_USER_DEFINED, name, strlen(name), &length);
    return length == strlen(name) ? id : -1;
}

static bool is_chatml(vouch_text text)
{
    return text_find(text, 0, IM_START) < text.size;
}

vouch_text vouch_chat_choose(vouch_text of_file, const char *given)
{
    if (strcmp(given, "chatml") != 0) return (vouch_text){given, strlen(given)};
    return is_chatml(of_file) ? of_file : (vouch_text){IM_START, strlen(IM_START)};
}

vouch_status vouch_chat_refuse(const vouch_tokenizer *tokenizer, vouch_error *err)
{
    const char *missing = tokenizer->im_start < 0 ? IM_START : tokenizer->im_end < 0 ? IM_END : NULL;
    if (missing)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "chat template: the model has no token %s, which ChatML needs", missing);
    return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                      "chat template: it doesn't write " IM_START "; only ChatML is supported (\"chatml\")");
}

void vouch_chat_read_template(vouch_tokenizer *tokenizer, vouch_text chat_template, char *copy)
{
    tokenizer->has_template = chat_template.size > 0;
    tokenizer->im_start = marker_find(tokenizer, IM_START);
    tokenizer->im_end = marker_find(tokenizer, IM_END);
    tokenizer->chatml = tokenizer->im_start >= 0 && tokenizer->im_end >= 0 && is_chatml(chat_template);
    if (!tokenizer->chatml) return;
    tokenizer->chat_bos =
        tokenizer->bos >= 0 && text_find(chat_template, 0, "bos_token") < chat_template.size;
    tokenizer->default_system = template_find_system(chat_template, copy);
    tokenizer->chat_forgets = text_find(chat_template, 0, "split('" THINK_END "')[-1]") < chat_template.size;
    tokenizer->chat_thinks =
        text_find(chat_template, 0, IM_START "assistant\\n" THINK "\\n' }}") < chat_template.size;
}

/* ----------------------------------------------------------- conversation */

static vouch_status messages_check(const vouch_message *messages, size_t n, vouch_error *err)
{
    if (n == 0 || !messages)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "a conversation needs at least one message");
    for (size_t i = 0; i < n; i++) {
        const char *role = messages[i].role;
        if (!role || !messages[i].content)
            return vouch_fail(err, VOUCH_E_ARGUMENT, "message %zu has no %s", i, role ? "content" : "role");
        if (strcmp(role, "system") != 0 && strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
            return vouch_fail(err, VOUCH_E_ARGUMENT,
                              "message %zu has the role \"%.40s\"; possible are system, user and assistant",
                              i, role);
    }
    return VOUCH_OK;
}

/* <|im_start|>role\ncontent<|im_end|>\n */
static vouch_status turn_encode(encoder *e, const char *role, vouch_text content, vouch_error *err)
{
    const size_t n_role = strlen(role);
    if (content.size > INT32_MAX)
        return vouch_fail(err, VOUCH_E_ARGUMENT, "a message of %zu bytes is too long", content.size);
    char *text = malloc(n_role + 1 + content.size);
    if (!text)
        return vouch_fail(err, VOUCH_E_MEMORY, "not enough memory for a message of %zu bytes", content.size);
    memcpy(text, role, n_role);
    text[n_role] = '\n';
    if (content.size) memcpy(text + n_role + 1, content.data, content.size);

    const unsigned match = strcmp(role, "assistant") == 0 ? MATCH_USER_DEFINED : 0;
    vouch_encoder_push(e, e->tokenizer->im_start);
    vouch_status status = vouch_encoder_text(e, text, n_role + 1 + content.size, match, err);
    vouch_encoder_push(e, e->tokenizer->im_end);
    if (status == VOUCH_OK) status = vouch_encoder_text(e, "\n", 1, 0, err);
    free(text);
    return status;
}

/* What follows the thoughts, without the line ends before it. */
static vouch_text thoughts_skip(vouch_text content)
{
    const size_t n = strlen(THINK_END);
    size_t begin = 0;
    for (size_t at = 0; (at = text_find(content, at, THINK_END)) < content.size;) begin = at += n;
    while (begin > 0 && begin < content.size && content.data[begin] == '\n') begin++;
    return (vouch_text){content.data + begin, content.size - begin};
}

static vouch_status chat_encode(encoder *e, const vouch_message *messages, size_t n, vouch_error *err)
{
    const vouch_tokenizer *tokenizer = e->tokenizer;
    size_t last_question = n;
    while (last_question > 0 && strcmp(messages[last_question - 1].role, "user") != 0) last_question--;
    if (tokenizer->chat_bos) vouch_encoder_push(e, tokenizer->bos);
    if (tokenizer->default_system.size > 0 && strcmp(messages[0].role, "system") != 0)
        VOUCH_TRY(turn_encode(e, "system", tokenizer->default_system, err));
    for (size_t i = 0; i < n; i++) {
        vouch_text content = {messages[i].content, strlen(messages[i].content)};
        if (tokenizer->chat_forgets && i < last_question && strcmp(messages[i].role, "assistant") == 0)
            content = thoughts_skip(content);
        VOUCH_TRY(turn_encode(e, messages[i].role, content, err));
    }
    const char *opening = tokenizer->chat_thinks ? "assistant\n" THINK "\n" : "assistant\n";
    vouch_encoder_push(e, tokenizer->im_start);
    return vouch_encoder_text(e, opening, strlen(opening), MATCH_USER_DEFINED, err);
}

vouch_status vouch_tokenizer_encode_chat(const vouch_tokenizer *tokenizer, const vouch_message *messages,
                                         size_t n_messages, int32_t *tokens, size_t capacity,
                                         size_t *n_tokens, vouch_error *err)
{
    *n_tokens = 0;
    if (!tokenizer)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED,
                          "the model has no tokenizer; give token ids instead of text");
    if (!tokenizer->chatml)
        return vouch_fail(err, VOUCH_E_UNSUPPORTED, "the model's chat template is %s; give a plain prompt",
                          tokenizer->has_template ? "not one that is supported (ChatML)" : "missing");
    VOUCH_TRY(messages_check(messages, n_messages, err));
    encoder e;
    VOUCH_TRY(vouch_encoder_open(&e, tokenizer, tokens, capacity, err));
    vouch_status status = chat_encode(&e, messages, n_messages, err);
    if (status == VOUCH_OK) status = vouch_encoder_result(&e, n_tokens, err);
    vouch_encoder_close(&e);
    return status;
}
