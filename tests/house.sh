#!/usr/bin/env bash
# Checks the house rules that a text search can check:  tests/house.sh [FOLDER-OF-THE-TREE]
#
#   includes between rooms run one way: cli -> vouch.h -> engine -> decode -> draft -> sample, model
#                                       -> text -> format, kernels -> base
#   the library never prints, exits, aborts or reads the environment
#
# Prints each breach as file:line: and its reason, then exits with 1.
cd "${1:-$(dirname "$0")/..}" || exit 2
breaches=$(
    awk '
    BEGIN {
        split("base format kernels text model sample draft decode engine", rooms, " ")
        split("0    1      1       2    3     3      4     5    6", levels, " ")
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
    }' src/*/*.[ch]
    awk '
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        file = $0
        sub(/^[^"]*"/, "", file)
        sub(/".*/, "", file)
        to = file
        if (!sub(/\/.*/, "", to)) next # vouch.h, or a header of the same folder
        n = split(FILENAME, part, "/")
        room = part[2]
        if (to !~ /^(run|bench|check|analyze|common)$/) why = "the command and the examples see vouch.h only"
        else if (n == 3 && to != room && to != "common") why = room " includes " file ": not its own room or common"
        else next
        print FILENAME ":" FNR ": " file ": " why
    }' cli/*.[ch] cli/*/*.[ch] examples/*.c
    # Finds calls of these functions outside comments.
    grep -nE \
        '(^|[^[:alnum:]_>.])(v?f?printf|puts|fputs|putchar|perror|exit|_exit|abort|(secure_)?getenv)[[:space:]]*\(' \
        src/*/*.[ch] | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' |
        sed 's/$/: a library does not print, exit or read the environment/'
)
[ -z "$breaches" ] || { echo "$breaches" && exit 1; }
