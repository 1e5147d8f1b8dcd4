# SPDX-License-Identifier: MIT
"""Wheels of the Python package for any system, without the machinery of setuptools: its wheels differ between runs."""
import base64
import hashlib
import re
import tomllib

from .archive import Files, zipped


def metadata(version):
    """METADATA, from pyproject.toml."""
    with open("pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown"]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {need}; extra == "{extra}"' for need in needs]
    with open(project["readme"], encoding="utf-8") as file:
        text = "\n".join(lines) + "\n\n" + file.read()
    scripts = "".join(f"{name} = {entry}\n" for name, entry in project["scripts"].items())
    return re.sub(r"[-_.]+", "_", project["name"]), text, f"[console_scripts]\n{scripts}"


def manylinux(symbols, processor):
    """The tag of a library for Linux, from readelf's list of its symbols: the newest glibc that one of them needs."""
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"@GLIBC_(\d+\.\d+)", symbols)]
    if not versions:
        raise SystemExit("release: the library for Python names no version of glibc")
    return "manylinux_{}_{}_{}".format(*max(versions), processor)


def write(package, licences, version, tag, epoch):
    """Name and bytes of a wheel. package: the files of the folder vouch; licences: files."""
    name, text, entries = metadata(version)
    info = f"{name}-{version}.dist-info"
    files = package.below("vouch")
    files.update(licences.below(f"{info}/licenses"))
    files.add(f"{info}/METADATA", text)
    files.add(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: scripts/release\nRoot-Is-Purelib: false\n"
              f"Tag: py3-none-{tag}\n")
    files.add(f"{info}/entry_points.txt", entries)
    record = ""
    for path in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[path][0]).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(files[path][0])}\n"
    files.add(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    # The description of a wheel lies at its end, where installers look first.
    order = sorted(Files(files), key=lambda path: (path.startswith(info), path))
    return f"{name}-{version}-py3-none-{tag}.whl", zipped(files, epoch, lambda _: order)
