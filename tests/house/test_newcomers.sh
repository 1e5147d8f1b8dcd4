#!/usr/bin/env bash
# Newcomers: a free drafter, a drafter with a file, a rule, an endpoint, a command and an architecture of known parts.
# Each folder of tests/newcomers holds its new files and, in lines.patch, the lines that existing files need. All are
# added to a copy of the tree. Help, errors, statistics, server, Python and check then know them.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Adds a newcomer to the copy. Prints the new files, and each changed one with its new lines.
add() { # name
    local from=$PWD/tests/newcomers/$1 new changed
    new=$(cd "$from" && find . -name '*.[ch]' | sed 's|^\./||' | sort)
    changed=$(git apply --numstat "$from/lines.patch" | awk '{ print $3 " +" $1 ($2 > 0 ? " -" $2 : "") }')
    for file in $new; do
        [ ! -e "$tree/$file" ]
        cp "$from/$file" "$tree/$file"
    done
    (cd "$tree" && git apply -C1 "$from/lines.patch")
    # shellcheck disable=SC2086
    echo "$1: new: $new; changed:" $changed
}

# The number of new files of a newcomer, and of lines in existing files.
takes() { # name files lines
    local from=$PWD/tests/newcomers/$1
    [ "$(find "$from" -name '*.[ch]' | wc -l)" = "$2" ]
    [ "$(git apply --numstat "$from/lines.patch" | awk '{ n += $1 } END { print n }')" = "$3" ]
}

# The kernels know no newcomer: their objects are those of this tree.
build() {
    mkdir -p "$tree/build/release/src"
    make --no-print-directory -C "$tree" BUILD=release OPT=-O0 CFLAGS= DISTILL=0 -n >/dev/null 2>&1
    cp -r "build/$BUILD/src/kernels" "$tree/build/release/src"
    find "$tree/build/release/src/kernels" -name '*.o' -exec touch -d '+1 minute' {} +
    make --no-print-directory -s -j"$(nproc)" -C "$tree" BUILD=release OPT=-O0 CFLAGS= DISTILL=0 all >"$TMP/log" 2>&1 ||
        { cat "$TMP/log" && return 1; }
}

# Writes a model of the architecture llama, and the same one of the architecture llemu.
models() {
    # shellcheck disable=SC2046
    # shellcheck disable=SC2086
    $CC -std=c11 -D_GNU_SOURCE -O0 -w -pthread -Iinclude -Isrc -Icli -Itests -I. \
        $(pkg-config --cflags libpcre2-8 libutf8proc jansson) -include src/base/baseline.h -o "$TMP/model" \
        tests/newcomers/model.c $(printf "build/$BUILD/%s.o " $(find tests/support -name "*.c" |
            sed 's/\.c$//')) "build/$BUILD"/bits/values.o "build/$BUILD"/libvouch.a -lcmocka \
        $(pkg-config --libs libpcre2-8 libutf8proc jansson) -lm
    "$TMP/model" "$TMP/model.gguf"
    LC_ALL=C sed 's/llama\([."]\)/llemu\1/g; s/\(general.architecture.\{12\}\)llama/\1llemu/' "$TMP/model.gguf" \
        >"$TMP/llemu.gguf"
}

vouch() {
    "$tree/build/release/vouch" "$@"
}

# Runs the prompt with the flags given; the text must be that of the plain run.
same() { # flags
    vouch run -m "$TMP/model.gguf" "${prompt[@]}" "$@" --stats-json "$TMP/stats" >"$TMP/text"
    cmp "$TMP/plain" "$TMP/text"
}

drafters_are_known() {
    echo 7 >"$TMP/phrase.txt"
    vouch run --help | tr -s ' \n' ' ' | grep -q 'draft|echo|ngram|suffix|phrase'
    vouch run --help | grep -q -- '--phrase-file FILE'
    same --spec echo -k 4
    grep -q '"drafter": *"echo"' "$TMP/stats"
    same
    grep -q '"drafter": *"echo,ngram,suffix,recycle"' "$TMP/stats"
    same --phrase-file "$TMP/phrase.txt"
    grep -q '"drafter": *"echo,ngram,suffix,phrase,recycle"' "$TMP/stats"
    same --spec phrase -k 2 --phrase-file "$TMP/phrase.txt"
    test_refused "echo" vouch run -m "$TMP/model.gguf" -p x --spec echoo
    test_refused "spec phrase needs a phrase: add --phrase-file FILE" vouch run -m "$TMP/model.gguf" -p x --spec phrase
    test_refused "phrase-file has no effect with --spec ngram" vouch run -m "$TMP/model.gguf" -p x --spec ngram \
        --phrase-file "$TMP/phrase.txt"
    echo 999999 >"$TMP/wrong.txt"
    test_refused "--phrase-file: .*expected a token id" vouch run -m "$TMP/model.gguf" -p x \
        --phrase-file "$TMP/wrong.txt"
    vouch bench -m "$TMP/model.gguf" --prompts "$TMP/prompts" --raw --ctx 64 -n 8 --spec phrase \
        --phrase-file "$TMP/phrase.txt" | grep -q phrase
    vouch check -m "$TMP/model.gguf" --law L2 --seconds 1 --phrase-file "$TMP/phrase.txt" --json "$TMP/check.json"
}

rule_is_known() {
    vouch run --help | tr -s ' \n' ' ' | grep -q 'block|refuse|coupled|'
    same --accept refuse --spec ngram -k 4
    grep -q '"accept": *"refuse"' "$TMP/stats"
    # Its seed reproduces the text: so it has an effect without drafters, which the rule `block` has not.
    vouch run -m "$TMP/model.gguf" --raw -p one -n 40 --temp 1 --seed 5 --accept refuse --spec none >"$TMP/none"
    vouch run -m "$TMP/model.gguf" --raw -p one -n 40 --temp 1 --seed 5 --accept refuse --spec echo,ngram >"$TMP/echo"
    cmp "$TMP/none" "$TMP/echo"
    test_refused "--accept block has no effect" vouch run -m "$TMP/model.gguf" -p x --accept block --spec none
    # batch goes on with answers of other drafters under such a rule alone.
    local batch=(batch -m "$TMP/model.gguf" --prompts "$TMP/prompts" --raw -n 8 --temp 1 --seed 5)
    for rule in refuse block; do
        vouch "${batch[@]}" --accept $rule --spec echo -k 2 -o "$TMP/$rule.jsonl"
    done
    vouch "${batch[@]}" --accept refuse --spec ngram -k 3 -o "$TMP/refuse.jsonl" --resume
    test_refused "other" vouch "${batch[@]}" --accept block --spec ngram -k 3 -o "$TMP/block.jsonl" --resume
    vouch bench -m "$TMP/model.gguf" --prompts "$TMP/prompts" --raw --ctx 64 -n 8 --temp 1 --seed 5 --spec echo \
        --accept refuse | grep -q refuse
}

server_knows_them() {
    vouch serve --help >/dev/null 2>&1 && vouch serve --help | grep -q port || return 0
    # Not by the function: a shell would stand between it and the signal.
    "$tree/build/release/vouch" serve -m "$TMP/model.gguf" --port 0 --phrase-file "$TMP/phrase.txt" >"$TMP/serve.out" \
        2>"$TMP/serve.err" &
    local server=$! url='' text
    for _ in $(seq 200); do
        url=$(sed -n 's/^listening on //p' "$TMP/serve.out")
        [ -z "$url" ] || break
        kill -0 $server
        sleep 0.05
    done
    text=$(fetch "$url/props")
    grep -q '"name": *"echo"' <<<"$text"
    grep -q '"name": *"phrase"' <<<"$text"
    grep -q '"refuse"' <<<"$text"
    fetch "$url/openapi.json" | grep -q '"refuse"'
    fetch "$url/v1/drafters" | grep -q '"echo"'
    fetch "$url/openapi.json" | grep -q '/v1/drafters'
    fetch "$url/v1/completions" '{"prompt": "one", "max_tokens": 8, "speculative": {"drafters": ["phrase", "echo"],
        "accept": "refuse"}}' | grep -q '"text"'
    kill $server
    wait $server || true
}

fetch() { # address [body]
    python3 - "$@" <<'EOF'
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], sys.argv[2].encode() if len(sys.argv) > 2 else None,
                                 {"Content-Type": "application/json"})
print(urllib.request.urlopen(request, timeout=60).read().decode())
EOF
}

python_knows_them() {
    make --no-print-directory -s -C "$tree" BUILD=release OPT=-O0 CFLAGS= DISTILL=0 python
    PYTHONPATH=$tree/build/release/python python3 - "$TMP/model.gguf" "$TMP/phrase.txt" <<'EOF'
import sys, vouch
model = vouch.Model(sys.argv[1])
phrase = vouch.DraftFile(sys.argv[2], model, drafter="phrase")
with vouch.Session(model, drafters="phrase,echo", phrase=phrase, n_draft=2, accept="refuse") as session:
    assert session.drafters == "echo,phrase", session.drafters
EOF
}

command_and_architecture_are_known() {
    vouch help | grep -q '^  count  *print the size of a vocabulary'
    vouch count "$TMP/model.gguf" | grep -q '^[0-9][0-9]*$'
    vouch help --man | grep -q 'VOUCH count'
    vouch run -m "$TMP/llemu.gguf" "${prompt[@]}" --spec none >"$TMP/llemu"
    cmp "$TMP/plain" "$TMP/llemu"
    test_refused "llemu" "build/$BUILD/vouch" run -m "$TMP/llemu.gguf" "${prompt[@]}"
}

newcomers_take_one_file_and_one_line() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "slow"
    command -v git >/dev/null || test_skip "no git"
    case $BUILD in release | gcc | clang) ;; *) test_skip "instrumented kernels" ;; esac
    tree=$TMP/tree
    prompt=(--raw --temp 0 -p "one two one two one" -n 40)
    printf 'one two\ntwo one\n' >"$TMP/prompts"
    takes drafter 1 1
    takes drafter_with_file 1 1
    takes rule 1 1
    takes architecture 1 1
    mkdir "$tree"
    cp -r include os src bits tool cli server train python examples scripts Makefile "$tree"
    (cd "$tree" && find . -type f | sort | xargs sha256sum) >"$TMP/before"
    for newcomer in drafter drafter_with_file rule endpoint command architecture; do add $newcomer; done >"$TMP/touched"
    cat "$TMP/touched"
    # Nothing else has changed.
    (cd "$tree" && find . -type f | sort | xargs sha256sum) >"$TMP/after"
    diff <(comm -13 <(sort "$TMP/before") <(sort "$TMP/after") | sed 's|.*  \./||' | sort) \
        <(sed 's/^[a-z_]*: new: //; s/; changed://; s/ [-+][0-9]*//g' "$TMP/touched" | tr ' ' '\n' | sort -u)
    build
    models
    build/"$BUILD"/vouch run -m "$TMP/model.gguf" "${prompt[@]}" --spec none >"$TMP/plain"
    drafters_are_known
    rule_is_known
    server_knows_them
    python_knows_them
    command_and_architecture_are_known
}

test_group newcomers_take_one_file_and_one_line
