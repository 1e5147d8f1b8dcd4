#!/usr/bin/env bash
# The page of `vouch serve`: served whole, and driven in a real browser where there is one.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/support/test.sh"

model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf

# Starts a server; sets $server to its process and $url to its address.
serve() {
    [ -f "$model" ] || test_skip "no model"
    : >"$TMP/out"
    : >"$TMP/err"
    "build/$BUILD/vouch" serve "$model" --port 0 "$@" >"$TMP/out" 2>"$TMP/err" &
    server=$!
    for _ in $(seq 300); do
        url=$(sed -n 's/^listening on //p' "$TMP/out" "$TMP/err")
        [ -z "$url" ] || return 0
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat "$TMP/err"
    return 1
}

the_page_asks_for_nothing_from_elsewhere() {
    ! grep -nE '(src|href)="(https?:)?//|@import|url\(' server/page.html
}

it_is_served_whole() {
    command -v curl >/dev/null || test_skip "no curl"
    "build/$BUILD/vouch" help serve >/dev/null 2>&1 || test_skip "built without the server"
    serve
    curl -sf "$url/" | cmp - server/page.html
    curl -sf "$url/speculation" | grep -q '"pass_seconds"'
    kill $server
    wait $server
}

a_browser_uses_it() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "a browser: make test"
    ${PYTHON:-python3} -c 'import playwright' 2>/dev/null || test_skip "no playwright for Python"
    command -v chromium >/dev/null || test_skip "no chromium"
    serve
    ${PYTHON:-python3} tests/page/drive.py "$url" $server
    wait $server 2>/dev/null || true
}

test_group the_page_asks_for_nothing_from_elsewhere it_is_served_whole a_browser_uses_it
