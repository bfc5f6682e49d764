"""The progress of long work: tqdm's bar where it is installed, a line of text where not."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Bar:
    """Shows stages of work with their steps; used as a context."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._bar: Any = None
        self._stage = ""
        self._wrote = False

    def __enter__(self) -> "Bar | None":
        return self if self._shown else None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Takes in how far the work is."""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._line(stage, done, total)
            return
        if self._bar is None or stage != self._stage:
            self._close()
            self._bar, self._stage = tqdm(total=total or None, desc=stage or None), stage
        if total and self._bar.total != total:
            self._bar.reset(total=total)
        self._bar.update(done - self._bar.n)

    def _line(self, stage: str, done: int, total: int) -> None:
        share = f" {100 * done // total:3d} %" if total else f" {done}" if done else ""
        sys.stderr.write(f"\r{stage}{share}\x1b[K")
        sys.stderr.flush()
        self._wrote = True

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._wrote:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
