#!/usr/bin/env bash
# Checks that what comments, messages and documents name exists:  tests/names.sh [FILE ...]
#
#   src/base/pool.c, base/pool.c, pool.c   a file has this path, or one that ends so. NAME and * stand for any text, and
#                                          bench/kernels stands for its source, bench/kernels.c
#   [text](../README.md#limits)            the page exists and has the heading
#   --flag                                 a command has this flag, or a program in bench/, scripts/, python/ or tests/
#   vouch_pool_run, VOUCH_OK, pieces()     code has this name; vouch_pool_ and vouch_pool_NAME: one that begins so
#   memleak:cli/run/chat/chat.c            in .cppcheck and .clang-tidy-known: the file exists
#
# Without FILE it checks the whole tree. It prints each name that doesn't exist, and then exits with 1.
root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
for given in "$@"; do realpath -e --relative-base="$root" -- "$given" || exit 2; done >"$work/given"
cd "$root" || exit 2

# Names of other programs (C, ggml, llama.cpp, llama2.c, jinja2; Python; gcc, pkg-config, systemctl,
# llama-server, sha256sum, configure, brew, winget), words that stand for any flag, and a file that the build makes.
foreign='stdio.h stdint.h ggml-common.h ggml-quants.c llama.cpp llama.h llama-ext.h llama-quant.cpp llama2.c vec.h
    parser.py repr --coverage --cflags --libs --static --wrap --now --ctx-size --name --flag --word --switch
    --ignore-missing --prefix --formula --manifest
    _abi.py vouch/_abi.py'

# Prints each line of the files as "KIND|FILE:LINE|TEXT". Kinds: code; a string of C; words, which are comments and
# documents. The strings of scripts are code.
pieces() {
    awk '
    function put(kind, text) { if (text ~ /[^ \t]/) print kind "|" FILENAME ":" FNR "|" text }
    function c_line(line,   token) {
        while (line != "") {
            if (inside) {
                token = index(line, "*/")
                put("words", token ? substr(line, 1, token - 1) : line)
                if (!token) return
                inside = 0
                line = substr(line, token + 2)
            } else if (match(line, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/\*|\/\//)) {
                put("code", substr(line, 1, RSTART - 1))
                token = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (token == "//") { put("words", line); return }
                if (token == "/*") inside = 1
                else put("string", token)
            } else { put("code", line); return }
        }
    }
    FNR == 1 { inside = 0 }
    FILENAME ~ /\.(c|h|cpp)$/ { c_line($0); next }
    FILENAME ~ /\.md$/ { put("words", $0); next }
    FILENAME ~ /(^|\/)\.(cppcheck|clang-tidy-known)$/ { sub(/^[^# :]*:/, ""); put("words", $0); next }
    FNR <= 3 || inside { # the documentation string of a Python program
        n = gsub(/"""/, "&")
        if (n == 1) inside = !inside
        if (n || inside) { put("words", $0); next }
    }
    match($0, /(^|[ \t])#/) { put("code", substr($0, 1, RSTART - 1)); put("words", substr($0, RSTART + 1)); next }
    { put("code", $0) }' "$@"
}

# Files, flags and names that exist: one a line, with the dashes of a flag and the hash of a heading.
find . -path ./build -prune -o -path ./.git -prune -o -name __pycache__ -prune -o -type f -print |
    sed 's|^\./||' | sort >"$work/files"
mapfile -t tree < <(grep -E -e '\.(c|h|cpp|sh|py|md|toml|service)$|^(bench|scripts)/[a-z_/-]*$|^\.ci/run$|file$' \
    -e '^\.cppcheck$|^\.clang-tidy-known$' "$work/files")
pieces "${tree[@]}" >"$work/tree"
case $# in
0) cp "$work/tree" "$work/checked" ;;
*) tr '\n' '\0' <"$work/given" | { mapfile -t -d '' files && pieces "${files[@]}"; } >"$work/checked" ;;
esac
{
    cat "$work/files"
    printf '%s\n' "$foreign" | tr -s ' ' '\n'
    # test_house.sh tests this script with names that don't exist.
    grep '^code|' "$work/tree" | grep -v '|tests/house/test_house.sh:' | cut -d'|' -f3- |
        grep -oE '[A-Za-z_][A-Za-z_0-9]*'
    grep '^string|' "$work/tree" | grep -oE 'VOUCH_[A-Z_]+' # environment variables
    # Rows of the tables of flags with their second names; flags that C compares; arguments of Python programs.
    grep -hE '\{"[a-z0-9-]+", ("[a-z0-9-]+"|NULL), (0|.[A-Za-z].),' cli/options/*.c bench/*.c bench/support/*.[ch] |
        sed -E 's/, (0|.[A-Za-z].),.*//' | grep -oE '"[^"]+"' | sed -E 's/"([^"]+)"/--\1/'
    grep -hoE '(strcmp\([^,]*, |add_argument\()"--[a-z-]+"' "${tree[@]}" | grep -oE -- '--[a-z-]+'
    awk '/^#+ / {
        title = tolower($0)
        gsub(/^#+ |[^a-z0-9 _-]/, "", title)
        gsub(/ /, "-", title)
        print FILENAME "#" title
    }' README.md docs/*.md models/*.md
} | LC_ALL=C sort -u >"$work/known"

awk -F'|' '
function lacks(name) { print at ": " name " does not exist"; wrong = 1 }
function pattern_found(text,   n) { # text: a name whose open parts are .*
    if (!(text in seen)) {
        seen[text] = 0
        for (n in known) if (n ~ ("(^|/)" text "$")) { seen[text] = 1; break }
    }
    return seen[text]
}
function check_file(name,   text) {
    sub(/^(\.\.?\/)+/, "", name)
    sub(/^build\/[a-z]+\//, "", name)
    if (name in known || (name in ends) || (name ".c") in known) return
    text = name
    gsub(/\./, "\\.", text)
    gsub(/\*|[A-Z][A-Z]+/, "[^/]*", text)
    if (!pattern_found(text)) lacks(name)
}
function check_name(name,   beginning) {
    if (name in known) return
    beginning = name
    if (!sub(name ~ /^VOUCH/ ? "_[a-z]*$" : "_(NAME)?$", "_.*", beginning) || !pattern_found(beginning)) lacks(name)
}
function check_link(link,   folder, page) {
    if (link ~ /^[a-z]+:/) return
    page = folder = FROM
    sub(/[^\/]*$/, "", folder)
    if (link !~ /^#/) {
        page = (folder ~ /^\// ? "" : folder) link # a page that is outside of the tree counts as in its root
        while (sub(/[^\/]+\/\.\.\//, "", page)) ;
    } else page = page link
    sub(/\/$/, "", page)
    if (!(page in known)) lacks(link)
}
# Checks each match of the form in text, if neither side of it goes on like a name of this kind.
function each(kind, text, form,   name, before, after) {
    while (match(text, form)) {
        before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        after = substr(text, 1, 1)
        if (kind == "link") check_link(substr(name, 3, length(name) - 3))
        else if ((before after) ~ /[A-Za-z0-9_]/) continue
        else if (kind == "flag") { if ((before after) !~ /-/ && !(name in known)) lacks(name) }
        else if (kind == "name") { if (sub(/\(\)/, "", name) >= 0) check_name(name) }
        else if ((before after) !~ /[\/{:]/ && name !~ /github\.com|(^|[.\/])[a-z]\.[ch]$/) check_file(name)
    }
}
BEGIN { ROOMS = "(src|bits|tests|docs|tool|cli|server|train|include|bench|scripts|examples|python|models)" }
NR == FNR {
    known[$0] = 1
    for (path = $0; sub(/\/[^\/]*$/, "", path);) known[path] = 1 # its folders
    for (path = $0; sub(/^[^\/]*\//, "", path);) ends[path] = 1
    next
}
$1 == "code" { next }
{
    at = FROM = $2
    sub(/:[0-9]*$/, "", FROM)
    text = $0
    sub(/^[^|]*\|[^|]*\|/, "", text)
}
$1 == "string" { # messages of the command and the server, which name flags; style sheets have variables with dashes
    if (FROM !~ /^(tool|cli|server|train)\// || FROM ~ /(options\/foreign|report\/plot)\.c$/ || text ~ /var\(--/) next
    each("flag", text, "--[a-z][a-z-]*[a-z]")
    next
}
{
    if (FROM !~ /report\/plot\.[ch]$/) each("flag", text, "--[a-z][a-z-]*[a-z]")
    each("file", text, "[A-Za-z0-9_.*\/-]*[A-Za-z0-9_*]\\.(c|h|cpp|sh|py|md)")
    each("name", text, "(vouch|cli|VOUCH)_[A-Za-z][A-Za-z0-9_]*|[a-z_][a-z_0-9][a-z_0-9]+\\(\\)")
    each("file", text, ROOMS "\\/[A-Za-z0-9_.*\/-]*[A-Za-z0-9_*]")
    if (FROM ~ /\.md$/) each("link", text, "\\]\\([^) ]*\\)")
}
END { exit wrong }' "$work/known" "$work/checked"
