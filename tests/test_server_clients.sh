#!/usr/bin/env bash
# The Python clients of OpenAI and Anthropic against `vouch serve`, where they and a model are at hand.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/support/test.sh"

clients_understand_the_server() {
    local model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf server url=
    ${PYTHON:-python3} -c 'import openai, anthropic' 2>/dev/null || test_skip "no openai and anthropic for Python"
    [ -f "$model" ] || test_skip "no model"
    "build/$BUILD/vouch" serve "$model" --port 0 --ctx 512 --parallel 4 >"$TMP/out" 2>"$TMP/err" &
    server=$!
    for _ in $(seq 600); do
        url=$(sed -n 's/^listening on //p' "$TMP/out")
        [ -z "$url" ] || break
        kill -0 $server
        sleep 0.1
    done
    ${PYTHON:-python3} tests/clients/drive.py "$url"
    kill $server
    wait $server
}

test_group clients_understand_the_server
