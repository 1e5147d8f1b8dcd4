#!/usr/bin/env bash
# Compiles and links the command and the unit tests for Macs with processors of Arm and of Intel, without warnings. zig
# has the list of the symbols of macOS, and refuses others. Nothing runs: that takes a Mac.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

zig=build/zig/bin/zig

zig_is_there() {
    [ "${VOUCH_TEST_TIER:-test}" != check ] || test_skip "takes minutes"
    [ -x $zig ] || test_skip "no zig: make macos gets it"
}

# Prints the processor, the oldest macOS, the libraries and the signature of a program.
headers() { # program
    python3 - "$1" <<'END'
import struct, sys
code = open(sys.argv[1], "rb").read()
magic, processor, _, _, n = struct.unpack_from("<5I", code)
assert magic == 0xFEEDFACF, "not a 64-bit Mach-O file"
print({0x100000C: "arm64", 0x1000007: "x86_64"}[processor])
at = 32
for _ in range(n):
    command, size = struct.unpack_from("<2I", code, at)
    if command == 0x32:
        _, oldest = struct.unpack_from("<2I", code, at + 8)
        print("macOS", oldest >> 16)
    if command == 0xC:
        print(code[at + struct.unpack_from("<I", code, at + 8)[0]:at + size].split(b"\0")[0].decode())
    if command == 0x1D:
        print("signed")
    at += size
END
}

builds_for() { # target
    zig_is_there
    [ -e "build/libraries/$1/versions" ] || test_skip "no libraries for $1: make $1 builds them"
    command -v python3 >/dev/null || test_skip "no python3"
    env -u BUILD -u CC -u MAKELEVEL -u MAKEFLAGS make --no-print-directory WERROR=1 ALSO=test-programs "$1" \
        >"$TMP/log" 2>&1 || { tail -n 20 "$TMP/log" && return 1; }
    local program n=0 signed=''
    for program in "build/$1/vouch" "build/$1"/tests/test_*; do
        case $program in *.*) continue ;; esac
        headers "$program" | sort -u >"$TMP/headers"
        # An Intel Mac runs programs without a signature.
        case $1 in *-arm64) signed=signed ;; *) sed -i /signed/d "$TMP/headers" ;; esac
        printf '%s\n' /usr/lib/libSystem.B.dylib "${1#macos-}" 'macOS 11' ${signed:+signed} | sort |
            diff - "$TMP/headers"
        n=$((n + 1))
    done
    [ $n -gt 60 ]
}

builds_for_arm() { builds_for macos-arm64; }
builds_for_intel() { builds_for macos-x86_64; }

compile() { # flags
    $zig cc -target aarch64-macos.11.0 -std=c11 -Wall -Werror "$@"
}

other_functions_are_refused() {
    zig_is_there
    echo 'int nowhere(void); int main(void) { return nowhere(); }' >"$TMP/a.c"
    compile -c -o "$TMP/a.o" "$TMP/a.c"
    test_refused 'undefined symbol: _nowhere' compile -o "$TMP/a" "$TMP/a.o"
    echo '#include <sys/stat.h>
        int main(void) { return mkfifoat(0, "a", 0600); }' >"$TMP/a.c"
    test_refused 'only available on macOS 13' compile -c -o "$TMP/a.o" "$TMP/a.c"
}

test_group builds_for_arm builds_for_intel other_functions_are_refused
