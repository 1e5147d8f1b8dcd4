#!/usr/bin/env bash
# Runs the test programs, one per processor at a time, and counts the results:
#
#   tests/run.sh check|test|arm|windows [name-of-test ...]
#
# The programs are tests/ROOM/test_*.sh and the built tests/ROOM/test_*.c. The tiers check and test run all programs.
# VOUCH_TEST_TIER tells a program its tier; in the tier check, slow tests skip themselves. The tier arm runs the
# programs of build/emulated (`make arm`) in an emulator, and the scripts that run the command there. It is as short as
# the tier check. The tier windows runs those of build/wine by Wine (`make test-windows`). A program's lines appear when
# it ends. The last line is "N passed, N failed, N skipped".
# Environment variables, with their defaults:
#
#   BUILD               the folder under build/ (release)
#   VOUCH_TEST_FILTER   a pattern such as '*truncated*': runs only the matching tests inside the programs
#   VOUCH_TEST_TIMEOUT  stops a program after this many seconds (900)
#   VOUCH_TEST_JOBS     how many programs run at once (the number of processors)
set -u
cd "$(dirname "$0")/.." || exit 1

program_of()
{
    local script
    script=$(find tests -mindepth 2 -maxdepth 2 -name "$1.sh")
    echo "${script:-build/$BUILD/tests/$1}"
}

# Runs one program: prints its results and adds a line "passed failed skipped" to $counts.
run_one()
{
    local name=$1 log launch='' folder
    log=$(mktemp)
    folder=$(mktemp -d) # collects temporary files, also those of a killed test
    # ThreadSanitizer doesn't work with a randomised memory layout.
    case $BUILD in tsan*) if setarch -R true 2>/dev/null; then launch="setarch -R"; fi ;; esac
    # shellcheck disable=SC2086
    TMPDIR=$folder timeout -k 10 "${VOUCH_TEST_TIMEOUT:-900}" $launch "$(program_of "$name")" </dev/null >"$log" 2>&1
    local code=$? ok bad skip
    # Each passed test prints "[       OK ] name". Each group ends with its numbers of failed and skipped tests.
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

# xargs calls this script as  run.sh one NAME : runs one program and prints its lines together.
if [ "${1:-}" = one ]; then
    lines=$(run_one "$2")
    echo "$lines"
    exit
fi

tier=${1:-check}
case $tier in
check | test) ;;
arm) BUILD=emulated ;;
windows) BUILD=wine ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
shift || true
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
export BUILD=${BUILD:-release} VOUCH_TEST_TIER=$tier CMOCKA_MESSAGE_OUTPUT=stdout counts

if [ $# -eq 0 ]; then
    # The longest program begins first, so that it isn't left to run alone.
    set -- test_model
    for source in tests/*/test_*.c tests/*/test_*.sh; do
        name=$(basename "${source%.*}")
        if [ ! -x "$(program_of "$name")" ]; then echo "$name: not in this build"
        elif [ "$name" != test_model ]; then set -- "$@" "$name"; fi
    done
    # shellcheck disable=SC2046
    case $tier in
    arm) set -- test_arm test_hub test_hub_fetch $(cd build/emulated/tests && echo test_*) ;;
    windows) set -- test_hub test_hub_fetch test_server_clients $(cd build/wine/tests && echo test_*) ;;
    esac
fi
names=()
for name in "$@"; do
    name=${name%.c}
    name=${name%.sh}
    if [ ! -x "$(program_of "$name")" ]; then
        echo "$name: no such test; there are: $(cd tests && echo */test_*.c */test_*.sh)" >&2
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
