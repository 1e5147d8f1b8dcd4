#!/usr/bin/env bash
# `vouch check --server`: a proxy before a real server breaks one law after the other, and each has to be found.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"
# shellcheck source=tests/check/drive.sh
. "$(dirname "$0")/drive.sh"

# One of each law, as short as the laws allow.
each_law_can_break() {
    drive faults_are_found likely_ones_shifted greedy_ends_early second_token_biased answers_swapped \
        changed_on_a_hit stream_cut seed_constant seeds_refused_in_a_crowd
}
every_fault_is_found() {
    slow
    drive faults_are_found
}
failures_are_small() { drive failures_are_small; }
wrecks_are_named() { drive wrecks_are_named; }
usage_is_checked() { drive usage_is_checked; }
two_addresses_serve() { drive two_addresses_serve; }
one_api_is_enough() { drive one_api_is_enough; }
nothing_is_claimed() { drive nothing_is_claimed; }
interrupts_report() { drive interrupts_report; }

test_group each_law_can_break every_fault_is_found failures_are_small wrecks_are_named usage_is_checked \
    two_addresses_serve one_api_is_enough nothing_is_claimed interrupts_report
