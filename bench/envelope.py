"""Writes ``tasks/kernelbenchx/published.json``, what the published tests pass, from two recordings of their calls.

    PYTHONPATH=worker python bench/envelope.py CALLS.json ENVELOPE.json > tasks/kernelbenchx/published.json

``CALLS.json`` has for each task its distinct calls (dtypes, shapes, options), ``ENVELOPE.json`` for each argument the range of values over
several seeds. Both were recorded by running the original's test functions on a CPU; they are no part of this repository.
"""

import json
import math
import sys
from typing import Any

from kbx.oracle import windows
from kbx.oracle.envelope import broadcasts

UNREAD = {
    "Fusion/fused_embedding_add_tanh": ["weight"],
    "Fusion/fused_hardsigmoid_batch_norm": ["running_mean", "running_var"],
    "Fusion/fused_relu_batch_norm_conv2d": ["running_mean", "running_var"],
    "Fusion/fused_sigmoid_batch_norm": ["running_mean", "running_var"],
    "Normalization/batch_norm": ["running_mean", "running_var"],
}
"""Arguments that these operations update without returning them: the tests look at what is returned."""
MOMENTS = {"Optimizer/Adam": "params"}
"""Arguments that hold a state here too, which the original's class starts at 0. Its few parameters say nothing of small values."""
FLOATING = {"SpatialOps/grid_sample_with_affine": "theta"}
"""Arguments that the recorded tests pass as integers, which the operation refuses: the calls fail, whoever answers them."""
RARE = 1e-3
"""A smaller share of zeros came by chance."""


def tensors_of(argument: Any) -> list[dict[str, Any]]:
    """The tensors of a recorded argument, maybe a list of them."""
    if isinstance(argument, list):
        return [t for each in argument for t in tensors_of(each)]
    return [argument] if isinstance(argument, dict) else []


def usual(recorded: dict[str, Any]) -> float:
    """A root mean square that no published tensor is known to be below: one of zeros says nothing of how small the others are."""
    largest = max(abs(recorded["min"]), abs(recorded["max"]))
    return min(0.125, largest / 100) if largest >= 1 else 0


def values(recorded: dict[str, Any], shapes: list[list[int]]) -> dict[str, Any]:
    counts = [math.prod(shape) for shape in shapes]
    even = recorded["zeros"] == 1 or recorded["min"] == recorded["max"]
    found = {
        "dtypes": recorded["dtypes"], "ranks": sorted({len(s) for s in shapes} | set(recorded["ranks"])),
        "low": recorded["min"], "high": recorded["max"], "smallest": recorded.get("smallest_nonzero", 0), "rms": recorded["least_rms"] or usual(recorded),
    }  # fmt: skip
    occurs = {
        "zeros": recorded["zeros"] > RARE,
        "empty": 0 in counts,
        "one": 1 in counts,
        "even": even,
    }
    occurs["strided"] = False in recorded["contiguous"]
    return found | {name: True for name, it_does in occurs.items() if it_does}


def option(recorded: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"values": [json.loads(v) for v in recorded.get("values", ())]}
    found["lists"] = list(recorded.get("sequences", ()))
    for text in recorded.get("values", ()):
        if isinstance(items := json.loads(text), list):
            found["values"] = [v for v in found["values"] if not isinstance(v, list)]
            found["lists"].append(["tuple", len(items)])
            found["items"] = {"values": [each["v"] for each in items]}
    if "items" in recorded:
        found["items"] = option(recorded["items"])
    return {name: value for name, value in found.items() if value}


def only_in(these: list[dict[str, Any]], others: list[dict[str, Any]], name: str, value: Any) -> bool:
    """Whether some of these calls give an argument this value, and none of the others does."""
    return any(call.get(name) == value for call in these) and all(call.get(name) != value for call in others)


def envelope(calls: list[dict[str, Any]], arguments: dict[str, Any]) -> dict[str, Any]:
    """One task's. Of a call without any tensor, where others have some, nothing counts: the operation refuses it."""
    tensors, options = {}, {}
    with_tensors = [call for call in calls if any(map(tensors_of, call.values()))] or calls
    refused = [call for call in calls if call not in with_tensors]
    calls = with_tensors
    for name, recorded in arguments.items():
        shapes = [t["shape"] for call in calls for t in tensors_of(call.get(name))]
        held = recorded.get("tensor") or recorded.get("items", {}).get("tensor")
        if held:
            tensors[name] = values(held, shapes or held["shapes"])
        if "values" in recorded or "sequences" in recorded and not (held and "tensor" not in recorded):
            given = [v for v in recorded.get("values", ()) if not only_in(refused, calls, name, json.loads(v))]
            if found := option({k: v for k, v in recorded.items() if k != "tensor"} | {"values": given}):
                options[name] = found
    names = list(dict.fromkeys([*arguments, *(name for call in calls for name in call)]))
    shaped = [{n: tensors_of(a)[0]["shape"] for n, a in call.items() if n != "out" and tensors_of(a)} for call in calls]
    rest = [{n: a for n, a in call.items() if not tensors_of(a)} for call in calls]
    ranks = list({json.dumps({n: len(s) for n, s in shapes.items()}): None for shapes in shaped})
    pairs = [(a, b) for shapes in shaped for a in shapes.values() for b in shapes.values()]
    return {
        "tensors": tensors, "options": options,
        "omitted": sorted(n for n in names if any(n not in call for call in calls)),
        "ranks": [json.loads(each) for each in ranks],
        "broadcasts": any(broadcasts(a, b) for a, b in pairs),
        "whole_windows": all(windows.whole(s, o) for s, o in zip(shaped, rest, strict=True)),
    }  # fmt: skip


def main(calls: str, envelopes: str) -> None:
    with (
        open(calls, encoding="utf-8") as one,
        open(envelopes, encoding="utf-8") as other,
    ):
        recorded, ranges = json.load(one), json.load(other)
    lines = []
    for name, found in sorted(ranges.items()):
        made = envelope(recorded[name]["calls"], found["arguments"])
        if name in FLOATING:
            made["tensors"][FLOATING[name]]["dtypes"] = ["float32"]
        if name in MOMENTS:
            made["tensors"][MOMENTS[name]] |= {
                "smallest": 0,
                "rms": 0,
                "zeros": True,
                "even": True,
            }
        lines.append(f"{json.dumps(name)}: {json.dumps(made | ({'unread': UNREAD[name]} if name in UNREAD else {}))}")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main(*sys.argv[1:])
