"""Who made a candidate's results: its own kernels, or torch on its behalf.

For every storage a record says which part of it the candidate's own kernels have written, whether it depends on the
arguments of the call, and which *events* it depends on. An event is computing that no kernel of the candidate did: a torch
operation on data that comes from the arguments, memory that changed unseen, numbers made on the host. Copies carry all
that along. A launch of an own kernel makes all its tensors own and joins their events, whatever it does with them: a kernel
that only looks at what torch has computed inherits that, and cannot hide it. Tensors without plain storage (sparse, MKL-DNN)
share one record: what goes into any of them comes out of all.

This lives in the candidate's process. It is an account, honest as long as nobody forges it.
"""

import types

import torch

from kbx.runner import operations
from kbx.runner.copies import is_capturing, is_copy, is_passed_on, sample
from kbx.runner.operations import Kind
from kbx.runner.storages import Storages, distinct, storage_of, tensors_in

HOST_DATA = "numbers made on the host"
UNSEEN = "memory written outside of torch and Triton"
READ = "memory that the host can read"

_FREE_HOST_ELEMENTS = 16
"""Tensors made on the host with no more elements are shapes, strides and flags; larger ones are tables of constants as long
as the host has seen no more elements of the arguments."""
_FREE_TRUTHS = 12
"""So many truth values of a call steer; a result can be asked for bit by bit."""
LAZY = "a negative or conjugate view"
GPU_UNSEEN = "memory of the GPU that no operation has made"
_POINTER_TABLE = 4096
"""Most elements of an int64 tensor made on the host that is searched for addresses."""
_MOST_SAMPLES = 64
"""Tensors of a call that its results are compared with."""
_LEAST_ADDRESS = 1 << 16
_OPERATIONS_TOLD = 12


class Event:
    """``elements`` read and written by operation ``name`` at the candidate's line ``line`` (0: unknown) in one call."""

    def __init__(self, call, name, line):
        self.call, self.name, self.line, self.elements = call, name, line, 0

    @property
    def place(self):
        return self.name, self.line


class Ledger:
    """The account of one candidate over all its calls.

    ``asked`` are the operations that the task's reference calls (``torch.cat``). ``memory.covers(address)``: whether ``touch`` is
    told of what touches the memory there, and ``memory.numbers(address, count)`` reads it; tensors on the host that lie elsewhere
    count as read. Without it, reads are those that ``read`` and ``show`` are told of.
    """

    def __init__(self, asked=(), memory=None):
        self._asked = frozenset(name.split(".")[-1] for name in asked)
        self._movement = operations.is_movement(self._asked)
        self.sees_reads, self._opaque, self._memory = memory is not None, _Opaque(), memory
        self._storages = Storages(memory.covers if memory is not None else lambda address: False)
        self._events, self._arguments, self._lent = {}, [], []
        self.told = 0
        """Operations that it was told of."""
        self._call, self._without_arguments, self._floating = 0, False, False
        self._at_host, self._in_scalars, self._own_read = set(), set(), 0.0
        self._seen_by_host = self._truths = 0
        self._launches, self._copies, self._used = 0, 0, False
        self._computed = []
        """Samples of what torch alone had computed and a launch was given."""
        self._kept, self._stray = [], []
        """Memory as in ``begin``, and addresses of memory without a record that the host has written to."""

    # ------------------------------------------------------------ calls

    def begin(self, arguments, kept=()):
        """A call with these tensors begins. If there are none, all but allocation counts as computing.

        ``kept``: ``(address, bytes)`` of the GPU's memory that torch has handed out before; tensors there that no watched call has
        seen were made by one that was not watched, as timed calls are.
        """
        self._call += 1
        self._storages.forget_the_gone()
        for record in (*self._storages, self._opaque):
            record.events = set({e.place: e for e in sorted(record.events, key=lambda e: e.call)}.values())
        self._events, self._at_host, self._in_scalars, self._own_read = {}, set(), set(), 0.0
        self._seen_by_host = self._truths = 0
        self._launches, self._copies, self._used = 0, 0, False
        self._computed = []
        self._kept, self._stray = list(kept), []
        self._arguments = list(arguments)
        self._without_arguments = not self._arguments
        self._floating = any(map(_is_floating, self._arguments))
        self._lent = [self._storages.add(tensor) for tensor in self._arguments]
        for record, tensor in zip(self._lent, self._arguments, strict=True):
            record.tainted, record.floating, record.fresh = True, _is_floating(tensor), False
            record.bits = record.floating
            record.imprint()

    def end(self, value):
        """The account of the call that returned ``value``.

        ``elements`` of the results (of the arguments, if nothing is returned), how many of them are ``own``, the ``volume`` of
        arguments and results in elements, how many elements ``foreign`` operations processed, and which ``operations``; how
        many ``launches`` of own kernels there were, how many of them were ``copies`` of what torch had computed (all, where each result
        that they wrote is what torch had computed before them), and whether results or Python ``used`` anything that they wrote.
        """
        numbers = _numbers(value)
        results = list(tensors_in(value)) or ([] if numbers else self._arguments)
        elements, own, events = numbers, numbers * self._own_read, set(self._at_host) if numbers else set()
        for tensor in results:
            elements += tensor.numel()
            record = self.use(tensor)
            own += record.own * tensor.numel()
            events |= record.events
            if tensor.is_neg() or tensor.is_conj():
                events = {*events, self._event(LAZY, 0, 2 * tensor.numel())}
        volume = elements + sum(t.numel() for t in self._arguments)
        told = self._told(events)
        if self._is_passed_on(results):
            self._copies = self._launches
        self._arguments, self._computed = [], []
        return {
            "elements": elements,
            "own": own,
            "volume": volume,
            "foreign": min(volume, sum(o["elements"] for o in told)),
            "operations": told[:_OPERATIONS_TOLD],
            "launches": self._launches,
            "copies": self._copies,
            "used": self._used or own > 0,
        }

    def _is_passed_on(self, results):
        """Whether kernels have written some of the results, and each of these is what torch had computed before."""
        own = [t for t in results if storage_of(t) is not None and self.use(t).own > 0]
        return bool(own and self._computed) and all(any(is_passed_on(s, t) for s in self._computed) for t in own)

    def _told(self, events):
        """Events, the largest first; one of an earlier call only if its place has none in this: workspaces remember."""
        now = {e.place for e in events if e.call == self._call}
        kept = [e for e in events if e.call == self._call or e.place not in now]
        kept.sort(key=lambda e: (-e.elements, e.place))
        return [{"name": e.name, "line": e.line, "elements": e.elements} for e in kept]

    # ------------------------------------------------------------ what happens

    def use(self, tensor):
        """The record of a tensor that is about to be used, with an event if its memory has changed unseen."""
        if storage_of(tensor) is None:
            return self._opaque
        record = self._storages.find(tensor) or self._storages.alias(tensor)
        if record is None:
            record = self._storages.add(tensor)
            self._came_from_host(tensor, record)
            record.imprint()
        elif record.from_host or record.changed_unseen():
            record.own, record.from_host = 0.0, False
            if self.sees_reads and not record.tainted:
                self._came_from_host(tensor, record)
            else:
                record.tainted = True
                record.events = {*record.events, self._event(UNSEEN, 0, tensor.numel())}
            record.imprint()
        return record

    def touch(self, touched, where):
        """Memory was read or written, ``(address, written)``, by what is no operation and no launch."""
        records = {}
        for address, written in touched:
            if (record := self._storages.last_at(address)) is not None:
                records[record.key] = record, written or records.get(record.key, (None, False))[1]
            elif written:
                self._stray.append(address)
        for record, written in records.values():
            record.from_host = record.from_host or written
            if written and record.tainted:
                self._seen_by_host += record.elements
            elif record.tainted:
                self._read(record, record.elements, record.floating, where)

    def operation(self, operation, inputs, written, results, number, where):
        """A torch operation has run on tensors ``inputs``, of which it has ``written`` some, and gave ``results``.

        ``number``: whether a number that is no size was among its arguments. ``where()`` gives its name and line as the candidate
        wrote them.
        """
        self.told += 1
        kind = operations.kind(operation, self._movement)
        if kind is Kind.NOTHING:
            return
        if kind is Kind.READS:
            self.read(inputs[0], where)
            return
        fresh = [t for t in results if self._storages.find(t) is None and not any(t is w for w in written)]
        if not results and not written:
            self._answer(operation, inputs, where)
        if not (written or fresh):  # views
            return
        self._count([t for t in inputs if operations.counts(operation, t)], where)
        if kind is Kind.MOVES and self._changes_values(inputs, [*written, *fresh]):
            kind = Kind.COMPUTES
        sources = self._sources(operation, kind, inputs, written)
        if kind is Kind.MOVES and self._movement and self._is_laid_out_anew(inputs, written, results):
            kind = Kind.COMPUTES
        if self._counts(operation, kind, sources, [*inputs, *written, *fresh]):
            elements = sum(t.numel() for t in {id(t): t for t in (*inputs, *written, *fresh)}.values())
            sources.append((_carrying({self._event(*where(), elements)}), 0))
        elif self._in_scalars and number:
            sources.append((_carrying(self._in_scalars), 0))
        bits = kind is Kind.COMPUTES and self._takes_bits(operation, inputs)
        for tensor in fresh:
            self._overwrite(tensor, sources, True, bits)
        for tensor in written:
            self._overwrite(tensor, sources, False, bits)

    def reach(self, arguments):
        """Records of all storages that a launch is given, by tensor, by descriptor or by address, looked at for changes."""
        found = {}
        for argument in _flat(arguments):
            if type(argument) is int:
                record = self._storages.at(argument) if argument >= _LEAST_ADDRESS else None
            else:
                record = self.use(argument)
                record.floating = record.floating or _is_floating(argument)
            if record is not None:
                found.update((r.key, r) for r in (record, *record.reaches))
        return list(found.values())

    def all(self):
        """Records of all storages: what a launch may have written that is given none of them."""
        return list(self._storages)

    def made(self, tensors):
        """Records of tensors that a function has returned which may write memory, without looking for changes."""
        found = (self._storages.find(t) or self._storages.alias(t) or self._storages.add(t) for t in tensors)
        return [record or self._opaque for record in found]

    def computed(self):
        """What was computed in this call so far: elements by event."""
        return {event: event.elements for event in self._events.values()}

    def launch(self, own, records, where, during=frozenset()):
        """A kernel has run on these storages; ``own`` if it is the candidate's. It may have read what came of the events
        ``during``."""
        events = set().union(self._in_scalars, during, *(r.events for r in records))
        tainted = self._without_arguments or any(r.tainted for r in records)
        floating = any(r.floating for r in records)
        self._launches += own
        if not own:
            events.add(self._event(*where(), sum(r.elements for r in records)))
        for record in records:
            record.events, record.tainted, record.own = set(events), tainted, float(own)
            record.floating, record.fresh = record.floating or (floating and record.fresh), False
            record.bits = record.bits or record.floating
            record.imprint()
            self._lie_open(record, record.elements)

    def remember_integers(self, arguments):
        """A kernel is about to run on floating-point data and on these integers, which it may overwrite with what those hold: a
        list of them and of their values."""
        given = [(t, self._storages.find(t)) for t in _flat(arguments) if type(t) is not int]
        if not any(r is not None and r.floating for _, r in given) or is_capturing():
            return []
        stale = {r.key: (r, t) for t, r in given if r is not None and not r.floating and not r.fresh}
        return [(record, tensor, tensor.clone()) for record, tensor in stale.values()]

    def look_for_floats(self, remembered):
        """The kernel has run: the integers that are others now may be floating-point data."""
        for record, tensor, before in remembered:
            if not torch.equal(tensor, before):
                record.floating = record.bits = True

    def remember_computed(self, arguments):
        """A kernel is about to run on ``arguments``: keeps what torch alone has computed of them, which it may overwrite."""
        for tensor in (t for t in _flat(arguments) if type(t) is not int):
            record = self._storages.find(tensor)
            if record is None or not record.events or record.own or len(self._computed) == _MOST_SAMPLES:
                continue
            if (taken := sample(tensor)) is not None:
                self._computed.append(taken)

    def look_for_a_copy(self, arguments):
        """An own kernel has run on ``arguments``: counts it if a tensor now equals another one, which torch alone computed."""
        given = [(t, self._storages.find(t)) for t in _flat(arguments) if type(t) is not int]
        computed = [(t, r) for t, r in given if r is not None and r.events and not r.own]
        others = [t for t, r in given if r not in (None, *self._lent, *(c for _, c in computed))]
        self._copies += any(is_copy(source, target) for source, _ in computed for target in others)

    def read(self, tensor, where):
        """Elements of a tensor go to Python.

        Fractions are data, and so are whole numbers that are their bits, or that several operations have made. Other whole numbers,
        and a few truth values, steer (bounds, shapes, validation), unless the operation asked for has made them (argmax, a count).
        """
        record = self.use(tensor)
        self._own_read = record.own
        self._used |= record.own > 0
        data = _is_floating(tensor) or record.bits or len(record.events) > 1
        if tensor.dtype == torch.bool:
            self._truths += tensor.numel()
            data = self._truths > _FREE_TRUTHS
        self._read(record, tensor.numel(), data, where)

    def show(self, tensor):
        """Python may look at a tensor's elements from here on."""
        record = self.use(tensor)
        if record.tainted:
            self._seen_by_host += tensor.numel()

    # ------------------------------------------------------------ parts

    def _read(self, record, elements, data, where):
        """The host gets elements of a record; ``data``: they are more than what steers."""
        if record.tainted:
            self._seen_by_host += elements
            data = data or (not self._floating and self._seen_by_host > _FREE_HOST_ELEMENTS)
        events = set(record.events)
        if data and record.tainted:
            events.add(self._event(*where(), elements))
        self._at_host |= events
        if data or any(e.name.split(".")[-1] in self._asked for e in events):
            self._in_scalars |= events

    def _count(self, counted, where):
        """Python gets the size of a result, a whole number that tensors say: data as in ``read``."""
        for record in map(self.use, counted):
            self._used |= record.own > 0
            self._read(record, 1, len(record.events) > (not record.bits), where)

    def _answer(self, operation, inputs, where):
        """An operation has told Python something about what tensors hold: a truth value, or a parameter that it has computed."""
        records = [r for r in map(self.use, inputs) if r.tainted]
        if not records or operations.asks_for_layout(operation):
            return
        self._truths += 1
        event = self._event(*where(), sum(t.numel() for t in inputs))
        events = {event}.union(*(r.events for r in records))
        self._at_host |= events
        if operations.tells_numbers(operation) or self._truths > _FREE_TRUTHS:
            self._in_scalars |= events

    def _lie_open(self, record, elements):
        """The host can read a record's memory, if it can, without being seen."""
        if self.sees_reads and record.on_host and not record.guarded:
            self._read(record, elements, record.floating, lambda: (READ, 0))

    def _changes_values(self, inputs, outputs):
        """Whether moving elements makes others of them: rounds to whole numbers, or carries out what a view only announced."""
        to_whole = any(map(_is_floating, inputs)) and not all(map(_is_floating, outputs))
        lazy = (t for t in (*inputs, *outputs) if not any(t is a for a in self._arguments))
        return to_whole or any(t.is_neg() or t.is_conj() for t in lazy)

    def _counts(self, operation, kind, sources, tensors):
        """Whether an operation does a part of the work: not on constants, not on indices beside floating-point data."""
        asked = operations.is_asked(operation, self._asked)
        if kind is Kind.MAKES:
            return self._without_arguments and (asked or operations.generates(operation))
        if kind is not Kind.COMPUTES or not (self._without_arguments or any(r.tainted for r, _ in sources)):
            return False
        floating = any(map(_is_floating, tensors)) or any(r.floating for r, _ in sources)
        return asked or floating or not (self._floating and operation.pointwise)

    def _takes_bits(self, operation, inputs):
        """Whether whole numbers that an operation gives are floating-point data: from their bits, rounded, or looked up."""
        whole = (t for t in inputs if not _is_floating(t))
        return operations.digitises(operation) or any(self.use(t).bits for t in whole)

    def _is_laid_out_anew(self, inputs, written, results):
        """Whether a copy takes elements in another order than they have in memory, as an argument or in all, or puts them elsewhere."""
        if any(storage_of(t) is None for t in (*inputs, *written, *results)):
            return True
        if written and written[0].untyped_storage().nbytes() != written[0].numel() * written[0].element_size():
            return True
        layouts = [_layout(t) for t in self._arguments]
        lent = {storage for *_, storage in layouts}
        for tensor in inputs:
            if _layout(tensor) in layouts or any(tensor is w for w in written):
                continue
            if tensor.untyped_storage()._cdata in lent or not _lie_alike(tensor, *written, *results):
                return True
        return False

    def _sources(self, operation, kind, inputs, written):
        """Records that flow into what an operation writes, weighted by elements."""
        if kind is Kind.MAKES:
            return []
        ignored = written[0] if written and operations.overwrites(operation) else None
        sources = [(self.use(t), t.numel()) for t in inputs if t is not ignored]
        if kind is Kind.MOVES:
            return sources
        # A kernel that was only shown an argument has not computed what torch computes from it.
        return [(_shown(r) if any(r is a for a in self._lent) else r, weight) for r, weight in sources]

    def _overwrite(self, tensor, sources, fresh, bits):
        """A tensor has been overwritten with what flows from ``sources``; ``bits`` as in a record."""
        if storage_of(tensor) is None:
            self._opaque.take(sources)
            return
        record = self._storages.find(tensor) or self._storages.add(tensor)
        share = 1.0 if fresh else distinct(tensor) * tensor.element_size() / max(1, record.bytes)
        record.take(sources, share, bits or _is_floating(tensor))
        record.floating, record.fresh = record.floating or _is_floating(tensor), not sources
        record.imprint()
        self._lie_open(record, tensor.numel())

    def _event(self, name, line, elements):
        event = self._events.setdefault((name, line), Event(self._call, name, line))
        event.elements += elements
        return event

    def _came_from_host(self, tensor, record):
        """A storage that no operation has written: its contents are the host's."""
        if not self._call:
            return
        if not record.on_host:
            if self._was_kept(record):  # a workspace, but what others have computed in this call may lie there
                record.events |= set(self._events.values())
                record.tainted = bool(record.events)
                return
            record.tainted = True
            record.events.add(self._event(GPU_UNSEEN, 0, tensor.numel()))
            return
        record.fresh = False
        record.events |= self._in_scalars
        if tensor.numel() > _FREE_HOST_ELEMENTS and self._seen_by_host > _FREE_HOST_ELEMENTS:
            record.tainted = True
            record.events.add(self._event(HOST_DATA, 0, tensor.numel()))
        if tensor.element_size() == 8 and tensor.numel() <= _POINTER_TABLE and tensor.device.type == "cpu":
            addresses = [] if _is_floating(tensor) else self._whole_numbers(tensor)
            record.reaches = tuple(
                r for a in addresses if a >= _LEAST_ADDRESS and (r := self._storages.at(a)) is not None
            )

    def _was_kept(self, record):
        kept = any(at <= record.address and record.address + record.bytes <= at + size for at, size in self._kept)
        return kept and not any(map(record.holds, self._stray))

    def _whole_numbers(self, tensor):
        if self._memory is None:
            return tensor.flatten().tolist()
        plain = tensor.contiguous()
        return self._memory.numbers(plain.data_ptr(), plain.numel())


class _Opaque:
    """The record of all tensors without storage."""

    key, address, bytes, elements, reaches, from_host, fresh, on_host = 0, 0, 0, 0, (), False, False, False

    def __init__(self):
        self.own, self.tainted, self.floating, self.bits, self.events = 0.0, False, False, True, set()

    def take(self, sources):
        self.tainted = self.tainted or any(r.tainted for r, _ in sources)
        self.floating = self.floating or any(r.floating for r, _ in sources)
        self.events = self.events.union(*(r.events for r, _ in sources))

    def imprint(self):
        pass


def _carrying(events):
    """Something with the fields of a record that brings events into one."""
    return types.SimpleNamespace(own=0.0, tainted=True, floating=False, events=events, reaches=())


def _shown(record):
    return types.SimpleNamespace(
        own=0.0, tainted=record.tainted, floating=record.floating, events=record.events, reaches=record.reaches
    )


def _layout(tensor):
    return tensor.shape, tensor.stride(), tensor.untyped_storage()._cdata


def _lie_alike(tensor, *others):
    """Whether elements lie in memory one behind the other, and in the same order in tensors of one shape."""
    return tensor.is_contiguous() and all(t.is_contiguous() for t in others)


def _is_floating(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def _flat(arguments):
    """Tensors and whole numbers among the arguments of a launch; what wraps a tensor (a descriptor) as that tensor."""
    for argument in arguments:
        if isinstance(argument, (tuple, list)):
            yield from _flat(argument)
        elif (tensor := next(tensors_in(argument), None)) is not None or type(argument) is int:
            yield argument if tensor is None else tensor
        elif (tensor := next(tensors_in(getattr(argument, "base", None)), None)) is not None:
            yield tensor


def _numbers(value):
    """How many Python numbers a result holds."""
    if isinstance(value, (bool, int, float, complex)):
        return 1
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_numbers, value)) if isinstance(value, (list, tuple)) else 0
