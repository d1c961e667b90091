"""Which mistakes guarded launches find on a GPU, and what guarding costs. Needs a GPU: python3 bench/guards.py

Each check runs in a process of its own, which a fault ends. The last line says whether all went as they should; so does the exit status.
"""

import os
import pathlib
import sys
import time

sys.path.insert(0, os.environ.get("KBX_WORKER", str(pathlib.Path(__file__).resolve().parent.parent / "worker")))

import torch
import triton
import triton.language as tl

from kbx.runner import native
from kbx.runner.guards import GRANULE, Guards, OutOfBounds, prepared
from kbx.runner.launches import LaunchLog
from kbx.runner.ledger import Ledger
from kbx.runner.witness import Witness

LENGTH = 4099
OVERHEAD_CALLS = 200


@triton.jit
def masked(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def reads_behind(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + 1, mask=i < n)


@triton.jit
def writes_behind(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1)


@triton.jit
def reads_before(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i - 8, mask=i < n) * 0.0 + tl.load(x + i, mask=i < n)
    tl.store(y + i, value + 1, mask=i < n)


@triton.jit
def writes_before(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i - 8, 0.0, mask=i < 8)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def one_lane_behind(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i <= n)


@triton.jit
def far_behind(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
    tl.store(y + i + 16 * 1024 * 1024, 0.0, mask=i < 1)


@triton.jit
def every_third(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 7, mask=(i < n) & (i % 3 == 0))


@triton.jit
def by_both_ways(x, table):
    other = tl.load(table).to(tl.pointer_type(tl.uint8))
    tl.store(x, 1)
    tl.store(other + 1, 2)


def watched():
    """Guards, and a witness whose launches go through them."""
    log = LaunchLog()
    log.install()
    guards = Guards(prepared(), log.text_of)
    return guards, Witness(Ledger(), __file__, False, True, guards)


def add(kernel, turn):
    """What is found in the ``turn``-th call, the launch of which would add 1."""
    torch.zeros(1, device="cuda")  # the context
    x, y = torch.randn(LENGTH, device="cuda"), torch.empty(LENGTH, device="cuda")
    guards, witness = watched()
    for _ in range(turn):
        guards.begin([x])
    with witness.watching():
        try:
            kernel[(triton.cdiv(LENGTH, 1024),)](x, y, LENGTH, BLOCK=1024)
        except OutOfBounds as error:
            print(f"   {error}")
            return "found"
    guards.end()
    return "found" if guards.take_finding() else "right" if torch.equal(y, x + 1) else "wrong"


def lengths():
    """Bytes of odd lengths at odd places, of which a kernel writes every third: they come back, and no others."""
    torch.zeros(1, device="cuda")  # the context
    guards, witness = watched()
    for length in (1, 15, 16, 17, 31, 4099, GRANULE - 16, GRANULE - 15, GRANULE, 3 * GRANULE + 5):
        for offset in (0, 4, 15):
            whole = torch.randint(0, 256, (length + 64,), dtype=torch.uint8, device="cuda")
            memory = guards._mappings.tensor(whole.data_ptr() + offset, length)  # a storage of its own
            wanted = whole.clone()
            wanted[offset : offset + length : 3] = 7
            for _ in range(2):
                guards.begin([memory])
                with witness.watching():
                    every_third[(triton.cdiv(length, 1024),)](memory, length, BLOCK=1024)
                if guards.end() or guards.take_finding():
                    return f"{length} bytes at {offset}: {guards.end()} {guards.take_finding()}"
                if not torch.equal(whole, wanted):
                    return f"{length} bytes at {offset}: others"
    return "right"


def another_way():
    """What a kernel writes to a tensor by an address in a table stays, beside what it writes to the tensor."""
    torch.zeros(1, device="cuda")  # the context
    guards, witness = watched()
    x = torch.zeros(64, dtype=torch.uint8, device="cuda")
    table = torch.tensor([x.data_ptr()], device="cuda")
    guards.begin([x])
    with witness.watching():
        by_both_ways[(1,)](x, table)
    told = x[:4].tolist(), guards.end(), guards.take_finding()
    return "right" if told == ([1, 2, 0, 0], [], None) else str(told)


def library():
    """PyTorch's own operations, on tensors that end where memory ends."""
    torch.zeros(1, device="cuda")  # the context
    mappings = prepared()

    def at_the_end(*shape, dtype=torch.float32):
        value = torch.randn(shape, device="cuda").to(dtype)
        length = value.numel() * value.element_size()
        mapped = -(-(length + 16) // GRANULE) * GRANULE
        memory = mappings.tensor(mappings.map(mapped), mapped)
        start = (mapped - length) & ~15
        return memory[start : start + length].view(dtype).view(shape).copy_(value)

    half = torch.float16
    a, b, c = at_the_end(129, 257, dtype=half), at_the_end(257, 65, dtype=half), at_the_end(3, 4099)
    images, filters = at_the_end(2, 3, 11, 13), at_the_end(5, 3, 3, 3)
    results = [
        a @ b,
        torch.softmax(c, 1),
        c.sum(),
        c.sort(1).values,
        c.cumsum(1),
        torch.conv2d(images, filters),
        c.argmax(1),
    ]
    torch.cuda.synchronize()
    return "right" if all(each.numel() for each in results) and mappings.synchronise() == 0 else "wrong"


def microseconds(call, count):
    call()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(count):
        call()
        torch.cuda.synchronize()
    return (time.perf_counter() - begun) / count * 1e6


def cost():
    torch.zeros(1, device="cuda")  # the context
    begun = time.perf_counter()
    guards, witness = watched()
    print(f"   to prepare it {(time.perf_counter() - begun) * 1e6:8.0f} us")
    for count in (1 << 10, 1 << 18, 1 << 24, 1 << 28):
        x, y = torch.randn(count, device="cuda"), torch.empty(count, device="cuda")

        def launch(x=x, y=y, count=count):
            masked[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024)

        calls = OVERHEAD_CALLS if count < 1 << 24 else 20
        with witness.watching():
            guards.end()
            bare = microseconds(launch, calls)
            guards.begin([x])
            first = time.perf_counter()
            launch()
            first = (time.perf_counter() - first) * 1e6
            guarded = microseconds(launch, calls)
        told = guards.end()
        print(
            f"   {8 * count:>11} bytes: {bare:8.0f} us, guarded {guarded:8.0f} us, the first time {first:8.0f} us {told or ''}"
        )
        begin = microseconds(lambda x=x: guards.begin([x]), 20)
        guards.end()
        print(f"   begin of a call {begin:8.0f} us, with {torch.cuda.memory_reserved() >> 20} MiB of the allocator's")
    return "right"


CHECKS = [
    ("masked, the end guarded", "right", lambda: add(masked, 1)),
    ("masked, the start guarded", "right", lambda: add(masked, 2)),
    ("a read behind", "found", lambda: add(reads_behind, 1)),
    ("a write behind", "found", lambda: add(writes_behind, 1)),
    ("a write behind, the start guarded", "found", lambda: add(writes_behind, 2)),
    ("a read before", "found", lambda: add(reads_before, 2)),
    ("a read before, the end guarded: read as NaN or a large number times 0", "right", lambda: add(reads_before, 1)),
    ("a write before", "found", lambda: add(writes_before, 2)),
    ("a write before, the end guarded", "found", lambda: add(writes_before, 1)),
    ("a write behind by one lane", "found", lambda: add(one_lane_behind, 1)),
    ("a write by one lane 64 MiB behind", "found", lambda: add(far_behind, 1)),
    ("odd lengths and places", "right", lengths),
    ("a tensor that is reached by a table, too", "right", another_way),
    ("PyTorch's own operations", "right", library),
    ("cost", "right", cost),
]


def apart(check):
    """What a check returns in a forked child, or how that ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, check().encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {str(error).splitlines()[0]}".encode())
        sys.stdout.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        result = pipe.read()
    status = os.waitpid(child, 0)[1]
    return result or f"ended with status {status}"


def main():
    native.prepare()
    failed = 0
    for name, wanted, check in CHECKS:
        sys.stdout.flush()
        result = apart(check)
        failed += result != wanted
        print(f"{'ok ' if result == wanted else 'NOT'} {name}: {result}", flush=True)
    print("all as they should be" if not failed else f"{failed} of {len(CHECKS)} not as they should be")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
