#!/usr/bin/env bash
# Checks that the documents are complete: each flag of the command stands in some page, and each path and field of
# the server in docs/server.md. Each check also runs on pages that lack a name, and must fail.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Prints the names on standard input that stand nowhere in the pages after a character of the class, and then fails. The
# next character must not be one that could go on with the name.
missing_from() { # class page...
    local class=$1 name absent=0
    shift
    while read -r name; do
        grep -qE -- "(^|$class)$name([^A-Za-z0-9_-]|\$)" "$@" || { echo "no page has $name" && absent=1; }
    done
    return $absent
}

flags() {
    local command
    for command in run batch serve distill bench check analyze info tokenize perplexity logits quantize convert; do
        "build/$BUILD/vouch" "$command" --help
    done | grep -oE -- '--[a-z][a-z-]*[a-z]' | sort -u
}

each_flag_is_documented() {
    flags >"$TMP/flags"
    [ "$(wc -l <"$TMP/flags")" -gt 100 ]
    missing_from '[^a-z-]' README.md docs/*.md <"$TMP/flags"
    sed 's/--ignore-eos/--ignore/g' docs/guide.md >"$TMP/guide.md"
    test_refused 'no page has --ignore-eos$' missing_from '[^a-z-]' "$TMP/guide.md" <<<--ignore-eos
    echo 'with --temperature' >"$TMP/longer.md"
    test_refused 'no page has --temp$' missing_from '[^a-z-]' "$TMP/longer.md" <<<--temp
}

# A name in a path, such as {model}, is any name in capitals.
paths() { sed -nE 's/^    \{"(GET|POST)", "([^"]*)".*/\2/p' server/api/routes.c | sed 's/{[a-z]*}/[A-Z]+/' | sort -u; }

# A path stands between backquotes, alone or after its method.
paths_are_in() { # page
    local path absent=0
    for path in $(paths); do
        grep -qE "\`((GET|POST) )?$path\`" "$1" || { echo "no page has $path" && absent=1; }
    done
    return $absent
}

each_path_is_documented() {
    [ "$(paths | wc -l)" -gt 30 ]
    paths_are_in docs/server.md
    sed 's|/v1/health|/v1/healthy|g' docs/server.md >"$TMP/server.md"
    test_refused 'no page has /v1/health$' paths_are_in "$TMP/server.md"
}

fields() {
    sed -nE 's/^    \{"([a-z_]+)", .*SERVER_FIELD_.*/\1/p' server/request/request.c server/api/native.c | sort -u
}

each_field_is_documented() {
    [ "$(fields | wc -l)" -gt 100 ]
    missing_from '[`"]' docs/server.md < <(fields)
    sed 's/repetition_penalty/repetition_penalties/g' docs/server.md >"$TMP/server.md"
    test_refused 'no page has repetition_penalty$' missing_from '[`"]' "$TMP/server.md" < <(fields)
}

test_group each_flag_is_documented each_path_is_documented each_field_is_documented
