/* SPDX-License-Identifier: MIT */
/*
 * How a model writes thoughts and calls (reader.h), as its chat template shows it, and these forms as GBNF. So an
 * answer that is bound to a grammar may begin with thoughts, and a forced call has the form that the model knows.
 */
#ifndef VOUCH_SERVER_FORM_H
#define VOUCH_SERVER_FORM_H

#include "text.h"
#include "vouch.h"

typedef enum server_thoughts {
    SERVER_THOUGHTS_NONE,
    SERVER_THOUGHTS_OPEN,   /* the prompt has opened them */
    SERVER_THOUGHTS_ALLOWED, /* the answer may begin with <think> */
    SERVER_THOUGHTS_CHANNEL /* the answer has channels, as gpt-oss writes them */
} server_thoughts;

/* The thoughts that an answer to this prompt may begin with. */
server_thoughts server_thoughts_of(const vouch_model *model, const int32_t *prompt, size_t n);

typedef enum server_call_form {
    SERVER_CALL_JSON,       /* {"name": "f", "arguments": {...}}: of models that show no form */
    SERVER_CALL_PARAMETERS, /* Llama 3.1 */
    SERVER_CALL_TAGS,       /* Hermes, Qwen */
    SERVER_CALL_XML,        /* Qwen3-Coder */
    SERVER_CALL_LIST,       /* Mistral's [TOOL_CALLS][{...}] */
    SERVER_CALL_ARGS,       /* Mistral's [TOOL_CALLS]f[ARGS]{...} */
    SERVER_CALL_CHANNEL     /* gpt-oss */
} server_call_form;

/* The form in which the model's chat template writes a call. */
server_call_form server_call_form_of(const vouch_model *model);

/* Adds the rule `root`: thoughts, and then the rule `rest`. */
void server_form_put_root(server_text *out, const vouch_model *model, server_thoughts thoughts);
/* Adds the rule `answer`: a value that the schema accepts. */
void server_form_put_answer(server_text *out, server_thoughts thoughts, json_t *schema);
/* Adds the rule `calls`: calls of these tools, of the chat API, at least one. Each tool has a name, and `required` of
 * its parameters holds names. `several`: more than one where the form has room for it. */
void server_form_put_calls(server_text *out, const vouch_model *model, const json_t *tools, bool several);

#endif
