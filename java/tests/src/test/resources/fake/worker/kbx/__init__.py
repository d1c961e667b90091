"""Stand-ins for the worker's processes that need no torch; they speak the protocol and say what a test tells them."""

import json
import os
import random
import struct
import sys
import time

HEADER = struct.Struct(">II")
CLOCK = os.environ.get("KBX_FAKE_CLOCK")
"""A file that has a byte for each millisecond of a test's own time."""


def spend(seconds):
    """Takes so long: of the test's own time, if it has one."""
    if CLOCK:
        with open(CLOCK, "ab", buffering=0) as clock:
            clock.write(bytes(round(1e3 * seconds)))
    else:
        time.sleep(seconds)


def read():
    """The next frame as ``(channel, message)``; None at end of file."""
    header = sys.stdin.buffer.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length, channel = HEADER.unpack(header)
    return channel, json.loads(sys.stdin.buffer.read(length))


def write(payload, channel=0, pause=0):
    """Sends a payload: bytes as they are, anything else as JSON; the last byte after a pause, in seconds."""
    if not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    sys.stdout.buffer.write(HEADER.pack(len(payload), channel) + payload[:-1])
    if pause:
        sys.stdout.buffer.flush()
        spend(pause)
    sys.stdout.buffer.write(payload[-1:])
    sys.stdout.buffer.flush()


def hello(role, versions=None, device=None, lacks=None, absent=None):
    """The greeting of a process of that role."""
    device = {"kind": "cpu", **(device or {})}
    greeting = {"type": "hello", "protocol": 9, "role": role, "pid": 1, "versions": versions or {}, "device": device}
    further = {"lacks": lacks, "absent": absent}
    write(greeting | {name: value for name, value in further.items() if value is not None})


class Noise:
    """The times of a device: half a percent from batch to batch and from call to call, a clock of 32 ns, a stall now and then."""

    JITTER, STALLS, TICK_MS = 0.005, 0.01, 32e-6

    def __init__(self, seed):
        self.random = random.Random(seed)

    def batch(self, milliseconds):
        """Milliseconds of the four calls of a batch."""
        level = milliseconds * self.random.gauss(1, self.JITTER / 2**0.5)
        level *= 2 if self.random.random() < self.STALLS else 1
        calls = [level * self.random.gauss(1, self.JITTER) for _ in range(4)]
        return [round(call / self.TICK_MS) * self.TICK_MS for call in calls]
