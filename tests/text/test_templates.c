/* SPDX-License-Identifier: MIT */
/* The chat templates that vouch brings: what each writes, and which fits a vocabulary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/model/tokenizers.h"
#include "text/internal.h"
#include "text/chat/templates.h"

#define B "\xef\xbd\x9c"

/* Of the conversation system S, user U, assistant A, user V; <s> and </s> begin and end a text. */
static const char *const expected[][2] = {
    {"phi4", "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>U<|im_end|>"
             "<|im_start|>assistant<|im_sep|>A<|im_end|><|im_start|>user<|im_sep|>V<|im_end|>"
             "<|im_start|>assistant<|im_sep|>"},
    {"chatml", "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\nA<|im_end|>\n"
               "<|im_start|>user\nV<|im_end|>\n<|im_start|>assistant\n"},
    {"llama3", "<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>"
               "\n\nU<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|><|start_header_id|>user"
               "<|end_header_id|>\n\nV<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"},
    {"llama4", "<s><|header_start|>system<|header_end|>\n\nS<|eot|><|header_start|>user<|header_end|>\n\nU<|eot|>"
               "<|header_start|>assistant<|header_end|>\n\nA<|eot|><|header_start|>user<|header_end|>\n\nV<|eot|>"
               "<|header_start|>assistant<|header_end|>\n\n"},
    {"gemma", "<s><start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n"
              "<start_of_turn>user\nV<end_of_turn>\n<start_of_turn>model\n"},
    {"gemma4", "<s><|turn>system\nS<turn|>\n<|turn>user\nU<turn|>\n<|turn>model\nA<turn|>\n<|turn>user\nV<turn|>\n"
               "<|turn>model\n"},
    {"mistral-v7", "<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]U[/INST]A</s>[INST]V[/INST]"},
    {"mistral", "<s>[INST]S\n\nU[/INST]A</s>[INST]V[/INST]"},
    {"deepseek", "<s>S<" B "User" B ">U<" B "Assistant" B ">A</s><" B "User" B ">V<" B "Assistant" B ">"},
    {"glm", "[gMASK]<sop><|system|>\nS<|user|>\nU<|assistant|>\nA<|user|>\nV<|assistant|>\n"},
    {"phi", "<|system|>\nS<|end|>\n<|user|>\nU<|end|>\n<|assistant|>\nA<|end|>\n<|user|>\nV<|end|>\n<|assistant|>\n"},
    {"granite", "<|start_of_role|>system<|end_of_role|>S<|end_of_text|>\n<|start_of_role|>user<|end_of_role|>U"
                "<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>A<|end_of_text|>\n<|start_of_role|>user"
                "<|end_of_role|>V<|end_of_text|>\n<|start_of_role|>assistant<|end_of_role|>"},
    {"command-r", "<s><|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>S<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|>"
                  "<|USER_TOKEN|>U<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>A<|END_OF_TURN_TOKEN|>"
                  "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>V<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|>"
                  "<|CHATBOT_TOKEN|>"},
    {"gpt-oss", "<|start|>system<|message|>S<|end|><|start|>user<|message|>U<|end|><|start|>assistant<|channel|>final"
                "<|message|>A<|end|><|start|>user<|message|>V<|end|><|start|>assistant"},
    {"exaone", "[|system|]S[|endofturn|]\n[|user|]U\n[|assistant|]A[|endofturn|]\n[|user|]V\n[|assistant|]"},
    {"openchat", "<s>S<|end_of_turn|>GPT4 Correct User: U<|end_of_turn|>GPT4 Correct Assistant: A<|end_of_turn|>"
                 "GPT4 Correct User: V<|end_of_turn|>GPT4 Correct Assistant:"},
    {"llama2", "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST] A </s><s>[INST] V [/INST]"},
    {"mistral-v1", "<s>[INST] S\n\nU [/INST] A</s> [INST] V [/INST]"},
    {"zephyr", "<|system|>\nS</s>\n<|user|>\nU</s>\n<|assistant|>\nA</s>\n<|user|>\nV</s>\n<|assistant|>\n"},
    {"vicuna", "<s>S USER: U ASSISTANT: A</s>USER: V ASSISTANT:"},
    {"deepseek-v1", "<s>S\n\nUser: U\n\nAssistant: A</s>User: V\n\nAssistant:"},
    {"alpaca", "<s>S\n\n### Instruction:\nU\n\n### Response:\nA</s>\n\n### Instruction:\nV\n\n### Response:\n"},
    {"rwkv-world", "<s>System: S\n\nUser: U\n\nAssistant: A\n\nUser: V\n\nAssistant:"},
};
enum { N_EXPECTED = sizeof expected / sizeof *expected };

/* A SentencePiece vocabulary of bytes and these control tokens. chat_template as vouch_tokenizer_open has it. */
static vouch_status open_with(const char *const *control, const char *chat_template, vouch_tokenizer **out,
                              vouch_error *err)
{
    static char names[256][8];
    vouch_text tokens[300] = {{"<unk>", 5}, {"<s>", 3}, {"</s>", 4}};
    float scores[300] = {0};
    int32_t kinds[300] = {TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_CONTROL};
    size_t n = 3, size;
    for (unsigned i = 0; i < 256; i++, n++) {
        snprintf(names[i], sizeof names[i], "<0x%02X>", i & 0xff);
        tokens[n] = (vouch_text){names[i], 6};
        kinds[n] = TOKEN_BYTE;
    }
    for (; *control; control++, n++) {
        tokens[n] = (vouch_text){*control, strlen(*control)};
        kinds[n] = TOKEN_CONTROL;
    }
    vouch_gguf_writer *w = writer_open();
    vouch_gguf_add_text(w, "tokenizer.ggml.model", "llama");
    vouch_gguf_add_texts(w, "tokenizer.ggml.tokens", tokens, n);
    vouch_gguf_add_array(w, "tokenizer.ggml.scores", VOUCH_GGUF_F32, scores, n);
    vouch_gguf_add_array(w, "tokenizer.ggml.token_type", VOUCH_GGUF_I32, kinds, n);
    vouch_gguf_add_u32(w, "tokenizer.ggml.bos_token_id", 1);
    vouch_gguf_add_u32(w, "tokenizer.ggml.eos_token_id", 2);
    void *bytes = writer_finish(w, &size);
    vouch_gguf *gguf = open_bytes(bytes, size);
    const vouch_status status = vouch_tokenizer_open(out, gguf, chat_template, err);
    vouch_gguf_close(gguf);
    free(bytes);
    return status;
}

static void rendered(const vouch_tokenizer *tokenizer, const char *json, char text[1024])
{
    vouch_error err = {0};
    size_t n = 0;
    if (vouch_tokenizer_render_json(tokenizer, json, strlen(json), text, 1023, &n, &err)) fail_msg("%s", err.message);
    text[n] = 0;
}

static void each_writes_its_family(void **state)
{
    (void)state;
    static const char talk[] =
        "[{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": \"U\"}, "
        "{\"role\": \"assistant\", \"content\": \"A\"}, {\"role\": \"user\", \"content\": \"V\"}]";
    static const char alone[] = "[{\"role\": \"user\", \"content\": \"a {{ b }}\\nc\"}]";
    for (size_t i = 0; i < N_EXPECTED; i++) {
        const vouch_chat_template *named = vouch_template_at(i);
        vouch_tokenizer *tokenizer = NULL;
        vouch_error err = {0};
        char text[1024];
        assert_non_null(named);
        assert_string_equal(named->name, expected[i][0]);
        if (open_with(named->tokens, named->name, &tokenizer, &err)) fail_msg("%s", err.message);
        assert_string_equal(vouch_tokenizer_chat_template(tokenizer), "jinja");
        rendered(tokenizer, talk, text);
        assert_string_equal(text, expected[i][1]);
        rendered(tokenizer, alone, text);
        assert_non_null(strstr(text, "a {{ b }}\nc"));
        assert_null(strstr(text, "ystem")); /* no system message of its own */
        vouch_tokenizer_close(tokenizer);
    }
    assert_null(vouch_template_at(N_EXPECTED));
    assert_null(vouch_template_find("x"));
}

/* Conversations that few templates' authors had in mind: every text is written, once, and in order. ' stands for ". */
static void odd_conversations_are_written(void **state)
{
    (void)state;
#define SAID(role, text) "{'role': '" role "', 'content': '" text "'}"
    static const struct {
        const char *messages, *texts[4];
    } cases[] = {
        {SAID("system", "Sys1"), {"Sys1"}},
        {SAID("assistant", "Ans1") ", " SAID("user", "Ask1"), {"Ans1", "Ask1"}},
        {SAID("user", "Ask1") ", " SAID("user", "Ask2"), {"Ask1", "Ask2"}},
        {SAID("system", "Sys1") ", " SAID("system", "Sys2") ", " SAID("user", "Ask1"), {"Sys1", "Sys2", "Ask1"}},
        {SAID("system", "Sys1") ", " SAID("assistant", "Ans1") ", " SAID("user", "Ask1"), {"Sys1", "Ans1", "Ask1"}},
        {SAID("developer", "Dev1") ", " SAID("user", "Ask1"), {"Dev1", "Ask1"}},
        {SAID("user", "Ask1") ", " SAID("system", "Sys1"), {"Ask1", "Sys1"}},
        {SAID("user",
              "Ask1") ", {'role': 'assistant', 'content': null, 'tool_calls': [{'id': 'a', 'function': "
                      "{'name': 'f', 'arguments': '{}'}}]}, {'role': 'tool', 'tool_call_id': 'a', 'content': 'Res1'}",
         {"Ask1", "Res1"}},
        {"{'role': 'user', 'content': [{'type': 'text', 'text': 'Ask1'}, {'type': 'text', 'text': 'Ask2'}]}",
         {"Ask1", "Ask2"}},
        {SAID("user", "") ", " SAID("assistant", "") ", " SAID("user", "Ask1"), {"Ask1"}},
        {SAID("user", "Ask1") ", " SAID("assistant", "Ans1"), {"Ask1", "Ans1"}},
    };
#undef SAID
    for (size_t i = 0; i < N_EXPECTED; i++) {
        const vouch_chat_template *named = vouch_template_at(i);
        vouch_tokenizer *tokenizer = NULL;
        vouch_error err = {0};
        if (open_with(named->tokens, named->name, &tokenizer, &err)) fail_msg("%s", err.message);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            char json[500], text[1024];
            snprintf(json, sizeof json, "[%s]", cases[c].messages);
            for (char *quote = json; (quote = strchr(quote, '\'')) != NULL;) *quote = '"';
            rendered(tokenizer, json, text);
            const char *at = text;
            for (size_t t = 0; t < 4 && cases[c].texts[t]; t++) {
                const char *found = strstr(at, cases[c].texts[t]);
                if (!found || strstr(found + 1, cases[c].texts[t])) fail_msg("%s: %s: %s", named->name, json, text);
                at = found;
            }
        }
        vouch_tokenizer_close(tokenizer);
    }
}

/* A vocabulary fits the template whose tokens it has; a template without tokens of its own is never advised. */
static void vocabularies_fit_a_template(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    for (size_t i = 0; i < N_EXPECTED; i++) {
        const vouch_chat_template *named = vouch_template_at(i);
        vouch_tokenizer *tokenizer = NULL;
        vouch_error err = {0};
        assert_int_equal(open_with(named->tokens, NULL, &tokenizer, &err), VOUCH_OK);
        assert_string_equal(vouch_tokenizer_chat_fitting(tokenizer), *named->tokens ? named->name : "");
        vouch_tokenizer_close(tokenizer);
        if (!*named->tokens) continue;
        assert_int_equal(open_with(none, named->name, &tokenizer, &err), VOUCH_E_UNSUPPORTED);
        if (!strstr(err.message, named->tokens[0]) || !strstr(err.message, named->name)) fail_msg("%s", err.message);
    }
    /* A file without a template: the error names one. */
    vouch_tokenizer *tokenizer = NULL;
    vouch_error err = {0};
    size_t n;
    const vouch_message turn = {"user", "U"};
    assert_int_equal(open_with(vouch_template_find("gemma")->tokens, NULL, &tokenizer, &err), VOUCH_OK);
    assert_int_equal(vouch_tokenizer_encode_chat(tokenizer, &turn, 1, NULL, 0, &n, &err), VOUCH_E_UNSUPPORTED);
    assert_non_null(strstr(err.message, "or the chat template gemma"));
    vouch_tokenizer_close(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_writes_its_family),
        cmocka_unit_test(odd_conversations_are_written),
        cmocka_unit_test(vocabularies_fit_a_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
