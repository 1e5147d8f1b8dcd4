/* SPDX-License-Identifier: MIT */
/*
 * Reads an answer as it comes, and tells thoughts, content and tool calls apart. Models write calls in five forms; the
 * marks at their beginning tell which:
 *
 *   Hermes, Qwen    <tool_call>{"name": "f", "arguments": {...}}</tool_call>
 *   Qwen3-Coder     <tool_call><function=f><parameter=x>3</parameter></function></tool_call>
 *   Llama 3.1       {"name": "f", "parameters": {...}} as the whole answer, or behind <|python_tag|>
 *   Mistral         [TOOL_CALLS][{"name": "f", "arguments": {...}}], or [TOOL_CALLS]f[ARGS]{...}
 *   gpt-oss         <|channel|>commentary to=functions.f <|constrain|>json<|message|>{...}<|call|>
 *
 * Thoughts stand between <think> and </think>, or in the channel "analysis" of gpt-oss. A call is given when it is
 * complete. A call that can't be read is content: nothing is lost.
 *
 *            ┌── <think> ──► THOUGHTS ── </think> ──┐
 *   BEGIN ───┼──────────────► CONTENT ◄─────────────┴── the call ends ── CALL ◄── a mark ── CONTENT
 *            ├── { and tools, also behind thoughts ──► LAST CALL (to the end of the answer)
 *            └── <|channel|> ──► HEADER ── <|message|> ──► THOUGHTS, CONTENT or MESSAGE ── <|end|> ──► HEADER
 */
#ifndef VOUCH_SERVER_READER_H
#define VOUCH_SERVER_READER_H

#include <stdint.h>

#include "text.h"

typedef enum server_reader_state {
    SERVER_READER_BEGIN,
    SERVER_READER_THOUGHTS,
    SERVER_READER_GAP,       /* white space behind thoughts or a call */
    SERVER_READER_CONTENT,
    SERVER_READER_CALL,      /* behind <tool_call> */
    SERVER_READER_LAST_CALL, /* to the end of the answer */
    SERVER_READER_HEADER,    /* of gpt-oss, in front of <|message|> */
    SERVER_READER_MESSAGE    /* a call of gpt-oss, behind <|message|> */
} server_reader_state;

typedef struct server_reader {
    server_reader_state state;
    const json_t *tools; /* of the request, an array; NULL: calls are content */
    bool only_one;       /* calls behind the first one are left out */
    bool is_harmony;     /* the answer has channels, as gpt-oss writes them */
    int32_t n_calls;     /* read so far */
    server_text text;    /* not read yet */
    server_text header;  /* of the running message of gpt-oss; or the mark of the last call */
    server_text body;    /* of a call of gpt-oss */
    server_text content, thoughts; /* read; the caller takes them */
    json_t *calls; /* array of {"name": string, "arguments": string}; the caller takes them; NULL: none */
} server_reader;

/* thinks: the prompt has opened the thoughts already. The tools must outlive the reader. */
void server_reader_begin(server_reader *reader, const json_t *tools, bool thinks);
void server_reader_push(server_reader *reader, const char *text, size_t n);
/* Reads a control token by its name. The texts that are pushed lack control tokens. */
void server_reader_special(server_reader *reader, const char *name, size_t n);
/* The answer is over: what waits is read to its end. */
void server_reader_end(server_reader *reader);
void server_reader_free(server_reader *reader);

#endif
