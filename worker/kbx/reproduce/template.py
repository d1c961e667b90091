"""@HEADER@"""

import contextlib
import importlib.util
import math
import os
import random
import secrets
import signal
import sys
import tempfile
import traceback

import torch

GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"
STATUS = "@STATUS@"
ARCH = 90
RAISES = False
EXPECTED_ERROR = ""
CONFIGURATIONS = []
ENTRIES = ["candidate"]
REFERENCE = "reference"
IS_MODEL = False
PRECISION = None
UPSTREAM = None
GRADIENTS_OF = []
TIME_LIMIT = 60
ROUNDS = 3
CALLS = 1
COMPILES_ONLY = not GPU and STATUS == "compile_error"
if not GPU and not COMPILES_ONLY:
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: kernels then run on the CPU

TOLERANCE = {torch.float64: 1e-11, torch.float32: 2e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
"""Allowed error, of the expected element and of the root mean square of all. kbx's own comes from an error model and may be smaller."""

CANDIDATE_CODE = ""
REFERENCE_CODE = ""

GENERATOR = torch.Generator()


def arguments():
    """Positional and keyword arguments of the call: shapes, dtypes, strides and kind of values are the failing call's."""
    return [], {}


# ---------------------------------------------------------------- values


def normal(shape, dtype, mean=0.0, std=1.0, low=None, outliers=False):
    values = torch.randn(shape, generator=GENERATOR, dtype=torch.float64) * std
    if outliers:
        rare = torch.rand(shape, generator=GENERATOR) < 1e-3
        values = torch.where(rare, values * 30, values)
        values.view(-1)[:1] = 30 * std
    values = values + mean if low is None else low + values.abs()
    if dtype.is_floating_point:
        limit = torch.finfo(dtype).max
        values = values.clamp(-limit, limit)
    return values.to(DEVICE, dtype)


def uniform(shape, dtype, low, high):
    return (low + (high - low) * torch.rand(shape, generator=GENERATOR, dtype=torch.float64)).to(DEVICE, dtype)


def integers(shape, dtype, low, high):
    """Both ends included, and present."""
    values = torch.randint(low, high + 1, shape, generator=GENERATOR)
    values.view(-1)[0], values.view(-1)[-1] = low, high
    return values.to(DEVICE, dtype)


def distinct(shape, dtype, low, high, dim=None):
    """Without duplicates: in all of it, or in each line along a dimension. Both ends included, and present."""
    draw = random.Random(int(torch.randint(2**62, (), generator=GENERATOR)))
    length = math.prod(shape) if dim is None else shape[dim]
    lines = [draw.sample(range(low, high + 1), length) for _ in range(math.prod(shape) // length)]
    if low not in lines[0]:
        lines[0][0] = low
    if high not in lines[-1]:
        lines[-1][-1] = high
    values = torch.tensor(lines)
    if dim is None:
        return values.reshape(shape).to(DEVICE, dtype)
    others = [n for i, n in enumerate(shape) if i != dim]
    return values.reshape(*others, length).movedim(-1, dim).contiguous().to(DEVICE, dtype)


def padded(shape, dtype, filler, count, low, high):
    """Without duplicates, but for a value that stands in so many places."""
    values = torch.full((math.prod(shape),), filler).to(DEVICE, dtype)
    places = torch.randperm(values.numel(), generator=GENERATOR)[count:].to(DEVICE)
    values[places] = distinct((values.numel() - count,), dtype, low, high)
    return values.reshape(shape)


def booleans(shape, share):
    return (torch.rand(shape, generator=GENERATOR) < share).to(DEVICE)


def chosen(shape, dtype, values):
    return torch.tensor(values)[torch.randint(len(values), shape, generator=GENERATOR)].to(DEVICE, dtype)


def symmetric(shape, dtype):
    """Positive definite."""
    root = torch.randn(shape, generator=GENERATOR, dtype=torch.float64) / math.sqrt(shape[-1])
    return (root @ root.mT + 0.05 * torch.eye(shape[-1], dtype=torch.float64)).to(DEVICE, dtype)


def with_zeros(values, share):
    zero = torch.rand(values.shape, generator=GENERATOR) < share
    return values.masked_fill(zero.to(DEVICE), 0)


def with_special(values):
    """NaN and both infinities, in the first elements and at random."""
    kind = (torch.rand(values.shape, generator=GENERATOR) * 18).floor().reshape(-1)
    kind[:3] = torch.arange(min(kind.numel(), 3))
    flat = values.reshape(-1).clone()
    for place, special in enumerate((math.nan, math.inf, -math.inf)):
        flat[(kind == place).to(DEVICE)] = special
    return flat.reshape(values.shape)


def laid_out(values, strides):
    """The values with these strides. Between them lies NaN, or 0x55 bytes of integers."""
    kept = values[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in strides)]
    span = 1 + sum((n - 1) * stride for n, stride in zip(kept.shape, strides, strict=True))
    gap = math.nan if values.is_floating_point() or values.is_complex() else 85
    memory = torch.full((max(span, 1),), gap, device=DEVICE).to(values.dtype)
    return memory.as_strided(kept.shape, strides).copy_(kept).expand(values.shape)


# ---------------------------------------------------------------- both sides


def module_of(name, code):
    """The code as a module of its own, in a file, which Triton reads."""
    path = os.path.join(tempfile.mkdtemp(prefix="reproduce-"), f"{name}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(code)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def reference():
    return getattr(module_of("reference", REFERENCE_CODE), REFERENCE)


def reference_call(seed):
    found = reference()
    made = built(found, seed) if IS_MODEL else found
    return made if UPSTREAM is None else gradients_of(made)


def candidate_call(seed):
    module = module_of("candidate", CANDIDATE_CODE)
    found = next((getattr(module, name) for name in ENTRIES if hasattr(module, name)), None)
    if found is None:
        raise AttributeError(f"the candidate defines none of {', '.join(ENTRIES)}")
    if not IS_MODEL:
        return found
    made = built(found, seed)
    return made if UPSTREAM is None else gradients_of(made)


def init_arguments():
    return []


def built(kind, seed):
    """A module with the weights of a seed, cast to PRECISION as its arguments are; None leaves it as it is."""
    torch.manual_seed(seed)
    return kind(*init_arguments()).to(DEVICE, PRECISION)


def gradients_of(forward):
    """A function of the gradients of the results, then of the arguments. It returns the gradients of the tensors at the places GRADIENTS_OF
    among those of the arguments; of a module also those of its parameters, and zeros for what has none."""
    weights = [each for each in forward.named_parameters() if each[1].requires_grad] if IS_MODEL else []

    def backward(*values, **kwargs):
        results, by = graph_of(forward, values[UPSTREAM:], kwargs)
        if len(results) != UPSTREAM:
            raise TypeError(f"{len(results)} results can be differentiated, of {UPSTREAM}")
        by += [weight for _, weight in weights]
        found = torch.autograd.grad(results, by, values[:UPSTREAM], allow_unused=True, materialize_grads=IS_MODEL)
        if IS_MODEL:
            names = [*(f"tensor {place}" for place in GRADIENTS_OF), *(name for name, _ in weights)]
            return dict(zip(names, found, strict=True))
        found = [each for each in found if each is not None]
        return found[0] if len(found) == 1 else tuple(found)

    return backward


def graph_of(forward, args, kwargs):
    """The results that can be differentiated, and the tensors at the places GRADIENTS_OF that they are made of: copies of the arguments."""
    given = [t.detach().clone() for _, t in leaves("", [*args, *kwargs.values()])]
    by = [given[place].requires_grad_() for place in GRADIENTS_OF]
    args, kwargs = with_tensors((list(args), kwargs), iter(given))
    return [t for _, t in leaves("", forward(*args, **kwargs)) if t.requires_grad], by


def fit_upstream(args, kwargs):
    """Draws gradients of results again whose shape is another on these values, as that of a masked selection is."""
    results, _ = graph_of(reference(), args[UPSTREAM:], kwargs)
    for place, result in enumerate(results):
        if args[place].shape != result.shape:
            args[place] = normal(result.shape, result.dtype)


def with_tensors(value, others):
    """The value with other tensors in place of its own, in their order."""
    if isinstance(value, torch.Tensor):
        return next(others)
    if isinstance(value, dict):
        return {key: with_tensors(each, others) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        made = [with_tensors(each, others) for each in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def drawn(seed):
    """Positional and keyword arguments of the call, with the values of a seed."""
    GENERATOR.manual_seed(seed)
    args, kwargs = arguments()
    if UPSTREAM is not None and not IS_MODEL:
        fit_upstream(args, kwargs)
    return args, kwargs


def all_drawn(seed):
    """The arguments of each call: of those before, with other values, and of the one with the values of a seed."""
    return [drawn(seed + 1000 * earlier) for earlier in range(1, CALLS)] + [drawn(seed)]


def lent(args, kwargs, memory):
    """The arguments in the memory of those of the first call, as far as they have its form."""
    given = [t for _, t in leaves("", [*args, *kwargs.values()])]
    memory[:] = [old if fits(old, new) else new for old, new in zip(memory or given, given, strict=True)]
    for old, new in zip(memory, given, strict=True):
        if old is not new:
            old.copy_(new)
    return with_tensors((args, kwargs), iter(memory))


def fits(old, new):
    form = (old.shape, old.stride(), old.dtype) == (new.shape, new.stride(), new.dtype)
    return form and all(size == 1 or stride for size, stride in zip(new.shape, new.stride(), strict=True))


def last_result(function, calls):
    """The result of the last of these calls, and its arguments afterwards. Those of all calls lie in the same memory."""
    memory = []
    for args, kwargs in calls:
        result = result_of(function, *lent(args, kwargs, memory))
    return result


def called(function, seed):
    """The result of a call on the values of a seed, and its arguments afterwards."""
    return result_of(function, *drawn(seed))


def result_of(function, args, kwargs):
    """The result of a call, and its arguments afterwards."""
    with contextlib.nullcontext() if UPSTREAM is not None else torch.no_grad():
        result = function(*args, **kwargs)
    if GPU:
        torch.cuda.synchronize()
    return result, [*args, *kwargs.values()]


@contextlib.contextmanager
def undefined_memory():
    """While it lasts, ``torch.empty`` holds NaN, as nothing says what it holds."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def leaves(path, value):
    if isinstance(value, torch.Tensor):
        return [(path, value)]
    if isinstance(value, dict):
        return [leaf for key, each in value.items() for leaf in leaves(f"{path}[{key!r}]", each)]
    if isinstance(value, (list, tuple)):
        return [leaf for i, each in enumerate(value) for leaf in leaves(f"{path}[{i}]", each)]
    return []


def differences(name, got, expected):
    """Lines that say what is wrong; empty where nothing is."""
    got, expected = leaves(name, got), leaves(name, expected)
    if len(got) != len(expected):
        return [f"{name}: {len(got)} tensors, expected {len(expected)}"]
    return [line for (path, g), (_, e) in zip(got, expected, strict=True) for line in difference(path, g, e)]


def difference(path, got, expected):
    for what in ("shape", "dtype", "device"):
        if getattr(got, what) != getattr(expected, what):
            return [f"{path}: {what} {getattr(got, what)}, expected {getattr(expected, what)}"]
    if expected.numel() == 0:
        return []
    tolerance = TOLERANCE.get(expected.dtype)
    g, e = got.detach().cpu(), expected.detach().cpu()
    if tolerance is None:
        wrong = g.view(torch.uint8) != e.view(torch.uint8) if g.element_size() == 1 else g != e
    else:
        g, e = g.double(), e.double()
        finite = e[e.isfinite()]
        scale = finite.square().mean().sqrt() if finite.numel() else torch.zeros(())
        near = (g - e).abs() <= tolerance * (e.abs() + scale)
        wrong = ~(near | (g == e) | (g.isnan() & e.isnan()))
    if not wrong.any():
        return []
    lines = [f"{path}: {int(wrong.sum())} wrong elements of {wrong.numel()}"]
    for index in wrong.nonzero()[:5].tolist():
        at = tuple(index)
        lines.append(f"  {path}{list(at)}: expected {e[at].item()!r}, got {g[at].item()!r}")
    return lines


# ---------------------------------------------------------------- autotuned kernels


def tune_without_timing():
    """Lets autotuned kernels run with one configuration: the one that kbx saw fail, or the first. Without a GPU nothing is timed; the first
    launch with a key still runs twice, once to try the configuration and once for the caller."""
    from triton.runtime.autotuner import Autotuner

    usual = Autotuner.prune_configs

    def one(tuner, kwargs):
        left = usual(tuner, kwargs)
        return [config for config in left if described(tuner, config) in CONFIGURATIONS][:1] or (
            left if GPU else left[:1]
        )

    def tried(call, quantiles=None, **_):
        call()
        return [1.0] * len(quantiles) if quantiles else 1.0

    Autotuner.prune_configs = one
    if not GPU:
        Autotuner.do_bench = property(lambda tuner: tried, lambda tuner, value: None)


def described(tuner, config):
    """A configuration as the verdict has it: ``kernel(BLOCK=64, num_warps=4, num_stages=3)``."""
    options = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return f"{tuner.base_fn.__name__}({', '.join(f'{name}={value}' for name, value in options.items())})"


# ---------------------------------------------------------------- without a GPU, where a kernel does not compile


TYPES = {
    torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
    torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5",
}  # fmt: skip


def compile_instead_of_running():
    """Lets each launch compile its kernel for a GPU that is not there, and end with that."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    def compiled(kernel, *args, grid=None, warmup=False, **kwargs):
        from triton import compile
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        named = {name: value for name, value in kwargs.items() if name in kernel.arg_names}
        options = {name: value for name, value in kwargs.items() if name not in named}
        bound = kernel.signature.bind(*args, **named)
        bound.apply_defaults()
        signature, constants = {}, {}
        for place, parameter in enumerate(kernel.params):
            value = bound.arguments[parameter.name]
            if parameter.is_constexpr or value is None or (type(value) is int and value == 1):
                signature[parameter.name] = "constexpr"
                constants[(place,)] = value
            else:
                signature[parameter.name] = type_of(value)
        source = ASTSource(kernel, signature, constants)
        compile(source, target=GPUTarget("cuda", ARCH, 32), options=options)

    def tuned(tuner, *args, **kwargs):
        for config in tuner.configs:
            tuner.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    JITFunction.run = compiled
    Autotuner.run = tuned


def type_of(value):
    if isinstance(value, torch.Tensor):
        return "*" + TYPES[value.dtype]
    if isinstance(value, bool):
        return "i1"
    if isinstance(value, int):
        return "i32" if -(2**31) <= value < 2**31 else "i64"
    if isinstance(value, float):
        return "fp32"
    raise TypeError(f"a {type(value).__name__} cannot be compiled for without a GPU; run this script on one")


# ---------------------------------------------------------------- the verdict


def failure(seed):
    """Lines that show the failure under a seed; empty where it does not show."""
    calls = all_drawn(seed)
    try:
        with undefined_memory(), time_limit():
            candidate = candidate_call(seed)
            got, after = last_result(candidate, calls)
    except (Exception, SystemExit) as error:
        if shows(error):
            return traceback.format_exc().rstrip().splitlines()
        raise
    if COMPILES_ONLY:
        return []
    expected, expected_after = last_result(reference_call(seed), all_drawn(seed))
    lines = differences("result", got, expected) + differences("argument", after, expected_after)
    if STATUS == "nondeterministic":
        again = [called(candidate, seed)[0] for _ in range(20)]
        lines += [line for each in again for line in differences("repeated", each, got)][:6]
    return lines


def shows(error):
    """Whether what the candidate raised is the failure that kbx saw, and not what this machine lacks."""
    if not GPU and "triton/runtime/driver.py" in traceback.format_exc():
        return False  # it asked Triton for a GPU
    if STATUS == "out_of_bounds":
        return "CUDA error" in str(error)
    return RAISES and EXPECTED_ERROR in ("", type(error).__name__)


@contextlib.contextmanager
def time_limit():
    """Ends the script where the verdict is a timeout and the candidate, too, does not end here."""
    if STATUS != "timeout":
        yield
        return
    signal.signal(
        signal.SIGALRM, lambda *_: (print(f"FAILS: no answer within {TIME_LIMIT} s", flush=True), os._exit(1))
    )
    signal.alarm(TIME_LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)


def looked_for():
    """Makes the call on values of several seeds. Returns 1 if the failure shows, else 0."""
    import triton

    seed = int(sys.argv[1]) if len(sys.argv) > 1 else secrets.randbelow(2**31)
    where = (
        torch.cuda.get_device_name()
        if GPU
        else "no GPU: compiled only"
        if COMPILES_ONLY
        else "no GPU: Triton's interpreter"
    )
    print(f"triton {triton.__version__}, torch {torch.__version__}, {where}; seed {seed}")
    if COMPILES_ONLY:
        compile_instead_of_running()
    else:
        tune_without_timing()
    for number in range(seed, seed + ROUNDS):
        if lines := failure(number):
            print(f"FAILS under seed {number}: {STATUS}")
            print("\n".join(lines))
            return 1
    print(f"the failure does not show under {ROUNDS} seeds")
    return 0


def main():
    """The exit status."""
    try:
        return looked_for()
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        print(
            f"{type(error).__name__}: kbx saw {EXPECTED_ERROR or STATUS}; this is another failure, or this machine lacks something"
        )
        return 2


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a kernel that wrote outside of its tensors may have spoiled what Python frees at its end
