#!/usr/bin/env bash
# Runs clang-tidy, cppcheck and shellcheck over the tree:  scripts/lint.sh [compiler flags ...]
#
# .clang-tidy lists the checks. .clang-tidy-known and .cppcheck list known false findings with their reasons. The script
# prints all other findings and fails if there are any.
set -u
cd "$(dirname "$0")/.." || exit 1
found=0

# scripts/analyzer.h redefines a function of status.c; the Arm kernels need their own compiler.
sources=()
for file in src/*/*.c src/*/*/*.c src/*/*/*/*.c tool/*.c cli/*.c cli/*/*.c cli/*/*/*.c server/*/*.c train/*.c train/*/*.c examples/*.c \
    bench/*.c bench/support/*.c; do
    case $file in src/base/status.c | src/kernels/vector/arm_*) ;; *) sources+=("$file") ;; esac
done
# A finding begins with a line "file:line:column: error: text [check,...]"; the following lines explain it.
clang-tidy --quiet "${sources[@]}" -- -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Icli -Iserver -Ibench -I. -include scripts/analyzer.h \
    -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavxvnni -mgfni -mfma -mf16c "$@" 2>&1 |
    awk -v root="$PWD/" '
        FNR == NR { if (!/^#/ && NF) known[$0] = 1; next }
        /^[^ ]+:[0-9]+:[0-9]+: (error|warning): / {
            file = $1
            sub(/:.*/, "", file)
            if (index(file, root) == 1) file = substr(file, length(root) + 1)
            check = $NF
            gsub(/^\[|[],].*$/, "", check)
            show = !((check ":" file) in known)
            bad += show
        }
        /^[0-9]+ (warnings|errors)|^Suppressed|^Use -header/ { next }
        show
        END { exit bad > 0 }' .clang-tidy-known - || found=1

cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --suppressions-list=.cppcheck \
    --enable=warning,portability,performance -D__GNUC__ -D__x86_64__ -Iinclude -Isrc -Icli -Iserver -Ibench -I. src tool cli server train examples bench ||
    found=1

shellcheck .ci/run scripts/install scripts/missing scripts/*.sh tests/*.sh tests/*/*.sh || found=1
exit $found
