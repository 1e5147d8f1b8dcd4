#!/usr/bin/env bash
# Runs fuzz targets one after the other:  tests/fuzz/run.sh build/fuzz fuzz_gguf ...
#
# Each runs for FUZZ_SECONDS (60). Its corpus stays in build/fuzz/corpus/TARGET, so the next run goes on from there.
# build/fuzz/executions/TARGET has the number of its executions in all runs. Inputs that crash it go to
# build/fuzz/found/.
set -u
# Short stacks of allocations, for speed. To see whole ones, run the target with the input that was found.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16}
build=$1
shift
here=$(dirname "$0")
mkdir -p "$build/found" "$build/executions"
bad=
for name in "$@"; do
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    case $name in
    fuzz_gguf)
        "$build/tests/fuzz/seed_gguf" "$corpus"
        options="-max_len=4096 -dict=$here/gguf.dict"
        ;;
    fuzz_model)
        "$build/tests/fuzz/seed_model" "$corpus"
        options="-max_len=131072 -dict=$here/gguf.dict"
        ;;
    fuzz_jinja | fuzz_calls | fuzz_grammar)
        "$build/tests/fuzz/seed_texts" "$name" "$corpus"
        options="-max_len=1024 -dict=$here/${name#fuzz_}.dict" # longer texts are slower and find no more
        ;;
    *) options="-max_len=2048" ;;
    esac
    log=$build/$name.log
    # shellcheck disable=SC2086
    if "$build/tests/fuzz/$name" $options -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="$build/found/$name-" "$corpus" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        total=$(($(cat "$build/executions/$name" 2>/dev/null || echo 0) + runs))
        echo "$total" >"$build/executions/$name"
        printf '%-16s %s runs in %s s, %s in all, no finding\n' "$name" "$runs" "${FUZZ_SECONDS:-60}" "$total"
    else
        printf '%-16s FINDING, see %s:\n' "$name" "$log"
        tail -40 "$log"
        bad=1
    fi
done
[ -z "$bad" ]
