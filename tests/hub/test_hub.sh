#!/usr/bin/env bash
# Models by their names, against a hub on this machine.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

drive() { # case
    python3 -c 'import http.server' 2>/dev/null || test_skip "no python3"
    mkdir "$TMP/empty"
    python3 tests/hub/drive.py "build/$BUILD/vouch" "$1" "$TMP/empty" "$TMP/model.gguf"
}

layers() { # layers type file
    "build/$BUILD/bench/synthetic" --shape smollm2-135m --layers "$1" --type "$2" --out "$3" >/dev/null
}

# A tiny model, 200 kB, in a folder of its own.
model() {
    mkdir "$TMP/apart"
    "build/$BUILD/tests/test_mtp" --apart "$TMP/apart"
    mv "$TMP/apart/target.gguf" "$TMP/model.gguf"
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
one_revision_is_removed() { drive one_revision_is_removed; }
failed_updates_hide_nothing() { model && drive failed_updates_hide_nothing; }
all_snapshots_are_searched() { model && drive all_snapshots_are_searched; }
a_fetch_outlives_rm() { drive a_fetch_outlives_rm; }
one_type_is_removed() { drive one_type_is_removed; }
other_stores_are_seen() { model && drive other_stores_are_seen; }
tokens_open_what_is_closed() { drive tokens_open_what_is_closed; }
# They wait for time-outs.
slow() { [ "${VOUCH_TEST_TIER:-test}" = test ] || test_skip "slow; make test runs it"; }

each_failure_has_its_sentence() { slow && drive each_failure_has_its_sentence; }
faults_pass() { drive faults_pass; }
a_killed_fetch_goes_on() { drive a_killed_fetch_goes_on; }
two_processes_share_a_fetch() { drive two_processes_share_a_fetch; }
certificates_are_checked() {
    slow
    command -v openssl >/dev/null || test_skip "no openssl"
    drive certificates_are_checked
}
a_killed_address_goes_on() { drive a_killed_address_goes_on; }
addresses_begin_anew_where_they_must() { drive addresses_begin_anew_where_they_must; }
parts_are_never_taken_for_the_whole() { drive parts_are_never_taken_for_the_whole; }
a_retry_splices_no_files() { drive a_retry_splices_no_files; }
a_page_leaves_what_is_here() { drive a_page_leaves_what_is_here; }
addresses_are_fetched() { drive addresses_are_fetched; }
no_addresses_share_a_file() { model && drive no_addresses_share_a_file; }
addresses_are_listed_and_removed() { model && drive addresses_are_listed_and_removed; }
bodies_that_are_no_model_are_refused() { drive bodies_that_are_no_model_are_refused; }
digests_are_those_of_the_last_answer() { drive digests_are_those_of_the_last_answer; }
no_link_is_written_through() { drive no_link_is_written_through; }
a_full_disk_is_told() { drive a_full_disk_is_told; }
random_faults_leave_nothing_wrong() { slow && drive random_faults_leave_nothing_wrong; }

huggingface_hub_shares_the_cache() {
    ${PYTHON:-python3} -c 'import huggingface_hub' 2>/dev/null || test_skip "no huggingface_hub for Python"
    mkdir "$TMP/empty"
    ${PYTHON:-python3} tests/hub/exchange.py "build/$BUILD/vouch" "$TMP/empty"
}

test_group names_choose_files wrong_names_are_refused a_name_runs a_drafter_is_found a_companion_is_found \
    heads_are_chosen_by_name a_draft_is_pulled one_type_is_removed one_revision_is_removed failed_updates_hide_nothing \
    all_snapshots_are_searched a_fetch_outlives_rm other_stores_are_seen tokens_open_what_is_closed \
    each_failure_has_its_sentence faults_pass a_killed_fetch_goes_on two_processes_share_a_fetch \
    certificates_are_checked addresses_are_fetched a_killed_address_goes_on addresses_begin_anew_where_they_must \
    parts_are_never_taken_for_the_whole a_retry_splices_no_files a_page_leaves_what_is_here \
    no_addresses_share_a_file addresses_are_listed_and_removed \
    bodies_that_are_no_model_are_refused digests_are_those_of_the_last_answer \
    no_link_is_written_through a_full_disk_is_told huggingface_hub_shares_the_cache \
    random_faults_leave_nothing_wrong
