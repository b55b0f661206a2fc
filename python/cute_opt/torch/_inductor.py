"""What is left of a graph by Inductor, PyTorch's default back end: kernels are operations that the code which it writes calls between its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import torch

from .._errors import CuteError
from .._version import __version__

#: Rewrites a graph in place, and returns how many kernels it has.
Rewrite = Callable[[torch.fx.GraphModule], int]

_NAMESPACE = "cute_opt"
_library = torch.library.Library(_NAMESPACE, "FRAGMENT")
_operations: Dict[str, Any] = {}
_registering = threading.Lock()


def missing() -> Optional[str]:
    """Returns what Inductor wants for kernels of a GPU and does not find here, if there is such."""
    from torch.utils._triton import has_triton

    if not has_triton():
        return "expected Triton, with which Inductor makes kernels for this GPU, found none that knows it; pip install triton"
    # Triton compiles its launchers with it, and looks for it so.
    compiler = os.environ.get("CC")
    if compiler is None and not any(map(shutil.which, ("clang", "gcc", "cc"))):
        return "expected a C compiler, with which Triton makes its launchers, found none; install gcc or set CC"
    return None


def compiled(gm: torch.fx.GraphModule, inputs: List[torch.Tensor], rewrite: Rewrite, mode: Optional[str], config: Mapping[str, Any]) -> Callable[..., Any]:
    """Compiles a graph by Inductor behind a rewriting; `mode` is that of `torch.compile`, and `config` are settings of `torch._inductor.config`.

    Raises CuteError for a mode or a setting that Inductor has not.
    """
    from torch._functorch import config as functorch_config
    from torch._inductor.compile_fx import compile_fx, compile_fx_inner

    def inner(graph: torch.fx.GraphModule, example_inputs: Sequence[Any], *args: Any, **given: Any) -> Any:
        if rewrite(graph):
            _call_operations(graph)
        return compile_fx_inner(graph, example_inputs, *args, **given)

    patches = _patches(mode, config)
    # That cache knows a graph by what it was before kernels were put in.
    with functorch_config.patch(enable_autograd_cache=False):
        return compile_fx(gm, inputs, inner_compile=inner, config_patches=patches or None)


def _patches(mode: Optional[str], config: Mapping[str, Any]) -> Dict[str, Any]:
    from torch._inductor import config as inductor_config
    from torch._inductor import list_mode_options

    modes = list_mode_options()
    if mode is not None and mode not in modes:
        raise CuteError(f"expected a mode of torch.compile, one of {', '.join(modes)}; found {mode!r}")
    known = inductor_config.get_config_copy()
    for name in config:
        if name not in known:
            raise CuteError(f"inductor: expected settings of torch._inductor.config, found {name!r}")
    return {**(modes[mode] if mode else {}), **config}


def _call_operations(graph: torch.fx.GraphModule) -> None:
    """Has a graph call kernels as operations, with strides as they are in it."""
    for node in graph.graph.nodes:
        if node.op == "call_function" and hasattr(node.target, "plan"):
            node.meta["eager_input_vals"] = (tuple(one.meta["val"] for one in node.args), {})
            node.target = _operation(node.target)
    graph.recompile()


def _operation(made: Any) -> Any:
    """The operation of a function that calls a kernel. What one is called follows from all that it does, as Inductor keeps code on the disk that calls it by
    its name."""
    from torch._inductor.lowering import make_fallback

    plan = made.plan
    about = repr((__version__, made.text, made.options, plan, str(made.device)))
    name = f"kernel_{hashlib.sha256(about.encode()).hexdigest()[:24]}"
    with _registering:
        found = _operations.get(name)
        if found is None:
            given = ", ".join(f"Tensor t{at}" for at in range(plan.given))
            results = "Tensor" if len(plan.made) == 1 else f"({', '.join(['Tensor'] * len(plan.made))})"
            _library.define(f"{name}({given}) -> {results}", tags=(torch.Tag.needs_exact_strides, torch.Tag.pt2_compliant_tag))
            _library.impl(name, made, "CUDA" if made.device.type == "cuda" else "CPU")
            torch.library.register_fake(f"{_NAMESPACE}::{name}", made.fake, lib=_library)
            found = getattr(getattr(torch.ops, _NAMESPACE), name).default
            # Else Inductor does so when it first meets it, and for its log writes out all that was computed before, each value as often as it is used.
            make_fallback(found, warn=False)
            _operations[name] = found
    return found
