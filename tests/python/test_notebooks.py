"""The notebooks run from top to bottom."""

import json

import pytest

NOTEBOOKS = ["1_motor", "2_sensitivities", "3_identification", "4_tolerances", "5_biochemical_cycle", "6_ten_thousand_runs"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_notebook_runs(name, root):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(root / f"docs/notebooks/{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    # Models draw themselves, equations are typeset, tables and plots are shown.
    assert kinds & {"image/svg+xml", "text/html", "text/latex"}


def test_every_notebook_is_run(root):
    found = sorted(path.stem for path in (root / "docs/notebooks").glob("*.ipynb"))
    assert found == NOTEBOOKS
    for path in (root / "docs/notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") for cell in cells), f"{path.name} holds outputs"
