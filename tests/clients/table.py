#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
r"""A table of client packages against a running `vouch serve`:  table.py URL [PACKAGE...]

Each package is used as its own documentation says, and does what it can of the columns below. A package that isn't
installed is skipped. Greedy answers at once must equal the answer alone. Between client and server stands a recorder;
what fails is printed with the last request and the answer that it got. Exits with 1 if anything failed.

    ok        done, and checked
    model     nothing failed, but the model didn't call the tool, or didn't follow a format that was only asked for
    -         the package has no such thing
    FAILED    see below the table

    pip install openai anthropic litellm langchain-openai langchain-anthropic llm instructor \
        'pydantic-ai-slim[openai]' openai-agents llama-index-llms-openai-like 'outlines[openai]' 'smolagents[openai]' \
        dspy haystack-ai 'lm-eval[api]'
"""
import asyncio
import concurrent.futures
import contextlib
import gc
import http.client
import http.server
import importlib.util
import json
import logging
import os
import re
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
import urllib.request
import warnings

COLUMNS = "chat", "stream", "async", "8 at once", "tools", "structured", "logprobs", "cancel"
ASK = "Name one colour of the rainbow."
LONG = "Write a very long story about a lighthouse, in many chapters."
WEATHER = "What is the weather in Paris? Use the tool."
PERSON = "Make up a person: Ada, who is 36 years old."
MOST = 48  # tokens of an answer
SECONDS = 240  # for a cell
rows, failures = {}, []


class Model(Exception):
    """The model didn't do what it wasn't bound to do."""


def cell(package, column):
    def keep(function):
        rows.setdefault(package, {})[column] = function
        return function
    return keep


# ------------------------------------------------------------------------------------------------------------- recorder

class Recorder(http.server.BaseHTTPRequestHandler):
    """Hands requests to the server and answers back, piece by piece, and keeps the last of each."""
    protocol_version = "HTTP/1.1"
    target, log = None, []

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        entry = {"request": f"{self.command} {self.path} {body.decode(errors='replace')}", "answer": ""}
        Recorder.log.append(entry)
        server = http.client.HTTPConnection(Recorder.target, timeout=SECONDS)
        kept = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")}
        server.request(self.command, self.path, body, {**kept, "Connection": "close"})
        reply = server.getresponse()
        entry["answer"] = f"{reply.status} "
        self.send_response(reply.status)
        for key, value in reply.getheaders():
            if key.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(key, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):  # the client has gone; the server learns of it
            while piece := reply.read1(65536):
                entry["answer"] += piece.decode(errors="replace")
                self.wfile.write(piece)
                self.wfile.flush()
        server.close()

    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


def record(url):
    Recorder.target = urllib.parse.urlsplit(url).netloc
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


# ------------------------------------------------------------------------------------------------------- what all share

URL = NAME = None  # of the recorder; of the model


def weather(city: str) -> str:
    """Tell the weather in a city.

    Args:
        city: the name of the city
    """
    called.append(city)
    return "Rain, 11 degrees."


called = []
TOOL = {"type": "function", "function": {"name": "weather", "description": "Tell the weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
                       "additionalProperties": False}}}


def person():
    import pydantic

    class Person(pydantic.BaseModel):
        name: str = pydantic.Field(max_length=20)
        age: int = pydantic.Field(ge=0, le=150)

    return Person


def user(text):
    return [{"role": "user", "content": text}]


def check(good, what):
    if not good:
        raise AssertionError(what)


def text_is(text):
    check(isinstance(text, str) and text.strip(), f"expected a text, got {text!r}")
    return text


def is_person(value):
    check(type(value).__name__ == "Person" and 0 <= value.age <= 150, f"expected a Person, got {value!r}")


def metric(pattern):
    with urllib.request.urlopen(f"http://{Recorder.target}/metrics", timeout=30) as reply:
        return sum(float(v) for v in re.findall(pattern + r"\S* (\S+)", reply.read().decode()))


def ended(reason=""):
    return metric(rf'request_success_total\{{[^}}]*finished_reason="{reason}')


@contextlib.contextmanager
def cancels():
    """The block leaves a stream; the server must end that answer as aborted."""
    aborted, all_ended = ended("abort"), ended()
    yield
    gc.collect()
    for _ in range(600):  # a slow server writes the next token late, and learns of it then
        if ended("abort") > aborted:
            return
        if ended() > all_ended:
            raise Model("the answer was over before it was left")
        time.sleep(0.1)
    raise AssertionError("the server goes on with an answer that nobody reads")


def first_of(stream, n=3):
    """Takes n pieces and leaves the stream as a `for` with a `break` does."""
    for i, _ in enumerate(stream):
        if i + 1 >= n:
            break
    if hasattr(stream, "close"):
        stream.close()


@contextlib.contextmanager
def unbound(*errors):
    """The block asks for a format without binding the model to it; these errors say that the model didn't follow."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ in errors:
            raise Model from error
        raise


def executed(text):
    if not called:
        raise Model
    text_is(text)


# --------------------------------------------------------------------------------------------------------------- openai

def openai_client(kind="OpenAI"):
    import openai
    return getattr(openai, kind)(base_url=f"{URL}/v1", api_key="x", max_retries=0)


def openai_ask(text=ASK, client=None, **more):
    return (client or openai_client()).chat.completions.create(
        model=NAME, messages=user(text), **{"max_tokens": MOST, "temperature": 0, **more})


@cell("openai", "chat")
def _(text=ASK):
    answer = openai_client().responses.create(model=NAME, input=text, max_output_tokens=MOST, temperature=0)
    check(text_is(answer.output_text) == openai_ask(text).choices[0].message.content, "responses and chat differ")
    return answer.output_text


@cell("openai", "stream")
def _():
    chunks = list(openai_ask(stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    check(text == openai_ask().choices[0].message.content and chunks[-1].usage.completion_tokens, "another text")
    with openai_client().responses.stream(model=NAME, input=ASK, max_output_tokens=MOST) as stream:
        check([e.type for e in stream][-1] in ("response.completed", "response.incomplete"), "no end")


@cell("openai", "async")
async def _():
    text_is((await openai_ask(client=openai_client("AsyncOpenAI"))).choices[0].message.content)


@cell("openai", "tools")
def _():
    """The loop of OpenAI's guide, on both APIs."""
    messages = user(WEATHER)
    message = openai_ask(tools=[TOOL], tool_choice="required", max_tokens=MOST).choices[0].message
    messages.append(message)
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id,
                         "content": weather(**json.loads(call.function.arguments))})
    text_is(openai_client().chat.completions.create(model=NAME, messages=messages, tools=[TOOL], tool_choice="none",
                                                    max_tokens=MOST).choices[0].message.content)
    tool = {"type": "function", **TOOL["function"]}
    first = openai_client().responses.create(model=NAME, input=WEATHER, tools=[tool], tool_choice="required",
                                             max_output_tokens=MOST)
    items = [{"role": "user", "content": WEATHER}, *first.output]
    for item in first.output:
        if item.type == "function_call":
            items.append({"type": "function_call_output", "call_id": item.call_id,
                          "output": weather(**json.loads(item.arguments))})
    executed(openai_client().responses.create(model=NAME, input=items, tools=[tool], tool_choice="none",
                                              max_output_tokens=MOST).output_text)


@cell("openai", "structured")
def _():
    Person = person()
    is_person(openai_client().chat.completions.parse(model=NAME, messages=user(PERSON), response_format=Person)
              .choices[0].message.parsed)
    is_person(openai_client().responses.parse(model=NAME, input=PERSON, text_format=Person).output_parsed)


@cell("openai", "logprobs")
def _():
    content = openai_ask(logprobs=True, top_logprobs=3).choices[0].logprobs.content
    check(all(len(c.top_logprobs) == 3 and c.logprob <= 0 for c in content), "not three")
    answer = openai_client().responses.create(model=NAME, input=ASK, max_output_tokens=5, top_logprobs=2,
                                              include=["message.output_text.logprobs"])
    check(len(answer.output[0].content[0].logprobs[0].top_logprobs) == 2, "not two")


@cell("openai", "cancel")
def _():
    with cancels():
        first_of(openai_ask(LONG, stream=True, max_tokens=2000))


# ------------------------------------------------------------------------------------------------------------ anthropic

def anthropic_client(kind="Anthropic"):
    import anthropic
    return getattr(anthropic, kind)(base_url=URL, api_key="x", max_retries=0)


def anthropic_options(text=ASK):
    return {"model": NAME, "messages": user(text), "max_tokens": MOST}


@cell("anthropic", "chat")
def _(text=ASK):
    answer = anthropic_client().messages.create(**anthropic_options(text), extra_body={"temperature": 0})
    return text_is(answer.content[0].text)


@cell("anthropic", "stream")
def _():
    with anthropic_client().messages.stream(**anthropic_options()) as stream:
        text_is("".join(stream.text_stream))
        check(stream.get_final_message().usage.output_tokens > 0, "no usage")


@cell("anthropic", "async")
async def _():
    text_is((await anthropic_client("AsyncAnthropic").messages.create(**anthropic_options())).content[0].text)


@cell("anthropic", "tools")
def _():
    import anthropic
    runner = anthropic_client().beta.messages.tool_runner(**anthropic_options(WEATHER),
                                                          tools=[anthropic.beta_tool(weather)])
    last = runner.until_done()
    executed("".join(b.text for b in last.content if b.type == "text"))


@cell("anthropic", "structured")
def _():
    answer = anthropic_client().messages.parse(**anthropic_options(PERSON), output_format=person())
    is_person(answer.parsed_output)


@cell("anthropic", "cancel")
def _():
    with cancels():
        first_of(anthropic_client().messages.create(**{**anthropic_options(LONG), "max_tokens": 2000}, stream=True), 5)


# -------------------------------------------------------------------------------------------------------------- litellm

def litellm_options(text=ASK, **more):
    import litellm
    litellm.suppress_debug_info = True
    return {"model": f"openai/{NAME}", "api_base": f"{URL}/v1", "api_key": "x", "messages": user(text),
            "max_tokens": MOST, "temperature": 0, "num_retries": 0, **more}


@cell("litellm", "chat")
def _(text=ASK):
    import litellm
    return text_is(litellm.completion(**litellm_options(text)).choices[0].message.content)


@cell("litellm", "stream")
def _():
    import litellm
    chunks = list(litellm.completion(**litellm_options(), stream=True))
    text_is(litellm.stream_chunk_builder(chunks).choices[0].message.content)


@cell("litellm", "async")
async def _():
    import litellm
    text_is((await litellm.acompletion(**litellm_options())).choices[0].message.content)


@cell("litellm", "tools")
def _():
    import litellm
    messages = user(WEATHER)
    message = litellm.completion(**litellm_options(WEATHER, tools=[TOOL], tool_choice="required")).choices[0].message
    messages.append(message.model_dump())
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name,
                         "content": weather(**json.loads(call.function.arguments))})
    executed(litellm.completion(**litellm_options(tools=[TOOL], tool_choice="none") | {"messages": messages})
             .choices[0].message.content)


@cell("litellm", "structured")
def _():
    import litellm
    Person = person()
    text = litellm.completion(**litellm_options(PERSON, response_format=Person)).choices[0].message.content
    is_person(Person.model_validate_json(text))


@cell("litellm", "logprobs")
def _():
    import litellm
    choice = litellm.completion(**litellm_options(logprobs=True, top_logprobs=2)).choices[0]
    check(len(choice.logprobs.content[0].top_logprobs) == 2, "not two")


@cell("litellm", "cancel")
def _():
    import litellm
    with cancels():
        first_of(litellm.completion(**litellm_options(LONG, stream=True, max_tokens=2000)).completion_stream)


# ------------------------------------------------------------------------------------------------------------ langchain

def langchain_cells(package, model, has_logprobs):
    @cell(package, "chat")
    def _(text=ASK):
        return text_is(model().invoke(text).text)

    @cell(package, "stream")
    def _():
        text_is("".join(c.text for c in model().stream(ASK)))

    @cell(package, "async")
    async def _():
        text_is((await model().ainvoke(ASK)).text)

    @cell(package, "tools")
    def _():
        from langchain_core.messages import HumanMessage
        from langchain_core.tools import tool
        run = tool(weather)
        messages = [HumanMessage(WEATHER)]
        for choice in "any", None, None:
            messages.append(model().bind_tools([run], tool_choice=choice).invoke(messages))
            messages += [run.invoke(call) for call in messages[-1].tool_calls]
            if messages[-1].type == "ai":
                return executed(messages[-1].text)
        raise Model  # it calls again and again

    @cell(package, "structured")
    def _():
        is_person(model().with_structured_output(person()).invoke(PERSON))
        is_person(model().with_structured_output(person(), method="json_schema").invoke(PERSON))
        if package == "langchain-openai":
            is_person(model().with_structured_output(person(), method="function_calling").invoke(PERSON))

    if has_logprobs:
        @cell(package, "logprobs")
        def _():
            answer = model().bind(logprobs=True, top_logprobs=2).invoke(ASK)
            check(len(answer.response_metadata["logprobs"]["content"][0]["top_logprobs"]) == 2, "not two")

    @cell(package, "cancel")
    def _():
        with cancels():
            first_of(model(2000).stream(LONG))


def langchain_openai(most=MOST):
    import langchain_openai as package
    return package.ChatOpenAI(model=NAME, base_url=f"{URL}/v1", api_key="x", max_tokens=most, temperature=0,
                              max_retries=0)


def langchain_anthropic(most=MOST):
    import langchain_anthropic as package
    return package.ChatAnthropic(model=NAME, base_url=URL, api_key="x", max_tokens=most, temperature=0, max_retries=0)


langchain_cells("langchain-openai", langchain_openai, True)
langchain_cells("langchain-anthropic", langchain_anthropic, False)


# ------------------------------------------------------------------------------------------------------------------ llm

def llm_model(get="get_model"):
    """As docs say: a file extra-openai-models.yaml in the user's folder."""
    import llm
    folder = tempfile.mkdtemp()
    os.environ["LLM_USER_PATH"] = folder
    with open(f"{folder}/extra-openai-models.yaml", "w", encoding="utf-8") as f:
        f.write(f"- model_id: v\n  model_name: {NAME}\n  api_base: {URL}/v1\n  supports_tools: true\n"
                "  supports_schema: true\n")
    model = getattr(llm, get)("v")
    model.key = "x"
    return model


@cell("llm", "chat")
def _(text=ASK):
    return text_is(llm_model().prompt(text, stream=False, max_tokens=MOST, temperature=0).text())


@cell("llm", "stream")
def _():
    text_is("".join(llm_model().prompt(ASK, max_tokens=MOST)))


@cell("llm", "async")
async def _():
    text_is(await llm_model("get_async_model").prompt(ASK, max_tokens=MOST).text())


@cell("llm", "tools")
def _():
    executed(llm_model().chain(WEATHER, tools=[weather], options={"max_tokens": MOST}).text())


@cell("llm", "structured")
def _():
    Person = person()
    is_person(Person.model_validate_json(llm_model().prompt(PERSON, schema=Person, stream=False).text()))


@cell("llm", "cancel")
def _():
    with cancels():
        first_of(iter(llm_model().prompt(LONG, max_tokens=2000)))


# ----------------------------------------------------------------------------------------------------------- instructor

def instructor_client(mode="TOOLS", kind="OpenAI"):
    import instructor
    return instructor.from_openai(openai_client(kind), mode=getattr(instructor.Mode, mode))


def instructor_options(text=PERSON):
    return {"model": NAME, "response_model": person(), "messages": user(text), "max_retries": 0, "temperature": 0}


@cell("instructor", "chat")
def _(text=PERSON):
    answer = instructor_client().create(**instructor_options(text))
    is_person(answer)
    return repr(answer)


@cell("instructor", "stream")  # create_partial reads the whole stream before it returns: nothing to cancel
def _():
    parts = list(instructor_client().create_partial(**instructor_options()))
    check(parts[-1].age is not None, f"{parts[-1:]}")


@cell("instructor", "async")
async def _():
    is_person(await instructor_client(kind="AsyncOpenAI").create(**instructor_options()))


@cell("instructor", "tools")
def _():
    for mode in "TOOLS", "TOOLS_STRICT", "RESPONSES_TOOLS":
        is_person(instructor_client(mode).create(**instructor_options()))
    list(instructor_client().create_iterable(**instructor_options(), max_tokens=200))


@cell("instructor", "structured")
def _():
    is_person(instructor_client("JSON_SCHEMA").create(**instructor_options()))
    with unbound("InstructorRetryException", "IncompleteOutputException"):
        for mode in "JSON", "MD_JSON":
            is_person(instructor_client(mode).create(**instructor_options(), max_tokens=200))


@cell("instructor", "logprobs")
def _():
    _, raw = instructor_client().create_with_completion(**instructor_options(), logprobs=True, top_logprobs=2)
    check(raw.choices[0].logprobs is not None, "none")


# ---------------------------------------------------------------------------------------------------------- pydantic-ai

def pydantic_agent(**more):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    model = OpenAIChatModel(NAME, provider=OpenAIProvider(base_url=f"{URL}/v1", api_key="x"))
    settings = {"max_tokens": MOST, "temperature": 0, **more.pop("settings", {})}
    return Agent(model, model_settings=settings, **more)


@cell("pydantic-ai", "chat")
def _(text=ASK):
    return text_is(pydantic_agent().run_sync(text).output)


@cell("pydantic-ai", "stream")
async def _():
    async with pydantic_agent().run_stream(ASK) as result:
        text_is([t async for t in result.stream_text()][-1])


@cell("pydantic-ai", "async")
async def _():
    text_is((await pydantic_agent().run(ASK)).output)


@cell("pydantic-ai", "tools")
def _():
    executed(pydantic_agent(tools=[weather]).run_sync(WEATHER).output)


@cell("pydantic-ai", "structured")
def _():
    from pydantic_ai import NativeOutput, PromptedOutput
    is_person(pydantic_agent(output_type=person()).run_sync(PERSON).output)
    is_person(pydantic_agent(output_type=NativeOutput(person())).run_sync(PERSON).output)
    with unbound("UnexpectedModelBehavior"):
        is_person(pydantic_agent(output_type=PromptedOutput(person())).run_sync(PERSON).output)


@cell("pydantic-ai", "logprobs")
def _():
    result = pydantic_agent(settings={"openai_logprobs": True, "openai_top_logprobs": 2}).run_sync(ASK)
    check(len(result.all_messages()[-1].provider_details["logprobs"][0]["top_logprobs"]) == 2, "not two")


@cell("pydantic-ai", "cancel")
async def _():
    with cancels():
        async with pydantic_agent(settings={"max_tokens": 2000}).run_stream(LONG) as result:
            async for _ in result.stream_text():
                break
        await asyncio.sleep(0)


# -------------------------------------------------------------------------------------------------------- openai-agents

def agents_agent(model="OpenAIResponsesModel", **more):
    import agents
    agents.set_tracing_disabled(True)
    settings = agents.ModelSettings(max_tokens=more.pop("most", MOST), temperature=0, **more.pop("settings", {}))
    client = openai_client("AsyncOpenAI")
    return agents.Agent(name="a", model=getattr(agents, model)(model=NAME, openai_client=client),
                        model_settings=settings, **more)


@cell("openai-agents", "chat")
async def _(text=ASK):
    import agents
    answers = [(await agents.Runner.run(agents_agent(m), text)).final_output
               for m in ("OpenAIResponsesModel", "OpenAIChatCompletionsModel")]
    check(answers[0] == answers[1], f"the APIs differ: {answers}")
    return text_is(answers[0])


@cell("openai-agents", "stream")
async def _():
    import agents
    for model in "OpenAIResponsesModel", "OpenAIChatCompletionsModel":
        result = agents.Runner.run_streamed(agents_agent(model), ASK)
        events = [e async for e in result.stream_events()]
        check(text_is(result.final_output) and len(events) > 3, "no events")


@cell("openai-agents", "async")
async def _():
    import agents
    text_is((await agents.Runner.run(agents_agent(), ASK)).final_output)


@cell("openai-agents", "tools")
async def _():
    import agents
    for model in "OpenAIResponsesModel", "OpenAIChatCompletionsModel":
        called.clear()
        agent = agents_agent(model, tools=[agents.function_tool(weather)], settings={"tool_choice": "required"})
        executed((await agents.Runner.run(agent, WEATHER)).final_output)


@cell("openai-agents", "structured")
async def _():
    import agents
    for model in "OpenAIResponsesModel", "OpenAIChatCompletionsModel":
        is_person((await agents.Runner.run(agents_agent(model, output_type=person()), PERSON)).final_output)


@cell("openai-agents", "logprobs")
async def _():
    import agents
    result = await agents.Runner.run(agents_agent(settings={"top_logprobs": 2}), ASK)
    check(len(result.raw_responses[0].output[0].content[0].logprobs[0].top_logprobs) == 2, "not two")


@cell("openai-agents", "cancel")
async def _():
    import agents
    with cancels():
        result = agents.Runner.run_streamed(agents_agent(most=2000), LONG)
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                result.cancel()
        await asyncio.sleep(0.1)


# ---------------------------------------------------------------------------------------------------------- llama-index

def llama_index(most=MOST, **more):
    from llama_index.llms.openai_like import OpenAILike
    return OpenAILike(model=NAME, api_base=f"{URL}/v1", api_key="x", is_chat_model=True, temperature=0,
                      is_function_calling_model=True, max_tokens=most, max_retries=0, context_window=4096, **more)


def llama_index_messages(text):
    from llama_index.core.llms import ChatMessage
    return [ChatMessage(role="user", content=text)]


@cell("llama-index", "chat")
def _(text=ASK):
    text_is(llama_index().complete(text).text)
    return text_is(llama_index().chat(llama_index_messages(text)).message.content)


@cell("llama-index", "stream")
def _():
    text_is("".join(c.delta or "" for c in llama_index().stream_chat(llama_index_messages(ASK))))


@cell("llama-index", "async")
async def _():
    text_is((await llama_index().achat(llama_index_messages(ASK))).message.content)


@cell("llama-index", "tools")
async def _():
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import FunctionTool
    llama_index().predict_and_call([FunctionTool.from_defaults(weather)], WEATHER, tool_choice="required")
    check(called, "predict_and_call called nothing")
    text_is(str(await FunctionAgent(tools=[FunctionTool.from_defaults(weather)], llm=llama_index()).run(WEATHER)))


@cell("llama-index", "structured")
def _():
    is_person(llama_index().as_structured_llm(person()).chat(llama_index_messages(PERSON)).raw)
    is_person(llama_index(should_use_structured_outputs=True).as_structured_llm(person())
              .chat(llama_index_messages(PERSON)).raw)


@cell("llama-index", "logprobs")
def _():
    answer = llama_index(logprobs=True, top_logprobs=2).chat(llama_index_messages(ASK))
    check(len(answer.logprobs[0]) == 2, "not two")


@cell("llama-index", "cancel")
def _():
    with cancels():
        first_of(llama_index(2000).stream_chat(llama_index_messages(LONG)))


# ------------------------------------------------------------------------------------------------------------- outlines

def outlines_model(kind="OpenAI", of="from_openai"):
    import outlines
    return getattr(outlines, of)(openai_client(kind), NAME)


@cell("outlines", "chat")
def _(text=ASK):
    return text_is(outlines_model()(text, max_tokens=MOST, temperature=0))


@cell("outlines", "stream")
def _():
    text_is("".join(outlines_model().stream(ASK, max_tokens=MOST)))


@cell("outlines", "async")
async def _():
    text_is(await outlines_model("AsyncOpenAI")(ASK, max_tokens=MOST))


@cell("outlines", "structured")
def _():
    import outlines
    from typing import Literal
    Person = person()
    is_person(Person.model_validate_json(outlines_model()(PERSON, Person)))
    vllm = outlines_model(of="from_vllm")
    is_person(Person.model_validate_json(vllm(PERSON, Person)))
    check(vllm("Yes or no?", Literal["yes", "no"]) in ("yes", "no"), "another word")
    check(re.fullmatch("[0-9]{3}", vllm("A number?", outlines.regex("[0-9]{3}"))), "another pattern")
    check(vllm("Yes?", outlines.cfg('root ::= "aye" | "nay"')) in ("aye", "nay"), "another grammar")


@cell("outlines", "cancel")
def _():
    with cancels():
        first_of(outlines_model().stream(LONG, max_tokens=2000))


# ----------------------------------------------------------------------------------------------------------- smolagents

def smolagents_model(most=MOST):
    import smolagents
    return smolagents.OpenAIModel(NAME, api_base=f"{URL}/v1", api_key="x", max_tokens=most, temperature=0,
                                  client_kwargs={"max_retries": 0})


def smolagents_messages(text):
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


@cell("smolagents", "chat")
def _(text=ASK):
    return text_is(smolagents_model()(smolagents_messages(text)).content)


@cell("smolagents", "stream")
def _():
    text_is("".join(d.content or "" for d in smolagents_model().generate_stream(smolagents_messages(ASK))))


@cell("smolagents", "tools")
def _():
    import smolagents
    agent = smolagents.ToolCallingAgent(tools=[smolagents.tool(weather)], model=smolagents_model(), max_steps=2,
                                        verbosity_level=-1)
    text_is(str(agent.run(WEATHER)))
    agent = smolagents.CodeAgent(tools=[], model=smolagents_model(), max_steps=1, verbosity_level=-1,
                                 use_structured_outputs_internally=True)
    text_is(str(agent.run("What is 2 + 2?")))
    if not called:
        raise Model


@cell("smolagents", "structured")
def _():
    Person = person()
    schema = {"type": "json_schema", "json_schema": {"name": "p", "schema": Person.model_json_schema()}}
    is_person(Person.model_validate_json(
        smolagents_model()(smolagents_messages(PERSON), response_format=schema).content))


@cell("smolagents", "cancel")
def _():
    with cancels():
        first_of(smolagents_model(2000).generate_stream(smolagents_messages(LONG)))


# ----------------------------------------------------------------------------------------------------------------- dspy

def dspy_lm(**more):
    import dspy
    return dspy.LM(f"openai/{NAME}", api_base=f"{URL}/v1", api_key="x", cache=False, num_retries=0,
                   **{"max_tokens": MOST, "temperature": 0, **more})


@cell("dspy", "chat")
def _(text=ASK):
    return text_is(dspy_lm()(text)[0])


@cell("dspy", "stream")
async def _():
    import dspy
    with dspy.context(lm=dspy_lm(max_tokens=300)):
        run = dspy.streamify(dspy.Predict("question -> answer"), async_streaming=True, stream_listeners=[
            dspy.streaming.StreamListener(signature_field_name="answer")])
        with unbound("AdapterParseError"):
            check([p async for p in run(question=ASK)], "nothing came")


@cell("dspy", "async")
async def _():
    text_is((await dspy_lm().acall(ASK))[0])


@cell("dspy", "tools")
def _():
    import dspy
    with dspy.context(lm=dspy_lm(max_tokens=300), adapter=dspy.JSONAdapter()), unbound("AdapterParseError"):
        executed(dspy.ReAct("question -> answer", tools=[weather], max_iters=2)(question=WEATHER).answer)


@cell("dspy", "structured")
def _():
    import dspy
    Person = person()
    schema = {"type": "json_schema", "json_schema": {"name": "p", "schema": Person.model_json_schema()}}
    is_person(Person.model_validate_json(dspy_lm(response_format=schema)(PERSON)[0]))
    with dspy.context(lm=dspy_lm(max_tokens=300), adapter=dspy.JSONAdapter()), unbound("AdapterParseError"):
        signature = dspy.Signature("text -> person: Person", custom_types={"Person": Person})
        is_person(dspy.Predict(signature)(text=PERSON).person)


@cell("dspy", "logprobs")
def _():
    answer = dspy_lm(logprobs=True, top_logprobs=2)(ASK)[0]
    check(len(answer["logprobs"].content[0].top_logprobs) == 2, "not two")


# ------------------------------------------------------------------------------------------------------------- haystack

def haystack(most=MOST, **more):
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret
    return OpenAIChatGenerator(api_key=Secret.from_token("x"), model=NAME, api_base_url=f"{URL}/v1", max_retries=0,
                               generation_kwargs={"max_tokens": most, "temperature": 0, **more})


def haystack_messages(text):
    from haystack.dataclasses import ChatMessage
    return [ChatMessage.from_user(text)]


@cell("haystack-ai", "chat")
def _(text=ASK):
    return text_is(haystack().run(haystack_messages(text))["replies"][0].text)


@cell("haystack-ai", "stream")
def _():
    pieces = []
    reply = haystack().run(haystack_messages(ASK), streaming_callback=lambda c: pieces.append(c.content))
    check("".join(pieces) == text_is(reply["replies"][0].text), "the pieces aren't the text")


@cell("haystack-ai", "async")
async def _():
    text_is((await haystack().run_async(haystack_messages(ASK)))["replies"][0].text)


@cell("haystack-ai", "tools")
def _():
    from haystack.components.agents import Agent
    from haystack.tools import create_tool_from_function
    agent = Agent(chat_generator=haystack(), tools=[create_tool_from_function(weather)], max_agent_steps=3)
    executed(agent.run(haystack_messages(WEATHER))["messages"][-1].text)


@cell("haystack-ai", "structured")
def _():
    Person = person()
    text = haystack(response_format=Person).run(haystack_messages(PERSON))["replies"][0].text
    is_person(Person.model_validate_json(text))


@cell("haystack-ai", "logprobs")
def _():
    reply = haystack(logprobs=True, top_logprobs=2).run(haystack_messages(ASK))["replies"][0]
    check(len(reply.meta["logprobs"]["content"][0]["top_logprobs"]) == 2, "not two")


@cell("haystack-ai", "cancel")
def _():
    def stop(chunk):
        raise InterruptedError
    with cancels(), contextlib.suppress(InterruptedError):
        haystack(2000).run(haystack_messages(LONG), streaming_callback=stop)


# -------------------------------------------------------------------------------------------------------------- lm-eval

def lm_eval_model(kind="LocalCompletionsAPI", path="completions", **more):
    from lm_eval.models import openai_completions
    return getattr(openai_completions, kind)(base_url=f"{URL}/v1/{path}", model=NAME, max_retries=1, **more)


def lm_eval_ask(model, method, *arguments):
    from lm_eval.api.instance import Instance
    requests = [Instance(method, {}, a, i) for i, a in enumerate(arguments)]
    return getattr(model, method)(requests, disable_tqdm=True)


def lm_eval_chat(text=ASK, n=1, concurrent=1):
    from lm_eval.models.api_models import JsonChatStr
    model = lm_eval_model("LocalChatCompletion", "chat/completions", num_concurrent=concurrent)
    options = {"until": ["\n\n"], "max_gen_toks": MOST, "do_sample": False, "temperature": 0}
    prompt = JsonChatStr(json.dumps(user(text)))
    return lm_eval_ask(model, "generate_until", *[(prompt, dict(options)) for _ in range(n)])


@cell("lm-eval", "chat")
def _(text=ASK):
    return text_is(lm_eval_chat(text)[0])


@cell("lm-eval", "8 at once")
def _():
    answers = lm_eval_chat(n=8, concurrent=8)
    check(len(answers) == 8 and len(set(answers)) == 1, f"they differ: {answers}")


@cell("lm-eval", "logprobs")
def _():
    """The log probability of a continuation, with the tokenizer of the server."""
    model = lm_eval_model(tokenizer_backend="remote")
    (likely, _), (unlikely, _) = lm_eval_ask(model, "loglikelihood", ("The capital of France is", " Paris"),
                                             ("The capital of France is", " xylophone"))
    check(unlikely < likely < 0, f"{likely}, {unlikely}")


# ---------------------------------------------------------------------------------------------------------------- table

def run_cell(function, *arguments):
    if asyncio.iscoroutinefunction(function):
        return asyncio.run(asyncio.wait_for(function(*arguments), SECONDS))
    return function(*arguments)


def eight(chat):
    """Eight at once in threads, each of which must get the answer that it gets alone."""
    alone = run_cell(chat)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run_cell(chat), range(8)))
    check(all(a == alone for a in answers), f"alone {alone!r}, together {answers!r}")


def evidence():
    """The first exchange that the server refused, or else the last one."""
    refused = [e for e in Recorder.log if e["answer"] >= "4"]
    return (refused or Recorder.log[-1:] or [{"request": "none", "answer": "none"}])[0]


def fill(package, column):
    cells = rows[package]
    function = cells.get(column)
    if column == "8 at once" and not function:
        function = lambda: eight(cells["chat"])  # noqa: E731
    if not function:
        return "-"
    called.clear()
    Recorder.log.clear()
    outcome = []

    def work():
        try:
            run_cell(function)
            outcome.append("ok")
        except Model:
            outcome.append("model")
        except BaseException as error:  # a package may leave with SystemExit
            outcome.append("FAILED")
            failures.append((package, column, "".join(traceback.format_exception_only(error)).strip(), evidence()))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(SECONDS + 30)
    if not outcome:
        failures.append((package, column, f"no end after {SECONDS + 30} s", evidence()))
    return outcome[0] if outcome else "FAILED"


MODULES = {"openai-agents": "agents", "llama-index": "llama_index.llms.openai_like", "haystack-ai": "haystack"}


def is_installed(package):
    try:
        return importlib.util.find_spec(MODULES.get(package, package.replace("-", "_"))) is not None
    except ModuleNotFoundError:
        return False


def main():
    global URL, NAME
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    os.environ.update(OPENAI_API_KEY="x", ANTHROPIC_API_KEY="x", OPENAI_AGENTS_DISABLE_TRACING="1",
                      HAYSTACK_TELEMETRY_ENABLED="False", LITELLM_LOCAL_MODEL_COST_MAP="True", HF_HUB_OFFLINE="1")
    URL = record(sys.argv[1])
    with urllib.request.urlopen(f"{sys.argv[1]}/v1/models", timeout=30) as reply:
        NAME = json.load(reply)["data"][0]["id"]
    print("| package |", " | ".join(COLUMNS), "|\n|" + " --- |" * (len(COLUMNS) + 1), flush=True)
    for package in sys.argv[2:] or rows:
        if not is_installed(package):
            print(f"| {package} | not installed |" + " |" * (len(COLUMNS) - 1), flush=True)
            continue
        print(f"| {package} |", " | ".join(fill(package, c) for c in COLUMNS), "|", flush=True)
    for package, column, error, last in failures:
        print(f"\n{package}, {column}: {error[:1500]}\n  request: {last['request'][:3000]}\n"
              f"  answer:  {last['answer'][:1500]}")
    sys.stdout.flush()
    os._exit(1 if failures else 0)  # threads of a package that hangs don't hold the table


if __name__ == "__main__":
    main()
