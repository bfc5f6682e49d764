"""The page of the handbook on Python is run, block after block."""

import re

import pytest


def test_the_page_on_python_runs(root, capsys):
    pytest.importorskip("control")
    text = (root / "docs/src/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) > 5
    names = {}
    for block in blocks:
        exec(compile(block, "docs/src/python.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "^^" in shown and "not known" in shown
