"""Who made a result: small candidates on the real bench, those that do their own work and those that do not."""

import tempfile
import textwrap

import pytest
import torch
import torch._dynamo  # noqa: F401  custom operations need it, and benches inherit what is imported here
from bench_client import PRELUDE, bench

from kbx.messages import runner as messages
from kbx.runner import operations, storages
from kbx.runner.ledger import Ledger

pytestmark = pytest.mark.sampled(8)


KERNELS = """
import ctypes, threading
import numpy as np
import torch.nn.functional as F

@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def look(x):
    pass

@triton.jit
def partial_sums(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0)))

@triton.jit
def fill(out, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, value, mask=i < n)

@triton.jit
def gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at, mask=i < n), mask=i < n)

@triton.jit
def through_a_table(table, n, BLOCK: tl.constexpr):
    out = tl.load(table + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 1.0, mask=i < n)

@triton.jit
def at_an_address(x, address, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(address.to(tl.pointer_type(tl.float32)) + i, tl.load(x + i, mask=i < n), mask=i < n)

def grid(x):
    return (triton.cdiv(x.numel(), 128),)

def doubled(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        double[grid(x)](x, out, x.numel(), BLOCK=128)
    return out
"""

COMPILED = tempfile.TemporaryDirectory(prefix="kbx-test-")
"""The kernels are the same in every test, and what they compile to is not the matter here."""
X = torch.randn(1000)
MOST_FOREIGN = 0.1
"""What the referee tolerates."""


def origins(source, *calls, operations=(), cpp=False):
    """The accounts of ``run`` on each of ``calls`` (tuples of arguments)."""
    found = []
    with bench(cache=COMPILED.name) as client:
        client.attach()
        loaded = client.load(KERNELS + textwrap.dedent(source), operations=operations, cpp=cpp)
        assert isinstance(loaded, messages.Loaded), loaded
        for call in calls or ((X,),):
            reply = client.call(*call)
            assert isinstance(reply, messages.Returned), reply
            assert reply.origin is not None
            found.append(reply.origin)
    return found


def foreign(accounts):
    return sum(a["foreign"] for a in accounts) / sum(a["volume"] for a in accounts)


def own(accounts):
    return sum(a["own"] for a in accounts) / sum(a["elements"] for a in accounts)


HONEST = {
    "plain": "run = doubled",
    "finishing partial sums": """
        def run(x):
            parts = torch.empty(grid(x), device=x.device)
            partial_sums[grid(x)](x, parts, x.numel(), BLOCK=128)
            return parts.sum()
        """,
    "validation by torch": """
        def run(x):
            if torch.isnan(x).any() or (x.abs() > 1e30).any().item():
                raise ValueError
            return doubled(x)
        """,
    "casts, padding, concatenation and copies before": """
        def run(x):
            y = F.pad(torch.cat([x.double()[:500], x.double()[500:]]).to(torch.float32), (0, 24))
            return doubled(y)[:1000].clone()
        """,
    "a workspace kept across calls": """
        kept = []
        def run(x):
            if not kept:
                kept.append(torch.empty(64, device=x.device))
            partial_sums[grid(x)](x, kept[0], x.numel(), BLOCK=128)
            total = kept[0][:8].sum()
            look[(1,)](kept[0])
            return doubled(x)
        """,
    "a table of constants": """
        table = torch.arange(1000, device="cuda").float().sin() * 2
        def run(x):
            more = torch.tensor([2.0] * 12, device=x.device)
            y = torch.linspace(0, 1, x.numel(), device=x.device).exp()
            look[(1,)](table); look[(1,)](more); look[(1,)](y)
            out = doubled(x)
            double[grid(x)](x, out, x.numel(), BLOCK=128)
            return out
        """,
    "in place, returning nothing": "def run(x):\n    double[grid(x)](x, x, x.numel(), BLOCK=128)",
    "a view of what a kernel wrote": "def run(x):\n    return doubled(x).view(10, 100).t()[1:]",
    "a dropout mask from torch": """
        def run(x):
            mask = torch.rand_like(x) > 0.5
            look[(1,)](mask)
            return doubled(x)
        """,
    "an autograd function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return doubled(x)
        def run(x):
            return Double.apply(x)
        """,
    "a scalar of the arguments": """
        def run(x):
            out = torch.empty_like(x)
            fill[grid(x)](out, x[3].item(), x.numel(), BLOCK=128)
            return out
        """,
    "an address in place of a tensor": """
        def run(x):
            out = torch.empty_like(x)
            at_an_address[(1,)](x, out.data_ptr(), x.numel(), BLOCK=1024)
            return out
        """,
    "a table of addresses": """
        def run(x):
            outs = [torch.empty_like(x) for _ in range(3)]
            table = torch.tensor([o.data_ptr() for o in outs]).to(x.device)
            through_a_table[(3,)](table, x.numel(), BLOCK=1024)
            return outs
        """,
    "allocation reused within a call": """
        def run(x):
            for _ in range(4):
                scratch = torch.exp(x)
                del scratch
                out = doubled(x)
            return out
        """,
    "a table of constants made on the host within the call": """
        def run(x):
            table = torch.tensor([float(i) for i in range(1000)], device=x.device)
            look[(1,)](table)
            out = doubled(x)
            double[grid(x)](x, out, x.numel(), BLOCK=128)
            look[(1,)](out, )
            return out
        """,
    "another storage over the same memory": """
        def run(x):
            out = torch.empty_like(x)
            double[grid(x)](x, torch.from_dlpack(out).cuda(), x.numel(), BLOCK=128)
            return out
        """,
    "a custom operation": """
        @torch.library.custom_op("kbx_test::double", mutates_args=())
        def op(x: torch.Tensor) -> torch.Tensor:
            return doubled(x)
        def run(x):
            return op(x)
        """,
    "a thread that launches": """
        def run(x):
            found = []
            thread = threading.Thread(target=lambda: found.append(doubled(x)))
            thread.start()
            thread.join()
            return found[0]
        """,
    "patches, reflections and rolls before": """
        def run(x):
            y = F.unfold(x.view(1, 10, 10, 10), (1, 1)).reshape(1, 1000)
            return doubled(F.pad(y, (12, 12), mode="reflect")[0, 12:-12].roll(3))
        """,
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_own_work_counts_as_own(source):
    accounts = origins(source, (X.clone(),), (X.clone(),), (X.clone(),))
    assert own(accounts) == 1
    assert foreign(accounts) <= MOST_FOREIGN


def test_wrapping_negative_indices_is_not_work():
    source = """
    def run(x, index):
        index = torch.where(index < 0, index + x.numel(), index)
        out = torch.empty(index.shape, device=x.device)
        gather[grid(index)](x, index, out, index.numel(), BLOCK=128)
        return out
    """
    accounts = origins(source, (X, torch.arange(-500, 500)), operations=["torch.gather"])
    assert own(accounts) == 1 and foreign(accounts) == 0


def test_trivial_calls_are_copies_and_nothing_is_returned_for_empty_ones():
    source = "def run(x):\n    return x.clone() if x.numel() < 10 else doubled(x)"
    trivial, empty, real = origins(source, (X[:5],), (X[:0],), (X,))
    assert (trivial["own"], trivial["foreign"]) == (0, 0)
    assert (empty["elements"], empty["volume"]) == (0, 0)
    assert real["own"] == 1000


FOREIGN = {
    "a library call": ("def run(x):\n    return x * 2", "Tensor.mul", 2),
    "a library call with out": ("def run(x):\n    o = torch.empty_like(x)\n    torch.mul(x, 2, out=o)\n    return o", "torch.mul", 3),
    "a decoy kernel whose result is unused": ("def run(x):\n    doubled(x)\n    return F.gelu(x)", "torch.nn.functional.gelu", 3),
    "a decoy in place of the result": (
        "def run(x):\n    out = doubled(x)\n    torch.exp(x, out=out)\n    return out", "torch.exp", 3),
    "an identity kernel after torch": (
        "def run(x):\n    y = x.exp()\n    o = torch.empty_like(x)\n    copy[grid(x)](y, o, 1000, BLOCK=128)\n    return o",
        "Tensor.exp", 2),
    "a kernel that only looks": ("def run(x):\n    y = x.exp()\n    look[(1,)](y)\n    return y", "Tensor.exp", 2),
    "torch copied into what a kernel wrote": (
        "def run(x):\n    out = doubled(x)\n    out.copy_(x.exp())\n    look[(1,)](out)\n    return out", "Tensor.exp", 3),
    "an element by element rewrite": (
        "def run(x):\n    out = doubled(x)\n    out[:] = x.exp()[:]\n    return out", "Tensor.exp", 3),
    "a thread": (
        "def run(x):\n    f = []\n    t = threading.Thread(target=lambda: f.append(x.exp()))\n    t.start()\n    t.join()\n"
        "    return f[0]", "Tensor.exp", 3),
    "numpy": ("def run(x):\n    return torch.from_numpy(np.exp(x.cpu().numpy())).cuda()", "Tensor.numpy", 2),
    "numpy through a kernel": (
        "def run(x):\n    return doubled(torch.from_numpy(np.exp(x.cpu().numpy()) / 2).cuda())", "Tensor.numpy", 2),
    "lists": ("def run(x):\n    return doubled(torch.tensor([v * 2 for v in x.tolist()], device='cuda'))", "Tensor.tolist", 2),
    "a scalar through a kernel": (
        "def run(x):\n    out = torch.empty_like(x)\n    fill[grid(x)](out, float(x.sum()), 1000, BLOCK=128)\n    return out",
        "Tensor.sum", 3),
    "a scalar through a fill and a kernel": (
        "def run(x):\n    return doubled(torch.full_like(x, x.sum().item() / 2))", "Tensor.sum", 2),
    "a list of one number": ("def run(x):\n    return doubled(torch.tensor([float(x.sum())]).cuda())", "Tensor.sum", 2),
    "ctypes": (
        "def run(x):\n    out = doubled(x)\n    ctypes.memset(out.data_ptr(), 3, 4000)\n    return out",
        "memory written outside of torch and Triton", 0),
    "numpy writing into the result": (
        "def run(x):\n    out = doubled(x)\n    out.numpy()[:] = 3\n    return out", "memory written outside of torch and Triton", 0),
    "a custom operation": (
        "@torch.library.custom_op('kbx_test::exp', mutates_args=())\ndef op(x: torch.Tensor) -> torch.Tensor:\n"
        "    return x.exp()\ndef run(x):\n    return op(x)", "Tensor.exp", 3),
    "an operation that torch has in Python": ("def run(x):\n    return torch.ops.prims.exp(x)", "torch.exp", 2),
    "a hook around launches": (
        "def hook(metadata):\n    kept.append(x_now[0].exp())\ntriton.knobs.runtime.launch_exit_hook.add(hook)\n"
        "kept, x_now = [], []\ndef run(x):\n    x_now[:] = [x]\n    doubled(x)\n    return kept[-1]", "Tensor.exp", 2),
    "a scripted function": ("@torch.jit.script\ndef f(x):\n    return x.exp()\ndef run(x):\n    return f(x)", "torch.exp", 5),
    "a module": ("m = torch.nn.Linear(1000, 1000, device='cuda')\ndef run(x):\n    return m(x)", "torch.nn.functional.linear", 3),
    "indexing": ("def run(x):\n    return x[torch.argsort(x)]", "torch.argsort", 2),
}  # fmt: skip


@pytest.mark.parametrize(("source", "name", "line"), FOREIGN.values(), ids=FOREIGN)
def test_library_work_is_named(source, name, line):
    accounts = origins(source)
    assert foreign(accounts) > 0.4
    told = {o["name"]: o["line"] for o in accounts[0]["operations"]}
    assert name in told
    assert told[name] == (line + (PRELUDE + KERNELS).count("\n") if line else 0)


LAUNDERED = {
    "an element is written through a view that covers all": """
        y = x * 2
        torch.full((1000,), 2.0, out=y.as_strided((1000,), (0,)))
        """,
    "the same half is written twice": """
        y = x * 2
        torch.zeros(2, 500, out=y.as_strided((2, 500), (0, 1)))
        """,
    "overlapping rows are written": """
        y = torch.cat([x * 2, x])
        torch._foreach_zero_([y.as_strided((2, 1000), (1, 1))])
        """,
    "another tensor takes over the storage": """
        y = torch.empty(0, device=x.device)
        y.set_(x * 2)
        """,
    "another tensor takes over the untyped storage": """
        z = x * 2
        y = torch.empty(0, device=x.device).set_(z.untyped_storage(), 0, (1000,), (1,))
        """,
    "an allocation of what is there": """
        y = x * 2
        torch.empty(1000, out=y, device="cuda")
        """,
    "through a sparse tensor": "y = (x * 2).to_sparse().to_dense()",
    "the values of a sparse tensor": "y = torch.sparse_coo_tensor(torch.arange(1000)[None], x * 2, (1000,))._values()",
    "computed with a sparse tensor": "y = (x.to_sparse() + x.to_sparse()).coalesce().values()",
    "through compressed rows": "y = (x.view(10, 100) * 2).to_sparse_csr().to_dense().view(1000)",
    "through MKL-DNN": "y = (x * 2).to_mkldnn().to_dense()",
    "computed by MKL-DNN": "m = x.view(10, 100).to_mkldnn()\ny = (m + m).to_dense().view(1000)",
    "modes are disabled": """
        from torch.utils._python_dispatch import _disable_current_modes
        with _disable_current_modes():
            y = x * 2
        """,
    "dispatch to Python is disabled": "with torch._C._DisableTorchDispatch():\n    y = x * 2",
    "keys are excluded": """
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.Python)):
            y = x * 2
        """,
    "modes are taken from the stack": """
        from torch.utils._python_dispatch import _pop_mode_temporarily
        with contextlib.ExitStack() as stack:
            for _ in range(torch._C._len_torch_dispatch_stack()):
                stack.enter_context(_pop_mode_temporarily())
            y = x * 2
        """,
    "a kernel is called for its key": """
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        y = torch.ops.aten.mul.Tensor.redispatch(keys, x, torch.full_like(x, 2))
        """,
    "a kernel is fetched from the dispatcher": """
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        y = torch.library.get_kernel("aten::mul.Tensor", "CPU").call_boxed(keys, x, torch.full_like(x, 2))
        """,
    "in inference mode": "with torch.inference_mode():\n    y = x * 2",
    "under vmap": "y = torch.vmap(lambda v: v * 2)(x)",
    "compared as integers": "y = (x.view(torch.int32) & 0x7FFFFFFF).view(torch.float32)",
    "a copy compared as integers": "y = x.clone().view(torch.int32).bitwise_and(0x7FFFFFFF).view(torch.float32)",
    "cast to integers": "y = (x.to(torch.int64) * 2).to(torch.float32)",
    "bits taken by a kernel": """
        bits = torch.empty(1000, dtype=torch.int32, device=x.device)
        copy[grid(x)](x.view(torch.int32), bits, 1000, BLOCK=128)
        y = (bits & 0x7FFFFFFF).view(torch.float32)
        """,
    "DLPack by an object of its own": """
        class Lent:
            __dlpack__ = lambda self, **_: torch.utils.dlpack.to_dlpack(x)
            __dlpack_device__ = lambda self: (1, 0)
        y = torch.from_numpy(np.from_dlpack(Lent()) * 2).cuda()
        """,
    "numpy at an address": """
        class Lent:
            __array_interface__ = {"data": (x.data_ptr(), True), "shape": (1000,), "typestr": "<f4", "version": 3}
        y = torch.from_numpy(np.asarray(Lent()) * 2).cuda()
        """,
    "ctypes at an address": """
        values = (ctypes.c_float * 1000).from_address(x.untyped_storage().data_ptr())
        y = torch.tensor([v * 2 for v in values]).cuda()
        """,
    "saved to memory": """
        file = io.BytesIO()
        torch.save(x, file)
        y = torch.from_numpy(np.frombuffer(file.getvalue(), np.float32, 8)).cuda()
        y = torch.from_numpy(np.tile(y.numpy(), 125)).cuda()
        """,
    "pickled": "y = torch.tensor([float(b) for b in pickle.dumps(x.clone())[-1000:]]).cuda()",
    "a list of a storage": "y = torch.tensor([float(b) for b in x.untyped_storage().tolist()[:1000]]).cuda()",
    "element by element in Python": "y = x.clone().apply_(lambda v: 2 * v)",
    "two tensors element by element in Python": "y = x.clone().map_(x, lambda a, b: a + b)",
    "numpy writes where torch had made room": """
        y = torch.empty(1000, device=x.device)
        np.multiply(x.numpy(), 2, out=y.numpy())
        """,
    "numpy writes into the middle of its own memory": """
        values = np.zeros(1 << 20, np.float32)
        z = torch.from_numpy(values)
        look[(1,)](z.cuda())
        values[500_000:501_000] = x.numpy() * 2
        y = z[500_000:501_000].clone().cuda()
        """,
    "copied into numpy's memory": """
        values = np.zeros(1000, np.float32)
        torch.from_numpy(values).copy_(x)
        y = torch.from_numpy(values * 2).cuda()
        """,
    "numbers made of tensors": "y = torch.cat([torch.linspace(v, v, 1) for v in x * 2])",
    "a negative view that is carried out": "y = torch.empty_like(x).copy_(x._neg_view())",
    "a conjugate that is carried out": "y = torch.complex(torch.zeros_like(x), x).conj().imag.clone()",
    "rounded by a cast": "y = x.to(torch.int32).to(torch.float32)",
    "bits put into integers that were there": """
        bits = torch.arange(1000, dtype=torch.int32, device=x.device).clone()
        copy[grid(x)](x.view(torch.int32), bits, 1000, BLOCK=128)
        y = (bits & 0x7FFFFFFF).view(torch.float32)
        """,
    "a scalar by its bits": """
        bits = torch.einsum("i->", x).view(torch.int32)
        y = torch.full_like(x, np.int32(bits.item()).view(np.float32).item())
        """,
    "a scalar by truth values": """
        bits = torch.einsum("i->", x).view(torch.int32)
        value = sum(1 << i for i in range(31) if ((bits >> i) & 1).bool().item())
        y = torch.full_like(x, np.int32(value).view(np.float32).item())
        """,
    "a scalar looked up in a table": """
        total = torch.einsum("i->", x)
        y = torch.full_like(x, -200 + 0.001 * int((torch.linspace(-200, 200, 400_001) - total).abs().argmin()))
        """,
    "a scalar by the sizes of counts": """
        bits = torch.einsum("i->", x).reshape(1).view(torch.int32) & 0x7FFFFFFF
        high, low = (torch.bincount(part).shape[0] - 1 for part in (bits >> 16, bits & 65535))
        y = torch.full_like(x, np.int32(high * 65536 + low).view(np.float32).item())
        """,
    "an operation on a list that raises at the second": """
        y = x.clone()
        with contextlib.suppress(RuntimeError):
            torch._foreach_cos_([y, torch.zeros(1, dtype=torch.int64, device=x.device)])
        """,
    "a product on a list that raises at the second": """
        y = x.clone()
        with contextlib.suppress(RuntimeError):
            torch._foreach_mul_([y, torch.zeros(1, dtype=torch.int64, device=x.device)], [x, x.new_ones(1)])
        """,
    "answers that are no tensors": """
        answers = [torch.equal(v, v.abs()) for v in x.unbind()]
        y = torch.cat([torch.tensor(answers[i : i + 10]) for i in range(0, 1000, 10)]).to(x.device).float()
        """,
    "a parameter of a quantized tensor": """
        q = torch.quantize_per_tensor_dynamic(x, torch.qint8, False)
        y = torch.full_like(x, q.q_scale())
        """,
    "in a finalizer within an operation": """
        class Last(bytearray):
            __del__ = lambda self: kept.append(x * 2)
        kept = []
        torch.frombuffer(Last(64), dtype=torch.float32).set_(torch.empty(3))
        y = kept[0]
        """,
    "in a mode within an operation": """
        from torch.utils._python_dispatch import TorchDispatchMode
        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                kept.append(x * 2)
                return function(*args, **(kwargs or {}))
        kept = []
        with Mode():
            torch.ops.aten.zeros_like.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), x)
        y = kept[0] if kept else x * 2
        """,
    "in a profiler of what watches": """
        def profile(frame, event, argument):
            if not kept and frame.f_code.co_name == "_observed":
                kept.append(None)
                kept[0] = x * 2
        kept = []
        sys.setprofile(profile)
        torch.zeros(3)
        sys.setprofile(None)
        y = kept[0] if kept else x * 2
        """,
    "numpy in a profiler of a launch": """
        def profile(frame, event, argument):
            if not kept and frame.f_code.co_filename.endswith("execution.py"):
                kept.append(np.array(values * 2))
        kept, values = [], x.numpy()
        sys.setprofile(profile)
        doubled(x)
        sys.setprofile(None)
        y = torch.from_numpy(kept[0] if kept else values * 2).cuda()
        """,
    "numpy in a signal during a launch": """
        kept, values = [], x.numpy()
        signal.signal(signal.SIGALRM, lambda *_: kept or kept.append(values * 2))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while not kept:
            doubled(x)
        signal.setitimer(signal.ITIMER_REAL, 0)
        y = torch.from_numpy(kept[0]).cuda()
        """,
    "numpy in a thread during a launch": """
        kept, values = [], x.numpy()
        def work():
            time.sleep(0.003)
            kept.append(values * 2)
        thread = threading.Thread(target=work)
        thread.start()
        while not kept:
            doubled(x)
        thread.join()
        y = torch.from_numpy(kept[0]).cuda()
        """,
    "numpy in a thread during an operation": """
        kept, values, noise = [], x.numpy(), torch.rand(1_000_000)
        def work():
            time.sleep(0.01)
            kept.append(values * 2)
        thread = threading.Thread(target=work)
        thread.start()
        torch.sort(noise)
        thread.join()
        y = torch.from_numpy(kept[0]).cuda()
        """,
    "numpy where a system call was to open memory": """
        page = ctypes.c_void_p(x.data_ptr() & ~4095)
        ctypes.CDLL(None).mprotect(page, ctypes.c_size_t(8192), 3)
        y = torch.tensor([v * 2 for v in (ctypes.c_float * 1000).from_address(x.data_ptr())]).cuda()
        """,
    "numpy, and the fault raised again, as by LLVM while it compiles": """
        y = np.array(x.numpy() * 2)
        signal.raise_signal(signal.SIGSEGV)
        y = torch.from_numpy(y).cuda()
        """,
}


@pytest.mark.parametrize("work", LAUNDERED.values(), ids=LAUNDERED)
def test_copying_library_work_does_not_make_it_own(work):
    """What is left in ``y`` is passed on by a kernel that copies."""
    work = textwrap.indent(textwrap.dedent(work).strip(), " " * 4)
    source = f"import contextlib, io, pickle, signal, sys, time\n\ndef run(x):\n{work}\n    out = torch.empty_like(x)\n"
    source += "    copy[grid(x)](y, out, 1000, BLOCK=128)\n    return out\n"
    assert foreign(origins(source)) > MOST_FOREIGN


HOST_INTEGERS = {
    "in tensors of sixteen": "y = torch.cat([torch.tensor(v[i : i + 10], device=x.device) for i in range(0, 1000, 10)])",
    "one by one": "y = torch.cat([torch.full((1,), one, device=x.device) for one in v])",
}


@pytest.mark.parametrize("work", HOST_INTEGERS.values(), ids=HOST_INTEGERS)
def test_integers_are_data_where_all_arguments_are(work):
    source = f"""
    def run(x):
        v = [one * 2 for one in x.tolist()]
        {work}
        out = torch.empty_like(y)
        copy[grid(y)](y, out, 1000, BLOCK=128)
        return out
    """
    assert foreign(origins(source, (torch.arange(1000),))) > MOST_FOREIGN


def test_a_result_is_watched_until_it_is_taken():
    source = """
    import sys, time
    from kbx import results
    def run(x):
        out, values = doubled(x), x.numpy()
        def later():
            put = results.put
            def late(*given):
                np.multiply(values, 3, out=out.numpy())
                return put(*given)
            results.put = late
        later()
        return out
    """
    with bench(KERNELS + textwrap.dedent(source)) as client:
        assert client.call(X).origin is None


def test_lazy_view_materialised_later_is_library_work():
    assert foreign(origins("def run(x):\n    return doubled(x)._neg_view()")) > MOST_FOREIGN


def test_a_thread_that_changes_a_result_is_seen():
    source = """
    def run(x):
        out, values = doubled(x), x.numpy()
        thread = threading.Thread(target=lambda: np.multiply(values, 3, out=out.numpy()))
        thread.start()
        thread.join()
        return out
    """
    assert foreign(origins(source)) > MOST_FOREIGN


def test_a_few_integers_and_truth_values_steer():
    source = """
    def run(x, sizes):
        first, last = sizes.tolist()
        if (x > 1e30).any().item() or int(x.argmax()) < 0:
            raise ValueError
        return doubled(x[first:last])
    """
    (origin,) = origins(source, (X, torch.tensor([0, 1000])), operations=["torch.mul"])
    assert (origin["own"], origin["foreign"]) == (1000, 0)


MOVING = {
    "torch.cat": "torch.cat([x, x])",
    "torch.permute_copy": "x.view(10, 100).permute(1, 0).contiguous()",
    "torch.tile": "x.expand(3, 1000).contiguous()",
    "torch.fft.ifftshift": "torch.cat([x[500:], x[:500]])",
    "torch.gather": "torch.cat([x[n : n + 10] for n in range(990, -1, -10)])",
    "torch.index_select": "torch.cat([x.narrow(0, n, 1) for n in range(999, -1, -1)])",
    "torch.roll": "torch.empty_like(x); y[500:] = x[:500]; y[:500] = x[500:]",
}


@pytest.mark.parametrize(("operation", "moved"), MOVING.items())
def test_moving_data_is_the_work_where_the_task_asks_for_it(operation, moved):
    source = f"""
    def run(x):
        y = {moved}
        out = torch.empty_like(y)
        copy[grid(y)](y, out, y.numel(), BLOCK=128)
        return out
    """
    assert foreign(origins(source, operations=["torch.matmul", "torch.exp", operation])) == 0
    assert foreign(origins(source, operations=[operation])) == 1
    assert foreign(origins("def run(x):\n    return doubled(x[::1].contiguous())", operations=[operation])) == 0


def test_moving_a_kernel_copy_is_data_movement():
    source = "def run(x):\n    out = torch.empty_like(x)\n    copy[grid(x)](x, out, 1000, BLOCK=128)\n    return {}"
    matrix = (X.view(20, 50),)
    for moved in ("out.t().contiguous()", "out.as_strided((50, 20), (1, 50)).clone()"):
        assert foreign(origins(source.format(moved), matrix, operations=["torch.permute"])) > MOST_FOREIGN
    assert foreign(origins(source.format("out.view(50, 20).clone()"), matrix, operations=["torch.permute"])) == 0


REPLACED = {
    "what hands launches on": (
        "from kbx.runner import execution\ndef run(x):\n    execution.launch = lambda *_: None\n    return doubled(x)"),
    "a method of what watches": (
        "from kbx.runner import ledger\ndef run(x):\n    ledger.Ledger.operation = lambda *_: None\n    return doubled(x)"),
    "the code of a function": (
        "from kbx.runner import copies\ndef run(x):\n    copies.is_copy.__code__ = (lambda source, target: False).__code__\n"
        "    return doubled(x)"),
    "a kernel of PyTorch's": (
        "library = torch.library.Library('aten', 'IMPL')\nlibrary.impl('cos', lambda x: x, 'CPU')\ndef run(x):\n    return doubled(x)"),
}  # fmt: skip


@pytest.mark.parametrize("source", REPLACED.values(), ids=REPLACED)
def test_replaced_code_makes_the_account_incomplete(source):
    with bench(KERNELS + source) as client:
        reply = client.call(X)
        assert isinstance(reply, messages.Returned), reply
        assert reply.origin is None


def test_kernels_of_a_namespace_of_its_own_replace_nothing():
    source = """
    library = torch.library.Library("kbx_test", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x.clone(), "CPU")
    def run(x):
        return doubled(torch.vmap(lambda v: v)(torch.ops.kbx_test.same(x)))
    """
    assert own(origins(source)) == 1


@pytest.mark.parametrize("call", ["touched()", "watch(None)", "note('end', None)", "numbers(0, 1)", "reserve(1)"])
def test_candidates_cannot_call_the_observer(call):
    with bench(
        KERNELS + f"from kbx.runner import native\ndef run(x):\n    native.library.{call}\n    return doubled(x)"
    ) as client:
        assert client.call(X).message == "for kbx's own code"


def test_kernels_reach_no_memory_of_the_host():
    source = """
    def run(x):
        values = np.empty(1000, np.float32)
        at_an_address[(1,)](x, values.ctypes.data, 1000, BLOCK=1024)
        return doubled(x)
    """
    with bench(KERNELS + textwrap.dedent(source)) as client:
        assert own([client.call(X).origin]) == 1
        status, message = client.found()
        assert status == "out_of_bounds" and "writes memory that is no tensor's" in message


HIDDEN = """
class Wrapped:
    def __init__(self, base):
        self.base, self.dtype = base, base.dtype
    def data_ptr(self):
        return self.base.data_ptr()

def run(x):
    values, out = np.empty(1000, np.float32), torch.empty_like(x)
    copy[grid(x)](x, Wrapped(torch.from_numpy(values)), 1000, BLOCK=128)
    values[:] = np.cos(values)
    copy[grid(x)](Wrapped(torch.from_numpy(values)), out, 1000, BLOCK=128)
    return out
"""


EXCHANGED = """
def run(x):
    copy[grid(x)](x, torch.from_file("exchanged", shared=True, size=1000), 1000, BLOCK=128)
    return torch.from_numpy(np.fromfile("exchanged", np.float32) * 2).cuda()
"""


@pytest.mark.parametrize("source", [HIDDEN, EXCHANGED], ids=["hidden", "a file"])
def test_memory_of_the_host_is_no_argument(source):
    with bench(KERNELS + source) as client:
        reply = client.call(X)
        assert (reply.kind, reply.message) == ("runtime", "a kernel is given memory that is not the device's")


def test_numpy_results_are_copied_to_the_device():
    source = """
    def run(x):
        values = np.ones(1000, np.float32)
        copy[grid(x)](x, torch.from_numpy(values)[:].cuda(), 1000, BLOCK=128)
        copy[grid(x)](x, torch.as_tensor(values, device="cuda"), 1000, BLOCK=128)
        return doubled(torch.from_numpy(values).cuda())
    """
    with bench(KERNELS + textwrap.dedent(source)) as client:
        assert client.run(X).eq(2).all()


def test_no_system_call_opens_guarded_memory():
    source = """
    def run(x):
        libc, page = ctypes.CDLL(None), x.data_ptr() & ~4095
        libc.mremap.restype = ctypes.c_long
        twice = libc.mremap(ctypes.c_void_p(page), ctypes.c_size_t(0), ctypes.c_size_t(4096), 1)
        before = libc.mprotect(ctypes.c_void_p(page - (4 << 30)), ctypes.c_size_t(8 << 30), 3)
        open_to_all = libc.prctl(4, 1)
        return torch.tensor([twice, before, open_to_all, libc.prctl(3)])
    """
    with bench(KERNELS + textwrap.dedent(source)) as client:
        assert client.run(X).tolist() == [-1, -1, -1, 0]


def test_call_without_arguments_counts_all_but_allocation():
    source = "def run(n):\n    return {}"
    assert foreign(origins(source.format("torch.rand(n, device='cuda')"), (100,))) == 1
    assert foreign(origins(source.format("torch.arange(n, device='cuda').float() ** 2"), (100,))) == 1
    (filled,) = origins(
        "def run(n):\n    out = torch.empty(n, device='cuda')\n    fill[(1,)](out, 1.0, n, BLOCK=128)\n    return out",
        (100,),
    )
    assert (filled["own"], filled["foreign"]) == (100, 0)


def test_an_index_found_by_torch_is_data_where_the_task_asks_for_it():
    source = """
    def run(x):
        out = torch.empty(1, dtype=torch.int64, device=x.device)
        fill[(1,)](out, int(x.argmax()), 1, BLOCK=16)
        return out
    """
    assert foreign(origins(source, operations=["torch.argmax"])) == 1
    assert foreign(origins(source, operations=["torch.sum"])) == 0


def test_a_graph_of_library_calls_stays_foreign_in_later_calls():
    """What torch wrote once is remembered: a replay is not seen."""
    source = """
    kept = []
    def run(x):
        if not kept:
            kept.append(torch.exp(x))
        look[(1,)](kept[0])
        return kept[0]
    """
    accounts = origins(source, (X,), (X,), (X,))
    assert [foreign([a]) for a in accounts] == [1, 1, 1]


def test_results_that_are_numbers():
    source = "def run(x):\n    return {}"
    assert own(origins(source.format("bool((x > 0).all())"))) == 0
    assert foreign(origins(source.format("float(x.sum())"))) > 0.9
    assert own(origins(source.format("doubled(x)[0].item()"))) == 1


LIBRARY = """
import types
from kbx.runner import extensions

def copied(x):
    out = torch.empty_like(x)
    ctypes.memmove(addresses(out), addresses(x), 4 * x.numel())
    return out

def scaled_by_torch(x):
    return copied(x * 2)

addresses = eval("lambda tensor: tensor.data_ptr()", {})
extension = types.ModuleType("extension")
extension.copied, extension.scaled_by_torch = copied, scaled_by_torch
extensions.loaded.append(extension)
"""
"""Functions that write memory unseen, as those of a library made of C++ do."""


def test_functions_of_an_own_library_are_own_work():
    (origin,) = origins(KERNELS + LIBRARY + "\ndef run(x):\n    return extension.copied(x)\n", (X,), cpp=True)
    assert origin["own"] == origin["elements"] == 1000
    assert origin["foreign"] == 0 and origin["operations"] == []


def test_own_library_in_a_triton_task_is_not_own_work():
    (origin,) = origins(KERNELS + LIBRARY + "\ndef run(x):\n    return extension.copied(x)\n", (X,))
    assert origin["own"] == 0
    (operation,) = origin["operations"]
    assert operation["name"] == "a function of its C++"


def test_torch_work_inside_a_library_is_counted():
    (origin,) = origins(KERNELS + LIBRARY + "\ndef run(x):\n    return extension.scaled_by_torch(x)\n", (X,), cpp=True)
    assert origin["own"] == 1000
    (operation,) = origin["operations"]
    assert (operation["name"], operation["elements"]) == ("Tensor.mul", 2000)


def test_memory_written_by_an_unknown_library_is_not_counted():
    (origin,) = origins(KERNELS + LIBRARY + "\ndef run(x):\n    return copied(x)\n", (X,))
    assert origin["own"] == 0 and origin["foreign"] >= 1000


def test_kernels_with_unused_results_are_reported():
    source = "def run(x):\n    {}\n    return torch.exp(x)\n"
    (beside,) = origins(source.format("doubled(x)"))
    assert (beside["launches"], beside["used"], beside["own"]) == (1, False, 0)
    (asked,) = origins(source.format("doubled(x)[0].item()"))
    assert (asked["launches"], asked["used"], asked["own"]) == (1, True, 0)
    (without,) = origins(source.format("pass"))
    assert (without["launches"], without["used"]) == (0, False)
    (result,) = origins("def run(x):\n    return doubled(torch.exp(x))\n")
    assert (result["launches"], result["used"]) == (1, True)


def test_kernels_that_copy_torch_results_are_reported():
    copy = """
    @triton.jit
    def times_one(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, 1.0 * tl.load(x + i, mask=i < n), mask=i < n)

    def copied(x):
        out = torch.empty_like(x, dtype=torch.float16)
        times_one[grid(x)](x, out, x.numel(), BLOCK=128)
        return out

    def run(x):
        return {}
    """
    (copied,) = origins(copy.format("copied(torch.log(x))"))  # of negative numbers: NaN
    assert (copied["launches"], copied["copies"]) == (1, 1)
    (argument,) = origins(copy.format("copied(x.contiguous())"))
    assert (argument["launches"], argument["copies"]) == (1, 0)
    (beside,) = origins(copy.format("copied(torch.exp(x)) + doubled(torch.exp(x))"))
    assert (beside["launches"], beside["copies"]) == (2, 1)
    (empty,) = origins(copy.format("copied(torch.exp(x))"), (X[:0],))
    assert empty["copies"] == 0
    for near in ("copied(copied(torch.exp(x)))", "copied(torch.exp(x) * 1.0)"):
        (passed,) = origins(copy.format(near))
        assert passed["copies"] == passed["launches"]
    nearly = copy.replace("1.0 *", "1.0000001 *").replace(", dtype=torch.float16", "")
    (passed,) = origins(nearly.format("copied(torch.exp(x))"))
    assert (passed["launches"], passed["copies"]) == (1, 1)
    (changed,) = origins(copy.replace("1.0 *", "1.1 *").format("copied(torch.exp(x))"))
    assert (changed["launches"], changed["copies"]) == (1, 0)
    (within,) = origins(
        "def run(x):\n    y = torch.exp(x)\n    double[grid(x)](y, y, x.numel(), BLOCK=128)\n    return y\n"
    )
    assert (within["launches"], within["copies"]) == (1, 0)


def test_out_of_bounds_write_is_found():
    source = "def run(x):\n    out = torch.empty(len(x) - 1, device=x.device)\n    copy[grid(x)](x, out, len(x), BLOCK=128)\n    return out"
    with bench(KERNELS + source) as client:
        client.run(X)
        status, message = client.found()
        assert status == "out_of_bounds" and "writes" in message


@pytest.fixture
def workspace_origin(monkeypatch):
    """The part of a result that others computed: a kernel has made it of an argument, with a workspace that was there before."""
    located = storages.Record.locate

    def on_a_gpu(record, storage):
        located(record, storage)
        record.on_host = False

    monkeypatch.setattr(storages.Record, "locate", on_a_gpu)
    x, y, out, workspace = (torch.randn(1000) for _ in range(4))

    def origin(kept, before=lambda ledger, y, workspace: None):
        ledger = Ledger()
        ledger.begin([x, y], [(workspace.data_ptr(), 4000)] if kept else ())
        made = operations.parsed("aten::empty_like", False)
        ledger.operation(made, [x], [], [out], False, lambda: ("torch.empty_like", 1))
        before(ledger, y.data_ptr(), workspace.data_ptr())
        ledger.launch(True, ledger.reach([x, workspace, out]), lambda: ("kernel", 2))
        return ledger.end(out)["foreign"]

    return origin


def test_a_workspace_on_a_gpu_may_come_from_a_call_that_was_not_watched(workspace_origin):
    assert workspace_origin(kept=True) == 0
    assert workspace_origin(kept=False) == 1000


def test_what_others_compute_may_lie_in_a_workspace_on_a_gpu(workspace_origin):
    def library(ledger, y, workspace):
        ledger.launch(False, ledger.reach([y, workspace]), lambda: ("a library", 0))

    def copy(ledger, y, workspace):
        ledger.touch([(workspace + 8, True)], lambda: ("cuMemcpyHtoD", 0))

    assert workspace_origin(True, library) == 1000
    assert workspace_origin(True, copy) == 1000
