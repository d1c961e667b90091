"""What may stand in the text of each operation, and what its results are.

An operation is written as ``results = name body : signature``. The body holds operands, keywords, attributes and successors in an order
that its name decides and that is the same for every operation of that name, so the tree keeps them by kind. What is not listed here is
``Unsupported``: an attribute or keyword that nobody knows may change what an operation does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kbx.ttir.types import I1, Type

Result = Callable[[list[Type]], Type]


def _last(types: list[Type]) -> Type:
    return types[-1]


def _first(types: list[Type]) -> Type:
    return types[0]


def _truth(types: list[Type]) -> Type:
    return types[0].like(I1)


def _loaded(types: list[Type]) -> Type:
    pointee = types[0].element.pointee
    if pointee is None:
        raise ValueError(f"{types[0]} is not a pointer")
    return types[0].like(pointee)


@dataclass(frozen=True)
class Form:
    """How an operation is written. ``result`` makes the type of a result from the types of a signature without an arrow."""

    result: Result = _last
    words: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()


def _form(result: Result = _last, words: Iterable[str] = (), attributes: Iterable[str] = ()) -> Form:
    return Form(result, frozenset(words), frozenset(attributes))


_SIGNED = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_ORDERED = tuple(kind + order for kind in "ou" for order in ("eq", "gt", "ge", "lt", "le", "ne"))
_CACHES = ("cacheModifier", "evictionPolicy", "cachePolicy")
_SEMANTICS = ("relaxed", "acquire", "release", "acq_rel", "gpu", "cta", "sys")
_UPDATES = ("and", "or", "xor", "add", "fadd", "max", "min", "umax", "umin", "exch")
_AXES = ("x", "y", "z")

FORMS: dict[str, Form] = {}
"""By name of the operation."""


def _plain(dialect: str, names: str, form: Form | None = None) -> None:
    for name in names.split():
        FORMS[f"{dialect}.{name}"] = form or _form()


_plain("arith", "addf subf mulf divf remf negf maxnumf minnumf maximumf minimumf")
_plain("arith", "addi subi muli shli")
_plain("arith", "divsi divui remsi remui ceildivsi ceildivui floordivsi shrsi shrui", _form(words=("exact",)))
_plain("arith", "andi xori maxsi minsi maxui minui mulsi_extended mului_extended select bitcast")
_plain("arith", "ori", _form(words=("disjoint",)))
_plain("arith", "extui uitofp", _form(words=("nneg",)))
_plain("arith", "extsi trunci sitofp fptosi fptoui extf index_cast index_castui")
_plain("arith", "addui_extended")
_plain(
    "arith", "truncf", _form(words=("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"))
)  # fmt: skip
FORMS["arith.cmpi"] = _form(_truth, _SIGNED)
FORMS["arith.cmpf"] = _form(_truth, (*_ORDERED, "ord", "uno", "true", "false"))
FORMS["arith.constant"] = _form()

_plain(
    "math",
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan tanh sinh cosh asin acos atan atan2 asinh acosh atanh",
)
_plain(
    "math", "absf absi floor ceil trunc round roundeven erf erfc fma copysign powf isnan isinf isfinite ctlz cttz ctpop"
)
for _name in ("isnan", "isinf", "isfinite"):
    FORMS[f"math.{_name}"] = _form(_truth)

_plain("tt", "mulhiui precise_sqrt precise_divf ptr_to_int int_to_ptr bitcast splat unsplat broadcast join cat split")
FORMS["tt.fp_to_fp"] = _form(attributes=("rounding",))
FORMS["tt.clampf"] = _form(attributes=("propagateNan",))
FORMS["tt.addptr"] = _form(_first)
FORMS["tt.expand_dims"] = _form(attributes=("axis",))
FORMS["tt.reshape"] = _form(
    words=("allow_reorder", "efficient_layout"), attributes=("allow_reorder", "efficient_layout")
)
FORMS["tt.trans"] = _form(attributes=("order",))
FORMS["tt.make_range"] = _form(attributes=("start", "end"))
FORMS["tt.get_program_id"] = _form(words=_AXES)
FORMS["tt.get_num_programs"] = _form(words=_AXES)
FORMS["tt.load"] = _form(
    _loaded, attributes=(*_CACHES, "isVolatile", "operandSegmentSizes", "boundaryCheck", "padding")
)
FORMS["tt.store"] = _form(attributes=(*_CACHES, "boundaryCheck"))
FORMS["tt.atomic_rmw"] = _form(words=(*_UPDATES, *_SEMANTICS))
FORMS["tt.atomic_cas"] = _form(words=_SEMANTICS)
FORMS["tt.dot"] = _form(attributes=("inputPrecision", "maxNumImpreciseAcc"))
FORMS["tt.dot_scaled"] = _form(
    words=("scale",), attributes=("lhs", "rhs", "fastMath", "lhs_k_pack", "rhs_k_pack", "operandSegmentSizes")
)
FORMS["tt.reduce"] = _form(attributes=("axis", "reduction_ordering"))
FORMS["tt.scan"] = _form(attributes=("axis", "reverse"))
FORMS["tt.map_elementwise"] = _form(attributes=("pack",))
_plain("tt", "reduce.return scan.return map_elementwise.return return")
FORMS["tt.extern_elementwise"] = _form(attributes=("libname", "libpath", "symbol", "pure"))
FORMS["tt.elementwise_inline_asm"] = _form(attributes=("constraints", "packed_element", "pure"))
FORMS["tt.histogram"] = _form()
FORMS["tt.gather"] = _form(attributes=("axis", "efficient_layout"))
FORMS["tt.print"] = _form(attributes=("hex", "isSigned"))
_plain("tt", "assert call")
FORMS["tt.make_tensor_ptr"] = _form(attributes=("order",))
FORMS["tt.advance"] = _form()
FORMS["tt.make_tensor_descriptor"] = _form(attributes=("padding", "operandSegmentSizes"))
FORMS["tt.descriptor_load"] = _form(attributes=_CACHES)
FORMS["tt.descriptor_gather"] = _form()
FORMS["tt.descriptor_store"] = FORMS["tt.descriptor_scatter"] = _form()
FORMS["tt.descriptor_reduce"] = _form(words=(*_UPDATES, "inc", "dec"))
_plain(
    "ttg",
    "barrier local_barrier",
    _form(words=("all", "none", "local", "global_read", "global_write", "tensor_read", "tensor_write")),
)
_plain("ttg", "convert_layout local_alloc local_store local_load local_dealloc")
_plain("gpu", "barrier")
_plain("ub", "poison")
_plain("llvm", "intr.assume")
_plain("scf", "yield condition")
_plain("cf", "br cond_br")
FORMS["cf.assert"] = _form()

TERMINATORS = frozenset(
    (
        "scf.yield",
        "scf.condition",
        "tt.return",
        "tt.reduce.return",
        "tt.scan.return",
        "tt.map_elementwise.return",
        "cf.br",
        "cf.cond_br",
    )
)
