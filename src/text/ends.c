/* SPDX-License-Identifier: MIT */
/*
 * Facts from a token's name: whether the token ends an answer, and whether the file gives it the wrong kind.
 *
 * GGUF files name one token that ends a text (eos_token_id) and sometimes two more, but many models end an answer with
 * other tokens, which some files mark as ordinary vocabulary. llama.cpp v0.5.0 knows these tokens by name, so do we:
 *
 *   a name of `ending`                                ends an answer, is a control token
 *   a name of `infill`                                is a control token; from PAD on, it ends an answer
 *   <|end|>, with <|return|> or <|flush|> and <|call|>   gpt-oss, Solar: ends a message inside an answer, so it is
 *                                                     user-defined
 *   </s>, beside Gemma 4's or PLaMo's own end          HTML for strikethrough: stays as the file has it
 *   <|channel|>, <|message|>, <|start|>, <|constrain|>   gpt-oss: part of an answer, so they are user-defined
 */
#include <ctype.h>
#include <string.h>

#include "text/internal.h"

/* All names below begin with these. Every token of a file is compared with some 60 names, but few pass this test. */
static bool begins_like_name(vouch_text text)
{
    return text.size > 0 && (text.data[0] == '<' || text.data[0] == '[' || text.data[0] == '_');
}

static bool name_is(vouch_text name, const char *value)
{
    return name.size > 0 && name.data[0] == value[0] && name.size == strlen(value) &&
           memcmp(name.data, value, name.size) == 0;
}

static bool name_is_among(vouch_text name, const char *const *names)
{
    while (*names && !name_is(name, *names)) names++;
    return *names != NULL;
}

int vouch_names_infill(vouch_text name)
{
#define BAR "\xef\xbd\x9c"   /* U+FF5C of DeepSeek's names */
#define SPACE "\xe2\x96\x81" /* U+2581, also before CodeLlama's names */
    static const char *const infill[VOUCH_INFILL_PARTS][9] = {
        {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<" BAR "fim" SPACE "begin" BAR ">", "<PRE>", SPACE "<PRE>",
         "<|code_prefix|>", "<|prefix|>"},
        {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<" BAR "fim" SPACE "hole" BAR ">", "<SUF>", SPACE "<SUF>",
         "<|code_suffix|>", "<|suffix|>"},
        {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<" BAR "fim" SPACE "end" BAR ">", "<MID>", SPACE "<MID>",
         "<|code_middle|>", "<|middle|>"},
        {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"},
        {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"},
        {"<|file_sep|>"},
    };
#undef BAR
#undef SPACE
    int part = name.size > 0 && strchr("<[\xe2", name.data[0]) ? 0 : VOUCH_INFILL_PARTS;
    while (part < VOUCH_INFILL_PARTS && !name_is_among(name, infill[part])) part++;
    return part < VOUCH_INFILL_PARTS ? part : -1;
}

bool vouch_names_end_answer(vouch_text name)
{
    static const char *const ending[] = {
        "<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>", "<end_of_turn>",
        "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<|end_of_text|>",
        "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>", "[e~[",
        /* <｜end▁of▁sentence｜> as written, and with the space that U+2581 stands for */
        "<\xef\xbd\x9c"
        "end\xe2\x96\x81of\xe2\x96\x81sentence\xef\xbd\x9c>",
        "<\xef\xbd\x9c"
        "end of sentence\xef\xbd\x9c>",
        NULL};
    return name_is_among(name, ending) || vouch_names_infill(name) >= VOUCH_INFILL_PAD;
}

void vouch_names_note(name_facts *facts, vouch_text name)
{
    static const char *const calls[] = {"<|call|>", "<|calls|>", NULL};
    static const char *const markers[] = {"<|tool_response>", "<|plamo:eos|>", NULL};
    if (!begins_like_name(name)) return;
    facts->has_return |= name_is(name, "<|return|>");
    facts->has_call |= name_is_among(name, calls);
    facts->has_flush |= name_is(name, "<|flush|>");
    facts->has_plain_s |= name_is_among(name, markers);
}

token_kind vouch_names_correct(const name_facts *facts, vouch_text name, token_kind kind)
{
    static const char *const parts[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>", NULL};
    const bool is_text = kind == TOKEN_NORMAL || kind == TOKEN_USER_DEFINED;
    if (is_text && vouch_names_infill(name) >= 0) return TOKEN_CONTROL;
    if (!begins_like_name(name)) return kind;
    if (name_is_among(name, parts)) return TOKEN_USER_DEFINED;
    if (name_is(name, "<|end|>") && facts->has_call && (facts->has_return || facts->has_flush))
        return TOKEN_USER_DEFINED;
    if (name_is(name, "</s>") && facts->has_plain_s) return TOKEN_NORMAL;
    return is_text && vouch_names_end_answer(name) ? TOKEN_CONTROL : kind;
}

/* Whether the text has the word in upper or lower case. `word` is in lower case. */
static bool text_mentions(vouch_text text, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.size; i++) {
        size_t same = 0;
        while (same < n && tolower((unsigned char)text.data[i + same]) == word[same]) same++;
        if (same == n) return true;
    }
    return false;
}

bool vouch_names_strip(vouch_text model_name, vouch_text name)
{
    static const char *const kept[] = {"<unk>", "<s>", "<|endoftext|>", NULL};
    const bool is_phi3 = text_mentions(model_name, "phi-3") || text_mentions(model_name, "phi3");
    return is_phi3 && !name_is_among(name, kept);
}
