"""Makes a results folder with many verdicts for bench/analyses.sh, from a folder with a few real ones.

    python3 bench/analyses.py FROM TO COUNT

FROM is a results folder of kbx: its kbx.db lends verdicts of every kind. TO gets a kbx.db with one run of COUNT verdicts
on the tasks of KernelBench-X: five methods (one with three rounds), four models, several samples, simulated speedups.
"""

import hashlib
import json
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

METHODS = ("single", "sample", "geak", "kernelagent", "refine")
MODELS = ("model-a", "model-b", "model-c", "model-d")
ROUNDS = 3
RUN = "20261125T000000-many"
DEVICE = {"kind": "cuda", "name": "NVIDIA H200", "uuid": "GPU-0", "driver": "580", "arch": "sm_90"}
HOME = Path(__file__).resolve().parent.parent


def tasks():
    suite = HOME / "tasks" / "kernelbenchx"
    found = [(file.parent.name, file.stem) for file in sorted(suite.glob("*/*.py"))]
    if not found:
        sys.exit(f"{suite}: no tasks there")
    return found


def lent(source):
    """Bodies of verdicts, by whether they are correct."""
    with sqlite3.connect(f"file:{source}?mode=ro", uri=True) as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT body FROM verdict")]
        info = json.loads(db.execute("SELECT info FROM run LIMIT 1").fetchone()[0])
    correct = [body for body in bodies if body["status"] == "correct"]
    failed = [body for body in bodies if body["status"] not in ("correct", "infrastructure", "invalid_task")]
    if not correct or not failed:
        sys.exit(f"{source}: needs verdicts on correct and on failed candidates")
    return correct, failed, info


def plans(count, named):
    """Task, method, model, sample and round of each verdict."""
    made = 0
    sample = 0
    while True:
        for task in named:
            for method in METHODS:
                for model in MODELS:
                    for number in range(ROUNDS) if method == "refine" else (None,):
                        if made == count:
                            return
                        yield task, method, model, sample, number
                        made += 1
        sample += 1


def generated(body, method, number, rng):
    """What the source is like, and what it was generated under."""
    techniques = ("async_copies", "autotuning", "fusion", "split_k", "tensor_cores", "vectorised_access")
    body["features"] = {
        "structure": hashlib.sha256(str(rng.randrange(400)).encode()).hexdigest()[:32],
        "complexity": rng.randrange(2, 40),
        "lines": rng.randrange(20, 200),
        "techniques": [name for name in techniques if rng.random() < 0.3],
    }
    body["conditions"] = {
        "algorithm": method,
        "hardware": str(method in ("geak", "kernelagent")).lower(),
        "shots": "zero" if method == "single" else "one",
        "feedback": "execution",
        "language": "triton",
        "reasoning": "default",
        "turns": str(ROUNDS if number is not None else 1),
    }


def brief(body):
    """What analyses read, as the array of dev.kbx.verdict.BriefVerdict."""
    names = "run candidate source suite task category sample method model round conditions status stage call_ok perf_ok"
    right = body.get("exe_ok") is True
    features = body["features"]
    device = [body["device"].get(key) for key in ("kind", "name", "uuid", "driver", "arch")]
    speedup = body.get("speedup")
    return [
        *(body.get(key) for key in names.split()),
        right,
        right and "without_policy" not in body,
        body.get("published_ok"),
        body.get("general_ok"),
        body.get("holds", []),
        [one["property"] for one in body.get("breaks", [])],
        "scaled_inputs" in body["flags"],
        body.get("message"),
        body.get("rule"),
        [features[key] for key in ("structure", "complexity", "lines", "techniques")],
        body.get("origin", {}).get("kernel_share"),
        device,
        [speedup[key] for key in ("value", "low", "high", "baseline")] if speedup else None,
        [["eager", speedup["value"]]] if speedup else [],
        sizes(body["sizes"]) if speedup else None,
    ]


def sizes(timed):
    largest = max(timed, key=lambda size: size["reference_ms"])
    figures = ("shape", "intensity", "gbs", "tflops", "iou", "mfu", "bound", "sol_score")
    ratios = [size["peak_bytes"] / size["reference_peak_bytes"] for size in timed]
    return [
        sorted(size["shape"] for size in timed),
        sum(size["candidate_ms"] for size in timed),
        sum(size["reference_ms"] for size in timed),
        [largest.get(key) for key in figures],
        math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios)),
    ]


def timed(body, rng):
    speedup = math.exp(rng.gauss(0.1, 0.5))
    low, high = speedup * 0.99, speedup * 1.01
    body["perf_ok"] = True
    body["stage"] = "perf"
    body["speedup"] = {"value": speedup, "low": low, "high": high, "baseline": "eager"}
    body["sizes"] = [
        {
            "shape": f"({size},) float32",
            "candidate_ms": size * 1e-5,
            "reference_ms": size * 1e-5 * speedup,
            "speedup": speedup,
            "low": low,
            "high": high,
            "rounds": 24,
            "gbs": 2000 * rng.random(),
            "iou": rng.random(),
            "mfu": rng.random() / 10,
            "intensity": 0.25,
            "bound": "memory",
            "sol_score": rng.random(),
            "peak_bytes": size * rng.randrange(4, 9),
            "reference_peak_bytes": size * 4,
        }
        for size in (1024, 65536, 1048576, 16777216)
    ]


def verdict(plan, lenders, rng, strengths):
    (category, name), method, model, sample, number = plan
    correct, failed = lenders
    odds = sum(strengths.setdefault(key, rng.gauss(0, 0.8)) for key in (category, name, method, model))
    odds += 0.4 * (number or 0)
    right = rng.random() < 1 / (1 + math.exp(-odds))
    body = dict(rng.choice(correct if right else failed))
    # Some refined kernels are those of the round before.
    written = max(0, number - 1) if number and rng.random() < 0.3 else number
    text = f"{category}/{name} {method} {model} {sample} {written}"
    body.update(
        run=RUN,
        candidate=hashlib.sha256(text.encode()).hexdigest(),
        source=f"{method}.jsonl:{sample + 1}",
        suite="kernelbenchx",
        task=name,
        category=category,
        sample=sample,
        method=method,
        model=model,
        device=DEVICE,
    )
    if number is not None:
        body["round"] = number
    generated(body, method, number, rng)
    if right:
        timed(body, rng)
    return body


def main(origin, target, count):
    correct, failed, info = lent(Path(origin) / "kbx.db")
    target = Path(target)
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(origin) / "kbx.db", target / "kbx.db")
    # Brings its tables to this version's.
    subprocess.run(
        [os.environ.get("KBX", HOME / "kbx"), "runs", "list", "--out", target], check=True, stdout=subprocess.DEVNULL
    )
    rng = random.Random(20261125)
    strengths = {}
    named = tasks()
    info.update(
        id=RUN,
        started="2026-11-25T00:00:00Z",
        finished="2026-11-25T01:00:00Z",
        suite="kernelbenchx",
        tasks="*",
        stages=["static", "compile", "call", "correct", "perf"],
        device=DEVICE,
        candidates=count,
        suite_tasks=176,
    )
    with sqlite3.connect(target / "kbx.db") as db:
        for table in ("verdict", "judgement", "source", "run"):
            db.execute(f"DELETE FROM {table}")
        db.execute(
            "INSERT INTO run (id, started, finished, info) VALUES (?, ?, ?, ?)",
            (RUN, info["started"], info["finished"], json.dumps(info)),
        )
        for position, plan in enumerate(plans(count, named)):
            body = verdict(plan, (correct, failed), rng, strengths)
            db.execute("INSERT OR IGNORE INTO source VALUES (?, ?)", (body["candidate"], "pass"))
            db.execute(
                "INSERT INTO verdict (run, position, identity, candidate, suite, category, task, method, model, sample,"
                " round, status, stage, device, body, brief) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    RUN,
                    position,
                    str(position),
                    body["candidate"],
                    body["suite"],
                    body["category"],
                    body["task"],
                    body["method"],
                    body["model"],
                    body["sample"],
                    body.get("round"),
                    body["status"],
                    body["stage"],
                    DEVICE["name"],
                    json.dumps(body),
                    json.dumps(brief(body)),
                ),
            )
        size = db.execute("SELECT avg(length(body)) FROM verdict").fetchone()[0]
    db.close()
    print(f"{count} verdicts of {size:.0f} bytes on {len(named)} tasks in {target}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
