"""Clients of Ollama's API against a running `vouch serve`:  ollama_drive.py http://127.0.0.1:PORT

Needs the package ollama; also drives langchain-ollama and litellm, where they are installed. Prints each check that
fails, and exits with 1 if one did.
"""
import asyncio
import importlib.util
import json
import sys
import urllib.request

import ollama

MESSAGES = [{"role": "user", "content": "hello"}]
GREEDY = {"temperature": 0, "num_predict": 8, "num_ctx": 512, "seed": 1}
SCHEMA = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"],
          "additionalProperties": False}
TOOL = {"type": "function", "function": {"name": "turn", "description": "turns it on or off", "parameters": SCHEMA}}
failed = []


def check(name, good):
    if not good:
        failed.append(name)
        print(f"failed: {name}")


def refuses(name, status, call):
    try:
        call()
    except ollama.ResponseError as error:
        check(f"{name}: status {error.status_code}, {error.error}", error.status_code == status and error.error)
        return
    check(f"{name}: no error", False)


def models(client):
    model = client.list().models[0]
    check("list", model.model and model.size > 0 and model.details.format == "gguf" and model.modified_at)
    check("ps", client.ps().models[0].model == model.model)
    shown = client.show(model.model)
    check("show", "completion" in shown.capabilities and shown.modelinfo["general.architecture"] and shown.template)
    for name, call in (("pull", lambda: client.pull("x")), ("push", lambda: client.push("x")),
                       ("create", lambda: client.create("x", from_="y")), ("copy", lambda: client.copy("x", "y")),
                       ("delete", lambda: client.delete("x"))):
        refuses(name, 501, call)
    return model.model


def chat(client, model):
    whole = client.chat(model, MESSAGES, options=GREEDY)
    text = whole.message.content
    check("chat", whole.done and text and whole.eval_count == 8 and whole.prompt_eval_count > 0)
    check("chat: times", whole.total_duration >= whole.eval_duration > 0 and whole.done_reason == "length")
    parts = list(client.chat(model, MESSAGES, options=GREEDY, stream=True, keep_alive="5m"))
    check("chat: a stream", "".join(part.message.content for part in parts) == text and parts[-1].done)
    check("chat: latest", client.chat(f"{model}:latest", MESSAGES, options=GREEDY).message.content == text)
    bound = client.chat(model, MESSAGES, format=SCHEMA, options={"temperature": 0, "num_predict": 60})
    check("chat: a schema", isinstance(json.loads(bound.message.content)["on"], bool))
    check("chat: JSON", bound.done_reason == "stop")
    told = client.chat(model, [*MESSAGES, {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "turn", "arguments": {"on": True}}}]}, {"role": "tool", "tool_name": "turn",
                                                                      "content": "done"}],
                       tools=[TOOL], options=GREEDY, think=False)
    check("chat: the result of a tool", told.done)
    check("chat: only load", client.chat(model, []).done_reason == "load")
    refuses("chat: a role", 400, lambda: client.chat(model, [{"role": "nobody", "content": "x"}]))
    refuses("chat: an image", 400, lambda: client.chat(model, [{"role": "user", "content": "x", "images": [b"x"]}]))
    refuses("chat: an option", 400, lambda: client.chat(model, MESSAGES, options={"num_predicts": 3}))
    refuses("chat: a temperature", 400, lambda: client.chat(model, MESSAGES, options={"temperature": -3}))
    return text


def vectors(client, model):
    both = client.embed(model, ["the river", "a sea"]).embeddings
    one = client.embed(model, "the river").embeddings[0]
    check("embed", len(both) == 2 and list(both[0]) == list(one) and list(both[1]) != list(one))
    check("embed: of length 1", abs(sum(x * x for x in one) - 1) < 1e-5)
    check("embed: dimensions", len(client.embed(model, "the river", dimensions=8).embeddings[0]) == 8)
    check("embeddings", list(client.embeddings(model, "the river").embedding) == list(one))
    refuses("embed: nothing", 400, lambda: client.embed(model, ""))


def calls(url, model):
    """A forced call, which the package can't ask for: whole and as a stream."""
    for stream in (False, True):
        body = {"model": model, "messages": MESSAGES, "tools": [TOOL], "tool_choice": "required", "stream": stream,
                "options": {"temperature": 0, "num_predict": 60}}
        with urllib.request.urlopen(f"{url}/api/chat", json.dumps(body).encode()) as reply:
            kind, lines = reply.headers["Content-Type"], [json.loads(line) for line in reply]
        found = [call["function"] for line in lines for call in line["message"].get("tool_calls", ())]
        check(f"a call, stream {stream}", len(found) == 1 and found[0]["name"] == "turn" and
              isinstance(found[0]["arguments"]["on"], bool) and lines[-1]["done"])
        check("the type of lines", kind == ("application/x-ndjson" if stream else "application/json"))


def generate(client, model, text):
    whole = client.generate(model, "hello", options=GREEDY)
    check("generate", whole.response == text and whole.done)
    check("generate: a stream", "".join(part.response for part in
                                        client.generate(model, "hello", options=GREEDY, stream=True)) == text)
    raw = client.generate(model, "hello", raw=True, options=GREEDY)
    check("generate: raw", raw.response and raw.prompt_eval_count < whole.prompt_eval_count)
    check("generate: a system", client.generate(model, "hello", system="Be brief.", options=GREEDY).done)
    bound = client.generate(model, "hello", format=SCHEMA, options={"temperature": 0, "num_predict": 60})
    check("generate: a schema", isinstance(json.loads(bound.response)["on"], bool))
    check("generate: only load", client.generate(model, "", keep_alive=-1).done_reason == "load")
    refuses("generate: an image", 400, lambda: client.generate(model, "x", images=[b"x"]))


async def many(url, model, text):
    client = ollama.AsyncClient(url)
    answers = await asyncio.gather(*(client.chat(model, MESSAGES, options=GREEDY) for _ in range(8)))
    check("8 at once", all(answer.message.content == text for answer in answers))


def others(url, model, text):
    if importlib.util.find_spec("langchain_ollama"):
        from langchain_ollama import ChatOllama
        llm = ChatOllama(model=model, base_url=url, temperature=0, num_predict=8)
        check("langchain: invoke", llm.invoke("hello").content == text)
        check("langchain: stream", "".join(part.content for part in llm.stream("hello")) == text)
        bound = ChatOllama(model=model, base_url=url, temperature=0).with_structured_output(SCHEMA | {"title": "a"},
                                                                                            method="json_schema")
        check("langchain: structured", isinstance(bound.invoke("hello")["on"], bool))
        check("langchain: tools", llm.bind_tools([TOOL]).invoke("hello").response_metadata["done"])
    if importlib.util.find_spec("litellm"):
        import litellm
        ask = {"model": f"ollama_chat/{model}", "messages": MESSAGES, "api_base": url, "temperature": 0,
               "max_tokens": 8}
        check("litellm", litellm.completion(**ask).choices[0].message.content == text)
        check("litellm: stream", "".join(part.choices[0].delta.content or "" for part in
                                         litellm.completion(**ask, stream=True)) == text)


def main(url):
    client = ollama.Client(url)
    model = models(client)
    text = chat(client, model)
    calls(url, model)
    vectors(client, model)
    generate(client, model, text)
    asyncio.run(many(url, model, text))
    others(url, model, text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
