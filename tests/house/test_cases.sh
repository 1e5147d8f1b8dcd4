#!/usr/bin/env bash
# Counts the cases of tests/cases.txt, which says how it is written, and checks that each one has its test:
#
#   its line names a test that its program runs; its text stands in one line of that test or of the program's tables,
#   and is no part of another case's text; each kind has ten cases or more beside the named ones
#
# Prints a line for each kind, and the sum.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

# Prints the counts; on a breach, prints each and fails.
count_cases() { # index
    awk -v least=10 '
    function breach(words) { print FILENAME ":" FNR ": " words; failed = 1 }

    # Reads a file of tests once. owner[file, line] is the test around a line; "" stands for tables and helpers.
    function load(file,   path, line, n, name) {
        if (file in n_lines) return
        path = "tests/" file
        while ((getline line <path) > 0) {
            text[file, ++n] = line
            if (line ~ /^(static void [a-z_0-9]+\(void \*\*|def [a-z_0-9]+\(|[a-z_0-9]+\(\) *\{)/) {
                name = line
                sub(/^(static void|def) /, "", name)
                sub(/\(.*/, "", name)
            } else if (line ~ /^[^ \t{}#]/) name = ""
            owner[file, n] = name
            if (line ~ /^}/) name = ""
        }
        close(path)
        n_lines[file] = n + 0
    }

    # The number of lines that have the text: of a test and the tables of its file, or of a whole file.
    function found(file, test, what,   i, n) {
        load(file)
        for (i = 1; i <= n_lines[file]; i++)
            if (index(text[file, i], what) && (test == "" || owner[file, i] == "" || owner[file, i] == test)) n++
        return n + 0
    }

    # Whether the file has a test of this name, and names it outside of all tests, where it is run.
    function runs(file, test,   i, is_test, is_run) {
        load(file)
        for (i = 1; i <= n_lines[file]; i++)
            if (index(text[file, i], test) && text[file, i] ~ "(^|[^A-Za-z_0-9])" test "([^A-Za-z_0-9]|$)") {
                if (owner[file, i] == test) is_test = 1
                if (owner[file, i] == "") is_run = 1
            }
        return is_test && is_run
    }

    function end_kind() {
        if (kind == "") return
        if (more < least) breach(kind ": " more " more cases, expected " least " or more")
        printf "%-16s %5d named %5d more\n", kind, named, more
        all_named += named
        all_more += more
    }

    /^(--|$)/ { next }
    /^# / {
        end_kind()
        kind = $2
        named = more = n = 0
        test = ""
        next
    }
    /^[^ ]/ {
        split($1, files, "+")
        test = $2
        if (NF != 2 || !runs(files[1], test)) breach("expected FILE TEST, a test that the file runs: " $0)
        next
    }
    / :: ./ && ($1 == "named" || $1 == "more") {
        at = index($0, " :: ")
        what = substr($0, at + 4)
        if (kind == "" || test == "") breach("no kind or no test stands above this case")
        count = found(files[1], test, what)
        if (files[2] != "") count += found(files[2], "", what)
        if (count != 1) breach(count " lines of " test " have the text: " what)
        for (i = 1; i <= n; i++)
            if (tests[i] == test && (index(what, texts[i]) || index(texts[i], what)))
                breach("one text is a part of the other: " texts[i] " and " what)
        tests[++n] = test
        texts[n] = what
        if ($1 == "named") named++
        else more++
        next
    }
    { breach("expected a kind, a test or a case: " $0) }
    END {
        end_kind()
        printf "%-16s %5d named %5d more\n", "all", all_named, all_more
        exit failed
    }' "$1"
}

each_case_has_its_test() {
    count_cases tests/cases.txt
}

# Each kind of mistake, in a copy of the index.
mistakes_are_found() {
    local edit says
    while IFS='@' read -r edit says; do
        sed "$edit" tests/cases.txt >"$TMP/cases.txt"
        test_refused "$says" count_cases "$TMP/cases.txt"
    done <<'END'
/paths_answer$/s/answer/answers/@a test that the file runs: server/test_server_api.c paths_answers
/^server.test_server_api.c paths_answer/s/_api/_apy/@a test that the file runs: server/test_server_apy.c
/^  more .*modelsX/s/modelsX/modelsY/@0 lines of paths_answer have the text: .*modelsY
/^  more .*modelsX/{p;}@one text is a part of the other
/^# paths/,/^# /s/^  more .*//@paths: 0 more cases, expected 10
s/^  named .*ping.*/  named ping/@expected a kind, a test or a case:   named ping
1,/^  named/s/^[^ -]* [a-z_0-9]*$//@no kind or no test stands above
END
}

test_group each_case_has_its_test mistakes_are_found
