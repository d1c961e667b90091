"""The nodes of a Ray cluster and the slots on them: an actor a GPU, or one for all processors of a node without one.

One thread does everything; others only put events into its queue.
"""

import contextlib
import itertools
import json
import queue
import re
import threading
import time

import ray
import ray.util.client
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from kbx.protocol import write_frame
from kbx_bridge.slot import Slot, request

POLL_SECONDS = 1
CLOSING_SECONDS = 7
REQUEST_SECONDS = 3
MOST_JOBS = 16
"""Candidates at the same time on a GPU: as kbx does without a cluster."""

CPUS_TO_COMPILE = 4
"""Processors for each candidate that is compiled: kbx compiles no more of them at a time, each in several processes."""


def in_a_line(error):
    """What an error of Ray says, in a line; of one with a trace of Ray's server, its end."""
    text = str(getattr(error, "cause", None) or error).strip() or type(error).__name__
    lines = text.splitlines()
    return lines[-1] if lines[1:2] == ["Traceback (most recent call last):"] else lines[0]


def out_of_memory(error):
    """Why Ray's memory monitor ended an actor; of its pages of text, the figures."""
    used = re.search(r"[\d.]+GB / [\d.]+GB", str(error))
    return "Ray ended the actor: its node was out of memory" + (f" ({used.group()})" if used else "")


class Place:
    """Where one slot belongs on a node; a slot that ended is replaced there. ``compiles``: it judges nothing."""

    def __init__(self, node, address, options, jobs, compiles=False):
        self.node, self.address, self.options, self.jobs, self.compiles = node, address, options, jobs, compiles
        self.slot = None


class Running:
    """A slot: its actor, and the frames that wait for it."""

    def __init__(self, number, place, actor):
        self.number, self.place, self.actor = number, place, actor
        self.waiting, self.pushing, self.up = [], False, False


def places(node, device, jobs, compiling):
    """The places of a node, from what Ray says it has, and the candidates at the same time on each if that is given.

    With ``compiling``, a node without a GPU compiles for those that have one.
    """
    has = node["Resources"]
    cpus, gpus = int(has.get("CPU", 0)), int(has.get("GPU", 0))
    where = node["NodeID"], node["NodeManagerAddress"]
    if device != "cpu" and gpus:
        jobs = jobs or (max(1, min(MOST_JOBS, cpus // gpus)) if cpus else 0)
        return [Place(*where, {"num_gpus": 1, "num_cpus": 0}, jobs) for _ in range(gpus)]
    if device != "cuda" and cpus:
        return [Place(*where, {"num_cpus": cpus}, jobs or cpus)]
    if device == "cuda" and cpus and compiling:
        return [Place(*where, {"num_cpus": cpus}, max(1, cpus // CPUS_TO_COMPILE), compiles=True)]
    return []


class Cluster:
    """Starts slots on all nodes that there are, and carries frames until the JVM closes its end."""

    def __init__(self, out, device, jobs, command, archives, wanted=None):
        self.out, self.device, self.jobs, self.command, self.archives = out, device, jobs, command, archives
        self.wanted, self.requested = wanted, []
        self.events = queue.SimpleQueue()
        self.nodes, self.slots, self.blocked, self.number, self.told = {}, {}, set(), 0, None

    def run(self):
        """Returns when the JVM has closed its end."""
        threading.Thread(target=self._poll, daemon=True).start()
        while True:
            batch = [self.events.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    batch.append(self.events.get_nowait())
            for handler, *arguments in batch:
                if handler is None:
                    return self.close()
                handler(*arguments)
            for slot in list(self.slots.values()):
                self._push(slot)
            self.out.flush()

    def close(self):
        """Ends every slot: each node's kbx first, so that it ends its own processes, then the actors."""
        self._request([])
        closing = [slot.actor.close.remote() for slot in self.slots.values()]
        with contextlib.suppress(Exception):
            ray.wait(closing, num_returns=len(closing), timeout=CLOSING_SECONDS)
        for slot in self.slots.values():
            with contextlib.suppress(Exception):
                ray.kill(slot.actor)

    # What the JVM says.

    def frame(self, channel, payload):
        """A frame for a slot, or for the bridge on channel 0."""
        if channel:
            if slot := self.slots.get(channel):
                slot.waiting.append(payload)
            return
        message = json.loads(payload)
        if message["type"] == "block":
            self.blocked.add(message["node"])
            for slot in [s for s in self.slots.values() if s.place.node == message["node"]]:
                self._down(slot, "its node is not used")
        elif message["type"] == "want":
            self.wanted = message["slots"]
            self._fill()
        elif slot := self.slots.get(message["slot"]):
            if message["type"] == "release":
                self._end(slot)
            else:
                self._down(slot, "it was given up")

    # What the cluster says.

    def _poll(self):
        while True:
            try:
                found = [n for n in ray.nodes() if n["Alive"]]
            except Exception as error:  # The cluster is gone, or Ray's own client is.
                self.events.put((self._lost, in_a_line(error)))
                return
            self.events.put((self._found, found))
            time.sleep(POLL_SECONDS)

    def _lost(self, why):
        raise SystemExit(f"the connection to the Ray cluster is lost: {why}")

    def _found(self, found):
        alive = {n["NodeID"]: n for n in found}
        for node in set(self.nodes) - set(alive):
            for place in self.nodes.pop(node):
                if place.slot:
                    self._down(place.slot, "its node died")
        gpus = any(n["Resources"].get("GPU", 0) >= 1 for n in found)
        device = ("cuda" if gpus else "cpu") if self.device == "auto" else self.device
        if device == "cuda":
            self.device = "cuda"
        for node in alive.values():
            if node["NodeID"] not in self.nodes:
                self.nodes[node["NodeID"]] = places(node, device, self.jobs, self.wanted is None)
        self._fill()
        self._tell_nodes(alive)

    def _tell_nodes(self, alive):
        nodes = [
            {
                "id": n["NodeID"],
                "address": n["NodeManagerAddress"],
                "cpus": int(n["Resources"].get("CPU", 0)),
                "gpus": int(n["Resources"].get("GPU", 0)),
                "slots": len(self.nodes[n["NodeID"]]),
                "up": sum(1 for p in self.nodes[n["NodeID"]] if p.slot and p.slot.up),
                "compiles": any(p.compiles for p in self.nodes[n["NodeID"]]),
            }
            for n in alive.values()
        ]
        if nodes != self.told:
            self.told = nodes
            self._send({"type": "nodes", "nodes": nodes})

    # Slots.

    def _fill(self):
        """Starts slots where there is room; if they follow a demand, no more, and asks the autoscaler for those that have no room."""
        for place in itertools.chain(*self.nodes.values()):
            if self.wanted is not None and len(self.slots) >= self.wanted:
                break
            if place.slot is None and place.node not in self.blocked:
                self._start(place)
        if self.wanted is not None:
            self._request([self._shape()] * self.wanted)

    def _shape(self):
        """What a slot takes of a node; of a GPU if nothing tells otherwise."""
        known = next(itertools.chain(*self.nodes.values()), None)
        if known is None:
            return {"CPU": 1} if self.device == "cpu" else {"GPU": 1}
        return {"GPU": 1} if "num_gpus" in known.options else {"CPU": known.options["num_cpus"]}

    def _request(self, bundles):
        """Asks the cluster's autoscaler for room for these, whatever is there. Ray keeps the request until the next."""
        if bundles == self.requested:
            return
        with contextlib.suppress(Exception):  # The next look at the nodes tries again.
            if ray.util.client.ray.is_connected():
                ray.get(ray.remote(num_cpus=0)(request).remote(bundles), timeout=REQUEST_SECONDS)
            else:
                request(bundles)
            self.requested = bundles

    def _start(self, place):
        self.number += 1
        strategy = NodeAffinitySchedulingStrategy(place.node, soft=False)
        actor = ray.remote(Slot).options(
            max_restarts=0, max_concurrency=4, scheduling_strategy=strategy, **place.options
        )
        slot = place.slot = Running(self.number, place, actor.remote())
        self.slots[slot.number] = slot
        options = ["--jobs", str(place.jobs)] if place.jobs else []
        self._then(slot, slot.actor.start.remote(self.archives, self.command, options), self._started)

    def _started(self, slot, _):
        slot.up = True
        self._send(
            {
                "type": "slot_up",
                "slot": slot.number,
                "node": slot.place.node,
                "address": slot.place.address,
                "compiles": slot.place.compiles,
            }
        )
        self._pull(slot)

    def _pull(self, slot):
        self._then(slot, slot.actor.pull.remote(), self._pulled)

    def _pulled(self, slot, payloads):
        for payload in payloads:
            write_frame(self.out, payload, slot.number)
        self._pull(slot)

    def _push(self, slot):
        if slot.waiting and slot.up and not slot.pushing:
            payloads, slot.waiting, slot.pushing = slot.waiting, [], True
            self._then(slot, slot.actor.push.remote(payloads), self._pushed)

    def _pushed(self, slot, _):
        slot.pushing = False

    def _then(self, slot, reference, handler):
        """Calls a handler with a slot and the result, or ends the slot if there is none."""
        reference.future().add_done_callback(lambda future: self.events.put((self._came, slot, future, handler)))

    def _came(self, slot, future, handler):
        if slot.number not in self.slots:
            return  # It was lost before: what comes late is dropped.
        try:
            result = future.result()
        except ray.exceptions.OutOfMemoryError as error:
            slot.place.jobs = max(1, slot.place.jobs // 2)
            self._down(slot, out_of_memory(error))
        except Exception as error:
            self._down(slot, in_a_line(error))
        else:
            handler(slot, result)

    def _end(self, slot):
        del self.slots[slot.number]
        slot.place.slot = None
        with contextlib.suppress(Exception):
            ray.kill(slot.actor)

    def _down(self, slot, why):
        self._end(slot)
        self._send(
            {
                "type": "slot_down",
                "slot": slot.number,
                "node": slot.place.node,
                "address": slot.place.address,
                "why": why,
            }
        )

    def _send(self, message):
        write_frame(self.out, json.dumps(message).encode())
