/* SPDX-License-Identifier: MIT */
/*
 * A request for generated text, read from JSON. One table (request.c) has the fields of all APIs: which has which, and
 * where its value goes. Fields that the table doesn't have are refused, so that nothing is dropped in silence.
 */
#ifndef VOUCH_SERVER_REQUEST_H
#define VOUCH_SERVER_REQUEST_H

#include "http/fields.h"
#include "call/form.h"
#include "http/http.h"

/* Which request: bits for the tables of fields. */
enum {
    SERVER_CHAT = 1u << 0,             /* /v1/chat/completions */
    SERVER_COMPLETIONS = 1u << 1,      /* /v1/completions */
    SERVER_NATIVE = 1u << 2,           /* /completion of llama.cpp */
    SERVER_MESSAGES = 1u << 3,         /* /v1/messages */
    SERVER_RESPONSES = 1u << 4,        /* /v1/responses */
    SERVER_TOKENIZE = 1u << 5,         /* /tokenize */
    SERVER_DETOKENIZE = 1u << 6,       /* /detokenize */
    SERVER_TEMPLATE = 1u << 7,         /* /apply-template, which takes every variable of a template */
    SERVER_ADMIN = 1u << 8,            /* /admin/... */
    SERVER_SPECULATIVE = 1u << 9,      /* the object `speculative` of a request */
    SERVER_INFILL = 1u << 10,          /* /infill of llama.cpp; a request for it has SERVER_NATIVE */
    SERVER_OLLAMA_CHAT = 1u << 11,     /* /api/chat; a request for it has SERVER_CHAT */
    SERVER_OLLAMA_GENERATE = 1u << 12, /* /api/generate; a request for it has SERVER_CHAT or SERVER_COMPLETIONS */
    SERVER_EMBEDDINGS = 1u << 13,      /* /v1/embeddings */
    SERVER_OLLAMA_EMBED = 1u << 14,    /* /api/embed and /api/embeddings */
    SERVER_RERANK = 1u << 15           /* /v1/rerank */
};

extern const server_field_table server_request_fields;   /* of requests for text */
extern const server_field_table server_text_fields;      /* of /tokenize and /detokenize (native.c) */
extern const server_field_table server_embedding_fields; /* of /v1/embeddings and /api/embed (embeddings.c) */
extern const server_field_table server_rerank_fields;    /* of /v1/rerank (rerank.c) */
extern const server_field_table server_ollama_fields;    /* of /api/chat and /api/generate (ollama_request.c) */
extern const server_field_table server_named_fields;     /* of requests that name a model alone (models.c) */
typedef struct server_named {
    json_t *model; /* NULL: none is named */
} server_named;
extern const server_field_table server_speculation_fields; /* of `speculative` and /admin/speculation */

typedef struct server_request {
    unsigned where; /* its bit */
    json_t *document;
    server_model *model;
    const char *model_name;
    vouch_session_options session; /* sampling, speculation, max_tokens, ...; stop and bias are read from the JSON */
    bool stream, include_usage, echo, trace;
    bool with_logprobs; /* chat: logprobs */
    bool prompt_only;   /* completions: echo with max_tokens 0; /completion: n_predict 0 */
    int32_t n;          /* answers to each prompt */
    int32_t id_slot;    /* that the first answer wants, as /slots numbers them; -1: any */
    int32_t max_tokens, max_completion_tokens, n_predict; /* 0: not given */
    uint64_t seed;
    json_t *breakers, *samplers; /* dry_sequence_breakers; the order of the chain */
    json_t *seed_value, *stop, *logit_bias, *lora, *stream_options, *prediction, *speculative;
    json_t *messages, *tools, *tool_choice, *documents, *template_kwargs, *response_format, *prompt;
    json_t *n_logprobs;                                 /* completions: a number */
    int32_t top_logprobs;                               /* chat */
    bool add_generation_prompt, continue_final_message; /* as apply_chat_template of transformers takes them */
    const char *reasoning_effort;
    const char *grammar;             /* binds the answer from its first token on; NULL: nothing does */
    vouch_grammar_kind grammar_kind; /* its notation: GBNF, or a regular expression */
    const char *grammar_param;       /* the field that has it */
    json_t *reasoning, *thinking;    /* read by thinking.c, with reasoning_effort */
    bool enable_thinking, hides_thoughts;
    json_t *json_schema, *include;
    const char *schema_param; /* the field that has json_schema */
    bool open_objects;        /* objects of schemas that list properties may have others, as the standard says */
    json_t *structured_outputs, *guided_json, *guided_choice; /* fields of vLLM's clients (structured.c) */
    const char *guided_regex, *guided_grammar, *regex;
    bool must_call;                          /* tool_choice forces a call */
    bool is_legacy;                          /* the client knows `functions`, and no tools */
    bool several_calls;                      /* an answer may have more than one */
    bool infills;                            /* /infill */
    const char *suffix;                      /* completions: the text after the answer; NULL or "": there is none */
    const char *input_prefix, *input_suffix; /* /infill */
    json_t *input_extra;                     /* /infill: other files */
    bool timings_per_token;                  /* of llama.cpp: each chunk of a stream has `timings` */
    bool return_tokens;                      /* /completion: the ids of the answer's tokens */
    json_t *response_fields;                 /* /completion: the members that the answer shall have; NULL: all */
} server_request;

/* Reads x->json; false with a fault. The document owns texts and values. */
bool server_request_read(server_request *request, server_exchange *x, unsigned where, server_fault *fault);
/* A job with the request's options, and its stop texts, biases and prediction. Prompts are still missing. NULL with a
 * fault. */
server_job *server_request_job(const server_request *request, int32_t n_prompts, server_fault *fault);
/* Reads `samplers` (samplers.c): turns off those that the list doesn't name. */
bool server_read_samplers(const json_t *names, vouch_sampling *sampling, server_fault *fault);
/* The list of all samplers, in the order of the chain. */
json_t *server_samplers_json(void);
/* Gives the job the request's biases (biases.c). */
bool server_request_biases(const server_request *request, server_job *job, server_fault *fault);
/* Binds the job's answers to the request's grammar, if it has one. With a schema or a forced call, the grammar begins
 * after the thoughts; `grammar` itself binds the answer from its first token on. */
bool server_request_bind(const server_request *request, server_job *job, server_thoughts thoughts, server_fault *fault);
/* Sets the prompt of choices [n * prompt, n * (prompt + 1)). `tokens` belong to the job. Refuses prompts that don't fit
 * into the context. */
bool server_request_prompt(const server_request *request, server_job *job, int32_t prompt, const int32_t *tokens,
                           size_t n_tokens, const char *param, server_fault *fault);

/* Reads what the request says about thoughts: sets the session's budget and variables of the template. */
bool server_read_thinking(server_request *request, server_fault *fault);

/* Gives messages and tools of a body the form that templates read: no null, a content everywhere, parts of text. */
bool server_complete_conversation(json_t *body, server_fault *fault);
/* The prompts of the request as tokens: a conversation, or texts and ids. */
server_job *server_prompt_chat(const server_request *request, server_fault *fault);
/* Only counts the tokens of a conversation, which may be longer than the context. */
bool server_count_prompt(const server_request *request, size_t *n, server_fault *fault);
server_job *server_prompt_texts(const server_request *request, server_fault *fault);

/* The model of this name, a JSON string; without a name the first. NULL with a fault. A server of one model answers to
 * every name. */
server_model *server_find_model(server *s, const json_t *name, server_fault *fault);
/* A copy of a name in a path or a query, with its escapes, such as %20, read; the caller's. An escaped NUL stays as it
 * is. NULL: no memory. */
char *server_unescaped(const char *name);
/* No model has the name: 404. False. */
bool server_fail_model(server_fault *fault, const char *name);

/* Reads the fields in which vLLM's clients bind an answer, and makes them a grammar or a schema (structured.c). */
bool server_request_structured(server_request *request, server_fault *fault);

/* Turns `functions` of the document, if it has any, into tools (legacy.c). */
bool server_convert_functions(server_request *request, server_fault *fault);
/* Turns message i into one of today's chat API. `id`: of the last call of this form, "" before the first. */
void server_convert_legacy_message(json_t *message, size_t i, char id[10]);

/* Writes the path of the schema of tool i, as the client's API has it. Returns `out`. */
const char *server_tool_path(const server_request *request, size_t i, char out[64]);
/* The name of the tool that tool_choice names; "": none. */
const char *server_chosen_tool(const server_request *request);

/* Reads "drafters" of the form "auto", "ngram,suffix" or ["ngram", "suffix"]. */
bool server_read_drafters(const json_t *value, const char *path, unsigned *drafters, server_fault *fault);
/* Fails where a drafter is asked for whose file the server doesn't have. */
bool server_check_drafters(const vouch_speculation *speculation, const char *param, server_fault *fault);
/* Reads a `speculative` object into the speculation. trace NULL: the object can't ask for a trace. */
bool server_read_speculation(json_t *value, const char *path, vouch_speculation *speculation, bool *trace,
                             server_fault *fault);

/* Reads [{"id", "scale"}] into scales [n]; adapters that aren't listed get 0. False with a fault. */
bool server_lora_read(const json_t *given, int32_t n, float *scales, const char *param, server_fault *fault);
/* The scales of the job's adapters: the model's, or the request's. False with a fault. */
bool server_request_lora(const server_request *r, server_job *job, server_fault *fault);
void server_show_loras(server_exchange *x); /* GET /lora-adapters */
void server_set_loras(server_exchange *x);  /* POST /lora-adapters */

#endif
