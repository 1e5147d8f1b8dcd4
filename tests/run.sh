#!/usr/bin/env bash
# Runs the test programs, as many at once as there are processors, and sums up:
#
#   tests/run.sh check|test [name-of-test ...]
#
# Programs are tests/test_*.c, built, and tests/test_*.sh. All belong to both tiers; VOUCH_TEST_TIER tells them
# which one runs, and the slow tests skip themselves in the first. Each program's lines come when it has ended;
# the last line is "N passed, N failed, N skipped". The environment may say:
#
#   BUILD               the folder under build/ (release)
#   VOUCH_TEST_FILTER   which tests inside the programs, as a pattern ('*truncated*')
#   VOUCH_TEST_TIMEOUT  seconds after which a program counts as hanging (900)
#   VOUCH_TEST_JOBS     how many run at once
set -u
cd "$(dirname "$0")/.." || exit 1

program_of()
{
    if [ -f "tests/$1.sh" ]; then echo "tests/$1.sh"; else echo "build/$BUILD/tests/$1"; fi
}

# One program: prints what is to be said of it, and adds "passed failed skipped" to $counts.
run_one()
{
    local name=$1 log launch='' folder
    log=$(mktemp)
    folder=$(mktemp -d) # what is left there by a test that is killed goes, too
    # ThreadSanitizer wants the memory layout that it knows.
    case $BUILD in tsan*) if setarch -R true 2>/dev/null; then launch="setarch -R"; fi ;; esac
    # shellcheck disable=SC2086
    TMPDIR=$folder timeout -k 10 "${VOUCH_TEST_TIMEOUT:-900}" $launch "$(program_of "$name")" </dev/null >"$log" 2>&1
    local code=$? ok bad skip
    # A test says "[       OK ] name"; the failed and skipped ones are counted at the end of each group.
    read -r ok bad skip <<<"$(awk '
        /^\[       OK \] / { ok++ }
        /^\[  FAILED  \] [0-9]+ test\(s\), listed below/ { bad += $4 }
        /^\[  SKIPPED \] [0-9]+ test\(s\), listed below/ { skip += $4 }
        END { print ok + 0, bad + 0, skip + 0 }' "$log")"
    if [ "$code" -eq 0 ]; then bad=0; elif [ "$bad" -eq 0 ]; then bad=1; fi
    echo "$ok $bad $skip" >>"$counts"
    printf '%-24s %4d passed %3d failed %3d skipped %4d s\n' "$name" "$ok" "$bad" "$skip" "$SECONDS"
    sed -n 's/^skipped: /    skipped: /p' "$log" | sort | uniq -c |
        sed 's/^ *1     /    /; s/^ *\([0-9]*\)     \(.*\)/    \2 (\1 times)/'
    if [ "$code" -ne 0 ]; then
        grep -v '^\[       OK \]\|^\[ RUN      \]\|^skipped: ' "$log" | tail -60 | sed 's/^/    /'
        case $code in
        124 | 137) echo "    stopped after ${VOUCH_TEST_TIMEOUT:-900} s" ;;
        *) [ "$code" -le 128 ] || echo "    killed by signal $((code - 128))" ;;
        esac
    fi
    rm -rf "$log" "$folder"
}

# What the workers are started with: one program, whose lines are written at once.
if [ "${1:-}" = one ]; then
    lines=$(run_one "$2")
    echo "$lines"
    exit
fi

tier=${1:-check}
shift || true
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
export BUILD=${BUILD:-release} VOUCH_TEST_TIER=$tier CMOCKA_MESSAGE_OUTPUT=stdout counts

if [ $# -eq 0 ]; then
    for source in tests/test_*.c tests/test_*.sh; do set -- "$@" "$(basename "$source")"; done
fi
names=()
for name in "$@"; do
    name=${name%.c}
    name=${name%.sh}
    if [ ! -x "$(program_of "$name")" ]; then
        echo "$name: no such test; there are: $(cd tests && echo test_*.c test_*.sh)" >&2
        exit 2
    fi
    names+=("$name")
done
printf '%s\n' "${names[@]}" | xargs -P "${VOUCH_TEST_JOBS:-$(nproc)}" -I{} tests/run.sh one {}
read -r passed failed skipped <<<"$(awk '{ ok += $1; bad += $2; skip += $3 }
    END { print ok + 0, bad + 0, skip + 0 }' "$counts")"
echo "$passed passed, $failed failed, $skipped skipped"
if [ $((passed + failed + skipped)) -eq 0 ]; then
    echo "no test has such a name: F='${VOUCH_TEST_FILTER:-}'" >&2
    exit 2
fi
[ "$failed" -eq 0 ] && [ "$(wc -l <"$counts")" -eq ${#names[@]} ]
