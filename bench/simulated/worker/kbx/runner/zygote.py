"""A zygote whose runners are numbers: each compiles two kernels in its first call, and they write the whole result of every call."""

import kbx

COMPILED = [
    {"kernel": f"{name}_kernel", "arch": "sm_90", "registers": 32, "shared_bytes": 0, "spills": 0, "seconds": 0.1}
    for name in ("first", "second")
]

ANSWERS = {
    "attach": {"type": "attached", "seconds": 0.0},
    "load": {"type": "loaded", "entry": "f", "seconds": 0.0},
    "call": {
        "type": "returned",
        "value": {"t": "tensor", "arena": "out", "offset": 0, "shape": [64], "stride": [1], "dtype": "float32"},
        "seconds": 0.0,
        "launches": 1,
        "compiled": [],
        "configurations": [],
        "unguarded": [],
        "origin": {
            "elements": 64,
            "own": 64,
            "volume": 128,
            "foreign": 0,
            "operations": [],
            "launches": 1,
            "copies": 0,
            "used": True,
        },
    },
}


def main() -> None:
    """Answers until the referee closes the pipe."""
    kbx.greet("zygote")
    fresh = set()  # runners that have not been called yet
    for channel, request in kbx.frames():
        match request["type"]:
            case "spawn":
                runner = request["runner"]
                fresh.add(runner)
                kbx.write({"type": "spawned", "id": request["id"], "runner": runner, "seconds": 0.0, "protections": []})
            case "wait":
                kbx.write({"type": "waited", "id": request["id"], "seconds": 0.0})
            case "kill":
                kbx.write({"type": "exited", "runner": request["runner"], "reason": "killed"})
            case "call" if channel in fresh:
                fresh.remove(channel)
                kbx.write({**ANSWERS["call"], "compiled": COMPILED, "id": request["id"]}, channel)
            case kind:
                kbx.write({**ANSWERS[kind], "id": request["id"]}, channel)


main()
