"""Layouts and their algebra: the language of `cute-layout`."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _tools
from ._errors import CuteError, LayoutError

#: A nested tuple of integers; a polynomial of symbols is its text.
Tuples = Union[int, str, Tuple[Any, ...]]

#: What functions take: values, nested tuples, integers, and text in the language of `cute-layout`.
Operand = Union["Value", int, str, Tuple[Any, ...]]


def layout(expression: Operand, where: Optional[str] = None) -> Layout:
    """Returns the layout that an expression is, such as `((2,2),8):((1,4),2)`.

    Symbols are positive integers of which `where` says more, such as `M % 128 == 0, K >= 32`. A shape alone is column-major.
    """
    where = _facts(where, expression)
    value = evaluate(_text(expression), where)
    if not isinstance(value, Layout):
        value = evaluate(f"make_layout({value})", where)
    if not isinstance(value, Layout):
        raise CuteError(f"expected a layout, found {value}, {value.kind}")
    return value


def evaluate(expression: str, where: Optional[str] = None) -> Value:
    """Returns the value of an expression of `cute-layout`: a layout, a tuple, a tiled copy and so on (docs/cute-layout.md)."""
    found: Dict[str, Any] = json.loads(_tools.native().evaluate(expression, where))
    if "error" in found:
        error = found["error"]
        # Bytes of the expression.
        start, end = (len(expression.encode()[: error[at]].decode(errors="replace")) for at in ("start", "end"))
        raise LayoutError(error["message"], expression, start, end, error.get("needs"))
    kind = Layout if found["kind"] == "layout" else Value
    return kind(found, where)


def _facts(where: Optional[str], *operands: Operand) -> Optional[str]:
    """Returns what is said, and what is known of symbols of the operands that are values."""
    known = [where, *(operand._where for operand in operands if isinstance(operand, Value))]
    facts = dict.fromkeys(fact for fact in known if fact)
    return ", ".join(facts) or None


def _text(operand: Operand) -> str:
    if isinstance(operand, bool):
        raise CuteError(f"expected an integer, a tuple, a value or text of the language of cute-layout, found {operand}")
    if isinstance(operand, tuple):
        parts = ",".join(map(_text, operand))
        return f"({parts})"
    return "_" if operand is None else str(operand)


def _tuples(value: Any) -> Tuples:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class Value:
    """A value of the layout algebra. Each function of `cute-layout` is a method, with the value as its first operand.

    Shape, strides, size and cosize of a layout are properties.
    """

    def __init__(self, found: Dict[str, Any], where: Optional[str]) -> None:
        self._found, self._where = found, where
        #: What is right but may surprise.
        self.notes: Tuple[str, ...] = tuple(found.get("notes", ()))

    @property
    def kind(self) -> str:
        """What it is: `layout`, `tuple`, `swizzle`, `tiler` and so on."""
        return str(self._found["kind"])

    @property
    def value(self) -> Tuples:
        """The nested tuple that it is; of others than tuples and integers the text."""
        return _tuples(self._found.get("value", str(self)))

    def __str__(self) -> str:
        return str(self._found["result"])

    def __repr__(self) -> str:
        return f"cute_opt.evaluate({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and (str(self), self._where) == (str(other), other._where)

    def __hash__(self) -> int:
        return hash((str(self), self._where))

    def apply_function(self, name: str, *operands: Operand) -> Value:
        """Returns a function of `cute-layout` of this value and others."""
        return evaluate(f"{name}({', '.join(map(_text, (self, *operands)))})", _facts(self._where, *operands))

    def __getattr__(self, name: str) -> Any:
        # Python looks for names with underscores of its own.
        if name.startswith("_"):
            raise AttributeError(name)

        def function(*operands: Operand) -> Value:
            return self.apply_function(name, *operands)

        function.__name__ = name
        return function

    def __dir__(self) -> List[str]:
        """Names of methods, those that are functions of `cute-layout`, too."""
        lines = _tools.native().functions().splitlines()
        names = {line.split("(", 1)[0] for line in lines if "(" in line and not line.startswith(" ")}
        return sorted({*super().__dir__(), *names})

    def _picture(self, as_svg: bool) -> str:
        return str(_tools.native().picture(as_svg, str(self), self._where))

    def svg(self) -> str:
        """Returns a picture of a layout, a tiled copy or a tiled MMA."""
        return self._picture(True)

    def tikz(self) -> str:
        """Returns a document of LaTeX with the picture, as CuTe's `print_latex`."""
        return self._picture(False)

    def _repr_svg_(self) -> Optional[str]:
        # What has no picture is shown as text: layouts with symbols, and of three modes.
        try:
            return self.svg()
        except CuteError:
            return None

    def _repr_latex_(self) -> str:
        return "$" + re.sub(r"[_%{}#&$]", r"\\\g<0>", str(self)) + "$"


class Layout(Value):
    """A layout: a function from coordinates to offsets."""

    @property
    def shape(self) -> Tuples:
        """The shape, a nested tuple."""
        return _tuples(self._found["shape"])

    @property
    def stride(self) -> Tuples:
        """The strides, congruent to the shape."""
        return _tuples(self._found["stride"])

    @property
    def size(self) -> Optional[int]:
        """Elements of the domain; None where it is not known."""
        return self._found.get("size")

    @property
    def cosize(self) -> Optional[int]:
        """One more than the largest offset; None where it is not known."""
        return self._found.get("cosize")

    def __call__(self, *coordinate: Union[int, str, Tuple[Any, ...], None]) -> Any:
        """Returns the offset of a coordinate; with None for modes that stay, the layout that is left (its start is a note)."""
        of: Operand = coordinate[0] if len(coordinate) == 1 and coordinate[0] is not None else tuple(coordinate)
        if _has_none(of):
            return evaluate(f"slice({_text(of)}, {self})", self._where)
        return self.apply_function("apply", of).value

    def __matmul__(self, other: Operand) -> Value:
        """Returns the composition: this layout of what the other gives."""
        return self.apply_function("composition", other)

    def compose(self, other: Operand) -> Value:
        """Returns the composition: this layout of what the other gives."""
        return self.apply_function("composition", other)

    def __repr__(self) -> str:
        where = "" if self._where is None else f", where={self._where!r}"
        return f"cute_opt.layout({str(self)!r}{where})"


def _has_none(value: Any) -> bool:
    return value is None or isinstance(value, tuple) and any(map(_has_none, value))
