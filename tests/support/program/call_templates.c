/* SPDX-License-Identifier: MIT */
#include "support/program/call_templates.h"

#include <stdio.h>
#include <string.h>

#include "text/jinja/json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define TEMPLATE_PLAIN CALL_TURNS("") "{% endif %}"
#define TEMPLATE_LLAMA CALL_TURNS("{\"name\": \"" CALL_NAME "\", \"parameters\": " CALL_GIVEN "}") "{% endif %}"
#define TEMPLATE_HERMES                                                                                        \
    CALL_TURNS("\n<tool_call>\n{\"name\": \"" CALL_NAME "\", \"arguments\": " CALL_GIVEN "}\n</tool_call>")    \
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
#define TEMPLATE_CODER                                                                                         \
    CALL_TURNS("\n<tool_call>\n<function=" CALL_NAME ">\n" CALL_EACH "<parameter={{ k }}>\n"                    \
               "{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}</function>\n</tool_call>")  \
    "<think>\n{% endif %}"
#define TEMPLATE_NEMO                                                                                          \
    CALL_TURNS("{{ '[TOOL_CALLS][' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "     \
               CALL_GIVEN ", \"id\": \"{{ c.id }}\"}{{ ']' if loop.last }}") "{% endif %}"
#define TEMPLATE_MISTRAL                                                                                       \
    CALL_TURNS("{{ raise_exception('nine characters') if c.id | length != 9 }}[TOOL_CALLS]" CALL_NAME           \
               "[CALL_ID]{{ c.id }}[ARGS]" CALL_GIVEN) "{% endif %}"
#define TEMPLATE_GPT_OSS                                                                                       \
    "{% for m in messages %}{% if m.tool_calls %}{% for c in m.tool_calls %}<|start|>assistant to=functions."  \
    CALL_NAME "<|channel|>commentary json<|message|>" CALL_GIVEN "<|call|>{% endfor %}{% else %}<|start|>"      \
    "{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}{% if add_generation_prompt %}"        \
    "<|start|>assistant{% endif %}"
#define TEMPLATE_KIMI                                                                                          \
    CALL_TURNS("{{ '<|calls_begin|>' if loop.first }}<|call_begin|>{{ c.id }}<|args|>" CALL_GIVEN "<|call_end|>" \
               "{{ '<|calls_end|>' if loop.last }}") "{% endif %}"
#define TEMPLATE_DEEPSEEK                                                                                      \
    "{% for m in messages %}{% if m.content is none %}<A>{% for c in m.tool_calls %}{{ '<calls>' if loop.first }}" \
    "<call>function<sep>" CALL_NAME "\n```json\n{{ c.function.arguments + '\n```</call>' }}{% endfor %}</calls><EOT>" \
    "{% elif m.role == 'assistant' %}<A>{{ m.content }}<EOT>{% else %}<U>{{ m.content }}{% endif %}{% endfor %}" \
    "{% if add_generation_prompt %}<A>{% endif %}"
#define TEMPLATE_GLM                                                                                           \
    CALL_TURNS("\n<tool_call>" CALL_NAME "\n" CALL_EACH "<arg_key>{{ k }}</arg_key>\n<arg_value>"               \
               "{{ v if v is string else v | tojson }}</arg_value>\n{% endfor %}</tool_call>") "{% endif %}"
#define TEMPLATE_DSML                                                                                          \
    CALL_TURNS("{{ '<dsml_calls>\n' if loop.first }}<invoke name=\"" CALL_NAME "\">\n" CALL_EACH                \
               "<parameter name=\"{{ k }}\" string=\"{{ 'true' if v is string else 'false' }}\">"              \
               "{{ v if v is string else v | tojson }}</parameter>\n{% endfor %}</invoke>\n"                   \
               "{{ '</dsml_calls>' if loop.last }}") "{% endif %}"
#define TEMPLATE_PYTHON                                                                                        \
    CALL_TURNS("{{ '<|call_start|>[' if loop.first else ', ' }}" CALL_NAME "(" CALL_EACH "{{ ', ' if not "      \
               "loop.first }}{{ k }}={{ \"'\" + v + \"'\" if v is string else v | tojson }}{% endfor %})"     \
               "{{ ']<|call_end|>' if loop.last }}") "{% endif %}"
#define TEMPLATE_GEMMA                                                                                         \
    "{% macro value(v) %}{% if v is string %}<|\"|>{{ v }}<|\"|>{% elif v is mapping %}{{ '{' }}"              \
    "{% for k, w in v | items %}{{ ',' if not loop.first }}<|\"|>{{ k }}<|\"|>:{{ value(w) }}{% endfor %}{{ '}' }}" \
    "{% elif v is sequence %}[{% for w in v %}{{ ',' if not loop.first }}{{ value(w) }}{% endfor %}]"          \
    "{% else %}{{ v | tojson }}{% endif %}{% endmacro %}"                                                      \
    CALL_TURNS("<|tool_call>call:" CALL_NAME "{{ '{' }}" CALL_EACH "{{ ',' if not loop.first }}{{ k }}:"        \
               "{{ value(v) }}{% endfor %}{{ '}' }}<tool_call|>") "{% endif %}"
#define TEMPLATE_APERTUS                                                                                       \
    CALL_TURNS("{{ '<|tools_prefix|>[' if loop.first else ', ' }}{\"" CALL_NAME "\": " CALL_GIVEN "}"           \
               "{{ ']<|tools_suffix|>' if loop.last }}") "{% endif %}"
#define TEMPLATE_COMMAND                                                                                       \
    "{% for m in messages %}{% if m.tool_calls %}<BOT><|START_ACTION|>[{% for c in m.tool_calls %}\n    "       \
    "{\"tool_call_id\": \"{{ loop.index0 }}\", \"tool_name\": \"" CALL_NAME "\", \"parameters\": " CALL_GIVEN   \
    "}{{ ',' if not loop.last }}{% endfor %}\n]<|END_ACTION|><END>{% elif m.role == 'assistant' %}<BOT>"       \
    "<|START_RESPONSE|>{{ m.content }}<|END_RESPONSE|><END>{% else %}<USER>{{ m.content }}<END>{% endif %}"    \
    "{% endfor %}{% if add_generation_prompt %}<BOT>{% endif %}"
#define TEMPLATE_FUNCTIONARY                                                                                   \
    "{% for m in messages %}[{{ m.role }}]{% if m.tool_calls %}{% for c in m.tool_calls %}>>>" CALL_NAME "\n"   \
    "{{ c.function.arguments + '' }}{% endfor %}<eot>{% elif m.role == 'assistant' %}>>>all\n{{ m.content }}<eot>" \
    "{% else %}{{ m.content }}<eot>{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]>>>{% endif %}"

#define TEMPLATE_LLAMA4                                                                                        \
    CALL_TURNS("{{ '[' if loop.first else ', ' }}" CALL_NAME "(" CALL_EACH "{{ ', ' if not loop.first }}{{ k }}=" \
               "{{ v | tojson }}{% endfor %}){{ ']' if loop.last }}") "{% endif %}"
#define TEMPLATE_XLAM                                                                                          \
    CALL_TURNS("{{ '[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": " CALL_GIVEN "}"   \
               "{{ ']' if loop.last }}") "{% endif %}"
#define TEMPLATE_SEED                                                                                          \
    CALL_TURNS("\n<seed:tool_call>\n<function=" CALL_NAME ">\n" CALL_EACH "<parameter={{ k }}>"                  \
               "{{ v if v is string else v | tojson }}</parameter>\n{% endfor %}</function>\n</seed:tool_call>") \
    "{% endif %}"
#define TEMPLATE_THINKER                                                                                       \
    CALL_TURNS("\n<tool_call>{\"name\": \"" CALL_NAME "\", \"arguments\": " CALL_GIVEN "}</tool_call>")       \
    "<think>\n{% endif %}"
#define TEMPLATE_NEMOTRON                                                                                      \
    CALL_TURNS("{{ '<TOOLCALL>[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "      \
               CALL_GIVEN "}{{ ']</TOOLCALL>' if loop.last }}") "{% endif %}"
#define TEMPLATE_MINIMAX                                                                                       \
    CALL_TURNS("{{ '\n<minimax:tool_call>\n' if loop.first }}<invoke name=\"" CALL_NAME "\">\n" CALL_EACH       \
               "<parameter name=\"{{ k }}\">{{ v if v is string else v | tojson }}</parameter>\n{% endfor %}"   \
               "</invoke>\n{{ '</minimax:tool_call>' if loop.last }}") "{% endif %}"
#define TEMPLATE_GRANITE                                                                                       \
    CALL_TURNS("{{ '<|tool_call|>[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "   \
               CALL_GIVEN "}{{ ']' if loop.last }}") "{% endif %}"
#define TEMPLATE_PHI                                                                                           \
    CALL_TURNS("{{ '<|tool_call|>[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "   \
               CALL_GIVEN "}{{ ']<|/tool_call|>' if loop.last }}") "{% endif %}"
#define TEMPLATE_LFM                                                                                           \
    CALL_TURNS("{{ '<|tool_call_start|>[' if loop.first else ', ' }}" CALL_NAME "(" CALL_EACH                    \
               "{{ ', ' if not loop.first }}{{ k }}={{ v | tojson }}{% endfor %})"                            \
               "{{ ']<|tool_call_end|>' if loop.last }}") "{% endif %}"
#define TEMPLATE_OLMO                                                                                          \
    CALL_TURNS("{{ '<function_calls>' if loop.first }}" CALL_NAME "(" CALL_EACH "{{ ', ' if not loop.first }}"   \
               "{{ k }}={{ v | tojson }}{% endfor %}){{ '</function_calls>' if loop.last else '\n' }}")        \
    "{% endif %}"
#define TEMPLATE_MINISTRAL CALL_TURNS("[TOOL_CALLS]" CALL_NAME "[ARGS]" CALL_GIVEN) "{% endif %}"
#define TEMPLATE_MAGISTRAL                                                                                     \
    "{% for m in messages %}[{{ m.role | upper }}]{% if m.reasoning_content %}[THINK]{{ m.reasoning_content }}"  \
    "[/THINK]{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}[TOOL_CALLS]" CALL_NAME "[ARGS]"        \
    CALL_GIVEN "{% endfor %}</s>{% endfor %}{% if add_generation_prompt %}[ASSISTANT]{% endif %}"
#define TEMPLATE_DEEPSEEK_V3_1                                                                                 \
    CALL_TURNS("{{ '<calls_begin>' if loop.first }}<call_begin>" CALL_NAME "<sep>" CALL_GIVEN "<call_end>"       \
               "{{ '<calls_end>' if loop.last }}") "{% endif %}"
#define TEMPLATE_FIREFUNCTION                                                                                  \
    CALL_TURNS("{{ ' functools[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "      \
               CALL_GIVEN "}{{ ']' if loop.last }}") "{% endif %}"
#define TEMPLATE_FUNCTION_MARKS                                                                                \
    CALL_TURNS("<function=" CALL_NAME ">" CALL_GIVEN "</function>") "{% endif %}"
#define TEMPLATE_INTERN                                                                                        \
    CALL_TURNS("<|action_start|><|plugin|>\n{\"name\": \"" CALL_NAME "\", \"parameters\": " CALL_GIVEN          \
               "}<|action_end|>\n") "{% endif %}"
#define TEMPLATE_APRIEL                                                                                        \
    CALL_TURNS("{{ '<tool_calls>[' if loop.first else ', ' }}{\"name\": \"" CALL_NAME "\", \"arguments\": "    \
               CALL_GIVEN ", \"id\": \"{{ c.id }}\"}{{ ']</tool_calls>' if loop.last }}") "{% endif %}"
#define TEMPLATE_COMMAND_PLUS                                                                                  \
    CALL_TURNS("{{ 'Action: ```json\n[' if loop.first }}\n    {\n        \"tool_name\": \"" CALL_NAME            \
               "\",\n        \"parameters\": " CALL_GIVEN "\n    }{{ '\n]```' if loop.last else ',' }}")          \
    "{% endif %}"
#define TEMPLATE_COMMAND_THINKS                                                                                \
    "{% for m in messages %}{% if m.role == 'assistant' %}<BOT>{% if m.reasoning_content %}<|START_THINKING|>"   \
    "{{ m.reasoning_content }}<|END_THINKING|>{% endif %}{% if m.tool_calls %}<|START_ACTION|>["                \
    "{% for c in m.tool_calls %}\n    {\"tool_call_id\": \"{{ loop.index0 }}\", \"tool_name\": \"" CALL_NAME     \
    "\", \"parameters\": " CALL_GIVEN "}{{ ',' if not loop.last }}{% endfor %}\n]<|END_ACTION|>{% else %}"      \
    "<|START_RESPONSE|>{{ m.content }}<|END_RESPONSE|>{% endif %}<END>{% else %}<USER>{{ m.content }}<END>"     \
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<BOT>{% endif %}"
#define TEMPLATE_GIGACHAT                                                                                      \
    CALL_TURNS("<|function_call|>{\"name\": \"" CALL_NAME "\", \"arguments\": " CALL_GIVEN "}") "{% endif %}"
#define TEMPLATE_SOLAR                                                                                         \
    CALL_TURNS("{{ '<|tool_calls|>' if loop.first }}<|call:begin|>{{ c.id }}<|call:name|>" CALL_NAME             \
               "<|call:args|>" CALL_GIVEN "<|call:end|>") "{% endif %}"
#define TEMPLATE_HUNYUAN                                                                                       \
    CALL_TURNS("{{ '<tool_calls>\n' if loop.first }}<tool_call>" CALL_NAME "\n```json\n" CALL_GIVEN              \
               "\n```\n</tool_call>\n{{ '</tool_calls>' if loop.last }}") "{% endif %}"
#define TEMPLATE_JAMBA                                                                                         \
    CALL_TURNS("{{ '<tool_calls>[\n' if loop.first else ',\n' }}{\"name\": \"" CALL_NAME "\", \"arguments\": " \
               CALL_GIVEN "}{{ '\n]</tool_calls>' if loop.last }}") "{% endif %}"
#define TEMPLATE_TOOL_CODE                                                                                     \
    CALL_TURNS("{{ '```tool_code\n' if loop.first }}" CALL_NAME "(" CALL_EACH "{{ ', ' if not loop.first }}"     \
               "{{ k }}={{ v | tojson }}{% endfor %}){{ '\n```' if loop.last else '\n' }}") "{% endif %}"
#define TEMPLATE_SEED_THINKS                                                                                   \
    "{% for m in messages %}<bos>{{ m.role }}\n{% if m.reasoning_content %}<seed:think>{{ m.reasoning_content }}" \
    "</seed:think>{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}\n<seed:tool_call>\n<function="   \
    CALL_NAME ">\n" CALL_EACH "<parameter={{ k }}>{{ v if v is string else v | tojson }}</parameter>\n"         \
    "{% endfor %}</function>\n</seed:tool_call>{% endfor %}<eos>{% endfor %}{% if add_generation_prompt %}"    \
    "<bos>assistant\n{% endif %}"
#define TEMPLATE_TEXT_ARGUMENTS                                                                                \
    CALL_TURNS("<call id=\"{{ c.id }}\">" CALL_NAME "<args>{{ c.function.arguments + '' }}</call>") "{% endif %}"
#define TEMPLATE_ID_BETWEEN                                                                                    \
    CALL_TURNS("<|call|>" CALL_NAME "#{{ c.id }}<|with|>" CALL_GIVEN "<|/call|>") "{% endif %}"

const call_template call_templates[] = {
    {"plain", TEMPLATE_PLAIN, 0, CALL_MAY_THINK},
    {"Llama", TEMPLATE_LLAMA, 1, CALL_MAY_THINK},
    {"Hermes", TEMPLATE_HERMES, 3, CALL_MAY_THINK},
    {"Coder", TEMPLATE_CODER, 3, CALL_THINKS},
    {"Nemo", TEMPLATE_NEMO, 3, CALL_MAY_THINK},
    {"Mistral", TEMPLATE_MISTRAL, 3, CALL_MAY_THINK},
    {"gpt-oss", TEMPLATE_GPT_OSS, 1, CALL_MAY_THINK},
    {"Kimi", TEMPLATE_KIMI, 3, CALL_MAY_THINK},
    {"DeepSeek", TEMPLATE_DEEPSEEK, 3, CALL_THINKS_NEVER},
    {"GLM", TEMPLATE_GLM, 3, CALL_MAY_THINK},
    {"DSML", TEMPLATE_DSML, 3, CALL_MAY_THINK},
    {"Python", TEMPLATE_PYTHON, 3, CALL_MAY_THINK},
    {"Gemma", TEMPLATE_GEMMA, 3, CALL_MAY_THINK},
    {"Apertus", TEMPLATE_APERTUS, 3, CALL_MAY_THINK},
    {"Command", TEMPLATE_COMMAND, 3, CALL_THINKS_NEVER},
    {"Llama 4", TEMPLATE_LLAMA4, 3, CALL_MAY_THINK},
    {"xLAM", TEMPLATE_XLAM, 3, CALL_MAY_THINK},
    {"Seed-OSS", TEMPLATE_SEED, 3, CALL_MAY_THINK},
    {"Functionary", TEMPLATE_FUNCTIONARY, 3, CALL_THINKS_NEVER},
    {"thinking Hermes", TEMPLATE_THINKER, 3, CALL_THINKS},
    {"Nemotron", TEMPLATE_NEMOTRON, 3, CALL_MAY_THINK},
    {"MiniMax", TEMPLATE_MINIMAX, 3, CALL_MAY_THINK},
    {"Granite", TEMPLATE_GRANITE, 3, CALL_MAY_THINK},
    {"Phi", TEMPLATE_PHI, 3, CALL_MAY_THINK},
    {"LFM", TEMPLATE_LFM, 3, CALL_MAY_THINK},
    {"Olmo", TEMPLATE_OLMO, 3, CALL_MAY_THINK},
    {"Ministral", TEMPLATE_MINISTRAL, 3, CALL_MAY_THINK},
    {"Magistral", TEMPLATE_MAGISTRAL, 3, CALL_MAY_THINK},
    {"DeepSeek V3.1", TEMPLATE_DEEPSEEK_V3_1, 3, CALL_MAY_THINK},
    {"Firefunction", TEMPLATE_FIREFUNCTION, 3, CALL_MAY_THINK},
    {"function marks", TEMPLATE_FUNCTION_MARKS, 3, CALL_MAY_THINK},
    {"Intern", TEMPLATE_INTERN, 3, CALL_MAY_THINK},
    {"Apriel", TEMPLATE_APRIEL, 3, CALL_MAY_THINK},
    {"Command R+", TEMPLATE_COMMAND_PLUS, 3, CALL_MAY_THINK},
    {"Command, thinking", TEMPLATE_COMMAND_THINKS, 3, CALL_MAY_THINK},
    {"GigaChat", TEMPLATE_GIGACHAT, 1, CALL_MAY_THINK},
    {"Solar", TEMPLATE_SOLAR, 3, CALL_MAY_THINK},
    {"Hunyuan", TEMPLATE_HUNYUAN, 3, CALL_MAY_THINK},
    {"Jamba", TEMPLATE_JAMBA, 3, CALL_MAY_THINK},
    {"tool code", TEMPLATE_TOOL_CODE, 3, CALL_MAY_THINK},
    {"Seed-OSS, thinking", TEMPLATE_SEED_THINKS, 3, CALL_MAY_THINK},
    {"arguments as text", TEMPLATE_TEXT_ARGUMENTS, 3, CALL_MAY_THINK},
    {"id after the name", TEMPLATE_ID_BETWEEN, 3, CALL_MAY_THINK},
};
const size_t n_call_templates = COUNT(call_templates);

const call_template call_published[] = {
    {"Apertus-8B-Instruct", NULL, 3, CALL_MAY_THINK},
    {"Apriel-1.6-15b-Thinker-fixed", NULL, 3, CALL_MAY_THINK},
    {"Bielik-11B-v3.0-Instruct", NULL, 3, CALL_MAY_THINK},
    {"CohereForAI-c4ai-command-r-plus-tool_use", NULL, 3, CALL_MAY_THINK},
    {"CohereForAI-c4ai-command-r7b-12-2024-tool_use", NULL, 3, CALL_MAY_THINK},
    {"GLM-4.6", NULL, 3, CALL_MAY_THINK},
    {"GigaChat3-10B-A1.8B", NULL, 1, CALL_MAY_THINK},
    {"GigaChat3.1-10B-A1.8B", NULL, 1, CALL_MAY_THINK},
    {"Kimi-K2-Thinking", NULL, 3, CALL_MAY_THINK},
    {"LFM2.5-8B-A1B", NULL, 3, CALL_MAY_THINK},
    {"MiMo-VL", NULL, 3, CALL_MAY_THINK},
    {"MiniMax-M2", NULL, 3, CALL_MAY_THINK},
    {"Mistral-Small-3.2-24B-Instruct-2506", NULL, 3, CALL_MAY_THINK},
    {"NVIDIA-Nemotron-Nano-v2", NULL, 3, CALL_MAY_THINK},
    {"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use", NULL, 3, CALL_MAY_THINK},
    {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", NULL, 3, CALL_MAY_THINK},
    {"Qwen-Qwen2.5-7B-Instruct", NULL, 3, CALL_MAY_THINK},
    {"Qwen-Qwen3-0.6B", NULL, 3, CALL_MAY_THINK},
    {"Qwen3-Coder", NULL, 3, CALL_MAY_THINK},
    {"Reka-Edge", NULL, 3, CALL_MAY_THINK},
    {"StepFun3.5-Flash", NULL, 3, CALL_MAY_THINK},
    {"deepseek-ai-DeepSeek-R1-Distill-Llama-8B", NULL, 2, CALL_MAY_THINK},
    {"deepseek-ai-DeepSeek-V3.1", NULL, 3, CALL_MAY_THINK},
    {"deepseek-ai-DeepSeek-V3.2", NULL, 3, CALL_MAY_THINK},
    {"fireworks-ai-llama-3-firefunction-v2", NULL, 3, CALL_MAY_THINK},
    {"google-gemma-4-31B-it-interleaved", NULL, 3, CALL_MAY_THINK},
    {"google-gemma-4-31B-it", NULL, 3, CALL_MAY_THINK},
    {"ibm-granite-granite-4.1", NULL, 3, CALL_MAY_THINK},
    {"meetkai-functionary-medium-v3.2", NULL, 3, CALL_MAY_THINK},
    {"meta-llama-Llama-3.1-8B-Instruct", NULL, 1, CALL_MAY_THINK},
    {"meta-llama-Llama-3.2-3B-Instruct", NULL, 1, CALL_MAY_THINK},
    {"mistralai-Ministral-3-14B-Reasoning-2512", NULL, 3, CALL_MAY_THINK},
    {"mistralai-Mistral-Nemo-Instruct-2407", NULL, 3, CALL_MAY_THINK},
    {"openai-gpt-oss-120b", NULL, 1, CALL_MAY_THINK},
    {"stepfun-ai-Step-3.5-Flash", NULL, 3, CALL_MAY_THINK},
    {"unsloth-Apriel-1.5", NULL, 3, CALL_MAY_THINK},
    {"upstage-Solar-Open-100B", NULL, 3, CALL_MAY_THINK},
};
const size_t n_call_published = COUNT(call_published);

const char *call_published_path(size_t i)
{
    static char path[256];
    snprintf(path, sizeof path, "templates/%s.jinja", call_published[i].name);
    return test_data(path);
}

const char *call_template_text(const char *name)
{
    size_t i = 0;
    while (i < n_call_templates && strcmp(call_templates[i].name, name) != 0) i++;
    if (i == n_call_templates) fail_msg("no call template has the name %s", name);
    return call_templates[i].text;
}

const char *call_answer(const char *prompt, size_t n_prompt, const char *whole, size_t *n)
{
    static const char *const ends[] = {"<|im_end|>",
                                       "<|eot_id|>",
                                       "</s>",
                                       "<eos>",
                                       "<eot>",
                                       "<EOT>",
                                       "<END>",
                                       "<|end|>",
                                       "<|message_sep|>",
                                       "<|end_of_text|>",
                                       "<SPECIAL_12>",
                                       "[e~[",
                                       "<｜end▁of▁sentence｜>",
                                       "<turn|>",
                                       "<|start_header_id|>assistant<|end_header_id|>",
                                       "<|assistant_end|>",
                                       "<|calls|>",
                                       "<sep>",
                                       "<|tool_response>"},
                             header[] = "<|CHATBOT_TOKEN|>", end_of_turn[] = "<|END_OF_TURN_TOKEN|>";
    size_t shared = 0;
    while (shared < n_prompt && shared < *n && prompt[shared] == whole[shared]) shared++;
    size_t at = shared;
    while (at > 0 && !memchr("<[>]", whole[at - 1], 4)) at--;
    if (shared < n_prompt && at > 0 && memchr("<[", whole[at - 1], 2)) shared = at - 1; /* half of a mark */
    if (strncmp(whole + shared, header, strlen(header)) == 0) shared += strlen(header);
    const char *end = memmem(whole + shared, *n - shared, end_of_turn, strlen(end_of_turn));
    const char *next = memmem(whole + shared, *n - shared, "<|START_OF_TURN", strlen("<|START_OF_TURN"));
    if (next && (!end || next < end)) end = next;
    if (end) *n = (size_t)(end - whole);
    for (size_t i = 0; i < 3 * COUNT(ends); i++) { /* some have several */
        const char *mark = ends[i % COUNT(ends)];
        while (*n > 0 && strchr("\n ", whole[*n - 1])) --*n;
        if (*n > shared + strlen(mark) && memcmp(whole + *n - strlen(mark), mark, strlen(mark)) == 0)
            *n -= strlen(mark);
    }
    *n -= shared;
    return whole + shared;
}

/* Parts of strings: marks of all forms, quotes, escapes, other alphabets. */
/* clang-format off */
static const char *const parts[] = {
    "a", "7", " ", "word", "\\n", "\\t", "\\\"", "\\\\", "/", "<", ">", "{", "}", "[", "]", ":", "=", "&", "\\u00e9",
    "\xe6\x97\xa5", "\xf0\x9f\x99\x82", "\\u0000x", "\\u2028", "</tool_call>x", "<tool_call>x", "</parameter>x",
    "</function>x", "[TOOL_CALLS]x", "<|im_end|>x", "</think>x", "<|tool_call_end|>x", "</arg_value>x", "<tool_call|>x",
    "null", "True", "-1", "'s", "```"};
/* clang-format on */

static void put_string(test_random *random, char **out)
{
    *out += sprintf(*out, "\"");
    for (uint32_t n = test_below(random, 6); n > 0; n--)
        *out += sprintf(*out, "%s", parts[test_below(random, COUNT(parts))]);
    *out += sprintf(*out, "\"");
}

static void put_value(test_random *random, int depth, char **out)
{
    static const char *const scalars[] = {"0",
                                          "-1",
                                          "3.25",
                                          "true",
                                          "false",
                                          "null",
                                          "12345678901234567890123",
                                          "1e400",
                                          "-2.5E-9",
                                          "0.1234567890123456789"};
    const uint32_t kind = test_below(random, depth < 3 ? 6 : 4), n = test_below(random, 4);
    if (kind < 2) {
        put_string(random, out);
    } else if (kind < 4) {
        *out += sprintf(*out, "%s", scalars[test_below(random, COUNT(scalars))]);
    } else {
        *out += sprintf(*out, kind == 4 ? "[" : "{");
        for (uint32_t i = 0; i < n; i++) {
            *out += sprintf(*out, i > 0 ? "," : "");
            if (kind == 5) *out += sprintf(*out, "\"key%u\":", (unsigned)i);
            put_value(random, depth + 1, out);
        }
        *out += sprintf(*out, kind == 4 ? "]" : "}");
    }
}

/* Arguments of look_up: its own parameters in the types that it asks for, and others of any type. */
static void random_arguments(test_random *random, char *out)
{
    static const char *const others[] = {"list", "deep", "other"};
    out += sprintf(out, "{\"kind\":\"%s\",\"most\":%u,\"word\":", test_below(random, 2) ? "noun" : "verb",
                   (unsigned)test_below(random, 10));
    put_string(random, &out);
    for (size_t i = 0; i < COUNT(others); i++) {
        if (test_below(random, 2)) continue;
        out += sprintf(out, ",\"%s\":", others[i]);
        char *const begin = out;
        put_value(random, 1 + (i < 2 ? 0 : 3), &out);
        if (*begin != '"') continue;
        /* "7" can't be told from 7 where no type is asked for */
        memmove(begin + 2, begin + 1, (size_t)(out++ - begin));
        begin[1] = 's';
    }
    strcpy(out, "}");
}

json_t *call_random(test_random *random, int number)
{
    char id[16], text[8192] = "{}";
    const bool stops = test_below(random, 5) == 0;
    snprintf(id, sizeof id, "call%05d", number);
    if (!stops) random_arguments(random, text);
    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", id, "type", "function", "function", "name",
                     stops ? "stop" : "look_up", "arguments", text);
}

bool call_same_json(const char *a, size_t n_a, const char *b, size_t n_b)
{
    json_t *one, *two;
    vouch_json_read_numbers(&one, a, n_a, NULL);
    vouch_json_read_numbers(&two, b, n_b, NULL);
    const bool is_same = one && two && json_equal(one, two);
    json_decref(one);
    json_decref(two);
    return is_same;
}
