# SPDX-License-Identifier: MIT
"""Runs the command that the package carries: python -m vouch run --model FILE"""
import os
import pathlib
import sys


def main() -> None:
    """Becomes the command: its arguments, streams, signals and exit status are this process's."""
    command = pathlib.Path(__file__).parent / "bin" / "vouch"
    sys.stdout.flush()
    os.execv(command, ["vouch", *sys.argv[1:]])


if __name__ == "__main__":
    main()
