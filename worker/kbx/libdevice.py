"""CUDA's libdevice on numpy arrays, by symbol (``__nv_tanhf``).

Triton's own wrappers pick the symbol from the argument types, so a candidate meets the same type errors as on a GPU.
Single-precision functions are computed in double and rounded once: closer to the true value than the hardware's 1–2 ulp.
Directed-rounding variants (``_rz``, ``_ru``, ``_rd``) of arithmetic are left out: rounding to nearest would be wrong.
Triton links it so that subnormal float32 numbers count as zero, as operands and as results, but for ``_KEEPING``.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

Numbers: TypeAlias = npt.NDArray[Any]
Function: TypeAlias = Callable[..., Numbers]


def _torch(function: Callable[..., torch.Tensor]) -> Function:
    """A torch function as one on float64 numpy arrays."""
    return lambda *xs: function(*(torch.from_numpy(np.array(x, dtype=np.float64)) for x in xs)).numpy()


_SMALLEST = np.finfo(np.float32).smallest_normal


def flushed(x: Numbers) -> Numbers:
    """Numbers with zeros in place of those that are subnormal in float32."""
    small = np.abs(x) < _SMALLEST
    kept: Numbers = x * ~small if small.any() else x
    return kept


def round_away(x: Numbers) -> Numbers:
    """To the nearest whole number, ties away from zero."""
    whole = np.trunc(x)
    away = np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0)
    return np.asarray(np.copysign(whole + away, x)).astype(x.dtype)


def _ilogb(x: Numbers) -> Numbers:
    limits = np.iinfo(np.int32)
    found = np.where(np.isinf(x), limits.max, np.frexp(x)[1].astype(np.int64) - 1)
    return np.where(np.isnan(x) | (x == 0), limits.min, found)


def _logb(x: Numbers) -> Numbers:
    return np.where(np.isfinite(x) & (x != 0), np.frexp(x)[1] - 1.0, np.where(x == 0, -np.inf, np.abs(x)))


def _tgamma(x: Numbers) -> Numbers:
    """Gamma by its logarithm; the sign of negative arguments alternates between the poles."""
    magnitude = np.exp(_torch(torch.lgamma)(x))
    signed = np.where((x < 0) & (np.floor(x) % 2 != 0), -magnitude, magnitude)
    return np.where((x < 0) & (np.floor(x) == x), np.nan, np.where(x == 0, np.copysign(np.inf, x), signed))


def _remainder(x: Numbers, y: Numbers) -> Numbers:
    """IEEE's: of the division whose quotient is the nearest whole number, exactly."""
    size, by = np.abs(x), np.abs(y)
    huge = by > np.finfo(np.float64).max / 2
    rest = np.where(huge, size, np.fmod(size, np.where(huge, 1, 2 * by)))
    once = rest - by
    rest = np.where(rest <= by - rest, rest, np.where(once >= by - once, once - by, once))
    found = np.where(np.isinf(y), x, np.where(np.signbit(x), -rest, rest))
    return np.where(np.isfinite(x) & ~np.isnan(y) & (y != 0), found, np.nan)


def _decaying(function: Callable[..., torch.Tensor]) -> Function:
    """A function of torch with 0 at both infinities."""
    return lambda x: np.where(np.isinf(x), 0.0, _torch(function)(x))


def _at(value: float, function: Function) -> Function:
    """``function`` with this value at infinity, which torch does not know."""
    return lambda x: np.where(np.isposinf(x), value, function(x))


def _odd_at(value: float, function: Function) -> Function:
    return lambda x: np.where(np.isinf(x), np.copysign(value, x), function(x))


def _of_half_turns(function: Function, offset: float) -> Function:
    """A sine or cosine of pi times a number, exact where it is 0."""

    def run(x: Numbers) -> Numbers:
        turn = np.fmod(x, 2)
        return np.where(
            np.fmod(turn + offset, 1) == 0, np.copysign(0.0, x) if offset == 0 else 0.0, function(np.pi * turn)
        )

    return run


def _norm(*parts: Numbers) -> Numbers:
    found = np.abs(parts[0])
    for part in parts[1:]:
        found = np.hypot(found, part)
    return found


_FLOAT: dict[str, Function] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "copysign": np.copysign, "cos": np.cos,
    "cosh": np.cosh, "cospi": _of_half_turns(np.cos, 0.5), "cyl_bessel_i0": lambda x: _at(np.inf, _torch(torch.special.i0))(np.abs(x)),
    "cyl_bessel_i1": _odd_at(np.inf, _torch(torch.special.i1)), "erf": _torch(torch.erf), "erfc": _torch(torch.erfc),
    "erfcinv": lambda x: -_torch(torch.special.ndtri)(x / 2) / np.sqrt(2), "erfcx": _torch(torch.special.erfcx),
    "erfinv": _torch(torch.erfinv), "exp": np.exp, "exp10": lambda x: np.power(10.0, x), "exp2": np.exp2,
    "expm1": np.expm1, "fabs": np.abs, "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x - y, 0)),
    "floor": np.floor, "fma": lambda x, y, z: x * y + z, "fmod": np.fmod, "hypot": np.hypot,
    "j0": _decaying(torch.special.bessel_j0), "j1": _decaying(torch.special.bessel_j1), "lgamma": _torch(torch.lgamma),
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "logb": _logb,
    "nearbyint": np.rint, "norm3d": lambda a, b, c: _norm(a, b, c),
    "norm4d": lambda a, b, c, d: _norm(a, b, c, d), "normcdf": lambda x: _torch(torch.erfc)(-x / np.sqrt(2)) / 2,
    "normcdfinv": _torch(torch.special.ndtri), "pow": np.power, "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": _remainder, "rhypot": lambda x, y: 1 / np.hypot(x, y), "rint": np.rint,
    "rnorm3d": lambda a, b, c: 1 / _norm(a, b, c),
    "rnorm4d": lambda a, b, c, d: 1 / _norm(a, b, c, d), "round": round_away,
    "rsqrt": lambda x: 1 / np.sqrt(x), "saturate": lambda x: np.fmin(np.fmax(x, 0), 1), "sin": np.sin, "sinh": np.sinh,
    "sinpi": _of_half_turns(np.sin, 0), "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "tgamma": _tgamma, "trunc": np.trunc, "y0": _at(0.0, _torch(torch.special.bessel_y0)), "y1": _at(0.0, _torch(torch.special.bessel_y1)),
}  # fmt: skip

_FAST = {"cosf": "cos", "exp10f": "exp10", "expf": "exp", "log10f": "log10", "log2f": "log2", "logf": "log",
         "powf": "pow", "sinf": "sin", "tanf": "tan", "tanhf": "tanh"}  # fmt: skip

_ARITHMETIC: dict[str, Function] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt,
               "rcp": np.reciprocal, "rsqrt": lambda x: 1 / np.sqrt(x), "ma": lambda x, y, z: x * y + z}  # fmt: skip

_ROUND: dict[str, Function] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}

_INT: dict[str, type[np.integer[Any]]] = {"int": np.int32, "uint": np.uint32, "ll": np.int64, "ull": np.uint64}


def _bits(x: Numbers) -> Numbers:
    """Bits of each element as a (…, width) array of 0 and 1, least significant first."""
    unsigned = x.view(f"u{x.dtype.itemsize}")
    bits: Numbers = (unsigned[..., None] >> np.arange(x.dtype.itemsize * 8, dtype=unsigned.dtype)) & 1
    return bits


def _clz(x: Numbers) -> Numbers:
    bits = _bits(x)[..., ::-1]
    found: Numbers = np.where(bits.any(-1), bits.argmax(-1), bits.shape[-1])
    return found


def _brev(x: Numbers) -> Numbers:
    bits = _bits(x)[..., ::-1].astype(f"u{x.dtype.itemsize}")
    turned: Numbers = (bits << np.arange(bits.shape[-1], dtype=bits.dtype)).sum(-1, dtype=bits.dtype)
    return turned.view(x.dtype)


def _ffs(x: Numbers) -> Numbers:
    bits = _bits(x)
    return np.where(bits.any(-1), bits.argmax(-1) + 1, 0)


def _mulhi(x: Numbers, y: Numbers) -> Numbers:
    wide = x.astype(object) * y.astype(object)
    upper: Numbers = np.right_shift(wide, 8 * x.dtype.itemsize)
    return upper.astype(x.dtype)


_EXACT: dict[str, Function] = {
    "abs": np.abs, "llabs": np.abs, "clz": _clz, "clzll": _clz, "popc": lambda x: _bits(x).sum(-1),
    "popcll": lambda x: _bits(x).sum(-1), "brev": _brev, "brevll": _brev, "ffs": _ffs, "ffsll": _ffs,
    "mulhi": _mulhi, "umulhi": _mulhi, "mul64hi": _mulhi, "umul64hi": _mulhi,
    "sad": lambda x, y, z: np.abs(x.astype(np.int64) - y) + z, "usad": lambda x, y, z: np.abs(x.astype(np.int64) - y) + z,
    "hadd": lambda x, y: (x.astype(np.int64) + y) >> 1, "uhadd": lambda x, y: (x.astype(np.int64) + y) >> 1,
    "rhadd": lambda x, y: (x.astype(np.int64) + y + 1) >> 1, "urhadd": lambda x, y: (x.astype(np.int64) + y + 1) >> 1,
    "isnanf": np.isnan, "isnand": np.isnan, "isinff": np.isinf, "isinfd": np.isinf, "finitef": np.isfinite,
    "isfinited": np.isfinite, "signbitf": np.signbit, "signbitd": np.signbit,
    "float_as_int": lambda x: x.view(np.int32), "float_as_uint": lambda x: x.view(np.uint32),
    "int_as_float": lambda x: x.view(np.float32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
    "nextafter": np.nextafter, "nextafterf": np.nextafter, "ilogb": _ilogb, "ilogbf": lambda x: _ilogb(flushed(x)),
    "ldexp": np.ldexp, "ldexpf": np.ldexp, "scalbn": np.ldexp, "scalbnf": np.ldexp,
    "powi": lambda x, n: np.power(x.astype(np.float64), n), "powif": lambda x, n: np.power(x.astype(np.float64), n),
    "llrint": lambda x: _whole(np.rint(x)), "llrintf": lambda x: _whole(np.rint(x)),
    "llround": lambda x: _whole(round_away(x)), "llroundf": lambda x: _whole(round_away(x)),
}  # fmt: skip

_KEEPING = frozenset((
    "copysignf", "erfinvf", "exp10f", "expf", "fdimf", "log10f", "log2f", "logf", "nearbyintf", "normcdfinvf", "rintf", "roundf", "tgammaf", "truncf",
))  # fmt: skip
_KEEPING_OPERANDS = _KEEPING | {"powf"}
_KEEPING_RESULTS = _KEEPING | {"erfcf", "erfcxf", "fmodf", "normcdff", "remainderf", "rhypotf", "rnorm3df", "rnorm4df"}
"""Functions of float32 that take, or give, subnormal numbers as they are: what an H200 does."""


def _whole(x: Numbers) -> Numbers:
    """Whole numbers as int64: clipped, the least one for NaN."""
    return np.where(np.isnan(x), np.iinfo(np.int64).min, saturate(x, np.iinfo(np.int64)))


def _conversion(name: str) -> Function | None:
    """``float2int_rz`` and its kin, or None. Integer results saturate, as the hardware's ``cvt`` does; NaN gives 0, or the highest bit
    where either side has 64 bits."""
    source, _, rest = name.partition("2")
    target, _, mode = rest.partition("_")
    if source in ("float", "double") and target in _INT and mode in _ROUND:
        limits = np.iinfo(_INT[target])
        nan = 1 << limits.bits - 1 if source == "double" or limits.bits == 64 else 0
        of_nan = np.array(nan, f"u{limits.bits // 8}").view(limits.dtype)

        def convert(x: Numbers) -> Numbers:
            wide = (flushed(x) if source == "float" else x).astype(np.float64)
            return np.where(np.isnan(x), of_nan, saturate(_ROUND[mode](wide), limits))

        return convert
    if target in ("float", "double") and mode == "rn" and source in (*_INT, "double"):
        return lambda x: x
    return None


def saturate(values: Numbers, limits: np.iinfo[Any]) -> Numbers:
    """Float values as integers of the type that ``limits`` (an ``iinfo``) describes: clipped, NaN as 0."""
    finite = np.where(np.isnan(values), 0, values)
    with np.errstate(invalid="ignore"):
        inside = finite.astype(limits.dtype)
    high, low = finite >= float(limits.max), finite <= float(limits.min)
    return np.where(high, limits.dtype.type(limits.max), np.where(low, limits.dtype.type(limits.min), inside))


def _double(function: Function) -> Function:
    return lambda *xs: function(*(x.astype(np.float64) for x in xs))


def _power_of_two(factor: float) -> Function:
    """2 to the power of a number times ``factor``, a product of float32 numbers: the farther from 0, the less exact."""
    single = np.float32(factor)
    return lambda x: np.exp2((x * np.float64(single)).astype(np.float32).astype(np.float64))


_FAST_EXPONENTIALS = {"expf": _power_of_two(np.log2(np.e)), "exp10f": _power_of_two(np.log2(10.0))}


def _flushing(function: Function, operands: bool = True, results: bool = True) -> Function:
    def run(*xs: Numbers) -> Numbers:
        found = function(*(map(flushed, xs) if operands else xs))
        return flushed(found) if results else found

    return run


def find(symbol: str) -> Function | None:
    """The numpy function of a libdevice symbol, or None. Its result still has to be cast to the symbol's return type."""
    name = symbol.removeprefix("__nv_")
    if name in _EXACT:
        return _EXACT[name]
    if name.startswith("fast_"):
        name = name.removeprefix("fast_")
        if name in ("expf", "exp10f"):
            return _flushing(_double(_FAST_EXPONENTIALS[name]))
        if name == "powf":  # by its logarithm, which a negative base has not
            return _flushing(_double(lambda x, y: np.exp2(y * np.log2(x))))
        fast = np.divide if name == "fdividef" else _FLOAT.get(_FAST.get(name, ""))
        return None if fast is None else _flushing(_double(fast))
    if name in _FLOAT:
        return _double(_FLOAT[name])
    if name.endswith("f") and name[:-1] in _FLOAT:
        return _flushing(_double(_FLOAT[name[:-1]]), name not in _KEEPING_OPERANDS, name not in _KEEPING_RESULTS)
    if name.endswith("_rn") and name[1:-3] in _ARITHMETIC:
        arithmetic = _double(_ARITHMETIC[name[1:-3]])
        return _flushing(arithmetic) if name[0] == "f" else arithmetic
    if name == "fmaf_rn":
        return _flushing(_double(_FLOAT["fma"]))
    return _conversion(name)
