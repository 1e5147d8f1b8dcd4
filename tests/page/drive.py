#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives the page of a server in Chromium: drive.py URL PID [FOLDER]

Each case is a function with a page of its own. Most of them answer for the server (`Server`), so that every kind of
answer comes: thoughts, calls, errors, a base model, several models. `use` and `stops` ask the real one, and at the end
it (PID) is killed. A message on the browser's console is a failure. With FOLDER, screenshots at 390, 768, 1,366 and
1,920 pixels, light and dark, are left there. CASE=WORD runs the cases with this word in their name alone. Needs the
package playwright and Chromium.
"""
import json
import os
import re
import shutil
import signal
import sys
import traceback

from playwright.sync_api import sync_playwright

LONG = "Write a long story about a lighthouse."
SIZES = (390, 844), (768, 1024), (1366, 768), (1920, 1080)


def ask(page, text):
    n = page.locator(".answer").count()
    page.fill("#text", text)
    page.press("#text", "Enter")
    page.wait_for_function("n => document.querySelectorAll('.answer').length > n", arg=n)


def idle(page):
    page.wait_for_function("document.querySelector('#send').textContent === 'Send'", timeout=120_000)


def answer(page):
    return page.inner_text(".answer:last-child .body")


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


class Server:
    """Answers for the server: /props and /v1/models as changed by the case, answers as the case gives them."""

    def __init__(self, page, models=("one",), templates=None, drafters=None):
        self.page, self.models, self.templates, self.drafters = page, models, templates or {}, drafters
        self.requests, self.answers = [], []
        self.props = page.request.get(f"{page.url_of_server}/props").json()
        page.route("**/v1/models", self.give_models)
        page.route("**/props*", self.give_props)
        page.route(re.compile("/v1/(chat/)?completions"), self.answer)

    def give_models(self, route):
        route.fulfill(json={"data": [{"id": name, "meta": {"thinks": name.startswith("think")}}
                                     for name in self.models]})

    def give_props(self, route):
        props = dict(self.props)
        name = route.request.url.split("model=")[-1]
        props["chat_template"] = self.templates.get(name, "jinja")
        if self.drafters:
            props["drafters"] = [{"name": d, "summary": f"how {d} guesses for the target"} for d in self.drafters]
        route.fulfill(json=props)

    def answer(self, route):
        self.requests.append((route.request.url.split("/v1")[-1], route.request.post_data_json))
        status, body = self.answers.pop(0)
        route.fulfill(status=status, body=body,
                      content_type="text/event-stream" if status == 200 else "application/json")

    def says(self, *deltas, finish="stop", tokens=()):
        """The next answer: a chunk for each delta, and one whose trace has the tokens."""
        choices = [{"index": 0, **({"text": d} if isinstance(d, str) else {"delta": d})} for d in deltas]
        choices.append({"index": 0, "delta": {}, "vouch": list(tokens), "finish_reason": finish})
        events = [json.dumps({"choices": [c]}) for c in choices] + ["[DONE]"]
        self.answers.append((200, "".join(f"data: {e}\n\n" for e in events)))

    def fails(self, status, message, code="x"):
        self.answers.append((status, json.dumps({"error": {"message": message, "code": code}})))

    def open(self, text=None):
        self.page.goto(self.page.url_of_server)
        self.page.wait_for_function("state.server.rules.length > 0")
        if text is not None:
            ask(self.page, text)
            idle(self.page)


def says(text):
    return {"content": text}


def token(text, origin, *drafters, cycle=0):
    return {"text": text, "origin": origin, "cycle": cycle, "drafters": list(drafters), "rejected": []}


# ---------------------------------------------------------------------------------------------------------------- cases

def use(page):
    """All that a person does, in one browser, with the real server."""
    page.goto(page.url_of_server)
    ask(page, "What is the capital of France?")
    idle(page)
    assert answer(page).strip(), "no text came"
    assert page.inner_text("#rate") != "–", "no speed is shown"
    page.wait_for_function("document.querySelectorAll('#cost polyline').length === 1")

    page.click("#view")
    tokens = page.locator(".tokens span")
    assert tokens.count() > 3, "no tokens are shown"
    tokens.first.focus()
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#tip"), "the keyboard doesn't reach a token's facts"
    page.keyboard.press("Escape")
    assert not page.is_visible("#tip")
    page.click("#view")

    first = answer(page)
    page.click("text=Regenerate")
    idle(page)
    page.click("text=Edit")
    page.fill("textarea[aria-label='Edit the message']", "What is the capital of Spain?")
    page.press("textarea[aria-label='Edit the message']", "Enter")
    page.wait_for_function("document.querySelector('.user .body').textContent.includes('Spain')")
    idle(page)
    assert page.locator(".user").count() == 1
    assert answer(page) != first or "Spain" in first

    ask(page, LONG)
    page.wait_for_function("document.querySelector('.answer:last-child .body').textContent.length > 20")
    page.click("#new")  # goes on while another conversation answers
    ask(page, "Say hello.")
    idle(page)
    page.click("#list li:nth-child(2) .open")
    if page.inner_text("#send") == "Stop":
        page.click("#send")
    idle(page)
    assert page.locator(".user").count() == 2

    before = page.inner_text("#log")
    page.reload()
    page.wait_for_selector("#list li")
    page.click("#list li:nth-child(3) .open")
    assert page.inner_text("#log") == before, "the conversation is not the same after a reload"

    page.click("#settings")
    page.fill("[name=temperature]", "0")
    page.check("#spec-checks input[value=none]")
    page.click("#options [value=save]")
    page.click("#new")
    ask(page, "Name a colour.")
    idle(page)
    page.wait_for_function("document.querySelector('#drafters').textContent === 'none'")


def stops(page):
    """Enter leaves a running answer alone; Escape and the button stop it, and it can go on."""
    def never_end(route):
        asked = dict(route.request.post_data_json, ignore_eos=True, max_tokens=3000)
        route.continue_(post_data=json.dumps(asked))

    page.route("**/v1/chat/completions", never_end)  # a sampled answer may end at once
    page.goto(page.url_of_server)
    for stop in lambda: page.press("#text", "Escape"), lambda: page.click("#send"):
        ask(page, LONG)
        page.wait_for_function("document.querySelector('.answer:last-child .body').textContent.length > 5")
        page.fill("#text", "the next question")
        page.press("#text", "Enter")
        page.wait_for_function("document.querySelector('#ask').innerText.includes('still running')")
        assert page.inner_text("#send") == "Stop"
        stop()
        idle(page)
        assert page.input_value("#text") == "the next question", "the text that was being written is lost"
        assert "stopped" in page.inner_text(".answer:last-child .note")
    before = answer(page)
    page.click(".answer:last-child >> text=Go on")
    page.wait_for_function("n => document.querySelector('.answer:last-child .body').textContent.length > n + 5",
                           arg=len(before))
    page.click("#send")
    idle(page)
    assert answer(page).startswith(before[:20])


def charts_keep_their_height(page):
    server = Server(page)
    server.says(says("a b"), tokens=[token("a", "plain"), token(" b", "accepted", "ngram")])
    page.set_viewport_size({"width": 1366, "height": 768})
    server.open("hello")
    for svg in page.locator("#right svg").all():
        box, view = svg.bounding_box(), svg.get_attribute("viewBox").split()
        expected = box["width"] * int(view[3]) / int(view[2])
        assert abs(box["height"] - expected) < 1 and box["width"] > 250, f"{svg.get_attribute('id')}: {box}"
        assert svg.evaluate("e => getComputedStyle(e).flexShrink") == "0"


def accepted_drafters_are_offered(page):
    """Names and colours come from /props, in its order; a drafter of the settings that isn't there isn't sent."""
    server = Server(page, drafters=["alpha", "beta"])
    page.add_init_script("""localStorage["vouch.settings"] = '{"drafters": ["head"]}'""")
    server.says(says("ab"), tokens=[token("a", "accepted", "alpha"), token("b", "accepted", "beta"),
                                    token("c", "accepted", "alpha", "beta"), token("d", "accepted", "gone")])
    server.open("hello")
    assert "drafters" not in server.requests[0][1]["speculative"]
    page.click("#view")
    style = "[...document.querySelectorAll('%s')].map((e) => getComputedStyle(e).backgroundColor)"
    tokens, legend = page.evaluate(style % ".tokens span"), page.evaluate(style % "#legend i")
    assert len(set(tokens)) == 3 and tokens[2] == tokens[3] and legend[:3] == tokens[:3], (tokens, legend)
    page.click("#settings")
    boxes = page.locator("#spec-checks input")
    assert [b.get_attribute("value") for b in boxes.all()] == ["server", "none", "alpha", "beta"]
    page.check("#spec-checks input[value=beta]")
    page.click("#options [value=save]")
    server.says(says("x"))
    ask(page, "again")
    idle(page)
    assert server.requests[1][1]["speculative"]["drafters"] == ["beta"]


def the_server_samples_as_it_says(page):
    """The settings show the server's values and send none of them."""
    server = Server(page)
    server.says(says("x"))
    server.open("hello")
    params = server.props["default_generation_settings"]["params"]
    page.click("#settings")
    for name in "temperature", "top_p", "top_k", "min_p":
        assert name not in server.requests[0][1]
        assert page.input_value(f"[name={name}]") == ""
        assert abs(float(page.get_attribute(f"[name={name}]", "placeholder")) - params[name]) < 1e-4
    page.fill("[name=temperature]", "0.25")
    page.click("#options [value=save]")
    page.click("#settings")
    page.fill("[name=temperature]", "0.75")
    page.keyboard.press("Escape")  # after a Save, too, this changes nothing
    server.says(says("x"))
    ask(page, "again")
    idle(page)
    assert server.requests[1][1]["temperature"] == 0.25
    page.click("#settings")
    page.click("text=Server's values")
    page.click("#options [value=save]")
    server.says(says("x"))
    ask(page, "again")
    idle(page)
    assert "temperature" not in server.requests[2][1]


def a_model_is_chosen_on_a_telephone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    server = Server(page, models=["one", "a-model-with-a-rather-long-name-Q4_K_M"])
    server.open()
    assert page.is_visible("#model") and page.locator("#model").bounding_box()["width"] > 80 and fits(page)
    page.select_option("#model", label="a-model-with-a-rather-long-name-Q4_K_M")
    server.says(says("x"))
    ask(page, "hello")
    idle(page)
    assert server.requests[0][1]["model"] == "a-model-with-a-rather-long-name-Q4_K_M" and fits(page)
    page.reload()
    page.click("#menu")
    page.click("#list li:nth-child(2) .open")
    page.wait_for_function("document.querySelector('#model').value.startsWith('a-model')")


def a_base_model_goes_on_with_a_text(page):
    server = Server(page, models=["chatty", "base"], templates={"base": "none"})
    server.open()
    page.select_option("#model", "base")
    page.wait_for_function("document.querySelector('#log').textContent.includes('base model')")
    page.click("#settings")
    assert not page.is_visible("[name=system]"), "a system prompt is offered, which no plain text has"
    page.keyboard.press("Escape")
    server.says(" b *c*", "d", finish="length")
    ask(page, "A")
    idle(page)
    assert answer(page) == " b *c*d", "the text isn't shown as it is"
    server.says("f", finish="length")
    ask(page, " E")
    idle(page)
    server.says("g")
    page.press("#text", "Enter")  # nothing: the model goes on
    page.wait_for_function("document.querySelector('.answer:last-child .body').textContent === 'fg'")
    idle(page)
    assert all(path == "/completions" and "messages" not in body for path, body in server.requests)
    assert [body["prompt"] for _, body in server.requests] == ["A", "A b *c*d E", "A b *c*d Ef"]
    assert server.requests[0][1]["max_tokens"] == 200, "without a limit a base model writes to the end of its context"
    page.select_option("#model", "chatty")
    page.wait_for_function("document.querySelector('#text').placeholder === 'Ask something'")
    server.says(says("x"))
    ask(page, "hello")
    idle(page)
    assert server.requests[-1][0] == "/chat/completions"
    assert server.requests[-1][1]["messages"] == [{"role": "user", "content": "hello"}]


def a_base_model_is_answered_at_once(page):
    """The first message waits for what the server says of its model."""
    server = Server(page, models=["base"], templates={"base": "none"})
    server.says("b")
    page.goto(page.url_of_server)
    ask(page, "A")
    idle(page)
    assert server.requests[0][0] == "/completions"


def words_are_for_people_who_chat(page):
    server = Server(page)
    server.says(says("x"), tokens=[token("x", "accepted", "recycle")])
    server.open("hello")
    text = page.inner_text("#right") + page.inner_text("header")
    for word in "t(n)", "pace", "cycle ", "rows", "target", "drafter":
        assert word not in text, f"the page says '{word}'"
    assert "recycle\nrepeats what the model found likely" in page.inner_text("#drafters")


def tokens_are_readable(page):
    """Colours alone mark tokens, and text on each has a contrast of 4.5 or more, in both themes."""
    server = Server(page)
    server.says(says("abc"), tokens=[token("a", "residual"), token("b", "bonus"), token("c", "accepted", "ngram")])
    server.open("hello")
    page.click("#view")
    for theme in "light", "dark":
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        assert page.evaluate("""[...document.querySelectorAll('.tokens span, .legend *')].every((e) =>
            getComputedStyle(e).textDecorationLine === 'none' && getComputedStyle(e).borderBottomWidth === '0px')""")
        low = page.evaluate("""() => {
            const style = getComputedStyle(document.documentElement);
            const light = (name) => {
              const n = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
              const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
              return 0.2126 * part(n >> 16) + 0.7152 * part(n >> 8 & 255) + 0.0722 * part(n & 255);
            };
            const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
            const pairs = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => ["--text", "--d" + i]);
            pairs.push(["--text", "--several"], ["--text", "--wrong"], ["--soft", "--bg"], ["--soft", "--side"],
              ["--soft", "--card"], ["--soft", "--code"], ["--bad", "--bg"], ["--on-accent", "--accent"]);
            return pairs.filter(([a, b]) => contrast(a, b) < 4.5).map((p) => p + ": " + contrast(...p));
          }""")
        assert not low, f"{theme}: {low}"


def thoughts_fold(page):
    server = Server(page)
    server.says({"reasoning_content": "Let me "}, {"reasoning_content": "see."}, says("42"))
    server.open("hello")
    thoughts = page.locator(".answer:last-child .thoughts")
    assert thoughts.inner_text() == "Thoughts" and answer(page) == "42"
    thoughts.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "Let me see." in thoughts.inner_text()
    server.says({"reasoning_content": "Hm"}, finish="length")
    ask(page, "again")
    idle(page)
    assert page.locator(".answer:last-child .thoughts").inner_text() == "Thoughts\nHm", "thoughts alone stay open"
    assert server.requests[1][1]["messages"][1] == {"role": "assistant", "content": "42"}


def thoughts_can_be_turned_off(page):
    """Of a model that thinks; others aren't told."""
    server = Server(page, models=["thinker", "other"])
    server.open()
    page.click("#settings")
    page.select_option("[name=thoughts]", "off")
    page.click("#options [value=save]")
    for model, sent in ("thinker", {"enable_thinking": False}), ("other", None):
        page.select_option("#model", model)
        server.says(says("x"))
        ask(page, "hello")
        idle(page)
        assert server.requests[-1][1].get("chat_template_kwargs") == sent
    page.click("#settings")
    assert not page.is_visible("[name=thoughts]")


def calls_are_shown_and_answered(page):
    tool = [{"type": "function", "function": {"name": "weather", "parameters": {}}}]
    server = Server(page)
    server.open()
    page.click("#settings")
    page.click("#options summary")
    page.fill("[name=tools]", "[{")
    page.click("#options [value=save]")
    assert page.is_visible("#options-error"), "bad JSON is taken"
    page.fill("[name=tools]", json.dumps(tool))
    page.click("#options [value=save]")

    def piece(index, arguments, **start):
        return {"tool_calls": [{"index": index, **start, "function": {**({"name": "weather"} if start else {}),
                                                                     "arguments": arguments}}]}

    server.says(piece(0, '{"city": ', id="c0"), piece(0, '"Paris"}'), piece(1, '{"city": "Rome"}', id="c1"),
                finish="tool_calls")
    ask(page, "Weather?")
    idle(page)
    assert page.locator(".answer:last-child .code").count() == 2 and '"city": "Paris"' in answer(page)
    assert page.get_attribute("#text", "placeholder") == "Result of weather"
    page.fill("#text", "rain")
    page.press("#text", "Enter")
    page.wait_for_selector(".tool")
    assert len(server.requests) == 1, "the model is asked before all results are there"
    server.says(says("Bring an umbrella."))
    ask(page, "sun")
    page.wait_for_selector(".answer:last-child p")
    idle(page)
    first, second = (body for _, body in server.requests)
    assert first["tools"] == tool
    assert second["messages"][1]["content"] is None
    assert [c["function"]["arguments"] for c in second["messages"][1]["tool_calls"]] == ['{"city": "Paris"}',
                                                                                        '{"city": "Rome"}']
    assert second["messages"][2:] == [{"role": "tool", "tool_call_id": "c0", "content": "rain"},
                                      {"role": "tool", "tool_call_id": "c1", "content": "sun"}]


def errors_say_what_to_do(page):
    server = Server(page)
    server.open()
    for status, message, code, expected in (
            (401, "x", "invalid_api_key", "open Settings"), (429, "full", "x", "busy: full"),
            (400, "too long", "context_length_exceeded", "begin a new one"), (500, "it broke", "x", "it broke")):
        server.fails(status, message, code)
        page.click("#new")
        ask(page, "hello")
        idle(page)
        assert expected in page.inner_text(".answer .error"), page.inner_text(".answer")
    server.answers.append((200, 'data: {"choices": [{"delta": {"content": "half"}}]}\n\n'
                                'data: {"error": {"message": "it died"}}\n\n'))
    page.click("text=Try again")
    page.wait_for_function("document.querySelector('.answer .error').textContent === 'it died'")
    assert answer(page) == "half"
    server.says(says("whole"))
    page.click("text=Try again")
    page.wait_for_function("document.querySelector('.answer .body').textContent === 'whole'")
    assert not page.is_visible(".answer .error")
    server.says(says(""))
    ask(page, "more")
    idle(page)
    assert "without a word" in answer(page)
    server.says(says("x"))
    ask(page, "last")
    idle(page)
    assert [m["content"] for m in server.requests[-1][1]["messages"]] == ["hello", "whole", "last"]


def a_missing_key_is_seen_at_once(page):
    page.route("**/v1/models", lambda route: route.fulfill(status=401, json={"error": {"message": "x"}}))
    page.goto(page.url_of_server)
    page.wait_for_selector("#log .error")
    assert "open Settings" in page.inner_text("#log .error")
    page.unroute("**/v1/models")
    page.click("text=Try again")
    page.wait_for_selector("#log .error", state="detached")


def long_code_scrolls_in_its_box(page):
    page.set_viewport_size({"width": 390, "height": 844})
    code = "\n".join(f"line_{i} = " + "x" * 300 for i in range(80))
    server = Server(page)
    server.says(says(f"Look:\n\n```python\n{code}\n```\n\nline one\nline two\n\n" + "y" * 400))
    server.open("hello")
    assert fits(page), "code makes the page wider"
    pre = page.locator(".answer pre")
    assert pre.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.locator(".answer .body p").nth(1).bounding_box()["height"] > 40, "two lines have become one"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click(".code button")
    page.wait_for_function("document.querySelector('#said').textContent === 'Copied.'")
    assert page.evaluate("navigator.clipboard.readText()") == code
    assert "Copied." in page.inner_text("#ask")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")  # as on a page without TLS
    page.click("[aria-label='Copy the message']")
    page.fill("#text", "")
    page.focus("#text")
    page.keyboard.press("Control+V")
    assert page.input_value("#text") == "hello"


def selection_and_focus_last(page):
    """The selected text of an answer, and the focus, stay while the rest of the answer comes."""
    server = Server(page)
    server.says(says("first words\n\nthen"))
    server.open("hello")
    page.evaluate("""() => {
        const talk = current(), m = lastAnswer(talk), e = document.querySelector('.answer');
        getSelection().selectAllChildren(e.querySelector('.body p'));
        m.content += " more\\n\\nand more";
        drawAnswer(talk, m, e);
        drawEnd(talk, m);
      }""")
    assert page.evaluate("getSelection().toString()") == "first words"
    server.says(says("again"))
    page.click("text=Regenerate")
    idle(page)
    assert page.evaluate("document.activeElement.id") == "text"
    server.says(says("x"))
    ask(page, "two")
    idle(page)
    assert page.locator(".again:visible").count() == 1, "an earlier answer can be regenerated, which drops others"


def everything_has_a_name(page):
    server = Server(page, models=["one", "two"])
    server.says({"reasoning_content": "t"}, says("a\n\n```c\nx\n```"))
    server.open("hello")
    page.click("#settings")
    page.click("#options summary")
    nameless = page.evaluate("""() =>
        [...document.querySelectorAll('button, input, select, textarea, a, svg, nav, aside')]
        .filter((e) => !(e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim() || e.textContent.trim()))
        .map((e) => e.outerHTML)""")
    assert not nameless, nameless
    page.keyboard.press("Escape")
    page.focus("#skip")
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    for name in "new", "model", "view", "speed", "settings", "Edit", "Copy", "Regenerate", "text", "send":
        assert name in seen, f"Tab doesn't reach {name}: {seen}"


def panels_close(page):
    page.set_viewport_size({"width": 390, "height": 844})
    server = Server(page)
    server.open()
    page.click("#speed")
    assert page.is_visible("#right") and page.get_attribute("#speed", "aria-expanded") == "true"
    page.click("#right .close")
    assert not page.is_visible("#right") and page.get_attribute("#speed", "aria-expanded") == "false"
    page.click("#menu")
    page.click("#left .close")
    assert not page.is_visible("#left")


CASES = (use, stops, charts_keep_their_height, accepted_drafters_are_offered, the_server_samples_as_it_says,
         a_model_is_chosen_on_a_telephone, a_base_model_goes_on_with_a_text, a_base_model_is_answered_at_once,
         words_are_for_people_who_chat, tokens_are_readable, thoughts_fold, thoughts_can_be_turned_off,
         calls_are_shown_and_answered, errors_say_what_to_do, a_missing_key_is_seen_at_once,
         long_code_scrolls_in_its_box, selection_and_focus_last, everything_has_a_name, panels_close)


def main():
    url, server = sys.argv[1], int(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    wanted = os.environ.get("CASE", "")
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    failed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])

        def begin(size=(1600, 900), scheme="light"):
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
            context.add_init_script("""localStorage["vouch.settings"] ??= '{"max_tokens": "200"}'""")
            page = context.new_page()
            page.set_default_timeout(30_000)  # a busy machine loads and answers slowly
            page.messages = []
            page.on("console", lambda m: page.messages.append(m.text) if "status of 4" not in m.text
                    and "status of 5" not in m.text else None)  # the browser's own lines about refused requests
            page.on("pageerror", lambda error: page.messages.append(str(error)))
            page.url_of_server = url
            return page

        for case in CASES:
            if wanted not in case.__name__:
                continue
            page = begin()
            try:
                case(page)
                assert not page.messages, f"the console says: {page.messages}"
            except Exception as error:
                failed.append(case.__name__)
                at = traceback.extract_tb(error.__traceback__)[-1 if isinstance(error, AssertionError) else 1]
                print(f"{case.__name__} failed, line {at.lineno}: {error}")
            page.context.close()
        for size in SIZES:
            for scheme in "light", "dark":
                if wanted:
                    break
                page = begin(size, scheme)
                page.goto(url)
                ask(page, "Explain how a bicycle stays upright.")
                idle(page)
                assert fits(page), f"wider than {size[0]} pixels"
                if folder:
                    page.screenshot(path=os.path.join(folder, f"{scheme}-{size[0]}.png"))
        if not wanted:
            os.kill(server, signal.SIGKILL)
            ask(page, "Are you there?")
            idle(page)
            assert "doesn't answer" in page.inner_text(".answer:last-child"), "a dead server isn't named"
        browser.close()
    sys.exit(f"{len(failed)} failed" if failed else 0)


main()
