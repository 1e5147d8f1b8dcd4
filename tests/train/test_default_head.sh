#!/usr/bin/env bash
# The default model's head and table in models/, and the prompts that it learns from (scripts/head_prompts.py).
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Stands for the texts of `vouch batch`: an article that begins to repeat itself, and a list of tasks that was cut off.
texts_write() {
    local article
    article=$(printf 'word%s ' $(seq 70))"end. It rained. It rained. Then more."
    cat >"$TMP/texts" <<END
{"id": "tasks 0", "finish": "length",
 "text": " Name three rivers of Asia.\n5. Short\n6. Describe a quiet street.\n7. Cut off in the mid"}
{"id": "article 1", "finish": "eos", "text": " $article"}
END
    sed -i 'N;s/,\n/,/;P;D' "$TMP/texts" # one object a line
}

lessons() { # number, arguments
    scripts/head_prompts.py lessons "$@" --texts "$TMP/texts"
}

lacks() { # pattern
    if grep "$1" "$TMP/prompts"; then return 1; fi
}

every_kind_is_there() {
    local kind
    texts_write
    lessons 400 >"$TMP/prompts"
    [ "$(wc -l <"$TMP/prompts")" = 400 ]
    for kind in mathematics code chat questions summaries free; do
        grep -q "\"category\": \"$kind\"" "$TMP/prompts"
    done
    [ "$(sort "$TMP/prompts" | uniq -d | wc -l)" = 0 ]
    lacks '{[a-z]*[0-9]*}' # no field is left
}

the_same_arguments_give_the_same_prompts() {
    texts_write
    lessons 300 >"$TMP/one"
    lessons 300 | cmp - "$TMP/one"
    lessons 200 | cmp - <(head -200 "$TMP/one")
    lessons 300 --seed 2 >"$TMP/two"
    [ "$(sort "$TMP/one" "$TMP/two" | uniq -d | wc -l)" -lt 30 ]
    scripts/head_prompts.py material 60 >"$TMP/more"
    scripts/head_prompts.py material 30 | cmp - <(head -30 "$TMP/more")
}

texts_of_the_target_are_cut_up() {
    texts_write
    lessons 500 >"$TMP/prompts"
    grep -q 'Name three rivers of Asia' "$TMP/prompts"
    grep -q 'Describe a quiet street' "$TMP/prompts"
    lacks 'Short"'
    lacks 'Cut off in'
    grep -q 'word70 end. It rained' "$TMP/prompts"
    lacks 'It rained. It rained'
}

# By the rule of train/lessons/overlap.h: 8 words in a row.
no_prompt_is_a_benchmarks() {
    local data=${VOUCH_DATA:-}/prompts
    [ -d "$data" ] || test_skip "no folder prompts in VOUCH_DATA"
    texts_write
    lessons 5000 >"$TMP/prompts"
    ${PYTHON:-python3} - "$TMP/prompts" "$data"/*.jsonl <<'END'
import json, re, sys

def runs(text):
    words = re.findall(r"(?:[a-z0-9]|[^\x00-\x7f])+", text.lower())
    return {tuple(words[i:i + 8]) for i in range(len(words) - 7)}

def prompts(path):
    with open(path, encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            yield from record.get("turns") or [record.get("prompt") or record.get("question")]

known = set()
for path in sys.argv[2:]:
    for text in prompts(path):
        known |= runs(text)
assert len(known) > 10000
for text in prompts(sys.argv[1]):
    assert not runs(text) & known, text
assert all(runs(text) & known for text in prompts(sys.argv[2]))  # a benchmark's own prompt is noticed
END
}

# Sets `model`, and `ask`: the arguments of an answer. Skips the test without the model.
default_model_find() {
    model=${XDG_CACHE_HOME:-$HOME/.cache}/vouch/SmolLM2-135M-Instruct.Q4_1.gguf
    [ -f "$model" ] || test_skip "no model"
    ask=(run --model "$model" --prompt "A bag holds 12 pens. How many pens are in 7 bags? Explain." -n 80 --temp 0)
}

# At most 10 MB, right more often than one time in five, and the text stays the model's own (law L2).
the_head_guesses_for_the_default_model() {
    local head=models/SmolLM2-135M-Instruct.head.gguf model ask
    [ "$(stat -c %s "$head")" -le 10000000 ]
    default_model_find
    "build/$BUILD/vouch" "${ask[@]}" --spec none >"$TMP/plain"
    "build/$BUILD/vouch" "${ask[@]}" --head "$head" --spec head -k 1 --stats-json "$TMP/stats" >"$TMP/with"
    cmp "$TMP/plain" "$TMP/with"
    ${PYTHON:-python3} -c 'import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["accepted"] > 0.2 * stats["drafted"] > 0, stats' "$TMP/stats"
}

# At most 10 MB, a guess right in one of five cycles at least, and the text stays the model's own (law L2).
the_table_guesses_for_the_default_model() {
    local table=models/SmolLM2-135M-Instruct.table.gguf model ask
    [ "$(stat -c %s "$table")" -le 10000000 ]
    default_model_find
    "build/$BUILD/vouch" "${ask[@]}" --spec none >"$TMP/plain"
    "build/$BUILD/vouch" "${ask[@]}" --draft-table "$table" --spec table -k 4 --stats-json "$TMP/stats" >"$TMP/with"
    cmp "$TMP/plain" "$TMP/with"
    ${PYTHON:-python3} -c 'import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["accepted"] > 0.2 * stats["cycles"] > 0, stats' "$TMP/stats"
}

test_group every_kind_is_there the_same_arguments_give_the_same_prompts texts_of_the_target_are_cut_up \
    no_prompt_is_a_benchmarks the_head_guesses_for_the_default_model the_table_guesses_for_the_default_model
