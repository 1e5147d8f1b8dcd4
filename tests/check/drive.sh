# shellcheck shell=bash
# For tests of `vouch check --server`: cases of drive.py, and the tiny model that they serve.

drive() { # case word...
    local case=$1
    shift
    python3 -c 'import http.server' 2>/dev/null || test_skip "no python3"
    "build/$BUILD/vouch" info --machine | grep -q '^server *yes' || test_skip "built without the server"
    "build/$BUILD/vouch" info --machine | grep -q '^fetching models *yes' || test_skip "built without libcurl"
    mkdir -p "$TMP/model" "$TMP/reports"
    "build/$BUILD/tests/test_mtp" --apart "$TMP/model"
    python3 tests/check/drive.py "build/$BUILD/vouch" "$TMP/reports" "$TMP/model/target.gguf" "$case" "$@"
}

# For cases that take minutes.
slow() { [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "slow; make test runs it"; }
