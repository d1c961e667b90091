"""The bench as the referee sees it: values through arenas, and one kind for each way to fail."""

import os

import pytest
import torch
from bench_client import bench

from kbx.messages import runner as messages
from kbx.runner import module

LAUNCH = """
@triton.jit
def kernel(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    {body}

def run(x):
    out = torch.empty_like(x)
    kernel[(1,)](x, out, BLOCK=64)
    return out
"""


def answer(source, *args):
    """The reply to loading, or to calling ``run`` if it loads."""
    with bench() as client:
        client.attach()
        reply = client.load(source)
        return client.call(*args) if isinstance(reply, messages.Loaded) else reply


@pytest.mark.parametrize("told", [True, False])
def test_candidate_is_pinned_to_its_processor(told):
    allowed = sorted(os.sched_getaffinity(0))
    core = allowed[-1]
    with bench() as client:
        client.attach()
        loaded = client.load(
            """
            import os

            def run():
                try:
                    os.sched_setaffinity(0, range(os.cpu_count()))
                except PermissionError:
                    return sorted(os.sched_getaffinity(0))
            """,
            core=core if told else None,
        )
        assert isinstance(loaded, messages.Loaded), loaded
        assert client.run() == ([core] if told else allowed)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def run(:\n    pass", "syntax"),
        ("import a_module_that_is_not_there\ndef run(): pass", "import"),
        ("run = 3", "no_entry"),
        ("1 / 0", "runtime"),
        ("def run():\n    raise ValueError('out of memory')", "runtime"),
        ("def run():\n    import a_module_that_is_not_there", "runtime"),
        ("def run():\n    raise SystemExit(0)", "exit"),
        ("raise SystemExit(0)", "exit"),
        ("def run():\n    return torch.empty(1 << 55, device='cuda')", "memory"),
        ("def run():\n    raise MemoryError", "memory"),
        ("def run():\n    return torch.empty(16 << 20, device='cuda')", "memory"),
    ],
)
def test_kinds_of_failure(source, kind):
    reply = answer(source)
    assert isinstance(reply, messages.Raised) and reply.kind == kind


@pytest.mark.parametrize(
    "body",
    [
        "for k in range(3):\n        if k == 1:\n            break",
        "values = [1, 2]\n    values.append(3)\n    tl.store(out + i, values[2])",
        "tl.store(out + i, SCALE)",
        "tl.store(out + i, tl.load(x + tl.arange(0, 48)))",
        "tl.static_assert(BLOCK == 32)",
        "tl.store(out + i, undefined_name)",
        "tl.store(out + i, tl.dot(tl.load(x + i), tl.load(x + i)))",
    ],
)
def test_compiler_rejection_is_a_compile_error(body):
    reply = answer("SCALE = 2.0\n" + LAUNCH.format(body=body), torch.ones(64))
    assert isinstance(reply, messages.Raised) and reply.kind == "compile"
    *outer, kernel = reply.frames
    assert outer[-1]["function"] == "run" and outer[-1]["text"].startswith("kernel[")
    assert kernel["function"] == "kernel" and kernel["text"] in body
    assert reply.message and "\n" not in reply.message


def test_a_compile_error_names_the_line_of_the_function_that_a_kernel_calls():
    source = """
@triton.jit
def helper(x):
    y = x + 1
    return tl.nothing(y)

@triton.jit
def kernel(x):
    tl.store(x, helper(1))

def run(x):
    kernel[(1,)](x)
"""
    reply = answer(source, torch.ones(1))
    assert [(f["function"], f["text"]) for f in reply.frames] == [
        ("run", "kernel[(1,)](x)"),
        ("kernel", "tl.store(x, helper(1))"),
        ("helper", "return tl.nothing(y)"),
    ]
    assert reply.frames[-1]["line"] == reply.frames[-2]["line"] - 4
    assert "nothing" in reply.message and "def helper" not in reply.message


def test_shared_memory_over_the_limit_is_a_compile_error_on_that_architecture_only():
    source = """
    @triton.jit
    def kernel(x, out, B: tl.constexpr):
        r, c = tl.arange(0, B), tl.arange(0, B)
        v = tl.load(x + r[:, None] * B + c[None, :])
        tl.store(out + r[:, None] * B + c[None, :], tl.dot(v, v))

    def run(x):
        out = torch.empty_like(x)
        kernel[(1,)](x, out, B=128, num_warps=8)
        return out
    """
    x = torch.randn(128, 128)
    # Operands keep ten bits of mantissa, as on a GPU: their products are exact, and only the 127 sums of each element round.
    rounded = (x.view(torch.int32) & -(1 << 13)).view(torch.float32).double()
    truth, allowed = rounded @ rounded, 127 * 2**-24 * (rounded.abs() @ rounded.abs())
    for arch, kind in (("sm_89", "compile"), ("sm_90", None)):
        with bench(source, arch=arch) as client:
            reply = client.call(x)
            if kind is None:
                assert ((client.result(reply).double() - truth).abs() <= allowed).all()
                assert reply.compiled[0]["arch"] == arch and reply.compiled[0]["shared_bytes"] > 101376
            else:
                assert (reply.kind, reply.exception) == (kind, "triton.runtime.errors.OutOfResources")


def test_resources_and_launches_are_reported_once():
    with bench(LAUNCH.format(body="tl.store(out + i, tl.load(x + i) + 1)")) as client:
        first, second = client.call(torch.ones(64)), client.call(torch.ones(64))
    assert first.launches == second.launches == 1
    (kernel,) = first.compiled
    assert kernel["kernel"] == "kernel" and kernel["registers"] > 0 and kernel["spills"] == 0
    assert second.compiled == []


def test_frames_are_the_candidates():
    reply = answer("def inner(x):\n    return x.nothing\n\ndef run(x):\n    return inner(x)\n", torch.ones(3))
    assert [(f["function"], f["text"]) for f in reply.frames] == [
        ("run", "return inner(x)"),
        ("inner", "return x.nothing"),
    ]
    assert reply.exception == "builtins.AttributeError"


def test_a_candidate_starts_without_tf32():
    with bench() as client:
        client.attach()
        client.load("""
        def run():
            return torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
        """)
        assert client.run() == (False, "highest")


def test_values_of_every_kind_come_back():
    source = "def run(x, n, *, flag):\n    return {'a': [x, n, None], 'b': (x.t(), 1.5, flag, 'text'), 'c': object()}"
    x = torch.arange(6).reshape(2, 3).bfloat16()
    with bench(source) as client:
        reply = client.call(x, 7, flag=True)
        leaf = reply.value["v"]["b"]["v"][0]
        assert leaf["own_stride"] == [1, 3] and leaf["stride"] == [2, 1] and leaf["aliases"] == 0
        assert reply.value["v"]["c"]["t"] == "opaque"
        reply.value["v"].pop("c")
        value = client.result(reply)
    assert torch.equal(value["a"][0], x) and value["a"][1:] == [7, None]
    assert torch.equal(value["b"][0], x.t()) and value["b"][1:] == (1.5, True, "text")


def test_arguments_are_the_arenas_own_memory():
    with bench("def run(x):\n    x.zero_()") as client:
        client.run(torch.ones(5))
        assert client.inputs.typed(0, 5, torch.float32).tolist() == [0.0] * 5


def test_each_argument_has_a_storage_of_its_own():
    source = "def run(x, y):\n    return [(t.untyped_storage().nbytes(), t.storage_offset()) for t in (x, y)]"
    with bench(source) as client:
        assert client.run(torch.ones(4), torch.ones(6).double()) == [(16, 0), (48, 0)]


def test_entries_are_tried_in_order_and_may_be_any_callable():
    source = "class Thing:\n    def __call__(self, x):\n        return x + 1\nsecond = Thing()\ndef third(x): pass"
    with bench(source, "first", "second", "third") as client:
        assert client.run(torch.zeros(1)).item() == 1


CUDA = """
def run(x):
    assert x.is_cuda and not x.is_cpu and x.device.type == "cuda" and x.get_device() == 0
    assert x.device == torch.device("cuda:0") and str(x.device) == "cuda:0"
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    assert torch.cuda.get_device_capability() == (9, 0)
    properties = torch.cuda.get_device_properties(x.device)
    assert properties.multi_processor_count == 132 and properties.total_memory > 0
    utils = triton.runtime.driver.active.utils
    assert utils.get_device_properties(triton.runtime.driver.active.get_current_device())["max_shared_mem"] == 232448
    assert triton.runtime.driver.active.get_active_torch_device() == x.device
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    generator = torch.Generator(device="cuda").manual_seed(1)
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
        start.record()
        y = torch.zeros(x.shape, device="cuda") + torch.tensor([1.0], device=x.device) + x.cpu().to("cuda")
        y += 0 * torch.rand(x.shape, device="cuda", generator=generator)
        layer = torch.nn.Linear(4, 4).cuda()
        assert layer.weight.is_cuda and layer(y).device == x.device
        y.record_stream(torch.cuda.current_stream())
        end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (y.reshape(1, 4) @ y.reshape(4, 1)).dtype == torch.bfloat16
    for autocast, dtype in AUTOCASTS:
        with autocast:
            assert (y.reshape(1, 4) @ y.reshape(4, 1)).dtype == dtype, dtype
    return y.to(device=x.device, dtype=torch.float64)

AUTOCASTS = [
    (torch.autocast("cuda", torch.bfloat16), torch.bfloat16), (torch.autocast("cuda"), torch.float16),
    (torch.amp.autocast("cuda", torch.bfloat16, False), torch.float32), (torch.cuda.amp.autocast(), torch.float16),
    (torch.cuda.amp.autocast(False), torch.float32), (torch.cuda.amp.autocast(True, torch.bfloat16), torch.bfloat16),
]
"""


def test_derived_tensors_are_on_the_device_of_their_source():
    source = """
    def run(x):
        kept = [make(x).is_cuda for make in (torch.as_tensor, torch.asarray)]
        host = torch.as_tensor(x, device="cpu")
        there = torch.as_tensor(host, device="cuda")
        return [*kept, there.is_cuda, x.is_cuda, host.is_cuda, torch.as_tensor(host).is_cuda]
    """
    with bench(source) as client:
        assert client.run(torch.ones(4)) == [True] * 4 + [False] * 2


GENERATOR = """
def run(x):
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    torch.cuda.manual_seed(2**63 + 5)
    assert torch.cuda.initial_seed() == generator.initial_seed() == 2**63 + 5 and generator.device == x.device
    state = generator.get_state()
    assert state.dtype == torch.uint8 and state.shape == (16,) and not state.is_cuda
    seed, offset = state.view(torch.int64)
    offset += 8
    generator.set_state(state)
    assert generator.get_offset() == int(offset) == 8 and int(seed) == 5 - 2**63
    with torch.random.fork_rng():
        torch.cuda.seed()
        assert generator.get_offset() == 0
    assert torch.equal(torch.cuda.get_rng_state(), state) and torch.cuda.initial_seed() == 2**63 + 5
    torch.manual_seed(7)
    return generator.initial_seed(), generator.get_offset()
"""


def test_a_kernel_may_draw_from_the_default_generator_s_seed_and_offset():
    with bench(GENERATOR) as client:
        assert client.run(torch.ones(4)) == (7, 0)


DEFAULT_DEVICE = """
torch.set_default_device("cuda")

def run(x):
    y, table = torch.zeros(4), torch.tensor([1.0])
    with torch.device("cpu"):
        host = torch.ones(4)
    return [y.is_cuda, table.is_cuda, host.is_cuda, torch.zeros(4, device="cpu").is_cuda, torch.rand(4).is_cuda, x + y]
"""


def test_default_device_may_be_cuda_without_a_gpu():
    with bench(DEFAULT_DEVICE) as client:
        *places, y = client.run(torch.ones(4))
    assert places == [True, True, False, False, True]
    assert torch.equal(y, torch.ones(4))


MODULE = """
torch.set_default_device("cuda")

class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 2)
        self.table = torch.arange(2.0)
        self.own = torch.ones(2, device="cuda")

    def forward(self, x):
        assert self.linear.weight.is_cuda and self.table.is_cuda and self.own.is_cuda and torch.zeros(2).is_cuda
        return self.linear(x) + self.table + self.own
"""


def test_a_module_has_the_seed_s_weights_whatever_the_default_device():
    with bench(MODULE, "ModelNew") as client:
        made = client.ask(messages.Construct(4, {"init": [{"t": "int", "v": 5}], "seed": 3}))
        assert isinstance(made, messages.Constructed), made
        found = client.run(torch.ones(5))
    torch.manual_seed(3)
    linear = torch.nn.Linear(5, 2)
    assert torch.equal(found, linear(torch.ones(5)).detach() + torch.arange(2.0) + 1)


@pytest.mark.parametrize(
    ("body", "reused"),
    [
        ("KEPT.copy_(x); return KEPT", [False, True, True]),
        ("KEPT.copy_(x); return KEPT[1:]", [False, True, True]),
        ("KEPT.copy_(x); return KEPT.clone()", [False] * 3),
        ("return x + 1", [False] * 3),
        ("x += 1; return x", [False] * 3),
        ("return torch.empty(0)", [False] * 3),
    ],
)
def test_a_result_in_the_memory_of_the_last_one_is_told(body, reused):
    with bench(f"KEPT = torch.zeros(4)\ndef run(x):\n    {body}\n") as client:
        told = [client.call(torch.ones(4)).value.get("reused", False) for _ in range(3)]
    assert told == reused


STATEFUL = """
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name, shape in NAMES:
            self.register_buffer(name, torch.full(shape, 7.0))

    def forward(self, x):
        for number, buffer in enumerate(self.buffers()):
            buffer.add_(number + 1)
        return x + self.get_buffer(NAMES[0][0])
"""


@pytest.mark.parametrize(
    ("names", "lacking"),
    [
        ([("mean", (2,)), ("step", ()), ("table", (3,))], []),
        ([("average", (2,)), ("count", ())], []),
        ([("mean", (2,))], ["step"]),
        ([("count", ()), ("average", (2,))], ["mean", "step"]),
        ([("mean", (1, 2)), ("step", ())], ["mean"]),
    ],
)
def test_a_module_is_called_with_the_buffers_that_are_sent_and_sends_them_back(names, lacking):
    held = {"mean": torch.tensor([1.0, 2.0]), "step": torch.tensor(3.0)}
    with bench(STATEFUL.replace("NAMES", repr(names)), "ModelNew") as client:
        client.ask(messages.Construct(4, {"init": [], "seed": 3}))
        for _ in range(2):
            reply = client.call(torch.zeros(2), self=held)
            if lacking:
                assert reply.value == {"t": "lacking", "v": lacking}
                continue
            assert client.result(reply).tolist() == [2.0, 3.0]
            after = [client.inputs.view(leaf).tolist() for leaf in client.leaves[1:]]
            assert after == [[2.0, 3.0], 5.0]


def test_weights_are_drawn_on_the_cpu_where_the_default_device_is_another():
    tree = {"init": [{"t": "int", "v": 5}, {"t": "int", "v": 2}], "seed": 3}
    torch.set_default_device("meta")
    try:
        made, _ = module.construct(torch.nn.Linear, tree, torch.device("cpu"))
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
    torch.manual_seed(3)
    assert torch.equal(made.weight, torch.nn.Linear(5, 2).weight)


GRAPHS = [
    "torch.cuda.CUDAGraph()",
    "torch.cuda.graph(None)",
    "torch.cuda.graphs.CUDAGraph()",
    "torch.cuda.make_graphed_callables(torch.relu, (x,))",
]


@pytest.mark.parametrize("made", GRAPHS)
def test_cuda_graphs_are_unsupported_on_the_cpu(made):
    reply = answer(f"def run(x):\n    return {made}", torch.ones(4))
    assert (reply.kind, reply.feature) == ("unsupported", "CUDA graphs")
    assert reply.frames[-1]["text"] == f"return {made}"


@pytest.mark.parametrize("made", GRAPHS)
def test_candidate_that_does_without_cuda_graphs_is_judged(made):
    reply = answer(
        f"def run(x):\n    try:\n        return {made}\n    except Exception:\n        return x", torch.ones(4)
    )
    assert isinstance(reply, messages.Returned), reply


@pytest.mark.parametrize(
    ("forged", "names"),
    [
        ("Unsupported('frobnication')", "gaps.Unsupported"),
        ("Unavailable('this machine lacks a frobnicator')", "gaps.Unavailable"),
    ],
)
def test_candidate_that_raises_unsupported_itself_has_failed(forged, names):
    source = f"from kbx.runner import gaps\n{{}}raise gaps.{forged}"
    for each in (source.format(""), source.format("def run():\n    ")):
        reply = answer(each)
        assert (reply.kind, reply.feature) == ("runtime", None)
        assert reply.exception.endswith(names)


def test_code_written_for_cuda_runs():
    with bench(CUDA) as client:
        reply = client.call(torch.zeros(4))
        assert isinstance(reply, messages.Returned), reply
        assert reply.value["device"] == "cuda" and client.result(reply).tolist() == [1.0] * 4


OPERATOR = """
@torch.library.{register}("example::negated", mutates_args=())
def negated(x: torch.Tensor) -> torch.Tensor:
    assert x.is_cuda and torch.empty_like(x).is_cuda
    return -x

@negated.register_fake
def _(x):
    return torch.empty_like(x)

def run(x):
    return torch.ops.example.negated(x)
"""


@pytest.mark.parametrize("register", ["custom_op", "triton_op"])
def test_registered_operators_run_on_the_device(register):
    with bench(OPERATOR.format(register=register)) as client:
        assert client.run(torch.ones(2)).tolist() == [-1.0, -1.0]


def test_host_tensors_are_told_apart():
    with bench("def run(x):\n    return x.cpu(), x, torch.zeros(3), x.to('cpu').cuda()") as client:
        reply = client.call(torch.ones(3))
    assert [leaf["device"] for leaf in reply.value["v"]] == ["cpu", "cuda", "cpu", "cuda"]


def test_launching_on_a_host_tensor_fails_as_on_a_gpu():
    source = LAUNCH.format(body="tl.store(out + i, tl.load(x + i))").replace("torch.empty_like(x)", "torch.empty(64)")
    reply = answer(source, torch.ones(64))
    assert (reply.kind, reply.exception) == ("runtime", "builtins.ValueError")


def test_the_candidates_module_keeps_its_own_globals():
    source = LAUNCH.format(body="tl.store(out + i, tl.load(x + i))") + "\nbefore = set(globals())\n"
    source += "def names(x):\n    run(x)\n    return sorted(set(globals()) - before - {'names', 'before'})\n"
    with bench(source, "names") as client:
        assert client.run(torch.ones(64)) == []


def test_a_function_kept_from_the_compiler_runs():
    """The decorator imports torch._dynamo, which insists that torch's functions are different objects."""
    assert isinstance(
        answer("@torch.compiler.disable\ndef run(x):\n    return x + 1\n", torch.ones(4)), messages.Returned
    )
