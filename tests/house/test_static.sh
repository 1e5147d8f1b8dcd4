#!/usr/bin/env bash
# The static commands in an empty root: they run, and serve the text of this machine's build.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Starts a server of the model, and prints its answer to a chat request.
chat() { # model command...
    local model=$1
    shift
    : >"$TMP/out"
    "$@" serve "$model" --port 0 --ctx 256 --chat-template chatml >"$TMP/out" 2>"$TMP/err" &
    local server=$! url='' answer
    # shellcheck disable=SC2064
    trap "kill $server 2>/dev/null || true" EXIT
    for _ in $(seq 600); do
        url=$(sed -n 's/^listening on //p' "$TMP/out")
        if [ -n "$url" ] || ! kill -0 $server 2>/dev/null; then break; fi
        sleep 0.1
    done
    [ -n "$url" ] || { cat "$TMP/err" >&2 && return 1; }
    answer=$(curl -sf "$url/v1/chat/completions" -H 'Content-Type: application/json' -d '{"max_tokens": 12,
        "temperature": 0, "messages": [{"role": "user", "content": "What is the capital of France?"}]}') || return 1
    kill $server
    wait $server || { echo "the server ended with status $?" >&2 && return 1; }
    python3 -c 'import json, sys; print(json.load(sys.stdin)["choices"][0]["message"]["content"])' <<<"$answer"
}

runs_alone() { # target, file of the emulator
    [ "${VOUCH_TEST_TIER:-test}" != check ] || test_skip "slow; make test runs it"
    [ -x "build/$1/vouch" ] || test_skip "build/$1/vouch isn't built: make static"
    [ -x "build/$BUILD/bench/synthetic" ] || test_skip "build/$BUILD/bench/synthetic isn't built: make tests"
    [ "$(id -u)" = 0 ] || test_skip "chroot needs root"
    for program in curl python3; do command -v $program >/dev/null || test_skip "no $program"; done
    local root=$TMP/root words=(--prompt 'The quick brown fox' -n 16 --temp 0 --raw) text
    mkdir "$root"
    cp "build/$1/vouch" "$root/vouch"
    "build/$BUILD/bench/synthetic" --shape smollm2-135m --layers 1 --type Q4_0 --out "$root/model.gguf" >/dev/null
    local alone=(chroot "$root" /vouch)
    if [ -n "${2:-}" ]; then
        cp "$2" "$root/emulator"
        chroot "$root" /emulator --version >/dev/null 2>&1 || test_skip "$2 needs libraries"
        alone=(chroot "$root" /emulator /vouch)
    fi
    [ "$("${alone[@]}" --version)" = "$("build/$BUILD/vouch" --version)" ]
    text=$("build/$BUILD/vouch" run "$root/model.gguf" "${words[@]}")
    [ -n "$text" ]
    [ "$("${alone[@]}" run /model.gguf "${words[@]}")" = "$text" ]
    text=$(chat "$root/model.gguf" "build/$BUILD/vouch")
    [ -n "$text" ]
    [ "$(chat /model.gguf "${alone[@]}")" = "$text" ]
}

for_intel() {
    [ "$(uname -m)" = x86_64 ] || test_skip "this machine isn't x86-64"
    runs_alone static-x86_64
}

for_arm() {
    local emulator=''
    if [ "$(uname -m)" != aarch64 ]; then
        emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || test_skip "no qemu-aarch64"
    fi
    runs_alone static-aarch64 "$emulator"
}

test_group for_intel for_arm
