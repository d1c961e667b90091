"""The runner's loop: loads one candidate, calls it on tensors in arenas, and replies with its results or failure.

This process runs the candidate and is untrusted: every answer is a claim, which the oracle checks against the contents of
the arenas. So this module does not defend itself against the candidate.
"""

import contextlib
import json
import os
import random
import time
import traceback
import types

import torch
import triton

from kbx import clock, cores, graphs, parts, precision, protocol, results, shapes, standins, tensors
from kbx.executor import ahead as rebuilt
from kbx.executor import compiler, recorder, server
from kbx.messages import runner as messages
from kbx.runner import (
    ahead,
    arenas,
    backward,
    compilation,
    compiling,
    cuda_on_cpu,
    execution,
    extensions,
    gaps,
    guards,
    kernel_packages,
    launches,
    linux,
    module,
    native,
    profile,
    seccomp,
    serving,
    storages,
    trace,
    tuning,
    witness,
)
from kbx.runner.ledger import Ledger

SOURCE = "candidate.py"
BESIDE = {
    "cpu": types.SimpleNamespace(execute=server.serve, compile_for=compiler.serve),
    "cuda": types.SimpleNamespace(execute=recorder.serve, compile_for=compiler.serve),
}
"""What runs beside a runner, by its device."""
# Taken before any candidate is loaded.
_wait_for_device = getattr(torch._C, "_cuda_synchronize", None)  # absent from builds without CUDA

_MESSAGE_CHARS = 2000
_FRAMES = 20


def warm():
    """Loads and compiles, once in the process that runners are forked from, what each runner would need."""
    standins.install()
    launches.warm()
    native.prepare()
    witness.warm()


def before_fork(spawn):
    """The same for what only some runners need, once: on a GPU what guards launches, and for modules on shapes alone, ahead of a device,
    what takes a second or two."""
    if spawn.device == "cuda":
        guards.assemble(spawn.arch)
    if spawn.shapes:
        shapes.warm()


def serve(sock, data_sock, spawn, executor=None):
    """Answers requests on ``sock`` until it closes, then ends the process.

    ``spawn`` is the Spawn message of this runner; on the CPU ``data_sock`` brings the arenas, and ``executor`` (of
    ``kbx.executor.channel``) runs kernels, which without one are compiled here and not run; on a GPU there is no ``data_sock``, and what is
    called an executor keeps records. The working folder must be the runner's scratch folder.
    """
    # PyTorch replaces the thread pool lost in a fork when the number of threads is next set. The threads of backward set it
    # concurrently, and one that finds no pool ends the process, so it is set here, with a single thread.
    torch.set_num_threads(1)
    bench = Bench(spawn, data_sock, executor)
    reader, writer = sock.makefile("rb"), sock.makefile("wb")

    def send(message):
        protocol.write_frame(writer, protocol.encode(message))  # one write, so that threads do not mix their frames

    compiling.tell(lambda begun: send(messages.Compiling(begun)))
    while (frame := protocol.read_frame(reader)) is not None:
        request = protocol.decode(frame[1], messages.REQUESTS)
        send(bench.answer(request))
    os._exit(0)


class Bench:
    """State of one candidate: its arenas, its module, its entry."""

    def __init__(self, spawn, data_sock, executor=None):
        self._spawn, self._data_sock, self._executor = spawn, data_sock, executor
        precision.plain()
        self._emulated = spawn.device == "cpu"
        self._device = cuda_on_cpu.DEVICE if self._emulated else torch.device("cuda", 0)
        self._arenas, self._entry, self._path, self._source = {}, None, os.path.abspath(SOURCE), ""
        self._kind = self._instance = None
        self._clock = self._graphs = None
        self._recorded = [], []
        self._served_under = self._heap = None
        self._witness = None
        self._guarded, self._guards, self._unguarded = False, None, []
        self._turn, self._told = 0, None
        self._rotation = tuning.Rotation()
        backward.install()
        self._results = storages.Results()
        if self._emulated:
            launches.emulate(spawn.arch)
            cuda_on_cpu.install(spawn.arch)
        else:
            # Initializes the driver without using the device; the first message creates the context and reports errors.
            with contextlib.suppress(RuntimeError, AssertionError):
                torch.cuda.init()
        self._launches = launches.LaunchLog()
        self._launches.install()

    def answer(self, request):
        """The reply to one request; any failure is a reply, too."""
        stages = {
            messages.Attach: self._attach,
            messages.Load: self._load,
            messages.Construct: self._construct,
            messages.TakeState: self._take_state,
            messages.Precompile: self._precompile,
            messages.Rebuild: self._rebuild,
            messages.Call: self._call,
            messages.Measure: self._measure,
            messages.RecordCalls: self._record,
            messages.ReplayCalls: self._replay,
            messages.Profile: self._profile,
        }
        start = time.perf_counter()
        try:
            reply = stages[type(request)](request)
            if (gap := self._gap()) is not None:
                return self._lacking(request, gap)
            reply.seconds = time.perf_counter() - start
            return reply
        except BaseException as error:
            return self._raised(request, error)

    # ------------------------------------------------------------ requests

    def _attach(self, request):
        if not self._emulated:
            torch.cuda.set_device(self._device)
            arenas.cuda_runtime(self._device)  # the context, also where nothing is attached yet
            native.watches_driver()  # before there is a candidate, whose fault it would be
            self._prepare_guards()
            if self._spawn.timed and self._clock is None:
                self._graphs = graphs.Recorder(self._device)
                self._clock = clock.Clock(self._device)
            self._arenas = arenas.open_handles(request.arenas, self._device)
            if self._executor is not None and request.arenas:
                execution.connect_recorder(self._executor, self._arenas["in"].address)
        elif request.arenas:
            self._rotation.install()
            self._heap = native.guard(self._spawn.memory_bytes, self._executor and self._executor.heap)
            self._guarded = self._heap is not None
            self._arenas = arenas.receive(self._data_sock)
            if self._guarded:
                cuda_on_cpu.leave_empty()
            if self._executor is None:
                launches.only_compile()
            else:
                self._attach_executor()
        return messages.Attached(request.id, 0.0)

    def _prepare_guards(self):
        """Whether launches can be guarded."""
        try:
            return guards.prepared(self._spawn.arch) is not None
        except (OSError, AttributeError, RuntimeError) as error:
            self._unguarded = [f"launches: {error}"]
            return False

    def _attach_executor(self):
        execution.connect(self._executor)
        bases = {name: arena.address for name, arena in self._arenas.items()}
        if self._executor.heap is not None:
            os.close(self._executor.heap)  # through which memory could be read unseen
            bases |= {"heap": self._heap} if self._guarded else {}
        execution.attach(bases)

    def _load(self, request):
        # Seeded, so that equal runs give equal verdicts for random candidates; within a run their numbers still differ.
        random.seed(0)
        torch.manual_seed(0)
        if request.timed:
            self._executor = None  # nobody asks for records of what is timed
        ahead.unpack(request.files)
        if not self._emulated:
            tuning.limit(request.timed)
        if request.core is not None:
            cores.keep_to(request.core)
        seccomp.deny_moving()  # also without an assigned core: other runners may be timed on theirs
        self._source = request.source
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(request.source)
        # On a GPU the host can read what was copied to it, and that is seen.
        sees_reads = native.library is not None and (self._guarded or not self._emulated)
        ledger = Ledger(request.operations, native.library if sees_reads else None)
        if not self._emulated and request.memory_checks and self._prepare_guards():
            self._guards = guards.Guards(guards.prepared(self._spawn.arch), self._launches.text_of)
        if not self._emulated:
            tuning.timing = self._timing
        self._witness = witness.Witness(ledger, self._path, request.cpp, not self._emulated, self._guards)
        if request.cpp:  # elsewhere a task is about Triton, and what a candidate cannot import it has to do without
            kernel_packages.install(request.source, self._emulated)
        arch = self._spawn.arch if self._emulated else None
        if self._executor is not None and self._arenas:
            execution.begin(request.source, self._path)
            if self._emulated:
                compilation.install(execution.compile, self._path, request.source)
            else:
                compilation.remember(self._path, request.source)
        elif self._emulated and not self._arenas:
            self._told = ahead.collect_requests(self._path, request.source)
        name, self._entry = module.load(request.source, self._path, request.entries, arch, self._witness.watching)
        return messages.Loaded(request.id, name, 0.0)

    def _construct(self, request):
        watching = shapes.Shapes() if request.shapes else self._witness.watching()
        if self._kind is None:
            self._kind = self._entry
        self._instance = self._entry = None  # one of another dtype: it may have gigabytes
        with watching:
            self._instance, self._entry = module.construct(self._kind, request.module, self._device)
        return messages.Constructed(request.id, 0.0)

    def _take_state(self, request):
        return messages.StateTaken(request.id, module.take_state(self._instance, request.parameters), 0.0)

    def _precompile(self, request):
        whole = ahead.compile_calls(self._entry, request.calls, request.seconds, self._told)
        files, left_out = ahead.pack(self._source)
        requests = ahead.requests(self._told)
        return messages.Precompiled(request.id, files, ahead.kernels(), whole, 0.0, left_out, requests)

    def _rebuild(self, request):
        if self._source:
            raise protocol.ProtocolError("a process that has loaded a candidate compiles for nobody else")
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        wanted, left = [], protocol.MAX_RUNNER_FRAME - ahead.REQUESTS_ROOM
        for each in request.requests:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a claim may be anything
                compiler.key_of(told := json.loads(each))
                wanted.append(told)
        made = rebuilt.compile_all(request.source, self._path, wanted, ahead.processes(), request.seconds)
        kernels = {}
        for key, kernel in made.items():
            if (left := left - len(key) - len(json.dumps(kernel))) > 0:
                kernels[key] = kernel
        return messages.Rebuilt(request.id, kernels, 0.0)

    def _call(self, request):
        if self._emulated:
            native.fill(self._turn)
            self._turn += 1
        self._launches.take_launches()
        self._rotation.begin(request.tuning)
        state, lacking = self._state(request.kwargs)
        if lacking:
            return messages.Returned(request.id, {"t": "lacking", "v": lacking}, 0.0, 0)
        args, kwargs, inputs = self._arguments(request.args, request.kwargs)
        if request.under is not None:
            return self._served(request, args, kwargs, inputs)
        held = module.enter(self._instance, state)
        self._results.begin()
        self._witness.ran()
        with self._guarding(inputs) as unguarded, self._noting(request) as noted:
            value, origin = self._witness.call(
                self._traced(inputs), args, kwargs, inputs + held,
                lambda result, _: self._put(noted if request.parts else result, inputs),
            )  # fmt: skip
        module.leave(self._instance, state)
        self._synchronise()
        ran = self._witness.computing(self._witness.ran()) if self._clock else None
        if self._clock:
            self._clock.forget()  # the reference's next calls are timed
        launched, compiled = self._launches.take_launches(), self._launches.take_compiled()
        configurations, untried = self._rotation.used(), self._rotation.untried()
        return messages.Returned(
            request.id, value, 0.0, launched, compiled, origin, ran, configurations, untried, unguarded
        )

    def _served(self, request, args, kwargs, inputs):
        """A call under a condition of serving: without an account of who computed, which decides nothing there."""

        def put(result):
            return self._put(result, inputs)

        if request.under == "large":
            with self._large(request, args, kwargs) as large:
                value = put(large.last(self._entry(*large.args, **large.kwargs)))
        elif self._emulated:
            raise gaps.Unsupported("streams and CUDA graphs")
        else:
            self._served_under = self._served_under or serving.Conditions(self._device)
            value = self._served_under.call(request.under, self._entry, args, kwargs, put)
        return messages.Returned(request.id, value or {"t": "none"}, 0.0, self._launches.take_launches())

    def _large(self, request, args, kwargs):
        if not self._emulated:
            return serving.mapped_many_times(request, args, kwargs)
        if self._executor is None or self._executor.heap is None or not self._guarded:
            raise gaps.Unsupported("more than 2^31 elements, where no memory is shared with the executor")
        return serving.repeated(request, args, kwargs, self._heap, lambda: self._launches.launches)

    def _traced(self, inputs):
        """The entry, whose call with these tensors the executor can do again."""
        if self._executor is None or not (self._guarded if self._emulated else self._witness.sees_launches):
            return self._entry
        keep = execution.keep if self._emulated else self._witness.unseen(execution.keep)

        def traced(*args, **kwargs):
            with trace.recording(trace.Trace(inputs, keep)) as made:
                result = self._entry(*args, **kwargs)
            made.take(result)
            execution.record(made)
            return result

        return traced

    @contextlib.contextmanager
    def _timing(self):
        """While autotuning times launches."""
        with trace.pausing(), contextlib.nullcontext() if self._guards is None else self._guards.paused():
            yield

    @contextlib.contextmanager
    def _guarding(self, inputs):
        """While the candidate is called on these tensors, its launches are guarded; a list that says afterwards what was not. Raises
        OutOfBounds for what was found, also if the candidate has caught that."""
        unguarded = []
        if self._guards is None:
            yield self._unguarded
            return
        self._guards.begin(inputs)
        try:
            yield unguarded
        finally:
            unguarded += self._guards.end()
        if (found := self._guards.take_finding()) is not None:
            raise found

    def _noting(self, request):
        """Gives samples of what the instance's submodules return, where these are asked for."""
        wanted = request.parts and isinstance(self._instance, torch.nn.Module)
        return parts.noted(self._instance) if wanted else contextlib.nullcontext({})

    def _put(self, result, inputs):
        """Copies a result to its arena; the description."""
        self._synchronise()
        self._arenas["out"].reset()
        value = results.put(result, self._arenas["out"], inputs, self._results.again)
        self._synchronise()
        return value

    def _measure(self, request):
        return self._time(request, *self._calls(request))

    def _record(self, request):
        calls, slots = self._calls(request)
        recorded = [self._recorded_call(call) for call in calls]
        self._recorded = [call for call, _ in recorded], slots
        self._synchronise()
        return messages.CallsRecorded(request.id, 0.0, [origin for _, origin in recorded])

    def _recorded_call(self, call):
        """The call with a graph in place of the entry, and the origin of its result, as in ``_call``."""
        kept = []

        def record(*args, **kwargs):
            kept.append(self._graphs.record(call.function, *args, **kwargs))
            return kept[0].result

        _, origin = self._witness.call(record, call.args, call.kwargs, call.inputs)
        return call._replace(function=kept[0], args=[], kwargs={}), origin

    def _replay(self, request):
        return self._time(request, *self._recorded)

    def _calls(self, request):
        """Calls for timing, and the offset of each result in arena ``out``."""
        arguments = [self._arguments(call["args"], call["kwargs"]) for call in request.calls]
        return [clock.Call(self._entry, *parts) for parts in arguments], [call["slot"] for call in request.calls]

    def _time(self, request, calls, slots):
        """Every call as in ``_call``, between events."""
        values, ran, out = [], [], self._arenas["out"]

        def done(call, result):
            ran.append(self._witness.ran())
            out.used = slots[len(values)]
            values.append(results.put(result, out, call.inputs))

        self._clock.forget()  # memory pinned by earlier calls could not be evicted
        before = clock.Before(request.flush_bytes, request.lead, request.warm)
        self._witness.ran()
        timed = self._clock.time(calls, before, done)
        self._clock.forget()  # nor could that of the reference's next calls
        host_bound = sum(each.host_bound for each in timed)
        times, computed = [each.ms for each in timed], [self._witness.computing(names) for names in ran]
        return messages.Measured(request.id, times, values, 0.0, host_bound, clock.peak_bytes(timed), computed)

    def _profile(self, request):
        kernels, failure = profile.run(request, self._spawn)
        return messages.Profiled(request.id, 0.0, kernels, failure)

    # ------------------------------------------------------------ values

    def _arguments(self, args, kwargs):
        """Arguments as views of arena ``in``, and the tensors among them in order of appearance. A tensor that is there twice is one."""
        inputs, regions, same = [], {}, {}

        def view(leaf):
            tensor = self._arenas[leaf["arena"]].view(leaf, regions)
            if leaf.get("requires_grad"):
                tensor.requires_grad_()
            form = tensor.data_ptr(), leaf["dtype"], *leaf["shape"], None, *leaf["stride"]
            inputs.append(same.setdefault(form, tensor) if "base" in leaf else tensor)
            return inputs[-1]

        positional = [tensors.decode(tree, view) for tree in args]
        return positional, {name: tensors.decode(tree, view) for name, tree in kwargs.items()}, inputs

    def _state(self, kwargs):
        """What the instance is to hold before the call, which is no argument of it, as ``module.buffers_like`` has it."""
        if self._instance is None or module.STATE not in kwargs:
            return {}, []
        views = self._arguments([kwargs.pop(module.STATE)], {})[0][0]
        return module.buffers_like(self._instance, views)

    def _synchronise(self):
        if not self._emulated:
            _wait_for_device()

    # ------------------------------------------------------------ failures

    def _gap(self):
        """A feature that emulation lacked, if results are judged here: it remains the answer, even if the candidate caught the
        exception.
        """
        return gaps.first() if self._emulated and self._arenas else None

    def _lacking(self, request, gap):
        return messages.Raised(
            request.id,
            "unsupported",
            gap.exception,
            gap.message[:_MESSAGE_CHARS],
            self._own(gap.stack),
            gap.feature and gap.feature[:_MESSAGE_CHARS],
            self._launches.take_compiled(),
        )

    def _raised(self, request, error):
        if (gap := self._gap()) is not None:
            return self._lacking(request, gap)
        if (found := self._left_tensors(error)) is not None:
            return self._out_of_bounds(request, found, error)
        causes = list(compiler.chain(error))
        lack = gaps.find(causes)
        text = _text(lack if lack and lack.feature is None else error)[:_MESSAGE_CHARS]
        if isinstance(request, messages.Call) and (used := self._rotation.used()):
            text += f"; with configuration {', '.join(used)}"
        return messages.Raised(
            request.id,
            classify(causes, loading=isinstance(request, messages.Load)),
            f"{type(error).__module__}.{type(error).__qualname__}",
            text,
            self._frames(causes),
            lack.feature[:_MESSAGE_CHARS] if lack and lack.feature else None,
            self._launches.take_compiled(),
        )

    def _left_tensors(self, error):
        """The OutOfBounds that a failure is, or that it comes of; None for another one."""
        if self._guards is None:
            return None
        found = self._guards.take_finding()
        return error if isinstance(error, guards.OutOfBounds) else found

    def _out_of_bounds(self, request, found, error):
        where = found.stack or traceback.extract_tb(error.__traceback__)
        name, compiled = f"{guards.__name__}.OutOfBounds", self._launches.take_compiled()
        text = str(found)[:_MESSAGE_CHARS]
        return messages.Raised(request.id, "out_of_bounds", name, text, self._own(where), None, compiled)

    def _frames(self, causes):
        """The candidate's own frames, outermost first; a syntax error has only its line, and an error in a kernel or in C++ its line as
        the innermost.
        """
        error = causes[0]
        if isinstance(error, SyntaxError):
            return [{"line": error.lineno or 0, "function": "", "text": (error.text or "").strip()[:200]}]
        frames = self._own(traceback.extract_tb(error.__traceback__))
        frames += filter(None, (_in_kernel(e, self._source) for e in _compilation_errors(causes)))
        for place in (e.place for e in causes if isinstance(e, extensions.CompilationError) and e.place):
            frames.append({"line": place.line, "function": "C++", "text": place.text[:200]})
        return frames

    def _own(self, stack):
        found = [f for f in stack if f.filename == self._path]
        return [{"line": f.lineno, "function": f.name, "text": (f.line or "")[:200]} for f in found[-_FRAMES:]]


def _compilation_errors(causes):
    """Triton's, outermost first: each but the last is about a call of the function that the next one is about."""
    return [error for error in causes if isinstance(error, triton.CompilationError)]


def _in_kernel(error, source):
    """The line of ``source`` that Triton does not compile, as a frame; None if the function is not from there, or it does not say."""
    if not (text := _line_of(error)):
        return None
    # Of the function's place in its file Triton's error says nothing.
    lines, kernel = ([line.strip() for line in code.splitlines()] for code in (source, error.src))
    first = next((i for i in range(len(lines)) if lines[i : i + len(kernel)] == kernel), None)
    if first is None:
        return None
    name = kernel[0].removeprefix("def ").partition("(")[0]
    return {"line": first + error.node.lineno, "function": name, "text": text[:200]}


def _line_of(error):
    return error.src.splitlines()[error.node.lineno - 1].strip() if error.src and hasattr(error.node, "lineno") else ""


def _text(error):
    """The message of an exception whose ``str`` may itself be broken: it is the candidate's.

    Of Triton's compile errors the reason, which is of the innermost one, or else the line; the frames say where it is.
    """
    try:
        if isinstance(error, triton.CompilationError):
            innermost = _compilation_errors(compiler.chain(error))[-1]
            reason = innermost.error_message or (repr(innermost.__cause__) if innermost.__cause__ else "")
            return reason.strip() or _line_of(innermost) or str(error)
        return str(error)
    except Exception:
        return ""


_COMPILE = (
    triton.CompilationError, triton.OutOfResources, triton.runtime.errors.PTXASError, extensions.CompilationError,
)  # fmt: skip

_MEMORY = (MemoryError, torch.OutOfMemoryError)
_CPU_ALLOCATOR = "DefaultCPUAllocator"


def classify(causes, loading):
    """The kind of a failure, from the types of an exception and its causes and from the stage; not from words.

    One exception: torch has no type for a failed CPU allocation, only its allocator's name in a RuntimeError.
    """
    error = causes[0]
    if type(error) is RuntimeError and _CPU_ALLOCATOR in _text(error):
        return "memory"
    if gaps.find(causes) is not None:
        return "unsupported"
    for kind, wanted in (("compile", _COMPILE), ("memory", _MEMORY)):
        if any(isinstance(e, wanted) for e in causes):
            return kind
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return "exit"
    if isinstance(error, module.NoEntry):
        return "no_entry"
    if loading and isinstance(error, SyntaxError):
        return "syntax"
    if loading and isinstance(error, ImportError):
        return "import"
    return "runtime"
