"""Loads and stores. Everything that touches memory goes through ``Site``, which finds the tensor of each address."""

from __future__ import annotations

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.findings import MISALIGNED, OUT_OF_BOUNDS, UNDEFINED
from kbx.ttir.formats import Numbers, decoded, encoded
from kbx.ttir.lanes import Environment, Lanes, either
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.memory import Outside, Touched
from kbx.ttir.operations.programs import first_program
from kbx.ttir.races import SEVERAL, Access, Where
from kbx.ttir.tree import Operation
from kbx.ttir.types import Element

_VERBS = {"tt.load": "reads", "tt.descriptor_load": "reads", "tt.descriptor_gather": "reads", "tt.store": "writes",
          "tt.descriptor_store": "writes", "tt.descriptor_scatter": "writes"}  # fmt: skip


def flattened(index: Numbers, live: Numbers | None, shape: tuple[int, ...]) -> tuple[Where, bool]:
    """The elements of an access in a row, a slice where they are one after another, and whether none is there twice as far as is seen."""
    index = np.broadcast_to(index, shape)
    flat = index.reshape(-1) if live is None else index[np.broadcast_to(live, shape)]
    count = len(flat)
    if count < 2:
        return (slice(int(flat[0]), int(flat[0]) + 1), True) if count else (flat, True)
    ascends = bool((flat[1:] > flat[:-1]).all())
    if ascends and int(flat[-1]) - int(flat[0]) == count - 1:
        return slice(int(flat[0]), int(flat[0]) + count), True
    return flat, ascends


def chosen(data: Numbers, live: Numbers | None, shape: tuple[int, ...]) -> Numbers:
    """Values of an access in a row, in the order of ``flattened``."""
    data = np.broadcast_to(data, shape)
    return data.reshape(-1) if live is None else data[np.broadcast_to(live, shape)]


class Site:
    """An operation that accesses elements of one type; ``shape`` is that of its pointers."""

    def __init__(self, operation: Operation, element: Element, shape: tuple[int, ...]) -> None:
        self.operation, self.element, self.size, self.shape = operation, element, element.bytes, shape
        self._verb = _VERBS.get(operation.name, "updates")

    # ------------------------------------------------ where

    def locate(self, environment: Environment, pointer: Lanes, mask: Lanes | None) -> list[Touched]:
        """Where an access leads; what is wrong with its addresses is reported, and their lanes left out."""
        allowed = None if mask is None or mask.data.all() else mask.data
        self._check_defined(environment, pointer, mask, allowed)
        touched, outside = environment.launch.memory.locate(pointer.data, pointer.base, allowed, self.size)
        if outside is not None:
            self._report(environment, outside)
        if not environment.launch.aligned:
            self._check_aligned(environment, pointer.data, allowed)
        return touched

    def _check_defined(
        self, environment: Environment, pointer: Lanes, mask: Lanes | None, allowed: Numbers | None
    ) -> None:
        doubt = pointer.undefined
        if doubt is not None and allowed is not None:
            doubt = doubt & allowed
        doubt = either(doubt, None if mask is None else mask.undefined)
        if doubt is not None and doubt.any():
            text = f"{self._verb} memory at an address or under a mask that is undefined"
            environment.launch.report(
                UNDEFINED, self.operation, text, first_program(environment, doubt), None, int(doubt.sum())
            )

    def _check_aligned(self, environment: Environment, addresses: Numbers, allowed: Numbers | None) -> None:
        bad = addresses & self.size - 1 != 0
        if allowed is not None:
            bad = bad & allowed
        if bad.any():
            text = f"{self._verb} {self.size} bytes at an address that is no multiple of {self.size}"
            program = first_program(environment, bad)
            environment.launch.report(MISALIGNED, self.operation, text, program, None, int(bad.sum()))

    def _report(self, environment: Environment, outside: Outside) -> None:
        lanes, region = outside.lanes, outside.region
        offsets = np.broadcast_to(outside.offset, lanes.shape)[lanes]
        program = first_program(environment, lanes)
        if region is None:
            text = f"{self._verb} memory that is no tensor's, {len(offsets)} lanes"
            environment.launch.report(OUT_OF_BOUNDS, self.operation, text, program, None, len(offsets))
            return
        far = int(offsets.max()) + self.size - region.bytes
        where = f"{far} bytes behind the end" if far > 0 else f"{-int(offsets.min())} bytes before the beginning"
        text = f"{self._verb} up to {where} of {region.name} ({region.bytes} bytes), {len(offsets)} lanes"
        environment.launch.report(OUT_OF_BOUNDS, self.operation, text, program, region.name, len(offsets))

    def programs(self, environment: Environment, lead: int, live: Numbers | None, shape: tuple[int, ...]) -> Numbers:
        """The program of each lane in a row; a single one where all lanes have the same."""
        if environment.size == 1:
            return environment.programs.astype(np.int32)
        if lead != environment.size:
            return np.array([SEVERAL], np.int32)
        column = environment.programs.astype(np.int32).reshape(-1, *(1,) * (len(shape) - 1))
        return chosen(column, live, shape)

    # ------------------------------------------------ load

    def load(self, environment: Environment, pointer: Lanes, mask: Lanes | None, other: Lanes | None) -> Lanes:
        touched = self.locate(environment, pointer, mask)
        if len(touched) == 1 and touched[0].live is None:
            self._observe_read(environment, touched[0])
            return Lanes(decoded(touched[0].region.view(self.size)[touched[0].elements], self.element))
        masked = mask is not None and not mask.data.all()
        sides = [pointer.data.shape, *([mask.data.shape] if mask is not None and masked else [])]
        sides += [other.data.shape] if other is not None and masked else []
        shape = np.broadcast_shapes(*sides)
        raw = np.broadcast_to(environment.launch.garbage(self.element), shape).copy()
        for each in touched:
            self._observe_read(environment, each)
            got = np.broadcast_to(each.region.view(self.size)[each.elements], shape)
            np.copyto(raw, got, where=True if each.live is None else np.broadcast_to(each.live, shape))
        data = decoded(raw, self.element)
        if not masked or mask is None:
            return Lanes(data)
        if other is None:
            return Lanes(data, np.broadcast_to(~mask.data, shape))
        undefined = None if other.undefined is None else other.undefined & ~mask.data
        return Lanes(np.where(mask.data, data, other.data), undefined)

    def _observe_read(self, environment: Environment, touched: Touched) -> None:
        observer = environment.launch.observer
        if observer is None or not touched.region.written:
            return
        index, live = touched.elements, touched.live
        shape = index.shape if live is None else np.broadcast_shapes(index.shape, live.shape)
        where, once = flattened(index, live, shape)
        programs = self.programs(environment, shape[0], live, shape)
        observer.read(Access(self.operation, touched.region, self.size, where, programs, once))

    # ------------------------------------------------ store

    def store(self, environment: Environment, pointer: Lanes, value: Lanes, mask: Lanes | None) -> None:
        if mask is not None and not mask.data.any() and mask.undefined is None:
            return
        self.check_value(environment, value, mask)
        raw = encoded(value.data, self.element)
        environment.launch.changes += 1
        for region, index, live in self.locate(environment, pointer, mask):
            lead = max(len(index), len(raw), 1 if live is None else len(live))
            shape = (lead, *self.shape)
            (where, once), bits, view = flattened(index, live, shape), chosen(raw, live, shape), region.view(self.size)
            observer = environment.launch.observer
            if observer is None:
                view[where] = bits
                continue
            access = Access(
                self.operation, region, self.size, where, self.programs(environment, lead, live, shape), once
            )
            observer.write(access, view[where], bits)
            view[where] = bits
            if not once and (lost := np.flatnonzero(view[where] != bits)).size:
                observer.lost(access, lost)

    def check_value(self, environment: Environment, value: Lanes, mask: Lanes | None) -> None:
        """Reports undefined lanes that reach memory."""
        doubt = value.undefined
        if doubt is not None and mask is not None:
            doubt = doubt & mask.data
        if doubt is not None and doubt.any():
            text = f"stores {int(doubt.sum())} lanes that are undefined"
            environment.launch.report(
                UNDEFINED, self.operation, text, first_program(environment, doubt), None, int(doubt.sum())
            )


def _pointee(operation: Operation) -> tuple[Element, tuple[int, ...]]:
    type = operation.operands[0].type
    if type.element.pointee is None:
        raise Unsupported(operation.line, f"{operation.name} of {type}")
    return type.element.pointee, type.shape


@lowers("tt.load")
def _load(operation: Operation, _: Lowering) -> Step:
    element, shape = _pointee(operation)
    site, result = Site(operation, element, shape), operation.results[0]
    pointer, mask, other = [*operation.operands, None, None][:3]
    assert pointer is not None
    if operation.attributes.get("boundaryCheck"):
        raise Unsupported(operation.line, "a load by a block pointer")

    def step(environment: Environment) -> None:
        environment[result] = site.load(
            environment,
            environment[pointer],
            None if mask is None else environment[mask],
            None if other is None else environment[other],
        )

    return step


@lowers("tt.store")
def _store(operation: Operation, _: Lowering) -> Step:
    element, shape = _pointee(operation)
    site = Site(operation, element, shape)
    pointer, value, mask = [*operation.operands, None][:3]
    assert pointer is not None and value is not None
    if operation.attributes.get("boundaryCheck"):
        raise Unsupported(operation.line, "a store by a block pointer")

    def step(environment: Environment) -> None:
        site.store(environment, environment[pointer], environment[value], None if mask is None else environment[mask])

    return step
