"""Writes into tensors that a graph is given: `torch.compile` makes a new tensor of each, and copies it back where the graph ends."""

from __future__ import annotations

import operator
from typing import Any, Dict, List, Optional

import torch

aten = torch.ops.aten

#: Operations that replace some elements of their first argument, and what does so in place.
_IN_PLACE: Dict[Any, Any] = {
    aten.index_copy.default: aten.index_copy_.default,
    aten.index_put.default: aten.index_put_.default,
    aten.index_add.default: aten.index_add_.default,
    aten.scatter.src: aten.scatter_.src,
    aten.scatter.value: aten.scatter_.value,
}


def write_in_place(graph: torch.fx.Graph) -> int:
    """Has a graph write into a tensor that it is given where it replaces some elements of a copy, and copies all back behind that. Returns how many.

    A copy is left out where nothing else of the graph sees the tensor as it was.
    """
    count = 0
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not aten.copy_.default:
            continue
        given, source = node.args[:2]
        writes = _writes(given, source, node)
        if writes is None:
            continue
        node.replace_all_uses_with(given)
        graph.erase_node(node)
        for write in writes:
            write.target = _IN_PLACE[write.target]
            # What is written is the tensor that was given.
            write.replace_all_uses_with(given)
        count += 1
    return count


def _writes(given: Any, source: Any, copy: torch.fx.Node) -> Optional[List[torch.fx.Node]]:
    """The operations that make `source` of a tensor that a graph is given, in their order, if all of them can write into it."""
    if not isinstance(given, torch.fx.Node) or given.op != "placeholder":
        return None
    writes: List[torch.fx.Node] = []
    at = source
    while at is not given:
        if not isinstance(at, torch.fx.Node) or at.op != "call_function" or at.target not in _IN_PLACE:
            return None
        # Others may see the last one, as they see what is copied back.
        if writes and set(at.users) != {writes[0]}:
            return None
        # One that is also among the elements, or the places, would be read while it is written.
        if _is_in(at.args[0], (*at.args[1:], *at.kwargs.values())):
            return None
        writes.insert(0, at)
        at = at.args[0]
    if not writes or set(given.users) != {writes[0], copy}:
        return None
    if any(map(_is_returned, writes)):
        # What is returned may be a tensor of its own to the caller.
        return None
    same = given.meta["val"].dtype == source.meta["val"].dtype and given.meta["val"].shape == source.meta["val"].shape
    return writes if same else None


def _is_returned(node: torch.fx.Node) -> bool:
    """Tells whether a graph returns a node, or what shows its elements."""
    return any(user.op == "output" or _shows(user) and _is_returned(user) for user in node.users)


def _shows(node: torch.fx.Node) -> bool:
    """Tells whether a node's result has the elements of what it is computed of."""
    if node.target in (operator.getitem, aten._unsafe_view.default):
        return True
    returns = getattr(getattr(node.target, "_schema", None), "returns", ())
    return any(one.alias_info is not None for one in returns)


def _is_in(node: Any, arguments: Any) -> bool:
    """Tells whether a node is among arguments, or in a list of them."""
    return any(one is node or isinstance(one, (list, tuple)) and _is_in(node, one) for one in arguments)
