#!/bin/sh
# Installs the command vouch from the files of a release, for Linux and macOS: sh install.sh --help
set -eu
umask 022

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

# Also where a pipe brings this script, and $0 is the shell.
usage() {
    cat <<'END'
Installs the command vouch from the files of a release, for Linux and macOS:

  sh install.sh --from FOLDER-OR-ADDRESS [--prefix FOLDER] [--version VERSION]

  --from      the folder, or the address (https://...), that has SHA256SUMS and the packages; or $VOUCH_FROM
  --prefix    where the files go: bin/vouch, share/man, share/doc and others (~/.local; as root /usr/local)
  --version   which version, if SHA256SUMS names several

It unpacks a package only if the package has the digest that SHA256SUMS names.
END
}

misused() {
    echo "install.sh: $1; --help lists the flags" >&2
    exit 2
}

from=${VOUCH_FROM:-} version='' prefix=${HOME:-}/.local
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; fi
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h)
        usage
        exit 0
        ;;
    --from | --prefix | --version)
        [ -n "${2:-}" ] || misused "$1 needs a value"
        case $1 in
        --from) from=$2 ;;
        --prefix) prefix=$2 ;;
        --version) version=$2 ;;
        esac
        shift 2
        ;;
    *) misused "unknown argument $1" ;;
    esac
done
[ -n "$from" ] || misused "--from is missing: give the folder or the address of a release"
case $version in *[!0-9A-Za-z.+~-]*) misused "--version $version: expected a version such as 0.1.0" ;; esac
[ "$prefix" != /.local ] || fail "HOME is not set; give --prefix FOLDER"
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

case $(uname -s)/$(uname -m) in
Linux/x86_64 | Linux/amd64) system=linux-x86_64 ;;
Linux/aarch64 | Linux/arm64) system=linux-aarch64 ;;
Darwin/arm64) system=macos-arm64 ;;
Darwin/x86_64) system=macos-x86_64 ;;
*) fail "there is no package for $(uname -s) on $(uname -m); packages are for Linux and macOS on x86-64 and 64-bit Arm" ;;
esac
for tool in tar gzip mktemp find; do
    command -v $tool >/dev/null || fail "$tool is missing"
done

if command -v sha256sum >/dev/null; then
    sha256=sha256sum
elif command -v shasum >/dev/null; then
    sha256="shasum -a 256"
else
    fail "sha256sum or shasum is needed to check the digest; neither is there"
fi

fetch() { # name: puts the file into $work
    case $from in
    http://* | https://* | file://*)
        if command -v curl >/dev/null; then
            curl -fsSL -o "$work/$1" "${from%/}/$1"
        elif command -v wget >/dev/null; then
            wget -q -O "$work/$1" "${from%/}/$1"
        else
            fail "curl or wget is needed for $from; neither is there"
        fi
        ;;
    *) cp "$from/$1" "$work/$1" ;;
    esac || fail "can't get $1 from $from"
}

# Below the prefix, so that each file is replaced in one step.
mkdir -p "$prefix" || fail "can't write to $prefix; give another --prefix, or run it as root"
work=$(mktemp -d "$prefix/.vouch-install.XXXXXX") || fail "can't write to $prefix; give another --prefix, or run it as root"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch SHA256SUMS
packages=$(sed -n "s/^[0-9a-f]*  \(vouch-[^ /]*-$system\.tar\.gz\)$/\1/p" "$work/SHA256SUMS")
if [ -n "$version" ]; then packages=$(echo "$packages" | grep -Fx "vouch-$version-$system.tar.gz" || true); fi
case $packages in
'') fail "$from has no package ${version:+of version $version }for $system" ;;
*.gz*.gz) fail "$from has several packages; choose one by --version: $(echo "$packages" | tr '\n' ' ')" ;;
esac
fetch "$packages"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $packages$/\1/p" "$work/SHA256SUMS")
found=$($sha256 <"$work/$packages" | cut -d ' ' -f 1)
[ "$found" = "$expected" ] ||
    fail "$packages is damaged: its SHA-256 is $found, and SHA256SUMS names ${expected:-none}; nothing was installed"

tar -xzf "$work/$packages" -C "$work" || fail "can't unpack $packages"
tree=$work/${packages%.tar.gz}
"$tree/bin/vouch" --version >"$work/version" || fail "the command doesn't run on this machine; nothing was installed"
(cd "$tree" && find . -type f) | while read -r file; do
    if [ -d "$prefix/$file" ]; then fail "$prefix/${file#./} is a folder; remove it; nothing was installed"; fi
done || exit 1
(cd "$tree" && find . -type f) | while read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    mv -f "$tree/$file" "$prefix/$file" || exit 1
done || fail "can't write to $prefix; give another --prefix, or run it as root"

echo "installed: $(cat "$work/version"), $prefix/bin/vouch"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "add it to PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;; esac
echo "to uninstall: rm -r \"$prefix/bin/vouch\" \"$prefix/share/doc/vouch\" \"$prefix/share/man/man1/vouch.1\"" \
    "\"$prefix/share/bash-completion/completions/vouch\" \"$prefix/share/zsh/site-functions/_vouch\"" \
    "\"$prefix/share/fish/vendor_completions.d/vouch.fish\""
