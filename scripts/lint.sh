#!/usr/bin/env bash
# Runs clang-tidy, cppcheck and shellcheck over the tree:
#
#   scripts/lint.sh all|quick|find [FOLDER-OF-THE-TREE [ROOM ...]]
#
#   all     all checks, in about 7 minutes on two cores
#   quick   without the analyser of clang, which follows the paths of a program; in about a minute
#   find    prints the names of clang-tidy 14, cppcheck 2.10 and shellcheck; fails if one is missing
#
# Other versions have other checks. .clang-tidy lists the checks. .clang-tidy-known and .cppcheck list known false
# findings with their reasons. The script prints all other findings and fails if there are any.
set -u
action=${1:-} root=$(cd "$(dirname "$0")/.." && pwd)
case $action in
all | quick | find) ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
cd "${2:-$root}" || exit 2
if [ $# -gt 2 ]; then rooms=("${@:3}"); else rooms=(src bits train tool cli server examples bench); fi

fail() {
    echo "$1 is missing. On Debian 12:  sudo apt-get install $2" >&2
    exit 1
}
for tidy in clang-tidy-14 clang-tidy ''; do
    if "$tidy" --version 2>/dev/null | grep -q 'version 14\.'; then break; fi
done
[ -n "$tidy" ] || fail "clang-tidy 14" clang-tidy-14
cppcheck --version 2>/dev/null | grep -q ' 2\.10' || fail "cppcheck 2.10" cppcheck
command -v shellcheck >/dev/null || fail shellcheck shellcheck
if [ "$action" = find ]; then echo "$tidy cppcheck shellcheck" && exit; fi

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
found=0
includes=(-I"$root/include" -Iinclude -Isrc -Icli -Iserver -Ibench -I.)
for package in libpcre2-8 libutf8proc jansson libedit libmicrohttpd openblas; do
    read -ra words < <(pkg-config --cflags "$package" 2>/dev/null)
    includes+=("${words[@]}")
done
flags=(-std=c11 -D_GNU_SOURCE -DVOUCH_SERVER -DVOUCH_EDITLINE "${includes[@]}" -I"$work")
echo 0 >"$work/page.inc" # the bytes of server/page.html
echo "0," >"$work/siblings.inc" # of cli/hub/siblings.txt
[ ! -e scripts/analyzer.h ] || flags+=(-include scripts/analyzer.h)
if [ "$(uname -m)" = x86_64 ]; then
    flags+=(-mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavxvnni -mgfni -mfma -mf16c)
fi

checks=()
if [ "$action" = quick ]; then checks=(--checks='-clang-analyzer-*'); fi
# scripts/analyzer.h redefines a function of status.c; the Arm kernels need their own compiler.
# shellcheck disable=SC2016
find "${rooms[@]}" -name '*.c' 2>/dev/null |
    grep -vE '^src/base/status\.c$|^src/kernels/vector/arm_|^train/absent\.c$' |
    xargs -P "$(nproc)" -I{} sh -c 'out=$1/$(echo "$2" | tr / +).found; shift 2; "$@" >"$out" 2>&1' - \
        "$work" {} "$tidy" --quiet "${checks[@]}" {} -- "${flags[@]}"
# A finding begins with a line "file:line:column: error: text [check,...]"; the following lines explain it.
find "$work" -name '*.found' -print0 | sort -z | xargs -0 cat | awk -v root="$PWD/" '
    FNR == NR { if (!/^#/ && NF) known[$0] = 1; next }
    /^[^ ]+:[0-9]+:[0-9]+: (error|warning): / {
        file = $1
        sub(/:.*/, "", file)
        if (index(file, root) == 1) file = substr(file, length(root) + 1)
        check = $NF
        gsub(/^\[|[],].*$/, "", check)
        show = !((check ":" file) in known) && !($0 in seen)
        seen[$0] = 1
        bad += show
    }
    /^[0-9]+ (warnings|errors)|^Suppressed|^Use -header/ { next }
    show
    END { exit bad > 0 }' "$root/.clang-tidy-known" - || found=1

mapfile -t present < <(for room in "${rooms[@]}"; do [ ! -d "$room" ] || echo "$room"; done)
cppcheck --quiet -j "$(nproc)" --std=c11 --language=c --error-exitcode=1 --inline-suppr \
    --library="$root/scripts/jansson.cfg" --suppressions-list="$root/.cppcheck" \
    --enable=warning,portability,performance --cppcheck-build-dir="$work" -D__GNUC__ -D__x86_64__ "${includes[@]:0:7}" "${present[@]}" || found=1

mapfile -t scripts < <(grep -slE '^#!.*sh$|^# shellcheck shell=' .ci/run install.sh scripts/* tests/*.sh tests/*/*.sh)
# SC2119: a function may have optional arguments
[ ${#scripts[@]} -eq 0 ] || shellcheck --exclude=SC2119 "${scripts[@]}" || found=1
exit $found
