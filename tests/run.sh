#!/usr/bin/env bash
# Runs the test programs and sums up:  tests/run.sh check|test [name-of-test ...]
#
# A program that starts with "check" tests belongs to both tiers; VOUCH_TEST_TIER tells it which one runs,
# and the slow tests skip themselves in the first. BUILD names the folder under build/.
set -u
cd "$(dirname "$0")/.." || exit 1
tier=${1:-check}
shift || true
bin=build/${BUILD:-release}/tests
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0
if [ $# -eq 0 ]; then set -- tests/test_*.c; fi
for source in "$@"; do
    name=$(basename "$source" .c)
    start=$SECONDS
    VOUCH_TEST_TIER=$tier BUILD=${BUILD:-release} CMOCKA_MESSAGE_OUTPUT=stdout "$bin/$name" >"$log" 2>&1
    code=$?
    ok=$(grep -c '^\[       OK \]' "$log")
    bad=$(grep -c '^\[  FAILED  \] .*' "$log")
    skip=$(grep -c '^\[  SKIPPED \] [^0-9]' "$log")
    # cmocka lists each skipped and failed test twice: once as it runs and once at the end.
    run_skip=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test(s), listed below:$/\1/p' "$log" | tail -1)
    run_bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test(s), listed below:$/\1/p' "$log" | tail -1)
    skip=${run_skip:-0}
    if [ $code -ne 0 ]; then bad=${run_bad:-1}; [ "$bad" = 0 ] && bad=1; else bad=0; fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf '%-28s %4d passed %3d failed %3d skipped %4ds\n' "$name" "$ok" "$bad" "$skip" $((SECONDS - start))
    grep -h '^skipped: ' "$log" | sort | uniq -c | sed 's/^ *\([0-9]*\) skipped: /    skipped (\1x): /'
    if [ $code -ne 0 ]; then sed 's/^/    /' "$log" | grep -v '\[       OK \]\|\[ RUN' | tail -60; fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
