#!/usr/bin/env bash
# install.sh with good and bad releases, and the packages of scripts/release.
# shellcheck source=tests/support/test.sh
. "$(dirname "$0")/../support/test.sh"

system=$(uname -s | sed 's/Linux/linux/; s/Darwin/macos/')-$(uname -m)
version=$(sed -n 's/^#define VOUCH_VERSION "\(.*\)"/\1/p' include/vouch.h)

# A release with one archive, which has the built command.
small_release() { # folder
    local name=vouch-$version-$system
    mkdir -p "$1" "$TMP/tree/$name/bin" "$TMP/tree/$name/share/doc/vouch"
    cp "build/$BUILD/vouch" "$TMP/tree/$name/bin/"
    cp LICENSE "$TMP/tree/$name/share/doc/vouch/"
    tar -czf "$1/$name.tar.gz" -C "$TMP/tree" "$name"
    (cd "$1" && sha256sum -- *.gz >SHA256SUMS)
}

installer_checks_and_installs() {
    small_release "$TMP/release"
    local prefix="$TMP/a prefix"
    sh install.sh --from "$TMP/release" --prefix "$prefix" >"$TMP/out"
    [ "$("$prefix/bin/vouch" --version)" = "vouch $version" ]
    grep -q "^installed: vouch $version, $prefix/bin/vouch$" "$TMP/out"
    grep -q '^add it to PATH' "$TMP/out"
    # Again, over a command that runs, and from an address.
    "$prefix/bin/vouch" serve --help >/dev/null
    VOUCH_FROM=file://$TMP/release sh install.sh --prefix "$prefix" --version "$version" >"$TMP/out"
    # The line that uninstalls leaves no file.
    sh -c "$(sed -n 's/^to uninstall: rm -r/rm -rf/p' "$TMP/out")"
    [ -z "$(find "$prefix" ! -type d)" ]
}

# After each refusal the old command is there, and nothing else.
installer_refuses() {
    small_release "$TMP/release"
    local prefix=$TMP/prefix name=vouch-$version-$system.tar.gz
    sh install.sh --from "$TMP/release" --prefix "$prefix" >/dev/null
    find "$prefix" -type f -exec sha256sum {} + >"$TMP/before"
    refused() { # message, arguments
        local message=$1
        shift
        test_refused "^install.sh: .*$message" sh install.sh --prefix "$prefix" "$@"
        find "$prefix" -type f -exec sha256sum {} + | cmp - "$TMP/before"
        [ -z "$(find "$prefix" -name '.vouch-install*')" ]
    }
    refused 'from is missing'
    refused 'from needs a value' --from
    refused "can't get SHA256SUMS" --from "$TMP/absent"
    refused 'no package of version 9.9 ' --from "$TMP/release" --version 9.9
    refused 'version 1/../2: expected' --from "$TMP/release" --version 1/../2
    refused 'unknown argument --other' --other
    mkdir -p "$TMP/taken/bin/vouch" # a folder where the command goes
    test_refused 'bin/vouch is a folder; remove it' sh install.sh --from "$TMP/release" --prefix "$TMP/taken"
    [ -z "$(find "$TMP/taken" -type f)" ]
    mkdir "$TMP/bin"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\ncase $1 in -s) echo Plan9 ;; *) echo mips ;; esac\n' >"$TMP/bin/uname"
    chmod +x "$TMP/bin/uname"
    PATH=$TMP/bin:$PATH refused 'no package for Plan9 on mips' --from "$TMP/release"
    # A system without programs that it needs.
    mkdir "$TMP/few"
    for tool in sh id uname sed tar gzip mktemp find; do ln -s "$(command -v $tool)" "$TMP/few/$tool"; done
    test_refused 'sha256sum or shasum is needed' env PATH="$TMP/few" sh install.sh --from "$TMP/release"
    # Damage: a changed byte, a line without digest, a package of another processor.
    cp "$TMP/release/$name" "$TMP/good.tar.gz"
    printf 'x' | dd of="$TMP/release/$name" bs=1 seek=1000 conv=notrunc 2>/dev/null
    refused "$name is damaged.*nothing was installed" --from "$TMP/release"
    cp "$TMP/good.tar.gz" "$TMP/release/$name"
    sed -i 's/^..../    /' "$TMP/release/SHA256SUMS"
    refused 'no package for' --from "$TMP/release"
    rm "$TMP/release/$name"
    (echo 'text' | sha256sum | sed "s/-$/$name/") >"$TMP/release/SHA256SUMS"
    refused "can't get $name" --from "$TMP/release"
    printf '#!/bin/sh\nexit 1\n' >"$TMP/tree/${name%.tar.gz}/bin/vouch"
    tar -czf "$TMP/release/$name" -C "$TMP/tree" "${name%.tar.gz}"
    (cd "$TMP/release" && sha256sum -- *.gz >SHA256SUMS)
    refused "doesn't run on this machine" --from "$TMP/release"
}

# The same files in another order and with other times and modes of the umask give the same bytes.
archives_depend_on_contents_alone() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || test_skip "no Python 3.11"
    cat >"$TMP/write.py" <<'END'
import pathlib, sys, time
sys.path.insert(0, "scripts")
sys.dont_write_bytecode = True
from packages import image, sbom, wheel
from packages.archive import Files, gz, tar, zipped
names = ["b/two", "a", "b/c/three"]
found = []
for order in (names, names[::-1]):
    files = Files()
    for name in order:
        files.add(name, name, 0o755 if name == "a" else 0o644)
    found.append([tar(files, 10**9), gz(tar(files, 10**9)), zipped(files, 10**9),
                  image.write({"amd64": files}, "1", 10**9), wheel.write(files, files, "1", "any", 10**9),
                  sbom.document("name", tar(files, 10**9), "1", [("a", "1-2", "MIT")], 10**9)])
    time.sleep(2.1)  # a step of zip's clock
assert found[0] == found[1]
pathlib.Path(sys.argv[1], "a.tar").write_bytes(found[0][0])
pathlib.Path(sys.argv[1], "a.zip").write_bytes(found[0][2])
assert wheel.manylinux("x@GLIBC_2.2.5 y@GLIBC_2.34 z@GLIBC_2.4", "x86_64") == "manylinux_2_34_x86_64"
END
    python3 "$TMP/write.py" "$TMP"
    [ "$(tar -tf "$TMP/a.tar" | tr '\n' ' ')" = 'a b/ b/c/ b/c/three b/two ' ]
    tar -tvf "$TMP/a.tar" | grep -q '^-rwxr-xr-x.* a$'
    python3 -m zipfile -t "$TMP/a.zip" >/dev/null
}

options_are_checked() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || test_skip "no Python 3.11"
    test_refused 'plan9: expected one of linux-x86_64' scripts/release plan9
    touch "$TMP/file"
    test_refused "isn't empty" scripts/release --output "$TMP" linux-x86_64
    [ -e "$TMP/file" ]
}

# The packages of all systems whose commands are built (make static, make windows, make macos), for all tests below.
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT

make_packages() {
    [ "$VOUCH_TEST_TIER" != check ] || test_skip "slow; make test runs it"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || test_skip "no Python 3.11"
    [ -x build/static-x86_64/vouch ] || test_skip "build/static-x86_64/vouch isn't built: make static"
    systems=(linux-x86_64)
    if [ -x build/static-aarch64/vouch ]; then systems+=(linux-aarch64); fi
    if [ -x build/windows/vouch.exe ]; then systems+=(windows-x86_64); fi
    for file in macos-arm64 macos-x86_64; do
        if [ -x build/$file/vouch ]; then systems+=("$file"); fi
    done
    [ -e "$packages/SHA256SUMS" ] || release "$packages"
}

release() { # folder
    (umask 0$((RANDOM % 3 * 25)) && scripts/release --output "$1" --address https://packages.example \
        "${systems[@]}") >"$TMP/log" 2>&1 || { cat "$TMP/log" && return 1; }
}

packages_are_complete() {
    make_packages
    sleep 2.1 # a step of zip's clock
    release "$TMP/two"
    diff -r "$packages" "$TMP/two"
    cd "$packages" || return
    sha256sum --quiet -c SHA256SUMS
    [ "$(find . -type f ! -name SHA256SUMS | wc -l)" -eq "$(wc -l <SHA256SUMS)" ]

    local system file name=vouch-$version-linux-x86_64
    tar -tzf "$name.tar.gz" | sed "s|^$name/||" | grep -v '/$' >"$TMP/list"
    for file in bin/vouch share/man/man1/vouch.1 share/bash-completion/completions/vouch \
        share/zsh/site-functions/_vouch share/fish/vendor_completions.d/vouch.fish share/doc/vouch/LICENSE \
        share/doc/vouch/licences/{README,LGPL-2.1,Apache-2.0,GPL-3,glibc,libmicrohttpd,openssl,curl,pcre2,gcc}; do
        grep -qx "$file" "$TMP/list" || { echo "no $file" && return 1; }
    done
    # The sources of each version that a list of contents names.
    tar -tf "vouch-$version-sources.tar" >"$TMP/list"
    grep -q "/vouch-$version.tar$" "$TMP/list"
    grep -ho '"pkg:deb/debian/\(glibc\|libmicrohttpd\)@[^?]*' -- *.spdx.json | sort -u | sed 's/%2B/+/g; s/.*@//' \
        >"$TMP/versions"
    [ "$(wc -l <"$TMP/versions")" -ge 2 ]
    while read -r file; do grep -qF "_$file.dsc" "$TMP/list"; done <"$TMP/versions"

    # Each list of contents names the package's digest and the libraries inside.
    for file in *.spdx.json; do
        python3 - "$file" "$(sha256sum <"${file%.spdx.json}" | cut -d' ' -f1)" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
first, *others = document["packages"]
assert first["checksums"] == [{"algorithm": "SHA256", "checksumValue": sys.argv[2]}]
assert {"pcre2", "curl", "libmicrohttpd"} <= {package["name"] for package in others}
assert {r["relatedSpdxElement"] for r in document["relationships"]} == {p["SPDXID"] for p in document["packages"]}
END
    done
    for system in "${systems[@]}"; do
        file=vouch-$version-$system
        case $system in windows-*) file+=.zip ;; *) file+=.tar.gz ;; esac
        [ -s "$file.spdx.json" ]
        grep -qir "sha256:\? \"\?$(sha256sum <"$file" | cut -d' ' -f1)" vouch.rb winget
    done
    [ "$(find . -name '*.whl' | wc -l)" -eq ${#systems[@]} ]
}

# The layer of an image of the container.
layer_of() { # architecture
    python3 - "$packages/vouch-$version-oci.tar" "$1" <<'END'
import json, sys, tarfile
archive = tarfile.open(sys.argv[1])
def blob(entry):
    return archive.extractfile("blobs/" + entry["digest"].replace(":", "/")).read()
index = json.loads(blob(json.load(archive.extractfile("index.json"))["manifests"][0]))
manifest, = [m for m in index["manifests"] if m["platform"]["architecture"] == sys.argv[2]]
sys.stdout.buffer.write(blob(json.loads(blob(manifest))["layers"][0]))
END
}

# Archive, Debian package, image and wheel for Linux have the same command, which has no symbols and runs in an empty
# root. No file has a path of this machine.
packages_have_the_command() {
    make_packages
    local system architecture command root
    for system in "${systems[@]}"; do
        root=$TMP/$system
        mkdir "$root" "$root"/{deb,image,wheel}
        case $system in
        windows-*) python3 -m zipfile -e "$packages/vouch-$version-$system.zip" "$root" ;;
        *) tar -xzf "$packages/vouch-$version-$system.tar.gz" -C "$root" --strip-components=1 ;;
        esac
        if grep -ralF "$PWD" "$root"; then return 1; fi
        case $system in
        linux-x86_64) architecture=amd64 ;;
        linux-aarch64) architecture=arm64 ;;
        *) continue ;;
        esac
        command=$root/bin/vouch
        [ -z "$(nm "$command" 2>/dev/null)" ]
        [ -z "$(dpkg-deb -f "$packages/vouch_${version}_$architecture.deb" Depends)" ]
        dpkg-deb -x "$packages/vouch_${version}_$architecture.deb" "$root/deb"
        layer_of $architecture | tar -xz -C "$root/image"
        python3 -m zipfile -e "$packages"/vouch_lm-*_"${system#linux-}".whl "$root/wheel"
        cmp "$command" "$root/deb/usr/bin/vouch"
        cmp "$command" "$root/image/usr/bin/vouch"
        cmp "$command" "$root/wheel/vouch/bin/vouch"
        if grep -ralF "$PWD" "$root/wheel"; then return 1; fi
        if [ "linux-$(uname -m)/$(id -u)" = "$system/0" ]; then
            [ "$(chroot "$root" /bin/vouch --version)" = "vouch $version" ]
        fi
    done
}

# The zip and the installer in a fresh prefix of Wine: the command writes the text of this machine's build.
windows_packages_install() {
    make_packages
    [ -x build/windows/vouch.exe ] || test_skip "build/windows/vouch.exe isn't built: make windows"
    command -v wine >/dev/null || test_skip "no Wine"
    [ -x "build/$BUILD/bench/synthetic" ] || test_skip "build/$BUILD/bench/synthetic isn't built: make tests"
    local words=(--prompt 'The quick brown fox' -n 16 --temp 0 --raw) text
    "build/$BUILD/bench/synthetic" --shape smollm2-135m --layers 1 --type Q4_0 --out "$TMP/m.gguf" >/dev/null
    text=$("build/$BUILD/vouch" run "$TMP/m.gguf" "${words[@]}")
    export WINEPREFIX=$TMP/prefix WINEDEBUG=-all
    trap 'wineserver -k || true' EXIT
    python3 -m zipfile -e "$packages/vouch-$version-windows-x86_64.zip" "$TMP/zip"
    [ -e "$packages/vouch-$version-windows-x86_64-setup.exe" ] || test_skip "no makensis: scripts/install release"
    wine "$packages/vouch-$version-windows-x86_64-setup.exe" /S
    local zipped=$TMP/zip/vouch-$version-windows-x86_64 installed
    installed=$(dirname "$(find "$WINEPREFIX" -name vouch.exe)")
    path() { wine reg query 'HKCU\Environment' /v Path 2>/dev/null | tr -d '\r' | sed -n 's/.*REG_[A-Z_]* *//p'; }
    path | grep -qi '\\Programs\\vouch$'
    diff -r "$zipped" "$installed" >"$TMP/diff" || true
    [ "$(cat "$TMP/diff")" = "Only in $installed: uninstall.exe" ]
    [ "$(wine "$installed/vouch.exe" --version | tr -d '\r')" = "vouch $version" ]
    [ "$(wine "$installed/vouch.exe" run "$TMP/m.gguf" "${words[@]}" | tr -d '\r')" = "$text" ]
    wine "$(winepath -w "$installed/uninstall.exe")" /S
    wineserver -w # the uninstaller starts itself again from another folder
    [ ! -e "$installed" ]
    if path | grep -i 'Programs\\vouch'; then return 1; fi
}

# The wheel in a fresh environment of each Python that is there.
wheels_install() {
    make_packages
    [ "$(uname -m)" = x86_64 ] || test_skip "this machine isn't x86-64"
    local python n=0
    for python in python3 python3.1{0,1,2,3,4}; do
        "$python" -c 'import ensurepip, venv' 2>/dev/null || continue
        "$python" -m venv "$TMP/$python"
        "$TMP/$python/bin/pip" install -q --no-index --disable-pip-version-check "$packages"/*manylinux*_x86_64.whl
        [ "$("$TMP/$python/bin/vouch" --version)" = "vouch $version" ]
        "$TMP/$python/bin/python" -c 'import vouch; print(vouch.__file__)' | grep -q "^$TMP/$python/"
        n=$((n + 1))
    done
    [ $n -gt 0 ] || test_skip "no Python with venv"
}

test_group installer_checks_and_installs installer_refuses archives_depend_on_contents_alone options_are_checked \
    packages_are_complete packages_have_the_command windows_packages_install wheels_install
