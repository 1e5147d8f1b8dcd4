#!/usr/bin/env bash
# The programs of bench that write a page: bench/papers (docs/papers.md), bench/study (docs/study.md), and bench/plot,
# which draws for the latter. Tiny models with random weights stand for real ones, and no time is judged.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

built() {
    local program
    for program in synthetic plot; do
        [ -x "build/$BUILD/bench/$program" ] || test_skip "build/$BUILD/bench/$program isn't built: make tests"
    done
}

# The text that a program wrote between its marks in a page.
text_of() { # program page
    sed "/^<!-- bench\/$1 begins -->\$/,/^<!-- bench\/$1 ends -->\$/!d" "$2" | sed '1d;$d'
}

# Law L1: the counts of fixed drafters are those of the machine that wrote them.
counts_equal_the_committed_ones() {
    built
    sed '0,/"accepted": [0-9]*/s//"accepted": 999/' bench/support/papers.json >"$TMP/wrong.json"
    cmp -s "$TMP/wrong.json" bench/support/papers.json && return 1
    check=(bench/papers --quick --check --state "$TMP/papers")
    test_refused 'committed .*999.*, measured ' "${check[@]}" --figures "$TMP/wrong.json"
    "${check[@]}" | grep 'every count equals the committed figures'
}

the_page_has_the_committed_counts() {
    bench/papers --page >"$TMP/text"
    text_of papers docs/papers.md | diff - "$TMP/text"
}

bad_arguments_are_refused() {
    test_refused 'missing.gguf: no such file' bench/papers --model "$TMP/missing.gguf"
    test_refused 'expected a number of at least 1' bench/papers --tokens 0
    test_refused 'leave out --prompts, --each and --tokens' bench/papers --check --each 2
    test_refused 'leave out --write' bench/papers --quick --check --write
    test_refused '--runs nonsense: expected names of rejection' bench/papers --quick --runs nonsense
    test_refused '--parts nonsense: expected names of types' bench/study --parts nonsense
    test_refused 'no figures to print' bench/papers --page --figures "$TMP/missing.json"
    test_refused 'no figures to compare' bench/papers --quick --check --figures "$TMP/missing.json" --state "$TMP"
    test_refused 'spec_bench.jsonl: no such file' bench/study --minutes 5 --prompts public --data "$TMP" --state "$TMP"
    test_refused 'missing.gguf: no such file' bench/study --model "$TMP/missing.gguf"
    test_refused 'measures too little for docs/study.md' bench/study --minutes 5 --write
    test_refused 'missing/vouch: no such file' bench/study --minutes 5 --vouch "$TMP/missing/vouch" --state "$TMP"
}

figures_are_drawn() {
    built
    plot=build/$BUILD/bench/plot
    "$plot" <<<'{"title": "t & n", "names": ["a", "<b>"], "x": [1, 2], "y": [[1, 2], [null, 3]]}' >"$TMP/lines.svg"
    grep -q 't &amp; n' "$TMP/lines.svg"
    grep -q '&lt;b&gt;' "$TMP/lines.svg"
    [ "$(grep -c '<circle' "$TMP/lines.svg")" = 3 ]
    "$plot" <<<'{"title": "t", "names": ["a", "b"], "values": [1.5, null], "unit": "x"}' >"$TMP/bars.svg"
    grep -q '1.50x' "$TMP/bars.svg"
    python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' "$TMP"/*.svg
    test_refused 'expected "names"' "$plot" <<<'{}'
    test_refused 'a row of "y" for each name' "$plot" <<<'{"names": ["a"], "x": [1], "y": []}'
    test_refused 'as many numbers as x' "$plot" <<<'{"names": ["a"], "x": [1], "y": [[1, 2]]}'
    test_refused 'plot: standard input' "$plot" <<<'{"names":'
}

# Points that are there, which is those of other tries too.
points() { find "$TMP/study" -name '*-????????????.json' 2>/dev/null | wc -l; }

# Killed in the middle, the study keeps its points. The page has all parts, and energy where the system tells it.
the_study_goes_on_after_a_kill() {
    [ "${VOUCH_TEST_TIER:-test}" != check ] || test_skip "slow; make test runs it"
    built
    mkdir -p "$TMP/power/intel-rapl:0" "$TMP/cache"
    echo 5000000 | tee "$TMP/power/intel-rapl:0/energy_uj" >"$TMP/power/intel-rapl:0/max_energy_range_uj"
    export XDG_CACHE_HOME=$TMP/cache
    study=(bench/study --minutes 5 --prompts own --state "$TMP/study" --powercap "$TMP/power")
    "${study[@]}" >/dev/null 2>&1 &
    killed=$!
    while kill -0 $killed 2>/dev/null && [ "$(points)" -lt 3 ]; do sleep 0.1; done
    kill -KILL $killed 2>/dev/null || true
    wait $killed || true
    kept=$(points)
    [ "$kept" -ge 3 ]
    "${study[@]}" >"$TMP/out"
    [ "$(sed -E 's/.* ([0-9]+) kept.*/\1/' "$TMP/out")" -ge "$kept" ]
    text_of study "$TMP/study/study.md" >"$TMP/text"
    for part in 't(n) by weight type' 't(n) by instruction set' 't(n) by threads' 't(n) by size' \
        'Acceptance by drafter, category and temperature' 'What .auto. gains over plain decoding' Energy; do
        grep -q "^## $part\$" "$TMP/text" || { echo "no part $part" && return 1; }
    done
    grep -q '^| a tiny model with random weights | 0.000 | 0.000 |$' "$TMP/text"
    grep -oE 'study/[^)]*\.svg' "$TMP/text" >"$TMP/plots"
    [ "$(wc -l <"$TMP/plots")" = 6 ]
    (cd "$TMP/study" && xargs python3 -c 'import sys, xml.dom.minidom as m; [m.parse(f) for f in sys.argv[1:]]' \
        <"$TMP/plots")
    [ "$(grep -c '^Measured on \|^Each time is the minimum of ' "$TMP/text")" -ge 6 ]
    "${study[@]}" --powercap "$TMP/nothing" | grep -q ' 0 points measured'
    grep -q "This machine tells no energy: $TMP/nothing has no counter" "$TMP/study/study.md"
}

# Told to end, a program of bench takes its command with it.
commands_end_with_the_program() {
    printf '#!/bin/sh\nsleep 60\nexit 0\n' >"$TMP/endless"
    chmod +x "$TMP/endless"
    python3 bench/study --minutes 5 --prompts own --state "$TMP/ended" --vouch "$TMP/endless" >/dev/null 2>&1 &
    told=$!
    # The study's first command.
    commands() { for each in /proc/[0-9]*; do tr '\0' ' ' <"$each/cmdline"; echo; done 2>/dev/null |
        grep -c "$TMP/[e]ndless info --machine"; }
    until [ "$(commands)" -gt 0 ]; do kill -0 $told && sleep 0.05; done
    kill -TERM $told
    status=0
    wait $told || status=$?
    [ $status = 143 ]
    [ "$(commands)" = 0 ]
}

test_group counts_equal_the_committed_ones the_page_has_the_committed_counts bad_arguments_are_refused \
    figures_are_drawn the_study_goes_on_after_a_kill commands_end_with_the_program
