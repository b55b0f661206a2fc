"""Groups of a graph's operations that become one kernel: a product, and what is computed of it element by element."""

from __future__ import annotations

from typing import AbstractSet, Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ._call import ELEMENTS, Modes
from ._region import Number, Region, computes, is_number, shape_of, write
from ._text import Leaf, Operand, align_of

aten = torch.ops.aten

_VIEWS = {aten.view.default, aten._unsafe_view.default, aten.reshape.default}
_SWAPS = {aten.t.default}

#: Tensors that a kernel reads or stores beside its factors, at most.
_MOST_READ, _MOST_STORED = 6, 3

#: Elements of a block along K, or along rows, that have one scale.
BLOCK = 128

# Extents of a product, by number: rows, columns, what is summed over, the batch or the groups of rows.
_M, _N, _K, _L = range(4)


class Refused(Exception):
    """The reason why a product stays PyTorch's."""


class Extra(NamedTuple):
    """A tensor that is read beside the factors: the shape that it is seen in, and its modes."""

    node: torch.fx.Node
    #: The shape as an argument of `view`; none where the tensor is taken as it is.
    view: Optional[Tuple[Any, ...]]
    modes: Modes


class Group(NamedTuple):
    """A product and its followers, in the order of the graph."""

    anchor: torch.fx.Node
    a: torch.fx.Node
    b: torch.fx.Node
    #: The factors of what is added to the product, and of the product: of `addmm`.
    added: Optional[torch.fx.Node]
    beta: float
    alpha: float
    #: Tensors by which the product is multiplied before anything is added: of `_scaled_mm`.
    scales: Tuple[torch.fx.Node, ...]
    #: Scales of blocks of the factors along K, and perhaps of rows, of `_scaled_mm`; none, or one for each factor.
    blocks: Tuple[torch.fx.Node, ...]
    #: The ends of groups of rows, of `_grouped_mm`.
    ends: Optional[torch.fx.Node]
    #: Every member but views and the anchor.
    members: Tuple[torch.fx.Node, ...]
    #: Members, or the anchor, that others need.
    stored: Tuple[torch.fx.Node, ...]
    extras: Dict[torch.fx.Node, Extra]
    #: For members behind a view, the shape that it makes.
    shapes: Dict[torch.fx.Node, Tuple[Any, ...]]


def same(a: Any, b: Any) -> bool:
    """Tells whether two sizes are known to be the same."""
    return bool(statically_known_true(a == b))


def _same_shape(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def _compact(value: torch.Tensor) -> bool:
    """Tells whether a tensor is known to be contiguous."""
    step: Any = 1
    for size, stride in zip(reversed(value.shape), reversed(value.stride())):
        if not same(size, 1) and not same(stride, step):
            return False
        step = step * size
    return True


def anchors(graph: torch.fx.Graph) -> List[torch.fx.Node]:
    """The products of a graph."""
    targets = {aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default, aten._scaled_mm.default, aten._grouped_mm.default}
    return [node for node in graph.nodes if node.op == "call_function" and node.target in targets]


def group(anchor: torch.fx.Node, order: Dict[torch.fx.Node, int], most: int, taken: AbstractSet[torch.fx.Node] = frozenset()) -> Group:
    """The group of a product with so many followers at most, none of which are `taken`. `order` is that of the graph.

    Raises Refused.
    """
    adds = anchor.target in (aten.addmm.default, aten.baddbmm.default)
    a, b = anchor.args[1:3] if adds else anchor.args[:2]
    assert isinstance(a, torch.fx.Node) and isinstance(b, torch.fx.Node)
    added = anchor.args[0] if adds and anchor.kwargs.get("beta", 1) != 0 else None
    scales: Tuple[torch.fx.Node, ...] = ()
    blocks: Tuple[torch.fx.Node, ...] = ()
    if anchor.target == aten._scaled_mm.default:
        scales, blocks, added = _scaled(anchor)
    ends = _ends(anchor) if anchor.target == aten._grouped_mm.default else None
    alpha, beta = anchor.kwargs.get("alpha", 1), anchor.kwargs.get("beta", 1)
    if not all(isinstance(one, (int, float)) for one in (alpha, beta)):
        raise Refused("alpha and beta are not numbers that are known")
    extras: Dict[torch.fx.Node, Extra] = {}
    shape = shape_of(anchor)
    for beside, does in [*((scale, "multiplies") for scale in scales), (added, "is added to")]:
        if beside is None:
            continue
        assert isinstance(beside, torch.fx.Node)
        extra = _extra(beside, shape, shape)
        if extra is None:
            raise Refused(f"what {does} the product has the shape {shape_of(beside)}, and the product {shape}")
        extras[beside] = extra
    inside: Set[torch.fx.Node] = {anchor}
    members: List[torch.fx.Node] = []
    shapes: Dict[torch.fx.Node, Tuple[Any, ...]] = {}
    _grow(anchor, order, inside, members, extras, shapes, most, taken)
    kept = {anchor, *members}
    stored = tuple(node for node in (anchor, *members) if any(not _is_inside(user, inside, kept) for user in node.users))
    if len(stored) > _MOST_STORED:
        raise Refused(f"{len(stored)} results of it are needed")
    return Group(anchor, a, b, added, float(beta), float(alpha), scales, blocks, ends, tuple(members), stored, extras, shapes)


def _scaled(anchor: torch.fx.Node) -> Tuple[Tuple[torch.fx.Node, ...], Tuple[torch.fx.Node, ...], Optional[torch.fx.Node]]:
    """The scales of a product of float8, or those of its blocks, and its bias.

    Raises Refused.
    """
    names = ("scale_a", "scale_b", "bias", "scale_result", "out_dtype", "use_fast_accum")
    given = {**dict(zip(names, anchor.args[2:])), **anchor.kwargs}
    if given.get("scale_result") is not None:
        raise Refused("its result has a scale")
    device = anchor.meta["val"].device
    scales = (given["scale_a"], given["scale_b"])
    is_of_one = [len(shape_of(one)) < 2 or any(same(size, 1) for size in shape_of(one)) for one in scales]
    are_of_blocks = _are_of_blocks(anchor, scales)
    if not all(is_of_one) and not are_of_blocks:
        found = " and ".join(str(tuple(shape_of(one))) for one in scales)
        raise Refused(f"its scales have the shapes {found}; expected one for all, one for each row and column, or those of blocks of {BLOCK} along K and N that are known")
    # Sums of a block are scaled and added up in float32.
    if device.type == "cuda" and not given.get("use_fast_accum", False) and not are_of_blocks:
        # PTX ISA, wgmma: sums of float8 have fewer bits than float32 in between.
        raise Refused("use_fast_accum=False asks for sums that are rounded as float32, and tensor cores round those of float8 more coarsely; set it to True")
    if any(scale.meta["val"].dtype != torch.float32 for scale in scales):
        raise Refused(f"its scales are {scales[0].meta['val'].dtype} and {scales[1].meta['val'].dtype}, not float32")
    return (() if are_of_blocks else scales), (scales if are_of_blocks else ()), given.get("bias")


def _are_of_blocks(anchor: torch.fx.Node, scales: Sequence[torch.fx.Node]) -> bool:
    """Tells whether scales are of blocks of `BLOCK` along K: (M,K/BLOCK), and (K/BLOCK,N) or (K/BLOCK,N/BLOCK)."""
    rows, columns = shape_of(anchor)
    size = shape_of(anchor.args[0])[-1] if isinstance(anchor.args[0], torch.fx.Node) else None
    if not all(isinstance(one, int) and one % BLOCK == 0 for one in (size, columns)):
        return False
    of_a, of_b = map(shape_of, scales)
    if len(of_a) != 2 or len(of_b) != 2 or not all(isinstance(one, int) for one in (of_a[1], *of_b)):
        return False
    blocks = size // BLOCK
    is_tile = list(of_b) == [blocks, columns // BLOCK]
    is_line = list(of_b) == [blocks, columns]
    # Of one block a scale for each row and column is one of the whole product.
    return same(of_a[0], rows) and of_a[1] == blocks and (is_tile or (is_line and blocks > 1))


def _ends(anchor: torch.fx.Node) -> torch.fx.Node:
    """The ends of the groups of rows of a grouped product.

    Raises Refused.
    """
    names = ("offs", "bias", "out_dtype")
    given = {**dict(zip(names, anchor.args[2:])), **anchor.kwargs}
    ranks = [len(shape_of(node)) for node in anchor.args[:2] if isinstance(node, torch.fx.Node)]
    if ranks != [2, 3]:
        raise Refused(f"its factors have {ranks[0]} and {ranks[1]} dimensions, not 2 and 3: groups are of rows")
    if given.get("bias") is not None:
        raise Refused("it has a bias for each group")
    ends = given.get("offs")
    if not isinstance(ends, torch.fx.Node):
        raise Refused("it has no offsets")
    return ends


def _is_inside(user: torch.fx.Node, inside: Set[torch.fx.Node], kept: Set[torch.fx.Node]) -> bool:
    """Tells whether a user needs nothing in memory: a member, or a view whose users are such."""
    if user in kept:
        return True
    return user in inside and bool(user.users) and all(_is_inside(one, inside, kept) for one in user.users)


def _grow(
    anchor: torch.fx.Node,
    order: Dict[torch.fx.Node, int],
    inside: Set[torch.fx.Node],
    members: List[torch.fx.Node],
    extras: Dict[torch.fx.Node, Extra],
    shapes: Dict[torch.fx.Node, Tuple[Any, ...]],
    most: int,
    taken: AbstractSet[torch.fx.Node],
) -> None:
    """Takes followers in, in the order of the graph."""
    tail = shape_of(anchor)[1:]
    waiting = set(anchor.users)
    seen: Set[torch.fx.Node] = set()
    while waiting and len(members) < most:
        node = min(waiting, key=order.__getitem__)
        waiting.remove(node)
        seen.add(node)
        if node in taken or not _takes(node, anchor, tail, order, inside, extras, shapes):
            continue
        inside.add(node)
        if node.target not in _VIEWS:
            members.append(node)
        waiting |= {user for user in node.users if user.op == "call_function"} - seen


def _takes(
    node: torch.fx.Node,
    anchor: torch.fx.Node,
    tail: Sequence[Any],
    order: Dict[torch.fx.Node, int],
    inside: Set[torch.fx.Node],
    extras: Dict[torch.fx.Node, Extra],
    shapes: Dict[torch.fx.Node, Tuple[Any, ...]],
) -> bool:
    if node.op != "call_function":
        return False
    if node.target in _VIEWS:
        shape = shape_of(node)
        if len(shape) < len(tail) + 1 or not _same_shape(shape[-len(tail) :], tail):
            return False
        shapes[node] = tuple(node.args[1])
        return True
    if not computes(node):
        return False
    mine = [one for one in node.all_input_nodes if one in inside]
    shape = shape_of(node)
    if not all(_same_shape(shape_of(one), shape) for one in mine) or not _compact(node.meta["val"]):
        return False
    new: Dict[torch.fx.Node, Extra] = {}
    for one in node.all_input_nodes:
        if one in inside or one in extras:
            continue
        extra = _extra(one, shape, shape_of(anchor))
        if extra is None or _depends(one, inside, order, order[anchor]):
            return False
        new[one] = extra
    if len(extras) + len(new) > _MOST_READ:
        return False
    # A tensor that two members read may be seen in two shapes: `_extra` gives the same for both, as their elements are at the same places.
    extras.update(new)
    behind = next((shapes[one] for one in mine if one in shapes), None)
    if behind is not None:
        shapes[node] = behind
    return True


def _depends(node: torch.fx.Node, inside: Set[torch.fx.Node], order: Dict[torch.fx.Node, int], first: int) -> bool:
    """Tells whether a node is computed of a member; `first` is the place of the first one."""
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if one in inside:
            return True
        if one not in seen and order[one] > first:
            seen.add(one)
            waiting += one.all_input_nodes
    return False


def _extra(node: torch.fx.Node, shape: Sequence[Any], product: Sequence[Any]) -> Optional[Extra]:
    """A tensor as elements beside those of the product, whose result is seen in a shape; none if it is no such."""
    if not is_number(node):
        return None
    own, rank = shape_of(node), len(product)
    batch = [(_L, 0)] if rank == 3 else []
    if all(same(size, 1) for size in own):
        return Extra(node, None, ((_M, None), (_N, None), *((one, None) for one, _ in batch)))
    value = node.meta["val"]
    if _same_shape(own, shape):
        # (M,N), or (M,N,L) of a tensor (L,M,N).
        modes = ((_M, rank - 2), (_N, rank - 1), *batch)
        if len(own) == rank:
            return Extra(node, None, modes) if _has_rows(value) else None
        return Extra(node, (-1, *product[1:]), modes) if _compact(value) and not _open(product[1:]) else None
    if same(own[-1], product[-1]) and all(same(size, 1) for size in own[:-1]) and same(value.stride(-1), 1):
        # One number for each column.
        modes = ((_M, None), (_N, len(own) - 1), *((one, None) for one, _ in batch))
        return Extra(node, None, modes)
    if rank == 2 and len(own) == len(shape) and same(own[-1], 1) and _same_shape(own[:-1], shape[:-1]) and _compact(value):
        # One number for each row.
        return Extra(node, (-1,), ((_M, 0), (_N, None)))
    return None


def _open(sizes: Sequence[Any]) -> bool:
    return not all(isinstance(size, int) for size in sizes)


def _has_rows(value: torch.Tensor) -> bool:
    return any(same(stride, 1) for stride in value.stride()[-2:])


def leaf(value: Any, is_open: bool = False) -> Leaf:
    """A size or a stride as a kernel is told of it: a number, if it is known and need not be open."""
    if isinstance(value, int) and not is_open:
        return Leaf(value)
    for step in (8, 4, 2):
        if statically_known_true(value % step == 0):
            return Leaf(None, step)
    return Leaf(None)


def extents(found: Group) -> Tuple[Leaf, ...]:
    """Rows, columns, what is summed over, and the batch or the groups of rows. Rows and the batch are open, whatever they are now."""
    a, shape = found.a.meta["val"], shape_of(found.anchor)
    batch = (Leaf(None),) if len(shape) == 3 else ()
    if found.ends is not None:
        batch = (leaf(found.b.meta["val"].shape[0]),)
    return (Leaf(None), leaf(shape[-1]), leaf(a.shape[-1]), *batch)


def through(node: torch.fx.Node) -> Tuple[torch.fx.Node, bool]:
    """A factor without a transposition, and whether there was one."""
    is_swap = node.target in _SWAPS
    is_swap |= node.target is aten.permute.default and list(node.args[1]) == [1, 0]
    is_swap |= node.target is aten.transpose.int and set(node.args[1:]) in ({0, 1}, {-1, -2}) and len(shape_of(node)) == 2
    if node.op == "call_function" and is_swap:
        source = node.args[0]
        assert isinstance(source, torch.fx.Node)
        return source, True
    return node, False


class Stored(NamedTuple):
    """The tensor that a factor is made of."""

    node: torch.fx.Node
    #: Tells whether its rows are the factor's columns.
    is_swapped: bool
    #: What is done to its elements; nothing where they are the factor's.
    chain: Tuple[torch.fx.Node, ...] = ()
    #: A number for each row or column that is not summed over, by which they are multiplied, and its dimension.
    scale: Optional[Tuple[torch.fx.Node, int]] = None


def stored(node: torch.fx.Node, line: int) -> Stored:
    """The tensor that a factor is made of, of which the dimension `line` is not summed over: numbers of 8 bits that are converted, and may be multiplied by one for each
    line; else the factor itself, but for a transposition."""
    source, is_swapped = through(node)
    plain = Stored(source, is_swapped)
    dtype, chain, scale = node.meta["val"].dtype, [], None
    while dtype in (torch.float16, torch.bfloat16) and source.op == "call_function":
        before, swaps = through(source)
        if swaps:
            source, is_swapped = before, not is_swapped
            continue
        own = 1 - line if is_swapped else line
        if source.target in _CASTS and _stored_kind(source) is not None:
            of = source.args[0]
            assert isinstance(of, torch.fx.Node)
            inner, swaps = through(of)
            return Stored(inner, is_swapped != swaps, (*chain, source), scale)
        if source.target is not aten.mul.Tensor or scale is not None:
            break
        pairs = [pair for pair in (source.args, source.args[::-1]) if all(isinstance(one, torch.fx.Node) for one in pair)]
        found = next(((x, dim) for x, by in pairs for dim in [_line_of(by, source, own)] if dim is not None and _is_cast_of_bytes(x)), None)
        if found is None:
            break
        of, dim = found
        by = source.args[1] if of is source.args[0] else source.args[0]
        scale = (by, dim)
        chain.append(source)
        source = of
    return plain


#: Rows of the other factor, at most, for which weights of bytes are converted in a kernel by whatever instructions multiply them: of more, one that is converted before is read
#: so often that the products decide.
_FEW = 256


def converts(found: Stored, line: int, other: Any) -> bool:
    """Tells whether a kernel is to convert a factor that is made of bytes, where the other one has so many lines: where warpgroups can, or where there are few."""
    value = found.node.meta["val"]
    own = 1 - line if found.is_swapped else line
    lines, size = value.shape[own], value.shape[1 - own]
    is_whole = isinstance(lines, int) and isinstance(size, int) and lines % 64 == 0 and size % 128 == 0
    of_warpgroups = value.device.type != "cuda" or torch.cuda.get_device_capability(value.device) == (9, 0)
    if of_warpgroups and is_whole and same(value.stride(1 - own), 1):
        return True
    return isinstance(other, int) and other <= _FEW


_CASTS = {aten._to_copy.default, torch.ops.prims.convert_element_type.default}

#: Numbers of 8 bits that products are stored in, and what makes longer ones of them.
CONVERSIONS = {torch.int8: "arith.sitofp", torch.uint8: "arith.uitofp", torch.float8_e4m3fn: "arith.extf", torch.float8_e5m2: "arith.extf"}


def _stored_kind(cast: torch.fx.Node) -> Optional[torch.dtype]:
    """The type of numbers of 8 bits that a cast converts where they are; none of another cast."""
    source = cast.args[0]
    if not isinstance(source, torch.fx.Node) or len(shape_of(source)) != 2:
        return None
    before, after = source.meta["val"], cast.meta["val"]
    return before.dtype if before.dtype in CONVERSIONS and before.device == after.device else None


def _is_cast_of_bytes(node: torch.fx.Node) -> bool:
    """Tells whether a node is a cast of numbers of 8 bits, or a transposition of one."""
    source, _ = through(node)
    return source.op == "call_function" and source.target in _CASTS and _stored_kind(source) is not None


def _line_of(scale: torch.fx.Node, product: torch.fx.Node, line: int) -> Optional[int]:
    """The dimension of a tensor that has a number for each line of a product of it and of a matrix; none of another tensor, and of one of another type."""
    own, shape = shape_of(scale), shape_of(product)
    if scale.meta["val"].dtype != product.meta["val"].dtype or not 1 <= len(own) <= 2:
        return None
    dim = line - (2 - len(own))
    others = [size for at, size in enumerate(own) if at != dim]
    is_line = dim >= 0 and same(own[dim], shape[line]) and all(same(size, 1) for size in others)
    return dim if is_line and not same(shape[line], 1) else None


def operand(name: str, node: torch.fx.Node, modes: Modes, sizes: Sequence[Leaf], is_view: bool = False) -> Operand:
    """What a kernel takes of a node's tensor. One that is viewed, or new, is contiguous."""
    value = node.meta["val"]
    strides: List[Leaf] = []
    for extent, dim in modes:
        if dim is None:
            strides.append(Leaf(0))
        elif is_view:
            strides.append(_compact_stride([one for one, other in modes if other is not None and other > dim], sizes))
        else:
            # Strides along rows and batches that are as long as they are by chance are open, too.
            by_rows = extent == _L or extent in (_N, _K) and any(other == _M and at is not None and at > dim for other, at in modes)
            strides.append(leaf(value.stride(dim), by_rows and not same(value.stride(dim), 1)))
    return Operand(name, value.dtype, tuple(sizes[extent] for extent, _ in modes), tuple(strides), modes, align_of(value.dtype, strides))


def block_scales(name: str, node: torch.fx.Node, is_a: bool, sizes: Sequence[Leaf], behind: int) -> Tuple[Operand, torch.fx.Node, List[str]]:
    """What a kernel takes of scales of blocks, the tensor whose they are, and expressions of the extents of which `behind` is the number of the first."""
    source, is_swapped = through(node)
    shape, strides = shape_of(node), source.meta["val"].stride()
    line, of_k = (0, 1) if is_a else (1, 0)
    dims = [1 - dim if is_swapped else dim for dim in (line, of_k)]
    rows = _M if is_a else _N
    # Where blocks are as far apart as there are rows now, that is open.
    steps = (leaf(strides[dims[0]]), leaf(strides[dims[1]], is_a and not same(strides[dims[1]], 1)))
    along_k = ((behind, None), (behind + 1, dims[1])), (Leaf(BLOCK), Leaf(shape[of_k])), (Leaf(0), steps[1])
    more = [str(BLOCK), str(shape[of_k])]
    if is_a or same(shape[line], sizes[rows].value):
        along_rows: Tuple[Modes, Tuple[Leaf, ...], Tuple[Leaf, ...]] = ((rows, dims[0]),), (sizes[rows],), (steps[0],)
    else:
        along_rows = ((behind, None), (behind + 2, dims[0])), (Leaf(BLOCK), Leaf(shape[line])), (Leaf(0), steps[0])
        more.append(str(shape[line]))
    modes, leaves, apart = (one + other for one, other in zip(along_rows, along_k))
    dtype = source.meta["val"].dtype
    return Operand(name, dtype, leaves, apart, modes, ELEMENTS[dtype][2] // 8, (len(along_rows[1]), 2)), source, more


def _compact_stride(inner: Sequence[int], sizes: Sequence[Leaf]) -> Leaf:
    """The stride of a dimension, of the extents behind it."""
    known, multiple = 1, 1
    for extent in inner:
        if sizes[extent].value is None:
            multiple *= sizes[extent].multiple
            known = 0
        else:
            multiple *= sizes[extent].value or 1
            known *= sizes[extent].value or 0
    if known:
        return Leaf(known)
    return Leaf(None, next(step for step in (8, 4, 2, 1) if multiple % step == 0))


def region(found: Group, read: Sequence[torch.fx.Node]) -> Optional[List[str]]:
    """The lines of the region, whose arguments are the sum and then `read`; none where the sum is what is stored."""
    out = Region()
    numbers: Dict[torch.fx.Node, Number] = {}
    for at, node in enumerate(read):
        numbers[node] = out.load(f"%e{at}", node.meta["val"].dtype)
    total: Number = "%sum"
    if found.alpha != 1:
        total = out.op("arith.mulf", total, found.alpha)
    for scale in found.scales:
        total = out.op("arith.mulf", total, numbers[scale])
    if found.added is not None:
        beside = numbers[found.added]
        total = out.op("arith.addf", total, beside if found.beta == 1 else out.op("arith.mulf", beside, found.beta))
    numbers[found.anchor] = total
    for node in found.members:
        for one in node.all_input_nodes:
            if one not in numbers:
                numbers[one] = numbers[_source(one, numbers)]
        numbers[node] = write(out, node, numbers)
    if total == "%sum" and found.stored == (found.anchor,):
        return None
    stored = [out.store(numbers[node], node.meta["val"].dtype) for node in found.stored]
    types = [ELEMENTS[node.meta["val"].dtype][0] for node in found.stored]
    return [*out.needed(stored), f"cute.yield {', '.join(stored)} : {', '.join(types)}"]


def _source(view: torch.fx.Node, numbers: Dict[torch.fx.Node, Number]) -> torch.fx.Node:
    """The member that views show."""
    while view not in numbers:
        source = view.args[0]
        assert isinstance(source, torch.fx.Node)
        view = source
    return view
