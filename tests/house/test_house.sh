#!/usr/bin/env bash
# Checks that a C program can't make: exported names, whether the public header compiles alone, refused compiler flags,
# includes between rooms, names in comments and documents, installation. Each check also runs on a tree, file or library
# that breaks its rule, and must fail.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# ------------------------------------------------------------------ names

declared() { sed -n 's/^VOUCH_API .*\b\(vouch_[a-z_0-9]*\)(.*/\1/p' include/vouch.h | sort; }

# The library must export exactly the functions that vouch.h declares. Names that sanitizers and coverage add are
# ignored.
exports_match() { # library
    local exported
    exported=$(nm -D --defined-only "$1" | awk '{print $NF}' |
        grep -vE '^(__|_)|^(mangle_path|lprofMergeValueProfData)$' | sort)
    diff <(declared) <(echo "$exported")
}

shared_library_exports_the_header() {
    exports_match "build/$BUILD/libvouch.so"
    { declared | sed 's/.*/void &(void); void &(void) {}/' &&
        echo 'void vouch_secret(void); void vouch_secret(void) {}'; } >"$TMP/more.c"
    $CC -shared -fPIC -o "$TMP/more.so" "$TMP/more.c"
    test_refused '> vouch_secret' exports_match "$TMP/more.so"
}

prefixed() { # archive
    local names
    names=$(nm --defined-only -g "$1" 2>/dev/null | awk 'NF == 3 {print $3}' | grep -vE '^(vouch_|__|_|\.)' || true)
    [ -z "$names" ] || { echo "without the prefix: $names" && return 1; }
}

archive_names_have_the_prefix() {
    prefixed "build/$BUILD/libvouch.a"
    echo 'void helper(void); void helper(void) {}' >"$TMP/bad.c"
    $CC -c -o "$TMP/bad.o" "$TMP/bad.c"
    ar rcs "$TMP/bad.a" "$TMP/bad.o"
    test_refused 'prefix: helper' prefixed "$TMP/bad.a"
}

soname_is_linked() {
    local so=build/$BUILD/libvouch.so
    readelf -d "$so" | grep -q 'soname: \[libvouch.so.[0-9]*\]'
    [ "$(basename "$(readlink -f "$so")")" = \
        "libvouch.so.$(sed -n 's/^#define VOUCH_VERSION "\(.*\)"/\1/p' include/vouch.h)" ]
}

# ------------------------------------------------------------------ compiling

strict="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude"

header_compiles_alone_as_c() {
    for standard in c11 c17; do
        # shellcheck disable=SC2086
        echo '#include <vouch.h>' | $CC -std=$standard $strict -x c -
    done
}

header_compiles_alone_as_cxx() {
    echo 'int main() {}' | $CC -x c++ -fsyntax-only - 2>/dev/null || test_skip "no C++ compiler"
    for standard in c++11 c++17; do
        # shellcheck disable=SC2086
        printf '#include <vouch.h>\nint main() { return vouch_status_text(VOUCH_OK) == nullptr; }\n' |
            $CC -std=$standard $strict -x c++ -
    done
}

compile_example() { # file; every warning is an error
    # shellcheck disable=SC2086
    $CC -std=c11 $strict "$1"
}

# Each C block of the README must compile as a program.
readme_examples_compile() {
    awk -v name="$TMP/block" \
        '/^```c$/ {inside = 1; n++; next} /^```$/ {inside = 0} inside {print >(name n ".c")}' README.md
    for block in "$TMP"/block*.c; do compile_example "$block"; done
    sed 's/vouch_session_step/vouch_session_leap/' "$TMP/block1.c" >"$TMP/renamed.c"
    test_refused vouch_session_leap compile_example "$TMP/renamed.c"
}

readme_example_names_what_it_needs() {
    case $BUILD in asan | ubsan | tsan | cover) test_skip "linking an instrumented library needs its flags" ;; esac
    local libs
    libs=$(pkg-config --libs libpcre2-8 libutf8proc jansson 2>/dev/null || echo -lpcre2-8 -lutf8proc -ljansson)
    awk '/^```c$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md >"$TMP/rivers.c"
    # shellcheck disable=SC2086
    $CC -Iinclude -pthread -o "$TMP/rivers" "$TMP/rivers.c" "build/$BUILD/libvouch.a" $libs -lm
    test_refused 'usage: rivers MODEL.gguf' "$TMP/rivers"
    test_refused '/nowhere.gguf: ' "$TMP/rivers" /nowhere.gguf
}

# The example at the head of vouch.h must compile.
header_example_compiles() {
    {
        printf '#include <stdio.h>\n#include <stdlib.h>\n#include <vouch.h>\n'
        printf 'static void die(const char *message) { puts(message), exit(1); }\nint main(void)\n{\n'
        sed -n '/^ \*   vouch_error err;$/,/^ \*   vouch_model_close(model);$/s/^ \*   //p' include/vouch.h
        printf 'return 0;\n}\n'
    } >"$TMP/example.c"
    grep -q vouch_session_step "$TMP/example.c"
    compile_example "$TMP/example.c"
}

# The command must know every flag that the README mentions, except flags of other programs, which are listed here.
readme_flags_exist() {
    local flags="$TMP/flags" command
    for command in run batch serve distill bench check analyze info tokenize perplexity logits quantize convert; do
        "build/$BUILD/vouch" "$command" --help
    done |
        grep -o -- '--[a-z-]*' | sort -u >"$flags"
    sh install.sh --help | grep -o -- '--[a-z-]*' >>"$flags"
    printf -- '--cflags\n--libs\n' >>"$flags"
    unknown_flags() { grep -o -- '--[a-z][a-z-]*' "$1" | sort -u | grep -vxFf "$flags"; }
    [ -z "$(unknown_flags README.md)" ] || { unknown_flags README.md && return 1; }
    echo "with --warp 9" >"$TMP/other.md"
    [ "$(unknown_flags "$TMP/other.md")" = --warp ]
}

compile_baseline() {
    $CC -include src/base/baseline.h -Iinclude -Isrc -std=c11 -D_GNU_SOURCE -fsyntax-only "$@" src/base/status.c
}

wider_flags_are_refused() {
    compile_baseline
    test_refused ffast-math compile_baseline -ffast-math
    case $($CC -dumpmachine) in x86_64*) ;; *) return 0 ;; esac
    test_refused march=native compile_baseline -mavx
    test_refused march=native compile_baseline -march=haswell
    compile_baseline -DVOUCH_ISA=2 -mavx2
    test_refused AVX-512 compile_baseline -DVOUCH_ISA=2 -mavx512f
}

# ------------------------------------------------------------------ rooms

# A tree of one folder, or of those given, with a line added to a file.
broken_tree() { # file line [folder...]
    local file=$1 line=$2
    shift 2
    [ $# -gt 0 ] || set -- "$(dirname "$file")"
    rm -rf "$TMP/tree"
    mkdir "$TMP/tree"
    cp -r --parents "$@" "$TMP/tree"
    echo "$line" >>"$TMP/tree/$file"
}

rooms_look_one_way() {
    tests/house.sh
    broken_tree src/base/status.c '#include "format/gguf.h"'
    test_refused 'base includes format/gguf.h: looks up' tests/house.sh "$TMP/tree"
    broken_tree os/linux.c '#include "base/pool.h"'
    test_refused 'os includes its own headers only' tests/house.sh "$TMP/tree"
    broken_tree os/macos.c '#include "tool/text.h"'
    test_refused 'os/macos.c.*os includes its own headers only' tests/house.sh "$TMP/tree"
    broken_tree src/base/status.c '#ifdef __APPLE__'
    test_refused 'only os asks which system it is' tests/house.sh "$TMP/tree"
    broken_tree src/base/status.c '#include <TargetConditionals.h>'
    test_refused 'only os asks which system it is' tests/house.sh "$TMP/tree"
    broken_tree src/base/status.c '#ifdef _WIN32'
    test_refused 'only os asks which system it is' tests/house.sh "$TMP/tree"
    broken_tree tests/os/test_os.c 'static char path[PATH_MAX];'
    test_refused 'test_os.c:.*VOUCH_OS_PATH_SIZE' tests/house.sh "$TMP/tree"
    for call in 'access(path, 0)' 'unlink(path)' 'remove(path)' 'fopen(path, "r")' 'nftw(path, visit, 16, 0)'; do
        broken_tree src/format/json.c "static int f(void) { return $call; }"
        test_refused 'json.c:.*UTF-8' tests/house.sh "$TMP/tree"
        broken_tree cli/main.c "static int f(void) { return !$call; }"
        test_refused 'main.c:.*UTF-8' tests/house.sh "$TMP/tree"
    done
    broken_tree src/model/pass/forward.c '#include "sample/sample.h"'
    test_refused 'looks up' tests/house.sh "$TMP/tree"
    broken_tree src/text/bpe.c '#include "server/http/http.h"'
    test_refused 'not a room' tests/house.sh "$TMP/tree"
    broken_tree cli/main.c '#include "base/memory.h"'
    test_refused 'vouch.h only' tests/house.sh "$TMP/tree"
    broken_tree server/work/job.c '#include "engine/session.h"'
    test_refused 'server sees vouch.h' tests/house.sh "$TMP/tree"
    broken_tree bits/models.c '#include "cli/cli.h"'
    test_refused 'bits includes cli/cli.h' tests/house.sh "$TMP/tree"
    broken_tree cli/check/check.c '#include "bits/tiny.h"'
    test_refused 'vouch.h only' tests/house.sh "$TMP/tree"
    broken_tree train/network/ops.c '#include "engine/file/model.h"'
    test_refused 'train includes engine/file/model.h' tests/house.sh "$TMP/tree"
    broken_tree cli/main.c '#include "train/distill.h"'
    test_refused 'vouch.h only' tests/house.sh "$TMP/tree"
}

# A file by itself is no circle, nor are two ways to the same file.
includes_make_no_circle() {
    broken_tree src/base/status.h '#include "base/pool.h"'
    test_refused 'a circle: src/base/[a-z]* includes src/base/[a-z]* includes src/base' tests/house.sh "$TMP/tree"
    broken_tree tool/text.h '#include "tool/term.h"'
    test_refused 'a circle: tool/' tests/house.sh "$TMP/tree"
    broken_tree src/text/bpe.c '#include "text/bpe.c"'
    tests/house.sh "$TMP/tree"
    broken_tree src/base/one.h '#include "base/two.h"'
    echo '#include "base/three.h"' >"$TMP/tree/src/base/two.h"
    tests/house.sh "$TMP/tree"
    mkdir "$TMP/tree/src/base/deep"
    echo '#include "base/deep/four.h"' >"$TMP/tree/src/base/three.h"
    echo '#include "base/one.h"' >"$TMP/tree/src/base/deep/four.c"
    touch "$TMP/tree/src/base/deep/four.h"
    test_refused 'src/base/one includes src/base/two includes src/base/three includes src/base/deep/four' \
        tests/house.sh "$TMP/tree"
}

folders_make_no_circle() {
    broken_tree src/model/layer.h '#include "model/stage/stream.h"' src/model
    test_refused 'a circle: src/model.* includes src/model' tests/house.sh "$TMP/tree"
    broken_tree tool/text.h '#include "report/rates.h"' tool cli/report
    test_refused 'a circle: .*cli/report' tests/house.sh "$TMP/tree"
}

floors_have_24_files() {
    broken_tree src/base/status.h ''
    tests/house.sh "$TMP/tree"
    for i in {1..24}; do touch "$TMP/tree/src/base/more$i.h"; done
    test_refused 'src/base: [0-9]* source files on one floor' tests/house.sh "$TMP/tree"
}

library_does_not_print_exit_or_look_around() {
    for call in 'printf("x")' 'exit(1)' 'abort()' 'getenv("HOME")' 'fprintf(stderr, "x")'; do
        broken_tree src/base/pool.c "static void f(void) { $call; }"
        test_refused 'pool.c:.*does not print' tests/house.sh "$TMP/tree"
    done
    mkdir "$TMP/tree/src/base/deep"
    mv "$TMP/tree/src/base/pool.c" "$TMP/tree/src/base/deep"
    test_refused 'deep/pool.c:.*does not print' tests/house.sh "$TMP/tree"
    # snprintf doesn't print, and a mention in a comment is no call.
    broken_tree src/base/pool.c 'static void f(char *s) { snprintf(s, 2, "x"); }'
    echo '/* like printf(3), or exit(3) */' >>"$TMP/tree/src/base/pool.c"
    tests/house.sh "$TMP/tree"
}

# A character counts once, however many bytes it has.
lines_have_120_characters() {
    local line
    line=$(printf '=%.0s' {1..113})
    broken_tree src/base/pool.c "/* $line= */"
    tests/house.sh "$TMP/tree"
    broken_tree src/base/pool.c "/* ─${line/=/}─ */"
    tests/house.sh "$TMP/tree"
    broken_tree src/base/pool.c "/* $line== */"
    test_refused 'src/base/pool.c:[0-9]*: a line of more than 120 characters' tests/house.sh "$TMP/tree"
}

# ------------------------------------------------------------------ names

# Comments, messages and documents name files, flags and functions that exist.
named_things_exist() {
    tests/names.sh
    cat >"$TMP/a.c" <<'EOF'
/* see base/spool.h */
// tests/test_nothing*.c
/* freed by vouch_model_shut */
/* after cli_flags_prase() */
/* a VOUCH_KERNAL_ constant */
EOF
    echo '# as judge_nothing() does' >"$TMP/a.sh"
    cat >"$TMP/a.md" <<'EOF'
with --warp 9
in src/nowhere
[there](docs/nowhere.md)
[there](docs/guide.md#nowhere)
EOF
    printf '# a file that was renamed\nuninitvar:src/decode/reject.c\n' >"$TMP/.cppcheck"
    cat >"$TMP/expected" <<'EOF'
.cppcheck:2: src/decode/reject.c
a.c:1: base/spool.h
a.c:2: tests/test_nothing*.c
a.c:3: vouch_model_shut
a.c:4: cli_flags_prase
a.c:5: VOUCH_KERNAL_
a.md:1: --warp
a.md:2: src/nowhere
a.md:3: docs/nowhere.md
a.md:4: docs/guide.md#nowhere
a.sh:1: judge_nothing
EOF
    if tests/names.sh "$TMP/.cppcheck" "$TMP/a.c" "$TMP/a.sh" "$TMP/a.md" >"$TMP/found"; then return 1; fi
    diff "$TMP/expected" <(sed 's|^.*/\(a*\.[a-z]*:[0-9]*: .*\) does not exist$|\1|' "$TMP/found" | LC_ALL=C sort -u)
    mkdir -p "$TMP/known"
    cat >"$TMP/known/a.c" <<'EOF'
/* base/pool.h, pool.c, tests/format/test_gguf*.c, src/draft/NAME.c, bench/kernels, build/release/bench/kernels:
 * vouch_session_step(), vouch_arch_NAME, VOUCH_FINISH_, with --spec and --roofline */
static const char *text = "vouch_model_shut in a string";
EOF
    echo '[there](docs/guide.md#many-prompts) --tree takes [text](https://example.org)' >"$TMP/known/a.md"
    tests/names.sh "$TMP/known/a.c" "$TMP/known/a.md"
}

# ------------------------------------------------------------------ the format

tree_is_formatted() {
    [ "$VOUCH_TEST_TIER" != check ] || test_skip "runs in the tier test"
    scripts/format.sh find >/dev/null 2>&1 || test_skip "no clang-format 19"
    scripts/format.sh check || { echo "make format mends it" && return 1; }
    mkdir "$TMP/src"
    cp .clang-format "$TMP"
    printf 'int f(void)\n{\n    return 1;\n}\n' >"$TMP/src/a.c"
    scripts/format.sh check "$TMP"
    sed -i 's/return 1/return  1/' "$TMP/src/a.c"
    test_refused 'return  1' scripts/format.sh check "$TMP"
}

# ------------------------------------------------------------------ linters

# Without clang's analyser, which takes too long; `make lint` runs it, too.
linters_find_nothing() {
    [ "$VOUCH_TEST_TIER" != check ] || test_skip "runs in the tier test"
    scripts/lint.sh find >/dev/null 2>&1 || test_skip "no clang-tidy 14, cppcheck 2.10 or shellcheck"
    [ -z "$(scripts/missing test distill)" ] || test_skip "no headers of $(scripts/missing test distill)"
    scripts/lint.sh quick
    mkdir "$TMP/tool" "$TMP/tests"
    cp .clang-tidy "$TMP"
    echo 'int one(void) { return 1; }' >"$TMP/tool/a.c"
    scripts/lint.sh quick "$TMP"
    printf '#include <stdlib.h>\nint one(const char *s) { return atoi(s); }\n' >"$TMP/tool/a.c"
    test_refused 'a.c:2:.*cert-err34-c' scripts/lint.sh quick "$TMP"
    echo 'int one(void) { int a[1]; a[0] = 1; return a[1]; }' >"$TMP/tool/a.c"
    test_refused 'a.c:1:.*arrayIndexOutOfBounds' scripts/lint.sh quick "$TMP"
    echo 'int one(void) { return 1; }' >"$TMP/tool/a.c"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nrm -rf $1\n' >"$TMP/tests/a.sh"
    test_refused 'SC2086' scripts/lint.sh quick "$TMP"
}

# ------------------------------------------------------------------ make

missing_packages_are_named() {
    # pkg-config and the compiler always fail, as if no package were installed.
    printf '#!/bin/sh\nexit 1\n' >"$TMP/cc"
    ln -s cc "$TMP/pkg-config"
    chmod +x "$TMP/cc"
    local all='libpcre2-dev libutf8proc-dev libjansson-dev libedit-dev libmicrohttpd-dev libcurl4-openssl-dev'
    test_refused "missing: .*$all libcmocka-dev" \
        env PATH="$TMP:$PATH" make --no-print-directory BUILD=none CC="$TMP/cc" check
    test_refused 'missing: .*libjansson-dev libcmocka-dev' \
        env PATH="$TMP:$PATH" make --no-print-directory BUILD=none CC="$TMP/cc" EDITLINE=0 SERVER=0 HUB=0 check
    printf '#!/bin/sh\necho Darwin\n' >"$TMP/uname"
    chmod +x "$TMP/uname"
    test_refused 'On a Mac:  brew install .*pcre2 utf8proc jansson libedit libmicrohttpd curl cmocka' \
        env PATH="$TMP:$PATH" make --no-print-directory BUILD=none CC="$TMP/cc" check
    [ ! -e build/none ]
}

install_gives_a_working_library() {
    case $BUILD in asan | ubsan | tsan | cover) test_skip "an instrumented library is not installed" ;; esac
    make --no-print-directory BUILD="$BUILD" DESTDIR="$TMP/root" PREFIX=/opt/v install >"$TMP/log" ||
        { cat "$TMP/log" && return 1; }
    "$TMP/root/opt/v/bin/vouch" --help >/dev/null
    export PKG_CONFIG_PATH=$TMP/root/opt/v/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=
    pkg-config --exists vouch 2>/dev/null || test_skip "no pkg-config"
    local to="$TMP/root/opt/v"
    # shellcheck disable=SC2046
    $CC -o "$TMP/shared" examples/generate.c $(pkg-config --define-variable=prefix="$to" --cflags --libs vouch)
    LD_LIBRARY_PATH=$to/lib ldd "$TMP/shared" | grep -q "libvouch.so.[0-9]* => $to"
    mkdir "$TMP/static"
    mv "$to"/lib/libvouch.a "$TMP/static"
    # shellcheck disable=SC2046
    $CC -o "$TMP/archived" examples/generate.c -L"$TMP/static" \
        $(pkg-config --define-variable=prefix="$to" --static --cflags --libs vouch | sed "s|-L$to/lib||")
    if ldd "$TMP/archived" | grep libvouch; then return 1; fi
    make --no-print-directory BUILD="$BUILD" DESTDIR="$TMP/root" PREFIX=/opt/v uninstall >/dev/null
    [ -z "$(find "$TMP/root" ! -type d)" ]
}

test_group shared_library_exports_the_header archive_names_have_the_prefix soname_is_linked \
    header_compiles_alone_as_c header_compiles_alone_as_cxx readme_examples_compile \
    readme_example_names_what_it_needs header_example_compiles \
    readme_flags_exist wider_flags_are_refused rooms_look_one_way includes_make_no_circle \
    folders_make_no_circle floors_have_24_files \
    library_does_not_print_exit_or_look_around lines_have_120_characters named_things_exist tree_is_formatted \
    linters_find_nothing \
    missing_packages_are_named \
    install_gives_a_working_library
