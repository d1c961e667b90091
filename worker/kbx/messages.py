"""Every message of the protocol, as a dataclass; ``docs/protocol.md`` is the same list in prose.

Requests carry an ``id`` that the reply repeats. ``None`` means absent. Times are seconds, sizes are bytes.
"""

from dataclasses import dataclass, field
from typing import ClassVar

# ---------------------------------------------------------------- either side of a start


@dataclass
class Hello:
    """First frame of oracle and zygote, unasked."""

    TYPE: ClassVar[str] = "hello"
    protocol: int
    role: str
    """``oracle`` or ``zygote``."""
    pid: int
    versions: dict
    """``kbx, python, torch, triton``, and from a zygote ``nvcc, cxx`` (absent where not installed)."""
    device: dict | None = None
    """Oracle only: ``kind`` (cpu, cuda), ``name``, ``arch``, and on a GPU ``uuid, driver, memory_bytes, host_bytes``."""
    data_address: str | None = None
    """Oracle on the CPU: the abstract Unix socket on which it hands arenas to runners."""
    lacks: str | None = None
    """Zygote: what this machine lacks to compile CUDA C++, as a sentence; absent where it can."""


@dataclass
class Failed:
    """The answer to a request of the trusted side that could not be served."""

    TYPE: ClassVar[str] = "failed"
    id: int
    reason: str
    """``invalid_task`` (the task file is wrong), ``unsupported``, ``memory`` (the device has too little now) or ``internal``."""
    message: str
    file: str | None = None
    line: int | None = None


# ---------------------------------------------------------------- referee -> zygote, and back


@dataclass
class Spawn:
    """Fork a sandboxed runner that talks on channel ``runner``."""

    TYPE: ClassVar[str] = "spawn"
    id: int
    runner: int
    device: str
    """``cpu`` or ``cuda``."""
    device_index: int = 0
    device_uuid: str | None = None
    """The GPU's name as the oracle sees it; the runner's ``/dev`` then has no other GPU."""
    arch: str = "sm_90"
    """What launches are compiled for when there is no GPU."""
    data_address: str | None = None
    uid: int | None = None
    """User id the runner drops to when the zygote is root."""
    memory_bytes: int = 8 << 30
    cpu_seconds: int = 600
    processes: int = 256
    file_bytes: int = 512 << 20
    timed: bool = False
    """Whether its calls will be timed, which takes a clock and a CUDA context in which kernels run side by side as in any process.
    Another's has one connection to the device, and is made and ended in half the time."""
    loopback: bool = False
    """Whether it may connect to itself, in a network namespace of its own: a profiler talks that way to what it profiles. Refused
    where the runner has no such namespace, or sees the machine's files."""


@dataclass
class Spawned:
    """The runner is forked, sandboxed and listening."""

    TYPE: ClassVar[str] = "spawned"
    id: int
    runner: int
    seconds: float
    protections: list
    """``{"name", "active", "detail"}`` for each protection: what ``kbx doctor`` prints."""


@dataclass
class Kill:
    """End a runner and every process it started; answered by ``exited``."""

    TYPE: ClassVar[str] = "kill"
    runner: int


@dataclass
class Exited:
    """A runner's tree is gone. ``reason``: ``exit, signal, memory, protocol, killed``."""

    TYPE: ClassVar[str] = "exited"
    runner: int
    reason: str
    code: int | None = None
    signal: int | None = None
    peak_bytes: int | None = None
    detail: str | None = None
    output: str | None = None
    """The end of what the candidate printed on stdout and stderr (at most 8 KiB)."""


# ---------------------------------------------------------------- referee -> runner, and back (untrusted)


@dataclass
class Attach:
    """Map the candidate's two arenas: ``in`` (arguments) and ``out`` (results)."""

    TYPE: ClassVar[str] = "attach"
    id: int
    arenas: list
    """``{"name", "bytes"}`` and on a GPU ``handle`` (hex of a CUDA IPC handle); on the CPU memfds come by socket."""


@dataclass
class Attached:
    TYPE: ClassVar[str] = "attached"
    id: int
    seconds: float


@dataclass
class Load:
    """Import the candidate's source and find its entry."""

    TYPE: ClassVar[str] = "load"
    id: int
    source: str
    entries: list
    """Names to try, in order."""
    operations: list = field(default_factory=list)
    """PyTorch functions that the reference calls: where one of them moves data, moving data is the work."""
    files: dict = field(default_factory=dict)
    """What ``precompiled`` brought from another runner of the same source, put in place before the import."""
    timed: bool = False
    """Whether the candidate has the device alone, so that its own clocks are worth reading: autotuning takes its time."""
    cpp: bool = False
    """Whether the candidate's own C++ may compute the result, as its Triton kernels may."""
    core: int | None = None
    """The processor to launch from, as in ``opened``."""


@dataclass
class Loaded:
    TYPE: ClassVar[str] = "loaded"
    id: int
    entry: str
    seconds: float


@dataclass
class Construct:
    """The entry is a class: calls from now on are those of its instance."""

    TYPE: ClassVar[str] = "construct"
    id: int
    module: dict
    """As in ``opened``."""
    shapes: bool = False
    """Whether weights need no values, only shapes: it is constructed for compiling ahead."""


@dataclass
class Constructed:
    TYPE: ClassVar[str] = "constructed"
    id: int
    seconds: float


@dataclass
class TakeState:
    """Give the instance other weights, as ``kbx.state`` makes them of those it has."""

    TYPE: ClassVar[str] = "take_state"
    id: int
    parameters: dict
    """As in ``restated``."""


@dataclass
class StateTaken:
    TYPE: ClassVar[str] = "state_taken"
    id: int
    taken: bool
    """Whether it has parameters of those names and shapes, and no others; nothing is changed otherwise."""
    seconds: float


@dataclass
class Precompile:
    """Compile what the entry launches on these arguments, and run none of it. For a runner that has no arenas and no GPU."""

    TYPE: ClassVar[str] = "precompile"
    id: int
    calls: list
    """``{"args", "kwargs"}`` as in ``outlined``."""
    seconds: float
    """After this long no further call is begun."""


@dataclass
class Precompiled:
    TYPE: ClassVar[str] = "precompiled"
    id: int
    files: dict
    """Base64 by path: ``triton/…`` of Triton's cache, ``libraries/…`` made of C++."""
    kernels: int
    """Launch signatures that were compiled."""
    whole: bool
    """Whether every call was made in the time given."""
    seconds: float
    left_out: list = field(default_factory=list)
    """``triton, libraries``: which of these did not fit a frame. ``files`` then has no library, or not every kernel."""


@dataclass
class Call:
    """Call the entry once; place the result in arena ``out`` from its start."""

    TYPE: ClassVar[str] = "call"
    id: int
    args: list
    """Value trees."""
    kwargs: dict = field(default_factory=dict)


@dataclass
class Returned:
    """What the entry returned; tensors are copied, contiguous, into arena ``out``."""

    TYPE: ClassVar[str] = "returned"
    id: int
    value: dict
    """Value tree. Tensor leaves carry besides ``offset, shape, dtype, stride``: ``own_stride`` (of the candidate's tensor), ``device`` and ``aliases`` (index of the argument tensor whose storage it shares, in order of appearance)."""
    seconds: float
    launches: int
    """Triton launches seen during this call."""
    compiled: list = field(default_factory=list)
    """Launch signatures compiled since the last answer: ``kernel, arch, registers, shared_bytes, spills, seconds``."""
    origin: dict | None = None
    """Who made the result: ``elements, own, volume, foreign, operations``, see ``kbx.runner.ledger``."""


@dataclass
class Raised:
    """Loading or calling failed inside the runner."""

    TYPE: ClassVar[str] = "raised"
    id: int
    kind: str
    """``syntax, import, no_entry, compile, runtime, memory, unsupported, exit``."""
    exception: str
    """Qualified name of the exception's type."""
    message: str
    frames: list = field(default_factory=list)
    """Candidate frames, outermost first: ``line, function, text``."""
    feature: str | None = None
    """With ``unsupported``: the feature that this machine's interpreter lacks."""
    compiled: list = field(default_factory=list)


@dataclass
class Measure:
    """Time the entry on argument sets ``calls``, one call each; results go to arena ``out``, one slot a call."""

    TYPE: ClassVar[str] = "measure"
    id: int
    calls: list
    """``{"args", "kwargs", "slot"}``; ``slot`` is the offset in arena ``out`` where this call's result goes."""
    flush_bytes: int
    """Written before each call so that L2 is cold."""
    lead: int
    """How many times, one after another: so long the device is behind when the call begins, so that the host can launch it. With 0 it
    waits for the host, and launching is part of what is timed."""
    warm: bool = False
    """Whether the arguments are read right before the call, so that as much of them as fits is in L2."""


@dataclass
class RecordCalls:
    """Record the entry on each of ``calls`` (as in ``measure``) as a CUDA graph. Nothing of it runs yet: other values will lie
    where these do."""

    TYPE: ClassVar[str] = "record_calls"
    id: int
    calls: list


@dataclass
class CallsRecorded:
    TYPE: ClassVar[str] = "calls_recorded"
    id: int
    seconds: float
    origins: list
    """Of each call, as in ``returned``."""


@dataclass
class ReplayCalls:
    """Time the graphs last recorded, as ``measure`` times calls; the answer is ``measured``."""

    TYPE: ClassVar[str] = "replay_calls"
    id: int
    flush_bytes: int
    lead: int
    warm: bool = False


@dataclass
class Measured:
    """The runner's own account of a batch: device time by its events. Untrusted; the referee holds a clock of its own."""

    TYPE: ClassVar[str] = "measured"
    id: int
    device_ms: list
    values: list
    """Value tree of each call's result."""
    seconds: float
    host_bound: int = 0
    """As in ``baseline_measured``."""


@dataclass
class Profile:
    """Call the entry once under Nsight Compute, in a process of its own below this one; no arenas, and nothing loaded before.
    For a runner that was spawned with ``loopback``."""

    TYPE: ClassVar[str] = "profile"
    id: int
    source: str
    entries: list
    files: dict
    """As in ``load``."""
    call: dict
    """As in ``outlined_largest``; the process makes the values."""
    seconds: float
    """After this long Nsight Compute is ended."""


@dataclass
class Profiled:
    TYPE: ClassVar[str] = "profiled"
    id: int
    seconds: float
    kernels: list | None = None
    """Those that took most time, first: ``kernel``, ``launches`` (of that name), and of its longest launch ``duration_ms,
    registers, achieved_occupancy_pct, theoretical_occupancy_pct, dram_pct, sm_pct`` (of the device's peaks), ``stall`` (what its
    warps mostly waited for) and ``stall_pct``. What is not known is not there."""
    failure: str | None = None
    """Why there are no figures, in one line."""


# ---------------------------------------------------------------- referee -> oracle, and back


@dataclass
class Outline:
    """What the calls and benchmark sizes of a task look like, values apart. Needs no device and no ``open``."""

    TYPE: ClassVar[str] = "outline"
    id: int
    task: str
    """Path of the task file."""
    timed: bool
    """Whether benchmark sizes are wanted too."""


@dataclass
class Outlined:
    TYPE: ClassVar[str] = "outlined"
    id: int
    entries: list
    calls: list
    """``{"args", "kwargs"}``: value trees whose tensors have ``shape, stride, dtype`` and lie nowhere. Calls whose shapes
    depend on values are left out."""
    module: dict | None = None
    """As in ``opened``."""


@dataclass
class OutlineLargest:
    """What a call of a task's largest benchmark size looks like, values apart. Needs no ``open``."""

    TYPE: ClassVar[str] = "outline_largest"
    id: int
    task: str
    """Path of the task file."""


@dataclass
class OutlinedLargest:
    TYPE: ClassVar[str] = "outlined_largest"
    id: int
    entries: list
    shape: str
    """The size in words, as in ``opened``."""
    call: dict
    """As one of ``outlined``, with ``module`` where the entry is a class, as in ``opened``."""


@dataclass
class Weigh:
    """How large a task's calls are on a GPU. Needs no device and no ``open``."""

    TYPE: ClassVar[str] = "weigh"
    id: int
    task: str
    """Path of the task file."""


@dataclass
class Weighed:
    """All 0 for a task whose cases are small by design, and where only values tell."""

    TYPE: ClassVar[str] = "weighed"
    id: int
    lent: int
    """Bytes of arena ``in`` that a call's arguments take."""
    returned: int
    """Bytes of arena ``out`` that a result takes."""
    weights: int
    """What a module holds once it is constructed."""
    device: int
    """What judging the task takes of the device when it takes most, in the oracle and in an honest runner."""


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
    """Bytes that the arenas hold at least, as in ``weighed``."""
    alone: bool = False
    """Whether nobody else uses the device: where memory is short, results are then compared without a truth in float64."""
    published: bool = False
    """Whether values are compared by the tolerances that the authors of the suite publish, not by the error model."""


@dataclass
class Opened:
    TYPE: ClassVar[str] = "opened"
    id: int
    entries: list
    arenas: list
    calls: list
    """In order: ``index, case`` (text), ``distribution, repeats`` (index of the call whose inputs this one repeats)."""
    sizes: list
    """Benchmark sizes: ``index, shape`` (text)."""
    seconds: float
    module: dict | None = None
    """The entry is a class: value trees ``init`` of its constructor's arguments, and ``seed``, which its weights come from."""
    scaled: bool = False
    """Whether the calls are smaller than what the task is about, which needs a GPU."""
    core: int | None = None
    """The processor from which both sides launch what is timed; without one, any."""


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


@dataclass
class Restate:
    """Give the reference other weights, for one more call. Nothing can be asked of the earlier calls then."""

    TYPE: ClassVar[str] = "restate"
    id: int


@dataclass
class Restated:
    TYPE: ClassVar[str] = "restated"
    id: int
    call: int
    """To be prepared and checked like any other."""
    parameters: dict
    """Shapes of the reference's parameters by name; with none there is nothing to ask."""


@dataclass
class PrepareSize:
    """Make fresh input sets of one benchmark size, ``sets`` of them or as many as fit the arenas, where no runner sees them."""

    TYPE: ClassVar[str] = "prepare_size"
    id: int
    size: int
    sets: int
    round: int


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
    """Copy the sets last prepared to arena ``in`` and poison arena ``out``: just before they are timed, so that nobody can
    begin with them earlier."""

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
class VerifyTask:
    """Run a task's own controls: honest results must pass, spoiled ones must fail."""

    TYPE: ClassVar[str] = "verify_task"
    id: int
    task: str
    seed: str
    alone: bool = False
    """As in ``open``."""


@dataclass
class TaskVerified:
    TYPE: ClassVar[str] = "task_verified"
    id: int
    controls: list
    """``name, kind`` (positive, negative), ``ok``, ``status`` (what the comparison said), ``detail``, ``line`` (or None)."""
    seconds: float


@dataclass
class Probe:
    """Use the device a little: allocate, compute, compare. After a candidate's fault nobody else uses it before."""

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
    """A few long products of float32 alone: enough to see whether somebody else keeps the device busy."""


@dataclass
class Peaks:
    TYPE: ClassVar[str] = "peaks"
    id: int
    figures: dict
    """``copy_gbs, empty_ms, launch_ms, fp32_tflops, fp16_tflops, …``: what was measured, nothing else."""
    state: dict = field(default_factory=dict)
    """As in ``baseline_measured``, right after."""


TO_ZYGOTE = (Spawn, Kill)
FROM_ZYGOTE = (Hello, Spawned, Exited, Failed)
TO_RUNNER = (Attach, Load, Construct, TakeState, Precompile, Call, Measure, RecordCalls, ReplayCalls, Profile)
FROM_RUNNER = (
    Attached,
    Loaded,
    Constructed,
    StateTaken,
    Precompiled,
    Returned,
    Raised,
    Measured,
    CallsRecorded,
    Profiled,
)
TO_ORACLE = (
    Outline, OutlineLargest, Weigh, Open, Prepare, Check, Restate, PrepareSize, LendSize, Baseline, CheckSize, Close, VerifyTask, Probe, MeasurePeaks,
    CompileBaseline, CompareBaseline,
)  # fmt: skip
FROM_ORACLE = (
    Hello, Failed, Outlined, OutlinedLargest, Weighed, Opened, Prepared, Checked, Restated, PreparedSize, LentSize, BaselineMeasured, Closed, TaskVerified, Probed,
    Peaks, BaselineCompiled, BaselineCompared,
)  # fmt: skip
