# SPDX-License-Identifier: MIT
"""A formula for Homebrew and a manifest for winget, with the digests of the packages."""
from .archive import Files

IDENTIFIER = "Vouch.Vouch"
SUMMARY = "Speculative decoding for language models on processors"
FORMULA = """\
class Vouch < Formula
  desc "{summary}"
  homepage "{address}"
  version "{version}"
  license "MIT"
{packages}
  def install
    bin.install "bin/vouch"
    man1.install "share/man/man1/vouch.1"
    bash_completion.install "share/bash-completion/completions/vouch"
    zsh_completion.install "share/zsh/site-functions/_vouch"
    fish_completion.install "share/fish/vendor_completions.d/vouch.fish"
    doc.install Dir["share/doc/vouch/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/vouch --version")
  end
end
"""


def formula(address, version, digests):
    """vouch.rb. digests: SHA-256 of the tar file of each system, such as macos-arm64."""
    packages = ""
    for system in ("macos", "linux"):
        inner = ""
        for words, processors in (("on_arm", ("arm64", "aarch64")), ("on_intel", ("x86_64",))):
            for processor in processors:
                name = f"{system}-{processor}"
                if name in digests:
                    inner += (f"    {words} do\n      url \"{address}/vouch-{version}-{name}.tar.gz\"\n"
                              f"      sha256 \"{digests[name]}\"\n    end\n")
        if inner:
            packages += f"\n  on_{system} do\n{inner}  end\n"
    return FORMULA.format(address=address, version=version, packages=packages, summary=SUMMARY)


def winget(address, version, name, digest):
    """The three files of a manifest. The command lies in the folder `name` of name.zip, whose SHA-256 is digest."""
    files = Files()

    def add(suffix, kind, lines):
        head = [f"PackageIdentifier: {IDENTIFIER}", f"PackageVersion: {version}"]
        tail = [f"ManifestType: {kind}", "ManifestVersion: 1.6.0"]
        files.add(f"{IDENTIFIER}{suffix}.yaml", "\n".join(head + lines + tail) + "\n")

    add("", "version", ["DefaultLocale: en-US"])
    add(".installer", "installer", [
        "InstallerType: zip", "NestedInstallerType: portable", "NestedInstallerFiles:",
        f"- RelativeFilePath: {name}\\vouch.exe", "  PortableCommandAlias: vouch", "Installers:",
        "- Architecture: x64", f"  InstallerUrl: {address}/{name}.zip", f"  InstallerSha256: {digest.upper()}"])
    add(".locale.en-US", "defaultLocale", [
        "PackageLocale: en-US", "Publisher: The vouch authors", "PackageName: vouch", "License: MIT",
        f"ShortDescription: {SUMMARY}"])
    return files
