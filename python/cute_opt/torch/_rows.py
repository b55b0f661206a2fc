"""Groups of a graph's operations on rows that become one kernel: norms, softmax, and what is computed around them element by element."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import torch

from ._call import ELEMENTS, Modes
from ._fuse import _MOST_READ, _MOST_STORED, _VIEWS, Refused, _compact, _depends, _same_shape, leaf, same
from ._region import Number, Region, computes, is_number, shape_of, write
from ._text import Leaf, Operand, align_of

aten = torch.ops.aten

_REDUCTIONS = {aten.mean.dim: "mean", aten.sum.dim_IntList: "add", aten.amax.default: "maximum", aten.amin.default: "minimum"}
_NORMS = {aten.native_layer_norm.default, aten._softmax.default}
_PRODUCTS = {aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default}

# Extents: rows, columns, and 1.
_M, _N, _ONE = range(3)

# Modes of contiguous tensors, whatever their dimensions are: of one with all elements, whose rows are as far apart as they are long, of
# one with a number for each row, of one with a number for each column, and of a single number.
_WHOLE: Modes = ((_M, -1 - _N), (_N, -1 - _ONE))
_EACH_ROW: Modes = ((_M, -1 - _ONE), (_N, None))
_EACH_COLUMN: Modes = ((_M, None), (_N, -1 - _ONE))
_SINGLE: Modes = ((_M, None), (_N, None))


class Rows(NamedTuple):
    """A group: members in the order of the graph."""

    members: Tuple[torch.fx.Node, ...]
    #: Members that others need.
    stored: Tuple[torch.fx.Node, ...]
    #: What is read, and its modes.
    read: Dict[torch.fx.Node, Modes]
    #: A tensor of all elements that is read first.
    first: torch.fx.Node


def reduces(node: torch.fx.Node) -> bool:
    """Tells whether a node reduces rows, and nothing else."""
    if node.op != "call_function" or not node.all_input_nodes or not is_number(node.all_input_nodes[0]):
        return False
    source = node.all_input_nodes[0]
    rank = len(shape_of(source))
    if rank < 2 or not _compact(source.meta["val"]):
        return False
    if node.target is aten._softmax.default:
        return node.args[1] in (-1, rank - 1)
    if node.target is aten.native_layer_norm.default:
        return len(node.args[1]) == 1 and isinstance(node.args[4], float)
    if node.target not in _REDUCTIONS or not is_number(node):
        return False
    dims = node.args[1] if len(node.args) > 1 else None
    dims = [dims] if isinstance(dims, int) else dims
    return dims is not None and list(dims) in ([-1], [rank - 1]) and len(node.args) > 2 and node.args[2] is True


def _is_item(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and node.target is operator.getitem and node.args[0].target is aten.native_layer_norm.default


def rows(anchor: torch.fx.Node, order: Dict[torch.fx.Node, int], taken: Set[torch.fx.Node]) -> Rows:
    """The group of a reduction; `order` is that of the graph, and `taken` are members of others.

    Raises Refused.
    """
    shape = shape_of(anchor.all_input_nodes[0])
    inside: Set[torch.fx.Node] = set()
    read: Dict[torch.fx.Node, Modes] = {}

    def inputs_of(members: Set[torch.fx.Node]) -> Optional[Dict[torch.fx.Node, Modes]]:
        """What members read, if they can be one kernel."""
        found: Dict[torch.fx.Node, Modes] = {}
        first = min(order[one] for one in members)
        for member in sorted(members, key=order.__getitem__):
            for one in member.all_input_nodes:
                if one in members or one in found:
                    continue
                modes = _modes(one, shape)
                if modes is None or _depends(one, members, order, first):
                    return None
                found[one] = modes
        stored = [one for one in members if any(user not in members for user in one.users)]
        if len(found) > _MOST_READ or len(stored) > _MOST_STORED:
            return None
        return found

    def take(node: torch.fx.Node) -> bool:
        nonlocal read
        if node in taken or node in inside:
            return False
        if not (computes(node) or reduces(node) or _is_item(node)) or not _has_shape(node, shape):
            return False
        found = inputs_of(inside | {node})
        if found is None:
            return False
        inside.add(node)
        read = found
        return True

    if not take(anchor):
        raise Refused("what it reads does not lie as its rows do")
    grew = True
    while grew:
        grew = False
        for node in sorted({user for one in inside for user in one.users}, key=order.__getitem__):
            grew |= take(node)
        for node in sorted({one for member in inside for one in member.all_input_nodes}, key=order.__getitem__, reverse=True):
            # Of others it would be computed or stored anyway, and behind a product it costs nothing.
            if node in order and all(user in inside for user in node.users) and not any(map(_is_product, node.all_input_nodes)):
                grew |= computes(node) and take(node)
    members = tuple(sorted(inside, key=order.__getitem__))
    stored = tuple(one for one in members if any(user not in inside for user in one.users))
    if any(not isinstance(one.meta["val"], torch.Tensor) for one in stored) or not stored:
        raise Refused("its parts are needed as one")
    if len(members) < 2 and anchor.target not in _NORMS:
        raise Refused("it is a reduction alone")
    whole = [one for one, modes in read.items() if modes == _WHOLE]
    if not whole:
        raise Refused("no tensor of all elements is read")
    return Rows(members, stored, read, whole[0])


def _is_product(node: torch.fx.Node) -> bool:
    while node.op == "call_function" and node.target in _VIEWS:
        node = node.args[0]
    return node.target in _PRODUCTS


def _has_shape(node: torch.fx.Node, shape: Sequence[Any]) -> bool:
    """Tells whether a node has a number for each element, or for each row."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        # Of a norm, whose results are items.
        return node.target is aten.native_layer_norm.default and _same_shape(shape_of(node.args[0]), shape)
    if not _compact(value):
        return False
    own = tuple(value.shape)
    return _same_shape(own, shape) or _same_shape(own, (*shape[:-1], 1))


def _modes(node: torch.fx.Node, shape: Sequence[Any]) -> Optional[Modes]:
    """How a tensor that is read lies along rows and columns; none if it does otherwise."""
    if not is_number(node):
        return None
    value, own = node.meta["val"], shape_of(node)
    if all(same(size, 1) for size in own):
        return _SINGLE
    if not _compact(value):
        return None
    if _same_shape(own, shape):
        return _WHOLE
    if _same_shape(own, (*shape[:-1], 1)):
        return _EACH_ROW
    if same(own[-1], shape[-1]) and all(same(size, 1) for size in own[:-1]):
        return _EACH_COLUMN
    return None


def sizes(found: Rows) -> Tuple[Leaf, Leaf]:
    """Rows, which are open, and columns."""
    return Leaf(None), leaf(shape_of(found.first)[-1])


def operand(name: str, node: torch.fx.Node, modes: Modes, extents: Sequence[Leaf]) -> Operand:
    """What a kernel takes of a node's tensor, which is contiguous."""
    dtype = node.meta["val"].dtype
    lengths = {None: Leaf(0), -1 - _ONE: Leaf(1), -1 - _N: extents[_N]}
    strides = tuple(lengths[dim] for _, dim in modes)
    return Operand(name, dtype, tuple(extents), strides, modes, align_of(dtype, strides))


def text(found: Rows, operands: Sequence[Operand], count: int) -> str:
    """The IR of a group: `operands` are `count` tensors that are read and those that are written."""
    out = Region()
    numbers: Dict[torch.fx.Node, Any] = {}
    for at, node in enumerate(found.read):
        numbers[node] = out.load(f"%e{at}", node.meta["val"].dtype)
    for node in found.members:
        numbers[node] = _write(out, node, numbers)
    names = [out.store(numbers[node], node.meta["val"].dtype) for node in found.stored]
    kinds = [ELEMENTS[node.meta["val"].dtype][0] for node in found.stored]
    types = [one.type() for one in operands]
    tensors = [f"%{one.name}" for one in operands]
    head = ", ".join(f'{name}: {kind} {{cute.name = "{name[1:]}"}}' for name, kind in zip(tensors, types))
    given = ", ".join(f"%e{at}: {ELEMENTS[one.dtype][0]}" for at, one in enumerate(operands[:count]))
    lines = [f"func.func @rows({head}) {{"]
    lines.append(f"  cute.map ins({', '.join(tensors[:count])} : {', '.join(types[:count])})")
    lines.append(f"    outs({', '.join(tensors[count:])} : {', '.join(types[count:])}) {{")
    lines.append(f"  ^bb0({given}):")
    lines += [f"    {line}" for line in (*out.needed(names), f"cute.yield {', '.join(names)} : {', '.join(kinds)}")]
    lines += ["  }", "  return", "}", ""]
    return "\n".join(lines)


def _write(out: Region, node: torch.fx.Node, numbers: Dict[torch.fx.Node, Any]) -> Any:
    def along(kind: str, number: Number) -> str:
        return out.line(f'cute.all_reduce "{kind}" {out.name(number)} along [1] : f32')

    if node.target in _REDUCTIONS:
        return along(_REDUCTIONS[node.target], numbers[node.args[0]])
    if node.target is operator.getitem:
        return numbers[node.args[0]][node.args[1]]
    if node.target is aten._softmax.default:
        x = numbers[node.args[0]]
        power = out.op("math.exp", out.op("arith.subf", x, along("maximum", x)))
        return out.op("arith.mulf", power, out.op("arith.divf", 1.0, along("add", power)))
    if node.target is aten.native_layer_norm.default:
        x, _, weight, bias, epsilon = node.args[:5]
        mean = along("mean", numbers[x])
        off = out.op("arith.subf", numbers[x], mean)
        variance = along("mean", out.op("arith.mulf", off, off))
        scale = out.op("math.rsqrt", out.op("arith.addf", variance, epsilon))
        y = out.op("arith.mulf", off, scale)
        if weight is not None:
            y = out.op("arith.mulf", y, numbers[weight])
        return (y if bias is None else out.op("arith.addf", y, numbers[bias])), mean, scale
    return write(out, node, numbers)


def result(node: torch.fx.Node, found: Rows) -> Modes:
    """How a result lies."""
    return _WHOLE if _same_shape(shape_of(node), shape_of(found.first)) else _EACH_ROW


def is_whole(modes: Modes) -> bool:
    """Tells whether a result has all elements."""
    return modes == _WHOLE
