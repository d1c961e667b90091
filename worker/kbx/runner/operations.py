"""What a torch operation does with data, by name: makes it, moves it, reads it out, or computes with it."""

import enum
import functools
from typing import NamedTuple

import torch


class Operation(NamedTuple):
    """A kind of torch operation: ``aten::add.Tensor`` is ``Operation("add", "Tensor", True)``."""

    base: str
    overload: str
    pointwise: bool


class Kind(enum.Enum):
    NOTHING = "nothing"
    """No data is made, moved or read: another view, another size."""
    MAKES = "makes"
    """The result does not depend on what the arguments hold: an allocation, a fill, random numbers."""
    MOVES = "moves"
    """Every element of the result is an element of an argument, perhaps in another dtype, or a constant."""
    READS = "reads"
    """Hands an element to Python."""
    COMPUTES = "computes"


def _names(text):
    return frozenset(text.split())


_ALLOCATIONS = _names(
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like "
    "new_ones full full_like new_full fill_ fill zero_ zero arange eye scalar_tensor"
)
_GENERATORS = _names(
    "linspace logspace rand rand_like randn randn_like randint randint_like randperm random_ uniform_ normal_ exponential_ "
    "bernoulli_ tril_indices triu_indices hann_window hamming_window kaiser_window"
)
_COPIES = _names(
    "clone copy_ copy _to_copy contiguous lift lift_fresh lift_fresh_copy alias_copy detach_copy view_copy as_strided_copy "
    "expand_copy permute_copy t_copy transpose_copy slice_copy select_copy squeeze_copy unsqueeze_copy _reshape_copy "
    "_pin_memory _unsafe_view _reshape_alias record_stream"
)
_VIEWS = _names("set_ resize_ resize_as_")
"""What makes a tensor another view, of its own or of another storage."""
_REARRANGEMENTS = _names(
    "cat stack constant_pad_nd repeat flip roll im2col slice_scatter select_scatter reflection_pad1d reflection_pad2d "
    "reflection_pad3d replication_pad1d replication_pad2d replication_pad3d"
)
_MOVEMENT = _names(
    "cat concat concatenate hstack vstack dstack column_stack stack pad tile repeat repeat_interleave flip fliplr flipud roll "
    "rot90 permute permute_copy transpose transpose_copy movedim swapaxes expand expand_copy split chunk fftshift ifftshift unfold "
    "index_select gather take take_along_dim embedding"
)
"""Names by which a task asks for data to be moved."""
_ABOUT_LAYOUT = _names(
    "record_stream is_same_size dense_dim sparse_dim _dimI _dimV _nnz qscheme q_per_channel_axis is_pinned _has_same_storage_numel "
    "_debug_has_internal_overlap _nested_tensor_size size stride numel sym_size sym_stride sym_numel sym_storage_offset "
    "is_coalesced is_distributed _version output_nr"
)
_ROUNDINGS = _COPIES | _names("bucketize searchsorted histc histogram frexp")
_COUNTING = _names("argwhere nonzero _unique _unique2 unique_consecutive unique_dim unique_dim_consecutive")
_COUNTING_BY_NUMBERS = _names("bincount index masked_select one_hot repeat_interleave")
"""Operations with results as large as what tensors hold says, the latter where whole numbers or masks say it."""
_PARAMETERS = _names("q_scale q_zero_point")
"""What operations have computed and tell Python as numbers."""


def full_name(function):
    """The operation's name with its namespace: ``aten::matmul``."""
    schema = getattr(function, "_schema", None)
    return schema.name if schema is not None else str(function)


@functools.cache
def parsed(name, pointwise):
    """The operation of a full name, ``aten::add.Tensor`` or ``aten::mm``."""
    base, _, overload = name.split("::")[-1].partition(".")
    return Operation(base, overload, pointwise)


@functools.cache
def of(function):
    """The operation of a ``torch._ops.OpOverload``."""
    overload = getattr(function, "_overloadname", "default")
    pointwise = torch.Tag.pointwise in getattr(function, "tags", ())
    return Operation(full_name(function).split("::")[-1], "" if overload == "default" else overload, pointwise)


def is_movement(asked):
    """Whether a task whose reference calls ``asked`` is about moving data, by at least half of it."""
    return bool(asked) and 2 * len(asked & _MOVEMENT) >= len(asked)


def kind(operation, movement):
    """With ``movement``, rearranging data is computing: it is what the task asks for."""
    name = operation.base
    if name == "_local_scalar_dense":
        return Kind.READS
    if name in _VIEWS or (name == "empty" and operation.overload == "out"):
        return Kind.NOTHING
    if name in _ALLOCATIONS or name in _GENERATORS:
        if "Tensor" not in operation.overload:
            return Kind.MAKES
        return Kind.MOVES if name.startswith("fill") else Kind.COMPUTES
    if name in _COPIES or (name in _REARRANGEMENTS and not movement):
        return Kind.MOVES
    return Kind.COMPUTES


def is_asked(operation, asked):
    return operation.base.rstrip("_") in asked


def asks_for_layout(operation):
    """Whether an operation without a result among tensors says nothing of what they hold."""
    return operation.base in _ABOUT_LAYOUT or operation.base.startswith(("_assert", "_validate"))


def tells_numbers(operation):
    return operation.base in _PARAMETERS


def counts(operation, tensor):
    """Whether the sizes of its results say what this argument holds."""
    if operation.base not in _COUNTING_BY_NUMBERS:
        return operation.base in _COUNTING
    return tensor.dtype == torch.bool if operation.base == "index" else not tensor.is_floating_point()


def digitises(operation):
    """Whether it makes whole numbers of the values of fractions: which of many places they fall into."""
    return operation.base in _ROUNDINGS


def generates(operation):
    """Whether it makes more than zeros, constants and counts."""
    return operation.base in _GENERATORS


def overwrites(operation):
    """Whether it ignores what the tensor that it writes to held."""
    return operation.base in ("copy_", "fill_", "zero_")


@functools.cache
def _writing(function):
    arguments = getattr(getattr(function, "_schema", None), "arguments", ())
    return tuple((i, a.name) for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write)


def written(function, args, kwargs):
    """The arguments that a call writes to."""
    return [
        args[i] if i < len(args) else kwargs[name] for i, name in _writing(function) if i < len(args) or name in kwargs
    ]
