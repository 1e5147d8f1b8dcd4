#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives the page of a server in Chromium: drive.py URL PID [FOLDER]

Sends, streams, looks at tokens, stops, edits, regenerates, reloads, runs two conversations at once and, at the end,
stops the server (PID) and asks once more. A message on the browser's console is a failure. With FOLDER, screenshots at
360, 800 and 1,600 pixels, light and dark, are left there. Needs the package playwright and Chromium.
"""
import os
import shutil
import signal
import sys

from playwright.sync_api import sync_playwright

LONG = "Write a long story about a lighthouse."


def ask(page, text):
    page.fill("#text", text)
    page.press("#text", "Enter")
    page.wait_for_selector(".answer")


def idle(page):
    page.wait_for_function("document.querySelector('#send').textContent === 'Send'", timeout=120_000)


def answer(page):
    return page.inner_text(".answer:last-child .body")


def use(page):
    """All that a person does, in one browser."""
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
    idle(page)
    assert page.locator(".user").count() == 1 and "Spain" in page.inner_text(".user .body")
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
    assert page.inner_text("#log") == before, "the conversation is not the same behind a reload"

    page.click("#settings")
    page.fill("[name=temperature]", "0")
    page.check("#spec-checks input[value=none]")
    page.click("text=Save")
    page.click("#new")
    ask(page, "Name a colour.")
    idle(page)
    page.wait_for_function("document.querySelector('#drafters').textContent === ''")


def main():
    url, server = sys.argv[1], int(sys.argv[2])
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        messages = []
        for scheme in "light", "dark":
            for width in 360, 800, 1600:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                context.add_init_script("""localStorage["vouch.settings"] ??= '{"max_tokens": "200"}'""")
                page = context.new_page()
                page.set_default_timeout(300_000)  # a busy machine loads and answers slowly
                page.on("console", lambda message: messages.append(message.text))
                page.on("pageerror", lambda error: messages.append(str(error)))
                page.goto(url)
                if scheme == "light" and width == 1600:
                    use(page)
                ask(page, "Explain how a bicycle stays upright.")
                idle(page)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width} pixels"
                if folder:
                    page.screenshot(path=os.path.join(folder, f"{scheme}-{width}.png"))
        assert not messages, f"the console says: {messages}"
        os.kill(server, signal.SIGKILL)
        ask(page, "Are you there?")
        idle(page)
        assert "doesn't answer" in page.inner_text(".answer:last-child"), "a dead server isn't named"
        browser.close()


main()
