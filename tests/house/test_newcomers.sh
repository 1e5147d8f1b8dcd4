#!/usr/bin/env bash
# A new free drafter takes one new file and one new line in include/vouch.h, and so does a new rule. The command then
# has them in its help, --spec auto, --accept and the statistics.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

compile() { # folder of the tree, arguments of the compiler
    local tree=$1
    shift
    # shellcheck disable=SC2046
    (cd "$tree" && "$CC" -std=c11 -D_GNU_SOURCE -O0 -w -pthread -Iinclude -Isrc -Icli -Iserver -Itests -I. \
        $(pkg-config --cflags libpcre2-8 libutf8proc jansson) -include src/base/baseline.h "$@" \
        $(pkg-config --libs libpcre2-8 libutf8proc jansson) -lm)
}

# Builds $TMP/vouch with a new drafter and a new rule, without teaching. It links the existing kernels, which depend on
# neither.
newcomers_build() {
    cp -r include src tool cli train "$TMP"
    cp tests/newcomers/echo.c "$TMP/src/draft/free"
    cp tests/newcomers/refuse.c "$TMP/src/decode"
    sed -i 's/^    X(HEAD, .*/& \\\n    X(ECHO, echo, "repeats the last token")/
            s/^    X(COUPLED, coupled)/& \\\n    X(REFUSE, refuse)/' "$TMP/include/vouch.h"
    [ "$(diff include/vouch.h "$TMP/include/vouch.h" | grep -c '^> *X(\(ECHO\|REFUSE\)')" = 2 ]
    # shellcheck disable=SC2046
    compile "$TMP" -o vouch $(cd "$TMP" && find src tool cli -name '*.c' -not -path 'src/kernels/*') train/absent.c \
        "$PWD/build/$BUILD"/src/kernels/*.o "$PWD/build/$BUILD"/src/kernels/*/*.o
}

newcomers_take_one_file_and_one_line() {
    [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "slow"
    case $BUILD in release | gcc | clang) ;; *) test_skip "instrumented kernels" ;; esac
    local model=$TMP/model.gguf prompt=(--raw --temp 0 -p "one two one two one" -n 40)
    newcomers_build
    compile . -o "$TMP"/model tests/newcomers/model.c "build/$BUILD"/tests/support/*.o \
        "build/$BUILD"/tests/support/*/*.o \
        "build/$BUILD"/bench/support/values.o "build/$BUILD"/libvouch.a -lcmocka
    "$TMP"/model "$model"
    "$TMP"/vouch run --help | tr -s ' \n' ' ' | grep -q 'head|echo'
    "$TMP"/vouch run --help | tr -s ' \n' ' ' | grep -q 'coupled|refuse|auto'
    build/"$BUILD"/vouch run -m "$model" "${prompt[@]}" >"$TMP"/plain
    "$TMP"/vouch run -m "$model" "${prompt[@]}" --spec echo -k 4 --stats-json "$TMP"/stats >"$TMP"/echo
    cmp "$TMP"/plain "$TMP"/echo
    grep -q '"drafter": *"echo"' "$TMP"/stats
    "$TMP"/vouch run -m "$model" "${prompt[@]}" --stats-json "$TMP"/stats >"$TMP"/auto
    cmp "$TMP"/plain "$TMP"/auto
    grep -q '"drafter": *"ngram,suffix,recycle,echo"' "$TMP"/stats
    "$TMP"/vouch run -m "$model" "${prompt[@]}" --accept refuse --stats-json "$TMP"/stats >"$TMP"/refuse
    cmp "$TMP"/plain "$TMP"/refuse
    grep -q '"accept": *"refuse"' "$TMP"/stats
    test_refused "echo" "$TMP"/vouch run -m "$model" -p x --spec echoo
}

test_group newcomers_take_one_file_and_one_line
