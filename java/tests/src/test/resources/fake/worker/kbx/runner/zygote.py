"""A zygote whose runners live in its imagination.

A candidate's source is a JSON object: for each type of request the payloads to answer with, as text in which ``$id`` stands
for the request's id, ``$fat`` for a megabyte of empty objects, and ``$slow`` for a 0 in an answer whose end comes half a second after its beginning. ``"exit 3"`` ends the runner with that code, ``"signal 11"`` by that signal, ``"memory"`` for taking too much; an
empty list is silence;
``"crash-once 2"`` is an honest answer, but for the second one to say so in the life of this zygote, which ends the runner;
``"crowded"`` is an honest answer, or a death where another candidate is on the GPU.
Without an entry the answer is an honest one. ``"precompile_calls"`` is for a ``precompile`` that has calls, where it differs, and ``"timed_load"`` for a ``load`` of a runner whose calls
may be timed; so with every type. ``"guarded_call"`` is for a ``call`` of a runner that looks for kernels which leave their tensors.
``"zygote"`` as a key says what the zygote itself does when it is asked to load,
``KBX_FAKE_LACKS`` in the environment is what its machine lacks to compile C++, and of packages of kernels it has no TileLang;
``"launching"`` how many flushes its host needs to launch a call: with fewer the device waits, and a call takes 60 ms;
``"waited"`` seconds that it has waited for a processor, ``"noisy"`` how many times as long as the reference of noisy.py the candidate takes, ``"longer"`` seconds that a batch takes whatever it says.
"""

import os
import sys

import kbx

NOISE = kbx.Noise(2)
SLOW = 0.5
FAT = ",".join(["{}"] * ((1 << 20) // 3))
HONEST = {
    "attach": {"type": "attached", "seconds": 0.0},
    "load": {"type": "loaded", "entry": "f", "seconds": 0.0},
    "construct": {"type": "constructed", "seconds": 0.0},
    "precompile": {"type": "precompiled", "files": {}, "kernels": 0, "whole": True, "seconds": 0.0, "left_out": [], "requests": []},
    "rebuild": {"type": "rebuilt", "kernels": {"key": "{}"}, "seconds": 0.0},
    "call": {"type": "returned", "value": {"t": "none"}, "seconds": 0.0, "launches": 1, "compiled": [], "configurations": [], "unguarded": [],
             "origin": {"elements": 0, "own": 0, "volume": 0, "foreign": 0, "operations": [],
                        "launches": 0, "copies": 0, "used": False}},
    "measure": {"type": "measured", "device_ms": [50.0] * 4, "values": [{"t": "none"}] * 4, "seconds": 0.0,
                "host_bound": 0},
    "record_calls": {"type": "calls_recorded", "seconds": 0.0, "origins": []},
    "replay_calls": {"type": "measured", "device_ms": [0.005] * 4, "values": [{"t": "none"}] * 4, "seconds": 0.0,
                "host_bound": 0},
    "profile": {"type": "profiled", "seconds": 0.0, "kernels": [
        {"kernel": "f_kernel", "launches": 2, "duration_ms": 0.25, "registers": 40, "achieved_occupancy_pct": 61.5,
         "theoretical_occupancy_pct": 75, "dram_pct": 91.25, "sm_pct": 12.5, "stall": "long_scoreboard", "stall_pct": 60}]},
}
DENIED = {"type": "profiled", "seconds": 0.0, "failure": "ncu (exit code 0): ERR_NVGPUCTRPERM - no permission"}


made = []
"""Runners of the answers to ``crash-once``."""
crowd = set()
"""Runners that have a GPU and a candidate."""
recorded = {}
"""Calls that each runner has graphs of."""
gpu = {}
"""Whether each runner has one."""
timed = set()
"""Runners whose calls may be timed: others end when they are asked to."""
guarded = set()
"""Runners that look for kernels which leave their tensors."""
denied = set()
"""Runners on a machine whose counters may not be read: of the architecture sm_1."""


def main():
    kbx.hello("zygote", lacks=os.environ.get("KBX_FAKE_LACKS"), absent=["tilelang"])
    scripts = {}
    while (frame := kbx.read()) is not None:
        channel, message = frame
        if channel == 0:
            obey(message, scripts)
        elif channel in scripts:
            answer(channel, message, scripts)


def script(source):
    """What a source begins with; statements may follow. Python answers honestly, as the referee's own candidates do."""
    return kbx.json.JSONDecoder().raw_decode(source)[0] if source.startswith("{") else {}


def obey(message, scripts):
    number = message["runner"]
    if message["type"] == "spawn":
        scripts[number] = {"attach": ["signal 9"]} if message["arch"] == "sm_0" else {}
        gpu[number] = message["device"] == "cuda"
        if message["timed"]:
            timed.add(number)
        if message["arch"] == "sm_1":
            denied.add(number)
        kbx.write({"type": "spawned", "id": message["id"], "runner": number, "seconds": 0.0, "protections": []})
    elif message["type"] == "wait":
        kbx.write({"type": "waited", "id": message["id"], "seconds": scripts.get(number, {}).get("waited", 0.0)})
    elif number in scripts:
        bury(number, scripts, reason="killed")


def bury(number, scripts, **how):
    del scripts[number]
    crowd.discard(number)
    kbx.write({"type": "exited", "runner": number, **how})


def answer(number, message, scripts):
    if message["type"] in ("measure", "record_calls", "replay_calls") and number not in timed:
        bury(number, scripts, reason="exit", code=9)
        return
    if message["type"] == "load":
        if gpu[number]:
            crowd.add(number)
        if message["memory_checks"]:
            guarded.add(number)
        scripts[number] = script(message["source"])
        match scripts[number].get("zygote"):
            case "die":
                print("famous last words", file=sys.stderr, flush=True)
                os._exit(7)
            case "babble":
                kbx.write(b"{")
    if message["type"] == "record_calls":
        recorded[number] = message["calls"]
    if message["type"] == "rebuild":
        scripts[number] = script(message["source"])
    if message["type"] == "profile":
        scripts[number] = script(message["source"])
        if number in denied:
            kbx.write({**DENIED, "id": message["id"]}, number)
            return
    if message["type"] in ("measure", "replay_calls") and "noisy" in scripts[number]:
        calls = message.get("calls") or recorded[number]
        times = NOISE.batch(calls[0]["args"][0]["v"] * scripts[number]["noisy"])
        kbx.write({**HONEST["measure"], "id": message["id"], "device_ms": times}, number)
        return
    if message["type"] == "measure" and message["lead"] < scripts[number].get("launching", 0):
        kbx.write({**HONEST["measure"], "id": message["id"], "device_ms": [60.0] * 4, "host_bound": 4}, number)
        return
    if message["type"] == "measure":
        kbx.spend(scripts[number].get("longer", 0.0))
    replies = scripts[number].get(message["type"])
    if message["type"] == "measure":
        replies = scripts[number].pop("first_measure", replies)
    if number in timed:
        replies = scripts[number].get("timed_" + message["type"], replies)
    if number in guarded:
        replies = scripts[number].get("guarded_" + message["type"], replies)
    if message["type"] == "precompile" and message["calls"]:
        replies = scripts[number].get("precompile_calls", replies)
    if replies is None:
        kbx.write({**HONEST[message["type"]], "id": message["id"]}, number)
        return
    for reply in replies:
        match reply.split():
            case ["crash-once", nth]:
                made.append(number)
                if len(made) == int(nth):
                    bury(number, scripts, reason="exit", code=1)
                else:
                    kbx.write({**HONEST[message["type"]], "id": message["id"]}, number)
            case ["exit", code]:
                bury(number, scripts, reason="exit", code=int(code))
            case ["crowded"] if len(crowd) > 1:
                bury(number, scripts, reason="signal", signal=9)
            case ["crowded"]:
                kbx.write({**HONEST[message["type"]], "id": message["id"]}, number)
            case ["memory"]:
                bury(number, scripts, reason="memory", detail="a lot")
            case ["signal", signal]:
                bury(number, scripts, reason="signal", signal=int(signal))
            case _:
                pause = SLOW if "$slow" in reply else 0
                reply = reply.replace("$id", str(message["id"])).replace("$fat", FAT).replace("$slow", "0")
                kbx.write(reply.encode(), number, pause)


main()
