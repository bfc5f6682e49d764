"""What went wrong, as exceptions and warnings with the line of the model they point at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence


@dataclass(frozen=True)
class Diagnostic:
    """One finding about a model: where, what, and how to mend it."""

    #: ``error``, ``warning`` or ``note``.
    severity: str
    #: The code, which :func:`paynter.explain` has a page on.
    code: str
    #: What is wrong, with the model's own names.
    message: str
    #: How to mend it.
    help: str
    #: The file, where one is involved.
    file: str | None = None
    #: The line, from 1.
    line: int | None = None
    #: The column in characters, from 1.
    column: int | None = None
    #: The line that it points at, with marks under the place.
    excerpt: str | None = None

    def __str__(self) -> str:
        text = f"{self.severity}[{self.code}]: {self.message}"
        if self.file is not None and self.line is not None:
            text += f"\n  --> {self.file}:{self.line}:{self.column}"
        if self.excerpt:
            text += "".join(f"\n    {line}" for line in self.excerpt.splitlines())
        return f"{text}\n  help: {self.help}"


def diagnostics_of(findings: Iterable[Mapping[str, Any]]) -> list[Diagnostic]:
    """Findings of the native module as diagnostics."""
    return [Diagnostic(**finding) for finding in findings]


class PaynterError(Exception):
    """The base of the package's own exceptions."""


class ModelError(PaynterError):
    """A model, its data or a question about it is wrong: ``diagnostics`` say where, what and how to mend it."""

    def __init__(self, findings: Sequence[Mapping[str, Any] | Diagnostic] = ()) -> None:
        #: All findings, errors and others, by place.
        self.diagnostics: list[Diagnostic] = [
            finding if isinstance(finding, Diagnostic) else Diagnostic(**finding) for finding in findings
        ]
        super().__init__(self.diagnostics)

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that are errors."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    def __str__(self) -> str:
        told = self.errors or self.diagnostics
        return "\n".join(str(diagnostic) for diagnostic in told) or "the question has no answer"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.diagnostics,))


class InternalError(PaynterError):
    """The library has made a mistake. Please report it, with the model and what was asked."""

    def __str__(self) -> str:
        return (
            f"internal error: {super().__str__()}. This is a mistake in Paynter, not in your model; "
            "please report it with the model and the question"
        )


class RateFailure(PaynterError, ArithmeticError):
    """The right-hand side of a model has no value where it was asked for one."""


class EnsembleError(PaynterError):
    """Chunks of an ensemble were lost. ``partial`` holds what was finished; asking again with it goes on from there."""

    def __init__(self, message: str, partial: Any = None) -> None:
        super().__init__(message, partial)
        #: What was finished, by the number of the chunk.
        self.partial = partial

    def __str__(self) -> str:
        return str(self.args[0])


class ModelWarning(UserWarning):
    """A model works, but perhaps not as its author thinks: ``diagnostic`` says why."""

    def __init__(self, diagnostic: Diagnostic | str) -> None:
        super().__init__(diagnostic)
        #: The finding, or words where it is about no place in the model.
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return str(self.diagnostic)
