"""Messages between referee and oracle. In order: about a task, a candidate's calls, its benchmark sizes, the device."""

from dataclasses import dataclass, field
from typing import ClassVar

from kbx.messages import Failed, Hello


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
    entries: list
    calls: list
    """``{"args", "kwargs", "timed"}``: value trees whose tensors have ``shape, stride, dtype`` and lie nowhere, and whether it is one of
    a benchmark size. Calls whose shapes depend on values are left out."""
    module: dict | None = None
    """As in ``opened``."""
    updates: list = field(default_factory=list)
    """Names of the arguments that the entry updates in place, which are judged."""


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
    entries: list
    shape: str
    """The size in words, as in ``opened``."""
    call: dict
    """As one of ``shapes_traced``, with ``module`` where the entry is a class, as in ``opened``."""


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
    controls: list
    """``name, kind`` (positive, negative), ``ok``, ``status`` (what the comparison said), ``detail``, ``line`` (or None)."""
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
    timed: bool = True
    """Whether benchmark sizes will be asked for: they need large arenas."""
    lent: int = 0
    returned: int = 0
    """Bytes that the arenas hold at least, as in ``memory_estimated``."""
    alone: bool = False
    """Whether the candidate has the device exclusively. Only then may the oracle skip the float64 truth if memory is short."""
    published: bool = False
    """Whether values are compared by the tolerances that the authors of the suite publish, not by the error model."""
    dtype: str | None = None
    """As in ``trace_shapes``."""
    schemes: list = field(default_factory=list)
    """As the last ``checked`` of an earlier session of the candidate had it."""


@dataclass
class Opened:
    TYPE: ClassVar[str] = "opened"
    id: int
    entries: list
    arenas: list
    calls: list
    """In order: ``index, case`` (text), ``distribution, repeats`` (index of the call whose inputs this one repeats), ``properties``,
    and ``dtype``, what module and arguments are cast to for this call (or None). Those with a dtype come last."""
    sizes: list
    """Benchmark sizes: ``index, shape`` (text)."""
    seconds: float
    module: dict | None = None
    """The entry is a class: value trees ``init`` of its constructor's arguments, ``seed``, which its weights come from, and
    ``dtype``, what they are cast to, where they are."""
    scaled: bool = False
    """Whether the calls are smaller than what the task is about, which needs a GPU."""
    core: int | None = None
    """The processor core from which both sides launch timed calls; None: any."""


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
    args: list
    kwargs: dict


@dataclass
class Check:
    """Compare what the runner left in the arenas for the call last prepared."""

    TYPE: ClassVar[str] = "check"
    id: int
    call: int
    value: dict
    """The runner's tree, unread by the referee; the oracle treats every field as a claim."""


@dataclass
class Checked:
    TYPE: ClassVar[str] = "checked"
    id: int
    status: str
    """``correct`` or one of the verdict statuses of the correctness stage."""
    message: str | None = None
    mismatches: list = field(default_factory=list)
    """First wrong elements: ``output`` (a path such as ``output[0]``), ``index`` (a list), ``expected`` and ``got`` (text)."""
    metrics: dict = field(default_factory=dict)
    """``max_abs, max_rel, error_ratio`` (largest error over its tolerance), as numbers; absent when not finite."""
    flags: list = field(default_factory=list)
    schemes: list = field(default_factory=list)
    """Where the task allows several schemes, the positions of those by which all results of the candidate have been right so far."""


@dataclass
class ChangeWeights:
    """Change the reference's weights, for the calls with property ``other_weights``."""

    TYPE: ClassVar[str] = "change_weights"
    id: int


@dataclass
class WeightsChanged:
    TYPE: ClassVar[str] = "weights_changed"
    id: int
    parameters: dict
    """Shapes of the reference's parameters by name; with none there is nothing to ask."""


@dataclass
class PrepareSize:
    """Make fresh input sets of one benchmark size, ``sets`` of them or as many as fit the arenas, where no runner sees them."""

    TYPE: ClassVar[str] = "prepare_size"
    id: int
    size: int
    sets: int
    phase: str
    """``alone, launched, recording, replayed, slow, still_slow, alone_again`` or ``graphs_alone``: no input comes twice, in any of
    them."""
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
    precision: str | None = None
    """What those run in: ``fp64, fp32, tf32, fp16, bf16, int8``; absent where it is not one of them alone."""
    least_bytes: int | None = None
    """What every correct kernel must move; absent where it may leave some out."""
    least_flops: int | None = None
    """What every correct kernel must compute; absent where an algorithm may do with less."""
    uncounted: list = field(default_factory=list)
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


@dataclass
class LentSize:
    TYPE: ClassVar[str] = "lent_size"
    id: int
    calls: list
    """As in ``measure``."""


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
    device_ms: list
    seconds: float
    state: dict = field(default_factory=dict)
    """Of the device right after: ``sm_mhz, memory_mhz, celsius, watts``, and ``throttle``, names of why clocks are held down."""
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
    slots: list
    values: list


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
    eager_ms: list
    compiled_ms: list
    seconds: float
    state: dict | None = None
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
    rates: dict
    """``copy_gbs, empty_ms, launch_ms`` and ``tflops``, a dictionary by precision: what was measured, nothing else."""
    state: dict = field(default_factory=dict)
    """As in ``baseline_measured``, right after."""


REQUESTS = (
    TraceShapes,
    TraceLargestShapes,
    EstimateMemory,
    VerifyTask,
    Open,
    Prepare,
    Check,
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
ANSWERS = (
    Hello,
    Failed,
    ShapesTraced,
    LargestShapesTraced,
    MemoryEstimated,
    TaskVerified,
    Opened,
    Prepared,
    Checked,
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
