/* SPDX-License-Identifier: MIT */
/*
 * The table of chat templates. Each writes what its family was trained on, as the family's own template and llama.cpp's
 * template of that name do, for messages of the roles system, user and assistant; tools are for a file's own template.
 *
 * Families without a system message get its text before the question that follows it. A developer's message counts
 * as a system message, and a tool's as a question, where the family has no name for them.
 */
#include "text/chat/templates.h"

#include <string.h>

/* Takes a system message out of the list: `system` is its text, or "". */
#define TAKE_SYSTEM_IF(condition)                                                                       \
    "{% set system = '' %}{% if messages[0].role in ['system', 'developer']" condition " %}"            \
    "{% set system = messages[0].content | trim %}{% set messages = messages[1:] %}{% endif %}"
#define TAKE_SYSTEM TAKE_SYSTEM_IF("")
/* Takes it where a question follows, whose turn it begins. Otherwise the system message is a question itself. */
#define JOIN_SYSTEM TAKE_SYSTEM_IF(" and messages | length > 1 and messages[1].role != 'assistant'")
#define EACH       "{% for m in messages %}"
#define IF_ANSWER  "{% if m.role == 'assistant' %}"
#define ELSE       "{% else %}"
#define END        "{% endif %}{% endfor %}"
#define BEGIN      "{{ bos_token }}"
#define EOS        "{{ eos_token }}"
#define TEXT       "{{ m.content | trim }}"
#define IN_FRONT   "{% if loop.first and system %}{{ system }}\n\n{% endif %}" /* the system message's text */
#define ROLE       "{{ 'system' if m.role == 'developer' else m.role }}"
#define ASK(text)  "{% if add_generation_prompt %}" text "{% endif %}"

/* Fullwidth bars, as DeepSeek writes its tokens. */
#define BAR "\xef\xbd\x9c"

/* clang-format off */
static const vouch_chat_template templates[] = {
    {"phi4",
     {"<|im_start|>", "<|im_sep|>", "<|im_end|>"},
     EACH "<|im_start|>" ROLE "<|im_sep|>" TEXT "<|im_end|>{% endfor %}" ASK("<|im_start|>assistant<|im_sep|>")},
    {"chatml",
     {"<|im_start|>", "<|im_end|>"},
     "{% for message in messages %}<|im_start|>{{ message.role + '\\n' + message.content }}<|im_end|>\n{% endfor %}"
     ASK("<|im_start|>assistant\n")},
    {"llama3",
     {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     BEGIN EACH "<|start_header_id|>" ROLE "<|end_header_id|>\n\n" TEXT "<|eot_id|>{% endfor %}"
     ASK("<|start_header_id|>assistant<|end_header_id|>\n\n")},
    {"llama4",
     {"<|header_start|>", "<|header_end|>", "<|eot|>"},
     BEGIN EACH "<|header_start|>" ROLE "<|header_end|>\n\n" TEXT "<|eot|>{% endfor %}"
     ASK("<|header_start|>assistant<|header_end|>\n\n")},
    {"gemma",
     {"<start_of_turn>", "<end_of_turn>"},
     JOIN_SYSTEM BEGIN EACH "<start_of_turn>{{ 'model' if m.role == 'assistant' else 'user' }}\n" IN_FRONT TEXT
     "<end_of_turn>\n{% endfor %}" ASK("<start_of_turn>model\n")},
    {"gemma4",
     {"<|turn>", "<turn|>"},
     BEGIN EACH "<|turn>{{ 'model' if m.role == 'assistant' else 'system' if m.role == 'developer' else m.role }}\n"
     TEXT "<turn|>\n{% endfor %}" ASK("<|turn>model\n")},
    {"mistral-v7",
     {"[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[INST]", "[/INST]"},
     TAKE_SYSTEM BEGIN "{% if system %}[SYSTEM_PROMPT]{{ system }}[/SYSTEM_PROMPT]{% endif %}" EACH IF_ANSWER TEXT EOS
     ELSE "[INST]" TEXT "[/INST]" END},
    {"mistral",
     {"[INST]", "[/INST]"},
     JOIN_SYSTEM BEGIN EACH IF_ANSWER TEXT EOS ELSE "[INST]" IN_FRONT TEXT "[/INST]" END},
    {"deepseek",
     {"<" BAR "User" BAR ">", "<" BAR "Assistant" BAR ">"},
     TAKE_SYSTEM BEGIN "{{ system }}" EACH IF_ANSWER "<" BAR "Assistant" BAR ">" TEXT EOS ELSE "<" BAR "User" BAR ">"
     TEXT END ASK("<" BAR "Assistant" BAR ">")},
    {"glm",
     {"[gMASK]", "<sop>", "<|user|>", "<|assistant|>"},
     "[gMASK]<sop>" EACH "<|" ROLE "|>\n" TEXT "{% endfor %}" ASK("<|assistant|>\n")},
    {"phi",
     {"<|user|>", "<|assistant|>", "<|end|>"},
     EACH "<|" ROLE "|>\n" TEXT "<|end|>\n{% endfor %}" ASK("<|assistant|>\n")},
    {"granite",
     {"<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>"},
     EACH "<|start_of_role|>" ROLE "<|end_of_role|>" TEXT "<|end_of_text|>\n{% endfor %}"
     ASK("<|start_of_role|>assistant<|end_of_role|>")},
    {"command-r",
     {"<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"},
     BEGIN EACH "<|START_OF_TURN_TOKEN|>{{ '<|CHATBOT_TOKEN|>' if m.role == 'assistant' else '<|USER_TOKEN|>' "
     "if m.role == 'user' else '<|SYSTEM_TOKEN|>' }}" TEXT "<|END_OF_TURN_TOKEN|>{% endfor %}"
     ASK("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>")},
    {"gpt-oss",
     {"<|start|>", "<|message|>", "<|end|>", "<|channel|>"},
     EACH IF_ANSWER "<|start|>assistant<|channel|>final<|message|>" TEXT "<|end|>" ELSE
     "<|start|>{{ m.role }}<|message|>" TEXT "<|end|>" END ASK("<|start|>assistant")},
    {"exaone",
     {"[|endofturn|]", "[|user|]", "[|assistant|]"},
     EACH IF_ANSWER "[|assistant|]" TEXT "[|endofturn|]\n" ELSE "{% if m.role == 'user' %}[|user|]" TEXT "\n{% else %}"
     "[|system|]" TEXT "[|endofturn|]\n{% endif %}" END ASK("[|assistant|]")},
    {"openchat",
     {"<|end_of_turn|>"},
     TAKE_SYSTEM BEGIN "{% if system %}{{ system }}<|end_of_turn|>{% endif %}" EACH
     "GPT4 Correct {{ 'Assistant' if m.role == 'assistant' else 'User' }}: " TEXT "<|end_of_turn|>{% endfor %}"
     ASK("GPT4 Correct Assistant:")},
    /* Without tokens of their own. */
    {"llama2",
     {NULL},
     JOIN_SYSTEM EACH IF_ANSWER " " TEXT " " EOS ELSE BEGIN
     "[INST] {% if loop.first and system %}<<SYS>>\n{{ system }}\n<</SYS>>\n\n{% endif %}" TEXT " [/INST]" END},
    {"mistral-v1",
     {NULL},
     JOIN_SYSTEM BEGIN EACH IF_ANSWER " " TEXT EOS ELSE "{{ ' ' if not loop.first else '' }}[INST] " IN_FRONT TEXT
     " [/INST]" END},
    {"zephyr", {NULL}, EACH "<|" ROLE "|>\n" TEXT EOS "\n{% endfor %}" ASK("<|assistant|>\n")},
    {"vicuna",
     {NULL},
     TAKE_SYSTEM BEGIN "{% if system %}{{ system }} {% endif %}" EACH IF_ANSWER "ASSISTANT: " TEXT EOS ELSE
     "USER: " TEXT " " END ASK("ASSISTANT:")},
    {"deepseek-v1",
     {NULL},
     TAKE_SYSTEM BEGIN "{% if system %}{{ system }}\n\n{% endif %}" EACH IF_ANSWER "Assistant: " TEXT EOS ELSE "User: "
     TEXT "\n\n" END ASK("Assistant:")},
    {"alpaca",
     {NULL},
     TAKE_SYSTEM BEGIN "{% if system %}{{ system }}\n\n{% endif %}" EACH IF_ANSWER "### Response:\n" TEXT EOS "\n\n"
     ELSE "### Instruction:\n" TEXT "\n\n" END ASK("### Response:\n")},
    {"rwkv-world", /* an empty line ends a turn, and is the token that ends an answer */
     {NULL},
     BEGIN EACH
     "{{ 'Assistant' if m.role == 'assistant' else 'System' if m.role in ['system', 'developer'] else 'User' }}"
     ": " TEXT "\n\n{% endfor %}" ASK("Assistant:")},
};
/* clang-format on */

const vouch_chat_template *vouch_template_at(size_t i)
{
    return i < sizeof templates / sizeof *templates ? &templates[i] : NULL;
}

const vouch_chat_template *vouch_template_find(const char *name)
{
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
        if (strcmp(templates[i].name, name) == 0) return &templates[i];
    return NULL;
}
