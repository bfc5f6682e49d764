"""Expressions of documents as SymPy's."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

# Names with dots, initial values and derivatives of inputs are one symbol each.
_NAME = re.compile(r"(?:init|der)\([^()]*\)|[^\W\d]\w*(?:\.\w+)*", re.UNICODE)
_WORDS = {"and", "or", "not"}


def _functions() -> dict[str, Callable[..., Any]]:
    import sympy

    same = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp sqrt sign".split()
    known: dict[str, Callable[..., Any]] = {name: getattr(sympy, name) for name in same}
    known |= {"ln": sympy.log, "abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max}
    known["log10"] = lambda x: sympy.log(x) / sympy.log(10)
    known["if"] = lambda condition, a, b: sympy.Piecewise((a, condition), (b, True))
    return known


class _Reader:
    def __init__(self) -> None:
        self.functions = _functions()
        self.names: dict[str, str] = {}

    def read(self, text: str) -> Any:
        import sympy

        def placed(match: re.Match[str]) -> str:
            word = match.group(0)
            if word in _WORDS:
                return word
            return self.names.setdefault(word, f"_{len(self.names)}")

        source = _NAME.sub(placed, re.sub(r"(?<![\w.])(\d+\.?\d*)[eE]([+-]?\d+)", r"(\1*10**(\2))", text))
        source = source.replace("^", "**").strip()
        tree = ast.parse(source, mode="eval")
        words = {placeholder: word for word, placeholder in self.names.items()}
        return self.value(tree.body, words, sympy, source)

    def value(self, node: ast.expr, words: Mapping[str, str], sympy: Any, source: str) -> Any:
        def inner(other: ast.expr) -> Any:
            return self.value(other, words, sympy, source)

        if isinstance(node, ast.Constant):
            # The digits as they are written are exact.
            return sympy.Rational(ast.get_source_segment(source, node))
        if isinstance(node, ast.Name):
            word = words[node.id]
            return sympy.pi if word == "pi" else sympy.Symbol(word)
        if isinstance(node, ast.UnaryOp):
            operand = inner(node.operand)
            if isinstance(node.op, ast.Not):
                return sympy.Not(operand)
            return -operand if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.BinOp):
            left, right = inner(node.left), inner(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Div):
                return left / right
            return left**right
        if isinstance(node, ast.BoolOp):
            joined = sympy.And if isinstance(node.op, ast.And) else sympy.Or
            return joined(*map(inner, node.values))
        if isinstance(node, ast.Compare):
            kinds = {ast.Lt: sympy.Lt, ast.LtE: sympy.Le, ast.Gt: sympy.Gt, ast.GtE: sympy.Ge, ast.Eq: sympy.Eq}
            return kinds[type(node.ops[0])](inner(node.left), inner(node.comparators[0]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            word = words[node.func.id]
            function = self.functions.get(word) or sympy.Function(word)
            return function(*map(inner, node.args))
        raise ValueError(f"no expression: {ast.dump(node)}")


def expression(text: str, definitions: Mapping[str, str] | None = None) -> Any:
    """An expression as SymPy's, with named sub-expressions put in their places."""
    import sympy

    found = _Reader().read(text)
    for name, value in reversed(list((definitions or {}).items())):
        found = found.xreplace({sympy.Symbol(name): _Reader().read(value)})
    return found


def matrix(entries: Any, rows: int, columns: int, definitions: Mapping[str, str] | None = None) -> Any:
    """A matrix as SymPy's, from rows of strings or from row, column and entry."""
    import sympy

    made = sympy.zeros(rows, columns)
    if entries and isinstance(entries[0], (tuple, list)) and entries[0] and isinstance(entries[0][0], int):
        for row, column, text in entries:
            made[row, column] = expression(text, definitions)
        return made
    for row, texts in enumerate(entries):
        for column, text in enumerate(texts):
            made[row, column] = expression(text, definitions)
    return made


#: Longer formulas keep a notebook busy for seconds and are read by nobody.
_LONGEST = 30_000

#: Blocks of the LaTeX that the library writes, and what they are within one display.
_BLOCKS = {
    r"\begin{align*}": (r"\end{align*}", r"\begin{aligned}", r"\end{aligned}"),
    r"\[": (r"\]", r"\displaystyle", ""),
}


def _heading(text: str) -> str:
    r"""A heading within a formula. Renderers of notebooks show ``\_`` within ``\textbf`` as it is written, and know it
    in a formula: characters that LaTeX reserves stand between two parts of the text."""
    parts = re.split(r"([#$%&_{}])", text)
    return "".join("\\" + part if k % 2 else r"\textbf{" + part + "}" for k, part in enumerate(parts) if part)


def display(text: str) -> str | None:
    """LaTeX as one display, which notebooks typeset whatever their renderer: headings are comments in the text, and
    renderers show what stands outside of math as it is."""
    if len(text) > _LONGEST:
        return None
    rows: list[str] = []
    inside: list[str] = []
    end = ""
    for line in (line.strip() for line in text.splitlines()):
        if end:
            if line == end:
                close = next(after for last, _, after in _BLOCKS.values() if last == end)
                rows.append(" ".join([*inside, close]).strip())
                inside, end = [], ""
            else:
                inside.append(line)
        elif line in _BLOCKS:
            end, opened, _ = _BLOCKS[line]
            inside = [opened]
        elif line.startswith("%"):
            rows.append(_heading(line.lstrip("% ")))
        elif line.startswith(r"\paragraph{"):
            text_of = line.removeprefix(r"\paragraph{").removesuffix("}")
            rows.append(_heading(re.sub(r"\\([#$%&_{}])", r"\1", text_of)))
        elif line and not line.startswith(r"\setcounter"):
            # Something else than headings and formulas: it is left as it is.
            return text
    return r"$$\begin{array}{l}" + " \\\\[1ex]\n".join(rows) + r"\end{array}$$" if rows else None
