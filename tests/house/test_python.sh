#!/usr/bin/env bash
# The Python package: its tests in python/tests, one result for each file.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"
# Another Python may stand before the system's, which has the packages.
if [ -z "${PYTHON:-}" ]; then
    PYTHON=python3
    python3 -c 'import pytest, numpy' 2>/dev/null || ! /usr/bin/python3 -c 'import pytest, numpy' 2>/dev/null ||
        PYTHON=/usr/bin/python3
fi
VOUCH_TEST_TIER=${VOUCH_TEST_TIER:-test}
export RAY_raylet_start_wait_time_s=200 # a busy machine starts Ray slowly

pytest_of() {
    case $BUILD in release | gcc | clang) ;; *) test_skip "Python can't load an instrumented library" ;; esac
    command -v "$PYTHON" >/dev/null || test_skip "no python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || test_skip "python3 is older than 3.10"
    "$PYTHON" -c 'import pytest' 2>/dev/null || test_skip "no pytest for $PYTHON: pip install pytest numpy"
    [ "$1" != ray ] || "$PYTHON" -c 'import ray.serve, ray.data' 2>/dev/null ||
        test_skip "no Ray for $PYTHON: pip install 'ray[data,serve]'"
    make -s python BUILD="$BUILD" CC="$CC" PYTHON="$PYTHON" >"$TMP/log" 2>&1 || { cat "$TMP/log" && return 1; }
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=build/$BUILD/python "$PYTHON" -m pytest -q -rs -p no:cacheprovider \
        "python/tests/test_$1.py"
}

structs_are_the_compilers() { pytest_of abi; }
binding() { pytest_of binding; }
# Two replicas in processes of their own. One is killed under load.
replicas() {
    [ "$VOUCH_TEST_TIER" != check ] || test_skip "slow; make test runs it"
    pytest_of ray
}

# The notebook that follows an answer of the default model.
tour() {
    [ "$VOUCH_TEST_TIER" != check ] || test_skip "slow; make test runs it"
    [ -f "${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf" ] ||
        test_skip "no model: scripts/run.sh model"
    pytest_of tour
}

test_group structs_are_the_compilers binding replicas tour
