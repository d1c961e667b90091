"""Triton's CPU interpreter, made right: kernels that compile run on CPU tensors with the values a GPU would give.

The stock interpreter (Triton 3.6 to 3.8) is silently wrong or incomplete in ways a judge cannot accept; each override
below says which. It also rewrites the candidate's module globals and patches ``triton.language`` on every launch; here
kernels run in a namespace of their own and the patches are computed once.

What it does not model: races between programs (they run one after another, x slowest), and memory protection: a pointer
outside every mapping ends the process. What it cannot do raises ``Unsupported``; since a kernel is only interpreted after it compiled, any
other failure of the interpreter is a gap of ours too, and is reported as such.
"""

import ast
import contextlib
import functools
import inspect
import itertools
import operator
import threading
import types

import numpy as np
import torch
import triton.language as tl
from triton._C.libtriton import ir
from triton.language.extra import libdevice as generic_libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter as stock
from triton.runtime.jit import JITFunction

try:
    from triton.compiler.code_generator import BoundJITMethod
except ImportError:  # before Triton 3.5
    BoundJITMethod = JITFunction

from second_opinion_numerics import has_raw_bits, narrow, tf32, widen

from kbx import libdevice
from kbx.runner.gaps import Unsupported, noted

Handle = stock.TensorHandle


# ---------------------------------------------------------------- memory


def access(function, pointers, mask, values):
    """``function(*values)``, which touches memory where ``pointers`` lead and ``mask`` lets it, None for everywhere. The witness puts
    itself here: nothing else may touch it."""
    return function(*values)


class _Memory:
    """Triton's native loads and stores."""

    def __init__(self, native):
        self._native = native

    def __getattr__(self, name):
        return getattr(self._native, name)

    def load(self, pointers, mask, other, dtype):
        return access(self._native.load, pointers, mask, (pointers, mask, other, dtype))

    def store(self, pointers, values, mask):
        return access(self._native.store, pointers, mask, (pointers, values, mask))

    def atomic_cas(self, pointers, expected, values, order):
        return access(self._native.atomic_cas, pointers, None, (pointers, expected, values, order))

    def atomic_rmw(self, operation, pointers, values, mask, order):
        return access(self._native.atomic_rmw, pointers, mask, (operation, pointers, values, mask, order))


# ---------------------------------------------------------------- operators


_stock_np_dtype = stock._get_np_dtype


@functools.cache
def _np_dtype_of_scalar(name, dtype):
    return _stock_np_dtype(dtype)


def _np_dtype(dtype):
    """numpy's type for a Triton type. Stock rebuilds its table for every operation: a tenth of a kernel's time."""
    scalar = dtype.scalar
    return _POINTER if scalar.is_ptr() else _np_dtype_of_scalar(scalar.name, scalar)


_POINTER = np.dtype(np.uint64)


def _values(handle):
    return widen(handle.data, handle.dtype.scalar)


def _handle(values, dtype):
    """Computed values as a handle of ``dtype``, rounded to it; comparisons keep their truth values."""
    scalar = dtype.scalar
    if values.dtype == np.bool_:
        return Handle(values, tl.int1)
    if has_raw_bits(scalar):
        return Handle(narrow(values, scalar), scalar)
    wanted = _np_dtype(scalar)
    return Handle(values if values.dtype == wanted else values.astype(wanted), scalar)


def _tensor(data, dtype):
    """Raw data of scalar type ``dtype`` as a Triton tensor; no dimensions mean a scalar."""
    if data.ndim:
        return tl.tensor(Handle(data, dtype.scalar), tl.block_type(dtype.scalar, list(data.shape)))
    return tl.tensor(Handle(data.reshape(1), dtype.scalar), dtype.scalar)


class _Descriptor(stock.TensorDescHandle):
    """A tensor descriptor whose blocks may start anywhere, as TMA allows; stock wants them at multiples of 16 bytes."""

    def materialize_pointers(self, offsets):
        itemsize = self.base.dtype.element_ty.primitive_bitwidth // 8
        pointers, mask = np.broadcast_to(self.base.data, self.block_shape), np.ones(self.block_shape, dtype=bool)
        for dim, size in enumerate(self.block_shape):
            along = [size if d == dim else 1 for d in range(self.ndim)]
            at = (offsets[dim].data.astype(np.int64) + np.arange(size)).reshape(along)
            pointers = pointers + (itemsize * at * self.strides[dim].data).astype(np.uint64)
            mask = mask & (at >= 0) & (at < self.shape[dim].data)
        return Handle(pointers, self.base.dtype.scalar), mask


class Builder(stock.InterpreterBuilder):
    """The operators behind ``triton.language``, on numpy arrays."""

    def __init__(self):
        super().__init__()
        # Overflow checks only feed device_assert, which is off outside debug mode on a GPU too; they cost half the time.
        self.options = stock.InterpreterOptions(sanitize_overflow=False)

    def __getattr__(self, name):
        if name.startswith("create_"):
            raise noted(Unsupported(name.removeprefix("create_")))
        raise AttributeError(name)

    # Stock operators compute on the integer bits of bf16 and fp8, and give comparisons the operands' type.

    def binary_op(self, lhs, rhs, op):
        return _handle(op(_values(lhs), _values(rhs)), lhs.dtype)

    def unary_op(self, arg, op):
        return _handle(op(_values(arg)), arg.dtype)

    def create_select(self, condition, lhs, rhs):
        return Handle(np.where(condition.data, lhs.data, rhs.data), rhs.dtype.scalar)

    def create_fma(self, x, y, z):
        if z.dtype.scalar == tl.float64:
            return _handle(_values(x) * _values(y) + _values(z), z.dtype)
        # One rounding, as in hardware: the product of two floats is exact in double.
        return _handle(_values(x).astype(np.float64) * _values(y) + _values(z), z.dtype)

    def create_rsqrt(self, arg):
        return self.unary_op(arg, lambda x: 1 / np.sqrt(x))

    def create_erf(self, arg):
        return self.unary_op(arg, libdevice.find("__nv_erf"))

    def get_bf16(self, value):
        return Handle(narrow(np.array([value]), tl.bfloat16), tl.bfloat16)

    # GPUs return the other operand when one is NaN unless propagation is asked for; the stock builder propagates always.

    def create_minnumf(self, lhs, rhs):
        return self.binary_op(lhs, rhs, np.fmin)

    def create_maxnumf(self, lhs, rhs):
        return self.binary_op(lhs, rhs, np.fmax)

    def create_clampf(self, arg, low, high, propagate_nans):
        x, lo, hi = _values(arg), _values(low), _values(high)
        clamped = np.fmin(np.fmax(x, lo), hi)
        if propagate_nans == tl.PropagateNan.ALL:
            clamped = np.where(np.isnan(x), x, clamped)
        return _handle(clamped, arg.dtype)

    # ------------------------------------------------------------ casts

    def cast_impl(self, src, dst_type):
        """Numeric cast. Stock truncates fp32 to bf16 instead of rounding, and reads bf16 as integers elsewhere."""
        source, target = src.dtype.scalar, dst_type.scalar
        values = _values(src)
        if source.is_floating() and target.is_int() and not target.is_bool():
            return Handle(_float_to_int(values, _np_dtype(target)), target)
        if has_raw_bits(target):
            return Handle(narrow(values.astype(np.float32), target), target)
        return Handle(values.astype(_np_dtype(target)), target)

    def create_fp_to_fp(self, src, dst_type, rounding_mode):
        """Cast between floats. Rounding to nearest goes the common way; stock rounds ties up and overflows to garbage."""
        target = dst_type.scalar
        towards_zero = rounding_mode is not None and rounding_mode == stock._ir.ROUNDING_MODE.RTZ
        if not towards_zero and "fp8e4b15" not in (src.dtype.scalar.name, target.name):
            return self.cast_impl(src, dst_type)
        if towards_zero and target == tl.bfloat16:
            return Handle((_values(src).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), target)
        return super().create_fp_to_fp(src, dst_type, rounding_mode)

    # ------------------------------------------------------------ memory

    def create_masked_store(self, ptrs, value, mask, cache_modifier, eviction_policy):
        """Stores exactly the element's size; stock writes the value's, past the element, when numpy had widened it."""
        wanted = _np_dtype(ptrs.get_element_ty())
        data = value.data if value.data.dtype.itemsize == wanted.itemsize else value.data.astype(wanted)
        return stock._interpreter.store(ptrs.data, data, mask.data)

    def create_atomic_rmw(self, op, ptr, val, mask, sem, scope):
        """bf16 atomics lane by lane: stock adds their bits as integers. Order among lanes is undefined on a GPU too."""
        if not has_raw_bits(val.dtype.scalar):
            return super().create_atomic_rmw(op, ptr, val, mask, sem, scope)
        combine = {"FADD": np.add, "MAX": np.fmax, "MIN": np.fmin, "XCHG": lambda old, new: new}.get(op.name)
        if combine is None:
            raise noted(Unsupported(f"atomic {op.name} on {val.dtype}"))
        old = np.zeros(val.data.shape, val.data.dtype)
        pointers, values = np.broadcast_to(ptr.data, old.shape), _values(val)
        for lane in zip(*np.nonzero(np.broadcast_to(mask.data, old.shape)), strict=True):
            where = pointers[lane].reshape(1)
            here = stock._interpreter.load(where, np.ones(1, bool), np.zeros(1, old.dtype), old.dtype)
            old[lane] = here[0]
            new = narrow(combine(widen(here, val.dtype.scalar), values[lane]), val.dtype.scalar)
            stock._interpreter.store(where, new, np.ones(1, bool))
        return Handle(old, val.dtype.scalar)

    def create_histogram(self, data, bins, mask):
        """Counts as int32; stock counts in the data's type and lets values outside the bins shift the first one."""
        keep = (data.data >= 0) & (data.data < bins)
        if mask is not None:
            keep &= mask.data
        return Handle(np.bincount(data.data[keep].astype(np.int64), minlength=bins).astype(np.int32), tl.int32)

    # ------------------------------------------------------------ matrices and the rest

    def create_dot(self, a, b, d, input_precision, max_num_imprecise_acc):
        """Products are exact and summed in fp32 (fp64 for fp64, exactly for integers), then rounded to the accumulator.

        Stock multiplies the integer bits of bf16, and fp32 as it is where a GPU rounds operands to TF32: by default.
        Integers go through double, where their sums are exact and BLAS is fast.
        """
        accumulator = d.dtype.scalar
        left, right = _values(a), _values(b)
        if input_precision == ir.INPUT_PRECISION.TF32 and a.dtype.scalar == tl.float32:
            left, right = tf32(left), tf32(right)
        exact = accumulator.is_int() or accumulator == tl.float64
        work = np.float64 if exact else np.float32
        product = np.matmul(left.astype(work), right.astype(work))
        if accumulator.is_int():
            product = product.astype(np.int64)
        return _handle(product + _values(d), accumulator)

    def create_extern_elementwise(self, lib_name, lib_path, symbol, args, ret_type, is_pure):
        function = libdevice.find(symbol)
        if function is None:
            raise noted(Unsupported(f"libdevice function {symbol}"))
        wanted = _np_dtype(ret_type.scalar)
        result = np.asarray(function(*(np.ascontiguousarray(x.data) for x in args)))
        return Handle(result if result.dtype == wanted else result.astype(wanted), ret_type.scalar)

    def create_inline_asm(self, *args):
        raise noted(Unsupported("inline assembly"))


def _float_to_int(values, target):
    """Truncates towards zero; out of range saturates at 32 bits or more, as ``cvt.rzi`` does, then wraps to the width."""
    wide = np.dtype(f"{target.kind}{max(4, target.itemsize)}")
    return libdevice.saturate(np.trunc(values), np.iinfo(wide)).astype(target)


# ---------------------------------------------------------------- reductions and scans


def _operands(value):
    return tuple(value) if isinstance(value, (tuple, list, tl.tuple)) else (value,)


def _combine(function, left, right, dtypes):
    """``function`` on two lists of arrays, elementwise; the results as arrays of ``dtypes``."""
    result = _operands(function(*map(_tensor, left, dtypes), *map(_tensor, right, dtypes)))
    arrays = []
    for value, like, dtype in zip(result, left, dtypes, strict=True):
        handle = semantic.cast(semantic.to_tensor(value), dtype).handle
        arrays.append(np.broadcast_to(handle.data, like.shape))
    return arrays


def _fold(function, arrays, dtypes):
    """Reduces axis 0 by halves, neighbours first: log2(n) calls on whole slices instead of stock's n on elements."""
    while (n := len(arrays[0])) > 1:
        even = n - n % 2
        folded = _combine(function, [x[0:even:2] for x in arrays], [x[1:even:2] for x in arrays], dtypes)
        arrays = [np.concatenate([f, x[even:]]) for f, x in zip(folded, arrays, strict=True)]
    return [x[0] for x in arrays]


def _scan(function, arrays, dtypes):
    """Inclusive scan of axis 0 in log2(n) steps: each element takes in the one ``step`` places before it.

    The first ``step`` elements have none and stay; they are combined all the same, because Triton's blocks must have
    power-of-two sizes.
    """
    step = 1
    while step < len(arrays[0]):
        earlier = [np.concatenate([x[:step], x[:-step]]) for x in arrays]
        moved = _combine(function, earlier, arrays, dtypes)
        arrays = [np.concatenate([x[:step], m[step:]]) for x, m in zip(arrays, moved, strict=True)]
        step *= 2
    return arrays


def _quick_reduce(function, arrays, dtypes):
    """The reductions that numpy has, over axis 0; None for any other. 16-bit sums are left to the faithful tree."""
    standard = tl.standard
    wide = not has_raw_bits(dtypes[0]) and dtypes[0] != tl.float16
    if function is standard._sum_combine and wide:
        return [arrays[0].sum(0, dtype=arrays[0].dtype)]
    for name, pick in (("_elementwise_max", np.fmax), ("_elementwise_min", np.fmin)):
        if function is getattr(standard, name, None):
            best = pick.reduce(widen(arrays[0], dtypes[0]), axis=0)
            return [narrow(best, dtypes[0]) if has_raw_bits(dtypes[0]) else best]
    for name, pick in (("_argmax_combine_tie_break_left", np.argmax), ("_argmin_combine_tie_break_left", np.argmin)):
        if function is getattr(standard, name, None):
            best = pick(widen(arrays[0], dtypes[0]), axis=0)[None]
            return [np.take_along_axis(x, best, 0)[0] for x in arrays]
    return None


def _reduce(input, axis, combine_fn, keep_dims=False, **_):
    _refuse_python(combine_fn)
    tensors, axis = _operands(input), tl.core._unwrap_if_constexpr(axis)
    dtypes = [t.dtype.scalar for t in tensors]
    shape = tensors[0].handle.data.shape
    arrays = [t.handle.data.reshape(-1) if axis is None else np.moveaxis(t.handle.data, axis, 0) for t in tensors]
    reduced = _quick_reduce(combine_fn, arrays, dtypes) or _fold(combine_fn, arrays, dtypes)
    if tl.core._unwrap_if_constexpr(keep_dims):
        kept = [1] * len(shape) if axis is None else [1 if i == axis % len(shape) else n for i, n in enumerate(shape)]
        reduced = [np.reshape(x, kept) for x in reduced]
    results = tuple(_tensor(np.asarray(x), dtype) for x, dtype in zip(reduced, dtypes, strict=True))
    return results if len(_operands(input)) > 1 or isinstance(input, (tuple, list, tl.tuple)) else results[0]


def _associative_scan(input, axis, combine_fn, reverse=False, **_):
    _refuse_python(combine_fn)
    tensors, axis = _operands(input), tl.core._unwrap_if_constexpr(axis)
    order = slice(None, None, -1 if tl.core._unwrap_if_constexpr(reverse) else 1)
    dtypes = [t.dtype.scalar for t in tensors]
    arrays = [np.moveaxis(t.handle.data, axis, 0)[order] for t in tensors]
    if combine_fn is tl.standard._sum_combine and dtypes[0] in (tl.float32, tl.float64, tl.int32, tl.int64):
        scanned = [np.cumsum(arrays[0], axis=0, dtype=arrays[0].dtype)]
    else:
        scanned = _scan(combine_fn, arrays, dtypes)
    results = tuple(
        _tensor(np.ascontiguousarray(np.moveaxis(x[order], 0, axis)), dtype)
        for x, dtype in zip(scanned, dtypes, strict=True)
    )
    return results if isinstance(input, (tuple, list, tl.tuple)) else results[0]


# ---------------------------------------------------------------- the language, switched between compiler and interpreter


class Language:
    """``triton.language`` as the interpreter needs it: a list of attributes, computed once, switched in and out.

    The same functions must serve the compiler, so the switch is on only while a kernel runs.
    """

    def __init__(self):
        self._changes = {}
        for owner in (tl, tl.core, tl.math, tl.tensor, tl.dtype, tl.core.tensor_descriptor_base):
            self._changes[owner] = {}
        self._take_stock_changes()
        self._add_own_changes()
        self._switches = [
            (owner, name, vars(owner).get(name, _ABSENT), new)
            for owner, names in self._changes.items()
            for name, new in names.items()
        ]
        self.replaced = {id(old): new for _, _, old, new in self._switches if callable(old)}
        """Interpreter's version by id of the compiler's: for names that a candidate imported one by one."""
        spaces = (tl, tl.core, tl.math, tl.standard, tl.random, tl.tensor, tl.dtype, tl.tuple, tl.constexpr, generic_libdevice,
                  cuda_libdevice, tl.core.tensor_descriptor_base, tl.core.tensor_descriptor)  # fmt: skip
        self._functions = [f for space in spaces for f in vars(space).values() if callable(f)]
        self._functions += [new for *_, new in self._switches if callable(new)]
        self._functions += [
            range,
            len,
            min,
            max,
            abs,
            float,
            int,
            bool,
            isinstance,
            hasattr,
            print,
            tuple,
            list,
            _smallest,
            _largest,
        ]
        self._known = set(map(id, self._functions))

    def _take_stock_changes(self):
        """Lets stock patch everything once, notes what it changed, and puts it back."""
        before = {owner: dict(vars(owner)) for owner in self._changes}
        stock._patch_lang(types.SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
        for owner, old in before.items():
            new = {k: v for k, v in vars(owner).items() if v is not old.get(k, _ABSENT) and not k.startswith("__d")}
            self._changes[owner].update(new)
            for name in new:
                _set(owner, name, old.get(name, _ABSENT))

    def _add_own_changes(self):
        for owner in (tl, tl.core, tl.tensor):
            self._changes[owner].update(reduce=_reduce, associative_scan=_associative_scan)
        for owner in (tl, tl.core):
            self._changes[owner]["static_print"] = lambda *args, **kwargs: None  # the compiler has printed it
        # Triton 3.6 converts arrays of one element, which numpy 2.4 refuses.
        self._changes[tl.tensor]["__index__"] = lambda scalar: scalar.handle.data.item()
        # The compiler hands a dtype to a jit function as a constexpr, whose value the function may ask for.
        self._changes[tl.dtype]["value"] = property(lambda dtype: dtype)
        # Methods such as x.sum() are jit functions set as class attributes; the compiler binds them, Python does not.
        for name, member in vars(tl.tensor).items():
            if isinstance(member, JITFunction):
                self._changes[tl.tensor][name] = _method(member)
        self._changes[JITFunction] = {"__call__": _call_helper}
        wrapped = {k: _bind(f) for k, f in vars(cuda_libdevice).items() if tl.core.is_builtin(f)}
        self._changes[cuda_libdevice] = wrapped
        self._changes[generic_libdevice] = {k: f for k, f in wrapped.items() if hasattr(generic_libdevice, k)}

    def has(self, function):
        """Whether a function is one of the language, or a kernel's helper: what computes on tensors there."""
        if isinstance(function, (JITFunction, BoundJITMethod)) or id(function) in self._known:
            return True
        if isinstance(function, type):
            return hasattr(function, "_fields") or getattr(function, "__triton_aggregate__", False)
        method = getattr(function, "__func__", None)
        return id(method) in self._known or isinstance(getattr(function, "__wrapped__", None), JITFunction)

    @contextlib.contextmanager
    def interpreted(self):
        """While open, ``triton.language`` computes instead of emitting code."""
        for owner, name, _, new in self._switches:
            setattr(owner, name, new)
        try:
            yield
        finally:
            for owner, name, old, _ in self._switches:
                _set(owner, name, old)


_ABSENT = object()


def _set(owner, name, value):
    if value is _ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def _bind(builtin):
    """A builtin of Triton with our semantics filled in."""

    def bound(*args, _semantic=None, **kwargs):
        return builtin(*args, _semantic=semantic, **kwargs)

    return bound


def _method(jit_function):
    return lambda self, *args, **kwargs: jit_function(self, *args, **kwargs)


def _call_helper(jit_function, *args, **kwargs):
    return _rewritten(jit_function)(*args, **kwargs)


# ---------------------------------------------------------------- kernels as Python functions


def _assigned(value):
    """What a kernel variable holds after assignment: numbers become tensors, as in the compiler."""
    if isinstance(value, (bool, int, float, tl.constexpr)):
        return semantic.to_tensor(value, False)
    if type(value) is tuple:
        return tuple(map(_assigned, value))
    return value


def _truth(value):
    """The outcome of a branch. Only scalars have one: stock calls every block true, so it would branch silently wrong."""
    if _is_block(value):
        raise noted(Unsupported("control flow that depends on a block"))
    return bool(value)


def _is_block(value):
    return isinstance(value, tl.tensor) and value.type.is_block()


def _and(left, right):
    """``left and right()``: elementwise on blocks, as in the compiler; Python's would yield the right one."""
    if _is_block(left):
        return left.logical_and(right())
    return right() if left else left


def _or(left, right):
    if _is_block(left):
        return left.logical_or(right())
    return left if left else right()


def _not(value):
    return value.__not__() if isinstance(value, tl.tensor) else not value


def _called(function, /, *args, **kwargs):
    """A call in a kernel. Python functions are for constants: what they did to tensors, no GPU would do."""
    if not language.has(function) and any(map(_has_tensors, (*args, *kwargs.values()))):
        _refuse_python(function)
    return function(*args, **kwargs)


def _has_tensors(value):
    if isinstance(value, (tuple, list, tl.tuple)):
        return any(map(_has_tensors, value))
    return isinstance(value, (tl.tensor, Handle))


def _refuse_python(function):
    if not isinstance(function, JITFunction):
        name = getattr(function, "__qualname__", None) or type(function).__qualname__
        raise noted(Unsupported(f"the Python function {name} on tensors of a kernel"))


def _refuse_operators(name, value):
    """Refuses an object with operators of its own among a kernel's constants: they would compute on tensors."""
    kinds = [kind for kind in type(value).__mro__ if kind.__module__ not in _PLAIN_MODULES]
    if any(operator in vars(kind) for kind in kinds for operator in _OPERATORS):
        raise noted(Unsupported(f"the operators of {name} in a kernel"))


_PLAIN_MODULES = ("builtins", "enum", "numpy", "torch", "triton.language.core", "triton.runtime.jit", __name__)
_OPERATORS = frozenset(
    f"__{side}{name}__" for side in ("", "r", "i")
    for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or")
) | {"__getitem__", "__neg__", "__pos__", "__invert__", "__abs__", "__lt__", "__le__", "__gt__", "__ge__", "__iter__"}  # fmt: skip


def _smallest(*args):
    return _pick(min, tl.minimum, args)


def _largest(*args):
    return _pick(max, tl.maximum, args)


def _pick(plain, elementwise, args):
    """Python's ``min`` and ``max`` inside a kernel mean the elementwise ones, as in the compiler."""
    if not any(isinstance(a, tl.tensor) for a in args):
        return plain(*args)
    result = args[0]
    for other in args[1:]:
        result = elementwise(result, other)
    return result


_HELPERS = {
    "kbx_assigned": _assigned,
    "kbx_truth": _truth,
    "kbx_and": _and,
    "kbx_or": _or,
    "kbx_not": _not,
    "kbx_called": _called,
}
"""What rewritten kernels call, by a name that no Python source can spell (a space is put before it)."""


def _call(helper, *args):
    return ast.Call(func=ast.Name(id=f" {helper}", ctx=ast.Load()), args=list(args), keywords=[])


def _delayed(expression):
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(args=nothing, body=expression)


class _Rewriter(ast.NodeTransformer):
    """Gives Python the compiler's meaning: assignments and loops convert numbers, ``and``/``or``/``not`` work on blocks,
    branches take scalars, asserts vanish (on a GPU they are off outside debug mode), annotations go. Only the language computes."""

    def _branch(self, node):
        self.generic_visit(node)
        node.test = _call("kbx_truth", node.test)
        return node

    visit_If = visit_While = visit_IfExp = _branch

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        helper = "kbx_and" if isinstance(node.op, ast.And) else "kbx_or"
        result = node.values[0]
        for value in node.values[1:]:
            result = _call(helper, result, _delayed(value))
        return result

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return _call("kbx_not", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node):
        self.generic_visit(node)
        node.args.insert(0, node.func)
        node.func = ast.Name(id=" kbx_called", ctx=ast.Load())
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr in ("handle", "data") or node.attr.startswith("__"):
            raise noted(Unsupported(f"the attribute {node.attr} in a kernel"))
        return node

    def visit_Assign(self, node):
        self.generic_visit(node)
        node.value = _call("kbx_assigned", node.value)
        return node

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        constant = "constexpr" in ast.unparse(node.annotation)
        if node.value is None:
            return ast.Pass()
        return ast.Assign(targets=[node.target], value=node.value if constant else _call("kbx_assigned", node.value))

    def visit_For(self, node):
        """The variable of a loop that is not unrolled is a number on the device, with its methods."""
        counts = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).split(".")[-1] == "range"
        self.generic_visit(node)
        if counts:
            value = _call("kbx_assigned", ast.Name(id=node.target.id, ctx=ast.Load()))
            node.body.insert(0, ast.Assign(targets=[node.target], value=value))
        return node

    def visit_Assert(self, node):
        return ast.Pass()

    def visit_arg(self, node):
        node.annotation = None
        return node


class _Constant(tl.constexpr):
    """A ``tl.constexpr`` of the module: stock takes ``constant * tensor`` for another constant."""


def _operation(name):
    plain, operate = getattr(tl.constexpr, name), getattr(operator, name)

    def operation(self, other):
        return operate(self.value, other) if isinstance(other, tl.tensor) else plain(self, other)

    return operation


for _name in (
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__and__", "__or__", "__xor__",
    "__lshift__", "__rshift__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__",
):  # fmt: skip
    setattr(_Constant, _name, _operation(_name))


def _namespace(function):
    """Globals for a rewritten kernel: its module's names and its closure's, with the interpreter's functions put in.

    A copy: stock adds its own imports to the candidate's module, which would hide a missing import.
    """
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for name in names.keys() & {*function.__code__.co_names, *function.__code__.co_freevars}:
        _refuse_operators(name, names[name])
    for name, value in names.items():
        if id(value) in language.replaced:
            names[name] = language.replaced[id(value)]
        elif type(value) is tl.constexpr:
            names[name] = _Constant(value.value)
    names.setdefault("min", _smallest)
    names.setdefault("max", _largest)
    names.update((f" {name}", helper) for name, helper in _HELPERS.items())
    return names


_functions = {}

now = threading.local()
"""``now.computing`` is true while a kernel runs in this thread: what torch does then is the interpreter's doing."""


def _rewritten(jit_function):
    """The kernel or helper as a plain Python function; made once and kept, keyed by the object itself."""
    known = _functions.get(id(jit_function))
    if known is None:
        known = _functions[id(jit_function)] = jit_function, _rewrite(jit_function)
    return known[1]


def _rewrite(jit_function):
    function = jit_function.fn
    tree = ast.parse(jit_function.src)
    definition = tree.body[0]
    definition.returns = None
    definition.args.defaults = [ast.Constant(None)] * len(definition.args.defaults)
    _Rewriter().visit(tree)
    ast.fix_missing_locations(tree)
    lines, first = inspect.getsourcelines(function)
    ast.increment_lineno(tree, first - 1 + next(i for i, text in enumerate(lines) if text.lstrip().startswith("def ")))
    names = _namespace(function)
    exec(compile(tree, function.__code__.co_filename, "exec"), names)
    rewritten = names[definition.name]
    names[definition.name] = function.__globals__.get(definition.name, rewritten)
    rewritten.__defaults__ = function.__defaults__
    return rewritten


def _argument(value, type_name):
    """A launch argument as the kernel sees it: tensors as pointers, numbers as scalars of the type Triton bound them to."""
    if isinstance(value, (bool, int, float)) and type_name in _SCALARS:
        dtype = tl.str_to_ty(type_name, None)
        return tl.tensor(_handle(np.array([value], dtype=np.float64 if dtype.is_floating() else None), dtype), dtype)
    return stock._implicit_cvt(value)


def _constant(name, value):
    _refuse_operators(name, value)
    return value


_SCALARS = {
    "i1",
    "u1",
    "i8",
    "u8",
    "i16",
    "u16",
    "i32",
    "u32",
    "i64",
    "u64",
    "fp16",
    "bf16",
    "fp32",
    "fp64",
    "f32",
    "f64",
}


def launch(jit_function, types, grid, arguments):
    """Runs a kernel over ``grid`` (three sizes).

    ``arguments`` holds every parameter in order, constexprs included; ``types`` is Triton's signature (name to type).
    Raises Unsupported for whatever the interpreter cannot do, OSError for a pointer to memory that is not on the device;
    AssertionError and MemoryError pass through.
    """
    with language.interpreted(), np.errstate(all="ignore"):
        kernel = _rewritten(jit_function)
        values = [
            _constant(parameter.name, value) if parameter.is_constexpr else _argument(value, types.get(parameter.name))
            for parameter, value in zip(jit_function.params, arguments, strict=True)
        ]
        builder.set_grid_dim(*grid)
        now.computing = True
        try:
            # torch computes some functions of libdevice, on what are no tensors of the candidate.
            with torch._C.DisableTorchFunction():
                for builder.grid_idx in itertools.product(*map(range, grid)):
                    kernel(*values)
        except (Unsupported, AssertionError, MemoryError, OSError):
            raise
        except Exception as error:
            raise noted(Unsupported(f"{type(error).__name__}: {error}")) from error
        finally:
            now.computing = False


stock._interpreter = _Memory(stock._interpreter)
stock._get_np_dtype = _np_dtype
stock.TensorDescHandle = _Descriptor
builder = stock.interpreter_builder = Builder()
semantic = stock.interpreter_semantic = TritonSemantic(builder)
language = Language()
