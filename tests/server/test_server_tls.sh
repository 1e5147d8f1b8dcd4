#!/usr/bin/env bash
# `vouch serve` over TLS, with a certificate made here: answers, streams, plain HTTP on the port of TLS, clients that
# go, and certificates that are none.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Makes a certificate and starts a server with it.
serve() {
    command -v openssl >/dev/null || test_skip "no openssl"
    command -v curl >/dev/null || test_skip "no curl"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$TMP/key.pem" -out "$TMP/cert.pem" 2>/dev/null
    test_serve --ctx 256 --parallel 2 --tls-cert "$TMP/cert.pem" --tls-key "$TMP/key.pem" --timeout 5
}

ask() { # PATH [more of curl]
    local path=$1
    shift
    curl -sS --max-time 60 --cacert "$TMP/cert.pem" "$url$path" "$@"
}

answers_come_over_tls() {
    serve
    ask /health | grep -q '"ok"'
    ask /v1/completions -d '{"prompt": "one two", "max_tokens": 4}' | grep -q '"finish_reason"'
    ask /v1/completions -N -d '{"prompt": "one two", "max_tokens": 4, "stream": true}' >"$TMP/stream"
    grep -q '^data: \[DONE\]' "$TMP/stream"
    test_refused 'certificate' curl -sS "$url/health"                      # signed by nobody
    test_refused '' curl -sS --max-time 20 "http://${url#https://}/health" # plain HTTP gets no answer
    for i in 1 2 3 4 5 6; do # clients that go during the handshake and during a stream
        timeout 0.0$i openssl s_client -connect "${url#https://}" </dev/null >/dev/null 2>&1 || true
        ask /v1/completions -N --max-time 0.$i -o /dev/null \
            -d '{"prompt": "x", "max_tokens": 200, "stream": true, "ignore_eos": true}' 2>/dev/null || true
    done
    ask /health | grep -q '"ok"'
    test_serve_end
}

wrong_certificates_are_refused() {
    local vouch=build/$BUILD/vouch
    serve
    test_serve_end
    echo junk >"$TMP/junk"
    test_refused 'tls-cert and --tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/junk" \
        --tls-key "$TMP/key.pem"
    test_refused 'tls-cert and --tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/cert.pem" \
        --tls-key "$TMP/junk"
    test_refused 'tls-key' "$vouch" serve "$model" --port 0 --tls-cert "$TMP/cert.pem" --tls-key "$TMP/none"
}

test_group answers_come_over_tls wrong_certificates_are_refused
