"""An MLP on several GPUs: each has a part of its columns, products are cute-opt's, and sums PyTorch's (NCCL).

    torchrun --nproc-per-node 2 examples/python/tensor_parallel.py [--rows 16384] [--size 8192] [--wide 28672]

The first matrix is split by its rows (outputs), the second by its columns, so that one sum over the GPUs is all that is sent. The first
GPU computes the whole MLP beside it: that must be the same, and the time says what the others are worth. Without GPUs it runs on the
emulator, with small sizes, and gloo sums.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

import cute_opt.torch


def mlp(x, up, down):
    """The MLP, or a part of it."""
    return cute_opt.torch.linear(F.gelu(cute_opt.torch.linear(x, up), approximate="tanh"), down)


def timed(run, turns):
    """The fastest of a few turns, in seconds."""
    best = float("inf")
    for _ in range(turns):
        wait()
        start = time.perf_counter()
        run()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def wait():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main():
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=16384 if on_gpu else 16)
    parser.add_argument("--size", type=int, default=8192 if on_gpu else 64)
    parser.add_argument("--wide", type=int, default=28672 if on_gpu else 128)
    options = parser.parse_args()
    dist.init_process_group("nccl" if on_gpu else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if options.wide % (8 * world):
        raise SystemExit(f"expected --wide to be a multiple of {8 * world}, 8 for each of {world} processes; found {options.wide}")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank))) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    # The same numbers everywhere.
    torch.manual_seed(0)
    x = torch.randn(options.rows, options.size, device=device, dtype=torch.float16)
    up = torch.randn(options.wide, options.size, device=device, dtype=torch.float16) / options.size**0.5
    down = torch.randn(options.size, options.wide, device=device, dtype=torch.float16) / options.wide**0.5
    for tensor in (x, up, down):
        dist.broadcast(tensor, 0)
    part = options.wide // world
    mine = slice(rank * part, (rank + 1) * part)
    my_up, my_down = up[mine].contiguous(), down[:, mine].contiguous()

    def split():
        sums = mlp(x, my_up, my_down)
        dist.all_reduce(sums)
        return sums

    with torch.no_grad():
        whole, parts = mlp(x, up, down), split()
        error = ((parts - whole).float().norm() / whole.float().norm()).item()
        turns = 20 if on_gpu else 1
        alone = timed(lambda: mlp(x, up, down), turns)
        dist.barrier()
        together = timed(split, turns)
    if rank == 0:
        print(f"{world} processes: relative difference {error:.1e}; alone {alone * 1e3:.2f} ms, together {together * 1e3:.2f} ms: {alone / together:.2f} times")
        if error > 1e-2:
            raise SystemExit("the results differ")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
