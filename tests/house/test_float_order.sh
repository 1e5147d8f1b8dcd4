#!/usr/bin/env bash
# The reference in Python gives the bits of the vectors' models, and docs/float-order.md says all that it computes with.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

reference=docs/vectors/reference.py vectors=docs/vectors/vectors.json

needs_python() {
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || test_skip "no Python 3.8"
}

it_gives_the_same_bits() {
    needs_python
    "${PYTHON:-python3}" $reference $vectors >"$TMP/out"
    [ "$(grep -c '^[a-z0-9]*\.gguf: 2304 of 2304 logits have the same bits$' "$TMP/out")" -eq 2 ]
}

# Blocks from the last to the first; a softmax whose sum has 8 lanes.
another_order_is_noticed() {
    needs_python
    sed 's/ in zip(row, x):/ in reversed(list(zip(row, x))):/' $reference >"$TMP/blocks.py"
    sed 's/lanes\[i % 16\]/lanes[i % 8]/g' $reference >"$TMP/lanes.py"
    for file in blocks lanes; do
        test_refused 'llama.gguf: [0-9]* of 2304 logits' "${PYTHON:-python3}" "$TMP/$file.py" $vectors llama.gguf
    done
}

it_is_short_and_needs_no_package() {
    [ "$(wc -l <$reference)" -le 300 ]
    [ "$(sed -nE 's/^(import|from) ([a-z]*).*/\2/p' $reference | sort | xargs)" = \
        'ctypes fractions json math operator os struct sys' ]
}

# Prints the constants of the reference that the page lacks, and then fails.
constants_are_in() { # page
    local constant absent=0
    while read -r constant; do
        grep -qF -- "$constant" "$1" || { echo "no $constant" && absent=1; }
    done < <(grep -oE '0x[0-9a-f.]+p[-+]?[0-9]+' $reference)
    return $absent
}

the_page_has_its_constants() {
    [ "$(grep -oE '0x[0-9a-f.]+p' $reference | wc -l)" -ge 14 ]
    constants_are_in docs/float-order.md
    sed 's/0x1.555382p-5/0x1.555384p-5/' docs/float-order.md >"$TMP/page.md"
    test_refused '^no 0x1.555382p-5$' constants_are_in "$TMP/page.md"
}

test_group it_gives_the_same_bits another_order_is_noticed it_is_short_and_needs_no_package \
    the_page_has_its_constants
