"""Which tasks of a suite have a gradient that can be judged: writes ``backward.json`` into the suite's folder.

    python bench/backward.py tasks/kernelbenchx [--quick]

Each task is tried: its gradients are derived, and proven by all controls unless ``--quick``. For those that hold the file has the names of
the upstream gradients (of a function) and of what has a gradient; for others why not. Needs kbx's Python environment, and ``PYTHONPATH=worker``.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

import torch

from kbx.oracle import backward_files, controls, taskfile
from kbx.oracle.backward import is_differentiable
from kbx.oracle.models import STATE
from kbx.oracle.module_backward import Differentiated
from kbx.oracle.task import InvalidTask, named_tensors, signature
from kbx.suite import Call

FILE = "backward.json"
SEED = "1"
_KIND = re.compile(r"no gradient to judge \(([^)]+)\): (.+)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="without the controls")
    asked = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for path, file in files(asked.suite, pathlib.Path(folder)).items():
            found[path] = record(file, asked.quick)
            print(path, found[path], flush=True)
    text = ",\n".join(f"  {json.dumps(path)}: {json.dumps(one)}" for path, one in sorted(found.items()))
    (asked.suite / FILE).write_text(f"{{\n{text}\n}}\n")


def files(suite: pathlib.Path, folder: pathlib.Path) -> dict[str, str]:
    """The derived file of each task, as if nothing were known of the suite."""
    copy = folder / suite.name
    shutil.copytree(suite, copy, ignore=shutil.ignore_patterns(FILE, "kernels"))
    kbx = pathlib.Path(__file__).parent.parent / "kbx"
    listed = subprocess.run(
        [kbx, "tasks", "list", "--backward", "--json", "--suite", copy], check=True, capture_output=True, text=True
    )
    return {
        f"{task['category']}/{task['name'].removesuffix('_backward')}": task["file"]
        for task in json.loads(listed.stdout)
    }


def record(file: str, quick: bool) -> dict[str, Any]:
    """What is known of a task."""
    try:
        task = taskfile.load(file)
        rows = [] if quick else controls.verify(task, SEED, torch.device("cpu"))
    except InvalidTask as error:
        kind, why = (
            _KIND.fullmatch(error.message).groups() if _KIND.fullmatch(error.message) else ("error", error.message)
        )
        return {"none": kind, "why": why}
    failed = [row for row in rows if not row["ok"]]
    if failed:
        return {"none": "controls", "why": f"{failed[0]['name']}: {failed[0]['detail']}"}
    if isinstance(task, Differentiated):
        return {"of": [name for name in task.derived.names if not name.startswith(f"{STATE}.")]}
    assert isinstance(task, backward_files.FunctionFileTask)
    return {"upstream": backward_files.upstream(task), "of": differentiated(task)}


def differentiated(task: backward_files.FunctionFileTask) -> list[str]:
    """Parameters of the forward of which some case has a gradient, in their order."""
    found = set()
    for case in task.cases:
        call = task.call(case, task.distributions[0], SEED)
        named = named_tensors(task.forward, Call(call.args[task.count :], call.kwargs))
        found |= {name.split("[")[0] for name, tensor in named if is_differentiable(tensor)}
    return [name for name in signature(task.forward).parameters if name in (task.by or found) and name in found]


if __name__ == "__main__":
    main()
