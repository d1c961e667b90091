"""Candidates that compute gradients, with kernels of their own or without.

``test_autograd_kernels.py`` runs them.
"""

import pytest
import torch
from bench_client import bench
from test_ahead import precompile, traced
from test_ledger import KERNELS, PRELUDE, foreign, origins

pytestmark = pytest.mark.sampled(3)

CANDIDATE = """
@triton.jit
def scale(x, y, by, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * by, mask=i < n)

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        scale[(1,)](x, y, 3.0, x.numel(), B=64)
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, = ctx.saved_tensors
        assert x.is_cuda and dy.device.type == "cuda"
        dx = torch.empty_like(dy)
        scale[(1,)](dy, dx, 3.0, dy.numel(), B=64)
        {more}
        return dx

def run(x, dy):
    seen = []
    x = x.requires_grad_()
    y = Scale.apply(x)
    y.register_hook(lambda g: seen.append(g.device.type))
    {compute}
    assert seen == ["cuda"]
    return dx
"""


def account(client, *args):
    """What the runner says of who computed a call."""
    return client.call(*args).origin


WAYS = {
    "Tensor.backward": "y.backward(dy)\n    dx = x.grad",
    "autograd.backward": "torch.autograd.backward([y], [dy])\n    dx = x.grad",
    "autograd.grad": "dx, = torch.autograd.grad(y, x, dy)",
}


@pytest.mark.parametrize("compute", WAYS.values(), ids=WAYS)
def test_kernels_of_a_backward_are_the_candidates(compute):
    with bench(CANDIDATE.format(compute=compute, more="")) as client:
        for dy in (torch.ones(40), torch.randn(40)):
            torch.testing.assert_close(client.run(torch.randn(40), dy), 3 * dy)
            origin = account(client, torch.randn(40), dy)
            assert origin["own"] == origin["elements"] == 40
            assert origin["operations"] == [] and origin["launches"] == 2


@pytest.mark.parametrize("reentrant", [False, True])
def test_kernels_of_a_checkpoint_are_the_candidates(reentrant):
    checkpoint = f"torch.utils.checkpoint.checkpoint(Scale.apply, x, use_reentrant={reentrant})"
    compute = f"{checkpoint}.backward(dy)\n    dx = x.grad\n    seen.append('cuda')"
    with bench(CANDIDATE.format(compute=compute, more="")) as client:
        dy = torch.randn(40)
        torch.testing.assert_close(client.run(torch.randn(40), dy), 3 * dy)
        origin = account(client, torch.randn(40), dy)
        assert origin["own"] == 40 and origin["operations"] == []


@pytest.mark.parametrize("compute", WAYS.values(), ids=WAYS)
def test_what_pytorch_computes_in_a_backward_is_seen(compute):
    with bench(CANDIDATE.format(compute=compute, more="dx = dx * 1.5")) as client:
        origin = account(client, torch.randn(40), torch.randn(40))
        assert origin["operations"] == [{"name": "Tensor.mul", "line": 27, "elements": 80}]


def test_gradients_that_pytorch_derives_are_pytorchs():
    derived = CANDIDATE.replace("y = Scale.apply(x)", "y = Scale.apply(x) * x")
    with bench(derived.format(compute=WAYS["Tensor.backward"], more="")) as client:
        assert account(client, torch.randn(40), torch.randn(40))["foreign"] >= 40


WITHOUT_KERNELS = {
    "backward": "(x * x).sum().backward()\n    return x.grad",
    "grad": "return torch.autograd.grad((x * x).sum(), x)[0]",
}


@pytest.mark.parametrize("compute", WITHOUT_KERNELS.values(), ids=WITHOUT_KERNELS)
def test_gradients_without_kernels_are_library_work(compute):
    accounts = origins(f"def run(x):\n    x = x.detach().requires_grad_()\n    {compute}")
    assert foreign(accounts) > 0.4
    line = 3 + (PRELUDE + KERNELS).count("\n")
    assert {"name": "torch.mul", "line": line} in [
        {"name": operation["name"], "line": operation["line"]} for operation in accounts[0]["operations"]
    ]


AHEAD = """
@triton.jit
def forward(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def backward(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)

def launched(kernel, x):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), B=64)
    return out

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return launched(forward, x)

    @staticmethod
    def backward(ctx, dy):
        return launched(backward, dy)

def run(x):
    x = x.detach().requires_grad_()
    y = Scale.apply(x)
    y.backward(x.detach())
    return x.grad
"""


@pytest.mark.parametrize("size", [100, 1 << 18])
def test_kernels_of_a_backward_are_compiled(size):
    assert precompile(AHEAD, traced(torch.empty(size, device="meta"))).kernels == 2


def test_gradients_work_and_results_are_detached():
    with bench(
        "def run(x):\n    x = x.detach().requires_grad_()\n    (x * x).sum().backward()\n    return x.grad * x"
    ) as client:
        assert client.run(torch.tensor([1.0, 2.0])).tolist() == [2.0, 8.0]


def test_gradients_work_where_many_threads_begin_at_once():
    """A fork loses torch's pool of threads: without a new one, more than a third of these processes were aborted."""
    torch.ones(3).max()  # makes the pool, which is what matters: it is lost where there was one
    source = """
        torch._C._ensureCUDADeviceGuardSet()  # a device that is none, for which backward has eight threads
        def run(x):
            x = x.detach().requires_grad_()
            (x * x).sum().backward()
            return x.grad
    """
    for _ in range(20):
        with bench(source) as client:
            assert client.run(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
