"""Messages between referee and oracle. In order: about a task, a candidate's calls, its benchmark sizes, the device."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, TypedDict

from kbx.messages import (
    ArenaDescription,
    Failed,
    Hello,
    Message,
    Module,
    Origin,
    ProfiledCall,
    Request,
    SlottedCall,
    TracedCall,
    Tree,
)  # fmt: skip

Status: TypeAlias = Literal[
    "correct",
    "wrong_structure",
    "wrong_shape",
    "wrong_dtype",
    "wrong_device",
    "wrong_values",
    "out_of_bounds",
    "race",
    "order_dependent",
    "undefined_value",
    "nondeterministic",
    "input_mutated",
    "runtime_error",
]
"""``correct``, or one of the verdict statuses of the correctness stage; ``runtime_error`` for a failed assertion or a misaligned address,
where launches are executed without a GPU."""
Precision: TypeAlias = Literal["fp64", "fp32", "tf32", "fp16", "bf16", "int8", "fp8", "fp4"]
"""What matrix products run in."""
Phase: TypeAlias = Literal[
    "alone", "launched", "recording", "replayed", "slow", "still_slow", "alone_again", "graphs_alone"
]


class Control(TypedDict):
    """What became of a task's control: ``status`` is what the comparison said; ``line`` is where the task file defines it, or None."""

    name: str
    kind: Literal["positive", "negative"]
    ok: bool
    status: str | None
    detail: str | None
    line: int | None


class CallPlan(TypedDict):
    """A call to judge: ``case`` in words; ``repeats``, the index of the call whose inputs it repeats; ``dtype``, what module and arguments
    are cast to for it (or None)."""

    index: int
    case: str
    distribution: str
    repeats: int | None
    properties: list[str]
    dtype: str | None


class Size(TypedDict):
    """A benchmark size in words. ``weight`` is the part of the reference's time that it stands for; None where the task states none."""

    index: int
    shape: str
    weight: float | None


class Mismatch(TypedDict):
    """A wrong element: ``output`` is a path such as ``output[0]``."""

    output: str
    index: list[int]
    expected: str
    got: str


class DeviceState(TypedDict, total=False):
    """Of a GPU at one moment: ``throttle`` are names of why clocks are held down. What its driver does not tell is absent."""

    sm_mhz: float
    memory_mhz: float
    celsius: float
    watts: float
    throttle: list[str]


class _AnyRates(TypedDict):
    tflops: dict[Precision, float]


class Rates(_AnyRates, total=False):
    """Measured peaks: gigabytes a second of a copy, milliseconds of nothing and of a kernel, and the rates of matrix products."""

    copy_gbs: float
    empty_ms: float
    launch_ms: float


@dataclass
class TraceShapes:
    """Trace the shapes of a task's calls and benchmark sizes, without values. Needs no device and no ``open``."""

    TYPE: ClassVar[str] = "trace_shapes"
    id: int
    task: str
    """Path of the task file."""
    timed: bool
    """Whether benchmark sizes are wanted too."""
    dtype: str | None = None
    """What a module's weights and floating-point arguments are cast to; None: they stay what the task makes them."""


@dataclass
class ShapesTraced:
    TYPE: ClassVar[str] = "shapes_traced"
    id: int
    entries: list[str]
    calls: list[TracedCall]
    """Calls whose shapes depend on values are left out."""
    module: Module | None = None
    """As in ``opened``."""
    updates: list[str] = field(default_factory=list)
    """Names of the arguments that the entry updates in place, which are judged."""
    numbers: list[int] = field(default_factory=list)
    """Of the calls that a user's reference asks for, those that are judged; empty for other tasks."""
    upstream: list[str] = field(default_factory=list)
    """Names of the entry's first parameters where the task is a user's function's gradients: those of its results."""


@dataclass
class TraceLargestShapes:
    """Trace the shapes of a call of a task's largest benchmark size, without values. Needs no ``open``."""

    TYPE: ClassVar[str] = "trace_largest_shapes"
    id: int
    task: str
    """Path of the task file."""
    dtype: str | None = None
    """As in ``trace_shapes``."""


@dataclass
class LargestShapesTraced:
    TYPE: ClassVar[str] = "largest_shapes_traced"
    id: int
    entries: list[str]
    shape: str
    """The size in words, as in ``opened``."""
    call: ProfiledCall


@dataclass
class EstimateMemory:
    """Estimate the memory of a task's calls on a GPU. Needs no device and no ``open``."""

    TYPE: ClassVar[str] = "estimate_memory"
    id: int
    task: str
    """Path of the task file."""


@dataclass
class MemoryEstimated:
    """All 0 for a task whose cases are small by design, and where only values tell."""

    TYPE: ClassVar[str] = "memory_estimated"
    id: int
    lent: int
    """Bytes of arena ``in`` that a call's arguments take."""
    returned: int
    """Bytes of arena ``out`` that a result takes."""
    weights: int
    """What a module holds once it is constructed."""
    device: int
    """Peak use of device memory while judging the task, by the oracle and an honest runner together."""


@dataclass
class VerifyTask:
    """Run a task's own controls: honest results must pass, spoiled ones must fail."""

    TYPE: ClassVar[str] = "verify_task"
    id: int
    task: str
    seed: str
    alone: bool = False
    """As in ``open``."""
    dtype: str | None = None
    """As in ``trace_shapes``."""


@dataclass
class TaskVerified:
    TYPE: ClassVar[str] = "task_verified"
    id: int
    controls: list[Control]
    seconds: float


@dataclass
class Open:
    """Load a task, make its arenas for one runner, and list the calls to judge."""

    TYPE: ClassVar[str] = "open"
    id: int
    task: str
    """Path of the task file."""
    seed: str
    """Hex; every random value of this candidate's inputs derives from it, the task and the call."""
    runner: int | None = None
    timed: bool = False
    """Whether benchmark sizes will be asked for, which need large arenas, and no calls."""
    lent: int = 0
    returned: int = 0
    """Bytes that the arenas hold at least, as in ``memory_estimated``."""
    alone: bool = False
    """Whether the candidate has the device exclusively. Only then may the oracle skip the float64 truth if memory is short."""
    published: bool = False
    """Whether values are compared by the tolerances that the authors of the suite publish, not by the error model."""
    dtype: str | None = None
    """As in ``trace_shapes``."""
    schemes: list[int] = field(default_factory=list)
    """As the last ``checked`` of an earlier session of the candidate had it."""
    memory_checks: bool = True
    """Whether what launches do to memory decides, where they are executed without a GPU."""
    operations: list[str] = field(default_factory=list)
    """Operations of PyTorch that the reference calls, as in ``messages.runner.Load``."""
    properties: list[str] = field(default_factory=list)
    """Those of ``kbx.oracle.serving`` that are asked for, and ``kbx.oracle.properties.SIZED`` if timing follows."""
    expert: int | None = None
    """Another runner, that of an expert's kernel, which is timed beside this one and has arenas of its own."""
    kernels: dict[str, str] = field(default_factory=dict)
    """Compiled ahead, as in ``messages.runner.Rebuilt``, for calls that are made again on a GPU."""


@dataclass
class Opened:
    TYPE: ClassVar[str] = "opened"
    id: int
    entries: list[str]
    arenas: list[ArenaDescription]
    calls: list[CallPlan]
    """In order. Those with a dtype come last. None where sizes are timed."""
    sizes: list[Size]
    seconds: float
    module: Module | None = None
    """Where the entry is a class."""
    scaled: bool = False
    """Whether the calls are smaller than what the task is about, which needs a GPU."""
    constant: bool = False
    """Whether all calls have the same values."""
    core: int | None = None
    """The processor core from which both sides launch timed calls; None: any."""
    expert_arenas: list[ArenaDescription] | None = None
    """Of the expert's runner; None: there is none."""


@dataclass
class Prepare:
    """Fill arena ``in`` with the inputs of one call and poison arena ``out``."""

    TYPE: ClassVar[str] = "prepare"
    id: int
    call: int


@dataclass
class Prepared:
    TYPE: ClassVar[str] = "prepared"
    id: int
    args: list[Tree]
    kwargs: dict[str, Tree]
    idle: bool = False
    """Nothing was prepared: the call could find nothing that earlier ones have not."""


@dataclass
class Check:
    """Compare what the runner left in the arenas for the call last prepared."""

    TYPE: ClassVar[str] = "check"
    id: int
    call: int
    value: Tree
    """The runner's tree, unread by the referee; the oracle treats every field as a claim."""


@dataclass
class Checked:
    TYPE: ClassVar[str] = "checked"
    id: int
    status: Status
    message: str | None = None
    mismatches: list[Mismatch] = field(default_factory=list)
    """The first wrong elements."""
    metrics: dict[str, float] = field(default_factory=dict)
    """``max_abs, max_rel, error_ratio`` (largest error over its tolerance), as numbers; absent when not finite."""
    flags: list[str] = field(default_factory=list)
    published: bool = False
    """Whether the result of a call is right by the published rule alone: form and values, not what the call did beside; false in timed ones."""
    schemes: list[int] = field(default_factory=list)
    """Where the task allows several schemes, the positions of those by which all results of the candidate have been right so far."""
    elsewhere: str | None = None
    """What shows that a right result was not computed by the operations and launches of the candidate, if anything does."""
    account: Origin | None = None
    """Who computed it when the call was made again without the candidate, as it says itself in ``messages.runner.Returned``; None if it was not."""
    digest: str | None = None
    """SHA-256 of the result's bytes, where ``repeatable`` is asked for and the result has the reference's form."""


@dataclass
class Locate:
    """Name the first submodule that differs in a call that is prepared again after its result was wrong: ``value`` is of a runner's call with
    ``parts``."""

    TYPE: ClassVar[str] = "locate"
    id: int
    call: int
    value: Tree


@dataclass
class Located:
    TYPE: ClassVar[str] = "located"
    id: int
    part: str | None = None
    """As ``self.layers.1.norm``; None where none is known to differ."""


@dataclass
class ChangeWeights:
    """Change the reference's weights, for the calls with property ``other_weights``."""

    TYPE: ClassVar[str] = "change_weights"
    id: int


@dataclass
class WeightsChanged:
    TYPE: ClassVar[str] = "weights_changed"
    id: int
    parameters: dict[str, list[int]]
    """Shapes of the reference's parameters by name; with none there is nothing to ask."""


@dataclass
class PrepareSize:
    """Make fresh input sets of one benchmark size, ``sets`` of them or as many as fit the arenas, where no runner sees them."""

    TYPE: ClassVar[str] = "prepare_size"
    id: int
    size: int
    sets: int
    phase: Phase
    """No input comes twice, in any of them."""
    round: int
    """Of that phase, from 0."""


@dataclass
class PreparedSize:
    TYPE: ClassVar[str] = "prepared_size"
    id: int
    flush_bytes: int
    bytes: int | None = None
    """Bytes that the reference reads of its arguments and writes as results, each counted once."""
    flops: int | None = None
    """Floating-point operations of its matrix products and convolutions; absent where it has none, or other heavy work as well."""
    precision: Precision | None = None
    """What those run in; absent where it is not one precision alone."""
    least_bytes: int | None = None
    """What every correct kernel must move; absent where it may leave some out."""
    least_flops: int | None = None
    """What every correct kernel must compute; absent where an algorithm may do with less."""
    uncounted: list[str] = field(default_factory=list)
    """Operations whose work is not in ``flops`` and is more than a few steps for each element: no time follows from the figures."""
    result_bytes: int | None = None
    """What the runner copies to arena ``out`` after each call, outside of its time."""
    copied: bool = False
    """Whether the reference's results are copied after each call as well."""


@dataclass
class LendSize:
    """Copy the sets last prepared to arena ``in`` and poison arena ``out``. Sent just before the candidate is timed, so that it cannot
    start computing earlier."""

    TYPE: ClassVar[str] = "lend_size"
    id: int
    expert: bool = False
    """Whether the arenas are those of the expert's runner."""


@dataclass
class LentSize:
    TYPE: ClassVar[str] = "lent_size"
    id: int
    calls: list[SlottedCall]


@dataclass
class Baseline:
    """Time the reference on the sets last prepared, the way the runner times the candidate."""

    TYPE: ClassVar[str] = "baseline"
    id: int
    lead: int
    """As in ``measure``."""
    warm: bool = False
    """As in ``measure``."""
    graph: bool = False
    """Whether CUDA graphs of the calls are timed."""


@dataclass
class BaselineMeasured:
    TYPE: ClassVar[str] = "baseline_measured"
    id: int
    device_ms: list[float]
    seconds: float
    state: DeviceState = field(default_factory=DeviceState)
    """Of the device right after."""
    state_seconds: float = 0.0
    """What reading the state took, beyond ``seconds``."""
    unrecorded: str | None = None
    """Why there are no graphs of this reference; there are no times then."""
    host_bound: int = 0
    """Calls that the device got to before the host had launched all of them: it may have waited for the host."""
    peak_bytes: int | None = None
    """The most that a call held of the device's memory, its result included, beyond what was held before."""


@dataclass
class CheckSize:
    """Compare the results of timed calls ``slots`` (positions in the batch) with the truth."""

    TYPE: ClassVar[str] = "check_size"
    id: int
    slots: list[int]
    values: list[Tree]
    expert: bool = False
    """As in ``lend_size``."""


@dataclass
class Close:
    """Drop the candidate's arenas, and what was compiled."""

    TYPE: ClassVar[str] = "close"
    id: int


@dataclass
class Closed:
    TYPE: ClassVar[str] = "closed"
    id: int


@dataclass
class CompileBaseline:
    """Compile the reference of a task for one benchmark size and look at its result. Needs no ``open``; an oracle that is
    started for this alone does it, which compilers may take down with them."""

    TYPE: ClassVar[str] = "compile_baseline"
    id: int
    task: str
    """Path of the task file."""
    seed: str
    size: int
    kind: str
    """``compile`` or ``max-autotune``."""
    dtype: str | None = None
    """As in ``trace_shapes``."""


@dataclass
class BaselineCompiled:
    TYPE: ClassVar[str] = "baseline_compiled"
    id: int
    seconds: float
    failure: str | None = None
    """Why there is no such baseline: it cannot be compiled, or its result is wrong."""


@dataclass
class CompareBaseline:
    """Time eager and compiled reference, one after the other, on ``sets`` fresh input sets of what was last compiled."""

    TYPE: ClassVar[str] = "compare_baseline"
    id: int
    sets: int
    round: int
    lead: int
    warm: bool = False
    """Both as in ``measure``."""


@dataclass
class BaselineCompared:
    """As many times of either as sets had room."""

    TYPE: ClassVar[str] = "baseline_compared"
    id: int
    eager_ms: list[float]
    compiled_ms: list[float]
    seconds: float
    state: DeviceState | None = None
    """As in ``baseline_measured``."""


@dataclass
class Probe:
    """Probe the device: allocate, compute, compare. Sent after a candidate's fault, before anybody else uses the device."""

    TYPE: ClassVar[str] = "probe"
    id: int


@dataclass
class Probed:
    TYPE: ClassVar[str] = "probed"
    id: int
    seconds: float


@dataclass
class MeasurePeaks:
    """Measure the device's copy bandwidth and matrix rates once."""

    TYPE: ClassVar[str] = "measure_peaks"
    id: int
    glance: bool = False
    """Measure only a few long float32 products: enough to detect that another process keeps the device busy."""


@dataclass
class Peaks:
    TYPE: ClassVar[str] = "peaks"
    id: int
    rates: Rates
    """What was measured, nothing else."""
    state: DeviceState = field(default_factory=DeviceState)
    """As in ``baseline_measured``, right after."""


REQUESTS: tuple[type[Request], ...] = (
    TraceShapes,
    TraceLargestShapes,
    EstimateMemory,
    VerifyTask,
    Open,
    Prepare,
    Check,
    Locate,
    ChangeWeights,
    PrepareSize,
    LendSize,
    Baseline,
    CheckSize,
    Close,
    CompileBaseline,
    CompareBaseline,
    Probe,
    MeasurePeaks,
)
ANSWERS: tuple[type[Message], ...] = (
    Hello,
    Failed,
    ShapesTraced,
    LargestShapesTraced,
    MemoryEstimated,
    TaskVerified,
    Opened,
    Prepared,
    Checked,
    Located,
    WeightsChanged,
    PreparedSize,
    LentSize,
    BaselineMeasured,
    Closed,
    BaselineCompiled,
    BaselineCompared,
    Probed,
    Peaks,
)
