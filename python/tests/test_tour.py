# SPDX-License-Identifier: MIT
"""docs/tour.ipynb: its asserts hold, and its cells print what it shows."""
import json
import pathlib

import pytest
import run_notebook

PATH = pathlib.Path(__file__).parents[2] / "docs" / "tour.ipynb"


@pytest.fixture
def book():
    return json.loads(PATH.read_text())


def printed(cells):
    return ["".join("".join(output["text"]) for output in cell["outputs"])
            for cell in cells if cell["cell_type"] == "code"]


def test_cells_print_what_the_notebook_shows(book):
    assert run_notebook.run(book, PATH.name) == book


@pytest.mark.parametrize("before, after", [("SEED, TEMPERATURE = 35", "SEED, TEMPERATURE = 36"),
                                           ("ACCEPT, DRAFT = 0, 1, 2", "ACCEPT, DRAFT = 0, 2, 1"),
                                           ("[max(0, a - b) for", "[max(0, b - a) for")])
def test_asserts_find_mistakes(book, before, after):
    wrong = json.loads(json.dumps(book).replace(before, after))
    assert wrong != book
    with pytest.raises(AssertionError):
        run_notebook.run(wrong, PATH.name)


def test_jupyter_prints_the_same(book):
    nbclient = pytest.importorskip("nbclient", reason="no nbclient: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    run = nbformat.read(PATH, 4)
    nbformat.validate(run)
    nbclient.NotebookClient(run, kernel_name="python3", timeout=600).execute()
    assert printed(run["cells"]) == printed(book["cells"])
