/* SPDX-License-Identifier: MIT */
/*
 * A conversation in ChatML:
 *
 *   <|im_start|>system\n ... <|im_end|>\n<|im_start|>user\n ... <|im_end|>\n<|im_start|>assistant\n
 *
 * template.c says what the model's template adds to this form. The role and content of a message are encoded as one
 * piece of text, as the templates have them, and can name no control token: a marker inside a message is spelled out
 * in ordinary tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "text/internal.h"

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
    encoder_push(e, e->tokenizer->im_start);
    vouch_status status = vouch_encoder_text(e, text, n_role + 1 + content.size, match, err);
    encoder_push(e, e->tokenizer->im_end);
    if (status == VOUCH_OK) status = vouch_encoder_text(e, "\n", 1, 0, err);
    free(text);
    return status;
}

/* The part behind the thoughts, without the line ends before it. */
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
    if (tokenizer->chat_bos) encoder_push(e, tokenizer->bos);
    if (tokenizer->default_system.size > 0 && strcmp(messages[0].role, "system") != 0)
        VOUCH_TRY(turn_encode(e, "system", tokenizer->default_system, err));
    for (size_t i = 0; i < n; i++) {
        vouch_text content = {messages[i].content, strlen(messages[i].content)};
        if (tokenizer->chat_forgets && i < last_question && strcmp(messages[i].role, "assistant") == 0)
            content = thoughts_skip(content);
        VOUCH_TRY(turn_encode(e, messages[i].role, content, err));
    }
    const char *opening = tokenizer->chat_thinks ? "assistant\n" THINK "\n" : "assistant\n";
    encoder_push(e, tokenizer->im_start);
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
