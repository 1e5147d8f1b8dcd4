"""The Python clients of OpenAI and Anthropic against a running `vouch serve`:  drive.py http://127.0.0.1:PORT

Prints each check that fails, and exits with 1 if one did.
"""
import asyncio
import sys

import anthropic
import openai
import pydantic

ASK = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
GREEDY = {**ASK, "max_tokens": 8, "temperature": 0, "logit_bias": {"5": -100}}
SCHEMA = {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"],
          "additionalProperties": False}
failed = []


def check(name, good):
    if not good:
        failed.append(name)
        print(f"failed: {name}")


def raises(name, error, call):
    try:
        call()
    except error as caught:
        return caught
    check(f"{name}: no {error.__name__}", False)
    return None


def chat(client):
    check("models", len(client.models.list().data) == 1)
    answer = client.chat.completions.create(**GREEDY, logprobs=True, top_logprobs=3, seed=1, stop=["zzz"], n=2,
                                            user="u", metadata={"a": "b"}, store=False)
    text = answer.choices[0].message.content
    check("chat: two answers", len(answer.choices) == 2 and answer.usage.completion_tokens == 16)
    check("chat: top_logprobs", len(answer.choices[0].logprobs.content[0].top_logprobs) == 3)
    chunks = list(client.chat.completions.create(**GREEDY, stream=True, stream_options={"include_usage": True}))
    check("chat: stream", "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text)
    check("chat: usage of a stream", chunks[-1].usage.completion_tokens == 8)
    with client.chat.completions.stream(**GREEDY) as stream:
        for _ in stream:
            pass
        check("chat: the stream's helper", stream.current_completion_snapshot.choices[0].message.content == text)
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    answer = client.chat.completions.create(**ASK, tools=tools, tool_choice="required", max_tokens=100)
    check("chat: a call", answer.choices[0].message.tool_calls[0].function.name == "f")
    check("chat: its reason", answer.choices[0].finish_reason == "tool_calls")
    error = raises("temperature", openai.BadRequestError, lambda: client.chat.completions.create(**ASK, temperature=-1))
    check("chat: the error's field", error is not None and error.param == "temperature")
    return text


class Switch(pydantic.BaseModel):
    on: bool


def parsed(client):
    """The helpers that read answers into a model of pydantic."""
    options = {**ASK, "max_tokens": 100, "temperature": 0}
    answer = client.chat.completions.parse(**options, response_format=Switch)
    check("parsed: chat", isinstance(answer.choices[0].message.parsed, Switch))
    raises("parsed: an answer that is cut", openai.LengthFinishReasonError,
           lambda: client.chat.completions.parse(**{**options, "max_tokens": 1}, response_format=Switch))
    tools = {"tools": [openai.pydantic_function_tool(Switch)], "tool_choice": "required", "parallel_tool_calls": False}
    call = client.chat.completions.parse(**options, **tools).choices[0].message.tool_calls[0]
    check("parsed: a call", isinstance(call.function.parsed_arguments, Switch))
    with client.chat.completions.stream(**options, **tools) as stream:
        call = stream.get_final_completion().choices[0].message.tool_calls[0]
        check("parsed: a call of a stream", isinstance(call.function.parsed_arguments, Switch))
    response = {"model": "m", "input": "hello", "max_output_tokens": 100, "temperature": 0, "text_format": Switch}
    check("parsed: a Response", isinstance(client.responses.parse(**response).output_parsed, Switch))
    with client.responses.stream(**response) as stream:
        check("parsed: a Response of a stream", isinstance(stream.get_final_response().output_parsed, Switch))
    raises("a Response of earlier", openai.NotFoundError, lambda: client.responses.retrieve("resp_1"))


def completions(client):
    answer = client.completions.create(model="m", prompt=["a b", "c d"], max_tokens=5, echo=True, logprobs=2,
                                       temperature=0)
    check("completions: echo", len(answer.choices) == 2 and answer.choices[0].text.startswith("a b"))
    chunks = client.completions.create(model="m", prompt="a b", max_tokens=5, temperature=0, stream=True)
    check("completions: stream", "a b" + "".join(c.choices[0].text for c in chunks) == answer.choices[0].text)


def responses(client):
    options = {"model": "m", "max_output_tokens": 9, "temperature": 0}
    answer = client.responses.create(**options, input="hello")
    check("responses", answer.output_text != "" and answer.status == "incomplete")
    events = list(client.responses.create(**options, input=[{"role": "user", "content": "hello"}], stream=True))
    deltas = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    check("responses: stream", deltas == answer.output_text and events[-1].type == "response.incomplete")


def messages(client):
    options = {**ASK, "max_tokens": 8, "system": "be", "extra_body": {"temperature": 0}}
    answer = client.messages.create(**options, stop_sequences=["zzz"], metadata={"user_id": "u"})
    check("messages", answer.content[0].type == "text" and answer.stop_reason in ("max_tokens", "end_turn"))
    with client.messages.stream(**options) as stream:
        check("messages: stream", "".join(stream.text_stream) == answer.content[0].text)
    check("messages: count", client.messages.count_tokens(**ASK).input_tokens > 0)
    answer = client.messages.create(**ASK, max_tokens=100, tools=[{"name": "f", "input_schema": SCHEMA}],
                                    tool_choice={"type": "any"})
    check("messages: a call", answer.stop_reason == "tool_use" and "on" in answer.content[-1].input)
    with client.messages.stream(**ASK, max_tokens=100, tools=[{"name": "f", "input_schema": SCHEMA}],
                                tool_choice={"type": "any"}) as stream:
        check("messages: a call of a stream", "on" in stream.get_final_message().content[-1].input)
    if hasattr(client.messages, "parse"):
        answer = client.messages.parse(**ASK, max_tokens=100, output_format=Switch)
        check("messages: parsed", isinstance(answer.parsed_output, Switch))
    raises("messages: batches", anthropic.NotFoundError, lambda: client.messages.batches.create(requests=[]))
    raises("messages", anthropic.BadRequestError,
           lambda: client.messages.create(model="m", max_tokens=8, messages=[]))
    check("models, as Anthropic has them", client.models.list().data[0].type == "model")
    if hasattr(anthropic, "beta_tool"):
        loop(client)


def loop(client):
    """The package's own loop of calls. Its newest versions ask for a `thread`, and go on without one."""
    given = []

    @anthropic.beta_tool
    def turn(on: bool) -> str:
        """turns it on or off"""
        given.append(on)
        return "done"

    runner = client.beta.messages.tool_runner(**ASK, max_tokens=60, tools=[turn], tool_choice={"type": "any"},
                                              max_iterations=2)
    check("messages: tool_runner", all(m.stop_reason == "tool_use" for m in runner) and len(given) == 2)


def embeddings(client):
    both = client.embeddings.create(model="m", input=["the river", "a sea"])
    as_numbers = client.embeddings.create(model="m", input="the river", encoding_format="float", dimensions=8)
    check("embeddings", len(both.data) == 2 and both.usage.prompt_tokens > 2 and both.data[1].index == 1)
    check("embeddings: of length 1", abs(sum(x * x for x in both.data[0].embedding) - 1) < 1e-5)
    check("embeddings: dimensions", len(as_numbers.data[0].embedding) == 8)
    raises("embeddings: nothing", openai.BadRequestError, lambda: client.embeddings.create(model="m", input=""))


def rerank(client):
    ask = {"query": "What is the capital of China?", "documents": ["Bananas are yellow.", "It is Beijing.", "A river."]}

    def post(**more):
        return client.post("/rerank", body=ask | more, cast_to=dict[str, object])["results"]

    results = post(return_documents=True)
    scores = [result["relevance_score"] for result in results]
    check("rerank", sorted(result["index"] for result in results) == [0, 1, 2] and
          all(0 <= score <= 1 for score in scores) and scores == sorted(scores, reverse=True))
    check("rerank: documents", all(result["document"]["text"] == ask["documents"][result["index"]]
                                   for result in results))
    check("rerank: top_n", post(top_n=1)[0]["index"] == results[0]["index"])
    best = ask["documents"][results[0]["index"]]
    check("rerank: alone", post(documents=[best])[0]["relevance_score"] == scores[0])
    raises("rerank: nothing", openai.BadRequestError, lambda: post(documents=[]))
    raises("rerank: no text", openai.BadRequestError, lambda: post(documents=["a", 5]))


async def many(url, text):
    client = openai.AsyncOpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)
    answers = await asyncio.gather(*(client.chat.completions.create(**GREEDY) for _ in range(16)))
    check("16 at once", all(answer.choices[0].message.content == text for answer in answers))


def main(url):
    client = openai.OpenAI(api_key="x", base_url=f"{url}/v1", max_retries=0)
    text = chat(client)
    parsed(client)
    completions(client)
    responses(client)
    embeddings(client)
    rerank(client)
    messages(anthropic.Anthropic(api_key="x", base_url=url, max_retries=0))
    asyncio.run(many(url, text))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
