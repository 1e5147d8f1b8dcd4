/* SPDX-License-Identifier: MIT */
/* Short chat templates that write calls, each as a family of models does. */
#ifndef VOUCH_TESTS_CALL_TEMPLATES_H
#define VOUCH_TESTS_CALL_TEMPLATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/test.h"

/* ChatML, whose answers end with `calls`, written for each call c. */
#define CALL_TURNS(calls)                                                                                      \
    "{{ tools | tojson if tools else '' }}{% for m in messages %}<|im_start|>{{ m.role }}\n"                   \
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"   \
    "{% for c in m.tool_calls or [] %}" calls "{% endfor %}<|im_end|>\n{% endfor %}"                           \
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
#define CALL_NAME  "{{ c.function.name }}"
#define CALL_GIVEN "{{ c.function.arguments | tojson }}"
#define CALL_EACH  "{% for k, v in c.function.arguments | items %}"

/* Whether an answer has thoughts: never, as the model likes, or from its first token on. */
typedef enum call_thoughts { CALL_THINKS_NEVER, CALL_MAY_THINK, CALL_THINKS } call_thoughts;

typedef struct call_template {
    const char *name, *text;
    int n_calls; /* most calls in one message; 0: the template writes none */
    call_thoughts thoughts;
} call_template;

extern const call_template call_templates[]; /* [n_call_templates] */
extern const size_t n_call_templates;

/* Those of models that write calls, by their files in the optional data folder, without texts. */
extern const call_template call_published[]; /* [n_call_published] */
extern const size_t n_call_published;
/* The path of a file; NULL: it isn't there. The string is valid until the next call. */
const char *call_published_path(size_t i);

/* The text of the template with this name. */
const char *call_template_text(const char *name);

/* Where the answer begins in whole[*n], which continues prompt[n_prompt]. *n: the length of the answer as a model
 * writes it, without the end of the turn. */
const char *call_answer(const char *prompt, size_t n_prompt, const char *whole, size_t *n);

/* Two tools: look_up, whose parameters have several types, and stop, which has none. */
#define CALL_TOOLS                                                                                                \
    "[{\"type\": \"function\", \"function\": {\"name\": \"look_up\", \"description\": \"Looks a word up.\", "     \
    "\"parameters\": {\"type\": \"object\", \"properties\": {\"word\": {\"type\": \"string\"}, \"kind\": "        \
    "{\"type\": \"string\", \"enum\": [\"noun\", \"verb\"]}, \"most\": {\"$ref\": \"#/$defs/count\"}, \"exact\": " \
    "{\"type\": \"boolean\"}}, \"required\": [\"kind\", \"most\", \"exact\"], \"additionalProperties\": false, "  \
    "\"$defs\": {\"count\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 9}}}}}, {\"type\": "             \
    "\"function\", \"function\": {\"name\": \"stop\", \"description\": \"Stops.\", \"parameters\": {\"type\": "   \
    "\"object\", \"properties\": {}, \"additionalProperties\": false}}}]"

/* A call of one of the tools in the form of the chat API, with the id callNNNNN for `number`. Its arguments hold marks
 * of all forms, escapes, other alphabets, values within values and numbers that no double holds. */
json_t *call_random(test_random *random, int number);
/* Whether both texts are the same JSON value, with the digits of long numbers. */
bool call_same_json(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
