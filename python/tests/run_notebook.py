# SPDX-License-Identifier: MIT
"""Runs the code cells of a notebook without Jupyter, and writes it again with what they print:  run_notebook.py FILE

Cells show what they print, and nothing else.
"""
import contextlib
import io
import json
import pathlib
import sys


def run(book, name):
    """The notebook with the outputs of this run. A line of a cell that fails has a place such as name:cell:3."""
    names = {"__name__": "__main__"}
    book = json.loads(json.dumps(book))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"{name}:{cell['id']}", "exec"), names)
        lines = printed.getvalue().splitlines(keepends=True)
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
    return book


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    text = json.dumps(run(json.loads(path.read_text()), path.name), indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n")
