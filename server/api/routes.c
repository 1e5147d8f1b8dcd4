/* SPDX-License-Identifier: MIT */
/* The paths of the server. */
#include "tool/json.h"
#include "api/embeddings.h"
#include "api/messages.h"
#include "api/models.h"
#include "api/native.h"
#include "report/observe.h"
#include "api/ollama.h"
#include "api/openai.h"
#include "report/openapi.h"
#include "report/page.h"
#include "api/rerank.h"
#include "request/request.h"
#include "api/responses.h"
#include "api/slots.h"

static void health(server_exchange *x)
{
    const bool drains = atomic_load(&x->server->drains);
    const tool_json_entry entries[] = {{"status", json_string(drains ? "shutting down" : "ok")}};
    server_reply_json(x, drains ? 503 : 200, tool_json_object(entries, 1));
}

#define JSON     "application/json"
#define ANSWERS  SERVER_ROUTE_ANSWERS
#define PUBLIC   SERVER_ROUTE_PUBLIC
#define ADMIN    SERVER_ROUTE_ADMIN
#define REQUEST  &server_request_fields
#define CHAT     server_chat_completions, "Answer in a conversation.", JSON, REQUEST, SERVER_CHAT
#define COUNT    server_count_chat_tokens, "Count the tokens of a conversation.", JSON, REQUEST, SERVER_CHAT
#define RESPONSE server_responses, "Answer in a conversation.", JSON, REQUEST, SERVER_RESPONSES
#define TOKENS   server_count_response_tokens, "Count the tokens of a conversation.", JSON, REQUEST, SERVER_RESPONSES
#define NATIVE   server_native_completion, "Go on with a text, as llama.cpp does.", JSON, REQUEST, SERVER_NATIVE
#define NOTHING  NULL, 0
#define EMBED    &server_embedding_fields
#define RERANK   "How well documents answer a query.", JSON, &server_rerank_fields, SERVER_RERANK
#define REFUSED  "The server runs the models that it was started with." /* what an answer of 501 says */
#define CHANGE   SERVER_ROUTE_REFUSED, server_ollama_refuse, REFUSED, JSON, NOTHING

const server_route server_routes[] = {
    {"GET", "/", PUBLIC, server_page, "The page.", "text/html", NOTHING},
    {"GET", "/openapi.json", PUBLIC, server_show_openapi, "This document.", JSON, NOTHING},
    {"GET", "/health", PUBLIC, health, "Is the server ready?", JSON, NOTHING},
    {"GET", "/v1/health", PUBLIC, health, "Is the server ready?", JSON, NOTHING},
    {"GET", "/ping", PUBLIC, health, "Is the server ready?", JSON, NOTHING},
    {"GET", "/version", PUBLIC, server_show_version, "The version.", JSON, NOTHING},
    {"GET", "/v1/models", 0, server_list_models, "The models.", JSON, NOTHING},
    {"GET", "/models", 0, server_list_models, "The models.", JSON, NOTHING},
    {"GET", "/v1/models/{model}", 0, server_show_model, "The model of this name.", JSON, NOTHING},
    {"GET", "/models/{model}", 0, server_show_model, "The model of this name.", JSON, NOTHING},
    {"POST", "/models/load", ADMIN, server_load_model, "Load a model that comes on demand.", JSON, &server_named_fields,
     SERVER_ADMIN},
    {"POST", "/models/unload", ADMIN, server_unload_model, "Unload a model once its answers are over.", JSON,
     &server_named_fields, SERVER_ADMIN},
    {"POST", "/v1/chat/completions", ANSWERS, CHAT},
    {"POST", "/chat/completions", ANSWERS, CHAT},
    {"POST", "/v1/completions", ANSWERS, server_completions, "Go on with a text.", JSON, REQUEST, SERVER_COMPLETIONS},
    {"POST", "/v1/chat/completions/input_tokens", 0, COUNT},
    {"POST", "/chat/completions/input_tokens", 0, COUNT},
    {"POST", "/v1/responses", ANSWERS, RESPONSE},
    {"POST", "/responses", ANSWERS, RESPONSE},
    {"POST", "/v1/responses/input_tokens", 0, TOKENS},
    {"POST", "/responses/input_tokens", 0, TOKENS},
    {"POST", "/v1/messages", ANSWERS, server_messages, "Answer in a conversation.", JSON, REQUEST, SERVER_MESSAGES},
    {"POST", "/v1/messages/count_tokens", 0, server_count_tokens, "Count the tokens of a conversation.", JSON, REQUEST,
     SERVER_MESSAGES},
    {"POST", "/completion", ANSWERS, NATIVE},
    {"POST", "/completions", ANSWERS, NATIVE},
    {"POST", "/infill", ANSWERS, server_native_infill, "Write the text between two others, as llama.cpp does.", JSON,
     REQUEST, SERVER_INFILL},
    {"POST", "/tokenize", 0, server_tokenize, "The tokens of a text.", JSON, &server_text_fields, SERVER_TOKENIZE},
    {"POST", "/detokenize", 0, server_detokenize, "The text of tokens.", JSON, &server_text_fields, SERVER_DETOKENIZE},
    {"POST", "/apply-template", 0, server_apply_template, "A conversation as the model reads it.", JSON, NULL,
     SERVER_TEMPLATE},
    {"POST", "/api/chat", ANSWERS, server_ollama_chat, "Answer in a conversation, as Ollama does.", JSON,
     &server_ollama_fields, SERVER_OLLAMA_CHAT},
    {"POST", "/api/generate", ANSWERS, server_ollama_generate, "Answer a prompt, as Ollama does.", JSON,
     &server_ollama_fields, SERVER_OLLAMA_GENERATE},
    {"GET", "/api/tags", 0, server_ollama_tags, "The models, as Ollama lists them.", JSON, NOTHING},
    {"GET", "/api/ps", 0, server_ollama_ps, "The models in memory, as Ollama lists them.", JSON, NOTHING},
    {"POST", "/api/show", 0, server_ollama_show, "A model, as Ollama describes it.", JSON, NOTHING},
    {"GET", "/api/version", PUBLIC, server_ollama_version, "The version of Ollama's API.", JSON, NOTHING},
    {"POST", "/api/pull", CHANGE},
    {"POST", "/api/push", CHANGE},
    {"POST", "/api/create", CHANGE},
    {"POST", "/api/copy", CHANGE},
    {"DELETE", "/api/delete", CHANGE},
    {"POST", "/api/blobs/{digest}", CHANGE},
    {"POST", "/v1/embeddings", 0, server_embeddings, "Vectors of texts.", JSON, EMBED, SERVER_EMBEDDINGS},
    {"POST", "/embeddings", 0, server_embeddings, "Vectors of texts.", JSON, EMBED, SERVER_EMBEDDINGS},
    {"POST", "/v1/rerank", 0, server_rerank, RERANK},
    {"POST", "/rerank", 0, server_rerank, RERANK},
    {"POST", "/api/embed", 0, server_ollama_embed, "Vectors of texts, as Ollama has them.", JSON, EMBED,
     SERVER_OLLAMA_EMBED},
    {"POST", "/api/embeddings", 0, server_ollama_embedding, "The vector of a text, as Ollama had it.", JSON, EMBED,
     SERVER_OLLAMA_EMBED},
    {"GET", "/tokenizer_info", 0, server_show_tokenizer, "Special tokens and the chat template.", JSON, NOTHING},
    {"GET", "/props", 0, server_show_props, "Properties of the server and of a model, ?model=NAME.", JSON, NOTHING},
    {"GET", "/lora-adapters", 0, server_show_loras, "The LoRA adapters of the model.", JSON, NOTHING},
    {"POST", "/lora-adapters", ADMIN, server_set_loras, "Change the scales of requests that set none.", JSON, NOTHING},
    {"GET", "/slots", 0, server_show_slots, "The sessions that may run at once.", JSON, NOTHING},
    {"POST", "/slots/{id}", 0, server_change_slot, "Save, restore or erase what a slot remembers.", JSON, NOTHING},
    {"GET", "/metrics", 0, server_show_metrics, "Counters and histograms for Prometheus.", "text/plain", NOTHING},
    {"GET", "/admin/speculation", 0, server_show_speculation, "Speculation of requests that set none.", JSON, NOTHING},
    {"POST", "/admin/speculation", ADMIN, server_set_speculation, "Change the speculation of requests that set none.",
     JSON, &server_speculation_fields, SERVER_ADMIN},
    {"GET", "/admin/draft-memory", 0, server_show_memory, "What the draft memories hold.", JSON, NOTHING},
    {"POST", "/admin/draft-memory/clear", ADMIN, server_clear_memory, "Forget all answers, and remove their files.",
     JSON, &server_named_fields, SERVER_ADMIN},
    {"GET", "/admin/prompt-cache", 0, server_show_prompts, "What the files of prompts hold.", JSON, NOTHING},
    {"POST", "/admin/prompt-cache/clear", ADMIN, server_clear_prompts, "Forget all prompts, and remove their files.",
     JSON, NOTHING},
};
const size_t server_n_routes = sizeof server_routes / sizeof *server_routes;
