"""Times a Llama of 8B shapes with random weights in PyTorch: eager, PyTorch's default back end, and "cute" with and without it, in turns of one run.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python tools/torch_bench.py [--check] [--layers 32] [--rounds 10] [--kernels 14] [--json FILE]

FOLDER has cute-opt and libcute_native.so (of a release build); an installed wheel needs neither variable. It measures prefill of 4096 tokens and
decode at batch 16 (each also as a CUDA graph), and prints, for each way, the median of the rounds, the sum of its kernels alone, and what
the first call took. `--check` compares results first: those of each way with float32, of two layers; of a BERT and a ViT of `transformers`
with random weights, if it is installed; and runs the tests of cute_opt.torch that fit a GPU. Without a GPU, sizes are small, all runs on
the emulator, and times say nothing.
"""

import argparse
import json
import logging
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import cute_opt.torch  # noqa: F401

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
# Names of ways, and what torch.compile is given for them.
WAYS = {
    "eager": None,
    "inductor": {"backend": "inductor"},
    "cute": {"backend": "cute"},
    "cute, eager": {"backend": "cute", "options": {"rest": "eager"}},
}


class Bytes(nn.Module):
    """A linear layer with weights of bytes, and a scale for each of its results."""

    def __init__(self, layer):
        super().__init__()
        weight = layer.weight.detach()
        scale = weight.abs().amax(1).float() / 127
        self.register_buffer("weight", (weight.float() / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale.to(weight.dtype))

    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype)) * self.scale


def of_bytes(model):
    """Puts weights of bytes into all linear layers of a model."""
    for name, layer in list(model.named_children()):
        if isinstance(layer, nn.Linear):
            setattr(model, name, Bytes(layer))
        else:
            of_bytes(layer)
    return model


class Shape:
    """Sizes of a model."""

    def __init__(self, layers, size=4096, wide=14336, heads=32, kv_heads=8, words=128256):
        self.layers, self.size, self.wide, self.heads, self.kv_heads, self.words = layers, size, wide, heads, kv_heads, words
        self.head = size // heads


class RmsNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def turned(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        kv = shape.kv_heads * shape.head
        linear = lambda rows, columns: nn.Linear(rows, columns, bias=False)
        self.before, self.after = RmsNorm(shape.size), RmsNorm(shape.size)
        self.q, self.k, self.v = linear(shape.size, shape.size), linear(shape.size, kv), linear(shape.size, kv)
        self.o = linear(shape.size, shape.size)
        self.gate, self.up, self.down = linear(shape.size, shape.wide), linear(shape.size, shape.wide), linear(shape.wide, shape.size)

    def forward(self, x, cos, sin, cache, at):
        batch, length, size = x.shape
        y = self.before(x)
        heads = lambda z, count: z.view(batch, length, count, self.shape.head).transpose(1, 2)
        q, k, v = heads(self.q(y), self.shape.heads), heads(self.k(y), self.shape.kv_heads), heads(self.v(y), self.shape.kv_heads)
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        mask = None
        if cache is not None:
            keys, values = cache
            keys.index_copy_(2, at, k)
            values.index_copy_(2, at, v)
            k, v = keys, values
            mask = (torch.arange(k.shape[2], device=x.device) <= at[-1])[None, None, None]
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None, enable_gqa=True)
        x = x + self.o(z.transpose(1, 2).reshape(batch, length, size))
        y = self.after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """A decoder of Llama's kind."""

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(shape.words, shape.size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RmsNorm(shape.size)
        self.head = nn.Linear(shape.size, shape.words, bias=False)
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0, parameter.shape[-1] ** -0.5)

    def forward(self, tokens, places, caches=None):
        """Returns the scores of the last token."""
        steps = 5e5 ** (-torch.arange(0, self.shape.head, 2, device=tokens.device).float() / self.shape.head)
        angles = places[:, None].float() * steps
        x = self.words(tokens)
        cos, sin = (torch.cat((one, one), -1).to(x.dtype) for one in (angles.cos(), angles.sin()))
        for at, layer in enumerate(self.layers):
            x = layer(x, cos, sin, None if caches is None else caches[at], places)
        return self.head(self.norm(x[:, -1]))


def made(shape, dtype=torch.float16):
    """A model with random weights on the device."""
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    with DEVICE:
        model = Llama(shape)
    torch.set_default_dtype(torch.float32)
    return model.eval()


def wait():
    if ON_GPU:
        torch.cuda.synchronize()


def timed(run):
    """Milliseconds of a call."""
    if not ON_GPU:
        start = time.perf_counter()
        run()
        return (time.perf_counter() - start) * 1e3
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    wait()
    start.record()
    run()
    end.record()
    wait()
    return start.elapsed_time(end)


def kernels(run):
    """The sum of a call's kernels, in milliseconds, how many there are, and for each name its sum and its number, the longest first."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        run()
        wait()
    all = [event for event in profiler.events() if "cuda" in str(event.device_type).lower()]
    names = {}
    for event in all:
        spent, count = names.get(event.name, (0, 0))
        names[event.name] = (spent + event.device_time / 1e3, count + 1)
    longest = sorted(((spent, count, name) for name, (spent, count) in names.items()), reverse=True)
    return sum(event.device_time for event in all) / 1e3, len(all), longest


def captured(run):
    """A CUDA graph of a call."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def measure(name, model, arguments, rounds, shown):
    """Times all ways of one problem in turns, and prints so many of the longest kernels of each; a table of results."""
    runs, results = {}, {}
    for way, given in WAYS.items():
        call = model if given is None else torch.compile(model, **given)
        start = time.perf_counter()
        try:
            with torch.no_grad():
                call(*arguments)
            wait()
        except Exception as error:
            # Such as no compiler for the default back end; the others are measured all the same.
            print(f"{name}: {way} does not run: {str(error).strip().splitlines()[0]}", flush=True)
            continue
        first = time.perf_counter() - start
        runs[way] = lambda call=call: call(*arguments)
        results[way] = {"first_s": round(first, 2)}
    with torch.no_grad():
        if ON_GPU:
            for way in list(runs):
                results[way]["kernels_ms"], results[way]["kernels"], longest = kernels(runs[way])
                for spent, count, kernel in longest[:shown]:
                    print(f"{name:8} {way:20} {spent:9.3f} ms {count:5} x {kernel[:120]}", flush=True)
                try:
                    runs[f"{way} graph"] = captured(runs[way])
                    results[f"{way} graph"] = {}
                except RuntimeError as error:
                    print(f"{name}: {way} cannot be captured: {str(error).splitlines()[0]}", flush=True)
        times = {way: [] for way in runs}
        for turn in range(rounds + 1):
            for way, run in runs.items():
                elapsed = timed(run)
                if turn:
                    times[way].append(elapsed)
    for way, all in times.items():
        results[way]["ms"] = statistics.median(all)
        results[way]["spread_ms"] = max(all) - min(all)
    for way, one in results.items():
        parts = [f"{name:8} {way:20} {one['ms']:9.3f} ms (spread {one['spread_ms']:.3f})"]
        if "kernels_ms" in one:
            parts.append(f"{one['kernels']} kernels take {one['kernels_ms']:.3f} ms")
        if "first_s" in one:
            parts.append(f"first call {one['first_s']} s")
        print("; ".join(parts), flush=True)
    return results


#: A product of open sizes.
PRODUCT = """
!matrix = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @product(%A: !matrix, %B: !matrix, %C: !matrix) {
  cute.contract ins(%A, %B : !matrix, !matrix) outs(%C : !matrix) accumulate f32
  return
}
"""


def host():
    """Microseconds of the host for a small product: what a call costs where the GPU is not waited for."""
    a = torch.randn(16, 64, device=DEVICE, dtype=torch.float16)
    w = torch.randn(64, 64, device=DEVICE, dtype=torch.float16)
    c = torch.empty(16, 64, device=DEVICE, dtype=torch.float16)
    b = w.t()
    found = {}
    compiled = torch.compile(lambda a, w: a @ w.t(), backend="cute")
    product = cute_opt.compile(PRODUCT)["product"]
    ways = {
        "a package's function": lambda: product(a, w, c),
        "torch.mm, out=": lambda: torch.mm(a, b, out=c),
        "torch.mm": lambda: torch.mm(a, b),
        "cute_opt.torch.mm": lambda: cute_opt.torch.mm(a, b),
        "torch.ops.cute_opt.mm": lambda: torch.ops.cute_opt.mm(a, b),
        "in a compiled graph": lambda: compiled(a, w),
        "torch.empty": lambda: a.new_empty((16, 64)),
    }
    # Fewer than a GPU's queue has room for, so that no call waits.
    turns, rounds = (400, 20) if ON_GPU else (2, 1)
    with torch.no_grad():
        for name, run in ways.items():
            times = []
            for _ in range(rounds + 1):
                wait()
                start = time.perf_counter()
                for _ in range(turns):
                    run()
                times.append((time.perf_counter() - start) / turns * 1e6)
            found[name] = statistics.median(times[1:])
            print(f"host     {name:22} {found[name]:.2f} us", flush=True)
    return found


def check():
    """Compares results with those of float32; the number of what differs."""
    wrong = 0

    def compare(name, model, wide, arguments, wide_arguments, result=lambda x: x):
        nonlocal wrong
        torch._dynamo.reset()
        with torch.no_grad():
            exact = result(wide(**wide_arguments)).float()
            eager = result(model(**arguments)).float()
            ours = result(torch.compile(model, backend="cute")(**arguments)).float()
        scale = exact.abs().max().item()
        mine, theirs = ((one - exact).abs().max().item() / scale for one in (ours, eager))
        good = mine <= 2 * theirs + 1e-3
        wrong += not good
        print(f"check    {name:20} cute {mine:.2e}, eager {theirs:.2e} from float32: {'good' if good else 'WRONG'}", flush=True)

    small = Shape(2) if ON_GPU else Shape(1, 64, 96, 4, 2, 128)
    for dtype in (torch.float16, torch.bfloat16):
        model = made(small, dtype)
        wide = made(small, torch.float32)
        wide.load_state_dict(model.state_dict())
        given = {"tokens": torch.randint(0, small.words, (2, 64 if ON_GPU else 8), device=DEVICE), "places": torch.arange(64 if ON_GPU else 8, device=DEVICE)}
        compare(f"llama {dtype}".replace("torch.", ""), model, wide, given, given)
    try:
        import transformers
    except ImportError:
        print("check    BERT and ViT were not tried: transformers is not installed", flush=True)
        return wrong
    words = torch.randint(0, 1000, (2, 64), device=DEVICE)
    pixels = torch.randn(2, 3, 224, 224, device=DEVICE)
    sizes = {} if ON_GPU else {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 96}
    for name, kind, config, given in [
        ("BERT", transformers.BertModel, transformers.BertConfig(**sizes), {"input_ids": words}),
        ("ViT", transformers.ViTModel, transformers.ViTConfig(**sizes), {"pixel_values": pixels}),
    ]:
        torch.manual_seed(0)
        wide = kind(config).to(DEVICE).eval()
        model = kind(config).to(DEVICE, torch.float16).eval()
        model.load_state_dict(wide.state_dict())
        wide.load_state_dict(model.state_dict())
        halves = {key: value.half() if value.is_floating_point() else value for key, value in given.items()}
        exact = {key: halves[key].float() if halves[key].is_floating_point() else halves[key] for key in halves}
        compare(name, model, wide, halves, exact, lambda output: output.last_hidden_state)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare results before anything is timed")
    parser.add_argument("--only-check", action="store_true", help="time nothing")
    parser.add_argument("--layers", type=int, default=32 if ON_GPU else 1)
    parser.add_argument("--rounds", type=int, default=10 if ON_GPU else 1)
    parser.add_argument("--kernels", type=int, default=0, help="print so many kernels of each way that take longest")
    parser.add_argument("--said", action="store_true", help="print what stays PyTorch's, and why")
    parser.add_argument("--bytes", action="store_true", help="weights of bytes, with a scale for each row, in all linear layers of what is timed")
    parser.add_argument("--json", help="write the results into a file")
    options = parser.parse_args()
    if options.said:
        logging.basicConfig(format="%(message)s")
        logging.getLogger("cute_opt.torch").setLevel(logging.INFO)
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'the emulator'}, PyTorch {torch.__version__}, cute-opt {cute_opt.__version__}", flush=True)
    wrong = check() if options.check or options.only_check else 0
    if not options.only_check:
        results = {"host_us": host()}
        shape = Shape(options.layers) if ON_GPU else Shape(options.layers, 64, 96, 4, 2, 128)
        length, batch, room = (4096, 16, 1024) if ON_GPU else (16, 2, 16)
        model = of_bytes(made(shape)) if options.bytes else made(shape)
        tokens = torch.randint(0, shape.words, (1, length), device=DEVICE)
        results["prefill"] = measure("prefill", model, (tokens, torch.arange(length, device=DEVICE)), options.rounds, options.kernels)
        torch._dynamo.reset()
        cache = lambda: torch.zeros(batch, shape.kv_heads, room, shape.head, device=DEVICE, dtype=torch.float16)
        caches = [(cache(), cache()) for _ in range(shape.layers)]
        token = torch.randint(0, shape.words, (batch, 1), device=DEVICE)
        results["decode"] = measure("decode", model, (token, torch.tensor([room // 2], device=DEVICE), caches), options.rounds, options.kernels)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(results, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
