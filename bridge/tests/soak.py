"""A run on four nodes of which one freezes, one is cut off and others are killed; then one that is interrupted, killed and resumed.

    soak.py OUT COUNT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray

Simulated nodes, real Ray: every candidate must be judged once, and nothing may be left on any node.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE.parent.parent
PYTHON = os.environ.get("KBX_RAY_PYTHON", sys.executable)
NODES = 4
EVERY = 20
"""Seconds between deaths."""


def candidates(file, count):
    kernel = (HOME / "tasks/kernelbenchx/Math/kernels/add.py").read_text()
    with open(file, "w") as out:
        for i in range(count):
            out.write(
                json.dumps({"file": "Math/add.py", "sample": i, "predict": f"{kernel}\n\nVARIANT = {i}\n"}) + "\n"
            )


class Nodes:
    """The cluster of nodes.py."""

    def __init__(self, out, *words):
        with open(out / "nodes.log", "w") as log:
            self.process = subprocess.Popen(
                [PYTHON, HERE / "nodes.py", *map(str, words)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.address, *apart = self.process.stdout.readline().split()
        self.apart = int(apart[0]) if apart else None

    def tell(self, *words):
        print("cluster:", *words, flush=True)
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(kbx, out, address, file, log, *options):
    """Starts a run; its nodes' processes have the folder in their arguments."""
    node = [PYTHON, HOME / "bench/simulated/node.py", "--capacity", "4", "--seconds", "0.5", "--of", out]
    environment = os.environ | {"JAVA_TOOL_OPTIONS": "-Dkbx.cluster.node=" + ";".join(map(str, node))}
    run = ["--cluster", address, "--stages", "static,call", "--out", out / "run"]
    command = [*kbx, "eval", file, *run, *map(str, options)]
    with open(out / log, "w") as stderr:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env=environment)


def finish(run, out, log="run.log"):
    """Waits for the end of a run that should judge all its candidates."""
    code = run.wait()
    assert code == 0, f"exit code {code}: {(out / log).read_text()}"


def judged(out):
    try:
        lines = (out / "run/results.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("}")]


def check(out, count):
    verdicts = judged(out)
    sources = {v["candidate"] for v in verdicts}
    statuses = {s: sum(v["status"] == s for v in verdicts) for s in {v["status"] for v in verdicts}}
    print(f"{len(verdicts)} verdicts on {len(sources)} candidates: {statuses}", flush=True)
    assert len(verdicts) == len(sources) == count
    assert statuses == {"correct": count}


def left(out):
    """Processes of a run's nodes, and its actors, by their arguments."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            arguments = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"ray::Slot" in arguments or (b"simulated/node.py" in arguments and os.fsencode(out) in arguments):
            found.append(arguments.split(b"\0"))
    return found


def until(condition, limit=120):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


def faults(kbx, out, nodes, file, count):
    chance = random.Random(1)
    living = list(range(NODES))
    run = start(kbx, out, nodes.address, file, "run.log")
    until(lambda: judged(out) or run.poll() is not None, 300)
    frozen = living.pop(0)
    nodes.tell("freeze", frozen)
    if nodes.apart is None:
        print("no node is cut off: this takes root and ip", flush=True)
    else:
        living.remove(nodes.apart)
        nodes.tell("cut")
    number = NODES
    while run.poll() is None:
        until_death = time.monotonic() + EVERY
        while run.poll() is None and time.monotonic() < until_death:
            time.sleep(0.2)
        if run.poll() is None:
            nodes.tell("kill", living.pop(chance.randrange(len(living))))
            nodes.tell("add")
            living.append(number)
            number += 1
    nodes.tell("thaw", frozen)
    if nodes.apart is not None:
        nodes.tell("join")
    finish(run, out)
    check(out, count)


def interrupt(kbx, out, nodes, file, number):
    before = len(judged(out))
    run = start(kbx, out, nodes.address, file, f"interrupted-{number}.log", "--resume")
    until(lambda: len(judged(out)) > before or run.poll() is not None, 300)
    run.send_signal(number)
    run.wait()
    until(lambda: not left(out))
    print(f"nothing left after signal {number}", flush=True)


def interruptions(kbx, out, nodes, file, count):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        interrupt(kbx, out, nodes, file, number)
    finish(start(kbx, out, nodes.address, file, "resumed.log", "--resume"), out, "resumed.log")
    check(out, count)
    until(lambda: not left(out))


def main():
    out, count, kbx = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]
    (out / "faults").mkdir(parents=True)
    (out / "interruptions").mkdir()
    candidates(out / "many.jsonl", count)
    candidates(out / "few.jsonl", count // 5)
    nodes = Nodes(out, NODES, "apart")
    try:
        faults(kbx, out / "faults", nodes, out / "many.jsonl", count)
        interruptions(kbx, out / "interruptions", nodes, out / "few.jsonl", count // 5)
    finally:
        nodes.close()


if __name__ == "__main__":
    main()
