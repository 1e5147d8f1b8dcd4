#!/usr/bin/env bash
# The page of `vouch serve`: served whole, and driven in a real browser where there is one.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

the_page_asks_for_nothing_from_elsewhere() {
    ! grep -nE '(src|href)="(https?:)?//|@import|url\(' server/page.html
}

it_is_served_whole() {
    command -v curl >/dev/null || test_skip "no curl"
    test_serve
    curl -sf "$url/" | cmp - server/page.html
    curl -sf "$url/props" | grep -q '"pass_seconds"'
    test_serve_end
}

a_browser_uses_it() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "a browser: make test"
    ${PYTHON:-python3} -c 'import playwright' 2>/dev/null || test_skip "no playwright for Python"
    command -v chromium >/dev/null || test_skip "no chromium"
    test_serve
    ${PYTHON:-python3} tests/page/drive.py "$url" $server
    wait $server 2>/dev/null || true
}

test_group the_page_asks_for_nothing_from_elsewhere it_is_served_whole a_browser_uses_it
