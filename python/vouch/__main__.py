# SPDX-License-Identifier: MIT
"""Runs the command that the package carries: python -m vouch run --model FILE"""
import os
import signal
import subprocess
import sys

from ._library import COMMAND


def main() -> None:
    """Becomes the command: its arguments, streams, signals and exit status are this process's."""
    sys.stdout.flush()
    if sys.platform == "win32":  # a process there can't become another; both get Ctrl-C, and the command handles it
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(subprocess.call([COMMAND, *sys.argv[1:]]))
    os.execv(COMMAND, ["vouch", *sys.argv[1:]])


if __name__ == "__main__":
    main()
