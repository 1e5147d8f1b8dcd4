#!/usr/bin/env bash
# `make head`: makes a head and a table of next tokens for the default model and puts them into models/.
#
# The work lies in build/head/ and goes on where an earlier run ended. TOKENS=2000000 is the number of tokens that the
# head learns from. VOUCH_DATA is a folder whose prompts/*.jsonl must stay out of the lessons.
set -eu -o pipefail
cd "$(dirname "$0")/.."
name=SmolLM2-135M-Instruct
vouch=build/${BUILD:-release}/vouch
work=build/head
model=$(scripts/run.sh model)
mkdir -p "$work" models
if [ ! -e "$work/prompts.jsonl" ]; then
    scripts/head_prompts.py material 600 > "$work/material.jsonl"
    "$vouch" batch "$model" --prompts "$work/material.jsonl" --raw --temp 0.9 --top-p 0.95 --seed 1 -n 400 \
        --parallel 16 --out "$work/texts.jsonl" --resume
    scripts/head_prompts.py lessons 12000 --texts "$work/texts.jsonl" > "$work/prompts.new"
    mv "$work/prompts.new" "$work/prompts.jsonl"
fi
exclude=()
for file in "${VOUCH_DATA:-}"/prompts/*.jsonl; do
    if [ -e "$file" ]; then exclude+=(--exclude "$file"); fi
done
[ ${#exclude[@]} -gt 0 ] || echo "VOUCH_DATA has no prompts/*.jsonl: no prompt is kept out of the lessons" >&2
"$vouch" distill "$model" --head "$work/$name.head.gguf" --table "$work/$name.table.gguf" \
    --prompts "$work/prompts.jsonl" "${exclude[@]}" --tokens "${TOKENS:-2000000}" --max-tokens 400 --parallel 32 \
    --epochs 1 --type Q4_1 --seed 1 "$@"
for kind in head table; do
    cp "$work/$name.$kind.gguf" "models/$name.$kind.gguf"
    echo "models/$name.$kind.gguf"
done
