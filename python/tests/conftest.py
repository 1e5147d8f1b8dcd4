# SPDX-License-Identifier: MIT
import pathlib

import pytest
import tiny
import vouch


@pytest.fixture(scope="session")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "tiny.gguf"
    tiny.write(file)
    return file


@pytest.fixture(scope="session")
def model(path):
    with vouch.Model(path) as opened:
        yield opened


@pytest.fixture(scope="session")
def command():
    return pathlib.Path(vouch.__file__).parent / "bin" / "vouch"
