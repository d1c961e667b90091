"""Loads and stores. Everything that touches memory goes through ``Site``, which finds the tensor of each address."""

from __future__ import annotations

import numpy as np

from kbx.ttir.errors import Unsupported
from kbx.ttir.findings import BETWEEN, MISALIGNED, OUT_OF_BOUNDS, RACE, UNDEFINED
from kbx.ttir.formats import Numbers, decoded, encoded
from kbx.ttir.lanes import Environment, Lanes
from kbx.ttir.lowering import Lowering, Step, lowers
from kbx.ttir.memory import Outside, Region, Touched
from kbx.ttir.operations.programs import first_program
from kbx.ttir.races import SEVERAL, Access, Where
from kbx.ttir.tree import Operation, Value
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
        self._floats = element.kind == "float"

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
        of_mask = None if mask is None else mask.undefined
        for each, what in ((of_mask, "under a mask"), (doubt, "at an address")):
            if each is not None and each.any():
                value = self._mask_operand() if each is of_mask else self.operation.operands[0]
                name = pointer.base.name if pointer.base is not None else None
                text, program = f"{self._verb} memory {what} that is undefined", first_program(environment, each)
                environment.launch.report_undefined(self.operation, text, value, program, name, int(each.sum()))
                return

    def _mask_operand(self) -> Value:
        """The operand that is the mask, or the address where there is none."""
        masks = [o for o in self.operation.operands if o.type.element.bits == 1]
        return masks[-1] if masks else self.operation.operands[0]

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
            text = f"{self._verb} memory that is no tensor's, {_counted(len(offsets))}"
            environment.launch.report(OUT_OF_BOUNDS, self.operation, text, program, None, len(offsets))
            return
        sides = (
            (int(offsets.max()) + self.size - region.bytes, "behind the end"),
            (-int(offsets.min()), "before the beginning"),
        )
        where = " and ".join(f"{far} bytes {side}" for far, side in sides if far > 0)
        text = f"{self._verb} up to {where} of {region.name} ({region.bytes} bytes), {_counted(len(offsets))}"
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
            got = self._got(environment, touched[0])
            return Lanes(decoded(got, self.element))
        masked = mask is not None and not mask.data.all()
        sides = [pointer.data.shape, *([mask.data.shape] if mask is not None and masked else [])]
        sides += [other.data.shape] if other is not None and masked else []
        shape = np.broadcast_shapes(*sides)
        raw = np.broadcast_to(environment.launch.garbage(self.element), shape).copy()
        for each in touched:
            got = np.broadcast_to(self._got(environment, each), shape)
            np.copyto(raw, got, where=True if each.live is None else np.broadcast_to(each.live, shape))
        data = decoded(raw, self.element)
        if not masked or mask is None:
            return Lanes(data)
        if other is None:
            return Lanes(data, np.broadcast_to(~mask.data, shape))
        undefined = None if other.undefined is None else other.undefined & ~mask.data
        return Lanes(np.where(mask.data, data, other.data), undefined)

    def _got(self, environment: Environment, touched: Touched) -> Numbers:
        """The bits of a region's elements, those of lanes that may not touch it included."""
        self._observe_read(environment, touched)
        got = touched.region.get(self.size, touched.elements, touched.live)
        self.check_written(environment, touched, got)
        return got

    def check_written(self, environment: Environment, touched: Touched, bits: Numbers) -> None:
        """Reports elements that hold what all of their memory was filled with."""
        filling = touched.region.filling(self.size, self._floats)
        if filling is None:
            return
        blank = bits == filling
        if touched.live is not None:
            blank = blank & touched.live
        if blank.any():
            name, count = touched.region.name, int(blank.sum())
            kind, what = (
                (BETWEEN, "what lies between the elements of")
                if touched.region.lent
                else (UNDEFINED, "what nobody has written to")
            )
            text = f"{self._verb} {what} {name}, {_counted(count)}"
            environment.launch.report(kind, self.operation, text, first_program(environment, blank), name, count)

    def _observe_read(self, environment: Environment, touched: Touched) -> None:
        observer = environment.launch.observer
        if observer is None or not touched.region.written:
            return
        index, live = touched.elements, touched.live
        shape = index.shape if live is None else np.broadcast_shapes(index.shape, live.shape)
        where, once = flattened(index, live, shape)
        programs = self.programs(environment, shape[0], live, shape)
        observer.read(self.access(environment, touched.region, where, programs, once))

    def access(self, environment: Environment, region: Region, where: Where, programs: Numbers, once: bool) -> Access:
        """What an observer is told."""
        return Access(self.operation, region, self.size, where, programs, once, environment.programs, self._floats)

    # ------------------------------------------------ store

    def store(self, environment: Environment, pointer: Lanes, value: Lanes, mask: Lanes | None) -> None:
        if mask is not None and not mask.data.any() and mask.undefined is None:
            return
        raw, launch = encoded(value.data, self.element), environment.launch
        launch.changes += 1
        touched = self.locate(environment, pointer, mask)
        self.check_value(environment, value, self.operation.operands[-1 if mask is None else -2], mask, touched)
        for region, index, live in touched:
            lead = max(len(index), len(raw), 1 if live is None else len(live))
            shape = (lead, *self.shape)
            (where, once), bits = flattened(index, live, shape), chosen(raw, live, shape)
            if launch.observer is not None:
                programs, old = self.programs(environment, lead, live, shape), region.view(self.size)[where]
                launch.observer.write(self.access(environment, region, where, programs, once), old, bits)
            region.put(self.size, where, bits)
            if not once and launch.checks and (lost := np.flatnonzero(region.view(self.size)[where] != bits)).size:
                self._report_lost(environment, region, where, lost, self.programs(environment, lead, live, shape))

    def _report_lost(
        self, environment: Environment, region: Region, where: Where, lost: Numbers, programs: Numbers
    ) -> None:
        """Lanes that others of the same operation overwrote with other bits."""
        assert not isinstance(where, slice)  # where each element is there once
        program = int(programs[lost].min()) if len(programs) > 1 else int(programs[0])
        first = f"{region.name}[{where[lost[0]]}]"
        text = f"lanes write other bits to one element at once, {_counted(len(lost))} in vain, first {first}"
        environment.launch.report(RACE, self.operation, text, program, region.name, len(lost))

    def check_value(
        self, environment: Environment, lanes: Lanes, value: Value, mask: Lanes | None, touched: list[Touched]
    ) -> None:
        """Reports undefined lanes of ``value`` that reach memory."""
        doubt = lanes.undefined
        if doubt is not None and mask is not None:
            doubt = doubt & mask.data
            if mask.undefined is not None:
                doubt = doubt & ~mask.undefined
        if doubt is not None and doubt.any():
            name, count = touched[0].region.name if touched else None, int(doubt.sum())
            text = f"{self._verb} {name or 'memory'} with undefined values, {_counted(count)}"
            program = first_program(environment, doubt)
            environment.launch.report_undefined(self.operation, text, value, program, name, count)


def _counted(count: int, what: str = "lane") -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


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
