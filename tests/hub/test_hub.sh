#!/usr/bin/env bash
# Models by their names: which file a name means, what is here, and what is removed. A hub runs on this machine.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"
# shellcheck source=tests/hub/drive.sh
. "$(dirname "$0")/drive.sh"

layers() { # layers type file
    "build/$BUILD/bench/synthetic" --shape smollm2-135m --layers "$1" --type "$2" --out "$3" >/dev/null
}

names_choose_files() { drive names_choose_files; }
wrong_names_are_refused() { drive wrong_names_are_refused; }
a_name_runs() { model && drive a_name_runs; }
a_drafter_is_found() {
    slow
    layers 1 Q4_0 "$TMP/model.gguf"
    mkdir "$TMP/target"
    layers 24 F16 "$TMP/target/target.gguf"
    drive a_drafter_is_found
}
a_companion_is_found() {
    "build/$BUILD/tests/test_mtp" --apart "$TMP"
    drive a_companion_is_found
}
heads_are_chosen_by_name() {
    "build/$BUILD/tests/test_mtp" --apart "$TMP"
    drive heads_are_chosen_by_name
}
a_draft_is_pulled() { drive a_draft_is_pulled; }
one_type_is_removed() { drive one_type_is_removed; }
one_revision_is_removed() { drive one_revision_is_removed; }
failed_updates_hide_nothing() { model && drive failed_updates_hide_nothing; }
all_snapshots_are_searched() { model && drive all_snapshots_are_searched; }
a_fetch_outlives_rm() { drive a_fetch_outlives_rm; }
other_stores_are_seen() { model && drive other_stores_are_seen; }
tokens_open_what_is_closed() { drive tokens_open_what_is_closed; }

huggingface_hub_shares_the_cache() {
    [ "${VOUCH_TEST_TIER:-}" != windows ] || test_skip "Wine makes and sees no links"
    ${PYTHON:-python3} -c 'import huggingface_hub' 2>/dev/null || test_skip "no huggingface_hub for Python"
    mkdir "$TMP/empty"
    ${PYTHON:-python3} tests/hub/exchange.py "build/$BUILD/vouch" "$TMP/empty"
}

test_group names_choose_files wrong_names_are_refused a_name_runs a_drafter_is_found a_companion_is_found \
    heads_are_chosen_by_name a_draft_is_pulled one_type_is_removed one_revision_is_removed \
    failed_updates_hide_nothing all_snapshots_are_searched a_fetch_outlives_rm other_stores_are_seen \
    tokens_open_what_is_closed huggingface_hub_shares_the_cache
