#!/usr/bin/env bash
# `vouch serve` over TLS, with a certificate made here: answers, streams, plain HTTP on the port of TLS, clients that
# go, and certificates that are none.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/support/test.sh"

vouch=build/$BUILD/vouch

# Makes a certificate and a model, and starts a server; sets $server to its process and $port to its port.
serve() {
    command -v openssl >/dev/null || test_skip "no openssl"
    command -v curl >/dev/null || test_skip "no curl"
    "$vouch" help serve >/dev/null 2>&1 || test_skip "built without the server"
    model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf
    [ -f "$model" ] || test_skip "no model"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$TMP/key.pem" -out "$TMP/cert.pem" 2>/dev/null
    "$vouch" serve "$model" --port 0 --ctx 256 --parallel 2 --tls-cert "$TMP/cert.pem" --tls-key "$TMP/key.pem" \
        --timeout 5 >"$TMP/out" 2>"$TMP/err" &
    server=$!
    for _ in $(seq 600); do
        port=$(sed -n 's/^listening on https:.*://p' "$TMP/out")
        [ -z "$port" ] || return 0
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat "$TMP/err"
    return 1
}

ask() { # PATH [more of curl]
    local path=$1
    shift
    curl -sS --max-time 60 --cacert "$TMP/cert.pem" "https://localhost:$port$path" "$@"
}

answers_come_over_tls() {
    serve
    ask /health | grep -q '"ok"'
    ask /v1/completions -d '{"prompt": "one two", "max_tokens": 4}' | grep -q '"finish_reason"'
    ask /v1/completions -N -d '{"prompt": "one two", "max_tokens": 4, "stream": true}' >"$TMP/stream"
    grep -q '^data: \[DONE\]' "$TMP/stream"
    test_refused 'certificate' curl -sS "https://localhost:$port/health"     # signed by nobody
    test_refused '' curl -sS --max-time 20 "http://localhost:$port/health" # plain HTTP gets no answer
    for i in 1 2 3 4 5 6; do # clients that go during the handshake and during a stream
        timeout 0.0$i openssl s_client -connect "localhost:$port" </dev/null >/dev/null 2>&1 || true
        ask /v1/completions -N --max-time 0.$i -o /dev/null \
            -d '{"prompt": "x", "max_tokens": 200, "stream": true, "ignore_eos": true}' 2>/dev/null || true
    done
    ask /health | grep -q '"ok"'
    kill $server
    wait $server
}

wrong_certificates_are_refused() {
    serve
    kill $server
    wait $server
    echo junk >"$TMP/junk"
    test_refused 'tls-cert and --tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/junk" \
        --tls-key "$TMP/key.pem"
    test_refused 'tls-cert and --tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/cert.pem" \
        --tls-key "$TMP/junk"
    test_refused 'tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/cert.pem" --tls-key "$TMP/none"
}

test_group answers_come_over_tls wrong_certificates_are_refused
