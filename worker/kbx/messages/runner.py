"""Messages between referee and runner. The runner is untrusted: its answers are claims."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypedDict

from kbx.messages import ArenaDescription, Message, Module, Origin, ProfiledCall, Request, SlottedCall, TracedCall, Tree


class _AnyCompiled(TypedDict):
    kernel: str
    arch: str


class Compiled(_AnyCompiled, total=False):
    """A launch signature that was compiled; what is not known is absent or None."""

    registers: int | None
    shared_bytes: int | None
    spills: int | None
    seconds: float | None


class Frame(TypedDict):
    """A line of the candidate's."""

    line: int
    function: str
    text: str


class _AnyKernel(TypedDict):
    kernel: str


class ProfiledKernel(_AnyKernel, total=False):
    """A kernel by its name: ``launches`` of that name; of its longest launch, percentages of the device's peaks, ``stall`` (what its
    warps mostly waited for) and ``stall_pct``. What is not known is absent."""

    launches: int
    duration_ms: float
    registers: int
    achieved_occupancy_pct: float
    theoretical_occupancy_pct: float
    dram_pct: float
    sm_pct: float
    stall: str
    stall_pct: float


class Untried(TypedDict):
    """Autotuners have ``configurations`` that have not run, and calls like those of this ``tuning``, made with another one, run some of
    them. Never a negative one."""

    tuning: int
    configurations: int


@dataclass
class Attach:
    """Map the candidate's two arenas: ``in`` (arguments) and ``out`` (results)."""

    TYPE: ClassVar[str] = "attach"
    id: int
    arenas: list[ArenaDescription]


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
    entries: list[str]
    """Names to try, in order."""
    operations: list[str] = field(default_factory=list)
    """PyTorch functions that the reference calls: where one of them moves data, moving data is the work."""
    files: dict[str, str] = field(default_factory=dict)
    """Binaries that ``precompiled`` of another runner of the same source had; installed before the import."""
    timed: bool = False
    """Whether the candidate has the device exclusively, so that its own timing is meaningful: then autotuning is not shortened."""
    cpp: bool = False
    """Whether the candidate's own C++ may compute the result, as its Triton kernels may."""
    core: int | None = None
    """The processor to launch from, as in ``opened``."""
    memory_checks: bool = True
    """Whether kernels that leave their tensors are looked for, where they run on a GPU."""


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
    module: Module
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
    parameters: dict[str, list[int]]
    """As in ``weights_changed``."""


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
    calls: list[TracedCall]
    seconds: float
    """After this long no further call is begun."""


@dataclass
class Precompiled:
    TYPE: ClassVar[str] = "precompiled"
    id: int
    files: dict[str, str]
    """Base64 by path: ``triton/…`` of Triton's cache, ``libraries/…`` made of C++."""
    kernels: int
    """Launch signatures that were compiled."""
    whole: bool
    """Whether every call was made in the time given."""
    seconds: float
    left_out: list[str] = field(default_factory=list)
    """``triton, libraries``: which of these did not fit a frame. ``files`` then has no library, or not every kernel."""
    requests: list[str] = field(default_factory=list)
    """For ``rebuild``, some of those that the kernels are compiled for."""


@dataclass
class Rebuild:
    """Compile kernels from descriptions of them, in a runner without arenas and GPU that has not loaded the candidate and never will."""

    TYPE: ClassVar[str] = "rebuild"
    id: int
    source: str
    """Of the candidate."""
    requests: list[str]
    """As ``precompiled`` has them."""
    seconds: float
    """After this long no kernel is waited for."""


@dataclass
class Rebuilt:
    TYPE: ClassVar[str] = "rebuilt"
    id: int
    kernels: dict[str, str]
    """As ``kbx.executor.compiler.loadable`` has them, by its ``key_of``; none of those that do not compile."""
    seconds: float


@dataclass
class Call:
    """Call the entry once; place the result in arena ``out`` from its start."""

    TYPE: ClassVar[str] = "call"
    id: int
    args: list[Tree]
    kwargs: dict[str, Tree] = field(default_factory=dict)
    tuning: int | None = None
    """Without a GPU, calls with the same number take the same configurations of autotuners, and one with a new number takes some that
    have not run yet. Negative for an earlier call that is made again, with others. None: the first."""
    parts: bool = False
    """The result is samples of what the module's submodules return, as ``kbx.parts.noted`` has them."""
    under: Literal["stream", "capture", "replay", "large"] | None = None
    """As ``kbx.runner.serving`` makes the call, on a GPU but for ``large``. What ``capture`` returns is not run; with ``large`` the tensor leaves
    marked ``repeated`` have their rows many times, and the result is the last rows."""


@dataclass
class Compiling:
    """Sent unasked, in a call or an import: Triton begins to compile, or has ended. That is not the call's own time."""

    TYPE: ClassVar[str] = "compiling"
    begun: bool


@dataclass
class Returned:
    """What the entry returned; tensors are copied, contiguous, into arena ``out``."""

    TYPE: ClassVar[str] = "returned"
    id: int
    value: Tree
    """Tensor leaves carry besides ``offset, shape, dtype, stride``: ``own_stride`` (of the candidate's tensor), ``device`` and ``aliases`` (index of the argument tensor whose storage it shares, in order of appearance) and ``reused`` (whether the last call's result lies there, too)."""
    seconds: float
    launches: int
    """Triton launches seen during this call."""
    compiled: list[Compiled] = field(default_factory=list)
    """Launch signatures compiled since the last answer."""
    origin: Origin | None = None
    """Who made the result."""
    ran: list[str] | None = None
    """For a runner that is timed, PyTorch's operations that computed in this call, parts of others included."""
    configurations: list[str] = field(default_factory=list)
    """Without a GPU, what autotuned kernels ran with in this call, as ``kernel(BLOCK=64, num_warps=4)``."""
    untried: Untried | None = None
    """None on a GPU, and where every configuration has run."""
    unguarded: list[str] = field(default_factory=list)
    """On a GPU, what of this call could access memory outside of its tensors unnoticed."""


@dataclass
class Raised:
    """Loading or calling failed inside the runner."""

    TYPE: ClassVar[str] = "raised"
    id: int
    kind: Literal[
        "syntax", "import", "no_entry", "compile", "runtime", "memory", "out_of_bounds", "unsupported", "exit"
    ]
    exception: str
    """Qualified name of the exception's type."""
    message: str
    frames: list[Frame] = field(default_factory=list)
    """Candidate frames, outermost first."""
    feature: str | None = None
    """With ``unsupported``: what cannot run without a GPU."""
    compiled: list[Compiled] = field(default_factory=list)


@dataclass
class Measure:
    """Time the entry on argument sets ``calls``, one call each; results go to arena ``out``, one slot a call."""

    TYPE: ClassVar[str] = "measure"
    id: int
    calls: list[SlottedCall]
    flush_bytes: int
    """Written before each call so that L2 is cold."""
    lead: int
    """Number of flushes before each call, which give the host time to launch it. With 0 the device waits for the host, and the time
    includes launching."""
    warm: bool = False
    """Whether the arguments are read right before the call, so that as much of them as fits is in L2."""


@dataclass
class RecordCalls:
    """Record the entry on each of ``calls`` (as in ``measure``) as a CUDA graph. Nothing of it runs yet: other values will lie
    where these do."""

    TYPE: ClassVar[str] = "record_calls"
    id: int
    calls: list[SlottedCall]


@dataclass
class CallsRecorded:
    TYPE: ClassVar[str] = "calls_recorded"
    id: int
    seconds: float
    origins: list[Origin | None]
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
    """The runner's times of a batch: device time by its events. A claim; the referee checks it by its own clock."""

    TYPE: ClassVar[str] = "measured"
    id: int
    device_ms: list[float]
    values: list[Tree]
    """Of each call's result."""
    seconds: float
    host_bound: int = 0
    """As in ``baseline_measured``."""
    peak_bytes: int | None = None
    """As in ``baseline_measured``."""
    ran: list[list[str]] | None = None
    """For each call, PyTorch's operations that computed in it, parts of others included."""


@dataclass
class Profile:
    """Call the entry once under Nsight Compute, in a process of its own below this one; no arenas, and nothing loaded before.
    For a runner that was spawned with ``loopback``."""

    TYPE: ClassVar[str] = "profile"
    id: int
    source: str
    entries: list[str]
    files: dict[str, str]
    """As in ``load``."""
    call: ProfiledCall
    """The process makes the values."""
    seconds: float
    """After this long Nsight Compute is ended."""


@dataclass
class Profiled:
    TYPE: ClassVar[str] = "profiled"
    id: int
    seconds: float
    kernels: list[ProfiledKernel] | None = None
    """Those that took most time, first."""
    failure: str | None = None
    """Why there are no figures, in one line."""


REQUESTS: tuple[type[Request], ...] = (
    Attach,
    Load,
    Construct,
    TakeState,
    Precompile,
    Rebuild,
    Call,
    Measure,
    RecordCalls,
    ReplayCalls,
    Profile,
)
ANSWERS: tuple[type[Message], ...] = (
    Attached, Loaded, Constructed, StateTaken, Precompiled, Rebuilt, Compiling, Returned, Raised, CallsRecorded, Measured, Profiled,
)  # fmt: skip
