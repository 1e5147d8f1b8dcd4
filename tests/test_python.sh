#!/usr/bin/env bash
# The Python package: its tests in python/tests, one result for each file.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/support/test.sh"
PYTHON=${PYTHON:-python3}

pytest_of() {
    case $BUILD in release | gcc | clang) ;; *) test_skip "Python can't load an instrumented library" ;; esac
    command -v "$PYTHON" >/dev/null || test_skip "no python3"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || test_skip "python3 is older than 3.10"
    "$PYTHON" -c 'import pytest' 2>/dev/null || test_skip "no pytest for $PYTHON: pip install pytest numpy"
    make -s python BUILD="$BUILD" CC="$CC" PYTHON="$PYTHON" >"$TMP/log" 2>&1 || { cat "$TMP/log" && return 1; }
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=build/$BUILD/python "$PYTHON" -m pytest -q -rs -p no:cacheprovider \
        "python/tests/test_$1.py"
}

structs_are_the_compilers() { pytest_of abi; }
binding() { pytest_of binding; }

test_group structs_are_the_compilers binding
