#!/usr/bin/env bash
# Runs the test programs and sums up:  tests/run.sh check|test [name-of-test ...]
#
# Programs are tests/test_*.c, built, and tests/test_*.sh. All belong to both tiers; VOUCH_TEST_TIER tells them
# which one runs, and the slow tests skip themselves in the first. The last line is "N passed, N failed, N
# skipped". The environment may say:
#
#   BUILD               the folder under build/ (release)
#   VOUCH_TEST_FILTER   which tests inside the programs, as a pattern ('*truncated*')
#   VOUCH_TEST_TIMEOUT  seconds after which a program counts as hanging (900)
set -u
cd "$(dirname "$0")/.." || exit 1
tier=${1:-check}
shift || true
export BUILD=${BUILD:-release} VOUCH_TEST_TIER=$tier CMOCKA_MESSAGE_OUTPUT=stdout
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if [ $# -eq 0 ]; then
    for source in tests/test_*.c tests/test_*.sh; do set -- "$@" "$(basename "$source")"; done
fi

# ThreadSanitizer wants the memory layout that it knows.
launch=
case $BUILD in tsan*) if setarch -R true 2>/dev/null; then launch="setarch -R"; fi ;; esac

passed=0 failed=0 skipped=0
for name in "$@"; do
    name=${name%.c}
    program=build/$BUILD/tests/$name
    case $name in *.sh) program=tests/$name ;; esac
    if [ -f "tests/$name.sh" ]; then program=tests/$name.sh; fi
    if [ ! -x "$program" ]; then
        echo "$name: no such test; there are: $(cd tests && echo test_*.c test_*.sh)" >&2
        exit 2
    fi
    start=$SECONDS
    # shellcheck disable=SC2086
    timeout -k 10 "${VOUCH_TEST_TIMEOUT:-900}" $launch "$program" </dev/null >"$log" 2>&1
    code=$?
    # A test says "[       OK ] name"; the failed and skipped ones are counted at the end of each group.
    read -r ok bad skip <<<"$(awk '
        /^\[       OK \] / { ok++ }
        /^\[  FAILED  \] [0-9]+ test\(s\), listed below/ { bad += $4 }
        /^\[  SKIPPED \] [0-9]+ test\(s\), listed below/ { skip += $4 }
        END { print ok + 0, bad + 0, skip + 0 }' "$log")"
    if [ "$code" -eq 0 ]; then bad=0; elif [ "$bad" -eq 0 ]; then bad=1; fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    printf '%-24s %4d passed %3d failed %3d skipped %4d s\n' "$name" "$ok" "$bad" "$skip" $((SECONDS - start))
    sed -n 's/^skipped: /    skipped: /p' "$log" | sort | uniq -c | sed 's/^ *1     /    /; s/^ *\([0-9]*\)     \(.*\)/    \2 (\1 times)/'
    if [ "$code" -ne 0 ]; then
        grep -v '^\[       OK \]\|^\[ RUN      \]\|^skipped: ' "$log" | tail -60 | sed 's/^/    /'
        case $code in
        124 | 137) echo "    stopped after ${VOUCH_TEST_TIMEOUT:-900} s" ;;
        *) [ "$code" -le 128 ] || echo "    killed by signal $((code - 128))" ;;
        esac
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
