#!/usr/bin/env bash
# Checks the house rules that a text search can check:  tests/house.sh [FOLDER-OF-THE-TREE]
#
#   includes between rooms run one way: cli -> vouch.h -> engine -> decode -> draft -> sample, model
#                                       -> text -> format, kernels -> base -> os
#   os includes nothing of the others, and no other file asks which system it is built for
#   bits sees engine, format, kernels, base and vouch.h; of bits, cli/check sees bits.h alone
#   train sees model, text, format, kernels, base, os and vouch.h; of train, cli/distill and cli/options see
#   distill.h alone
#   cli and server see vouch.h, tool, os and their own rooms; tool sees vouch.h and os
#   paths have room for VOUCH_OS_PATH_SIZE bytes, not for PATH_MAX, which is 260 on Windows
#   library and programs don't call access, unlink, remove, fopen and the like, which take no UTF-8 and no long paths on
#   Windows; os has functions in their place
#   includes between files make no circle, where x.c and x.h of one folder are one file; nor do those between folders
#   no folder has more than 24 source files on its own floor, except tests/golden
#   the library never prints, exits, aborts or reads the environment
#   no line has more than 120 characters, except in tests/golden
#
# Prints each breach with its file and reason, then exits with 1.
# A tree without some of the rooms is checked, too.
cd "${1:-$(dirname "$0")/..}" || exit 2
exec </dev/null # instead of no file
mapfile -t library < <(find src -name '*.[ch]' 2>/dev/null | sort)
mapfile -t training < <(find train -name '*.[ch]' 2>/dev/null | sort)
mapfile -t proving < <(find bits -name '*.[ch]' 2>/dev/null | sort)
mapfile -t users < <(find cli examples -name '*.[ch]' 2>/dev/null | sort)
rooms=(include os src bits train tool cli server examples tests bench)
mapfile -t all < <(find "${rooms[@]}" -name '*.[ch]' 2>/dev/null | sort)

# Visits the files, or their folders, depth first. One that is met again while it is still open closes a circle.
circles() { # files|folders FILE...
    local of=$1
    shift
    awk -v of="$of" '
    function resolve(from, name,   folders, n, i, folder) {
        folder = from
        sub(/[^\/]*$/, "", folder)
        n = split(folder "|src/|cli/|server/|tests/|bench/|include/||", folders, "|")
        for (i = 1; i <= n; i++)
            if ((folders[i] name) in exists) return folders[i] name
        return ""
    }
    function visit(node,   to, n, i, at, path) {
        state[node] = "open"
        open[++depth] = node
        n = split(edges[node], to, " ")
        for (i = 1; i <= n; i++) {
            if (!(to[i] in state)) visit(to[i])
            else if (state[to[i]] == "open") {
                path = ""
                for (at = depth; open[at] != to[i]; at--) path = open[at] " includes " path
                print "a circle: " to[i] " includes " path to[i]
            }
        }
        state[node] = "done"
        depth--
    }
    BEGIN { for (i = 1; i < ARGC; i++) exists[ARGV[i]] = 1 }
    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        name = $0
        sub(/^[^"<]*["<]/, "", name)
        sub(/[">].*/, "", name)
        to = resolve(FILENAME, name)
        from = FILENAME
        end = of == "files" ? "\\.[ch]$" : "/[^/]*$"
        sub(end, "", to)
        sub(end, "", from)
        if (to == "" || to == from || ((from, to) in known)) next
        known[from, to] = 1
        if (!(from in edges)) nodes[++n_nodes] = from
        edges[from] = edges[from] " " to
    }
    END { for (i = 1; i <= n_nodes; i++) if (!(nodes[i] in state)) visit(nodes[i]) }' "$@"
}

breaches=$(
    awk '
    BEGIN {
        split("os base format kernels text model sample draft decode engine", rooms, " ")
        split("0  1    2      2       3    4     4      5     6      7", levels, " ")
        for (i in rooms) level[rooms[i]] = levels[i]
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split(FILENAME, part, "/")
        room = part[2]
        file = $0
        sub(/^[^"]*"/, "", file)
        sub(/".*/, "", file)
        to = file
        if (!sub(/\/.*/, "", to)) next # vouch.h, which all rooms may include
        if (!(room in level)) why = "an unknown room"
        else if (!(to in level)) why = "not a room"
        else if (to != room && level[to] >= level[room]) why = "looks up"
        else next
        print FILENAME ":" FNR ": " room " includes " file ": " why
    }' "${library[@]}"
    awk '
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        file = $0
        sub(/^[^"]*"/, "", file)
        sub(/".*/, "", file)
        if (file ~ /^(train|model|text|format|kernels|base|os)\// || file == "vouch.h") next
        print FILENAME ":" FNR ": train includes " file ": not model, text, format, kernels, base, os or vouch.h"
    }' "${training[@]}"
    awk '
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        file = $0
        sub(/^[^"]*"/, "", file)
        sub(/".*/, "", file)
        if (file ~ /^(bits|engine|format|kernels|base)\// || file == "vouch.h") next
        print FILENAME ":" FNR ": bits includes " file ": not bits, engine, format, kernels, base or vouch.h"
    }' "${proving[@]}"
    circles files "${all[@]}"
    circles folders "${all[@]}"
    printf '%s\n' "${all[@]}" | grep -v '^tests/golden/' | sed 's|/[^/]*$||' | sort | uniq -c |
        awk '$1 > 24 { print $2 ": " $1 " source files on one floor: expected 24 at most" }'
    awk '
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        file = $0
        sub(/^[^"]*"/, "", file)
        sub(/".*/, "", file)
        to = file
        if (!sub(/\/.*/, "", to)) next # vouch.h, or a header of the same folder
        n = split(FILENAME, part, "/")
        room = part[2]
        if (file == "train/distill.h" && room ~ /^(distill|options)$/) next
        if (file == "bits/bits.h" && room == "check") next
        shared = to ~ /^(os|tool|options|model|report|hub)$/
        if (!shared && to !~ /^(run|distill|batch|bench|check|analyze|serve)$/)
            why = "the command and examples see vouch.h only"
        else if (n >= 3 && to != room && !shared) why = room " includes " file ": not its own room, nor one for all"
        else next
        print FILENAME ":" FNR ": " file ": " why
    }' "${users[@]}"
    grep -nE '^[ \t]*#[ \t]*include[ \t]*"[^"]*/' server/*/*.[ch] tool/*.[ch] 2>/dev/null |
        grep -vE '^server/.*"(os|tool|http|api|report|request|work|call)/|^tool/.*"(os|tool)/' |
        sed 's/$/: server sees vouch.h, its own rooms, tool and os, and tool sees vouch.h and os/'
    grep -nE '^[ \t]*#[ \t]*include[ \t]*"' os/*.[ch] 2>/dev/null | grep -v '"os/' |
        sed 's/$/: os includes its own headers only/'
    grep -nE '__linux__|__APPLE__|__MACH__|TargetConditionals|__MINGW32__|__unix__|_WIN32|__ANDROID__|__FreeBSD__' \
        "${all[@]}" | grep -vE '^os/' | sed 's/$/: only os asks which system it is/'
    grep -nHw 'PATH_MAX' "${all[@]}" | grep -v '^os/' | sed 's/$/: VOUCH_OS_PATH_SIZE is the size of a path/'
    grep -nHE '(^|[^[:alnum:]_>.])(access|unlink|remove|rmdir|mkdir|rename|fopen|freopen|opendir|n?ftw)[[:space:]]*\(' \
        "${library[@]}" "${proving[@]}" "${users[@]}" tool/*.[ch] server/*/*.[ch] 2>/dev/null |
        grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' | sed 's/$/: os has a function for UTF-8 paths (vouch_os_)/'
    find "${rooms[@]}" python \
        -type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \) ! -path '*/golden/*' \
        -exec env LC_ALL=C.UTF-8 grep -HnE '^.{121}' {} + 2>/dev/null |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: a line of more than 120 characters/'
    # Finds calls of these functions outside comments.
    grep -nE \
        '(^|[^[:alnum:]_>.])(v?f?printf|puts|fputs|putchar|perror|exit|_exit|abort|(secure_)?getenv)[[:space:]]*\(' \
        "${library[@]}" "${proving[@]}" "${training[@]}" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' |
        sed 's/$/: a library does not print, exit or read the environment/'
)
[ -z "$breaches" ] || { echo "$breaches" && exit 1; }
