"""Tasks whose candidates are modules: a file that defines ``Model``, which a candidate's ``ModelNew`` stands in for.

The file's ``PUBLISHED`` sizes are what such a task is about; on a machine without a GPU its ``SCALED`` ones are judged instead.
``BESIDE`` names what differs in another call on a GPU, for a module that at its published size returns nearly the same whatever it
computes. It is constructed once, so the constructor's sizes are not among them.

Calls of the published grade are those of KernelBench's harness: ``ROUNDS`` of them, at the published size, of what ``get_inputs()`` draws.
``DISTRIBUTIONS`` are those of calls beyond it, see ``kbx.oracle.module_variations``.
Weights derive from a seed. ``Task.seeded`` binds the task to those of one, and from then on it is judged like any other: the
reference takes what ``forward`` takes.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from kbx import state
from kbx.messages import Module
from kbx.oracle import faults
from kbx.oracle.task import Function, InvalidTask, Parameters, Stamp, Task, Unsupported, describe
from kbx.suite import DISTRIBUTIONS, Call, Close, Contract
from kbx.suite.inputs import PUBLISHED
from kbx.suite.original import MODULE_TOLERANCES
from kbx.suite.sharing import changed
from kbx.suite.values import copied, home, tensors, transform
from kbx.tensors import encode, no_tensors

if TYPE_CHECKING:
    from typing_extensions import Self

    from kbx.oracle.taskfile import _Reader

ENTRY = "ModelNew"
ATTEMPTS = 100
"""Seeds of weights tried where a task has use for some only."""
STATE = "self"
"""The keyword argument that brings the state of a module, and takes it back: no ``forward`` has another one of that name."""
BATCH = ("batch_size", "batch")
"""Names under which files have the size of a batch."""
ROUNDS = 5
"""Calls with fresh values, as many as the original's trials."""


@dataclass(frozen=True, eq=False)
class ModelTask(Task):
    """A task file with a ``Model``. ``scaled`` says whether its sizes are not the published ones."""

    model: type[nn.Module] = nn.Module
    init: list[Any] = field(default_factory=list)
    """Arguments of the constructor."""
    usable: Callable[[nn.Module], bool] | None = None
    """``usable(model)``: whether weights let the result vary; None where they all do."""
    rivals: dict[str, type[nn.Module]] = field(default_factory=dict)
    """Control classes by the name of the control."""
    scaled: bool = False
    device: str = "cpu"
    beside: Parameters | None = None
    """Smaller inputs that tell more than the published ones; None where there are none."""
    beyond: tuple[str, ...] = ()
    """Distributions that the published test does not draw from, and the operation takes."""
    batch: str | None = None
    """The parameter of the cases that is the size of a batch and that the constructor does not take; None where there is none."""
    cast: torch.dtype | None = None
    """What weights and floating-point arguments are cast to, see ``at``; None: they stay what the file makes them."""
    state: tuple[str, ...] = ()
    """Buffers that a call changes, and that are judged where ``with_state`` has added them to a call."""
    weights: _Weights | None = None
    """``_Weights`` of the seed that the task is bound to; None while it is bound to none."""

    tolerances = MODULE_TOLERANCES
    rounds_operands = False  # a call more may change its state

    @property
    def entries(self) -> list[str]:
        return [ENTRY]

    @property
    def large(self) -> bool:
        return not self.scaled

    @property
    def plain(self) -> str:
        return PUBLISHED if PUBLISHED in self.distributions else super().plain

    @property
    def compilable(self) -> nn.Module:
        return self._bound.give()

    def instance(self, wide: bool) -> nn.Module:
        """The module that the reference calls, in float64 where ``wide``."""
        return self._bound.give(wide=wide)

    @property
    def _bound(self) -> _Weights:
        assert self.weights is not None, "a task that is bound to no seed"
        return self.weights

    @property
    def constants(self) -> list[torch.Tensor]:
        """The weights of a seeded task."""
        return list(self.weights.give().state_dict(keep_vars=True).values()) if self.weights else []

    def operands(self, call: Call) -> dict[str, torch.Tensor]:
        weights = self.weights.give().state_dict() if self.weights else {}
        return super().operands(call) | weights

    def call(
        self,
        parameters: Parameters,
        distribution: str,
        seed: str,
        device: str | torch.device = "cpu",
        fast: bool = False,
    ) -> Call:
        return self.as_cast(super().call(parameters, distribution, seed, device, fast))

    def other_batch(self) -> Parameters | None:
        """The first case with another batch size; None where the task has none."""
        if self.batch is None:
            return None
        other = other_size(self.cases[0].get(self.batch), self.device)
        return None if other is None else self.cases[0] | {self.batch: other}

    def as_cast(self, call: Call) -> Call:
        """A call with its floating-point tensors cast as the weights are."""
        if self.cast is None:
            return call

        def cast(leaf: Any) -> Any:
            return leaf.to(self.cast) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf

        return Call(*changed((call.args, call.kwargs), cast))

    def with_state(self, call: Call, turn: int) -> Call:
        if not self.state or self.weights is None:
            return call
        held = self.weights.initial(self.state)
        call = Call(call.args, {**call.kwargs, STATE: held})
        if turn % 2:
            scratch = Call(transform(call.args, copied), transform(self.given(call).kwargs, copied))
            with torch.no_grad():
                self.run("the reference", self.reference, *scratch.args, **scratch.kwargs, **{STATE: held})
        return call

    def given(self, call: Call) -> Call:
        return Call(call.args, {name: value for name, value in call.kwargs.items() if name != STATE})

    def bound(self, call: Call) -> inspect.BoundArguments:
        return super().bound(self.given(call))

    def named_tensors(self, call: Call) -> list[tuple[str, torch.Tensor]]:
        """Buffers read ``self.bn.running_mean``."""
        held = [(f"{STATE}.{name}", buffer) for name, buffer in call.kwargs.get(STATE, {}).items()]
        return super().named_tensors(self.given(call)) + held

    def updates(self, path: str) -> bool:
        return path.startswith(f"{STATE}.") or super().updates(path)

    def run(self, what: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if self.cast is None:
            return super().run(what, function, *args, **kwargs)
        try:
            return super().run(f"cast to {self.dtype}, {what}", function, *args, **kwargs)
        except InvalidTask as error:
            if isinstance(error.__cause__, NotImplementedError):
                # On a CPU, PyTorch lacks some operations in half precision that a GPU has.
                raise Unsupported(error.message) from error
            raise

    def module(self, seed: str) -> Module:
        made: Module = {"init": [encode(value, no_tensors) for value in self.init], "seed": self.weights_seed(seed)}
        if self.cast is not None:
            made["dtype"] = self.dtype
        if self.differentiates:
            made["differentiates"] = True
        return made

    @functools.lru_cache(maxsize=64)  # noqa: B019 - tasks are kept anyway
    def weights_seed(self, seed: str) -> int:
        """What ``torch.manual_seed`` gets before a module is constructed, for usable weights of the referee's seed."""
        for attempt in range(ATTEMPTS):
            digest = hashlib.sha256(f"{seed}/weights/{attempt}".encode()).digest()
            number = int.from_bytes(digest[:8], "big") >> 1
            if self.usable is None or self.run("usable()", self.usable, self.construct(self.model, number)):
                return number
        raise InvalidTask(f"none of {ATTEMPTS} seeds gives weights that usable() takes", self.path)

    def construct(self, kind: type[nn.Module], number: int) -> nn.Module:
        """An instance of the model or of a control, on the CPU, under a seed of torch's."""
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(number)
            made: nn.Module = self.run(f"{kind.__name__}({', '.join(map(repr, self.init))})", kind, *self.init)
            return made

    def traced(self) -> tuple[nn.Module, list[torch.Tensor]]:
        model = self.run("the constructor", self.model, *self.init)
        return model, list(model.state_dict(keep_vars=True).values())

    def change_weights(self) -> dict[str, list[int]]:
        """Gives a seeded task's weights other values; returns the shapes of the parameters by name."""
        return self._bound.change_weights()

    def seeded(self, seed: str) -> Self:
        weights = _Weights(self, seed)
        rivals = {name: _call(rival, functools.partial(weights.give, rival)) for name, rival in self.rivals.items()}
        return replace(self, weights=weights, reference=_call(self.model, weights.give), controls=rivals)


def other_size(size: object, device: str) -> int | None:
    """Another size of a batch, smaller where that is possible: on a GPU, calls may be as large as there is room for. None where there
    is none."""
    if type(size) is not int or size < 1 or (size == 1 and device != "cpu"):
        return None
    return size // 2 + 1 if size > 2 else 3 - size


@functools.lru_cache(maxsize=1024)
def at(task: Task, dtype: str) -> ModelTask:
    """The task with weights and floating-point arguments cast to another dtype, as ``model.to(dtype)`` casts a model's: integers,
    masks, and tensors that are neither parameters nor buffers stay. The contract measures the reference's own error there."""
    if not isinstance(task, ModelTask):
        raise InvalidTask(f"states its own dtypes, so nothing is cast to {dtype}: it has no Model", task.path)
    return replace(task, dtype=dtype, cast=getattr(torch, dtype), contract=bounded(task.contract))


def bounded(contract: Contract) -> Contract:
    """The contract with KernelBench's tolerance of results in half precision as the most that it allows of them."""
    return replace(contract, most=MODULE_TOLERANCES[torch.float16]) if isinstance(contract, Close) else contract


class _Weights:
    """The weights of one seed, in instances of the reference and of classes that take the same ones."""

    def __init__(self, task: ModelTask, seed: str) -> None:
        self.task, self.seed = task, seed
        self.made: dict[tuple[type[nn.Module], bool], nn.Module] = {}
        self.uncalled: nn.Module | None = None
        """The model as it was constructed, with the parameters of the one that is called."""
        self.buffers: dict[str, torch.Tensor] = {}
        """Those that calls change, as they were constructed."""
        self.repeats: set[bool] = set()
        """Whether the model was seen to give a result twice: without what it holds among the arguments, and with that."""

    def initial(self, names: tuple[str, ...]) -> dict[str, torch.Tensor]:
        """Copies of buffers as they were constructed."""
        self.give()
        return {name: self.buffers[name].clone() for name in names}

    def give(self, kind: type[nn.Module] | None = None, wide: bool = False) -> nn.Module:
        """An instance of ``kind``, a subclass of the task's model (the model itself unless named), in float64 where ``wide``."""
        kind = kind or self.task.model
        if (kind, wide) not in self.made:
            self.made[kind, wide] = self._make(kind, wide)
        return self.made[kind, wide]

    def change_weights(self) -> dict[str, list[int]]:
        """Changes the model's parameters as ``kbx.state`` does; all else is made again of these. Returns their shapes by name."""
        model = self.give()
        self.made = {(self.task.model, False): model}  # before more memory is needed
        named = list(model.named_parameters())
        state.change([parameter for _, parameter in named])
        return state.shapes(named)

    def _make(self, kind: type[nn.Module], wide: bool) -> nn.Module:
        model = self.task.model
        if wide:
            given = self.give(kind)
            single = self.uncalled if kind is model else given
            assert single is not None  # set where the model was made
            return copy.deepcopy(single).double()
        if kind is not model and kind.__init__ is model.__init__:
            return _shared(self.give(), kind)
        made = self.task.construct(kind, self.task.weights_seed(self.seed))
        if kind is not model:
            self.task.run(f"{kind.__name__}.load_state_dict()", made.load_state_dict, self.give().state_dict())
        made = made.to(self.task.device, self.task.cast)
        if kind is model:
            self.uncalled = _before_calls(made)
            self.buffers = {name: made.get_buffer(name).clone() for name in self.task.state}
        return made


def _before_calls(model: nn.Module) -> nn.Module:
    """A copy of the model that shares its parameters; the model itself where it cannot be copied, which is said where it must be."""
    try:
        return _shared(model, type(model))
    except Exception as error:
        if faults.of_device(error):
            raise
        return model


def _shared(model: nn.Module, kind: type[nn.Module]) -> nn.Module:
    """The model as an instance of a subclass that is constructed alike: it has the same parameters, which may be gigabytes, and
    buffers of its own, which calls change."""
    made = copy.deepcopy(model, {id(parameter): parameter for parameter in model.parameters()})
    made.__class__ = kind
    return made


def _call(kind: type[nn.Module], give: Callable[..., nn.Module]) -> Function:
    """``kind.forward`` as a function of its arguments alone, at the precision of the first floating-point one."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        held = kwargs.pop(STATE, None)
        floating = (t for t in tensors([*args, *kwargs.values()]) if t.is_floating_point())
        model = give(wide=next((t.dtype for t in floating), None) == torch.float64)
        return model(*args, **kwargs) if held is None else _from_state(model, held, args, kwargs)

    forward.__name__ = kind.__name__
    forward.__signature__ = _signature(kind)  # type: ignore[attr-defined]  # which inspect.signature looks for
    # Complaints name the line where it stands in the file.
    forward.__code__ = forward.__code__.replace(co_firstlineno=kind.forward.__code__.co_firstlineno)
    return forward


def _from_state(model: nn.Module, held: dict[str, torch.Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call of a model that holds this before; ``held`` is what it holds afterwards. A result is not its buffers' memory."""
    for name, value in held.items():
        model.get_buffer(name).copy_(value)
    result = model(*args, **kwargs)
    for name, value in held.items():
        value.copy_(model.get_buffer(name))
    own = {home(buffer) for buffer in model.buffers()}
    return transform(
        result, lambda leaf: copied(leaf) if isinstance(leaf, torch.Tensor) and home(leaf) in own else leaf
    )


def unbound(model: type[nn.Module]) -> Function:
    """The reference of a task that is bound to no weights yet: its signature and place, not to be called."""
    return _call(model, _no_weights)


def _no_weights(**_: object) -> nn.Module:
    raise AssertionError("a task that is bound to no weights")


def _signature(kind: type[nn.Module]) -> inspect.Signature:
    signature = inspect.signature(kind.forward)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def task(stamp: Stamp, stem: str, module: dict[str, Any], reader: _Reader, device: str) -> ModelTask:
    """The task of a file that defines ``Model``; ``reader`` is the file's, ``device`` decides which sizes are judged."""
    path, model = stamp[0], module["Model"]
    reader.check_statement()
    if not (isinstance(model, type) and issubclass(model, nn.Module)):
        reader.fail("Model", "must be a subclass of torch.nn.Module")
    reader.get("TAGS", tuple)
    published, scaled = reader.get("PUBLISHED", dict), reader.get("SCALED", dict)
    if published.keys() != scaled.keys():
        reader.fail("SCALED", f"has other keys than PUBLISHED: {sorted(published.keys() ^ scaled.keys())}")
    parameters = scaled if device == "cpu" else published
    inputs, init = reader.function("inputs"), reader.function("init_inputs")
    case = _asked(reader, inputs, parameters, 1)
    beside = case | _beside(reader, init, case) if device != "cpu" and module.get("BESIDE") else None
    rivals = {_snake(name): kind for name, kind in module.items() if _is_rival(name, kind, model)}
    return ModelTask(
        path=path, stamp=stamp, name=stem, entry=ENTRY, dtype=reader.dtype(),
        cases=[case], sizes=[] if device == "cpu" else [case],
        contract=reader.get("CONTRACT", Contract), reference=unbound(model), inputs=inputs,
        distributions=(PUBLISHED,),
        beyond=reader.each("DISTRIBUTIONS", reader.get("DISTRIBUTIONS", tuple, DISTRIBUTIONS), DISTRIBUTIONS),
        mutates=reader.each("MUTATES", reader.get("MUTATES", tuple, ()), _signature(model).parameters),
        skip_controls=reader.get("SKIP_CONTROLS", dict, {}), controls={}, rounds=ROUNDS,
        model=model, usable=module.get("usable"), init=_init(path, init, _asked(reader, init, parameters, 0)), rivals=rivals,
        scaled=device == "cpu", device=device, beside=beside, batch=_batch(inputs, init),
    )  # fmt: skip


def _asked(reader: _Reader, function: Callable[..., Any], parameters: Parameters, given: int) -> Parameters:
    """Those parameters that a function names after its first ``given``."""
    names = list(inspect.signature(function).parameters)[given:]
    unknown = [name for name in names if name not in parameters]
    if unknown:
        reader.fail("PUBLISHED", f"has no {unknown[0]!r}, which {function.__name__}() takes")
    return {name: parameters[name] for name in names}


def _batch(inputs: Callable[..., Any], init: Callable[..., Any]) -> str | None:
    """The parameter of ``inputs`` that is the size of a batch and of nothing else."""
    taken, constructor = (inspect.signature(function).parameters for function in (inputs, init))
    return next((name for name in BATCH if name in taken and name not in constructor), None)


def _beside(reader: _Reader, init: Callable[..., Any], published: Parameters) -> Parameters:
    """``BESIDE``, which must name sizes of inputs alone."""
    beside = reader.get("BESIDE", dict)
    for name in beside:
        if name not in published or name in inspect.signature(init).parameters:
            reader.fail("BESIDE", f"names {name!r}, which is not a size of the inputs alone")
    return beside


def _init(path: str, function: Function, parameters: Parameters) -> list[Any]:
    made = function(**parameters)
    if not isinstance(made, list):
        text = f"{function.__name__}({describe(parameters)}) must return a list, not {type(made).__name__}"
        raise InvalidTask(text, path, function.__code__.co_firstlineno)
    return made


def _is_rival(name: str, kind: object, model: type[nn.Module]) -> bool:
    return isinstance(kind, type) and issubclass(kind, model) and name.startswith(("Positive", "Negative"))


def _snake(name: str) -> str:
    """``PositiveSplitChannels`` → ``positive_split_channels``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
