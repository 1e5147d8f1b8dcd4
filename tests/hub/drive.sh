# shellcheck shell=bash
# For tests of models by name: cases of drive.py, and the models that they need.

drive() { # case
    python3 -c 'import http.server' 2>/dev/null || test_skip "no python3"
    mkdir "$TMP/empty"
    python3 tests/hub/drive.py "build/$BUILD/vouch" "$1" "$TMP/empty" "$TMP/model.gguf"
}

# A tiny model, 200 kB, in a folder of its own.
model() {
    mkdir "$TMP/apart"
    "build/$BUILD/tests/test_mtp" --apart "$TMP/apart"
    mv "$TMP/apart/target.gguf" "$TMP/model.gguf"
}

# For cases that wait for time-outs or write big models.
slow() { [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "slow; make test runs it"; }
