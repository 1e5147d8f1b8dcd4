#!/usr/bin/env bash
# Client packages against `vouch serve`, where they and a model are at hand.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

clients_understand_the_server() {
    ${PYTHON:-python3} -c 'import openai, anthropic' 2>/dev/null || test_skip "no openai and anthropic for Python"
    test_serve --ctx 512 --parallel 4 --pooling mean
    ${PYTHON:-python3} tests/clients/drive.py "$url"
    ${PYTHON:-python3} tests/clients/shapes.py "$url"
    test_serve_end
}

clients_of_ollama_understand_the_server() {
    ${PYTHON:-python3} -c 'import ollama' 2>/dev/null || test_skip "no ollama for Python"
    test_serve --ctx 512 --parallel 4 --pooling mean
    ${PYTHON:-python3} tests/clients/ollama_drive.py "$url"
    test_serve_end
}

each_package_does_what_it_can() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "15 packages: make test"
    ${PYTHON:-python3} -c 'import litellm, instructor' 2>/dev/null || test_skip "no litellm and instructor for Python"
    test_serve
    ${PYTHON:-python3} tests/clients/table.py "$url"
    test_serve_end
}

# What two benchmarks' clients send; the clients themselves aren't needed.
benchmarks_read_the_server() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "answers 30 questions: make test"
    test_serve --ctx 2048 --spec ngram -k 4 --metrics-prefix vllm
    ${PYTHON:-python3} tests/clients/benchmarks.py "$url" "build/$BUILD/vouch" "$model"
    test_serve_end
}

test_group clients_understand_the_server clients_of_ollama_understand_the_server each_package_does_what_it_can \
    benchmarks_read_the_server
