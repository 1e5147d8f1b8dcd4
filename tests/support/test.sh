# shellcheck shell=bash
# Support for tests written in the shell. A test is a function. A test program defines its tests and then calls
#
#   test_group NAME...
#
# which runs each one in a subshell with -e, in the repository's root, with an empty folder $TMP, and reports like
# cmocka. A test calls  test_skip WHY  when something optional is missing.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-release}
CC=${CC:-cc}
export BUILD CC

test_skip() {
    echo "skipped: $*"
    exit 77
}

# The command must fail, and its output must match the pattern.
test_refused() { # pattern command...
    local pattern=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "not refused: $*"
        return 1
    fi
    if ! grep -q -- "$pattern" <<<"$output"; then
        printf '%s\nfailed without saying "%s": %s\n' "$output" "$pattern" "$*"
        return 1
    fi
}

# Starts `vouch serve` with the default model and the flags given; sets $model to its file, $server to the process and
# $url to the address. The server ends with the test, if not before.
test_serve() { # flag...
    model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf
    "build/$BUILD/vouch" help serve >/dev/null 2>&1 || test_skip "built without the server"
    [ -f "$model" ] || test_skip "no model"
    : >"$TMP/out" # here, because the server's shell may open it after the first look
    "build/$BUILD/vouch" serve "$model" --port 0 "$@" >"$TMP/out" 2>"$TMP/err" &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    for _ in $(seq 600); do
        url=$(sed -n 's/^listening on //p' "$TMP/out")
        [ -z "$url" ] || return 0
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat "$TMP/err"
    return 1
}

# Ends the server as its users do: with Ctrl-C in Wine, which knows no SIGTERM.
test_serve_end() {
    if [ "${VOUCH_TEST_TIER:-}" = windows ]; then kill -INT "$server"; else kill "$server"; fi
    wait "$server"
}

test_group() {
    local name code failed=() skipped=()
    for name in "$@"; do
        # shellcheck disable=SC2254
        case $name in ${VOUCH_TEST_FILTER:-*}) ;; *) continue ;; esac
        echo "[ RUN      ] $name"
        TMP=$(mktemp -d)
        (set -e && "$name")
        code=$?
        rm -rf "$TMP"
        case $code in
        0) echo "[       OK ] $name" ;;
        77) skipped+=("$name") && echo "[  SKIPPED ] $name" ;;
        *) failed+=("$name") && echo "[  FAILED  ] $name" ;;
        esac
    done
    if [ ${#skipped[@]} -gt 0 ]; then echo "[  SKIPPED ] ${#skipped[@]} test(s), listed below:"; fi
    if [ ${#failed[@]} -gt 0 ]; then echo "[  FAILED  ] ${#failed[@]} test(s), listed below:"; fi
    [ ${#failed[@]} -eq 0 ]
}
