"""CUDA's libdevice on numpy arrays, by symbol (``__nv_tanhf``).

Triton's own wrappers pick the symbol from the argument types, so a candidate meets the same type errors as on a GPU.
Single-precision functions are computed in double and rounded once: closer to the true value than the hardware's 1–2 ulp.
Directed-rounding variants (``_rz``, ``_ru``, ``_rd``) of arithmetic are left out: rounding to nearest would be wrong.
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


def _round_away(x: Numbers) -> Numbers:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _ilogb(x: Numbers) -> Numbers:
    return np.frexp(x)[1] - 1


def _tgamma(x: Numbers) -> Numbers:
    """Gamma by its logarithm; the sign of negative arguments alternates between the poles."""
    magnitude = np.exp(_torch(torch.lgamma)(x))
    return np.where((x < 0) & (np.floor(x) % 2 != 0), -magnitude, magnitude)


_FLOAT: dict[str, Function] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "copysign": np.copysign, "cos": np.cos,
    "cosh": np.cosh, "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2)), "cyl_bessel_i0": _torch(torch.special.i0),
    "cyl_bessel_i1": _torch(torch.special.i1), "erf": _torch(torch.erf), "erfc": _torch(torch.erfc),
    "erfcinv": lambda x: _torch(torch.erfinv)(1 - x), "erfcx": _torch(torch.special.erfcx),
    "erfinv": _torch(torch.erfinv), "exp": np.exp, "exp10": lambda x: np.power(10.0, x), "exp2": np.exp2,
    "expm1": np.expm1, "fabs": np.abs, "fdim": lambda x, y: np.where(np.isnan(x + y), x + y, np.fmax(x - y, 0)),
    "floor": np.floor, "fma": lambda x, y, z: x * y + z, "fmod": np.fmod, "hypot": np.hypot,
    "j0": _torch(torch.special.bessel_j0), "j1": _torch(torch.special.bessel_j1), "lgamma": _torch(torch.lgamma),
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "logb": lambda x: _ilogb(x).astype(x.dtype),
    "nearbyint": np.rint, "norm3d": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
    "norm4d": lambda a, b, c, d: np.sqrt(a * a + b * b + c * c + d * d), "normcdf": _torch(torch.special.ndtr),
    "normcdfinv": _torch(torch.special.ndtri), "pow": np.power, "rcbrt": lambda x: 1 / np.cbrt(x),
    "remainder": lambda x, y: x - y * np.rint(x / y), "rhypot": lambda x, y: 1 / np.hypot(x, y), "rint": np.rint,
    "rnorm3d": lambda a, b, c: 1 / np.sqrt(a * a + b * b + c * c),
    "rnorm4d": lambda a, b, c, d: 1 / np.sqrt(a * a + b * b + c * c + d * d), "round": _round_away,
    "rsqrt": lambda x: 1 / np.sqrt(x), "saturate": lambda x: np.fmin(np.fmax(x, 0), 1), "sin": np.sin, "sinh": np.sinh,
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2)), "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "tgamma": _tgamma, "trunc": np.trunc, "y0": _torch(torch.special.bessel_y0), "y1": _torch(torch.special.bessel_y1),
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
    "nextafter": np.nextafter, "nextafterf": np.nextafter, "ilogb": _ilogb, "ilogbf": _ilogb,
    "ldexp": np.ldexp, "ldexpf": np.ldexp, "scalbn": np.ldexp, "scalbnf": np.ldexp,
    "powi": lambda x, n: np.power(x.astype(np.float64), n), "powif": lambda x, n: np.power(x.astype(np.float64), n),
    "llrint": np.rint, "llrintf": np.rint, "llround": _round_away, "llroundf": _round_away,
}  # fmt: skip


def _conversion(name: str) -> Function | None:
    """``float2int_rz`` and its kin, or None. Integer results saturate, as the hardware's ``cvt`` does; NaN gives 0."""
    source, _, rest = name.partition("2")
    target, _, mode = rest.partition("_")
    if source in ("float", "double") and target in _INT and mode in _ROUND:
        limits = np.iinfo(_INT[target])
        return lambda x: saturate(_ROUND[mode](x.astype(np.float64)), limits)
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


def find(symbol: str) -> Function | None:
    """The numpy function of a libdevice symbol, or None. Its result still has to be cast to the symbol's return type."""
    name = symbol.removeprefix("__nv_")
    if name in _EXACT:
        return _EXACT[name]
    if name.startswith("fast_"):
        name = name.removeprefix("fast_")
        return np.divide if name == "fdividef" else _double(_FLOAT[_FAST[name]]) if name in _FAST else None
    if name in _FLOAT:
        return _double(_FLOAT[name])
    if name.endswith("f") and name[:-1] in _FLOAT:
        return _double(_FLOAT[name[:-1]])
    if name.endswith("_rn") and name[1:-3] in _ARITHMETIC:
        return _double(_ARITHMETIC[name[1:-3]])
    if name == "fmaf_rn":
        return _double(_FLOAT["fma"])
    return _conversion(name)
