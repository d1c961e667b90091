"""Two candidates on a node that Ray's memory monitor takes for full, and whose actors it ends every few seconds.

    memory.py OUT KBX...     KBX starts kbx; KBX_RAY_PYTHON names a Python with Ray

They must be set aside with a story that names memory, and the actors after the first must judge fewer at a time.
"""

import os
import pathlib
import sys

from soak import Nodes, candidates, judged, left, start, until

COUNT = 2


def main():
    out, kbx = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True)
    file = out / "candidates.jsonl"
    candidates(file, COUNT)
    file.write_text(file.read_text().replace("VARIANT", "SLOW"))
    os.environ |= {"RAY_memory_usage_threshold": "0.0001", "RAY_memory_monitor_refresh_ms": "4000"}
    nodes = Nodes(out, 1, COUNT)
    try:
        run = start(kbx, out, nodes.address, file, "run.log")
        jobs = set()

        def ended():
            jobs.update(node[node.index(b"--jobs") + 1] for node in left(out) if b"--jobs" in node)
            return run.poll() is not None

        until(ended)
        stories = [verdict["message"] for verdict in judged(out)]
        print(*stories, (out / "run.log").read_text(), jobs, sep="\n", flush=True)
        assert len(stories) == COUNT
        assert all(story.count("Ray ended the actor: its node was out of memory") == 2 for story in stories)
        assert jobs >= {b"2", b"1"}
    finally:
        nodes.close()


if __name__ == "__main__":
    main()
