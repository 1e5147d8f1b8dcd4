/* SPDX-License-Identifier: MIT */
/* Short chat templates that write calls, each as a family of models does. */
#ifndef VOUCH_TESTS_CALL_TEMPLATES_H
#define VOUCH_TESTS_CALL_TEMPLATES_H

/* ChatML, whose answers end with `calls`, written for each call c. */
#define CALL_TURNS(calls)                                                                                      \
    "{{ tools | tojson if tools else '' }}{% for m in messages %}<|im_start|>{{ m.role }}\n"                   \
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"   \
    "{% for c in m.tool_calls or [] %}" calls "{% endfor %}<|im_end|>\n{% endfor %}"                           \
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
#define CALL_NAME  "{{ c.function.name }}"
#define CALL_GIVEN "{{ c.function.arguments | tojson }}"
#define CALL_EACH  "{% for k, v in c.function.arguments | items %}"

/* {{name, text}} */
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

/* All that write calls. */
#define CALL_TEMPLATES                                                                                         \
    TEMPLATE_HERMES, TEMPLATE_CODER, TEMPLATE_LLAMA, TEMPLATE_MISTRAL, TEMPLATE_NEMO, TEMPLATE_GPT_OSS,         \
    TEMPLATE_PYTHON, TEMPLATE_GEMMA, TEMPLATE_KIMI, TEMPLATE_GLM, TEMPLATE_FUNCTIONARY, TEMPLATE_DEEPSEEK,      \
    TEMPLATE_DSML, TEMPLATE_APERTUS, TEMPLATE_COMMAND, TEMPLATE_LLAMA4, TEMPLATE_XLAM, TEMPLATE_SEED

#endif
