#!/usr/bin/env bash
# Prints the share of covered lines of each file, worst first, after a test run of a --coverage build:
#   scripts/cover.sh build/cover
set -eu -o pipefail
cd "$(dirname "$0")/.."
find "$1/src" "$1/cli" -name '*.gcda' -print0 | xargs -0 gcov -n 2>/dev/null | awk '
    /^File / { file = $2; gsub(/\x27/, "", file) }
    /^Lines executed:/ && file ~ /^(src|cli)\/.*\.[ch]$/ {
        split($2, part, ":")
        percent = part[2] + 0
        covered = percent * $4 / 100
        if (!(file in lines) || covered > best[file]) { best[file] = covered; lines[file] = $4 }
        file = ""
    }
    END {
        for (file in lines) {
            printf "%6.1f %% of %4d  %s\n", 100 * best[file] / lines[file], lines[file], file
            sum += best[file]
            all += lines[file]
        }
        printf "%6.1f %% of %4d  all\n", 100 * sum / all, all
    }' | sort -n
