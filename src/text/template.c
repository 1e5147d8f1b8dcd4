/* SPDX-License-Identifier: MIT */
/*
 * Reads a chat template.
 *
 * The templates in model files are Jinja programs. They are not run: a file's program has no business in this
 * process. A template that writes <|im_start|>, in a vocabulary that has both markers as special tokens, is ChatML.
 * Four facts are read out of its text:
 *
 * - The system message that it inserts where the conversation has none: the first string literal that holds
 *   <|im_start|>system, a line end, some text and <|im_end|>. (Where the caller's system message is inserted, the
 *   literal ends after the line end.) SmolLM2 and Qwen2.5 have such a message, Qwen3 has none.
 * - Whether it begins with the BOS token: it names bos_token.
 * - Whether it leaves the thoughts out of earlier answers, as Qwen3's does: it takes the last piece of what </think>
 *   splits.
 * - Whether it begins the answer's thoughts, as that of Qwen3's Thinking models does: it writes a literal of the
 *   assistant's opening and <think>.
 */
#include <string.h>

#include "text/internal.h"

#define IM_START "<|im_start|>"
#define IM_END   "<|im_end|>"

static char escape_decode(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    default: return c;
    }
}

/* Copies the text of a string literal, from *at on, up to IM_END. Returns its length; 0 where the literal ends without
 * IM_END. *at moves to where reading stopped, so that the search goes on behind the literal. */
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
