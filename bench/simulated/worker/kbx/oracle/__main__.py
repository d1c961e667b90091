"""An oracle that finds every result right. Each task has six calls of one tensor argument."""

import kbx

CALLS = [{"index": i, "case": f"shape=({2**i},)", "distribution": "normal", "properties": []} for i in range(6)]
TENSOR = {"t": "tensor", "arena": "in", "offset": 0, "shape": [64], "stride": [1], "dtype": "float32"}

ANSWERS = {
    "open": {
        "type": "opened",
        "entries": ["f"],
        "arenas": [],
        "calls": CALLS,
        "sizes": [],
        "seconds": 0.0,
        "scaled": False,
    },
    "prepare": {"type": "prepared", "args": [TENSOR], "kwargs": {}},
    "check": {
        "type": "checked",
        "status": "correct",
        "mismatches": [],
        "metrics": {"max_abs": 0.0, "max_rel": 0.0, "error_ratio": 0.0},
        "flags": [],
        "schemes": [],
    },
    "close": {"type": "closed"},
}


def main() -> None:
    """Answers until the referee closes the pipe."""
    kbx.greet("oracle")
    for _, request in kbx.frames():
        kbx.write({**ANSWERS[request["type"]], "id": request["id"]})


main()
