#!/usr/bin/env bash
# Drafters and rules are known by name to their own files alone; all others ask the registry (VOUCH_DRAFTER_LIST and
# VOUCH_ACCEPT_LIST of vouch.h). This looks for enum constants of theirs and for string literals equal to their names.
# An exception stands in tests/house/registry_names.txt, one a line:
#
#   FILE NAME[,NAME...] why
#
# where NAME is a constant without its prefix, such as HEAD, or the text of a literal, such as head.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# The entries of a list of the header: constant and name.
entries() { # LIST header
    awk -v list="$1" '
    $0 ~ "^#define " list "\\(X\\)" { inside = 1 }
    inside { while (match($0, /X\([A-Z]+, [a-z]+/)) {
                 print substr($0, RSTART + 2, RLENGTH - 2)
                 $0 = substr($0, RSTART + RLENGTH) } }
    inside && !/\\$/ { exit }' "$2" | tr -d ,
}

# Prints "file:line: NAME" for each constant and literal outside of its own file.
strangers() { # tree
    local tree=$1 all constants names
    all=$(entries VOUCH_DRAFTER_LIST "$tree/include/vouch.h" && entries VOUCH_ACCEPT_LIST "$tree/include/vouch.h")
    constants=$(cut -d' ' -f1 <<<"$all" | paste -sd'|')
    names=$(cut -d' ' -f2 <<<"$all" | paste -sd'|')
    (cd "$tree" && grep -rlE "VOUCH_(DRAFTER|DRAFTER_NUMBER|ACCEPT)_($constants)\\b|\"($names)\"" \
        --include='*.[ch]' src tool cli server train bench | while read -r file; do
        # The compiler leaves out the comments.
        # shellcheck disable=SC2086
        $CC -fpreprocessed -dD -E -w "$file" 2>/dev/null |
            awk -v file="$file" -v constants="$constants" -v names="$names" '
        /^# [0-9]+ "/ { line = $2 - 1; next }
        { line++
          rest = $0
          while (match(rest, "VOUCH_(DRAFTER|DRAFTER_NUMBER|ACCEPT)_(" constants ")([^A-Za-z0-9_]|$)|" \
                             "\"(" names ")\"")) {
              found = substr(rest, RSTART, RLENGTH)
              rest = substr(rest, RSTART + RLENGTH)
              sub(/^VOUCH_(DRAFTER_NUMBER|DRAFTER|ACCEPT)_/, "", found)
              gsub(/[^A-Za-z]/, "", found)
              print file ":" line ": " found } }'
    done)
}

# Leaves out what belongs to the files of drafters and rules, and the exceptions; prints exceptions that nothing needs.
without_exceptions() { # exceptions
    awk -v list="$1" '
    BEGIN {
        while ((getline row <list) > 0) {
            if (row ~ /^(#|$)/) continue
            n = split(row, part, " ")
            if (n < 3) { print list ": no reason: " row; continue }
            count = split(part[2], name, ",")
            for (i = 1; i <= count; i++) known[part[1], name[i]] = 1
        }
    }
    {
        split($0, at, ":")
        word = $2
        if (at[1] ~ /^src\/draft\/(free|paid)\//) next
        if (at[1] ~ /^src\/decode\/(block|match|multipath|rejection|traversal)\.c$/) next
        if ((at[1], word) in known) used[at[1], word] = 1
        else print
    }
    END {
        for (key in known) {
            split(key, part, SUBSEP)
            if (!(key in used)) print list ": not needed: " part[1] " " part[2]
        }
    }'
}

names_of_drafters_and_rules_stay_at_home() {
    strangers . | without_exceptions tests/house/registry_names.txt >"$TMP/found"
    [ ! -s "$TMP/found" ] || { cat "$TMP/found" && return 1; }
}

a_name_that_strays_is_found() {
    mkdir -p "$TMP/include" "$TMP"/{src,tool,cli,server,train,bench}
    cp include/vouch.h "$TMP/include"
    cat >"$TMP/cli/a.c" <<'EOF'
/* "ngram" in a comment, and VOUCH_DRAFTER_HEAD */
int a = VOUCH_DRAFTER_TABLE, b = VOUCH_DRAFTER_NONE;
const char *c = "ngrams", *d = "coupled";
EOF
    strangers "$TMP" >"$TMP/found"
    diff - "$TMP/found" <<'EOF'
cli/a.c:2: TABLE
cli/a.c:3: coupled
EOF
    printf 'cli/a.c TABLE,head because\n' >"$TMP/known"
    without_exceptions "$TMP/known" <"$TMP/found" | sed 's|^/.*: not|not|' | diff - <(printf '%s\n' \
        'cli/a.c:3: coupled' 'not needed: cli/a.c head')
}

test_group names_of_drafters_and_rules_stay_at_home a_name_that_strays_is_found
