"""What is known of each storage in a candidate's process: who wrote it, and whether it changed unseen."""

import ctypes
import zlib

import torch
from torch.multiprocessing.reductions import StorageWeakRef


class Record:
    """One storage. ``own`` is the part of it (0 to 1) that the candidate's kernels have written.

    ``tainted``: it depends on the arguments. ``floating``: it holds what was computed or taken from floating-point data.
    ``bits``: its whole numbers are floating-point data as well, by their bits or rounded. ``guarded``: what touches its memory is
    reported, so that it need not be compared.
    """

    def __init__(self, storage, guards, item_bytes):
        self._item_bytes = item_bytes
        self._reference = StorageWeakRef(storage)  # keeps the key from being used again
        self.key = storage._cdata
        self.own, self.tainted, self.floating, self.bits, self.events = 0.0, False, False, False, set()
        self.fresh = True
        """Nothing has been written to it yet."""
        self.from_host = False
        """The host has written to it since it was last looked at."""
        self._guards = guards
        self.reaches = ()
        """Records of the storages whose addresses it holds."""
        self._print = None
        self.locate(storage)

    def locate(self, storage):
        self.address, self.bytes = storage.data_ptr(), storage.nbytes()
        self.on_host = storage.device.type == "cpu"
        self.guarded = self._guards(self.address)

    @property
    def elements(self):
        """How many there are of the size that they had when it was first seen."""
        return self.bytes // self._item_bytes

    def is_gone(self):
        return self._reference.expired()

    def holds(self, address):
        return self.address <= address < self.address + self.bytes

    def take(self, sources, share=1.0, bits=False):
        """``share`` of it has been overwritten with what other records hold, ``(record, weight)`` each."""
        total = sum(weight for _, weight in sources) or 1
        own = sum(record.own * weight for record, weight in sources) / total
        tainted = any(record.tainted for record, _ in sources)
        floating = any(record.floating for record, _ in sources)
        events = set().union(*(record.events for record, _ in sources))
        reaches = tuple({id(r): r for record, _ in sources for r in record.reaches}.values())
        if share < 1:
            own = own * share + self.own * (1 - share)
            tainted, floating, bits = tainted or self.tainted, floating or self.floating, bits or self.bits
            events, reaches = events | self.events, reaches + self.reaches
        self.own, self.tainted, self.floating, self.events, self.reaches = own, tainted, floating, events, reaches
        self.fresh, self.from_host, self.bits = False, False, bits

    def imprint(self):
        """Remembers its bytes: what changes them from here on is seen, or was hidden."""
        self._print = self._bytes()

    def changed_unseen(self):
        return self._print is not None and self._print != self._bytes()

    def _bytes(self):
        if self.guarded or not self.on_host or not self.address or self.is_gone():
            return None
        return self.bytes, zlib.crc32((ctypes.c_char * self.bytes).from_address(self.address))


class Storages:
    """Records by storage. Storages are kept apart by identity: memory that is freed and used again is another one."""

    def __init__(self, guards):
        """``guards(address)``: whether what touches the memory there is reported."""
        self._records, self._aliases, self._guards = {}, [], guards

    def find(self, tensor):
        """The record of a tensor's storage; None if there is none yet, or the tensor has no storage."""
        storage = storage_of(tensor)
        record = None if storage is None else self._records.get(storage._cdata)
        if record is not None and record.key == storage._cdata and record.address != storage.data_ptr():
            record.locate(storage)
        return record

    def add(self, tensor):
        """A fresh record for a tensor's storage; None if it has none."""
        storage = storage_of(tensor)
        if storage is None:
            return None
        record = self._records[storage._cdata] = Record(storage, self._guards, tensor.element_size())
        return record

    def alias(self, tensor):
        """The record of another storage over the same memory (numpy and dlpack make such), from now on this one's too."""
        storage = storage_of(tensor)
        record = self.at(storage.data_ptr()) if storage is not None and storage.nbytes() else None
        if record is not None:
            self._aliases.append(storage)  # keeps the key from being used again
            self._records[storage._cdata] = record
        return record

    def at(self, address):
        """The record of the storage that an address lies in, or None."""
        return next((r for r in reversed(self._records.values()) if r.holds(address) and not r.is_gone()), None)

    def last_at(self, address):
        """The same, also if the storage is gone."""
        return next((r for r in reversed(self._records.values()) if r.holds(address)), None)

    def forget_the_gone(self):
        self._aliases = []
        self._records = {r.key: r for r in self._records.values() if not r.is_gone()}

    def __iter__(self):
        return iter(list(self._records.values()))


class Results:
    """The storages in which the results of the last call lie, as far as somebody keeps them."""

    def __init__(self):
        self._last, self._now = {}, []

    def begin(self):
        """A call begins."""
        self._last, self._now = {kept.cdata: kept for kept in self._now if not kept.expired()}, []

    def again(self, storage):
        """Whether a result of this call lies where one of the last call does."""
        self._now.append(StorageWeakRef(storage))  # keeps the key from being used again
        return storage._cdata in self._last


def distinct(tensor):
    """How many elements of its storage a tensor covers; 0 if its strides make that hard to say."""
    count, span = 1, 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 0:
            return 0
        if size == 1 or stride == 0:
            continue
        if stride < span:
            return 0
        count, span = count * size, stride * (size - 1) + span
    return count


def storage_of(tensor):
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # sparse tensors and the like
        return None


def tensors_in(value):
    """Every tensor in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
