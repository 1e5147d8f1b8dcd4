#!/usr/bin/env bash
# Models that are fetched, from a hub and from addresses: failures, kills, full disks, two processes.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"
# shellcheck source=tests/hub/drive.sh
. "$(dirname "$0")/drive.sh"

each_failure_has_its_sentence() { slow && drive each_failure_has_its_sentence; }
faults_pass() { drive faults_pass; }
a_killed_fetch_goes_on() { drive a_killed_fetch_goes_on; }
two_processes_share_a_fetch() { drive two_processes_share_a_fetch; }
certificates_are_checked() {
    slow
    command -v openssl >/dev/null || test_skip "no openssl"
    drive certificates_are_checked
}
addresses_are_fetched() { drive addresses_are_fetched; }
a_killed_address_goes_on() { drive a_killed_address_goes_on; }
addresses_begin_anew_where_they_must() { drive addresses_begin_anew_where_they_must; }
parts_are_never_taken_for_the_whole() { drive parts_are_never_taken_for_the_whole; }
a_retry_splices_no_files() { drive a_retry_splices_no_files; }
a_page_leaves_what_is_here() { drive a_page_leaves_what_is_here; }
no_addresses_share_a_file() { model && drive no_addresses_share_a_file; }
addresses_are_listed_and_removed() { model && drive addresses_are_listed_and_removed; }
bodies_that_are_no_model_are_refused() { drive bodies_that_are_no_model_are_refused; }
digests_are_those_of_the_last_answer() { drive digests_are_those_of_the_last_answer; }
no_link_is_written_through() { drive no_link_is_written_through; }
a_full_disk_is_told() { drive a_full_disk_is_told; }
random_faults_leave_nothing_wrong() { slow && drive random_faults_leave_nothing_wrong; }

test_group each_failure_has_its_sentence faults_pass a_killed_fetch_goes_on two_processes_share_a_fetch \
    certificates_are_checked addresses_are_fetched a_killed_address_goes_on addresses_begin_anew_where_they_must \
    parts_are_never_taken_for_the_whole a_retry_splices_no_files a_page_leaves_what_is_here \
    no_addresses_share_a_file addresses_are_listed_and_removed bodies_that_are_no_model_are_refused \
    digests_are_those_of_the_last_answer no_link_is_written_through a_full_disk_is_told \
    random_faults_leave_nothing_wrong
