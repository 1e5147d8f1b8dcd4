# SPDX-License-Identifier: MIT
"""Archives whose bytes depend on names, contents and modes of their files alone, and on one time for all of them."""
import gzip
import io
import tarfile
import time
import zipfile


class Files(dict):
    """The files of a package: path -> (bytes, mode). Paths are relative and have slashes."""

    def add(self, path, content, mode=0o644):
        self[path] = (content.encode() if isinstance(content, str) else content, mode)

    def below(self, folder):
        """The same files, in a folder."""
        return Files((f"{folder}/{path}", entry) for path, entry in self.items())

    def folders(self):
        found = set()
        for path in self:
            parts = path.split("/")[:-1]
            found.update("/".join(parts[:n]) for n in range(1, len(parts) + 1))
        return sorted(found)

    def write(self, folder):
        """Lays the files out below a pathlib.Path."""
        for name in self.folders():
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name).chmod(0o755)
        for path, (content, mode) in self.items():
            (folder / path).write_bytes(content)
            (folder / path).chmod(mode)


def tar(files, epoch):
    """An uncompressed tar archive, with an entry for each folder."""
    buffer = io.BytesIO()
    entries = [(path, None, 0o755) for path in files.folders()]
    entries += [(path, content, mode) for path, (content, mode) in files.items()]
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, content, mode in sorted(entries, key=lambda entry: entry[0]):
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, epoch
            if content is None:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(content)
            archive.addfile(entry, None if content is None else io.BytesIO(content))
    return buffer.getvalue()


def gz(content):
    """gzip's format, without name and time."""
    return gzip.compress(content, 9, mtime=0)


def zipped(files, epoch, order=sorted):
    """A zip archive; order(paths) says in which order the files lie."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in order(files):
            content, mode = files[path]
            entry = zipfile.ZipInfo(path, time.gmtime(epoch)[:6])
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()
