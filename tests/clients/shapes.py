"""The answers of a running `vouch serve` against the types of the openai and anthropic packages:

    shapes.py http://127.0.0.1:PORT

Each answer and each event of a stream is read with the packages' pydantic models in strict mode. Prints what doesn't
fit, and exits with 1 if something didn't.
"""
import json
import sys
import urllib.error
import urllib.request

import pydantic
from anthropic.types import Message, MessageTokensCount, ModelInfo, RawMessageStreamEvent
from anthropic.types.shared import ErrorResponse
from openai.types import Completion, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.input_token_count_response import InputTokenCountResponse

SCHEMA = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"],
          "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": "f", "description": "turns it on", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "f", "description": "turns it on", "parameters": SCHEMA, "strict": True}
BLOCK = {"name": "f", "description": "turns it on", "input_schema": SCHEMA}
SAY = {"max_tokens": 8, "messages": [{"role": "user", "content": "hello"}]}
FORMAT = {"type": "json_schema", "name": "switch", "schema": SCHEMA, "strict": True}
ITEMS = [
    {"role": "user", "content": "turn it on"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]},
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{\"on\": true}",
     "status": "completed"},
    {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "done"}]},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "It is on.", "annotations": [], "logprobs": []},
                 {"type": "refusal", "refusal": "No more."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "thanks"}]},
]
# path, body, the type of the answer, the type of an event
ANSWERS = [
    ("/v1/chat/completions", {**SAY, "logprobs": True, "top_logprobs": 2, "n": 2}, ChatCompletion, ChatCompletionChunk),
    ("/v1/chat/completions", {**SAY, "max_tokens": 60, "tools": [TOOL], "tool_choice": "required"}, ChatCompletion,
     ChatCompletionChunk),
    ("/v1/completions", {"prompt": "a", "max_tokens": 4, "logprobs": 2}, Completion, Completion),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 8}, Response, ResponseStreamEvent),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 8, "top_logprobs": 2, "user": "u",
                       "include": ["message.output_text.logprobs", "reasoning.encrypted_content"],
                       "metadata": {"a": "b"}, "truncation": "disabled", "reasoning": {"effort": "low"},
                       "text": {"verbosity": "low"}, "store": False, "prompt_cache_key": "k", "background": False,
                       "instructions": "Be brief.", "parallel_tool_calls": False}, Response, ResponseStreamEvent),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 60, "tools": [FLAT], "tool_choice": "required"},
     Response, ResponseStreamEvent),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 60, "tools": [FLAT],
                       "tool_choice": {"type": "function", "name": "f"}}, Response, ResponseStreamEvent),
    ("/v1/responses", {"input": "hello", "max_output_tokens": 60, "text": {"format": FORMAT}}, Response,
     ResponseStreamEvent),
    ("/v1/responses", {"input": ITEMS, "max_output_tokens": 4, "tools": [FLAT]}, Response, ResponseStreamEvent),
    ("/v1/messages", {**SAY, "stop_sequences": ["e"]}, Message, RawMessageStreamEvent),
    ("/v1/messages", {**SAY, "max_tokens": 60, "tools": [BLOCK], "tool_choice": {"type": "any"}}, Message,
     RawMessageStreamEvent),
]
OTHERS = [
    ("/v1/models/{}", None, Model), ("/v1/models/{}", None, ModelInfo),
    ("/v1/responses/input_tokens", {"input": ITEMS}, InputTokenCountResponse),
    ("/v1/messages/count_tokens", {"messages": SAY["messages"]}, MessageTokensCount),
    ("/v1/messages/batches", {"requests": []}, ErrorResponse),
    ("/v1/messages", {"messages": SAY["messages"]}, ErrorResponse),
    ("/v1/messages/batches/x", None, ErrorResponse),
]
failed = []


def ask(url, body):
    data = None if body is None else json.dumps(body).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(url, data)).read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def fits(name, kind, text):
    try:
        return pydantic.TypeAdapter(kind).validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        failed.append(name)
        print(f"failed: {name}: {error.errors()[:3]}\n  {text[:600]}")
        return None


def events_of(text):
    return [line[6:] for line in text.splitlines() if line.startswith("data: ") and line != "data: [DONE]"]


def main():
    url = sys.argv[1]
    name = json.loads(ask(f"{url}/v1/models", None))["data"][0]["id"]
    for path, body, kind, event in ANSWERS:
        fits(f"{path} {body}", kind, ask(url + path, body))
        events = events_of(ask(url + path, {**body, "stream": True}))
        if len(events) < 3:
            failed.append(path)
            print(f"failed: {path} {body}: {len(events)} events")
        for text in events:
            if event is Completion:  # its type is the one of a whole answer
                text = text.replace('"finish_reason":null', '"finish_reason":"stop"')
            fits(f"{path} stream {body}", event, text)
    for path, body, kind in OTHERS:
        fits(path, kind, ask(url + path.format(name), body))
    if failed:
        sys.exit(f"{len(failed)} of the answers don't fit")


main()
