"""Drawings and reports."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._result import _escaped, Result


def positions(layout: Any) -> str | None:
    """Positions as a layout file has them; nothing where the file does not exist yet."""
    if layout is None:
        return None
    if isinstance(layout, Mapping):
        return json.dumps({str(name): [float(x), float(y)] for name, (x, y) in layout.items()})
    file = Path(layout)
    return file.read_text(encoding="utf-8") if file.exists() else None


class Drawing:
    """A picture as SVG, which notebooks show."""

    def __init__(self, svg: str, layout: str | None = None) -> None:
        #: The picture.
        self.svg = svg
        self._layout = layout

    @property
    def layout(self) -> dict[str, tuple[float, float]]:
        """Where elements and junctions stand, by name; none of a block diagram."""
        return {name: (float(x), float(y)) for name, (x, y) in json.loads(self._layout or "{}").items()}

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Any) -> None:
        """Writes the picture to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<paynter.Drawing, {len(self.svg)} characters of SVG>"


class Report(Result):
    """One page with everything about a model."""

    @property
    def html(self) -> str:
        """The page."""
        return str(self.document["html"])

    def save(self, path: Any) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        page = _escaped(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:600px;border:0"></iframe>'


def keep(drawing: Drawing, layout: Any) -> None:
    """Writes a layout file that does not exist."""
    if isinstance(layout, (str, os.PathLike)) and not Path(layout).exists():
        Path(layout).write_text(drawing._layout or "{}\n", encoding="utf-8")
