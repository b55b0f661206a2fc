"""Errors, with the place that each is at."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple


class CuteError(Exception):
    """An error of this module."""


class Diagnostic(NamedTuple):
    """A message of the compiler."""

    #: `error`, `warning`, `remark` or `note`.
    severity: str
    #: What was expected, what was found, and what to do.
    message: str
    #: The file, or `<stdin>` for a text; none where the message is on no place.
    file: Optional[str] = None
    #: The line, from 1.
    line: Optional[int] = None
    #: The column, from 1.
    column: Optional[int] = None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}:{self.column}: "
        return f"{place}{self.severity}: {self.message}"


class CompileError(CuteError):
    """A text that does not compile. `diagnostics` has each message with its place."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics: Tuple[Diagnostic, ...] = tuple(diagnostics)


class LayoutError(CuteError, ValueError):
    """An expression of layouts that is wrong or has no answer. `start` and `end` are the part of `expression` that failed."""

    def __init__(self, message: str, expression: str, start: int, end: int, needs: Optional[str] = None) -> None:
        marked = f"{message}\n  | {expression}\n  | {' ' * start}{'^' * max(1, end - start)}"
        super().__init__(marked if "\n" not in expression else message)
        self.message, self.expression, self.start, self.end = message, expression, start, end
        #: A fact about symbols with which there would be an answer.
        self.needs = needs


class ArgumentTypeError(CuteError, TypeError):
    """An argument of another kind or type than the function takes, or another number of arguments."""


class ArgumentValueError(CuteError, ValueError):
    """An argument that the function does not take: its shape, strides, device or memory."""


class DeviceError(CuteError, RuntimeError):
    """No driver, no GPU, no code for it, or an error of the driver's."""


class FindingsError(CuteError, RuntimeError):
    """The emulator ran the kernels, and saw them do what they must not do; the text has each finding with its place."""
