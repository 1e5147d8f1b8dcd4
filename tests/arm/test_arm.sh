#!/usr/bin/env bash
# The kernels on emulated Arm processors, and the same bytes there as on this machine. `make test-arm` builds the
# programs and runs this. In the other tiers only one test runs: compiler flags wider than the baseline are refused.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

cross=aarch64-linux-gnu-gcc here=build/release there=build/emulated

# On the processor, the widest kernel table must be `widest`, and each table must give the bits of all systems.
on_processor() { # name widest
    export VOUCH_TEST_ARM=$1
    VOUCH_TEST_FILTER=test_tables $there/tests/test_kernels | grep "widest $2\$"
    for program in test_kernels test_scans; do
        VOUCH_TEST_FILTER='*same_everywhere' $there/tests/$program >"$TMP/log" || { cat "$TMP/log" && return 1; }
        grep -q ' OK .*same_everywhere' "$TMP/log"
    done
}

i8mm_is_the_widest() { on_processor max i8mm; }
the_dot_product_is_enough() { on_processor cortex-a76 dotprod; }
older_processors_have_neon() { on_processor cortex-a72 neon; }

# Writes tiny models into a folder, and beside them what the programs of a build make of them: digests of logits and
# memory for each family of models, and for three families 50 texts with and without guesses, logits, and smaller
# weights.
write_results() { # build folder
    local build=$PWD/$1 model
    local batch=("$build/vouch" batch --prompts ../prompts --draft-model none --ignore-eos --raw -n 16 -t 1)
    mkdir "$2"
    cd "$2"
    "$build/tests/test_archs" --digests >digests
    "$build/tests/test_mtp" --write .
    for model in deepseek2.gguf glm4moe.gguf qwen35.gguf; do
        "${batch[@]}" "$model" --spec none --out "$model.plain"
        "${batch[@]}" "$model" --spec ngram,suffix,head -k 3 --temp 1 --seed 7 --out "$model.sampled"
        "$build/vouch" logits "$model" --tokens "$(seq -s, 4 60)" --out "$model.npy"
        "$build/vouch" quantize "$model" "$model.q4_0" Q4_0 --allow-requantize
    done >../log 2>&1 || { tail -3 ../log && return 1; }
}

texts_logits_and_memory_are_the_same() {
    [ -x $here/tests/test_archs ] || test_skip "no programs for this machine: make tests"
    seq 50 | sed 's/.*/Name & rivers & &/' >"$TMP/prompts"
    (write_results $here "$TMP/here")
    (write_results $there "$TMP/there")
    diff -rq "$TMP/here" "$TMP/there"
    diff "$TMP/here/digests" "$TMP/there/digests"
    [ "$(wc -l <"$TMP/there/digests")" -gt 60 ]
    [ "$(cat "$TMP"/there/*.plain "$TMP"/there/*.sampled | sort -u | wc -l)" -eq 300 ]
}

compile_baseline() {
    $cross -include src/base/baseline.h -Iinclude -Isrc -std=c11 -D_GNU_SOURCE -fsyntax-only "$@" src/base/status.c
}

wider_flags_are_refused() {
    command -v $cross >/dev/null || test_skip "no $cross (package gcc-aarch64-linux-gnu)"
    compile_baseline
    test_refused march=native compile_baseline -march=armv8.2-a+dotprod
    compile_baseline -DVOUCH_ISA=82 -march=armv8.2-a+dotprod
    test_refused 'SVE or I8MM' compile_baseline -DVOUCH_ISA=82 -march=armv8.2-a+dotprod+i8mm
    test_refused 'SVE or I8MM' compile_baseline -march=armv8.2-a+sve
}

tests=(wider_flags_are_refused)
if [ "${VOUCH_TEST_TIER:-}" = arm ]; then
    tests+=(i8mm_is_the_widest the_dot_product_is_enough older_processors_have_neon
        texts_logits_and_memory_are_the_same)
fi
test_group "${tests[@]}"
