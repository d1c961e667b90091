"""A Ray cluster of several nodes on this machine, told what to do by lines on stdin; for tests and benchmarks.

    nodes.py COUNT [CPUS [GPUS]]      prints the cluster's address; ends with its input
    nodes.py MOST scaling             a head without processors, and an autoscaler that adds up to MOST nodes and removes idle ones
    nodes.py COUNT compiling          nodes that have a processor, and a head that has the only GPU
    nodes.py COUNT client             the same with Ray's client server, whose ray:// address is the one printed
    nodes.py COUNT apart              the same, with one node that can be cut off: its number comes after the address
    add | kill N | freeze N | thaw N  on stdin: another node; a node, by its number, gone at once, stopped, or going on
    restart                           on stdin: all nodes and the head, killed and started again at the same address
    cut | join                        on stdin: takes that node's network down, or up again

A node's processes are real, its processors and GPUs are what Ray is told. Nodes that do not answer are given up after seconds. The one
that can be cut off is in a network namespace of its own, for which this must run as root on a machine with ``ip``; elsewhere there is none.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

os.environ.setdefault("RAY_health_check_initial_delay_ms", "2000")
os.environ.setdefault("RAY_health_check_period_ms", "1000")
os.environ.setdefault("RAY_health_check_timeout_ms", "3000")
os.environ.setdefault("RAY_health_check_failure_threshold", "3")

import ray
import yaml
from ray.cluster_utils import Cluster

MEMORY = 100 << 20


def tree(pid):
    """A process and all its descendants."""
    found = [pid]
    for process in found:
        for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


class Network:
    """A namespace joined to this machine by a pair of interfaces. The addresses are of a range for tests of networks (RFC 2544)."""

    HERE, THERE = "198.18.93.1", "198.18.93.2"

    def __init__(self):
        self.name = f"kbx{os.getpid()}"
        self._ip("netns", "add", self.name)
        self._ip("link", "add", self.name, "type", "veth", "peer", "name", "far", "netns", self.name)
        self._ip("address", "add", f"{self.HERE}/30", "dev", self.name)
        self._ip("link", "set", self.name, "up")
        for interface in ("lo", "far"):
            self._ip("-netns", self.name, "link", "set", interface, "up")
        self._ip("-netns", self.name, "address", "add", f"{self.THERE}/30", "dev", "far")

    @staticmethod
    def possible():
        return os.geteuid() == 0 and shutil.which("ip") is not None

    def set(self, state):
        self._ip("link", "set", self.name, state)

    def close(self):
        self._ip("netns", "delete", self.name)  # and the interfaces with it

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True)


class Apart:
    """A node in a network's namespace."""

    def __init__(self, network, address, cpus, gpus):
        command = [
            "ip", "netns", "exec", network.name, sys.executable, "-m", "ray.scripts.scripts", "start", "--block",
            "--disable-usage-stats", f"--address={address}", f"--node-ip-address={network.THERE}",
            f"--num-cpus={cpus}", f"--num-gpus={gpus}", f"--object-store-memory={MEMORY}",
        ]  # fmt: skip
        self.process = subprocess.Popen(command, stdout=sys.stderr)


def processes(node):
    if isinstance(node, Apart):
        return tree(node.process.pid)
    roots = [info.process.pid for infos in node.all_processes.values() for info in infos]
    return sorted({pid for root in roots for pid in tree(root)})


def send(node, number):
    """Sends a signal to all processes of a node."""
    for pid in processes(node):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def free_port():
    """One below those that Linux gives to connections, which may take it before the server does."""
    while True:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("", random.randrange(25000, 32000)))
            return free.getsockname()[1]


def scaling(most):
    """Arguments of a head whose autoscaler starts real nodes on this machine: Ray's own provider for tests, which its wheel lacks the defaults of."""
    os.environ |= {"RAY_FAKE_CLUSTER": "1", "AUTOSCALER_UPDATE_INTERVAL_S": "1"}
    port = free_port()
    head = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
    node = {"resources": {"CPU": 1, "object_store_memory": MEMORY}, "node_config": {}, "max_workers": most}
    defaults = pathlib.Path(ray.__file__).parent / "autoscaler/local/defaults.yaml"
    config = yaml.safe_load(defaults.read_text()) | {
        "cluster_name": "scaling",
        "max_workers": most,
        "idle_timeout_minutes": 0.1,
        "provider": {
            "type": "external",
            "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
            "gcs_address": f"{ray.util.get_node_ip_address()}:{port}",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
        },
        "available_node_types": {"ray.head.default": head, "node": node},
        "head_node_type": "ray.head.default",
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(config, file)
    return {"gcs_server_port": port, "autoscaling_config": file.name}


def main():
    count, *rest = sys.argv[1:]
    if rest == ["scaling"]:
        return serve(0, 0, 0, None, scaling(int(count)))
    if rest == ["client"]:
        return serve(int(count), 1, 0, None, {"ray_client_server_port": free_port()})
    if rest == ["compiling"]:
        return serve(int(count), 1, 0, None, {"num_gpus": 1})
    network = Network() if rest == ["apart"] and Network.possible() else None
    cpus, gpus = (1, 0) if rest == ["apart"] else [int(number) for number in rest + ["1", "0"][len(rest) :]]
    try:
        serve(int(count), cpus, gpus, network)
    finally:
        if network:
            network.close()


def serve(count, cpus, gpus, network, head=None):
    place = {"object_store_memory": MEMORY} | ({"node_ip_address": network.HERE} if network else {})
    has = {"num_cpus": cpus, "num_gpus": gpus} | place
    head = {"num_cpus": 0, "gcs_server_port": free_port()} | place | (head or {})

    def begin():
        cluster = Cluster(initialize_head=True, head_node_args=dict(head))
        return cluster, [cluster.add_node(wait=False, **has) for _ in range(count - 1 if network else count)]

    cluster, nodes = begin()
    if network:
        nodes.append(Apart(network, cluster.address, cpus, gpus))
    cluster.wait_for_nodes()
    client = head.get("ray_client_server_port")
    print(f"ray://127.0.0.1:{client}" if client else cluster.address, *([count - 1] if network else []), flush=True)
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
            case ["restart"]:
                for node in [*nodes, cluster.head_node]:
                    send(node, signal.SIGKILL)
                cluster.shutdown()
                cluster, nodes = begin()
            case ["cut"]:
                network.set("down")
            case ["join"]:
                network.set("up")
        print("done", flush=True)
    for node in nodes:
        send(node, signal.SIGCONT)
        if isinstance(node, Apart):
            node.process.terminate()
            node.process.wait()
    added = processes(cluster.head_node)  # The autoscaler's nodes are its children, and would stay.
    cluster.shutdown()
    for pid in added:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
