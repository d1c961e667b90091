"""An oracle whose tasks have two calls, for which every result is right; slow.py takes its time, once.py has one call.

Tasks with a size: in timed.py the reference always takes 100 ms; in hogged.py it takes 200 ms while there is a candidate, and so do
products; in launching.py products do not, and in greedy.py there is no memory for them; in sluggish.py all but once, in hot.py also when it has gone, in cooling.py then 160 ms; in warm.py the device slows itself down in rounds 1 to 3, in baked.py in all. No clock runs that long. Each call
moves 100 GB, at 1000 GB/s; in product.py 20 GB, and computes 30 Gflop, at 1 Tflop/s; returning.py returns 50 GB. Once stale.py
is open, memory is three times as fast as before. The shapes of unknown.py cannot be traced. In noisy.py there are three sizes, whose times
have the noise of a device; in weighted.py two with weights, of 100 and 400 ms. In
brief.py the reference takes 40 us, 10 of them without launching; in waiting.py it cannot be recorded; in moody.py every call has an
argument of its own; in stale_graph.py what is replayed is wrong; in held.py the reference's graphs take three times as long while there
is a candidate; for graphs there is no memory in roomy.py, and in cramped.py none while there is a candidate. In
strict.py the first result is right by the published rule alone, in lax.py the second is wrong by it alone, in both.py both; in
skipping.py the second call of each batch gives a wrong result; in general.py calls ask for properties, and strided ones are wrong; in late.py, otherwise as waiting.py, all results do that are checked together from round 5 on. In outpaced.py, otherwise as brief.py, more than two calls a batch are refused after the first round, and other graphs than were recorded. In starved.py and full.py there is no memory for a size while a candidate lives, in full.py also not when it has gone.

GPU 6 says which architecture it has, GPUs 7 and 8 are lost. constructed.py is traced as a module. crowded.py is a module with 3 GiB of arguments, for which there is memory where its oracle has the device alone. No device can have huge.py.

An oracle of baselines is what ``play.json`` in its folder says: ``device`` and ``versions`` of its greeting, ``compiled_ms`` of
even and odd rounds where eager always takes 100 ms, ``failure`` of tasks by name, and whether it is to ``die`` when it compiles.
What it was asked is noted in ``asked.txt`` beside it, a word or a round's number each.
"""

import os
import sys
import time

import kbx

BRIEF = ("brief.py", "outpaced.py", "waiting.py", "late.py", "moody.py", "stale_graph.py", "held.py", "roomy.py", "cramped.py")
TIMED = (*BRIEF, "starved.py", "full.py", "timed.py", "unknown.py", "hogged.py", "launching.py", "greedy.py", "skipping.py", "sluggish.py", "hot.py", "cooling.py", "warm.py", "baked.py", "product.py", "returning.py", "stale.py")
NOISY = (0.008, 0.2, 2.0)  # milliseconds a call
COOL = {"sm_mhz": 1980, "memory_mhz": 2619, "celsius": 45, "watts": 400.5, "throttle": ["sw_power_cap"]}
HOT = {"sm_mhz": 990, "memory_mhz": 2619, "celsius": 90, "throttle": ["hw_thermal"]}
FULL = {"starved.py": 2, "full.py": 1}  # how often there is memory for sizes without a candidate
ALONE = ("alone", "alone_again", "graphs_alone")  # phases in which no candidate's code runs
CALL = {"case": "case", "distribution": "uniform", "properties": []}
CALLS = [{**CALL, "index": i, "case": f"case {i}"} for i in range(2)]
ASKED = ((), ("empty",), ("strided",), ("empty", "strided"), ("zeros",))  # of the calls of general.py
GENERAL = [{**CALL, "index": i, "properties": list(asked)} for i, asked in enumerate(ASKED)]


def main():
    if "--compiler-cache" in sys.argv:
        compile_baselines(sys.argv[sys.argv.index("--compiler-cache") + 1])
        return
    index = sys.argv[sys.argv.index("--index") + 1] if "--index" in sys.argv else None
    if index in ("7", "8"):
        sys.exit("this GPU has fallen off the bus")
    kbx.hello("oracle", device={"arch": "sm_90"} if index == "6" else None)
    seconds, milliseconds, state, copy_gbs, noise, name = 0.0, 100.0, COOL, 1000.0, kbx.Noise(1), None
    measured, phase, round_ = 0, "", 0
    while (frame := kbx.read()) is not None:
        request = frame[1]
        if request["type"] == "open":
            name = os.path.basename(request["task"])
            copy_gbs = 3000.0 if name == "stale.py" else 1000.0
            seconds = 0.6 if name == "slow.py" else 0.0
            calls = {"once.py": CALLS[:1], "general.py": GENERAL}.get(name, CALLS)
            if name == "crowded.py" and not (request["alone"] and request["lent"] == 3 << 30):
                kbx.write({"type": "failed", "id": request["id"], "reason": "memory", "message": "CUDA out of memory"})
                continue
            if name == "huge.py":
                kbx.write({"type": "failed", "id": request["id"], "reason": "unsupported", "message": "4 TiB need a GPU"})
                continue
            sizes = [{"index": 0, "shape": "n=1"}] if name in TIMED else []
            if name == "noisy.py":
                sizes = [{"index": i, "shape": f"ms={ms}"} for i, ms in enumerate(NOISY)]
            if name == "weighted.py":
                sizes = [{"index": i, "shape": f"n={i}", "weight": weight} for i, weight in enumerate((0.75, 0.25))]
            reply = {"type": "opened", "entries": ["f"], "arenas": [], "calls": calls, "sizes": sizes, "seconds": 0.0,
                     "scaled": False, "expert_arenas": []}
        elif request["type"] == "prepare":
            kbx.spend(seconds)
            reply = {"type": "prepared", "args": [], "kwargs": {}}
        elif request["type"] == "measure_peaks":
            if name == "greedy.py" and request["glance"] and milliseconds > 100:
                kbx.write({"type": "failed", "id": request["id"], "reason": "memory", "message": "CUDA out of memory"})
                continue
            fp16_tflops = 0.5 if name == "hogged.py" and milliseconds > 100 else 1.0
            reply = {"type": "peaks", "rates": {"copy_gbs": copy_gbs, "empty_ms": 0.002, "tflops": {"fp16": fp16_tflops}},
                     "state": COOL}
        elif request["type"] == "prepare_size":
            phase = request["phase"]
            alone = {
                "warm.py": phase != "launched" or request["round"] not in (1, 2, 3),
                "hogged.py": phase in ALONE,
                "launching.py": phase in ALONE,
                "greedy.py": phase in ALONE,
                "sluggish.py": phase in ALONE or (phase == "still_slow" and request["round"] == 0),
                "hot.py": phase == "alone",
                "cooling.py": phase == "alone",
            }
            milliseconds = 100.0 if alone.get(name, True) else 200.0
            if name == "cooling.py" and phase == "alone_again":
                milliseconds = 160.0
            state = HOT if name == "baked.py" or (name == "warm.py" and milliseconds > 100) else COOL
            reply = {"type": "prepared_size", "flush_bytes": 100_000_000, "uncounted": [], "copied": False}
            round_ = request["round"]
            measured += phase == "alone"
            if name in FULL and (phase not in ALONE or measured > FULL[name]):
                kbx.write({"type": "failed", "id": request["id"], "reason": "memory", "message": "16 GiB asked, none there"})
                continue
            launched, replayed = phase == "launched" and round_ > 0, phase in ("replayed", "graphs_alone")
            if name == "outpaced.py" and ((launched and request["sets"] > 2) or (replayed and request["sets"] != 4)):
                kbx.write({"type": "failed", "id": request["id"], "reason": "internal", "message": "that would take long"})
                continue
            if name == "returning.py":
                reply |= {"result_bytes": 50_000_000_000}
            elif name == "product.py":
                reply |= {"bytes": 20_000_000_000, "flops": 30_000_000_000, "precision": "fp16"}
            elif name == "noisy.py":
                milliseconds = NOISY[request["size"]]
            elif name == "weighted.py":
                milliseconds = 100.0 * 4 ** request["size"]
            elif name in BRIEF:
                milliseconds = 0.04
            else:
                reply["least_bytes"] = 100_000_000_000
        elif request["type"] == "lend_size":
            args = [{"t": "float", "v": milliseconds}] if name == "noisy.py" else []
            if name == "moody.py":
                args = [{"t": "float", "v": time.monotonic()}]
            reply = {"type": "lent_size", "calls": [{"args": args, "kwargs": {}, "slot": i} for i in range(4)]}
        elif request["type"] == "probe":
            # After broken.py this device computes no more, and a fresh oracle without a task finds the same.
            if name in (None, "broken.py"):
                sys.exit("uncorrectable ECC error")
            reply = {"type": "probed", "seconds": 0.0}
        elif request["type"] == "trace_largest_shapes" and "unknown" in request["task"]:
            failure = {"type": "failed", "id": request["id"], "reason": "unsupported", "message": "shapes depend on values"}
            kbx.write(failure)
            continue
        elif request["type"] == "trace_largest_shapes":
            reply = {"type": "largest_shapes_traced", "entries": ["f"], "shape": "n=1", "call": {"args": [], "kwargs": {}}}
        elif request["type"] == "estimate_memory":
            reply = {"type": "memory_estimated", "lent": 3 << 30, "returned": 1 << 30, "weights": 0, "device": 20 << 30}
        elif request["type"] == "trace_shapes":
            reply = {"type": "shapes_traced", "entries": ["f"], "calls": [{"args": [], "kwargs": {}}]}
            if "constructed.py" in request["task"]:
                reply["module"] = {"init": [], "seed": 1}
        elif request["type"] == "baseline":
            if request["graph"] and (name == "roomy.py" or (name == "cramped.py" and phase not in ALONE)):
                kbx.write({"type": "failed", "id": request["id"], "reason": "memory", "message": "16 GiB asked, none there"})
                continue
            if request["graph"] and name in BRIEF:
                milliseconds = 0.03 if name == "held.py" and phase not in ALONE else 0.01
            times = noise.batch(milliseconds) if name == "noisy.py" else [milliseconds] * 4
            reply = {"type": "baseline_measured", "device_ms": times, "seconds": 0.0, "state": state,
                     "state_seconds": 0.0, "host_bound": 0, "peak_bytes": 2_000_000}
            if request["graph"] and name in ("waiting.py", "late.py"):
                reply |= {"device_ms": [], "unrecorded": "operation not permitted when stream is capturing"}
        elif request["type"] in ("check", "check_size"):
            stale = name == "stale_graph.py" and request["type"] == "check_size" and phase in ("recording", "replayed")
            sized = request["type"] == "check_size"
            skipped = sized and name == "skipping.py" and 1 in request["slots"]
            skipped |= sized and name == "late.py" and round_ >= 5 and len(request["slots"]) > 1
            strided = name == "general.py" and "strided" in ASKED[request["call"]]
            status = "wrong_values" if stale or skipped or strided else "correct"
            published = status == "correct"
            if name in ("strict.py", "both.py") and request["call"] == 0:
                status = "race"
            if name in ("lax.py", "both.py") and request["call"] == 1:
                published = False
            reply = {"type": "checked", "status": status, "mismatches": [], "metrics": {}, "flags": [], "published": published, "schemes": []}
        elif request["type"] == "close":
            reply = {"type": "closed"}
        else:
            sys.exit(f"not in this play: {request['type']}")
        kbx.write({**reply, "id": request["id"]})


def compile_baselines(folder):
    with open(os.path.join(folder, "play.json")) as file:
        play = kbx.json.load(file)
    kbx.hello("oracle", play["versions"], play["device"])
    while (frame := kbx.read()) is not None:
        request = frame[1]
        if request["type"] == "compile_baseline":
            asked = request["kind"]
            if play.get("die"):
                sys.exit("no more memory")
            failure = play["failure"].get(os.path.basename(request["task"]))
            reply = {"type": "baseline_compiled", "seconds": 0.0, "failure": failure}
        elif request["type"] == "close":
            asked, reply = "close", {"type": "closed"}
        else:
            asked = str(request["round"])
            times = [play["compiled_ms"][request["round"] % 2]] * 4
            reply = {"type": "baseline_compared", "eager_ms": [100.0] * 4, "compiled_ms": times, "seconds": 0.0}
        with open(os.path.join(folder, "asked.txt"), "a") as file:
            file.write(asked + " ")
        kbx.write({**reply, "id": request["id"]})


main()
