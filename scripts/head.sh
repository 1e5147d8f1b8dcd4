#!/usr/bin/env bash
# `make head`: teaches a head for the default model and puts it into models/.
#
# The work lies in build/head/ and goes on where an earlier run ended. TOKENS=2000000 is the number of tokens that the
# head learns from. DATA is a folder whose prompts/*.jsonl must stay out of the lessons.
set -eu -o pipefail
cd "$(dirname "$0")/.."
name=SmolLM2-135M-Instruct
model=$(scripts/run.sh model)
data=${DATA:-../shared/data}
mkdir -p build/head models
exclude=()
for file in "$data"/prompts/*.jsonl; do
    if [ -e "$file" ]; then exclude+=(--exclude "$file"); fi
done
"build/${BUILD:-release}/vouch" distill "$model" --head "build/head/$name.head.gguf" --tokens "${TOKENS:-2000000}" \
    "${exclude[@]}" "$@"
cp "build/head/$name.head.gguf" "models/$name.head.gguf"
echo "models/$name.head.gguf"
