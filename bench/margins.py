"""How far from their limits right and wrong kernels are: the margins of the error model, without a GPU.

    .kbx/python-*/bin/python bench/margins.py [--seeds N] [--out FILE] [--tasks GLOB]... [--only NAME-GLOB]

Runs every task's reference, its controls, and other algorithms for the same function, over N seeds (20), on all correctness calls. A
margin is the largest error over the allowed one: of the honest ones in any call and seed, of the wrong ones in the call that shows them
best, of the seed that shows them worst. The goal is 0.5 at most for what is honest, and 2 at least for what is wrong. Prints what misses
it, and with --out every margin, a line of JSON for each task and seed; given the same file again it goes on where it was cut off.
GLOB is matched with SUITE/CATEGORY/TASK and with TASK.

Other algorithms are the reference itself under ``Instead``: PyTorch's sums, products of matrices, variances and softmaxes are computed
in another order, or in a coarser way. Answers that are compared exactly, or not with the reference's, have no margin: "inf" is wrong.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import fnmatch
import functools
import json
import math
import os
import pathlib
import sys
import warnings

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "worker")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch._decomp import decomposition_table  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from kbx import precision  # noqa: E402
from kbx.oracle import controls, taskfile  # noqa: E402
from kbx.suite import Close  # noqa: E402
from kbx.suite.values import transform  # noqa: E402

HONEST, WRONG = 0.5, 2.0
FAR = 30
"""Means that are so many deviations away show what a variance by E[x²] - E[x]² loses."""
KNOWN = {
    "*/fused_*linear negative_scaled[[]*|*/fused_*linear negative_one_*|*/fused_*linear negative_cut_off|*/attention negative_*|"
    "*/sqrt_tanh negative_cut_off":
        "the reference rounds float16 on its way, as its statement allows: what is less than that is not seen",
    "*/fused_log_softmax_linear positive_*":
        "the product is rounded to float16 before the softmax, as in the reference: another order of additions moves that rounding (0.66)",
    "*/37_FrobeniusNorm_ positive_sum[[]*": "its statement refuses one sum in order over the whole tensor",
    "kernelbench/* negative_moments[[]one_pass]": "few channels are far from zero, and what follows averages over them",
    "kernelbench/level2/77_* positive_moments[[]welford]": "one lane for thousands of terms is as far off as half precision averaged over them",
    "kernelbench/level2/80_* negative_product[[]*": "its result hardly depends on its input (degenerate_task)",
    "*/leaky_relu negative_cut_off": "only negative elements, a hundredth of the others, are rounded at all",
    "kernelbenchx/Reduce/sum positive_sum[[]sequential]|kernelbenchx/Reduce/sum positive_sum[[]backwards]":
        "one running sum over a thousand terms in order, of some thousand such sums: the worst of six seeds is 0.69",
    "kernelbenchx/Quantization/* positive_*|kernelbenchx/Quantization/* reference":
        "a level that may be rounded either way lies exactly the allowed step away",
}  # fmt: skip
"""Margins that miss the goal, and why: patterns of "TASK CONTROL", separated by bars."""
LONGEST = 20_000
"""Terms of a sum up to which one is added up in order."""
aten = torch.ops.aten
DECOMPOSED = (
    aten.mse_loss.default, aten.smooth_l1_loss.default, aten.binary_cross_entropy.default, aten.native_layer_norm.default,
    aten.native_group_norm.default, aten.native_batch_norm.default, aten._log_softmax.default, aten.addmv.default,
    aten.addbmm.default, aten.logsumexp.default, aten.linalg_vector_norm.default, aten.mv.default, aten.dot.default,
    aten.sigmoid.default, aten.silu.default, aten.gelu.default,
)  # fmt: skip
"""Operations that are made of others before those are computed in another way."""

# ---------------------------------------------------------------- sums of the last dimension, in the tensor's precision


def sequential(x):
    """One after the other."""
    return torch.from_numpy(np.add.accumulate(x.contiguous().numpy(), axis=-1))[..., -1].contiguous()


def lanes(x, count=32):
    """As a warp does: each lane every 32nd element, then a tree."""
    padded = torch.nn.functional.pad(x, (0, -x.shape[-1] % count))
    return tree(sequential(padded.unflatten(-1, (-1, count)).transpose(-1, -2)))


def tree(x):
    while x.shape[-1] > 1:
        x = torch.nn.functional.pad(x, (0, x.shape[-1] % 2))
        x = x[..., ::2] + x[..., 1::2]
    return x[..., 0].clone()


def backwards(x):
    return sequential(x.flip(-1))


def programs(x, size=64):
    """Partial sums of 64, which programs add atomically in an order of chance."""
    padded = torch.nn.functional.pad(x, (0, -x.shape[-1] % size))
    parts = tree(padded.unflatten(-1, (-1, size)))
    return sequential(parts[..., torch.randperm(parts.shape[-1])])


def kahan(x):
    total, carry = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for term in x.unbind(-1):
        term = term - carry
        after = total + term
        carry, total = (after - total) - term, after
    return total


SUMS = dict(sequential=sequential, lanes=lanes, tree=tree, backwards=backwards, programs=programs, kahan=kahan)

# ---------------------------------------------------------------- products of matrices (batch, M, K) and (batch, K, N)


def outer_products(a, b):
    """One product after the other, as the loop over K of a simple kernel does."""
    total = a.new_zeros(a.shape[0], a.shape[1], b.shape[2])
    for k in range(a.shape[2]):
        total += a[:, :, k : k + 1] * b[:, k : k + 1, :]
    return total


def blocks(a, b, size=16):
    """A block of K after the other, as a loop of ``tl.dot`` does."""
    total = a.new_zeros(a.shape[0], a.shape[1], b.shape[2])
    for k in range(0, a.shape[2], size):
        total += outer_products(a[:, :, k : k + size], b[:, k : k + size])
    return total


def split_k(a, b):
    return sum(blocks(x, y) for x, y in zip(a.tensor_split(4, 2), b.tensor_split(4, 1), strict=True))


def tf32(a, b):
    """Of float32 operands whose low bits are cut off."""
    a, b = ((x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b))
    return torch.bmm(a, b)


def bfloat16(a, b):
    """Of float32 operands that are rounded to bfloat16."""
    return torch.bmm(a.bfloat16().float(), b.bfloat16().float())


def tensor_core(a, b, size=16, bits=23):
    """Adds up 16 products at a time, and cuts the running sum off to ``bits`` bits, as tensor cores do."""
    total = torch.zeros(a.shape[0], a.shape[1], b.shape[2], dtype=torch.float64)
    for k in range(0, a.shape[2], size):
        total = cut(total + torch.bmm(a[:, :, k : k + size].double(), b[:, k : k + size].double()), bits)
    return total.to(a.dtype)


def narrow_sum(a, b, dtype, size=16):
    """Rounds the running sum to ``dtype``, that of the operands, after every 16 products."""
    total = a.new_zeros(a.shape[0], a.shape[1], b.shape[2])
    for k in range(0, a.shape[2], size):
        total = (total + torch.bmm(a[:, :, k : k + size], b[:, k : k + size])).to(dtype).to(a.dtype)
    return total


def cut(x, bits):
    """Float64 numbers with ``bits`` bits of mantissa behind the point, towards zero."""
    return (x.contiguous().view(torch.int64) & -(1 << (52 - bits))).view(torch.float64)


# ---------------------------------------------------------------- variances and softmaxes of the last dimension


def welford(x):
    """Mean and sum of squared deviations in one pass, by one lane."""
    mean, squares = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for n, value in enumerate(x.unbind(-1), 1):
        delta = value - mean
        mean = mean + delta / n
        squares = squares + delta * (value - mean)
    return mean, squares


def welford_blocks(x, size=32):
    """The same of 32 lanes, whose results are put together as a tree, after Chan, Golub and LeVeque."""
    whole = x.shape[-1] // size * size
    parts = [(*welford(x[..., :whole].unflatten(-1, (-1, size)).transpose(-1, -2)), whole // size)] if whole else []
    state = [tuple(p.unbind(-1)) for p in parts[0][:2]] if parts else []
    found = [(m, s, whole // size) for m, s in zip(*state, strict=True)] if parts else []
    found += [(*welford(x[..., whole:]), x.shape[-1] - whole)] if whole < x.shape[-1] else []
    while len(found) > 1:
        (m, s, n), (k, t, o) = found.pop(0), found.pop(0)
        delta = k - m
        found.append((m + delta * (o / (n + o)), s + t + delta * delta * (n * o / (n + o)), n + o))
    return found[0][:2]


def two_passes(x):
    mean = tree(x) / x.shape[-1]
    return mean, tree((x - mean.unsqueeze(-1)).square())


def one_pass(x):
    """E[x²] - E[x]²: loses the variance behind a large mean."""
    total, n = tree(x), x.shape[-1]
    return total / n, (tree(x * x) - total * total / n).clamp(min=0)


def online(x):
    """Exponentials by base two, and their sum rescaled whenever a block has a new maximum."""
    x = x * 1.4426950408889634
    top, total = torch.full_like(x[..., :1], -math.inf), torch.zeros_like(x[..., :1])
    for block in x.split(32, -1):
        new = torch.maximum(top, block.amax(-1, keepdim=True))
        total = total * torch.exp2(top - new) + torch.exp2(block - new).sum(-1, keepdim=True)
        top = new
    return torch.exp2(x - top) / total


NARROW, COARSE = (narrow_sum, tensor_core), (tf32, bfloat16)
"""Products of 16-bit and of float32 operands alone."""


class Instead(TorchDispatchMode):
    """Computes sums by ``sum``, products of matrices by ``product``, variances by ``moments`` and softmaxes by ``softmax``, functions as
    above, exponentials by base two with ``base2``; what is None stays PyTorch's. ``used`` says whether anything was replaced, and ``condition`` how many deviations a mean was
    away at most."""

    def __init__(self, sum=None, product=None, moments=None, softmax=None, base2=False):
        super().__init__()
        self.by = dict(sum=sum, product=product, moments=moments, softmax=softmax, base2=base2)
        self.used, self.condition = False, 0.0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        replaced = self._replaced(function, args, kwargs)
        if replaced is not NotImplemented:
            self.used = True
            return replaced
        if function in DECOMPOSED and function in decomposition_table and "out" not in kwargs:
            with self:
                return decomposition_table[function](*args, **kwargs)
        return function(*args, **kwargs)

    def _replaced(self, function, args, kwargs):
        if any(isinstance(v, torch.Tensor) and (v.is_complex() or not v.numel()) for v in args):
            return NotImplemented
        x = args[0] if args and isinstance(args[0], torch.Tensor) and args[0].is_floating_point() else None
        if x is None or "out" in kwargs or kwargs.get("dtype"):
            return NotImplemented
        by = {k: v for k, v in self.by.items() if v}
        if by.get("product") in (NARROW if x.element_size() != 2 else COARSE):
            return NotImplemented
        if "base2" in by and function is aten.exp.default:
            return torch.exp2(_wide(x) * 1.4426950408889634).to(x.dtype)
        if "product" in by:
            if function in (aten.mm.default, aten.bmm.default):
                return self._product(*args).to(x.dtype)
            if function in (aten.addmm.default, aten.baddbmm.default):
                beta, alpha = kwargs.get("beta", 1), kwargs.get("alpha", 1)
                return (beta * _wide(x) + alpha * self._product(*args[1:3])).to(x.dtype)
            if function is aten.convolution.default:
                return self._convolution(*args)
        if "sum" in by and function in (aten.sum.default, aten.sum.dim_IntList, aten.mean.default, aten.mean.dim):
            return self._sum(function in (aten.mean.default, aten.mean.dim), *args)
        if "moments" in by and function in (aten.var.correction, aten.std.correction, aten.var_mean.correction):
            return self._moments(function, *args, **kwargs)
        if "softmax" in by and function is aten._softmax.default:
            return by["softmax"](_wide(x).movedim(args[1], -1)).movedim(-1, args[1]).to(x.dtype).contiguous()
        return NotImplemented

    def _product(self, a, b):
        """The product in float32, or in float64 of float64."""
        product = self._by_dtype(a)
        return product(_wide(a), _wide(b)) if a.dim() == 3 else product(_wide(a)[None], _wide(b)[None])[0]

    def _by_dtype(self, x):
        product = self.by["product"]
        return functools.partial(product, dtype=x.dtype) if product is narrow_sum else product

    def _convolution(self, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
        if transposed or weight.dim() != 4:
            return NotImplemented
        n, channels = len(weight), weight.shape[1]
        stride, padding, dilation = (v * 2 if len(v) == 1 else v for v in (stride, padding, dilation))
        columns = torch.nn.functional.unfold(_wide(x), weight.shape[2:], dilation, padding, stride)
        columns = columns.unflatten(1, (groups, channels * weight[0, 0].numel())).flatten(0, 1)
        kernels = _wide(weight).reshape(groups, n // groups, -1).repeat(len(x), 1, 1)
        size = [(x.shape[d] + 2 * p - s * (k - 1) - 1) // t + 1
                for d, k, p, s, t in zip((2, 3), weight.shape[2:], padding, dilation, stride, strict=True)]  # fmt: skip
        out = self._by_dtype(x)(kernels, columns).reshape(len(x), n, *size)
        return (out if bias is None else out + _wide(bias)[:, None, None]).to(x.dtype)

    def _sum(self, mean, x, dims=None, keepdim=False):
        values, shape = _last(_wide(x), dims, keepdim)
        if values.shape[-1] > LONGEST:
            return NotImplemented
        total = self.by["sum"](values)
        return (total / values.shape[-1] if mean else total).reshape(shape).to(x.dtype)

    def _moments(self, function, x, dims=None, *, correction=1, keepdim=False):
        values, shape = _last(_wide(x), dims, keepdim)
        if values.shape[-1] > LONGEST:
            return NotImplemented
        mean, squares = self.by["moments"](values)
        wide = values.double()
        condition = wide.mean(-1).abs() / (wide.var(-1, correction=0).sqrt() + 1e-300)
        self.condition = max([self.condition, *condition[wide.var(-1, correction=0) > 0].flatten().tolist()])
        variance = squares / torch.tensor(float(max(0, values.shape[-1] - (1 if correction is None else correction))))
        mean, variance = (t.reshape(shape).to(x.dtype) for t in (mean, variance))
        return (
            variance.sqrt()
            if function is aten.std.correction
            else variance
            if function is aten.var.correction
            else (variance, mean)
        )


def _wide(x):
    return x.float() if x.element_size() < 4 else x


def _last(x, dims, keepdim):
    """The elements that are reduced as the last dimension, and the shape of the result."""
    dims = [d % x.dim() for d in ([dims] if isinstance(dims, int) else dims or range(x.dim()))] if x.dim() else []
    rest = [d for d in range(x.dim()) if d not in dims]
    shape = [1 if d in dims else x.shape[d] for d in range(x.dim()) if keepdim or d not in dims]
    return x.permute([*rest, *dims]).reshape([*(x.shape[d] for d in rest), -1]), shape


HONEST_WAYS = (
    {f"sum[{name}]": dict(sum=each) for name, each in SUMS.items()}
    | {f"product[{each.__name__}]": dict(product=each) for each in (outer_products, blocks, split_k, tensor_core)}
    | {f"moments[{each.__name__}]": dict(moments=each) for each in (welford, welford_blocks, two_passes)}
    | {"softmax[online]": dict(softmax=online), "exp[base2]": dict(base2=True)}
)
WRONG_WAYS = {
    "product[tf32]": dict(product=tf32), "product[bfloat16]": dict(product=bfloat16),
    "product[16-bit sum]": dict(product=narrow_sum), "moments[one_pass]": dict(moments=one_pass),
}  # fmt: skip

# ---------------------------------------------------------------- results of 16 bits


def _neighbour(x):
    """The next number away from zero."""
    return (x.contiguous().view(torch.int16) + (x != 0).to(torch.int16)).view(x.dtype)


def _noise(x):
    return (x.double() * (1 + 4 * torch.finfo(x.dtype).eps / 2 * torch.randn(x.shape, dtype=torch.float64))).to(x.dtype)


def _times(x):
    return (x.double() * (1 + 3 * torch.finfo(x.dtype).eps / 2)).to(x.dtype)


def _hundredth(x):
    return (x.double() * 1.01).to(x.dtype)


def _rounded(wide, x):
    return wide.to(x.dtype)


SPOILED = {"scaled[1+3u]": _times, "scaled[1.01]": _hundredth, "noise[4u]": _noise, "one_number_off": _neighbour}


def _cut_off(wide, x):
    """The number of ``x``'s dtype next to float64 ``wide`` towards zero."""
    bits = 10 if x.dtype == torch.float16 else 7
    return cut(wide, bits).to(x.dtype)


class Changed:
    """A reference whose results of 16 bits are changed by ``change``, or made of what float32 or float64 arithmetic gives where ``wide``
    is one of these; what is returned alone, not what is updated. ``used`` says whether there was any."""

    def __init__(self, reference, change, wide=None):
        self.reference, self.change, self.wide, self.used = reference, change, wide, False

    def __call__(self, *args, **kwargs):
        expected = self.reference(*args, **kwargs)
        if not self.wide:
            return transform(expected, self._spoiled)
        if not (isinstance(expected, torch.Tensor) and expected.element_size() == 2) or kwargs.get("out") is not None:
            return expected
        self.used = True
        args, kwargs = (transform(v, lambda t: _cast(t, self.wide)) for v in (args, kwargs))
        return self.change(self.reference(*args, **kwargs), expected)

    def _spoiled(self, leaf):
        if not isinstance(leaf, torch.Tensor) or leaf.dtype not in (torch.float16, torch.bfloat16):
            return leaf
        self.used = True
        # In place, where a given tensor was filled.
        return leaf.copy_(self.change(leaf))


def _cast(leaf, to):
    narrow = isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.float16, torch.bfloat16)
    return leaf.to(to) if narrow else to if leaf in (torch.float16, torch.bfloat16) else leaf


# ---------------------------------------------------------------- the run


def ways(task):
    """Further controls of a task by name, and for each what tells whether it did anything: an ``Instead`` or a ``Changed``."""
    if not isinstance(task.contract, Close):
        return {}, {}
    allowed = "positive" if task.contract.tf32 else "negative"
    options = {f"positive_{name}": each for name, each in HONEST_WAYS.items()}
    options |= {f"{allowed if 'tf32' in name else 'negative'}_{name}": each for name, each in WRONG_WAYS.items()}
    traces = {name: Instead(**each) for name, each in options.items()}
    found = {name: _under(mode, task.reference) for name, mode in traces.items()}
    narrow = {f"negative_{name}": Changed(task.reference, change) for name, change in SPOILED.items()}
    narrow["positive_float32"] = Changed(task.reference, _rounded, torch.float32)
    narrow["negative_cut_off"] = Changed(task.reference, _cut_off, torch.float64)
    return found | {name: each.__call__ for name, each in narrow.items()}, traces | narrow


def _under(mode, reference):
    def function(*args, **kwargs):
        with mode:
            return reference(*args, **kwargs)

    return function


def margins(task, seed, only="*"):
    """``{name: margin}`` of one seed: the largest error over the allowed one, or infinity where there is none and a result is wrong."""
    more, traces = ways(task.seeded(seed))  # the weights that it is verified with
    found = collections.defaultdict(float)

    def met(name, judgement):
        ratio = judgement.metrics.get("error_ratio", 0.0)
        unmeasured = judgement.status != "correct" and ratio <= 1
        found[name] = max(found[name], math.inf if unmeasured else ratio)

    more = {name: each for name, each in more.items() if fnmatch.fnmatch(name, only)}
    controls.verify(task, seed, torch.device("cpu"), more=more, met=met)
    left_out = {name for name, each in traces.items() if not each.used}
    # Where means are no larger than deviations, the difference of squares is as good as any other.
    left_out |= {name for name in left_out | traces.keys() if "one_pass" in name and traces[name].condition < FAR}
    return {name: margin for name, margin in found.items() if name not in left_out and fnmatch.fnmatch(name, only)}


def tasks(globs):
    """``(name, path)`` of the tasks of both suites."""
    for path in sorted(ROOT.glob("tasks/kernelbench*/*/*.py")):
        name = "/".join(path.with_suffix("").parts[-3:])
        if not globs or any(fnmatch.fnmatch(name, g) or fnmatch.fnmatch(path.stem, g) for g in globs):
            yield name, path


def summary(lines):
    """Rows ``(task, control, margin, misses, why)`` over all seeds; ``why`` is that of ``KNOWN``, or None."""
    by = collections.defaultdict(list)
    for line in lines:
        for control, margin in line["margins"].items():
            by[line["task"], control].append(float(margin))
    for (task, control), found in by.items():
        honest = control == "reference" or control.startswith("positive_")
        margin = max(found) if honest else min(found)
        misses = margin > (1 if _is_known(task, control) else HONEST) if honest else margin < WRONG
        yield task, control, margin, misses, _is_known(task, control)


def _is_known(task, control):
    return next(
        (
            why
            for patterns, why in KNOWN.items()
            for p in patterns.split("|")
            if fnmatch.fnmatch(f"{task} {control}", p)
        ),
        None,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--tasks", action="append", default=[])
    parser.add_argument("--only", default="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    precision.plain()
    torch.set_num_threads(1)
    lines = (
        [json.loads(text) for text in given.out.read_text().splitlines()] if given.out and given.out.exists() else []
    )
    done = {(line["task"], line["seed"]) for line in lines}
    chosen = list(tasks(given.tasks))
    with given.out.open("a") if given.out else contextlib.nullcontext() as out:
        for number, (name, path) in enumerate(chosen, 1):
            print(f"{number}/{len(chosen)} {name}", file=sys.stderr, flush=True)
            for seed in range(given.seeds):
                if (name, seed) not in done:
                    found = margins(taskfile.load(path), f"{seed:x}", given.only)
                    lines.append({"task": name, "seed": seed, "margins": {k: str(v) for k, v in found.items()}})
                    if out:
                        print(json.dumps(lines[-1]), file=out, flush=True)
    rows = list(summary(lines))
    for task, control, margin, misses, why in rows:
        if misses or not given.out:
            print(
                f"{'misses' if misses else '      '} {margin:10.3g}  {task}  {control}{f'  ({why})' if misses and why else ''}"
            )
    missed = [why for *_, misses, why in rows if misses]
    count = len({task for task, *_ in rows})
    print(
        f"{len(rows)} margins of {count} tasks: {missed.count(None)} miss the goal, {len(missed) - missed.count(None)} for known reasons"
    )


if __name__ == "__main__":
    main()
