"""A Ray cluster of several nodes on this machine, told what to do by lines on stdin; for tests and benchmarks.

    nodes.py COUNT [CPUS [GPUS]]      prints the cluster's address; ends with its input
    add | kill N | freeze N | thaw N  on stdin: another node; a node, by its number, gone at once, stopped, or going on

A node's processes are real, its processors and GPUs are what Ray is told. Nodes that do not answer are given up after seconds.
"""

import os
import pathlib
import signal
import sys

os.environ.setdefault("RAY_health_check_initial_delay_ms", "2000")
os.environ.setdefault("RAY_health_check_period_ms", "1000")
os.environ.setdefault("RAY_health_check_timeout_ms", "3000")
os.environ.setdefault("RAY_health_check_failure_threshold", "3")

from ray.cluster_utils import Cluster

MEMORY = 100 << 20


def tree(pid):
    """A process and all its descendants."""
    found = [pid]
    for process in found:
        for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def processes(node):
    roots = [info.process.pid for infos in node.all_processes.values() for info in infos]
    return sorted({pid for root in roots for pid in tree(root)})


def send(node, number):
    """Sends a signal to all processes of a node."""
    for pid in processes(node):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def main():
    count, cpus, gpus = [int(v) for v in (sys.argv[1:] + ["1", "0"][len(sys.argv) - 2 :])][:3]
    has = {"num_cpus": cpus, "num_gpus": gpus, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": MEMORY})
    nodes = [cluster.add_node(wait=False, **has) for _ in range(count)]
    cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    for line in sys.stdin:
        match line.split():
            case ["add"]:
                nodes.append(cluster.add_node(wait=False, **has))
            case ["kill", number]:
                send(nodes[int(number)], signal.SIGKILL)
            case ["freeze", number]:
                send(nodes[int(number)], signal.SIGSTOP)
            case ["thaw", number]:
                send(nodes[int(number)], signal.SIGCONT)
        print("done", flush=True)
    for node in nodes:
        send(node, signal.SIGCONT)
    cluster.shutdown()


if __name__ == "__main__":
    main()
