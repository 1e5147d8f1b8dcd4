#!/usr/bin/env bash
# Checks that the documents are complete and true: each flag of the command stands in some page, each path and field of
# the server in docs/server.md, and the commands of docs/tour.md print what the page shows. Each check also runs on
# pages that lack a name or show something else, and must fail.
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

# Writes each command of a page, and the output that the page shows, to NN.sh and NN.shown in the folder. They stand in
# the blocks that begin with "$ ".
split_page() { # page folder
    awk -v folder="$2" '
    /^```/ {
        inside = !inside
        shows = more = n_lines = 0
        next
    }
    inside && ++n_lines == 1 { shows = /^\$ / }
    !shows || !inside { next }
    sub(/^\$ /, "") {
        file = sprintf("%s/%02d", folder, ++n)
        printf "" >(file ".shown")
        more = 1
    }
    { print >(file (more ? ".sh" : ".shown")) }
    more { more = /\\$/ }' "$1"
}

# Leaves out what differs from run to run and from machine to machine, as the page says.
masked() {
    sed -E -e 's/[0-9.]+ (s|tokens\/s|MB)([^a-z]|$)/N \1\2/g' \
        -e 's/[0-9.]+x plain decoding \([0-9.]+\)( on a busy machine)?/Nx plain decoding (N)/' \
        -e 's/^(machine +)[^,]+, [0-9]+ threads/\1NAME, N threads/' -e '/^busy /d' \
        -e '/^vouch: note: [^,]*, [0-9]+ %/d' "$1"
}

# Compares NN.out, for each command of the page, with the page. [...] stands for any text.
outputs_are_shown() { # page folder-of-outputs
    local pieces file shown printed
    pieces=$(mktemp -d "$TMP/pieces.XXXX")
    split_page "$1" "$pieces"
    for file in "$pieces"/*.shown; do
        masked "$file" >"$file.masked"
        masked "$2/$(basename "$file" .shown).out" >"$file.printed"
        printed=$(<"$file.printed")
        shown=$(sed -e 's/[][\\*?]/\\&/g' -e 's/\\\[\.\.\.\\\]/*/g' "$file.masked")
        # shellcheck disable=SC2053 # a pattern
        if [[ $printed == $shown ]]; then continue; fi
        echo "$1 shows another output of: $(<"${file%.shown}.sh")"
        diff "$file.masked" "$file.printed"
        return 1
    done
}

# One answer takes long in an instrumented build, and runs there in other tests.
the_tour_is_true() {
    local model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf file
    [ "${VOUCH_TEST_TIER:-test}" != check ] || test_skip "slow; make test runs it"
    case $BUILD in release | gcc | clang) ;; *) test_skip "the tour is for builds at full speed" ;; esac
    [ -f "$model" ] || test_skip "no model: scripts/run.sh model"
    mkdir "$TMP/tour" "$TMP/outputs"
    ln -s "$model" "$TMP/tour/model.gguf"
    split_page docs/tour.md "$TMP/outputs"
    for file in "$TMP"/outputs/*.sh; do
        (cd "$TMP/tour" && PATH=$OLDPWD/build/$BUILD:$PATH bash -o pipefail "$file" >"${file%.sh}.out" 2>&1) ||
            { cat "$file" "${file%.sh}.out" && return 1; }
    done
    [ -f "$TMP/outputs/12.out" ]
    outputs_are_shown docs/tour.md "$TMP/outputs"
    sed 's/0\.9277 /0.9278 /' docs/tour.md >"$TMP/digit.md"
    test_refused 'shows another output of: vouch run .*--seed 35' outputs_are_shown "$TMP/digit.md" \
        "$TMP/outputs"
    sed '/^  " Mekong"/d' docs/tour.md >"$TMP/line.md"
    test_refused '^> *" Mekong"' outputs_are_shown "$TMP/line.md" "$TMP/outputs"
    sed 's/0\.127 s/9.999 s/' docs/tour.md >"$TMP/slow.md"
    outputs_are_shown "$TMP/slow.md" "$TMP/outputs"
}

test_group each_flag_is_documented each_path_is_documented each_field_is_documented the_tour_is_true
