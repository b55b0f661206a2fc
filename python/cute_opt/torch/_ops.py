"""Functions of packages as operations of PyTorch."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Union

import torch

from .._errors import CuteError
from .._package import Function

_Outputs = Callable[..., Union[torch.Tensor, Sequence[torch.Tensor]]]


def op(name: str, function: Function, outputs: Optional[_Outputs] = None) -> Any:
    """Makes an operation of PyTorch of a package's function: `torch.library.custom_op`, with a fake implementation, so that
    `torch.compile` and `torch.export` trace it.

    `name` is `NAMESPACE::NAME`. Without `outputs` the operation takes the function's arguments in their order, writes those that it writes,
    and returns nothing. With `outputs`, it takes those that are only read, and returns the others: `outputs` is called with what the
    operation is called with and makes them, in the order of the arguments (`lambda x: torch.empty_like(x)`).

    Kernels are queued on PyTorch's current stream. Returns what `custom_op` does: it is called, and takes `register_autograd`.
    """
    args = function.args
    written = [arg.get("access", "read") != "read" for arg in args]
    both = [arg["name"] for arg in args if arg.get("access") == "read_write"]
    if outputs is not None and both:
        raise CuteError(f"{name}: expected outputs that are not read, found {', '.join(both)}; leave `outputs` out, and pass them")
    names = [_name(arg["name"], at) for at, arg in enumerate(args)]
    # Numbers with a default come last, as a schema asks.
    taken = [at for at in range(len(args)) if outputs is None or not written[at]]
    taken.sort(key=lambda at: args[at]["kind"] != "tensor" and args[at].get("default") is not None)
    schema = []
    for at in taken:
        arg = args[at]
        if arg["kind"] == "tensor":
            kind = f"Tensor(a{at}!)" if written[at] else "Tensor"
            schema.append(f"{kind} {names[at]}")
        else:
            kind = "float" if str(arg["type"] if "type" in arg else arg["element"]).startswith(("f", "bf", "tf")) else "int"
            default = arg.get("default")
            # None is the package's number.
            schema.append(f"{kind} {names[at]}" if default is None else f"{kind}? {names[at]}=None")
    count = sum(written)
    result = "()" if outputs is None else "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"

    def made(given: Sequence[Any]) -> List[torch.Tensor]:
        assert outputs is not None
        new = outputs(*given)
        tensors = [new] if isinstance(new, torch.Tensor) else list(new)
        if len(tensors) != count:
            raise CuteError(f"{name}: expected {count} tensors of `outputs`, one for each that {function.name} writes, found {len(tensors)}")
        return tensors

    def packed(tensors: List[torch.Tensor]) -> Any:
        return tensors[0] if count == 1 else tuple(tensors)

    def run(*given: Any) -> Any:
        all: List[Any] = [None] * len(args)
        for at, one in zip(taken, given):
            all[at] = one.detach() if isinstance(one, torch.Tensor) else one
        new = [] if outputs is None else made(given)
        for at, one in zip([at for at in range(len(args)) if written[at]], new):
            all[at] = one
        function(*all)
        return None if outputs is None else packed(new)

    def fake(*given: Any) -> Any:
        return None if outputs is None else packed(made(given))

    changed = [names[at] for at in taken if written[at]] if outputs is None else []
    operation = torch.library.custom_op(name, run, mutates_args=changed, schema=f"({', '.join(schema)}) -> {result}")
    operation.register_fake(fake)
    return operation


def _name(name: str, at: int) -> str:
    """A name that Python and a schema take."""
    import keyword

    return name if name.isidentifier() and not keyword.iskeyword(name) and name != "self" else f"argument{at}"
