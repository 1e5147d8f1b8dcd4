#!/usr/bin/env bash
# `vouch check --server` finds nothing in vouch itself, whatever the seed.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"
# shellcheck source=tests/check/drive.sh
. "$(dirname "$0")/drive.sh"

vouch_holds() { drive sound_servers_hold 1 1; }
vouch_holds_with_every_seed() {
    slow
    drive sound_servers_hold 20 4
}

test_group vouch_holds vouch_holds_with_every_seed
