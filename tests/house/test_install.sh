#!/usr/bin/env bash
# `make install`, `make uninstall`, and the packages that `make test` installs.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

installed() { make -s install CC="$CC" BUILD="$BUILD" "$@" >"$TMP/log" 2>&1 || { cat "$TMP/log" && return 1; }; }

all_of_it_is_installed_and_removed() {
    local root=$TMP/root
    installed DESTDIR="$root" PREFIX=/opt/vouch
    cd "$root/opt/vouch"
    [ "$(bin/vouch --version)" = "vouch $(sed -n 's/^#define VOUCH_VERSION "\(.*\)"/\1/p' include/vouch.h)" ]
    for file in lib/libvouch.a lib/libvouch.so lib/pkgconfig/vouch.pc; do [ -s $file ]; done
    grep -q '^\.TH VOUCH 1' share/man/man1/vouch.1
    grep -q 'complete -F _vouch vouch' share/bash-completion/completions/vouch
    grep -q '^#compdef vouch' share/zsh/site-functions/_vouch
    grep -q '^complete -c vouch' share/fish/vendor_completions.d/vouch.fish
    cd - >/dev/null
    make -s uninstall DESTDIR="$root" PREFIX=/opt/vouch
    [ -z "$(find "$root" ! -type d)" ]
}

# The installed files have no symbol table unless STRIP= keeps it. The library still exports its functions.
binaries_are_stripped() {
    installed DESTDIR="$TMP/root"
    local prefix=$TMP/root/usr/local
    [ -z "$(nm "$prefix/bin/vouch" 2>/dev/null)" ]
    [ -z "$(nm "$prefix/lib/libvouch.so" 2>/dev/null)" ]
    nm -D "$prefix/lib/libvouch.so" | grep -q ' T vouch_version'
    installed DESTDIR="$TMP/root" STRIP=
    nm "$prefix/bin/vouch" | grep -q ' T main'
}

# After an installation with another prefix, the lines that it prints are enough to build and run a program.
another_prefix_says_what_it_needs() {
    local prefix=$TMP/prefix
    case $BUILD in release | gcc | clang) ;; *) test_skip "a program can't load an instrumented library" ;; esac
    command -v pkg-config >/dev/null || test_skip "no pkg-config"
    installed DESTDIR=/ PREFIX="$prefix"
    grep '^  export ' "$TMP/log" >"$TMP/environment"
    [ "$(wc -l <"$TMP/environment")" -eq 2 ]
    printf '#include <stdio.h>\n#include <vouch.h>\nint main(void) { return puts(vouch_version()) < 0; }\n' \
        >"$TMP/use.c"
    (
        # shellcheck source=/dev/null
        . "$TMP/environment"
        # shellcheck disable=SC2046
        $CC "$TMP/use.c" -o "$TMP/use" $(pkg-config --cflags --libs vouch)
        [ "vouch $("$TMP/use")" = "$(vouch --version)" ]
    )
}

# `make -n` and `make check` install nothing. `make test` first installs the missing packages, here a compiler.
only_a_target_installs_packages() {
    mkdir "$TMP/bin"
    printf '#!/bin/sh\necho called >>%s\nexit 1\n' "$TMP/calls" >"$TMP/bin/apt-get"
    cp "$TMP/bin/apt-get" "$TMP/bin/sudo"
    chmod +x "$TMP/bin/apt-get" "$TMP/bin/sudo"
    local make=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL PATH="$TMP/bin:$PATH" make CC=no-such-compiler BUILD=none)
    "${make[@]}" -n test >"$TMP/log" 2>&1 || true
    [ ! -e "$TMP/calls" ]
    grep -q 'scripts/install test' "$TMP/log"
    test_refused 'missing: gcc' "${make[@]}" check
    [ ! -e "$TMP/calls" ]
    if "${make[@]}" test >"$TMP/log" 2>&1; then return 1; fi
    [ -s "$TMP/calls" ]
    [ ! -e build/none ]
}

# `make run` names its steps, counts what it builds, and says what teaching heads needs where it can't install that.
make_run_counts() {
    mkdir -p "$TMP/scripts" "$TMP/build/release"
    cp scripts/run.sh "$TMP/scripts/"
    touch "$TMP/model.gguf"
    printf '#!/bin/sh\n[ "$*" != distill ]\n' >"$TMP/scripts/install"
    printf '#!/bin/sh\necho libopenblas-dev\n' >"$TMP/scripts/missing"
    printf '#!/bin/sh\necho answer: "$*"\n' >"$TMP/build/release/vouch"
    printf '%s\n' 'all: a b c' 'a b c:' "	@printf '  %-5s %s\\n' CC \$@" >"$TMP/Makefile"
    chmod +x "$TMP"/scripts/* "$TMP/build/release/vouch"
    MODEL=$TMP/model.gguf PROMPT=hello "$TMP/scripts/run.sh" >"$TMP/out" 2>"$TMP/err"
    for line in '1 of 4: packages' '2 of 4: build' '  3 of 3' '3 of 4: model' '4 of 4: answer' \
        '  vouch distill needs libopenblas-dev: install it and build again to teach heads; all else works'; do
        grep -qxF -- "$line" "$TMP/err" || { echo "no line '$line'" && cat "$TMP/err" && return 1; }
    done
    grep -q '^answer: run --model .*model.gguf --temp 0 --stats --prompt hello$' "$TMP/out"
    MODEL=$TMP/absent.gguf test_refused 'absent.gguf: no such file' "$TMP/scripts/run.sh"
}

test_group all_of_it_is_installed_and_removed binaries_are_stripped another_prefix_says_what_it_needs \
    only_a_target_installs_packages make_run_counts
