#!/usr/bin/env bash
# Cross-compiles test_kernels.c and test_scans.c for Arm and runs them in an emulator. They link only the C
# library; tests/arm replaces cmocka. The emulated processors have I8MM and dot product, dot product only, and neither.
# Another test checks that compiler flags wider than the baseline are refused.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

cross=aarch64-linux-gnu-gcc emulator=qemu-aarch64 programs='build/arm/kernels_alone build/arm/scans_alone'

compiler_is_there() { command -v $cross >/dev/null || test_skip "no $cross (package gcc-aarch64-linux-gnu)"; }

# Runs the tests that match the pattern (all by default) on an emulated processor whose widest kernel table must be
# `widest`: i8mm, dotprod or neon.
on_processor() { # name widest [pattern]
    [ "${VOUCH_TEST_TIER:-test}" != check ] || test_skip "takes minutes"
    compiler_is_there
    command -v $emulator >/dev/null || test_skip "no $emulator (package qemu-user)"
    # shellcheck disable=SC2086
    make -j2 BUILD=arm CC=$cross OPT=-O1 SAN= CFLAGS=-Itests/arm LDFLAGS=-static $programs
    VOUCH_TEST_FILTER='test_tables' $emulator -cpu "$1" build/arm/kernels_alone | grep "widest $2\$"
    for program in $programs; do
        VOUCH_TEST_FILTER=${3:-} $emulator -cpu "$1" "$program" >"$TMP/log" || { tail -5 "$TMP/log" && return 1; }
        grep -q ' OK .*same_everywhere' "$TMP/log"
    done
}

every_table_equals_the_reference() { on_processor max i8mm; }
the_dot_product_is_enough() { on_processor cortex-a76 dotprod '*same_everywhere'; }
older_processors_have_neon() { on_processor cortex-a72 neon '*same_everywhere'; }

compile_baseline() {
    $cross -include src/base/baseline.h -Iinclude -Isrc -std=c11 -D_GNU_SOURCE -fsyntax-only "$@" src/base/status.c
}

wider_flags_are_refused() {
    compiler_is_there
    compile_baseline
    test_refused march=native compile_baseline -march=armv8.2-a+dotprod
    compile_baseline -DVOUCH_ISA=82 -march=armv8.2-a+dotprod
    test_refused 'SVE or I8MM' compile_baseline -DVOUCH_ISA=82 -march=armv8.2-a+dotprod+i8mm
    test_refused 'SVE or I8MM' compile_baseline -march=armv8.2-a+sve
}

test_group every_table_equals_the_reference the_dot_product_is_enough older_processors_have_neon \
    wider_flags_are_refused
