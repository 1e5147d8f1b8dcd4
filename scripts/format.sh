#!/usr/bin/env bash
# Formats the C files of the tree as .clang-format says:  scripts/format.sh write|check|find [FOLDER-OF-THE-TREE]
#
#   write   formats the files
#   check   changes nothing, shows what formatting would change, and fails if it would change anything
#   find    prints the name of clang-format 19; fails if there is none
set -eu -o pipefail
action=${1:-}
case $action in
write | check | find) ;;
*)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
for program in clang-format-19 clang-format ''; do
    if "$program" --version 2>/dev/null | grep -q 'version 19\.'; then break; fi
done
if [ -z "$program" ]; then
    echo "clang-format 19 is missing. On Debian or Ubuntu:  sudo apt-get install clang-format-19" >&2
    exit 1
fi
if [ "$action" = find ]; then echo "$program" && exit; fi

cd "${2:-$(dirname "$0")/..}"
rooms=()
for room in include src bits tool cli server train bench tests examples; do [ ! -d $room ] || rooms+=("$room"); done
to=$PWD
if [ "$action" = check ]; then
    to=$(mktemp -d)
    trap 'rm -rf "$to"' EXIT
    find "${rooms[@]}" \( -name '*.[ch]' -o -name .clang-format \) -print0 | xargs -0 cp --parents -t "$to" .clang-format
fi
(cd "$to" && find "${rooms[@]}" -name '*.[ch]' -print0 | xargs -0 -n 32 -P "$(nproc)" "$program" -i)
[ "$action" = check ] || exit 0
changes=$(for room in "${rooms[@]}"; do diff -ru "$room" "$to/$room" || true; done | grep -v '^Only in ' || true)
[ -z "$changes" ] || { echo "$changes" && exit 1; }
